"""From the instruction list to LLVM code on blocks of states: straight on, but for calls.

Each number of the program becomes a vector with one lane per state. The code reads a packed block
of inputs, writes a packed block of outputs, and is cut into pieces of bounded length, since LLVM's
effort grows faster than the length of a function; what one piece computes for a later one waits in
a scratch array, as do arguments and results of calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import copysign
from typing import Any, NamedTuple

from eslabon.compiler.llvm import (
    index_tables,
    lookup_loops,
    matrix_loops,
    products,
    until_loops,
    vector_math,
)
from eslabon.compiler.llvm.ir import STRAIGHT, splat, suffix, vector_type
from eslabon.compiler.operators import Lookup, Pick, RowAt
from eslabon.compiler.program import MOVES, GraphError, Instruction, Move, Program, starts
from eslabon.compiler.until import Until

# Instructions in one LLVM function. Measured on 30 formulas of 1,000 to 10,000 of them: with 300
# compile time is a sixth longer than with 150, and the code a twentieth slower; with 100 neither is
# better. What fits into one function stays whole all the same: up to 1,000 it takes no longer, and
# runs as fast.
PIECE = 150
WHOLE = 1000
# Instructions up to which one kernel serves a state alone too: to make another one for blocks later
# would take longer than is won. With more of them code for single numbers is made in half the time,
# and runs as fast or up to a tenth faster.
SHORT = 1000
# Arguments of a call that are zero, from which on memory is cleared before the others are written:
# a store of its own for each would be a twentieth of the code where sparse matrices are handed over
# as dense ones.
ZEROS = 32

# No flag of LLVM's fast arithmetic: every operation rounds once, as it is written here and in
# `products`.
_ONE_LINE = {
    "add": "fadd {V} {a}, {b}",
    "sub": "fsub {V} {a}, {b}",
    "mul": "fmul {V} {a}, {b}",
    "div": "fdiv {V} {a}, {b}",
    "neg": "fneg {V} {a}",
    "sq": "fmul {V} {a}, {a}",
    "twice": "fadd {V} {a}, {a}",
    "inv": "fdiv {V} {one}, {a}",
    "sqrt": "call {V} @llvm.sqrt.{m}({V} {a})",
    "fabs": "call {V} @llvm.fabs.{m}({V} {a})",
    "floor": "call {V} @llvm.floor.{m}({V} {a})",
    "ceil": "call {V} @llvm.ceil.{m}({V} {a})",
    "fmin": "call {V} @llvm.minnum.{m}({V} {a}, {V} {b})",
    "fmax": "call {V} @llvm.maxnum.{m}({V} {a}, {V} {b})",
    "copysign": "call {V} @llvm.copysign.{m}({V} {a}, {V} {b})",
    products.PLUS: "call {V} @llvm.fma.{m}({V} {a}, {V} {b}, {V} {c})",
}
_TRUTH = "{r} = select {B} {r}.t, {V} {one}, {V} {zero}"
_BOTH = ("{r}.x = fcmp une {V} {a}, {zero}", "{r}.y = fcmp une {V} {b}, {zero}")
_SEVERAL_LINES = {
    products.MINUS: (
        "{r}.n = fneg {V} {c}",
        "{r} = call {V} @llvm.fma.{m}({V} {a}, {V} {b}, {V} {r}.n)",
    ),
    products.FROM: (
        "{r}.n = fneg {V} {a}",
        "{r} = call {V} @llvm.fma.{m}({V} {r}.n, {V} {b}, {V} {c})",
    ),
    "lt": ("{r}.t = fcmp olt {V} {a}, {b}", _TRUTH),
    "le": ("{r}.t = fcmp ole {V} {a}, {b}", _TRUTH),
    "eq": ("{r}.t = fcmp oeq {V} {a}, {b}", _TRUTH),
    "ne": ("{r}.t = fcmp une {V} {a}, {b}", _TRUTH),
    "not": ("{r}.t = fcmp oeq {V} {a}, {zero}", _TRUTH),
    "and": (*_BOTH, "{r}.t = and {B} {r}.x, {r}.y", _TRUTH),
    "or": (*_BOTH, "{r}.t = or {B} {r}.x, {r}.y", _TRUTH),
    # A selection, not a product: a NaN in the branch not taken stays there.
    "if_else_zero": (
        "{r}.t = fcmp une {V} {a}, {zero}",
        "{r} = select {B} {r}.t, {V} {b}, {V} {zero}",
    ),
    "sign": (
        "{r}.p = fcmp ogt {V} {a}, {zero}",
        "{r}.n = fcmp olt {V} {a}, {zero}",
        "{r}.m = select {B} {r}.n, {V} {minus}, {V} {a}",
        "{r} = select {B} {r}.p, {V} {one}, {V} {r}.m",
    ),
}
_CALLED = {"constpow": "pow"}
_PARAMETERS = "(ptr noalias %source, ptr noalias %scratch, ptr noalias %target)"


@dataclass(frozen=True)
class Layout:
    """Where arguments stand in a packed block, counted in vectors: one after the other, dense and
    in row order."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    input_size: int
    output_size: int

    @staticmethod
    def of(program: Program) -> Layout:
        *inputs, input_size = starts(program.input_shapes)
        *outputs, output_size = starts(program.output_shapes)
        return Layout(tuple(inputs), tuple(outputs), input_size, output_size)


