"""What a hand can do with one world or with many: the same names in Simulation and Batch.

Answers of a Batch have one more dimension, the worlds, in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _core

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


    Array = NDArray[np.float64]
    Image = NDArray[np.uint8]


class Named(np.ndarray[Any, np.dtype[np.float64]]):
    """An array whose entries along one axis have names: x["robot/hip"] is x[..., i], for reading and writing."""

    _find: Callable[[str], Any] | None = None

    @staticmethod
    def of(array: Array, find: Callable[[str], Any]) -> Named:
        named = array.view(Named)
        named._find = find
        return named

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if self._find is None:
                raise IndexError(f"'{key}': the entries of a part of the array have no names")
            key = self._find(key)
        return np.asarray(self)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            if self._find is None:
                raise IndexError(f"'{key}': the entries of a part of the array have no names")
            key = self._find(key)
        np.asarray(self)[key] = value


def _by_joint(model: _core.Model, *, velocities: bool) -> Callable[[str], Any]:
    """Where the coordinate of a joint, or those of a robot or object, stand in q or v."""

    def find(name: str) -> Any:
        for member in model.members:
            if member.name == name:
                first, n = (member.iv, member.nv) if velocities else (member.iq, member.nq)
                return (..., slice(first, first + n))
        index = model.body(name)
        if index < 0:
            raise _core.InvalidInput(f"'{name}' is a kinematic body: it has no joint")
        body = model.bodies[index]
        first, n = (body.iv, body.nv) if velocities else (body.iq, body.nq)
        return (..., first) if n == 1 else (..., slice(first, first + n))

    return find


def _body_of(model: _core.Model, name: str) -> int:
    """A body by its own name or by that of a link of its file, which may be one of several that are fixed to each other."""
    try:
        return model.body(name)
    except _core.InvalidInput:
        links = {f.body for f in model.frames if f.name == name or f.name.endswith("/" + name)}
        if len(links) != 1 or min(links) < 0:
            raise
        return links.pop()


def by_body(model: _core.Model) -> Callable[[str], Any]:
    def find(name: str) -> Any:
        for member in model.members:
            if member.name == name:
                return (..., member.first_body, slice(None))
        index = _body_of(model, name)
        if index < 0:
            raise _core.InvalidInput(f"'{name}' is a kinematic body: forces do not move it")
        return (..., index, slice(None))

    return find


def feet_of(model: _core.Model) -> list[int]:
    """Geometries of the feet of the first robot that has any."""
    return next((list(m.feet) for m in model.members if m.feet), [])


def by_foot(model: _core.Model, *, vectors: bool) -> Callable[[str], Any]:
    def find(name: str) -> Any:
        names = [model.geometries[g].name for g in feet_of(model)]
        found = [i for i, known in enumerate(names) if known == name or known.endswith("/" + name)]
        if len(found) != 1:
            raise _core.InvalidInput(f"foot '{name}' is {'one of several' if found else 'unknown'}; known: "
                                     f"{', '.join(names) or 'none'}")
        return (..., found[0], slice(None)) if vectors else (..., found[0])

    return find


def _by_actuator(model: _core.Model) -> Callable[[str], Any]:
    names: list[str] = _core._actuator_names(model)

    def find(name: str) -> Any:
        found = [i for i, known in enumerate(names) if known == name or known.endswith("/" + name)]
        if len(found) != 1:
            fitting = [names[i] for i in found]
            raise _core.InvalidInput(f"actuator '{name}' is {'one of ' + ', '.join(fitting) if found else 'unknown'}; "
                                     f"known: {', '.join(names) or 'none'}")
        return (..., found[0])

    return find


def joints_of(model: _core.Model, names: Iterable[str] | None) -> list[int]:
    """Velocity coordinates of joints, robots and objects by name; none where none are given."""
    find = _by_joint(model, velocities=True)
    out: list[int] = []
    for name in names or ():
        out += [int(i) for i in np.atleast_1d(np.arange(model.nv)[find(name)[-1]])]
    return out


def _pose(place: ArrayLike) -> tuple[Array, bool]:
    """A pose (4, 4), or a position (3) alone; and whether the orientation is asked for."""
    x = np.asarray(place, dtype=float)
    if x.shape == (4, 4):
        return np.ascontiguousarray(x), True
    if x.shape != (3,):
        raise _core.InvalidInput(f"a target has shape {x.shape}, must be a pose (4, 4) or a position (3)")
    pose = np.eye(4)
    pose[:3, 3] = x
    return pose, False


def push_of(**vectors: ArrayLike | None) -> dict[str, Array]:
    """Those that are given, as arrays."""
    return {key: np.asarray(x, dtype=float) for key, x in vectors.items() if x is not None}


def inverse_kinematics(model: _core.Model, q: ArrayLike, targets: Mapping[str, ArrayLike], *,
                       joints: Iterable[str] | None = None, tolerance: float = 1e-6, iterations: int = 100,
                       starts: int = 8) -> _core.IkResult:
    """Joints that bring frames or bodies to poses (4, 4) or positions (3) in the world, within their ranges.

    q: where the search begins (nq); what is not on the way to the frames stays. joints: names of those that may move, or
    of robots; those on the way to the frames, but no free base, where none are given. Where the first start does not
    converge, others within the ranges are tried, the same in every call.
    """
    listed = []
    for name, place in targets.items():
        pose, oriented = _pose(place)
        listed.append((name, pose, True, oriented))
    return _core._inverse_kinematics(model, np.asarray(q, dtype=float), listed, joints_of(model, joints), tolerance,
                                     iterations, starts)


class Hand:
    """Base of Simulation and Batch."""

    _single = False  # one world: answers without the dimension of the worlds

    # What the two give.
    def _model(self) -> _core.Model:
        raise NotImplementedError

    def _rows(self) -> tuple[Array, Array, Array]:
        """q (n, nq), v (n, nv), t (n)."""
        raise NotImplementedError

    def _kinematic(self) -> list[_core._KinematicCommands]:
        """What kinematic bodies are told (n)."""
        raise NotImplementedError

    def _contacts_of(self, world: int) -> list[_core.Contact]:
        raise NotImplementedError

    def _scene_of(self) -> _core.Scene:
        raise NotImplementedError

    def _command_array(self, name: str) -> Array:
        raise NotImplementedError

    # Commands.
    @property
    def target(self) -> Named:
        """Reference of the pd controllers, in the layout of q; write to it, by index or by joint: target["hip"] = 0.3."""
        if not self._scene_of()._has_pd:
            raise _core.InvalidInput("the scene has no pd controller that a target could be given to: load it with "
                                     "controller='pd', or command torque")
        return Named.of(self._command_array("target"), _by_joint(self._model(), velocities=False))

    @target.setter
    def target(self, value: ArrayLike) -> None:
        np.asarray(self.target)[...] = value

    @property
    def torque(self) -> Named:
        """Torque added to that of the controllers, within the limits (nv) [N m] or [N]; write to it, by index or joint."""
        return Named.of(self._command_array("torque"), _by_joint(self._model(), velocities=True))

    @torque.setter
    def torque(self, value: ArrayLike) -> None:
        np.asarray(self.torque)[...] = value

    @property
    def ctrl(self) -> Named:
        """Controls of the actuators that the robots' files describe (nu), in their units; write to it, by index or name."""
        if not self._scene_of()._has_actuators:
            raise _core.InvalidInput("the scene has no controller 'actuators' that a control could be given to: load it "
                                     "with controller='actuators' (of an MJCF file)")
        return Named.of(self._command_array("ctrl"), _by_actuator(self._model()))

    @ctrl.setter
    def ctrl(self, value: ArrayLike) -> None:
        np.asarray(self.ctrl)[...] = value

    @property
    def gains(self) -> Named:
        """Factors on kp and kd of the pd controllers (nv) [-]; write to it, by index or joint. A reset keeps them."""
        return Named.of(self._command_array("gains"), _by_joint(self._model(), velocities=True))

    @gains.setter
    def gains(self, value: ArrayLike) -> None:
        np.asarray(self.gains)[...] = value

    @property
    def actuators(self) -> list[str]:
        """Names of the actuators, in the order of ctrl."""
        return list(_core._actuator_names(self._model()))

    @property
    def wrench(self) -> Named:
        """Force at the centre of mass and torque on every body, in the world (bodies, 6) [N], [N m]; write to it, by index
        or body: wrench["cube"] = [1, 0, 0, 0, 0, 0]. It acts until it is changed."""
        return Named.of(self._command_array("wrench"), by_body(self._model()))

    @wrench.setter
    def wrench(self, value: ArrayLike) -> None:
        np.asarray(self.wrench)[...] = value

    # Questions.
    def _ask(self, name: str, *arguments: Any) -> Any:
        model = self._model()
        kept = cast("tuple[_core.Model, _core._Inquiry] | None", getattr(self, "_inquiry", None))
        if kept is None or kept[0] is not model:
            kept = (model, _core._Inquiry(model))
            self._inquiry = kept
        q, v, t = self._rows()
        commands = self._kinematic() if model.kinematic else []
        return getattr(kept[1], name)(_core._Worlds(np.ascontiguousarray(q), np.ascontiguousarray(v),
                                                    np.ascontiguousarray(t), commands), *arguments)

    def _answer(self, name: str, *arguments: Any) -> Array:
        answer: Array = self._ask(name, *arguments)
        return answer[0] if self._single else answer

    def pose(self, name: str) -> Array:
        """Pose of a body or frame, or of the first body of a robot or object, in the world (4, 4) [m]."""
        return self._answer("pose", name)

    def velocity(self, name: str) -> Array:
        """Velocity of its origin and angular velocity, in the world (6) [m/s], [rad/s]."""
        return self._answer("velocity", name)

    def jacobian(self, name: str) -> Array:
        """What velocity(name) is of v: velocity = jacobian @ v (6, nv)."""
        return self._answer("jacobian", name)

    @property
    def feet(self) -> list[str]:
        """Names of the feet of the first robot that has any, in the order of foot_position, foot_velocity and foot_force."""
        model = self._model()
        return [model.geometries[g].name for g in feet_of(model)]

    def _feet(self) -> tuple[Array, Array]:
        """Places and velocities of the middles of their shapes."""
        feet = [self._model().geometries[g] for g in feet_of(self._model())]
        points = np.array([g.placement[:3, 3] for g in feet]).reshape(-1, 3)
        both = self._answer("points", [g.body for g in feet], points)
        return both[..., :3], both[..., 3:]

    @property
    def foot_position(self) -> Named:
        """Middles of the feet, in the world (feet, 3) [m]; by index or foot. In a Batch a view, which follows every step from
        the first look on."""
        return Named.of(self._feet()[0], by_foot(self._model(), vectors=True))

    @property
    def foot_velocity(self) -> Named:
        """Of the middles of the feet, in the world (feet, 3) [m/s]; as foot_position."""
        return Named.of(self._feet()[1], by_foot(self._model(), vectors=True))

    def _foot_forces(self) -> Array:
        feet = feet_of(self._model())
        out = np.zeros(len(feet))
        for c in self._contacts_of(0):
            for i, g in enumerate(feet):
                if g in (c.geometry_a, c.geometry_b):
                    out[i] += float(np.dot(c.force, c.normal))
        return out

    @property
    def foot_force(self) -> Named:
        """Normal force of each foot in the last step (feet) [N]; by index or foot. In a Batch a view."""
        return Named.of(self._foot_forces(), by_foot(self._model(), vectors=False))

    @property
    def M(self) -> Array:
        """Mass matrix, with rotor inertias (nv, nv)."""
        return self._answer("mass_matrix")

    @property
    def bias(self) -> Array:
        """Coriolis, centrifugal and gravity forces: M vdot + bias = tau (nv). Of a free joint, vdot is the acceleration in
        axes that stand still."""
        return self._answer("bias")

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy (2) [J]."""
        return self._answer("energy")

    def center_of_mass(self, name: str | None = None) -> Array:
        """Of a robot or object, or of all that moves (3) [m]."""
        return self._answer("center_of_mass", name)

    def contacts_between(self, a: str, b: str | None = None, *, world: int = 0) -> list[_core.Contact]:
        """Contacts of the last step between two robots, objects, bodies or geometries ("world": all that is fixed), or
        those of the first with anything."""
        model = self._model()
        first = set(_core._geometries(model, a))
        second = set(range(len(model.geometries))) if b is None else set(_core._geometries(model, b))
        return [c for c in self._contacts_of(world)
                if (c.geometry_a in first and c.geometry_b in second) or (c.geometry_b in first and c.geometry_a in second)]

    def force_on(self, name: str, other: str | None = None) -> Array:
        """Sum of the contact forces on a robot, object, body or geometry, of another or of all, in the world (3) [N]."""
        mine = set(_core._geometries(self._model(), name))
        out = np.zeros((len(self._rows()[2]), 3))
        for w in range(len(out)):
            for c in self.contacts_between(name, other, world=w):
                inner = c.geometry_a in mine and c.geometry_b in mine
                out[w] += 0 if inner else c.force if c.geometry_b in mine else -np.array(c.force)
        return out[0] if self._single else out

    def ray(self, origin: ArrayLike, direction: ArrayLike, *, most: float = 100.0, ignore: Sequence[str] = (),
            world: int = 0) -> _core.RayHit:
        """The first shape that a ray meets, up to `most` [m]; it passes robots, objects, bodies and geometries that are to
        be ignored."""
        return cast(_core.RayHit, self._ask("ray", world, np.asarray(origin, dtype=float),
                                            np.asarray(direction, dtype=float), most, list(ignore)))

    def rays(self, origins: ArrayLike, directions: ArrayLike, *, most: float = 100.0, ignore: Sequence[str] = (),
             world: int = 0) -> Array:
        """Distances (n) [m] of many rays from origins (n, 3) along directions (n, 3) or (3); infinite where they miss."""
        start = np.ascontiguousarray(origins, dtype=float)
        along = np.ascontiguousarray(np.broadcast_to(np.asarray(directions, dtype=float), start.shape))
        return cast("Array", self._ask("rays", world, start, along, most, list(ignore)))

    def height_scan(self, name: str, points: ArrayLike, *, above: float = 1.0, most: float = 100.0,
                    ignore: Sequence[str] | None = None) -> Array:
        """Height of the ground (n) [m] at points (n, 2) about a robot, body or frame, turned with its heading.

        Rays fall from `above` [m] over it; NaN where there is nothing. The robot or object itself is not seen; name what
        else is to be ignored.
        """
        grid = np.ascontiguousarray(np.asarray(points, dtype=float).reshape(-1, 2))
        own = [name.split("/")[0]] if any(m.name == name.split("/")[0] for m in self._model().members) else []
        return self._heights(name, grid, above, most, list(own if ignore is None else ignore))

    def _heights(self, name: str, points: Array, above: float, most: float, ignored: list[str]) -> Array:
        return self._answer("height_scan", name, points, above, most, ignored)

    def distance(self, a: str, b: str, *, most: float = 10.0, world: int = 0) -> _core.Nearest:
        """The nearest points of two robots, objects, bodies or geometries, up to `most` [m]."""
        return cast(_core.Nearest, self._ask("distance", world, a, b, most))

    def ik(self, targets: Mapping[str, ArrayLike], *, q: ArrayLike | None = None, joints: Iterable[str] | None = None,
           tolerance: float = 1e-6, iterations: int = 100, starts: int = 8, world: int = 0) -> _core.IkResult:
        """Joints that bring frames or bodies to poses (4, 4) or positions (3), within their ranges: sim.ik({"hand": pose}).

        The search begins at q, or where the world is. See tribo.inverse_kinematics.
        """
        start = self._rows()[0][world] if q is None else q
        return inverse_kinematics(self._model(), start, targets, joints=joints, tolerance=tolerance,
                                  iterations=iterations, starts=starts)

    # What constraints are: of a world whose constraints are called so.
    def _frame_of(self, name: str, world: int) -> Array:
        """Pose of the body that a name stands for, not of a frame on it."""
        model = self._model()
        for frame in model.frames:
            if frame.name == name and frame.body >= 0:
                pose: Array = model.poses(self._rows()[0][world])[frame.body]
                return pose
        answer: Array = self._ask("pose", name)[world]
        return answer

    def _welded(self, known: Sequence[str], world: int, a: str, b: str, name: str | None) -> _core._ModelChanges:
        called = f"{a} on {b}" if name is None else name
        if called in known:
            raise _core.InvalidInput(f"there is a constraint '{called}' already: release it first")
        other = np.eye(4) if b == "world" else self._frame_of(b, world)
        changes = _core._ModelChanges()
        changes.weld(self._model(), called, a, b, np.ascontiguousarray(np.linalg.inv(self._frame_of(a, world)) @ other))
        return changes

    @staticmethod
    def _released(known: Sequence[str], name: str, b: str | None) -> _core._ModelChanges:
        called = name if b is None else f"{name} on {b}"
        if called not in known and b is None:
            fitting = [k for k in known if k.endswith("/" + name)]
            called = fitting[0] if len(fitting) == 1 else f"{name} on world"
        if called not in known:
            raise _core.InvalidInput(f"unknown constraint '{name}'; known: {', '.join(known) or 'none'}")
        changes = _core._ModelChanges()
        changes.without = [list(known).index(called)]
        return changes

    # What a keyframe is.
    def _keyframe(self, name: str) -> tuple[Array, Array, Array]:
        """q and v of all, with the robots that know a pose by this name in it, and the controls that belong to it."""
        model, scene = self._model(), self._scene_of()
        start = np.array(scene.start.q)
        q, v = start.copy(), np.zeros(model.nv)
        ctrl = np.array(self._command_array("ctrl"))
        ctrl = ctrl if self._single else ctrl[0]
        found, first = False, 0
        for index, member in enumerate(model.members):
            if name in member.poses:
                found = True
                at = slice(member.iq, member.iq + member.nq)
                q[at] = model.pose(member.name, name)
                v[member.iv:member.iv + member.nv] = member.velocities(name)
                own = member.controls(name)
                ctrl[first:first + len(own)] = own
                if model.bodies[member.first_body].joint == _core.JointKind.Free and member.source.endswith(".urdf"):
                    # The file says nothing of the ground: the base stands as at the start, as far above what it stands on.
                    q[member.iq:member.iq + 7] = start[member.iq:member.iq + 7]
                    up = -np.array(model.gravity)
                    if np.linalg.norm(up) > 0:
                        up /= np.linalg.norm(up)
                        low = [_core._lowest(model, x, index, up) for x in (start, q)]
                        if np.isfinite(low).all():
                            q[member.iq:member.iq + 3] += (low[0] - low[1]) * up
            first += member.actuators
        if not found:
            known = sorted({pose for member in model.members for pose in member.poses})
            raise _core.InvalidInput(f"unknown keyframe '{name}'; known: {', '.join(known) or 'none'}")
        return q, v, ctrl


def adopts(methods: type) -> Callable[[type], type]:
    """Gives a class the methods of another: classes of the compiled part have one base only."""

    def give(kind: type) -> type:
        for name, value in vars(methods).items():
            if name not in vars(kind) and not (name.startswith("__") and name.endswith("__")):
                setattr(kind, name, value)
        return kind

    return give
