"""Damped least squares: the one solver behind closing loops, assembling and inverse kinematics, of one start or of many.

Equations r(q) = 0 are known only by their step: `step(q, damping, *data)` gives the configuration after

    (J^T J + mu 1) s = -J^T r,    mu = damping |r|^2    (Levenberg, Marquardt; Chan and Lawrence, 1988)

and the error |r|^2 before it. Far from a solution that is a careful step, near it Gauss-Newton's, which converges
quadratically. A step is native code made from a formula, or `orthogonal_step` where rank matters more than speed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Floats = np.ndarray
Step = Callable[..., Any]

# Measured on random poses and starts of four arms: with a damping of 0.02 to 0.05 the fewest steps are needed.
DAMPING = 0.03
LOOK = 8  # steps between two looks at who has arrived or stalled
STALLED = 0.9  # steps between two looks that leave more of the error than this lead into a local minimum
GAIN, STIFF = 1e-10, 1e8  # a descent ends with a step that gains less, or at a damping that leaves no step to take
TINY = float(np.finfo(float).tiny)


class Found(NamedTuple):
    """The best configurations met, their errors |r|^2, and the steps taken."""

    q: Floats
    error: Any
    steps: Any


def solve(
    step: Step, q: Floats, *data: Floats, goal: float, damping: float = DAMPING, iterations: int = 64,
    monotone: bool = False, patient: bool = True, **keywords: Any,
) -> Found:  # fmt: skip
    """From each configuration of (nq,) or (k, nq) until the error is at most the goal.

    Parameters
    ----------
    data : what the step takes besides, with the same leading axis.
    monotone : whether every step must lessen the error, with more damping until it does (Marquardt): the way to a least
        error that is not zero. Else steps go on over rises, which leads out of many a local minimum.
    patient : whether to go on when the error hardly falls.
    keywords : for the step.
    """
    if monotone:
        return _descent(step, q, data, goal, damping, iterations, patient)
    walk = _walk_alone if q.ndim == 1 else _walk
    return walk(step, q, data, goal, damping, iterations, np.inf if patient else STALLED, keywords)


def _walk_alone(
    step: Step, q: Floats, data: Any, goal: float, damping: float, iterations: int, stalled: float, keywords: Any
) -> Found:
    best, error, before = q, np.inf, np.inf
    for taken in range(1, iterations + 1):
        following, now = step(q, damping, *data, **keywords)[:2]
        arrived = error <= goal
        if now < error:
            best, error = q, now
        elif not np.isfinite(now):
            following = best + 0.25 * (q - best)
        if arrived:  # one more step than needed has brought the last digits
            break
        q = following
        if taken % LOOK == 0:
            if error > stalled * before:
                break
            before = error
    return Found(best, error, taken)


def _walk(
    step: Step, q: Floats, data: Any, goal: float, damping: float, iterations: int, stalled: float, keywords: Any
) -> Found:
    best, error, steps = q.copy(), np.full(len(q), np.inf), np.zeros(len(q), dtype=np.int64)
    lanes, before, least = np.arange(len(q)), error.copy(), np.full(len(q), np.inf)
    good, done = q, np.zeros(len(q), dtype=bool)
    for taken in range(1, iterations + 1):
        following, now = step(q, damping, *data, **keywords)[:2]
        better, done = (now < least) & ~done, least <= goal  # as for one alone, a step more than needed
        good, least = np.where(better[:, None], q, good), np.where(better, now, least)
        wild = ~np.isfinite(now)
        if wild.any():
            following[wild] = good[wild] + 0.25 * (q[wild] - good[wild])
        q = following
        if taken % LOOK == 0 or taken == iterations:
            best[lanes], error[lanes], steps[lanes] = good, least, taken
            onward = ~done & ((least <= stalled * before) | (least <= goal))
            if not onward.any():
                break
            if not onward.all():
                lanes, q, good = lanes[onward], q[onward], good[onward]
                least, done = least[onward], done[onward]
                data = tuple(x[onward] if _per_lane(x, onward) else x for x in data)
            before = least
    return Found(best, error, steps)


def _per_lane(x: Any, lanes: Floats) -> bool:
    return np.ndim(x) > 1 and len(x) == len(lanes)


def _descent(step: Step, q: Floats, data: Any, goal: float, damping: float, iterations: int, patient: bool) -> Found:
    """Levenberg and Marquardt's descent for a batch; one configuration is a batch of one."""
    if q.ndim == 1:
        alone = tuple(np.asarray(x)[None] if np.ndim(x) else x for x in data)
        return Found(*(x[0] for x in _descent(step, q[None], alone, goal, damping, iterations, patient)))
    best, factor, steps = q.copy(), np.full(len(q), damping), np.zeros(len(q), dtype=np.int64)
    trial, error = (np.array(x) for x in step(q, factor, *data)[:2])
    error[~np.isfinite(error)] = np.inf
    lanes, before = np.flatnonzero(error > goal), error.copy()
    for taken in range(1, iterations + 1):
        if not len(lanes):
            break
        own = [x[lanes] if np.ndim(x) > 1 and len(x) == len(best) else x for x in data]
        following, now = step(trial[lanes], factor[lanes], *own)[:2]
        better, had = now < error[lanes], error[lanes]  # what is no number is not better
        good, bad = lanes[better], lanes[~better]
        best[good], error[good], steps[lanes] = trial[good], now[better], taken
        trial[good] = following[better]
        factor[good], factor[bad] = factor[good] * 0.1, np.maximum(factor[bad] * 10.0, 1e-9)
        if len(bad):
            trial[bad] = step(best[bad], factor[bad], *(x[~better] if _per_lane(x, better) else x for x in own))[0]
        onward = np.where(better, now < (1 - GAIN) * had, (factor[lanes] < STIFF) & (had > 1e4 * goal))
        if not patient and taken % LOOK == 0:
            onward &= error[lanes] <= STALLED * before[lanes]
            before = error.copy()
        lanes = lanes[onward & (error[lanes] > goal)]
    return Found(best, error, steps)


def orthogonal_step(equations: Callable[..., tuple[Floats, Floats]], move: Callable[[Floats, Floats], Floats]) -> Step:
    """A step from numbers r and J by singular values, for rows that depend on one another and the last digits.

    `equations(q, *data)` gives r and J, `move(q, s)` the configuration after a step, in which no joint turns by more
    than a radian.
    """

    def step(q: Floats, damping: Any, *data: Any) -> tuple[Floats, Floats]:
        r, J = equations(q, *data)
        error = np.einsum("...i,...i", r, r)
        wild = ~np.isfinite(error)
        if np.any(wild) or not np.isfinite(J).all():
            r, J, error = np.nan_to_num(r), np.nan_to_num(J), np.where(wild, np.inf, error)
        U, size, Vt = np.linalg.svd(J, full_matrices=False)
        mu = np.asarray(damping * np.where(wild, 1.0, error))[..., None]
        gains = size / (size**2 + mu + TINY) * (size > 1e-13 * size.max(axis=-1, keepdims=True, initial=0.0))
        s = -np.einsum("...ij,...i->...j", Vt, gains * np.einsum("...ij,...i->...j", U, r))
        s = s / np.maximum(1.0, np.abs(s).max(axis=-1, keepdims=True, initial=0.0))
        return move(q, s), error

    return step
