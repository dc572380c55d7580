"""A CasADi SX function as a plain list of instructions: what every backend of this room reads.

CasADi stores an SX function as work-vector code in which slots are used again. Here each instruction has its own
number and refers to earlier instructions by theirs, operations have names, and places of inputs and outputs are those
of dense arrays in row order, the way NumPy users see them; CasADi itself keeps nonzeros in column order.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from eslabon.errors import GraphError as GraphError

Shape = tuple[int, ...]


class Instruction(NamedTuple):
    """One step: `name` of earlier results `args`, a constant `value`, or a `place` in an input or output.

    A place is (which input or output, position in its dense row-ordered array). Around a call they are (which call,
    position among all inputs or outputs of the callee, one after the other): an `argument` puts a value there, a
    `result` takes one, and between the two a `call` names (which call, which of the program's functions).
    """

    name: str
    args: tuple[int, ...] = ()
    value: float = 0.0
    place: tuple[int, int] = (0, 0)


COMMUTATIVE = frozenset({"add", "mul"})
# Instructions that move numbers and compute nothing.
MOVES = frozenset({"input", "output", "const", "argument", "result", "call"})


class Repetition(NamedTuple):
    """A call that is made for every row of a table: where in the memory of all arguments, `size` numbers long, each of
    the callee's inputs begins; -1 - p is the place p in the memory of results. The results of one repetition follow those
    of the one before."""

    call: int
    size: int
    table: tuple[tuple[int, ...], ...]


class Move(NamedTuple):
    """A result of a call that is an argument of another as it is, or an output: no instruction tells of it.

    `target` is a call, or -1 - k for output k; the places are as in instructions.
    """

    target: int
    place: int
    call: int
    position: int


@dataclass(frozen=True)
class Program:
    """The instructions of a function with the dense shapes of what goes in and out, and the functions it calls."""

    name: str
    instructions: tuple[Instruction, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    input_shapes: tuple[tuple[int, int], ...]
    output_shapes: tuple[tuple[int, int], ...]
    functions: tuple[Program, ...] = ()
    repeated: tuple[Repetition, ...] = ()
    moves: tuple[Move, ...] = ()
    operator: Any = None  # of `compiler.matrices` or `compiler.lookup`, in place of instructions

    @cached_property
    def operations(self) -> int:
        """How many operations one evaluation takes, those of the functions it calls included."""
        if self.operator is not None:
            return int(self.operator.operations)
        own, often = sum(i.name not in MOVES for i in self.instructions), {r.call: len(r.table) for r in self.repeated}
        return own + sum(self.functions[f].operations * often.get(call, 1) for call, f in self.called.items())

    @cached_property
    def length(self) -> int:
        """How many instructions there are to compile: every function once, and no number that stays where it is."""
        still = {"input", "const", "result"}
        return sum(
            i.name not in still and (i.name not in ("output", "argument") or p.instructions[i.args[0]].name != "result")
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
        h.update(repr(([f.digest for f in self.functions], self.repeated, self.moves, self.operator)).encode())
        h.update(repr([(i.name, i.args, i.place) for i in self.instructions]).encode())
        h.update(array("d", [i.value for i in self.instructions]).tobytes())
        return h.hexdigest()


def starts(shapes: Sequence[tuple[int, int]]) -> list[int]:
    """Where dense arrays begin that stand one after the other, and where they end."""
    return list(accumulate((rows * columns for rows, columns in shapes), initial=0))


@cache
def _operation_names() -> dict[int, str]:
    """CasADi's names of operations, in lower case, which are ours too."""
    import casadi

    return {getattr(casadi, n): n.removeprefix("OP_").lower() for n in dir(casadi) if n.startswith("OP_")}


def row_ordered(sparsity: Any) -> list[int]:
    """For each nonzero in CasADi's column order, its position in the dense row-ordered array."""
    columns = sparsity.size2()
    return [row * columns + column for row, column in zip(sparsity.row(), sparsity.get_col(), strict=True)]


def read(f: Any) -> Program:
    """The program of a `casadi.Function` made of SX.

    >>> import casadi
    >>> x = casadi.SX.sym("x")
    >>> [i.name for i in read(casadi.Function("f", [x], [casadi.sin(x)])).instructions]
    ['input', 'sin', 'output']
    """
    f = f if f.is_a("SXFunction") else _expanded(f)
    into, out_of = ([size(k) for k in range(n)] for size, n in ((f.size_in, f.n_in()), (f.size_out, f.n_out())))
    names = tuple(f.name_in()), tuple(f.name_out())
    return Program(f.name(), tuple(instructions(f)), *names, tuple(into), tuple(out_of))


def instructions(f: Any) -> list[Instruction]:
    """The instructions of one SX function, each with a number of its own, and none twice."""
    if f.has_free():
        raise GraphError(f"{f.name()} depends on symbols that are not inputs: {', '.join(map(str, f.free_sx()))}.")
    names = _operation_names()
    into = [row_ordered(f.sparsity_in(k)) for k in range(f.n_in())]
    out_of = [row_ordered(f.sparsity_out(k)) for k in range(f.n_out())]
    slot: dict[int, int] = {}  # work-vector slot -> the instruction whose result it holds now
    steps: list[Instruction] = []
    known: dict[Any, int] = {}  # the same of the same is computed once: value numbering
    identity, inputs, outputs = f.instruction_id, f.instruction_input, f.instruction_output
    for k in range(f.n_instructions()):
        name, source, target = names[identity(k)], inputs(k), outputs(k)
        if name == "output":
            steps.append(Instruction(name, (slot[source[0]],), place=(target[0], out_of[target[0]][target[1]])))
            continue
        if name == "assign":
            slot[target[0]] = slot[source[0]]
            continue
        if name == "input":
            step = Instruction(name, place=(source[0], into[source[0]][source[1]]))
        elif name == "const":
            step = Instruction(name, value=f.instruction_constant(k))
        elif name in COMMUTATIVE:
            first, second = slot[source[0]], slot[source[1]]
            step = Instruction(name, (first, second) if first <= second else (second, first))
        else:
            step = Instruction(name, tuple([slot[s] for s in source]))
        key: Any = step if name != "const" else step.value.hex()  # 0.0 and -0.0 differ
        number = known.get(key)
        if number is None:
            number = known[key] = len(steps)
            steps.append(step)
        slot[target[0]] = number
    return steps


def _expanded(f: Any) -> Any:
    """An MX function rewritten in SX, where CasADi can."""
    try:
        return f.expand()
    except RuntimeError as error:
        raise GraphError(f"{f.name()} is not made of scalar operations and cannot be expanded into them.") from error


def simplified(f: Any) -> Any:
    """The same function with common subexpressions shared."""
    import casadi

    f = f if f.is_a("SXFunction") else _expanded(f)
    symbols = f.sx_in()
    same = {"allow_duplicate_io_names": True}  # as a parameter of the mechanism may be called q
    return casadi.Function(f.name(), symbols, casadi.cse(f.call(symbols)), f.name_in(), f.name_out(), same)


def default_shape(rows: int, columns: int) -> Shape:
    """How an array of a CasADi matrix is seen unless the caller says otherwise: a column is a vector."""
    return (rows,) if columns == 1 else (rows, columns)


def checked_shape(wanted: Shape | None, rows: int, columns: int, name: str) -> Shape:
    """The caller's shape for a CasADi matrix read row by row, or the default one."""
    if wanted is None:
        return default_shape(rows, columns)
    if math.prod(wanted) != rows * columns:
        raise GraphError(f"{name} is {rows}x{columns} in the graph; shape {wanted} does not hold as many values.")
    return tuple(int(n) for n in wanted)  # plain ones, that can be written to a file
