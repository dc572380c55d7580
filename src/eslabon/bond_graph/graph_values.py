"""From a formula of a graph to numbers: arguments looked at, inputs that are left out, parameters
by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, mapping, states, text
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_checks import check_numbers
from eslabon.bond_graph.graph_formulas import (
    AFFINE,
    BOND_VARIABLES,
    RATES,
    UNSOLVED,
    WITH_INPUT_RATES,
    input_names,
    order,
)
from eslabon.bond_graph.junction_structure import junction_structure
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Formula
from eslabon.displays import displayed
from eslabon.errors import InputError, ModelError, SingularityError, suggest
from eslabon.model.memory import FrozenDict, per_model

Call = Callable[..., Any]
CHECKED = {"algebraic_loop", "size"}  # what native code looks at by itself


def function(
    g: Graph,
    formula: Formula,
    parameters: Mapping[str, ArrayLike] | None = None,
    bind: bool = True,
) -> Call:
    """The native function of a formula, with a sentence where it has no finite value. Values of
    parameters are put in, or with bind = False are arguments that follow the others."""
    given = {
        name: finite(x, f"parameter '{name}'")
        for name, x in mapping(parameters, "parameters").items()
    }
    f = _with_sentences(g, formula, tuple(given))
    if not given:
        return f
    check_numbers(g.flat, g.values_with(given))
    values = tuple(given.values())
    return (lambda *arrays: f(*arrays, *values)) if bind else f


@per_model
def _with_sentences(g: Graph, formula: Formula, parameters: tuple[str, ...]) -> Call:
    f = evaluate(g, formula, parameters)
    if {x.name for x in formula.checks} >= CHECKED:
        names = [x.name for x in f.signature.inputs]

        def refuse(arrays: list[Any], results: list[Any]) -> list[Any]:
            for name, x in zip(names, arrays, strict=True):
                finite(x, name)
            raise SingularityError(_unsolved(g, results[-2]) or _infinite(g, formula))

        return f.with_checks({}, refuse).native

    def checked(*arrays: Any) -> Any:
        found = f(*arrays)
        if not all(np.isfinite(x).all() for x in (found if isinstance(found, tuple) else (found,))):
            raise SingularityError(_infinite(g, formula))
        return found

    return checked


def _infinite(g: Graph, formula: Formula) -> str:
    return (
        f"{g.name} has no finite {formula.outputs[0].name} at this state: a law or a modulus divides by zero there, or "
        "dependent storages leave the rates undetermined."
    )


def _unsolved(g: Graph, residual: Floats) -> str:
    """A sentence where an algebraic loop is not solved."""
    loops = junction_structure(g.nominal).algebraic_loops
    if np.all(residual <= UNSOLVED) or not loops:
        return ""
    named = "; ".join(" and ".join(map(repr, loop)) for loop in loops)
    return f"{g.name}: the algebraic loop through {named} could not be solved at this state; put a small storage into it."


def value(
    g: Graph, formula: Formula, x: ArrayLike, u: ArrayLike | None, t: ArrayLike,
    parameters: Mapping[str, ArrayLike] | None = None, input_rates: ArrayLike | None = None,
) -> Any:  # fmt: skip
    """What a formula of states, inputs and the time says, perhaps where inputs change at some
    rates.

    What was asked for before goes to native code at once, which looks at shapes and numbers by
    itself.
    """
    if input_rates is not None:
        du = states(input_rates, "input_rates", len(input_names(g)), g.name, "inputs")
        arrays = checked_arguments(g, x, u, t)
        return function(g, WITH_INPUT_RATES[formula], parameters)(*arrays, du)
    if parameters is None and (known := g.memory.get(formula)) is not None:
        f, none = known
        if u is not None or none is not None:
            return f(x, none if u is None else u, t)
    arrays = checked_arguments(g, x, u, t)
    f = function(g, formula, parameters)
    if parameters is None and {x.name for x in formula.checks} >= CHECKED and not g.has_closures:
        g.memory[formula] = f, None if input_names(g) else np.zeros(0)
    return f(*arrays)


def checked_arguments(
    g: Graph, x: ArrayLike, u: ArrayLike | None, t: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """States, inputs and the time, looked at."""
    found = state(g, x), inputs(g, u), finite(t, "t")
    g.check_state(found[0], found[2])
    return found


def require_states(g: Graph) -> None:
    """Refuse a graph without states."""
    if not order(g):
        raise ModelError(f"{g.name} has no states: no storage has integral causality.")


def state(g: Graph, x: ArrayLike) -> Floats:
    """States (..., n)."""
    return states(x, "x", order(g), g.name, "states")


def inputs(g: Graph, u: ArrayLike | None) -> Floats:
    """Inputs (..., nu); without inputs they may be left out."""
    names = input_names(g)
    if u is None:
        if names:
            raise InputError(
                f"{g.name} has the inputs {', '.join(names)}; give u, such as [{', '.join(['0'] * len(names))}]."
            )
        return np.zeros(0)
    return states(u, "u", len(names), g.name, "inputs")


@displayed(line=True)
@dataclass(frozen=True)
class BondVariables:
    """Efforts and flows (..., bonds), and what each is called."""

    e: Floats
    f: Floats
    bonds: tuple[str, ...]
    names: Mapping[str, tuple[str, int]]

    @property
    def power(self) -> Floats:
        """The power of each bond, along its half arrow."""
        return self.e * self.f

    def __getitem__(self, name: str) -> Floats:
        if text(name, "a bond variable") not in self.names:
            raise ModelError(f"there is no bond variable {name!r}{suggest(name, self.names)}")
        letter, place = self.names[name]
        found: Floats = getattr(self, letter)[..., place]
        return found

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.names)


def bond_variables(
    g: Graph,
    x: ArrayLike,
    u: ArrayLike | None,
    t: ArrayLike,
    parameters: Mapping[str, ArrayLike] | None = None,
    input_rates: ArrayLike | None = None,
) -> BondVariables:
    """See `BondGraph.bond_variables`."""
    e, f = value(g, BOND_VARIABLES, x, u, t, parameters, input_rates)
    return BondVariables(e, f, *places(g))


def places(g: Graph) -> tuple[tuple[str, ...], Mapping[str, tuple[str, int]]]:
    """The bonds, and where each variable stands."""
    if "places of bond variables" not in g.memory:
        names = {b.signal_name(x): (x, k) for k, b in enumerate(g.bonds.values()) for x in "ef"}
        g.memory["places of bond variables"] = tuple(g.bonds), FrozenDict(names)
    found: tuple[tuple[str, ...], Mapping[str, tuple[str, int]]] = g.memory[
        "places of bond variables"
    ]
    return found


def derivative(g: Graph, by: str, x: ArrayLike, u: ArrayLike | None, t: ArrayLike) -> Floats:
    """See `BondGraph.derivative`."""
    f = evaluate(g, RATES, by=text(by, "by"))
    made: Floats = f(*checked_arguments(g, x, u, t))
    return made


def affine(g: Graph, x: ArrayLike, t: ArrayLike) -> tuple[Floats, Floats]:
    """See `BondGraph.affine`."""
    f, gain = function(g, AFFINE)(state(g, x), finite(t, "t"))
    return f, gain
