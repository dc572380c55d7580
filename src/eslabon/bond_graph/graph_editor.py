"""Graphs made of others: junctions, sources and detectors put into the bonds of a description
without submodels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from eslabon.arguments import known_words
from eslabon.bond_graph.elements import JUNCTION_WITH, Bond, Description, Element
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.notation import element
from eslabon.errors import ModelError, format_value
from eslabon.model.parameter_expressions import Number


class Rewriting:
    """Elements and bonds of a graph, to be added to."""

    def __init__(self, g: Graph) -> None:
        self.g = g
        self.elements: dict[str, Element] = dict(g.elements)
        self.bonds: list[Bond] = list(g.flat.bonds)

        self.parameters: dict[str, Number] = dict(g.flat.parameters)
        self.definitions: dict[str, Number] = dict(g.flat.definitions)

    def description(self, name: str, note: str = "") -> Description:
        """What was made; the point in names of what was in submodels becomes a line, as in
        `arm_mass`."""
        names: dict[str, str] = {}
        for old in sorted(self.elements, key=lambda name: "." in name):
            names[old] = free_name(old.replace(".", "_"), names.values())
        elements = tuple(replace(x, name=names[x.name]) for x in self.elements.values())
        bonds = tuple(replace(b, tail=names[b.tail], head=names[b.head]) for b in self.bonds)
        parameters, definitions = tuple(self.parameters.items()), tuple(self.definitions.items())
        return Description(name, elements, bonds, parameters, note, definitions)

    def add(self, wanted: str, kind: str, value: Any = None) -> str:
        """A new element, and its name: the wanted one, with a number where it is taken."""
        name = free_name(wanted, self.elements)
        self.elements[name] = Element(name, kind, value)
        return name

    def join(self, tail: str, head: str, wanted: str, signal: str = "") -> str:
        """A new bond, and its name."""
        name = free_name(wanted, [b.name for b in self.bonds])
        self.bonds.append(Bond(name, tail, head, signal))
        return name

    def insert(self, bond: str, at: str, kind: str) -> str:
        """Put a junction into a bond next to its "tail" or its "head"; the bond keeps its name on
        the other side.

        A storage keeps the names of its energy variables. Ports keep their order, as the new bond
        stands beside the old one.
        """
        place = [b.name for b in self.bonds].index(bond)
        old = self.bonds[place]
        junction = self.add(f"{bond}_{at}", kind)
        name = free_name(f"{bond}_{at}", [b.name for b in self.bonds])
        if at == "tail":  # where an active bond is heard from
            both = [replace(old, name=name, head=junction), replace(old, tail=junction, signal="")]
        else:
            both = [replace(old, head=junction), replace(old, name=name, tail=junction, signal="")]
            self._keep_names(self.elements[old.head])
        self.bonds[place : place + 1] = both
        return junction

    def _keep_names(self, x: Element) -> None:
        """Of a storage whose bond gets another name: the names of its energy variables."""
        if x.has_state and not x.state:
            own = [b for b in self.bonds if b.head == x.name]
            names = tuple(b.signal_name(x.letter_at(k)) for k, b in enumerate(own))
            self.elements[x.name] = replace(x, state=names)


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """The wanted name, with a number where it is taken.

    >>> free_name("y", ["y", "y_2"])
    'y_3'
    """
    used, name, k = set(taken), wanted, 2
    while name in used:
        name, k = f"{wanted}_{k}", k + 1
    return name


def with_detectors(g: Graph, measured: Mapping[str, str]) -> Description:
    """A graph with detectors of its efforts and flows, by their names."""
    made = Rewriting(g)
    signals = {b.signal_name(letter): (letter, b.name) for b in g.bonds.values() for letter in "ef"}
    for name, signal in measured.items():
        if not isinstance(signal, str):
            raise ModelError(
                f"the detector '{name}' measures an effort or a flow, as in {name}='f3'; it is {format_value(signal)}."
            )
        known_words([signal], signals, f"{g.name} has no effort or flow")
        if name in made.elements or name in [b.name for b in made.bonds]:
            raise ModelError(
                f"{g.name} has an element or a bond '{name}' already; call the detector otherwise."
            )
        letter, bond = signals[signal]
        kind, detector = JUNCTION_WITH[letter], f"D{letter}"
        made.elements[name] = element(name, detector)
        own = next(b for b in made.bonds if b.name == bond)
        ends = [end for end in (own.tail, own.head) if made.elements[end].common == letter]
        made.join(ends[0] if ends else made.insert(bond, "tail", kind), name, name)
    return made.description(g.name, g.note)


def dualized(g: Graph, names: Iterable[str]) -> Description:
    """A graph with inputs and detectors in their dual form: an effort source becomes a flow source,
    a detector of flow imposes the flow, and the other way round."""
    made = Rewriting(g)
    turned = {x.name: x for x in g.elements.values() if x.is_input or x.measures}
    known_words(names, turned, f"{g.name} has no input or detector")
    for name in names:
        x = turned[name]
        effort = x.imposes == ("flow" if x.is_source else "effort")
        made.elements[name] = replace(x, kind="Se" if effort else "Sf")
        if not x.is_source:
            made.bonds = [replace(b, signal="") if b.head == name else b for b in made.bonds]
    return made.description(f"{g.name}_dual", g.note)
