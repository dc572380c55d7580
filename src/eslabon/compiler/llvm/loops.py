"""The kernel in a loop over states, as the LLVM function @batch, and what such loops are made of.

@batch is the inner loop of a NumPy generalised ufunc: void (char **args, intp *dims, intp *steps, void *data).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eslabon.compiler.llvm.ir import Body, vector_type
from eslabon.compiler.program import Shape

if TYPE_CHECKING:  # a process that finds its code on disk needs the constants here, not the emitter
    from eslabon.compiler.llvm.emit import Kernel

ON_STACK = 1 << 16  # bytes of workspace kept on the stack; beyond, it is allocated: threads can have small stacks

_Run = Callable[[str, str, str | int, int], None]  # packed, rows, stride, size


@contextmanager
def workspace(b: Body, kernel: Kernel) -> Iterator[tuple[str, str, str]]:
    """Addresses of the packed inputs, the scratch array and the packed outputs, the last one all zeros.

    Outputs that are zero by structure are never written, so once is enough.
    """
    vector = 8 * b.width
    before = (kernel.layout.input_size, kernel.scratch_size, kernel.layout.output_size)
    size = sum(before) * vector
    if size <= ON_STACK:
        taken = start = b.let(f"alloca i8, i64 {size}, align 64")
    else:
        taken = b.let(f"call ptr @malloc(i64 {size + 64})")
        number = b.let(f"add i64 {b.let(f'ptrtoint ptr {taken} to i64')}, 63")
        start = b.let(f"inttoptr i64 {b.let(f'and i64 {number}, -64')} to ptr")
    scratch = b.offset(start, before[0] * vector)
    target = b.offset(scratch, before[1] * vector)
    b.do(f"call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {before[2] * vector}, i1 false)")
    yield start, scratch, target
    if size > ON_STACK:
        b.do(f"call void @free(ptr {taken})")


DECLARED = """declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


# Batches ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operand:
    """An argument of a ufunc's inner loop: its address, the bytes from state to state, and those along its axes."""

    array: str
    step: str
    shape: Shape
    strides: list[str]

    def of(self, b: Body, first: str) -> str:
        """Where the block of states that starts with this one lies."""
        return b.offset(self.array, b.let(f"mul i64 {first}, {self.step}"))


def operands(b: Body, shapes: Sequence[Shape]) -> list[Operand]:
    """All arguments; NumPy gives the steps of every one first, then the strides along the axes of each."""

    def step(k: int) -> str:
        return b.let(f"load i64, ptr {b.offset('%steps', k, 'i64')}")

    made, position = [], len(shapes)
    for k, shape in enumerate(shapes):
        array = b.let(f"load ptr, ptr {b.offset('%args', k, 'ptr')}")
        made.append(Operand(array, step(k), shape, [step(position + axis) for axis in range(len(shape))]))
        position += len(shape)
    return made


@contextmanager
def blocks(b: Body) -> Iterator[tuple[str, str]]:
    """A loop over all states, a block at a time: the number of the first one, and how many there are."""
    count = b.let("load i64, ptr %dims")
    with b.loop(count, step=b.width) as first:
        yield first, b.let(f"call i64 @llvm.smin.i64(i64 {b.let(f'sub i64 {count}, {first}')}, i64 {b.width})")


def batch(kernel: Kernel, inputs: tuple[Shape, ...], outputs: tuple[Shape, ...], width: int) -> str:
    """@batch, with the states of a block side by side."""
    b, V = Body(width), vector_type(width)
    places = [*kernel.layout.inputs, *kernel.layout.outputs]
    with workspace(b, kernel) as (source, scratch, target):
        moved = operands(b, [_core(s) for s in (*inputs, *outputs)])
        with blocks(b) as (first, lanes):

            def move(function: str, k: int, packed: str) -> None:
                x = moved[k]
                place = b.offset(packed, places[k], V)
                move_runs(b, function, place, x.of(b, first), x.step, x.shape, x.strides, lanes)

            for k in range(len(inputs)):
                move("pack", k, source)
            b.do(f"call void @kernel(ptr {source}, ptr {scratch}, ptr {target})")
            for k in range(len(inputs), len(places)):
                move("unpack", k, target)
    b.do("ret void")
    return b.function("void @batch(ptr %args, ptr %dims, ptr %steps, ptr %data) nounwind")


def _core(shape: Shape) -> Shape:
    """What the ufunc sees: it refuses sizes of zero, so an empty argument is a number nobody reads."""
    return () if 0 in shape else shape


def move_runs(
    b: Body, function: str, packed: str, rows: str, step: str, shape: Shape, strides: list[str], lanes: str
) -> None:
    """Move an argument run by run: all of it at once if it has no gaps, else along its last axis."""

    def run(packed: str, rows: str, stride: str | int, size: int) -> None:
        arguments = f"ptr {packed}, ptr {rows}, i64 {step}, i64 {stride}, i64 {size}, i64 {lanes}"
        b.do(f"call void @{function}({arguments})")

    if len(shape) <= 1:
        run(packed, rows, strides[0] if strides else 8, shape[0] if shape else 1)
        return
    gaps = "false"
    for axis, stride in enumerate(strides):
        differs = b.let(f"icmp ne i64 {stride}, {8 * math.prod(shape[axis + 1 :])}")
        gaps = b.let(f"or i1 {gaps}, {differs}")
    with b.when(b.let(f"xor i1 {gaps}, true")):
        run(packed, rows, 8, math.prod(shape))
    with b.when(gaps):
        _nest(b, run, packed, rows, shape, strides)


def _nest(b: Body, run: _Run, packed: str, rows: str, shape: Shape, strides: list[str]) -> None:
    """Loops over all axes but the last."""
    if len(shape) == 1:
        run(packed, rows, strides[0], shape[0])
        return
    with b.loop(shape[0]) as i:
        inner_rows = b.offset(rows, b.let(f"mul i64 {i}, {strides[0]}"))
        offset = b.let(f"mul i64 {i}, {math.prod(shape[1:])}")
        _nest(b, run, b.offset(packed, offset, vector_type(b.width)), inner_rows, shape[1:], strides[1:])
