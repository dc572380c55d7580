"""A pivoted factorisation finds the columns that LAPACK's finds, and breaks ties by the columns' places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import qr

from eslabon.numerics.pivoting import pivot_columns
from randomness import examples, seeded


@examples(60)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 12),
    columns=st.integers(1, 12),
    rank=st.integers(1, 12),
)
def test_columns_and_sizes_are_those_of_lapack(seed, rows, columns, rank):
    rng = seeded(seed)
    rank = min(rank, rows, columns)
    A = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    order, sizes = pivot_columns(A)
    R, theirs = qr(A, mode="r", pivoting=True)
    assert order[:rank] == [int(k) for k in theirs[:rank]]
    assert sorted(order) == list(range(columns))
    np.testing.assert_allclose(sizes[:rank], np.abs(np.diag(R))[:rank], rtol=1e-9)
    np.testing.assert_allclose(sizes[rank:], 0.0, atol=1e-12 * sizes[0])


def test_equal_columns_are_taken_by_their_places():
    turned = np.linalg.qr(seeded(3).normal(size=(4, 4)))[
        0
    ]  # of orthonormal columns round-off alone is largest
    for scale in (1.0, 1e-9, 1e9):
        assert pivot_columns(scale * turned)[0] == [0, 1, 2, 3]
    assert pivot_columns(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))[0][:2] == [0, 1]
    assert pivot_columns(np.array([[1.0, 0.0, 1.0 + 1e-8], [0.0, 1.0, 0.0]]))[0][:2] == [2, 1]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 3)])
def test_nothing_has_no_size(shape):
    order, sizes = pivot_columns(np.zeros(shape))
    assert order == list(range(shape[1]))
    np.testing.assert_array_equal(sizes, np.zeros(min(shape)))
