"""Worlds of MJCF files beside MuJoCo itself, for a second of motion, and its coordinates and sensors."""

import pathlib

import numpy as np
import pytest

import tribo

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco><option timestep="0.002"/><worldbody>
  <body pos="0 0 1" gravcomp="1"><joint name="a" axis="0 1 0" damping="0.2"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/>
   <body pos=".4 0 0" gravcomp="1"><joint name="b" axis="0 1 0" actuatorgravcomp="true"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
    <site name="tip" pos=".3 0 0"/></body></body></worldbody>
  <sensor><framepos name="tip" objtype="site" objname="tip"/><jointpos name="angle" joint="a"/><accelerometer name="acc" site="tip"/></sensor>
  <actuator><position joint="a" kp="30"/><motor joint="b"/></actuator>
  <keyframe><key name="out" qpos="0.5 -0.7" qvel="1 2" ctrl="0.5 0"/></keyframe></mujoco>"""

BOX = """<mujoco><option timestep="0.002"/><worldbody><site name="hook" pos="0 0 2"/>
  <body name="box" pos="0.3 0 1.2"><freejoint/><geom type="box" size=".1 .05 .04" mass="2"/><site name="ring" pos="0 0 .04"/></body></worldbody>
  <tendon><spatial name="string" range="0 1" limited="true"><site site="hook"/><site site="ring"/></spatial></tendon></mujoco>"""

DRONE = """<mujoco><option timestep="0.002"/><worldbody><body name="drone" pos="0 0 1"><freejoint/>
  <geom type="box" size=".1 .1 .02" mass="1.2"/><site name="r1" pos=".1 .1 0"/><site name="r2" pos="-.1 .1 0"/><site name="r3" pos="-.1 -.1 0"/><site name="r4" pos=".1 -.1 0"/></body></worldbody>
  <actuator><motor name="m1" site="r1" gear="0 0 1 0 0 .02"/><motor name="m2" site="r2" gear="0 0 1 0 0 -.02"/>
  <motor name="m3" site="r3" gear="0 0 1 0 0 .02"/><motor name="m4" site="r4" gear="0 0 1 0 0 -.02"/></actuator></mujoco>"""

GRIPPER = """<mujoco><option timestep="0.002"/><worldbody><body name="l" pos="-.1 0 0"><joint name="l" type="slide" axis="1 0 0"/><geom size=".02" mass=".1"/></body>
  <body name="r" pos=".1 0 0"><joint name="r" type="slide" axis="-1 0 0" damping="1"/><geom size=".02" mass=".3"/></body></worldbody>
  <tendon><fixed name="l"><joint joint="l" coef="1"/></fixed><fixed name="r"><joint joint="r" coef="1"/></fixed>
  <fixed name="both" range="-0.2 0.05" limited="true" damping="3"><joint joint="l" coef=".5"/><joint joint="r" coef=".5"/></fixed></tendon>
  <equality><tendon tendon1="l" tendon2="r"/></equality>
  <actuator><general name="close" tendon="both" dyntype="filterexact" dynprm="0.05" gainprm="2" ctrlrange="0 1"/></actuator></mujoco>"""


def both(tmp_path, text, **keys):
    path = tmp_path / "world.xml"
    path.write_text(text)
    model = mujoco.MjModel.from_xml_path(str(path))
    return tribo.load(path, **keys), model, mujoco.MjData(model)


def test_compensated_arm_stays_where_it_is(tmp_path):
    sim, model, data = both(tmp_path, ARM, controller="actuators")
    sim.set(q=[0.5, -0.7])
    sim.ctrl[:] = 0.5, 0
    sim.run(1.0)
    assert np.abs(sim.q - [0.5, -0.7]).max() < 1e-9  # without compensation b alone would fall


def test_carried_weights_are_in_the_derivatives(tmp_path):
    text = ARM.replace('gravcomp="1"', 'gravcomp="0.6"', 1).replace('gravcomp="1"', 'gravcomp="1.7"', 1)
    sim, _, _ = both(tmp_path, text, controller="actuators")
    sim.set(q=[0.3, 0.9], v=[1.0, -2.0])
    sim.step(3)
    check = tribo.check_derivatives(sim)
    assert check.linearization.method == "analytic" and check.error < 1e-6


def test_keyframe_has_velocities(tmp_path):
    sim, model, data = both(tmp_path, ARM, controller="actuators")
    sim.reset("out")
    assert np.array_equal(sim.v, [1.0, 2.0])
    mujoco.mj_resetDataKeyframe(model, data, 0)
    sim.run(0.5)
    for _ in range(250):
        mujoco.mj_step(model, data)
    assert np.abs(sim.q - data.qpos).max() < 1e-2  # both of first order in dt


def test_box_hangs_on_a_string(tmp_path):
    sim, model, data = both(tmp_path, BOX)
    sim.run(4.0)
    box = sim.pose("box")
    ring = box[:3, 3] + box[:3, :3] @ [0, 0, 0.04]
    length = np.linalg.norm(ring - [0, 0, 2])
    assert length <= 1 + 1e-4 and length > 0.9


def test_drone_hovers_and_turns(tmp_path):
    sim, model, data = both(tmp_path, DRONE, controller="actuators")
    sim.ctrl[:] = 1.2 * 9.81 / 4
    sim.run(1.0)
    assert np.abs(sim.pose("drone")[:3, 3] - [0, 0, 1]).max() < 1e-9
    sim.ctrl[:] = np.array([1.1, 0.9, 1.1, 0.9]) * 1.2 * 9.81 / 4  # more about +z: the torques of a pair add
    sim.run(0.5)
    torque = 0.02 * 0.4 * 1.2 * 9.81 / 4
    inertia = 1.2 / 3 * (0.1**2 + 0.1**2)
    assert sim.v[5] == pytest.approx(0.5 * torque / inertia, rel=1e-9)


def test_gripper_closes_as_in_mujoco(tmp_path):
    sim, model, data = both(tmp_path, GRIPPER, controller="actuators")
    sim.ctrl[:] = 0.6
    data.ctrl[:] = 0.6
    sim.run(0.1)
    for _ in range(50):
        mujoco.mj_step(model, data)
    assert sim.q[0] == pytest.approx(sim.q[1], abs=1e-9)
    assert sim.q[0] == pytest.approx(data.qpos[0], rel=0.05)  # MuJoCo's tie is soft
    kept = sim.state
    sim.run(0.1)
    once = np.array(sim.q)
    sim.state = kept  # the activation is in it
    sim.run(0.1)
    assert np.array_equal(once, sim.q)
    sim.run(1.0)
    assert 0.5 * (sim.q[0] + sim.q[1]) == pytest.approx(0.05, abs=1e-5)  # the range of the tendon


def test_coordinates_of_mujoco(tmp_path):
    text = BOX.replace("</worldbody>", """<body pos="1 0 1"><joint type="ball"/><geom size=".1"/>
      <body pos=".3 0 0"><joint axis="0 1 0" ref="0.2"/><geom size=".1"/></body></body></worldbody>""")
    sim, model, data = both(tmp_path, text)
    assert np.allclose(sim.mujoco_qpos, data.qpos, atol=1e-15)
    rng = np.random.default_rng(0)
    data.qpos[:] = rng.normal(size=model.nq)
    mujoco.mj_normalizeQuat(model, data.qpos)
    data.qvel[:] = rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    sim.mujoco_qpos, sim.mujoco_qvel = data.qpos, data.qvel
    assert np.allclose(sim.mujoco_qpos, data.qpos, atol=1e-12) and np.allclose(sim.mujoco_qvel, data.qvel, atol=1e-12)
    assert np.allclose(sim.pose("box")[:3, :3].ravel(), data.body("box").xmat, atol=1e-12)
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, model.body("box").id, velocity, 0)
    assert np.allclose(sim.velocity("box")[:3], velocity[3:], atol=1e-12)
    with pytest.raises(tribo.InvalidInput, match="qpos"):
        sim.mujoco_qpos = [1.0]


def test_sensors_along_a_run(tmp_path):
    sim, model, data = both(tmp_path, ARM, controller="actuators")
    sim.reset("out")
    mujoco.mj_resetDataKeyframe(model, data, 0)
    sim.run(0.2)
    seen = sim.file_sensors
    assert set(seen) == {"tip", "angle", "acc"} and seen["angle"][0] == sim.q[0]
    data.qpos[:], data.qvel[:] = sim.mujoco_qpos, sim.mujoco_qvel
    data.ctrl[:] = sim.ctrl
    mujoco.mj_forward(model, data)
    assert np.allclose(seen["tip"], data.sensor("tip").data, atol=1e-12)
    assert np.allclose(seen["acc"], data.sensor("acc").data, atol=0.5)  # the mean over the last step


def test_mocap_bodies_stand_where_the_keyframe_puts_them(tmp_path):
    text = """<mujoco><worldbody><body name="cart" mocap="true" pos="0 0 1"><geom type="box" size=".1 .1 .1"/></body>
      <body pos="0 0 2"><freejoint/><geom size=".1"/></body></worldbody>
      <keyframe><key name="away" mpos="1 2 3" mquat="0 1 0 0"/></keyframe></mujoco>"""
    sim, model, data = both(tmp_path, text, settings={"robot.pose": "away"})
    assert np.allclose(sim.pose("cart")[:3, 3], [1, 2, 3])
    assert np.allclose(sim.pose("cart")[:3, :3], np.diag([1, -1, -1]))


def test_a_reset_to_a_keyframe_takes_its_activations_and_mocap_places(tmp_path):
    """The motor pulls at once with the activation of the keyframe, a tenth of a radian from the first one's, in a simulation and in worlds."""
    text = """<mujoco><option timestep="0.001"/><worldbody><body name="cart" mocap="true" pos="0 0 1"><geom type="box" size=".1 .1 .1"/></body>
      <body pos="0 0 2"><joint name="a" axis="0 0 1" damping=".1"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".03"/></body></worldbody>
      <actuator><motor joint="a"/><general joint="a" dyntype="integrator" gainprm="3" biastype="affine" biasprm="0 -3 0" actlimited="true"
        actrange="-2 2"/></actuator>
      <keyframe><key name="one" qpos=".4" qvel="-1" act="1.1" ctrl="0 .2" mpos="1 2 3" mquat="0 1 0 0"/><key name="two" qpos=".4"/></keyframe></mujoco>"""
    sim, model, data = both(tmp_path, text, controller="actuators")
    batch = tribo.Batch(sim, 3)
    for key, name in enumerate(["one", "two", "one"]):
        mujoco.mj_resetDataKeyframe(model, data, key % 2)
        sim.run(0.02)
        batch.step(20)
        sim.reset(name)
        batch.reset([0, 2], keyframe=name)
        for _ in range(100):
            mujoco.mj_step(model, data)
        assert np.allclose(sim.pose("cart")[:3, 3], data.mocap_pos[0], atol=1e-12)
        assert np.allclose(sim.pose("cart")[:3, :3].ravel(), data.body("cart").xmat, atol=1e-12)
        sim.run(0.1)
        batch.step(100)
        assert np.allclose(sim.pose("cart")[:3, 3], data.mocap_pos[0], atol=1e-12)
        assert sim.q[0] == pytest.approx(data.qpos[0], abs=1e-2)  # of first order in dt, both
        for world in (0, 2):
            assert np.array_equal(batch.q[world], sim.q) and np.array_equal(batch.pose("cart")[world], sim.pose("cart"))
        assert not np.array_equal(batch.q[1], sim.q)
    sim.reset()
    assert np.allclose(sim.pose("cart")[:3, 3], [0, 0, 1])


