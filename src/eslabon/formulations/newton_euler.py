"""Newton-Euler: two sweeps over the tree (Rojas, 4.4; Luh, Walker and Paul).

Outward, each body's angular velocity w, angular acceleration and its frame's acceleration a follow from its parent's,
all in body axes; the matrix U = skew(w') + skew(w)^2 turns positions into accelerations. Gravity is a ground that
accelerates upward. Inward, each joint carries what its body needs and what its children pass on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eslabon.formulations.inertia import Inertia
from eslabon.formulations.symbols import (
    SX,
    cross,
    gravity,
    joint_motion,
    lean,
    pose_across,
    product,
    skew,
    stack,
    zeros,
)
from eslabon.model import GROUND, Mechanism

Wrenches = Mapping[str, SX]  # by body: moment and force on it, in its own axes about its own origin


@dataclass(frozen=True)
class Motion:
    """A body's motion in its own axes, with the joint that carries it."""

    R: SX  # orientation in the parent
    p: SX  # position in the parent
    S: SX  # motion subspace of its joint
    w: SX  # angular velocity
    turning: SX  # angular acceleration
    U: SX  # skew(w') + skew(w)^2
    a: SX  # acceleration of the frame's origin, gravity taken off


def outward(m: Mechanism, q: SX, v: SX, a: SX) -> dict[str, Motion]:
    """The motion of every body, from the ground to the tips (Rojas, eqs. 2.6.15-2.6.24, in body axes)."""
    still = zeros(3)
    moved = {GROUND: Motion(zeros(3, 3), still, zeros(6, 0), still, still, zeros(3, 3), lean(-gravity(m)))}
    for joint in m.joints:
        parent = moved[joint.parent]
        R, p = pose_across(m, q, joint)
        S, twist, rate = joint_motion(m, joint, q, v, a)
        (spin, slide), (spin_rate, slide_rate) = (twist[:3], twist[3:]), (rate[:3], rate[3:])
        carried = product(R.T, parent.w)
        w = lean(carried + spin)
        turning = lean(product(R.T, parent.turning) + spin_rate + cross(carried, spin))
        origin = product(R.T, lean(parent.a + product(parent.U, p)))
        origin = lean(origin + slide_rate + 2 * cross(carried, slide) + cross(spin, slide))
        U = lean(skew(turning) + product(skew(w), skew(w)))
        moved[joint.child] = Motion(R, p, S, w, turning, U, origin)
    return moved


def inward(m: Mechanism, moved: Mapping[str, Motion], inertias: Sequence[Inertia], wrenches: Wrenches) -> dict[str, SX]:
    """The wrench every joint transmits to its child, in the child's axes about its origin, from the tips inward."""
    needed: dict[str, tuple[SX, SX]] = {}
    for body, inertia in zip(m.bodies, inertias, strict=True):
        motion, given = moved[body.name], wrenches.get(body.name, zeros(6))
        force = inertia.force(motion.U, motion.a) - given[3:]
        needed[body.name] = (lean(inertia.moment(motion.U, motion.a) - given[:3]), lean(force))
    for joint in reversed(m.joints):
        moment, force = needed[joint.child]
        if joint.parent != GROUND:
            motion = moved[joint.child]
            passed = product(motion.R, force)
            turned = product(motion.R, moment) + cross(motion.p, passed)
            old = needed[joint.parent]
            needed[joint.parent] = (lean(old[0] + turned), lean(old[1] + passed))
    return {joint.name: stack(*needed[joint.child]) for joint in m.joints}


def inverse_dynamics(
    m: Mechanism, q: SX, v: SX, a: SX, inertias: Sequence[Inertia] | None = None, wrenches: Wrenches | None = None
) -> SX:
    """The joint forces tau_i = S_i^T wrench_i (Rojas, 4.4)."""
    moved = outward(m, q, v, a)
    transmitted = inward(m, moved, inertias or [Inertia.of(b) for b in m.bodies], wrenches or {})
    return stack(*(product(moved[j.child].S.T, transmitted[j.name]) for j in m.joints))
