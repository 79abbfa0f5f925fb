"""Derivatives beside central differences at many states: python scripts/derivative_battery.py [SCENE ...] [--states 200]

Stops each shipped scene with a rigid step (with --stepper, each scene that this stepper takes; or those that are named) at so many
times of its run, moves the state a little at random,
and compares the linearisation of the next step with central differences (lin.2). Columns along which a contact or a row changes
its mode are not compared, nor are states that the linearisation flags itself: at a kink (weak), not unique, by differences.
A table of counts with the worst error; exit code 1 where a state that is told analytic is off by more than 1e-6.
"""

import argparse
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import tribo
from tribo.jax import _tangent as tangent

warnings.simplefilter("ignore")

SCENES = Path(__file__).resolve().parent.parent / "scenes"
TOLERANCE = 1e-6
MOST = 200  # coordinates: of larger worlds, whose differences take hours, random products are compared
PRODUCTS = 20
LARGEST = 1000  # coordinates of a dense A
ACCURACIES = (1e-12, 1e-10, 1e-8)  # of the solver


def shipped(stepper: str | None) -> list[str]:
    """Scenes whose stepper is rigid by default; for another one all."""
    scenes = sorted(SCENES.glob("*.toml"))
    return [p.stem for p in scenes if stepper or 'name = "exponential"' not in p.read_text(encoding="utf-8")]


def load(name: str, stepper: str | None) -> tribo.Simulation:
    """With a solver as accurate as its first steps let it be: of 1000 kg on 1 g rounding leaves no 1e-12."""
    for tolerance in ACCURACIES:
        sim = tribo.load(str(SCENES / f"{name}.toml"), stepper=stepper, settings={"contact.tolerance": tolerance})
        start = sim.state.copy()
        if tolerance == ACCURACIES[-1] or all(sim.step().status == tribo.StepStatus.Ok for _ in range(3)):
            sim.state = start
            return sim
    raise AssertionError


def disturbed(sim: tribo.Simulation, rng: np.random.Generator, size: float, down: float) -> tribo.State:
    """The state moved at random, free bodies down a little so that contacts stay closed."""
    state, model = sim.state.copy(), sim.model
    q = np.array(state.q)
    d = size * rng.uniform(-1, 1, model.nv)
    J = tangent(model, q)
    for body in model.bodies:
        if body.joint == tribo.JointKind.Free:
            d[body.iv:body.iv + 3] += J[body.iq:body.iq + 3, body.iv:body.iv + 3].T @ [0, 0, -down]
    q += J @ d
    for body in model.bodies:
        if body.nq > body.nv:  # a quaternion, or (cos, sin)
            last = slice(body.iq + body.nq - min(body.nq, 4), body.iq + body.nq)
            q[last] /= np.linalg.norm(q[last])
    state.q[:] = q
    state.v[:] = np.array(state.v) + 100 * size * rng.uniform(-1, 1, model.nv)
    return state


def moved(sim: tribo.Simulation, kept: tribo.State, d: np.ndarray, h: float) -> np.ndarray:
    """The end of the step from the state moved by h d, in its tangent at the end of the step from the state."""
    model, state = sim.model, kept.copy()
    q = np.array(kept.q)
    J, nv = tangent(model, q), model.nv
    for body in model.bodies:  # exp, since differences go beyond the first order
        i, k = body.iq, body.iv
        if body.nq == body.nv:
            q[i:i + body.nq] += h * d[k:k + body.nv]
            continue
        w = h * d[k + body.nv - 3:k + body.nv]
        a = np.linalg.norm(w)
        x, y, z, c = (*(np.sinc(a / 2 / np.pi) / 2 * w), np.cos(a / 2))
        p = i + body.nq - 4
        u = q[p:p + 4].copy()
        if body.nv == 6:
            q[i:i + 3] += h * J[i:i + 3, k:k + 3] @ d[k:k + 3]
        q[p:p + 4] = [u[3] * x + u[0] * c + u[1] * z - u[2] * y, u[3] * y - u[0] * z + u[1] * c + u[2] * x,
                      u[3] * z + u[0] * y - u[1] * x + u[2] * c, u[3] * c - u[0] * x - u[1] * y - u[2] * z]
    state.q[:] = q
    state.v[:] = np.array(kept.v) + h * d[nv:2 * nv]
    sim.state = state
    sim.step()
    return np.concatenate([np.array(sim.q), np.array(sim.v)])


