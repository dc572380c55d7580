"""What keeps a mechanism at rest, or in a steady motion: constant velocities v, without acceleration.

The forces h(q, v) that such a motion needs are those of the actuators, B tau, and of the loops, -J^T lambda:

    g + J^T lambda = 0,    g = h(q, v) - B tau,    Phi(q) = 0

At rest h is the slope of the potential, less what external wrenches do. Where the velocities belong to cyclic (ignorable)
coordinates, the balance holds all along the motion: a relative equilibrium (Routh).
"""

from __future__ import annotations

from collections.abc import Mapping

from eslabon.formulas.applied_loads import potential
from eslabon.formulas.constrained import trees
from eslabon.formulas.derivatives.state_derivatives import inverse_dynamics_derivatives
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, displacement_rates
from eslabon.numerics.scalars import Expression, casadi

External = Mapping[str, Expression]


def _closure(m: Model, q: Expression) -> tuple[Expression, Expression]:
    phi, J, *_ = closure.equations(m, q, None, tuple(range(len(closure.row_names(m)))))
    return phi, J


def steady_forces(
    m: Model, q: Expression, v: Expression, tau: Expression, external: External | None = None
) -> list[Expression]:
    """g, Phi and J."""
    needed = trees.joint_forces(m, q, v, zeros(m.nv), None, external or {})
    return [casadi.densify(x) for x in (needed - trees.actuation(m, tau), *_closure(m, q))]


def steady_stiffness(
    m: Model,
    q: Expression,
    v: Expression,
    multipliers: Expression,
    external: External | None = None,
) -> Expression:
    """K, the derivative of g + J^T lambda along the velocities, lambda held; at rest, without wrenches that follow their
    bodies, that is the Hessian of the potential and of the loops' work."""
    K = inverse_dynamics_derivatives(m, q, v, casadi.SX.zeros(m.nv), external or {})[0]
    if multipliers.shape[0]:
        K += casadi.jacobian(_closure(m, q)[1].T @ multipliers, q) @ coordinate_rates(m, q)
    return casadi.densify(K)


def steady_terms(
    m: Model, q: Expression, v: Expression, external: External | None = None
) -> list[Expression]:
    """What else a linear model of small motions about a steady one is made of: M, D = dh/dv, G = d(J v)/dq, T, with which a
    small displacement x changes by x' = dv + T x, and the potential energy."""
    D = inverse_dynamics_derivatives(m, q, v, casadi.SX.zeros(m.nv), external or {})[1]
    G = casadi.jacobian(_closure(m, q)[1] @ v, q) @ coordinate_rates(m, q)
    made = (trees.mass_matrix(m, q), D, G, displacement_rates(m, v), potential(m, q))
    return [casadi.densify(x) for x in made]
