"""Batch: parameters of bodies, joints and materials in place, masks, and the arrays that follow the run."""

import numpy as np
import pytest

import tribo

HIP = "FL_HFE"
SHIFT = [0.01, -0.02, 0.005]


def of_base(model):
    return model.bodies[0].name


CHANGES = {
    "mass": lambda m: {"mass": {of_base(m): 2.5}},
    "masses": lambda m: {"mass": 1.3},
    "com": lambda m: {"com": {of_base(m): SHIFT}},
    "friction": lambda m: {"friction": {m.materials[0]: 0.15}},
    "damping": lambda m: {"damping": {HIP: 0.2}},
    "armature": lambda m: {"armature": {HIP: 0.03}},
    "dry friction": lambda m: {"dry_friction": {HIP: 0.4}},
    "gains": lambda m: {"gains": 1.7},
    "gain": lambda m: {"gains": {HIP: 2.0}},
}


def swing(run):
    """A motion in which all parameters count."""
    rng = np.random.default_rng(4)
    for _ in range(12):
        np.asarray(run.target)[..., 7:] += rng.normal(0, 0.06, 12)
        run.step(10)


@pytest.mark.parametrize("change", CHANGES)
def test_a_world_changed_in_place_is_the_changed_simulation_bit_for_bit(change):
    sim = tribo.load("solo-standing")
    batch = tribo.Batch(sim, 3, 2)
    batch.step(7)  # its steppers have worked with other numbers
    batch.set_parameters(1, **CHANGES["armature"](sim.model) | {"mass": 0.7, "gains": 0.5, "friction": 0.3})
    batch.step(7)
    keys = CHANGES[change](sim.model)
    batch.set_parameters(1, **keys)
    sim.set_parameters(**keys)
    batch.reset(0)
    swing(batch)
    swing(sim)
    assert (batch.q[1] == sim.q).all() and (batch.v[1] == sim.v).all() and (batch.tau[1] == sim.tau).all()
    assert batch._model_of(1).hash == sim.model.hash
    assert (batch.q[0] != batch.q[1]).any()
    batch.set_parameters(1)
    assert batch._model_of(1).hash == batch.scene.model.hash


# Whatever a stepper keeps of a model must follow it: the gyroscope of a free body, masses, springs, lists of rubbing joints.
@pytest.mark.parametrize("stepper", tribo.steppers())
@pytest.mark.parametrize("keys", [{"mass": {"cube": 3.0}}, {"friction": 0.3}, {"com": {"cube": [0.02, 0.01, 0]}}])
def test_every_stepper_reads_the_numbers_of_the_model(stepper, keys):
    text = f"""
        [material.default]
        mu = 0.5
        stiffness = 1e4
        damping = 20
        [[object]]
        name = "cube"
        size = 0.2
        mass = 1
        position = [0, 0, 0.3]
        velocity = [1, 0.3, 0]
        angular_velocity = [1, 2, 3]
        [stepper]
        name = "{stepper}"
        dt = 1e-3
    """
    batch = tribo.Batch(tribo.parse(text), 2, 1)
    batch.step(150)
    batch.set_parameters(1, mass=2.0, friction=0.9)
    batch.step(20)
    batch.set_parameters(1, **keys)
    alone = tribo.parse(text)
    alone.set_parameters(**keys)
    batch.reset(0)
    alone.step(200)
    batch.step(200)
    assert not batch.failed.any()
    assert (batch.q[1] == alone.q).all() and (batch.v[1] == alone.v).all()
    assert (batch.q[0] != batch.q[1]).any()


