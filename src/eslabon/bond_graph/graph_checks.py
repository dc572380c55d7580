"""What a bond graph must be before anyone assigns causality; each mistake is a sentence that names the bond."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from eslabon.arguments import known_words
from eslabon.bond_graph.definitions import Chain, Reader
from eslabon.bond_graph.elements import (
    DETECTORS,
    DOMAINS,
    EFFORT_SINK,
    FLOW_SINK,
    GYRATORS,
    OWN_LETTERS,
    PORT,
    RESISTOR,
    SOURCES,
    STORAGES,
    TIME,
    TRANSFORMERS,
    Bond,
    Description,
    Element,
)
from eslabon.errors import ModelError, suggest
from eslabon.model.parameter_expressions import ParameterExpression, leaves

SIGNALS = {"1": "flow", "0": "effort"}  # what an active bond takes from a junction


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
    for element in d.elements:
        _check_ports(element, [b for b in d.bonds if element.name in (b.tail, b.head)])
    _check_names(d)
    _check_domains(d)
    return d


def _refuse_twins(names: list[str], noun: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"two {noun} have the name '{name}'; rename one of them.")


def _with_signal(bond: Bond, elements: dict[str, Element]) -> Bond:
    """The bond with the signal it carries if it is active, as the bond of every detector is."""
    tail, head = elements[bond.tail], elements[bond.head]
    if tail.kind in DETECTORS:
        raise ModelError(
            f"bond {bond.name} leaves the detector '{tail.name}'; let it lead there instead."
        )
    if head.kind in DETECTORS:
        if not tail.is_junction or SIGNALS[tail.kind] != head.imposes:
            place = "0" if head.imposes == "effort" else "1"
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
        bond = replace(bond, signal=SIGNALS[tail.kind])
    if bond.signal and tail.is_junction and bond.signal != SIGNALS[tail.kind]:
        raise ModelError(
            f"the active bond {bond.name} carries the {bond.signal} of '{tail.name}', but a {tail.kind}-junction has one "
            f"{SIGNALS[tail.kind]} and no one {bond.signal}."
        )
    if bond.signal and (tail.kind in SOURCES or not _conducts(head)):
        raise ModelError(
            f"the active bond {bond.name} leads from '{tail.name}' to '{head.name}'; active bonds leave junctions, "
            "transformers and gyrators and lead to these or to detectors. A modulated source takes its signal by name."
        )
    return bond


def _conducts(x: Element) -> bool:
    return x.is_junction or x.kind in (*TRANSFORMERS, *GYRATORS, PORT)


def _check_ports(x: Element, bonds: list[Bond]) -> None:
    """As many bonds as the element has ports, with their half arrows as they are counted."""
    listed = ", ".join(b.name for b in bonds) or "none"
    if x.kind in (*TRANSFORMERS, *GYRATORS):
        _check_two_port(x, bonds, listed)
    elif x.is_junction:
        if len(bonds) < 2:
            raise ModelError(
                f"the {x.kind}-junction '{x.name}' has {len(bonds)} bond{'s' * (len(bonds) != 1)} ({listed}); it joins at "
                "least two."
            )
        if x.value is not None or x.law is not None:
            raise ModelError(f"the junction '{x.name}' has a value; a junction has none.")
    else:
        _check_one_side(x, bonds, listed)


def _check_two_port(x: Element, bonds: list[Bond], listed: str) -> None:
    noun = "transformer" if x.kind in TRANSFORMERS else "gyrator"
    into, out = [b for b in bonds if b.head == x.name], [b for b in bonds if b.tail == x.name]
    if x.value is None or x.law is not None:
        where = f" (bonds {listed})" if bonds else ""
        raise ModelError(
            f"the {noun} '{x.name}'{where} has no modulus; write one, as in '{x.kind}: 2'."
        )
    rows, columns = x.shape
    if (len(out), len(into)) != (rows, columns):
        raise ModelError(
            f"the {noun} '{x.name}' has {len(into)} bonds in and {len(out)} out ({listed}); its modulus is "
            f"{rows}x{columns}, for {columns} in and {rows} out."
        )


def _check_one_side(x: Element, bonds: list[Bond], listed: str) -> None:
    """Sources, storages, resistors, detectors and ports."""
    count, width = x.shape
    if isinstance(x.value, tuple) and x.kind not in (*STORAGES, RESISTOR):
        raise ModelError(f"'{x.name}' is a {x.kind} and takes one number, not a matrix.")
    if width != count:
        raise ModelError(
            f"the matrix of the field '{x.name}' is {count}x{width}; it must be square."
        )
    if len(bonds) != count:
        raise ModelError(
            f"'{x.name}' ({x.kind}) has {len(bonds)} bonds ({listed}); it has {count} port{'s' * (count > 1)}."
        )
    if x.kind in (*STORAGES, RESISTOR):
        if (x.value is None) == (x.law is None):
            raise ModelError(
                f"'{x.name}' ({x.kind}) needs a value, as in '{x.kind}: 2', or a law, and not both."
            )
    elif x.law is not None or (
        x.kind in (*DETECTORS, FLOW_SINK, EFFORT_SINK, PORT) and x.value is not None
    ):
        raise ModelError(
            f"'{x.name}' is a {x.kind} and takes no {'law' if x.law is not None else 'value'}."
        )
    if x.kind in (*STORAGES, RESISTOR, FLOW_SINK, EFFORT_SINK):
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


# Names ---------------------------------------------------------------------------------------------------------------


def signals(d: Description) -> dict[str, tuple[str, Bond]]:
    """What expressions may name besides parameters and the time: efforts and flows of bonds, p and q of storages."""
    made: dict[str, tuple[str, Bond]] = {}
    storages = {x.name: x for x in d.elements if x.has_state}
    count: dict[str, int] = {}
    for b in d.bonds:
        for letter in "ef":
            made[b.signal_name(letter)] = (letter, b)
        if (x := storages.get(b.head)) is not None:
            place = count[x.name] = count.get(x.name, -1) + 1
            made[b.signal_name(x.letter)] = (x.letter, b)
            if x.state:
                made[x.state[place]] = (x.letter, b)
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
            (*parameters, *known, TIME, "e", "f", "p", "q"),
            f"definition '{name}' uses the unknown name",
        )
    for x in d.elements:
        own = OWN_LETTERS.get(x.kind, ())
        allowed = [*parameters] if x.kind in (*STORAGES, "TF", "GY") else [*parameters, TIME]
        if x.kind in (*SOURCES, "MTF", "MGY", RESISTOR) and x.kind not in ("Se", "Sf"):
            allowed += known
        for name in definitions.names_in(x.value):
            if name in known and name not in allowed:
                other = (
                    f"; let it be M{x.kind}."
                    if x.kind in ("Se", "Sf", "TF", "GY")
                    else "; it must be constant."
                )
                raise ModelError(
                    f"the value of '{x.name}' depends on {name}, a variable of the graph{other}"
                )
            known_words([name], allowed, f"the value of '{x.name}' uses the unknown name")
        for law in (x.law, x.inverse):
            known_words(
                definitions.names_in(law),
                (*own, *allowed),
                f"the law of '{x.name}' uses the unknown name",
            )
        if x.kind == RESISTOR and x.law is not None:
            resistor_input(x, definitions)


def resistor_input(x: Element, definitions: Chain) -> str:
    """What the law of a resistor is a function of: "f" gives the effort, "e" the flow."""
    used = {name for name in definitions.names_in(x.law) if name in ("e", "f")}
    if len(used) == 2:
        raise ModelError(
            f"the law of '{x.name}' is a function of its flow f or of its effort e, not of both."
        )
    return used.pop() if used else "f"


# Numbers -------------------------------------------------------------------------------------------------------------


def check_numbers(d: Description, values: Mapping[str, Any]) -> None:
    """Inertias are positive, and fields of storages symmetric, so that the energy depends on the state alone.

    Values of parameters may be arrays: then every one of them is looked at.
    """
    read = Reader(Chain(dict(d.definitions)), values.__getitem__)
    for x in d.elements:
        if not x.stores or x.value is None:
            continue
        found = _numbers(x, read)
        if not isinstance(x.value, tuple):
            if x.kind == "I" and not (found > 0).all():
                raise ModelError(
                    f"the inertia '{x.name}' is {found.min():g}; it must be greater than zero."
                )
            if x.kind == "C" and not (found != 0).all():
                raise ModelError(
                    f"the compliance '{x.name}' is zero; a rigid connection is a bond without it."
                )
            continue
        if not np.allclose(found, np.swapaxes(found, -1, -2), rtol=1e-12, atol=0):
            raise ModelError(
                f"the matrix of the field '{x.name}' is not symmetric; its energy would depend on the way."
            )
        sizes = np.linalg.eigvalsh(found)
        if x.kind == "I" and (sizes.min(axis=-1) < -1e-12 * sizes.max(axis=-1)).any():
            raise ModelError(
                f"the matrix of the inertia '{x.name}' is not positive: its energy could be negative."
            )


def _numbers(x: Element, read: Reader) -> np.ndarray:
    """The value of an element, (...) or for a matrix (..., n, n)."""
    if not isinstance(x.value, tuple):
        return np.array(read(x.value), dtype=float)
    entries = np.broadcast_arrays(
        *(np.asarray(read(entry), dtype=float) for row in x.value for entry in row)
    )
    return np.stack(entries, axis=-1).reshape(*entries[0].shape, *x.shape)


# Domains -------------------------------------------------------------------------------------------------------------


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
        pending = [(b, start.name) for b in ports[start.name]]
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
            if other.is_junction or (other.name != start.name and other.kind == PORT):
                pending += [(b, other.name) for b in ports[other.name] if b is not bond]
    return made


def _check_domains(d: Description) -> None:
    domains = bond_domains(d)
    for x in d.elements:
        found = {domains.get(b.name, "") for b in d.bonds if x.name in (b.tail, b.head)} - {""}
        true = {DOMAINS[name].true for name in found}
        if x.kind in (*TRANSFORMERS, *GYRATORS) and len(true) > 1:
            raise ModelError(
                f"'{x.name}' joins {' and '.join(sorted(found))}; the product of effort and flow of a pseudo bond is no "
                "power, so that nothing is conserved across it: use a modulated source."
            )
        if x.kind == "I" and "thermal" in found:
            raise ModelError(f"'{x.name}' is an inertia with a thermal bond; heat has none.")
