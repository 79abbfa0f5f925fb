"""A step as a function of JAX: differentiable backwards, by the derivative of the step itself.

    import jax, tribo, tribo.jax
    step = tribo.jax.step(tribo.load("solo-standing"))
    q, v = step(q, v, u)                                    # u: torques of lin.inputs
    jax.grad(lambda u: step(q, v, u)[1][0])(u)

The step runs on the CPU, called back from JAX; jax.jit may stand around it, jax.vmap calls it once for each. It is a function of (q, v, u)
alone: contacts are not remembered from step to step, and time stands where the simulation stood. Numbers are of double precision where
`jax_enable_x64` is set, else they are rounded on the way in and out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from .extras import need


def _tangent(model: _core.Model, q: np.ndarray) -> np.ndarray:
    """d(q moved by a tangent) / d(tangent) (nq x nv): quaternions (x, y, z, w), free joints along the axes of their body."""
    J = np.zeros((model.nq, model.nv))
    for body in model.bodies:
        free, ball = body.joint == _core.JointKind.Free, body.joint == _core.JointKind.Spherical
        if body.joint == _core.JointKind.Continuous:  # (cos, sin)
            J[body.iq, body.iv], J[body.iq + 1, body.iv] = -q[body.iq + 1], q[body.iq]
            continue
        if not (free or ball):
            for k in range(body.nv):
                J[body.iq + k, body.iv + k] = 1.0
            continue
        i, k = (body.iq + 3, body.iv + 3) if free else (body.iq, body.iv)
        x, y, z, w = q[i:i + 4]
        J[i:i + 4, k:k + 3] = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
        if free:
            J[body.iq:body.iq + 3, body.iv:body.iv + 3] = np.array(
                [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                 [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                 [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
    return J


def _pull_back(model: _core.Model, q: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The smallest gradient by q (nq) that is g (nv) along the tangent."""
    J = _tangent(model, q)
    return J @ np.linalg.solve(J.T @ J, g)


def step(simulation: Any) -> Callable[[Any, Any, Any], tuple[Any, Any]]:
    """(q, v, u) -> (q, v) at the end of a step of a simulation, with jax.vjp, jax.grad and jax.jit. It works on a copy."""
    jax = need("jax", "tribo.jax", "learn")
    sim = simulation.fork()
    model, base = sim.model, sim.state.copy()
    base.forget_contacts()
    inputs = np.asarray(sim.linearize().inputs, dtype=int)
    nq, nv, nu = model.nq, model.nv, len(inputs)

    def placed(q: Any, v: Any, u: Any) -> None:
        state = base.copy()
        state.q[:], state.v[:] = np.asarray(q, float), np.asarray(v, float)
        for body in model.bodies:  # as float32 has them they are no units
            if body.joint in (_core.JointKind.Free, _core.JointKind.Spherical):
                i = body.iq + 3 if body.joint == _core.JointKind.Free else body.iq
                state.q[i:i + 4] /= np.linalg.norm(state.q[i:i + 4])
        sim.state = state
        torque = np.zeros(nv)
        torque[inputs] = np.asarray(u, float)
        sim.torque = torque

    def run(q: Any, v: Any, u: Any) -> tuple[np.ndarray, np.ndarray]:
        placed(q, v, u)
        sim.step()
        return sim.q.astype(np.asarray(q).dtype), sim.v.astype(np.asarray(v).dtype)

    def back(q: Any, v: Any, u: Any, wq: Any, wv: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        placed(q, v, u)
        start = sim.q.copy()
        lin = sim.linearize()
        gx, gu, *_ = lin.vjp(np.concatenate([_tangent(model, lin.q_next).T @ np.asarray(wq, float), np.asarray(wv, float)]))
        dtype = np.asarray(q).dtype
        return _pull_back(model, start, gx[:nv]).astype(dtype), gx[nv:].astype(dtype), gu.astype(dtype)

    def shapes(like: Any, *sizes: int) -> tuple[Any, ...]:
        return tuple(jax.ShapeDtypeStruct((n,), like.dtype) for n in sizes)

    def plain(q: Any, v: Any, u: Any) -> Any:
        return jax.pure_callback(run, shapes(q, nq, nv), q, v, u, vmap_method="sequential")

    stepped: Any = jax.custom_vjp(plain)

    def forward(q: Any, v: Any, u: Any) -> tuple[Any, Any]:
        return stepped(q, v, u), (q, v, u)

    def backward(kept: Any, w: Any) -> Any:
        return jax.pure_callback(back, shapes(kept[0], nq, nv, nu), *kept, *w, vmap_method="sequential")

    stepped.defvjp(forward, backward)

    def checked(q: Any, v: Any, u: Any) -> tuple[Any, Any]:
        q, v, u = (jax.numpy.asarray(x) for x in (q, v, u))
        if q.shape != (nq,) or v.shape != (nv,) or u.shape != (nu,):
            raise _core.InvalidInput(f"tribo.jax.step: q, v, u have shapes {q.shape}, {v.shape}, {u.shape}, must have ({nq},), ({nv},), ({nu},)")
        after: tuple[Any, Any] = stepped(q, v, u)
        return after

    return checked
