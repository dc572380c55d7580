"""The rules by which printed values are judged."""

import pytest
import sympy as sp

from eslabon.reproductions import Verdict
from eslabon.reproductions.verdicts import (
    as_printed,
    erratum,
    formula,
    last_unit,
    number,
    statement,
)


@pytest.mark.parametrize(
    ("printed", "computed", "more", "verdict"),
    [
        ("0.53123E-01", 0.0531234, {}, Verdict.AGREES),
        ("0.53123E-01", 0.0531272, {"reason": "rounded"}, Verdict.WRONG),
        ("0.53123E-01", 0.0531272, {}, Verdict.UNEXPLAINED),
        ("0.53123E-01", 0.0531272, {"noise": 1e-5}, Verdict.AGREES),
        ("0.25818E-08", -1e-10, {"noise": 1e-8}, Verdict.NOISE),
        ("0.00000E+00", 1e-17, {"noise": 1e-8}, Verdict.AGREES),
        ("51.314", 31.3142, {"reason": "a digit"}, Verdict.DAMAGED),
        ("31.315", 31.3142, {"reason": "the last digit is no damage"}, Verdict.WRONG),
        ("-0.21419E+04", 2141.9, {"reason": "nor is a sign"}, Verdict.WRONG),
        ("0.15100E-03", 1.507e-4, {"unit": 1e-6}, Verdict.AGREES),
        ("0.15100E-03", 1.507e-4, {}, Verdict.UNEXPLAINED),
        ("730", 738, {}, Verdict.DAMAGED),
    ],
)
def test_numbers(printed, computed, more, verdict):
    row = number("x", printed, computed, **more)
    assert row.verdict is verdict
    assert row.difference == pytest.approx(computed - float(printed), abs=1e-15)
    assert row.remark == (
        more.get("reason", "") if verdict in (Verdict.WRONG, Verdict.DAMAGED) else ""
    )


@pytest.mark.parametrize(
    "text", ["0.53123E-01", "-0.24369E+04", "113.51270", "-135.00000", "852", "0.00000E+00"]
)
def test_a_printed_number_is_written_as_it_was(text):
    assert as_printed(float(text), text) == text
    if float(text):
        assert as_printed(float(text) + 0.4 * last_unit(text), text) == text
        assert as_printed(float(text) + 0.6 * last_unit(text), text) != text


def test_statements():
    assert statement("x", "", "", 1e-12).verdict is Verdict.AGREES
    assert statement("x", "", "", 1e-3).verdict is Verdict.UNEXPLAINED
    assert statement("x", "", "", 1e-3, reason="because").verdict is Verdict.WRONG
    assert statement("fewer", "", "", -3, tolerance=-1).verdict is Verdict.AGREES
    assert statement("fewer", "", "", 0, tolerance=-1).verdict is Verdict.UNEXPLAINED


def test_formulas():
    q = sp.symbols("q1:3", real=True)
    names = {
        f"{letter}{k}": f(x)
        for k, x in enumerate(q, 1)
        for letter, f in (("c", sp.cos), ("s", sp.sin))
    }
    right = sp.sin(q[0] + q[1])
    assert formula("x", "s1*c2 + c1*s2", right, names).verdict is Verdict.AGREES
    assert formula("x", "s1*c2 + c1*c2", right, names).verdict is Verdict.DAMAGED
    assert formula("x", "2*s1*c2 + 2*c1*s2", right, names, reason="twice").verdict is Verdict.WRONG
    assert formula("x", "2*s1*c2 + 2*c1*s2", right, names).verdict is Verdict.UNEXPLAINED
    assert formula("x", "s1*c2 + c1*c2", right, names).difference > 0.1


def test_errata():
    assert erratum("x", "w x w x L", "w x (w x L)", (0.5, 0.0)).verdict is Verdict.DAMAGED
    assert erratum("x", "rho(P, z)", "rho(P, y)", (0.5, 0.0)).verdict is Verdict.WRONG
    assert (
        erratum("x", "theta''", "theta'", (0.5, 0.0)).verdict is Verdict.WRONG
    )  # a scan adds no dots
    assert (
        erratum("x", "a", "b", (0.5, 0.1)).verdict is Verdict.UNEXPLAINED
    )  # what is proposed does not work either
    assert erratum("x", "a", "b", (0.0, 0.0)).verdict is Verdict.AGREES
