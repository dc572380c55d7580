"""A table, or a matrix, that is looked into, as an LLVM function: each lane loads the row of its own number."""

from __future__ import annotations

from itertools import chain

from eslabon.compiler.llvm.ir import Body, bits, vector_type
from eslabon.compiler.operators import Lookup, Pick


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
