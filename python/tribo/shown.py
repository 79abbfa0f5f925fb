"""What a result says of itself in a console: its name and its numbers, instead of an address in memory."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core

_RESULTS = (_core.DerivativeCheck, _core.Energy, _core.Frame, _core.Laws, _core.Linearization, _core.Member, _core.Nearest, _core.RayHit,
            _core.Residual, _core.SensorError, _core.SensorReading, _core.StepReport, _core.Surface)


def short(value: Any) -> str:
    """A number to four digits, an array by its shape, a list by its length, anything else in its own words."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"array{value.shape}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, separator=", ")
    if isinstance(value, (list, tuple)) and len(value) > 4:
        return f"{type(value).__name__} of {len(value)}"
    return repr(value)


def fields(thing: object) -> str:
    names = [n for n, member in vars(type(thing)).items() if not n.startswith("_") and isinstance(member, property)]
    return f"{type(thing).__name__}({', '.join(f'{n}={short(getattr(thing, n))}' for n in names)})"


def scene(s: _core.Scene) -> str:
    model = s.model
    return f"Scene({s.name!r}, stepper={s.stepper!r}, dt={s.dt:.4g} s, nq={model.nq}, nv={model.nv}, bodies={len(model.bodies)})"


def explanation(e: _core.Explanation) -> str:
    return f"Explanation({', '.join(str(f.cause) for f in e.findings) or 'nothing found'})"


_say: dict[type, Callable[[Any], str]] = dict.fromkeys(_RESULTS, fields) | {_core.Scene: scene, _core.Explanation: explanation}
for _kind, _words in _say.items():
    _kind.__repr__ = _words  # type: ignore[method-assign, assignment]
