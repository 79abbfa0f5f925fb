"""Squat, jump and trot of Solo-12.

    python solo.py OUT_FOLDER ROBOT_FOLDER [squat jump trot]
ROBOT_FOLDER: share/example-robot-data/robots of the wheel example-robot-data.
"""

import pathlib
import sys

import numpy as np
import pinocchio
from common import Knot, Robot, half_sine, optimise, track, write

FEET = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]


def solo(robots, **options):
    urdf = robots / "solo_description/robots/solo12.urdf"
    model = pinocchio.buildModelFromUrdf(str(urdf), pinocchio.JointModelFreeFlyer())
    pinocchio.loadReferenceConfigurations(model, str(robots / "solo_description/srdf/solo.srdf"))
    q = model.referenceConfigurations["standing"].copy()
    nv = model.nv
    base = {
        "model": model,
        "q": q,
        "feet": FEET,
        # base position, base rotation, joints; their velocities
        "state_weights": np.array([0.0] * 3 + [20.0] * 3 + [0.5] * 12 + [1.0] * 6 + [0.05] * 12),
        "track_state": np.array([100.0] * 3 + [30.0] * 3 + [10.0] * 12 + [1.0] * 6 + [0.05] * 12),
    }
    robot = Robot(**(base | options))
    assert nv == 18
    q[2] -= robot.place(q, FEET[0]).translation[2]  # feet on the floor
    robot.x0[:] = np.concatenate([q, np.zeros(nv)])
    return robot


def standing(robot):
    return {f: robot.place(robot.q, f).translation for f in FEET}


def squat(robots):
    """The centre of mass goes as z0 + 0.03 sin(2 t), after a soft start."""
    step, time = 0.04, 3.2
    robot = solo(robots, pull=10.0, track_control=0.3)
    com = robot.com(robot.q)
    places = standing(robot)
    knots = []
    for t in np.arange(round(time / step)) * step:
        soft = min(1.0, t / 0.4)
        wish = com + [0, 0, 0.03 * np.sin(2 * t) * soft**2 * (3 - 2 * soft)]
        knots.append(Knot(places, com=wish, com_weight=1e4))
    return robot, knots, step


def jump(robots):
    """Crouch, push, fly until the feet have been 8 cm up, land where it stood, stand."""
    step, flight = 0.01, 0.30
    robot = solo(robots)
    com = robot.com(robot.q)
    places = standing(robot)
    up = np.array([0, 0, 1.0])
    knots = [Knot(places, com=com, com_weight=1e1) for _ in range(20)]
    knots += [Knot(places) for _ in range(30)]
    n = round(flight / step)
    for i in range(n):
        share = (i + 1) / n
        rise = 0.5 * 9.81 * (0.5 * flight) ** 2 * (1 - (2 * share - 1) ** 2)
        knots.append(Knot({}, com=com + rise * up, com_weight=1e3, swing={f: places[f] + rise * up for f in FEET}))
    knots[-1].landing, knots[-1].swing = places, {}
    knots += [Knot(places, com=com, com_weight=1e1) for _ in range(100)]
    return robot, knots, step


def trot(robots):
    """Diagonal pairs in turn, eight swings of 10 cm (the first and the last half of it), 0.16 s each."""
    step, length, height, swing, rest = 0.01, 0.10, 0.05, 16, 2
    robot = solo(robots)
    com = robot.com(robot.q)
    places = standing(robot)
    pairs = (["FL_FOOT", "HR_FOOT"], ["FR_FOOT", "HL_FOOT"])
    knots = [Knot(dict(places), com=com.copy()) for _ in range(20)]
    count = 12
    for k in range(count):
        pair, other = pairs[k % 2], pairs[(k + 1) % 2]
        stride = length * (0.5 if k in (0, count - 1) else 1.0)
        start = {f: places[f].copy() for f in pair}
        for f in pair:
            places[f] = places[f] + [stride, 0, 0]
        begin = com.copy()
        com = com + [stride / 2, 0, 0]
        for i in range(swing):
            share = (i + 1) / swing
            wish = begin + share * (com - begin)
            knots.append(
                Knot({f: places[f] for f in other}, com=wish, swing={f: half_sine(start[f], places[f], share, height) for f in pair})
            )
        knots[-1].landing, knots[-1].swing = {f: places[f].copy() for f in pair}, {}
        knots += [Knot(dict(places), com=com.copy()) for _ in range(rest)]
    knots += [Knot(places, com=com.copy()) for _ in range(300 - len(knots))]
    return robot, knots, step


def main():
    out, robots = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    motions = {"squat": squat, "jump": jump, "trot": trot}
    for name in sys.argv[3:] or motions:
        print(f"solo-{name}")
        robot, knots, step = motions[name](robots)
        xs, us = optimise(robot, knots, step)
        write(out / f"solo-{name}.npz", robot, xs, us, track(robot, knots, step, xs, us), step)


if __name__ == "__main__":
    main()
