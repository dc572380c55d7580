"""Runs: batches, threads and chunks change nothing; events are found; what breaks or is stopped is not lost."""

from __future__ import annotations

import signal
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ellipk

import eslabon as es
from eslabon import progress
from eslabon.motion.simulation import (
    Interrupted,
    SimulationError,
    SimulationWarning,
    fixed_steps,
    simulate,
    traced,
)
from motion.simulation.samples import free_body, pendulum
from random_mechanisms import random_builder, random_coordinates
from randomness import seeded

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
M = es.load("double_pendulum")
Q, V = seeded("runs of a double pendulum").normal(size=(2, 20, 2)) / 2


# Many at once --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rk4", "symplectic"])
def test_a_batch_equals_its_single_runs_bit_for_bit(method, rng):
    options = {"method": method, "step": 0.01, "every": 7}
    m = random_builder(rng, ["revolute", "spherical", "prismatic"]).build()
    q, v = np.array([random_coordinates(rng, m) for _ in range(11)]), rng.normal(size=(11, m.nv))
    many = simulate(m, q, v, 1.0, **options)
    assert many.q.shape == (11, 16, m.nq)
    assert many.t[-1] == 1.0
    for k in (0, 7, 10):
        one = simulate(m, q[k], v[k], 1.0, **options)
        for what in ("q", "v", "a", "tau"):
            assert np.array_equal(getattr(many, what)[k], getattr(one, what)), what
        assert np.array_equal(many.energy.total[k], one.energy.total)
    several = simulate(m, q, v, 1.0, threads=3, **options)
    assert np.array_equal(many.q, several.q)
    assert np.array_equal(many.v, several.v)


def test_starts_wrenches_and_parameters_broadcast():
    masses, push = np.linspace(0.5, 1.5, 4), np.zeros((3, 1, 6))
    push[..., 4] = np.array([0.0, 1.0, 2.0])[:, None]
    last = M.bodies[-1].name
    options = {"external": {last: push}, "parameters": {"m2": masses}}
    motion = simulate(M, Q[0], None, 1.0, method="rk4", step=0.01, **options)
    assert motion.q.shape == (3, 4, 101, 2)
    one = simulate(
        M.with_parameters(m2=masses[3]),
        Q[0],
        None,
        1.0,
        method="rk4",
        step=0.01,
        external={last: push[2, 0]},
    )
    for what in ("q", "v", "a"):
        np.testing.assert_allclose(
            getattr(motion[2, 3], what), getattr(one, what), rtol=1e-10, atol=1e-10
        )
    np.testing.assert_allclose(motion[2, 3].energy.total, one.energy.total, rtol=1e-11)
    t = np.linspace(0, 1, 5)
    slow = simulate(M, Q[0], None, t, **options, **TIGHT)
    np.testing.assert_allclose(slow.q, motion.q[:, :, ::25], atol=1e-6)
    drift = simulate(M, Q[0], None, 1.0, method="symplectic", step=0.002, **options).end[0]
    np.testing.assert_allclose(drift, motion.end[0], atol=1e-4)


def test_how_a_run_is_cut_into_chunks_changes_nothing(monkeypatch):
    options = {"t": 1.0, "method": "rk4", "step": 1e-3, "every": 50}
    whole = simulate(M, Q, V, **options)
    monkeypatch.setattr(
        fixed_steps, "CHUNK", 1e-6
    )  # a few steps at a time: rows are finished in parts
    assert np.array_equal(simulate(M, Q, V, **options).q, whole.q)
    monkeypatch.setattr(fixed_steps, "CHUNK", 1e9)
    assert np.array_equal(simulate(M, Q, V, **options).q, whole.q)


# Times ---------------------------------------------------------------------------------------------------------------


def test_times_to_report():
    at = np.array([0.5, 0.6, 0.95, 1.0, 2.0])
    motion = simulate(M, Q[0], V[0], at, **TIGHT)
    np.testing.assert_array_equal(motion.t, at)
    steps = simulate(M, Q[0], V[0], at, method="rk4", step=0.002)
    np.testing.assert_array_equal(steps.t, at)
    np.testing.assert_allclose(steps.q, motion.q, atol=1e-8)
    span = simulate(
        M, Q[0], V[0], (0.5, 2.0), method="rk4", step=0.4, every=2
    )  # four steps of 0.375
    np.testing.assert_allclose(span.t, [0.5, 1.25, 2.0])
    odd = simulate(M, Q[0], V[0], 1.0, method="rk4", step=0.1, every=4)
    np.testing.assert_allclose(odd.t, [0, 0.4, 0.8, 1.0])
    onward = simulate(M, *motion.end, (2.0, 3.0), **TIGHT)
    direct = simulate(M, Q[0], V[0], (0.5, 3.0), **TIGHT)
    np.testing.assert_allclose(onward.end, direct.end, atol=1e-7)


