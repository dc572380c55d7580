"""Large matrices in native code: loops give what NumPy gives, for one state and for many, and what the plain graph gives."""

import casadi
import numpy as np
import pytest

from eslabon.compiler import matrices, native
from eslabon.compiler.calls import composed, scan
from eslabon.compiler.program import GraphError


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
    rows, where = matrices.lower(pattern), casadi.DM(pattern)

    def formula(M, B):
        L = matrices.factored(rows, M)
        X = matrices.solved(rows, L, B)
        left = matrices.multiplied(matrices.entries(pattern), M * where, X, B)
        return X, matrices.solved(rows, L, B, negative=True), left, casadi.vertcat(*matrices.inverse_pivots(rows, L))

    return composed("example", [casadi.SX.sym("M", n, n), casadi.SX.sym("B", n, k)], formula)


@pytest.mark.parametrize(("pattern", "k"), [(full(3), 9), (full(9), 8), (of_a_tree(12), 5), (of_a_tree(13), 67)])
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
    np.testing.assert_allclose(np.prod(1 / pivots / (3 * n), axis=-1), np.linalg.det(A / (3 * n)), rtol=1e-10)
    for one, many in zip(f(A[4], B[4]), (X, opposite, left, pivots), strict=True):
        np.testing.assert_array_equal(one, many[4])
    plain = graph.inlined().call([A[4], B[4]])
    for one, other in zip(f(A[4], B[4]), plain, strict=True):
        np.testing.assert_allclose(one, np.array(other).reshape(one.shape), rtol=0, atol=1e-13)


def test_elimination_must_make_no_new_entries():
    assert matrices.closed(matrices.lower(of_a_tree(9)))
    arrow = casadi.SX.eye(3)
    arrow[2, 0] = arrow[2, 1] = 1
    assert not matrices.closed(matrices.lower(arrow))


def test_a_scan_takes_earlier_results(rng):
    x, total = casadi.SX.sym("x", 2), casadi.SX.sym("total", 2)
    step = casadi.Function("step", [x, total], [2 * x, x + casadi.sin(total)])
    earlier = [-1, 0, 0, 2, 1, 4]
    graph = composed(
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
