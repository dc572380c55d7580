"""Native code computes what CasADi computes, for any arrays NumPy would broadcast."""

from __future__ import annotations

import gc
import inspect
import multiprocessing
import os
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eslabon.compiler import GraphError, native
from eslabon.compiler.llvm import emit, machine
from pendulum_chain import pendulum_chain as chain
from randomness import examples, seeded


def casadi_values(f: Any, *inputs: np.ndarray) -> np.ndarray:
    """CasADi's own evaluation of a function with one output, state by state."""
    rows = zip(*inputs, strict=True)
    return np.array([np.asarray(f(*row)) for row in rows])


# Operations ---------------------------------------------------------------------------------------------------------

UNARY = """sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log log1p expm1 sqrt fabs sign floor ceil erf
    logic_not"""
BINARY = "atan2 fmin fmax fmod remainder copysign hypot logic_and logic_or if_else_zero constpow"
INFIX = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "neg": lambda x, y: -x,
    "sq": lambda x, y: x**2,
    "twice": lambda x, y: 2 * x,
    "inv": lambda x, y: 1 / x,
    "seventh power": lambda x, y: x**7,
    "large power": lambda x, y: x**150,
    "fractional power": lambda x, y: x**2.5,
}


def every_operation(x: Any, y: Any) -> dict[str, Any]:
    one = {name: getattr(ca, name)(x) for name in UNARY.split()}
    two = {name: getattr(ca, name)(x, y) for name in BINARY.split() if hasattr(ca, name)}
    return one | two | {name: make(x, y) for name, make in INFIX.items()}


OPERATIONS = list(every_operation(ca.SX.sym("x"), ca.SX.sym("y")))


def test_every_operation_agrees_with_casadi(rng) -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.Function("f", [x, y], [ca.vertcat(*every_operation(x, y).values())])
    numbers = np.concatenate(
        [rng.normal(size=60) * 3, rng.uniform(-1, 1, 60), [0.0, -0.0, 1.0, -1.0, 2.0]]
    )
    a, b = (g.ravel() for g in np.meshgrid(numbers, numbers[::7]))
    want = casadi_values(f, a, b)[..., 0]
    got = native.compile(f)(a[:, None], b[:, None])
    for k, name in enumerate(OPERATIONS):
        np.testing.assert_allclose(got[:, k], want[:, k], rtol=1e-15, atol=0, err_msg=name)


def test_nan_and_infinity_pass_as_in_casadi() -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.Function("f", [x, y], [ca.vertcat(*every_operation(x, y).values())])
    numbers = np.array([np.nan, np.inf, -np.inf, 0.0, 1.5, -2.0])
    a, b = (g.ravel() for g in np.meshgrid(numbers, numbers))
    got, want = native.compile(f)(a[:, None], b[:, None]), casadi_values(f, a, b)[..., 0]
    for k, name in enumerate(OPERATIONS):
        np.testing.assert_allclose(got[:, k], want[:, k], rtol=1e-15, err_msg=name)


def test_the_branch_not_taken_does_not_leak() -> None:
    x = ca.SX.sym("x")
    f = native.compile(ca.Function("f", [x], [ca.if_else(x > 0, ca.log(x) / x, ca.sqrt(-x))]))
    x_values = np.array([[2.0], [-4.0], [0.0], [-9.0]])
    with np.errstate(all="raise"):  # nor does it complain
        assert f(x_values)[:, 0] == pytest.approx([np.log(2) / 2, 2.0, 0.0, 3.0])


def test_an_operation_without_native_code_is_named() -> None:
    x = ca.SX.sym("x")
    with pytest.raises(GraphError, match="bell uses 'erfinv'"):
        native.compile(ca.Function("bell", [x], [ca.erfinv(x)]))


# Benign everywhere, so that an error of a few ulps stays one.
_GROW = [
    "add",
    "mul",
    "sin",
    "cos",
    "tanh",
    "sqrt",
    "atan2",
    "hypot",
    "fmin",
    "exp",
    "choose",
    "div",
]


