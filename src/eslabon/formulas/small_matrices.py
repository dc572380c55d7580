"""Small dense matrices in a graph: orthogonal factors, signs of determinants, singular values.

Neither needs a pivot that depends on numbers, so that lanes of native code do the same; both are as accurate as LAPACK's. The
factors are Householder's; singular values are those of Hestenes' one-sided Jacobi rotations, which make columns orthogonal and
keep small ones as exact as large ones.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

from eslabon.compiler.calls import subroutine
from eslabon.numerics.scalars import Expression, casadi

TINY = 1e-300
UNROLLED = 6  # columns, up to which a sweep of rotations is written out; beyond, a rotation is code of its own
LARGEST = 10  # columns, beyond which LAPACK is as fast


class Triangular(NamedTuple):
    """R of A = Q R, with what becomes of right-hand sides, Q^T B, and the sign of det A of a square A."""

    R: Expression
    right: Expression
    sign: Expression

    def solution(self) -> Expression:
        """X with A X = B, of a square A: by back substitution."""
        n, rows = self.R.shape[1], [casadi.SX()] * self.R.shape[1]
        for i in reversed(range(n)):
            known = sum(
                (self.R[i, j] * rows[j] for j in range(i + 1, n)), casadi.SX(1, self.right.shape[1])
            )
            rows[i] = (self.right[i, :] - known) / self.R[i, i]
        return casadi.vertcat(*rows)


def triangular(A: Expression, B: Expression | None = None) -> Triangular:
    """By Householder's reflections, of a matrix at least as high as wide.

    >>> import casadi
    >>> found = triangular(casadi.SX([[0.0, 2.0], [1.0, 3.0]]), casadi.SX([[4.0], [5.0]]))
    >>> casadi.DM(found.sign), casadi.DM(found.solution())
    (DM(-1), DM([-1, 2]))
    """
    m, n = A.shape
    A, B = casadi.densify(A), casadi.densify(casadi.SX(m, 0) if B is None else B)
    columns = [A[:, j] for j in range(n)] + [B[:, j] for j in range(B.shape[1])]
    sign = casadi.SX(1)
    for k in range(n):
        x = columns[k][k:]
        if x.shape[0] > 1:
            length = casadi.sqrt(casadi.sumsqr(x))
            first = casadi.if_else(x[0] >= 0, -length, length)
            v = casadi.vertcat(x[0] - first, x[1:])
            share = 1 / casadi.fmax(length * (length + casadi.fabs(x[0])), TINY)
            for j in range(k + 1, len(columns)):
                own = columns[j][k:]
                columns[j] = casadi.vertcat(columns[j][:k], own - share * casadi.dot(v, own) * v)
            columns[k] = casadi.vertcat(columns[k][:k], first, casadi.SX.zeros(x.shape[0] - 1))
            sign = -sign
        sign = sign * casadi.sign(columns[k][k])
    R = casadi.horzcat(*(c[:n] for c in columns[:n])) if n else casadi.SX(0, 0)
    right = casadi.horzcat(casadi.SX(n, 0), *(c[:n] for c in columns[n:]))
    return Triangular(R, right, sign)


def extreme_singular_values(A: Expression) -> tuple[Expression, Expression]:
    """The least and the largest singular value of a matrix of full rank in general.

    >>> import casadi
    >>> [round(float(casadi.evalf(x)), 9) for x in extreme_singular_values(casadi.SX([[3.0, 0.0], [4.0, 5.0]]))]
    [2.236067977, 6.708203932]
    """
    R = triangular(A if A.shape[0] >= A.shape[1] else A.T).R
    n = R.shape[1]
    turned = _sweep(n)
    columns = casadi.vec(
        casadi.densify(R.T)
    )  # the transpose of a triangle is nearer to orthogonal columns
    for _ in range(_sweeps(n)):
        columns = turned(columns)
    sizes = [casadi.sumsqr(columns[n * j : n * (j + 1)]) for j in range(n)]
    least, most = sizes[0], sizes[0]
    for x in sizes[1:]:
        least, most = casadi.fmin(least, x), casadi.fmax(most, x)
    return casadi.sqrt(least), casadi.sqrt(most)


def _sweeps(n: int) -> int:
    """After which all columns are orthogonal to round-off."""
    return 0 if n < 2 else 3 if n == 2 else 6 if n <= 4 else 7 if n <= 6 else 8 if n <= 8 else 9


def _sweep(n: int) -> Any:
    """Every pair of columns made orthogonal once."""
    apart = subroutine("rotation", lambda a, b: casadi.vertcat(*_rotated(a, b)), n, n)

    def swept(columns: Expression) -> Expression:
        own = [columns[n * j : n * (j + 1)] for j in range(n)]
        for i, j in combinations(range(n), 2):
            both = (
                _rotated(own[i], own[j])
                if n <= UNROLLED
                else casadi.vertsplit(apart(own[i], own[j]), n)
            )
            own[i], own[j] = both
        return casadi.vertcat(*own)

    return subroutine("sweep", swept, n * n)


def _rotated(a: Expression, b: Expression) -> tuple[Expression, Expression]:
    """Two columns turned in their plane until they are orthogonal."""
    apart, common = casadi.sumsqr(b) - casadi.sumsqr(a), 2 * casadi.dot(a, b)
    tangent = common / (casadi.fabs(apart) + casadi.sqrt(apart**2 + common**2) + TINY)
    tangent = casadi.if_else(apart >= 0, tangent, -tangent)
    cosine = 1 / casadi.sqrt(1 + tangent**2)
    return cosine * (a - tangent * b), cosine * (b + tangent * a)
