"""The two forms that example 2 and table 1 compare, ready to integrate: explicit Gibbs-Appell, and with multipliers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

import eslabon as es
from eslabon.compiler.evaluate import evaluate
from eslabon.mechanism import Floats
from eslabon.motion.simulation.constraint_projection import project
from eslabon.reproductions.diaz.diaz_equations import AUGMENTED_RATES, Loops
from eslabon.reproductions.verdicts import greatest
from eslabon.solve.constraints.constraint_structure import constraint_structure

Torque = Callable[[float], Any]


@dataclass
class Reduced:
    """The independent coordinates and rates under explicit Gibbs-Appell equations."""

    m: es.Mechanism
    tau: Torque
    home: Floats
    loops: Loops = field(init=False)

    def __post_init__(self) -> None:
        self.loops = Loops(self.m, self.home)

    def start(self, v: Floats) -> Floats:
        return np.concatenate([self.home[self.loops.i], v[self.loops.i]])

    def state(self, y: Floats) -> tuple[Floats, Floats]:
        n = self.m.nu
        return self.loops.state(y[:n], y[n:])

    def rates(self, t: float, y: Floats) -> Floats:
        n = self.m.nu
        _, _, a = self.loops.motion(y[:n], y[n:], self.tau(t))
        return np.concatenate([y[n:], a[self.loops.i]])

    def projected(self, y: Floats) -> Floats:
        return y


@dataclass
class Augmented(Reduced):
    """All coordinates and rates, with multipliers for the loops; projected after every step, or left to drift."""

    project: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._rates: Any = evaluate(self.m, AUGMENTED_RATES, prepare=constraint_structure)

    def start(self, v: Floats) -> Floats:
        return np.concatenate([self.home, v])

    def state(self, y: Floats) -> tuple[Floats, Floats]:
        return y[: self.m.nq], y[self.m.nq :]

    def rates(self, t: float, y: Floats) -> Floats:
        made: Floats = self._rates(y, self.tau(t))
        return made

    def projected(self, y: Floats) -> Floats:
        return project(self.m, y) if self.project else y


@dataclass(frozen=True)
class Answer:
    """A run: times, all coordinates and rates, the evaluations it took and the seconds."""

    t: Floats
    q: Floats
    v: Floats
    evaluations: int
    seconds: float

    def gap(self, m: es.Mechanism) -> float:
        return greatest(m.constraint(self.q))


def integrate(form: Reduced, v: Floats, end: float, method: str, tolerance: float) -> Answer:
    """Step by step with SciPy's adaptive solver of that name; the end is a step."""
    import scipy.integrate

    evaluations = 0

    def rates(t: float, y: Floats) -> Floats:
        nonlocal evaluations
        evaluations += 1
        return form.rates(t, y)

    begun = perf_counter()
    solver = getattr(scipy.integrate, method)(
        rates, 0.0, form.start(v), end, rtol=tolerance, atol=tolerance
    )
    ts, ys = [0.0], [solver.y.copy()]
    while solver.status == "running":
        solver.step()
        projected = form.projected(solver.y)
        if projected is not solver.y:
            solver.y, solver.f = projected, rates(solver.t, projected)
        ts.append(solver.t)
        ys.append(solver.y.copy())
    seconds = perf_counter() - begun
    if solver.status != "finished":
        raise es.EslabonError(f"{method} stopped at t = {solver.t:g} s.")
    states = [form.state(y) for y in ys]
    q, rate = (np.array([state[k] for state in states]) for k in (0, 1))
    return Answer(np.array(ts), q, rate, evaluations, seconds)
