"""Loops over constant tables, as LLVM functions: a call repeated for many arguments, and many
numbers moved.

What would be thousands of lines of straight code is here a few, and a table of places in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

from eslabon.compiler.llvm.ir import Body, vector_type


def _constant(name: str, rows: Sequence[Sequence[int]]) -> str:
    numbers = ", ".join(f"i32 {n}" for n in chain.from_iterable(rows))
    return f"{name}.table = private constant [{len(rows) * len(rows[0])} x i32] [{numbers}]\n"


def _entry(b: Body, name: str, row: str, length: int, k: int) -> str:
    """A number of the table."""
    at = b.let(f"add i64 {b.let(f'mul i64 {row}, {length}')}, {k}")
    number = b.let(f"load i32, ptr {b.offset(f'{name}.table', at, 'i32')}")
    return b.let(f"sext i32 {number} to i64")


def repetition(
    name: str, table: Sequence[Sequence[int]], result_size: int, body: Sequence[str], width: int
) -> str:
    """A function @name(arguments, scratch, results, one) that runs through the body for each row of
    the table.

    The body finds its inputs, whose places are in the row, at %source0, %source1 ..., and leaves
    its results at %target.
    """
    b, V = Body(width), vector_type(width)
    with b.loop(len(table)) as row:
        for k in range(len(table[0])):
            place = _entry(b, name, row, len(table[0]), k)
            b.do(f"%source{k} = getelementptr {V}, ptr %arguments, i64 {place}")
        first = b.let(f"mul i64 {row}, {result_size}")
        b.do(f"%target = getelementptr {V}, ptr %results, i64 {first}")
        for line in body:
            b.do(line)
    b.do("ret void")
    parameters = "(ptr %arguments, ptr %scratch, ptr %results, ptr %one)"
    return _constant(name, table) + b.function(f"internal void {name}{parameters} nounwind")


def call_body(callee: str, starts: Sequence[int], width: int) -> list[str]:
    """A body that gathers its inputs where the callee wants them, at `starts` in %one, and calls
    it."""
    V, align = vector_type(width), f"align {8 * width}"
    lines = []
    for k, (first, end) in enumerate(pairwise(starts)):
        for place in range(first, end):
            lines += [
                f"%from{place} = getelementptr {V}, ptr %source{k}, i64 {place - first}",
                f"%to{place} = getelementptr {V}, ptr %one, i64 {place}",
                f"%number{place} = load {V}, ptr %from{place}, {align}",
                f"store {V} %number{place}, ptr %to{place}, {align}",
            ]
    return [*lines, f"call void {callee}(ptr %one, ptr %scratch, ptr %target)"]


LONG = 8  # vectors in a run, from which on the C library's copy is the faster


def moves(name: str, table: Sequence[tuple[int, int]], width: int) -> str:
    """A function @name(source, target) that moves a vector for each row (from, to) of the table;
    neighbours that stay so are moved together."""
    runs: list[list[int]] = []
    for here, there in sorted(table, key=lambda row: row[1]):
        if runs and (here, there) == (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]):
            runs[-1][2] += 1
        else:
            runs.append([here, there, 1])
    long, short = [r for r in runs if r[2] >= LONG], [r for r in runs if r[2] < LONG]
    b, V, align, text = Body(width), vector_type(width), f"align {8 * width}", ""
    if long:
        text += _constant(f"{name}.long", long)
        with b.loop(len(long)) as row:
            source, target, count = (_entry(b, f"{name}.long", row, 3, k) for k in range(3))
            places = f"ptr {b.offset('%target', target, V)}, ptr {b.offset('%source', source, V)}"
            b.do(
                f"call void @llvm.memcpy.p0.p0.i64({places}, i64 {b.let(f'mul i64 {count}, {8 * width}')}, i1 false)"
            )
    if short:
        single = [(here + k, there + k) for here, there, length in short for k in range(length)]
        text += _constant(name, single)
        with b.loop(len(single)) as row:
            source, target = (
                b.offset(f"%{at}", _entry(b, name, row, 2, k), V)
                for k, at in enumerate(("source", "target"))
            )
            b.do(f"store {V} {b.let(f'load {V}, ptr {source}, {align}')}, ptr {target}, {align}")
    b.do("ret void")
    return text + b.function(
        f"internal void {name}(ptr noalias %source, ptr noalias %target) nounwind"
    )
