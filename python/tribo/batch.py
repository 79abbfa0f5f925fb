"""Many worlds at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, Union, cast

import numpy as np

from . import _core
from .hand import Hand, adopts, changes_of
from .simulation import Simulation, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .render import Camera, Renderer
    from .simulation import ControlFunction

Worlds = Union[int, Iterable[int], Iterable[bool], "NDArray[np.integer[Any]]", "NDArray[np.bool_]"]


def _is_flag(x: object) -> bool:
    return isinstance(x, (bool, np.bool_))


def _functions_of(simulation: Simulation) -> list[tuple[ControlFunction, int, float]]:
    """What was added to a simulation, where every world can have it: functions with their memory and period."""
    found: list[tuple[ControlFunction, int, float]] = []
    for method, arguments, keys in simulation._added:
        if method != "control":
            raise _core.InvalidInput("a Batch has no sensors: make it from a simulation without add_sensors")
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

    q, v, t, tau, foot_force are views of shape (n, ...) that follow the run; write to target (references of the pd
    controllers) and torque. Every world is bit-equal to the same world run alone, for any number of threads. A world
    whose step cannot be taken is marked in failed and stands still until it is reset; the others go on.

    A Python function that controls a simulation controls every world of its batch; it is called under the GIL, by one
    thread at a time. One that remembers anything in itself needs its own in each world: controller(world) makes the
    function of a world, and makes it anew when the world is reset or given parameters; memory and period are those of
    Simulation.control.

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
        if isinstance(scene, Simulation):
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
        super().__init__(scene, worlds, threads, functions, kinds, lanes)
        self._scene = scene
        self._renderer: tuple[tuple[int, int, bool], Renderer] | None = None

    def _made(self, world: int) -> ControlFunction:
        assert self._controller is not None
        function = self._controller(world)
        if not callable(function):
            raise TypeError(f"controller({world}) returned {function!r}, must return a function of (t, q, v)")
        return function

    def _which(self, worlds: Worlds | None) -> list[int]:
        """Indices of one world, of several, of those that a mask marks, or of all; each once."""
        n = self.worlds
        if worlds is None:
            return list(range(n))
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
            return [int(w) for w in np.flatnonzero(given)]
        if given.ndim > 1 or (given.size > 0 and not np.issubdtype(given.dtype, np.integer)):
            raise TypeError(f"worlds is an array of {given.dtype} of shape {given.shape}, must be indices or a mask")
        chosen = [int(w) for w in given.reshape(-1)]
        for w in chosen:
            if not 0 <= w < n:
                raise IndexError(f"world {w}, must be from 0 to {n - 1}")
        return list(dict.fromkeys(chosen))

    def _renew(self, world: int) -> None:
        """The function of a world that begins anew."""
        if self._controller is not None:
            self._functions[len(self._functions) - self.worlds + world] = self._made(world)

    def _model(self) -> _core.Model:
        return self._scene.model

    def _rows(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        return cast("tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]", self._instant())

    def _contacts_of(self, world: int) -> list[_core.Contact]:
        return self._contacts(world)

    def _scene_of(self) -> _core.Scene:
        return self._scene

    def _command_array(self, name: str) -> NDArray[np.float64]:
        array: NDArray[np.float64] = getattr(self, "_" + name)
        return array

    def contacts(self, world: int = 0) -> list[_core.Contact]:
        """Contacts of a world in its last step."""
        return self._contacts(world)

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
        return self._renderer[1].draw(poses_at(model, q[world], float(t[world])),
                                      contacts_of(model, self._contacts(world)), camera_of(camera, model), **options)

    def reset(self, worlds: Worlds | None = None, *, keyframe: str | None = None) -> None:
        """Back to the start of the scene, or to a keyframe: one world, several, those that a mask marks, or all."""
        key = None if keyframe is None else self._keyframe(keyframe)
        for w in self._which(worlds):
            self._reset(w)
            self._renew(w)
            if key is not None:
                state = self.state(w)
                state.q[:], state.v[:] = key[0], 0.0
                state.forget_contacts()
                self._set_state(w, state, True)
                self._target[w], self._ctrl[w] = key

    def set_state(self, world: Worlds, state: _core.State, *, adopt: bool = False) -> None:
        """Puts a state into a world, into several, or into those that a mask marks. Worlds with other masses or friction
        have a model of their own, and refuse the state of another one unless they are to adopt it as it is. What contacts
        remember is forgotten, with a warning, where a stepper of another family wrote it."""
        for w in self._which(world):
            self._set_state(w, state, adopt)

    def set_parameters(self, world: Worlds, *, mass: float | Mapping[str, float] = 1.0,
                       friction: float | Mapping[str, float] = 1.0, gains: float = 1.0) -> None:
        """Other masses, friction and pd gains in a world, in several, or in those that a mask marks, which begin anew.

        mass: a factor on those of the scene [-], or {body: kg}. friction: a factor [-], or {material, or geometry, body,
        robot or object with a material of its own: coefficient against all others}. gains: a factor [-].
        """
        changes, masses, frictions = changes_of(self._model(), mass, friction)
        for w in self._which(world):
            self._set_parameters(w, masses, frictions, gains, changes)
            self._renew(w)
