"""Lie algebra and virtual work: tau = sum J_i^T (M_i A_i + ad*_V M_i V_i - F_i) (Yime, eq. 42).

Twists V_i, their rates A_i and wrenches F_i are six-vectors in each body's own axes, angular part first; J_i is the
body's Jacobian, and the weight is the wrench F = [c x m R^T g; m R^T g] (eq. 43 with its sign put right).
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi

from eslabon.formulations.inertia import Inertia
from eslabon.formulations.jacobians import in_body
from eslabon.formulations.symbols import SX, gravity, joint_motion, lean, pose_across, product, zeros
from eslabon.model import GROUND, Mechanism


def adjoint_back(R: SX, p: SX) -> SX:
    """Ad of the inverse of the pose (R, p): it carries a twist to the frame that stands there."""
    return lean(casadi.blockcat([[R.T, zeros(3, 3)], [-product(R.T, casadi.skew(p)), R.T]]))


def bracket(V: SX) -> SX:
    """ad_V (Yime, eq. 14)."""
    w, v = casadi.skew(V[:3]), casadi.skew(V[3:])
    return lean(casadi.blockcat([[w, zeros(3, 3)], [v, w]]))


def inverse_dynamics(m: Mechanism, q: SX, v: SX, a: SX, wrenches: Mapping[str, SX] | None = None) -> SX:
    """The joint forces by virtual work (Yime, eqs. 37-43)."""
    V, A, down = {GROUND: zeros(6)}, {GROUND: zeros(6)}, {GROUND: gravity(m)}
    jacobians, forces = in_body(m, q), zeros(m.nv)
    for joint, body in zip(m.joints, m.bodies, strict=True):
        R, p = pose_across(m, q, joint)
        Ad = adjoint_back(R, p)
        _, relative, rate = joint_motion(m, joint, q, v, a)
        V[body.name] = lean(product(Ad, V[joint.parent]) + relative)
        A[body.name] = lean(product(Ad, A[joint.parent]) + rate + product(bracket(V[body.name]), relative))
        down[body.name] = product(R.T, down[joint.parent])
        M, W = Inertia.of(body).matrix(), V[body.name]
        weight = body.mass * casadi.vertcat(
            product(casadi.skew(casadi.vertcat(*body.com)), down[body.name]), down[body.name]
        )
        load = product(M, A[body.name]) - product(bracket(W).T, product(M, W)) - weight
        if wrenches and body.name in wrenches:
            load -= wrenches[body.name]
        forces += product(jacobians[body.name].T, lean(load))
    return lean(forces)
