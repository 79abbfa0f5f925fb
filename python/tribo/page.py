"""A run as a web page that needs nothing else: what the browser is told of bodies, motion, contacts and plots."""

from __future__ import annotations

import base64
import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, drawing
from .files import write_text
from .track import Contacts, Track
from .visuals import Visual, shapes_of, visuals_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PARTS = ("page.css", "page_scene.js", "page_draw.js", "page_panel.js", "page_run.js")  # in the order in which a browser needs them
LEGEND = {"sticks": "Stick", "slips": "Slip", "impact": "Impact"}
MOST_BYTES = 60_000_000  # of motion and contacts in one page


def _packed(values: Any, kind: str = "<f4") -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


class _Meshes:
    """Each mesh once, however many bodies have it."""

    def __init__(self) -> None:
        self.list: list[dict[str, Any]] = []
        self._known: dict[bytes, int] = {}

    def index(self, v: Visual) -> int:
        vertices, faces = v.vertices.astype("<f4"), v.faces.astype("<u4")
        textured = v.texture is not None and v.uv is not None
        key = vertices.tobytes() + faces.tobytes() + (bytes(v.texture.tobytes()) if v.texture is not None else b"")
        if key not in self._known:
            self._known[key] = len(self.list)
            mesh: dict[str, Any] = {"vertices": _packed(vertices), "faces": _packed(faces, "<u4")}
            if textured and v.texture is not None and v.uv is not None:
                height, width = v.texture.shape[:2]
                mesh |= {"uv": _packed(v.uv), "texture": _packed(v.texture, "u1"), "width": width, "height": height}
            self.list.append(mesh)
        return self._known[key]


def _place(pose: Array) -> list[float]:
    """The first three rows of a pose, as the page reads them."""
    return [float(x) for x in np.asarray(pose)[:3].ravel()]


def _body(model: _core.Model, body: int) -> int:
    """Where a body stands in a moment of the motion: kinematic bodies behind the others; -1: the world."""
    return body if body >= -1 else len(model.bodies) - 2 - body


def looks(model: _core.Model) -> tuple[list[Visual], str]:
    """What is drawn of a model, and what is missing for it to look as its files say."""
    try:
        return visuals_of(model), ""
    except ImportError as error:
        return visuals_of(model, files=False), f"shapes that collide are drawn: {error}"


