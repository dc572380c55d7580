"""Steps repeated until they have finished: one state, a batch and CasADi's evaluator take the same number of turns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import eslabon
from eslabon.compiler import native
from eslabon.compiler.calls import call, inlined, subroutine
from eslabon.compiler.function import Function, Signature, unshared
from eslabon.compiler.interpreted import Evaluator
from eslabon.compiler.operators import row_of
from eslabon.compiler.program import GraphError, read
from eslabon.compiler.until import until
from eslabon.export import c_source
from traced_graph import traced_graph

LIMIT = 40


def newton(x: Any, a: Any) -> tuple[Any, Any]:
    return (x + a / x) / 2, ca.fabs(x * x - a) < 1e-12 * a


def root(limit: int = LIMIT) -> Any:
    return traced_graph("root", [ca.SX.sym("a")], lambda a: until(newton, a, a, limit=limit))


def reference(a: float, limit: int = LIMIT) -> tuple[float, int]:
    x, count, finished = a, 0, False
    while not finished and count < limit:
        finished = abs(x * x - a) < 1e-12 * a
        x, count = (x + a / x) / 2, count + 1
    return x, count


def numbers(states: int) -> np.ndarray:
    """Arguments of very different numbers of turns, neighbours the most different."""
    spread = np.linspace(-14.0, 18.0, states)
    return 10 ** np.where(np.arange(states) % 2, spread, -spread)[:, None]


def same(one: Any, other: Any) -> None:
    for x, y in zip(one, other, strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


# Lanes ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled() -> Any:
    return native.compile(root(), cache=False)


@pytest.mark.parametrize("states", [*range(1, 20), 31, 64, 70])
def test_a_batch_equals_its_single_calls(compiled: Any, states: int) -> None:
    a = numbers(states)
    many = compiled(a)
    for k in range(states):
        same(compiled(a[k]), [x[k] for x in many])


def test_every_state_takes_its_own_number_of_turns(compiled: Any) -> None:
    a = numbers(70)
    x, flag, count = compiled(a)
    expected = [reference(number) for number in a[:, 0]]
    np.testing.assert_allclose(x[:, 0], [root for root, _ in expected], rtol=1e-15)
    assert len(set(count[:, 0])) > 15
    assert np.max(np.abs(count[:, 0] - [turns for _, turns in expected])) <= 1  # of round-off
    np.testing.assert_array_equal(flag, 1.0)


def test_neighbours_change_no_bit(compiled: Any, rng: np.random.Generator) -> None:
    a = numbers(33)
    many = compiled(a)
    order = rng.permutation(33)
    same(compiled(a[order]), [x[order] for x in many])
    alone = a[5] * np.ones((8, 1))
    alone[3] = np.nan
    same([x[:3] for x in compiled(alone)], [x[[5, 5, 5]] for x in many])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_no_bit(compiled: Any, threads: int) -> None:
    a = np.tile(numbers(70), (30, 1))
    same(compiled(a, threads=threads), [np.tile(x, (30, 1)) for x in compiled(a[:70], threads=1)])


def test_levels_change_no_bit(compiled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    a = numbers(21)
    monkeypatch.setenv("ESLABON_OPTIMIZATION", "0")
    slow = native.compile(root(), cache=False)
    same(slow(a), compiled(a))
    same(slow(a[2]), compiled(a[2]))
    monkeypatch.delenv("ESLABON_OPTIMIZATION")
    same(native.compile(root(), cache=False, quick=True)(a), compiled(a))


# The end of a loop ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 3])
def test_the_limit_ends_a_loop(limit: int) -> None:
    f, a = native.compile(root(limit), cache=False), numbers(9)
    x, flag, count = f(a)
    np.testing.assert_array_equal(count, limit)
    np.testing.assert_array_equal(flag, 0.0)
    np.testing.assert_allclose(x[:, 0], [reference(n, limit)[0] for n in a[:, 0]], rtol=1e-15)
    same(f(a[4]), [y[4] for y in (x, flag, count)])


def test_a_flag_that_is_no_number_does_not_end_a_loop() -> None:
    def step(x: Any) -> tuple[Any, Any]:
        return x + 1, ca.sqrt(x - 5) + 0.5  # NaN below 5

    graph = traced_graph("f", [ca.SX.sym("x")], lambda x: until(step, x, limit=9))
    f = native.compile(graph, cache=False)
    x, flag, count = f(np.array([[0.0], [3.0], [7.0], [-100.0], [np.nan]]))
    np.testing.assert_array_equal(x[:, 0], [6.0, 6.0, 8.0, -91.0, np.nan])
    np.testing.assert_array_equal(count[:, 0], [6.0, 3.0, 1.0, 9.0, 9.0])
    np.testing.assert_array_equal(flag[:, 0], [0.5, 0.5, np.sqrt(2) + 0.5, np.nan, np.nan])
    np.testing.assert_array_equal(np.ravel(f([3.0])), [6.0, 0.5, 3.0])
    np.testing.assert_array_equal(np.ravel(f([-100.0])), [-91.0, np.nan, 9.0])
    np.testing.assert_array_equal([float(y) for y in graph(-100.0)], [-91.0, np.nan, 9.0])


def test_negative_zero_is_kept() -> None:
    def step(x: Any) -> tuple[Any, Any]:
        return -x, x[1] > 0

    graph = traced_graph("f", [ca.SX.sym("x", 2)], lambda x: until(step, x, limit=5)[0])
    x = native.compile(graph, cache=False)(np.array([[0.0, 1.0], [0.0, -1.0], [-0.0, 1.0]]))
    np.testing.assert_array_equal(np.signbit(x[:, 0]), [True, False, False])


# Steps ---------------------------------------------------------------------------------------------------------------


def test_a_step_may_be_a_function_or_a_formula_and_takes_parameters_along() -> None:
    x, a, p = (ca.SX.sym(name) for name in "xap")
    function = ca.Function("newton", [x, a], list(newton(x, a)))
    half = subroutine("half", lambda y: y * p, 1)

    def step(x: Any) -> tuple[Any, Any]:
        return half(x + a / x), ca.fabs(x * x - a) < 1e-12 * a

    free = ca.Function("step", [x], list(step(x)), {"allow_free": True})
    graphs = [
        ca.Function("f", [a, p], until(function, a, a, limit=LIMIT)),
        ca.Function("f", [a, p], until(step, a, limit=LIMIT)),
        ca.Function("f", [a, p], until(free, a, limit=LIMIT)),
    ]
    numbers_in = numbers(11), np.array([0.5])
    first, *others = [native.compile(f, cache=False)(*numbers_in) for f in graphs]
    for found in others:
        for one, other in zip(first, found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-15)


def test_what_is_zero_by_structure_is_zero(rng: np.random.Generator) -> None:
    """Memory that a step never writes holds whatever was there before."""

    def step(x: Any) -> tuple[Any, Any]:
        following = ca.SX(3, 2)
        following[0, 1] = x[0, 1] / 2
        following[2, 0] = x[1, 1] + x[2, 0]
        return following, following[0, 1] < 1e-3

    graph = traced_graph(
        "f", [ca.SX.sym("x", 3, 2)], lambda x: (*until(step, 3 * x, limit=30), ca.sin(x))
    )
    f, x = native.compile(graph, cache=False), rng.uniform(1.0, 100.0, size=(13, 3, 2))
    final, flag, count, _ = f(x)
    expected = np.zeros_like(x)
    turns = np.ceil(np.log2(3 * x[:, 0, 1] / 1e-3)).astype(int)
    expected[:, 0, 1] = 3 * x[:, 0, 1] / 2.0**turns
    expected[:, 2, 0] = 3 * (x[:, 1, 1] + x[:, 2, 0])
    np.testing.assert_allclose(final, expected, rtol=1e-15)
    np.testing.assert_array_equal(count[:, 0], turns)
    same([y[4] for y in (final, flag, count)], f(x[4])[:3])

    def never(x: Any) -> tuple[Any, Any]:
        return x + 1, ca.SX(1, 1)

    graph = traced_graph("f", [ca.SX.sym("x")], lambda x: until(never, x, limit=7))
    np.testing.assert_array_equal(np.ravel(native.compile(graph, cache=False)([2.0])), [9, 0, 7])


def test_long_steps_are_cut_into_pieces(rng: np.random.Generator) -> None:
    n = 60

    def step(x: Any) -> tuple[Any, Any]:
        y = x
        for _ in range(8):
            y = 0.98 * ca.sin(y) + ca.vertcat(y[1:], y[0]) / 90
        return y, ca.dot(y, y) < 2.0

    graph = traced_graph("f", [ca.SX.sym("x", n)], lambda x: until(step, x, limit=200))
    f, x = native.compile(graph, cache=False), rng.normal(size=(17, n))
    many = f(x)
    assert len(set(many[2][:, 0])) > 1
    for k in range(17):
        same(f(x[k]), [y[k] for y in many])
    assert float(graph(x[3])[2]) == many[2][3, 0]


def test_a_step_that_cannot_follow_itself_is_refused() -> None:
    x = ca.SX.sym("x", 2)
    with pytest.raises(GraphError, match=r"grow cannot be repeated .*\(2, 1\)"):
        until(ca.Function("grow", [x], [ca.vertcat(x, 1), x[0]]), x, limit=3)
    with pytest.raises(GraphError, match="flag"):
        until(ca.Function("two", [x], [x, x]), x, limit=3)
    with pytest.raises(GraphError, match="limit"):
        until(ca.Function("step", [x], [x, x[0]]), x, limit=0)


# Loops in loops ------------------------------------------------------------------------------------------------------


def search(limit: int = 12) -> Any:
    """A root of cos(x) = c x by Newton's steps that may diverge, begun again elsewhere until one is found."""

    def descend(x: Any, c: Any) -> tuple[Any, Any]:
        error = ca.cos(x) - c * x
        return x + error / (ca.sin(x) + c), ca.fabs(error) < 1e-13

    def begin(state: Any, c: Any) -> tuple[Any, Any]:
        start, _, turns = ca.vertsplit(state)
        x, found, count = until(descend, start, c, limit=8)
        return ca.vertcat(start + 1.7, x, turns + count), found

    return traced_graph(
        "search", [ca.SX.sym("s"), ca.SX.sym("c")],
        lambda s, c: until(begin, ca.vertcat(s, 0, 0), c, limit=limit),
    )  # fmt: skip


