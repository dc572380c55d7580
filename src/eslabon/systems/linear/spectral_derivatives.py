"""Derivatives of what is no formula, exact: of condition numbers, by singular vectors; of poles, by
their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eslabon.arguments import known_words
from eslabon.errors import ModelError
from eslabon.model import Model
from eslabon.solve.constraints.derivative_requests import parameters_of
from eslabon.solve.singular.condition_derivatives import condition_derivatives
from eslabon.systems.linear.linearize import linearize
from eslabon.systems.linear.mode_derivatives import derivative_of_modes


def spectral_derivative(
    m: Model, quantity: str, by: Any, arrays: tuple[Any, ...], options: Mapping[str, Any]
) -> Any:
    """The derivative of one of `quantities.SPECTRAL` by one parameter or several."""
    parameters_of(m, by)
    if quantity == "conditions":
        _check(quantity, arrays, ("q",), options, (condition_derivatives,))
        return condition_derivatives(m, by, *arrays, **options)
    _check(quantity, arrays, ("q", "v", "tau"), options, (derivative_of_modes, linearize))
    return derivative_of_modes(m, quantity, by, *arrays, **options)


def _check(
    quantity: str,
    arrays: tuple[Any, ...],
    taken: tuple[str, ...],
    options: Mapping[str, Any],
    functions: tuple[Any, ...],
) -> None:
    """Refuse other arrays, and options that the functions do not have."""
    if not 1 <= len(arrays) <= len(taken):
        raise ModelError(f"{quantity} are of {', '.join(taken)}; {len(arrays)} arrays were given.")
    codes = [f.__code__ for f in functions]
    known = [x for c in codes for x in c.co_varnames[c.co_argcount :][: c.co_kwonlyargcount]]
    known_words(options, known, f"{quantity} have no option")
