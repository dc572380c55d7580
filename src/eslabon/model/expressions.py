"""Numbers of a model: plain floats, or arithmetic expressions of named parameters.

Text such as ``"m2*L2**2/12"`` is parsed here into an :class:`Expression`, never executed. An expression is immutable,
prints as text that parses back to itself, and evaluates on floats and on CasADi symbols alike.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from eslabon.algebra import arrays
from eslabon.errors import ModelError, shown

CONSTANTS: Mapping[str, float] = {"pi": math.pi, "deg": math.pi / 180, "mm": 1e-3, "cm": 1e-2}
FUNCTIONS: Mapping[str, tuple[int, Callable[..., Any]]] = {
    "sin": (1, arrays.sin),
    "cos": (1, arrays.cos),
    "tan": (1, arrays.tan),
    "asin": (1, arrays.asin),
    "acos": (1, arrays.acos),
    "atan2": (2, arrays.atan2),
    "sqrt": (1, arrays.sqrt),
    "abs": (1, arrays.absolute),
}
_LONGEST_TEXT, _DEEPEST_NESTING = 1000, 50
_DEEPEST = 200  # operations on one another, such as a sum of so many terms: what recursion can take
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|[-+*/(),]))"
)


@dataclasses.dataclass(frozen=True)
class Expression:
    """An arithmetic expression of parameters.

    >>> L = parameter("L")
    >>> e = 2 * L**2 / 3 - number("sin(a)*L")
    >>> e
    Expression('2*L**2/3 - sin(a)*L')
    >>> e.evaluate({"L": 3.0, "a": 0.0})
    6.0
    """

    operation: str
    arguments: tuple[Number | str, ...]
    text: str = dataclasses.field(default="", compare=False)  # as a person wrote it
    depth: int = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        depth = 1 + max((a.depth for a in self.arguments if isinstance(a, Expression)), default=0)
        if depth > _DEEPEST:
            raise ModelError(
                f"an expression has more than {_DEEPEST} operations on one another; make a part of it a parameter."
            )
        object.__setattr__(self, "depth", depth)

    def __repr__(self) -> str:
        return f"Expression({str(self)!r})"

    def __str__(self) -> str:
        return self.text or _text(self)[0]

    def __add__(self, other: NumberLike) -> Number:
        return _combine("+", self, number(other))

    def __radd__(self, other: NumberLike) -> Number:
        return _combine("+", number(other), self)

    def __sub__(self, other: NumberLike) -> Number:
        return _combine("-", self, number(other))

    def __rsub__(self, other: NumberLike) -> Number:
        return _combine("-", number(other), self)

    def __mul__(self, other: NumberLike) -> Number:
        return _combine("*", self, number(other))

    def __rmul__(self, other: NumberLike) -> Number:
        return _combine("*", number(other), self)

    def __truediv__(self, other: NumberLike) -> Number:
        return _combine("/", self, number(other))

    def __rtruediv__(self, other: NumberLike) -> Number:
        return _combine("/", number(other), self)

    def __pow__(self, other: NumberLike) -> Number:
        return _combine("**", self, number(other))

    def __rpow__(self, other: NumberLike) -> Number:
        return _combine("**", number(other), self)

    def __neg__(self) -> Number:
        return _combine("neg", self)

    def __pos__(self) -> Expression:
        return self

    def names(self) -> Iterator[str]:
        """The parameters the expression needs, with repetitions, in order of appearance."""
        if self.operation == "name":
            yield str(self.arguments[0])
        for argument in self.arguments:
            if isinstance(argument, Expression):
                yield from argument.names()

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The value of the expression: a checked float where all values are floats, otherwise whatever they make."""
        try:
            with np.errstate(all="ignore"):
                value = self._value(values)
        except ArithmeticError as error:
            raise ModelError(f"the expression '{self}' has no finite value{self._at(values)}: {error}.") from None
        return value

    def _value(self, values: Mapping[str, Any]) -> Any:
        if self.operation == "name":
            return values[str(self.arguments[0])]
        arguments = [a._value(values) if isinstance(a, Expression) else a for a in self.arguments]
        value = _OPERATIONS[self.operation](*arguments)
        if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
            raise ArithmeticError(f"a step of it gives {value}")
        return float(value) if isinstance(value, np.floating) else value

    def _at(self, values: Mapping[str, Any]) -> str:
        where = ", ".join(f"{name} = {values[name]}" for name in dict.fromkeys(self.names()))
        return f" at {where}" if where else ""


Number = float | Expression
NumberLike = float | int | str | Expression | np.floating[Any] | np.integer[Any]

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "neg": lambda a: -a,
    **{name: function for name, (_, function) in FUNCTIONS.items()},
}


