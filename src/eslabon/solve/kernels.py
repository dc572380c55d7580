"""The native code of a problem: its equations, steps towards their solution, and terms of the
second order.

`equations` is the only place where rows are stacked. All of them are dimensionless: lengths are
divided by the characteristic length L, and columns are comparable velocities, rad/s or L/s. So
every number here is a pure number, and no unit of length changes a digit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from eslabon.compiler.calls import subroutine
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.closure import row_names
from eslabon.formulas.kinematics.frames import jacobian, placement
from eslabon.model import Joint, Model
from eslabon.model.configuration import (
    coordinate_rates,
    coordinate_velocities,
    normalize,
)
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.least_squares import LOOK
from eslabon.numerics.scalars import Expression, casadi, is_symbolic
from eslabon.solve.problem import CLOSURE_ALONE, Problem
from eslabon.solve.ranges import TURN

# What a joint moves in a damped step at most, in radians or lengths over L. With 1, 98 of 100
# random starts of puma560 arrive, with 2 or more 99, in as many steps: shorter ones are caught more
# often.
LONGEST = 2.0
LEAST_DAMPING = 1e-13  # keeps factors regular at singular configurations, too small to slow others


# -- equations -----------------------------------------------------------------------------------------


class Equations(NamedTuple):
    """Rows that vanish at a solution, and their Jacobian by the velocities, comparable in rows."""

    r: Expression
    J: Expression


def equations(m: Model, q: Any, x: Any, problem: Problem, shared: bool = False) -> Equations:
    """Closure, then the errors of the problem's rows."""
    loops = shared_loop_equations(m, q) if shared else loop_equations(m, q)
    targets = target_errors(m, q, x, problem)
    return Equations(casadi.vertcat(loops.r, targets.r), casadi.vertcat(loops.J, targets.J))


def loop_equations(m: Model, q: Any) -> Equations:
    phi, J, *_ = closure.equations(m, q, None, tuple(range(len(row_names(m)))))
    return Equations(phi, J)


def shared_loop_equations(m: Model, q: Any) -> Equations:
    """The same as a function that native code contains once, for all configurations of a graph."""
    if not row_names(m) or not m.nv:
        return loop_equations(m, q)
    return Equations(*subroutine("loops", lambda q: list(loop_equations(m, q)), m.nq)(q))


def target_errors(m: Model, q: Any, x: Any, problem: Problem) -> Equations:
    """The weighted errors of the rows; their Jacobian is exact where they vanish, and J^T r
    everywhere."""
    length = characteristic_length(m)
    placed = {frame: placement(m, q, m.frame(frame)) for frame in problem.frames}
    twists = {frame: jacobian(m, q, frame, axes="aligned") for frame in problem.frames}
    errors, slopes = [casadi.SX(0, 1)], [casadi.SX(0, m.nv)]
    for rows, value in problem.values_of(m, x):
        R, p = placed[rows.frame]
        weight = np.sqrt(rows.weight)
        error, slope = rows.error(R, p, value, length), rows.slope(R, length)
        errors.append(weight * error)
        slopes.append(
            weight * (slope @ twists[rows.frame])
            if slope is not None
            else weight * casadi.jacobian(error, q) @ coordinate_rates(m, q)
        )
    return Equations(casadi.vertcat(*errors), casadi.vertcat(*slopes))


def per_speed(m: Model, J: Any) -> Any:
    """A Jacobian by comparable velocities, rad/s or L/s."""
    scales = velocity_scales(m)
    if not is_symbolic(scales) and np.all(scales == 1.0):
        return J
    return casadi.mtimes(J, casadi.diag(1 / casadi.SX(scales)))


def in_units(m: Model, s: Any, places: Sequence[int]) -> Any:
    """Comparable velocities at some places as velocities."""
    scales = velocity_scales(m)
    own = scales[list(places)] if not is_symbolic(scales) else scales[list(places), :]
    return s / casadi.SX(own)


# -- steps ---------------------------------------------------------------------------------------------


