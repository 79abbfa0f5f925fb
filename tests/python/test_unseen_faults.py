"""Faults and healthy runs of kinds and robots that the other files leave out: files of known robots with one fault each,
controllers that are asked seldom, servos, loops, presses. The first cause that explain names is the one that was put in, or
none."""

import pathlib
import re
import runpy
import warnings

import numpy as np
import pytest

import tribo
from test_more_faults import ARM
from test_other_faults import BOX, Kinds
from test_seeded_faults import REFERENCE, held

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAIN_ARM = ARM.format(gravity="0 0 -9.81", mass='mass="0.7"')
FOUR_BAR = (ROOT / "scenes/four-bar.toml").read_text()
PRESS = BOX.format(name="box", size=[0.2, 0.2, 0.2], mass=2, at=[0, 0, 0.1]) + \
    '[[kinematic]]\nname = "press"\nshape = "box"\nsize = [0.4, 0.4, 0.1]\nposition = [0, 0, 0.3]\nvelocity = [0, 0, -0.2]\n'


class Files(Kinds):
    def of(self, name, edit=lambda text: text, gains=(300.0, 20.0), **options):
        """A robot by name, from a copy of its file with a change, in the pose that it has by name."""
        known = tribo.load(name)
        pose = {b.name.split("/")[-1]: float(known.q[b.iq]) for b in known.model.bodies if b.nq == b.nv == 1}
        path = self.path.with_name(name + ".urdf")
        path.write_text(edit(pathlib.Path(known.model.members[0].source).read_text()))
        floats = known.model.bodies[0].joint == tribo.JointKind.Free
        control = tribo.Controller("pd", kp=gains[0], kd=gains[1], joints=pose, feedforward="none" if floats else "gravity")
        start = {"robot.joints": pose, "robot.base": "floating" if floats else "fixed"}
        return tribo.load(path, controller=options.pop("controller", control),
                          settings={**start, **({"robot.drop": 0.001} if floats else {})}, **options)


def _after(name, old, new):
    """The first match of old after the element that is called so."""
    def edit(text):
        i = re.search(rf'<(?:joint|link)\s+name="{name}"', text).end()
        found = re.compile(old, re.S).search(text, i)
        return text[:found.start()] + new + text[found.end():]
    return edit


def _masses(factor):
    return lambda text: re.sub(r'(<mass\s+value)="([-\d.e]+)"', lambda m: f'{m[1]}="{float(m[2]) * factor}"', text)


def _inertias(factor):
    return lambda text: re.sub(r'(i[xyz][xyz])="([-\d.e]+)"', lambda m: f'{m[1]}="{float(m[2]) * factor}"', text)


def _commanded(sim, **targets):
    for joint, x in targets.items():
        sim.target[joint] = x
    return sim


def _servo(sim, control):
    sim.ctrl[:] = control
    return sim


def _asked(sim, control, period):
    sim.control(control, period=period)
    return sim


def _arm_held(name, kp, kd, signs=1.0, delay=0, gravity=1.0):
    """By a function, from 0.1 rad beside where it should be."""
    sim, probe = (tribo.load(name, controller="none") for _ in range(2))
    q0, seen = np.array(sim.q), []

    def control(t, q, v):
        seen.append((np.array(q), np.array(v)))
        q_then, v_then = seen[max(0, len(seen) - 1 - delay)]
        probe.set(q=q)
        return np.asarray(signs) * (kp * (q0 - q_then) - kd * v_then) + gravity * probe.bias
    sim.control(control)
    q = np.array(sim.q)
    q[2] += 0.1
    sim.set(q=q)
    return sim


def _carrying(mass):
    text = '[robot]\nmodel = "ur5"\n[controller]\nkp = 2000\nkd = 200\nfeedforward = "gravity"\n'
    hand = [float(x) for x in tribo.parse(text).pose("ur5/ee_link")[:3, 3]]
    sim = tribo.parse(text + BOX.format(name="load", size=0.1, mass=mass, at=hand) + "collides_with = []\n")
    sim.weld(sim.model.bodies[5].name, "load")
    return sim


def _pushed(name, body, force):
    sim = tribo.load(name)
    sim.push(body, force, 0.2, start=0.2)
    return sim


