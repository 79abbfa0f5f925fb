"""tribo.solve against closed forms."""

import numpy as np
import pytest

import tribo


def test_one_contact_sticks_and_slips():
    G, mu = np.eye(3) * 2.0, np.array([0.5])
    stick = tribo.solve(G, np.array([1.0, 0.0, -9.81]), mu)
    assert stick.converged
    np.testing.assert_allclose(stick.f, [-0.5, 0.0, 4.905], atol=1e-9)  # G f + g = 0
    slip = tribo.solve(G, np.array([20.0, 0.0, -9.81]), mu)
    np.testing.assert_allclose(slip.f, [-0.5 * 4.905, 0.0, 4.905], atol=1e-8)  # on the cone, against the slip


@pytest.mark.parametrize("solver", ["newton", "pgs", "admm"])
def test_solvers_agree(solver):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(12, 12))
    G, g, mu = A @ A.T / 12 + np.eye(12), rng.normal(size=12) - np.tile([0, 0, 3.0], 4), np.array([0.1, 0.4, 0.7, 1.0])
    answer = tribo.solve(G, g, mu, solver=solver, tolerance=1e-7)
    reference = tribo.solve(G, g, mu, tolerance=1e-10)
    assert answer.converged
    np.testing.assert_allclose(answer.f, reference.f, atol=1e-5)


def test_rows_are_bounded():
    answer = tribo.solve(np.eye(1), np.array([-5.0]), np.zeros(0), lower=np.array([-2.0]), upper=np.array([2.0]))
    np.testing.assert_allclose(answer.f, [2.0], atol=1e-9)


@pytest.mark.parametrize("arguments, word", [
    ((np.eye(4), np.zeros(3), np.zeros(1)), "3 x 3"),
    ((np.eye(3), np.array([0, 0, np.nan]), np.zeros(1)), "finite"),
    ((np.eye(3), np.zeros(3), np.array([-1.0])), "mu"),
    ((np.eye(3) + np.eye(3, k=1), np.zeros(3), np.zeros(1)), r"G\[1, 0\] is 0 but G\[0, 1\] is 1: G must be symmetric"),
    ((np.eye(6), np.zeros(6), np.zeros(1)), "mu must have one entry a contact"),
])
def test_bad_problems_are_refused(arguments, word):
    with pytest.raises(tribo.InvalidInput, match=word):
        tribo.solve(*arguments)
