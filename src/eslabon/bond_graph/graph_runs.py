"""Runs of a bond graph: SciPy's adaptive methods on native rates, or rk4 with the loop over steps
in native code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, choice, count, finite, known_words, text
from eslabon.arguments import names as words
from eslabon.bond_graph import graph_formulas as equations
from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.elements import Element
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import JACOBIAN, RATES, X, input_names, order
from eslabon.bond_graph.graph_switching import (
    SwitchedGraph,
    choices_of,
    follow_inputs,
    frozen_variables,
)
from eslabon.bond_graph.graph_values import (
    BondVariables,
    bond_variables,
    function,
    require_states,
    state,
)
from eslabon.bond_graph.junction_structure import junction_structure
from eslabon.compiler.calls import subroutine
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.displays import displayed
from eslabon.errors import EslabonError, InputError, ModelError, suggest
from eslabon.model.parameter_expressions import ParameterExpression, leaves
from eslabon.motion.simulation.actuation import Table
from eslabon.motion.simulation.integrate import (
    IMPLICIT,
    Problem,
    Step,
    Stepper,
    StepSettings,
    StuckError,
)
from eslabon.motion.simulation.integrate import METHODS as ADAPTIVE
from eslabon.motion.simulation.mode_switches import Modes
from eslabon.motion.simulation.run_options import grid, step_of, times_of, tolerances
from eslabon.motion.simulation.simulation_errors import SimulationError
from eslabon.motion.simulation.step_formulas import rk4
from eslabon.numerics.scalars import casadi
from eslabon.pages.notebook import in_time
from eslabon.plotting import by_unit, saved, time_figure

if TYPE_CHECKING:
    from eslabon.bond_graph.energy_balance import EnergyBalance

STAGES = (0.0, 0.5, 1.0)  # of rk4
METHODS = (*ADAPTIVE, "rk4")


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Response:
    """States in time: `t` is (times,), `x` (..., times, n), `u` (..., times, nu); ["q3"] is a state
    or an input by name.

    Where an input jumps, `u` has the value from then on. `modes` are the choices of laws that jump,
    such as friction that holds.
    """

    t: Floats
    x: Floats
    u: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    graph: Graph
    method: str
    modes: Floats | None = None

    @property
    def end(self) -> Floats:
        """The last state."""
        return self.x[..., -1, :]

    def bond_variables(self) -> BondVariables:
        """Efforts and flows of all bonds along the run."""
        if self.modes is not None:
            return frozen_variables(self.graph, self.x, self.u, self.t, self.modes)
        return bond_variables(self.graph, self.x, self.u, self.t)

    def energy_balance(self) -> EnergyBalance:
        """Power and energy of every element along the run, the largest first: who stores, who
        dissipates, who supplies.

        >>> import eslabon as es, numpy as np
        >>> g = es.BondGraph("low_pass", {"V": "Se", "j": "1", "R": "R: 2", "C": "C: 0.1"}, ["V -> j -> R", "j -> C"])
        >>> print(g.simulate([0.0], np.linspace(0, 0.2, 201), [10.0]).energy_balance())
        Energy balance of low_pass, 0 to 0.2 s
          V Se       -6.3212 J
          R R         4.3233 J
          C C         1.9979 J
        """
        from eslabon.bond_graph.energy_balance import energy_balance

        return energy_balance(self)

    def plot(self, *names: str, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure of states, inputs, efforts and flows in time, by name; of all states
        and inputs if none is given. What has the same unit shares a panel.

        >>> import eslabon as es
        >>> run = es.BondGraph.load("morales_puma").simulate(None, 1.0, [2.0, 1.0])
        >>> [ax.get_ylabel() for ax in run.plot("e3", "e23", "f2").axes]
        ['[N m]', 'f2 [rad/s]']
        """
        shown = words(names, "names") or (*self.states, *self.inputs)
        columns = [
            (name, self.graph.unit(name) if name in self.graph.signals else "") for name in shown
        ]
        values = np.stack([self[name] for name in shown], axis=-1)
        return saved(
            time_figure(self.t, by_unit("", columns, values), theme=theme, title=repr(self)[1:-1]),
            path,
        )

    def __getitem__(self, name: str) -> Floats:
        if text(name, "what is asked of a response") in self.states:
            return self.x[..., self.states.index(name)]
        if name in self.inputs:
            return self.u[..., self.inputs.index(name)]
        if name in self.graph.signals:  # an effort or a flow
            return self.bond_variables()[name]
        raise ModelError(
            f"the response of {self.graph.name} has no {name!r}{suggest(name, (*self.states, *self.inputs))}"
        )

    def _pieces(self) -> Iterator[str]:
        first = (0,) * (self.x.ndim - 2)
        curves = [(name, "", self[name][first]) for name in (*self.states, *self.inputs)]
        yield in_time(self.t, curves)

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.states, *self.inputs, *self.graph.signals]

    def __repr__(self) -> str:
        return f"<Response of {self.graph.name}: {self.t[0]:g} to {self.t[-1]:g} s, {len(self.t)} times, {self.method}>"


