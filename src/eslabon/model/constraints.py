"""What a cut joint holds: rows of a closure equation, with the wrenches that hold them.

A cut joint sees the pose (R, p) of its second frame in its first. Each class here is one way of
holding that pose: its ``residual`` vanishes where the joint closes, and its ``covectors`` C are the
reaction wrenches, moment first, in the second frame's axes, with d(residual)/dt = C^T V for the
relative twist V of a closed joint (Yime, eqs. 20-27). The angular rows are scaled so that a body
turned by half a turn is the farthest there is and not another solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from eslabon.arguments import has_symbols
from eslabon.numerics.scalars import (
    Array,
    Computed,
    Scalar,
    atan2,
    components,
    cos,
    cross,
    dot,
    entries,
    matrix,
    tan,
    vector,
    where,
)
from eslabon.numerics.tolerances import ROUND_OFF

Vector = tuple[Scalar, ...]  # three components
Covector = tuple[Vector, Vector]  # moment, force
Axis = tuple[Any, ...]  # three numbers of a model
ZERO = (0.0, 0.0, 0.0)
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Constraint(Protocol):
    """A few rows of a cut joint's closure equation."""

    row_units: ClassVar[tuple[str, ...]]  # "m" or "rad", for each row

    def residual(self, R: Array, p: Array) -> list[Scalar]: ...

    def covectors(self, R: Array, p: Array) -> list[Covector]: ...


def turned_back(R: Array, u: Vector) -> Vector:
    """R^T u: a direction of the first frame seen in the second."""
    rows = entries(R, 3, 3)
    return tuple(dot([row[j] for row in rows], u) for j in range(3))


def perpendicular(axis: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that make a right-handed frame with a unit axis.

    They are x and y turned by the smallest rotation that takes z onto the axis; for an axis that
    points below the xy-plane, -z is taken onto it after half a turn about x. So the frame of z is
    (x, y) and that of -z is (x, -y)."""
    x, y, z = axis
    s = (1.0 if z >= 0 else -1.0) if isinstance(z, float) else where(z >= 0, 1.0, -1.0)
    a = -1.0 / (s + z)
    b = x * y * a
    return (1.0 + s * x * x * a, s * b, -s * x), (b, s + y * y * a, -y)


@dataclass(frozen=True)
class ClosureKind:
    """What a loop answers, whether its kind is a joint that was cut or a constraint by itself
    (`eslabon.model.closures`)."""

    kind: ClassVar[str]
    symbol: ClassVar[str]
    axes_from_parameters: ClassVar[bool] = True  # whether an axis may be made of parameters

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes a person gave, for checks and tables."""
        return ()

    @property
    def is_plain(self) -> bool:
        """Whether all its numbers are plain, and none a symbol."""
        return not has_symbols(*vars(self).values())

    @property
    def dof(self) -> int:
        """The degrees of freedom it leaves to its two bodies."""
        raise TypeError(f"{type(self).__name__} has no degrees of freedom")

    @property
    def rows(self) -> int:
        """The number of scalar constraints."""
        return 6 - self.dof

    def requirements(self) -> list[tuple[Scalar, str, str]]:
        """What must not be negative of axes and other numbers, its key, and the sentence said where
        it is."""
        zero = "the axis is zero; give it a direction, such as 'z' or [0, 0, 1]."
        return [(dot(axis, axis) - ROUND_OFF**2, "axis", zero) for axis in self.axes]

    def constraints(self) -> tuple[Constraint, ...]:
        """What it holds."""
        raise TypeError(f"{type(self).__name__} has no constraints")

    @property
    def row_units(self) -> tuple[str, ...]:
        """The unit of each scalar constraint, "m" or "rad"."""
        return tuple(unit for constraint in self.constraints() for unit in constraint.row_units)

    def clearance_directions(self) -> tuple[Vector, ...]:
        """The directions in which a clearance lets the centre of a pin or a ball shift, unit
        vectors; none of other kinds."""
        return ()

    def residual(self, R: Array, p: Array) -> Computed:
        """The closure residuals for the pose (R, p) of the second frame in the first."""
        rows = [x for constraint in self.constraints() for x in constraint.residual(R, p)]
        return vector(*rows) if rows else np.zeros(0)

    def covectors(self, R: Array, p: Array) -> Computed:
        """The constraint covectors C (6 x rows) of a closed loop: its reaction wrenches."""
        return columns(
            *(x for constraint in self.constraints() for x in constraint.covectors(R, p))
        )


def columns(*twists: tuple[Vector, Vector]) -> Computed:
    """A 6 x n matrix from (angular, linear) columns."""
    if not twists:
        return np.zeros((6, 0))
    return matrix([[twist[half][i] for twist in twists] for half in (0, 1) for i in range(3)])


@dataclass(frozen=True)
class Point:
    """The origins coincide: R^T p = 0, written in the second frame so that the reactions keep
    constant directions."""

    row_units: ClassVar[tuple[str, ...]] = ("m", "m", "m")

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        return list(turned_back(R, components(p, 3)))

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(ZERO, u) for u in AXES]


