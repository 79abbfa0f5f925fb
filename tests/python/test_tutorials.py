"""Tutorials are programs: each runs, and asserts what it says."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("script", sorted((ROOT / "tutorials").glob("*.py")), ids=lambda p: p.stem)
def test_tutorial(script, tmp_path):
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


def test_pages_hold_the_programs():
    for script in sorted((ROOT / "tutorials").glob("*.py")):
        page = (ROOT / "docs" / "tutorials" / f"{script.stem}.md").read_text()
        program = script.read_text().split('"""', 2)[2].strip()
        assert f"```python\n{program}\n```" in page, f"{script.name}: python scripts/tutorial_pages.py {script.stem}"


def test_gallery_shows_every_scene():
    page = (ROOT / "docs" / "gallery.md").read_text()
    for scene in (ROOT / "scenes").glob("*.toml"):
        assert f"(../scenes/{scene.name})" in page and f"(images/gallery/{scene.stem}.png)" in page, f"python scripts/gallery.py {scene.stem}"


def test_soak_in_short():
    script = ROOT / "scripts" / "soak.py"
    done = subprocess.run([sys.executable, str(script), "--steps", "20000"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_soak():
    script = ROOT / "scripts" / "soak.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
