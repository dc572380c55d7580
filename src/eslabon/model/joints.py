"""The joint kinds. One small class each, and nothing else in the project asks what kind a joint is.

A kind gives the pose (R, p) of its outer frame in its inner one, the motion subspace S with V = S v, its rate dS/dt
along a motion, the rates of its coordinates, and the constraints it imposes when it is cut (Rojas, 2.2; Yime,
tables 1-4 as corrected). Twists are in the outer frame, angular part first. Axes may have any length but zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from eslabon.algebra.arrays import Array, Scalar, cross, matmul, matrix, parts, times, vector
from eslabon.algebra.quaternions import quaternion_rate, unit_axis
from eslabon.algebra.rotations import rotation_about, rotation_from_quaternion
from eslabon.model.constraints import (
    AXES,
    ZERO,
    Aligned,
    Constraint,
    FixedAngle,
    InPlane,
    OnLine,
    OnThread,
    Point,
    SameOrientation,
    Vector,
    perpendicular,
    turned_back,
)

Axis = tuple[Any, Any, Any]  # three numbers of a model
X, Y, Z = AXES


def columns(*twists: tuple[Vector, Vector]) -> Array:
    """A 6 x n matrix from (angular, linear) columns."""
    return matrix([[twist[half][i] for twist in twists] for half in (0, 1) for i in range(3)])


def scaled(factor: Scalar, u: Vector) -> Vector:
    return tuple(factor * x for x in u)


@dataclass(frozen=True)
class JointKind:
    """What every kind answers. The defaults suit a kind whose S is constant and whose rates are its velocities."""

    kind: ClassVar[str]
    symbol: ClassVar[str]
    nq: ClassVar[int]
    nv: ClassVar[int]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes a person gave, for checks and tables."""
        return ()

    def neutral(self) -> tuple[float, ...]:
        """The coordinates at which the outer frame is the inner one."""
        return (0.0,) * self.nq

    def transform(self, q: Array) -> tuple[Array, Array]:
        """The pose (R, p) of the outer frame in the inner frame."""
        raise TypeError(f"{type(self).__name__} has no transform")

    def motion(self, q: Array) -> Array:
        """The motion subspace S (6 x nv): the relative twist is S v."""
        raise TypeError(f"{type(self).__name__} has no motion subspace")

    def motion_rate(self, q: Array, v: Array) -> Array:
        """dS/dt along the motion v."""
        return matrix([[0.0] * self.nv for _ in range(6)]) if self.nv else vector_of_nothing()

    def coordinate_rates(self, q: Array, v: Array) -> Array:
        """dq/dt for the velocities v."""
        return v

    def constraints(self) -> tuple[Constraint, ...]:
        """What the joint holds when it is cut."""
        raise TypeError(f"{type(self).__name__} has no constraints")

    def residual(self, R: Array, p: Array) -> Array:
        """The 6 - nv closure residuals of the cut joint for the pose (R, p) of its second frame in its first."""
        rows = [x for constraint in self.constraints() for x in constraint.residual(R, p)]
        return vector(*rows) if rows else vector_of_nothing()[0]

    def covectors(self, R: Array, p: Array) -> Array:
        """The constraint covectors C (6 x (6 - nv)) of a closed joint: its reaction wrenches, with C^T S = 0."""
        rows = [x for constraint in self.constraints() for x in constraint.covectors(R, p)]
        return columns(*rows) if rows else vector_of_nothing()


def vector_of_nothing() -> Array:
    """A 6 x 0 matrix: what a joint without freedom moves, and a joint without constraint holds."""
    import numpy as np

    return np.zeros((6, 0))


@dataclass(frozen=True)
class OneAxis(JointKind):
    """A kind about or along one axis."""

    axis: Axis = Z

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (self.axis,)

    @property
    def unit(self) -> Vector:
        return unit_axis(self.axis)


@dataclass(frozen=True)
class Revolute(OneAxis):
    """theta about the axis."""

    kind, symbol, nq, nv = "revolute", "R", 1, 1

    def transform(self, q: Array) -> tuple[Array, Array]:
        return rotation_about(self.axis, parts(q, 1)[0]), vector(*ZERO)

    def motion(self, q: Array) -> Array:
        return columns((self.unit, ZERO))

    def constraints(self) -> tuple[Constraint, ...]:
        return Point(), Aligned(self.unit)


@dataclass(frozen=True)
class Prismatic(OneAxis):
    """d along the axis."""

    kind, symbol, nq, nv = "prismatic", "P", 1, 1

    def transform(self, q: Array) -> tuple[Array, Array]:
        return matrix(AXES), vector(*scaled(parts(q, 1)[0], self.unit))

    def motion(self, q: Array) -> Array:
        return columns((ZERO, self.unit))

    def constraints(self) -> tuple[Constraint, ...]:
        return OnLine(self.unit), SameOrientation()


@dataclass(frozen=True)
class Helical(OneAxis):
    """theta about the axis, with an advance of `pitch` metres a radian along it."""

    kind, symbol, nq, nv = "helical", "H", 1, 1
    pitch: Any = 0.0

    def transform(self, q: Array) -> tuple[Array, Array]:
        (theta,) = parts(q, 1)
        return rotation_about(self.axis, theta), vector(*scaled(self.pitch * theta, self.unit))

    def motion(self, q: Array) -> Array:
        return columns((self.unit, scaled(self.pitch, self.unit)))

    def constraints(self) -> tuple[Constraint, ...]:
        return OnLine(self.unit), OnThread(self.unit, self.pitch), Aligned(self.unit)


