"""Loops: what they hold, which of it is independent, and configurations that close them.

The constraint vector Phi(q) stacks the residuals of the cut joints (Yime, 4) and of the couplings. Its Jacobian J is
taken with respect to the velocities, Phi' = J v, so that quaternions need no care, and gamma is the velocity product:
J v' = gamma. All are exact, from one symbolic graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eslabon.kinematics.tree import coordinate_rates, on_body, placements, relative
from eslabon.model import Model


def constraint(m: Model, q: Any) -> Any:
    """Phi(q) as a CasADi column: the residuals of every loop, then of every coupling."""
    import casadi

    placed = placements(m, q)
    rows = []
    for loop in m.loops:
        first, second = (on_body(placed, end.body, end.at) for end in (loop.first, loop.second))
        rows.append(loop.kind.residual(*relative(first, second)))
    for c in m.couplings:
        driven, source = (q[m.coordinates[name]] for name in (c.joint, c.source))
        rows.append(driven - c.ratio * source - c.offset)
    return casadi.vertcat(*rows)


def constraint_jacobian(m: Model, q: Any) -> Any:
    """J(q) as a CasADi matrix, a row for each scalar constraint."""
    import casadi

    return casadi.mtimes(casadi.jacobian(constraint(m, q), q), coordinate_rates(m, q))


def equations(m: Model, q: Any, v: Any, rows: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """Phi, J and gamma of some of the rows."""
    import casadi

    from eslabon.kinematics.circuit import circuits, held

    parts = [(casadi.SX(0, 1), casadi.SX(0, m.nv), casadi.SX(0, 1))]
    parts += [held(loop.kind, walked) for loop, walked in zip(m.loops, circuits(m, q, v), strict=True)]
    for c in m.couplings:
        (driven, source), row = (q[m.coordinates[name]] for name in (c.joint, c.source)), casadi.SX(1, m.nv)
        row[m.velocities[c.joint]], row[m.velocities[c.source]] = 1, -c.ratio
        parts.append((driven - c.ratio * source - c.offset, row, casadi.SX(1, 1)))
    phi, J, gamma = (casadi.vertcat(*column)[list(rows), :] for column in zip(*parts, strict=True))
    return phi, J, gamma


def row_names(m: Model) -> list[str]:
    """For each row of Phi the loop or coupling it belongs to."""
    return [x.name for x in m.loops for _ in range(x.kind.rows)] + [c.name for c in m.couplings]


@dataclass(frozen=True)
class Partition:
    """The independent rows of Phi, and a partitioning of the velocities: `dependent` follow from `independent`."""

    rows: tuple[int, ...]
    independent: tuple[int, ...]
    dependent: tuple[int, ...]


@dataclass(frozen=True)
class Structure:
    """What a model's numbers say of its equations, found once and handed to the formulas.

    Attributes
    ----------
    partition : independent rows and velocities.
    rows : retained constraint rows, which hold all that the loops hold in every configuration.
    penalty : rho for which M + rho J^T J is invertible.
    row_sizes : the diagonal of J M^-1 J^T at an ordinary configuration, for all rows.
    floor : for each velocity, the inertia that counts as nothing.
    """

    partition: Partition
    rows: tuple[int, ...] = ()
    penalty: float = 0.0
    row_sizes: tuple[float, ...] = ()
    floor: tuple[float, ...] = ()
