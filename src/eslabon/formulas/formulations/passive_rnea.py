"""Newton-Euler with a second velocity: M(q) a + C(q, v) w + g(q) with dM/dt - 2 C skew (Niemeyer
and Slotine, 1991).

Passivity-based laws need C times another velocity than the true one. Outward, each body's twist V
of the velocities v, W of the velocities w, and the rate A of W along the true motion; inward, the
wrench

    I A + (ad*_V I W + ad*_W I V + I ad_V W) / 2

in body axes, where ad* is the bracket of twists and momenta, V x* in Featherstone's notation. In W
it is a skew matrix, so that it does no work on W; for w = v it is the wrench of Newton and Euler.
It is linear in the inertias.
"""

from __future__ import annotations

from collections.abc import Sequence

from eslabon.formulas.kinematics.links import Link
from eslabon.formulas.kinematics.symbols import constant, gravity, stack, zeros
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import ad, ad_dual, twist_to_child, wrench_to_parent


def joint_forces(
    m: Model, tree: Sequence[Link], q: Expression, v: Expression, w: Expression, a: Expression
) -> Expression:
    """M a + C(q, v) w + g."""
    ground = zeros(6), zeros(6), casadi.vertcat(zeros(3), -gravity(m))
    moved: list[tuple[Expression, Expression, Expression]] = []
    carried, poses, subspaces = [], [], []
    for link in tree:
        V, W, A = moved[link.parent] if link.parent >= 0 else ground
        S, own, _ = link.motion(q, v, a)
        pose = link.pose(q)
        followed = twist_to_child(pose, W)
        A = twist_to_child(pose, A) + _rate(link, q, v, w, a) - ad(own, followed)
        V, W = (
            twist_to_child(pose, V) + own,
            followed + (S @ w[link.v, :] if link.kind.nv else zeros(6)),
        )
        inertia = link.inertia
        bent = (
            ad_dual(V, inertia.momentum(W))
            + ad_dual(W, inertia.momentum(V))
            + inertia.momentum(ad(V, W))
        )
        moved.append((V, W, A))
        carried.append(inertia.momentum(A) + bent / 2)
        poses.append(pose)
        subspaces.append(S)
    for k in reversed(range(len(tree))):
        if tree[k].parent >= 0:
            carried[tree[k].parent] += wrench_to_parent(poses[k], carried[k])
    return stack(*(S.T @ wrench for S, wrench in zip(subspaces, carried, strict=True)))


def _rate(link: Link, q: Expression, v: Expression, w: Expression, a: Expression) -> Expression:
    """S a + S' w."""
    if not link.kind.nv:
        return zeros(6)
    own = q[link.q, :]
    turning = constant(link.kind.motion_rate(own, v[link.v, :]))
    return constant(link.kind.motion(own)) @ a[link.v, :] + turning @ w[link.v, :]
