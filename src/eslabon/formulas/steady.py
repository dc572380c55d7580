"""What keeps a mechanism at rest, or in a steady motion: constant velocities v, without
acceleration.

The forces h(q, v) that such a motion needs are those of the actuators, B tau, and of the loops,
-J^T lambda:

    g + J^T lambda = 0,    g = h(q, v) - B tau,    Phi(q) = 0

At rest h is the slope of the potential, less what external wrenches do. Where the velocities belong
to cyclic (ignorable) coordinates, the balance holds all along the motion: a relative equilibrium
(Routh).
"""

from __future__ import annotations

from eslabon.formulas import dynamics
from eslabon.formulas.applied_loads import potential
from eslabon.formulas.derivatives.state_derivatives import joint_force_derivatives
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.motion_state import MotionState
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, displacement_rates
from eslabon.numerics.scalars import Expression, casadi


def _closure(m: Model, q: Expression) -> tuple[Expression, Expression]:
    phi, J, *_ = closure.equations(m, q, None, tuple(range(len(closure.row_names(m)))))
    return phi, J


def steady_forces(s: MotionState, tau: Expression) -> list[Expression]:
    """g, Phi and J."""
    needed = s.joint_forces(zeros(s.m.nv))
    return [casadi.densify(x) for x in (needed - s.actuation(tau), *_closure(s.m, s.q))]


def steady_stiffness(s: MotionState, multipliers: Expression) -> Expression:
    """K, the derivative of g + J^T lambda along the velocities, lambda held.

    At rest, without wrenches that follow their bodies, that is the Hessian of the potential and of
    the loops' work.
    """
    K = joint_force_derivatives(s, casadi.SX.zeros(s.m.nv)).dq
    if multipliers.shape[0]:
        work = _closure(s.m, s.q)[1].T @ multipliers
        K += casadi.jacobian(work, s.q) @ coordinate_rates(s.m, s.q)
    return casadi.densify(K)


def steady_terms(s: MotionState) -> list[Expression]:
    """What else a linear model of small motions about a steady one is made of.

    M, D = dh/dv, G = d(J v)/dq, T, with which a small displacement x changes by x' = dv + T x, and
    the potential energy.
    """
    m, q, v = s.m, s.q, s.v
    D = joint_force_derivatives(s, casadi.SX.zeros(m.nv)).dv
    G = casadi.jacobian(_closure(m, q)[1] @ v, q) @ coordinate_rates(m, q)
    made = (dynamics.mass_matrix(s), D, G, displacement_rates(m, v), potential(m, q))
    return [casadi.densify(x) for x in made]
