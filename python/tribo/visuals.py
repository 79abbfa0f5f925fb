"""What there is to draw of a model: visual meshes of URDF files where they can be read, collision shapes otherwise."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Colour = tuple[int, int, int]
ROBOT: Colour = (196, 202, 208)
OBJECTS: list[Colour] = [(214, 137, 16), (36, 113, 163), (30, 132, 73), (125, 60, 152), (146, 43, 33)]
MOST_FACES = 200_000  # of one mesh


@dataclass
class Visual:
    """A mesh on a body (-1: the world)."""

    name: str
    body: int
    placement: Array  # (4, 4) in the body
    vertices: Array  # (n, 3) [m]
    faces: NDArray[np.uint32]  # (m, 3)
    colour: Colour


def rotation(rpy: list[float]) -> Array:
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]])


def _numbers(text: str | None, fallback: str) -> list[float]:
    return [float(x) for x in (text or fallback).split()]


def _find(filename: str, urdf: str) -> str | None:
    """The file of a mesh: package:// is looked for in the folders above the robot's file."""
    if not filename.startswith("package://"):
        path = filename.removeprefix("file://")
        path = path if os.path.isabs(path) else os.path.join(os.path.dirname(urdf), path)
        return path if os.path.exists(path) else None
    folder, rest = os.path.dirname(os.path.abspath(urdf)), filename.removeprefix("package://")
    for _ in range(6):
        if os.path.exists(os.path.join(folder, rest)):
            return os.path.join(folder, rest)
        folder = os.path.dirname(folder)
    return None


def _mesh(geometry: Any, urdf: str) -> tuple[Array, NDArray[np.uint32]] | None:
    """Vertices and faces of a <geometry>; None where it cannot be read."""
    import trimesh

    for shape in geometry:
        if shape.tag == "box":
            made = trimesh.creation.box(_numbers(shape.get("size"), "1 1 1"))
        elif shape.tag == "sphere":
            made = trimesh.creation.icosphere(subdivisions=2, radius=float(shape.get("radius", "1")))
        elif shape.tag == "cylinder":
            made = trimesh.creation.cylinder(float(shape.get("radius", "1")), float(shape.get("length", "1")), sections=24)
        elif shape.tag == "mesh":
            path = _find(shape.get("filename", ""), urdf)
            if path is None:
                return None
            try:
                _core.check_mesh(path)
                made = trimesh.load(path, force="mesh", process=False)
            except Exception:  # a format that trimesh cannot read, or a file that it must not
                return None
            if not hasattr(made, "faces") or len(made.faces) == 0 or len(made.faces) > MOST_FACES:
                return None
            made.apply_scale(_numbers(shape.get("scale"), "1 1 1"))
        else:
            return None
        return np.asarray(made.vertices, dtype=float), np.asarray(made.faces, dtype=np.uint32)
    return None


def _colour(visual: Any, named: dict[str, Colour]) -> Colour:
    material = visual.find("material")
    if material is None:
        return ROBOT
    colour = material.find("color")
    if colour is None:
        return named.get(material.get("name", ""), ROBOT)
    r, g, b = (int(255 * min(max(x, 0.0), 1.0)) for x in _numbers(colour.get("rgba"), "0.7 0.7 0.7 1")[:3])
    return r, g, b


