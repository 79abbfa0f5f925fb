"""A recording as a file of rerun: python -m tribo rerun RECORDING OUT.rrd"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .extras import need
from .files import whole_file
from .track import Track
from .visuals import visuals_of

MODES = np.array([[160, 160, 160], [36, 113, 163], [230, 126, 34], [192, 57, 43]], dtype=np.uint8)  # of ContactMode


def export(track: Track, path: str | os.PathLike[str]) -> None:
    """Writes meshes, poses, contact points and forces over time to OUT.rrd."""
    rr = need("rerun", "recordings for Rerun are written by its package", "rerun")
    stream = rr.RecordingStream("tribo", recording_id=track.name)
    with whole_file(path) as partial:
        stream.save(partial)
        _log(rr, stream, track)
        stream.disconnect()


def _log(rr: Any, stream: Any, track: Track) -> None:
    stream.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for k, visual in enumerate(visuals_of(track.model)):
        name = f"world/{'fixed' if visual.body == -1 else visual.body}/{k}"
        stream.log(name, rr.Mesh3D(vertex_positions=visual.vertices, triangle_indices=visual.faces,
                                   albedo_factor=[*visual.colour, 255]), static=True)
        stream.log(name, rr.Transform3D(translation=visual.placement[:3, 3], mat3x3=visual.placement[:3, :3]), static=True)
    scale = 0.3 / (9.81 * track.model.mass)  # the weight is drawn 0.3 m long
    for i, t in enumerate(track.t):
        stream.set_time("time", duration=float(t))
        for b, pose in track.poses(i).items():
            stream.log(f"world/{b}", rr.Transform3D(translation=pose[:3, 3], mat3x3=pose[:3, :3]))
        contacts = track.contacts[i]
        stream.log("world/contacts", rr.Points3D(contacts.point, colors=MODES[contacts.mode], radii=0.005))
        stream.log("world/forces", rr.Arrows3D(origins=contacts.point, vectors=scale * contacts.force))
