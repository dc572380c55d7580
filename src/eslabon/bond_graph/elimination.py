"""Linear equations unrolled into the graph: sparse elimination with pivots chosen at a sample of the symbols.

What is zero by structure stays so. A pivot must be large enough at the sample, on the diagonal where one is, and among
those the one that fills in least is taken (Markowitz).
"""

from __future__ import annotations

import numpy as np

from eslabon.numerics.scalars import Expression, casadi

THRESHOLD = 1e-3  # of the largest entry in its row, for a pivot
SINGULAR = 1e-12


class SingularError(Exception):
    """The matrix is singular whatever the symbols are."""


def solve(A: Expression, b: Expression, definite: bool = False) -> Expression:
    """x with A x = b, for one right-hand side or several; pivots of a definite matrix may be any on the diagonal.

    >>> a = casadi.SX.sym("a")
    >>> solve(casadi.SX([[0, 2], [1, 0]]), casadi.vertcat(a, 3))
    SX([3, (a/2)])
    """
    n = A.shape[0]
    numbers = sample(A)
    rows = [
        {j: casadi.SX(A[i, j]) for j in np.flatnonzero(_structure(A)[i]).tolist()} for i in range(n)
    ]
    right = [casadi.SX(b[i, :]) for i in range(n)]
    open_rows, open_columns, order = set(range(n)), set(range(n)), []
    scale = np.abs(np.diag(numbers)) if definite else np.full(n, np.abs(numbers).max(initial=0.0))
    for _ in range(n):
        i, j = _pivot(numbers, rows, open_rows, open_columns, scale, definite)
        open_rows.discard(i)
        open_columns.discard(j)
        order.append((i, j))
        for k in [k for k in open_rows if j in rows[k]]:
            factor, numeric = rows[k].pop(j) / rows[i][j], numbers[k, j] / numbers[i, j]
            for c in rows[i]:
                if c != j:
                    rows[k][c] = rows[k].get(c, 0) - factor * rows[i][c]
            right[k] = right[k] - factor * right[i]
            numbers[k] -= numeric * numbers[i]
            numbers[k, j] = 0.0
    x: list[Expression] = [casadi.SX(1, b.shape[1])] * n
    for i, j in reversed(order):
        rest = right[i]
        for c in rows[i]:
            if c != j:
                rest = rest - rows[i][c] * x[c]
        x[j] = rest / rows[i][j]
    return casadi.sparsify(casadi.vertcat(casadi.SX(0, b.shape[1]), *x))


def _structure(A: Expression) -> np.ndarray:
    """Where a matrix is not zero by structure."""
    made: np.ndarray = np.array(casadi.DM(A.sparsity(), 1).full(), dtype=bool)
    return made


def sample(A: Expression, seed: int = 1) -> np.ndarray:
    """The numbers of a matrix for some values of its symbols."""
    free = casadi.symvar(A)
    values = np.random.default_rng(seed).uniform(0.3, 0.7, len(free))
    f = casadi.Function("sample", free, [A])
    numbers: np.ndarray = np.array(casadi.DM(f.call([casadi.DM(v) for v in values])[0]).full())
    return np.where(np.isfinite(numbers), numbers, 1.0)


def _pivot(
    numbers: np.ndarray,
    rows: list[dict[int, Expression]],
    open_rows: set[int],
    open_columns: set[int],
    scale: np.ndarray,
    definite: bool,
) -> tuple[int, int]:
    """The next place to eliminate from."""
    counts = {c: sum(c in rows[i] for i in open_rows) for c in open_columns}
    best, found = (2, 0, 0.0), None
    for i in sorted(open_rows):
        own = [c for c in rows[i] if c in open_columns]
        largest = max((abs(numbers[i, c]) for c in own), default=0.0)
        for c in own if not definite else [c for c in own if c == i]:
            if abs(numbers[i, c]) > max(
                0.0 if definite else THRESHOLD * largest, SINGULAR * scale[i]
            ):
                cost = (i != c, (len(own) - 1) * (counts[c] - 1), -abs(numbers[i, c]))
                if found is None or cost < best:
                    best, found = cost, (i, c)
    if found is None:
        raise SingularError
    return found
