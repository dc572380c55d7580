"""Jacobians of all bodies, in the two forms the formulations of this room are written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eslabon.formulas.kinematics.symbols import column, joint_motion, pose_across, zeros
from eslabon.formulas.kinematics.tree import coordinate_rates
from eslabon.model import GROUND, Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import cross, twist_to_child


@dataclass(frozen=True)
class Fixed:
    """A body's Jacobians in the ground's axes: A of its angular velocity, R of its centre of mass,
    with dA/dt, dR/dt."""

    turn: Expression  # orientation on the ground
    A: Expression
    A_rate: Expression
    R: Expression
    R_rate: Expression


def in_ground(m: Model, q: Expression, v: Expression) -> dict[str, Fixed]:
    """A_i and R_i (Rojas, 4.3), and their rates, taken exactly along the motion v."""
    placed = {
        GROUND: (casadi.SX.eye(3), zeros(3, m.nv), zeros(3, m.nv))
    }  # turn, A, velocity of origin
    made = {}
    along = coordinate_rates(m, q) @ v

    def rate(J: Expression) -> Expression:
        return casadi.reshape(casadi.jtimes(casadi.vec(casadi.densify(J)), q, along), *J.shape)

    for joint, body in zip(m.joints, m.bodies, strict=True):
        turn0, A0, O0 = placed[joint.parent]
        Q, p = pose_across(m, q, joint)
        S, _, _ = joint_motion(m, joint, q, v, v)
        turn, offset = turn0 @ Q, turn0 @ p
        A, O = A0, O0 - cross(offset, A0)
        if joint.nv:
            own = zeros(6, m.nv)
            own[:, m.velocities[joint.name]] = S
            A, O = A + turn @ own[:3, :], O + turn @ own[3:, :]
        centre = turn @ column(body.com)
        R = O - cross(centre, A)
        placed[joint.child] = (turn, A, O)
        made[body.name] = Fixed(turn, A, rate(A), R, rate(R))
    return made


def in_body(m: Model, q: Expression) -> dict[str, Expression]:
    """Each body's 6 x nv Jacobian in its own axes, V_i = J_i v, outward: J_i = Ad J_parent + S_i
    (Yime, eqs. 45-46)."""
    jacobians = {GROUND: zeros(6, m.nv)}
    for joint in m.joints:
        J = twist_to_child(pose_across(m, q, joint), jacobians[joint.parent])
        if joint.nv:
            S, _, _ = joint_motion(m, joint, q, zeros(m.nv), zeros(m.nv))
            J[:, m.velocities[joint.name]] += S
        jacobians[joint.child] = J
    return jacobians


def virtual_work(m: Model, q: Expression, wrenches: Mapping[str, Expression]) -> Expression:
    """The joint forces that wrenches on the bodies amount to, sum J_i^T F_i."""
    forces = zeros(m.nv)
    if wrenches:
        jacobians = in_body(m, q)
        for body, wrench in wrenches.items():
            forces += jacobians[body].T @ wrench
    return forces
