"""Trees with loops: three ways to the accelerations, and virtual work to the actuators' forces.

A tree obeys M v' + h = f + J^T lambda with J v' = gamma. M and h come from a formulation of the tree, J and gamma from
the independent rows of the loops' constraints; the three ways differ in how they get rid of lambda, and agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi

from eslabon.formulations.factor import Factors, factors
from eslabon.formulations.symbols import SX, lean, product, symmetric, zeros
from eslabon.kinematics.closure import Partition


@dataclass(frozen=True)
class Constrained:
    """The pieces of the equations: mass matrix, bias h, applied forces f, constraint Jacobian J and gamma."""

    M: SX
    h: SX
    f: SX
    J: SX
    gamma: SX


def stiffened(c: Constrained, rho: float) -> Constrained:
    """The same motion from M + rho J^T J, which is invertible where M alone is not."""
    if not rho:
        return c
    return Constrained(
        lean(c.M + rho * product(c.J.T, c.J)), c.h, lean(c.f + rho * product(c.J.T, c.gamma)), c.J, c.gamma
    )


def multipliers(c: Constrained, ease: Sequence[float] = ()) -> tuple[SX, SX, list[SX]]:
    """v' and lambda from (J M^-1 J^T) lambda = gamma - J M^-1 (f - h), with the pivots' inverses.

    Where rows become dependent at a singular posture, a little `ease` on the diagonal keeps lambda finite (Bayo and
    Avello's penalty); two more steps take back what it changes elsewhere. With M = L^T D L only L^-T J^T is
    needed, which has few entries, never M^-1 J^T.
    """
    tree = factors(c.M)
    force, across = tree.inward(lean(c.f - c.h)), tree.inward(c.J.T)
    light = tree.scaled(across).T
    W, right = symmetric(product(light, across)), lean(c.gamma - product(light, force))
    if not ease:
        solver = factors(W)
        reaction = solver.solve(right)
    else:
        solver = factors(lean(W + casadi.diag(casadi.SX(list(ease)))))
        reaction = solver.solve(right)
        for _ in range(2):
            reaction = lean(reaction + solver.solve(lean(right - product(W, reaction))))
    return tree.outward(tree.scaled(lean(force + product(across, reaction)))), reaction, solver.inverse


def gibbs_appell(c: Constrained, p: Partition) -> SX:
    """The explicit equations of Gibbs and Appell (Diaz, eq. 4 corrected): the independent accelerations first.

    X = Phi_e^-1 Phi_i,  S = D_ii + X^T D_ee X - D_ie X - X^T D_ei,
    S v'_i = f_i - X^T f_e + (X^T D_ee - D_ie) Phi_e^-1 b,  v'_e = Phi_e^-1 b - X v'_i.
    """
    i, e = list(p.independent), list(p.dependent)
    back = Square(c.J[:, e])
    X, drift = back.solve(c.J[:, i]), back.solve(c.gamma)
    force = lean(c.f - c.h)
    D_ee, D_ei, D_ie, D_ii = c.M[e, e], c.M[e, i], c.M[i, e], c.M[i, i]
    S = lean(D_ii + product(X.T, D_ee, X) - product(D_ie, X) - product(X.T, D_ei))
    right = force[i] - product(X.T, force[e]) + product(lean(product(X.T, D_ee) - D_ie), drift)
    made = zeros(c.M.shape[0])
    made[i] = factors(S).solve(right)
    made[e] = drift - product(X, made[i])
    return made


def udwadia_kalaba(c: Constrained) -> SX:
    """v' = a + M^-1/2 (J M^-1/2)^+ (gamma - J a), a = M^-1 (f - h), with the factor L of M = L^T D L as its root."""
    solver = factors(c.M)
    a = solver.solve(c.f - c.h)
    root = product(_diagonal(solver), solver.inward(c.J.T))  # M^-1/2 J^T
    B = symmetric(product(root.T, root))
    correction = factors(B).solve(c.gamma - product(c.J, a))
    return lean(a + solver.outward(product(_diagonal(solver), root, correction)))


def _diagonal(solver: Factors) -> SX:
    """D^-1/2."""
    return casadi.diag(casadi.sqrt(casadi.vertcat(*solver.inverse)))


class Square:
    """A square matrix A, solved through A^T A and refined once: no pivoting, and what squaring loses is given back."""

    def __init__(self, A: SX) -> None:
        self.A = lean(A)
        self.solver = factors(lean(product(A.T, A)))

    def solve(self, b: SX) -> SX:
        """A x = b."""
        x = self.solver.solve(product(self.A.T, b))
        return lean(x + self.solver.solve(product(self.A.T, lean(b - product(self.A, x)))))

    def solve_transposed(self, b: SX) -> SX:
        """A^T x = b."""
        x = product(self.A, self.solver.solve(b))
        return lean(x + product(self.A, self.solver.solve(lean(b - product(self.A.T, x)))))

    @property
    def quality(self) -> SX:
        """The least pivot against the largest diagonal entry: small near a singular posture."""
        pivots = casadi.vertcat(*self.solver.inverse) if self.solver.inverse else casadi.SX.ones(1)
        scale = casadi.mmax(casadi.diag(product(self.A.T, self.A))) if self.solver.inverse else casadi.SX.ones(1)
        return 1 / (casadi.mmax(casadi.fabs(pivots)) * scale)


def virtual_work(needed: SX, J: SX, p: Partition, actuated: list[int], weights: SX | None = None) -> tuple[SX, SX]:
    """The actuators' forces that do the work of the forces `needed` in every joint (Yime, eqs. 42-46).

    Virtual motions that keep the loops closed are v = N v_i with N = [1; rho], rho = -Phi_e^-1 Phi_i (eq. 44, its sign
    restored); so N^T B u = N^T needed. With as many actuators as freedoms this determines u; with more, the share of
    least u^T W u is taken. Also gives the quality of the posture.
    """
    i, e = list(p.independent), list(p.dependent)
    back = Square(J[:, e])
    work = lean(needed[i] - product(J[:, i].T, back.solve_transposed(needed[e])))
    if actuated == i:
        return work, back.quality
    B = zeros(J.shape[1], len(actuated))
    for k, place in enumerate(actuated):
        B[place, k] = 1
    A = lean(B[i, :] - product(J[:, i].T, back.solve_transposed(lean(B[e, :]))))
    if len(actuated) == len(i):
        share = Square(A)
        return share.solve(work), casadi.fmin(back.quality, share.quality)
    light = lean(A.T if weights is None else A.T / casadi.repmat(weights, 1, len(i)))
    return lean(product(light, factors(lean(product(A, light))).solve(work))), back.quality
