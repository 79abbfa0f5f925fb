"""The derivative of a step, from Python and from the command line."""

import json
import os
import subprocess

import numpy as np
import pytest

import tribo


def test_shapes_products_and_the_run_that_stays():
    sim = tribo.load("solo-standing")
    sim.run(0.05)
    before = sim.state.hash
    lin = sim.linearize()
    assert sim.state.hash == before
    nv, nu = len(sim.v), len(lin.inputs)
    assert lin.A.shape == (2 * nv, 2 * nv) and lin.B.shape == (2 * nv, nu) and nu == 12
    assert lin.method == "analytic" and lin.reason == "" and lin.finite and lin.unique
    assert [mode.name for _, mode, _ in lin.contacts].count("Stick") == 4
    rng = np.random.default_rng(1)
    dx, du, w = rng.normal(size=2 * nv), rng.normal(size=nu), rng.normal(size=2 * nv)
    assert np.allclose(lin.jvp(dx, du), lin.A @ dx + lin.B @ du, rtol=1e-12, atol=1e-12)
    gx, gu = lin.vjp(w)
    assert np.allclose(gx, lin.A.T @ w) and np.allclose(gu, lin.B.T @ w)
    with pytest.raises(tribo.InvalidInput, match="must have 36"):
        lin.jvp(dx[:3])
    sim.step()
    assert np.allclose(sim.q, lin.q_next, atol=1e-12)


def test_a_ball_that_flies_has_the_matrix_of_its_parabola():
    """p+ = p + dt (v + dt g): A is known."""
    sim = tribo.load("free-fall")
    lin = sim.linearize()
    dt = sim.dt
    A = lin.A
    assert np.allclose(A[:3, 6:9], dt * np.eye(3), atol=1e-12)
    assert np.allclose(A[6:9, 6:9], np.eye(3), atol=1e-12)


def test_check_and_a_stepper_without_one():
    sim = tribo.load("ur10")
    sim.run(0.1)
    check = tribo.check_derivatives(sim)
    assert check.error < 1e-6 and check.disturbed == 0 and check.columns == 18
    assert check.differences.method == "differences"
    lin = tribo.load("cube", stepper="explicit-euler").linearize()
    assert lin.method == "differences" and lin.reason and lin.finite


def test_batch_parameters_and_one_side():
    batch = tribo.Batch("solo-standing", 2, threads=2)
    batch.step(5)
    first, second = batch.linearize()
    assert np.array_equal(first.A, second.A) and first.method == "analytic"
    sim = tribo.load("cube-push")
    slopes = sim.parameter_slopes(["mass:cube", "friction:default"])
    assert slopes.shape == (12, 2) and np.isfinite(slopes).all()
    with pytest.raises(tribo.InvalidInput, match="there are: "):
        sim.parameter_slopes(["friction:cheese"])
    arm = tribo.load("ur10")
    lin, dx = arm.linearize(), np.linspace(-1, 1, 12)
    assert np.allclose(arm.one_sided(dx, np.ones(6)), lin.jvp(dx, np.ones(6)), rtol=1e-6, atol=1e-6)  # no kink: A dx + B du


@pytest.mark.skipif("TRIBO_COMMAND" not in os.environ, reason="no command")
def test_the_command(tmp_path):
    out = tmp_path / "lin.npz"
    run = subprocess.run([os.environ["TRIBO_COMMAND"], "linearize", "ur10", "--at", "0.02", "--check", "--json", "--out", str(out)],
                         capture_output=True, text=True, check=True)
    said = json.loads(run.stdout)
    assert said["method"] == "analytic" and said["nv"] == 6 and said["check"]["error"] < 1e-6
    with np.load(out) as file:
        assert file["A"].shape == (12, 12) and file["B"].shape == (12, 6)
        assert np.isfinite(file["A"]).all() and len(file["q_next"]) == 6


def test_smoothing_feels_the_ground_before_touch():
    sim = tribo.parse("""
[[object]]
name = "ball"
shape = "sphere"
radius = 0.1
mass = 1.0
position = [0.0, 0.0, 0.1001]
""")
    hard, soft = sim.linearize(), sim.linearize(smoothing=1e-3)
    assert abs(hard.A[8, 2]) < 1e-12 and soft.A[8, 2] < -1e-3
    assert np.array_equal(hard.q_next, soft.q_next) and np.array_equal(hard.v_next, soft.v_next)
    with pytest.raises(tribo.InvalidInput, match="smoothing"):
        sim.linearize(smoothing=-1.0)


def test_tangents_of_joints_without_end():
    """q moved along the tangent is found again by `difference`, which knows the joints by itself."""
    from tribo.jax import _tangent

    sim = tribo.load("double_pendulum_continuous")
    model = sim.model
    state = sim.state.copy()
    rng = np.random.default_rng(2)
    q = np.array(state.q)
    for body in model.bodies:
        assert body.nq == 2
        angle = rng.uniform(-3, 3)
        q[body.iq:body.iq + 2] = np.cos(angle), np.sin(angle)
    d = 1e-7 * rng.normal(size=model.nv)
    assert np.allclose(model.difference(q, q + _tangent(model, q) @ d), d, rtol=1e-6, atol=1e-13)


def test_a_closed_loop_is_analytic():
    sim = tribo.load("four-bar")
    sim.run(0.3)
    check = tribo.check_derivatives(sim)
    assert check.linearization.method == "analytic" and check.linearization.weak == 0
    assert check.error < 1e-6 and check.columns == 6


def test_parameters_and_sensors_by_name():
    """A box that slides: dv/dmu = -g dt, and the friction of its contacts sums to -mu m g."""
    sim = tribo.load("cube-slide")
    sim.run(0.05)
    names = ["friction:default", "mass:cube"]
    lin = sim.linearize(parameters=names, sensors=["contacts", "gyroscope:cube"])
    assert lin.parameters == names and lin.parameters_reason == "" and lin.sensors_reason == ""
    assert lin.P.shape == (12, 2) and lin.E.shape == (15, 2) and lin.C.shape == (15, 12) and lin.D.shape == (15, 0)
    speed = np.linalg.norm(lin.P[6:9, 0])
    assert abs(speed - 9.81 * sim.dt) < 1e-6 * speed
    assert np.allclose(lin.P[6:9, 1], 0, atol=1e-9)
    friction = lin.E[0:12:3, 0].sum() ** 2 + lin.E[1:12:3, 0].sum() ** 2
    assert np.isclose(np.sqrt(friction), lin.y[2:12:3].sum(), rtol=1e-6)
    assert [name for name, _ in lin.sensors][-3:] == ["gyroscope:cube.x", "gyroscope:cube.y", "gyroscope:cube.z"]
    assert not any(unique for name, unique in lin.sensors if name.startswith("contact"))
    w = np.arange(12.0)
    gx, gu, gp = lin.vjp(w)
    assert np.allclose(gp, lin.P.T @ w) and np.allclose(gx, lin.A.T @ w) and gu.size == 0
    with pytest.raises(tribo.InvalidInput, match="rays and switches"):
        sim.linearize(sensors=["rays:cube"])
    batch = tribo.Batch("cube-slide", 2)
    assert batch.linearize(parameters=names)[1].P.shape == (12, 2)
