"""Lie algebra and virtual work: tau = sum J_i^T (M_i A_i + ad*_V M_i V_i - F_i) (Yime, eq. 42).

Twists V_i, their rates A_i and wrenches F_i are six-vectors in each body's own axes, angular part
first; J_i is the body's Jacobian, and the weight is the wrench F = [c x m R^T g; m R^T g] (eq. 43
with its sign put right).
"""

from __future__ import annotations

from collections.abc import Mapping

from eslabon.formulas.formulations.body_jacobians import in_body
from eslabon.formulas.kinematics.links import inertia_of
from eslabon.formulas.kinematics.symbols import gravity, joint_motion, pose_across, stack, zeros
from eslabon.model import GROUND, Model
from eslabon.numerics.scalars import Expression
from eslabon.numerics.spatial import ad, ad_dual, cross, twist_to_child


def inverse_dynamics(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    wrenches: Mapping[str, Expression] | None = None,
) -> Expression:
    """The joint forces by virtual work (Yime, eqs. 37-43)."""
    V, A, down = {GROUND: zeros(6)}, {GROUND: zeros(6)}, {GROUND: gravity(m)}
    jacobians, forces = in_body(m, q), zeros(m.nv)
    for joint, body in zip(m.joints, m.bodies, strict=True):
        pose = pose_across(m, q, joint)
        _, relative, rate = joint_motion(m, joint, q, v, a)
        V[body.name] = W = twist_to_child(pose, V[joint.parent]) + relative
        A[body.name] = twist_to_child(pose, A[joint.parent]) + rate + ad(W, relative)
        down[body.name] = g = pose[0].T @ down[joint.parent]
        inertia = inertia_of(body)
        M, weight = inertia.matrix(), stack(cross(inertia.first, g), inertia.mass * g)
        load = (
            M @ A[body.name]
            + ad_dual(W, M @ W)
            - weight
            - (wrenches or {}).get(body.name, zeros(6))
        )
        forces += jacobians[body.name].T @ load
    return forces
