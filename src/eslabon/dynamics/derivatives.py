"""Derivatives of inverse and forward dynamics by the state, for trees and closed chains.

Those by q are along the velocities, so that quaternions need no care. Forward dynamics costs no derivative of its own: at
the accelerations it gives, M a + h = f + J^T lambda and J a = gamma hold for every state, so that

    M da - J^T dlambda = df - (d ID - d(J^T lambda)),   J da = d(gamma - J a),

with ID the inverse dynamics at fixed a and lambda, is solved by the factors that gave a.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import casadi

from eslabon.dynamics import loops, trees
from eslabon.formulations.constrained import Constrained, multipliers
from eslabon.formulations.factor import factors
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
    """The derivatives of the forces in all joints, (nv, nv) each."""
    x, y, z = (casadi.SX.sym(name, n) for name, n in (("q", m.nq), ("v", m.nv), ("a", m.nv)))
    tau = casadi.densify(trees.joint_forces(m, x, y, z, None, external or {}))
    found = [along(m, tau, x), casadi.jacobian(tau, y), casadi.jacobian(tau, z)]
    return ForceDerivatives(*casadi.substitute(found, [x, y, z], [q, v, casadi.densify(a)]))


class ConstraintDerivatives(NamedTuple):
    """Derivatives at constant a and lambda: of J^T lambda by q, and of J a - gamma by q and by v."""

    forces_q: SX
    gap_q: SX
    gap_v: SX


def constraint_derivatives(m: Model, q: SX, v: SX, a: SX, reaction: SX, p: Partition) -> ConstraintDerivatives:
    """How the loops' forces and their second derivatives change, for the rows of a partition."""
    x, y, z, force = (
        casadi.SX.sym(name, n) for name, n in (("q", m.nq), ("v", m.nv), ("a", m.nv), ("f", len(p.rows)))
    )
    _, J, gamma, _ = loops.residual(m, x, y, p)
    gap = J @ z - gamma
    found = [along(m, J.T @ force, x), along(m, gap, x), casadi.jacobian(casadi.densify(gap), y)]
    given = [q, v, casadi.densify(a), casadi.densify(reaction)]
    return ConstraintDerivatives(*casadi.substitute(found, [x, y, z, force], given))


def forward_dynamics_derivatives(
    m: Model, q: SX, v: SX, tau: SX, external: External | None = None, *, structure: Structure,
    partition: Partition | None = None, joint_forces: SX | float = 0.0,
) -> Sensitivities:  # fmt: skip
    """Forward dynamics, of a tree or with loops, and its derivatives, (nv, nv) by q and v and (nv, nu) by tau."""
    M, h = trees.equations_of_motion(m, q, v, None, external or {})
    force = trees.actuation(m, tau) + joint_forces - h
    B = casadi.SX.eye(m.nv)[:, list(m.actuated_velocities)]
    if not m.closed:
        solver = factors(M)
        a = solver.solve(force)
        by = inverse_dynamics_derivatives(m, q, v, a, external)
        a_q, a_v, a_tau = _split(m, solver.solve(casadi.horzcat(-by.dq, -by.dv, B)))
        none = zeros(0), zeros(0, m.nv), zeros(0, m.nv), zeros(0, m.nu)
        return Sensitivities(a, none[0], a_q, a_v, a_tau, *none[1:], casadi.SX(0), solver.condition(structure.floor))
    p = partition or structure.partition
    phi, J, gamma, rate = loops.residual(m, q, v, p)
    given = Constrained(M, force, J, gamma, p, structure.penalty, floor=structure.floor)
    found = multipliers(given)
    by = inverse_dynamics_derivatives(m, q, v, found.a, external)
    held = constraint_derivatives(m, q, v, found.a, found.reaction, p)
    right = casadi.horzcat(held.forces_q - by.dq, -by.dv, B)
    gap = casadi.horzcat(-held.gap_q, -held.gap_v, zeros(len(p.rows), m.nu))
    solved = multipliers(Constrained(M, right, J, gap, p, structure.penalty))
    return Sensitivities(
        found.a, found.reaction, *_split(m, solved.a), *_split(m, solved.reaction),
        loops.violation(phi, J @ v + rate), found.condition,
    )  # fmt: skip


def _split(m: Model, x: SX) -> list[SX]:
    """Columns by q, v and tau."""
    parts: list[SX] = casadi.horzsplit(x, [0, m.nv, 2 * m.nv, 2 * m.nv + m.nu])
    return parts
