"""A CasADi SX function as a plain list of instructions: what every backend of this room reads.

CasADi stores an SX function as work-vector code in which slots are used again. Here each instruction has its own
number and refers to earlier instructions by theirs, operations have names, and places of inputs and outputs are those
of dense arrays in row order, the way NumPy users see them; CasADi itself keeps nonzeros in column order.
"""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

from eslabon.errors import EslabonError

Shape = tuple[int, ...]


class GraphError(EslabonError, ValueError):
    """A graph that a backend cannot express, or a shape that does not fit it."""


class Instruction(NamedTuple):
    """One step: `name` of earlier results `args`, a constant `value`, or a `place` in an input or output.

    A place is (which input or output, position in its dense row-ordered array).
    """

    name: str
    args: tuple[int, ...] = ()
    value: float = 0.0
    place: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Program:
    """The instructions of a function with the dense shapes of what goes in and out."""

    name: str
    instructions: tuple[Instruction, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    input_shapes: tuple[tuple[int, int], ...]
    output_shapes: tuple[tuple[int, int], ...]

    @property
    def operations(self) -> int:
        """How many instructions compute something."""
        return sum(i.name not in ("input", "output", "const") for i in self.instructions)

    def digest(self) -> str:
        """A fingerprint of what is computed: the same instructions and shapes give the same text.

        The bits of a constant count, so that 0.0 and -0.0 differ.
        """
        h = hashlib.sha256(repr((self.input_shapes, self.output_shapes)).encode())
        for i in self.instructions:
            h.update(repr((i.name, i.args, i.place)).encode() + struct.pack("<d", i.value))
        return h.hexdigest()


# CasADi's name of an operation, in lower case, is ours too. These need no instruction of their own:
_STRUCTURE = {"INPUT", "OUTPUT", "CONST", "PARAMETER", "ASSIGN"}
_SCALAR = [
    "ADD",
    "SUB",
    "MUL",
    "DIV",
    "NEG",
    "EXP",
    "LOG",
    "POW",
    "CONSTPOW",
    "SQRT",
    "SQ",
    "TWICE",
    "SIN",
    "COS",
    "TAN",
    "ASIN",
    "ACOS",
    "ATAN",
    "LT",
    "LE",
    "EQ",
    "NE",
    "NOT",
    "AND",
    "OR",
    "FLOOR",
    "CEIL",
    "FMOD",
    "FABS",
    "SIGN",
    "COPYSIGN",
    "IF_ELSE_ZERO",
    "ERF",
    "ERFINV",
    "FMIN",
    "FMAX",
    "INV",
    "SINH",
    "COSH",
    "TANH",
    "ASINH",
    "ACOSH",
    "ATANH",
    "ATAN2",
    "LOG1P",
    "EXPM1",
    "HYPOT",
    "REMAINDER",
]


def _operation_names() -> dict[int, str]:
    import casadi

    known = [n for n in (*_SCALAR, *_STRUCTURE) if hasattr(casadi, f"OP_{n}")]
    return {getattr(casadi, f"OP_{n}"): n.lower() for n in known}


def _row_ordered(sparsity: Any) -> list[int]:
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
    if not f.is_a("SXFunction"):
        f = _expanded(f)
    if f.has_free():
        raise GraphError(f"{f.name()} depends on symbols that are not inputs: {', '.join(map(str, f.free_sx()))}.")
    names = _operation_names()
    into = [_row_ordered(f.sparsity_in(k)) for k in range(f.n_in())]
    out_of = [_row_ordered(f.sparsity_out(k)) for k in range(f.n_out())]
    slot: dict[int, int] = {}  # work-vector slot -> the instruction whose result it holds now
    steps: list[Instruction] = []
    identity, inputs, outputs = f.instruction_id, f.instruction_input, f.instruction_output
    for k in range(f.n_instructions()):
        op, source, target = identity(k), inputs(k), outputs(k)
        name = names.get(op)
        if name == "input":
            steps.append(Instruction(name, place=(source[0], into[source[0]][source[1]])))
        elif name == "output":
            steps.append(Instruction(name, (slot[source[0]],), place=(target[0], out_of[target[0]][target[1]])))
            continue
        elif name == "const":
            steps.append(Instruction(name, value=f.instruction_constant(k)))
        elif name == "assign":
            slot[target[0]] = slot[source[0]]
            continue
        elif name is None:
            raise GraphError(f"{f.name()} contains CasADi operation number {op}, which no backend knows.")
        else:
            steps.append(Instruction(name, tuple([slot[s] for s in source])))
        slot[target[0]] = len(steps) - 1
    return Program(
        f.name(),
        tuple(steps),
        tuple(f.name_in()),
        tuple(f.name_out()),
        tuple(f.size_in(k) for k in range(f.n_in())),
        tuple(f.size_out(k) for k in range(f.n_out())),
    )


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
    return casadi.Function(f.name(), symbols, casadi.cse(f.call(symbols)), f.name_in(), f.name_out())


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
