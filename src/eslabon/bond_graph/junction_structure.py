"""The junction structure: every effort and flow as a linear combination of what the fields and
sources give.

    [x'  ]   [S11 S12 S13 S14] [z    ]
    [D_in] = [S21 S22 S23 S24] [D_out]          (Morales, 2.37-2.39, 4.184)
    [z_d ]   [Z1  Z2  Z3  Z4 ] [u    ]
    [y   ]   [S31 S32 S33 S34] [x_d' ]

x are the energy variables in integral causality, z the co-energy variables; those in derivative
causality have an index d; D are the power variables of resistors, u the sources, y the detectors.
Without active bonds power is conserved, so that S11, S22 and Z4 are skew-symmetric and S12 =
-S21^T, S14 = -Z1^T. The moduli in the entries are symbols: of parameters, the time, and variables
of the graph. With derivative causality preferred the same blocks are called J: J11 = Z4, J12 = Z2,
J13 = Z3, J21 = S24, J22 = S22, J23 = S23.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx

from eslabon.bond_graph.cancellation import without_cancelled
from eslabon.bond_graph.causality import Causality, Storage, causality
from eslabon.bond_graph.definitions import Reader
from eslabon.bond_graph.elements import OTHER, Element, Port, Relation, Variable
from eslabon.bond_graph.elimination import SingularError, solve
from eslabon.bond_graph.graph import Graph
from eslabon.errors import ModelError
from eslabon.model.memory import per_model
from eslabon.numerics.scalars import Expression, casadi

GROUPS = ("z", "D_out", "u", "xd_rate")
ROWS = ("x_rate", "D_in", "zd", "y")
BLOCKS = {
    **{f"S{i + 1}{j + 1}": (row, column) for i, row in enumerate(("x_rate", "D_in", "y")) for j, column in enumerate(GROUPS)},
    **{f"Z{j + 1}": ("zd", column) for j, column in enumerate(GROUPS)},
}  # fmt: skip
DERIVATIVE_BLOCKS = {
    f"J{i + 1}{j + 1}": (row, column)
    for i, row in enumerate(("zd", "D_in", "y"))
    for j, column in enumerate(("xd_rate", "D_out", "u"))
}


@dataclass(frozen=True)
class JunctionStructure:
    """The matrix of the junction structure in blocks; `key` has the names in each key vector.

    `symbols` are those of the parameters and variables in the entries. `rows` has every bond
    variable in terms of the columns.
    """

    causality: Causality
    key: Mapping[str, tuple[str, ...]]
    resistors: tuple[tuple[Element, tuple[Port, ...]], ...]
    sources: tuple[Element, ...]
    symbols: Mapping[str, Expression]
    rows: Mapping[Variable, Expression]
    matrix: Mapping[str, Expression]  # the rows of x_rate, D_in, zd and y

    def __getattr__(self, name: str) -> Expression:
        """A block by its name, such as S11."""
        places = {**BLOCKS, **DERIVATIVE_BLOCKS}
        if name not in places:
            raise AttributeError(
                f"the junction structure has no {name!r}; its blocks are {', '.join(places)}."
            )
        return self.block(*places[name])

    def block(self, row: str, column: str) -> Expression:
        """The rows of one key vector and the columns of another."""
        return self.matrix[row][:, self.columns[column]]

    @cached_property
    def resistor_places(self) -> list[list[int]]:
        """The places of each resistor's ports in D_in."""
        made, start = [], 0
        for _, ports in self.resistors:
            made.append(list(range(start, start + len(ports))))
            start += len(ports)
        return made

    @cached_property
    def algebraic_loops(self) -> tuple[tuple[str, ...], ...]:
        """The resistors that answer one another without a storage between, loop by loop."""
        S22, places = self.block("D_in", "D_out"), self.resistor_places
        loops = [m for m in ordered_loops(S22, places) if S22[m, m].nnz()]
        return tuple(
            tuple(x.name for (x, _), own in zip(self.resistors, places, strict=True) if own[0] in m)
            for m in loops
        )

    @cached_property
    def columns(self) -> Mapping[str, slice]:
        """Where each group of columns stands."""
        made, start = {}, 0
        for group in GROUPS:
            made[group] = slice(start, start + len(self.key[group]))
            start += len(self.key[group])
        return made


