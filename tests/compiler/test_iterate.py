"""A step repeated in native code is the step called again and again, for any batch, any cut, and in spite of NaN."""

from __future__ import annotations

import warnings
from typing import Any

import casadi as ca
import numpy as np
import pytest

from eslabon.compiler import GraphError, native
from eslabon.compiler.llvm import machine


def swing(h: float = 0.01) -> Any:
    """A driven, damped pair of pendulums: state, torque (varies), gains (stay)."""
    x, u, p = ca.SX.sym("x", 4), ca.SX.sym("u", 2), ca.SX.sym("p", 3)
    force = u - p[0] * ca.sin(x[:2]) - p[1] * x[2:] - p[2] * (x[0] - x[1]) * ca.vertcat(1, -1)
    v = x[2:] + h * force
    return ca.Function(
        "swing", [x, u, p], [ca.vertcat(x[:2] + h * v, v)], ["x", "u", "p"], ["next"]
    )


def by_hand(step: Any, x: np.ndarray, u: np.ndarray, p: np.ndarray, every: int) -> np.ndarray:
    """The same with `compile` and a Python loop."""
    f, rows = native.compile(step), []
    for k in range(u.shape[-2]):
        x = f(x, u[..., k, :], p)
        if (k + 1) % every == 0:
            rows.append(x)
    return np.stack(rows, axis=-2)


@pytest.fixture(scope="module")
def run() -> native.RepeatedStep:
    return native.compile(swing(), states=1, varying=1, cache=False)


P = np.array([3.0, 0.2, 1.5])


