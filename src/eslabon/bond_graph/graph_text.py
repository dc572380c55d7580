"""State equations as text and as C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eslabon.arguments import choice, names
from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import OUTPUTS, RATES, input_names
from eslabon.bond_graph.motion_terms import MOTION_TERMS, displacements
from eslabon.compiler.formula import Formula, requested
from eslabon.compiler.program import simplified
from eslabon.compiler.trace import trace
from eslabon.errors import ModelError

if TYPE_CHECKING:
    from eslabon.export.c_source import CSource
    from eslabon.export.equations import Equations

QUANTITIES = {"rates": RATES, "outputs": OUTPUTS, "motion_terms": MOTION_TERMS}


def _formula(quantity: str) -> Formula:
    return QUANTITIES[choice(quantity, "a quantity of a bond graph", QUANTITIES)]


def _traced(g: Graph, quantity: str, parameters: tuple[str, ...]) -> Any:
    if not causality(g).order:
        raise ModelError(f"{g.name} has no states: no storage has integral causality.")
    return simplified(trace(g, requested(g, _formula(quantity), {}, parameters), checks=False))


def equations(g: Graph, quantity: str, parameters: tuple[str, ...] | bool) -> Equations:
    """See `BondGraph.equations`."""
    from eslabon.export import equations as printed

    kept = (
        (tuple(g.parameters) if parameters else ())
        if isinstance(parameters, bool)
        else names(parameters, "parameters")
    )
    symbols = {"x": [*causality(g).states], "u": [*input_names(g)], "q": [*displacements(g)]}
    own = {name: symbols[name] for name in _formula(quantity).input_names if symbols.get(name)}
    return printed.equations(_traced(g, quantity, kept), own)


def c_source(g: Graph, quantity: str) -> CSource:
    """See `BondGraph.c_source`."""
    from eslabon.export.c_source import source

    return source(
        _traced(g, quantity, ()), f"{g.name}_{quantity}", f"{quantity} of the bond graph {g.name}"
    )
