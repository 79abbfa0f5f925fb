"""q and v of a model in MuJoCo's conventions, and back: for code that was written for its qpos and qvel.

Joints stand in the same order. MuJoCo has quaternions w, x, y, z, an angle for a joint that turns without end, and the
linear velocity of a free joint in the axes of the world.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _core

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .hand import Array

_TURNS = (_core.JointKind.Free, _core.JointKind.Spherical)


def _rotation(xyzw: Array) -> Array:
    x, y, z, w = xyzw / np.linalg.norm(xyzw)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def _checked(x: ArrayLike, n: int, what: str) -> Array:
    array = np.asarray(x, dtype=float)
    if array.shape != (n,):
        raise _core.InvalidInput(f"{what} has the shape {array.shape}, must have ({n},)")
    return array


def qpos(model: _core.Model, q: Array) -> Array:
    """q as MuJoCo has it."""
    out: list[Array] = []
    for body in model.bodies:
        own = np.array(q[body.iq:body.iq + body.nq])
        if body.joint in _TURNS:
            own[-4:] = np.roll(own[-4:], 1)
        elif body.joint == _core.JointKind.Continuous:
            own = np.array([np.arctan2(own[1], own[0])])
        out.append(own)
    return np.concatenate(out) if out else np.zeros(0)


def q(model: _core.Model, qpos: ArrayLike) -> Array:
    """MuJoCo's qpos as q; quaternions are made unit."""
    continuous = _core.JointKind.Continuous
    sizes = [1 if body.joint == continuous else body.nq for body in model.bodies]
    x = _checked(qpos, sum(sizes), "qpos")
    out = np.zeros(model.nq)
    first = 0
    for body, size in zip(model.bodies, sizes):
        own = x[first:first + size].copy()
        first += size
        if body.joint in _TURNS:
            own[-4:] = np.roll(own[-4:], -1) / np.linalg.norm(own[-4:])
        elif body.joint == continuous:
            own = np.array([np.cos(own[0]), np.sin(own[0])])
        out[body.iq:body.iq + body.nq] = own
    return out


def qvel(model: _core.Model, q: Array, v: Array) -> Array:
    """v as MuJoCo has it."""
    out = np.array(v)
    for body in model.bodies:
        if body.joint == _core.JointKind.Free:
            out[body.iv:body.iv + 3] = _rotation(np.asarray(q[body.iq + 3:body.iq + 7])) @ v[body.iv:body.iv + 3]
    return out


def v(model: _core.Model, q: Array, qvel: ArrayLike) -> Array:
    """MuJoCo's qvel as v."""
    out = _checked(qvel, model.nv, "qvel").copy()
    for body in model.bodies:
        if body.joint == _core.JointKind.Free:
            out[body.iv:body.iv + 3] = _rotation(np.asarray(q[body.iq + 3:body.iq + 7])).T @ out[body.iv:body.iv + 3]
    return out
