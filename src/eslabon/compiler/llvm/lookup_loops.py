"""A table that is looked into, as an LLVM function: each lane loads the row of its own number."""

from __future__ import annotations

from itertools import chain

from eslabon.compiler.llvm.ir import Body, bits, vector_type
from eslabon.compiler.lookup import Lookup


def definition(name: str, f: Lookup, width: int) -> str:
    """@name(source, scratch, target)."""
    b, V, align = Body(width), vector_type(width), f"align {8 * width}"
    columns = len(f.values[0])
    number = b.vector(b.let(f"load {V}, ptr %source, {align}"))
    within = b.intrinsic(
        "minnum", b.intrinsic("maxnum", number, 0.0), float(len(f.values) - 1)
    )  # what is no number is row 0
    rows = []
    for lane in range(width):
        own = b.lane(within.name, lane)
        rows.append(b.let(f"mul i64 {b.let(f'fptosi double {own} to i64')}, {columns}"))
    with b.loop(columns) as column:
        found = "undef"
        for lane, row in enumerate(rows):
            at = b.offset(f"{name}.table", b.let(f"add i64 {row}, {column}"), "double")
            value = b.let(f"load double, ptr {at}")
            found = b.with_lane(found, value, lane)
        b.do(f"store {V} {found}, ptr {b.offset('%target', column, V)}, {align}")
    b.do("ret void")
    numbers = ", ".join(f"double {bits(x)}" for x in chain.from_iterable(f.values))
    table = f"{name}.table = private constant [{len(f.values) * columns} x double] [{numbers}]\n"
    header = f"internal void {name}(ptr noalias %source, ptr noalias %scratch, ptr noalias %target) nounwind"
    return table + b.function(header)
