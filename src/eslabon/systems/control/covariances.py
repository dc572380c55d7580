"""Covariances as users give them: a variance, one for each signal, or a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats, finite
from eslabon.errors import InputError


def covariance(value: Any, name: str, n: int, noun: str, definite: bool = False) -> Floats:
    """A symmetric positive semidefinite matrix (n, n), or a definite one.

    >>> covariance([1.0, 4.0], "measurement", 2, "outputs")
    array([[1., 0.],
           [0., 4.]])
    >>> covariance([[1.0, 2.0], [2.0, 1.0]], "measurement", 2, "outputs")
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: measurement is no covariance: it has the eigenvalue -1, and variances are not less than zero.
    """
    given = finite(value, name)
    if given.shape not in ((), (n,), (n, n)):
        raise InputError(
            f"{name} is a variance, one for each of the {n} {noun}, or a {n}x{n} matrix; its shape is {given.shape}."
        )
    matrix = given.copy() if given.ndim == 2 else np.diag(np.broadcast_to(given, n)).copy()
    size = float(np.abs(matrix).max(initial=0.0))
    if (np.abs(matrix - matrix.T) > 1e-9 * size).any():
        raise InputError(f"{name} is no covariance: it is not symmetric.")
    matrix = (matrix + matrix.T) / 2
    least = float(np.linalg.eigvalsh(matrix).min(initial=np.inf))
    if least < -1e-9 * size:
        raise InputError(
            f"{name} is no covariance: it has the eigenvalue {least:g}, and variances are not less than zero."
        )
    if definite and least <= 1e-15 * size:
        raise InputError(
            f"{name} is singular: some combination of the {n} {noun} would be without noise; give each a variance."
        )
    return matrix
