"""More faults that were put in on purpose, and more healthy runs: MJCF robots, Python controllers, commanded targets,
grippers, walks and trots. The first cause that explain names is the one that was put in, or none."""

import pathlib
import re
import warnings

import numpy as np
import pytest

import tribo
from quadruped_file import STAND
from test_seeded_faults import REFERENCE, Quad, held

ROOT = pathlib.Path(__file__).resolve().parents[2]

ARM = """<mujoco><option gravity="{gravity}"/><worldbody><geom type="plane" size="1 1 .1"/>
<body name="a" pos="0 0 1"><joint name="j1" axis="0 1 0" damping="0.5"/>
<geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" {mass}/>
<body name="b" pos="0.4 0 0"><joint name="j2" axis="0 1 0" damping="0.5"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" {mass}/></body></body></worldbody>
<actuator><position name="s1" joint="j1" kp="200"/><position name="s2" joint="j2" kp="100"/></actuator></mujoco>"""

FINGER = """<link name="finger_{n}"><inertial><origin xyz="0 0 -0.05"/><mass value="0.1"/>
<inertia ixx="0.0002" iyy="0.0002" izz="0.00005" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 -0.07"/><geometry><box size="0.03 0.01 0.1"/></geometry></collision></link>
<joint name="finger_{n}_joint" type="prismatic"><parent link="lift"/><child link="finger_{n}"/><origin xyz="0 {y} 0"/>
<axis xyz="0 {axis} 0"/><limit lower="0" upper="0.045" effort="50" velocity="1"/></joint>"""
GRIPPER = """<robot name="gripper"><link name="world"/><link name="lift"><inertial><mass value="1"/>
<inertia ixx="0.002" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.06 0.2 0.04"/></geometry></collision></link>
<joint name="lift_joint" type="prismatic"><parent link="world"/><child link="lift"/><origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>
<limit lower="-0.25" upper="0.25" effort="200" velocity="1"/></joint>""" + FINGER.format(n="l", y=0.05, axis=-1) + \
    FINGER.format(n="r", y=-0.05, axis=1) + "</robot>"


class Makes(Quad):
    """Robots and scenes of a test's folder."""

    def arm(self, gravity="0 0 -9.81", mass='mass="0.7"'):
        path = self.path.with_name("arm.xml")
        path.write_text(ARM.format(gravity=gravity, mass=mass))
        return tribo.load(path)

    def gripper(self, mu):
        path = self.path.with_name("gripper.urdf")
        path.write_text(GRIPPER)
        sim = tribo.parse(f'[robot]\nmodel = "{path}"\njoints = {{ lift_joint = -0.18 }}\n[controller]\nkp = 2000\nkd = 60\n'
                          "joints = { lift_joint = -0.18, finger_l_joint = 0.04, finger_r_joint = 0.04 }\n"
                          f'[material.default]\nmu = {mu}\n[[object]]\nname = "box"\nshape = "box"\n'
                          "size = [0.04, 0.04, 0.06]\nmass = 0.2\nposition = [0, 0, 0.03]\n")
        sim.run(0.4)
        sim.target["lift_joint"] = 0.0
        return sim

    def edited(self, joint, old, new):
        def edit(text):
            i = text.index(f'name="{joint}" type')
            return text[:i] + text[i:].replace(old, new, 1)
        return self.load(edit)


def _delayed(steps):
    seen = []

    def control(t, q, v):
        seen.append((np.array(q), np.array(v)))
        q, v = seen[max(0, len(seen) - steps)]
        return 600 * (REFERENCE - q[7:]) - 20 * v[6:]
    return control


def _exchanged(t, q, v):
    return held()(t, q, v)[[3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8]]


def _pushed(name, body, force, duration=0.2):
    sim = tribo.load(name)
    sim.push(body, force, duration, start=0.3)
    return sim


def _commanded(name, targets):
    sim = tribo.load(name)
    for joint, x in targets.items():
        sim.target[joint] = x
    return sim


