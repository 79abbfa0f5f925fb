"""Films, pictures and pages of a run: tribo video RECORDING --out x.mp4, .gif, .png or .html."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, drawing, page
from .extras import need
from .files import whole_file
from .render import Camera, Renderer
from .track import Track

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

KINDS = (".mp4", ".gif", ".png", ".html")
MOST_FRAMES = 100_000


def moments(track: Track, fps: float, speed: float, start: float | None, end: float | None) -> list[int]:
    """Indices of the moments that a film shows: one for each 1/fps of its time."""
    if not (np.isfinite(fps) and 0 < fps <= 240) or not (np.isfinite(speed) and speed > 0):
        raise _core.InvalidInput(f"a film of {fps:g} pictures a second at speed {speed:g}: the first must be from 0 to 240, "
                                 "the second above 0")
    begin = float(track.t[0]) if start is None else start
    finish = float(track.t[-1]) if end is None else end
    if finish < begin:
        raise _core.InvalidInput(f"a film from {begin:g} s to {finish:g} s: the end is before the start")
    n = int(np.floor((finish - begin) * fps / speed + 1e-9)) + 1
    if n > MOST_FRAMES:
        raise _core.InvalidInput(f"a film of {n} pictures: at most {MOST_FRAMES}; lower fps, or raise speed")
    return [track.nearest(begin + k * speed / fps) for k in range(n)]


def _frames(track: Track, indices: list[int], renderer: Renderer, camera: Camera, options: dict[str, Any],
            progress: bool) -> Iterator[Image]:
    size = max(float(np.linalg.norm(np.subtract(*renderer.bounds(track.poses(indices[0]))))), 0.05)
    scale = drawing.force_scale(size, [track.contacts[i].force for i in indices])
    for k, i in enumerate(indices):
        yield renderer.draw(track.poses(i), track.contacts[i], camera, scale=scale, **options)
        if progress and sys.stderr.isatty():
            print(f"\r{k + 1} of {len(indices)} pictures", end="\n" if k + 1 == len(indices) else "", file=sys.stderr, flush=True)


def _write_mp4(path: str, frames: Iterator[Image], size: tuple[int, int], fps: float) -> None:
    """By ffmpeg, in a session of its own, since Ctrl-C is ours to answer, and without a fork, which threads of others do not
    survive."""
    ffmpeg = need("imageio_ffmpeg", "films are written by imageio-ffmpeg", "render").get_ffmpeg_exe()
    width, height = size
    even = f"scale={width + width % 2}:{height + height % 2}"
    words = [ffmpeg, "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:.6g}", "-i", "-",
             "-an", "-vf", even, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "15", "-f", "mp4", "-movflags", "+faststart",
             f"file:{path}"]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True)
        assert process.stdin is not None
        try:
            with contextlib.suppress(BrokenPipeError), process.stdin as pictures:  # why it ended early is in what it said
                for frame in frames:
                    pictures.write(np.ascontiguousarray(frame).data)
        except BaseException:
            process.kill()
            raise
        finally:
            code = process.wait()
        if code != 0:
            said.seek(0)
            raise OSError(f"{path}: ffmpeg ended with {code}: {said.read().decode(errors='replace').strip()[-300:]}")


def _pillow() -> Any:
    return need("PIL.Image", "pictures are written by Pillow", "render")


def _write_gif(path: str, frames: Iterator[Image], fps: float) -> None:
    Pillow = _pillow()
    pictures = [Pillow.fromarray(frame).quantize(128) for frame in frames]
    pictures[0].save(path, format="GIF", save_all=True, append_images=pictures[1:], duration=round(1000 / fps), loop=0)


def write(track: Track, path: str | os.PathLike[str], *, fps: float = 30.0, speed: float = 1.0, start: float | None = None,
          end: float | None = None, camera: Camera | None = None, width: int = 640, height: int = 480, shadows: bool = True,
          progress: bool = False, **options: Any) -> int:
    """Writes a film (.mp4, .gif), the picture of its last moment (.png), or a page that plays in a browser and can be looked at
    from all sides (.html; all of the track, whatever the options); returns the number of pictures.

    fps: pictures a second; speed: 2 shows the run twice as fast. start and end [s]. options: those of Renderer.draw.
    """
    name = os.fspath(path)
    kind = os.path.splitext(name)[1].lower()
    if kind not in KINDS:
        raise _core.InvalidInput(f"{name}: a film or picture ends in {', '.join(KINDS)}")
    if kind == ".html":
        page.write(track, path)
        return len(track.t)
    indices = moments(track, fps, speed, start, end)
    if kind == ".png":
        indices = indices[-1:]
    renderer = Renderer(track.model, width=width, height=height, shadows=shadows)
    frames = _frames(track, indices, renderer, Camera() if camera is None else camera, options, progress)
    try:
        with whole_file(path) as partial:
            if kind == ".mp4":
                _write_mp4(partial, frames, (width, height), fps)
            elif kind == ".gif":
                _write_gif(partial, frames, fps)
            else:
                _pillow().fromarray(next(frames)).save(partial, format="PNG")
    finally:
        renderer.close()
    return len(indices)
