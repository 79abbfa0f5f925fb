"""Proximal policy optimisation on a VelocityVectorEnv, in JAX on the CPU.

    result = tribo.learn.train(tribo.gym.Task(robot="solo12"), "out/solo")
    tribo.learn.evaluate(result.policy, episodes=500)

out/: policy.npz (the policy), checkpoint.npz (all that training needs to go on), curves.csv and curves.png. A second call
with the same folder goes on where the first one ended.
"""

from __future__ import annotations

import csv
import dataclasses
import os
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .extras import need
from .files import whole_file
from .gym import Task, VelocityVectorEnv, Worlds
from .policy import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

COLUMNS = ("iteration", "steps", "cpu_time", "reward", "velocity_error", "yaw_error", "falls", "deviation", "rate")
UNITS = ("-", "-", "s", "1/step", "m/s", "rad/s", "1/(10 s)", "-", "-")


@dataclasses.dataclass
class Settings:
    worlds: int = 256
    horizon: int = 24  # steps of each world in an iteration
    iterations: int = 60
    epochs: int = 4
    batches: int = 4
    hidden: tuple[int, ...] = (64, 64)
    rate: float = 1e-3  # of Adam; follows the change of the policy
    change: float = 0.01  # that is aimed at: mean KL divergence of an iteration
    discount: float = 0.97
    trace: float = 0.95  # lambda of the generalised advantage
    clip: float = 0.2
    entropy: float = 0.003
    deviation: float = 0.2  # of the actions at the start [-]
    threads: int = 0
    lanes: bool = False  # see VelocityVectorEnv
    seed: int = 0


class Result(NamedTuple):
    policy: Policy
    curves: dict[str, Array]  # see COLUMNS


def _layers(rng: np.random.Generator, sizes: list[int], last: float) -> list[tuple[Array, Array]]:
    """Orthogonal weights."""
    out = []
    for i, (n, m) in enumerate(zip(sizes[:-1], sizes[1:])):
        x = np.linalg.qr(rng.normal(size=(max(n, m), min(n, m))))[0]
        out.append(((x if m >= n else x.T) * (last if i + 2 == len(sizes) else 1.0), np.zeros(m)))
    return out


class _Learner:
    """The networks of actor and critic, and a step of learning, compiled."""

    def __init__(self, settings: Settings, observation: int, action: int) -> None:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        jax = need("jax", "training runs on JAX", "learn")
        jnp = jax.numpy
        self.s = s = settings
        rng = np.random.default_rng(settings.seed)
        as32 = jax.tree.map
        self.parameters: Any = as32(lambda x: jnp.asarray(x, jnp.float32), {
            "actor": _layers(rng, [observation, *s.hidden, action], 0.01),
            "critic": _layers(rng, [observation, *s.hidden, 1], 1.0),
            "spread": np.full(action, np.log(s.deviation))})
        zeros = as32(jnp.zeros_like, self.parameters)
        self.moments: Any = (zeros, zeros, jnp.zeros(()))
        self.mean, self.variance, self.count = np.zeros(observation), np.ones(observation), 1e-4
        self.rate = s.rate
        self.jax = jax
        self.act = jax.jit(lambda p, x: (self._network(p["actor"], x), self._network(p["critic"], x)[:, 0]))
        self.learn = jax.jit(self._learn)

    def _network(self, layers: Any, x: Any) -> Any:
        jax = self.jax
        for W, b in layers[:-1]:
            x = jax.nn.elu(x @ W.T + b)
        W, b = layers[-1]
        return x @ W.T + b

    def normal(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        x = (observations - self.mean) / np.sqrt(self.variance + 1e-4)
        return np.clip(x, -10, 10).astype(np.float32)

    def watch(self, observations: NDArray[np.float32]) -> None:
        """Mean and variance of all observations so far."""
        x = observations.reshape(-1, observations.shape[-1])
        n, mean, variance = len(x), x.mean(axis=0, dtype=float), x.var(axis=0, dtype=float)
        total, delta = self.count + n, mean - self.mean
        self.variance = (self.variance * self.count + variance * n + delta**2 * self.count * n / total) / total
        self.mean = self.mean + delta * n / total
        self.count = total

    def _loss(self, p: Any, data: Any) -> Any:
        jnp, s = self.jax.numpy, self.s
        x, action, mean, spread, advantage, returns, value = data
        new, width = self._network(p["actor"], x), p["spread"]
        log = -0.5 * ((action - new) ** 2 * jnp.exp(-2 * width)).sum(1) - width.sum()
        old = -0.5 * ((action - mean) ** 2 * jnp.exp(-2 * spread)).sum(1) - spread.sum(1)
        ratio = jnp.exp(log - old)
        gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - s.clip, 1 + s.clip) * advantage).mean()
        guess = self._network(p["critic"], x)[:, 0]
        near = value + jnp.clip(guess - value, -s.clip, s.clip)
        miss = jnp.maximum((guess - returns) ** 2, (near - returns) ** 2).mean()
        change = (width - spread + 0.5 * (jnp.exp(2 * spread) + (mean - new) ** 2) * jnp.exp(-2 * width) - 0.5).sum(1).mean()
        return -gain + 0.5 * miss - s.entropy * width.sum(), change

    def _learn(self, p: Any, moments: Any, data: Any, rate: Any, key: Any) -> Any:
        jax, s = self.jax, self.s
        jnp = jax.numpy
        n = data[0].shape[0] // s.batches

        def batch(carry: Any, index: Any) -> Any:
            p, (m, v, k) = carry
            part = tuple(x[index] for x in data)
            (_, change), slope = jax.value_and_grad(self._loss, has_aux=True)(p, part)
            size = jnp.sqrt(sum((g**2).sum() for g in jax.tree.leaves(slope)))
            slope = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / (size + 1e-8)), slope)
            k = k + 1
            m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, slope)
            v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g**2, v, slope)
            p = jax.tree.map(lambda x, a, b: x - rate * (a / (1 - 0.9**k)) / (jnp.sqrt(b / (1 - 0.999**k)) + 1e-8), p, m, v)
            return (p, (m, v, k)), change

        keys = jax.random.split(key, s.epochs)
        order = jnp.concatenate([jax.random.permutation(k, n * s.batches).reshape(s.batches, n) for k in keys])
        (p, moments), change = jax.lax.scan(batch, (p, moments), order)
        return p, moments, change.mean()


