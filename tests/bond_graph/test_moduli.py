"""Moduli of any size and shape: none is judged by its size, nor by its values somewhere else."""

import numpy as np
import pytest

import eslabon as es


def test_a_piston_as_small_as_a_pore_moves_its_mass():
    g = es.BondGraph(
        "pore",
        {"p": "Se", "piston": "TF: 1/9e-14", "v": "1", "m": "I: 1"},
        ["p -> piston -> v -> m"],
    )
    np.testing.assert_allclose(g.rates([0.0], [1e6]), [9e-8], rtol=1e-12)


@pytest.mark.parametrize(
    "modulus", ["(abs(q3-2)+q3-2)/2", "(1+sign(q3-2))/2", "1+tanh(1e3*(q3-2))", "exp(50*(q3-2))"]
)
def test_a_modulus_that_rests_on_a_range_transmits_beyond_it(modulus):
    g = es.BondGraph(
        "late",
        {
            "F": "Se",
            "v": "1",
            "m": "I: 1",
            "q": "C: 1",
            "T": f"MTF: {modulus}",
            "w": "1",
            "n": "C: 1",
        },
        ["F -> v -> m", "v -> q", "v -> T -> w -> n"],
    )
    q = 3.0
    value = {"a": 1.0, "s": 1.0, "t": 2.0, "e": np.exp(50.0)}[modulus.strip("(1+")[0]]
    x = dict(zip(g.states, [0.5, q, 0.0], strict=True))
    assert set(x) == {"p2", "q3", "q6"}
    np.testing.assert_allclose(
        g.rates([0.5, q, 0.0], [0.0])[g.states.index("q6")], 0.5 * value, rtol=1e-9
    )


def rotated(q):
    """Forces on two masses through a rotation of their axes."""
    return es.BondGraph(
        "rotation",
        {"Fx": "Se", "Fy": "Se", "a": "1", "b": "1", "c": "1", "d": "1", "m": "I: 2", "n": "I: 3",
         "R": {"kind": "MTF", "value": [["cos(t)", "-sin(t)"], ["sin(t)", "cos(t)"]]}},
        ["Fx -> a", "Fy -> b", "a -> R", "b -> R", "R -> c -> m", "R -> d -> n"],
    )  # fmt: skip


@pytest.mark.parametrize("q", [0.4, np.pi / 2, np.pi / 2 + 1e-9, np.pi])
def test_a_rotation_keeps_its_digits(q):
    """Efforts out are R times efforts in, as R is orthogonal."""
    F = np.array([0.7, -1.3])
    R = np.array([[np.cos(q), -np.sin(q)], [np.sin(q), np.cos(q)]])
    found = rotated(q).rates([0.0, 0.0], F, q)
    np.testing.assert_allclose(found, R @ F, rtol=0, atol=1e-14 * 2)


def test_a_matrix_that_is_regular_where_its_first_entry_vanishes():
    g = es.BondGraph(
        "turned",
        {"Fx": "Se", "Fy": "Se", "a": "1", "b": "1", "c": "1", "d": "1", "m": "I: 2", "n": "I: 3",
         "M": {"kind": "MTF", "value": [["t", 1.0], [-1.0, "t"]]}},
        ["Fx -> a", "Fy -> b", "a -> M", "b -> M", "M -> c -> m", "M -> d -> n"],
    )  # fmt: skip
    M, F = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([2.0, 5.0])
    np.testing.assert_allclose(g.rates([0.0, 0.0], F, 0.0), np.linalg.solve(M.T, F), rtol=1e-14)


def test_the_matrix_of_a_two_port_is_from_its_bonds_in_to_its_bonds_out(tmp_path):
    """f_out = M f_in of a transformer, e_out = M f_in of a gyrator: in texts, files, S and equations."""
    M = [["a", 2.0, 0.0], [3.0, 4.0, 5.0]]
    numbers = np.array([[1.0, 2.0, 0.0], [3.0, 4.0, 5.0]])
    for kind, ends, out in (("TF", "C: 1", "f"), ("GY", "I: 1", "e")):
        written = es.BondGraph(
            "wide",
            {"a1": "Sf", "a2": "Sf", "a3": "Sf", "M": {"kind": kind, "value": M}, "b1": ends, "b2": ends},
            ["a1 -> M", "a2 -> M", "a3 -> M", "M -> b1", "M -> b2"], {"a": 1.0},
        )  # fmt: skip
        g = es.BondGraph.load(written.save(tmp_path / f"{kind}.toml"))
        assert g == written
        u, x = np.array([0.3, -0.2, 0.7]), np.array([0.5, 1.5])
        np.testing.assert_allclose(g.rates(x, u), numbers @ u)
        bonds = g.bond_variables(x, u)
        np.testing.assert_allclose([bonds[f"{out}{k}"] for k in (4, 5)], numbers @ u)
        back = [bonds[f"e{k}"] for k in (1, 2, 3)]
        np.testing.assert_allclose(back, numbers.T @ x)
        symbolic = g.junction_structure().symbolic("S13").tolist()
        assert [[str(x) for x in row] for row in symbolic] == [["a", "2", "0"], ["3", "4", "5"]]
        assert "a*f1 + 2*f2" in str(g.equations())


