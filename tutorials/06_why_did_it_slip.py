"""Why did it slip: a push against friction, the margin at the first slip, and the push that would have held."""

import tribo

MU, MASS, G = 0.4, 1.0, 9.81
SCENE = """
[[object]]
name = "box"
shape = "box"
size = [0.1, 0.1, 0.1]
mass = 1.0
position = [0.0, 0.0, 0.05]
[material.default]
mu = 0.4
"""


def pushed(force):
    sim = tribo.parse(SCENE)
    sim.push("box", [force, 0.0, 0.0], 0.2, start=0.1)
    sim.run(0.5)
    return sim


sim = pushed(1.1 * MU * MASS * G)
print(sim.explain())
finding = sim.explain().findings[0]
assert finding.cause == "slip" and abs(finding.t - 0.101) < 2e-3
assert abs(finding.value - MU) < 1e-6  # all of the cone was used

held = pushed(0.9 * MU * MASS * G)
margins = [c.cone_margin for c in held.contacts]
print(f"with 0.9 mu m g it stays: moved {1e9 * abs(held.q[0]):.3f} nm, margins {[round(m, 3) for m in margins]} N")
assert not held.explain() and abs(held.q[0]) < 1e-9
