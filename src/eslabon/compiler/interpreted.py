"""Where there is no LLVM: CasADi's own evaluator behind the same call. Right, but slower by far."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.calls import inlined
from eslabon.compiler.function import GeneralCall, Signature
from eslabon.compiler.store import warn_once
from eslabon.compiler.until import Until
from eslabon.numerics.scalars import casadi


def warn() -> None:
    """Say once that this is what computes."""
    warn_once(
        "native code needs llvmlite on a 64-bit machine; CasADi evaluates instead, much slower."
    )


class Evaluator:
    """A function evaluated by CasADi, its calls inlined, as `Function` and `RepeatedStep` use
    it."""

    def __init__(self, f: Any, signature: Signature, states: int = 0, varying: int = 0) -> None:
        self._f, self._signature = inlined(f, keep=Until), signature
        self.states, self.varying = states, varying

    def quick(self, call: GeneralCall, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """There is no quicker way in."""
        return otherwise

    def run(self, arrays: Sequence[Floats], results: Sequence[Floats]) -> None:
        """All states of a batch side by side, which makes CasADi evaluate once for each."""
        core = self._signature.output_shapes
        batch = results[0].shape[: results[0].ndim - len(core[0])]
        states = math.prod(batch)
        columns = [self._columns(k, a, states) for k, a in enumerate(arrays)]
        for k, answer in enumerate(self._f.call(columns)):
            if self._f.numel_out(k):
                rows, width = self._f.size_out(k)
                stacked = np.asarray(answer.full()).reshape(rows, -1, width).swapaxes(0, 1)
                alike = len(stacked) < states  # evaluated once, since no input has a number
                results[k][...] = stacked.reshape(core[k] if alike else batch + core[k])

    def repeat(
        self, arrays: Sequence[Floats], results: Sequence[Floats], rows: int, every: int
    ) -> None:
        """The loop over steps in Python."""
        inputs, shapes = list(arrays), self._signature.input_shapes
        outputs = self._signature.output_shapes
        batch = results[0].shape[: results[0].ndim - 1 - len(outputs[0])]
        for row in range(rows):
            for number in range(row * every, (row + 1) * every):
                now = list(inputs)
                for k in range(self.states, self.states + self.varying):
                    now[k] = _row(inputs[k], number, shapes[k])
                made = [np.empty(batch + s) for s in outputs]
                self.run(now, made)
                inputs[: self.states] = made[: self.states]
            for place, value, shape in zip(results, made, outputs, strict=True):
                _row(place, row, shape)[...] = value

    def _columns(self, k: int, array: Floats, states: int) -> Any:
        """All states of an input side by side."""
        rows, width = self._f.size_in(k)
        if rows * width == 0:
            return casadi.DM(rows, width)
        matrices = array.reshape(states, rows, width)
        return casadi.DM(matrices.swapaxes(0, 1).reshape(rows, -1))


def _row(array: Floats, number: int, shape: tuple[int, ...]) -> Floats:
    """A row of a varying input or an output, as a view."""
    return np.moveaxis(array, array.ndim - 1 - len(shape), 0)[number]
