"""Faults of yet other kinds, put in on purpose, and healthy runs of the robots that the other files leave out. The first
cause that explain names is the one that was put in, or none."""

import re
import warnings

import numpy as np
import pytest

import tribo
from quadruped_file import STAND, quadruped
from test_more_faults import ARM, GRIPPER, Makes
from test_seeded_faults import REFERENCE, held

ROBOT = '[robot]\nmodel = "{path}"\njoints = {{ "*_thigh" = 0.8, "*_knee" = -1.6 }}\n{more}\n' \
        '[controller]\nname = "pd"\nkp = 60.0\nkd = 2.0\n'
BOX = '[[object]]\nname = "{name}"\nshape = "box"\nsize = {size}\nmass = {mass}\nposition = {at}\n'
PLAIN_ARM = ARM.format(gravity="0 0 -9.81", mass='mass="0.7"')


class Kinds(Makes):
    def scene(self, text="", more="drop = 0.002"):
        self.path.write_text(quadruped())
        return tribo.parse(ROBOT.format(path=self.path, more=more) + text)

    def mjcf(self, text):
        path = self.path.with_name("arm.xml")
        path.write_text(text)
        return tribo.load(path)

    def without_shapes(self):
        self.path.write_text(re.sub(r"<collision>.*?</collision>", "", quadruped(), flags=re.S))
        return tribo.load(self.path, controller=tribo.Controller("pd", kp=60.0, kd=2.0, joints=STAND),
                          settings={"robot.joints": STAND, "robot.position": [0, 0, 0.4]})

    def axis(self, joint, old, new):
        def edit(text):
            i = text.index(f'name="{joint}" type')
            return text[:i] + text[i:].replace(f'xyz="{old}"', f'xyz="{new}"', 1)
        return self.load(edit)

    def heavy(self, mass, lift=200, kp=2000):
        """A gripper that should lift a box."""
        path = self.path.with_name("gripper.urdf")
        path.write_text(GRIPPER.replace('effort="200"', f'effort="{lift}"'))
        sim = tribo.parse(f'[robot]\nmodel = "{path}"\njoints = {{ lift_joint = -0.18 }}\n[controller]\nkp = {kp}\nkd = 60\n'
                          "joints = { lift_joint = -0.18, finger_l_joint = 0.04, finger_r_joint = 0.04 }\n"
                          "[material.default]\nmu = 0.8\n" + BOX.format(name="box", size=[0.04, 0.04, 0.06], mass=mass,
                                                                       at=[0, 0, 0.03]))
        sim.run(0.4)
        sim.target["lift_joint"] = 0.0
        return sim


def _inertias(factor):
    return lambda text: re.sub(r'(i[xyz][xyz])="([\d.e-]+)"', lambda m: f'{m[1]}="{float(m[2]) * factor}"', text)


def _noisy():
    noise = np.random.default_rng(3)
    return lambda t, q, v: 60 * (REFERENCE - q[7:]) - 2 * (v[6:] + noise.normal(0, 20, 12))


def _held_for(period):
    kept = {"t": -1.0}

    def control(t, q, v):
        if t >= kept["t"] + period - 1e-9:
            kept.update(t=t, u=held(600, 20)(t, q, v))
        return kept["u"]
    return control


def _started(sim, change):
    q = np.array(sim.q)
    change(q)
    sim.set(q=q)
    return sim


def _on_its_back(q):
    q[2] += 0.2
    q[3:7] = [1, 0, 0, 0]


def _zero_targets(sim):
    sim.target[7:] = 0
    return sim


def _by_kind(t, q, v):
    return held()(t, q, v).reshape(4, 3).T.reshape(-1)


ICE = '[material.ice]\nmu = 0.0\n[material.default]\nmu = 0.7\n'
RAM = '[[kinematic]]\nname = "ram"\nshape = "box"\nsize = [0.1, 0.6, 0.6]\nposition = [1.5, 0, 0.35]\nvelocity = [-6, 0, 0]\n'
WALL = '[[wall]]\nname = "wall"\nshape = "box"\nsize = [0.4, 0.4, 0.6]\nposition = [0.2, 0, 0.3]\n'
TABLE = '[ground]\nnone = true\n[[wall]]\nname = "table"\nshape = "box"\nsize = [0.1, 0.1, 0.02]\nposition = [2, 0, -0.01]\n'
WRONG_BIAS = PLAIN_ARM.replace('<position name="s1" joint="j1" kp="200"/>',
                               '<general name="s1" joint="j1" gainprm="200" biastype="affine" biasprm="0 200 0"/>')

