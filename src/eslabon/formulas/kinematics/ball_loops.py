"""Loops that are cut at ball joints, seen from the body that carries them all.

A ball joint holds one point: the first frame's origin p, as the second body sees it, stays where
the second frame's is. One pass outward from the body that carries all these loops, in its axes,
serves every loop: each body's rotation, origin, twist V and acceleration A, and the axes S of each
joint, about the body's own origin. A joint moves p by

    pi(S) = U + W x (p - o),    S = [W; U] about o,

outward on the second body's side and the other way on the first one's. With nu the velocity and c
the acceleration of p on its own body, and the second body's twist (w2, f2) and acceleration (s2,
a2) at p, the second body sees p accelerate by

    c - (a2 + w2 x f2) - 2 w2 x (nu - f2).

These are the rows of `Point`, exact for open loops too. They turn with the second frame; `aligned`
rows are the same in the axes of the carrying body, R2 Phi, R2 J and R2 gamma, which determine the
same motion and are shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from eslabon.formulas.kinematics.symbols import constant, motion, pose_across, zeros
from eslabon.formulas.kinematics.tree import (
    chain,
    coordinates,
    velocities,
)
from eslabon.model import GROUND, Joint, Loop, Model, Pose
from eslabon.model.constraints import Point
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import RigidTransform, ad, angular_and_linear, cross
from eslabon.numerics.traced_steps import traced_once


def is_ball(loop: Loop) -> bool:
    """Whether all that a loop holds is a point."""
    return loop.kind.constraints() == (Point(),)


def aligned_loops(m: Model, rows: Sequence[int]) -> tuple[str, ...]:
    """The ball joints all of whose rows are among these, so that the rows may be taken in any
    axes."""
    names, first, kept = [], 0, set(rows)
    for loop in m.loops:
        own = range(first, first + loop.kind.rows)
        if is_ball(loop) and kept.issuperset(own):
            names.append(loop.name)
        first += loop.kind.rows
    return tuple(names)


def _ends(m: Model) -> list[str]:
    return [end.body for loop in m.loops if is_ball(loop) for end in (loop.first, loop.second)]


def carrier(m: Model) -> str:
    """The outermost body that carries all ball joints' loops."""
    body = GROUND
    for step in zip(*(chain(m, end) for end in _ends(m)), strict=False):
        if len({joint.name for joint in step}) > 1:
            break
        body = step[0].child
    return body


@dataclass(frozen=True)
class Moving:
    """A body: its rotation, its origin, and its twist and spatial acceleration about that; at rest
    without velocities."""

    R: Expression
    o: Expression
    V: Expression = field(default_factory=lambda: zeros(6))
    A: Expression = field(default_factory=lambda: zeros(6))


class Carried(NamedTuple):
    """A joint: its axes, its own twist, and the twist and acceleration of its parent, all about the
    outer body's origin."""

    joint: Joint
    o: Expression
    S: Expression
    V0: Expression
    A0: Expression


class Outward:
    """Bodies and joints from the body that carries all ball loops out to their ends, in its
    axes."""

    def __init__(
        self, m: Model, q: Expression, v: Expression | None, a: Expression | None = None
    ) -> None:
        self.m, self.q, self.v, self.a = m, q, v, a
        self.root = carrier(m)
        self.bodies = {self.root: Moving(casadi.SX.eye(3), zeros(3))}
        self.joints: dict[str, Carried] = {}
        for body in _ends(m):
            for joint in self.path(body):
                if joint.name not in self.joints:
                    self.joints[joint.name] = self._step(joint)

    def path(self, body: str) -> list[Joint]:
        """The joints from the carrying body out to another."""
        joints = chain(self.m, body)
        return joints[len(chain(self.m, self.root)) :]

    def _step(self, joint: Joint) -> Carried:
        """A joint, and the body it carries."""
        parent, own = self.bodies[joint.parent], coordinates(self.m, self.q, joint)
        R, o = RigidTransform(parent.R, parent.o) @ pose_across(self.m, self.q, joint)
        v = zeros(joint.nv) if self.v is None else velocities(self.m, self.v, joint)
        a = zeros(joint.nv) if self.a is None else velocities(self.m, self.a, joint)
        local, _, rate = motion(joint.kind, own, v, a)
        S, rate = _rotate_twists(R, local), _rotate_twists(R, rate)
        V0, A0 = about(parent.V, o - parent.o), about(parent.A, o - parent.o)
        twist = S @ v
        self.bodies[joint.child] = Moving(R, o, V0 + twist, A0 + rate + ad(V0, twist))
        return Carried(joint, o, S, V0, A0)


