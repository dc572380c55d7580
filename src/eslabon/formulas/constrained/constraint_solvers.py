"""Methods to impose constraints on a tree, behind one protocol, and actuator forces by virtual
work.

A tree with loops obeys M v' = f + J^T lambda and J v' = gamma, where M and the force f come from a
formulation of the tree, J and gamma from independent rows of the constraints. The methods differ in
how they treat lambda, and agree:

    multipliers      the range-space method: lambda from J M^-1 J^T, then v'
    elimination      the null-space method: dependent velocities are eliminated by v = N v_i
    udwadia_kalaba   the generalised inverse of J M^-1/2

A tree is the case of no rows: then lambda is empty, and all methods solve M v' = f.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from eslabon.compiler import operators
from eslabon.formulas.constrained.independent_motion import IndependentMotion
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
from eslabon.formulas.structure import Partition
from eslabon.numerics.scalars import Array, Computed, Expression, casadi, is_symbolic
from eslabon.numerics.tolerances import MASSLESS, POORLY_CONDITIONED

# The weight of the reciprocal condition number of M, which is no root: a massless M is poorly
# conditioned.
MASS_WEIGHT = MASSLESS / POORLY_CONDITIONED**2


@dataclass(frozen=True)
class ConstrainedMass:
    """M and J of M v' = f + J^T lambda, J v' = gamma, and what helps to solve these equations.

    `penalty` is a rho for which M + rho J^T J is invertible where M alone is not, as with a slender
    rod between hinges; since J v' = gamma, adding rho J^T J to M and rho J^T gamma to the forces
    changes no motion. `regularization` on the diagonal of J M^-1 J^T keeps lambda finite where rows
    become dependent (Bayo and Avello's penalty). `floor` is the inertia that counts as none. `scales`
    make velocities comparable where some are in metres; rows are comparable as they are.
    """

    M: Expression
    J: Expression
    partition: Partition
    penalty: float = 0.0
    regularization: Sequence[float] = ()
    floor: Sequence[float] = ()
    scales: Array | None = None

    @property
    def rows(self) -> int:
        """The number of constraint rows: none for a tree."""
        return self.J.shape[0]

    @cached_property
    def penalized_mass(self) -> Expression:
        """M + rho J^T J."""
        return self.M + self.penalty * (self.J.T @ self.J) if self.penalty else self.M

    def penalized_force(self, f: Expression, gamma: Expression) -> Expression:
        """f + rho J^T gamma, with which M + rho J^T J gives the same motion."""
        return f + self.penalty * (self.J.T @ gamma) if self.penalty else f


class ConstraintSolver(Protocol):
    """A method for constraints at a state. It serves any forces and gammas, of one column or
    several."""

    def solve(self, f: Expression, gamma: Expression) -> tuple[Expression, Expression]:
        """v' and lambda with M v' = f + J^T lambda and J v' = gamma."""

    def compensate(self, excess: Expression, gap: Expression) -> Expression:
        """The changes of v' that cancel forces and second derivatives of the constraints in
        excess."""

    @property
    def condition(self) -> Expression:
        """The reciprocal condition number."""


class Multipliers:
    """The range-space method: (J M^-1 J^T) lambda = gamma - J M^-1 f.

    With M = L^T D L only L^-T J^T is needed, which has few entries.
    """

    def __init__(self, c: ConstrainedMass) -> None:
        self.given = c
        self.tree = factors(c.penalized_mass)
        self.across = self.tree.inward(c.J.T)
        self.light = self.tree.over_pivots(self.across).T
        self.W = symmetric(self.light @ self.across)
        self.solver = factors(_add_regularization(self.W, c.regularization))

    def solve(self, f: Expression, gamma: Expression) -> tuple[Expression, Expression]:
        """v' and lambda."""
        force = self.tree.inward(self.given.penalized_force(f, gamma))
        right = gamma - self.light @ force
        reaction = _solve_refined(self.solver, self.W, right, self.given.regularization)
        return self.tree.outward(self.tree.over_pivots(force + self.across @ reaction)), reaction

    def compensate(self, excess: Expression, gap: Expression) -> Expression:
        """The changes of v' that cancel forces and second derivatives in excess."""
        return self.solve(-excess, -gap)[0]

    @property
    def condition(self) -> Expression:
        return _condition(self.given, self.solver, self.tree)


class NativeMultipliers:
    """The range-space method by loops in native code, for large mechanisms and many columns.

    With Y = M^-1 J^T and W = J Y the changes of v' follow from forces and gaps in excess by blocks

        A12^T = W^-1 Y^T,    A11 = M^-1 - Y A12^T,    dv' = -A11 excess - A12 gap,

    which are as wide as v', so that each column costs one product with its few own entries.
    """

    def __init__(self, c: ConstrainedMass, columns: int) -> None:
        self.given, mass = c, c.penalized_mass
        self.tree = factors_for(mass, mass.shape[0] if c.rows else columns)
        self.Y = self._over_mass(c.J.T)
        self.W = _transposed_product(c.J, self.Y)
        self.solver = loop_factors(_add_regularization(self.W, c.regularization))

    def _over_mass(self, b: Expression) -> Expression:
        return self.tree.solve(b if isinstance(self.tree, Factors) else casadi.densify(b))

    def _less(self, A: Expression, b: Expression, c: Expression) -> Expression:
        """c - A b."""
        if A.nnz() * b.shape[1] <= SHORT:
            return c - A @ b
        return operators.multiplied(operators.entries(A), A, b, c)

    def _over_constraints(self, right: Expression) -> Expression:
        """W^-1 of right-hand sides."""
        found = self.solver.solve(right)
        for _ in range(2 if self.given.regularization else 0):
            found = found + self.solver.solve(self._less(self.W, found, right))
        return found

    def solve(self, f: Expression, gamma: Expression) -> tuple[Expression, Expression]:
        """v' and lambda."""
        free = self._over_mass(self.given.penalized_force(f, gamma))
        if not self.given.rows:
            return free, zeros(0, f.shape[1])
        reaction = self._over_constraints(self._less(self.given.J, free, gamma))
        return self._less(-self.Y, reaction, free), reaction

    def compensate(self, excess: Expression, gap: Expression) -> Expression:
        """The changes of v' that cancel forces and second derivatives in excess."""
        n, k = excess.shape
        if not self.given.rows:
            return self.tree.solve_negative(excess)
        if k < n:
            return self.solve(-excess, -gap)[0]
        across = self._over_constraints(casadi.densify(self.Y.T))
        within = self._less(self.Y, across, casadi.densify(self._over_mass(casadi.SX.eye(n))))
        blocks = casadi.vertcat(within, across)
        return _transposed_product(casadi.vertcat(excess, gap).T, blocks, negative=True)

    @property
    def condition(self) -> Expression:
        return _condition(self.given, self.solver, self.tree)


def _transposed_product(A: Expression, b: Expression, negative: bool = False) -> Expression:
    """(A b)^T or -(A b)^T, by a loop unless it is short."""
    if A.nnz() * b.shape[1] > SHORT:
        return operators.transposed_product(operators.entries(A), A, b, negative)
    return -(A @ b).T if negative else (A @ b).T


def multipliers(c: ConstrainedMass, columns: int = 1) -> ConstraintSolver:
    """The range-space method that is best for so many right-hand sides."""
    if columns == 1:
        return Multipliers(c)
    large = c.rows**2 * columns > 2 * MANY if c.rows else operators.lower(c.M).size * columns > MANY
    return NativeMultipliers(c, columns) if large else Multipliers(c)


class UdwadiaKalaba:
    """v' = a + M^-1/2 (J M^-1/2)^+ (gamma - J a), a = M^-1 f, with L of M = L^T D L as its root."""

    def __init__(self, c: ConstrainedMass, columns: int = 1) -> None:
        self.given = c
        self.tree = factors(c.penalized_mass)
        self.half = casadi.diag(casadi.sqrt(casadi.vertcat(zeros(0), *self.tree.inverse)))
        self.root = self.half @ self.tree.inward(c.J.T)  # M^-1/2 J^T
        self.W = symmetric(self.root.T @ self.root)
        self.solver = factors(_add_regularization(self.W, c.regularization))

    def solve(self, f: Expression, gamma: Expression) -> tuple[Expression, Expression]:
        """v' and lambda."""
        a = self.tree.solve(self.given.penalized_force(f, gamma))
        right = gamma - self.given.J @ a
        reaction = _solve_refined(self.solver, self.W, right, self.given.regularization)
        return a + self.tree.outward(self.half @ (self.root @ reaction)), reaction

    def compensate(self, excess: Expression, gap: Expression) -> Expression:
        """The changes of v' that cancel forces and second derivatives in excess."""
        return self.solve(-excess, -gap)[0]

    @property
    def condition(self) -> Expression:
        return _condition(self.given, self.solver, self.tree)


class Elimination(IndependentMotion):
    """The null-space method: the explicit equations of Gibbs and Appell (Díaz, eq. 4 corrected).

    The velocities are v = N v_i, and v' = N v_i' + d with d = [0; Phi_e^-1 b], b being gamma. With
    the blocks D of the mass matrix

        S v_i' = f_i - X^T f_e + (X^T D_ee - D_ie) Phi_e^-1 b,
        S = D_ii + X^T D_ee X - D_ie X - X^T D_ei,

    which is (N^T M N) v_i' = N^T (f - M d). For many columns small Phi_e are inverted.
    """

    def __init__(self, c: ConstrainedMass, columns: int = 1) -> None:
        self.given = c
        super().__init__(c.J, c.partition.independent, c.partition.dependent, columns)

    @cached_property
    def reduced_mass(self) -> Factors:
        """The factors of S = N^T M N."""
        return factors(symmetric(self.N.T @ self.given.M @ self.N))

    def solve(self, f: Expression, gamma: Expression) -> tuple[Expression, Expression]:
        """v' and lambda."""
        d, M = self.dependent_motion(gamma), self.given.M
        a = self.N @ self.reduced_mass.solve(self.N.T @ (f - M @ d)) + d
        return a, self.multipliers_of(M @ a - f)

    def compensate(self, excess: Expression, gap: Expression) -> Expression:
        """The changes of v' that cancel forces and second derivatives in excess."""
        return self.solve(-excess, -gap)[0]

    @property
    def condition(self) -> Expression:
        c, i = self.given, self.independent
        floor = [c.floor[k] for k in i] if c.floor else ()
        if not c.rows:
            return self.reduced_mass.pivot_condition(floor)
        # the sizes of what adds up to the diagonal of S
        sizes = [casadi.dot(self.N[:, k] ** 2, casadi.diag(c.M)) for k in range(len(i))]
        return joint_condition(self.constraint_condition, self.reduced_mass.condition(floor, sizes))

    @property
    def constraint_condition(self) -> Expression:
        """The reciprocal condition number of Phi_e, by comparable velocities; 1 without rows."""
        if not self.given.rows:
            return casadi.SX(1)
        return self.dependent_condition(_chosen_scales(self.given.scales, self.dependent))


ConstraintMethod = Callable[[ConstrainedMass, int], ConstraintSolver]
METHODS: dict[str, ConstraintMethod] = {
    "multipliers": multipliers,
    "elimination": Elimination,
    "udwadia_kalaba": UdwadiaKalaba,
}


def _add_regularization(W: Expression, regularization: Sequence[float]) -> Expression:
    return W + casadi.diag(casadi.SX(list(regularization))) if regularization else W


def _solve_refined(
    solver: Factors, W: Expression, right: Expression, regularization: Sequence[float]
) -> Expression:
    """lambda with W lambda = right; two more steps undo the effect of the regularization."""
    reaction = solver.solve(right)
    for _ in range(2 if regularization else 0):
        reaction = reaction + solver.solve(right - W @ reaction)
    return reaction


def _condition(
    c: ConstrainedMass, constraints: Factors | LoopFactors, tree: Factors | LoopFactors
) -> Expression:
    """That of M alone for a tree, which makes forward dynamics no longer; else that of both."""
    if not c.rows:
        return tree.pivot_condition(c.floor)
    return joint_condition(_smallest_singular_value(constraints), tree.condition(c.floor))


def _smallest_singular_value(solver: Factors | LoopFactors) -> Expression:
    """The root of the smallest eigenvalue, as `Factors.unit_energy` bounds it, over the largest
    pivot."""
    least = casadi.mmin(casadi.vertcat(*solver.inverse))
    return casadi.sqrt(least / casadi.sumsqr(solver.unit_energy()))


def joint_condition(constraints: Expression, mass: Expression) -> Expression:
    """One reciprocal condition number of the constraints and of M, in which a NaN of either shows."""
    return 1 / casadi.sqrt(1 / constraints**2 + MASS_WEIGHT / mass)


def _chosen_scales(scales: Array | None, places: Sequence[int]) -> Computed | None:
    """The scales of some velocities; None where all are 1 and need none."""
    if scales is None or (not is_symbolic(scales) and np.all(np.asarray(scales) == 1.0)):
        return None
    return casadi.SX(scales)[list(places), :]


class Effort(NamedTuple):
    """Actuator forces, the constraint forces that go with them, and the reciprocal condition
    number."""

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
    dependent_factors: OrthogonalFactors | None = None,
) -> Effort:
    """The actuator forces u that, with the constraint forces, are the forces `needed` in all
    joints.

    B u + J^T lambda = needed. Where that leaves a choice (actuation redundancy), u^T W u is
    minimal. Passive spins are held still among the virtual motions; `needed` does no work in them.

    By elimination this is virtual work (`virtual_work_forces`). Otherwise it is the stationary
    point of u^T W u / 2 under these equations: with multipliers mu, u = W^-1 B^T mu and B W^-1 B^T
    mu + J^T lambda = needed, J mu = 0, which any method for constraints solves for the virtual
    displacement mu.
    """
    B = zeros(J.shape[1], len(actuated))
    for k, place in enumerate(actuated):
        B[place, k] = 1
    if method == "elimination":
        Phi_e = dependent_factors or OrthogonalFactors(J[:, list(p.dependent)])
        return virtual_work_forces(needed, J, p, actuated, B, weights, Phi_e, scales)
    compliance = casadi.diag(1 / casadi.SX(list(weights or [1.0] * len(actuated))))
    rho = len(actuated) / sum(weights or [1.0] * len(actuated)) if actuated else 1.0
    still = casadi.SX.eye(J.shape[1])[list(p.spins), :]
    rows = casadi.vertcat(J, still if scales is None else still @ casadi.diag(casadi.SX(scales)))
    solver = METHODS[method](ConstrainedMass(B @ compliance @ B.T, rows, p, rho), 1)
    mu, reaction = solver.solve(needed, zeros(rows.shape[0]))
    return Effort(compliance @ B.T @ mu, -reaction[: J.shape[0], :], solver.condition)


