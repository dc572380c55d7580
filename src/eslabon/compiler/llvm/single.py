"""The way in for one state, as the LLVM function @entry: a call from Python costs little more than its kernel.

@entry is a METH_FASTCALL | METH_KEYWORDS function of CPython. If every argument is exactly a contiguous float64 array of
the right shape (or a Python float where a single number belongs), `out=` such an array, `threads=` a positive number, and
groups of arguments given by name dictionaries of just these names, it computes at once, and returns if all outputs with a
bound keep it. Otherwise it hands its arguments unchanged to
`self`, the Python object that knows how to broadcast, convert, look closer and complain.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from eslabon.compiler.llvm.ir import Body, vector_type
from eslabon.compiler.llvm.loops import workspace
from eslabon.compiler.program import Shape

if TYPE_CHECKING:  # a process that finds its code on disk needs the constants here, not the emitter
    from eslabon.compiler.llvm.emit import Kernel
    from eslabon.compiler.signature import Signature

# What @entry needs from its process, in this order, in the table @services; the loader fills it in (entry.py).
SERVICES = (
    "array_type", "float64", "new_array", "as_scalar", "vectorcall", "new_tuple", "set_item", "incref", "decref",
    "float_type", "number_type", "int_type", "tuple_type", "as_long", "none", "dict_type", "dict_size", "dict_item", "out", "threads",
    "external", "parameters",
)  # fmt: skip

# Offsets in bytes into CPython's and NumPy 2's objects (PyObject_HEAD; PyArrayObject_fields; PyFloatObject;
# PyTupleObject); checked by entry.py.
TYPE, DATA, NDIM, DIMENSIONS, DTYPE, FLAGS = 8, 16, 24, 32, 56, 64
NUMBER, LENGTH, ITEMS = 16, 16, 24
READABLE, WRITEABLE = 0x0101, 0x0501  # contiguous and aligned; and not protected
NPY_DOUBLE = 12
COMPARISONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}  # none of which holds for a NaN


def definitions(kernel: Kernel, signature: Signature) -> str:
    """@entry and the tables it reads, which the loader fills: its services, the names of its arguments, and the
    limits of its bounds."""
    tables = f"@services = global [{len(SERVICES)} x ptr] zeroinitializer\n"
    tables += f"@names = global [{len(signature.inputs)} x ptr] zeroinitializer\n"
    tables += f"@limits = global [{len(signature.bounds)} x double] zeroinitializer\n"
    return tables + _Entry(kernel, signature).text()


class _Entry:
    """@entry under construction."""

    def __init__(self, kernel: Kernel, signature: Signature) -> None:
        self._kernel, self._inputs, self._b = kernel, signature.input_shapes, Body(kernel.width)
        self._groups, self._group_of = signature.groups, [a.group for a in signature.inputs]
        outputs = list(zip(kernel.layout.outputs, signature.outputs, signature.output_shapes, strict=True))
        self._guards = [(place, a.bound[0]) for place, a, _ in outputs if a.bound]
        self._outputs = [(place, shape) for place, a, shape in outputs if not a.bound]

    def text(self) -> str:
        b = self._b
        slots = {word: b.let("alloca ptr") for word in ("out", *self._groups)}
        found, overflow = b.let(f"alloca ptr, i64 {len(self._inputs)}"), b.let("alloca i32")
        for slot in slots.values():
            b.do(f"store ptr null, ptr {slot}")
        with b.when(b.let("icmp ne ptr %kwnames, null")):
            self._read_keywords(slots, overflow)
        given, *groups = (b.let(f"load ptr, ptr {slot}") for slot in slots.values())
        things = self._things(dict(zip(self._groups, groups, strict=True)), found)
        data = [self._numbers(thing, shape) for thing, shape in zip(things, self._inputs, strict=True)]
        results = self._places(given)
        held = self._compute(data, results)
        if self._guards:
            self._hand_over_unless(held, results)
        self._return(results, given)
        b.start("slow")
        answer = self._call("ptr", "vectorcall", "ptr %self, ptr %args, i64 %nargs, ptr %kwnames")
        b.do(f"ret ptr {answer}")
        b.start("failed")
        b.do("ret ptr null")
        shapes = "".join(
            f"@shape{k} = private constant [{len(s)} x i64] [{', '.join(f'i64 {n}' for n in s)}]\n"
            for k, (_, s) in enumerate(self._outputs)
        )
        return shapes + b.function("ptr @entry(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")

    # -- words --------------------------------------------------------------------------------------------------------

    def _service(self, name: str) -> str:
        return self._b.let(f"load ptr, ptr getelementptr (ptr, ptr @services, i64 {SERVICES.index(name)})")

    def _call(self, kind: str, service: str, arguments: str) -> str:
        return self._b.let(f"call {kind} {self._service(service)}({arguments})")

    def _member(self, thing: str, offset: int, kind: str = "ptr") -> str:
        return self._b.let(f"load {kind}, ptr {self._b.offset(thing, offset)}")

    def _is(self, thing: str, service: str) -> str:
        return self._b.let(f"icmp eq ptr {thing}, {self._service(service)}")

    def _require(self, condition: str, otherwise: str = "slow") -> None:
        good = self._b.new_label("good")
        self._b.do(f"br i1 {condition}, label %{good}, label %{otherwise}")
        self._b.start(good)

    def _either(self, one: str, other: str) -> str:
        return self._b.let(f"or i1 {one}, {other}")

    # -- arguments ----------------------------------------------------------------------------------------------------

    def _read_keywords(self, slots: dict[str, str], overflow: str) -> None:
        """Keep what is not None, and see that `threads` makes sense: one state needs no others."""
        b = self._b
        with b.loop(self._member("%kwnames", LENGTH, "i64")) as k:
            name = b.let(f"load ptr, ptr {b.offset(b.offset('%kwnames', ITEMS), k, 'ptr')}")
            value = b.let(f"load ptr, ptr {b.offset('%args', b.let(f'add i64 %nargs, {k}'), 'ptr')}")
            given, known = b.let(f"xor i1 {self._is(value, 'none')}, true"), self._is(name, "threads")
            is_threads = known
            for word, slot in slots.items():
                is_word = self._is(name, word)
                known = self._either(known, is_word)
                with b.when(b.let(f"and i1 {given}, {is_word}")):
                    b.do(f"store ptr {value}, ptr {slot}")
            self._require(known)
            with b.when(b.let(f"and i1 {given}, {is_threads}")):
                self._require(self._is(self._member(value, TYPE), "int_type"))
                number = self._call("i64", "as_long", f"ptr {value}, ptr {overflow}")
                self._require(b.let(f"icmp sgt i64 {number}, 0"))

    def _things(self, groups: dict[str, str], found: str) -> list[str]:
        """The arguments: all by their places, or those of groups from dictionaries that hold them and nothing else."""
        b, own = self._b, self._group_of.count("")
        by_name = b.let(f"icmp ne i64 %nargs, {len(self._inputs)}")
        self._require(b.let(f"icmp eq i64 %nargs, {b.let(f'select i1 {by_name}, i64 {own}, i64 {len(self._inputs)}')}"))
        for group, given in groups.items():
            count = len(self._groups[group])
            there = b.let(f"icmp ne ptr {given}, null")
            self._require(b.let(f"icmp eq i1 {there}, {by_name if count else 'false'}"))
            with b.when(there):
                self._require(self._is(self._member(given, TYPE), "dict_type"))
                self._require(b.let(f"icmp eq i64 {self._call('i64', 'dict_size', f'ptr {given}')}, {count}"))
        with b.when(by_name):
            for k, group in enumerate(self._group_of):
                thing = (
                    b.let(f"load ptr, ptr {b.offset('%args', k, 'ptr')}") if not group else self._item(groups[group], k)
                )
                b.do(f"store ptr {thing}, ptr {b.offset(found, k, 'ptr')}")
        first = b.let(f"select i1 {by_name}, ptr {found}, ptr %args")
        return [b.let(f"load ptr, ptr {b.offset(first, k, 'ptr')}") for k in range(len(self._inputs))]

    def _item(self, given: str, k: int) -> str:
        """An argument from the dictionary of its group."""
        name = self._b.let(f"load ptr, ptr getelementptr (ptr, ptr @names, i64 {k})")
        item = self._call("ptr", "dict_item", f"ptr {given}, ptr {name}")
        self._require(self._b.let(f"icmp ne ptr {item}, null"))
        return item

    def _numbers(self, thing: str, shape: Shape) -> str:
        """The address of an argument's numbers; a single one may be a Python float, or NumPy's."""
        b = self._b
        if shape:
            return self._checked_array(thing, shape, READABLE)
        array, done = b.new_label("array"), b.new_label("done")
        kind, number = self._member(thing, TYPE), b.offset(thing, NUMBER)
        known = self._either(
            b.let(f"icmp eq ptr {kind}, {self._service('float_type')}"),
            b.let(f"icmp eq ptr {kind}, {self._service('number_type')}"),
        )
        before = b.label
        b.do(f"br i1 {known}, label %{done}, label %{array}")
        b.start(array)
        data, after = self._checked_array(thing, shape, READABLE), b.label
        b.do(f"br label %{done}")
        b.start(done)
        return b.let(f"phi ptr [ {number}, %{before} ], [ {data}, %{after} ]")

    def _checked_array(self, thing: str, shape: Shape, wanted: int) -> str:
        """The address of the numbers of what is a plain float64 array of this very shape."""
        b = self._b
        self._require(self._is(self._member(thing, TYPE), "array_type"))
        self._require(self._is(self._member(thing, DTYPE), "float64"))
        self._require(b.let(f"icmp eq i32 {self._member(thing, NDIM, 'i32')}, {len(shape)}"))
        flags = b.let(f"and i32 {self._member(thing, FLAGS, 'i32')}, {wanted}")
        self._require(b.let(f"icmp eq i32 {flags}, {wanted}"))
        dimensions = self._member(thing, DIMENSIONS) if shape else ""
        for axis, size in enumerate(shape):
            length = b.let(f"load i64, ptr {b.offset(dimensions, axis, 'i64')}")
            self._require(b.let(f"icmp eq i64 {length}, {size}"))
        return self._member(thing, DATA)

    # -- results ------------------------------------------------------------------------------------------------------

    def _places(self, given: str) -> list[str]:
        """Arrays for the results, each with a reference of its own: fresh ones, or those that were given."""
        b, shapes = self._b, [shape for _, shape in self._outputs]
        fresh, there, done = (b.new_label(x) for x in ("fresh", "there", "done"))
        absent = b.let(f"icmp eq ptr {given}, null")
        if len(shapes) > 1 and () in shapes:  # where numbers are returned for some of them
            self._require(absent)
            return self._new_arrays()
        b.do(f"br i1 {absent}, label %{fresh}, label %{there}")
        b.start(there)
        items = [given]
        if len(shapes) != 1:
            self._require(self._is(self._member(given, TYPE), "tuple_type"))
            self._require(b.let(f"icmp eq i64 {self._member(given, LENGTH, 'i64')}, {len(shapes)}"))
            items = [self._member(given, ITEMS + 8 * k) for k in range(len(shapes))]
        for item, shape in zip(items, shapes, strict=True):
            self._checked_array(item, shape, WRITEABLE)
        for item in items:
            b.do(f"call void {self._service('incref')}(ptr {item})")
        b.do(f"br label %{done}")
        checked = b.label
        b.start(fresh)
        made, after = self._new_arrays(), b.label
        b.do(f"br label %{done}")
        b.start(done)
        pairs = zip(items, made, strict=True)
        return [b.let(f"phi ptr [ {item}, %{checked} ], [ {new}, %{after} ]") for item, new in pairs]

    def _new_arrays(self) -> list[str]:
        """Fresh arrays; if memory runs out, those already made are released and NumPy's error goes to the caller."""
        b = self._b
        made: list[str] = []
        for k, (_, shape) in enumerate(self._outputs):
            kind = f"ptr {self._service('array_type')}, i32 {len(shape)}, ptr @shape{k}, i32 {NPY_DOUBLE}"
            made.append(self._call("ptr", "new_array", f"{kind}, ptr null, ptr null, i32 0, i32 0, ptr null"))
            good, bad = b.new_label("good"), b.new_label("bad")
            b.do(f"br i1 {b.let(f'icmp eq ptr {made[-1]}, null')}, label %{bad}, label %{good}")
            b.start(bad)
            self._release(made[:-1])
            b.do("br label %failed")
            b.start(good)
        return made

    def _release(self, arrays: list[str]) -> None:
        for array in arrays:
            self._b.do(f"call void {self._service('decref')}(ptr {array})")

    def _compute(self, data: list[str], results: list[str]) -> str:
        """Run the kernel; an i1 says whether all bounds hold, and only then is anything written."""
        b, V, layout = self._b, vector_type(self._b.width), self._kernel.layout
        with workspace(b, self._kernel) as (source, scratch, target):
            for place, row, shape in zip(layout.inputs, data, self._inputs, strict=True):
                b.do(f"call void @spread(ptr {b.offset(source, place, V)}, ptr {row}, i64 {math.prod(shape)})")
            b.do(f"call void {self._kernel.name}(ptr {source}, ptr {scratch}, ptr {target})")
            held = "true"
            for k, (place, comparison) in enumerate(self._guards):
                value = b.let(f"load double, ptr {b.offset(target, place, V)}")
                limit = b.let(f"load double, ptr getelementptr (double, ptr @limits, i64 {k})")
                kept = b.let(f"fcmp {COMPARISONS[comparison]} double {value}, {limit}")
                held = b.let(f"and i1 {held}, {kept}")
            with b.when(held):
                for (place, shape), array in zip(self._outputs, results, strict=True):
                    numbers = f"ptr {self._member(array, DATA)}, i64 {math.prod(shape)}"
                    b.do(f"call void @collect(ptr {b.offset(target, place, V)}, {numbers})")
        return held

    def _hand_over_unless(self, held: str, results: list[str]) -> None:
        violated = self._b.new_label("violated")
        self._require(held, otherwise=violated)
        kept = self._b.new_label("kept")
        self._b.do(f"br label %{kept}")
        self._b.start(violated)
        self._release(results)
        self._b.do("br label %slow")
        self._b.start(kept)

    def _return(self, results: list[str], given: str) -> None:
        """One result by itself, several as a tuple; and as NumPy's own functions do, a number for an array without axes,
        unless the caller gave it."""
        b = self._b
        if len(results) == 1:
            if not self._outputs[0][1]:
                with b.when(b.let(f"icmp eq ptr {given}, null")):
                    b.do(f"ret ptr {self._call('ptr', 'as_scalar', f'ptr {results[0]}')}")
                    b.start(b.new_label("never"))
            b.do(f"ret ptr {results[0]}")
            return
        shapes = [shape for _, shape in self._outputs]
        results = [r if s else self._call("ptr", "as_scalar", f"ptr {r}") for r, s in zip(results, shapes, strict=True)]
        together = self._call("ptr", "new_tuple", f"i64 {len(results)}")
        self._require(b.let(f"icmp ne ptr {together}, null"), otherwise="failed")
        for k, array in enumerate(results):
            self._call("i32", "set_item", f"ptr {together}, i64 {k}, ptr {array}")
        b.do(f"ret ptr {together}")
