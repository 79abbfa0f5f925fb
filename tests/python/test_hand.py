"""The hand: commands, questions and what is kept, the same in Simulation and in Batch."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tribo
from tribo.track import of_recording, of_simulation

CUBES = """
[[object]]
name = "cube"
shape = "box"
size = [0.2, 0.2, 0.2]
mass = 2.0
position = [0, 0, 0.1]
[[object]]
name = "ball"
shape = "sphere"
radius = 0.1
mass = 1.0
position = [1, 0, 0.1]
"""

ARM = """
<mujoco>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="lift" type="hinge" axis="0 1 0" damping="0.5"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" mass="1"/>
      <site name="tip" pos="0.4 0 0"/>
    </body>
  </worldbody>
  <actuator>
    <position name="servo" joint="lift" kp="50"/>
  </actuator>
  <keyframe>
    <key name="up" qpos="-0.8" ctrl="-0.8"/>
  </keyframe>
</mujoco>
"""


class One:
    """A Simulation, or world 1 of a Batch of 3, behind the same names."""

    def __init__(self, kind, scene):
        self.kind = kind
        self.it = scene if kind == "Simulation" else tribo.Batch(scene, 3)
        self.world = {} if kind == "Simulation" else {"world": 1}

    def row(self, x):
        return x if self.kind == "Simulation" else x[1]

    def __getattr__(self, name):
        return getattr(self.it, name)

    def step(self, n):
        self.it.step(n)


@pytest.fixture(params=["Simulation", "Batch"])
def make(request):
    return lambda scene: One(request.param, scene)


def test_targets_are_followed_and_have_names(make):
    hand = make(tribo.load("ur10"))
    q0 = np.array(hand.row(hand.q))
    hand.target["elbow_joint"] = q0[2] + 0.2
    hand.step(1500)
    assert hand.row(hand.q)[2] == pytest.approx(q0[2] + 0.2, abs=0.02)
    assert abs(hand.row(hand.q)[0] - q0[0]) < 0.02
    np.testing.assert_array_equal(hand.row(hand.target)[2], q0[2] + 0.2)
    with pytest.raises(tribo.InvalidInput, match="elbow_joint"):
        hand.target["elbow_joit"] = 0
    hand.reset()
    np.testing.assert_array_equal(hand.row(hand.target), q0)
    np.testing.assert_array_equal(hand.row(hand.q), q0)


def test_a_target_without_a_controller_is_refused(make):
    hand = make(tribo.load("ur10", controller="none"))
    with pytest.raises(tribo.InvalidInput, match="pd"):
        hand.target[:] = 0
    with pytest.raises(tribo.InvalidInput, match="actuators"):
        hand.ctrl[:] = 0


def test_torque_moves_a_joint_as_its_inertia_says(make):
    """dv = M^-1 (tau - bias) dt, to first order in dt."""
    hand = make(tribo.load("ur10", controller="none", dt=1e-6, settings={"robot.damping": 0.0, "robot.friction": 0.0}))
    tau = np.zeros(6)
    tau[3] = 5.0
    hand.torque["wrist_1_joint"] = 5.0
    M, h = hand.row(hand.M), hand.row(hand.bias)
    hand.step(1)
    expected = np.linalg.solve(M, tau - h) * 1e-6
    np.testing.assert_allclose(hand.row(hand.v), expected, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(hand.row(hand.tau), tau, atol=1e-9)


def test_wrenches_act_on_any_body(make):
    hand = make(tribo.parse(CUBES, settings={"material.default.mu": 0.0, "gravity": [0.0, 0.0, 0.0]}))
    hand.wrench["cube"] = [4.0, 0, 0, 0, 0, 0]
    hand.wrench["ball"] = [0, 0, 0, 0, 0, 0.02]
    hand.step(100)
    assert hand.row(hand.velocity("cube"))[0] == pytest.approx(4.0 / 2.0 * 0.1, rel=1e-6)
    assert hand.row(hand.velocity("ball"))[5] == pytest.approx(0.02 / (0.4 * 1.0 * 0.01) * 0.1, rel=1e-6)
    hand.wrench[...] = 0
    before = hand.row(hand.velocity("cube"))[0]
    hand.step(10)
    assert hand.row(hand.velocity("cube"))[0] == pytest.approx(before, rel=1e-12)


def test_controls_and_keyframes_of_mjcf(make, tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    hand = make(tribo.load(tmp_path / "arm.xml", controller="actuators"))
    assert hand.actuators == ["arm/servo"] or hand.actuators[0].endswith("/servo")
    hand.ctrl["servo"] = 0.5
    hand.step(3000)
    # 50 (0.5 - q) carries the torque of the weight, 1 kg at 0.2 m: gravity pulls q up (the arm down).
    q = hand.row(hand.q)[0]
    assert 50 * (0.5 - q) + 9.81 * 0.2 * np.cos(q) == pytest.approx(0, abs=2e-3)
    hand.reset(keyframe="up")
    assert hand.row(hand.q)[0] == -0.8 and hand.row(hand.ctrl)[0] == -0.8
    np.testing.assert_allclose(hand.row(hand.pose("tip"))[:3, 3], [0.4 * np.cos(0.8), 0, 1 + 0.4 * np.sin(0.8)], atol=1e-12)
    with pytest.raises(tribo.InvalidInput, match="up"):
        hand.reset(keyframe="upp")


def test_a_keyframe_of_a_walker_stands_on_the_ground(make):
    hand = make(tribo.load("solo12"))
    poses = hand.it._model().members[0].poses
    hand.reset(keyframe=poses[-1])
    assert hand.row(hand.pose("FL_FOOT"))[2, 3] > -1e-6


def test_velocity_is_the_jacobian_times_v(make):
    hand = make(tribo.load("solo", settings={"robot.drop": 0.2, "robot.velocity": [0.3, 0.1, 0], "robot.angular_velocity": [0.2, 1, 3]}))
    hand.step(20)
    q, v, dt = np.array(hand.row(hand.q)), np.array(hand.row(hand.v)), 1e-7
    for name in ("FL_FOOT", "solo12/HR_KFE" if False else "HR_FOOT"):
        J, twist, X = hand.row(hand.jacobian(name)), hand.row(hand.velocity(name)), hand.row(hand.pose(name))
        np.testing.assert_allclose(J @ v, twist, atol=1e-12)
        # Against a difference of poses: bodies move along v.
        model = hand.it._model()
        sim = tribo.Simulation(model)
        ahead = q.copy()
        base = X  # noqa: F841
        ahead[:3] += dt * _rotation(q[3:7]) @ v[:3]
        ahead[3:7] = _turned(q[3:7], v[3:6] * dt)
        ahead[7:] += dt * v[6:]
        sim.set(q=ahead)
        np.testing.assert_allclose((sim.pose(name)[:3, 3] - X[:3, 3]) / dt, twist[:3], atol=1e-5)


def _rotation(xyzw):
    x, y, z, w = xyzw
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def _turned(xyzw, r):
    x, y, z, w = xyzw
    a, b, c = np.asarray(r) / 2
    out = np.array([x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a, w - x * a - y * b - z * c])
    return out / np.linalg.norm(out)


def test_contacts_and_forces_by_name(make):
    hand = make(tribo.parse(CUBES))
    hand.step(400)
    touching = hand.contacts_between("cube", "ground", **hand.world)
    assert touching and {touching[0].body_a, touching[0].body_b} == {"cube", "world"}
    assert not hand.contacts_between("cube", "ball", **hand.world)
    np.testing.assert_allclose(hand.row(hand.force_on("cube")), [0, 0, 2 * 9.81], atol=1e-6)
    np.testing.assert_allclose(hand.row(hand.force_on("ground", "ball")), [0, 0, -9.81], atol=1e-6)
    with pytest.raises(tribo.InvalidInput, match="cube"):
        hand.contacts_between("cub", **hand.world)


def test_centre_of_mass_and_energy(make):
    hand = make(tribo.parse(CUBES, settings={"gravity": [0.0, 0.0, -5.0]}))
    np.testing.assert_allclose(hand.row(hand.center_of_mass()), [1 / 3, 0, 0.1], atol=1e-12)
    np.testing.assert_allclose(hand.row(hand.center_of_mass("ball")), [1, 0, 0.1], atol=1e-12)
    assert hand.row(hand.energy)[1] == pytest.approx(3 * 5 * 0.1)


def test_rays_meet_what_is_there(make):
    hand = make(tribo.parse(CUBES))
    hit = hand.ray([0.03, 0.02, 2], [0, 0, -3], **hand.world)
    model = hand.it._model()
    assert hit.distance == pytest.approx(1.8) and model.geometries[hit.geometry].name.startswith("cube")
    np.testing.assert_allclose(hit.normal, [0, 0, 1])
    assert hand.ray([-2, 0.06, 0.1], [1, 0, 0], ignore=["cube"], **hand.world).distance == pytest.approx(3 - 0.08)
    assert hand.ray([0, 0, 2], [0, 0, 1], **hand.world).distance == np.inf
    assert hand.ray([0, 0, 2], [0, 0, -1], most=1.0, **hand.world).distance == np.inf
    scan = hand.row(hand.height_scan("ball", [[0, 0], [-1, 0], [-1, 0.3]]))
    np.testing.assert_allclose(scan, [0, 0.2, 0], atol=1e-12)


def test_distances(make):
    hand = make(tribo.parse(CUBES))
    near = hand.distance("cube", "ball", **hand.world)
    assert near.distance == pytest.approx(1 - 0.1 - 0.1, abs=1e-6)
    np.testing.assert_allclose(near.normal, [1, 0, 0], atol=1e-5)
    assert hand.distance("ball", "ground", **hand.world).distance == pytest.approx(0, abs=1e-9)
    assert hand.distance("cube", "ball", most=0.5, **hand.world).distance == np.inf


def test_inverse_kinematics_finds_reachable_poses_within_the_ranges(make):
    """Targets are poses of random joints: each has an answer."""
    hand = make(tribo.load("panda"))
    model = hand.it._model()
    rng = np.random.default_rng(1)
    probe = tribo.Simulation(model)
    low, high = np.array(model.lower), np.array(model.upper)
    for _ in range(10):
        q = np.array(hand.row(hand.q))
        q[:7] = rng.uniform(low[:7], high[:7])
        probe.set(q=q)
        wanted = probe.pose("panda_hand_tcp" if "panda/panda_hand_tcp" in [f.name for f in model.frames] else "panda_hand")
        name = "panda_hand_tcp" if "panda/panda_hand_tcp" in [f.name for f in model.frames] else "panda_hand"
        answer = hand.ik({name: wanted}, **hand.world)
        assert answer.converged and answer.position_error < 1e-6
        probe.set(q=answer.q)
        np.testing.assert_allclose(probe.pose(name), wanted, atol=5e-6)
        assert (answer.q[:7] >= low[:7]).all() and (answer.q[:7] <= high[:7]).all()
        np.testing.assert_array_equal(answer.q[7:], q[7:])
    far = hand.ik({name: [5.0, 0, 0]}, **hand.world)
    assert not far.converged and far.position_error > 3


def test_friction_and_masses_at_run_time(make):
    """A cube on a slope of 0.3 rad begins to slide where its friction falls below tan 0.3."""
    text = CUBES.split("[[object]]\nname = \"ball\"")[0] + 'material = "wood"\n[material.wood]\nmu = 0.6\n'
    slope = {"gravity": [9.81 * np.sin(0.3), 0.0, -9.81 * np.cos(0.3)], "material.default.mu": 0.6}
    hand = make(tribo.parse(text, settings=slope))
    hand.step(200)
    assert abs(hand.row(hand.velocity("cube"))[0]) < 1e-9
    if hand.kind == "Simulation":
        hand.set_parameters(friction={"cube": 0.1}, mass={"cube": 5.0})
        assert hand.t == pytest.approx(0.2)
    else:
        hand.set_parameters(1, friction={"cube": 0.1}, mass={"cube": 5.0})
    before = hand.row(hand.velocity("cube"))[0]
    hand.step(200)
    gained = hand.row(hand.velocity("cube"))[0] - before
    assert gained == pytest.approx(0.2 * 9.81 * (np.sin(0.3) - 0.1 * np.cos(0.3)), rel=0.02)
    assert hand.row(hand.force_on("cube"))[2] == pytest.approx(5.0 * 9.81 * np.cos(0.3), rel=1e-6)
    with pytest.raises(tribo.InvalidInput, match="friction"):
        hand.set_parameters(**({} if hand.kind == "Simulation" else {"world": 1}), friction={"cube": -1.0})


def test_what_is_not_finite_is_refused(make):
    hand = make(tribo.load("ur10"))
    hand.torque[..., 0] = np.nan
    if hand.kind == "Simulation":
        with pytest.raises(tribo.InvalidInput, match="torque"):
            hand.step(1)
    else:
        hand.step(1)
        assert hand.failed.all() and "torque" in hand.reason(0)


def test_both_give_the_same_bits():
    sim = tribo.load("solo")
    batch = tribo.Batch(sim, 2)
    for hand in (sim, batch):
        hand.step(50)
        hand.target[..., 8] += 0.2
        hand.wrench["solo12"] = [1.0, 2, 0, 0, 0.1, 0]
        hand.torque[..., 7] = 0.05
        hand.step(100)
    np.testing.assert_array_equal(sim.q, batch.q[1])
    np.testing.assert_array_equal(sim.v, batch.v[0])
    np.testing.assert_array_equal(sim.jacobian("FL_FOOT"), batch.jacobian("FL_FOOT")[1])


def test_a_fork_goes_on_with_the_same_commands():
    sim = tribo.load("ur10")
    sim.target["elbow_joint"] = 1.0
    sim.torque[0] = 3.0
    sim.step(20)
    twin = sim.fork()
    sim.step(50)
    twin.step(50)
    np.testing.assert_array_equal(sim.q, twin.q)


def test_a_kinematic_body_is_carried_along_a_commanded_way():
    sim = tribo.load("platform")
    name = sim.model.kinematic[0]
    pose = np.array(sim.pose(name))
    pose[0, 3] += 0.05
    sim.set_kinematic(name, pose, duration=0.1)
    sim.step(round(0.05 / sim.dt))
    assert sim.velocity(name)[0] == pytest.approx(0.5, rel=1e-6)
    sim.step(round(0.1 / sim.dt))
    np.testing.assert_allclose(sim.pose(name), pose, atol=1e-12)
    assert abs(sim.velocity(name)).max() < 1e-9
    with pytest.raises(tribo.InvalidInput):
        sim.set_kinematic(name, 2 * np.eye(4))


def test_a_command_to_a_kinematic_body_is_part_of_the_state(tmp_path):
    sim = tribo.load("platform")
    name, model = sim.model.kinematic[0], sim.model.hash
    pose = np.array(sim.pose(name))
    pose[:3, 3] += [0.05, 0, 0.02]
    uncommanded = sim.state.hash
    sim.set_kinematic(name, pose, duration=0.1)
    assert sim.state.hash != uncommanded
    sim.step(20)
    sim.state.save(str(tmp_path / "state"))
    twin = sim.fork()
    sim.step(60)
    twin.step(60)
    again = tribo.load("platform")
    again.state = tribo.State.load(again.model, str(tmp_path / "state"))
    again.step(60)
    assert sim.state.hash == twin.state.hash == again.state.hash
    np.testing.assert_array_equal(sim.pose(name), again.pose(name))
    assert sim.model.hash == model
    sim.step(60)
    np.testing.assert_array_equal(sim.pose(name), pose)
    sim.reset()
    assert sim.state.hash == uncommanded


def test_a_recording_holds_where_commanded_bodies_were(tmp_path):
    """Half of the way after half of the time, though the scene says otherwise; then rest."""
    sim = tribo.load("platform", settings={"record.period": 0.05})
    name = sim.model.kinematic[0]
    begin = np.array(sim.pose(name))
    angle, end = 0.2, begin.copy()
    end[:3, 3] += [0.05, 0, 0.02]
    end[:3, :3] = begin[:3, :3] @ [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
    sim.set_kinematic(name, end, duration=0.1)
    sim.run(0.2, record=tmp_path)
    track, _ = of_recording(tmp_path)
    for i, t in enumerate(track.t):
        share, seen = min(t / 0.1, 1), track.poses(i)[-2]
        np.testing.assert_allclose(seen[:3, 3], begin[:3, 3] + share * (end - begin)[:3, 3], atol=1e-12)
        assert (begin[:3, :3].T @ seen[:3, :3])[0, 2] == pytest.approx(np.sin(share * angle), abs=1e-12)
    assert len(track.t) >= 4
    np.testing.assert_allclose(of_simulation(sim).poses(-1)[-2], sim.pose(name), atol=1e-12)


def test_worlds_command_their_kinematic_bodies():
    batch, alone = tribo.Batch("platform", 3), tribo.load("platform")
    name = alone.model.kinematic[0]
    pose = np.array(alone.pose(name))
    pose[:3, 3] += [0, 0.04, 0]
    batch.set_kinematic(name, pose, duration=0.05, worlds=[1])
    batch.set_kinematic(name, pose[:3, 3], duration=0.05, worlds=[2])
    alone.set_kinematic(name, pose, duration=0.05)
    free = tribo.load("platform")
    for world in (batch, alone, free):
        world.step(40)
    np.testing.assert_array_equal(batch.q[0], free.q)
    for w in (1, 2):
        np.testing.assert_array_equal(batch.q[w], alone.q)
        np.testing.assert_allclose(batch.pose(name)[w], alone.pose(name), atol=1e-15)
    batch.reset(1)
    np.testing.assert_allclose(batch.pose(name)[1], tribo.load("platform").pose(name), atol=1e-15)
    with pytest.raises(tribo.InvalidInput, match="within -1 s"):
        batch.set_kinematic(name, pose, duration=-1)
    with pytest.raises(tribo.InvalidInput, match="not a kinematic body"):
        batch.set_kinematic("box", pose)


def test_a_weld_holds_and_is_released(make):
    hand = make(tribo.parse(CUBES.replace("position = [1, 0, 0.1]", "position = [0, 0, 0.3]")))

    def apart():
        return hand.row(hand.pose("ball"))[:3, 3] - hand.row(hand.pose("cube"))[:3, 3]

    hand.weld("cube", "ball")
    hand.wrench["cube"] = [0, 0, 45.0, 0, 0, 0]  # more than both weigh
    hand.step(200)
    np.testing.assert_allclose(apart(), [0, 0, 0.2], atol=1e-6)
    assert hand.row(hand.pose("cube"))[2, 3] > 0.15
    with pytest.raises(tribo.InvalidInput, match="already"):
        hand.weld("cube", "ball")
    hand.release("cube", "ball")
    hand.wrench["cube"] = [30.0, 0, 0, 0, 0, 0]
    hand.step(200)
    assert np.linalg.norm(apart()) > 0.21
    with pytest.raises(tribo.InvalidInput, match="known"):
        hand.release("cube", "ball")


def test_a_push_begins_when_it_is_given(make):
    """30 N for 0.1 s move 2 kg without friction by 1.5 m/s; and again after a reset."""
    hand = make(tribo.parse(CUBES, settings={"material.default.mu": 0.0}))
    hand.step(50)
    hand.push("cube", [30.0, 0, 0], 0.1)
    for steps in (200, 250):
        hand.step(steps)
        assert hand.row(hand.velocity("cube"))[0] == pytest.approx(1.5, rel=1e-6)
        hand.reset()
    with pytest.raises(tribo.InvalidInput, match="cub"):
        hand.push("cub", [1, 0, 0], 0.1)


def test_loops_of_steps_are_recorded(make, tmp_path):
    hand = make(tribo.load("ur10"))
    q = [np.array(hand.row(hand.q))]
    with hand.record(tmp_path) as folders:
        for _ in range(20):
            hand.target["elbow_joint"] = q[0][2] + 0.5
            hand.step(1)
            q.append(np.array(hand.row(hand.q)))
    hand.step(5)
    track, scene = of_recording(tmp_path if hand.kind == "Simulation" else folders[1])
    np.testing.assert_array_equal(track.q, q[1:])
    assert scene.model.hash == hand.it._model().hash
    with hand.record(tmp_path):  # takes the place of the one before
        hand.step(3)
    assert len(of_recording(tmp_path if hand.kind == "Simulation" else folders[1])[0].t) == 3


@pytest.mark.parametrize("lanes", [False, True])
def test_worlds_have_welds_and_pushes_of_their_own(lanes):
    """Each goes as it would alone, bit for bit; the world between them, to the tolerance where it steps in a lane."""
    def welded(sim):
        sim.weld("go2/base", "world")
        return sim

    def pushed(sim):
        sim.push("go2/base", [40, 0, 0], 0.1)
        return sim

    batch = tribo.Batch("go2", 3, lanes=lanes)
    alone = [welded(tribo.load("go2")), tribo.load("go2"), pushed(tribo.load("go2"))]
    batch.weld("go2/base", worlds=0)
    batch.push("go2/base", [40, 0, 0], 0.1, worlds=[2])
    for world in (batch, *alone):
        world.target[..., 9] -= 0.2
        world.step(150)
    for w in (0, 2):
        np.testing.assert_array_equal(batch.q[w], alone[w].q)
    np.testing.assert_allclose(batch.q[1], alone[1].q, atol=1e-7 if lanes else 0)
    assert not lanes or batch.lanes.startswith("no lanes") or batch.lane_steps[0] == batch.lane_steps[2] == 0 < batch.lane_steps[1]
    batch.release("go2/base on world", worlds=[0])
    alone[0].release("go2/base on world")
    for world in (batch, alone[0]):
        world.step(50)
    np.testing.assert_array_equal(batch.q[0], alone[0].q)
    batch.set_parameters(0, mass=1.0)
    batch.reset()
    assert batch.hash(0) == batch.hash(1)


def test_scene_model_state_and_audit_can_be_copied_and_sent(tmp_path):
    sim = tribo.load("solo", settings={"robot.drop": 0.1})
    sim.run(0.3)
    for copied in (copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x))):
        assert copied(sim.state).hash == sim.state.hash
        assert copied(sim.model).hash == sim.model.hash
        assert copied(sim.scene).model.hash == sim.model.hash
        assert copied(sim.audit).laws.coulomb == sim.audit.laws.coulomb
        assert str(copied(sim.audit)) == str(sim.audit)
    (tmp_path / "sent").write_bytes(pickle.dumps((sim.scene, sim.state)))
    program = ("import pickle, sys, tribo; scene, state = pickle.load(open(sys.argv[1], 'rb')); "
               "sim = tribo.Simulation(scene); sim.state = state; sim.step(100); print(sim.state.hash)")
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "sent")], capture_output=True, text=True)
    sim.step(100)
    assert done.stdout.strip() == sim.state.hash, done.stderr
    state = pickle.dumps(sim.state)
    with pytest.raises(tribo.InvalidInput):
        pickle.loads(state[:-60] + b"\x01" + state[-59:])
    with pytest.raises(TypeError, match="make it there"):
        pickle.dumps(tribo.ModelBuilder().build())


def test_a_variant_keeps_the_time():
    sim = tribo.load("solo")
    sim.run(0.1)
    assert sim.variant({"contact.model": "ccp"}).t == pytest.approx(0.1)


def test_a_variant_keeps_pushes_and_commands():
    sim = tribo.load("ur10")
    sim.target["elbow_joint"] = 1.0
    sim.torque[0] = 3.0
    sim.push("ee_link", [0, 0, 20], 0.2, start=0.15)
    sim.run(0.1)
    same, twin = sim.variant({}), sim.fork()
    for one in (sim, same, twin):
        one.run(0.3)
    assert sim.audit.energy.external != 0
    np.testing.assert_array_equal(sim.q, twin.q)
    np.testing.assert_allclose(same.q, sim.q, atol=1e-9)  # the arm touches nothing: no memory of contacts is lost
    assert sim.variant({"controller.joints": {"wrist_1_joint": -1.5}}).target["wrist_1_joint"] == -1.5


def test_a_constraint_of_a_file_is_switched_off(tmp_path):
    """Two balls that a weld holds at 0.3 m: pulled apart with 1 N each way, 1 kg each, they part by t (t + dt) in steps of dt."""
    ball = '<body name="{0}" pos="{1} 0 1"><freejoint/><geom size="0.1" mass="1"/></body>'
    (tmp_path / "pair.xml").write_text(f'<mujoco><worldbody>{ball.format("a", 0)}{ball.format("b", 0.3)}</worldbody>'
                                       '<equality><weld name="latch" body1="a" body2="b"/></equality></mujoco>')
    sim = tribo.load(tmp_path / "pair.xml")
    sim.wrench["a"], sim.wrench["b"] = [-1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]
    sim.step(round(0.1 / sim.dt))
    assert sim.pose("b")[0, 3] - sim.pose("a")[0, 3] == pytest.approx(0.3, abs=1e-5)
    sim.release("latch")
    sim.step(round(0.1 / sim.dt))
    assert sim.pose("b")[0, 3] - sim.pose("a")[0, 3] == pytest.approx(0.3 + 0.1 * (0.1 + sim.dt), abs=1e-6)


def test_links_of_a_file_name_bodies_and_shapes(make):
    """go2's base is the link of its free joint; a force of twice the weight lifts it."""
    hand = make(tribo.load("go2"))
    hand.wrench["base"] = [0, 0, 2 * 9.81 * hand.it._model().mass, 0, 0, 0]
    hand.step(100)
    assert hand.row(hand.velocity("base"))[2] > 0.3
    hand.reset()
    hand.step(200)
    assert not hand.contacts_between("base", "ground", **hand.world)
    assert hand.contacts_between("FL_foot", "ground", **hand.world)
    with pytest.raises(tribo.InvalidInput, match="bsae"):
        hand.wrench["bsae"] = 0


def test_only_kinematic_bodies_are_set():
    with pytest.raises(tribo.InvalidInput, match="no kinematic body"):
        tribo.load("go2").set_kinematic("go2", np.eye(4))
