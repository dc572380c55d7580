"""The search for a motion as a nonlinear program: coefficients of splines, durations and, with loops, the passive coordinates at the
instants that are looked at. Limits hold at these instants; what happens between them is for the verification."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.numerics.scalars import casadi
from eslabon.optimize.motion_equations import Instant, mapped
from eslabon.optimize.motion_limits import Row
from eslabon.optimize.motion_spline import MotionSpline, SplineBasis
from eslabon.optimize.motion_starts import Guess, reach
from eslabon.optimize.nonlinear_program import NonlinearProgram

SMALL = 1e-2  # of the largest: what a column of small numbers is taken to be
CALM = 1e-8  # of the time: what a joint's motion counts for that is as restless as a unit step in a unit of time
SMOOTH = 3  # derivatives in which two stretches agree where they meet
DURATIONS, SPLINE = "durations", "spline"
LOOPS = PASSIVE, RATES, ACCELERATIONS, REACTIONS = (
    "passive coordinates", "passive velocities", "passive accelerations", "reactions"
)  # fmt: skip


class Places(NamedTuple):
    """The instants of a stretch, from 0 to 1, and their weights in integrals: zero for those that were added."""

    s: Floats
    weight: Floats

    def with_more(self, s: Floats) -> Places:
        """With more instants."""
        every, first = np.unique(np.concatenate([self.s, s]), return_index=True)
        return Places(every, np.concatenate([self.weight, np.zeros(len(s))])[first])


@dataclass(frozen=True, eq=False)
class Task:
    """What is sought: the least objective of a motion through points, at rest at its ends, within limits.

    `held` coefficients at either end are the first and the last point: two for zero velocity, three for zero acceleration too.
    `bounds` are those of the driven positions, which a spline keeps where its coefficients do. `durations` are the shortest and
    the longest that are allowed; `drawn_in` is the part of its range by which each limit is tightened.
    """

    title: str
    at: Instant
    basis: SplineBasis
    points: Floats
    held: int
    bounds: tuple[Floats, Floats]
    durations: tuple[float, float]
    objective: str | Callable[..., Any]

    @property
    def stretches(self) -> int:
        return len(self.points) - 1

    def program(
        self, places: tuple[Places, ...], guess: Guess, drawn_in: float, scale: float
    ) -> NonlinearProgram:
        """The nonlinear program with limits at some places."""
        made = NonlinearProgram(self.title, "motion")
        T = self._durations(made, guess)
        C = [self._coefficients(made, k, guess) for k in range(self.stretches)]
        self._smooth(made, C, T, guess.spline)
        total: Any = 0.0
        for k, (own, c) in enumerate(zip(places, C, strict=True)):
            total += self._stretch(made, k, own, c, T[k], guess, drawn_in)
        calm = CALM * scale * sum(self._restless(own, c) for own, c in zip(places, C, strict=True))
        made.minimize(_sum(T) + calm if self.objective == "time" else total, scale)
        return made

    def _restless(self, own: Places, C: Any) -> Any:
        """The mean square of the driven accelerations in a unit of time, in parts of what each coordinate travels: of motions that
        take the same time the calmest is sought, for joints that do not matter are not to be thrown about."""
        weighted = np.sqrt(own.weight)[:, None] * self.basis.matrices(own.s)[2]
        return casadi.sumsqr(_sparse(weighted) @ C @ casadi.diag(casadi.DM(1 / reach(self.points))))

    def begun(self, guess: Guess) -> dict[str, Floats]:
        """The variables of a start."""
        made = {DURATIONS: guess.spline.durations}
        for k, c in enumerate(guess.spline.coefficients):
            made[f"{SPLINE} {k + 1}"] = c
            made |= {f"{name} {k + 1}": x for name, x in self._of_loops(guess, k)}
        return made

    def _of_loops(self, guess: Guess, k: int) -> Iterator[tuple[str, Floats]]:
        """What of a stretch the loops determine, a row for each place."""
        own, q, v, a = self.at.driven, guess.q[k], guess.v[k], guess.a[k]
        if own.m.closed:
            found = q[:, list(own.passive)], v[:, list(own.dependent)], a[:, list(own.dependent)]
            yield from zip(LOOPS, (*found, mapped(self.at.loop_terms, q, v, a)[0]), strict=True)

    def spline(self, values: Mapping[str, Floats]) -> MotionSpline:
        """The motion of a solution."""
        pieces = tuple(values[f"{SPLINE} {k + 1}"] for k in range(self.stretches))
        return MotionSpline(self.basis, pieces, values[DURATIONS])

    # -- pieces of the program --------------------------------------------------------------------------------------

    def _durations(self, program: NonlinearProgram, guess: Guess) -> Any:
        least, most = self.durations
        T0 = guess.spline.durations
        if self.stretches == 1:
            return program.variable(DURATIONS, T0, least, most, scale=T0)
        T = program.variable(DURATIONS, T0, 1e-6 * T0, most, scale=T0)
        program.constrain("duration", _sum(T), least, most, scale=guess.spline.duration)
        return T

    def _coefficients(self, program: NonlinearProgram, k: int, guess: Guess) -> Any:
        """The coefficients of a stretch; those that the points and rest determine have no room."""
        c = guess.spline.coefficients[k]
        lower, upper = (np.broadcast_to(x, c.shape).copy() for x in self.bounds)
        for side in (lower, upper):
            side[0], side[-1] = self.points[k], self.points[k + 1]
            if k == 0:
                side[: self.held] = self.points[0]
            if k == self.stretches - 1:
                side[-self.held :] = self.points[-1]
        return program.variable(f"{SPLINE} {k + 1}", c, lower, upper, scale=reach(self.points))

    def _smooth(self, program: NonlinearProgram, C: list[Any], T: Any, begun: MotionSpline) -> None:
        """Where two stretches meet, velocity, acceleration and jerk are the same."""
        first, last = (self.basis.matrices(np.array([s]))[:, 0] for s in (0.0, 1.0))
        for k in range(self.stretches - 1):
            for order in range(1, min(SMOOTH, self.basis.degree - 1) + 1):
                before, after = (
                    casadi.DM(last[order]).T @ C[k],
                    casadi.DM(first[order]).T @ C[k + 1],
                )
                gap = before / T[k] ** order - after / T[k + 1] ** order
                size = reach(self.points) * (self.basis.intervals / begun.durations.mean()) ** order
                program.constrain(f"smoothness at via point {k + 1}", gap, scale=size)

    def _stretch(
        self,
        program: NonlinearProgram,
        k: int,
        own: Places,
        C: Any,
        T: Any,
        guess: Guess,
        drawn_in: float,
    ) -> Any:
        """The limits and the closure at the places of a stretch; its part of the objective."""
        at, count = self.at, len(own.s)
        driven = [_sparse(B) @ C for B in self.basis.matrices(own.s)]
        sought = [
            program.variable(f"{name} {k + 1}", x, scale=_spread(x))
            for name, x in self._of_loops(guess, k)
        ]
        z = casadi.vertcat(*(y.T for y in (*driven, *sought)), casadi.repmat(T, 1, count))
        found = program.repeated(at.whole, z)
        bounded = [at.rows[r] for r in at.sought]
        left, cost = found[len(bounded) : -1, :], found[-1, :]
        if left.numel():
            program.constrain(
                "loop closure", left, scale=np.tile(self._loop_scale(guess, k), count)
            )
        for quantity in dict.fromkeys(row.quantity for row in bounded):
            rows = [r for r, row in enumerate(bounded) if row.quantity == quantity]
            sides = np.array([_drawn_in(bounded[r], drawn_in) for r in rows]).T
            program.constrain(quantity, found[rows, :], *(np.tile(side, count) for side in sides))
        return casadi.dot(cost.T, casadi.DM(own.weight))

    def _loop_scale(self, guess: Guess, k: int) -> Floats:
        """What of the equations of the loops counts as one: the largest of their terms along a start."""
        terms = mapped(self.at.loop_terms, guess.q[k], guess.v[k], guess.a[k])[1]
        return np.asarray(_spread(terms)[0])


def _drawn_in(row: Row, part: float) -> tuple[float, float, float]:
    """Its bounds, each drawn in by a part of its scale, and the scale."""
    return row.lower + part * row.scale, row.upper - part * row.scale, row.scale


def _spread(x: Floats) -> Floats:
    """The size of each column, never zero, in the shape of the whole."""
    size = np.abs(x).max(axis=0, initial=0.0)
    size = np.maximum(size, SMALL * size.max(initial=0.0))
    return np.broadcast_to(np.where(size > 0, size, 1.0), x.shape)


def _sum(T: Any) -> Any:
    return casadi.sum1(T)


def _sparse(B: Floats) -> Any:
    return casadi.sparsify(casadi.DM(np.where(np.abs(B) > 1e-12 * np.abs(B).max(), B, 0.0)))
