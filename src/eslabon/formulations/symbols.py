"""A few words for writing mechanics in CasADi matrices, in which a zero that is known stays a structural zero."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from eslabon.kinematics.tree import across, coordinates, velocities
from eslabon.model import Joint, Mechanism

SX = Any  # casadi.SX


def lean(x: Any) -> SX:
    """A CasADi matrix without stored zeros."""
    return casadi.sparsify(_matrix(x))


def _matrix(x: Any) -> SX:
    return x if isinstance(x, casadi.SX) else casadi.SX(x)  # CasADi's own conversion is slow


def zeros(rows: int, columns: int = 1) -> SX:
    return casadi.SX(rows, columns)


def skew(u: SX) -> SX:
    """The matrix of u x."""
    return casadi.sparsify(casadi.skew(u))


def cross(u: SX, w: SX) -> SX:
    return casadi.sparsify(casadi.mtimes(skew(u), w))


def product(*factors: Any) -> SX:
    made = _matrix(factors[0])
    for factor in factors[1:]:
        made = casadi.sparsify(casadi.mtimes(made, _matrix(factor)))
    return made


def symmetric(A: SX) -> SX:
    """A matrix known to be symmetric, by its upper triangle: the graph cannot see that the other one is the same."""
    return casadi.triu2symm(casadi.triu(A))


def stack(*blocks: SX) -> SX:
    return casadi.vertcat(*blocks)


def pose_across(m: Mechanism, q: SX, joint: Joint) -> tuple[SX, SX]:
    """Rotation and position of a joint's outer frame in the parent's frame."""
    R, p = across(m, q, joint)
    return lean(R), lean(p)


def joint_motion(m: Mechanism, joint: Joint, q: SX, v: SX, a: SX) -> tuple[SX, SX, SX]:
    """The motion subspace S, the relative twist S v and its rate S a + S' v, in the outer frame."""
    if not joint.nv:
        return zeros(6, 0), zeros(6), zeros(6)
    own, rates = coordinates(m, q, joint), velocities(m, v, joint)
    S = lean(joint.kind.motion(own))
    drift = product(joint.kind.motion_rate(own, rates), rates)
    return S, product(S, rates), lean(product(S, velocities(m, a, joint)) + drift)


def gravity(m: Mechanism) -> SX:
    return lean(
        np.array(m.gravity) if not any(isinstance(g, casadi.SX) for g in m.gravity) else casadi.vertcat(*m.gravity)
    )
