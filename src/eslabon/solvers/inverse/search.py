"""The search for configurations: native steps on a whole batch, again and again from other starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.least_squares import DAMPING, Found, solve
from eslabon.solvers.inverse.arm import STARTS, Arm, Starts
from eslabon.solvers.ranges import Ranges

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MORE_DAMPING = 0.5  # leads from other starts to the target than the usual one
WIDE = 256  # lanes that take hardly longer than one
DISTINCT = 1e-3  # radians or metres by which two configurations differ at least


@dataclass(frozen=True)
class Search:
    """How to search: with which arm, within the limits or not, and down to which error |r|²."""

    arm: Arm
    limits: bool
    goal: float
    threads: int | None = None

    @property
    def ranges(self) -> Ranges:
        return self.arm.ranges(self.limits)

    def descend(self, q: Floats, x: Floats, patient: bool = False) -> Found:
        """From each configuration, or from one, towards its target, until it arrives or stalls.

        What the limits hold up tries again without them, and keeps what then ends inside. With patience nothing stalls,
        and what has not arrived goes once more, with more damping.
        """
        found = self._walk(q, x, self.ranges, DAMPING, patient)
        again = [(self.ranges.unlimited, DAMPING)] if self.limits else []
        for ranges, damping in [*again, (self.ranges, MORE_DAMPING)] if patient else again:
            found = (
                self._alone_again(found, q, x, ranges, damping, patient)
                if q.ndim == 1
                else self._again(found, q, x, ranges, damping, patient)
            )
        return found

    def _walk(self, q: Floats, x: Floats, ranges: Ranges, damping: float, patient: bool) -> Found:
        threads: dict[str, Any] = {"threads": self.threads} if self.threads is not None and q.ndim > 1 else {}
        return solve(
            self.arm.step, q, x, ranges.lower, ranges.upper, goal=self.goal, damping=damping, patient=patient, **threads
        )

    def _again(self, found: Found, q: Floats, x: Floats, ranges: Ranges, damping: float, patient: bool) -> Found:
        """Another walk for what has not arrived, kept where it arrives within the limits."""
        left = np.flatnonzero(found.error > self.goal)
        if len(left):
            end = self._walk(q[left], x[left], ranges, damping, patient)
            inside = self.ranges.turned(end.q, q[left])
            good = (end.error <= self.goal) & self.ranges.contain(inside)
            found.q[left[good]], found.error[left[good]] = inside[good], end.error[good]
            found.steps[left] += end.steps
        return found

    def _alone_again(self, found: Found, q: Floats, x: Floats, ranges: Ranges, damping: float, patient: bool) -> Found:
        if found.error <= self.goal:
            return found
        end = self._walk(q, x, ranges, damping, patient)
        inside, steps = self.ranges.turned(end.q, q), found.steps + end.steps
        good = end.error <= self.goal and bool(self.ranges.contain(inside))
        return Found(inside, end.error, steps) if good else found._replace(steps=steps)

    def alone(self, x: Floats, guess: Floats | None, restarts: int) -> Found:
        """What `one` does, for a single target, start after start: without a batch axis a step is faster."""
        queue = _Queue(self.arm, self.arm.starts(self.limits), x[None], None if guess is None else guess[None])
        best = Found(np.empty(self.arm.m.nq), np.inf, 0)
        for attempt in range(min(restarts + 1, STARTS)):
            if attempt == 0 and guess is not None:
                begin = self.ranges.admitted(guess)
            else:
                begin = queue.next(np.zeros(1, dtype=np.int64), 1)[0, 0]
            found = self.descend(begin, x, patient=restarts == 0)
            steps = best.steps + found.steps
            best = found._replace(steps=steps) if found.error < best.error else best._replace(steps=steps)
            if best.error <= self.goal:
                break
        return best

    def one(self, x: Floats, guess: Floats | None, restarts: int) -> Found:
        """For each target the first configuration found, else the best: from the guess, then from the nearest starts."""
        best = Found(np.empty((len(x), self.arm.m.nq)), np.full(len(x), np.inf), np.zeros(len(x), dtype=np.int64))
        lanes, queue = np.arange(len(x)), _Queue(self.arm, self.arm.starts(self.limits), x, guess)
        tried, allowed = 0, min(restarts + 1, STARTS)
        while tried < allowed and len(lanes):
            if tried == 0 and guess is not None:
                begin = self.ranges.admitted(guess)[:, None]
            else:
                # Few targets try several starts at once; one alone does not, for its steps have a faster way in.
                several = tried > 0 and len(x) > 1
                begin = queue.next(lanes, min(allowed - tried, max(1, WIDE // len(lanes))) if several else 1)
            found = self._first_of(begin, x[lanes], patient=allowed == 1)
            best.steps[lanes] += found.steps
            better = found.error < best.error[lanes]
            best.q[lanes[better]], best.error[lanes[better]] = found.q[better], found.error[better]
            lanes, tried = lanes[best.error[lanes] > self.goal], tried + begin.shape[1]
        return best

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

    def several(self, x: Floats, guess: Floats | None, count: int) -> tuple[Floats, Any, Integers]:
        """Different configurations for one target, the nearest to the guess first, from every start there is.

        Missing ones are filled up with the best, and told by the mask.
        """
        reference, begin = self.arm.m.home() if guess is None else guess, self.arm.starts(self.limits).q
        if guess is not None:
            begin = np.vstack([self.ranges.admitted(guess), np.where(self.arm.unmoved, guess, begin)])
        end = self.descend(begin, np.broadcast_to(x, (len(begin), len(x))))
        candidates = self.ranges.turned(end.q[end.error <= self.goal], reference)
        found: list[Floats] = []
        for candidate in candidates[np.argsort(self.ranges.apart(candidates, reference), kind="stable")]:
            if len(found) < count and all(self.ranges.apart(candidate, other) > DISTINCT for other in found):
                found.append(candidate)
        filled = found + [end.q[end.error.argmin()]] * (count - len(found))
        return np.array(filled), np.arange(count) < len(found), np.full(count, end.steps.sum())


class _Queue:
    """For each target the starts in the order of their distances from it; what does not move the frame is as guessed."""

    def __init__(self, arm: Arm, starts: Starts, x: Floats, guess: Floats | None) -> None:
        self._arm, self._starts, self._x, self._guess = arm, starts, x, guess
        self._distances: Floats | None = None

    def next(self, lanes: Integers, count: int) -> Floats:
        """The next starts for each of these targets, (targets, count, nq)."""
        if self._distances is None:
            self._distances = self._starts.distances(self._x)
        distances, picked = self._distances[lanes], []
        for _ in range(count):
            picked.append(distances.argmin(axis=1))
            distances[np.arange(len(lanes)), picked[-1]] = np.inf
        self._distances[lanes] = distances
        q = self._starts.q[np.stack(picked, axis=1)]
        return q if self._guess is None else np.where(self._arm.unmoved, self._guess[lanes, None], q)
