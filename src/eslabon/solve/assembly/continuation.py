"""Continuation: a mechanism moved along straight ways of what is prescribed, by predictor and corrector.

From a closed configuration, a knot, the exact tangent predicts configurations for all rows of the motion within a small
ball of prescribed values, or for a point on the way to the next row, and Newton's method corrects them. They are taken if
the correction is small against the way, contracts, and the conditioning of the equations has not fallen much on the way;
else the ball shrinks. So a motion cannot change its branch unnoticed: next to a singular configuration the balls shrink
with the distance to it, and it is passed, if at all, in one tiny stride, and told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from eslabon.compiler.evaluate import evaluate
from eslabon.model import Model
from eslabon.solve.assembly.closing_formulas import (
    ADVANCE,
    ADVANCE_DESIGN,
    BALL,
    BENT,
    FALLEN,
    LARGEST_BALL,
    SINGULAR_PIVOT,
    SMALLEST_BALL,
)
from eslabon.solve.assembly.prescription import Prescription, design_scales, determinacy
from eslabon.solve.designs import DESCRIBED, Designs

Floats = np.ndarray
STRIDE = 16 * SMALLEST_BALL  # over a singular configuration
AT_ONCE = 16384  # rows that are tried in one go


class Crossing(NamedTuple):
    """A singular configuration that was passed: which motion, after which row of it, and at which prescribed values."""

    lane: int
    row: int
    values: Floats


@dataclass
class Continued:
    """Configurations (lanes, rows, nq), and the crossings on the way; rows that were not reached are marked lost."""

    q: Floats
    lost: Floats
    crossings: list[Crossing] = field(default_factory=list)


def continued(
    m: Model,
    given: Prescription,
    begin: Floats,
    goals: Floats,
    designs: Designs = DESCRIBED,
    start: Designs = DESCRIBED,
) -> Continued:
    """From closed configurations (lanes, nq) along the straight ways from row to row of the goals (lanes, rows, ...).

    Where parameters change on the way too, `designs` are those of the rows, and `start` those in which the configurations
    are closed, a design for each lane.
    """
    return _Continuation(m, given, begin, goals, designs, start).run()


class _Tried(NamedTuple):
    """Rows that were tried, motion by motion: of which motion and row, at which values and in which designs, the
    configuration, whether it is good, how much the path bends, whether it is a row or on the way to one, and whether it has
    a tangent."""

    lanes: Floats
    lane: Floats
    row: Floats
    x: Floats
    designs: Designs
    q: Floats
    good: Floats
    bent: Floats
    whole: Floats
    firm: Floats


class _Continuation:
    """All motions side by side: each has its knot, the size of its ball, and the next row it is to reach."""

    def __init__(
        self,
        m: Model,
        given: Prescription,
        begin: Floats,
        goals: Floats,
        designs: Designs,
        start: Designs,
    ) -> None:
        self.m, self.given, self.goals, self.rows = m, given, goals, goals.shape[1]
        self.designs, self.names, self.scale = designs, designs.names, given.scales(m)
        self.design_scale = design_scales(m, designs)
        changing: dict[str, Any] = {"changing": self.names} if self.names else {}
        self.advance = evaluate(
            m, ADVANCE_DESIGN if self.names else ADVANCE, self.names, given=given, **changing
        )
        found = determinacy(m, given)
        # More is prescribed than the mechanism can follow; else, unless something stays open, pivots tell of singularities.
        self.surplus = bool(found.surplus)
        self.pivots = not (found.open or found.surplus)
        self.knot, self.x, self.p = begin.copy(), given.values(m, begin, start), start.values.copy()
        self.row, self.ball = np.zeros(len(begin), dtype=np.int64), np.full(len(begin), BALL)
        self.stride = np.zeros(len(begin), dtype=bool)
        self.motion = Continued(
            np.repeat(begin[:, None], self.rows, axis=1), np.zeros(goals.shape[:2], dtype=bool)
        )

    def run(self) -> Continued:
        active = np.arange(len(self.knot))
        while len(active):
            self._advance(active)
            active = active[self.row[active] < self.rows]
        return self.motion

    # -- one go ---------------------------------------------------------------------------------------------------------

    def _advance(self, lanes: Floats) -> None:
        """Try what lies in the balls of these motions, and take what is good."""
        lane, row, x, dx, whole, dp = self._candidates(lanes)
        inputs = (self.knot[lane], x, dx, *dp, whole.astype(float))
        designs = Designs(self.names, self.p[lane] + dp[0]) if dp else DESCRIBED
        q, good, bent, pivot, change = self.advance(*inputs, *designs.inputs)
        good = (good > 0) & ((change >= FALLEN) | self.stride[lane])
        if self.surplus:
            good &= whole | (
                self._far(self.goals[lane, row], self.given.values(self.m, q, designs))
                < self._far(self.goals[lane, row], self.x[lane])
            )
        firm = pivot > SINGULAR_PIVOT if self.pivots else np.ones(len(lane), dtype=bool)
        self._take(_Tried(lanes, lane, row, x, designs, q, good, bent, whole, firm))

    def _far(self, to: Floats, start: Floats) -> Floats:
        """How far apart two prescribed values are."""
        return np.abs(self.given.displacement(self.m, to, start) * self.scale).max(
            axis=-1, initial=0.0
        )

    def _candidates(
        self, lanes: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, Floats, list[Floats]]:
        """The rows in each ball, or else a point on the way to the next row: motion, row, values, displacement, whether it
        is a row, and by how much the parameters change, if there are such."""
        ball = np.where(self.stride[lanes], STRIDE, self.ball[lanes])
        width = max(1, min(self.rows - int(self.row[lanes].min()), AT_ONCE // len(lanes)))
        rows = np.minimum(self.row[lanes, None] + np.arange(width), self.rows - 1)
        goals = self.goals[lanes[:, None], rows]
        dx = self.given.displacement(self.m, goals, self.x[lanes][:, None])
        far = np.abs(dx * self.scale).max(axis=-1, initial=0.0)
        dp = (
            self.designs.values[lanes[:, None], rows] - self.p[lanes][:, None]
            if self.names
            else None
        )
        if dp is not None:
            far = np.maximum(far, np.abs(dp * self.design_scale).max(axis=-1))
        inside = np.logical_and.accumulate(far <= ball[:, None], axis=1)
        inside &= self.row[lanes, None] + np.arange(width) < self.rows
        inside[:, 0] = True
        which, k = np.nonzero(inside)
        share = np.minimum(1.0, ball[which] / np.maximum(far[which, k], 1e-300))
        whole, dx, x = share >= 1.0, dx[which, k], goals[which, k]
        if not whole.all():
            dx[~whole] *= share[~whole, None]
            x[~whole] = self.given.along(self.m, self.x[lanes[which[~whole]]], dx[~whole])
        return (
            lanes[which],
            rows[which, k],
            x,
            dx,
            whole,
            [] if dp is None else [dp[which, k] * share[:, None]],
        )

    # -- what becomes of it -----------------------------------------------------------------------------------------------

    def _take(self, t: _Tried) -> None:
        """Keep the good rows up to the first bad one of each motion, move the knots on, and size the balls anew."""
        first = np.flatnonzero(np.r_[True, t.lane[1:] != t.lane[:-1]])
        counts = np.diff(np.r_[first, len(t.lane)])
        place = np.arange(len(t.lane)) - np.repeat(first, counts)
        taken = np.minimum(np.minimum.reduceat(np.where(t.good, len(t.lane), place), first), counts)
        rows = (place < np.repeat(taken, counts)) & t.whole
        self.motion.q[t.lane[rows], t.row[rows]] = t.q[rows]
        np.add.at(self.row, t.lane[rows], 1)
        some = taken > 0
        on, all_of_it, knots = t.lanes[some], (taken == counts)[some], (first + taken - 1)[some]
        firm = t.firm[knots]  # where there is no tangent, no way leads on
        for k in np.flatnonzero(self.stride[on] & (firm | (self.row[on] == self.rows))):
            self.motion.crossings.append(
                Crossing(int(on[k]), int(t.row[first[some][k]]), self.x[on[k]].copy())
            )
        self.knot[on[firm]] = t.q[knots[firm]]
        if self.names:
            self.p[on[firm]] = t.designs.values[knots[firm]]
        reached = t.designs[knots[firm]] if self.names else DESCRIBED
        self.x[on[firm]] = (
            self.given.values(self.m, t.q[knots[firm]], reached)
            if self.surplus
            else t.x[knots[firm]]
        )
        self.ball[on] = np.where(self.stride[on], 4 * SMALLEST_BALL, self.ball[on])
        grown = on[all_of_it & firm & (t.bent[knots] < 0.5 * BENT)]
        self.ball[grown] = np.minimum(2 * self.ball[grown], LARGEST_BALL)
        self.stride[on] = ~firm
        self._stuck(t.lanes[~some])

    def _stuck(self, lanes: Floats) -> None:
        """Smaller balls where nothing was taken; then a stride over what may be singular; then the rows are lost."""
        over = self.stride[lanes]
        self.ball[lanes[~over]] *= 0.5
        self.stride[lanes] = ~over & (self.ball[lanes] < SMALLEST_BALL)
        ended = lanes[over]
        lost = np.arange(self.rows) >= self.row[ended, None]
        self.motion.lost[ended] |= lost
        self.motion.q[ended] = np.where(
            lost[..., None], self.knot[ended][:, None], self.motion.q[ended]
        )
        self.row[ended] = self.rows
