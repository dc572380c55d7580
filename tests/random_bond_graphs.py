"""Random bond graphs: junctions joined directly or through transformers and gyrators, with elements at their ends."""

from hypothesis import strategies as st

import eslabon as es

ENDS = ("Se", "Sf", "I: 1", "C: 1", "R: 1")


@st.composite
def graphs(draw, ends=ENDS, loops=2):
    """Junctions in a random tree, joined directly or through transformers and gyrators, with elements at their ends."""
    count = draw(st.integers(1, 4))
    elements = {f"j{k}": draw(st.sampled_from("01")) for k in range(count)}
    bonds = []
    for k in range(1, count + draw(st.integers(0, loops))):
        a = draw(st.integers(0, min(k, count) - 1))
        b = k if k < count else draw(st.integers(0, count - 1))
        if a == b:
            continue
        between = draw(st.sampled_from(["", "TF: 2", "GY: 3"]))
        if between:
            elements[f"t{k}"] = between
            bonds.append(f"j{a} -> t{k} -> j{b}")
        else:
            bonds.append(f"j{a} -> j{b}")
    for k in range(count):
        for i in range(draw(st.integers(0, 2)) + (2 if count == 1 else 0)):
            kind = draw(st.sampled_from(ends))
            elements[f"x{k}{i}"] = kind
            bonds.append(f"x{k}{i} -> j{k}" if kind.startswith("S") else f"j{k} -> x{k}{i}")
    return elements, bonds


def made(elements, bonds):
    """The graph, or None where a junction was left with one bond."""
    try:
        return es.BondGraph("random", elements, bonds)
    except es.ModelError as error:
        assert "at least two" in str(error)
        return None
