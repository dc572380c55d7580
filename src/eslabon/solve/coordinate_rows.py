"""Coordinates of a frame's pose as rows of a problem: x, y, z, the angle in the plane of motion,
roll, pitch and yaw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.numerics.rotations import rotation_from_rpy, rpy_from_rotation
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.tolerances import SINGULAR
from eslabon.solve.rows import Rows, Vector

POSITION, TURNS = ("x", "y", "z"), ("roll", "pitch", "yaw")
POSE = (*POSITION, "angle", *TURNS)
Projection = tuple[Vector, Expression]  # of a direction of the frame on one of the ground
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)  # of the ground


@dataclass(frozen=True)
class PoseCoordinates(Rows):
    """Coordinates of a frame's pose by name, in the order of `POSE`; `first` and `second` are the
    directions of the plane of motion.

    There is one row for each coordinate, so that as many as a mechanism has degrees of freedom make
    a square system. Angles count by sines, which are smooth in the rotation.
    """

    names: tuple[str, ...] = ()
    first: Vector = (1.0, 0.0, 0.0)
    second: Vector = (0.0, 1.0, 0.0)

    @property
    def size(self) -> int:  # type: ignore[override]
        return len(self.names)

    @property
    def rate_units(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple("m" if name in POSITION else "rad" for name in self.names)

    def error(self, R: Expression, p: Expression, x: Expression, length: Any) -> Expression:
        value = self._by_name(x)
        rows = [(p[k] - value[a]) / length for k, a in enumerate(POSITION) if a in value]
        return casadi.vertcat(*rows, *self._angle_rows(R, value)[0])

    def half_turns(self, R: Expression, x: Expression) -> Expression:
        return casadi.vertcat(casadi.SX(0, 1), *self._angle_rows(R, self._by_name(x))[1])

    def slope(self, R: Expression, length: Any) -> None:
        return None  # products of sines and cosines of several angles

    def missed(self, R: Expression, p: Expression, x: Expression) -> tuple[Expression, Expression]:
        off = self.coordinates(R, p) - x
        far = [off[k] for k, unit in enumerate(self.rate_units) if unit == "m"]
        turned = [off[k] for k, unit in enumerate(self.rate_units) if unit == "rad"]
        turned = [casadi.atan2(casadi.sin(y), casadi.cos(y)) for y in turned]
        return _largest(far), _largest(turned)

    def rate(self, R: Expression) -> Expression:
        made = [casadi.SX(0, 6)]
        for name in self.names:
            row = casadi.SX(1, 6)
            if name in POSITION:
                row[3 + POSITION.index(name)] = 1
            elif name == "pitch":  # its sine is that of -R[2, 0]
                row[:3] = -_change(Z, R[:, 0]).T / casadi.sqrt(1 - R[2, 0] ** 2)
            else:
                (a, u), (b, w) = self._sine_and_cosine(R, name)
                sine, cosine = _dot(a, u), _dot(b, w)
                turn = cosine * _change(a, u) - sine * _change(b, w)
                row[:3] = turn.T / (sine**2 + cosine**2)
            made.append(row)
        return casadi.vertcat(*made)

    def value(self, pose: Floats) -> Floats:
        R, p = pose[..., :3, :3], pose[..., :3, 3]
        arm = R @ np.array(self.first)
        angle = np.arctan2(arm @ np.array(self.second), arm @ np.array(self.first))
        turns = np.asarray(rpy_from_rotation(R)) if {*TURNS} & {*self.names} else np.zeros_like(p)
        every = np.concatenate([p, angle[..., None], turns], axis=-1)
        return every[..., [POSE.index(name) for name in self.names]]

    def displacement(self, to: Floats, start: Floats) -> Floats:
        """The short way round."""
        way, turning = to - start, np.array(self.rate_units, dtype=str) == "rad"
        return np.where(turning, (way + np.pi) % (2 * np.pi) - np.pi, way)

    def coordinates(self, R: Expression, p: Expression) -> Expression:
        """The coordinates themselves, as expressions."""
        (a, u), (b, w) = self._sine_and_cosine(R, "angle")
        values = dict(zip(POSITION, casadi.vertsplit(casadi.SX(p)), strict=True))
        values["angle"] = casadi.atan2(_dot(a, u), _dot(b, w))
        if {*TURNS} & {*self.names}:
            turns = casadi.vertsplit(casadi.SX(rpy_from_rotation(R)))
            values |= dict(zip(TURNS, turns, strict=True))
        return casadi.vertcat(*(values[name] for name in self.names))

    def _by_name(self, x: Expression) -> dict[str, Expression]:
        return dict(zip(self.names, casadi.vertsplit(x), strict=True))

    def _sine_and_cosine(self, R: Expression, name: str) -> tuple[Projection, Projection]:
        """What is the sine of an angle, and its cosine, times the same number."""
        if name == "angle":
            arm = R @ casadi.DM(list(self.first))
            return (self.second, arm), (self.first, arm)
        return ((Z, R[:, 1]), (Z, R[:, 2])) if name == "roll" else ((Y, R[:, 0]), (X, R[:, 0]))

    def _angle_rows(
        self, R: Expression, value: Mapping[str, Expression]
    ) -> tuple[list[Expression], list[Expression]]:
        """Rows that vanish where the angles are as prescribed, and rows that vanish there too, but
        not half a turn away.

        Roll, pitch and yaw together are a rotation, and its error E = R R_d^T has the vector of
        sines. Roll and pitch are the direction of the ground's z in the frame, pitch and yaw that
        of the frame's x on the ground: both are sound at a pitch of 90 degrees too.
        """
        turns = {name: value[name] for name in TURNS if name in value}
        rows, half = [], []
        if "angle" in value:
            (a, u), (b, w) = self._sine_and_cosine(R, "angle")
            sine, cosine = _dot(a, u), _dot(b, w)
            c, s = casadi.cos(value["angle"]), casadi.sin(value["angle"])
            rows, half = [sine * c - cosine * s], [1 - cosine * c - sine * s]
        match tuple(turns):
            case ("roll", "pitch", "yaw"):
                E = R @ casadi.SX(rotation_from_rpy(casadi.vertcat(*turns.values()))).T
                sines = [(E[2, 1] - E[1, 2]) / 2, (E[0, 2] - E[2, 0]) / 2, (E[1, 0] - E[0, 1]) / 2]
                own = sines, [(3 - casadi.trace(E)) / 2]
            case ("roll", "pitch"):
                own = _direction_rows([R[2, 1], R[2, 2], -R[2, 0]], turns["roll"], turns["pitch"])
            case ("pitch", "yaw"):
                own = _direction_rows([R[1, 0], R[0, 0], -R[2, 0]], turns["yaw"], turns["pitch"])
            case _:
                own = _single_rows(R, turns)
        return rows + own[0], half + own[1]


def _direction_rows(
    direction: list[Expression], turn: Expression, pitch: Expression
) -> tuple[list[Expression], list[Expression]]:
    """Rows of a unit vector (cos p sin a, cos p cos a, sin p) with pitch p and another angle a: its
    parts along both derivatives of the wanted one."""
    c, s, cp, sp = casadi.cos(turn), casadi.sin(turn), casadi.cos(pitch), casadi.sin(pitch)
    u, v, w = direction
    along = s * u + c * v
    return [c * u - s * v, cp * w - sp * along], [1 - cp * along - sp * w]


def _single_rows(
    R: Expression, value: Mapping[str, Expression]
) -> tuple[list[Expression], list[Expression]]:
    """The same for roll and yaw, or a single one of the three angles."""
    rows, half = [], []
    for name, sine, cosine in (("roll", R[2, 1], R[2, 2]), ("yaw", R[1, 0], R[0, 0])):
        if name in value:
            c, s = casadi.cos(value[name]), casadi.sin(value[name])
            rows.append(sine * c - cosine * s)
            ahead = sine * s + cosine * c  # the cosine of the pitch, if all is well
            half.append(ahead < SINGULAR)
    if "pitch" in value:
        rows.append(-R[2, 0] - casadi.sin(value["pitch"]))
    return rows, half


def _dot(a: Vector, u: Expression) -> Expression:
    return casadi.dot(casadi.DM(list(a)), u)


def _change(a: Vector, u: Expression) -> Expression:
    """u x a: the derivative of a . u by the angular velocity that turns u."""
    return casadi.cross(casadi.SX(u), casadi.SX(list(a)))


def _largest(values: list[Expression]) -> Expression:
    return casadi.mmax(casadi.vertcat(casadi.SX(1, 1), *map(casadi.fabs, values)))
