"""ticks.py OUT.npz: states at the ticks of control along several motions, and the torques that Tribo's controller answers.

The first half of scripts/tsid/check. Each case has rows of t, q, v and tau, and beside them all that its program depends on.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
import tempfile
import warnings
from typing import Any

import numpy as np
import tomllib

import tribo

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
# Case: the scene whose states are taken, the scene whose controller is asked, keys of it that differ, effort limit [N m].
CASES: dict[str, tuple[str, str, dict[str, Any], float | None]] = {
    "solo-squat-tasks": ("solo-squat-tasks", "solo-squat-tasks", {}, None),
    "solo, cones bind": ("solo-squat-tasks", "solo-squat-tasks", {"mu": 0.1, "amplitude": [0.03, 0.0, 0.0], "rate": 6.0}, None),
    "solo, limits bind": ("solo-squat-tasks", "solo-squat-tasks", {}, 0.6),
    "solo-squat": ("solo-squat", "solo-squat-tasks", {}, None),
    "romeo-sway": ("romeo-sway", "romeo-sway", {}, None),
    "romeo, cones bind": ("romeo-sway", "romeo-sway",
                          {"mu": 0.05, "rate": 4.0, "frame": [{"name": "waist", "weight": 1e-2, "kp": 10.0}]}, None),
    "romeo-walk": ("romeo-walk", "romeo-sway", {"amplitude": [0.0, 0.0, 0.0]}, None),
}


def weaken(scene: pathlib.Path, effort: float, folder: pathlib.Path) -> dict[str, Any]:
    """Settings for the same robot with other effort limits, which only its file can give."""
    start = tribo.load(scene)
    member = start.model.members[0]
    file = folder / "weak.urdf"
    file.write_text(re.sub('effort="[^"]*"', f'effort="{effort}"', pathlib.Path(member.source).read_text()))
    names = [start.model.geometries[g].name.split("/")[1] for g in member.feet]
    return {"robot.model": str(file), "robot.pose": start.q, "robot.contact": "feet", "robot.feet": names}


def feet_of(world: tribo.Model) -> dict[str, list[list[float]]]:
    """Joint -> its contact points, in the order of the controller."""
    feet: dict[str, list[list[float]]] = {}
    for g in world.members[0].feet:
        joint = world.bodies[world.geometries[g].body].name.split("/")[1]
        feet.setdefault(joint, []).append(np.array(world.geometries[g].placement)[:3, 3].tolist())
    return feet


def ticks(states: str, tasks: str, changes: dict[str, Any], effort: float | None, folder: pathlib.Path) -> dict[str, Any]:
    scene = SCENES / f"{tasks}.toml"
    keys = tomllib.loads(scene.read_text())["controller"] | changes
    settings = {f"controller.{key}": value for key, value in changes.items()}
    if effort is not None:
        settings |= weaken(scene, effort, folder)
    # The controller acts in its own run, or in a world that is put into each state of another.
    other = states != tasks
    sim = tribo.load(scene, settings=settings, **({"stepper": "rigid", "dt": keys["period"]} if other else {}))
    run = tribo.load(SCENES / f"{states}.toml") if other else sim
    start, steps, rows = sim.q.copy(), round(keys["period"] / run.dt), []
    for _ in range(round(run.scene.duration / keys["period"])):
        q, v = run.q.copy(), run.v.copy()
        if other:
            sim.set(q=q, v=v)
        t = sim.t
        sim.step(1)
        rows.append(np.concatenate([[t], q, v, sim.tau[6:]]))
        run.step(steps if other else steps - 1)
    meta = {"urdf": tribo.load(scene).model.members[0].source, "keys": keys, "feet": feet_of(sim.model)}
    return {"rows": np.array(rows), "start": start, "limits": np.array(sim.model.effort_limit)[6:],
            "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)}


def main(out: str) -> None:
    warnings.simplefilter("ignore")  # of inertias in Romeo's file
    with tempfile.TemporaryDirectory() as folder:
        cases = {name: ticks(*case, pathlib.Path(folder)) for name, case in CASES.items()}
    np.savez_compressed(out, **{f"{name}/{key}": array for name, case in cases.items() for key, array in case.items()})


if __name__ == "__main__":
    main(sys.argv[1])
