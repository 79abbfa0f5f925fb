"""Load a scene or a robot, and run it."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union, cast

from . import _core, mujoco_coordinates
from .hand import Hand, adopts, push_of
from .parameters import changes_of
from .robot_descriptions import described_robot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from .render import Camera, Renderer
    from .viewer import Viewer

    Array = NDArray[np.float64]
    Image = NDArray[np.uint8]
    ControlFunction = Callable[..., Array]


class SimulationFailed(RuntimeError):
    """A step could not be taken. The state is the last good one; the message says when and what."""


def _toml(value: object) -> str:
    """A value in the words of a scene file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(str(k))} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(float(value))
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return _toml(value.tolist())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    raise TypeError(f"{value!r} cannot stand in a scene: use numbers, text, lists and dicts")


class _Named:
    """A name and the keys that a scene file gives beside it."""

    section = ""

    def __init__(self, name: str, **keys: object) -> None:
        self.name = name
        self.keys = keys

    def settings(self) -> list[tuple[str, str]]:
        pairs = [(f"{self.section}.name", _toml(self.name))]
        return pairs + [(f"{self.section}.{key}", _toml(value)) for key, value in self.keys.items()]

    def __repr__(self) -> str:
        keys = "".join(f", {k}={v!r}" for k, v in self.keys.items())
        return f"{type(self).__name__}({self.name!r}{keys})"


class Stepper(_Named):
    """A way to advance the state, with its options: Stepper("exponential", method="modal").

    Names: tribo.steppers(). Options are the keys of [stepper] in a scene file.
    """

    section = "stepper"


class Controller(_Named):
    """A controller with its options: Controller("pd", kp=20.0, kd=0.3, feedforward="gravity").

    Options are the keys of [controller] in a scene file.
    """

    section = "controller"


if TYPE_CHECKING:

    class _Handed(Hand, _core.Simulation):
        pass
else:
    _Handed = _core.Simulation


