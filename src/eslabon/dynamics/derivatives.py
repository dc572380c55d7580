"""Derivatives of inverse and forward dynamics by the state, for trees and closed chains.

Those by q are along the velocities, so that quaternions need no care. Forward dynamics costs no derivative of its own: at
the accelerations it gives, M a + h = f + J^T lambda and J a = gamma hold for every state, so that

    M da - J^T dlambda = df - (d ID - d(J^T lambda)),   J da = d(gamma - J a),

with ID the inverse dynamics at fixed a and lambda, is solved by the factors that gave a.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import casadi

from eslabon.dynamics import loops, trees
from eslabon.dynamics.applied import joint_resistance, motor_inertia, wrenches
from eslabon.formulations import loop_sensitivities, sensitivities
from eslabon.formulations.constrained import Constrained, Multipliers
from eslabon.formulations.factor import factors
from eslabon.formulations.lagrange import virtual_work
from eslabon.formulations.symbols import SX, zeros
from eslabon.kinematics.closure import Partition, Structure
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import Model

External = Mapping[str, SX]


class ForceDerivatives(NamedTuple):
    """The derivatives of all joint forces by q, v and a, the last of which is the mass matrix."""

    dq: SX
    dv: SX
    M: SX


class Sensitivities(NamedTuple):
    """The accelerations and multipliers of forward dynamics, their derivatives by q, v and tau, how far the state violates
    loop closure, and the reciprocal condition number. A tree has no multipliers."""

    a: SX
    reaction: SX
    a_q: SX
    a_v: SX
    a_tau: SX
    reaction_q: SX
    reaction_v: SX
    reaction_tau: SX
    residual: SX
    condition: SX


def along(m: Model, expression: SX, q: SX) -> SX:
    """The Jacobian of a column by q, along the velocities."""
    return casadi.jacobian(casadi.densify(expression), q) @ coordinate_rates(m, q)


def inverse_dynamics_derivatives(m: Model, q: SX, v: SX, a: SX, external: External | None = None) -> ForceDerivatives:
    """The derivatives of the forces in all joints, (nv, nv) each: the rigid bodies' by their recursion, and those of what
    else acts."""
    W, V, M = sensitivities.derivatives(m, q, v, a)
    W_applied, V_applied = _applied(m, q, v, external or {})
    return ForceDerivatives(W + W_applied, V + V_applied, M + casadi.diag(motor_inertia(m)))


def _applied(m: Model, q: SX, v: SX, external: External) -> tuple[SX, SX]:
    """The derivatives of springs, friction and wrenches by q and v."""
    x, y = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    force = joint_resistance(m, x, y) - virtual_work(m, x, wrenches(m, x, y, external))
    if not force.nnz():
        return zeros(m.nv, m.nv), zeros(m.nv, m.nv)
    found = [along(m, force, x), casadi.jacobian(casadi.densify(force), y)]
    W, V = casadi.substitute(found, [x, y], [q, v])
    return casadi.sparsify(W), casadi.sparsify(V)


class Solved(NamedTuple):
    """Accelerations and multipliers, the same solver for other right-hand sides, how far the state violates loop closure,
    and the reciprocal condition number."""

    a: SX
    reaction: SX
    solve: Callable[[SX, SX], tuple[SX, SX]]  # of forces and gamma
    residual: SX
    condition: SX


def solved(
    m: Model, q: SX, v: SX, force: SX, external: External, structure: Structure, p: Partition,
    regularization: tuple[float, ...] = (),
) -> Solved:  # fmt: skip
    """Forward dynamics under forces along all velocities, by factors that serve its derivatives too."""
    M, h = trees.equations_of_motion(m, q, v, None, external)
    if not m.closed:
        tree = factors(M)

        def of_tree(f: SX, gamma: SX) -> tuple[SX, SX]:
            return tree.solve(f), gamma

        return Solved(*of_tree(force - h, zeros(0)), of_tree, casadi.SX(0), tree.condition(structure.floor))
    phi, J, gamma, rate = loops.residual(m, q, v, p)
    given = Constrained(M, force - h, J, gamma, p, structure.penalty, regularization, structure.floor)
    found = Multipliers(given)
    a, reaction = found.solve(given.force, gamma)
    return Solved(a, reaction, found.solve, loops.violation(phi, J @ v + rate), found.condition)


def forward_dynamics_derivatives(
    m: Model, q: SX, v: SX, tau: SX, external: External | None = None, *, structure: Structure,
    partition: Partition | None = None, regularization: tuple[float, ...] = (), joint_forces: SX | float = 0.0,
    joint_forces_by: tuple[SX | float, SX | float] = (0.0, 0.0),
) -> Sensitivities:  # fmt: skip
    """Forward dynamics, of a tree or with loops, and its derivatives, (nv, nv) by q and v and (nv, nu) by tau.

    Forces along all velocities may be added, with their derivatives by q and v. With `regularization` the solver is that
    of regularized constraints, as in `Constrained`, and derivatives are those of the constraints as they are.
    """
    p = partition or structure.partition
    if regularization:
        p = Partition(structure.rows, p.independent, p.dependent)
    at = solved(m, q, v, trees.actuation(m, tau) + joint_forces, external or {}, structure, p, regularization)
    by = inverse_dynamics_derivatives(m, q, v, at.a, external)
    held = loop_sensitivities.derivatives(m, q, v, at.a, at.reaction, p.rows)
    B = casadi.SX.eye(m.nv)[:, list(m.actuated_velocities)]
    right = casadi.horzcat(held.forces_q - by.dq + joint_forces_by[0], joint_forces_by[1] - by.dv, B)
    a, reaction = at.solve(right, casadi.horzcat(-held.gap_q, -held.gap_v, zeros(held.gap_q.shape[0], m.nu)))
    return Sensitivities(at.a, at.reaction, *_split(m, a), *_split(m, reaction), at.residual, at.condition)


def _split(m: Model, x: SX) -> list[SX]:
    """Columns by q, v and tau."""
    parts: list[SX] = casadi.horzsplit(x, [0, m.nv, 2 * m.nv, 2 * m.nv + m.nu])
    return parts


def acceleration_by_parameter(
    m: Model, q: SX, v: SX, tau: SX, parameter: SX, external: External, structure: Structure, p: Partition
) -> list[SX]:
    """da/dp of a model whose numbers are made of the symbol p, with the residual and the condition number:
    M da - J^T dlambda = -d(ID - J^T lambda)/dp, J da = -d(J a - gamma)/dp at constant a and lambda."""
    at = solved(m, q, v, trees.actuation(m, tau), external, structure, p)
    a, force = casadi.SX.sym("a", m.nv), casadi.SX.sym("f", at.reaction.numel())
    needed, gap = trees.joint_forces(m, q, v, a, None, external), zeros(0)
    if m.closed:
        _, J, gamma, _ = loops.residual(m, q, v, p)
        needed, gap = needed - J.T @ force, J @ a - gamma
    found = [casadi.jacobian(casadi.densify(x), parameter) for x in (needed, gap)]
    found = casadi.substitute(found, [a, force], [casadi.densify(at.a), casadi.densify(at.reaction)])
    return [at.solve(-found[0], -found[1])[0], at.residual, at.condition]


# What the evaluator asks for in place of differentiating a graph ------------------------------------------------------


def of_inverse_dynamics(
    m: Model, by: str | SX, q: SX, v: SX, a: SX, formulation: str | None = None, external: External | None = None
) -> SX | None:
    """The derivative of the actuators' forces of a tree by a part of the state; by a parameter the graph knows best."""
    if formulation is not None or by not in ("q", "v", "a"):
        return None
    found = inverse_dynamics_derivatives(m, q, v, a, external)
    return found["qva".index(by)][list(m.actuated_velocities), :]


def of_forward_dynamics(
    m: Model, by: str | SX, q: SX, v: SX, tau: SX, formulation: str | None = None, constraints: str | None = None,
    external: External | None = None, *, structure: Structure, partition: Partition | None = None,
) -> list[SX] | None:  # fmt: skip
    """The derivative of the accelerations by a part of the state or by a parameter, and forward dynamics' checks."""
    if formulation is not None or constraints is not None:
        return None
    if isinstance(by, str):
        found = forward_dynamics_derivatives(m, q, v, tau, external, structure=structure, partition=partition)
        made = [{"q": found.a_q, "v": found.a_v, "tau": found.a_tau}[by], found.residual, found.condition]
    else:
        p = partition or structure.partition
        made = acceleration_by_parameter(m, q, v, tau, by, external or {}, structure, p)
    return made if m.closed else [made[0], made[2]]
