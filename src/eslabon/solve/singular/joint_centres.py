"""What the parallel condition measures of a mechanism: bodies and joint centres, and the joints
with errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.model import GROUND, Model, Pose
from eslabon.model.constraints import Point
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length
from eslabon.numerics.spatial import RigidTransform
from eslabon.numerics.tolerances import INPUT_DIGITS
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
    """What is measured of a mechanism's motion, and which joints have errors. It has no numbers, so
    that all designs have the same.

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
