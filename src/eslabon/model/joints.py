"""The joint kinds. One small class each, and nothing else in the project asks what kind a joint is.

A kind gives the pose (R, p) of its outer frame in its inner one, the motion subspace S with V = S
v, its rate dS/dt along a motion, the constraints it imposes when it is cut (Rojas, 2.2; Yime,
tables 1-4 as corrected), and the geometry of its coordinates: their names and units, their rates,
how a velocity is added to them, how two of them differ, and how they are brought back onto their
manifold. Twists are in the outer frame, angular part first. Axes may have any length but zero.
`eslabon.model.configuration` does the same for all joints of a model at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from eslabon.model.constraints import (
    AXES,
    ZERO,
    Aligned,
    Axis,
    ClosureKind,
    Constraint,
    FixedAngle,
    InPlane,
    OnThread,
    Point,
    SameOrientation,
    Vector,
    columns,
    on_line,
    perpendicular,
    turned_back,
)
from eslabon.numerics.quaternions import (
    quaternion_conjugate,
    quaternion_from_rotation_vector,
    quaternion_product,
    quaternion_rate,
    rotation_vector_from_quaternion,
    unit_axis,
)
from eslabon.numerics.rigid_motions import motion_exp, position_of, shift_log
from eslabon.numerics.rotations import rotation_about, rotation_from_quaternion, rpy_from_rotation
from eslabon.numerics.scalars import (
    A,
    Array,
    Computed,
    Scalar,
    block,
    components,
    concatenate,
    cross,
    dot,
    floor,
    is_symbolic,
    matmul,
    matrix,
    norm,
    raise_unless,
    times,
    transpose,
    vector,
)
from eslabon.numerics.spatial import RigidTransform, angular_and_linear, skew
from eslabon.numerics.tolerances import COINCIDENT, ROUND_OFF
from eslabon.numerics.traced_steps import traced_once

T = TypeVar("T")
X, Y, Z = AXES
Homogeneous = tuple[Scalar, ...]  # four: a point (r, 1) or a direction (d, 0)
ORIGIN: Homogeneous = (0.0, 0.0, 0.0, 1.0)
DIRECTIONS: tuple[Homogeneous, ...] = tuple((*u, 0.0) for u in AXES)
TURN = 2 * math.pi


class Coordinate(NamedTuple):
    """One coordinate of a joint, or one of its velocities: its name beside the joint's own, its
    unit ("" for a component of a quaternion), and whether a whole turn of it changes nothing."""

    name: str
    unit: str
    periodic: bool = False


class Hinge(NamedTuple):
    """A hinge or a slide of a chain that moves as a joint does: the end of its name, its kind, and
    how many times the first coordinate of the chain its own is, if it follows that one."""

    suffix: str
    kind: JointKind
    ratio: Any = None


ANGLE, SCREW, LENGTH = Coordinate("", "rad", True), Coordinate("", "rad"), Coordinate("", "m")
TURNING, SLIDING = Coordinate("", "rad/s"), Coordinate("", "m/s")
QUATERNION = tuple(Coordinate(name, "") for name in "wxyz")
ANGULAR = tuple(Coordinate(f"w{letter}", "rad/s") for letter in "xyz")
LINEAR = tuple(Coordinate(f"v{letter}", "m/s") for letter in "xyz")


def per_kind(formula: Callable[..., T]) -> Callable[..., T]:
    """A formula of a kind and of symbols, traced once for each kind whose numbers are plain."""
    traced = traced_once(lambda *arrays, kind: formula(kind, *arrays))

    @wraps(formula)
    def method(self: JointKind, *arrays: Array) -> T:
        return traced(*arrays, kind=self) if self.is_plain else formula(self, *arrays)

    return method


def scaled(factor: Scalar, u: Vector) -> Vector:
    return tuple(factor * x for x in u)


def unit_quaternion(q: A) -> A:
    """A quaternion scaled to length one."""
    entries = components(q, 4)
    length = norm(entries)
    if not is_symbolic(length):
        raise_unless(
            length != 0,
            "quaternion",
            "has the length zero and stands for no rotation; the identity is (1, 0, 0, 0).",
        )
    with np.errstate(invalid="ignore"):
        return vector(*(c / length for c in entries))


class JointKind(ClosureKind):
    """What every kind answers; its `constraints` are what it holds when it is cut. The defaults
    suit a kind whose S is constant and whose coordinates are angles and lengths with plain rates as
    velocities."""

    coordinates: ClassVar[tuple[Coordinate, ...]]
    velocities: ClassVar[tuple[Coordinate, ...]]

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """The number of velocities: the degrees of freedom."""
        return len(self.velocities)

    @property
    def dof(self) -> int:
        return self.nv

    @property
    def has_quaternion(self) -> bool:
        """Whether some coordinates are a quaternion, for which there are no limits and no
        springs."""
        return not all(c.unit for c in self.coordinates)

    # -- the geometry of the coordinates -----------------------------------------------------------

    def neutral(self) -> tuple[float, ...]:
        """The coordinates at which the outer frame is the inner one."""
        return tuple(float(c.name == "w") for c in self.coordinates)

    def coordinate_rates(self, q: A, v: A) -> A:
        """dq/dt for the velocities v."""
        return v

    def integrate(self, q: A, v: A) -> A:
        """The coordinates that the constant velocities v lead to in a unit of time: the exponential
        map."""
        return q + v

    def difference(self, q1: A, q0: A) -> A:
        """The velocities that lead from q0 to q1 in a unit of time, the short way round:
        `integrate` undone."""
        if not any(c.periodic for c in self.coordinates):
            return q1 - q0
        change = zip(components(q1 - q0, self.nq), self.coordinates, strict=True)
        return vector(*(x - TURN * floor(x / TURN + 0.5) if c.periodic else x for x, c in change))

    def displacement_rate(self, v: Array) -> Computed | None:
        """The matrix K of d(delta)/dt = delta v + K delta, for a small displacement delta along the
        velocities and the change delta v of these: None where it is zero, since velocities are
        rates of coordinates."""
        return None

    def length(self, q: Array) -> Computed | None:
        """The squared length of the quaternion among the coordinates, if there is one."""
        if not self.has_quaternion:
            return None
        return sum(
            x * x
            for x, c in zip(components(q, self.nq), self.coordinates, strict=True)
            if not c.unit
        )

    def normalize(self, q: A) -> A:
        """The coordinates brought back onto their manifold; what is not a number stays so."""
        return q

    # -- what it moves and what it holds -----------------------------------------------------------

    def transform(self, q: Array) -> RigidTransform:
        """The pose (R, p) of the outer frame in the inner frame."""
        raise TypeError(f"{type(self).__name__} has no transform")

    def motion(self, q: Array) -> Computed:
        """The motion subspace S (6 x nv): the relative twist is S v."""
        raise TypeError(f"{type(self).__name__} has no motion subspace")

    def motion_rate(self, q: Array, v: Array) -> Computed:
        """dS/dt along the motion v."""
        return np.zeros((6, self.nv))

    def in_series(self) -> tuple[JointKind, ...]:
        """Joints of constant S, one after the other at one place, that make this one: itself, if
        its S is constant."""
        return (self,)

    def hinges(self) -> tuple[Hinge, ...]:
        """The chain of hinges and slides, with massless bodies between them, that stands for this
        joint where a file format has no such kind: the joint itself, of kinds that all formats
        have."""
        return (Hinge("", self),)

    def hinge_coordinates(self, q: tuple[Any, ...]) -> tuple[Any, ...]:
        """The coordinates of these hinges and slides for those of the joint."""
        return q

    def fixed_points(self) -> tuple[Homogeneous, ...]:
        """The points (r, 1) and directions (d, 0) of the body that no motion of the joint moves,
        orthonormal.

        With P the projector onto them and E the body's pseudo-inertia [[second moments, m c], [m
        c^T, m]], the joint cannot tell P E P from inertia of its parent: the regrouping of Gautier
        and Khalil's base parameters."""
        raise TypeError(f"{type(self).__name__} has no fixed points")


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

    def fixed_points(self) -> tuple[Homogeneous, ...]:
        return ((*self.unit, 0.0),)


