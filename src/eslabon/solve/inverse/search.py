"""The search for configurations: native steps on a whole batch, again and again from other starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import LARGEST
from eslabon.numerics.least_squares import DAMPING, STALLED, Found, walk
from eslabon.solve.inverse.arm import STARTS, Arm
from eslabon.solve.ranges import Ranges, distinct

Floats = NDArray[np.float64]

MORE_DAMPING = 0.5  # leads from other starts to the target than the usual one
WIDE = 256  # lanes that take hardly longer than one
LOOKS = 8  # at most, of a search for one target
DISTINCT = 1e-3  # radians or metres by which two configurations differ at least


@dataclass(frozen=True)
class Search:
    """How to search: with which arm, within the limits or not, and how near to a target is near enough."""

    arm: Arm
    limits: bool
    tolerance: float
    threads: int | None = None

    @property
    def ranges(self) -> Ranges:
        return self.arm.ranges(self.limits)

    @property
    def goal(self) -> float:
        """The error |r|², with lengths in units of the reach, at which both parts are within the tolerance."""
        return (self.tolerance / max(1.0, self.arm.task.reach)) ** 2

    def near(
        self, pose: Any, guess: Floats | None, tries: int = 1
    ) -> tuple[Floats, Any, Any, Any] | None:
        """The configuration for one pose, the distance and angle it misses, and the steps; or None.

        From a near guess it is one native call. Else native steps lead from the guess, then from the starts nearest to the
        pose, in the order of `one`.
        """
        r, m = self.ranges, self.arm.m
        if guess is not None:
            found = self.arm.near_solution(guess, pose, self.tolerance, self.goal, r.lower, r.upper)
            if type(found) is tuple:
                return found
        given = (pose,) if guess is None else (pose, guess)
        if not all((np.abs(x) <= LARGEST).all() for x in given):
            return None  # `inverse_kinematics` says why
        begin = None if guess is None else r.admitted(guess)
        x, steps, starts = self.arm.task.of_pose(pose), 0, None
        for k in range(tries):
            if begin is None or k:
                if starts is None:
                    starts = self._starts(
                        x[None], None if guess is None else guess[None], 0, tries
                    )[0]
                begin = starts[k - (guess is not None)]
            q, taken = self._alone(begin, x, r)
            steps += taken
            if (
                q is None and self.limits
            ):  # as in `descend`, so that a pose finds the same in a batch
                q, taken = self._alone(begin, x, r.unlimited)
                q, steps = None if q is None else r.turned(q, begin), steps + taken
            if (
                q is not None
                and (made := self._verified(q, x, m.home() if guess is None else guess)) is not None
            ):
                return *made, steps
        return None

    def _verified(self, q: Floats, x: Floats, reference: Floats) -> tuple[Floats, Any, Any] | None:
        """A configuration that was found, as near to the reference as whole turns lead, and what it misses, if that is
        little."""
        if np.abs(q - reference).max() > np.pi:
            q = self.ranges.turned(q, reference)
        distance, angle = self.arm.missed(q, x)
        return (
            (q, distance, angle)
            if max(distance, angle) <= self.tolerance and self.ranges.contain(q)
            else None
        )

    def _alone(self, q: Floats, x: Floats, r: Ranges) -> tuple[Floats | None, int]:
        """The configuration that native steps from one configuration lead to, until they stall; and how many they are."""
        best, error, steps, goal = q, np.inf, 0, self.goal
        for _ in range(LOOKS):
            before = error
            q, best, error, taken = self.arm.steps(
                q, best, error, x, DAMPING, goal, r.lower, r.upper
            )
            steps += int(taken)
            if error <= goal:
                return best, steps
            if error > STALLED * before:
                break
        return None, steps

    def descend(self, q: Floats, x: Floats, patient: bool = False) -> Found:
        """From each configuration towards its target, until it arrives or stalls.

        What the limits hold up tries again without them, and keeps what then ends inside. With patience nothing stalls,
        and what has not arrived goes once more, with more damping.
        """
        found = self._walk(q, x, self.ranges, DAMPING, patient)
        again = [(self.ranges.unlimited, DAMPING)] if self.limits else []
        for ranges, damping in [*again, (self.ranges, MORE_DAMPING)] if patient else again:
            left = np.flatnonzero(found.error > self.goal)
            if len(left):
                end = self._walk(q[left], x[left], ranges, damping, patient)
                inside = self.ranges.turned(end.q, q[left])
                good = (end.error <= self.goal) & self.ranges.contain(inside)
                found.q[left[good]], found.error[left[good]] = inside[good], end.error[good]
                found.steps[left] += end.steps
        return found

    def _walk(self, q: Floats, x: Floats, ranges: Ranges, damping: float, patient: bool) -> Found:
        def steps(*given: Any) -> Any:
            return self.arm.steps(*given, ranges.lower, ranges.upper, threads=self.threads)

        return walk(steps, q, x, self.goal, damping, patient)

    def one(self, x: Floats, guess: Floats | None, restarts: int) -> Found:
        """For each target the first configuration found, else the best: from the guess, then from the nearest starts."""
        best = Found(
            np.empty((len(x), self.arm.m.nq)),
            np.full(len(x), np.inf),
            np.zeros(len(x), dtype=np.int64),
        )
        lanes, tried, allowed = np.arange(len(x)), 0, min(restarts + 1, STARTS)
        while tried < allowed and len(lanes):
            own = None if guess is None else guess[lanes]
            if own is not None and tried == 0:
                begin = self.ranges.admitted(own)[:, None]
            else:
                # Few targets try several starts at once, more the longer it takes.
                count = max(1, min(allowed - tried, WIDE // len(lanes), tried))
                begin = self._starts(x[lanes], own, tried - (own is not None), count)
            found = self._first_of(begin, x[lanes], patient=allowed == 1)
            best.steps[lanes] += found.steps
            better = found.error < best.error[lanes]
            best.q[lanes[better]], best.error[lanes[better]] = found.q[better], found.error[better]
            lanes, tried = lanes[best.error[lanes] > self.goal], tried + begin.shape[1]
        return best

    def _starts(self, x: Floats, guess: Floats | None, first: int, count: int) -> Floats:
        """For each target starts in the order of their distances from it, from the first-th on, (targets, count, nq); what
        does not move the frame is as guessed."""
        starts = self.arm.starts(self.limits)
        _, nearest = starts.reached.query(
            self.arm.asked(x) * self.arm.task.weights, k=range(first + 1, first + count + 1)
        )
        q = starts.q[nearest]
        return q if guess is None else np.where(self.arm.unmoved, guess[:, None], q)

    def _first_of(self, begin: Floats, x: Floats, patient: bool) -> Found:
        """Of several starts (targets, starts, nq) the first that arrives, else the one that comes nearest."""
        lanes, count, n = begin.shape
        end = self.descend(begin.reshape(-1, n), np.repeat(x, count, axis=0), patient)
        error = end.error.reshape(lanes, count)
        first = np.where(error <= self.goal, -np.inf, error).argmin(axis=1)
        return Found(
            end.q.reshape(begin.shape)[np.arange(lanes), first],
            error[np.arange(lanes), first],
            end.steps.reshape(lanes, count).sum(axis=1),
        )

    def several(self, x: Floats, guess: Floats | None, count: int) -> tuple[Floats, Any, int]:
        """Different configurations for one target, the nearest to the guess first, from every start there is; missing
        ones are filled up with the best, and told by the mask; and the steps it took."""
        reference, begin = (
            self.arm.m.home() if guess is None else guess,
            self.arm.starts(self.limits).q,
        )
        if guess is not None:
            begin = np.vstack(
                [self.ranges.admitted(guess), np.where(self.arm.unmoved, guess, begin)]
            )
        end = self.descend(begin, np.broadcast_to(x, (len(begin), len(x))))
        arrived = self.ranges.turned(end.q[end.error <= self.goal], reference)
        arrived = arrived[np.argsort(self.ranges.apart(arrived, reference), kind="stable")]
        found = arrived[distinct(arrived, self.ranges.apart, DISTINCT, count)]
        filled = np.vstack([found, *[end.q[end.error.argmin()]] * (count - len(found))])
        return filled, np.arange(count) < len(found), int(end.steps.sum())
