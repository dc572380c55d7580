"""The unit of each parameter, which follows from where it stands.

The numbers of a mechanism have units by what they are: a mass is in kilograms, a position in
metres. A parameter that stands for one of them has its unit; a parameter in a product has the unit
that remains. A parameter whose unit does not follow has none, and any unit is accepted for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from eslabon.errors import InputError, ModelError
from eslabon.model.parameter_expressions import Number, ParameterExpression, number
from eslabon.numerics.tolerances import ROUND_OFF
from eslabon.numerics.units import (
    NONE,
    NUMBER,
    RAD,
    Dimensions,
    Unit,
    add_exponents,
    unit_of,
    unit_text,
)

_WITH_UNIT = re.compile(rf"\s*(?P<value>{NUMBER})\s*(?P<unit>[A-Za-zµμ°].*)")


def number_with_unit(written: object, what: str, *units: str) -> Number:
    """A number of a model as `number` reads it, or from a text of a number and a unit.

    The unit must fit one of `units`; without any, as for a parameter, every unit is accepted.

    >>> number_with_unit("80 mm", "a length", "m"), number_with_unit("80*L", "a length", "m")
    (0.08, ParameterExpression('80*L'))
    """
    if not isinstance(written, str) or (found := _value_and_unit(written)) is None:
        return number(written, what)  # of what is no expression either, its parser says why
    value, text, given = found
    if units and not any(given.fits(unit_of(unit)) for unit in units):
        known = " or ".join(f"in {unit}" if unit else "a mere number" for unit in units)
        raise ModelError(f"{what} is in {text}; it is to be {known}.")
    return number(value * given.factor, what)


def has_unit(written: object) -> bool:
    """Whether what is written is a number with a unit of its own.

    >>> has_unit("80 mm"), has_unit("80*mm"), has_unit(80)
    (True, False, False)
    """
    return isinstance(written, str) and _value_and_unit(written) is not None


def _value_and_unit(written: str) -> tuple[float, str, Unit] | None:
    """A number, its unit as written, and what that means; None for any other text."""
    if (found := _WITH_UNIT.fullmatch(written)) is None:
        return None
    try:
        return float(found["value"]), found["unit"].strip(), unit_of(found["unit"])
    except InputError:
        return None


# What tells the unit of a parameter, the surest first: that it stands for a number by itself, times
# a factor, in a product.
BARE, SCALED, PRODUCTS = range(3)


def infer_units(
    numbers: Iterable[tuple[object, str]], definitions: Mapping[str, object]
) -> dict[str, str | None]:
    """The unit of each parameter from the numbers of a description, each with its unit: None where
    it cannot be told.

    >>> from eslabon.model.parameter_expressions import number
    >>> numbers = [(number("m*L**2/3"), "kg m²"), (number("L/2"), "m")]
    >>> infer_units(numbers, {"m": 1.0, "L": 2.0, "k": 3.0})
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
    x: object, wanted: Dimensions, known: Mapping[str, Dimensions], level: int
) -> Iterator[tuple[str, Dimensions]]:
    """What an expression of a unit says of the units of its parameters."""
    if not isinstance(x, ParameterExpression):
        return
    first, *others = x.arguments
    second = others[0] if others else 1.0
    parts: list[tuple[object, Dimensions | None]] = []
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
            parts = [(first, None if right is None else add_exponents(wanted, right, -sign))]
            parts += [
                (second, None if left is None else add_exponents(_times(wanted, sign), left, -sign))
            ]
        case "**" if isinstance(second, float) and second:
            parts = [(first, _times(wanted, 1 / second))]
        case "sqrt":
            parts = [(first, _times(wanted, 2.0))]
        case "sin" | "cos" | "tan":
            parts = [(first, RAD)]
    for part, what in parts:
        if what is not None:
            yield from _unit_evidence(part, what, known, level)


def _dimensions(x: object, known: Mapping[str, Dimensions]) -> Dimensions | None:
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
                else add_exponents(left, right, 1.0 if x.operation == "*" else -1.0)
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
    return add_exponents(NONE, a, factor)


def _pure(x: object) -> bool:
    """Whether a factor is a mere number, such as 1/12 or 2 pi; 9.81 has a unit, and 0.001 may be a
    conversion."""
    if not isinstance(x, float) or not math.isfinite(x):
        return False
    from fractions import Fraction

    ratios = (Fraction(x / y).limit_denominator(64) for y in (1.0, math.pi))
    return any(
        abs(r) <= 500 and abs(float(r) * y - x) <= ROUND_OFF * abs(x)
        for r, y in zip(ratios, (1.0, math.pi), strict=True)
    )
