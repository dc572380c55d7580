"""Optimal design as a nonlinear program: its variables and equations, where it starts, and how its optimum is verified."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import EslabonError, ModelError, format_value
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import difference
from eslabon.numerics.scalars import casadi
from eslabon.optimize.description_domain import domains
from eslabon.optimize.design_quantities import Demand, DesignState, Quantity, said_by
from eslabon.optimize.instant_equations import InstantEquations
from eslabon.optimize.nonlinear_program import NonlinearProgram, sobol_starts
from eslabon.optimize.optimum import Check, Checks
from eslabon.optimize.prescribed_motion import Prescribed
from eslabon.optimize.sought_parameters import SoughtParameters

APART = 1e-3  # the least of a determinant over the lengths of its columns, that keeps a branch
FINER = 4  # instants of the verification for one of the program
SAME = 1e-4  # rad or m: configurations assembled anew against those of the optimiser
CLOSED = 1e-7  # m or rad: loops of a verified design
ABOVE = 1e-7  # of its size: what is left of a mass that must not be negative
NOTHING = np.zeros((1, 0))


@dataclass(frozen=True, eq=False)
class DesignProblem(SoughtParameters):
    """A mechanism, what of it is sought between which bounds, what it is to do, and what is asked of it."""

    given: Prescribed | None
    objective: Quantity
    demands: tuple[Demand, ...]
    samples: int
    guess: Any
    limits: bool
    tolerance: float

    @cached_property
    def t(self) -> Floats:
        """The instants of the program."""
        return (
            np.zeros(1)
            if self.given is None
            else np.linspace(0.0, self.given.duration, self.samples)
        )

    @cached_property
    def data(self) -> Floats:
        return NOTHING if self.given is None else self.given.data(self.t)

    @cached_property
    def equations(self) -> InstantEquations:
        assert self.given is not None
        return InstantEquations(self.m, self.names, self.given)

    @cached_property
    def nominal(self) -> tuple[Floats, Floats, Floats]:
        """The motion of the mechanism as it is described."""
        assert self.given is not None
        try:
            return self.given.states(self.m, self.t, self.guess)
        except EslabonError as error:
            raise type(error)(
                f"{self.m.name} with its present parameters cannot make the motion, from where the search begins: {error}"
            ) from None

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The objective's, then those of the demands."""
        return (self.objective, *(d.quantity for d in self.demands))

    # -- expressions of one instant -------------------------------------------------------------------------------------

    @cached_property
    def state(self) -> tuple[DesignState, list[Any]]:
        """The state that functions are traced with, and the symbols p, q, v, a, data."""
        if self.given is not None:
            e = self.equations
            return DesignState(self.m, e.q, e.v, e.a, e.parameters, {}), e.inputs
        p = casadi.SX.sym("p", len(self.names))
        own = dict(zip(self.names, casadi.vertsplit(p), strict=True))
        q, v, a = (
            casadi.SX.sym("q", self.m.nq),
            casadi.SX.sym("v", self.m.nv),
            casadi.SX.sym("a", self.m.nv),
        )
        return DesignState(self.m, q, v, a, own, {}), [p, q, v, a, casadi.SX.sym("data", 0)]

    def rows(self, quantity: Quantity, state: DesignState) -> Any:
        """The rows of a quantity at one instant, as a column."""
        if quantity.rows is None:
            return self._conditioning(quantity)
        return rows_of(quantity, state)

    def _conditioning(self, quantity: Quantity) -> Any:
        if quantity.kind == "parallel":
            return self.equations.parallel_conditioning()
        assert self.given is not None
        return self.equations.serial_conditioning(*self.given.judged(self.m))

    def is_still(self, rows: Any) -> bool:
        """Whether rows depend on parameters alone."""
        moving = casadi.depends_on(rows, casadi.vertcat(*self.state[1][1:4]))
        if moving and self.given is None:
            raise ModelError(
                "the objective and what it is subject to depend on how the mechanism moves; give its motion."
            )
        return not moving

    # -- the program ------------------------------------------------------------------------------------------------

    @cached_property
    def program(self) -> NonlinearProgram:
        """The nonlinear program, with the described mechanism as its start."""
        made = NonlinearProgram(f"design of {self.m.name}", "design")
        lower, upper = self.bounds
        p = made.variable("parameters", self.begin, lower, upper)
        state, inputs = self.state
        columns = [p, *([] if self.given is None else self._motion(made)), casadi.DM(self.data.T)]
        if self.given is None:
            columns[1:1] = [casadi.DM.zeros(k, 1) for k in (self.m.nq, self.m.nv, self.m.nv)]
        for domain in domains(self.m, state.parameters):
            f = casadi.Function("domain", inputs[:1], [domain.expression])
            size = abs(float(f(self.begin)))
            size = max(size, 1e-9) if np.isfinite(size) else 1.0
            # a hair above zero, for the solver may miss a bound by as much, and a mass below zero is none
            least = domain.lower or ABOVE * size
            made.constrain(domain.name, f(p), least, domain.upper, scale=size)
        for k, quantity in enumerate(self.quantities):
            rows = self.rows(quantity, state)
            still = self.is_still(rows)
            if (
                k == 0
                and not casadi.depends_on(rows, inputs[0])
                and (still or not self.equations.moved)
            ):
                raise ModelError(
                    f"{quantity.name} of {self.m.name} does not depend on {', '.join(self.names)}; seek other parameters, or another "
                    "objective."
                )
            f = casadi.Function("rows", inputs, casadi.cse([rows]))
            each = f(*(x[:, 0] for x in columns)) if still else self._mapped(f)(*columns)
            begun = self.inside(quantity, self._begun[0], self._begun[1])
            self._ask(made, k, each, self.t[:1] if still else self.t, begun)
        return made

    def _ask(self, program: NonlinearProgram, k: int, rows: Any, t: Floats, begun: float) -> None:
        """Minimise rows, or demand bounds of them."""
        quantity, size = self.quantities[k], max(abs(begun), 1e-9)
        if k == 0:
            program.minimize(quantity.expression(program, rows, t, begun), size)
            return
        demand = self.demands[k - 1]
        if demand.everywhere:
            program.constrain(quantity.name, rows, demand.lower, demand.upper, scale=size)
        elif quantity.rows is None:
            quantity.within(program, rows, quantity.inside(demand.lower), size)
        elif quantity.summary == "peak":
            quantity.within(
                program,
                rows,
                quantity.inside(demand.upper),
                max(quantity.inside(demand.upper), 1e-12),
            )
        else:
            least, most = (
                x if np.isinf(x) else quantity.inside(x) for x in (demand.lower, demand.upper)
            )
            program.constrain(
                quantity.name, quantity.expression(program, rows, t, begun), least, most, scale=size
            )

    def _mapped(self, f: Any) -> Any:
        """A function of one instant for all, with the same parameters."""
        return f.map(f.name() + "_of_all", "serial", len(self.t), [0], [])

    def _motion(self, program: NonlinearProgram) -> list[Any]:
        """q, v and a of all instants: variables with their equations, or numbers where no parameter moves them."""
        q, v, a = self._begun[1]
        e = self.equations
        if not e.moved:
            return [casadi.DM(x.T) for x in (q, v, a)]
        low, high = self._joint_limits() if self.limits else (-np.inf, np.inf)
        own = [
            program.variable("q", q, low, high, scale=1.0).T,
            program.variable(
                "v", v, scale=np.maximum(np.abs(v).max(axis=0), 1e-3 * np.abs(v).max(initial=1e-3))
            ).T,
            program.variable(
                "a", a, scale=np.maximum(np.abs(a).max(axis=0), 1e-3 * np.abs(a).max(initial=1e-3))
            ).T,
        ]
        signs = e.signs()
        f = casadi.Function(
            "motion",
            e.inputs,
            casadi.cse([*e.residual, e.lengths, casadi.vertcat(casadi.SX(0, 1), *signs)]),
        )
        p = program.variables["parameters"]
        *left, lengths, side = self._mapped(f)(
            p.symbol * casadi.DM(p.scale), *own, casadi.DM(self.data.T)
        )
        J = np.abs(e.evaluated(self._begun[0], q, v, a, self.data)[3]).max(axis=(0, 2))
        sizes = np.maximum(J, 1e-9)
        rates = (
            1.0,
            max(1e-9, float(np.abs(v).max(initial=0.0))),
            max(1e-9, float(np.abs(a).max(initial=0.0))),
        )
        for name, column, rate in zip(
            ("loop closure", "velocities", "accelerations"), left, rates, strict=True
        ):
            program.constrain(name, column, scale=np.tile(sizes * rate, len(self.t)))
        if e.lengths.numel():
            program.constrain("quaternions", lengths)
        if signs:
            self._keep_branch(program, f, side, self._begun[1])
        return own

    def _keep_branch(
        self, program: NonlinearProgram, f: Any, side: Any, states: tuple[Floats, ...]
    ) -> None:
        """Determinants keep the signs that they have in the described mechanism, along the whole motion."""
        columns = [
            np.repeat(self._begun[0][:, None], len(self.t), axis=1),
            *(x.T for x in states),
            self.data.T,
        ]
        values = np.asarray(f.map(len(self.t))(*columns)[-1])
        sign = np.sign(values[:, :1])
        least = np.minimum(APART, 0.1 * np.abs(values).min(axis=1))
        program.constrain("branch", casadi.DM(sign) * side, np.tile(least, len(self.t)), np.inf)

    def _joint_limits(self) -> tuple[Floats, Floats]:
        pairs = [pair for j in self.m.joints for pair in (j.limits or ((-np.inf, np.inf),) * j.nq)]
        lower, upper = np.array(pairs, dtype=float).reshape(-1, 2).T
        return lower, upper

    # -- numbers ----------------------------------------------------------------------------------------------------

    @cached_property
    def begin(self) -> Floats:
        """The parameters of the first start: as they are described, as far as the bounds allow."""
        return np.clip(self.described, *self.bounds)

    @cached_property
    def _begun(self) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
        return self.moved(self.begin)

    def moved(self, p: Floats) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
        """Other parameters and the motion with them, continued from the described mechanism: as near to what was asked for as the
        motion closes on the way."""
        if self.given is None:
            return p, (np.zeros((1, self.m.nq)), np.zeros((1, self.m.nv)), np.zeros((1, self.m.nv)))
        if not self.equations.moved:
            return p, self.nominal
        p, q = self.equations.reached(self.described, self.nominal[0], p, self.data)
        return p, self.equations.rates(p, q, self.data)

    def numbers(
        self, quantity: Quantity, p: Floats, states: tuple[Floats, Floats, Floats]
    ) -> Floats:
        """The rows of a quantity at all instants, (instants, rows), by the graph."""
        state, inputs = self.state
        f = casadi.Function("rows", inputs, [self.rows(quantity, state)])
        columns = [np.repeat(p[:, None], len(self.t), axis=1), *(x.T for x in states), self.data.T]
        return np.asarray(f.map(len(self.t))(*columns)).T

    def inside(self, quantity: Quantity, p: Floats, states: tuple[Floats, Floats, Floats]) -> float:
        """What the program minimises, of numbers."""
        rows = self.numbers(quantity, p, states)
        return (
            float(np.abs(rows).max())
            if quantity.rows is None
            else quantity.inside(quantity.number(rows, self.t))
        )

    def starts(self, n: int, seed: int) -> list[dict[str, Any]]:
        """The described mechanism first, then points spread over the bounds, each with its motion."""
        points = np.concatenate([self.begin[None], sobol_starts(*self.bounds, n - 1, seed)])
        return [self._start(p) for p in points]

    def _start(self, p: Floats) -> dict[str, Any]:
        p, states = self.moved(p)
        made: dict[str, Any] = {"parameters": p}
        if self.given is not None and self.equations.moved:
            made |= {name: np.nan_to_num(x) for name, x in zip("qva", states, strict=True)}
        for quantity in self.quantities:
            for word in ("peak", "rms"):
                if (name := f"{word} of {quantity.name}") in self.program.variables:
                    most = 1e6 * self.program.variables[name].scale[0]
                    made[name] = min(1.1 * self.inside(quantity, p, states), most)
            if (name := f"part of {quantity.name}") in self.program.variables:
                made[name] = np.maximum(np.nan_to_num(self.numbers(quantity, p, states).T), 0.0)
        return made

    # -- what is found, looked at again -------------------------------------------------------------------------------

    def measured(self, m: Mechanism, guess: Any) -> tuple[Floats, tuple[Floats, ...], list[Floats]]:
        """A mechanism by the plain verbs, at more instants: the times, its states, and the rows of each quantity (instants, rows)."""
        state, inputs = self.state
        if self.given is None:
            t, states = self.t, (np.zeros((1, m.nq)), np.zeros((1, m.nv)), np.zeros((1, m.nv)))
            data = self.data
        else:
            t = np.linspace(0.0, self.given.duration, FINER * (self.samples - 1) + 1)
            states, data = self.given.states(m, t, guess), self.given.data(t)
        verbs = _by_verbs(m, states, self.quantities) if self.given is not None else {}
        given = {name: casadi.SX.sym(name, *x.shape[1:]) for name, x in verbs.items()}
        own = DesignState(self.m, state.q, state.v, state.a, state.parameters, given)
        p = np.array([m.parameters[name] for name in self.names])
        columns = [np.repeat(p[:, None], len(t), axis=1), *(x.T for x in states), data.T]
        columns += [
            np.concatenate([row.reshape(given[name].shape) for row in x], axis=1)
            for name, x in verbs.items()
        ]
        rows = []
        for quantity in self.quantities:
            if quantity.rows is None:
                rows.append(self._conditions(m, quantity, states[0])[:, None])
                continue
            f = casadi.Function("measured", [*inputs, *given.values()], [self.rows(quantity, own)])
            rows.append(np.asarray(f.map(len(t))(*columns)).T)
        return t, states, rows

    def _conditions(self, m: Mechanism, quantity: Quantity, q: Floats) -> Floats:
        assert self.given is not None
        if quantity.kind == "parallel":
            return np.asarray(m.conditions(q).parallel)
        frame, part = self.given.judged(m)
        return np.asarray(m.conditions(q, frame, part).serial)

    def checked(self, m: Mechanism, claimed: float, q: Floats | None) -> Checks:
        """What was claimed against what is measured; `q` are the optimiser's configurations."""
        t, states, rows = self.measured(m, None if q is None else q[0])
        value = self.objective.number(rows[0], t)
        room = self.tolerance * max(abs(claimed), 1e-9)
        made = [Check(_labelled(self.objective), claimed, value, claimed - room, claimed + room)]
        if self.objective.rows is None:  # which the program knows a lower bound of
            made[0] = made[0]._replace(upper=1.0)
        for demand, own in zip(self.demands, rows[1:], strict=True):
            made += _demanded(demand, own, t, self.tolerance)
        if self.given is not None and m.closed:
            left = float(np.abs(m.constraint(states[0])).max())
            made.append(Check("loop closure [m, rad]", 0.0, left, 0.0, CLOSED))
        if q is not None:
            away = float(np.abs(difference(m, states[0][::FINER], q)).max())
            made.append(
                Check("configurations assembled anew, off by [m, rad]", 0.0, away, 0.0, SAME)
            )
        return Checks(made)


