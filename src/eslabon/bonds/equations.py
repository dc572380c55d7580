"""State equations from the junction structure, as formulas of a graph for the one evaluator.

With z = z(x), D_out = L(D_in), and x_d = x_d(x) in derivative causality, whose rate is that of what it depends on,

    (1 - S14 dx_d/dx) x' = S11 z + S12 D_out + S13 u + S14 dx_d/dt.

For linear fields dx_d/dx x' = F_d^-1 (Z1 F x' + Z1' F x), so that this is Morales' (2.42)-(2.47) with E = 1 - S14 F_d^-1 Z1 F,
and for a state-dependent Z1 (there S31) the term of (4.91).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi
import networkx as nx

from eslabon.bonds import laws
from eslabon.bonds.causality import Storage, causality
from eslabon.bonds.elimination import SingularError, solve
from eslabon.bonds.graph import Graph
from eslabon.bonds.items import TIME, Element
from eslabon.bonds.junctions import Variable, junction_structure
from eslabon.errors import ModelError
from eslabon.graph.evaluator import Formula
from eslabon.graph.native.signature import Argument
from eslabon.model.expressions import Expression

SX = Any
NEWTON = 12  # iterations for an algebraic loop through laws that are not linear
UNSOLVED = 1e-9  # of such a loop, relative to what enters it


class Evaluation:
    """Everything in a graph at one state, in symbols: signals, fields, rates.

    `energy` gives the energy variables: those in integral causality and perhaps, for a steady state, all.
    """

    def __init__(self, g: Graph, energy: Mapping[str, SX], u: SX, t: SX, preference: str = "integral") -> None:
        self.g, self.u_given, self.t = g, u, t
        self.structure = junction_structure(g.plain, preference)
        self.causality = self.structure.causality
        self._energy = dict(energy)
        self._signals: dict[str, SX] = {}
        self._pending: list[str] = []
        self.residual = casadi.SX(0)  # of algebraic loops solved by iteration

    @staticmethod
    def of_state(g: Graph, x: SX, u: SX, t: SX) -> Evaluation:
        """At a state x of the graph with integral causality."""
        names = causality(g.plain).states
        return Evaluation(g, {name: x[k] for k, name in enumerate(names)}, u, t)

    # -- signals ------------------------------------------------------------------------------------------------

    def value(self, expression: Any, own: Mapping[str, SX] | None = None) -> Any:
        """The value of a number or an expression of parameters, the time and variables of the graph."""
        if not isinstance(expression, Expression):
            return expression
        own = own or {}
        return expression.evaluate(
            {name: own[name] if name in own else self.signal(name) for name in expression.names()}
        )

    def signal(self, name: str) -> Any:
        """The value behind a name."""
        if name == TIME:
            return self.t
        if name in self.g.values:
            return self.g.values[name]
        if name not in self._signals:
            if name in self._pending:
                loop = " -> ".join([*self._pending[self._pending.index(name) :], name])
                raise ModelError(
                    f"{self.g.name}: {name} is needed to compute itself ({loop}); modulate by states, or by what they determine."
                )
            self._pending.append(name)
            try:
                self._signals[name] = self._computed(*self.g.signals[name])
            finally:
                self._pending.pop()
        return self._signals[name]

    def _computed(self, letter: str, bond: Any) -> SX:
        if letter in "ef":
            return self.variable((bond.name, letter))
        for s in (*self.causality.integral, *self.causality.derivative):
            if s.port.bond.name == bond.name:
                return self.energy_of(s)
        raise AssertionError(bond)  # a storage is in one of the two

    def filled(self, matrix: SX) -> SX:
        """A matrix of the junction structure with the values of its moduli."""
        free = casadi.symvar(matrix)
        if not free:
            return casadi.SX(matrix)
        values = [casadi.SX(self.signal(s.name())) for s in free]
        return casadi.substitute([matrix], free, values)[0]

    def variable(self, v: Variable) -> SX:
        """An effort or flow; one that depends on rates of storages in derivative causality cannot be a signal."""
        row = self.structure.rows[v]
        groups = {group: row[:, place] for group, place in self.structure.columns.items()}
        if groups["xd_rate"].nnz() and not self.steady:
            raise ModelError(
                f"{self.g.name}: {self.g.bonds[v[0]].signal_name(v[1])} modulates an element, but it depends on rates of "
                f"storages in derivative causality ({', '.join(self.causality.dependent)}); modulate by states."
            )
        total = casadi.SX(0)
        for group in ("z", "D_out", "u"):
            for k in range(groups[group].shape[1]):
                if groups[group].sparsity().has_nz(0, k):
                    total = total + self.filled(groups[group][k]) * self._column(group, k)
        return total

    def _column(self, group: str, k: int) -> SX:
        if group == "z":
            return self._co_energy(self.causality.integral[k])
        return self.source(k) if group == "u" else self.D_out[k]

    # -- fields -------------------------------------------------------------------------------------------------

    @property
    def steady(self) -> bool:
        """Whether all energy variables are given, and all rates zero."""
        return bool(self.causality.derivative) and self.causality.derivative[0].name in self._energy

    def energy_of(self, s: Storage) -> SX:
        """p or q of a storage."""
        if s.name not in self._energy:
            self._energy |= self._dependent(s.element)
        return self._energy[s.name]

    def _dependent(self, x: Element) -> dict[str, SX]:
        """The energy variables of a storage in derivative causality, by what is imposed on it."""
        own = [s for s in self.causality.derivative if s.element.name == x.name]
        imposed = casadi.vertcat(*(self.variable((s.port.bond.name, s.letters[1])) for s in own))
        made = laws.stored(x, imposed, self.value)
        return {s.name: made[k] for k, s in enumerate(own)}

    def _co_energy(self, s: Storage) -> SX:
        own = [
            other
            for other in (*self.causality.integral, *self.causality.derivative)
            if other.element.name == s.element.name
        ]
        energy = casadi.vertcat(*(self.energy_of(other) for other in own))
        return laws.co_energy(s.element, energy, self.value)[own.index(s)]

    def source(self, k: int) -> SX:
        """What a source imposes: an input, or a value of its own."""
        x = self.structure.sources[k]
        if not x.is_input:
            return casadi.SX(self.value(x.value))
        return self.u_given[[y.name for y in self.structure.sources if y.is_input].index(x.name)]

    @cached_property
    def z(self) -> SX:
        return _stacked([self._co_energy(s) for s in self.causality.integral])

    @cached_property
    def zd(self) -> SX:
        """Co-energy variables by the laws of the storages in derivative causality."""
        return _stacked([self._co_energy(s) for s in self.causality.derivative])

    @cached_property
    def xd(self) -> SX:
        return _stacked([self.energy_of(s) for s in self.causality.derivative])

    @cached_property
    def u(self) -> SX:
        return _stacked([self.source(k) for k in range(len(self.structure.sources))])

    # -- dissipation --------------------------------------------------------------------------------------------

    @cached_property
    def D_out(self) -> SX:
        """What resistors answer, algebraic loops solved: D_in = d + S22 D_out, D_out = L(D_in)."""
        S21, S22, S23 = (self.filled(self.structure.block("D_in", group)) for group in ("z", "D_out", "u"))
        self._refuse_rates_at_resistors()
        d = self._times(S21, "z") + self._times(S23, "u")
        n = S22.shape[0]
        answers = casadi.SX(n, 1)
        for members in _loops(S22, self._units):
            inside = casadi.vertcat(*(d[k] for k in members)) + casadi.mtimes(S22[members, :], answers)
            looped = S22[members, members].nnz() > 0
            answers[members] = (
                self._loop(members, S22[members, members], inside) if looped else self.answers(members, inside)
            )
        return answers

    @cached_property
    def _units(self) -> list[list[int]]:
        """The places of each resistor's ports in D_in."""
        made, start = [], 0
        for _, ports in self.structure.resistors:
            made.append(list(range(start, start + len(ports))))
            start += len(ports)
        return made

    def answers(self, members: list[int], given: SX) -> SX:
        """What the resistors at some places answer to what they are given."""
        made = []
        for unit, (x, ports) in zip(self._units, self.structure.resistors, strict=True):
            if unit[0] in members:
                letter = "e" if self.causality.effort_in(ports[0]) else "f"
                own = casadi.vertcat(*(given[members.index(k)] for k in unit))
                made.append((unit[0], laws.dissipated(x, own, letter, self.value)))
        return casadi.vertcat(*(answer for _, answer in sorted(made, key=lambda pair: pair[0])))

    def stored_by_co_energy(self) -> SX:
        """The derivative of x_d by z_d."""
        zd = casadi.SX.sym("zd", len(self.causality.derivative))
        parts = [casadi.SX(0, 1)]
        for x in dict.fromkeys(s.element for s in self.causality.derivative):
            own = [k for k, s in enumerate(self.causality.derivative) if s.element.name == x.name]
            parts.append(laws.stored(x, zd[own], self.value))
        made = casadi.jacobian(casadi.vertcat(*parts), zd)
        return casadi.substitute(made, zd, self.combined(self.structure.matrix["zd"])) if zd.numel() else made

    def _loop(self, members: list[int], S: SX, d: SX) -> SX:
        """D_out of an algebraic loop: one solution of linear equations, or Newton's iteration where a law is not linear."""
        D = casadi.SX.sym("D", len(members))
        answer = self.answers(members, D)
        names = ", ".join(
            f"'{x.name}'"
            for unit, (x, _) in zip(self._units, self.structure.resistors, strict=True)
            if unit[0] in members
        )
        residual = D - d - casadi.mtimes(S, answer)
        slope = casadi.jacobian(residual, D)
        try:
            step = solve(slope, residual)
        except SingularError:
            raise ModelError(f"{self.g.name}: the algebraic loop through {names} has no solution.") from None
        linear = not casadi.depends_on(slope, D)
        found: SX = casadi.densify(d)
        for _ in range(1 if linear else NEWTON):
            found = casadi.densify(found - casadi.substitute(step, D, found))
        if not linear:
            left = casadi.substitute(residual, D, found)
            self.residual = casadi.fmax(self.residual, casadi.norm_inf(left) / (1 + casadi.norm_inf(d)))
        return casadi.substitute(answer, D, found)

    def _refuse_rates_at_resistors(self) -> None:
        if self.structure.block("D_in", "xd_rate").nnz() and not self.steady:
            names = ", ".join(x.name for x, _ in self.structure.resistors)
            raise ModelError(
                f"{self.g.name}: the causality of the resistors ({names}) leaves storages in derivative causality whose rates "
                "they depend on; give the laws inverses, or put a storage between."
            )

    def _times(self, block: SX, group: str) -> SX:
        return casadi.mtimes(block, getattr(self, group))

    # -- rates --------------------------------------------------------------------------------------------------

    @cached_property
    def forces(self) -> SX:
        """S11 z + S12 D_out + S13 u: rates without those that storages in derivative causality add."""
        blocks = {group: self.filled(self.structure.block("x_rate", group)) for group in ("z", "D_out", "u")}
        return sum((self._times(block, group) for group, block in blocks.items()), casadi.SX(self.causality.order, 1))

    @cached_property
    def x(self) -> SX:
        return _stacked([self._energy[s.name] for s in self.causality.integral])

    @cached_property
    def rates(self) -> SX:
        """x'."""
        S14 = self.filled(self.structure.block("x_rate", "xd_rate"))
        if not S14.nnz():
            return casadi.densify(self.forces)
        by_x, by_t = casadi.jacobian(self.xd, self.x), casadi.jacobian(self.xd, self.t)
        self._refuse_input_rates(S14)
        E = casadi.SX.eye(self.causality.order) - casadi.mtimes(S14, by_x)
        try:
            return casadi.densify(solve(casadi.sparsify(E), self.forces + casadi.mtimes(S14, by_t)))
        except SingularError:
            raise ModelError(f"{self.g.name}: the storages {', '.join(self.causality.dependent)} in derivative causality leave "
                "the rates of the states undetermined.") from None  # fmt: skip

    def _refuse_input_rates(self, S14: SX) -> None:
        """Where the rate of an input would be needed."""
        by_u = casadi.jacobian(self.xd, self.u_given)
        if not casadi.mtimes(S14, by_u).nnz():
            return
        inputs = [x.name for x in self.structure.sources if x.is_input]
        k, j = next((k, j) for k in range(by_u.shape[0]) for j in range(by_u.shape[1]) if by_u.sparsity().has_nz(k, j))
        raise ModelError(
            f"{self.g.name}: the input '{inputs[j]}' sets {self.causality.dependent[k]} directly, so that the equations need its "
            "rate; put a resistance between them, or make the input a state."
        )

    @cached_property
    def xd_rate(self) -> SX:
        """Rates of the energy variables in derivative causality."""
        if self.steady:
            return casadi.SX(len(self.causality.derivative), 1)
        made = casadi.mtimes(casadi.jacobian(self.xd, self.x), self.rates) + casadi.jacobian(self.xd, self.t)
        return made

    def combined(self, rows: SX) -> SX:
        """Rows of the junction structure times what fields and sources give."""
        filled, total = self.filled(rows), casadi.SX(rows.shape[0], 1)
        for group, place in self.structure.columns.items():
            block = filled[:, place]
            if block.nnz():
                total = total + self._times(block, group)
        return casadi.densify(total)


