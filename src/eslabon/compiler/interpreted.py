"""Where there is no LLVM: CasADi's own evaluator behind the same call. Right, but slower by far."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eslabon.compiler.calls import Composed
from eslabon.compiler.function import Batched
from eslabon.compiler.program import Shape
from eslabon.compiler.signature import Floats, Signature
from eslabon.compiler.store import warn_once


def warn() -> None:
    """Say once that this is what computes."""
    warn_once("native code needs llvmlite on a 64-bit machine; CasADi evaluates instead, much slower.")


def callable_of(signature: Signature, f: Any) -> Batched:
    """The function evaluated by CasADi, its calls inlined."""
    plain = f.inlined() if isinstance(f, Composed) else f
    return Batched(signature, _Evaluator(signature, plain), lambda other: callable_of(other, plain), parallel=False)


class _Evaluator:
    """Behaves like the ufunc that native code would have."""

    def __init__(self, signature: Signature, f: Any) -> None:
        self._f = f
        # An empty argument looks like a number, as it does to the ufunc.
        self._inputs = [() if 0 in s else s for s in signature.input_shapes]
        self._outputs = [() if 0 in s else s for s in signature.output_shapes]

    def __call__(self, *arrays: Floats, out: tuple[Floats | None, ...]) -> tuple[Floats, ...]:
        leading = [_leading(a, s) for a, s in zip(arrays, self._inputs, strict=True)]
        leading += [_leading(o, s) for o, s in zip(out, self._outputs, strict=True) if o is not None]
        batch = np.broadcast_shapes(*leading)
        results = [np.empty(batch + s) for s in self._outputs]
        count = math.prod(batch)
        if count:
            full = [np.broadcast_to(a, batch + s) for a, s in zip(arrays, self._inputs, strict=True)]
            columns = [self._columns(k, a) for k, a in enumerate(full)]
            for k, answer in enumerate(self._f.call(columns)):
                if self._f.numel_out(k):
                    rows, width = self._f.size_out(k)
                    stacked = np.asarray(answer.full()).reshape(rows, -1, width).swapaxes(0, 1)
                    alike = len(stacked) < count  # evaluated once, since no input has a number
                    results[k][...] = stacked.reshape(self._outputs[k] if alike else batch + self._outputs[k])
        for result, given in zip(results, out, strict=True):
            if given is not None:
                given[...] = result
        # As NumPy's own functions do: a number for an array without axes.
        return tuple(r[()] if o is None else o for r, o in zip(results, out, strict=True))

    def _columns(self, k: int, array: Floats) -> Any:
        """All states of an input side by side, which makes CasADi evaluate once for each."""
        import casadi

        rows, width = self._f.size_in(k)
        if rows * width == 0:
            return casadi.DM(rows, width)
        matrices = array.reshape(-1, rows, width)
        return casadi.DM(matrices.swapaxes(0, 1).reshape(rows, -1))


def _leading(array: Floats, core: Shape) -> Shape:
    if array.shape[array.ndim - len(core) :] != core:
        raise ValueError(f"shape {array.shape} does not end in {core}")
    return array.shape[: array.ndim - len(core)]