def test_a_search_that_begins_again_is_one_call(rng: np.random.Generator) -> None:
    graph = search()
    f = native.compile(graph, cache=False)
    s, c = rng.uniform(-40, 40, size=(70, 1)), rng.uniform(0.05, 0.5, size=(70, 1))
    many = f(s, c)
    state, found, starts = many
    assert len(set(starts[:, 0])) > 3
    ended = found[:, 0] > 0
    assert np.count_nonzero(ended) > 30
    x = state[ended, 1]
    np.testing.assert_allclose(np.cos(x), c[ended, 0] * x, rtol=0, atol=1e-13)
    for k in range(70):
        same(f(s[k], c[k]), [y[k] for y in many])
    for k in np.flatnonzero(starts[:, 0] == 1)[:9]:  # what diverges is chaotic
        for one, other in zip(graph(s[k], c[k]), many, strict=True):
            np.testing.assert_allclose(np.array(one).ravel(), other[k], rtol=1e-12)


def test_a_search_takes_its_starts_from_an_input(rng: np.random.Generator) -> None:
    """The first row of a matrix from which Newton's method finds the equilibrium that is asked for."""

    def descend(q: Any, target: Any) -> tuple[Any, Any]:
        x, y = ca.vertsplit(q)
        error = target - ca.vertcat(ca.cos(x) + ca.cos(x + y), ca.sin(x) + ca.sin(x + y))
        a, b, c, d = (
            -ca.sin(x) - ca.sin(x + y),
            -ca.sin(x + y),
            ca.cos(x) + ca.cos(x + y),
            ca.cos(x + y),
        )
        step = ca.vertcat(d * error[0] - b * error[1], a * error[1] - c * error[0]) / (
            a * d - b * c
        )
        return q + step, ca.dot(error, error) < 1e-24

    def begin(state: Any, target: Any, starts: Any) -> tuple[Any, Any]:
        q, found, _ = until(descend, row_of(starts, state[0]), target, limit=10)
        return ca.vertcat(state[0] + 1, q), (found > 0) * (ca.sin(q[1]) > 0)  # the elbow's side

    symbols = [ca.SX.sym("target", 2), ca.SX.sym("starts", 40, 2)]
    graph = traced_graph(
        "search", symbols, lambda p, starts: until(begin, ca.vertcat(0, p), p, starts, limit=40)
    )
    f, starts = native.compile(graph, cache=False), rng.uniform(-3, 3, size=(40, 2))
    target = rng.uniform(-1.2, 1.2, size=(45, 2))
    many = f(target, starts)
    state, found, turns = many
    np.testing.assert_array_equal(found, 1.0)
    np.testing.assert_array_equal(state[:, 0], turns[:, 0])
    assert len(set(turns[:, 0])) > 4
    x, y = state[:, 1], state[:, 1] + state[:, 2]
    reached = np.stack([np.cos(x) + np.cos(y), np.sin(x) + np.sin(y)], axis=-1)
    np.testing.assert_allclose(reached, target, rtol=0, atol=1e-12)
    for k in range(45):
        same(f(target[k], starts), [v[k] for v in many])
    own = f(target[:9], np.stack([np.roll(starts, k, axis=0) for k in range(9)]))
    for k in range(9):
        same(f(target[k], np.roll(starts, k, axis=0)), [v[k] for v in own])