def _stacked(numbers: list[SX]) -> SX:
    return casadi.vertcat(casadi.SX(0, 1), *numbers)


def _loops(S22: SX, units: list[list[int]]) -> list[list[int]]:
    """Places of D_in that depend on one another, in an order in which each depends on those before."""
    order: nx.DiGraph[int] = nx.DiGraph()
    order.add_nodes_from(range(len(units)))
    unit_of = {k: i for i, unit in enumerate(units) for k in unit}
    for row, column in zip(*S22.sparsity().get_triplet(), strict=True):
        order.add_edge(unit_of[column], unit_of[row])
    dag = nx.condensation(order)
    return [sorted(k for i in dag.nodes[node]["members"] for k in units[i]) for node in nx.topological_sort(dag)]


# Formulas ------------------------------------------------------------------------------------------------------------


def order(g: Graph) -> int:
    """The number of states."""
    return causality(g.plain).order


def input_names(g: Graph) -> tuple[str, ...]:
    """The inputs: e or f with the bond's name."""
    return tuple(g.ports[x.name][0].bond.signal_name(x.imposes[0]) for x in g.elements.values() if x.is_input)


def output_names(g: Graph) -> tuple[str, ...]:
    """What the detectors measure."""
    return junction_structure(g.plain).key["y"]


