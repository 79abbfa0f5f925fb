"""The controller 'policy' in a scene is the policy in NumPy."""

import numpy as np
import pytest

import tribo
from tribo.policy import TERMS, Policy, arc, way


def made(layout=TERMS, hidden=(16, 8), seed=3, **changes):
    rng = np.random.default_rng(seed)
    sim = tribo.load("solo12")
    joints = [b.name.split("/")[-1] for b in sim.model.bodies if b.nv == 1]
    sizes = [{"joints": 12, "joint_velocities": 12, "action": 12, "clock": 2}.get(name, 3) for name in layout]
    widths = [sum(sizes), *hidden, 12]
    keys = {"weights": [rng.normal(0, 1 / np.sqrt(max(n, 1)), (m, n)) for n, m in zip(widths[:-1], widths[1:])],
            "biases": [rng.normal(0, 0.2, m) for m in widths[1:]], "mean": rng.normal(0, 0.1, widths[0]),
            "std": rng.uniform(0.5, 2.0, widths[0]), "layout": list(zip(layout, sizes)), "joints": joints,
            "pose": sim.q[7:].copy(), "reach": 0.2, "kp": 12.0, "kd": 0.3, "period": 0.02, "frequency": 2.5,
            "lift": rng.normal(0, 0.2, 12), "phase": rng.uniform(0, 1, 12), "stride": rng.normal(0, 0.2, (12, 3))}
    return Policy(**(keys | changes))


def scene(path, **keys):
    return tribo.load("solo12", controller=tribo.Controller("policy", file=str(path), **keys), dt=4e-3)


def observed(policy, sim, action, command, clock):
    x, y, z, w = sim.q[3:7]
    parts = {"gravity": -np.array([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]), "linear": sim.v[:3],
             "angular": sim.v[3:6], "joints": sim.q[7:] - policy.pose, "joint_velocities": sim.v[6:], "action": action,
             "command": np.array(command), "clock": np.array([np.sin(2 * np.pi * clock), np.cos(2 * np.pi * clock)])}
    return np.concatenate([parts[name] for name, _ in policy.layout])


@pytest.mark.parametrize("layout", [TERMS, ("clock", "action", "joints", "gravity"), ("command", "linear", "angular", "joint_velocities")])
@pytest.mark.parametrize("hidden", [(), (16, 8)])
def test_it_moves_the_targets_as_numpy_does(tmp_path, layout, hidden):
    policy = made(layout, hidden)
    policy.save(tmp_path / "policy.npz")
    again = Policy.load(tmp_path / "policy.npz")
    assert again.layout == policy.layout and again.joints == policy.joints and (again.weights[0] == policy.weights[0]).all()
    command, phase = (0.3, -0.1, 0.5), 0.2
    sim = scene(tmp_path / "policy.npz", forward=command[0], left=command[1], yaw=command[2], phase=phase)
    twin = tribo.load("solo12", controller=tribo.Controller("pd", kp=policy.kp, kd=policy.kd, feedforward="none"), dt=4e-3)
    action = np.zeros(12)
    for tick in range(15):
        clock = phase + policy.frequency * tick * policy.period
        action = again(observed(policy, twin, action, command, clock))
        p = clock + policy.phase
        twin.target[7:] = (policy.pose + policy.reach * action + policy.lift * arc(p)
                           + policy.stride @ command * way(p))
        twin.step(5)
        sim.step(5)
        assert sim.q == pytest.approx(twin.q, abs=1e-9) and sim.v == pytest.approx(twin.v, abs=1e-7)
    assert np.abs(action).max() > 0.05 and np.abs(sim.q[7:] - policy.pose).max() > 0.02


@pytest.mark.parametrize("change, word", [({"layers": [-1]}, "layers"), ({"layers": [2**40]}, "layers"), ({"layout": [-1] * 8}, "layout"),
                                          ({"layout": [99] * 8}, "layout"), ({"numbers": [0.2, 1.0]}, "5"), ({"pose": [[0.0]]}, "pose"),
                                          ({"weight1": [[np.nan]]}, "weight1"), ({"std": None}, "std"), ({"joints": [255]}, "utf-8"),
                                          ({"mean": ["a"] * 50}, "")])
