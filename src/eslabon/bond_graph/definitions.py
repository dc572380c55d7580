"""Named expressions that others use, which keep long ones short: how symbols are written as such,
and how they get their values again.

A modulus of a spatial joint has hundreds of operations. Written as a chain of definitions, each
short and used by others, it is text like everything else in a graph, and each of them is computed
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from eslabon.compiler.program import Instruction, read
from eslabon.errors import ModelError
from eslabon.model.memory import FrozenDict
from eslabon.model.parameter_expressions import (
    Number,
    ParameterExpression,
    call,
    dependency_order,
    leaves,
    parameter,
)
from eslabon.numerics.scalars import Expression, casadi

LONGEST = 60  # operations of an expression that is written out
SHORT = 12  # operations of a definition, from which on it is not continued

# -- from symbols to text -----------------------------------------------------------------------------------------


def _less(a: Number, b: Number) -> Number:
    sign = call("sign", b - a)
    return (call("abs", sign) + sign) / 2


_OPERATIONS: dict[str, Callable[..., Number]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "constpow": lambda a, b: a**b,
    "neg": lambda a: -a,
    "twice": lambda a: 2 * a,
    "sq": lambda a: a**2,
    "inv": lambda a: 1 / a,
    "fabs": partial(call, "abs"),
    "fmin": lambda a, b: (a + b - call("abs", a - b)) / 2,
    "fmax": lambda a, b: (a + b + call("abs", a - b)) / 2,
    "hypot": lambda a, b: call("sqrt", a**2 + b**2),
    "atan": lambda a: call("atan2", a, 1.0),
    "sinh": lambda a: (call("exp", a) - call("exp", -a)) / 2,
    "cosh": lambda a: (call("exp", a) + call("exp", -a)) / 2,
    "asinh": lambda a: call("log", a + call("sqrt", a**2 + 1)),
    "expm1": lambda a: call("exp", a) - 1,
    "log1p": lambda a: call("log", a + 1),
    "lt": _less,
    "le": lambda a, b: 1 - _less(b, a),
    "eq": lambda a, b: 1 - call("abs", call("sign", a - b)),
    "ne": lambda a, b: call("abs", call("sign", a - b)),
    "not": lambda a: 1 - call("abs", call("sign", a)),
    "and": lambda a, b: call("abs", call("sign", a * b)),
    "or": lambda a, b: call("sign", call("abs", a) + call("abs", b)),
    "if_else_zero": lambda a, b: a * b,
    **{
        name: partial(call, name)
        for name in (
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "sqrt",
            "exp",
            "log",
            "tanh",
            "sign",
            "atan2",
        )
    },
}


class Definitions:
    """Definitions as they are made: the same expression has one name.

    >>> a = casadi.SX.sym("a")
    >>> made = Definitions(iter(["c1", "c2"]))
    >>> made.matrix(casadi.horzcat(2 * casadi.sin(a) + 1, 0))
    ((ParameterExpression('2*sin(a) + 1'), 0.0),)
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = iter(names)
        self._known: dict[Number, str] = {}
        self.made: dict[str, Number] = {}

    def matrix(self, x: Expression) -> tuple[tuple[Number, ...], ...]:
        """A matrix of symbols, which carry the names of what they stand for, as numbers and
        expressions by rows."""
        x = casadi.SX(x)
        free = casadi.symvar(x)
        program = read(
            casadi.Function("value", [casadi.vertcat(casadi.SX(0, 1), *free)], [casadi.densify(x)])
        )
        entries: dict[int, Number] = {}
        found: list[Number] = []
        length: list[int] = []
        uses = _uses(program.instructions)
        for k, step in enumerate(program.instructions):
            given = [found[i] for i in step.args]
            size = 1 + sum(length[i] for i in step.args)
            if step.name == "output":
                entries[step.place[1]] = given[0]
            expression = _written(step, given, [s.name() for s in free])
            long = size > LONGEST or (uses[k] > 1 and size > SHORT)
            if long and step.name != "output" and isinstance(expression, ParameterExpression):
                expression, size = self._defined(expression), 1
            found.append(expression)
            length.append(size)
        rows, columns = x.shape
        return tuple(tuple(entries[i * columns + j] for j in range(columns)) for i in range(rows))

    def _defined(self, expression: ParameterExpression) -> ParameterExpression:
        if expression not in self._known:
            name = self._known[expression] = next(self._names)
            self.made[name] = expression
        return parameter(self._known[expression])


