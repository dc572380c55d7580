"""A few words for writing mechanics in CasADi matrices."""

from __future__ import annotations

from typing import Any

from eslabon.formulas.kinematics.tree import coordinates, joint_transform, velocities
from eslabon.model import Joint, JointKind, Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import RigidTransform
from eslabon.numerics.traced_steps import traced_once


def constant(x: Any) -> Expression:
    """Numbers of a model as a CasADi matrix, their zeros left out."""
    return casadi.sparsify(x if isinstance(x, casadi.SX) else casadi.SX(x))


def column(numbers: Any) -> Expression:
    """Three numbers of a model, perhaps symbols, as a column."""
    return constant(casadi.vertcat(*numbers))


def zeros(rows: int, columns: int = 1) -> Expression:
    return casadi.SX(rows, columns)


def symmetric(A: Expression) -> Expression:
    """A matrix known to be symmetric, by its upper triangle: the graph cannot see that the other
    one is the same."""
    return casadi.triu2symm(casadi.triu(A))


def flat(A: Expression) -> Expression:
    """All entries of a matrix in one column, column by column."""
    return casadi.SX(casadi.vec(A))


def stack(*blocks: Expression) -> Expression:
    return casadi.vertcat(zeros(0), *blocks)


def symbolic_transform(pose: RigidTransform) -> RigidTransform:
    """A pose as CasADi matrices, their zeros left out."""
    return RigidTransform(constant(pose.R), constant(pose.p))


def pose_across(m: Model, q: Expression, joint: Joint) -> RigidTransform:
    """The pose of a joint's outer frame in the parent's frame, in symbols."""
    return symbolic_transform(joint_transform(m, q, joint))


def joint_motion(
    m: Model, joint: Joint, q: Expression, v: Expression, a: Expression
) -> tuple[Expression, Expression, Expression]:
    """The motion subspace S, the relative twist S v and its rate S a + S' v, in the outer frame."""
    return motion(
        joint.kind, coordinates(m, q, joint), velocities(m, v, joint), velocities(m, a, joint)
    )


def motion(
    kind: JointKind, q: Expression, v: Expression, a: Expression
) -> tuple[Expression, Expression, Expression]:
    """The same, of the joint's own coordinates, velocities and accelerations."""
    if not kind.nv:
        return zeros(6, 0), zeros(6), zeros(6)
    return _motion_of_plain(q, v, a, kind=kind) if kind.is_plain else _motion(q, v, a, kind)


def _motion(
    q: Expression, v: Expression, a: Expression, kind: JointKind
) -> tuple[Expression, Expression, Expression]:
    S = constant(kind.motion(q))
    return S, S @ v, S @ a + constant(kind.motion_rate(q, v)) @ v


_motion_of_plain = traced_once(_motion)


def gravity(m: Model) -> Expression:
    return column(m.gravity)