def random_graph(seed: int, steps: int) -> Any:
    rng = seeded(seed)
    x = ca.SX.sym("x", 4)
    values = [x[k] ** 2 + 0.5 for k in range(4)]
    for _ in range(steps):
        a, b = (values[int(k)] for k in rng.integers(0, len(values), 2))
        made = {
            "add": lambda a=a, b=b: a + b,
            "mul": lambda a=a, b=b: a * b / (1 + a + b),
            "sin": lambda a=a: 2 + ca.sin(a),
            "cos": lambda a=a: 2 + ca.cos(a),
            "tanh": lambda a=a: ca.tanh(a),
            "sqrt": lambda a=a: ca.sqrt(a),
            "atan2": lambda a=a, b=b: ca.atan2(a, b),
            "hypot": lambda a=a, b=b: ca.hypot(a, b),
            "fmin": lambda a=a, b=b: ca.fmin(a, b),
            "exp": lambda a=a: ca.exp(-a) + 0.1,
            "choose": lambda a=a, b=b: ca.if_else(a < 1, a + b, a * 0.5 + b),
            "div": lambda a=a, b=b: a / (b + 0.1),
        }
        values.append(made[str(rng.choice(_GROW))]())
    return ca.Function("f", [x], [ca.vertcat(*values[-8:])])


@examples(12)
@given(st.integers(0, 10**6), st.integers(1, 120))
def test_random_graphs_agree_with_casadi(seed: int, steps: int) -> None:
    f = random_graph(seed, steps)
    x = np.random.default_rng(seed).normal(size=(9, 4))
    got = native.compile(f, cache=False)(x)
    np.testing.assert_allclose(got, casadi_values(f, x)[..., 0], rtol=3e-13)


@pytest.mark.parametrize("piece", [7, 50, 200])
def test_cutting_the_code_into_pieces_changes_nothing(monkeypatch, piece: int, rng) -> None:
    f = chain(4)
    x = [rng.normal(size=(5, 4)) for _ in range(3)]
    whole = native.compile(f, cache=False)(*x)
    monkeypatch.setattr(emit.kernel, "__defaults__", (piece,))
    np.testing.assert_array_equal(native.compile(f, cache=False)(*x), whole)


def test_a_very_long_program_is_made_in_less_time_and_computes_the_same(monkeypatch, rng) -> None:
    f = chain(4)
    x = [rng.normal(size=(9, 4)) for _ in range(3)]
    careful = native.compile(f, cache=False)(*x)
    monkeypatch.setattr(machine, "LONG", 0)
    hasty = native.compile(f, cache=False)
    np.testing.assert_array_equal(hasty(*x), careful)
    assert np.array_equal(hasty(*x), [hasty(*(a[k] for a in x)) for k in range(9)])


# Shapes and layouts -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tau() -> Any:
    return native.compile(chain(5))


def test_a_batch_equals_its_single_calls(tau, rng) -> None:
    x = [rng.normal(size=(23, 5)) for _ in range(3)]
    batch = tau(*x)
    np.testing.assert_allclose(batch, casadi_values(chain(5), *x)[..., 0], rtol=1e-13, atol=1e-13)
    assert np.array_equal(batch, [tau(*(a[k] for a in x)) for k in range(23)])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17])
def test_blocks_of_any_length(tau, count: int, rng) -> None:
    x = [rng.normal(size=(count, 5)) for _ in range(3)]
    singles = np.array([tau(*(a[k] for a in x)) for k in range(count)]).reshape(count, 5)
    assert np.array_equal(tau(*x), singles)


@pytest.mark.parametrize(
    "shapes",
    [
        [(5,), (5,), (5,)],
        [(3, 5), (5,), (3, 5)],
        [(3, 1, 5), (7, 5), (5,)],
        [(1, 5), (4, 1, 5), (2, 1, 3, 5)],
        [(0, 5), (5,), (1, 5)],
        [(2, 0, 5), (2, 1, 5), (5,)],
    ],
)
def test_leading_axes_broadcast_like_numpys(tau, shapes: list[tuple[int, ...]], rng) -> None:
    x = [rng.normal(size=s) for s in shapes]
    full = np.broadcast_arrays(*x)
    want = tau(*(np.ascontiguousarray(a) for a in full))
    got = tau(*x)
    assert got.shape == full[0].shape
    assert np.array_equal(got, want)


