"""Mass and friction of a pushed cube, found from its motion by derivatives of the steps.

dx/d(parameters) goes along with the run: each step has dx+ = A dx + (its own slope by the parameters). Gauss and Newton's method
on the difference to what was measured then needs a handful of runs.
"""

import numpy as np

import tribo

DT, STEPS = 0.002, 150


def cube(mass: float, friction: float) -> tribo.Simulation:
    """A cube on the floor, pushed by 8 N."""
    return tribo.parse(f"""
[[object]]
name = "cube"
shape = "box"
size = 0.2
mass = {mass:.17g}
position = [0.0, 0.0, 0.1]
[material.default]
mu = {friction:.17g}
[stepper]
dt = {DT!r}
[[push]]
body = "cube"
force = [8.0, 0.0, 0.0]
start = 0.0
duration = 0.15
""")


def measured(mass: float, friction: float) -> np.ndarray:
    sim = cube(mass, friction)
    way = []
    for _ in range(STEPS):
        sim.step()
        way.append(sim.q[0])
    return np.array(way)


def with_slopes(mass: float, friction: float) -> tuple[np.ndarray, np.ndarray]:
    """The way, and its slopes by mass and friction."""
    sim = cube(mass, friction)
    dx = np.zeros((12, 2))
    way, slopes = [], []
    for _ in range(STEPS):
        lin = sim.linearize(parameters=["mass:cube", "friction:default"])
        dx = lin.A @ dx + lin.P
        sim.step()
        way.append(sim.q[0])
        slopes.append(dx[0].copy())  # along x: the cube does not turn
    return np.array(way), np.array(slopes)


truth = (1.3, 0.35)
target = measured(*truth)
guess = np.array([1.0, 0.5])
for iteration in range(8):
    way, slopes = with_slopes(*guess)
    error = target - way
    print(f"{iteration}: mass {guess[0]:.6f} kg, friction {guess[1]:.6f}, worst error {np.abs(error).max():.1e} m")
    if np.abs(error).max() < 1e-9:
        break
    guess = np.maximum(guess + np.linalg.lstsq(slopes, error, rcond=None)[0], [0.1, 0.01])

assert np.allclose(guess, truth, rtol=1e-5), guess
