"""Faults that were put in on purpose: the first cause that explain names is the one that was put in. And healthy runs, in
which it names none."""

import re
import warnings

import numpy as np
import pytest

import tribo
from quadruped_file import STAND, quadruped

REFERENCE = np.tile([0, 0.8, -1.6], 4)


def held(kp=60.0, kd=2.0):
    return lambda t, q, v: kp * (REFERENCE - q[7:]) - kd * v[6:]


class Quad:
    def __init__(self, folder):
        self.path = folder / "quad.urdf"

    def load(self, edit=lambda text: text, *, controller=None, kp=60.0, kd=2.0, settings=None, joints=STAND, **options):
        self.path.write_text(edit(quadruped()))
        start = {"robot.joints": joints, "robot.drop": 0.005} if joints else {}
        controller = controller or tribo.Controller("pd", kp=kp, kd=kd, **({"joints": joints} if joints else {}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tribo.load(self.path, controller=controller, settings={**start, **(settings or {})}, **options)


def _scaled(pattern, factor, count=0):
    return lambda text: re.sub(pattern, lambda m: f'{m[1]}="{float(m[2]) * factor}"', text, count=count)


def _millimetres(text):
    return re.sub(r'origin xyz="([^"]+)"',
                  lambda m: 'origin xyz="' + " ".join(str(1000 * float(x)) for x in m[1].split()) + '"', text)


def _axis(text, joint="FL_knee"):
    i = text.index(f'name="{joint}" type')
    return text[:i] + text[i:].replace('xyz="0 1 0"', 'xyz="0 -1 0"', 1)


BALL_INSIDE = """
[[object]]
name = "ball"
shape = "sphere"
radius = 0.05
mass = 1.0
position = [0, 0, 0.3]
"""


def _with_ball(quad):
    sim = quad.load()
    text = f'[robot]\nmodel = "{quad.path}"\njoints = {{ "*_thigh" = 0.8, "*_knee" = -1.6 }}\ndrop = 0.005\n' \
           '[controller]\nname = "pd"\nkp = 60.0\nkd = 2.0\n' + BALL_INSIDE
    del sim
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tribo.parse(text)


def _nan_after(t0):
    return lambda t, q, v: np.full(12, np.nan) if t > t0 else held()(t, q, v)


FAULTS = {
    "masses in grams": (lambda q: q.load(_scaled(r'(mass value)="([\d.e-]+)"', 1000)), "mass"),
    "one link in grams": (lambda q: q.load(lambda s: s.replace('<mass value="0.6"/>', '<mass value="600"/>', 1)), "mass"),
    "lengths in millimetres": (lambda q: q.load(_millimetres), "mass"),
    "axis of a knee the wrong way": (lambda q: q.load(_axis), "axis"),
    "axis of another knee": (lambda q: q.load(lambda s: _axis(s, "HR_knee")), "axis"),
    "inertia a million times too small": (lambda q: q.load(_scaled(r"(i[xyz][xyz])=\"([\d.e-]+)\"", 1e-6)), "inertia"),
    "inertia too small, Python controller": (
        lambda q: q.load(_scaled(r"(i[xyz][xyz])=\"([\d.e-]+)\"", 1e-6), controller=held()), "inertia"),
    "inertia in g mm^2": (lambda q: q.load(_scaled(r"(i[xyz][xyz])=\"([\d.e-]+)\"", 1e6)), "inertia"),
    "gains too high in a Python controller": (lambda q: q.load(controller=held(6e4, 2e3)), "chatters"),
    "damping of the wrong sign": (lambda q: q.load(controller=held(60, -2)), "actuators"),
    "torque not finite": (lambda q: q.load(controller=_nan_after(0.3)), "not finite"),
    "overlap with the ground": (lambda q: q.load(settings={"robot.drop": -0.05}), "overlap"),
    "an object inside the robot": (_with_ball, "overlap"),
    "explicit stepper, large dt": (lambda q: q.load(stepper="explicit-euler", dt=0.02), "step"),
    "explicit gains": (lambda q: q.load(controller=tribo.Controller("pd", kp=6e3, kd=200.0, implicit=False, joints=STAND)),
                       "gains"),
    "gravity upwards": (lambda q: q.load(settings={"gravity": [0, 0, 9.81]}), "gravity"),
    "no friction": (lambda q: q.load(settings={"material.default.mu": 0.0}), "slip"),
    "motors too weak": (lambda q: q.load(lambda s: s.replace('effort="25"', 'effort="1"')), "limit"),
    "motors without effort": (lambda q: q.load(lambda s: s.replace('effort="25"', 'effort="0"')), "effort"),
    "pose outside its range": (lambda q: q.load(joints=None), "range"),
    "gains too low": (lambda q: q.load(kp=3.0, kd=0.1), "fall"),
    "a push that throws it": (lambda q: _pushed(q), "push"),
    "two unlike masses and a weak solver": (
        lambda q: tribo.load("heavy-on-light", solver="pgs", settings={"contact.max_iterations": 200}), "mass ratio"),
    "too few iterations": (lambda q: tribo.load("stack-10", solver="pgs", settings={"contact.max_iterations": 2}),
                           "unconverged"),
}


def _pushed(quad):
    sim = quad.load()
    sim.push("quad", [0, 3000, 1500], 0.1, start=0.2)
    return sim


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_named_first(fault, tmp_path):
    make, word = FAULTS[fault]
    sim = make(Quad(tmp_path))
    sim.run(1.5, check=False)
    findings = sim.explain().findings
    assert findings, "nothing was named"
    assert word in findings[0].cause, str(sim.explain())
    assert findings[0].evidence and findings[0].advice


def _lifted(quad):
    text = """
[[robot]]
name = "crane"
[[robot.link]]
name = "hook"
joint = "prismatic"
axis = [0, 0, 1]
position = [0, 0, 0.5]
size = [0.1, 0.1, 0.1]
mass = 1
effort_limit = 500
collide = false
[controller]
name = "pd"
kp = 5000.0
kd = 300.0
joints = { hook = 0.6 }
"""
    return tribo.parse(text)


HEALTHY = {
    "quadruped": lambda q: q.load(),
    "quadruped, Python controller": lambda q: q.load(controller=held()),
    "quadruped, stiff": lambda q: q.load(kp=600.0, kd=20.0),
    "quadruped, pushed a little": lambda q: _nudged(q),
    "crane that lifts": _lifted,
    **{name: (lambda q, n=name: tribo.load(n)) for name in
       ("solo12", "go2", "a1", "anymal_c", "hyq", "g1", "ur10", "panda", "kinova", "allegro", "xarm7", "cube", "cube-slide",
        "stack-10", "solo-trot", "four-bar", "double-pendulum", "platform")},
}


def _nudged(quad):
    sim = quad.load()
    sim.push("quad", [5, 5, 0], 0.2, start=0.2)
    return sim


@pytest.mark.parametrize("run", HEALTHY)
def test_no_cause_is_named_where_nothing_is_wrong(run, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = HEALTHY[run](Quad(tmp_path))
    sim.run(1.0)
    assert not sim.explain().findings, str(sim.explain())
