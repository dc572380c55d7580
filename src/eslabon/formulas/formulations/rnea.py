"""Newton-Euler: two sweeps over the tree, the recursive Newton-Euler algorithm, RNEA (Rojas, 4.4;
Luh, Walker and Paul; Featherstone's ID).

Outward, each body's angular velocity w, angular acceleration and its frame's acceleration a follow
from its parent's, all in body axes; the matrix U = skew(w') + skew(w)^2 turns positions into
accelerations. Gravity is a ground that accelerates upward. Inward, each joint carries what its body
needs and what its children pass on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eslabon.formulas.applied_loads import Wrenches
from eslabon.formulas.formulations import crba
from eslabon.formulas.formulations.body_jacobians import virtual_work
from eslabon.formulas.kinematics.links import Link, links, reduced_links
from eslabon.formulas.kinematics.symbols import gravity, stack, zeros
from eslabon.model import Model
from eslabon.numerics.scalars import Expression
from eslabon.numerics.spatial import (
    RigidTransform,
    angular_and_linear,
    cross,
    skew,
    wrench_to_parent,
)
from eslabon.numerics.traced_steps import traced_once


@dataclass(frozen=True)
class Motion:
    """A body's motion in its own axes."""

    S: Expression  # motion subspace of the joint that carries it
    turn: Expression  # rotation of that joint
    reach: Expression  # position of its frame in the parent's
    w: Expression  # angular velocity
    turning: Expression  # angular acceleration
    U: Expression  # skew(w') + skew(w)^2
    a: Expression  # acceleration of the frame's origin, gravity taken off


def outward(
    m: Model, tree: Sequence[Link], q: Expression, v: Expression, a: Expression
) -> list[Motion]:
    """The motion of every body, from the ground to the tips (Rojas, eqs. 2.6.15-2.6.24, in body
    axes)."""
    ground = Motion(
        zeros(6, 0), zeros(3, 3), zeros(3), zeros(3), zeros(3), zeros(3, 3), -gravity(m)
    )
    moved: list[Motion] = []
    for link in tree:
        parent = moved[link.parent] if link.parent >= 0 else ground
        moved.append(_carry_motion(parent, link.seat, link.turn(q), link.motion(q, v, a)))
    return moved


@traced_once
def _carry_motion(
    parent: Motion,
    seat: RigidTransform,
    joint: RigidTransform,
    motion: tuple[Expression, Expression, Expression],
) -> Motion:
    """A body's motion from its parent's: by the seat of its joint, the joint's own pose, and S, the
    twist S v and its rate."""
    (R, p), (turn, shift), (S, twist, rate) = seat, joint, motion
    (spin, slide), (spin_rate, slide_rate) = angular_and_linear(twist), angular_and_linear(rate)
    reach = p + R @ shift
    w, turning, origin = (
        turn.T @ (R.T @ x) for x in (parent.w, parent.turning, parent.a + parent.U @ reach)
    )
    turning += spin_rate + cross(w, spin)
    origin += slide_rate + 2 * cross(w, slide) + cross(spin, slide)
    w += spin
    return Motion(S, turn, reach, w, turning, skew(turning) + skew(w) @ skew(w), origin)


def inward(tree: Sequence[Link], moved: Sequence[Motion], wrenches: Wrenches) -> list[Expression]:
    """The wrench every joint transmits to its child, in the child's axes about its origin, from the
    tips inward."""
    transmitted = [
        link.inertia.wrench(motion.U, motion.a) - wrenches.get(link.name, zeros(6))
        for link, motion in zip(tree, moved, strict=True)
    ]
    for k in reversed(range(len(tree))):
        link, motion = tree[k], moved[k]
        if link.parent >= 0:
            turned = wrench_to_parent(RigidTransform(motion.turn, zeros(3)), transmitted[k])
            transmitted[link.parent] += wrench_to_parent(
                RigidTransform(link.R, motion.reach), turned
            )
    return transmitted


def joint_forces(
    m: Model,
    tree: Sequence[Link],
    q: Expression,
    v: Expression,
    a: Expression,
    wrenches: Wrenches | None = None,
) -> Expression:
    """tau_i = S_i^T wrench_i (Rojas, 4.4)."""
    moved = outward(m, tree, q, v, a)
    transmitted = inward(tree, moved, wrenches or {})
    return stack(*(motion.S.T @ wrench for motion, wrench in zip(moved, transmitted, strict=True)))


def inverse_dynamics(
    m: Model, q: Expression, v: Expression, a: Expression, wrenches: Wrenches | None = None
) -> Expression:
    """The joint forces. Without wrenches on the bodies the links are rewritten first to save
    work."""
    return joint_forces(m, links(m) if wrenches else reduced_links(m), q, v, a, wrenches)


def equations_of_motion(
    m: Model, q: Expression, v: Expression, wrenches: Wrenches | None = None
) -> tuple[Expression, Expression]:
    """M, by composite bodies, and h with joint forces M v' + h."""
    tree = reduced_links(m)
    bias = joint_forces(m, tree, q, v, zeros(m.nv)) - virtual_work(m, q, wrenches or {})
    return crba.of_links(tree, q, m.nv), bias
