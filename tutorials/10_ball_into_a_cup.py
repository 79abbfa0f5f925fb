"""A ball that bounces once into a cup, aimed by gradients through the bounce.

How high the ball is after a bounce depends on when it bounced. A step that ends where contacts begin and end has this in its derivative;
a plain step does not: it strikes at a multiple of dt, whatever the throw, and its slope of the height is that of another throw.
"""

import numpy as np

import tribo

DT, STEPS = 0.01, 90
CUP = np.array([1.2, 0.45])  # place and height of its middle [m]
STEPPERS = {"steps that end at events": 'name = "exponential"\nevents = true', "plain steps": 'name = "rigid"'}
BOUNCE = {"steps that end at events": "stiffness = 20000.0\ndamping = 0.0", "plain steps": "restitution = 1.0"}


def thrown(velocity: np.ndarray, kind: str, walls: str = "") -> tribo.Simulation:
    """A ball of 0.1 kg, thrown 0.5 m above the floor."""
    return tribo.parse(f"""
[[object]]
name = "ball"
shape = "sphere"
radius = 0.05
mass = 0.1
position = [0.0, 0.0, 0.5]
velocity = [{velocity[0]:.17g}, 0.0, {velocity[1]:.17g}]
[material.default]
mu = 0.0
{BOUNCE[kind]}
[stepper]
{STEPPERS[kind]}
dt = {DT!r}
{walls}
""")


def flight(velocity: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Where the ball is at the end (x, z), and the slopes of that by the throw."""
    sim = thrown(velocity, kind)
    dx = np.zeros((12, 2))
    dx[6, 0] = dx[8, 1] = 1.0
    for _ in range(STEPS):
        dx = sim.linearize().A @ dx
        sim.step()
    return sim.q[[0, 2]].copy(), dx[[0, 2]]


def aim(kind: str) -> tuple[np.ndarray, list[float]]:
    """Newton's method on the place at the end."""
    throw, misses = np.array([1.0, 1.0]), []
    for _ in range(8):
        place, slopes = flight(throw, kind)
        misses.append(float(np.linalg.norm(place - CUP)))
        if misses[-1] < 1e-7:
            break
        throw = throw + np.clip(np.linalg.solve(slopes, CUP - place), -0.5, 0.5)
    return throw, misses


for kind in STEPPERS:
    slope = flight(np.array([1.0, 1.0]), kind)[1][1, 1]
    throw, misses = aim(kind)
    print(f"{kind}: dz/dv_z {slope:.4f}, throw ({throw[0]:.4f}, {throw[1]:.4f}) m/s, misses " + ", ".join(f"{m:.0e}" for m in misses) + " m")
    if kind == "steps that end at events":
        best, found = throw, misses

# With a bounce at t1 at the speed V: dz/dv_z = (v/V)(T - t1) + (g (T - t1) - V)(1 + v/V)/g.
g, v, T = 9.81, 1.0, DT * STEPS
V = np.sqrt(v * v + 2 * g * 0.45)
t1 = (v + V) / g
print(f"closed form, hard floor: dz/dv_z {v / V * (T - t1) + (g * (T - t1) - V) * (1 + v / V) / g:.4f}")

cup = "".join(f"""
[[kinematic]]
name = "wall{i}"
shape = "box"
size = [{size[0]}, {size[1]}, {size[2]}]
material = "felt"
position = [{place[0]}, {place[1]}, {place[2]}]
""" for i, (size, place) in enumerate([
    ((0.02, 0.24, 0.2), (CUP[0] - 0.11, 0.0, CUP[1] - 0.15)), ((0.02, 0.24, 0.2), (CUP[0] + 0.11, 0.0, CUP[1] - 0.15)),
    ((0.2, 0.02, 0.2), (CUP[0], -0.11, CUP[1] - 0.15)), ((0.2, 0.02, 0.2), (CUP[0], 0.11, CUP[1] - 0.15)),
    ((0.24, 0.24, 0.02), (CUP[0], 0.0, CUP[1] - 0.26))]))
felt = """
[material.felt]
mu = 0.5
[[material_pair]]
materials = ["default", "felt"]
mu = 0.5
stiffness = 2000.0
damping = 20.0
"""
sim = thrown(best, "steps that end at events", cup + felt)
sim.run(1.5)
inside = abs(sim.q[0] - CUP[0]) < 0.1 and abs(sim.q[1]) < 0.1 and CUP[1] - 0.25 < sim.q[2] < CUP[1] + 0.2
print(f"after 1.5 s the ball is at ({sim.q[0]:.2f}, {sim.q[1]:.2f}, {sim.q[2]:.2f}) m: {'in' if inside else 'beside'} the cup")
assert found[-1] < 1e-6 and inside
