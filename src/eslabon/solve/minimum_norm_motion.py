"""The motion of a redundant mechanism along a path whose velocities are of minimum norm at every instant."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.model import Model
from eslabon.model.configuration import coordinate_velocities, normalize
from eslabon.solve.problem import Problem
from eslabon.solve.ranges import Ranges
from eslabon.solve.rates import RATES_OF_TWISTS, rates
from eslabon.solve.refinement import Refinement
from eslabon.solve.solver import Lanes


class Twisting(Protocol):
    """What has a twist at every instant."""

    def twist(self, t: float) -> Floats: ...


def minimum_norm_motion(
    m: Model, problem: Problem, values: Floats, path: Twisting, t: Floats, q: Floats
) -> Floats:
    """Configurations (rows, nq) at times t: an ordinary differential equation from q, integrated by SciPy and
    corrected at the rows, whose values (rows, size) it must have."""
    from scipy.integrate import solve_ivp

    of_twists, still = evaluate(m, RATES_OF_TWISTS, problem=problem), np.zeros(6)

    def speed(time: float, x: Floats) -> Floats:
        x = np.asarray(normalize(m, x))
        twist = np.asarray(path.twist(min(max(time, t[0]), t[-1])), dtype=float)
        first, second = of_twists(x, twist, still)
        return np.asarray(coordinate_velocities(m, x, rates(m, problem, x, first, second).v))

    if len(t) == 1:
        return q[None]
    longest = float(t[-1] - t[0]) / 8
    found = solve_ivp(speed, (t[0], t[-1]), q, "DOP853", t, rtol=1e-9, atol=1e-11, max_step=longest)
    lanes = Lanes(found.y.T, values, np.zeros((len(t), 0)))
    refinement = Refinement(m, problem, Ranges.of(m).unlimited)
    return refinement.corrected(np.asarray(normalize(m, found.y.T)), lanes)
