"""compare.py TICKS.npz: TSID on the programs of Tribo's task-space controller.

The second half of scripts/tsid/check, in TSID's environment. At each tick TSID gets the same tasks, weights, gains, cones and
limits at the same q and v, with the robot as Pinocchio reads it. Torques are compared, and the accelerations and forces of
the feet that they mean: where the feet are held, a torque has one of each (flat feet: one sum over their points).

TSID's solver adds 1e-8 to the diagonal of its Hessian, beside weights of 1e-6. So there are two comparisons: with the optimum
of the matrices that TSID has set up, without that 1e-8, and with TSID's own answer (torques only). "rest" is how far that answer
is from the optimum with the 1e-8 [N m]: nothing else is between the two.
Settings that are not TSID's defaults: forces and cones in world axes, mu/sqrt(2), all components of a force weighed alike. The
points of a flat foot only push; a task of the first priority holds the foot. Exit code 1 where torques differ by more than 1e-6.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from tsid import tsid_pywrap as tsid

Array = NDArray[np.float64]
TOLERANCE = 1e-6  # relative to the largest torque of a case
ADDED = 1e-8  # by TSID to the Hessian


def gains(given: Mapping[str, float], **defaults: float) -> tuple[float, tuple[float, float]]:
    """Weight of a task; kp and kd."""
    merged = {**defaults, **given}
    return merged["weight"], (merged["kp"], merged.get("kd", 2 * merged["kp"] ** 0.5))


def sample(value: Array, speeds: int, *derivatives: Array) -> Any:
    """A reference: value, and velocity and acceleration where they are not zero."""
    out = tsid.TrajectorySample(len(value), speeds)
    out.value(value)
    for put, x in zip((out.derivative, out.second_derivative), derivatives):
        put(x)
    return out


def optimum(qp: Any, x: Array, less: float) -> Array:
    """min x (H - less) x / 2 + g x, CE x + ce0 = 0, CI x + ci0 >= 0, from the active set of an answer near it."""
    H, n, equalities = qp.H - less * np.eye(len(qp.g)), len(qp.g), len(qp.ce0)
    size = np.abs(qp.CI) @ np.abs(x) + np.abs(qp.ci0)
    active = qp.CI @ x + qp.ci0 < 1e-5 * size
    for _ in range(50):
        A = np.vstack([qp.CE, qp.CI[active]])
        K = np.block([[H, -A.T], [A, np.zeros((len(A), len(A)))]])
        z = np.linalg.lstsq(K, -np.concatenate([qp.g, qp.ce0, qp.ci0[active]]), rcond=1e-16)[0]
        x, force = z[:n], z[n + equalities :]
        pulls = np.zeros(len(active), dtype=bool)
        pulls[active] = force < -1e-9 * np.abs(force).max(initial=0.0)
        broken = (qp.CI @ x + qp.ci0 < -1e-9 * size) & ~active
        if not np.any(pulls | broken):
            return x
        active = (active & ~pulls) | broken
    raise RuntimeError("no active set")


class Tsid:
    """The tasks of a [controller] section in TSID, held about q0."""

    def __init__(self, meta: Mapping[str, Any], q0: Array, limits: Array) -> None:
        self.keys: Mapping[str, Any] = meta["keys"]
        self.mu = self.keys.get("mu", 0.7) / 2**0.5
        self.model = pin.buildModelFromUrdf(meta["urdf"], pin.JointModelFreeFlyer())
        soles = [self.add_frames(joint, points) for joint, points in meta["feet"].items()]
        self.robot = tsid.RobotWrapper(self.model, tsid.RootJointType.FLOATING_BASE_SYSTEM, False)
        self.program = tsid.InverseDynamicsFormulationAccForce("tribo", self.robot, False)
        self.solver = tsid.SolverHQuadProgFast("tribo")
        self.program.computeProblemData(0.0, q0, np.zeros(self.model.nv))
        self.tasks: list[Any] = []  # the program does not keep them alive
        for names in soles:
            self.hold(names)
        self.points = [self.model.getFrameId(name) for names in soles for name in names[:-1]]
        self.add_tasks(q0, limits)

    def add_frames(self, joint: str, points: list[list[float]]) -> list[str]:
        """The points of a foot, and last their centre."""
        names = [f"{joint} {i}" for i in range(len(points))] + [f"{joint} sole"]
        for name, p in zip(names, [*points, np.mean(points, axis=0)]):
            place = pin.SE3(np.eye(3), np.array(p))
            self.model.addFrame(pin.Frame(name, self.model.getJointId(joint), 0, place, pin.FrameType.OP_FRAME))
        return names

    def tune(self, task: Any, size: int, gain: tuple[float, float], frame: str | None = None) -> Any:
        """Gains; a frame stays where it is."""
        task.setKp(np.full(size, gain[0]))
        task.setKd(np.full(size, gain[1]))
        if frame is not None:
            task.useLocalFrame(False)
            place = self.robot.framePosition(self.program.data(), self.model.getFrameId(frame))
            task.setReference(place if size == 3 else sample(tsid.SE3ToVector(place), 6))
        self.tasks.append(task)
        return task

    def hold(self, names: list[str]) -> None:
        _, gain = gains({"kp": self.keys.get("contact_kp", 1.0)}, weight=1)
        weight = self.keys.get("force_weight", 1e-6)
        least, up, flat = self.keys.get("least_force", 0.1), np.array([0.0, 0.0, 1.0]), len(names) > 2
        for name in names[:-1]:
            contact = tsid.ContactPoint(name, self.robot, name, up, self.mu, least, 1e9)
            contact.setRegularizationTaskWeightVector(np.ones(3))
            self.tune(contact, 3, gain, name)
            self.program.addRigidContact(contact, weight, 0.0 if flat else 1.0, flat)
        if flat:
            task = self.tune(tsid.TaskSE3Equality(names[-1], self.robot, names[-1]), 6, gain, names[-1])
            self.program.addMotionTask(task, 1.0, 0, 0.0)

    def add_tasks(self, q0: Array, limits: Array) -> None:
        weight, gain = gains(self.keys.get("com", {}), weight=1, kp=2)
        self.com, self.com0 = tsid.TaskComEquality("com", self.robot), self.robot.com(self.program.data()).copy()
        self.program.addMotionTask(self.tune(self.com, 3, gain), weight, 1, 0.0)
        weight, gain = gains(self.keys.get("posture", {}), weight=1e-3, kp=2)
        posture = self.tune(tsid.TaskJointPosture("posture", self.robot), len(limits), gain)
        posture.setReference(sample(q0[7:], len(limits)))
        self.program.addMotionTask(posture, weight, 1, 0.0)
        for i, frame in enumerate(self.keys.get("frame", [])):
            weight, gain = gains(frame, weight=1, kp=1)
            task = tsid.TaskSE3Equality(f"frame {i}", self.robot, frame["name"])
            task.setMask(np.repeat([frame.get("position", True), frame.get("rotation", True)], 3).astype(float))
            self.program.addMotionTask(self.tune(task, 6, gain, frame["name"]), weight, 1, 0.0)
        bounds = tsid.TaskActuationBounds("limits", self.robot)
        bounds.setBounds(-limits, limits)
        self.tasks.append(bounds)
        self.program.addActuationTask(bounds, 1.0, 0, 0.0)

    def solve(self, t: float, q: Array, v: Array) -> Array:
        """TSID's answer: accelerations, and forces of the points in world axes."""
        amplitude, rate = np.array(self.keys.get("amplitude", np.zeros(3))), self.keys.get("rate", 0.0)
        sway = np.sin(rate * t) * amplitude
        self.com.setReference(sample(self.com0 + sway, 3, rate * np.cos(rate * t) * amplitude, -rate * rate * sway))
        answer = self.solver.solve(self.program.computeProblemData(t, q, v))
        if answer.status != 0:
            raise RuntimeError(f"TSID finds no solution at t = {t:.3g} s: status {answer.status}")
        data = self.model.createData()
        self.J = np.vstack([pin.computeFrameJacobian(self.model, data, q, i, pin.LOCAL_WORLD_ALIGNED)[:3] for i in self.points])
        self.M, self.h = self.robot.mass(self.program.data()), self.robot.nonLinearEffect(self.program.data())
        return np.array(answer.x)

    def torque(self, x: Array) -> Array:
        a, f = np.split(x, [self.model.nv])
        return np.asarray((self.M @ a + self.h - self.J.T @ f)[6:])

    def meant(self, tau: Array, a: Array) -> Array:
        """Accelerations and forces of a torque, where the points of the feet accelerate as they do with a."""
        K = np.block([[self.M, -self.J.T], [self.J, np.zeros((len(self.J), len(self.J)))]])
        force = np.concatenate([np.zeros(6), tau]) - self.h
        return np.asarray(np.linalg.lstsq(K, np.concatenate([force, self.J @ a]), rcond=1e-12)[0])


