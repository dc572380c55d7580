"""A Luenberger observer as a bond graph (Morales, procedure 5.2): a copy of the plant, corrected by
what the two measure.

For each output a comparator, a 0-junction of flows or a 1-junction of efforts, has modulated
sources of the plant's output and of the copy's, and hands their difference to a junction with as
many active bonds as states are corrected. Each leads through a gyrator or a transformer, whose
modulus is the gain, to the bond of a storage of the copy: efforts to inertias, flows to
compliances.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from eslabon.bond_graph.causality import Storage, causality
from eslabon.bond_graph.elements import JUNCTION_WITH, Description, Element
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_editor import Rewriting, free_name
from eslabon.bond_graph.structural_ranks import detectors
from eslabon.model.parameter_expressions import parameter, rename_parameters


def hat(g: Graph) -> str:
    """What the names in the copy end with: "_hat", or with a number where the graph is one with an
    observer itself."""
    taken = {*g.elements, *g.bonds, *g.signals}
    ending, k = "_hat", 2
    while any(f"{name}{ending}" in taken for name in taken):
        ending, k = f"_hat{k}", k + 1
    return ending


def observer_description(g: Graph, gains: np.ndarray) -> Description:
    """The plant, its copy and the correction; `gains` are those at the ports of the storages,
    (states, outputs)."""
    made, ending = Rewriting(g), hat(g)
    _copy(g, made, ending)
    places: dict[str, str] = {}  # a junction at the bond of each storage that is corrected
    for k, detector in enumerate(detectors(g)):
        own = [
            (s, float(h)) for s, h in zip(causality(g).integral, gains[:, k], strict=True) if h != 0
        ]
        if own:
            spread = _comparator(g, made, detector, ending)
            for s, gain in own:
                if s.name not in places:
                    kind = JUNCTION_WITH[s.letters[1]]
                    places[s.name] = made.insert(f"{s.port.bond.name}{ending}", "head", kind)
                _correction(made, spread, places[s.name], s, detector, gain)
    note = f"{g.name} and an observer of it (Morales, procedure 5.2): estimates have the names of states with {ending}."
    return made.description(f"{g.name}_observer", note)


def _copy(g: Graph, made: Rewriting, ending: str) -> None:
    """Everything once more, with other names; what the plant is given the copy is given too."""
    names = {state: f"{state}{ending}" for x in g.elements.values() for state in x.state}
    bonds = [
        replace(b, name=f"{b.name}{ending}", tail=f"{b.tail}{ending}", head=f"{b.head}{ending}")
        for b in g.flat.bonds
    ]
    for old, new in zip(g.flat.bonds, bonds, strict=True):
        names |= {old.signal_name(letter): new.signal_name(letter) for letter in "efpq"}
    names |= {name: f"{name}{ending}" for name in g.definitions}
    for name, expression in g.definitions.items():
        made.definitions[names[name]] = rename_parameters(expression, names)
    for x in g.elements.values():
        copied = replace(
            rename_parameters(x, names),
            name=f"{x.name}{ending}",
            state=tuple(names[s] for s in x.state),
        )
        if x.is_input:
            signal = g.ports[x.name][0].bond.signal_name(x.imposes[0])
            copied = replace(
                copied, kind="MSe" if x.imposes == "effort" else "MSf", value=parameter(signal)
            )
        made.elements[copied.name] = copied
    made.bonds += bonds


def _comparator(g: Graph, made: Rewriting, detector: Element, ending: str) -> str:
    """The difference of what the plant's detector and the copy's measure, at a junction where it is
    common."""
    bond, letter = g.ports[detector.name][0].bond, detector.imposes[0]
    compare, common, source = ("0", "1", "MSf") if letter == "f" else ("1", "0", "MSe")
    estimate = replace(bond, name=f"{bond.name}{ending}")
    error, spread = (
        made.add(f"{_word(detector)}_error", compare),
        made.add(f"{_word(detector)}_spread", common),
    )
    plant = made.add(f"{_word(detector)}_measured", source, parameter(bond.signal_name(letter)))
    copy = made.add(f"{_word(detector)}_estimated", source, parameter(estimate.signal_name(letter)))
    made.join(plant, error, plant)
    made.join(error, copy, copy)
    made.join(error, spread, error)
    return spread


def _correction(
    made: Rewriting, spread: str, place: str, s: Storage, detector: Element, gain: float
) -> None:
    """A transformer where the output is of the kind that changes the state, else a gyrator
    (procedure 5.2, step 7)."""
    flow = detector.imposes == "flow"
    kind = "TF" if detector.imposes[0] == s.letters[0] else "GY"
    name = free_name(f"H_{s.name}_{_word(detector)}", made.parameters)
    made.parameters[name] = gain
    modulus = (
        parameter(name) if flow else 1.0 / parameter(name)
    )  # e_in = m e_out, and e_in = m f_out
    element = made.add(name, kind, modulus)
    made.join(spread, element, f"{name}_in", detector.imposes)
    made.join(element, place, name)


def _word(detector: Element) -> str:
    """Its name in the names of bonds and parameters."""
    return re.sub(r"\W", "_", detector.name)
