"""Structural verdicts of mechanisms' graphs: ranks at states drawn at random, on the motions that the sinks leave."""

import numpy as np
import pytest

import eslabon as es
from random_mechanisms import random_tree
from randomness import seeded

# Degrees of freedom count twice: velocities and changes of coordinates.
MECHANISMS = {"elbow": 2, "cart_pole": 2, "five_bar": 2, "four_bar_spring": 1, "slider_crank": 1}


@pytest.mark.parametrize(("name", "dof"), MECHANISMS.items())
def test_the_order_is_twice_the_degrees_of_freedom(name, dof):
    m = es.load(name)
    assert m.dof == dof
    assert m.bond_graph().structural_rank().order == 2 * dof


@pytest.mark.parametrize("name", MECHANISMS)
def test_all_motors_control_a_mechanism(name):
    """And one of several does where gravity or dynamics couple the joints: the pole on its cart."""
    c = es.load(name).bond_graph().controllability()
    assert c.structural
    assert c.unconnected == ()


@pytest.mark.parametrize("name", ["elbow", "cart_pole"])
def test_ranks_at_a_state_are_those_of_the_mechanisms_linear_model(name, rng):
    m = es.load(name)
    g = m.bond_graph()
    q, v = rng.uniform(0.2, 1.0, m.nq), rng.normal(size=m.nv)
    found = g.controllability(g.state(q, v), np.zeros(m.nu)).kalman
    expected = es.control.controllability(m.linearize(q, v, np.zeros(m.nu)))
    assert (found.size, found.rank, found.full) == (expected.size, expected.rank, expected.full)
    poles = [np.sort_complex([mode.pole for mode in k.modes]) for k in (found, expected)]
    np.testing.assert_allclose(poles[0], poles[1], rtol=1e-6, atol=1e-7)


def test_a_mass_without_a_motor_is_not_reached():
    """Two carts beside one another, one of them with a motor and a detector: nothing joins them."""
    still = {"kind": "C", "law": "0*q"}
    g = es.BondGraph(
        "carts",
        {"F": "Se", "a": "1", "s": "rSf", "mass": {"kind": "I", "value": [[2]]}, "x": {**still, "state": "xa"},
         "b": "1", "r": "rSf", "other": {"kind": "I", "value": [[3]]}, "y": {**still, "state": "xb"}, "ya": "Df"},
        ["F -> a -> s", "a -> mass", "a -> x", "b -> r", "b -> other", "b -> y", "a -> ya"],
    )  # fmt: skip
    c, o = g.controllability(), g.observability()
    assert (c.order, c.rank, c.structural) == (4, 2, False)
    assert c.unconnected == ("f5", "xb")
    assert (o.rank, o.structural) == (1, False)  # the velocity of one cart, and not where it is
    assert o.unconnected == ("f5", "xa", "xb")
    assert g.structural_rank().rank == 2


@pytest.mark.parametrize("kind", ["spherical", "free", "universal"])
def test_a_quaternion_counts_as_the_motions_it_has(kind):
    """Four numbers, three directions to turn."""
    m = random_tree(seeded(len(kind)), [kind, "revolute"])
    found = m.bond_graph().controllability()
    assert (found.order, found.structural) == (2 * m.nv, True)


def test_a_detector_shows_a_closed_mechanism():
    m = es.load("four_bar_spring")
    g = m.bond_graph()
    seen = g.with_detectors(y=next(n for n in g.signals if n.startswith("f_") and "motion" in n))
    o = seen.observability()
    assert (o.order, o.structural) == (2 * m.dof, True)


def test_a_drive_adds_its_own_states():
    motor = es.BondGraph.load("dc_motor")
    g = es.load("elbow").bond_graph(drives={"theta1": motor, "theta2": motor})
    c = g.controllability()
    assert (c.order, c.structural) == (g.order, True)


def test_the_verdict_does_not_depend_on_what_was_asked_before():
    first, again = (es.load("five_bar").bond_graph() for _ in range(2))
    again.controllability(again._drawn_state(np.random.default_rng(5), again.order))
    assert repr(first.controllability()) == repr(again.controllability())
