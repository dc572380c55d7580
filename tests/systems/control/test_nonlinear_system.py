"""Mechanisms as python-control's nonlinear systems: its responses, operating points and linearizations against ours."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from small_mechanisms import SMALL

TIGHT = {"rtol": 1e-9, "atol": 1e-11}


@pytest.mark.parametrize("name", ["double_pendulum", "five_bar", "planar_3rrr"])
def test_responses_agree(name: str) -> None:
    import control

    m = es.load(name)
    system = m.to_control_nonlinear()
    own = list(m.actuated_coordinates)
    start = m.home()[own]
    q0 = m.assemble(start) if m.closed else m.home()
    size = 0.2 * float(np.diag(m.mass_matrix(q0)).max())
    t = np.linspace(0.0, 0.3, 61)
    u = size * np.array([np.sin(3 * t + k) for k in range(m.nu)])
    x0 = [*start, *np.zeros(m.nu)]
    found = control.input_output_response(system, t, u, x0, solve_ivp_kwargs=TIGHT)
    mine = m.simulate(q0, None, t, es.simulate.Table(t, u.T, "linear"))
    np.testing.assert_allclose(found.outputs.T, np.hstack([mine.q, mine.v]), atol=2e-5)
    assert system.output_labels == [
        *(str(c) for c in mine.columns["q"]),
        *(f"{c}'" for c in mine.columns["v"]),
    ]


def test_operating_points_are_equilibria() -> None:
    import control

    m = es.load("double_pendulum")
    system = m.to_control_nonlinear()
    found = control.find_operating_point(system, [0.2, 0.1, 0, 0], [0.0, 0.0])
    assert np.abs(m.forward_dynamics(found.states[:2], found.states[2:], found.inputs)).max() < 1e-7
    tau = m.gravity_forces([0.3, 0.2])
    held = control.find_operating_point(system, [0.25, 0.15, 0, 0], tau)
    np.testing.assert_allclose(held.states[:2], [0.3, 0.2], atol=1e-6)


def test_operating_points_of_loops_close_them() -> None:
    import control

    m = es.load("five_bar").with_gravity((0.0, -9.81, 0.0))
    q = m.assemble([2.0, 1.0])
    tau = m.inverse_dynamics(q, np.zeros(4), np.zeros(4))
    system = m.to_control_nonlinear(guess=q)
    found = control.find_operating_point(system, [2.02, 1.01, 0, 0], tau)
    np.testing.assert_allclose(found.states, [2.0, 1.0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found.outputs[:4], q, atol=1e-6)
    linear = control.linearize(system, found.states, tau)
    lm = m.linearize(q)
    np.testing.assert_allclose(linear.A, lm.A, rtol=1e-4, atol=1e-4 * np.abs(lm.A).max())
    np.testing.assert_allclose(linear.B, lm.B, rtol=1e-4, atol=1e-4 * np.abs(lm.B).max())
    assert system.state_labels == list(lm.states)
    assert system.input_labels == list(lm.inputs)


def test_quaternions_and_free_bodies() -> None:
    import control

    b = es.Builder("ball").body("rod", 1.0, (0.1, 0, 0), (0.1, 0.2, 0.3))
    m = b.joint("ball", "spherical", "ground", "rod").actuate("ball").build()
    system = m.to_control_nonlinear()
    assert system.nstates == 7
    t = np.linspace(0.0, 0.5, 6)
    found = control.input_output_response(
        system, t, 0.0, [1, 0, 0, 0, 0.5, 1.0, 0.2], solve_ivp_kwargs=TIGHT
    )
    mine = m.simulate(m.neutral(), [0.5, 1.0, 0.2], t)
    np.testing.assert_allclose(found.outputs.T, np.hstack([mine.q, mine.v]), atol=1e-6)


def test_what_has_no_motion_or_no_plain_coordinates_is_refused() -> None:
    for name in ("all_fixed", "locked_loop", "fixed_loop"):
        with pytest.raises(es.ModelError, match="nothing to simulate"):
            SMALL[name]().to_control_nonlinear()
    with pytest.raises(es.ModelError, match="has no loops, which a guess would close"):
        es.load("elbow").to_control_nonlinear(guess=[0.0, 0.0])
    b = es.Builder("fan").body("blade", 2.0, (0.5, 0, 0)).actuate()
    driven = b.joint("q", "revolute", "ground", "blade").drive("motor", "q", "0.1*t**3").build()
    with pytest.raises(es.ModelError, match=r"depend on the time|nothing to simulate"):
        driven.to_control_nonlinear()
