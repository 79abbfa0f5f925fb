"""Stiff contact: springs of 1e6 N/m at steps of 2 ms. An explicit scheme breaks; the exponential one does not.

sim.explain() says so before you look for it.
"""

import numpy as np

import tribo

stiff = {"material.default.stiffness": 1e6, "material.default.damping": 1e3}


def largest_speed(stepper):
    sim = tribo.load("cube", stepper=stepper, dt=2e-3, settings=stiff)
    sim.run(0.5, check=False)
    return float(np.abs(sim.v).max()), sim


explicit, broken = largest_speed("explicit-euler")
expo, good = largest_speed("exponential")
print(f"after 0.5 s at rest: explicit Euler {explicit:.2g} m/s, exponential {expo:.2g} m/s")
print(broken.explain())
assert broken.explain().findings[0].cause == "contact too stiff for the step"
assert expo < 1e-3
assert not any(f.cause.startswith("contact too stiff") for f in good.explain().findings)
