"""The parallel kind of condition: how well locked actuators hold a mechanism (Gosselin and Angeles,
Singularity analysis of closed-loop kinematic chains, 1990, their second kind).

It is a property of the mechanism and not of its model, so no coordinates, cut joints or rows of
constraints are compared. With all actuators locked every joint has a small error: its two bodies
are off by a twist at the joint's centre. The passive joints give way until all loops close again,
and the bodies move by

    H e = (T_e - T_p J_p^+ J_e) e,

where e are the errors of the joints and of the actuators, J_e e + J_p v_p = 0 closes the loops with
errors, p stands for the passive velocities, and T gives the motion of the bodies. Only errors count
with which the loops can close, and of a mechanism that moves in a plane those in the plane. H grows
without bound where locked actuators do not hold the mechanism (Voglewede and Ebert-Uphoff,
Overarching framework for measuring closeness to singularities of parallel manipulators, 2005). The
condition is

    1 / sqrt(1 + a^2),    a^2 = |H|^2 / number of joints with errors,

by Frobenius' norm: from 1 at best to 0 at a parallel singular configuration, and smooth on the way.

What is measured of the bodies: one with three joint centres that are not in line, such as a
platform, counts by its twist at their middle; every other joint centre that moves counts by its
velocity, the mean of its ends; a^2 has the mean of them all. The centre of a joint is the point
that both of its bodies have in common: of a hinge, a universal joint or a ball, cut or not. So a
rod counts by its ends, and it makes no difference whether a universal joint keeps it from spinning
or two balls let it spin. Joints that slide have no centre and no errors but those of their
actuators. Where the actuators move without any centre, as in spherical linkages, all bodies count by
their twists.

Rotations count in radians, lengths in units of a characteristic length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import comparable, equations, row_names
from eslabon.formulas.kinematics.tree import chain, joint_transform, on_body, placements
from eslabon.model import GROUND, Model, Pose
from eslabon.model.configuration import coordinates, velocity_units
from eslabon.model.constraints import Point
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, row_units
from eslabon.numerics.rigid_motions import hat
from eslabon.numerics.scalars import Expression, casadi, is_symbolic
from eslabon.numerics.spatial import RigidTransform
from eslabon.numerics.tolerances import INPUT_DIGITS, RANK
from eslabon.solve.constraints.closed_configurations import generic


class Place(NamedTuple):
    """An end of a joint or of a loop: on the parent or on the child, on the first body or on the
    second."""

    item: Literal["joint", "loop"]
    name: str
    end: Literal["first", "second"]

    def frame(self, m: Model) -> tuple[str, Pose]:
        """The body, and the end's pose on it."""
        if self.item == "loop":
            loop = m.loop(self.name)
            end = loop.first if self.end == "first" else loop.second
            return end.body, end.at
        joint = m.joint(self.name)
        return (joint.parent, joint.at) if self.end == "first" else (joint.child, Pose())


Ends = tuple[Place, ...]  # of joints and loops at one centre


