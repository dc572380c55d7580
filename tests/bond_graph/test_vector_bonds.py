"""Vector bonds: a graph of some width is the graph of its components."""

import numpy as np
import pytest

import eslabon as es

ROTATION = [["cos(turn)", "-sin(turn)"], ["sin(turn)", "cos(turn)"]]


def test_a_body_on_springs_in_space(rng):
    """Three directions at once, with a value for each or one for all."""
    g = es.BondGraph(
        "body",
        {
            "F": {"kind": "Se", "width": 3},
            "v": {"kind": "1", "width": 3},
            "m": {"kind": "I", "value": "m", "width": 3},
            "k": {"kind": "C", "value": [0.1, 0.2, 0.5], "state": "x", "width": 3},
            "b": {"kind": "R", "value": "b", "width": 3},
            "y": {"kind": "Df", "width": 3},
        },
        ["F -> v -> m", "v -> k", "v -> b", "v -> y"],
        {"m": 2.0, "b": 0.3},
    )
    assert g.inputs == ("e1_1", "e1_2", "e1_3")
    assert g.states == ("p2_1", "p2_2", "p2_3", "x_1", "x_2", "x_3")
    assert g.outputs == ("f5_1", "f5_2", "f5_3")
    x, u = rng.normal(size=6), rng.normal(size=3)
    p, q = x[:3], x[3:]
    force = u - 0.3 * p / 2 - q / [0.1, 0.2, 0.5]
    np.testing.assert_allclose(g.rates(x, u), [*force, *(p / 2)], rtol=1e-13)


def test_a_field_and_a_transformer_take_a_bond_for_each_port(rng):
    """p = M v of a field, and a rotation between two frames."""
    M = np.array([[2.0, 0.3], [0.3, 1.0]])
    elements = {
        "F": {"kind": "Se", "width": 2},
        "world": {"kind": "1", "width": 2},
        "turn": {"kind": "TF", "value": ROTATION},
        "body": {"kind": "1", "width": 2},
        "mass": {"kind": "I", "value": M.tolist()},
        "drag": {"kind": "R", "value": [0.5, 0.7], "width": 2},
    }
    g = es.BondGraph(
        "frames", elements, ["F -> world -> turn -> body -> mass", "body -> drag"], {"turn": 0.4}
    )
    c, s = np.cos(0.4), np.sin(0.4)
    R = np.array([[c, -s], [s, c]])
    x, u = rng.normal(size=2), rng.normal(size=2)
    v = np.linalg.solve(M, x)
    np.testing.assert_allclose(g.rates(x, u), R @ u - [0.5, 0.7] * v, rtol=1e-12)
    found = g.bond_variables(x, u)
    np.testing.assert_allclose([found["f2_1"], found["f2_2"]], R.T @ v, rtol=1e-12)


def test_it_is_the_graph_of_its_components(rng):
    wide = es.BondGraph(
        "wide",
        {"Q": {"kind": "Sf", "width": 2}, "n": {"kind": "0", "width": 2}, "C": {"kind": "C", "value": [[2, 0.5], [0.5, 1]]}, "R": {"kind": "R", "law": "e**3", "width": 2}},
        ["Q -> n -> C", "n -> R"],
    )  # fmt: skip
    written = es.BondGraph(
        "wide",
        {"Qa": "Sf", "Qb": "Sf", "a": "0", "b": "0", "C": {"kind": "C", "value": [[2, 0.5], [0.5, 1]]}, "Ra": {"kind": "R", "law": "e**3"}, "Rb": {"kind": "R", "law": "e**3"}},
        ["Qa -> a -> C", "Qb -> b -> C", "a -> Ra", "b -> Rb"],
    )  # fmt: skip
    x, u = rng.normal(size=2), rng.normal(size=2)
    np.testing.assert_array_equal(wide.rates(x, u), written.rates(x, u))
    assert wide.simulate(x, np.linspace(0, 1, 2001), u, method="rk4").energy_balance().error < 1e-8


def test_variables_of_components_modulate():
    """A gyroscope: the multiport gyrator of w x h, modulated by the momenta of one vector bond."""
    half = [["0", "-h_3/2", "h_2/2"], ["h_3/2", "0", "-h_1/2"], ["-h_2/2", "h_1/2", "0"]]
    g = es.BondGraph(
        "gyroscope",
        {
            "T": {"kind": "Se", "width": 3},
            "w": {"kind": "1", "width": 3},
            "J": {"kind": "I", "value": ["j1", "j2", "j3"], "state": "h", "width": 3},
            "ring": {"kind": "MGY", "value": half},
        },
        ["T -> w -> J", "w -> ring -> w"],
        {"j1": 0.1, "j2": 0.2, "j3": 0.3},
    )
    h, torque = np.array([0.3, -0.2, 0.5]), np.array([0.1, 0.0, -0.4])
    omega = h / [0.1, 0.2, 0.3]
    np.testing.assert_allclose(g.rates(h, torque), torque - np.cross(omega, h), rtol=1e-12)


def test_ports_of_a_submodel_are_wide(rng):
    inner = es.BondGraph(
        "mass",
        {"port": {"kind": "port", "width": 2}, "v": {"kind": "1", "width": 2}, "m": {"kind": "I", "value": 2, "width": 2}, "b": {"kind": "R", "value": 3, "width": 2}},
        ["port -> v -> m", "v -> b"],
    )  # fmt: skip
    g = es.BondGraph("outer", {"F": {"kind": "Se", "width": 2}, "a": inner}, ["F -> a.port"])
    x, u = rng.normal(size=2), rng.normal(size=2)
    np.testing.assert_allclose(g.rates(x, u), u - 3 * x / 2, rtol=1e-13)


def test_it_is_written_and_read(tmp_path):
    g = es.BondGraph(
        "g",
        {"F": {"kind": "Se", "width": 2}, "v": {"kind": "1", "width": 2}, "m": {"kind": "I", "value": [1, 2], "width": 2}},
        ["F -> v -> m"],
    )  # fmt: skip
    again = es.BondGraph.load(g.save(tmp_path / "g.toml"))
    assert again == g
    assert again.states == g.states


@pytest.mark.parametrize(
    ("elements", "said"),
    [
        ({"v": {"kind": "1", "width": 2}, "m": {"kind": "I", "value": 1, "width": 3}}, "of width 2 and 'm' of width 3"),
        ({"v": {"kind": "1", "width": 2}, "m": "I: 1"}, "of width 2 and 'm' of width 1"),
        ({"v": {"kind": "1", "width": 2}, "m": {"kind": "I", "value": [1, 2, 3], "width": 2}}, "has the width 2"),
        ({"v": {"kind": "1", "width": 2}, "m": {"kind": "I", "value": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}, "has 2 bonds"),
        ({"v": {"kind": "1", "width": 0}, "m": "I: 1"}, "the width of 'v' is a whole number"),
        ({"v": {"kind": "1", "width": 2}, "m": {"kind": "I", "value": 1, "width": 2, "state": ["a", "b", "c"]}}, "names 3 states"),
    ],
)  # fmt: skip
def test_widths_that_do_not_fit_are_refused(elements, said):
    with pytest.raises(es.EslabonError, match=said):
        es.BondGraph("g", {"F": {"kind": "Se", "width": 2}, **elements}, ["F -> v -> m"])
