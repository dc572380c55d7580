"""Steps of SciPy's adaptive methods, by their public interface: a solver is made, steps, and tells
where it is.

What is integrated is a `Problem`, of a mechanism, a bond graph or anything else: rates, and if
there are such things their Jacobian, modes that choose between smooth rates, and a constraint
manifold. A new solver begins where a mode changes, and where one has drifted off the manifold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.motion.simulation.mode_switches import PARTS, Modes

METHODS = ("DOP853", "RK45", "LSODA", "Radau", "BDF")
IMPLICIT = ("LSODA", "Radau", "BDF")
MULTISTEP = ("LSODA", "BDF")  # which begin anew with steps of low order

DRIFT, DRIFT_MULTISTEP = 0.1, 10.0  # tolerances that a solver may drift off the manifold
OFTEN = 10  # steps before it is looked at again
PATIENCE = 20_000  # evaluations in which a run must get ahead by
LEAST = 1e-7  # of its length

Rates = Callable[[float, Floats], Any]


class StuckError(Exception):
    """Time does not go on; the text may say why."""


@dataclass(frozen=True)
class StepSettings:
    """What SciPy is told: a method, tolerances, and the longest step."""

    method: str
    rtol: float
    atol: Any
    longest: float


@dataclass(frozen=True)
class Problem:
    """What is integrated until its forces jump.

    Attributes
    ----------
    rates : dx/dt at a time and a state.
    jacobian : its derivative by x; None where it is not known.
    modes : where the rates choose, whose `rates` these then are.
    project : the state on the constraint manifold at a time; None where there is no such manifold.
    renewable : whether a solver may be put back onto the manifold where it is.
    """

    rates: Rates
    jacobian: Rates | None = None
    modes: Modes | None = None
    project: Callable[[Floats, float], Floats] | None = None
    renewable: Callable[[], bool] = lambda: True

    def projected(self, x: Floats, t: float) -> Floats:
        """The state on the manifold, if there is one."""
        return x if self.project is None else self.project(x, t)


class Step:
    """A step that was made, up to a time t and a state x, which may lie within it."""

    def __init__(self, solver: Any) -> None:
        self._solver, self.before, self.end = solver, solver.t_old, solver.t
        self.t, self.x = solver.t, np.array(solver.y)

    @cached_property
    def dense(self) -> Any:
        """The state at times within it."""
        return self._solver.dense_output()

    def state(self, t: Any) -> Floats:
        """The same, (..., n)."""
        x = np.array(self.dense(t).T)
        x[np.asarray(t) == self.end] = self._solver.y
        return x


class Stepper:
    """The steps of a run, and what they cost."""

    def __init__(self, settings: StepSettings, start: float, end: float) -> None:
        self.settings, self.steps, self.evaluations = settings, 0, 0
        self._length, self._mark, self._limit, self._begun = end - start, start, PATIENCE, 0

    def counted(self, rates: Callable[..., Any]) -> Callable[..., Any]:
        """The rates, counted, as long as they lead somewhere."""

        def counted(*arguments: Any) -> Any:
            self.evaluations += 1
            if self.evaluations > self._limit:
                raise StuckError
            return rates(*arguments)

        return counted

    def integrate(self, problem: Problem, x: Floats, begin: float, end: float) -> Iterator[Step]:
        """From a state at a time to another time, step by step. A `StuckError` or a
        `SwitchingError` says why not."""
        modes, t = problem.modes, begin
        if modes is not None:
            modes.start(begin, x)
        solver = self._solver(problem, begin, x, end)
        while solver.status == "running":
            f = getattr(solver, "f", None)
            y, message = solver.y, solver.step()
            if solver.status == "failed":
                raise StuckError(message or "")
            step, surface = Step(solver), None
            if modes is not None and not self._keeps_clear(modes, y, f, solver):
                surface = self._first_switch(modes, problem, step)
            t = step.t
            self.steps += 1
            if t >= self._mark + LEAST * self._length:
                self._mark, self._limit = t, self.evaluations + PATIENCE
            yield step
            if surface is None:
                solver = self._renewed(problem, solver, end)
                continue
            assert modes is not None
            modes.switch(t, step.x, surface, self._sizes)
            self._limit = self.evaluations + PATIENCE
            if not t < end:
                break
            solver = self._solver(problem, t, step.x, end, solver.step_size)

    def _keeps_clear(self, modes: Modes, y: Floats, f: Floats | None, solver: Any) -> bool:
        """Whether the surfaces are so far away in a step that they need no closer look."""
        if f is None or not modes.keeps_clear(solver.t_old, y, f, solver.t, solver.y, solver.f):
            return False
        modes.step_done()
        return True

    def _first_switch(self, modes: Modes, problem: Problem, step: Step) -> int | None:
        """End the step where a mode changes first, and tell its surface; one that changes nothing
        is made without notice."""
        begin, end = step.before, step.end
        while (found := modes.first_switch(begin, end, step.state)) is not None:
            t, surface = found
            if not modes.is_idle(t, step.state(t), end, step.state(end), surface):
                self._sizes = modes.sizes(np.linspace(step.before, end, PARTS + 1), step.state)
                step.t, step.x = t, problem.projected(step.state(t), t)
                return surface
            modes.flip(surface)
            begin = t
        modes.step_done()
        return None

    def _solver(self, problem: Problem, t: float, x: Floats, end: float, first: Any = None) -> Any:
        """A new one from here on."""
        from scipy import integrate

        said = self.settings
        options = {"rtol": said.rtol, "atol": said.atol, "max_step": said.longest}
        sliding = problem.modes is not None and problem.modes.held
        if said.method in IMPLICIT and problem.jacobian is not None and not sliding:
            options["jac"] = problem.jacobian
        if first is not None and said.method not in MULTISTEP:
            options["first_step"] = min(first, end - t)
        self._begun = self.steps
        # SciPy divides by tolerances, which may be zero, to find its first step.
        with np.errstate(all="ignore"):
            return getattr(integrate, said.method)(problem.rates, t, x, end, **options)

    def _renewed(self, problem: Problem, solver: Any, end: float) -> Any:
        """The solver; or another one, where it has drifted off the manifold."""
        if (
            problem.project is None
            or solver.status != "running"
            or not problem.renewable()
            or self.steps < self._begun + OFTEN
        ):
            return solver
        y, first = problem.project(solver.y, solver.t), solver.step_size
        drift = DRIFT_MULTISTEP if self.settings.method in MULTISTEP else DRIFT
        allowed = drift * (self.settings.atol + self.settings.rtol * np.abs(y))
        if not np.any(np.abs(y - solver.y) > allowed):
            return solver
        return self._solver(problem, solver.t, y, end, first)
