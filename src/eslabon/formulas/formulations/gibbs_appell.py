"""Gibbs and Appell: the joint forces are the derivative of the energy of acceleration by the
accelerations.

    S = sum m a.a/2 + w'.I w'/2 + w'.(w x I w) - m g.a    (Rojas, eq. 4.2.7, brackets restored)
    tau = dS/dv'

The accelerations a of the centres of mass come from differentiating their positions twice, and w,
w' from the orientations; nothing is recursive here but the poses.
"""

from __future__ import annotations

from collections.abc import Mapping

from eslabon.formulas.formulations.body_jacobians import virtual_work
from eslabon.formulas.kinematics.symbols import column, constant, gravity, pose_across, zeros
from eslabon.formulas.kinematics.tree import coordinate_rates
from eslabon.model import GROUND, Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import cross


def energy_of_acceleration(m: Model, q: Expression, v: Expression, a: Expression) -> Expression:
    """Gibbs' function S(q, v, a)."""
    g, along = gravity(m), coordinate_rates(m, q) @ v

    def rate(x: Expression) -> Expression:
        """The derivative of an expression of q and v along the motion."""
        dense = casadi.densify(x)
        return casadi.jtimes(dense, q, along) + casadi.jtimes(dense, v, a)

    placed = {GROUND: (casadi.SX.eye(3), zeros(3))}
    total = zeros(1)
    for joint, body in zip(m.joints, m.bodies, strict=True):
        turn0, origin0 = placed[joint.parent]
        Q, p = pose_across(m, q, joint)
        turn, origin = turn0 @ Q, origin0 + turn0 @ p
        placed[joint.child] = (turn, origin)
        centre = origin + turn @ column(body.com)
        acceleration = rate(rate(centre))
        spin = turn.T @ rate(turn)  # the skew matrix of w in body axes
        w = casadi.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
        turning, I = rate(w), constant(body.inertia_matrix())
        total += body.mass * (
            casadi.dot(acceleration, acceleration) / 2 - casadi.dot(g, acceleration)
        )
        total += casadi.dot(turning, I @ turning) / 2 + casadi.dot(turning, cross(w, I @ w))
    return total


def inverse_dynamics(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    wrenches: Mapping[str, Expression] | None = None,
) -> Expression:
    """tau = dS/dv', less what wrenches on the bodies do of the work."""
    forces = casadi.gradient(energy_of_acceleration(m, q, v, a), a)
    return forces - virtual_work(m, q, wrenches or {})
