"""A tree made ready for the recursive formulations: links in order, and what may be done to them to
save work.

Three rewritings leave every joint force as it is and make the equations shorter:

* `align`: a body's axes are turned, once and for all, so that its joint's axis is z and the joint's
  rotation has four entries; rods and planes given by data along x or y lose nothing by it.
* `shift_along_axis`: a revolute joint's frame may stand anywhere on its axis; an offset along the
  axis is moved inward to where there is one already.
* `regroup`: mass that a joint's motion cannot tell from its parent's is given to the parent (the
  base parameters of Gautier and Khalil): what lies on a hinge's axis, what a slide carries without
  turning, what is bolted on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eslabon.formulas.kinematics.symbols import constant, motion, symbolic_transform
from eslabon.model import Body, JointKind, Model
from eslabon.model.constraints import perpendicular
from eslabon.model.memory import per_model
from eslabon.numerics.scalars import (
    Array,
    Computed,
    Expression,
    Scalar,
    block,
    casadi,
    is_symbolic,
    vector,
)
from eslabon.numerics.spatial import Inertia, RigidTransform

Places = slice
Moved = tuple[
    JointKind, np.ndarray, np.ndarray
]  # a link's new kind, and where its new frame stands in the old one


@dataclass(frozen=True)
class Link:
    """A body with the joint that carries it: the parent's place (-1 is the ground), the joint's
    seat on the parent, its kind, its places in q and v, and the body's inertia about its own
    frame."""

    name: str
    parent: int
    R: Array
    p: Array
    kind: JointKind
    q: Places
    v: Places
    inertia: Inertia

    @property
    def seat(self) -> RigidTransform:
        """The joint's inner frame in the parent's frame."""
        return RigidTransform(self.R, self.p)

    def turn(self, q: Expression) -> RigidTransform:
        """The joint's own rotation and shift."""
        return symbolic_transform(self.kind.transform(q[self.q]))

    def pose(self, q: Expression) -> RigidTransform:
        """The body's frame in its parent's."""
        return self.seat @ self.turn(q)

    def motion(
        self, q: Expression, v: Expression, a: Expression
    ) -> tuple[Expression, Expression, Expression]:
        """The motion subspace S, the relative twist S v and its rate S a + S' v, in the outer
        frame."""
        return motion(self.kind, q[self.q], v[self.v], a[self.v])


NOTHING = Inertia.from_moments(0.0, np.zeros((3, 1)), np.zeros((3, 3)))


@per_model
def links(m: Model) -> list[Link]:
    """The bodies as they are described."""
    return [_symbolic(link) for link in _links_as_described(m)]


@per_model
def reduced_links(m: Model) -> list[Link]:
    """The links for the shortest equations of joint forces: all three rewritings, sliding only
    where it pays."""
    return _shorten(_links_as_described(m))


@per_model
def serial(m: Model) -> list[Link]:
    """The same with every joint whose motion subspace is not constant as several in series,
    massless links in between."""
    return _shorten(_in_series(_links_as_described(m)))


def _shorten(tree: Sequence[Link]) -> list[Link]:
    straight = align(tree)
    chosen = min((regroup(straight), regroup(shift_along_axis(straight))), key=_entries)
    return [_symbolic(link) for link in chosen]


def _in_series(tree: Sequence[Link]) -> list[Link]:
    made: list[Link] = []
    last: dict[int, int] = {-1: -1}  # of each link's parts
    for k, link in enumerate(tree):
        kinds, parent = link.kind.in_series(), last[link.parent]
        for n, kind in enumerate(kinds):
            part = replace(link, parent=parent, kind=kind)
            if n:
                part = replace(part, R=np.eye(3), p=np.zeros((3, 1)))
            if len(kinds) > 1:
                q, v = (slice(x.start + n, x.start + n + 1) for x in (link.q, link.v))
                part = replace(part, q=q, v=v)
            made.append(part if n == len(kinds) - 1 else replace(part, inertia=NOTHING))
            parent = len(made) - 1
        last[k] = parent
    return made


