"""Kernels over many states: packing and unpacking blocks, comparing bounds, two leading axes, steps
that follow one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eslabon.compiler.llvm.ir import vector_type
from eslabon.compiler.llvm.runtime_tables import ARGUMENT, COMPARISONS, OPERAND, Code


def definitions(width: int) -> str:
    """@batch, @repeat, and what they are made of."""
    parts = offsets(width) + _moving(width) + bounds(width)
    return parts + _batch(width) + _repeat(width)


def offsets(width: int) -> str:
    """@offset_of(j, ndim, dims, strides): the bytes from the first to the j-th number in row
    order."""
    b = Code(width)
    rest, at = b.let("alloca i64"), b.let("alloca i64")
    b.store("i64", "%j", rest)
    b.store("i64", 0, at)
    last = b.let("sub i64 %ndim, 1")
    with b.loop("%ndim") as k:
        axis = b.let(f"sub i64 {last}, {k}")
        length, stride = (b.load("i64", b.offset(x, axis, "i64")) for x in ("%dims", "%strides"))
        now = b.load("i64", rest)
        step = b.let(f"mul i64 {b.let(f'urem i64 {now}, {length}')}, {stride}")
        b.store("i64", b.let(f"udiv i64 {now}, {length}"), rest)
        b.store("i64", b.let(f"add i64 {b.load('i64', at)}, {step}"), at)
    b.do(f"ret i64 {b.load('i64', at)}")
    return b.function(
        "internal i64 @offset_of(i64 %j, i64 %ndim, ptr %dims, ptr %strides) nounwind"
    )


def _moving(width: int) -> str:
    """@runs: how the numbers of an operand are moved, all together or along the last axis;
    @move_pack, @move_unpack: between an operand's states and a packed block."""
    b = Code(width)
    ndim, dims, size = (
        b.word("%argument", ARGUMENT, x, k)
        for x, k in (("ndim", "i64"), ("dims", "ptr"), ("size", "i64"))
    )
    strides, expected, gaps = (
        b.word("%operand", OPERAND, "strides", "ptr"),
        b.let("alloca i64"),
        b.let("alloca i1"),
    )
    several, done, flat, rows = (
        b.new_label("several"),
        b.new_label("done"),
        b.new_label("flat"),
        b.new_label("rows"),
    )
    b.put("%operand", OPERAND, "run", size)
    b.put("%operand", OPERAND, "stride", 8)
    b.branch(b.either(b.equal(ndim, 0), b.equal(size, 0)), done, several)
    b.start(several)
    b.store("i64", 8, expected)
    b.store("i1", "false", gaps)
    last = b.let(f"sub i64 {ndim}, 1")
    with b.loop(ndim) as k:
        axis, now = b.let(f"sub i64 {last}, {k}"), b.load("i64", expected)
        differs = b.let(f"icmp ne i64 {b.load('i64', b.offset(strides, axis, 'i64'))}, {now}")
        b.store("i1", b.either(b.load("i1", gaps), differs), gaps)
        b.store(
            "i64", b.let(f"mul i64 {now}, {b.load('i64', b.offset(dims, axis, 'i64'))}"), expected
        )
    b.branch(b.load("i1", gaps), rows, flat)
    b.start(rows)
    b.put("%operand", OPERAND, "run", b.load("i64", b.offset(dims, last, "i64")))
    b.put("%operand", OPERAND, "stride", b.load("i64", b.offset(strides, last, "i64")))
    b.do(f"br label %{done}")
    b.start(flat)
    b.do(f"br label %{done}")
    b.start(done)
    b.do("ret void")
    text = b.function("internal void @runs(ptr %operand, ptr %argument) nounwind")
    for function in ("pack", "unpack"):
        text += _move(width, function)
    return text


def _move(width: int, function: str) -> str:
    b, V = Code(width), vector_type(width)
    size, place = b.word("%argument", ARGUMENT, "size"), b.word("%argument", ARGUMENT, "place")
    run, stride = b.word("%operand", OPERAND, "run"), b.word("%operand", OPERAND, "stride")
    packed, whole, rows = b.offset("%block", place, V), b.new_label("whole"), b.new_label("rows")

    def moved(at: str, first: str) -> None:
        b.do(
            f"call void @{function}(ptr {first}, ptr {at}, i64 %step, i64 {stride}, i64 {run}, i64 %lanes)"
        )

    b.branch(b.equal(run, size), whole, rows)
    b.start(whole)
    moved("%data", packed)
    b.do("ret void")
    b.start(rows)
    ndim, dims = b.word("%argument", ARGUMENT, "ndim"), b.word("%argument", ARGUMENT, "dims", "ptr")
    strides = b.word("%operand", OPERAND, "strides", "ptr")
    outer = b.let(f"sub i64 {ndim}, 1")
    with b.loop(b.let(f"udiv i64 {size}, {run}")) as r:
        at = b.let(f"call i64 @offset_of(i64 {r}, i64 {outer}, ptr {dims}, ptr {strides})")
        moved(b.offset("%data", at), b.offset(packed, b.let(f"mul i64 {r}, {run}"), V))
    b.do("ret void")
    header = f"internal void @move_{function}(ptr %operand, ptr %argument, ptr %block, ptr %data, i64 %step, i64 %lanes) nounwind"
    return b.function(header)


