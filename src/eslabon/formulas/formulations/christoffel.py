"""The Coriolis matrix that belongs to any mass matrix: Christoffel's symbols, also in
quasi-velocities.

With coordinates that change by q' = N(q) v the columns X_j of N are vector fields, and

    2 C_kj = sum_i v_i (X_i M_jk + X_j M_ki - X_k M_ij
                        + <[X_i, X_j], X_k> - <[X_i, X_k], X_j> - <[X_j, X_k], X_i>)

(Koszul's formula), where <X_i, X_j> = M_ij. The brackets vanish where velocities are the rates of
coordinates, which leaves the symbols of Christoffel. C + C^T = dM/dt, so that dM/dt - 2 C is skew.
"""

from __future__ import annotations

from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.kinematics.tree import coordinate_rates
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi


def christoffel_matrix(m: Model, q: Expression, v: Expression, M: Expression) -> Expression:
    """C(q, v) of a mass matrix M(q) of the symbols q."""
    n, N = m.nv, casadi.SX(coordinate_rates(m, q))
    entries = casadi.vec(casadi.densify(M))
    slopes = [casadi.reshape(casadi.jtimes(entries, q, N[:, k]), n, n) for k in range(n)]
    C = zeros(n, n)
    for k, slope in enumerate(slopes):
        C += slope * v[k] / 2
    columns = casadi.horzcat(zeros(n, 0), *(slope @ v for slope in slopes))
    C += (columns - columns.T) / 2
    if any(joint.kind.has_quaternion for joint in m.joints):
        C += _brackets(q, v, M, N)
    return C


def _brackets(q: Expression, v: Expression, M: Expression, N: Expression) -> Expression:
    """What the brackets of the columns of N add: with A_lj = sum_i v_i [X_i, X_j]_l and the momenta
    p = M v, half of M A - A^T M - B, B_kj = p . [X_j, X_k]."""
    back = casadi.diag(1 / casadi.sum1(N * N).T) @ N.T  # N^+, since the columns are orthogonal
    along = casadi.densify(N @ v)
    rates = casadi.reshape(casadi.jtimes(casadi.vec(casadi.densify(N)), q, along), *N.shape)
    A = back @ (rates - casadi.jacobian(along, q) @ N)
    s = casadi.SX.sym("s", q.numel())
    slopes = casadi.jacobian(casadi.densify(N.T @ s), q) @ N
    slopes = casadi.substitute(slopes, s, casadi.densify(back.T @ (M @ v)))
    return (M @ A - A.T @ M - (slopes - slopes.T)) / 2
