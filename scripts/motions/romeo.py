"""Romeo takes two steps: right foot, left foot, and stands.

    python romeo.py OUT_FOLDER ROBOT_FOLDER
"""

import pathlib
import sys

import numpy as np
import pinocchio
from common import Knot, Robot, half_sine, optimise, track, write

# Corners of a sole in the frame of the ankle: x in {-0.05, 0.10}, y in {-0.05, 0.05}, z = -0.07.
CENTRE = pinocchio.SE3(np.eye(3), np.array([0.025, 0.0, -0.07]))
FEET = ["left foot", "right foot"]


def romeo(robots):
    folder = robots / "romeo_description"
    model = pinocchio.buildModelFromUrdf(str(folder / "urdf/romeo_small.urdf"), pinocchio.JointModelFreeFlyer())
    pinocchio.loadReferenceConfigurations(model, str(folder / "srdf/romeo_small.srdf"))
    for name, joint in zip(FEET, ("LAnkleRoll", "RAnkleRoll")):
        frame = pinocchio.Frame(name, model.getJointId(joint), 0, CENTRE, pinocchio.FrameType.OP_FRAME)
        model.addFrame(frame)
    q = model.referenceConfigurations["half_sitting"].copy()
    joints = model.nv - 6
    robot = Robot(
        model=model,
        q=q,
        feet=FEET,
        flat=True,
        sole=(0.055, 0.035),  # inside the real one, for margin
        friction=0.6,
        pull=8.0,
        state_weights=np.array([0.0] * 3 + [50.0] * 3 + [1.0] * joints + [1.0] * 6 + [0.1] * joints),
        control_weight=1e-3,
        track_state=np.array([100.0] * 6 + [10.0] * joints + [30.0] * 6 + [10.0] * joints),
        track_control=3e-2,
    )
    q[2] -= robot.place(q, FEET[0]).translation[2]
    robot.x0[:] = np.concatenate([q, np.zeros(model.nv)])
    return robot


def walk(robots):
    step, length, height = 0.04, 0.15, 0.06
    robot = romeo(robots)

    def flat(p):
        return pinocchio.SE3(np.eye(3), np.array([p[0], p[1], 0.0]))

    places = {f: flat(robot.place(robot.q, f).translation) for f in FEET}
    com = robot.com(robot.q)
    knots = []

    def shift(goal, count):
        nonlocal com
        start, com = com, goal
        for i in range(count):
            share = (i + 1) / count
            smooth = share**3 * (10 - 15 * share + 6 * share**2)
            knots.append(Knot(dict(places), com=start + smooth * (goal - start), com_weight=1e3))

    def swing(foot, other, count):
        start = places[foot].translation.copy()
        goal = start + [length, 0, 0]
        places[foot] = flat(goal)
        for i in range(count):
            target = pinocchio.SE3(np.eye(3), half_sine(start, goal, (i + 1) / count, height))
            knots.append(Knot({other: places[other]}, com=com, com_weight=1e3, swing={foot: target}))
        knots[-1].landing, knots[-1].swing = {foot: places[foot]}, {}

    def over(foot):
        p = places[foot].translation
        inward = 0.012 if p[1] < 0 else -0.012
        return np.array([p[0], p[1] + inward, com[2]])

    shift(over("left foot"), 16)
    swing("right foot", "left foot", 15)
    shift(over("right foot"), 18)
    swing("left foot", "right foot", 15)
    middle = 0.5 * (places["left foot"].translation + places["right foot"].translation)
    shift(np.array([middle[0], middle[1], com[2]]), 16)
    return robot, knots, step


def main():
    out, robots = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    print("romeo-walk")
    robot, knots, step = walk(robots)
    xs, us = optimise(robot, knots, step)
    write(out / "romeo-walk.npz", robot, xs, us, track(robot, knots, step, xs, us), step)


if __name__ == "__main__":
    main()
