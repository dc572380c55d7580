"""Algebraic loops through laws that are not linear: explicit unknowns w with r(w, x, u, t) = 0.

Formulas are written in w. Derivatives go through w by the implicit function theorem,

    dy/dv = y_v - y_w r_w^-1 r_v,

and at the end w is put in as what Newton's method finds in native code, with steps that are halved
until they bring it nearer, from zero or from the unloaded loop, whichever is nearer. An exponential
law, such as a diode's, is solved at any voltage.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from eslabon.bond_graph.elimination import solve
from eslabon.compiler.until import until
from eslabon.numerics.scalars import Expression, casadi

LIMIT = 150  # steps and halvings
SHORTEST = 2.0**-40  # of a step
ROUNDED = 1e-16  # a step over the unknowns, which changes nothing any more


@dataclass
class Loop:
    """Unknowns, what must vanish, and what they are without the loop."""

    w: Expression
    residual: Expression
    unloaded: Expression

    def solution(self, known: list[tuple[Expression, Expression]]) -> Expression:
        """The unknowns, where those of loops before are known."""
        r, start = _put_in([self.residual, self.unloaded], known)
        n = self.w.numel()
        step = casadi.densify(-solve(casadi.jacobian(r, self.w), r))

        def at(w: Expression) -> tuple[Expression, Expression]:
            size, way = casadi.substitute([casadi.norm_1(casadi.densify(r)), step], [self.w], [w])
            return size, way

        def newton(state: Expression) -> tuple[Expression, Expression]:
            w, way, length, best = casadi.vertsplit(state, [0, n, 2 * n, 2 * n + 1, 2 * n + 2])
            trial = w + length * way
            size, following = at(trial)
            nearer = size < best
            w, way = (casadi.if_else(nearer, a, b) for a, b in ((trial, w), (following, way)))
            length = casadi.if_else(nearer, 1, length / 2)
            best = casadi.if_else(nearer, size, best)
            done = casadi.norm_1(length * way) <= ROUNDED * casadi.norm_1(w)
            finished = casadi.logic_or(done, length < SHORTEST)
            return casadi.vertcat(w, way, length, best), finished

        zero = casadi.SX.zeros(n)
        (size, way), (other, other_way) = at(zero), at(start)
        there = casadi.logic_and(other < size, casadi.norm_1(other_way) < casadi.inf)
        there = casadi.logic_or(there, casadi.logic_not(casadi.norm_1(way) < casadi.inf))
        begin = [
            casadi.if_else(there, a, b) for a, b in ((start, zero), (other_way, way), (other, size))
        ]
        state = casadi.vertcat(begin[0], begin[1], 1, begin[2])
        found, _, _ = until(newton, casadi.densify(state), limit=LIMIT)
        return found[:n]


@dataclass
class Loops:
    """The loops that an evaluation has met, each after those that it depends on."""

    made: list[Loop] = field(default_factory=list)

    def add(self, w: Expression, residual: Expression, unloaded: Expression) -> None:
        self.made.append(Loop(w, residual, unloaded))

    @property
    def w(self) -> Expression:
        return casadi.vertcat(casadi.SX(0, 1), *(loop.w for loop in self.made))

    def jacobian(self, y: Expression, v: Expression) -> Expression:
        """The derivative of y by v, unknowns following."""
        direct = casadi.jacobian(y, v)
        if not self.made or not casadi.depends_on(y, self.w):
            return direct
        r = casadi.vertcat(*(loop.residual for loop in self.made))
        by_v = casadi.jacobian(r, v)
        if not by_v.nnz():
            return direct
        follow = solve(casadi.jacobian(r, self.w), casadi.densify(by_v))
        return direct - casadi.mtimes(casadi.jacobian(y, self.w), follow)

    def settled(self, outputs: list[Expression]) -> list[Expression]:
        """Expressions with the solutions in the place of the unknowns."""
        known: list[tuple[Expression, Expression]] = []
        for loop in self.made:
            known.append((loop.w, loop.solution(known)))
        return _put_in(outputs, known)


def _put_in(
    outputs: list[Expression], known: list[tuple[Expression, Expression]]
) -> list[Expression]:
    if not known:
        return outputs
    made: list[Expression] = casadi.substitute(
        [casadi.SX(y) for y in outputs], [w for w, _ in known], [x for _, x in known]
    )
    return made