def simulate(
    g: Graph,
    x0: ArrayLike | None,
    t: ArrayLike,
    inputs: Any = None,
    *,
    method: str = "DOP853",
    step: float | None = None,
    every: int = 1,
    rtol: float = 1e-8,
    atol: ArrayLike = 1e-10,
) -> Response:
    """Integrate x' = f(x, u).

    Parameters
    ----------
    x0 : where it starts, (n,), or with rk4 (..., n); None is zero.
    t : a duration, (start, end), or three or more times at which to report.
    inputs : None where there are none, or all are zero; constants (nu,); (times, values) that hold
        from one time to the next; a `simulate.Table`; constants by name; or a Python function of
        the time.
    method : one of SciPy's ("DOP853", "RK45", "LSODA", "Radau", "BDF"), or "rk4" with a fixed step
        in native code.
    step : of rk4; the longest one of the others.
    every : how many steps of rk4 from one report to the next, if t does not say it.
    rtol, atol : tolerances of the adaptive methods.

    >>> import eslabon as es
    >>> g = es.BondGraph.load("morales_puma")
    >>> run = g.simulate(None, 15.0, ([0.0, 8.0], [[2.0, 1.0], [4.0, 3.0]]))     # e1 and e25, with a step at 8 s
    >>> print(run["e3"][-1].round(3), run["e23"][-1].round(3))
    4.0 2.998
    """
    choice(method, "method", METHODS)
    require_states(g)
    loops = False  # to be looked at afterwards
    times, report = times_of(t)
    start = state(g, np.zeros(order(g)) if x0 is None else x0)
    given = _inputs(g, inputs, times[0])
    if isinstance(given, Table):
        _check(g, given, times[0], times[-1])
    modes: Floats | None = None
    if method == "rk4":
        moments, every = grid(times, report, step_of(step, times), every, method)
        x = _fixed(g, start, given, moments, every)
        loops = bool(junction_structure(g.nominal).algebraic_loops)
    else:
        if count(every, "every", 1) != 1:
            raise InputError(
                f"{method} chooses its own steps; say when to report by an array t instead of every."
            )
        if start.ndim > 1 or (isinstance(given, Table) and given.values.ndim > 2):
            raise InputError(
                f"{method} takes one state at the start; many go together with method='rk4' and a step."
            )
        settings = StepSettings(
            method, *tolerances(rtol, atol, start.shape[-1]), step_of(step, times) or np.inf
        )
        run = _AdaptiveRun(g, start, given, times, report, settings)
        run.integrate()
        moments, x = np.array(run.t), np.array(run.x)
        modes = np.array(run.chosen) if run.modes is not None else None
    u = given.at(moments) if isinstance(given, Table) else _called(g, given, moments)
    made = Response(moments, x, np.array(np.broadcast_to(u, (*x.shape[:-1], u.shape[-1]))), causality(g).states,
        input_names(g), g, method, modes)  # fmt: skip
    if not np.isfinite(x).all():
        raise SimulationError(f"{g.name} broke down: its states are no longer finite; a shorter step or an adaptive method may "
            "help.")  # fmt: skip
    if loops:
        function(g, RATES)(made.x, made.u, made.t)
    return made


def _check(g: Graph, table: Table, start: float, end: float) -> None:
    """Refuse a table that does not fit the graph or the run."""
    names, slack = input_names(g), 1e-9 * (end - start)
    if table.values.shape[-1] != len(names):
        raise InputError(
            f"the table has {table.values.shape[-1]} inputs; {g.name} has {len(names)} ({', '.join(names) or 'none'})."
        )
    if len(table.times) > 1 and start < table.times[0] - slack:
        raise InputError(
            f"the table of inputs starts at {table.times[0]:g} s, the run at {start:g} s."
        )
    if not table.holds and end > table.times[-1] + slack:
        raise InputError(
            f"the table of inputs ends at {table.times[-1]:g} s, the run at {end:g} s."
        )


Inputs = Table | Callable[[float], Any]


