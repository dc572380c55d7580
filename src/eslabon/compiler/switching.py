"""Non-smooth graphs: where a graph chooses, and the same graph with its choices frozen.

    s = switching(f)                   # f(x) with sign, fabs, fmin, fmax, if_else, comparisons, floor, ...
    g = s.surfaces(x, modes)           # the choices change where an entry of g changes its sign
    y = s.function(x, modes)           # f with frozen choices: smooth in x

Each surface has a mode sigma: +1 where g > 0, -1 where g < 0. On a surface a mode between -1 and +1
weighs both sides, as Filippov's convex combination does. Every discontinuous choice is affine in
its own mode; a continuous one (`fabs`, `fmin`, `fmax`) takes the side its mode names, since both
sides agree on the surface.

`floor` has two surfaces, the next whole numbers below and above its argument, and a level behind
the modes: the whole number itself. When its argument passes one of the two, the level moves
(`ModeLayout.settled`).

Choices that select the row of a table (`operators.row_of`) stay as they are, wherever else they are
used: tables interpolate what is smooth, and the place within a row goes with the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from eslabon.arguments import Floats
from eslabon.compiler import store
from eslabon.compiler.callbacks import operator_of
from eslabon.compiler.calls import SAME, inlined, nonzeros, operate
from eslabon.compiler.operators import Lookup, Pick, RowAt
from eslabon.numerics.scalars import Expression, casadi

MAX_TEXT = 60  # characters of an expression in a message


class Surface(NamedTuple):
    """A mode, the function g of inputs and modes whose sign it is, the mode that the graph itself
    chooses, and a name."""

    mode: Expression
    g: Expression
    choice: Expression
    text: str


class Level(NamedTuple):
    """Of a `floor`: its symbol, the whole number it is, and the numbers of its surfaces below and
    above."""

    mode: Expression
    whole: Expression
    below: int
    above: int


@dataclass(frozen=True)
class ModeLayout:
    """What is known of the modes of a function without its graph: the names of their surfaces, for
    messages, and for each `floor` the numbers of its two surfaces; the levels stand behind the
    modes, in this order."""

    names: tuple[str, ...]
    levels: tuple[tuple[int, int], ...] = ()

    @property
    def size(self) -> int:
        """The number of modes and levels."""
        return len(self.names) + len(self.levels)

    def settled(self, modes: Floats) -> Floats:
        """The modes after a switch, the level of each `floor` moved by one where a surface of it
        was passed.

        >>> import casadi, numpy as np
        >>> x = casadi.SX.sym("x")
        >>> s = switching(casadi.Function("f", [x], [casadi.floor(x)]))
        >>> s.settled(np.array([1.0, 1.0, 4.0]))                # above both 4 and 5
        array([ 1., -1.,  5.])
        """
        modes = modes.copy()
        for k, (below, above) in enumerate(self.levels, len(self.names)):
            step = float(modes[above] == 1) - float(modes[below] == -1)
            if step:
                modes[k] += step
                modes[below], modes[above] = 1.0, -1.0
        return modes


def kept_layout(key: str, make: Callable[[], ModeLayout]) -> ModeLayout:
    """The layout that is kept with the compiled code under a key; it is made where there is
    none."""

    def made() -> tuple[dict[str, Any], bytes]:
        layout = make()
        return {"names": list(layout.names), "levels": [list(pair) for pair in layout.levels]}, b""

    facts = store.entry(f"modes {key}", {"identity": "modes"}, made).facts
    return ModeLayout(tuple(facts["names"]), tuple((k, n) for k, n in facts["levels"]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Switching(ModeLayout):
    """A function whose choices are an input.

    Attributes
    ----------
    function : as the given one, with a column of modes as its last input.
    surfaces : from the same inputs to the column g.
    choices : from the given function's inputs to the modes they have by themselves.
    """

    function: Any
    surfaces: Any
    choices: Any


def switching(f: Any) -> Switching:
    """The surfaces of a `casadi.Function`, and the function with its choices as one more input.

    >>> import casadi
    >>> v = casadi.SX.sym("v")
    >>> s = switching(casadi.Function("friction", [v], [-3 * casadi.sign(v)]))
    >>> s.names
    ('sign of v',)
    >>> s.surfaces(0.2, 1), s.function(0.2, 1), s.function(0.0, 0.5)
    (DM(0.2), DM(-3), DM(-1.5))
    >>> s.choices(-0.2)
    DM(-1)
    """
    graph = inlined(f if f.is_a("SXFunction") else f.expand(), (Lookup, Pick))
    frozen = _Frozen(graph)
    surfaces, levels = frozen.needed()
    place = {surface: k for k, surface in enumerate(surfaces)}
    modes = [frozen.surfaces[k].mode for k in surfaces] + [frozen.levels[k].mode for k in levels]
    choices = [frozen.surfaces[k].choice for k in surfaces]
    choices += [frozen.levels[k].whole for k in levels]

    def function(name: str, results: list[Expression], out: list[str], *extra: Expression) -> Any:
        into, words = [*graph.sx_in(), *extra], [*f.name_in(), *["modes"] * len(extra)]
        return casadi.Function(f"{name}_{f.name()}", into, results, words, out, SAME)

    column, empty = casadi.vertcat, casadi.SX(0, 1)
    given = column(empty, *modes)
    g = column(empty, *(frozen.surfaces[k].g for k in surfaces))
    return Switching(
        tuple(frozen.surfaces[k].text for k in surfaces),
        tuple((place[frozen.levels[k].below], place[frozen.levels[k].above]) for k in levels),
        function=function("frozen", frozen.outputs, f.name_out(), given),
        surfaces=function("surfaces_of", [casadi.densify(g)], ["g"], given),
        choices=function("choices_of", [casadi.densify(column(empty, *choices))], ["modes"]),
    )


class _Value(NamedTuple):
    """A result of the graph: as it is, with frozen choices, whether these differ, and the number of
    what it computes."""

    plain: Expression
    frozen: Expression
    changed: bool
    number: int


class _Frozen:
    """The outputs of a function without calls, choice by choice replaced by modes; equal surfaces
    are one."""

    def __init__(self, f: Any) -> None:
        self.surfaces: list[Surface] = []
        self.levels: list[Level] = []
        self.outputs: list[Expression] = []
        self._numbers: dict[Any, int] = {}
        self._computed: list[Any] = []  # by number: the operation and the numbers of its arguments
        self._values: dict[int, _Value] = {}  # by number
        self._known: dict[Any, Any] = {}  # surfaces and levels by what they compare
        self._choosing: dict[int, Callable[..., Expression]] = {
            casadi.OP_SIGN: self._sign,
            casadi.OP_FABS: self._fabs,
            casadi.OP_LT: self._less,
            casadi.OP_LE: self._less_or_equal,
            casadi.OP_FMIN: lambda a, b: self._smaller(a, b, "fmin", a, b),
            casadi.OP_FMAX: lambda a, b: self._smaller(a, b, "fmax", b, a),
            casadi.OP_FLOOR: self._floor,
            casadi.OP_CEIL: self._ceil,
            casadi.OP_FMOD: self._fmod,
            casadi.OP_REMAINDER: self._remainder,
            casadi.OP_COPYSIGN: self._copysign,
        }
        self._read(f)

    def needed(self) -> tuple[list[int], list[int]]:
        """The surfaces and levels on which the outputs depend, over other surfaces too."""
        modes = {x.mode.element_hash(): k for k, x in enumerate(self.surfaces)}
        integers = {x.mode.element_hash(): k for k, x in enumerate(self.levels)}
        found: tuple[set[int], set[int]] = set(), set()
        waiting = list(self.outputs)
        while waiting:
            used = {s.element_hash() for s in casadi.symvar(casadi.veccat(*waiting))}
            waiting = []
            for k in {integers[h] for h in used if h in integers} - found[1]:
                found[1].add(k)
                waiting += [
                    self.surfaces[s].mode for s in (self.levels[k].below, self.levels[k].above)
                ]
            for k in {modes[h] for h in used if h in modes} - found[0]:
                found[0].add(k)
                waiting.append(self.surfaces[k].g)
        return sorted(found[0]), sorted(found[1])

    # -- reading ------------------------------------------------------------------------------------------------

    def _read(self, f: Any) -> None:
        nodes, own = f.instructions_sx().elements(), [nonzeros([x]) for x in f.sx_in()]
        selecting = _selecting(f, nodes)
        made: list[dict[int, Expression]] = [{} for _ in range(f.n_out())]
        slot: dict[int, _Value] = {}
        for k in range(f.n_instructions()):
            operation = f.instruction_id(k)
            source, target = f.instruction_input(k), f.instruction_output(k)
            if operation == casadi.OP_OUTPUT:
                made[target[0]][target[1]] = slot[source[0]].frozen
            elif operation == casadi.OP_INPUT:
                x = casadi.SX(own[source[0]][source[1]])
                slot[target[0]] = self._value(x, x, False, ("input", *source))
            elif operation == casadi.OP_CONST:
                key = ("const", f.instruction_constant(k).hex())
                slot[target[0]] = self._value(nodes[k], nodes[k], False, key)
            elif operation == casadi.OP_CALL:
                results = self._row(nodes[k].which_function(), [slot[s] for s in source])
                slot.update(zip(target, results, strict=True))
            else:
                given = [slot[s] for s in source]
                slot[target[0]] = self._computation(operation, nodes[k], given, k in selecting)
        self.outputs = [
            casadi.SX(
                f.sparsity_out(k), casadi.vertcat(casadi.SX(0, 1), *(x[n] for n in range(len(x))))
            )
            for k, x in enumerate(made)
        ]

    def _value(self, plain: Any, frozen: Any, changed: bool, key: Any) -> _Value:
        """A result, or the same one before it."""
        number = self._numbers.setdefault(key, len(self._computed))
        if number == len(self._computed):
            self._computed.append(key)
            self._values[number] = _Value(casadi.SX(plain), casadi.SX(frozen), changed, number)
        return self._values[number]

    def _computation(
        self, operation: int, node: Any, arguments: list[_Value], plain: bool = False
    ) -> _Value:
        key = (operation, *(a.number for a in arguments))
        if key in self._numbers:
            return self._values[self._numbers[key]]
        if operation in self._choosing and not plain:
            return self._value(node, self._choosing[operation](*arguments), True, key)
        if not any(a.changed for a in arguments):
            return self._value(node, node, False, key)
        return self._value(node, _combined(operation, [a.frozen for a in arguments]), True, key)

    def _row(self, function: Any, given: list[_Value]) -> list[_Value]:
        """A row of a table: its number is that of the graph as it is."""
        operator: Any = operator_of(function)
        *table, row = given

        def results(entries: list[Expression]) -> list[Any]:
            if isinstance(operator, Pick):
                matrix = casadi.reshape(casadi.vertcat(*entries), operator.rows, operator.columns)
                return nonzeros([operate(operator, matrix, row.plain)])
            if isinstance(operator, RowAt):
                return nonzeros([operate(operator, *entries, row.plain)])
            return nonzeros([operate(operator, row.plain)])

        plain = results([x.plain for x in table])
        changed = any(x.changed for x in table)
        frozen = results([x.frozen for x in table]) if changed else plain
        key = ("row", hash(function), *(x.number for x in given))
        return [
            self._value(a, b, changed, (*key, k))
            for k, (a, b) in enumerate(zip(plain, frozen, strict=True))
        ]

    # -- choices ------------------------------------------------------------------------------------------------

    def _mode(self, operation: str, a: _Value, b: _Value | None, at_zero: float) -> Expression:
        """The mode of the surface a - b = 0, or a = 0: one surface for a, -a, a - b and b - a."""
        key, sign = self._compared(a, b)
        if key not in self._known:
            own = (1.0, -1.0)[sign < 0]
            g, plain = (
                own * (x if y is None else x - y)
                for x, y in ((a.frozen, b and b.frozen), (a.plain, b and b.plain))
            )
            choice = casadi.if_else(plain == 0, own * at_zero, casadi.sign(plain))
            self._known[key] = self._surface(g, choice, f"{operation} of {_text(plain)}")
        return sign * self.surfaces[self._known[key]].mode

    def _compared(self, a: _Value, b: _Value | None) -> tuple[Any, float]:
        """What a surface compares, and whether it is meant the other way round."""
        if b is not None:
            if self._is_zero(b):
                return self._compared(a, None)
            if self._is_zero(a):
                key, sign = self._compared(b, None)
                return key, -sign
            return (
                "difference",
                *sorted((a.number, b.number)),
            ), 1.0 if a.number < b.number else -1.0
        made = self._computed[a.number]
        if made[0] == casadi.OP_NEG:
            key, sign = self._compared(self._values[made[1]], None)
            return key, -sign
        if made[0] == casadi.OP_SUB:
            return self._compared(self._values[made[1]], self._values[made[2]])
        return ("value", a.number), 1.0

    def _is_zero(self, a: _Value) -> bool:
        made = self._computed[a.number]
        return bool(made[0] == "const" and float.fromhex(made[1]) == 0)

    def _surface(self, g: Expression, choice: Expression, text: str) -> int:
        mode = casadi.SX.sym(f"sigma_{len(self.surfaces)}")
        self.surfaces.append(Surface(mode, g, choice, text))
        return len(self.surfaces) - 1

    def _sign(self, x: _Value) -> Expression:
        return self._mode("sign", x, None, 0.0)

    def _fabs(self, x: _Value) -> Expression:
        return self._mode("fabs", x, None, 1.0) * x.frozen

    def _less(self, a: _Value, b: _Value) -> Expression:
        return (1 - self._mode("comparison", a, b, 1.0)) / 2

    def _less_or_equal(self, a: _Value, b: _Value) -> Expression:
        return (1 - self._mode("comparison", a, b, -1.0)) / 2

    def _smaller(self, a: _Value, b: _Value, name: str, below: _Value, above: _Value) -> Expression:
        """`below` where a < b, else `above`."""
        return casadi.if_else(self._mode(name, a, b, -1.0) < 0, below.frozen, above.frozen)

    def _floor(self, x: _Value) -> Expression:
        if ("floor", x.number) not in self._known:
            n = casadi.SX.sym(f"level_{len(self.levels)}")
            whole, text = casadi.floor(x.plain), f"floor of {_text(x.plain)}"
            below, above = (
                self._surface(x.frozen - n - k, casadi.SX(1 - 2 * k), text) for k in (0, 1)
            )
            self._known["floor", x.number] = len(self.levels)
            self.levels.append(Level(n, whole, below, above))
        level = self.levels[self._known["floor", x.number]]
        below, above = (self.surfaces[k].mode for k in (level.below, level.above))
        return level.mode + (below - 1) / 2 + (above + 1) / 2

    def _ceil(self, x: _Value) -> Expression:
        return -self._floor(self._made(casadi.OP_NEG, x))

    def _fmod(self, a: _Value, b: _Value) -> Expression:
        """a - b trunc(a / b)."""
        ratio = self._made(casadi.OP_DIV, a, b)
        whole = self._made(casadi.OP_FLOOR, self._made(casadi.OP_FABS, ratio))
        return a.frozen - b.frozen * self._sign(ratio) * whole.frozen

    def _remainder(self, a: _Value, b: _Value) -> Expression:
        """a - b round(a / b)."""
        half = self._value(casadi.SX(0.5), casadi.SX(0.5), False, ("const", (0.5).hex()))
        shifted = self._made(casadi.OP_ADD, self._made(casadi.OP_DIV, a, b), half)
        return a.frozen - b.frozen * self._floor(shifted)

    def _copysign(self, a: _Value, b: _Value) -> Expression:
        return self._fabs(a) * self._mode("copysign", b, None, 1.0)

    def _made(self, operation: int, *arguments: _Value) -> _Value:
        """An operation that the graph itself does not contain."""
        compute = casadi.SX.unary if len(arguments) == 1 else casadi.SX.binary
        return self._computation(
            operation, compute(operation, *(a.plain for a in arguments)), list(arguments)
        )


def _selecting(f: Any, nodes: list[Any]) -> set[int]:
    """The instructions on which the number of a table's row depends, and all that compute the
    same."""
    numbers: dict[Any, int] = {}
    computes: list[int] = []  # by instruction
    arguments: dict[int, list[int]] = {}  # by number
    slot: dict[int, int] = {}
    waiting: list[int] = []
    for k in range(f.n_instructions()):
        operation, source = f.instruction_id(k), f.instruction_input(k)
        if operation == casadi.OP_CONST:
            key: Any = ("const", f.instruction_constant(k).hex())
        elif operation == casadi.OP_INPUT:
            key = ("input", *source)
        elif operation == casadi.OP_CALL:
            key = ("row", hash(nodes[k].which_function()), *(slot[s] for s in source))
            waiting.append(slot[source[-1]])
        else:
            key = (operation, *(slot[s] for s in source))
        number = numbers.setdefault(key, len(numbers))
        computes.append(number)
        if operation not in (casadi.OP_CONST, casadi.OP_INPUT):
            arguments[number] = [slot[s] for s in source]
        if operation != casadi.OP_OUTPUT:
            slot.update(dict.fromkeys(f.instruction_output(k), number))
    found: set[int] = set()
    while waiting:
        if (number := waiting.pop()) not in found:
            found.add(number)
            waiting += arguments.get(number, [])
    return {k for k, number in enumerate(computes) if number in found}


def _combined(operation: int, arguments: list[Expression]) -> Expression:
    """An operation on results with frozen choices: a condition between 0 and 1 weighs its
    branches."""
    if operation == casadi.OP_NOT:
        return 1 - arguments[0]
    a, *others = arguments
    if operation == casadi.OP_AND:
        return a * others[0]
    if operation == casadi.OP_OR:
        return a + others[0] - a * others[0]
    if operation == casadi.OP_IF_ELSE_ZERO:  # nothing of a branch that is not taken, NaN neither
        return a * casadi.SX.binary(operation, a, others[0])
    return casadi.SX.binary(operation, a, *others) if others else casadi.SX.unary(operation, a)


def _text(x: Expression) -> str:
    text = str(x)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]} ..."
