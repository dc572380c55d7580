"""Calls from Python: the numbers of one state in whatever Python has, keywords, results, and @call
itself."""

from __future__ import annotations

from eslabon.compiler.llvm.runtime_blocks import Operands
from eslabon.compiler.llvm.runtime_tables import (
    ALIGNED,
    ARGUMENT,
    CONTIGUOUS,
    DATA,
    DIMENSIONS,
    DTYPE,
    GROUPS,
    ITEMS,
    LENGTH,
    MOST_AXES,
    NPY_DOUBLE,
    NUMBER,
    OPERAND,
    STRIDES,
    TABLE,
    TYPE,
    WRITEABLE,
    Code,
)


def definitions(width: int) -> str:
    """@call and what it is made of."""
    return _reading(width) + _results(width) + _call(width)


# -- numbers of one state ---------------------------------------------------------------------------------------------


def _reading(width: int) -> str:
    """@row(thing, argument, row): where the numbers of one state's worth stand in a row: in the
    array itself, or copied into `row`; null where only Python knows."""
    b = Code(width)
    ndim, dims, size = (
        b.word("%argument", ARGUMENT, x, k)
        for x, k in (("ndim", "i64"), ("dims", "ptr"), ("size", "i64"))
    )
    kind = b.member("%thing", TYPE)
    array, other, single, listed, tupled, items = (
        b.new_label(x) for x in ("array", "other", "single", "listed", "tupled", "items")
    )
    b.branch(b.is_service(kind, "array_type"), array, other)
    b.start(array)
    _array_row(b, ndim, dims, size)
    b.start(other)
    b.branch(b.equal(ndim, 0), single, listed)
    b.start(single)
    number = b.let("call i1 @number(ptr %thing, ptr %row)")
    b.do(f"ret ptr {b.let(f'select i1 {number}, ptr %row, ptr null')}")
    b.start(listed)
    b.require(b.both(b.equal(ndim, 1), b.equal(b.member("%thing", LENGTH, "i64"), size)), "none")
    direct = b.offset("%thing", ITEMS)
    here, is_list = b.label, b.is_service(kind, "list_type")
    b.branch(is_list, items, tupled)
    b.start(tupled)
    b.require(b.is_service(kind, "tuple_type"), "none")
    after = b.label
    b.do(f"br label %{items}")
    b.start(items)
    at = b.let(f"phi ptr [ {direct}, %{here} ], [ {direct}, %{after} ]")
    first = b.let(f"select i1 {is_list}, ptr {b.load('ptr', at)}, ptr {at}")
    with b.loop(size) as j:
        item = b.load("ptr", b.offset(first, j, "ptr"))
        b.require(
            b.let(f"call i1 @number(ptr {item}, ptr {b.offset('%row', j, 'double')})"), "none"
        )
    b.do("ret ptr %row")
    b.start("none")
    b.do("ret ptr null")
    return _number(width) + b.function(
        "internal ptr @row(ptr %thing, ptr %argument, ptr %row) alwaysinline nounwind"
    )


