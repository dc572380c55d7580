"""Lagrange's equations in Kane's form, tau = I(q) v' + C(q, v) v + b(q) (Rojas, 4.3).

I = sum m R^T R + A^T I A,  C = sum m R^T R' + A^T I A' + A_w^T I A,  b = -sum m R^T g   (eq. 4.3.33)

R and A are the Jacobians of each body's centre of mass and angular velocity in the ground's axes, and the columns of A_w
are those of A turned on by w. With this C the matrix dI/dt - 2 C is skew, though it is not the matrix of Christoffel.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi

from eslabon.formulations.jacobians import in_body, in_ground
from eslabon.formulations.symbols import SX, gravity, lean, product, zeros
from eslabon.model import Mechanism


def matrices(m: Mechanism, q: SX, v: SX) -> tuple[SX, SX, SX]:
    """I, C and b."""
    mass, coriolis, weight = zeros(m.nv, m.nv), zeros(m.nv, m.nv), zeros(m.nv)
    jacobians, g = in_ground(m, q, v), gravity(m)
    for body in m.bodies:
        J = jacobians[body.name]
        inertia = product(J.turn, body.inertia_matrix(), J.turn.T)
        spin = casadi.skew(product(J.A, v))
        mass += body.mass * product(J.R.T, J.R) + product(J.A.T, inertia, J.A)
        turned = lean(product(inertia, J.A_rate) + product(spin, inertia, J.A))
        coriolis += body.mass * product(J.R.T, J.R_rate) + product(J.A.T, turned)
        weight -= body.mass * product(J.R.T, g)
    return lean(mass), lean(coriolis), lean(weight)


def inverse_dynamics(m: Mechanism, q: SX, v: SX, a: SX, wrenches: Mapping[str, SX] | None = None) -> SX:
    """The joint forces (Rojas, eq. 4.3.33), less what wrenches on the bodies do of the work."""
    mass, coriolis, weight = matrices(m, q, v)
    forces = product(mass, a) + product(coriolis, v) + weight
    return lean(forces - virtual_work(m, q, wrenches or {}))


def virtual_work(m: Mechanism, q: SX, wrenches: Mapping[str, SX]) -> SX:
    """The joint forces that wrenches on the bodies amount to, sum J_i^T F_i."""
    forces = zeros(m.nv)
    if wrenches:
        jacobians = in_body(m, q)
        for body, wrench in wrenches.items():
            forces += product(jacobians[body].T, wrench)
    return lean(forces)
