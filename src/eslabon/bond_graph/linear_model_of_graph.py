"""The linear model of a graph at a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite
from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.elements import Description
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import (
    BOND_VARIABLES,
    LINEARIZATION,
    input_names,
    output_names,
)
from eslabon.bond_graph.graph_values import inputs, require_states, state, value
from eslabon.bond_graph.linearized_graph import COEFFICIENTS, linear_description
from eslabon.errors import InputError
from eslabon.numerics.tolerances import ROUND_OFF
from eslabon.systems.linear.linear_system import LinearSystem


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GraphModel(LinearSystem):
    """The linear model of a graph for small changes about a state x under the inputs u."""

    x: Floats
    u: Floats


def linearize(g: Graph, x: ArrayLike, u: ArrayLike | None = None, t: float = 0.0) -> GraphModel:
    """The exact Jacobian at one state.

    Morales' lemma 5.6 leaves out E, the matrix of dependent storages; here it is in.
    """
    point, given = state(g, x), inputs(g, u)
    _require_one("a linear model", point, given, t)
    A, B, C, D = value(g, LINEARIZATION, point, given, t)
    states = causality(g).states
    return GraphModel(
        A, B, C, D, states, input_names(g), output_names(g), name=g.name, x=point, u=given
    )


def _require_one(what: str, x: Floats, u: Floats, t: ArrayLike) -> None:
    when = finite(t, "t")
    if x.ndim > 1 or u.ndim > 1 or when.ndim:
        raise InputError(
            f"{what} is that of one state; x has shape {x.shape}, u {u.shape} and t {when.shape}."
        )


def linearized_graph(
    g: Graph, x: ArrayLike, u: ArrayLike | None = None, t: float = 0.0
) -> Description:
    """The bond graph of small deviations from a state; see `BondGraph.linearized_graph`."""
    require_states(g)
    point, given = state(g, x), inputs(g, u)
    _require_one("a linearized graph", point, given, t)
    numbers = value(g, COEFFICIENTS, point, given, t)
    nominal = value(g, BOND_VARIABLES, point, given, t)
    e, f = (dict(zip(g.bonds, _without_round_off(own), strict=True)) for own in nominal)
    return linear_description(g, numbers, e, f)


def _without_round_off(values: Floats) -> list[float]:
    """Efforts or flows, zero where they are round-off of the largest."""
    largest = np.abs(values).max(initial=0.0)
    return [float(x) if abs(x) > ROUND_OFF * largest else 0.0 for x in values]
