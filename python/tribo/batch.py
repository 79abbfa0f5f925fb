"""Many worlds at once."""

from __future__ import annotations

from collections.abc import Iterable

from . import _core
from .simulation import Simulation, load


class Batch(_core.Batch):
    """n worlds of a scene on a pool of threads (0: one a core).

    q, v, t, tau, foot_force are views of shape (n, ...) that follow the run; write to target (references of the pd
    controllers) and torque. Every world is bit-equal to the same world run alone, for any number of threads. A world
    whose step cannot be taken is marked in failed and stands still until it is reset; the others go on.
    """

    def __init__(self, scene: str | Simulation | _core.Scene | _core.Model, worlds: int, threads: int = 0) -> None:
        if isinstance(scene, str):
            scene = load(scene)
        if isinstance(scene, Simulation):
            scene = scene.scene
        if isinstance(scene, _core.Model):
            scene = _core.Scene(scene)
        super().__init__(scene, worlds, threads)

    def reset(self, worlds: int | Iterable[int] | None = None) -> None:
        """Back to the start of the scene: one world, several, or all."""
        if worlds is None:
            worlds = range(self.worlds)
        self._reset([worlds] if isinstance(worlds, int) else [int(w) for w in worlds])
