"""Causality on random graphs: every assignment is valid, and every conflict is real."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given

import eslabon as es
from bond_graph_strategies import built, degenerate_graphs, graphs
from eslabon.bond_graph.graph import Port
from randomness import examples


def valid(g, effort_in):
    """Whether strokes are what every element takes; `effort_in(port)` says whether the effort goes to it."""
    for name, x in g.elements.items():
        into = [effort_in(p) for p in g.ports[name]]
        if x.kind == "0" and sum(into) != 1:
            return False
        if x.kind == "1" and sum(into) != len(into) - 1:
            return False
        if x.kind == "TF" and sum(into) != 1:
            return False
        if x.kind == "GY" and sum(into) == 1:
            return False
        if x.is_source and into[0] != (x.kind == "Sf"):
            return False
    return True


def all_assignments(g):
    for heads in itertools.product((False, True), repeat=len(g.bonds)):
        head = dict(zip(g.bonds, heads, strict=True))

        def effort_in(port: Port, head=head):
            return head[port.bond.name] == port.into

        if valid(g, effort_in):
            yield effort_in


@examples(60)
@given(degenerate_graphs() | graphs())
def test_assignments_are_valid_and_conflicts_are_real(written):
    g = built(*written)
    assume(len(g.bonds) <= 11)  # of which 2^11 assignments are tried
    for preference in ("integral", "derivative"):
        try:
            c = g.causality(preference)
        except es.ModelError as error:
            assert "has no causality" in str(error)
            assert next(all_assignments(g), None) is None
            continue
        assert valid(g, c.effort_in)
        assert c.order + len(c.derivative) == sum(x.stores for x in g.elements.values())


@examples(40)
@given(graphs(loops=0) | degenerate_graphs(loops=0))
def test_as_many_storages_as_can_be_have_the_preferred_causality(written):
    g = built(*written)
    assume(len(g.bonds) <= 10)

    def count(effort_in):
        return sum(
            effort_in(g.ports[n][0]) == (x.kind == "I") for n, x in g.elements.items() if x.stores
        )

    counts = [count(effort_in) for effort_in in all_assignments(g)]
    assume(counts)
    assert g.causality("integral").order == max(counts)
    assert g.causality("derivative").order == min(counts)


def test_who_fights_over_a_junction_is_named():
    g = es.BondGraph(
        "short", {"V1": "Se", "V2": "Se", "j": "0", "R": "R: 1"}, ["V1 -> j", "V2 -> j", "j -> R"]
    )
    sentence = "short has no causality: bonds 1 and 2 both impose the effort of the 0-junction 'j'; it is asked for by 'V1' .Se., 'V2' .Se."
    with pytest.raises(es.ModelError, match=sentence):
        g.rates([0.0], [0.0, 0.0])
    far = es.BondGraph(
        "far", {"a": "Sf", "j": "1", "T": "TF: 2", "k": "1", "b": "Sf", "m": "I: 1", "r": "R: 1"},
        ["a -> j -> T -> k", "b -> k", "k -> r", "j -> m"],
    )  # fmt: skip
    with pytest.raises(es.ModelError, match=r"'a' .Sf., 'b' .Sf."):
        far.causality()


def test_a_loop_of_gyrators_needs_a_way_back():
    """Choices that look free one by one may not fit together; they are then taken back."""
    g = es.BondGraph(
        "ring", {"a": "1", "b": "1", "c": "1", "x": "GY: 1", "y": "GY: 1", "z": "TF: 1", "m": "I: 1", "n": "I: 1", "r": "R: 1"},
        ["a -> x -> b", "b -> y -> c", "c -> z -> a", "a -> m", "b -> n", "c -> r"],
    )  # fmt: skip
    assert valid(g, g.causality().effort_in)
    assert g.order == 2


def test_derivative_preference_of_the_puma():
    g = es.BondGraph.load("morales_puma")
    assert g.causality("derivative").order == 0
    assert g.causality().strokes["1"] == "dt2"
    with pytest.raises(es.ModelError, match="'integral' or 'derivative'"):
        g.causality("both")


def test_order_and_report():
    g = es.BondGraph.load("morales_stanford")
    assert repr(g.causality()).startswith(
        "<Causality of morales_stanford, integral preferred: order 7 (p2, p24, p50, p31,"
    )
    assert np.array_equal(g.causality().states, ("p2", "p24", "p50", "p31", "q3", "q23", "q53"))
