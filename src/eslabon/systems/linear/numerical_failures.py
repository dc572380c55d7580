"""Errors of linear algebra as sentences: what LAPACK gives up on is said in terms of the system."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from eslabon.errors import EslabonError, SingularityError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def explained(task: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Have a function end in a `SingularityError` that names its task where LAPACK finds no result.

    Functions say what they can about the system before; this is for what depends on rounding and
    overflow.

    >>> explained("the inverse")(np.linalg.inv)([[0.0]])
    Traceback (most recent call last):
        ...
    eslabon.errors.SingularityError: the inverse cannot be computed (Singular matrix): the numbers of the system are too \
large, too small, or of too different sizes; choose other units, or scale its states, inputs and outputs.
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def guarded(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
            try:
                with np.errstate(over="raise"):
                    return function(*arguments, **options)
            except EslabonError:
                raise
            except (np.linalg.LinAlgError, ValueError, ArithmeticError) as error:
                if type(error) is ValueError and "infs or NaNs" not in str(
                    error
                ):  # SciPy's word for an overflow before
                    raise
                raise SingularityError(
                    f"{task} cannot be computed ({error}): the numbers of the system are too large, too small, or of too "
                    "different sizes; choose other units, or scale its states, inputs and outputs."
                ) from None

        return guarded

    return decorate
