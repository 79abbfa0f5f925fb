"""The film of the README: python scripts/readme_film.py docs/images/robots.gif

Runs three scenes, films each with `tribo video`, and puts the films side by side.
"""

import pathlib
import subprocess
import sys
import tempfile

import imageio.v3 as iio
import numpy as np

# Scene, from [s], camera, and what else tribo video is told.
SHOTS = [("solo-trot", 0.5, "solo12"), ("romeo-walk", 0.6, "romeo"), ("heap-100", 0.1, "corner", "--no-forces")]
LENGTH, FPS, WIDTH, HEIGHT = 2.4, 12, 280, 260


def film(command: str, folder: pathlib.Path, scene: str, start: float, camera: str, *more: str) -> np.ndarray:
    out = folder / scene
    subprocess.run([command, "run", scene, "--duration", str(start + LENGTH), "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
    gif = folder / f"{scene}.gif"
    subprocess.run([command, "video", str(out), "--out", str(gif), "--camera", camera, "--fps", str(FPS), "--start", str(start),
                    "--end", str(start + LENGTH), "--width", str(WIDTH), "--height", str(HEIGHT), *more], check=True)
    return iio.imread(gif)[..., :3]


def main() -> None:
    command = str(pathlib.Path(__file__).resolve().parent.parent / "build/release/tribo")
    with tempfile.TemporaryDirectory() as name:
        films = [film(command, pathlib.Path(name), *shot) for shot in SHOTS]
    frames = min(len(f) for f in films)
    joined = np.concatenate([f[:frames] for f in films], axis=2)
    iio.imwrite(sys.argv[1], joined, duration=1000 / FPS, loop=0)
    print(f"{sys.argv[1]}: {frames} pictures, {pathlib.Path(sys.argv[1]).stat().st_size / 1e6:.2f} MB")


main()
