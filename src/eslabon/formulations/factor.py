"""The factors of a mass matrix, unrolled into the graph.

M = L^T D L with L of unit lower triangle, eliminated from the last freedom to the first: on a tree numbered from the
ground outward this order makes no new entries (Featherstone), and a positive definite M needs no pivoting. Each pivot is
inverted once.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi

from eslabon.formulations.symbols import SX, lean, zeros


@dataclass(frozen=True)
class Factors:
    """The rows of L left of the diagonal, and the inverses of D."""

    rows: list[SX]
    inverse: list[SX]

    def solve(self, b: SX) -> SX:
        """x with M x = b, for one right-hand side or several."""
        return self.outward(self.scaled(self.inward(b)))

    def inward(self, b: SX) -> SX:
        """L^-T b: only the ancestors of what b has become new entries."""
        x = casadi.SX(b)
        for k in reversed(range(len(self.rows))):
            x[:k, :] -= casadi.mtimes(self.rows[k], x[k, :])
        return lean(x)

    def scaled(self, b: SX) -> SX:
        """D^-1 b."""
        return casadi.vertcat(*(b[k, :] * pivot for k, pivot in enumerate(self.inverse)))

    def outward(self, b: SX) -> SX:
        """L^-1 b."""
        x = casadi.SX(b)
        for k in range(len(self.rows)):
            x[k, :] -= casadi.mtimes(self.rows[k].T, x[:k, :])
        return lean(x)


def factors(M: SX) -> Factors:
    """Factorise a symmetric positive definite matrix."""
    n = M.shape[0]
    rest, rows, inverse = lean(casadi.triu(M)), [zeros(0)] * n, [zeros(1)] * n
    for k in reversed(range(n)):
        column = rest[:k, k]
        inverse[k] = 1 / rest[k, k]
        rows[k] = lean(column * inverse[k])
        rest = lean(casadi.triu(rest[:k, :k] - casadi.mtimes(rows[k], column.T)))
    return Factors(rows, inverse)
