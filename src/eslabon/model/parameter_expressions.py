"""Numbers of a model: plain floats, or arithmetic expressions of named parameters.

Text such as ``"m2*L2**2/12"`` is parsed here into an :class:`ParameterExpression`, never executed.
An expression is immutable, prints as text that parses back to itself, and evaluates on floats and
on CasADi symbols alike.
"""

from __future__ import annotations

import ast
import dataclasses
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

import numpy as np

from eslabon.arguments import known_words, mapping, refuse_masked
from eslabon.errors import ModelError, format_value
from eslabon.numerics import scalars
from eslabon.numerics.scalars import Expression

CONSTANTS: Mapping[str, float] = {"pi": math.pi, "deg": math.pi / 180, "mm": 1e-3, "cm": 1e-2}
FUNCTIONS: Mapping[str, tuple[int, Callable[..., Any]]] = {
    "sin": (1, scalars.sin),
    "cos": (1, scalars.cos),
    "tan": (1, scalars.tan),
    "asin": (1, scalars.asin),
    "acos": (1, scalars.acos),
    "atan2": (2, scalars.atan2),
    "sqrt": (1, scalars.sqrt),
    "abs": (1, scalars.absolute),
    "sign": (1, scalars.sign),
    "exp": (1, scalars.exp),
    "log": (1, scalars.log),
    "tanh": (1, scalars.tanh),
}
_LONGEST_TEXT = 10_000
_DEEPEST = 200  # operations on one another, such as a sum of so many terms: what recursion can take
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|[-+*/(),]))"
)


def _operator(sign: str) -> tuple[Operator, Operator]:
    """A sign between an expression and what stands on its right, and on its left."""
    return (lambda a, b: _combine(sign, a, number(b))), (lambda a, b: _combine(sign, number(b), a))


@dataclasses.dataclass(frozen=True)
class ParameterExpression:
    """An arithmetic expression of parameters.

    >>> L = parameter("L")
    >>> e = 2 * L**2 / 3 - number("sin(a)*L")
    >>> e
    ParameterExpression('2*L**2/3 - sin(a)*L')
    >>> e.evaluate({"L": 3.0, "a": 0.0})
    6.0
    """

    operation: str
    arguments: tuple[Number | str, ...]
    text: str = dataclasses.field(default="", compare=False)  # as a person wrote it
    depth: int = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        depth = 1 + max(
            (a.depth for a in self.arguments if isinstance(a, ParameterExpression)), default=0
        )
        if depth > _DEEPEST:
            raise ModelError(
                f"an expression has more than {_DEEPEST} operations on one another; make a part of it a parameter."
            )
        object.__setattr__(self, "depth", depth)

    def __repr__(self) -> str:
        return f"ParameterExpression({str(self)!r})"

    def __str__(self) -> str:
        return self.text or _text(self)[0]

    __add__, __radd__ = _operator("+")
    __sub__, __rsub__ = _operator("-")
    __mul__, __rmul__ = _operator("*")
    __truediv__, __rtruediv__ = _operator("/")
    __pow__, __rpow__ = _operator("**")

    def __neg__(self) -> Number:
        return _combine("neg", self)

    def __pos__(self) -> ParameterExpression:
        return self

    def names(self) -> Iterator[str]:
        """The parameters the expression needs, with repetitions, in order of appearance."""
        if self.operation == "name":
            yield str(self.arguments[0])
        for argument in self.arguments:
            if isinstance(argument, ParameterExpression):
                yield from argument.names()

    def rename_parameters(self, names: Mapping[str, str]) -> ParameterExpression:
        """The expression with other names of its parameters."""
        names = mapping(names, "names")
        if self.operation == "name":
            return parameter(names.get(str(self.arguments[0]), str(self.arguments[0])))
        made = tuple(
            a.rename_parameters(names) if isinstance(a, ParameterExpression) else a
            for a in self.arguments
        )
        return self if made == self.arguments else ParameterExpression(self.operation, made)

    def evaluate(self, values: Mapping[str, float | Expression]) -> Any:
        """The value of the expression: a checked float where all values are floats, otherwise
        whatever they make."""
        try:
            with np.errstate(all="ignore"):
                value = self._value(values)
        except ArithmeticError as error:
            raise ModelError(
                f"the expression '{self}' has no finite value{self._at(values)}: {error}."
            ) from None
        except (KeyError, TypeError, IndexError, NotImplementedError):
            known_words(
                self.names(), mapping(values, "values"), f"the expression '{self}' needs a value of"
            )
            raise ModelError(
                f"the expression '{self}' is made of numbers; values is {format_value(values)}."
            ) from None
        return value

    def _value(self, values: Mapping[str, float | Expression]) -> Any:
        if self.operation == "name":
            return values[str(self.arguments[0])]
        arguments = [
            a._value(values) if isinstance(a, ParameterExpression) else a for a in self.arguments
        ]
        value = _OPERATIONS[self.operation](*arguments)
        if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
            raise ArithmeticError(f"a step of it gives {value}")
        return float(value) if isinstance(value, np.floating) else value

    def _at(self, values: Mapping[str, float | Expression]) -> str:
        where = ", ".join(f"{name} = {values[name]}" for name in dict.fromkeys(self.names()))
        return f" at {where}" if where else ""


