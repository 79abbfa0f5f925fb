"""Training: advantages by their definition, a policy that is the network, a second call that goes on."""

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the extra [learn] is not installed")
pytest.importorskip("jax", reason="the extra [learn] is not installed")

from tribo.gym import Task, Terms
from tribo.learn import Settings, Trainer, _advantages, evaluate, train
from tribo.policy import Policy
from tribo.training import walking

SMALL = Settings(worlds=16, horizon=8, iterations=2, epochs=2, batches=2, hidden=(16, 16), threads=1)


def test_advantages_are_the_sum_that_defines_them():
    rng = np.random.default_rng(1)
    rewards, values, last = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.normal(size=3)
    ended = rng.uniform(size=(6, 3)) < 0.3
    s = Settings(discount=0.9, trace=0.8)
    advantage, returns = _advantages(rewards, values, last, ended.astype(float), s)
    following = np.vstack([values[1:], last])
    for w in range(3):
        for k in range(6):
            total, share = 0.0, 1.0
            for j in range(k, 6):
                total += share * (rewards[j, w] + 0.9 * following[j, w] * (not ended[j, w]) - values[j, w])
                share *= 0.9 * 0.8
                if ended[j, w]:
                    break
            assert advantage[k, w] == pytest.approx(total)
    assert returns == pytest.approx(advantage + values)


def test_training_goes_on_and_its_policy_is_the_network(tmp_path):
    first = train(Task(), tmp_path, SMALL, progress=False)
    assert list(first.curves["iteration"]) == [1, 2] and first.curves["steps"][-1] == 2 * 16 * 8
    trainer = Trainer(Task(), tmp_path, SMALL)
    assert trainer.iteration == 2 and len(trainer.rows) == 2
    x = np.random.default_rng(3).normal(size=(5, 50)).astype(np.float32)
    network = np.asarray(trainer.learner.act(trainer.learner.parameters, trainer.learner.normal(x))[0])
    assert Policy.load(tmp_path / "policy.npz")(x) == pytest.approx(np.clip(network, -1, 1), abs=1e-5)
    trainer.s.iterations = 3
    assert list(trainer.run(progress=False).curves["iteration"]) == [1, 2, 3]
    trainer.s.iterations = 2
    assert {"policy.npz", "checkpoint.npz", "curves.csv", "curves.png"} <= {p.name for p in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="another network"):
        Trainer(Task(), tmp_path, Settings(worlds=4, hidden=(8,)))
    with np.load(tmp_path / "checkpoint.npz") as x:
        arrays = {name: x[name] for name in x.files}
    for change, word in (({"leaf0": arrays["leaf0"] + np.nan}, "finite"), ({"numbers": [1.0]}, "no checkpoint"), ({"mean": [0.0]}, "another network")):
        np.savez(tmp_path / "checkpoint.npz", **{**arrays, **change})
        with pytest.raises(ValueError, match=word):
            Trainer(Task(), tmp_path, SMALL)
    (tmp_path / "checkpoint.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match="no checkpoint"):
        Trainer(Task(), tmp_path, SMALL)


def test_learning_learns():
    """A reward that only the action decides: the mean of the actions goes to where it is largest."""
    task = Task(rewards=Terms([("aim", lambda w: -((w.action - 0.4) ** 2).mean(axis=1))]), episode=1.0)
    settings = Settings(worlds=32, horizon=8, iterations=25, hidden=(16,), rate=5e-3, discount=0.0, deviation=0.5, threads=1)
    result = train(task, None, settings, randomize=False, progress=False)
    assert result.curves["reward"][-5:].mean() > 0.5 * result.curves["reward"][0]  # negative: half of the loss is gone


def test_the_untrained_gait_follows_commands():
    score = evaluate(lambda x: np.zeros((len(x), 12)), episodes=8, threads=1, task=Task(episode=4.0, command_time=4.0))
    assert score.falls == 0 and score.velocity_error < 0.15 and score.duty < 0.75 and score.air > 0.15


def test_it_walks_in_a_scene(tmp_path):
    train(Task(), tmp_path, SMALL, progress=False)
    sim = walking(str(tmp_path / "policy.npz"), Task(), (0.3, 0.0, 0.0))
    sim.run(2.0)
    assert 0.3 < sim.q[0] < 0.9 and sim.q[2] > 0.15