@dataclass(frozen=True)
class Kernel:
    """LLVM functions that compute one packed block of as many states as the width says, by
    name(source, scratch, target)."""

    text: str
    layout: Layout
    scratch_size: int  # in vectors
    name: str
    width: int
    elementary: tuple[str, ...]  # the functions of `vector_math` that it calls


def kernel(program: Program, width: int, fused: bool, piece: int | None = None) -> Kernel:
    """The code of a program and of all that it calls, each function once."""
    return _kernel(program, width, width, fused, piece)


def has_loops(program: Program) -> bool:
    """Whether there are operators, or calls that are repeated."""
    return any(p.operator is not None or p.repeated for p in program.family())


def single_kernel_pays(program: Program) -> bool:
    """Whether one state alone has a kernel of its own. In loops most of the work is to move
    numbers, of which lanes that are all the same would make as many more. And LLVM makes long code
    for single numbers in half the time."""
    return program.length > SHORT or has_loops(program)


def single_kernel(program: Program, width: int, fused: bool) -> Kernel:
    """The same for one state alone, @one.kernel; only operators on matrices use vectors of this
    width."""
    made = _kernel(program, 1, width, fused, None)
    text = re.sub(r"@(?=(kernel|f[0-9]+)\b)", "@one.", made.text)
    return replace(made, text=text, name="@one.kernel", width=1)


def _kernel(program: Program, width: int, across: int, fused: bool, piece: int | None) -> Kernel:
    family, words = _Family(program, fused), _Words(width, fused)
    texts, size = [], int(family.has_untils)  # the lanes that have finished come first
    for p in program.family():
        name = family.names[p.digest]
        if isinstance(p.operator, Lookup):
            texts.append(lookup_loops.of_table(name, p.operator, width))
        elif isinstance(p.operator, Pick):
            texts.append(lookup_loops.of_matrix(name, p.operator, width))
        elif isinstance(p.operator, RowAt):
            texts.append(lookup_loops.of_data(name, p.operator, width))
        elif isinstance(p.operator, Until):
            step = family.names[p.functions[0].digest]
            texts.append(until_loops.definition(name, step, p, size, width))
            size += until_loops.scratch_size(p)
        elif p.operator is not None:
            texts.append(matrix_loops.definition(name, p.operator, across, size, width == 1, fused))
            size += matrix_loops.scratch_size(p.operator, across, width == 1)
        else:
            own = family.written(p)
            limit = piece or (PIECE if len(own.instructions) > WHOLE else WHOLE)
            code = _Function(name, own, family, words, size, limit)
            texts.append(code.text())
            size = code.frame.end
    text = "".join([vector_math.declarations(words.called, width, fused), *texts])
    layout, elementary = Layout.of(program), tuple(sorted(words.called))
    return Kernel(text, layout, size, "@kernel", width, elementary)