def _array_row(b: Code, ndim: str, dims: str, size: str) -> None:
    """The row of an array of doubles, floats or integers that has exactly the axes of one state."""
    b.require(b.equal(b.axes_of("%thing"), ndim), "none")
    shape = b.member("%thing", DIMENSIONS)
    with b.loop(ndim) as axis:
        b.require(
            b.equal(
                b.load("i64", b.offset(shape, axis, "i64")),
                b.load("i64", b.offset(dims, axis, "i64")),
            ),
            "none",
        )
    dtype, data = b.member("%thing", DTYPE), b.member("%thing", DATA)
    b.require(b.has_flags("%thing", ALIGNED), "none")
    is_double, plain, copied = (
        b.is_service(dtype, "float64"),
        b.new_label("plain"),
        b.new_label("copied"),
    )
    b.branch(b.both(is_double, b.has_flags("%thing", CONTIGUOUS)), plain, copied)
    b.start(plain)
    b.do(f"ret ptr {data}")
    b.start(copied)
    strides = b.member("%thing", STRIDES)
    readers = {"float64": ("double", "{x}"), "float32": ("float", "fpext float {x} to double"),
               "int64": ("i64", "sitofp i64 {x} to double")}  # fmt: skip
    for name, (kind, wider) in readers.items():
        mine, next_one = b.new_label(name), b.new_label("next")
        b.branch(b.is_service(dtype, name), mine, next_one)
        b.start(mine)
        with b.loop(size) as j:
            at = b.let(f"call i64 @offset_of(i64 {j}, i64 {ndim}, ptr {dims}, ptr {strides})")
            x = b.load(kind, b.offset(data, at))
            b.store(
                "double",
                x if wider == "{x}" else b.let(wider.format(x=x)),
                b.offset("%row", j, "double"),
            )
        b.do("ret ptr %row")
        b.start(next_one)
    b.do("br label %none")


def _number(width: int) -> str:
    """@number(thing, place): a float, NumPy's double or a whole number."""
    b = Code(width)
    kind = b.member("%thing", TYPE)
    real, whole, good = b.new_label("real"), b.new_label("whole"), b.new_label("good")
    is_real = b.either(b.is_service(kind, "float_type"), b.is_service(kind, "number_type"))
    b.branch(is_real, real, whole)
    b.start(real)
    b.store("double", b.member("%thing", NUMBER, "double"), "%place")
    b.do("ret i1 true")
    b.start(whole)
    b.require(b.is_service(kind, "int_type"), "none")
    overflow = b.let("alloca i32")
    x = b.ask("i64", "as_long", f"ptr %thing, ptr {overflow}")
    b.require(b.equal(b.load("i32", overflow), 0, "i32"), "none")
    b.store("double", b.let(f"sitofp i64 {x} to double"), "%place")
    b.do(f"br label %{good}")
    b.start(good)
    b.do("ret i1 true")
    b.start("none")
    b.do("ret i1 false")
    return b.function("internal i1 @number(ptr %thing, ptr %place) nounwind")


# -- from Python ------------------------------------------------------------------------------------------------------