def inertia_of(body: Body) -> Inertia:
    """A body's inertia about its own frame."""
    return _in_symbols(_inertia(body))


# Rewriting is done in numbers wherever a model has numbers, which takes a tenth of the time it
# takes in symbols.


def _links_as_described(m: Model) -> list[Link]:
    return [
        Link(
            joint.child,
            parent,
            _numbers(joint.at.rotation()),
            _column(joint.at.translation()),
            joint.kind,
            m.coordinates[joint.name],
            m.velocities[joint.name],
            _inertia(body),
        )
        for joint, body, parent in zip(m.joints, m.bodies, m.parents, strict=True)
    ]


def _inertia(body: Body) -> Inertia:
    return Inertia.from_mass_properties(
        body.mass, _column(body.com), _numbers(body.inertia_matrix())
    )


def _numbers(x: Array) -> Computed:
    """An array if all entries are numbers, else a CasADi matrix."""
    if not is_symbolic(x):
        return np.asarray(x, dtype=float)
    x = constant(x)
    return np.array(casadi.DM(x)) if x.is_constant() else x


def _column(x: Array | tuple[Scalar, ...]) -> Computed:
    return _numbers(vector(*x) if isinstance(x, tuple) else x).reshape((3, 1))


def _symbolic(link: Link) -> Link:
    return replace(link, R=constant(link.R), p=constant(link.p), inertia=_in_symbols(link.inertia))


def _in_symbols(x: Inertia) -> Inertia:
    return Inertia(*map(constant, (x.mass, x.first, x.second, x.rotary)))


def _entries(tree: Sequence[Link]) -> int:
    """How many numbers the recursion has to work with: a measure of its cost."""
    offsets = sum(3 * _count(link.p) for link in tree if link.parent >= 0)
    moments = (
        x for link in tree for x in (link.inertia.mass, link.inertia.first, link.inertia.second)
    )
    return offsets + sum(map(_count, moments))


def _count(x: Array) -> int:
    """The entries that are not zero."""
    return int(constant(x).nnz() if is_symbolic(x) else np.count_nonzero(x))


def _rebuilt(tree: Sequence[Link], change: Callable[[Link], Moved | None]) -> list[Link]:
    """The tree with some body frames moved."""
    made: list[Link] = []
    moved: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for k, link in enumerate(tree):
        Q0, t0 = moved.get(link.parent, (np.eye(3), np.zeros((3, 1))))
        R, p = Q0.T @ link.R, Q0.T @ (link.p - t0)
        new = change(link)
        if new is None:
            made.append(replace(link, R=R, p=p))
            continue
        kind, Q, t = new
        moved[k] = (Q, t)
        inertia = in_parent_frame(link.inertia, RigidTransform(Q.T, -Q.T @ t))
        made.append(
            replace(
                link,
                R=tidy(R @ Q),
                p=tidy(p + R @ t, _size(p) + _size(t)),
                kind=kind,
                inertia=inertia,
            )
        )
    return made


def in_parent_frame(inertia: Inertia, pose: RigidTransform, onto: Inertia = NOTHING) -> Inertia:
    """The inertia of a body that stands at a constant pose, without round-off, added to another
    one."""
    total = inertia.in_parent_frame(pose) + onto
    arm, h, m = _size(pose.p), _size(inertia.first), _size(inertia.mass)
    return Inertia.from_moments(
        total.mass,
        tidy(total.first, _size(onto.first) + h + m * arm),
        tidy(total.second, _size(onto.second) + _size(inertia.second) + (2 * h + m * arm) * arm),
    )


def tidy(x: Array, size: float = 1.0) -> Computed:
    """Numbers that are zero but for round-off become zeros; `size` is that of what they were made
    of."""
    x = _numbers(x)
    return x if is_symbolic(x) else np.where(np.abs(x) < 4e-16 * size, 0.0, x)


def _size(x: Array) -> float:
    """The largest entry of numbers; of symbols nothing is known, and nothing is tidied."""
    return 0.0 if is_symbolic(x) else float(np.abs(x).max(initial=0.0))