def test_parameters_are_looked_at_wherever_they_are_given():
    g = es.BondGraph(
        "two",
        {"F": "Se", "v": "1", "m": "I: m", "k": "C: c", "M": {"kind": "I", "value": [["a", "b"], ["b", 2.0]]}, "w": "1", "G": "GY: 1"},
        ["F -> v -> m", "v -> k", "v -> G -> w -> M", "v -> M"], {"m": 1.0, "c": 1.0, "a": 2.0, "b": 0.5},
    )  # fmt: skip
    x = np.full(g.order, 0.1)
    for name, number, match in (
        ("m", -0.2, "the inertia 'm' is -0.2"),
        ("m", [1.0, 0.0], "the inertia 'm' is 0"),
        ("c", 0.0, "the compliance 'k' is zero"),
        ("b", [[0.1], [3.0]], "'M' is not positive"),
    ):
        with pytest.raises(es.ModelError, match=match):
            g.rates(x, [1.0], parameters={name: number})
        with pytest.raises(es.ModelError, match=match.split(" is ")[0]):
            g.energy(x, [1.0], parameters={name: number})
    many = g.rates(x, [1.0], parameters={"m": [1.0, 2.0]})
    np.testing.assert_array_equal(many[1], g.rates(x, [1.0], parameters={"m": 2.0}))


@pytest.mark.parametrize(
    ("law", "q", "energy"),
    [
        ("1e4*(abs(q-0.5)+q-0.5)/2", 0.6, 50.0),
        ("tanh(1000*q)", 2.0, np.logaddexp(2000.0, -2000.0) / 1000 - np.log(2) / 1000),
        ("3*q + 2*q**3", 1.5, 1.5 * 1.5**2 + 0.5 * 1.5**4),
        ("sign(q - 1)", 3.0, 1.0),
    ],
)
def test_energies_of_any_law(law, q, energy):
    g = es.BondGraph(
        "spring", {"v": "1", "m": "I: 1", "k": {"kind": "C", "law": law}}, ["v -> m", "v -> k"]
    )
    np.testing.assert_allclose(g.energy([0.0, q]), energy, rtol=1e-10)
    many = g.energy([[0.3, q], [0.0, 0.0], [0.0, q / 3]])
    np.testing.assert_array_equal(many[0], g.energy([0.3, q]))
    np.testing.assert_array_equal(many[2], g.energy([0.0, q / 3]))


def test_a_graph_without_storages_has_efforts_and_flows():
    g = es.BondGraph(
        "divider", {"V": "Se", "j": "1", "R": "R: 3", "n": "0", "S": "R: 1", "y": "De"},
        ["V -> j -> R", "j -> n -> S", "n -> y"],
    )  # fmt: skip
    assert g.states == ()
    assert g.rates([], [8.0]).shape == (0,)
    np.testing.assert_allclose(g.output([], [8.0]), [2.0])
    np.testing.assert_allclose(g.output(np.zeros((2, 0)), [[8.0], [4.0]]), [[2.0], [1.0]])
    np.testing.assert_allclose(g.bond_variables([], [8.0])["f1"], 2.0)
    np.testing.assert_allclose(g.linearize([], [8.0]).D, [[0.25]])
    assert g.energy([], [8.0]) == 0.0
    with pytest.raises(es.ModelError, match="has no states"):
        g.simulate([], 1.0)


def test_an_empty_graph_ends_in_a_sentence():
    g = es.BondGraph("empty", {}, [])
    with pytest.raises(es.ModelError, match="empty has no bonds"):
        g.rates([])
