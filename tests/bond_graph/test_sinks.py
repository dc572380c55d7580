"""Residual sinks: flows that are states without an inertia of their own, and efforts that hold flows at zero."""

import numpy as np
import pytest

import eslabon as es


def test_a_flow_without_inertia_is_a_state_of_the_inertias_behind_it():
    """Two masses on one lever, whose rate is the state: (m1 + 4 m2) w' = F."""
    g = es.BondGraph(
        "lever",
        {
            "F": "Se",
            "w": "1",
            "motion": {"kind": "rSf", "state": "rate"},
            "m1": "I: 2",
            "arm": "TF: 2",
            "m2": "I: 3",
        },
        ["F -> w -> motion", "w -> m1", "w -> arm -> m2"],
    )
    assert g.states == ("rate",)
    assert g.causality().dependent == ("p3", "p5")
    np.testing.assert_allclose(g.rates([0.3], [7.0]), [7.0 / 14.0])
    np.testing.assert_allclose(g.energy([0.5], [0.0]), 14.0 * 0.25 / 2)
    np.testing.assert_allclose(g.junction_structure().fields([0.3], [7.0])["E"], [[14.0]])


def test_an_effort_holds_two_masses_together():
    """Both momenta stay states; the sink's effort is the force of the rod between them."""
    g = es.BondGraph(
        "rod",
        {
            "F": "Se",
            "v1": "1",
            "m1": "I: 2",
            "v2": "1",
            "m2": "I: 3",
            "between": "0",
            "rod": "rSe",
            "drag": "R: 0.5",
        },
        ["F -> v1 -> m1", "v1 -> between -> v2 -> m2", "between -> rod", "v2 -> drag"],
    )
    assert g.states == ("p2", "p5")
    x = np.array([2.0 * 0.4, 3.0 * 0.4])
    acceleration = (10.0 - 0.5 * 0.4) / 5.0
    np.testing.assert_allclose(g.rates(x, [10.0]), acceleration * np.array([2.0, 3.0]))
    np.testing.assert_allclose(g.bond_variables(x, [10.0])["e6"], 3.0 * acceleration + 0.5 * 0.4)
    run = g.simulate([0.0, 0.0], 2.0, [10.0])
    np.testing.assert_allclose(run["p2"] / 2, run["p5"] / 3, atol=1e-9)


def test_sinks_keep_their_kind_in_files(tmp_path):
    g = es.BondGraph(
        "one", {"F": "Se", "v": "1", "s": "rSf", "m": "I: 2"}, ["F -> v -> s", "v -> m"]
    )
    assert es.BondGraph.load(g.save(tmp_path / "one.toml")) == g
    assert g.states == ("f2",)


@pytest.mark.parametrize(
    ("elements", "bonds", "match"),
    [
        (
            {"F": "Se", "v": "1", "s": "rSf: 2", "m": "I: 2"},
            ["F -> v -> s", "v -> m"],
            "takes no value",
        ),
        (
            {"F": "Se", "v": "1", "s": "rSf", "m": "I: 2"},
            ["F -> v -> m", "s -> v"],
            "points away from 's'",
        ),
        (
            {"v": "1", "s": "rSf", "r": "rSf", "m": "I: 2"},
            ["v -> s", "v -> r", "v -> m"],
            "both impose the flow",
        ),
    ],
)
def test_mistakes_are_sentences(elements, bonds, match):
    with pytest.raises(es.ModelError, match=match):
        _ = es.BondGraph("wrong", elements, bonds).states


def test_a_flow_that_nothing_resists_is_refused():
    g = es.BondGraph(
        "empty", {"F": "Se", "v": "1", "s": "rSf", "r": "R: 2"}, ["F -> v -> s", "v -> r"]
    )
    with pytest.raises(es.EslabonError, match="undetermined"):
        g.rates([0.0], [1.0])
    g = es.BondGraph(
        "fixed", {"Q": "Sf", "v": "0", "s": "rSe", "m": "I: 2"}, ["Q -> v -> s", "v -> m"]
    )
    with pytest.raises(es.EslabonError):
        _ = g.rates([0.0], [1.0])