def check_products(name: str, rng: np.random.Generator, stepper: str | None) -> tuple[dict, list]:
    """20 random products A dx with differences along dx, and w A with w . A dx, after 0.3 s and after 1.5 s of a run."""
    sim = load(name, stepper)
    row, bad = Counter(), []
    row["worst"] = 0.0
    for t in (0.3, 1.5) if sim.model.nv <= LARGEST else ():
        sim.run(t - sim.t)
        kept, model = sim.state.copy(), sim.model
        lin, nv = sim.linearize(), sim.model.nv
        row["states"] += 1
        if lin.method != "analytic" or lin.weak or not lin.unique:
            row["differences" if lin.method != "analytic" else "flagged"] += 1
            row[lin.reason] += lin.method != "analytic"
        for _ in range(PRODUCTS // 2):
            dx, w = rng.normal(size=2 * nv), rng.normal(size=2 * nv)
            y, back = lin.jvp(dx), lin.vjp(w)[0]
            scale = np.abs(w) @ np.abs(y)
            transposed = abs(w @ y - back @ dx) / scale
            levels = []
            for h in (1e-7, 5e-8):
                ends = [moved(sim, kept, dx, s * h) for s in (1, -1)]
                dq = model.difference(ends[1][:model.nq], ends[0][:model.nq])
                levels.append(np.concatenate([dq, ends[0][model.nq:] - ends[1][model.nq:]]) / (2 * h))
            slope = (4 * levels[1] - levels[0]) / 3
            same = np.abs(levels[1] - levels[0]).max() < 1e-4 * np.abs(slope).max()
            row["columns" if same else "disturbed"] += 1
            error = max(transposed, np.abs(slope - y).max() / np.abs(slope).max() if same else 0.0)
            row["compared"] += same
            row["worst"] = max(row["worst"], error)
            if error > 1e-5:  # rounding of the differences over 1e-7
                row["off"] += 1
                bad.append((t, error, 0, 0, lin.margin, []))
        sim.state = kept
    return row, bad


def check_scene(name: str, states: int, rng: np.random.Generator, stepper: str | None, seconds: float) -> tuple[dict, list]:
    sim = load(name, stepper)
    began = time.process_time()
    row, bad = Counter(), []
    row["worst"] = 0.0
    if sim.model.nv > MOST:
        return check_products(name, rng, stepper)
    total = max(sim.scene.duration if hasattr(sim, "scene") else 1.0, sim.dt)
    every = max(int(min(total, 4.0) / sim.dt / states), 1)
    for k in range(states):
        if time.process_time() - began > seconds:
            break
        if k:
            sim.step(every)
        kept = sim.state.copy()
        kind = k % 4  # as it is; a little; more; with sliding
        size, down = [(0.0, 0.0), (2e-5, 4e-5), (2e-4, 1e-4), (1e-3, 1e-3)][kind]
        state = disturbed(sim, rng, size, down) if kind else kept
        sim.state = state
        lin = sim.linearize()
        if lin.method == "analytic" and lin.finite and lin.unique and not lin.weak:
            check = tribo.check_derivatives(sim)
            lin = check.linearization
        modes = [mode.name for _, mode, _ in lin.contacts]
        row["states"] += 1
        row["closed"] += any(m in ("Stick", "Slip") for m in modes)
        row["slip"] += "Slip" in modes
        if lin.method != "analytic":
            row["differences"] += 1
            row[lin.reason] += 1
        elif not lin.finite:
            row["not finite"] += 1
        elif lin.weak or not lin.unique:
            row["flagged"] += 1
        else:
            row["compared"] += 1
            row["columns"] += check.columns
            row["disturbed"] += check.disturbed
            row["divided"] += sim.step().substeps > 1
            row["worst"] = max(row["worst"], check.error)
            if check.error > TOLERANCE:
                row["off"] += 1
                bad.append((k, check.error, check.row, check.column, lin.margin, modes))
        sim.state = kept
    return row, bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*")
    parser.add_argument("--states", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="CPU time after which a scene takes no further state")
    parser.add_argument("--stepper", help="another stepper than the scene's")
    parser.add_argument("--verbose", action="store_true", help="list the states that are off")
    options = parser.parse_args()
    heads = ["states", "closed", "slip", "compared", "divided", "columns", "disturbed", "flagged", "differences", "off"]
    print(f"{'scene':22s}" + "".join(f"{h:>12s}" for h in heads) + f"{'worst':>10s}{'CPU s':>8s}")
    off = 0
    for name in options.scenes or shipped(options.stepper):
        began = time.process_time()
        row, bad = check_scene(name, options.states, np.random.default_rng(options.seed), options.stepper, options.seconds)
        off += row["off"]
        print(f"{name:22s}" + "".join(f"{row[h]:12d}" for h in heads) +
              f"{row['worst']:10.1e}{time.process_time() - began:8.1f}", flush=True)
        for reason, count in row.items():
            if " " in reason:
                print(f"{'':22s}  {count} times: {reason}")
        if options.verbose:
            for k, error, i, j, margin, modes in bad:
                print(f"    state {k}: {error:.1e} at ({i}, {j}), margin {margin:.1e}, {' '.join(modes)}")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
