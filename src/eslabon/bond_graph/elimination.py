"""Linear equations unrolled into the graph, and whether they have a solution at all.

A symmetric positive definite matrix is eliminated on its diagonal, in the order that fills in least
(Markowitz); any other one is factorised by reflections, which need no pivots: no more digits are
lost than its condition takes, whatever the values of the symbols.
"""

from __future__ import annotations

import numpy as np

from eslabon.formulas.linear_solvers import OrthogonalFactors
from eslabon.numerics.scalars import Expression, casadi

SINGULAR = 1e-12  # reciprocal condition number, rows and columns equilibrated, at samples
RANGES = (0.3, 0.7), (-3.0, 3.0), (1.0, 20.0)  # of samples: what is flat on one is not on all


class SingularError(Exception):
    """The matrix is singular whatever the symbols are."""


def solve(A: Expression, b: Expression, definite: bool = False) -> Expression:
    """x with A x = b, for one right-hand side or several.

    >>> a = casadi.SX.sym("a")
    >>> x = solve(casadi.SX([[0, 2], [1, 0]]), casadi.vertcat(a, 3))
    >>> casadi.Function("x", [a], [x])(4)
    DM([3, 2])
    """
    n = A.shape[0]
    if not n:
        return casadi.SX(0, b.shape[1])
    A, b = casadi.sparsify(casadi.SX(A)), casadi.SX(b)
    if is_singular(A):
        raise SingularError
    if n == 1:
        return casadi.sparsify(b / A)
    made: Expression = _eliminated(A, b) if definite else OrthogonalFactors(A).solve(b)
    return casadi.sparsify(made)


def is_singular(A: Expression) -> bool:
    """Whether a square matrix is singular whatever the symbols are: at samples of them, with rows
    and columns of comparable size, so that no unit matters."""
    if casadi.sprank(A) < A.shape[0]:
        return True
    return all(_is_singular(sample(A, 1, *limits)) for limits in RANGES)


def _is_singular(numbers: np.ndarray) -> bool:
    for axis in (1, 0, 1, 0):
        largest = np.abs(numbers).max(axis=axis, keepdims=True)
        if not largest.all():
            return True
        numbers = numbers / np.sqrt(largest)
    sizes = np.linalg.svd(numbers, compute_uv=False)
    return bool(sizes[-1] <= SINGULAR * sizes[0])


def sample(A: Expression, seed: int = 1, low: float = 0.3, high: float = 0.7) -> np.ndarray:
    """The numbers of a matrix for some values of its symbols."""
    free = casadi.symvar(A)
    values = np.random.default_rng(seed).uniform(low, high, len(free))
    f = casadi.Function("sample", free, [A])
    numbers: np.ndarray = np.array(casadi.DM(f.call([casadi.DM(v) for v in values])[0]).full())
    return np.where(np.isfinite(numbers), numbers, 1.0)


def _eliminated(A: Expression, b: Expression) -> Expression:
    """By elimination on the diagonal."""
    n, structure = A.shape[0], np.array(casadi.DM(A.sparsity(), 1).full(), dtype=bool)
    rows = [{j: A[i, j] for j in np.flatnonzero(structure[i]).tolist()} for i in range(n)]
    right = [casadi.SX(b[i, :]) for i in range(n)]
    left, order = set(range(n)), []
    while left:
        i = min(sorted(left), key=lambda k: len(rows[k]))
        left.discard(i)
        order.append(i)
        for k in [k for k in left if i in rows[k]]:
            factor = rows[k].pop(i) / rows[i][i]
            for c in rows[i]:
                if c != i:
                    rows[k][c] = rows[k].get(c, 0) - factor * rows[i][c]
            right[k] = right[k] - factor * right[i]
    x: list[Expression] = [casadi.SX(1, b.shape[1])] * n
    for i in reversed(order):
        rest = right[i]
        for c in rows[i]:
            if c != i:
                rest = rest - rows[i][c] * x[c]
        x[i] = rest / rows[i][i]
    return casadi.vertcat(*x)
