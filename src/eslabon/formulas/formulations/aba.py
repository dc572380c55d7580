"""Forward dynamics by articulated bodies: the articulated-body algorithm, ABA (Featherstone's
FDab), whose work is proportional to the number of bodies.

From the tips inward each body gets the inertia it shows when everything beyond it may swing freely,
and the bias that goes with it; from the ground outward the joints' accelerations follow.
Six-vectors are angular part first, in body axes.
"""

from __future__ import annotations

from collections.abc import Sequence

from eslabon.formulas.kinematics.links import Link
from eslabon.formulas.kinematics.symbols import gravity, stack, symmetric, zeros
from eslabon.formulas.linear_solvers import Factors, factors
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import ad, ad_dual, motion_transform


def accelerations(
    m: Model,
    tree: Sequence[Link],
    q: Expression,
    v: Expression,
    tau: Expression,
    motors: Expression,
) -> tuple[Expression, list[Factors]]:
    """v' for the joint forces tau, and the factors of the joints' own inertias D; `motors` are
    added to these."""
    X = [motion_transform(link.pose(q)) for link in tree]
    S, V, drift = ([zeros(6)] * len(tree) for _ in range(3))
    inertia, bias = [symmetric(link.inertia.matrix()) for link in tree], [zeros(6)] * len(tree)
    for k, link in enumerate(tree):
        S[k], relative, rate = link.motion(q, v, zeros(m.nv))
        V[k] = relative + (X[k] @ V[link.parent] if link.parent >= 0 else 0)
        drift[k] = rate + ad(V[k], relative)
        bias[k] = ad_dual(V[k], inertia[k] @ V[k])
    U, D, u = [zeros(6)] * len(tree), [factors(zeros(0, 0))] * len(tree), [zeros(0)] * len(tree)
    for k in reversed(range(len(tree))):
        link, I, p = tree[k], inertia[k], bias[k]
        if link.kind.nv:
            U[k] = I @ S[k]
            D[k] = factors(symmetric(S[k].T @ U[k] + casadi.diag(motors[link.v])))
            u[k] = tau[link.v] - S[k].T @ p
            solved = D[k].solve(casadi.horzcat(U[k].T, u[k]))
            I, p = symmetric(I - U[k] @ solved[:, :6]), p + U[k] @ solved[:, 6]
        if link.parent >= 0:
            inertia[link.parent] = symmetric(inertia[link.parent] + X[k].T @ I @ X[k])
            bias[link.parent] += X[k].T @ (p + I @ drift[k])
    ground = stack(zeros(3), -gravity(m))
    made, a = zeros(m.nv), [zeros(6)] * len(tree)
    for k, link in enumerate(tree):
        a[k] = X[k] @ (a[link.parent] if link.parent >= 0 else ground) + drift[k]
        if link.kind.nv:
            made[link.v] = D[k].solve(u[k] - U[k].T @ a[k])
            a[k] += S[k] @ made[link.v]
    return made, D
