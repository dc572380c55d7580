"""Facts of subspaces: dimensions add up, bases are orthonormal, a batch equals its single matrices."""

import numpy as np
import pytest

from eslabon.numerics.subspaces import (
    independent_columns,
    independent_rows,
    null_projector,
    null_space,
    pseudo_inverse,
    range_space,
    rank,
)


def of_rank(rng: np.random.Generator, rows: int, columns: int, r: int) -> np.ndarray:
    return rng.normal(size=(rows, r)) @ rng.normal(size=(r, columns))


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5), (0, 3), (3, 0)])
def test_range_and_null_space_have_the_dimensions_of_the_rank(shape, rng) -> None:
    A = of_rank(rng, *shape, min(2, *shape))
    r = int(rank(A))
    N, R = null_space(A), range_space(A)
    assert r == min(2, *shape)
    assert R.shape == (shape[0], r)
    assert N.shape == (shape[1], shape[1] - r)
    assert np.allclose(A @ N, 0)
    assert np.allclose(N.T @ N, np.eye(N.shape[1]))
    assert np.allclose(R @ (R.T @ A), A)


def test_each_matrix_of_a_batch_has_its_own_rank_and_scale(rng) -> None:
    """A large neighbour does not make a small matrix zero."""
    A = np.stack([of_rank(rng, 4, 5, 2), 1e-6 * of_rank(rng, 4, 5, 3), 1e-14 * np.ones((4, 5))])
    assert rank(A).tolist() == [2, 3, 0]
    for f in (pseudo_inverse, null_projector):
        assert np.array_equal(f(A), np.stack([f(a) for a in A]))
    assert np.array_equal(pseudo_inverse(A[2]), np.zeros((5, 4)))


def test_the_pseudo_inverse_keeps_the_four_rules_of_penrose(rng) -> None:
    A = of_rank(rng, 5, 4, 3)
    X = pseudo_inverse(A)
    assert np.allclose(A @ X @ A, A)
    assert np.allclose(X @ A @ X, X)
    assert np.allclose(A @ X, (A @ X).T)
    assert np.allclose(X @ A, (X @ A).T)


def test_independent_rows_and_columns_span_all_of_them(rng) -> None:
    A = of_rank(rng, 6, 5, 3)
    rows, columns = independent_rows(A), independent_columns(A)
    assert len(rows) == len(columns) == 3
    assert int(rank(A[rows])) == int(rank(A[:, columns])) == 3
