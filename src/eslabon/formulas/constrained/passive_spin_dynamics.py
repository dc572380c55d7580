"""Passive spins in a prescribed motion: their accelerations follow from their own equations.

With N the spins as motions of all joints, N^T (M v' + h) = 0, since no actuator does work in them. So
of the accelerations that are given, those of the spins do not count: v' becomes v' + N s with

    (N^T M N) s = -N^T (M v' + h).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eslabon.formulas.kinematics.symbols import symmetric, zeros
from eslabon.formulas.linear_solvers import OrthogonalFactors, factors
from eslabon.formulas.structure import Partition, PassiveSpin
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.tolerances import MASSLESS


def connected_spins(spins: Sequence[PassiveSpin]) -> list[tuple[PassiveSpin, ...]]:
    """Spins grouped by the joints they share, as two that follow one another in a leg do."""
    groups: list[list[PassiveSpin]] = []
    for spin in spins:
        joined = [g for g in groups if any(set(x.joints) & set(spin.joints) for x in g)]
        groups = [g for g in groups if g not in joined]
        groups.append([*(x for g in joined for x in g), spin])
    return [tuple(g) for g in groups]


def spin_velocities(m: Model, spins: Sequence[PassiveSpin]) -> tuple[int, ...]:
    """The velocities that take part in some spins: those of the joints which hold the bodies, and
    which no actuator drives."""
    holding = {name for spin in spins for name in spin.joints}
    return tuple(
        k
        for j in m.joints
        if j.name in holding
        for k in range(m.nv)[m.velocities[j.name]]
        if k not in m.actuated_velocities
    )


def spin_motions(
    m: Model,
    spins: Sequence[PassiveSpin],
    p: Partition,
    J: Expression,
    dependent_factors: OrthogonalFactors,
) -> Expression:
    """N: the motions of all joints in which one of the velocities `p.spins` is 1 and all other
    independent ones are 0. Entries of joints that take no part are left out."""
    followed = -dependent_factors.solve(J[:, list(p.spins)])
    groups = [set(spin_velocities(m, group)) for group in connected_spins(spins)]
    N = zeros(m.nv, len(p.spins))
    for column, k in enumerate(p.spins):
        N[k, column] = 1
        moving = next(group for group in groups if k in group)
        for row, e in enumerate(p.dependent):
            if e in moving:
                N[e, column] = followed[row, column]
    return N


class FollowedSpins(NamedTuple):
    """All accelerations with the spins' own, and the forces M v' + h of that motion."""

    a: Expression
    forces: Expression


def follow_spins(
    N: Expression, M: Expression, a: Expression, forces: Expression, floor: Sequence[float]
) -> FollowedSpins:
    """The motion with the accelerations that spins have by themselves.

    `floor` are the inertias that count as none for each spin times `MASSLESS`: a slender rod without
    inertia about its axis spins as it was told to, which takes no force.
    """
    MN = M @ N
    least = casadi.diag(casadi.SX([MASSLESS * x for x in floor]))
    s = factors(symmetric(N.T @ MN) + least).solve(-N.T @ forces)
    return FollowedSpins(a + N @ s, forces + MN @ s)
