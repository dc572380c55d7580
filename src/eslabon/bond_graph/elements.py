"""What a bond graph is made of: elements and bonds, the description that holds them, and the kinds
of elements.

A kind is one class: its ports, the strokes it accepts, its relations between efforts and flows, its
energy, its linearization. No other file asks what kind an element is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eslabon.bond_graph.elimination import SingularError, solve
from eslabon.displays import displayed
from eslabon.errors import ModelError
from eslabon.model.parameter_expressions import (
    Number,
    ParameterExpression,
    inverse,
    number,
    parameter,
)
from eslabon.numerics.scalars import Expression, casadi

if TYPE_CHECKING:
    from eslabon.bond_graph.causality import Causality
    from eslabon.bond_graph.definitions import Chain, Reader

TIME = "t"
RESERVED = ("e", "f", "p", "q", TIME)
OTHER = {"e": "f", "f": "e"}
JUNCTION_WITH = {"e": "0", "f": "1"}  # the junction at which all bonds have one effort, or one flow
# Of the variable of a state: what changes it, and its co-energy variable. The flow of a sink is a
# state itself.
RATE_AND_CO_ENERGY = {"p": ("e", "f"), "q": ("f", "e"), "f": ("e", "f")}
# Whether an element that is given a variable at a bond is given the effort there: momenta are
# integrals of efforts.
EFFORT_IN = {"e": True, "f": False, "p": True, "q": False}
PSD = 1e-12  # of the largest: how negative a moment of a positive matrix may be, by round-off

Matrix = tuple[tuple[Number, ...], ...]
Law = Number
Value = Number | Matrix
Variable = tuple[str, str]  # a bond, and "e" or "f", or the letter of an energy variable


class Domain(NamedTuple):
    """Units of effort, flow, momentum and displacement, and whether effort times flow is a
    power."""

    effort: str
    flow: str
    momentum: str
    displacement: str
    true: bool = True


# Morales, table 2.1. The thermal bond of temperature and heat flow is a pseudo bond: the heat flow
# is a power itself.
DOMAINS: Mapping[str, Domain] = {
    "translation": Domain("N", "m/s", "N s", "m"),
    "rotation": Domain("N m", "rad/s", "N m s", "rad"),
    "electrical": Domain("V", "A", "V s", "A s"),
    "hydraulic": Domain("Pa", "m³/s", "Pa s", "m³"),
    "thermal": Domain("K", "W", "K s", "J", true=False),
    "entropy": Domain("K", "W/K", "K s", "J/K"),
}


@displayed
@dataclass(frozen=True)
class Element:
    """One element.

    Attributes
    ----------
    value : of I, C and R the inertia, compliance or resistance, a number or for a multiport field a
        matrix; of transformers and gyrators the modulus, of which a multiport one has a matrix too;
        of sources what they impose, None for an input.
    law : of I, C and R in place of a value: f of p, e of q, e of f, or f of e.
    inverse : the inverse of the law, without which the element takes one causality only; found
        where the letter stands in the law once and every operation on it has one inverse.
    energy : of a storage in place of a value, its energy as a function of its energy variables by
        their names in `state`; efforts and flows are its derivatives, so that ports act on one
        another by equal amounts.
    momenta : of IC how many of its ports, the first ones, are those of an inertia.
    state : what the energy variables of a storage are called, one name a port; () is p or q with
        the bond's name.
    domain : one of `DOMAINS`, or ""; of RS that of its heat.
    width : how many elements, each with a bond of a vector bond, it stands for.
    model, parameters : of a submodel its description, and its parameters' values in those of the
        graph.
    """

    name: str
    kind: str
    value: Value | None = None
    law: Law | None = None
    inverse: Law | None = None
    state: tuple[str, ...] = ()
    domain: str = ""
    model: Description | None = None
    parameters: tuple[tuple[str, Number], ...] = ()
    energy: Law | None = None
    momenta: int = 0
    width: int = 1

    @property
    def rules(self) -> Kind:
        """What holds for all elements of its kind."""
        return KINDS[self.kind]

    @property
    def field(self) -> Field:
        """The same of what has a law: I, C and R."""
        assert isinstance(self.rules, Field)
        return self.rules

    @property
    def is_source(self) -> bool:
        return self.rules.is_source

    @property
    def imposes(self) -> str:
        """What a source or the bond of a detector fixes: "effort" or "flow"."""
        return self.rules.imposes

    @property
    def is_input(self) -> bool:
        return self.rules.may_be_input and self.value is None

    @property
    def stores(self) -> bool:
        return self.rules.stores

    @property
    def dissipates(self) -> bool:
        return self.rules.dissipates

    @property
    def heats(self) -> bool:
        """Whether its last port gives the heat of what it dissipates."""
        return self.rules.heats

    @property
    def measures(self) -> bool:
        return self.rules.measures

    @property
    def is_sink(self) -> bool:
        """Whether it is a residual sink, which imposes what makes the variable vanish that it is
        given."""
        return self.rules.holds or (self.rules.has_state and not self.rules.stores)

    @property
    def holds(self) -> bool:
        """Whether its effort is a multiplier, which holds a flow at zero."""
        return self.rules.holds

    @property
    def has_state(self) -> bool:
        """Whether its bonds may have states: a storage, or a sink whose flow is one."""
        return self.rules.has_state

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of its value."""
        if self.energy is not None:
            return (len(self.state),) * 2
        return (len(self.value), len(self.value[0])) if isinstance(self.value, tuple) else (1, 1)

    @property
    def is_junction(self) -> bool:
        return bool(self.common)

    @property
    def common(self) -> str:
        """Of a junction: "e" or "f", whichever its bonds share."""
        return self.rules.common

    @property
    def conducts(self) -> bool:
        """Whether it hands on the power it is given: a junction, a transformer or a gyrator."""
        return self.rules.conducts

    @property
    def turns(self) -> bool:
        """Whether it makes flows of efforts, as gyrators do."""
        return self.rules.turns

    @property
    def is_port(self) -> bool:
        """Whether it stands for what a submodel is bonded to from outside."""
        return self.rules.is_port

    @property
    def is_submodel(self) -> bool:
        return self.rules.is_submodel

    @property
    def letter(self) -> str:
        """Of a state: p for momenta, q for displacements, f for flows of sinks."""
        return self.rules.letter

    def letter_at(self, place: int) -> str:
        """The same at one of several ports."""
        return self.rules.letter_at(self, place)

    @property
    def is_linear(self) -> bool:
        """Whether its efforts and flows are numbers times one another."""
        return self.law is None and self.energy is None


