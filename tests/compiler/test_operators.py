"""Large matrices in native code: loops give what NumPy and the plain graph give, for one state and for many."""

import gc

import casadi
import numpy as np
import pytest

from eslabon.compiler import callbacks, native, operators
from eslabon.compiler.calls import inlined, scan
from eslabon.compiler.program import GraphError
from traced_graph import traced_graph


def full(n):
    return casadi.SX.ones(n, n)


def of_a_tree(n):
    """The entries of the mass matrix of a branched tree."""
    parents, made = [(k - 1) // 2 if k % 3 else k - 1 for k in range(n)], casadi.SX(n, n)
    for k in range(n):
        i = k
        while i >= 0:
            made[i, k] = made[k, i] = 1
            i = parents[i]
    return casadi.sparsify(made)


def example(pattern, k):
    n = pattern.shape[0]
    rows, where = operators.lower(pattern), casadi.DM(pattern)

    def formula(M, B):
        L = operators.factored(rows, M)
        X = operators.solved(rows, L, B)
        left = operators.multiplied(operators.entries(pattern), M * where, X, B)
        return (
            X,
            operators.solved(rows, L, B, negative=True),
            left,
            casadi.vertcat(*operators.inverse_pivots(rows, L)),
        )

    return traced_graph("example", [casadi.SX.sym("M", n, n), casadi.SX.sym("B", n, k)], formula)


@pytest.mark.parametrize(
    ("pattern", "k"), [(full(3), 9), (full(9), 8), (of_a_tree(12), 5), (of_a_tree(13), 67)]
)
def test_matrices_are_factored_solved_and_multiplied(pattern, k, rng):
    n = pattern.shape[0]
    A = np.array(casadi.DM(pattern)) * rng.normal(size=(11, n, n))
    A, B = A + A.swapaxes(-1, -2) + 3 * n * np.eye(n), rng.normal(size=(11, n, k))
    graph = example(pattern, k)
    f = native.compile(graph, cache=False)
    X, opposite, left, pivots = f(A, B)
    np.testing.assert_allclose(X, np.linalg.solve(A, B), rtol=0, atol=1e-12)
    np.testing.assert_allclose(opposite, -X, rtol=0, atol=1e-15)
    np.testing.assert_allclose(left, 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        np.prod(1 / pivots / (3 * n), axis=-1), np.linalg.det(A / (3 * n)), rtol=1e-10
    )
    for one, many in zip(f(A[4], B[4]), (X, opposite, left, pivots), strict=True):
        np.testing.assert_array_equal(one, many[4])
    plain = inlined(graph).call([A[4], B[4]])
    for one, other in zip(f(A[4], B[4]), plain, strict=True):
        np.testing.assert_allclose(one, np.array(other).reshape(one.shape), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("height", "k"), [(1, 2), (5, 3), (9, 21), (20, 16), (7, 67), (6, 128)])
@pytest.mark.parametrize("negative", [False, True])
def test_a_product_with_a_sparse_matrix_comes_transposed(height, k, negative, rng):
    dense = np.where(rng.random((height, 6)) < 0.6, rng.normal(size=(height, 6)), 0.0)
    dense[-1] = 0.0  # a row without entries
    pattern = casadi.sparsify(casadi.DM(dense)).sparsity()
    rows = operators.entries(casadi.SX(pattern))
    graph = traced_graph(
        "product", [casadi.SX.sym("A", height, 6), casadi.SX.sym("B", 6, k)],
        lambda A, B: operators.transposed_product(rows, A, B, negative),
    )  # fmt: skip
    f = native.compile(graph, cache=False)
    A = dense * rng.normal(size=(11, 1, 1))
    B = rng.normal(size=(11, 6, k))
    expected = (A @ B).swapaxes(-1, -2) * (-1 if negative else 1)
    found = f(A, B).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(f(A[4], B[4]).reshape(k, height), found[4])
    plain = np.array(inlined(graph)(A[4], B[4]))
    np.testing.assert_allclose(plain, expected[4], rtol=0, atol=1e-13)


def test_arguments_of_calls_that_are_zero_are_zero_in_every_call(rng):
    """Memory is cleared once for them; what other calls of the same function left there must not show."""
    A = operators.entries(full(8))

    def formula(x, y):
        diagonal, corner = casadi.diag(casadi.sparsify(x)), casadi.SX(8, 8)
        corner[7, 0] = y[0]
        first = operators.transposed_product(A, casadi.SX.ones(8, 8), y @ x.T)
        return tuple(
            operators.transposed_product(A, B, casadi.densify(C))
            for B, C in ((diagonal, corner), (corner, diagonal), (first, corner))
        )

    graph = traced_graph("f", [casadi.SX.sym("x", 8), casadi.SX.sym("y", 8)], formula)
    f, (x, y) = native.compile(graph, cache=False), rng.normal(size=(2, 11, 8))
    found = f(x, y)
    for k in range(11):
        diagonal, corner = np.diag(x[k]), np.zeros((8, 8))
        corner[7, 0] = y[k, 0]
        first = (np.ones((8, 8)) @ np.outer(y[k], x[k])).T
        for many, one, (B, C) in zip(
            found, f(x[k], y[k]), ((diagonal, corner), (corner, diagonal), (first, corner)), strict=True,
        ):  # fmt: skip
            np.testing.assert_allclose(many[k], (B @ C).T, rtol=0, atol=1e-13)
            np.testing.assert_array_equal(one, many[k])


def test_elimination_must_make_no_new_entries():
    assert operators.closed(operators.lower(of_a_tree(9)))
    arrow = casadi.SX.eye(3)
    arrow[2, 0] = arrow[2, 1] = 1
    assert not operators.closed(operators.lower(arrow))


def test_a_scan_takes_earlier_results(rng):
    x, total = casadi.SX.sym("x", 2), casadi.SX.sym("total", 2)
    step = casadi.Function("step", [x, total], [2 * x, x + casadi.sin(total)])
    earlier = [-1, 0, 0, 2, 1, 4]
    graph = traced_graph(
        "f", [casadi.SX.sym("X", 2, 6)],
        lambda X: scan(step, (X, range(6)), back=[(1, earlier, casadi.SX([0.1, 0.2]))]),
    )  # fmt: skip
    f, X = native.compile(graph, cache=False), rng.normal(size=(9, 2, 6))
    doubled, sums = f(X)
    expected = np.empty_like(X)
    for k, r in enumerate(earlier):
        expected[..., k] = X[..., k] + np.sin(expected[..., r] if r >= 0 else [0.1, 0.2])
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(doubled, 2 * X, rtol=0, atol=0)
    np.testing.assert_allclose(f(X[3])[1], sums[3], rtol=0, atol=1e-15)
    with pytest.raises(GraphError, match="cannot be repeated"):
        scan(step, (casadi.SX(3, 6), range(6)), back=[(1, earlier, casadi.SX(2, 1))])


# Callbacks -----------------------------------------------------------------------------------------------------------


def test_a_callback_lives_as_long_as_a_graph_that_refers_to_it(rng):
    pattern = full(4)
    graph, expected = example(pattern, 2), []
    A, B = 9 * np.eye(4) + np.ones((4, 4)), rng.normal(size=(4, 2))
    for k in range(2):
        callbacks.function_of.cache_clear()
        gc.collect()
        for n in range(
            3 * callbacks.RECENT
        ):  # the place in memory of what is gone is taken by others
            callbacks.function_of(operators.Lookup(((float(n), float(k)),)))
        expected.append(np.array(graph(A, B)[0]))
        np.testing.assert_allclose(expected[k], np.linalg.solve(A, B), rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        native.compile(graph, cache=False)(A, B)[0], expected[0], rtol=0, atol=1e-13
    )


def test_callbacks_that_no_graph_refers_to_are_dropped():
    def look_up(n):
        x = casadi.SX.sym("x")
        return casadi.Function("f", [x], [operators.row_of(np.array([[float(n), 2.0]]), x)])

    for n in range(20 * callbacks.RECENT):
        look_up(n)
    assert len(callbacks.CALLBACKS) <= 4 * callbacks.RECENT
    kept = [look_up(n) for n in range(5 * callbacks.RECENT)]
    assert len(kept) <= len(callbacks.CALLBACKS) <= 4 * callbacks.RECENT + 2 * len(kept)
    for n, f in enumerate(kept):
        assert float(f(0.0)[0]) == n


def test_equal_operators_are_one_function():
    one, other = (operators.MatrixOperator("factor", operators.lower(full(5))) for _ in range(2))
    assert one is not other
    assert callbacks.function_of(one) is callbacks.function_of(other)
    assert callbacks.operator_of(callbacks.function_of(one)) == one
    x = casadi.SX.sym("x")
    assert callbacks.operator_of(casadi.Function("f", [x], [x])) is None


def test_different_operators_of_one_kind_stay_apart_where_subexpressions_are_shared():
    x = casadi.SX.sym("x")
    rows = [operators.row_of(np.array([[n, 2.0 * n]]), x) for n in (1.0, 3.0)]
    f = casadi.Function("f", [x], casadi.cse(rows))
    assert [float(y[1]) for y in f(0.0)] == [2.0, 6.0]
