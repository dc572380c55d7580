"""Newton-Gauss with an orthogonal factorisation (Rojas, 3.3): the same factor for displacements, rates, accelerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.kinematics.inverse.arm import Arm, prepared
from eslabon.kinematics.inverse.ranges import Ranges

if TYPE_CHECKING:
    from eslabon.mechanism import Mechanism

Floats = NDArray[np.float64]

# A direction of motion that takes the joints this many times more speed than the easiest one counts as lost.
SINGULAR = 1e4
# Damped steps end when one gains less than this, or when none is small enough to gain anything.
SETTLED, LARGEST = 1 - 1e-10, 1e3
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Factor:
    """J = U diag(s) V^T for a batch of matrices, of which `rank` singular values are meant to be other than zero.

    Rojas takes Householder's triangle. The singular values are as orthogonal, and say besides how near the posture is
    to a singular one, which of a triangle can only be estimated.
    """

    U: Floats
    s: Floats
    Vt: Floats
    rank: int

    @staticmethod
    def of(J: Floats, rank: int) -> Factor:
        return Factor(*np.linalg.svd(J, full_matrices=False), min(rank, J.shape[-1]))

    @property
    def condition(self) -> Floats:
        """The largest singular value over the smallest: without bound at an intrinsic singularity (Rojas, 3.4)."""
        return self.s[..., 0] / np.maximum(self.s[..., self.rank - 1], TINY)

    def solve(self, b: Floats) -> Floats:
        """The least-squares solution of least norm; lost directions are damped, more the more they are lost."""
        least = np.maximum(self.s[..., :1] / SINGULAR, TINY)
        return self._with_gains(self.s / np.maximum(self.s, least) ** 2, b)

    def damped(self, b: Floats, damping: Floats) -> Floats:
        """The solution of (J^T J + μ 1) x = J^T b, Levenberg's and Marquardt's."""
        return self._with_gains(self.s / (self.s**2 + damping[..., None] + TINY), b)

    def _with_gains(self, gains: Floats, b: Floats) -> Floats:
        along = np.einsum("...ij,...i->...j", self.U, b)
        return np.einsum("...ij,...i->...j", self.Vt, gains * along)


def improved(arm: Arm, q: Floats, x: Floats, limits: bool, iterations: int = 60) -> Floats:
    """Newton-Gauss steps for a batch (targets, nq), damped as far as it takes to make the equations better.

    They lead to the last digits where a target can be reached, and to the least squares where it cannot.
    """
    best, ranges, lanes = q.copy(), arm.ranges(limits), np.arange(len(q))
    f, J = arm.equations(q, x)
    error = np.sum(f**2, axis=-1)
    damping = 1e-3 * error
    for _ in range(iterations):
        free = _released(arm, ranges, q, np.einsum("...ij,...i->...j", J, f))
        s = arm.velocities(Factor.of(J * free[:, None], arm.task.rank).damped(-f, damping))
        trial = ranges.admitted(arm.moved(q, s))
        f_trial, J_trial = arm.equations(trial, x)
        error_trial = np.sum(f_trial**2, axis=-1)
        better = error_trial < error
        best[lanes[better]] = trial[better]
        onward = np.where(better, error_trial < SETTLED * error, damping < LARGEST)
        q, f, J = (
            np.where(better[:, None], trial, q),
            np.where(better[:, None], f_trial, f),
            np.where(better[:, None, None], J_trial, J),
        )
        damping, error = np.where(better, 0.1, 10.0) * damping, np.minimum(error, error_trial)
        if not onward.any():
            break
        lanes, q, x, f, J, damping, error = (a[onward] for a in (lanes, q, x, f, J, damping, error))
    return best


def _released(arm: Arm, ranges: Ranges, q: Floats, gradient: Floats) -> Floats:
    """For each freedom that moves the frame 0 where its joint is at a limit and would have to go beyond it, else 1."""
    below, above = np.zeros((2, *q.shape[:-1], arm.m.nv), dtype=bool)
    for joint in arm.m.joints:
        if joint.limits is not None:
            at, place = arm.m.velocities[joint.name], arm.m.coordinates[joint.name]
            below[..., at] = q[..., place] <= ranges.lower[place]
            above[..., at] = q[..., place] >= ranges.upper[place]
    held = below[..., arm.moving] & (gradient > 0) | above[..., arm.moving] & (gradient < 0)
    return np.where(held, 0.0, 1.0)


def condition_of(arm: Arm, q: Floats) -> Floats:
    """The condition number of a task's equations at their solution."""
    _, J = arm.equations(q, arm.task.of_pose(arm.pose(q)))
    return Factor.of(J, arm.task.rank).condition


def condition(m: Mechanism, q: ArrayLike, frame: str | None = None) -> Floats:
    """The condition number of the Jacobian of a frame's pose, lengths in units of the arm's reach (Rojas, 3.3.1).

    >>> import eslabon as es
    >>> m = es.load("puma560")
    >>> condition(m, [[0, 0.8, -2.4, 0, 0.8, 0], [0, 0.8, -2.4, 0, 0, 0]]) < 1e3
    array([ True, False])
    """
    return condition_of(prepared(m, frame, None), np.asarray(q, dtype=float))


def well_conditioned(m: Mechanism, frame: str | None = None, *, limits: bool = True) -> Floats:
    """A posture from which a frame is moved evenly in all directions: a minimum of the condition number (Rojas, 3.3.1).

    The best of the postures spread over the joints' ranges, improved by SciPy's simplex search.

    >>> import eslabon as es
    >>> m = es.load("puma560")
    >>> bool(condition(m, well_conditioned(m)) < condition(m, m.home()))
    True
    """
    from scipy.optimize import minimize

    arm = prepared(m, frame, None)
    ranges, starts = arm.ranges(limits), arm.starts(limits).q
    best = starts[np.argmin(condition_of(arm, starts))]
    found = minimize(
        lambda q: np.log(condition_of(arm, ranges.admitted(q))), best, method="Nelder-Mead", options={"maxiter": 400}
    )
    return ranges.admitted(found.x)
