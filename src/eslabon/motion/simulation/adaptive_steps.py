"""Runs with adaptive methods (`integrate`): one trajectory, or many one after another.

With loops the rates are those of the constraint manifold (`equations_of_motion.manifold_rates`),
for which every method keeps its order and its error estimate; reported states are projected onto
the manifold. Forces that jump (a table that holds, a sampled law) cut the run into intervals, so
that no step crosses a jump.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import InputError
from eslabon.model.scale import characteristic_length
from eslabon.motion.simulation import equations_of_motion
from eslabon.motion.simulation.actuation import Control, Table
from eslabon.motion.simulation.applied_system import SwitchedForces, System
from eslabon.motion.simulation.branch_rates import BranchRates
from eslabon.motion.simulation.controller_memory import Memory, within
from eslabon.motion.simulation.integrate import Problem, Step, Stepper, StepSettings, StuckError
from eslabon.motion.simulation.mode_switches import (
    PARTS,
    Look,
    Modes,
    SwitchingError,
    sign_changes,
    zero_between,
)
from eslabon.motion.simulation.native_laws import Law
from eslabon.motion.simulation.python_laws import Called, ask
from eslabon.motion.simulation.run_outcome import Outcome
from eslabon.motion.simulation.sampled_laws import Sampler
from eslabon.motion.simulation.singular_passages import Passages

Function = Callable[[float, Floats], Any]
Event = Callable[[float, Floats, Floats], float]


@dataclass(frozen=True)
class Settings(StepSettings):
    """The same with what is told of a run; `report` says whether its times are those to report, or
    only its two ends."""

    report: bool
    events: Mapping[str, Event]


@dataclass
class Run:
    """One trajectory as it grows: states at the reported times, what the events found, and what it
    cost."""

    system: System
    control: Control
    x0: Floats
    span: Floats
    settings: Settings
    passages: Passages
    update: Callable[[float], None]  # told how much of the run is done
    t: list[float] = field(default_factory=list)
    x: list[Floats] = field(default_factory=list)
    remembered: list[Floats] = field(
        default_factory=list
    )  # by a law that is sampled or written in Python, at these times
    found: dict[str, list[tuple[float, Floats]]] = field(default_factory=dict)
    trouble: str = ""  # why it broke down

    def __post_init__(self) -> None:
        self.found = {name: [] for name in self.settings.events}
        self._ended = False
        self.stepper = Stepper(self.settings, self.span[0], self.span[-1])
        law = self.control if isinstance(self.control, Law) else None
        self.branch = BranchRates(self.system, law) if self.system.m.closed else None
        self._n, nu = self.system.m.nq + self.system.m.nv, self.system.m.nu
        law = self._law()
        limited = law is not None or self._is_table("linear", "cubic")
        self.switched = self.system.switched_forces(law, limited)
        self.modes: Modes | None = None
        self.acted: list[tuple[Floats, ...]] = []  # forces, and accelerations, at these times
        if isinstance(self.control, Called | Sampler):
            self.memory, self.x0 = Memory.of(self.x0[self._n :], nu), self.x0[: self._n]

    def integrate(self) -> None:
        """From the first time to the last."""
        start, x = self.span[0], self.system.projected(self.x0, self.span[0])
        self._sample(start, x)
        problem = self._problem(start)
        if problem.modes is not None:
            try:
                problem.modes.start(start, x)
            except (StuckError, SwitchingError) as error:
                self.trouble = self._reason(str(error))
                return
        self._keep(start, x)
        self.passages.add(start, x)
        if not np.isfinite(problem.rates(start, x)).all():  # SciPy would search a step for ever
            self.trouble = "its mass matrix is singular there, or a force on it is not finite."
            return
        for begin, end in pairwise(self._edges()):
            x = self._interval(begin, end, x)
            if self.trouble or self._ended:
                break
            self._sample(end, x)
        self.passages.finish()

    def projected(self, x: Floats, t: Floats | float) -> Floats:
        """States of this trajectory on the constraint manifold of their times."""
        if self.branch is not None:
            return self.branch.project(x, t)
        m = self.system.m  # of a tree only quaternions keep a length
        return x if m.nq == m.nv else self.system.projected(x, t)

    @property
    def branches(self) -> dict[tuple[int, ...], BranchRates]:
        """The rates near rank loss."""
        return {} if self.branch is None else {(): self.branch}

    @property
    def reached(self) -> float:
        return self.t[-1] if self.t else float(self.span[0])

    def outcome(self) -> Outcome:
        """What there is so far."""
        m = self.system.m

        def states(t: list[float], rows: list[Floats]) -> tuple[Floats, Floats]:
            return np.array(t), self.projected(np.reshape(rows, (-1, len(self.x0))), np.array(t))

        events = {
            name: states([t for t, _ in own], [x for _, x in own])
            for name, own in self.found.items()
        }
        t, x = states(self.t, self.x)
        evaluations = self.stepper.evaluations + (self.branch.neighbours if self.branch else 0)
        steps = self.stepper.steps
        made = Outcome(t, x[:, : self._n], steps, evaluations, events, state=x[:, self._n :])
        if self.acted:
            asked, tau, a = (np.array(rows) for rows in zip(*self.acted, strict=True))
            follows = self._law() is not None or self._is_table("linear", "cubic")
            made = made._replace(asked=asked, tau=tau, a=a) if follows else made._replace(a=a)
        if not isinstance(self.control, Called | Sampler):
            return made
        width = 3 * m.nu + self.memory.state.shape[-1]
        return made.remembering(Memory.of(np.reshape(self.remembered, (-1, width)), m.nu))

    def _edges(self) -> Floats:
        """Where the intervals begin and end: at jumps of the forces."""
        start, end, control = self.span[0], self.span[-1], self.control
        jumps = np.empty(0)
        if isinstance(control, Table) and control.kind in ("hold", "linear"):
            jumps = control.times  # of the forces, or of their slopes
        if isinstance(control, Sampler):
            self._agenda = control.agenda(end)
            jumps = np.array(list(self._agenda))
        slack = 1e-9 * (end - start)
        return np.concatenate(
            [[start], jumps[(jumps > start + slack) & (jumps < end - slack)], [end]]
        )

    def _sample(self, t: float, x: Floats) -> None:
        """Ask a sampled law at the end of an interval, if it is due."""
        if not isinstance(self.control, Sampler):
            return
        due = self.control.agenda(self.span[-1]) if t == self.span[0] else self._agenda
        near, slack = min(due, key=lambda s: abs(s - t)), 1e-9 * (self.span[-1] - self.span[0])
        if abs(near - t) <= slack:
            x = self.projected(x, t)
            self.memory = self.control.at(
                self.system.m, float(t), x, self.memory, due[near], self.system.limit
            )
            if self.t and self.t[-1] >= t - slack:  # reported already, as it was before
                self.remembered[-1] = self.memory.joined()

    # -- an interval without jumps ------------------------------------------------------------------------------

    def _interval(self, begin: float, end: float, x: Floats) -> Floats:
        """The state at its end."""
        problem, t = self._problem(0.5 * (begin + end)), begin
        events = [_Event(self, *event, begin, x) for event in self.settings.events.items()]
        try:
            for step in self.stepper.integrate(problem, x, begin, end):
                t, x = step.t, step.x
                self.passages.add(t, x)
                if self._after(step, events):
                    return x
        except (StuckError, SwitchingError) as error:
            self.trouble = self._reason(str(error))
            self._keep(t, x)
            return x
        return self.projected(x, end)

    def _reason(self, message: str | None) -> str:
        """Why time does not go on."""
        if self.branch is not None and (miss := self.branch.miss) is not None:
            length = miss.misfit * float(characteristic_length(self.system.m.nominal))
            return (
                f"it misses a singular configuration there by {length:.1g} m, too little to be followed at "
                f"rtol = {self.settings.rtol:g}; loosen the tolerances, or change that length."
            )
        return message or "the step it would need is too small."

    # -- after a step -------------------------------------------------------------------------------------------

    def _after(self, step: Step, events: list[_Event]) -> bool:
        """Look for events in the step, report what is to be reported; whether an event ends the
        run."""
        before, t = step.before, step.t
        if self.branch is not None:
            self.branch.step_done()
        inside = np.array([t])
        if self.settings.report:
            inside = self.span[(self.span > before) & (self.span <= t)]
        happened = sorted(
            (when, name)
            for name, event in zip(self.found, events, strict=True)
            for when in event.between(step)
        )
        for when, name in happened:
            self.found[name].append((when, step.dense(when)))
            if self._is_last(name):
                self._report([*inside[inside < when], when], step)
                self._ended = True
                return True
        self._report(inside, step)
        self.update((t - self.span[0]) / (self.span[-1] - self.span[0]))
        return False

    def _is_last(self, name: str) -> bool:
        terminal = getattr(self.settings.events[name], "terminal", False)
        return bool(terminal) and len(self.found[name]) >= int(terminal)

    def _report(self, times: Any, step: Step) -> None:
        for t in times:
            self._keep(t, step.x if t == step.t else step.dense(t))

    def _keep(self, t: float, x: Floats) -> None:
        """A row, if it is later than those there are."""
        if self.t and t <= self.t[-1]:
            return
        if isinstance(self.control, Called):
            y, nq = self.projected(x, t), self.system.m.nq
            asked = self.control(float(t), y[:nq], y[nq:])
            acting = within(asked, self.system.limit)
            self.memory = Memory(acting, acting, asked, self.memory.state)
        if isinstance(self.control, Called | Sampler):
            self.remembered.append(self.memory.joined())
        if self.modes is not None:
            self.acted.append(self._acting(t, x))
        self.t.append(float(t))
        self.x.append(x)

    # -- rates --------------------------------------------------------------------------------------------------

    def _problem(self, middle: float) -> Problem:
        """dx/dt and its derivative by x, where that is known: not under a Python function.

        `middle` is a time at which forces that hold have the value they have all along.
        """
        system, branch, law, known = (
            self.system,
            self.branch,
            self._law(),
            self._known_forces(middle),
        )
        manifold: dict[str, Any] = {}
        if branch is not None:
            manifold = {"project": self.projected, "renewable": lambda: not branch.refuses}
        python = isinstance(self.control, Called)
        if self.switched is not None:
            bound = _Bound(self.switched, known, self.stepper.counted(self.switched.rates(branch)))
            self.modes = self.modes or Modes(bound, float(self.span[-1] - self.span[0]))
            self.modes.system = bound
            frozen = None if python else partial(_frozen_jacobian, self.modes)
            return Problem(self.modes.rates, frozen, self.modes, **manifold)
        f: Callable[..., Any] = system.rates(law) if branch is None else branch

        def jacobian(t: float, x: Floats) -> Any:
            f = system.function(equations_of_motion.JACOBIAN, law=law)
            tau = known(t, x)
            return f(t, x, tau) if branch is None else branch.jacobian(f, t, x, tau)

        rates = self.stepper.counted(lambda t, x: f(t, x, known(t, x)))
        return Problem(rates, None if python else jacobian, **manifold)

    def _law(self) -> Law | None:
        return self.control if isinstance(self.control, Law) else None

    def _is_table(self, *kinds: str) -> bool:
        return isinstance(self.control, Table) and self.control.kind in kinds

    def _known_forces(self, middle: float) -> Callable[[float, Floats], Floats]:
        """The forces besides those of a traced law, also at many times."""
        control, nq, n = self.control, self.system.m.nq, self._n
        limit = self.system.limit if self.switched and not self.switched.acting.limit else ()
        if isinstance(control, Called):

            def asked(t: Any, x: Floats) -> Floats:
                if np.ndim(t):
                    return np.array([asked(*own) for own in zip(t, x, strict=True)])
                return within(control(t, x[:nq], x[nq:n]), limit)

            return asked
        if isinstance(control, Table) and not control.holds:
            return lambda t, x: control.at(t)
        tau = control.at(middle) if isinstance(control, Table) else np.zeros(self.system.m.nu)
        tau = within(self.memory.acting if isinstance(control, Sampler) else tau, limit)
        return lambda t, x: tau

    def _acting(self, t: float, x: Floats) -> tuple[Floats, ...]:
        """The forces that are commanded and that act at a state, and its accelerations."""
        assert self.modes is not None
        m, x = self.system.m, self.projected(x, t)
        bound: Any = self.modes.system
        commanded, actuators, _, _ = bound.forces(t, x, self.modes.at(t, x))
        return commanded, actuators, self.modes.rates(t, x)[m.nq : m.nq + m.nv]


@dataclass(frozen=True)
class _Bound:
    """Switched rates under the forces that are known in an interval."""

    forces_of: SwitchedForces
    known: Callable[[Any, Floats], Floats]
    counted: Callable[..., Floats]

    @property
    def names(self) -> tuple[str, ...]:
        return self.forces_of.layout.names

    def settled(self, modes: Floats) -> Floats:
        return self.forces_of.layout.settled(modes)

    def rates(self, t: float, x: Floats, modes: Floats) -> Floats:
        return self.counted(t, x, self.known(t, x), modes)

    def surfaces(self, t: Any, x: Floats, modes: Floats, rates: Floats) -> tuple[Floats, Floats]:
        return self.forces_of.surfaces(t, x, self.known(t, x), modes, rates)

    def choices(self, t: float, x: Floats) -> Floats:
        return self.forces_of.choices(t, x, self.known(t, x))

    def forces(self, t: float, x: Floats, modes: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        return self.forces_of.forces(t, x, self.known(t, x), modes)


def _frozen_jacobian(modes: Modes, t: float, x: Floats) -> Floats:
    """The derivative of dx/dt by x with the present modes."""
    bound: Any = modes.system
    return np.asarray(bound.forces_of.jacobian(t, x, bound.known(t, x), modes.modes))


class Runs:
    """Many trajectories, one after another, at common times; one that breaks down is NaN from there
    on."""

    def __init__(
        self, system: System, control: Control, x0: Floats, span: Floats, settings: Settings, passages: Passages,
        update: Callable[[float], None],
    ) -> None:  # fmt: skip
        self.passages, self.span, self.shape = passages, span, (*x0.shape[:-1], len(span))
        batch, count = x0.shape[:-1], math.prod(x0.shape[:-1])
        self.runs = {}
        for k, index in enumerate(np.ndindex(batch)):
            own = control
            if isinstance(control, Table | Law | Sampler):
                own = control.pick(batch, index)
            part, picked = (
                partial(lambda k, done: update((k + done) / count), k),
                system.pick(batch, index),
            )
            passed = Passages(system.m, passages.wanted, designs=picked.designs)
            self.runs[index] = Run(picked, own, x0[index], span, settings, passed, part)

    @property
    def branches(self) -> dict[tuple[int, ...], BranchRates]:
        """The rates near rank loss of all trajectories."""
        return {at: run.branch for at, run in self.runs.items() if run.branch is not None}

    @property
    def reached(self) -> float:
        return self.running.reached

    def integrate(self) -> None:
        for index, run in self.runs.items():
            self.running = run
            run.integrate()
            self.passages.first[index] = run.passages.first
            self.passages.found += [p._replace(trajectory=index) for p in run.passages.found[:1]]

    def outcome(self) -> Outcome:
        """What there is so far, at the common times."""
        parts = {index: run.outcome() for index, run in self.runs.items()}

        def common(what: str) -> Floats | None:
            if all(getattr(own, what) is None for own in parts.values()):
                return None
            rows = {
                index: getattr(own, what)[np.isin(own.t, self.span)] for index, own in parts.items()
            }
            made = np.full((*self.shape, next(iter(rows.values())).shape[-1]), np.nan)
            for index, own in rows.items():
                made[index][: len(own)] = own
            return made

        steps, evaluations = (
            sum(getattr(own, what) for own in parts.values()) for what in ("steps", "evaluations")
        )
        made: dict[str, Any] = {what: common(what) for what in ("x", "tau", "asked", "state", "a")}
        return Outcome(self.span, steps=steps, evaluations=evaluations, **made)


class _Event:
    """A user's function of t, q and v whose zeros are looked for, from where an interval begins."""

    def __init__(self, run: Run, name: str, function: Event, t: float, x: Floats) -> None:
        self._run, self._name, self._function = run, name, function
        self._direction = getattr(function, "direction", 0)
        self._value = self(t, x)

    def __call__(self, t: float, x: Floats) -> float:
        m, x = self._run.system.m, self._run.projected(x, t)
        nq, n = m.nq, m.nq + m.nv
        value = float(ask(self._function, f"the event '{self._name}'", (), t, x[:nq], x[nq:n]))
        if math.isnan(value):
            raise InputError(
                f"the event '{self._name}' is NaN at t = {t:g} s; its zero cannot be looked for."
            )
        return value

    def between(self, step: Step) -> list[float]:
        """When the function goes through zero in the way that is looked for."""
        dense = step.dense

        def value(s: float) -> Floats:
            return np.array([self(s, dense(s))])

        times = np.linspace(step.before, step.t, PARTS + 1).tolist()
        looks = [
            Look(step.before, np.array([self._value])),
            *(Look(s, value(s)) for s in times[1:]),
        ]
        found = []
        for _, start, end, rises in sign_changes(looks, value):
            if self._direction == 0 or (self._direction > 0) == rises:
                found.append(zero_between(lambda s: self(s, dense(s)), start, end))
        self._value = float(looks[-1].values[0])
        return found
