"""How a printed value is judged. No verdict is typed in; all follow from these rules.

* agrees: the difference is within half a unit of the last printed digit, plus the noise of the document's own
  arithmetic where that is stated; a statement agrees if what it says holds within the stated tolerance.
  A printed 0 without decimals is exact: it agrees with nothing but zero.
* noise: the print shows digits, but they and the computed value are both below that noise.
* print damaged: it does not agree, and one digit or letter, or a mark such as a dot, a bar or a bracket, makes it right.
  The last digit of a rounded number does not count: that is inaccuracy. Nor does a sign.
* print is wrong: it does not agree, and the report says why.
* not explained: it does not agree, and nobody has said why. A report that is finished has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import product
from typing import Any

import numpy as np

from eslabon.reproductions.comparison import Row, Verdict

ROUND_OFF = 1e-9  # what exact formulas, evaluated in doubles, may differ by; lost digits show at 1e-5 and above
MARKS = frozenset("'`~()[] ")  # what a scan or a typist loses: primes for dots, bars, brackets
NOTHING = 1e-12


# -- numbers ----------------------------------------------------------------------------------------------------------


def number(
    what: str,
    printed: str,
    computed: float,
    *,
    noise: float = 0.0,
    unit: float | None = None,
    reason: str = "",
) -> Row:
    """A printed number, as the text has it, beside the computed one.

    `noise` is what the document's arithmetic cannot resolve, `unit` that of the last digit if the text shows more
    digits than it has, and `reason` why the print is wrong, if it is.

    >>> print(number("g", "9.81", 9.8066).verdict, number("g", "9.71", 9.8066).verdict)
    agrees print damaged
    """
    value = float(printed)
    difference = float(computed) - value
    if value != 0 and max(abs(value), abs(computed)) <= noise:
        verdict = Verdict.NOISE
    elif abs(difference) <= resolution(printed, unit) + noise:
        verdict = Verdict.AGREES
    elif one_digit_apart(printed, as_printed(computed, printed)):
        verdict = Verdict.DAMAGED
    else:
        verdict = Verdict.WRONG if reason else Verdict.UNEXPLAINED
    told = "" if verdict in (Verdict.AGREES, Verdict.NOISE) else reason
    return Row(what, printed, figures(computed), difference, verdict, told)


def numbers(
    names: Iterable[str], printed: Iterable[str], computed: Iterable[float], **more: Any
) -> list[Row]:
    """A row for each printed number, its name and its computed value; `more` goes to each `number`."""
    return [number(*each, **more) for each in zip(names, printed, computed, strict=True)]


def resolution(text: str, unit: float | None = None) -> float:
    """By how much a value may differ from a printed number that is rounded: half of the last digit's unit, or of
    the unit given; from a 0 without decimals, which is no rounded number, by round-off.

    >>> resolution("-15.0"), resolution("0"), resolution("0.00")
    (0.05, 1e-09, 0.005)
    """
    if text.lstrip("+-") == "0":
        return ROUND_OFF
    return (last_unit(text) if unit is None else unit) / 2


def last_unit(text: str) -> float:
    """The unit of a printed number's last digit.

    >>> last_unit("-0.42573E-02"), last_unit("113.51270"), last_unit("852")
    (1e-07, 1e-05, 1.0)
    """
    mantissa, _, exponent = text.upper().partition("E")
    decimals = len(mantissa.partition(".")[2])
    return float(f"1e{int(exponent or 0) - decimals}")


def as_printed(x: float, text: str) -> str:
    """A number in the format of a printed one: FORTRAN's 0.12345E+02 or .12345E+02, or with as many decimals.

    >>> as_printed(-31.4159, "0.17807E+01"), as_printed(31.4159, ".17807E+01"), as_printed(3.14159, "2.50")
    ('-0.31416E+02', '.31416E+02', '3.14')
    """
    mantissa, e, _ = text.upper().partition("E")
    decimals = len(mantissa.partition(".")[2])
    if not e:
        return f"{x:.{decimals}f}"
    digits, _, exponent = f"{abs(x):.{decimals - 1}e}".partition("e")
    sign = "-" if x < 0 else ""
    zero = "" if mantissa.lstrip("-").startswith(".") else "0"
    return f"{sign}{zero}.{digits.replace('.', '')}E{int(exponent) + (x != 0):+03d}"


def one_digit_apart(a: str, b: str) -> bool:
    """Whether two texts of the same length differ in one digit, which is not the last of a rounded number.

    >>> one_digit_apart("51.314", "31.314"), one_digit_apart("0.709", "0.708"), one_digit_apart("730", "738")
    (True, False, True)
    """
    if len(a) != len(b):
        return False
    unequal = [k for k, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    last = len(a.upper().partition("E")[0]) - 1 if "." in a else len(a)
    return (
        len(unequal) == 1
        and unequal[0] != last
        and a[unequal[0]].isdigit()
        and b[unequal[0]].isdigit()
    )


def figures(x: float) -> str:
    """A computed number with eight digits; what is round-off is shown as 0."""
    return "0" if abs(x) < NOTHING else f"{float(x):.8g}"


# -- statements -------------------------------------------------------------------------------------------------------


def greatest(departures: Any) -> float:
    """The greatest of an array, whatever its sign.

    >>> greatest([0.1, -0.3])
    0.3
    """
    return float(np.abs(departures).max())


def statement(
    what: str,
    printed: str,
    computed: str,
    error: float,
    *,
    tolerance: float = ROUND_OFF,
    reason: str = "",
) -> Row:
    """Something the document says, and the greatest departure from it that was found; below the tolerance it holds."""
    holds = error <= tolerance
    verdict = Verdict.AGREES if holds else Verdict.WRONG if reason else Verdict.UNEXPLAINED
    return Row(what, printed, computed, float(error), verdict, "" if holds else reason)


def erratum(
    what: str,
    printed: str,
    right: str,
    errors: tuple[float, float],
    *,
    tolerance: float = ROUND_OFF,
    reason: str = "",
) -> Row:
    """A formula as printed and as it must read, with the errors of both against what is computed another way.

    >>> print(erratum("velocity", "f w x L", "f' w x L", (0.3, 0.0)).verdict)
    print damaged
    """
    as_it_is, mended = (abs(e) for e in errors)
    if as_it_is <= tolerance:
        verdict = Verdict.AGREES
    elif mended > tolerance:
        verdict = Verdict.UNEXPLAINED
    elif only_marks_lost(printed, right):
        verdict = Verdict.DAMAGED
    else:
        verdict = Verdict.WRONG
    return Row(what, printed, right, as_it_is, verdict, reason)


def only_marks_lost(printed: str, right: str) -> bool:
    """Whether the right text is the printed one with marks put in."""
    changes = [
        c
        for c in SequenceMatcher(None, printed, right, autojunk=False).get_opcodes()
        if c[0] != "equal"
    ]
    return all(kind == "insert" and set(right[c:d]) <= MARKS for kind, _, _, c, d in changes)


# -- formulas ---------------------------------------------------------------------------------------------------------


def formula(
    what: str, printed: str, computed: Any, names: dict[str, Any], *, reason: str = ""
) -> Row:
    """A printed formula beside a computed SymPy expression; `names` says what the letters of the print stand for.

    Equal means that SymPy reduces the difference to zero; the difference shown is the greatest at random places.
    """
    import sympy

    def read(text: str) -> Any:
        return sympy.parse_expr(text, local_dict=names)

    back = {value: sympy.Symbol(name) for name, value in names.items() if not value.is_Symbol}
    shown = computed.xreplace(back)
    if sympy.simplify(read(printed) - computed) == 0:
        return Row(what, tidy(printed), tidy(str(shown)), 0.0, Verdict.AGREES)
    letters = [name for name in names if re.search(rf"\b{name}\b", printed)]
    mended = (
        read(printed[: place.start()] + other + printed[place.end() :])
        for name, other in product(letters, names)
        for place in re.finditer(rf"\b{name}\b", printed)
        if other != name
    )
    damaged = any(_alike_somewhere(x, computed) and _apart(x, computed) < ROUND_OFF for x in mended)
    verdict = Verdict.DAMAGED if damaged else Verdict.WRONG if reason else Verdict.UNEXPLAINED
    return Row(
        what, tidy(printed), tidy(str(shown)), _apart(read(printed), computed), verdict, reason
    )


def _alike_somewhere(a: Any, b: Any) -> bool:
    """Whether two expressions agree at one place, which is quickly said and rules most out."""
    import sympy

    difference = a - b
    place = {
        x: sympy.Float(0.3 + 0.17 * k)
        for k, x in enumerate(sorted(difference.free_symbols, key=str))
    }
    return bool(abs(sympy.N(difference.xreplace(place))) < ROUND_OFF)


def _apart(a: Any, b: Any) -> float:
    """The greatest difference of two expressions at random places."""
    import sympy

    difference = a - b
    symbols = sorted(difference.free_symbols, key=str)
    if not symbols:
        return abs(float(difference))
    places = np.random.default_rng(0).uniform(-2, 2, (len(symbols), 50))
    return greatest(sympy.lambdify(symbols, difference, "numpy")(*places))


def tidy(text: str) -> str:
    """A formula as a person writes it.

    >>> tidy("m1*lc1**2 + I1")
    'm1·lc1² + I1'
    """
    return text.replace("**2", "²").replace("*", "·")
