"""Who causes what: efforts and flows as the nodes of a signal flow graph, and the causal paths and
loops in it.

An edge leads from a variable to one that follows from it: at a junction, across a transformer or a
gyrator, or through a resistor, a storage or a modulated source. Its gain is a factor, in the
symbols of parameters and of the graph's variables, times a power of the Laplace variable s: -1
through a storage in integral causality, +1 through one in derivative causality. Laws that are not
linear enter by their slopes. (Morales, 5.2; Mason, 1956.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from typing import Any, NamedTuple

import networkx as nx

from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.elements import OTHER, Element, Variable
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import T, U, X
from eslabon.bond_graph.junction_structure import Derivation
from eslabon.bond_graph.state_equations import Evaluation
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import ModelError
from eslabon.model.memory import per_model
from eslabon.numerics.scalars import Expression, casadi

Flow = Any  # a networkx.DiGraph of variables, whose edges have a `Step`


class Step(NamedTuple):
    """The gain of an edge, factor s^power, and the element it leads through."""

    factor: Expression
    power: int
    element: Element


class Route(NamedTuple):
    """A causal path: its variables, and the steps between them. That of a loop comes back to its
    first variable."""

    variables: tuple[Variable, ...]
    steps: tuple[Step, ...]

    @property
    def factor(self) -> Expression:
        """The gain without its power of s."""
        made = casadi.SX(1)
        for step in self.steps:
            made = made * step.factor
        return made

    @property
    def power(self) -> int:
        """Of s in the gain."""
        return sum(step.power for step in self.steps)

    def passed(self) -> list[Element]:
        """The elements on the way that are no junctions."""
        return [step.element for step in self.steps if not step.element.is_junction]


@per_model
def signal_flow(g: Graph, preference: str = "integral") -> Flow:
    """The signal flow graph of a graph with causality assigned."""
    derivation = Derivation(g, causality(g, preference))
    derivation.mark_columns()
    flow: Flow = nx.DiGraph()
    flow.add_nodes_from((b, letter) for b in g.bonds for letter in "ef")
    for x, relation in derivation.relations(fields=True):
        for factor, cause in relation.causes:
            if factor.nnz():
                flow.add_edge(cause, relation.effect, step=Step(factor, relation.power, x))
    return flow


# Paths
# ---------------------------------------------------------------------------------------------------------------


def outputs_of(g: Graph, x: Element, preference: str) -> list[Variable]:
    """What a one-port gives, port by port."""
    c = causality(g, preference)
    return [(p.bond.name, "f" if c.effort_in(p) else "e") for p in g.ports[x.name]]


def inputs_of(g: Graph, x: Element, preference: str) -> list[Variable]:
    """What a one-port is given; a detector, what it measures."""
    if x.measures:
        return [(g.ports[x.name][0].bond.name, x.imposes[0])]
    return [(bond, OTHER[letter]) for bond, letter in outputs_of(g, x, preference)]


def conducting(g: Graph, preference: str, keep: Callable[[Step], bool]) -> Flow:
    """The signal flow graph with some of its edges only."""
    whole = signal_flow(g, preference)
    return nx.subgraph_view(whole, filter_edge=lambda a, b: keep(whole.edges[a, b]["step"]))


def in_structure(step: Step) -> bool:
    """Whether an edge belongs to the junction structure: junctions, transformers and gyrators."""
    return step.element.conducts


def routes(
    g: Graph, start: Element, end: Element, preference: str, indirect: bool
) -> Iterator[Route]:
    """The causal paths from one element to another, through the junction structure or also through
    other elements."""
    if indirect:
        refuse_sinks(g, "causal paths through elements")
    flow = signal_flow(g, preference) if indirect else conducting(g, preference, in_structure)
    targets = set(inputs_of(g, end, preference))
    for first in outputs_of(g, start, preference):
        for variables in nx.all_simple_paths(flow, first, targets) if targets - {first} else ():
            yield _route(flow, variables)


def loops(g: Graph, preference: str, indirect: bool, limit: int) -> list[Route]:
    """The closed causal paths that lead through no variable twice."""
    if indirect:
        refuse_sinks(g, "causal paths through elements")
    flow = signal_flow(g, preference) if indirect else conducting(g, preference, in_structure)
    place = {variable: k for k, variable in enumerate(flow)}

    def from_its_first(cycle: list[Variable]) -> list[Variable]:
        k = min(range(len(cycle)), key=lambda i: place[cycle[i]])
        return [*cycle[k:], *cycle[: k + 1]]

    found = (_route(flow, from_its_first(cycle)) for cycle in nx.simple_cycles(flow))
    return at_most(g, found, limit, "causal loops")


def shortest_route(
    flow: Flow, starts: Iterable[Variable], ends: Iterable[Variable]
) -> Route | None:
    """The shortest path between two sets of variables, or None."""
    targets = set(ends)
    best: list[Variable] | None = None
    for start in starts:
        if start not in flow:
            continue
        reached = nx.single_source_shortest_path(flow, start)
        for end in targets & set(reached):
            if best is None or len(reached[end]) < len(best):
                best = reached[end]
    return None if best is None else _route(flow, best)


def _route(flow: Flow, variables: list[Variable]) -> Route:
    return Route(tuple(variables), tuple(flow.edges[a, b]["step"] for a, b in pairwise(variables)))


def refuse_sinks(g: Graph, what: str) -> None:
    """Residual sinks find what they impose from the storages around them: no path through them has
    a gain of its own."""
    if sinks := [x.name for x in g.elements.values() if x.is_sink]:
        raise ModelError(
            f"{g.name} has residual sinks ({', '.join(sinks)}), and so no {what}; ask for its linear model at a state instead."
        )


def at_most(g: Graph, found: Iterator[Route], limit: int, noun: str) -> list[Route]:
    """What was found, the shortest first; more than the limit is refused."""
    made = list(islice(found, limit + 1))
    if len(made) > limit:
        raise ModelError(
            f"{g.name} has more than {limit} {noun}; ask for fewer, such as those between two elements, or give limit a higher "
            "number."
        )
    return sorted(made, key=lambda route: (len(route.variables), route.variables))


# Numbers
# -------------------------------------------------------------------------------------------------------------


def factors(g: Graph, x: Expression, u: Expression, t: Expression, preference: str) -> Expression:
    """The factors of all edges at a state, in the order of the edges."""
    e = Evaluation.of_state(g, x, u, t)
    made = [step.factor for _, _, step in signal_flow(g.nominal, preference).edges(data="step")]
    found = casadi.densify(e.filled(casadi.vertcat(casadi.SX(0, 1), *made)))
    return e.loops.settled([found])[0]


def _edges(g: Graph, preference: str) -> tuple[int]:
    return (signal_flow(g.nominal, preference).number_of_edges(),)


FACTORS = Formula(
    "signal_flow_factors",
    factors,
    (X, U, T),
    (Argument("factors", _edges),),
    {"preference": "integral"},
    rare=True,
)