class Measured(NamedTuple):
    """What is measured of a mechanism's motion, and which joints have errors. It has no numbers, so that all designs have
    the same.

    Attributes
    ----------
    twists : bodies that count by their twist, each by the centres on it.
    points : centres that count by their velocity, each by its ends.
    joints : joints and loops with errors, by their second ends.
    locked : velocities of other actuators, which have errors of their own.
    passive : velocities that give way.
    plane : x, y and the normal of the plane of motion, if there is one.
    closes : whether the loops can close with any errors.
    """

    twists: tuple[Ends, ...] = ()
    points: tuple[Ends, ...] = ()
    joints: Ends = ()
    locked: tuple[int, ...] = ()
    passive: tuple[int, ...] = ()
    plane: tuple[tuple[float, float, float], ...] = ()
    closes: bool = True

    @property
    def is_length(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Of each row of T, whether it is a velocity and no angular velocity."""
        return np.array([False] * 3 * len(self.twists) + [True] * 3 * self.items, dtype=bool)

    @property
    def error_is_length(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Of each error of a joint, whether it is a length and no angle."""
        own = [False, True, True] if self.plane else [False] * 3 + [True] * 3
        return np.array(own * len(self.joints), dtype=bool)

    @property
    def errors(self) -> Floats:
        """The errors of one joint, as twists in the ground's axes, a column each."""
        if not self.plane:
            return np.eye(6)
        x, y, normal = (np.array(axis) for axis in self.plane)
        return np.block(
            [[normal[:, None], np.zeros((3, 2))], [np.zeros((3, 1)), np.column_stack([x, y])]]
        )

    @property
    def items(self) -> int:
        """The number of bodies and points."""
        return len(self.twists) + len(self.points)


# -- what is measured ------------------------------------------------------------------------------


@per_model
def joint_centres(m: Model) -> tuple[tuple[Ends, ...], tuple[Ends, ...]]:
    """The bodies that count by their twist, and the joint centres that count by their velocity."""
    rigid = _Groups([GROUND, *(b.name for b in m.bodies)])
    for one, other in _welded(m):
        rigid.unite(one, other)
    at = placements(m.nominal, generic(m.nominal))
    where = {place: _position(m, at, place) for place in ends_at_centres(m)}
    body = {place: rigid.of(place.frame(m)[0]) for place in where}
    centres, near = _Groups(where), INPUT_DIGITS * characteristic_length(m.nominal)
    for place in where:
        centres.unite(place._replace(end="first"), place)
    for here, there in combinations(where, 2):
        apart = np.linalg.norm(np.subtract(where[here], where[there]))
        if body[here] == body[there] and apart < near:
            centres.unite(here, there)
    ground = rigid.of(GROUND)
    covered = {centres.of(place) for place in where if body[place] == ground}
    twists = []
    for group in dict.fromkeys(body.values()):
        own = {centres.of(place): place for place in where if body[place] == group}
        if group != ground and _width(np.array([where[x] for x in own.values()])) > near:
            twists.append(tuple(own.values()))
            covered |= own.keys()
    points: dict[Place, list[Place]] = {}
    for place in where:
        if centres.of(place) not in covered:
            points.setdefault(centres.of(place), []).append(place)
    return tuple(twists), tuple(map(tuple, points.values()))


def all_bodies(m: Model) -> tuple[Ends, ...]:
    """Every body that moves, by its joint."""
    return tuple((Place("joint", j.name, "second"),) for j in m.joints if j.nv)


def ends_at_centres(m: Model) -> Iterator[Place]:
    """The ends of joints and loops that have a centre."""
    for joint in m.joints:
        if joint.nv and Point() in joint.kind.constraints():
            yield Place("joint", joint.name, "first")
            yield Place("joint", joint.name, "second")
    for loop in m.loops:
        if loop.kind.dof and Point() in loop.kind.constraints():
            yield Place("loop", loop.name, "first")
            yield Place("loop", loop.name, "second")


def _welded(m: Model) -> Iterator[tuple[str, str]]:
    """Pairs of bodies that are one."""
    yield from ((j.parent, j.child) for j in m.joints if not j.nv)
    yield from ((x.first.body, x.second.body) for x in m.loops if not x.kind.dof)


def _position(m: Model, at: dict[str, RigidTransform], place: Place) -> Floats:
    body, pose = place.frame(m.nominal)
    return np.asarray(on_body(at, body, pose)[1], dtype=float).ravel()


def _width(points: Floats) -> float:
    """How far points are from one line."""
    return float(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[1:2].sum())


class _Groups:
    """Things that are united with one another."""

    def __init__(self, things: Iterable[Any]) -> None:
        self.first = {x: x for x in things}

    def of(self, x: Any) -> Any:
        while self.first[x] != x:
            x = self.first[x]
        return x

    def unite(self, one: Any, other: Any) -> None:
        self.first[self.of(other)] = self.of(one)


# -- in symbols ------------------------------------------------------------------------------------


class ErrorMotions(NamedTuple):
    """T v + T_e e, the measured motion, and J_e e, what errors add to the constraints J v: T (rows, nv), T_e (rows, errors),
    J_e (constraints, errors), all in rad and m."""

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
    """Where bodies are, and the matrices of their angular velocities and of their origins' velocities by velocities and errors
    of joints, in the ground's axes."""

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
        """The rates of the rows of a closed loop: its covectors times the twist of the second frame against the first."""
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


def symbolic_parallel_condition(
    m: Model,
    q: Expression,
    unit: Expression | float,
    measured: Measured,
    rows: Sequence[int],
    solve: Callable[[Expression, Expression], Expression] | None = None,
) -> Expression:
    """The condition in symbols, from rows of the constraints that are independent where joints have
    errors (`error_rows`); `solve(A, B)` gives A^-1 B."""
    x = _symbolic_terms(m, q, unit, measured, rows)
    if measured.closes:
        back = (solve or casadi.solve)(x.constraints, casadi.densify(x.constraints_by_errors))
        H = x.twists_by_errors - casadi.mtimes(x.twists, back)
    else:
        H = _compatible_motions(x)
    return 1 / casadi.sqrt(1 + casadi.sumsqr(H) / _errors(measured))


def _symbolic_terms(
    m: Model, q: Expression, unit: Expression | float, measured: Measured, rows: Sequence[int]
) -> ErrorTerms:
    found, passive, locked = (
        error_motions(m, q, measured),
        list(measured.passive),
        list(measured.locked),
    )
    speeds = [unit if x == "m/s" else 1.0 for x in velocity_units(m)]
    errors = [unit if x else 1.0 for x in measured.error_is_length]
    per_row = casadi.diag(casadi.vertcat(*(1 / unit if x else 1.0 for x in measured.is_length)))
    T = casadi.mtimes([per_row, found.twists, casadi.diag(casadi.vertcat(*speeds))])
    T_e = casadi.mtimes([per_row, found.twists_by_errors, casadi.diag(casadi.vertcat(*errors))])
    J = casadi.mtimes(equations(m, q, None, rows).J, casadi.diag(casadi.vertcat(*speeds)))
    J_e = comparable(m, found.constraints_by_errors[list(rows), :], rows)
    J_e = casadi.mtimes(J_e, casadi.diag(casadi.vertcat(*errors)))
    return ErrorTerms(
        T[:, passive],
        casadi.horzcat(T_e, T[:, locked]),
        casadi.densify(J[:, passive]),
        casadi.horzcat(J_e, J[:, locked]),
    )


def _compatible_motions(x: ErrorTerms) -> Expression:
    """H over the errors e with which loops can close: H (1 - Q^+ Q) with Q = (1 - J_p J_p^+) J_e.

    All inverses G of J_p give the same motions for these. That of least squares weighted by the
    inverse of S = J_e J_e^T + J_p J_p^T needs no rank and no pivots, and then

        Q^+ Q = J_e^T S^-1 (1 - J_p G) J_e,    G = (J_p^T S^-1 J_p)^-1 J_p^T S^-1.
    """
    J_p, J_e = casadi.sparsify(x.constraints), casadi.sparsify(x.constraints_by_errors)
    S = casadi.mtimes(J_e, J_e.T) + casadi.mtimes(J_p, J_p.T)
    weighted = _solved(S, casadi.horzcat(J_p, J_e))
    W_p, W_e = weighted[:, : J_p.shape[1]], weighted[:, J_p.shape[1] :]
    back = _solved(casadi.mtimes(J_p.T, W_p), casadi.mtimes(J_p.T, W_e))
    H = x.twists_by_errors - casadi.mtimes(x.twists, back)
    return H - casadi.mtimes(casadi.mtimes(H, J_e.T), W_e - casadi.mtimes(W_p, back))


def _solved(A: Expression, B: Expression) -> Expression:
    """A^-1 B of a symmetric positive definite matrix."""
    return casadi.ldl_solve(B, *casadi.ldl(A, True))


# -- comparable, and what follows ------------------------------------------------------------------


class ErrorTerms(NamedTuple):
    """T_p, T_e, J_p and J_e of the passive velocities and of all errors, in radians and in units of length; or their
    derivatives."""

    twists: Any
    twists_by_errors: Any
    constraints: Any
    constraints_by_errors: Any


def error_terms(
    m: Model, made: ErrorMotions, J: Floats, measured: Measured, unit: Floats
) -> ErrorTerms:
    """The terms in numbers, (k, rows, columns), or their derivatives, which have one more axis, for the constraint Jacobian J
    and a unit of length of each configuration."""

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


class PassiveInverse(NamedTuple):
    """J_p^+ of configurations, and which of them determine all passive velocities with the actuators locked."""

    inverse: Floats
    held: Any

    @staticmethod
    def of(constraints: Floats) -> PassiveInverse:
        U, sizes, Vt = np.linalg.svd(constraints, full_matrices=False)
        held = np.full(len(sizes), constraints.shape[1] >= constraints.shape[2])
        if sizes.shape[-1]:
            held &= sizes[:, -1] > RANK * sizes[:, 0]
        weights = 1 / np.where(held[:, None], sizes, np.inf)
        return PassiveInverse(
            np.swapaxes(Vt, -1, -2) * weights[:, None, :] @ np.swapaxes(U, -1, -2), held
        )


def parallel_condition(x: ErrorTerms, passive: PassiveInverse, measured: Measured) -> Floats:
    """The condition of configurations, zero where locked actuators leave passive velocities undetermined."""
    square = _amplification(x, passive, measured).square
    return np.where(passive.held, 1 / np.sqrt(1 + square / _errors(measured)), 0.0)


def parallel_derivative(
    x: ErrorTerms, dx: ErrorTerms, passive: PassiveInverse, measured: Measured
) -> Floats:
    """The derivatives (k, parameters) of the condition, for those of the terms; NaN where it is zero."""
    found = _amplification(x, passive, measured)
    K, X, left = passive.inverse, found.follow, found.unclosed
    K_t = np.swapaxes(K, -1, -2)
    dJ_p = dx.constraints
    change = dx.constraints_by_errors - np.einsum("nijk,njl->nilk", dJ_p, X)
    bent = np.einsum("nljk,nlm->njmk", dJ_p, left)
    dX = np.einsum("nij,njlk->nilk", K, change) + np.einsum("nij,njmk->nimk", K @ K_t, bent)
    dH = dx.twists_by_errors - np.einsum("nijk,njl->nilk", dx.twists, X)
    dH -= np.einsum("nij,njlk->nilk", x.twists, dX)
    dQ = change - np.einsum("nij,njl,nlmk->nimk", x.constraints, K, change)
    dQ -= np.einsum("nij,njmk->nimk", K_t, bent)
    # the projector onto the compatible errors changes by -Q^+ dQ, and its transpose
    back = found.motion @ found.unclosed_inverse
    half = np.einsum("nij,nijk->nk", found.compatible, dH)
    half -= np.einsum("nij,njlk,nil->nk", back, dQ, found.compatible)
    condition = 1 / np.sqrt(1 + found.square / _errors(measured))
    slopes = -(condition[:, None] ** 3) * half / _errors(measured)
    return np.where(passive.held[:, None], slopes, np.nan)


def _errors(measured: Measured) -> int:
    return max(len(measured.joints) + len(measured.locked), 1)


class _Amplification(NamedTuple):
    """X = J_p^+ J_e, Q = (1 - J_p J_p^+) J_e of errors with which loops cannot close, Q^+, H = T_e - T_p X, H over the errors
    with which they can, and the square of its norm."""

    follow: Floats
    unclosed: Floats
    unclosed_inverse: Floats
    motion: Floats
    compatible: Floats
    square: Floats


def _amplification(x: ErrorTerms, passive: PassiveInverse, measured: Measured) -> _Amplification:
    follow = passive.inverse @ x.constraints_by_errors
    motion = x.twists_by_errors - x.twists @ follow
    k, rows, errors = x.constraints_by_errors.shape
    if measured.closes:
        none, square = np.zeros((k, rows, errors)), np.square(motion).sum(axis=(1, 2))
        back = np.zeros((k, errors, rows))
        return _Amplification(follow, none, back, motion, motion, square)
    unclosed = x.constraints_by_errors - x.constraints @ follow
    U, sizes, Vt = np.linalg.svd(unclosed, full_matrices=False)
    open_ = sizes > RANK * np.linalg.norm(x.constraints_by_errors, axis=(1, 2))[:, None]
    weights = np.where(open_, 1 / np.where(open_, sizes, 1.0), 0.0)
    V = np.swapaxes(Vt, -1, -2)
    back = V * weights[:, None, :] @ np.swapaxes(U, -1, -2)
    compatible = motion - (motion @ V * open_[:, None, :]) @ Vt
    square = np.square(compatible).sum(axis=(1, 2))
    return _Amplification(follow, unclosed, back, motion, compatible, square)