@pytest.mark.parametrize("settings", [{"stepper.smooth": "runge-kutta"}, {"stepper.name": "runge-kutta"}])
def test_who_asked_for_runge_kutta_is_not_told_of_it(tmp_path, settings, recwarn):
    text = """<mujoco><option integrator="RK4"/><worldbody><body><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody></mujoco>"""
    both(tmp_path, text, settings=settings)
    assert not [w for w in recwarn if "RK4" in str(w.message)]
    with pytest.warns(UserWarning, match="RK4"):
        both(tmp_path, text)


def test_plugins_are_refused(tmp_path):
    text = """<mujoco><extension><plugin plugin="mujoco.pid"><instance name="p"><config key="kp" value="1"/></instance></plugin></extension>
      <worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
      <actuator><plugin joint="j" plugin="mujoco.pid" instance="p" actdim="0"/></actuator></mujoco>"""
    (tmp_path / "plugin.xml").write_text(text)
    with pytest.raises(tribo.InvalidInput, match="not read"):
        tribo.load(tmp_path / "plugin.xml")
    (tmp_path / "unknown.xml").write_text("""<mujoco><extension><plugin plugin="mine.own"/></extension><worldbody><body><joint/>
      <geom size=".1"/></body></worldbody></mujoco>""")
    with pytest.raises(tribo.InvalidInput, match="mine.own.*plugins of MuJoCo are not read"):
        tribo.load(tmp_path / "unknown.xml")


