"""Gains, costs and covariances as users give them: a number, one for each coordinate, or a
matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats, finite
from eslabon.errors import InputError
from eslabon.numerics.tolerances import COINCIDENT, ROUND_OFF


def weight(value: Any, name: str, n: int, *, definite: bool = False) -> Floats:
    """A symmetric matrix of costs (n, n), positive semidefinite, or definite.

    >>> weight(2.0, "Q", 2)
    array([[2., 0.],
           [0., 2.]])
    >>> weight([1.0, 0.0], "R", 2, definite=True)
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: R is not positive definite: it has the eigenvalue 0.
    """
    matrix = _square(value, name, n, f"a number, {n} of them")
    _require_symmetric(matrix, f"{name} is not symmetric.")
    least = _least_eigenvalue(matrix)
    if not _is_positive(matrix, least, definite):
        raise InputError(f"{name} is not {_need(definite)}: it has the eigenvalue {least:g}.")
    return _symmetric_part(matrix)


def gain(value: Any, name: str, n: int, *, definite: bool = True) -> Floats:
    """A gain matrix (n, n), whose symmetric part is positive definite, or semidefinite.

    >>> gain(-1.0, "Kp", 2)
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: Kp is not positive definite: its symmetric part has the eigenvalue -1.
    """
    matrix = _square(value, name, n, f"a number, {n} of them")
    least = _least_eigenvalue(matrix)
    if not _is_positive(matrix, least, definite):
        raise InputError(
            f"{name} is not {_need(definite)}: its symmetric part has the eigenvalue {least:g}."
        )
    return matrix


def covariance(value: Any, name: str, n: int, noun: str, *, definite: bool = False) -> Floats:
    """A covariance (n, n), positive semidefinite, or definite where every signal has noise.

    >>> covariance([[1.0, 2.0], [2.0, 1.0]], "measurement", 2, "outputs")
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: measurement is no covariance: it has the eigenvalue -1, and variances are not less than zero.
    """
    matrix = _square(value, name, n, f"a variance, one for each of the {n} {noun},")
    _require_symmetric(matrix, f"{name} is no covariance: it is not symmetric.")
    least = _least_eigenvalue(matrix)
    if not _is_positive(matrix, least, definite=False):
        raise InputError(
            f"{name} is no covariance: it has the eigenvalue {least:g}, and variances are not less than zero."
        )
    if definite and not _is_positive(matrix, least, definite=True):
        raise InputError(
            f"{name} is singular: some combination of the {n} {noun} would be without noise; give each a variance."
        )
    return _symmetric_part(matrix)


def numbers(value: Any, name: str, n: int) -> Floats:
    """A positive number for each of n coordinates.

    >>> numbers(2.0, "frequency", 3)
    array([2., 2., 2.])
    """
    given = finite(value, name)
    if given.shape not in ((), (n,)):
        raise InputError(
            f"{name} is a number, or one for each of the {n} coordinates; its shape is {given.shape}."
        )
    if not (given > 0).all():
        raise InputError(f"{name} is greater than zero; it is {given.tolist()}.")
    return np.broadcast_to(given, n).copy()


def _square(value: Any, name: str, n: int, kinds: str) -> Floats:
    """A number or a diagonal as a matrix."""
    given = finite(value, name)
    if given.shape not in ((), (n,), (n, n)):
        raise InputError(f"{name} is {kinds} or a {n}x{n} matrix; its shape is {given.shape}.")
    return given.copy() if given.ndim == 2 else np.diag(np.broadcast_to(given, n)).copy()


def _symmetric_part(matrix: Floats) -> Floats:
    return (matrix + matrix.T) / 2


def _require_symmetric(matrix: Floats, sentence: str) -> None:
    if (np.abs(matrix - matrix.T) > COINCIDENT * np.abs(matrix).max(initial=0.0)).any():
        raise InputError(sentence)


def _least_eigenvalue(matrix: Floats) -> float:
    return float(np.linalg.eigvalsh(_symmetric_part(matrix)).min(initial=np.inf))


def _is_positive(matrix: Floats, least: float, definite: bool) -> bool:
    """Whether the least eigenvalue is positive; round-off of the largest entry is zero.

    Weights of one matrix may differ by many orders of magnitude, so that a positive eigenvalue
    counts however small it is.
    """
    size = float(np.abs(matrix).max(initial=0.0))
    return bool(least > np.finfo(float).eps * size if definite else least >= -ROUND_OFF * size)


def _need(definite: bool) -> str:
    return "positive definite" if definite else "positive semidefinite"
