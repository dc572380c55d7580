"""The tables that the runtime reads, where Python's objects have their fields, and the words in
which the runtime is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from eslabon.compiler.llvm.ir import Body

# -- tables -----------------------------------------------------------------------------------------------------------

DESCRIPTOR = (
    "kernel", "single",  # addresses of the kernel for a block and for one state
    "single_lanes",  # in how many lanes the latter wants its state
    "inputs", "outputs",  # addresses of tables of arguments
    "count_in", "count_out",
    "own", "free",  # how many inputs belong to no group, and how many are not bound to a value
    "count_external", "count_parameters", "count_t",  # how many are in each group
    "wanted",  # how many outputs have no bound
    "input_size", "output_size", "scratch_size", "single_scratch_size",  # of a block, in vectors
    "unshared",  # how many states one thread computes before others would help
    "otherwise",  # the Python object for all other calls
    "states", "varying",  # of a step that is repeated: inputs fed back, and inputs with a row for each step
)  # fmt: skip
ARGUMENT = (
    "place", "size", "ndim", "dims",  # where it stands in a block, how many numbers; lengths of their axes, then strides in row order
    "name", "group",  # of inputs: the interned name, and 0 or the number of its group
    "value",  # of inputs that are bound: the address of their numbers
    "comparison", "limit",  # of outputs with a bound: 1 + the number in COMPARISONS
)  # fmt: skip
OPERAND = (
    "data", "outer", "inner", "row",  # the address, and the bytes from state to state along two axes, and from row to row
    "strides",  # the address of the bytes along its own axes
    "run", "stride",  # numbers that are moved together, and the bytes between them; @batch finds them
)  # fmt: skip
GROUPS = (
    "external",
    "parameters",
    "t",
)  # keywords by which inputs may be given: two dictionaries and a value
COMPARISONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}  # none of which holds for a NaN

# What @call needs from its process, in this order, in the table @services; the loader fills it in
# (cpython.py), and @batch where there is a first batch.
SERVICES = (
    "array_type", "float64", "float32", "int64", "new_array", "as_scalar", "vectorcall", "new_tuple", "set_item", "incref",
    "decref", "float_type", "number_type", "int_type", "list_type", "tuple_type", "as_long", "none", "dict_type", "dict_size",
    "dict_item", "batch", "out", "threads", *GROUPS,
)  # fmt: skip

# Offsets in bytes into CPython's and NumPy 2's objects (PyObject_HEAD; PyArrayObject_fields;
# PyFloatObject; PyTupleObject; PyListObject); checked by cpython.py.
TYPE, DATA, NDIM, DIMENSIONS, STRIDES, DTYPE, FLAGS = 8, 16, 24, 32, 40, 56, 64
NUMBER, LENGTH, ITEMS, TABLE = (
    16,
    16,
    24,
    16,
)  # TABLE: where an object of ctypes has the address of its memory
CONTIGUOUS, ALIGNED, WRITEABLE = 0x001, 0x100, 0x400
NPY_DOUBLE = 12
ON_STACK = (
    1 << 16
)  # bytes of workspace kept on the stack; beyond, it is allocated: threads can have small stacks
MOST_AXES = 64  # NumPy's own limit


# -- words ------------------------------------------------------------------------------------------------------------


class Code(Body):
    """A function of the runtime under construction."""

    def word(self, table: str, names: Sequence[str], name: str, kind: str = "i64") -> str:
        """A word of a table."""
        return self.load(kind, self.offset(table, 8 * names.index(name)))

    def descriptor(self, name: str, kind: str = "i64") -> str:
        return self.word("%descriptor", DESCRIPTOR, name, kind)

    def load(self, kind: str, address: str) -> str:
        return self.let(f"load {kind}, ptr {address}")

    def store(self, kind: str, value: str | int, address: str) -> None:
        self.do(f"store {kind} {value}, ptr {address}")

    def put(
        self, table: str, names: Sequence[str], name: str, value: str | int, kind: str = "i64"
    ) -> None:
        """Set a word of a table."""
        self.store(kind, value, self.offset(table, 8 * names.index(name)))

    def entry_of(self, table: str, names: Sequence[str], k: str) -> str:
        """The k-th record of a table of records."""
        return self.offset(table, self.let(f"mul i64 {k}, {8 * len(names)}"))

    def member(self, thing: str, offset: int, kind: str = "ptr") -> str:
        """A field of a Python object."""
        return self.load(kind, self.offset(thing, offset))

    def axes_of(self, array: str) -> str:
        return self.let(f"sext i32 {self.member(array, NDIM, 'i32')} to i64")

    def has_flags(self, array: str, flags: int) -> str:
        return self.equal(
            self.let(f"and i32 {self.member(array, FLAGS, 'i32')}, {flags}"), flags, "i32"
        )

    def service(self, name: str) -> str:
        return self.let(
            f"load ptr, ptr getelementptr (ptr, ptr @services, i64 {SERVICES.index(name)})"
        )

    def ask(self, kind: str, service: str, arguments: str) -> str:
        return self.let(f"call {kind} {self.service(service)}({arguments})")

    def is_service(self, thing: str, service: str) -> str:
        return self.let(f"icmp eq ptr {thing}, {self.service(service)}")

    def equal(self, one: str, other: str | int, kind: str = "i64") -> str:
        return self.let(f"icmp eq {kind} {one}, {other}")

    def both(self, one: str, other: str) -> str:
        return self.let(f"and i1 {one}, {other}")

    def either(self, one: str, other: str) -> str:
        return self.let(f"or i1 {one}, {other}")

    def require(self, condition: str, otherwise: str = "otherwise") -> None:
        """Go on only if the i1 holds."""
        good = self.new_label("good")
        self.do(f"br i1 {condition}, label %{good}, label %{otherwise}")
        self.start(good)

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")

    def bytes_of(self, vectors: str, lanes: str | int | None = None) -> str:
        """How long so many vectors are."""
        size = self.let(f"shl i64 {vectors}, 3")
        return self.let(f"mul i64 {size}, {self.width if lanes is None else lanes}")

    @contextmanager
    def memory(self, size: str) -> Iterator[str]:
        """So many bytes, aligned as vectors want it, until the end of the block."""
        stack, heap, ready = (self.new_label(x) for x in ("stack", "heap", "ready"))
        self.branch(self.let(f"icmp ule i64 {size}, {ON_STACK}"), stack, heap)
        self.start(stack)
        near = self.let(f"alloca i8, i64 {size}, align 64")
        self.do(f"br label %{ready}")
        self.start(heap)
        taken = self.let(f"call ptr @malloc(i64 {self.let(f'add i64 {size}, 64')})")
        above = self.let(f"add i64 {self.let(f'ptrtoint ptr {taken} to i64')}, 63")
        far = self.let(f"inttoptr i64 {self.let(f'and i64 {above}, -64')} to ptr")
        self.do(f"br label %{ready}")
        self.start(ready)
        start = self.let(f"phi ptr [ {near}, %{stack} ], [ {far}, %{heap} ]")
        freed = self.let(f"phi ptr [ null, %{stack} ], [ {taken}, %{heap} ]")
        yield start
        self.do(f"call void @free(ptr {freed})")

    def workspace(
        self, start: str, lanes: str | int | None = None, scratch: str = "scratch_size"
    ) -> tuple[str, str, str]:
        """The packed inputs, the scratch array and the packed outputs, the last all zeros: a kernel
        writes no zeros of the structure."""
        source = start
        middle = self.offset(source, self.bytes_of(self.descriptor("input_size"), lanes))
        target = self.offset(middle, self.bytes_of(self.descriptor(scratch), lanes))
        size = self.bytes_of(self.descriptor("output_size"), lanes)
        self.do(f"call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {size}, i1 false)")
        return source, middle, target

    def workspace_size(self, lanes: str | int | None = None, scratch: str = "scratch_size") -> str:
        both = self.let(
            f"add i64 {self.descriptor('input_size')}, {self.descriptor('output_size')}"
        )
        return self.bytes_of(self.let(f"add i64 {both}, {self.descriptor(scratch)}"), lanes)