def test_a_world_in_which_nothing_moves(tmp_path):
    text = """<mujoco><worldbody><body name="table" pos="1 0 .5"><geom type="box" size=".5 .5 .05"/><site name="spot" pos="0 0 .05"/></body>
      </worldbody></mujoco>"""
    sim, model, data = both(tmp_path, text)
    sim.run(0.01)
    assert sim.model.nv == 0 and sim.mujoco_qpos.shape == (0,)
    assert np.allclose(sim.pose("table")[:3, 3], [1, 0, 0.5]) and np.allclose(sim.pose("spot")[:3, 3], [1, 0, 0.55])


def test_nested_includes_by_a_relative_path(tmp_path, monkeypatch):
    (tmp_path / "robot" / "parts").mkdir(parents=True)
    (tmp_path / "robot" / "main.xml").write_text('<mujoco><include file="parts/arm.xml"/></mujoco>')
    (tmp_path / "robot" / "parts" / "arm.xml").write_text('<mujoco><include file="parts/ball.xml"/></mujoco>')
    (tmp_path / "robot" / "parts" / "ball.xml").write_text(
        '<mujoco><worldbody><body name="ball"><freejoint/><geom size=".1"/><body name="ear" pos=".1 0 0"><geom size=".02"/></body></body>'
        "</worldbody></mujoco>")
    monkeypatch.chdir(tmp_path)
    sim = tribo.load("robot/main.xml")
    assert sim.model.nv == 6 and np.allclose(sim.pose("ear")[:3, 3], [0.1, 0, 0])  # a body without a joint has its place