def rates(g: Graph, x: SX, u: SX, t: SX) -> list[SX]:
    """x', and what algebraic loops that are not linear leave unsolved."""
    e = Evaluation.of_state(g, x, u, t)
    return [e.rates, e.residual]


def outputs(g: Graph, x: SX, u: SX, t: SX) -> list[SX]:
    """What the detectors measure."""
    e = Evaluation.of_state(g, x, u, t)
    return [e.combined(e.structure.matrix["y"]), e.residual]


def bond_variables(g: Graph, x: SX, u: SX, t: SX) -> list[SX]:
    """Efforts and flows of all bonds, in the order of the bonds."""
    e = Evaluation.of_state(g, x, u, t)
    rows = [casadi.vertcat(*(e.structure.rows[b, letter] for b in g.bonds)) for letter in "ef"]
    return [*(e.combined(own) for own in rows), e.residual]


def energies(g: Graph, x: SX, u: SX, t: SX) -> list[SX]:
    """What each storage holds, in the order of `storages`."""
    e = Evaluation.of_state(g, x, u, t)
    made = []
    for s in storages(g):
        own = [other for other in (*e.causality.integral, *e.causality.derivative) if other.element.name == s.name]
        made.append(laws.energy(s, _stacked([e.energy_of(other) for other in own]), e.value))
    return [_stacked(made)]