def test_the_longest_step_of_an_adaptive_method():
    assert np.diff(simulate(M, [0.01, 0], None, 1.0, step=0.01).t).max() <= 0.0101


# Events --------------------------------------------------------------------------------------------------------------


def test_the_apex_of_a_throw():
    m = free_body(gravity=(0, 0, -9.81))

    def climbing(t, q, v):
        return m.velocity(q, v, "body", axes="aligned")[5]

    def landing(t, q, v):
        return q[2]

    landing.terminal, landing.direction = True, -1
    motion = simulate(
        m, m.neutral(), [3, 1, 0.5, 1, 0, 6.0], 10.0, events=[climbing, landing], **TIGHT
    )
    apex, end = motion.events["climbing"], motion.events["landing"]
    assert apex.t == pytest.approx([6.0 / 9.81], abs=1e-9)
    assert apex.q[0, 2] == pytest.approx(36 / (2 * 9.81), abs=1e-8)
    assert np.linalg.norm(apex.q[0, 3:]) == pytest.approx(1.0, abs=1e-15)
    assert end.t == pytest.approx([12.0 / 9.81], abs=1e-9)
    assert motion.t[-1] == pytest.approx(12.0 / 9.81, abs=1e-9)
    assert "1 climbing, 1 landing" in repr(motion)
    times = np.linspace(0, 10, 101)
    reported = simulate(m, m.neutral(), [3, 1, 0.5, 1, 0, 6.0], times, events=[landing], **TIGHT)
    np.testing.assert_array_equal(reported.t[:-1], times[:13])
    assert reported.q[-1, 2] == pytest.approx(0.0, abs=1e-9)


def test_a_pendulum_crosses_every_half_period():
    start = 1.0
    quarter = ellipk(np.sin(start / 2) ** 2) / np.sqrt(9.81)

    def left(t, q, v):
        return q[0]

    left.direction = 1
    motion = simulate(
        pendulum(),
        [start],
        [0.0],
        20 * quarter,
        events={"any": lambda t, q, v: q[0], "up": left},
        **TIGHT,
    )
    np.testing.assert_allclose(motion.events["any"].t, quarter * np.arange(1, 20, 2), atol=1e-8)
    np.testing.assert_allclose(motion.events["up"].t, quarter * np.arange(3, 20, 4), atol=1e-8)
    assert motion.events["up"].q.shape == (5, 1)


# Trouble -------------------------------------------------------------------------------------------------------------


def blow_up():
    """Negative damping that grows with speed: infinite after a finite time."""
    return traced(lambda t, q, v: 5 * v**3)