@displayed
@dataclass(frozen=True)
class Bond:
    """A bond with its half arrow from tail to head. An active bond carries one signal only,
    "effort" or "flow"."""

    name: str
    tail: str
    head: str
    signal: str = ""

    def signal_name(self, letter: str) -> str:
        """What one of its variables is called in expressions: f3, or f_shaft of a bond with a name
        in letters."""
        return f"{letter}{self.name}" if self.name[0].isdigit() else f"{letter}_{self.name}"


@displayed
class Port(NamedTuple):
    """An element's end of a bond: the bond, and whether its half arrow points to the element."""

    bond: Bond
    into: bool

    @property
    def sign(self) -> int:
        return 1 if self.into else -1


@dataclass(frozen=True)
class Description:
    """A bond graph as it was written, with submodels in it."""

    name: str
    elements: tuple[Element, ...] = ()
    bonds: tuple[Bond, ...] = ()
    parameters: tuple[tuple[str, Number], ...] = ()
    note: str = ""
    definitions: tuple[tuple[str, Number], ...] = ()  # expressions by name, which others use


class Relation(NamedTuple):
    """What an element makes of what it is given: effect = sum of factor * cause, times s^power."""

    effect: Variable
    causes: Sequence[tuple[Expression, Variable]]
    power: int = 0


Ports = tuple[Port, ...]
Stroke = tuple[Port, bool]  # an end of a bond, and whether the element there is given the effort


class Clash(Exception):
    """Strokes that an element cannot have, at these of its ports."""

    def __init__(self, ports: Sequence[Port]) -> None:
        self.ports = ports


