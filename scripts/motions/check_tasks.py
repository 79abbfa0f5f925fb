"""check_tasks.py RECORDING: the torques of a recorded run of solo-squat-tasks by another route, at the same states.

Pinocchio gives M, h, Jacobians and their drift; NumPy solves the optimality conditions of (task.1) to (task.3) as one linear
system. That is the optimum where no inequality of (task.4) is active, which is checked. The recording must hold every step:
`tribo run solo-squat-tasks --set record.period=0.004 --out DIR`. Prints the largest difference of a torque.
"""

import json
import pathlib
import sys

import cmeel
import numpy as np
import pinocchio as pin

FEET = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
PERIOD, AMPLITUDE, RATE = 0.04, np.array([0.0, 0.0, 0.03]), 2.0
COM, POSTURE, CONTACT = 2.0, 2.0, 1.0  # kp; kd = 2 sqrt(kp)
WEIGHT_COM, WEIGHT_POSTURE, WEIGHT_FORCE = 1.0, 1e-3, 1e-6
MU, LEAST = 0.7 / np.sqrt(2), 0.1


def robot():
    share = pathlib.Path(cmeel.__file__).parent.parent / "cmeel.prefix/share"
    urdf = share / "example-robot-data/robots/solo_description/robots/solo12.urdf"
    return pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())


class Squat:
    """The tasks of the scene, held about its start."""

    def __init__(self, q0):
        self.model = robot()
        self.data = self.model.createData()
        self.q0 = q0
        self.frames = [self.model.getFrameId(name) for name in FEET]
        pin.framesForwardKinematics(self.model, self.data, q0)
        self.places = [self.data.oMf[i].translation.copy() for i in self.frames]
        self.com = pin.centerOfMass(self.model, self.data, q0).copy()

    def torque(self, t, q, v):
        model, data, nv = self.model, self.data, self.model.nv
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        h = pin.nonLinearEffects(model, data, q, v).copy()
        pin.forwardKinematics(model, data, q, v, np.zeros(nv))
        pin.updateFramePlacements(model, data)
        J_com = pin.jacobianCenterOfMass(model, data, q).copy()
        pin.computeJointJacobians(model, data, q)
        J = np.vstack([pin.getFrameJacobian(model, data, i, axes)[:3] for i in self.frames])
        pin.forwardKinematics(model, data, q, v, np.zeros(nv))
        wanted = []
        for i, place in zip(self.frames, self.places):
            drift = pin.getFrameClassicalAcceleration(model, data, i, axes).linear
            speed = pin.getFrameVelocity(model, data, i, axes).linear
            wanted.append(CONTACT * (place - data.oMf[i].translation) - 2 * np.sqrt(CONTACT) * speed - drift)
        pin.centerOfMass(model, data, q, v, np.zeros(nv))
        s, c = np.sin(RATE * t), np.cos(RATE * t)
        lift = COM * (self.com + s * AMPLITUDE - data.com[0]) + 2 * np.sqrt(COM) * (RATE * c * AMPLITUDE - data.vcom[0])
        lift = lift - RATE * RATE * s * AMPLITUDE - data.acom[0]
        rest = POSTURE * (self.q0[7:] - q[7:]) - 2 * np.sqrt(POSTURE) * v[6:]
        return self.optimum(M, h, J, J_com, np.concatenate(wanted), lift, rest)

    @staticmethod
    def optimum(M, h, J, J_com, wanted, lift, rest):
        nv, nf = M.shape[0], J.shape[0]
        H, g = np.zeros((nv + nf, nv + nf)), np.zeros(nv + nf)
        H[:nv, :nv] = WEIGHT_COM * J_com.T @ J_com
        H[range(6, nv), range(6, nv)] += WEIGHT_POSTURE
        H[nv:, nv:] = WEIGHT_FORCE * np.eye(nf)
        g[:nv] = -WEIGHT_COM * J_com.T @ lift
        g[6:nv] -= WEIGHT_POSTURE * rest
        A = np.zeros((6 + nf, nv + nf))
        A[:6, :nv], A[:6, nv:], A[6:, :nv] = M[:6], -J.T[:6], J
        K = np.block([[H, A.T], [A, np.zeros((6 + nf, 6 + nf))]])
        x = np.linalg.solve(K, np.concatenate([-g, -h[:6], wanted]))
        f = x[nv : nv + nf].reshape(-1, 3)
        if np.any(np.abs(f[:, :2]) >= MU * f[:, 2:]) or np.any(f[:, 2] <= LEAST):
            raise RuntimeError("an inequality is active: the linear system is not the optimum")
        return (M @ x[:nv] + h - J.T @ x[nv : nv + nf])[6:]


def main(path):
    record = np.load(path)
    start = json.loads(bytes(record["meta"]))["start"]
    squat = Squat(np.array(start["q"]))
    states = [(0.0, np.array(start["q"]), np.array(start["v"]))] + list(zip(record["time"], record["q"], record["v"]))
    worst = largest = 0.0
    ticks = 0
    for k, (t, q, v) in enumerate(states[:-1]):
        if abs(t / PERIOD - round(t / PERIOD)) > 1e-6:
            continue
        ours = record["tau"][k][6:]  # row k ends the step that began at states[k]
        worst = max(worst, np.abs(ours - squat.torque(t, q, v)).max())
        largest = max(largest, np.abs(ours).max())
        ticks += 1
    print(f"{ticks} ticks: largest difference {worst:.2g} N m of {largest:.2g} N m")


if __name__ == "__main__":
    main(sys.argv[1])