ONE_KNEE = np.where(np.arange(12) == 2, -1, 1)
FAULTS = {
    "ur5, one joint in millimetres": (lambda f: f.of("ur5", _after("wrist_1_joint", r'xyz="[^"]+"', 'xyz="0 0 392.25"')), "mass"),
    "ur10, the forearm in grams": (lambda f: f.of("ur10", _after("forearm_link", r'<mass value="[^"]+"', '<mass value="12930"')), "mass"),
    "go2 in tonnes": (lambda f: f.of("go2", _masses(1e-3), (100.0, 3.0)), "mass"),
    "go2, meshes in millimetres": (lambda f: f.of("go2", lambda s: s.replace("<mesh ", '<mesh scale="1000 1000 1000" '), (100.0, 3.0)), "mass"),
    "a1, inertia in g m^2": (lambda f: f.of("a1", _inertias(1000), (100.0, 3.0)), "inertia"),
    "g1, a knee the other way": (lambda f: f.of("g1", _after("left_knee_joint", "<axis xyz=\"0 1 0\"", '<axis xyz="0 -1 0"'), (500.0, 10.0)), "axis"),
    "go2, a thigh the other way": (lambda f: f.of("go2", _after("FR_thigh_joint", 'xyz="0 1 0"', 'xyz="0 -1 0"'), (100.0, 3.0)), "axis"),
    "hyq, a knee the other way": (lambda f: f.of("hyq", _after("lh_kfe_joint", "<axis xyz=\"0 0 1\"", '<axis xyz="0 0 -1"'), (500.0, 10.0)), "axis"),
    "ur5, an elbow without effort": (lambda f: f.of("ur5", _after("elbow_joint", 'effort="[^"]+"', 'effort="0"')), "effort"),
    "panda, a finger without effort": (
        lambda f: _commanded(f.of("panda", _after("panda_finger_joint1", 'effort="[^"]+"', 'effort="0"')), panda_finger_joint1=0.04), "effort"),
    "z1, motors too weak": (lambda f: f.of("z1", lambda s: re.sub('effort="[^"]+"', 'effort="0.5"', s)), "limit"),
    "talos, weak ankles": (
        lambda f: f.of("talos", lambda s: re.sub(r'(<joint name="leg_\w+_5_joint".*?effort=)"[^"]+"', r'\1"2"', s, flags=re.S),
                       (3000.0, 100.0)), "limit"),
    "damping a thousand times too large": (lambda f: _commanded(tribo.load("ur5", settings={"robot.damping": 1e5}), elbow_joint=0.3), "friction"),
    "joints that stick": (lambda f: _commanded(tribo.load("go2", settings={"robot.friction": 100.0}), FL_calf_joint=-1.2), "friction"),
    "ranges too narrow": (lambda f: f.load(lambda s: s.replace('lower="-2.6"', 'lower="-0.6"')), "range"),
    "a servo told degrees": (lambda f: _servo(f.mjcf(PLAIN_ARM), 45.0), "range"),
    "a servo told more than its range": (
        lambda f: _servo(f.mjcf(PLAIN_ARM.replace('name="j1"', 'name="j1" range="-1 1" limited="true"')), [3.5, 0]), "range"),
    "gains too high for 5 ms": (lambda f: _asked(f.load(controller="none"), held(600, 10), 0.005), "chatters"),
    "gains too high for 10 ms": (lambda f: _asked(f.load(controller="none"), held(300, 10), 0.01), "chatters"),
    "an arm's gains too high for 20 ms": (
        lambda f: _asked(tribo.load("ur10", controller="none"), lambda t, q, v: -4000 * (q - tribo.load("ur10").q) - 400 * v, 0.02),
        "chatters"),
    "one knee's torque the wrong way": (lambda f: f.load(controller=lambda t, q, v: ONE_KNEE * held()(t, q, v)), "actuators"),
    "an elbow's torque the wrong way": (lambda f: _arm_held("ur5", 500, 50, signs=[1, 1, -1, 1, 1, 1]), "actuators"),
    "gravity fed forward the wrong way": (lambda f: _arm_held("ur5", 0, 0, gravity=-1), "actuators"),
    "an arm with a delay of 50 ms": (lambda f: _arm_held("ur5", 4000, 60, delay=50), "actuators"),
    "an arm with a free base": (lambda f: tribo.load("ur5", settings={"robot.base": "floating"}), "fall"),
    "an arm left alone": (lambda f: tribo.load("ur10", controller="none"), "no controller"),
    "80 kg in the hand of an arm": (lambda f: _carrying(80), "limit"),
    "a slippery ball": (lambda f: tribo.load("allegro-ball", settings={"material.default.mu": 0.0}), "slip"),
    "a loop that is open": (lambda f: tribo.parse(FOUR_BAR.replace("point_b = [0.5, 0, 0]", "point_b = [0.5, 0, 0.3]")), "loop"),
    "a box under a press": (lambda f: tribo.parse(PRESS), "infeasible"),
    "an arm struck": (lambda f: _pushed("ur5", "wrist_3_link", [0, 4000, 0]), "push"),
    "a humanoid on its side": (lambda f: tribo.load("g1", settings={"robot.rpy": [0, np.pi / 2, 0]}), "fall"),
    "a robot in a robot": (lambda f: tribo.parse("".join(
        f'[[robot]]\nmodel = "go2"\nname = "{n}"\nposition = [{x}, 0, 0.34]\n' for n, x in (("one", 0), ("two", 0.1))) + "".join(
        f'[[controller]]\nname = "pd"\nrobot = "{n}"\nkp = 100\nkd = 3\n' for n in ("one", "two"))), "overlap"),
}
SAID = {"a humanoid on its side": "on its side", "ur5, an elbow without effort": "elbow_joint", "gains too high for 10 ms": "every 10 ms",
        "damping a thousand times too large": "100000 N m s/rad", "joints that stick": "dry friction of 100 N m",
        "a servo told degrees": "in degrees?", "a loop that is open": "open by 300 mm", "go2 in tonnes": "tonnes",
        "one knee's torque the wrong way": "against the end of its range", "a box under a press": "pressed into each other",
        "g1, a knee the other way": "left_knee_joint"}


