"""One second from the first keyframe of MJCF files under their own controls, beside MuJoCo: python scripts/mjcf_hold.py FILE or FOLDER …

A line a file: how far joints are from MuJoCo's at the end and how much lower a base is, and the reason, by experiment. MuJoCo runs again with
one thing hardened at a time: contacts, limits, dry friction, equalities (time constants of two steps, impedances of 0.9999, damping ratios of
4, so that nothing rebounds), margins taken away, an exact friction cone, an eighth of the step; and all together at a 32nd, from the same
pose put inside its ranges. What brings MuJoCo to us is the reason, or what Tribo told it does not do. `off itself`: how far these changes, or a nudge of 1e-6 at the start, move MuJoCo from itself. `--json` has all of it.
"""

import contextlib
import json
import pathlib
import re
import sys
import warnings

import mujoco
import numpy as np
from mjcf_survey import mjcf_files

import tribo

SECONDS = 1.0
LARGE, LARGEST = 30, 150  # velocities
FINER = 8  # parts of a step
AGREES = 1e-3  # rad or m
FALL = 0.1  # m
FREE, SLIDE = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_SLIDE)
SOFT = {
    "contacts": [("geom_solref", "geom_solimp"), ("pair_solref", "pair_solimp")],
    "limits": [("jnt_solref", "jnt_solimp"), ("tendon_solref_lim", "tendon_solimp_lim")],
    "dry friction": [("dof_solref", "dof_solimp"), ("tendon_solref_fri", "tendon_solimp_fri")],
    "equalities": [("eq_solref", "eq_solimp")],
}
MARGINS = ("geom_margin", "pair_margin", "jnt_margin", "tendon_margin")
CHANGES = ["step", *SOFT, "margins", "cone"]


class World:
    """A file, its first keyframe, and where joints with one coordinate and heights of free bases are in qpos."""

    def __init__(self, path):
        self.path, self.diverged, self.told = str(path), False, []
        model = self.model()
        address, kinds = model.jnt_qposadr, model.jnt_type
        self.moves = model.nkey > 0 and 0 < model.nv <= LARGEST
        self.joints = [int(address[j]) for j in range(model.njnt) if kinds[j] >= SLIDE]
        self.heights = [int(address[j]) + 2 for j in range(model.njnt) if kinds[j] == FREE]
        self.limited = [int(j) for j in range(model.njnt) if kinds[j] >= SLIDE and model.jnt_limited[j]]

    def model(self):
        return mujoco.MjModel.from_xml_path(self.path)

    def start(self, model, inside):
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        for j in self.limited if inside else []:
            i = model.jnt_qposadr[j]
            data.qpos[i] = np.clip(data.qpos[i], *model.jnt_range[j])
        return data

    def theirs(self, changes=(), inside=False, nudge=0.0, parts=FINER):
        """MuJoCo's coordinates at the end."""
        model = self.model()
        steps = round(SECONDS / model.opt.timestep)
        if changes:
            model.opt.iterations, model.opt.ls_iterations, model.opt.tolerance = 50, 50, 1e-10
        if "step" in changes:
            model.opt.timestep /= parts
            steps *= parts
        for solref, solimp in [pair for change in changes for pair in SOFT.get(change, [])]:
            getattr(model, solref)[:] = 2 * model.opt.timestep, 4
            getattr(model, solimp)[:] = 0.9999, 0.9999, 1e-3, 0.5, 2
        for field in MARGINS if "margins" in changes else ():
            getattr(model, field)[:] = 0
        if "cone" in changes:
            model.opt.cone, model.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10
        data = self.start(model, inside)
        if nudge:
            mujoco.mj_integratePos(model, data.qpos, nudge * np.random.default_rng(0).normal(size=model.nv), 1.0)
        for _ in range(steps):
            mujoco.mj_step(model, data)
        self.diverged = self.diverged or bool(data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number)
        return data.qpos.copy()

    def ours(self, parts=1, inside=False):
        model = self.model()
        data = self.start(model, inside)
        key = model.key(0).name or "key0"
        settings = {"robot.pose": key, "stepper.dt": model.opt.timestep / parts} | ({"controller.pose": key} if model.nu else {})  # activations
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            sim = tribo.load(self.path, controller="actuators" if model.nu else "none", settings=settings)
        self.told = sorted({t for w in told for t in re.findall(r"not supported: ([^:]*)", str(w.message)) if "solref" not in t and "integrator" not in t})
        sim.mujoco_qpos, sim.mujoco_qvel = data.qpos, data.qvel
        for i in range(model.nu):
            with contextlib.suppress(tribo.InvalidInput, KeyError):  # some are not supported: by name
                sim.ctrl[model.actuator(i).name or f"actuator{i}"] = data.ctrl[i]
        sim.run(SECONDS)
        return np.array(sim.mujoco_qpos)

    def apart(self, a, b):
        return float(np.abs(a - b)[self.joints].max(initial=0.0))

    def sunk(self, a, b):
        return float((b - a)[self.heights].max(initial=0.0))

    def beginning(self):
        """How far the keyframe is beyond a range, how deep inside of something, and how far its equalities are open."""
        model = self.model()
        data = self.start(model, inside=False)
        mujoco.mj_forward(model, data)
        off = np.abs(data.qpos - self.start(model, inside=True).qpos).max()
        rows = data.efc_pos[:data.nefc][data.efc_type[:data.nefc] == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)]
        overlap = max(0.0, -min([c.dist for c in data.contact[:data.ncon]], default=0.0))
        return {"beyond a range": float(off), "inside of something": overlap, "off its equalities": float(np.abs(rows).max(initial=0.0))}


