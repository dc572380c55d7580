"""Designs at their edges: friction at rest, steps in time, modes that nothing moves."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es


def test_gains_do_not_count_on_friction_that_is_gone_in_motion():
    m = es.load("double_pendulum")
    rough = m.with_joint("q1", coulomb=0.2)
    law, plain = (es.control.modal(x, [0.5, 0.3], 8.0) for x in (rough, m))
    np.testing.assert_allclose(law.data["Kd"], plain.data["Kd"], rtol=1e-9)
    run = rough.simulate([0.4, 0.3], None, 1.0, law, method="rk4", step=1e-3)
    assert np.abs(run.end[0] - [0.5, 0.3]).max() < 0.02


def test_a_system_in_discrete_time_is_one():
    import control

    system = es.load("cart_pole").linearize([0, 0]).sampled(0.01).to_control()
    K = control.dlqr(system.A, system.B, np.eye(4), 1.0)[0]
    np.testing.assert_allclose(es.control.lqr(system, 1.0, 1.0).K, K, rtol=1e-6)
    with pytest.raises(es.InputError, match="leave discrete out"):
        es.control.lqr(system, 1.0, 1.0, discrete=False)
    decaying = control.ss([[0.5]], [[1.0]], [[1.0]], 0, 0.1)
    assert es.control.controllability_gramian(decaying)[0, 0] == pytest.approx(4 / 3)
    with pytest.raises(es.InputError, match="does not decay"):
        es.control.observability_gramian(system)


def test_modes_that_no_input_reaches_are_named_however_round_off_falls():
    b = es.Builder("twins", gravity=(0, 0, -9.81)).actuate("x")
    b.body("cart", mass=1.0).joint("x", "prismatic", "ground", "cart", axis="x")
    for k in "12":
        b.body(f"p{k}", mass=0.2, com=(0, 0, -0.5), inertia=(0.01, 0.01, 0.01))
        b.joint(f"t{k}", "revolute", "cart", f"p{k}", axis="y")
    m = b.build()
    for g in (0.1, 0.3, 0.5, 0.7, 1.0):
        lm = m.with_gravity((0, 0, -9.81 * g)).linearize([0, 0, 0])
        with pytest.raises(es.SingularityError, match="no gains stabilize the mode"):
            es.control.lqr(lm, 1.0, 1.0)
        for step in (0.005, 0.01, 0.05, 0.1):
            with pytest.raises(es.SingularityError, match="no gains stabilize the mode"):
                es.control.lqr(lm.sampled(step), 1.0, 1.0)


def test_costs_that_go_below_zero_are_told():
    with pytest.raises(es.InputError, match="not positive semidefinite"):
        es.control.lqr(es.load("cart_pole").linearize([0, 0]), 1.0, 1.0, N=np.full((4, 1), 9.0))


def test_a_jordan_block_is_not_doubtful():
    found = es.control.observability(es.load("cart_pole").linearize([0, 0], outputs=["theta"]))
    assert not found.full
    assert not found.doubtful


def test_derivatives_at_a_singular_configuration_are_refused_and_contributions_add_up():
    with pytest.raises(es.SingularityError):
        es.load("parallelogram").forward_dynamics_derivatives([0.0, 0, 0], [0.0, 0, 0], [0.0])
    assert np.isnan(
        es.load("five_bar").forward_dynamics_derivatives(
            np.full(4, np.nan), np.zeros(4), np.zeros(2)
        )[0]
    ).all()
    m = es.load("rssr")  # a spatial loop, one motion of which nothing controls
    lm = m.linearize(m.assemble([0.3]))
    np.testing.assert_allclose(lm.contributions().W.sum(axis=-3), lm.W, atol=1e-11)