@dataclass(frozen=True)
class InPlane:
    """The second origin stays in the plane with a given normal at a given offset from the first: u
    . p = offset."""

    row_units: ClassVar[tuple[str, ...]] = ("m",)
    normal: Vector
    offset: Scalar = 0.0

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        return [dot(self.normal, components(p, 3)) - self.offset]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(ZERO, turned_back(R, self.normal))]


def on_line(axis: Vector) -> tuple[InPlane, ...]:
    """The second origin stays on the line through the first along the axis: in two planes."""
    return tuple(InPlane(normal) for normal in perpendicular(axis))


@dataclass(frozen=True)
class Aligned:
    """The axis a, and its other a' in the first frame, point the same way: b . (R^T a' x a) /
    cos^2(half the angle between), b normal to a."""

    row_units: ClassVar[tuple[str, ...]] = ("rad", "rad")
    axis: Vector
    other: Vector | None = None  # the same

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        seen = turned_back(R, self.other or self.axis)
        half = 2.0 / (1.0 + dot(self.axis, seen))
        return [half * dot(b, cross(seen, self.axis)) for b in perpendicular(self.axis)]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(b, ZERO) for b in perpendicular(self.axis)]


@dataclass(frozen=True)
class SameOrientation:
    """No relative rotation: 2 e tan(phi/2) = 0, from the linear invariants of R (Rojas, 2.4 f)."""

    row_units: ClassVar[tuple[str, ...]] = ("rad", "rad", "rad")

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        r = entries(R, 3, 3)
        scale = 2.0 / (1.0 + r[0][0] + r[1][1] + r[2][2])
        return [
            scale * (r[2][1] - r[1][2]),
            scale * (r[0][2] - r[2][0]),
            scale * (r[1][0] - r[0][1]),
        ]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(u, ZERO) for u in AXES]


@dataclass(frozen=True)
class FixedAngle:
    """An axis of the first frame keeps its angle to an axis of the second (Yime, eq. 26): the angle
    given, or the one they have in the same frame."""

    row_units: ClassVar[tuple[str, ...]] = ("rad",)
    first: Vector
    second: Vector
    angle: Scalar | None = None

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        held = dot(self.first, self.second) if self.angle is None else cos(self.angle)
        return [dot(turned_back(R, self.first), self.second) - held]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(cross(self.second, turned_back(R, self.first)), ZERO)]


@dataclass(frozen=True)
class OnThread:
    """Advance along the axis follows the turn about it, a . p = pitch * theta, whichever turn of
    the thread it is."""

    row_units: ClassVar[tuple[str, ...]] = ("m",)
    axis: Vector
    pitch: Scalar

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        first, _ = perpendicular(self.axis)
        seen = turned_back(R, first)
        angle = atan2(-dot(cross(self.axis, first), seen), dot(first, seen))
        return [
            2.0 * self.pitch * tan((dot(self.axis, components(p, 3)) / self.pitch - angle) / 2.0)
        ]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(tuple(-self.pitch * a for a in self.axis), self.axis)]


@dataclass(frozen=True)
class AtDistance:
    """The origins keep their distance: (p . p / d - d) / 2 = 0, which is smooth where they
    coincide."""

    row_units: ClassVar[tuple[str, ...]] = ("m",)
    length: Scalar

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        along = components(p, 3)
        return [(dot(along, along) / self.length - self.length) / 2.0]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(ZERO, tuple(x / self.length for x in turned_back(R, components(p, 3))))]
