"""Continuation: solutions of equations moved along straight ways of what is prescribed.

From a solution, a knot, the exact tangent predicts solutions for all rows of a motion within a small
ball of prescribed values, or for a point on the way to the next row, and Newton's method corrects
them. They are taken if the correction is small against the way, contracts, and the equations have not
come near to being singular on the way; else the ball shrinks. So a motion cannot change its branch
unnoticed: next to a singular solution the balls shrink with the distance to it, and it is passed, if
at all, in one tiny stride, which is reported. Any number of motions are moved side by side; none
depends on another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class TrackSettings:
    """How far motions go in one step.

    Attributes
    ----------
    ball, largest, smallest : how far prescribed values move from a knot: at first, at most, and before
        a stride over a singular solution is tried. Radians, or lengths in units of a characteristic one.
    stride : the same, over a singular solution.
    straight : a bend, below which balls grow.
    at_once : rows that are tried in one call.
    rounds : steps of one motion between two rows, at most.
    """

    ball: float = 0.25
    largest: float = 1.0
    smallest: float = 2e-5
    stride: float = 16 * 2e-5
    straight: float = 0.1
    at_once: int = 16384
    rounds: int = 2000


SETTINGS = TrackSettings()


class Reached(NamedTuple):
    """Where an advance leads: solutions, whether they may be taken, how much the path bends, and whether
    there is a tangent to go on by. `regular` says whether the way comes by no singular solution."""

    q: Floats
    good: Flags
    bent: Floats
    firm: Flags
    regular: Flags


class Equations(Protocol):
    """What a continuation is of: prescribed values x, designs p, solutions q; lanes are the first axis."""

    @property
    def scales(self) -> Floats:
        """What makes displacements comparable."""

    @property
    def design_scales(self) -> Floats:
        """What makes changes of designs comparable."""

    @property
    def surplus(self) -> bool:
        """Whether more is prescribed than can be followed, so that values between rows may not fit
        together."""

    def values(self, q: Floats, p: Floats) -> Floats:
        """The values that solutions have."""

    def displacement(self, to: Floats, start: Floats) -> Floats:
        """The straight way from one value to another."""

    def along(self, start: Floats, dx: Floats) -> Floats:
        """The value that a displacement leads to."""

    def advance(
        self, q: Floats, x: Floats, dx: Floats, p: Floats, dp: Floats, whole: Flags
    ) -> Reached:
        """From knots to values x, which are dx away, in designs p, which are dp away."""


class Crossing(NamedTuple):
    """A singular solution that was passed: which motion, before which row, at which values."""

    lane: int
    row: int
    values: Floats


@dataclass
class Track:
    """Solutions (lanes, rows, nq), the rows that were not reached, and the crossings on the way."""

    q: Floats
    lost: Flags
    crossings: list[Crossing] = field(default_factory=list)


def follow(
    equations: Equations, start: Floats, first: Floats, x: Floats, p: Floats,
    settings: TrackSettings = SETTINGS,
) -> Track:  # fmt: skip
    """Move solutions (lanes, nq) of designs (lanes, names) along the straight ways from row to row of
    values (lanes, rows, n) in designs (lanes, rows, names)."""
    walk = _Walk(equations, start, first, x, p, settings)
    active = np.arange(len(start))
    while len(active):
        walk.advance(active)
        active = active[walk.row[active] < walk.rows]
    return walk.track


class _Tried(NamedTuple):
    """What was tried, motion by motion: of which motion and row, at which values and designs, whether
    it is a row or on the way to one, and where it led."""

    lanes: Places
    lane: Places
    row: Places
    x: Floats
    p: Floats
    whole: Flags
    reached: Reached


class _Walk:
    """All motions side by side: each has its knot, the size of its ball, and the next row to reach."""

    def __init__(
        self, equations: Equations, start: Floats, first: Floats, x: Floats, p: Floats,
        settings: TrackSettings,
    ) -> None:  # fmt: skip
        self.equations, self.goals, self.designs, self.settings = equations, x, p, settings
        self.rows = x.shape[1]
        self.knot, self.p = start.copy(), first.copy()
        self.x = equations.values(start, first)
        self.row = np.zeros(len(start), dtype=np.int64)
        self.rounds = np.zeros(len(start), dtype=np.int64)
        self.ball = np.full(len(start), settings.ball)
        self.stride = np.zeros(len(start), dtype=bool)
        self.track = Track(
            np.repeat(start[:, None], self.rows, axis=1), np.zeros(x.shape[:2], dtype=bool)
        )

    def advance(self, lanes: Places) -> None:
        """Try what lies in the balls of these motions, and take what is good."""
        lane, row, x, dx, dp, whole = self._candidates(lanes)
        p = self.p[lane] + dp
        made = self.equations.advance(self.knot[lane], x, dx, p, dp, whole)
        good = made.good & (made.regular | self.stride[lane])
        if self.equations.surplus:  # progress must be monotone where values may not fit together
            goal = self.goals[lane, row]
            nearer = self._far(goal, self.equations.values(made.q, p)) < self._far(
                goal, self.x[lane]
            )
            good &= whole | nearer
        self.rounds[lanes] += 1
        self._take(_Tried(lanes, lane, row, x, p, whole, made._replace(good=good)))

    def _far(self, to: Floats, start: Floats) -> Floats:
        """How far apart two values are."""
        way = self.equations.displacement(to, start) * self.equations.scales
        return np.abs(way).max(axis=-1, initial=0.0)

    def _candidates(self, lanes: Places) -> tuple[Places, Places, Floats, Floats, Floats, Flags]:
        """The rows in each ball, or else a point on the way to the next row: motion, row, values,
        displacement, change of the design, and whether it is a row."""
        s, own = self.settings, self.equations
        ball = np.where(self.stride[lanes], s.stride, self.ball[lanes])
        width = max(1, min(self.rows - int(self.row[lanes].min()), s.at_once // len(lanes)))
        rows = np.minimum(self.row[lanes, None] + np.arange(width), self.rows - 1)
        goals = self.goals[lanes[:, None], rows]
        dx = own.displacement(goals, self.x[lanes][:, None])
        dp = self.designs[lanes[:, None], rows] - self.p[lanes][:, None]
        far = np.maximum(
            np.abs(dx * own.scales).max(axis=-1, initial=0.0),
            np.abs(dp * own.design_scales).max(axis=-1, initial=0.0),
        )
        inside = np.logical_and.accumulate(far <= ball[:, None], axis=1)
        inside &= self.row[lanes, None] + np.arange(width) < self.rows
        inside[:, 0] = True
        which, k = np.nonzero(inside)
        share = np.minimum(1.0, ball[which] / np.maximum(far[which, k], np.finfo(float).tiny))
        whole, x = share >= 1.0, goals[which, k]
        dx, dp = dx[which, k] * share[:, None], dp[which, k] * share[:, None]
        if not whole.all():
            x[~whole] = own.along(self.x[lanes[which[~whole]]], dx[~whole])
        return lanes[which], rows[which, k], x, dx, dp, whole

    def _take(self, t: _Tried) -> None:
        """Keep the good rows up to the first bad one of each motion, move knots on, resize balls."""
        s, made = self.settings, t.reached
        first = np.flatnonzero(np.r_[True, t.lane[1:] != t.lane[:-1]])
        counts = np.diff(np.r_[first, len(t.lane)])
        place = np.arange(len(t.lane)) - np.repeat(first, counts)
        bad = np.minimum.reduceat(np.where(made.good, len(t.lane), place), first)
        taken = np.minimum(bad, counts)
        rows = (place < np.repeat(taken, counts)) & t.whole
        self.track.q[t.lane[rows], t.row[rows]] = made.q[rows]
        np.add.at(self.row, t.lane[rows], 1)
        self.rounds[t.lane[rows]] = 0
        some = taken > 0
        on, all_of_it, knots = t.lanes[some], (taken == counts)[some], (first + taken - 1)[some]
        firm = made.firm[knots]  # where there is no tangent, no way leads on
        for k in np.flatnonzero(self.stride[on] & (firm | (self.row[on] == self.rows))):
            row = int(t.row[first[some][k]])
            self.track.crossings.append(Crossing(int(on[k]), row, self.x[on[k]].copy()))
        self._move_knots(t, on[firm], knots[firm])
        self.ball[on] = np.where(self.stride[on], 4 * s.smallest, self.ball[on])
        grown = on[all_of_it & firm & (made.bent[knots] < s.straight)]
        self.ball[grown] = np.minimum(2 * self.ball[grown], s.largest)
        self.stride[on] = ~firm
        self._stuck(t.lanes[~some])
        self._give_up(t.lanes[self.rounds[t.lanes] > s.rounds])

    def _move_knots(self, t: _Tried, lanes: Places, knots: Places) -> None:
        self.knot[lanes], self.p[lanes] = t.reached.q[knots], t.p[knots]
        if self.equations.surplus:
            self.x[lanes] = self.equations.values(t.reached.q[knots], t.p[knots])
        else:
            self.x[lanes] = t.x[knots]

    def _stuck(self, lanes: Places) -> None:
        """Smaller balls where nothing was taken; then a stride over what may be singular; then the
        rows are lost."""
        over = self.stride[lanes]
        self.ball[lanes[~over]] *= 0.5
        self.stride[lanes] = ~over & (self.ball[lanes] < self.settings.smallest)
        self._give_up(lanes[over])

    def _give_up(self, lanes: Places) -> None:
        lost = np.arange(self.rows) >= self.row[lanes, None]
        self.track.lost[lanes] |= lost
        self.track.q[lanes] = np.where(
            lost[..., None], self.knot[lanes][:, None], self.track.q[lanes]
        )
        self.row[lanes] = self.rows
