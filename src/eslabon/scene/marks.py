"""The skeleton of a mechanism: the points of each body where something is attached, and what joins the bodies there.

What a joint looks like follows from the motions it leaves free, not from its name: the columns of its motion subspace, or
what the wrenches of a bare constraint leave free.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from eslabon.model import GROUND, Joint, Loop, Model, Pose
from eslabon.model.constraints import ClosureKind
from eslabon.model.joints import JointKind

Floats = np.ndarray[Any, np.dtype[np.float64]]
SMALL = 1e-9


class Freedom(NamedTuple):
    """The free motions of a joint in its own frame: axes it turns about, axes it slides along, and the advance of a turn."""

    rotations: Floats
    translations: Floats
    pitch: float = 0.0


class Mark(NamedTuple):
    """A joint as it is drawn: a joint of the tree, or a cut joint, between two bodies and their frames of it."""

    name: str
    kind: str
    symbol: str
    role: str  # "joint", "actuated" or "cut"
    parent: str
    child: str
    on_parent: Floats  # 4x4, its frame on the parent
    on_child: (
        Floats  # 4x4, its frame on the child; the two coincide when the coordinates are neutral
    )
    freedom: Freedom
    reach: tuple[float, float]  # of a sliding joint: from where to where its rail goes

    @property
    def rotations(self) -> Floats:
        """The axes it turns about, in the child's frame of the joint."""
        return self.freedom.rotations

    @property
    def translations(self) -> Floats:
        """The axes it slides along, in the parent's frame of the joint."""
        return self.freedom.translations


class Link(NamedTuple):
    """A body as it is drawn: the points of it, in its own frame, where joints, cut joints and springs sit."""

    body: str
    points: Floats
    axis: Floats | None  # of the one joint that carries it, if it turns about one axis
    free_end: bool  # whether its last point is no joint but a named frame or the centre of mass


class SpringMark(NamedTuple):
    """A spring between points of two bodies."""

    name: str
    first: str
    start: Floats
    second: str
    end: Floats


def matrix_of(at: Pose) -> Floats:
    """A pose of the model as a 4x4 matrix of numbers."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = (
        np.array(at.rotation(), dtype=float),
        np.array(at.translation(), dtype=float).ravel(),
    )
    return T


def freedom_of(kind: ClosureKind) -> Freedom:
    """What a kind of joint or of constraint leaves free, at its neutral coordinates."""
    if isinstance(kind, JointKind):
        S = np.array(kind.motion(np.array(kind.neutral())), dtype=float).reshape(6, kind.nv)
    else:
        S = np.zeros((6, 0))
    turning = np.linalg.norm(S[:3], axis=0) > SMALL
    turns, slides = S[:3, turning].T, S[3:, ~turning].T
    pitch = float(np.abs(S[3:, turning]).max(initial=0.0))
    return Freedom(turns, slides, pitch)


def marks(m: Model, size: float) -> tuple[Mark, ...]:
    """The joints of the tree, then the cut joints."""
    return (*(_joint(m, j, size) for j in m.joints), *(_cut(loop, size) for loop in m.loops))


def _joint(m: Model, j: Joint, size: float) -> Mark:
    role = "actuated" if j.name in m.actuated else "joint"
    free = freedom_of(j.kind)
    at = np.eye(4)
    return Mark(
        j.name,
        j.kind.kind,
        j.kind.symbol,
        role,
        j.parent,
        j.child,
        matrix_of(j.at),
        at,
        free,
        _reach(j, free, size),
    )


def _reach(j: Joint, free: Freedom, size: float) -> tuple[float, float]:
    """From where to where a sliding joint goes: its limits, or some way beyond its home."""
    if len(free.translations) != 1:
        return 0.0, 0.0
    k = next(k for k, c in enumerate(j.kind.coordinates) if c.unit == "m")
    if j.limits is not None and np.isfinite(np.array(j.limits[k], dtype=float)).all():
        return float(j.limits[k][0]), float(j.limits[k][1])
    home = float((j.kind.neutral() if j.home is None else j.home)[k])
    if abs(home) > 0.1 * size:
        return 0.6 * home, 1.2 * home
    return min(0.0, home) - 0.15 * size, max(0.0, home) + 0.15 * size


def _cut(loop: Loop, size: float) -> Mark:
    free = freedom_of(loop.kind)
    reach = (-0.2 * size, 0.2 * size) if len(free.translations) == 1 else (0.0, 0.0)
    ends = loop.first.body, loop.second.body, matrix_of(loop.first.at), matrix_of(loop.second.at)
    return Mark(loop.name, loop.kind.kind, loop.kind.symbol, "cut", *ends, free, reach)


def links(m: Model, size: float) -> tuple[Link, ...]:
    """The ground and the bodies, each with its points; coinciding points once."""
    points: dict[str, list[Floats]] = {GROUND: [], **{b.name: [np.zeros(3)] for b in m.bodies}}
    for body, point in _attachments(m):
        points[body].append(point)
    made = []
    for body, found in points.items():
        unique = _unique(found, 1e-6 * size)
        tips = [] if body == GROUND or len(unique) > 1 else list(_tips(m, body, size))
        made.append(
            Link(body, np.array([*unique, *tips]).reshape(-1, 3), _own_axis(m, body), bool(tips))
        )
    return tuple(made)


def _attachments(m: Model) -> Iterator[tuple[str, Floats]]:
    for j in m.joints:
        yield j.parent, matrix_of(j.at)[:3, 3]
    ends = [end for loop in m.loops for end in (loop.first, loop.second)]
    ends += [end for spring in m.springs for end in (spring.first, spring.second)]
    yield from ((end.body, matrix_of(end.at)[:3, 3]) for end in ends)


def _tips(m: Model, body: str, size: float) -> Iterator[Floats]:
    """Where a body ends to which nothing else is attached: at its named frames, or else at its centre of mass."""
    named = [matrix_of(f.at)[:3, 3] for f in m.frames if f.body == body]
    found = [p for p in named if np.linalg.norm(p) > 0.01 * size]
    com = np.array(m.body(body).com, dtype=float)
    if not found and np.linalg.norm(com) > 0.01 * size:
        found = [com]
    yield from _unique(found, 1e-6 * size)


def _own_axis(m: Model, body: str) -> Floats | None:
    if body == GROUND:
        return None
    free = freedom_of(m.carriers[body].kind)
    return free.rotations[0] if len(free.rotations) == 1 and not len(free.translations) else None


def _unique(points: list[Floats], near: float) -> list[Floats]:
    kept: list[Floats] = []
    for p in points:
        if all(np.linalg.norm(p - other) > near for other in kept):
            kept.append(p)
    return kept


def springs(m: Model) -> tuple[SpringMark, ...]:
    """The springs and where they are hooked in."""
    return tuple(
        SpringMark(
            s.name,
            s.first.body,
            matrix_of(s.first.at)[:3, 3],
            s.second.body,
            matrix_of(s.second.at)[:3, 3],
        )
        for s in m.springs
    )
