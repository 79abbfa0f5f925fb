"""What the viewer draws in the browser: bodies, ground, sky, contacts, names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, drawing
from .visuals import Visual, shapes_of, visuals_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .track import Contacts

    Array = NDArray[np.float64]


def _sky() -> NDArray[np.uint8]:
    share = np.linspace(0, 1, 256)[:, None]
    column = (1 - share) * np.array(drawing.SKY[0]) + share * np.array(drawing.SKY[1])
    return np.broadcast_to(column[:, None, :], (256, 8, 3)).astype(np.uint8)


def _textured(vertices: Array, faces: NDArray[Any], uv: Array, pixels: NDArray[np.uint8]) -> Any:
    import trimesh
    from PIL import Image

    look = trimesh.visual.TextureVisuals(uv=uv, image=Image.fromarray(pixels))
    return trimesh.Trimesh(vertices, faces, visual=look, process=False)


class Stage:
    """The bodies of a model on a page of viser."""

    def __init__(self, server: Any, model: _core.Model, poses: Mapping[int, Array]) -> None:
        self._server, self._model = server, model
        self._visuals, self._shapes = visuals_of(model), shapes_of(model)
        low, high = drawing.bounds(self._visuals or self._shapes, poses)
        self.middle: Array = (low + high) / 2
        self.size = max(float(np.linalg.norm(high - low)), 0.05)
        self._frames: dict[int, Any] = {-1: server.scene.add_frame("/world", show_axes=False)}
        for i in poses:
            self._frames[i] = server.scene.add_frame(f"/body/{i}", show_axes=False)
        self._drawn = [self._add(f"visual/{k}", v) for k, v in enumerate(self._visuals)]
        self._colliding: list[Any] | None = None  # made when first asked for
        self._labels: list[Any] | None = None
        self._named: Any = None
        server.scene.set_up_direction("+z")
        server.scene.set_background_image(_sky(), format="png")
        server.scene.configure_default_lights(enabled=True, cast_shadow=True)
        self._lay_ground()
        direction = np.array([1.0, -1.15, 0.55])
        server.initial_camera.position = tuple(self.middle + 1.35 * self.size * direction / np.linalg.norm(direction))
        server.initial_camera.look_at = tuple(self.middle)

    def _parent(self, body: int) -> str:
        return "/world" if body == -1 else f"/body/{body}"

    def _add(self, name: str, v: Visual) -> Any:
        place: dict[str, Any] = {"position": v.placement[:3, 3], "wxyz": drawing.quaternion(v.placement[:3, :3])}
        path = f"{self._parent(v.body)}/{name}"
        if v.texture is not None and v.uv is not None:
            handle = self._server.scene.add_mesh_trimesh(path, _textured(v.vertices, v.faces, v.uv, v.texture), **place)
        else:
            handle = self._server.scene.add_mesh_simple(
                path, v.vertices.astype(np.float32), v.faces, color=v.colour, flat_shading=True, side="double",
                opacity=None if v.opacity >= 1 else v.opacity, **place)
        # What can be clicked is outlined by viser under the pointer.
        handle.on_click(lambda _: self.name(v.name, v.body))
        return handle

    def _lay_ground(self) -> None:
        side, n = drawing.tile(self.size), 40
        pixels = np.array([[drawing.TILES[0], drawing.TILES[1]], [drawing.TILES[1], drawing.TILES[0]]], dtype=np.uint8)
        pixels = np.kron(pixels, np.ones((32, 32, 1), dtype=np.uint8))
        corners = n * side * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        uv = n * np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
        grounds = [g for g in self._model.geometries if g.kind == _core.ShapeKind.HalfSpace and g.body == -1]
        for k, shape in enumerate(grounds):
            place = np.array(shape.placement)
            centre = place[:3, :3] @ [*(2 * side * np.round((place[:3, :3].T @ (self.middle - place[:3, 3]))[:2] / (2 * side))), 0]
            self._server.scene.add_mesh_trimesh(f"/ground/{k}", _textured(corners, np.array([[0, 1, 2], [0, 2, 3]]), uv, pixels),
                                                position=place[:3, 3] + centre, wxyz=drawing.quaternion(place[:3, :3]),
                                                cast_shadow=False)

    def name(self, text: str, body: int) -> None:
        """Shows the name of what was clicked, where it is."""
        if self._named is not None:
            self._named.remove()
        self._named = self._server.scene.add_label(f"{self._parent(body)}/clicked", text)

    def show_names(self, visible: bool) -> None:
        if self._labels is None and visible:
            self._labels = [self._server.scene.add_label(f"{self._parent(i)}/name", b.name)
                            for i, b in enumerate(self._model.bodies)]
        for label in self._labels or []:
            label.visible = visible

    def show_shapes(self, visible: bool) -> None:
        """Shapes that collide, or what the robot looks like."""
        if self._colliding is None and visible:
            self._colliding = [self._add(f"shape/{k}", v) for k, v in enumerate(self._shapes)]
        for handle in self._colliding or []:
            handle.visible = visible
        for handle in self._drawn:
            handle.visible = not visible

    def place(self, poses: Mapping[int, Array]) -> None:
        for i, pose in poses.items():
            self._frames[i].position = pose[:3, 3]
            self._frames[i].wxyz = drawing.quaternion(pose[:3, :3])

    def contacts(self, contacts: Contacts, shown: Callable[[str], bool], scale: float) -> None:
        """Points, arrows and cones, those of them that are to be shown."""
        scene, m = self._server.scene, len(contacts.mu)
        names = {mode.value: mode.name for mode in _core.ContactMode}
        colours = np.array([drawing.MODES[names[int(x)]] for x in contacts.mode], dtype=np.uint8).reshape(-1, 3)
        points = contacts.point if m else np.zeros((1, 3))
        scene.add_point_cloud("/contacts/points", points.astype(np.float32), colours if m else np.zeros((1, 3), np.uint8),
                              point_size=0.012 * self.size, point_shape="circle", precision="float32",
                              visible=m > 0 and shown("points"))
        nothing = (np.zeros((3, 3)), np.array([[0, 1, 2]], dtype=np.uint32))
        for kind, colour, opacity, mesh in (
                ("forces", drawing.FORCE, None, drawing.force_arrows(contacts, self.size, scale) if m else nothing),
                ("cones", drawing.CONE, 0.35, drawing.cones(contacts, 0.12 * self.size) if m else nothing)):
            vertices, faces = mesh if len(mesh[1]) else nothing
            scene.add_mesh_simple(f"/contacts/{kind}", vertices.astype(np.float32), faces, color=colour, opacity=opacity,
                                  side="double", cast_shadow=False, visible=m > 0 and shown(kind))
