"""From source: a fresh environment, pip install, the five lines without the last, the command. Of wheels: test_wheel.py."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = 'import tribo; sim = tribo.load("solo12"); sim.run(5.0); print(sim.audit); print(tribo.__file__)'


@pytest.mark.long
def test_pip_install(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    clean = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", f"{ROOT}[robots]"], capture_output=True, text=True, env=clean)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([python, "-c", LINES], cwd=tmp_path, capture_output=True, text=True, env=clean)
    assert done.returncode == 0, done.stderr
    assert "5 s in 5000 steps, done" in done.stdout and str(tmp_path) in done.stdout
    done = subprocess.run([str(tmp_path / "env" / "bin" / "tribo"), "run", "solo", "--duration", "0.1"], capture_output=True, text=True, env=clean)
    assert done.returncode == 0 and "contact laws" in done.stdout, done.stderr