T = TypeVar("T")
Number = float | ParameterExpression
NumberLike = float | int | str | ParameterExpression | np.floating[Any] | np.integer[Any]
Operator = Callable[[ParameterExpression, NumberLike], Number]

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "neg": operator.neg,
    **{name: function for name, (_, function) in FUNCTIONS.items()},
}


def number(value: object, what: str = "this number") -> Number:
    """A model's number from what a person wrote: a float, or an expression when it names
    parameters.

    >>> number("3/4"), number(2), number("L2/2")
    (0.75, 2.0, ParameterExpression('L2/2'))
    """
    if isinstance(value, ParameterExpression):
        return value
    if isinstance(value, str):
        return _parse(value, what)
    refuse_masked(value, what)
    complex_ = isinstance(value, np.complexfloating) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "c"
    )
    if (
        complex_
        or isinstance(value, bool | np.bool_)
        or not isinstance(value, int | float | np.number | np.ndarray)
    ):
        raise ModelError(
            f"{what} must be a number or an expression of parameters; it is {format_value(value)}."
        )
    try:
        plain = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} must be one number; it is {format_value(value)}.") from None
    if not math.isfinite(plain):
        raise ModelError(f"{what} is {plain}; give a finite number.")
    return plain + 0.0  # a negative zero becomes a plain one


def parameter(name: str) -> ParameterExpression:
    """The expression that stands for one named parameter."""
    return ParameterExpression("name", (name,))


def call(function: str, *arguments: NumberLike) -> Number:
    """A function of numbers, `call("cos", "alpha")`; a plain number comes out where plain numbers
    went in."""
    return _combine(function, *(number(a) for a in arguments))


@cache
def inverse(law: Number, letter: str, answer: str) -> Number | None:
    """The inverse of y = law(letter), in the name of y: None unless the letter stands in it once, and every operation on the
    way has one inverse on all numbers that it gives.

    >>> inverse(number("i0*(exp(e/v) - 1)"), "e", "f")
    ParameterExpression('log(f/i0 + 1)*v')
    >>> inverse(number("k*q**3"), "q", "e"), inverse(number("q**2"), "q", "e")
    (ParameterExpression('sign(e/k)*abs(e/k)**0.3333333333333333'), None)
    """
    made: Number = parameter(answer)
    left: Any = law
    names = [*law.names()] if isinstance(law, ParameterExpression) else []
    if names.count(letter) != 1 or answer in names:
        return None
    while left != parameter(letter):
        place = next(
            k
            for k, a in enumerate(left.arguments)
            if isinstance(a, ParameterExpression) and letter in a.names()
        )
        step = _INVERSES.get((left.operation, place))
        others = [a for k, a in enumerate(left.arguments) if k != place]
        found = None if step is None else step(made, *others)
        if found is None:
            return None
        made, left = found, left.arguments[place]
    return made


