"""The package is typed: mypy --strict over it and over a user's program."""

import os
import pathlib
import subprocess
import sys

import tribo

USER = """
import numpy as np
from numpy.typing import NDArray
import tribo

sim: tribo.Simulation = tribo.load("solo12", controller=tribo.Controller("pd", kp=20.0))
audit: tribo.Audit = sim.run(0.1)
height: float = float(sim.q[2])
forces: list[NDArray[np.float64]] = [c.force for c in sim.contacts]
answer: tribo.Solution = tribo.solve(np.eye(3), np.zeros(3), np.array([0.5]))
"""


def mypy(*arguments: str, cwd: pathlib.Path) -> str:
    package = pathlib.Path(tribo.__file__).parent
    config = pathlib.Path(__file__).resolve().parents[2] / "pyproject.toml"
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--config-file", str(config), *arguments], cwd=cwd,
                          capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(package.parent)})
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_package_is_strictly_typed(tmp_path):
    assert mypy("-p", "tribo", cwd=tmp_path) == ""


def test_a_users_program_is_checked(tmp_path):
    (tmp_path / "good.py").write_text(USER)
    assert mypy("good.py", cwd=tmp_path) == ""
    (tmp_path / "bad.py").write_text(USER + "sim.run('long')\n")
    assert "bad.py" in mypy("bad.py", cwd=tmp_path)