class _Family:
    """A program and all that it calls: their names in the module, and their instructions as they
    are carried out."""

    def __init__(self, program: Program, fused: bool) -> None:
        self._fused = fused
        self._written: dict[str, Program] = {}
        *callees, own = program.family()
        self.has_untils = any(isinstance(p.operator, Until) for p in callees)
        self.names = {p.digest: f"@f{k}" for k, p in enumerate(callees)} | {own.digest: "@kernel"}

    def written(self, program: Program) -> Program:
        """The program with its products fused, wherever its code will stand."""
        if program.digest not in self._written:
            steps = products.arithmetic(program.instructions, self._fused)
            self._written[program.digest] = replace(program, instructions=tuple(steps))
        return self._written[program.digest]


class _Words:
    """LLVM's words for vectors of one width, and the elementary functions that were called."""

    def __init__(self, width: int, fused: bool) -> None:
        self.width, self.fused, self.V = width, fused, vector_type(width)
        self.called: set[str] = set()
        self.align = f"align {8 * width}"
        words = {
            "V": self.V,
            "B": vector_type(width, "i1"),
            "m": suffix(width),
            "zero": "zeroinitializer",
            "one": splat(width, 1.0),
            "minus": splat(width, -1.0),
        }

        def filled(line: str) -> str:
            return f"  {line}".format(r="{r}", a="{0}", b="{1}", c="{2}", **words)

        self.lines = {name: filled("{r} = " + line) for name, line in _ONE_LINE.items()}
        self.lines |= {
            name: "\n".join(map(filled, lines)) for name, lines in _SEVERAL_LINES.items()
        }


class _Frame:
    """A function's part of the scratch array: arguments and results of its calls, and values that a
    later piece reads.

    No function calls itself, so that each has one place for good. Places are used again when what
    they held is done.
    """

    def __init__(self, program: Program, start: int, piece: int) -> None:
        self.piece, self.end = piece, start
        self.spilled: dict[int, int] = {}
        self.cleared = _cleared_arguments(program)
        self.standing = _standing_arguments(program, self)
        self._free: list[int] = []
        self._until: dict[int, list[int]] = {}
        self._last: dict[int, int] = {}
        for k, i in enumerate(program.instructions):
            for a in i.args:
                self._last[a] = k
        layouts = [Layout.of(f) for f in program.functions]
        own = {r.call: r for r in program.repeated}
        self.one = [self._taken(layout.input_size) for layout in layouts]
        self.arguments = {
            call: self._taken(own[call].size) if call in own else self.one[f]
            for call, f in program.called.items()
        }
        sizes = {
            call: layouts[f].output_size * (len(own[call].table) if call in own else 1)
            for call, f in program.called.items()
        }
        self.results: dict[int, int] = self._result_places(program, sizes)

    def _taken(self, size: int) -> int:
        self.end += size
        return self.end - size

    def _result_places(self, program: Program, sizes: dict[int, int]) -> dict[int, int]:
        """For each call where its results stand until they were read for the last time."""
        done: dict[int, int] = {}
        at = {i.place[0]: k for k, i in enumerate(program.instructions) if i.name == "call"}
        for x in program.moves:
            last = at.get(x.target, len(program.instructions))
            done[x.source] = max(done.get(x.source, 0), last)  # of no use for inputs
        for k, i in enumerate(program.instructions):
            if i.name == "result":
                done[i.place[0]] = max(done.get(i.place[0], 0), self._last.get(k, k))
        places: dict[int, int] = {}
        free: dict[int, list[int]] = {size: [] for size in sizes.values()}
        busy: list[tuple[int, int]] = []
        for k, i in enumerate(program.instructions):
            if i.name == "call":
                while busy and busy[0][0] < k:
                    _, call = heappop(busy)
                    free[sizes[call]].append(places[call])
                call = i.place[0]
                places[call] = (
                    free[sizes[call]].pop() if free[sizes[call]] else self._taken(sizes[call])
                )
                heappush(busy, (done.get(call, k), call))
        return places

    def spill(self, value: int) -> int | None:
        """The place of a value that a later piece reads."""
        last = self._last.get(value, 0) // self.piece
        if last <= value // self.piece:
            return None
        place = self._free.pop() if self._free else self._taken(1)
        self.spilled[value] = place
        self._until.setdefault(last, []).append(place)
        return place

    def finished(self, piece: int) -> None:
        self._free += self._until.pop(piece, [])