def test_parameters_of_every_world_in_one_call():
    batch, one = tribo.Batch("solo-standing", 4, 1), tribo.Batch("solo-standing", 4, 1)
    mass, mu, gain = np.array([0.9, 1.1, 1.2]), np.array([0.3, 0.5, 0.7]), np.array([1.0, 0.5, 2.0])
    base = of_base(batch.scene.model)
    which = np.array([True, False, True, True])
    com = np.outer(mass, SHIFT)
    batch.set_parameters(which, mass=mass, friction={"default": mu}, gains={HIP: gain}, com={base: com})
    for i, w in enumerate((0, 2, 3)):
        one.set_parameters(w, mass=mass[i], friction={"default": mu[i]}, gains={HIP: gain[i]}, com={base: com[i]})
    for b in (batch, one):
        b.step(50)
    assert [batch.hash(w) for w in range(4)] == [one.hash(w) for w in range(4)]
    assert len({batch.hash(w) for w in range(4)}) == 4


@pytest.mark.parametrize("keys, message", [
    ({"mass": [1.0, 2.0]}, "one for each of 3"), ({"mass": {"nobody": 1.0}}, "nobody"), ({"mass": {"FL_HAA": -1.0}}, "> 0"),
    ({"gains": {HIP: -1.0}}, "gains"), ({"com": {"FL_HAA": [0.0, 1.0]}}, "shape"), ({"armature": {HIP: np.nan}}, "armature of"),
    ({"friction": {"default": [0.1, 0.2, -0.3]}}, "world 2: friction of")])
def test_what_cannot_be_is_refused_and_changes_nothing(keys, message):
    batch = tribo.Batch("solo-standing", 3, 1)
    batch.step(3)
    before = [batch.hash(w) for w in range(3)]
    with pytest.raises(tribo.InvalidInput, match=message):
        batch.set_parameters(**keys)
    assert [batch.hash(w) for w in range(3)] == before


def test_what_a_stepper_refuses_leaves_the_world_as_it_was():
    name = next((s for s in tribo.steppers() if "explicit" in s), None)
    sim = tribo.load("solo-standing", stepper=name) if name else tribo.load("solo-standing")
    batch = tribo.Batch(sim, 2, 1)
    batch.step(2)
    before = batch.hash(1)
    try:
        batch.set_parameters(1, dry_friction={HIP: 0.1})
    except tribo.InvalidInput:
        assert batch.hash(1) == before
    batch.step(2)
    assert not batch.failed.any()


def test_a_masked_step_leaves_the_others():
    batch, whole = tribo.Batch("solo-standing", 4, 2), tribo.Batch("solo-standing", 4, 2)
    batch.step(10, worlds=np.array([True, False, True, False]))
    whole.step(10)
    assert list(batch.t > 0) == [True, False, True, False]
    batch.step(10, worlds=[3, 1])
    assert [batch.hash(w) for w in range(4)] == [whole.hash(w) for w in range(4)]
    batch.step(5, worlds=[])
    for wrong, error in (([True] * 3, tribo.InvalidInput), ([4], IndexError), (True, TypeError)):
        with pytest.raises(error):
            batch.step(1, worlds=wrong)


def test_worlds_are_put_elsewhere():
    batch = tribo.Batch("cube", 3, 1)
    batch.step(20)
    q = np.array(batch.q)
    q[:, 2] += [0.1, 0.2, 0.3]
    batch.set([2, 0], q=q[[2, 0]], v=np.zeros(6))
    assert (batch.q[[0, 2]] == q[[0, 2]]).all() and (batch.v[[0, 2]] == 0).all() and (batch.q[1] != q[1]).any()
    batch.set(1, q=q[1])
    assert (batch.q[1] == q[1]).all()
    with pytest.raises(ValueError):
        batch.set(q=np.zeros(3))
    with pytest.raises(tribo.InvalidInput, match="quaternion"):
        batch.set(0, q=np.zeros(7))


