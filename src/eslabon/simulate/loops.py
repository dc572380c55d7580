"""Mechanisms with loops: how a state is kept on them.

The nearest closed state is meant in the metric of the mass matrix, in which putting a state back does the least to its
energy: a step of Newton's method moves the coordinates along M^-1 J^T, and the velocities lose their part across the
loops the same way.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from eslabon.dynamics.equations import mass_matrix
from eslabon.dynamics.massless import stiffening
from eslabon.formulations.factor import Factors, factors
from eslabon.formulations.symbols import SX, lean, product
from eslabon.kinematics.closure import constraint, partition
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import Mechanism

EASE = 1e-12  # of J M^-1 J^T, on its diagonal: where less than that is left, at a singular posture, momentum decides
CORRECTIONS = 2  # of the coordinates with one Jacobian: an error e leaves about e^2, then e^3


def onto(m: Mechanism, q: SX, v: SX) -> tuple[SX, SX]:
    """The closed state next to a symbolic one that is nearly closed."""
    rows = list(partition(m.plain).rows)
    x = casadi.SX.sym("q", m.nq)
    phi, N = casadi.SX(constraint(m, x))[rows], coordinate_rates(m, x)
    J = casadi.mtimes(casadi.jacobian(phi, x), N)
    M = mass_matrix(m, x) + stiffening(m.plain) * casadi.mtimes(J.T, J)
    residual = casadi.Function("residual", [x], [phi])
    pieces = casadi.Function("pieces", [x], [J, M, N])

    def across(q: SX) -> tuple[SX, SX, Factors, SX]:
        """J, M^-1 J^T, the factors of J M^-1 J^T, and N, at a posture."""
        J, M, N = pieces(q)
        W = factors(lean(M)).solve(lean(J.T))
        square = lean(product(J, W))
        return lean(J), W, factors(lean(square + EASE * casadi.trace(square) * casadi.SX.eye(len(rows)))), N

    _, W, solver, N = across(q)
    for _ in range(CORRECTIONS):
        q = q - product(N, W, solver.solve(residual(q)))
    J, W, solver, _ = across(q)
    return q, v - product(W, solver.solve(product(J, v)))


def torn(m: Any, q: np.ndarray) -> np.ndarray:
    """How far the loops are from closing along a motion, (...)."""
    from eslabon.kinematics.assembly import residual

    return residual(m, q)
