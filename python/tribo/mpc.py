"""Model-predictive control through contact: iLQR on the derivative of a step.

    plan = tribo.mpc.Mpc(sim, cost, horizon=60)
    plan.solve(30)            # from a cold start
    for _ in range(200):
        plan.iterate()        # one iteration a step: the real-time scheme
        plan.advance()        # the first input acts on sim; the plan moves on by a step

A node is a step of the simulation, its input the torque of every coordinate with a motor, beside what the controllers of
the scene give. The plan is rolled out under the law of contact as it is; where its exact derivative leads no further, the
next iterations go by derivatives of smoothed laws, which feel contacts that are not there yet and look over kinks.
Equations: docs/theory/derivatives.md.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from . import _core
from .simulation import Simulation, check_derivatives

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


class Cost(Protocol):
    """What is to be small. node counts steps since the optimiser was made; u is None at the end of the horizon."""

    def value(self, node: int, q: Array, v: Array, u: Array | None) -> float:
        """The cost of one node."""

    def expand(self, node: int, q: Array, v: Array, u: Array | None) -> tuple[Array, Array, Array, Array]:
        """l_x (2 nv), l_xx (2 nv, 2 nv), l_u (nu), l_uu (nu, nu): its slope and curvature, x in the tangent of q and v.
        The last two are not looked at where u is None."""


def _weights(x: ArrayLike, n: int, name: str) -> Array:
    w = np.broadcast_to(np.asarray(x, dtype=float), (n,)).copy()
    if not np.isfinite(w).all() or (w < 0).any():
        raise _core.InvalidInput(f"{name} must be finite and >= 0")
    return w


class QuadraticCost:
    """Half the weighted squares of q - q_ref (as a velocity), v - v_ref and u.

    q_ref (nq) or a path of them, one row a node, the last of which stays; v_ref likewise. Weights are numbers, or one for
    each entry; those of the end are taken at the last node of the horizon.
    """

    def __init__(self, model: _core.Model, q_ref: ArrayLike, *, v_ref: ArrayLike | None = None, q: ArrayLike = 0.0,
                 v: ArrayLike = 0.0, u: ArrayLike = 1e-3, q_end: ArrayLike | None = None, v_end: ArrayLike | None = None) -> None:
        self._model = model
        self._q_ref = np.atleast_2d(np.asarray(q_ref, dtype=float))
        self._v_ref = np.zeros((1, model.nv)) if v_ref is None else np.atleast_2d(np.asarray(v_ref, dtype=float))
        if self._q_ref.shape[1] != model.nq or self._v_ref.shape[1] != model.nv:
            raise _core.InvalidInput(f"q_ref and v_ref must have {model.nq} and {model.nv} entries a node, they have "
                                     f"{self._q_ref.shape[1]} and {self._v_ref.shape[1]}")
        nv = model.nv
        self._x = np.concatenate([_weights(q, nv, "weights of q"), _weights(v, nv, "weights of v")])
        self._end = np.concatenate([_weights(q if q_end is None else q_end, nv, "weights of q at the end"),
                                    _weights(v if v_end is None else v_end, nv, "weights of v at the end")])
        self._u, self._r = u, np.zeros(0)

    def _error(self, node: int, q: Array, v: Array) -> Array:
        q_ref, v_ref = self._q_ref[min(node, len(self._q_ref) - 1)], self._v_ref[min(node, len(self._v_ref) - 1)]
        return np.concatenate([self._model.difference(q_ref, q), v - v_ref])

    def _of_inputs(self, n: int) -> Array:
        if len(self._r) != n:
            self._r = _weights(self._u, n, "weights of u")
        return self._r

    def value(self, node: int, q: Array, v: Array, u: Array | None) -> float:
        e = self._error(node, q, v)
        if u is None:
            return float(0.5 * e @ (self._end * e))
        return float(0.5 * e @ (self._x * e) + 0.5 * u @ (self._of_inputs(len(u)) * u))

    def expand(self, node: int, q: Array, v: Array, u: Array | None) -> tuple[Array, Array, Array, Array]:
        e = self._error(node, q, v)
        w = self._end if u is None else self._x
        r = np.zeros(0) if u is None else self._of_inputs(len(u))
        return w * e, np.diag(w), np.zeros(0) if u is None else r * u, np.diag(r)


@dataclass
class Iteration:
    """What an iteration did. seconds: CPU time of its parts."""

    cost: float
    step: float  #: share of the step that was taken; 0: none lowers the cost
    seconds: dict[str, float] = field(default_factory=dict)
    smoothing: float = 0.0  #: of the law of contact that was linearised
    differences: int = 0  #: nodes whose derivative was found by differences: each takes as long as some 40 others

    @property
    def share(self) -> float:
        """Of the linearisation in the time."""
        return self.seconds["linearise"] / max(sum(self.seconds.values()), 1e-12)


def spent(iterations: list[Iteration]) -> str:
    """What an iteration took on average, in words."""
    total = sum(sum(i.seconds.values()) for i in iterations) / len(iterations)
    linearise = sum(i.seconds["linearise"] for i in iterations) / len(iterations)
    nodes = sum(i.differences for i in iterations) / len(iterations)
    return f"{1e3 * total:.1f} ms an iteration, linearisation {100 * linearise / total:.0f} % ({nodes:.1f} nodes by differences)"


class Mpc:
    """A receding horizon over one simulation.

    inputs: the plan to begin with (horizon, nu); nothing where none is given. most: largest input, those of the model
    where none is given [N m] or [N]. end: node at which the horizon ends; it recedes until then, and shrinks from there on;
    where none is given it always recedes. differences: linearise by finite differences, to compare. least_gain: where the
    promised lowering of the cost is a smaller share of it, the iteration ends. smoothing: of the laws whose derivatives are
    tried in turn, the next one where an iteration lowers the cost by less than a hundredth.
    """

    def __init__(self, simulation: Simulation, cost: Cost, horizon: int, *, inputs: ArrayLike | None = None,
                 most: ArrayLike | None = None, end: int | None = None, differences: bool = False,
                 least_gain: float = 1e-9, smoothing: Sequence[float] = (0.0, 1e-3, 1e-2)) -> None:
        if horizon < 1:
            raise _core.InvalidInput(f"horizon = {horizon} nodes, must be >= 1")
        self.simulation, self.cost, self.differences = simulation, cost, differences
        self.node, self.end = 0, end
        if end is not None and end < horizon:
            raise _core.InvalidInput(f"the horizon of {horizon} nodes goes beyond the end at {end}")
        if not smoothing or not all(np.isfinite(s) and s >= 0 for s in smoothing):
            raise _core.InvalidInput(f"smoothing = {tuple(smoothing)}, must be numbers >= 0")
        self._least_gain, self._smoothing, self._level = least_gain, tuple(smoothing), 0
        np.asarray(simulation.torque)[:] = 0.0  # also makes the room in which torques act
        self._trial = simulation.fork()
        self.inputs = np.array(self._trial.linearize().inputs, dtype=int)
        if not len(self.inputs):
            raise _core.InvalidInput("no coordinate of the model has a motor: there is nothing to optimise")
        nu = len(self.inputs)
        limit = np.asarray(simulation.model.effort_limit)[self.inputs]
        self._most = limit if most is None else np.minimum(limit, _weights(most, nu, "most"))
        self.u = np.zeros((horizon, nu)) if inputs is None else np.array(inputs, dtype=float)
        if self.u.shape != (horizon, nu) or not np.isfinite(self.u).all():
            raise _core.InvalidInput(f"inputs have shape {self.u.shape}, must be ({horizon}, {nu}) and finite")
        self.states: list[_core.State] = []  #: of the plan, one more than inputs
        self._regularisation = 1e-6

    @property
    def horizon(self) -> int:
        return len(self.u)

    def _set(self, state: _core.State, u: Array) -> None:
        self._trial.state = state
        np.asarray(self._trial.torque)[self.inputs] = u

    def _roll(self, start: _core.State, k: Array | None = None, K: Array | None = None,
              step: float = 0.0) -> tuple[float, list[_core.State], Array]:
        """The plan, or the plan changed by step k + K dx, from a state on. What a trial would warn of is not said."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._rolled(start, k, K, step)

    def _rolled(self, start: _core.State, k: Array | None, K: Array | None, step: float) -> tuple[float, list[_core.State], Array]:
        trial, nv, cost = self._trial, self._trial.model.nv, 0.0
        states, u = [], np.empty_like(self.u)
        trial.state = start
        torque = np.asarray(trial.torque)
        for t in range(self.horizon):
            states.append(trial.state)
            q, v = np.array(trial.q), np.array(trial.v)
            u[t] = self.u[t]
            if k is not None and K is not None:
                dx = np.empty(2 * nv)
                dx[:nv] = trial.model.difference(np.array(self.states[t].q), q)
                dx[nv:] = v - self.states[t].v
                u[t] += step * k[t] + K[t] @ dx
            u[t] = np.minimum(np.maximum(u[t], -self._most), self._most)
            cost += self.cost.value(self.node + t, q, v, u[t])
            torque[self.inputs] = u[t]
            report = trial.step()
            if report.status in (_core.StepStatus.NotFinite, _core.StepStatus.Stopped):
                return np.inf, states, u
        states.append(trial.state)
        return cost + self.cost.value(self.node + self.horizon, np.array(trial.q), np.array(trial.v), None), states, u

    def _linearise(self) -> tuple[Array, Array, int]:
        n, m, slow = 2 * self._trial.model.nv, len(self.inputs), 0
        A, B = np.empty((self.horizon, n, n)), np.empty((self.horizon, n, m))
        for t in range(self.horizon):
            self._set(self.states[t], self.u[t])
            if self.differences:
                lin = check_derivatives(self._trial).differences
            else:
                lin = self._trial.linearize(smoothing=self._smoothing[self._level])
            A[t], B[t] = lin.A, lin.B
            slow += lin.method == "differences"
        return A, B, slow

    def _expand(self) -> tuple[Array, Array, Array, Array]:
        T, n, m = self.horizon, 2 * self._trial.model.nv, len(self.inputs)
        l_x, l_xx, l_u, l_uu = np.empty((T + 1, n)), np.empty((T + 1, n, n)), np.empty((T, m)), np.empty((T, m, m))
        for t, state in enumerate(self.states):
            last = t == T
            parts = self.cost.expand(self.node + t, np.array(state.q), np.array(state.v), None if last else self.u[t])
            l_x[t], l_xx[t] = parts[:2]
            if not last:
                l_u[t], l_uu[t] = parts[2:]
        return l_x, l_xx, l_u, l_uu

    def iterate(self) -> Iteration:
        """Linearises the plan from where the simulation is, and lowers its cost by one Newton step with a line search."""
        clock = time.process_time
        start = clock()
        cost, self.states, self.u = self._roll(self.simulation.state)
        done = Iteration(cost, 0.0, {"roll": clock() - start}, self._smoothing[self._level])
        if not np.isfinite(cost):
            raise _core.InvalidInput("the plan cannot be simulated: begin with smaller inputs")
        start = clock()
        A, B, done.differences = self._linearise()
        done.seconds["linearise"] = clock() - start
        start = clock()
        expansion = self._expand()
        done.seconds["backward"] = clock() - start
        self._descend(A, B, expansion, done)
        if cost - done.cost < 0.01 * cost:
            self._level = (self._level + 1) % len(self._smoothing)
            self._regularisation = min(self._regularisation, 1e-3)
        return done

    def _descend(self, A: Array, B: Array, expansion: tuple[Array, Array, Array, Array], done: Iteration) -> None:
        clock, cost = time.process_time, done.cost
        for _ in range(1 if done.smoothing else 3):
            start = clock()
            found = _core._backward_pass(A, B, *expansion, self._regularisation)
            done.seconds["backward"] += clock() - start
            if found is not None:
                K, k, expected = found
                if -expected <= self._least_gain * cost:
                    return
                start = clock()
                step = self._search(np.asarray(K).reshape(self.horizon, len(self.inputs), -1), np.asarray(k), done)
                done.seconds["roll"] += clock() - start
                if step:
                    self._regularisation = max(self._regularisation / 5, 1e-8)
                    return
            self._regularisation = min(10 * self._regularisation, 1e3)

    def _search(self, K: Array, k: Array, done: Iteration) -> bool:
        for step in (1.0, 0.5, 0.25, 0.125, 0.06, 0.03, 0.01):
            cost, states, u = self._roll(self.states[0], k, K, step)
            if cost < done.cost:
                done.cost, done.step, self.states, self.u = cost, step, states, u
                return True
        return False

    def solve(self, iterations: int = 50, *, tolerance: float = 1e-4) -> list[Iteration]:
        """Iterates until the cost falls by a smaller share than the tolerance, under every smoothing and three times in a row at least."""
        made: list[Iteration] = []
        slow = 0
        for _ in range(iterations):
            made.append(self.iterate())
            slow = slow + 1 if len(made) > 1 and made[-2].cost - made[-1].cost < tolerance * made[-2].cost else 0
            if slow > max(2, len(self._smoothing)):
                break
        return made

    def advance(self) -> _core.StepReport:
        """The first input of the plan acts on the simulation for a step; the plan moves on, its last input is repeated."""
        if not self.horizon:
            raise _core.InvalidInput(f"the plan has come to its end, node {self.end}")
        np.asarray(self.simulation.torque)[self.inputs] = self.u[0]
        report = self.simulation.step()
        self.node += 1
        shrinks = self.end is not None and self.node + self.horizon > self.end
        self.u = self.u[1:] if shrinks else np.vstack([self.u[1:], self.u[-1:]])
        return report
