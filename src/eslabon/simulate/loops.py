"""Mechanisms with loops: how a state is kept on them.

The nearest closed state is meant in the metric of the mass matrix, in which putting a state back does the least to its
energy: a step of Newton's method moves the coordinates along M^-1 J^T, and the velocities lose their part across the
loops the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi
import numpy as np

from eslabon.dynamics.equations import mass_matrix
from eslabon.dynamics.massless import row_sizes, stiffening
from eslabon.formulations.factor import factors
from eslabon.formulations.symbols import SX, lean, product, symmetric
from eslabon.kinematics.closure import equations, partition, serving_rows, steady
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import Mechanism

EASE = 1e-12  # of J M^-1 J^T, on its diagonal: where less than that is left, at a singular posture, momentum decides
UNSTEADY = 1e-5  # the same where rows are dependent on the loops but not beside them, where the stages of a step stand
NEAR = 0.6  # rad or m between two rows of a motion that can be compared
CORRECTIONS = 2  # of the coordinates with one Jacobian: an error e leaves about e^2, then e^3


def ease(m: Mechanism) -> tuple[float, ...]:
    """What is added to the diagonal of J M^-1 J^T, row by row."""
    sizes, share = row_sizes(m.plain), EASE if steady(m.plain) else UNSTEADY
    return tuple(share * sizes[k] for k in serving_rows(m.plain))


def onto(m: Mechanism, q: SX, v: SX) -> tuple[SX, SX]:
    """The closed state next to a symbolic one that is nearly closed."""
    rows, x = serving_rows(m.plain), casadi.SX.sym("q", m.nq)
    phi, J, _ = equations(m, x, casadi.SX.zeros(m.nv), rows)
    M = mass_matrix(m, x) + stiffening(m.plain) * casadi.mtimes(J.T, J)
    residual = casadi.Function("residual", [x], [phi])
    pieces = casadi.Function("pieces", [x], [J, M, coordinate_rates(m, x)])

    def across(q: SX) -> tuple[SX, Callable[[SX], SX], SX]:
        """J, the least step of the velocities (in the metric of M) that makes a given change of the constraints, and N."""
        J, M, N = pieces(q)
        tree = factors(lean(M))
        inward = tree.inward(lean(J.T))
        square = symmetric(product(inward.T, tree.scaled(inward)))
        solver = factors(lean(square + casadi.diag(casadi.SX(list(ease(m))))))
        return lean(J), lambda change: tree.outward(tree.scaled(product(inward, solver.solve(change)))), N

    _, step, N = across(q)
    for _ in range(CORRECTIONS):
        q = q - product(N, step(residual(q)))
    J, step, _ = across(q)
    return q, v - step(product(J, v))


def crossings(m: Any, q: np.ndarray) -> np.ndarray:
    """Between which of the rows (..., rows, nq) of a motion the loops lose a constraint for an instant, (..., rows - 1).

    There a singular value of J goes through zero: on the other side the directions that J = U S V^T takes for its rows,
    P = U V^T, are turned over, and P_k P_k+1^T, else near one, has an eigenvalue near -1. Rows far apart say nothing.
    """
    J, rank = m.constraint_jacobian(q), len(partition(m).rows)
    good = np.isfinite(J).all(axis=(-1, -2))
    U, _, V = np.linalg.svd(np.where(good[..., None, None], J, 0.0), full_matrices=False)
    P = U[..., :rank] @ V[..., :rank, :]
    turn = P[..., :-1, :, :] @ np.swapaxes(P[..., 1:, :, :], -1, -2)
    least = np.linalg.eigvalsh(turn + np.swapaxes(turn, -1, -2))[..., 0] / 2
    near = np.abs(np.diff(q, axis=-2)).max(axis=-1) < NEAR
    return (least < -0.5) & near & good[..., 1:] & good[..., :-1]