# Kinds
# ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """What holds for all elements of a kind, and for a kind that has none of it.

    Attributes
    ----------
    word : what it is called.
    role : of its energy in a balance: "stored", "dissipated", "supplied" or "".
    imposes, letter, common : see `Element`.
    timed, modulated : whether its value may depend on the time, and on variables of the graph.
    """

    word: str
    role = imposes = letter = common = ""
    is_source = may_be_input = stores = dissipates = measures = holds = has_state = False
    conducts = turns = is_port = is_submodel = False
    takes_value = timed = True
    modulated = takes_law = takes_matrix = counts_into = heats = False
    momenta = 0

    def letter_at(self, x: Element, place: int) -> str:
        """The letter of a state at one of the ports."""
        return self.letter

    def comes_last(self, port: Port) -> bool:
        """Whether a port stands behind the others, which stand in the order of the bonds."""
        return False

    def bonds_in_domain(self, x: Element, bonds: Sequence[Bond]) -> Sequence[Bond]:
        """The bonds that are in the element's domain."""
        return bonds

    def conserves(self, x: Element) -> bool:
        """Whether effort times flow is a power at its last port: not where a flow of heat is one
        itself."""
        return not x.domain or DOMAINS[x.domain].true

    @property
    def constant_kind(self) -> str:
        """The kind of the same without modulation."""
        return self.word.removeprefix("M")

    # -- how it is written --------------------------------------------------------------------------------------

    def check_ports(self, x: Element, bonds: Sequence[Bond]) -> None:
        """Refuse a number of bonds, half arrows or a value that the kind does not have."""
        count, width = x.shape
        if x.energy is not None and not self.stores:
            raise ModelError(f"'{x.name}' is a {x.kind} and stores no energy.")
        if isinstance(x.value, tuple) and not self.takes_matrix:
            raise ModelError(f"'{x.name}' is a {x.kind} and takes one number, not a matrix.")
        if width != count:
            raise ModelError(
                f"the matrix of the field '{x.name}' is {count}x{width}; it must be square."
            )
        if len(bonds) != count:
            raise ModelError(
                f"'{x.name}' ({x.kind}) has {len(bonds)} bonds ({listed(bonds)}); it has {count} port{'s' * (count > 1)}."
            )
        self.check_value(x)
        if self.counts_into:
            for b in bonds:
                if b.head != x.name:
                    raise ModelError(
                        f"bond {b.name} points away from '{x.name}'; power is counted into I, C and R: write "
                        f"'{b.head} -> {b.tail}'."
                    )
        if x.inverse is not None and x.law is None:
            raise ModelError(f"'{x.name}' has the inverse of a law and no law.")
        if x.state and (not x.has_state or len(x.state) != count):
            raise ModelError(
                f"'{x.name}' names {len(x.state)} states; it has {count if x.has_state else 0}."
            )

    def check_value(self, x: Element) -> None:
        if (
            x.law is not None
            or x.energy is not None
            or (x.value is not None and not self.takes_value)
        ):
            what = "value" if x.value is not None else "law"
            raise ModelError(f"'{x.name}' is a {x.kind} and takes no {what}.")

    def check_names(self, x: Element, definitions: Chain, known: Iterable[str]) -> None:
        """Refuse a value that depends on variables of the graph where only that of a modulated
        element does."""
        for name in definitions.names_in(x.value):
            if name in known and not self.modulated:
                other = (
                    f"; let it be M{x.kind}." if f"M{x.kind}" in KINDS else "; it must be constant."
                )
                raise ModelError(
                    f"the value of '{x.name}' depends on {name}, a variable of the graph{other}"
                )

    def own_letters(self) -> tuple[str, ...]:
        """What its laws call their own variables: the argument of the law and that of its
        inverse."""
        return ()

    def check_numbers(self, x: Element, read: Reader) -> None:
        """Refuse numbers that the value cannot have."""

    def check_domains(self, x: Element, domains: Iterable[str]) -> None:
        """Refuse bonds of domains that the element cannot have."""

    # -- causality ----------------------------------------------------------------------------------------------

    def fixed(self, x: Element, ports: Ports, definitions: Chain) -> Iterator[Stroke]:
        """Strokes that nobody chooses."""
        yield from ()

    def preferred(
        self, x: Element, ports: Ports, definitions: Chain, integral: bool
    ) -> Iterator[Stroke]:
        """Strokes as the element prefers them, with integral or derivative causality preferred."""
        yield from ()

    def implied(self, ports: Ports, known: Sequence[bool | None]) -> Iterator[Stroke]:
        """What the strokes at an element leave for its other bonds; a `Clash` if there are no such
        strokes."""
        yield from ()

    # -- relations ----------------------------------------------------------------------------------------------

    def relations(self, x: Element, ports: Ports, c: Causality, read: Reader) -> Iterator[Relation]:
        """What the element gives at its bonds by what it is given there; a law that is not linear
        by its slopes."""
        yield from ()