def _advantages(rewards: Array, values: Array, last: Array, ended: Array, s: Settings) -> tuple[Array, Array]:
    """Generalised advantages; rewards of steps that were cut off hold the value of what would have followed."""
    advantage, out = np.zeros_like(last), np.zeros_like(rewards)
    for k in reversed(range(len(rewards))):
        goes_on = 1.0 - ended[k]
        following = last if k + 1 == len(rewards) else values[k + 1]
        delta = rewards[k] + s.discount * following * goes_on - values[k]
        advantage = delta + s.discount * s.trace * goes_on * advantage
        out[k] = advantage
    return out, out + values


class Trainer:
    """One training: an environment, a learner, and a folder."""

    def __init__(self, task: Task | None = None, out: str | os.PathLike[str] | None = None,
                 settings: Settings | None = None, *, randomize: bool = True) -> None:
        self.s = settings or Settings()
        self.env = VelocityVectorEnv(self.s.worlds, task=task, threads=self.s.threads, lanes=self.s.lanes,
                                     randomize=randomize, autoreset_mode="same_step")
        self.out = None if out is None else Path(out)
        self.learner = _Learner(self.s, self.env.single_observation_space.shape[0], len(self.env.robot.joints))
        self.rng = np.random.default_rng(self.s.seed)
        self.rows: list[list[float]] = []
        self.iteration = 0
        self._spent = 0.0
        if self.out is not None and (self.out / "checkpoint.npz").exists():
            self._restore()
        self._x = self.env.reset(seed=self.s.seed + 1000 * self.iteration)[0]
        self.env.age[:] = self.rng.integers(0, self.env._limit, self.s.worlds)  # not all end at once

    def policy(self) -> Policy:
        """As it is now."""
        task, robot = self.env.task, self.env.robot
        layers = [(np.asarray(W, dtype=float), np.asarray(b, dtype=float)) for W, b in self.learner.parameters["actor"]]
        return Policy([W for W, _ in layers], [b for _, b in layers], self.learner.mean.copy(),
                      np.sqrt(self.learner.variance + 1e-4), self.env.layout(), robot.joints, robot.pose, task.reach, task.kp,
                      task.kd, task.dt * task.steps, task.frequency, self.env.gait()[0], robot.joint_phase,
                      self.env.gait()[1])

    def _collect(self) -> tuple[tuple[Any, ...], dict[str, float]]:
        s, learner, env = self.s, self.learner, self.env
        spread = np.asarray(learner.parameters["spread"])
        kept: list[tuple[Any, ...]] = []
        seen = []
        error = turn = falls = total = 0.0
        for _ in range(s.horizon):
            seen.append(self._x)
            x = learner.normal(self._x)
            mean, value = (np.asarray(y) for y in learner.act(learner.parameters, x))
            action = (mean + np.exp(spread) * self.rng.standard_normal(mean.shape)).astype(np.float32)
            command = env.command.copy()
            self._x, reward, down, cut, info = env.step(action)
            total += reward.mean()
            if cut.any():
                after = np.asarray(learner.act(learner.parameters, learner.normal(info["final_obs"]))[1])
                reward = reward + s.discount * np.where(cut, after, 0.0)
            kept.append((x, action, mean, value, reward, down | cut))
            alive = ~(down | cut)
            w = Worlds(env)
            error += np.linalg.norm(w.linear - command * [1, 1, 0], axis=1)[alive].mean() if alive.any() else 0
            turn += np.abs(w.angular[:, 2] - command[:, 2])[alive].mean() if alive.any() else 0
            falls += down.mean()
        x, action, mean, value, reward, ended = (np.stack(y) for y in zip(*kept))
        last = np.asarray(learner.act(learner.parameters, learner.normal(self._x))[1])
        advantage, returns = _advantages(reward, value, last, ended.astype(float), s)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        learner.watch(np.stack(seen))
        flat = [y.reshape(-1, *y.shape[2:]) for y in (x, action, mean, np.broadcast_to(spread, mean.shape), advantage, returns, value)]
        n, time_of = s.horizon, env.task.dt * env.task.steps
        return (tuple(np.ascontiguousarray(y, dtype=np.float32) for y in flat),
                {"reward": total / n, "velocity_error": error / n, "yaw_error": turn / n, "falls": falls / n / time_of * 10})

    def run(self, progress: bool = True) -> Result:
        s, learner = self.s, self.learner
        progress = progress and sys.stderr.isatty()
        while self.iteration < s.iterations:
            began = time.process_time()
            data, measured = self._collect()
            key = learner.jax.random.PRNGKey(s.seed * 100003 + self.iteration)
            learner.parameters, learner.moments, change = learner.learn(learner.parameters, learner.moments, data, learner.rate, key)
            change = float(change)
            if change > 2 * s.change:
                learner.rate = max(learner.rate / 1.5, 1e-5)
            elif change < s.change / 2:
                learner.rate = min(learner.rate * 1.5, 5e-3)
            self.iteration += 1
            self._spent += time.process_time() - began
            self.rows.append([self.iteration, self.iteration * s.worlds * s.horizon, self._spent,
                              *(measured[k] for k in ("reward", "velocity_error", "yaw_error", "falls")),
                              float(np.exp(np.asarray(learner.parameters["spread"])).mean()), learner.rate])
            if progress:
                _show(self.rows[-1], s.iterations)
            if self.out is not None and (self.iteration % 25 == 0 or self.iteration == s.iterations):
                self.save()
        if progress:
            print(file=sys.stderr)
        return Result(self.policy(), {name: np.array([row[i] for row in self.rows]) for i, name in enumerate(COLUMNS)})

    def save(self) -> None:
        """Policy, checkpoint and curves, each under another name until it is whole."""
        assert self.out is not None
        self.out.mkdir(parents=True, exist_ok=True)
        leaves = self.learner.jax.tree.leaves((self.learner.parameters, self.learner.moments))
        arrays: dict[str, Any] = {f"leaf{i}": np.asarray(x) for i, x in enumerate(leaves)}
        with whole_file(self.out / "checkpoint.npz") as partial, open(partial, "wb") as file:
            np.savez(file, rows=np.array(self.rows), mean=self.learner.mean, variance=self.learner.variance,
                     numbers=np.array([self.iteration, self._spent, self.learner.rate, self.learner.count]), **arrays)
        self.policy().save(self.out / "policy.npz")
        with whole_file(self.out / "curves.csv") as partial, open(partial, "w", newline="") as table:
            csv.writer(table).writerows([COLUMNS, *self.rows])
        draw(self.out / "curves.png", self.rows)

    def _restore(self) -> None:
        assert self.out is not None
        learner = self.learner
        path = self.out / "checkpoint.npz"
        try:
            with np.load(path, allow_pickle=False) as x:
                kept = {name: np.array(x[name], dtype=float) for name in x.files}
            old, shape = learner.jax.tree.flatten((learner.parameters, learner.moments))
            leaves = [learner.jax.numpy.asarray(kept[f"leaf{i}"], dtype=a.dtype) for i, a in enumerate(old)]
            iteration, spent, rate, count = (float(y) for y in kept["numbers"])
            mean, variance, rows = kept["mean"], kept["variance"], kept["rows"]
            whole = all(np.isfinite(x).all() for x in (*leaves, iteration, spent, rate, count, mean, variance))
        except (OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} is no checkpoint ({error}): train in another folder") from None
        if not whole:
            raise ValueError(f"{path} has numbers that are not finite: train in another folder")
        if any(a.shape != b.shape for a, b in zip([*old, learner.mean, learner.variance], [*leaves, mean, variance])):
            raise ValueError(f"{path} is of another network or robot: train in another folder")
        learner.parameters, learner.moments = learner.jax.tree.unflatten(shape, leaves)
        learner.mean, learner.variance, learner.rate, learner.count = mean, variance, rate, count
        self.iteration, self._spent, self.rows = int(iteration), spent, [list(row) for row in rows]


