"""Expressions: parsed, printed, evaluated, never executed."""

import math

import casadi
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from batches import each
from eslabon.errors import EslabonError, ModelError
from eslabon.model.parameter_expressions import ParameterExpression, _text, number, parameter

VALUES = {"a": 1.7, "b": -0.6, "L2": 0.04}


@each(
    "text",
    ["a", "-a", "a+b*L2", "(a+b)*L2", "a-b-L2", "a-(b-L2)", "a/b/L2", "a/(b*L2)", "-a**2", "(-a)**2", "2**-a", "a**2**b",
     "(a**2)**b", "a--b", "a*-2", "sin(a)*cos(b)", "atan2(a, b)", "sqrt(abs(b))", "m2*L2**2/12".replace("m2", "a"), "90*deg*a",
     "1e-3*a", ".5*a + 2.*b", "40*mm + a", "pi*a", "007*a".lstrip("0"), "((((a))))"],
)  # fmt: skip
def test_an_expression_has_the_value_python_gives_it(text):
    names = {n: getattr(math, n) for n in ("sin", "cos", "sqrt", "atan2", "pi")} | {
        "abs": abs,
        "deg": math.pi / 180,
        "mm": 1e-3,
    }
    expected = eval(text, {"__builtins__": {}}, names | VALUES)
    assert number(text).evaluate(VALUES) == pytest.approx(expected, rel=1e-15)


leaves = st.sampled_from(["a", "b", "L2", "2", "0.5", "3"])
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*"), inner, inner).map(lambda t: f"({t[1]}){t[0]}({t[2]})"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]})/(({t[1]})*({t[1]})+1)"),
        inner.map(lambda t: f"-({t})"),
        inner.map(lambda t: f"sin({t})"),
        inner.map(lambda t: f"(({t})**2)**1.5"),
    ),
    max_leaves=8,
)


@given(trees)
def test_the_printed_form_parses_back_to_the_same_expression(text):
    expression = number(text)
    assume(isinstance(expression, ParameterExpression))
    printed = _text(expression)[0]
    assert number(printed) == expression
    assert str(expression) == text.strip()


@given(st.text(max_size=40) | st.text(alphabet="ab(*/+-.,)0123456789e ", max_size=30))
def test_any_text_gives_a_number_or_a_sentence(text):
    try:
        value = number(text)
    except EslabonError as error:
        assert str(error).endswith(".")
    else:
        assert isinstance(value, float | ParameterExpression)


def test_a_word_of_python_may_name_a_parameter():
    assert number("lambda*2 + is").evaluate({"lambda": 3.0, "is": 1.0}) == 7.0
    assert [*number("µ/2").names()] == [
        "µ"
    ]  # as written, though Python would make another letter of it


def test_symbols_go_through():
    a = casadi.SX.sym("a")
    made = number("sin(a)**2/2").evaluate({"a": a})
    assert float(casadi.Function("f", [a], [made])(0.3)) == pytest.approx(
        math.sin(0.3) ** 2 / 2, rel=1e-15
    )


def test_arithmetic_in_code_is_the_same_as_text():
    L, m = parameter("L2"), parameter("a")
    assert m * L**2 / 12 == number("a*L2**2/12")
    assert number("1-L2") == 1 - L
    assert number("2/L2") == 2 / L
    assert number("2**L2") == 2**L
    assert number("-L2") == -L
    assert +L is L
    assert number("L2+b") == L + "b"


def test_what_is_known_is_simplified():
    L = parameter("L")
    assert (0 * L, 1 * L, L + 0, L - 0, L / 1, L**1, 0 / L) == (0.0, L, L, L, L, L, 0.0)
    assert number("3/4") == 0.75


@each(
    ("text", "why"),
    [("", "is missing"), ("a+", "a sign or a value is missing"), ("foo(1)", "no function 'foo'"), ("sin", "parentheses"), ("sin(1, 2)", "takes 1"),
     ("a b", "a sign or a value is missing"), ("(a", "never closed"), ("__import__(os)", "no function"), ("a.b", "'.'"),
     ("1/0", "division by zero"), ("9**9**9**9", "has no finite value"), ("sqrt(0-1)", "no finite value"), ("(" * 300 + "1" + ")" * 300, "nested"),
     ("-" * 990 + "1", "nested"), ("1" * 20000, "characters"), ("[1]", "'['"), ("a if b else c", "a sign or a value is missing"), ("(a, b)", "a list"), ("sin(*a)", "a list"), ("()", "a list"), ("0x10", "a sign or"), ("1_000", "a sign or"), ("2 a", "a sign or"), ("1e999", "finite")],
)  # fmt: skip
def test_what_cannot_be_read_is_said(text, why):
    with pytest.raises(ModelError, match="mass") as error:
        number(text, "mass")
    assert why in str(error.value)


@each("value", [True, None, [1], {}, 1j, float("nan"), float("inf"), b"1"])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ModelError, match="mass"):
        number(value, "mass")


def test_a_value_that_breaks_down_names_the_parameters():
    with pytest.raises(
        ModelError, match=r"'1/\(a - 2\)' has no finite value at a = 2.0: float division by zero"
    ):
        number("1/(a - 2)").evaluate({"a": 2.0})
    with pytest.raises(ModelError, match=r"sqrt\(a\).* at a = -1.0"):
        number("sqrt(a)").evaluate({"a": -1.0})
    with pytest.raises(ModelError, match="no finite value"):
        number("a**0.5").evaluate({"a": -1.0})
