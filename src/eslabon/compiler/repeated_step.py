"""A step repeated in machine code: what a graph makes of a state becomes the state of the next
call.

    run = native.compile(step, states=1, varying=1)     # step: x, u, p -> x' as a casadi.Function
    x = run(x0, u, p, every=10)                         # u has a row for each step; every tenth state: (..., steps / 10, n)

A block of states stays packed and in the nearest cache from the first step to the last: no number
of it is seen by Python or NumPy but the rows that are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, count, floats
from eslabon.compiler.formula import Argument
from eslabon.compiler.function import Signature, check, in_threads
from eslabon.compiler.program import GraphError
from eslabon.errors import InputError


class StepCode(Protocol):
    """What computes the steps."""

    states: int
    varying: int

    def repeat(
        self, arrays: Sequence[Floats], results: Sequence[Floats], rows: int, every: int
    ) -> None: ...


def check_roles(signature: Signature, states: int, varying: int) -> None:
    """Refuse a step that cannot follow itself."""
    name, inputs, outputs = signature.name, signature.input_shapes, signature.output_shapes
    if not 0 < states <= min(len(outputs), len(inputs) - varying):
        raise GraphError(
            f"{name} has {len(inputs)} inputs and {len(outputs)} outputs, which does not "
            f"leave room for {states} states and {varying} inputs that vary."
        )
    if inputs[:states] != outputs[:states]:
        raise GraphError(
            f"the states of {name} go in as {inputs[:states]} and come out as {outputs[:states]}; they must have the "
            "same shapes."
        )
    if any(0 in s for s in (*inputs, *outputs)):
        raise GraphError(f"{name} has an argument without numbers; leave it out.")
    if signature.bounds:
        raise GraphError(
            f"an output of {name} has a bound, which a step that is repeated cannot keep."
        )


class RepeatedStep:
    """A compiled step: `run(*inputs, every=1, steps=None, out=None, threads=None)`.

    Leading axes broadcast. A varying input is (..., steps, *shape); `steps` is needed only where
    there is none. The outputs are those after each `every`-th step, (..., steps / every, *shape).
    Big batches are shared among threads, and the GIL is dropped; where a batch is cut, and what its
    other lanes do, changes no bit of a trajectory.
    """

    def __init__(self, signature: Signature, code: StepCode) -> None:
        self.signature, self._code, self.__name__ = signature, code, signature.name
        self._with_rows = range(code.states, code.states + code.varying)

    def __repr__(self) -> str:
        names = ", ".join(a.name for a in self.signature.inputs)
        return f"<native step {self.signature.name}({names}), {self.signature.size}>"

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
            raise InputError(
                f"{self.signature.name} takes {len(arguments)} arguments ({names}), not {len(values)}."
            )
        arrays = [floats(v, a.name) for v, a in zip(values, arguments, strict=True)]
        arrays = [a if a.flags.aligned else a.copy() for a in arrays]
        total = self._steps(arrays, steps)
        if every < 1 or total % every:
            raise InputError(
                f"{total} steps cannot be reported every {every}; the one must be a multiple of the other."
            )
        run, rows = self._run(total, total // every), total // every
        outs = (
            (None,) * len(run.outputs) if out is None else out if isinstance(out, tuple) else (out,)
        )
        batch = check(run, arrays, outs)
        results = [
            np.empty(batch + s)
            if o is None or any(np.may_share_memory(o, a) for a in arrays)
            else o
            for o, s in zip(outs, run.output_shapes, strict=True)
        ]
        self._computed(
            run,
            arrays,
            results,
            rows,
            every,
            None if threads is None else count(threads, "threads", 1),
        )
        for result, given in zip(results, outs, strict=True):
            if given is not None and given is not result:
                given[...] = result
        found = [r if o is None else o for r, o in zip(results, outs, strict=True)]
        return found[0] if len(found) == 1 else tuple(found)

    def bind(self, values: Any) -> BoundStep:
        """The same step with the values of some parameters put in, the last of its inputs."""
        return BoundStep(self, tuple(values.values()))

    def _computed(
        self,
        run: Signature,
        arrays: list[Floats],
        results: list[Floats],
        rows: int,
        every: int,
        threads: int | None,
    ) -> None:
        batch = results[0].shape[: results[0].ndim - len(run.output_shapes[0])]
        inputs = [
            np.broadcast_to(a, batch + s) for a, s in zip(arrays, run.input_shapes, strict=True)
        ]
        if 0 in batch or not rows:
            return
        in_threads(
            partial(self._code.repeat, rows=rows, every=every),
            inputs,
            results,
            batch,
            run.expected_operations,
            threads,
        )

    def _steps(self, arrays: Sequence[Floats], steps: int | None) -> int:
        """How many rows there are, which all inputs that vary must agree on."""
        counts = set() if steps is None else {steps}
        for k in self._with_rows:
            array, shape = arrays[k], self.signature.input_shapes[k]
            if array.ndim <= len(shape):
                expected = ", ".join(["...", "steps", *map(str, shape)])
                raise InputError(
                    f"{self.signature.inputs[k].name} has shape {array.shape}; ({expected}) is expected."
                )
            counts.add(array.shape[-1 - len(shape)])
        if len(counts) != 1:
            found = ", ".join(map(str, sorted(counts))) or "not given"
            raise InputError(
                f"the number of steps of {self.signature.name} is {found}; one number is expected."
            )
        return counts.pop()

    def _run(self, steps: int, rows: int) -> Signature:
        """The signature of a run of so many steps and rows."""

        def longer(a: Argument, count: int) -> Argument:
            return replace(a, shape=(count, *(a.shape or ())))

        inputs = [
            longer(a, steps) if k in self._with_rows else a
            for k, a in enumerate(self.signature.inputs)
        ]
        outputs = [longer(a, rows) for a in self.signature.outputs]
        return replace(
            self.signature,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            operations=self.signature.operations * steps,
            expected_operations=self.signature.expected_operations * steps,
        )


class BoundStep:
    """A step with the values of its last inputs put in."""

    def __init__(self, step: RepeatedStep, values: tuple[float, ...]) -> None:
        self._step, self._values, self.signature = step, values, step.signature

    def __call__(self, *values: ArrayLike, **words: Any) -> Floats | tuple[Floats, ...]:
        return self._step(*values, *self._values, **words)