LAYOUTS = {
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "reversed rows": lambda a: a[::-1].copy()[::-1],
    "reversed columns": lambda a: a[:, ::-1].copy()[:, ::-1],
    "columns in memory": np.asfortranarray,
    "columns of a wider array": lambda a: np.hstack([a, a])[:, : a.shape[1]],
    "not aligned": lambda a: (
        np.frombuffer(b"x" + a.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(a.shape)
    ),
    "other byte order": lambda a: a.astype(">f8"),
    "read only": lambda a: np.broadcast_to(a, a.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_memory_layout(tau, layout: str, rng) -> None:
    x = [rng.normal(size=(11, 5)) for _ in range(3)]
    odd = [LAYOUTS[layout](a) for a in x]
    assert all(np.array_equal(a, b) for a, b in zip(x, odd, strict=True))
    assert np.array_equal(tau(*odd), tau(*x))
    assert np.array_equal(tau(*(a[3] for a in odd)), tau(*x)[3])


def test_a_state_that_repeats_by_a_stride_of_zero(tau, rng) -> None:
    x = [np.broadcast_to(rng.normal(size=5), (9, 5)) for _ in range(3)]
    assert np.array_equal(tau(*x), np.broadcast_to(tau(*(a[0].copy() for a in x)), (9, 5)))


def test_matrices_are_in_row_order_and_structural_zeros_are_zero(rng) -> None:
    a, x = ca.SX.sym("a", 3, 4), ca.SX.sym("x", 4)
    sparse = ca.SX(3, 3)
    sparse[0, 2], sparse[2, 0], sparse[1, 1] = a[0, 3], a[2, 1], x[2] * 2
    f = native.compile(ca.Function("f", [a, x], [a @ x, a.T, sparse, ca.sum1(x)]))
    for lead in [(), (6,), (2, 3)]:
        A, X = rng.normal(size=(*lead, 3, 4)), rng.normal(size=(*lead, 4))
        product, transposed, zeros, total = f(A, X)
        np.testing.assert_allclose(
            product, np.einsum("...ij,...j->...i", A, X), rtol=1e-14, atol=1e-14
        )
        assert np.array_equal(transposed, np.swapaxes(A, -1, -2))
        want = np.zeros((*lead, 3, 3))
        want[..., 0, 2], want[..., 2, 0], want[..., 1, 1] = (
            A[..., 0, 3],
            A[..., 2, 1],
            2 * X[..., 2],
        )
        assert np.array_equal(zeros, want)
        np.testing.assert_allclose(total[..., 0], X.sum(-1), rtol=1e-14, atol=1e-14)
        assert np.array_equal(
            f(np.swapaxes(np.swapaxes(A, -1, -2).copy(), -1, -2), X)[1], transposed
        )


def test_shapes_are_filled_row_by_row(rng) -> None:
    x = ca.SX.sym("x", 6)
    poses = ca.vertcat(x.T, 2 * x.T, 3 * x.T, 4 * x.T)
    f = native.compile(
        ca.Function("f", [x], [poses, x[0]]),
        inputs=[native.Argument("x", (2, 3))],
        outputs=[native.Argument("p", (2, 2, 6)), native.Argument("first", ())],
    )
    X = rng.normal(size=(7, 2, 3))
    p, first = f(X)
    assert p.shape == (7, 2, 2, 6)
    assert np.array_equal(p.reshape(7, 4, 6)[:, 2], 3 * X.reshape(7, 6))
    assert first.shape == (7,)
    assert isinstance(f(X[0])[1], np.float64)  # by either way in
    assert isinstance(f(X[0].tolist())[1], np.float64)
    assert np.array_equal(f(X.swapaxes(1, 2).copy().swapaxes(1, 2))[0], p)


def test_empty_arguments() -> None:
    q, none = ca.SX.sym("q", 3), ca.SX.sym("p", 0)
    f = native.compile(ca.Function("f", [q, none], [2 * q, ca.SX(0, 1), ca.SX(0, 4)]))
    doubled, nothing, rows = f(np.ones((5, 3)), np.ones((5, 0)))
    assert np.array_equal(doubled, np.full((5, 3), 2.0))
    assert nothing.shape == (5, 0)
    assert rows.shape == (5, 0, 4)
    assert [r.shape for r in f(np.ones(3), np.ones(0))] == [(3,), (0,), (0, 4)]
    with pytest.raises(
        native.InputError, match="i1 has 2 values in its last axis; 0 values are expected"
    ):
        f(np.ones(3), np.ones(2))


def test_outputs_into_given_arrays(tau, rng) -> None:
    x = [rng.normal(size=(9, 5)) for _ in range(3)]
    want = tau(*x)
    out = np.empty((9, 5))
    assert tau(*x, out=out) is out
    assert np.array_equal(out, want)
    wide = np.zeros((9, 10))
    tau(*x, out=wide[:, ::2])
    assert np.array_equal(wide[:, ::2], want)
    assert not wide[:, 1::2].any()
    tau(*x, out=x[1])  # an input itself
    assert np.array_equal(x[1], want)


def test_several_outputs_into_given_arrays() -> None:
    x = ca.SX.sym("x", 2)
    f = native.compile(ca.Function("f", [x], [x + 1, x * 2], ["x"], ["a", "b"]))
    out = np.empty((3, 2))
    a, b = f(np.ones((3, 2)), out=(None, out))
    assert b is out
    assert np.array_equal(a, b)
    with pytest.raises(native.InputError, match="a tuple of 2 arrays"):
        f(np.ones((3, 2)), out=out)


def test_an_output_may_overlap_an_input_at_an_offset(tau, rng) -> None:
    memory = rng.normal(size=(4001, 5))
    x = [memory[:-1], rng.normal(size=(4000, 5)), rng.normal(size=(4000, 5))]
    want = tau(*x)
    assert np.array_equal(tau(*x, out=memory[1:], threads=2), want)


# Threads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_equal_one_thread_bit_for_bit(tau, threads: int, rng) -> None:
    x = [rng.normal(size=(1003, 5)) * 1e3 for _ in range(3)]
    x[0][::97] *= 1e200  # some lanes go the slow way
    assert np.array_equal(tau(*x, threads=threads), tau(*x, threads=1))
    y = [rng.normal(size=(3, 1, 400, 5)), rng.normal(size=(5,)), rng.normal(size=(2, 1, 5))]
    assert np.array_equal(tau(*y, threads=threads), tau(*y, threads=1))


def test_threads_must_be_positive(tau) -> None:
    with pytest.raises(native.InputError, match="threads is a whole number, at least 1; it is 0"):
        tau(np.ones((100, 5)), np.ones(5), np.ones(5), threads=0)


def _child(answer: Any, f: Any, x: np.ndarray) -> None:
    answer.send(float(f(x, x, x, threads=2).sum()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(tau, rng) -> None:
    x = rng.normal(size=(500, 5))
    total = tau(x, x, x, threads=2).sum()
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_child, args=(there, tau, x))
    child.start()
    assert here.poll(20)
    assert here.recv() == total
    child.join()


# What users get wrong -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def puma() -> Any:
    inputs = [
        native.Argument(n, None, what)
        for n, what in zip("qva", ("coordinates", "velocities", "velocities"), strict=True)
    ]
    return native.compile(chain(6), inputs=inputs, owner="puma560", name="inverse_dynamics")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            (np.ones(5), np.ones(6), np.ones(6)),
            "q has 5 values in its last axis; puma560 has 6 coordinates",
        ),
        (
            (np.ones(6), np.ones((4, 1)), np.ones(6)),
            "v has 1 value in its last axis; puma560 has 6 velocities",
        ),
        ((3.0, np.ones(6), np.ones(6)), "q is a single number; puma560 has 6 coordinates"),
        (
            (np.ones((3, 6)), np.ones((4, 6)), np.ones(6)),
            r"leading axes do not fit together: q has \(3,\), v has \(4,\)",
        ),
        ((np.ones(6), np.ones(6)), r"inverse_dynamics takes 3 arguments \(q, v, a\), not 2"),
        (
            (np.ones(6) * 1j, np.ones(6), np.ones(6)),
            "q holds complex numbers; real numbers are expected",
        ),
        ((["a"] * 6, np.ones(6), np.ones(6)), "q holds text; real numbers are expected"),
        (([[1, 2], [3]], np.ones(6), np.ones(6)), "q is not an array"),
        (([None] * 6, np.ones(6), np.ones(6)), "q holds Python objects"),
    ],
)
def test_errors_say_what_was_expected_and_what_came(puma, arguments: Any, sentence: str) -> None:
    with pytest.raises(native.InputError, match=sentence):
        puma(*arguments)


def test_errors_about_matrices_and_outputs() -> None:
    a = ca.SX.sym("a", 2, 3)
    f = native.compile(ca.Function("f", [a], [a], ["a"], ["b"]), cache=False)
    with pytest.raises(
        native.InputError, match=r"a has shape \(3, 2\); 2x3 values are expected in its last 2 axes"
    ):
        f(np.ones((3, 2)))
    with pytest.raises(
        native.InputError, match=r"out for b has shape \(2, 3\); \(5, 2, 3\) is expected"
    ):
        f(np.ones((5, 2, 3)), out=np.ones((2, 3)))
    with pytest.raises(native.InputError, match="out is the array of floats"):
        f(np.ones((2, 3)), out=[[1, 2, 3]] * 2)
    with pytest.raises(GraphError, match=r"shape .* does not hold as many"):
        native.compile(ca.Function("f", [a], [a]), inputs=[native.Argument("a", (5,))])
    with pytest.raises(GraphError, match="1 inputs; 2 were described"):
        native.compile(
            ca.Function("f", [a], [a]), inputs=[native.Argument("a"), native.Argument("b")]
        )


@pytest.mark.parametrize("kind", [int, np.float32, np.int8, bool, np.longdouble, list, tuple])
def test_other_real_numbers_are_converted(puma, kind: Any) -> None:
    q = np.array([1, 0, 1, 1, 0, 1])
    given_q = kind(q.tolist()) if kind in (list, tuple) else q.astype(kind)
    assert np.array_equal(puma(given_q, given_q, given_q), puma(*[q.astype(float)] * 3))


def test_numbers_in_and_a_number_out() -> None:
    x = ca.SX.sym("x")
    f = native.compile(
        ca.Function("f", [x], [x**2]),
        inputs=[native.Argument("x", ())],
        outputs=[native.Argument("y", ())],
    )
    for number in (3.0, 3, np.float64(3), np.array(3.0)):
        assert isinstance(f(number), np.float64)
        assert f(number) == 9.0
    assert np.array_equal(f([1, 2]), [1.0, 4.0])


def test_it_describes_itself(puma) -> None:
    assert puma.__name__ == "inverse_dynamics"
    assert str(inspect.signature(puma.native)) == "(q, v, a, /, *, out=None, threads=None)"
    assert "(..., 6) coordinates" in puma.__doc__
    assert puma.signature.owner == "puma560"
    assert "507 operations" in repr(puma)


# Size and life ------------------------------------------------------------------------------------------------------


def test_a_large_workspace_is_not_on_the_stack(rng) -> None:
    x = ca.SX.sym("x", 4000)
    f = native.compile(ca.Function("f", [x], [ca.cumsum(x)]), cache=False)
    y = rng.normal(size=(3, 4000))
    np.testing.assert_allclose(f(y, threads=2), np.cumsum(y, axis=1), rtol=1e-12, atol=1e-12)
    assert np.array_equal(f(y[0]), f(y)[0])


def test_large_graphs_compile_in_bounded_time(rng) -> None:
    f = chain(45)  # 21,000 operations, some 1.5 s
    x = [rng.normal(size=(2, 45)) for _ in range(3)]
    got, want = native.compile(f, cache=False)(*x), casadi_values(f, *x)[..., 0]
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11 * np.abs(want).max())


@pytest.mark.slow(reason="compiles hundreds of functions")
def test_functions_come_and_go() -> None:
    x = ca.SX.sym("x", 3)
    gc.freeze()  # what other tests of the process keep need not be walked through
    try:
        for k in range(12):
            f = native.compile(ca.Function("f", [x], [x * k]), cache=False)
            assert f(np.ones(3))[0] == k
            del f
            gc.collect()
    finally:
        gc.unfreeze()


def test_wide_and_narrow_registers_agree(monkeypatch: pytest.MonkeyPatch, rng) -> None:
    from dataclasses import replace

    f, here = chain(4), machine.host()
    x = [rng.normal(size=(19, 4)) for _ in range(3)]
    results = []
    for width in (2, 4, 8):
        monkeypatch.setattr(machine, "host", lambda width=width: replace(here, width=width))
        g = native.compile(f, cache=False)
        results.append(g(*x))
        assert np.array_equal(g(*(a[7] for a in x)), results[-1][7])
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])
