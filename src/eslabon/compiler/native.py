"""Machine code for a graph, called with NumPy arrays.

    f = native.compile(casadi_function)          # or native.load(key), if it was compiled before under that key
    tau = f(q, v, a)                             # (n,) or (..., n): leading axes broadcast; out=, threads=
    run = native.iterate(step)                   # the loop over steps in machine code too
    x = run(x0, u)                               # (..., n), a row of u for each step: (..., steps, n)

The way through the room: `emit` turns the program into LLVM text, with `vector_math` and `packing`; `loops` and
`single` are the ways in from NumPy and CPython; `machine` makes object code and loads it; `cache` keeps it on disk; `entry` makes the
Python callable, with `batched` for all that is not one plain state; `iterate` calls a kernel step after step;
`interpreted` stands in where there is no LLVM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eslabon.compiler import store as _disk
from eslabon.compiler.llvm import machine
from eslabon.compiler.repeated_step import Iteration, iterate, load_iteration
from eslabon.compiler.signature import Argument, InputError, Signature
from eslabon.compiler.store import NativeWarning

__all__ = [
    "Argument",
    "InputError",
    "Iteration",
    "NativeWarning",
    "Signature",
    "compile",
    "iterate",
    "load",
    "load_iteration",
]


def compile(  # noqa: A001 - the verb of the field
    f: Any,
    *,
    inputs: Sequence[Argument] | None = None,
    outputs: Sequence[Argument] | None = None,
    name: str = "",
    owner: str = "",
    key: str | None = None,
    cache: bool = True,
) -> Callable[..., Any]:
    """A `casadi.Function` of SX, or a `Composed`, as a native function of NumPy arrays.

    Parameters
    ----------
    f : the function; what a `Composed` calls becomes code once.
    inputs, outputs : what its arguments are called, what shape one state's worth has, and what to call the numbers in
        an error; as CasADi has them if left out. An output with a bound is compared with it and not returned.
    name, owner : for messages: "q has 5 values in its last axis; puma560 has 6 coordinates".
    key : under which `load` finds the code again without the graph. It must determine the graph.
    cache : whether to look for the code on disk, and to keep it there.

    Returns
    -------
    A callable `f(*arrays, out=None, threads=None)`, with `parameters` and `external` by name if some inputs are such. Its `__self__` is a `Batched`, which has the `signature`, the
    same function with other limits, and `on_violation`, which may be set and looks closer where a bound does not hold.

    >>> import casadi, numpy as np
    >>> x = casadi.SX.sym("x", 2)
    >>> f = compile(casadi.Function("length", [x], [casadi.norm_2(x)]), outputs=[Argument("d", ())])
    >>> f([[3.0, 4.0], [5.0, 12.0]])
    array([ 5., 13.])
    """
    from eslabon.compiler.linking import linked

    program = linked(f)
    signature = Signature.of(program, inputs, outputs, name, owner)
    if machine.llvm() is None:
        from eslabon.compiler import interpreted

        interpreted.warn()
        return interpreted.callable_of(signature, f)
    from eslabon.compiler.llvm import cpython as entry

    # Loops over arguments, comparisons and groups are compiled in, so that they belong to the code as the graph does.
    words = [a.bound and a.bound[0] for a in signature.outputs], [a.group for a in signature.inputs]
    identity = repr((program.digest, signature.input_shapes, signature.output_shapes, words))
    facts = {"identity": identity, "signature": signature.to_dict()}
    code = _disk.code(key or identity, facts, lambda: _assembled(program, signature), cache)
    return entry.callable_of(signature, code)


def load(key: str) -> Callable[..., Any] | None:
    """What `compile` made under this key, by this version and for this processor; None if there is nothing.

    Neither CasADi nor the graph is needed.
    """
    if machine.llvm() is None:
        return None
    kept = _disk.fetch(key)
    if kept is None:
        return None
    from eslabon.compiler.llvm import cpython as entry

    return entry.callable_of(Signature.from_dict(kept.facts["signature"]), kept.code)


def _assembled(program: Any, signature: Signature) -> bytes:
    """The object code of the kernel and the ways into it."""
    from eslabon.compiler.llvm import loops, packing, single
    from eslabon.compiler.llvm.emit import has_loops, kernel, single_kernel

    here = machine.host()
    code = kernel(program, here.width, here.fused)
    alone = single_kernel(program, here.width, here.fused) if has_loops(program) else code
    ways_in = loops.DECLARED + loops.batch(code, signature.input_shapes, signature.output_shapes, here.width)
    ways_in += single.definitions(alone, signature)
    kernels = code.text if alone is code else _declared_once(code.text + alone.text)
    return machine.assemble(kernels + packing.definitions(here.width, alone.width) + ways_in, program.length)


def _declared_once(text: str) -> str:
    """Both kernels may declare the same functions of the C library."""
    lines = text.splitlines(keepends=True)
    declared = dict.fromkeys(x for x in lines if x.startswith("declare"))
    return "".join([*declared, *(x for x in lines if x not in declared)])
