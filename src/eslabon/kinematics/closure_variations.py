"""How the closure equations change with the configuration and the velocities: what linear models and derivatives of
closed chains need.

Once around a loop, in its second frame, a joint j moves all that comes after it by its twists S_j: with ad the Lie bracket,
V_s and A_s the relative twist and its rate up to the joint, V_b and A_b those of what comes after it,

    dV/dq_j = -ad(S_j, V_b),   dA/dq_j = -ad(S_j, A_b) + ad(V_s, ad(S_j, V_b)),   dA/dv_j = -ad(V_before, S_j) - ad(S_j, V_after),

and dS_k/dq_j = -ad(S_j, S_k). Differentiating the closure equations themselves costs ten times as much.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi

from eslabon.algebra.arrays import is_symbolic
from eslabon.algebra.spatial import twist_to_child
from eslabon.kinematics.circuit import Circuit, circuits
from eslabon.kinematics.closure import coupling_residual
from eslabon.kinematics.tree import coordinate_rates, coordinates, velocities
from eslabon.model import Joint, Model
from eslabon.model.constraints import ClosureKind

SX = Any  # casadi.SX


class Variations(NamedTuple):
    """Derivatives along the velocities at constant v, v' and lambda: by q of J v + Phi_t, by q and by v of J v' - gamma, and by
    q of J^T lambda."""

    speed_q: SX
    gap_q: SX
    gap_v: SX
    forces_q: SX


def variations(m: Model, q: SX, v: SX, a: SX, reaction: SX, rows: tuple[int, ...]) -> Variations:
    """Those of some rows of the closure equations, for accelerations a and multipliers of these rows."""
    t = casadi.SX.sym("t")
    timed, start = m.with_time(t), 0
    parts: list[list[SX]] = [[casadi.SX(0, m.nv)], [casadi.SX(0, m.nv)], [casadi.SX(0, m.nv)]]
    forces = casadi.SX(m.nv, m.nv)
    for loop, x in zip(timed.loops, circuits(m, q, v), strict=True):
        count = loop.kind.rows
        carried = _carried(reaction, rows, start, count)
        made, turned = _of_loop(m, q, v, a, loop.kind, x, carried, t)
        for part, own in zip(parts, made, strict=True):
            part.append(own)
        forces, start = forces + turned, start + count
    for coupling in timed.couplings:
        for part, own in zip(parts, _of_coupling(timed, q, v, a, coupling, t), strict=True):
            part.append(own)
    found = [*(casadi.vertcat(*part)[list(rows), :] for part in parts), forces]
    return Variations(*(casadi.substitute(found, [t], [casadi.SX(m.time)]) if m.rheonomic else found))


def _carried(reaction: SX, rows: tuple[int, ...], start: int, count: int) -> SX:
    """The multipliers of a loop's rows, zero for those that are not retained."""
    carried = casadi.SX(count, 1)
    for k, row in enumerate(rows):
        if start <= row < start + count:
            carried[row - start] = reaction[k]
    return carried


class Motions(NamedTuple):
    """The relative twist of a loop's frames and its rate, and their derivatives."""

    V: SX
    A: SX
    V_q: SX
    A_q: SX
    A_v: SX


def _of_loop(m: Model, q: SX, v: SX, a: SX, kind: ClosureKind, x: Circuit, carried: SX, t: SX) -> tuple[list[SX], SX]:
    motions = _motions(m, q, v, a, x)
    residual = _Residual(kind, t)
    speed, gap, G, wrench = residual.at(x.R, x.p, motions.V, motions.A, carried)
    made = [
        speed.pose @ x.J + G @ motions.V_q,
        gap.pose @ x.J + gap.V @ motions.V_q + G @ motions.A_q,
        gap.V @ x.J + G @ motions.A_v,
    ]
    return made, x.J.T @ wrench.pose @ x.J + _turned(m, q, x, wrench.value)


class _Derivative(NamedTuple):
    """A value, and its derivatives by the pose, along twists, and by the relative twist V."""

    value: SX
    pose: SX
    V: SX


class _Residual:
    """The residual of a cut joint as a function of the pose, and what its derivatives by the time are."""

    def __init__(self, kind: ClosureKind, t: SX) -> None:
        R, p = casadi.SX.sym("R", 3, 3), casadi.SX.sym("p", 3)
        self.V, self.A, self.carried = casadi.SX.sym("V", 6), casadi.SX.sym("A", 6), casadi.SX.sym("f", kind.rows)
        self.R, self.p, basis = R, p, casadi.SX.eye(3)
        self.pose = casadi.vertcat(casadi.vec(R), p)
        self.rates = casadi.diagcat(
            casadi.horzcat(*(casadi.vec(R @ casadi.skew(basis[:, k])) for k in range(3))), R
        )  # fmt: skip
        phi = casadi.SX(kind.residual(R, p))
        self.G = casadi.jacobian(phi, self.pose) @ self.rates
        rate = casadi.jacobian(phi, t)
        self.speed = self.G @ self.V + rate
        self.gap = self.G @ self.A + casadi.jacobian(self.G @ self.V, self.pose) @ (self.rates @ self.V)
        self.gap += 2 * casadi.jacobian(self.G @ self.V, t) + casadi.jacobian(rate, t)
        self.wrench = self.G.T @ self.carried

    def at(self, R: SX, p: SX, V: SX, A: SX, carried: SX) -> tuple[_Derivative, _Derivative, SX, _Derivative]:
        """J v + Phi_t and J v' - gamma, G, and the wrench in the second frame that the multipliers stand for."""
        symbols = [self.R, self.p, self.V, self.A, self.carried]
        numbers = [casadi.densify(casadi.SX(x)) for x in (R, p, V, A, carried)]
        wanted = [self.G]
        for y in (self.speed, self.gap, self.wrench):
            wanted += [y, casadi.jacobian(y, self.pose) @ self.rates, casadi.jacobian(y, self.V)]
        found = [casadi.sparsify(y) for y in casadi.substitute(wanted, symbols, numbers)]
        speed, gap, wrench = (_Derivative(*found[k : k + 3]) for k in (1, 4, 7))
        return speed, gap, found[0], wrench


