"""The operators on matrices of `compiler.operators` as LLVM functions: loops over rows, entries and
right-hand sides.

In a block of states every lane of a vector is a state. For one state alone numbers lie one after
the other, and lanes are neighbours in a row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from eslabon.compiler.llvm.ir import Body, splat, vector_type
from eslabon.compiler.operators import MatrixOperator, Rows

TILE = 8  # vectors that are accumulated at a time


def scratch_size(f: MatrixOperator, width: int, single: bool) -> int:
    """How many numbers one state alone needs besides, for rows that are padded to whole vectors."""
    return sum(_padded(f, width)) if single else 0


def _padded(f: MatrixOperator, width: int) -> list[int]:
    """Numbers in the rows of each matrix that is copied."""
    if f.kind == "factor":
        return [sum(_whole(len(row), width) for row in f.rows.columns)]
    return [rows * _whole(f.columns, width) for rows, _ in f.shapes[1:]]


def _whole(count: int, width: int) -> int:
    """So many, in whole vectors."""
    return -(-count // width) * width


def definition(
    name: str, f: MatrixOperator, width: int, place: int, single: bool, fused: bool
) -> str:
    """@name(source, scratch, target), whose own part of the scratch array begins at `place`, for a
    block of states or for one alone; `fused` says that the processor multiplies and adds in one
    rounding."""
    b = Body(width)
    kinds: dict[str, type[_Operation]] = {
        "factor": _Factor,
        "solve": _Solve,
        "multiply": _Multiply,
        "product": _Product,
    }
    code = kinds[f.kind](name, f, b, single, fused)
    if single:
        code.one_state(b.offset("%scratch", place, "double"))
    else:
        code.states()
    b.do("ret void")
    header = f"internal void {name}(ptr noalias %source, ptr noalias %scratch, ptr noalias %target) nounwind"
    return "".join(code.tables) + b.function(header)


@dataclass(frozen=True)
class Matrix:
    """Rows of vectors, `stride` of them each."""

    at: str
    stride: int


class _Operation(ABC):
    """An operator under construction: tables, and loops for either way."""

    def __init__(self, name: str, f: MatrixOperator, b: Body, single: bool, fused: bool) -> None:
        self.name, self.f, self.rows, self.b, self.single, self.fused = (
            name,
            f,
            f.rows,
            b,
            single,
            fused,
        )
        self.V, self.align = vector_type(b.width), "align 8" if single else f"align {8 * b.width}"
        self.tables: list[str] = []
        self.starts = self.table("starts", f.rows.starts)
        self.index = self.table("index", list(chain.from_iterable(f.rows.columns)))

    @abstractmethod
    def states(self) -> None:
        """The code for a block of states."""

    @abstractmethod
    def one_state(self, scratch: str) -> None:
        """The code for one state alone."""

    def table(self, what: str, numbers: Sequence[int]) -> str:
        text = ", ".join(f"i64 {n}" for n in numbers or [0])
        self.tables.append(
            f"{self.name}.{what} = private constant [{len(numbers or [0])} x i64] [{text}]\n"
        )
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
        b = self.b
        return b.in_all_lanes(b.let(f"load double, ptr {b.offset(at, place, 'double')}, align 8"))

    def factor(self, at: str, place: str) -> str:
        """A packed entry."""
        return self.everywhere(at, place) if self.single else self.load(at, place)

    def negative(self, x: str) -> str:
        return self.b.let(f"fneg {self.V} {x}")

    def plus(self, x: str, factor: str, y: str) -> str:
        """x + factor y, rounded once where the processor can."""
        b, V = self.b, self.V
        if self.fused:
            return b.vector(factor).fma(b.vector(y), b.vector(x)).name
        return b.let(f"fadd {V} {x}, {b.let(f'fmul {V} {factor}, {y}')}")

    def padded(self, first: int, rows: int, columns: int, into: str) -> Matrix:
        """Rows of %source, from a place on, in whole vectors: what follows a row comes along."""
        b, across = self.b, -(-columns // self.b.width)
        source = b.offset("%source", first, "double")
        with b.loop(rows) as i:
            line, start = (
                b.offset(into, self.times(i, across), self.V),
                b.offset(source, self.times(i, columns), "double"),
            )
            with b.loop(across) as j:
                self.store(self.load(start, j), line, j)
        return Matrix(into, across)

    def unpadded(self, x: Matrix, rows: int, columns: int) -> None:
        """The way back, to %target."""
        b, whole = self.b, columns // self.b.width
        with b.loop(rows) as i:
            line = b.offset(x.at, self.times(i, x.stride), self.V)
            target = b.offset("%target", self.times(i, columns), "double")
            with b.loop(whole) as j:
                self.store(self.load(line, j), target, j)
            with b.loop(columns, first=whole * b.width) as j:
                number = b.let(f"load double, ptr {b.offset(line, j, 'double')}, align 8")
                b.do(f"store double {number}, ptr {b.offset(target, j, 'double')}, align 8")

    def copied(self, first: int, count: int) -> None:
        """Vectors of %source to %target as they are."""
        with self.b.loop(count) as j:
            self.store(self.load("%source", self.add(j, first)), "%target", j)

    def accumulated(
        self,
        begin: list[str],
        x: Matrix,
        entries: tuple[str, str],
        index: str,
        column: str,
        place: str | None = None,
        adding: bool = False,
    ) -> list[str]:
        """begin - sum of packed entries times the rows that `index` names, a few vectors wide from
        `column` on; or with a plus. A table `place` says where an entry stands if not in order."""
        b = self.b
        with b.fold(entries[1], begin, entries[0]) as (e, sums):
            row = b.offset(
                x.at, self.add(self.times(self.number(index, e), x.stride), column), self.V
            )
            factor = self.factor("%source", self.number(place, e) if place else e)
            signed = factor if adding else self.negative(factor)
            sums.following = [
                self.plus(s, signed, self.load(row, k)) for k, s in enumerate(sums.values)
            ]
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
        width, starts = self.b.width, [0]
        for row in self.rows.columns:
            starts.append(starts[-1] + _whole(len(row), width))
        padded = self.table("padded", starts)
        self._padded(padded, scratch)
        self._eliminate(scratch, padded, width)
        self._packed(padded, scratch)

    def _padded(self, padded: str, scratch: str) -> None:
        """Rows of %source in whole vectors: what follows a row comes along."""
        b = self.b
        with b.loop(self.f.height) as k:
            first, there = self.number(self.starts, k), self.number(padded, k)
            count = b.let(f"sub i64 {self.number(padded, self.add(k, 1))}, {there}")
            with b.loop(count, step=b.width) as e:
                self._copy("%source", self.add(first, e), scratch, self.add(there, e), self.V)

    def _packed(self, padded: str, scratch: str) -> None:
        """The way back, to %target. What follows a row is overwritten by the next rows; the last
        ones, whose whole vectors would reach beyond the end, are copied number by number."""
        b, ends = self.b, self.rows.starts
        safe = sum(
            start + _whole(len(row), b.width) <= self.rows.size
            for start, row in zip(ends, self.rows.columns, strict=False)
        )
        for rows, first, step, kind in (
            (safe, 0, b.width, self.V),
            (self.f.height, safe, 1, "double"),
        ):
            with b.loop(rows, first=first) as k:
                start, there = self.number(self.starts, k), self.number(padded, k)
                count = b.let(f"sub i64 {self.number(self.starts, self.add(k, 1))}, {start}")
                with b.loop(count, step=step) as e:
                    self._copy(scratch, self.add(there, e), "%target", self.add(start, e), kind)

    def _copy(self, source: str, here: str, target: str, there: str, kind: str) -> None:
        b = self.b
        value = b.let(f"load {kind}, ptr {b.offset(source, here, 'double')}, align 8")
        b.do(f"store {kind} {value}, ptr {b.offset(target, there, 'double')}, align 8")

    def _eliminate(self, at: str, starts: str, step: int) -> None:
        """From the last row to the first; `step` entries in a vector, to which rows are padded."""
        b, n, V = self.b, len(self.rows.columns), self.V
        unit = "double" if step > 1 else V

        def entry(place: str) -> str:
            return self.everywhere(at, place) if step > 1 else self.load(at, place)

        def loaded(place: str) -> str:
            return b.let(
                f"load {V}, ptr {b.offset(at, place, unit)}, align {8 if step > 1 else 8 * b.width}"
            )

        def stored(value: str, place: str) -> None:
            b.do(
                f"store {V} {value}, ptr {b.offset(at, place, unit)}, align {8 if step > 1 else 8 * b.width}"
            )

        with b.loop(n) as turn:
            k = b.let(f"sub i64 {n - 1}, {turn}")
            first, row = self.number(self.starts, k), self.number(starts, k)
            count = self.add(
                b.let(f"sub i64 {self.number(self.starts, self.add(k, 1))}, {first}"), -1
            )
            inverse = b.let(f"fdiv {V} {splat(b.width, 1.0)}, {entry(self.add(row, count))}")
            with b.loop(count) as j:
                other = self.number(starts, self.number(self.index, self.add(first, j)))
                less = self.negative(b.let(f"fmul {V} {entry(self.add(row, j))}, {inverse}"))
                with b.loop(self.add(j, 1), step=step) as a:
                    place = self.add(other, a)
                    stored(self.plus(loaded(place), less, loaded(self.add(row, a))), place)
            with b.loop(count, step=step) as a:
                place = self.add(row, a)
                stored(b.let(f"fmul {V} {loaded(place)}, {inverse}"), place)
            if step > 1:
                number = b.lane(inverse, 0)
                b.do(
                    f"store double {number}, ptr {b.offset(at, self.add(row, count), 'double')}, align 8"
                )
            else:
                stored(inverse, self.add(row, count))


class _Solve(_Operation):
    def __init__(self, name: str, f: MatrixOperator, b: Body, single: bool, fused: bool) -> None:
        super().__init__(name, f, b, single, fused)
        below: list[list[tuple[int, int]]] = [
            [] for _ in f.rows.columns
        ]  # by column: row, and place among the entries
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
        self._sweeps(Matrix("%target", k))

    def one_state(self, scratch: str) -> None:
        n, k = self.f.shapes[1]
        x = self.padded(self.rows.size, n, k, scratch)
        self._sweeps(x)
        self.unpadded(x, n, k)

    def _sweeps(self, x: Matrix) -> None:
        b, n = self.b, len(self.rows.columns)
        for first, end, tile in self.in_tiles(x.stride):
            with b.loop(end, step=tile, first=first) as column:
                with b.loop(n) as turn:  # L^-T, from the last row to the first
                    i = b.let(f"sub i64 {n - 1}, {turn}")
                    line = b.offset(x.at, self.add(self.times(i, x.stride), column), self.V)
                    ends = (
                        self.number(self.below_starts, i),
                        self.number(self.below_starts, self.add(i, 1)),
                    )
                    sums = self.accumulated(
                        [self.load(line, t) for t in range(tile)], x, ends, self.below_index, column,
                        self.below_place,
                    )  # fmt: skip
                    for t, value in enumerate(sums):
                        self.store(value, line, t)
                with b.loop(n) as i:  # L^-1 D^-1
                    line = b.offset(x.at, self.add(self.times(i, x.stride), column), self.V)
                    start, last = (
                        self.number(self.starts, i),
                        self.add(self.number(self.starts, self.add(i, 1)), -1),
                    )
                    inverse = self.factor("%source", last)
                    if self.f.negative:
                        inverse = self.negative(inverse)
                    begin = [
                        b.let(f"fmul {self.V} {inverse}, {self.load(line, t)}") for t in range(tile)
                    ]
                    sums = self.accumulated(begin, x, (start, last), self.index, column)
                    for t, value in enumerate(sums):
                        self.store(value, line, t)


class _Multiply(_Operation):
    def states(self) -> None:
        (wide, k), (n, _) = self.f.shapes[1:]
        self.copied(self.rows.size + wide * k, n * k)
        self._products(
            Matrix(self.b.offset("%source", self.rows.size, self.V), k), Matrix("%target", k)
        )

    def one_state(self, scratch: str) -> None:
        (wide, k), (n, _) = self.f.shapes[1:]
        after = self.b.offset(scratch, _padded(self.f, self.b.width)[0], "double")
        B = self.padded(self.rows.size, wide, k, scratch)
        C = self.padded(self.rows.size + wide * k, n, k, after)
        self._products(B, C)
        self.unpadded(C, n, k)

    def _products(self, B: Matrix, C: Matrix) -> None:
        b = self.b
        for first, end, tile in self.in_tiles(C.stride):
            with b.loop(end, step=tile, first=first) as column, b.loop(len(self.rows.columns)) as i:
                line = b.offset(C.at, self.add(self.times(i, C.stride), column), self.V)
                ends = self.number(self.starts, i), self.number(self.starts, self.add(i, 1))
                sums = self.accumulated(
                    [self.load(line, t) for t in range(tile)], B, ends, self.index, column
                )
                for t, value in enumerate(sums):
                    self.store(value, line, t)


class _Product(_Operation):
    """The rows of A B, each written as a column. Of one state alone lanes are stored one by one,
    while the next row is computed already."""

    def states(self) -> None:
        B = Matrix(self.b.offset("%source", self.rows.size, self.V), self.f.columns)
        self._products(B, self.f.columns, 1)

    def one_state(self, scratch: str) -> None:
        B = self.padded(self.rows.size, *self.f.shapes[1], scratch)
        self._products(B, self.f.columns, self.b.width)

    def _products(self, B: Matrix, columns: int, lanes: int) -> None:
        """`lanes` of a vector are columns: 1 or all. The last tile, of which some may be beyond the
        columns, stands alone."""
        b, unit = self.b, "double" if lanes > 1 else self.V
        whole = (B.stride - 1) // TILE * TILE
        for first, end, tile in ((0, whole, TILE), (whole, B.stride, B.stride - whole)):
            count = min(tile * lanes, columns - first * lanes)
            with b.loop(end, step=tile, first=first) as column, b.loop(self.f.height) as i:
                ends = self.number(self.starts, i), self.number(self.starts, self.add(i, 1))
                sums = self.accumulated(
                    [splat(b.width, 0.0)] * tile, B, ends, self.index, column,
                    adding=not self.f.negative,
                )  # fmt: skip
                place = self.add(self.times(column, lanes * self.f.height), i)
                line = b.offset("%target", place, unit)
                for k in range(count):
                    value = sums[k // lanes] if lanes == 1 else b.lane(sums[k // lanes], k % lanes)
                    at = b.offset(line, k * self.f.height, unit)
                    b.do(f"store {unit} {value}, ptr {at}, {self.align}")