def number(value: NumberLike, what: str = "this number") -> Number:
    """A model's number from what a person wrote: a float, or an expression when it names parameters.

    >>> number("3/4"), number(2), number("L2/2")
    (0.75, 2.0, Expression('L2/2'))
    """
    if isinstance(value, Expression):
        return value
    if isinstance(value, str):
        return _Parser(value).parse(what)
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number | np.ndarray):
        raise ModelError(f"{what} must be a number or an expression of parameters; it is {shown(value)}.")
    try:
        plain = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} must be one number; it is {shown(value)}.") from None
    if not math.isfinite(plain):
        raise ModelError(f"{what} is {plain}; give a finite number.")
    return plain + 0.0  # a negative zero becomes a plain one


def parameter(name: str) -> Expression:
    """The expression that stands for one named parameter."""
    return Expression("name", (name,))


def call(function: str, *arguments: NumberLike) -> Number:
    """A function of numbers, `call("cos", "alpha")`; a plain number comes out where plain numbers went in."""
    return _combine(function, *(number(a) for a in arguments))


def substitute(item: Any, values: Mapping[str, Any]) -> Any:
    """The item with every expression in it evaluated: the same dataclasses and tuples, now of plain values."""
    if isinstance(item, Expression):
        return item.evaluate(values)
    if isinstance(item, tuple):
        made = [substitute(x, values) for x in item]
        return tuple(made) if any(x is not y for x, y in zip(made, item, strict=True)) else item
    if names := _field_names(type(item)):
        changed = {name: new for name in names if (new := substitute(old := getattr(item, name), values)) is not old}
        return dataclasses.replace(item, **changed) if changed else item
    return item


def expressions(item: Any) -> Iterator[Expression]:
    """Every expression inside dataclasses and tuples."""
    if isinstance(item, Expression):
        yield item
    elif isinstance(item, tuple):
        for x in item:
            yield from expressions(x)
    else:
        for name in _field_names(type(item)):
            yield from expressions(getattr(item, name))


_FIELDS: dict[type, tuple[str, ...]] = {}


def _field_names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass, none of anything else; asked so often that they are kept."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()
    return _FIELDS[kind]


def dependency_order(definitions: Mapping[str, Number]) -> list[str]:
    """The parameters, each after those it is defined by; a ModelError if one is defined by itself.

    >>> dependency_order({"a": number("b + 1"), "b": 2.0})
    ['b', 'a']
    """
    order: dict[str, None] = {}
    for first in definitions:
        path: dict[str, Iterator[str]] = {
            first: _needs(definitions[first])
        }  # a walk without recursion: chains are long
        while path:
            name, needs = next(reversed(path.items()))
            inner = next((n for n in needs if n not in order), None)
            if inner is None:
                order[name] = None
                del path[name]
            elif inner in path:
                circle = [*path][[*path].index(inner) :]
                raise ModelError(
                    f"parameter '{inner}' is defined by itself ({' -> '.join([*circle, inner])}); give one of them a number."
                )
            else:
                path[inner] = _needs(definitions[inner])
    return list(order)


def _needs(value: Number) -> Iterator[str]:
    return value.names() if isinstance(value, Expression) else iter(())


def check_parameter_name(name: str) -> str:
    """The name, if it can stand in an expression."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ModelError(
            f"parameter {shown(name)} needs a name of letters, digits and underscores that starts with a letter."
        )
    if name in FUNCTIONS or name in CONSTANTS:
        raise ModelError(f"parameter '{name}' has the name of a built-in function or constant; choose another.")
    return name


def _combine(operation: str, *arguments: Number) -> Number:
    """An operation on numbers, with what is known simplified away."""
    if all(isinstance(a, float) for a in arguments):
        return number(Expression(operation, arguments).evaluate({}))
    known: tuple[Any, ...] = (operation, *arguments)
    match known:
        case (
            ("+", 0.0, x)
            | ("+", x, 0.0)
            | ("-", x, 0.0)
            | ("*", 1.0, x)
            | ("*", x, 1.0)
            | ("/", x, 1.0)
            | ("**", x, 1.0)
        ):
            return x
        case ("*", 0.0, _) | ("*", _, 0.0) | ("/", 0.0, _):
            return 0.0
        case ("*", -1.0, x) | ("*", x, -1.0) | ("-", 0.0, x):
            return _combine("neg", x)
        case ("neg", Expression("neg", (float() | Expression() as x,))):
            return x
        case ("/", _, 0.0):
            raise ModelError(f"the expression '{arguments[0]}/0' divides by zero.")
    return Expression(operation, arguments)


_STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "**": 4}
_ATOM = 5


def _text(value: Number | str) -> tuple[str, int]:
    """An expression's text and how strongly it holds together."""
    if isinstance(value, float):
        plain = str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
        return plain, (_STRENGTH["neg"] if value < 0 else _ATOM)
    if isinstance(value, str):
        return value, _ATOM
    operation, arguments = value.operation, value.arguments
    if operation == "name":
        return str(arguments[0]), _ATOM
    if operation not in _STRENGTH:
        return f"{operation}({', '.join(_text(a)[0] for a in arguments)})", _ATOM

    def side(argument: Number | str, least: int) -> str:
        text, strength = _text(argument)
        return text if strength >= least else f"({text})"

    strength = _STRENGTH[operation]
    if operation == "neg":
        return f"-{side(arguments[0], strength)}", strength
    if operation == "**":
        return f"{side(arguments[0], _ATOM)}**{side(arguments[1], _STRENGTH['neg'])}", strength
    sign = f" {operation} " if strength == 1 else operation
    return f"{side(arguments[0], strength)}{sign}{side(arguments[1], strength + 1)}", strength