ELEVEN = ["ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "inverted_double_pendulum", "inverted_pendulum", "pusher",
          "reacher", "swimmer", "walker2d"]


class Flown:
    """A tenth of a second of a file of Gymnasium in which nothing touches and no limit is near."""

    def __init__(self, tmp_path, name):
        gymnasium = pytest.importorskip("gymnasium")
        text = (pathlib.Path(gymnasium.__file__).parent / f"envs/mujoco/assets/{name}.xml").read_text()
        flags = '<option><flag contact="disable" limit="disable" frictionloss="disable"/></option><worldbody>'
        self.path = tmp_path / "world.xml"
        self.path.write_text(text.replace("<worldbody>", flags, 1))
        self.model = mujoco.MjModel.from_xml_path(str(self.path))
        self.data = mujoco.MjData(self.model)
        rng = np.random.default_rng(1)
        self.q = self.model.qpos0 + 0.1 * rng.normal(size=self.model.nq)
        mujoco.mj_normalizeQuat(self.model, self.q)
        self.v = rng.normal(size=self.model.nv)
        self.dt = self.model.opt.timestep
        self.steps = round(0.1 / self.dt)
        self.exact = self.theirs(32)

    def theirs(self, parts, integrator=mujoco.mjtIntegrator.mjINT_RK4):
        self.model.opt.integrator, self.model.opt.timestep = integrator, self.dt / parts
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.q, self.v
        for _ in range(self.steps * parts):
            mujoco.mj_step(self.model, self.data)
        return np.concatenate((self.data.qpos, self.data.qvel))

    def error(self, smooth, parts=1):
        sim = tribo.load(self.path, controller="none", settings={"stepper.smooth": smooth, "stepper.dt": self.dt / parts})
        sim.mujoco_qpos, sim.mujoco_qvel = self.q, self.v
        sim.step(self.steps * parts)
        return np.abs(np.concatenate((sim.mujoco_qpos, sim.mujoco_qvel)) - self.exact).max()


