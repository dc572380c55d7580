"""The linearized bond graph (Morales, procedure 5.1), exact for every law and modulus, dependent
storages included.

Moduli and laws take their nominal values and slopes. What a modulus m that varies adds to an
effort, de_a = m de_b + e_b dm, comes from a source beside the element, modulated by the deviations
of what m depends on: the nominal source and the copy of the path in the procedure, in one. In the
same way a storage in derivative causality answers with d(J dx)/dt + (dJ/dt) dx, where J = dx_d/dx:
the second term vanishes at a steady state, and otherwise comes from a source too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.definitions import Reader
from eslabon.bond_graph.elements import (
    JUNCTION_WITH,
    OTHER,
    TIME,
    Description,
    Element,
    Port,
)
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_editor import Rewriting
from eslabon.bond_graph.graph_formulas import T, U, X
from eslabon.bond_graph.state_equations import Evaluation, stacked
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import ModelError
from eslabon.model.memory import per_model
from eslabon.model.parameter_expressions import (
    Number,
    ParameterExpression,
    parameter,
)
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.tolerances import ROUND_OFF

STILL = 1e-9
Terms = dict[str, float]  # what is added to an effort or a flow: factors of the graph's variables


class Key(NamedTuple):
    """Which coefficient: the nominal value of an element's entry, or its slope by its own variable
    or by another one."""

    element: str
    row: int
    column: int
    by: str = ""


@per_model
def keys(g: Graph) -> tuple[Key, ...]:
    """The coefficients that the linearized graph has."""
    return tuple(key for key, _ in _coefficients(g))


def coefficients(g: Graph, x: Expression, u: Expression, t: Expression) -> Expression:
    """Their values at a state, in the order of `keys`, and after them d/dx (dx_d/dx x' + dx_d/dt),
    row by row, and the same of the flows that residual sinks hold."""
    e = Evaluation.of_state(g, x, u, t)
    made = e.filled(stacked([value for _, value in _coefficients(g.nominal)]))
    held = stacked([e.variable((g.ports[s.name][0].bond.name, "f")) for s in sinks(g)])
    v, moving = casadi.SX.sym("v", x.shape[0]), casadi.vertcat(e.xd, held)
    change = casadi.mtimes(e.jacobian(moving, x), v) + e.jacobian(moving, t)
    slopes = (
        casadi.substitute(e.jacobian(change, x), v, e.rates)
        if moving.numel()
        else casadi.SX(0, x.shape[0])
    )
    return e.loops.settled([casadi.densify(casadi.vertcat(made, casadi.vec(slopes.T)))])[0]


def sinks(g: Graph) -> list[Element]:
    """The residual sinks that hold flows."""
    return [x for x in g.elements.values() if x.holds]


def _size(g: Graph, **_: Any) -> tuple[int]:
    c = causality(g.nominal)
    return (len(keys(g.nominal)) + (len(c.derivative) + len(sinks(g))) * c.order,)


COEFFICIENTS = Formula(
    "linear_graph_coefficients",
    coefficients,
    (X, U, T),
    (Argument("coefficients", _size),),
    rare=True,
)


# What varies
# ---------------------------------------------------------------------------------------------------------


def _names(g: Graph, item: Any) -> list[str]:
    """The variables of the graph in an element's value or law."""
    return [n for n in g.definitions.names_in(item) if n in g.signals]


def _varies(g: Graph, x: Element) -> bool:
    """Whether an element's value, or modulus, depends on variables or on the time."""
    return (
        x.law is None
        and x.value is not None
        and (bool(_names(g, x.value)) or TIME in g.definitions.names_in(x.value))
    )


def _coefficients(g: Graph) -> Iterator[tuple[Key, Expression]]:
    symbols: dict[str, Expression] = {}

    def symbol(name: str) -> Expression:
        return symbols.setdefault(name, casadi.SX.sym(name))

    value = Reader(g.definitions, symbol)
    for x in g.elements.values():
        if x.law is not None:
            letter = x.field.argument(x, g.definitions)
            own = symbol(g.ports[x.name][0].bond.signal_name(letter))
            answer = x.field.written(x, own, value)
            yield Key(x.name, 0, 0), casadi.jacobian(answer, own)
            for name in _names(g, x.law):
                yield Key(x.name, 0, 0, name), casadi.jacobian(answer, symbol(name))
        elif x.energy is not None:
            own = casadi.vertcat(*(symbol(name) for name in x.state))
            slopes, _ = casadi.hessian(casadi.SX(value(x.energy)), own)
            for i, j in product(range(len(x.state)), repeat=2):
                yield Key(x.name, i, j), casadi.densify(slopes[i, j])
        elif _varies(g, x):
            matrix, (rows, columns) = value.matrix(x.value), x.shape
            for i, j in product(range(rows), range(columns)):
                made = casadi.densify(matrix[i, j])
                yield Key(x.name, i, j), made
                for name in _names(g, x.value):
                    if casadi.depends_on(made, symbol(name)):
                        yield Key(x.name, i, j, name), casadi.jacobian(made, symbol(name))


# The graph
# -----------------------------------------------------------------------------------------------------------


def linear_description(
    g: Graph, numbers: np.ndarray, e: Mapping[str, float], f: Mapping[str, float]
) -> Description:
    """The linearized graph from the coefficients and the nominal efforts and flows of the bonds."""
    return _Linear(g, numbers, e, f).description()


class _Linear:
    def __init__(
        self, g: Graph, numbers: np.ndarray, e: Mapping[str, float], f: Mapping[str, float]
    ) -> None:
        own = keys(g.nominal)
        self.g, self.e, self.f, self.made = g, e, f, Rewriting(g)
        self.at = {key: float(x) for key, x in zip(own, numbers, strict=False)}
        c = causality(g)
        largest = np.abs(numbers).max(initial=0.0)
        rows = np.where(np.abs(numbers) > ROUND_OFF * largest, numbers, 0.0)[len(own) :]
        rows = rows.reshape(-1, c.order)
        self.rates, held = rows[: len(c.derivative)], rows[len(c.derivative) :]
        if np.abs(held).max(initial=0.0) > STILL:
            names = ", ".join(x.name for x in sinks(g))
            raise ModelError(
                f"{g.name}: residual sinks ({names}) hold flows in other directions as the graph moves on, which no constant element "
                "does; linearize it where nothing moves."
            )

    def description(self) -> Description:
        for x in self.g.elements.values():
            if x.is_source and x.value is not None:
                self._source(x)
            elif x.law is not None:
                self._law(x)
            elif x.energy is not None:
                self._energy(x)
            elif _varies(self.g, x):
                self._modulated(x)
            if x.heats:
                self._heat(x)
        c = causality(self.g)
        for s, row in zip(c.derivative, self.rates, strict=True):
            terms = {name: float(k) for name, k in zip(c.states, row, strict=True)}
            self._beside(s.port, s.letters[0], terms)
        note = f"{self.g.name} linearized (Morales, procedure 5.1): all variables are deviations from their nominal values."
        return self.made.description(f"{self.g.name}_linear", note)

    def _slopes(self, x: Element, i: int = 0, j: int = 0) -> Terms:
        made: Terms = {}
        for key, slope in self.at.items():
            if key.by and key[:3] == (x.name, i, j):
                name = self._canonical(key.by)
                made[name] = made.get(name, 0.0) + slope
        return made

    def _canonical(self, name: str) -> str:
        """A variable by the name it keeps when a junction is put before its storage."""
        letter, bond = self.g.signals[name]
        return name if letter in "ef" else self.g.state_name(Port(bond, True))

    def _source(self, x: Element) -> None:
        """What it imposes does not deviate, unless it is modulated."""
        value = _combination(self._slopes(x))
        kind = x.kind if isinstance(value, ParameterExpression) else x.rules.constant_kind
        self.made.elements[x.name] = replace(x, kind=kind, value=value)

    def _law(self, x: Element) -> None:
        """A law with its slope; what else it depends on acts beside it."""
        slope, letter = self.at[Key(x.name, 0, 0)], x.field.argument(x, self.g.definitions)
        port = self.g.ports[x.name][0]
        self.made.elements[x.name] = x.field.linear_law(x, slope, self.g.definitions)
        self._beside(port, "f" if letter == "e" else "e", self._slopes(x))

    def _energy(self, x: Element) -> None:
        """The energy to the second degree."""
        held: Number = 0.0
        for (i, a), (j, b) in product(enumerate(x.state), repeat=2):
            held = held + parameter(a) * parameter(b) * (self.at[Key(x.name, i, j)] / 2)
        self.made.elements[x.name] = replace(x, energy=held)

    def _heat(self, x: Element) -> None:
        """A resistor, and beside it a source of the heat that is added: e df + f de, over the
        temperature if it is entropy."""
        *resisted, heat = self.g.ports[x.name]
        over = self.e[heat.bond.name] if x.rules.conserves(x) else 1.0
        terms: Terms = {}
        for p in resisted:
            e, f = (p.bond.signal_name(letter) for letter in "ef")
            terms |= {f: self.e[p.bond.name] / over, e: self.f[p.bond.name] / over}
        if x.rules.conserves(x):
            terms[heat.bond.signal_name("e")] = -self.f[heat.bond.name] / over
        plain = self.made.elements[x.name]
        self.made.elements[x.name] = replace(plain, kind=x.rules.constant_kind, domain="")
        source = self.made.add(f"{x.name}_heat", "MSf", _combination(terms))
        self.made.bonds = [
            replace(b, tail=source) if b.name == heat.bond.name else b for b in self.made.bonds
        ]

    def _modulated(self, x: Element) -> None:
        """Constant moduli, and what their variation adds: f_out = M f_in, e_in = M^T e_out; of
        gyrators e_out = M f_in, e_in = M^T f_out; of resistors e = R f."""
        rows, columns = x.shape
        nominal = tuple(
            tuple(self.at[Key(x.name, i, j)] for j in range(columns)) for i in range(rows)
        )
        value = nominal if isinstance(x.value, tuple) else nominal[0][0]
        self.made.elements[x.name] = replace(x, kind=x.rules.constant_kind, value=value)
        into = [p for p in self.g.ports[x.name] if p.into]
        out = [p for p in self.g.ports[x.name] if not p.into] if x.conducts else into
        variation = [[self._slopes(x, i, j) for j in range(columns)] for i in range(rows)]
        letter = "f" if x.conducts and not x.turns else "e"
        for i, port in enumerate(out):
            terms = ((variation[i][j], self.f[p.bond.name]) for j, p in enumerate(into))
            self._beside(port, letter, _sum(terms))
        if not x.conducts:
            return
        other = self.f if x.turns else self.e
        for j, port in enumerate(into):
            back = ((variation[i][j], other[p.bond.name]) for i, p in enumerate(out))
            self._beside(port, "e", _sum(back))

    def _beside(self, port: Port, letter: str, terms: Terms) -> None:
        """Add terms to the effort or the flow at a port: a junction before the element, with a
        modulated source."""
        value, bond = _combination(terms), port.bond
        unheard = port.into and bond.signal == ("flow" if letter == "e" else "effort")
        if not isinstance(value, ParameterExpression) or unheard:
            return
        kind = JUNCTION_WITH[OTHER[letter]]
        junction = self.made.insert(bond.name, "head" if port.into else "tail", kind)
        source = self.made.add(f"{bond.name}_nominal", f"MS{letter}", value)
        ends = (junction, source) if port.into else (source, junction)
        self.made.join(*ends, f"{bond.name}_nominal")


def _sum(parts: Iterator[tuple[Terms, float]]) -> Terms:
    made: Terms = {}
    for terms, factor in parts:
        for name, k in terms.items():
            made[name] = made.get(name, 0.0) + k * factor
    return made


def _combination(terms: Terms) -> Number:
    """A sum of terms as an expression; zero where none is left."""
    made: Number = 0.0
    for name, k in terms.items():
        if k != 0:
            made = made + parameter(name) * k
    return made