def ordered_loops(S22: Expression, units: list[list[int]]) -> list[list[int]]:
    """Places of D_in that depend on one another, in an order in which each depends on those
    before."""
    order: nx.DiGraph[int] = nx.DiGraph()
    order.add_nodes_from(range(len(units)))
    unit_of = {k: i for i, unit in enumerate(units) for k in unit}
    for row, column in zip(*S22.sparsity().get_triplet(), strict=True):
        order.add_edge(unit_of[column], unit_of[row])
    dag = nx.condensation(order)
    return [
        sorted(k for i in dag.nodes[node]["members"] for k in units[i])
        for node in nx.topological_sort(dag)
    ]


def junction_structure(g: Graph, preference: str = "integral") -> JunctionStructure:
    """The junction structure of a graph with causality assigned; the same for all values of
    parameters."""
    return _derived(g, preference)


@per_model
def _derived(g: Graph, preference: str) -> JunctionStructure:
    return Derivation(g, causality(g, preference)).structure()


class Derivation:
    """Follows causality from every bond variable to the columns."""

    def __init__(self, g: Graph, c: Causality) -> None:
        self.g, self.causality = g, c
        self.resistors = tuple((x, g.ports[x.name]) for x in g.elements.values() if x.dissipates)
        self.sources = tuple(x for x in g.elements.values() if x.is_source)
        self.detectors = tuple(x for x in g.elements.values() if x.measures)
        self.symbols: dict[str, Expression] = {}
        self.given: dict[Variable, int] = {}
        self.read = Reader(g.definitions, self.symbol, g.signals)

    def structure(self) -> JunctionStructure:
        if not self.g.bonds:
            raise ModelError(
                f"{self.g.name} has no bonds, and so no efforts and flows; join elements, as in 'V -> j'."
            )
        key = self.mark_columns()
        rows = self._rows(len(self.given))
        whole = without_cancelled(casadi.vertcat(*rows.values()))
        rows = {v: whole[i, :] for i, v in enumerate(rows)}
        own: dict[str, list[Variable]] = {
            "x_rate": [self._variable(s, s.letters[0]) for s in self.causality.integral],
            "D_in": [
                (p.bond.name, self.causality.given(p)) for _, ports in self.resistors for p in ports
            ],
            "zd": [self._variable(s, s.letters[1]) for s in self.causality.derivative],
            "y": [(self.g.ports[x.name][0].bond.name, x.imposes[0]) for x in self.detectors],
        }
        width = len(self.given)
        matrix = {
            name: casadi.vertcat(casadi.SX(0, width), *(rows[v] for v in vs))
            for name, vs in own.items()
        }
        key |= {
            name: tuple(self._said(v) for v in vs)
            for name, vs in own.items()
            if name in ("D_in", "zd", "y")
        }
        return JunctionStructure(
            self.causality, key, self.resistors, self.sources, self.symbols, rows, matrix
        )

    def _said(self, variable: Variable) -> str:
        return self.g.bonds[variable[0]].signal_name(variable[1])

    @staticmethod
    def _variable(s: Storage, letter: str) -> Variable:
        return s.port.bond.name, letter

    def mark_columns(self) -> dict[str, tuple[str, ...]]:
        """What fields and sources give, as the columns."""
        c = self.causality
        gives: dict[str, list[Variable]] = {
            "z": [self._variable(s, s.letters[1]) for s in c.integral],
            "D_out": [
                (p.bond.name, OTHER[self.causality.given(p)])
                for _, ports in self.resistors
                for p in ports
            ],
            "u": [(self.g.ports[x.name][0].bond.name, x.imposes[0]) for x in self.sources],
            "xd_rate": [self._variable(s, s.letters[0]) for s in c.derivative],
        }
        for group in GROUPS:
            for variable in gives[group]:
                self.given[variable] = len(self.given)
        names = {group: tuple(self._said(v) for v in own) for group, own in gives.items()}
        return {"x": c.states, "xd": c.dependent, **names}

    # -- what each variable is made of --------------------------------------------------------------------------

    def _rows(self, width: int) -> dict[Variable, Expression]:
        """Every bond variable in terms of the columns; loops in the junction structure itself are
        solved."""
        rows: dict[Variable, Expression] = {}
        for variable, place in self.given.items():
            rows[variable] = casadi.SX(1, width)
            rows[variable][place] = 1
        parts = self.parts()
        order: nx.DiGraph[Variable] = nx.DiGraph()
        order.add_nodes_from(parts)
        order.add_edges_from((w, v) for v, own in parts.items() for _, w in own if w in parts)
        dag = nx.condensation(order)
        for node in nx.topological_sort(dag):
            members = sorted(dag.nodes[node]["members"])
            if len(members) == 1 and members[0] not in [w for _, w in parts[members[0]]]:
                rows[members[0]] = _combined(parts[members[0]], rows, width)
            else:
                rows |= self._solved(members, parts, rows, width)
        return rows

    def parts(self) -> dict[Variable, list[tuple[Expression, Variable]]]:
        """Each bond variable that no field and no source gives, by the variables next to it."""
        found = {r.effect: r.causes for x, r in self.relations() if r.effect not in self.given}
        variables = [(b, letter) for b in self.g.bonds for letter in "ef"]
        return {v: [*found.get(v, ())] for v in variables if v not in self.given}

    def relations(self, fields: bool = False) -> Iterator[tuple[Element, Relation]]:
        """The relations of all junctions, transformers and gyrators, or also of fields and
        modulated sources."""
        for x in self.g.elements.values():
            if x.conducts or fields:
                for r in x.rules.relations(x, self.g.ports[x.name], self.causality, self.read):
                    heard = [(k, v) for k, v in r.causes if not self._unheard(v, x.name)]
                    yield x, r._replace(causes=heard)

    def _solved(
        self, members: list[Variable], parts: Mapping[Variable, Sequence[tuple[Expression, Variable]]], rows: Mapping[Variable, Expression],
        width: int,
    ) -> dict[Variable, Expression]:  # fmt: skip
        """Variables that depend on one another through junctions alone."""
        n = len(members)
        A, b = casadi.SX.eye(n), casadi.SX(n, width)
        for i, v in enumerate(members):
            for factor, w in parts[v]:
                if w in members:
                    A[i, members.index(w)] -= factor
            b[i, :] = _combined([(x, w) for x, w in parts[v] if w not in members], rows, width)
        try:
            x = solve(A, b)
        except SingularError:
            names = ", ".join(sorted({name for name, _ in members}))
            raise ModelError(
                f"{self.g.name}: bonds {names} form a loop of junctions in which nothing settles the efforts or flows; simplify "
                "it, or put an element into it."
            ) from None
        return {v: x[i, :] for i, v in enumerate(members)}

    def _unheard(self, variable: Variable, name: str) -> bool:
        """Whether the element at the tail of an active bond would be answered, which it is not."""
        bond = self.g.bonds[variable[0]]
        return bool(bond.signal) and bond.tail == name and variable[1] != bond.signal[0]

    def symbol(self, name: str) -> Expression:
        """That of a parameter, the time, or a variable of the graph."""
        return self.symbols.setdefault(name, casadi.SX.sym(name))


def _combined(
    parts: Sequence[tuple[Expression, Variable]], rows: Mapping[Variable, Expression], width: int
) -> Expression:
    total = casadi.SX(1, width)
    for factor, v in parts:
        total = total + factor * rows[v]
    return casadi.sparsify(total)
