"""The size of a mechanism, which makes lengths comparable with angles: on numbers and symbols
alike.

An equation in metres is divided by the characteristic length before it stands beside one in
radians, and so is a velocity in metres a second. Nothing that is judged then depends on the unit of
length."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from eslabon.model.configuration import velocity_units
from eslabon.model.items import GROUND
from eslabon.model.memory import per_model
from eslabon.model.model import Model
from eslabon.model.poses import Pose
from eslabon.numerics.scalars import (
    Array,
    Computed,
    Scalar,
    casadi,
    components,
    dot,
    is_symbolic,
    matmul,
    maximum,
    sqrt,
    times,
    vector,
    where,
)

Points = dict[str, list[Array]]  # by rigid body, in its axes
WITHOUT_LENGTH = 1.0  # metres: of a mechanism that has no length at all
SQUARES = 1e-140, 1e140  # lengths between these have squares that are numbers of full precision
DEPTH = 4  # operations on one another, up to which two expressions are found to be the same


@per_model
def characteristic_length(m: Model) -> Computed:
    """The largest distance between two attachments of one body, in metres: of the places on it of
    joints and ends of loops.

    Bodies that fixed joints hold together are one, the ground is one too, and a free joint is no
    attachment, since it holds nothing. So the length depends neither on where the mechanism stands
    nor on where frames are in the bodies, and masses have no part in it, unless no two attachments
    of any body are apart: then named frames and centres of mass count too, then the strokes of
    slides, then radii of gyration, and 1 m is the length of what has none. It is an expression
    where lengths are symbols.

    >>> import eslabon as es
    >>> m = es.load("slider_crank")
    >>> characteristic_length(m)
    0.3
    """
    unit = _unit_of_extreme_lengths(m)
    if unit != 1.0:
        largest = _largest(list(_Places(m, unit).attachments()))
        if float(largest) > 0:
            return float(sqrt(largest)) * unit
    places = _Places(m)
    found: Scalar = 0.0
    for squares in (places.attachments, places.landmarks, places.strokes, places.gyration):
        if not _may_vanish(found):
            break
        found = _first_positive(found, _largest(list(squares())))
    found = sqrt(_first_positive(found, WITHOUT_LENGTH**2))
    return found if is_symbolic(found) else float(found)


def row_scales(m: Model) -> Computed:
    """What makes the rows of the closure equations comparable: 1 for those in radians, one over the
    characteristic length for those in metres."""
    return _scales(m, row_units(m), "rad")


def velocity_scales(m: Model) -> Computed:
    """What makes velocities comparable: 1 for rad/s, one over the characteristic length for m/s.

    >>> import eslabon as es
    >>> velocity_scales(es.load("slider_crank")).round(3).tolist()
    [1.0, 1.0, 3.333]
    """
    return _scales(m, velocity_units(m), "rad/s")


def row_units(m: Model) -> tuple[str, ...]:
    """The unit of each row of the closure equations, "m" or "rad": those of loops, then those of
    couplings."""
    loops = [unit for loop in m.loops for unit in loop.kind.row_units]
    return (*loops, *(m.joint(c.joint).kind.coordinates[0].unit for c in m.couplings))


def _scales(m: Model, units: tuple[str, ...], turning: str) -> Computed:
    if all(unit == turning for unit in units):
        return np.ones(len(units))
    per_length = 1.0 / characteristic_length(m)
    return vector(*(1.0 if unit == turning else per_length for unit in units))


class _Places:
    """Where attachments, centres of mass and frames are on the rigid bodies of a model."""

    def __init__(self, m: Model, unit: float = 1.0) -> None:
        self.m, self.unit = m, unit
        self.rigid: dict[str, tuple[str, Array, Array]] = {GROUND: (GROUND, np.eye(3), np.zeros(3))}
        for joint in m.joints:
            parent, R, p = self.rigid[joint.parent]
            self.rigid[joint.child] = (
                (joint.child, np.eye(3), np.zeros(3))
                if joint.nv
                else (parent, matmul(R, joint.at.rotation()), times(R, self._place(joint.at)) + p)
            )
        self.points: Points = {}
        for joint in m.joints:
            if joint.nv and joint.kind.rows:
                self._add(joint.parent, self._place(joint.at))
                self._add(joint.child, Pose().translation())
        for loop in m.loops:
            for end in (loop.first, loop.second):
                self._add(end.body, self._place(end.at))

    def _place(self, at: Pose) -> Array:
        place = at.translation()
        return place if self.unit == 1.0 else place / self.unit

    def _add(self, body: str, place: Array) -> None:
        rigid, R, p = self.rigid[body]
        self.points.setdefault(rigid, []).append(times(R, place) + p)

    def attachments(self) -> Iterator[Scalar]:
        """The squares of the distances between attachments of one body."""
        for points in self.points.values():
            for first, second in combinations(points, 2):
                apart = components(second - first, 3)
                yield dot(apart, apart)

    def landmarks(self) -> Iterator[Scalar]:
        """The same with the frames and centres of mass of moving bodies; a frame of the ground is a
        place, no size."""
        for frame in self.m.frames:
            self._add(frame.body, frame.at.translation())
        for body in self.m.bodies:
            self._add(body.name, vector(*body.com))
        self.points.pop(GROUND, None)
        return self.attachments()

    def strokes(self) -> Iterator[Scalar]:
        """The squares of the ranges of slides that have limits."""
        for joint in self.m.joints:
            for c, pair in zip(joint.kind.coordinates, joint.limits or (), strict=False):
                stroke = pair[1] - pair[0]
                if c.unit == "m" and (is_symbolic(stroke) or np.isfinite(stroke)):
                    yield stroke * stroke

    def gyration(self) -> Iterator[Scalar]:
        """The squares of the bodies' radii of gyration about their centres of mass."""
        for body in self.m.bodies:
            moments, has_mass = sum(body.inertia[:3]) / 2.0, body.mass > 0
            yield where(has_mass, moments / where(has_mass, body.mass, 1.0), 0.0)


def _unit_of_extreme_lengths(m: Model) -> float:
    """A power of two to measure lengths by whose squares would be no numbers; 1 in all other
    cases, and where a length is a symbol."""
    poses = [joint.at for joint in m.joints]
    poses += [end.at for loop in m.loops for end in (loop.first, loop.second)]
    places = [pose.translation() for pose in poses]
    if not places or any(is_symbolic(place) for place in places):
        return 1.0
    largest = max(float(np.abs(place).max()) for place in places)
    if largest == 0.0 or SQUARES[0] < largest < SQUARES[1]:
        return 1.0
    return float(2.0 ** np.floor(np.log2(largest)))


def _largest(squares: list[Scalar]) -> Computed:
    """The largest of squares, each counted once: lengths of symmetric mechanisms repeat
    themselves."""
    largest = max((float(x) for x in squares if not _is_expression(x)), default=0.0)
    seen: list[Scalar] = []
    for x in squares:
        if _is_expression(x) and not any(casadi.is_equal(x, y, DEPTH) for y in seen):
            seen.append(x)
    found: Scalar = largest
    for k, x in enumerate(seen):
        found = maximum(found, x) if k or largest else x
    return found


def _is_expression(x: Scalar) -> bool:
    """Whether it is a symbol's expression and no constant."""
    return bool(is_symbolic(x) and not x.is_constant())


def _may_vanish(square: Scalar) -> bool:
    """Whether it is zero, or an expression that may be."""
    return _is_expression(square) or not float(square) > 0


def _first_positive(found: Scalar, other: Scalar) -> Computed:
    if not _is_expression(found):
        return found if float(found) > 0 else other
    return where(found > 0, found, other)
