"""tribo train ROBOT: training, a test of what came out, and a film of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from .gym import Task, VelocityVectorEnv
from .learn import Settings, evaluate, train
from .policy import Policy
from .simulation import Controller, Simulation, load


def walking(policy: str, task: Task, command: tuple[float, float, float], **keys: Any) -> Simulation:
    """The robot of a task under a policy from a file; keys: of tribo.load (stepper, contact_model, ...)."""
    settings = {**task.settings, **keys.pop("settings", {})}
    forward, left, yaw = command
    return load(task.robot, settings=settings, dt=keys.pop("dt", task.dt),
                controller=Controller("policy", file=str(Path(policy).resolve()), forward=forward, left=left, yaw=yaw), **keys)


def film(policy: str, task: Task, path: str, *, duration: float = 6.0, command: tuple[float, float, float] = (0.4, 0.0, 0.3)) -> None:
    simulation = walking(policy, task, command)
    simulation.run(duration, check=False)
    simulation.film(path, camera=simulation.model.members[0].name)


def main(options: argparse.Namespace) -> int:
    robot = {"solo": "solo12"}.get(options.robot, options.robot)
    task, out = Task(robot=robot), Path(options.out)
    settings = Settings(worlds=options.worlds, iterations=options.iterations, threads=options.threads, seed=options.seed,
                        lanes=options.lanes)
    result = train(task, out, settings)
    names = ("velocity error [m/s]", "yaw error [rad/s]", "falls", "duty", "feet off the ground", "reward")
    joints = len(result.policy.joints)
    for who, policy in (("trained", result.policy), ("without the network", lambda x: np.zeros((len(x), joints)))):
        score = evaluate(policy, task=task, episodes=options.episodes, threads=options.threads, lanes=options.lanes)
        print(f"{who}: " + ", ".join(f"{name} {x:.3f}" for name, x in zip(names, score)))
    print(out / "policy.npz")
    if not options.no_film:
        film(str(out / "policy.npz"), task, str(out / "film.mp4"))
        print(out / "film.mp4")
    return 0


__all__ = ["Policy", "Task", "VelocityVectorEnv", "film", "main", "walking"]
