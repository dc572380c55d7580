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

from eslabon.formulations.inertia import Inertia
from eslabon.formulations.symbols import SX, lean, product, zeros
from eslabon.model import JointKind, Mechanism
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

    def pose(self, q: SX) -> tuple[SX, SX]:
        """The joint's own rotation and shift."""
        R, p = self.kind.transform(q[self.q])
        return lean(R), lean(p)

    def motion(self, q: SX, v: SX, a: SX) -> tuple[SX, SX, SX]:
        """The motion subspace S, the relative twist S v and its rate S a + S' v, in the outer frame."""
        if not self.kind.nv:
            return zeros(6, 0), zeros(6), zeros(6)
        own, rates = q[self.q], v[self.v]
        S = lean(self.kind.motion(own))
        drift = product(self.kind.motion_rate(own, rates), rates)
        return S, product(S, rates), lean(product(S, a[self.v]) + drift)


def links(m: Mechanism) -> list[Link]:
    """The bodies as they are described."""
    return [
        Link(
            joint.child, parent, lean(joint.at.rotation()), lean(joint.at.translation()), joint.kind,
            m.coordinates[joint.name], m.velocities[joint.name], Inertia.of(body),
        )
        for joint, body, parent in zip(m.joints, m.bodies, m.parents, strict=True)
    ]  # fmt: skip


def short(m: Mechanism) -> list[Link]:
    """The links for the shortest equations of joint forces: all three rewritings, sliding only where it pays."""
    straight = aligned(links(m))
    return min((regrouped(m, straight), regrouped(m, slid(straight))), key=_entries)


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
        Q0, t0 = moved.get(link.parent, (np.eye(3), np.zeros(3)))
        R, p = product(Q0.T, link.R), product(Q0.T, lean(link.p - t0))
        new = change(link)
        if new is None:
            made.append(replace(link, R=R, p=p))
            continue
        kind, Q, t = new
        moved[k] = (Q, t)
        made.append(
            replace(
                link,
                R=tidy(product(R, Q)),
                p=tidy(lean(p + product(R, t)), _size(p) + _size(t)),
                kind=kind,
                inertia=seen(link.inertia, Q, t),
            )
        )
    return made


def seen(inertia: Inertia, Q: np.ndarray, t: np.ndarray) -> Inertia:
    """The inertia about a frame that stands at (Q, t) in the old one."""
    m, h = inertia.mass, inertia.first
    first = lean(h - m * casadi.SX(t))
    second = lean(inertia.second - product(h, t[None]) - product(t[:, None], h.T) + m * casadi.SX(np.outer(t, t)))
    arm, moment = _size(t), _size(h)
    return Inertia(
        m,
        tidy(product(Q.T, first), moment + _size(m) * arm),
        tidy(product(Q.T, second, Q), _size(inertia.second) + (2 * moment + _size(m) * arm) * arm),
    )


def tidy(x: SX, size: float = 1.0) -> SX:
    """Constants that are zero but for round-off become structural zeros; `size` is that of what they were made of."""
    if not x.is_constant():
        return x
    values = np.array(casadi.DM(x))
    values[np.abs(values) < 4e-16 * size] = 0.0
    return lean(values)


def _size(x: Any) -> float:
    """The largest entry of numbers; of symbols nothing is known, and nothing is tidied."""
    x = x if isinstance(x, casadi.SX) else casadi.SX(x)
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
            np.zeros(3),
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
    moves = {id(tree[k]): np.array([0.0, 0.0, t]) for k, t in ahead.items() if t}
    return _rebuilt(tree, lambda link: (link.kind, np.eye(3), moves[id(link)]) if id(link) in moves else None)


def _hinge_about_z(kind: JointKind) -> bool:
    return kind.kind == "revolute" and kind.axes == ((0.0, 0.0, 1.0),)


def regrouped(m: Mechanism, tree: Sequence[Link]) -> list[Link]:
    """Mass given to the parent wherever the joint cannot tell, from the tips inward."""
    inertias = [link.inertia for link in tree]
    for k in reversed(range(len(tree))):
        link = tree[k]
        kept, given = _divided(link.kind, inertias[k])
        inertias[k] = kept
        if link.parent < 0:
            inertias[k] = _on_ground(m, link, kept)
        else:
            R, p = link.R, link.p
            first, old = product(R, given.first), inertias[link.parent]
            cross_terms = product(first, p.T)
            second = lean(product(R, given.second, R.T) + cross_terms + cross_terms.T + given.mass * product(p, p.T))
            inertias[link.parent] = Inertia(
                lean(old.mass + given.mass),
                tidy(lean(old.first + first + given.mass * p), _size(old.first) + _size(first) + _size(given.mass * p)),
                tidy(lean(old.second + second), _size(old.second) + _size(second)),
            )
    return [replace(link, inertia=inertia) for link, inertia in zip(tree, inertias, strict=True)]


def _divided(kind: JointKind, inertia: Inertia) -> tuple[Inertia, Inertia]:
    """What a link keeps, and what it gives to its parent, in its own frame at the joint."""
    mass, first, second = inertia.mass, inertia.first, inertia.second
    nothing, none, along = zeros(1), zeros(3), np.diag([0.0, 0.0, 1.0])
    on_z = kind.axes == ((0.0, 0.0, 1.0),)
    line = lean(second[2, 2] * along)  # the second moment along the axis
    match kind.kind:
        case "fixed":
            return Inertia(nothing, none, zeros(3, 3)), inertia
        case "prismatic":
            return Inertia(mass, first, zeros(3, 3)), Inertia(nothing, none, second)
        case "revolute" if on_z:
            lever = lean(casadi.vertcat(0, 0, first[2]))
            return Inertia(nothing, lean(first - lever), lean(second - line)), Inertia(mass, lever, line)
        case "cylindrical" | "planar" if on_z:
            return Inertia(mass, first, lean(second - line)), Inertia(nothing, none, line)
        case "universal" | "spherical":
            return Inertia(nothing, first, second), Inertia(mass, none, zeros(3, 3))
    return inertia, Inertia(nothing, none, zeros(3, 3))


def _on_ground(m: Mechanism, link: Link, inertia: Inertia) -> Inertia:
    """A hinge on the ground knows one moment of inertia; a slide knows the mass."""
    if _hinge_about_z(link.kind):
        about = lean((inertia.second[0, 0] + inertia.second[1, 1]) * np.diag([1.0, 0.0, 0.0]))
        return Inertia(inertia.mass, inertia.first, about)
    if link.kind.kind == "prismatic":
        return Inertia(inertia.mass, zeros(3), zeros(3, 3))
    return inertia
