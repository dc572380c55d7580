"""Lagrange's equations in Kane's form, tau = I(q) v' + C(q, v) v + b(q) (Rojas, 4.3).

    I = sum m R^T R + A^T I A
    C = sum m R^T R' + A^T I A' + A_w^T I A
    b = -sum m R^T g                                 (eq. 4.3.33)

R and A are the Jacobians of each body's centre of mass and angular velocity in the ground's axes,
and the columns of A_w are those of A turned on by w. With this C the matrix dI/dt - 2 C is skew,
though it is not the matrix of Christoffel.
"""

from __future__ import annotations

from collections.abc import Mapping

from eslabon.formulas.formulations.body_jacobians import in_ground, virtual_work
from eslabon.formulas.kinematics.symbols import constant, gravity, zeros
from eslabon.model import Model
from eslabon.numerics.scalars import Expression
from eslabon.numerics.spatial import cross


def matrices(m: Model, q: Expression, v: Expression) -> tuple[Expression, Expression, Expression]:
    """I, C and b."""
    mass, coriolis, weight = zeros(m.nv, m.nv), zeros(m.nv, m.nv), zeros(m.nv)
    jacobians, g = in_ground(m, q, v), gravity(m)
    for body in m.bodies:
        J = jacobians[body.name]
        inertia = J.turn @ constant(body.inertia_matrix()) @ J.turn.T
        mass += body.mass * (J.R.T @ J.R) + J.A.T @ inertia @ J.A
        turned = inertia @ J.A_rate + cross(J.A @ v, inertia @ J.A)
        coriolis += body.mass * (J.R.T @ J.R_rate) + J.A.T @ turned
        weight -= body.mass * (J.R.T @ g)
    return mass, coriolis, weight


def inverse_dynamics(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    wrenches: Mapping[str, Expression] | None = None,
) -> Expression:
    """The joint forces (Rojas, eq. 4.3.33), less what wrenches on the bodies do of the work."""
    mass, bias = equations_of_motion(m, q, v, wrenches)
    return mass @ a + bias


def equations_of_motion(
    m: Model, q: Expression, v: Expression, wrenches: Mapping[str, Expression] | None = None
) -> tuple[Expression, Expression]:
    """I and h = C v + b with joint forces I v' + h."""
    mass, coriolis, weight = matrices(m, q, v)
    return mass, coriolis @ v + weight - virtual_work(m, q, wrenches or {})
