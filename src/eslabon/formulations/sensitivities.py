"""Recursive sensitivities: the exact derivatives of all joint forces by q, v and v' in one recursion (Rojas, 5.3:
delta tau = U delta v' + V delta v + W delta q, with U = M).

A joint's axis S, carried by its parent (twist V_p, acceleration A_p, the ground accelerating upward), has the rates
S' = V_p x S and S'' = A_p x S + V_p x S'. A change of q_i moves everything beyond axis i as one body, which changes no
joint force beyond it; what is left is a change S'_i of the twists and S''_i of the accelerations there. With all bodies
beyond axis j as one, of inertia I_j, needing the wrench f_j, and B_j x its Coriolis wrench for a twist x,

    M_ij      = S_i . I_j S_j                                          i = j or nearer to the ground than j
    W_ij      = S_i . (2 B_j S'_j + I_j S''_j + S_j x* f_j)            the last term not within one joint
    W_ji      = S_j . (2 B_j S'_i + I_j S''_i)
    V_ij      = S_i . (2 B_j S_j + I_j (S'_j + V_j x S_j))
    V_ji      = S_j . (2 B_j S_i + I_j (S'_i + V_i x S_i))

B has twelve numbers, p = sum m v and G = sum m v r^T over the particles: B x = [(tr G 1 - G) w; w x p] with w the angular
half of x. In Rojas' words these are eqs. 5.3.10-5.3.18, seen from the ground. His V is right. His W (5.3.18) is not: in
(5.3.10) an axis e_j turns with every theta_k, though it does only for k < j; identity (5.3.13) does not hold; and the
third derivatives of positions count twice where they should once. Here W_ij and W_ji are what differentiation gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import casadi

from eslabon.algebra.spatial import Inertia, Pose, ad, cross, halves, skew, twist_to_parent, wrench_to_parent
from eslabon.formulations.composite_rigid_body import depth, on_paths
from eslabon.formulations.links import Link, serial
from eslabon.formulations.symbols import SX, gravity, stack, zeros
from eslabon.graph.calls import repeat
from eslabon.kinematics.tree import compose
from eslabon.model import Model

MANY = 45  # pairs of joints on one path to the ground, from which on everything is seen from there


class Derivatives(NamedTuple):
    """The derivatives of all joint forces by q (along the velocities), by v, and by v'."""

    W: SX
    V: SX
    M: SX


def derivatives(m: Model, q: SX, v: SX, a: SX) -> Derivatives:
    """W, V and M of the rigid bodies.

    >>> import eslabon as es
    >>> m = es.load("double_pendulum")
    >>> q, v, a = (casadi.SX.sym(name, 2) for name in "qva")
    >>> W, V, M = derivatives(m, q, v, a)
    >>> W.shape, casadi.simplify(casadi.trace(V.T @ M)).is_zero()
    ((2, 2), False)
    """
    tree = serial(m)
    return in_ground(m, tree, q, v, a) if large(tree) else of_links(m, tree, q, v, a)


def large(tree: Sequence[Link]) -> bool:
    """Whether a tree is better seen from the ground."""
    return depth(tree) * len(tree) > MANY


@dataclass(frozen=True)
class Axes:
    """The axes of a joint, S, with S', S'' and S' + V x S: columns for its velocities."""

    S: SX
    rate: SX
    second: SX
    drift: SX

    @staticmethod
    def carried(S: SX, V: SX, A: SX, own: SX) -> Axes:
        """By a parent of twist V and acceleration A; `own` is the joint's own twist."""
        rate = ad(V, S)
        return Axes(S, rate, ad(A, S) + ad(V, rate), 2 * rate + ad(own, S))


@dataclass(frozen=True)
class Composite:
    """Bodies that move as one: their inertia, p and G of their particles, and the wrench they need."""

    inertia: Inertia
    p: SX
    G: SX
    wrench: SX

    @staticmethod
    def of(inertia: Inertia, V: SX, A: SX) -> Composite:
        """One body: its particles have the velocities u + w x r, and the accelerations a + U r."""
        (w, u), (turning, rise) = halves(V), halves(A)
        U = skew(turning) + skew(w) @ skew(w)
        p, G = inertia.mass * u + cross(w, inertia.first), u @ inertia.first.T + skew(w) @ inertia.second
        return Composite(inertia, p, G, inertia.wrench(U, rise + cross(w, u)))

    def __add__(self, other: Composite) -> Composite:
        pairs = zip(self._parts(), other._parts(), strict=True)
        return Composite(*(x + y for x, y in pairs))

    def _parts(self) -> tuple[Inertia, SX, SX, SX]:
        return self.inertia, self.p, self.G, self.wrench

    def seen_from(self, pose: Pose) -> Composite:
        """The same about the parent's frame."""
        R, reach = pose
        p = R @ self.p
        moved = self.inertia.moments_seen_from(pose)
        return Composite(moved, p, R @ self.G @ R.T + p @ reach.T, wrench_to_parent(pose, self.wrench))

    def wrenches(self, x: Axes) -> Wrenches:
        """What the axes of the joint that carries it send toward the ground."""
        turn = casadi.trace(self.G) * casadi.SX.eye(3) - self.G

        def coriolis(twists: SX) -> SX:
            w, _ = halves(2 * twists)
            return casadi.vertcat(turn @ w, -cross(self.p, w))

        (w, u), (moment, force) = halves(x.S), halves(self.wrench)
        turned = casadi.vertcat(-cross(moment, w) - cross(force, u), -cross(force, w))  # S x* f
        own = coriolis(x.rate) + self.inertia.momentum(x.second)
        return Wrenches(
            self.inertia.momentum(x.S), own + turned, coriolis(x.S) + self.inertia.momentum(x.drift),
            2 * (turn.T @ w + cross(self.p, u)), own,
        )  # fmt: skip