class _Function:
    """A program as LLVM functions: pieces, and one under its own name that runs through them."""

    def __init__(
        self, name: str, program: Program, family: _Family, words: _Words, start: int, piece: int
    ) -> None:  # fmt: skip
        self._own, self._program, self._family, self._words, self._piece = (
            name,
            program,
            family,
            words,
            piece,
        )
        self._layout, self.frame = Layout.of(program), _Frame(program, start, piece)

    def text(self) -> str:
        firsts = range(0, len(self._program.instructions), self._piece)
        pieces = [self._text_of_piece(n, first) for n, first in enumerate(firsts)]
        calls = [f"  call void {self._own}.{n}{_PARAMETERS}" for n in range(len(pieces))]
        if self._family.has_untils and self._own == "@kernel":
            calls = until_loops.none_finished(self._words.width) + calls
        moves = self._moves()
        if f"{self._own}.moves" in moves:
            calls.append(f"  call void {self._own}.moves(ptr %scratch, ptr %target)")
        loops = [
            index_tables.moves(name, table, self._words.width) for name, table in moves.items()
        ]
        return "".join(
            [*self._repetitions(), *loops, STRAIGHT, *pieces, STRAIGHT, _define(self._own, calls)]
        )

    def _moves(self) -> dict[str, list[tuple[int, int]]]:
        """From where to where numbers go, by the name of the loop: those of a call's arguments, or
        of outputs."""
        made: dict[str, list[tuple[int, int]]] = {}
        outputs, inputs = self._layout.outputs, self._layout.inputs
        for x in self._program.moves:
            target = outputs[-1 - x.target] if x.target < 0 else self.frame.arguments[x.target]
            source = inputs[-1 - x.source] if x.source < 0 else self.frame.results[x.source]
            name = f"{self._own}.{_moved(x)}{x.target if x.target >= 0 else ''}"
            made.setdefault(name, []).append((source + x.position, target + x.place))
        return made

    def _repetitions(self) -> list[str]:
        """The loops of repeated calls."""
        made = []
        for r in self._program.repeated:
            if r.call in self._program.called:
                callee = self._program.functions[self._program.called[r.call]]
                size = Layout.of(callee).output_size
                name = f"{self._own}.repeat{r.call}"
                between = self.frame.results[r.call] - self.frame.arguments[r.call]
                table = [[p if p >= 0 else between - 1 - p for p in row] for row in r.table]
                made.append(
                    index_tables.repetition(
                        name, table, size, self._repeated_body(callee), self._words.width
                    )
                )
        return made

    def _repeated_body(self, callee: Program) -> list[str]:
        """The callee's own instructions, if they are one piece, or a call."""
        if callee.functions or len(callee.instructions) > WHOLE:
            return index_tables.call_body(
                self._family.names[callee.digest], starts(callee.input_shapes), self._words.width
            )
        own = self._family.written(callee)
        frame = _Frame(own, 0, len(own.instructions))
        code = _Piece("", own, Layout.of(own), frame, self._words, self._family.names, apart=True)
        for k in range(len(own.instructions)):
            code.instruction(k)
        return code.lines

    def _text_of_piece(self, number: int, first: int) -> str:
        code = _Piece(
            self._own, self._program, self._layout, self.frame, self._words, self._family.names
        )
        for k in range(first, min(first + self._piece, len(self._program.instructions))):
            code.instruction(k)
        self.frame.finished(number)
        return _define(f"{self._own}.{number}", code.lines)


def _define(name: str, lines: list[str]) -> str:
    linkage = "" if name == "@kernel" else "internal "  # the kernel itself is called from elsewhere
    return "\n".join(
        [f"define {linkage}void {name}{_PARAMETERS} nounwind {{", *lines, "  ret void\n}\n"]
    )


class _Zeros(NamedTuple):
    """Arguments of a call that are zero: the instruction of the call's first argument, and the
    places of the first and of the last one."""

    before: int
    first: int
    last: int


def _is_zero(i: Instruction) -> bool:
    return i.name == "const" and i.value == 0.0 and copysign(1.0, i.value) > 0