class Revolute(OneAxis):
    """theta about the axis."""

    kind, symbol = "revolute", "R"
    coordinates = (ANGLE,)
    velocities = (TURNING,)

    @per_kind
    def transform(self, q: Array) -> RigidTransform:
        return RigidTransform(rotation_about(self.axis, components(q, 1)[0]), vector(*ZERO))

    def motion(self, q: Array) -> Computed:
        return columns((self.unit, ZERO))

    def fixed_points(self) -> tuple[Homogeneous, ...]:
        return *super().fixed_points(), ORIGIN

    def clearance_directions(self) -> tuple[Vector, ...]:
        return perpendicular(self.unit)

    def constraints(self) -> tuple[Constraint, ...]:
        return Point(), Aligned(self.unit)


class Prismatic(OneAxis):
    """d along the axis."""

    kind, symbol = "prismatic", "P"
    coordinates = (LENGTH,)
    velocities = (SLIDING,)

    @per_kind
    def transform(self, q: Array) -> RigidTransform:
        return RigidTransform(matrix(AXES), vector(*scaled(components(q, 1)[0], self.unit)))

    def motion(self, q: Array) -> Computed:
        return columns((ZERO, self.unit))

    def fixed_points(self) -> tuple[Homogeneous, ...]:
        return DIRECTIONS

    def constraints(self) -> tuple[Constraint, ...]:
        return *on_line(self.unit), SameOrientation()


