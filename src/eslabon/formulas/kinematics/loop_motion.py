"""Once around a loop: the relative motion of a cut joint's two frames, by the joints between them
and no others.

The walk starts at the second frame, goes inward to the body both ends stand on, then outward to the
first frame, and keeps where the second frame stands in the frame it has reached. That pose turns a
joint's twists into the second frame, so that the Jacobian costs little more than the pose;
differentiating the residual by all coordinates costs ten times as much, and finds zeros only as
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from eslabon.formulas.kinematics.symbols import pose_across, symbolic_transform
from eslabon.formulas.kinematics.tree import (
    chain,
    coordinates,
    velocities,
)
from eslabon.model import Joint, Loop, Model
from eslabon.model.constraints import ClosureKind
from eslabon.numerics.scalars import Expression, casadi, is_symbolic
from eslabon.numerics.spatial import RigidTransform, ad, twist_to_child
from eslabon.numerics.traced_steps import traced_once

Path = list[tuple[Joint, bool]]  # joints, and whether each is passed toward the ground


@dataclass(frozen=True)
class Circuit:
    """The second frame in the first, and its relative twist J v = V with V' = J v' + drift, in the
    second frame; and the joints between the two, from the second frame on."""

    R: Expression
    p: Expression
    J: Expression
    V: Expression
    drift: Expression
    path: Path


def circuits(
    m: Model, q: Expression, v: Expression | None, loops: Sequence[Loop] | None = None
) -> dict[str, Circuit]:
    """The relative motion of the frames of loops, all if none are named; at rest without
    velocities."""
    loops = m.loops if loops is None else loops
    paths = [_path(m, loop) for loop in loops]
    passed = {joint.name: joint for path in paths for joint, _ in path}
    poses = {name: pose_across(m, q, joint) for name, joint in passed.items()}
    return {
        loop.name: _walk_around(m, q, v, loop, path, poses)
        for loop, path in zip(loops, paths, strict=True)
    }


def _path(m: Model, loop: Loop) -> Path:
    """The joints from the second frame to the first."""
    first, second = (chain(m, end.body) for end in (loop.first, loop.second))
    common = sum(a.name == b.name for a, b in zip(first, second, strict=False))
    return [(joint, True) for joint in reversed(second[common:])] + [
        (joint, False) for joint in first[common:]
    ]


def _walk_around(
    m: Model,
    q: Expression,
    v: Expression | None,
    loop: Loop,
    path: Path,
    poses: dict[str, RigidTransform],
) -> Circuit:
    here = symbolic_transform(loop.second.at.transform())
    J, V, drift = casadi.SX(6, m.nv), casadi.SX(6, 1), casadi.SX(6, 1)
    for joint, inward in path:
        if not inward:
            here = here.relative_to(poses[joint.name])
        if joint.nv:
            own, sign = coordinates(m, q, joint), 1 if inward else -1
            S = sign * twist_to_child(here, casadi.SX(joint.kind.motion(own)))
            J[:, m.velocities[joint.name]] = S
        if joint.nv and v is not None:
            rates = velocities(m, v, joint)
            V, drift = _moving(V, drift, S, rates)
            change = joint.kind.motion_rate(own, rates)
            if is_symbolic(
                change
            ):  # otherwise the twists are fixed in the body, and the change is zero
                drift += sign * twist_to_child(here, change @ rates)
        if inward:
            here = poses[joint.name] @ here
    R, p = here.relative_to(symbolic_transform(loop.first.at.transform()))
    return Circuit(R, p, J, V, drift, path)


@traced_once
def _moving(
    V: Expression, drift: Expression, S: Expression, rates: Expression
) -> tuple[Expression, Expression]:
    """The twist and its drift with a joint more."""
    own = S @ rates
    return V + own, drift - ad(V, own)


class Closing(NamedTuple):
    """What a cut joint holds, of symbols for the pose, twist and acceleration of its second frame
    in the first, and how the pose changes with a twist: R' = R skew(w), p' = R u."""

    R: Expression
    p: Expression
    V: Expression
    A: Expression
    pose: Expression
    rates: Expression
    residual: Expression
    G: Expression  # of the twist
    second: Expression  # second derivative of the residual

    def by_pose(self, x: Expression) -> Expression:
        """The Jacobian by a twist of the second frame."""
        return casadi.jacobian(x, self.pose) @ self.rates

    def at(
        self, expressions: list[Expression], x: Circuit, A: Expression | None = None
    ) -> list[Expression]:
        """The expressions where a circuit stands."""
        seen = [casadi.densify(y) for y in (x.R, x.p, x.V, casadi.SX(6, 1) if A is None else A)]
        found: list[Expression] = casadi.substitute(
            expressions, [self.R, self.p, self.V, self.A], seen
        )
        return [casadi.sparsify(y) for y in found]


def closing(kind: ClosureKind, t: Expression, rows: Sequence[int] | None = None) -> Closing:
    """The residual Phi of a cut joint, or some rows of it; its derivative is G V + Phi_t and the
    second one G A + G' V + 2 Phi_Vt V + Phi_tt. The kind may depend on the time `t`."""
    R, p, V, A = (
        casadi.SX.sym(name, *shape)
        for name, shape in (("R", (3, 3)), ("p", (3,)), ("V", (6,)), ("A", (6,)))
    )
    pose, basis = casadi.vertcat(casadi.vec(R), p), casadi.SX.eye(3)
    rates = casadi.diagcat(
        casadi.horzcat(*(casadi.vec(R @ casadi.skew(basis[:, k])) for k in range(3))), R
    )
    residual = casadi.SX(kind.residual(R, p))
    residual = residual if rows is None else residual[list(rows), :]
    G = casadi.jacobian(residual, pose) @ rates
    second = G @ A + casadi.jtimes(G @ V, pose, rates @ V)
    second += 2 * casadi.jacobian(G @ V, t) + casadi.jacobian(casadi.jacobian(residual, t), t)
    return Closing(R, p, V, A, pose, rates, residual, G, second)


def constraint_rows(
    kind: ClosureKind, x: Circuit, t: Expression
) -> tuple[Expression, Expression, Expression, Expression]:
    """The residual Phi of a cut joint, its Jacobian J, gamma and Phi_t: the first derivative is J v
    + Phi_t, the second J v' - gamma."""
    if kind.is_plain:
        residual, G, change, varying = _rows_without_symbols(x.R, x.p, x.V, kind=kind)
    else:
        c = closing(kind, t)
        residual, G, change, varying = c.at(_row_terms(c, t), x)
    return residual, G @ x.J, -change - G @ x.drift, varying


def _row_terms(c: Closing, t: Expression) -> list[Expression]:
    """The residual, G, what the twist leaves of the second derivative, and Phi_t."""
    return [c.residual, c.G, c.second - c.G @ c.A, casadi.jacobian(c.residual, t)]


@traced_once
def _rows_without_symbols(
    R: Expression, p: Expression, V: Expression, kind: ClosureKind
) -> tuple[Expression, ...]:
    """The same of a kind without symbols, for the pose and twist of its second frame in the
    first."""
    t = casadi.SX.sym("t")
    c = closing(kind, t)
    return tuple(
        casadi.substitute(_row_terms(c, t), [c.R, c.p, c.V, c.A], [R, p, V, casadi.SX.zeros(6)])
    )
