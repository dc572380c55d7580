"""The native code of a problem: its equations, steps towards their solution, a way along a branch.

`equations` is the only place where rows are stacked. All of them are dimensionless: lengths are
divided by the characteristic length L, and columns are comparable velocities, rad/s or L/s. So every
number here is a pure number, and no unit of length changes a digit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import LARGEST
from eslabon.compiler.calls import subroutine
from eslabon.compiler.formula import Argument, Formula
from eslabon.compiler.operators import row_of
from eslabon.compiler.until import until
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.closure import row_names
from eslabon.formulas.kinematics.frames import jacobian, placement
from eslabon.model import Joint, Model
from eslabon.model.configuration import (
    coordinate_rates,
    coordinate_velocities,
    integrate,
    normalize,
    periodic,
)
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.least_squares import DAMPING, LOOK, STALLED
from eslabon.numerics.scalars import Expression, casadi, is_symbolic
from eslabon.numerics.tolerances import COINCIDENT, CONVERGED
from eslabon.solve.constraints.independent_coordinates import partition, redundancy_is_constant
from eslabon.solve.determinacy import determinacy, rate_matrix
from eslabon.solve.problem import CLOSURE_ALONE, Problem

TURN = 2 * np.pi
STARTS = 20  # other starts of a search for one pose in one native call
EXACT_ROTATION = 1e-14  # of R R^T against 1: a rotation to its last digits
# What a joint moves in a damped step at most, in radians or lengths over L. With 1, 98 of 100 random
# starts of puma560 arrive, with 2 or more 99, in as many steps: shorter ones are caught more often.
LONGEST = 2.0
LEAST_DAMPING = 1e-13  # keeps factors regular at singular configurations, too small to slow others


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


# -- equations -----------------------------------------------------------------------------------------


class Equations(NamedTuple):
    """Rows that vanish at a solution, and their Jacobian by the velocities, comparable in rows."""

    r: Expression
    J: Expression


def equations(m: Model, q: Any, x: Any, problem: Problem, shared: bool = False) -> Equations:
    """Closure, then the errors of the problem's rows."""
    loops = _shared_loops(m, q) if shared else _loops(m, q)
    targets = target_errors(m, q, x, problem)
    return Equations(casadi.vertcat(loops.r, targets.r), casadi.vertcat(loops.J, targets.J))


def _loops(m: Model, q: Any) -> Equations:
    phi, J, *_ = closure.equations(m, q, None, tuple(range(len(row_names(m)))))
    return Equations(phi, J)


def _shared_loops(m: Model, q: Any) -> Equations:
    """The same as a function that native code contains once, for all configurations of a graph."""
    if not row_names(m) or not m.nv:
        return _loops(m, q)
    return Equations(*subroutine("loops", lambda q: list(_loops(m, q)), m.nq)(q))


def target_errors(m: Model, q: Any, x: Any, problem: Problem) -> Equations:
    """The weighted errors of the rows; their Jacobian is exact where they vanish, and J^T r everywhere."""
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


def _in_units(m: Model, s: Any, places: Sequence[int]) -> Any:
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
    """The configuration after a step, the error |r|^2 before it, the largest motion of a joint, and the
    least pivot of the normal equations over the largest, the square of a reciprocal condition number."""

    q: Any
    error: Any
    motion: Any
    pivot: Any


def damped_step(
    m: Model, q: Any, x: Any, damping: Any, limits: tuple[Any, Any] | None, problem: Problem,
    shared: bool = False,
) -> Step:  # fmt: skip
    """(J^T J + mu 1) s = -J^T r with mu = damping |r|^2 (Levenberg, Marquardt; Chan and Lawrence).

    Joints that stand at a limit and would have to go beyond it are held; no joint moves by more than
    `LONGEST`.
    """
    r, J = equations(m, q, x, problem, shared)
    free, error = problem.free(m), casadi.sumsqr(r)
    v, pivots, motion = casadi.SX.zeros(m.nv), casadi.SX.ones(1), casadi.SX(0)
    if free and J.shape[0]:
        J = per_speed(m, J)
        gradient = casadi.mtimes(J.T, r)
        J = J[:, free]
        if limits is not None:
            J = casadi.mtimes(J, casadi.diag(_released(m, q, gradient, *limits)[free]))
        damped = Damped(J, damping * error + LEAST_DAMPING)
        s, pivots = -damped.solve(r), damped.pivots
        motion = casadi.mmax(casadi.fabs(s))
        v[free] = _in_units(m, s / casadi.fmax(1.0, motion / LONGEST), free)
        motion = casadi.fmin(LONGEST, motion)
    after = casadi.SX(q) + coordinate_velocities(m, q, v) if m.nv else casadi.SX(q)
    if limits is not None:
        for joint in _limited(m):
            place = m.coordinates[joint.name]
            after[place] = _within(joint, after[place], limits[0][place], limits[1][place])
    return Step(normalize(m, after), error, motion, casadi.mmin(pivots) / casadi.mmax(pivots))


