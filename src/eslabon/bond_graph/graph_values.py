"""From a formula of a graph to numbers: arguments looked at, inputs that are left out, parameters by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, mapping, states, text
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import AFFINE, BOND_VARIABLES, RATES, input_names, order
from eslabon.bond_graph.junction_structure import junction_structure
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Formula
from eslabon.displays import displayed
from eslabon.errors import EslabonError, InputError, ModelError, SingularityError, suggest


def function(
    g: Graph, formula: Formula, parameters: Mapping[str, ArrayLike] | None = None
) -> Callable[..., Any]:
    """The native function of a formula, with values of parameters put in, and a sentence where it has no finite value."""
    given = {
        name: finite(x, f"parameter '{name}'")
        for name, x in mapping(parameters, "parameters").items()
    }
    f = evaluate(g, formula, tuple(given))

    def checked(*arrays: Any) -> Any:
        try:
            found = f(*arrays, *given.values())
        except EslabonError as error:
            if type(error) is not EslabonError:  # that of a bound alone
                raise
            raise SingularityError(_unsolved(g)) from None
        if not all(np.isfinite(x).all() for x in (found if isinstance(found, tuple) else (found,))):
            raise SingularityError(
                f"{g.name} has no finite {formula.outputs[0].name} at this state: a law or a modulus divides by zero there, or "
                "dependent storages leave the rates undetermined."
            )
        return found

    return checked


def _unsolved(g: Graph) -> str:
    loops = "; ".join(
        " and ".join(map(repr, loop)) for loop in junction_structure(g.nominal).algebraic_loops
    )
    return f"{g.name}: the algebraic loop through {loops} could not be solved at this state; put a small storage into it."


def value(
    g: Graph, formula: Formula, x: ArrayLike, u: ArrayLike | None, t: ArrayLike,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Any:  # fmt: skip
    """What a formula of states, inputs and the time says."""
    return function(g, formula, parameters)(state(g, x), inputs(g, u), finite(t, "t"))


def state(g: Graph, x: ArrayLike) -> Floats:
    """States (..., n)."""
    if not order(g):
        raise ModelError(f"{g.name} has no states: no storage has integral causality.")
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
    g: Graph, x: ArrayLike, u: ArrayLike | None, t: ArrayLike, **options: Any
) -> BondVariables:
    """See `BondGraph.bond_variables`."""
    e, f = value(g, BOND_VARIABLES, x, u, t, **options)
    names = {
        b.signal_name(letter): (letter, k)
        for k, b in enumerate(g.bonds.values())
        for letter in "ef"
    }
    return BondVariables(e, f, tuple(g.bonds), names)


def derivative(g: Graph, by: str, x: ArrayLike, u: ArrayLike | None, t: ArrayLike) -> Floats:
    """See `BondGraph.derivative`."""
    f = evaluate(g, RATES, by=text(by, "by"))
    made: Floats = f(state(g, x), inputs(g, u), finite(t, "t"))
    return made


def affine(g: Graph, x: ArrayLike, t: ArrayLike) -> tuple[Floats, Floats]:
    """See `BondGraph.affine`."""
    f, gain = function(g, AFFINE)(state(g, x), finite(t, "t"))
    return f, gain
