"""Causality: which end of each bond sets the effort, and which the flow.

The sequential assignment (Karnopp; Morales, 2.3): sources first, then storages with the preferred
causality, then resistors, each with all it implies. Where a choice leads into a conflict later, it
is taken back, so that an assignment is found whenever there is one. A stroke stands at the end that
the effort goes to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from eslabon.arguments import choice
from eslabon.bond_graph.elements import (
    RATE_AND_CO_ENERGY,
    Bond,
    Clash,
    Element,
    Port,
    Stroke,
)
from eslabon.bond_graph.graph import Graph
from eslabon.displays import displayed
from eslabon.errors import ModelError
from eslabon.model.memory import per_model

PREFERENCES = ("integral", "derivative")
ORDER = "fpq"  # of states by their letters
PATIENCE = 20_000  # choices, after which the search for an assignment is given up

Strokes = Mapping[str, bool]  # for each bond: whether the stroke is at the head


@displayed
class Storage(NamedTuple):
    """A storage at a bond: its energy variable, p or q, or the flow that is a state itself."""

    element: Element
    port: Port
    name: str
    letter: str

    @property
    def letters(self) -> tuple[str, str]:
        """Of the power variable that changes the energy variable, and of the co-energy variable: e
        and f of an inertia. A sink whose flow is a state is given an effort too, which must
        vanish."""
        return RATE_AND_CO_ENERGY[self.letter]

    def given(self, integral: bool) -> str:
        """The letter of what its law is given: the energy variable, or in derivative causality the
        co-energy variable."""
        return self.letter if integral else self.letters[1]

    @property
    def is_flow(self) -> bool:
        """Whether the state is the flow of a sink, which stores nothing."""
        return not self.element.stores


@displayed(only=("preference", "order", "states", "dependent", "strokes"))
@dataclass(frozen=True, repr=False)
class Causality:
    """An assignment of causality.

    Attributes
    ----------
    strokes : for each bond the name of the element at whose end the stroke stands: the effort goes
        there.
    integral, derivative : the storages' energy variables by causality, momenta first, in the order
        of the elements.
    """

    owner: str
    preference: str
    strokes: Mapping[str, str]
    integral: tuple[Storage, ...]
    derivative: tuple[Storage, ...]

    def effort_in(self, port: Port) -> bool:
        """Whether the element at this end of a bond is given the effort, and answers with the
        flow."""
        return self.strokes[port.bond.name] == (port.bond.head if port.into else port.bond.tail)

    def given(self, port: Port) -> str:
        """The letter of what the element at this end of a bond is given."""
        return "e" if self.effort_in(port) else "f"

    def storages(self, x: Element, ports: tuple[Port, ...]) -> tuple[list[Storage], list[bool]]:
        """A storage at its ports, in their order, and which of them have integral causality."""
        found = {s.port.bond.name: (s, True) for s in self.integral if s.element.name == x.name}
        found |= {s.port.bond.name: (s, False) for s in self.derivative if s.element.name == x.name}
        own = [found[port.bond.name] for port in ports]
        return [s for s, _ in own], [integral for _, integral in own]

    @property
    def order(self) -> int:
        """The number of independent state equations."""
        return len(self.integral)

    @property
    def states(self) -> tuple[str, ...]:
        return tuple(s.name for s in self.integral)

    @property
    def dependent(self) -> tuple[str, ...]:
        return tuple(s.name for s in self.derivative)

    def __repr__(self) -> str:
        parts = [f"order {self.order} ({', '.join(self.states) or 'no states'})"]
        if self.derivative:
            parts.append(f"{', '.join(self.dependent)} in derivative causality")
        return f"<Causality of {self.owner}, {self.preference} preferred: {'; '.join(parts)}>"


def causality(
    g: Graph, preference: str = "integral", dual: tuple[str, ...] = (), slopes: bool = False
) -> Causality:
    """Assign causality, with integral (BGI) or derivative (BGD) causality preferred for storages.

    Sources and detectors among `dual` may be dualised for it: an effort source then takes the
    effort and gives the flow, and a detector of flow imposes one. With `slopes` it is that of the
    linear graph at almost any state, in which the slope of a law has an inverse even if the law has
    none.
    """
    return _assigned(g, choice(preference, "the preferred causality", PREFERENCES), dual, slopes)


@per_model
def _assigned(g: Graph, preference: str, dual: tuple[str, ...], slopes: bool) -> Causality:
    if open_ports := g.open_ports():
        raise ModelError(
            f"{g.name} has open ports ({', '.join(open_ports)}); use it as a submodel, or bond elements in their place."
        )
    strokes = _Search(g, preference, dual, slopes).strokes()
    storages = [
        Storage(x, port, g.state_name(port), x.letter_at(place))
        for x in g.elements.values()
        if x.has_state
        for place, port in enumerate(g.ports[x.name])
    ]
    storages.sort(key=lambda s: ORDER.index(s.letter))
    integral = [strokes[s.port.bond.name] == (s.letters[0] == "e") for s in storages]
    return Causality(
        g.name,
        preference,
        {b: bond.head if strokes[b] else bond.tail for b, bond in g.bonds.items()},
        tuple(s for s, own in zip(storages, integral, strict=True) if own),
        tuple(s for s, own in zip(storages, integral, strict=True) if not own),
    )


def natural_effort_in(x: Element) -> bool:
    """Whether a source or a detector that is not dualised is given the effort at its bond."""
    return (x.imposes == "flow") == x.is_source


class _Conflict(Exception):
    """Strokes that an element cannot have: the bonds that meet there, and the element that asked
    for each stroke so far."""

    def __init__(
        self, element: Element, bonds: list[Bond], cause: Mapping[str, str], other: str = ""
    ) -> None:
        self.element, self.bonds, self.cause, self.other = element, bonds, cause, other


class _Assignment:
    """Strokes as far as they are known, and which element asked for each."""

    def __init__(self, g: Graph) -> None:
        self.g = g
        self.head: dict[str, bool] = {}
        self.cause: dict[str, str] = {}

    def copy(self) -> _Assignment:
        made = _Assignment(self.g)
        made.head, made.cause = dict(self.head), dict(self.cause)
        return made

    def effort_in(self, port: Port) -> bool | None:
        known = self.head.get(port.bond.name)
        return None if known is None else known == port.into

    def assign(self, port: Port, effort_in: bool, cause: str) -> None:
        """Give a stroke and all that follows from it; a `_Conflict` if that cannot be."""
        pending = [(port, effort_in, cause)]
        while pending:
            port, effort_in, cause = pending.pop()
            known = self.effort_in(port)
            if known is not None:
                if known != effort_in:
                    raise self._contradiction(port.bond, cause)
                continue
            self.head[port.bond.name], self.cause[port.bond.name] = effort_in == port.into, cause
            for name in (port.bond.tail, port.bond.head):
                pending += [(p, x, name) for p, x in self._implied(self.g.elements[name])]

    def _contradiction(self, bond: Bond, cause: str) -> _Conflict:
        """An element asks for a stroke that another one, or a junction for it, has decided
        otherwise."""
        before = self.g.elements[self.cause[bond.name]]
        place, other = (
            (before, cause) if before.is_junction else (self.g.elements[cause], before.name)
        )
        bringing = [
            p.bond for p in self.g.ports[place.name] if self.effort_in(p) is (place.common == "e")
        ]
        bonds = list(dict.fromkeys([*bringing, bond])) if place.is_junction else [bond]
        return _Conflict(place, bonds, self.cause, other)

    def _implied(self, x: Element) -> list[Stroke]:
        """What the strokes at an element leave for its other bonds."""
        ports = self.g.ports[x.name]
        try:
            return [*x.rules.implied(ports, [self.effort_in(p) for p in ports])]
        except Clash as clash:
            raise _Conflict(x, [p.bond for p in clash.ports], self.cause) from None


class _Search:
    """The sequence of assignments, with a way back from conflicts."""

    def __init__(self, g: Graph, preference: str, dual: tuple[str, ...], slopes: bool) -> None:
        self.g, self.preference, self.dual, self.slopes = g, preference, dual, slopes
        self.left = PATIENCE

    def strokes(self) -> Strokes:
        start = _Assignment(self.g)
        try:
            for port, effort_in in self._fixed():
                start.assign(port, effort_in, port.bond.head if port.into else port.bond.tail)
            found = self._completed(start, list(self._choices()))
        except _Conflict as conflict:
            raise ModelError(self._explained(conflict)) from None
        if isinstance(found, _Conflict):
            raise ModelError(self._explained(found))
        return found.head

    def _completed(self, start: _Assignment, choices: list[Stroke]) -> _Assignment | _Conflict:
        """The first assignment in the order of preferences; if there is none, the first conflict
        that was met."""
        first: _Conflict | None = None
        trail: list[
            tuple[int, _Assignment, bool]
        ] = []  # where the less preferred stroke is still untried
        place, current = 0, start
        while True:
            while place < len(choices) and choices[place][0].bond.name in current.head:
                place += 1
            if place == len(choices):
                return current
            preferred = True
            trail.append((place, current, True))
            while trail:
                place, before, preferred = trail.pop()
                if preferred:
                    trail.append((place, before, False))
                port, effort_in = choices[place]
                self.left -= 1
                current = before.copy()
                try:
                    current.assign(
                        port,
                        effort_in == preferred,
                        port.bond.head if port.into else port.bond.tail,
                    )
                    break
                except _Conflict as conflict:
                    first = first or conflict
            else:
                assert first is not None
                return first
            if self.left < 0:
                raise ModelError(
                    f"{self.g.name}: no causality was found in {PATIENCE} attempts; take the graph apart."
                )

    # -- who wants what -----------------------------------------------------------------------------------------

    def _fixed(self) -> Iterator[Stroke]:
        """Strokes that nobody chooses: of sources, of active bonds, and of laws that cannot be
        inverted."""
        for bond in self.g.flat.bonds:
            if bond.signal and bond.head not in self.dual:
                yield Port(bond, False), bond.signal == "flow"
        for x in self.g.elements.values():
            ports = self.g.ports[x.name]
            if x.name not in self.dual and not (self.slopes and self._has_slope(x)):
                yield from x.rules.fixed(x, ports, self.g.definitions)

    def _has_slope(self, x: Element) -> bool:
        """Whether a law or an energy function varies with its own variables."""
        given = self.g.definitions
        if x.law is None:
            return x.energy is not None
        return x.field.argument(x, given) in given.names_in(x.law)

    def _choices(self) -> Iterator[Stroke]:
        """Strokes in the order in which they are chosen, as they are preferred."""
        integral = self.preference == "integral"
        for x in self.g.elements.values():
            if integral and x.stores and x.law is not None and x.inverse is None:
                yield from self._preferred(
                    x, integral
                )  # an inverse that was not written comes last
        for x in self.g.elements.values():
            if x.stores:
                yield from self._preferred(x, integral)
        for name in self.dual:
            yield self.g.ports[name][0], natural_effort_in(self.g.elements[name])
        for x in self.g.elements.values():
            if x.dissipates:
                yield from self._preferred(x, integral)
        for bond in self.g.flat.bonds:
            yield Port(bond, True), True

    def _preferred(self, x: Element, integral: bool) -> Iterator[Stroke]:
        return x.rules.preferred(x, self.g.ports[x.name], self.g.definitions, integral)

    # -- what is wrong ------------------------------------------------------------------------------------------

    def _explained(self, conflict: _Conflict) -> str:
        """Who meets where: the elements whose causality nobody chooses, and the place they fight
        over."""
        x, bonds = conflict.element, " and ".join(b.name for b in conflict.bonds)
        what = "effort" if x.common == "e" else "flow"
        if not x.is_junction:
            trouble = f"'{x.name}' ({x.kind}) cannot have the strokes that bond {bonds} would need"
        elif len(conflict.bonds) == 2:
            trouble = f"bonds {bonds} both impose the {what} of the {x.kind}-junction '{x.name}'"
        else:
            trouble = (
                f"no bond can impose the {what} of the {x.kind}-junction '{x.name}' (bonds {bonds})"
            )
        named = ", ".join(f"'{y.name}' ({y.kind})" for y in self._roots(conflict))
        return (
            f"{self.g.name} has no causality: {trouble}; it is asked for by {named}. Take one of them away, or put an R, "
            "I or C between them."
        )

    def _roots(self, conflict: _Conflict) -> list[Element]:
        """The elements that the strokes at a conflict follow from."""
        asked = [conflict.cause[b.name] for b in conflict.bonds if b.name in conflict.cause]
        decided = (
            {conflict.element.name} if conflict.other else set()
        )  # what the junction itself asked for, another began
        reach, pending = (
            set(),
            [name for name in (*asked, conflict.other) if name and name not in decided],
        )
        while pending:
            name = pending.pop()
            reach.add(name)
            if self.g.elements[name].conducts:
                causes = {
                    conflict.cause[p.bond.name]
                    for p in self.g.ports[name]
                    if p.bond.name in conflict.cause
                }
                pending += [other for other in causes if other not in reach]
        found = [self.g.elements[name] for name in self.g.elements if name in reach]
        ends = [x for x in found if not x.conducts]
        given = self.g.definitions
        unasked = [
            x
            for x in ends
            if x.is_source or (x.law is not None and x.field.inverse(x, given) is None)
        ]
        return unasked or ends or found or [conflict.element]
