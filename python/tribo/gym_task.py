"""What a legged robot is asked to do: observations, rewards, randomisation and terrain as lists of named terms.

    task = tribo.gym.Task(robot="go2-standing")
    task.rewards["torque"].weight = -1e-3
    task.rewards.add("level", lambda w: (w.gravity[:, :2] ** 2).sum(axis=1), -0.5)
    task.observations.remove("linear")
    env = tribo.gym.VelocityVectorEnv(64, task=task)

A term is a function of `Worlds`: arrays with a row a world. Observations are (n) or (n, k), rewards (n).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from .gym import VelocityVectorEnv

    Array = NDArray[np.float64]
    Function = Callable[..., Any]


@dataclasses.dataclass
class Term:
    """A named function of the worlds; what it says counts times its weight."""

    name: str
    function: Function
    weight: float = 1.0


class Terms(list[Term]):
    """Terms in their order, by index or by name."""

    def __init__(self, terms: Iterable[tuple[str, Function] | tuple[str, Function, float] | Term] = ()) -> None:
        super().__init__(t if isinstance(t, Term) else Term(*t) for t in terms)

    def _at(self, name: str) -> int:
        for i, term in enumerate(self):
            if term.name == name:
                return i
        raise KeyError(f"no term '{name}'; there are: {', '.join(t.name for t in self) or 'none'}")

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self._at(key) if isinstance(key, str) else key)

    def add(self, name: str, function: Function, weight: float = 1.0) -> None:
        """A new term, in the place of the one that is called so."""
        if any(t.name == name for t in self):
            super().__setitem__(self._at(name), Term(name, function, weight))
        else:
            self.append(Term(name, function, weight))

    def remove(self, term: Any) -> None:
        if isinstance(term, str):
            del self[self._at(term)]
        else:
            super().remove(term)


def turned(quaternion: Array, x: Array) -> Array:
    """Vectors (..., 3) in the world, from those in the axes of a body; quaternions xyzw (..., 4)."""
    u, w = quaternion[..., :3], quaternion[..., 3:]
    t = 2 * np.cross(u, x)
    return np.asarray(x + w * t + np.cross(u, t))


def squares(x: Array) -> Array:
    """Sums of the squares of the rows of (n, k)."""
    if x.shape[1] == 2:  # two passes along the worlds instead of one along pairs
        return np.asarray(x[:, 0] * x[:, 0] + x[:, 1] * x[:, 1])
    return np.asarray(np.einsum("ij,ij->i", x, x))


def _run(indices: NDArray[Any]) -> Any:
    """The same as a slice where they follow each other: what it takes is then a view."""
    first = int(indices[0]) if len(indices) else 0
    return slice(first, first + len(indices)) if (indices == first + np.arange(len(indices))).all() else indices


def around(sine: Array, cosine: Array, phases: Array) -> tuple[Array, Array]:
    """Sines and cosines of clocks (n) that are ahead by phases (k), of a turn: (k, n)."""
    s, c = np.sin(2 * np.pi * phases)[:, None], np.cos(2 * np.pi * phases)[:, None]
    return sine * c + cosine * s, cosine * c - sine * s


class Worlds:
    """What terms read, at the end of a step of the environment: arrays with a row a world. All are computed where they
    are first asked for."""

    def __init__(self, env: VelocityVectorEnv) -> None:
        self.env = env
        self.robot = env.robot

    @property
    def command(self) -> Array:
        """Velocity that is asked for: forward, to the left [m/s], yaw rate [rad/s] (n, 3)."""
        return self.env.command

    @property
    def action(self) -> Array:
        """The last one (n, joints) [-]."""
        return self.env.action

    @property
    def action_before(self) -> Array:
        """The one before (n, joints) [-]."""
        return self.env.action_before

    @cached_property
    def linear(self) -> Array:
        """Velocity of the base, in its axes (n, 3) [m/s]."""
        return self.env.batch.v[:, self.robot.iv:self.robot.iv + 3]

    @cached_property
    def angular(self) -> Array:
        """Angular velocity of the base, in its axes (n, 3) [rad/s]."""
        return self.env.batch.v[:, self.robot.iv + 3:self.robot.iv + 6]

    @cached_property
    def gravity(self) -> Array:
        """Direction of gravity, in the axes of the base (n, 3) [-]."""
        x, y, z, w = self.env.batch.q[:, self.robot.iq + 3:self.robot.iq + 7].T.copy()
        out = np.empty((len(x), 3))
        out[:, 0] = 2 * (y * w - x * z)
        out[:, 1] = -2 * (y * z + x * w)
        out[:, 2] = 2 * (x * x + y * y) - 1
        return out

    @cached_property
    def joints(self) -> Array:
        """Joints less the standing pose (n, joints) [rad]."""
        return np.asarray(self.env.batch.q[:, self.robot.at_q] - self.robot.pose)

    @cached_property
    def joint_velocities(self) -> Array:
        """(n, joints) [rad/s]."""
        return self.env.batch.v[:, self.robot.at_v]

    @cached_property
    def torque(self) -> Array:
        """Of the joints, in the last step of the simulation (n, joints) [N m]."""
        return self.env.batch.tau[:, self.robot.at_v]

    @cached_property
    def height(self) -> Array:
        """Of the base above the ground under it (n) [m]."""
        p = self.env.batch.q[:, self.robot.iq:self.robot.iq + 3]
        return p[:, 2] - self.env.ground(p[:, :2])

    @cached_property
    def foot_force(self) -> Array:
        """Normal force of each foot, in the last step of the simulation (n, feet) [N]."""
        if self.robot.has_feet:
            return np.asarray(self.env.batch.foot_force)
        rows = self.env.batch.contact_rows
        out = np.zeros((self.env.num_envs, len(self.robot.foot_geometries)))
        for i, g in enumerate(self.robot.foot_geometries):
            mine = (rows.geometry_a == g) | (rows.geometry_b == g)
            np.add.at(out[:, i], rows.world[mine], np.abs((rows.force * rows.normal).sum(axis=1))[mine])
        return out

    @cached_property
    def foot_position(self) -> Array:
        """Lowest points of the feet, in the world (n, feet, 3) [m]."""
        p = self.env.feet.position.copy()
        p[..., 2] -= self.robot.foot_radius
        return p

    @cached_property
    def foot_height(self) -> Array:
        """Of the feet above the ground under them (n, feet) [m]."""
        p = self.env.feet.position
        return np.asarray(p[..., 2] - self.robot.foot_radius - self.env.ground(p[..., :2]))

    @cached_property
    def foot_velocity(self) -> Array:
        """Of the middles of the feet, in the world (n, feet, 3) [m/s]."""
        return self.env.feet.velocity

    @cached_property
    def phase(self) -> Array:
        """Of each foot on the clock of the gait, in [0, 1): it swings in the first half (n, feet)."""
        return (self.env.clock[:, None] + self.robot.foot_phase) % 1.0

    @cached_property
    def swing(self) -> Array:
        """Height that each foot has on the clock, as a share of Task.swing_height (n, feet) [-]."""
        sine, _ = around(*self.circle, self.robot.phases)
        return np.maximum(sine, 0.0)[self.robot.foot_group].T

    @cached_property
    def circle(self) -> tuple[Array, Array]:
        """Sine and cosine of the clock of the gait (n) [-]."""
        turns = 2 * np.pi * self.env.clock
        return np.sin(turns), np.cos(turns)

    @cached_property
    def heights(self) -> Array:
        """Of the ground at the points of Task.scan about the base, less the height of the base (n, points) [m]."""
        scan = np.asarray(self.env.batch.height_scan(self.robot.name, self.env.task.scan))
        return scan - self.env.batch.q[:, self.robot.iq + 2:self.robot.iq + 3]


class Robot:
    """The robot of a scene: where its joints and feet stand in the arrays."""

    def __init__(self, model: _core.Model, q: Array) -> None:
        found = [m for m in model.members if m.robot]
        if not found or model.bodies[found[0].first_body].joint != _core.JointKind.Free:
            raise _core.InvalidInput("the scene has no robot with a free base that could walk")
        member = found[0]
        self.has_feet = bool(member.feet)  # known to the scene; else the lowest shapes at the ends of its limbs
        indices = list(member.feet) or _lowest_ends(model, member, np.array(q))
        self.foot_geometries = np.array(indices)
        self.name, self.iq, self.iv = member.name, member.iq, member.iv
        bodies = [b for b in model.bodies[member.first_body:member.first_body + member.bodies]
                  if b.nv == 1 and b.nq == 1 and model.effort_limit[b.iv] > 0]
        self.joints = [b.name.split("/", 1)[-1] for b in bodies]
        self.joint_q, self.joint_v = np.array([b.iq for b in bodies]), np.array([b.iv for b in bodies])
        self.at_q, self.at_v = _run(self.joint_q), _run(self.joint_v)
        self.pose = np.array(q)[self.joint_q]
        feet = [model.geometries[g] for g in indices]
        self.feet = [g.name for g in feet]
        self.foot_body = np.array([g.body for g in feet])
        self.foot_point = np.array([g.placement[:3, 3] for g in feet])
        poses = model.poses(np.array(q))
        places = np.array([poses[b][:3, :3] @ p + poses[b][:3, 3] for b, p in zip(self.foot_body, self.foot_point)])
        balls = np.array([g.size[0] if g.kind == _core.ShapeKind.Sphere else np.nan for g in feet])
        # Of other shapes, what it stands on: the feet of the start touch the ground.
        self.foot_radius = np.where(np.isnan(balls), places[:, 2] - (places[:, 2] - np.nan_to_num(balls)).min(), balls)
        self.foot_phase = alternating(places[:, :2] - np.array(q)[self.iq:self.iq + 2])
        self.lift, self.stride, self.joint_phase = self._legs(model, np.array(q), places[:, :2] - np.array(q)[self.iq:self.iq + 2])
        # Feet step in few groups, and so do joints: what the clock says is found once a group.
        self.phases = np.unique(np.append(self.foot_phase, self.joint_phase))
        self.foot_group = np.searchsorted(self.phases, self.foot_phase)
        self.in_group = (self.joint_phase == self.phases[:, None]).astype(float)  # (groups, joints)

    def _legs(self, model: _core.Model, q: Array, places: Array) -> tuple[Array, Array, Array]:
        """Least changes of the joints of a leg: those that lift its foot by a metre (joints) [rad/m], and those that move it as
        a base does that goes forward, to the left or turns at 1 m/s or 1 rad/s for a second (joints, 3); and the phase of
        each joint's foot."""
        n, step = len(self.joints), 1e-5
        lift, stride, phase = np.zeros(n), np.zeros((n, 3)), np.zeros(n)
        for body in dict.fromkeys(self.foot_body.tolist()):
            mine = self.foot_body == body
            point = self.foot_point[mine].mean(axis=0)
            slope = np.zeros((3, len(self.joints)))
            for j, i in enumerate(self.joint_q):
                for sign in (1, -1):
                    moved = q.copy()
                    moved[i] += sign * step
                    pose = model.poses(moved)[body]
                    slope[:, j] += sign / (2 * step) * (pose[:3, :3] @ point + pose[:3, 3])
            carried = np.abs(slope).max(axis=0) > 1e-6
            inverse = np.linalg.pinv(slope[:, carried], rcond=1e-3)
            x, y = places[mine].mean(axis=0)
            lift[carried] = inverse @ [0.0, 0.0, 1.0]
            stride[carried] = inverse @ [[1.0, 0.0, -y], [0.0, 1.0, x], [0.0, 0.0, 0.0]]
            phase[carried] = self.foot_phase[mine][0]
        return lift, stride, phase


