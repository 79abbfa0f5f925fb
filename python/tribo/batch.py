"""Many worlds at once."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, Union, cast

import numpy as np

from . import _core
from .hand import Hand, Named, adopts, by_body, push_of
from .parameters import Rows
from .simulation import Simulation, load

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .parameters import Parameter
    from .render import Camera, Renderer
    from .simulation import ControlFunction

Worlds = Union[int, Iterable[int], Iterable[bool], "NDArray[np.integer[Any]]", "NDArray[np.bool_]"]


def _is_flag(x: object) -> bool:
    return isinstance(x, (bool, np.bool_))


class Contacts(NamedTuple):
    """The contacts of all worlds in their last steps, a row each."""

    world: NDArray[np.int64]
    geometry_a: NDArray[np.int64]  # index in Model.geometries
    geometry_b: NDArray[np.int64]
    mode: NDArray[np.int64]  # tribo.ContactMode(mode)
    point: NDArray[np.float64]  # in the world (n, 3) [m]
    normal: NDArray[np.float64]  # from a to b (n, 3)
    force: NDArray[np.float64]  # on b, in the world (n, 3) [N]


class Points(NamedTuple):
    """Points that are followed, in the world; views."""

    position: NDArray[np.float64]  # (worlds, points, 3) [m]
    velocity: NDArray[np.float64]  # (worlds, points, 3) [m/s]


class Sensed(NamedTuple):
    """What the sensors of all worlds say; see SensorReading."""

    t: NDArray[np.float64]  # (worlds) [s]
    acceleration: NDArray[np.float64]  # (worlds, 3) [m/s^2]
    angular_velocity: NDArray[np.float64]  # (worlds, 3) [rad/s]
    position: NDArray[np.float64]  # (worlds, joints) [rad] or [m]
    velocity: NDArray[np.float64]  # (worlds, joints) [rad/s] or [m/s]
    force: NDArray[np.float64]  # (worlds, feet) [N]
    touching: NDArray[np.bool_]  # (worlds, feet)


def _functions_of(simulation: Simulation) -> list[tuple[ControlFunction, int, float]]:
    """What was added to a simulation, where every world can have it: functions with their memory and period."""
    found: list[tuple[ControlFunction, int, float]] = []
    for method, arguments, keys in simulation._added:
        if method == "add_sensors":
            continue
        if not isinstance(arguments[0], FunctionType):
            raise _core.InvalidInput(
                f"the controller {arguments[0]!r} is an object, which may remember one world in another: give a "
                "function for each world, Batch(scene, worlds, controller=lambda world: ...)")
        found.append((arguments[0], keys["memory"], keys["period"]))
    return found


if TYPE_CHECKING:

    class _Handed(Hand, _core.Batch):
        pass
else:
    _Handed = _core.Batch


@adopts(Hand)
class Batch(_Handed):
    """n worlds of a scene on a pool of threads (0: one a core).

    q, v, t, tau, foot_force, foot_position, foot_velocity, body_pose, body_velocity are views of shape (n, ...) that follow
    the run; write to target (references of the pd controllers), gains, torque, ctrl and wrench. Every world is bit-equal to the same world run alone, for any number of threads. A world
    whose step cannot be taken is marked in failed and stands still until it is reset; the others go on.

    A Python function that controls a simulation controls every world of its batch; it is called under the GIL, by one
    thread at a time. One that remembers anything in itself needs its own in each world: controller(world) makes the
    function of a world, and makes it anew when the world is reset or given parameters; memory and period are those of
    Simulation.control. The sensors of a simulation are in every world, with a seed of their own: the given one plus the
    number of the world.

    lanes=True steps worlds side by side, a SIMD lane each, wherever that is covered (`lanes` says what is): several times as
    fast. A world is then as near to itself run alone as the tolerance of the contact solve, for any number of threads and
    any place in the batch with the same bits.

    A batch is used by one thread at a time: a call during a step of another thread raises RuntimeError, and so does one
    in a process that was forked off, where its threads are not.
    """

    def __init__(self, scene: str | Simulation | _core.Scene | _core.Model, worlds: int, threads: int = 0, *,
                 controller: Callable[[int], ControlFunction] | None = None, memory: int = 0,
                 period: float = 0.0, lanes: bool = False) -> None:
        if isinstance(scene, str):
            scene = load(scene)
        functions: list[object] = []
        kinds: list[tuple[int, float]] = []
        sensors: _core._SensorOptions | None = None
        self._request: tuple[str, list[tuple[str, str]]] = scene._request if isinstance(scene, Simulation) else ("", [])
        if isinstance(scene, Simulation):
            for method, _, keys in scene._added:
                if method == "add_sensors":
                    sensors = _core._SensorOptions(scene.model, **keys)
            for function, numbers, time in _functions_of(scene):
                functions += [function] * worlds
                kinds.append((numbers, time))
            scene = scene.scene
        if isinstance(scene, _core.Model):
            scene = _core.Scene(scene)
        self._controller = controller
        if controller is not None:
            functions += [self._made(w) for w in range(worlds)]
            kinds.append((memory, period))
        super().__init__(scene, worlds, threads, functions, kinds, sensors, lanes)
        self._scene = scene
        self._parameters: Rows | None = None
        self._renderer: tuple[tuple[int, int, bool], Renderer] | None = None

    def __repr__(self) -> str:
        return f"Batch({self.scene.name!r}, {self.worlds} worlds, {self.scene.stepper}, dt={self.dt:.4g} s)"

    def _made(self, world: int) -> ControlFunction:
        assert self._controller is not None
        function = self._controller(world)
        if not callable(function):
            raise TypeError(f"controller({world}) returned {function!r}, must return a function of (t, q, v)")
        return function

    def _which(self, worlds: Worlds | None) -> NDArray[np.intc]:
        """Indices of one world, of several, of those that a mask marks, or of all; each once, in their order."""
        n = self.worlds
        if worlds is None:
            return np.arange(n, dtype=np.intc)
        if _is_flag(worlds):
            raise TypeError(f"worlds is {worlds}, must be indices, or a mask with an entry for each of {n} worlds")
        if not hasattr(worlds, "__array__") and not hasattr(worlds, "__index__"):
            worlds = list(worlds)
            if len({_is_flag(w) for w in worlds}) > 1:
                raise TypeError("worlds mixes indices with flags of a mask")
        given = np.asarray(worlds)
        if given.dtype == bool:
            if given.shape != (n,):
                raise _core.InvalidInput(f"worlds is a mask of shape {given.shape}, must be ({n},)")
            return np.flatnonzero(given).astype(np.intc)
        if given.ndim > 1 or (given.size > 0 and not np.issubdtype(given.dtype, np.integer)):
            raise TypeError(f"worlds is an array of {given.dtype} of shape {given.shape}, must be indices or a mask")
        chosen = given.reshape(-1)
        outside = (chosen < 0) | (chosen >= n)
        if outside.any():
            raise IndexError(f"world {chosen[outside][0]}, must be from 0 to {n - 1}")
        whole = chosen.astype(np.intc)
        _, first = np.unique(whole, return_index=True)
        return whole if len(first) == len(whole) else whole[np.sort(first)]

    def _renew(self, worlds: NDArray[np.intc]) -> None:
        """The functions of worlds that begin anew."""
        if self._controller is not None:
            for world in worlds.tolist():
                self._functions[len(self._functions) - self.worlds + world] = self._made(world)

    def _model(self) -> _core.Model:
        return self._scene.model

    def _rows(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        return cast("tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]", self._instant())

    def _kinematic(self) -> list[_core._KinematicCommands]:
        return self._commanded()

    def _contacts_of(self, world: int) -> list[_core.Contact]:
        return self._contacts(world)

    def _scene_of(self) -> _core.Scene:
        return self._scene

    def _command_array(self, name: str) -> NDArray[np.float64]:
        array: NDArray[np.float64] = getattr(self, "_" + name)
        return array

    def step(self, n: int = 1, worlds: Worlds | None = None) -> None:
        """Takes n steps in every world that runs, or in those that are named or marked. The GIL is released."""
        self._step(n, None if worlds is None else self._which(worlds))

    def contacts(self, world: int = 0) -> list[_core.Contact]:
        """Contacts of a world in its last step."""
        return self._contacts(world)

    def watch(self, worlds: Worlds | None = None) -> None:
        """From now on what explain(world) needs is kept of one world, of several, of those that a mask marks, or of all. A
        world that is watched steps in no lane."""
        self._watch(self._which(worlds))

    @property
    def contact_rows(self) -> Contacts:
        """The contacts of all worlds in their last steps, as arrays with a row each."""
        table: NDArray[np.float64] = self._contact_table()
        whole = table[:, :4].astype(np.int64)
        return Contacts(whole[:, 0], whole[:, 1], whole[:, 2], whole[:, 3], table[:, 4:7], table[:, 7:10], table[:, 10:])

    @property
    def sensors(self) -> Sensed:
        """What the sensors say now, arrays with a row a world. The batch has those of the simulation that it was made of."""
        readings = [self._reading(w) for w in range(self.worlds)]
        return Sensed(*(np.array([getattr(r, name) for r in readings]) for name in Sensed._fields))

    @property
    def body_pose(self) -> Named:
        """Position [m] and quaternion xyzw of every body in the world (worlds, bodies, 7), read only; by index or body.
        From the first look on it follows every step."""
        return Named.of(self._body_pose, by_body(self._model()))

    @property
    def body_velocity(self) -> Named:
        """Velocity of its origin [m/s] and angular velocity [rad/s] of every body, in the world (worlds, bodies, 6), read
        only; by index or body. From the first look on it follows every step."""
        return Named.of(self._body_velocity, by_body(self._model()))

    def follow(self, names: Iterable[str]) -> Points:
        """Where the origins of bodies and frames are and how fast, as arrays that follow every step from now on."""
        return Points(*self._follow(list(names)))

    def _feet(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        both: tuple[NDArray[np.float64], NDArray[np.float64]] = self._foot_points
        return both

    def _foot_forces(self) -> NDArray[np.float64]:
        forces: NDArray[np.float64] = self._foot_force
        return forces

    def _heights(self, name: str, points: NDArray[np.float64], above: float, most: float,
                 ignored: list[str]) -> NDArray[np.float64]:
        heights: NDArray[np.float64] = self._height_scan(name, points, above, most, ignored)
        return heights

    def render(self, camera: Camera | str | None = None, *, world: int = 0, width: int = 640, height: int = 480,
               shadows: bool = True, **options: Any) -> NDArray[np.uint8]:
        """A picture of one world (height, width, 3); see Simulation.render."""
        from .render import Renderer, camera_of
        from .track import contacts_of, poses_at

        shape = (width, height, shadows)
        if self._renderer is None or self._renderer[0] != shape:
            self._renderer = (shape, Renderer(self._model(), width=width, height=height, shadows=shadows))
        model = self._model()
        q, _, t = self._rows()
        return self._renderer[1].draw(poses_at(model, q[world], float(t[world]), self._kinematic()[world]),
                                      contacts_of(model, self._contacts(world)), camera_of(camera, model), **options)

    def reset(self, worlds: Worlds | None = None, *, keyframe: str | None = None) -> None:
        """Back to the start of the scene, or to a keyframe: one world, several, those that a mask marks, or all."""
        key = None if keyframe is None else self._keyframe(keyframe)
        chosen = self._which(worlds)
        self._reset(chosen)
        self._renew(chosen)
        if keyframe is not None and key is not None:
            self.set(chosen, q=key[0], v=key[1])
            self._begin_at(chosen, keyframe)
            self._target[chosen], self._ctrl[chosen] = key[0], key[2]

    def set(self, worlds: Worlds | None = None, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Puts worlds elsewhere: q (nq) and v (nv), or a row for each of them. What contacts remember is forgotten."""
        chosen = self._which(worlds)
        model = self._model()

        def rows(x: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
            if x is None:
                return None
            return np.ascontiguousarray(np.broadcast_to(np.asarray(x, dtype=float), (len(chosen), n)))

        self._set(chosen, rows(q, model.nq), rows(v, model.nv))

    def set_kinematic(self, name: str, pose: ArrayLike, *, duration: float = 0.0, worlds: Worlds | None = None) -> None:
        """A kinematic body of worlds moves to a pose (4, 4) or position (3) within a duration [s]: see
        Simulation.set_kinematic. A reset ends it."""
        chosen, place = self._which(worlds), np.asarray(pose, dtype=float)
        if place.shape != (3,):
            self._move_kinematic(chosen, name, np.ascontiguousarray(place), duration)
            return
        for w, now in zip(chosen.tolist(), self.pose(name)[chosen], strict=True):
            now[:3, 3] = place
            self._move_kinematic(np.array([w], dtype=np.intc), name, np.ascontiguousarray(now), duration)

    def weld(self, a: str, b: str = "world", *, name: str | None = None, worlds: Worlds | None = None) -> None:
        """Holds two bodies together as they are now in worlds, until release(name): see Simulation.weld. A world with
        constraints of its own steps in no lane, until it is given parameters: then it has those of the scene again."""
        chosen = self._which(worlds).tolist()
        for w, changes in [(w, self._welded(self._constraints(w), w, a, b, name)) for w in chosen]:
            self._change(w, changes)

    def release(self, name: str, b: str | None = None, *, worlds: Worlds | None = None) -> None:
        """Ends a constraint of worlds by its name, or the weld of two bodies: see Simulation.release."""
        chosen = self._which(worlds).tolist()
        for w, changes in [(w, self._released(self._constraints(w), name, b)) for w in chosen]:
            self._change(w, changes)

    def push(self, where: str, force: ArrayLike | None = None, duration: float = 0.0, *, start: float | None = None,
             point: ArrayLike | None = None, force_end: ArrayLike | None = None, torque: ArrayLike | None = None,
             torque_end: ArrayLike | None = None, worlds: Worlds | None = None) -> None:
        """A force [N] or a torque [N m] on a robot, object, body or frame of worlds, for a duration [s] from start [s] on,
        by their own clocks: see Simulation.push. It stays through a reset; such worlds step in no lane."""
        vectors = push_of(force=force, force_end=force_end, torque=torque, torque_end=torque_end, point=point)
        now = self._rows()[2]
        for w in self._which(worlds).tolist():
            self._push(np.array([w], dtype=np.intc), where, duration, vectors, float(now[w] if start is None else start))

    @contextlib.contextmanager
    def record(self, folder: str | os.PathLike[str], worlds: Worlds | None = None) -> Iterator[list[str]]:
        """Records every step that worlds take inside it: with batch.record("out", [0, 3]) as folders: ... Each world has a
        folder of its own, out/world-3, with recording.npz. A world that is recorded steps in no lane."""
        chosen = self._which(worlds).tolist()
        folders = [os.path.join(os.fspath(folder), f"world-{w}") for w in chosen]
        begun: list[int] = []
        try:
            for w, path in zip(chosen, folders):
                self._record(w, path, *self._request)
                begun.append(w)
            yield folders
        finally:
            for w in begun:
                self._end_record(w)

    def set_state(self, world: Worlds, state: _core.State, *, adopt: bool = False) -> None:
        """Puts a state into a world, into several, or into those that a mask marks. Worlds with other masses or friction
        have a model of their own, and refuse the state of another one unless they are to adopt it as it is. What contacts
        remember is forgotten, with a warning, where a stepper of another family wrote it."""
        for w in self._which(world).tolist():
            self._set_state(w, state, adopt)

    def set_parameters(self, world: Worlds | None = None, *, mass: Parameter = 1.0, com: Parameter | None = None,
                       friction: Parameter = 1.0, damping: Parameter = 1.0, armature: Parameter = 1.0,
                       dry_friction: Parameter = 1.0, gains: Parameter = 1.0) -> None:
        """Other masses, friction, joints and pd gains in a world, in several, in those that a mask marks, or in all, which
        begin anew. Nothing is built anew: 1024 worlds take milliseconds.

        Each is a factor on what the scene has, or values by name; each number may be an array with one for every world
        that is meant, in their order. mass: a factor [-], or {body: kg}. com: {body: centre of mass in its frame (3) or
        (n, 3) [m]}. friction: a factor [-], or {material, or geometry, body, robot or object with a material of its own:
        coefficient against all others}. damping, armature, dry_friction: a factor [-], or {joint: value}. gains: a
        factor, or {joint: factor} [-].
        """
        chosen = self._which(world)
        if self._parameters is None:
            self._parameters = Rows(self._model())
        given = {"mass": mass, "com": com, "friction": friction, "damping": damping, "armature": armature,
                 "dry_friction": dry_friction, "gains": gains}
        rows: dict[str, NDArray[np.float64]] = {}
        for key, value in given.items():
            if value is not None and not (isinstance(value, (int, float)) and value == 1):
                rows.update(self._parameters.of(key, value, len(chosen)))
        self._set_parameters(chosen, **rows)
        self._renew(chosen)
