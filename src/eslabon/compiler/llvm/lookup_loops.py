"""A table, or a matrix, that is looked into, as an LLVM function: each lane loads the row of its
own number."""

from __future__ import annotations

from itertools import chain

from eslabon.compiler.llvm.ir import Body, bits, vector_type
from eslabon.compiler.operators import Lookup, Pick, RowAt


def of_table(name: str, f: Lookup, width: int) -> str:
    """@name(source, scratch, target), of a constant table."""
    rows, columns = len(f.values), len(f.values[0])
    numbers = ", ".join(f"double {bits(x)}" for x in chain.from_iterable(f.values))
    table = f"{name}.table = private constant [{rows * columns} x double] [{numbers}]\n"
    return table + _definition(name, f"{name}.table", rows, columns, 0, width, packed=False)


def of_matrix(name: str, f: Pick, width: int) -> str:
    """The same of a matrix that is an argument, before the number of the row."""
    return _definition(name, "%source", f.rows, f.columns, f.rows * f.columns, width, packed=True)


def _definition(
    name: str, at: str, rows: int, columns: int, place: int, width: int, packed: bool
) -> str:
    """The number of the row stands at `place`; a packed matrix has an entry for each lane."""
    b, V, align = Body(width), vector_type(width), f"align {8 * width}"
    number = b.vector(b.let(f"load {V}, ptr {b.offset('%source', place, V)}, {align}"))
    within = b.intrinsic(
        "minnum", b.intrinsic("maxnum", number, 0.0), float(rows - 1)
    )  # what is no number is row 0
    first = []
    for lane in range(width):
        own = b.lane(within.name, lane)
        first.append(b.let(f"mul i64 {b.let(f'fptosi double {own} to i64')}, {columns}"))
    with b.loop(columns) as column:
        found = "undef"
        for lane, row in enumerate(first):
            entry = b.offset(at, b.let(f"add i64 {row}, {column}"), V if packed else "double")
            own = b.offset(entry, lane, "double") if packed else entry
            found = b.with_lane(found, b.let(f"load double, ptr {own}, align 8"), lane)
        b.do(f"store {V} {found}, ptr {b.offset('%target', column, V)}, {align}")
    b.do("ret void")
    header = f"internal void {name}(ptr noalias %source, ptr noalias %scratch, ptr noalias %target) nounwind"
    return b.function(header)


def of_data(name: str, f: RowAt, width: int) -> str:
    """The same of a table that is data: its address, its number of rows and t go in, for each lane.
    The lanes of a run mostly share table and time, so that each one first tries the row of the lane
    before it."""
    b, V, align = Body(width), vector_type(width), f"align {8 * width}"
    address, rows, t = (
        b.let(f"load {V}, ptr {b.offset('%source', k, V)}, {align}") for k in range(3)
    )
    row, found = b.let("alloca i64"), []
    b.do(f"store i64 0, ptr {row}")
    for lane in range(width):
        table = b.let(f"fptoui double {b.lane(address, lane)} to i64")
        table = b.let(f"inttoptr i64 {table} to ptr")
        count = b.let(f"fptosi double {b.lane(rows, lane)} to i64")
        time = b.lane(t, lane)
        with b.when(b.let(f"xor i1 {_holds(b, table, row, count, f.columns, time)}, true")):
            _search(b, table, row, count, f.columns, time)
        number = b.let(f"load i64, ptr {row}")
        found.append(b.offset(table, b.let(f"mul i64 {number}, {f.columns}"), "double"))
    alike = "true"
    for first in found[1:]:
        alike = b.let(f"and i1 {alike}, {b.let(f'icmp eq ptr {first}, {found[0]}')}")

    def entry(first: str, column: str) -> str:
        return b.let(f"load double, ptr {b.offset(first, column, 'double')}, align 8")

    with b.when(alike), b.loop(f.columns) as column:
        vector = b.in_all_lanes(entry(found[0], column))
        b.do(f"store {V} {vector}, ptr {b.offset('%target', column, V)}, {align}")
    with b.when(b.let(f"xor i1 {alike}, true")), b.loop(f.columns) as column:
        vector = "undef"
        for lane, first in enumerate(found):
            vector = b.with_lane(vector, entry(first, column), lane)
        b.do(f"store {V} {vector}, ptr {b.offset('%target', column, V)}, {align}")
    b.do("ret void")
    header = f"internal void {name}(ptr noalias %source, ptr noalias %scratch, ptr noalias %target) nounwind"
    return b.function(header)


def _starts(b: Body, table: str, row: str, columns: int) -> str:
    """The first number of a row."""
    at = b.offset(table, b.let(f"mul i64 {row}, {columns}"), "double")
    return b.let(f"load double, ptr {at}, align 8")


def _holds(b: Body, table: str, row: str, count: str, columns: int, t: str) -> str:
    """Whether a row, if the table has it, holds at t: none after it starts before."""
    last = b.let(f"sub i64 {count}, 1")
    number = b.let(f"load i64, ptr {row}")
    there = b.let(f"icmp sle i64 {number}, {last}")
    own = b.let(f"call i64 @llvm.smin.i64(i64 {number}, i64 {last})")
    after = b.let(f"call i64 @llvm.smin.i64(i64 {b.let(f'add i64 {own}, 1')}, i64 {last})")
    begun = b.let(f"fcmp ole double {_starts(b, table, own, columns)}, {t}")
    first, is_last = b.let(f"icmp eq i64 {own}, 0"), b.let(f"icmp eq i64 {own}, {last}")
    follows = b.let(f"fcmp ogt double {_starts(b, table, after, columns)}, {t}")
    begun, done = b.let(f"or i1 {begun}, {first}"), b.let(f"or i1 {follows}, {is_last}")
    return b.let(f"and i1 {there}, {b.let(f'and i1 {begun}, {done}')}")


def _search(b: Body, table: str, row: str, count: str, columns: int, t: str) -> None:
    """Bisection: steps of falling powers of two, taken where the row there has begun."""
    b.do(f"store i64 0, ptr {row}")
    zeros = b.let(f"call i64 @llvm.ctlz.i64(i64 {count}, i1 false)")
    halvings = b.let(f"sub i64 64, {zeros}")
    with b.loop(halvings) as k:
        power = b.let(f"sub i64 {b.let(f'sub i64 {halvings}, 1')}, {k}")
        before = b.let(f"load i64, ptr {row}")
        there = b.let(f"add i64 {before}, {b.let(f'shl i64 1, {power}')}")
        with b.when(b.let(f"icmp slt i64 {there}, {count}")):
            begun = b.let(f"fcmp ole double {_starts(b, table, there, columns)}, {t}")
            further = b.let(f"select i1 {begun}, i64 {there}, i64 {before}")
            b.do(f"store i64 {further}, ptr {row}")
