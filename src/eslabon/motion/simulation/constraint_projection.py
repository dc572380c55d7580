"""The constraint manifold of mechanisms with loops: projection onto it.

The nearest closed state is meant in the metric of the mass matrix, in which a projection does the
least to the energy: a step of Newton's method moves the coordinates along M^-1 J^T, and the
velocities lose their part across the constraints the same way (Hairer, Lubich and Wanner, Geometric
Numerical Integration, IV.4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.calls import subroutine
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.dynamics import mass_matrix
from eslabon.formulas.kinematics.ball_loops import aligned_loops
from eslabon.formulas.kinematics.closure import equations
from eslabon.formulas.kinematics.symbols import symmetric
from eslabon.formulas.linear_solvers import factors
from eslabon.formulas.motion_state import MotionState
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, normalize
from eslabon.model.memory import per_model
from eslabon.model.validation import TIME
from eslabon.numerics.scalars import Expression, casadi
from eslabon.solve.constraints.closure_violation import STATE
from eslabon.solve.constraints.independent_coordinates import (
    redundancy_is_constant,
    retained_rows,
)
from eslabon.solve.constraints.massless_motions import row_sizes, stiffening
from eslabon.solve.designs import DESCRIBED, Designs

REGULAR = 1e-12  # of J M^-1 J^T, on its diagonal: where less than that is left, at a singularity, momentum decides
REDUNDANT = 1e-5  # the same where rows are dependent on the manifold but not beside it, where the stages of a step stand
CORRECTIONS = (
    2  # of coordinates and of velocities with one Jacobian: an error e leaves about e^2, then e^3
)


def regularization(m: Model) -> tuple[float, ...]:
    """What is added to the diagonal of J M^-1 J^T, row by row."""
    sizes, share = row_sizes(m.nominal), REGULAR if redundancy_is_constant(m.nominal) else REDUNDANT
    return tuple(share * sizes[k] for k in retained_rows(m.nominal))


def rank_distance(m: Model, inverse_pivots: list[Expression]) -> Expression:
    """How far the constraints are from losing a rank: the root of the least pivot of J M^-1 J^T,
    each over the size that its row has at an ordinary configuration. About one is ordinary, zero is
    rank loss.

    The sizes are the mechanism's and not those of this configuration, where a whole row may vanish.
    Of rows whose redundancy changes with the configuration pivots say nothing: then it is 1.
    """
    if not inverse_pivots or not redundancy_is_constant(m.nominal):
        return casadi.SX(1)
    sizes = row_sizes(m.nominal)
    shares = [
        sizes[k] * casadi.fabs(inverse)
        for k, inverse in zip(retained_rows(m.nominal), inverse_pivots, strict=True)
    ]
    return 1 / casadi.sqrt(casadi.mmax(casadi.vertcat(*shares)))


def projected(m: Model, x: Expression, corrections: int = CORRECTIONS) -> Expression:
    """The state on the constraint manifold next to a symbolic one that is near it; quaternions of
    unit length."""
    return projection(m, x, corrections)[0]


def projection(m: Model, x: Expression, corrections: int = CORRECTIONS) -> list[Expression]:
    """The state on the constraint manifold next to a symbolic one that is near it, with quaternions
    of unit length, and the `rank_distance` of the given one.

    Positions keep Phi(q, t) = 0 and velocities J v + Phi_t = 0 at the model's time. What stands
    behind them stays. The factors of the given state serve all corrections: a correction e of the
    coordinates changes them by about e, so that what is left of an error of the velocities is e
    times as large after each of theirs.
    """
    q, v, others = normalize(m, x[: m.nq]), x[m.nq : m.nq + m.nv], x[m.nq + m.nv :, :]
    if not m.closed:
        return [casadi.vertcat(q, v, others), casadi.SX(1)]

    closure, residual = _closure(m)
    (left, J, _), N = closure(q, m.time), coordinate_rates(m, q)
    step, distance = _least_change(m, q, J)
    q = q - N @ step(left)
    for _ in range(corrections - 1):
        q = q - N @ step(residual(q, m.time))
    _, J, rate = closure(q, m.time)
    for _ in range(corrections):
        v = v - step(J @ v + rate)
    return [casadi.vertcat(q, v, others), distance]


@per_model
def _closure(m: Model) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Functions of q and t that native code contains once: Phi, J and Phi_t of the retained rows,
    and Phi alone."""
    rows = retained_rows(m.nominal)

    def closed(q: Expression, t: Expression) -> list[Expression]:
        phi, J, _, rate = equations(m.with_time(t), q, None, rows, aligned_loops(m, rows))
        return [phi, J, rate]

    residual = subroutine("residual", lambda q, t: closed(q, t)[0], m.nq, 1)
    return subroutine("closure", closed, m.nq, 1), residual


def _least_change(
    m: Model, q: Expression, J: Expression
) -> tuple[Callable[[Expression], Expression], Expression]:
    """The least step of the velocities, in the metric of M, that makes a given change of the
    constraints; and the `rank_distance`."""
    tree = factors(mass_matrix(MotionState.at_rest(m, q)) + stiffening(m.nominal) * (J.T @ J))
    across = tree.inward(J.T)
    square = symmetric(across.T @ tree.over_pivots(across))
    solver = factors(square + casadi.diag(casadi.SX(list(regularization(m)))))

    def step(change: Expression) -> Expression:
        return tree.outward(tree.over_pivots(across @ solver.solve(change)))

    return step, rank_distance(m, solver.inverse)


def distance_at(m: Model, q: Expression) -> Expression:
    """The `rank_distance` of a configuration."""
    rows = retained_rows(m.nominal)
    J = equations(m, q, None, rows, aligned_loops(m, rows)).J
    return _least_change(m, q, J)[1]


DISTANCE = Argument("distance", ())
PROJECTED = Formula("projected", projection, (STATE,), (STATE, DISTANCE), rare=True)


def at_time(
    m: Model,
    formula: Formula,
    t: Any,
    *arrays: Floats,
    designs: Designs = DESCRIBED,
    **options: Any,
) -> Any:
    """What a formula says of the constraints at times and in designs, which broadcast like
    everything else."""
    if not m.rheonomic:
        return evaluate(m, formula, designs.names)(*arrays, *designs.inputs, **options)
    timed = evaluate(m, formula, (TIME, *designs.names))
    return timed(*arrays, np.asarray(t, dtype=float), *designs.inputs, **options)


def project(m: Model, x: Floats, t: Any = 0.0, designs: Designs = DESCRIBED) -> Floats:
    """States (..., n) on the constraint manifold of their times and designs; those that are not
    finite stay so."""
    return project_with_distance(m, x, t, designs)[0]


def project_with_distance(
    m: Model, x: Floats, t: Any = 0.0, designs: Designs = DESCRIBED
) -> tuple[Floats, Floats]:
    """The same, and the `rank_distance` of each."""
    x, n = np.concatenate([normalize(m, x[..., : m.nq]), x[..., m.nq :]], axis=-1), m.nq + m.nv
    good = np.isfinite(x).all(axis=-1)
    distance = np.ones(good.shape)
    if m.closed and good.any():
        own = designs.over(*good.shape)[good]
        x[good, :n], distance[good] = at_time(
            m, PROJECTED, np.broadcast_to(t, good.shape)[good], x[good, :n], designs=own
        )
    return x, distance