def test_poses_and_velocities_follow_the_run():
    batch = tribo.Batch("solo-standing", 3, 2)
    poses, speeds = batch.body_pose, batch.body_velocity
    batch.target[1, 7:] += 0.2
    batch.step(30)
    for name in ("FL_KFE", "HR_HFE"):
        seen = batch.pose(name)
        assert poses[name][:, :3] == pytest.approx(seen[:, :3, 3], abs=1e-14)
        x, y, z, w = poses[name][:, 3:].T
        assert 1 - 2 * (y * y + z * z) == pytest.approx(seen[:, 0, 0]) and 2 * (x * y + z * w) == pytest.approx(seen[:, 1, 0])
        assert speeds[name] == pytest.approx(batch.velocity(name), abs=1e-12)
    batch.reset(1)
    assert (poses["FL_KFE"][1] == batch.body_pose["FL_KFE"][1]).all() and poses["FL_KFE"][1] != pytest.approx(poses["FL_KFE"][0])
    with pytest.raises(ValueError):
        poses[0] = 0
    # That they are looked at changes nothing.
    plain = tribo.Batch("solo-standing", 3, 2)
    plain.target[1, 7:] += 0.2
    plain.step(30)
    assert plain.hash(0) == batch.hash(0)


def test_contacts_and_sensors_as_arrays():
    sim = tribo.load("solo-standing")
    sim.add_sensors(seed=5, gyroscope=tribo.SensorError(noise=0.1))
    batch = tribo.Batch(sim, 3, 2)
    batch.step(20)
    rows = batch.contact_rows
    assert list(rows.world) == sorted(rows.world) and len(rows.world) == 12
    weight = np.zeros((3, 3))
    np.add.at(weight, rows.world, rows.force)
    assert weight[:, 2] == pytest.approx(batch.foot_force.sum(axis=1)) and (rows.normal[:, 2] > 0.99).all()
    assert [tribo.ContactMode(m) for m in rows.mode[:1]] == [batch.contacts(0)[0].mode]
    sim.step(20)  # the seed of world 0 is that of the simulation
    assert (batch.sensors.angular_velocity[0] == sim.sensors.angular_velocity).all()
    assert batch.sensors.position.shape == (3, 12) and batch.sensors.touching.all()
    assert (batch.sensors.angular_velocity[1] != batch.sensors.angular_velocity[0]).all()
    assert batch.sensors.force == pytest.approx(np.array([batch._reading(w).force for w in range(3)]))
    with pytest.raises(tribo.InvalidInput, match="sensors"):
        _ = tribo.Batch("cube", 2, 1).sensors


def test_height_scans_of_a_batch_are_those_of_a_simulation():
    sim = tribo.load("solo-terrain")
    points = np.array([[0.0, 0.0], [0.3, 0.1], [-0.2, 0.2], [50.0, 0.0]])
    batch = tribo.Batch(sim, 5, 2)
    batch.step(20)
    sim.step(20)
    scans = batch.height_scan("solo12", points)
    assert scans.shape == (5, 4) and np.isnan(scans[:, 3]).all()
    for row in scans:
        assert row[:3] == pytest.approx(sim.height_scan("solo12", points)[:3], abs=1e-13)
    pose = sim.pose("solo12")
    for point, height in zip(points[:3], scans[0]):
        yaw = np.arctan2(pose[1, 0], pose[0, 0])
        x, y = pose[:2, 3] + [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]] @ point
        hit = sim.ray([x, y, 2.0], [0, 0, -1], ignore=["solo12"])
        assert height == pytest.approx(2.0 - hit.distance, abs=1e-12)


def test_gains_are_written_and_kept():
    batch = tribo.Batch("solo-standing", 2, 1)
    batch.gains[1] = 2.0
    batch.reset()
    assert (batch.gains[1] == 2).all() and (batch.gains[0] == 1).all()
    sim = tribo.load("solo-standing")
    sim.gains = 2.0
    batch.step(100)
    sim.step(100)
    assert (batch.q[1] == sim.q).all() and (batch.q[0] != sim.q).any()
    assert (sim.fork().gains == 2).all()
    batch.gains[0, 3] = -1.0
    batch.step()
    assert list(batch.failed) == [True, False] and "gains" in batch.reason(0)
