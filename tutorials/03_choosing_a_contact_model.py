"""Choosing a contact model: a cube slides at 3 m/s. Which laws lift it off the ground?

ncp keeps Signorini and Coulomb as they are. ccp is convex: a sliding contact separates at mu times its speed. lcp has a
pyramid for a cone. See docs/theory/rigid.md.
"""

import tribo

height = {}
for law in ("ncp", "ccp", "lcp"):
    sim = tribo.load("cube-slide", contact_model=law)
    start, top = float(sim.q[2]), 0.0
    for _ in range(500):
        sim.step()
        top = max(top, float(sim.q[2]) - start)
    height[law] = top
    print(f"{law}: rises by {1e6 * top:10.4f} um, worst Coulomb residual {sim.audit.laws.coulomb:.1e}, "
          f"Signorini {sim.audit.laws.signorini:.1e}")

assert height["ncp"] < 1e-8, "the exact laws keep it on the ground"
assert height["ccp"] > 100 * max(height["ncp"], 1e-9), "the convex one lifts it"
