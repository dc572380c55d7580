"""Newton-Gauss with an orthogonal factorisation (Rojas, 3.3): the same factor for displacements, rates, accelerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.model.configuration import integrate
from eslabon.numerics.least_squares import TINY, descent, orthogonal_step
from eslabon.solve.inverse.arm import Arm, prepared
from eslabon.solve.ranges import Ranges

if TYPE_CHECKING:
    from eslabon.model import Model

Floats = NDArray[np.float64]

# A direction of motion that takes the joints this many times more speed than the easiest one counts as lost.
SINGULAR_CONDITION = 1e4


@dataclass(frozen=True)
class Factor:
    """J = U diag(s) V^T for a batch of matrices, of which `rank` singular values are meant to be other than zero.

    Rojas takes Householder's triangle. The singular values are as orthogonal, and say besides how near the configuration is
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
        least = np.maximum(self.s[..., :1] / SINGULAR_CONDITION, TINY)
        along = np.einsum("...ij,...i->...j", self.U, b)
        return np.einsum(
            "...ij,...i->...j", self.Vt, self.s / np.maximum(self.s, least) ** 2 * along
        )


def improved(arm: Arm, q: Floats, x: Floats, limits: bool, iterations: int = 60) -> Floats:
    """Newton-Gauss steps for a batch (targets, nq), damped as far as it takes to make the equations better.

    They lead to the last digits where a target can be reached, and to the least squares where it cannot.
    """
    ranges = arm.ranges(limits)

    def equations(q: Floats, x: Floats) -> tuple[Floats, Floats]:
        f, J = arm.equations(q, x)
        return f, J * _released(arm, ranges, q, np.einsum("...ij,...i->...j", J, f))[..., None, :]

    step = orthogonal_step(
        equations, lambda q, s: ranges.admitted(integrate(arm.m, q, arm.velocities(s)))
    )
    return descent(step, q, x, goal=0.0, damping=1e-3, iterations=iterations).q


def _released(arm: Arm, ranges: Ranges, q: Floats, gradient: Floats) -> Floats:
    """For each velocity that moves the frame 0 where its joint is at a limit and would have to go beyond it, else 1."""
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


def condition(m: Model, q: ArrayLike, frame: str | None = None) -> Floats:
    """The condition number of the Jacobian of a frame's pose, lengths in units of the arm's reach (Rojas, 3.3.1).

    >>> import eslabon as es
    >>> m = es.load("puma560")
    >>> condition(m, [[0, 0.8, -2.4, 0, 0.8, 0], [0, 0.8, -2.4, 0, 0, 0]]) < 1e3
    array([ True, False])
    """
    return condition_of(prepared(m, frame, None), np.asarray(q, dtype=float))
