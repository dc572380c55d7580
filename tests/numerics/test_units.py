"""Units and numbers with units, as users write them."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.numerics.units import (
    SYMBOLS,
    check_range,
    has_tolerance,
    number_in_si,
    range_in_si,
    tolerance_in_si,
    unit_of,
    unit_text,
)


@pytest.mark.parametrize(
    ("written", "factor", "same"),
    [
        ("N/mm", 1e3, "N/m"),
        ("kg cm^2", 1e-4, "kg m²"),
        ("g*mm2", 1e-9, "kg m²"),
        ("deg/s", np.pi / 180, "rad/s"),
        ("Nm", 1.0, "N m"),
        ("N m s/rad", 1.0, "N m s/rad"),
        ("1/s", 1.0, "Hz"),
        ("rpm", np.pi / 30, "rad/s"),
        ("m/s²", 1.0, "m/s^2"),
        ("N s / m", 1.0, "N s/m"),
    ],
)
def test_units_are_read(written, factor, same):
    assert unit_of(written).factor == pytest.approx(factor, rel=1e-15)
    assert unit_of(written).dimensions == unit_of(same).dimensions
    assert unit_of(unit_text(unit_of(written).dimensions)).dimensions == unit_of(same).dimensions


def test_what_is_no_unit_is_refused():
    with pytest.raises(es.InputError, match=r"there is no unit 'kgg'; did you mean 'kg'\?"):
        unit_of("kgg")
    assert not unit_of("rad").fits(unit_of(""))
    assert unit_of("N m/rad").fits(unit_of("N m"))


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_a_number_in_any_unit_is_that_of_its_factor(symbol):
    own = unit_text(SYMBOLS[symbol].dimensions)
    assert number_in_si(f"-2.5{symbol}", "x", own) == -2.5 * SYMBOLS[symbol].factor
    assert range_in_si(f"1..2 {symbol}", "x", own) == (
        1 * SYMBOLS[symbol].factor,
        2 * SYMBOLS[symbol].factor,
    )


@pytest.mark.parametrize(
    ("written", "ends"),
    [
        ("±0.1 mm", (0.3999, 0.4001)),
        ("+/- 0.1 mm", (0.3999, 0.4001)),
        ("±5 %", (0.38, 0.42)),
        ("100 ± 1 mm", (0.099, 0.101)),
        ("10 cm ± 1 mm", (0.099, 0.101)),
        ("0.1 ± 5 %", (0.095, 0.105)),
        ("100 mm ± 5 %", (0.095, 0.105)),
    ],
)
def test_a_tolerance_is_about_the_nominal_value_or_its_own(written, ends):
    assert has_tolerance(written)
    assert tolerance_in_si(written, "L", "m", 0.4) == pytest.approx(ends, rel=1e-14)


def test_a_text_is_a_range_or_a_tolerance_and_never_both():
    assert range_in_si("10 mm .. 3 cm", "L", "m") == pytest.approx((0.01, 0.03), rel=1e-15)
    assert tolerance_in_si("10..30 cm", "L", "m", 0.4) is None
    assert range_in_si("±5 %", "L", "m") is None
    assert range_in_si("wide", "L", "m") is None
    assert tolerance_in_si("wide", "L", "m", 0.4) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: number_in_si("10 kg", "L", "m"), "L is in kg, and the parameter is in m"),
        (lambda: number_in_si("10 kg", "k", ""), "the parameter is a mere number"),
        (lambda: number_in_si("10 cm", "k", None), "does not tell its unit"),
        (lambda: number_in_si("ten", "L", "m"), "no number with a unit, such as '10 cm'"),
        (lambda: number_in_si([1.0, 2.0], "L", "m"), "where one number is expected"),
        (lambda: number_in_si(np.nan, "L", "m"), "L"),
        (lambda: range_in_si("1..2 mmm", "L", "m"), "L: there is no unit 'mmm'"),
        (lambda: tolerance_in_si("±5 %", "c", "m", 0.0), "a percentage of zero is zero"),
        (lambda: tolerance_in_si("±0 mm", "c", "m", 0.4), "it is not positive"),
        (lambda: tolerance_in_si("±-1 mm", "c", "m", 0.4), "it is not positive"),
        (lambda: check_range((2.0, 1.0), "L"), "give the lesser end first"),
        (lambda: check_range((1.0, 1.0), "L"), "empty range"),
    ],
)
def test_mistakes_end_in_a_sentence(call, message):
    with pytest.raises(es.InputError, match=message):
        call()