def _inputs(g: Graph, given: Any, start: float) -> Inputs:
    """What the user gave, as a table or a function of the time."""
    names = input_names(g)
    if callable(given) and not isinstance(given, Table):
        if not names:
            raise InputError(f"{g.name} has no inputs; leave them out.")
        return given
    if isinstance(given, Table):
        return given
    if isinstance(given, Mapping):
        known_words(given, names, f"{g.name} has no input")
        given = [finite(given.get(name, 0.0), name) for name in names]
    if (
        isinstance(given, tuple)
        and len(given) == 2
        and np.ndim(given[0]) == 1
        and np.ndim(given[1]) >= 1
    ):
        times, values = (
            finite(given[0], "the times of inputs"),
            finite(given[1], "the values of inputs"),
        )
        if np.ndim(given[1]) > 1 or len(names) == 1:
            return Table(times, values[..., None] if values.ndim == 1 else values)
    values = finite(np.zeros(len(names)) if given is None else given, "inputs")
    if values.shape[-1:] != (len(names),):
        raise InputError(
            f"inputs have shape {values.shape}; {g.name} has {len(names)} ({', '.join(names) or 'none'}). Inputs in time are given "
            "as (times, values)."
        )
    return Table([start], values[..., None, :])


def _called(g: Graph, given: Callable[[float], Any], times: Floats) -> Floats:
    """A Python function of the time, asked at all times."""
    rows = []
    for t in np.ravel(times):
        try:
            said = given(float(t))
        except Exception as error:
            raise InputError(
                f"the inputs cannot be asked for at t = {t:g} s: {type(error).__name__}: {error}."
            ) from error
        u = finite(said, f"the inputs at t = {t:g} s")
        if u.shape != (len(input_names(g)),):
            raise InputError(
                f"the inputs at t = {t:g} s have shape {u.shape}; {g.name} has {len(input_names(g))} inputs."
            )
        rows.append(u)
    return np.reshape(rows, (*np.shape(times), -1))


# Adaptive methods
# -----------------------------------------------------------------------------------------------------


def _intervals(
    g: Graph, given: Inputs, times: Floats
) -> Iterator[tuple[float, float, Callable[[float], Any]]]:
    """From one jump of the inputs to the next, and the inputs as a function of the time between."""
    start, end = times[0], times[-1]
    if not isinstance(given, Table):
        yield start, end, lambda t: _called(g, given, np.asarray(t))
    elif not given.holds:
        yield start, end, given.at
    else:
        slack = 1e-9 * (end - start)
        inside = given.times[(given.times > start + slack) & (given.times < end - slack)]
        for a, b in pairwise([start, *inside, end]):
            yield a, b, partial(lambda u, t: u, given.at(0.5 * (a + b)))


class _AdaptiveRun:
    """One state in time, by SciPy's steps, anew after each jump of the inputs."""

    def __init__(
        self, g: Graph, x: Floats, given: Inputs, times: Floats, report: bool, settings: StepSettings
    ) -> None:  # fmt: skip
        self.g, self.given, self.times, self.report = g, given, times, report
        self.settings, self.stepper = settings, Stepper(settings, times[0], times[-1])
        self.t, self.x, self.end = [float(times[0])], [x], x
        self.modes: Modes | None = None
        self.chosen: list[Floats] = []  # the modes at these times
        held = isinstance(given, Table) and given.holds
        found = choices_of(g) if _jumping(g) else None
        self.choices = found if found is not None and (held or not follow_inputs(found)) else None

    def integrate(self) -> None:
        """From the first time to the last."""
        intervals = list(_intervals(self.g, self.given, self.times))
        begin, _, u = intervals[0]
        # Refused where it is not finite: SciPy would search a step for ever.
        function(self.g, RATES)(self.end, u(begin), begin)
        for begin, end, u in intervals:
            self._interval(begin, end, u)

    def _interval(self, begin: float, end: float, u: Callable[[float], Any]) -> None:
        """From one jump of the inputs to the next."""
        t, problem = begin, self._problem(u)
        try:
            if self.modes is not None:
                self.modes.start(begin, self.end)
                if self.t[-1] == begin:  # a reported input at a jump is the later one
                    self.chosen[-1:] = [self.modes.at(begin, self.end)]
            for step in self.stepper.integrate(problem, self.end, begin, end):
                t, self.end = step.t, step.x
                self._keep(step)
        except (StuckError, EslabonError) as error:
            raise SimulationError(
                f"{self.g.name} cannot be integrated beyond t = {t:g} s: {self._reason(error)}"
            ) from None

    def _reason(self, error: Exception) -> str:
        """Why time does not go on."""
        jumping = _jumping(self.g)
        if isinstance(error, StuckError) and not str(error) and jumping:
            return (
                f"it makes no progress there. The value of {jumping} jumps, and the state slides along "
                "the jump; write tanh(f/0.001) in place of sign(f), or take method='rk4' with a step."
            )
        return str(error) or "the step it would need is too small."

    def _problem(self, u: Callable[[float], Any]) -> Problem:
        """The rates under inputs without jumps."""
        g, counted = self.g, self.stepper.counted
        if self.choices is not None:
            system = SwitchedGraph(g, self.choices, u, counted)
            if self.modes is None:
                self.modes = Modes(system, self.times[-1] - self.times[0])
            self.modes.system = system
            return Problem(self.modes.rates, modes=self.modes)
        rates = evaluate(g, RATES).with_checks({"size": np.inf}, _unsolved_or_wild)
        jacobian = evaluate(g, JACOBIAN) if self.settings.method in IMPLICIT else None
        return Problem(
            counted(lambda t, x: rates(x, u(t), t)),
            None if jacobian is None else lambda t, x: jacobian(x, u(t), t),
        )

    def _keep(self, step: Step) -> None:
        """What is to be reported of a step: the times that were given within it, or its end."""
        inside = np.array([step.t])
        if self.report:
            inside = self.times[(self.times > step.before) & (self.times <= step.t)]
        for t in inside[inside > self.t[-1]].tolist():
            x = step.x if t == step.t else step.state(t)
            self.t.append(t)
            self.x.append(x)
            if self.modes is not None:
                self.chosen.append(self.modes.at(t, x))


