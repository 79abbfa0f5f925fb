"""Gymnasium environments on Batch: Solo follows a velocity that it is told.

    env = tribo.gym.SoloVelocityVectorEnv(num_envs=64, threads=2)
    observations, infos = env.reset(seed=1)

A step is 20 ms: ten steps of 2 ms under joint control, whose references the action moves about the standing pose.
Observation of one world (48): gravity (3) [-], linear (3) [m/s] and angular velocity (3) [rad/s] of the base in its own
axes, joints minus pose (12) [rad], joint velocities (12) [rad/s], last action (12) [-], command vx, vy [m/s], yaw [rad/s].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .batch import Batch
from .extras import missing
from .simulation import Controller, load

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as _error:
    raise missing("the environments are Gymnasium's", "learn", _error) from _error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Floats = NDArray[np.float32]

STEPS = 10  # of the simulation in one of the environment
DT = 2e-3  # [s]
REACH = 0.4  # of an action of 1 [rad]
LIMIT = 500  # steps of an episode
COMMAND = np.array([0.4, 0.2, 0.6])  # largest [m/s], [m/s], [rad/s]
SIZE = 48


class SoloVelocityVectorEnv(VectorEnv):  # type: ignore[misc,type-arg,unused-ignore]
    """num_envs robots. Worlds that fall or fail are reset at their next step (AutoresetMode.NEXT_STEP)."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs: int = 1, *, threads: int = 0, randomize: bool = False) -> None:
        """randomize: masses within 15 %, friction and gains within 25 % of nominal, a draw for each world and episode."""
        scene = load("solo-standing", dt=DT, settings={"material.default.mu": 0.8},
                     controller=Controller("pd", kp=20.0, kd=0.5)).scene
        self.batch = Batch(scene, num_envs, threads)
        self.num_envs = num_envs
        self.randomize = randomize
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (SIZE,), np.float32)
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (12,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._pose = self.batch.target[0, 7:].copy()
        self._height = float(self.batch.q[0, 2])
        self._command = np.zeros((num_envs, 3))
        self._action = np.zeros((num_envs, 12))
        self._age = np.zeros(num_envs, dtype=int)
        self._ended = np.zeros(num_envs, dtype=bool)

    def _begin(self, worlds: NDArray[np.int64]) -> None:
        for w in worlds:
            if self.randomize:
                mass, friction, gains = self.np_random.uniform([0.85, 0.75, 0.75], [1.15, 1.25, 1.25])
                self.batch.set_parameters(int(w), mass=mass, friction=friction, gains=gains)
        self.batch.reset(worlds)
        for w in worlds:
            state = self.batch.state(int(w))
            state.q[7:] += self.np_random.uniform(-0.05, 0.05, 12)
            state.q[2] += 0.01
            self.batch.set_state(int(w), state)
        self._command[worlds] = self.np_random.uniform(-COMMAND, COMMAND, (len(worlds), 3))
        self._action[worlds] = 0
        self._age[worlds] = 0
        self._ended[worlds] = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """options["reset_mask"]: the worlds that begin anew (num_envs) of bool; the others stay as they are."""
        mask = (options or {}).get("reset_mask")
        if mask is not None and np.asarray(mask).dtype != bool:
            raise TypeError(f"reset_mask has entries of {np.asarray(mask).dtype}, must have bool")
        chosen = np.array(self.batch._which(mask), dtype=int)
        super().reset(seed=seed, options=options)
        self._begin(chosen)
        return self._observe(), {}

    def _gravity(self) -> Array:
        """Direction of gravity in the axes of the base (n, 3)."""
        x, y, z, w = self.batch.q[:, 3:7].T
        return -np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=1)

    def _observe(self) -> Floats:
        q, v = self.batch.q, self.batch.v
        parts = [self._gravity(), v[:, :6], q[:, 7:] - self._pose, v[:, 6:], self._action, self._command]
        return np.concatenate(parts, axis=1).astype(np.float32)

    def step(self, actions: Any) -> tuple[Floats, Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        actions = np.clip(np.asarray(actions, dtype=float), -1.0, 1.0)
        again = self._ended.copy()
        if again.any():
            self._begin(np.flatnonzero(again))
            actions[again] = 0
        change = actions - self._action
        self._action = np.where(again[:, None], 0.0, actions)
        self.batch.target[:, 7:] = self._pose + REACH * self._action
        frozen = [(int(w), self.batch.state(int(w))) for w in np.flatnonzero(again)]
        self.batch.step(STEPS)
        for w, state in frozen:  # a reset takes the place of a step
            self.batch.set_state(w, state)
        self._age += ~again
        v = self.batch.v
        error = ((v[:, :2] - self._command[:, :2]) ** 2).sum(axis=1)
        turn = (v[:, 5] - self._command[:, 2]) ** 2
        rewards = np.exp(-error / 0.05) + 0.5 * np.exp(-turn / 0.25) - 0.005 * (change ** 2).sum(axis=1)
        fallen = (self._gravity()[:, 2] > -0.6) | (self.batch.q[:, 2] < 0.5 * self._height) | self.batch.failed
        terminations = fallen & ~again
        truncations = (self._age >= LIMIT) & ~terminations & ~again
        rewards = np.where(again | self.batch.failed, 0.0, rewards)
        self._ended = terminations | truncations
        return self._observe(), rewards, terminations, truncations, {}


class SoloVelocityEnv(gymnasium.Env):  # type: ignore[misc,type-arg,unused-ignore]
    """One robot of SoloVelocityVectorEnv, as an ordinary environment."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, *, randomize: bool = False) -> None:
        self._vector = SoloVelocityVectorEnv(1, threads=1, randomize=randomize)
        self.observation_space = self._vector.single_observation_space
        self.action_space = self._vector.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._vector.reset(seed=seed)
        self._vector._begin(np.arange(1))
        return self._vector._observe()[0], {}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        observations, rewards, terminations, truncations, _ = self._vector.step(np.asarray(action)[None])
        return observations[0], float(rewards[0]), bool(terminations[0]), bool(truncations[0]), {}