class Wrenches(NamedTuple):
    """Of a joint's axes: I S, the wrench of W, that of V, the angular half of 2 B^T S, and W's within the joint."""

    inertial: SX
    moved: SX
    rate: SX
    dual: SX
    own: SX

    def to_parent(self, pose: Pose) -> Wrenches:
        inertial, moved, rate = (wrench_to_parent(pose, x) for x in self[:3])
        return Wrenches(inertial, moved, rate, pose[0] @ self.dual, self.own)


def of_links(m: Model, tree: Sequence[Link], q: SX, v: SX, a: SX) -> Derivatives:
    """Everything in body axes: an entry costs the way of a wrench from joint to joint, a body next to nothing."""
    poses, axes, bodies = _outward(m, tree, q, v, a)
    made = Derivatives(*(zeros(m.nv, m.nv) for _ in range(3)))
    for k in reversed(range(len(tree))):
        link = tree[k]
        if link.parent >= 0:
            moved = bodies[k]
            for pose in poses[k]:
                moved = moved.seen_from(pose)
            bodies[link.parent] += moved
        if not link.kind.nv:
            continue
        F, i, here = bodies[k].wrenches(axes[k]), k, link.v
        made.M[here, here], made.W[here, here], made.V[here, here] = (
            axes[k].S.T @ x for x in (F.inertial, F.own, F.rate)
        )
        while tree[i].parent >= 0:
            for pose in poses[i]:
                F = F.to_parent(pose)
            i = tree[i].parent
            x, there = axes[i], tree[i].v
            made.M[there, here], made.W[there, here], made.V[there, here] = (x.S.T @ y for y in F[:3])
            made.M[here, there] = made.M[there, here].T
            made.W[here, there] = F.dual.T @ x.rate[:3, :] + F.inertial.T @ x.second
            made.V[here, there] = F.dual.T @ x.S[:3, :] + F.inertial.T @ x.drift
    return made


Steps = tuple[Pose, Pose]  # from a body to its joint's seat, and from there to the parent: each with few entries


def _outward(m: Model, tree: Sequence[Link], q: SX, v: SX, a: SX) -> tuple[list[Steps], list[Axes], list[Composite]]:
    """The poses, axes and bodies of a tree, each in its own axes."""
    V, A = [zeros(6)] * len(tree), [zeros(6)] * len(tree)
    poses: list[Steps] = []
    axes, bodies = [], []
    for k, link in enumerate(tree):
        turn, shift = link.turn(q)
        poses.append(((turn, zeros(3)), (link.R, link.p + link.R @ shift)))
        carried = (V[link.parent], A[link.parent]) if link.parent >= 0 else (zeros(6), stack(zeros(3), -gravity(m)))
        V0, A0 = (_to_child(poses[k], x) for x in carried)
        S, own, rate = link.motion(q, v, a)
        axes.append(Axes.carried(S, V0, A0, own))
        V[k], A[k] = V0 + own, A0 + rate + axes[k].rate @ v[link.v]
        bodies.append(Composite.of(link.inertia, V[k], A[k]))
    return poses, axes, bodies


def _to_child(steps: Steps, x: SX) -> SX:
    (turn, _), (R, reach) = steps
    w, u = halves(x)
    u = u - cross(reach, w)
    return casadi.vertcat(turn.T @ (R.T @ w), turn.T @ (R.T @ u))


