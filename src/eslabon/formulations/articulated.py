"""Forward dynamics by articulated bodies (Featherstone): work proportional to the number of bodies.

From the tips inward each body gets the inertia it shows when everything beyond it may swing freely, and the bias that
goes with it; from the ground outward the joints' accelerations follow. Six-vectors are angular part first, in body axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi

from eslabon.formulations.factor import factors
from eslabon.formulations.lie import adjoint_back, bracket
from eslabon.formulations.links import Link
from eslabon.formulations.symbols import SX, gravity, lean, product, stack, zeros
from eslabon.model import Mechanism


def accelerations(m: Mechanism, tree: Sequence[Link], q: SX, v: SX, tau: SX, spare: SX) -> SX:
    """v' for the joint forces tau; `spare` are inertias of motors, added to the joints' own."""
    across: list[SX] = []
    S, twist, drift, inertia, bias = ([*across] for _ in range(5))
    for link in tree:
        turn, shift = link.pose(q)
        across.append(adjoint_back(product(link.R, turn), lean(link.p + product(link.R, shift))))
        subspace, relative, rate = link.motion(q, v, zeros(m.nv))
        carried = product(across[-1], twist[link.parent]) if link.parent >= 0 else zeros(6)
        S.append(subspace)
        twist.append(lean(carried + relative))
        drift.append(lean(rate + product(bracket(twist[-1]), relative)))
        inertia.append(_symmetric(link.inertia.matrix()))
        bias.append(lean(-product(bracket(twist[-1]).T, product(inertia[-1], twist[-1]))))
    push, solved, shown = {}, {}, {}
    for k in reversed(range(len(tree))):
        link = tree[k]
        I, p = inertia[k], bias[k]
        if link.kind.nv:
            U = shown[k] = product(I, S[k])
            D = _symmetric(lean(product(S[k].T, U) + casadi.diag(spare[link.v])))
            solved[k] = factors(D)
            push[k] = lean(tau[link.v] - product(S[k].T, p))
            X = solved[k].solve(casadi.horzcat(U.T, push[k]))
            I = _symmetric(lean(I - product(U, X[:, :6])))
            p = lean(p + product(U, X[:, 6]))
        if link.parent >= 0:
            p = lean(p + product(I, drift[k]))
            X = across[k]
            inertia[link.parent] = _symmetric(lean(inertia[link.parent] + product(X.T, I, X)))
            bias[link.parent] = lean(bias[link.parent] + product(X.T, p))
    ground = stack(zeros(3), lean(-gravity(m)))
    made, a = zeros(m.nv), [*across[:0]]
    for k, link in enumerate(tree):
        here = lean(product(across[k], a[link.parent] if link.parent >= 0 else ground) + drift[k])
        if link.kind.nv:
            own = solved[k].solve(lean(push[k] - product(shown[k].T, here)))
            made[link.v] = own
            here = lean(here + product(S[k], own))
        a.append(here)
    return made


def _symmetric(M: SX) -> SX:
    """The matrix with its lower half taken from its upper, so that nothing is computed twice."""
    upper = casadi.triu(M)
    return lean(upper + casadi.triu(M, False).T)
