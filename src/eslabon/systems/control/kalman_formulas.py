"""Kalman's two steps for numbers and symbols alike: a measurement corrects a covariance, time
spreads it.

Covariances travel as the columns of their lower triangles, which is all there is to know of a
symmetric matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.numerics.scalars import casadi, is_symbolic, matmul, transpose


def corrected(P: Any, C: Any, V: Any) -> tuple[Any, Any]:
    """The gain K = P C^T (C P C^T + V)^-1 and the covariance after the measurement, in Joseph's
    form, which stays positive: (1 - K C) P (1 - K C)^T + K V K^T."""
    across = matmul(C, P)
    innovation = matmul(across, transpose(C)) + V
    K = transpose(_solved(innovation, across))
    left = np.eye(P.shape[-1]) - matmul(K, C)
    return K, matmul(left, P, transpose(left)) + matmul(K, V, transpose(K))


def predicted(P: Any, A: Any, W: Any) -> Any:
    """A P A^T + W."""
    return matmul(A, P, transpose(A)) + W


def _solved(S: Any, b: Any) -> Any:
    """S^-1 b for a symmetric positive definite S."""
    if is_symbolic(S):
        from eslabon.formulas.linear_solvers import factors

        return factors(S).solve(b)
    return np.linalg.solve(S, b)


def packed(P: Any) -> Any:
    """The lower triangle of a symmetric matrix, column by column, (..., n (n + 1) / 2)."""
    n = P.shape[-1]
    rows, columns = _places(n)
    if is_symbolic(P):
        return casadi.densify(
            casadi.vertcat(*(P[i, k] for i, k in zip(rows, columns, strict=True)))
        )
    return P[..., rows, columns]


def unpacked(x: Any, n: int) -> Any:
    """The symmetric matrix of a lower triangle.

    >>> unpacked(np.array([1.0, 2.0, 3.0]), 2)
    array([[1., 2.],
           [2., 3.]])
    """
    rows, columns = _places(n)
    if is_symbolic(x):
        matrix = casadi.SX.zeros(n, n)
        for place, (i, k) in enumerate(zip(rows, columns, strict=True)):
            matrix[i, k] = matrix[k, i] = x[place]
        return matrix
    P = np.empty((*x.shape[:-1], n, n))
    P[..., rows, columns] = P[..., columns, rows] = x
    return P


def _places(n: int) -> tuple[list[int], list[int]]:
    columns, rows = np.triu_indices(n)
    return rows.tolist(), columns.tolist()
