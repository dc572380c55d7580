"""The parallel kind of condition: how well the actuators hold a mechanism (Gosselin and Angeles,
Singularity analysis of closed-loop kinematic chains, 1990, of the second type).

A motion v keeps the loops closed. It moves the actuators by the rates u and the bodies by twists,
and its size is

    |v|^2 = |u|^2 + the mean of the squares of what is measured of the bodies.

The parallel condition is the least |u| / |v| over all motions: from 1 at best to 0 where some motion
leaves all actuators at rest, so that locked actuators do not hold the mechanism. With the motions
v = N u that follow from the actuators it is 1 / |[1; T N]|, the reciprocal of the greatest singular
value, where T v are the measured twists.

What is measured belongs to the mechanism and not to its model. A body with three joint centres that
are not in line, such as a platform, counts by its twist at their middle; every other joint centre
that moves counts by its velocity. The centre of a joint is the point that both of its bodies have in
common: of a hinge, a universal joint or a ball, whether it is cut or not, and the ends of a distance
that is held. So a rod counts by its ends: it makes no difference whether a universal joint keeps it
from spinning or two balls let it spin, whether it is a body or a distance, which joint of a loop is
cut, how many rows say the same, and whether a universal joint is one joint or two hinges. Where the
centres do not move with the actuators, as in spherical linkages, all bodies count by their twists.

Rotations count in radians, lengths in units of a characteristic length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.tree import chain, joint_transform, on_body, placements
from eslabon.formulas.small_matrices import extreme_singular_values
from eslabon.model import GROUND, Model, Pose
from eslabon.model.configuration import coordinates
from eslabon.model.constraints import AtDistance, Point
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length
from eslabon.numerics.rigid_motions import hat
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import RigidTransform
from eslabon.numerics.tolerances import INPUT_DIGITS
from eslabon.solve.constraints.independent_coordinates import generic
from eslabon.solve.designs import DESCRIBED, Designs


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


class Measured(NamedTuple):
    """What is measured of a mechanism's motion: the twists of bodies, each at the middle of some
    places on it, and the velocities of single places. It has no numbers, so that all designs have
    the same."""

    twists: tuple[tuple[Place, ...], ...] = ()
    points: tuple[Place, ...] = ()

    @property
    def is_length(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Of each row, whether it is a velocity and no angular velocity."""
        return np.array([False] * 3 * len(self.twists) + [True] * 3 * self.count, dtype=bool)

    @property
    def count(self) -> int:
        """The number of bodies and points."""
        return len(self.twists) + len(self.points)


# -- what is measured ------------------------------------------------------------------------------


@per_model
def joint_centres(m: Model) -> Measured:
    """The bodies that count by their twist, and the joint centres that count by their velocity."""
    rigid = _Groups([GROUND, *(b.name for b in m.bodies)])
    for one, other in _welded(m):
        rigid.unite(one, other)
    at = placements(m.nominal, generic(m))
    where = {place: _position(m, at, place) for place in _ends_at_centres(m)}
    centres = _Groups(where)
    for name in dict.fromkeys((place.item, place.name) for place in where if _is_pivot(m, place)):
        centres.unite(Place(*name, "first"), Place(*name, "second"))
    near, body = INPUT_DIGITS * characteristic_length(m.nominal), {}
    for place in where:
        body[place] = rigid.of(place.frame(m)[0])
    for one, other in combinations(where, 2):
        if body[one] == body[other] and np.linalg.norm(where[one] - where[other]) < near:
            centres.unite(one, other)
    still = {centres.of(place) for place in where if body[place] == rigid.of(GROUND)}
    twists, covered = [], set(still)
    for group in dict.fromkeys(body.values()):
        own = {centres.of(place): place for place in where if body[place] == group}
        if group != rigid.of(GROUND) and _span(np.array([where[p] for p in own.values()])) > near:
            twists.append(tuple(own.values()))
            covered |= own.keys()
    points: dict[Place, Place] = {}
    for place in where:
        centre, best = centres.of(place), points.get(centres.of(place), place)
        if centre not in covered:
            points[centre] = min(best, place, key=lambda p: len(chain(m, p.frame(m)[0])))
    return Measured(tuple(twists), tuple(points.values()))


@per_model
def all_bodies(m: Model) -> Measured:
    """Every body that moves, by its twist at its joint."""
    ends = (Place("joint", j.name, "second") for j in m.joints if j.nv)
    return Measured(tuple((place,) for place in ends))


def _welded(m: Model) -> Iterator[tuple[str, str]]:
    """Pairs of bodies that are one."""
    yield from ((j.parent, j.child) for j in m.joints if not j.nv)
    yield from ((x.first.body, x.second.body) for x in m.loops if not x.kind.dof)