@dataclass(frozen=True)
class Source(Kind):
    """A source of effort or flow; one without a value is an input."""

    imposes: str
    modulated: bool = False

    role = "supplied"
    is_source = may_be_input = True

    def comes_last(self, port: Port) -> bool:
        return bool(port.bond.signal)

    def check_ports(self, x: Element, bonds: Sequence[Bond]) -> None:
        """One bond, and active ones that carry what its value uses."""
        heard = [b for b in bonds if b.signal and b.head == x.name]
        super().check_ports(x, [b for b in bonds if b not in heard])
        for b in heard:
            name = b.signal_name(b.signal[0])
            used = x.value.names() if isinstance(x.value, ParameterExpression) else ()
            if not self.modulated or name not in used:
                raise ModelError(
                    f"the active bond {b.name} leads to the source '{x.name}', whose value does not use {name}; let it be "
                    f"M{self.constant_kind}: {name}, or a multiple of it."
                )

    def fixed(self, x: Element, ports: Ports, definitions: Chain) -> Iterator[Stroke]:
        yield ports[0], self.imposes == "flow"

    def relations(self, x: Element, ports: Ports, c: Causality, read: Reader) -> Iterator[Relation]:
        if not isinstance(x.value, ParameterExpression) or not self.modulated:
            return
        made = casadi.SX(read(x.value))
        effect = ports[0].bond.name, self.imposes[0]
        for name in read.definitions.names_in(x.value):
            if (cause := read.variable(name)) is not None:
                slope = casadi.sparsify(casadi.jacobian(made, read.lookup(name)))
                yield Relation(effect, [(slope, cause)])


@dataclass(frozen=True)
class EffortSink(Kind):
    """A residual sink (Borutzky) whose effort is a multiplier: it holds the flow at zero."""

    imposes = "effort"
    is_source = holds = counts_into = True
    takes_value = False

    def fixed(self, x: Element, ports: Ports, definitions: Chain) -> Iterator[Stroke]:
        yield ports[0], False


@dataclass(frozen=True)
class FlowSink(Kind):
    """A residual sink whose flow is a state, that of storages in derivative causality which all
    depend on it; its effort must vanish."""

    imposes, letter = "flow", "f"
    has_state = counts_into = True
    takes_value = False

    def fixed(self, x: Element, ports: Ports, definitions: Chain) -> Iterator[Stroke]:
        yield ports[0], True


@dataclass(frozen=True)
class Detector(Kind):
    """A detector of the effort of a 0-junction or the flow of a 1-junction, on an active bond."""

    imposes: str
    measures = True
    takes_value = False


@dataclass(frozen=True)
class OpenPort(Kind):
    """Where a submodel is bonded from outside."""

    is_port = True
    takes_value = False


@dataclass(frozen=True)
class Submodel(Kind):
    """A graph in a graph."""

    is_submodel = True


@dataclass(frozen=True)
class Junction(Kind):
    """A junction: its bonds have one effort (0) or one flow (1) in common, and the others
    balance."""

    common: str
    conducts = True

    def check_ports(self, x: Element, bonds: Sequence[Bond]) -> None:
        if len(bonds) < 2:
            raise ModelError(
                f"the {x.kind}-junction '{x.name}' has {len(bonds)} bond{'s' * (len(bonds) != 1)} ({listed(bonds)}); it "
                "joins at least two."
            )
        if x.value is not None or x.law is not None:
            raise ModelError(f"the junction '{x.name}' has a value; a junction has none.")

    def implied(self, ports: Ports, known: Sequence[bool | None]) -> Iterator[Stroke]:
        """One bond brings the effort of a 0-junction, or the flow of a 1-junction; the others take
        it."""
        brings = self.common == "e"
        bringing = [p for p, own in zip(ports, known, strict=True) if own is brings]
        open_ones = [p for p, own in zip(ports, known, strict=True) if own is None]
        if len(bringing) > 1:
            raise Clash(bringing)
        if bringing:
            yield from ((p, not brings) for p in open_ones)
        elif not open_ones:
            raise Clash(ports)
        elif len(open_ones) == 1:
            yield open_ones[0], brings

    def relations(self, x: Element, ports: Ports, c: Causality, read: Reader) -> Iterator[Relation]:
        """The common variable from the bond that brings it; that bond's other variable by the sum
        of the others."""
        one, other = casadi.SX(1), OTHER[self.common]
        brings = next(p for p in ports if c.given(p) == self.common)
        rest = [p for p in ports if p is not brings]
        for p in rest:
            yield Relation((p.bond.name, self.common), [(one, (brings.bond.name, self.common))])
        terms = [(casadi.SX(-brings.sign * p.sign), (p.bond.name, other)) for p in rest]
        yield Relation((brings.bond.name, other), terms)