def _odd_root(y: Number, power: Number) -> Number | None:
    if not isinstance(power, float) or power % 2 != 1 or power < 0:
        return None
    return call("sign", y) * call("abs", y) ** (1 / power)


# By operation and place: what stands there, from what the operation gives and what stands elsewhere.
_INVERSES: dict[tuple[str, int], Callable[..., Number | None]] = {
    ("+", 0): lambda y, b: y - b,
    ("+", 1): lambda y, a: y - a,
    ("-", 0): lambda y, b: y + b,
    ("-", 1): lambda y, a: a - y,
    ("*", 0): lambda y, b: y / b,
    ("*", 1): lambda y, a: y / a,
    ("/", 0): lambda y, b: y * b,
    ("/", 1): lambda y, a: a / y,
    ("neg", 0): lambda y: -y,
    ("**", 0): _odd_root,
    ("exp", 0): lambda y: call("log", y),
    ("log", 0): lambda y: call("exp", y),
    ("tanh", 0): lambda y: call("log", (1 + y) / (1 - y)) / 2,
}


def substitute(item: T, values: Mapping[str, float | Expression]) -> T:
    """The item with every expression in it evaluated: the same dataclasses and tuples, now of plain
    values."""
    return _map_expressions(item, lambda expression: expression.evaluate(values))


def rename_parameters(item: T, names: Mapping[str, str]) -> T:
    """The item with other names of parameters in its expressions."""
    return _map_expressions(item, lambda expression: expression.rename_parameters(names))


def _map_expressions(item: Any, change: Callable[[ParameterExpression], object]) -> Any:
    if isinstance(item, ParameterExpression):
        return change(item)
    if isinstance(item, tuple):
        made = [_map_expressions(x, change) for x in item]
        return tuple(made) if any(x is not y for x, y in zip(made, item, strict=True)) else item
    if names := _field_names(item.__class__):
        changed = {
            name: new
            for name in names
            if (new := _map_expressions(old := getattr(item, name), change)) is not old
        }
        return dataclasses.replace(item, **changed) if changed else item
    return item


def leaves(item: Any) -> Iterator[Any]:
    """Every number, expression and text inside dataclasses and tuples."""
    inner = (
        item
        if isinstance(item, tuple)
        else [getattr(item, name) for name in _field_names(item.__class__)]
    )
    if isinstance(item, ParameterExpression) or not (inner or isinstance(item, tuple)):
        yield item
    else:
        for x in inner:
            yield from leaves(x)


@cache  # asked of every item of every model
def _field_names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass, none of anything else."""
    return tuple(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


def dependency_order(definitions: Mapping[str, Number]) -> list[str]:
    """The parameters, each after those it is defined by; a ModelError if one is defined by itself.

    >>> dependency_order({"a": number("b + 1"), "b": 2.0})
    ['b', 'a']
    """
    needs = {
        name: [*x.names()] if isinstance(x, ParameterExpression) else []
        for name, x in definitions.items()
    }
    try:
        return [*TopologicalSorter(needs).static_order()]
    except CycleError as error:
        *_, name = circle = error.args[1][::-1]
        raise ModelError(
            f"parameter '{name}' is defined by itself ({' -> '.join(circle)}); give one of them a number."
        ) from None


def check_parameter_name(name: str) -> str:
    """The name, if it can stand in an expression."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ModelError(
            f"parameter {format_value(name)} needs a name of letters, digits and underscores that starts with a letter."
        )
    if name in FUNCTIONS or name in CONSTANTS:
        raise ModelError(
            f"parameter '{name}' has the name of a built-in function or constant; choose another."
        )
    return name


