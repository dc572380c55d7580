"""State feedback as a bond graph: each input is joined by a source that the states, or their
estimates, modulate.

The source stands beside the input at a junction of the common flow, or effort, so that the plant is
given u = u_ref - K (x - x0) at the bond that had the input; u_ref is the input of the new graph. An
observer's copy of the plant reads the same bond, and so is given the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite
from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.elements import JUNCTION_WITH, OTHER, Description, Element
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_editor import Rewriting, free_name
from eslabon.bond_graph.graph_formulas import order
from eslabon.bond_graph.graph_values import state
from eslabon.bond_graph.observer_graph import ObserverGraph
from eslabon.bond_graph.structural_ranks import controls
from eslabon.errors import InputError, ModelError, format_value
from eslabon.model.parameter_expressions import Number, parameter

if TYPE_CHECKING:
    from eslabon.bond_graph.bond_graph import BondGraph


def feedback_graph(
    g: Graph,
    gains: ArrayLike | Any,
    *,
    x: ArrayLike | None = None,
    estimate: ObserverGraph | None = None,
) -> BondGraph:
    """A graph with the feedback u = u_ref - K (x - x0) of its states, or of their estimates, as a
    bond graph.

    Parameters
    ----------
    gains : K, (inputs, states), or what has it as `.K`, such as `es.control.lqr(linear, Q, R)`.
    x : x0, the state that is held; zero if left out.
    estimate : an observer of the graph, `g.observer_graph(...)`, whose estimates take the states'
        place.

    >>> import eslabon as es
    >>> g = es.BondGraph("cart", {"F": "Se", "j": "1", "m": "I: 2", "k": "C: 0.5", "y": "Df"}, ["F -> j -> m", "j -> k", "j -> y"])
    >>> closed = feedback_graph(g, [[3.0, 1.0]])
    >>> closed.inputs, closed.linearize([0.0, 0.0], [0.0]).poles.round(3)
    (('e1_reference',), array([-0.634+0.j, -2.366+0.j]))
    >>> both = feedback_graph(g, [[3.0, 1.0]], estimate=g.observer_graph([-5.0, -6.0]))
    >>> sorted(both.linearize([0.0] * 4, [0.0]).poles.real.round(3).tolist())
    [-6.0, -5.0, -2.366, -0.634]
    """
    from eslabon.bond_graph.bond_graph import BondGraph

    if not controls(g):
        raise ModelError(
            f"{g.name} has no inputs to feed back to; give it a source without a value."
        )
    if estimate is not None and (not isinstance(estimate, ObserverGraph) or estimate.plant != g):
        raise InputError(
            f"estimate is an observer of {g.name}, as g.observer_graph(poles) gives it; it is {format_value(estimate)}."
        )
    K = _gains(g, getattr(gains, "K", gains))
    point = np.zeros(order(g)) if x is None else state(g, x)
    if point.ndim != 1:
        raise InputError(f"x is one state; it has shape {point.shape}.")
    names = causality(g.nominal).states if estimate is None else estimate.estimates
    terms = [parameter(n) - float(x0) for n, x0 in zip(names, point, strict=True)]
    made = Rewriting(g if estimate is None else estimate.graph)
    for source, row in zip(controls(g), K, strict=True):
        value: Number = 0.0
        for k, term in zip(row, terms, strict=True):
            value = value - float(k) * term
        if not isinstance(value, float):
            _join(g, made, source, value)
    return BondGraph.from_description(_named(g, made))


def _gains(g: Graph, given: Any) -> Floats:
    K, shape = finite(given, "gains"), (len(controls(g)), order(g))
    if K.shape == shape[1:] and shape[0] == 1:
        K = K[None, :]
    if K.shape != shape:
        raise InputError(
            f"gains have shape {K.shape}; {g.name} has {shape[0]} inputs and {shape[1]} states, so that they are {shape}."
        )
    return K


def _join(g: Graph, made: Rewriting, source: Element, value: Number) -> None:
    """The feedback of one input: a junction in its bond, and on it a source that is modulated."""
    name, letter = g.ports[source.name][0].bond.name, source.imposes[0]
    place = [b.name for b in made.bonds].index(name)
    old = made.bonds[place]
    junction = made.add(f"{source.name}_sum", JUNCTION_WITH[OTHER[letter]])
    taken = [b.name for b in made.bonds]
    reference = free_name(f"{name}_reference", taken)
    added = made.add(f"{source.name}_feedback", f"MS{letter}", value)
    beside = free_name(f"{name}_feedback", taken)
    end, other = ("tail", "head") if old.tail == source.name else ("head", "tail")
    made.bonds[place : place + 1] = [
        replace(old, name=reference, **{other: junction}),
        replace(old, name=beside, **{end: added, other: junction}),
        replace(old, **{end: junction}),
    ]


def _named(g: Graph, made: Rewriting) -> Description:
    note = f"{g.name} with feedback of its states: inputs are added to what is fed back."
    return made.description(f"{g.name}_closed", note)