def virtual_work_forces(
    needed: Expression,
    J: Expression,
    p: Partition,
    actuated: Sequence[int],
    B: Expression,
    weights: Sequence[float] | None,
    Phi_e: OrthogonalFactors,
    scales: Array | None = None,
) -> Effort:
    """Virtual motions that keep the loops closed are v = N v_i with N = [1; rho] and rho =
    -Phi_e^-1 Phi_i (Yime, eq. 44, its sign restored); so N^T B u = N^T needed (eqs. 42-46)."""
    i, e = list(p.driven), list(p.dependent)
    work, condition = (
        needed[i, :] - J[:, i].T @ Phi_e.solve_transposed(needed[e, :]),
        Phi_e.condition(_chosen_scales(scales, e)),
    )
    if list(actuated) == i:
        u = work
    else:
        A = B[i, :] - J[:, i].T @ Phi_e.solve_transposed(B[e, :])
        if len(actuated) == len(i):
            along = _chosen_scales(scales, i)
            if along is not None:  # powers of velocities that are comparable
                A, work = casadi.diag(1 / along) @ A, work / along
            square = OrthogonalFactors(A)
            of_motors = _chosen_scales(scales, actuated)
            own = square.condition(None if of_motors is None else 1 / of_motors)
            u, condition = square.solve(work), casadi.fmin(condition, own)
        else:
            light = (
                A.T if weights is None else A.T / casadi.repmat(casadi.SX(list(weights)), 1, len(i))
            )
            u = light @ factors(A @ light).solve(work)
    return Effort(u, Phi_e.solve_transposed((needed - B @ u)[e, :]), condition)