def _combine(operation: str, *arguments: Number) -> Number:
    """An operation on numbers, with what is known simplified away."""
    if all(isinstance(a, float) for a in arguments):
        return number(ParameterExpression(operation, arguments).evaluate({}))
    known: tuple[Any, ...] = (operation, *arguments)
    match known:
        case ("+" | "-", x, 0.0) | ("+", 0.0, x) | ("*" | "/" | "**", x, 1.0) | ("*", 1.0, x):
            return x
        case ("*", 0.0, _) | ("*", _, 0.0) | ("/", 0.0, _):
            return 0.0
        case ("*", -1.0, x) | ("*", x, -1.0) | ("-", 0.0, x):
            return _combine("neg", x)
        case ("neg", ParameterExpression("neg", (float() | ParameterExpression() as x,))):
            return x
        case ("/", _, 0.0):
            raise ModelError(f"the expression '{arguments[0]}/0' divides by zero.")
    return ParameterExpression(operation, arguments)


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


_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def _parse(text: str, what: str) -> Number:
    """The number a text means. Python's grammar says what belongs to what; nothing is executed."""
    if len(text) > _LONGEST_TEXT:
        raise ModelError(
            f"{what} is an expression of {len(text)} characters; {_LONGEST_TEXT} is the most."
        )
    names: list[str] = []
    try:
        value = _meaning(ast.parse(" ".join(_tokens(text, names)), mode="eval").body, names)
    except (SyntaxError, ModelError) as error:
        why = str(error).rstrip(".") if isinstance(error, ModelError) else error.msg
        why = (
            "a sign or a value is missing" if "invalid syntax" in why else why
        )  # Python's words say less
        raise ModelError(f"{what} cannot be read as an expression: {why} in {text!r}.") from None
    except (RecursionError, MemoryError):
        raise ModelError(
            f"{what} cannot be read as an expression: it is nested too deeply."
        ) from None
    return (
        dataclasses.replace(value, text=" ".join(text.split()))
        if isinstance(value, ParameterExpression)
        else value
    )


def _tokens(text: str, names: list[str]) -> Iterator[str]:
    """The text as Python is to read it: numbers are ours, and names go by their place, for `lambda`
    may be one."""
    position, end = 0, len(text.rstrip())
    if not end:
        raise ModelError("a number or a parameter is missing")
    while position < end:
        found = _TOKEN.match(text, position)
        if found is None:
            raise ModelError(f"'{text[position:].lstrip()[0]}' was not expected")
        position = found.end()
        if found["name"]:
            names.append(found["name"])
            yield f"_{len(names) - 1}"
        else:
            yield found["sign"] or repr(number(float(found["number"]), found["number"]))


def _meaning(node: ast.expr, names: list[str]) -> Number:
    match node:
        case ast.Constant(value=float() as plain):
            return plain
        case ast.Name(id=place):
            name = names[int(place[1:])]
            if name in FUNCTIONS:
                raise ModelError(f"the function {name} needs its argument in parentheses")
            return CONSTANTS[name] if name in CONSTANTS else parameter(name)
        case ast.UnaryOp(op=sign, operand=inner):
            value = _meaning(inner, names)
            return _combine("neg", value) if isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=sign, right=right):
            return _combine(_SIGNS[type(sign)], _meaning(left, names), _meaning(right, names))
        case ast.Call(func=ast.Name(id=place), args=inner_ones):
            name = names[int(place[1:])]
            if name not in FUNCTIONS:
                raise ModelError(f"there is no function {name!r} (known: {', '.join(FUNCTIONS)})")
            if len(inner_ones) != (count := FUNCTIONS[name][0]):
                raise ModelError(
                    f"{name} takes {count} argument{'s' * (count > 1)} and has {len(inner_ones)}"
                )
            return _combine(name, *(_meaning(x, names) for x in inner_ones))
    raise ModelError("a list stands where one number is expected")
