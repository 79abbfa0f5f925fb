"""What the renderer and the viewer share: the size of a world, arrows of forces, cones of friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from .track import Contacts
    from .visuals import Visual

    Array = NDArray[np.float64]
    Mesh = tuple[Array, NDArray[np.uint32]]  # vertices (n, 3) [m], faces (m, 3)

FORCE = (30, 132, 73)
CONE = (241, 196, 15)
MODES = {"Stick": (36, 113, 163), "Slip": (230, 126, 34), "Impact": (192, 57, 43), "Open": (160, 160, 160)}
SKY = ((188, 214, 240), (250, 252, 255))  # above, at the horizon
TILES = ((206, 212, 218), (176, 184, 192))  # of the ground
SIDES = 20  # of cones and arrows


def _across(n: Array) -> tuple[Array, Array]:
    """Two unit vectors that are normal to n (unit length) and to each other."""
    t1 = np.cross(n, [1.0, 0, 0] if abs(n[0]) < 0.9 else [0, 1.0, 0])
    t1 /= np.linalg.norm(t1)
    return t1, np.cross(n, t1)


def _joined(meshes: Sequence[Mesh]) -> Mesh:
    if not meshes:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.uint32)
    first = np.cumsum([0] + [len(v) for v, _ in meshes[:-1]])
    return (np.vstack([v for v, _ in meshes]),
            np.vstack([f + at for (_, f), at in zip(meshes, first)]).astype(np.uint32))


def cones(contacts: Contacts, height: float) -> Mesh:
    """One mesh of all friction cones, tip at the contact, opening along the normal."""
    angles = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    k = np.arange(SIDES)
    faces = np.stack([np.zeros(SIDES, dtype=int), 1 + k, 1 + (k + 1) % SIDES], axis=1).astype(np.uint32)
    meshes = []
    for point, n, mu in zip(contacts.point, contacts.normal, contacts.mu):
        t1, t2 = _across(n)
        ring = np.outer(np.cos(angles), t1) + np.outer(np.sin(angles), t2)
        meshes.append((np.vstack([point, point + height * (n + min(mu, 3.0) * ring)]), faces))
    return _joined(meshes)


def arrows(points: Array, vectors: Array, thickness: float) -> Mesh:
    """One mesh of arrows with heads, tails at the points; those shorter than a tenth of their thickness are left out."""
    angles = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    k = np.arange(SIDES)
    following = (k + 1) % SIDES
    tube = [np.stack([SIDES * r + k, SIDES * r + following, SIDES * (r + 1) + k], axis=1) for r in range(2)]
    tube += [np.stack([SIDES * r + following, SIDES * (r + 1) + following, SIDES * (r + 1) + k], axis=1) for r in range(2)]
    tip = np.stack([2 * SIDES + k, 2 * SIDES + following, np.full(SIDES, 3 * SIDES)], axis=1)
    end = np.stack([following, k, np.full(SIDES, 3 * SIDES + 1)], axis=1)
    faces = np.vstack([*tube, tip, end]).astype(np.uint32)
    meshes = []
    for point, vector in zip(points, vectors):
        length = float(np.linalg.norm(vector))
        if not length > 0.1 * thickness:
            continue
        n = vector / length
        t1, t2 = _across(n)
        ring = np.outer(np.cos(angles), t1) + np.outer(np.sin(angles), t2)
        neck = max(length - 3.0 * thickness, 0.6 * length)
        rings = [point + height * n + radius * ring for height, radius in
                 ((0, 0.5 * thickness), (neck, 0.5 * thickness), (neck, 1.2 * thickness))]
        meshes.append((np.vstack([*rings, point + vector, point]), faces))
    return _joined(meshes)


def force_scale(size: float, forces: Sequence[Array]) -> float:
    """Metres to a newton, so that the usual largest force of a moment is drawn 0.4 times as long as the world is large."""
    largest = [float(np.linalg.norm(f, axis=1).max()) for f in forces if len(f) > 0]
    usual = float(np.median(largest)) if largest else 0.0
    return 0.4 * size / usual if usual > 0 else 0.0


def force_arrows(contacts: Contacts, size: float, scale: float) -> Mesh:
    """Arrows of the contact forces, none longer than 0.6 times as the world is large: they stay in the picture."""
    vectors = scale * contacts.force
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return arrows(contacts.point, vectors * np.minimum(1, 0.6 * size / np.maximum(length, 1e-12)), 0.018 * size)


def bounds(visuals: Sequence[Visual], poses: Mapping[int, Array], bodies: set[int] | None = None) -> tuple[Array, Array]:
    """Lowest and highest corner of what is drawn [m]; of some bodies, or of all that moves and stands beside it.

    What is fixed to the world counts where nothing moves, where it is not much larger than what moves, or where it stands
    around it, as a cup does.
    """
    boxes: list[tuple[bool, Array, Array]] = []
    for visual in visuals:
        if bodies is not None and visual.body not in bodies:
            continue
        place = visual.placement if visual.body == -1 else poses[visual.body] @ visual.placement
        corners = np.array([visual.vertices.min(axis=0), visual.vertices.max(axis=0)])
        grid = np.array(np.meshgrid(*corners.T)).reshape(3, -1).T @ place[:3, :3].T + place[:3, 3]
        boxes.append((visual.body >= 0, grid.min(axis=0), grid.max(axis=0)))
    if not boxes:
        return np.full(3, -0.5), np.full(3, 0.5)
    moving = [b for b in boxes if b[0]] or boxes
    low, high = np.min([b[1] for b in moving], axis=0), np.max([b[2] for b in moving], axis=0)
    reach = max(float(np.linalg.norm(high - low)), 0.05)
    middle = (low + high) / 2

    def counts(box: tuple[bool, Array, Array]) -> bool:
        size = float(np.linalg.norm(box[2] - box[1]))
        beside = size < 1.5 * reach and np.all(box[1] < high + reach) and np.all(box[2] > low - reach)
        around = size < 6 * reach and np.all(box[1] < middle) and np.all(box[2] > middle)
        return bool(beside or around)

    near = [b for b in boxes if counts(b)] + moving
    return np.min([b[1] for b in near], axis=0), np.max([b[2] for b in near], axis=0)


def tile(size: float) -> float:
    """Side of a tile of the ground: 1, 2 or 5 times a power of ten, about a third of the size [m]."""
    power = 10.0 ** np.floor(np.log10(size / 3))
    return float(max((m * power for m in (1, 2, 5) if m * power <= size / 3 * 1.0001), default=power))
