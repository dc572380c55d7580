"""The terms of the equations of motion as textbooks print them, and the equations in independent coordinates alone.

With loops a tree obeys M v' + h = Q + J^T lambda with Phi = 0 and J v' = gamma. Partitioned velocities (Wehage and Haug)
leave v_e = K v_i + K_t with the velocity coefficients K = -Phi_e^-1 Phi_i (Paul), v_e' = K v_i' + d, and by virtual work
M_r v_i' + h_r = Q_r, in which no multiplier is left (Díaz, eq. 4 corrected).
"""

from __future__ import annotations

from eslabon.formulas.constrained import trees
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.closure import Structure
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi

SMALL = 4  # rows of a matrix up to which Cramer's rule is the shortest solution


def equations_of_motion(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    formulation: str | None = None,
    *,
    structure: Structure | None = None,
) -> list[Expression]:
    """M, h, Q, and of the retained constraint rows Phi, J, gamma and Phi_t."""
    M, h = trees.equations_of_motion(m, q, v, formulation, {})
    rows = structure.rows if structure else ()
    return [M, h, trees.actuation(m, tau), *closure.equations_in_units(m, q, v, rows)]


def independent_rows(
    m: Model, q: Expression, v: Expression, *, structure: Structure
) -> list[Expression]:
    """gamma and Phi_t of the independent rows."""
    return list(closure.equations_in_units(m, q, v, structure.partition.rows)[2:])


def dependent_velocities(
    m: Model,
    q: Expression,
    gamma: Expression,
    rate: Expression | None = None,
    *,
    structure: Structure,
) -> list[Expression]:
    """K, d and K_t for given gamma and Phi_t."""
    p = structure.partition
    J = closure.equations_in_units(m, q, None, p.rows).J
    i, e = list(p.independent), list(p.dependent)
    rate = casadi.SX(len(e), 1) if rate is None else rate
    solved = _solved(J[:, e], casadi.horzcat(-J[:, i], gamma, -rate))
    return casadi.horzsplit(solved, [0, len(i), len(i) + 1, len(i) + 2])


def reduced_equations(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    K: Expression,
    d: Expression,
    formulation: str | None = None,
    *,
    structure: Structure,
) -> list[Expression]:
    """M_r, h_r and Q_r for given velocity coefficients."""
    M, h = trees.equations_of_motion(m, q, v, formulation, {})
    i, e = list(structure.partition.independent), list(structure.partition.dependent)
    Q = trees.actuation(m, tau)
    across = M[i, e] + K.T @ M[e, e]
    reduced = M[i, i] + across @ K + K.T @ M[e, i]
    return [reduced, h[i, :] + K.T @ h[e, :] + across @ d, Q[i, :] + K.T @ Q[e, :]]


def _solved(A: Expression, b: Expression) -> Expression:
    """A^-1 b, by Cramer's rule where that is short."""
    if not 0 < A.shape[0] <= SMALL:
        return casadi.solve(A, b) if A.shape[0] else b
    return casadi.adj(A) @ b / casadi.det(A)
