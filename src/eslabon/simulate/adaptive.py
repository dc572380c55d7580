"""Runs with SciPy's adaptive methods: the step follows the tolerances, the rates are one native call.

A quaternion's length drops out of the equations, and the methods keep it to their tolerance; reported ones have length
one. Forces that jump (a table that holds) cut the run into pieces, so that no step crosses a jump.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from eslabon.graph.native import InputError
from eslabon.graph.native.arguments import Floats
from eslabon.simulate import equations
from eslabon.simulate.control import Called, Table, Traced
from eslabon.simulate.kept import kept
from eslabon.simulate.progress import Part, Progress
from eslabon.simulate.system import System

METHODS = ("DOP853", "RK45", "LSODA", "Radau", "BDF")
IMPLICIT = ("LSODA", "Radau", "BDF")

PATIENCE = 10_000  # evaluations in which a run must get ahead by
LEAST = 1e-12  # of its length

Function = Callable[[float, Floats], Any]
Event = Callable[[float, Floats, Floats], float]


class _Stuck(Exception):
    """Time does not go on: LSODA would try for ever."""


@dataclass(frozen=True)
class Settings:
    """What SciPy is told; `report` says whether the times of a run are those to report, or only its two ends."""

    method: str
    rtol: float
    atol: Any
    largest: float
    report: bool
    events: Mapping[str, Event]


@dataclass
class Run:
    """One trajectory as it grows: states at the reported times, what the events found, and what it cost."""

    system: System
    span: Floats
    settings: Settings
    progress: Progress | Part
    t: list[float] = field(default_factory=list)
    x: list[Floats] = field(default_factory=list)
    found: dict[str, list[tuple[float, Floats]]] = field(default_factory=dict)
    steps: int = 0
    evaluations: int = 0
    trouble: str = ""  # why it broke down

    def integrate(self, x: Floats) -> None:
        """From the first time to the last. An interrupt leaves what there is."""
        self.found = {name: [] for name in self.settings.events}
        start = self.span[0]
        if not np.isfinite(functions(self.system, start)[0](start, x)).all():  # SciPy would search a step for ever
            self.trouble = "its mass matrix is singular there, or a force on it is not finite."
            self._keep([(start, x)])
            return
        for begin, end in pairwise(self._edges()):
            status, x = self._piece(begin, end, x)
            if status != 0:
                return

    def _edges(self) -> Floats:
        """Where the pieces begin and end: at jumps of the forces."""
        start, end, control = self.span[0], self.span[-1], self.system.control
        jumps = control.times if isinstance(control, Table) and control.holds else np.empty(0)
        slack = 1e-9 * (end - start)
        return np.concatenate([[start], jumps[(jumps > start + slack) & (jumps < end - slack)], [end]])

    def _piece(self, begin: float, end: float, x: Floats) -> tuple[int, Floats]:
        """A part without jumps: SciPy's status, and the state at its end."""
        from scipy.integrate import solve_ivp

        own: list[tuple[float, Floats]] = []
        last = end == self.span[-1]
        wanted = self.span[(self.span >= begin) & ((self.span < end) | last)] if self.settings.report else None
        try:
            answer = solve_ivp(t_span=(begin, end), y0=x, t_eval=wanted, **self._options(begin, end, own))
        except (KeyboardInterrupt, _Stuck) as stop:
            self._keep(row for row in own if np.isfinite(row[1]).all())
            if isinstance(stop, KeyboardInterrupt):
                raise
            self.trouble = "the step it would need is too small."
            return -1, x
        self.evaluations += answer.nfev
        self.steps += len(own) - 1
        for happened, t, y in zip(self.found.values(), answer.t_events[1:], answer.y_events[1:], strict=True):
            happened += zip(t.tolist(), y, strict=True)
        rows = list(zip(answer.t, np.transpose(answer.y), strict=True))
        # The end of a piece is where the next one begins; the end of a run that stops early is shown in any case.
        self._keep(rows if last or wanted is not None or answer.status else rows[:-1])
        if answer.status == 1:
            self._keep([max(((h[-1] for h in self.found.values() if h)), key=lambda row: row[0])])
        if answer.status == -1:
            self.trouble = answer.message
            self._keep(own[-1:])
        return answer.status, equations.settled(self.system.m, own[-1][1])

    def _watch(self, own: list[tuple[float, Floats]]) -> Function:
        """An event that never happens: SciPy calls it after every step."""
        start, length = self.span[0], self.span[-1] - self.span[0]

        def watch(t: float, x: Floats) -> float:
            own.append((t, x.copy()))
            self.progress.update((t - start) / length)
            return 1.0

        return watch

    def _guarded(self, rates: Function, own: list[tuple[float, Floats]]) -> Function:
        """The rates, as long as they lead somewhere."""
        count, mark, least = 0, -np.inf, LEAST * (self.span[-1] - self.span[0])

        def guarded(t: float, x: Floats) -> Any:
            nonlocal count, mark
            count += 1
            if count % PATIENCE == 0:
                if own and own[-1][0] < mark + least:
                    raise _Stuck
                mark = own[-1][0] if own else mark
            return rates(t, x)

        return guarded

    def _options(self, begin: float, end: float, own: list[tuple[float, Floats]]) -> dict[str, Any]:
        said, watch = self.settings, self._watch(own)
        rates, jacobian = functions(self.system, 0.5 * (begin + end))
        rates = self._guarded(rates, own)
        options: dict[str, Any] = {"jac": jacobian} if said.method in IMPLICIT and jacobian is not None else {}
        events = [watch, *(_event(self.system, event) for event in said.events.values())]
        tolerances = {"rtol": said.rtol, "atol": said.atol, "max_step": said.largest}
        method: Any = said.method
        if self.system.m.closed:
            method, options["settle"] = kept(said.method), partial(equations.settled, self.system.m)
        return {"fun": rates, "method": method, "events": events, **tolerances, **options}

    def _keep(self, rows: Iterable[tuple[float, Floats]]) -> None:
        """Rows that are later than those there are."""
        for t, x in rows:
            if not self.t or t > self.t[-1]:
                self.t.append(float(t))
                self.x.append(x)