def rows_of(quantity: Quantity, state: DesignState) -> Any:
    """The rows of a quantity that is a function, as a column."""
    assert quantity.rows is not None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", FutureWarning
            )  # CasADi's, about its ways with NumPy's functions
            given = quantity.rows(state)
            if given is None or isinstance(given, str):
                raise TypeError(f"it gives {format_value(given)}")
            made = casadi.densify(casadi.vec(casadi.SX(given)))
        if made.is_constant() and not np.isfinite(casadi.evalf(made).full()).all():
            raise ValueError("a symbol has no number, which float(...) of it asks for")
        return made
    except EslabonError:
        raise
    except Exception as error:
        raise ModelError(
            f"'{quantity.name}' is traced with CasADi symbols, and that failed ({said_by(error)}); let it be a function "
            "of a design's state that uses arithmetic, casadi's functions, and the verbs of state.m."
        ) from error


def _by_verbs(
    m: Mechanism, states: tuple[Floats, ...], quantities: tuple[Quantity, ...]
) -> dict[str, Floats]:
    """Forces by the native verbs of the mechanism, where something is driven; reactions are asked for by those who need them."""
    q, v, a = states
    made: dict[str, Floats] = {"tau": m.inverse_dynamics(q, v, a)} if m.nu else {}
    if any(
        each.rows is not None and (each.root or not each.unit) for each in quantities
    ):  # a user's function may ask for them
        made["reactions"] = m.reactions(q, v, a)
    return made


def _labelled(q: Quantity) -> str:
    return f"{q.name} [{q.unit}]" if q.unit else q.name


def _demanded(demand: Demand, rows: Floats, t: Floats, tolerance: float) -> list[Check]:
    """A check for each bound, with as much room as the instants between those of the program may take."""
    nan, name = float("nan"), _labelled(demand.quantity)
    made = []
    size = float(np.abs(rows).max(initial=0.0))
    for bound, sign in ((demand.lower, 1), (demand.upper, -1)):
        if np.isfinite(bound):
            room = tolerance * max(abs(bound), 0.1 * size, 1e-9)
            own = (
                (rows.min() if sign > 0 else rows.max())
                if demand.everywhere
                else demand.quantity.number(rows, t)
            )
            lower, upper = (bound - room, np.inf) if sign > 0 else (-np.inf, bound + room)
            made.append(Check(name, nan, float(own), lower, upper))
    return made
