"""Derivatives of inverse and forward dynamics by the state, for trees and closed chains.

Those by q are along the velocities, so that quaternions need no care. Forward dynamics costs no derivative of its own: at
the accelerations it gives, M a + h = f + J^T lambda and J a = gamma hold for every state, so that

    M da - J^T dlambda = df - (d ID - d(J^T lambda)),   J da = d(gamma - J a),

with ID the inverse dynamics at fixed a and lambda, is solved by the factors that gave a.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from eslabon.compiler.calls import inlined
from eslabon.formulas.applied_loads import joint_resistance, motor_inertia, wrenches
from eslabon.formulas.constrained import loops, trees
from eslabon.formulas.constrained.constraint_solvers import Constrained, multipliers_for
from eslabon.formulas.derivatives import loop_derivatives, rnea_derivatives
from eslabon.formulas.derivatives.rnea_derivatives import Ground, large
from eslabon.formulas.formulations.lagrange import virtual_work
from eslabon.formulas.kinematics.ball_loops import aligned_loops
from eslabon.formulas.kinematics.closure import Partition, Structure
from eslabon.formulas.kinematics.links import serial
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.kinematics.tree import coordinate_rates
from eslabon.formulas.linear_solvers import factors_for
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi

External = Mapping[str, Expression]


class ForceDerivatives(NamedTuple):
    """The derivatives of all joint forces by q, v and a, the last of which is the mass matrix."""

    dq: Expression
    dv: Expression
    M: Expression


class Sensitivities(NamedTuple):
    """The accelerations of forward dynamics, their derivatives by parts of the state, how far the state violates loop
    closure, the reciprocal condition number, and the forces h along all velocities that hold the accelerations of the tree
    at zero."""

    a: Expression
    a_by: dict[str, Expression]
    residual: Expression
    condition: Expression
    held: Expression


def along(m: Model, expression: Expression, q: Expression) -> Expression:
    """The Jacobian of a column by q, along the velocities."""
    return casadi.jacobian(casadi.densify(expression), q) @ coordinate_rates(m, q)


def inverse_dynamics_derivatives(
    m: Model, q: Expression, v: Expression, a: Expression, external: External | None = None
) -> ForceDerivatives:
    """The derivatives of the forces in all joints, (nv, nv) each: the rigid bodies' by their recursion, and those of what
    else acts."""
    return _forces(m, q, v, external or {}, *rnea_derivatives.derivatives(m, q, v, a))


def _forces(
    m: Model,
    q: Expression,
    v: Expression,
    external: External,
    W: Expression,
    V: Expression,
    M: Expression,
) -> ForceDerivatives:
    W_applied, V_applied = _applied(m, q, v, external)
    return ForceDerivatives(W + W_applied, V + V_applied, M + casadi.diag(motor_inertia(m)))


def _applied(
    m: Model, q: Expression, v: Expression, external: External
) -> tuple[Expression, Expression]:
    """The derivatives of springs, friction and wrenches by q and v."""
    x, y = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    force = joint_resistance(m, x, y) - virtual_work(m, x, wrenches(m, x, y, external))
    if not force.nnz():
        return zeros(m.nv, m.nv), zeros(m.nv, m.nv)
    found = [along(m, force, x), casadi.jacobian(casadi.densify(force), y)]
    W, V = casadi.substitute(found, [x, y], [q, v])
    return casadi.sparsify(W), casadi.sparsify(V)


class Solved(NamedTuple):
    """Accelerations and multipliers, how far the state violates loop closure, the reciprocal condition number, and by the
    same factors the changes of accelerations that make up for forces and a gap of J a - gamma in excess."""

    a: Expression
    reaction: Expression
    compensate: Callable[[Expression, Expression], Expression]
    residual: Expression
    condition: Expression
    forces: ForceDerivatives  # of inverse dynamics, at a
    held: Expression  # h of M a + h


def solved(
    m: Model,
    q: Expression,
    v: Expression,
    force: Expression,
    external: External,
    structure: Structure,
    p: Partition,
    regularization: tuple[float, ...] = (),
    columns: int = 1,
) -> Solved:
    """Forward dynamics under forces along all velocities, by factors that serve so many derivatives too."""
    tree = serial(m)
    seen = Ground(m, tree, q, v) if large(tree) else None
    if seen:
        M, h = seen.equations_of_motion()
        push = virtual_work(m, q, wrenches(m, q, v, external))
        M, h = M + casadi.diag(motor_inertia(m)), h + joint_resistance(m, q, v) - push
    else:
        M, h = trees.equations_of_motion(m, q, v, None, external)

    def forces(a: Expression) -> ForceDerivatives:
        found = seen.derivatives(a) if seen else rnea_derivatives.of_links(m, tree, q, v, a)
        return _forces(m, q, v, external, *found)

    if not m.closed:
        mass = factors_for(M, columns)
        a = mass.solve(force - h)
        floor = mass.pivot_condition(structure.floor)
        return Solved(
            a, zeros(0), lambda f, gap: mass.solve_negative(f), casadi.SX(0), floor, forces(a), h
        )
    phi, J, gamma, rate = loops.residual(m, q, v, p, aligned_loops(m, p.rows))
    given = Constrained(
        M, force - h, J, gamma, p, structure.penalty, regularization, structure.floor
    )
    found = multipliers_for(given, columns)
    a, reaction = found.solve(given.force, gamma)
    left = loops.violation(phi, J @ v + rate)
    return Solved(a, reaction, found.compensate, left, found.condition, forces(a), h)


def forward_dynamics_derivatives(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    external: External | None = None,
    *,
    structure: Structure,
    partition: Partition | None = None,
    regularization: tuple[float, ...] = (),
    joint_forces: Expression | float = 0.0,
    joint_forces_by: tuple[Expression | float, Expression | float] = (0.0, 0.0),
    by: tuple[str, ...] = ("q", "v", "tau"),
    directions: Mapping[str, tuple[Expression, Expression]] | None = None,
) -> Sensitivities:
    """Forward dynamics, of a tree or with loops, and its derivatives by q, v and tau: (nv, nv) or (nv, nu).

    Forces along all velocities may be added, with their derivatives by q and v. With `regularization` the solver is that
    of regularized constraints, as in `Constrained`, and derivatives are those of the constraints as they are. In place of
    all changes of q and v, some `directions` may be asked for, by any name: a change X of q (in velocities) and Y of v,
    (nv, k) each, takes the place of "q" and "v" and costs as much less as k is smaller.
    """
    p = partition or structure.partition
    if regularization:
        p = Partition(structure.rows, p.independent, p.dependent)
    one, none = casadi.SX.eye(m.nv), zeros(m.nv, m.nv)
    changes = {"q": (one, none), "v": (none, one), "tau": (zeros(m.nv, m.nu),) * 2}
    if directions is not None:
        changes = {**directions, "tau": changes["tau"]}
        by = tuple(changes)
    widths = [changes[name][0].shape[1] for name in by]
    at = solved(
        m,
        q,
        v,
        trees.actuation(m, tau) + joint_forces,
        external or {},
        structure,
        p,
        regularization,
        sum(widths),
    )
    held = loop_derivatives.derivatives(
        m, q, v, at.a, at.reaction, p.rows, aligned_loops(m, p.rows)
    )
    B = {"tau": one[:, list(m.actuated_velocities)]}
    forces_q, forces_v = (
        at.forces.dq - held.forces_q - joint_forces_by[0],
        at.forces.dv - joint_forces_by[1],
    )
    excess = [forces_q @ changes[x][0] + forces_v @ changes[x][1] - B.get(x, 0) for x in by]
    gap = [held.gap_q @ changes[x][0] + held.gap_v @ changes[x][1] for x in by]
    found = at.compensate(casadi.horzcat(*excess), casadi.horzcat(*gap))
    a_by = dict(zip(by, casadi.horzsplit(found, [0, *accumulate(widths)]), strict=True))
    return Sensitivities(at.a, a_by, at.residual, at.condition, at.held)


def acceleration_by_parameter(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    parameter: Expression,
    external: External,
    structure: Structure,
    p: Partition,
) -> list[Expression]:
    """da/dp of a model whose numbers are made of the symbol p, with the residual and the condition number:
    M da - J^T dlambda = -d(ID - J^T lambda)/dp, J da = -d(J a - gamma)/dp at constant a and lambda."""
    at = solved(m, q, v, trees.actuation(m, tau), external, structure, p)
    a, force = casadi.SX.sym("a", m.nv), casadi.SX.sym("f", at.reaction.numel())
    needed, gap = trees.joint_forces(m, q, v, a, None, external), zeros(0)
    if m.closed:
        _, J, gamma, _ = loops.residual(m, q, v, p, aligned_loops(m, p.rows))
        needed, gap = needed - J.T @ force, J @ a - gamma
    slopes: list[Expression] = [
        casadi.jacobian(casadi.densify(x), parameter) for x in (needed, gap)
    ]
    found: list[Expression] = casadi.substitute(
        slopes, [a, force], [casadi.densify(at.a), casadi.densify(at.reaction)]
    )
    return [at.compensate(*found), at.residual, at.condition]


# What the evaluator asks for in place of differentiating a graph ------------------------------------------------------


def of_inverse_dynamics(
    m: Model,
    by: str | Expression,
    q: Expression,
    v: Expression,
    a: Expression,
    formulation: str | None = None,
    external: External | None = None,
) -> Expression | None:
    """The derivative of the actuators' forces of a tree by a part of the state; by a parameter the graph knows best."""
    if formulation is not None or not isinstance(by, str) or by not in ("q", "v", "a"):
        return None
    found = inverse_dynamics_derivatives(m, q, v, a, external)
    return found["qva".index(by)][list(m.actuated_velocities), :]


