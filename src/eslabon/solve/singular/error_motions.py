"""How bodies move with the velocities of joints and with small errors of joints: expressions, and
numbers in comparable units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import row_names
from eslabon.formulas.kinematics.tree import chain, joint_transform, on_body
from eslabon.model import GROUND, Model
from eslabon.model.configuration import coordinates, velocity_units
from eslabon.model.scale import row_units
from eslabon.numerics.rigid_motions import hat
from eslabon.numerics.scalars import Expression, casadi, is_symbolic
from eslabon.numerics.spatial import RigidTransform
from eslabon.solve.singular.joint_centres import Ends, Measured, Place


class ErrorMotions(NamedTuple):
    """T v + T_e e, the measured motion, and J_e e, what errors add to the constraints J v: T (rows,
    nv), T_e (rows, errors), J_e (constraints, errors), all in rad and m."""

    twists: Any
    twists_by_errors: Any
    constraints_by_errors: Any


def error_motions(m: Model, q: Expression, measured: Measured) -> ErrorMotions:
    """The motions of bodies by velocities and by errors of joints."""
    ends = (*sum(measured.twists, ()), *sum(measured.points, ()), *_loop_ends(m))
    moving = _Moving(m, q, {place.frame(m)[0] for place in ends}, measured)
    angular = [moving.turning[places[0].frame(m)[0]] for places in measured.twists]
    middles = [moving.middle(places) for places in (*measured.twists, *measured.points)]
    rows = casadi.vertcat(casadi.SX(0, moving.columns), *angular, *middles)
    rows = rows / np.sqrt(max(measured.items, 1))
    closing = [moving.opening(loop.name)[:, m.nv :] for loop in m.loops]
    errors = casadi.vertcat(
        casadi.SX(0, moving.columns - m.nv),
        *closing,
        casadi.SX(len(m.couplings), moving.columns - m.nv),
    )
    made = rows[:, : m.nv], rows[:, m.nv :], errors
    return ErrorMotions(*map(casadi.densify, made))


def _loop_ends(m: Model) -> Iterator[Place]:
    for loop in m.loops:
        yield Place("loop", loop.name, "first")
        yield Place("loop", loop.name, "second")


class _Moving:
    """Where bodies are, and the matrices of their angular velocities and of their origins'
    velocities by velocities and errors of joints, in the ground's axes."""

    def __init__(self, m: Model, q: Expression, bodies: set[str], measured: Measured) -> None:
        self.m, self.own = m, casadi.SX(measured.errors)
        width = self.own.shape[1]
        self.columns = m.nv + width * len(measured.joints)
        self.errors = {
            (x.item, x.name): slice(m.nv + width * k, m.nv + width * (k + 1))
            for k, x in enumerate(measured.joints)
        }
        self.placed = {GROUND: RigidTransform(casadi.SX.eye(3), casadi.SX(3, 1))}
        self.turning = {GROUND: casadi.SX(3, self.columns)}
        self.moving = {GROUND: casadi.SX(3, self.columns)}
        needed = {joint.name for body in bodies for joint in chain(m, body)}
        for joint in m.joints:
            if joint.name in needed:
                self._carry(q, joint)

    def _carry(self, q: Expression, joint: Any) -> None:
        here = self.placed[joint.parent] @ joint_transform(self.m, q, joint)
        R, p = (x if is_symbolic(x) else casadi.SX(x) for x in here)
        w, v = self.turning[joint.parent], self.moving[joint.parent]
        v = v - casadi.mtimes(hat(p - self.placed[joint.parent][1]), w)
        own = casadi.SX(6, self.columns)
        if joint.nv:
            S = casadi.SX(joint.kind.motion(coordinates(self.m, q, joint)))
            own[:, self.m.velocities[joint.name]] = casadi.mtimes(casadi.diagcat(R, R), S)
        if (at := self.errors.get(("joint", joint.name))) is not None:
            own[:, at] = self.own
        self.placed[joint.child] = RigidTransform(R, p)
        self.turning[joint.child], self.moving[joint.child] = w + own[:3, :], v + own[3:, :]

    def velocity(self, place: Place) -> Expression:
        """Of an end."""
        body, at = place.frame(self.m)
        return self._velocity(body, on_body(self.placed, body, at)[1])

    def _velocity(self, body: str, point: Expression) -> Expression:
        arm = casadi.SX(point) - self.placed[body][1]
        return self.moving[body] - casadi.mtimes(hat(arm), self.turning[body])

    def middle(self, places: Ends) -> Expression:
        """The mean of several."""
        return sum(map(self.velocity, places), casadi.SX(3, self.columns)) / len(places)

    def opening(self, name: str) -> Expression:
        """The rates of the rows of a closed loop: its covectors times the twist of the second frame
        against the first."""
        loop = self.m.loop(name)
        first, second = (x.body for x in (loop.first, loop.second))
        one, other = (on_body(self.placed, x.body, x.at) for x in (loop.first, loop.second))
        w = self.turning[second] - self.turning[first]
        v = self._velocity(second, other[1]) - self._velocity(first, other[1])
        back = casadi.SX(other[0]).T
        twist = casadi.mtimes(casadi.diagcat(back, back), casadi.vertcat(w, v))
        if (at := self.errors.get(("loop", name))) is not None:
            twist[:, at] = casadi.mtimes(casadi.diagcat(back, back), self.own)
        C = casadi.SX(loop.kind.covectors(*other.relative_to(one)))
        return casadi.mtimes(C.T, twist)


