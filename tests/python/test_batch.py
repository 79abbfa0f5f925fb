"""Batch: bit-equal for any number of threads, failures stay in their world, parameters."""

import numpy as np
import pytest

import tribo

WORLDS = 12


def hashes(threads):
    batch = tribo.Batch(tribo.load("solo"), WORLDS, threads)
    rng = np.random.default_rng(3)
    for w in range(0, WORLDS, 3):
        batch.set_parameters(w, mass=1 + 0.02 * w, friction=0.5 + 0.05 * w, gains=1.1)
    for _ in range(20):
        batch.target[:, 7:] += rng.normal(0, 0.01, (WORLDS, 12))
        batch.step(5)
    return [batch.hash(w) for w in range(WORLDS)]


def test_bit_equal_for_any_number_of_threads():
    one = hashes(1)
    assert len(set(one)) == WORLDS
    for threads in (2, 3, 8):
        assert hashes(threads) == one


def test_bit_equal_to_the_serial_run():
    sim = tribo.load("solo")
    batch = tribo.Batch(sim, 3, 2)
    batch.step(200)
    sim.step(200)
    assert (batch.q[1] == sim.q).all() and (batch.v[2] == sim.v).all()


def test_one_poisoned_world_among_64():
    clean, poisoned = tribo.Batch("solo-standing", 64, 2), tribo.Batch("solo-standing", 64, 2)
    for batch in (clean, poisoned):
        batch.step(10)
    poisoned.target[17, 9] = np.nan
    frozen = poisoned.q[17].copy()
    for batch in (clean, poisoned):
        batch.step(20)
    assert poisoned.failed.sum() == 1 and poisoned.failed[17]
    assert "not finite" in poisoned.reason(17)
    assert (poisoned.q[17] == frozen).all()
    for w in range(64):
        assert w == 17 or poisoned.hash(w) == clean.hash(w)
    poisoned.reset(17)
    poisoned.step(10)
    assert not poisoned.failed.any() and poisoned.t[17] == pytest.approx(0.01)


def test_parameters_change_the_physics():
    slide = tribo.Batch("cube-slide", 2, 1)
    slide.set_parameters(1, friction=0.5)
    slide.step(2000)
    # The distance goes as 1 / mu.
    start = tribo.load("cube-slide").q[0]
    assert (slide.q[1, 0] - start) == pytest.approx(2 * (slide.q[0, 0] - start), rel=0.01)
    solo = tribo.Batch("solo-standing", 2, 1)
    solo.set_parameters(1, mass=1.5)
    solo.step(1000)
    assert solo.foot_force[1].sum() == pytest.approx(1.5 * solo.foot_force[0].sum(), rel=1e-3)


def test_bad_parameters_are_refused():
    batch = tribo.Batch("cube", 2, 1)
    for bad in ({"mass": 0.0}, {"friction": -1.0}, {"gains": float("nan")}):
        with pytest.raises(tribo.InvalidInput):
            batch.set_parameters(0, **bad)
    with pytest.raises(tribo.InvalidInput):
        tribo.Batch("cube", 0)
    with pytest.raises(IndexError):
        batch.state(2)
    batch.step()