def test_a_trajectory_that_breaks_down_is_reported_and_disturbs_no_other():
    law, v = blow_up(), np.zeros((9, 1))
    v[4] = 3.0
    options = {"method": "rk4", "step": 1e-3}
    with pytest.warns(
        SimulationWarning,
        match="1 of 9 trajectories of pendulum broke down, the first of them, number 4",
    ):
        motion = simulate(pendulum(), [0.1], v, 2.0, law, **options)
    assert np.isnan(motion.v[4, -1]).all()
    assert np.array_equal(motion.q[0], simulate(pendulum(), [0.1], v[0], 2.0, law, **options).q)
    with pytest.raises(SimulationError, match=r"broke down after t = 0\.0") as caught:
        simulate(pendulum(), [0.1], [3.0], 2.0, law, **options)
    part = caught.value.motion
    assert 2 < len(part.t) < 100
    assert np.isfinite(part.q).all()
    assert np.isfinite(part.tau).all()
    with pytest.raises(SimulationError, match="all 2 trajectories"):
        simulate(pendulum(), [0.1], [[3.0], [4.0]], 2.0, law, **options)


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau", "BDF", "LSODA"])
def test_an_adaptive_method_that_gives_up_keeps_what_it_has(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's own, on the way to infinity
        with pytest.raises(
            SimulationError, match=r"cannot be integrated beyond t = 0\.0"
        ) as caught:
            simulate(pendulum(), [0.1], [3.0], 2.0, blow_up(), method=method)
    part = caught.value.motion
    assert 0 < part.t[-1] < 0.1
    assert np.isfinite(part.v).all()
    times = np.linspace(0, 2, 41)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        many = simulate(pendulum(), [0.1], [[0.0], [3.0]], times, blow_up(), method=method)
    assert any("1 of 2 trajectories" in str(w.message) for w in said)
    assert np.isfinite(many.q[0]).all()
    assert np.isnan(many.q[1, 1:]).all()
    assert many.q[1, 0] == 0.1


def test_a_start_without_accelerations():
    b = es.Builder("ghost")
    b.body("ghost", mass=0.0, com=(0, 0, 0), inertia=(0, 0, 0))
    b.joint("hinge", "revolute", "ground", "ghost")
    with pytest.raises(es.EslabonError, match="moves no mass"):
        simulate(b.build(), [0.0], [1.0], 1.0)
    with pytest.raises(SimulationError, match="a force on it is not finite"):
        simulate(M, Q[0], V[0], 1.0, lambda t, q, v: [np.nan, 0.0])


def test_a_step_too_long_for_the_symplectic_method():
    with pytest.warns(SimulationWarning, match="shorter step"):
        simulate(M, [2.0, 0.5], None, 10.0, method="symplectic", step=0.03)


# Stopping and waiting ------------------------------------------------------------------------------------------------


@pytest.fixture
def keyboard():
    """Python's own answer to Ctrl-C, which pytest's workers switch off."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread only")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_native_run_can_be_stopped_from_the_keyboard(keyboard):
    simulate(
        M, [0.5, 0.2], None, 1.0, method="rk4", step=1e-3
    )  # so that the signal does not come while it is compiled
    threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()
    with pytest.raises(Interrupted, match="stopped at t = ") as caught:
        simulate(
            M, [0.5, 0.2], None, 1e5, method="rk4", step=1e-3, every=1000
        )  # half a minute, if it is not stopped
    motion = caught.value.motion
    assert len(motion.t) > 2
    assert motion.t[-1] < 1e5
    assert abs(motion.energy.total - motion.energy.total[0]).max() < 1e-6
    assert not isinstance(caught.value, Exception)


def test_native_code_returns_to_the_keyboard_after_a_chunk_of_time(monkeypatch):
    """By a clock on which a step takes a millisecond: it is not so much later that Ctrl-C is answered."""
    taken, portion = [], fixed_steps.Run._portion

    def counted(*state):
        count, every = portion(*state)
        taken.append(count)
        return count, every

    monkeypatch.setattr(fixed_steps.Run, "_portion", counted)
    monkeypatch.setattr(
        fixed_steps, "time", SimpleNamespace(perf_counter=lambda: 1e-3 * sum(taken))
    )
    simulate(M, [0.5, 0.2], None, 1.0, method="rk4", step=1e-3)
    a_chunk = round(fixed_steps.CHUNK / 1e-3)
    assert sum(taken) == 1000
    assert taken[0] < a_chunk  # the first are a trial
    assert all(abs(count - a_chunk) <= 1 for count in taken[1:-1])
    assert taken[-1] <= a_chunk + 1


@pytest.mark.parametrize("method", ["DOP853", "rk4"])
def test_a_run_that_python_drives_can_be_stopped(method):
    def control(t, q, v):
        if t > 0.5:
            raise KeyboardInterrupt
        return np.zeros(2)

    step = {"step": 0.01} if method == "rk4" else {}
    with pytest.raises(Interrupted) as caught:
        simulate(M, Q[0], V[0], 1.0, control, method=method, **step)
    assert 0.2 < caught.value.motion.t[-1] <= 0.5
    if method == "rk4":
        assert not caught.value.motion.tau.any()


class Terminal:
    """What `rich` writes to, remembered."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.mark.parametrize(
    ("patience", "terminal", "shown"), [(0.0, True, True), (1e9, True, False), (0.0, False, False)]
)
def test_a_bar_appears_on_long_runs_on_a_terminal(monkeypatch, patience, terminal, shown):
    out = Terminal()
    out.isatty = lambda: terminal
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr("sys.stderr", out)
    simulate(M, Q[0], V[0], 1.0, method="rk4", step=1e-3)
    simulate(M, Q[0], V[0], 1.0)
    assert ("simulate double_pendulum" in out.text) is shown


# Bad input -----------------------------------------------------------------------------------------------------------