def bounds(width: int) -> str:
    """@held(descriptor, target, lanes): whether every output with a bound keeps it in all lanes of
    a block."""
    b, V = Code(width), vector_type(width)
    outputs, good = b.descriptor("outputs", "ptr"), b.let("alloca i1")
    b.store("i1", "true", good)
    with b.loop(b.descriptor("count_out")) as k:
        argument = b.entry_of(outputs, ARGUMENT, k)
        comparison = b.word(argument, ARGUMENT, "comparison")
        with b.when(b.let(f"icmp ne i64 {comparison}, 0")):
            limit, place = (
                b.word(argument, ARGUMENT, "limit", "double"),
                b.word(argument, ARGUMENT, "place"),
            )
            wide, narrow, done = (b.new_label(x) for x in ("wide", "narrow", "done"))
            b.branch(b.equal("%lanes", 1), narrow, wide)
            b.start(wide)
            x, bound = b.load(V, b.offset("%target", place, V)), b.in_all_lanes(limit)
            kept = _compared(
                b, comparison, lambda word: _everywhere(b, f"fcmp {word} {V} {x}, {bound}")
            )
            b.store("i1", b.both(b.load("i1", good), kept), good)
            b.do(f"br label %{done}")
            b.start(narrow)
            x = b.load("double", b.offset("%target", place, "double"))
            kept = _compared(b, comparison, lambda word: b.let(f"fcmp {word} double {x}, {limit}"))
            b.store("i1", b.both(b.load("i1", good), kept), good)
            b.do(f"br label %{done}")
            b.start(done)
    b.do(f"ret i1 {b.load('i1', good)}")
    return b.function(
        "internal i1 @held(ptr %descriptor, ptr %target, i64 %lanes) alwaysinline nounwind"
    )


def _compared(b: Code, comparison: str, holds: Callable[[str], str]) -> str:
    """The result of the comparison with this number."""
    kept = "false"
    for number, word in enumerate(COMPARISONS.values()):
        kept = b.either(kept, b.both(holds(word), b.equal(comparison, number + 1)))
    return kept


def _everywhere(b: Code, comparison: str) -> str:
    """Whether a comparison of vectors holds in every lane."""
    flat = b.let(f"bitcast {vector_type(b.width, 'i1')} {b.let(comparison)} to i{b.width}")
    return b.equal(flat, -1, f"i{b.width}")


class Operands:
    """The operands of a call of @batch or @repeat and their arguments: inputs first."""

    def __init__(self, b: Code) -> None:
        self.b, self.inputs, self.outputs = (
            b,
            b.descriptor("inputs", "ptr"),
            b.descriptor("outputs", "ptr"),
        )
        self.count_in, self.count_out = b.descriptor("count_in"), b.descriptor("count_out")

    def operand(self, k: str, output: bool = False) -> tuple[str, str]:
        """The operand and the argument of an input or an output."""
        at = self.b.let(f"add i64 {k}, {self.count_in}") if output else k
        table = self.outputs if output else self.inputs
        return self.b.entry_of("%operands", OPERAND, at), self.b.entry_of(table, ARGUMENT, k)

    def find_runs(self) -> None:
        for output, count in ((False, self.count_in), (True, self.count_out)):
            with self.b.loop(count) as k:
                operand, argument = self.operand(k, output)
                self.b.do(f"call void @runs(ptr {operand}, ptr {argument})")

    def data(self, operand: str, i: str, first: str) -> tuple[str, str]:
        """Where the block of states lies that starts with this one of this line, and the bytes
        between them."""
        b = self.b
        line = b.offset(
            b.word(operand, OPERAND, "data", "ptr"),
            b.let(f"mul i64 {i}, {b.word(operand, OPERAND, 'outer')}"),
        )
        step = b.word(operand, OPERAND, "inner")
        return b.offset(line, b.let(f"mul i64 {first}, {step}")), step

    @contextmanager
    def blocks(self) -> Iterator[tuple[str, str, str]]:
        """All states: the line, the first state of a block in it, and how many there are."""
        b = self.b
        with b.loop("%outer") as i, b.loop("%inner", step=b.width) as first:
            left = b.let(f"sub i64 %inner, {first}")
            yield i, first, b.let(f"call i64 @llvm.smin.i64(i64 {left}, i64 {b.width})")


