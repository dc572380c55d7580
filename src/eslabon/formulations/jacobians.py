"""Jacobians of all bodies, in the two forms the formulations of this room are written in."""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np

from eslabon.formulations.symbols import SX, joint_motion, lean, pose_across, product, zeros
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import GROUND, Mechanism


@dataclass(frozen=True)
class Fixed:
    """A body's Jacobians in the ground's axes: A of its angular velocity, R of its centre of mass, with dA/dt, dR/dt."""

    turn: SX  # orientation on the ground
    A: SX
    A_rate: SX
    R: SX
    R_rate: SX


def in_ground(m: Mechanism, q: SX, v: SX) -> dict[str, Fixed]:
    """A_i and R_i (Rojas, 4.3), and their rates, taken exactly along the motion v."""
    placed = {
        GROUND: (lean(np.eye(3)), zeros(3), zeros(3, m.nv), zeros(3, m.nv))
    }  # turn, origin, A, velocity of origin
    made = {}
    along = product(coordinate_rates(m, q), v)

    def rate(J: SX) -> SX:
        return casadi.reshape(lean(casadi.jtimes(casadi.vec(casadi.densify(J)), q, along)), *J.shape)

    for joint, body in zip(m.joints, m.bodies, strict=True):
        turn0, origin0, A0, O0 = placed[joint.parent]
        Q, p = pose_across(m, q, joint)
        S, _, _ = joint_motion(m, joint, q, v, v)
        turn, offset = product(turn0, Q), product(turn0, p)
        A, O = A0, lean(O0 - product(casadi.skew(offset), A0))
        if joint.nv:
            own = zeros(6, m.nv)
            own[:, m.velocities[joint.name]] = S
            A, O = lean(A + product(turn, own[:3, :])), lean(O + product(turn, own[3:, :]))
        centre = product(turn, casadi.vertcat(*body.com))
        R = lean(O - product(casadi.skew(centre), A))
        placed[joint.child] = (turn, lean(origin0 + offset), A, O)
        made[body.name] = Fixed(turn, A, lean(rate(A)), R, lean(rate(R)))
    return made


def in_body(m: Mechanism, q: SX) -> dict[str, SX]:
    """Each body's 6 x nv Jacobian in its own axes, V_i = J_i v, outward: J_i = Ad J_parent + S_i (Yime, eqs. 45-46)."""
    jacobians = {GROUND: zeros(6, m.nv)}
    for joint in m.joints:
        R, p = pose_across(m, q, joint)
        carried = jacobians[joint.parent]
        angular = product(R.T, carried[:3, :])
        linear = product(R.T, lean(carried[3:, :] - product(casadi.skew(p), carried[:3, :])))
        J: SX = casadi.vertcat(angular, linear)
        if joint.nv:
            S, _, _ = joint_motion(m, joint, q, zeros(m.nv), zeros(m.nv))
            J[:, m.velocities[joint.name]] += S
        jacobians[joint.child] = lean(J)
    return jacobians
