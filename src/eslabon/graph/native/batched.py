"""The general call: any real arrays, broadcast over leading axes, several outputs, `out=`, `threads=`.

`evaluate` does the arithmetic and behaves like a NumPy generalised ufunc; it is the compiled loop or, where there is
no LLVM, CasADi's evaluator. Here is what is common to both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from eslabon.graph.native import threads as pools
from eslabon.graph.native.arguments import Floats, InputError, Signature, as_floats, check
from eslabon.graph.program import Shape

_FLOAT64 = np.dtype(np.float64)
_SMALL = 64  # numbers, below which nobody asks how many threads there are
Results = Floats | tuple[Floats, ...]


class Batched:
    """A function of arrays, with its signature; `keep` holds what must live as long as it does."""

    def __init__(
        self, signature: Signature, evaluate: Callable[..., Results], *, parallel: bool, keep: Any = None
    ) -> None:
        self.signature, self.__name__ = signature, signature.name
        self._evaluate, self._parallel, self._keep = evaluate, parallel, keep
        self._inputs, self._outputs = signature.input_shapes, signature.output_shapes
        self._empty = any(0 in s for s in (*self._inputs, *self._outputs))

    @property
    def __self__(self) -> Batched:
        """So that a signature is found in the same way whether there is a quicker way in or not."""
        return self

    def __repr__(self) -> str:
        names = ", ".join(a.name for a in self.signature.inputs)
        return f"<native {self.signature.name}({names}), {self.signature.operations} operations>"

    def __call__(self, *values: Any, out: Any = None, threads: int | None = None) -> Results:
        arrays = self._arrays(values)
        outs = self._given(out)
        try:
            # Lanes compute both branches of a choice, so that flags of the processor mean nothing here.
            with np.errstate(all="ignore"):
                results = self._run(arrays, outs, threads)
        except (ValueError, TypeError):
            check(self.signature, arrays, outs)
            raise
        return results[0] if len(results) == 1 else tuple(results)

    def _arrays(self, values: Sequence[Any]) -> list[Floats]:
        arguments = self.signature.inputs
        if len(values) != len(arguments):
            names = ", ".join(a.name for a in arguments)
            raise InputError(f"{self.signature.name} takes {len(arguments)} arguments ({names}), not {len(values)}.")
        return [
            v if type(v) is np.ndarray and v.dtype is _FLOAT64 else as_floats(v, a.name)
            for v, a in zip(values, arguments, strict=True)
        ]

    def _given(self, out: Any) -> list[Floats | None]:
        """`out` as a list with one place for each output."""
        count = len(self._outputs)
        if out is None:
            return [None] * count
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(outs) != count or not all(o is None or isinstance(o, np.ndarray) for o in outs):
            raise InputError(f"out must be {'an array' if count == 1 else f'a tuple of {count} arrays'}.")
        return outs

    def _run(self, arrays: list[Floats], outs: list[Floats | None], threads: int | None) -> Sequence[Floats]:
        if threads is not None and threads < 1:
            raise InputError(f"threads is {threads}; at least 1 is needed.")
        if self._empty:
            return self._around_empty(arrays, outs)
        if not self._parallel or threads == 1 or max(a.size for a in arrays) < _SMALL:
            return self._once(arrays, outs)
        batch = _batch_shape(arrays, self._inputs, outs, self._outputs)
        states = math.prod(batch)
        count = min(states, threads or pools.suitable(states, self.signature.operations))
        if count < 2 or any(o is not None and np.may_share_memory(o, a) for o in outs for a in arrays):
            return self._once(arrays, outs)  # NumPy sees to overlapping memory, within one call
        return self._in_threads(arrays, outs, batch, count)

    def _once(self, arrays: Sequence[Floats], outs: Sequence[Floats | None]) -> Sequence[Floats]:
        results = self._evaluate(*arrays, out=tuple(outs))
        return results if isinstance(results, tuple) else (results,)

    def _in_threads(
        self, arrays: list[Floats], outs: list[Floats | None], batch: Shape, count: int
    ) -> Sequence[Floats]:
        """Cut the longest batch axis; each lane is computed alone, so that where the cuts are changes nothing."""
        inputs = [np.broadcast_to(a, batch + s) for a, s in zip(arrays, self._inputs, strict=True)]
        results = [np.empty(batch + s) if o is None else o for o, s in zip(outs, self._outputs, strict=True)]
        axis = max(range(len(batch)), key=batch.__getitem__)

        def part(cut: slice) -> None:
            where = (slice(None),) * axis + (cut,)
            with np.errstate(all="ignore"):  # errstate belongs to a thread
                self._evaluate(*(a[where] for a in inputs), out=tuple(r[where] for r in results))

        list(pools.pool().map(part, cuts(batch[axis], count)))
        return results

    def _around_empty(self, arrays: list[Floats], outs: list[Floats | None]) -> Sequence[Floats]:
        """The ufunc refuses axes of length zero: it sees a number in place of an empty argument."""
        check(self.signature, arrays, outs)
        batch = _batch_shape(arrays, self._inputs, outs, self._outputs)
        pairs = zip(arrays, self._inputs, strict=True)
        inputs = [np.zeros(a.shape[: a.ndim - len(s)]) if 0 in s else a for a, s in pairs]
        places = [None if 0 in s else o for o, s in zip(outs, self._outputs, strict=True)]
        computed = self._once(inputs, places)
        final = (o if o is not None else np.empty(batch + s) for o, s in zip(outs, self._outputs, strict=True))
        return [f if 0 in s else c for f, c, s in zip(final, computed, self._outputs, strict=True)]


def _batch_shape(
    arrays: Sequence[Floats], cores: Sequence[Shape], outs: Sequence[Floats | None], out_cores: Sequence[Shape]
) -> Shape:
    leading = {a.shape[: a.ndim - len(s)] for a, s in zip(arrays, cores, strict=True)}
    leading |= {o.shape[: o.ndim - len(s)] for o, s in zip(outs, out_cores, strict=True) if o is not None}
    return leading.pop() if len(leading) == 1 else np.broadcast_shapes(*leading)


def cuts(length: int, count: int) -> Iterator[slice]:
    """Slices of about equal length that hold whole blocks of states."""
    size = -(-length // count)
    size = -(-size // 8) * 8
    for first in range(0, length, size):
        yield slice(first, min(first + size, length))