def _of_urdf(model: _core.Model, member: _core.Member) -> tuple[list[Visual], set[int]]:
    """Visuals of a robot's file, and the bodies that have one."""
    if not member.source.endswith(".urdf") or not os.path.exists(member.source):
        return [], set()
    if os.path.getsize(member.source) > 20_000_000:
        return [], set()
    with open(member.source, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if "<!ENTITY" in text:  # no file of a robot needs one
        return [], set()
    root = ElementTree.fromstring(text)
    frames = {f.name.split("/")[-1]: f for f in model.frames
              if f.body < 0 or member.first_body <= f.body < member.first_body + member.bodies}
    named = {m.get("name", ""): _colour(ElementTree.fromstring(f"<v>{ElementTree.tostring(m, 'unicode')}</v>"), {})
             for m in root.findall("material")}
    visuals, seen = [], set()
    for link in root.findall("link"):
        frame = frames.get(link.get("name", ""))
        if frame is None:
            continue
        for k, visual in enumerate(link.findall("visual")):
            geometry = visual.find("geometry")
            mesh = None if geometry is None else _mesh(geometry, member.source)
            if mesh is None:
                continue
            origin = visual.find("origin")
            place = np.eye(4)
            if origin is not None:
                place[:3, :3] = rotation(_numbers(origin.get("rpy"), "0 0 0"))
                place[:3, 3] = _numbers(origin.get("xyz"), "0 0 0")
            visuals.append(Visual(f"{member.name}/{link.get('name')}/{k}", frame.body, np.array(frame.placement) @ place,
                                  mesh[0], mesh[1], _colour(visual, named)))
            seen.add(frame.body)
    return visuals, seen


def _of_shape(shape: _core.Geometry, colour: Colour) -> Visual | None:
    import trimesh

    kind, size = shape.kind, np.array(shape.size)
    if kind == _core.ShapeKind.Sphere:
        made = trimesh.creation.icosphere(subdivisions=2, radius=size[0])
    elif kind == _core.ShapeKind.Point:
        made = trimesh.creation.icosphere(subdivisions=1, radius=0.004)
    elif kind == _core.ShapeKind.Box:
        made = trimesh.creation.box(2 * size)
    elif kind == _core.ShapeKind.Capsule:
        made = trimesh.creation.capsule(2 * size[2], size[0], count=[16, 16])
    elif kind == _core.ShapeKind.Cylinder:
        made = trimesh.creation.cylinder(size[0], 2 * size[2], sections=32)
    elif kind == _core.ShapeKind.Ellipsoid:
        made = trimesh.creation.icosphere(subdivisions=3)
        made.apply_scale(size)
    elif kind == _core.ShapeKind.HeightField:
        return _of_terrain(shape, colour)
    elif kind == _core.ShapeKind.Convex:
        faces = [[f[0], f[k], f[k + 1]] for f in shape.faces for k in range(1, len(f) - 1)]
        return Visual(shape.name, shape.body, np.array(shape.placement), np.array(shape.vertices),
                      np.array(faces, dtype=np.uint32), colour)
    else:
        return None
    return Visual(shape.name, shape.body, np.array(shape.placement), np.asarray(made.vertices, dtype=float),
                  np.asarray(made.faces, dtype=np.uint32), colour)


def _of_terrain(shape: _core.Geometry, colour: Colour) -> Visual:
    """Two triangles a cell, as the collision has them."""
    heights, (dx, dy) = np.array(shape.heights), shape.spacing
    ny, nx = heights.shape
    x, y = np.meshgrid((np.arange(nx) - (nx - 1) / 2) * dx, (np.arange(ny) - (ny - 1) / 2) * dy)
    vertices = np.stack([x.ravel(), y.ravel(), heights.ravel()], axis=1)
    i = (np.arange(ny - 1)[:, None] * nx + np.arange(nx - 1)[None, :]).ravel()
    faces = np.concatenate([np.stack([i, i + 1, i + nx], axis=1), np.stack([i + 1, i + nx + 1, i + nx], axis=1)])
    return Visual(shape.name, shape.body, np.array(shape.placement), vertices, faces.astype(np.uint32), colour)


def visuals_of(model: _core.Model) -> list[Visual]:
    """Everything that moves or stands, but the ground."""
    out: list[Visual] = []
    drawn: set[int] = set()  # bodies
    mounted: list[str] = []  # names of robots whose visuals on the world are drawn
    colours: dict[int, Colour] = {}
    objects = 0
    for member in model.members:
        if member.robot:
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
        visual = _of_shape(shape, colours.get(shape.body, (150, 150, 150)))
        if visual is not None:
            out.append(visual)
    return out
