"""Singular configurations that a motion passes, where branches of the loops meet: looked for between the integrator's own
steps, whatever is reported."""

from __future__ import annotations

import math
from typing import Any

import casadi
import numpy as np

from eslabon.arguments import Floats
from eslabon.coordinates.closing import jacobian_at
from eslabon.coordinates.partition import partition
from eslabon.formulations.factor import factors
from eslabon.formulations.symbols import SX, symmetric
from eslabon.graph.calls import call
from eslabon.graph.evaluator import Formula, evaluate
from eslabon.graph.native.signature import Argument
from eslabon.kinematics.closure import equations
from eslabon.model import Model
from eslabon.model.configuration import coordinate_velocities

NEAR = 0.3  # rad or m between two configurations of which the constraints can be compared
FINE = 0.02  # the same where they seem to have turned over: a singular configuration nearer than half of it counts as passed
BLOCK = 256  # steps that are looked at together


def turn(m: Model, before: SX, after: SX) -> SX:
    """Less than zero if the loops seem to have lost a constraint for an instant between two near configurations.

    Orthonormal rows that span those of J, by the pivots of J J^T, are D^-1/2 L^-T J. The row whose pivot goes through zero
    is turned over: this is the least scalar product of a row with itself after the step.
    """
    q = casadi.SX.sym("q", m.nq)
    _, J, _ = equations(m, q, casadi.SX.zeros(m.nv), partition(m.plain).rows)
    rows: Any = casadi.cse([factors(symmetric(J @ J.T)).inward(J)])
    across = casadi.Function("across", [q], rows)
    return casadi.mmin(casadi.vertcat(1, casadi.sum2(call(across, before) * call(across, after))))


TURN = Formula(
    "turn", turn, (Argument("before", lambda m: (m.nq,)), Argument("after", lambda m: (m.nq,))), (Argument("turn", ()),),
    seldom=True,
)  # fmt: skip


class Passages:
    """When the trajectories of a run first passed a singular configuration: `first` is (...,), infinite where they did not.

    States come step by step with `add`, or many at once with `look`.
    """

    def __init__(self, m: Model, wanted: bool, batch: tuple[int, ...] = ()) -> None:
        self._m, self._steps = m, list[tuple[float, Floats]]()
        self.wanted = wanted and m.closed
        self.first = np.full(batch, np.inf)

    def add(self, t: float, x: Floats) -> None:
        """The state after one more step, kept until there are enough to look at."""
        if self.wanted:
            self._steps.append((t, x))
            if len(self._steps) > BLOCK:
                self.finish()

    def finish(self) -> None:
        """Look at what was added."""
        if len(self._steps) > 1:
            t, x = zip(*self._steps, strict=True)
            self.look(np.array(t), np.stack(x, axis=-2))
            del self._steps[:-1]

    def look(self, t: Floats, x: Floats, threads: int | None = None) -> None:
        """Look at the states (..., steps, n) at times (steps,), each a step after the one before."""
        q = x[..., : self._m.nq]
        suspect = np.abs(np.diff(q, axis=-2)).max(axis=-1) > NEAR
        suspect |= evaluate(self._m, TURN)(q[..., :-1, :], q[..., 1:, :], threads=threads) < 0
        for *trajectory, k in np.argwhere(suspect):
            place = tuple(trajectory)
            if self.first[place] == np.inf:
                self.first[place] = self._passage(t[k : k + 2], x[place][k : k + 2])

    def _passage(self, t: Floats, x: Floats) -> float:
        """When a singular configuration is passed in one step: between the ends the motion is nearly a cubic."""
        from scipy.interpolate import CubicHermiteSpline

        m, q = self._m, x[:, : self._m.nq]
        parts = math.ceil(max(1.0, np.abs(q[1] - q[0]).max() / FINE))
        times = np.linspace(t[0], t[1], parts + 1)
        between = CubicHermiteSpline(t, q, coordinate_velocities(m, q, x[:, m.nq :]))(times)
        turned = _turned(m, between)
        return float(times[turned.argmax()]) if turned.any() else np.inf


def _turned(m: Model, q: Floats) -> Floats:
    """Between which of the configurations (rows, nq) a singular value of J goes through zero.

    On the other side the directions that J = U S V^T takes for its rows, P = U V^T, are turned over, and P P'^T, else near
    one, has an eigenvalue near -1. Of redundant rows only the rank counts.
    """
    U, _, V = np.linalg.svd(jacobian_at(m, q), full_matrices=False)
    rank = len(partition(m.plain).rows)
    P = U[..., :rank] @ V[..., :rank, :]
    change = P[:-1] @ np.swapaxes(P[1:], -1, -2)
    least = np.linalg.eigvalsh(change + np.swapaxes(change, -1, -2))[..., 0] / 2
    return np.asarray(least < -0.5)