def reason(row):
    """In words."""
    if row["off"] <= AGREES:
        return "agrees"
    said = ["told: " + what for what in row["told"]]
    said += [f"starts {x:.2g} {where}" for where, x in row["start"].items() if x > AGREES]
    bound = max(AGREES, row["off"] / 4)
    best = min(row["changes"], key=row["changes"].get)
    if row["changes"][best] <= bound:
        said.append(f"MuJoCo's {best}")
    elif row["hardened"] <= bound:
        moved = [c for c in row["changes"] if abs(row["changes"][c] - row["off"]) > 0.1 * row["off"]]
        said.append("MuJoCo's " + ", ".join(moved or row["changes"]) + " together")
    if row["nudged"] >= max(AGREES, row["hardened"] / 2):
        said.append(f"chaotic: a nudge of 1e-6 moves hardened MuJoCo by {row['nudged']:.2g}")
    if row["falls"] > FALL:
        said.append(f"falls by {row['falls']:.2g} m in MuJoCo too")
    if row["diverges"]:
        said.append("diverges in MuJoCo too")
    if row["off itself"] >= row["off"]:
        said.append("MuJoCo is as far off itself")
    return "; ".join(said) or "not explained"


def compared(path):
    world = World(path)
    if not world.moves:
        return None
    own = world.theirs()
    diverges = world.diverged
    try:
        q = world.ours()
    except tribo.SimulationFailed as error:
        return {"reason": "diverges in MuJoCo too" if diverges else str(error).splitlines()[0]}

    def off(a, b):
        return max(world.apart(a, b), world.sunk(a, b))

    row = {"fixed": not world.heights, "joints": world.apart(q, own), "sunk": world.sunk(q, own), "off": off(q, own), "told": world.told}
    if row["off"] > AGREES:
        row["start"] = world.beginning()
        row["own step"] = off(q, world.ours(FINER))
        ends = {change: world.theirs([change]) for change in CHANGES}
        row["changes"] = {change: off(q, end) for change, end in ends.items()}
        parts = FINER if world.model().nv > LARGE else 4 * FINER
        hard, nudged = (world.theirs(CHANGES, inside=True, nudge=nudge, parts=parts) for nudge in (0.0, 1e-6))
        row["hardened"], row["nudged"] = off(world.ours(FINER, inside=True), hard), off(hard, nudged)
        row["falls"] = world.sunk(own, world.start(world.model(), inside=False).qpos)
        row["off itself"] = max(off(own, end) for end in [*ends.values(), world.theirs(nudge=1e-6)])
        row["diverges"] = diverges
    return row | {"reason": reason(row)}


def main():
    warnings.simplefilter("ignore")
    paths = [pathlib.Path(a) for a in sys.argv[1:] if not a.startswith("--")]
    for path in (p for given in paths for p in (mjcf_files(given) if given.is_dir() else [given])):
        try:
            row = compared(path)
        except tribo.InvalidInput as error:
            row = {"reason": "refused: " + str(error).splitlines()[0]}
        except ValueError:
            continue  # MuJoCo does not read it
        if row is None:
            continue
        if "--json" in sys.argv:
            print(json.dumps({"file": str(path)} | row), flush=True)
        else:
            numbers = [row.get(key) for key in ("joints", "sunk", "hardened", "off itself")]
            print(f"| {path.name} | {'fixed' if row.get('fixed') else 'free'} | " + " | ".join("" if x is None else f"{x:.1e}" for x in numbers)
                  + f" | {row['reason']} |", flush=True)


if __name__ == "__main__":
    main()
