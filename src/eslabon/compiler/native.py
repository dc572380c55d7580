"""Machine code for a graph, called with NumPy arrays.

    f = native.compile(casadi_function)          # or native.load(key), if it was compiled before under that key
    tau = f(q, v, a)                             # (n,) or (..., n): leading axes broadcast; out=, threads=
    run = native.compile(step, states=1)         # the loop over steps in machine code too
    x = run(x0, u)                               # (..., n), a row of u for each step: (..., steps, n)

`llvm.emit` turns the program into kernels, `llvm.machine` makes object code of them, `store` keeps
it on disk, and the runtime that all functions share (`llvm.runtime`) calls them. `interpreted`
stands in where there is no LLVM.

A long function, or one with loops, has two kernels, one for a block of states and one for a state
alone, which give the same bits. Each is made when a call first needs it, since most processes call
a function in one way only. The first few states of batches are left to the kernel for one: the
other may never be needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler import store
from eslabon.compiler.formula import Argument
from eslabon.compiler.function import Function, GeneralCall, Signature
from eslabon.compiler.garbage import held_collector
from eslabon.compiler.llvm import machine
from eslabon.compiler.program import Program, read
from eslabon.compiler.repeated_step import RepeatedStep, check_roles
from eslabon.compiler.store import NativeWarning
from eslabon.errors import InputError
from eslabon.progress import announce

FEW = 64  # states of batches that the kernel for one state takes before one for blocks is made
_MAKING = Lock()
# Axes of one state's worth of what is given by name.
NAMED_AXES = {"external": 1, "parameters": 0, "t": 0}

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
    again: Callable[[], Any] | None = None,
) -> Function | RepeatedStep:
    """A `casadi.Function` as a native function of NumPy arrays.

    Parameters
    ----------
    f : the function; what it calls (`compiler.calls`) becomes code once.
    inputs, outputs : what its arguments are called, what shape one state's worth has, and what to
        call the numbers in an error; as CasADi has them if left out. An output with a bound is
        compared with it and not returned.
    name, owner : for messages: "q has 5 values in its last axis; puma560 has 6 coordinates".
    key : under which `load` finds the code again without the graph. It must determine the graph.
    cache : whether to look for the code on disk, and to keep it there.
    states, varying : of a step that is repeated in native code: how many inputs are fed back from
        the outputs of the same place, and how many of those after them have a row for each step;
        the others stay the same.
    quick : whether to compile in a third of the time code that runs a twentieth to a sixth slower.
    again : gives the same `casadi.Function` in a process that loads the code. With it a kernel may
        be made later, when it is needed; without it all kernels are made now.

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
    facts = {
        "identity": identity,
        "signature": signature.to_dict(),
        "repeated": [states, varying],
        "quick": quick,
    }
    kept = store.entry(
        key or identity, facts, lambda: _assembled(program, bool(states), quick), cache
    )
    late = LateKernels(signature.of_owner, key or identity, identity, quick, lambda: program, cache)
    if again is None and kept.facts["scratch"] is None:
        late.make_all()
    return _function(Signature.from_dict(kept.facts["signature"]), kept, late)


def load(key: str, again: Callable[[], Any] | None = None) -> Function | RepeatedStep | None:
    """What `compile` made under this key, by this version and for this processor; None if there is
    nothing, or less than is needed without `again`.

    Neither CasADi nor the graph is needed, unless a kernel is to be made that nobody has needed
    before.
    """
    kept = store.fetch(key) if machine.llvm() is not None else None
    if kept is None:
        return None
    signature = Signature.from_dict(kept.facts["signature"])
    program = None if again is None else lambda: read(again())
    late = LateKernels(
        signature.of_owner, key, kept.facts["identity"], kept.facts["quick"], program
    )
    if kept.facts["scratch"] is None and again is None and not late.are_all_there():
        return None
    return _function(signature, kept, late)


def _function(
    signature: Signature, kept: store.Entry, late: LateKernels
) -> Function | RepeatedStep:
    code = NativeCode(signature, kept, late)
    return RepeatedStep(signature, code) if code.states else Function.of(signature, code)


def _assembled(program: Program, repeated: bool, quick: bool) -> tuple[dict[str, Any], bytes]:
    """What is known of the kernel, and its machine code; nothing yet where there are two
    kernels."""
    from eslabon.compiler.llvm.emit import single_kernel_pays
    from eslabon.compiler.llvm.kernel_assembly import assembled_batch

    if single_kernel_pays(program) and not repeated:
        return {"scratch": None}, b""
    made = assembled_batch(program, quick)
    return made.facts, made.code


@dataclass(frozen=True)
class LateKernels:
    """The two kernels of a function with loops: from disk, or made from its program, which may have
    to be traced again."""

    what: str
    key: str
    identity: str
    quick: bool
    program: Callable[[], Program] | None
    cache: bool = True

    def entry(self, alone: bool) -> store.Entry:
        """The machine code of one kernel, and the size of its scratch array."""
        facts = {"identity": self.identity}
        return store.entry(self._key(alone), facts, lambda: self._assembled(alone), self.cache)

    def make_all(self) -> None:
        for alone in (False, True):
            self.entry(alone)

    def are_all_there(self) -> bool:
        return self.is_there(alone=False) and self.is_there(alone=True)

    def is_there(self, alone: bool) -> bool:
        """Whether the code of a kernel is kept on disk."""
        found = store.fetch(self._key(alone)) if self.cache else None
        return found is not None and found.facts["identity"] == self.identity

    def _key(self, alone: bool) -> str:
        return f"{self.key} {'one' if alone else 'block'}"

    def _assembled(self, alone: bool) -> tuple[dict[str, Any], bytes]:
        from eslabon.compiler.llvm.kernel_assembly import assembled_batch, assembled_single

        assert self.program is not None, "all kernels are there"
        assembled = assembled_single if alone else assembled_batch
        said = announce(f"compiling {self.what}, which is kept for the next time")
        with said, held_collector():
            made = assembled(self.program(), self.quick)
        return made.facts, made.code


