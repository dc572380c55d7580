"""A tree made ready for the recursive formulations: links in order, and what may be done to them to save work.

Three rewritings leave every joint force as it is and make the equations shorter:

* `aligned`: a body's axes are turned, once and for all, so that its joint's axis is z and the joint's rotation has four
  entries; rods and planes given by data along x or y lose nothing by it.
* `slid`: a revolute joint's frame may stand anywhere on its axis; an offset along the axis is moved inward to where
  there is one already.
* `regrouped`: mass that a joint's motion cannot tell from its parent's is given to the parent (the base parameters of
  Gautier and Khalil): what lies on a hinge's axis, what a slide carries without turning, what is bolted on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi
import numpy as np

from eslabon.algebra.spatial import Inertia, Pose
from eslabon.formulations.symbols import SX, column, constant, motion, zeros
from eslabon.model import Body, JointKind, Model
from eslabon.model.constraints import perpendicular

Places = slice


@dataclass(frozen=True)
class Link:
    """A body with the joint that carries it: the parent's place (-1 is the ground), the joint's seat on the parent,
    its kind, its places in q and v, and the body's inertia about its own frame."""

    name: str
    parent: int
    R: SX
    p: SX
    kind: JointKind
    q: Places
    v: Places
    inertia: Inertia

    def turn(self, q: SX) -> Pose:
        """The joint's own rotation and shift."""
        R, p = self.kind.transform(q[self.q])
        return constant(R), constant(p)

    def pose(self, q: SX) -> Pose:
        """The body's frame in its parent's."""
        R, p = self.turn(q)
        return self.R @ R, self.p + self.R @ p

    def motion(self, q: SX, v: SX, a: SX) -> tuple[SX, SX, SX]:
        """The motion subspace S, the relative twist S v and its rate S a + S' v, in the outer frame."""
        return motion(self.kind, q[self.q], v[self.v], a[self.v])


def links(m: Model) -> list[Link]:
    """The bodies as they are described."""
    return [
        Link(
            joint.child, parent, constant(joint.at.rotation()), constant(joint.at.translation()), joint.kind,
            m.coordinates[joint.name], m.velocities[joint.name], inertia_of(body),
        )
        for joint, body, parent in zip(m.joints, m.bodies, m.parents, strict=True)
    ]  # fmt: skip


def inertia_of(body: Body) -> Inertia:
    """A body's inertia about its own frame."""
    made = Inertia.of(constant(body.mass), column(body.com), constant(body.inertia_matrix()))
    return _moments(made.mass, made.first, made.second)


def _moments(mass: SX | None = None, first: SX | None = None, second: SX | None = None) -> Inertia:
    """An inertia of those moments that are not zero."""
    given = (zeros(1) if mass is None else mass, zeros(3) if first is None else first)
    return Inertia.of_moments(*map(constant, (*given, zeros(3, 3) if second is None else second)))


def short(m: Model) -> list[Link]:
    """The links for the shortest equations of joint forces: all three rewritings, sliding only where it pays."""
    straight = aligned(links(m))
    return min((regrouped(straight), regrouped(slid(straight))), key=_entries)


def _entries(tree: Sequence[Link]) -> int:
    """How many numbers the recursion has to work with: a measure of its cost."""
    offsets = sum(3 * link.p.nnz() for link in tree if link.parent >= 0)
    return offsets + sum(x.nnz() for link in tree for x in (link.inertia.mass, link.inertia.first, link.inertia.second))


def _rebuilt(
    tree: Sequence[Link], change: Callable[[Link], tuple[JointKind, np.ndarray, np.ndarray] | None]
) -> list[Link]:
    """The tree with some body frames moved: `change` gives a link's new kind and where its new frame stands in the old."""
    made: list[Link] = []
    moved: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for k, link in enumerate(tree):
        Q0, t0 = moved.get(link.parent, (np.eye(3), np.zeros((3, 1))))
        R, p = constant(Q0.T @ link.R), constant(Q0.T @ (link.p - t0))
        new = change(link)
        if new is None:
            made.append(replace(link, R=R, p=p))
            continue
        kind, Q, t = new
        moved[k] = (Q, t)
        inertia = seen_from(link.inertia, (constant(Q.T), constant(-Q.T @ t)))
        made.append(replace(link, R=tidy(R @ Q), p=tidy(p + R @ t, _size(p) + _size(t)), kind=kind, inertia=inertia))
    return made


def seen_from(inertia: Inertia, pose: Pose, onto: Inertia | None = None) -> Inertia:
    """The inertia of a body that stands at a constant pose, without round-off, added to another one."""
    seen, old = inertia.seen_from(pose), onto or _moments()
    arm, h, m = _size(pose[1]), _size(inertia.first), _size(inertia.mass)
    total = seen + old
    return _moments(
        total.mass,
        tidy(total.first, _size(old.first) + h + m * arm),
        tidy(total.second, _size(old.second) + _size(inertia.second) + (2 * h + m * arm) * arm),
    )


