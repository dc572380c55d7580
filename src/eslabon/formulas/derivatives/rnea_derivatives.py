"""Recursive sensitivities: the exact derivatives of all joint forces by q, v and v' in one
recursion (Rojas, 5.3: delta tau = U delta v' + V delta v + W delta q, with U = M).

A joint's axis S, carried by its parent (twist V_p, acceleration A_p, the ground accelerating
upward), has the rates S' = V_p x S and S'' = A_p x S + V_p x S'. A change of q_i moves everything
beyond axis i as one body, which changes no joint force beyond it; what is left is a change S'_i of
the twists and S''_i of the accelerations there. With all bodies beyond axis j as one, of inertia
I_j, needing the wrench f_j, and B_j x its Coriolis wrench for a twist x,

    M_ij      = S_i . I_j S_j                                  i = j or nearer to the ground than j
    W_ij      = S_i . (2 B_j S'_j + I_j S''_j + S_j x* f_j)    the last term not within one joint
    W_ji      = S_j . (2 B_j S'_i + I_j S''_i)
    V_ij      = S_i . (2 B_j S_j + I_j (S'_j + V_j x S_j))
    V_ji      = S_j . (2 B_j S_i + I_j (S'_i + V_i x S_i))

B has twelve numbers, p = sum m v and G = sum m v r^T over the particles: B x = [(tr G 1 - G) w; w x
p] with w the angular half of x. In Rojas' words these are eqs. 5.3.10-5.3.18, seen from the ground.
His V is right. His W (5.3.18) is not: in (5.3.10) an axis e_j turns with every theta_k, though it
does only for k < j; identity (5.3.13) does not hold; and the third derivatives of positions count
twice where they should once. Here W_ij and W_ji are what differentiation gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from eslabon.compiler.calls import repeat, scan
from eslabon.formulas.formulations.crba import depth, on_paths
from eslabon.formulas.kinematics.links import Link, serial
from eslabon.formulas.kinematics.symbols import flat, gravity, stack, zeros
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import (
    Inertia,
    RigidTransform,
    ad,
    angular_and_linear,
    cross,
    skew,
    twist_to_parent,
    wrench_to_parent,
)
from eslabon.numerics.traced_steps import traced_once

MANY = 45  # pairs of joints on one path to the ground, from which on everything is seen from there


class Derivatives(NamedTuple):
    """The derivatives of all joint forces by q (along the velocities), by v, and by v'."""

    W: Expression
    V: Expression
    M: Expression


def derivatives(m: Model, q: Expression, v: Expression, a: Expression) -> Derivatives:
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

    S: Expression
    rate: Expression
    second: Expression
    drift: Expression

    @staticmethod
    @traced_once
    def of_joint(S: Expression, V: Expression, A: Expression, own: Expression) -> Axes:
        """By a parent of twist V and acceleration A; `own` is the joint's own twist."""
        rate = ad(V, S)
        return Axes(S, rate, ad(A, S) + ad(V, rate), 2 * rate + ad(own, S))


@dataclass(frozen=True)
class Composite:
    """Bodies that move as one: their inertia, p and G of their particles, and the wrench they
    need."""

    inertia: Inertia
    p: Expression
    G: Expression
    wrench: Expression

    @staticmethod
    @traced_once
    def of(inertia: Inertia, V: Expression, A: Expression) -> Composite:
        """One body: its particles have the velocities u + w x r, and the accelerations a + U r."""
        (w, u), (turning, rise) = angular_and_linear(V), angular_and_linear(A)
        U = skew(turning) + skew(w) @ skew(w)
        p, G = (
            inertia.mass * u + cross(w, inertia.first),
            u @ inertia.first.T + skew(w) @ inertia.second,
        )
        return Composite(inertia, p, G, inertia.wrench(U, rise + cross(w, u)))

    def __add__(self, other: Composite) -> Composite:
        return Composite(
            self.inertia + other.inertia,
            self.p + other.p,
            self.G + other.G,
            self.wrench + other.wrench,
        )

    def in_parent_frame(self, pose: RigidTransform) -> Composite:
        """The same about the parent's frame."""
        R, reach = pose
        p = R @ self.p
        moved = self.inertia.moments_in_parent_frame(pose)
        return Composite(
            moved, p, R @ self.G @ R.T + p @ reach.T, wrench_to_parent(pose, self.wrench)
        )

    @traced_once
    def wrenches(self, x: Axes) -> Wrenches:
        """What the axes of the joint that carries it send toward the ground."""
        turn = casadi.trace(self.G) * casadi.SX.eye(3) - self.G

        def coriolis(twists: Expression) -> Expression:
            w, _ = angular_and_linear(2 * twists)
            return casadi.vertcat(turn @ w, -cross(self.p, w))

        (w, u), (moment, force) = angular_and_linear(x.S), angular_and_linear(self.wrench)
        turned = casadi.vertcat(-cross(moment, w) - cross(force, u), -cross(force, w))  # S x* f
        own = coriolis(x.rate) + self.inertia.momentum(x.second)
        return Wrenches(
            self.inertia.momentum(x.S),
            own + turned,
            coriolis(x.S) + self.inertia.momentum(x.drift),
            2 * (turn.T @ w + cross(self.p, u)),
            own,
        )


