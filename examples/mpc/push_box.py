"""A ball pushes a box to a goal pose, 1 cm and 3 degrees, from ten disturbed starts.

    python examples/mpc/push_box.py [--starts 10] [--differences]

The goal is given as a cost; that the ball must go round a corner of the face to turn the box comes from the derivatives of the
contacts. Two iterations a step of 10 ms, warm-started with the plan of the step before: with one, a start whose first plan is
poor ends 12 mm off.
"""

import argparse
import pathlib

import numpy as np

import tribo

HORIZON = 100  # nodes of 10 ms; the goal is to be reached at the end
PER_STEP = 2  # iterations
BALL = -0.071  # x of the ball where its joint is at 0 [m]
GOAL = (0.2, 0.03, 0.3)  # x, y [m], yaw [rad]


class Beside:
    """A cost, and half the weighted square of the way from the box to the ball: without touch it would have no slope."""

    def __init__(self, of: tribo.mpc.Cost, weight: float) -> None:
        self.of, self.weight = of, weight

    def way(self, q):
        return np.array([q[0] + BALL - q[2], q[1] - q[3]])

    def value(self, node, q, v, u):
        way = self.way(q)
        return self.of.value(node, q, v, u) + 0.5 * self.weight * way @ way

    def expand(self, node, q, v, u):
        l_x, l_xx, l_u, l_uu = self.of.expand(node, q, v, u)
        x, y, z, w = q[5:9]
        slope = np.zeros((2, len(l_x)))
        slope[0, 0] = slope[1, 1] = 1
        slope[:, 2:5] = [[2 * (y * y + z * z) - 1, 2 * (w * z - x * y), -2 * (w * y + x * z)],
                         [-2 * (x * y + w * z), 2 * (x * x + z * z) - 1, 2 * (w * x - y * z)]]  # the box moves along its axes
        return l_x + self.weight * slope.T @ self.way(q), l_xx + self.weight * slope.T @ slope, l_u, l_uu


def cost(model: tribo.Model, q: np.ndarray) -> tribo.mpc.Cost:
    goal = q.copy()
    goal[2:4] = GOAL[:2]
    goal[5:9] = 0.0, 0.0, np.sin(GOAL[2] / 2), np.cos(GOAL[2] / 2)
    place = np.array([0, 0, 1, 1, 0, 0, 0, 0.1])  # of x, y and yaw of the box
    return Beside(tribo.mpc.QuadraticCost(model, goal, q=1 * place, q_end=2000 * place, v=1e-3, v_end=1.0, u=1e-4), 0.5)


def start(seed: int) -> tribo.Simulation:
    """The box turned a little, the ball at another place of its face, touching it."""
    rng = np.random.default_rng(seed)
    sim = tribo.load(pathlib.Path(__file__).with_name("pusher.toml"), controller="none")
    state = sim.state
    yaw, along = (0.0, 0.0) if seed == 0 else rng.uniform([-0.05, -0.02], [0.05, 0.02])
    face = np.array([-0.0702, along])  # where the ball touches, seen from the box
    turned = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]) @ face
    state.q[0:2] = turned - [BALL, 0]
    state.q[5:9] = 0, 0, np.sin(yaw / 2), np.cos(yaw / 2)
    sim.state = state
    return sim


def run(seed: int, differences: bool = False, steps: int = HORIZON) -> tuple[float, float, list[tribo.mpc.Iteration]]:
    """How far from the goal [m], [degrees], and the iterations."""
    sim = start(seed)
    first = np.zeros((HORIZON, 2))
    first[:30, 0] = 1.5  # a push ahead: without touch there would be no slope
    plan = tribo.mpc.Mpc(sim, cost(sim.model, np.array(sim.q)), HORIZON, inputs=first, end=HORIZON,
                         differences=differences)
    made = plan.solve(40)
    for _ in range(steps):
        made += [plan.iterate() for _ in range(PER_STEP)]
        plan.advance()
    x, y, yaw = sim.q[2], sim.q[3], 2 * np.arctan2(sim.q[7], sim.q[8])
    return float(np.hypot(x - GOAL[0], y - GOAL[1])), float(np.degrees(abs(yaw - GOAL[2]))), made


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--differences", action="store_true", help="beside it, the same by finite differences")
    arguments = parser.parse_args()
    reached = 0
    for seed in range(arguments.starts):
        off, turn, made = run(seed)
        reached += off < 0.01 and turn < 3
        print(f"start {seed}: {1e3 * off:.1f} mm, {turn:.2f} degrees from the goal; {tribo.mpc.spent(made)}", flush=True)
    print(f"{reached} of {arguments.starts} reach the goal")
    if arguments.differences:
        ours, theirs = (run(0, d, 3)[2] for d in (False, True))
        ratio = np.mean([i.seconds["linearise"] for i in theirs]) / np.mean([i.seconds["linearise"] for i in ours])
        print(f"a linearisation by finite differences takes {ratio:.1f} times the CPU time")
