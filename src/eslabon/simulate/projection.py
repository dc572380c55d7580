"""The constraint manifold of mechanisms with loops: projection onto it.

The nearest closed state is meant in the metric of the mass matrix, in which a projection does the least to the energy:
a step of Newton's method moves the coordinates along M^-1 J^T, and the velocities lose their part across the constraints
the same way (Hairer, Lubich and Wanner, Geometric Numerical Integration, IV.4).
"""

from __future__ import annotations

from collections.abc import Callable

import casadi
import numpy as np

from eslabon.coordinates.closing import jacobian_at
from eslabon.coordinates.massless import row_sizes, stiffening
from eslabon.coordinates.partition import partition, redundancy_is_constant, retained_rows
from eslabon.dynamics.trees import mass_matrix
from eslabon.formulations.factor import factors
from eslabon.formulations.symbols import SX, symmetric
from eslabon.graph.calls import call
from eslabon.graph.evaluator import Formula, evaluate
from eslabon.graph.native.signature import Argument, Floats
from eslabon.kinematics.closure import equations
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, normalize

REGULAR = 1e-12  # of J M^-1 J^T, on its diagonal: where less than that is left, at a singularity, momentum decides
REDUNDANT = (
    1e-5  # the same where rows are dependent on the manifold but not beside it, where the stages of a step stand
)
CORRECTIONS = 2  # of coordinates and of velocities with one Jacobian: an error e leaves about e^2, then e^3


def regularization(m: Model) -> tuple[float, ...]:
    """What is added to the diagonal of J M^-1 J^T, row by row."""
    sizes, share = row_sizes(m.plain), REGULAR if redundancy_is_constant(m.plain) else REDUNDANT
    return tuple(share * sizes[k] for k in retained_rows(m.plain))


def projected(m: Model, x: SX, corrections: int = CORRECTIONS) -> SX:
    """The state on the constraint manifold next to a symbolic one that is near it; quaternions of unit length.

    The factors of the given state serve all corrections: a correction e of the coordinates changes them by about e, so
    that what is left of an error of the velocities is e times as large after each of theirs.
    """
    q, v = normalize(m, x[: m.nq]), x[m.nq :]
    if not m.closed:
        return casadi.vertcat(q, v)
    at = casadi.SX.sym("q", m.nq)
    phi, J, *_ = equations(m, at, None, retained_rows(m.plain))
    residual = casadi.Function("residual", [at], casadi.cse([phi]))
    closure = casadi.Function("closure", [at], casadi.cse([phi, J]))
    (left, J), N = call(closure, q), coordinate_rates(m, q)
    step = _least_change(m, q, J)
    q = q - N @ step(left)
    for _ in range(corrections - 1):
        q = q - N @ step(call(residual, q))
    J = call(closure, q)[1]
    for _ in range(corrections):
        v = v - step(J @ v)
    return casadi.vertcat(q, v)


def _least_change(m: Model, q: SX, J: SX) -> Callable[[SX], SX]:
    """The least step of the velocities, in the metric of M, that makes a given change of the constraints."""
    tree = factors(mass_matrix(m, q) + stiffening(m.plain) * (J.T @ J))
    across = tree.inward(J.T)
    square = symmetric(across.T @ tree.scaled(across))
    solver = factors(square + casadi.diag(casadi.SX(list(regularization(m)))))
    return lambda change: tree.outward(tree.scaled(across @ solver.solve(change)))


_X = Argument("x", lambda m: (m.nq + m.nv,))
PROJECTED = Formula("projected", projected, (_X,), (_X,), seldom=True)


def project(m: Model, x: Floats) -> Floats:
    """States (..., n) on the constraint manifold; those that are not finite stay so."""
    x = np.concatenate([normalize(m, x[..., : m.nq]), x[..., m.nq :]], axis=-1)
    good = np.isfinite(x).all(axis=-1)
    if m.closed and good.any():
        x[good] = evaluate(m, PROJECTED)(x[good])
    return x


def condition(m: Model, x: Floats) -> float:
    """The reciprocal condition number of the constraints at a state: the least singular value of J against the largest."""
    J = jacobian_at(m, x[: m.nq])
    size = np.linalg.svd(J, compute_uv=False)[: len(partition(m.plain).rows)]
    return float(size[-1] / size[0])