@dataclass(frozen=True)
class TwoPort(Kind):
    """A transformer, f_out = M f_in and e_in = M^T e_out, or a gyrator, e_out = M f_in and e_in =
    M^T f_out; M has a row for each bond out and a column for each bond in."""

    turns: bool
    modulated: bool = False

    conducts = True

    @property
    def noun(self) -> str:
        return "gyrator" if self.turns else "transformer"

    @property
    def timed(self) -> bool:  # type: ignore[override]
        return self.modulated

    def check_ports(self, x: Element, bonds: Sequence[Bond]) -> None:
        into, out = [b for b in bonds if b.head == x.name], [b for b in bonds if b.tail == x.name]
        if x.value is None or x.law is not None:
            where = f" (bonds {listed(bonds)})" if bonds else ""
            raise ModelError(
                f"the {self.noun} '{x.name}'{where} has no modulus; write one, as in '{x.kind}: 2'."
            )
        rows, columns = x.shape
        if (len(out), len(into)) != (rows, columns):
            raise ModelError(
                f"the {self.noun} '{x.name}' has {len(into)} bonds in and {len(out)} out ({listed(bonds)}); its modulus is "
                f"{rows}x{columns}, for {columns} in and {rows} out."
            )

    def check_domains(self, x: Element, domains: Iterable[str]) -> None:
        if len({DOMAINS[name].true for name in domains}) > 1:
            raise ModelError(
                f"'{x.name}' joins {' and '.join(sorted(domains))}; the product of effort and flow of a pseudo bond is no "
                "power, so that nothing is conserved across it: use a modulated source."
            )

    def implied(self, ports: Ports, known: Sequence[bool | None]) -> Iterator[Stroke]:
        """All strokes of a gyrator at it, or none; of a transformer those of its bonds in or of its
        bonds out."""
        sides = [self.turns or p.into for p in ports]
        found = {own == side for own, side in zip(known, sides, strict=True) if own is not None}
        if len(found) > 1:
            raise Clash(ports)
        if found:
            way = found.pop()
            for p, own, side in zip(ports, known, sides, strict=True):
                if own is None:
                    yield p, side == way

    def relations(self, x: Element, ports: Ports, c: Causality, read: Reader) -> Iterator[Relation]:
        M = read.matrix(x.value)
        into, out = [p for p in ports if p.into], [p for p in ports if not p.into]
        for same, other, matrix in ((into, out, M.T), (out, into, M)):
            gives = OTHER[c.given(same[0])]
            # e_in by the transpose of M, f_out of a transformer and e_out of a gyrator by M; else
            # by an inverse.
            direct = gives == "e" if self.turns or same is into else gives == "f"
            rows = matrix if direct else self._inverse(matrix.T, x)
            letter = OTHER[gives] if self.turns else gives
            for i, p in enumerate(same):
                causes = [
                    (rows[i, k], (q.bond.name, letter))
                    for k, q in enumerate(other)
                    if rows.sparsity().has_nz(i, k)
                ]
                yield Relation((p.bond.name, gives), causes)

    def _inverse(self, M: Expression, x: Element) -> Expression:
        if M.shape[0] != M.shape[1]:
            raise ModelError(
                f"causality asks for the inverse of the modulus of the {self.noun} '{x.name}', which is "
                f"{M.shape[0]}x{M.shape[1]}; let efforts come from its other side."
            )
        try:
            return solve(M, casadi.SX.eye(M.shape[0]))
        except SingularError:
            raise ModelError(
                f"causality asks for the inverse of the modulus of '{x.name}', which is singular."
            ) from None


