"""Quaternions for n bodies, with D, C and g computed directly (Méndez, sections 4 and 5; what the
paper leaves open).

Everything is in the ground's axes. The accumulated quaternion of a body turns its axis u, its
centre of mass c and the vectors to the next joints from the configuration of reference; D and g
follow from the Jacobians Jv, Jw of every body, and C from their exact partial derivatives,

    dJv_i/dq_k = u_min x Jv_max,   dJw_i/dq_k = u_k x u_i (k before i),
    dI/dq_k = skew(u_k) I - I skew(u_k),

by Christoffel's symbols C_ij = sum_k (d_k D_ij + d_j D_ik - d_i D_jk) v_k / 2, so that dD/dt - 2 C
is skew. Revolute and prismatic joints on any tree; a derivative by a joint that slides turns
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eslabon.errors import ModelError
from eslabon.formulas.formulations.body_jacobians import virtual_work
from eslabon.formulas.kinematics.symbols import column, constant, gravity, zeros
from eslabon.model import GROUND, Model
from eslabon.numerics.quaternions import quaternion_about, quaternion_product
from eslabon.numerics.rotations import quaternion_from_rotation, rotation_from_unit_quaternion
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import cross, skew


@dataclass(frozen=True)
class Turned:
    """A body in the configuration q: its accumulated quaternion and origin, and the joints that
    move it."""

    quaternion: Expression
    origin: Expression
    joints: tuple[
        tuple[int, bool, Expression, Expression], ...
    ]  # place in v, whether it turns, its axis, a point on it


def bodies_in_ground(m: Model, q: Expression) -> dict[str, Turned]:
    """u_r = rho(Pi, u), Pi_m = P_m * Pi_{m-1}, o_{m+1} = o_m + rho(Pi_m, l_m) (Méndez, eqs. 11-13,
    17)."""
    made = {GROUND: Turned(casadi.SX([1.0, 0.0, 0.0, 0.0]), zeros(3), ())}
    for joint in m.joints:
        if len(joint.kind.fixed_points()) < 2:  # neither a line of points nor all directions stay
            raise ModelError(
                "the quaternion formulation knows revolute and prismatic joints; "
                f"'{joint.name}' is {joint.kind.kind}; choose another formulation."
            )
        parent = made[joint.parent]
        seat = casadi.SX(quaternion_from_rotation(joint.at.rotation()))
        before = casadi.SX(quaternion_product(parent.quaternion, seat))
        origin = parent.origin + rotate(parent.quaternion, constant(joint.at.translation()))
        joints, quaternion = parent.joints, before
        if joint.nv:
            place, turns = m.velocities[joint.name].start, joint.kind.coordinates[0].periodic
            u = column(joint.kind.axes[0])
            axis = rotate(before, u / casadi.norm_2(u))
            if turns:
                quaternion = casadi.SX(
                    quaternion_product(before, quaternion_about(joint.kind.axes[0], q[place]))
                )
            else:
                origin = origin + q[place] * axis
            joints = (*joints, (place, turns, axis, origin))
        made[joint.child] = Turned(quaternion, origin, joints)
    return made


def rotate(quaternion: Expression, u: Expression) -> Expression:
    """rho(p, u) = p * u * conj(p) (Méndez, eq. 9)."""
    return rotation_from_unit_quaternion(quaternion) @ u


def matrices(m: Model, q: Expression, v: Expression) -> tuple[Expression, Expression, Expression]:
    """D, C and g."""
    n, down = m.nv, gravity(m)
    D, g = zeros(n, n), zeros(n)
    slopes = [zeros(n, n) for _ in range(n)]  # dD/dq_k
    placed = bodies_in_ground(m, q)
    for body in m.bodies:
        here = placed[body.name]
        turn = rotation_from_unit_quaternion(here.quaternion)
        I = turn @ constant(body.inertia_matrix()) @ turn.T
        centre = here.origin + turn @ column(body.com)
        Jv, Jw = zeros(3, n), zeros(3, n)
        for place, turns, axis, point in here.joints:
            Jv[:, place] = cross(axis, centre - point) if turns else axis
            Jw[:, place] = axis if turns else zeros(3)
        D += body.mass * (Jv.T @ Jv) + Jw.T @ I @ Jw
        g -= body.mass * (Jv.T @ down)
        for k, (place, turns, axis, _) in enumerate(here.joints):
            if turns:
                dJv, dJw = _slopes(n, here, Jv, Jw, k)
                dI = cross(axis, I) - I @ skew(axis)
                half = body.mass * (Jv.T @ dJv) + Jw.T @ I @ dJw
                slopes[place] += half + half.T + Jw.T @ dI @ Jw
            else:
                dJv = _slide_slopes(n, here, k)
                half = body.mass * (Jv.T @ dJv)
                slopes[place] += half + half.T
    return D, _christoffel(slopes, v), g


def _slopes(
    n: int, here: Turned, Jv: Expression, Jw: Expression, k: int
) -> tuple[Expression, Expression]:
    """dJv/dq_k and dJw/dq_k for a joint k that turns."""
    dJv, dJw = zeros(3, n), zeros(3, n)
    place_k, _, axis_k, _ = here.joints[k]
    for i, (place, turns, axis, _) in enumerate(here.joints):
        if k <= i:  # what comes after k, and k itself, turns with it
            dJv[:, place] = cross(axis_k, Jv[:, place])
            dJw[:, place] = cross(axis_k, Jw[:, place]) if k < i else zeros(3)
        elif turns:
            dJv[:, place] = cross(axis, Jv[:, place_k])
    return dJv, dJw


def _slide_slopes(n: int, here: Turned, k: int) -> Expression:
    """dJv/dq_k for a joint k that slides: the centre moves along its axis, under the joints before
    it."""
    dJv = zeros(3, n)
    for place, turns, axis, _ in here.joints[:k]:
        if turns:
            dJv[:, place] = cross(axis, here.joints[k][2])
    return dJv


def _christoffel(slopes: list[Expression], v: Expression) -> Expression:
    n = len(slopes)
    C = zeros(n, n)
    for k in range(n):
        C += slopes[k] * v[k] / 2
    columns = casadi.horzcat(zeros(n, 0), *(slopes[j] @ v for j in range(n)))  # d_j D_ik v_k
    return C + (columns - columns.T) / 2


def inverse_dynamics(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    wrenches: Mapping[str, Expression] | None = None,
) -> Expression:
    """tau = D v' + C v + g (Méndez, eq. 28), less what wrenches on the bodies do of the work."""
    D, bias = equations_of_motion(m, q, v, wrenches)
    return D @ a + bias


def equations_of_motion(
    m: Model, q: Expression, v: Expression, wrenches: Mapping[str, Expression] | None = None
) -> tuple[Expression, Expression]:
    """D and h = C v + g with joint forces D v' + h."""
    D, C, g = matrices(m, q, v)
    return D, C @ v + g - virtual_work(m, q, wrenches or {})