@pytest.mark.parametrize("name", ELEVEN)
def test_flight_of_gymnasium_files(tmp_path, name):
    """Runge-Kutta: at most twice the error of MuJoCo's own at the file's step. Midpoint: of second order at least, and a small
    part of the error of semi-implicit Euler, MuJoCo's."""
    flown = Flown(tmp_path, name)
    assert flown.error("runge-kutta") < 2 * np.abs(flown.theirs(1) - flown.exact).max() + 1e-12
    middle, finer = flown.error("midpoint"), flown.error("midpoint", 2)
    euler = np.abs(flown.theirs(1, mujoco.mjtIntegrator.mjINT_EULER) - flown.exact).max()
    assert np.log2(middle / finer) > 1.95
    assert middle < 0.1 * euler


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("condim", [3, 4, 6])
@pytest.mark.parametrize("solimp", ["0.85 0.92 0.004 0.5 2", "0.015 1 0.022 0.5 2"])
def test_softness_of_the_file(tmp_path, cone, condim, solimp):
    """The depth at rest is MuJoCo's: exactly on the four points of a box, nearly on the one of a ball (whose weight is on one point:
    with the impedance of an even slope; not where it begins near 0, as in files of quadrupeds)."""
    surface = f'friction="0.6 0.01 0.001" condim="{condim}" solref="0.03 0.8" solimp="{solimp}"'
    text = f"""<mujoco><option timestep="0.002" cone="{cone}" impratio="2" tolerance="1e-12" iterations="100"/><worldbody>
      <geom type="plane" size="5 5 1" {surface}/>
      <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="3" {surface}/></body>
      <body name="ball" pos="1 0 .1"><freejoint/><geom type="sphere" size=".1" mass="2" solmix="3" {surface}/></body></worldbody></mujoco>"""
    sim, model, data = both(tmp_path, text, settings={"robot.softness": "file"})
    for _ in range(2000):
        mujoco.mj_step(model, data)
    sim.run(3.0)
    for name, share in (("box", 1e-3), ("ball", 0.25))[:2 if solimp.startswith("0.85") else 1]:
        theirs = 0.1 - data.body(name).xpos[2]
        assert theirs > 1e-5 and 0.1 - sim.pose(name)[2, 3] == pytest.approx(theirs, rel=share)
    with pytest.raises(tribo.InvalidInput, match="MJCF"):
        tribo.load("solo12", settings={"robot.softness": "file"})


def settle(tmp_path, solref, settings, dt=2e-4, seconds=3.0):
    """Heights after each step of a mass on one contact, which starts with it just closed: ours and MuJoCo's."""
    text = f"""<mujoco><option timestep="{dt}" cone="elliptic"/><worldbody><geom type="plane" size="5 5 1" solref="{solref}" solimp="0.9 0.9 0.01"/>
      <body pos="0 0 0.0999999999"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="2" solref="{solref}" solimp="0.9 0.9 0.01"/></body></worldbody></mujoco>"""
    sim, model, data = both(tmp_path, text, settings={"robot.softness": "file", **settings})
    steps = round(seconds / dt)
    ours, theirs = np.zeros(steps), np.zeros(steps)
    for k in range(steps):
        sim.step()
        mujoco.mj_step(model, data)
        ours[k], theirs[k] = sim.q[0], data.qpos[0]
    return ours, theirs


@pytest.mark.parametrize("solref", ["0.02 1", "0.03 1.5", "0.04 0.7", "-2000 -100"])
def test_softness_settles_as_long_as_mujoco_does(tmp_path, solref):
    """The same depth, and the same area under the motion to rest, tau times the depth (soft.4), to the discretisation of both. Ours is
    first-order decay: 1/e of the depth is left after tau, but for the body's own mass, which is a tenth of what MuJoCo moves."""
    dt = 2e-4
    ours, theirs = settle(tmp_path, solref, {})
    rest = ours[-1]
    a, b = (float(x) for x in solref.split())
    tau = 2 * a * b * b if a > 0 else b / a
    assert rest == pytest.approx(theirs[-1], rel=1e-6)
    areas = [dt * np.sum(x - x[-1]) / -rest for x in (ours, theirs)]
    assert areas[0] == pytest.approx(tau, rel=1e-3) and areas[1] == pytest.approx(tau, rel=2e-2)
    left = 1 - ours / rest
    assert dt * np.argmax(left < np.exp(-1)) == pytest.approx(tau, rel=0.06)
    assert (np.diff(left) < 1e-9).all() and (left > -1e-9).all()  # without overshoot


@pytest.mark.parametrize("stepper", ["exponential", "implicit-euler", "microscopic"])
def test_softness_is_stiffness_and_damping_where_contacts_are_springs(tmp_path, stepper):
    rigid, theirs = settle(tmp_path, "0.03 1", {}, 1e-3, 1.0)
    springs, _ = settle(tmp_path, "0.03 1", {"stepper.name": stepper}, 1e-3, 1.0)
    assert springs[-1] == pytest.approx(theirs[-1], rel=1e-4)
    assert np.abs(springs - rigid).max() < 0.02 * -theirs[-1]  # the same law, in discrete steps of two kinds
    with pytest.raises(tribo.InvalidInput, match="relaxation_time / compliance"):
        settle(tmp_path, "0.03 1", {"stepper.name": "momentum"}, 1e-3, 1.0)


