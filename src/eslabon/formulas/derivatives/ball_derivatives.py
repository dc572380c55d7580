"""Derivatives of what cut ball joints hold, from the same pass outward as their closure equations
(`ball_loops`).

With p the first frame's origin, of velocity nu and acceleration c, and s' the angular half of S',
an axis l between the two frames changes, as seen from the body that carries the loops,

    r   by  pi(S_l)
    r'  by  w_l x nu + pi(S'_l)
    r'' by  w_l x c + pi(S''_l) + 2 s'_l x nu
        and with its velocity by  pi(S'_l + V_l x S_l) + 2 w_l x nu

with the sign of its side. The second frame, of angular velocity w2 and acceleration s2, turns: in
its rows

    r' - w2 x r    and    r'' - 2 w2 x r' - s2 x r + w2 x (w2 x r)

stand in place of r' and r''. Along motions that keep the loops closed this makes no difference.
Axes on the second side are the same for all balls of a body, which sees them move by S' and S'' of
its own: with these, and with nu and c as it sees them, the first formulas hold for its rows. Of two
axes, x nearer to the second frame, d(J^T lambda)_x / dq_y and d(J^T lambda)_y / dq_x are both
-w_x . (pi(S_y) x R2 lambda). Within a joint x is the row on the second frame's side, and the column
on the first one's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eslabon.formulas.derivatives.rnea_derivatives import Axes
from eslabon.formulas.kinematics.ball_loops import Ball, Carried, Outward, about
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import ad, angular_and_linear, cross, skew


class BallDerivatives(NamedTuple):
    """Of one ball joint's rows, by all q and v, and of its forces: as in `LoopDerivatives`."""

    speed_q: Expression
    forces_q: Expression
    gap_q: Expression
    gap_v: Expression


class Part(NamedTuple):
    """A joint of constant S, or a part of one: its places among the velocities, and how its axes
    are carried."""

    places: list[int]
    axes: Axes


def parts_of(m: Model, x: Carried, v: Expression, a: Expression) -> list[Part]:
    """The parts of a joint from its parent on."""
    made, V, A = [], x.V0, x.A0
    places, first = list(range(m.nv)[m.velocities[x.joint.name]]), 0
    for kind in x.joint.kind.in_series():
        own, S = places[first : first + kind.nv], x.S[:, first : first + kind.nv]
        twist = S @ v[own]
        made.append(Part(own, Axes.of_joint(S, V, A, twist)))
        V, A = V + twist, A + S @ a[own] + ad(V, twist)
        first += kind.nv
    return made


class BallSensitivities:
    """The derivatives of all ball joints of a state, whose joints are carried once."""

    def __init__(self, m: Model, q: Expression, v: Expression, a: Expression) -> None:
        self.m, self.v, self.a, self.seen = m, v, a, Outward(m, q, v, a)
        self.parts = {name: parts_of(m, x, v, a) for name, x in self.seen.joints.items()}
        self._from_body: dict[str, dict[str, list[Part]]] = {}

    def parts_from(self, body: str) -> dict[str, list[Part]]:
        """The parts of the joints that carry a body, by the joint's name, as that body sees them."""
        if body not in self._from_body:
            V, A, o = zeros(6), zeros(6), self.seen.bodies[body].o
            made: dict[str, list[Part]] = {}
            for joint in reversed(self.seen.path(body)):
                x = self.seen.joints[joint.name]
                V, A, o = about(V, x.o - o), about(A, x.o - o), x.o
                made[joint.name] = []
                for part in reversed(self.parts[joint.name]):
                    S, own = part.axes.S, part.axes.S @ self.v[part.places]
                    A = A - S @ self.a[part.places] - ad(V, own)
                    V = V - own
                    made[joint.name].insert(0, Part(part.places, Axes.of_joint(S, V, A, own)))
            self._from_body[body] = made
        return self._from_body[body]

    def derivatives(
        self, ball: Ball, reaction: Expression, turning: bool, aligned: bool
    ) -> BallDerivatives:
        """For the forces of its three rows. Without `turning` they are right along motions that
        keep the loops closed; `aligned` rows are in the axes of the carrying body, and so are their
        forces."""
        nv, R2 = self.m.nv, ball.R2
        speed, gap_q, gap_v = (zeros(3, nv) for _ in range(3))
        w2, s2 = angular_and_linear(ball.second.V)[0], angular_and_linear(ball.second.A)[0]
        spin = skew(s2) - skew(w2) @ skew(w2)
        order: list[tuple[Part, int, Expression]] = []
        for x, sign in ball.joints:
            outer = turning and sign > 0  # as the second body sees it
            nu, c = ball.relative_point_motion if outer else ball.point_motion
            parts = (self.parts_from(ball.loop.second.body) if outer else self.parts)[x.joint.name]
            for part in parts[::-1] if sign > 0 else parts:
                y, k = part.axes, part.places
                pi, W = sign * ball.motion_by_twist(x, y.S), sign * angular_and_linear(y.S)[0]
                rate = sign * ball.motion_by_twist(x, y.rate) - cross(nu, W)
                twice = sign * angular_and_linear(y.rate)[0]
                second = (
                    sign * ball.motion_by_twist(x, y.second) - cross(c, W) - cross(2 * nu, twice)
                )
                drift = sign * ball.motion_by_twist(x, y.drift) - cross(2 * nu, W)
                if turning and not outer:
                    second -= cross(2 * w2, rate) + spin @ pi
                    rate, drift = rate - cross(w2, pi), drift - cross(2 * w2, pi)
                speed[:, k], gap_q[:, k], gap_v[:, k] = rate, second, drift
                order.append((part, sign, casadi.vertcat(W, pi)))
        forces = self._forces(order, reaction if aligned else R2 @ reaction)
        if not aligned:
            speed, gap_q, gap_v = R2.T @ speed, R2.T @ gap_q, R2.T @ gap_v
        return BallDerivatives(speed, forces, gap_q, gap_v)

    def _forces(
        self, order: Sequence[tuple[Part, int, Expression]], held: Expression
    ) -> Expression:
        """d(J^T lambda)/dq of axes from the second frame on, for the force R2 lambda that the point
        carries."""
        forces = zeros(self.m.nv, self.m.nv)
        if not order:
            return forces
        W, pi = angular_and_linear(casadi.horzcat(*(twists for *_, twists in order)))
        pairs = W.T @ (skew(held) @ pi)  # -w_x . (pi_y x held)
        first = 0
        for n, (part, sign, _) in enumerate(order):
            own = list(range(first, first + len(part.places)))
            first += len(own)
            later, places = (
                list(range(first, pi.shape[1])),
                [k for other, *_ in order[n + 1 :] for k in other.places],
            )
            within = pairs[own, own]
            forces[part.places, part.places] = within if sign > 0 else within.T
            forces[part.places, places] = pairs[own, later]
            forces[places, part.places] = pairs[own, later].T
        return forces