def _lowest_ends(model: _core.Model, member: _core.Member, q: Array) -> list[int]:
    """Geometries of bodies without children whose middles lie lowest, one a body, where the robot stands at q."""
    last = member.first_body + member.bodies
    parents = {b.parent for b in model.bodies[member.first_body:last]}
    poses = model.poses(q)
    low: dict[int, tuple[float, int]] = {}
    for i, g in enumerate(model.geometries):
        if member.first_body <= g.body < last and g.body not in parents:
            z = float((poses[g.body] @ g.placement)[2, 3])
            low[g.body] = min(low.get(g.body, (np.inf, -1)), (z, i))
    if not low:
        raise _core.InvalidInput(f"'{member.name}' has no limbs whose ends could be feet")
    heights = [z for z, _ in low.values()]
    floor, base = min(heights), float(q[member.iq + 2])
    return [i for z, i in low.values() if z < floor + 0.25 * (base - floor)]


def alternating(places: Array) -> Array:
    """Phases of feet (n, 2) that step in two groups: neighbours along a side and across it are half a period apart, which
    is a walk of two legs, a trot of four and a tripod gait of six. Feet at one place (points of a sole) step together."""
    out = np.zeros(len(places))
    legs: list[list[int]] = []
    size = np.ptp(places, axis=0).max()
    for i, p in enumerate(places):
        near = [leg for leg in legs if np.linalg.norm(places[leg].mean(axis=0) - p) < 0.25 * size]
        if near and len(places) > 4:
            near[0].append(i)
        else:
            legs.append([i])
    for side in (1, -1):
        mine = [leg for leg in legs if side * places[leg][:, 1].mean() > 0]
        mine.sort(key=lambda leg: -places[leg][:, 0].mean())
        for k, leg in enumerate(mine):
            out[leg] = 0.5 * ((k + (side < 0)) % 2)
    return out


