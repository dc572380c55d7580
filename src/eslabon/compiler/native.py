"""Machine code for a graph, called with NumPy arrays.

    f = native.compile(casadi_function)          # or native.load(key), if it was compiled before under that key
    tau = f(q, v, a)                             # (n,) or (..., n): leading axes broadcast; out=, threads=
    run = native.compile(step, states=1)         # the loop over steps in machine code too
    x = run(x0, u)                               # (..., n), a row of u for each step: (..., steps, n)

`llvm.emit` turns the program into kernels, `llvm.machine` makes object code of them, `store` keeps it on disk, and the runtime that all
functions share (`llvm.runtime`) calls them. `interpreted` stands in where there is no LLVM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from eslabon.arguments import Floats
from eslabon.compiler import store
from eslabon.compiler.formula import Argument
from eslabon.compiler.function import Function, GeneralCall, Signature
from eslabon.compiler.llvm import machine
from eslabon.compiler.program import Program, read
from eslabon.compiler.repeated_step import RepeatedStep, check_roles
from eslabon.compiler.store import NativeWarning
from eslabon.errors import InputError

__all__ = [
    "Argument",
    "InputError",
    "NativeWarning",
    "RepeatedStep",
    "Signature",
    "compile",
    "load",
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
    states: int = 0,
    varying: int = 0,
    quick: bool = False,
) -> Function | RepeatedStep:
    """A `casadi.Function` as a native function of NumPy arrays.

    Parameters
    ----------
    f : the function; what it calls (`compiler.calls`) becomes code once.
    inputs, outputs : what its arguments are called, what shape one state's worth has, and what to call the numbers in
        an error; as CasADi has them if left out. An output with a bound is compared with it and not returned.
    name, owner : for messages: "q has 5 values in its last axis; puma560 has 6 coordinates".
    key : under which `load` finds the code again without the graph. It must determine the graph.
    cache : whether to look for the code on disk, and to keep it there.
    states, varying : of a step that is repeated in native code: how many inputs are fed back from the outputs of the
        same place, and how many of those after them have a row for each step; the others stay the same.
    quick : whether to compile in a third of the time code that runs a twentieth to a sixth slower.

    >>> import casadi, numpy as np
    >>> x, u, p = (casadi.SX.sym(s) for s in "xup")
    >>> f = compile(casadi.Function("length", [x, u], [casadi.sqrt(x**2 + u**2)]), outputs=[Argument("d", (1,))])
    >>> f([[3.0], [5.0]], [[4.0], [12.0]])[:, 0]
    array([ 5., 13.])
    >>> run = compile(casadi.Function("decay", [x, u, p], [p * x + u]), states=1, varying=1)
    >>> run([1.0], [[0.0], [0.0], [3.0], [0.0]], [0.5], every=2)[..., 0]
    array([0.25  , 1.5625])
    """
    program = read(f)
    signature = Signature.of(program, inputs, outputs, name, owner)
    if states:
        check_roles(signature, states, varying)
    if machine.llvm() is None:
        from eslabon.compiler import interpreted

        interpreted.warn()
        code = interpreted.Evaluator(f, signature, states, varying)
        return RepeatedStep(signature, code) if states else Function.of(signature, code)
    # Shapes belong to the code as the graph does; bounds, names and groups are data.
    identity = repr(
        (program.digest, signature.input_shapes, signature.output_shapes, bool(states), quick)
    )
    facts = {"identity": identity, "signature": signature.to_dict(), "repeated": [states, varying]}
    kept = store.entry(
        key or identity, facts, lambda: _assembled(program, bool(states), quick), cache
    )
    return _function(kept)


def load(key: str) -> Function | RepeatedStep | None:
    """What `compile` made under this key, by this version and for this processor; None if there is nothing.

    Neither CasADi nor the graph is needed.
    """
    kept = store.fetch(key) if machine.llvm() is not None else None
    return None if kept is None else _function(kept)


def _function(kept: store.Entry) -> Function | RepeatedStep:
    signature = Signature.from_dict(kept.facts["signature"])
    code = NativeCode(signature, kept)
    return RepeatedStep(signature, code) if code.states else Function.of(signature, code)


def _assembled(program: Program, repeated: bool, quick: bool) -> tuple[dict[str, Any], bytes]:
    """The sizes of the kernels' scratch arrays, and their machine code."""
    from eslabon.compiler.llvm.assembly import assembled_batch, assembled_single
    from eslabon.compiler.llvm.emit import has_loops

    batch = assembled_batch(program, quick)
    if repeated or not has_loops(program):
        return {"scratch": [batch.scratch_size, None]}, batch.code
    alone = assembled_single(program, quick)
    return {"scratch": [batch.scratch_size, alone.scratch_size]}, batch.code + alone.code


class NativeCode:
    """The kernels of a function in memory, as `Function` and `RepeatedStep` use them."""

    def __init__(self, signature: Signature, kept: store.Entry) -> None:
        self._signature, self._kept = signature, kept
        self.states, self.varying = kept.facts["repeated"]
        self._cores = [*signature.input_shapes, *signature.output_shapes]

    @cached_property
    def _kernels(self) -> Any:
        from eslabon.compiler.llvm import cpython

        cpython.here()  # whose elementary functions the kernels call
        scratch, alone = self._kept.facts["scratch"]
        return cpython.Kernels(
            machine.Loaded(self._kept.code), scratch, alone, self.states, self.varying
        )

    @cached_property
    def _descriptor(self) -> Any:
        from eslabon.compiler.llvm.cpython import described

        return described(self._signature, self._kernels, {})

    def run(self, arrays: Sequence[Floats], results: Sequence[Floats]) -> None:
        """All states of a batch."""
        from eslabon.compiler.llvm.cpython import run_batch

        run_batch(self._descriptor, [*arrays, *results], self._cores)

    def repeat(
        self, arrays: Sequence[Floats], results: Sequence[Floats], rows: int, every: int
    ) -> None:
        """All steps of a batch, and a row of results after every so many of them."""
        from eslabon.compiler.llvm.cpython import run_steps

        with_rows = [self.states <= k < self.states + self.varying for k in range(len(arrays))]
        run_steps(
            self._descriptor,
            [*arrays, *results],
            self._cores,
            with_rows + [True] * len(results),
            rows,
            every,
        )

    def quick(self, call: GeneralCall, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """A builtin function that takes plain calls by itself, where the insides of CPython are as we know them."""
        from eslabon.compiler.llvm import cpython

        if not cpython.layout_is_known():
            return otherwise
        descriptor = cpython.described(call.signature, self._kernels, call.bound, otherwise)
        return cpython.builtin(call.signature, descriptor, call.signature.described())