def functions(system: System, middle: float) -> tuple[Function, Function | None]:
    """dx/dt as SciPy wants it, and its derivative by x where it is known: not under a Python function.

    `middle` is a time at which forces that hold have the value they have all along.
    """
    control, nq, constants = system.control, system.m.nq, system.constants
    if isinstance(control, Called):
        f = system.rates
        return lambda t, x: f(x[:nq], x[nq:], control(t, x[:nq], x[nq:]), *constants), None
    if isinstance(control, Traced):

        def made(g: Any) -> Function:
            return lambda t, x: g(np.array(t), x[:nq], x[nq:], *constants)

    elif isinstance(control, Table) and not control.holds:

        def made(g: Any) -> Function:
            return lambda t, x: g(x[:nq], x[nq:], control.at(t), *constants)

    else:
        tau = np.zeros(system.m.nu) if control is None else np.array(control.at(middle))

        def made(g: Any) -> Function:
            return lambda t, x: g(x[:nq], x[nq:], tau, *constants)

    return made(system.rates), lambda t, x: made(system.jacobian)(t, x)


def _event(system: System, event: Event) -> Function:
    """A user's event as SciPy calls it, with what the user said about it."""
    nq = system.m.nq

    def seen(t: float, x: Floats) -> float:
        x = equations.settled(system.m, x)
        try:
            value = event(t, x[:nq], x[nq:])
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise  # from inside the event: the user wants to see where
            raise InputError(f"an event is called as event(t, q, v), and gives a number: {error}.") from None
        if np.ndim(value) != 0 or isinstance(value, str) or value is None:
            raise InputError(f"an event gives a number whose zero is looked for; it gave {value!r}.")
        return float(value)

    seen.terminal = getattr(event, "terminal", False)  # type: ignore[attr-defined]
    seen.direction = getattr(event, "direction", 0)  # type: ignore[attr-defined]
    return seen
