"""A description drawn piece by piece, by what writes graphs itself: unique names, numbered bonds, values from symbols.

Moduli are CasADi matrices of symbols that carry the names of parameters, states and bond variables. Short ones become
expressions, which can be read and written to files; long ones stay functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

from eslabon.bond_graph.elements import RESERVED, Bond, Description, Element, Traced, Value
from eslabon.compiler.program import read
from eslabon.model.parameter_expressions import Number, ParameterExpression, call, parameter
from eslabon.numerics.scalars import Expression, casadi

LONGEST = 60  # operations of an entry that is written out

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": lambda a, b: a + b,
    "SUB": lambda a, b: a - b,
    "MUL": lambda a, b: a * b,
    "DIV": lambda a, b: a / b,
    "POW": lambda a, b: a**b,
    "CONSTPOW": lambda a, b: a**b,
    "ATAN2": lambda a, b: call("atan2", a, b),
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "NEG": lambda a: -a,
    "TWICE": lambda a: 2 * a,
    "SQ": lambda a: a**2,
    "INV": lambda a: 1 / a,
    "FABS": partial(call, "abs"),
    **{
        x.upper(): partial(call, x)
        for x in ("sin", "cos", "tan", "asin", "acos", "sqrt", "exp", "log", "tanh", "sign")
    },
}


@cache
def _names() -> dict[int, str]:
    """CasADi's numbers of the operations above."""
    return {getattr(casadi, f"OP_{name}"): name for name in (*_UNARY, *_BINARY)}


class _TooLong(Exception):
    pass


def expression(x: Expression, longest: int = LONGEST) -> Number:
    """A scalar of symbols written out, or `_TooLong`.

    >>> a = casadi.SX.sym("a")
    >>> expression(2 * casadi.sin(a) + 1)
    ParameterExpression('2*sin(a) + 1')
    """
    left = longest

    def written(x: Expression) -> Number:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooLong
        if x.is_constant():
            return float(x)
        if x.is_symbolic():
            return parameter(x.name())
        name = _names().get(x.op())
        if name in _UNARY:
            made: Number = _UNARY[name](written(x.dep(0)))
        elif name in _BINARY:
            made = _BINARY[name](written(x.dep(0)), written(x.dep(1)))
        else:
            raise _TooLong
        return made

    return written(casadi.SX(x))


def value(x: Expression) -> Value:
    """A matrix of symbols as a value of an element: a matrix of numbers and expressions, or a traced function."""
    x = casadi.SX(x)
    try:
        rows = tuple(
            tuple(expression(x[i, j]) for j in range(x.shape[1])) for i in range(x.shape[0])
        )
        return rows[0][0] if x.shape == (1, 1) else rows
    except _TooLong:
        free = casadi.symvar(x)
        function = casadi.Function("value", free, [casadi.densify(x)])
        return Traced(read(function).digest, function, tuple(parameter(s.name()) for s in free))


def matrix_value(x: Expression) -> Value:
    """The same, a matrix even of one entry: a field may be singular, which a single inertia must not be."""
    given = value(x)
    return given if isinstance(given, tuple | Traced) else ((given,),)


def names_in(given: Value) -> set[str]:
    """What a value depends on."""
    if isinstance(given, tuple):
        return {
            name
            for row in given
            for entry in row
            if isinstance(entry, ParameterExpression)
            for name in entry.names()
        }
    if isinstance(given, Traced):
        return {name for argument in given.arguments for name in argument.names()}
    return {*given.names()} if isinstance(given, ParameterExpression) else set()


def identifier(name: str) -> str:
    """A name of letters, digits and underscores, which bonds need."""
    return re.sub(r"\W", "_", name)


class Drawing:
    """Elements and bonds as they are drawn."""

    def __init__(self, name: str, parameters: Iterable[tuple[str, Number]] = ()) -> None:
        self.name, self.parameters = name, tuple(parameters)
        self.elements: dict[str, Element] = {}
        self.bonds: dict[str, Bond] = {}

    def element(self, name: str, kind: str, given: Value | None = None, **more: Any) -> str:
        """Add an element; another name is found where this one is taken."""
        while name in self.elements:
            name += "_"
        self.elements[name] = Element(name, kind, given, **more)
        return name

    def bond(self, tail: str, head: str, name: str = "") -> Bond:
        """Add a bond, numbered if it has no name."""
        name = name or str(len(self.bonds) + 1)
        while name in self.bonds:
            name += "_"
        self.bonds[name] = Bond(name, tail, head)
        return self.bonds[name]

    def two_port(
        self, kind: str, name: str, into: Sequence[str], modulus: Expression, out: Sequence[str]
    ) -> list[str]:
        """A transformer, f_out = M f_in, or a gyrator, e_out = M f_in, from some elements to others, without the rows and
        columns that are zero; modulated where its modulus is not constant. The elements that it leads to come back."""
        M = casadi.sparsify(modulus)
        rows, columns = (sorted(set(own)) for own in (M.sparsity().row(), M.sparsity().get_col()))
        if not M.nnz():
            return []
        given = value(M[rows, columns])
        constant = names_in(given) <= {n for n, _ in self.parameters}
        made = self.element(name, kind.removeprefix("M") if constant else kind, given)
        for k in columns:
            self.bond(into[k], made)
        for i in rows:
            self.bond(made, out[i])
        return [out[i] for i in rows]

    def constant(self, name: str, given: Number) -> Number:
        """A number that a constitutive law may use: one that names what laws call their own becomes a parameter by itself."""
        if not (isinstance(given, ParameterExpression) and {*given.names()} & {*RESERVED}):
            return given
        self.parameters = (*self.parameters, (name, given))
        return parameter(name)

    def description(self, note: str = "") -> Description:
        return Description(
            self.name,
            tuple(self.elements.values()),
            tuple(self.bonds.values()),
            self.parameters,
            note,
        )