def tidy(x: SX, size: float = 1.0) -> SX:
    """Constants that are zero but for round-off become structural zeros; `size` is that of what they were made of."""
    if not x.is_constant():
        return constant(x)
    values = np.array(casadi.DM(x))
    values[np.abs(values) < 4e-16 * size] = 0.0
    return constant(values)


def _size(x: Any) -> float:
    """The largest entry of numbers; of symbols nothing is known, and nothing is tidied."""
    x = constant(x)
    return float(np.abs(np.array(casadi.DM(x))).max(initial=0.0)) if x.is_constant() else 0.0


def aligned(tree: Sequence[Link]) -> list[Link]:
    """Every joint of one plain axis about z."""

    def change(link: Link) -> tuple[JointKind, np.ndarray, np.ndarray] | None:
        axes = link.kind.axes
        if len(axes) != 1 or not all(isinstance(x, float) for x in axes[0]) or axes[0] == (0.0, 0.0, 1.0):
            return None
        u = np.array(axes[0]) / np.linalg.norm(axes[0])
        b1, b2 = perpendicular(tuple(float(x) for x in u))
        return (
            type(link.kind)(**{**vars(link.kind), "axis": (0.0, 0.0, 1.0)}),
            np.column_stack([b1, b2, u]),
            np.zeros((3, 1)),
        )

    return _rebuilt(tree, change)


def slid(tree: Sequence[Link]) -> list[Link]:
    """Hinges moved along their axes, from the tips inward, so that the next joint stands level with them."""
    ahead: dict[int, float] = {}  # how far along its axis each hinge moves
    for k in reversed(range(len(tree))):
        link = tree[k]
        child = next((c for c in range(k + 1, len(tree)) if tree[c].parent == k), None)
        if child is None or link.parent < 0 or not link.p.nnz() or not _hinge_about_z(link.kind):
            continue
        level = tree[child].p[2] + tree[child].R[2, 2] * ahead.get(child, 0.0)
        if level.is_constant():
            ahead[k] = float(level)
    moves = {id(tree[k]): np.array([[0.0], [0.0], [t]]) for k, t in ahead.items() if t}
    return _rebuilt(tree, lambda link: (link.kind, np.eye(3), moves[id(link)]) if id(link) in moves else None)


def _hinge_about_z(kind: JointKind) -> bool:
    points = kind.fixed_points()
    return all(isinstance(x, float) for p in points for x in p) and points == (
        (0.0, 0.0, 1.0, 0.0),
        (0.0, 0.0, 0.0, 1.0),
    )


def regrouped(tree: Sequence[Link]) -> list[Link]:
    """Mass given to the parent wherever the joint cannot tell, from the tips inward."""
    inertias = [link.inertia for link in tree]
    for k in reversed(range(len(tree))):
        link = tree[k]
        inertias[k], given = _divided(link.kind, inertias[k])
        if link.parent < 0:
            inertias[k] = _on_ground(link, inertias[k])
        else:
            inertias[link.parent] = seen_from(given, (link.R, link.p), inertias[link.parent])
    return [replace(link, inertia=inertia) for link, inertia in zip(tree, inertias, strict=True)]


def _divided(kind: JointKind, inertia: Inertia) -> tuple[Inertia, Inertia]:
    """What a link keeps, and what it gives to its parent, in its own frame at the joint.

    With the projector P onto what the joint leaves in place, and E the pseudo-inertia, P E P is the parent's.
    """
    still = constant(np.reshape(kind.fixed_points(), (-1, 4))) if kind.fixed_points() else zeros(0, 4)
    if not still.is_constant():  # an axis made of parameters: not worth the products
        return inertia, _moments()
    P = still.T @ still
    E = casadi.blockcat([[inertia.second, inertia.first], [inertia.first.T, inertia.mass]])
    given = P @ E @ P
    kept, handed = (_moments(x[3, 3], x[:3, 3], x[:3, :3]) for x in (E - given, given))
    return kept, handed


def _on_ground(link: Link, inertia: Inertia) -> Inertia:
    """A hinge on the ground knows one moment of inertia; a slide knows the mass."""
    if _hinge_about_z(link.kind):
        about = (inertia.second[0, 0] + inertia.second[1, 1]) * np.diag([1.0, 0.0, 0.0])
        return _moments(inertia.mass, inertia.first, about)
    return _moments(inertia.mass) if len(link.kind.fixed_points()) == 3 else inertia  # all directions stay