def _wrenched():
    sim = tribo.load("go2")
    sim.wrench["base"] = [0, 0, 500.0, 0, 0, 0]
    return sim


def _wrong_way(t, q, v):
    return np.append(200 * (q[:7] - [0, -0.785, 0, -2.356, 0, 1.571, 0.785]), [0, 0])


BOXES = "".join(f'[[object]]\nname = "{n}"\nshape = "box"\nsize = [0.2, 0.2, 0.2]\nmass = 1\nposition = {p}\n'
                for n, p in (("a", [0, 0, 0.1]), ("b", [0, 0.05, 0.2])))

FAULTS = {
    "y is up": (lambda m: m.load(settings={"gravity": [0, -9.81, 0]}), "gravity"),
    "MJCF, gravity upwards": (lambda m: m.arm(gravity="0 0 9.81"), "gravity"),
    "MJCF, a density of 1e6": (lambda m: m.arm(mass='density="1000000"'), "mass"),
    "MJCF, no control": (lambda m: tribo.load(ROOT / "tests/data/mjcf/quadruped.xml", controller="none"), "no controller"),
    "feedback of the wrong sign": (lambda m: tribo.load("panda", controller=_wrong_way), "actuators"),
    "left and right exchanged": (lambda m: m.load(controller=_exchanged), "actuators"),
    "torques in N mm": (lambda m: m.load(controller=lambda t, q, v: 1000 * held()(t, q, v)), "chatters"),
    "a delay of 40 ms": (lambda m: m.load(controller=_delayed(40)), "actuators"),
    "a step too large for a Python controller": (lambda m: m.load(controller=held(), dt=0.02), "chatters"),
    "an infinite torque": (lambda m: m.load(controller=lambda t, q, v: np.full(12, np.inf) if t > 0.2 else held()(t, q, v)),
                           "not finite"),
    "a leg without effort": (
        lambda m: m.load(lambda s: re.sub(r'(name="HL_\w+" type.*?effort=)"25"', r'\1"0"', s, flags=re.S)), "effort"),
    "a weak motor": (lambda m: m.edited("FR_knee", 'effort="25"', 'effort="0.5"'), "limit"),
    "a centre of mass in millimetres": (
        lambda m: m.load(lambda s: s.replace('<inertial><origin xyz="0 0 -0.1"/>', '<inertial><origin xyz="0 0 -100"/>')), "mass"),
    "a trunk of 6 g": (lambda m: m.load(lambda s: s.replace('<mass value="6"/>', '<mass value="0.006"/>')), "inertia"),
    "upside down": (lambda m: m.load(settings={"robot.rpy": [np.pi, 0, 0]}), "fall"),
    "thrown at the start": (lambda m: m.load(settings={"robot.velocity": [8.0, 0, 0]}), "fall"),
    "dropped from 3 m": (lambda m: m.load(settings={"robot.drop": 3.0}), "fall"),
    "a wrench left on": (lambda m: _wrenched(), "push"),
    "a slippery gripper": (lambda m: m.gripper(0.02), "slip"),
    "a trot on ice": (lambda m: tribo.load("solo-trot", settings={"material.default.mu": 0.02}), "slip"),
    "a walk pushed over": (lambda m: _pushed("solo-walk", "solo12", [60, 120, 0]), "push"),
    "targets outside the ranges": (lambda m: _commanded("go2", {f"{leg}_calf_joint": 2.0 for leg in ("FL", "FR", "RL", "RR")}),
                                   "range"),
    "explicit gains under momentum": (
        lambda m: m.load(controller=tribo.Controller("pd", kp=6e3, kd=200.0, implicit=False, joints=STAND), stepper="momentum"),
        "gains"),
    "two boxes in each other": (lambda m: tribo.parse(BOXES), "overlap"),
    "a stiff Python controller under exponential": (lambda m: m.load(controller=held(600, 20), stepper="exponential", dt=0.01),
                                                    "chatters"),
}


