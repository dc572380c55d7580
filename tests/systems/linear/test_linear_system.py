"""Linear systems, whoever made them: what is accepted, poles, samples, and what other packages make of them."""

from __future__ import annotations

import control
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import eslabon as es
from eslabon.systems.linear.linear_system import LinearSystem, slowest_pole, sort_poles
from randomness import seeded

DESIGNS = {
    "controllability": lambda s: es.control.controllability(s).rank,
    "observability": lambda s: es.control.observability(s).rank,
    "lqr": lambda s: es.control.lqr(s, 1.0, 1.0).K,
    "place": lambda s: es.control.place(s, [-0.1, -0.2, -0.3]).K,
    "kalman": lambda s: es.control.kalman(s, 1.0, 1.0, period=None).gains,
    "luenberger": lambda s: es.control.luenberger(s, [-0.1, -0.2, -0.3]).gains,
}


def matrices(name):
    rng = seeded("linear systems", name)
    return (
        0.4 * rng.normal(size=(3, 3)),
        rng.normal(size=(3, 2)),
        rng.normal(size=(1, 3)),
        np.zeros((1, 2)),
    )


@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_takes_every_kind_of_system(design):
    A, B, C, D = matrices("kinds")
    ours = LinearSystem.from_any((A, B, C, D))
    given = [ours, (A, B, C), (A, B, C, D), control.ss(A, B, C, D)]
    if design in ("controllability", "lqr", "place"):
        given.append((A, B))
    if design == "observability":
        given.append((A, C))
    answers = [DESIGNS[design](system) for system in given]
    for found in answers[1:]:
        np.testing.assert_array_equal(found, answers[0])


@pytest.mark.parametrize("design", DESIGNS)
def test_a_period_that_is_not_named_is_refused_by_every_design(design):
    with pytest.raises(es.InputError, match="dt=True does not say how long"):
        DESIGNS[design](control.ss(*matrices("kinds"), True))


@pytest.mark.parametrize("design", DESIGNS)
def test_many_systems_are_refused_by_every_design(design):
    lm = es.load("cart_pole").linearize(np.zeros((3, 2)), outputs=["x"])
    with pytest.raises(es.InputError, match=r"such as lm\[0\]"):
        DESIGNS[design](lm)


def test_samples_are_the_system_under_held_inputs():
    A, B, C, D = matrices("samples")
    system, x, u = (
        LinearSystem.from_any((A, B, C, D)),
        np.array([1.0, -2.0, 0.5]),
        np.array([0.3, -1.0]),
    )
    sampled = system.sampled(0.7)
    run = solve_ivp(lambda t, x: A @ x + B @ u, (0, 0.7), x, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(sampled.A @ x + sampled.B @ u, run.y[:, -1], rtol=1e-10)
    np.testing.assert_allclose(
        sampled.A, control.sample_system(control.ss(A, B, C, D), 0.7, "zoh").A, rtol=1e-12
    )
    np.testing.assert_allclose(
        np.sort(abs(sampled.poles)), np.sort(abs(np.exp(0.7 * system.poles)))
    )
    with pytest.raises(es.InputError, match="discrete time already"):
        sampled.sampled(0.1)


def test_samples_of_many_models_are_those_of_each():
    lm = es.load("double_pendulum").linearize([[0.1, 0.2], [1.0, -0.4]])
    many = lm.sampled(0.01)
    for k in range(2):
        one = lm[k].sampled(0.01)
        np.testing.assert_allclose(many[k].A, one.A, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(many[k].B, one.B, rtol=1e-13, atol=1e-15)


def test_the_slowest_pole_in_discrete_time_is_the_one_of_largest_modulus():
    assert slowest_pole([0.5, -0.9], period=1.0) == -0.9
    assert slowest_pole([0.5, -0.9]) == 0.5
    A, B = np.diag([0.5, -0.9]), np.array([[1e-6, 0.0], [0.0, 1e-6]])
    found = es.control.lqr((A, B), 1e-9, 1.0, discrete=True)
    assert "slowest pole at z = -0.9>" in repr(found)
    assert "slowest pole at s = " in repr(es.control.lqr((A, B), 1.0, 1.0))
    with pytest.raises(es.InputError, match=r"the pole at z = -1.5 does not decay"):
        es.control.controllability_gramian(control.ss(np.diag([0.5, -1.5]), B, np.eye(2), 0, 0.1))


def test_stability_in_both_times():
    A = np.diag([-0.5, -0.9])
    assert LinearSystem.from_any((A, np.eye(2)), "AB").stable is True
    assert LinearSystem.from_any((-A, np.eye(2)), "AB").stable is False
    assert LinearSystem.from_any(control.ss(-A, np.eye(2), np.eye(2), 0, 0.1)).stable is True
    assert LinearSystem.from_any(control.ss(2 * A, np.eye(2), np.eye(2), 0, 0.1)).stable is False


def test_poles_of_one_size_have_one_order_whatever_round_off_says():
    for noise in (0.0, 1e-15, -1e-15):
        found = sort_poles([2.0 * (1 + noise), -2.0, 1j, -1j])
        np.testing.assert_allclose(found, [-1j, 1j, -2.0, 2.0])
        np.testing.assert_allclose(sort_poles(1e-9 * found), 1e-9 * found)


def test_an_equilibrium_does_not_move_however_slowly():
    m = es.load("double_pendulum")
    assert m.linearize([0.0, 0.0]).equilibrium is True
    assert m.linearize([0.0, 0.0], [1e-9, 0.0]).equilibrium is False
    assert m.linearize([1e-6, 0.0], tau=[0.0, 0.0]).equilibrium is False
    both = m.linearize(np.zeros((2, 2)), [[0.0, 0.0], [0.0, 1e-12]]).equilibrium
    np.testing.assert_array_equal(both, [True, False])


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_an_equilibrium_is_one_in_any_unit_of_length(size):
    b = es.Builder("slide", gravity=(0, 0, -9.81 * size)).actuate("x")
    b.body("cart", mass=1.0).joint("x", "prismatic", "ground", "cart", axis="x")
    b.body("bob", mass=0.2, com=(0, 0, -0.5 * size), inertia=(0.01 * size**2,) * 3)
    b.joint("t", "revolute", "cart", "bob", axis="y")
    m = b.build()
    assert m.linearize([0.3 * size, 0.0]).equilibrium
    assert m.linearize([0.3 * size, np.pi]).equilibrium
    assert not m.linearize([0.0, 1e-6]).equilibrium
    assert not m.linearize([0.0, 0.0], tau=[1e-3 * size]).equilibrium


def test_linear_models_are_linear_systems():
    lm = es.load("cart_pole").linearize([0.0, 0.0], outputs=["x"])
    graph = es.BondGraph.load("morales_puma")
    for system in (lm, graph.linearize(np.zeros(4), np.zeros(2))):
        assert isinstance(system, LinearSystem)
        assert system.period is None
        assert "pole" in str(system)
        assert "es-" in system._repr_html_()
    closed = lm.closed_by(es.control.lqr(lm, 1.0, 0.1).K)
    assert closed.stable
    assert closed.states == lm.states
