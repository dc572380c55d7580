"""Factors of matrices, unrolled into the graph: of a mass matrix, and of one that has no symmetry.

M = L^T D L with L of unit lower triangle, eliminated from the last velocity to the first: on a tree
numbered from the ground outward this order makes no new entries (Featherstone), and a positive
definite M needs no pivoting. Each pivot is inverted once. Other matrices are factorised by
reflections, which need no pivoting either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from eslabon.compiler import operators
from eslabon.formulas.kinematics.symbols import constant, zeros
from eslabon.numerics.scalars import Array, Expression, casadi, is_symbolic

# Entries of a factor times right-hand sides, from which on loops in native code are faster than
# unrolled code.
MANY = 3000
# the same, up to which a loop is slower than straight code even where others are loops: a column
# alone, mostly
SHORT = 400
# rows of a matrix up to which its inverse is cheaper than solving for more sides than it has rows
FEW = 6


@dataclass(frozen=True)
class Factors:
    """The rows of L left of the diagonal, the inverses of D, and the diagonal of M."""

    rows: list[Expression]
    inverse: list[Expression]
    diagonal: list[Expression]

    def solve(self, b: Expression) -> Expression:
        """x with M x = b, for one right-hand side or several."""
        return self.outward(self.over_pivots(self.inward(b)))

    def solve_negative(self, b: Expression) -> Expression:
        """x with M x = -b."""
        return self.solve(-b)

    def inward(self, b: Expression) -> Expression:
        """L^-T b: only the ancestors of what b has become new entries."""
        x = constant(b)
        for k in reversed(range(len(self.rows))):
            x[:k, :] -= self.rows[k] @ x[k, :]
        return x

    def over_pivots(self, b: Expression) -> Expression:
        """D^-1 b."""
        return casadi.vertcat(
            zeros(0, b.shape[1]), *(b[k, :] * pivot for k, pivot in enumerate(self.inverse))
        )

    def outward(self, b: Expression) -> Expression:
        """L^-1 b."""
        x = casadi.SX(b)
        for k in range(len(self.rows)):
            x[k, :] -= self.rows[k].T @ x[:k, :]
        return x

    def unit_energy(self) -> Expression:
        """w = L^-1 D^-1/2 (1, ..., 1), for which w^T M w = n: long where some motion has next to no
        inertia."""
        return self.outward(_roots(self.inverse))

    def pivot_condition(self, floor: Sequence[float] = ()) -> Expression:
        return pivot_condition(self.inverse, self.diagonal, floor)

    def condition(
        self, floor: Sequence[float] = (), sizes: Sequence[Expression] | None = None
    ) -> Expression:
        return condition(self.unit_energy(), self.diagonal if sizes is None else sizes, floor)


@dataclass(frozen=True)
class LoopFactors:
    """The same factors, packed, computed and used by loops in native code
    (`compiler.operators`)."""

    rows: operators.Rows
    packed: Expression
    diagonal: list[Expression]

    def solve(self, b: Expression) -> Expression:
        """x with M x = b, for one right-hand side or several."""
        return self._solve(b, negative=False)

    def solve_negative(self, b: Expression) -> Expression:
        """x with M x = -b."""
        return self._solve(b, negative=True)

    def _solve(self, b: Expression, negative: bool) -> Expression:
        if self.rows.size * b.shape[1] > SHORT:
            return operators.solved(self.rows, self.packed, b, negative)
        f = operators.MatrixOperator("solve", self.rows, b.shape[1], negative)
        return f.expressions(self.packed, casadi.densify(b))[0]

    @property
    def inverse(self) -> list[Expression]:
        return operators.inverse_pivots(self.rows, self.packed)

    def unit_energy(self) -> Expression:
        """w = L^-1 D^-1/2 (1, ..., 1), for which w^T M w = n, as in `Factors`."""
        x: list[Expression] = casadi.vertsplit(_roots(self.inverse))
        for k, row in enumerate(self.rows.columns):
            for a, i in enumerate(row[:-1]):
                x[k] = x[k] - self.packed[self.rows.starts[k] + a] * x[i]
        return casadi.vertcat(zeros(0), *x)

    def pivot_condition(self, floor: Sequence[float] = ()) -> Expression:
        return pivot_condition(self.inverse, self.diagonal, floor)

    def condition(
        self, floor: Sequence[float] = (), sizes: Sequence[Expression] | None = None
    ) -> Expression:
        return condition(self.unit_energy(), self.diagonal if sizes is None else sizes, floor)


def _roots(inverse: Sequence[Expression]) -> Expression:
    """D^-1/2: NaN for a pivot of the wrong sign, which is round-off of a singular matrix."""
    return casadi.vertcat(zeros(0), *(casadi.sqrt(x) for x in inverse))


def condition(w: Expression, sizes: Sequence[Expression], floor: Sequence[float]) -> Expression:
    """w^T M w / sum (size_k + floor_k) w_k^2 for the w of `unit_energy`: one where M is diagonal,
    round-off or NaN where it is singular.

    Sizes are those of the terms that were added up to the diagonal of M, which make the quotient
    independent of units; it is at least the smallest eigenvalue of the M so scaled. A pivot alone
    would not do: the smallest one of a singular M is round-off divided by the square of the
    smallest component of the motion without inertia, up to 1e-8. `floor` is what counts as nothing,
    for entries that are zero but for round-off.
    """
    n = len(sizes)
    if not n:
        return casadi.SX(1)
    terms = (
        (d + x) * w[k] ** 2 for k, (d, x) in enumerate(zip(sizes, floor or [0.0] * n, strict=True))
    )
    return n / sum(terms, casadi.SX(0))


def pivot_condition(
    inverse: Sequence[Expression], diagonal: Sequence[Expression], floor: Sequence[float]
) -> Expression:
    """n / sum (M_kk + floor_k) / D_k: one where M is diagonal, small where a motion has little
    inertia of its own.

    A pivot D_k, measured by its own diagonal entry, is what is left of a motion's inertia when all
    motions farther out follow as they like; no choice of units changes it. For trees, whose forward
    dynamics it makes no longer. It is an upper bound: round-off where the motion without inertia
    moves the innermost of its joints as much as the others, as two axes that coincide do; larger
    the less that joint takes part.
    """
    if not inverse:
        return casadi.SX(1)
    least = floor or [0.0] * len(inverse)
    parts = [(d + x) * pivot for d, x, pivot in zip(diagonal, least, inverse, strict=True)]
    return len(parts) / sum((casadi.fabs(x) for x in parts), casadi.SX(0))


def factors(M: Expression) -> Factors:
    """Factorise a symmetric positive definite matrix."""
    n = M.shape[0]
    rest: Expression = casadi.triu(constant(M))
    rows, inverse = [zeros(0)] * n, [zeros(1)] * n
    diagonal = [rest[k, k] for k in range(n)]
    for k in reversed(range(n)):
        column = rest[:k, k]
        inverse[k] = 1 / rest[k, k]
        rows[k] = column * inverse[k]
        rest = casadi.triu(rest[:k, :k] - rows[k] @ column.T)
    return Factors(rows, inverse, diagonal)


def loop_factors(M: Expression) -> LoopFactors:
    """The same for native loops; where eliminating makes new entries, all are there."""
    rows = operators.lower(M)
    if not operators.closed(rows):
        rows = operators.lower(casadi.SX.ones(*M.shape))
    return LoopFactors(rows, operators.factored(rows, M), [M[k, k] for k in range(M.shape[0])])


def factors_for(M: Expression, columns: int) -> Factors | LoopFactors:
    """Factors that are best for so many right-hand sides."""
    return loop_factors(M) if operators.lower(M).size * columns > MANY else factors(M)


@dataclass(frozen=True)
class Reflection:
    """1 - scale w w^T, w = [1; tail], of some rows."""

    rows: list[int]
    tail: Expression
    scale: Expression

    def apply(self, b: Expression) -> Expression:
        """The product with b, whose entries in these rows it changes, for each column that has
        one."""
        return self.among(self.rows, b)

    def among(self, rows: Sequence[int], b: Expression) -> Expression:
        """The same where the rows stand in other places."""
        first, others = list(rows[:1]), list(rows[1:])
        top, below, made = b[first, :], b[others, :], casadi.SX(b)
        step = self.scale * (top + self.tail.T @ below)
        made[first, :], made[others, :] = top - step, below - self.tail @ step
        return made


@dataclass(frozen=True)
class Pivot:
    """A row of R: its place, its column with the inverse of the entry there, and the columns that
    come later with theirs."""

    row: int
    column: int
    inverse: Expression
    later: list[int]
    entries: Expression


class OrthogonalFactors:
    """A = Q R of a matrix with at least as many rows as columns, by Householder's reflections.

    The columns with entries in the fewest rows come first, so that each reflection changes few
    rows. Their order follows from the pattern and never from numbers. There is no pivoting: no more
    digits are lost than the condition number of A takes. Rows in excess are met by least squares.

    >>> A, b = casadi.SX.sym("A", 3, 3), casadi.SX.sym("b", 3)
    >>> f = casadi.Function("f", [A, b], [OrthogonalFactors(A).solve(b)])
    >>> f(casadi.DM([[0, 1, 0], [0, 0, 2], [4, 0, 0]]), casadi.DM([1, 2, 3]))
    DM([0.75, 1, 1])
    """

    def __init__(self, A: Expression) -> None:
        self.A = constant(A)
        self.reflections: list[Reflection] = []
        self.pivots: list[Pivot] = []
        rest, rows, columns = self.A, list(range(A.shape[0])), list(range(A.shape[1]))
        while columns:
            k, own = _column_of_fewest_rows(rest)
            x, rest = rest[own, k], rest[:, [j for j in range(len(columns)) if j != k]]
            inverse = 1 / casadi.densify(x)
            if len(own) > 1:
                reflection, inverse = _reflection([rows[i] for i in own], x)
                rest = reflection.among(own, rest)
                self.reflections.append(reflection)
            column, top = columns.pop(k), rest[own[0], :]
            places = top.sparsity().get_col()
            self.pivots.append(
                Pivot(
                    rows.pop(own[0]), column, inverse, [columns[j] for j in places], top[:, places]
                )
            )
            rest = rest[[i for i in range(len(rows) + 1) if i != own[0]], :]

    def solve(self, b: Expression) -> Expression:
        """A x = b, for one right-hand side or several."""
        y = casadi.SX(b)
        for reflection in self.reflections:
            y = reflection.apply(y)
        x = zeros(self.A.shape[1], b.shape[1])
        for pivot in reversed(self.pivots):
            x[pivot.column, :] = pivot.inverse * (
                y[pivot.row, :] - pivot.entries @ x[pivot.later, :]
            )
        return x

    def solve_transposed(self, b: Expression) -> Expression:
        """A^T x = b; the least x, where A has rows in excess."""
        left, x = casadi.SX(b), zeros(self.A.shape[0], b.shape[1])
        for pivot in self.pivots:
            x[pivot.row, :] = pivot.inverse * left[pivot.column, :]
            left[pivot.later, :] -= pivot.entries.T @ x[pivot.row, :]
        for reflection in reversed(self.reflections):
            x = reflection.apply(x)
        return x

    def for_many(self) -> OrthogonalFactors:
        """The same for many right-hand sides: by its inverse where it is small."""
        return Inverted(self) if self.A.shape[0] <= FEW else self

    def condition(self, scales: Array | None = None) -> Expression:
        """A reciprocal condition number, NaN or next to nothing where A is singular: the root of
        the least eigenvalue of A^T A, as small as w^T A^T A w / w^T w finds it, over its largest
        diagonal entry. R w has as many entries 1, with the sign that makes the diagonal of R
        positive, as in `Factors.unit_energy`. With `scales` the unknowns times these are comparable
        (`eslabon.model.scale`)."""
        if not self.pivots:
            return casadi.SX(1)
        w = zeros(len(self.pivots))
        for pivot in reversed(self.pivots):
            w[pivot.column] = casadi.fabs(pivot.inverse) - pivot.inverse * (
                pivot.entries @ w[pivot.later, :]
            )
        A = self.A
        if scales is not None and (is_symbolic(scales) or np.any(np.asarray(scales) != 1.0)):
            own = casadi.SX(scales)
            w, A = w * own, A @ casadi.diag(1 / own)
        return 1 / casadi.sqrt(casadi.sumsqr(w) * casadi.mmax(casadi.sum1(A**2)))


class Inverted(OrthogonalFactors):
    """A matrix whose inverse, found column by column, is multiplied by."""

    def __init__(self, given: OrthogonalFactors) -> None:
        self.A, self.reflections, self.pivots = given.A, given.reflections, given.pivots
        self.inverse = given.solve(casadi.SX.eye(given.A.shape[0]))

    def solve(self, b: Expression) -> Expression:
        return self.inverse @ b

    def solve_transposed(self, b: Expression) -> Expression:
        return self.inverse.T @ b


def _column_of_fewest_rows(A: Expression) -> tuple[int, list[int]]:
    """The column with entries in the fewest rows, the first of these, and its rows; any row of one
    without entries."""
    ends, rows = A.sparsity().colind(), A.sparsity().row()
    columns = [rows[a:b] for a, b in pairwise(ends)]
    k = min(range(len(columns)), key=lambda j: len(columns[j]))
    return k, list(columns[k]) or [0]


def _reflection(rows: list[int], x: Expression) -> tuple[Reflection, Expression]:
    """What turns a column x into one with a first entry alone, and the inverse of that. It has the
    other sign than x has, so that nothing cancels."""
    length = casadi.copysign(casadi.norm_2(x), x[0])
    first, inverse = x[0] + length, 1 / length
    return Reflection(rows, x[1:] * (1 / first), first * inverse), -inverse