class Damped:
    """The factors of J^T J + mu 1, or of J J^T + mu 1 where that is smaller."""

    def __init__(self, J: Any, mu: Any) -> None:
        self.J, self.tall = casadi.sparsify(J), J.shape[1] <= J.shape[0]
        A = casadi.mtimes(self.J.T, self.J) if self.tall else casadi.mtimes(self.J, self.J.T)
        # In an order that makes few new entries: legs before what they carry.
        self.pivots, *self._factors = casadi.ldl(A + mu * casadi.SX.eye(min(J.shape)), True)

    def solve(self, b: Any) -> Any:
        """(J^T J + mu 1)^-1 J^T b, the same as J^T (J J^T + mu 1)^-1 b."""
        if self.tall:
            return casadi.ldl_solve(casadi.mtimes(self.J.T, b), self.pivots, *self._factors)
        return casadi.mtimes(self.J.T, casadi.ldl_solve(b, self.pivots, *self._factors))

    def solve_exactly(self, b: Any) -> Any:
        """J^+ b: a second step takes back what the damping changes."""
        x = self.solve(b)
        return x + self.solve(b - casadi.mtimes(self.J, x))


class Step(NamedTuple):
    """The configuration after a step, the error |r|^2 before it, the largest motion of a joint, and
    the least pivot of the normal equations over the largest, the square of a reciprocal condition
    number."""

    q: Any
    error: Any
    motion: Any
    pivot: Any


def damped_step(
    m: Model, q: Any, x: Any, damping: Any, limits: tuple[Any, Any] | None, problem: Problem,
    shared: bool = False,
) -> Step:  # fmt: skip
    """(J^T J + mu 1) s = -J^T r with mu = damping |r|^2 (Levenberg, Marquardt; Chan and Lawrence).

    Joints that stand at a limit and would have to go beyond it are held; no joint moves by more
    than `LONGEST`.
    """
    r, J = equations(m, q, x, problem, shared)
    free, error = problem.free(m), casadi.sumsqr(r)
    s, pivots = casadi.SX.zeros(m.nv), casadi.SX.ones(1)
    if free and J.shape[0]:
        J = per_speed(m, J)
        gradient = casadi.mtimes(J.T, r)
        J = J[:, free]
        if limits is not None:
            J = casadi.mtimes(J, casadi.diag(_released(m, q, gradient, *limits)[free]))
        damped = Damped(J, damping * error + LEAST_DAMPING)
        s[free], pivots = -damped.solve(r), damped.pivots
    after, _, motion = moved(m, q, s, LONGEST)
    if limits is not None:
        for joint in _limited(m):
            place = m.coordinates[joint.name]
            after[place] = _within(joint, after[place], limits[0][place], limits[1][place])
    return Step(normalize(m, after), error, motion, casadi.mmin(pivots) / casadi.mmax(pivots))


def moved(m: Model, q: Any, s: Any, longest: float) -> tuple[Any, Any, Any]:
    """Coordinates after comparable velocities s, shortened for no joint to move by more than
    `longest`; these velocities, and the largest motion."""
    if not m.nv:
        return casadi.SX(q), s, casadi.SX(0)
    motion = casadi.mmax(casadi.fabs(s))
    s = s / casadi.fmax(1.0, motion / longest)
    after = casadi.SX(q) + coordinate_velocities(m, q, in_units(m, s, range(m.nv)))
    return after, s, casadi.fmin(longest, motion)


def _limited(m: Model) -> list[Joint]:
    return [joint for joint in m.joints if joint.limits is not None]


def _released(m: Model, q: Any, gradient: Any, lower: Any, upper: Any) -> Any:
    """For each velocity 0 where the joint stands at a limit and would have to go beyond it, else
    1."""
    free = casadi.SX.ones(m.nv)
    for joint in _limited(m):
        places = range(m.nv)[m.velocities[joint.name]], range(m.nq)[m.coordinates[joint.name]]
        for i, k in zip(*places, strict=True):
            low = casadi.logic_and(q[k] <= lower[k], gradient[i] > 0)
            high = casadi.logic_and(q[k] >= upper[k], gradient[i] < 0)
            free[i] = casadi.logic_not(casadi.logic_or(low, high))
    return free


def _within(joint: Joint, new: Any, low: Any, high: Any) -> Any:
    """New coordinates brought back by a whole turn where that leads within the limits, else to the
    limit."""
    whole = np.array([TURN if c.periodic else 0.0 for c in joint.kind.coordinates])
    new = casadi.if_else(casadi.logic_and(new > high, new - whole >= low), new - whole, new)
    new = casadi.if_else(casadi.logic_and(new < low, new + whole <= high), new + whole, new)
    return casadi.fmin(casadi.fmax(new, low), high)


def search_steps(
    m: Model, q: Any, best: Any, error: Any, x: Any, damping: Any, goal: Any, lower: Any, upper: Any,
    problem: Problem,
) -> list[Any]:  # fmt: skip
    """`LOOK` damped steps: where they lead, the best configuration met and its error, and how many
    began above the goal."""
    step, taken = search_step(m, problem), casadi.SX(0)
    for _ in range(LOOK):
        taken += error > goal
        q, best, error = step(q, best, error, x, damping, goal, lower, upper)
    return [q, best, error, taken]


