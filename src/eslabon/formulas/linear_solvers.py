"""The factors of a mass matrix, unrolled into the graph.

M = L^T D L with L of unit lower triangle, eliminated from the last velocity to the first: on a tree numbered from the
ground outward this order makes no new entries (Featherstone), and a positive definite M needs no pivoting. Each pivot is
inverted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eslabon.compiler import operators
from eslabon.formulas.kinematics.symbols import constant, zeros
from eslabon.numerics.scalars import Expression, casadi

MANY = (
    3000  # entries of a factor times right-hand sides, from which on loops in native code are faster than unrolled code
)


@dataclass(frozen=True)
class Factors:
    """The rows of L left of the diagonal, the inverses of D, and the diagonal of M."""

    rows: list[Expression]
    inverse: list[Expression]
    diagonal: list[Expression]

    def solve(self, b: Expression) -> Expression:
        """x with M x = b, for one right-hand side or several."""
        return self.outward(self.scaled(self.inward(b)))

    def solve_negative(self, b: Expression) -> Expression:
        """x with M x = -b."""
        return self.solve(-b)

    def inward(self, b: Expression) -> Expression:
        """L^-T b: only the ancestors of what b has become new entries."""
        x = constant(b)
        for k in reversed(range(len(self.rows))):
            x[:k, :] -= self.rows[k] @ x[k, :]
        return x

    def scaled(self, b: Expression) -> Expression:
        """D^-1 b."""
        return casadi.vertcat(zeros(0, b.shape[1]), *(b[k, :] * pivot for k, pivot in enumerate(self.inverse)))

    def outward(self, b: Expression) -> Expression:
        """L^-1 b."""
        x = casadi.SX(b)
        for k in range(len(self.rows)):
            x[k, :] -= self.rows[k].T @ x[:k, :]
        return x

    def unit_energy(self) -> Expression:
        """w = L^-1 D^-1/2 (1, ..., 1), for which w^T M w = n: long where some motion has next to no inertia."""
        return self.outward(_roots(self.inverse))

    def pivot_condition(self, floor: Sequence[float] = ()) -> Expression:
        return pivot_condition(self.inverse, self.diagonal, floor)

    def condition(self, floor: Sequence[float] = (), sizes: Sequence[Expression] | None = None) -> Expression:
        return condition(self.unit_energy(), self.diagonal if sizes is None else sizes, floor)


@dataclass(frozen=True)
class LoopFactors:
    """The same factors, packed, computed and used by loops in native code (`compiler.operators`)."""

    rows: operators.Rows
    packed: Expression
    diagonal: list[Expression]

    def solve(self, b: Expression) -> Expression:
        """x with M x = b, for one right-hand side or several."""
        return operators.solved(self.rows, self.packed, b)

    def solve_negative(self, b: Expression) -> Expression:
        """x with M x = -b."""
        return operators.solved(self.rows, self.packed, b, negative=True)

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

    def condition(self, floor: Sequence[float] = (), sizes: Sequence[Expression] | None = None) -> Expression:
        return condition(self.unit_energy(), self.diagonal if sizes is None else sizes, floor)


def _roots(inverse: Sequence[Expression]) -> Expression:
    """D^-1/2: NaN for a pivot of the wrong sign, which is round-off of a singular matrix."""
    return casadi.vertcat(zeros(0), *(casadi.sqrt(x) for x in inverse))


def condition(w: Expression, sizes: Sequence[Expression], floor: Sequence[float]) -> Expression:
    """w^T M w / sum (size_k + floor_k) w_k^2 for the w of `unit_energy`: one where M is diagonal, round-off or NaN where
    it is singular.

    Sizes are those of the terms that were added up to the diagonal of M, which make the quotient independent of units;
    it is at least the smallest eigenvalue of the M so scaled. A pivot alone would not do: the smallest one of a singular
    M is round-off divided by the square of the smallest component of the motion without inertia, up to 1e-8. `floor` is
    what counts as nothing, for entries that are zero but for round-off.
    """
    n = len(sizes)
    if not n:
        return casadi.SX(1)
    terms = ((d + x) * w[k] ** 2 for k, (d, x) in enumerate(zip(sizes, floor or [0.0] * n, strict=True)))
    return n / sum(terms, casadi.SX(0))


def pivot_condition(
    inverse: Sequence[Expression], diagonal: Sequence[Expression], floor: Sequence[float]
) -> Expression:
    """n / sum (M_kk + floor_k) / D_k: one where M is diagonal, small where a motion has little inertia of its own.

    A pivot D_k, measured by its own diagonal entry, is what is left of a motion's inertia when all motions farther
    out follow as they like; no choice of units changes it. For trees, whose forward dynamics it makes no longer. It
    is an upper bound: round-off where the motion without inertia moves the innermost of its joints as much as the
    others, as two axes that coincide do; larger the less that joint takes part.
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