FAULTS = {
    "feet in millimetres": (lambda m: m.load(lambda s: s.replace('radius="0.02"', 'radius="20"')), "mass"),
    "trunk in millimetres": (lambda m: m.load(lambda s: s.replace("0.45 0.18 0.1", "450 180 100")), "mass"),
    "gains in N m/deg": (lambda m: m.load(kp=60 / 57.3, kd=2 / 57.3), "fall"),
    "joints in another order": (lambda m: m.load(controller=_by_kind), "actuators"),
    "feet of ice": (lambda m: m.scene(ICE, 'drop = 0.002\nmaterials = { "*_knee_link" = "ice" }'), "slip"),
    "a controller at 20 Hz": (lambda m: m.load(controller=_held_for(0.05)), "actuators"),
    "a root of what is negative": (lambda m: tribo.load("z1", controller=lambda t, q, v: np.sqrt(-1 - q[:7])), "not finite"),
    "a knee about x": (lambda m: m.axis("FL_knee", "0 1 0", "1 0 0"), "axis"),
    "a hip about y": (lambda m: m.axis("FL_hip", "1 0 0", "0 1 0"), "axis"),
    "a thigh the other way": (lambda m: m.axis("HR_thigh", "0 1 0", "0 -1 0"), "axis"),
    "inertia of all links x1000": (lambda m: m.load(_inertias(1000)), "inertia"),
    "inertia of all links /1000": (lambda m: m.load(_inertias(1e-3)), "inertia"),
    "gravity sideways": (lambda m: m.load(settings={"gravity": [9.81, 0, 0]}), "gravity"),
    "a pose in degrees": (lambda m: m.load(settings={"robot.joints": {"*_thigh": 45.0, "*_knee": -90.0}}), "range"),
    "references in degrees": (
        lambda m: m.load(controller=tribo.Controller("pd", kp=60.0, kd=2.0, joints={"*_thigh": 45.0, "*_knee": -90.0})), "range"),
    "an angle in degrees in Python": (lambda m: m.load(controller=lambda t, q, v: np.rad2deg(held()(t, q, v))), "chatters"),
    "positions for torques": (lambda m: m.load(controller=lambda t, q, v: REFERENCE), "fall"),
    "torques of zero": (lambda m: m.load(controller=lambda t, q, v: np.zeros(12)), "no controller"),
    "noise of a sensor": (lambda m: m.load(controller=_noisy()), "chatters"),
    "no shapes": (lambda m: m.without_shapes(), "fall"),
    "no ground": (lambda m: m.scene("[ground]\nnone = true\n", "position = [0, 0, 0.4]"), "fall"),
    "beside the table": (lambda m: m.scene(TABLE, "position = [0, 0, 0.4]"), "fall"),
    "set upside down": (lambda m: _started(m.load(), _on_its_back), "fall"),
    "set outside its range": (lambda m: _started(tribo.load("go2"), lambda q: q.__setitem__(9, 2.5)), "range"),
    "all targets zero": (lambda m: _zero_targets(tribo.load("go2")), "range"),
    "in a wall": (lambda m: m.scene(WALL), "overlap"),
    "a load of 60 kg": (lambda m: m.scene(BOX.format(name="load", size=[0.3, 0.15, 0.1], mass=60, at=[0, 0, 0.42])), "limit"),
    "a box too heavy for the fingers": (lambda m: m.heavy(12), "slip"),
    "a box too heavy for the lift": (lambda m: m.heavy(6, lift=50, kp=20000), "limit"),
    "MJCF, an actuator too weak": (lambda m: m.mjcf(PLAIN_ARM.replace('kp="200"', 'kp="200" forcerange="-0.5 0.5"')), "limit"),
    "MJCF, a bias of the wrong sign": (lambda m: m.mjcf(WRONG_BIAS), "actuators"),
    "contact too soft": (lambda m: m.load(stepper="exponential", settings={"material.default.stiffness": 200.0,
                                                                           "material.default.damping": 20.0}), "soft"),
    "rammed": (lambda m: m.scene(RAM), "push"),
}
SAID = {"a knee about x": "FL_knee", "no shapes": "no contact shapes", "no ground": "no ground", "beside the table": "below it",
        "a box too heavy for the fingers": "it weighs 117.72 N", "a box too heavy for the lift": "lift_joint",
        "contact too soft": "mm for each newton"}


def _made(make, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(Kinds(tmp_path))


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


def _compensated(sim):
    """Gravity compensation from the model of the robot."""
    while sim.t < 1.0:
        sim.torque[:] = sim.bias
        sim.step()


HEALTHY = {
    "a box that the gripper lifts": (lambda m: m.heavy(3), None),
    "an arm on its actuators' ranges": (lambda m: m.mjcf(PLAIN_ARM.replace('kp="200"', 'kp="200" forcerange="-50 50"')), None),
    "an arm that floats": (lambda m: tribo.load("ur5", controller="none"), _compensated),
    "on the Moon": (lambda m: m.load(settings={"gravity": [0, 0, -1.62]}), None),
    "a slope of ten degrees": (lambda m: m.load(settings={"gravity": [1.7, 0, -9.66]}), None),
    "contact of 2e4 N/m": (lambda m: m.load(stepper="exponential", settings={"material.default.stiffness": 2e4}), None),
    "a box on its back": (
        lambda m: m.scene(BOX.format(name="load", size=[0.2, 0.12, 0.05], mass=1, at=[0, 0, 0.385])), None),
    **{name: (lambda m, n=name: tribo.load(n), None) for name in
       ("b1", "go1", "laikago", "anymal_b", "romeo", "talos", "solo8", "centauro", "ur3", "z1", "so100", "so101",
        "allegro_left", "finger_edu")},
}


@pytest.mark.parametrize("run", HEALTHY)
def test_no_cause_is_named_where_nothing_is_wrong(run, tmp_path):
    make, drive = HEALTHY[run]
    sim = _made(make, tmp_path)
    drive(sim) if drive else sim.run(1.0)
    assert not sim.explain().findings, str(sim.explain())


@pytest.mark.parametrize("lanes", [False, True])
def test_worlds_of_a_batch_are_explained(lanes, tmp_path):
    """The same causes as in a simulation, for the worlds that are watched; a reset forgets them."""
    sim = _made(lambda m: m.load(), tmp_path)
    batch = tribo.Batch(sim, 4, threads=2, lanes=lanes)
    batch.watch([1, 2, 3])
    batch.set_parameters(2, gains=0.02)
    batch.target[3, 7:] = 40.0
    batch.step(1500)
    assert not batch.explain(1).findings
    assert "fall" in batch.explain(2).findings[0].cause
    assert "range" in batch.explain(3).findings[0].cause
    assert batch.lane_steps[1] == 0
    with pytest.raises(tribo.InvalidInput, match="not watched"):
        batch.explain(0)
    batch.reset()
    assert not batch.explain(2).findings