def test_rangefinders_see_what_mujoco_sees(tmp_path):
    """Rays of a head that turns among every kind of shape; its own shapes are not seen, and what is beyond the cutoff is cut."""
    text = """<mujoco><asset><hfield name="hill" nrow="3" ncol="3" size="1 1 .3 .1" elevation="0 0 0 0 1 0 0 0 0"/>
      <mesh name="wedge" vertex="0 0 0 .6 0 0 0 .5 0 0 0 .7"/></asset><worldbody>
      <geom type="plane" size="0 0 1"/><geom type="sphere" size=".3" pos="1.2 0 .8"/><geom type="box" size=".2 .3 .4" pos="-1 .3 .5" euler="20 10 50"/>
      <geom type="capsule" size=".15 .4" pos="0 1.3 .7" euler="50 0 20"/><geom type="cylinder" size=".25 .3" pos="0 -1.2 .6" euler="30 40 0"/>
      <geom type="ellipsoid" size=".5 .2 .3" pos=".9 1.1 1.2" euler="0 30 60"/><geom type="hfield" hfield="hill" pos="0 0 2.2" euler="180 0 0"/>
      <geom type="mesh" mesh="wedge" pos="-1 -1 .4"/>
      <body name="head" pos="0 0 1"><freejoint/><geom size=".2"/><site name="eye" pos=".1 .02 .03" euler="10 70 0"/><site name="ear" pos="0 -.1 0" euler="80 0 20"/></body>
      </worldbody><sensor><rangefinder name="far" site="eye"/><rangefinder name="near" site="ear" cutoff=".7"/></sensor></mujoco>"""
    sim, model, data = both(tmp_path, text)
    rng = np.random.default_rng(4)
    hits = misses = 0
    for _ in range(300):
        data.qpos[:3] = [0, 0, 1] + 0.3 * rng.uniform(-1, 1, 3)
        data.qpos[3:] = rng.normal(size=4)
        mujoco.mj_normalizeQuat(model, data.qpos)
        mujoco.mj_forward(model, data)
        sim.mujoco_qpos = data.qpos
        seen = sim.file_sensors
        for name in ("far", "near"):
            theirs = data.sensor(name).data[0]
            hits, misses = hits + (theirs > 0), misses + (theirs < 0)
            assert abs(seen[name][0] - theirs) < 1e-9, (name, data.qpos)
    assert hits > 300 and misses > 20


@pytest.mark.parametrize("root", ["world", "base"])
def test_a_urdf_in_which_nothing_moves_is_a_fixed_thing(root, tmp_path):
    """A ball of radius 0.1 m rests on a table top of 0.1 m at 0.5 m: at 0.65 m. The table alone is a world, too."""
    path = tmp_path / "table.urdf"
    path.write_text(f'<robot name="table"><link name="{root}"/><link name="top"><inertial><mass value="5"/><inertia ixx="0.1" '
                    'iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="1 1 0.1"/></geometry>'
                    f'</collision></link><joint name="j" type="fixed"><parent link="{root}"/><child link="top"/>'
                    '<origin xyz="0 0 0.5"/></joint></robot>')
    robot = f'[robot]\nmodel = "{path}"\nbase = "fixed"\n'
    alone = tribo.load(path, settings={"robot.base": "fixed"})
    alone.run(0.1)
    assert not alone.explain().findings
    with pytest.raises(tribo.InvalidInput, match="nothing to control"):
        tribo.parse(robot + '[controller]\nname = "pd"\nkp = 1\nkd = 1\n')
    assert alone.model.nv == 0 and any("top" in g.name for g in alone.model.geometries)
    sim = tribo.parse(robot + '[[object]]\nname = "ball"\nshape = "sphere"\nradius = 0.1\nmass = 1\nposition = [0, 0, 0.66]\n')
    sim.run(1.0)
    assert sim.pose("ball")[2, 3] == pytest.approx(0.65, abs=1e-6)
    assert sim.pose("table/top")[2, 3] == pytest.approx(0.5)