def _quiet(make, makes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(makes)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_named_first(fault, tmp_path):
    make, word = FAULTS[fault]
    sim = _quiet(make, Makes(tmp_path))
    sim.run(1.5, check=False)
    findings = sim.explain().findings
    assert findings, "nothing was named"
    assert word in findings[0].cause, str(sim.explain())
    assert findings[0].evidence and findings[0].advice
    if fault == "thrown at the start":
        assert "8 m/s" in findings[0].evidence
    if fault == "upside down":
        assert "upside down" in findings[0].evidence


def _wave(sim, joints, amplitude):
    start = np.array(sim.target)
    while sim.t < 1.0:
        sim.target[joints] = start[joints] + amplitude * np.sin(5 * sim.t)
        sim.step()


def _servos(sim):
    while sim.t < 1.0:
        sim.ctrl[:] = 0.5 * np.sin(4 * sim.t)
        sim.step()


SQUAT = 0.15 * np.tile([0, 1, -2], 4)
PIN = """[[object]]
name = "ball"
shape = "sphere"
radius = 0.1
mass = 5
position = [0, 0, 0.1]
velocity = [3, 0, 0]
[[object]]
name = "pin"
shape = "cylinder"
radius = 0.05
length = 0.3
mass = 1
position = [1, 0, 0.15]
"""
HEALTHY = {
    "MJCF arm": (lambda m: m.arm(), None),
    "MJCF arm, its servos driven": (lambda m: m.arm(), _servos),
    "panda waves": (lambda m: tribo.load("panda"), lambda sim: _wave(sim, slice(0, 7), 0.3)),
    "ur10 goes to a target": (lambda m: _commanded("ur10", {"elbow_joint": 0.6}), None),
    "go2 squats": (lambda m: tribo.load("go2"), lambda sim: _wave(sim, slice(7, 19), SQUAT)),
    "anymal_c squats": (lambda m: tribo.load("anymal_c"), lambda sim: _wave(sim, slice(7, 19), SQUAT)),
    "gripper lifts": (lambda m: m.gripper(0.8), None),
    "solo-walk, nudged": (lambda m: _pushed("solo-walk", "solo12", [5, 5, 0], 0.1), None),
    "solo-trot, exponential": (lambda m: tribo.load("solo-trot", stepper="exponential"), None),
    "solo12, pushed a little": (lambda m: _pushed("solo12", "solo12", [6, 0, 0], 0.1), None),
    "g1, exponential": (lambda m: tribo.load("g1", stepper="exponential"), None),
    "talos, momentum": (lambda m: tribo.load("talos", stepper="momentum"), None),
    "solo12, implicit-euler": (lambda m: tribo.load("solo12", stepper="implicit-euler"), None),
    "go2 dropped by 30 cm": (lambda m: tribo.load("go2", settings={"robot.drop": 0.3}), None),
    "a Python controller at 2 ms": (lambda m: m.load(controller=held(60, 1), dt=2e-3), None),
    "a ball meets a pin": (lambda m: tribo.parse(PIN), None),
    "a ball bounces": (lambda m: tribo.parse('[[object]]\nname = "ball"\nshape = "sphere"\nradius = 0.1\nmass = 1\n'
                                             "position = [0, 0, 0.6]\n[material.default]\nmu = 0.5\nrestitution = 0.8\n"), None),
    **{name: (lambda m, n=name: tribo.load(n), None) for name in
       ("solo-walk", "go2-walk-bumps", "solo-trot-constraint", "solo-squat", "solo-jump", "romeo-sway", "romeo-walk",
        "solo-terrain", "allegro-ball", "cube-push", "free-fall", "six-link-pendulum", "ur10-geared", "ur10-sinusoid")},
}


@pytest.mark.parametrize("run", HEALTHY)
def test_no_cause_is_named_where_nothing_is_wrong(run, tmp_path):
    make, drive = HEALTHY[run]
    sim = _quiet(make, Makes(tmp_path))
    drive(sim) if drive else sim.run(1.0)
    assert not sim.explain().findings, str(sim.explain())
