"""The mass matrix by composite bodies (Walker and Orin's third method; Featherstone's composite-rigid-body algorithm).

From the tips inward, everything beyond a joint is one rigid body; the wrench that body needs for a unit acceleration of
the joint, carried down to each joint below, is a column of the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi

from eslabon.formulations.inertia import Inertia
from eslabon.formulations.links import Link, short
from eslabon.formulations.symbols import SX, cross, lean, product, stack, zeros
from eslabon.model import Mechanism


def mass_matrix(m: Mechanism, q: SX) -> SX:
    """M(q), symmetric; where two joints do not lie on one path their entry is a structural zero."""
    return of_links(short(m), q, m.nv)


def of_links(tree: Sequence[Link], q: SX, nv: int) -> SX:
    """The mass matrix of a tree of links."""
    M, inertias = zeros(nv, nv), [link.inertia for link in tree]
    poses = [_pose(link, q) for link in tree]
    subspaces = [lean(link.kind.motion(q[link.q])) if link.kind.nv else zeros(6, 0) for link in tree]
    for k in reversed(range(len(tree))):
        link = tree[k]
        if link.parent >= 0:
            inertias[link.parent] = _joined(inertias[link.parent], _carried(inertias[k], *poses[k]))
        for column, place in enumerate(range(nv)[link.v]):
            moment, force = _wrench(inertias[k], subspaces[k][:, column])
            j = k
            while True:
                if tree[j].kind.nv:
                    entries = product(subspaces[j].T, stack(moment, force))
                    M[tree[j].v, place] = entries
                    M[place, tree[j].v] = entries.T
                if tree[j].parent < 0:
                    break
                R, p = poses[j]
                force = product(R, force)
                moment = lean(product(R, moment) + cross(p, force))
                j = tree[j].parent
    return lean(M)


def _pose(link: Link, q: SX) -> tuple[SX, SX]:
    """The body's frame in its parent's."""
    turn, shift = link.pose(q)
    return product(link.R, turn), lean(link.p + product(link.R, shift))


def _wrench(inertia: Inertia, twist: SX) -> tuple[SX, SX]:
    """Moment and force for a unit acceleration along a twist: J w + h x v and m v - h x w."""
    w, v, S = twist[:3], twist[3:], inertia.second
    moment = lean(casadi.trace(S) * w - product(S, w) + cross(inertia.first, v))
    return moment, lean(inertia.mass * v - cross(inertia.first, w))


def _carried(inertia: Inertia, R: SX, p: SX) -> Inertia:
    """An inertia seen from the parent, whose frame it stands in at (R, p)."""
    first = product(R, inertia.first)
    mixed = product(first, p.T)
    second = lean(product(R, inertia.second, R.T) + mixed + mixed.T + inertia.mass * product(p, p.T))
    return Inertia(inertia.mass, lean(first + inertia.mass * p), second)


def _joined(one: Inertia, other: Inertia) -> Inertia:
    return Inertia(lean(one.mass + other.mass), lean(one.first + other.first), lean(one.second + other.second))