@pytest.mark.parametrize("batch", [(), (1,), (3,), (8,), (21,), (2, 9)])
@pytest.mark.parametrize("every", [1, 4])
def test_it_is_the_loop_over_calls_bit_for_bit(
    run, batch: tuple[int, ...], every: int, rng
) -> None:
    x, u = rng.normal(size=(*batch, 4)), rng.normal(size=(*batch, 12, 2))
    made = run(x, u, P, every=every)
    assert made.shape == (*batch, 12 // every, 4)
    assert np.array_equal(made, by_hand(swing(), x, u, P, every))


def test_a_batch_equals_its_single_runs_and_threads_change_nothing(run, rng) -> None:
    x, u, p = rng.normal(size=(37, 4)), rng.normal(size=(37, 50, 2)), rng.uniform(1, 2, (37, 3))
    made = run(x, u, p, every=5, threads=1)
    for k in (0, 8, 36):
        assert np.array_equal(made[k], run(x[k], u[k], p[k], every=5))
    for threads in (2, 3, 64):
        assert np.array_equal(made, run(x, u, p, every=5, threads=threads))


def test_everything_broadcasts(run, rng) -> None:
    x, u, p = rng.normal(size=(3, 1, 4)), rng.normal(size=(6, 2)), rng.uniform(1, 2, (5, 3))
    made = run(x, u, p)
    assert made.shape == (3, 5, 6, 4)
    assert np.array_equal(made[2, 4], run(x[2, 0], u, p[4]))
    assert np.array_equal(made, run(x, u, p, threads=4))
    backward = np.ascontiguousarray(u[::-1])[::-1]
    assert np.array_equal(made, run(np.asfortranarray(x), backward, p))


def test_a_lane_that_is_no_number_disturbs_no_other(run, rng) -> None:
    x, u = rng.normal(size=(16, 4)), np.zeros((30, 2))
    clean = run(x, u, P)
    x[5, 0], x[11, 3] = np.nan, np.inf
    made = run(x, u, P)
    good = [k for k in range(16) if k not in (5, 11)]
    assert np.array_equal(made[good], clean[good])
    assert np.isnan(made[5]).any()


def test_several_states_extra_outputs_and_no_input_that_varies(rng) -> None:
    a, b, p = ca.SX.sym("a"), ca.SX.sym("b", 2, 2), ca.SX.sym("p")
    step = ca.Function(
        "f", [a, b, p], [a + 1, b @ b / ca.norm_fro(b) * p, ca.trace(b), ca.SX(2, 1)]
    )
    run = native.compile(step, states=2, varying=0, cache=False)
    B = rng.normal(size=(7, 2, 2))
    counts, matrices, traces, zeros = run([0.0], B, [1.1], steps=6, every=2)
    assert np.array_equal(counts, np.broadcast_to(np.array([2.0, 4.0, 6.0])[:, None], (7, 3, 1)))
    f = native.compile(step)
    x = (np.zeros(1), B)
    for k in range(6):
        *x, trace, _ = f(*x, [1.1])
        if k % 2:
            assert np.array_equal(matrices[:, k // 2], x[1])
            assert np.array_equal(traces[:, k // 2], trace)
    assert not zeros.any()


def test_pieces_of_a_run_are_the_run(run, rng) -> None:
    x, u = rng.normal(size=(9, 4)), rng.normal(size=(40, 2))
    whole = run(x, u, P)
    out = np.empty((9, 40, 4))
    for first in range(0, 40, 10):
        run(
            x if first == 0 else out[:, first - 1],
            u[first : first + 10],
            P,
            out=out[:, first : first + 10],
        )
    assert np.array_equal(whole, out)
    assert run(x, u[:0], P).shape == (9, 0, 4)
    assert run(x[:0], u, P).shape == (0, 40, 4)


def test_a_long_graph_in_pieces_and_a_workspace_beyond_the_stack(rng) -> None:
    n = 1200
    x = ca.SX.sym("x", n)
    y = x
    for _ in range(4):
        y = ca.sin(y) + 0.5 * ca.vertcat(y[1:], y[:1])
    step = ca.Function("ring", [x], [y])
    made = native.compile(step, states=1, cache=False)(start := rng.normal(size=(3, n)), steps=3)
    f = native.compile(step)
    assert np.array_equal(made[:, 2], f(f(f(start))))


def test_it_is_found_again_without_the_graph(rng) -> None:
    made = native.compile(swing(), states=1, varying=1, key="a swing")
    again = native.load("a swing")
    x, u = rng.normal(size=(5, 4)), rng.normal(size=(8, 2))
    assert again is not None
    assert np.array_equal(made(x, u, P), again(x, u, P))
    assert repr(again) == repr(made)
    assert native.load("another") is None


def test_without_llvm_casadi_computes_the_same(run, monkeypatch: pytest.MonkeyPatch, rng) -> None:
    x, u = rng.normal(size=(2, 3, 4)), rng.normal(size=(3, 8, 2))
    quick = run(x, u, P, every=2)  # native code is loaded where it is first called
    monkeypatch.setattr(machine, "llvm", lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", native.NativeWarning)
        slow = native.compile(swing(), states=1, varying=1)
    np.testing.assert_allclose(slow(x, u, P, every=2), quick, rtol=1e-12, atol=1e-12)
    assert native.load("a swing") is None


MISTAKES = [
    (lambda run: run(np.ones(4), np.ones((3, 2))), "takes 3 arguments"),
    (
        lambda run: run(np.ones(3), np.ones((3, 2)), P),
        "x has 3 values in its last axis; 4 values are expected",
    ),
    (lambda run: run(np.ones(4), np.ones(2), P), r"u has shape \(2,\); \(..., steps, 2\)"),
    (
        lambda run: run(np.ones(4), np.ones((3, 2)), P, every=2),
        "3 steps cannot be reported every 2",
    ),
    (lambda run: run(np.ones(4), np.ones((3, 2)), P, every=0), "cannot be reported every 0"),
    (
        lambda run: run(np.ones(4), np.ones((3, 2)), P, steps=4),
        "the number of steps of swing is 3, 4",
    ),
    (lambda run: run(np.ones((2, 4)), np.ones((3, 3, 2)), P), "leading axes do not fit"),
    (lambda run: run(np.ones(4), np.ones((3, 2)), P, out=np.ones((2, 4))), "out for"),
    (lambda run: run(np.ones(4), np.ones((3, 2)), P, threads=0), "at least 1"),
    (lambda run: run(["a"] * 4, np.ones((3, 2)), P), "x holds text"),
]


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_mistakes_get_a_sentence(run, call, sentence: str) -> None:
    with pytest.raises(native.InputError, match=sentence):
        call(run)


def test_a_step_must_be_able_to_follow_itself() -> None:
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 0)
    with pytest.raises(GraphError, match="same shapes"):
        native.compile(ca.Function("f", [x], [x[0]]), states=1)
    with pytest.raises(GraphError, match="does not leave room for 2 states"):
        native.compile(ca.Function("f", [x], [x]), states=2)
    with pytest.raises(GraphError, match="without numbers"):
        native.compile(ca.Function("f", [x, u], [x]), states=1, varying=1)
