"""Steady states through derivative causality: z = B* u against -A^-1 B u, forward, inverse, and as simulations end."""

import warnings

import numpy as np
import pytest
from hypothesis import given

import eslabon as es
from bond_graph_strategies import built, graphs, with_general_values
from randomness import examples, seeds


@examples(30)
@given(graphs(), seeds)
def test_steady_states_of_random_linear_graphs(drawn, seed):
    """x = -A^-1 B u where the structural rank is full; else the least x with A x + B u = 0, or none."""
    g = with_general_values(built(*drawn), seed)
    linear = g.linearize(np.zeros(g.order), np.zeros(len(g.inputs)))
    u = np.random.default_rng(seed).normal(size=(3, len(g.inputs)))
    if g.structural_rank().full:
        check_steady_state(g, linear, u)
    else:
        check_family(g, linear, u)


def check_family(g, linear, u):
    """The least x with A x + B u = 0 and its directions, or a refusal where there is none."""
    least = -u @ linear.B.T @ np.linalg.pinv(linear.A, rcond=1e-10).T
    possible = np.abs(least @ linear.A.T + u @ linear.B.T).max() < 1e-9 * (1 + np.abs(least).max())
    if possible:
        with pytest.warns(es.SingularityWarning, match="family"):
            rest = g.steady_state(u)
        still = np.abs(rest.x @ linear.A.T + u @ linear.B.T).max()
        assert still < 1e-6 * (1 + np.abs(rest.x).max())
        assert np.abs(rest.family @ linear.A.T).max() < 1e-6 * (1 + np.abs(linear.A).max())
    else:
        with pytest.raises(es.SingularityError, match="family"):
            g.steady_state(u)


def check_steady_state(g, linear, u):
    rest = g.steady_state(u)
    np.testing.assert_allclose(
        rest.x, -u @ linear.B.T @ np.linalg.inv(linear.A).T, rtol=1e-7, atol=1e-7
    )
    try:
        J, variables = g.junction_structure("derivative"), g.bond_variables(rest.x, u)
    except es.ModelError as error:
        assert "its rate is needed" in str(error)
        return
    if g.inputs:
        z, sources = (np.stack([variables[n] for n in J.key[key]], axis=-1) for key in ("zd", "u"))
        B = J.fields(rest.x, u)["B_star"]
        np.testing.assert_allclose(z, np.einsum("kij,kj->ki", B, sources), rtol=1e-6, atol=1e-6)


def test_an_effort_that_needs_the_rate_of_an_input():
    """A capacitor at a source draws what the source's rate gives; at rest nothing, and the others have their steady state."""
    elements = {"V": "Se", "j": "0", "a": "C: 2", "i": "1", "L": "I: 1", "R": "R: 1", "b": "C: 3"}
    g = es.BondGraph("parallel", elements, ["V -> j -> a", "j -> i -> L", "i -> R", "i -> b"])
    rest = g.steady_state([5.0])
    np.testing.assert_allclose([rest["q2"], rest["q6"]], [10.0, 15.0])
    with pytest.raises(es.ModelError, match="its rate is needed"):
        g.bond_variables(rest.x, [5.0])


@pytest.mark.parametrize("name", ["morales_puma", "morales_stanford_constant"])
def test_forward_inverse_and_simulation(name, rng):
    """Inputs hold positions, these inputs lead to the positions, and a simulation settles there."""
    g = es.BondGraph.load(name)
    positions = {
        s: x
        for s, x in zip(("q3", "q23", "q53"), rng.uniform(0.1, 0.4, 3), strict=True)
        if s in g.states
    }
    held = g.inverse_statics(positions, {"e30": -0.3} if "e30" in g.inputs else None)
    rest = g.steady_state(held.u)
    run = g.simulate(None, 400.0, held.u, method="rk4", step=1e-2, every=40_000)
    for s, x in positions.items():
        np.testing.assert_allclose(rest[s], x, atol=1e-9)
        np.testing.assert_allclose(run[s][-1], x, atol=1e-4)
    assert (g.linearize(rest.x, held.u).poles.real < 0).all()