def _made(make, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(Files(tmp_path))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_named_first(fault, tmp_path):
    make, word = FAULTS[fault]
    sim = _made(make, tmp_path)
    sim.run(1.5, check=False)
    findings = sim.explain().findings
    assert findings, "nothing was named"
    assert word in findings[0].cause, str(sim.explain())
    assert SAID.get(fault, "") in findings[0].evidence


def _driven(of_time, seconds=1.0):
    def drive(sim):
        start = np.array(sim.target)
        while sim.t < seconds:
            of_time(sim, start)
            sim.step()
    return drive


def _waves(joints, amplitude, speed=5.0):
    def set_targets(sim, start):
        sim.target[joints] = start[joints] + amplitude * np.sin(speed * sim.t)
    return _driven(set_targets)


def _lies_down(sim, start):
    sim.target[7:] = start[7:] + min(sim.t, 1) * np.tile([0, 0.35, -0.9], 4)


def _computed_torque(sim):
    q0 = np.array(sim.q)
    while sim.t < 1.0:
        wave, rate = 0.2 * np.sin(3 * sim.t), 0.6 * np.cos(3 * sim.t)
        sim.torque[:] = sim.M @ (-9 * wave + 100 * (q0 + wave - sim.q) + 20 * (rate - sim.v)) + sim.bias
        sim.step()


def _to(seconds=1.2, **targets):
    return lambda sim: _commanded(sim, **targets).run(seconds)


def _lets_go(sim):
    sim.run(0.5)
    _commanded(sim, finger_l_joint=0.0, finger_r_joint=0.0).run(0.5)


def _latched(sim):
    sim.weld("a", "b")
    sim.run(0.3)
    sim.release("a", "b")
    sim.run(0.3)


BELT = '[[kinematic]]\nname = "belt"\nshape = "box"\nsize = [6, 2, 0.02]\nposition = [0, 0, 0.01]\nvelocity = [0.2, 0, 0]\n'
RAMP = '[[wall]]\nname = "ramp"\nshape = "box"\nsize = [2, 2, 0.1]\nrpy = [0, 0.2, 0]\nposition = [0, 0, 0.3]\n' \
    '[[object]]\nname = "ball"\nshape = "sphere"\nradius = 0.05\nmass = 0.5\nposition = [-0.5, 0, 0.56]\n'
TWO = "".join(BOX.format(name=n, size=[0.1, 0.1, 0.1], mass=1, at=[0, 0, z]) for n, z in (("a", 0.05), ("b", 0.15)))
BALL_BESIDE = '[robot]\nmodel = "ur5"\n[controller]\nkp = 2000\nkd = 100\nfeedforward = "gravity"\n' \
    '[[object]]\nname = "ball"\nshape = "sphere"\nradius = 0.1\nmass = 0.5\nposition = [0.5, 0.4, 0.1]\n'
FINGERS = {f"joint_{k}.0": 1.2 for k in (1, 5, 9)}
HEALTHY = {
    "the gripper of z1 opens": (lambda f: tribo.load("z1"), _to(jointGripper=-1.0)),
    "fingers close": (lambda f: tribo.load("allegro"), _to(**FINGERS)),
    "so100 waves": (lambda f: tribo.load("so100"), _waves(slice(0, 4), 0.1)),
    "xarm7 waves fast": (lambda f: tribo.load("xarm7"), _waves(slice(0, 7), 0.2, 10.0)),
    "kinova goes to a target": (lambda f: tribo.load("kinova"), _to(j2s6s200_joint_2=3.3)),
    "hyq squats": (lambda f: tribo.load("hyq"), _waves(slice(7, 19), 0.1 * np.tile([0, 1, -2], 4) * np.repeat([1, -1, 1, -1], 3))),
    "go2 lies down": (lambda f: tribo.load("go2"), _driven(_lies_down, 1.5)),
    "g1 lifts an arm": (lambda f: tribo.load("g1"), _to(left_shoulder_pitch_joint=-0.6)),
    "talos, exponential, 5 ms": (lambda f: tribo.load("talos", stepper="exponential", dt=0.005), None),
    "go2 stands on ice": (lambda f: tribo.load("go2", settings={"material.default.mu": 0.1}), None),
    "a controller asked every 5 ms": (lambda f: _asked(f.load(controller="none"), held(60, 2), 0.005), None),
    "ur5 by computed torque": (lambda f: tribo.load("ur5", controller="none"), _computed_torque),
    "panda by computed torque": (lambda f: tribo.load("panda", controller="none"), _computed_torque),
    "ur5 carries 3 kg": (lambda f: _carrying(3), None),
    "on a slow belt": (lambda f: f.scene(BELT, "drop = 0.0215"), None),
    "a ball rolls down a ramp": (lambda f: tribo.parse(RAMP), None),
    "an arm pushes a ball": (lambda f: tribo.parse(BALL_BESIDE), _to(shoulder_pan_joint=0.8)),
    "a servo takes a step": (lambda f: _servo(f.mjcf(PLAIN_ARM), 0.8), lambda sim: sim.run(1.5)),
    "go2, explicit, 0.1 ms": (lambda f: tribo.load("go2", stepper="explicit-euler", dt=1e-4), lambda sim: sim.run(0.2)),
    "solo12, order four": (lambda f: tribo.load("solo12", stepper="runge-kutta", dt=2e-4), lambda sim: sim.run(0.2)),
    "laikago dropped by 20 cm": (lambda f: tribo.load("laikago", settings={"robot.drop": 0.2}), None),
    "anymal_c pushed a little": (lambda f: _pushed("anymal_c", "base", [60, 40, 0]), None),
    "g1 on the Moon": (lambda f: tribo.load("g1", settings={"gravity": [0, 0, -1.62]}), None),
    "a gripper lets go": (lambda f: f.gripper(0.8), _lets_go),
    "a latch opens": (lambda f: tribo.parse(TWO), _latched),
    "go2 from a copy of its file": (lambda f: f.of("go2", gains=(100.0, 3.0)), None),
    "g1 from a copy of its file": (lambda f: f.of("g1", gains=(500.0, 10.0)), None),
    "talos from a copy of its file": (lambda f: f.of("talos", gains=(3000.0, 100.0)), None),
    **{name: (lambda f, n=name: tribo.load(n), None) for name in
       ("icub", "simple_humanoid", "double_pendulum", "double_pendulum_continuous", "heap-100", "quadruped", "talos-standing")},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", HEALTHY)
def test_no_cause_is_named_where_nothing_is_wrong(run, tmp_path):
    make, drive = HEALTHY[run]
    sim = _made(make, tmp_path)
    drive(sim) if drive else sim.run(1.0)
    assert not sim.explain().findings, str(sim.explain())


def test_an_open_loop_is_told_before_the_run():
    with pytest.warns(UserWarning, match="'pin' does not hold at the start: it is open by 300 mm"):
        tribo.parse(FOUR_BAR.replace("point_b = [0.5, 0, 0]", "point_b = [0.5, 0, 0.3]"))


def test_an_arm_that_picks_and_places_is_warned_of_nothing():
    """Little energy is in its slow motion, much goes through its motors: at most a share of that is the error of a step."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(ROOT / "tutorials/08_pick_and_place.py"))


def test_worlds_know_how_often_their_controllers_are_asked(tmp_path):
    sim = _made(lambda f: _asked(f.load(controller="none"), lambda t, q, v: 300 * (REFERENCE - q[7:]) - 10 * v[6:], 0.01), tmp_path)
    batch = tribo.Batch(sim, 2)
    batch.watch([1])
    batch.step(500)
    assert "chatters" in batch.explain(1).findings[0].cause