# Fields
# --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field(Kind):
    """A law between two variables at one port, or a matrix between those of several ports: I, C and
    R.

    Attributes
    ----------
    noun : what the value is called.
    factor_of : what its value is a factor of: p = I f, q = C e, e = R f.
    """

    noun: str
    factor_of: str

    takes_law = takes_matrix = counts_into = True

    def check_value(self, x: Element) -> None:
        if (x.value is None) == (x.law is None):
            raise ModelError(
                f"'{x.name}' ({x.kind}) needs a value, as in '{x.kind}: 2', or a law, and not both."
            )

    def argument(self, x: Element, definitions: Chain) -> str:
        """The letter that the law is a function of."""
        raise NotImplementedError

    def answer_to(self, letter: str) -> str:
        """What a law of this letter gives."""
        raise NotImplementedError

    def inverse(self, x: Element, definitions: Chain) -> Law | None:
        """The inverse of the law: that which was written, or which follows from it."""
        if not isinstance(x.law, ParameterExpression) or x.inverse is not None:
            return x.inverse
        letter = self.argument(x, definitions)
        if any(letter in definitions.base(n) for n in x.law.names() if n in definitions):
            return None
        return inverse(x.law, letter, self.answer_to(letter))

    def fixed(self, x: Element, ports: Ports, definitions: Chain) -> Iterator[Stroke]:
        """A law without an inverse takes one causality."""
        if x.law is not None and self.inverse(x, definitions) is None:
            own = EFFORT_IN[self.argument(x, definitions)]
            yield from ((p, own) for p in ports)

    def answers(
        self, x: Element, given: Expression, letters: Sequence[str], read: Reader
    ) -> Expression:
        """What the element answers port by port to what it is given there, variables by their
        letters."""
        if x.law is not None:
            direct = letters[0] == self.argument(x, read.definitions)
            own = x.law if direct else self.inverse(x, read.definitions)
            assert own is not None  # causality has seen to it
            return casadi.SX(read(own, {letters[0]: given}))
        return self._linear(x, given, [letter == self.factor_of for letter in letters], read)

    def written(self, x: Element, own: Expression, read: Reader) -> Expression:
        """The law of an element as it is written, of its own variable."""
        assert x.law is not None
        return casadi.SX(read(x.law, {self.argument(x, read.definitions): own}))

    def _linear(
        self, x: Element, given: Expression, direct: list[bool], read: Reader
    ) -> Expression:
        """y = K g where the law is taken as it is written, e = R f, p = I f, q = C e, and its
        inverse at the other ports.

        With b for the latter, g_b = K_ba g_a + K_bb y_b and y_a = K_aa g_a + K_ab y_b.
        """
        if not isinstance(x.value, tuple):
            return read(x.value) * given if direct[0] else given / self._divisor(x, read)
        K = read.matrix(x.value)
        a = [k for k, own in enumerate(direct) if own]
        b = [k for k, own in enumerate(direct) if not own]
        made = casadi.SX(given.shape[0], 1)
        try:
            made[b, :] = solve(K[b, b], given[b, :] - casadi.mtimes(K[b, a], given[a, :]))
        except SingularError:
            raise ModelError(
                f"the matrix of the field '{x.name}' is singular, and its causality needs the inverse."
            ) from None
        made[a, :] = casadi.mtimes(K[a, a], given[a, :]) + casadi.mtimes(K[a, b], made[b, :])
        return made

    def _divisor(self, x: Element, read: Reader) -> Expression:
        divisor = read(x.value)
        if isinstance(divisor, float) and divisor == 0:
            raise ModelError(
                f"'{x.name}' has the {self.noun} zero, and its causality divides by it; take it away or give it a value."
            )
        return divisor

    def linear_law(self, x: Element, slope: float, definitions: Chain) -> Element:
        """The element with a law of this slope in the place of its own."""
        letter = self.argument(x, definitions)
        answer = self.answer_to(letter)
        back = None if x.inverse is None or slope == 0 else parameter(answer) / slope
        return replace(x, law=number(parameter(letter) * slope), inverse=back)


@dataclass(frozen=True)
class Storage(Field):
    """An inertia or a compliance: the integral of effort or flow, and an energy of it."""

    letter: str

    role = "stored"
    stores = has_state = True
    timed = False

    def check_ports(self, x: Element, bonds: Sequence[Bond]) -> None:
        if x.energy is not None and not x.state:
            raise ModelError(
                f"'{x.name}' has an energy function and needs names for its energy variables, one a bond, as in "
                "state = ['charge', 'gap']."
            )
        super().check_ports(x, bonds)

    def check_value(self, x: Element) -> None:
        if x.energy is None:
            super().check_value(x)
        elif x.value is not None or x.law is not None:
            raise ModelError(f"'{x.name}' has an energy function, and so no value and no law.")
        if x.momenta:
            raise ModelError(f"'{x.name}' is a {x.kind}; momenta is said of an IC.")

    def fixed(self, x: Element, ports: Ports, definitions: Chain) -> Iterator[Stroke]:
        """By its energy function it gives what is a derivative of it."""
        if x.energy is None:
            yield from super().fixed(x, ports, definitions)
        else:
            yield from ((p, EFFORT_IN[x.letter_at(k)]) for k, p in enumerate(ports))

    def answers(
        self, x: Element, given: Expression, letters: Sequence[str], read: Reader
    ) -> Expression:
        if x.energy is None:
            return super().answers(x, given, letters, read)
        own = casadi.SX.sym("energy_variables", len(x.state))
        held = casadi.SX(read(x.energy, {name: own[k] for k, name in enumerate(x.state)}))
        return casadi.substitute(casadi.densify(casadi.gradient(held, own)), own, given)

    def own_letters(self) -> tuple[str, ...]:
        return self.letter, self.factor_of

    def argument(self, x: Element, definitions: Chain) -> str:
        return self.letter

    def answer_to(self, letter: str) -> str:
        return self.factor_of

    def preferred(
        self, x: Element, ports: Ports, definitions: Chain, integral: bool
    ) -> Iterator[Stroke]:
        yield from ((p, EFFORT_IN[x.letter_at(k)] == integral) for k, p in enumerate(ports))

    def relations(self, x: Element, ports: Ports, c: Causality, read: Reader) -> Iterator[Relation]:
        """From what changes an energy variable to it, or the other way round, and by the law
        between the variables."""
        own, integral = c.storages(x, ports)
        letters = [s.given(known) for s, known in zip(own, integral, strict=True)]
        given = casadi.vertcat(
            *(
                read.lookup(s.name if known else s.port.bond.signal_name(letter))
                for s, known, letter in zip(own, integral, letters, strict=True)
            )
        )
        slopes = casadi.jacobian(self.answers(x, given, letters, read), given)
        causes = [(s.port.bond.name, letter) for s, letter in zip(own, letters, strict=True)]
        for j, s in enumerate(own):
            bond = s.port.bond.name
            # The energy variable is a variable of its own, as others may be modulated by it.
            rate, co_energy, energy = ((bond, letter) for letter in (*s.letters, s.letter))
            if integral[j]:
                yield Relation(energy, [(casadi.SX(1), rate)], power=-1)
            else:
                yield Relation(rate, [(casadi.SX(1), energy)], power=1)
            terms = [(casadi.sparsify(slopes[j, k]), cause) for k, cause in enumerate(causes)]
            yield Relation(co_energy if integral[j] else energy, terms)

    def check_numbers(self, x: Element, read: Reader) -> None:
        """An energy depends on the state alone, so that matrices are symmetric."""
        if x.value is None:
            return
        found = numbers_of(x, read)
        if not isinstance(x.value, tuple):
            self.check_one(x, found)
            return
        if not np.allclose(found, np.swapaxes(found, -1, -2), rtol=1e-12, atol=0):
            raise ModelError(
                f"the matrix of the field '{x.name}' is not symmetric; its energy would depend on the way."
            )
        self.check_matrix(x, found)

    def check_one(self, x: Element, value: np.ndarray) -> None:
        """Refuse a value that a storage with one port cannot have."""

    def check_matrix(self, x: Element, value: np.ndarray) -> None:
        """Refuse a symmetric matrix that a field cannot have."""


