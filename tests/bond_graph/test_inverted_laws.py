"""Laws whose inverse is found: both directions are one law, and an element takes both causalities."""

import numpy as np
import pytest

import eslabon as es
from eslabon.model.parameter_expressions import inverse, number

LAWS = {
    "line": "3*q - 2",
    "divided": "4/(q + 3)",
    "exponential": "1e-3*(exp(q/0.5) - 1)",
    "logarithm": "log(q + 4)/2",
    "saturated": "2*tanh(0.3*q) + 1",
    "cubic": "k*q**3",
    "negative": "-(5 - 2*q)/3",
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_inverse_of_a_law_gives_its_argument_back(law, rng):
    forward = number(law)
    back = inverse(forward, "q", "e")
    for q in rng.uniform(-2.5, 2.5, 20):
        e = forward.evaluate({"q": q, "k": 2.0})
        assert back.evaluate({"e": e, "k": 2.0}) == pytest.approx(q, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    "law",
    ["q**2", "abs(q)", "sin(q)", "q + q**3", "sqrt(q)", "q**k", "q**(-2)", "sign(q)", "e*q", "2"],
)
def test_a_law_with_several_branches_has_none(law):
    assert inverse(number(law), "q", "e") is None


def test_a_law_that_uses_its_letter_in_a_definition_has_none():
    g = es.BondGraph(
        "g",
        {"j": "1", "I": "I: 1", "C": {"kind": "C", "law": "q + double"}},
        ["j -> I", "j -> C"],
        definitions={"double": "q**2"},
    )
    assert g.causality().states == ("p1", "q2")
    x = g.elements["C"]
    assert x.field.inverse(x, g.definitions) is None


def circuit(diode):
    return es.BondGraph(
        "rectifier",
        {"V": "Se", "j": "1", "Rs": "R: Rs", "n": "0", "D": diode, "C": "C: 1e-3"},
        ["V -> j -> Rs", "j -> n -> D", "n -> C"],
        {"Rs": 100.0, "i0": 1e-9, "v": 0.026},
    )


def test_a_diode_is_the_same_by_its_law_and_by_a_written_inverse():
    """The current of a voltage, and the voltage of a current, which a series circuit asks for."""
    law, written = "i0*(exp(e/v) - 1)", "v*log(f/i0 + 1)"
    series = [
        es.BondGraph(
            "series",
            {"I": "Sf", "j": "1", "D": {"kind": "R", "law": law, **more}, "C": "C: 1"},
            ["I -> j -> D", "j -> C"],
            {"i0": 1e-9, "v": 0.026},
        )
        for more in ({}, {"inverse": written})
    ]
    found = [g.bond_variables([0.0], [1e-3])["e2"] for g in series]
    assert found[0] == pytest.approx(0.026 * np.log(1e-3 / 1e-9 + 1), rel=1e-12)
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    parallel = circuit({"kind": "R", "law": law})
    x = [2e-4]
    v = parallel.bond_variables(x, [1.0])
    assert v["f4"] == pytest.approx(1e-9 * np.expm1(v["e4"] / 0.026), rel=1e-10)


def test_a_law_keeps_its_own_direction_where_another_storage_can_follow():
    """The inverse of a cubic law has an infinite slope at zero; it is taken where nothing else is possible."""
    elements = {"v": "Sf", "j": "0", "a": "C: 0.5", "b": {"kind": "C", "law": "8*q**3"}}
    g = es.BondGraph("springs", elements, ["v -> j -> a", "j -> b"])
    assert g.states == ("q3",)
    forced = es.BondGraph("forced", {"F": "Se: 8", "j": "0", "b": elements["b"]}, ["F -> j -> b"])
    assert forced.causality().dependent == ("q2",)
    assert forced.energy([]) == pytest.approx(2.0)  # 8/4 q^4 at q = 1


def test_two_stiffening_springs_at_one_force():
    """One follows the other by its inverse: E is 1 + (dq_b/de)(de/dq_a)."""
    law = {"kind": "C", "law": "3*tanh(q)"}
    g = es.BondGraph("two", {"v": "Sf", "j": "0", "a": law, "b": law}, ["v -> j -> a", "j -> b"])
    assert (g.states, g.causality().dependent) == (("q2",), ("q3",))
    assert g.rates([0.4], [0.6]) == pytest.approx([0.3], rel=1e-12)
    run = g.simulate([0.0], np.linspace(0, 1, 101), [0.6])
    balance = run.energy_balance()
    assert balance.error < 1e-9
    np.testing.assert_allclose(balance["a"], balance["b"], atol=1e-10)
    np.testing.assert_allclose(balance["a"], 3 * np.log(np.cosh(run["q2"])), atol=1e-10)


def test_files_keep_what_was_written(tmp_path):
    g = circuit({"kind": "R", "law": "i0*(exp(e/v) - 1)"})
    again = es.BondGraph.load(g.save(tmp_path / "g.toml"))
    assert again == g
    assert "inverse" not in (tmp_path / "g.toml").read_text()


def test_a_diode_leaves_a_coil_its_state():
    """In series with a coil the current is given, and the voltage of the diode follows by the inverse of its law."""
    diode = {"kind": "R", "law": "i0*(exp(e/v) - 1)"}
    g = es.BondGraph(
        "coil",
        {"V": "Se", "j": "1", "Rs": "R: 100", "D": diode, "L": "I: 0.2"},
        ["V -> j -> Rs", "j -> D", "j -> L"],
        {"i0": 1e-9, "v": 0.026},
    )
    assert g.states == ("p4",)
    i = 0.03
    expected = 5.0 - 100 * i - 0.026 * np.log(i / 1e-9 + 1)
    assert g.rates([0.2 * i], [5.0]) == pytest.approx([expected], rel=1e-12)
    rest = g.steady_state([5.0])["p4"] / 0.2
    across = 100 * rest + 0.026 * np.log(rest / 1e-9 + 1)
    assert across == pytest.approx(5.0, rel=1e-9)
