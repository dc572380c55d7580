"""The search for postures: native steps on a whole batch, again and again from other starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eslabon.kinematics.inverse.arm import STARTS, Arm, Starts
from eslabon.kinematics.inverse.ranges import Ranges

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BURST, BURSTS = 8, 8  # steps between two looks at who has arrived, and how many looks there are
# Measured on random poses and starts of four arms: with a caution of 0.02 to 0.05 the fewest steps are needed, and most
# starts lead to the target. More of it leads from other starts there.
CAUTION, MORE_CAUTION = 0.03, 0.5
STALLED = 0.9  # a burst of steps that leaves more of the error than this leads into a local minimum
WIDE = 256  # lanes that take hardly longer than one
DISTINCT = 1e-3  # radians or metres by which two postures differ at least


class Descent(NamedTuple):
    """Where walks have led: the best configurations, their errors |r|², and the steps taken."""

    q: Floats
    error: Any
    steps: Any


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

    def descend(self, q: Floats, x: Floats, patient: bool = False) -> Descent:
        """From each configuration towards its target, until it arrives or stalls.

        What the limits hold up tries again without them, and keeps what then ends inside. With patience nothing stalls,
        and what has not arrived goes once more, with more caution.
        """
        first, *others = self._ways(patient)
        found = self._walk(q, x, *first, patient)
        for way in others:
            self._again(found, q, x, *way, patient)
        return found

    def _ways(self, patient: bool) -> list[tuple[Ranges, float]]:
        """Within which ranges and with how much caution to walk, one after the other."""
        ways = [(self.ranges, CAUTION)]
        if self.limits:
            ways.append((self.ranges.unlimited, CAUTION))
        if patient:
            ways.append((self.ranges, MORE_CAUTION))
        return ways

    def _again(self, found: Descent, q: Floats, x: Floats, ranges: Ranges, caution: float, patient: bool) -> None:
        """Another walk for what has not arrived, kept where it arrives within the limits."""
        left = np.flatnonzero(found.error > self.goal)
        if len(left):
            end = self._walk(q[left], x[left], ranges, caution, patient)
            inside = self.ranges.turned(end.q, q[left])
            good = (end.error <= self.goal) & self.ranges.contain(inside)
            found.q[left[good]], found.error[left[good]] = inside[good], end.error[good]
            found.steps[left] += end.steps

    def _walk(self, q: Floats, x: Floats, ranges: Ranges, caution: float, patient: bool) -> Descent:
        n, stalled = self.arm.m.nq, np.inf if patient else STALLED
        z = np.empty((len(q), 2 * n + 2))
        z[:, :n], z[:, n], z[:, n + 1 : -1], z[:, -1] = q, caution, q, np.inf
        reached, steps, lanes = z.copy(), np.zeros(len(q), dtype=np.int64), np.arange(len(q))
        for _ in range(BURSTS):
            before = z[:, -1]
            z = self._burst(z, x, ranges)
            reached[lanes] = z
            steps[lanes] += BURST
            onward = (z[:, -1] > self.goal) & (z[:, -1] <= stalled * before)
            if not onward.any():
                break
            lanes, z, x = lanes[onward], z[onward], x[onward]
        return Descent(reached[:, n + 1 : -1], reached[:, -1], steps)

    def _burst(self, z: Floats, x: Floats, ranges: Ranges) -> Floats:
        step, limits = self.arm.step, (ranges.lower, ranges.upper)
        if len(z) == 1:  # a state without a batch axis has a faster way into native code
            state, target = z[0], x[0]
            for _ in range(BURST):
                state = step(state, target, *limits)
            return state[None]
        for _ in range(BURST):
            z = step(z, x, *limits, threads=self.threads)
        return z

    def alone(self, x: Floats, guess: Floats | None, restarts: int) -> Descent:
        """What `one` does, for a single target, start after start: without a batch axis a step is faster."""
        queue = _Queue(self.arm, self.arm.starts(self.limits), x[None], None if guess is None else guess[None])
        best = Descent(np.empty(self.arm.m.nq), np.inf, 0)
        for attempt in range(min(restarts + 1, STARTS)):
            if attempt == 0 and guess is not None:
                begin = self.ranges.admitted(guess)
            else:
                begin = queue.next(np.zeros(1, dtype=np.int64), 1)[0, 0]
            best = self._descend_alone(begin, x, best, patient=restarts == 0)
            if best.error <= self.goal:
                break
        return best

    def _descend_alone(self, begin: Floats, x: Floats, best: Descent, patient: bool) -> Descent:
        """What `descend` does, from one configuration; the best there has been, before or now."""
        n = self.arm.m.nq
        for k, (ranges, caution) in enumerate(self._ways(patient)):
            z, taken = self._walk_alone(np.concatenate([begin, [caution], begin, [np.inf]]), x, ranges, patient)
            q = z[n + 1 : -1] if k == 0 else self.ranges.turned(z[n + 1 : -1], begin)
            good = z[-1] < best.error and (k == 0 or (z[-1] <= self.goal and self.ranges.contain(q)))
            best = Descent(q, z[-1], best.steps + taken) if good else best._replace(steps=best.steps + taken)
            if best.error <= self.goal:
                break
        return best

    def _walk_alone(self, z: Floats, x: Floats, ranges: Ranges, patient: bool) -> tuple[Floats, int]:
        step, lower, upper, stalled = self.arm.step, ranges.lower, ranges.upper, np.inf if patient else STALLED
        steps, before = 0, np.inf
        while steps < BURST * BURSTS and (steps == 0 or self.goal < z[-1] <= stalled * before):
            before = z[-1]
            for _ in range(BURST):
                z = step(z, x, lower, upper)
            steps += BURST
        return z, steps

    def one(self, x: Floats, guess: Floats | None, restarts: int) -> Descent:
        """For each target the first posture found, else the best: from the guess, then from the nearest starts."""
        best = Descent(np.empty((len(x), self.arm.m.nq)), np.full(len(x), np.inf), np.zeros(len(x), dtype=np.int64))
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

    def _first_of(self, begin: Floats, x: Floats, patient: bool) -> Descent:
        """Of several starts (targets, starts, nq) the first that arrives, else the one that comes nearest."""
        lanes, count, n = begin.shape
        end = self.descend(begin.reshape(-1, n), np.repeat(x, count, axis=0), patient)
        error = end.error.reshape(lanes, count)
        first = np.where(error <= self.goal, -np.inf, error).argmin(axis=1)
        return Descent(
            end.q.reshape(begin.shape)[np.arange(lanes), first],
            error[np.arange(lanes), first],
            end.steps.reshape(lanes, count).sum(axis=1),
        )

    def several(self, x: Floats, guess: Floats | None, count: int) -> tuple[Floats, Any, Integers]:
        """Different postures for one target, the nearest to the guess first, from every start there is.

        Missing ones are filled up with the best, and told by the mask.
        """
        reference, begin = self.arm.m.home() if guess is None else guess, self.arm.starts(self.limits).q
        if guess is not None:
            begin = np.vstack([self.ranges.admitted(guess), np.where(self.arm.idle, guess, begin)])
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
        return q if self._guess is None else np.where(self._arm.idle, self._guess[lanes, None], q)
