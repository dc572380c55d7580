"""The formulas behind the verbs of dynamics, for trees: each puts a formulation and what acts on the mechanism together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType

from eslabon.arguments import choice
from eslabon.compiler.calls import apart
from eslabon.errors import ModelError
from eslabon.formulas.applied_loads import joint_resistance, motor_inertia, potential, wrenches
from eslabon.formulas.constrained.constraint_solvers import METHODS
from eslabon.formulas.formulations import (
    aba,
    bond_graph,
    crba,
    gibbs_appell,
    lagrange,
    lie,
    passive_rnea,
    quaternion,
    rnea,
)
from eslabon.formulas.kinematics.closure import Structure
from eslabon.formulas.kinematics.links import Link, links, reduced_links
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.linear_solvers import factors
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import Inertia

FORMULATIONS: dict[str, ModuleType] = {
    "newton_euler": rnea,
    "lagrange": lagrange,
    "lie": lie,
    "gibbs_appell": gibbs_appell,
    "quaternion": quaternion,
    "bond_graph": bond_graph,
}
External = Mapping[str, Expression]


def formulated(name: str | None) -> ModuleType:
    """The formulation of that name; without one, the one with the fewest operations."""
    if name in METHODS:
        raise ModelError(
            f"{name!r} is a method for constraints, not a formulation; pass constraints={name!r}."
        )
    return FORMULATIONS[
        choice(name, "formulation", FORMULATIONS) if name is not None else "newton_euler"
    ]


def joint_forces(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    formulation: str | None,
    external: External,
) -> Expression:
    """The force along every velocity: rigid-body motion, motors' own inertia, springs and friction, less what is applied."""
    rigid = formulated(formulation).inverse_dynamics(m, q, v, a, wrenches(m, q, v, external))
    return rigid + motor_inertia(m) * a + joint_resistance(m, q, v)


def equations_of_motion(
    m: Model, q: Expression, v: Expression, formulation: str | None, external: External
) -> tuple[Expression, Expression]:
    """M and h with joint forces M v' + h: a formulation's own, or by what its inverse dynamics, affine in v', is made of."""
    chosen, applied = formulated(formulation), wrenches(m, q, v, external)
    if hasattr(chosen, "equations_of_motion"):
        M, h = chosen.equations_of_motion(m, q, v, applied)
    else:
        a = casadi.SX.sym("a", m.nv)
        needed = casadi.densify(chosen.inverse_dynamics(m, q, v, a, applied))
        M, h = casadi.jacobian(needed, a), casadi.substitute(needed, a, casadi.SX.zeros(m.nv))
    return M + casadi.diag(motor_inertia(m)), h + joint_resistance(m, q, v)


def inverse_dynamics(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    formulation: str | None = None,
    external: External | None = None,
) -> Expression:
    """The actuators' forces for a motion."""
    return joint_forces(m, q, v, a, formulation, external or {})[list(m.actuated_velocities), :]


def actuation(m: Model, tau: Expression) -> Expression:
    """The actuators' forces among those of all velocities, column by column."""
    force = zeros(m.nv, tau.shape[1])
    force[list(m.actuated_velocities), :] = tau
    return force


def forward_dynamics(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    formulation: str | None = None,
    external: External | None = None,
    structure: Structure | None = None,
    joint_forces: Expression | float = 0.0,
) -> list[Expression]:
    """The accelerations under the actuators' forces, and forces along all velocities besides, and the reciprocal condition
    number of the mass matrix."""
    force, floor = actuation(m, tau) + joint_forces, structure.floor if structure else ()
    tree = reduced_links(m)
    if formulation is None and articulated_pays(tree):
        force = (
            force
            - joint_resistance(m, q, v)
            + lagrange.virtual_work(m, q, wrenches(m, q, v, external or {}))
        )
        a, joints = aba.accelerations(m, tree, q, v, force, casadi.densify(motor_inertia(m)))
        shares = [
            joint.pivot_condition(floor[link.v]) for joint, link in zip(joints, tree, strict=True)
        ]
        return [a, len(shares) / sum((1 / share for share in shares), casadi.SX(0))]
    M, h = equations_of_motion(m, q, v, formulation, external or {})
    solver = factors(M)
    return [solver.solve(force - h), solver.pivot_condition(floor)]


