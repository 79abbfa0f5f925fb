"""Boxes on a plane in several simulators, each as it comes: python scripts/comparison_worlds.py PEER OUT.json

PEER is one of tribo, mujoco, mujoco-discrete, drake, dart, pybullet; its package must be installed. The figures say how far the
simulator is from a known answer, and what a step costs. `scripts/comparison` runs all of them and writes the page.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

G, DT, MU = 9.81, 1e-3, 0.5


@dataclass
class Box:
    """Free, of uniform density."""

    size: tuple[float, float, float]  # edges [m]
    mass: float  # [kg]
    position: tuple[float, float, float]  # of its centre [m]
    velocity: tuple[float, float, float] = (0, 0, 0)  # [m/s]
    spin: tuple[float, float, float] = (0, 0, 0)  # [rad/s]

    def inertia(self) -> np.ndarray:
        x, y, z = np.square(self.size)
        return self.mass / 12 * np.array([y + z, x + z, x + y])


class Tribo:
    """push is a force on the first box [N], until the next one."""

    def __init__(self, boxes: list[Box], dt: float, ground: bool) -> None:
        import tribo

        text = f"{'' if ground else 'gravity = [0, 0, 0]'}\n[stepper]\ndt = {dt}\n[material.default]\nmu = {MU}\n"
        text += "" if ground else "[ground]\nnone = true\n"
        for i, b in enumerate(boxes):
            text += (f'[[object]]\nname = "b{i}"\nshape = "box"\nsize = {list(b.size)}\nmass = {b.mass}\nposition = {list(b.position)}\n'
                     f"velocity = {list(b.velocity)}\nangular_velocity = {list(b.spin)}\n")
        self.version, self.sim, self.n = tribo.__version__, tribo.parse(text), len(boxes)

    def push(self, force: np.ndarray) -> None:
        self.sim.wrench["b0"] = [*force, 0, 0, 0]

    def step(self, n: int) -> None:
        self.sim.step(n)

    def position(self, i: int) -> np.ndarray:
        return np.array(self.sim.pose(f"b{i}")[:3, 3])

    def spin(self) -> np.ndarray:
        """Of the first box, in its own axes [rad/s]."""
        return np.array(self.sim.v[3:6])


class MuJoCo:
    integrator = ""

    def __init__(self, boxes: list[Box], dt: float, ground: bool) -> None:
        import mujoco

        xml = f'<mujoco><option timestep="{dt}" gravity="0 0 {-G * ground}" {self.integrator}/><worldbody>'
        xml += f'<geom type="plane" size="0 0 1" friction="{MU}"/>' if ground else ""
        for b in boxes:
            x, y, z = np.array(b.size) / 2
            xml += (f'<body pos="{b.position[0]} {b.position[1]} {b.position[2]}"><freejoint/><geom type="box" '
                    f'size="{x} {y} {z}" mass="{b.mass}" friction="{MU}"/></body>')
        self.mj, self.version = mujoco, mujoco.__version__
        self.m = mujoco.MjModel.from_xml_string(xml + "</worldbody></mujoco>")
        self.d = mujoco.MjData(self.m)
        for i, b in enumerate(boxes):
            self.d.qvel[6 * i:6 * i + 6] = [*b.velocity, *b.spin]

    def push(self, force: np.ndarray) -> None:
        self.d.xfrc_applied[1, :3] = force

    def step(self, n: int) -> None:
        self.mj.mj_step(self.m, self.d, n)

    def position(self, i: int) -> np.ndarray:
        return self.d.qpos[7 * i:7 * i + 3].copy()

    def spin(self) -> np.ndarray:
        if self.d.warning[self.mj.mjtWarning.mjWARN_BADQACC].number:
            return np.full(3, np.inf)  # it has begun anew
        return self.d.qvel[3:6].copy()


class MuJoCoDiscrete(MuJoCo):
    integrator = 'integrator="discrete"'


class Drake:
    """With its hydroelastic contact, modulus 1e7 Pa: its point contact has one point for a box on a plane."""

    def __init__(self, boxes: list[Box], dt: float, ground: bool) -> None:
        from importlib.metadata import version

        import pydrake.all as drake

        self.version = version("drake")
        builder = drake.DiagramBuilder()
        plant, _ = drake.AddMultibodyPlantSceneGraph(builder, time_step=dt)
        plant.mutable_gravity_field().set_gravity_vector([0, 0, -G * ground])
        plant.set_contact_model(drake.ContactModel.kHydroelasticWithFallback)
        surface, floor = drake.ProximityProperties(), drake.ProximityProperties()
        for properties in (surface, floor):
            drake.AddContactMaterial(friction=drake.CoulombFriction(MU, MU), properties=properties)
        drake.AddCompliantHydroelasticProperties(0.1, 1e7, surface)
        drake.AddRigidHydroelasticProperties(floor)
        if ground:
            plant.RegisterCollisionGeometry(plant.world_body(), drake.RigidTransform(), drake.HalfSpace(), "ground", floor)
        self.bodies = []
        for i, b in enumerate(boxes):
            inertia = drake.SpatialInertia.SolidBoxWithMass(b.mass, *b.size)
            body = plant.AddRigidBody(f"b{i}", inertia)
            plant.RegisterCollisionGeometry(body, drake.RigidTransform(), drake.Box(*b.size), f"b{i}", surface)
            self.bodies.append(body)
        plant.Finalize()
        diagram = builder.Build()
        self.simulator, self.plant, self.drake, self.dt = drake.Simulator(diagram), plant, drake, dt
        self.done, self.lost = 0, False
        self.context = plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for b, body in zip(boxes, self.bodies):
            plant.SetFreeBodyPose(self.context, body, drake.RigidTransform(b.position))
            plant.SetFreeBodySpatialVelocity(self.context, body, drake.SpatialVelocity(b.spin, b.velocity))
        self.push(np.zeros(3))
        self.simulator.Initialize()

    def push(self, force: np.ndarray) -> None:
        applied = self.drake.ExternallyAppliedSpatialForce()
        applied.body_index = self.bodies[0].index()
        applied.F_Bq_W = self.drake.SpatialForce(np.zeros(3), force)
        self.plant.get_applied_spatial_force_input_port().FixValue(self.context, [applied])

    def step(self, n: int) -> None:
        self.done += n
        try:
            self.simulator.AdvanceTo(self.done * self.dt)
        except RuntimeError:  # a pose that is not finite
            self.lost = True

    def position(self, i: int) -> np.ndarray:
        return self.plant.EvalBodyPoseInWorld(self.context, self.bodies[i]).translation()

    def spin(self) -> np.ndarray:
        if self.lost:
            return np.full(3, np.inf)
        X = self.plant.EvalBodyPoseInWorld(self.context, self.bodies[0])
        return X.rotation().inverse() @ self.plant.EvalBodySpatialVelocityInWorld(self.context, self.bodies[0]).rotational()


class Dart:
    def __init__(self, boxes: list[Box], dt: float, ground: bool) -> None:
        from importlib.metadata import version

        import dartpy

        self.version, d, self.force = version("dartpy"), dartpy.dynamics, np.zeros(3)
        self.world = dartpy.simulation.World("boxes")
        self.world.setTimeStep(dt)
        self.world.setGravity([0, 0, -G * ground])
        self.bodies = []
        if ground:
            floor = d.Skeleton("ground")
            _, body = floor.createWeldJointAndBodyNodePair()
            self._shape(body, d.BoxShape([20, 20, 1]), [0, 0, -0.5])
            self.world.addSkeleton(floor)
        for i, b in enumerate(boxes):
            skeleton = d.Skeleton(f"b{i}")
            _, body = skeleton.createFreeJointAndBodyNodePair()
            self._shape(body, d.BoxShape(b.size), [0, 0, 0])
            body.setInertia(d.Inertia(b.mass, np.zeros(3), np.diag(b.inertia())))
            skeleton.setPositions([0, 0, 0, *b.position])
            skeleton.setVelocities([*b.spin, *b.velocity])
            self.world.addSkeleton(skeleton)
            self.bodies.append(body)

    @staticmethod
    def _shape(body: Any, shape: Any, at: list[float]) -> None:
        node = body.createShapeNode(shape)
        node.createCollisionAspect()
        node.createDynamicsAspect().setFrictionCoeff(MU)
        node.setRelativeTranslation(at)

    def push(self, force: np.ndarray) -> None:
        self.force = force

    def step(self, n: int) -> None:
        pushed = bool(np.any(self.force))
        for _ in range(n):
            if pushed:
                self.bodies[0].addExtForce(self.force, np.zeros(3), False, True)
            self.world.step()

    def position(self, i: int) -> np.ndarray:
        return np.array(self.bodies[i].getWorldTransform().translation()).ravel()

    def spin(self) -> np.ndarray:
        body = self.bodies[0]
        return np.array(body.getWorldTransform().rotation()).T @ np.array(body.getAngularVelocity()).ravel()


class Bullet:
    def __init__(self, boxes: list[Box], dt: float, ground: bool) -> None:
        from importlib.metadata import version

        import pybullet as p

        self.version, self.p, self.force = version("pybullet"), p, np.zeros(3)
        if not p.isConnected():
            p.connect(p.DIRECT)
        p.resetSimulation()
        p.setTimeStep(dt)
        p.setGravity(0, 0, -G * ground)
        mu = MU**0.5  # a pair has the product
        if ground:
            floor = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))
            p.changeDynamics(floor, -1, lateralFriction=mu)
        self.bodies = []
        for b in boxes:
            body = p.createMultiBody(b.mass, p.createCollisionShape(p.GEOM_BOX, halfExtents=np.array(b.size) / 2), -1, b.position)
            p.changeDynamics(body, -1, lateralFriction=mu, linearDamping=0, angularDamping=0, localInertiaDiagonal=b.inertia().tolist())
            p.resetBaseVelocity(body, b.velocity, b.spin)
            self.bodies.append(body)

    def push(self, force: np.ndarray) -> None:
        self.force = force

    def step(self, n: int) -> None:
        pushed = bool(np.any(self.force))
        for _ in range(n):
            if pushed:
                at = self.p.getBasePositionAndOrientation(self.bodies[0])[0]
                self.p.applyExternalForce(self.bodies[0], -1, self.force.tolist(), at, self.p.WORLD_FRAME)
            self.p.stepSimulation()

    def position(self, i: int) -> np.ndarray:
        return np.array(self.p.getBasePositionAndOrientation(self.bodies[i])[0])

    def spin(self) -> np.ndarray:
        quaternion = self.p.getBasePositionAndOrientation(self.bodies[0])[1]
        R = np.array(self.p.getMatrixFromQuaternion(quaternion)).reshape(3, 3)
        return R.T @ np.array(self.p.getBaseVelocity(self.bodies[0])[1])


PEERS: dict[str, Callable[[list[Box], float, bool], Any]] = {
    "tribo": Tribo, "mujoco": MuJoCo, "mujoco-discrete": MuJoCoDiscrete, "drake": Drake, "dart": Dart, "pybullet": Bullet}


def cube(edge: float, mass: float, height: float, **more: Any) -> Box:
    return Box((edge, edge, edge), mass, (0, 0, height), **more)


def creep(peer: Any) -> float:
    """A box pushed with four fifths of what friction holds [um/s]."""
    world = peer([cube(0.2, 1, 0.1)], DT, True)
    world.step(500)
    world.push(np.array([0.8 * MU * G, 0, 0]))
    world.step(500)
    p = world.position(0)
    world.step(4000)
    return 1e6 * float(np.linalg.norm(world.position(0) - p)) / 4


def slide(peer: Any) -> tuple[float, float]:
    """A flat box that slides to rest: error of its way [mm], beside the sum over the steps, and how far it rises [um]."""
    speed, n = 2.0, 1000
    world = peer([Box((0.3, 0.3, 0.1), 1, (0, 0, 0.05), velocity=(speed, 0, 0))], DT, True)
    way = sum(max(speed - MU * G * DT * k, 0) for k in range(1, n + 1)) * DT
    rise = 0.0
    for _ in range(n // 5):
        world.step(5)
        rise = max(rise, float(world.position(0)[2]) - 0.05)
    return 1e3 * abs(float(world.position(0)[0]) - way), 1e6 * rise


def heavy(peer: Any) -> float:
    """1000 kg on 1 kg: how much lower than it should be the upper box is [mm]; infinite where it fell off."""
    world = peer([cube(0.2, 1, 0.1), cube(0.2, 1000, 0.3)], DT, True)
    world.step(2000)
    p = world.position(1)
    return 1e3 * abs(float(p[2]) - 0.3) if np.isfinite(p).all() and p[2] > 0.2 else np.inf


def stack(peer: Any) -> float:
    """Ten cubes: how far the highest is from where it should be after 5 s [mm]."""
    world = peer([cube(0.1, 1, 0.05 + 0.1 * k) for k in range(10)], DT, True)
    world.step(5000)
    return 1e3 * float(np.linalg.norm(world.position(9) - [0, 0, 0.95]))


def turning(peer: Any) -> float:
    """A free plate at 100 rad/s: change of its energy in 10 s [share]."""
    plate = Box((0.3, 0.1, 0.02), 1, (0, 0, 0), spin=(60, 50, 62.4))
    world = peer([plate], DT, False)
    energy = [0.0, 0.0]
    for k in range(2):
        with np.errstate(over="ignore"):
            energy[k] = float(plate.inertia() @ np.square(world.spin()))
        world.step(10000 * (1 - k))
    return abs(energy[1] / energy[0] - 1)


def cost(peer: Any, boxes: list[Box]) -> float:
    """Of a step, at rest: CPU time [us], the least of five."""
    world = peer(boxes, DT, True)
    world.step(500)
    least = np.inf
    for _ in range(5):
        begun = time.process_time()
        world.step(400)
        least = min(least, (time.process_time() - begun) / 400)
    return 1e6 * least


def figures(peer: Any) -> dict[str, float]:
    way, rise = slide(peer)
    pile = [Box((0.1, 0.1, 0.1), 1, (0.11 * i, 0.11 * j, 0.05 + 0.1 * k)) for i in range(3) for j in range(3) for k in range(3)]
    return {"creep": creep(peer), "slide": way, "rise": rise, "heavy": heavy(peer), "stack": stack(peer), "spin": turning(peer),
            "cost_cube": cost(peer, [cube(0.1, 1, 0.05)]),
            "cost_stack": cost(peer, [cube(0.1, 1, 0.05 + 0.1 * k) for k in range(10)]), "cost_pile": cost(peer, pile)}


def main() -> None:
    name, out = sys.argv[1:3]
    peer = PEERS[name]
    begun = time.process_time()
    version = peer([cube(0.1, 1, 0.05)], DT, True).version
    ready = time.process_time() - begun
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"peer": name, "version": version, "ready": ready, **figures(peer)}, file, indent=1)


if __name__ == "__main__":
    main()
