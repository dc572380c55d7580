"""The recursions of Rojas, 2.6, and the quaternion sums of Méndez, section 4, number by number as the papers print them.

They serve paths of revolute and prismatic joints. Nothing computes with them: they are the plain reference that the
compiled kinematics is tested against, and a text to teach from. Everything is in the ground's axes; joint i turns about
or slides along the unit axis e_i, and a_i reaches from joint i to joint i+1, the last a to the frame's origin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eslabon.errors import ModelError
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.formulas.kinematics.tree import chain
from eslabon.model import Model
from eslabon.numerics.quaternions import quaternion_about, quaternion_product, quaternion_rotate
from eslabon.numerics.rotations import rotation_from_quaternion

Vector = np.ndarray


@dataclass(frozen=True)
class Point:
    """Orientation of a frame and motion of its origin, in the ground's axes."""

    rotation: np.ndarray
    position: Vector
    angular_velocity: Vector
    velocity: Vector
    angular_acceleration: Vector
    acceleration: Vector


@dataclass(frozen=True)
class Step:
    """One joint of the path: its place in v, whether it turns, its axis, and its frame on the link before."""

    place: int
    turns: bool
    axis: Vector
    rotation: np.ndarray
    offset: Vector


def _steps(m: Model, frame: str | None) -> tuple[list[Step], np.ndarray, Vector]:
    """The path to a frame, with the rotation and offset of the frame on the last link."""
    chosen = chosen_frame(m, frame)
    steps = []
    for joint in chain(m, chosen.body):
        if joint.kind.kind not in ("revolute", "prismatic"):
            raise ModelError(
                f"the recursions know revolute and prismatic joints; '{joint.name}' is {joint.kind.kind}."
            )
        R, p = (np.asarray(x) for x in joint.at.transform())
        axis = np.array(joint.kind.axes[0], dtype=float)
        turns = joint.kind.kind == "revolute"
        steps.append(Step(m.velocities[joint.name].start, turns, axis / np.linalg.norm(axis), R, p))
    R, p = (np.asarray(x) for x in chosen.at.transform())
    return steps, R, p


def forward(m: Model, q: Vector, v: Vector, a: Vector, frame: str | None = None) -> Point:
    """From the ground outward (Rojas, eqs. 2.6.15-2.6.24), with the terms of a prismatic joint that the thesis omits."""
    steps, last_turn, last_offset = _steps(m, frame)
    P = np.eye(3)
    u, du, ddu, w, dw = (np.zeros(3) for _ in range(5))

    def carry(offset: Vector) -> None:
        nonlocal u, du, ddu
        u, du, ddu = (
            u + offset,
            du + np.cross(w, offset),
            ddu + np.cross(dw, offset) + np.cross(w, np.cross(w, offset)),
        )

    for step in steps:
        x, dx, ddx = q[step.place], v[step.place], a[step.place]
        carry(P @ step.offset)
        P = P @ step.rotation
        e = P @ step.axis
        if step.turns:
            w, dw = w + dx * e, dw + ddx * e + np.cross(w, dx * e)
            P = P @ rotation_from_quaternion(quaternion_about(step.axis, x))
        else:
            carry(x * e)
            du, ddu = du + dx * e, ddu + ddx * e + 2 * np.cross(w, dx * e)
    carry(P @ last_offset)
    return Point(P @ last_turn, u, w, du, dw, ddu)


def backward(
    m: Model, q: Vector, frame: str | None = None
) -> tuple[Vector, np.ndarray, np.ndarray]:
    """From the frame inward, s_k = a_k + Q_k s_{k+1}: position, Jacobian and second derivatives of the frame's origin.

    d s/d q_i = e_i x s_i for a revolute and e_i for a prismatic joint; d2 s/(d q_i d q_j) = e_i x d s/d q_j for i <= j
    where joint i turns, and zero where it slides (Rojas, eqs. 2.6.33-2.6.36).
    """
    steps, _, s = _steps(m, frame)
    reach: dict[
        int, Vector
    ] = {}  # from each joint to the frame's origin, in the joint's own inner frame
    for step in reversed(steps):
        Q = rotation_from_quaternion(
            quaternion_about(step.axis, q[step.place] if step.turns else 0.0)
        )
        reach[step.place] = s = Q @ s + (0.0 if step.turns else q[step.place]) * step.axis
        s = step.offset + step.rotation @ s
    J, H, P = np.zeros((3, m.nv)), np.zeros((3, m.nv, m.nv)), np.eye(3)
    axes: list[tuple[Step, Vector]] = []
    for step in steps:
        P = P @ step.rotation
        e = P @ step.axis
        J[:, step.place] = np.cross(e, P @ reach[step.place]) if step.turns else e
        axes.append((step, e))
        for before, axis in axes:
            if before.turns:
                H[:, before.place, step.place] = H[:, step.place, before.place] = np.cross(
                    axis, J[:, step.place]
                )
        P = P @ (
            rotation_from_quaternion(quaternion_about(step.axis, q[step.place]))
            if step.turns
            else np.eye(3)
        )
    return s, J, H


def by_quaternions(m: Model, q: Vector, v: Vector, a: Vector, frame: str | None = None) -> Point:
    """The sums of Méndez (eqs. 13, 17-19, with the dots, conjugates and brackets that the print has lost).

    Link vectors l_m and axes u_m are those of the neutral configuration. The accumulated quaternion Pi_m turns them; w_i and
    alpha_i are each joint's own rate and acceleration along its turned axis. Revolute joints only, as in the paper.
    """
    steps, last_turn, last_offset = _steps(m, frame)
    if not all(step.turns for step in steps):
        raise ModelError("the quaternion sums of Méndez are for revolute joints only.")
    rest, axes, links = np.eye(3), [], []
    for step in steps:
        links.append(rest @ step.offset)
        rest = rest @ step.rotation
        axes.append(rest @ step.axis)
    links.append(rest @ last_offset)
    turned, own, own_rate, L = np.array([1.0, 0.0, 0.0, 0.0]), [], [], [links[0]]
    for step, u, l in zip(steps, axes, links[1:], strict=True):
        axis = quaternion_rotate(turned, u)
        own.append(v[step.place] * axis)
        own_rate.append(a[step.place] * axis)
        turned = quaternion_product(quaternion_about(axis, q[step.place]), turned)
        L.append(quaternion_rotate(turned, l))
    n = len(steps)
    velocity = sum(
        (np.cross(own[i], L[m_]) for m_ in range(1, n + 1) for i in range(m_)), np.zeros(3)
    )
    acceleration = np.zeros(3)
    for m_ in range(1, n + 1):
        for i in range(m_):
            acceleration += np.cross(own_rate[i], L[m_]) + np.cross(own[i], np.cross(own[i], L[m_]))
            acceleration += 2 * sum(
                (np.cross(own[k], np.cross(own[i], L[m_])) for k in range(i)), np.zeros(3)
            )
    spin = sum(own, np.zeros(3))
    turning = sum(own_rate, np.zeros(3)) + sum(
        (np.cross(own[k], own[i]) for i in range(n) for k in range(i)), np.zeros(3)
    )
    R = rotation_from_quaternion(turned) @ rest @ last_turn
    return Point(R, sum(L, np.zeros(3)), spin, velocity, turning, acceleration)
