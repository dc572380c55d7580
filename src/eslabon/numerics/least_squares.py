"""Damped least squares: the one solver behind closing loops, assembling and inverse kinematics, always for a batch.

Equations r(q) = 0 are known only by a step, the configurations after

    (J^T J + mu 1) s = -J^T r,    mu = damping |r|^2    (Levenberg, Marquardt; Chan and Lawrence, 1988)

and the errors |r|^2 before it. Far from a solution that is a careful step, near it Gauss-Newton's, which converges
quadratically. A step is native code made from a formula, or `orthogonal_step` where rank matters more than speed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Floats = np.ndarray

# Measured on random poses and starts of four arms: with a damping of 0.02 to 0.05 the fewest steps are needed.
DAMPING = 0.03
LOOK = 8  # steps between two looks at who has arrived or stalled
STALLED = (
    0.9  # steps between two looks that leave more of the error than this lead into a local minimum
)
GAIN, STIFF = (
    1e-10,
    1e8,
)  # a descent ends with a step that gains less, or at a damping that leaves no step to take
TINY = float(np.finfo(float).tiny)


class Found(NamedTuple):
    """The best configurations met (k, nq), their errors |r|^2, and the steps taken."""

    q: Floats
    error: Floats
    steps: Floats


def walk(
    steps: Callable[..., Any], q: Floats, x: Floats, goal: float, damping: float = DAMPING, patient: bool = True,
    looks: int = 8,
) -> Found:  # fmt: skip
    """From configurations (k, nq) towards targets (k, n) until the error is at most the goal, over rises too, which lead
    out of many a local minimum.

    `steps(q, best, error, x, damping, goal)` takes `LOOK` steps, and gives where they lead, the best configurations met so
    far with their errors, and how many steps began above the goal. Without patience what hardly falls is given up.
    """
    found = Found(q.copy(), np.full(len(q), np.inf), np.zeros(len(q), dtype=np.int64))
    lanes, best, error = np.arange(len(q)), q, found.error.copy()
    for _ in range(looks):
        before = error
        q, best, error, taken = steps(q, best, error, x, damping, goal)
        found.q[lanes], found.error[lanes] = best, error
        found.steps[lanes] += taken.astype(np.int64)
        onward = taken == LOOK  # what arrives takes one step more, for the last digits
        if not patient:
            onward &= (error <= STALLED * before) | (error <= goal)
        if not onward.any():
            break
        lanes, q, best, error, x = (y[onward] for y in (lanes, q, best, error, x))
    return found


def descent(
    step: Callable[..., Any], q: Floats, *x: Floats, goal: float, damping: float = DAMPING, iterations: int = 64,
    patient: bool = True,
) -> Found:  # fmt: skip
    """From configurations (k, nq) downhill only, with more damping until a step lessens the error (Marquardt): the way to a
    least error that is not zero.

    `step(q, damping, *x)` gives the next configurations and the errors of these; x has an axis for the batch.
    """
    best, factor, steps = q.copy(), np.full(len(q), damping), np.zeros(len(q), dtype=np.int64)
    trial, error = (np.array(y) for y in step(q, factor, *x)[:2])
    error[~np.isfinite(error)] = np.inf
    lanes, before = np.flatnonzero(error > goal), error.copy()
    for taken in range(1, iterations + 1):
        if not len(lanes):
            break
        following, now = step(trial[lanes], factor[lanes], *(y[lanes] for y in x))[:2]
        better, had = now < error[lanes], error[lanes]  # what is no number is not better
        good, bad = lanes[better], lanes[~better]
        best[good], error[good], steps[lanes] = trial[good], now[better], taken
        trial[good] = following[better]
        factor[good], factor[bad] = factor[good] * 0.1, np.maximum(factor[bad] * 10.0, 1e-9)
        if len(bad):
            trial[bad] = step(best[bad], factor[bad], *(y[bad] for y in x))[0]
        onward = np.where(
            better, now < (1 - GAIN) * had, (factor[lanes] < STIFF) & (had > 1e4 * goal)
        )
        if not patient and taken % LOOK == 0:
            onward &= error[lanes] <= STALLED * before[lanes]
            before = error.copy()
        lanes = lanes[onward & (error[lanes] > goal)]
    return Found(best, error, steps)


def orthogonal_step(
    equations: Callable[..., tuple[Floats, Floats]], move: Callable[[Floats, Floats], Floats]
) -> Callable[..., tuple[Floats, Floats]]:
    """A step from numbers r and J by singular values, for rows that depend on one another and the last digits.

    `equations(q, *x)` gives r and J, `move(q, s)` the configuration after a step, in which no joint turns by more than a
    radian.
    """

    def step(q: Floats, damping: Any, *x: Any) -> tuple[Floats, Floats]:
        r, J = equations(q, *x)
        error = np.einsum("...i,...i", r, r)
        wild = ~np.isfinite(error)
        if np.any(wild) or not np.isfinite(J).all():
            r, J, error = np.nan_to_num(r), np.nan_to_num(J), np.where(wild, np.inf, error)
        U, size, Vt = np.linalg.svd(J, full_matrices=False)
        mu = np.asarray(damping * np.where(wild, 1.0, error))[..., None]
        gains = (
            size
            / (size**2 + mu + TINY)
            * (size > 1e-13 * size.max(axis=-1, keepdims=True, initial=0.0))
        )
        s = -np.einsum("...ij,...i->...j", Vt, gains * np.einsum("...ij,...i->...j", U, r))
        s = s / np.maximum(1.0, np.abs(s).max(axis=-1, keepdims=True, initial=0.0))
        return move(q, s), error

    return step
