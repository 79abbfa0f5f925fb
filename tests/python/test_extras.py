"""Where an optional package is missing, the error names the extra that brings it; pyproject.toml has no other extras."""

import importlib
import pathlib
import re
import sys

import pytest

import tribo
from tribo import film, mesh_visuals, plots, rerun_export

ROOT = pathlib.Path(__file__).resolve().parents[2]


def gym():
    sys.modules.pop("tribo.gym", None)
    importlib.import_module("tribo.gym")


def learner():
    learn = importlib.import_module("tribo.learn")
    learn._Learner(learn.Settings(), 4, 2)


def on_ray():
    sweeps = importlib.import_module("tribo.sweeps")
    list(sweeps._on_ray(sweeps.Request("cube", {}, {}, 1, None, 0.0, None), iter([0]), 1, None, 0))


CASES = {
    "vtkmodules.all": ("render", lambda: tribo.load("cube").render()),
    "trimesh": ("view", lambda: mesh_visuals.read_mesh("x.stl")),
    "imageio_ffmpeg": ("render", lambda: film._write_mp4("x.mp4", iter(()), (16, 16), 30)),
    "PIL.Image": ("render", lambda: film._write_gif("x.gif", iter(()), 30)),
    "gymnasium": ("learn", gym),
    "jax": ("learn", learner),
    "ray": ("ray", on_ray),
    "matplotlib": ("sweep", lambda: plots.draw({"panels": []}, "x.png")),
    "rerun": ("rerun", lambda: rerun_export.export(None, "x.rrd")),
    "pinocchio": ("pinocchio", lambda: tribo.to_pinocchio(tribo.load("cube").model)),
}


@pytest.mark.parametrize("package", CASES)
def test_missing_package(package, monkeypatch):
    extra, use = CASES[package]
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(ImportError, match=re.escape(f"pip install 'tribo[{extra}]'")):
        use()


def test_extras_are_those_that_are_named():
    section = (ROOT / "pyproject.toml").read_text().split("[project.optional-dependencies]")[1].split("\n[")[0]
    extras = set(re.findall(r"^(\w+) = ", section, re.MULTILINE))
    assert extras == {extra for extra, _ in CASES.values()} | {"robots", "parts", "all"}
