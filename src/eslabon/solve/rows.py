"""Rows: what may be prescribed of a frame's pose, one small class for each part of it.

A class of rows has a value, the numbers that a target gives. Its `error` are smooth, dimensionless
rows that vanish where the frame is as prescribed, written on the frame's placement (R, p); its
`slope` is their derivative by the frame's twist, exact where they vanish, such that slope^T error
is the exact gradient of |error|^2 / 2 everywhere; its `rate` is C with d(value)/dt = C V. Twists
are in the ground's axes at the frame's origin, angular part first. Rows know no mechanism and no
configuration.

On numbers, `value` gives the value of poses, `displacement` the rates that lead straight from one
value to another in a unit of time, and `along` where they lead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from eslabon.arguments import Floats
from eslabon.numerics.quaternions import (
    quaternion_from_rotation_vector,
    rotation_vector_from_quaternion,
)
from eslabon.numerics.rotations import quaternion_from_rotation, rotation_from_quaternion
from eslabon.numerics.scalars import Expression, casadi

Vector = tuple[float, float, float]
POSE_ROWS = ("rx", "ry", "rz", "x", "y", "z")  # turns about the ground's axes, then the position
EXACT_ROTATION = 1e-14  # of R R^T against 1: a rotation to its last digits
ANGULAR, LINEAR = slice(0, 3), slice(3, 6)


@dataclass(frozen=True)
class Rows(ABC):
    """A part of a frame's pose. |error|^2 counts `weight` times where not all parts can be
    reached."""

    frame: str
    weight: float = 1.0
    size: ClassVar[int]  # numbers of a value
    rate_units: ClassVar[tuple[str, ...]]  # "rad" or "m" for each row of the rate

    @property
    def error_size(self) -> int:
        """How many rows the error has."""
        return self.rate_size

    @property
    def rate_size(self) -> int:
        """How many rows the rate has."""
        return len(self.rate_units)

    @property
    def rate_rank(self) -> int:
        """How many of these are independent, whatever moves."""
        return self.rate_size

    @abstractmethod
    def error(self, R: Expression, p: Expression, x: Expression, length: Any) -> Expression:
        """Rows that vanish where the frame (R, p) has the value x, lengths divided by `length`."""

    def half_turns(self, R: Expression, x: Expression) -> Expression:
        """Rows that vanish where the error does, but not half a turn away, where errors that are
        sines vanish too."""
        return casadi.SX(0, 1)

    @abstractmethod
    def slope(self, R: Expression, length: Any) -> Expression | None:
        """The derivative of the error by the frame's twist; None: the graph is to be
        differentiated."""

    @abstractmethod
    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        """What is missing, in metres and radians."""

    @abstractmethod
    def rate(self, R: Expression) -> Expression:
        """C with d(value)/dt = C V."""

    @abstractmethod
    def value(self, pose: Floats) -> Floats:
        """The value that poses (..., 4, 4) of the frame have."""

    def displacement(self, to: Floats, start: Floats) -> Floats:
        """The rates that lead straight from one value to another in a unit of time."""
        return to - start

    def along(self, start: Floats, dx: Floats) -> Floats:
        """The value that a displacement leads to."""
        return start + dx

    def value_weights(self, length: float, place: float) -> Floats:
        """What each number of a value counts when near values are told from far ones: places
        `place` times as much as directions."""
        return np.full(self.size, place / length if "m" in self.rate_units else 1.0)

    def comparable(self, length: Any) -> Floats:
        """What makes the rows of the rate comparable: 1 for rad, one over the length for m."""
        return np.array([1.0 if unit == "rad" else 1.0 / length for unit in self.rate_units])


@dataclass(frozen=True)
class Position(Rows):
    """Where the origin is."""

    size = 3
    rate_units = ("m",) * 3

    def error(self, R: Expression, p: Expression, x: Expression, length: Any) -> Expression:
        return (p - x) / length

    def slope(self, R: Expression, length: Any) -> Expression:
        return _half(LINEAR) / length

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        return _norm(p - x), casadi.SX(0)

    def rate(self, R: Expression) -> Expression:
        return _half(LINEAR)

    def value(self, pose: Floats) -> Floats:
        return pose[..., :3, 3]


@dataclass(frozen=True)
class Orientation(Rows):
    """How the frame is turned: the value is its rotation, row by row, the error a rotation vector.

    Rojas (3.3.1) asks for vect P = vect R and tr P = tr R, four equations in the three degrees of
    freedom of a rotation. Written for the error E = P R^T of the frame's rotation P against the
    target's R, their least-squares solution is a turn by -vect E = -e sin phi. That goes to zero
    half a turn away, where the four equations stall; here it is lengthened to -e phi, which has the
    same direction, the same derivative at the solution, and no such stall.
    """

    size = 9
    rate_units = ("rad",) * 3

    def error(self, R: Expression, p: Expression, x: Expression, length: Any) -> Expression:
        return _turn(R, x)

    def slope(self, R: Expression, length: Any) -> Expression:
        return _half(ANGULAR)

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        return casadi.SX(0), _norm(_turn(R, x))

    def rate(self, R: Expression) -> Expression:
        return _half(ANGULAR)

    def value(self, pose: Floats) -> Floats:
        return pose[..., :3, :3].reshape(*pose.shape[:-2], 9)

    def displacement(self, to: Floats, start: Floats) -> Floats:
        """A turn about one axis."""
        return _rotation_vector(_matrix(to) @ np.swapaxes(_matrix(start), -1, -2))

    def along(self, start: Floats, dx: Floats) -> Floats:
        turned = _rotation(dx) @ _matrix(start)
        return turned.reshape(*turned.shape[:-2], 9)


@dataclass(frozen=True)
class AxisRows(Rows):
    """Where an axis of the frame points: the value is its direction in the ground."""

    axis: Vector = (0.0, 0.0, 1.0)
    size = 3
    rate_units = ("rad",) * 3

    @property
    def rate_rank(self) -> int:
        return 2  # a direction keeps its length

    def error(self, R: Expression, p: Expression, x: Expression, length: Any) -> Expression:
        """The way between the tips of both directions."""
        return self._tip(R) - x

    def slope(self, R: Expression, length: Any) -> Expression:
        return self.rate(R)

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        return casadi.SX(0), 2.0 * casadi.asin(casadi.fmin(1.0, _norm(self._tip(R) - x) / 2.0))

    def rate(self, R: Expression) -> Expression:
        return -casadi.skew(self._tip(R)) @ _half(ANGULAR)

    def value(self, pose: Floats) -> Floats:
        return pose[..., :3, :3] @ np.array(self.axis)

    def displacement(self, to: Floats, start: Floats) -> Floats:
        """Along the great circle through both directions."""
        across = to - (to * start).sum(axis=-1, keepdims=True) * start
        sine = np.linalg.norm(across, axis=-1, keepdims=True)
        angle = np.arctan2(sine, (to * start).sum(axis=-1, keepdims=True))
        return across * (angle / np.maximum(sine, np.finfo(float).tiny))

    def along(self, start: Floats, dx: Floats) -> Floats:
        angle = np.linalg.norm(dx, axis=-1, keepdims=True)
        return np.cos(angle) * start + np.sinc(angle / np.pi) * dx

    def _tip(self, R: Expression) -> Expression:
        return R @ casadi.DM(list(self.axis))


@dataclass(frozen=True)
class InPlane(Rows):
    """The coordinates of the origin in a plane of the ground with directions `first` and
    `second`."""

    first: Vector = (1.0, 0.0, 0.0)
    second: Vector = (0.0, 1.0, 0.0)
    size = 2
    rate_units = ("m",) * 2

    def error(self, R: Expression, p: Expression, x: Expression, length: Any) -> Expression:
        return (_directions(self.first, self.second) @ p - x) / length

    def slope(self, R: Expression, length: Any) -> Expression:
        return self.rate(R) / length

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        return _norm(_directions(self.first, self.second) @ p - x), casadi.SX(0)

    def rate(self, R: Expression) -> Expression:
        return _directions(self.first, self.second) @ _half(LINEAR)

    def value(self, pose: Floats) -> Floats:
        return pose[..., :3, 3] @ np.array([self.first, self.second]).T


@dataclass(frozen=True)
class AngleInPlane(Rows):
    """The angle by which the frame's own direction `first` is turned in a plane of the ground."""

    first: Vector = (1.0, 0.0, 0.0)
    second: Vector = (0.0, 1.0, 0.0)
    size = 1
    rate_units = ("rad",)

    @property
    def error_size(self) -> int:
        return 2

    def error(self, R: Expression, p: Expression, x: Expression, length: Any) -> Expression:
        return self._seen(R) - casadi.vertcat(casadi.cos(x), casadi.sin(x))

    def slope(self, R: Expression, length: Any) -> Expression:
        arm = R @ casadi.DM(list(self.first))
        return -_directions(self.first, self.second) @ casadi.skew(arm) @ _half(ANGULAR)

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        c, s = casadi.vertsplit(self._seen(R))
        off = casadi.atan2(s, c) - x
        return casadi.SX(0), casadi.fabs(casadi.atan2(casadi.sin(off), casadi.cos(off)))

    def rate(self, R: Expression) -> Expression:
        return _directions(_cross(self.first, self.second)) @ _half(ANGULAR)

    def value(self, pose: Floats) -> Floats:
        own = pose[..., :3, :3] @ np.array(self.first) @ np.array([self.first, self.second]).T
        return np.arctan2(own[..., 1:], own[..., :1])

    def displacement(self, to: Floats, start: Floats) -> Floats:
        """The short way round."""
        return (to - start + np.pi) % (2 * np.pi) - np.pi

    def _seen(self, R: Expression) -> Expression:
        return _directions(self.first, self.second) @ (R @ casadi.DM(list(self.first)))