def _uses(instructions: Iterable[Instruction]) -> list[int]:
    steps = list(instructions)
    uses = [0] * len(steps)
    for step in steps:
        for i in step.args:
            uses[i] += 1
    return uses


def _written(step: Instruction, given: list[Number], names: list[str]) -> Number:
    if step.name == "input":
        return parameter(names[step.place[1]])
    if step.name == "const":
        return step.value
    if step.name == "output":
        return given[0]
    if step.name not in _OPERATIONS:
        raise ModelError(f"the operation {step.name} cannot be written as text")
    return _OPERATIONS[step.name](*given)


# -- from text to values ------------------------------------------------------------------------------------------


class Reader:
    """The values of numbers and expressions: definitions are put in, each computed once, and all
    other names are looked up.

    >>> read = Reader(Chain({"c": parameter("a") + 1}), {"a": 2.0}.__getitem__)
    >>> read(3 * parameter("c")), read(parameter("c") * parameter("q"), {"q": 0.5})
    (9.0, 1.5)
    """

    def __init__(
        self,
        definitions: Chain,
        lookup: Callable[[str], Any],
        signals: Mapping[str, Any] | None = None,
    ) -> None:
        self.definitions, self.lookup, self._signals = definitions, lookup, signals or {}
        self._known: dict[str, Any] = {}

    def __call__(self, item: Any, own: Mapping[str, Any] | None = None) -> Any:
        """The value of a number or an expression; `own` are values of names that are known here
        only."""
        if not isinstance(item, ParameterExpression):
            return item
        given = dict(own or {})
        return item.evaluate({name: self._value(name, given) for name in item.names()})

    def variable(self, name: str) -> tuple[str, str] | None:
        """The bond and the letter of a variable of the graph, None of any other name."""
        if name not in self._signals:
            return None
        letter, bond = self._signals[name]
        return bond.name, letter

    def matrix(self, value: Any) -> Any:
        """The value of an element as a matrix of symbols."""
        rows = value if isinstance(value, tuple) else ((value,),)
        made = (casadi.horzcat(*(casadi.SX(self(entry)) for entry in row)) for row in rows)
        return casadi.sparsify(casadi.vertcat(*made))

    def _value(self, name: str, own: dict[str, Any]) -> Any:
        if name in own:
            return own[name]
        if name not in self.definitions:
            return self.lookup(name)
        pending = [name]
        while pending:  # an explicit stack, as chains are long
            each = pending[-1]
            known, item = self._memory(each, own), self.definitions[each]
            if each in known:
                pending.pop()
                continue
            if not isinstance(item, ParameterExpression):
                known[each] = item
                continue
            lacking = [
                n
                for n in item.names()
                if n not in own and n in self.definitions and n not in self._memory(n, own)
            ]
            if lacking:
                pending += lacking
            else:
                known[each] = item.evaluate({n: self._plain(n, own) for n in item.names()})
        return self._memory(name, own)[name]

    def _memory(self, name: str, own: dict[str, Any]) -> dict[str, Any]:
        """Where the value of a definition is kept: apart if it depends on what is known here
        only."""
        return self._known if own.keys().isdisjoint(self.definitions.base(name)) else own

    def _plain(self, name: str, own: Mapping[str, Any]) -> Any:
        """The value of a name whose own definitions are known already."""
        if name in own:
            return own[name]
        if name in self.definitions:
            return self._known[name]
        return self.lookup(name)


class Chain(FrozenDict[str, Number]):
    """Definitions in an order in which each follows those that it is made of."""

    def __init__(self, made: Mapping[str, Number]) -> None:
        super().__init__(made)
        self._base: dict[str, frozenset[str]] = {}
        for name in [n for n in dependency_order(self) if n in self]:
            own = {
                n
                for leaf in leaves(self[name])
                if isinstance(leaf, ParameterExpression)
                for n in leaf.names()
            }
            inner = [n for n in own if n in self]
            self._base[name] = frozenset(own - set(inner)).union(*(self._base[n] for n in inner))

    def base(self, name: str) -> frozenset[str]:
        """What a definition depends on in the end, definitions aside."""
        return self._base[name]

    def names_in(self, item: Any) -> list[str]:
        """What numbers and expressions depend on in the end, each once."""
        found: dict[str, None] = {}
        for leaf in leaves(item):
            if isinstance(leaf, ParameterExpression):
                for name in leaf.names():
                    found |= dict.fromkeys(sorted(self._base[name]) if name in self else [name])
        return list(found)
