"""Meshes that are not convex as several solids that are, by CoACD (the extra [parts])."""

from __future__ import annotations

import contextlib
import os
import tempfile

import numpy as np

from . import _core

THRESHOLD = 0.05  # concavity that a part may keep, as a share of the mesh


def write_parts(mesh: str, most: int, out: str) -> None:
    """The convex parts of a mesh file as the objects of an OBJ; at most so many, 0: as many as the shape needs."""
    try:
        import coacd
    except ImportError as error:
        raise ImportError(f"mesh '{mesh}': convex parts are made by CoACD, which is missing; "
                          "pip install 'tribo[parts]' brings it") from error
    vertices, triangles = _core._mesh_of_file(mesh)
    coacd.set_log_level("error")
    shape = coacd.Mesh(np.asarray(vertices), np.asarray(triangles, dtype=np.int32))
    parts = coacd.run_coacd(shape, threshold=THRESHOLD, max_convex_hull=most or -1, seed=0)
    if not parts:
        raise ValueError(f"mesh '{mesh}': CoACD made no parts of it")
    handle, draft = tempfile.mkstemp(dir=os.path.dirname(out), suffix=".obj")
    try:
        with os.fdopen(handle, "w") as file:
            first = 1
            for k, (points, faces) in enumerate(parts):
                file.write(f"o part{k}\n")
                file.writelines(f"v {float(x)!r} {float(y)!r} {float(z)!r}\n" for x, y, z in points)
                file.writelines(f"f {a + first} {b + first} {c + first}\n" for a, b, c in faces)
                first += len(points)
        os.replace(draft, out)  # whole, whoever else makes it
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
