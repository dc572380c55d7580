"""Compiled code as Python objects: the runtime in memory, the tables it reads, and a builtin
function around them.

All that is known about CPython's and NumPy's insides stands here and in the offsets of
`runtime_tables`. Where objects lie in memory otherwise than expected, there are no builtins, and
the general call of `function` does everything.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler import store
from eslabon.compiler.function import Signature, unshared
from eslabon.compiler.llvm import machine, runtime, vector_math
from eslabon.compiler.llvm import runtime_tables as tables
from eslabon.compiler.program import Shape

# Positions in NumPy's tables of C functions, which are part of its ABI.
ARRAY_TYPE, ARRAY_RETURN, ARRAY_NEW = 2, 76, 93
ALIGNED_NUMBERS = 8  # doubles between two places that are aligned as vectors want it
METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
WORDS = [sys.intern(x) for x in ("out", "threads", *tables.GROUPS)]  # compared by address


# -- the runtime ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calls:
    """@call in this process, and what it asks for."""

    loaded: machine.Loaded
    call: int
    services: Any


@dataclass(frozen=True)
class Batches:
    """@batch and @repeat in this process."""

    loaded: machine.Loaded
    batch: Any
    repeat: Any


def _entry(name: str, width: int, make: Callable[[], tuple[dict[str, Any], bytes]]) -> store.Entry:
    """A module of the runtime, made once for a processor."""
    key = f"runtime {name} {width} {machine.host().fused}"
    return store.entry(key, {"identity": "runtime"}, make)


@cache
def _calls(width: int) -> Calls:
    entry = _entry("calls", width, lambda: ({}, machine.optimized(runtime.calls(width))))
    loaded = machine.Loaded(entry.code)
    services = (ctypes.c_void_p * len(tables.SERVICES)).from_address(loaded.variable("services"))
    services[:] = [_services().get(name) for name in tables.SERVICES]
    return Calls(loaded, loaded.function("call"), services)


@cache
def _batches(width: int) -> Batches:
    entry = _entry("batches", width, lambda: ({}, machine.optimized(runtime.batches(width))))
    loaded = machine.Loaded(entry.code)
    word, address, batch = ctypes.c_int64, ctypes.c_void_p, loaded.function("batch")
    _calls(width).services[tables.SERVICES.index("batch")] = batch
    run = ctypes.CFUNCTYPE(word, address, address, word, word)(batch)
    repeat = ctypes.CFUNCTYPE(None, address, address, word, word, word, word)
    return Batches(loaded, run, repeat(loaded.function("repeat")))


def calls() -> Calls:
    """The way in from Python, for this processor."""
    return _calls(machine.host().width)


def batches() -> Batches:
    """The ways through many states, of which @call makes use from now on."""
    return _batches(machine.host().width)


@cache
def _elementary(operation: str, width: int, fused: bool) -> machine.Loaded:
    def make() -> tuple[dict[str, Any], bytes]:
        name = vector_math.function_name(operation, width, fused).removeprefix("@")
        return {"name": name}, machine.assemble(runtime.elementary(operation, width, fused))

    entry = _entry(operation, width, make)
    loaded = machine.Loaded(entry.code)
    machine.publish(entry.facts["name"], loaded)
    return loaded


def elementary(operation: str, width: int) -> machine.Loaded:
    """An elementary function on vectors, of which kernels that are loaded from now on can make
    use."""
    return _elementary(operation, width, machine.host().fused)


def kernel_code(code: bytes, operations: Sequence[str], width: int) -> machine.Loaded:
    """A kernel's code, and before it the elementary functions on vectors of its width that it
    calls."""
    for operation in operations:
        elementary(operation, width)
    return machine.Loaded(code)


# -- one function -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kernel:
    """The code of a function for so many states at a time, and the size of its scratch array in
    vectors."""

    loaded: machine.Loaded
    name: str
    scratch: int
    lanes: int

    @property
    def address(self) -> int:
        return self.loaded.function(self.name)


BLOCK, SINGLE = (tables.DESCRIPTOR.index(name) for name in ("kernel", "single"))
KERNEL_PLACES = {False: BLOCK, True: SINGLE}  # by whether a kernel is for one state alone


class Descriptor(ctypes.c_int64 * len(tables.DESCRIPTOR)):  # type: ignore[misc]
    """What the runtime knows of a function; `kept` lives as long, since addresses stand for it."""

    kept: Any


def described(
    signature: Signature,
    block: Kernel | None,
    single: Kernel | None,
    bound: Mapping[str, float],
    otherwise: Any = None,
    repeated: tuple[int, int] = (0, 0),
) -> Descriptor:
    """The tables of a function, some of whose parameters are bound to values. A kernel that is not
    there yet is `provided` later; `repeated` says of a step how many inputs are fed back, and how
    many have a row for each step."""
    numbers = {name: (ctypes.c_double * 1)(value) for name, value in bound.items()}
    inputs, kept = _arguments(signature, numbers, output=False)
    outputs, more = _arguments(signature, numbers, output=True)
    free = [a for a in signature.inputs if not _is_bound(a, bound)]
    counts = {f"count_{g}": sum(a.group == g for a in free) for g in tables.GROUPS}
    made = Descriptor()
    words = {
        "kernel": 0,
        "scratch_size": 0,
        "single": 0,
        "single_scratch_size": 0,
        "single_lanes": 1,
        "inputs": ctypes.addressof(inputs),
        "outputs": ctypes.addressof(outputs),
        "count_in": len(signature.inputs),
        "count_out": len(signature.outputs),
        "own": sum(not a.group for a in free),
        "free": len(free),
        **counts,
        "wanted": sum(not a.bound for a in signature.outputs),
        "input_size": sum(map(math.prod, signature.input_shapes)),
        "output_size": sum(map(math.prod, signature.output_shapes)),
        "unshared": unshared(signature.expected_operations),
        "otherwise": id(otherwise),
        "states": repeated[0],
        "varying": repeated[1],
    }
    made[:] = [words[name] for name in tables.DESCRIPTOR]
    made.kept = (inputs, outputs, kept, more, numbers, otherwise)
    for place, kernel in zip((BLOCK, SINGLE), (block, single), strict=True):
        if kernel is not None:
            provide(made, place, kernel)
    return made


def provide(descriptor: Descriptor, place: int, kernel: Kernel) -> None:
    """Put a kernel into its place, its address last: without one the runtime leaves calls to
    `otherwise`."""
    names = tables.DESCRIPTOR
    if place == SINGLE:
        descriptor[names.index("single_lanes")] = kernel.lanes
        descriptor[names.index("single_scratch_size")] = kernel.scratch
    else:
        descriptor[names.index("scratch_size")] = kernel.scratch
    descriptor.kept = (*descriptor.kept, kernel)
    descriptor[place] = kernel.address


def _is_bound(argument: Any, bound: Mapping[str, float]) -> bool:
    return argument.group == "parameters" and argument.name in bound


def _arguments(signature: Signature, numbers: Mapping[str, Any], output: bool) -> tuple[Any, Any]:
    """The table of inputs or outputs, and what it points to."""
    arguments = signature.outputs if output else signature.inputs
    shapes = signature.output_shapes if output else signature.input_shapes
    names, axes, words = [], [], []
    starts = accumulate(map(math.prod, shapes), initial=0)
    for argument, shape, place in zip(arguments, shapes, starts, strict=False):
        lengths = (ctypes.c_int64 * (2 * len(shape) + 1))(*shape, *_row_order(shape), 0)
        axes.append(lengths)
        names.append(sys.intern(argument.name))
        value = numbers[argument.name] if not output and _is_bound(argument, numbers) else None
        comparison, limit = argument.bound or ("", 0.0)
        row = {
            "place": place,
            "size": math.prod(shape),
            "ndim": len(shape),
            "dims": ctypes.addressof(lengths),
            "name": id(names[-1]),
            "group": 1 + tables.GROUPS.index(argument.group) if argument.group else 0,
            "value": 0 if value is None else ctypes.addressof(value),
            "comparison": 1 + [*tables.COMPARISONS].index(comparison) if comparison else 0,
            "limit": struct.unpack("<q", struct.pack("<d", limit))[0],
        }
        words += [row[name] for name in tables.ARGUMENT]
    return (ctypes.c_int64 * len(words))(*words), (names, axes)


def _row_order(shape: Shape) -> list[int]:
    """The strides of contiguous numbers."""
    return [8 * math.prod(shape[k + 1 :]) for k in range(len(shape))]


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def builtin(signature: Signature, descriptor: Descriptor, doc: str) -> Any:
    """@call of the runtime with this descriptor as its `self`."""
    method = _MethodDef(signature.name.encode(), calls().call, METH_FASTCALL_KEYWORDS, doc.encode())
    descriptor.kept = (*descriptor.kept, method)  # CPython lets `self` keep the definition alive
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.py_object, ctypes.py_object],
    )
    return new(ctypes.addressof(method), descriptor, "eslabon")


# -- one state, and batches ----------------------------------------------------------------------------------------------------------


def run_one(kernel: Kernel, arrays: Sequence[Floats], results: Sequence[Floats]) -> None:
    """A kernel for one state alone. The GIL is dropped."""
    given = np.concatenate([np.ravel(a) for a in arrays])
    sizes = [len(given), kernel.scratch, sum(a.size for a in results)]
    memory = np.zeros(sum(sizes) + ALIGNED_NUMBERS)
    begin = -(memory.ctypes.data // 8) % ALIGNED_NUMBERS
    source, scratch, target = (
        memory[begin + first : begin + first + size]
        for first, size in zip(accumulate(sizes, initial=0), sizes, strict=False)
    )
    source[:] = given
    address = ctypes.c_void_p
    run = ctypes.CFUNCTYPE(None, address, address, address)(kernel.address)
    run(source.ctypes.data, scratch.ctypes.data, target.ctypes.data)
    places = accumulate((a.size for a in results), initial=0)
    for result, place in zip(results, places, strict=False):
        result[...] = target[place : place + result.size].reshape(result.shape)


def run_batch(descriptor: Descriptor, arrays: Sequence[Floats], cores: Sequence[Shape]) -> None:
    """The kernel over all states of arrays that have the same leading axes, inputs first, then
    outputs. The GIL is dropped."""
    leading = arrays[0].ndim - len(cores[0])
    for index in np.ndindex(arrays[0].shape[: max(0, leading - 2)]):
        parts = [a[index] for a in arrays] if index else arrays
        outer, inner = (1, 1, *arrays[0].shape[:leading])[-2:]
        table = _operands(parts, cores, min(leading, 2))
        batches().batch(ctypes.addressof(descriptor), ctypes.addressof(table), outer, inner)


def run_steps(
    descriptor: Descriptor,
    arrays: Sequence[Floats],
    cores: Sequence[Shape],
    with_rows: Sequence[bool],
    rows: int,
    every: int,
) -> None:
    """The same for a step that is repeated; the arrays that have rows have an axis more before
    their own."""
    leading = arrays[0].ndim - len(cores[0]) - with_rows[0]
    for index in np.ndindex(arrays[0].shape[: max(0, leading - 2)]):
        parts = [a[index] for a in arrays] if index else arrays
        outer, inner = (1, 1, *arrays[0].shape[:leading])[-2:]
        table = _operands(parts, cores, min(leading, 2), with_rows)
        batches().repeat(
            ctypes.addressof(descriptor), ctypes.addressof(table), outer, inner, rows, every
        )


def _operands(
    arrays: Sequence[Floats], cores: Sequence[Shape], leading: int, with_rows: Sequence[bool] = ()
) -> ctypes.Array[ctypes.c_int64]:
    """The table of operands, and after it the strides that it points to."""
    first = len(arrays) * len(tables.OPERAND)
    table = (ctypes.c_int64 * (first + sum(map(len, cores))))()
    words: list[int] = []
    strides: list[int] = []
    begin = ctypes.addressof(table)
    for k, array in enumerate(arrays):
        steps = array.strides
        outer, inner = (0, 0, *steps[:leading])[-2:]
        own, row = steps[leading:], 0
        if with_rows and with_rows[k]:
            row, own = own[0], own[1:]
        words += [
            array.__array_interface__["data"][0],
            outer,
            inner,
            row,
            begin + 8 * (first + len(strides)),
            0,
            0,
        ]
        strides += own
    table[:] = [*words, *strides]
    return table


# -- NumPy and CPython from the inside --------------------------------------------------------------------------------


@cache
def _table(name: str) -> Any:
    """NumPy's table of C functions."""
    umath: Any = importlib.import_module("numpy._core._multiarray_umath")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(getattr(umath, name), None), ctypes.POINTER(ctypes.c_void_p))