@dataclass(frozen=True)
class Helical(OneAxis):
    """theta about the axis, with an advance of `pitch` metres a radian along it."""

    kind, symbol = "helical", "H"
    coordinates = (SCREW,)
    velocities = (TURNING,)
    pitch: Any = 0.0

    def requirements(self) -> list[tuple[Scalar, str, str]]:
        zero = "a helical joint needs a pitch (metres a radian) other than zero; without one it is revolute."
        return [*super().requirements(), (self.pitch * self.pitch - ROUND_OFF**2, "pitch", zero)]

    @per_kind
    def transform(self, q: Array) -> RigidTransform:
        (theta,) = components(q, 1)
        return RigidTransform(
            rotation_about(self.axis, theta), vector(*scaled(self.pitch * theta, self.unit))
        )

    def motion(self, q: Array) -> Computed:
        return columns((self.unit, scaled(self.pitch, self.unit)))

    def constraints(self) -> tuple[Constraint, ...]:
        return *on_line(self.unit), OnThread(self.unit, self.pitch), Aligned(self.unit)

    def hinges(self) -> tuple[Hinge, ...]:
        return Hinge("", Revolute(self.axis)), Hinge("slide", Prismatic(self.axis), self.pitch)

    def hinge_coordinates(self, q: tuple[Any, ...]) -> tuple[Any, ...]:
        return *q, self.pitch * q[0]


class Cylindrical(OneAxis):
    """theta about and d along the axis."""

    kind, symbol = "cylindrical", "C"
    coordinates = ANGLE._replace(name="angle"), LENGTH._replace(name="slide")
    velocities = TURNING._replace(name="angle"), SLIDING._replace(name="slide")

    @per_kind
    def transform(self, q: Array) -> RigidTransform:
        theta, d = components(q, 2)
        return RigidTransform(rotation_about(self.axis, theta), vector(*scaled(d, self.unit)))

    def motion(self, q: Array) -> Computed:
        return columns((self.unit, ZERO), (ZERO, self.unit))

    def clearance_directions(self) -> tuple[Vector, ...]:
        return perpendicular(self.unit)

    def constraints(self) -> tuple[Constraint, ...]:
        return *on_line(self.unit), Aligned(self.unit)

    def hinges(self) -> tuple[Hinge, ...]:
        return Hinge("angle", Revolute(self.axis)), Hinge("slide", Prismatic(self.axis))


