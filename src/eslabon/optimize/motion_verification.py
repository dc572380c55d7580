"""A motion that the optimiser claims, looked at anew: between the instants of the program, with loops closed by continuation, forces
by the mechanism's own verbs, and these again by another formulation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.displays import displayed
from eslabon.formulas import dynamics
from eslabon.formulas.formulations.formulation import LAGRANGE
from eslabon.formulas.motion_state import Method, MotionState
from eslabon.mechanism import Mechanism
from eslabon.numerics.scalars import casadi
from eslabon.optimize.motion_equations import Instant, mapped
from eslabon.optimize.motion_limits import POSITION
from eslabon.optimize.motion_program import Places
from eslabon.optimize.motion_spline import MotionSpline
from eslabon.optimize.motion_starts import Guess, another_end
from eslabon.solve.constraints.constraint_structure import structure

FINER = 10  # instants of the verification for one of the program
ANOTHER = LAGRANGE  # the formulation that forces are computed by a second time
SAME = 1e-6  # of the largest force: how near the two are
SOME = 40  # instants at which they are compared
RESERVE = 1e-5  # of a bound: what is left of it, besides what peaks rise between instants
ROUND_OFF = 1e-9  # of a bound
CLOSED = 1e-8  # m or rad


class LimitCheck(NamedTuple):
    """One number along the motion: its least and greatest value, its bounds, and how much of them is left (1: all, 0: none) at
    the time where it is least."""

    quantity: str
    name: str
    unit: str
    least: float
    greatest: float
    lower: float
    upper: float
    margin: float
    time: float


@displayed
class LimitChecks(tuple[LimitCheck, ...]):
    """What a motion keeps within bounds, number by number; `.margin` is the least that is left of any bound."""

    @property
    def margin(self) -> float:
        """The least that is left of any bound, as a part of it; infinite without bounds."""
        return min((c.margin for c in self), default=np.inf)

    @property
    def nearest(self) -> LimitCheck | None:
        """The number that comes nearest to its bounds."""
        return min(self, key=lambda c: c.margin, default=None)

    def __repr__(self) -> str:
        from eslabon.sheets import shown

        columns = ("", "", "least", "greatest", "bounds", "left", "at t [s]")
        rows = [
            (c.quantity, c.name, shown(c.least), f"{shown(c.greatest)} {c.unit}".rstrip(), _bounds(c), f"{100 * c.margin:.3g} %", f"{c.time:.4g}")
            for c in self
        ]  # fmt: skip
        widths = [max(len(row[k]) for row in (columns, *rows)) for k in range(len(columns))]
        lines = [
            "  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip()
            for row in (columns, *rows)
        ]
        head = (
            f"<{len(self)} checks, {100 * self.margin:.3g} % left at least>"
            if self
            else "<no limits, no checks>"
        )
        return "\n".join([head, *(lines if self else [])])

    def _pieces(self) -> Iterator[str]:
        from eslabon.pages.html_elements import table
        from eslabon.sheets import Sheet

        columns = ("quantity", "of", "unit", "least", "greatest", "bounds", "left [%]", "at t [s]")
        rows = [
            (
                c.quantity,
                c.name,
                c.unit,
                c.least,
                c.greatest,
                _bounds(c),
                round(100 * c.margin, 4),
                c.time,
            )
            for c in self
        ]
        yield table(Sheet("", columns, rows))


def _bounds(c: LimitCheck) -> str:
    if c.lower == -c.upper:
        return f"± {c.upper:.6g}"
    if np.isinf(c.upper):
        return f"≥ {c.lower:.6g}"
    return f"≤ {c.upper:.6g}" if np.isinf(c.lower) else f"{c.lower:.6g} to {c.upper:.6g}"


@dataclass(frozen=True, eq=False)
class Seen:
    """A motion on the fine grid: times and what holds then, and by how much of their scale rows are out of
    bounds, less a reserve."""

    spline: MotionSpline
    places: tuple[Floats, ...]
    t: Floats
    q: Floats
    v: Floats
    a: Floats
    jerk: Floats
    tau: Floats
    values: Floats
    excess: Floats
    cost: Floats

    @property
    def worst(self) -> float:
        """The largest excess; negative where every limit is kept."""
        return float(self.excess.max(initial=-np.inf))

    @property
    def single(self) -> Floats:
        """Which rows are the first of their time."""
        return np.concatenate([[True], np.diff(self.t) > 0])

    def at(self, places: Sequence[Places]) -> Guess:
        """The motion as a start of another search, at places that are among its own."""
        chosen, begin = [], 0
        for fine, own in zip(self.places, places, strict=True):
            chosen.append(begin + np.searchsorted(fine, own.s))
            begin += len(fine)
        return Guess(
            self.spline, *(tuple(x[rows] for rows in chosen) for x in (self.q, self.v, self.a))
        )

    def peaks(self) -> list[Floats]:
        """The places of each stretch at which a limit is violated most."""
        made, begin = [], 0
        for fine in self.places:
            e = self.excess[begin : begin + len(fine)]
            padded = np.pad(e, ((1, 1), (0, 0)), constant_values=-np.inf)
            tops = (e > 0) & (e >= padded[:-2]) & (e >= padded[2:])
            made.append(fine[tops.any(axis=1)])
            begin += len(fine)
        return made


def finer(places: Sequence[Places]) -> tuple[Floats, ...]:
    """The fine grid: so many instants for one of the program."""
    made = []
    for own in places:
        steps = np.diff(own.s)[:, None] * np.arange(FINER) / FINER
        made.append(np.append((own.s[:-1, None] + steps).ravel(), own.s[-1]))
    return tuple(made)


def seen(
    m: Mechanism, at: Instant, spline: MotionSpline, places: tuple[Floats, ...], q0: Floats
) -> Seen:
    """A motion on the fine grid; refused by `AssemblyError` or `SingularityError` where its loops do not close all the way."""
    x, vi, ai, jerk = spline.at_places(places)
    q, v, a = at.driven.completed(x, vi, ai, q0)
    tau = m.inverse_dynamics(q, v, a)
    condition = mapped(at.forces, q, v, a)[1]
    (values,) = mapped(at.bounded, q, v, a, tau, jerk, condition)
    (cost,) = mapped(at.cost, q, v, a, tau, jerk)
    excess = [_peaked(row.excess(values[:, k])) + _reserve(at, k) for k, row in enumerate(at.rows)]
    made = np.stack(excess, axis=-1) if excess else np.zeros((len(q), 0))
    return Seen(spline, places, spline.times(places), q, v, a, jerk, tau, values, made, cost[:, 0])


def _peaked(x: Floats) -> Floats:
    """Values with the local maxima raised as far as a parabola through three of them can rise between."""
    around = np.maximum(x[1:-1] - x[:-2], 0.0) + np.maximum(x[1:-1] - x[2:], 0.0)
    top = (x[1:-1] >= x[:-2]) & (x[1:-1] >= x[2:])
    return np.concatenate([x[:1], x[1:-1] + np.where(top, around / 8, 0.0), x[-1:]])


def _reserve(at: Instant, k: int) -> float:
    """What is to be left of a bound; nothing of positions, which coefficients keep at all times and which may rest on theirs."""
    row = at.rows[k]
    return (
        -ROUND_OFF if row.quantity == POSITION and row.place in at.driven.coordinates else RESERVE
    )


def checks(at: Instant, own: Seen) -> LimitChecks:
    """The rows of a motion, with what is left of their bounds."""
    made = []
    for k, row in enumerate(at.rows):
        x = own.values[:, k]
        excess = row.excess(x)
        worst = int(excess.argmax())
        left = -float(excess[worst])
        made.append(LimitCheck(row.quantity, row.name, row.unit, float(x.min()), float(x.max()), row.lower, row.upper, left, float(own.t[worst])))  # fmt: skip
    return LimitChecks(made)


def unconfirmed(m: Mechanism, own: Seen, end: Floats, another: Any) -> str | None:
    """Why a motion is none, in a sentence: forces that `another` formulation does not confirm, open loops, or another end."""
    some = np.unique(np.linspace(0, len(own.t) - 1, SOME).astype(int))
    q, v, a = own.q[some], own.v[some], own.a[some]
    again = mapped(another, q, v, a)[0]
    size = max(float(np.abs(own.tau).max(initial=0.0)), 1e-300)
    off = float(np.abs(again - own.tau[some]).max(initial=0.0))
    if not off <= SAME * size:
        return f"by the formulation '{ANOTHER.name}' its forces differ by {off:.3g} from those of the motion."
    if m.closed and not (left := float(np.abs(m.constraint(own.q)).max())) <= CLOSED:
        return f"it violates loop closure by {left:.3g} (m or rad)."
    return another_end(m, own.q[-1], end)


def by_another_formulation(m: Mechanism) -> Any:
    """The forces of a motion by another formulation, as a CasADi function."""
    q, v, a = (casadi.SX.sym(name, k) for name, k in (("q", m.nq), ("v", m.nv), ("a", m.nv)))
    method = Method(ANOTHER, "multipliers", structure(m))
    tau = dynamics.inverse_dynamics(MotionState(m, q, v, method), a)[0]
    return casadi.Function("another", [q, v, a], [casadi.densify(tau)])
