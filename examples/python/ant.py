"""Gymnasium's Ant-v5 on Tribo: the same file, observation and reward, with contact that does not sink in.

    env = AntEnv()
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

What was written for MuJoCo's qpos and qvel reads `sim.mujoco_qpos` and `sim.mujoco_qvel`. Run it: python ant.py
"""

from __future__ import annotations

import pathlib
import warnings
import xml.etree.ElementTree as ElementTree
from typing import Any

import gymnasium
import numpy as np

import tribo

FILE = pathlib.Path(gymnasium.__file__).parent / "envs/mujoco/assets/ant.xml"
SKIP = 5  # steps of the simulation in one of the environment


class AntEnv(gymnasium.Env):
    """Ant-v5 with its default arguments."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 20}

    def __init__(self, render_mode: str | None = None) -> None:
        with warnings.catch_warnings():  # softness, margins and RK4 of the file: told, and known here
            warnings.simplefilter("ignore")
            self.sim = tribo.load(FILE, controller="actuators")
        self.render_mode = render_mode
        self.dt = SKIP * self.sim.dt
        self._start = self.sim.mujoco_qpos
        self._body = self._bodies_of_geoms()
        self._bodies = 1 + max(self._body.values())
        size = len(self._start) - 2 + self.sim.model.nv + 6 * (self._bodies - 1)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (len(self.sim.ctrl),), np.float32)

    def _bodies_of_geoms(self) -> dict[str, int]:
        """Body of each geom, numbered as MuJoCo does it: depth first, the world is 0."""
        found: dict[str, int] = {}
        count = 0

        def walk(element: ElementTree.Element, body: int) -> None:
            nonlocal count
            for child in element:
                if child.tag == "geom":
                    found[child.get("name", "")] = body
                elif child.tag == "body":
                    count += 1
                    walk(child, count)

        world = ElementTree.parse(FILE).getroot().find("worldbody")
        assert world is not None
        walk(world, 0)
        return found

    def _contact_forces(self) -> np.ndarray:
        """MuJoCo's cfrc_ext, cut off at 1: moment about the centre of mass of the ant, then force, of every body."""
        forces = np.zeros((self._bodies, 6))
        centre = self.sim.center_of_mass()
        for contact in self.sim.contacts:
            for sign, name in ((1.0, contact.name_b), (-1.0, contact.name_a)):
                force = sign * contact.force
                forces[self._body[name.split("/")[-1]]] += [*np.cross(contact.point - centre, force), *force]
        return np.clip(forces, -1.0, 1.0)

    def _observation(self, forces: np.ndarray) -> np.ndarray:
        return np.concatenate((self.sim.mujoco_qpos[2:], self.sim.mujoco_qvel, forces[1:].ravel()))

    def _info(self) -> dict[str, float]:
        x, y = self.sim.q[:2]
        return {"x_position": x, "y_position": y, "distance_from_origin": float(np.hypot(x, y))}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.sim.reset()
        self.sim.mujoco_qpos = self._start + self.np_random.uniform(-0.1, 0.1, len(self._start))
        self.sim.mujoco_qvel = 0.1 * self.np_random.standard_normal(self.sim.model.nv)
        return self._observation(np.zeros((self._bodies, 6))), self._info()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        before = np.array(self.sim.q[:2])
        self.sim.ctrl[:] = action
        self.sim.step(SKIP)
        forces = self._contact_forces()
        velocity = (self.sim.q[:2] - before) / self.dt
        healthy = bool(np.isfinite(self.sim.q).all() and np.isfinite(self.sim.v).all() and 0.2 <= self.sim.q[2] <= 1.0)
        rewards = {"reward_forward": float(velocity[0]), "reward_ctrl": -0.5 * float(np.sum(np.square(action))),
                   "reward_contact": -5e-4 * float(np.sum(np.square(forces))), "reward_survive": float(healthy)}
        info = {**self._info(), "x_velocity": velocity[0], "y_velocity": velocity[1], **rewards}
        return self._observation(forces), sum(rewards.values()), not healthy, False, info

    def render(self) -> np.ndarray | None:
        return self.sim.render() if self.render_mode == "rgb_array" else None


if __name__ == "__main__":
    env = AntEnv()
    env.reset(seed=1)
    total, steps, terminated = 0.0, 0, False
    while steps < 200 and not terminated:
        _, reward, terminated, _, info = env.step(env.action_space.sample())
        total += reward
        steps += 1
    print(f"{steps} steps of random actions, return {total:.1f}, at x = {info['x_position']:.2f} m")
