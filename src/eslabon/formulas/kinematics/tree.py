"""Poses of bodies and frames along the tree, on numbers and on symbols alike."""

from __future__ import annotations

from eslabon.model import GROUND, Joint, Model, Pose
from eslabon.model.configuration import coordinate_rates as coordinate_rates
from eslabon.model.configuration import coordinates as coordinates
from eslabon.model.configuration import velocities as velocities
from eslabon.numerics.scalars import Array, matmul, times, transpose
from eslabon.numerics.traced_steps import traced_once

Placement = tuple[Array, Array]  # rotation and position


def chain(m: Model, body: str) -> list[Joint]:
    """The joints between the ground and a body, from the ground on."""
    joints: list[Joint] = []
    while body != GROUND:
        joints.append(m.carriers[body])
        body = joints[-1].parent
    return joints[::-1]


def joint_transform(m: Model, q: Array, joint: Joint) -> Placement:
    """The pose of a joint's outer frame in the parent's frame, T_at T_joint(q)."""
    return compose(fixed(joint.at), joint.kind.transform(coordinates(m, q, joint)))


def placements(m: Model, q: Array) -> dict[str, Placement]:
    """The pose of every body in the ground's frame, T_child = T_parent T_at T_joint(q) (Yime, eq. 3)."""
    placed: dict[str, Placement] = {GROUND: fixed(Pose())}
    for joint in m.joints:
        placed[joint.child] = compose(placed[joint.parent], joint_transform(m, q, joint))
    return placed


def on_body(placed: dict[str, Placement], body: str, at: Pose) -> Placement:
    """The pose of a frame fixed on a body."""
    return compose(placed[body], fixed(at))


def fixed(at: Pose) -> Placement:
    """A constant pose."""
    return at.rotation(), at.translation()


@traced_once
def compose(first: Placement, second: Placement) -> Placement:
    """One pose after another."""
    return matmul(first[0], second[0]), times(first[0], second[1]) + first[1]


@traced_once
def relative(first: Placement, second: Placement) -> Placement:
    """The second pose seen from the first."""
    back = transpose(first[0])
    return matmul(back, second[0]), times(back, second[1] - first[1])