class Wrenches(NamedTuple):
    """Of a joint's axes: I S, the wrench of W, that of V, the angular half of 2 B^T S, and W's
    within the joint."""

    inertial: Expression
    moved: Expression
    rate: Expression
    dual: Expression
    own: Expression

    @traced_once
    def to_parent(self, pose: RigidTransform) -> Wrenches:
        inertial, moved, rate = (wrench_to_parent(pose, x) for x in self[:3])
        return Wrenches(inertial, moved, rate, pose.R @ self.dual, self.own)


def of_links(
    m: Model, tree: Sequence[Link], q: Expression, v: Expression, a: Expression
) -> Derivatives:
    """Everything in body axes: an entry costs the way of a wrench from joint to joint, a body next
    to nothing."""
    poses, axes, bodies = _in_bodies(m, tree, q, v, a)
    made = Derivatives(*(zeros(m.nv, m.nv) for _ in range(3)))
    for k in reversed(range(len(tree))):
        link = tree[k]
        if link.parent >= 0:
            moved = bodies[k]
            for pose in poses[k]:
                moved = moved.in_parent_frame(pose)
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
            made.M[there, here], made.W[there, here], made.V[there, here] = (
                x.S.T @ y for y in F[:3]
            )
            made.M[here, there] = made.M[there, here].T
            made.W[here, there] = F.dual.T @ x.rate[:3, :] + F.inertial.T @ x.second
            made.V[here, there] = F.dual.T @ x.S[:3, :] + F.inertial.T @ x.drift
    return made


Steps = tuple[
    RigidTransform, RigidTransform
]  # from a body to its joint's seat, and from there to the parent: each with few entries


def _in_bodies(
    m: Model, tree: Sequence[Link], q: Expression, v: Expression, a: Expression
) -> tuple[list[Steps], list[Axes], list[Composite]]:
    """The poses, axes and bodies of a tree, each in its own axes."""
    V, A = [zeros(6)] * len(tree), [zeros(6)] * len(tree)
    poses: list[Steps] = []
    axes, bodies = [], []
    for k, link in enumerate(tree):
        turn, shift = link.turn(q)
        poses.append(
            (RigidTransform(turn, zeros(3)), RigidTransform(link.R, link.p + link.R @ shift))
        )
        carried = (
            (V[link.parent], A[link.parent])
            if link.parent >= 0
            else (zeros(6), stack(zeros(3), -gravity(m)))
        )
        V0, A0 = (_to_child(poses[k], x) for x in carried)
        S, own, rate = link.motion(q, v, a)
        axes.append(Axes.of_joint(S, V0, A0, own))
        V[k], A[k] = V0 + own, A0 + rate + ad(V0, own)
        bodies.append(Composite.of(link.inertia, V[k], A[k]))
    return poses, axes, bodies


@traced_once
def _to_child(steps: Steps, x: Expression) -> Expression:
    (turn, _), (R, reach) = steps
    w, u = angular_and_linear(x)
    u = u - cross(reach, w)
    return casadi.vertcat(turn.T @ (R.T @ w), turn.T @ (R.T @ u))


def in_ground(
    m: Model, tree: Sequence[Link], q: Expression, v: Expression, a: Expression
) -> Derivatives:
    """Everything seen from the ground: a body costs more, an entry much less."""
    return Ground(m, tree, q, v).derivatives(a)