def linearization(g: Graph, x: SX, u: SX, t: SX) -> list[SX]:
    """A, B, C, D of the exact Jacobian, dependent storages included."""
    e = Evaluation.of_state(g, x, u, t)
    y = e.combined(e.structure.matrix["y"])
    return [*(casadi.densify(casadi.jacobian(f, v)) for f in (e.rates, y) for v in (x, u)), e.residual]


def jacobian(g: Graph, x: SX, u: SX, t: SX) -> SX:
    """The derivative of x' by x, for implicit methods of integration."""
    return casadi.densify(casadi.jacobian(Evaluation.of_state(g, x, u, t).rates, x))


def steady(g: Graph, X: SX, u: SX, t: SX) -> list[SX]:
    """What must vanish in a steady state, with its derivatives by the energy variables X of all storages and by u.

    With derivative causality preferred, z(X) = B*(X) u (Morales, 4.194); of a storage that stays in integral causality,
    the rate.
    """
    c = causality(g.plain, "derivative")
    e = Evaluation(g, {name: X[k] for k, name in enumerate((*c.states, *c.dependent))}, u, t, "derivative")
    rest = casadi.vertcat(e.forces, e.zd - e.combined(e.structure.matrix["zd"]))
    return [casadi.densify(x) for x in (rest, casadi.jacobian(rest, X), casadi.jacobian(rest, u))]


def structure_block(g: Graph, x: SX, u: SX, t: SX, preference: str, block: str) -> SX:
    """A block of the junction structure at a state."""
    return casadi.densify(
        Evaluation.of_state(g, x, u, t).filled(getattr(junction_structure(g.plain, preference), block))
    )


def fields(g: Graph, x: SX, u: SX, t: SX) -> list[SX]:
    """F, F_d, L, E and M (Morales, 2.33-2.36, 2.46, 2.47); of laws that are not linear, their derivatives."""
    e = Evaluation.of_state(g, x, u, t)
    S14, S22, Z1 = (e.filled(getattr(e.structure, name)) for name in ("S14", "S22", "Z1"))
    F, stored = casadi.jacobian(e.z, x), e.stored_by_co_energy()
    D = casadi.SX.sym("D", S22.shape[0])
    L = casadi.jacobian(e.answers([*range(D.numel())], D), D) if D.numel() else casadi.SX(0, 0)
    L = casadi.substitute(L, D, e.combined(e.structure.matrix["D_in"])) if D.numel() else L
    E = casadi.SX.eye(x.numel()) - casadi.mtimes([S14, stored, Z1, F])
    M = solve(casadi.SX.eye(L.shape[0]) - casadi.mtimes(L, S22), L)
    Fd = solve(stored, casadi.SX.eye(stored.shape[0]))
    return [casadi.densify(matrix) for matrix in (F, Fd, L, E, M)]


