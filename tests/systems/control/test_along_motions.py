"""Laws from linear models: of mechanisms at rest, and along motions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import eslabon as es
from eslabon import paths
from eslabon.reproductions.rojas.path_program import splined_cycloid

C = es.control


def apart(found, asked) -> float:
    distance = np.abs(np.asarray(found)[:, None] - np.asarray(asked)[None, :])
    return float(distance[linear_sum_assignment(distance)].max())


def closed_loop(m, law, q, v, t: float = 0.0) -> np.ndarray:
    """A of the mechanism under a law, by central differences of its accelerations in independent coordinates."""
    lm = m.linearize(q, v, law(t, q, v))
    n, h = len(lm.coordinates), 1e-6
    K = np.zeros((m.nu, 2 * n))
    for k in range(2 * n):
        dq = lm.position_map[:, k] * h if k < n else np.zeros(m.nv)
        dv = lm.velocity_map[:, k] * h
        K[:, k] = (law(t, q + dq, v + dv) - law(t, q - dq, v - dv)) / (2 * h)
    return lm.A + lm.B @ K


# -- modal control --------------------------------------------------------------------------------------------------------

ORIENTATION = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])


def test_modal_control_along_the_straight_line_of_rojas() -> None:
    """Psi = sqrt(1/2), Omega = 1: all poles at -0.7071 +- 0.7071i along the whole move (Rojas, 5.6)."""
    m = es.load("rojas_t3")
    start, end = ([1.33125, y, 1.79875] for y in (0.0, 1.0))
    path = paths.along(paths.line(start, end), splined_cycloid(1.0), ORIENTATION)
    guess = np.radians([0.0, 90.0, -135.0, 45.0, 90.0, 90.0])
    joints = m.follow(path, guess, times=np.linspace(0.0, 1.0, 41))
    law = C.modal(m, joints, frequency=1.0, damping=np.sqrt(0.5), times=np.linspace(0.0, 1.0, 21))
    assigned = [complex(-np.sqrt(0.5), x * np.sqrt(0.5)) for x in (1, -1)] * 6
    lm = m.linearize(*(np.array([getattr(es.as_trajectory(m, joints).at(t), x) for t in law.data["t"]]) for x in "qv"),
        a=np.array([es.as_trajectory(m, joints).at(t).a for t in law.data["t"]]))  # fmt: skip
    for k in range(len(law.data["t"])):
        A = lm.A[k] - lm.B[k] @ np.hstack([law.data["Kp"][k], law.data["Kd"][k]])
        # each pole of the double pairs is known to a root of round-off, and their matrix exactly
        np.testing.assert_allclose(
            A[6:], np.hstack([-np.eye(6), -np.sqrt(2) * np.eye(6)]), atol=1e-9
        )
        assert apart(np.linalg.eigvals(A), assigned) < 1e-5
    q, v, _ = es.as_trajectory(m, joints).at(0.45)
    np.testing.assert_allclose(
        closed_loop(m, law, q, v, 0.45)[6:],
        np.hstack([-np.eye(6), -np.sqrt(2) * np.eye(6)]),
        atol=0.02,
    )


@pytest.mark.parametrize("name", ["planar_3rrr", "five_bar"])
def test_modal_control_of_closed_chains_decays_as_assigned(name: str) -> None:
    m = es.load(name)
    start = m.home()[list(m.actuated_coordinates)]
    path = paths.joint_path([start, start + 0.15], paths.quintic(0.8))
    w, zeta = 10.0 + np.arange(m.nu), 0.8
    law = C.modal(m, path, w, zeta)
    e0 = 1e-4 * np.cos(np.arange(m.nu))
    t = np.linspace(0.0, 0.8, 9)
    motion = m.simulate(m.assemble(start - e0), None, t, law, rtol=1e-10, atol=1e-13)
    exact = m.simulate(m.assemble(start), None, t, law, rtol=1e-10, atol=1e-13)
    moved = (exact.q - motion.q)[:, list(m.actuated_coordinates)]
    damped = w * np.sqrt(1 - zeta**2)
    s = t[:, None]
    predicted = (
        e0 * np.exp(-zeta * w * s) * (np.cos(damped * s) + zeta * w / damped * np.sin(damped * s))
    )
    np.testing.assert_allclose(moved, predicted, atol=2e-6)


def test_modal_control_about_a_configuration_has_constant_gains() -> None:
    m = es.load("double_pendulum")
    law = C.modal(m, [0.4, 0.3], frequency=[3.0, 5.0], damping=0.7)
    assert law.data["Kp"].shape == (1, 2, 2)
    A = closed_loop(m, law, np.array([0.4, 0.3]), np.zeros(2))
    poles = [w * complex(-0.7, x * np.sqrt(0.51)) for w in (3.0, 5.0) for x in (1, -1)]
    assert apart(np.linalg.eigvals(A), poles) < 1e-5


# -- state feedback -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cart_pole", "double_pendulum", "five_bar", "planar_3rrr"])
def test_poles_of_linearized_mechanisms_are_those_asked_for(name: str) -> None:
    m = es.load(name)
    q = m.assemble(m.home()[list(m.actuated_coordinates)]) if m.closed else m.home() + 0.0
    lm = m.linearize(q)
    assert C.controllability(lm).full
    poles = -np.linspace(2.0, 4.0, len(lm.states))
    law = C.state_feedback(m, lm, C.place(lm, poles))
    assert apart(np.linalg.eigvals(closed_loop(m, law, q, np.zeros(m.nv))), poles) < 1e-3


def test_a_closed_chain_is_balanced_by_lqr() -> None:
    m = es.load("five_bar").with_gravity((0.0, -9.81, 0.0))
    q = m.assemble([2.0, 1.0])
    lm = m.linearize(q)
    law = C.state_feedback(m, lm, C.lqr(lm, [10.0, 10.0, 0.1, 0.1], 100.0))
    end, v = m.simulate(m.assemble([2.1, 0.9]), None, 4.0, law).end
    np.testing.assert_allclose(end, q, atol=1e-4)
    np.testing.assert_allclose(v, 0.0, atol=1e-3)
    uncontrolled = m.simulate(m.assemble([2.1, 0.9]), None, 0.5, lm.tau, singular="ignore").end[0]
    assert np.abs(uncontrolled - q).max() > 0.2


def test_a_discrete_regulator_is_sampled() -> None:
    m = es.load("cart_pole")
    lm = m.linearize([0.0, 0.0])
    found = C.lqr(lm.sampled(0.02), 1.0, 0.1)
    law = es.simulate.sampled(C.state_feedback(m, lm, found), period=0.02)
    motion = m.simulate([0.1, 0.1], None, 15.0, law, method="rk4", step=5e-3, every=100)
    assert np.abs(motion.end[0]).max() < 1e-3


def test_orientations_are_fed_back_in_their_tangent_space() -> None:
    b = es.Builder("ball").body("rod", 1.0, (0.0, 0, 0.3), (0.1, 0.2, 0.15))
    m = b.joint("ball", "spherical", "ground", "rod").actuate("ball").build()
    from eslabon.model.configuration import difference, integrate

    q = integrate(m, m.neutral(), np.array([0.2, -0.4, 0.3]))
    lm = m.linearize(q)
    law = C.state_feedback(m, lm, C.lqr(lm, 10.0, 0.1))
    end = m.simulate(integrate(m, q, np.array([0.3, 0.2, -0.4])), None, 8.0, law).end[0]
    assert np.abs(difference(m, end, q)).max() < 1e-3


# -- regulators along motions -----------------------------------------------------------------------------------------------


def test_errors_along_a_motion_cost_what_riccati_says() -> None:
    """x^T S(0) x is the cost of a small error along the motion of the nonlinear mechanism."""
    m = es.load("five_bar")
    path = paths.joint_path([[2.0, 1.0], [2.4, 1.3]], paths.cycloidal(0.5))
    Q, R = np.array([100.0, 50.0, 1.0, 1.0]), 1e7
    law = C.tracking_lqr(m, path, Q, R, end=[10.0, 10.0, 1.0, 1.0], times=np.linspace(0, 0.5, 41))
    e0, t = np.array([1e-3, -5e-4]), np.linspace(0.0, 0.5, 501)
    motion = m.simulate(m.assemble(np.array([2.0, 1.0]) + e0), None, t, law, rtol=1e-10, atol=1e-13)
    own = list(m.actuated_coordinates)
    reference = es.as_trajectory(m, path).at(t)
    x = np.hstack([motion.q[:, own] - reference.q, motion.v[:, own] - reference.v])
    nominal = np.array(
        [
            law(s, q, v)
            for s, q, v in zip(t, *es.as_trajectory(m, path).completed_at(t)[:2], strict=True)
        ]
    )
    u = motion.tau - nominal
    from scipy.integrate import simpson

    spent = simpson((x**2 * Q).sum(axis=1) + R * (u**2).sum(axis=1), x=t)
    spent += float(x[-1] ** 2 @ [10.0, 10.0, 1.0, 1.0])
    x0 = np.array([*e0, 0.0, 0.0])
    assert spent == pytest.approx(x0 @ law.data["S"][0] @ x0, rel=0.02)


def test_an_underactuated_mechanism_follows_a_motion_it_can_make() -> None:
    m = es.load("cart_pole")
    t = np.linspace(0.0, 1.2, 121)
    free = m.simulate(
        [0.0, 0.1], None, t, es.simulate.Table(t, 2 * np.sin(4 * t)[:, None], "cubic")
    )
    law = C.tracking_lqr(m, free, [10.0, 10.0, 1.0, 1.0], 0.01)
    beside = np.array([0.05, 0.15])
    tracked = m.simulate(beside, None, t, law)
    unaware = m.simulate(beside, None, t, es.simulate.Table(t, 2 * np.sin(4 * t)[:, None], "cubic"))
    assert (
        np.abs(tracked.end[0] - free.end[0]).max()
        < 0.15 * np.abs(unaware.end[0] - free.end[0]).max()
    )


# -- what cannot be ---------------------------------------------------------------------------------------------------------


def test_linear_models_that_no_law_is_about() -> None:
    m = es.load("double_pendulum")
    moving = m.linearize([0.1, 0.2], [1.0, 0.0])
    with pytest.raises(es.ModelError, match="about no equilibrium"):
        C.state_feedback(m, moving, np.zeros((2, 4)))
    with pytest.raises(es.InputError, match=r"lm\[0\]"):
        C.state_feedback(m, m.linearize(np.zeros((3, 2))), np.zeros((2, 4)))
    with pytest.raises(es.InputError, match="take one of them"):
        C.place(m.linearize(np.zeros((3, 2))), [-1, -2, -3, -4])
    lm = m.linearize([0.1, 0.2])
    with pytest.raises(es.InputError, match=r"K has shape \(1, 4\)"):
        C.state_feedback(m, lm, np.zeros((1, 4)))
    with pytest.raises(es.InputError, match=r"what m\.linearize gives"):
        C.state_feedback(m, (lm.A, lm.B), np.zeros((2, 4)))
    with pytest.raises(es.InputError, match="not one of elbow"):
        C.state_feedback(es.load("elbow"), lm, np.zeros((2, 4)))


def test_uncontrollable_modes_of_a_mechanism_are_named() -> None:
    m = es.load("scara")
    m = m.with_actuated(m.actuated[:-1])
    last = m.joints[3].name
    lm = m.linearize(m.home())
    found = C.controllability(lm)
    assert not found.full
    with pytest.raises(
        es.SingularityError, match=rf"no feedback moves the mode at s = 0 \(of .*{last}'"
    ):
        C.place(lm, -np.arange(1.0, 9.0))


def test_motions_without_end_or_actuators() -> None:
    m = es.load("cart_pole")
    with pytest.raises(es.ModelError, match="modal control of cart_pole"):
        C.modal(m, [0.0, 0.0], 1.0)
    with pytest.raises(es.InputError, match="has no end; use lqr"):
        C.tracking_lqr(m, [0.0, 0.0], 1.0, 1.0)
    elbow = es.load("elbow")
    with pytest.raises(es.InputError, match="say by times"):
        C.modal(elbow, lambda t: [t, t], 1.0)
    with pytest.raises(es.InputError, match="times are two or more"):
        C.modal(elbow, lambda t: [t, t], 1.0, times=[0.0])
    assert C.modal(elbow, lambda t: [t, t], 1.0, times=[0.0, 0.5, 1.0]).data["Kp"].shape == (
        3,
        2,
        2,
    )
