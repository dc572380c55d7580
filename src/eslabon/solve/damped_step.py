"""One step of damped least squares as a graph, for whatever equations: see `eslabon.numerics.least_squares`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from eslabon.model import Joint, Model
from eslabon.model.configuration import coordinate_velocities, normalize
from eslabon.numerics.scalars import casadi
from eslabon.solve.ranges import TURN

LEAST_DAMPING = 1e-13  # keeps the factorisation regular at singular configurations; too small to slow the others


class Stepped(NamedTuple):
    """The configuration after the step, the error |r|^2 before it, the velocities of the step, and the pivots of the
    normal equations."""

    q: Any
    error: Any
    velocities: Any
    pivots: Any


def damped_step(
    m: Model, q: Any, r: Any, J: Any, damping: Any, lower: Any, upper: Any, moving: Sequence[int]
) -> Stepped:  # fmt: skip
    """(J^T J + mu 1) s = -J^T r over the velocities `moving` that no limit holds; no joint turns more than a radian."""
    limited = [joint for joint in m.joints if joint.limits is not None and lower is not None]
    moving, error = list(moving), casadi.sumsqr(r)
    v, pivots = casadi.SX.zeros(m.nv), casadi.SX.ones(1)
    if moving and J.shape[0]:
        J = casadi.mtimes(
            J[:, moving],
            casadi.diag(_released(m, limited, q, casadi.mtimes(J.T, r), lower, upper)[moving]),
        )
        damped = Damped(J, damping * error + LEAST_DAMPING)
        s, pivots = -damped.solve(r), damped.pivots
        v[moving] = s / casadi.fmax(1.0, casadi.mmax(casadi.fabs(s)))
    after = casadi.SX(q) + coordinate_velocities(m, q, v) if m.nv else casadi.SX(q)
    for joint in limited:
        place = m.coordinates[joint.name]
        after[place] = _within(joint, after[place], lower[place], upper[place])
    return Stepped(normalize(m, after), error, v, pivots)


def _released(m: Model, limited: list[Joint], q: Any, gradient: Any, lower: Any, upper: Any) -> Any:
    """For each velocity 0 where the joint stands at a limit and would have to go beyond it, else 1."""
    free = casadi.SX.ones(m.nv)
    for joint in limited:
        for i, k in zip(
            range(m.nv)[m.velocities[joint.name]],
            range(m.nq)[m.coordinates[joint.name]],
            strict=True,
        ):
            low = casadi.logic_and(q[k] <= lower[k], gradient[i] > 0)
            high = casadi.logic_and(q[k] >= upper[k], gradient[i] < 0)
            free[i] = casadi.logic_not(casadi.logic_or(low, high))
    return free


class Damped:
    """The factors of J^T J + mu 1, or of J J^T + mu 1 where that is smaller."""

    def __init__(self, J: Any, mu: Any) -> None:
        self.J, self.tall = casadi.sparsify(J), J.shape[1] <= J.shape[0]
        A = casadi.mtimes(self.J.T, self.J) if self.tall else casadi.mtimes(self.J, self.J.T)
        self.pivots, *self._factors = casadi.ldl(A + mu * casadi.SX.eye(min(J.shape)), False)

    def solve(self, b: Any) -> Any:
        """(J^T J + mu 1)^-1 J^T b, the same as J^T (J J^T + mu 1)^-1 b."""
        if self.tall:
            return casadi.ldl_solve(casadi.mtimes(self.J.T, b), self.pivots, *self._factors)
        return casadi.mtimes(self.J.T, casadi.ldl_solve(b, self.pivots, *self._factors))

    def solve_exactly(self, b: Any) -> Any:
        """J^+ b: a second step takes back what the damping changes."""
        x = self.solve(b)
        return x + self.solve(b - casadi.mtimes(self.J, x))


def _within(joint: Joint, new: Any, low: Any, high: Any) -> Any:
    """New coordinates brought back by a whole turn where that leads within the limits, else to the limit."""
    whole = np.array([TURN if c.periodic else 0.0 for c in joint.kind.coordinates])
    new = casadi.if_else(casadi.logic_and(new > high, new - whole >= low), new - whole, new)
    new = casadi.if_else(casadi.logic_and(new < low, new + whole <= high), new + whole, new)
    return casadi.fmin(casadi.fmax(new, low), high)
