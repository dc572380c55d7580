"""Rows of states of all joints, with what they miss and how well they are conditioned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.answers import Answer
from eslabon.arguments import Floats


@dataclass(frozen=True, eq=False, repr=False)
class JointMotion(Answer):
    """Coordinates, velocities and accelerations of the joints, with what they miss.

    Attributes
    ----------
    q, v, a : the motion, (..., nq) and (..., nv).
    distance, angle : what is missing to the target, in metres and radians.
    slip : what is missing to the velocities asked for: radians, or metres over the characteristic
        length, a second.
    condition : the condition number of the motions that the joints are asked for.
    t : the times, where the motion follows a path.
    model : the mechanism that moves.

    >>> import eslabon as es
    >>> es.load("five_bar").complete([2.0, 1.0], [0.1, 0.0], report=True)
    <JointMotion: 1 rows, condition number up to ...>
    """

    q: Floats
    v: Floats
    a: Floats
    distance: Any
    angle: Any
    slip: Any
    condition: Any
    t: Floats | None = None
    model: Any = None

    def __repr__(self) -> str:
        worst = np.max(self.condition, initial=0.0)
        return (
            f"<JointMotion: {np.size(self.condition):,} rows, condition number up to {worst:.2g}>"
        )

    __str__ = __repr__

    @property
    def residual(self) -> Floats:
        """Distance and angle side by side, (..., 2)."""
        return np.stack([self.distance, self.angle], axis=-1)