def _results(width: int) -> str:
    """@results(descriptor, given, arrays, count): an array with a reference of its own for each
    wanted output, fresh ones of so many states (or one, if the count is negative), or those given
    for one state. 1, or 0 where Python must look at what was given, or -1 where memory ran out.
    @release(arrays, count) gives the first ones back. @answer(descriptor, arrays, scalars): one
    result by itself, several as a tuple; and as NumPy's own functions do, a number for an array
    without axes, unless the caller gave it."""
    b = Code(width)
    outputs, wanted, made = (
        b.descriptor("outputs", "ptr"),
        b.descriptor("wanted"),
        b.let("alloca i64"),
    )
    shape = b.let(f"alloca i64, i64 {MOST_AXES + 1}")
    many = b.let("icmp sge i64 %count, 0")
    leading = b.let(f"zext i1 {many} to i64")
    b.store("i64", 0, made)
    b.store("i64", "%count", shape)
    given, items = b.let("icmp ne ptr %given, null"), b.let("alloca ptr")
    b.store("ptr", "%given", items)  # a place to read one item from
    one, first = b.equal(wanted, 1), b.let("alloca ptr")
    b.store("ptr", items, first)
    with b.when(b.both(given, b.let(f"xor i1 {one}, true"))):
        b.require(b.is_service(b.member("%given", TYPE), "tuple_type"), "python")
        b.require(b.equal(b.member("%given", LENGTH, "i64"), wanted), "python")
        b.store("ptr", b.offset("%given", ITEMS), first)
    with b.loop(b.descriptor("count_out")) as k:
        argument = b.entry_of(outputs, ARGUMENT, k)
        with b.when(b.equal(b.word(argument, ARGUMENT, "comparison"), 0)):
            number = b.load("i64", made)
            place = b.offset("%arrays", number, "ptr")
            ndim, dims = (
                b.word(argument, ARGUMENT, "ndim"),
                b.word(argument, ARGUMENT, "dims", "ptr"),
            )
            fresh, there, done = (b.new_label(x) for x in ("fresh", "there", "done"))
            b.branch(given, there, fresh)
            b.start(there)
            item = b.load("ptr", b.offset(b.load("ptr", first), number, "ptr"))
            suits = b.let(f"call i1 @suits(ptr {item}, ptr {argument})")
            b.require(b.both(suits, b.either(one, b.let(f"icmp ne i64 {ndim}, 0"))), "python")
            b.do(f"call void {b.service('incref')}(ptr {item})")
            b.store("ptr", item, place)
            b.do(f"br label %{done}")
            b.start(fresh)
            with b.loop(ndim) as axis:
                length = b.load("i64", b.offset(dims, axis, "i64"))
                b.store("i64", length, b.offset(shape, b.let(f"add i64 {axis}, 1"), "i64"))
            begin = b.let(f"select i1 {many}, ptr {shape}, ptr {b.offset(shape, 1, 'i64')}")
            axes = b.let(f"trunc i64 {b.let(f'add i64 {ndim}, {leading}')} to i32")
            kind = f"ptr {b.service('array_type')}, i32 {axes}, ptr {begin}, i32 {NPY_DOUBLE}"
            array = b.ask("ptr", "new_array", f"{kind}, ptr null, ptr null, i32 0, i32 0, ptr null")
            b.require(b.let(f"icmp ne ptr {array}, null"), "failed")
            b.store("ptr", array, place)
            b.do(f"br label %{done}")
            b.start(done)
            b.store("i64", b.let(f"add i64 {number}, 1"), made)
    b.do("ret i32 1")
    for label, answer in (("python", 0), ("failed", -1)):
        b.start(label)
        b.do(f"call void @release(ptr %arrays, i64 {b.load('i64', made)})")
        b.do(f"ret i32 {answer}")
    text = b.function(
        "internal i32 @results(ptr %descriptor, ptr %given, ptr %arrays, i64 %count) alwaysinline nounwind"
    )
    return _suits(width) + _release(width) + text + _answer(width)


def _suits(width: int) -> str:
    """@suits(thing, argument): whether one state's worth of an output can be written into it in row
    order."""
    b = Code(width)
    b.require(b.is_service(b.member("%thing", TYPE), "array_type"))
    b.require(b.is_service(b.member("%thing", DTYPE), "float64"))
    ndim, dims = b.word("%argument", ARGUMENT, "ndim"), b.word("%argument", ARGUMENT, "dims", "ptr")
    b.require(b.equal(b.axes_of("%thing"), ndim))
    wanted = CONTIGUOUS | ALIGNED | WRITEABLE
    b.require(b.has_flags("%thing", wanted))
    shape = b.member("%thing", DIMENSIONS)
    with b.loop(ndim) as axis:
        b.require(
            b.equal(
                b.load("i64", b.offset(shape, axis, "i64")),
                b.load("i64", b.offset(dims, axis, "i64")),
            )
        )
    b.do("ret i1 true")
    b.start("otherwise")
    b.do("ret i1 false")
    return b.function("internal i1 @suits(ptr %thing, ptr %argument) alwaysinline nounwind")


def _release(width: int) -> str:
    b = Code(width)
    with b.loop("%count") as k:
        b.do(f"call void {b.service('decref')}(ptr {b.load('ptr', b.offset('%arrays', k, 'ptr'))})")
    b.do("ret void")
    return b.function("internal void @release(ptr %arrays, i64 %count) alwaysinline nounwind")