@cache
def _services() -> dict[str, int]:
    """What the runtime asks for, by name."""
    api, array = ctypes.pythonapi, _table("_ARRAY_API")

    def address(function: Any) -> int:
        return ctypes.cast(function, ctypes.c_void_p).value or 0

    return {
        "array_type": array[ARRAY_TYPE],
        "float64": id(np.dtype(np.float64)),
        "float32": id(np.dtype(np.float32)),
        "int64": id(np.dtype(np.int64)),
        "new_array": array[ARRAY_NEW],
        "as_scalar": array[ARRAY_RETURN],
        "vectorcall": address(api.PyObject_Vectorcall),
        "new_tuple": address(api.PyTuple_New),
        "set_item": address(api.PyTuple_SetItem),
        "incref": address(api.Py_IncRef),
        "decref": address(api.Py_DecRef),
        "float_type": id(float),
        "number_type": id(np.float64),
        "int_type": id(int),
        "list_type": id(list),
        "tuple_type": id(tuple),
        "as_long": address(api.PyLong_AsLongLongAndOverflow),
        "none": id(None),
        "dict_type": id(dict),
        "dict_size": address(api.PyDict_Size),
        "dict_item": address(api.PyDict_GetItem),
        **{word: id(word) for word in WORDS},
    }


@cache
def layout_is_known() -> bool:
    """Whether objects lie in memory as the runtime believes: CPython with a GIL, and an array that
    reads as expected."""
    if sys.implementation.name != "cpython" or "t" in getattr(sys, "abiflags", ""):
        return False
    array, number, names, listed = (
        np.arange(6.0).reshape(2, 3),
        1.5,
        ("out", "threads"),
        [number_ := 2.5, 3.5],
    )
    words = (ctypes.c_int64 * 2)(7, 8)

    def read(thing: Any, offset: int, kind: Any) -> Any:
        return kind.from_address(id(thing) + offset).value or 0

    def pair(address: int) -> tuple[int, int]:
        return tuple((ctypes.c_int64 * 2).from_address(address))

    word, half, real = ctypes.c_void_p, ctypes.c_int, ctypes.c_double
    wanted = tables.CONTIGUOUS | tables.ALIGNED | tables.WRITEABLE
    return bool(
        read(array, tables.TYPE, word) == id(np.ndarray) == _services()["array_type"]
        and read(array, tables.DATA, word) == array.ctypes.data
        and read(array, tables.NDIM, half) == 2
        and pair(read(array, tables.DIMENSIONS, word)) == (2, 3)
        and pair(read(array, tables.STRIDES, word)) == (24, 8)
        and read(array, tables.DTYPE, word) == id(np.dtype(np.float64))
        and read(array, tables.FLAGS, half) & wanted == wanted
        and read(number, tables.NUMBER, real)
        == number
        == read(np.float64(number), tables.NUMBER, real)
        and read(names, tables.LENGTH, word) == len(names)
        and read(names, tables.ITEMS, word) == id(names[0])
        and read(listed, tables.LENGTH, word) == len(listed)
        and word.from_address(read(listed, tables.ITEMS, word)).value == id(number_)
        and pair(read(words, tables.TABLE, word)) == (7, 8)
    )
