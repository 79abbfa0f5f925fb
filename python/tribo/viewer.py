"""A run in the browser, by viser: what happens or happened, contacts, forces, plots; pushes and other laws on the fly."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, drawing
from .extras import need
from .simulation import Simulation
from .track import Track, now, of_recording, of_simulation
from .viewer_guard import Guard, is_loopback
from .viewer_scene import Stage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

RATE = 30.0  # pictures a second of a live view
MOST_SLIDERS = 60


class Viewer:
    """A web page with a run. Keep the object as long as the page shall live; close() ends it.

    A simulation that is viewed shows itself as it is stepped; sync() draws its present moment at once. host: an address
    to listen at; beyond loopback the address of the page has a token, and who lacks it is refused.
    """

    def __init__(self, track: Track, *, simulation: Simulation | None = None, host: str = "127.0.0.1",
                 port: int = 8080) -> None:
        viser = need("viser", "the viewer is a page of viser", "view")
        if not 0 <= int(port) <= 65535:  # viser would wait for ever
            raise _core.InvalidInput(f"port is {port}, must be from 0 to 65535")
        self.track = track
        self.simulation = simulation
        self._guard = Guard(host)
        with contextlib.redirect_stdout(io.StringIO()), self._guard.watching():  # one line of our own says the address
            self.server = viser.ViserServer(host=host, port=port, label="Tribo: " + track.name, verbose=False)
        self._lock = threading.RLock()
        self._closed = False
        self._index = -1
        self._drawn_at = 0.0  # by the clock on the wall [s]
        self._stale = False  # the simulation went on since the track was taken
        self._followed: Array | None = None
        self._stage = Stage(self.server, track.model, track.poses(0))
        self._scale = drawing.force_scale(self._stage.size, [c.force for c in track.contacts])
        self._build_controls()
        self.show(float(track.t[0]))
        self._player = threading.Thread(target=self._play, daemon=True)
        self._player.start()
        atexit.register(self.close)  # its threads hold the simulation
        if simulation is not None:
            simulation._viewers.append(self)

    @property
    def url(self) -> str:
        host = self._guard.host
        shown = "127.0.0.1" if is_loopback(host) or host in ("0.0.0.0", "::") else host
        return f"http://{shown}:{self.server.get_port()}" + (f"/?token={self._guard.token}" if self._guard.token else "")

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        if self.simulation is not None and self in self.simulation._viewers:
            self.simulation._viewers.remove(self)
        self._player.join(timeout=2)
        self.server.stop()

    def _build_controls(self) -> None:
        gui = self.server.gui
        end = max(float(self.track.t[-1]), 1e-3)
        start = min(float(self.track.t[0]), end - 1e-3)
        step = max((end - start) / max(len(self.track.t) - 1, 1), 1e-4)
        self.slider = gui.add_slider("time [s]", start, end, step, start)
        self.slider.on_update(lambda event: self._sought(event))
        self.play = gui.add_checkbox("play", False)
        self.speed = gui.add_dropdown("speed", ["0.1", "0.25", "0.5", "1", "2"], initial_value="1")
        self.follow = gui.add_dropdown("follow", ["nothing", *(m.name for m in self.track.model.members)])
        self.follow.on_update(lambda _: setattr(self, "_followed", None))
        self.note = gui.add_markdown("")
        self._tabs = gui.add_tab_group()
        with self._tabs.add_tab("show"):
            self._build_show()
        if self.simulation is not None:
            with self._tabs.add_tab("run"):
                self._build_live(self.simulation)
                self._build_walk(self.simulation)
            self._build_joints(self.simulation)
        with self._tabs.add_tab("plots"):
            self._build_plots()

    def _build_show(self) -> None:
        gui = self.server.gui
        self.show_points = gui.add_checkbox("points", True, hint="blue sticks, orange slips, red impact")
        self.show_forces = gui.add_checkbox("forces", True)
        self.show_cones = gui.add_checkbox("friction cones", False)
        shapes = gui.add_checkbox("collision shapes", False)
        names = gui.add_checkbox("names", False, hint="a click on a body shows its own")
        shapes.on_update(lambda _: self._stage.show_shapes(bool(shapes.value)))
        names.on_update(lambda _: self._stage.show_names(bool(names.value)))
        for box in (self.show_points, self.show_forces, self.show_cones):
            box.on_update(lambda _: self._redraw())
        with gui.add_folder("keep"):
            picture, film = gui.add_button("picture"), gui.add_button("film")
        picture.on_click(self._picture)
        film.on_click(self._film)

    def _build_walk(self, simulation: Simulation) -> None:
        """Three sliders for each robot that walks."""
        for member in simulation.scene._walkers:
            name = simulation.model.members[member].name
            with self.server.gui.add_folder(f"{name} walks"):
                sliders = [self.server.gui.add_slider(text, -most, most, 0.05, 0.0)
                           for text, most in (("forward [m/s]", 1.0), ("left [m/s]", 0.5), ("turning [rad/s]", 1.0))]
            for slider in sliders:
                slider.on_update(lambda _, name=name, sliders=sliders: self._set_walk(
                    name, [float(s.value) for s in sliders]))

    def _set_walk(self, robot: str, velocity: list[float]) -> None:
        assert self.simulation is not None
        with self._lock:
            self.simulation.walk(*velocity, robot=robot)

    def _build_joints(self, simulation: Simulation) -> None:
        """A slider for each joint: the target of its pd controller, or where it stands where there is none."""
        model = simulation.model
        driven = simulation.scene._has_pd
        joints = [b for b in model.bodies if b.nv == 1 and b.nq == 1][:MOST_SLIDERS]
        if not joints:
            return
        values = simulation.target if driven else simulation.q
        with self._tabs.add_tab("targets" if driven else "joints"):
            for body in joints:
                low, high = float(model.lower[body.iv]), float(model.upper[body.iv])
                low, high = (low if np.isfinite(low) else -np.pi), (high if np.isfinite(high) else np.pi)
                value = float(np.clip(values[body.iq], low, high))
                if high > low:
                    slider = self.server.gui.add_slider(body.name, low, high, (high - low) / 500, value)
                    slider.on_update(lambda event, iq=body.iq: self._set_joint(iq, float(event.target.value)))

    def _set_joint(self, iq: int, value: float) -> None:
        simulation = self.simulation
        assert simulation is not None
        with self._lock:
            if simulation.scene._has_pd:
                simulation.target[iq] = value
                return
            q = np.array(simulation.q)
            q[iq] = value
            simulation.set(q=q)
            self.sync()

    def _build_plots(self) -> None:
        from viser import uplot

        self._plots: list[tuple[Any, Any]] = []
        for title, rows in self._curves().items():
            series = [uplot.Series(label="t [s]")]
            series += [uplot.Series(label=name, stroke=colour, width=2)
                       for name, colour in zip(rows, ("#2471a3", "#e67e22", "#1e8449"))]
            handle = self.server.gui.add_uplot((self.track.t, *rows.values()), tuple(series), title=title, aspect=1.6,
                                               scales={"x": uplot.Scale(time=False)})
            self._plots.append((title, handle))

    def _curves(self) -> dict[str, dict[str, Array]]:
        """What the plots show, by title and name (n)."""
        track = self.track
        curves: dict[str, dict[str, Array]] = {}
        if track.v is not None:
            energy = _core._Inquiry(track.model).energy(_core._Worlds(track.q, track.v, track.t))
            curves["energy [J]"] = {"kinetic": energy[:, 0].copy(), "potential": energy[:, 1] - energy[0, 1],
                                    "sum": energy.sum(axis=1) - energy[0, 1]}
        curves["contact forces [N]"] = {
            "normal": np.array([float(np.sum(c.force * c.normal)) for c in track.contacts]),
            "largest": np.array([float(np.linalg.norm(c.force, axis=1).max()) if len(c.mu) else 0.0 for c in track.contacts])}
        if track.audit is not None:
            curves["audit"] = dict(track.audit)
        return curves

    def _refresh_plots(self) -> None:
        curves = self._curves()
        for title, handle in self._plots:
            if title in curves:
                handle.data = (self.track.t, *curves[title].values())

    def _picture(self, event: Any) -> None:
        """The page as its visitor sees it."""
        from PIL import Image

        client = event.client
        if client is None:
            return
        file = io.BytesIO()
        Image.fromarray(client.get_render(height=720, width=1280, transport_format="png")[..., :3]).save(file, "PNG")
        client.send_file_download(f"{self.track.name}.png", file.getvalue(), save_immediately=True)

    def _film(self, event: Any) -> None:
        """The whole track, drawn here."""
        from .film import write

        self.note.content = "drawing a film …"
        try:
            if self._stale:
                self._take()
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "run.mp4")
                write(self.track, path)
                with open(path, "rb") as file:
                    event.client.send_file_download(f"{self.track.name}.mp4", file.read(), save_immediately=True)
            self.note.content = ""
        except (ImportError, RuntimeError, _core.InvalidInput) as error:
            self.note.content = f"no film: {error}"

    def _build_live(self, simulation: Simulation) -> None:
        gui, scene = self.server.gui, simulation.scene
        names = [m.name for m in simulation.model.members]
        with gui.add_folder("run on"):
            self.seconds = gui.add_slider("for [s]", 0.1, 10.0, 0.1, 2.0)
            self.where = gui.add_dropdown("push", names)
            self.newtons = gui.add_slider("force [N]", 0.0, 50 * self._load(), self._load() / 20, self._load())
            self.direction = gui.add_dropdown("along", ["+x", "-x", "+y", "-y", "+z"], initial_value="+y")
            push = gui.add_button("push for 0.2 s")
            on = gui.add_button("run")
        push.on_click(lambda _: self._continue(push=True))
        on.on_click(lambda _: self._continue(push=False))
        if simulation._recipe is None:
            return
        with gui.add_folder("from here, with"):
            self.law = gui.add_dropdown("contact model", ["ncp", "ccp", "lcp", "raisim"], initial_value=scene.contact_model)
            self.mu = gui.add_slider("friction [-]", 0.0, 1.5, 0.01, 0.7)
            self.change_mu = gui.add_checkbox("change friction", False)
            again = gui.add_button("run again from this time")
        again.on_click(lambda _: self._again())

    def _load(self) -> float:
        """A force that is felt: a tenth of the weight [N]."""
        return max(float(np.round(0.98 * self.track.model.mass, 2)), 0.1)

    def _continue(self, *, push: bool) -> None:
        simulation = self.simulation
        assert simulation is not None
        with self._lock:
            if push:
                axis, sign = "xyz".index(self.direction.value[1]), 1.0 if self.direction.value[0] == "+" else -1.0
                simulation.push(self.where.value, sign * float(self.newtons.value) * np.eye(3)[axis], 0.2)
            begin = simulation.t
            audit = simulation.run(float(self.seconds.value), check=False)
            self.replace(of_simulation(simulation))
            self.note.content = f"ran to {simulation.t:.3f} s, {audit.status.name}"
            self.slider.value = begin
        self.play.value = True

    def _again(self) -> None:
        """Another law from the moment that the slider shows; velocities are those of the nearest moments."""
        simulation = self.simulation
        assert simulation is not None
        settings: dict[str, object] = {"contact.model": self.law.value}
        if self.change_mu.value:
            settings["material.default.mu"] = float(self.mu.value)
        with self._lock:
            try:
                other = simulation.variant(settings)
                other.set(q=self.track.q[self._index], v=self._velocity(self._index))
                other.run(float(self.seconds.value), check=False)
            except _core.InvalidInput as error:
                self.note.content = f"refused: {error}"
                return
            self.simulation = other
            self.replace(of_simulation(other))
            coulomb = other.audit.laws.coulomb  # NaN: not judged
            worst = f"{coulomb:.2g}" if coulomb == coulomb else "not judged"
            self.note.content = f"{self.law.value}, {other.audit.status.name}: worst Coulomb {worst}"
        self.play.value = True

    def _velocity(self, i: int) -> Array:
        simulation = self.simulation
        assert simulation is not None
        j = min(i + 1, len(self.track.t) - 1)
        if j == i or self.track.t[j] <= self.track.t[i]:
            return np.array(simulation.v)
        moved: Array = self.track.model.difference(self.track.q[i], self.track.q[j])
        return moved / float(self.track.t[j] - self.track.t[i])

    def replace(self, track: Track) -> None:
        """Shows another run of the same model."""
        with self._lock:
            self.track = track
            self._stale = False
            self._scale = drawing.force_scale(self._stage.size, [c.force for c in track.contacts]) or self._scale
            self.slider.min, self.slider.max = float(track.t[0]), max(float(track.t[-1]), float(track.t[0]) + 1e-3)
            self._index = -1
            self._refresh_plots()
            self.show(float(track.t[0]))

    def _take(self) -> None:
        """What the simulation remembers by now takes the place of the track."""
        assert self.simulation is not None
        shown = float(self.slider.value)
        self.replace(of_simulation(self.simulation))
        self.show(shown)

    def _sought(self, event: Any) -> None:
        if event is not None and event.client is not None and self._stale and self.simulation is not None:
            with contextlib.suppress(RuntimeError):  # it is being stepped: what is there is shown
                self._take()
        self.show(float(self.slider.value))

    def sync(self) -> None:
        """Draws the present moment of the simulation."""
        simulation = self.simulation
        if simulation is None:
            return
        with self._lock, self.server.atomic():
            poses, contacts = now(simulation)
            self._stale = True
            self._drawn_at = time.monotonic()
            if self._scale == 0:
                self._scale = drawing.force_scale(self._stage.size, [contacts.force])
            self.slider.max = max(float(self.slider.max), simulation.t)
            self._index = -1
            self.slider.value = simulation.t
            self._draw(poses, contacts)

    def _stepped(self) -> None:
        """After a step: at most so many pictures a second."""
        if time.monotonic() - self._drawn_at > 1 / RATE:
            self.sync()

    def show(self, t: float) -> None:
        """Draws the moment nearest to a time [s]."""
        with self._lock:
            index = self.track.nearest(t)
            if index == self._index or (self._stale and t > self.track.t[-1]):
                return
            self._index = index
            self._redraw()

    def _redraw(self) -> None:
        with self._lock, self.server.atomic():
            self._draw(self.track.poses(self._index), self.track.contacts[self._index])

    def _draw(self, poses: dict[int, Array], contacts: Any) -> None:
        self._stage.place(poses)
        boxes = {"points": self.show_points, "forces": self.show_forces, "cones": self.show_cones}
        self._stage.contacts(contacts, lambda kind: bool(boxes[kind].value), self._scale)
        self._go_along(poses)

    def _go_along(self, poses: dict[int, Array]) -> None:
        """Cameras move as far as what they follow."""
        if self.follow.value == "nothing":
            return
        member = next(m for m in self.track.model.members if m.name == self.follow.value)
        place = poses[member.first_body][:3, 3].copy()
        if self._followed is not None:
            for client in self.server.get_clients().values():
                client.camera.position = np.asarray(client.camera.position) + place - self._followed
                client.camera.look_at = np.asarray(client.camera.look_at) + place - self._followed
        self._followed = place

    def _play(self) -> None:
        last = time.monotonic()
        while not self._closed:
            time.sleep(1 / 30)
            now = time.monotonic()
            if self.play.value:
                t = float(self.slider.value) + (now - last) * float(self.speed.value)
                if t >= self.track.t[-1]:
                    t = float(self.track.t[-1])
                    self.play.value = False
                self.slider.value = t
                self.show(t)
            last = now

    def wait(self) -> None:
        """Until the program is interrupted."""
        try:
            while not self._closed:
                time.sleep(0.2)
        except KeyboardInterrupt:
            self.close()


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
