"""A few words for writing mechanics in CasADi matrices."""

from __future__ import annotations

from typing import Any

from eslabon.formulas.kinematics.tree import across, coordinates, velocities
from eslabon.model import Joint, JointKind, Model
from eslabon.numerics.scalars import casadi
from eslabon.numerics.spatial import Pose
from eslabon.numerics.traced_steps import traced_once

SX = Any  # casadi.SX


def constant(x: Any) -> SX:
    """Numbers of a model as a CasADi matrix, their zeros left out."""
    return casadi.sparsify(x if isinstance(x, casadi.SX) else casadi.SX(x))


def column(numbers: Any) -> SX:
    """Three numbers of a model, perhaps symbols, as a column."""
    return constant(casadi.vertcat(*numbers))


def zeros(rows: int, columns: int = 1) -> SX:
    return casadi.SX(rows, columns)


def symmetric(A: SX) -> SX:
    """A matrix known to be symmetric, by its upper triangle: the graph cannot see that the other one is the same."""
    return casadi.triu2symm(casadi.triu(A))


def stack(*blocks: SX) -> SX:
    return casadi.vertcat(zeros(0), *blocks)


def pose_across(m: Model, q: SX, joint: Joint) -> Pose:
    """Rotation and position of a joint's outer frame in the parent's frame."""
    R, p = across(m, q, joint)
    return constant(R), constant(p)


def joint_motion(m: Model, joint: Joint, q: SX, v: SX, a: SX) -> tuple[SX, SX, SX]:
    """The motion subspace S, the relative twist S v and its rate S a + S' v, in the outer frame."""
    return motion(joint.kind, coordinates(m, q, joint), velocities(m, v, joint), velocities(m, a, joint))


def motion(kind: JointKind, q: SX, v: SX, a: SX) -> tuple[SX, SX, SX]:
    """The same, of the joint's own coordinates, velocities and accelerations."""
    if not kind.nv:
        return zeros(6, 0), zeros(6), zeros(6)
    return _motion_of_plain(q, v, a, kind=kind) if kind.is_plain else _motion(q, v, a, kind)


def _motion(q: SX, v: SX, a: SX, kind: JointKind) -> tuple[SX, SX, SX]:
    S = constant(kind.motion(q))
    return S, S @ v, S @ a + constant(kind.motion_rate(q, v)) @ v


_motion_of_plain = traced_once(_motion)


def gravity(m: Model) -> SX:
    return column(m.gravity)
