"""Masses, friction, joints and gains that differ from the scene: of one world, or rows of many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .hand import by_body, joints_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    # A factor on all (one for every world, or one each), or values by name.
    Parameter = ArrayLike | Mapping[str, ArrayLike]


def _bodies(model: _core.Model, name: str) -> list[int]:
    """A body by its name, or the first of a robot or object."""
    return [int(by_body(model)(name)[1])]


def _materials(model: _core.Model, name: str) -> list[int]:
    """A material by its name, or that of a robot, object, body or geometry which nothing else has."""
    if name in model.materials:
        return [model.materials.index(name)]
    mine = set(_core._geometries(model, name))
    used = {model.geometries[g].material for g in mine}
    shared = [g.name for i, g in enumerate(model.geometries) if g.material in used and i not in mine]
    if shared:
        materials = ", ".join(f"'{model.materials[m]}'" for m in sorted(used))
        raise _core.InvalidInput(f"friction of '{name}': its material {materials} is also that of '{shared[0]}'; name the material, "
                                 "or give it one of its own in the scene")
    return sorted(used)


def _joints(model: _core.Model, name: str) -> list[int]:
    return joints_of(model, [name])


JOINTS = ("damping", "armature", "dry_friction")


def changes_of(model: _core.Model, given: Mapping[str, Parameter | None]) -> tuple[_core._ModelChanges, float, float]:
    """For one world: values by name, and the factors on all masses and all friction."""
    changes = _core._ModelChanges()
    factors = {"mass": 1.0, "friction": 1.0}
    for key, value in given.items():
        if value is None:
            continue
        if not isinstance(value, Mapping):
            if key not in factors:
                raise TypeError(f"{key} is {value!r}, must be values by name: {{\"joint\": …}}")
            factors[key] = float(value)  # type: ignore[arg-type]
            continue
        find = {"mass": _bodies, "com": _bodies, "friction": _materials}.get(key, _joints)
        found: dict[int, Any] = {i: np.asarray(x, dtype=float) if key == "com" else float(x)  # type: ignore[arg-type]
                                 for name, x in value.items() for i in find(model, name)}
        setattr(changes, key, found)
    return changes, factors["mass"], factors["friction"]


class Rows:
    """The numbers of a scene's model, and rows of others for n worlds."""

    def __init__(self, model: _core.Model) -> None:
        self.model = model
        self.base: dict[str, Array] = {key: np.array(x) for key, x in _core._numbers(model).items()}
        self.base["gains"] = np.ones(model.nv)
        self._found: dict[tuple[str, str], list[int]] = {}

    def _find(self, key: str, name: str) -> list[int]:
        if (key, name) not in self._found:
            find = {"mass": _bodies, "com": _bodies, "friction": _materials}.get(key, _joints)
            self._found[key, name] = find(self.model, name)
        return self._found[key, name]

    def of(self, key: str, value: Parameter, n: int) -> dict[str, Array]:
        """Arrays (n, ...) of what a parameter stands for."""
        tables = {"friction": ["mu_static", "mu_dynamic"]}.get(key, [key])
        out = {table: np.repeat(self.base[table][None], n, axis=0) for table in tables}
        if not isinstance(value, Mapping):
            if key == "com":
                raise TypeError("com: give centres of mass by name, {\"base\": [x, y, z]}")
            factor = np.asarray(value, dtype=float)
            if factor.shape not in ((), (n,)):
                raise _core.InvalidInput(f"{key} is of shape {factor.shape}: a factor is one number, or one for each of {n} worlds")
            for rows in out.values():
                rows *= factor.reshape(-1, 1)
            return out
        for name, given in value.items():
            x = np.asarray(given, dtype=float)
            wide = (3,) if key == "com" else ()
            if x.shape not in (wide, (n, *wide)):
                raise _core.InvalidInput(f"{key} of '{name}' has shape {x.shape}, must be {wide} or {(n, *wide)}")
            for i in self._find(key, name):
                if key == "com":
                    out["com"][:, 3 * i:3 * i + 3] = x
                elif key == "friction":
                    m = len(self.model.materials)
                    for rows in out.values():
                        table = rows[:, :m * m].reshape(n, m, m)
                        table[:, i, :] = table[:, :, i] = x.reshape(-1, 1)
                else:
                    out[key][:, i] = x
        return out
