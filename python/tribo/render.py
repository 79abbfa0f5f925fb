"""Pictures without a display, by VTK: sim.render() and tribo video."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, drawing
from .extras import need
from .visuals import Visual, shapes_of, visuals_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .track import Contacts

    Array = NDArray[np.float64]
    Image = NDArray[np.uint8]

NO_OPENGL = ("no OpenGL without a display was found: install Mesa's, on Debian and Ubuntu "
             "'apt-get install libegl1 libgl1-mesa-dri' (or libosmesa6)")
VIEWS = {"front": (1, 0, 0.15), "back": (-1, 0, 0.15), "left": (0, 1, 0.15), "right": (0, -1, 0.15), "top": (0, -1e-3, 1),
         "corner": (1, -1.15, 0.55)}  # from where the camera looks, seen from the middle

SUN = np.array([0.25, -0.45, 1.0])  # direction in which it stands
SHADOW = (0.3, 256)  # darkness, pixels a side


@dataclass
class Camera:
    """Where a picture is taken from.

    view: a word ("corner", "front", "back", "left", "right", "top") or a direction (3) from the middle of the picture
    to the camera. The camera stands so far away that all is seen that moves, or what `follow` names: a robot, object,
    body or frame, which then stays in the middle. distance [m] and look_at (3) [m] say otherwise; with position (3) [m]
    the camera stands there. zoom > 1 is nearer. on: a frame or body that carries the camera, which looks along +x of
    it, +z up.
    """

    view: str | ArrayLike = "corner"
    follow: str | None = None
    distance: float | None = None  # [m]
    look_at: ArrayLike | None = None  # (3) [m]
    position: ArrayLike | None = None  # (3) [m]
    zoom: float = 1.0
    fov: float = 40.0  # of the height of the picture [degrees]
    on: str | None = None
    _distance: float | None = field(default=None, repr=False)  # of the first picture: a film does not breathe

    def direction(self) -> Array:
        if isinstance(self.view, str):
            if self.view not in VIEWS:
                raise _core.InvalidInput(f"unknown view '{self.view}'; known: {', '.join(VIEWS)}")
            d = np.array(VIEWS[self.view], dtype=float)
        else:
            d = np.asarray(self.view, dtype=float)
        if d.shape != (3,) or not np.linalg.norm(d) > 0:
            raise _core.InvalidInput(f"the view of a camera is a word or a direction of 3 numbers, not {self.view!r}")
        unit: Array = d / np.linalg.norm(d)
        return unit


def camera_of(given: Camera | str | None, model: _core.Model) -> Camera:
    """A camera, the word for a view, or the name of what is to be followed."""
    if given is None or isinstance(given, Camera):
        return given or Camera()
    if given in VIEWS:
        return Camera(view=given)
    try:
        bodies_named(model, given)
    except _core.InvalidInput as error:
        raise _core.InvalidInput(f"camera '{given}': neither a view ({', '.join(VIEWS)}) nor something to follow: {error}") from None
    return Camera(follow=given)


def bodies_named(model: _core.Model, name: str) -> set[int]:
    """Bodies of a robot, object, body or frame. InvalidInput lists what there is."""
    for member in model.members:
        if member.name == name:
            return set(range(member.first_body, member.first_body + member.bodies))
    for frame in model.frames:
        if frame.name == name:
            return {frame.body}
    return {model.body(name)}


def _vtk() -> Any:
    return need("vtkmodules.all", "pictures and films are drawn by VTK", "render")


def _window(vtk: Any, width: int, height: int) -> Any:
    """An off-screen window: EGL, or OSMesa where there is none."""
    shown = vtk.vtkObject.GetGlobalWarningDisplay()
    vtk.vtkObject.GlobalWarningDisplayOff()
    try:
        for name in ("vtkEGLRenderWindow", "vtkOSOpenGLRenderWindow"):
            if not hasattr(vtk, name):
                continue
            window = getattr(vtk, name)()
            window.SetOffScreenRendering(1)
            window.SetSize(width, height)
            if window.SupportsOpenGL():
                return window
    finally:
        vtk.vtkObject.SetGlobalWarningDisplay(shown)
    raise RuntimeError(NO_OPENGL)


def _polydata(vtk: Any, vertices: Array, faces: NDArray[Any], uv: Array | None = None) -> Any:
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray

    data = vtk.vtkPolyData()
    points = vtk.vtkPoints()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(vertices, dtype=np.float32), deep=True))
    data.SetPoints(points)
    cells = vtk.vtkCellArray()
    offsets = numpy_to_vtkIdTypeArray(np.arange(0, 3 * len(faces) + 1, 3, dtype=np.int64), deep=True)
    cells.SetData(offsets, numpy_to_vtkIdTypeArray(np.ascontiguousarray(faces, dtype=np.int64).ravel(), deep=True))
    data.SetPolys(cells)
    if uv is not None:
        coordinates = numpy_to_vtk(np.ascontiguousarray(uv, dtype=np.float32), deep=True)
        coordinates.SetName("uv")
        data.GetPointData().SetTCoords(coordinates)
    return data


def _texture(vtk: Any, pixels: Image, *, nearest: bool = False) -> Any:
    from vtkmodules.util.numpy_support import numpy_to_vtk

    image = vtk.vtkImageData()
    height, width = pixels.shape[:2]
    image.SetDimensions(width, height, 1)
    image.GetPointData().SetScalars(numpy_to_vtk(np.ascontiguousarray(pixels[::-1]).reshape(-1, 3), deep=True))
    texture = vtk.vtkTexture()
    texture.SetInputData(image)
    texture.SetInterpolate(not nearest)
    texture.SetMipmap(True)
    texture.SetRepeat(True)
    return texture


class Shadow:
    """The shadow on the ground: the outline of all that is drawn, seen from the sun, laid on the first half-space."""

    def __init__(self, owner: Renderer) -> None:
        self._owner = owner
        planes = [g for g in owner.model.geometries if g.kind == _core.ShapeKind.HalfSpace and g.body == -1]
        places = [np.array(g.placement) for g in planes]
        self._plane = next((X for X in places if X[:3, 2] @ SUN > 0.2), None)
        self._actor = owner._actor(owner._vtk.vtkPolyData(), (0, 0, 0), SHADOW[0])
        self._actor.GetProperty().LightingOff()

    def cast(self, low: Array, high: Array) -> None:
        self._actor.VisibilityOff()
        if self._plane is None:
            return
        owner, centre, radius = self._owner, (low + high) / 2, float(np.linalg.norm(high - low)) / 2
        lit, e1, e2 = self._outline(centre, radius)
        rows, columns = np.nonzero(lit)
        if len(rows) == 0:
            return
        # Each pixel that the sun does not pass is a square that falls on the ground along the rays of the sun.
        n, p0 = self._plane[:3, 2], self._plane[:3, 3]
        step = 2 * radius / SHADOW[1]
        corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) * step
        at = np.stack([(columns + 0.5) * step - radius, (rows + 0.5) * step - radius], axis=1)
        flat = (at[:, None, :] + corners[None]).reshape(-1, 2)
        points = centre + flat[:, :1] * e1 + flat[:, 1:] * e2
        fall = ((points - p0) @ n) / (SUN @ n)
        points = points - fall[:, None] * SUN + 1e-3 * owner._size * n
        first = 4 * np.arange(len(rows))[:, None]
        faces = np.vstack([first + [0, 1, 2], first + [0, 2, 3]])
        self._actor.GetMapper().SetInputData(_polydata(owner._vtk, points, faces))
        self._actor.VisibilityOn()

    def _outline(self, centre: Array, radius: float) -> tuple[NDArray[np.bool_], Array, Array]:
        """What the sun sees (pixels, first row lowest), and the two axes of its picture."""
        owner = self._owner
        for actor in owner._grounds:
            actor.VisibilityOff()
        owner._over.DrawOff()
        view = owner._renderer.GetActiveCamera()
        direction = SUN / np.linalg.norm(SUN)
        e1 = np.cross([0.0, 0.0, 1.0], direction)
        e1 /= np.linalg.norm(e1)
        e2 = np.cross(direction, e1)
        view.ParallelProjectionOn()
        view.SetParallelScale(radius)
        view.SetViewUp(e2)
        view.SetPosition(centre + 2 * radius * direction)
        view.SetFocalPoint(centre)
        view.SetClippingRange(0.5 * radius, 3.5 * radius)
        owner._window.SetSize(SHADOW[1], SHADOW[1])
        owner._window.Render()
        depth = owner._vtk.vtkFloatArray()
        owner._window.GetZbufferData(0, 0, SHADOW[1] - 1, SHADOW[1] - 1, depth)
        from vtkmodules.util.numpy_support import vtk_to_numpy

        lit = vtk_to_numpy(depth).reshape(SHADOW[1], SHADOW[1]) < 1.0
        owner._window.SetSize(owner.width, owner.height)
        view.ParallelProjectionOff()
        for actor in owner._grounds:
            actor.VisibilityOn()
        owner._over.DrawOn()
        return lit, e1, e2


class Renderer:
    """Draws the worlds of one model. Keeps its meshes: make one, draw many pictures."""

    def __init__(self, model: _core.Model, *, width: int = 640, height: int = 480, shadows: bool = True) -> None:
        if not (16 <= width <= 8192 and 16 <= height <= 8192):
            raise _core.InvalidInput(f"a picture of {width} x {height} pixels: each side must be from 16 to 8192")
        self._vtk = _vtk()
        self.model, self.width, self.height = model, width, height
        self._window = _window(self._vtk, width, height)
        self._window.SetMultiSamples(0)
        self._renderer = self._vtk.vtkRenderer()
        self._renderer.UseFXAAOn()
        self._window.AddRenderer(self._renderer)
        # Arrows and cones are drawn over the rest: those that press on a box would be hidden in it.
        self._over = self._vtk.vtkRenderer()
        self._over.SetLayer(1)
        self._over.UseFXAAOn()
        self._over.SetActiveCamera(self._renderer.GetActiveCamera())
        self._window.SetNumberOfLayers(2)
        self._window.AddRenderer(self._over)
        self._visuals = visuals_of(model)
        self._shapes = shapes_of(model)
        self._laid: Array | None = None  # where the ground is centred
        self._size = 0.0  # of what moves, at the first picture [m]
        self._add_light()
        self._shown = [(v, self._add(v)) for v in self._visuals]
        self._colliding: list[tuple[Visual, Any]] | None = None  # made when first asked for
        self._grounds: list[Any] = []
        self._arrows = self._add_overlay(drawing.FORCE)
        self._cones = self._add_overlay(drawing.CONE, 0.4)
        self._shadow = Shadow(self) if shadows else None

    def _add_light(self) -> None:
        vtk, renderer = self._vtk, self._renderer
        renderer.GradientBackgroundOn()
        renderer.SetBackground(np.array(drawing.SKY[1]) / 255)
        renderer.SetBackground2(np.array(drawing.SKY[0]) / 255)
        renderer.AutomaticLightCreationOff()
        self._sun = vtk.vtkLight()
        self._sun.SetLightTypeToSceneLight()
        self._sun.PositionalOff()
        self._sun.SetPosition(SUN)
        self._sun.SetFocalPoint(0, 0, 0)
        self._sun.SetIntensity(0.75)
        self._fill = vtk.vtkLight()
        self._fill.SetLightTypeToHeadlight()
        self._fill.SetIntensity(0.45)
        self._over.AutomaticLightCreationOff()
        for light in (self._sun, self._fill):
            renderer.AddLight(light)
            self._over.AddLight(light)

    def _actor(self, data: Any, colour: tuple[int, int, int], opacity: float = 1.0, *, smooth: bool = False) -> Any:
        vtk = self._vtk
        mapper = vtk.vtkPolyDataMapper()
        if smooth:
            normals = vtk.vtkPolyDataNormals()
            normals.SetInputData(data)
            normals.SetFeatureAngle(35)
            normals.ConsistencyOff()
            normals.Update()
            data = normals.GetOutput()
        mapper.SetInputData(data)
        mapper.ScalarVisibilityOff()
        actor = vtk.vtkActor()
        actor.SetMapper(mapper)
        p = actor.GetProperty()
        p.SetColor(np.array(colour) / 255)
        p.SetOpacity(opacity)
        p.SetAmbient(0.25)
        p.SetDiffuse(0.8)
        p.SetSpecular(0.12)
        p.SetSpecularPower(20)
        self._renderer.AddActor(actor)
        return actor

    def _add(self, visual: Visual) -> Any:
        vtk = self._vtk
        data = _polydata(vtk, visual.vertices, visual.faces, visual.uv)
        if visual.uv is None:  # points that files repeat are one, so that round things look round
            clean = vtk.vtkCleanPolyData()
            clean.SetInputData(data)
            clean.Update()
            data = clean.GetOutput()
        actor = self._actor(data, visual.colour, visual.opacity, smooth=True)
        if visual.texture is not None:
            actor.SetTexture(_texture(vtk, visual.texture))
        return actor

    def _add_overlay(self, colour: tuple[int, int, int], opacity: float = 1.0) -> Any:
        actor = self._actor(self._vtk.vtkPolyData(), colour, opacity)
        actor.GetProperty().SetAmbient(0.6)
        self._renderer.RemoveActor(actor)
        self._over.AddActor(actor)
        return actor

    def _lay_ground(self, middle: Array) -> None:
        """A checkered square for each half-space, about the middle of what moves; laid anew where that went far."""
        if self._laid is not None and np.linalg.norm(middle - self._laid) < 10 * self._size:
            return
        vtk, self._laid = self._vtk, middle
        for actor in self._grounds:
            self._renderer.RemoveActor(actor)
        self._grounds = []
        side, n = drawing.tile(self._size), 60
        pixels = np.array([[drawing.TILES[0], drawing.TILES[1]], [drawing.TILES[1], drawing.TILES[0]]], dtype=np.uint8)
        pixels = np.kron(pixels, np.ones((64, 64, 1), dtype=np.uint8))
        half = n * side
        corners = np.array([[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]])
        for shape in self.model.geometries:
            if shape.kind != _core.ShapeKind.HalfSpace or shape.body != -1:
                continue
            place = np.array(shape.placement)
            local = place[:3, :3].T @ (middle - place[:3, 3])
            centre = np.array([*(2 * side * np.round(local[:2] / (2 * side))), 0])
            data = _polydata(vtk, (corners + centre) @ place[:3, :3].T + place[:3, 3], np.array([[0, 1, 2], [0, 2, 3]]),
                             np.array([[0, 0], [n, 0], [n, n], [0, n]]))
            actor = self._actor(data, (255, 255, 255))
            actor.SetTexture(_texture(vtk, pixels))
            actor.GetProperty().SetSpecular(0)
            actor.GetProperty().SetAmbient(0.35)
            self._grounds.append(actor)

    def _pose(self, shown: list[tuple[Visual, Any]], poses: Mapping[int, Array], visible: bool) -> None:
        for visual, actor in shown:
            actor.SetVisibility(visible)
            if not visible:
                continue
            place = visual.placement if visual.body == -1 else poses[visual.body] @ visual.placement
            matrix = self._vtk.vtkMatrix4x4()
            matrix.DeepCopy(np.ascontiguousarray(place).ravel())
            actor.SetUserMatrix(matrix)

    def _aim(self, camera: Camera, poses: Mapping[int, Array]) -> None:
        view = self._renderer.GetActiveCamera()
        view.SetViewAngle(camera.fov)
        view.SetViewUp(0, 0, 1)
        if camera.on is not None:
            place = self._place(camera.on, poses)
            eye, look = place[:3, 3], place[:3, 3] + place[:3, 0]
            view.SetViewUp(place[:3, 2])
        else:
            wanted = None if camera.follow is None else bodies_named(self.model, camera.follow)
            low, high = self.bounds(poses, wanted)
            look = (low + high) / 2 if camera.look_at is None else np.asarray(camera.look_at, dtype=float)
            if camera.position is not None:
                eye = np.asarray(camera.position, dtype=float)
            else:
                if camera.distance is not None:
                    camera._distance = camera.distance
                elif camera._distance is None:
                    radius = max(float(np.linalg.norm(high - low)) / 2, 0.02)
                    angle = np.radians(camera.fov) / 2
                    angle = min(angle, np.arctan(np.tan(angle) * self.width / self.height))
                    camera._distance = 1.08 * radius / np.sin(angle) / camera.zoom
                eye = look + camera._distance * camera.direction()
        view.SetPosition(eye)
        view.SetFocalPoint(look)
        reach = float(np.linalg.norm(np.asarray(eye) - np.asarray(look)))
        view.SetClippingRange(max(reach - 1.5 * self._size, 0.03 * reach), reach + 60 * self._size)

    def _place(self, name: str, poses: Mapping[int, Array]) -> Array:
        for frame in self.model.frames:
            if frame.name == name:
                place = np.array(frame.placement)
                return place if frame.body == -1 else poses[frame.body] @ place
        return poses[self.model.body(name)]

    def draw(self, poses: Mapping[int, Array], contacts: Contacts | None = None, camera: Camera | None = None, *,
             forces: bool = True, cones: bool = False, collision: bool = False, scale: float | None = None) -> Image:
        """The picture (height, width, 3) of the bodies at their poses.

        forces: arrows of the contact forces, `scale` metres to a newton. cones: of friction. collision: the shapes that
        collide instead of the visuals. The camera keeps its distance from picture to picture; without one, all that
        moves is framed.
        """
        camera = Camera() if camera is None else camera
        low, high = self.bounds(poses)
        middle = (low + high) / 2
        self._size = self._size or max(float(np.linalg.norm(high - low)), 0.05)
        self._lay_ground(middle)
        if collision and self._colliding is None:
            self._colliding = [(v, self._add(v)) for v in self._shapes]
        self._pose(self._shown, poses, not collision)
        self._pose(self._colliding or [], poses, collision)
        self._draw_contacts(contacts, forces, cones, scale)
        if self._shadow is not None:
            self._shadow.cast(low, high)
        self._aim(camera, poses)
        self._window.Render()
        return self._pixels()

    def bounds(self, poses: Mapping[int, Array], bodies: set[int] | None = None) -> tuple[Array, Array]:
        """Lowest and highest corner of all that moves, or of some bodies [m]."""
        return drawing.bounds(self._visuals or self._shapes, poses, bodies)

    def _draw_contacts(self, contacts: Contacts | None, forces: bool, cones: bool, scale: float | None) -> None:
        some = contacts is not None and len(contacts.mu) > 0
        for actor, wanted in ((self._arrows, forces), (self._cones, cones)):
            actor.SetVisibility(some and wanted)
        if contacts is None or not some:
            return
        if forces:
            s = drawing.force_scale(self._size, [contacts.force]) if scale is None else scale
            self._arrows.GetMapper().SetInputData(_polydata(self._vtk, *drawing.force_arrows(contacts, self._size, s)))
        if cones:
            self._cones.GetMapper().SetInputData(_polydata(self._vtk, *drawing.cones(contacts, 0.15 * self._size)))

    def _pixels(self) -> Image:
        from vtkmodules.util.numpy_support import vtk_to_numpy

        data = self._vtk.vtkUnsignedCharArray()
        self._window.GetRGBACharPixelData(0, 0, self.width - 1, self.height - 1, 0, data)
        rgba = vtk_to_numpy(data).reshape(self.height, self.width, 4)
        return np.ascontiguousarray(rgba[::-1, :, :3])

    def close(self) -> None:
        """Gives back what OpenGL holds; the renderer draws no more."""
        self._window.Finalize()