def _answer(width: int) -> str:
    b = Code(width)
    wanted, alone, several = b.descriptor("wanted"), b.new_label("alone"), b.new_label("several")
    with b.when("%scalars"), b.loop(wanted) as k:
        place = b.offset("%arrays", k, "ptr")
        b.store("ptr", b.ask("ptr", "as_scalar", f"ptr {b.load('ptr', place)}"), place)
    b.branch(b.equal(wanted, 1), alone, several)
    b.start(alone)
    b.do(f"ret ptr {b.load('ptr', '%arrays')}")
    b.start(several)
    together = b.ask("ptr", "new_tuple", f"i64 {wanted}")
    b.require(b.let(f"icmp ne ptr {together}, null"), "failed")
    with b.loop(wanted) as k:
        b.ask(
            "i32",
            "set_item",
            f"ptr {together}, i64 {k}, ptr {b.load('ptr', b.offset('%arrays', k, 'ptr'))}",
        )
    b.do(f"ret ptr {together}")
    b.start("failed")
    b.do(f"call void @release(ptr %arrays, i64 {wanted})")
    b.do("ret ptr null")
    return b.function(
        "internal ptr @answer(ptr %descriptor, ptr %arrays, i1 %scalars) alwaysinline nounwind"
    )


def _call(width: int) -> str:
    """@call and its parts: @keywords, @things, @operands_of, @one."""
    b = Code(width)
    descriptor = b.member("%self", TABLE)
    b.do(f"%descriptor = getelementptr i8, ptr {descriptor}, i64 0")
    slots, threads = b.let(f"alloca ptr, i64 {1 + len(GROUPS)}"), b.let("alloca i64")
    with b.loop(1 + len(GROUPS)) as k:
        b.store("ptr", "null", b.offset(slots, k, "ptr"))
    b.store("i64", 0, threads)
    with b.when(b.let("icmp ne ptr %kwnames, null")):
        known = b.let(
            f"call i1 @keywords(ptr %args, i64 %nargs, ptr %kwnames, ptr {slots}, ptr {threads})"
        )
        b.require(known)
    count_in, given = b.descriptor("count_in"), b.load("ptr", slots)
    things = b.let(f"alloca ptr, i64 {count_in}")
    b.require(
        b.let(f"call i1 @things(ptr %descriptor, ptr %args, i64 %nargs, ptr {slots}, ptr {things})")
    )
    both = b.let(f"add i64 {count_in}, {b.descriptor('count_out')}")
    operands = b.let(f"alloca i64, i64 {b.let(f'mul i64 {both}, {len(OPERAND)}')}")
    arrays = b.let(f"alloca ptr, i64 {b.descriptor('count_out')}")
    with b.memory(b.let(f"shl i64 {b.descriptor('input_size')}, 3")) as rows:
        states = b.let(
            f"call i64 @operands_of(ptr %descriptor, ptr {things}, ptr {operands}, ptr {rows})"
        )
        answer = b.let(
            f"call ptr @answered(ptr %descriptor, ptr {operands}, ptr {arrays}, ptr {given}, i64 {states}, i64 {b.load('i64', threads)})"
        )
    finished, again = b.new_label("finished"), b.new_label("again")
    b.branch(b.equal(answer, "%descriptor", "ptr"), again, finished)
    b.start(finished)
    b.do(f"ret ptr {answer}")
    b.start(again)
    b.do("br label %otherwise")
    b.start("otherwise")
    general = b.descriptor("otherwise", "ptr")
    b.do(
        f"ret ptr {b.ask('ptr', 'vectorcall', f'ptr {general}, ptr %args, i64 %nargs, ptr %kwnames')}"
    )
    parts = _keywords(width) + _things(width) + _operands_of(width) + _one(width) + _answered(width)
    return parts + b.function("ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")


