"""What there is to draw of a model, for the renderer, the viewer and the exports: the visuals of robot files where they
can be read, with their own colours and textures, collision shapes otherwise."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, mesh_visuals
from .mesh_visuals import Colour, Part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROBOT: Colour = (196, 202, 208)
SHAPE: Colour = (46, 134, 193)  # of collision shapes, where they are shown beside visuals
FIXED: Colour = (150, 150, 150)
OBJECTS: list[Colour] = [(214, 137, 16), (36, 113, 163), (30, 132, 73), (125, 60, 152), (146, 43, 33)]
POINT = 0.004  # radius that a contact point is drawn with [m]


@dataclass
class Visual:
    """A mesh on a body (-1: the world; -2 - k: kinematic body k)."""

    name: str  # "robot/link", or that of the shape
    body: int
    placement: Array  # (4, 4) in the body
    vertices: Array  # (n, 3) [m]
    faces: NDArray[np.uint32]  # (m, 3)
    colour: Colour
    opacity: float = 1.0
    uv: Array | None = None  # (n, 2)
    texture: NDArray[np.uint8] | None = None  # (h, w, 3)


def rotation(rpy: list[float]) -> Array:
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]])


def _numbers(text: str | None, fallback: str) -> list[float]:
    return [float(x) for x in (text or fallback).split()]


def _find(filename: str, urdf: str) -> str | None:
    """The file of a mesh, looked for where those that collide are; None where it is missing or must not be opened."""
    try:
        return _core._find_mesh(filename, os.path.abspath(urdf))
    except _core.InvalidInput:
        return None


UPRIGHT = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # y up to z up


def _parts(geometry: Any, urdf: str) -> tuple[Part, ...]:
    """Of a <geometry>; none where it cannot be read."""
    for shape in geometry:
        if shape.tag == "box":
            return (mesh_visuals.box(np.array(_numbers(shape.get("size"), "1 1 1")) / 2),)
        if shape.tag == "sphere":
            return (mesh_visuals.sphere(float(shape.get("radius", "1"))),)
        if shape.tag == "cylinder":
            return (mesh_visuals.cylinder(float(shape.get("radius", "1")), float(shape.get("length", "1"))),)
        if shape.tag == "capsule":
            return (mesh_visuals.capsule(float(shape.get("radius", "1")), float(shape.get("length", "1"))),)
        if shape.tag == "mesh":
            path = _find(shape.get("filename", ""), urdf)
            return () if path is None else mesh_visuals.read_mesh(path)
        return ()
    return ()


def _colour(visual: Any, named: dict[str, tuple[Colour, float]]) -> tuple[Colour, float] | None:
    """Colour and opacity that the file gives a visual."""
    material = visual.find("material")
    if material is None:
        return None
    colour = material.find("color")
    if colour is None:
        return named.get(material.get("name", ""))
    rgba = [min(max(x, 0.0), 1.0) for x in _numbers(colour.get("rgba"), "0.7 0.7 0.7 1")]
    r, g, b = (int(255 * x) for x in rgba[:3])
    return (r, g, b), rgba[3] if len(rgba) > 3 and rgba[3] > 0.05 else 1.0


def _placement(element: Any) -> Array:
    place = np.eye(4)
    if element is not None:
        place[:3, :3] = rotation(_numbers(element.get("rpy"), "0 0 0"))
        place[:3, 3] = _numbers(element.get("xyz"), "0 0 0")
    return place


def _read_xml(path: str) -> Any:
    """The root element; None where there is no such file or it must not be read."""
    if not os.path.exists(path) or os.path.getsize(path) > 20_000_000:
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if "<!ENTITY" in text or "<!DOCTYPE" in text:  # no file of a robot needs one
        return None
    return ElementTree.fromstring(text)


def _scaled(part: Part, scale: Array) -> tuple[Array, NDArray[np.uint32]]:
    """Vertices and faces; a mirrored mesh is turned inside out."""
    faces = part.faces if np.prod(scale) > 0 else part.faces[:, ::-1]
    return part.vertices * scale, faces


def _of_urdf(model: _core.Model, member: _core.Member) -> tuple[list[Visual], set[int]]:
    """Visuals of a robot's file, and the bodies that have one."""
    root = _read_xml(member.source) if member.source.endswith(".urdf") else None
    if root is None:
        return [], set()
    frames = {f.name.split("/")[-1]: f for f in model.frames
              if f.body < 0 or member.first_body <= f.body < member.first_body + member.bodies}
    named = {}
    for m in root.findall("material"):
        colour = _colour(ElementTree.fromstring(f"<v>{ElementTree.tostring(m, 'unicode')}</v>"), {})
        if colour is not None:
            named[m.get("name", "")] = colour
    visuals, seen, y_up = [], set(), _core._visuals_stand_on_y(os.path.abspath(member.source))
    for link in root.findall("link"):
        frame = frames.get(link.get("name", ""))
        if frame is None:
            continue
        for visual in link.findall("visual"):
            geometry = visual.find("geometry")
            given = _colour(visual, named)
            mesh = None if geometry is None else geometry.find("mesh")
            scale = np.array(_numbers(None if mesh is None else mesh.get("scale"), "1 1 1"))
            place = np.array(frame.placement) @ _placement(visual.find("origin"))
            path = _find(mesh.get("filename", ""), member.source) if y_up and mesh is not None else None
            turned = path is not None and _core._says_y_up(path)
            for part in () if geometry is None else _parts(geometry, member.source):
                vertices, faces = _scaled(part, scale)
                vertices = vertices @ UPRIGHT.T if turned else vertices
                paint = (part.colour, part.opacity) if part.colour is not None else given or (ROBOT, 1.0)
                visuals.append(Visual(f"{member.name}/{link.get('name')}", frame.body, place, vertices, faces, *paint,
                                      part.uv, part.texture))
                seen.add(frame.body)
    return visuals, seen


