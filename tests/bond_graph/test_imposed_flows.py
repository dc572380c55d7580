"""Torques of imposed flows (Morales, 4.52 to 4.56): the rates of inputs are given."""

import numpy as np
import pytest

import eslabon as es

J = np.array([0.1, 0.2, 0.3])


def ring(**sources):
    """Euler's ring with a source on each axis."""
    elements = {"ring": es.BondGraph.load("euler_ring"), **sources}
    return es.BondGraph("ring", elements, [f"{name} -> ring.{name}" for name in "xyz"])


def test_torques_that_hold_imposed_angular_velocities(rng):
    """w x and w y imposed, a torque about z: hz' = (jx - jy) wx wy + tz, and the torques of (4.56), its sign put right."""
    g = ring(x="Sf", y="Sf", z="Se")
    assert g.states == ("ring_hz",)
    jx, jy, jz = J
    for _ in range(5):
        wx, wy, tz, ax, ay, hz = rng.normal(size=6)
        u, du, wz = [wx, wy, tz], [ax, ay, 0.0], hz / jz
        v = g.bond_variables([hz], u, input_rates=du)
        assert g.rates([hz], u) == pytest.approx([(jx - jy) * wx * wy + tz])
        assert v["e1"] == pytest.approx(jx * ax - (jy - jz) * wy * wz, rel=1e-12)
        assert v["e2"] == pytest.approx(jy * ay + (jx - jz) * wx * wz, rel=1e-12)


def test_all_flows_imposed(rng):
    """No state is left: torques are h' + w x h."""
    g = ring(x="Sf", y="Sf", z="Sf")
    w, a = rng.normal(size=(2, 4, 3))
    v = g.bond_variables(np.zeros((4, 0)), w, input_rates=a)
    torque = np.stack([v["e1"], v["e2"], v["e3"]], axis=-1)
    np.testing.assert_allclose(torque, J * a + np.cross(w, J * w), rtol=1e-12, atol=1e-14)


def test_they_are_those_of_a_source_that_is_a_function_of_the_time():
    timed = ring(x="Sf: sin(3*t)", y="Sf: t**2", z="Se: 0.2")
    given = ring(x="Sf", y="Sf", z="Se")
    for t in (0.0, 0.4, 1.1):
        u, du = [np.sin(3 * t), t**2, 0.2], [3 * np.cos(3 * t), 2 * t, 0.0]
        at = timed.bond_variables([0.05], t=t)
        found = given.bond_variables([0.05], u, input_rates=du)
        np.testing.assert_allclose(found.e, at.e, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.f, at.f, rtol=1e-12, atol=1e-14)


def test_power_of_the_sources_is_the_change_of_energy(rng):
    """Along a motion whose velocities are imposed: the integral of e f is what the body gains."""
    g = ring(x="Sf", y="Sf", z="Sf")
    t = np.linspace(0, 1, 2001)
    w = np.stack([np.sin(2 * t), t**2, np.cos(t)], axis=-1)
    a = np.stack([2 * np.cos(2 * t), 2 * t, -np.sin(t)], axis=-1)
    v = g.bond_variables(np.zeros((len(t), 0)), w, input_rates=a)
    from scipy.integrate import simpson

    gained = 0.5 * (J * w[-1] ** 2).sum() - 0.5 * (J * w[0] ** 2).sum()
    assert simpson(v.power[:, :3].sum(axis=-1), x=t) == pytest.approx(gained, rel=1e-10)


def test_a_rate_of_a_state_that_depends_on_rates_of_inputs():
    """A mass behind an imposed velocity and a lever: its momentum is that of the input, so that the force on the other is."""
    g = es.BondGraph(
        "cart",
        {
            "v": "Sf",
            "j": "1",
            "m": "I: 2",
            "lever": "TF: 3",
            "k": "1",
            "M": "I: 5",
            "y": "De",
            "e": "0",
        },
        ["v -> e -> j", "j -> m", "j -> lever -> k -> M", "e -> y"],
    )
    assert g.states == ()
    assert g.output([], [0.7], input_rates=[1.5]) == pytest.approx([(2 + 9 * 5) * 1.5])


def test_without_the_rates_the_message_asks_for_them():
    with pytest.raises(es.ModelError, match=r"sets ring_hx directly.*give input_rates"):
        ring(x="Sf", y="Sf", z="Se").bond_variables([0.1], [1.0, 0.0, 0.0])
    with pytest.raises(es.EslabonError, match="input_rates has 1 value in its last axis"):
        ring(x="Sf", y="Sf", z="Se").bond_variables([0.1], [1.0, 0, 0], input_rates=[1.0])


def test_rates_of_inputs_that_change_nothing_change_nothing():
    g = es.BondGraph.load("morales_puma")
    x, u = [0.1, 0.2, 0.3, 0.4], [1.0, 2.0]
    np.testing.assert_array_equal(g.rates(x, u, input_rates=[3.0, -4.0]), g.rates(x, u))
    values = g.rates(x, u, parameters={"R1": 0.5}, input_rates=[3.0, -4.0])
    np.testing.assert_array_equal(values, g.rates(x, u, parameters={"R1": 0.5}))
