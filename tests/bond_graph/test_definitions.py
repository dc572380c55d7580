"""Every graph is text: named expressions keep long moduli and laws short, and all of it goes through files."""

import casadi as ca
import numpy as np
import pytest

import eslabon as es


def state_of(m, g):
    q, v = m.home(), np.linspace(-0.2, 0.3, m.nv)
    if m.closed:
        q, v = m.project(q, v)
    return g.state(q, v), np.linspace(0.1, 0.7, len(g.inputs))


@pytest.mark.parametrize("name", es.robots())
def test_the_graph_of_a_mechanism_goes_through_a_file(name, tmp_path):
    m = es.load(name)
    if not m.nv:
        return
    g = m.bond_graph()
    again = es.BondGraph.load(g.save(tmp_path / "graph.toml"))
    assert again.description == g.description
    assert again.digest == g.digest


@pytest.mark.parametrize("name", ["five_bar", "puma560_drives", "rssr", "sarrus"])
def test_a_graph_from_a_file_has_the_same_rates_bit_for_bit(name, tmp_path):
    m = es.load(name)
    g = m.bond_graph()
    again = es.BondGraph.load(g.save(tmp_path / "graph.toml"))
    x, u = state_of(m, g)
    np.testing.assert_array_equal(again.rates(x, u, 0.3), g.rates(x, u, 0.3))


LAWS = [
    lambda q: 3 * ca.sin(q) + q**3,
    lambda q: ca.if_else(q < 0.4, q, ca.fmax(q, 0.7)),
    lambda q: ca.sinh(q) + ca.atan(q) + ca.log1p(q),
    lambda q: sum(k * ca.tanh(ca.cos(k * q) ** 2 + q) for k in range(40)),
]


@pytest.mark.parametrize("law", LAWS)
def test_a_python_law_becomes_text(law, tmp_path):
    g = es.BondGraph(
        "spring", {"v": "1", "m": "I: 1", "k": {"kind": "C", "law": law}}, ["v -> m", "v -> k"]
    )
    again = es.BondGraph.load(g.save(tmp_path / "spring.toml"))
    assert again == g
    for q in (-0.3, 0.2, 0.5, 0.9):
        np.testing.assert_allclose(again.rates([0.0, q]), [-float(ca.DM(law(q))), 0.0], rtol=1e-13)


def test_definitions_are_used_by_values_laws_and_one_another():
    elements = {
        "F": "MSe: push", "v": "1", "m": "I: mass", "k": {"kind": "C", "law": "stiff*q"}, "R": "R: drag", "T": "MTF: ratio", "n": "I: 1",
    }  # fmt: skip
    definitions = {
        "push": "sin(w*t)", "mass": "2*rho", "stiff": "rho + q**2", "drag": "ratio**2", "ratio": "1 + q3**2",
    }  # fmt: skip
    bonds = ["F -> v -> m", "v -> k", "v -> R", "v -> T -> n"]
    g = es.BondGraph("named", elements, bonds, {"rho": 1.5, "w": 2.0}, definitions=definitions)
    plain = {
        "F": "MSe: sin(w*t)", "v": "1", "m": "I: 2*rho", "k": {"kind": "C", "law": "(rho+q**2)*q"}, "R": "R: (1+q3**2)**2",
        "T": "MTF: 1+q3**2", "n": "I: 1",
    }  # fmt: skip
    other = es.BondGraph("named", plain, bonds, {"rho": 1.5, "w": 2.0})
    x = [0.4, 0.3]
    np.testing.assert_allclose(g.rates(x, t=0.7), other.rates(x, t=0.7), rtol=1e-13)
    np.testing.assert_allclose(g.energy(x), other.energy(x), rtol=1e-12)
    np.testing.assert_allclose(g.linearize(x).A, other.linearize(x).A, rtol=1e-12)
    np.testing.assert_allclose(g.derivative("rho", x), other.derivative("rho", x), rtol=1e-12)
    linear = g.linearized_graph(x)
    np.testing.assert_allclose(linear.linearize([0.0, 0.0]).A, g.linearize(x).A, rtol=1e-9)
    inside = es.BondGraph("outer", {"a": g}, {})
    assert inside.parameters["a_rho"] == 1.5
    np.testing.assert_array_equal(inside.rates(x, t=0.7), g.rates(x, t=0.7))


@pytest.mark.parametrize(
    ("definitions", "match"),
    [
        ({"a": "b + 1"}, "definition 'a' uses the unknown name 'b'"),
        ({"a": "b", "b": "a"}, "is defined by itself"),
        ({"p2": "1"}, "definition 'p2' has the name of a variable of bond 2"),
        ({"L": "1"}, "two parameters have the name 'L'"),
        ({"t": "1"}, "has the name of the time"),
    ],
)
def test_mistakes_are_sentences(definitions, match):
    with pytest.raises(es.ModelError, match=match):
        es.BondGraph(
            "g",
            {"V": "Se", "j": "1", "m": "I: L"},
            ["V -> j -> m"],
            {"L": 1.0},
            definitions=definitions,
        )


def test_what_is_wrong_with_a_definition_of_a_law_is_said():
    with pytest.raises(es.ModelError, match="uses the unknown name"):
        es.BondGraph(
            "g",
            {"V": "Se", "j": "1", "m": {"kind": "I", "law": "a*p"}},
            ["V -> j -> m"],
            definitions={"a": "sin(e9)"},
        )
