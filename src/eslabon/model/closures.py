"""Constraints that are no joint: loops that hold one, two or three components of a relative pose
(Yime, 4.1).

    [loops.rod]                    # a massless rod of length 0.4 between two points
    kind = "distance"
    length = 0.4
    first = { body = "crank", at = [0.1, 0, 0] }
    second = { body = "rocker" }

One small class each, as in `eslabon.model.joints`. `first` and `second` are the frames that the
loop's two ends have on their bodies; an axis is fixed in its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.model.constraints import (
    AXES,
    Aligned,
    AtDistance,
    Axis,
    ClosureKind,
    Constraint,
    FixedAngle,
    InPlane,
    SameOrientation,
    on_line,
)
from eslabon.numerics.quaternions import unit_axis
from eslabon.numerics.scalars import Scalar
from eslabon.numerics.tolerances import INPUT_DIGITS

X, Y, Z = AXES
SMALLEST_LENGTH = float(np.finfo(float).tiny)  # of what is not zero


@dataclass(frozen=True)
class PointOnPlane(ClosureKind):
    """The second origin stays in a plane of the first frame: normal to the axis, `offset` metres
    along it."""

    kind, symbol, dof = "point_on_plane", "PP", 5
    axis: Axis = Z
    offset: Any = 0.0

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (self.axis,)

    def constraints(self) -> tuple[Constraint, ...]:
        return (InPlane(unit_axis(self.axis), self.offset),)


@dataclass(frozen=True)
class PointOnLine(ClosureKind):
    """The second origin stays on the line through the first origin along the axis."""

    kind, symbol, dof = "point_on_line", "PL", 4
    axis: Axis = Z

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (self.axis,)

    def constraints(self) -> tuple[Constraint, ...]:
        return on_line(unit_axis(self.axis))


@dataclass(frozen=True)
class TwoAxes(ClosureKind):
    """A kind that binds an axis of the first frame to an axis of the second."""

    first: Axis = Z
    second: Axis = Z

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.first, self.second


class ParallelAxes(TwoAxes):
    """An axis of the first frame and one of the second point the same way."""

    kind, symbol, dof = "parallel_axes", "PA", 4

    def constraints(self) -> tuple[Constraint, ...]:
        return (Aligned(unit_axis(self.second), unit_axis(self.first)),)


@dataclass(frozen=True)
class ConstantAngle(TwoAxes):
    """An axis of the first frame keeps an angle, in radians, to one of the second; a right angle if
    none is given."""

    kind, symbol, dof = "constant_angle", "CA", 5
    angle: Any = np.pi / 2

    def requirements(self) -> list[tuple[Scalar, str, str]]:
        why = "a constant angle lies between 0 and pi; axes that stay parallel are of kind parallel_axes."
        return [
            *super().requirements(),
            *((x - INPUT_DIGITS, "angle", why) for x in (self.angle, np.pi - self.angle)),
        ]

    def constraints(self) -> tuple[Constraint, ...]:
        return (FixedAngle(unit_axis(self.first), unit_axis(self.second), self.angle),)


@dataclass(frozen=True)
class Distance(ClosureKind):
    """The two origins keep a distance, in metres: a massless rod between ball joints."""

    kind, symbol, dof = "distance", "D", 5
    length: Any = 0.0

    def requirements(self) -> list[tuple[Scalar, str, str]]:
        return [
            (
                self.length - SMALLEST_LENGTH,
                "length",
                "a distance is positive; points that coincide are of kind spherical.",
            )
        ]

    def constraints(self) -> tuple[Constraint, ...]:
        return (AtDistance(self.length),)


class Orientation(ClosureKind):
    """The two frames keep the same orientation, wherever their origins are."""

    kind, symbol, dof = "same_orientation", "SO", 3

    def constraints(self) -> tuple[Constraint, ...]:
        return (SameOrientation(),)


CLOSURES: dict[str, type[ClosureKind]] = {
    k.kind: k
    for k in (PointOnPlane, PointOnLine, ParallelAxes, ConstantAngle, Distance, Orientation)
}
