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


def test_soak_in_short():
    script = ROOT / "scripts" / "soak.py"
    done = subprocess.run([sys.executable, str(script), "--steps", "20000"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_soak():
    script = ROOT / "scripts" / "soak.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