def _batch(width: int) -> str:
    """@batch(descriptor, operands, outer, inner): the kernel over all states; whether all bounds
    were kept. An output without an address is not written."""
    b = Code(width)
    good, operands, kernel = b.let("alloca i1"), Operands(b), b.descriptor("kernel", "ptr")
    b.store("i1", "true", good)
    operands.find_runs()
    with b.memory(b.workspace_size()) as start:
        source, scratch, target = b.workspace(start)
        with operands.blocks() as (i, first, lanes):
            with b.loop(operands.count_in) as k:
                operand, argument = operands.operand(k)
                at, step = operands.data(operand, i, first)
                b.do(
                    f"call void @move_pack(ptr {operand}, ptr {argument}, ptr {source}, ptr {at}, i64 {step}, i64 {lanes})"
                )
            b.do(f"call void {kernel}(ptr {source}, ptr {scratch}, ptr {target})")
            held = b.let(f"call i1 @held(ptr %descriptor, ptr {target}, i64 {width})")
            b.store("i1", b.both(b.load("i1", good), held), good)
            with b.loop(operands.count_out) as k:
                operand, argument = operands.operand(k, output=True)
                with b.when(b.let(f"icmp ne ptr {b.word(operand, OPERAND, 'data', 'ptr')}, null")):
                    at, step = operands.data(operand, i, first)
                    b.do(
                        f"call void @move_unpack(ptr {operand}, ptr {argument}, ptr {target}, ptr {at}, i64 {step}, i64 {lanes})"
                    )
    all_held = b.load("i1", good)
    b.do(f"ret i64 {b.let(f'zext i1 {all_held} to i64')}")
    return b.function("i64 @batch(ptr %descriptor, ptr %operands, i64 %outer, i64 %inner) nounwind")


def _repeat(width: int) -> str:
    """@repeat(descriptor, operands, outer, inner, rows, every): for each block of states all its
    steps, and a row of outputs after every so many of them; the block stays packed from the first
    step to the last."""
    b = Code(width)
    operands, kernel = Operands(b), b.descriptor("kernel", "ptr")
    states, varying = b.descriptor("states"), b.descriptor("varying")
    until = b.let(f"add i64 {states}, {varying}")
    operands.find_runs()
    with b.memory(b.workspace_size()) as start:
        source, scratch, target = b.workspace(start)

        def move(
            function: str,
            k: str,
            block: str,
            i: str,
            first: str,
            lanes: str,
            row: str | None = None,
        ) -> None:
            operand, argument = operands.operand(k, output=function == "unpack")
            at, step = operands.data(operand, i, first)
            if row is not None:
                at = b.offset(at, b.let(f"mul i64 {row}, {b.word(operand, OPERAND, 'row')}"))
            b.do(
                f"call void @move_{function}(ptr {operand}, ptr {argument}, ptr {block}, ptr {at}, i64 {step}, i64 {lanes})"
            )

        carried = b.let("alloca i64")
        b.store("i64", 0, carried)
        with b.loop(states) as k:
            size = b.word(b.entry_of(operands.inputs, ARGUMENT, k), ARGUMENT, "size")
            b.store("i64", b.let(f"add i64 {b.load('i64', carried)}, {size}"), carried)
        moved = b.bytes_of(b.load("i64", carried))
        with operands.blocks() as (i, first, lanes):
            with b.loop(states) as k:
                move("pack", k, source, i, first, lanes)
            with b.loop(operands.count_in, first=until) as k:
                move("pack", k, source, i, first, lanes)
            with b.loop("%rows") as row:
                before = b.let(f"mul i64 {row}, %every")
                with b.loop("%every") as step:
                    number = b.let(f"add i64 {before}, {step}")
                    with b.loop(until, first=states) as k:
                        move("pack", k, source, i, first, lanes, number)
                    b.do(f"call void {kernel}(ptr {source}, ptr {scratch}, ptr {target})")
                    b.do(
                        f"call void @llvm.memcpy.p0.p0.i64(ptr {source}, ptr {target}, i64 {moved}, i1 false)"
                    )
                with b.loop(operands.count_out) as k:
                    move("unpack", k, target, i, first, lanes, row)
    b.do("ret void")
    return b.function(
        "void @repeat(ptr %descriptor, ptr %operands, i64 %outer, i64 %inner, i64 %rows, i64 %every) nounwind"
    )
