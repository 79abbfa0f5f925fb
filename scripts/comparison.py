"""Tribo beside other simulators, on the same boxes: python scripts/comparison.py

Makes an environment for each under build/peers, runs scripts/comparison_worlds.py in it, one after the other, and writes
docs/comparison.md. Tribo comes from the newest wheel in dist/ (`make wheel`). Needs the network, a few minutes and 2 GB.
"""

from __future__ import annotations

import datetime
import json
import math
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: package, then the worlds that it makes
PEERS = {"tribo": ("", ["tribo"]), "mujoco": ("mujoco-core==4.0.1", ["mujoco", "mujoco-discrete"]), "drake": ("drake==1.51.1", ["drake"]),
         "dart": ("dartpy==6.20.0", ["dart"]), "pybullet": ("pybullet==3.2.7", ["pybullet"])}
NAMES = {"tribo": "Tribo", "mujoco": "MuJoCo", "mujoco-discrete": "MuJoCo, discrete", "drake": "Drake", "dart": "DART",
         "pybullet": "PyBullet"}
TRUTH = {"creep": ("box pushed with 80 % of what friction holds: creep", "um/s"),
         "slide": ("flat box that slides to rest from 2 m/s: error of its way", "mm"), "rise": ("the same: how far it rises", "um"),
         "heavy": ("1000 kg on 1 kg: sinks by", "mm"), "stack": ("ten cubes, 5 s: the highest is off by", "mm"),
         "spin": ("free plate at 100 rad/s, 10 s: change of energy", "share")}
COST = {"cost_cube": ("a step of one cube at rest", "us"), "cost_stack": ("of ten on top of each other", "us"),
        "cost_pile": ("of nine stacks of three", "us"), "size": ("installed, with what it needs", "MB"),
        "ready": ("import and first world", "s of CPU")}


def environment(name: str, package: str) -> Path:
    """Python of an environment that has a package, and NumPy."""
    folder = ROOT / "build/peers" / name
    if not package:
        wheels = sorted((ROOT / "dist").glob(f"tribo-*-cp{sys.version_info.major}{sys.version_info.minor}-*.whl"),
                        key=lambda p: p.stat().st_mtime)
        if not wheels:
            sys.exit("comparison: there is no wheel for this Python in dist/: run `make wheel` first")
        package = str(wheels[-1])
    python = folder / "bin/python"
    if not python.exists():
        print(f"{name}: an environment with {Path(package).name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy", package], check=True)
    return python


def megabytes(python: Path) -> float:
    packages = next(python.parent.parent.glob("lib/python*/site-packages"))
    tools = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "__pycache__")
    return sum(p.stat().st_size for p in packages.rglob("*") if p.is_file()
               and not p.relative_to(packages).parts[0].startswith(tools) and "__pycache__" not in p.parts) / 1e6


def shown(value: float) -> str:
    return "not finite" if not math.isfinite(value) else "0" if value == 0 else f"{value:.3g}"


def table(rows: dict[str, tuple[str, str]], found: list[dict[str, float]]) -> list[str]:
    lines = ["| | unit | " + " | ".join(f"{NAMES[str(f['peer'])]} {f['version']}" for f in found) + " |",
             "|---|---|" + "---|" * len(found)]
    return lines + [f"| {words} | {unit} | " + " | ".join(shown(f[key]) for f in found) + " |" for key, (words, unit) in rows.items()]


def page(found: list[dict[str, float]]) -> str:
    cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
                if line.startswith("model name")), platform.machine())
    return "\n".join([
        "# Beside other simulators", "",
        "The same boxes in each simulator, as it comes, dt 1 ms, friction 0.5; the worlds are in `scripts/comparison_worlds.py`. Drake has its",
        "hydroelastic contact (modulus 1e7 Pa), since its point contact has one point for a box on a plane. Made by",
        f"`python scripts/comparison.py` on {datetime.date.today():%d %B %Y}, {cpu}, one core, one after the other.", "",
        "## Laws: how far from the known answer; each should be 0", "", *table(TRUTH, found), "",
        "## What it costs", "", *table(COST, found), "",
        "Python calls a step of DART and PyBullet one by one, the others many at once.", "",
        "## Where others lead", "",
        "- MuJoCo: GPU versions, muscles, soft bodies, a smaller install, a decade of users and models. MJCF is its own format; what Tribo takes of it:",
        "  [MJCF](mjcf.md).",
        "- Drake: systems and optimisation, symbolic and automatic derivatives of whole diagrams, hydroelastic patches of soft contact.",
        "- DART: soft bodies, several collision libraries to choose from; its boxed LCP is exact on most of the boxes above.",
        "- PyBullet: loads almost any file, and has the most examples on the web.", "",
        "What each lets bodies do on seams, grips, funnels and impacts: [physical truth](experiments-truth.md). Robots and heaps:",
        "[performance](performance.md).", ""])


def main() -> None:
    found = []
    for name, (package, worlds) in PEERS.items():
        python = environment(name, package)
        for world in worlds:
            out = ROOT / "build/peers" / f"{world}.json"
            print(f"{NAMES[world]} ...", flush=True)
            with open(out.with_suffix(".log"), "w", encoding="utf-8") as log:
                subprocess.run([str(python), str(ROOT / "scripts/comparison_worlds.py"), world, str(out)], check=True, stdout=log, stderr=log)
            found.append({**json.loads(out.read_text(encoding="utf-8")), "size": megabytes(python)})
    target = ROOT / "docs/comparison.md"
    draft = target.with_suffix(".partial")
    draft.write_text(page(found), encoding="utf-8")
    draft.rename(target)
    print(f"written: {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
