"""Batches in SIMD lanes, as a user sees them; steps beside the scalar ones are in tests/unit/lanes_test.cpp."""

import numpy as np
import pytest

import tribo


def moved(lanes: bool, threads: int = 2) -> tribo.Batch:
    batch = tribo.Batch("solo-standing", 10, threads, lanes=lanes)
    random = np.random.default_rng(2)
    for _ in range(5):
        batch.target[:, 7:] += random.uniform(-0.05, 0.05, (10, 12))
        batch.step(10)
    return batch


def test_a_world_is_near_itself_run_alone() -> None:
    alone, lanes = moved(False), moved(True)
    assert alone.lanes == "" and "lanes" in lanes.lanes
    assert np.all(lanes.lane_steps > 40) and np.all(alone.lane_steps == 0)
    np.testing.assert_allclose(lanes.q, alone.q, atol=1e-8)
    np.testing.assert_allclose(lanes.v, alone.v, atol=1e-6)
    np.testing.assert_allclose(lanes.tau, alone.tau, atol=1e-6)
    np.testing.assert_allclose(lanes.foot_force, alone.foot_force, atol=1e-4)
    np.testing.assert_array_equal(lanes.t, alone.t)


def test_contacts_are_those_of_the_last_step() -> None:
    alone, lanes = moved(False), moved(True)
    for ours, theirs in zip(lanes.contacts(3), alone.contacts(3), strict=True):
        assert ours.mode == theirs.mode
        assert np.linalg.norm(np.subtract(ours.force, theirs.force)) < 1e-4
        assert ours.gap == pytest.approx(theirs.gap, abs=1e-9)


def test_poses_of_bodies_come_from_lanes() -> None:
    """Beside those of a simulation that has the state of the lane; where some lanes stand, those stay."""
    batch = tribo.Batch("solo-standing", 11, 2, lanes=True)
    poses, speeds = batch.body_pose, batch.body_velocity
    random = np.random.default_rng(3)
    batch.target[:, 7:] += random.uniform(-0.2, 0.2, (11, 12))
    batch.step(40)
    stood = np.array(poses[4])
    batch.step(10, np.arange(11) != 4)
    assert np.all(batch.lane_steps > 30) and np.array_equal(poses[4], stood)
    for w in (0, 4, 10):
        simulation = tribo.load("solo-standing")
        simulation.state = batch.state(w)
        for i, body in enumerate(batch.scene.model.bodies):
            pose = simulation.pose(body.name)
            x, y, z, o = poses[w, i, 3:]
            assert o >= 0
            np.testing.assert_allclose(poses[w, i, :3], pose[:3, 3], atol=1e-14)
            np.testing.assert_allclose([1 - 2 * (y * y + z * z), 2 * (x * y + z * o), 2 * (x * z - y * o)], pose[:3, 0], atol=1e-14)
            np.testing.assert_allclose(speeds[w, i], simulation.velocity(body.name), atol=1e-12)


def test_a_state_goes_into_a_simulation_and_back() -> None:
    batch = moved(True)
    state = batch.state(4)
    batch.set_state(7, state)
    assert batch.hash(7) == batch.hash(4)
    simulation = tribo.load("solo-standing")
    simulation.state = state
    np.testing.assert_array_equal(simulation.q, batch.q[4])


def test_parameters_are_those_of_the_world() -> None:
    heights = []
    for lanes in (False, True):
        batch = tribo.Batch("solo-standing", 3, 1, lanes=lanes)
        batch.set_parameters(1, mass=1.5, friction=0.5, gains=0.8)
        batch.step(100)
        heights.append(batch.q[:, 2].copy())
    np.testing.assert_allclose(heights[0], heights[1], atol=1e-7)
    assert heights[1][1] < heights[1][0] - 1e-4


def test_what_is_not_covered_says_so_and_steps() -> None:
    batch = tribo.Batch("cube", 2, 1, lanes=True)
    assert batch.lanes.startswith("no lanes: ")
    batch.step(3)
    assert np.all(batch.lane_steps == 0) and np.all(batch.t > 0)
    functions = tribo.Batch("solo-standing", 2, 1, lanes=True, controller=lambda world: lambda t, q, v: np.zeros(18))
    assert "controllers" in functions.lanes