def _stage(track: Track, visuals: list[Visual]) -> tuple[Array, Array]:
    """Lowest and highest corner of what a camera shows: where the run begins, and where it goes if that is near."""
    low, high = drawing.bounds(visuals, track.poses(0))
    reach = max(float(np.linalg.norm(high - low)), 0.05)
    for i in (len(track.t) // 2, len(track.t) - 1):
        other = drawing.bounds(visuals, track.poses(i))
        wide = np.minimum(low, other[0]), np.maximum(high, other[1])
        if np.isfinite(wide).all() and float(np.linalg.norm(wide[1] - wide[0])) < 2 * reach:
            low, high = wide
    return low, high


def scene_of(track: Track) -> dict[str, Any]:
    """What stays as it is: meshes, ground, names, the size of the world."""
    model = track.model
    visuals, note = looks(model)
    shapes = shapes_of(model)
    low, high = _stage(track, visuals or shapes)
    size = max(float(np.linalg.norm(high - low)), 0.05)
    meshes = _Meshes()

    def listed(parts: list[Visual]) -> list[dict[str, Any]]:
        return [{"name": v.name, "body": _body(model, v.body), "place": _place(v.placement), "mesh": meshes.index(v),
                 "colour": [c / 255 for c in v.colour], "opacity": float(v.opacity)} for v in parts]

    grounds = [np.array(g.placement) for g in model.geometries if g.kind == _core.ShapeKind.HalfSpace and g.body == -1]
    return {"name": track.name, "version": _core.version(), "note": note, "size": size, "middle": [float(x) for x in (low + high) / 2],
            "tile": drawing.tile(size), "drawn": listed(visuals), "shapes": listed(shapes), "meshes": meshes.list,
            "grounds": [_place(g) for g in grounds], "bodies": [b.name for b in model.bodies],
            "members": [{"name": m.name, "body": m.first_body} for m in model.members],
            "legend": {word: [c / 255 for c in drawing.MODES[mode]] for word, mode in LEGEND.items()},
            "modes": {str(mode.value): [c / 255 for c in drawing.MODES[mode.name]] for mode in _core.ContactMode},
            "colours": {"force": [c / 255 for c in drawing.FORCE], "cone": [c / 255 for c in drawing.CONE],
                        "tiles": [[c / 255 for c in t] for t in drawing.TILES], "sky": [[c / 255 for c in s] for s in drawing.SKY]}}


def _contacts(moments: list[Contacts]) -> dict[str, str]:
    def joined(name: str, width: int) -> Array:
        return np.concatenate([getattr(c, name).reshape(len(c.mu), width) for c in moments] or [np.zeros((0, width))])

    start = np.concatenate([[0], np.cumsum([len(c.mu) for c in moments])])
    return {"start": _packed(start, "<u4"), "point": _packed(joined("point", 3)), "normal": _packed(joined("normal", 3)),
            "force": _packed(joined("force", 3)), "mode": _packed(joined("mode", 1), "u1"), "mu": _packed(joined("mu", 1))}


def moment_of(poses: dict[int, Array], contacts: Contacts, t: float) -> dict[str, Any]:
    """One moment, as it is sent while a simulation is stepped."""
    ordered = sorted(poses, key=lambda body: (body < 0, abs(body)))
    return {"t": t, "poses": _packed([_place(poses[body]) for body in ordered]), "contacts": _contacts([contacts])}


def curves_of(track: Track) -> dict[str, dict[str, Array]]:
    """What the plots show, by title and name (n)."""
    curves: dict[str, dict[str, Array]] = {}
    if track.v is not None:
        energy = _core._Inquiry(track.model).energy(_core._Worlds(track.q, track.v, track.t))
        curves["energy [J]"] = {"kinetic": energy[:, 0].copy(), "potential": energy[:, 1] - energy[0, 1],
                                "sum": energy.sum(axis=1) - energy[0, 1]}
    curves["contact forces [N]"] = {
        "normal": np.array([float(np.sum(c.force * c.normal)) for c in track.contacts]),
        "largest": np.array([float(np.linalg.norm(c.force, axis=1).max()) if len(c.mu) else 0.0 for c in track.contacts])}
    audit = dict(track.audit or {})
    overlap = {name: audit.pop(name) for name in list(audit) if name.startswith("overlap")}
    if audit:
        curves["contact laws, relative [-]"] = audit
    curves |= {name: {"deepest": values} for name, values in overlap.items()}
    return curves


def _stride(track: Track) -> int:
    """Every so manieth moment is shown, so that a page stays below MOST_BYTES."""
    bodies = len(track.model.bodies) + len(track.model.kinematic)
    held = 64 * bodies * len(track.t) + 60 * sum(len(c.mu) for c in track.contacts)
    return max(1, math.ceil(held / MOST_BYTES))


def motion_of(track: Track) -> dict[str, Any]:
    """What changes: times, poses, contacts, curves."""
    stride = _stride(track)
    kept = sorted({*range(0, len(track.t), stride), len(track.t) - 1})
    poses = []
    for i in kept:
        at = track.poses(i)
        poses.append([at[body][:3].ravel() for body in sorted(at, key=lambda body: (body < 0, abs(body)))])
    forces = [c.force for c in track.contacts]
    low, high = drawing.bounds(shapes_of(track.model), track.poses(0))
    return {"t": _packed(track.t[kept], "<f8"), "poses": _packed(poses), "contacts": _contacts([track.contacts[i] for i in kept]),
            "scale": drawing.force_scale(max(float(np.linalg.norm(high - low)), 0.05), forces), "stride": stride, "moments": len(track.t),
            "curves": {title: {name: _packed(values[kept], "<f8") for name, values in rows.items()}
                       for title, rows in curves_of(track).items()}}


def _read(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def html(title: str, data: dict[str, Any] | None = None) -> str:
    """The page. data: what it shows, for a file; without it the page asks its server."""
    style, *programs = (_read(name) for name in PARTS)
    told = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    label = title.replace("&", "&amp;").replace("<", "&lt;")
    return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>Tribo: {label}</title>\n<style>{style}</style></head>\n<body>\n"
            f'<script type="application/json" id="told">{told}</script>\n<script>"use strict";\n' + "\n".join(programs) +
            "</script>\n</body></html>\n")


def write(track: Track, path: str | os.PathLike[str]) -> None:
    """The run as one file that any browser plays, whole or not at all."""
    write_text(path, html(track.name, {"scene": scene_of(track), "motion": motion_of(track), "live": None}))