def train(task: Task | None = None, out: str | os.PathLike[str] | None = None, settings: Settings | None = None, *,
          randomize: bool = True, progress: bool = True) -> Result:
    """Trains a policy for a task; goes on where the folder has a checkpoint. randomize: masses, friction and gains differ
    from episode to episode. progress: a bar, on a terminal."""
    return Trainer(task, out, settings, randomize=randomize).run(progress)


def _show(row: list[float], iterations: int) -> None:
    done = int(24 * row[0] / iterations)
    print(f"\r[{'#' * done}{'.' * (24 - done)}] {int(row[0])}/{iterations}  {row[1] / 1e6:.2f} M steps  {row[2]:.0f} s CPU  "
          f"reward {row[3]:.2f}  error {row[4]:.3f} m/s  falls {row[6]:.2f}", end="", file=sys.stderr, flush=True)


def draw(path: str | os.PathLike[str], rows: list[list[float]]) -> None:
    """Curves over the steps taken, as .png."""
    matplotlib = need("matplotlib", "curves are drawn with Matplotlib", "learn")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    table = np.array(rows)
    for axes, k in zip(figure.subplots(2, 2).flat, (3, 4, 5, 6)):
        axes.plot(table[:, 1] / 1e6, table[:, k])
        axes.set_xlabel("environment steps [10^6]")
        axes.set_ylabel(f"{COLUMNS[k].replace('_', ' ')} [{UNITS[k]}]")
        axes.grid(True, alpha=0.3)
    with whole_file(path) as partial:
        figure.savefig(partial, format="png", dpi=110)


