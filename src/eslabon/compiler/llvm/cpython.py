"""From loaded code to a Python callable: NumPy's ufunc around the batch loop, CPython's own call around one state."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from eslabon.compiler.function import Batched
from eslabon.compiler.llvm import single
from eslabon.compiler.llvm.machine import Loaded
from eslabon.compiler.program import GraphError
from eslabon.compiler.signature import GROUPS, Signature

# Positions in NumPy's tables of C functions, which are part of its ABI.
ARRAY_TYPE, ARRAY_RETURN, ARRAY_NEW, UFUNC_FROM_SIGNATURE = 2, 76, 93, 31
METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
WORDS = [sys.intern(x) for x in ("out", "threads", *GROUPS)]  # which keywords of a call are compared with, by address


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def callable_of(signature: Signature, code: bytes) -> Any:
    """The function in `code`: one state at once, everything else through a `Batched`, which is its `__self__`."""
    loaded = Loaded(code)
    cores = [[str(n) for n in ([] if 0 in s else s)] for s in (*signature.input_shapes, *signature.output_shapes)]
    made, kept = ufunc(signature.name, cores, len(signature.outputs), loaded.function("batch"))
    general = Batched(signature, made, partial(callable_of, code=code), parallel=True, keep=[loaded, kept])
    if not _layout_is_known():
        return general
    names = [sys.intern(a.name) for a in signature.inputs]
    services = (ctypes.c_void_p * len(single.SERVICES)).from_address(loaded.variable("services"))
    services[:] = list(_services())
    limits = (ctypes.c_double * len(signature.bounds)).from_address(loaded.variable("limits"))
    limits[:] = [limit for _, limit in signature.bounds]
    (ctypes.c_void_p * len(names)).from_address(loaded.variable("names"))[:] = list(map(id, names))
    name, doc = signature.name.encode(), _doc(signature).encode()
    method = _MethodDef(name, loaded.function("entry"), METH_FASTCALL_KEYWORDS, doc)
    general._keep.append((method, name, doc, names))  # CPython lets `self` keep the definition alive
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return new(ctypes.addressof(method), general, "eslabon")


def _doc(signature: Signature) -> str:
    """What `help` and `inspect.signature` show."""

    def line(a: Any) -> str:
        shape = ", ".join(["...", *map(str, a.shape)])
        return f"  {a.name}: ({shape}) {a.noun}"

    words = ["out", "threads", *(group for group, names in signature.groups.items() if names)]
    of = f" of {signature.owner}" if signature.owner else ""
    return "\n".join([
        f"{signature.name}({', '.join(a.name for a in signature.inputs)}, /, *, {', '.join(f'{w}=None' for w in words)})\n--\n",
        f"{signature.name}{of}: {signature.operations} operations in native code.",
        "Leading axes broadcast.",
        "in", *map(line, signature.inputs),
        "out", *map(line, signature.outputs),
    ])  # fmt: skip


# NumPy and CPython from the inside -----------------------------------------------------------------------------------


@cache
def _table(name: str) -> Any:
    """NumPy's table of C functions."""
    umath: Any = importlib.import_module("numpy._core._multiarray_umath")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(getattr(umath, name), None), ctypes.POINTER(ctypes.c_void_p))


def ufunc(name: str, cores: Sequence[Sequence[str]], outputs: int, loop: int) -> tuple[Any, Any]:
    """A generalised ufunc over the loop, and what must outlive it.

    `cores` are the dimensions of one state's worth of every argument, sizes or names; the last ones are outputs.
    """
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        *[ctypes.c_void_p] * 3,
        *[ctypes.c_int] * 4,
        *[ctypes.c_char_p] * 2,
        ctypes.c_int,
        ctypes.c_char_p,
    )(_table("_UFUNC_API")[UFUNC_FROM_SIGNATURE])
    inputs = len(cores) - outputs
    function, data = (ctypes.c_void_p * 1)(loop), (ctypes.c_void_p * 1)(None)
    types = (ctypes.c_char * len(cores))(*[bytes([single.NPY_DOUBLE])] * len(cores))
    arguments = [f"({','.join(core)})" for core in cores]
    core = ",".join(arguments[:inputs]) + "->" + ",".join(arguments[inputs:])
    text = [name.encode(), b"", core.encode()]
    addresses = [ctypes.addressof(x) for x in (function, data, types)]
    try:
        made = make(*addresses, 1, inputs, outputs, -1, *text[:2], 0, text[2])
    except ValueError as error:
        raise GraphError(f"{name} cannot be called from NumPy: {error}.") from error
    return made, (function, data, types, text)


@cache
def _services() -> tuple[int, ...]:
    """What the code of `single` asks for, in its order."""
    api, array = ctypes.pythonapi, _table("_ARRAY_API")

    def address(function: Any) -> int:
        return ctypes.cast(function, ctypes.c_void_p).value or 0

    found = {
        "array_type": array[ARRAY_TYPE],
        "float64": id(np.dtype(np.float64)),
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
        "tuple_type": id(tuple),
        "as_long": address(api.PyLong_AsLongAndOverflow),
        "none": id(None),
        "dict_type": id(dict),
        "dict_size": address(api.PyDict_Size),
        "dict_item": address(api.PyDict_GetItem),
        **{word: id(word) for word in WORDS},
    }
    return tuple(found[name] for name in single.SERVICES)


@cache
def _layout_is_known() -> bool:
    """Whether objects lie in memory as `single` believes: CPython with a GIL, and an array that reads as expected."""
    if sys.implementation.name != "cpython" or "t" in getattr(sys, "abiflags", ""):
        return False
    array, number, names = np.arange(6.0).reshape(2, 3), 1.5, ("out", "threads")

    def read(thing: Any, offset: int, kind: Any) -> Any:
        return kind.from_address(id(thing) + offset).value or 0

    word, half, real = ctypes.c_void_p, ctypes.c_int, ctypes.c_double
    dimensions = (ctypes.c_int64 * 2).from_address(read(array, single.DIMENSIONS, word))
    return bool(
        read(array, single.TYPE, word) == id(np.ndarray) == _services()[0]
        and read(array, single.DATA, word) == array.ctypes.data
        and read(array, single.NDIM, half) == 2
        and tuple(dimensions) == (2, 3)
        and read(array, single.DTYPE, word) == id(np.dtype(np.float64))
        and read(array, single.FLAGS, half) & single.WRITEABLE == single.WRITEABLE
        and read(number, single.NUMBER, real) == number == read(np.float64(number), single.NUMBER, real)
        and read(names, single.LENGTH, word) == len(names)
        and read(names, single.ITEMS, word) == id(names[0])
    )