def _keywords(width: int) -> str:
    """@keywords(args, nargs, names, slots, threads): what is not None, as `out` and the groups in
    their order; false for a word that is not known, or a number of threads that makes no sense."""
    b = Code(width)
    overflow = b.let("alloca i32")
    with b.loop(b.member("%names", LENGTH, "i64")) as k:
        name = b.load("ptr", b.offset(b.offset("%names", ITEMS), k, "ptr"))
        value = b.load("ptr", b.offset("%args", b.let(f"add i64 %nargs, {k}"), "ptr"))
        given, is_threads = (
            b.let(f"xor i1 {b.is_service(value, 'none')}, true"),
            b.is_service(name, "threads"),
        )
        known = is_threads
        for number, word in enumerate(("out", *GROUPS)):
            is_word = b.is_service(name, word)
            known = b.either(known, is_word)
            with b.when(b.both(given, is_word)):
                b.store("ptr", value, b.offset("%slots", number, "ptr"))
        b.require(known)
        with b.when(b.both(given, is_threads)):
            b.require(b.is_service(b.member(value, TYPE), "int_type"))
            many = b.ask("i64", "as_long", f"ptr {value}, ptr {overflow}")
            b.require(b.let(f"icmp sgt i64 {many}, 0"))
            b.store("i64", many, "%threads")
    b.do("ret i1 true")
    b.start("otherwise")
    b.do("ret i1 false")
    return b.function(
        "internal i1 @keywords(ptr %args, i64 %nargs, ptr %names, ptr %slots, ptr %threads) alwaysinline"
    )


def _things(width: int) -> str:
    """@things(descriptor, args, nargs, slots, things): the object for each input, null for one that
    is bound: all by their places, or those of groups from dictionaries that hold them and nothing
    else, and `t`."""
    b = Code(width)
    inputs, free, own = b.descriptor("inputs", "ptr"), b.descriptor("free"), b.descriptor("own")
    by_name = "false"
    for number in range(len(GROUPS)):
        given = b.let(f"icmp ne ptr {b.load('ptr', b.offset('%slots', 1 + number, 'ptr'))}, null")
        by_name = b.either(by_name, given)
    b.require(b.equal(b.let(f"select i1 {by_name}, i64 {own}, i64 {free}"), "%nargs"))
    for number, group in enumerate(GROUPS):
        slot = b.load("ptr", b.offset("%slots", 1 + number, "ptr"))
        count, there = b.descriptor(f"count_{group}"), b.let(f"icmp ne ptr {slot}, null")
        with b.when(by_name):
            b.require(b.equal(there, b.let(f"icmp ne i64 {count}, 0"), "i1"))
        if group != "t":
            with b.when(there):
                b.require(b.is_service(b.member(slot, TYPE), "dict_type"))
                b.require(b.equal(b.ask("i64", "dict_size", f"ptr {slot}"), count))
    position = b.let("alloca i64")
    b.store("i64", 0, position)
    with b.loop(b.descriptor("count_in")) as k:
        argument, place = b.entry_of(inputs, ARGUMENT, k), b.offset("%things", k, "ptr")
        bound, free_one, done = (b.new_label(x) for x in ("bound", "free", "done"))
        b.branch(
            b.let(f"icmp ne ptr {b.word(argument, ARGUMENT, 'value', 'ptr')}, null"),
            bound,
            free_one,
        )
        b.start(bound)
        b.store("ptr", "null", place)
        b.do(f"br label %{done}")
        b.start(free_one)
        group = b.word(argument, ARGUMENT, "group")
        named, placed = b.new_label("named"), b.new_label("placed")
        b.branch(b.both(by_name, b.let(f"icmp ne i64 {group}, 0")), named, placed)
        b.start(placed)
        at = b.load("i64", position)
        b.store("ptr", b.load("ptr", b.offset("%args", at, "ptr")), place)
        b.store("i64", b.let(f"add i64 {at}, 1"), position)
        b.do(f"br label %{done}")
        b.start(named)
        slot = b.load("ptr", b.offset("%slots", group, "ptr"))
        value, entry = b.new_label("value"), b.new_label("entry")
        b.branch(b.equal(group, 1 + GROUPS.index("t")), value, entry)
        b.start(value)
        b.store("ptr", slot, place)
        b.do(f"br label %{done}")
        b.start(entry)
        item = b.ask(
            "ptr", "dict_item", f"ptr {slot}, ptr {b.word(argument, ARGUMENT, 'name', 'ptr')}"
        )
        b.require(b.let(f"icmp ne ptr {item}, null"))
        b.store("ptr", item, place)
        b.do(f"br label %{done}")
        b.start(done)
    b.do("ret i1 true")
    b.start("otherwise")
    b.do("ret i1 false")
    return b.function(
        "internal i1 @things(ptr %descriptor, ptr %args, i64 %nargs, ptr %slots, ptr %things) alwaysinline"
    )