class NativeCode:
    """The kernels of a function in memory, as `Function` and `RepeatedStep` use them."""

    def __init__(self, signature: Signature, kept: store.Entry, late: LateKernels) -> None:
        self._signature, self._kept, self._late = signature, kept, late
        self._has_two = kept.facts["scratch"] is None
        self.states, self.varying = kept.facts["repeated"]
        self._cores = [*signature.input_shapes, *signature.output_shapes]
        self._few = FEW

    @cached_property
    def _block(self) -> Any:
        """The kernel for a block of states."""
        from eslabon.compiler.llvm import cpython

        kept = self._late.entry(alone=False) if self._has_two else self._kept
        width = machine.host().width
        code = cpython.kernel_code(kept.code, kept.facts["elementary"], width)
        return cpython.Kernel(code, "kernel", kept.facts["scratch"], width)

    @cached_property
    def _single(self) -> Any:
        """The kernel for one state: that for a block, or its own."""
        from eslabon.compiler.llvm import cpython

        if not self._has_two:
            return self._block
        kept = self._late.entry(alone=True)
        code = cpython.kernel_code(kept.code, kept.facts["elementary"], 1)
        return cpython.Kernel(code, "one.kernel", kept.facts["scratch"], 1)

    @cached_property
    def _descriptor(self) -> Any:
        from eslabon.compiler.llvm.cpython import described

        return described(self._signature, self._block, None, {}, None, (self.states, self.varying))

    def run(self, arrays: Sequence[Floats], results: Sequence[Floats]) -> None:
        """All states of a batch."""
        from eslabon.compiler.llvm.cpython import run_batch, run_one

        batch = arrays[0].shape[: arrays[0].ndim - len(self._cores[0])]
        with _MAKING:  # threads that share a batch make no kernel twice
            alone = self._takes_alone(batch)
            made = self._single if alone else self._descriptor
        if not alone:
            return run_batch(made, [*arrays, *results], self._cores)
        for at in np.ndindex(batch):
            run_one(made, [a[at] for a in arrays], [x[(*at, ...)] for x in results])

    def _takes_alone(self, batch: tuple[int, ...]) -> bool:
        """Whether the kernel for one state takes a batch, state by state."""
        if not batch or not self._has_two or self._has_block:
            return not batch and self._has_two
        self._few -= math.prod(batch)
        return self._few >= 0

    @property
    def _has_block(self) -> bool:
        """Whether the kernel for blocks is in memory, or was on disk when this was first asked."""
        return "_block" in self.__dict__ or self._block_was_kept

    @cached_property
    def _block_was_kept(self) -> bool:
        return self._late.is_there(alone=False)

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
        """A builtin function that takes plain calls by itself, where the insides of CPython are as
        we know them."""
        from eslabon.compiler.llvm import cpython

        if not cpython.layout_is_known():
            return otherwise
        if not self._has_two:
            descriptor = cpython.described(
                call.signature, self._block, self._single, call.bound, otherwise
            )
            return cpython.builtin(call.signature, descriptor, call.signature.described())
        cores = [len(shape) for shape in call.signature.input_shapes]

        def with_kernel(*values: Any, **words: Any) -> Any:
            """The call once more with the kernel that it needs, if it was not there."""
            alone = _is_one_state(values, cores, words)
            if alone is None or descriptor[place := cpython.KERNEL_PLACES[alone]]:
                return otherwise(*values, **words)
            if not (alone or self._has_block):
                return otherwise(*values, **words)  # whose states are counted
            cpython.provide(descriptor, place, self._single if alone else self._block)
            return way_in(*values, **words)

        descriptor = cpython.described(call.signature, None, None, call.bound, with_kernel)
        way_in = cpython.builtin(call.signature, descriptor, call.signature.described())
        return way_in


def _is_one_state(
    values: Sequence[Any], cores: Sequence[int], words: Mapping[str, Any]
) -> bool | None:
    """Whether arguments are those of one state, as far as it can be told at a glance; None if they
    are not numbers."""
    if len(values) > len(cores):
        return None
    given = [*zip(values, cores, strict=False)]
    for group, own in NAMED_AXES.items():
        named = words.get(group)
        parts = named.values() if isinstance(named, Mapping) else [named]
        given += [(x, own) for x in parts if x is not None]
    axes = [(_axes(x), own) for x, own in given]
    if any(count is None for count, _ in axes):
        return None
    return all(count <= own for count, own in axes if count is not None)


def _axes(x: Any) -> int | None:
    if isinstance(x, np.ndarray):
        return x.ndim
    if isinstance(x, int | float):
        return 0
    if isinstance(x, list | tuple):
        inner = _axes(x[0]) if x else 0
        return None if inner is None else 1 + inner
    return None