@adopts(Hand)
class Simulation(_Handed):
    """A scene that runs. Made by tribo.load, or from a Scene or a Model.

    q and v are views without a copy. Stepping releases the GIL. A simulation belongs to one thread at a time.
    """

    def __init__(self, scene: _core.Scene | _core.Model, *, controller: ControlFunction | None = None,
                 memory: int = 0, period: float = 0.0) -> None:
        super().__init__(_core.Scene(scene) if isinstance(scene, _core.Model) else scene)
        self._recipe: Callable[[Mapping[str, object]], Simulation] | None = None
        self._request: tuple[str, list[tuple[str, str]]] = ("", [])
        self._viewers: list[Viewer] = []
        self._renderer: tuple[tuple[int, int, bool], Renderer] | None = None  # kept from picture to picture
        self._added: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []  # method, arguments
        self._pushes: list[tuple[str, float, dict[str, Any], float]] = []  # as _push takes them
        if controller is not None:
            self.control(controller, memory=memory, period=period)

    def __repr__(self) -> str:
        return f"Simulation({self.scene.name!r}, {self.scene.stepper}, dt={self.dt:.4g} s, t={self.t:.6g} s)"

    def control(self, function: ControlFunction, *, memory: int = 0, period: float = 0.0) -> None:
        """Adds a Python function as a controller.

        function(t, q, v) -> tau: an entry for each velocity, or for each one with a motor [N m] or [N]; it is kept
        within the effort limits. period [s] is the time between its calls, 0 for every step. With memory = n it is
        called as function(t, q, v, memory): an array of n numbers that lives in the State, so that a restored run
        goes on exactly. What a function remembers elsewhere is not saved.
        """
        self._add_function(function, memory, period)
        self._added.append(("control", (function,), {"memory": memory, "period": period}))

    def add_sensors(self, **options: Any) -> None:
        """Inertial unit, joint encoders and feet of a robot; read them as sim.sensors.

        robot: its name (the first where none is given). imu_frame: a frame (the base where none is given). period [s]
        between samples, 0 for every step; delay [s]; seed. accelerometer [m/s^2], gyroscope [rad/s], position [rad],
        velocity [rad/s], force [N]: a SensorError each. contact_threshold [N]. What sensors remember, their generator
        too, lives in the State: a restored run measures the same again.
        """
        self._add_sensors(_core._SensorOptions(self.model, **options))
        self._added.append(("add_sensors", (), options))

    def push(self, where: str, force: ArrayLike | None = None, duration: float = 0.0, *, start: float | None = None,
             point: ArrayLike | None = None, force_end: ArrayLike | None = None, torque: ArrayLike | None = None,
             torque_end: ArrayLike | None = None) -> None:
        """A force [N] or a torque [N m], in the world, on a robot, object, body or frame, for a duration [s] from start [s]
        on (now where none is given). It changes linearly to force_end and torque_end where these are given. point is in
        the frame of what is named [m]; where none is given, its centre of mass, or the origin of a frame. The same as
        [[push]] in a scene."""
        vectors = push_of(force=force, force_end=force_end, torque=torque, torque_end=torque_end, point=point)
        start = self.t if start is None else float(start)
        self._push(where, duration, vectors, start)
        self._pushes.append((where, duration, vectors, start))

    def walk(self, forward: float | None, left: float = 0.0, turning: float = 0.0, *, robot: str | None = None) -> None:
        """From now on a robot with a `walk` controller goes at this velocity, forward and to its left [m/s], turning to
        the left [rad/s]; as its scene says again where forward is None. robot: its name, where several walk."""
        import numpy as np

        members = {self.model.members[m].name: m for m in self.scene._walkers}
        if not members:
            raise _core.InvalidInput("the scene has no robot that walks: load it with controller='walk'")
        if robot is None and len(members) > 1:
            raise _core.InvalidInput(f"several robots walk: say which, robot = one of {', '.join(members)}")
        if robot is not None and robot not in members:
            raise _core.InvalidInput(f"'{robot}' does not walk; those that do: {', '.join(members)}")
        velocity = np.array([np.nan] * 3 if forward is None else [forward, left, turning], dtype=float)
        if forward is not None and not np.isfinite(velocity).all():
            raise _core.InvalidInput(f"walk: the velocity {velocity.tolist()} is not finite")
        self._walk.reshape(-1, 3)[members[robot] if robot is not None else next(iter(members.values()))] = velocity

    def run(self, duration: float | None = None, *, record: str | os.PathLike[str] | None = None,
            check: bool = True) -> _core.Audit:
        """Runs for a duration [s]; that of the scene where none is given.

        record: a folder for recording.npz. Where a step cannot be taken, SimulationFailed says why, unless check is
        False: then audit.status does.
        """
        time = self.scene.duration if duration is None else float(duration)
        if self._viewers and record is None and time > 0:
            report = self._run_shown(time)
        else:
            report = self._run(time, "" if record is None else os.fspath(record), *self._request)
        if check and report.status in (_core.StepStatus.NotFinite, _core.StepStatus.Stopped):
            raise SimulationFailed(f"{report.status.name} at t = {self.t:.6g} s\n{self.explain()}")
        return self.audit

    _single = True

    def _model(self) -> _core.Model:
        return self.model

    def _rows(self) -> tuple[Array, Array, Array]:
        return cast("tuple[Array, Array, Array]", self._instant())

    def _kinematic(self) -> list[_core._KinematicCommands]:
        return self._commanded()

    def _contacts_of(self, world: int) -> list[_core.Contact]:
        return self.contacts

    def _scene_of(self) -> _core.Scene:
        return self.scene

    def _command_array(self, name: str) -> Array:
        array: Array = getattr(self, "_" + name)
        return array.reshape(-1, 6) if name == "wrench" else array

    def reset(self, keyframe: str | None = None) -> None:
        """Back to the start of the scene, or to a keyframe: a pose that a robot's file names, with its velocities. Commands are those
        of the scene again; targets of pd controllers, controls and activations of actuators, and the places of mocap bodies are those
        of the keyframe."""
        import numpy as np

        state = self._start
        if keyframe is None:
            self._clear_commands()
            self.state = state
            return
        q, v, ctrl = self._keyframe(keyframe)
        state.q[:] = q
        state.v[:] = v
        self._begin_at(keyframe, state)
        state.forget_contacts()
        self._clear_commands()
        np.asarray(self._command_array("target"))[:] = q
        np.asarray(self._command_array("ctrl"))[:] = ctrl
        self.state = state

    def set_kinematic(self, name: str, pose: ArrayLike, *, duration: float = 0.0) -> None:
        """A kinematic body moves to a pose (4, 4) or position (3) within a duration [s], one step at least, and stays
        there. What touches it is carried along. Commanding it anew at every step drives it along any path. The command
        is part of the state: it is saved, restored and forked with it, and a reset ends it."""
        import numpy as np

        if name not in {*(known := self.model.kinematic), *(k.rsplit("/", 1)[-1] for k in known)}:
            raise _core.InvalidInput(f"'{name}' is no kinematic body; known: {', '.join(known) or 'none'}")
        place = np.asarray(pose, dtype=float)
        if place.shape == (3,):
            place = np.array(self.pose(name))
            place[:3, 3] = pose
        self._move_kinematic(name, np.ascontiguousarray(place), duration)

    def set_parameters(self, *, mass: float | Mapping[str, float] = 1.0, com: Mapping[str, ArrayLike] | None = None,
                       friction: float | Mapping[str, float] = 1.0, damping: Mapping[str, float] | None = None,
                       armature: Mapping[str, float] | None = None, dry_friction: Mapping[str, float] | None = None,
                       gains: float | Mapping[str, float] = 1.0) -> None:
        """Other masses, friction, joints or pd gains from now on; the run goes on from where it is.

        mass: a factor on all [-], or {body: kg}. com: {body: centre of mass in its frame (3) [m]}. friction: a factor on
        all [-], or {material, or geometry, body, robot or object with a material of its own: coefficient against all
        others}. damping, armature, dry_friction: {joint: value}. gains: a factor, or {joint: factor} [-]. Factors count
        from what is now. The audit begins anew.
        """
        changes, masses, frictions = changes_of(self.model, {
            "mass": mass, "com": com, "friction": friction, "damping": damping, "armature": armature,
            "dry_friction": dry_friction})
        self._change(changes, _core._ModelFactors(masses, frictions), 1.0 if isinstance(gains, Mapping) else gains)
        for joint, factor in (gains.items() if isinstance(gains, Mapping) else ()):
            self.gains[joint] = factor * self.gains[joint]

    def weld(self, a: str, b: str = "world", *, name: str | None = None) -> None:
        """Holds two bodies together as they are now, until release(name): a grasp, a latch. b may be "world"."""
        changes = self._welded(self.model.equalities, 0, a, b, name)
        self._change(changes, _core._ModelFactors(), 1.0)

    def release(self, name: str, b: str | None = None) -> None:
        """Ends a constraint by its name, or the weld of two bodies: release("hand", "cube")."""
        self._change(self._released(self.model.equalities, name, b), _core._ModelFactors(), 1.0)

    @contextlib.contextmanager
    def record(self, folder: str | os.PathLike[str]) -> Iterator[None]:
        """Records every step that is taken inside it, of loops as well as runs: with sim.record("out"): ...
        The folder then holds recording.npz, as after run(record=folder)."""
        self._record(os.fspath(folder), *self._request)
        try:
            yield
        finally:
            self._end_record()

    def _run_shown(self, duration: float) -> _core.StepReport:
        """In parts, so that viewers see them."""
        left, each = self._steps(duration), max(1, round(1 / 60 / self.dt))
        report = self.report
        while left > 0:
            report = self.step(min(each, left))
            left -= each
            if report.status in (_core.StepStatus.NotFinite, _core.StepStatus.Stopped):
                break
        return report

    def _add_to(self, other: Simulation) -> None:
        for method, arguments, keys in self._added:
            getattr(other, method)(*arguments, **keys)

    def fork(self) -> Simulation:
        """Another simulation of the same scene, in the same state. They share the model and nothing else."""
        twin = Simulation(self.scene)
        twin._recipe, twin._request = self._recipe, self._request
        twin._pushes[:] = self._pushes  # they are part of the scene
        self._add_to(twin)
        for name in ("target", "ctrl", "gains", *(("torque", "wrench") if self._direct else ())):
            twin._command_array(name)[:] = self._command_array(name)
        twin.state = self.state
        return twin

    def variant(self, settings: Mapping[str, object]) -> Simulation:
        """The same scene with other settings, at the present q, v and time, with what was pushed and commanded since:
        variant({"contact.model": "ccp"})."""
        import numpy as np

        if self._recipe is None:
            raise ValueError("only a simulation made by tribo.load or tribo.parse has settings to vary")
        other = self._recipe(settings)
        self._add_to(other)
        for push in self._pushes:
            other._push(*push)
        other._pushes[:], said = self._pushes, Simulation(self.scene)
        for name in ("target", "ctrl", "gains", *(("torque", "wrench") if self._direct else ())):
            mine, theirs = self._command_array(name), other._command_array(name)
            if mine.shape == theirs.shape:  # those that were changed since
                theirs[:] = np.where(mine != said._command_array(name), mine, theirs)
        state, now = other.state, self.state
        state.t = now.t
        state.q[:], state.v[:] = now.q, now.v
        state.forget_contacts()
        other.state = state
        return other

    def set(self, *, q: Array | None = None, v: Array | None = None) -> None:
        """Puts the world elsewhere: q (nq), v (nv). What contacts remember is forgotten."""
        state = self.state
        if q is not None:
            state.q[:] = q
        if v is not None:
            state.v[:] = v
        state.forget_contacts()
        self.state = state

    @property
    def mujoco_qpos(self) -> Array:
        """q in MuJoCo's conventions, a copy: quaternions w, x, y, z; joints without end as an angle. It can be assigned."""
        return mujoco_coordinates.qpos(self.model, self.q)

    @mujoco_qpos.setter
    def mujoco_qpos(self, qpos: ArrayLike) -> None:
        self.set(q=mujoco_coordinates.q(self.model, qpos))

    @property
    def mujoco_qvel(self) -> Array:
        """v in MuJoCo's conventions, a copy: the linear velocity of a free joint in the axes of the world. It can be
        assigned, after mujoco_qpos where both are."""
        return mujoco_coordinates.qvel(self.model, self.q, self.v)

    @mujoco_qvel.setter
    def mujoco_qvel(self, qvel: ArrayLike) -> None:
        self.set(v=mujoco_coordinates.v(self.model, self.q, qvel))

    def render(self, camera: Camera | str | None = None, *, width: int = 640, height: int = 480, shadows: bool = True,
               forces: bool = True, cones: bool = False, collision: bool = False) -> Image:
        """A picture of the present moment (height, width, 3), uint8; no display is needed.

        camera: a tribo.Camera, a view ("corner", "front", "back", "left", "right", "top"), or the name of a robot, object,
        body or frame to look at; all that moves is framed where none is given. forces: arrows of the contact forces.
        cones: of friction. collision: shapes that collide instead of what the robot looks like.
        """
        from .render import Renderer, camera_of
        from .track import now

        shape = (width, height, shadows)
        if self._renderer is None or self._renderer[0] != shape:
            self._renderer = (shape, Renderer(self.model, width=width, height=height, shadows=shadows))
        poses, contacts = now(self)
        return self._renderer[1].draw(poses, contacts, camera_of(camera, self.model), forces=forces, cones=cones,
                                      collision=collision)

    def film(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes what the simulation remembers of its run as .mp4, .gif, .png (the last moment), or .html (a page to look around in).

        fps, speed, start and end [s], camera, width, height, shadows, forces, cones, collision: see tribo video --help.
        """
        from .film import write
        from .render import camera_of
        from .track import of_simulation

        options["camera"] = camera_of(options.get("camera"), self.model)
        write(of_simulation(self), path, **options)

    def view(self, *, host: str = "127.0.0.1", port: int = 8080, block: bool | None = None) -> Viewer:
        """Shows the run in the browser: time slider, contacts, forces, cones, plots, joint sliders, pushes.

        Before the first step the program goes on, and every step is shown as it is taken. After a run a script waits for
        Ctrl-C, unless block is False. host: an address to listen at; beyond loopback the page asks for a token.
        """
        from .viewer import view_simulation

        return view_simulation(self, host=host, port=port, block=block)

    def step(self, n: int = 1) -> _core.StepReport:
        """Takes n steps of dt; returns the report of the last. The GIL is released."""
        report = super().step(n)
        for viewer in self._viewers:
            viewer._stepped()
        return report


def _in_short(remarks: list[str], few: int = 3) -> list[str]:
    """Many remarks about one file as one."""
    files = [text.split(":")[0] for text in remarks]
    out: list[str] = []
    for k, (text, file) in enumerate(zip(remarks, files)):
        count = files.count(file)
        if count <= few:
            out.append(text)
        elif files.index(file) == k:
            out.append(f"{text} (and {count - 1} more about this file: Scene.warnings has all)")
    return out


def _settings(given: Mapping[str, object] | None) -> list[tuple[str, str]]:
    return [(key, _toml(value)) for key, value in (given or {}).items()]


ControllerLike = Union[str, Controller, "ControlFunction", None]


def check_derivatives(simulation: Simulation) -> _core.DerivativeCheck:
    """The linearisation of the next step beside central differences of the same step.

    Columns along which a contact, a row or a drive changes its mode within the difference are counted, not compared.
    """
    return simulation._check_derivatives()


def load(scene: str | os.PathLike[str], *, stepper: str | Stepper | None = None, contact_model: str | None = None,
         solver: str | None = None, controller: ControllerLike = None, dt: float | None = None,
         duration: float | None = None, settings: Mapping[str, object] | None = None) -> Simulation:
    """A simulation of a scene (file or known name) or of a robot (known name, .urdf or MJCF file, or a name of the
    package robot_descriptions, such as "go2_mj_description"), which then stands on the ground with its joints held.

    stepper, solver, controller: a name, or an object with options; a controller may be a Python function, which then
    stands alone; "none" leaves the joints free. dt and duration in [s]. settings: keys of the scene file, as
    {"material.default.mu": 0.4}. Unknown names are answered with the known ones.
    """
    pairs: list[tuple[str, str]] = []
    if isinstance(stepper, Stepper):
        pairs += stepper.settings()
    elif stepper is not None:
        pairs.append(("stepper.name", _toml(stepper)))
    named: list[tuple[str, Any]] = [("contact.model", contact_model), ("contact.solver", solver), ("stepper.dt", dt),
                                    ("stepper.duration", duration)]
    pairs += [(key, _toml(value)) for key, value in named if value is not None]
    name = ""
    function: ControlFunction | None = None
    if isinstance(controller, Controller):
        pairs += controller.settings()
        name = controller.name
    elif isinstance(controller, str):
        name = controller
    elif controller is not None:
        name, function = "none", controller

    path, described = described_robot(os.fspath(scene))

    def make(more: Mapping[str, object]) -> Simulation:
        request = (name, pairs + _settings({**described, **(settings or {})}) + _settings(more))
        found = _core.find_scene(path, *request)
        for warning in _in_short(found.warnings) + _core.advice(found):
            warnings.warn(warning, stacklevel=4)
        simulation = Simulation(found)
        simulation._request = request
        simulation._recipe = lambda others: make({**more, **others})
        return simulation

    simulation = make({})
    if function is not None:
        simulation.control(function)
    return simulation


def parse(text: str, *, name: str = "scene", settings: Mapping[str, object] | None = None) -> Simulation:
    """A simulation from the text of a scene file (TOML)."""

    def make(more: Mapping[str, object]) -> Simulation:
        found = _core.parse_scene(text, name, _settings(settings) + _settings(more))
        for warning in _in_short(found.warnings) + _core.advice(found):
            warnings.warn(warning, stacklevel=4)
        simulation = Simulation(found)
        simulation._recipe = lambda others: make({**more, **others})
        return simulation

    return make({})