def test_files_that_are_no_policies_are_refused_by_name(tmp_path, change, word):
    path = tmp_path / "p.npz"
    made().save(path)
    with np.load(path) as x:
        arrays = {name: x[name] for name in x.files}
    for name, value in change.items():
        arrays[name] = np.array(value, dtype=np.uint8 if name == "joints" else None)
        if value is None:
            del arrays[name]
    np.savez(path, **arrays)
    with pytest.raises(tribo.InvalidInput, match=f"p.npz.*{word}"):
        Policy.load(path)
    with pytest.raises(tribo.InvalidInput, match="p.npz|policy of"):
        scene(path)
    path.write_bytes(b"PK")
    with pytest.raises(tribo.InvalidInput, match="p.npz"):
        Policy.load(path)
    with pytest.raises(FileNotFoundError):
        Policy.load(tmp_path / "none.npz")


@pytest.mark.parametrize("change", [{"frequency": 1e308}, {"phase": np.full(12, 1e300)}])
def test_a_clock_that_would_be_no_number_is_refused(tmp_path, change):
    made(**change).save(tmp_path / "p.npz")
    with pytest.raises(tribo.InvalidInput, match="frequency and phase"):
        scene(tmp_path / "p.npz")


def test_what_it_remembers_is_in_the_state(tmp_path):
    made().save(tmp_path / "p.npz")
    sim = scene(tmp_path / "p.npz", forward=0.4)
    sim.step(13)  # within a period
    kept = sim.state
    sim.step(20)
    end = sim.q.copy()
    sim.state = kept
    sim.step(20)
    assert (sim.q == end).all()
    batch = tribo.Batch(scene(tmp_path / "p.npz", forward=0.4), 2, 2)
    batch.step(33)
    assert (batch.q[1] == end).all()


def test_every_contact_model_runs_it(tmp_path):
    made().save(tmp_path / "p.npz")
    for name in ("rigid", "exponential", "implicit-euler"):
        if name in tribo.steppers():
            sim = tribo.load("solo12", stepper=name, controller=tribo.Controller("policy", file=str(tmp_path / "p.npz")))
            sim.step(50)
            assert np.isfinite(sim.q).all()


@pytest.mark.parametrize("changes, message", [
    ({"joints": ["nobody"] + ["x"] * 11}, "unknown joint 'nobody'"), ({"std": np.zeros(50)}, "std has entries"),
    ({"pose": np.zeros(3)}, "pose has 3 entries, must have 12"), ({"mean": np.zeros(4)}, "mean has 4 entries"),
    ({"period": 0.0}, "period = 0"), ({"kp": -1.0}, "kp and kd"), ({"biases": [np.zeros(3)] * 3}, "bias0 has 3 entries"),
    ({"lift": np.full(12, np.nan)}, "must be finite")])
def test_a_policy_that_does_not_fit_is_refused(tmp_path, changes, message):
    made(**changes).save(tmp_path / "p.npz")
    with pytest.raises(tribo.InvalidInput, match=message):
        scene(tmp_path / "p.npz")


def test_files_that_are_none(tmp_path):
    (tmp_path / "p.npz").write_bytes(b"PK nothing")
    with pytest.raises(tribo.InvalidInput):
        scene(tmp_path / "p.npz")
    np.savez(tmp_path / "q.npz", mean=np.zeros(3))
    with pytest.raises(tribo.InvalidInput, match="has no array 'layers'"):
        scene(tmp_path / "q.npz")
    with pytest.raises(tribo.InvalidInput):
        tribo.load("ur10", controller=tribo.Controller("policy", file=str(tmp_path / "q.npz")))
    with pytest.raises(ValueError, match="'feet' is not known"):
        made(layout=[]).__class__(**{**made().__dict__, "layout": [("feet", 4)]}).save(tmp_path / "r.npz")
