"""Units: texts such as "N m/rad" in SI, and the unit of each parameter, which follows from where it stands.

A mechanism's numbers have units by what they are: a mass is in kilograms, a place in metres. A parameter that stands for one of
them has its unit; one in a product has the unit that is left. What cannot be told has none, and no unit is refused for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from eslabon.errors import ModelError, format_value, suggest
from eslabon.model.parameter_expressions import ParameterExpression
from eslabon.numerics.tolerances import ROUND_OFF

Dimensions = tuple[float, float, float, float]  # exponents of kg, m, s and rad
NONE: Dimensions = (0.0, 0.0, 0.0, 0.0)
RAD: Dimensions = (0.0, 0.0, 0.0, 1.0)


class Unit(NamedTuple):
    """A unit: how many of the SI unit it is, and the exponents of kg, m, s and rad."""

    factor: float
    dimensions: Dimensions

    def fits(self, other: Unit) -> bool:
        """Whether a number in the one can be said in the other. Beside other units rad may be left out: N m/rad is N m."""
        if self.dimensions[:3] != other.dimensions[:3]:
            return False
        return any(self.dimensions[:3]) or self.dimensions[3] == other.dimensions[3]


_NEWTON: Dimensions = (1.0, 1.0, -2.0, 0.0)
_JOULE: Dimensions = (1.0, 2.0, -2.0, 0.0)
_METRE: Dimensions = (0.0, 1.0, 0.0, 0.0)
_GRAM: Dimensions = (1.0, 0.0, 0.0, 0.0)
_SECOND: Dimensions = (0.0, 0.0, 1.0, 0.0)
SYMBOLS: Mapping[str, Unit] = {
    "m": Unit(1.0, _METRE), "cm": Unit(1e-2, _METRE), "mm": Unit(1e-3, _METRE), "um": Unit(1e-6, _METRE),
    "µm": Unit(1e-6, _METRE), "μm": Unit(1e-6, _METRE), "in": Unit(0.0254, _METRE),
    "kg": Unit(1.0, _GRAM), "g": Unit(1e-3, _GRAM), "t": Unit(1e3, _GRAM),
    "s": Unit(1.0, _SECOND), "ms": Unit(1e-3, _SECOND), "min": Unit(60.0, _SECOND),
    "rad": Unit(1.0, RAD), "mrad": Unit(1e-3, RAD), "deg": Unit(math.pi / 180, RAD), "°": Unit(math.pi / 180, RAD),
    "N": Unit(1.0, _NEWTON), "kN": Unit(1e3, _NEWTON), "mN": Unit(1e-3, _NEWTON),
    "Nm": Unit(1.0, _JOULE), "mNm": Unit(1e-3, _JOULE), "J": Unit(1.0, _JOULE),
    "Hz": Unit(1.0, (0.0, 0.0, -1.0, 0.0)), "rpm": Unit(math.pi / 30, (0.0, 0.0, -1.0, 1.0)),
    "W": Unit(1.0, (1.0, 2.0, -3.0, 0.0)), "kW": Unit(1e3, (1.0, 2.0, -3.0, 0.0)),
}  # fmt: skip
_FACTOR = re.compile(
    r"\s*(?P<sign>[*·/]?)\s*(?P<symbol>[A-Za-zµμ°]+)(?:(?:\^|\*\*)?(?P<power>-?\d)|(?P<raised>[²³]))?"
)
_WRITTEN = ("m", "kg", "s", "rad", "m/s", "rad/s", "m/s²", "rad/s²", "1/s", "m/rad", "rad/m", "N", "N m", "N/m", "N s/m",
            "N m/rad", "N m s/rad", "N m s", "kg m²", "kg m", "m²", "W")  # fmt: skip


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
            raise ModelError(f"there is no unit {format_value(symbol)}{suggest(symbol, SYMBOLS)}")
        power = int(found["power"] or {"²": 2, "³": 3}.get(found["raised"] or "", 1))
        power = -power if found["sign"] == "/" else power
        factor *= SYMBOLS[found["symbol"]].factor ** power
        dimensions = _sum(dimensions, SYMBOLS[found["symbol"]].dimensions, power)
        position = found.end()
    return Unit(factor, dimensions)


def unit_text(dimensions: Dimensions) -> str:
    """How an SI unit is written.

    >>> unit_text((1.0, 2.0, -2.0, -1.0)), unit_text((0.5, 0.0, 0.0, 0.0)), unit_text(NONE)
    ('N m/rad', 'kg^0.5', '')
    """
    usual = next((text for text in _WRITTEN if unit_of(text).dimensions == dimensions), None)
    raised = (
        f"{s}^{x:g}" if x != 1 else s
        for s, x in zip(("kg", "m", "s", "rad"), dimensions, strict=True)
        if x
    )
    return " ".join(raised) if usual is None else usual


def _sum(a: Dimensions, b: Dimensions, times: float = 1.0) -> Dimensions:
    kg, m, s, rad = (x + times * y for x, y in zip(a, b, strict=True))
    return kg, m, s, rad


# -- units of parameters ------------------------------------------------------------------------------------------------

# What tells the unit of a parameter, the surest first: that it stands for a number by itself, times a factor, in a product.
BARE, SCALED, PRODUCTS = range(3)


def inferred_units(
    numbers: Iterable[tuple[Any, str]], definitions: Mapping[str, Any]
) -> dict[str, str | None]:
    """The unit of each parameter from the numbers of a description, each with its unit: None where it cannot be told.

    >>> from eslabon.model.parameter_expressions import number
    >>> inferred_units([(number("m*L**2/3"), "kg m²"), (number("L/2"), "m")], {"m": 1.0, "L": 2.0, "k": 3.0})
    {'m': 'kg', 'L': 'm', 'k': None}
    """
    targets = [
        (x, unit_of(unit).dimensions) for x, unit in numbers if isinstance(x, ParameterExpression)
    ]
    known: dict[str, Dimensions] = {}
    for level in (BARE, SCALED, PRODUCTS):
        grown = True
        while grown:
            said: dict[str, set[Dimensions]] = {}
            more = [
                (definitions[name], known[name])
                for name in known
                if isinstance(definitions.get(name), ParameterExpression)
            ]
            for expression, dimensions in (*targets, *more):
                for name, what in _unit_evidence(expression, dimensions, known, level):
                    said.setdefault(name, set()).add(what)
            found = {
                name: next(iter(what))
                for name, what in said.items()
                if len(what) == 1 and name not in known
            }
            known |= found
            grown = bool(found)
    return {name: unit_text(known[name]) if name in known else None for name in definitions}


def _unit_evidence(
    x: Any, wanted: Dimensions, known: Mapping[str, Dimensions], level: int
) -> Iterator[tuple[str, Dimensions]]:
    """What an expression of a unit says of the units of its parameters."""
    if not isinstance(x, ParameterExpression):
        return
    first, *others = x.arguments
    second = others[0] if others else 1.0
    parts: list[tuple[Any, Dimensions | None]] = []
    match x.operation:
        case "name":
            yield str(first), wanted
        case "neg" | "abs" | "+" | "-":
            parts = [(argument, wanted) for argument in x.arguments]
        case "*" | "/" if level >= SCALED and _pure(second):
            parts = [(first, wanted)]
        case "*" if level >= SCALED and _pure(first):
            parts = [(second, wanted)]
        case "*" | "/" if level >= PRODUCTS:
            sign = 1.0 if x.operation == "*" else -1.0
            left, right = _dimensions(first, known), _dimensions(second, known)
            parts = [(first, None if right is None else _sum(wanted, right, -sign))]
            parts += [(second, None if left is None else _sum(_times(wanted, sign), left, -sign))]
        case "**" if isinstance(second, float) and second:
            parts = [(first, _times(wanted, 1 / second))]
        case "sqrt":
            parts = [(first, _times(wanted, 2.0))]
        case "sin" | "cos" | "tan":
            parts = [(first, RAD)]
    for part, what in parts:
        if what is not None:
            yield from _unit_evidence(part, what, known, level)


def _dimensions(x: Any, known: Mapping[str, Dimensions]) -> Dimensions | None:
    """The dimensions of an expression, if they can be told."""
    if not isinstance(x, ParameterExpression):
        return NONE if _pure(x) else None
    inner = [_dimensions(a, known) for a in x.arguments if not isinstance(a, str)]
    match x.operation:
        case "name":
            return known.get(str(x.arguments[0]))
        case "neg" | "abs":
            return inner[0]
        case "+" | "-":
            return next(
                (
                    d
                    for d, a in zip(inner, x.arguments, strict=True)
                    if d is not None and isinstance(a, ParameterExpression)
                ),
                None,
            )
        case "*" | "/":
            left, right = inner
            return (
                None
                if left is None or right is None
                else _sum(left, right, 1.0 if x.operation == "*" else -1.0)
            )
        case "**" | "sqrt":
            power = 0.5 if x.operation == "sqrt" else x.arguments[1]
            return (
                _times(inner[0], power)
                if inner[0] is not None and isinstance(power, float)
                else None
            )
        case "sin" | "cos" | "tan" | "sign":
            return NONE
        case "asin" | "acos" | "atan2":
            return RAD
    return None


def _times(a: Dimensions, factor: float) -> Dimensions:
    return _sum(NONE, a, factor)


def _pure(x: Any) -> bool:
    """Whether a factor is a mere number, such as 1/12 or 2 pi; 9.81 has a unit, and 0.001 may be a conversion."""
    if not isinstance(x, float) or not math.isfinite(x):
        return False
    ratios = (Fraction(x / y).limit_denominator(64) for y in (1.0, math.pi))
    return any(
        abs(r) <= 500 and abs(float(r) * y - x) <= ROUND_OFF * abs(x)
        for r, y in zip(ratios, (1.0, math.pi), strict=True)
    )
