"""Configurations that were looked for, with how well they reach what was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.displays import displayed

Floats = NDArray[np.float64]


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Configurations:
    """What was found, with the leading axes of the targets; where several were asked for, these are one more axis.

    Attributes
    ----------
    q : the configurations (..., nq), with loops closed ones; where none reaches its target, the best found.
    converged : which of them reach their targets, as the forward kinematics sees it.
    distance, angle : what is missing, in metres and radians; of several parts or points, the worst.
    iterations : the steps taken.

    >>> import eslabon as es
    >>> found = es.load("elbow").inverse_kinematics(position=[1.0, 1.0, 0.0], report=True)
    >>> bool(found.converged), found.q.shape
    (True, (2,))
    """

    q: Floats
    converged: Any
    distance: Any
    angle: Any
    iterations: Any

    def __repr__(self) -> str:
        found = f"{np.count_nonzero(self.converged):,} of {np.size(self.converged):,} reached"
        worst = f"distance up to {np.max(self.distance, initial=0.0):.2g} m, angle up to {np.max(self.angle, initial=0.0):.2g} rad"
        return f"<Configurations: {found}, {worst}>"

    @property
    def residual(self) -> Floats:
        """Distance and angle side by side, (..., 2)."""
        return np.stack([self.distance, self.angle], axis=-1)
