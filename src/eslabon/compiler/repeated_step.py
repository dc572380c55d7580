"""A step repeated in machine code: what a graph makes of a state becomes the state of the next call.

    run = native.iterate(step)                   # step: x, u, p -> x' as a casadi.Function
    x = run(x0, u, p, every=10)                  # u has a row for each step; every tenth state: (..., steps / 10, n)

The kernel is that of `compile`. Around it runs one more ufunc, whose loop over steps keeps a block of states packed and
in the nearest cache from first to last: no number of it is seen by Python or NumPy but the rows that are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.compiler import store as _disk
from eslabon.compiler.function import Batched
from eslabon.compiler.llvm import loops, machine
from eslabon.compiler.llvm.ir import Body, vector_type
from eslabon.compiler.program import GraphError, Program, Shape
from eslabon.compiler.signature import Argument, Floats, InputError, Signature, as_floats, check

if TYPE_CHECKING:
    from eslabon.compiler.llvm.emit import Kernel


@dataclass(frozen=True)
class Roles:
    """A step's arguments in their order: `states` inputs that are fed back from the outputs of the same place, then
    `varying` ones with a row for each step, then those that stay."""

    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    states: int
    varying: int

    @property
    def rows_of(self) -> range:
        """The inputs that have rows."""
        return range(self.states, self.states + self.varying)

    @property
    def cores(self) -> list[list[str]]:
        """Dimensions as NumPy spells them: s steps in, the number of steps between rows as a last input, r rows out."""
        inputs = [["s", *map(str, s)] if k in self.rows_of else [*map(str, s)] for k, s in enumerate(self.inputs)]
        return [*inputs, [], *(["r", *map(str, s)] for s in self.outputs)]

    def check(self, name: str) -> None:
        """Refuse a step that cannot follow itself."""
        if not 0 < self.states <= min(len(self.outputs), len(self.inputs) - self.varying):
            raise GraphError(f"{name} has {len(self.inputs)} inputs and {len(self.outputs)} outputs, which does not "
                f"leave room for {self.states} states and {self.varying} inputs that vary.")  # fmt: skip
        if self.inputs[: self.states] != self.outputs[: self.states]:
            raise GraphError(f"the states of {name} go in as {self.inputs[: self.states]} and come out as "
                f"{self.outputs[: self.states]}; they must have the same shapes.")  # fmt: skip
        if any(0 in s for s in (*self.inputs, *self.outputs)):
            raise GraphError(f"{name} has an argument without numbers; leave it out.")


def iterate(
    step: Any,
    *,
    states: int = 1,
    varying: int | None = None,
    inputs: Sequence[Argument] | None = None,
    outputs: Sequence[Argument] | None = None,
    name: str = "",
    owner: str = "",
    key: str | None = None,
    cache: bool = True,
) -> Iteration:
    """A `casadi.Function` of SX, or a `Composed`, called again and again in native code.

    Parameters
    ----------
    step : the function. Its first `states` outputs are the first `states` inputs of the next step; further outputs
        are reported with them.
    states, varying : how many inputs are fed back, and how many of those after them have a row for each step (one if
        there is one, unless told otherwise); the others stay the same.
    inputs, outputs, name, owner, key, cache : as in `compile`; `load_iteration` finds a key again.

    >>> import casadi
    >>> x, u, p = (casadi.SX.sym(s) for s in "xup")
    >>> run = iterate(casadi.Function("decay", [x, u, p], [p * x + u]))
    >>> run([1.0], [[0.0], [0.0], [3.0], [0.0]], [0.5], every=2)[..., 0]
    array([0.25  , 1.5625])
    """
    from eslabon.compiler.linking import linked

    program = linked(step)
    signature = Signature.of(program, inputs, outputs, name, owner)
    varying = min(1, len(signature.inputs) - states) if varying is None else varying
    roles = Roles(signature.input_shapes, signature.output_shapes, states, varying)
    roles.check(signature.name)
    if any(a.bound for a in signature.outputs):
        raise GraphError(f"an output of {signature.name} has a bound, which a step that is repeated cannot keep.")
    if machine.llvm() is None:
        from eslabon.compiler import interpreted

        interpreted.warn()
        return Iteration(signature, roles, _stepwise(interpreted.callable_of(signature, step), roles), parallel=False)
    identity = repr(("iterate", program.digest, roles))
    facts = {"identity": identity, "signature": signature.to_dict(), "roles": [states, varying]}
    return _loaded(facts, _disk.code(key or identity, facts, lambda: _assembled(program, roles), cache))


def load_iteration(key: str) -> Iteration | None:
    """What `iterate` made under this key, by this version and for this processor; None if there is nothing."""
    kept = _disk.fetch(key) if machine.llvm() is not None else None
    return None if kept is None else _loaded(kept.facts, kept.code)


def _loaded(facts: dict[str, Any], code: bytes) -> Iteration:
    from eslabon.compiler.llvm import cpython as entry

    signature = Signature.from_dict(facts["signature"])
    roles = Roles(signature.input_shapes, signature.output_shapes, *facts["roles"])
    loaded = machine.Loaded(code)
    made, kept = entry.ufunc(signature.name, roles.cores, len(roles.outputs), loaded.function("iterate"))
    return Iteration(signature, roles, made, parallel=True, keep=[loaded, kept])


class Iteration:
    """A compiled iteration: `run(*inputs, every=1, steps=None, out=None, threads=None)`.

    Leading axes broadcast. A varying input is (..., steps, *shape); `steps` is needed only where there is none. The
    outputs are those after each `every`-th step, (..., steps / every, *shape). Big batches are shared among threads,
    and the GIL is dropped; where a batch is cut, and what its other lanes do, changes no bit of a trajectory.
    """

    def __init__(
        self, signature: Signature, roles: Roles, evaluate: Callable[..., Any], *, parallel: bool, keep: Any = None
    ) -> None:
        self.signature, self.roles, self.__name__ = signature, roles, signature.name
        self._evaluate, self._parallel, self._keep = evaluate, parallel, keep

    def __repr__(self) -> str:
        names = ", ".join(a.name for a in self.signature.inputs)
        return f"<native iteration {self.signature.name}({names}), {self.signature.operations} operations a step>"

    def __call__(
        self,
        *values: ArrayLike,
        every: int = 1,
        steps: int | None = None,
        out: Floats | tuple[Floats, ...] | None = None,
        threads: int | None = None,
    ) -> Floats | tuple[Floats, ...]:
        arguments = self.signature.inputs
        if len(values) != len(arguments):
            names = ", ".join(a.name for a in arguments)
            raise InputError(f"{self.signature.name} takes {len(arguments)} arguments ({names}), not {len(values)}.")
        arrays = [as_floats(v, a.name) for v, a in zip(values, arguments, strict=True)]
        total = self._steps(arrays, steps)
        if every < 1 or total % every:
            raise InputError(
                f"{total} steps cannot be reported every {every}; the one must be a multiple of the other."
            )
        signature, arrays = self._for(total, total // every), [*arrays, np.asarray(float(every))]
        check(signature, arrays, () if out is None else out if isinstance(out, tuple) else (out,))
        leading = [a.shape[: a.ndim - len(s)] for a, s in zip(arrays, signature.input_shapes, strict=True)]
        batch = np.broadcast_shapes(*leading)
        places = tuple(np.empty(batch + s) for s in signature.output_shapes) if out is None else out
        run = Batched(signature, self._evaluate, parallel=self._parallel)
        run._empty = False  # the axes of steps and rows have names, and NumPy takes those of any length
        return run(*arrays, out=places, threads=threads)

    def _steps(self, arrays: Sequence[Floats], steps: int | None) -> int:
        """How many rows there are, which all inputs that vary must agree on."""
        counts = set() if steps is None else {steps}
        for k in self.roles.rows_of:
            array, shape = arrays[k], self.roles.inputs[k]
            if array.ndim <= len(shape):
                expected = ", ".join(["...", "steps", *map(str, shape)])
                raise InputError(f"{self.signature.inputs[k].name} has shape {array.shape}; ({expected}) is expected.")
            counts.add(array.shape[-1 - len(shape)])
        if len(counts) != 1:
            found = ", ".join(map(str, sorted(counts))) or "not given"
            raise InputError(f"the number of steps of {self.signature.name} is {found}; one number is expected.")
        return counts.pop()

    def _for(self, steps: int, rows: int) -> Signature:
        """The signature of a run of so many steps and rows."""

        def longer(a: Argument, count: int) -> Argument:
            return replace(a, shape=(count, *(a.shape or ())))

        inputs = [longer(a, steps) if k in self.roles.rows_of else a for k, a in enumerate(self.signature.inputs)]
        outputs = [longer(a, rows) for a in self.signature.outputs]
        operations = self.signature.operations * steps
        return replace(
            self.signature, inputs=(*inputs, Argument("every", ())), outputs=tuple(outputs), operations=operations
        )


def _stepwise(step: Callable[..., Any], roles: Roles) -> Callable[..., Any]:
    """The same loop in Python, where there is no LLVM."""

    def run(*arrays: Floats, out: tuple[Floats, ...]) -> tuple[Floats, ...]:
        *inputs, every = arrays
        for row in range(out[0].shape[-1 - len(roles.outputs[0])]):
            for number in range(row * int(every), (row + 1) * int(every)):
                now = list(inputs)
                for k in roles.rows_of:
                    now[k] = _row(inputs[k], number, roles.inputs[k])
                made = step(*now)
                made = made if isinstance(made, tuple) else (made,)
                inputs[: roles.states] = made[: roles.states]
            for place, value, shape in zip(out, made, roles.outputs, strict=True):
                _row(place, row, shape)[...] = value
        return out

    return run


def _row(array: Floats, number: int, shape: Shape) -> Floats:
    """A row of a varying input or an output, as a view."""
    return np.moveaxis(array, array.ndim - 1 - len(shape), 0)[number]


# The loop ------------------------------------------------------------------------------------------------------------


def _assembled(program: Program, roles: Roles) -> bytes:
    """The object code of the kernel and the loop around it."""
    from eslabon.compiler.llvm import packing
    from eslabon.compiler.llvm.emit import kernel

    here = machine.host()
    code = kernel(program, here.width, here.fused)
    around = packing.definitions(here.width) + loops.DECLARED + _loop(code, roles, here.width)
    return machine.assemble(code.text + around, program.length)


def _loop(kernel: Kernel, roles: Roles, width: int) -> str:
    """@iterate: for each block of states all its steps, and a row of outputs after every so many of them."""
    b, V = Body(width), vector_type(width)
    starts = [*kernel.layout.inputs, *kernel.layout.outputs]
    sizes = list(dict.fromkeys(name for core in roles.cores for name in core))  # as NumPy passes them: on first sight
    rows = b.let(f"load i64, ptr {b.offset('%dims', 1 + sizes.index('r'), 'i64')}")
    with loops.workspace(b, kernel) as (source, scratch, target):
        moved = loops.operands(b, [tuple(0 if n in ("s", "r") else int(n) for n in core) for core in roles.cores])
        between = moved.pop(len(roles.inputs))
        every = b.let(f"fptosi double {b.let(f'load double, ptr {between.array}')} to i64")
        with loops.blocks(b) as (first, lanes):

            def move(function: str, k: int, packed: str, row: str | None = None) -> None:
                x, place = moved[k], b.offset(packed, starts[k], V)
                at, shape, strides = x.of(b, first), x.shape, x.strides
                if row is not None:
                    at, shape, strides = b.offset(at, b.let(f"mul i64 {row}, {strides[0]}")), shape[1:], strides[1:]
                loops.move_runs(b, function, place, at, x.step, shape, strides, lanes)

            for k in (k for k in range(len(roles.inputs)) if k not in roles.rows_of):
                move("pack", k, source)
            with b.loop(rows) as row:
                before = b.let(f"mul i64 {row}, {every}")
                with b.loop(every) as step:
                    number = b.let(f"add i64 {before}, {step}")
                    for k in roles.rows_of:
                        move("pack", k, source, number)
                    b.do(f"call void @kernel(ptr {source}, ptr {scratch}, ptr {target})")
                    carried = 8 * width * sum(math.prod(s) for s in roles.inputs[: roles.states])
                    b.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {source}, ptr {target}, i64 {carried}, i1 false)")
                for k in range(len(roles.inputs), len(moved)):
                    move("unpack", k, target, row)
    b.do("ret void")
    return b.function("void @iterate(ptr %args, ptr %dims, ptr %steps, ptr %data) nounwind")