def test_a_loop_called_in_a_loop_and_outside_of_it(rng: np.random.Generator) -> None:
    """Which lanes have finished with the outer loop means nothing after it."""

    def outer(x: Any, a: Any) -> tuple[Any, Any]:
        y, _, _ = until(newton, x, a, limit=LIMIT)
        return x / 3, y > x / 50

    def formula(a: Any, b: Any) -> tuple[Any, ...]:
        first = until(newton, b, b, limit=LIMIT)
        x, _, count = until(outer, a, a, limit=20)
        return (*first, x, count, *until(newton, a + b, a + b, limit=LIMIT))

    graph = traced_graph("f", [ca.SX.sym("a"), ca.SX.sym("b")], formula)
    f = native.compile(graph, cache=False)
    a, b = 10 ** rng.uniform(-3, 9, size=(2, 37, 1))
    many = f(a, b)
    assert len(set(many[4][:, 0])) > 3
    for k in range(37):
        same(f(a[k], b[k]), [y[k] for y in many])
    alone = native.compile(root(), cache=False)
    same(many[:3], alone(b))
    same(many[5:], alone(a + b))


def test_a_lane_that_has_finished_does_not_prolong_the_loops_of_others() -> None:
    """Its inner loop would never end: with it, the block would take ten thousand million turns."""

    def inner(x: Any) -> tuple[Any, Any]:
        return x + 1, x < 1000

    def outer(x: Any) -> tuple[Any, Any]:
        return until(inner, x, limit=10_000_000)[0] + 0.5, x >= 999

    graph = traced_graph("f", [ca.SX.sym("x")], lambda x: until(outer, x, limit=1000))
    f = native.compile(graph, cache=False)
    x, _, count = f(np.array([[998.0], [0.5], [100.0], [999.5]] * 4), threads=1)
    np.testing.assert_array_equal(count[:4, 0], [2, 667, 601, 1])
    np.testing.assert_array_equal(x[:4], x[4:8])


