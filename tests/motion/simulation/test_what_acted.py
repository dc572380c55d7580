"""`motion.tau` is what acted; nothing that a user does to an array, during a run or after it, changes the run."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.motion.simulation import SimulationError, Table, simulate, traced

M = es.load("double_pendulum")
Q, V = np.array([0.4, -0.2]), np.array([0.0, 0.3])
METHODS = [
    ("DOP853", {}),
    ("LSODA", {}),
    ("rk4", {"step": 0.01}),
    ("rk4", {"step": 0.01, "hold": True}),
]


def law(t, q, v):
    return 12.0 * (0.5 - q) - 3.0 * v


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_a_law_that_uses_its_buffer_again_or_changes_later_shows_what_acted(method, options):
    buffer, gain = np.empty(2), [1.0]

    def reused(t, q, v):
        buffer[:] = gain[0] * law(t, q, v)
        return buffer

    want = simulate(M, Q, V, [0, 0.5, 1], law, method=method, **options)
    got = simulate(M, Q, V, [0, 0.5, 1], reused, method=method, **options)
    gain[0] = 7.0
    buffer[:] = np.nan
    np.testing.assert_array_equal(got.q, want.q)
    np.testing.assert_array_equal(got.tau, want.tau)
    np.testing.assert_allclose(
        got.tau, [law(*row) for row in zip(got.t, got.q, got.v, strict=True)], rtol=1e-12
    )


def test_a_traced_law_is_the_one_of_its_run():
    gain = [1.0]
    changing = traced(lambda t, q, v: gain[0] * law(t, q, v))
    first = simulate(M, Q, V, 1.0, changing, method="rk4", step=0.01)
    gain[0] = 2.0
    second = simulate(M, Q, V, 1.0, changing, method="rk4", step=0.01)
    np.testing.assert_allclose(first.tau[-1], law(1.0, first.q[-1], first.v[-1]), rtol=1e-12)
    np.testing.assert_allclose(second.tau[-1], 2 * law(1.0, second.q[-1], second.v[-1]), rtol=1e-12)


def test_a_law_with_a_memory_is_reported_as_it_spoke():
    spoken = {}

    def counting(t, q, v):
        spoken[t] = np.full(2, 0.01 * len(spoken))
        return spoken[t]

    motion = simulate(M, Q, V, 1.0, counting, method="rk4", step=0.1, hold=True)
    np.testing.assert_array_equal(motion.tau, [spoken[t] for t in motion.t])


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_who_writes_into_the_state_is_stopped_and_keeps_the_motion(method, options):
    def meddling(t, q, v):
        if t > 0.5:
            q[0] = 0.0
        return np.zeros(2)

    with pytest.raises(SimulationError, match="q and v are read-only, copy them") as caught:
        simulate(M, Q, V, 1.0, meddling, method=method, **options)
    assert isinstance(caught.value.__cause__, ValueError)
    assert 0 < caught.value.motion.t[-1] <= 0.6
    assert np.isfinite(caught.value.motion.a).all()


def test_a_law_or_an_event_that_raises_keeps_the_motion():
    def failing(t, q, v):
        return [1 / (t < 0.5), 0.0]

    for control, events in ((failing, None), (None, lambda t, q, v: failing(t, q, v)[0])):
        with pytest.raises(SimulationError, match="raised ZeroDivisionError") as caught:
            simulate(M, Q, V, 1.0, control, events=events)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert caught.value.motion.t[-1] > 0.1
        assert len(caught.value.motion.tau) == len(caught.value.motion.t)
    with pytest.raises(
        SimulationError, match=r"integrated to t = 0 s, where the control raised ZeroDivisionError"
    ):
        simulate(M, [Q, Q], V, [0, 0.5, 1], failing)


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_a_function_that_never_answers_leaves_an_empty_motion_or_its_start(method, options):
    for q in (Q, [Q, Q]):
        with pytest.raises(
            SimulationError, match="integrated to t = 0 s, where the control raised"
        ) as caught:
            simulate(M, q, V, [0, 0.5, 1], lambda t, q, v: 1 / 0, method=method, **options)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert len(caught.value.motion.tau.shape) == np.ndim(q) + 1


def test_a_law_may_return_its_state():
    kept = simulate(M, Q, V, 0.5, lambda t, q, v: q)
    np.testing.assert_array_equal(kept.tau, kept.q)


def test_arrays_given_may_change_after_the_call():
    times, values, push, q0 = np.linspace(0, 1, 5), np.ones((5, 2)), np.zeros(6), Q.copy()
    push[4] = 1.0
    table, last = Table(times, values), M.bodies[-1].name
    motion = simulate(M, q0, V, times, table, external={last: push})
    times[:], values[:], push[:], q0[:] = np.nan, 9.0, np.nan, np.nan
    assert (table.at(0.3) == 1.0).all()
    assert (motion.tau == 1.0).all()
    assert np.isfinite(motion.t).all()
    assert np.isfinite(motion.q).all()
    assert np.isfinite(motion.a).all()
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 3.0


def test_a_motion_cannot_be_written_to():
    motion = simulate(M, Q, V, 0.5)
    for array in (
        motion.t,
        motion.q,
        motion.v,
        motion.tau,
        motion.a,
        motion.closure,
        motion.energy.kinetic,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_what_a_function_is_shown_owns_nothing_of_the_run(method, options):
    """However it gets at the memory behind q and v, the run goes on as if it had not."""

    def meddling(t, q, v):
        want = law(t, q, v)
        for x in (q, v):
            assert x.base is None
            x.flags.writeable = True
            x[:] = np.nan
        return want

    want = simulate(M, Q, V, [0, 0.5, 1], law, method=method, **options)
    got = simulate(M, Q, V, [0, 0.5, 1], meddling, method=method, **options)
    np.testing.assert_array_equal(got.q, want.q)
    np.testing.assert_array_equal(got.tau, want.tau)
    if method != "rk4":
        seen = simulate(
            M, Q, V, [0, 0.5, 1], law, method=method, events=lambda t, q, v: meddling(t, q, v)[0]
        )
        np.testing.assert_array_equal(seen.q, want.q)