class Ground:
    """A tree in motion, seen from the ground, by loops over its bodies, joints and pairs of joints:
    native code has each formula once, however long a chain is. Accelerations may follow from its
    equations of motion before they are given."""

    def __init__(self, m: Model, tree: Sequence[Link], q: Expression, v: Expression) -> None:
        self.m, self.tree = m, tree
        self.parents, self.bodies = [link.parent for link in tree], range(len(tree))
        self.owner = [
            k for k, link in enumerate(tree) for _ in range(link.kind.nv)
        ]  # of each velocity
        axes = [link.motion(q, v, v)[:2] for link in tree]
        joints = [
            stack(flat(R), p, own)
            for (R, p), (_, own) in zip((x.pose(q) for x in tree), axes, strict=True)
        ]
        self.ground = (
            stack(flat(casadi.SX.eye(3)), zeros(3)),
            zeros(6),
            stack(zeros(3), -gravity(m)),
        )
        back = [(k, self.parents, first) for k, first in enumerate(self.ground)]
        self.poses, self.V, self.A, self.own = scan(_outward(), self._all(joints), back=back)
        inertias = [stack(x.inertia.mass, x.inertia.first, _upper(x.inertia.second)) for x in tree]
        self.shares = repeat(_body(), *map(self._all, (self.poses, self.V, self.A, inertias)))
        self.composites = self._inward(self.shares)
        local = casadi.horzcat(zeros(6, 0), *(S for S, _ in axes))
        self.local = [casadi.densify(S) for S, _ in axes]
        self.S = repeat(_axis(), (self.poses, self.owner), (local, range(m.nv)))

    def _all(self, columns: Expression | list[Expression]) -> tuple[Expression, range]:
        return (casadi.horzcat(*columns) if isinstance(columns, list) else columns), self.bodies

    def _inward(self, shares: Expression) -> Expression:
        """What lies beyond each joint, itself and all its descendants: the sum of its own share,
        and of its first child's with that child's siblings."""
        n, rows = len(self.tree), shares.shape[0]
        first, beside = [-1] * n, [-1] * n
        for k in reversed(self.bodies):
            if self.parents[k] >= 0:
                first[self.parents[k]], beside[k] = k, first[self.parents[k]]
        order = list(reversed(self.bodies))
        back = [
            (1, [n - 1 - x[k] if x[k] >= 0 else -1 for k in order], zeros(rows))
            for x in (first, beside)
        ]
        sums, _ = scan(_sums(rows), (shares, order), back=back)
        return sums[:, order]

    def equations_of_motion(self) -> tuple[Expression, Expression]:
        """M, and the forces h that hold the accelerations at zero."""
        inertial, bias = repeat(
            _inertial(), (self.S, range(self.m.nv)), (self.composites, self.owner)
        )
        rows, columns = on_paths(self.tree, self.m.nv)
        entries = repeat(_power(), (self.S, rows), (inertial, columns))
        return _matrix_from_entries(self.m.nv, rows, columns, entries, entries), bias.T

    def derivatives(self, a: Expression) -> Derivatives:
        """W, V and M at these accelerations."""
        nv = self.m.nv
        lifted = [
            S @ a[x.v] if x.kind.nv else zeros(6)
            for S, x in zip(self.local, self.tree, strict=True)
        ]
        lift = scan(
            _lift(), self._all(self.poses), self._all(lifted), back=[(0, self.parents, zeros(6))]
        )
        more = self._inward(repeat(_push(), self._all(self.shares), self._all(lift)))
        carried = [self.parents[k] + 1 for k in self.owner]
        V, A, lift = (
            casadi.horzcat(x, y)
            for x, y in zip((*self.ground[1:], zeros(6)), (self.V, self.A, lift), strict=True)
        )
        axes, across, within = repeat(
            _joint(),
            (self.S, range(nv)),
            (self.own, self.owner),
            *((x, carried) for x in (V, A, lift)),
            (self.composites, self.owner),
            (more, self.owner),
        )
        rows, columns = on_paths(self.tree, nv)
        taken = [
            j + nv * (self.owner[i] == self.owner[j]) for i, j in zip(rows, columns, strict=True)
        ]
        entries = repeat(_entry(), (axes, rows), (casadi.horzcat(across, within), taken))
        filled = (
            _matrix_from_entries(nv, rows, columns, entries[k, :], entries[n, :])
            for k, n in ((0, 1), (2, 3), (4, 4))
        )
        return Derivatives(*filled)


def _upper(moments: Expression) -> Expression:
    return stack(*(moments[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))))


def _inertia(numbers: Expression) -> Inertia:
    mass, x, y, z, xx, xy, xz, yy, yz, zz = casadi.vertsplit(numbers)
    return Inertia.from_moments(
        mass, stack(x, y, z), casadi.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    )


def _pose(numbers: Expression) -> RigidTransform:
    return RigidTransform(casadi.reshape(numbers[:9], 3, 3), numbers[9:])