def compare(meta: Mapping[str, Any], q0: Array, limits: Array, rows: Array) -> tuple[str, float]:
    """A line of the table, and the largest difference of a torque relative to the largest torque."""
    reference, nq, nv = Tsid(meta, q0, limits), len(q0), len(q0) - 1
    first = np.cumsum([0, *(len(points) for points in meta["feet"].values())])[:-1]  # point of each foot
    gaps, sizes, own, rest, cones, bounds = np.zeros(3), np.zeros(3), 0.0, 0.0, 0, 0
    for t, q, v, tau in ((row[0], *np.split(row[1:], [nq, nq + nv])) for row in rows):
        answer = reference.solve(t, q, v)
        qp = reference.solver.qpData
        theirs, with_added = optimum(qp, answer, ADDED), optimum(qp, answer, 0.0)
        torque, a, f = reference.torque(theirs), theirs[:nv], theirs[nv:].reshape(-1, 3)
        mine = reference.meant(tau, a)
        sums = [np.add.reduceat(x, first) for x in (mine[nv:].reshape(-1, 3), f)]
        gaps = np.maximum(gaps, [np.abs(x).max() for x in (tau - torque, mine[:nv] - a, sums[0] - sums[1])])
        sizes = np.maximum(sizes, [np.abs(x).max() for x in (torque, a, sums[1])])
        own = max(own, np.abs(tau - reference.torque(answer)).max())
        rest = max(rest, np.abs(reference.torque(answer) - reference.torque(with_added)).max())
        cones += bool(np.any(np.abs(f[:, :2]) > (1 - 1e-6) * reference.mu * f[:, 2:]))
        bounds += bool(np.any(np.abs(torque) > (1 - 1e-6) * limits))
    text = "".join(f" {gap:9.1e} {gap / size:9.1e}" for gap, size in zip(gaps, sizes))
    return f"{len(rows):5} {cones:5} {bounds:6} {text} {own:12.1e} {own / sizes[0]:9.1e} {rest:9.1e}", gaps[0] / sizes[0]


def main(file: str) -> int:
    arrays, worst = np.load(file), 0.0
    units = "".join(f"{unit:>10}{'rel':>10}" for unit in ("N m", "m/s^2", "N"))
    print(f"{'largest differences':18} ticks cones limits{units}{'TSID N m':>13}{'rel':>10}{'rest':>10}")
    for name in dict.fromkeys(key.split("/")[0] for key in arrays):
        case = {key: arrays[f"{name}/{key}"] for key in ("meta", "start", "limits", "rows")}
        text, gap = compare(json.loads(bytes(case["meta"])), case["start"], case["limits"], case["rows"])
        worst = max(worst, gap)
        print(f"{name:18} {text}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