def search_step(m: Model, problem: Problem) -> Callable[..., Any]:
    """One step as a function that native code contains once: q, the best one and its error.

    Errors may rise, which leads out of many local minima. After the goal is reached one step more
    is taken for the last digits; then q stays at the best one, however many steps follow.
    """

    def step(
        q: Any, best: Any, error: Any, x: Any, damping: Any, goal: Any, lower: Any, upper: Any
    ) -> list[Any]:
        made = damped_step(m, q, x, damping, (lower, upper), problem)
        better, wild = made.error < error, casadi.logic_not(made.error < np.inf)
        best = casadi.if_else(better, q, best)
        onward = casadi.if_else(wild, best + 0.25 * (q - best), made.q)
        onward = casadi.if_else(error <= goal, best, onward)
        return [
            casadi.densify(x) for x in (onward, best, casadi.if_else(better, made.error, error))
        ]

    return subroutine("search_step", step, m.nq, m.nq, 1, problem.size(m), 1, 1, m.nq, m.nq)


def missed(m: Model, q: Any, x: Any, problem: Problem) -> list[Any]:
    """The largest distance and angle that any of the rows misses, in metres and radians, by the
    forward kinematics."""
    placed = {frame: placement(m, q, m.frame(frame)) for frame in problem.frames}
    each = [rows.missed(*placed[rows.frame], value) for rows, value in problem.values_of(m, x)]
    if not each:
        return [casadi.SX(0), casadi.SX(0)]
    return [casadi.mmax(casadi.vertcat(*column)) for column in zip(*each, strict=True)]


# -- terms of the second order ---------------------------------------------------------------------------


def second_order_terms(m: Model, q: Any, x: Any, problem: Problem) -> list[Any]:
    """r, its exact Jacobian, Phi, J, the multipliers that leave the least of the gradient, and the
    Hessian of the Lagrangian |r|^2 / 2 + Phi^T multipliers along the velocities."""
    rates = coordinate_rates(m, q)
    r = target_errors(m, q, x, problem).r
    Jr = casadi.jacobian(r, q) @ rates
    phi, J = loop_equations(m, q)
    force = casadi.SX.sym("multipliers", phi.shape[0])
    slope = Jr.T @ r + J.T @ force
    H = casadi.jacobian(slope, q) @ rates
    found = casadi.SX(0, 1)
    if phi.shape[0]:
        found = -Damped(per_speed(m, J).T, 1e-12).solve_exactly(per_speed(m, Jr).T @ r)
        H = casadi.substitute(H, force, casadi.densify(found))
    return [casadi.densify(y) for y in (r, Jr, phi, J, found, H)]


# -- formulas ------------------------------------------------------------------------------------------


def number_arguments(*names: str) -> tuple[Argument, ...]:
    return tuple(Argument(name, ()) for name in names)


def configuration_arguments(*names: str) -> tuple[Argument, ...]:
    return tuple(Argument(name, lambda m, **_: (m.nq,)) for name in names)


def _loop_rows(m: Model, **_: Any) -> tuple[int]:
    return (len(row_names(m)),)


OPTIONS: dict[str, Any] = {"problem": CLOSURE_ALONE}
LIMITS = configuration_arguments("lower", "upper")
X = Argument("x", lambda m, problem, **_: (problem.size(m),), "numbers of what is prescribed")

STEPS = Formula(
    "search_steps",
    search_steps,
    (
        Q,
        *configuration_arguments("best"),
        *number_arguments("error"),
        X,
        *number_arguments("damping", "goal"),
        *LIMITS,
    ),
    (*configuration_arguments("q", "best"), *number_arguments("error", "taken")),
    OPTIONS,
)
MISSED = Formula("missed", missed, (Q, X), number_arguments("distance", "angle"), OPTIONS)
TERMS = Formula(
    "second_order_terms",
    second_order_terms,
    (Q, X),
    (
        Argument("r", lambda m, problem: (problem.error_size,)),
        Argument("Jr", lambda m, problem: (problem.error_size, m.nv)),
        Argument("phi", _loop_rows),
        Argument("J", lambda m, problem: (len(row_names(m)), m.nv)),
        Argument("multipliers", _loop_rows),
        Argument("H", lambda m, problem: (m.nv, m.nv)),
    ),
    OPTIONS,
    rare=True,
)
