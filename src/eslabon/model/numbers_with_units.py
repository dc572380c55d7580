"""Numbers as users write them, with units: "10 cm", "10..30 cm"; in SI units for the rest of the house."""

from __future__ import annotations

import re
from typing import Any

from eslabon.arguments import finite
from eslabon.errors import InputError, ModelError, format_value
from eslabon.model.parameter_expressions import Number, number
from eslabon.model.units import unit_of

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ONE = re.compile(rf"(?P<value>{NUMBER})\s*(?P<unit>.*)")
_RANGE = re.compile(
    rf"(?P<low>{NUMBER})\s*(?P<first>[^\d.+-]*?)\s*\.\.\s*(?P<high>{NUMBER})\s*(?P<unit>.*)"
)
_WITH_UNIT = re.compile(rf"\s*(?P<value>{NUMBER})\s*(?P<unit>[A-Za-zµμ°].*)")


def number_with_unit(written: Any, what: str, *units: str) -> Number:
    """A number of a model as `number` reads it, or a text of a number and a unit. That must fit one of the units; where there
    are none, as for a parameter, any will do.

    >>> number_with_unit("80 mm", "a length", "m"), number_with_unit("80*L", "a length", "m")
    (0.08, ParameterExpression('80*L'))
    """
    found = _WITH_UNIT.fullmatch(written) if isinstance(written, str) else None
    if found is None:
        return number(written, what)
    try:
        given = unit_of(found["unit"])
    except ModelError:
        return number(written, what)  # it is no expression either, and its parser says why
    if units and not any(given.fits(unit_of(unit)) for unit in units):
        known = " or ".join(f"in {unit}" if unit else "a mere number" for unit in units)
        raise ModelError(f"{what} is in {found['unit'].strip()}; it is to be {known}.")
    return number(float(found["value"]) * given.factor, what)


def number_in_si(said: Any, what: str, unit: str | None) -> float:
    """A number in SI units, or a text with a unit that fits; `unit` is None where nothing tells which would.

    >>> number_in_si("10 cm", "a length", "m"), number_in_si(0.2, "a length", "m")
    (0.1, 0.2)
    """
    if not isinstance(said, str):
        array = finite(said, what)
        if array.ndim:
            raise InputError(f"{what} holds {format_value(said)} where one number is expected.")
        return float(array)
    found = _ONE.fullmatch(said.strip())
    if found is None:
        raise InputError(f"{what} holds {said!r}, which is no number with a unit, such as '10 cm'.")
    return float(found["value"]) * factor_to_si(found["unit"], what, unit)


def range_in_si(said: str, what: str, unit: str | None) -> tuple[float, float] | None:
    """The ends of "10..30 cm"; None where a text is no range.

    >>> range_in_si("10..30 cm", "a length", "m"), range_in_si("±1 mm", "a length", "m")
    ((0.1, 0.3), None)
    """
    if (found := _RANGE.fullmatch(said.strip())) is None:
        return None
    first, second = (
        factor_to_si(x, what, unit) for x in (found["first"] or found["unit"], found["unit"])
    )
    return float(found["low"]) * first, float(found["high"]) * second


def ordered(ends: tuple[float, float], what: str) -> tuple[float, float]:
    """The ends of a range, refused where it is empty or the wrong way round.

    >>> ordered((0.1, 0.3), "L2")
    (0.1, 0.3)
    """
    low, high = (float(finite(x, what)) for x in ends)
    if low > high:
        raise InputError(f"{what} goes from {low:g} down to {high:g}; give the lesser end first.")
    if low == high:
        raise InputError(
            f"{what} is an empty range, from {low:g} to {high:g}; give two different ends."
        )
    return low, high


def factor_to_si(written: str, what: str, unit: str | None) -> float:
    """How many SI units a unit is, of a parameter whose own is known; none written is the SI unit."""
    if not written.strip():
        return 1.0
    try:
        given = unit_of(written)
    except ModelError as error:
        raise InputError(f"{what}: {error}") from None
    if unit is None:
        raise InputError(
            f"{what} is in {written}, and where the parameter stands does not tell its unit; give plain numbers as the description does."
        )
    if not given.fits(unit_of(unit)):
        own = f"is in {unit}" if unit else "is a mere number"
        raise InputError(
            f"{what} is in {written}, and the parameter {own}; give it a unit that fits."
        )
    return given.factor
