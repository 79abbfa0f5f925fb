"""Predictive control on the derivatives of a step."""

import importlib.util
import pathlib

import numpy as np
import pytest

import tribo
from tribo import _core

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "mpc"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_backward_pass_is_the_least_squares_solution():
    # The same program without stages: all inputs in one vector.
    rng = np.random.default_rng(1)
    T, n, m = 7, 4, 2
    A, B = rng.normal(size=(T, n, n)), rng.normal(size=(T, n, m))
    square = rng.normal(size=(T + 1, n, n))
    l_xx = square @ square.transpose(0, 2, 1)
    square = rng.normal(size=(T, m, m))
    l_uu = square @ square.transpose(0, 2, 1) + np.eye(m)
    l_x, l_u = rng.normal(size=(T + 1, n)), rng.normal(size=(T, m))
    K, k, expected = _core._backward_pass(A, B, l_x, l_xx, l_u, l_uu, 0.0)
    x, u = np.zeros(n), []
    for t in range(T):  # the feedback along the linear dynamics
        u.append(k[t] + np.asarray(K).reshape(T, m, n)[t] @ x)
        x = A[t] @ x + B[t] @ u[-1]
    H, g = np.zeros((T * m, T * m)), np.zeros(T * m)
    S = np.zeros((n, T * m))
    for t in range(T):
        own = slice(t * m, (t + 1) * m)
        H += S.T @ l_xx[t] @ S
        g += S.T @ l_x[t]
        H[own, own] += l_uu[t]
        g[own] += l_u[t]
        S = A[t] @ S
        S[:, own] += B[t]
    H += S.T @ l_xx[T] @ S
    g += S.T @ l_x[T]
    best = -np.linalg.solve(H, g)
    assert np.allclose(np.concatenate(u), best, rtol=1e-8, atol=1e-8)
    assert np.isclose(expected, 0.5 * g @ best)
    assert _core._backward_pass(A, B, l_x, l_xx, l_u, -100 * l_uu, 0.0) is None  # no least
    with pytest.raises(tribo.InvalidInput, match="do not go together"):
        _core._backward_pass(A, B[:-1], l_x, l_xx, l_u, l_uu, 0.0)


def test_a_double_integrator_reaches_its_goal():
    # Each coordinate is driven by a force: the program is all but quadratic, and few iterations solve it.
    sim = tribo.load(EXAMPLES / "pusher.toml", controller="none")
    goal = np.array(sim.q)
    goal[:2] += [-0.05, 0.1]  # away from the box
    cost = tribo.mpc.QuadraticCost(sim.model, goal, q_end=[1e5, 1e5, *[0.0] * 6],
                                   v_end=[1e3, 1e3, *[0.0] * 6], u=1e-3)
    plan = tribo.mpc.Mpc(sim, cost, 50, end=50)
    made = [plan.iterate() for _ in range(5)]
    assert made[0].step == 1 and abs(made[-1].cost - made[-2].cost) < 1e-6 * made[-2].cost
    for _ in range(50):
        plan.advance()
    assert np.allclose(sim.q[:2], goal[:2], atol=1e-3)
    with pytest.raises(tribo.InvalidInput, match="end"):
        plan.advance()


def test_the_box_comes_nearer_and_nothing_of_the_run_changes():
    push = example("push_box")
    sim = push.start(1)
    before = np.array(sim.q)
    first = np.zeros((push.HORIZON, 2))
    first[:30, 0] = 1.5
    plan = tribo.mpc.Mpc(sim, push.cost(sim.model, before), push.HORIZON, inputs=first, end=push.HORIZON)
    made = plan.solve(16)
    assert made[-1].cost < 0.2 * made[0].cost
    assert all(b.cost <= a.cost for a, b in zip(made, made[1:], strict=False))
    assert np.array_equal(before, sim.q) and sim.t == 0
    assert 0 < made[0].share < 1


def test_what_cannot_be_optimised():
    sim = tribo.load("cube")
    with pytest.raises(tribo.InvalidInput, match="motor"):
        tribo.mpc.Mpc(sim, tribo.mpc.QuadraticCost(sim.model, sim.q), 5)
    sim = tribo.load("solo-standing")
    cost = tribo.mpc.QuadraticCost(sim.model, sim.q)
    with pytest.raises(tribo.InvalidInput, match="horizon"):
        tribo.mpc.Mpc(sim, cost, 0)
    with pytest.raises(tribo.InvalidInput, match="shape"):
        tribo.mpc.Mpc(sim, cost, 5, inputs=np.zeros((5, 3)))
    with pytest.raises(tribo.InvalidInput, match="q_ref"):
        tribo.mpc.QuadraticCost(sim.model, np.zeros(3))
    with pytest.raises(tribo.InvalidInput, match=">= 0"):
        tribo.mpc.QuadraticCost(sim.model, sim.q, q=-1.0)


def test_smoothed_laws_lead_to_contacts_that_are_not_there_yet():
    # The ball is at rest 0.2 mm from the box: nothing that it does for a moment moves the box, and the exact derivative has
    # no slope. That of a smoothed law has one, and the box comes nearer its goal.
    push = example("push_box")
    reached = {}
    for smoothing in ((0.0,), (0.0, 1e-3)):
        sim = push.start(0)
        goal = np.array(sim.q)
        goal[2] += 0.02
        place = np.array([0, 0, 1, 0, 0, 0, 0, 0])
        cost = tribo.mpc.QuadraticCost(sim.model, goal, q_end=2000 * place, u=1e-5)
        plan = tribo.mpc.Mpc(sim, cost, 15, smoothing=smoothing)
        made = [plan.iterate() for _ in range(12)]
        reached[len(smoothing)] = made[-1].cost / made[0].cost
        assert {i.smoothing for i in made} == set(smoothing)
    assert reached[1] == 1
    assert reached[2] < 0.1
    with pytest.raises(tribo.InvalidInput, match="smoothing"):
        tribo.mpc.Mpc(sim, cost, 15, smoothing=())
