"""Loops: what they hold, which of it is independent, and configurations that close them.

The constraint vector Phi(q) stacks the residuals of the cut joints (Yime, 4) and of the couplings.
Its Jacobian J is taken with respect to the velocities, Phi' = J v + Phi_t, so that quaternions need
no care, and gamma is what velocities and the time leave of the second derivative: J v' = gamma. All
are exact, from one symbolic graph. Phi_t is zero unless a constraint drives the mechanism: a joint,
a distance or an angle that is a function of the time (Díaz, 2).

Some rows are in metres and some in radians. `equations` makes them comparable: rows in metres are
divided by the characteristic length, here and nowhere else, and their multipliers are moments
(`in_units`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.model import Coupling, Model
from eslabon.model.scale import row_scales, velocity_scales
from eslabon.numerics.scalars import casadi, is_symbolic


def constraint(m: Model, q: Any) -> Any:
    """Phi(q) as a CasADi column: the residuals of every loop, then of every coupling."""
    placed = placements(m, q)
    rows = []
    for loop in m.loops:
        first, second = (on_body(placed, end.body, end.at) for end in (loop.first, loop.second))
        rows.append(loop.kind.residual(*second.relative_to(first)))
    return casadi.vertcat(*rows, *(_coupled(m, q, c) for c in m.couplings))


def _coupled(m: Model, q: Any, c: Coupling) -> Any:
    source = 0.0 if c.source is None else c.ratio * q[m.coordinates[c.source]]
    return q[m.coordinates[c.joint]] - source - c.offset


def constraint_jacobian(m: Model, q: Any) -> Any:
    """J(q) as a CasADi matrix, a row for each scalar constraint."""
    return equations_in_units(m, q, None, tuple(range(len(row_names(m))))).J


class Closure(NamedTuple):
    """Phi, J, gamma and Phi_t of some rows: the constraints are Phi = 0, J v + Phi_t = 0 and J v' =
    gamma."""

    phi: Any
    J: Any
    gamma: Any
    rate: Any


def equations(
    m: Model, q: Any, v: Any | None, rows: Sequence[int], aligned: tuple[str, ...] = ()
) -> Closure:
    """The closure equations of some of the rows, comparable with one another: in radians, or in
    metres over the characteristic length. Otherwise as `equations_in_units`."""
    made = equations_in_units(m, q, v, rows, aligned)
    return Closure(*(comparable(m, x, rows) for x in made))


def comparable(m: Model, x: Any, rows: Sequence[int]) -> Any:
    """Some rows of the constraints, or of what follows from them, in radians or in metres over the
    characteristic length."""
    return _times(row_scales(m), x, rows)


def in_units(m: Model, multipliers: Any, rows: Sequence[int]) -> Any:
    """The multipliers of comparable rows in the units of these: newtons where the row is in
    metres."""
    return _times(row_scales(m), multipliers, rows)


def _times(scales: Any, x: Any, rows: Sequence[int]) -> Any:
    if not is_symbolic(scales) and np.all(scales[list(rows)] == 1.0):
        return x
    own = scales if is_symbolic(scales) else casadi.SX(scales)
    return casadi.mtimes(casadi.diag(own[list(rows), :]), x)


def equations_in_units(
    m: Model, q: Any, v: Any | None, rows: Sequence[int], aligned: tuple[str, ...] = ()
) -> Closure:
    """The closure equations of some of the rows, in metres and radians; without velocities gamma is
    left out. The rows of the loops `aligned`, which are ball joints, are in the axes of the body
    that carries all such loops, and not in those of the second frame."""
    from eslabon.formulas.kinematics.ball_loops import Ball, Outward, is_ball
    from eslabon.formulas.kinematics.loop_motion import circuits, constraint_rows

    t = casadi.SX.sym("t")
    timed, balls = m.with_time(t), {loop.name: loop for loop in m.loops if is_ball(loop)}
    walked = circuits(m, q, v, [loop for loop in m.loops if loop.name not in balls])
    seen = Outward(m, q, v)
    parts = [(casadi.SX(0, 1), casadi.SX(0, m.nv), casadi.SX(0, 1), casadi.SX(0, 1))]
    for loop in timed.loops:
        if loop.name in balls:
            parts.append(Ball(seen, balls[loop.name]).constraint_rows(loop.name in aligned))
        else:
            parts.append(constraint_rows(loop.kind, walked[loop.name], t))
    parts += [_geared(timed, q, v, c, t) for c in timed.couplings]
    found = [casadi.vertcat(*column)[list(rows), :] for column in zip(*parts, strict=True)]
    return Closure(*(casadi.substitute(found, [t], [casadi.SX(m.time)]) if m.rheonomic else found))


def _geared(m: Model, q: Any, v: Any | None, c: Coupling, t: Any) -> tuple[Any, Any, Any, Any]:
    """The row of a coupling. It is differentiated by t alone: q and v may be results of calls,
    which have no derivatives."""
    own_q, own_v, J = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv), casadi.SX(1, m.nv)
    J[m.velocities[c.joint]] = 1
    if c.source is not None:
        J[m.velocities[c.source]] = -c.ratio
    rate = casadi.jacobian(casadi.SX(_coupled(m, own_q, c)), t)
    product = casadi.SX(1, 1) if v is None else -2 * casadi.jacobian(J @ own_v, t)
    gamma = product - casadi.jacobian(rate, t)
    at = [casadi.densify(q), own_v if v is None else casadi.densify(v)]
    rate, gamma = casadi.substitute([rate, gamma], [own_q, own_v], at)
    return casadi.SX(_coupled(m, q, c)), J, gamma, rate


def row_names(m: Model) -> list[str]:
    """For each row of Phi the loop or coupling it belongs to."""
    return [x.name for x in m.loops for _ in range(x.kind.rows)] + [c.name for c in m.couplings]


def violation(
    m: Model,
    phi: Any,
    velocity_gap: Any | None = None,
    v: Any | None = None,
    acceleration_gap: Any | None = None,
) -> Any:
    """How far a state is from keeping the loops closed: what every verb compares with its tolerance.

    It is the length of Phi, J v + Phi_t and J v' - gamma, in comparable rows; those of velocities
    over the largest velocity, where that is more than 1, and those of accelerations over its square.
    A NaN in any entry shows.
    """
    rows = [phi]
    if velocity_gap is not None and v is not None:
        comparable = casadi.densify(casadi.SX(velocity_scales(m)) * v)
        speed = casadi.mmax(casadi.vertcat(1, casadi.fabs(comparable)))
        rows.append(velocity_gap / speed)
        if acceleration_gap is not None:
            rows.append(acceleration_gap / speed**2)
    return casadi.norm_2(casadi.densify(casadi.vertcat(*rows)))