@dataclass(frozen=True)
class Inertia(Storage):
    """p = I f."""

    def check_one(self, x: Element, value: np.ndarray) -> None:
        if not (value > 0).all():
            raise ModelError(
                f"the inertia '{x.name}' is {value.min():g}; it must be greater than zero."
            )

    def check_matrix(self, x: Element, value: np.ndarray) -> None:
        sizes = np.linalg.eigvalsh(value)
        if (sizes.min(axis=-1) < -PSD * sizes.max(axis=-1)).any():
            raise ModelError(
                f"the matrix of the inertia '{x.name}' is not positive: its energy could be negative."
            )

    def check_domains(self, x: Element, domains: Iterable[str]) -> None:
        if "thermal" in domains:
            raise ModelError(f"'{x.name}' is an inertia with a thermal bond; heat has none.")


@dataclass(frozen=True)
class Compliance(Storage):
    """q = C e."""

    def check_one(self, x: Element, value: np.ndarray) -> None:
        if not (value != 0).all():
            raise ModelError(
                f"the compliance '{x.name}' is zero; a rigid connection is a bond without it."
            )


@dataclass(frozen=True)
class MixedStorage(Storage):
    """A storage with ports of both kinds, such as a solenoid: flux and gap. It has an energy
    function."""

    takes_value = takes_law = False
    momenta = 1

    def letter_at(self, x: Element, place: int) -> str:
        return "p" if place < x.momenta else "q"

    def check_ports(self, x: Element, bonds: Sequence[Bond]) -> None:
        self.check_value(x)
        super().check_ports(x, bonds)

    def check_value(self, x: Element) -> None:
        if x.energy is None or x.value is not None or x.law is not None:
            raise ModelError(
                f"'{x.name}' is an IC and needs an energy function, as in energy = 'flux**2*gap/2', and nothing besides."
            )
        if not 0 < x.momenta < len(x.state):
            raise ModelError(
                f"'{x.name}' has {x.momenta} momenta among its {len(x.state)} states; an IC has both momenta and displacements."
            )


