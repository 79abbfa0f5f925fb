"""Random scenes: python scripts/scene_fuzz.py [--first 0] [--scenes 2000] [--steps 300] [--out FILE] [--show SEED]

Trees of boxes, capsules, cylinders, hulls and spheres with joints, ranges, friction and springs, objects of every shape,
masses over six decades, dt from 0.1 to 50 ms, driven and not; four of five run under the rigid stepper. Each scene is made by
its seed alone, in a process that is ended where it hangs. Prints what went wrong, by class, with the seeds. Exit code 1 where a
scene crashed, hung, was refused, or left numbers that are not finite; with --strict also for what else is in capitals.
--show SEED prints the scene file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from typing import Any

import numpy as np
from cpu_seconds import used

STEPPERS = ["exponential", "implicit-euler", "runge-kutta", "momentum", "relaxed", "explicit-euler", "macroscopic", "microscopic"]
HANG = 120.0  # [s] of CPU time without an end of a scene; beside the work of others a time of the clock says little
SLOW = 20.0  # [s] of CPU time that a scene gets


class Draft:
    """A scene file being drawn."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.lines: list[str] = []
        self.motors: set[str] = set()
        self.placed = 0
        self.compliance = 0.0  # [m/N]
        self.dt = self.power(-4, np.log10(5e-2))
        self.stepper = "rigid" if self.chance(0.78) else str(self.random.choice(STEPPERS))
        self.rigid = self.stepper == "rigid"
        self.decades = 6 if self.chance(0.8) else 1

    def chance(self, p: float) -> bool:
        return bool(self.random.random() < p)

    def between(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def power(self, low: float, high: float) -> float:
        return float(10 ** self.between(low, high))

    def mass(self) -> float:
        return self.power(-self.decades / 2, self.decades / 2)

    def table(self, head: str, **keys: Any) -> None:
        self.lines.append(head)
        self.lines += [f"{key} = {_toml(value)}" for key, value in keys.items() if value is not None]

    def shape(self, kinds: list[str]) -> tuple[dict[str, Any], float]:
        """Keys of a shape, and its size [m]."""
        kind, size = str(self.random.choice(kinds)), self.power(-1.4, -0.4)
        if kind == "box":
            return {"shape": kind, "size": size * self.random.uniform(0.2, 1, 3)}, size
        if kind == "sphere":
            return {"shape": kind, "radius": size / 2}, size
        if kind == "ellipsoid":
            return {"shape": kind, "radii": size * self.random.uniform(0.2, 0.5, 3)}, size
        if kind == "hull":
            points = self.random.normal(size=(int(self.random.integers(5, 30)), 3))
            return {"shape": kind, "vertices": size / 2 * points / np.linalg.norm(points, axis=1)[:, None]}, size
        return {"shape": kind, "radius": size * self.between(0.1, 0.4), "length": size * self.between(0.1, 1)}, size

    def place(self, size: float = 0.0) -> list[float]:
        """A cell of a grid, nine to a storey."""
        cell, self.placed = self.placed, self.placed + 1
        height = 0.9 * size + self.between(0, 0.02) if size else self.between(0.8, 1)
        return [0.9 * (cell % 3 - 1) + self.between(-0.1, 0.1), 0.9 * (cell // 3 % 3 - 1) + self.between(-0.1, 0.1),
                height + 0.9 * (cell // 9)]

    def world(self) -> None:
        self.lines.append("gravity = [0.0, 0.0, -9.81]")
        self.table("[stepper]", name=self.stepper, dt=self.dt, duration=1000.0)
        surface: dict[str, Any] = {"mu": self.between(0, 1.5) if self.chance(0.9) else 0.0}
        if not self.rigid:
            surface.update(stiffness=self.power(3, 5), damping=self.power(0, 2.5))
        else:
            if self.chance(0.3):
                surface["restitution"] = self.between(0, 0.8)
            if self.chance(0.15):
                surface.update(rolling=self.between(0, 0.05), torsional=self.between(0, 0.05))
            if self.chance(0.1):
                surface["compliance"] = self.compliance = self.power(-8, -4)
        self.table("[material.default]", **surface)
        if self.chance(0.15):
            self.table("[ground]", normal=[self.between(-0.4, 0.4), self.between(-0.4, 0.4), 1.0])
        elif self.chance(0.15):
            self.table("[ground]", none=True)
            self.table("[[terrain]]", name="terrain", spacing=self.between(0.1, 0.4), points=[60, 60],
                       amplitude=self.between(0, 0.2), length=[self.between(0.5, 3), self.between(0.5, 3)],
                       roughness=self.between(0, 0.03), seed=int(self.random.integers(1000)))

    def objects(self, n: int) -> None:
        for i in range(n):
            keys, size = self.shape(["box", "sphere", "capsule", "cylinder", "ellipsoid", "hull"])
            self.table("[[object]]", name=f"o{i}", **keys, mass=self.mass(), position=self.place(size),
                       rpy=self.random.uniform(-3, 3, 3),
                       velocity=[self.between(-1, 1), self.between(-1, 1), self.between(-2, 0)],
                       angular_velocity=3 * self.random.normal(size=3))

    def robot(self, name: str) -> None:
        free = self.chance(0.6)
        self.table("[[robot]]", name=name, self_collision=self.chance(0.3))
        for i in range(int(self.random.integers(1, 8))):
            if i == 0:
                joint = "free" if free else str(self.random.choice(["revolute", "prismatic", "spherical", "continuous"]))
                parent, position = "world", self.place()
            else:
                joint = str(self.random.choice(["revolute", "revolute", "continuous", "prismatic", "spherical"]))
                parent = f"l{int(self.random.integers(max(0, i - 2), i))}"
                position = list(self.random.uniform(-0.5, 0.5, 3))
            self.link(name, f"l{i}", parent, joint, position)

    def link(self, robot: str, name: str, parent: str, joint: str, position: list[float]) -> None:
        shape, _ = self.shape(["box", "sphere", "capsule", "hull", "cylinder"])
        keys: dict[str, Any] = {"name": name, "parent": parent, "joint": joint, "position": position,
                                "rpy": self.random.uniform(-1, 1, 3), "mass": self.mass(),
                                "com": self.random.uniform(-0.1, 0.1, 3), **shape}
        if joint in ("revolute", "prismatic", "continuous"):
            axis = self.random.normal(size=3)
            keys["axis"] = axis / np.linalg.norm(axis)
            if self.chance(0.4):
                keys["damping"] = self.power(-3, 1)
            if self.rigid and self.chance(0.3):
                keys["friction"] = self.power(-3, 1)
            if self.rigid and self.chance(0.2):
                keys["stiffness"] = self.power(-1, 2)
            if self.chance(0.2):
                keys["armature"] = self.power(-4, -1)
            if joint != "continuous" and self.chance(0.5):
                keys["range"] = [self.between(-1, -0.01), self.between(0.01, 1)]
            keys.update(effort_limit=self.power(0, 2), speed=float(self.random.normal()))
            self.motors.add(robot)
        self.table("[[robot.link]]", **keys)


def _toml(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_toml(x) for x in value) + "]"
    return str(value) if isinstance(value, int) else repr(float(value))


def make(seed: int) -> dict[str, Any]:
    """The scene of a seed: its text, how it is driven ("", "pd" or "torque"), dt and stepper."""
    draft = Draft(seed)
    draft.world()
    objects = int(draft.random.integers(0, 7))
    draft.objects(objects)
    for k in range(int(draft.random.integers(0 if objects else 1, 3))):
        draft.robot(f"r{k}")
    drive = ""
    if draft.motors and draft.chance(0.4):
        drive = "pd"
        for robot in sorted(draft.motors):
            draft.table("[[controller]]", name="pd", robot=robot, kp=draft.power(-1, 3), kd=draft.power(-2, 1.5),
                        implicit=draft.chance(0.7))
    elif draft.motors and draft.chance(0.4):
        drive = "torque"
    return {"seed": seed, "text": "\n".join(draft.lines) + "\n", "drive": drive, "dt": draft.dt, "stepper": draft.stepper,
            "compliance": draft.compliance}


def absurd(sim: Any, before: Any, energy: float, scene: dict[str, Any]) -> float:
    """The largest contact force, in units of what would stop all that moves within the step, 100 m/s faster than it is. What
    turns on a long arm moves faster than its coordinates: a mass m of energy T has the momentum sqrt(2 m T) at most."""
    mass = sum(b.mass for b in sim.model.bodies)
    speed = 100.0 + float(np.abs(before).max(initial=0.0)) + float(np.abs(sim.v).max(initial=0.0))
    most = max((float(np.linalg.norm(c.force)) for c in sim.contacts), default=0.0)
    return most * scene["dt"] / (mass * speed + float(np.sqrt(2 * mass * energy)))


def deepest(sim: Any, given_way: dict[tuple[str, str], float]) -> float:
    """The deepest overlap in excess of what the surfaces gave way by their law -gap = C f in the step before [m]: a contact
    reports its gap of the step's beginning, and the force that its end was solved for."""
    return max((-c.gap - given_way.get((c.name_a, c.name_b), 0.0) for c in sim.contacts), default=0.0)


def ways_given(sim: Any, compliance: float) -> dict[tuple[str, str], float]:
    """C f by pair of shapes [m]."""
    ways: dict[tuple[str, str], float] = {}
    for c in sim.contacts:
        pair = c.name_a, c.name_b
        ways[pair] = max(ways.get(pair, 0.0), compliance * float(np.dot(c.force, c.normal)))
    return ways


def play(seed: int, steps: int) -> dict[str, Any]:
    """Runs the scene of a seed, and says how it went."""
    import tribo

    scene = make(seed)
    out: dict[str, Any] = {key: scene[key] for key in ("seed", "drive", "dt", "stepper")}
    began = time.process_time()
    try:
        sim = tribo.parse(scene["text"])
    except tribo.InvalidInput as error:
        return {**out, "refused": str(error)[:300]}
    out["warnings"] = tribo.advice(sim.scene)
    out["overlaps"] = any("overlap at the start" in text for text in sim.scene.warnings)
    if scene["drive"] == "torque":
        random = np.random.default_rng(seed + 1)
        sim.control(lambda t, q, v: 10 ** random.uniform(-1, 2) * random.standard_normal(sim.model.nv))
    count: dict[str, int] = defaultdict(int)
    highest, overlap, force, kinetic = -np.inf, [], 0.0, 0.0
    compliance, ways, beyond = scene["compliance"], {}, []
    for _ in range(steps):
        before = np.array(sim.v)
        report = sim.step()
        count[report.status.name] += 1
        if report.status.name in ("NotFinite", "Stopped"):
            out["ended"] = {"status": report.status.name, "step": sum(count.values())}
            break
        energy = report.energy
        highest = max(highest, energy.kinetic + energy.potential + energy.elastic)
        overlap.append(report.penetration)
        beyond.append(deepest(sim, ways))
        ways = ways_given(sim, compliance) if compliance else ways
        force = max(force, absurd(sim, before, kinetic + energy.kinetic, scene))
        kinetic = energy.kinetic
        if time.process_time() - began > SLOW:
            out["slow"] = sum(count.values())
            break
    audit = sim.audit
    out.update(steps=sum(count.values()), status=dict(count), ledger=audit.ledger_error, gained=audit.gained,
               warned=sim.warning, force=force, cpu=time.process_time() - began,
               finite=bool(np.isfinite(sim.q).all() and np.isfinite(sim.v).all()))
    if overlap:
        out.update(overlap_grew=max(overlap) - overlap[0], beyond_law=max(beyond) - overlap[0],
                   gain=(highest - audit.energy_start) / max(audit.energy_scale, 1e-9))
    return out


def findings(r: dict[str, Any]) -> list[str]:
    """Classes of what went wrong; those in capitals must not occur."""
    found = []
    for key, name in (("crash", "CRASH"), ("hang", "HANG"), ("refused", "REFUSED"), ("slow", "slow")):
        if key in r:
            found.append(name)
    if "steps" not in r:
        return found
    warned = bool(r["warnings"] or r["warned"])  # before the run, or before it ended
    deep = "that contact allows" in r["warned"]  # which says nothing of energy
    if "ended" in r:
        found.append("ended after a warning" if warned else "ENDED WITHOUT A WARNING")
    if not r["finite"]:
        found.append("NOT FINITE")
    for status in ("Unconverged", "Infeasible", "Wedged"):
        if r["status"].get(status):
            found.append(status.lower())
    if r.get("gain", 0) > 0.01 and not r["drive"]:
        told = bool(r["warnings"] or (r["warned"] and not deep)) or r["gained"] > 0.01
        found.append("gain of energy after an overlap at the start, warned" if r["overlaps"] else
                     "gain of energy, told" if told else "GAIN OF ENERGY, SILENT")
    if r["ledger"] > 1e-6:
        told = "ended" in r or r["status"].get("Unconverged")  # an unsolved step does not balance
        found.append("ledger open after an unsolved step" if told else "LEDGER OPEN")
    if r["force"] > 1:
        found.append("ABSURD FORCE")
    if r.get("overlap_grew", 0) > 0.01:
        found.append("overlap grew by 1 cm, told" if warned or r["overlaps"] else
                     "overlap grew by 1 cm, by its law C f" if r["beyond_law"] < 1e-3 else "OVERLAP GREW BY 1 CM, SILENT")
    return found


def child(first: int, last: int, steps: int, path: str) -> None:
    with open(path, "a", encoding="utf-8") as out:
        for seed in range(first, last):
            with open(path + ".at", "w", encoding="ascii") as at:
                at.write(str(seed))
            out.write(json.dumps(play(seed, steps)) + "\n")
            out.flush()


def supervise(first: int, last: int, steps: int, path: str) -> None:
    """A crash or a hang costs one seed."""
    while first < last:
        worker = subprocess.Popen([sys.executable, "-W", "ignore", __file__, "--first", str(first), "--scenes", str(last - first),
                                   "--steps", str(steps), "--out", path, "--child"], stderr=subprocess.PIPE, text=True)
        seen, since, fate = -1, 0.0, {}
        while worker.poll() is None:
            time.sleep(0.2)
            at, now = _at(path), used(worker.pid)
            if at != seen:
                seen, since = at, now
            elif now - since > HANG:
                worker.kill()
                fate = {"hang": True}
        said = worker.stderr.read() if worker.stderr else ""
        worker.wait()
        if worker.returncode == 0:
            return
        seen = _at(path)
        with open(path, "a", encoding="utf-8") as out:
            out.write(json.dumps({"seed": seen, **(fate or {"crash": worker.returncode, "said": said[-500:]})}) + "\n")
        first = max(seen, first) + 1


def _at(path: str) -> int:
    try:
        with open(path + ".at", encoding="ascii") as file:
            return int(file.read() or -1)
    except (OSError, ValueError):
        return -1


def report(results: list[dict[str, Any]], strict: bool) -> int:
    classes: dict[str, list[int]] = defaultdict(list)
    for r in results:
        for name in findings(r):
            classes[name].append(r["seed"])
    rigid = [r for r in results if r.get("stepper") == "rigid" and "steps" in r]
    fine = [r for r in rigid if r["dt"] <= 0.01]
    missed = sum(r["status"].get("Unconverged", 0) for r in fine)
    total = sum(r["steps"] for r in fine)
    print(f"{len(results)} scenes, {sum(r.get('steps', 0) for r in results)} steps, {sum(r.get('cpu', 0) for r in results):.0f} s of CPU")
    print(f"rigid, dt up to 10 ms: {missed} of {total} steps unconverged; all dt: "
          f"{sum(r['status'].get('Unconverged', 0) for r in rigid)} of {sum(r['steps'] for r in rigid)}")
    for name, seeds in sorted(classes.items()):
        print(f"{len(seeds):5d}  {name:52s} seeds {' '.join(map(str, seeds[:12]))}{' …' if len(seeds) > 12 else ''}")
    hard = {"CRASH", "HANG", "REFUSED", "NOT FINITE"}
    return int(any(name in hard or (strict and name.isupper()) for name in classes))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--scenes", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--out", default="build/scene_fuzz.jsonl")
    parser.add_argument("--show", type=int)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.show is not None:
        print(make(o.show)["text"], end="")
        return 0
    if o.child:
        child(o.first, o.first + o.scenes, o.steps, o.out)
        return 0
    if os.path.exists(o.out):
        os.remove(o.out)
    supervise(o.first, o.first + o.scenes, o.steps, o.out)
    with open(o.out, encoding="utf-8") as file:
        return report([json.loads(line) for line in file], o.strict)


if __name__ == "__main__":
    sys.exit(main())
