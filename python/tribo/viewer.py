"""A run in the browser, by viser: meshes, contacts, forces, cones, time slider; pushes and other laws on the fly."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .drawing import MODES, cones, quaternion
from .simulation import Simulation
from .track import Contacts, Track, of_recording, of_simulation
from .visuals import visuals_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

class Viewer:
    """A web page with a run. Keep the object as long as the page shall live; close() ends it."""

    def __init__(self, track: Track, *, simulation: Simulation | None = None, host: str = "127.0.0.1",
                 port: int = 8080) -> None:
        import viser

        self.track = track
        self.simulation = simulation
        with contextlib.redirect_stdout(io.StringIO()):  # its banner; one line of our own says the address
            self.server = viser.ViserServer(host=host, port=port, label="Tribo: " + track.name, verbose=False)
        self.server.scene.set_up_direction("+z")
        self._lock = threading.RLock()
        self._closed = False
        self._index = -1
        self._size = self._extent()
        self._build_scene()
        self._build_controls()
        self.show(0.0)
        self._player = threading.Thread(target=self._play, daemon=True)
        self._player.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.get_port()}"

    def close(self) -> None:
        self._closed = True
        self._player.join(timeout=2)
        self.server.stop()

    def _extent(self) -> float:
        """How large the world is, to choose the size of arrows and the camera [m]."""
        poses = self.track.model.poses(self.track.q[0])
        if len(poses) == 0:
            return 1.0
        radius = max((float(np.linalg.norm(g.size)) for g in self.track.model.geometries if g.body >= 0), default=0.1)
        return float(max(np.ptp(poses[:, :3, 3], axis=0).max() + radius, 0.2))

    def _build_scene(self) -> None:
        scene = self.server.scene
        ground = [g for g in self.track.model.geometries if g.kind == _core.ShapeKind.HalfSpace and g.body < 0]
        for k, shape in enumerate(ground):
            place = np.array(shape.placement)
            scene.add_grid(f"/ground/{k}", width=40 * self._size, height=40 * self._size, cell_size=self._cell(),
                           section_size=5 * self._cell(), position=place[:3, 3], wxyz=quaternion(place[:3, :3]),
                           plane_color=(245, 245, 245), plane_opacity=0.6)
        self._bodies: dict[int, Any] = {-1: scene.add_frame("/world", show_axes=False)}
        for i in self.track.poses(0):
            self._bodies[i] = scene.add_frame(f"/body/{i}", show_axes=False)
        for k, visual in enumerate(visuals_of(self.track.model)):
            parent = "/world" if visual.body == -1 else f"/body/{visual.body}"
            scene.add_mesh_simple(f"{parent}/{k}", visual.vertices.astype(np.float32), visual.faces, color=visual.colour,
                                  position=visual.placement[:3, 3], wxyz=quaternion(visual.placement[:3, :3]),
                                  flat_shading=True, side="double")
        center = self.track.model.poses(self.track.q[0])[:, :3, 3].mean(axis=0)
        self.server.initial_camera.position = tuple(center + np.array([1.4, -1.6, 0.9]) * self._size)
        self.server.initial_camera.look_at = tuple(center)

    def _cell(self) -> float:
        return float(10.0 ** np.floor(np.log10(self._size)))

    def _build_controls(self) -> None:
        gui = self.server.gui
        end = max(float(self.track.t[-1]), 1e-3)
        start = min(float(self.track.t[0]), end - 1e-3)
        step = max((end - start) / max(len(self.track.t) - 1, 1), 1e-4)
        self.slider = gui.add_slider("time [s]", start, end, step, start)
        self.slider.on_update(lambda _: self.show(float(self.slider.value)))
        self.play = gui.add_checkbox("play", False)
        self.speed = gui.add_dropdown("speed", ["0.1", "0.25", "0.5", "1", "2"], initial_value="1")
        with gui.add_folder("contacts"):
            self.show_points = gui.add_checkbox("points", True, hint="blue sticks, orange slips, red impact")
            self.show_forces = gui.add_checkbox("forces", True)
            self.show_cones = gui.add_checkbox("friction cones", False)
        for box in (self.show_points, self.show_forces, self.show_cones):
            box.on_update(lambda _: self._redraw())
        self.note = gui.add_markdown("")
        if self.simulation is not None:
            self._build_live(self.simulation)

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
            self.slider.min, self.slider.max = float(track.t[0]), max(float(track.t[-1]), float(track.t[0]) + 1e-3)
            self._index = -1
            self.show(float(track.t[0]))

    def show(self, t: float) -> None:
        """Draws the moment nearest to a time [s]."""
        with self._lock:
            index = self.track.nearest(t)
            if index == self._index:
                return
            self._index = index
            self._redraw()

    def _redraw(self) -> None:
        with self._lock, self.server.atomic():
            for i, pose in self.track.poses(self._index).items():
                self._bodies[i].position = pose[:3, 3]
                self._bodies[i].wxyz = quaternion(pose[:3, :3])
            self._draw_contacts(self.track.contacts[self._index])

    def _draw_contacts(self, contacts: Contacts) -> None:
        scene, m = self.server.scene, len(contacts.mu)
        names = {mode.value: mode.name for mode in _core.ContactMode}
        colours = np.array([MODES[names[int(x)]] for x in contacts.mode], dtype=np.uint8).reshape(-1, 3)
        visible = m > 0 and bool(self.show_points.value)
        points = contacts.point if m else np.zeros((1, 3))
        scene.add_point_cloud("/contacts/points", points.astype(np.float32), colours if m else np.zeros((1, 3), np.uint8),
                              point_size=0.02 * self._size, point_shape="circle", precision="float32", visible=visible)
        scale = 0.5 * self._size / (9.81 * self.track.model.mass)
        ends = np.stack([points, points + scale * (contacts.force if m else np.full((1, 3), 1e-6))], axis=1)
        scene.add_line_segments("/contacts/forces", ends.astype(np.float32), (30, 132, 73), thickness=0.008 * self._size,
                                visible=m > 0 and bool(self.show_forces.value))
        vertices, faces = cones(contacts, 0.12 * self._size)
        if m == 0:
            vertices, faces = np.zeros((3, 3)), np.array([[0, 1, 2]], dtype=np.uint32)
        scene.add_mesh_simple("/contacts/cones", vertices.astype(np.float32), faces, color=(241, 196, 15), opacity=0.35,
                              side="double", visible=m > 0 and bool(self.show_cones.value))

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


def view_simulation(simulation: Simulation, *, port: int = 8080, block: bool | None = None) -> Viewer:
    """Opens the page of a simulation; waits for Ctrl-C where the program is a script."""
    viewer = Viewer(of_simulation(simulation), simulation=simulation, port=port)
    print(f"view: {viewer.url}  (Ctrl-C ends it)", flush=True)
    if block if block is not None else not _interactive():
        viewer.wait()
    return viewer


def view_recording(path: str | os.PathLike[str], *, port: int = 8080, block: bool = True) -> Viewer:
    """Opens the page of a recording."""
    track, _ = of_recording(path)
    viewer = Viewer(track, port=port)
    print(f"view: {viewer.url}  (Ctrl-C ends it)", flush=True)
    if block:
        viewer.wait()
    return viewer
