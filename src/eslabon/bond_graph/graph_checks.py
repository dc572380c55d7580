"""What a bond graph must be before anyone assigns causality; each mistake is a sentence that names
the bond."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from eslabon.arguments import known_words
from eslabon.bond_graph.definitions import Chain, Reader
from eslabon.bond_graph.elements import (
    JUNCTION_WITH,
    RESERVED,
    TIME,
    Bond,
    Description,
    Element,
)
from eslabon.errors import ModelError, suggest
from eslabon.model.parameter_expressions import ParameterExpression, leaves, parameter

WORDS = {"e": "effort", "f": "flow"}


def checked(d: Description) -> Description:
    """A description without submodels, looked at; what the active bonds carry is filled in."""
    _refuse_twins([x.name for x in d.elements], "elements")
    _refuse_twins([b.name for b in d.bonds], "bonds")
    _refuse_twins([n for n, _ in (*d.parameters, *d.definitions)], "parameters")
    elements = {x.name: x for x in d.elements}
    for bond in d.bonds:
        for end in (bond.tail, bond.head):
            if end not in elements:
                raise ModelError(
                    f"bond {bond.name} leads to '{end}', which is no element{suggest(end, elements)}"
                )
        if bond.tail == bond.head:
            raise ModelError(f"bond {bond.name} leads from '{bond.tail}' to itself.")
    d = replace(d, bonds=tuple(_with_signal(b, elements) for b in d.bonds))
    d = replace(d, elements=tuple(_with_heard(x, d.bonds) for x in d.elements))
    for element in d.elements:
        bonds = [b for b in d.bonds if element.name in (b.tail, b.head)]
        element.rules.check_ports(element, bonds)
    _check_names(d)
    _check_domains(d)
    return replace(d, elements=_with_domains(d))


def _refuse_twins(names: list[str], noun: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"two {noun} have the name '{name}'; rename one of them.")


def _with_signal(bond: Bond, elements: dict[str, Element]) -> Bond:
    """The bond with the signal it carries if it is active, as the bond of every detector is."""
    tail, head = elements[bond.tail], elements[bond.head]
    if tail.measures:
        raise ModelError(
            f"bond {bond.name} leaves the detector '{tail.name}'; let it lead there instead."
        )
    if head.measures:
        if tail.common != head.imposes[0]:
            place = JUNCTION_WITH[head.imposes[0]]
            raise ModelError(
                f"bond {bond.name} leads from '{tail.name}' to the detector '{head.name}'; {head.kind} measures the "
                f"{head.imposes} of a {place}-junction."
            )
        return replace(bond, signal=head.imposes)
    if bond.signal == "active":
        if not tail.is_junction:
            raise ModelError(
                f"the active bond {bond.name} leaves '{tail.name}', which is no junction; say what it carries, as in "
                f"{{bond = '{bond.tail} => {bond.head}', signal = 'flow'}}."
            )
        bond = replace(bond, signal=WORDS[tail.common])
    if bond.signal and tail.is_junction and bond.signal != WORDS[tail.common]:
        raise ModelError(
            f"the active bond {bond.name} carries the {bond.signal} of '{tail.name}', but a {tail.kind}-junction has one "
            f"{WORDS[tail.common]} and no one {bond.signal}."
        )
    if bond.signal and (
        tail.rules.may_be_input or not (head.conducts or head.is_port or head.rules.may_be_input)
    ):
        raise ModelError(
            f"the active bond {bond.name} leads from '{tail.name}' to '{head.name}'; active bonds leave junctions, "
            "transformers and gyrators and lead to these, to detectors or to modulated sources."
        )
    return bond


def _with_heard(x: Element, bonds: Iterable[Bond]) -> Element:
    """A modulated source without a value, which imposes what an active bond brings it."""
    heard = [b.signal_name(b.signal[0]) for b in bonds if b.signal and b.head == x.name]
    if not (x.is_input and x.rules.modulated and len(heard) == 1):
        return x
    return replace(x, value=parameter(heard[0]))


# Names
# ---------------------------------------------------------------------------------------------------------------


def signals(d: Description) -> dict[str, tuple[str, Bond]]:
    """What expressions may name besides parameters and the time: efforts and flows of bonds, p and
    q of storages."""
    made: dict[str, tuple[str, Bond]] = {}
    storages = {x.name: x for x in d.elements if x.has_state}
    count: dict[str, int] = {}
    for b in d.bonds:
        for letter in "ef":
            made[b.signal_name(letter)] = (letter, b)
        if (x := storages.get(b.head)) is not None:
            place = count[x.name] = count.get(x.name, -1) + 1
            letter = x.letter_at(place)
            made[b.signal_name(letter)] = (letter, b)
            if x.state:
                made[x.state[place]] = (letter, b)
    return made


def _names(item: object) -> Iterator[str]:
    for leaf in leaves(item):
        if isinstance(leaf, ParameterExpression):
            yield from leaf.names()


def _check_names(d: Description) -> None:
    """Expressions name what there is, and modulated elements only are modulated."""
    parameters, known = dict(d.parameters), signals(d)
    for name in parameters:
        if name in known:
            raise ModelError(
                f"parameter '{name}' has the name of a variable of bond {known[name][1].name}; choose another."
            )
        known_words(
            _names(parameters[name]), parameters, f"parameter '{name}' uses the unknown parameter"
        )
    definitions = Chain(dict(d.definitions))
    for name, expression in definitions.items():
        if name in known:
            raise ModelError(
                f"definition '{name}' has the name of a variable of bond {known[name][1].name}; choose another."
            )
        known_words(
            definitions.names_in(expression),
            (*parameters, *known, *RESERVED),
            f"definition '{name}' uses the unknown name",
        )
    for x in d.elements:
        x.rules.check_names(x, definitions, known)
        allowed = [*parameters, *([TIME] if x.rules.timed else [])]
        allowed += known if x.rules.modulated else []
        what = f"the value of '{x.name}' uses the unknown name"
        known_words(definitions.names_in(x.value), allowed, what)
        for law in (x.law, x.inverse):
            known_words(
                definitions.names_in(law),
                (*x.rules.own_letters(), *allowed),
                f"the law of '{x.name}' uses the unknown name",
            )
        if x.law is not None:
            x.field.argument(x, definitions)
        known_words(
            definitions.names_in(x.energy),
            (*x.state, *parameters),
            f"the energy of '{x.name}' uses the unknown name",
        )


def check_numbers(d: Description, values: Mapping[str, Any]) -> None:
    """Inertias are positive, and fields of storages symmetric, so that the energy depends on the
    state alone.

    Values of parameters may be arrays: then every one of them is looked at.
    """
    read = Reader(Chain(dict(d.definitions)), values.__getitem__)
    for x in d.elements:
        x.rules.check_numbers(x, read)


# Domains
# -------------------------------------------------------------------------------------------------------------


def bond_domains(d: Description) -> dict[str, str]:
    """The domain of each bond that has one: those that meet at a junction share it."""
    return {name: domain for name, (domain, _) in _spread(d).items()}


def _spread(d: Description) -> dict[str, tuple[str, str]]:
    """For each bond its domain, and the element that says so."""
    elements = {x.name: x for x in d.elements}
    ports: dict[str, list[Bond]] = {x.name: [] for x in d.elements}
    for b in d.bonds:
        ports[b.tail].append(b)
        ports[b.head].append(b)
    made: dict[str, tuple[str, str]] = {}
    for start in (x for x in d.elements if x.domain):
        pending = [(b, start.name) for b in start.rules.bonds_in_domain(start, ports[start.name])]
        while pending:
            bond, came = pending.pop()
            if (known := made.get(bond.name)) is not None:
                if known[0] != start.domain:
                    raise ModelError(
                        f"bond {bond.name} joins '{known[1]}' ({known[0]}) and '{start.name}' ({start.domain}); put a "
                        "transformer or a gyrator between the domains."
                    )
                continue
            made[bond.name] = (start.domain, start.name)
            other = elements[bond.head if bond.tail == came else bond.tail]
            if other.is_junction or (other.name != start.name and other.is_port):
                pending += [(b, other.name) for b in ports[other.name] if b is not bond]
    return made


def _with_domains(d: Description) -> tuple[Element, ...]:
    """The elements, those that act by their domain with that of their bonds."""
    domains = bond_domains(d)

    def domain(x: Element) -> str:
        own = x.rules.bonds_in_domain(x, [b for b in d.bonds if x.name in (b.tail, b.head)])
        return domains.get(own[0].name, "") if own else ""

    return tuple(
        replace(x, domain=domain(x)) if x.heats and not x.domain else x for x in d.elements
    )


def _check_domains(d: Description) -> None:
    domains = bond_domains(d)
    for x in d.elements:
        found = {domains.get(b.name, "") for b in d.bonds if x.name in (b.tail, b.head)} - {""}
        x.rules.check_domains(x, found)
