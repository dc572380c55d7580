"""Derivatives of what loops hold: of the constraint forces J^T lambda, and of the first and second
derivatives J v + Phi_t and J v' - gamma of the closure equations, by q and v.

Around a loop the axes S of its joints, seen from the cut joint's second frame, are a chain that
starts at its first frame. As in `rnea_derivatives`, a change of q_l leaves what lies between its
axis and the second frame as it is, and changes the relative twist by S'_l and the relative
acceleration by S''_l - V x S'_l. With Phi' = G V and W = G^T lambda,

    d(Phi') / dq_l         = dPhi'/dpose S_l + G S'_l
    d(J^T lambda)_k / dq_l = S_k . (dW/dpose S_l + S_l x* W)    the second term if l carries k along
    d(Phi'') / dq_l        = dPhi''/dpose S_l + (dPhi''/dV - G ad_V) S'_l + G S''_l
    d(Phi'') / dv_l        = (dPhi''/dV - G ad_V) S_l + G (S'_l + V_l x S_l).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from eslabon.compiler.calls import repeat, unrolled
from eslabon.formulas.derivatives.ball_derivatives import BallDerivatives, BallSensitivities
from eslabon.formulas.derivatives.rnea_derivatives import Axes, function
from eslabon.formulas.kinematics.ball_loops import Ball, is_ball
from eslabon.formulas.kinematics.closure import comparable, equations_in_units, in_units
from eslabon.formulas.kinematics.loop_motion import Circuit, circuits, closing
from eslabon.formulas.kinematics.symbols import stack, zeros
from eslabon.formulas.kinematics.tree import coordinate_rates
from eslabon.formulas.motion_state import MotionState
from eslabon.model import Loop, Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import ad, ad_dual

# axes around all loops, up to which unrolled code, which leaves out what is zero, is the faster
FEW = 24


class LoopDerivatives(NamedTuple):
    """At constant v, v' and lambda: of J v + Phi_t by q, of J^T lambda by q, and of J v' - gamma by
    q and by v."""

    speed_q: Expression
    forces_q: Expression
    gap_q: Expression
    gap_v: Expression


def derivatives(
    s: MotionState, a: Expression, reaction: Expression, turning: bool = True
) -> LoopDerivatives:
    """The derivatives for the rows that are imposed, in their order and comparable with one another;
    `reaction` is lambda of these.

    Without `turning` the derivatives are right along motions that keep the loops closed.
    """
    m, q, v, rows, aligned = s.m, s.q, s.v, s.partition.rows, s.aligned_rows
    reaction = in_units(m, reaction, rows)
    t, first, parts = casadi.SX.sym("t"), 0, []
    balls = [loop for loop in m.loops if is_ball(loop)]
    walked = circuits(m, q, v, [loop for loop in m.loops if loop not in balls])
    seen = BallSensitivities(m, q, v, a)
    of_balls: list[tuple[list[int], BallDerivatives]] = []
    for loop, plain in zip(m.with_time(t).loops, m.loops, strict=True):
        own = [k for k, row in enumerate(rows) if first <= row < first + loop.kind.rows]
        places = [rows[k] - first for k in own]
        if own and loop.name not in walked:
            of_balls.append(
                (
                    own,
                    _of_ball(seen, plain, reaction[own, :], places, loop.name in aligned, turning),
                )
            )
        elif own:
            among = dict(zip(own, places, strict=True))
            parts.append(_around(s, loop, walked[loop.name], a, reaction[own, :], among, t))
        first += loop.kind.rows
    over = unrolled if sum(len(x.places) for x in parts) <= FEW else repeat
    forces, (speed_q, gap_q, gap_v) = _forces(m, parts, over), _gaps(m, parts, len(rows), over)
    for own, x in of_balls:
        forces += x.forces_q
        speed_q[own, :], gap_q[own, :], gap_v[own, :] = x.speed_q, x.gap_q, x.gap_v
    geared = [k for k, row in enumerate(rows) if row >= first]
    if geared:  # their Jacobian is constant, but may depend on the time
        _, _, gamma, rate = equations_in_units(m, q, v, tuple(rows[k] for k in geared))
        along = coordinate_rates(m, q)
        speed_q[geared, :], gap_q[geared, :] = (
            casadi.jacobian(x, q) @ along for x in (rate, -gamma)
        )
        gap_v[geared, :] = -casadi.jacobian(gamma, v)
    speed_q, gap_q, gap_v = (comparable(m, x, rows) for x in (speed_q, gap_q, gap_v))
    found = [speed_q, forces, gap_q, gap_v]
    return LoopDerivatives(
        *(casadi.substitute(found, [t], [casadi.SX(m.time)]) if m.rheonomic else found)
    )


def _of_ball(
    seen: BallSensitivities,
    loop: Loop,
    reaction: Expression,
    rows: Sequence[int],
    aligned: bool,
    turning: bool,
) -> BallDerivatives:
    """The derivatives of some rows of a ball joint."""
    whole = zeros(3)
    whole[rows, :] = reaction
    x = seen.derivatives(Ball(seen.seen, loop), whole, turning, aligned)
    return BallDerivatives(x.speed_q[rows, :], x.forces_q, x.gap_q[rows, :], x.gap_v[rows, :])


class Around(NamedTuple):
    """A loop: its rows among all, and for each axis from the first frame on its place among the
    velocities, which axes it carries along, and how it is carried itself; with what the cut joint
    makes of a twist."""

    rows: list[int]
    places: list[int]
    along: list[list[int]]
    S: Expression
    rate: Expression
    second: Expression
    drift: Expression
    W: Expression
    W_by_pose: Expression
    G: Expression
    by_pose: Expression
    by_V: Expression
    speed_by_pose: Expression


def _around(
    s: MotionState,
    loop: Loop,
    x: Circuit,
    a: Expression,
    reaction: Expression,
    among: dict[int, int],
    t: Expression,
) -> Around:
    """The terms of a loop's derivatives; `among` has the loop's rows by their place in all rows."""
    places, rows = list(among), list(among.values())
    c, force = closing(loop.kind, t, rows), casadi.SX.sym("f", len(rows))
    W = c.G.T @ force
    speed = c.G @ c.V + casadi.jacobian(c.residual, t)
    wanted = [
        c.G,
        c.by_pose(c.second),
        casadi.jacobian(c.second, c.V),
        W,
        c.by_pose(W),
        c.by_pose(speed),
    ]
    axes, A = _axes(s.m, x, s.v, a)
    G, by_pose, by_V, W, W_by_pose, by_speed = casadi.substitute(
        c.at(wanted, x, A), [force], [casadi.densify(reaction)]
    )
    along: list[list[int]] = []
    for own, _, turned in axes:
        before = len(along)
        along += [list(range(before + (len(own) if turned else 0)))] * len(own)
    S, rate, second, drift = (
        casadi.horzcat(*(getattr(y, name) for _, y, _ in axes))
        for name in ("S", "rate", "second", "drift")
    )
    by_V = by_V - G @ ad(x.V, casadi.SX.eye(6))
    order = [k for own, _, _ in axes for k in own]
    return Around(
        places, order, along, S, rate, second, drift, W, W_by_pose, G, by_pose, by_V, by_speed
    )


def _forces(m: Model, parts: Sequence[Around], over: Callable[..., Any]) -> Expression:
    """d(J^T lambda)/dq."""
    made, first = zeros(m.nv, m.nv), 0
    owner = [n for n, x in enumerate(parts) for _ in x.places]
    if not owner:
        return made
    S = casadi.horzcat(*(x.S for x in parts))
    held = casadi.horzcat(*(stack(x.W, casadi.vec(x.W_by_pose)) for x in parts))
    turned, carried = over(_held_wrenches(), (S, range(len(owner))), (held, owner))
    pairs: list[tuple[int, int, int, int]] = []  # two axes, and where their entry stands
    for x in parts:
        for column, place in enumerate(x.places):
            for row, other in enumerate(x.places):
                moved = first + column + len(owner) * (row in x.along[column])
                pairs.append((first + row, moved, other, place))
        first += len(x.places)
    both = casadi.horzcat(turned, carried)
    entries = over(_dot(), (S, [k for k, *_ in pairs]), (both, [k for _, k, *_ in pairs]))
    for n, (*_, i, j) in enumerate(pairs):
        made[i, j] += entries[n]
    return casadi.sparsify(made)


def _gaps(
    m: Model, parts: Sequence[Around], rows: int, over: Callable[..., Any]
) -> list[Expression]:
    """The derivatives of J v + Phi_t by q and of J v' - gamma by q and by v, loops with as many
    rows together."""
    made = [zeros(rows, m.nv) for _ in range(3)]
    for count in {len(x.rows) for x in parts}:
        alike = [x for x in parts if len(x.rows) == count]
        axes = casadi.horzcat(*(casadi.vertcat(x.S, x.rate, x.second, x.drift) for x in alike))
        given = casadi.horzcat(
            *(stack(*map(casadi.vec, (x.G, x.by_pose, x.by_V, x.speed_by_pose))) for x in alike)
        )
        places = [(x.rows, place) for x in alike for place in x.places]
        owner = [n for n, x in enumerate(alike) for _ in x.places]
        found = over(_gap(count), (axes, range(len(owner))), (given, owner))
        for whole, columns in zip(made, found, strict=True):
            for k, (own, place) in enumerate(places):
                whole[own, place] = columns[:, k]
    return [casadi.sparsify(x) for x in made]


@cache
def _dot() -> casadi.Function:
    return function("power", (6, 6), casadi.dot)


@cache
def _held_wrenches() -> casadi.Function:
    """How the wrench W of a cut joint changes with an axis, alone and with what the axis carries
    along."""

    def formula(S: Expression, held: Expression) -> tuple[Expression, Expression]:
        W, by_pose = held[:6], casadi.reshape(held[6:], 6, 6)
        return by_pose @ S, by_pose @ S + ad_dual(S, W)

    return function("held_wrenches", (6, 42), formula)


@cache
def _gap(rows: int) -> casadi.Function:
    """A column of each of the derivatives of the second derivative of the closure."""

    def formula(axis: Expression, given: Expression) -> tuple[Expression, ...]:
        S, rate, second, drift = axis[:6], axis[6:12], axis[12:18], axis[18:]
        G, by_pose, by_V, by_speed = (
            casadi.reshape(given[6 * rows * k : 6 * rows * (k + 1)], rows, 6) for k in range(4)
        )
        return by_speed @ S + G @ rate, by_pose @ S + by_V @ rate + G @ second, by_V @ S + G @ drift

    return function(f"gap{rows}", (24, 24 * rows), formula)


def _axes(
    m: Model, x: Circuit, v: Expression, a: Expression
) -> tuple[list[tuple[list[int], Axes, bool]], Expression]:
    """The axes from the first frame on: their places among the velocities, how they are carried,
    and whether they are fixed in what carries them and not in what they carry; and the relative
    acceleration of the second frame."""
    V, A = zeros(6), zeros(6)
    made = []
    for places, outward in _order(m, x):
        S = x.J[:, places]
        own = S @ v[places]
        V0, A0 = V, A
        V, A = V + own, A + S @ a[places] + ad(V, own)
        made.append(
            (
                places,
                Axes.of_joint(S, V, A, -own) if outward else Axes.of_joint(S, V0, A0, own),
                outward,
            )
        )
    return made, A


def _order(m: Model, x: Circuit) -> list[tuple[list[int], bool]]:
    """The velocities of each joint from the first frame on, and whether the joint is passed from
    its outer frame; one whose S is not constant counts as several."""
    made = []
    for joint, inward in reversed(x.path):
        places = list(range(m.nv)[m.velocities[joint.name]])
        parts = []
        for kind in joint.kind.in_series():
            parts.append((places[: kind.nv], not inward))
            places = places[kind.nv :]
        made += [part for part in (parts if inward else parts[::-1]) if part[0]]
    return made