@dataclasses.dataclass
class Terrain:
    """Patches of rough ground in a row, harder from one to the next. A robot that walks far enough in an episode begins the
    next one on the next patch, one that does not on the one before."""

    levels: int = 6
    patch: float = 4.0  # length of a patch [m]
    spacing: float = 0.08  # of the points [m]
    roughness: float = 0.05  # standard deviation on the last patch [m]
    seed: int = 1

    def heights(self) -> Array:
        """Rows along x, the first at the least y (ny, nx) [m]."""
        n = round(self.patch / self.spacing)
        rng = np.random.default_rng(self.seed)
        rough = rng.normal(0.0, 1.0, (n + 1, n * self.levels + 1))
        rise = np.repeat(np.linspace(0.0, self.roughness, self.levels), n)
        return np.asarray(rough * np.append(rise, self.roughness))


def uniform(low: float, high: float) -> Callable[[Generator, int], Array]:
    """Draws for n worlds."""
    return lambda rng, n: rng.uniform(low, high, n)


OBSERVATIONS: list[tuple[str, Function]] = [
    ("gravity", lambda w: w.gravity), ("linear", lambda w: w.linear), ("angular", lambda w: w.angular),
    ("joints", lambda w: w.joints), ("joint_velocities", lambda w: w.joint_velocities), ("action", lambda w: w.action),
    ("command", lambda w: w.command),
    ("clock", lambda w: np.stack(w.circle, axis=1))]


