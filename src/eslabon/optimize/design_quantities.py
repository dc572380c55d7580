"""What a design is judged by: quantities of each instant of its motion, and how a motion makes one number of them.

A quantity gives rows of one instant, as an expression of CasADi symbols; a summary makes a number of all instants: in the program,
where a greatest value is a variable that no row may exceed, and of arrays, where the design is looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eslabon.arguments import Floats, choice, mapping
from eslabon.errors import InputError, ModelError, format_value, suggest
from eslabon.mechanism import Mechanism
from eslabon.numerics.scalars import casadi
from eslabon.optimize.nonlinear_program import NonlinearProgram

SUMMARIES = ("mean", "peak", "rms", "integral")


@dataclass(frozen=True, eq=False)
class DesignState:
    """One instant of a design, for functions that are traced: CasADi symbols, and expressions of them.

    Attributes
    ----------
    m : the mechanism with its own numbers; ask its verbs with `parameters=state.parameters`.
    q, v, a : coordinates, velocities, accelerations.
    parameters : the symbols of the parameters that are sought, by name.
    tau : the actuators' forces.
    reactions : the wrenches that joints, then loops, transmit, a row each.
    """

    m: Mechanism
    q: Any
    v: Any
    a: Any
    parameters: Mapping[str, Any]
    given: Mapping[str, Any]

    @cached_property
    def tau(self) -> Any:
        if "tau" in self.given:
            return self.given["tau"]
        return self.m.inverse_dynamics(self.q, self.v, self.a, parameters=self.parameters)

    @cached_property
    def reactions(self) -> Any:
        if "reactions" in self.given:
            return self.given["reactions"]
        return self.m.reactions(self.q, self.v, self.a, parameters=self.parameters)

    @cached_property
    def values(self) -> dict[str, Any]:
        """All parameters by name: symbols for those that are sought, numbers for the others."""
        return {**self.m.parameters, **self.parameters}


def said_by(error: Exception) -> str:
    """What went wrong in a function of users', on one line; CasADi begins with the places in its own sources."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if not re.search(r"\.[ch]pp:\d+:|^Error in|^Prototypes:", line)]
    return ": ".join([type(error).__name__, *(said or lines)[:1]])


Rows = Callable[[DesignState], Any]


@dataclass(frozen=True)
class Quantity:
    """Rows of an instant, their summary, and the unit of that.

    `absolute` rows count by their size, of `positive` ones what is below zero does not count, `root` says that the rows are squares
    of what is told, `moving` that it takes a motion, and `sense` is -1 where more is better. Without `rows` it is a reciprocal condition number, of the kind that `conditions` of a
    mechanism tells.
    """

    name: str
    rows: Rows | None
    summary: str
    unit: str = ""
    absolute: bool = False
    positive: bool = False
    root: bool = False
    moving: bool = True
    sense: int = 1
    kind: str = ""

    # -- what the program sees, and what people are told ----------------------------------------------------------------

    def told(self, inside: float) -> float:
        """The value of what the program minimises."""
        if self.rows is None:
            return float((inside - np.sqrt(max(inside**2 - 4, 0.0))) / 2)
        return (
            float(np.sqrt(max(inside, 0.0)))
            if self.root or self.summary == "rms"
            else float(inside)
        )

    def inside(self, told: float) -> float:
        """The other way round."""
        if self.rows is None:
            return float(told + 1 / told)
        return float(told**2) if self.root or self.summary == "rms" else float(told)

    def expression(self, program: NonlinearProgram, rows: Any, t: Floats, begun: float) -> Any:
        """The summary of rows `(rows, instants)` in a program; `begun` is about what it is at the start, inside."""
        size = max(abs(begun), 1e-12)
        if self.summary == "peak":
            most = program.variable(f"peak of {self.name}", begun, scale=size)
            self.within(program, rows, most, size)
            return most
        if self.positive:
            taken = program.variable(
                f"part of {self.name}", np.zeros(rows.shape), 0.0, np.inf, scale=size
            )
            program.constrain(self.name, casadi.vec(taken - rows), 0.0, np.inf, scale=size)
            rows = taken
        weights = casadi.DM(
            _weights(t) if self.summary == "integral" else _weights(t) / _weights(t).sum()
        )
        if self.summary == "rms":
            each = casadi.mtimes(rows**2, weights)
            if each.numel() == 1:
                return each
            most = program.variable(f"rms of {self.name}", begun, 0.0, np.inf, scale=size)
            program.constrain(self.name, most - each, 0.0, np.inf, scale=size)
            return most
        return casadi.mtimes(casadi.sum1(rows), weights)

    def within(self, program: NonlinearProgram, rows: Any, most: Any, size: float) -> None:
        """No row is to exceed a bound."""
        both = casadi.vertcat(rows, -rows) if self.absolute else rows
        program.constrain(self.name, casadi.vec(most - both), 0.0, np.inf, scale=size)

    def number(self, rows: Floats, t: Floats) -> float:
        """The same of numbers `(instants, rows)`."""
        if self.rows is None:
            return float(rows.min())
        sized = np.abs(rows) if self.absolute else np.maximum(rows, 0.0) if self.positive else rows
        if self.summary == "peak":
            return self.told(float(sized.max()))
        weights = _weights(t)
        if self.summary == "rms":
            return float(np.sqrt((weights @ rows**2).max() / weights.sum()))
        each = sized.sum(axis=1)
        return (
            float(weights @ each)
            if self.summary == "integral"
            else float(weights @ each / weights.sum())
        )


