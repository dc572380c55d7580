"""Transfer functions in letters, by Mason's rule on the signal-flow graph (Mason, 1956; Morales,
5.2).

The transfer from one variable to another is the sum of P_k D_k / D over the paths between them,
where D = det(1 - G(s)) and D_k is D without what touches path k. It comes out node by node: an
inner node with the loop gain L leaves the edges a b / (1 - L) from those before it to those behind
it, and D is the product of all 1 - L.
"""

from __future__ import annotations

from typing import Any

from eslabon.arguments import known_words, text
from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.elements import Variable
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.signal_flow import Flow, refuse_sinks, signal_flow
from eslabon.errors import ModelError
from eslabon.export.equations import equations
from eslabon.numerics.scalars import casadi

Edges = dict[Variable, dict[Variable, Any]]  # gains by where they lead from and to


def transfer_function(g: Graph, source: str, output: str) -> Any:
    """The transfer function from an input to an effort or a flow, as a SymPy expression of
    parameters and s.

    Parameters
    ----------
    source : an input, by the name of its variable, as in `g.inputs`.
    output : an effort or a flow, by its name, such as f3.

    >>> import eslabon as es
    >>> g = es.BondGraph("rlc", {"V": "Se", "j": "1", "L": "I: L", "R": "R: R", "C": "C: C"},
    ...     ["V -> j -> L", "j -> R", "j -> C"], {"L": 0.5, "R": 2.0, "C": 0.1})
    >>> transfer_function(g, "e1", "f1")
    C*s/(C*L*s**2 + C*R*s + 1)
    """
    import sympy

    _refuse_varying(g)
    known_words([text(source, "the input")], _inputs(g), f"{g.name} has no input")
    known_words([text(output, "the output")], g.signals, f"{g.name} has no variable")
    letter, bond = g.signals[output]
    if letter not in "ef":
        raise ModelError(
            f"{output} is a state of {g.name}; a transfer function leads to an effort or a flow."
        )
    start, end = _inputs(g)[source], (bond.name, letter)
    edges = _gains(g)
    if start == end:
        return sympy.Integer(1)
    edges = {a: {b: x for b, x in own.items() if b != start} for a, own in edges.items()}
    last = ("", "")  # behind the output, which may stand in loops itself
    edges.setdefault(end, {})[last] = sympy.Integer(1)
    _eliminate(edges, {start, last})
    return sympy.factor(edges.get(start, {}).get(last, sympy.Integer(0)))


def characteristic(g: Graph) -> Any:
    """Mason's determinant det(1 - G(s)) of a graph, in letters: zero at its poles.

    >>> import eslabon as es
    >>> g = es.BondGraph("rlc", {"V": "Se", "j": "1", "L": "I: L", "R": "R: R", "C": "C: C"},
    ...     ["V -> j -> L", "j -> R", "j -> C"], {"L": 0.5, "R": 2.0, "C": 0.1})
    >>> characteristic(g)
    (C*L*s**2 + C*R*s + 1)/(C*L*s**2)
    """
    import sympy

    _refuse_varying(g)
    return sympy.factor(_eliminate(_gains(g), set()))


def _inputs(g: Graph) -> dict[str, Variable]:
    """The variables of the inputs by their names."""
    found = {}
    for x in g.elements.values():
        if x.is_input:
            bond, letter = g.ports[x.name][0].bond, x.imposes[0]
            found[bond.signal_name(letter)] = (bond.name, letter)
    return found


def _gains(g: Graph) -> Edges:
    """The gains of all edges, in letters and s."""
    import sympy

    flow: Flow = signal_flow(g.nominal)
    steps = list(flow.edges(data="step"))
    if not steps:
        return {}
    factors = casadi.densify(casadi.vertcat(*(step.factor for _, _, step in steps)))
    free = casadi.symvar(factors)
    f = casadi.Function(
        "gains", [casadi.vertcat(casadi.SX(0, 1), *free)], [factors], ["letters"], ["gains"]
    )
    (made,) = equations(f, {"letters": [x.name() for x in free]} if free else None).expanded()
    s, values = sympy.Symbol("s"), list(made) if hasattr(made, "shape") else [made]
    edges: Edges = {}
    for (a, b, step), value in zip(steps, values, strict=True):
        gain = sympy.nsimplify(sympy.sympify(value), rational=True) * s**step.power
        edges.setdefault(a, {})[b] = gain
    return edges


def _eliminate(edges: Edges, kept: set[Variable]) -> Any:
    """Take all other nodes out, those with the fewest edges first; the product of all 1 - L comes
    back."""
    import sympy

    before: dict[Variable, set[Variable]] = {}
    for a, own in edges.items():
        for b in own:
            before.setdefault(b, set()).add(a)
    left = {*edges, *before} - kept
    determinant = sympy.Integer(1)
    while left:
        node = min(left, key=lambda n: (len(before.get(n, ())) * len(edges.get(n, {})), n))
        left.discard(node)
        after = edges.pop(node, {})
        loop = 1 - after.pop(node, sympy.Integer(0))
        loop = sympy.cancel(loop)
        if loop == 0:
            raise ModelError("a loop of gain one settles nothing; there is no transfer function.")
        determinant = sympy.cancel(determinant * loop)
        for a in before.pop(node, set()) - {node}:
            into = edges[a].pop(node)
            for b, out in after.items():
                gain = sympy.cancel(edges[a].get(b, 0) + into * out / loop)
                edges[a].pop(b, None)
                before.setdefault(b, set()).discard(a)
                if gain != 0:
                    edges[a][b] = gain
                    before[b].add(a)
        for b in after:
            before.get(b, set()).discard(node)
    return determinant


def _refuse_varying(g: Graph) -> None:
    """Moduli that vary add to a transfer what no edge has."""
    refuse_sinks(g, "transfer functions")
    varying = [
        x.name
        for x in g.elements.values()
        if not x.is_source
        and x.value is not None
        and any(n in g.signals or n == "t" for n in g.definitions.names_in(x.value))
    ]
    if varying:
        raise ModelError(
            f"{g.name}: {', '.join(varying)} vary with states or the time; ask for the transfer functions of "
            "g.linearized_graph(x, u)."
        )
    causality(g.nominal)