class _Parser:
    """Precedence climbing over ``+ - * / **``, parentheses, functions, constants and parameters."""

    def __init__(self, text: str) -> None:
        self.text, self.position, self.depth = text, 0, 0
        self.kind, self.token = "", ""

    def parse(self, what: str) -> Number:
        if len(self.text) > _LONGEST_TEXT:
            raise ModelError(f"{what} is an expression of {len(self.text)} characters; {_LONGEST_TEXT} is the most.")
        try:
            self.advance()
            value = self.binary(1)
            if self.kind != "end":
                self.fail(f"'{self.token}' was not expected")
        except ModelError as error:
            raise ModelError(f"{what} cannot be read as an expression: {error}") from None
        return dataclasses.replace(value, text=" ".join(self.text.split())) if isinstance(value, Expression) else value

    def fail(self, why: str) -> NoReturn:
        raise ModelError(f"{why} in {self.text!r}.")

    def advance(self) -> None:
        rest = self.text[self.position :]
        if not rest.strip():
            self.kind, self.token = "end", "the end"
            return
        found = _TOKEN.match(rest)
        if found is None:
            self.fail(f"'{rest.strip()[0]}' was not expected")
        self.position += found.end()
        self.kind, self.token = str(found.lastgroup), found[str(found.lastgroup)]

    def binary(self, least: int) -> Number:
        value = self.unary()
        while self.kind == "sign" and _STRENGTH.get(self.token, 0) >= least:
            operation = self.token
            strength = _STRENGTH[operation]
            self.advance()
            # ** binds its right side first: a**b**c is a**(b**c)
            right = self.binary(strength if operation == "**" else strength + 1)
            value = _combine(operation, value, right)
        return value

    def unary(self) -> Number:
        if self.kind == "sign" and self.token in "+-":
            negative = self.token == "-"
            self.advance()
            value = self.nested(lambda: self.binary(_STRENGTH["neg"]))
            return _combine("neg", value) if negative else value
        return self.atom()

    def nested(self, inner: Callable[[], Number]) -> Number:
        self.depth += 1
        if self.depth > _DEEPEST_NESTING:
            self.fail(f"more than {_DEEPEST_NESTING} levels of nesting")
        value = inner()
        self.depth -= 1
        return value

    def atom(self) -> Number:
        kind, token = self.kind, self.token
        if kind == "number":
            self.advance()
            return number(float(token), token)
        if kind == "name":
            self.advance()
            if self.token == "(" and self.kind == "sign":
                return self.function(token)
            if token in FUNCTIONS:
                self.fail(f"the function {token} needs its argument in parentheses")
            return CONSTANTS[token] if token in CONSTANTS else parameter(token)
        if token == "(" and kind == "sign":
            self.advance()
            value = self.nested(lambda: self.binary(1))
            self.expect(")")
            return value
        self.fail(f"a number or a parameter was expected and not {token if kind == 'end' else repr(token)}")

    def function(self, name: str) -> Number:
        if name not in FUNCTIONS:
            self.fail(f"there is no function {name!r} (known: {', '.join(FUNCTIONS)})")
        self.expect("(")
        arguments = [self.nested(lambda: self.binary(1))]
        while self.token == ",":
            self.advance()
            arguments.append(self.nested(lambda: self.binary(1)))
        self.expect(")")
        count = FUNCTIONS[name][0]
        if len(arguments) != count:
            self.fail(f"{name} takes {count} argument{'s' * (count > 1)} and has {len(arguments)}")
        return _combine(name, *arguments)

    def expect(self, sign: str) -> None:
        if self.token != sign or self.kind != "sign":
            self.fail(f"'{sign}' is missing")
        self.advance()