@dataclass(frozen=True)
class Universal(JointKind):
    """theta1 about `first`, fixed in the inner frame, then theta2 about `second`, fixed in the
    outer one."""

    kind, symbol = "universal", "U"
    coordinates = tuple(ANGLE._replace(name=name) for name in ("first", "second"))
    velocities = tuple(TURNING._replace(name=name) for name in ("first", "second"))
    first: Axis = Z
    second: Axis = Y

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.first, self.second

    def requirements(self) -> list[tuple[Scalar, str, str]]:
        parallel = "the two axes are parallel; a universal joint needs two directions."
        across, lengths = cross(*self.axes), [dot(axis, axis) for axis in self.axes]
        return [
            *super().requirements(),
            (dot(across, across) - COINCIDENT**2 * lengths[0] * lengths[1], "axis", parallel),
        ]

    @per_kind
    def transform(self, q: Array) -> RigidTransform:
        theta1, theta2 = components(q, 2)
        R = matmul(rotation_about(self.first, theta1), rotation_about(self.second, theta2))
        return RigidTransform(R, vector(*ZERO))

    def _first_axis_outside(self, q: Array) -> Vector:
        return turned_back(
            rotation_about(unit_axis(self.second), components(q, 2)[1]), unit_axis(self.first)
        )

    @per_kind
    def motion(self, q: Array) -> Computed:
        return columns((self._first_axis_outside(q), ZERO), (unit_axis(self.second), ZERO))

    @per_kind
    def motion_rate(self, q: Array, v: Array) -> Computed:
        second = unit_axis(self.second)
        return columns(
            (cross(self._first_axis_outside(q), scaled(components(v, 2)[1], second)), ZERO),
            (ZERO, ZERO),
        )

    def in_series(self) -> tuple[JointKind, ...]:
        return Revolute(self.first), Revolute(self.second)

    def hinges(self) -> tuple[Hinge, ...]:
        return Hinge("first", Revolute(self.first)), Hinge("second", Revolute(self.second))

    def fixed_points(self) -> tuple[Homogeneous, ...]:
        return (ORIGIN,)

    def clearance_directions(self) -> tuple[Vector, ...]:
        return AXES

    def constraints(self) -> tuple[Constraint, ...]:
        return Point(), FixedAngle(unit_axis(self.first), unit_axis(self.second))


class Spherical(JointKind):
    """A unit quaternion (w, x, y, z), with body rates as velocities."""

    kind, symbol = "spherical", "S"
    coordinates = QUATERNION
    velocities = ANGULAR

    @per_kind
    def transform(self, q: Array) -> RigidTransform:
        return RigidTransform(rotation_from_quaternion(q), vector(*ZERO))

    def motion(self, q: Array) -> Computed:
        return columns(*((u, ZERO) for u in AXES))

    def coordinate_rates(self, q: A, v: A) -> A:
        return quaternion_rate(q, v)

    def integrate(self, q: A, v: A) -> A:
        return quaternion_product(q, quaternion_from_rotation_vector(v))

    def difference(self, q1: A, q0: A) -> A:
        return rotation_vector_from_quaternion(quaternion_product(quaternion_conjugate(q0), q1))

    def displacement_rate(self, v: Array) -> Computed:
        return -skew(v)

    def normalize(self, q: A) -> A:
        return unit_quaternion(q)

    def fixed_points(self) -> tuple[Homogeneous, ...]:
        return (ORIGIN,)

    def clearance_directions(self) -> tuple[Vector, ...]:
        return AXES

    def constraints(self) -> tuple[Constraint, ...]:
        return (Point(),)

    def hinges(self) -> tuple[Hinge, ...]:
        return tuple(Hinge(*each) for each in zip("zyx", map(Revolute, (Z, Y, X)), strict=True))

    def hinge_coordinates(self, q: tuple[Any, ...]) -> tuple[Any, ...]:
        """Yaw, pitch and roll."""
        return components(rpy_from_rotation(rotation_from_quaternion(vector(*q))), 3)[::-1]


