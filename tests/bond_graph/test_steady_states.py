"""Steady states through derivative causality: z = B* u against -A^-1 B u, forward, inverse, and as simulations end."""

import numpy as np
import pytest
from hypothesis import given

import eslabon as es
from bond_graph_strategies import built, graphs, with_general_values
from randomness import examples, seeds


@examples(30)
@given(graphs(), seeds)
def test_steady_states_of_random_linear_graphs(drawn, seed):
    """x = -A^-1 B u where the structural rank is full, and else a sentence that says there is none, or a family."""
    g = with_general_values(built(*drawn), seed)
    linear = g.linearize(np.zeros(g.order), np.zeros(len(g.inputs)))
    u = np.random.default_rng(seed).normal(size=(3, len(g.inputs)))
    if not g.structural_rank().full:
        with pytest.raises(es.SingularityError, match="family"):
            g.steady_state(u)
    else:
        check_steady_state(g, linear, u)


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
