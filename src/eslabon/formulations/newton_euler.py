"""Newton-Euler: two sweeps over the tree (Rojas, 4.4; Luh, Walker and Paul).

Outward, each body's angular velocity w, angular acceleration and its frame's acceleration a follow from its parent's,
all in body axes; the matrix U = skew(w') + skew(w)^2 turns positions into accelerations. Gravity is a ground that
accelerates upward. Inward, each joint carries what its body needs and what its children pass on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eslabon.formulations.links import Link, links, short
from eslabon.formulations.symbols import SX, cross, gravity, lean, product, skew, stack, zeros
from eslabon.model import Mechanism

Wrenches = Mapping[str, SX]  # by body: moment and force on it, in its own axes about its own origin


@dataclass(frozen=True)
class Motion:
    """A body's motion in its own axes, with the joint that carries it."""

    turn: SX  # the joint's own rotation,
    shift: SX  # and shift
    S: SX  # and motion subspace
    w: SX  # angular velocity
    turning: SX  # angular acceleration
    U: SX  # skew(w') + skew(w)^2
    a: SX  # acceleration of the frame's origin, gravity taken off


def outward(m: Mechanism, tree: Sequence[Link], q: SX, v: SX, a: SX) -> list[Motion]:
    """The motion of every body, from the ground to the tips (Rojas, eqs. 2.6.15-2.6.24, in body axes)."""
    still = zeros(3)
    ground = Motion(zeros(3, 3), still, zeros(6, 0), still, still, zeros(3, 3), lean(-gravity(m)))
    moved: list[Motion] = []
    for link in tree:
        parent = moved[link.parent] if link.parent >= 0 else ground
        turn, shift = link.pose(q)
        S, twist, rate = link.motion(q, v, a)
        (spin, slide), (spin_rate, slide_rate) = (twist[:3], twist[3:]), (rate[:3], rate[3:])

        def inside(u: SX, turn: SX = turn, link: Link = link) -> SX:
            return product(turn.T, product(link.R.T, u))

        carried = inside(parent.w)
        w = lean(carried + spin)
        turning = lean(inside(parent.turning) + spin_rate + cross(carried, spin))
        reach = lean(link.p + product(link.R, shift))
        origin = inside(lean(parent.a + product(parent.U, reach)))
        origin = lean(origin + slide_rate + 2 * cross(carried, slide) + cross(spin, slide))
        U = lean(skew(turning) + product(skew(w), skew(w)))
        moved.append(Motion(turn, shift, S, w, turning, U, origin))
    return moved


def inward(tree: Sequence[Link], moved: Sequence[Motion], wrenches: Wrenches) -> list[SX]:
    """The wrench every joint transmits to its child, in the child's axes about its origin, from the tips inward."""
    needed = []
    for link, motion in zip(tree, moved, strict=True):
        given, inertia = wrenches.get(link.name, zeros(6)), link.inertia
        moment = lean(inertia.moment(motion.U, motion.a) - given[:3])
        needed.append((moment, lean(inertia.force(motion.U, motion.a) - given[3:])))
    for k in reversed(range(len(tree))):
        link, motion, (moment, force) = tree[k], moved[k], needed[k]
        if link.parent >= 0:
            passed = product(link.R, product(motion.turn, force))
            reach = lean(link.p + product(link.R, motion.shift))
            turned = lean(product(link.R, product(motion.turn, moment)) + cross(reach, passed))
            old = needed[link.parent]
            needed[link.parent] = (lean(old[0] + turned), lean(old[1] + passed))
    return [stack(*wrench) for wrench in needed]


def joint_forces(m: Mechanism, tree: Sequence[Link], q: SX, v: SX, a: SX, wrenches: Wrenches) -> SX:
    """tau_i = S_i^T wrench_i (Rojas, 4.4)."""
    moved = outward(m, tree, q, v, a)
    transmitted = inward(tree, moved, wrenches)
    return stack(*(product(motion.S.T, wrench) for motion, wrench in zip(moved, transmitted, strict=True)))


def inverse_dynamics(m: Mechanism, q: SX, v: SX, a: SX, wrenches: Wrenches | None = None) -> SX:
    """The joint forces. Without wrenches on the bodies the links are rewritten first to save work."""
    return joint_forces(m, links(m) if wrenches else short(m), q, v, a, wrenches or {})