def _limited(m: Model) -> list[Joint]:
    return [joint for joint in m.joints if joint.limits is not None]


def _released(m: Model, q: Any, gradient: Any, lower: Any, upper: Any) -> Any:
    """For each velocity 0 where the joint stands at a limit and would have to go beyond it, else 1."""
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
    began above the goal. Errors may rise, which leads out of many local minima."""
    step, taken = _one_step(m, problem), casadi.SX(0)
    for _ in range(LOOK):
        taken += error > goal
        q, best, error = step(q, best, error, x, damping, lower, upper)
    return [q, best, error, taken]


def _one_step(m: Model, problem: Problem) -> Callable[..., Any]:
    """One step as a function that native code contains once: q, the best one and its error."""

    def step(
        q: Any, best: Any, error: Any, x: Any, damping: Any, lower: Any, upper: Any
    ) -> list[Any]:
        made = damped_step(m, q, x, damping, (lower, upper), problem)
        better, wild = made.error < error, casadi.logic_not(made.error < np.inf)
        best = casadi.if_else(better, q, best)
        onward = casadi.if_else(wild, best + 0.25 * (q - best), made.q)
        return [
            casadi.densify(x) for x in (onward, best, casadi.if_else(better, made.error, error))
        ]

    return subroutine("search_step", step, m.nq, m.nq, 1, problem.size(m), 1, m.nq, m.nq)


def missed(m: Model, q: Any, x: Any, problem: Problem) -> list[Any]:
    """The largest distance and angle that any of the rows misses, in metres and radians, by the forward
    kinematics."""
    placed = {frame: placement(m, q, m.frame(frame)) for frame in problem.frames}
    each = [rows.missed(*placed[rows.frame], value) for rows, value in problem.values_of(m, x)]
    if not each:
        return [casadi.SX(0), casadi.SX(0)]
    return [casadi.mmax(casadi.vertcat(*column)) for column in zip(*each, strict=True)]


# -- along a branch ------------------------------------------------------------------------------------


def _held_jacobian(m: Model, q: Any, problem: Problem, rows: Sequence[int] | None = None) -> Any:
    """The Jacobian of the loops, of some rows or of all, and of what the rows prescribe, in comparable
    rows and columns."""
    J = _shared_loops(m, q).J
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
    """The configuration that the tangent leads to when what is prescribed moves by dx, and the largest
    motion on the way.

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
    return integrate(m, q, _in_units(m, s, range(m.nv))), motion


