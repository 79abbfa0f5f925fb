"""Rays end where shapes and terrain begin, by closed forms."""

import numpy as np
import pytest

import tribo


def _outside(kind, size, x):
    """> 0 outside the shape, by its closed form; x (n, 3) in its frame."""
    if kind == tribo.ShapeKind.Sphere:
        return np.linalg.norm(x, axis=1) - size[0]
    if kind == tribo.ShapeKind.Box:
        return (np.abs(x) - size).max(axis=1)
    if kind == tribo.ShapeKind.Cylinder:
        return np.maximum(np.linalg.norm(x[:, :2], axis=1) - size[0], np.abs(x[:, 2]) - size[2])
    if kind == tribo.ShapeKind.Ellipsoid:
        return np.linalg.norm(x / size, axis=1) - 1
    z = np.clip(x[:, 2], -size[2], size[2])  # a capsule
    return np.linalg.norm(x - np.stack([0 * z, 0 * z, z], axis=1), axis=1) - size[0]


@pytest.mark.parametrize("shape", ["box", "sphere", "capsule", "cylinder", "ellipsoid"])
def test_rays_end_where_shapes_begin(shape):
    sizes = {"box": "size = [0.2, 0.3, 0.4]", "sphere": "radius = 0.2", "capsule": "radius = 0.1\nlength = 0.4",
             "cylinder": "radius = 0.15\nlength = 0.3", "ellipsoid": "radii = [0.2, 0.3, 0.5]"}
    sim = tribo.parse(f'[ground]\nnone = true\n[[object]]\nname = "thing"\nshape = "{shape}"\n{sizes[shape]}\nmass = 1\n'
                      "position = [0.3, -0.2, 1]\nrpy = [0.4, 0.7, -0.3]\n")
    geometry = next(g for g in sim.model.geometries if g.body >= 0)
    X = sim.pose("thing") @ np.array(geometry.placement)
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(200):
        start = X[:3, 3] + 0.9 * rng.normal(size=3)
        d = X[:3, 3] + 0.2 * rng.normal(size=3) - start
        d /= np.linalg.norm(d)
        along = np.linspace(0, 3, 3001)
        points = (start + along[:, None] * d - X[:3, 3]) @ X[:3, :3]
        inside = _outside(geometry.kind, np.array(geometry.size), points) < 0
        hit = sim.ray(start, d, most=3.0)
        if inside.any():
            hits += 1
            first = along[np.argmax(inside)]
            assert hit.distance == pytest.approx(first, abs=1.1e-3)
            local = (hit.point - X[:3, 3]) @ X[:3, :3]
            if hit.distance > 0:
                assert abs(_outside(geometry.kind, np.array(geometry.size), local[None])[0]) < 1e-9
                assert np.dot(hit.normal, d) < 0 and np.linalg.norm(hit.normal) == pytest.approx(1)
        else:
            assert hit.distance == np.inf or hit.distance > 0  # one that grazes the shape between two samples
    assert hits > 50


def test_rays_end_on_terrain():
    sim = tribo.load("solo-terrain")
    field = next(g for g in sim.model.geometries if g.kind == tribo.ShapeKind.HeightField)
    heights, (dx, dy) = np.array(field.heights), field.spacing
    ny, nx = heights.shape
    X = np.array(field.placement)
    rng = np.random.default_rng(3)
    for _ in range(50):
        i, j = rng.integers(0, nx - 1), rng.integers(0, ny - 1)
        a, b = rng.uniform(0, 1, size=2)
        corners = heights[j, i], heights[j, i + 1], heights[j + 1, i], heights[j + 1, i + 1]
        z = corners[0] + a * (corners[1] - corners[0]) + b * (corners[2] - corners[0]) if a + b < 1 else \
            corners[3] + (1 - a) * (corners[2] - corners[3]) + (1 - b) * (corners[1] - corners[3])
        local = np.array([(i + a - (nx - 1) / 2) * dx, (j + b - (ny - 1) / 2) * dy, z])
        point = X[:3, :3] @ local + X[:3, 3]
        member = [m.name for m in sim.model.members]
        hit = sim.ray(point + [0, 0, 5.0], [0, 0, -1], ignore=[*member])
        assert hit.distance == pytest.approx(5.0, abs=1e-9)
