"""From the instruction list to straight-line LLVM code on blocks of states.

Each number of the program becomes a vector with one lane per state. The code reads a packed block of inputs, writes a
packed block of outputs, and is cut into pieces of bounded length, since LLVM's effort grows faster than the length of a
function; what one piece computes for a later one waits in a scratch array.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from eslabon.graph.native import vector_math
from eslabon.graph.native.ir import splat, vector_type
from eslabon.graph.program import GraphError, Instruction, Program

# Instructions in one LLVM function. Measured on chains of 10,000 to 100,000 operations: compile time per operation
# doubles from 1,000 to 4,000 and the code gets less than a tenth faster; from 400 to 1,000 it grows by a seventh and the
# code gets no faster. What fits into one function stays whole all the same, since cutting it would cost a little.
PIECE = 400
WHOLE = 1000

# Only `contract` is allowed to LLVM (a*b + c in one rounding): the faster flags assume that NaN and infinity never occur.
_ONE_LINE = {
    "add": "fadd contract {V} {a}, {b}",
    "sub": "fsub contract {V} {a}, {b}",
    "mul": "fmul contract {V} {a}, {b}",
    "div": "fdiv {V} {a}, {b}",
    "neg": "fneg {V} {a}",
    "sq": "fmul contract {V} {a}, {a}",
    "twice": "fadd contract {V} {a}, {a}",
    "inv": "fdiv {V} {one}, {a}",
    "sqrt": "call {V} @llvm.sqrt.{m}({V} {a})",
    "fabs": "call {V} @llvm.fabs.{m}({V} {a})",
    "floor": "call {V} @llvm.floor.{m}({V} {a})",
    "ceil": "call {V} @llvm.ceil.{m}({V} {a})",
    "fmin": "call {V} @llvm.minnum.{m}({V} {a}, {V} {b})",
    "fmax": "call {V} @llvm.maxnum.{m}({V} {a}, {V} {b})",
    "copysign": "call {V} @llvm.copysign.{m}({V} {a}, {V} {b})",
}
_TRUTH = "{r} = select {B} {r}.t, {V} {one}, {V} {zero}"
_BOTH = ("{r}.x = fcmp une {V} {a}, {zero}", "{r}.y = fcmp une {V} {b}, {zero}")
_SEVERAL_LINES = {
    "lt": ("{r}.t = fcmp olt {V} {a}, {b}", _TRUTH),
    "le": ("{r}.t = fcmp ole {V} {a}, {b}", _TRUTH),
    "eq": ("{r}.t = fcmp oeq {V} {a}, {b}", _TRUTH),
    "ne": ("{r}.t = fcmp une {V} {a}, {b}", _TRUTH),
    "not": ("{r}.t = fcmp oeq {V} {a}, {zero}", _TRUTH),
    "and": (*_BOTH, "{r}.t = and {B} {r}.x, {r}.y", _TRUTH),
    "or": (*_BOTH, "{r}.t = or {B} {r}.x, {r}.y", _TRUTH),
    # A selection, not a product: a NaN in the branch not taken stays there.
    "if_else_zero": ("{r}.t = fcmp une {V} {a}, {zero}", "{r} = select {B} {r}.t, {V} {b}, {V} {zero}"),
    "sign": (
        "{r}.p = fcmp ogt {V} {a}, {zero}",
        "{r}.n = fcmp olt {V} {a}, {zero}",
        "{r}.m = select {B} {r}.n, {V} {minus}, {V} {a}",
        "{r} = select {B} {r}.p, {V} {one}, {V} {r}.m",
    ),
}
_CALLED = {"constpow": "pow"}
_INTRINSICS = {"sqrt": 1, "fabs": 1, "floor": 1, "ceil": 1, "minnum": 2, "maxnum": 2, "copysign": 2, "fma": 3}
_PARAMETERS = "(ptr noalias %source, ptr noalias %scratch, ptr noalias %target)"


@dataclass(frozen=True)
class Layout:
    """Where arguments stand in a packed block, counted in vectors."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    input_size: int
    output_size: int

    @staticmethod
    def of(program: Program) -> Layout:
        """One after the other, dense and in row order; an empty argument still has one unused place."""
        starts = []
        for shapes in (program.input_shapes, program.output_shapes):
            first = [0]
            for shape in shapes:
                first.append(first[-1] + max(1, math.prod(shape)))
            starts.append(first)
        return Layout(tuple(starts[0][:-1]), tuple(starts[1][:-1]), starts[0][-1], starts[1][-1])


@dataclass(frozen=True)
class Kernel:
    """LLVM functions that compute one packed block, the first of them @kernel(source, scratch, target)."""

    text: str
    layout: Layout
    scratch_size: int  # in vectors