def align(tree: Sequence[Link]) -> list[Link]:
    """Every joint of one plain axis about z."""

    def change(link: Link) -> Moved | None:
        axes = link.kind.axes
        if (
            len(axes) != 1
            or not all(isinstance(x, float) for x in axes[0])
            or axes[0] == (0.0, 0.0, 1.0)
        ):
            return None
        u = np.array(axes[0]) / np.linalg.norm(axes[0])
        b1, b2 = np.array(perpendicular(tuple(u.tolist())), dtype=float)
        return (
            type(link.kind)(**{**vars(link.kind), "axis": (0.0, 0.0, 1.0)}),
            np.column_stack([b1, b2, u]),
            np.zeros((3, 1)),
        )

    return _rebuilt(tree, change)


def shift_along_axis(tree: Sequence[Link]) -> list[Link]:
    """Hinges moved along their axes, from the tips inward, so that the next joint stands level with
    them."""
    ahead: dict[int, float] = {}  # how far along its axis each hinge moves
    first: dict[int, int] = {
        link.parent: k for k, link in reversed(list(enumerate(tree)))
    }  # child of each
    for k in reversed(range(len(tree))):
        link = tree[k]
        if k not in first or link.parent < 0 or not _count(link.p) or not _hinge_about_z(link.kind):
            continue
        child = tree[first[k]]
        level = _numbers(child.p[2, 0] + child.R[2, 2] * ahead.get(first[k], 0.0))
        if not is_symbolic(level):
            ahead[k] = level.item()
    moves = {id(tree[k]): np.array([[0.0], [0.0], [t]]) for k, t in ahead.items() if t}
    return _rebuilt(
        tree, lambda link: (link.kind, np.eye(3), moves[id(link)]) if id(link) in moves else None
    )


def _hinge_about_z(kind: JointKind) -> bool:
    points = kind.fixed_points()
    return all(isinstance(x, float) for p in points for x in p) and points == (
        (0.0, 0.0, 1.0, 0.0),
        (0.0, 0.0, 0.0, 1.0),
    )


def regroup(tree: Sequence[Link]) -> list[Link]:
    """Mass given to the parent wherever the joint cannot tell, from the tips inward."""
    inertias = [link.inertia for link in tree]
    for k in reversed(range(len(tree))):
        link = tree[k]
        inertias[k], given = _divide_inertia(link.kind, inertias[k])
        if link.parent < 0:
            inertias[k] = _on_ground(link, inertias[k])
        else:
            inertias[link.parent] = in_parent_frame(given, link.seat, inertias[link.parent])
    return [replace(link, inertia=inertia) for link, inertia in zip(tree, inertias, strict=True)]


def _divide_inertia(kind: JointKind, inertia: Inertia) -> tuple[Inertia, Inertia]:
    """What a link keeps, and what it gives to its parent, in its own frame at the joint.

    With the projector P onto what the joint leaves in place, and E the pseudo-inertia, P E P is the
    parent's.
    """
    points = kind.fixed_points()
    if any(
        is_symbolic(*point) for point in points
    ):  # an axis made of parameters: not worth the products
        return inertia, NOTHING
    still = np.array(points, dtype=float).reshape(-1, 4)
    P = still.T @ still
    E = block([[inertia.second, inertia.first], [inertia.first.T, inertia.mass * np.ones((1, 1))]])
    given = P @ E @ P
    kept, handed = (
        Inertia.from_moments(x[3, 3], x[:3, 3:], x[:3, :3])
        for x in (_numbers(E - given), _numbers(given))
    )
    return kept, handed


def _on_ground(link: Link, inertia: Inertia) -> Inertia:
    """A hinge on the ground knows one moment of inertia; a slide knows the mass."""
    if _hinge_about_z(link.kind):
        about = (inertia.second[0, 0] + inertia.second[1, 1]) * np.diag([1.0, 0.0, 0.0])
        return Inertia.from_moments(inertia.mass, inertia.first, _numbers(about))
    if len(link.kind.fixed_points()) == 3:  # all directions stay
        return Inertia.from_moments(inertia.mass, NOTHING.first, NOTHING.second)
    return inertia
