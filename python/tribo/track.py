"""A run as the viewer and the exports see it: times, coordinates and contacts, from memory or from a recording."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .simulation import Simulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FORMAT = 1  # of recordings that are read


@dataclass
class Contacts:
    """Contacts of one moment; m of them."""

    point: Array  # (m, 3) in the world [m]
    normal: Array  # (m, 3)
    force: Array  # (m, 3) in the world [N]
    mode: NDArray[np.int64]  # (m) values of ContactMode
    mu: Array  # (m) [-]


@dataclass
class Track:
    """n moments of a run of a model."""

    name: str
    model: _core.Model
    t: Array  # (n) [s]
    q: Array  # (n, nq)
    contacts: list[Contacts]
    v: Array | None = None  # (n, nv)
    audit: dict[str, Array] | None = None  # (n) each: what was judged of the step before
    kinematic: Array | None = None  # (n, k, 4, 4) where kinematic bodies were [m]; none: as the model says

    def poses(self, i: int) -> dict[int, Array]:
        """Pose (4, 4) of every body of moment i by its index; -2 - k: kinematic body k."""
        given = self.model.kinematic_poses(float(self.t[i])) if self.kinematic is None else self.kinematic[i]
        return _numbered(self.model.poses(self.q[i]), given)

    def nearest(self, t: float) -> int:
        """Index of the moment nearest to a time [s]."""
        i = int(np.searchsorted(self.t, t))
        if i == 0:
            return 0
        return i if i < len(self.t) and self.t[i] - t < t - self.t[i - 1] else i - 1


def _friction(model: _core.Model, a: int, b: int) -> float:
    pair = [model.geometries[g].material for g in (a, b)]
    return float(model.surface(pair[0], pair[1]).mu_static)


def _empty() -> Contacts:
    zero = np.zeros((0, 3))
    return Contacts(zero, zero, zero, np.zeros(0, dtype=np.int64), np.zeros(0))


def _friction_of(model: _core.Model) -> dict[tuple[int, int], float]:
    used = {g.material for g in model.geometries}
    return {(a, b): float(model.surface(a, b).mu_static) for a in used for b in used}


def _contacts(model: _core.Model, list_: list[_core.Contact], mu: dict[tuple[int, int], float]) -> Contacts:
    if not list_:
        return _empty()
    material = [g.material for g in model.geometries]
    return Contacts(np.array([c.point for c in list_]), np.array([c.normal for c in list_]),
                    np.array([c.force for c in list_]), np.array([c.mode.value for c in list_]),
                    np.array([mu[material[c.geometry_a], material[c.geometry_b]] for c in list_]))


def _numbered(bodies: Array, kinematic: Array) -> dict[int, Array]:
    return dict(enumerate(bodies)) | {-2 - k: pose for k, pose in enumerate(kinematic)}


def poses_at(model: _core.Model, q: Array, t: float,
             kinematic: _core._KinematicCommands | None = None) -> dict[int, Array]:
    """Pose (4, 4) of every body by its index; -2 - k: kinematic body k, as it was told or as the model says."""
    given = model.kinematic_poses(t) if kinematic is None else model._kinematic_poses(t, kinematic)
    return _numbered(model.poses(q), given)


def contacts_of(model: _core.Model, listed: list[_core.Contact]) -> Contacts:
    """Those of a list that touch."""
    return _contacts(model, [c for c in listed if c.mode != _core.ContactMode.Open], _friction_of(model))


def now(simulation: Simulation) -> tuple[dict[int, Array], Contacts]:
    """Poses and contacts of the present moment."""
    model = simulation.model
    poses = poses_at(model, simulation.q, simulation.t, simulation._kinematic()[0])
    return poses, contacts_of(model, simulation.contacts)


def of_simulation(simulation: Simulation) -> Track:
    """What a simulation remembers of its run."""
    model, frames = simulation.model, simulation._history()
    mu = _friction_of(model)
    audit = {"signorini": np.array([f.laws.signorini for f in frames]),
             "coulomb": np.array([f.laws.coulomb for f in frames]),
             "overlap [mm]": np.array([1e3 * f.penetration for f in frames])}
    return Track(simulation.scene.name, model, np.array([f.t for f in frames]), np.array([f.q for f in frames]),
                 [_contacts(model, f.contacts, mu) for f in frames], np.array([f.v for f in frames]), audit,
                 np.array([model._kinematic_poses(f.t, f._kinematic) for f in frames]) if model.kinematic else None)


def _arrays(path: str) -> dict[str, Any]:
    """recording.npz, the folder that holds it, or the recording.partial of a run that was killed."""
    if os.path.isdir(path):
        packed = os.path.join(path, "recording.npz")
        partial = path if path.rstrip("/").endswith("recording.partial") else os.path.join(path, "recording.partial")
        if os.path.exists(packed):
            path = packed
        elif os.path.isdir(partial):
            names = [f[:-4] for f in os.listdir(partial) if f.endswith(".npy")]
            return {n: np.load(os.path.join(partial, n + ".npy"), allow_pickle=False) for n in names}
    if not os.path.exists(path):
        raise _core.InvalidInput(f"{path}: no such recording")
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError) as error:
        raise _core.InvalidInput(f"{path}: is not a recording ({error})") from error


def scene_of(meta: dict[str, Any], path: str) -> _core.Scene:
    """The scene that a recording was made from, found again by its source and settings."""
    settings = [(str(key), str(value)) for key, value in meta.get("settings", [])]
    controller = str(meta.get("controller", ""))
    try:
        scene = _core.find_scene(meta["source"], controller, settings)
    except _core.InvalidInput as error:
        raise _core.InvalidInput(f"{path}: its scene cannot be loaded again: {error}") from error
    return scene


def of_recording(path: str | os.PathLike[str]) -> tuple[Track, _core.Scene]:
    """Reads a recording and its scene. InvalidInput where they do not fit, or the recording is damaged."""
    name = os.fspath(path)
    try:
        return _of_recording(name)
    except _core.InvalidInput:
        raise
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise _core.InvalidInput(f"{name}: is damaged ({type(error).__name__}: {error})") from error


def _homogeneous(places: Array) -> Array:
    """Poses (..., 4, 4) of positions and quaternions xyzw (..., 7)."""
    u, w = places[..., None, 3:6], places[..., None, 6:]
    across = np.cross(u, np.eye(3))
    poses = np.zeros((*places.shape[:-1], 4, 4))
    poses[..., :3, :3] = np.swapaxes(np.eye(3) + 2 * (w * across + np.cross(u, across)), -1, -2)
    poses[..., :3, 3] = places[..., :3]
    poses[..., 3, 3] = 1
    return poses


def _of_recording(name: str) -> tuple[Track, _core.Scene]:
    data = _arrays(name)
    for key in ("meta", "time", "q"):
        if key not in data:
            raise _core.InvalidInput(f"{name}: is not a recording of tribo (it has no '{key}')")
    meta = json.loads(bytes(data["meta"]).decode("utf-8"))
    if meta.get("format") != FORMAT:
        raise _core.InvalidInput(f"{name}: has format {meta.get('format')}, this program reads format {FORMAT}")
    scene = scene_of(meta, name)
    model = scene.model
    t, q = np.asarray(data["time"], dtype=float), np.asarray(data["q"], dtype=float)
    n = len(t)
    if t.ndim != 1 or len(q) < n:
        raise _core.InvalidInput(f"{name}: has {t.shape} times and {len(q)} coordinates")
    if q.ndim != 2 or q.shape[1] != model.nq:
        raise _core.InvalidInput(f"{name}: has {q.shape[-1]} coordinates, the scene '{meta['source']}' has {model.nq}")
    contacts = [_empty() for _ in range(n)]
    start = data.get("contact_start")
    if start is not None and len(start) > n:
        for i in range(n):
            at = slice(int(start[i]), int(start[i + 1]))
            a, b = data["contact_geometry_a"][at], data["contact_geometry_b"][at]
            contacts[i] = Contacts(data["contact_point"][at], data["contact_normal"][at], data["contact_force_W"][at],
                                   data["contact_mode"][at].astype(np.int64),
                                   np.array([_friction(model, int(x), int(y)) for x, y in zip(a, b)]))
    v = np.asarray(data["v"][:n], dtype=float) if "v" in data else None
    laws: tuple[str, ...] = ("signorini", "coulomb")
    audit: dict[str, Array] = {name: np.asarray(data[name][:n], dtype=float) for name in laws if name in data}
    if "penetration" in data:
        audit["overlap [mm]"] = 1e3 * np.asarray(data["penetration"][:n], dtype=float)
    places = data.get("kinematic_pose")  # older recordings have none
    if places is not None and places[:n].shape != (n, len(model.kinematic), 7):
        raise _core.InvalidInput(f"{name}: has places {places.shape} of {len(model.kinematic)} kinematic bodies")
    kinematic = None if places is None else _homogeneous(np.asarray(places[:n], dtype=float))
    return Track(str(meta["scene"]), model, t, q[:n], contacts, v, audit, kinematic), scene
