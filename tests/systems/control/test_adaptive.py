"""Adaptive control: the passive regressor by its definition, and Lyapunov's function along closed-loop motions."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.formulas.dynamics import passive_regressor
from eslabon.formulas.motion_state import MotionState
from eslabon.model.configuration import integrate
from eslabon.solve.constraints.passive_spins import spin_motions
from eslabon.systems.control.commanded_coordinates import whole_velocities, with_own_spins
from eslabon.systems.identification.parameters import inertial_parameters
from random_mechanisms import random_coordinates, random_tree
from randomness import seeded
from spinning_rods import rssr

C = es.control


def regressor(m):
    q, v, w, a = casadi.SX.sym("q", m.nq), *(casadi.SX.sym(name, m.nv) for name in "vwa")
    f = casadi.Function(
        "f", [q, v, w, a], [casadi.densify(passive_regressor(MotionState(m, q, v), w, a))]
    )
    return lambda *x: np.array(f(*x))


@pytest.mark.parametrize("seed", range(5))
def test_the_passive_regressor_is_linear_and_skew(seed: int) -> None:
    """For w = v it is the regressor; M a + C w + g is affine in w and a; s^T C s is half of s^T M' s."""
    rng = seeded(seed)
    m = random_tree(rng, None if seed else ["spherical", "universal", "planar", "free", "helical"])
    Y, pi = regressor(m), inertial_parameters(m)
    q, still = random_coordinates(rng, m), np.zeros(m.nv)
    v, w, a = rng.normal(size=(3, m.nv))
    np.testing.assert_allclose(Y(q, v, v, a), m.regressor(q, v, a), atol=1e-12)
    weight = Y(q, v, still, still) @ pi
    np.testing.assert_allclose(weight, m.gravity_forces(q), atol=1e-12)
    np.testing.assert_allclose(Y(q, v, still, a) @ pi - weight, m.mass_matrix(q) @ a, atol=1e-11)
    h = 1e-5
    M_rate = (m.mass_matrix(integrate(m, q, h * v)) - m.mass_matrix(integrate(m, q, -h * v))) / (
        2 * h
    )
    turned = Y(q, v, w, still) @ pi - weight
    assert w @ turned == pytest.approx(w @ M_rate @ w / 2, rel=1e-6, abs=1e-7)


def dependent(m, q: np.ndarray) -> np.ndarray:
    """N with v = N v_a, by numbers."""
    own = list(m.actuated_velocities)
    if not m.closed:
        return np.eye(m.nv)[:, own]
    others = [k for k in range(m.nv) if k not in own]
    J = m.constraint_jacobian(q)
    N = np.zeros((m.nv, len(own)))
    N[own] = np.eye(len(own))
    N[others] = -np.linalg.lstsq(J[:, others], J[:, own], rcond=None)[0]
    return N


def heavier(m, share: float):
    for k, b in enumerate(m.bodies):
        factor = 1 + share * (1 + k % 2)
        m = m.with_body(b.name, mass=b.mass * factor, inertia=tuple(factor * x for x in b.inertia))
    return m


CASES = {
    "double_pendulum": (lambda m: m.home(), 5.0, 8.0, 2.0),
    "planar_3rrr": (lambda m: m.assemble([0.55, 0.5, 0.6]), 8.0, 0.5, 0.05),
}


@pytest.mark.parametrize("name", CASES)
def test_lyapunovs_function_falls_and_the_error_goes_to_zero(name: str) -> None:
    """V = s^T M s / 2 + |p - p_true|^2 / (2 Gamma) falls by s^T Kd s with the inertias of another mechanism."""
    m = es.load(name)
    m = m.with_gravity((0.0, -9.81, 0.0)) if m.closed else m
    start, rate, Kd, gamma = CASES[name]
    q0, own = start(m), list(m.actuated_velocities)
    true = heavier(m, 0.4)
    goal = q0[list(m.actuated_coordinates)] + 0.1
    law = C.adaptive(m, goal, rate, Kd, gamma)
    t = np.linspace(0.0, 3.0, 601)
    motion = true.simulate(q0, None, t, law, rtol=1e-9)
    error = goal - motion.q[:, list(m.actuated_coordinates)]
    s = motion.v[:, own] - rate * error
    p_true = law.data["base"].regrouping @ inertial_parameters(true)
    V = np.array([
        x @ (dependent(m, q).T @ true.mass_matrix(q) @ dependent(m, q)) @ x / 2 + ((p - p_true) ** 2).sum() / (2 * gamma)
        for x, q, p in zip(s, motion.q, motion.x, strict=True)
    ])  # fmt: skip
    lost = Kd * (s**2).sum(axis=1)
    rates = np.gradient(V, t)[1:-1]
    np.testing.assert_allclose(rates, -lost[1:-1], atol=0.02 * lost.max())
    assert np.diff(V).max() < 1e-6 * V[0]
    assert np.abs(error[-1]).max() < 0.05 * np.abs(error[0]).max()
    longer = true.simulate(*motion.end, 12.0, C.adaptive(m, goal, rate, Kd, gamma))
    assert np.abs(goal - longer.end[0][list(m.actuated_coordinates)]).max() < 1e-3