class Planar(OneAxis):
    """(x, y, theta): a shift in the plane normal to the axis, in the inner frame, and a turn about
    the axis.

    For the axis z the plane's directions are x and y of the inner frame; for another normal they
    are x and y turned with the smallest rotation that takes z onto it (see
    `constraints.perpendicular`).
    """

    kind, symbol = "planar", "E"
    coordinates = Coordinate("x", "m"), Coordinate("y", "m"), Coordinate("angle", "rad", True)
    velocities = Coordinate("x", "m/s"), Coordinate("y", "m/s"), Coordinate("angle", "rad/s")

    axes_from_parameters = False  # the directions in the plane follow from its normal

    @per_kind
    def transform(self, q: Array) -> RigidTransform:
        x, y, theta = components(q, 3)
        along, across = perpendicular(self.unit)
        return RigidTransform(
            rotation_about(self.axis, theta),
            vector(*(x * a + y * b for a, b in zip(along, across, strict=True))),
        )

    def _directions_outside(self, q: Array) -> tuple[Vector, Vector]:
        R, _ = self.transform(q)
        along, across = perpendicular(self.unit)
        return turned_back(R, along), turned_back(R, across)

    @per_kind
    def motion(self, q: Array) -> Computed:
        along, across = self._directions_outside(q)
        return columns((ZERO, along), (ZERO, across), (self.unit, ZERO))

    @per_kind
    def motion_rate(self, q: Array, v: Array) -> Computed:
        spin = scaled(components(v, 3)[2], self.unit)
        along, across = self._directions_outside(q)
        return columns((ZERO, cross(along, spin)), (ZERO, cross(across, spin)), (ZERO, ZERO))

    def in_series(self) -> tuple[JointKind, ...]:
        along, across = perpendicular(self.unit)
        return Prismatic(along), Prismatic(across), Revolute(self.axis)

    def constraints(self) -> tuple[Constraint, ...]:
        return InPlane(self.unit), Aligned(self.unit)


class Free(JointKind):
    """(px, py, pz, w, x, y, z): position in the inner frame and orientation, with the body twist as
    velocity."""

    kind, symbol = "free", "F"
    coordinates = (*(Coordinate(f"p{letter}", "m") for letter in "xyz"), *QUATERNION)
    velocities = (*ANGULAR, *LINEAR)

    @per_kind
    def transform(self, q: Array) -> RigidTransform:
        return RigidTransform(
            rotation_from_quaternion(vector(*components(q, 7)[3:])), vector(*components(q, 7)[:3])
        )

    def motion(self, q: Array) -> Computed:
        return columns(*((u, ZERO) for u in AXES), *((ZERO, u) for u in AXES))

    def coordinate_rates(self, q: A, v: A) -> A:
        (_, quaternion), (w, u) = angular_and_linear(q), angular_and_linear(v)
        return concatenate(
            times(rotation_from_quaternion(quaternion), u), quaternion_rate(quaternion, w)
        )

    def integrate(self, q: A, v: A) -> A:
        (p, quaternion), (w, _) = angular_and_linear(q), angular_and_linear(v)
        shift = times(rotation_from_quaternion(quaternion), position_of(motion_exp(v)))
        return concatenate(
            p + shift, quaternion_product(quaternion, quaternion_from_rotation_vector(w))
        )

    def difference(self, q1: A, q0: A) -> A:
        (p1, turned), (p0, quaternion) = angular_and_linear(q1), angular_and_linear(q0)
        w = rotation_vector_from_quaternion(
            quaternion_product(quaternion_conjugate(quaternion), turned)
        )
        return concatenate(
            w, shift_log(w, times(transpose(rotation_from_quaternion(quaternion)), p1 - p0))
        )

    def displacement_rate(self, v: Array) -> Computed:
        w, u = angular_and_linear(v)
        return -block([[skew(w), 0 * skew(w)], [skew(u), skew(w)]])

    def normalize(self, q: A) -> A:
        p, quaternion = angular_and_linear(q)
        return concatenate(p, unit_quaternion(quaternion))

    def fixed_points(self) -> tuple[Homogeneous, ...]:
        return ()

    def constraints(self) -> tuple[Constraint, ...]:
        return ()


class Fixed(JointKind):
    """No degrees of freedom."""

    kind, symbol = "fixed", "W"
    coordinates = ()
    velocities = ()

    def transform(self, q: Array) -> RigidTransform:
        return RigidTransform(matrix(AXES), vector(*ZERO))

    def motion(self, q: Array) -> Computed:
        return columns()

    def fixed_points(self) -> tuple[Homogeneous, ...]:
        return *DIRECTIONS, ORIGIN

    def constraints(self) -> tuple[Constraint, ...]:
        return Point(), SameOrientation()


KINDS: dict[str, type[JointKind]] = {
    k.kind: k
    for k in (Revolute, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Free, Fixed)
}
