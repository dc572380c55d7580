"""The native code along a branch: a tangent and its corrections, and how near to singular the way
comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eslabon.compiler.calls import subroutine
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import row_names
from eslabon.formulas.kinematics.frames import placement
from eslabon.model import Model
from eslabon.model.configuration import (
    integrate,
    normalize,
)
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.scalars import casadi
from eslabon.numerics.tolerances import COINCIDENT, CONVERGED
from eslabon.solve.constraints.independent_coordinates import partition, redundancy_is_constant
from eslabon.solve.determinacy import determinacy, rate_matrix
from eslabon.solve.kernels import (
    LEAST_DAMPING,
    LIMITS,
    OPTIONS,
    Damped,
    X,
    configuration_arguments,
    damped_step,
    equations,
    in_units,
    number_arguments,
    per_speed,
    shared_loop_equations,
)
from eslabon.solve.problem import CLOSURE_ALONE, Problem


@dataclass(frozen=True)
class BranchSettings:
    """When a way from one closed configuration, a knot, to another stays on its branch.

    Motions are in radians, or in metres over the characteristic length.

    Attributes
    ----------
    longest : motion of any joint on the way.
    bend : a first correction, over the motion: half the angle by which the path turns.
    contraction : a correction, over the one before.
    corrections : how many are made.
    small : a correction whose square is round-off.
    regular : how far the equations may come to being singular on the way, from 1 at the knot.
    pivot : the least pivot, over the largest, at which there is a tangent.
    ball : how far prescribed values may move in a single call for a near configuration.
    """

    longest: float = 0.6
    bend: float = 0.2
    contraction: float = 0.5
    corrections: int = 5
    small: float = 1e-9
    regular: float = 0.35
    pivot: float = 1e-12
    ball: float = 0.25


BRANCH = BranchSettings()


def _held_jacobian(m: Model, q: Any, problem: Problem, rows: Sequence[int] | None = None) -> Any:
    """The Jacobian of the loops, of some rows or of all, and of what the rows prescribe, in
    comparable rows and columns."""
    J = shared_loop_equations(m, q).J
    J = J if rows is None else J[list(rows), :]
    if problem.rows:
        scales = casadi.SX(_rate_row_scales(m, problem))
        J = casadi.vertcat(J, casadi.mtimes(casadi.diag(scales), rate_matrix(m, q, problem)))
    return per_speed(m, J)


def _rate_row_scales(m: Model, problem: Problem) -> Any:
    length = characteristic_length(m)
    units = [unit for rows in problem.rows for unit in rows.rate_units]
    return casadi.vertcat(*(1.0 if unit == "rad" else 1.0 / length for unit in units))


def _predicted(m: Model, q: Any, dx: Any, problem: Problem, opened: Any = 0.0) -> tuple[Any, Any]:
    """The configuration that the tangent leads to when what is prescribed moves by dx, and the
    largest motion on the way.

    The tangent is [J; C] v = [0; dx] with the held velocities given, of minimum norm; with another
    design it also makes up for what this has opened the loops by.
    """
    fixed, free = problem.velocities(m), problem.free(m)
    J, s = _held_jacobian(m, q, problem), casadi.SX.zeros(m.nv)
    if fixed:
        s[fixed] = dx[: len(fixed)] * casadi.SX(velocity_scales(m))[fixed]
    loops = len(row_names(m))
    right = casadi.mtimes(J, s) + casadi.vertcat(
        casadi.SX.zeros(loops) + opened,
        -_rate_row_scales(m, problem) * dx[len(fixed) :] if problem.rows else casadi.SX(0, 1),
    )
    if free:
        s[free] = -Damped(J[:, free], LEAST_DAMPING).solve_exactly(right)
    motion = casadi.mmax(casadi.fabs(s)) if m.nv else casadi.SX(0)
    return integrate(m, q, in_units(m, s, range(m.nv))), motion


def regularity(m: Model, q: Any, after: Model, to: Any, problem: Problem) -> Any:
    """How far the equations are from singular anywhere between two configurations, of a mechanism
    and the same after a change of its parameters, as seen from the first.

    With A the Jacobian by the velocities that are not prescribed, B = A(q)^+ A(to) is 1 at the
    start. If its symmetric part has positive pivots, (1 - t) 1 + t B is regular for t from 0 to 1;
    the least pivot is given. Where degrees of freedom stay open, B = A(to) A(q)^+ of the
    independent rows says the same.
    """
    free, found = problem.free(m), determinacy(m.nominal, problem)
    open_rows = found.open and not problem.rows and redundancy_is_constant(m.nominal)
    if not free or (found.open and not open_rows):
        return casadi.SX(1)
    rows = partition(m.nominal).rows if open_rows else None
    if rows == ():
        return casadi.SX(1)
    A, other = (
        casadi.sparsify(_held_jacobian(own, at, problem, rows)[:, free])
        for own, at in ((m, q), (after, to))
    )
    A, other = (A.T, other.T) if open_rows else (A, other)
    B = Damped(A, LEAST_DAMPING).solve(other)
    pivots = casadi.ldl(casadi.densify((B + B.T) / 2), False)[0]
    return casadi.mmin(casadi.densify(pivots))


def advance(m: Model, q: Any, x: Any, dx: Any, whole: Any, problem: Problem) -> list[Any]:
    """From a closed configuration to one for the value x, which is dx away: the tangent predicts,
    Newton's method corrects.

    Gives where it leads, whether the corrections were small against the way and contracted, how
    much the path bends, the pivot there, and the regularity on the way. Where more is prescribed
    than the mechanism can follow, values that are not a whole row need not fit together, and only
    the loops are closed there.
    """
    knot, (q, motion) = q, _predicted(m, q, dx, problem)
    return _corrected(m, m, knot, q, motion, x, whole, problem)


def advance_design(
    m: Model,
    q: Any,
    x: Any,
    dx: Any,
    dp: Any,
    whole: Any,
    problem: Problem,
    changing: tuple[str, ...],
) -> list[Any]:
    """The same where the parameters that are changing move by dp too, to those of m."""
    knot, values = q, {name: m.symbols[name] - dp[k] for k, name in enumerate(changing)}
    earlier = m.with_symbols({**m.symbols, **values})
    opened = shared_loop_equations(m, q).r if m.closed else 0.0
    if problem.is_whole_pose:  # a frame is elsewhere in another design
        dx = _to_pose(m, q, x, problem)
    q, motion = _predicted(earlier, q, dx, problem, opened)
    return _corrected(earlier, m, knot, q, motion, x, whole, problem)


def _to_pose(m: Model, q: Any, x: Any, problem: Problem) -> Any:
    """The displacement from a configuration to a whole pose."""
    R, p = placement(m, q, m.frame(problem.frames[0]))
    orientation, position = problem.rows
    turn = orientation.error(R, p, x[:9], 1.0)
    return -casadi.vertcat(turn, position.error(R, p, x[9:], 1.0))


def _corrected(
    earlier: Model, m: Model, knot: Any, q: Any, motion: Any, x: Any, whole: Any, problem: Problem
) -> list[Any]:
    """What `advance` gives, from the configuration that the tangent predicts."""
    places = problem.coordinates(m)
    q = casadi.densify(casadi.SX(q))
    if places:
        q[places] = x[: len(places)]
    exact = _newton(m, problem)
    surplus = determinacy(m.nominal, problem).surplus
    between = _newton(m, Problem(problem.held) if not problem.rows else CLOSURE_ALONE)
    good, before, bent, pivot = motion <= BRANCH.longest, np.inf, casadi.SX(0), casadi.SX(1)
    for k in range(BRANCH.corrections):
        made = exact(q, x)
        if surplus:
            others = between(q, x)
            made = [casadi.if_else(whole, a, b) for a, b in zip(made, others, strict=True)]
        following, moved, pivot = made
        if k == 0:
            bent = moved / casadi.fmax(motion, np.finfo(float).tiny)
            small = casadi.fmax(BRANCH.bend * motion, 100 * BRANCH.small)
            good = casadi.logic_and(good, moved <= small)
        contracted = moved <= casadi.fmax(BRANCH.contraction * before, BRANCH.small)
        good, before, q = casadi.logic_and(good, contracted), moved, following
    good = casadi.logic_and(good, before <= BRANCH.small)
    return [q, good, bent, pivot, regularity(earlier, knot, m, q, problem)]


def _newton(m: Model, problem: Problem) -> Callable[..., Any]:
    """An undamped step without limits, as a function that native code contains once: q, motion,
    pivot."""

    def step(q: Any, x: Any) -> list[Any]:
        made = damped_step(m, q, x, 0.0, None, problem, shared=True)
        return [casadi.densify(made.q), made.motion, made.pivot]

    size = problem.size(m)
    newton = subroutine("newton_step", step, m.nq, max(size, 1))
    return lambda q, x: newton(q, x[:size] if size else casadi.SX(1, 1))


def near_branch(m: Model, q: Any, x: Any, lower: Any, upper: Any, problem: Problem) -> list[Any]:
    """The configuration for a value near that of a closed one, and whether nothing more is to be
    said: one advance leads there, not by a singular configuration, and within the limits."""
    q = normalize(m, q)
    dx = x - q[problem.coordinates(m)] if not problem.rows else _to_pose(m, q, x, problem)
    after, good, _, pivot, regular = advance(m, q, x, dx, casadi.SX(1), problem)
    left = [shared_loop_equations(m, q).r, equations(m, after, x, problem, shared=True).r]
    found = determinacy(m.nominal, problem)
    units = [*(np.asarray(velocity_scales(m.nominal))[problem.velocities(m)])]
    units += [1.0 if unit == "rad" else 1.0 / characteristic_length(m.nominal)
              for rows in problem.rows for unit in rows.rate_units]  # fmt: skip
    sound = [
        good,
        casadi.mmax(casadi.fabs(casadi.vertcat(casadi.SX(1, 1), *left))) < CONVERGED,
        casadi.mmax(casadi.fabs(dx * casadi.DM(units))) <= BRANCH.ball,
        regular >= BRANCH.regular,
        pivot > (-1.0 if found.open or found.surplus else BRANCH.pivot),
        casadi.mmin(casadi.vertcat(after - lower, upper - after)) >= -COINCIDENT,
    ]
    return [after, casadi.mmin(casadi.vertcat(*sound))]


DX = Argument("dx", lambda m, problem, **_: (problem.rate_size(m),))


ADVANCED = (*configuration_arguments("q"), *number_arguments("good", "bent", "pivot", "regular"))


ADVANCE = Formula(
    "advance", advance, (Q, X, DX, *number_arguments("whole")), ADVANCED, OPTIONS, rare=True
)


ADVANCE_DESIGN = replace(
    ADVANCE,
    name="advance_design",
    function=advance_design,
    inputs=(
        *ADVANCE.inputs[:3],
        Argument("dp", lambda m, problem, changing: (len(changing),)),
        ADVANCE.inputs[3],
    ),
    options={**OPTIONS, "changing": ()},
)


NEAR_BRANCH = Formula(
    "near_branch",
    near_branch,
    (Q, X, *LIMITS),
    (*configuration_arguments("q"), *number_arguments("sound")),
    OPTIONS,
    rare=True,
)
