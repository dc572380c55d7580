"""The native search for one pose of a tree: what `solver.Solver.search` does with a batch, in one
call."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import LARGEST
from eslabon.compiler.formula import Argument, Formula
from eslabon.compiler.operators import row_of
from eslabon.compiler.until import until
from eslabon.formulas.inputs import Q
from eslabon.model import Model
from eslabon.model.configuration import (
    free_to_turn,
    normalize,
)
from eslabon.model.scale import characteristic_length
from eslabon.numerics.least_squares import DAMPING, LOOK, STALLED
from eslabon.numerics.scalars import casadi
from eslabon.numerics.tolerances import COINCIDENT
from eslabon.solve.kernels import (
    LIMITS,
    OPTIONS,
    configuration_arguments,
    missed,
    number_arguments,
    search_step,
)
from eslabon.solve.problem import Problem
from eslabon.solve.ranges import TURN
from eslabon.solve.rows import EXACT_ROTATION

STARTS = 32  # other starts of a search for one pose in one native call


def pose_search(
    m: Model, q: Any, pose: Any, reference: Any, starts: Any, count: Any, tolerance: Any, lower: Any, upper: Any,
    limited: Any, problem: Problem,
) -> list[Any]:  # fmt: skip
    """The configuration that steps lead to from q, or else from the first of the other starts that
    arrives, `count` of them in all; what it misses, the steps, the error |r|^2, and a verdict: 1
    where it is a solution as near to the reference as whole turns and limits let it be, 0 where
    none was found, and -1 where the pose is not one to its last digits.

    It does just what `Solver.search` does with a batch: from every start within the limits, and
    where that fails without them.
    """
    R, p = pose[:3, :3], pose[:3, 3]
    x, goal = casadi.vertcat(casadi.vec(R.T), p), tolerance**2
    turning = np.flatnonzero(free_to_turn(m.nominal)).tolist()
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
    """As `numerics.least_squares.walk` without patience: the best configuration, its error, the
    steps."""
    nq, step = m.nq, search_step(m, problem)

    def take(state: Any, x: Any, goal: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
        q, best, before, steps = state[:nq], state[nq : 2 * nq], state[2 * nq], state[2 * nq + 1]
        q, best, error = step(q, best, before, x, DAMPING, goal, lower, upper)
        return casadi.vertcat(q, best, error, steps + (before > goal)), before <= goal

    def look(state: Any, x: Any, goal: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
        before, steps = state[2 * nq], state[2 * nq + 1]
        state, _, _ = until(take, state, x, goal, lower, upper, limit=LOOK)
        error, taken = state[2 * nq], state[2 * nq + 1] - steps
        falls = casadi.logic_or(error <= STALLED * before, error <= goal)
        return state, casadi.logic_not(casadi.logic_and(taken >= LOOK, falls))

    state = casadi.vertcat(q, q, np.inf, 0)
    state, _, _ = until(look, state, x, goal, lower, upper, limit=8)
    return state[nq : 2 * nq], state[2 * nq], state[2 * nq + 1]


def _turned(q: Any, reference: Any, lower: Any, upper: Any, turning: list[int]) -> Any:
    """As `Ranges.turned`: each angle as near to the reference as whole turns and limits let it
    be."""
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


POSE_SEARCH = Formula(
    "pose_search",
    pose_search,
    (
        Q,
        Argument("pose", (4, 4)),
        *configuration_arguments("reference"),
        Argument("starts", lambda m, problem: (STARTS, m.nq)),
        *number_arguments("count", "tolerance"),
        *LIMITS,
        *number_arguments("limited"),
    ),
    (
        *configuration_arguments("q"),
        *number_arguments("distance", "angle", "taken", "error", "verdict"),
    ),
    OPTIONS,
)
