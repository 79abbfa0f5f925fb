"""Robots by the names of the package robot_descriptions, where it is installed."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import pkgutil

from . import _core

_SUFFIX = "_description"


def described_robot(name: str) -> tuple[str, dict[str, object]]:
    """The file that a name such as "go2_mj_description" stands for, and the settings that find its meshes; the name itself
    where it is not such a name. The package fetches a robot when it is asked for the first time."""
    if not name.endswith(_SUFFIX) or not name.isidentifier() or os.path.exists(name):
        return name, {}
    package = importlib.util.find_spec("robot_descriptions")
    if package is None:
        raise _core.InvalidInput(f"'{name}' is a name of the package robot_descriptions, which is not installed: "
                                 "pip install robot_descriptions")
    if importlib.util.find_spec(f"robot_descriptions.{name}") is None:
        modules = pkgutil.iter_modules(package.submodule_search_locations or ())
        known = [found.name.removesuffix(_SUFFIX) for found in modules if found.name.endswith(_SUFFIX)]
        near = difflib.get_close_matches(name.removesuffix(_SUFFIX), known, 1)
        raise _core.InvalidInput(f"the package robot_descriptions knows no '{name}'" + (f"; did you mean '{near[0]}{_SUFFIX}'?" if near else ""))
    try:
        module = importlib.import_module(f"robot_descriptions.{name}")
    except Exception as error:  # no network, no git: whatever it fetches with
        why = str(error).strip().splitlines() or [type(error).__name__]
        raise _core.InvalidInput(f"the package robot_descriptions could not bring '{name}', which it fetches at its first use: {why[-1].strip()}") from error
    file = getattr(module, "MJCF_PATH", None) or getattr(module, "URDF_PATH", None)
    if file is None:
        raise _core.InvalidInput(f"robot_descriptions.{name} has neither an MJCF nor a URDF file")
    folders = {os.path.dirname(os.fspath(folder)) for folder in (getattr(module, "PACKAGE_PATH", None),) if folder}
    folders |= {os.fspath(folder) for folder in (getattr(module, "REPOSITORY_PATH", None),) if folder}
    return os.fspath(file), {"robot.packages": sorted(folders)} if folders else {}
