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
    return need("trimesh", "meshes are drawn by trimesh", "render")


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
    collada = need("collada", "COLLADA meshes are read by pycollada", "render")
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
    trimesh = _trimesh()
    return _part(trimesh.creation.box(2 * np.asarray(half)), False)


def sphere(radius: float, subdivisions: int = 3) -> Part:
    trimesh = _trimesh()
    return _part(trimesh.creation.icosphere(subdivisions=subdivisions, radius=radius), False)


def cylinder(radius: float, length: float) -> Part:
    trimesh = _trimesh()
    return _part(trimesh.creation.cylinder(radius, length, sections=32), False)


def capsule(radius: float, length: float) -> Part:
    trimesh = _trimesh()
    return _part(trimesh.creation.capsule(length, radius, count=[24, 24]), False)


def ellipsoid(half: Array) -> Part:
    part = sphere(1.0)
    part.vertices = part.vertices * np.asarray(half)
    return part