def _follow(w: Worlds) -> Array:
    forward, left = (w.linear[:, i] - w.command[:, i] for i in (0, 1))
    return np.asarray(np.exp(-(forward * forward + left * left) / 0.05))


def _turn(w: Worlds) -> Array:
    return np.exp(-((w.angular[:, 2] - w.command[:, 2]) ** 2) / 0.25)


def _clearance(w: Worlds) -> Array:
    """Feet follow an arc in the first half of their phase, and stand in the second."""
    miss = w.foot_height / w.env.task.swing_height - w.swing
    return np.asarray(np.exp(-2 / miss.shape[1] * squares(miss)))


def _slip(w: Worlds) -> Array:
    x, y = w.foot_velocity[..., 0], w.foot_velocity[..., 1]
    return np.asarray(np.einsum("ij,ij->i", x * x + y * y, w.foot_force > 0))


REWARDS: list[tuple[str, Function, float]] = [
    ("follow", _follow, 1.5), ("turn", _turn, 0.75), ("clearance", _clearance, 1.0),
    ("upright", lambda w: squares(w.gravity[:, :2]), -1.0),
    ("bounce", lambda w: w.linear[:, 2] ** 2, -1.0),
    ("roll", lambda w: squares(w.angular[:, :2]), -0.02),
    ("slip", _slip, -0.1),
    ("pose", lambda w: squares(w.joints), -0.03),
    ("torque", lambda w: squares(w.torque), -2e-3),
    ("smooth", lambda w: squares(w.action - w.action_before), -0.01)]

RANDOMIZATION: list[tuple[str, Function]] = [
    ("mass", uniform(0.85, 1.15)), ("friction", uniform(0.75, 1.25)), ("gains", uniform(0.85, 1.15))]


def fallen(w: Worlds) -> NDArray[np.bool_]:
    """Tilted by more than 53 degrees, or lower than half of the standing height."""
    down: NDArray[np.bool_] = (w.gravity[:, 2] > -0.6) | (w.height < 0.5 * w.env.height)
    return down


@dataclasses.dataclass
class Task:
    """A legged robot follows a velocity that it is told."""

    robot: str = "solo12"  # a robot or a scene by name or file
    dt: float = 4e-3  # of the simulation [s]
    steps: int = 5  # of the simulation in one of the environment
    kp: float = 10.0  # of the joints [N m/rad]
    kd: float = 0.3  # [N m s/rad]
    reach: float = 0.5  # what an action of 1 moves a joint's reference by [rad]
    episode: float = 10.0  # [s]
    command: tuple[float, float, float] = (0.5, 0.3, 0.6)  # largest, forward and to the left [m/s], yaw [rad/s]
    command_time: float = 5.0  # between new commands [s]
    frequency: float = 2.5  # of the gait [Hz]
    swing_height: float = 0.06  # of a foot [m]
    lift: float = 1.0  # share of that which the references of the joints do by themselves, on the clock; the rest is learnt
    stride: float = 1.0  # likewise of the way of a foot that a base at the commanded velocity leaves behind
    settings: dict[str, object] = dataclasses.field(default_factory=lambda: {"material.default.mu": 0.8})
    observations: Terms = dataclasses.field(default_factory=lambda: Terms(OBSERVATIONS))
    rewards: Terms = dataclasses.field(default_factory=lambda: Terms(REWARDS))
    randomization: Terms = dataclasses.field(default_factory=Terms)  # parameters of Batch.set_parameters: f(rng, n)
    terminations: Terms = dataclasses.field(default_factory=lambda: Terms([("fallen", fallen)]))
    terrain: Terrain | None = None
    scan: Any = None  # points (n, 2) of Worlds.heights [m]