def function(name: str, sizes: Sequence[int], formula: Callable[..., Any]) -> casadi.Function:
    """A formula of columns of these sizes."""
    given = [casadi.SX.sym(f"x{k}", size) for k, size in enumerate(sizes)]
    made = formula(*given)
    return casadi.Function(name, given, list(made) if isinstance(made, tuple) else [made])


@cache
def _outward() -> casadi.Function:
    """Pose, twist and acceleration of a body whose joint has a pose and a twist of its own, from
    its parent's."""

    def formula(
        joint: Expression, parent: Expression, V: Expression, A: Expression
    ) -> tuple[Expression, ...]:
        pose = _pose(parent) @ _pose(joint[:12])
        own = twist_to_parent(pose, joint[12:])
        return stack(flat(pose.R), pose.p), V + own, A + ad(V, own), own

    return function("outward", (18, 12, 6, 6), formula)


@cache
def _lift() -> casadi.Function:
    """What the joints' accelerations add to a body's."""
    return function(
        "lift", (12, 6, 6), lambda pose, own, parent: parent + twist_to_parent(_pose(pose), own)
    )


@cache
def _body() -> casadi.Function:
    """A body's share of all that moves with it."""

    def formula(pose: Expression, V: Expression, A: Expression, inertia: Expression) -> Expression:
        x = Composite.of(_inertia(inertia).moments_in_parent_frame(_pose(pose)), V, A)
        return stack(
            x.inertia.mass, x.inertia.first, _upper(x.inertia.second), x.p, flat(x.G), x.wrench
        )

    return function("body", (12, 6, 6, 10), formula)


@cache
def _push() -> casadi.Function:
    """The wrench for what the joints' accelerations add."""
    return function("push", (28, 6), lambda share, lift: _inertia(share[:10]).momentum(lift))


@cache
def _sums(rows: int) -> casadi.Function:
    """A body with all beyond it, and the same with its siblings."""
    return function(
        "sums", (rows,) * 3, lambda own, below, beside: (own + below, own + below + beside)
    )


@cache
def _axis() -> casadi.Function:
    return function("axis", (12, 6), lambda pose, S: twist_to_parent(_pose(pose), S))


@cache
def _inertial() -> casadi.Function:
    """I S, and S . f."""
    return function(
        "inertial", (6, 28), lambda S, x: (_inertia(x[:10]).momentum(S), casadi.dot(S, x[22:]))
    )


@cache
def _power() -> casadi.Function:
    return function("power", (6, 6), casadi.dot)


@cache
def _joint() -> casadi.Function:
    """What an axis is to the axes beyond it, and the wrenches it sends toward the ground and to its
    own joint."""

    def formula(
        S: Expression,
        own: Expression,
        V: Expression,
        A: Expression,
        lift: Expression,
        x: Expression,
        more: Expression,
    ) -> tuple[Expression, ...]:
        axes = Axes.of_joint(S, V, A + lift, own)
        G = casadi.reshape(x[13:22], 3, 3)
        F = Composite(_inertia(x[:10]), x[10:13], G, x[22:] + more).wrenches(axes)
        return (
            stack(axes.S, axes.rate[:3], axes.second, axes.drift),
            stack(F.inertial, F.moved, F.rate, F.dual),
            stack(F.inertial, F.own, F.rate, F.dual),
        )

    return function("joint", (6, 6, 6, 6, 6, 28, 6), formula)


@cache
def _entry() -> casadi.Function:
    """W_ij, W_ji, V_ij, V_ji and M_ij."""

    def formula(axis: Expression, wrenches: Expression) -> Expression:
        S, turned, second, drift = axis[:6], axis[6:9], axis[9:15], axis[15:]
        inertial, moved, rate, dual = wrenches[:6], wrenches[6:12], wrenches[12:18], wrenches[18:]
        return stack(
            casadi.dot(S, moved),
            casadi.dot(dual, turned) + casadi.dot(inertial, second),
            casadi.dot(S, rate),
            casadi.dot(dual, S[:3]) + casadi.dot(inertial, drift),
            casadi.dot(S, inertial),
        )

    return function("entry", (21, 21), formula)


def _matrix_from_entries(
    n: int, rows: list[int], columns: list[int], above: Expression, below: Expression
) -> Expression:
    """A matrix of entries above the diagonal and below it."""
    off = [k for k, (i, j) in enumerate(zip(rows, columns, strict=True)) if i != j]
    values = casadi.horzcat(above, below[:, off]).T
    i, j = rows + [columns[k] for k in off], columns + [rows[k] for k in off]
    return casadi.SX.triplet(i, j, values, n, n)
