"""Poses of bodies and frames along the tree, on numbers and on symbols alike."""

from __future__ import annotations

from eslabon.model import GROUND, Joint, Model, Pose
from eslabon.model.configuration import coordinate_rates as coordinate_rates
from eslabon.model.configuration import coordinates as coordinates
from eslabon.model.configuration import velocities as velocities
from eslabon.numerics.scalars import A
from eslabon.numerics.spatial import RigidTransform


def chain(m: Model, body: str) -> list[Joint]:
    """The joints between the ground and a body, from the ground on."""
    joints: list[Joint] = []
    while body != GROUND:
        joints.append(m.carriers[body])
        body = joints[-1].parent
    return joints[::-1]


def joint_transform(m: Model, q: A, joint: Joint) -> RigidTransform:
    """The pose of a joint's outer frame in the parent's frame, T_at T_joint(q)."""
    return joint.at.transform() @ joint.kind.transform(coordinates(m, q, joint))


def placements(m: Model, q: A) -> dict[str, RigidTransform]:
    """The pose of every body in the ground's frame, T_child = T_parent T_at T_joint(q) (Yime, eq.
    3)."""
    placed: dict[str, RigidTransform] = {GROUND: Pose().transform()}
    for joint in m.joints:
        placed[joint.child] = placed[joint.parent] @ joint_transform(m, q, joint)
    return placed


def on_body(placed: dict[str, RigidTransform], body: str, at: Pose) -> RigidTransform:
    """The pose of a frame fixed on a body."""
    return placed[body] @ at.transform()
