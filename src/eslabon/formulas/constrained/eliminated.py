"""A state of motion with its dependent velocities eliminated, for what follows from it, and how small changes are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from eslabon.formulas.constrained.constraint_solvers import joint_condition
from eslabon.formulas.constrained.loops import residual, violation
from eslabon.formulas.constrained.trees import actuation, equations_of_motion
from eslabon.formulas.kinematics.ball_loops import aligned_loops
from eslabon.formulas.kinematics.closure import Partition, Structure
from eslabon.formulas.kinematics.symbols import symmetric, zeros
from eslabon.formulas.linear_solvers import Factors, OrthogonalFactors, factors
from eslabon.model import Model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import Expression, casadi

External = Mapping[str, Expression]


@dataclass(frozen=True)
class Change:
    """How something changes with the independent coordinates x, their velocities y, and the actuators' forces."""

    x: Expression
    y: Expression
    tau: Expression

    def __add__(self, other: Change) -> Change:
        return Change(self.x + other.x, self.y + other.y, self.tau + other.tau)

    def through(self, matrix: Expression) -> Change:
        """The change of what a matrix makes of it."""
        return Change(matrix @ self.x, matrix @ self.y, matrix @ self.tau)

    @staticmethod
    def none(rows: int, n: int, nu: int) -> Change:
        return Change(zeros(rows, n), zeros(rows, n), zeros(rows, nu))

    def by(self, f: Callable[[Expression], Expression]) -> Change:
        """The change of what a linear function makes of it."""
        return Change(f(self.x), f(self.y), f(self.tau))

    def row(self, place: int) -> Change:
        return self.by(lambda x: x[place, :])

    @property
    def of_state(self) -> Expression:
        return casadi.horzcat(self.x, self.y)


@dataclass(frozen=True)
class Eliminated:
    """The equations of motion at a state with the dependent velocities eliminated: v = N v_i + (what Phi_t adds).

    M and h are those of the tree; `dependent` is Phi_e, None for a tree; `reduced` are the factors of U = N^T M N; `residuals`
    say how far the state is from keeping the loops closed, `condition` how far from being singular; `aligned` are loops as in
    `loops.residual`.
    """

    m: Model
    q: Expression
    v: Expression
    partition: Partition
    M: Expression
    h: Expression
    N: Expression
    J: Expression
    gamma: Expression
    dependent: OrthogonalFactors | None
    reduced: Factors
    residuals: list[Expression]
    condition: Expression
    aligned: tuple[str, ...] = ()

    def following(self, right: Expression) -> Expression:
        """Velocities of all joints, those of the independent ones zero, for which J v = right."""
        made = zeros(self.m.nv, right.shape[1])
        if self.dependent is not None:
            made[list(self.partition.dependent), :] = self.dependent.solve(right)
        return made

    @cached_property
    def drift(self) -> Expression:
        """d, the accelerations of all joints while the independent ones have none: J d = gamma."""
        return self.following(self.gamma)

    @cached_property
    def needed(self) -> Expression:
        """N^T (h + M d): the forces along the independent velocities that hold them without acceleration."""
        return self.N.T @ (self.h + self.M @ self.drift)

    def accelerations(self, tau: Expression) -> Expression:
        """U v_i' = N^T B tau - N^T (h + M d), v' = N v_i' + d (Díaz, eq. 4 corrected)."""
        return (
            self.N @ self.reduced.solve(self.N.T @ actuation(self.m, tau) - self.needed)
            + self.drift
        )

    def multipliers(self, left: Expression) -> Expression:
        """lambda with J^T lambda = M v' + h - B tau, which is `left`."""
        if self.dependent is None:
            return zeros(0, left.shape[1])
        return self.dependent.solve_transposed(left[list(self.partition.dependent), :])

    @property
    def residual(self) -> Expression:
        return violation(*self.residuals) if self.residuals else zeros(1)


def eliminated(
    m: Model,
    q: Expression,
    v: Expression,
    external: External,
    structure: Structure,
    p: Partition,
    aligned: bool = True,
) -> Eliminated:
    """A state's equations in the independent velocities of a partition, with as many loops `aligned` as can be, or none."""
    i, e = list(p.independent), list(p.dependent)
    M, h = equations_of_motion(m, q, v, None, external)
    N = zeros(m.nv, len(i))
    N[i, :] = casadi.SX.eye(len(i))
    floor = [structure.floor[k] for k in i]
    if not m.closed:
        reduced = factors(M if i == list(range(m.nv)) else M[i, i])
        return Eliminated(
            m,
            q,
            v,
            p,
            M,
            h,
            N,
            zeros(0, m.nv),
            zeros(0),
            None,
            reduced,
            [],
            reduced.pivot_condition(floor),
        )
    names = aligned_loops(m, p.rows) if aligned else ()
    phi, J, gamma, rate = residual(m, q, v, p, names)
    dependent = OrthogonalFactors(J[:, e]).for_many()
    N[e, :] = -dependent.solve(J[:, i])
    reduced = factors(symmetric(N.T @ M @ N))
    sizes = [
        casadi.dot(N[:, k] ** 2, casadi.diag(M)) for k in range(len(i))
    ]  # of what adds up to N^T M N
    held = dependent.condition(velocity_scales(m)[e])
    condition = joint_condition(held, reduced.condition(floor, sizes))
    return Eliminated(
        m, q, v, p, M, h, N, J, gamma, dependent, reduced, [phi, J @ v + rate], condition, names
    )
