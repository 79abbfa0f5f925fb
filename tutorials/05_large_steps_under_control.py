"""Large steps: joint gains are taken implicitly, so Solo stands at a step of 20 ms as it does at 1 ms."""

import numpy as np

import tribo

pd = tribo.Controller("pd", kp=20.0, kd=0.3)
fine = tribo.load("solo12", controller=pd, dt=1e-3)
coarse = tribo.load("solo12", controller=pd, dt=20e-3)
fine.run(2.0)
coarse.run(2.0)
gap = abs(float(fine.q[2] - coarse.q[2]))
print(f"height of the base: {fine.q[2]:.4f} m at 1 ms, {coarse.q[2]:.4f} m at 20 ms")
assert gap < 0.01

explicit = tribo.load("solo12", controller=tribo.Controller("pd", kp=20.0, kd=0.3, implicit=False), dt=20e-3)
explicit.run(0.5, check=False)
print(f"the same gains taken explicitly: largest speed {np.abs(explicit.v).max():.3g} rad/s")
print(explicit.explain())
assert explicit.explain().findings[0].cause == "gains too high for the step"