def _operands_of(width: int) -> str:
    """@operands_of(descriptor, things, operands, rows): where the numbers of every input are. -1
    for one state, the number of states of a batch, -2 where only Python knows."""
    b = Code(width)
    inputs, states, row = b.descriptor("inputs", "ptr"), b.let("alloca i64"), b.let("alloca ptr")
    b.store("i64", -1, states)
    b.store("ptr", "%rows", row)
    with b.loop(b.descriptor("count_in")) as k:
        argument, operand = b.entry_of(inputs, ARGUMENT, k), b.entry_of("%operands", OPERAND, k)
        thing = b.load("ptr", b.offset("%things", k, "ptr"))
        ndim, size = b.word(argument, ARGUMENT, "ndim"), b.word(argument, ARGUMENT, "size")
        b.put(operand, OPERAND, "outer", 0)
        b.put(operand, OPERAND, "inner", 0)
        bound, free_one, single, longer, done, put = (
            b.new_label(x) for x in ("bound", "free", "single", "longer", "done", "put")
        )
        value = b.word(argument, ARGUMENT, "value", "ptr")
        b.branch(b.let(f"icmp ne ptr {value}, null"), bound, free_one)
        b.start(bound)
        b.do(f"br label %{put}")
        b.start(free_one)
        b.branch(b.let(f"call i1 @has_more_axes(ptr {thing}, i64 {ndim})"), longer, single)
        b.start(single)
        found = b.let(f"call ptr @row(ptr {thing}, ptr {argument}, ptr {b.load('ptr', row)})")
        b.require(b.let(f"icmp ne ptr {found}, null"))
        b.store("ptr", b.offset(b.load("ptr", row), size, "double"), row)
        after = b.label
        b.do(f"br label %{put}")
        b.start(put)
        data = b.let(f"phi ptr [ {value}, %{bound} ], [ {found}, %{after} ]")
        b.put(operand, OPERAND, "data", data, "ptr")
        b.put(
            operand,
            OPERAND,
            "strides",
            b.offset(b.word(argument, ARGUMENT, "dims", "ptr"), ndim, "i64"),
            "ptr",
        )
        b.do(f"br label %{done}")
        b.start(longer)
        count = b.let(f"call i64 @leading(ptr {thing}, ptr {argument})")
        b.require(b.let(f"icmp sgt i64 {count}, 0"))
        before = b.load("i64", states)
        b.require(b.either(b.equal(before, -1), b.equal(before, count)))
        b.store("i64", count, states)
        strides = b.member(thing, STRIDES)
        b.put(operand, OPERAND, "data", b.member(thing, DATA), "ptr")
        b.put(operand, OPERAND, "inner", b.load("i64", strides))
        b.put(operand, OPERAND, "strides", b.offset(strides, 1, "i64"), "ptr")
        b.do(f"br label %{done}")
        b.start(done)
    b.do(f"ret i64 {b.load('i64', states)}")
    b.start("otherwise")
    b.do("ret i64 -2")
    return _leading(width) + b.function(
        "internal i64 @operands_of(ptr %descriptor, ptr %things, ptr %operands, ptr %rows) nounwind"
    )


