"""What a cut joint holds: rows of a closure equation, with the wrenches that hold them.

A cut joint sees the pose (R, p) of its second frame in its first. Each class here is one way of holding that pose: its
``residual`` vanishes where the joint closes, and its ``covectors`` C are the reaction wrenches, moment first, in the
second frame's axes, with d(residual)/dt = C^T V for the relative twist V of a closed joint (Yime, eqs. 20-27). The
angular rows are scaled so that a body turned by half a turn is the farthest there is and not another solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from eslabon.algebra.arrays import Array, Scalar, atan2, cross, dot, entries, parts, tan, where

Vector = tuple[Scalar, ...]  # three components
Covector = tuple[Vector, Vector]  # moment, force
ZERO = (0.0, 0.0, 0.0)
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Constraint(Protocol):
    """A few rows of a cut joint's closure equation."""

    def residual(self, R: Array, p: Array) -> list[Scalar]: ...

    def covectors(self, R: Array, p: Array) -> list[Covector]: ...


def turned_back(R: Array, u: Vector) -> Vector:
    """R^T u: a direction of the first frame seen in the second."""
    rows = entries(R, 3, 3)
    return tuple(dot([row[j] for row in rows], u) for j in range(3))


def perpendicular(axis: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that make a right-handed frame with a unit axis.

    They are x and y turned by the smallest rotation that takes z onto the axis; for an axis that points below the
    xy-plane, -z is taken onto it after half a turn about x. So the frame of z is (x, y) and that of -z is (x, -y).
    """
    x, y, z = axis
    s = (1.0 if z >= 0 else -1.0) if isinstance(z, float) else where(z >= 0, 1.0, -1.0)
    a = -1.0 / (s + z)
    b = x * y * a
    return (1.0 + s * x * x * a, s * b, -s * x), (b, s + y * y * a, -y)


@dataclass(frozen=True)
class Point:
    """The origins coincide: R^T p = 0, written in the second frame so that the reactions keep constant directions."""

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        return list(turned_back(R, parts(p, 3)))

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(ZERO, u) for u in AXES]


@dataclass(frozen=True)
class InPlane:
    """The second origin stays in the plane through the first with a given normal: u . p = 0."""

    normal: Vector

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        return [dot(self.normal, parts(p, 3))]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(ZERO, turned_back(R, self.normal))]


def on_line(axis: Vector) -> tuple[InPlane, ...]:
    """The second origin stays on the line through the first along the axis: in two planes."""
    return tuple(InPlane(normal) for normal in perpendicular(axis))


@dataclass(frozen=True)
class Aligned:
    """The axis points the same way in both frames: b . (R^T a x a) / cos^2(half the angle between), b normal to a."""

    axis: Vector

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        seen = turned_back(R, self.axis)
        half = 2.0 / (1.0 + dot(self.axis, seen))
        return [half * dot(b, cross(seen, self.axis)) for b in perpendicular(self.axis)]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(b, ZERO) for b in perpendicular(self.axis)]


@dataclass(frozen=True)
class SameOrientation:
    """No relative rotation: 2 e tan(phi/2) = 0, from the linear invariants of R (Rojas, 2.4 f)."""

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        r = entries(R, 3, 3)
        scale = 2.0 / (1.0 + r[0][0] + r[1][1] + r[2][2])
        return [scale * (r[2][1] - r[1][2]), scale * (r[0][2] - r[2][0]), scale * (r[1][0] - r[0][1])]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(u, ZERO) for u in AXES]


@dataclass(frozen=True)
class FixedAngle:
    """An axis of the first frame keeps its angle to an axis of the second: (Yime, eq. 26)."""

    first: Vector
    second: Vector

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        return [dot(turned_back(R, self.first), self.second) - dot(self.first, self.second)]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(cross(self.second, turned_back(R, self.first)), ZERO)]


@dataclass(frozen=True)
class OnThread:
    """Advance along the axis follows the turn about it, a . p = pitch * theta, whichever turn of the thread it is."""

    axis: Vector
    pitch: Scalar

    def residual(self, R: Array, p: Array) -> list[Scalar]:
        first, _ = perpendicular(self.axis)
        seen = turned_back(R, first)
        angle = atan2(-dot(cross(self.axis, first), seen), dot(first, seen))
        return [2.0 * self.pitch * tan((dot(self.axis, parts(p, 3)) / self.pitch - angle) / 2.0)]

    def covectors(self, R: Array, p: Array) -> list[Covector]:
        return [(tuple(-self.pitch * a for a in self.axis), self.axis)]
