"""Solo jumps onto a box of 10 cm, from ten disturbed starts.

    python examples/mpc/jump.py [--starts 10] [--differences]

The cost asks for a path of the base: down, up and ahead, a parabola, and standing on the box. Which foot pushes when, and how hard,
comes from the derivatives of the steps. The first plan is found at rest, then one iteration a step of 10 ms, warm-started.
"""

import argparse
import pathlib

import numpy as np

import tribo

DT, HORIZON, STEPS = 0.01, 40, 110
CROUCH, LEAVE, LAND = 0.2, 0.36, 0.63  # until then it goes down, pushes, flies [s]
AHEAD, UP = 0.48, 0.10  # of the flight [m]
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")


def base_at(t: float) -> tuple[float, float]:
    """x and z of the base, from where it stands [m]."""
    flight = LAND - LEAVE
    if t < CROUCH:
        s = (t / CROUCH) ** 2 * (3 - 2 * t / CROUCH)
        return -0.05 * s, -0.08 * s
    if t < LEAVE:
        s = ((t - CROUCH) / (LEAVE - CROUCH)) ** 2
        return -0.05 + 0.11 * s, -0.08 + 0.13 * s
    if t < LAND:
        s = t - LEAVE
        return 0.06 + AHEAD / flight * s, 0.05 + (UP / flight + 4.905 * flight) * s - 4.905 * s * s
    return 0.06 + AHEAD, UP + 0.05 * max(0.0, 1 - (t - LAND) / 0.1)


def cost(sim: tribo.Simulation) -> tribo.mpc.QuadraticCost:
    stand, nodes = np.array(sim.q), STEPS + HORIZON + 1
    path, speed = np.tile(stand, (nodes, 1)), np.zeros((nodes, sim.model.nv))
    for k in range(nodes):
        t = k * DT
        x, z = base_at(t)
        path[k, 0], path[k, 2] = stand[0] + x, stand[2] + z
        if LEAVE + 0.03 < t < LAND - 0.03:  # legs are drawn in
            bend = np.sin(np.pi * (t - LEAVE) / (LAND - LEAVE))
            more = np.array([0.5, 0.5, 0.8, 0.8]) * bend  # the hind legs have the edge to clear last
            path[k, 8::3] += more * np.sign(stand[8::3])
            path[k, 9::3] += 2 * more * np.sign(stand[9::3])
    speed[:-1, :3] = np.diff(path[:, :3], axis=0) / DT
    q, v = np.full(18, 0.3), np.full(18, 1e-3)
    q[:3], q[3:6], v[:3], v[3:6] = 200, 20, 1, 0.1
    return tribo.mpc.QuadraticCost(sim.model, path, v_ref=speed, q=q, v=v, u=1e-4, q_end=5 * q, v_end=2 * v + 1e-2)


def first_plan(sim: tribo.Simulation) -> np.ndarray:
    """Torques that carry the weight, and push as hard as the parabola needs."""
    feet = [np.array(sim.jacobian(foot))[:3] for foot in FEET]
    mass = 2.5

    def torques(ahead: float, up: float) -> np.ndarray:
        force = mass / 4 * np.array([ahead, 0, up + 9.81])
        return -sum(J.T @ force for J in feet)[6:]

    u = np.zeros((HORIZON, 12))
    flight = LAND - LEAVE
    for k in range(HORIZON):
        t = k * DT
        if t < CROUCH:
            u[k] = torques(0, -2 if t < CROUCH / 2 else 2)
        elif t < LEAVE:
            u[k] = torques(AHEAD / flight / (LEAVE - CROUCH), (UP / flight + 4.905 * flight) / (LEAVE - CROUCH))
    return u


def start(seed: int) -> tribo.Simulation:
    sim = tribo.load(pathlib.Path(__file__).with_name("jump.toml"))
    if seed > 0:
        rng = np.random.default_rng(seed)
        state = sim.state
        state.q[0:2] += rng.uniform(-0.01, 0.01, 2)
        state.q[2] += 0.005
        state.q[7:] += rng.uniform(-0.03, 0.03, 12)
        sim.state = state
    return sim


def run(seed: int, differences: bool = False, steps: int = STEPS) -> tuple[bool, np.ndarray, list[tribo.mpc.Iteration]]:
    """Does it stand on the box; the base at the end; the iterations."""
    sim = start(seed)
    goal = cost(tribo.load(pathlib.Path(__file__).with_name("jump.toml")))
    plan = tribo.mpc.Mpc(sim, goal, HORIZON, inputs=first_plan(sim), most=10.0, differences=differences)
    made = plan.solve(25)
    for _ in range(steps):
        made.append(plan.iterate())
        plan.advance()
    feet = np.array([sim.pose(foot)[:3, 3] for foot in FEET])
    upright = 1 - 2 * (sim.q[3] ** 2 + sim.q[4] ** 2) > 0.95
    on_box = bool((feet[:, 0] > 0.24).all() and (np.abs(feet[:, 2] - 0.1) < 0.02).all())
    return on_box and upright and sim.q[2] > 0.1 + 0.12, np.array(sim.q[:3]), made


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--differences", action="store_true", help="beside it, the same by finite differences")
    arguments = parser.parse_args()
    reached = 0
    for seed in range(arguments.starts):
        stands, base, made = run(seed)
        reached += stands
        print(f"start {seed}: {'stands on the box' if stands else 'does not stand on the box'}, base at {base.round(3)}; {tribo.mpc.spent(made)}",
              flush=True)
    print(f"{reached} of {arguments.starts} stand on the box")
    if arguments.differences:
        ours, theirs = (run(0, d, 2)[2][-3:] for d in (False, True))
        ratio = np.mean([i.seconds["linearise"] for i in theirs]) / np.mean([i.seconds["linearise"] for i in ours])
        print(f"a linearisation by finite differences takes {ratio:.1f} times the CPU time")
