"""Between NumPy's arrays and packed blocks: states in lanes on one side, numbers in rows on the
other.

@pack copies one run of numbers from each of up to `width` states into vectors, @unpack copies back.
Where a run is contiguous, squares of width x width numbers are loaded whole and transposed in
registers. A short block repeats its last state in the idle lanes, so that nothing is computed that
a user did not ask for.
"""

from __future__ import annotations

from eslabon.compiler.llvm.ir import Body, vector_type

_PARAMETERS = "(ptr noalias %packed, ptr %rows, i64 %step, i64 %stride, i64 %size, i64 %lanes)"


def blocks(width: int) -> str:
    """@pack and @unpack for runs of `size` numbers `stride` bytes apart, of states `step` bytes
    apart."""
    return _pack(width) + _unpack(width)


def one_state(width: int) -> str:
    """@spread and @collect for a single contiguous state, in all lanes or in one."""
    return _spread(width) + _collect(width)


def _transposed(b: Body, rows: list[str]) -> list[str]:
    """The columns of a square of vectors, by exchanging ever larger sub-squares."""
    width, V = b.width, vector_type(b.width)
    distance = 1
    while distance < width:
        swapped = list(rows)
        for i in range(width):
            if i & distance:
                continue
            first, second = rows[i], rows[i + distance]
            low = [
                lane if not lane & distance else width + lane - distance for lane in range(width)
            ]
            high = [
                lane + distance if not lane & distance else width + lane for lane in range(width)
            ]
            swapped[i], swapped[i + distance] = (
                _shuffle(b, V, first, second, m) for m in (low, high)
            )
        rows, distance = swapped, 2 * distance
    return rows


def _shuffle(b: Body, V: str, first: str, second: str, mask: list[int]) -> str:
    lanes = ", ".join(f"i32 {m}" for m in mask)
    return b.let(f"shufflevector {V} {first}, {V} {second}, <{b.width} x i32> <{lanes}>")


def _in_squares(b: Body) -> str:
    """How many numbers of the run are moved in squares: all, or none if it has gaps or is short in
    either direction."""
    contiguous = b.let("icmp eq i64 %stride, 8")
    full = b.let(f"icmp eq i64 %lanes, {b.width}")
    long = b.let(f"icmp sge i64 %size, {b.width}")
    possible = b.let(f"and i1 {long}, {b.let(f'and i1 {contiguous}, {full}')}")
    return b.let(f"select i1 {possible}, i64 %size, i64 0")


def _square(b: Body, j: str) -> str:
    """Where the square at j begins: the last one is moved back to end with the run, over numbers
    moved already."""
    return b.let(f"call i64 @llvm.smin.i64(i64 {j}, i64 {b.let(f'sub i64 %size, {b.width}')})")


def _pack(width: int) -> str:
    b, V = Body(width), vector_type(width)
    last = b.let("sub i64 %lanes, 1")
    rows = []
    for lane in range(width):
        used = b.let(f"call i64 @llvm.smin.i64(i64 {lane}, i64 {last})")
        rows.append(b.offset("%rows", b.let(f"mul i64 {used}, %step")))
    done = _in_squares(b)
    with b.loop(done, step=width) as j:
        first = _square(b, j)
        loaded = [b.let(f"load {V}, ptr {b.offset(row, first, 'double')}, align 8") for row in rows]
        place = b.offset("%packed", first, V)
        for k, column in enumerate(_transposed(b, loaded)):
            b.do(f"store {V} {column}, ptr {b.offset(place, k, V)}, align {8 * width}")
    with b.loop("%size", first=done) as j:
        at, vector = b.let(f"mul i64 {j}, %stride"), "poison"
        for lane, row in enumerate(rows):
            number = b.let(f"load double, ptr {b.offset(row, at)}, align 8")
            vector = b.with_lane(vector, number, lane)
        b.do(f"store {V} {vector}, ptr {b.offset('%packed', j, V)}, align {8 * width}")
    b.do("ret void")
    return "declare i64 @llvm.smin.i64(i64, i64)\n" + b.function(
        f"internal void @pack{_PARAMETERS} nounwind"
    )


def _unpack(width: int) -> str:
    b, V = Body(width), vector_type(width)
    rows = [b.offset("%rows", b.let(f"mul i64 {lane}, %step")) for lane in range(width)]
    done = _in_squares(b)
    with b.loop(done, step=width) as j:
        first = _square(b, j)
        place = b.offset("%packed", first, V)
        loaded = [
            b.let(f"load {V}, ptr {b.offset(place, k, V)}, align {8 * width}") for k in range(width)
        ]
        for row, lane in zip(rows, _transposed(b, loaded), strict=True):
            b.do(f"store {V} {lane}, ptr {b.offset(row, first, 'double')}, align 8")
    with b.loop("%size", first=done) as j:
        at, place = b.let(f"mul i64 {j}, %stride"), b.offset("%packed", j, V)
        row = b.offset("%rows", at)
        with b.loop("%lanes") as lane:
            number = b.let(f"load double, ptr {b.offset(place, lane, 'double')}, align 8")
            b.do(
                f"store double {number}, ptr {b.offset(row, b.let(f'mul i64 {lane}, %step'))}, align 8"
            )
    b.do("ret void")
    return b.function(f"internal void @unpack{_PARAMETERS} nounwind")


def _spread(width: int) -> str:
    """One state in all lanes, or as it is where there is one lane."""
    b, V = Body(width), vector_type(width)
    with b.when(b.let("icmp eq i64 %lanes, 1")):
        b.do(
            "call void @llvm.memcpy.p0.p0.i64(ptr %packed, ptr %row, i64 "
            + b.let("shl i64 %size, 3")
            + ", i1 false)"
        )
    count = b.let(f"select i1 {b.let('icmp eq i64 %lanes, 1')}, i64 0, i64 %size")
    with b.loop(count) as j:
        number = b.let(f"load double, ptr {b.offset('%row', j, 'double')}, align 8")
        b.do(
            f"store {V} {b.in_all_lanes(number)}, ptr {b.offset('%packed', j, V)}, align {8 * width}"
        )
    b.do("ret void")
    return b.function(
        "internal void @spread(ptr noalias %packed, ptr %row, i64 %size, i64 %lanes) alwaysinline nounwind"
    )


def _collect(width: int) -> str:
    """The first lane of so many."""
    b = Body(width)
    with b.loop("%size") as j:
        at = b.let(f"mul i64 {j}, %lanes")
        number = b.let(f"load double, ptr {b.offset('%packed', at, 'double')}, align 8")
        b.do(f"store double {number}, ptr {b.offset('%row', j, 'double')}, align 8")
    b.do("ret void")
    return b.function(
        "internal void @collect(ptr noalias %packed, ptr %row, i64 %size, i64 %lanes) alwaysinline nounwind"
    )
