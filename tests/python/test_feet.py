"""Where feet and other points are, and how fast: live arrays of a batch, the same of a simulation."""

import numpy as np
import pytest

import tribo


def moved(lanes: bool, scene: str = "solo-standing", worlds: int = 11) -> tribo.Batch:
    batch = tribo.Batch(scene, worlds, 2, lanes=lanes)
    assert batch.foot_position.shape == (worlds, len(batch.feet), 3)  # they are followed from here on
    random = np.random.default_rng(3)
    batch.target[:, 7:] += random.uniform(-0.3, 0.3, (worlds, batch.q.shape[1] - 7))
    batch.step(40)
    return batch


def by_jacobian(batch: tribo.Batch) -> tuple[np.ndarray, np.ndarray]:
    """Of the middles of the feet: from the pose of each body, and J v of its origin with the arm of the foot."""
    model = batch.scene.model
    places, speeds = [], []
    for name in batch.feet:
        shape = next(g for g in model.geometries if g.name == name)
        body = model.bodies[shape.body].name
        pose, velocity = batch.pose(body), np.einsum("wij,wj->wi", batch.jacobian(body), batch.v)
        arm = pose[:, :3, :3] @ shape.placement[:3, 3]
        places.append(pose[:, :3, 3] + arm)
        speeds.append(velocity[:, :3] + np.cross(velocity[:, 3:], arm))
    return np.stack(places, 1), np.stack(speeds, 1)


@pytest.mark.parametrize("scene", ["solo-standing", "go2-standing"])
@pytest.mark.parametrize("lanes", [False, True])
def test_feet_follow_the_steps(scene: str, lanes: bool) -> None:
    batch = moved(lanes, scene)
    assert (batch.lane_steps > 30).all() == lanes
    position, velocity = batch.foot_position, batch.foot_velocity
    assert np.abs(velocity).max() > 0.1

    def check() -> None:
        for ours, theirs in zip((position, velocity), by_jacobian(batch)):
            np.testing.assert_allclose(ours, theirs, atol=1e-13)

    check()
    before = np.array(position)
    batch.step(5, np.arange(11) != 4)  # the others of its pack stay as they are
    assert (np.array(position[4]) == before[4]).all() and (np.array(position[3]) != before[3]).any()
    check()
    batch.reset([2, 9])
    batch.set([5], q=batch.q[6], v=batch.v[6] + 0.1)
    check()
    assert np.abs(np.array(velocity[2])).max() == 0
    batch.step()
    check()
    assert np.shares_memory(np.asarray(position), np.asarray(batch.foot_position))
    with pytest.raises(ValueError, match="read-only"):
        position[0, 0, 0] = 1.0


def test_bodies_looked_at_later_are_up_to_date() -> None:
    """Points alone need no bodies from lanes; a look at these brings them, and they follow from then on."""
    batch = moved(True)
    for _ in range(2):
        for body in (0, 7):
            pose = batch.pose(batch.scene.model.bodies[body].name)
            np.testing.assert_allclose(batch.body_pose[:, body, :3], pose[:, :3, 3], atol=1e-13)
        batch.step(3)


@pytest.mark.parametrize("lanes", [False, True])
def test_other_points_by_name(lanes: bool) -> None:
    batch = moved(lanes)
    points = batch.follow(["solo12", "FL_LOWER_LEG", "HR_FOOT"])
    batch.step(5)
    for i, name in enumerate(("solo12", "FL_LOWER_LEG", "HR_FOOT")):
        np.testing.assert_allclose(points.position[:, i], batch.pose(name)[:, :3, 3], atol=1e-13)
        np.testing.assert_allclose(points.velocity[:, i], batch.velocity(name)[:, :3], atol=1e-13)
    assert np.shares_memory(points.position, batch.follow(["solo12", "FL_LOWER_LEG", "HR_FOOT"]).position)
    np.testing.assert_allclose(batch.foot_position, by_jacobian(batch)[0], atol=1e-13)


def test_a_simulation_has_the_same() -> None:
    batch, simulation = tribo.Batch("go2-standing", 2, 1), tribo.load("go2-standing")
    assert simulation.feet == batch.feet and len(simulation.feet) == 4
    for world in (batch, simulation):
        world.target[..., 7:] += 0.1
        world.step(30)
    assert batch.foot_force.max() > 10
    for name in ("foot_position", "foot_velocity", "foot_force"):
        np.testing.assert_allclose(getattr(batch, name)[1], getattr(simulation, name), atol=1e-13)
    foot = simulation.feet[2]
    for name in (foot, foot.split("/")[-1]):
        assert (simulation.foot_position[name] == simulation.foot_position[2]).all()
        assert (batch.foot_velocity[name] == batch.foot_velocity[:, 2]).all()
        assert simulation.foot_force[name] == simulation.foot_force[2]
    with pytest.raises(tribo.InvalidInput, match="foot 'nose' is unknown; known: "):
        batch.foot_force["nose"]
    assert tribo.load("ur10").feet == [] and tribo.load("ur10").foot_position.shape == (0, 3)
