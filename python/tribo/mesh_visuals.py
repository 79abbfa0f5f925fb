"""Meshes of files as they are to be drawn: parts with their own colours and textures. Read by trimesh."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .extras import need

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Colour = tuple[int, int, int]
MOST_FACES = 400_000  # of one file
MOST_PIXELS = 40_000_000  # of a texture, unpacked
LARGEST_TEXTURE = 1024  # pixels along a side


@dataclass
class Part:
    """Triangles of one colour or texture."""

    vertices: Array  # (n, 3) [m]
    faces: NDArray[np.uint32]  # (m, 3)
    colour: Colour | None = None  # None: the file says none
    opacity: float = 1.0
    uv: Array | None = None  # (n, 2) where there is a texture
    texture: NDArray[np.uint8] | None = None  # (h, w, 3), first row on top


def _trimesh() -> Any:
    return need("trimesh", "the meshes of robot files are read by trimesh", "view")


def _material(visual: Any) -> tuple[Colour | None, float, Any]:
    """Colour, opacity and image of what trimesh calls a visual."""
    if visual is None or not getattr(visual, "defined", True):
        return None, 1.0, None
    kind = type(visual).__name__
    if kind == "TextureVisuals":
        material = visual.material
        image = getattr(material, "image", None)
        image = getattr(material, "baseColorTexture", None) if image is None else image
        rgba = np.asarray(material.main_color, dtype=float).ravel()
    else:
        image, rgba = None, np.asarray(visual.main_color, dtype=float).ravel()
    if len(rgba) < 3:
        return None, 1.0, image
    opacity = float(rgba[3]) / 255 if len(rgba) > 3 else 1.0
    # Some tools write 0 for "opaque"; what cannot be seen at all was not meant.
    return (int(rgba[0]), int(rgba[1]), int(rgba[2])), opacity if opacity > 0.05 else 1.0, image


def _pixels(image: Any) -> NDArray[np.uint8]:
    if image.size[0] * image.size[1] > MOST_PIXELS:
        raise ValueError(f"a texture of {image.size[0]} x {image.size[1]} pixels")
    copy = image.convert("RGB")
    copy.thumbnail((LARGEST_TEXTURE, LARGEST_TEXTURE))
    return np.asarray(copy, dtype=np.uint8)


def _part(mesh: Any, has_colours: bool) -> Part:
    part = Part(np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.uint32))
    if has_colours:
        part.colour, part.opacity, image = _material(mesh.visual)
        uv = getattr(mesh.visual, "uv", None)
        if image is not None and uv is not None and len(uv) == len(part.vertices):
            part.uv, part.texture = np.asarray(uv, dtype=float), _pixels(image)
    return part


def _without_broken_materials(path: str, trimesh: Any) -> Any:
    """A COLLADA file that names materials it does not have, without those: its reader would drop what is made of them."""
    collada = need("collada", "COLLADA meshes are read by pycollada", "view")
    kept = {m.id for m in collada.Collada(path, ignore=[collada.common.DaeError]).materials}
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()

    def keep(found: re.Match[str]) -> str:
        target = re.search(r'target="#([^"]*)"', found[0])
        return found[0] if target is not None and target[1] in kept else ""

    text = re.sub(r"<instance_material\b[^>]*?(/>|>.*?</instance_material>)", keep, text, flags=re.S)
    return trimesh.load_scene(io.BytesIO(text.encode()), file_type="dae", process=False,
                              resolver=trimesh.visual.resolvers.FilePathResolver(path))


@lru_cache(maxsize=256)
def read_mesh(path: str) -> tuple[Part, ...]:
    """Parts of a mesh file; none where it cannot be read or must not be."""
    trimesh = _trimesh()
    try:
        _core.check_mesh(path)
        scene = trimesh.load_scene(path, process=False)
        if not scene.geometry and path.lower().endswith(".dae"):
            scene = _without_broken_materials(path, trimesh)
        meshes = [m for m in scene.dump(concatenate=False) if len(getattr(m, "faces", ())) > 0]
        has_colours = path.lower().endswith((".dae", ".obj", ".ply", ".glb", ".gltf"))
        parts = [_part(m, has_colours) for m in meshes]
        if scene.units not in (None, "meters", "meter", "m"):
            factor = trimesh.units.unit_conversion(scene.units, "meters")
            for part in parts:
                part.vertices = part.vertices * factor
    except Exception:  # a format that trimesh cannot read, or a file that it must not
        return ()
    if sum(len(p.faces) for p in parts) > MOST_FACES or not all(np.isfinite(p.vertices).all() for p in parts):
        return ()
    return tuple(parts)


def box(half: Array) -> Part:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float) * np.asarray(half)
    sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    faces = [[f[0], f[k], f[k + 1]] for f in sides for k in (1, 2)]
    return Part(corners, np.array(faces, dtype=np.uint32))


def _turned(radii: Array, heights: Array, sides: int) -> Part:
    """A surface of revolution about z through rings from the bottom up; the first and the last are points."""
    angles = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices = [np.array([[0.0, 0, heights[0]]])]
    vertices += [np.column_stack([r * ring, np.full(sides, z)]) for r, z in zip(radii[1:-1], heights[1:-1])]
    vertices += [np.array([[0.0, 0, heights[-1]]])]
    k = np.arange(sides)
    on = (k + 1) % sides
    rings = len(radii) - 2
    last = 1 + (rings - 1) * sides
    top = np.full(sides, last + sides)
    faces = [np.stack([np.zeros(sides, dtype=int), 1 + on, 1 + k], axis=1), np.stack([last + k, last + on, top], axis=1)]
    for r in range(rings - 1):
        low, high = 1 + r * sides, 1 + (r + 1) * sides
        faces += [np.stack([low + k, low + on, high + on], axis=1), np.stack([low + k, high + on, high + k], axis=1)]
    return Part(np.vstack(vertices), np.vstack(faces).astype(np.uint32))


def sphere(radius: float, sides: int = 32) -> Part:
    angles = np.linspace(-np.pi / 2, np.pi / 2, sides // 2 + 1)
    return _turned(radius * np.cos(angles), radius * np.sin(angles), sides)


def cylinder(radius: float, length: float) -> Part:
    return _turned(radius * np.array([0.0, 1, 1, 0]), length / 2 * np.array([-1.0, -1, 1, 1]), 32)


def capsule(radius: float, length: float) -> Part:
    angles = np.linspace(0, np.pi / 2, 9)
    up = length / 2 + radius * np.sin(angles)
    return _turned(radius * np.concatenate([np.cos(angles)[::-1], np.cos(angles)]), np.concatenate([-up[::-1], up]), 32)


def ellipsoid(half: Array) -> Part:
    part = sphere(1.0)
    part.vertices = part.vertices * np.asarray(half)
    return part