@dataclass(frozen=True)
class Cylindrical(OneAxis):
    """theta about and d along the axis."""

    kind, symbol, nq, nv = "cylindrical", "C", 2, 2

    def transform(self, q: Array) -> tuple[Array, Array]:
        theta, d = parts(q, 2)
        return rotation_about(self.axis, theta), vector(*scaled(d, self.unit))

    def motion(self, q: Array) -> Array:
        return columns((self.unit, ZERO), (ZERO, self.unit))

    def constraints(self) -> tuple[Constraint, ...]:
        return OnLine(self.unit), Aligned(self.unit)


@dataclass(frozen=True)
class Universal(JointKind):
    """theta1 about `first`, fixed in the inner frame, then theta2 about `second`, fixed in the outer one."""

    kind, symbol, nq, nv = "universal", "U", 2, 2
    first: Axis = Z
    second: Axis = Y

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.first, self.second

    def transform(self, q: Array) -> tuple[Array, Array]:
        theta1, theta2 = parts(q, 2)
        R = matmul(rotation_about(self.first, theta1), rotation_about(self.second, theta2))
        return R, vector(*ZERO)

    def _first_axis_outside(self, q: Array) -> Vector:
        return turned_back(rotation_about(unit_axis(self.second), parts(q, 2)[1]), unit_axis(self.first))

    def motion(self, q: Array) -> Array:
        return columns((self._first_axis_outside(q), ZERO), (unit_axis(self.second), ZERO))

    def motion_rate(self, q: Array, v: Array) -> Array:
        second = unit_axis(self.second)
        return columns((cross(self._first_axis_outside(q), scaled(parts(v, 2)[1], second)), ZERO), (ZERO, ZERO))

    def constraints(self) -> tuple[Constraint, ...]:
        return Point(), FixedAngle(unit_axis(self.first), unit_axis(self.second))


@dataclass(frozen=True)
class Spherical(JointKind):
    """A unit quaternion (w, x, y, z), with body rates as velocities."""

    kind, symbol, nq, nv = "spherical", "S", 4, 3

    def neutral(self) -> tuple[float, ...]:
        return (1.0, 0.0, 0.0, 0.0)

    def transform(self, q: Array) -> tuple[Array, Array]:
        return rotation_from_quaternion(q), vector(*ZERO)

    def motion(self, q: Array) -> Array:
        return columns(*((u, ZERO) for u in AXES))

    def coordinate_rates(self, q: Array, v: Array) -> Array:
        return quaternion_rate(q, v)

    def constraints(self) -> tuple[Constraint, ...]:
        return (Point(),)


@dataclass(frozen=True)
class Planar(OneAxis):
    """(x, y, theta): a shift in the plane normal to the axis, in the inner frame, and a turn about the axis.

    For the axis z the plane's directions are x and y of the inner frame; for another normal they are x and y turned
    with the smallest rotation that takes z onto it (see `constraints.perpendicular`).
    """

    kind, symbol, nq, nv = "planar", "E", 3, 3

    def transform(self, q: Array) -> tuple[Array, Array]:
        x, y, theta = parts(q, 3)
        along, across = perpendicular(self.unit)
        return rotation_about(self.axis, theta), vector(*(x * a + y * b for a, b in zip(along, across, strict=True)))

    def _directions_outside(self, q: Array) -> tuple[Vector, Vector]:
        R, _ = self.transform(q)
        along, across = perpendicular(self.unit)
        return turned_back(R, along), turned_back(R, across)

    def motion(self, q: Array) -> Array:
        along, across = self._directions_outside(q)
        return columns((ZERO, along), (ZERO, across), (self.unit, ZERO))

    def motion_rate(self, q: Array, v: Array) -> Array:
        spin = scaled(parts(v, 3)[2], self.unit)
        along, across = self._directions_outside(q)
        return columns((ZERO, cross(along, spin)), (ZERO, cross(across, spin)), (ZERO, ZERO))

    def constraints(self) -> tuple[Constraint, ...]:
        return InPlane(self.unit), Aligned(self.unit)


@dataclass(frozen=True)
class Free(JointKind):
    """(px, py, pz, w, x, y, z): position in the inner frame and orientation, with the body twist as velocity."""

    kind, symbol, nq, nv = "free", "F", 7, 6

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)

    def transform(self, q: Array) -> tuple[Array, Array]:
        return rotation_from_quaternion(vector(*parts(q, 7)[3:])), vector(*parts(q, 7)[:3])

    def motion(self, q: Array) -> Array:
        return columns(*((u, ZERO) for u in AXES), *((ZERO, u) for u in AXES))

    def coordinate_rates(self, q: Array, v: Array) -> Array:
        R, _ = self.transform(q)
        twist, quaternion = parts(v, 6), vector(*parts(q, 7)[3:])
        forward, turning = times(R, vector(*twist[3:])), quaternion_rate(quaternion, vector(*twist[:3]))
        return vector(*parts(forward, 3), *parts(turning, 4))

    def constraints(self) -> tuple[Constraint, ...]:
        return ()


@dataclass(frozen=True)
class Fixed(JointKind):
    """No freedom."""

    kind, symbol, nq, nv = "fixed", "W", 0, 0

    def transform(self, q: Array) -> tuple[Array, Array]:
        return matrix(AXES), vector(*ZERO)

    def motion(self, q: Array) -> Array:
        return vector_of_nothing()

    def constraints(self) -> tuple[Constraint, ...]:
        return Point(), SameOrientation()


KINDS: dict[str, type[JointKind]] = {
    k.kind: k for k in (Revolute, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Free, Fixed)
}
