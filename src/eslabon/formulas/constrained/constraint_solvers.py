"""Trees with loops: three methods to impose the constraints, and the actuators' forces by virtual work.

A tree obeys M v' = f + J^T lambda with J v' = gamma, where M and the force f, the velocity forces taken off, come from a
formulation of the tree, J and gamma from independent rows of the constraints. The methods differ in how they get rid of
lambda, and agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from eslabon.compiler import operators
from eslabon.formulas.kinematics.closure import Partition
from eslabon.formulas.kinematics.symbols import symmetric, zeros
from eslabon.formulas.linear_solvers import (
    MANY,
    SHORT,
    Factors,
    LoopFactors,
    OrthogonalFactors,
    factors,
    factors_for,
    loop_factors,
)
from eslabon.numerics.scalars import Array, Expression, casadi, is_symbolic
from eslabon.numerics.tolerances import MASSLESS, POORLY_CONDITIONED

# The reciprocal condition number of M counts so that one which is massless is poorly conditioned. It is no root.
LIGHT = MASSLESS / POORLY_CONDITIONED**2


@dataclass(frozen=True)
class Constrained:
    """The terms of M v' = force + J^T lambda, J v' = gamma, which of them are independent, and what helps to solve them.

    `penalty` is a rho for which M + rho J^T J is invertible where M alone is not, as with a slender rod between hinges;
    since J v' = gamma, adding rho J^T J to M and rho J^T gamma to the forces changes no motion. `regularization` on the
    diagonal of J M^-1 J^T keeps lambda finite where rows become dependent (Bayo and Avello's penalty). `floor` is the
    inertia that counts as nothing. `scales` make velocities comparable, where some are in metres; rows are.
    """

    M: Expression
    force: Expression
    J: Expression
    gamma: Expression
    partition: Partition
    penalty: float = 0.0
    regularization: Sequence[float] = ()
    floor: Sequence[float] = ()
    scales: Array | None = None

    def penalized(self) -> Constrained:
        """The same motion from M + rho J^T J."""
        if not self.penalty:
            return self
        rho, Jt = self.penalty, self.J.T
        return replace(
            self,
            M=self.M + rho * (Jt @ self.J),
            force=self.force + rho * (Jt @ self.gamma),
            penalty=0.0,
        )


class Solution(NamedTuple):
    """Accelerations, the constraint forces lambda, and the reciprocal condition number."""

    a: Expression
    reaction: Expression
    condition: Expression


class Multipliers:
    """The factors of M v' = f + J^T lambda, J v' = gamma, that serve any f and gamma, one column or several:
    (J M^-1 J^T) lambda = gamma - J M^-1 f. With M = L^T D L only L^-T J^T is needed, which has few entries."""

    def __init__(self, c: Constrained) -> None:
        self.given, held = c, c.penalized()
        self.tree = factors(held.M)
        self.across = self.tree.inward(held.J.T)
        self.light = self.tree.scaled(self.across).T
        self.W = symmetric(self.light @ self.across)
        self.solver = factors(_regularized(self.W, c.regularization))

    def solve(self, f: Expression, gamma: Expression) -> tuple[Expression, Expression]:
        """v' and lambda."""
        c = self.given
        force = self.tree.inward(f + c.penalty * (c.J.T @ gamma) if c.penalty else f)
        reaction = _refined(self.solver, self.W, gamma - self.light @ force, c.regularization)
        return self.tree.outward(self.tree.scaled(force + self.across @ reaction)), reaction

    def compensate(self, excess: Expression, gap: Expression) -> Expression:
        """The changes of v' that make up for forces and second derivatives of the constraints in excess."""
        return self.solve(-excess, -gap)[0]

    @property
    def condition(self) -> Expression:
        return joint_condition(_spread(self.solver), self.tree.condition(self.given.floor))


class LoopMultipliers:
    """The same by loops in native code, for large mechanisms and many columns.

    With Y = M^-1 J^T and W = J Y the changes of v' follow from forces and gaps in excess by the blocks

        A12^T = W^-1 Y^T,    A11 = M^-1 - Y A12^T,    dv' = -A11 excess - A12 gap,

    which are as wide as v', so that each column costs one product with its own entries, of which there are few.
    """

    def __init__(self, c: Constrained) -> None:
        self.given, held = c, c.penalized()
        self.tree = factors_for(held.M, held.M.shape[0])
        self.Y = self._over_mass(c.J.T)
        self.W = self._less(-c.J, self.Y, zeros(c.J.shape[0], c.J.shape[0]))
        self.solver = loop_factors(_regularized(self.W, c.regularization))

    def _over_mass(self, b: Expression) -> Expression:
        return self.tree.solve(b if isinstance(self.tree, Factors) else casadi.densify(b))

    def _less(self, A: Expression, b: Expression, c: Expression) -> Expression:
        """c - A b."""
        if A.nnz() * b.shape[1] <= SHORT:
            return c - A @ b
        return operators.multiplied(operators.entries(A), A, b, c)

    def _held(self, right: Expression) -> Expression:
        """W^-1 of right-hand sides."""
        found = self.solver.solve(right)
        for _ in range(2 if self.given.regularization else 0):
            found = found + self.solver.solve(self._less(self.W, found, right))
        return found

    def solve(self, f: Expression, gamma: Expression) -> tuple[Expression, Expression]:
        """v' and lambda."""
        c = self.given
        free = self._over_mass(f + c.penalty * (c.J.T @ gamma) if c.penalty else f)
        reaction = self._held(self._less(c.J, free, gamma))
        return self._less(-self.Y, reaction, free), reaction

    def compensate(self, excess: Expression, gap: Expression) -> Expression:
        """The changes of v' that make up for forces and second derivatives of the constraints in excess."""
        n, k = excess.shape
        if k < n:
            return self.solve(-excess, -gap)[0]
        across = self._held(casadi.densify(self.Y.T))
        within = self._less(self.Y, across, casadi.densify(self._over_mass(casadi.SX.eye(n))))
        return self._less(
            casadi.vertcat(excess, gap).T, casadi.vertcat(within, across), zeros(k, n)
        ).T

    @property
    def condition(self) -> Expression:
        return joint_condition(_spread(self.solver), self.tree.condition(self.given.floor))


def multipliers_for(c: Constrained, columns: int) -> Multipliers | LoopMultipliers:
    """The factors that are best for so many right-hand sides."""
    rows = c.J.shape[0]
    return (LoopMultipliers if rows * rows * columns > 2 * MANY else Multipliers)(c)


def multipliers(given: Constrained) -> Solution:
    """Lagrange's multipliers first, then the accelerations."""
    found = Multipliers(given)
    return Solution(*found.solve(given.force, given.gamma), found.condition)


def udwadia_kalaba(given: Constrained) -> Solution:
    """v' = a + M^-1/2 (J M^-1/2)^+ (gamma - J a), a = M^-1 f, with the factor L of M = L^T D L as its root."""
    c = given.penalized()
    tree = factors(c.M)
    half = casadi.diag(casadi.sqrt(casadi.vertcat(zeros(0), *tree.inverse)))  # D^-1/2
    a, root = tree.solve(c.force), half @ tree.inward(c.J.T)  # M^-1/2 J^T
    W = symmetric(root.T @ root)
    solver = factors(_regularized(W, c.regularization))
    reaction = _refined(solver, W, c.gamma - c.J @ a, c.regularization)
    a = a + tree.outward(half @ (root @ reaction))
    return Solution(a, reaction, joint_condition(_spread(solver), tree.condition(c.floor)))


def elimination(c: Constrained) -> Solution:
    """The explicit equations of Gibbs and Appell (Díaz, eq. 4 corrected): the independent accelerations first.

    X = Phi_e^-1 Phi_i,  S = D_ii + X^T D_ee X - D_ie X - X^T D_ei,
    S v'_i = f_i - X^T f_e + (X^T D_ee - D_ie) Phi_e^-1 b,  v'_e = Phi_e^-1 b - X v'_i.
    """
    i, e = list(c.partition.independent), list(c.partition.dependent)
    Phi_e = OrthogonalFactors(c.J[:, e])
    X, drift = Phi_e.solve(c.J[:, i]), Phi_e.solve(c.gamma)
    D_ee, D_ei, D_ie, D_ii = c.M[e, e], c.M[e, i], c.M[i, e], c.M[i, i]
    S = factors(D_ii + X.T @ D_ee @ X - D_ie @ X - X.T @ D_ei)
    a = zeros(c.M.shape[0])
    a[i, :] = S.solve(c.force[i, :] - X.T @ c.force[e, :] + (X.T @ D_ee - D_ie) @ drift)
    a[e, :] = drift - X @ a[i, :]
    reaction = Phi_e.solve_transposed((c.M @ a - c.force)[e, :])
    floor = [c.floor[k] for k in i] if c.floor else ()
    sizes = [
        D_ii[k, k] + casadi.dot(X[:, k] ** 2, casadi.diag(D_ee)) for k in range(len(i))
    ]  # of what adds up to S
    held = Phi_e.condition(_chosen(c.scales, e))
    return Solution(a, reaction, joint_condition(held, S.condition(floor, sizes)))


METHODS: dict[str, Callable[[Constrained], Solution]] = {
    "multipliers": multipliers,
    "elimination": elimination,
    "udwadia_kalaba": udwadia_kalaba,
}


def _regularized(W: Expression, regularization: Sequence[float]) -> Expression:
    return W + casadi.diag(casadi.SX(list(regularization))) if regularization else W


def _refined(
    solver: Factors, W: Expression, right: Expression, regularization: Sequence[float]
) -> Expression:
    """lambda with W lambda = right; two more steps take back what the regularization changes."""
    reaction = solver.solve(right)
    for _ in range(2 if regularization else 0):
        reaction = reaction + solver.solve(right - W @ reaction)
    return reaction


def _spread(solver: Factors | LoopFactors) -> Expression:
    """The root of the least eigenvalue, as small as `Factors.unit_energy` finds it, over the largest pivot."""
    if not solver.inverse:
        return casadi.SX(1)
    least = casadi.mmin(casadi.vertcat(*solver.inverse))
    return casadi.sqrt(least / casadi.sumsqr(solver.unit_energy()))


def joint_condition(constraints: Expression, mass: Expression) -> Expression:
    """One reciprocal condition number of the constraints and of M, in which a NaN of either shows."""
    return 1 / casadi.sqrt(1 / constraints**2 + LIGHT / mass)


def _chosen(scales: Array | None, places: Sequence[int]) -> Array | None:
    """The scales of some velocities; None where all are 1 and need none."""
    if scales is None or (not is_symbolic(scales) and np.all(np.asarray(scales) == 1.0)):
        return None
    return casadi.SX(scales)[list(places), :]


class Effort(NamedTuple):
    """Actuators' forces, the constraint forces that go with them, and the reciprocal condition number."""

    forces: Expression
    reaction: Expression
    condition: Expression


def actuator_forces(
    needed: Expression,
    J: Expression,
    p: Partition,
    actuated: Sequence[int],
    weights: Sequence[float] | None,
    method: str,
    scales: Array | None = None,
) -> Effort:
    """The actuators' forces u that, with the constraint forces, are the forces `needed` in every joint:
    B u + J^T lambda = needed. Where that leaves a choice, u^T W u is least.

    By elimination this is virtual work (`virtual_work`). Otherwise it is the stationary point of u^T W u / 2 under these
    equations: with multipliers mu, u = W^-1 B^T mu and B W^-1 B^T mu + J^T lambda = needed, J mu = 0, which any method for
    constraints solves for the virtual displacement mu.
    """
    B = zeros(J.shape[1], len(actuated))
    for k, place in enumerate(actuated):
        B[place, k] = 1
    if method == "elimination":
        return virtual_work(needed, J, p, actuated, B, weights, scales)
    compliance = casadi.diag(1 / casadi.SX(list(weights or [1.0] * len(actuated))))
    rho = len(actuated) / sum(weights or [1.0] * len(actuated)) if actuated else 1.0
    found = METHODS[method](Constrained(B @ compliance @ B.T, needed, J, zeros(J.shape[0]), p, rho))
    return Effort(compliance @ B.T @ found.a, -found.reaction, found.condition)


def virtual_work(
    needed: Expression,
    J: Expression,
    p: Partition,
    actuated: Sequence[int],
    B: Expression,
    weights: Sequence[float] | None,
    scales: Array | None = None,
) -> Effort:
    """Virtual motions that keep the loops closed are v = N v_i with N = [1; rho], rho = -Phi_e^-1 Phi_i (Yime, eq. 44, its
    sign restored); so N^T B u = N^T needed (eqs. 42-46)."""
    i, e = list(p.independent), list(p.dependent)
    Phi_e = OrthogonalFactors(J[:, e])
    work, condition = (
        needed[i, :] - J[:, i].T @ Phi_e.solve_transposed(needed[e, :]),
        Phi_e.condition(_chosen(scales, e)),
    )
    if list(actuated) == i:
        u = work
    else:
        A = B[i, :] - J[:, i].T @ Phi_e.solve_transposed(B[e, :])
        if len(actuated) == len(i):
            along = _chosen(scales, i)
            if along is not None:  # powers of velocities that are comparable
                A, work = casadi.diag(1 / along) @ A, work / along
            square = OrthogonalFactors(A)
            of_motors = _chosen(scales, actuated)
            own = square.condition(None if of_motors is None else 1 / of_motors)
            u, condition = square.solve(work), casadi.fmin(condition, own)
        else:
            light = (
                A.T if weights is None else A.T / casadi.repmat(casadi.SX(list(weights)), 1, len(i))
            )
            u = light @ factors(A @ light).solve(work)
    return Effort(u, Phi_e.solve_transposed((needed - B @ u)[e, :]), condition)
