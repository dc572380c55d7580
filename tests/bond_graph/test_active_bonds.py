"""Active bonds into sources: what an element answers to a signal takes nothing from where it comes (Morales, fig. 2.16)."""

import numpy as np
import pytest

import eslabon as es

PARTS = {
    "V": "Se",
    "j": "1",
    "R": "R: 2",
    "node": "0",
    "C": "C: 0.5",
    "loop": "1",
    "L": "I: 3",
    "Ra": "R: 4",
}
BONDS = {
    "1": "V -> j",
    "2": "j -> R",
    "3": "j -> node",
    "4": "node -> C",
    "sense": "node => amplifier",
    "5": "amplifier -> loop",
    "6": "loop -> L",
    "7": "loop -> Ra",
}


def amplifier(source, **parameters):
    return es.BondGraph("amplifier", {**PARTS, "amplifier": source}, BONDS, parameters)


def test_an_amplifier_gives_its_gain_times_the_effort(rng):
    """E(t) = G e0(t)."""
    g = amplifier("MSe: G*e_sense", G=10.0)
    assert (g.states, g.inputs) == (("p6", "q4"), ("e1",))
    x, u = rng.normal(size=2), rng.normal(size=1)
    v = g.bond_variables(x, u)
    assert v["e5"] == pytest.approx(10 * v["e4"], rel=1e-14)
    # Nothing flows back: the node's balance does not know the amplifier, nor does A.
    assert v["f3"] == pytest.approx(v["f4"], rel=1e-14)
    assert v.power[list(g.bonds).index("sense")] == 0
    np.testing.assert_allclose(
        g.linearize(x, u).A, [[-4 / 3, 10 / 0.5], [0, -1 / (2 * 0.5)]], rtol=1e-12
    )


def test_a_source_without_a_value_imposes_what_an_active_bond_brings():
    g, plain = amplifier("MSe"), amplifier("MSe: e_sense")
    assert g.inputs == ("e1",)
    np.testing.assert_array_equal(g.rates([0.2, 0.3], [1.0]), plain.rates([0.2, 0.3], [1.0]))


def test_paths_and_transfer_functions_lead_through_it():
    g = amplifier("MSe: G*e_sense", G=10.0)
    (path,) = g.causal_paths("V", "L", indirect=True)
    assert "sense" in path.bonds
    assert str(g.transfer_function("e1", "f6")) == "G/((s + 1)*(3*s + 4))"


def test_the_balance_of_energy_counts_what_the_amplifier_supplies():
    run = amplifier("MSe: G*e_sense", G=10.0).simulate(None, np.linspace(0, 2, 401), [1.0])
    assert run.energy_balance().error < 1e-6
    assert run.energy_balance()["amplifier"][-1] < 0


def test_it_is_written_read_and_drawn(tmp_path):
    g = amplifier("MSe: G*e_sense", G=10.0)
    again = es.BondGraph.load(g.save(tmp_path / "g.toml"))
    np.testing.assert_array_equal(again.linearize([0, 0], [0]).A, g.linearize([0, 0], [0]).A)
    text = g.draw(tmp_path / "g.svg").read_text()
    assert "amplifier" in text


@pytest.mark.parametrize("source", ["Se: 3", "MSe: 3", "MSe: 2*f6", "Se"])
def test_a_source_that_does_not_use_its_signal_is_refused(source):
    with pytest.raises(
        es.ModelError, match=r"leads to the source 'amplifier'.* does not use e_sense"
    ):
        amplifier(source)


def test_no_other_one_port_takes_an_active_bond():
    with pytest.raises(es.ModelError, match="active bonds leave junctions"):
        es.BondGraph(
            "g",
            {**PARTS, "x": "R: 2"},
            {**{k: v for k, v in BONDS.items() if "amp" not in v}, "8": "node => x"},
        )
