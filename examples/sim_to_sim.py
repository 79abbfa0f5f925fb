"""A policy that was trained in Tribo, in MuJoCo and under Tribo's other contact models, unchanged.

    pip install 'tribo[learn,robots]' mujoco
    python examples/sim_to_sim.py out/solo/policy.npz [SECONDS]

Prints the mean distance of the velocity from the command, averaged over a period of the gait, after the first second.
"""

import sys
import warnings

import mujoco
import numpy as np

from tribo.gym import Task, VelocityVectorEnv
from tribo.policy import Policy, arc, way
from tribo.training import walking

COMMANDS = [(0.5, 0.0, 0.0), (-0.3, 0.0, 0.0), (0.0, 0.3, 0.0), (0.3, 0.0, 0.6), (0.0, 0.0, -0.6), (0.4, -0.2, 0.3)]


def mjcf(model, dt, policy, mu):
    """The robot of a model with balls of 5 mm for its feet, on a plane."""
    inner = {i: [] for i in range(-1, len(model.bodies))}
    for i, body in enumerate(model.bodies):
        inner[body.parent].append(i)

    def numbers(x):
        return " ".join(f"{y:.17g}" for y in np.ravel(x))

    def placed(X):
        q = np.zeros(4)
        mujoco.mju_mat2Quat(q, np.ascontiguousarray(X[:3, :3]).ravel())
        return f'pos="{numbers(X[:3, 3])}" quat="{numbers(q)}"'

    def element(i):
        b = model.bodies[i]
        inertia = np.reshape(b.inertia, (3, 3))
        joint = "<freejoint/>" if b.nv == 6 else (f'<joint name="{b.name}" axis="{numbers(b.axis)}" armature="{model.armature[b.iv]:.17g}" '
                                                 f'damping="{model.damping[b.iv]:.17g}"/>')
        feet = "".join(f'<geom type="sphere" size="0.005" friction="{mu} 0 0" condim="3" pos="{numbers(g.placement[:3, 3] + [0, 0, 0.005])}"/>'
                       for k, g in enumerate(model.geometries) if g.body == i and k in model.members[0].feet)
        full = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        return (f'<body name="b{i}" {placed(b.placement)}>{joint}<inertial pos="{numbers(b.com)}" mass="{b.mass:.17g}" fullinertia="{numbers(full)}"/>'
                f'{feet}{"".join(element(k) for k in inner[i])}</body>')

    motors = "".join(f'<position joint="{b.name}" kp="{policy.kp}" kv="{policy.kd}" forcerange="{-model.effort_limit[b.iv]} {model.effort_limit[b.iv]}"/>'
                     for b in model.bodies if b.nv == 1)
    return (f'<mujoco><compiler angle="radian" balanceinertia="true"/><option timestep="{dt}" integrator="implicitfast" cone="elliptic"/><worldbody>'
            f'<geom type="plane" size="0 0 1" friction="{mu} 0 0" condim="3"/>{"".join(element(i) for i in inner[-1])}</worldbody>'
            f'<actuator>{motors}</actuator></mujoco>')


def error_of(speeds, command, policy, dt):
    """speeds (steps, 3): forward, left, yaw."""
    window = max(1, round(1 / policy.frequency / dt))
    mean = np.array([np.convolve(x, np.ones(window) / window, "valid") for x in np.array(speeds).T]).T
    late = mean[round(1.0 / dt):]
    return float(np.linalg.norm(late[:, :2] - command[:2], axis=1).mean()), float(np.abs(late[:, 2] - command[2]).mean())


def in_mujoco(policy, scene, command, seconds, dt=2e-3):
    model = mujoco.MjModel.from_xml_string(mjcf(scene.model, dt, policy, 0.8))
    data = mujoco.MjData(model)
    q = np.array(scene.start.q)
    data.qpos[:] = np.concatenate([q[:3] + [0, 0, 0.01], [q[6]], q[3:6], q[7:]])
    action, speeds, ticks = np.zeros(len(policy.joints)), [], round(policy.period / dt)
    for k in range(round(seconds / dt)):
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, data.qpos[3:7])
        v = R.reshape(3, 3).T @ data.qvel[:3]
        speeds.append([v[0], v[1], data.qvel[5]])
        if k % ticks == 0:
            clock = policy.frequency * k * dt
            parts = {"gravity": -R.reshape(3, 3)[2], "linear": v, "angular": data.qvel[3:6], "joints": data.qpos[7:] - policy.pose,
                     "joint_velocities": data.qvel[6:], "action": action, "command": np.array(command),
                     "clock": np.array([np.sin(2 * np.pi * clock), np.cos(2 * np.pi * clock)])}
            action = policy(np.concatenate([parts[name] for name, _ in policy.layout]))
            p = clock + policy.phase
            data.ctrl[:] = policy.pose + policy.lift * arc(p) + policy.stride @ np.array(command) * way(p) + policy.reach * action
        mujoco.mj_step(model, data)
    return speeds, dt, data.qpos[2] > 0.5 * q[2]


def in_tribo(path, task, command, seconds, **keys):
    sim = walking(path, task, command, **keys)
    speeds, high = [], float(sim.q[2])
    for _ in range(round(seconds / sim.dt)):
        sim.step()
        speeds.append([sim.v[0], sim.v[1], sim.v[5]])
    return speeds, sim.dt, sim.q[2] > 0.5 * high


def main(path, seconds=5.0):
    warnings.simplefilter("ignore")
    policy, task = Policy.load(path), Task()
    scene = VelocityVectorEnv(1, task=task, threads=1).batch.scene
    kinds = {"Tribo, rigid ncp (as trained)": {}, "Tribo, rigid ccp": {"contact_model": "ccp"}, "Tribo, dt 1 ms": {"dt": 1e-3},
             "Tribo, exponential, K = 2e4 N/m": {"stepper": "exponential", "dt": 1e-3,
                                                 "settings": {"material.default.stiffness": 2e4, "material.default.damping": 100.0}},
             "Tribo, mu 0.4": {"settings": {"material.default.mu": 0.4}}}
    runs = {name: [in_tribo(path, task, c, seconds, **keys) for c in COMMANDS] for name, keys in kinds.items()}
    runs[f"MuJoCo {mujoco.__version__}, elliptic cones"] = [in_mujoco(policy, scene, c, seconds) for c in COMMANDS]
    print("| | velocity error [m/s] | yaw error [rad/s] | worst velocity error | fell |\n|---|---|---|---|---|")
    for name, found in runs.items():
        errors = np.array([error_of(s, np.array(c), policy, dt) for (s, dt, _), c in zip(found, COMMANDS)])
        print(f"| {name} | {errors[:, 0].mean():.3f} | {errors[:, 1].mean():.3f} | {errors[:, 0].max():.3f} | "
              f"{sum(not up for _, _, up in found)} of {len(found)} |")


if __name__ == "__main__":
    main(sys.argv[1], *(float(x) for x in sys.argv[2:]))
