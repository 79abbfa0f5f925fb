"""Robots by the names of the package robot_descriptions, where it is installed."""

from __future__ import annotations

import importlib
import importlib.util
import os

from . import _core

_SUFFIX = "_description"


def described_robot(name: str) -> tuple[str, dict[str, object]]:
    """The file that a name such as "go2_mj_description" stands for, and the settings that find its meshes; the name itself
    where it is not such a name. The package fetches a robot when it is asked for the first time."""
    if not name.endswith(_SUFFIX) or not name.isidentifier() or os.path.exists(name):
        return name, {}
    if importlib.util.find_spec("robot_descriptions") is None:
        raise _core.InvalidInput(f"'{name}' is a name of the package robot_descriptions, which is not installed: "
                                 "pip install robot_descriptions")
    if importlib.util.find_spec(f"robot_descriptions.{name}") is None:
        raise _core.InvalidInput(f"the package robot_descriptions knows no '{name}'")
    module = importlib.import_module(f"robot_descriptions.{name}")
    file = getattr(module, "MJCF_PATH", None) or getattr(module, "URDF_PATH", None)
    if file is None:
        raise _core.InvalidInput(f"robot_descriptions.{name} has neither an MJCF nor a URDF file")
    folders = {os.path.dirname(os.fspath(folder)) for folder in (getattr(module, "PACKAGE_PATH", None),) if folder}
    folders |= {os.fspath(folder) for folder in (getattr(module, "REPOSITORY_PATH", None),) if folder}
    return os.fspath(file), {"robot.packages": sorted(folders)} if folders else {}