def _ends_at_centres(m: Model) -> Iterator[Place]:
    """The ends of joints and loops that are definite points of their bodies."""
    for joint in m.joints:
        if joint.nv and Point() in joint.kind.constraints():
            yield Place("joint", joint.name, "first")
            yield Place("joint", joint.name, "second")
    for loop in m.loops:
        held = loop.kind.constraints()
        if loop.kind.dof and (Point() in held or any(isinstance(x, AtDistance) for x in held)):
            yield Place("loop", loop.name, "first")
            yield Place("loop", loop.name, "second")


def _is_pivot(m: Model, place: Place) -> bool:
    """Whether both ends are one point."""
    kind = m.joint(place.name).kind if place.item == "joint" else m.loop(place.name).kind
    return Point() in kind.constraints()


def _position(m: Model, at: dict[str, RigidTransform], place: Place) -> Floats:
    body, pose = place.frame(m.nominal)
    return np.asarray(on_body(at, body, pose)[1], dtype=float).ravel()


def _span(points: Floats) -> float:
    """How far points are from one line at most."""
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


def measured_twists(m: Model, q: Expression, measured: Measured) -> Expression:
    """T with T v the measured twists, angular velocities first, then velocities, in rad/s and m/s;
    each over the root of their number."""
    bodies = {place.frame(m)[0] for place in (*measured.points, *sum(measured.twists, ()))}
    placed, turning, moving = _body_jacobians(m, q, bodies)

    def velocity(place: Place) -> Expression:
        body, at = place.frame(m)
        arm = on_body(placed, body, at)[1] - placed[body][1]
        return moving[body] - casadi.mtimes(hat(casadi.SX(arm)), turning[body])

    angular = [turning[places[0].frame(m)[0]] for places in measured.twists]
    middles = [sum(map(velocity, places)) / len(places) for places in measured.twists]
    rows = casadi.vertcat(casadi.SX(0, m.nv), *angular, *middles, *map(velocity, measured.points))
    return casadi.densify(rows) / np.sqrt(max(measured.count, 1))


def _body_jacobians(
    m: Model, q: Expression, bodies: set[str]
) -> tuple[dict[str, RigidTransform], dict[str, Expression], dict[str, Expression]]:
    """Where bodies are, and the matrices of their angular velocities and of their origins'
    velocities, in the ground's axes."""
    needed = {joint.name for body in bodies for joint in chain(m, body)}
    placed = {GROUND: RigidTransform(casadi.SX.eye(3), casadi.SX(3, 1))}
    turning, moving = ({GROUND: casadi.SX(3, m.nv)} for _ in range(2))
    for joint in m.joints:
        if joint.name not in needed:
            continue
        here = placed[joint.parent] @ joint_transform(m, q, joint)
        w, arm = turning[joint.parent], casadi.SX(here[1]) - placed[joint.parent][1]
        v = moving[joint.parent] - casadi.mtimes(hat(arm), w)
        if joint.nv:
            own, columns = (
                casadi.SX(joint.kind.motion(coordinates(m, q, joint))),
                casadi.SX(6, m.nv),
            )
            columns[:, m.velocities[joint.name]] = own
            w = w + casadi.mtimes(casadi.SX(here[0]), columns[:3, :])
            v = v + casadi.mtimes(casadi.SX(here[0]), columns[3:, :])
        placed[joint.child], turning[joint.child], moving[joint.child] = here, w, v
    return placed, turning, moving


def parallel_condition(twists: Expression, motions: Expression) -> Expression:
    """1 / |[1; T N]| in symbols: T of comparable rows, and N, the velocities of all joints by
    comparable rates of the actuators, a column for each."""
    moved = casadi.vertcat(casadi.SX.eye(motions.shape[1]), casadi.mtimes(twists, motions))
    return 1 / extreme_singular_values(moved)[1]


def comparable_twists(m: Model, q: Expression, measured: Measured, unit: Expression) -> Expression:
    """T in rad/s and in units of a length per second."""
    scales = [1 / unit if length else 1.0 for length in measured.is_length]
    return casadi.mtimes(casadi.diag(casadi.vertcat(*scales)), measured_twists(m, q, measured))


# -- in numbers ------------------------------------------------------------------------------------


def _shape(m: Model, measured: Measured, **_: Any) -> tuple[int, int]:
    return len(measured.is_length), m.nv


MEASURED_TWISTS = Formula(
    "measured_twists",
    measured_twists,
    (Q,),
    (Argument("twists", _shape),),
    {"measured": Measured()},
    rare=True,
)


def comparable_twists_at(
    m: Model, q: Floats, measured: Measured, unit: Floats, designs: Designs = DESCRIBED
) -> Floats:
    """T at configurations (k, nq), each of its own design, with its own unit of length."""
    if not measured.count:
        return np.zeros((len(q), 0, m.nv))
    T = evaluate(m, MEASURED_TWISTS, designs.names, measured=measured)(q, *designs.inputs)
    return np.asarray(T / row_units_of(measured, unit)[..., None])


def row_units_of(measured: Measured, unit: Floats) -> Floats:
    """What each row is divided by: one for angular velocities, the unit of length for velocities."""
    return np.where(measured.is_length, np.asarray(unit)[..., None], 1.0)
