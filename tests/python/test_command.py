"""What the command hands to Python, and what it says of a failed run."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

COMMAND = os.environ.get("TRIBO_COMMAND", "")
pytestmark = pytest.mark.skipif(not COMMAND, reason="TRIBO_COMMAND is not set: the path of the tribo command")


def run(*arguments, **environment):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True,
                          env={**os.environ, "TRIBO_PYTHON": sys.executable, **environment})


def alone(page: str) -> bool:
    """Nothing is loaded from elsewhere."""
    return not re.search(r"""(src|href)=["'](?!data:)""", page) and "@import" not in page


def test_compare_writes_a_page_that_stands_alone(tmp_path):
    done = run("compare", "cube-slide", "--with", "rigid:ncp,rigid:ccp", "--duration", "0.2", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "compare.html").read_text()
    assert alone(page) and "data:image/png;base64," in page
    for word in ("tribo compare cube-slide --with rigid:ncp,rigid:ccp", "commit", "processor", "[m]", "rigid:ccp"):
        assert word in page


def test_experiment_writes_a_page(tmp_path):
    done = run("experiment", "cube-slide", "--quick", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "cube-slide.html").read_text()
    assert alone(page) and "Claims" in page and "tribo experiment cube-slide" in page


def test_explanation_of_the_command():
    done = run("run", "stack-10", "--solver", "pgs", "--set", "contact.max_iterations=2", "--duration", "0.1", "--explain")
    assert done.returncode == 0 and "likely first cause: unconverged solver" in done.stdout
    done = run("run", "stack-10", "--solver", "pgs", "--set", "contact.max_iterations=2", "--duration", "0.1", "--strict",
               "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["explanation"][0]["cause"] == "unconverged solver"
    done = run("run", "stack-10", "--solver", "pgs", "--set", "contact.max_iterations=2", "--duration", "0.1", "--strict")
    assert "likely first cause" in done.stderr


@pytest.mark.parametrize("presses", [1, 3])
def test_view_of_a_recording(tmp_path, presses):
    done = run("run", "solo", "--duration", "0.2", "--set", "robot.drop=0.1", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    view = subprocess.Popen([COMMAND, "view", str(tmp_path), "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "TRIBO_PYTHON": sys.executable}, start_new_session=True)
    try:
        assert view.stdout.readline().startswith("view: http://127.0.0.1:")
        time.sleep(0.5)
    finally:
        for _ in range(presses):
            os.killpg(view.pid, signal.SIGINT)
            time.sleep(0.005)
        try:
            assert view.communicate(timeout=20) == ("", "")
            assert view.returncode == 0
        finally:
            if view.poll() is None:
                os.killpg(view.pid, signal.SIGKILL)


@pytest.mark.parametrize("moment", [0.0, 0.2, None])
def test_an_interrupt_ends_a_command_and_what_it_started(tmp_path, moment):
    """While Python is asked for, while it begins, and while points run."""
    sweep = subprocess.Popen([COMMAND, "sweep", "cube-slide", "--vary", "stepper.dt=0.001,0.0001", "--duration", "1e6", "--out",
                              str(tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "TRIBO_PYTHON": sys.executable}, start_new_session=True)
    try:
        if moment is None:
            while not (tmp_path / "out" / "sweep.json").exists():
                time.sleep(0.02)
        time.sleep(moment or 0.1)
        os.killpg(sweep.pid, signal.SIGINT)
        said, told = sweep.communicate(timeout=60)
        assert "Traceback" not in told and said == ""
        assert sweep.returncode == (130 if moment != 0 else sweep.returncode)  # before it can take it: as the system has it
        with pytest.raises(ProcessLookupError):
            os.killpg(sweep.pid, 0)
    finally:
        if sweep.poll() is None:
            os.killpg(sweep.pid, signal.SIGKILL)


def test_view_says_what_is_missing(tmp_path):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexec " + sys.executable + " -S -E \"$@\"\n")  # without packages
    fake.chmod(0o755)
    done = run("view", str(tmp_path), TRIBO_PYTHON=str(fake))
    assert done.returncode == 1 and "pip install" in done.stderr
    done = run("view", str(tmp_path / "nothing"))
    assert done.returncode == 2 and "no such recording" in done.stderr


def test_rerun_file(tmp_path):
    pytest.importorskip("rerun")
    assert run("run", "cube", "--duration", "0.1", "--out", str(tmp_path)).returncode == 0
    done = run("view", str(tmp_path), "--rerun", str(tmp_path / "cube.rrd"))
    assert done.returncode == 0 and pathlib.Path(tmp_path / "cube.rrd").exists(), done.stderr
