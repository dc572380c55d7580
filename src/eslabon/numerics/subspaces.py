"""Subspaces that small matrices span or leave free: rank, range, null space, pseudo-inverse and
independent rows, of one matrix or of a batch (..., m, n).

Rows and columns of a matrix are comparable (`eslabon.model.scale`), so that its entries are pure
numbers. A singular value counts as zero if it is below `tolerance` times the largest one of its own
matrix, or if it is round-off: a matrix of round-off has rank zero. No matrix of a batch depends on
the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.numerics.pivoting import pivot_columns
from eslabon.numerics.tolerances import RANK, ROUND_OFF

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]


def count_nonzero_values(sizes: np.ndarray, tolerance: float = RANK) -> Integers:
    """How many singular values, or pivots, (..., k) of a matrix are not zero.

    >>> count_nonzero_values(np.array([[2.0, 1e-9], [1e-13, 1e-14]]))
    array([1, 0])
    """
    largest = sizes.max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray((sizes > np.maximum(tolerance * largest, ROUND_OFF)).sum(axis=-1))


def rank(A: Floats, tolerance: float = RANK) -> Integers:
    """The rank of each matrix.

    >>> int(rank(np.array([[1.0, 2.0], [2.0, 4.0]])))
    1
    """
    return count_nonzero_values(np.linalg.svd(A, compute_uv=False), tolerance)


def range_and_null_spaces(
    A: Floats, tolerance: float = RANK, rank: int | None = None
) -> tuple[Floats, Floats]:
    """Orthonormal bases (..., m, r) of the range of A and (..., n, n - r) of its null space.

    The matrices of a batch have one rank: that of the first, if it is not given.
    """
    U, sizes, Vt = np.linalg.svd(A)
    if rank is None:
        found = count_nonzero_values(sizes, tolerance)
        rank = int(found.flat[0]) if found.size else 0
    return U[..., :rank], np.swapaxes(Vt[..., rank:, :], -1, -2)


def range_space(A: Floats, tolerance: float = RANK, rank: int | None = None) -> Floats:
    """An orthonormal basis (..., m, r) of what the columns of A span."""
    return range_and_null_spaces(A, tolerance, rank)[0]


def null_space(A: Floats, tolerance: float = RANK, rank: int | None = None) -> Floats:
    """An orthonormal basis (..., n, n - r) of the x with A x = 0.

    >>> np.abs(null_space(np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))).T
    array([[0., 0., 1.]])
    """
    return range_and_null_spaces(A, tolerance, rank)[1]


def null_projector(A: Floats, tolerance: float = RANK) -> Floats:
    """The orthogonal projectors (..., n, n) onto null spaces, of matrices of any rank."""
    return np.asarray(np.eye(A.shape[-1]) - pseudo_inverse(A, tolerance) @ A)


def pseudo_inverse(A: Floats, tolerance: float = RANK) -> Floats:
    """The Moore-Penrose inverses (..., n, m).

    >>> pseudo_inverse(np.array([[2.0, 0.0], [0.0, 1e-9]]))
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    U, sizes, Vt = np.linalg.svd(A, full_matrices=False)
    largest = sizes.max(axis=-1, keepdims=True, initial=0.0)
    nonzero = sizes > np.maximum(tolerance * largest, ROUND_OFF)
    inverse = np.where(nonzero, 1 / np.where(nonzero, sizes, 1.0), 0.0)
    return np.asarray((np.swapaxes(Vt, -1, -2) * inverse[..., None, :]) @ np.swapaxes(U, -1, -2))


def independent_columns(A: Floats, tolerance: float = RANK) -> list[int]:
    """The columns of one matrix that a pivoted factorisation finds independent, the longest first.

    >>> independent_columns(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
    [1, 2]
    """
    order, sizes = pivot_columns(A)
    return order[: int(count_nonzero_values(sizes, tolerance))]


def independent_rows(A: Floats, tolerance: float = RANK) -> list[int]:
    """The rows of one matrix that a pivoted factorisation finds independent, the longest first."""
    return independent_columns(A.T, tolerance)
