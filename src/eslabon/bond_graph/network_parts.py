"""Graphs drawn from lists of parts, step by step (Morales, 2.7.1), then simplified.

Mechanical: a 1-junction for each velocity, parts on 0-junctions between them, inertias on their own
velocity. Otherwise: a 0-junction for each effort, parts on 1-junctions between them. The junction
of the reference goes with all its bonds; what is left with two bonds in a row is one bond, and
junctions of one kind side by side are one junction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eslabon.arguments import text
from eslabon.bond_graph.elements import KINDS, Bond, Description, Element
from eslabon.bond_graph.notation import description, element
from eslabon.errors import ModelError, format_value

Pair = tuple[str, str]  # where a bond leads from and to


def from_velocities(
    name: str, parts: Mapping[str, Any], reference: str = "ground", **options: Any
) -> Description:
    """The graph of mechanical parts between velocities."""
    return _Drawing(name, parts, reference, "1", options).description()


def from_efforts(
    name: str, parts: Mapping[str, Any], reference: str = "ground", **options: Any
) -> Description:
    """The graph of electrical or hydraulic parts between efforts."""
    return _Drawing(name, parts, reference, "0", options).description()


@dataclass
class _Drawing:
    """Elements, junctions and bonds as they are drawn; `node` is the kind of junction that stands
    for a velocity or effort."""

    name: str
    parts: Mapping[str, Any]
    reference: str
    node: str
    options: Mapping[str, Any]
    junctions: dict[str, str] = field(default_factory=dict)
    bonds: list[Pair] = field(default_factory=list)

    @property
    def common(self) -> str:
        """What the bonds of a node share: "e" or "f"."""
        return KINDS[self.node].common

    def description(self) -> Description:
        if not isinstance(self.parts, Mapping) or not self.parts:
            raise ModelError(
                f"parts gives each element with what it lies between, as in {{'m': ('I: 2', 'v1')}}; it is {format_value(self.parts)}."
            )
        text(self.reference, "the reference")
        elements = {key: self._part(key, given) for key, given in self.parts.items()}
        self._remove_reference()
        self._simplify()
        kinds = {key: {"kind": kind} for key, kind in self.junctions.items()}
        plain = description(
            self.name,
            dict.fromkeys(elements, "1") | kinds,
            [f"{a} -> {b}" for a, b in self.bonds],
            **self.options,
        )
        made = tuple(
            replace(elements[x.name], domain=x.domain) if x.name in elements else x
            for x in plain.elements
        )
        numbered = tuple(Bond(str(k + 1), a, b) for k, (a, b) in enumerate(self.bonds))
        return replace(plain, elements=made, bonds=numbered)

    def _part(self, name: str, given: Any) -> Element:
        """Draw a part between its nodes."""
        if (
            not isinstance(given, list | tuple)
            or len(given) < 2
            or not all(isinstance(n, str) for n in given[1:])
        ):
            raise ModelError(
                f"the part '{name}' is an element and the nodes it lies between, as in ('I: 2', 'v1'); it is {format_value(given)}."
            )
        x, nodes = element(name, given[0]), list(given[1:])
        for node in nodes:
            if node in self.parts:
                raise ModelError(f"'{node}' is a part and a node of '{name}'; rename one of them.")
            self.junctions.setdefault(node, self.node)
        if x.is_junction or x.is_submodel:
            raise ModelError(
                f"the part '{name}' is a {x.kind}; junctions follow from the nodes, and submodels are bonded by hand."
            )
        if x.conducts:
            self._two_port(x, nodes)
        else:
            self._one_port(x, nodes)
        return x

    def _one_port(self, x: Element, nodes: list[str]) -> None:
        """A part between two nodes, or between one and the reference."""
        first, *others = nodes
        if len(others) > 1:
            raise ModelError(
                f"the part '{x.name}' lies between {len(nodes)} nodes; one or two are expected."
            )
        second, source = others[0] if others else self.reference, x.is_source and not x.holds
        if first == second:
            raise ModelError(
                f"the part '{x.name}' lies between '{first}' and itself; give it another node."
            )
        if x.stores and x.letter == "p" and self.common == "f" and second != self.reference:
            raise ModelError(
                f"the inertia '{x.name}' lies between two velocities; it has one, that of its own mass."
            )
        if x.measures:
            if second != self.reference or x.imposes[0] != self.common:
                raise ModelError(
                    f"the detector '{x.name}' is a {x.kind}; here it is a D{self.common} at one node."
                )
            self.bonds.append((first, x.name))
        elif second == self.reference:  # on the node itself
            self.bonds.append((x.name, first) if source else (first, x.name))
        else:
            self._between(x.name, first, second, source)

    def _between(self, name: str, first: str, second: str, source: bool) -> None:
        """The junction at which a part sees the difference of two nodes."""
        junction = f"{name}_difference"
        self.junctions[junction] = "0" if self.node == "1" else "1"
        through = (second, first) if source else (first, second)
        self.bonds += [(through[0], junction), (junction, through[1])]
        self.bonds.append((name, junction) if source else (junction, name))

    def _two_port(self, x: Element, nodes: list[str]) -> None:
        """A transformer or gyrator from one node, or difference of two, to another."""
        if len(nodes) not in (2, 4):
            raise ModelError(
                f"'{x.name}' joins {len(nodes)} nodes; give two, or four, a pair for each side."
            )
        half = len(nodes) // 2
        for side, own in (("in", nodes[:half]), ("out", nodes[half:])):
            node = own[0]
            if len(own) == 2 and own[1] != self.reference:
                junction = node = f"{x.name}_{side}"
                self.junctions[junction] = "0" if self.node == "1" else "1"
                first, second = own if side == "in" else own[::-1]
                self.bonds += [(first, junction), (junction, second)]
            self.bonds.append((node, x.name) if side == "in" else (x.name, node))

    # -- simplified ---------------------------------------------------------------------------------------------

    def _remove_reference(self) -> None:
        self.junctions.pop(self.reference, None)
        self.bonds = [b for b in self.bonds if self.reference not in b]

    def _simplify(self) -> None:
        """Until nothing changes: two bonds in a row are one, and junctions of one kind side by side
        are one."""
        while self._shortened() or self._merged():
            pass
        for junction in [j for j in self.junctions if not any(j in b for b in self.bonds)]:
            del self.junctions[junction]

    def _shortened(self) -> bool:
        for junction in self.junctions:
            into = [b for b in self.bonds if b[1] == junction]
            out = [b for b in self.bonds if b[0] == junction]
            if len(into) == len(out) == 1 and not {into[0][0], out[0][1]} & self._detectors():
                self.bonds[self.bonds.index(into[0])] = (into[0][0], out[0][1])
                self.bonds.remove(out[0])
                del self.junctions[junction]
                return True
        return False

    def _merged(self) -> bool:
        for a, b in self.bonds:
            if (
                a in self.junctions
                and b in self.junctions
                and self.junctions[a] == self.junctions[b]
            ):
                self.bonds.remove((a, b))
                self.bonds = [(a if x == b else x, a if y == b else y) for x, y in self.bonds]
                del self.junctions[b]
                return True
        return False

    def _detectors(self) -> set[str]:
        return {key for key, given in self.parts.items() if element(key, given[0]).measures}