NAN = float("nan")
MISTAKES = [
    (lambda: simulate(M, [0.0], V[0], 1.0), "q0 has 1 value in its last axis; double_pendulum has 2 coordinates"),
    (lambda: simulate(M, Q[0], [[0.0] * 3], 1.0), "v0 has 3 values in its last axis; double_pendulum has 2 velocities"),
    (lambda: simulate(M, 0.0, V[0], 1.0), "q0 is a single number"),
    (lambda: simulate(M, ["a", "b"], V[0], 1.0), "q0 holds text"),
    (lambda: simulate(M, [0, NAN], V[0], 1.0), "q0 holds a number that is not finite"),
    (lambda: simulate(M, Q, V[:3], 1.0), "leading axes do not fit together"),
    (lambda: simulate(M, Q[0], V[0], -1.0), "t must increase; -1 follows 0"),
    (lambda: simulate(M, Q[0], V[0], [0, 2, 1]), "t must increase; 1 follows 2"),
    (lambda: simulate(M, Q[0], V[0], [[0, 1]]), "t is a duration, a start and an end, or times"),
    (lambda: simulate(M, Q[0], V[0], NAN), "t holds a number that is not finite"),
    (lambda: simulate(M, Q[0], V[0], 1.0, method="rk5"), "method is .*; it is 'rk5'; did you mean"),
    (lambda: simulate(M, Q[0], V[0], 1.0, method="rk4"), "rk4 needs a step"),
    (lambda: simulate(M, Q[0], V[0], 1.0, method="rk4", step=0), "step is a number greater than zero; it is 0"),
    (lambda: simulate(M, Q[0], V[0], 1.0, method="rk4", step=2.0), "step is 2 s, longer than the whole run of 1 s"),
    (lambda: simulate(M, Q[0], V[0], 1.0, method="rk4", step=0.1, every=0), "every is a whole number, at least 1"),
    (lambda: simulate(M, Q[0], V[0], [0, 1, 2], method="rk4", every=2), "t already says when to report"),
    (lambda: simulate(M, Q[0], V[0], 1.0, every=2), "DOP853 chooses its own steps"),
    (lambda: simulate(M, Q, V, 1.0), "say at which times to report all of them"),
    (lambda: simulate(M, Q, V, [0, 1, 2], events=lambda t, q, v: 1.0), "one trajectory at a time"),
    (lambda: simulate(M, Q[0], V[0], 1.0, events={"bang": 3}), "the event 'bang' is 3; a function of t, q and v"),
    (lambda: simulate(M, Q[0], V[0], 1.0, events=max, method="rk4", step=0.1), "events are looked for by adaptive"),
    (lambda: simulate(M, Q[0], V[0], 1.0, external={"tol": [0] * 6}), "no body, frame or open wrench 'tol'"),
    (lambda: simulate(M, Q[0], V[0], 1.0, external={M.bodies[0].name: [0] * 5}), r"has shape \(5,\); \(..., 6\)"),
    (lambda: simulate(M, Q[0], V[0], 1.0, parameters={"m3": 1.0}), "there is no parameter 'm3'"),
    (lambda: simulate(free_body(), np.zeros(7), None, 1.0), "quaternion has the length zero"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_mistakes_get_a_sentence(call, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        call()


def test_a_tiny_mechanism_is_simulated_as_exactly_as_a_large_one():
    """A slider-crank of nanometres without gravity turns as one of metres does: no length is absolute."""

    def turned(size):
        b = es.Builder(f"crank_{size:g}".replace("-", "m"), gravity=(0, 0, 0))
        b.body("crank", 1.0, (size / 2, 0, 0), (0, size**2 / 12, size**2 / 12))
        b.body("rod", 1.0, (size, 0, 0), (0, size**2 / 3, size**2 / 3))
        b.body("slider", 1.0, (0, 0, 0), (0, size**2 / 100, size**2 / 100))
        b.joint("turn", "revolute", "ground", "crank")
        b.joint("pin", "revolute", "crank", "rod", at=(size, 0, 0))
        b.joint("slide", "prismatic", "ground", "slider", axis="x")
        b.loop("end", "revolute", "rod", "slider", first=(2 * size, 0, 0))
        m = b.actuate("turn").build()
        q, v, _ = m.complete([0.5], [3.0], [0.0], guess=[0.5, -0.8, 2.8 * size])
        motion = m.simulate(q, v, 2.0)
        return motion["turn"].q[-1], motion["slide"].q[-1] / size

    assert np.allclose(turned(1e-9), turned(1.0), rtol=0, atol=1e-11)