def _weights(t: Floats) -> Floats:
    """Of the trapezoidal rule."""
    if len(t) == 1:
        return np.ones(1)
    step = np.diff(t)
    return np.concatenate([step[:1], step[1:] + step[:-1], step[-1:]]) / 2


# -- the named ones ---------------------------------------------------------------------------------------------------


def _torques(state: DesignState) -> Any:
    return state.tau


def _forces_squared(state: DesignState) -> Any:
    """The squared size of the force that each joint transmits."""
    return casadi.sum2(state.reactions[:, 3:] ** 2)


def _power(state: DesignState) -> Any:
    return state.tau * state.v[list(state.m.actuated_velocities)]


def _mass(state: DesignState) -> Any:
    return casadi.SX(sum(b.mass for b in state.m.with_symbols(state.parameters).bodies))


QUANTITIES = {
    q.name: q
    for q in (
        Quantity("peak_torque", _torques, "peak", "N m", absolute=True),
        Quantity("rms_torque", _torques, "rms", "N m"),
        Quantity("peak_reaction", _forces_squared, "peak", "N", root=True),
        Quantity("peak_power", _power, "peak", "W", absolute=True),
        Quantity("energy_consumption", _power, "integral", "J", positive=True),
        Quantity("mass", _mass, "mean", "kg", moving=False),
        Quantity("condition", None, "peak", sense=-1, kind="parallel"),
        Quantity("dexterity", None, "peak", sense=-1, kind="serial"),
    )
}


def quantity_of(m: Mechanism, asked: Any, summary: str | None, noun: str) -> Quantity:
    """A named quantity, or a traced function of a `DesignState` with its summary."""
    if callable(asked):
        return Quantity(
            getattr(asked, "__name__", noun).strip("<>"),
            asked,
            choice(summary or "mean", "summary", SUMMARIES),
        )
    if not isinstance(asked, str) or asked not in QUANTITIES:
        hint = (
            suggest(asked, QUANTITIES) if isinstance(asked, str) else f" ({', '.join(QUANTITIES)})."
        )
        raise ModelError(
            f"{noun} is a name or a function of a design's state; there is none called {format_value(asked)}{hint}"
        )
    if summary is not None:
        raise ModelError(
            f"summary says what becomes of a function along the motion; {asked} is a number already: leave it out."
        )
    found = QUANTITIES[asked]
    if found.kind == "parallel" and not m.closed:
        raise ModelError(f"{m.name} has no loops whose conditioning could be {asked}.")
    if found.rows is not None and found.moving and not m.nu:
        raise ModelError(f"nothing drives {m.name}, so that it has no {asked}; actuate a joint.")
    if asked in ("peak_torque", "rms_torque") and all(
        m.joint(name).kind.kind == "prismatic" for name in m.actuated
    ):
        return _with_unit(found, "N")
    return found


def _with_unit(q: Quantity, unit: str) -> Quantity:
    from dataclasses import replace

    return replace(q, unit=unit)


# -- bounds -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Demand:
    """A quantity within bounds, which may be infinite: at every instant where it is a function."""

    quantity: Quantity
    lower: float
    upper: float
    everywhere: bool


def demands_of(m: Mechanism, given: Any) -> tuple[Demand, ...]:
    """What `subject_to` asks: {"name of a quantity": (least, most)} or {"any name": (function, least, most)}."""
    made = []
    for name, asked in mapping(given, "subject_to").items():
        parts = tuple(asked) if isinstance(asked, list | tuple) else ()
        if len(parts) == 3 and callable(parts[0]):
            quantity, everywhere = Quantity(name, parts[0], "peak"), True
        elif len(parts) == 2:
            quantity, everywhere = quantity_of(m, name, None, "what subject_to bounds"), False
        else:
            raise InputError(
                f"subject_to[{name!r}] is (least, most) of a named quantity, or (function, least, most); None is no bound. It is "
                f"{format_value(asked)}."
            )
        least, most = (
            _bound(x, name, side) for x, side in zip(parts[-2:], (-np.inf, np.inf), strict=True)
        )
        made.append(_checked(Demand(quantity, least, most, everywhere)))
    return tuple(made)


def _bound(x: Any, name: str, otherwise: float) -> float:
    if x is None:
        return otherwise
    if isinstance(x, bool) or not isinstance(x, int | float | np.number) or np.isnan(x):
        raise InputError(f"a bound of {name!r} is a number or None; it is {format_value(x)}.")
    return float(x)


def _checked(demand: Demand) -> Demand:
    name, q = demand.quantity.name, demand.quantity
    if not demand.lower < demand.upper:
        raise InputError(
            f"{name} is to be at least {demand.lower:.6g} and at most {demand.upper:.6g}: that is an empty range."
        )
    if demand.everywhere:
        return demand
    if q.summary == "peak" and q.rows is not None and demand.lower > -np.inf:
        raise InputError(
            f"{name} is a greatest value, and has an upper bound only, as in {{'{name}': (None, {demand.upper:g})}}."
        )
    if q.rows is None and (demand.upper < np.inf or not 0 < demand.lower <= 1):
        raise InputError(
            f"{name} is a reciprocal condition number, and has a lower bound between 0 and 1, as in {{'{name}': (0.2, None)}}."
        )
    return demand
