"""Derivatives of inverse and forward dynamics by the state, for trees and closed chains.

Those by q are along the velocities, so that quaternions need no care. Forward dynamics costs no
derivative of its own: at the accelerations it gives, M a + h = f + J^T lambda and J a = gamma hold
for every state, so that

    M da - J^T dlambda = df - (d ID - d(J^T lambda)),   J da = d(gamma - J a),

with ID the inverse dynamics at fixed a and lambda, is solved by the factors that gave a.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from eslabon.compiler.calls import inlined
from eslabon.formulas import dynamics
from eslabon.formulas.applied_loads import Wrenches, joint_resistance, motor_inertia, wrenches
from eslabon.formulas.constrained.constraint_solvers import ConstraintSolver
from eslabon.formulas.derivatives import loop_derivatives, rnea_derivatives
from eslabon.formulas.derivatives.rnea_derivatives import Ground, large
from eslabon.formulas.formulations.body_jacobians import virtual_work
from eslabon.formulas.kinematics.links import serial
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.kinematics.tree import coordinate_rates
from eslabon.formulas.motion_state import Equations, MotionState
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi


class ForceDerivatives(NamedTuple):
    """The derivatives of all joint forces by q, v and a, the last of which is the mass matrix."""

    dq: Expression
    dv: Expression
    M: Expression


class Sensitivities(NamedTuple):
    """Forward dynamics and its derivatives.

    The accelerations, their derivatives by parts of the state, the checks of forward dynamics, and
    the forces h along all velocities that hold the accelerations of the tree at zero.
    """

    a: Expression
    a_by: dict[str, Expression]
    checks: list[Expression]
    holding_forces: Expression


class JointForces(NamedTuple):
    """Forces along all velocities besides those of actuators, and their derivatives by q and v."""

    force: Expression | float = 0.0
    by_q: Expression | float = 0.0
    by_v: Expression | float = 0.0


NO_FORCES = JointForces()


def along(m: Model, expression: Expression, q: Expression) -> Expression:
    """The Jacobian of a column by q, along the velocities."""
    return casadi.jacobian(casadi.densify(expression), q) @ coordinate_rates(m, q)


def joint_force_derivatives(s: MotionState, a: Expression) -> ForceDerivatives:
    """The derivatives of the forces in all joints, (nv, nv) each: those of the rigid bodies by
    their recursion, and those of the other forces."""
    return _with_loads(s, *rnea_derivatives.derivatives(s.m, s.q, s.v, a))


def _with_loads(s: MotionState, W: Expression, V: Expression, M: Expression) -> ForceDerivatives:
    W_applied, V_applied = _load_derivatives(s.m, s.q, s.v, s.external)
    return ForceDerivatives(W + W_applied, V + V_applied, M + casadi.diag(motor_inertia(s.m)))


def _load_derivatives(
    m: Model, q: Expression, v: Expression, external: Wrenches
) -> tuple[Expression, Expression]:
    """The derivatives of springs, friction and wrenches by q and v."""
    x, y = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    force = joint_resistance(m, x, y) - virtual_work(m, x, wrenches(m, x, y, external))
    if not force.nnz():
        return zeros(m.nv, m.nv), zeros(m.nv, m.nv)
    found = [along(m, force, x), casadi.jacobian(casadi.densify(force), y)]
    W, V = casadi.substitute(found, [x, y], [q, v])
    return casadi.sparsify(W), casadi.sparsify(V)


def _with_shared_equations(
    s: MotionState,
) -> tuple[MotionState, Callable[[Expression], ForceDerivatives]]:
    """The state with equations that share their graph with the derivatives of the joint forces, and
    the function of the accelerations that gives these."""
    tree = serial(s.m)
    if not large(tree):
        return s, lambda a: _with_loads(s, *rnea_derivatives.of_links(s.m, tree, s.q, s.v, a))
    seen = Ground(s.m, tree, s.q, s.v)
    M, h = seen.equations_of_motion()
    h = h + joint_resistance(s.m, s.q, s.v) - virtual_work(s.m, s.q, s.wrenches)
    shared = replace(s, known_equations=Equations(M + casadi.diag(motor_inertia(s.m)), h))
    return shared, lambda a: _with_loads(s, *seen.derivatives(a))


def _solve_motion(
    s: MotionState, force: Expression, columns: int
) -> tuple[ConstraintSolver, Expression, Expression]:
    """A solver for so many columns, and the accelerations and multipliers under a force."""
    solver = s.solver(columns)
    return solver, *solver.solve(force - s.equations.h, s.closure.gamma)


def forward_dynamics_derivatives(
    s: MotionState,
    tau: Expression,
    besides: JointForces = NO_FORCES,
    by: tuple[str, ...] = ("q", "v", "tau"),
    directions: Mapping[str, tuple[Expression, Expression]] | None = None,
) -> Sensitivities:
    """Forward dynamics and its derivatives by q, v and tau: (nv, nv) or (nv, nu).

    Forces along all velocities may act `besides`. With a regularization of the method the solver is
    that of regularized constraints, and derivatives are those of the constraints as they are. In
    place of all changes of q and v, some `directions` may be asked for, by any name: a change X of
    q (in velocities) and Y of v, (nv, k) each, takes the place of "q" and "v" and costs as much
    less as k is smaller.
    """
    m = s.m
    one, none = casadi.SX.eye(m.nv), zeros(m.nv, m.nv)
    changes = {"q": (one, none), "v": (none, one), "tau": (zeros(m.nv, m.nu),) * 2}
    if directions is not None:
        changes = {**directions, "tau": changes["tau"]}
        by = tuple(changes)
    widths = [changes[name][0].shape[1] for name in by]
    s, force_derivatives = _with_shared_equations(s)
    force = s.actuation(tau) + besides.force
    solver, a, reaction = _solve_motion(s, force, sum(widths))
    forces = force_derivatives(a)
    loops = loop_derivatives.derivatives(s, a, reaction)
    B = {"tau": one[:, list(m.actuated_velocities)]}
    by_q, by_v = forces.dq - loops.forces_q - besides.by_q, forces.dv - besides.by_v
    excess = [by_q @ changes[x][0] + by_v @ changes[x][1] - B.get(x, 0) for x in by]
    gap = [loops.gap_q @ changes[x][0] + loops.gap_v @ changes[x][1] for x in by]
    found = solver.compensate(casadi.horzcat(*excess), casadi.horzcat(*gap))
    a_by = dict(zip(by, casadi.horzsplit(found, [0, *accumulate(widths)]), strict=True))
    return Sensitivities(a, a_by, s.checks(solver.condition), s.equations.h)


def acceleration_by_parameter(
    s: MotionState, tau: Expression, parameter: Expression
) -> list[Expression]:
    """da/dp of a model whose numbers are made of the symbol p, and the checks of forward dynamics:
    M da - J^T dlambda = -d(ID - J^T lambda)/dp, J da = -d(J a - gamma)/dp at constant a and
    lambda."""
    s, _ = _with_shared_equations(s)
    solver, accelerations, reaction = _solve_motion(s, s.actuation(tau), 1)
    a, force = casadi.SX.sym("a", s.m.nv), casadi.SX.sym("f", reaction.numel())
    needed = s.joint_forces(a) - s.closure.J.T @ force
    slopes: list[Expression] = [
        casadi.jacobian(casadi.densify(x), parameter) for x in (needed, s.acceleration_gap(a))
    ]
    found: list[Expression] = casadi.substitute(
        slopes, [a, force], [casadi.densify(accelerations), casadi.densify(reaction)]
    )
    return [solver.compensate(*found), *s.checks(solver.condition)]


# What the evaluator asks for in place of differentiating a graph ----------------------------------


def of_inverse_dynamics(
    s: MotionState,
    by: str | Expression,
    a: Expression,
    weights: tuple[float, ...] | None = None,
) -> list[Expression] | None:
    """The derivative of the actuator forces of a tree by a part of the state.

    By a parameter, with loops and in other formulations, differentiating the graph is as good.
    """
    if s.m.closed or s.method.formulation is not None or not isinstance(by, str):
        return None
    if by not in ("q", "v", "a"):
        return None
    found = joint_force_derivatives(s, a)
    return [found["qva".index(by)][list(s.m.actuated_velocities), :]]


def of_forward_dynamics(
    s: MotionState, by: str | Expression, tau: Expression
) -> list[Expression] | None:
    """The derivative of the accelerations by a part of the state or by a parameter, and the checks
    of forward dynamics."""
    if s.method.formulation is not None or s.method.constraints is not None:
        return None
    if not isinstance(by, str):
        return acceleration_by_parameter(s, tau, by)
    found = forward_dynamics_derivatives(s, tau, by=(by,))
    return [found.a_by[by], *found.checks]


# Quantities that are derivatives ------------------------------------------------------------------


def inverse_dynamics_derivatives(
    s: MotionState, a: Expression, weights: tuple[float, ...] | None = None
) -> list[Expression]:
    """The derivatives of the actuator forces by q, v and a, and the checks of inverse dynamics."""
    if not s.m.closed:
        driven = list(s.m.actuated_velocities)
        return [x[driven, :] for x in joint_force_derivatives(s, a)]
    forces, *checks = inlined(dynamics.inverse_dynamics(s, a, weights))
    forces = casadi.densify(forces)
    by_q = along(s.m, forces, s.q)
    return [by_q, casadi.jacobian(forces, s.v), casadi.jacobian(forces, a), *checks]


def acceleration_derivatives(s: MotionState, tau: Expression) -> list[Expression]:
    """The derivatives of the accelerations by q, v and tau, and the checks of forward dynamics."""
    found = forward_dynamics_derivatives(s, tau)
    return [*found.a_by.values(), *found.checks]
