"""What every compiled function shares, as LLVM modules that are made once for a processor: the ways
from Python to a kernel.

Each is made when it is first needed, since a first call of one state needs neither batches nor most
elementary functions.

A kernel is `void (source, scratch, target)` on packed blocks of states (`emit`). All else that
differs between functions stands in tables of 64-bit words (`runtime_tables`; `cpython` fills them):
a DESCRIPTOR of the function, an ARGUMENT for each input and output, and for a batch an OPERAND for
each of them.

* `@call` is CPython's METH_FASTCALL | METH_KEYWORDS. It takes one state, or a batch whose leading
  axes are equal or absent: arrays of doubles in any memory order; arrays of floats or integers,
  lists and tuples of numbers, or a number as one state's worth. Anything else, and a batch that
  threads should share, goes unchanged to `otherwise`, the Python object that broadcasts, converts,
  looks closer and complains. So does a call in which an output with a bound does not keep it.
* Elementary functions of vectors (`vector_math`), which kernels call by name.
* `@batch` runs a kernel over two leading axes, `@repeat` lets a kernel follow itself step by step.
"""

from __future__ import annotations

from eslabon.compiler.llvm import packing, runtime_blocks, runtime_call, vector_math
from eslabon.compiler.llvm.runtime_tables import SERVICES

_DECLARED = """declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def calls(width: int) -> str:
    """The module of @call, for registers of `width` doubles."""
    services = f"@services = global [{len(SERVICES)} x ptr] zeroinitializer\n"
    blocks = runtime_blocks.offsets(width) + runtime_blocks.bounds(width)
    parts = packing.one_state(width) + blocks + runtime_call.definitions(width)
    return services + _DECLARED + parts


def batches(width: int) -> str:
    """The module of @batch and @repeat."""
    return _DECLARED + packing.blocks(width) + runtime_blocks.definitions(width)


def elementary(operation: str, width: int, fused: bool) -> str:
    """The module of an elementary function; `fused` says that the processor multiplies and adds in
    one rounding."""
    return vector_math.library() + vector_math.definition(operation, width, fused)