def _cleared_arguments(program: Program) -> dict[int, _Zeros]:
    """The calls with many arguments that are zero. The arguments of a call stand one after the
    other, right before it."""
    before: dict[int, int] = {}
    zeros: dict[int, list[int]] = {}
    for k, i in enumerate(program.instructions):
        if i.name == "argument":
            call, place = i.place
            before.setdefault(call, k)
            if _is_zero(program.instructions[i.args[0]]):
                zeros.setdefault(call, []).append(place)
    return {
        call: _Zeros(before[call], min(places), max(places))
        for call, places in zeros.items()
        if len(places) >= ZEROS
    }


class _Standing(NamedTuple):
    """Arguments that stand where they are wanted already, since an earlier call of the same
    function took the same ones and no call writes into its arguments: calls whose moves from inputs
    do, and (call, place) of single ones."""

    moves: set[int]
    single: set[tuple[int, int]]


def _standing_arguments(program: Program, frame: _Frame) -> _Standing:
    own = {r.call for r in program.repeated}
    moved: dict[int, dict[int, tuple[int, int]]] = {}
    single: dict[int, dict[int, int]] = {}
    for x in program.moves:
        if x.target >= 0:
            moved.setdefault(x.target, {})[x.place] = x.source, x.position
    for i in program.instructions:
        if i.name == "argument":
            single.setdefault(i.place[0], {})[i.place[1]] = i.args[0]
    there: dict[int, dict[int, Any]] = {}  # what stands in each place, by function
    made = _Standing(set(), set())
    for i in program.instructions:
        if (
            i.name != "call"
            or i.place[0] in own
            or program.functions[i.place[1]].operator is not None
        ):
            continue
        call, f = i.place
        before = {} if call in frame.cleared else there.get(f, {})
        moves, values = moved.get(call, {}), single.get(call, {})
        inputs = {place: x for place, x in moves.items() if x[0] < 0}
        if inputs and all(before.get(place) == x for place, x in inputs.items()):
            made.moves.add(call)
        made.single.update((call, place) for place, x in values.items() if before.get(place) == x)
        there[f] = {**inputs, **values}
    return made


def _moved(x: Move) -> str:
    """Loops over results of calls and over inputs have names of their own."""
    return "inputs" if x.source < 0 else "moves"


