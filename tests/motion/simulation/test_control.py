"""However forces are given, they are the same forces."""

from __future__ import annotations

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

import eslabon as es
from eslabon.motion.simulation import Table, simulate, traced
from motion.simulation.samples import pendulum, top

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
M = es.load("double_pendulum")
Q, V = np.array([0.4, -0.2]), np.array([0.0, 0.3])
KP, KD, GOAL = np.array([30.0, 12.0]), np.array([6.0, 2.0]), np.array([1.0, 0.5])


def law(t, q, v):
    return KP * (GOAL - q) - KD * v + np.sin(3 * t)


def states(motion):
    return np.concatenate([motion.q, motion.v], axis=-1)


def test_a_law_traced_is_the_law_called():
    t = np.linspace(0, 2, 201)
    want = simulate(M, Q, V, t, law, method="rk4", step=0.002)
    got = simulate(M, Q, V, t, traced(law), method="rk4", step=0.002)
    np.testing.assert_allclose(states(got), states(want), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(got.tau, want.tau, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(
        got.tau, [law(*row) for row in zip(t, got.q, got.v, strict=True)], rtol=1e-12
    )
    for method in ("DOP853", "Radau"):
        for control in (law, traced(law)):
            motion = simulate(M, Q, V, t, control, method=method, **TIGHT)
            np.testing.assert_allclose(states(motion), states(want), atol=1e-6)
            np.testing.assert_allclose(motion.tau, want.tau, atol=1e-5)


def test_the_exact_jacobian_saves_evaluations():
    stiff = traced(lambda t, q, v: 1e6 * (GOAL - q) - 1e3 * v)
    options = {"method": "Radau", "rtol": 1e-6, "atol": 1e-8}
    exact = simulate(M, Q, V, 0.2, stiff, **options)
    by_differences = simulate(M, Q, V, 0.2, stiff.law, **options)
    np.testing.assert_allclose(states(exact)[-1], states(by_differences)[-1], atol=1e-5)
    assert exact.statistics.evaluations < by_differences.statistics.evaluations


def test_forces_held_over_steps_are_those_of_a_digital_controller():
    digital = simulate(M, Q, V, 1.0, traced(law), method="rk4", step=0.02, hold=True)
    called = simulate(M, Q, V, 1.0, law, method="rk4", step=0.02, hold=True)
    np.testing.assert_allclose(states(digital), states(called), rtol=1e-12, atol=1e-12)
    table = Table(digital.t, digital.tau)
    replayed = simulate(M, Q, V, 1.0, table, method="rk4", step=0.02)
    np.testing.assert_allclose(states(replayed), states(digital), rtol=1e-12, atol=1e-12)
    finer = simulate(M, Q, V, digital.t, table, **TIGHT)
    np.testing.assert_allclose(states(finer), states(digital), atol=3e-5)
    held = simulate(M, Q, V, 1.0, traced(law), method="symplectic", step=0.02, hold=True)
    np.testing.assert_allclose(states(held), states(digital), atol=1e-2)


def knot_by_knot(table, knots):
    """The states at the knots of a table, by runs from each to the next, within which its forces are smooth."""
    made = [np.concatenate([Q, V])]
    for begin, end in pairwise(knots):
        q, v = np.split(made[-1], 2)
        run = simulate(
            M, q, v, [0.0, end - begin], lambda t, q, v, s=begin: table.at(s + t), **TIGHT
        )
        made.append(states(run)[-1])
    return np.array(made)


@pytest.mark.parametrize("kind", ["linear", "cubic"])
@pytest.mark.parametrize("method", ["DOP853", "rk4", "symplectic"])
def test_tables_are_functions_of_time(kind, method):
    times = np.linspace(0, 2, 41)
    values = np.stack([np.sin(2 * times), np.cos(3 * times)], axis=-1)
    table = Table(times, values, kind)
    options = TIGHT if method == "DOP853" else {"step": 0.001}
    motion = simulate(M, Q, V, times, table, method=method, **options)
    # The symplectic method is of order 2; adaptive steps that straddle a knot lose their order there.
    atol = {"symplectic": 1e-4, "DOP853": 1e-5, "rk4": 1e-8}[method]
    np.testing.assert_allclose(states(motion), knot_by_knot(table, times), rtol=0, atol=atol)
    np.testing.assert_allclose(motion.tau, values, atol=1e-12)


def test_a_table_that_jumps_is_integrated_from_jump_to_jump():
    m = pendulum()
    table = Table([0.0, 0.3, 0.7], [[5.0], [-8.0], [0.0]])
    motion = simulate(m, [0.1], [0.0], 2.0, table, **TIGHT)
    fine = simulate(m, [0.1], [0.0], np.linspace(0, 2, 2001), table, **TIGHT)
    # A constant torque does the work of its turning.
    total, q = fine.energy.total, fine.q[:, 0]
    np.testing.assert_allclose(total[:301] - total[0], 5.0 * (q[:301] - q[0]), atol=1e-8)
    np.testing.assert_allclose(total[300:701] - total[300], -8.0 * (q[300:701] - q[300]), atol=1e-8)
    np.testing.assert_allclose(total[700:], total[700], atol=1e-8)
    assert {0.3, 0.7} <= set(motion.t)
    assert (np.diff(motion.t) > 0).all()
    native = simulate(m, [0.1], [0.0], 2.0, table, method="rk4", step=1e-3)
    np.testing.assert_allclose(states(native), states(fine), atol=1e-9)


def test_constant_forces_and_none():
    push = simulate(M, Q, V, 1.0, [1.0, -0.5], method="rk4", step=0.01)
    again = simulate(M, Q, V, 1.0, traced(lambda t, q, v: [1.0, -0.5]), method="rk4", step=0.01)
    np.testing.assert_allclose(states(push), states(again), rtol=1e-12, atol=1e-12)
    assert (push.tau == [1.0, -0.5]).all()
    assert not simulate(M, Q, V, 1.0).tau.any()
    rest = simulate(M, np.zeros(2), None, 1.0, np.zeros(2))
    assert abs(rest.q).max() < 1e-12


def test_every_trajectory_may_have_its_own_forces(rng):
    times = np.linspace(0, 1, 11)
    values = rng.normal(size=(6, 11, 2))
    for kind in ("hold", "linear"):
        motion = simulate(M, Q, V, 1.0, Table(times, values, kind), method="rk4", step=0.01)
        assert motion.q.shape == (6, 101, 2)
        assert motion.tau.shape == (6, 101, 2)
        one = simulate(M, Q, V, 1.0, Table(times, values[4], kind), method="rk4", step=0.01)
        assert np.array_equal(motion[4].q, one.q)
        assert np.array_equal(motion[4].tau, one.tau)
    many = simulate(M, Q, V, times, Table(times, values), **TIGHT)
    coarse, fine = (
        simulate(M, Q, V, 1.0, Table(times, values), method="rk4", step=h).end[0]
        for h in (0.01, 0.005)
    )
    error = abs(coarse - fine).max()  # of the coarse one, but for a sixteenth
    assert error < 1e-4
    np.testing.assert_allclose(many.end[0], coarse, atol=1.5 * error)
    np.testing.assert_allclose(many.end[0], fine, atol=0.15 * error + 1e-9)


def test_laws_of_quaternions_and_of_casadi():
    m = top()
    # a damper and a spring towards the neutral orientation
    law = traced(lambda t, q, v: ca.if_else(q[0] > 0, -1, 1) * 8 * q[1:] - 2 * v)
    motion = simulate(
        m, [0.5, 0.5, -0.5, 0.5], np.zeros(3), 20.0, law, method="rk4", step=0.01, every=100
    )
    assert abs(motion.q[-1, 0]) == pytest.approx(1.0, abs=1e-6)


MISTAKES = [
    (lambda: simulate(M, Q, V, 1.0, [1.0]), r"control has shape \(1,\); double_pendulum has 2 actuators"),
    (lambda: simulate(M, Q, V, 1.0, "up"), "control holds text"),
    (lambda: simulate(M, Q, V, 1.0, lambda t, q, v: [1.0]), r"shape \(1,\) for q of shape \(2,\)"),
    (lambda: simulate(M, Q, V, 1.0, traced(lambda t, q, v: q[0])), "gives 1 forces; double_pendulum has 2"),
    (lambda: simulate(M, Q, V, 1.0, traced(lambda t, q, v: q if q[0] > 0 else v)), "cannot be traced"),
    (lambda: simulate(M, Q, V, 1.0, traced(lambda t, q, v: [float(q[0]), 0])), "cannot be traced"),
    (lambda: simulate(M, Q, V, 1.0, Table([0, 1], [[1], [2]])), "control has 1 forces"),
    (lambda: simulate(M, Q, V, 3.0, Table([0, 1], np.ones((2, 2)), "linear")), "ends at 1 s, the run at 3 s"),
    (lambda: simulate(M, Q, V, (0, 1), Table([0.5, 1], np.ones((2, 2)))), "starts at 0.5 s, the run at 0 s"),
    (lambda: simulate(M, Q, V, 1.0, law, method="symplectic", step=0.1), "a Python function cannot enter"),
    (lambda: simulate(M, Q, V, 1.0, law, hold=True), "chooses its own steps"),
    (lambda: Table([0, 1], np.ones((3, 2))), r"values of shape \(..., 2, actuators\)"),
    (lambda: Table([1, 1], np.ones((2, 2))), "must increase"),
    (lambda: Table([0, 1], np.ones((2, 2)), "cubik"), "did you mean 'cubic'"),
    (lambda: Table([0, 1], np.ones((2, 2)), "cubic"), "at least 4 samples"),
    (lambda: Table([0, 1], [[np.nan], [1]]), "not finite"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_mistakes_get_a_sentence(call, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        call()
