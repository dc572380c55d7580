"""The motions that keep loops closed, in independent velocities: v = N v_i."""

from __future__ import annotations

from collections.abc import Sequence

from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.linear_solvers import OrthogonalFactors
from eslabon.numerics.scalars import Array, Expression, casadi


class IndependentMotion:
    """How all velocities follow from independent ones where J v = 0: N = [1; -X] with X = Phi_e^-1 Phi_i,
    the columns of J that belong to the dependent and the independent ones (Díaz, eq. 3).

    >>> import casadi
    >>> motion = IndependentMotion(casadi.SX([[1.0, 2.0, 4.0]]), independent=[0, 1], dependent=[2])
    >>> casadi.evalf(motion.N[2, :]), casadi.evalf(motion.whole(casadi.SX([1.0, 1.0])))
    (DM([[-0.25, -0.5]]), DM([1, 1, -0.75]))
    """

    def __init__(
        self, J: Expression, independent: Sequence[int], dependent: Sequence[int], columns: int = 1
    ) -> None:
        self.J, self.independent, self.dependent = J, list(independent), list(dependent)
        factors = OrthogonalFactors(J[:, self.dependent])
        self.Phi_e = factors.for_many() if self.dependent and columns > 1 else factors
        self.N = zeros(J.shape[1], len(self.independent))
        self.N[self.independent, :] = casadi.SX.eye(len(self.independent))
        if self.dependent:
            self.N[self.dependent, :] = -self.Phi_e.solve(J[:, self.independent])

    def dependent_motion(self, right: Expression) -> Expression:
        """Velocities of all joints with J v = right, those of the independent ones zero."""
        v = zeros(self.J.shape[1], right.shape[1])
        if self.dependent:
            v[self.dependent, :] = self.Phi_e.solve(right)
        return v

    def whole(self, own: Expression, right: Expression | None = None) -> Expression:
        """All velocities with J v = right, zero if left out, and these independent ones."""
        made, J = zeros(self.J.shape[1]), self.J[:, self.independent]
        made[self.independent, :] = own
        if self.dependent:
            left = (0 if right is None else right) - J @ own
            made[self.dependent, :] = self.Phi_e.solve(left)
        return made

    def multipliers_of(self, left: Expression) -> Expression:
        """lambda with J^T lambda = left in the dependent rows."""
        return self.Phi_e.solve_transposed(left[self.dependent, :])

    def dependent_condition(self, scales: Array | None) -> Expression:
        """The reciprocal condition number of Phi_e, where dependent velocities times `scales` are
        comparable."""
        return self.Phi_e.condition(scales) if self.dependent else casadi.SX(1)