def affine(g: Graph, x: SX, t: SX) -> list[SX]:
    """f and g of x' = f(x) + g(x) u."""
    u = casadi.SX.sym("u", len(input_names(g)))
    made = Evaluation.of_state(g, x, u, t).rates
    gain = casadi.jacobian(made, u)
    if casadi.depends_on(gain, u):
        raise ModelError(f"{g.name}: x' is not f(x) + g(x) u, as a law makes the inputs appear in it otherwise.")
    return [casadi.substitute(made, u, casadi.SX.zeros(u.shape[0])), casadi.densify(gain)]


def storages(g: Graph) -> tuple[Element, ...]:
    """The storages, inertias first, in the order of the elements."""
    return tuple(x for kind in "IC" for x in g.elements.values() if x.kind == kind)


def _n(g: Graph, **_: Any) -> tuple[int]:
    return (order(g),)


def _nu(g: Graph, **_: Any) -> tuple[int]:
    return (len(input_names(g)),)


def _nX(g: Graph, **_: Any) -> tuple[int]:
    c = causality(g.plain)
    return (len(c.integral) + len(c.derivative),)


def _ny(g: Graph, **_: Any) -> tuple[int]:
    return (len(output_names(g)),)


def _nd(g: Graph, **_: Any) -> tuple[int]:
    return (len(causality(g.plain).derivative),)


def _nD(g: Graph, **_: Any) -> tuple[int]:
    return (len(junction_structure(g.plain).key["D_in"]),)


def _block_shape(g: Graph, preference: str, block: str) -> tuple[int, int]:
    shape: tuple[int, int] = getattr(junction_structure(g.plain, preference), block).shape
    return shape


def _nb(g: Graph, **_: Any) -> tuple[int]:
    return (len(g.bonds),)


def _by(rows: Any, columns: Any) -> Any:
    return lambda g, **_: (*rows(g), *columns(g))


X, U, T = Argument("x", _n, "states"), Argument("u", _nu, "inputs"), Argument("t", ())
SOLVED = Argument("algebraic_loop", (), bound=("<=", UNSOLVED))
RATES = Formula("bond_graph_rates", rates, (X, U, T), (Argument("rates", _n), SOLVED), checks=1)
OUTPUTS = Formula("bond_graph_outputs", outputs, (X, U, T), (Argument("y", _ny), SOLVED), checks=1)
BOND_VARIABLES = Formula(
    "bond_variables", bond_variables, (X, U, T), (Argument("e", _nb), Argument("f", _nb), SOLVED), checks=1
)  # fmt: skip
ENERGIES = Formula("stored_energies", energies, (X, U, T), (Argument("energies", lambda g, **_: (len(storages(g)),)),))
LINEARIZATION = Formula(
    "bond_graph_linearization", linearization, (X, U, T),
    (Argument("A", _by(_n, _n)), Argument("B", _by(_n, _nu)), Argument("C", _by(_ny, _n)), Argument("D", _by(_ny, _nu)), SOLVED),
    checks=1,
)  # fmt: skip
JACOBIAN = Formula("bond_graph_jacobian", jacobian, (X, U, T), (Argument("A", _by(_n, _n)),))
ALL = Argument("X", _nX, "energy variables")
STEADY = Formula(
    "bond_graph_steady_state", steady, (ALL, U, T),
    (Argument("rest", _nX), Argument("by_X", _by(_nX, _nX)), Argument("by_u", _by(_nX, _nu))),
)  # fmt: skip
STRUCTURE = Formula(
    "junction_structure", structure_block, (X, U, T), (Argument("block", _block_shape),), {"preference": "integral", "block": "S11"}
)  # fmt: skip
FIELDS = Formula(
    "bond_graph_fields", fields, (X, U, T),
    (Argument("F", _by(_n, _n)), Argument("Fd", _by(_nd, _nd)), Argument("L", _by(_nD, _nD)), Argument("E", _by(_n, _n)),
     Argument("M", _by(_nD, _nD))),
)  # fmt: skip
AFFINE = Formula("bond_graph_affine", affine, (X, T), (Argument("f", _n), Argument("g", _by(_n, _nu))))