def in_ground(m: Model, tree: Sequence[Link], q: SX, v: SX, a: SX) -> Derivatives:
    """Everything seen from the ground: a body costs more, an entry much less, and native code has each formula once."""
    bodies, joints = _moved(m, tree, q, v, a)
    sums = casadi.horzsplit(repeat(_body(), (bodies, range(len(tree)))))
    for k in reversed(range(len(tree))):
        if tree[k].parent >= 0:
            sums[tree[k].parent] = sums[tree[k].parent] + sums[k]
    owner = [k for k, link in enumerate(tree) for _ in range(link.kind.nv)]
    axes, across, within = repeat(_joint(), (joints, range(m.nv)), (casadi.horzcat(*sums), owner))
    rows, columns = on_paths(tree, m.nv)
    taken = [j + m.nv * (owner[i] == owner[j]) for i, j in zip(rows, columns, strict=True)]
    entries = repeat(_entry(), (axes, rows), (casadi.horzcat(across, within), taken))
    return Derivatives(
        *(_filled(m.nv, rows, columns, entries[k, :], entries[n, :]) for k, n in ((0, 1), (2, 3), (4, 4)))
    )


def _moved(m: Model, tree: Sequence[Link], q: SX, v: SX, a: SX) -> tuple[SX, SX]:
    """A column for each body (pose, twist, acceleration, inertia) and for each velocity (axis, twist and acceleration of
    the parent, twist of the joint), seen from the ground."""
    ground = (casadi.SX.eye(3), zeros(3)), zeros(6), stack(zeros(3), -gravity(m))
    moved, bodies, joints = [], [], []
    for link in tree:
        pose, V, A = moved[link.parent] if link.parent >= 0 else ground
        pose = compose(pose, link.pose(q))
        x = link.inertia
        if link.kind.nv:
            S, own, rate = (twist_to_parent(pose, y) for y in link.motion(q, v, a))
            joints += [stack(S[:, k], V, A, own) for k in range(link.kind.nv)]
            V, A = V + own, A + rate + ad(V, own)
        moved.append((pose, V, A))
        moments = [x.second[i, j] for i, j in UPPER]
        bodies.append(stack(casadi.vec(pose[0]), pose[1], V, A, casadi.SX(x.mass), x.first, *moments))
    return casadi.horzcat(*bodies), casadi.horzcat(*joints)


UPPER = (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)


def _columns(rows: SX, *sizes: int) -> list[SX]:
    """A column cut into parts."""
    return casadi.vertsplit(rows, list(accumulate(sizes, initial=0)))


def _inertia(mass: SX, first: SX, moments: SX) -> Inertia:
    xx, xy, xz, yy, yz, zz = casadi.vertsplit(moments)
    return Inertia.of_moments(mass, first, casadi.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


@cache
def _body() -> casadi.Function:
    """A body's share of all that moves with it."""
    given = casadi.SX.sym("body", 34)
    R, p, V, A, *inertia = _columns(given, 9, 3, 6, 6, 1, 3, 6)
    x = Composite.of(_inertia(*inertia).moments_seen_from((casadi.reshape(R, 3, 3), p)), V, A)
    moments = [x.inertia.second[i, j] for i, j in UPPER]
    return casadi.Function(
        "body", [given], [stack(x.inertia.mass, x.inertia.first, *moments, x.p, casadi.vec(x.G), x.wrench)]
    )


@cache
def _joint() -> casadi.Function:
    """What an axis is to the axes beyond it, and the wrenches it sends toward the ground and to its own joint."""
    given, moved = casadi.SX.sym("joint", 24), casadi.SX.sym("composite", 28)
    mass, first, moments, p, G, wrench = _columns(moved, 1, 3, 6, 3, 9, 6)
    axes = Axes.carried(*_columns(given, 6, 6, 6, 6))
    F = Composite(_inertia(mass, first, moments), p, casadi.reshape(G, 3, 3), wrench).wrenches(axes)
    return casadi.Function("joint", [given, moved], [
        stack(axes.S, axes.rate[:3], axes.second, axes.drift),
        stack(F.inertial, F.moved, F.rate, F.dual), stack(F.inertial, F.own, F.rate, F.dual),
    ])  # fmt: skip


@cache
def _entry() -> casadi.Function:
    """W_ij, W_ji, V_ij, V_ji and M_ij."""
    axis, wrenches = casadi.SX.sym("axis", 21), casadi.SX.sym("wrenches", 21)
    (S, turned, second, drift), (inertial, moved, rate, dual) = (
        _columns(axis, 6, 3, 6, 6),
        _columns(wrenches, 6, 6, 6, 3),
    )
    made = stack(
        casadi.dot(S, moved), casadi.dot(dual, turned) + casadi.dot(inertial, second),
        casadi.dot(S, rate), casadi.dot(dual, S[:3]) + casadi.dot(inertial, drift), casadi.dot(S, inertial),
    )  # fmt: skip
    return casadi.Function("entry", [axis, wrenches], [made])


def _filled(n: int, rows: list[int], columns: list[int], above: SX, below: SX) -> SX:
    """A matrix of entries above the diagonal and below it."""
    off = [k for k, (i, j) in enumerate(zip(rows, columns, strict=True)) if i != j]
    values = casadi.horzcat(above, below[:, off]).T
    i, j = rows + [columns[k] for k in off], columns + [rows[k] for k in off]
    return casadi.SX.triplet(i, j, values, n, n)
