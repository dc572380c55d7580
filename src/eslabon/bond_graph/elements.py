"""What a bond graph is made of: elements and bonds, and the description that holds them. Plain immutable data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from eslabon.displays import displayed
from eslabon.model.parameter_expressions import Number

SOURCES, STORAGES, RESISTOR = ("Se", "Sf", "MSe", "MSf"), ("I", "C"), "R"
TRANSFORMERS, GYRATORS, JUNCTIONS = ("TF", "MTF"), ("GY", "MGY"), ("0", "1")
DETECTORS, PORT, SUBMODEL = ("De", "Df"), "port", "submodel"
# Residual sinks (Borutzky): they impose what makes the power variable they are given vanish. The flow of rSf is a state, that of
# storages in derivative causality which all depend on it; the effort of rSe is a multiplier, which holds its flow at zero.
FLOW_SINK, EFFORT_SINK = "rSf", "rSe"
KINDS = (
    *SOURCES,
    *STORAGES,
    RESISTOR,
    *TRANSFORMERS,
    *GYRATORS,
    *JUNCTIONS,
    *DETECTORS,
    FLOW_SINK,
    EFFORT_SINK,
    PORT,
    SUBMODEL,
)
TIME = "t"
# What constitutive laws are written in: the argument of the law and that of its inverse.
OWN_LETTERS: Mapping[str, tuple[str, ...]] = {"I": ("p", "f"), "C": ("q", "e"), "R": ("f", "e")}
RESERVED = ("e", "f", "p", "q", TIME)

Matrix = tuple[tuple[Number, ...], ...]


class Domain(NamedTuple):
    """Units of effort, flow, momentum and displacement, and whether effort times flow is a power."""

    effort: str
    flow: str
    momentum: str
    displacement: str
    true: bool = True


# Morales, table 2.1. The thermal bond of temperature and heat flow is a pseudo bond: the heat flow is a power itself.
DOMAINS: Mapping[str, Domain] = {
    "translation": Domain("N", "m/s", "N s", "m"),
    "rotation": Domain("N m", "rad/s", "N m s", "rad"),
    "electrical": Domain("V", "A", "V s", "A s"),
    "hydraulic": Domain("Pa", "m³/s", "Pa s", "m³"),
    "thermal": Domain("K", "W", "K s", "J", true=False),
}


Law = Number
Value = Number | Matrix


@displayed
@dataclass(frozen=True)
class Element:
    """One element.

    Attributes
    ----------
    value : of I, C and R the inertia, compliance or resistance, a number or for a multiport field a matrix; of transformers
        and gyrators the modulus, of which a multiport one has a matrix too; of sources what they impose, None for an input.
    law : of I, C and R in place of a value: f of p, e of q, e of f, or f of e.
    inverse : the inverse of the law, without which the element takes one causality only.
    state : what the energy variables of a storage are called, one name a port; () is p or q with the bond's name.
    domain : one of `DOMAINS`, or "".
    model, parameters : of a submodel its description, and its parameters' values in those of the graph.
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

    @property
    def is_source(self) -> bool:
        return self.kind in (*SOURCES, EFFORT_SINK)

    @property
    def imposes(self) -> str:
        """What a source or the bond of a detector fixes: "effort" or "flow"."""
        return "effort" if self.kind in ("Se", "MSe", "De", EFFORT_SINK) else "flow"

    @property
    def is_input(self) -> bool:
        return self.kind in SOURCES and self.value is None

    @property
    def stores(self) -> bool:
        return self.kind in STORAGES

    @property
    def has_state(self) -> bool:
        """Whether its bonds may have states: a storage, or a sink whose flow is one."""
        return self.kind in (*STORAGES, FLOW_SINK)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of its value."""
        return (len(self.value), len(self.value[0])) if isinstance(self.value, tuple) else (1, 1)

    @property
    def is_junction(self) -> bool:
        return self.kind in JUNCTIONS

    @property
    def letter(self) -> str:
        """Of a state: p for momenta, q for displacements, f for flows of sinks."""
        return {"I": "p", "C": "q", FLOW_SINK: "f"}[self.kind]


@displayed
@dataclass(frozen=True)
class Bond:
    """A bond with its half arrow from tail to head. An active bond carries one signal only, "effort" or "flow"."""

    name: str
    tail: str
    head: str
    signal: str = ""

    def signal_name(self, letter: str) -> str:
        """What one of its variables is called in expressions: f3, or f_shaft of a bond with a name in letters."""
        return f"{letter}{self.name}" if self.name[0].isdigit() else f"{letter}_{self.name}"


@dataclass(frozen=True)
class Description:
    """A bond graph as it was written, with submodels in it."""

    name: str
    elements: tuple[Element, ...] = ()
    bonds: tuple[Bond, ...] = ()
    parameters: tuple[tuple[str, Number], ...] = ()
    note: str = ""
    definitions: tuple[tuple[str, Number], ...] = ()  # expressions by name, which others use