@dataclass(frozen=True)
class PoseRows(Rows):
    """Chosen rows of a pose, by their places in `POSE_ROWS`. The value is the rotation, then the
    position."""

    rows: tuple[int, ...] = ()
    size = 12

    @property
    def rate_units(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple("rad" if row < 3 else "m" for row in self.rows)

    def error(self, R: Expression, p: Expression, x: Expression, length: Any) -> Expression:
        return casadi.vertcat(_turn(R, x[:9]), (p - x[9:]) / length)[list(self.rows)]

    def slope(self, R: Expression, length: Any) -> None:
        return None  # rows of a rotation vector alone have another gradient

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        off = self.error(R, p, x, 1.0)
        turns = [k for k, row in enumerate(self.rows) if row < 3]
        ways = [k for k, row in enumerate(self.rows) if row >= 3]
        return _norm(off[ways]), _norm(off[turns])

    def rate(self, R: Expression) -> Expression:
        return casadi.SX.eye(6)[list(self.rows), :]

    def value(self, pose: Floats) -> Floats:
        rotation = pose[..., :3, :3].reshape(*pose.shape[:-2], 9)
        return np.concatenate([rotation, pose[..., :3, 3]], axis=-1)

    def value_weights(self, length: float, place: float) -> Floats:
        turning = float(any(row < 3 for row in self.rows))
        ways = [place / length if row in self.rows else 0.0 for row in (3, 4, 5)]
        return np.array([turning] * 9 + ways)

    def displacement(self, to: Floats, start: Floats) -> Floats:
        turn = _rotation_vector(_matrix(to[..., :9]) @ np.swapaxes(_matrix(start[..., :9]), -1, -2))
        return np.concatenate([turn, to[..., 9:] - start[..., 9:]], axis=-1)[..., list(self.rows)]

    def along(self, start: Floats, dx: Floats) -> Floats:
        whole = np.zeros((*dx.shape[:-1], 6))
        whole[..., list(self.rows)] = dx
        turned = _rotation(whole[..., :3]) @ _matrix(start[..., :9])
        moved = start[..., 9:] + whole[..., 3:]
        return np.concatenate([turned.reshape(*turned.shape[:-2], 9), moved], axis=-1)


@dataclass(frozen=True)
class PointRows(Rows):
    """Points of the frame: the value is where they are, one after the other.

    One point is a position, two are the line of an axisymmetric tool: f = [h - p; s - p'] of Rojas
    (3.5), six equations for five degrees of freedom, compatible if and only if the two places are
    as far apart as the two points of the tool.
    """

    points: tuple[Vector, ...] = ()

    @property
    def size(self) -> int:  # type: ignore[override]
        return 3 * len(self.points)

    @property
    def rate_units(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("m",) * self.size

    @cached_property
    def rate_rank(self) -> int:
        """Points keep their distances."""
        rows = [np.hstack([-np.cross(np.eye(3), point).T, np.eye(3)]) for point in self.points]
        return int(np.linalg.matrix_rank(np.concatenate(rows)))

    def error(self, R: Expression, p: Expression, x: Expression, length: Any) -> Expression:
        return (self._places(R, p) - x) / length

    def slope(self, R: Expression, length: Any) -> Expression:
        return self.rate(R) / length

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        gaps = casadi.reshape(self._places(R, p) - x, 3, len(self.points))
        return casadi.sqrt(casadi.mmax(casadi.sum1(gaps**2).T)), casadi.SX(0)

    def rate(self, R: Expression) -> Expression:
        arms = (R @ casadi.DM(list(point)) for point in self.points)
        return casadi.vertcat(
            *(casadi.horzcat(-casadi.skew(arm), casadi.SX.eye(3)) for arm in arms)
        )

    def value(self, pose: Floats) -> Floats:
        arms = np.array(self.points) @ np.swapaxes(pose[..., :3, :3], -1, -2)
        places = arms + pose[..., None, :3, 3]
        return places.reshape(*places.shape[:-2], self.size)

    def _places(self, R: Expression, p: Expression) -> Expression:
        return casadi.vertcat(*(p + R @ casadi.DM(list(point)) for point in self.points))


def _half(rows: slice) -> Any:
    """The matrix that takes the angular or the linear half out of a twist."""
    return casadi.DM.eye(6)[rows, :]


def _turn(R: Expression, x: Expression) -> Expression:
    """The rotation vector of what turns the rotation x, given row by row, into R."""
    E = R @ x.reshape((3, 3))  # column by column, as CasADi fills it, this is the transpose
    return rotation_vector_from_quaternion(quaternion_from_rotation(E))


def _norm(x: Expression) -> Expression:
    return casadi.norm_2(casadi.densify(x)) if x.numel() else casadi.SX(0)


def _directions(*directions: Vector) -> Any:
    return casadi.sparsify(casadi.DM(np.array(directions, dtype=float)))


def _cross(a: Vector, b: Vector) -> Vector:
    x, y, z = np.cross(a, b).tolist()
    return x, y, z


def _matrix(x: Floats) -> Floats:
    return x.reshape(*x.shape[:-1], 3, 3)


def _rotation(vector: Floats) -> Floats:
    return np.asarray(rotation_from_quaternion(quaternion_from_rotation_vector(vector)))


def _rotation_vector(R: Floats) -> Floats:
    return np.asarray(rotation_vector_from_quaternion(quaternion_from_rotation(R)))