def test_a_step_that_is_repeated_contains_a_loop() -> None:
    """`native.compile(..., states=1)`: the loop of a solver inside every step."""
    step = traced_graph(
        "step", [ca.SX.sym("x")], lambda x: 0.5 * x + until(newton, x, x, limit=LIMIT)[0]
    )
    run = native.compile(step, states=1, cache=False)
    x = numbers(11)
    found = run(x, steps=6)
    expected = x
    for k in range(6):
        expected = 0.5 * expected + np.sqrt(expected)
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-14)
    for k in range(11):
        same([run(x[k], steps=6)], [found[k]])


# Other ways ----------------------------------------------------------------------------------------------------------


def test_casadi_takes_the_same_turns(compiled: Any) -> None:
    a, graph = numbers(23), root()
    for k in range(23):
        for one, other in zip(graph(a[k]), compiled(a[k]), strict=True):
            np.testing.assert_allclose(np.array(one).ravel(), other, rtol=1e-15)


@pytest.mark.parametrize("make", [root, search])
def test_without_llvm_the_numbers_are_the_same(make: Any, rng: np.random.Generator) -> None:
    graph = make()
    signature = Signature.of(read(graph), None, None, "", "")
    slow, quick = (
        Function.of(signature, Evaluator(graph, signature)),
        native.compile(graph, cache=False),
    )
    given = 10 ** rng.uniform(-1, 3, size=(graph.n_in(), 9, 1))
    for one, other in zip(slow(*given), quick(*given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_the_inlined_graph_repeats_the_step(compiled: Any) -> None:
    graph = root()
    plain = inlined(graph)
    assert not plain.find_functions()
    assert plain.n_instructions() > 5 * LIMIT
    a = numbers(9)
    for k in range(9):
        for one, other in zip(plain(a[k]), compiled(a[k]), strict=True):
            np.testing.assert_allclose(np.array(one).ravel(), other, rtol=1e-15)


def test_the_plain_graph_is_made_for_nobody() -> None:
    """A thousand times a thousand turns: whoever made expressions of them would wait."""

    def inner(x: Any) -> tuple[Any, Any]:
        return x * 1.5, x > 100

    def outer(x: Any) -> tuple[Any, Any]:
        return until(inner, x, limit=100_000)[0] / 10, x > 1

    graph = traced_graph("f", [ca.SX.sym("x")], lambda x: until(outer, x, limit=100_000))
    f = native.compile(graph, cache=False)
    for one, other in zip(f([1e-8]), graph(1e-8), strict=True):
        np.testing.assert_allclose(one, np.array(other).ravel(), rtol=1e-12)
    signature = Signature.of(read(graph), None, None, "", "")
    slow = Function.of(signature, Evaluator(graph, signature))
    np.testing.assert_allclose(slow([1e-8])[0], f([1e-8])[0], rtol=1e-12)


def test_operations_are_those_of_as_many_turns_as_there_may_be() -> None:
    one = read(root(1)).operations
    assert one > 4
    assert read(root(30)).operations == 30 * one
    assert "up to 30" in repr(native.compile(root(30), cache=False)).replace(f"{30 * one}", "30")
    assert f" {one} operations" in repr(native.compile(root(1), cache=False))


def test_batches_are_shared_by_what_a_search_usually_takes() -> None:
    """A limit that is hardly ever reached is no reason to wake a thread, and one state is never shared."""
    program = read(root(1_000_000))
    assert program.expected_operations == 8 * read(root(1)).operations
    assert read(root(3)).expected_operations == 3 * read(root(1)).operations
    assert unshared(10**12) >= 1


def test_no_derivative_goes_through_a_loop() -> None:
    a = ca.SX.sym("a")
    x = until(newton, a, a, limit=4)[0]
    with pytest.raises(RuntimeError):
        ca.Function("slope", [a], [ca.jacobian(x, a)])(2.0)
    slope = ca.Function("slope", [a], [ca.jacobian(inlined(x), a)])
    np.testing.assert_allclose(float(slope(2.0)), 0.5 / np.sqrt(2.0), rtol=1e-4)


def test_loops_have_no_c_source() -> None:
    with pytest.raises(GraphError, match=r"root repeats a step until .* no C"):
        c_source.source(root())
    inside = ca.SX.sym("x")
    with pytest.raises(GraphError, match="no C"):
        c_source.source(ca.Function("f", [inside], [call(root(), inside)[0]]))


# Fingerprints and files ----------------------------------------------------------------------------------------------


def test_a_fingerprint_has_the_limit_and_the_step() -> None:
    def other(x: Any, a: Any) -> tuple[Any, Any]:
        return (x + a / x) / 2, ca.fabs(x * x - a) < 1e-11 * a

    changed = traced_graph("root", [ca.SX.sym("a")], lambda a: until(other, a, a, limit=LIMIT))
    assert read(root()).digest == read(root()).digest
    assert len({read(f).digest for f in (root(), root(LIMIT + 1), changed)}) == 3
    twice = traced_graph(
        "f",
        [ca.SX.sym("a")],
        lambda a: (*until(newton, a, a, limit=9), *until(newton, a, a, limit=9)),
    )
    assert len(read(twice).functions) == 1
    assert [i.name for i in read(twice).instructions].count("call") == 1


SECOND = """
import sys
from eslabon.compiler import native
from eslabon.compiler.llvm import cpython, machine
cpython.calls(), cpython.batches()  # the runtime that all functions share
machine.assemble = lambda *_: sys.exit("compiled again")
f = native.load("a root")
print(float(f([9.0])[0][0]), f([[4.0], [1e10]])[0].ravel().tolist(), "casadi" in sys.modules)
"""


def test_another_process_finds_the_code_on_disk() -> None:
    assert native.compile(root(), key="a root")([9.0])[0] == 3.0
    environment = {**os.environ, "PYTHONPATH": str(Path(eslabon.__file__).parents[1])}
    found = subprocess.run(
        [sys.executable, "-c", SECOND], env=environment, capture_output=True, text=True, timeout=600
    )
    assert found.stdout.split() == ["3.0", "[2.0,", "100000.0]", "False"], found.stderr
