"""A Pinocchio model in and out: the same mass matrix, by the other library."""

import numpy as np
import pytest

import tribo

pin = pytest.importorskip("pinocchio", reason="the package pin is not installed")


@pytest.mark.parametrize("robot", ["solo12", "ur10", "talos"])
def test_out_and_in_again(robot):
    sim = tribo.load(robot)
    model = tribo.to_pinocchio(sim.model)
    assert (model.nq, model.nv) == (sim.model.nq, sim.model.nv)
    data = model.createData()
    pin.forwardKinematics(model, data, np.array(sim.q))
    poses = sim.model.poses(sim.q)
    for i, pose in enumerate(poses):
        np.testing.assert_allclose(data.oMi[i + 1].homogeneous, pose, atol=1e-12)
    again = tribo.from_pinocchio(model)
    assert again.mass == pytest.approx(sim.model.mass, rel=1e-12)
    np.testing.assert_allclose(again.poses(sim.q), poses, atol=1e-12)


@pytest.mark.parametrize("robot", ["kinova", "double_pendulum_continuous"])
def test_continuous_joints(robot):
    sim = tribo.load(robot)
    model = tribo.to_pinocchio(sim.model)
    assert (model.nq, model.nv) == (sim.model.nq, sim.model.nv)
    data, rng = model.createData(), np.random.default_rng(1)
    q = pin.integrate(model, np.array(sim.q), rng.uniform(-1, 1, model.nv))
    v = rng.uniform(-1, 1, model.nv)
    sim.set(q=q, v=v)
    M = pin.crba(model, data, q)
    np.testing.assert_allclose(np.triu(M), np.triu(sim.M), atol=1e-10)
    np.testing.assert_allclose(pin.nonLinearEffects(model, data, q, v), sim.bias, atol=1e-9)
    pin.framesForwardKinematics(model, data, q)
    frame = sim.model.frames[-1]
    name = frame.name.rsplit("/", 1)[-1]
    np.testing.assert_allclose(data.oMf[model.getFrameId(name)].homogeneous, sim.pose(frame.name), atol=1e-12)


def test_runs_like_the_original():
    feet = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
    model = tribo.from_pinocchio(tribo.to_pinocchio(tribo.load("solo12").model), feet=feet)
    sim = tribo.Simulation(model)
    original = tribo.load("solo12", controller="none", settings={"robot.contact": "feet"})
    sim.set(q=original.q)
    for other in (sim, original):
        other.run(0.2)
    np.testing.assert_allclose(sim.q, original.q, atol=1e-6)