def _leading(width: int) -> str:
    """@has_more_axes(thing, ndim): whether it is an array of more axes than one state has;
    @leading(thing, argument): how many states an array of doubles with one more axis has, -1 for
    all others."""
    b = Code(width)
    array, other = b.new_label("array"), b.new_label("other")
    b.branch(b.is_service(b.member("%thing", TYPE), "array_type"), array, other)
    b.start(array)
    axes = b.axes_of("%thing")
    b.do(f"ret i1 {b.let(f'icmp sgt i64 {axes}, %ndim')}")
    b.start(other)
    b.do("ret i1 false")
    text = b.function("internal i1 @has_more_axes(ptr %thing, i64 %ndim) alwaysinline nounwind")
    b = Code(width)
    ndim, dims = b.word("%argument", ARGUMENT, "ndim"), b.word("%argument", ARGUMENT, "dims", "ptr")
    more = b.let(f"add i64 {ndim}, 1")
    b.require(b.is_service(b.member("%thing", DTYPE), "float64"))
    b.require(b.equal(b.axes_of("%thing"), more))
    b.require(b.has_flags("%thing", ALIGNED))
    shape = b.member("%thing", DIMENSIONS)
    own = b.offset(shape, 1, "i64")
    with b.loop(ndim) as axis:
        b.require(
            b.equal(
                b.load("i64", b.offset(own, axis, "i64")),
                b.load("i64", b.offset(dims, axis, "i64")),
            )
        )
    b.do(f"ret i64 {b.load('i64', shape)}")
    b.start("otherwise")
    b.do("ret i64 -1")
    return text + b.function("internal i64 @leading(ptr %thing, ptr %argument) nounwind")


def _one(width: int) -> str:
    """@one(descriptor, operands, arrays, target): one state; the results go into the arrays if all
    bounds are kept."""
    b = Code(width)
    lanes, kernel = b.descriptor("single_lanes"), b.descriptor("single", "ptr")
    operands, held, position = Operands(b), b.let("alloca i1"), b.let("alloca i64")
    with b.memory(b.workspace_size(lanes, "single_scratch_size")) as start:
        source, scratch, target = b.workspace(start, lanes, "single_scratch_size")
        with b.loop(operands.count_in) as k:
            operand, argument = operands.operand(k)
            place = b.let(f"mul i64 {b.word(argument, ARGUMENT, 'place')}, {lanes}")
            numbers = f"ptr {b.word(operand, OPERAND, 'data', 'ptr')}, i64 {b.word(argument, ARGUMENT, 'size')}"
            b.do(
                f"call void @spread(ptr {b.offset(source, place, 'double')}, {numbers}, i64 {lanes})"
            )
        b.do(f"call void {kernel}(ptr {source}, ptr {scratch}, ptr {target})")
        good = b.let(f"call i1 @held(ptr %descriptor, ptr {target}, i64 {lanes})")
        b.store("i1", good, held)
        b.store("i64", 0, position)
        with b.when(good), b.loop(operands.count_out) as k:
            argument = b.entry_of(operands.outputs, ARGUMENT, k)
            with b.when(b.equal(b.word(argument, ARGUMENT, "comparison"), 0)):
                number = b.load("i64", position)
                array = b.load("ptr", b.offset("%arrays", number, "ptr"))
                place = b.let(f"mul i64 {b.word(argument, ARGUMENT, 'place')}, {lanes}")
                numbers = f"ptr {b.member(array, DATA)}, i64 {b.word(argument, ARGUMENT, 'size')}"
                b.do(
                    f"call void @collect(ptr {b.offset(target, place, 'double')}, {numbers}, i64 {lanes})"
                )
                b.store("i64", b.let(f"add i64 {number}, 1"), position)
    b.do(f"ret i1 {b.load('i1', held)}")
    return b.function(
        "internal i1 @one(ptr %descriptor, ptr %operands, ptr %arrays) alwaysinline nounwind"
    )


