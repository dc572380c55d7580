"""Nested graphs put in their places: a description with submodels becomes one without.

Names inside get the submodel's in front: element `arm.mass`, bond `arm_3`, parameter `arm_m`. The
bond outside a port and the one inside are one bond, which has the name of the outer one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from eslabon.arguments import known_words
from eslabon.bond_graph.elements import Bond, Description, Element
from eslabon.bond_graph.vector_bonds import widened
from eslabon.errors import ModelError, suggest
from eslabon.model.parameter_expressions import Number, rename_parameters

LETTERS = "efpq"
DEEPEST = 20  # submodels in one another


def flatten(d: Description, depth: int = 0) -> Description:
    """The same graph without submodels; its own ports stay."""
    if depth > DEEPEST:
        raise ModelError(f"{d.name} has submodels in submodels more than {DEEPEST} deep.")
    d = widened(d)
    elements: list[Element] = []
    bonds = list(d.bonds)
    inner_bonds: list[Bond] = []
    parameters, definitions = list(d.parameters), list(d.definitions)
    for element in d.elements:
        if not element.is_submodel:
            elements.append(element)
            continue
        assert element.model is not None
        inner = _prefixed(element.name, flatten(element.model, depth + 1), bonds, d)
        parameters += _bound(element, inner)
        definitions += inner.definitions
        bonds = [_joined(bond, inner, element.name) for bond in bonds]
        elements += [x for x in inner.elements if not x.is_port]
        ports = {x.name for x in inner.elements if x.is_port}
        inner_bonds += [b for b in inner.bonds if not {b.tail, b.head} & ports]
    return replace(
        d,
        elements=tuple(elements),
        bonds=(*bonds, *inner_bonds),
        parameters=tuple(parameters),
        definitions=tuple(definitions),
    )


def _prefixed(name: str, inner: Description, outer: list[Bond], d: Description) -> Description:
    """A submodel's contents under their names outside; a port's bond has the name of the one it is
    joined to."""
    ports = {x.name for x in inner.elements if x.is_port}
    joined: dict[str, str] = {}
    for port in ports:
        own = [b for b in inner.bonds if port in (b.tail, b.head)]
        if len(own) != 1:
            raise ModelError(
                f"the port '{port}' of '{name}' has {len(own)} bonds inside {inner.name}; it needs one."
            )
        ends = [b for b in outer if f"{name}.{port}" in (b.tail, b.head)]
        if len(ends) != 1:
            raise ModelError(
                f"the port '{port}' of '{name}' has {len(ends)} bonds in {d.name}; it needs one, as in 'j -> {name}.{port}'."
            )
        joined[own[0].name] = ends[0].name
    bonds = [
        replace(
            b,
            name=joined.get(b.name, f"{name}_{b.name}"),
            tail=f"{name}.{b.tail}",
            head=f"{name}.{b.head}",
        )
        for b in inner.bonds
    ]
    names = {n: f"{name}_{n}" for n, _ in (*inner.parameters, *inner.definitions)}
    names |= {state: f"{name}_{state}" for x in inner.elements for state in x.state}
    for old, new in zip(inner.bonds, bonds, strict=True):
        names |= {old.signal_name(letter): new.signal_name(letter) for letter in LETTERS}
    elements = [
        replace(
            rename_parameters(x, names),
            name=f"{name}.{x.name}",
            state=tuple(names[s] for s in x.state),
        )
        for x in inner.elements
    ]
    parameters = tuple((names[n], rename_parameters(x, names)) for n, x in inner.parameters)
    definitions = tuple((names[n], rename_parameters(x, names)) for n, x in inner.definitions)
    return replace(
        inner,
        elements=tuple(elements),
        bonds=tuple(bonds),
        parameters=parameters,
        definitions=definitions,
    )


def _bound(element: Element, inner: Description) -> list[tuple[str, Number]]:
    """The submodel's parameters as those of the graph, with the values they are given there."""
    given: Mapping[str, Number] = {f"{element.name}_{n}": x for n, x in element.parameters}
    own = [n.removeprefix(f"{element.name}_") for n, _ in inner.parameters]
    known_words(
        [n for n, _ in element.parameters], own, f"the submodel '{element.name}' has no parameter"
    )
    return [(n, given.get(n, x)) for n, x in inner.parameters]


def _joined(bond: Bond, inner: Description, name: str) -> Bond:
    """An outer bond, led through a port to what is bonded to it inside."""
    ports = {x.name: x for x in inner.elements if x.is_port}
    for end, other in (("tail", "head"), ("head", "tail")):
        port = getattr(bond, end)
        if port.partition(".")[0] != name:
            continue
        if port not in ports:
            known = [p.removeprefix(f"{name}.") for p in ports]
            raise ModelError(
                f"bond {bond.name} leads to '{port}', which is no port of '{name}'"
                f"{suggest(port.partition('.')[2], known)}"
            )
        inside = next(b for b in inner.bonds if port in (b.tail, b.head))
        if getattr(inside, other) != port:
            raise ModelError(
                f"bond {bond.name} and the bond inside the port '{port}' point against one another; reverse one of them."
            )
        if (
            bond.signal
            and inside.signal
            and "active" not in (bond.signal, inside.signal)
            and bond.signal != inside.signal
        ):
            raise ModelError(
                f"bond {bond.name} carries the {bond.signal}, and inside '{port}' the {inside.signal}."
            )
        signal = bond.signal if bond.signal not in ("", "active") else inside.signal or bond.signal
        bond = replace(bond, **{end: getattr(inside, end)}, signal=signal)
    return bond


def with_parameter(d: Description, name: str, value: Number) -> Description:
    """The description with another value of a parameter, which may be a submodel's with its name in
    front."""
    if name in dict(d.parameters):
        return replace(d, parameters=tuple((n, value if n == name else x) for n, x in d.parameters))
    elements = list(d.elements)
    for k, x in enumerate(elements):
        inner = name.removeprefix(f"{x.name}_")
        if x.model is None or inner == name or inner not in dict(flatten(x.model).parameters):
            continue
        if inner in dict(x.model.parameters):
            bound = {**dict(x.parameters), inner: value}
            elements[k] = replace(x, parameters=tuple(bound.items()))
        else:
            elements[k] = replace(x, model=with_parameter(x.model, inner, value))
        break
    return replace(d, elements=tuple(elements))
