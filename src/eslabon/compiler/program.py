"""A CasADi Expression function as a plain list of instructions: what every backend of this room
reads.

CasADi stores an Expression function as work-vector code in which slots are used again. Here each
instruction has its own number and refers to earlier instructions by theirs, operations have names,
and places of inputs and outputs are those of dense arrays in row order, the way NumPy users see
them; CasADi itself keeps nonzeros in column order.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from eslabon.compiler.callbacks import operator_of
from eslabon.compiler.calls import SAME, Repeated, inlined
from eslabon.compiler.until import Until
from eslabon.errors import GraphError as GraphError
from eslabon.numerics.scalars import casadi

Shape = tuple[int, ...]


class Instruction(NamedTuple):
    """One step: `name` of earlier results `args`, a constant `value`, or a `place` in an input or
    output.

    A place is (which input or output, position in its dense row-ordered array). Around a call they
    are (which call, position among all inputs or outputs of the callee, one after the other): an
    `argument` puts a value there, a `result` takes one, and between the two a `call` names (which
    call, which of the program's functions).
    """

    name: str
    args: tuple[int, ...] = ()
    value: float = 0.0
    place: tuple[int, int] = (0, 0)


MANY = 64  # numbers that become arguments or outputs as they are, from which on a loop moves them

USUAL_TURNS = 8  # of a loop that ends by a flag: Newton's method mostly needs fewer

COMMUTATIVE = frozenset({"add", "mul"})

# Instructions that move numbers and compute nothing.
MOVES = frozenset({"input", "output", "const", "argument", "result", "call"})


class Repetition(NamedTuple):
    """A call that is made for every row of a table: where in the memory of all arguments, `size`
    numbers long, each of the callee's inputs begins; -1 - p is the place p in the memory of
    results. The results of one repetition follow those of the one before."""

    call: int
    size: int
    table: tuple[tuple[int, ...], ...]


class Move(NamedTuple):
    """A result of a call, or an input, that is an argument of another as it is, or an output: no
    instruction tells of it.

    `target` is a call, or -1 - k for output k; `source` is a call, or -1 - k for input k. The
    places are as in instructions.
    """

    target: int
    place: int
    source: int
    position: int


@dataclass(frozen=True)
class Program:
    """The instructions of a function with the dense shapes of what goes in and out, and the
    functions it calls."""

    name: str
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    input_shapes: tuple[tuple[int, int], ...]
    output_shapes: tuple[tuple[int, int], ...]
    instructions: tuple[Instruction, ...] = ()
    functions: tuple[Program, ...] = ()
    repeated: tuple[Repetition, ...] = ()
    moves: tuple[Move, ...] = ()
    operator: Any = None  # of `compiler.operators` or `compiler.until`, in place of instructions

    @cached_property
    def operations(self) -> int:
        """How many operations one evaluation takes at most, those of the functions it calls
        included."""
        return self._operations([f.operations for f in self.functions])

    @cached_property
    def expected_operations(self) -> int:
        """The same where steps finish as soon as a search usually does."""
        return self._operations([f.expected_operations for f in self.functions], USUAL_TURNS)

    def _operations(self, inside: Sequence[int], turns: float = math.inf) -> int:
        """The same where a function that is called takes so many, and a loop that ends by a flag so
        many turns."""
        if isinstance(self.operator, Until):
            return int(min(self.operator.limit, turns)) * inside[0]
        if self.operator is not None:
            return int(self.operator.operations)
        own, often = (
            sum(i.name not in MOVES for i in self.instructions),
            {r.call: len(r.table) for r in self.repeated},
        )
        return own + sum(inside[f] * often.get(call, 1) for call, f in self.called.items())

    @cached_property
    def length(self) -> int:
        """How many instructions there are to compile: every function once, and no number that stays
        where it is."""
        still = {"input", "const", "result"}
        return sum(
            i.name not in still
            and (i.name not in ("output", "argument") or p.instructions[i.args[0]].name != "result")
            for p in self.family()
            for i in p.instructions
        )

    @cached_property
    def called(self) -> dict[int, int]:
        """Which of the functions each call means."""
        return {i.place[0]: i.place[1] for i in self.instructions if i.name == "call"}

    def family(self) -> list[Program]:
        """This program and all that it calls, each once, callees first."""
        found: dict[str, Program] = {}
        for f in self.functions:
            found |= {p.digest: p for p in f.family()}
        return [*found.values(), self]

    @cached_property
    def digest(self) -> str:
        """A fingerprint of what is computed: the same instructions and shapes give the same text.

        The bits of a constant count, so that 0.0 and -0.0 differ.
        """
        h = hashlib.sha256(repr((self.input_shapes, self.output_shapes)).encode())
        h.update(
            repr(
                ([f.digest for f in self.functions], self.repeated, self.moves, self.operator)
            ).encode()
        )
        h.update(repr([(i.name, i.args, i.place) for i in self.instructions]).encode())
        h.update(array("d", [i.value for i in self.instructions]).tobytes())
        return h.hexdigest()


def starts(shapes: Sequence[tuple[int, int]]) -> list[int]:
    """Where dense arrays begin that stand one after the other, and where they end."""
    return list(accumulate((rows * columns for rows, columns in shapes), initial=0))


@cache
def _operation_names() -> dict[int, str]:
    """CasADi's names of operations, in lower case, which are ours too."""
    return {
        getattr(casadi, n): n.removeprefix("OP_").lower()
        for n in dir(casadi)
        if n.startswith("OP_")
    }


def row_ordered(sparsity: Any) -> list[int]:
    """For each nonzero in CasADi's column order, its position in the dense row-ordered array."""
    columns = sparsity.size2()
    return [
        row * columns + column
        for row, column in zip(sparsity.row(), sparsity.get_col(), strict=True)
    ]


def read(f: Any) -> Program:
    """The program of a `casadi.Function`, with all that it calls.

    >>> import casadi
    >>> from eslabon.compiler.calls import call
    >>> x = casadi.SX.sym("x")
    >>> sine = casadi.Function("sine", [x], [casadi.sin(x)])
    >>> program = read(casadi.Function("f", [x], [2 * call(sine, x)]))
    >>> [i.name for i in program.instructions], program.operations
    (['input', 'argument', 'call', 'result', 'twice', 'output'], 2)
    """
    return _Reader().program(f)


class _Reader:
    """Reads every function once, however often it is called."""

    def __init__(self) -> None:
        # By the hash of a function, which is kept, so that no other one gets its hash.
        self._read: dict[int, tuple[Any, Program]] = {}

    def program(self, f: Any) -> Program:
        if hash(f) not in self._read:
            self._read[hash(f)] = f, self._made(f)
        return self._read[hash(f)][1]

    def _made(self, f: Any) -> Program:
        operator = operator_of(f)
        f = f if operator is not None or f.is_a("SXFunction") else _expanded(f)
        into, out_of = (
            [size(k) for k in range(n)]
            for size, n in ((f.size_in, f.n_in()), (f.size_out, f.n_out()))
        )
        about = f.name(), tuple(f.name_in()), tuple(f.name_out()), tuple(into), tuple(out_of)
        if operator is not None:
            inside = [operator.function] if isinstance(operator, Until) else []
            return Program(*about, functions=tuple(map(self.program, inside)), operator=operator)
        steps = _Steps(f, self.program)
        return Program(
            *about,
            tuple(steps.made),
            tuple(steps.functions.values()),
            tuple(steps.repeated),
            tuple(steps.moves),
        )


class _Steps:
    """The instructions of one Expression function, each with a number of its own, and none twice,
    calls included.

    What a slot of CasADi's work vector holds is the number of an instruction, or -1 - r for result
    r of all calls, which becomes an instruction only where it is computed with.
    """

    def __init__(self, f: Any, program: Callable[[Any], Program]) -> None:
        if f.has_free():
            raise GraphError(
                f"{f.name()} depends on symbols that are not inputs: {', '.join(map(str, f.free_sx()))}."
            )
        self.made: list[Instruction] = []
        self.functions: dict[str, Program] = {}  # by digest
        self.repeated: list[Repetition] = []
        self.moves: list[Move] = []
        self._program = program
        self._results: list[tuple[int, int]] = []  # call and place
        self._known: dict[
            Any, int
        ] = {}  # instructions by what they compute, calls by their first result
        self._read(f)

    def _read(self, f: Any) -> None:
        names, value = _operation_names(), self._value
        slot: dict[int, int] = {}
        into = [row_ordered(f.sparsity_in(k)) for k in range(f.n_in())]
        out_of = [row_ordered(f.sparsity_out(k)) for k in range(f.n_out())]
        many = sum(map(len, out_of)) >= MANY
        identity, inputs, outputs = f.instruction_id, f.instruction_input, f.instruction_output
        nodes = f.instructions_sx()
        for k in range(f.n_instructions()):
            name, source, target = names[identity(k)], inputs(k), outputs(k)
            if name == "input":
                slot[target[0]] = self._one(
                    Instruction(name, place=(source[0], into[source[0]][source[1]]))
                )
            elif name == "output":
                held, place = slot[source[0]], (target[0], out_of[target[0]][target[1]])
                if held < 0 and many:
                    self.moves.append(Move(-1 - place[0], place[1], *self._results[-1 - held]))
                else:
                    self.made.append(Instruction(name, (value(held),), place=place))
            elif name == "const":
                slot[target[0]] = self._one(Instruction(name, value=f.instruction_constant(k)))
            elif name == "assign":
                slot[target[0]] = slot[source[0]]
            elif name == "call":
                first = self._call(nodes[k].which_function(), [slot[s] for s in source])
                slot.update(zip(target, range(first, first - len(target), -1), strict=True))
            else:
                args = tuple([x if (x := slot[s]) >= 0 else value(x) for s in source])
                if name in COMMUTATIVE and args[0] > args[1]:
                    args = args[1], args[0]
                slot[target[0]] = self._one(Instruction(name, args))

    def _one(self, i: Instruction) -> int:
        """The number of an instruction, or of the same one before it; 0.0 and -0.0 differ."""
        key: Any = i if i.name != "const" else i.value.hex()
        number = self._known.setdefault(key, len(self.made))
        if number == len(self.made):
            self.made.append(i)
        return number

    def _value(self, held: int) -> int:
        """The instruction whose result is held."""
        return (
            held if held >= 0 else self._one(Instruction("result", place=self._results[-1 - held]))
        )

    def _call(self, f: Any, given: list[int]) -> int:
        """A call with what slots hold, and its first result; the others have the numbers below."""
        operator = operator_of(f)
        repeated = operator if isinstance(operator, Repeated) else None
        callee = self._program(f if repeated is None else repeated.function)
        key = (
            callee.digest,
            repeated and (repeated.widths, repeated.columns, repeated.back),
            tuple(given),
        )
        if key not in self._known:
            self._known[key] = -1 - len(self._results)
            self._new_call(f, callee, repeated, given)
        return self._known[key]

    def _new_call(
        self, f: Any, callee: Program, repeated: Repeated | None, given: list[int]
    ) -> None:
        call = self._results[-1][0] + 1 if self._results else 0
        if repeated is not None:
            repetition = _repetition(call, repeated, callee)
            self.repeated.append(repetition)
            arguments, results = list(range(repetition.size)), _repeated_places(repeated, callee)
        else:
            arguments = _places(callee.input_shapes, f.sparsity_in)
            results = _places(callee.output_shapes, f.sparsity_out)
        self.functions.setdefault(callee.digest, callee)
        self._hand_over(call, given, arguments)
        self.made.append(
            Instruction("call", place=(call, list(self.functions).index(callee.digest)))
        )
        self._results += [(call, place) for place in results]

    def _hand_over(self, call: int, given: list[int], places: list[int]) -> None:
        """The arguments of a call; of many results of others, or inputs, each is moved by a loop,
        without an instruction."""
        sources = [self._source(held) for held in given]
        many = len(sources) - sources.count(None) >= MANY
        values = []
        for held, source, place in zip(given, sources, places, strict=True):
            if source is not None and many:
                self.moves.append(Move(call, place, *source))
            else:
                values.append((self._value(held), place))
        self.made += [
            Instruction("argument", (value,), place=(call, place)) for value, place in values
        ]

    def _source(self, held: int) -> tuple[int, int] | None:
        """Where what is held stands in memory, as `Move` says it: a result of a call, or an
        input."""
        if held < 0:
            return self._results[-1 - held]
        i = self.made[held]
        return (-1 - i.place[0], i.place[1]) if i.name == "input" else None


def _places(shapes: Sequence[tuple[int, int]], structure: Callable[[int], Any]) -> list[int]:
    """Where the nonzeros of arrays stand that lie dense and in row order one after the other."""
    begin = starts(shapes)
    return [begin[k] + p for k in range(len(shapes)) for p in row_ordered(structure(k))]


def _repeated_places(f: Repeated, callee: Program) -> list[int]:
    """Where the nonzeros of all results stand, repetition by repetition."""
    *begin, size = starts(callee.output_shapes)
    rows = [f.function.sparsity_out(k).row() for k in range(len(begin))]
    return [
        r * size + first + p
        for first, own in zip(begin, rows, strict=True)
        for r in range(len(f.columns))
        for p in own
    ]


def _repetition(call: int, f: Repeated, callee: Program) -> Repetition:
    """Columns lie one after the other, matrix after matrix; results repetition by repetition."""
    rows = [height for height, _ in callee.input_shapes]
    first = starts(list(zip(rows, f.widths, strict=True)))
    *begin, size = starts(callee.output_shapes)

    def place(k: int, column: int) -> int:
        output = f.back[k]
        if output is None or column >= 0:
            return first[k] + column * rows[k]
        return -1 - (begin[output] + (-1 - column) * size)

    table = tuple([tuple([place(k, column) for k, column in enumerate(row)]) for row in f.columns])
    return Repetition(call, first[-1], table)


def _expanded(f: Any) -> Any:
    """An MX function rewritten in Expression, where CasADi can."""
    try:
        return f.expand()
    except RuntimeError as error:
        raise GraphError(
            f"{f.name()} is not made of scalar operations and cannot be expanded into them."
        ) from error


def simplified(f: Any) -> Any:
    """The same function without calls, common subexpressions shared."""
    f = inlined(f if f.is_a("SXFunction") else _expanded(f))
    symbols = f.sx_in()
    return casadi.Function(
        f.name(), symbols, casadi.cse(f.call(symbols)), f.name_in(), f.name_out(), SAME
    )


def default_shape(rows: int, columns: int) -> Shape:
    """How an array of a CasADi matrix is seen unless the caller says otherwise: a column is a
    vector."""
    return (rows,) if columns == 1 else (rows, columns)


def checked_shape(wanted: Shape | None, rows: int, columns: int, name: str) -> Shape:
    """The caller's shape for a CasADi matrix read row by row, or the default one."""
    if wanted is None:
        return default_shape(rows, columns)
    if math.prod(wanted) != rows * columns:
        raise GraphError(
            f"{name} is {rows}x{columns} in the graph; shape {wanted} does not hold as many values."
        )
    return tuple(int(n) for n in wanted)  # plain ones, that can be written to a file