def _answered(width: int) -> str:
    """@answered(descriptor, operands, arrays, given, states, threads): what @call returns; the
    descriptor's address where Python must see to it, null where an exception is set."""
    b = Code(width)
    b.require(b.let("icmp ne i64 %states, -2"))
    single = b.let("icmp eq i64 %states, -1")
    absent = b.let("icmp eq ptr %given, null")
    # A batch into given arrays may overlap its inputs, and a long one is shared among threads: both
    # are Python's.
    short = b.either(
        b.let(f"icmp sle i64 %states, {b.descriptor('unshared')}"), b.let("icmp eq i64 %threads, 1")
    )
    alone = b.both(short, b.let("icmp sle i64 %threads, 1"))
    b.require(b.either(single, b.both(absent, alone)))
    kernels = b.descriptor("single", "ptr"), b.descriptor("kernel", "ptr")
    kernel = b.let(f"select i1 {single}, ptr {kernels[0]}, ptr {kernels[1]}")
    b.require(b.let(f"icmp ne ptr {kernel}, null"))  # else it is to be made first
    batch = b.service("batch")
    b.require(b.either(single, b.let(f"icmp ne ptr {batch}, null")))
    made = b.let("call i32 @results(ptr %descriptor, ptr %given, ptr %arrays, i64 %states)")
    b.require(b.let(f"icmp sge i32 {made}, 0"), "failed")
    b.require(b.let(f"icmp ne i32 {made}, 0"))
    one, many, finished = b.new_label("one"), b.new_label("many"), b.new_label("finished")
    b.branch(single, one, many)
    b.start(one)
    first = b.let("call i1 @one(ptr %descriptor, ptr %operands, ptr %arrays)")
    b.do(f"br label %{finished}")
    b.start(many)
    _output_operands(b)
    flag = b.let(f"call i64 {batch}(ptr %descriptor, ptr %operands, i64 1, i64 %states)")
    second = b.let(f"icmp ne i64 {flag}, 0")
    after = b.label
    b.do(f"br label %{finished}")
    b.start(finished)
    held = b.let(f"phi i1 [ {first}, %{one} ], [ {second}, %{after} ]")
    b.require(held, "violated")
    b.do(
        f"ret ptr {b.let(f'call ptr @answer(ptr %descriptor, ptr %arrays, i1 {b.both(single, absent)})')}"
    )
    b.start("violated")
    b.do(f"call void @release(ptr %arrays, i64 {b.descriptor('wanted')})")
    b.do("br label %otherwise")
    b.start("otherwise")
    b.do("ret ptr %descriptor")
    b.start("failed")
    b.do("ret ptr null")
    return b.function(
        "internal ptr @answered(ptr %descriptor, ptr %operands, ptr %arrays, ptr %given, i64 %states, i64 %threads)"
    )


def _output_operands(b: Code) -> None:
    """The operands of fresh arrays; outputs with a bound are compared and not kept."""
    operands, position = Operands(b), b.let("alloca i64")
    b.store("i64", 0, position)
    with b.loop(operands.count_out) as k:
        operand, argument = operands.operand(k, output=True)
        b.put(operand, OPERAND, "data", "null", "ptr")
        b.put(operand, OPERAND, "outer", 0)
        b.put(operand, OPERAND, "strides", b.word(argument, ARGUMENT, "dims", "ptr"), "ptr")
        with b.when(b.equal(b.word(argument, ARGUMENT, "comparison"), 0)):
            number = b.load("i64", position)
            array = b.load("ptr", b.offset("%arrays", number, "ptr"))
            strides = b.member(array, STRIDES)
            b.put(operand, OPERAND, "data", b.member(array, DATA), "ptr")
            b.put(operand, OPERAND, "inner", b.load("i64", strides))
            b.put(operand, OPERAND, "strides", b.offset(strides, 1, "i64"), "ptr")
            b.store("i64", b.let(f"add i64 {number}, 1"), position)