class Ball:
    """A cut ball joint: its point on the first body, and the joints on either side that move it as
    the second sees it."""

    def __init__(self, seen: Outward, loop: Loop) -> None:
        self.seen, self.loop = seen, loop
        self.first, self.second = (seen.bodies[end.body] for end in (loop.first, loop.second))
        self.p, self.R2 = (
            self._place(loop.first.body, loop.first.at),
            self.second.R @ constant(loop.second.at.rotation()),
        )
        sides = [seen.path(end.body) for end in (loop.first, loop.second)]
        common = sum(a.name == b.name for a, b in zip(*sides, strict=False))
        inner, outer = ([seen.joints[x.name] for x in side[common:] if x.nv] for side in sides)
        self.joints = [(x, 1) for x in reversed(outer)] + [
            (x, -1) for x in inner
        ]  # from the second frame on

    def _place(self, body: str, at: Pose) -> Expression:
        moving = self.seen.bodies[body]
        return moving.o + moving.R @ constant(at.translation())

    def motion_by_twist(self, x: Carried, S: Expression) -> Expression:
        """pi(S): how twists about a joint's origin move the point."""
        W, U = angular_and_linear(S)
        return U - cross(self.p - x.o, W)

    @cached_property
    def residual(self) -> Expression:
        return self._place(self.loop.second.body, self.loop.second.at) - self.p

    @property
    def J(self) -> Expression:
        J = zeros(3, self.seen.m.nv)
        for x, sign in self.joints:
            J[:, self.seen.m.velocities[x.joint.name]] = sign * self.motion_by_twist(x, x.S)
        return J

    @cached_property
    def point_motion(self) -> tuple[Expression, Expression]:
        """The velocity and the acceleration of the point on its own body."""
        return _of_point(self.first.V, self.first.A, self.p - self.first.o)

    @cached_property
    def relative_point_motion(self) -> tuple[Expression, Expression]:
        """The velocity and the acceleration of the point as the second body sees it."""
        nu, c = self.point_motion
        f2, a2 = _of_point(self.second.V, self.second.A, self.p - self.second.o)
        return nu - f2, c - a2 - 2 * cross(angular_and_linear(self.second.V)[0], nu - f2)

    @property
    def gamma(self) -> Expression:
        """The acceleration of the point as the second body sees it, which is gamma where the joints
        have none."""
        return self.relative_point_motion[1]

    def constraint_rows(
        self, aligned: bool
    ) -> tuple[Expression, Expression, Expression, Expression]:
        """Phi, J, gamma and Phi_t, as in `loop_motion.held`."""
        rows = self.residual, self.J, self.gamma
        phi, J, gamma = rows if aligned else (self.R2.T @ x for x in rows)
        return phi, J, gamma, zeros(3)


@traced_once
def _rotate_twists(R: Expression, S: Expression) -> Expression:
    w, u = angular_and_linear(S)
    return casadi.vertcat(R @ w, R @ u)


@traced_once
def about(V: Expression, d: Expression) -> Expression:
    """A twist about a point farther by d."""
    w, u = angular_and_linear(V)
    return casadi.vertcat(w, u + cross(w, d))


@traced_once
def _of_point(V: Expression, A: Expression, d: Expression) -> tuple[Expression, Expression]:
    """The velocity and the acceleration of a body's point at d from its origin."""
    (w, u), (s, a) = angular_and_linear(V), angular_and_linear(A)
    nu = u + cross(w, d)
    return nu, a + cross(s, d) + cross(w, nu)