def _shape_of_twists(m: Model, measured: Measured, **_: Any) -> tuple[int, int]:
    return len(measured.is_length), m.nv


def _shape_of_errors(m: Model, measured: Measured, **_: Any) -> tuple[int, int]:
    return len(measured.is_length), len(measured.error_is_length)


def _shape_of_constraints(m: Model, measured: Measured, **_: Any) -> tuple[int, int]:
    return len(row_names(m)), len(measured.error_is_length)


def _listed(m: Model, q: Expression, measured: Measured) -> list[Expression]:
    return list(error_motions(m, q, measured))


ERROR_MOTIONS = Formula(
    "error_motions",
    _listed,
    (Q,),
    (
        Argument("twists", _shape_of_twists),
        Argument("twists_by_errors", _shape_of_errors),
        Argument("constraints_by_errors", _shape_of_constraints),
    ),
    {"measured": Measured()},
    rare=True,
)


class ErrorTerms(NamedTuple):
    """T_p, T_e, J_p and J_e of the passive velocities and of all errors, in radians and in units of
    length; or their derivatives."""

    twists: Any
    twists_by_errors: Any
    constraints: Any
    constraints_by_errors: Any


def error_terms(
    m: Model, made: ErrorMotions, J: Floats, measured: Measured, unit: Floats
) -> ErrorTerms:
    """The terms in numbers, (k, rows, columns), or their derivatives, which have one more axis, for
    the constraint Jacobian J and a unit of length of each configuration."""

    def scale(is_length: Any, inverse: bool, axis: int) -> Floats:
        factors = np.where(is_length, np.asarray(unit)[:, None], 1.0)
        shape = (len(factors), *(factors.shape[1] if k == axis else 1 for k in range(1, J.ndim)))
        return np.reshape(1 / factors if inverse else factors, shape)

    slides = np.array([x == "m/s" for x in velocity_units(m)], dtype=bool)
    lengths = np.array([x == "m" for x in row_units(m)], dtype=bool)
    per_row, per_constraint = scale(measured.is_length, True, 1), scale(lengths, True, 1)
    speed, error = scale(slides, False, 2), scale(measured.error_is_length, False, 2)
    locked, passive = list(measured.locked), list(measured.passive)
    T, C = made.twists * (per_row * speed), J * (per_constraint * speed)
    T_e = made.twists_by_errors * (per_row * error)
    C_e = made.constraints_by_errors * (per_constraint * error)
    if locked:
        T_e = np.concatenate([T_e, T[:, :, locked]], axis=2)
        C_e = np.concatenate([C_e, C[:, :, locked]], axis=2)
    return ErrorTerms(T[:, :, passive], T_e, C[:, :, passive], C_e)
