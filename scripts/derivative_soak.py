"""Linearises at random states of all robots: python scripts/derivative_soak.py [ROBOT ...] [--states 1000] [--seconds 60] [--seed 1]
[--stepper NAME]

Joints anywhere within (and a little beyond) their limits, the base turned at random at heights from under the ground to the air, velocities
up to 10 rad/s and 3 m/s. Every linearisation must be finite, or say that it is not: exit code 1 for a NaN or an exception.
"""

import argparse
import sys
import time
import warnings
from collections import Counter

import numpy as np

import tribo

warnings.simplefilter("ignore")


def random_state(sim: tribo.Simulation, rng: np.random.Generator) -> tribo.State:
    model, state = sim.model, sim.state.copy()
    q, v = np.array(state.q), np.zeros(model.nv)
    for body in model.bodies:
        if body.nq > body.nv:  # a quaternion, or (cos, sin)
            size = min(body.nq, 4)
            turn = rng.normal(size=size)
            q[body.iq + body.nq - size:body.iq + body.nq] = turn / np.linalg.norm(turn)
            if body.nv == 6:
                q[body.iq:body.iq + 3] = [*rng.uniform(-1, 1, 2), rng.uniform(-0.2, 1.2)]
        else:
            for k in range(body.nv):
                low, high = max(model.lower[body.iv + k], -3.0), min(model.upper[body.iv + k], 3.0)
                q[body.iq + k] = rng.uniform(low - 0.02, high + 0.02) if low < high else low
        fast = rng.choice([0.0, 0.1, 1.0])
        v[body.iv:body.iv + body.nv] = fast * rng.uniform(-10, 10, body.nv)
        if body.nv == 6:
            v[body.iv:body.iv + 3] *= 0.3
    state.q[:] = q
    state.v[:] = v
    state.forget_contacts()
    return state


def soak(name: str, states: int, seconds: float, rng: np.random.Generator, stepper: str | None) -> Counter:
    count = Counter()
    sim = tribo.load(name, stepper=stepper)
    began = time.process_time()
    for _ in range(states):
        if time.process_time() - began > seconds:
            break
        state = random_state(sim, rng)
        try:
            sim.state = state
            lin = sim.linearize()
        except Exception as error:  # none is allowed, whatever it is
            count["raised"] += 1
            print(f"    {name}: {type(error).__name__}: {str(error)[:150]}", flush=True)
            continue
        count["done"] += 1
        count["analytic"] += lin.method == "analytic"
        count["weak"] += lin.weak > 0
        count["not unique"] += not lin.unique
        count["not finite"] += not lin.finite
        if not (np.isfinite(lin.A).all() and np.isfinite(lin.B).all()):
            count["NaN"] += 1
            print(f"    {name}: NaN at q = {list(state.q)}, v = {list(state.v)}", flush=True)
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*")
    parser.add_argument("--states", type=int, default=1000, help="of each robot")
    parser.add_argument("--seconds", type=float, default=np.inf, help="CPU time for each robot, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stepper", help="another stepper than rigid")
    options = parser.parse_args()
    heads = ["done", "analytic", "weak", "not unique", "not finite", "NaN", "raised"]
    print(f"{'robot':26s}" + "".join(f"{h:>12s}" for h in heads) + f"{'CPU s':>8s}")
    total = Counter()
    for name in options.robots or tribo.robots():
        began = time.process_time()
        count = soak(name, options.states, options.seconds, np.random.default_rng(options.seed), options.stepper)
        total += count
        print(f"{name:26s}" + "".join(f"{count[h]:12d}" for h in heads) + f"{time.process_time() - began:8.1f}", flush=True)
    print(f"{'all':26s}" + "".join(f"{total[h]:12d}" for h in heads))
    return 1 if total["NaN"] or total["raised"] else 0


if __name__ == "__main__":
    sys.exit(main())
