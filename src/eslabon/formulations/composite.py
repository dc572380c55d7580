"""The mass matrix by composite bodies (Walker and Orin's third method; Featherstone's composite-rigid-body algorithm).

From the tips inward, everything beyond a joint is one rigid body; the wrench that body needs for a unit acceleration of
the joint, carried down to each joint below, is a column of the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi

from eslabon.formulations.inertia import Inertia
from eslabon.formulations.links import Link, short
from eslabon.formulations.symbols import SX, lean, product, skew, stack, symmetric, zeros
from eslabon.model import Mechanism


def mass_matrix(m: Mechanism, q: SX) -> SX:
    """M(q), symmetric; where two joints do not lie on one path their entry is a structural zero."""
    return of_links(short(m), q, m.nv)


def of_links(tree: Sequence[Link], q: SX, nv: int) -> SX:
    """The mass matrix of a tree of links."""
    M, inertias = zeros(nv, nv), [link.inertia for link in tree]
    poses = [_pose(link, q) for link in tree]
    subspaces = [lean(link.kind.motion(q[link.q])) if link.kind.nv else zeros(6, 0) for link in tree]
    arms = [skew(p) for _, p in poses]
    for k in reversed(range(len(tree))):
        link = tree[k]
        if link.parent >= 0:
            inertias[link.parent] = _joined(inertias[link.parent], _carried(inertias[k], *poses[k]))
        if not link.kind.nv:
            continue
        moment, force = _wrenches(inertias[k], subspaces[k])
        j = k
        while True:
            if tree[j].kind.nv:
                entries = product(subspaces[j].T, stack(moment, force))
                M[tree[j].v, link.v] = entries if j != k else symmetric(entries)
                M[link.v, tree[j].v] = M[tree[j].v, link.v].T
            if tree[j].parent < 0:
                break
            R, _ = poses[j]
            force = product(R, force)
            moment = lean(product(R, moment) + product(arms[j], force))
            j = tree[j].parent
    return lean(M)


def _pose(link: Link, q: SX) -> tuple[SX, SX]:
    """The body's frame in its parent's."""
    turn, shift = link.pose(q)
    return product(link.R, turn), lean(link.p + product(link.R, shift))


def _wrenches(inertia: Inertia, twists: SX) -> tuple[SX, SX]:
    """Moments and forces for unit accelerations along twists: J w + h x v and m v - h x w."""
    w, v, S, first = twists[:3, :], twists[3:, :], inertia.second, skew(inertia.first)
    moments = lean(casadi.trace(S) * w - product(S, w) + product(first, v))
    return moments, lean(inertia.mass * v - product(first, w))


def _carried(inertia: Inertia, R: SX, p: SX) -> Inertia:
    """An inertia seen from the parent, whose frame it stands in at (R, p)."""
    first = product(R, inertia.first)
    mixed = product(first, p.T)
    second = lean(product(R, inertia.second, R.T) + mixed + mixed.T + inertia.mass * product(p, p.T))
    return Inertia(inertia.mass, lean(first + inertia.mass * p), second)


def _joined(one: Inertia, other: Inertia) -> Inertia:
    return Inertia(lean(one.mass + other.mass), lean(one.first + other.first), lean(one.second + other.second))