class _Own(NamedTuple):
    """What a joint whose twists depend on its own coordinates adds: the rate of its twists, S' v, and the derivatives by its
    coordinates of S v, S v' + S' v and S^T w, and by its velocities of S' v, all seen from the second frame."""

    rate: SX
    speed_q: SX
    change_q: SX
    change_v: SX
    power_q: SX


def _own(m: Model, q: SX, v: SX, a: SX, joint: Joint, inward: bool, x: Circuit, w: SX) -> _Own | None:
    own, rates = coordinates(m, q, joint), velocities(m, v, joint)
    if not is_symbolic(joint.kind.motion_rate(own, rates)):
        return None
    o, r, sign = casadi.SX.sym("o", joint.nq), casadi.SX.sym("r", joint.nv), 1 if inward else -1
    S = sign * twist_to_child(x.seen[joint.name], casadi.SX(joint.kind.motion(o)))
    rate = sign * twist_to_child(x.seen[joint.name], casadi.SX(joint.kind.motion_rate(o, r)) @ r)
    change = S @ velocities(m, a, joint) + rate
    found = [
        rate, casadi.jacobian(S @ r, o), casadi.jacobian(change, o), casadi.jacobian(rate, r), casadi.jacobian(S.T @ w, o)
    ]  # fmt: skip
    return _Own(*casadi.substitute(found, [o, r], [casadi.densify(own), casadi.densify(rates)]))


def _motions(m: Model, q: SX, v: SX, a: SX, x: Circuit) -> Motions:
    """Once around the loop, and once more for the derivatives."""
    V, A = casadi.SX(6, 1), casadi.SX(6, 1)
    steps = []
    for joint, inward in x.path:
        if not joint.nv:
            continue
        own = _own(m, q, v, a, joint, inward, x, casadi.SX(6, 1))
        S = x.J[:, m.velocities[joint.name]]
        before, twist = (V, A), S @ velocities(m, v, joint)
        A = A + S @ velocities(m, a, joint) - ad_matrix(V) @ twist + (own.rate if own else 0)
        V = V + twist
        steps.append((joint, S, own, before, (V, A), (V, A) if inward else before))
    V_q, A_q, A_v = (casadi.SX(6, m.nv) for _ in range(3))
    for joint, S, own, (V_before, _), (V_after, _), (V_s, A_s) in steps:
        place = m.velocities[joint.name]
        V_b = V - V_s
        A_b = A - A_s + ad_matrix(V_s) @ V_b
        V_q[:, place] = ad_matrix(V_b) @ S
        A_q[:, place] = ad_matrix(A_b) @ S - ad_matrix(V_s) @ (ad_matrix(V_b) @ S)
        A_v[:, place] = ad_matrix(V - V_after - V_before) @ S
        if own:
            V_q[:, place] += own.speed_q
            A_q[:, place] += own.change_q + ad_matrix(V - V_after - V_before) @ own.speed_q
            A_v[:, place] += own.change_v
    return Motions(V, A, V_q, A_q, A_v)


def _turned(m: Model, q: SX, x: Circuit, w: SX) -> SX:
    """(dJ/dq_j)^T w, column by column: S_k^T of the wrench as the joint j turns it, for every k after j."""
    D = -casadi.blockcat([[casadi.skew(w[:3]), casadi.skew(w[3:])], [casadi.skew(w[3:]), casadi.SX(3, 3)]])
    made, still = casadi.SX(m.nv, m.nv), casadi.SX.zeros(m.nv)
    moving = [(joint, inward) for joint, inward in x.path if joint.nv]
    for k, (joint, inward) in enumerate(moving):
        place = m.velocities[joint.name]
        turned = D @ x.J[:, place]
        for other, _ in moving[k + inward :]:  # a joint passed outward carries its own axes too
            made[m.velocities[other.name], place] = x.J[:, m.velocities[other.name]].T @ turned
        own = _own(m, q, still, still, joint, inward, x, w)
        if own:
            made[place, place] += own.power_q
    return made


def ad_matrix(V: SX) -> SX:
    """ad_V as a matrix."""
    w, v = casadi.skew(V[:3]), casadi.skew(V[3:])
    return casadi.sparsify(casadi.blockcat([[w, casadi.SX(3, 3)], [v, w]]))


def _of_coupling(m: Model, q: SX, v: SX, a: SX, c: Any, t: SX) -> list[SX]:
    """A coupling's row is linear in q; its coefficients may depend on the time."""
    phi = casadi.SX(coupling_residual(m, q, c))
    along, rate = coordinate_rates(m, q), casadi.jacobian(phi, t)
    J = casadi.jacobian(phi, q) @ along
    speed_q, gap_q = (casadi.jacobian(y, q) @ along for y in (rate, casadi.jacobian(rate, t)))
    return [speed_q, gap_q, 2 * casadi.jacobian(J.T, t).T]
