"""Graphs of mechanisms: linearized, observed and term by term, against the mechanism's own equations."""

import numpy as np
import pytest

import eslabon as es
from random_mechanisms import random_coordinates, random_tree
from randomness import seeded

KINDS = (
    "revolute",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "free",
)


def same_model(found, expected):
    for name in "ABCD":
        a, b = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(
            a, b, rtol=1e-7, atol=1e-8 * max(1.0, np.abs(b).max(initial=0.0))
        )


@pytest.mark.parametrize("kind", KINDS)
def test_linearized_graphs_of_trees_in_motion(kind, rng):
    m = random_tree(seeded(len(kind)), [kind, "revolute"])
    g = m.bond_graph()
    x = g.state(random_coordinates(rng, m), 0.4 * rng.normal(size=m.nv))
    u = rng.normal(size=len(g.inputs))
    made = g.linearized_graph(x, u)
    assert made.states == g.states
    same_model(made.linearize(np.zeros(g.order), np.zeros(len(u))), g.linearize(x, u))


@pytest.mark.parametrize("name", ["elbow", "cart_pole", "puma560"])
def test_terms_of_the_mechanism(name, rng):
    """M and G are those of the mechanism, and B and C its Coriolis forces."""
    m = es.load(name)
    g, q, v = m.bond_graph(), rng.uniform(-1, 1, m.nq), rng.normal(size=m.nv)
    terms = g.motion_terms(q)
    np.testing.assert_allclose(terms.M, m.mass_matrix(q), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(terms.G, m.gravity_forces(q), rtol=1e-9, atol=1e-10)
    pairs = [[terms.velocities.index(n) for n in pair] for pair in terms.products]
    quadratic = (
        terms.C @ v**2 + terms.B @ np.array([v[j] * v[k] for j, k in pairs])
        if pairs
        else terms.C @ v**2
    )
    np.testing.assert_allclose(quadratic, m.coriolis_matrix(q, v) @ v, rtol=1e-8, atol=1e-9)


def test_loops_are_linearized_at_rest():
    """Where nothing moves; in motion what closes the loop turns, which no constant element does."""
    m = es.load("five_bar")
    g, q = m.bond_graph(), m.project(m.home())
    x, u = g.state(q), np.zeros(2)
    np.testing.assert_allclose(g.rates(x, u), 0, atol=1e-8)
    made = g.linearized_graph(x, u)
    same_model(made.linearize(np.zeros(g.order), np.zeros(2)), g.linearize(x, u))
    with pytest.raises(es.ModelError, match="where nothing moves"):
        g.linearized_graph(x, u + 1.0)
    for ask in (lambda: g.observer_graph([-1.0]), lambda: g.motion_terms(np.zeros(4))):
        with pytest.raises(es.ModelError, match="residual sinks"):
            ask()


def test_an_arm_is_observed_by_its_joint_velocities_and_angles(rng):
    """States that are flows themselves are corrected by efforts, as momenta are."""
    m = es.load("elbow")
    g = m.bond_graph()
    own = [s for s in g.causality().integral if s.element.kind == "rSf"]
    seen = g.with_detectors(**{f"y{k}": s.port.bond.signal_name("f") for k, s in enumerate(own)})
    x, u = g.state([0.4, 0.3]), np.zeros(2)
    observer = seen.observer_graph(gains=rng.normal(size=(4, 2)), x=x, u=u)
    found = observer.graph.linearize(observer.start(x, x), u)
    expected = np.concatenate([np.linalg.eigvals(g.linearize(x, u).A), observer.poles])
    np.testing.assert_allclose(np.poly(found.A), np.poly(expected).real, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(
        observer.port_gains[:2], m.mass_matrix([0.4, 0.3]) @ observer.gains[:2], rtol=1e-9
    )


def test_loops_through_sinks_have_no_gain():
    g = es.load("elbow").bond_graph()
    with pytest.raises(es.ModelError, match="residual sinks"):
        g.causal_loops()
    assert g.causal_paths("motion_theta1")  # but paths through the junction structure
