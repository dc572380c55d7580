"""What may be asked of a frame: one small class for each part of a pose, in symbols.

A part has a value, so many numbers that a target gives; an error, smooth rows that vanish where the frame is as asked,
lengths divided by `unit`; what is missed in metres and radians; and a rate, the rows C with d(value)/dt = C V for the
frame's twist V in the ground's axes at its origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eslabon.numerics.quaternions import rotation_vector_from_quaternion
from eslabon.numerics.rotations import quaternion_from_rotation
from eslabon.numerics.scalars import Expression, casadi

Vector = tuple[float, float, float]
ROWS = (
    "rx",
    "ry",
    "rz",
    "x",
    "y",
    "z",
)  # of a pose: turns about the ground's axes, then the position


ANGULAR, LINEAR = slice(0, 3), slice(3, 6)


def _half(rows: slice) -> Any:
    """The matrix that takes the angular or the linear half out of a twist."""
    return casadi.DM.eye(6)[rows, :]


@dataclass(frozen=True)
class Part:
    """A part of a frame's pose, and how much it counts: |error|^2 is multiplied by the weight."""

    frame: str
    unit: float
    weight: float
    size: ClassVar[int]  # of the value

    @property
    def error_rows(self) -> int:
        """How many rows the error has."""
        raise TypeError(f"{type(self).__name__} has no error")

    @property
    def rate_rows(self) -> int:
        """How many rows the rate has."""
        return self.error_rows

    def error(self, R: Expression, p: Expression, x: Expression) -> Expression:
        """Rows that vanish where the frame (R, p) is as the value x asks."""
        raise TypeError(f"{type(self).__name__} has no error")

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        """What is missing, in metres and radians."""
        raise TypeError(f"{type(self).__name__} misses nothing")

    def rate(self, R: Expression) -> Expression:
        """C with d(value)/dt = C V."""
        raise TypeError(f"{type(self).__name__} has no rate")


@dataclass(frozen=True)
class Position(Part):
    """Where the origin is."""

    size = 3

    @property
    def error_rows(self) -> int:
        return 3

    def error(self, R: Expression, p: Expression, x: Expression) -> Expression:
        return (p - x) / self.unit

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        return _norm(p - x), casadi.SX(0)

    def rate(self, R: Expression) -> Expression:
        return _half(LINEAR)


@dataclass(frozen=True)
class Orientation(Part):
    """How the frame is turned: the value is the rotation, row by row, the error its rotation vector in the ground's axes."""

    size = 9

    @property
    def error_rows(self) -> int:
        return 3

    def error(self, R: Expression, p: Expression, x: Expression) -> Expression:
        return _turn(R, x)

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        return casadi.SX(0), _norm(_turn(R, x))

    def rate(self, R: Expression) -> Expression:
        return _half(ANGULAR)


@dataclass(frozen=True)
class Axis(Part):
    """Where an axis of the frame points: the value is the direction in the ground, the error the way between the tips."""

    axis: Vector
    size = 3

    @property
    def error_rows(self) -> int:
        return 3

    def error(self, R: Expression, p: Expression, x: Expression) -> Expression:
        return self._tip(R) - x

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        return casadi.SX(0), 2.0 * casadi.asin(casadi.fmin(1.0, _norm(self._tip(R) - x) / 2.0))

    def rate(self, R: Expression) -> Expression:
        return -casadi.skew(self._tip(R)) @ _half(ANGULAR)

    def _tip(self, R: Expression) -> Expression:
        return R @ casadi.DM(list(self.axis))


@dataclass(frozen=True)
class InPlane(Part):
    """The two coordinates of the origin in a plane of the ground with the directions `first` and `second`."""

    first: Vector
    second: Vector
    size = 2

    @property
    def error_rows(self) -> int:
        return 2

    def error(self, R: Expression, p: Expression, x: Expression) -> Expression:
        return (_directions(self.first, self.second) @ p - x) / self.unit

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        return _norm(_directions(self.first, self.second) @ p - x), casadi.SX(0)

    def rate(self, R: Expression) -> Expression:
        return _directions(self.first, self.second) @ _half(LINEAR)


@dataclass(frozen=True)
class AngleInPlane(Part):
    """The angle by which the frame's own direction `first` is turned in a plane of the ground."""

    first: Vector
    second: Vector
    size = 1

    @property
    def error_rows(self) -> int:
        return 2

    @property
    def rate_rows(self) -> int:
        return 1

    def error(self, R: Expression, p: Expression, x: Expression) -> Expression:
        return self._seen(R) - casadi.vertcat(casadi.cos(x), casadi.sin(x))

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        c, s = casadi.vertsplit(self._seen(R))
        off = casadi.atan2(s, c) - x
        return casadi.SX(0), casadi.fabs(casadi.atan2(casadi.sin(off), casadi.cos(off)))

    def rate(self, R: Expression) -> Expression:
        return _directions(tuple(np.cross(self.first, self.second))) @ _half(ANGULAR)

    def _seen(self, R: Expression) -> Expression:
        return _directions(self.first, self.second) @ (R @ casadi.DM(list(self.first)))


@dataclass(frozen=True)
class Rows(Part):
    """Chosen rows of a pose: turns about the ground's axes, components of the position. The value is rotation, then position."""

    rows: tuple[int, ...]
    size = 12

    @property
    def error_rows(self) -> int:
        return len(self.rows)

    def error(self, R: Expression, p: Expression, x: Expression) -> Expression:
        return self._off(R, p, x, self.unit)

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        off = self._off(R, p, x, 1.0)
        turns = [k for k, row in enumerate(self.rows) if row < 3]
        return _norm(off[[k for k in range(len(self.rows)) if k not in turns]]), _norm(off[turns])

    def rate(self, R: Expression) -> Expression:
        return casadi.SX.eye(6)[list(self.rows), :]

    def _off(self, R: Expression, p: Expression, x: Expression, unit: float) -> Expression:
        return casadi.vertcat(_turn(R, x[:9]), (p - x[9:]) / unit)[list(self.rows)]


def _turn(R: Expression, x: Expression) -> Expression:
    """The rotation vector of what turns the rotation x, given row by row, into R."""
    E = R @ x.reshape((3, 3))  # column by column, as CasADi fills it, this is the transpose
    return rotation_vector_from_quaternion(quaternion_from_rotation(E))


def _norm(x: Expression) -> Expression:
    return casadi.norm_2(casadi.densify(x)) if x.numel() else casadi.SX(0)


def _directions(*directions: Vector) -> Any:
    return casadi.sparsify(casadi.DM(np.array(directions, dtype=float)))
