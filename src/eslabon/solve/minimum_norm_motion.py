"""The motion of a redundant mechanism along a path whose velocities are of minimum norm at every
instant."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.model import Model
from eslabon.model.configuration import coordinate_velocities, normalize
from eslabon.solve.problem import Problem
from eslabon.solve.ranges import Ranges
from eslabon.solve.rates import RATES_OF_TWISTS, Rates, rates
from eslabon.solve.refinement import Refinement
from eslabon.solve.solver import Lanes

# Of the rates: a motion that needs more crawls into a singular configuration.
MOST_EVALUATIONS = 20_000
# Of the velocity that is asked for: what is missed of it where the mechanism cannot follow.
LOST = 1e-3


class Twisting(Protocol):
    """What has a twist at every instant."""

    def twist(self, t: float) -> Floats: ...


def minimum_norm_motion(
    m: Model, problem: Problem, values: Floats, path: Twisting, t: Floats, q: Floats
) -> Floats:
    """Configurations (rows, nq) at times t: an ordinary differential equation from q, integrated by
    SciPy and corrected at the rows, whose values (rows, size) it must have. Where the mechanism
    cannot move as the path asks, the motion ends: later rows begin at the last configuration."""
    from scipy.integrate import DOP853

    of_twists, still = evaluate(m, RATES_OF_TWISTS, problem=problem), np.zeros(6)

    def asked_rates(time: float, x: Floats) -> tuple[Floats, Rates]:
        twist = np.asarray(path.twist(min(max(time, t[0]), t[-1])), dtype=float)
        first, second = of_twists(x, twist, still)
        return first, rates(m, problem, x, first, second)

    def speed(time: float, x: Floats) -> Floats:
        x = np.asarray(normalize(m, x))
        return np.asarray(coordinate_velocities(m, x, asked_rates(time, x)[1].v))

    reached = np.repeat(q[None], len(t), axis=0)
    if len(t) > 1:
        longest = float(t[-1] - t[0]) / 8
        run = DOP853(speed, t[0], q, t[-1], rtol=1e-9, atol=1e-11, max_step=longest)
        while run.status == "running" and run.nfev < MOST_EVALUATIONS:
            run.step()
            if run.status == "failed":
                break
            after = t > run.t_old
            reached[after] = run.dense_output()(np.minimum(t[after], run.t)).T
            asked, made = asked_rates(run.t, np.asarray(normalize(m, run.y)))
            if made.slip > LOST * np.abs(asked).max(initial=0.0):
                break
    reached = np.asarray(normalize(m, reached))
    lanes = Lanes(reached, values, np.zeros((len(t), 0)))
    return Refinement(m, problem, Ranges.of(m).unlimited).corrected(reached, lanes)
