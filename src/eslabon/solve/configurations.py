"""Configurations that were solved for, and what tells two of them apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.answers import Answer
from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.model import Model
from eslabon.model.configuration import lengths, periodic
from eslabon.model.scale import characteristic_length
from eslabon.numerics.scalars import casadi
from eslabon.numerics.tolerances import DISTINCT


@dataclass(frozen=True, eq=False, repr=False)
class Configurations(Answer):
    """Configurations for targets, with the leading axes of these; several of each have one axis
    more.

    Attributes
    ----------
    q : the configurations (..., nq), with loops closed ones; where none reaches its target, the
        nearest.
    converged : which of them reach their targets, by the forward kinematics and all loops.
    distance, angle : what is missing, in metres and radians; of several parts or points, the worst.
    iterations : the steps taken.

    >>> import eslabon as es
    >>> target = es.Target(position=[1.0, 1.0, 0.0])
    >>> found = es.load("elbow").inverse_kinematics(target, report=True)
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
        far, turned = (np.max(x, initial=0.0) for x in (self.distance, self.angle))
        return (
            f"<Configurations: {found}, distance up to {far:.2g} m, angle up to {turned:.2g} rad>"
        )

    __str__ = __repr__

    @property
    def residual(self) -> Floats:
        """Distance and angle side by side, (..., 2)."""
        return np.stack([self.distance, self.angle], axis=-1)


def fingerprint(m: Model, q: Any) -> Any:
    """Numbers that two configurations have in common if they are the same but for passive motions:
    the actuated coordinates, and where all joints and loops stand, in units of the characteristic
    length."""
    placed, length = placements(m, q), characteristic_length(m)
    turning, sliding = periodic(m.nominal), lengths(m.nominal)
    driven = [k for name in m.actuated for k in range(m.nq)[m.coordinates[name]]]
    rows = []
    for k in driven:
        own = q[k] / length if sliding[k] else q[k]
        rows += [casadi.cos(own), casadi.sin(own)] if turning[k] else [own]
    rows += [on_body(placed, j.parent, j.at).p / length for j in m.joints]
    rows += [on_body(placed, loop.second.body, loop.second.at).p / length for loop in m.loops]
    return casadi.densify(casadi.vertcat(*(casadi.vec(casadi.SX(y)) for y in rows)))


FINGERPRINT = Formula("fingerprint", fingerprint, (Q,), (Argument("fingerprint", None),), rare=True)


def distinct_marks(m: Model, q: Floats, most: float = np.inf) -> list[int]:
    """Which configurations (k, nq) are not the same but for passive motions, those before the
    others."""
    marks = np.asarray(evaluate(m, FINGERPRINT)(q)).reshape(len(q), -1)
    return distinct(marks, lambda a, b: np.abs(a - b).max(axis=-1), DISTINCT, most)


def distinct(
    items: Floats, apart: Callable[[Floats, Floats], Floats], tolerance: float, most: float = np.inf
) -> list[int]:
    """Which items, the first ones first, are at least the tolerance apart from all taken before
    them."""
    taken: list[int] = []
    left, together = np.arange(len(items)), 4
    while len(left) and len(taken) < most:  # several at a time, ever more where most are apart
        block = left[:together]
        near = ~(apart(items[left][None], items[block][:, None]) >= tolerance)
        free = np.ones(len(left), dtype=bool)
        for k, item in enumerate(block):
            if free[k] and len(taken) < most:
                taken.append(int(item))
                free &= ~near[k]
        left, together = left[len(block) :][free[len(block) :]], min(2 * together, 64)
    return taken
