"""Strategies of hypothesis for bond graphs: junctions joined directly or through transformers and gyrators.

`graphs` draws graphs that have a causality, states and finite rates. `degenerate_graphs` draws anything: junctions with
one bond, sources that contradict one another, loops of junctions, no states. Both give elements and bonds, as
`es.BondGraph` takes them.
"""

from dataclasses import replace

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

import eslabon as es

ENDS = ("Se", "Sf", "I: 1", "C: 1", "R: 1")
# What may impose the flow of a 1-junction or the effort of a 0-junction in integral causality
LEADERS = {"1": ("I: 1", "Sf", "R: 1"), "0": ("C: 1", "Se", "R: 1")}
# What follows it, with the storage that depends on the leader last
FOLLOWERS = {"1": ("R: 1", "C: 1", "Se", "I: 1"), "0": ("R: 1", "I: 1", "Sf", "C: 1")}


def attach(elements, bonds, junction, kind):
    """One more element at a junction: power flows from sources and to all else."""
    name = f"x{junction[1:]}{sum(key.startswith(f'x{junction[1:]}') for key in elements)}"
    elements[name] = kind
    bonds.append(f"{name} -> {junction}" if kind.startswith("S") else f"{junction} -> {name}")


def connect(elements, bonds, a, b, between):
    """A bond between junctions, directly or through a transformer or gyrator."""
    if between:
        name = f"t{len(bonds)}"
        elements[name] = between
        bonds.append(f"{a} -> {name} -> {b}")
    else:
        bonds.append(f"{a} -> {b}")


def led_by_the_other(elements, a, b, between):
    """Whether the variable of one junction fixes that of the other: 1-1, 0-0, or a gyrator between 1 and 0."""
    return (elements[a] == elements[b]) != between.startswith("GY")


@st.composite
def graphs(draw, ends=ENDS, loops=2):
    """Junctions in a random tree with up to so many further bonds, each junction with a variable that one bond imposes.

    It is imposed by an element, the junction's leader, or through a bond by another junction. The first leader is a
    storage, so that there is a state; no storage depends on a source, whose rate would be needed.
    """
    elements, bonds, driven = {}, [], {}
    count = draw(st.integers(1, 4))
    for k in range(count):
        j = f"j{k}"
        elements[j] = draw(st.sampled_from("10"))
        leader = LEADERS[elements[j]][0]
        led = False
        if k:
            a, between = (
                f"j{draw(st.integers(0, k - 1))}",
                draw(st.sampled_from(["", "TF: 2", "GY: 3"])),
            )
            connect(elements, bonds, a, j, between)
            led = led_by_the_other(elements, a, j, between)
            leader = draw(st.sampled_from([x for x in LEADERS[elements[j]] if x in ends]))
        driven[j] = driven[a] if led else leader.startswith("S")
        if not led:
            attach(elements, bonds, j, leader)
        others = [x for x in FOLLOWERS[elements[j]] if x in ends]
        others = others[:-1] if driven[j] else others
        for kind in draw(st.lists(st.sampled_from(others), min_size=int(led or not k), max_size=2)):
            attach(elements, bonds, j, kind)
    for _ in range(draw(st.integers(0, loops)) if count > 1 else 0):
        a, b = (f"j{k}" for k in draw(st.permutations(range(count)))[:2])
        same = elements[a] == elements[b]
        connect(elements, bonds, a, b, "GY: 3" if same else draw(st.sampled_from(["", "TF: 2"])))
    return elements, bonds


@st.composite
def degenerate_graphs(draw, ends=ENDS, loops=2):
    """Junctions in a random tree with any elements at their ends."""
    count = draw(st.integers(1, 4))
    elements = {f"j{k}": draw(st.sampled_from("01")) for k in range(count)}
    bonds = []
    for k in range(1, count + draw(st.integers(0, loops))):
        a = draw(st.integers(0, min(k, count) - 1))
        b = k if k < count else draw(st.integers(0, count - 1))
        if a != b:
            connect(
                elements, bonds, f"j{a}", f"j{b}", draw(st.sampled_from(["", "TF: 2", "GY: 3"]))
            )
    for k in range(count):
        for _ in range(draw(st.integers(0, 2)) + (2 if count == 1 else 0)):
            attach(elements, bonds, f"j{k}", draw(st.sampled_from(ends)))
    return elements, bonds


def built(elements, bonds):
    """The graph; an example with a junction of one bond, which is refused, does not count."""
    try:
        return es.BondGraph("drawn", elements, bonds)
    except es.ModelError as error:
        assert "at least two" in str(error)
        reject()


def with_general_values(g, seed):
    """The same graph with other values, so that no rank is lost by coincidence."""
    rng = np.random.default_rng(seed)
    values = ("I", "C", "R", "TF", "GY")
    elements = (
        replace(x, value=float(rng.uniform(0.5, 2.0))) if x.kind in values else x
        for x in g.flat.elements
    )
    return es.BondGraph.from_description(replace(g.flat, elements=tuple(elements)))