@pytest.mark.parametrize("name", ["pendulum", "pendulum_tip_mass", "double_pendulum", "planar_arm"])
def test_graphs_of_arms_are_at_rest_somewhere(name):
    """From zero, where a singular start is no obstacle."""
    g = es.BondGraph.load(name)
    if g.open_ports():
        pytest.skip("a graph with ports is a part")
    u = np.zeros(len(g.inputs))
    rest = found_somewhere(g, u)
    np.testing.assert_allclose(g.rates(rest.x, u), 0.0, atol=1e-7)


def found_somewhere(g, u):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.SingularityWarning)
        return g.steady_state(u)


@pytest.mark.parametrize("name", ["elbow", "double_pendulum", "cart_pole"])
def test_mechanisms_are_at_rest_somewhere(name):
    m = es.load(name)
    g = m.bond_graph()
    u = np.zeros(len(g.inputs))
    rest = found_somewhere(g, u)
    q = g.coordinates(rest.x)
    np.testing.assert_allclose(g.velocities(rest.x), 0.0, atol=1e-9)
    np.testing.assert_allclose(m.gravity_forces(q), 0.0, atol=1e-6)


def test_inverse_statics_at_zero():
    """What holds an arm that is stretched out: the weights' moments."""
    m = es.load("elbow")
    g = m.bond_graph()
    held = g.inverse_statics({"q_theta1": 0.0, "q_theta2": 0.0})
    np.testing.assert_allclose(held.u, m.gravity_forces([0.0, 0.0]), atol=1e-9)


def test_a_cubic_spring_from_its_flattest_place():
    g = es.BondGraph(
        "cubic",
        {"F": "Se", "j": "1", "m": "I: 2", "k": {"kind": "C", "law": "q**3"}, "b": "R: 1"},
        ["F -> j -> m", "j -> k", "j -> b"],
    )
    np.testing.assert_allclose(g.steady_state([[8.0], [-27.0]])["q3"], [2.0, -3.0], rtol=1e-8)
    np.testing.assert_allclose(found_somewhere(g, [0.0])["q3"], 0.0, atol=1e-3)


def test_two_tanks_have_a_family_of_levels():
    """The levels agree; which one it is follows from the guess."""
    g = es.BondGraph(
        "tanks",
        {"a": "0", "A": "C: 2", "b": "0", "B": "C: 3", "pipe": "1", "R": "R: 5"},
        ["a -> A", "a -> pipe -> b -> B", "pipe -> R"],
    )
    with pytest.warns(es.SingularityWarning, match="family"):
        rest = g.steady_state(guess=[1.0, 0.5])
    np.testing.assert_allclose(rest.x[0] / 2, rest.x[1] / 3, rtol=1e-12)
    direction = rest.family[0] / np.linalg.norm(rest.family[0])
    np.testing.assert_allclose(np.abs(direction), np.array([2.0, 3.0]) / np.sqrt(13.0), rtol=1e-9)
    assert rest.family.shape == (1, 2)


def test_units_do_not_matter():
    """The same circuit in amperes and in nanoamperes has the same voltages at rest."""
    for unit in (1.0, 1e-9):
        g = es.BondGraph(
            "rc", {"V": "Se", "s": "1", "R": f"R: {3 / unit}", "n": "0", "C": f"C: {2 * unit}", "S": f"R: {1 / unit}"},
            ["V -> s -> R", "s -> n -> C", "n -> S"],
        )  # fmt: skip
        np.testing.assert_allclose(g.steady_state([8.0]).x / (2 * unit), [2.0], rtol=1e-9)


def test_what_falls_is_at_rest_nowhere():
    g = es.load("scara").bond_graph()
    with pytest.raises(es.SingularityError, match="has no steady state"):
        g.steady_state(np.zeros(len(g.inputs)))
