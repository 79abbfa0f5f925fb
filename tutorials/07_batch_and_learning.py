"""Batch and learning: many worlds at once, and an environment for a learner.

A random search over a trot of three numbers is enough to find a gait that earns more than standing still. For real
training use any library that takes a Gymnasium VectorEnv.
"""

import numpy as np

import tribo

# Worlds that differ: the heavier the robot, the lower it stands.
batch = tribo.Batch("solo-standing", 4, threads=2)
batch.set_parameters(mass=[0.8, 1.0, 1.2, 1.4])  # a factor for each world
batch.step(1000)
print("height of the base [m]:", np.round(batch.q[:, 2], 4))
assert (np.diff(batch.q[:, 2]) < 0).all() and not batch.failed.any()

try:
    from tribo.gym import VelocityVectorEnv
except ImportError as error:
    print("for the second half:", error)
    raise SystemExit(0) from None

N = 128
env = VelocityVectorEnv(N, robot="solo12", threads=2, lift=0.0, stride=0.0, autoreset_mode="disabled")  # nothing but the action moves the feet
rng = np.random.default_rng(0)
env.reset(seed=0)
env.command[:] = [0.2, 0.0, 0.0]
amplitude, lift, period = rng.uniform([-0.6, -1.0, 0.15], [0.6, 1.0, 0.5], (N, 3)).T
amplitude[0] = lift[0] = 0  # the first one stands still
total = np.zeros(N)
alive = np.ones(N, dtype=bool)
phase = np.array([0.0, np.pi, np.pi, 0.0])  # a trot: diagonal legs together
for k in range(100):
    angle = 2 * np.pi * 0.02 * k / period[:, None] + phase
    action = np.zeros((N, 12))
    action[:, 1::3] = amplitude[:, None] * np.cos(angle)
    action[:, 2::3] = lift[:, None] * np.sin(angle) * np.sign(env.robot.pose[2::3])  # hind knees bend the other way
    _, reward, terminated, truncated, _ = env.step(action)
    total += reward * alive
    alive &= ~(terminated | truncated)
best = int(total.argmax())
print(f"reward of standing {total[0]:.2f}, best of {N} trots {total[best]:.2f}")
assert total[best] > total[0] + 5
