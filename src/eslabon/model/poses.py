"""Poses, their composition, and mass properties seen from another frame, on numbers that may be
expressions of parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from eslabon.answers import Answer, Column, Table, quantities_table
from eslabon.model.parameter_expressions import ParameterExpression, call
from eslabon.numerics.rotations import rotation_from_rpy, rpy_from_rotation
from eslabon.numerics.scalars import Computed, Expression, dot, vector
from eslabon.numerics.spatial import RigidTransform

if TYPE_CHECKING:
    from eslabon.model.items import Body

# What a field of an item holds: a float or a ParameterExpression in a description, a float or an
# Expression in a model. The same classes serve both, so that a union would have to be narrowed
# wherever a mass is read; functions of such numbers say the union, or give back what they take.
Number: TypeAlias = Any
N = TypeVar("N")
Triple = tuple[Number, Number, Number]
ORIGIN: Triple = (0.0, 0.0, 0.0)
Rows = Sequence[Sequence[Number]]
SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # the entries of an inertia


@dataclass(frozen=True)
class Pose(Answer):
    """Where a frame stands in another: a position, then roll, pitch and yaw about the fixed axes x,
    y, z."""

    position: Triple = ORIGIN
    rpy: Triple = ORIGIN

    def __post_init__(self) -> None:
        """A negative zero is a plain one, as in every other number of a description: it reads back
        as it is written."""
        for name in ("position", "rpy"):
            given = getattr(self, name)
            if isinstance(given, tuple) and any(type(x) is float and x == 0.0 for x in given):
                plain = tuple(0.0 if type(x) is float and x == 0.0 else x for x in given)
                object.__setattr__(self, name, plain)

    def rotation(self) -> Computed:
        """R = Rz(yaw) Ry(pitch) Rx(roll)."""
        return self._rotation

    @cached_property
    def _rotation(self) -> Computed:
        made = rotation_from_rpy(self.rpy)
        if isinstance(made, np.ndarray):
            made.flags.writeable = (
                False  # it is asked for again and again, and everybody is given the same
            )
        return made

    def translation(self) -> Computed:
        return vector(*self.position)

    def transform(self) -> RigidTransform:
        """The same pose as formulas use it: rotation matrix and position."""
        return RigidTransform(self._rotation, self.translation())

    def __matmul__(self, other: Pose) -> Pose:
        """T1 T2: the pose of a frame that stands at `other` in the frame that stands here.

        >>> Pose((1.0, 0.0, 0.0), (0.0, 0.0, np.pi / 2)) @ Pose((0.0, 2.0, 0.0))
        Pose(position=(-1.0, 0.0, 0.0), rpy=(0.0, 0.0, 1.5707963267948966))
        """
        R = _rotation(self.rpy)
        position = tuple(
            p + dot(row, other.position) for p, row in zip(self.position, R, strict=True)
        )
        if ORIGIN in (self.rpy, other.rpy):
            return Pose(position, self.rpy if other.rpy == ORIGIN else other.rpy)
        return Pose(position, _rpy(_product(R, _rotation(other.rpy))))

    def cells(self, prefix: str = "") -> Iterator[tuple[Column, Triple]]:
        """What tables show of it: the position, and the angles in degrees."""
        yield Column(f"{prefix}at", "m"), self.position
        roll, pitch, yaw = map(_degrees, self.rpy)
        yield Column(f"{prefix}rpy", "deg"), (roll, pitch, yaw)

    def contents(self) -> Iterator[Table]:
        yield quantities_table(self.cells())


@dataclass(frozen=True)
class End(Answer):
    """One side of a cut joint: a frame on a body."""

    body: str
    at: Pose = Pose()

    def contents(self) -> Iterator[Table]:
        yield quantities_table([(Column("body"), self.body), *self.at.cells()])


def _degrees(x: float | ParameterExpression | Expression) -> Number:
    return math.degrees(x) if isinstance(x, int | float) else x * (180.0 / math.pi)


def symmetric_rows(six: Sequence[N]) -> list[list[N]]:
    """The rows of a symmetric matrix from its entries xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = six
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def in_parent_frame(at: Pose, body: Body) -> Body:
    """A body at a pose, with its mass properties in the parent's frame instead of its own."""
    R = _rotation(at.rpy)
    com = tuple(p + dot(row, body.com) for p, row in zip(at.position, R, strict=True))
    I = _product(_product(R, symmetric_rows(body.inertia)), _transpose(R))
    return replace(body, com=com, inertia=tuple(I[i][j] for i, j in SIX))


def welded(body: Body, other: Body) -> Body:
    """Two bodies that move as one, their mass properties in the same frame; the name is the first
    one's.

    About the common centre of mass I = I1 + I2 + m1 m2 / (m1 + m2) (|d|^2 1 - d d^T), d from one
    centre to the other.
    """
    if other.mass == 0.0 or body.mass == 0.0:
        com, reduced = (body if other.mass == 0.0 else other).com, 0.0
    else:
        mass = body.mass + other.mass
        com = tuple(
            (body.mass * a + other.mass * b) / mass
            for a, b in zip(body.com, other.com, strict=True)
        )
        reduced = body.mass * other.mass / mass
    d = tuple(b - a for a, b in zip(body.com, other.com, strict=True))
    squared = dot(d, d)
    steiner = tuple(reduced * ((squared if i == j else 0.0) - d[i] * d[j]) for i, j in SIX)
    inertia = tuple(sum(terms) for terms in zip(body.inertia, other.inertia, steiner, strict=True))
    return replace(body, mass=body.mass + other.mass, com=com, inertia=inertia)


def _rotation(rpy: Triple) -> Rows:
    """R = Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, sr), (cp, sp), (cy, sy) = ((call("cos", x), call("sin", x)) for x in rpy)
    return [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [0.0 - sp, cp * sr, cp * cr],
    ]


def _rpy(R: Rows) -> Triple:
    """The angles of a rotation. Roll follows from the yaw that was found, so that it is right where
    yaw is lost too."""
    if not any(isinstance(x, ParameterExpression) for row in R for x in row):
        roll, pitch, yaw = rpy_from_rotation(np.array(R)).tolist()
        return roll, pitch, yaw
    (r11, r12, r13), (r21, r22, r23), (r31, _, _) = R
    yaw = call("atan2", r21, r11)
    c, s = call("cos", yaw), call("sin", yaw)
    pitch = call("atan2", 0.0 - r31, call("sqrt", r11 * r11 + r21 * r21))
    return call("atan2", s * r13 - c * r23, c * r22 - s * r12), pitch, yaw


def _product(A: Rows, B: Rows) -> Rows:
    return [[dot(row, column) for column in _transpose(B)] for row in A]


def _transpose(A: Sequence[Sequence[N]]) -> list[tuple[N, ...]]:
    return [*zip(*A, strict=True)]
