"""Damped least squares for batches: the solver of closure, assembly and inverse kinematics.

Equations r(q) = 0 are given by a function that takes the step s,

    (J^T J + mu 1) s = -J^T r,    mu = damping |r|^2

(Levenberg, Marquardt; Chan and Lawrence, 1988), and returns the configurations after the step and
the errors |r|^2 before it. Far from a solution the step is damped; near it, it is that of
Gauss-Newton, which converges quadratically. Steps are native code made from a formula, or
`orthogonal_step` where the rank matters more than speed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

Floats = np.ndarray

# Random poses and starts of four arms need the fewest steps with a damping of 0.02 to 0.05.
DAMPING = 0.03
LOOK = 8  # steps between two checks for convergence
STALLED = 0.9  # a lane whose error falls by less between two checks is near a local minimum
GAIN = 1e-10  # a descent ends with a step that reduces the error by a smaller part
STIFF = 1e8  # a descent ends at a damping beyond this, which leaves no step to take
TINY = float(np.finfo(float).tiny)


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


def descent(
    step: Callable[..., Sequence[Floats]],
    q: Floats,
    *x: Floats,
    goal: float,
    damping: float = DAMPING,
    iterations: int = 64,
    patient: bool = True,
) -> Found:
    """Descend from configurations (k, nq), with more damping until a step reduces the error.

    This is Marquardt's rule; it also finds least errors that are not zero. `step(q, damping, *x)`
    returns the next configurations and the errors of the given ones; x has an axis for the batch.
    """
    best, factor, steps = q.copy(), np.full(len(q), damping), np.zeros(len(q), dtype=np.int64)
    trial, error = (np.array(y) for y in step(q, factor, *x)[:2])
    error[~np.isfinite(error)] = np.inf
    lanes, before = np.flatnonzero(error > goal), error.copy()
    for taken in range(1, iterations + 1):
        if not len(lanes):
            break
        following, now = step(trial[lanes], factor[lanes], *(y[lanes] for y in x))[:2]
        better, had = now < error[lanes], error[lanes]  # NaN is not better
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
    equations: Callable[..., tuple[Floats, Floats]],
    move: Callable[[Floats, Floats], Floats],
    least: float = 1e-13,
) -> Callable[..., tuple[Floats, Floats]]:
    """A step from r and J by their singular values, for dependent rows and for the last digits.

    `equations(q, *x)` returns r and J, `move(q, s)` the configurations after a step. No coordinate
    moves by more than one in a step, and none along singular values below `least` of the largest.
    """

    def step(q: Floats, damping: Floats, *x: Floats) -> tuple[Floats, Floats]:
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
            * (size > least * size.max(axis=-1, keepdims=True, initial=0.0))
        )
        s = -np.einsum("...ij,...i->...j", Vt, gains * np.einsum("...ij,...i->...j", U, r))
        s = s / np.maximum(1.0, np.abs(s).max(axis=-1, keepdims=True, initial=0.0))
        return move(q, s), error

    return step
