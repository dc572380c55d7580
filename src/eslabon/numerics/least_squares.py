"""Damped least squares for batches: the first solver of assembly and inverse kinematics.

Equations r(q) = 0 are given by native steps s,

    (J^T J + mu 1) s = -J^T r,    mu = damping |r|^2

(Levenberg, Marquardt; Chan and Lawrence, 1988). Far from a solution the step is damped; near it, it
is that of Gauss-Newton, which converges quadratically. Where the rank matters more than speed, and
for the nearest to what is out of reach, `constrained_least_squares` has the last word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Floats = np.ndarray

# Random poses and starts of four arms need the fewest steps with a damping of 0.02 to 0.05.
DAMPING = 0.03
LOOK = 8  # steps between two checks for convergence
STALLED = 0.9  # a lane whose error falls by less between two checks is near a local minimum


class Found(NamedTuple):
    """The best configurations (k, nq), their errors |r|^2, and the number of steps taken."""

    q: Floats
    error: Floats
    steps: Floats


def walk(
    steps: Callable[..., tuple[Floats, Floats, Floats, Floats]],
    q: Floats,
    x: Floats,
    goal: float,
    damping: float = DAMPING,
    patient: bool = True,
    looks: int = 8,
) -> Found:
    """Step from configurations (k, nq) towards targets (k, n) until each error is at most `goal`.

    Errors may rise on the way, which leads out of many local minima.
    `steps(q, best, error, x, damping, goal)` takes `LOOK` steps and returns the last
    configurations, the best ones so far with their errors, and the number of steps that began above
    the goal. If not `patient`, lanes whose error hardly falls are given up.
    """
    found = Found(q.copy(), np.full(len(q), np.inf), np.zeros(len(q), dtype=np.int64))
    lanes, best, error = np.arange(len(q)), q, found.error.copy()
    for _ in range(looks):
        before = error
        q, best, error, taken = steps(q, best, error, x, damping, goal)
        found.q[lanes], found.error[lanes] = best, error
        found.steps[lanes] += taken.astype(np.int64)
        onward = taken == LOOK  # after convergence, one more step for the last digits
        if not patient:
            onward &= (error <= STALLED * before) | (error <= goal)
        if not onward.any():
            break
        lanes, q, best, error, x = (y[onward] for y in (lanes, q, best, error, x))
    return found
