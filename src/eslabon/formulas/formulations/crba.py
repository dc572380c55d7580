"""The mass matrix by composite bodies: the composite-rigid-body algorithm, CRBA (Walker and Orin's
third method; Featherstone's HandC).

From the tips inward, everything beyond a joint is one rigid body; the wrench that body needs for a
unit acceleration of the joint, carried down to each joint below, is a column of the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

from eslabon.compiler.calls import repeat
from eslabon.formulas.kinematics.links import Link, reduced_links
from eslabon.formulas.kinematics.symbols import motion, symmetric, zeros
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import RigidTransform, twist_to_parent, wrench_to_parent

DEEP = 12  # joints to the ground, from which on it pays to see everything from there


def mass_matrix(m: Model, q: Expression) -> Expression:
    """M(q), symmetric; where two joints do not lie on one path their entry is a structural zero."""
    return of_links(reduced_links(m), q, m.nv)


def of_links(tree: Sequence[Link], q: Expression, nv: int) -> Expression:
    """The mass matrix of a tree of links."""
    if depth(tree) > DEEP:
        return in_ground(tree, q, nv)
    M, composite, poses = (
        zeros(nv, nv),
        [link.inertia for link in tree],
        [link.pose(q) for link in tree],
    )
    still = zeros(nv)
    S = [motion(link.kind, q[link.q], still[link.v], still[link.v])[0] for link in tree]
    for k in reversed(range(len(tree))):
        link = tree[k]
        if link.parent >= 0:
            composite[link.parent] += composite[k].in_parent_frame(poses[k])
        if not link.kind.nv:
            continue
        F, j = composite[k].momentum(S[k]), k
        while j >= 0:
            entries = S[j].T @ F
            M[tree[j].v, link.v] = entries if j != k else symmetric(entries)
            M[link.v, tree[j].v] = M[tree[j].v, link.v].T
            F, j = wrench_to_parent(poses[j], F), tree[j].parent
    return M


def depth(tree: Sequence[Link]) -> float:
    """How many joints there are between a body and the ground, on average."""
    depth: list[int] = []
    for link in tree:
        depth.append(1 + (depth[link.parent] if link.parent >= 0 else 0))
    return sum(depth) / len(depth)


def in_ground(tree: Sequence[Link], q: Expression, nv: int) -> Expression:
    """The same with everything seen from the ground, M_ij = S_i^T (I_j S_j): a body costs more, an
    entry a quarter."""
    composite, S = [], []
    poses: list[RigidTransform] = []
    for link in tree:
        own = link.pose(q)
        poses.append(poses[link.parent] @ own if link.parent >= 0 else own)
        composite.append(link.inertia.in_parent_frame(poses[-1]))
        still = zeros(link.kind.nv)
        S.append(twist_to_parent(poses[-1], motion(link.kind, q[link.q], still, still)[0]))
    for k in reversed(range(len(tree))):
        if tree[k].parent >= 0:
            composite[tree[k].parent] += composite[k]
    momenta = [inertia.momentum(x) for inertia, x in zip(composite, S, strict=True)]
    rows, columns = on_paths(tree, nv)
    entries = repeat(_dot(), (casadi.horzcat(*S), rows), (casadi.horzcat(*momenta), columns))
    return symmetric(casadi.SX(casadi.Sparsity.triplet(nv, nv, rows, columns), entries.T))


def on_paths(tree: Sequence[Link], nv: int) -> tuple[list[int], list[int]]:
    """The entries of the upper triangle whose joints lie on one path to the ground, column by
    column."""
    above: list[list[int]] = []
    rows, columns = [], []
    for link in tree:
        above.append([*(above[link.parent] if link.parent >= 0 else []), *range(nv)[link.v]])
        for place in range(nv)[link.v]:
            reached = [k for k in above[-1] if k <= place]
            rows += reached
            columns += [place] * len(reached)
    return rows, columns


def _dot() -> casadi.Function:
    twist, wrench = casadi.SX.sym("twist", 6), casadi.SX.sym("wrench", 6)
    return casadi.Function("power", [twist, wrench], [casadi.dot(twist, wrench)])
