"""Gymnasium environments on Batch: a legged robot, by name or file, follows a velocity that it is told.

    import gymnasium, tribo.gym
    env = gymnasium.make("tribo/Solo-v0")
    envs = gymnasium.make_vec("tribo/Velocity-v0", num_envs=64, robot="go2-standing", threads=2)

A step of the environment is Task.steps steps of the simulation under joint control, whose references the action moves
about the standing pose. What is observed, rewarded and randomised are lists of named terms: tribo.gym.Task.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .batch import Batch, Points
from .extras import missing
from .gym_task import (
    OBSERVATIONS,
    RANDOMIZATION,
    REWARDS,
    Robot,
    Task,
    Term,
    Terms,
    Terrain,
    Worlds,
    around,
    fallen,
    squares,
    turned,
    uniform,
)
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
    Flags = NDArray[np.bool_]

__all__ = ["OBSERVATIONS", "RANDOMIZATION", "REWARDS", "Robot", "Task", "Term", "Terms", "Terrain", "VelocityEnv",
           "VelocityVectorEnv", "Worlds", "fallen", "squares", "turned", "uniform"]


def _scene(task: Task) -> _core.Scene:
    settings = dict(task.settings)
    if task.terrain is not None:
        t, n = task.terrain, round(task.terrain.patch / task.terrain.spacing)
        settings |= {"ground.none": True, "terrain": [{
            "name": "terrain", "spacing": t.spacing, "heights": t.heights().tolist(),
            "position": [t.spacing * n * t.levels / 2, 0.0, 0.0]}]}
    return load(task.robot, dt=task.dt, settings=settings, controller=Controller("pd", kp=task.kp, kd=task.kd, feedforward="none")).scene


class VelocityVectorEnv(VectorEnv):  # type: ignore[misc,type-arg,unused-ignore]
    """num_envs robots. task: what they are asked to do; keys beside it replace its fields: robot="bolt", episode=5.0.

    autoreset_mode: worlds that fall, fail or come to the end of their episode begin anew at the next step (NEXT_STEP), at
    once with the last observation in info["final_obs"] (SAME_STEP), or when reset(options={"reset_mask": mask}) says so
    (DISABLED). randomize: the terms of Task.randomization, or tribo.gym.RANDOMIZATION where it has none, are drawn for
    each world and episode. lanes: worlds step side by side, see Batch; faster, and as near to the step without as the
    tolerance of the contact solve.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50, "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs: int = 1, *, task: Task | None = None, threads: int = 0, lanes: bool = False,
                 randomize: bool = False, autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
                 render_mode: str | None = None, **changes: Any) -> None:
        if render_mode not in (None, "rgb_array"):
            raise _core.InvalidInput(f"render_mode is '{render_mode}', must be 'rgb_array' or None")
        self.task = task = dataclasses.replace(task or Task(), **changes)
        if randomize and not task.randomization:
            task.randomization = Terms(RANDOMIZATION)
        if task.terrain is not None and task.scan is None:
            task.scan = np.stack(np.meshgrid(np.linspace(-0.3, 0.3, 5), np.linspace(-0.2, 0.2, 3)), -1).reshape(-1, 2)
        self.autoreset_mode = AutoresetMode(autoreset_mode) if not isinstance(autoreset_mode, str) else next(
            m for m in AutoresetMode if autoreset_mode.lower() in (m.name.lower(), str(m.value).lower()))
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode,
                         "render_fps": round(1 / (task.dt * task.steps))}
        self.num_envs = n = num_envs
        self.batch = Batch(_scene(task), n, threads, lanes=lanes)
        self._q = np.array(self.batch.scene.start.q)
        self.robot = Robot(self.batch.scene.model, self._q)
        joints = len(self.robot.joints)
        self.height = float(self._q[self.robot.iq + 2])  # of the base where it stands [m]
        self.command, self.level = np.zeros((n, 3)), np.zeros(n, dtype=int)
        self.action, self.action_before = np.zeros((n, joints)), np.zeros((n, joints))
        self.clock = np.zeros(n)  # of the gait [periods]
        self.age, self.ended = np.zeros(n, dtype=int), np.zeros(n, dtype=bool)
        self._origin = np.zeros((n, 2))
        self._terrain = None if task.terrain is None else task.terrain.heights()
        self._limit = round(task.episode / (task.dt * task.steps))
        self._renew = max(1, round(task.command_time / (task.dt * task.steps)))
        self._images: Any = None
        self._begin(np.arange(n), np.random.default_rng(0))
        size = self.observe().shape[1]
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (joints,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)

    @cached_property
    def feet(self) -> Points:
        """Middles of the feet and their velocities in the world (n, feet, 3) [m], [m/s]; they follow the steps."""
        return Points(*self.batch._follow_points(self.robot.foot_body.tolist(), self.robot.foot_point))

    def ground(self, points: Array) -> Array:
        """Height of the ground (...) at points (..., 2) in the world [m]."""
        if self._terrain is None or self.task.terrain is None:
            return np.zeros(points.shape[:-1])
        rows, columns = self._terrain.shape
        place = points / self.task.terrain.spacing + [0.0, (rows - 1) / 2]
        x = np.clip(np.rint(place[..., 0]).astype(int), 0, columns - 1)
        y = np.clip(np.rint(place[..., 1]).astype(int), 0, rows - 1)
        return np.asarray(self._terrain[y, x])

    def _draw_commands(self, worlds: NDArray[Any], rng: np.random.Generator) -> None:
        most = np.array(self.task.command)
        self.command[worlds] = rng.uniform(-most, most, (len(worlds), 3))

    def _promote(self, worlds: NDArray[Any]) -> None:
        """The next patch for those that came far, the one before for those that did not."""
        terrain = self.task.terrain
        assert terrain is not None
        way = np.linalg.norm(self.batch.q[worlds, self.robot.iq:self.robot.iq + 2] - self._origin[worlds], axis=1)
        asked = np.linalg.norm(self.command[worlds, :2], axis=1) * self.age[worlds] * self.task.dt * self.task.steps
        began = self.age[worlds] > 0
        up = began & ~self.batch.failed[worlds] & (way > 0.5 * np.maximum(asked, 0.1 * terrain.patch))
        down = began & (way < 0.25 * asked)
        self.level[worlds] = np.clip(self.level[worlds] + up - (down & ~up), 0, terrain.levels - 1)

    def _begin(self, worlds: NDArray[Any], rng: np.random.Generator) -> None:
        """These worlds begin an episode."""
        n, task, robot = len(worlds), self.task, self.robot
        if n == 0:
            return
        if task.terrain is not None:
            self._promote(worlds)
        if task.randomization:
            self.batch.set_parameters(worlds, **{t.name: t.function(rng, n) for t in task.randomization})
        else:
            self.batch.reset(worlds)
        q, v = np.repeat(self._q[None], n, axis=0), np.zeros((n, self.batch.v.shape[1]))
        q[:, robot.joint_q] += rng.uniform(-0.05, 0.05, (n, len(robot.joint_q)))
        v[:, robot.iv:robot.iv + 2] = rng.uniform(-0.2, 0.2, (n, 2))
        place = q[:, robot.iq:robot.iq + 2]
        if task.terrain is not None:
            place[:, 0] = (self.level[worlds] + rng.uniform(0.4, 0.6, n)) * task.terrain.patch
            place[:, 1] = rng.uniform(-0.1, 0.1, n) * task.terrain.patch
            near = np.stack(np.meshgrid([-0.25, -0.1, 0.1, 0.25], [-0.2, 0.0, 0.2]), -1).reshape(-1, 2)
            q[:, robot.iq + 2] += self.ground(place[:, None] + near).max(axis=1)
        q[:, robot.iq + 2] += 0.02 * task.swing_height / 0.06
        self._origin[worlds] = place
        self.batch.set(worlds, q=q, v=v)
        self._draw_commands(worlds, rng)
        self.action[worlds] = self.action_before[worlds] = 0
        self.clock[worlds] = rng.uniform(0.0, 1.0, n)
        self.age[worlds] = 0
        self.ended[worlds] = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """options["reset_mask"]: the worlds that begin anew (num_envs) of bool; the others stay as they are."""
        mask = (options or {}).get("reset_mask")
        if mask is not None and np.asarray(mask).dtype != bool:
            raise TypeError(f"reset_mask has entries of {np.asarray(mask).dtype}, must have bool")
        chosen = self.batch._which(mask)
        super().reset(seed=seed, options=options)
        if seed is not None and mask is None:
            self.level[:] = 0
            self.age[:] = 0
        self._begin(chosen, self.np_random)
        return self.observe(), {}

    def observe(self, worlds: Worlds | None = None) -> Floats:
        """The terms of Task.observations side by side (num_envs, size)."""
        seen = worlds or Worlds(self)
        parts = [np.asarray(t.function(seen)) for t in self.task.observations]
        columns = [x if x.ndim == 2 else x.reshape(self.num_envs, -1) for x in parts]
        weights = [t.weight for t in self.task.observations]
        return np.concatenate([x if k == 1 else k * x for k, x in zip(weights, columns)], axis=1, dtype=np.float32,
                              casting="unsafe")

    def layout(self) -> list[tuple[str, int]]:
        """Names and sizes of the terms of an observation."""
        seen = Worlds(self)
        return [(t.name, np.asarray(t.function(seen)).reshape(self.num_envs, -1).shape[1]) for t in self.task.observations]

    def step(self, actions: Any) -> tuple[Floats, Array, Flags, Flags, dict[str, Any]]:
        task, time = self.task, self.task.dt * self.task.steps
        again = self.ended & (self.autoreset_mode == AutoresetMode.NEXT_STEP)
        new = np.flatnonzero(again)
        self._begin(new, self.np_random)
        self.action_before = self.action
        self.action = np.clip(np.asarray(actions, dtype=float), -1.0, 1.0)
        self.action[new] = 0
        reference = self._stepping()
        reference += task.reach * self.action
        np.add(reference, self.robot.pose, out=reference)
        self.batch._target[:, self.robot.at_q] = reference
        self.batch.step(task.steps, ~again if len(new) else None)  # a reset takes the place of a step
        clock, self.clock = self.clock, self.clock + task.frequency * time
        self.clock[new] = clock[new]
        self.age += 1
        self.age[new] = 0
        seen = Worlds(self)
        failed = self.batch.failed
        parts = {t.name: t.weight * np.asarray(t.function(seen), dtype=float) for t in task.rewards}
        rewards = np.where(again | failed, 0.0, sum(parts.values(), np.zeros(self.num_envs)))
        down = failed.copy()
        for t in task.terminations:
            down |= np.asarray(t.function(seen), dtype=bool)
        terminations = down & ~again
        truncations = (self.age >= self._limit) & ~terminations & ~again
        self.ended = terminations | truncations
        info: dict[str, Any] = {"reward_terms": parts}
        due = (self.age % self._renew == 0) & ~again
        if due.any():
            self._draw_commands(np.flatnonzero(due), self.np_random)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self.ended.any():
            info |= {"final_obs": self.observe(seen), "_final_obs": self.ended.copy(), "final_info": {},
                     "_final_info": self.ended.copy()}
            self._begin(np.flatnonzero(self.ended), self.np_random)
            seen = Worlds(self)
        return self.observe(seen), rewards, terminations, truncations, info

    def _stepping(self) -> Array:
        """What the clock adds to the references of the joints (n, joints) [rad]."""
        # Of each group of joints: policy.arc and policy.way, these times the command.
        groups, n = self.robot.in_group, self.num_envs
        sine, cosine = around(*Worlds(self).circle, self.robot.phases)
        phase = self.clock + self.robot.phases[:, None]
        phase -= np.floor(phase)
        way = np.where(phase < 0.5, -0.5 * cosine, 1.5 - 2 * phase)
        lift, stride = self.gait()
        shares = np.concatenate([groups * lift, (groups[:, None] * stride.T).reshape(-1, len(lift))])
        clock = np.concatenate([np.maximum(sine, 0.0), (way[:, None] * self.command.T).reshape(-1, n)])
        return np.asarray(clock.T @ shares)

    def gait(self) -> tuple[Array, Array]:
        """What the clock does with the references of the joints: `lift` and `stride` of a Policy."""
        task = self.task
        return task.lift * task.swing_height * self.robot.lift, task.stride * 0.5 / task.frequency * self.robot.stride

    def picture(self, world: int = 0, **options: Any) -> NDArray[np.uint8]:
        """A picture of one world; see Batch.render. The robot is in the middle."""
        from .render import Camera

        return self.batch.render(options.pop("camera", Camera(follow=self.robot.name)), world=world, **options)

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture of each world, where render_mode is "rgb_array"."""
        if self.render_mode is None:
            return None
        return tuple(self.picture(w) for w in range(self.num_envs))


class VelocityEnv(gymnasium.Env):  # type: ignore[misc,type-arg,unused-ignore]
    """One robot of VelocityVectorEnv, as an ordinary environment."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(self, *, task: Task | None = None, randomize: bool = False, render_mode: str | None = None,
                 **changes: Any) -> None:
        self.vector = VelocityVectorEnv(1, task=task, threads=1, randomize=randomize, render_mode=render_mode,
                                        autoreset_mode=AutoresetMode.DISABLED, **changes)
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "render_fps": self.vector.metadata["render_fps"]}
        self.observation_space = self.vector.single_observation_space
        self.action_space = self.vector.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        observations, _ = self.vector.reset(seed=seed)
        return observations[0], {}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        observations, rewards, terminations, truncations, info = self.vector.step(np.asarray(action)[None])
        terms = {name: float(x[0]) for name, x in info["reward_terms"].items()}
        return observations[0], float(rewards[0]), bool(terminations[0]), bool(truncations[0]), {"reward_terms": terms}

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override,unused-ignore]
        """A picture, where render_mode is "rgb_array"."""
        return None if self.render_mode is None else self.vector.picture()


for _id, _keys in (("tribo/Velocity-v0", {}), ("tribo/Solo-v0", {"robot": "solo12"})):
    if _id in gymnasium.registry:
        continue
    gymnasium.register(id=_id, entry_point="tribo.gym:VelocityEnv", vector_entry_point="tribo.gym:VelocityVectorEnv",
                       kwargs=_keys)