def of_forward_dynamics(
    m: Model,
    by: str | Expression,
    q: Expression,
    v: Expression,
    tau: Expression,
    formulation: str | None = None,
    constraints: str | None = None,
    external: External | None = None,
    *,
    structure: Structure,
    partition: Partition | None = None,
) -> list[Expression] | None:
    """The derivative of the accelerations by a part of the state or by a parameter, and forward dynamics' checks."""
    if formulation is not None or constraints is not None:
        return None
    if isinstance(by, str):
        found = forward_dynamics_derivatives(
            m, q, v, tau, external, structure=structure, partition=partition, by=(by,)
        )
        made = [found.a_by[by], found.residual, found.condition]
    else:
        p = partition or structure.partition
        made = acceleration_by_parameter(m, q, v, tau, by, external or {}, structure, p)
    return made if m.closed else [made[0], made[2]]


# Quantities that are derivatives --------------------------------------------------------------------------------------


def tree_force_derivatives(
    m: Model, q: Expression, v: Expression, a: Expression, external: External | None = None
) -> list[Expression]:
    """The derivatives of the actuators' forces of a tree by q, v and a."""
    return [
        x[list(m.actuated_velocities), :]
        for x in inverse_dynamics_derivatives(m, q, v, a, external)
    ]


def closed_force_derivatives(
    m: Model, q: Expression, v: Expression, a: Expression, **options: Any
) -> list[Expression]:
    """The same with loops, and the checks of inverse dynamics."""
    forces, *checks = inlined(loops.inverse_dynamics(m, q, v, a, **options))
    forces = casadi.densify(forces)
    return [along(m, forces, q), casadi.jacobian(forces, v), casadi.jacobian(forces, a), *checks]


def acceleration_derivatives(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    external: External | None = None,
    *,
    structure: Structure,
    partition: Partition | None = None,
) -> list[Expression]:
    """The derivatives of the accelerations by q, v and tau, and the checks of forward dynamics."""
    found = forward_dynamics_derivatives(
        m, q, v, tau, external, structure=structure, partition=partition
    )
    checks = [found.residual, found.condition] if m.closed else [found.condition]
    return [*found.a_by.values(), *checks]