def test_a_moving_reference_is_learnt() -> None:
    """The inertias are two and three times what the law thinks: it follows ever better."""
    m = es.load("five_bar").with_gravity((0.0, -9.81, 0.0))
    true, q0, own = heavier(m, 1.0), m.assemble([2.0, 1.0]), list(m.actuated_coordinates)
    wave = es.as_trajectory(
        m, lambda t: casadi.vertcat(2 + 0.1 * casadi.sin(3 * t), 1 + 0.1 * casadi.sin(5 * t))
    )
    law = C.adaptive(m, wave, 10.0, 2e-3, 1e-4)
    motion = true.simulate(q0, None, 40.0, law, method="rk4", step=1e-3, every=50)
    error = (
        np.abs(wave.at(motion.t).q - motion.q[:, own]).max(axis=1)[1:].reshape(8, -1).max(axis=1)
    )  # of five seconds each
    assert error[-1] < 0.05 * error[0]
    assert (np.diff(error) < 0).all()


def test_estimates_start_from_the_mechanism_and_stay_when_right() -> None:
    m = es.load("double_pendulum")
    law = C.adaptive(m, [0.3, 0.2], 5.0, 5.0)
    np.testing.assert_allclose(law.state, law.data["base"].values)
    assert len(law.data["base"].expressions) == law.state.shape[-1]
    tau, rates = law(0.0, [0.3, 0.2], [0.0, 0.0])
    np.testing.assert_allclose(tau, m.gravity_forces([0.3, 0.2]), atol=1e-9)
    np.testing.assert_allclose(rates, 0.0, atol=1e-12)


def test_a_digital_controller_adapts_in_steps() -> None:
    m = es.load("double_pendulum")
    law = C.adaptive(m, [0.3, 0.2], 5.0, 8.0, 2.0)
    steps = {"method": "rk4", "step": 1e-3, "every": 500}
    smooth = heavier(m, 0.4).simulate([0.0, 0.0], None, 3.0, law, **steps)
    digital = heavier(m, 0.4).simulate(
        [0.0, 0.0], None, 3.0, law.sampled(2e-3, delay=1e-3), **steps
    )
    np.testing.assert_allclose(digital.q, smooth.q, atol=0.01)
    np.testing.assert_allclose(
        digital.x[-1], smooth.x[-1], atol=0.1 * np.abs(smooth.x[-1] - law.state).max()
    )


def test_rods_that_spin_do_not_keep_an_adaptive_law_from_converging() -> None:
    """V falls by s^T Kd s, with s without momentum along the spin, whatever the rod spins by, and with
    the inertias of another mechanism."""
    m = rssr()
    true, own = heavier(m, 0.4), list(m.actuated_velocities)
    goal, rate, Kd, gamma = m.home()[list(m.actuated_coordinates)] + 0.3, 5.0, 3.0, 0.4
    law = C.adaptive(m, goal, rate, Kd, gamma)
    q, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    error = goal - q[list(m.actuated_coordinates)]
    w = with_own_spins(m, q, v, whole_velocities(m, q, rate * error))
    slip = casadi.Function("slip", [q, v], [casadi.densify(v - w)])
    spin = 3.0 * spin_motions(m, m.home())[:, 0]
    t = np.linspace(0.0, 3.0, 601)
    run = true.simulate(m.home(), spin, t, law, rtol=1e-9)
    s = np.array(slip.map(len(t))(run.q.T, run.v.T)).T
    M, p_true = true.mass_matrix(run.q), law.data["base"].regrouping @ inertial_parameters(true)
    V = np.einsum("ti,tij,tj->t", s, M, s) / 2 + ((run.x - p_true) ** 2).sum(axis=1) / (2 * gamma)
    lost = Kd * s[:, own[0]] ** 2
    np.testing.assert_allclose(np.gradient(V, t)[1:-1], -lost[1:-1], atol=0.02 * lost.max())
    assert np.diff(V).max() < 1e-6 * V[0]
    assert np.abs(run.v[:, [k for k in range(m.nv) if spin[k]]]).max() > 1  # it spins on
    longer = true.simulate(*run.end, 9.0, C.adaptive(m, goal, rate, Kd, gamma))
    assert np.abs(goal - longer.end[0][list(m.actuated_coordinates)]).max() < 1e-3
