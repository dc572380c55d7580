"""The operators of `graph.matrices` as LLVM functions: loops over rows, entries and right-hand sides.

A block of states has one in each lane of a vector. A single state, which all lanes have in common, is copied together
first, so that lanes are neighbouring numbers of a row: which of the two it is stands in the first place of the scratch
array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from eslabon.graph.matrices import Operator, Rows
from eslabon.graph.native.ir import Body, splat, vector_type

TILE = 8  # vectors that are accumulated at a time


def scratch_size(f: Operator, width: int) -> int:
    """How many vectors a single state needs to be copied together."""
    return sum(_lines(f, width)) * (1 if f.kind != "factor" else 1)


def _lines(f: Operator, width: int) -> list[int]:
    """Vectors for the packed entries and for each matrix of right-hand sides."""
    across = -(-f.columns // width)
    if f.kind == "factor":
        return [sum(-(-len(row) // width) for row in f.rows.columns)]
    return [-(-f.rows.size // width), *(rows * across for rows, _ in f.shapes[1:])]


def definition(name: str, f: Operator, width: int, place: int) -> str:
    """@name(source, scratch, target), whose own part of the scratch array begins at `place`."""
    b = Body(width)
    code = {"factor": _Factor, "solve": _Solve, "multiply": _Multiply}[f.kind](name, f, b)
    single = b.let("load i64, ptr %scratch")
    alone = b.let(f"icmp ne i64 {single}, 0")
    with b.when(alone):
        code.one_state(b.offset("%scratch", place, vector_type(width)))
        b.do("ret void")
        b.start(b.new_label("never"))
    code.states()
    b.do("ret void")
    header = f"internal void {name}(ptr noalias %source, ptr noalias %scratch, ptr noalias %target) nounwind"
    return "".join(code.tables) + b.function(header)


@dataclass(frozen=True)
class Matrix:
    """Rows of vectors, `stride` of them each."""

    at: str
    stride: int


class _Operation:
    """An operator under construction: tables, and loops for either way."""

    def __init__(self, name: str, f: Operator, b: Body) -> None:
        self.name, self.f, self.rows, self.b = name, f, f.rows, b
        self.V, self.align = vector_type(b.width), f"align {8 * b.width}"
        self.tables: list[str] = []
        self.starts = self.table("starts", f.rows.starts)
        self.index = self.table("index", list(chain.from_iterable(f.rows.columns)))

    def table(self, what: str, numbers: Sequence[int]) -> str:
        text = ", ".join(f"i64 {n}" for n in numbers or [0])
        self.tables.append(f"{self.name}.{what} = private constant [{len(numbers or [0])} x i64] [{text}]\n")
        return f"{self.name}.{what}"

    # -- words ----------------------------------------------------------------------------------------------------

    def number(self, table: str, at: str) -> str:
        return self.b.let(f"load i64, ptr {self.b.offset(table, at, 'i64')}")

    def add(self, x: str, y: str | int) -> str:
        return self.b.let(f"add i64 {x}, {y}")

    def times(self, x: str, y: str | int) -> str:
        return self.b.let(f"mul i64 {x}, {y}")

    def load(self, at: str, place: str | int) -> str:
        return self.b.let(f"load {self.V}, ptr {self.b.offset(at, place, self.V)}, {self.align}")

    def store(self, value: str, at: str, place: str | int) -> None:
        self.b.do(f"store {self.V} {value}, ptr {self.b.offset(at, place, self.V)}, {self.align}")

    def everywhere(self, at: str, place: str) -> str:
        """One double in all lanes."""
        b, V = self.b, self.V
        number = b.let(f"load double, ptr {b.offset(at, place, 'double')}, align 8")
        one = b.let(f"insertelement {V} poison, double {number}, i32 0")
        return b.let(f"shufflevector {V} {one}, {V} poison, <{b.width} x i32> zeroinitializer")

    def factor(self, at: str, place: str, single: bool) -> str:
        """A packed entry."""
        return self.everywhere(at, place) if single else self.load(at, place)

    def less(self, x: str, factor: str, y: str) -> str:
        """x - factor y."""
        product = self.b.let(f"fmul contract {self.V} {factor}, {y}")
        return self.b.let(f"fsub contract {self.V} {x}, {product}")

    def gathered(self, source: str, first: int, rows: int, columns: int, into: str) -> Matrix:
        """Numbers that all lanes have in common, from `first` on, as rows of neighbouring ones."""
        b, across = self.b, -(-columns // self.b.width)
        with b.loop(rows) as i:
            line = b.offset(into, self.times(i, across), self.V)
            start = self.add(self.times(i, columns), first)
            with b.loop(columns) as j:
                value = b.let(f"load double, ptr {b.offset(source, self.add(start, j), self.V)}, align 8")
                b.do(f"store double {value}, ptr {b.offset(line, j, 'double')}, align 8")
        return Matrix(into, across)

    def spread(self, x: Matrix, rows: int, columns: int) -> None:
        """The way back, to %target."""
        b = self.b
        with b.loop(rows) as i:
            line, start = b.offset(x.at, self.times(i, x.stride), self.V), self.times(i, columns)
            with b.loop(columns) as j:
                self.store(self.everywhere(line, j), "%target", self.add(start, j))

    def copied(self, first: int, count: int) -> None:
        """Vectors of %source to %target as they are."""
        with self.b.loop(count) as j:
            self.store(self.load("%source", self.add(j, first)), "%target", j)

    def accumulated(
        self, begin: list[str], x: Matrix, packed: str, entries: tuple[str, str], index: str, column: str, single: bool,
        place: str | None = None,
    ) -> list[str]:  # fmt: skip
        """begin - sum of packed entries times the rows that `index` names, a few vectors wide from `column` on; a table
        `place` says where an entry stands if not in order."""
        b = self.b
        with b.fold(entries[1], begin, entries[0]) as (e, sums):
            row = b.offset(x.at, self.add(self.times(self.number(index, e), x.stride), column), self.V)
            value = self.factor(packed, self.number(place, e) if place else e, single)
            sums.following = [self.less(s, value, self.load(row, k)) for k, s in enumerate(sums.values)]
        return sums.values

    def in_tiles(self, stride: int) -> list[tuple[int, int, int]]:
        """Loops over columns: (first, end, width of a tile)."""
        whole = stride // TILE * TILE
        parts = [(0, whole, TILE)] if whole else []
        return parts + ([(whole, stride, stride - whole)] if stride > whole else [])


class _Factor(_Operation):
    def states(self) -> None:
        self.copied(0, self.rows.size)
        self._eliminate("%target", self.starts, 1)

    def one_state(self, scratch: str) -> None:
        b = self.b
        padded, total = [], 0
        for row in self.rows.columns:
            padded.append(total)
            total += -(-len(row) // b.width) * b.width
        starts = self.table("padded", [*padded, total])
        self._between(starts, scratch, into=True)
        self._eliminate(scratch, starts, b.width)
        self._between(starts, scratch, into=False)

    def _between(self, starts: str, scratch: str, into: bool) -> None:
        """Copy rows together, or back into all lanes."""
        b = self.b
        with b.loop(len(self.rows.columns)) as k:
            first, end, there = (
                self.number(self.starts, k),
                self.number(self.starts, self.add(k, 1)),
                self.number(starts, k),
            )
            with b.loop(end, first=first) as e:
                place = self.add(there, b.let(f"sub i64 {e}, {first}"))
                if into:
                    value = b.let(f"load double, ptr {b.offset('%source', e, self.V)}, align 8")
                    b.do(f"store double {value}, ptr {b.offset(scratch, place, 'double')}, align 8")
                else:
                    self.store(self.everywhere(scratch, place), "%target", e)

    def _eliminate(self, at: str, starts: str, step: int) -> None:
        """From the last row to the first; `step` entries in a vector, to which rows are padded."""
        b, n, V = self.b, len(self.rows.columns), self.V
        unit = "double" if step > 1 else V

        def entry(place: str) -> str:
            return self.everywhere(at, place) if step > 1 else self.load(at, place)

        def loaded(place: str) -> str:
            return b.let(f"load {V}, ptr {b.offset(at, place, unit)}, align {8 if step > 1 else 8 * b.width}")

        def stored(value: str, place: str) -> None:
            b.do(f"store {V} {value}, ptr {b.offset(at, place, unit)}, align {8 if step > 1 else 8 * b.width}")

        with b.loop(n) as turn:
            k = b.let(f"sub i64 {n - 1}, {turn}")
            first, row = self.number(self.starts, k), self.number(starts, k)
            count = self.add(b.let(f"sub i64 {self.number(self.starts, self.add(k, 1))}, {first}"), -1)
            inverse = b.let(f"fdiv {V} {splat(b.width, 1.0)}, {entry(self.add(row, count))}")
            with b.loop(count) as j:
                other = self.number(starts, self.number(self.index, self.add(first, j)))
                share = b.let(f"fmul contract {V} {entry(self.add(row, j))}, {inverse}")
                with b.loop(self.add(j, 1), step=step) as a:
                    place = self.add(other, a)
                    stored(self.less(loaded(place), share, loaded(self.add(row, a))), place)
            with b.loop(count, step=step) as a:
                place = self.add(row, a)
                stored(b.let(f"fmul contract {V} {loaded(place)}, {inverse}"), place)
            if step > 1:
                number = b.let(f"extractelement {V} {inverse}, i32 0")
                b.do(f"store double {number}, ptr {b.offset(at, self.add(row, count), 'double')}, align 8")
            else:
                stored(inverse, self.add(row, count))


class _Solve(_Operation):
    def __init__(self, name: str, f: Operator, b: Body) -> None:
        super().__init__(name, f, b)
        below: list[list[tuple[int, int]]] = [[] for _ in f.rows.columns]  # by column: row, and place among the entries
        for k, row in enumerate(f.rows.columns):
            for a, i in enumerate(row[:-1]):
                below[i].append((k, f.rows.starts[k] + a))
        places = Rows(tuple(tuple(k for k, _ in x) for x in below), 0).starts
        self.below_starts = self.table("below_starts", places)
        self.below_index = self.table("below_index", [k for x in below for k, _ in x])
        self.below_place = self.table("below_place", [p for x in below for _, p in x])

    def states(self) -> None:
        n, k = self.f.shapes[1]
        self.copied(self.rows.size, n * k)
        self._sweeps("%source", Matrix("%target", k), False)

    def one_state(self, scratch: str) -> None:
        (n, k), lines = self.f.shapes[1], _lines(self.f, self.b.width)
        packed = self.gathered("%source", 0, 1, self.rows.size, scratch)
        x = self.gathered("%source", self.rows.size, n, k, self.b.offset(scratch, lines[0], self.V))
        self._sweeps(packed.at, x, True)
        self.spread(x, n, k)

    def _sweeps(self, packed: str, x: Matrix, single: bool) -> None:
        b, n = self.b, len(self.rows.columns)
        for first, end, tile in self.in_tiles(x.stride):
            with b.loop(end, step=tile, first=first) as column:
                with b.loop(n) as turn:  # L^-T, from the last row to the first
                    i = b.let(f"sub i64 {n - 1}, {turn}")
                    line = b.offset(x.at, self.add(self.times(i, x.stride), column), self.V)
                    ends = self.number(self.below_starts, i), self.number(self.below_starts, self.add(i, 1))
                    sums = self.accumulated(
                        [self.load(line, t) for t in range(tile)], x, packed, ends, self.below_index, column, single,
                        self.below_place,
                    )  # fmt: skip
                    for t, value in enumerate(sums):
                        self.store(value, line, t)
                with b.loop(n) as i:  # L^-1 D^-1
                    line = b.offset(x.at, self.add(self.times(i, x.stride), column), self.V)
                    start, last = self.number(self.starts, i), self.add(self.number(self.starts, self.add(i, 1)), -1)
                    inverse = self.factor(packed, last, single)
                    begin = [b.let(f"fmul contract {self.V} {inverse}, {self.load(line, t)}") for t in range(tile)]
                    sums = self.accumulated(begin, x, packed, (start, last), self.index, column, single)
                    for t, value in enumerate(sums):
                        self.store(value, line, t)


class _Multiply(_Operation):
    def states(self) -> None:
        (wide, k), (n, _) = self.f.shapes[1:]
        self.copied(self.rows.size + wide * k, n * k)
        B = self.b.offset("%source", self.rows.size, self.V)
        self._products("%source", Matrix(B, k), Matrix("%target", k), False)

    def one_state(self, scratch: str) -> None:
        (wide, k), (n, _) = self.f.shapes[1:]
        lines, b = _lines(self.f, self.b.width), self.b
        packed = self.gathered("%source", 0, 1, self.rows.size, scratch)
        B = self.gathered("%source", self.rows.size, wide, k, b.offset(scratch, lines[0], self.V))
        C = self.gathered("%source", self.rows.size + wide * k, n, k, b.offset(scratch, lines[0] + lines[1], self.V))
        self._products(packed.at, B, C, True)
        self.spread(C, n, k)

    def _products(self, packed: str, B: Matrix, C: Matrix, single: bool) -> None:
        b = self.b
        for first, end, tile in self.in_tiles(C.stride):
            with b.loop(end, step=tile, first=first) as column, b.loop(len(self.rows.columns)) as i:
                line = b.offset(C.at, self.add(self.times(i, C.stride), column), self.V)
                ends = self.number(self.starts, i), self.number(self.starts, self.add(i, 1))
                begin = [self.load(line, t) for t in range(tile)]
                sums = self.accumulated(begin, B, packed, ends, self.index, column, single)
                for t, value in enumerate(sums):
                    self.store(value, line, t)
