"""Numbers as people write them, with a unit: "80 mm", and ranges of them, "80..120 mm"."""

from __future__ import annotations

import re
from typing import Any

from eslabon.arguments import finite
from eslabon.errors import InputError, ModelError, shown
from eslabon.model.units import unit_of

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"(?P<low>{NUMBER})\s*(?P<first>[^\d.+-]*?)\s*\.\.\s*(?P<high>{NUMBER})\s*(?P<unit>.*)")
_ONE = re.compile(rf"(?P<value>{NUMBER})\s*(?P<unit>.*)")


def written_number(said: Any, what: str, unit: str | None) -> float:
    """A number in SI units, or a text with a unit that fits; `unit` is the SI unit of what it is for, None where that is not known.

    >>> written_number("80 mm", "L2", "m"), written_number(0.08, "L2", "m")
    (0.08, 0.08)
    """
    if not isinstance(said, str):
        array = finite(said, what)
        if array.ndim:
            raise InputError(f"{what} holds {shown(said)} where one number is expected.")
        return float(array)
    found = _ONE.fullmatch(said.strip())
    if found is None:
        raise InputError(f"{what} holds {said!r}, which is no number with a unit, such as '10 cm'.")
    return float(found["value"]) * unit_factor(found["unit"], what, unit)


def written_range(said: str, what: str, unit: str | None) -> tuple[float, float] | None:
    """The ends of a range, as in "3..6 cm"; None of a text that is none.

    >>> written_range("3..6 cm", "L2", "m"), written_range("3 cm", "L2", "m")
    ((0.03, 0.06), None)
    """
    found = _RANGE.fullmatch(said.strip())
    if found is None:
        return None
    low, high = (unit_factor(found[key] or found["unit"], what, unit) for key in ("first", "unit"))
    return float(found["low"]) * low, float(found["high"]) * high


def unit_factor(written: str, what: str, unit: str | None) -> float:
    """How many SI units a unit is, of a parameter whose own is known; none written is the SI unit."""
    if not written.strip():
        return 1.0
    try:
        given = unit_of(written)
    except ModelError as error:
        raise InputError(f"{what}: {error}") from None
    if unit is None:
        raise InputError(f"{what} is in {written}, and where the parameter stands does not tell its unit; give plain numbers as the description does.")  # fmt: skip
    if not given.fits(unit_of(unit)):
        own = f"is in {unit}" if unit else "is a mere number"
        raise InputError(f"{what} is in {written}, and the parameter {own}; give it a unit that fits.")
    return given.factor
