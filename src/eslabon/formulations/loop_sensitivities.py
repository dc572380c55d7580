"""Derivatives of what loops hold: of the constraint forces J^T lambda, and of the first and second derivatives J v + Phi_t
and J v' - gamma of the closure equations, by q and v.

Around a loop the axes S of its joints, seen from the cut joint's second frame, are a chain that starts at its first
frame. As in `sensitivities`, a change of q_l leaves what lies between its axis and the second frame as it is, and changes
the relative twist by S'_l and the relative acceleration by S''_l - V x S'_l. With Phi' = G V and W = G^T lambda,

    d(Phi') / dq_l         = dPhi'/dpose S_l + G S'_l
    d(J^T lambda)_k / dq_l = S_k . (dW/dpose S_l + S_l x* W)             the second term if axis l carries axis k along
    d(Phi'') / dq_l        = dPhi''/dpose S_l + (dPhi''/dV - G ad_V) S'_l + G S''_l
    d(Phi'') / dv_l        = (dPhi''/dV - G ad_V) S_l + G (S'_l + V_l x S_l).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi

from eslabon.algebra.spatial import ad, ad_dual
from eslabon.formulations.sensitivities import Axes
from eslabon.formulations.symbols import SX, zeros
from eslabon.kinematics.circuit import Circuit, circuits, closing
from eslabon.kinematics.closure import equations
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import Loop, Model


class LoopDerivatives(NamedTuple):
    """At constant v, v' and lambda: of J v + Phi_t by q, of J^T lambda by q, and of J v' - gamma by q and by v."""

    speed_q: SX
    forces_q: SX
    gap_q: SX
    gap_v: SX


def derivatives(m: Model, q: SX, v: SX, a: SX, reaction: SX, rows: Sequence[int]) -> LoopDerivatives:
    """The derivatives for some rows of the constraints, in their order; `reaction` is lambda of these."""
    forces, parts, first = zeros(m.nv, m.nv), [(zeros(0, m.nv),) * 3], 0
    t = casadi.SX.sym("t")
    order: list[int] = []
    for loop, walked in zip(m.with_time(t).loops, circuits(m, q, v), strict=True):
        own = [k for k, row in enumerate(rows) if first <= row < first + loop.kind.rows]
        made = _around(m, loop, walked, v, a, reaction[own, :], [rows[k] - first for k in own], t)
        forces += made.forces_q
        parts.append((made.speed_q, made.gap_q, made.gap_v))
        order += own
        first += loop.kind.rows
    geared = [k for k, row in enumerate(rows) if row >= first]
    if geared:  # their Jacobian is constant, but may depend on the time
        _, _, gamma, rate = equations(m, q, v, tuple(rows[k] for k in geared))
        along = coordinate_rates(m, q)
        parts.append((casadi.jacobian(rate, q) @ along, -casadi.jacobian(gamma, q) @ along, -casadi.jacobian(gamma, v)))
    places = [(order + geared).index(k) for k in range(len(rows))]
    speed_q, gap_q, gap_v = (casadi.vertcat(*column)[places, :] for column in zip(*parts, strict=True))
    found = [speed_q, forces, gap_q, gap_v]
    return LoopDerivatives(*(casadi.substitute(found, [t], [casadi.SX(m.time)]) if m.rheonomic else found))


def _around(
    m: Model, loop: Loop, x: Circuit, v: SX, a: SX, reaction: SX, rows: Sequence[int], t: SX
) -> LoopDerivatives:
    c, force = closing(loop.kind, t, rows), casadi.SX.sym("f", len(rows))
    W = c.G.T @ force
    speed = c.G @ c.V + casadi.jacobian(c.residual, t)
    wanted = [c.G, c.by_pose(c.second), casadi.jacobian(c.second, c.V), W, c.by_pose(W), c.by_pose(speed)]
    axes, A = _axes(m, x, v, a)
    G, by_pose, by_V, W, W_by_pose, speed_by_pose = casadi.substitute(
        c.at(wanted, x, A), [force], [casadi.densify(reaction)]
    )
    by_V = by_V - G @ ad(x.V, casadi.SX.eye(6))
    S, rate, second, drift = (zeros(6, m.nv) for _ in range(4))
    forces, carried = zeros(m.nv, m.nv), []
    for places, own, turned in axes:
        S[:, places], rate[:, places], second[:, places], drift[:, places] = own.S, own.rate, own.second, own.drift
        moved = casadi.horzcat(*(ad_dual(own.S[:, k], W) for k in range(len(places))))
        for others, there in [*carried, *([(places, own.S)] if turned else [])]:
            forces[others, places] = there.T @ moved
        carried.append((places, own.S))
    forces += S.T @ (W_by_pose @ S)
    speed_q = speed_by_pose @ S + G @ rate
    return LoopDerivatives(speed_q, forces, by_pose @ S + by_V @ rate + G @ second, by_V @ S + G @ drift)


def _axes(m: Model, x: Circuit, v: SX, a: SX) -> tuple[list[tuple[list[int], Axes, bool]], SX]:
    """The axes from the first frame on: their places among the velocities, how they are carried, and whether they are
    fixed in what carries them and not in what they carry; and the relative acceleration of the second frame."""
    V, A = zeros(6), zeros(6)
    made = []
    for places, outward in _order(m, x):
        S = x.J[:, places]
        own = S @ v[places]
        V0, A0 = V, A
        V, A = V + own, A + S @ a[places] + ad(V, own)
        made.append((places, Axes.carried(S, V, A, -own) if outward else Axes.carried(S, V0, A0, own), outward))
    return made, A


def _order(m: Model, x: Circuit) -> list[tuple[list[int], bool]]:
    """The velocities of each joint from the first frame on, and whether the joint is passed from its outer frame; one
    whose S is not constant counts as several."""
    made = []
    for joint, inward in reversed(x.path):
        places = list(range(m.nv)[m.velocities[joint.name]])
        parts = []
        for kind in joint.kind.in_series():
            parts.append((places[: kind.nv], not inward))
            places = places[kind.nv :]
        made += [part for part in (parts if inward else parts[::-1]) if part[0]]
    return made