@dataclass(frozen=True)
class Resistor(Field):
    """e = R f, or a law of either."""

    role = "dissipated"
    dissipates = modulated = True

    def own_letters(self) -> tuple[str, ...]:
        return "f", "e"

    def argument(self, x: Element, definitions: Chain) -> str:
        """ "f" of a law that gives the effort, "e" of one that gives the flow."""
        used = {name for name in definitions.names_in(x.law) if name in ("e", "f")}
        if len(used) == 2:
            raise ModelError(
                f"the law of '{x.name}' is a function of its flow f or of its effort e, not of both."
            )
        return used.pop() if used else "f"

    def answer_to(self, letter: str) -> str:
        return OTHER[letter]

    def preferred(
        self, x: Element, ports: Ports, definitions: Chain, integral: bool
    ) -> Iterator[Stroke]:
        natural = x.law is not None and EFFORT_IN[self.argument(x, definitions)]
        yield from ((p, natural) for p in ports)

    def relations(self, x: Element, ports: Ports, c: Causality, read: Reader) -> Iterator[Relation]:
        letters = [c.given(p) for p in ports]
        given = casadi.vertcat(
            *(
                read.lookup(p.bond.signal_name(letter))
                for p, letter in zip(ports, letters, strict=True)
            )
        )
        slopes = casadi.jacobian(self.answers(x, given, letters, read), given)
        causes = [(p.bond.name, letter) for p, letter in zip(ports, letters, strict=True)]
        for j, port in enumerate(ports):
            terms = [(casadi.sparsify(slopes[j, k]), cause) for k, cause in enumerate(causes)]
            yield Relation((port.bond.name, OTHER[letters[j]]), terms)

    @property
    def constant_kind(self) -> str:
        return "R"

    def linear_law(self, x: Element, slope: float, definitions: Chain) -> Element:
        if slope:
            return super().linear_law(x, slope, definitions)
        kind = "Sf" if self.argument(x, definitions) == "e" else "Se"
        return Element(x.name, kind, 0.0, domain=x.domain)


@dataclass(frozen=True)
class HeatingResistor(Resistor):
    """A resistor with a port for its heat, which leaves it: the flow there is the power it takes,
    in a domain of heat flows, or that power over the temperature, the flow of entropy, with which
    power is conserved."""

    heats = True

    def comes_last(self, port: Port) -> bool:
        return not port.into

    def bonds_in_domain(self, x: Element, bonds: Sequence[Bond]) -> Sequence[Bond]:
        return [b for b in bonds if b.tail == x.name]

    def check_ports(self, x: Element, bonds: Sequence[Bond]) -> None:
        heat = self.bonds_in_domain(x, bonds)
        if len(heat) != 1:
            raise ModelError(
                f"'{x.name}' (RS) has {len(heat)} bonds that leave it ({listed(heat)}); it has one, for its heat, as in "
                f"'{x.name} -> body'."
            )
        super().check_ports(x, [b for b in bonds if b not in heat])

    def fixed(self, x: Element, ports: Ports, definitions: Chain) -> Iterator[Stroke]:
        yield from super().fixed(x, ports[:-1], definitions)
        yield ports[-1], True

    def preferred(
        self, x: Element, ports: Ports, definitions: Chain, integral: bool
    ) -> Iterator[Stroke]:
        yield from super().preferred(x, ports[:-1], definitions, integral)

    def answers(
        self, x: Element, given: Expression, letters: Sequence[str], read: Reader
    ) -> Expression:
        resisted, temperature = given[:-1], given[-1]
        made = super().answers(x, resisted, letters[:-1], read)
        power = casadi.dot(casadi.densify(made), casadi.densify(resisted))
        return casadi.vertcat(made, power / temperature if self.conserves(x) else power)


KINDS: Mapping[str, Kind] = {
    kind.word: kind
    for kind in (
        Source("Se", "effort"),
        Source("Sf", "flow"),
        Source("MSe", "effort", modulated=True),
        Source("MSf", "flow", modulated=True),
        Inertia("I", "inertia", "f", "p"),
        Compliance("C", "compliance", "e", "q"),
        MixedStorage("IC", "storage", "", "p"),
        Resistor("R", "resistance", "f"),
        HeatingResistor("RS", "resistance", "f"),
        TwoPort("TF", turns=False),
        TwoPort("MTF", turns=False, modulated=True),
        TwoPort("GY", turns=True),
        TwoPort("MGY", turns=True, modulated=True),
        Junction("0", "e"),
        Junction("1", "f"),
        Detector("De", "effort"),
        Detector("Df", "flow"),
        FlowSink("rSf"),
        EffortSink("rSe"),
        OpenPort("port"),
        Submodel("submodel"),
    )
}


def listed(bonds: Sequence[Bond]) -> str:
    return ", ".join(b.name for b in bonds) or "none"


def numbers_of(x: Element, read: Reader) -> np.ndarray:
    """The value of an element, (...) or for a matrix (..., n, n)."""
    if not isinstance(x.value, tuple):
        return np.array(read(x.value), dtype=float)
    entries = np.broadcast_arrays(
        *(np.asarray(read(entry), dtype=float) for row in x.value for entry in row)
    )
    return np.stack(entries, axis=-1).reshape(*entries[0].shape, *x.shape)
