"""Gains as users give them: a number, one for each coordinate, or a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats, finite
from eslabon.errors import InputError


def matrix(value: Any, name: str, n: int, zero: bool = False) -> Floats:
    """A gain matrix, (n, n), whose symmetric part is positive definite; or semidefinite, where zero makes sense.

    >>> matrix([1.0, 2.0], "Kp", 2)
    array([[1., 0.],
           [0., 2.]])
    >>> matrix(-1.0, "Kp", 2)
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: Kp is not positive definite: its symmetric part has the eigenvalue -1.
    """
    given = finite(value, name)
    if given.shape not in ((), (n,), (n, n)):
        raise InputError(
            f"{name} is a number, {n} of them or a {n}x{n} matrix; its shape is {given.shape}."
        )
    made = given.copy() if given.ndim == 2 else np.diag(np.broadcast_to(given, n)).copy()
    least = float(np.linalg.eigvalsh((made + made.T) / 2).min(initial=np.inf))
    size = float(np.abs(made).max(initial=0.0))
    if least < -1e-12 * size or (least <= 0 and not zero):
        need = "positive semidefinite" if zero else "positive definite"
        raise InputError(f"{name} is not {need}: its symmetric part has the eigenvalue {least:g}.")
    return made


def numbers(value: Any, name: str, n: int, zero: bool = False) -> Floats:
    """A positive number for each of n coordinates; zero too, where that makes sense."""
    given = finite(value, name)
    if given.shape not in ((), (n,)):
        raise InputError(
            f"{name} is a number, or one for each of the {n} coordinates; its shape is {given.shape}."
        )
    if not (given >= 0 if zero else given > 0).all():
        raise InputError(
            f"{name} is {'not less' if zero else 'greater'} than zero; it is {given.tolist()}."
        )
    return np.broadcast_to(given, n).copy()
