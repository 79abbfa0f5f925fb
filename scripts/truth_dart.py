"""The problems of `tribo experiment truth` in DART: python scripts/truth_dart.py OUT.json

Needs the package `dartpy`, in whatever environment it is installed; neither Tribo nor MuJoCo is needed. DART as it comes,
but for the capsule: its collision detector FCL takes that for a ball, so there Bullet looks for contacts. What OUT.json
holds already stays.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import dartpy as dart
import numpy as np

G = 9.81


class Scene:
    """A DART world; bodies that stand still, float, or slide along x."""

    def __init__(self, dt: float, mu: float, restitution: float = 0.0, gravity: float = -G) -> None:
        self.world = dart.simulation.World()
        self.world.setTimeStep(dt)
        self.world.setGravity([0, 0, gravity])
        self.mu, self.restitution = mu, restitution

    def add(self, shape: Any, position: tuple[float, float, float], mass: float = 0.0, turn: np.ndarray | None = None,
            slides: bool = False) -> Any:
        body = dart.dynamics.Skeleton(f"body{self.world.getNumSkeletons()}")
        if slides:
            joint, node = body.createPrismaticJointAndBodyNodePair()
            joint.setAxis([1, 0, 0])
        elif mass > 0:
            joint, node = body.createFreeJointAndBodyNodePair()
        else:
            joint, node = body.createWeldJointAndBodyNodePair()
        pose = dart.math.Isometry3()
        pose.set_translation(position)
        if turn is not None:
            pose.set_rotation(turn)
        visual = node.createShapeNode(shape)
        visual.createCollisionAspect()
        surface = visual.createDynamicsAspect()
        surface.setFrictionCoeff(self.mu)
        surface.setRestitutionCoeff(self.restitution)
        if mass > 0:
            inertia = dart.dynamics.Inertia()
            inertia.setMass(mass)
            inertia.setMoment(shape.computeInertia(mass))
            node.setInertia(inertia)
        else:
            body.setMobile(False)
        if mass > 0 and not slides:
            body.setPositions(dart.dynamics.FreeJoint.convertToPositions(pose))
        else:
            joint.setTransformFromParentBodyNode(pose)
        self.world.addSkeleton(body)
        return body

    def run(self, count: int) -> None:
        for _ in range(count):
            self.world.step()


def box(x: float, y: float, z: float) -> Any:
    return dart.dynamics.BoxShape([x, y, z])


def throw(body: Any, velocity: list[float], spin: list[float] | None = None) -> None:
    """Velocities of a free body, in the axes of the world at a pose without turn."""
    body.setVelocities(np.array([*(spin or [0, 0, 0]), *velocity]))


def place(body: Any) -> np.ndarray:
    return np.array(body.getBodyNode(0).getWorldTransform().translation()).ravel()


def speed_of(body: Any) -> np.ndarray:
    return np.array(body.getBodyNode(0).getLinearVelocity()).ravel()


def seams(speed: float) -> float:
    scene = Scene(1e-3, 1e-4)
    for i in range(12):
        scene.add(box(0.25, 1, 0.1), (0.25 * i - 0.375, 0, -0.05))
    slider = scene.add(box(0.2, 0.2, 0.1), (0, 0, 0.05), 1)
    throw(slider, [speed, 0, 0])
    n = round(0.6 / speed / 1e-3)
    scene.run(n)
    return float(abs(place(slider)[0] - (n * 1e-3 * speed - 0.5e-6 * 1e-4 * G * n * (n + 1))))


def passing(speed: float, dt: float) -> float:
    scene = Scene(dt, 1, gravity=0)
    scene.add(box(0.001, 0.2, 0.2), (0, 0, 0))
    ball = scene.add(dart.dynamics.SphereShape(0.005), (-0.1037, 0.107, 0), 0.004)
    throw(ball, [speed, 0, 0])
    scene.run(round(0.3 / speed / dt))
    return float(np.linalg.norm(speed_of(ball) - [speed, 0, 0]) / speed)


def pulled() -> float:
    scene = Scene(1e-3, 0)
    scene.add(box(2, 2, 0.2), (0, 0, -0.1))
    ball = scene.add(dart.dynamics.SphereShape(0.02), (0, 0, 0.02), 0.2)
    for _ in range(500):
        ball.getBodyNode(0).setExtForce([0, 0, 3 * 0.2 * G])
        scene.run(1)
    height = G * 1e-6 * 500 * 501
    return float(abs(place(ball)[2] - 0.02 - height) / height)


def plate(seconds: float) -> tuple[float, float]:
    scene = Scene(1e-3, 1, gravity=0)
    body = scene.add(box(0.3, 0.1, 0.02), (0, 0, 0), 1)
    throw(body, [0, 0, 0], [60, 50, 62.4])
    inertia = np.array([(0.1**2 + 0.02**2) / 12, (0.3**2 + 0.02**2) / 12, (0.3**2 + 0.1**2) / 12])

    def turning() -> tuple[float, np.ndarray]:
        node = body.getBodyNode(0)
        rotation = np.array(node.getWorldTransform().rotation())
        w = rotation.T @ np.array(node.getAngularVelocity()).ravel()
        return 0.5 * float(w @ (inertia * w)), rotation @ (inertia * w)

    e0, l0 = turning()
    for _ in range(round(seconds / 1e-3)):
        scene.run(1)
        if not np.isfinite(turning()[0]) or turning()[0] > 1e6 * e0:
            return np.inf, np.inf
    e, momentum = turning()
    return abs(e / e0 - 1), float(np.linalg.norm(momentum - l0) / np.linalg.norm(l0))


def creep(shape: Any, half: float, turn: np.ndarray | None, seconds: float) -> float:
    scene = Scene(1e-3, 0.7)
    if isinstance(shape, dart.dynamics.CapsuleShape):
        scene.world.setCollisionDetector(dart.collision.BulletCollisionDetector())
    pad = box(0.01, 0.03, 0.03)
    scene.add(pad, (-half - 0.005, 0, 0.3))
    mover = scene.add(pad, (half + 0.005, 0, 0.3), 0.1, slides=True)
    held = scene.add(shape, (0, 0, 0.3), 0.045, turn)

    def press(count: int) -> None:
        for _ in range(count):
            mover.setForces(np.array([-60.0]))
            scene.run(1)

    press(1000)
    p = place(held)
    begun, moved = scene.world.getTime(), 0.0
    while scene.world.getTime() < seconds and moved < 1e-3:  # what has crept by a millimetre soon falls
        press(10)
        moved = float(np.linalg.norm(place(held) - p))
    return 1e6 * moved / (scene.world.getTime() - begun)


def torsion() -> float:
    mu, m, r = 0.3, 0.0075, 0.012
    scene = Scene(1e-3, mu)
    scene.add(box(2, 2, 0.2), (0, 0, -0.1))
    coin = scene.add(dart.dynamics.CylinderShape(r, 0.002), (0, 0, 0.001), m)
    throw(coin, [0, 0, 0], [0, 0, 60])
    scene.run(100)
    spin = float(np.array(coin.getBodyNode(0).getAngularVelocity()).ravel()[2])
    torque = (60 - spin) / 0.1 * 0.5 * m * r * r
    return abs(torque / (2 / 3 * mu * m * G * r) - 1)


def about(axis: int, angle: float) -> np.ndarray:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    rotation = np.eye(3)
    rotation[i, i] = rotation[j, j] = np.cos(angle)
    rotation[i, j], rotation[j, i] = -np.sin(angle), np.sin(angle)
    return rotation


def funnel() -> float:
    most = 0.0
    for degrees in (30, 45, 60, 75):
        a = np.radians(degrees)
        x, z = 0.012 + 0.12 * np.cos(a) + 0.01 * np.sin(a), 0.12 * np.sin(a) - 0.01 * np.cos(a)
        scene = Scene(5e-3, 0.3)
        for k in range(4):
            yaw = k * np.pi / 2
            scene.add(box(0.24, 0.5, 0.02), (x * np.cos(yaw), x * np.sin(yaw), z), turn=about(2, yaw) @ about(1, -a))
        scene.add(dart.dynamics.SphereShape(0.02), (0.02, 0.0074, 0.6), 0.05)
        for _ in range(300):
            scene.run(1)
            contacts = scene.world.getLastCollisionResult().getContacts()
            most = max([most] + [1e3 * c.penetrationDepth for c in contacts])
    return most


def cradle() -> float:
    scene = Scene(1e-3, 0, 1, 0)
    balls = [scene.add(dart.dynamics.SphereShape(0.02), (i * 0.0402 - (0.01 if i == 0 else 0), 0, 0), 0.1) for i in range(5)]
    throw(balls[0], [1, 0, 0])
    scene.run(100)
    return float(abs(sum(speed_of(b) @ speed_of(b) for b in balls) - 1))


def oblique() -> float:
    scene = Scene(5e-3, 0, 1, 0)
    a = scene.add(dart.dynamics.SphereShape(0.05), (-0.2337, 0, 0), 1)
    b = scene.add(dart.dynamics.SphereShape(0.05), (0, 0.06, 0), 1)
    throw(a, [3, 0, 0])
    scene.run(40)
    n = np.array([0.8, 0.6, 0])
    after = 3 * n[0] * n
    return float(max(np.linalg.norm(speed_of(a) - np.array([3, 0, 0]) + after), np.linalg.norm(speed_of(b) - after)))


def figures() -> dict[str, float]:
    energy, momentum = plate(10)
    capsule = dart.dynamics.CapsuleShape(0.02, 0.03)
    return {"seams_slow": seams(0.05), "seams_fast": seams(2), "passing": passing(10, 1e-3),
            "passing_slow": passing(3, 5e-3), "pulled": pulled(), "spin_energy": energy,
            "spin_momentum": momentum, "creep_capsule": creep(capsule, 0.02, about(0, np.pi / 2), 60),
            "creep_box": creep(box(0.03, 0.08, 0.03), 0.015, None, 60), "torsion": torsion(),
            "funnel": funnel(), "cradle": cradle(), "oblique": oblique()}


def main() -> None:
    path = Path(sys.argv[1])
    out: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    out[f"DART {dart.__version__}"] = figures()
    path.write_text(json.dumps(out, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