def regularity(m: Model, q: Any, after: Model, to: Any, problem: Problem) -> Any:
    """How far the equations are from singular anywhere between two configurations, of a mechanism and
    the same after a change of its parameters, as seen from the first.

    With A the Jacobian by the velocities that are not prescribed, B = A(q)^+ A(to) is 1 at the start.
    If its symmetric part has positive pivots, (1 - t) 1 + t B is regular for t from 0 to 1; the least
    pivot is given. Where degrees of freedom stay open, B = A(to) A(q)^+ of the independent rows says
    the same.
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

    Gives where it leads, whether the corrections were small against the way and contracted, how much
    the path bends, the pivot there, and the regularity on the way. Where more is prescribed than the
    mechanism can follow, values that are not a whole row need not fit together, and only the loops
    are closed there.
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
    opened = _shared_loops(m, q).r if m.closed else 0.0
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
    """An undamped step without limits, as a function that native code contains once: q, motion, pivot."""

    def step(q: Any, x: Any) -> list[Any]:
        made = damped_step(m, q, x, 0.0, None, problem, shared=True)
        return [casadi.densify(made.q), made.motion, made.pivot]

    size = problem.size(m)
    newton = subroutine("newton_step", step, m.nq, max(size, 1))
    return lambda q, x: newton(q, x[:size] if size else casadi.SX(1, 1))


# -- near configurations -------------------------------------------------------------------------------


def near_branch(m: Model, q: Any, x: Any, lower: Any, upper: Any, problem: Problem) -> list[Any]:
    """The configuration for a value near that of a closed one, and whether nothing more is to be said:
    one advance leads there, not by a singular configuration, and within the limits."""
    q = normalize(m, q)
    dx = x - q[problem.coordinates(m)] if not problem.rows else _to_pose(m, q, x, problem)
    after, good, _, pivot, regular = advance(m, q, x, dx, casadi.SX(1), problem)
    left = [_shared_loops(m, q).r, equations(m, after, x, problem, shared=True).r]
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


def pose_search(
    m: Model, q: Any, pose: Any, reference: Any, starts: Any, count: Any, tolerance: Any, lower: Any, upper: Any,
    limited: Any, problem: Problem,
) -> list[Any]:  # fmt: skip
    """The configuration that steps lead to from q, or else from the first of the other starts that
    arrives, `count` of them in all; what it misses, the steps, the error |r|^2, and a verdict: 1 where it is a solution as
    near to the reference as whole turns and limits let it be, 0 where none was found, and -1 where the
    pose is not one to its last digits.

    It does just what `Solver.search` does with a batch: from every start within the limits, and where that
    fails without them.
    """
    R, p = pose[:3, :3], pose[:3, 3]
    x, goal = casadi.vertcat(casadi.vec(R.T), p), tolerance**2
    turning = np.flatnonzero(periodic(m.nominal)).tolist()
    nq = m.nq

    def attempt(state: Any, *given: Any) -> tuple[Any, Any]:
        best, error, steps, k = state[:nq], state[nq], state[nq + 1], state[nq + 2]
        first, others, x, goal, count, lower, upper, limited = given
        number = casadi.floor(k / 2)
        free = k - 2 * number  # the second time without the limits
        begin = casadi.if_else(number > 0, row_of(others, number - 1), first)
        begin = casadi.fmin(casadi.fmax(_turned(begin, begin, lower, upper, turning), lower), upper)
        begin = casadi.densify(casadi.SX(normalize(m, begin)))
        low = casadi.if_else(free > 0, -np.inf, lower)
        high = casadi.if_else(free > 0, np.inf, upper)
        end, found, taken = _walk(m, begin, x, goal, low, high, problem)
        end = casadi.if_else(free > 0, _turned(end, begin, lower, upper, turning), end)
        counts = casadi.logic_or(
            free <= 0, casadi.logic_and(found <= goal, _inside(end, lower, upper))
        )
        found = casadi.if_else(counts, found, np.inf)
        better = found < error
        k = k + casadi.if_else(limited > 0, 1, 2)
        state = casadi.vertcat(
            casadi.if_else(better, end, best),
            casadi.if_else(better, found, error),
            steps + taken,
            k,
        )
        return state, casadi.logic_or(found <= goal, k >= 2 * count)

    state = casadi.vertcat(q, np.inf, 0, 0)
    given = (q, starts, x, goal, count, lower, upper, limited)
    state, _, _ = until(attempt, state, *given, limit=2 * (STARTS + 1))
    found = _turned(state[:nq], reference, lower, upper, turning)
    distance, angle = missed(m, found, x, problem)
    exact = [
        casadi.mmax(casadi.fabs(casadi.mtimes(R, R.T) - casadi.SX.eye(3))) < EXACT_ROTATION,
        casadi.det(R) > 0,
        casadi.sumsqr(pose) <= LARGEST**2,  # NaN is not
        casadi.mmax(casadi.fabs(pose[3, :] - casadi.DM([[0, 0, 0, 1]]))) <= 0,
    ]
    near = tolerance * characteristic_length(m)
    good = [distance <= near, angle <= tolerance, _inside(found, lower, upper), state[nq] <= goal]
    verdict = casadi.if_else(
        casadi.mmin(casadi.vertcat(*exact)), casadi.mmin(casadi.vertcat(*good)), -1
    )
    return [found, distance, angle, state[nq + 1], state[nq], verdict]


def _walk(
    m: Model, q: Any, x: Any, goal: Any, lower: Any, upper: Any, problem: Problem
) -> tuple[Any, ...]:
    """As `numerics.least_squares.walk` without patience: the best configuration, its error, the steps."""
    nq = m.nq

    def look(state: Any, x: Any, goal: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
        q, best, before, steps = state[:nq], state[nq : 2 * nq], state[2 * nq], state[2 * nq + 1]
        q, best, error, taken = search_steps(
            m, q, best, before, x, DAMPING, goal, lower, upper, problem
        )
        falls = casadi.logic_or(error <= STALLED * before, error <= goal)
        onward = casadi.logic_and(taken >= LOOK, falls)
        return casadi.vertcat(q, best, error, steps + taken), casadi.logic_not(onward)

    state = casadi.vertcat(q, q, np.inf, 0)
    state, _, _ = until(look, state, x, goal, lower, upper, limit=8)
    return state[nq : 2 * nq], state[2 * nq], state[2 * nq + 1]


def _turned(q: Any, reference: Any, lower: Any, upper: Any, turning: list[int]) -> Any:
    """As `Ranges.turned`: each angle as near to the reference as whole turns and limits let it be."""
    if not turning:
        return q
    made, own = casadi.densify(casadi.SX(q)), q[turning]
    fewest = casadi.ceil((lower[turning] - own) / TURN)
    most = casadi.floor((upper[turning] - own) / TURN)
    turns = casadi.fmin(casadi.fmax(_rounded((reference[turning] - own) / TURN), fewest), most)
    made[turning] = casadi.if_else(fewest <= most, own + TURN * turns, own)
    return made


def _rounded(x: Any) -> Any:
    """The nearest whole number; of two the even one, as NumPy has it."""
    down = casadi.floor(x + 0.5)
    half = casadi.logic_and(down - x == 0.5, casadi.fmod(down, 2) != 0)
    return casadi.if_else(half, down - 1, down)


def _inside(q: Any, lower: Any, upper: Any) -> Any:
    return casadi.mmin(casadi.vertcat(q - lower, upper - q)) >= -COINCIDENT


# -- terms of the second order ---------------------------------------------------------------------------


def second_order_terms(m: Model, q: Any, x: Any, problem: Problem) -> list[Any]:
    """r, its exact Jacobian, Phi, J, the multipliers that leave the least of the gradient, and the
    Hessian of the Lagrangian |r|^2 / 2 + Phi^T multipliers along the velocities."""
    rates = coordinate_rates(m, q)
    r = target_errors(m, q, x, problem).r
    Jr = casadi.jacobian(r, q) @ rates
    phi, J = _loops(m, q)
    force = casadi.SX.sym("multipliers", phi.shape[0])
    slope = Jr.T @ r + J.T @ force
    H = casadi.jacobian(slope, q) @ rates
    found = casadi.SX(0, 1)
    if phi.shape[0]:
        found = -Damped(per_speed(m, J).T, 1e-12).solve_exactly(per_speed(m, Jr).T @ r)
        H = casadi.substitute(H, force, casadi.densify(found))
    return [casadi.densify(y) for y in (r, Jr, phi, J, found, H)]


# -- formulas ------------------------------------------------------------------------------------------


def _numbers(*names: str) -> tuple[Argument, ...]:
    return tuple(Argument(name, ()) for name in names)


def _configurations(*names: str) -> tuple[Argument, ...]:
    return tuple(Argument(name, lambda m, **_: (m.nq,)) for name in names)


def _loop_rows(m: Model, **_: Any) -> tuple[int]:
    return (len(row_names(m)),)


OPTIONS: dict[str, Any] = {"problem": CLOSURE_ALONE}
LIMITS = _configurations("lower", "upper")
X = Argument("x", lambda m, problem, **_: (problem.size(m),), "numbers of what is prescribed")
DX = Argument("dx", lambda m, problem, **_: (problem.rate_size(m),))
ADVANCED = (*_configurations("q"), *_numbers("good", "bent", "pivot", "regular"))

STEPS = Formula(
    "search_steps",
    search_steps,
    (Q, *_configurations("best"), *_numbers("error"), X, *_numbers("damping", "goal"), *LIMITS),
    (*_configurations("q", "best"), *_numbers("error", "taken")),
    OPTIONS,
)
MISSED = Formula("missed", missed, (Q, X), _numbers("distance", "angle"), OPTIONS)
ADVANCE = Formula("advance", advance, (Q, X, DX, *_numbers("whole")), ADVANCED, OPTIONS, rare=True)
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
    (*_configurations("q"), *_numbers("sound")),
    OPTIONS,
    rare=True,
)
POSE_SEARCH = Formula(
    "pose_search",
    pose_search,
    (
        Q,
        Argument("pose", (4, 4)),
        *_configurations("reference"),
        Argument("starts", lambda m, problem: (STARTS, m.nq)),
        *_numbers("count", "tolerance"),
        *LIMITS,
        *_numbers("limited"),
    ),
    (*_configurations("q"), *_numbers("distance", "angle", "taken", "error", "verdict")),
    OPTIONS,
)
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
