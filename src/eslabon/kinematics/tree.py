"""Poses of bodies and frames along the tree, on numbers and on symbols alike."""

from __future__ import annotations

from eslabon.algebra.arrays import Array, is_symbolic, matmul, times, transpose
from eslabon.model import GROUND, Joint, Mechanism, Pose

Placement = tuple[Array, Array]  # rotation and position


def coordinates(m: Mechanism, q: Array, joint: Joint) -> Array:
    """A joint's own coordinates."""
    place = m.coordinates[joint.name]
    return q[place] if is_symbolic(q) else q[..., place]


def velocities(m: Mechanism, v: Array, joint: Joint) -> Array:
    """A joint's own velocities; of accelerations and forces likewise."""
    place = m.velocities[joint.name]
    return v[place] if is_symbolic(v) else v[..., place]


def coordinate_rates(m: Mechanism, q: Array) -> Array:
    """The matrix N(q) of dq/dt = N v, symbolic: the identity but for quaternions."""
    import casadi

    v = casadi.SX.sym("v", m.nv)
    rates = [j.kind.coordinate_rates(coordinates(m, q, j), velocities(m, v, j)) for j in m.joints]
    return casadi.jacobian(casadi.vertcat(*rates), v)


def chain(m: Mechanism, body: str) -> list[Joint]:
    """The joints between the ground and a body, from the ground on."""
    carrier = {j.child: j for j in m.joints}
    joints: list[Joint] = []
    while body != GROUND:
        joints.append(carrier[body])
        body = joints[-1].parent
    return joints[::-1]


def across(m: Mechanism, q: Array, joint: Joint) -> Placement:
    """The pose of a joint's outer frame in the parent's frame, T_at T_joint(q)."""
    return compose(fixed(joint.at), joint.kind.transform(coordinates(m, q, joint)))


def placements(m: Mechanism, q: Array) -> dict[str, Placement]:
    """The pose of every body in the ground's frame, T_child = T_parent T_at T_joint(q) (Yime, eq. 3)."""
    placed: dict[str, Placement] = {GROUND: fixed(Pose())}
    for joint in m.joints:
        placed[joint.child] = compose(placed[joint.parent], across(m, q, joint))
    return placed


def on_body(placed: dict[str, Placement], body: str, at: Pose) -> Placement:
    """The pose of a frame fixed on a body."""
    return compose(placed[body], fixed(at))


def fixed(at: Pose) -> Placement:
    """A constant pose."""
    return at.rotation(), at.translation()


def compose(first: Placement, second: Placement) -> Placement:
    """One pose after another."""
    return matmul(first[0], second[0]), times(first[0], second[1]) + first[1]


def relative(first: Placement, second: Placement) -> Placement:
    """The second pose seen from the first."""
    back = transpose(first[0])
    return matmul(back, second[0]), times(back, second[1] - first[1])
