"""Units, and numbers as users write them: "N m/rad", "10 cm", "10..30 cm", "±2 %".

A unit is a factor to SI and the exponents of kg, m, s and rad. Numbers are converted to SI where
they are read; nothing else computes with units.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from eslabon.arguments import finite
from eslabon.errors import InputError, format_value, suggest

Dimensions = tuple[float, float, float, float]  # exponents of kg, m, s and rad
NONE: Dimensions = (0.0, 0.0, 0.0, 0.0)
RAD: Dimensions = (0.0, 0.0, 0.0, 1.0)


class Unit(NamedTuple):
    """A unit: how many SI units it is, and the exponents of kg, m, s and rad."""

    factor: float
    dimensions: Dimensions

    def fits(self, other: Unit) -> bool:
        """Whether a number in this unit can be converted to the other.

        Beside other units rad may be left out: N m/rad fits N m.
        """
        if self.dimensions[:3] != other.dimensions[:3]:
            return False
        return any(self.dimensions[:3]) or self.dimensions[3] == other.dimensions[3]


_NEWTON: Dimensions = (1.0, 1.0, -2.0, 0.0)
_JOULE: Dimensions = (1.0, 2.0, -2.0, 0.0)
_METRE: Dimensions = (0.0, 1.0, 0.0, 0.0)
_GRAM: Dimensions = (1.0, 0.0, 0.0, 0.0)
_SECOND: Dimensions = (0.0, 0.0, 1.0, 0.0)
SYMBOLS: Mapping[str, Unit] = {
    "m": Unit(1.0, _METRE),
    "cm": Unit(1e-2, _METRE),
    "mm": Unit(1e-3, _METRE),
    "um": Unit(1e-6, _METRE),
    "µm": Unit(1e-6, _METRE),
    "μm": Unit(1e-6, _METRE),
    "in": Unit(0.0254, _METRE),
    "kg": Unit(1.0, _GRAM),
    "g": Unit(1e-3, _GRAM),
    "t": Unit(1e3, _GRAM),
    "s": Unit(1.0, _SECOND),
    "ms": Unit(1e-3, _SECOND),
    "min": Unit(60.0, _SECOND),
    "rad": Unit(1.0, RAD),
    "mrad": Unit(1e-3, RAD),
    "deg": Unit(math.pi / 180, RAD),
    "°": Unit(math.pi / 180, RAD),
    "N": Unit(1.0, _NEWTON),
    "kN": Unit(1e3, _NEWTON),
    "mN": Unit(1e-3, _NEWTON),
    "Nm": Unit(1.0, _JOULE),
    "mNm": Unit(1e-3, _JOULE),
    "J": Unit(1.0, _JOULE),
    "Hz": Unit(1.0, (0.0, 0.0, -1.0, 0.0)),
    "rpm": Unit(math.pi / 30, (0.0, 0.0, -1.0, 1.0)),
    "W": Unit(1.0, (1.0, 2.0, -3.0, 0.0)),
    "kW": Unit(1e3, (1.0, 2.0, -3.0, 0.0)),
}
_FACTOR = re.compile(
    r"\s*(?P<sign>[*·/]?)\s*(?P<symbol>[A-Za-zµμ°]+)"
    r"(?:(?:\^|\*\*)?(?P<power>-?\d)|(?P<raised>[²³]))?"
)
# how SI units are written where there is a choice, the first that fits
_USUAL_TEXTS = (
    *("m", "kg", "s", "rad", "m/s", "rad/s", "m/s²", "rad/s²", "1/s", "m/rad", "rad/m", "N", "N m"),
    *("N/m", "N s/m", "N m/rad", "N m s/rad", "N m s", "kg m²", "kg m", "m²", "W"),
)


def unit_of(text: str) -> Unit:
    """The unit that a text means.

    >>> unit_of("N/mm").factor, unit_of("kg cm²").factor, unit_of("N m/rad").fits(unit_of("Nm"))
    (1000.0, 0.0001, True)
    """
    factor, dimensions, position, written = 1.0, NONE, 0, text.strip()
    written = written[1:] if written.startswith("1/") else written
    while position < len(written):
        found = _FACTOR.match(written, position)
        if found is None or found["symbol"] not in SYMBOLS:
            symbol = found["symbol"] if found else written[position:].strip()
            raise InputError(f"there is no unit {format_value(symbol)}{suggest(symbol, SYMBOLS)}")
        power = int(found["power"] or {"²": 2, "³": 3}.get(found["raised"] or "", 1))
        power = -power if found["sign"] == "/" else power
        factor *= SYMBOLS[found["symbol"]].factor ** power
        dimensions = add_exponents(dimensions, SYMBOLS[found["symbol"]].dimensions, power)
        position = found.end()
    return Unit(factor, dimensions)


def unit_text(dimensions: Dimensions) -> str:
    """How the SI unit of these exponents is written.

    >>> unit_text((1.0, 2.0, -2.0, -1.0)), unit_text((0.5, 0.0, 0.0, 0.0)), unit_text(NONE)
    ('N m/rad', 'kg^0.5', '')
    """
    usual = next((text for text in _USUAL_TEXTS if unit_of(text).dimensions == dimensions), None)
    raised = (
        f"{s}^{x:g}" if x != 1 else s
        for s, x in zip(("kg", "m", "s", "rad"), dimensions, strict=True)
        if x
    )
    return " ".join(raised) if usual is None else usual


def add_exponents(a: Dimensions, b: Dimensions, times: float = 1.0) -> Dimensions:
    """The exponents of a product of a unit with a power of another one.

    >>> add_exponents((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), 2.0)  # kg m²
    (1.0, 2.0, 0.0, 0.0)
    """
    kg, m, s, rad = (x + times * y for x, y in zip(a, b, strict=True))
    return kg, m, s, rad


# -- numbers with units ----------------------------------------------------------------------------

# Patterns are compiled when they are first used, and few processes use them.
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_NUMBER_AND_UNIT = rf"(?P<value>{NUMBER})\s*(?P<unit>.*)"
_RANGE = rf"(?P<low>{NUMBER})\s*(?P<first>[^\d.+-]*?)\s*\.\.\s*(?P<high>{NUMBER})\s*(?P<unit>.*)"
_TOLERANCE = (
    rf"(?P<middle>{NUMBER})?\s*(?P<first>[^\d.+±-]*?)\s*(?:±|\+/-|\+-)\s*"
    rf"(?P<by>{NUMBER})\s*(?P<unit>.*)"
)


def number_in_si(written: Any, what: str, unit: str | None) -> float:
    """A number in SI units, from a plain number or from a text with a unit that fits.

    `unit` is the unit the number must have; None if it is unknown, and then only plain numbers are
    accepted. `what` names the number in messages.

    >>> number_in_si("10 cm", "a length", "m"), number_in_si(0.2, "a length", "m")
    (0.1, 0.2)
    """
    if not isinstance(written, str):
        array = finite(written, what)
        if array.ndim:
            raise InputError(f"{what} holds {format_value(written)} where one number is expected.")
        return float(array)
    found = re.fullmatch(_NUMBER_AND_UNIT, written.strip())
    if found is None:
        raise InputError(
            f"{what} holds {written!r}, which is no number with a unit, such as '10 cm'."
        )
    return float(found["value"]) * factor_to_si(found["unit"], what, unit)


def range_in_si(written: str, what: str, unit: str | None) -> tuple[float, float] | None:
    """The ends of a range such as "10..30 cm"; None if the text is no range.

    >>> range_in_si("10..30 cm", "a length", "m"), range_in_si("±1 mm", "a length", "m")
    ((0.1, 0.3), None)
    """
    if (found := re.fullmatch(_RANGE, written.strip())) is None:
        return None
    first, second = (
        factor_to_si(x, what, unit) for x in (found["first"] or found["unit"], found["unit"])
    )
    return float(found["low"]) * first, float(found["high"]) * second


def has_tolerance(written: str) -> bool:
    """Whether a text has a tolerance in it, as "±2 %" has.

    >>> has_tolerance("100 ± 0.1 mm normal"), has_tolerance("10..30 cm")
    (True, False)
    """
    return re.search(_TOLERANCE, written) is not None


def tolerance_in_si(
    written: str, what: str, unit: str | None, nominal: float
) -> tuple[float, float] | None:
    """The ends of "±0.1 mm" or "±2 %" about the nominal value, or of "100 ± 0.1 mm"; None if the
    text is no tolerance.

    >>> tolerance_in_si("±5 %", "a mass", "kg", 2.0), tolerance_in_si("3 ± 1 m", "L", "m", 0.0)
    ((1.9, 2.1), (2.0, 4.0))
    """
    if (found := re.fullmatch(_TOLERANCE, written.strip())) is None:
        return None
    is_relative = found["unit"] == "%"
    own = factor_to_si(found["first"] or ("" if is_relative else found["unit"]), what, unit)
    middle = nominal if found["middle"] is None else float(found["middle"]) * own
    by = float(found["by"]) * (
        abs(middle) / 100 if is_relative else factor_to_si(found["unit"], what, unit)
    )
    if by > 0:
        return middle - by, middle + by
    if is_relative and not middle:
        why = "a percentage of zero is zero; give the tolerance in its unit"
    else:
        why = "it is not positive"
    raise InputError(f"{what} = {written!r} is no tolerance: {why}.")


def check_range(ends: tuple[float, float], what: str) -> tuple[float, float]:
    """The ends of a range as floats. Raises `InputError` if it is empty or reversed.

    >>> check_range((0.1, 0.3), "L2")
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
    """How many SI units a written unit is; 1 if none is written. `unit` is what it must fit, None
    if that is unknown."""
    if not written.strip():
        return 1.0
    try:
        given = unit_of(written)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    if unit is None:
        raise InputError(
            f"{what} is in {written}, and where the parameter stands does not tell its unit; "
            "give plain numbers as the description does."
        )
    if not given.fits(unit_of(unit)):
        own = f"is in {unit}" if unit else "is a mere number"
        raise InputError(
            f"{what} is in {written}, and the parameter {own}; give it a unit that fits."
        )
    return given.factor