class Score(NamedTuple):
    """Of a policy over many episodes."""

    velocity_error: float  # mean distance of the velocity from the command, both averaged over a period of the gait [m/s]
    yaw_error: float  # likewise [rad/s]
    falls: float  # share of the episodes
    duty: float  # share of the time that a foot carries force
    air: float  # share of the time that a foot is off the ground
    reward: float  # per step


def evaluate(policy: Any, *, task: Task | None = None, episodes: int = 500, seed: int = 7, threads: int = 0,
             settle: float = 1.0, randomize: bool = False, lanes: bool = False) -> Score:
    """Runs every episode once. settle: time after a new command that is not counted [s]."""
    env = VelocityVectorEnv(episodes, task=task, threads=threads, lanes=lanes, randomize=randomize, autoreset_mode="disabled")
    x, _ = env.reset(seed=seed)
    time_of = env.task.dt * env.task.steps
    window, calm = max(1, round(1 / env.task.frequency / time_of)), round(settle / time_of)
    up, down = np.ones(episodes, dtype=bool), np.zeros(episodes, dtype=bool)
    speeds: list[Array] = []
    error, turn, carries, lifted, rewards = [], [], [], [], []
    since = 0
    for k in range(env._limit):
        command = env.command.copy()
        x, reward, fell, _, _ = env.step(policy(x))
        down |= fell
        up &= ~down
        w = Worlds(env)
        speeds = [*speeds[-window + 1:], np.column_stack([w.linear[:, :2], w.angular[:, 2]])]
        since += 1
        if since > calm and up.any():
            mean = np.mean(speeds, axis=0)
            error.append(np.linalg.norm(mean[:, :2] - command[:, :2], axis=1)[up].mean())
            turn.append(np.abs(mean[:, 2] - command[:, 2])[up].mean())
            carries.append((w.foot_force > 0)[up].mean())
            lifted.append((w.foot_height > 2e-3)[up].mean())
            rewards.append(reward[up].mean())
        if (k + 1) % env._renew == 0:
            since = 0
    return Score(float(np.mean(error)), float(np.mean(turn)), float(down.mean()), float(np.mean(carries)),
                 float(np.mean(lifted)), float(np.mean(rewards)))
