"""Everything in a bond graph at one state, in symbols: what fields answer, and the rates that
follow.

With z = z(x), D_out = L(D_in), and x_d = x_d(x) in derivative causality, whose rate is that of what
it depends on,

    (1 - S14 dx_d/dx) x' = S11 z + S12 D_out + S13 u + S14 dx_d/dt.

A residual sink whose flow is a state has no x' on the left: what it is given must vanish, 0 = S11 z
+ ... + S14 x_d'. The multipliers of the other sinks stand among the efforts on the right and hold
the rates of their flows at zero.

For linear fields dx_d/dx x' = F_d^-1 (Z1 F x' + Z1' F x), so that this is Morales' (2.42)-(2.47)
with E = 1 - S14 F_d^-1 Z1 F, and for a state-dependent Z1 (there S31) the term of (4.91).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from eslabon.bond_graph.algebraic_loops import Loops
from eslabon.bond_graph.causality import Storage, causality
from eslabon.bond_graph.definitions import Reader
from eslabon.bond_graph.elements import TIME, Element, Variable
from eslabon.bond_graph.elimination import SingularError, solve
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.junction_structure import junction_structure, ordered_loops
from eslabon.errors import ModelError
from eslabon.numerics.scalars import Expression, casadi

TINY = 1e-300
RESISTORS = "R"  # among what is being computed


class Evaluation:
    """Everything in a graph at one state, in symbols: signals, fields, rates.

    `energy` gives the energy variables: those in integral causality and perhaps, for a steady
    state, all.
    """

    def __init__(
        self,
        g: Graph,
        energy: Mapping[str, Expression],
        u: Expression,
        t: Expression,
        preference: str = "integral",
        still: bool = False,
        du: Expression | None = None,
    ) -> None:
        self.g, self.u_given, self.t, self.du = g, u, t, du
        self.value = Reader(g.definitions, self.signal)
        self.structure = junction_structure(g.nominal, preference)
        self.causality = self.structure.causality
        self._energy = dict(energy)
        # Whether all rates are zero: where that is said, or all energy variables are known.
        self.steady = still or all(s.name in energy for s in self.causality.derivative)
        self._signals: dict[str, Expression] = {}
        self._pending: list[str] = []
        self.loops = Loops()  # through laws that are not linear
        self.residual = casadi.SX(0)  # what they leave
        self.sinks = [k for k, x in enumerate(self.structure.sources) if x.holds]
        self.multiplier_symbols = casadi.SX.sym("multiplier", len(self.sinks))

    @staticmethod
    def of_state(
        g: Graph,
        x: Expression,
        u: Expression,
        t: Expression,
        du: Expression | None = None,
        *,
        still: bool = False,
    ) -> Evaluation:
        """At a state x of the graph with integral causality, where all rates vanish if it is still;
        du are rates of inputs, which flows that are imposed on inertias ask for."""
        names = causality(g.nominal).states
        return Evaluation(g, {name: x[k] for k, name in enumerate(names)}, u, t, still=still, du=du)

    # -- signals ------------------------------------------------------------------------------------------------

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

    def _computed(self, letter: str, bond: Any) -> Expression:
        if letter in "ef":
            return self.variable((bond.name, letter))
        for s in (*self.causality.integral, *self.causality.derivative):
            if s.port.bond.name == bond.name:
                return self.energy_of(s)
        raise AssertionError(bond)  # a storage is in one of the two

    def filled(self, matrix: Expression) -> Expression:
        """A matrix of the junction structure with the values of its moduli."""
        free = casadi.symvar(matrix)
        if not free:
            return casadi.SX(matrix)
        values = [casadi.densify(casadi.SX(self.signal(s.name()))) for s in free]
        return casadi.substitute([matrix], free, values)[0]

    def variable(self, v: Variable) -> Expression:
        """An effort or flow; one that depends on rates of storages in derivative causality cannot
        be a signal."""
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

    def _column(self, group: str, k: int) -> Expression:
        if group == "z":
            return self.co_energy_of(self.causality.integral[k])
        return self.source(k) if group == "u" else self.D_out[k]

    # -- fields -------------------------------------------------------------------------------------------------

    def energy_of(self, s: Storage) -> Expression:
        """p or q of a storage."""
        if s.name not in self._energy:
            own, integral = self._ports(s.element)
            if self._set_by_states and not any(integral):
                self._energy |= self._all_dependent()
                return self._energy[s.name]
            made = self._answers(s.element, own, integral)
            self._energy |= {x.name: made[k] for k, x in enumerate(own) if not integral[k]}
        return self._energy[s.name]

    @cached_property
    def _set_by_states(self) -> bool:
        """Whether moduli between states and the storages in derivative causality are those of
        states, time and parameters."""
        rows = self.structure.matrix["zd"]
        known = {*self.causality.states, *self.g.values, TIME}
        return (
            not self.structure.block("zd", "xd_rate").nnz()
            and {s.name() for s in casadi.symvar(rows)} <= known
        )

    def _all_dependent(self) -> dict[str, Expression]:
        """The energy variables of all storages in derivative causality at once, which keeps what
        they have in common."""
        made: dict[str, Expression] = {}
        for x in dict.fromkeys(
            s.element for s in self.causality.derivative if not any(self._ports(s.element)[1])
        ):
            places = [
                k for k, s in enumerate(self.causality.derivative) if s.element.name == x.name
            ]
            own = self._stored(x, self.imposed[places])
            made |= {self.causality.derivative[k].name: own[i] for i, k in enumerate(places)}
        return made

    def _stored(self, x: Element, given: Expression) -> Expression:
        """The energy variables of a storage in derivative causality by its co-energy variables."""
        letters = [s.given(False) for s in self._ports(x)[0]]
        return x.field.answers(x, given, letters, self.value)

    @cached_property
    def imposed(self) -> Expression:
        """Co-energy variables of the storages in derivative causality, as the junction structure
        imposes them."""
        return self.combined(self.structure.matrix["zd"])

    def held_by(self, x: Element) -> Expression:
        """The energy of a linear storage; in derivative causality by what is imposed on it, as its
        matrix may be singular."""
        if x.energy is not None:
            return casadi.SX(self.value(x.energy))
        energy = stacked(self.energies(x))
        if any(self._ports(x)[1]):
            return casadi.dot(self._co_energy(x, energy), energy) / 2
        places = [k for k, s in enumerate(self.causality.derivative) if s.element.name == x.name]
        return casadi.dot(self.imposed[places], energy) / 2

    def energies(self, x: Element) -> list[Expression]:
        """The energy variables of a storage in the order of its ports."""
        return [self.energy_of(s) for s in self._ports(x)[0]]

    def _ports(self, x: Element) -> tuple[list[Storage], list[bool]]:
        """The ports of a storage in their order, and which of them have integral causality."""
        return self.causality.storages(x, self.g.ports[x.name])

    def _answers(self, x: Element, own: list[Storage], integral: list[bool]) -> Expression:
        """What a storage answers at its ports to the energy variables and the co-energy variables
        that are imposed on it."""
        parts = [
            self.energy_of(s) if known else self.variable((s.port.bond.name, s.letters[1]))
            for s, known in zip(own, integral, strict=True)
        ]
        letters = [s.given(known) for s, known in zip(own, integral, strict=True)]
        return x.field.answers(x, casadi.vertcat(*parts), letters, self.value)

    def co_energy_of(self, s: Storage) -> Expression:
        """f or e of a storage whose energy variable is known, or the flow that is a state
        itself."""
        if s.is_flow:
            return self._energy[s.name]
        own, integral = self._ports(s.element)
        if not all(integral) and not all(y.name in self._energy for y in own):
            return self._coupled[s.name]
        energy = casadi.vertcat(*(self.energy_of(x) for x in own))
        return self._co_energy(s.element, energy)[own.index(s)]

    def _co_energy(self, x: Element, energy: Expression) -> Expression:
        """f of p and e of q at all ports of a storage."""
        letters = [s.letter for s in self._ports(x)[0]]
        return x.field.answers(x, energy, letters, self.value)

    @cached_property
    def _coupled(self) -> Mapping[str, Expression]:
        """Co-energy variables of fields that have both causalities: each depends on what the others
        impose."""
        names = [s.name for s in self.causality.integral if not all(self._ports(s.element)[1])]
        w = casadi.SX.sym("w", len(names))
        trial = Evaluation(
            self.g,
            self._energy,
            self.u_given,
            self.t,
            self.structure.causality.preference,
            self.steady,
        )
        trial.loops = self.loops
        vars(trial)["_coupled"] = {name: w[k] for k, name in enumerate(names)}
        rest = casadi.vertcat(*(w[k] - trial.answered(name) for k, name in enumerate(names)))
        slope = casadi.jacobian(rest, w)
        if casadi.depends_on(slope, w):
            raise ModelError(
                f"{self.g.name}: a field whose ports have both causalities ({', '.join(names)}) is modulated by what it answers; "
                "take it apart."
            )
        made = solve(slope, -casadi.substitute(rest, w, casadi.SX.zeros(len(names))))
        return {name: made[k] for k, name in enumerate(names)}

    def answered(self, name: str) -> Expression:
        """The co-energy variable that a field answers with at a port in integral causality."""
        s = next(s for s in self.causality.integral if s.name == name)
        own, integral = self._ports(s.element)
        return self._answers(s.element, own, integral)[own.index(s)]

    def source(self, k: int) -> Expression:
        """What a source imposes: an input, or a value of its own."""
        x = self.structure.sources[k]
        if x.holds:
            return self.multiplier_symbols[self.sinks.index(k)]
        if not x.is_input:
            return casadi.SX(self.value(x.value))
        return self.u_given[[y.name for y in self.structure.sources if y.is_input].index(x.name)]

    @cached_property
    def z(self) -> Expression:
        return stacked([self.co_energy_of(s) for s in self.causality.integral])

    @cached_property
    def zd(self) -> Expression:
        """Co-energy variables by the laws of the storages in derivative causality."""
        return stacked([self.co_energy_of(s) for s in self.causality.derivative])

    @cached_property
    def xd(self) -> Expression:
        return stacked([self.energy_of(s) for s in self.causality.derivative])

    @cached_property
    def u(self) -> Expression:
        return stacked([self.source(k) for k in range(len(self.structure.sources))])

    # -- dissipation --------------------------------------------------------------------------------------------

    @cached_property
    def D_out(self) -> Expression:
        """What resistors answer, algebraic loops solved: D_in = d + S22 D_out, D_out = L(D_in)."""
        if RESISTORS in self._pending:
            raise ModelError(
                f"{self.g.name}: {self._pending[-1]} modulates an element, but it depends on what resistors answer, which depends "
                "on that element; modulate by states, or write the law of a resistor in its own e or f."
            )
        self._pending.append(RESISTORS)
        try:
            return self._answered()
        finally:
            self._pending.pop()

    def _answered(self) -> Expression:
        S21, S22, S23 = (
            self.filled(self.structure.block("D_in", group)) for group in ("z", "D_out", "u")
        )
        self._refuse_rates_at_resistors()
        d = self._times(S21, "z") + self._times(S23, "u")
        n = S22.shape[0]
        answers = casadi.SX(n, 1)
        for members in ordered_loops(S22, self._units):
            inside = casadi.vertcat(*(d[k] for k in members)) + casadi.mtimes(
                S22[members, :], answers
            )
            looped = S22[members, members].nnz() > 0
            answers[members] = (
                self._loop(members, S22[members, members], inside)
                if looped
                else self.answers(members, inside)
            )
        return answers

    @property
    def _units(self) -> list[list[int]]:
        return self.structure.resistor_places

    def answers(self, members: list[int], given: Expression) -> Expression:
        """What the resistors at some places answer to what they are given."""
        made = []
        for unit, (x, ports) in zip(self._units, self.structure.resistors, strict=True):
            if unit[0] in members:
                letters = [self.causality.given(port) for port in ports]
                own = casadi.vertcat(*(given[members.index(k)] for k in unit))
                made.append((unit[0], x.field.answers(x, own, letters, self.value)))
        return casadi.vertcat(*(answer for _, answer in sorted(made, key=lambda pair: pair[0])))

    def stored_by_co_energy(self) -> Expression:
        """The derivative of x_d by z_d."""
        zd, parts = casadi.SX.sym("zd", len(self.causality.derivative)), [casadi.SX(0, 1)]
        for x in dict.fromkeys(s.element for s in self.causality.derivative):
            if any(self._ports(x)[1]):
                raise ModelError(
                    f"the ports of the field '{x.name}' have both causalities, for which there is no F_d of its own."
                )
            own = [k for k, s in enumerate(self.causality.derivative) if s.element.name == x.name]
            parts.append(self._stored(x, zd[own]))
        made = casadi.jacobian(casadi.vertcat(*parts), zd)
        return (
            casadi.substitute(made, zd, self.combined(self.structure.matrix["zd"]))
            if zd.numel()
            else made
        )

    def _loop(self, members: list[int], S: Expression, d: Expression) -> Expression:
        """D_out of an algebraic loop: one solution of linear equations, or Newton's iteration where
        a law is not linear."""
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
            raise ModelError(
                f"{self.g.name}: the algebraic loop through {names} has no solution."
            ) from None
        if not casadi.depends_on(slope, D):
            found = casadi.densify(
                casadi.densify(d) - casadi.substitute(step, D, casadi.densify(d))
            )
            return casadi.substitute(answer, D, found)
        self.loops.add(D, casadi.densify(residual), casadi.densify(d))
        terms = sum(casadi.norm_1(casadi.densify(x)) for x in (D, d, casadi.mtimes(S, answer)))
        self.residual += casadi.norm_1(casadi.densify(residual)) / (
            TINY + terms
        )  # a sum lets no NaN through
        return answer

    def _refuse_rates_at_resistors(self) -> None:
        if self.structure.block("D_in", "xd_rate").nnz() and not self.steady:
            names = ", ".join(x.name for x, _ in self.structure.resistors)
            raise ModelError(
                f"{self.g.name}: the causality of the resistors ({names}) leaves storages in derivative causality whose rates "
                "they depend on; give the laws inverses, or put a storage between."
            )

    def _times(self, block: Expression, group: str) -> Expression:
        if group != "u":
            return casadi.mtimes(block, getattr(self, group))
        used = sorted(
            set(block.sparsity().get_triplet()[1])
        )  # other sources may be modulated by what is computed here
        return casadi.mtimes(block[:, used], stacked([self.source(k) for k in used]))

    # -- rates --------------------------------------------------------------------------------------------------

    @cached_property
    def forces(self) -> Expression:
        """S11 z + S12 D_out + S13 u: rates without those that storages in derivative causality
        add."""
        total = casadi.SX(self.causality.order, 1)
        for group in ("z", "D_out", "u"):
            total += self._times(self.in_rates(group), group)
        return total

    def in_rates(self, group: str) -> Expression:
        """The rows of x' and the columns of a group."""
        return self._rows_of_rates[:, self.structure.columns[group]]

    @cached_property
    def _rows_of_rates(self) -> Expression:
        return self.filled(self.structure.matrix["x_rate"])

    @cached_property
    def x(self) -> Expression:
        return stacked([self._energy[s.name] for s in self.causality.integral])

    @cached_property
    def rates(self) -> Expression:
        """x'."""
        return self.solution[0]

    @property
    def multipliers(self) -> Expression:
        """The efforts of residual sinks that hold their flows at zero."""
        return self.solution[1]

    @cached_property
    def solution(self) -> tuple[Expression, Expression]:
        """x' and the multipliers."""
        open_ones, _ = self._implicit()
        rates = casadi.SX(self.forces)
        if self.sinks and not open_ones:
            names = ", ".join(self.structure.sources[k].name for k in self.sinks)
            raise ModelError(
                f"{self.g.name}: the residual sinks {names} hold flows that no state decides; take them away."
            )
        if not open_ones:
            return casadi.densify(rates), self.multiplier_symbols
        E, right = self.implicit_equations(rates)
        try:
            found, multipliers = (
                self._constrained(E, right, rates)
                if self.sinks
                else (solve(E, right, self._definite), casadi.SX(0, 1))
            )
        except SingularError:
            raise ModelError(f"{self.g.name}: the storages {', '.join(self.causality.dependent)} in derivative causality leave "
                "the rates of the states undetermined.") from None  # fmt: skip
        rates[open_ones] = found
        return casadi.densify(rates), multipliers

    def _implicit(self) -> tuple[list[int], list[int]]:
        """The places of states whose rates storages in derivative causality or multipliers take
        part in, and of the others."""
        S14, by_sinks = (
            self.in_rates("xd_rate"),
            casadi.jacobian(self.forces, self.multiplier_symbols),
        )
        touched = {*S14.sparsity().row(), *by_sinks.sparsity().row()}
        touched |= {k for k, s in enumerate(self.causality.integral) if s.is_flow}
        return sorted(touched), [k for k in range(self.causality.order) if k not in touched]

    def implicit_equations(self, rates: Expression) -> tuple[Expression, Expression]:
        """E and r of E x' = r for the states that `_implicit` gives, where the other rates are
        known."""
        open_ones, _ = self._implicit()
        S14 = self.in_rates("xd_rate")
        self._refuse_input_rates(S14)
        E = self.own_rates[open_ones, open_ones] - casadi.mtimes(
            S14[open_ones, :], self.jacobian(self.xd, self.x)[:, open_ones]
        )
        return casadi.sparsify(E), self.forces[open_ones] + casadi.mtimes(
            S14[open_ones, :], self._drift(self.xd, rates)
        )

    @property
    def own_rates(self) -> Expression:
        """What E is without storages in derivative causality: one for a storage, nothing for a sink
        whose flow is a state."""
        own = [0.0 if s.is_flow else 1.0 for s in self.causality.integral]
        return casadi.diag(casadi.SX(own))

    def _drift(self, y: Expression, rates: Expression) -> Expression:
        """The rate of what depends on states and the time, but for the part of the states that
        `_implicit` gives."""
        _, known = self._implicit()
        if not y.numel():
            return y
        made = self._by_time(y)
        if not known:
            return made
        if self.loops.made:
            return made + casadi.mtimes(self.jacobian(y, self.x)[:, known], rates[known])
        return made + casadi.jtimes(casadi.densify(y), self.x[known], rates[known])

    def _by_time(self, y: Expression) -> Expression:
        moved = 0 * y if self.du is None else casadi.mtimes(self.jacobian(y, self.u_given), self.du)
        if self.loops.made:
            return casadi.densify(self.jacobian(y, self.t)) + moved
        if not casadi.depends_on(y, self.t):
            return moved
        return casadi.jtimes(casadi.densify(y), self.t, casadi.SX(1)) + moved

    def jacobian(self, y: Expression, v: Expression) -> Expression:
        """The derivative of y by v, through algebraic loops too."""
        return self.loops.jacobian(y, v)

    @property
    def _definite(self) -> bool:
        """Whether E times the storages' own matrices is symmetric and definite, so that it is
        eliminated on its diagonal: E F^-1 = F^-1 + Z1^T F_d^-1 Z1 where power is conserved and laws
        are linear, one port each."""
        own = {self.causality.integral[k].element for k in self._implicit()[0]}
        if all(x.is_sink for x in own):
            return True
        elements = [s.element for s in (*self.causality.integral, *self.causality.derivative)]
        conserved = all(
            not b.signal or self.g.elements[b.head].measures for b in self.g.bonds.values()
        )
        return (
            conserved
            and all(x.is_linear and x.stores for x in elements)
            and all(not isinstance(x.value, tuple) for x in own)
        )

    def _constrained(
        self, E: Expression, right: Expression, rates: Expression
    ) -> tuple[Expression, Expression]:
        """The rates and multipliers for which the rates of the sinks' flows vanish: E x' = r + G m,
        C x' = d."""
        open_ones, _ = self._implicit()
        places = [self.g.ports[self.structure.sources[k].name][0].bond.name for k in self.sinks]
        # Shared before they are differentiated: those of delta are 2,500 operations that stand
        # there 27 times.
        flows = casadi.cse(casadi.vertcat(*(self.variable((name, "f")) for name in places)))
        G, C = (
            casadi.jacobian(right, self.multiplier_symbols),
            self.jacobian(flows, self.x)[:, open_ones],
        )
        if casadi.depends_on(G, self.multiplier_symbols) or casadi.depends_on(
            flows, self.multiplier_symbols
        ):
            raise ModelError(
                f"{self.g.name}: resistors answer the efforts of residual sinks; put a storage between."
            )
        if casadi.depends_on(flows, self.u_given) and self.du is None:
            raise ModelError(f"{self.g.name}: an input sets a flow that a residual sink holds, so that the equations need its rate; "
                "put a storage between.")  # fmt: skip
        right = casadi.substitute(right, self.multiplier_symbols, casadi.SX.zeros(len(self.sinks)))
        d, n = -self._drift(flows, rates), len(open_ones)
        try:
            across = solve(E, casadi.horzcat(right, G), self._definite)
            multipliers = solve(
                casadi.mtimes(C, across[:, 1:]), d - casadi.mtimes(C, across[:, 0]), self._definite
            )
            return across[:, 0] + casadi.mtimes(across[:, 1:], multipliers), multipliers
        except SingularError:  # motions without inertia, which the sinks hold
            whole = casadi.blockcat([[E, -G], [C, casadi.SX(len(self.sinks), len(self.sinks))]])
            found = solve(casadi.sparsify(whole), casadi.vertcat(right, d))
            return found[:n], found[n:]

    def _refuse_input_rates(self, block: Expression) -> None:
        """Where the rate of an input would be needed."""
        if self.du is not None:
            return
        by_u = self.jacobian(self.xd, self.u_given)
        if not casadi.mtimes(block, by_u).nnz():
            return
        inputs = [x.name for x in self.structure.sources if x.is_input]
        k, j = next(
            (k, j)
            for k in range(by_u.shape[0])
            for j in range(by_u.shape[1])
            if by_u.sparsity().has_nz(k, j)
        )
        raise ModelError(
            f"{self.g.name}: the input '{inputs[j]}' sets {self.causality.dependent[k]} directly, so that its rate is needed; give "
            "input_rates, put a resistance between them, or let the source be a function of the time or of states."
        )

    @cached_property
    def xd_rate(self) -> Expression:
        """Rates of the energy variables in derivative causality."""
        if self.steady:
            return casadi.SX(len(self.causality.derivative), 1)
        return self.rate_along(self.xd, self.rates)

    def rate_along(self, y: Expression, rates: Expression) -> Expression:
        """The rate of what depends on states and the time."""
        if not y.numel():
            return y
        if self.loops.made:
            return casadi.mtimes(self.jacobian(y, self.x), rates) + self._by_time(y)
        return casadi.jtimes(casadi.densify(y), self.x, rates) + self._by_time(y)

    def combined(self, rows: Expression) -> Expression:
        """Rows of the junction structure times what fields and sources give."""
        filled, total = self.filled(rows), casadi.SX(rows.shape[0], 1)
        for group, place in self.structure.columns.items():
            block = filled[:, place]
            if block.nnz():
                if group == "xd_rate" and not self.steady:
                    self._refuse_input_rates(block)
                total = total + self._times(block, group)
        if self.sinks and casadi.depends_on(total, self.multiplier_symbols):
            total = casadi.substitute(total, self.multiplier_symbols, self.multipliers)
        return casadi.densify(total)


def stacked(numbers: list[Expression]) -> Expression:
    return casadi.vertcat(casadi.SX(0, 1), *numbers)
