"""Commands of a walking robot from Python."""

import numpy as np
import pytest

import tribo


def test_commands_at_run_time():
    sim = tribo.load("solo-walk")
    sim.run(1.0)
    assert abs(sim.q[0]) < 0.02
    sim.walk(-0.2, 0.1)
    sim.run(2.0)
    start = np.array(sim.q[:2])
    sim.run(1.0)
    assert np.allclose(sim.q[:2] - start, [-0.2, 0.1], atol=0.03)
    sim.walk(0.0, turning=0.5)
    sim.run(1.0)
    before = np.array(sim.q[3:7])
    sim.run(1.0)
    turn = 2 * np.arccos(min(1.0, abs(float(before @ np.array(sim.q[3:7])))))
    assert abs(turn - 0.5) < 0.05
    sim.walk(None)  # the scene's again: 0.6 m/s from 5 s on
    sim.run(2.0)
    assert np.linalg.norm(sim.v[:2]) > 0.45
    sim.reset()
    sim.run(1.0)
    assert abs(sim.q[0]) < 0.02


def test_a_saved_walk_goes_on():
    sim = tribo.load("solo-walk")
    sim.walk(0.3)
    sim.run(1.234)
    saved = sim.state
    sim.run(0.5)
    end = np.array(sim.q)
    sim.state = saved
    sim.run(0.5)
    assert np.array_equal(end, sim.q)


def test_batch_walks_as_one():
    sim = tribo.load("solo-walk")
    sim.run(2.0)
    batch = tribo.Batch(tribo.load("solo-walk").scene, 2)
    batch.step(2000)
    assert np.array_equal(np.asarray(batch.q)[0], sim.q)
    assert np.array_equal(np.asarray(batch.q)[1], sim.q)


def test_what_cannot_be_commanded():
    sim = tribo.load("solo-standing")
    with pytest.raises(tribo.InvalidInput, match="no robot that walks"):
        sim.walk(0.1)
    sim = tribo.load("solo-walk")
    with pytest.raises(tribo.InvalidInput, match="not finite"):
        sim.walk(float("inf"))
    with pytest.raises(tribo.InvalidInput, match="does not walk"):
        sim.walk(0.1, robot="go2")