def kernel(program: Program, width: int, fused: bool, piece: int | None = None) -> Kernel:
    """The straight-line code of a program."""
    steps, layout = program.instructions, Layout.of(program)
    piece = piece or (PIECE if len(steps) > WHOLE else WHOLE)
    scratch = _Scratch(program, piece)
    declared = [
        f"declare {vector_type(width)} @llvm.{name}.v{width}f64({', '.join([vector_type(width)] * arity)})\n"
        for name, arity in _INTRINSICS.items()
    ]
    pieces, called = [], set()
    for number, first in enumerate(range(0, len(steps), piece)):
        code = _Piece(program, layout, scratch, number, width)
        lines = [line for k in range(first, min(first + piece, len(steps))) for line in code.instruction(k, steps[k])]
        scratch.finished(number)
        called |= code.called
        pieces.append(
            "\n".join([f"define internal void @piece{number}{_PARAMETERS} nounwind {{", *lines, "  ret void\n}\n"])
        )
    calls = [f"  call void @piece{k}{_PARAMETERS}" for k in range(len(pieces))]
    whole = "\n".join([f"define internal void @kernel{_PARAMETERS} nounwind {{", *calls, "  ret void\n}\n"])
    text = "".join([*declared, vector_math.definitions(called, width, fused), *pieces, whole])
    return Kernel(text, layout, scratch.size)


@dataclass
class _Scratch:
    """Places for values that a later piece reads; a place is free again after the last such piece."""

    program: Program
    piece: int
    size: int = 0
    place: dict[int, int] = field(default_factory=dict)
    _free: list[int] = field(default_factory=list)
    _until: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._last = {a: k // self.piece for k, i in enumerate(self.program.instructions) for a in i.args}

    def needed(self, value: int) -> bool:
        """Whether a later piece reads the value; if so it has a place now."""
        last = self._last.get(value, 0)
        if last <= value // self.piece:
            return False
        if not self._free:
            self._free.append(self.size)
            self.size += 1
        self.place[value] = self._free.pop()
        self._until.setdefault(last, []).append(self.place[value])
        return True

    def finished(self, piece: int) -> None:
        self._free += self._until.pop(piece, [])


class _Piece:
    """One stretch of instructions as one LLVM function; `names` are the values at hand in it."""

    def __init__(self, program: Program, layout: Layout, scratch: _Scratch, number: int, width: int) -> None:
        self._program, self._layout, self._scratch, self._width = program, layout, scratch, width
        self._names: dict[int, str] = {}
        self._turned: set[int] = set()
        self.called: set[str] = set()
        self._V = vector_type(width)
        self._words = {
            "V": self._V,
            "B": vector_type(width, "i1"),
            "m": f"v{width}f64",
            "zero": "zeroinitializer",
            "one": splat(width, 1.0),
            "minus": splat(width, -1.0),
        }

    def instruction(self, k: int, i: Instruction) -> Iterator[str]:
        """The lines of one instruction; inputs and constants appear where they are first used."""
        if i.name in ("input", "const"):
            return
        for a in i.args:
            if a not in self._names:
                yield from self._fetch(a)
        if i.name == "output":
            place = self._layout.outputs[i.place[0]] + i.place[1]
            yield from self._store("%target", place, self._names[i.args[0]], f"%o{k}")
            return
        self._names[k] = f"%r{k}"
        yield from self._compute(k, i)
        if self._scratch.needed(k):
            yield from self._store("%scratch", self._scratch.place[k], f"%r{k}", f"%k{k}")

    def _compute(self, k: int, i: Instruction) -> Iterator[str]:
        arguments = [self._names[a] for a in i.args]
        if i.name in _ONE_LINE:
            yield f"  %r{k} = " + _ONE_LINE[i.name].format(a=arguments[0], b=arguments[-1], **self._words)
        elif i.name in _SEVERAL_LINES:
            for line in _SEVERAL_LINES[i.name]:
                yield "  " + line.format(r=f"%r{k}", a=arguments[0], b=arguments[-1], **self._words)
        elif i.name in ("sin", "cos"):
            yield from self._turn(k, i)
        else:
            called = _CALLED.get(i.name, i.name)
            if called not in vector_math.ARITY:
                raise GraphError(f"{self._program.name} uses {i.name!r}, which native code does not know.")
            self.called.add(called)
            text = ", ".join(f"{self._V} {a}" for a in arguments)
            yield f"  %r{k} = call {self._V} {vector_math.function_name(called)}({text})"

    def _turn(self, k: int, i: Instruction) -> Iterator[str]:
        """Sine and cosine of one angle share a call."""
        self.called.add(i.name)
        angle, pair = i.args[0], f"{{{self._V}, {self._V}}}"
        if angle not in self._turned:
            self._turned.add(angle)
            yield f"  %t{angle} = call {pair} @vector.sincos({self._V} {self._names[angle]})"
        yield f"  %r{k} = extractvalue {pair} %t{angle}, {int(i.name == 'cos')}"

    def _fetch(self, a: int) -> Iterator[str]:
        """A constant, an input, or what an earlier piece left in the scratch array."""
        i = self._program.instructions[a]
        if i.name == "const":
            self._names[a] = splat(self._width, i.value)
            return
        if i.name == "input":
            at, place = "%source", self._layout.inputs[i.place[0]] + i.place[1]
        else:
            at, place = "%scratch", self._scratch.place[a]
        self._names[a] = f"%r{a}"
        yield f"  %p{a} = getelementptr {self._V}, ptr {at}, i64 {place}"
        yield f"  %r{a} = load {self._V}, ptr %p{a}, align {8 * self._width}"

    def _store(self, at: str, place: int, value: str, name: str) -> Iterator[str]:
        yield f"  {name} = getelementptr {self._V}, ptr {at}, i64 {place}"
        yield f"  store {self._V} {value}, ptr {name}, align {8 * self._width}"
