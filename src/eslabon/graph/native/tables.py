"""Loops over constant tables, as LLVM functions: a call repeated for many arguments, and many numbers moved.

What would be thousands of lines of straight code is here a few, and a table of places in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

from eslabon.graph.native.ir import Body, vector_type


def _constant(name: str, rows: Sequence[Sequence[int]]) -> str:
    numbers = ", ".join(f"i32 {n}" for n in chain.from_iterable(rows))
    return f"{name}.table = private constant [{len(rows) * len(rows[0])} x i32] [{numbers}]\n"


def _entry(b: Body, name: str, row: str, length: int, k: int) -> str:
    """A number of the table."""
    at = b.let(f"add i64 {b.let(f'mul i64 {row}, {length}')}, {k}")
    number = b.let(f"load i32, ptr {b.offset(f'{name}.table', at, 'i32')}")
    return b.let(f"sext i32 {number} to i64")


def repetition(name: str, table: Sequence[Sequence[int]], result_size: int, body: Sequence[str], width: int) -> str:
    """A function @name(arguments, scratch, results, one) that runs through the body for each row of the table.

    The body finds its inputs, whose places are in the row, at %source0, %source1 ..., and leaves its results at %target.
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
    """A body that gathers its inputs where the callee wants them, at `starts` in %one, and calls it."""
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


def moves(name: str, table: Sequence[Sequence[int]], width: int) -> str:
    """A function @name(source, target) that moves a vector for each row (from, to) of the table."""
    b, V, align = Body(width), vector_type(width), f"align {8 * width}"
    with b.loop(len(table)) as row:
        source, target = (
            b.offset(f"%{at}", _entry(b, name, row, 2, k), V) for k, at in enumerate(("source", "target"))
        )
        b.do(f"store {V} {b.let(f'load {V}, ptr {source}, {align}')}, ptr {target}, {align}")
    b.do("ret void")
    return _constant(name, table) + b.function(
        f"internal void {name}(ptr noalias %source, ptr noalias %target) nounwind"
    )
