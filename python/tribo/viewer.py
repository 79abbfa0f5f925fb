"""A run in the browser: what happens or happened, contacts, forces, plots; pushes and other laws on the fly."""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import queue
import signal
import sys
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, page
from .simulation import Simulation
from .track import Track, now, of_recording, of_simulation
from .viewer_server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

RATE = 30.0  # pictures a second of a live view
MOST_SLIDERS = 60
LAWS = ["ncp", "ccp", "lcp", "raisim"]
AXES = {"+x": (1.0, 0.0, 0.0), "-x": (-1.0, 0.0, 0.0), "+y": (0.0, 1.0, 0.0), "-y": (0.0, -1.0, 0.0), "+z": (0.0, 0.0, 1.0)}


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """One who is in a hurry presses Ctrl-C twice."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Viewer:
    """A web page with a run. Keep the object as long as the page shall live; close() ends it.

    A simulation that is viewed shows itself as it is stepped; sync() draws its present moment at once. host: an address
    to listen at; beyond loopback the address of the page has a token, and who lacks it is refused.
    """

    def __init__(self, track: Track, *, simulation: Simulation | None = None, host: str = "127.0.0.1",
                 port: int = 8080) -> None:
        self.track = track
        self.simulation = simulation
        self._lock = threading.RLock()
        self._watching: list[queue.Queue[tuple[str, Any]]] = []  # one for each page that is open
        self._stale = False  # the simulation went on since the track was taken
        self._drawn_at = 0.0  # by the clock on the wall [s]
        self._ended = threading.Event()
        self._scene: dict[str, Any] | None = None
        self._server = Server(self, host, port)
        atexit.register(self.close)  # its threads hold the simulation
        if simulation is not None:
            simulation._viewers.append(self)

    @property
    def url(self) -> str:
        return self._server.url

    def close(self) -> None:
        if self._ended.is_set():
            return
        self._ended.set()
        atexit.unregister(self.close)
        if self.simulation is not None and self in self.simulation._viewers:
            self.simulation._viewers.remove(self)
        self._tell("end", None)
        self._server.close()

    def wait(self) -> None:
        """Until the program is interrupted."""
        try:
            while not self._ended.wait(0.2):
                pass
        except KeyboardInterrupt:
            with _uninterrupted():  # half closed, threads would hold the simulation while the program ends
                self.close()

    def sync(self) -> None:
        """Draws the present moment of the simulation."""
        simulation = self.simulation
        if simulation is None:
            return
        self._stale = True
        self._drawn_at = time.monotonic()
        if not self._watching:
            return
        poses, contacts = now(simulation)
        self._tell("moment", page.moment_of(poses, contacts, simulation.t))

    def _stepped(self) -> None:
        """After a step: at most so many pictures a second."""
        self._stale = True
        if time.monotonic() - self._drawn_at > 1 / RATE:
            self.sync()

    def show(self, t: float) -> None:
        """Draws the moment nearest to a time [s]."""
        self._tell("seek", float(t))

    def replace(self, track: Track, *, start: float | None = None, play: bool = False) -> None:
        """Shows another run of the same model, from a time [s] on."""
        with self._lock:
            self.track = track
            self._stale = False
        self._tell("motion", {"from": float(track.t[0]) if start is None else start, "play": play})

    # What the server asks for: JSON objects.
    def scene(self) -> dict[str, Any]:
        with self._lock:
            if self._scene is None:
                self._scene = page.scene_of(self.track)
            return {"scene": self._scene, "live": None if self.simulation is None else self._live(self.simulation)}

    def motion(self) -> dict[str, Any]:
        with self._lock:
            if self._stale and self.simulation is not None:
                with contextlib.suppress(RuntimeError):  # it is being stepped: what is there is shown
                    self.track = of_simulation(self.simulation)
                    self._stale = False
            return page.motion_of(self.track)

    def film(self) -> bytes:
        """The whole track, drawn here."""
        from .film import write

        self.motion()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.mp4")
            write(self.track, path)
            with open(path, "rb") as file:
                return file.read()

    def watched(self) -> queue.Queue[tuple[str, Any]]:
        """What is told from now on, for one page."""
        told: queue.Queue[tuple[str, Any]] = queue.Queue(maxsize=100)
        self._watching.append(told)
        return told

    def left(self, told: queue.Queue[tuple[str, Any]]) -> None:
        self._watching.remove(told)

    def _tell(self, kind: str, value: Any) -> None:
        for told in list(self._watching):
            with contextlib.suppress(queue.Full):  # a page that does not keep up misses moments
                told.put_nowait((kind, value))

    def _live(self, simulation: Simulation) -> dict[str, Any]:
        """What the page offers to tell a simulation."""
        model, scene = simulation.model, simulation.scene
        driven = scene._has_pd
        values = simulation.target if driven else simulation.q
        joints = []
        for body in [b for b in model.bodies if b.nv == 1 and b.nq == 1][:MOST_SLIDERS]:
            low, high = float(model.lower[body.iv]), float(model.upper[body.iv])
            low, high = (low if math.isfinite(low) else -math.pi), (high if math.isfinite(high) else math.pi)
            if high > low:
                joints.append({"name": body.name, "iq": body.iq, "low": low, "high": high,
                               "value": min(max(float(values[body.iq]), low), high)})
        return {"members": [m.name for m in model.members], "joints": joints, "driven": driven,
                "walkers": [model.members[m].name for m in scene._walkers],
                "load": max(float(np.round(0.98 * model.mass, 2)), 0.1),  # a tenth of the weight: a force that is felt [N]
                "models": LAWS if simulation._recipe is not None else [], "model": scene.contact_model}

    def perform(self, order: dict[str, Any]) -> None:
        """What the page asks a simulation to do. InvalidInput where it cannot be."""
        if self.simulation is None:
            raise _core.InvalidInput("a recording is shown: there is no simulation to be told anything")
        deeds = {"run": self._run, "push": self._push, "again": self._again, "walk": self._walk, "joint": self._joint}
        if order.get("what") not in deeds:
            raise _core.InvalidInput(f"'{order.get('what')}': the page asks for one of {', '.join(deeds)}")
        with self._lock:
            deeds[order["what"]](self.simulation, order)

    def _run(self, simulation: Simulation, order: dict[str, Any]) -> None:
        begin = simulation.t
        audit = simulation.run(float(order["seconds"]), check=False)
        self.replace(of_simulation(simulation), start=begin, play=True)
        self._tell("note", f"ran to {simulation.t:.3f} s, {audit.status.name}")

    def _push(self, simulation: Simulation, order: dict[str, Any]) -> None:
        simulation.push(str(order["who"]), float(order["newtons"]) * np.array(AXES[order["along"]]), 0.2)
        self._run(simulation, order)

    def _again(self, simulation: Simulation, order: dict[str, Any]) -> None:
        """Another law from the moment that the page shows; velocities are those of that moment."""
        settings: dict[str, object] = {"contact.model": str(order["model"])}
        if order["change"]:
            settings["material.default.mu"] = float(order["friction"])
        index = self.track.nearest(float(order["t"]))
        other = simulation.variant(settings)
        other.set(q=self.track.q[index], v=simulation.v if self.track.v is None else self.track.v[index])
        other.run(float(order["seconds"]), check=False)
        if self in simulation._viewers:
            simulation._viewers.remove(self)
        other._viewers.append(self)
        self.simulation = other
        self.replace(of_simulation(other), play=True)
        coulomb = other.audit.laws.coulomb  # NaN: not judged
        worst = f"{coulomb:.2g}" if coulomb == coulomb else "not judged"
        self._tell("note", f"{order['model']}, {other.audit.status.name}: worst Coulomb {worst}")

    def _walk(self, simulation: Simulation, order: dict[str, Any]) -> None:
        simulation.walk(*(float(x) for x in order["velocity"]), robot=str(order["robot"]))

    def _joint(self, simulation: Simulation, order: dict[str, Any]) -> None:
        """The target of its pd controller, or where it stands where there is none."""
        iq, value = int(order["iq"]), float(order["value"])
        if simulation.scene._has_pd:
            simulation.target[iq] = value
            return
        q = np.array(simulation.q)
        q[iq] = value
        simulation.set(q=q)
        self.sync()


def _interactive() -> bool:
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules


def view_simulation(simulation: Simulation, *, host: str = "127.0.0.1", port: int = 8080,
                    block: bool | None = None) -> Viewer:
    """Opens the page of a simulation. One that has run is shown, and a script waits for Ctrl-C; one that has not is shown
    as it is stepped."""
    fresh = simulation.state.step == 0
    viewer = Viewer(of_simulation(simulation), simulation=simulation, host=host, port=port)
    print(f"view: {viewer.url}  (Ctrl-C ends it)", flush=True)
    if block if block is not None else not (_interactive() or fresh):
        viewer.wait()
    return viewer


def view_recording(path: str | os.PathLike[str], *, host: str = "127.0.0.1", port: int = 8080,
                   block: bool = True) -> Viewer:
    """Opens the page of a recording."""
    track, _ = of_recording(path)
    viewer = Viewer(track, host=host, port=port)
    print(f"view: {viewer.url}  (Ctrl-C ends it)", flush=True)
    if block:
        viewer.wait()
    return viewer