def _of_shape(shape: _core.Geometry, colour: Colour) -> Visual | None:
    kind, size = shape.kind, np.array(shape.size)
    if kind == _core.ShapeKind.Sphere:
        part = mesh_visuals.sphere(size[0])
    elif kind == _core.ShapeKind.Point:
        part = mesh_visuals.sphere(POINT, 8)
    elif kind == _core.ShapeKind.Box:
        part = mesh_visuals.box(size)
    elif kind == _core.ShapeKind.Capsule:
        part = mesh_visuals.capsule(size[0], 2 * size[2])
    elif kind == _core.ShapeKind.Cylinder:
        part = mesh_visuals.cylinder(size[0], 2 * size[2])
    elif kind == _core.ShapeKind.Ellipsoid:
        part = mesh_visuals.ellipsoid(size)
    elif kind == _core.ShapeKind.HeightField:
        return _of_terrain(shape, colour)
    elif kind in (_core.ShapeKind.Convex, _core.ShapeKind.Mesh):
        faces = [[f[0], f[k], f[k + 1]] for f in shape.faces for k in range(1, len(f) - 1)]
        part = Part(np.array(shape.vertices), np.array(faces, dtype=np.uint32))
    else:
        return None
    return Visual(shape.name, shape.body, np.array(shape.placement), part.vertices, part.faces, colour)


def _of_terrain(shape: _core.Geometry, colour: Colour) -> Visual:
    """Two triangles a cell, as the collision has them."""
    heights, (dx, dy) = np.array(shape.heights), shape.spacing
    ny, nx = heights.shape
    x, y = np.meshgrid((np.arange(nx) - (nx - 1) / 2) * dx, (np.arange(ny) - (ny - 1) / 2) * dy)
    vertices = np.stack([x.ravel(), y.ravel(), heights.ravel()], axis=1)
    i = (np.arange(ny - 1)[:, None] * nx + np.arange(nx - 1)[None, :]).ravel()
    faces = np.concatenate([np.stack([i, i + 1, i + nx], axis=1), np.stack([i + 1, i + nx + 1, i + nx], axis=1)])
    return Visual(shape.name, shape.body, np.array(shape.placement), vertices, faces.astype(np.uint32), colour)


def shapes_of(model: _core.Model) -> list[Visual]:
    """Every shape that collides, but half-spaces."""
    made = (_of_shape(shape, SHAPE) for shape in model.geometries)
    return [visual for visual in made if visual is not None]


def _skeleton(model: _core.Model, body: int) -> list[Visual]:
    """A body that nothing describes: a ball at its joint, and bars to the joints that it carries."""
    at = model.bodies[body]
    ends = [np.array(b.placement)[:3, 3] for b in model.bodies if b.parent == body]
    ends = [p for p in ends if np.linalg.norm(p) > 1e-6] or [2 * np.array(at.com)]
    length = max(float(np.linalg.norm(p)) for p in ends)
    if length < 1e-6:
        return []
    radius = 0.08 * length
    ball = mesh_visuals.sphere(1.3 * radius)
    made = [Visual(at.name, body, np.eye(4), ball.vertices, ball.faces, FIXED)]
    for p in ends:
        reach = float(np.linalg.norm(p))
        if reach < 1e-6:
            continue
        z = p / reach
        x = np.cross(z, [1.0, 0, 0] if abs(z[0]) < 0.9 else [0, 1.0, 0])
        x /= np.linalg.norm(x)
        place = np.eye(4)
        place[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
        place[:3, 3] = p / 2
        bar = mesh_visuals.capsule(radius, reach)
        made.append(Visual(at.name, body, place, bar.vertices, bar.faces, ROBOT))
    return made


def visuals_of(model: _core.Model, *, files: bool = True) -> list[Visual]:
    """Everything that moves or stands, but the ground. files: robots look as their files say, else as they collide."""
    out: list[Visual] = []
    drawn: set[int] = set()  # bodies
    mounted: list[str] = []  # names of robots whose visuals on the world are drawn
    colours: dict[int, Colour] = {}
    objects = 0
    for member in model.members:
        if member.robot and files:
            found, seen = _of_urdf(model, member)
            out += found
            drawn |= seen - {-1}
            mounted += [member.name + "/"] if -1 in seen else []
        for body in range(member.first_body, member.first_body + member.bodies):
            colours[body] = ROBOT if member.robot else OBJECTS[objects % len(OBJECTS)]
        objects += not member.robot
    for shape in model.geometries:
        if shape.body in drawn or (shape.body == -1 and shape.name.startswith(tuple(mounted))):
            continue
        visual = _of_shape(shape, colours.get(shape.body, FIXED))
        if visual is not None:
            out.append(visual)
    shown = {g.body for g in model.geometries if g.kind != _core.ShapeKind.Point}  # a point alone shows little of a body
    for member in model.members:
        bodies = range(member.first_body, member.first_body + member.bodies)
        if member.robot and not drawn & set(bodies):
            out += [v for body in bodies if body not in shown for v in _skeleton(model, body)]
    return out