def _jumping(g: Graph) -> str:
    """The elements whose laws or values choose, by sign or abs, for a sentence."""
    found = [
        x.name
        for x in g.elements.values()
        if any(
            "sign(" in str(leaf) for item in (x.value, x.law, x.inverse) for leaf in leaves(item)
        )
        or any("sign(" in str(g.definitions[n]) for n in _named(g, x))
    ]
    return ", ".join(f"'{name}'" for name in found)


def _named(g: Graph, x: Element) -> set[str]:
    """The definitions that an element uses, and those that these use."""
    made, pending = g.definitions, [x.value, x.law, x.inverse]
    found: set[str] = set()
    while pending:
        for leaf in leaves(pending.pop()):
            if isinstance(leaf, ParameterExpression):
                new = {n for n in leaf.names() if n in made} - found
                found |= new
                pending += [made[n] for n in new]
    return found


def _unsolved_or_wild(arrays: list[Any], results: list[Any]) -> list[Any]:
    """Rates that are not finite make SciPy take a shorter step; an algebraic loop that is not
    solved ends the run."""
    rates, residual, _ = results
    if np.isfinite(rates).all() and not residual <= equations.UNSOLVED:
        raise EslabonError("an algebraic loop could not be solved.")
    return [rates]


# rk4
# ------------------------------------------------------------------------------------------------------------------


def rk4_step(g: Graph, x: Any, row: Any) -> Any:
    """A step; the row has its time, its length, and the inputs at the three stages."""
    n, nu = x.numel(), len(input_names(g))
    f = subroutine("rates", lambda t, x, u: equations.rates(g, x, u, t)[0], 1, n, nu)

    def rates(stage: int, x: Any) -> Any:
        return f(row[0] + STAGES[stage] * row[1], x, row[2 + stage * nu : 2 + (stage + 1) * nu])

    return casadi.densify(rk4(rates, x, row[1]))


RK4 = Formula(
    "bond_graph_rk4", rk4_step, (X, Argument("row", lambda g, **_: (2 + 3 * len(input_names(g)),))), (X,), states=1, varying=1
)  # fmt: skip


def _fixed(g: Graph, x: Floats, given: Inputs, times: Floats, every: int) -> Floats:
    """All steps in one native call."""
    parts = np.arange(every) / every
    begin = (times[:-1, None] + parts * np.diff(times)[:, None]).ravel()
    length = np.repeat(np.diff(times) / every, every)
    if isinstance(given, Table):
        columns = [given.at(begin + (0.5 if given.holds else s) * length) for s in STAGES]
    else:
        columns = [_called(g, given, begin + s * length) for s in STAGES]
    lead = np.broadcast_shapes(*(c.shape[:-2] for c in columns))
    steps = np.broadcast_to(np.stack([begin, length], axis=-1), (*lead, len(begin), 2))
    row = np.concatenate([steps, *columns], axis=-1)
    made: Any = evaluate(g, RK4)(x, row, every=every)
    first = np.broadcast_to(x[..., None, :], (*made.shape[:-2], 1, made.shape[-1]))
    return np.concatenate([first, made], axis=-2)
