"""Nonlinear programs: known optima, starts on record, sentences where there is none."""

import os
import signal
import threading

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.optimize.nonlinear_program import NonlinearProgram, sobol_starts


def hock_schittkowski_71():
    """Problem 71 of Hock and Schittkowski's collection, whose optimum is printed there: 17.0140173."""
    program = NonlinearProgram("problem 71", "point")
    x = program.variable("x", [1.0, 5.0, 5.0, 1.0], 1.0, 5.0)
    program.constrain("product", x[0] * x[1] * x[2] * x[3], 25.0, np.inf, scale=25.0)
    program.constrain("sphere", casadi.sumsqr(x), 40.0, 40.0, scale=40.0)
    program.minimize(x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2], scale=10.0)
    return program


@pytest.mark.parametrize("hessian", ["exact", "approximate"])
def test_a_published_optimum_is_found(hessian):
    found = hock_schittkowski_71().solve(hessian=hessian)
    assert found.value == pytest.approx(17.0140173, rel=1e-6)
    assert found.values["x"] == pytest.approx([1.0, 4.7429994, 3.8211503, 1.3794082], rel=1e-5)
    (start,) = found.starts
    assert start.words == "Solve Succeeded"
    assert start.violation < 1e-5
    assert start.iterations > 3


def test_gradients_are_those_of_differences():
    program = hock_schittkowski_71()
    values, derivatives = program.functions()
    x, h = program.begun({"x": [1.5, 4.0, 3.0, 2.0]}), 1e-6
    f_x, g_x = (np.asarray(d) for d in derivatives(x))
    for k, step in enumerate(np.eye(4) * h):
        (f1, g1), (f0, g0) = values(x + step), values(x - step)
        assert float(f1 - f0) / (2 * h) == pytest.approx(f_x[k, 0], rel=1e-6)
        assert np.asarray(g1 - g0)[:, 0] / (2 * h) == pytest.approx(g_x[:, k], rel=1e-6, abs=1e-9)


def test_variables_keep_their_shapes_and_units():
    program = NonlinearProgram("table")
    aim = np.array([[1e-3, 200.0, 3.0], [4e-3, 500.0, 6.0]])
    x = program.variable("x", np.zeros((2, 3)), 0.0, [1.0, 1000.0, 10.0])
    y = program.variable("y", 2.0)
    program.minimize(casadi.sumsqr((x - aim) / aim) + y**2)
    found = program.solve()
    assert found.values["x"] == pytest.approx(aim, rel=1e-6)
    assert found.values["y"] == pytest.approx(0.0, abs=1e-8)


def test_the_best_of_several_starts_is_kept_and_refused_ones_are_not():
    program = NonlinearProgram("two valleys")
    x = program.variable("x", 0.0, -2.0, 2.0)
    program.minimize((x**2 - 1) ** 2 + 0.1 * x)
    starts = [{"x": 1.5}, {"x": -1.5}, {"x": 1.2}]
    found = program.solve(starts)
    assert found.values["x"] < 0
    assert found.starts.best.number == 2
    other = program.solve(
        starts, verify=lambda values, value: "to the left" if values["x"] < 0 else None
    )
    assert other.values["x"] > 0
    assert other.starts.best.number in (1, 3)
    assert other.starts[1].refused == "to the left"
    assert "refused: to the left" in repr(other.starts)
    with pytest.raises(
        es.OptimizationError,
        match=r"claims an optimum from 3 of 3 starts, and none is confirmed.*no",
    ):
        program.solve(starts, verify=lambda values, value: "no")


def test_what_cannot_be_is_said():
    program = NonlinearProgram("design of rod", "design")
    x = program.variable("x", 0.5, 0.0, 1.0)
    program.constrain("length", 2 * x, 3.0, np.inf)
    program.minimize(x)
    with pytest.raises(
        es.OptimizationError,
        match=r"no feasible design from 2 starts; the nearest violates 'length' by 1 ",
    ):
        program.solve([{"x": 0.1}, {"x": 0.9}])
    loose = program.solve(strict=False)
    assert np.isnan(loose.value)
    assert not loose.starts[0].success
    with pytest.raises(es.InputError, match=r"has no variable 'y' \(known: x\)"):
        program.solve([{"y": 0.0}])
    with pytest.raises(es.InputError, match="at least 2 and at most 1: that is an empty range"):
        program.variable("z", 0.0, 2.0, 1.0)


def test_a_search_that_was_cut_short_says_so():
    program = NonlinearProgram("valley")
    x = program.variable("x", [-1.2, 1.0])
    program.minimize((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)
    with pytest.raises(
        es.OptimizationError, match=r"no optimum from 1 start \(Maximum Iterations.*more iterations"
    ):
        program.solve(iterations=3)


def test_starts_fill_their_bounds_and_repeat():
    points = sobol_starts([0, 10], [1, 30], 64, seed=3)
    assert points.shape == (64, 2)
    assert np.array_equal(points, sobol_starts([0, 10], [1, 30], 64, seed=3))
    counts, *_ = np.histogram2d(*points.T, bins=4, range=[(0, 1), (10, 30)])
    assert (counts == 4).all()  # a net: each of sixteen boxes has its share


@pytest.fixture
def keyboard():
    """Ctrl-C as on a terminal: what runs in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_passes(keyboard):
    program = NonlinearProgram("long")
    x = program.variable("x", np.full(5000, -1.5))
    program.minimize(casadi.sum1((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        program.solve([{}] * 20)
    timer.join()
    assert signal.getsignal(signal.SIGINT) is keyboard