def articulated_pays(tree: Sequence[Link]) -> bool:
    """Whether articulated bodies take fewer operations than factors of the mass matrix: on long chains.

    Counted on random trees: a body costs articulated bodies about 600 operations, and the mass matrix about 45 for
    each joint between it and the ground and one for each pair of them.
    """
    depth: list[int] = []
    for link in tree:
        depth.append((depth[link.parent] if link.parent >= 0 else 0) + link.kind.nv)
    return sum(150 + 45 * d + d * d for d in depth) > 620 * len(tree)


def mass_matrix(m: Model, q: Expression) -> Expression:
    """M(q), motors' own inertia included."""
    return crba.mass_matrix(m, q) + casadi.diag(motor_inertia(m))


def coriolis_matrix(m: Model, q: Expression, v: Expression) -> Expression:
    """C(q, v) with dM/dt - 2 C skew (Rojas, eq. 4.3.33)."""
    return lagrange.matrices(m, q, v)[1]


def gravity_forces(m: Model, q: Expression) -> Expression:
    """The joint forces that hold the weight."""
    still = zeros(m.nv)
    return rnea.joint_forces(m, reduced_links(m), q, still, still)


def energy(m: Model, q: Expression, v: Expression) -> Expression:
    """Kinetic and potential energy."""
    return casadi.vertcat(casadi.dot(v, mass_matrix(m, q) @ v) / 2, potential(m, q))


def reactions_under_forces(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    formulation: str | None = None,
    external: External | None = None,
    structure: Structure | None = None,
) -> list[Expression]:
    """The same when the actuators' forces are given, and the motion follows from them."""
    a, condition = forward_dynamics(m, q, v, tau, formulation, external, structure)
    return [reactions(m, q, v, a, external), condition]


def reactions(
    m: Model, q: Expression, v: Expression, a: Expression, external: External | None = None
) -> Expression:
    """A row for each joint: the moment and force it transmits to its child, in the child's axes about its origin."""
    return transmitted(m, q, v, a, wrenches(m, q, v, external or {}))


def transmitted(
    m: Model, q: Expression, v: Expression, a: Expression, applied: External
) -> Expression:
    """The same under all that is applied to the bodies."""
    tree = links(m)
    rows = rnea.inward(tree, rnea.outward(m, tree, q, v, a), applied)
    return casadi.vertcat(*(row.T for row in rows))


def regressor(m: Model, q: Expression, v: Expression, a: Expression) -> Expression:
    """Y with joint forces Y pi, linear in the inertial parameters pi of all bodies, ten each:
    mass, m c (3), and Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the body's frame."""
    pi, tree = _of_unknown_inertia(m)
    return apart(lambda *state: casadi.jacobian(rnea.joint_forces(m, tree, *state), pi), q, v, a)


def passive_regressor(
    m: Model, q: Expression, v: Expression, w: Expression, a: Expression
) -> Expression:
    """Y with M a + C(q, v) w + g = Y pi, where dM/dt - 2 C is skew (Slotine and Li, 1987); pi as in `regressor`, which it is
    for w = v."""
    pi, tree = _of_unknown_inertia(m)
    return apart(
        lambda *state: casadi.jacobian(passive_rnea.joint_forces(m, tree, *state), pi), q, v, w, a
    )


def _of_unknown_inertia(m: Model) -> tuple[Expression, list[Link]]:
    """Symbols for the inertial parameters of all bodies, and the links that have them."""
    pi = casadi.SX.sym("pi", 10 * len(m.bodies))
    return pi, [
        replace(link, inertia=_inertia(pi[10 * k : 10 * k + 10])) for k, link in enumerate(links(m))
    ]


def _inertia(pi: Expression) -> Inertia:
    """The inertia of the usual ten parameters: Sigma = tr(J)/2 1 - J."""
    xx, yy, zz, xy, xz, yz = (pi[k] for k in range(4, 10))
    J = casadi.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia(pi[0], pi[1:4], (xx + yy + zz) / 2 * casadi.SX.eye(3) - J, J)