class _Piece:
    """One stretch of instructions as one LLVM function; `names` are the values at hand in it."""

    def __init__(
        self, own: str, program: Program, layout: Layout, frame: _Frame, words: _Words, functions: dict[str, str],
        apart: bool = False,
    ) -> None:  # fmt: skip
        self._apart = apart  # each input at an address of its own
        self._own, self._program, self._layout = own, program, layout
        self._frame, self._words, self._functions = frame, words, functions
        self._names: dict[int, str] = {}
        self._turned: set[int] = set()
        self._handed = {(_moved(x), x.target) for x in program.moves}
        self._handed -= {("inputs", call) for call in frame.standing.moves}
        self.lines: list[str] = []

    def instruction(self, k: int) -> None:
        """The lines of one instruction; inputs, constants and results of calls appear where they
        are first used."""
        i = self._program.instructions[k]
        if i.name in ("input", "const", "result"):
            return
        if i.name == "argument" and i.place in self._frame.standing.single:
            return
        if i.name == "argument" and i.place[0] in self._frame.cleared:
            self._clear(k, self._frame.cleared[i.place[0]])
            if _is_zero(self._program.instructions[i.args[0]]):
                return
        names = self._names
        arguments = [names[a] if a in names else self._fetched(a) for a in i.args]
        if i.name in MOVES:
            self._move(k, i, arguments)
            return
        line = self._words.lines.get(i.name)
        if line is not None:
            self.lines.append(line.format(*arguments, r=f"%r{k}"))
        elif i.name in ("sin", "cos"):
            self._turn(k, i)
        else:
            self._elementary(k, i, arguments)
        names[k] = f"%r{k}"
        place = self._frame.spill(k)
        if place is not None:
            self._store("%scratch", place, f"%r{k}", f"%k{k}")

    def _move(self, k: int, i: Instruction, arguments: list[str]) -> None:
        call = i.place[0]
        if i.name == "output":
            self._store(
                "%target", self._layout.outputs[i.place[0]] + i.place[1], arguments[0], f"%o{k}"
            )
        elif i.name == "argument":
            self._store(
                "%scratch", self._frame.arguments[call] + i.place[1], arguments[0], f"%o{k}"
            )
        else:
            self._call(k, *i.place)

    def _clear(self, k: int, zeros: _Zeros) -> None:
        """Zeros for all arguments between the first and the last that are zero, before any argument
        is written."""
        if k != zeros.before:
            return
        words, size = self._words, 8 * self._words.width * (zeros.last - zeros.first + 1)
        place = self._frame.arguments[self._program.instructions[k].place[0]] + zeros.first
        self.lines += [
            f"  %z{k} = getelementptr {words.V}, ptr %scratch, i64 {place}",
            f"  call void @llvm.memset.p0.i64(ptr align 8 %z{k}, i8 0, i64 {size}, i1 false)",
        ]

    def _call(self, k: int, call: int, f: int) -> None:
        places = {
            "s": self._frame.arguments[call],
            "t": self._frame.results[call],
            "u": self._frame.one[f],
        }
        for name, place in places.items():
            self.lines.append(
                f"  %{name}{k} = getelementptr {self._words.V}, ptr %scratch, i64 {place}"
            )
        callee, own = self._functions[self._program.functions[f].digest], self._own
        for what, at in (("moves", "%scratch"), ("inputs", "%source")):
            if (what, call) in self._handed:
                self.lines.append(f"  call void {own}.{what}{call}(ptr {at}, ptr %scratch)")
        given = f"ptr %s{k}, ptr %scratch, ptr %t{k}"
        if any(r.call == call for r in self._program.repeated):
            callee, given = f"{own}.repeat{call}", f"{given}, ptr %u{k}"
        self.lines.append(f"  call void {callee}({given})")

    def _elementary(self, k: int, i: Instruction, arguments: list[str]) -> None:
        called, V = _CALLED.get(i.name, i.name), self._words.V
        if called not in vector_math.ARITY:
            raise GraphError(
                f"{self._program.name} uses {i.name!r}, which native code does not know."
            )
        self._words.called.add(called)
        text = ", ".join(f"{V} {a}" for a in arguments)
        self.lines.append(
            f"  %r{k} = call {V} {vector_math.function_name(called, self._words.width, self._words.fused)}({text})"
        )

    def _turn(self, k: int, i: Instruction) -> None:
        """Sine and cosine of one angle share a call."""
        V = self._words.V
        self._words.called.add("sincos")
        sincos = vector_math.function_name("sincos", self._words.width, self._words.fused)
        angle, pair = i.args[0], f"{{{V}, {V}}}"
        if angle not in self._turned:
            self._turned.add(angle)
            self.lines.append(f"  %t{angle} = call {pair} {sincos}({V} {self._names[angle]})")
        self.lines.append(f"  %r{k} = extractvalue {pair} %t{angle}, {int(i.name == 'cos')}")

    def _fetched(self, a: int) -> str:
        """A constant, an input, what a call left, or what an earlier piece left in the scratch
        array."""
        i = self._program.instructions[a]
        if i.name == "const":
            name = splat(self._words.width, i.value)
            self._names[a] = name
            return name
        if i.name == "input" and self._apart:
            at, place = f"%source{i.place[0]}", i.place[1]
        elif i.name == "input":
            at, place = "%source", self._layout.inputs[i.place[0]] + i.place[1]
        elif i.name == "result":
            at, place = "%scratch", self._frame.results[i.place[0]] + i.place[1]
        else:
            at, place = "%scratch", self._frame.spilled[a]
        self._names[a] = name = f"%r{a}"
        self.lines.append(f"  %p{a} = getelementptr {self._words.V}, ptr {at}, i64 {place}")
        self.lines.append(f"  {name} = load {self._words.V}, ptr %p{a}, {self._words.align}")
        return name

    def _store(self, at: str, place: int, value: str, name: str) -> None:
        self.lines.append(f"  {name} = getelementptr {self._words.V}, ptr {at}, i64 {place}")
        self.lines.append(f"  store {self._words.V} {value}, ptr {name}, {self._words.align}")
