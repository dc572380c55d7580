"""The general call: any real arrays, broadcast over leading axes, several outputs, `out=`, `threads=`.

`evaluate` does the arithmetic and behaves like a NumPy generalised ufunc; it is the compiled loop or, where there is
no LLVM, CasADi's evaluator. Here is what is common to both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from eslabon.algebra.arrays import has_symbols
from eslabon.arguments import count
from eslabon.compiler import threads as pools
from eslabon.compiler.program import Shape
from eslabon.compiler.signature import COMPARISONS, GROUPS, Floats, InputError, Signature, as_floats, check
from eslabon.errors import EslabonError

_FLOAT64 = np.dtype(np.float64)
_LARGE = 1 << 14
_SMALL = 64  # numbers, below which nobody asks how many threads there are
Results = Floats | tuple[Floats, ...]


class SymbolsError(InputError, TypeError):
    """CasADi's symbols where numbers are expected: a verb of a mechanism gives an expression for them instead."""


class Batched:
    """A function of arrays, with its signature.

    `again` makes the same function of a signature with other limits; `keep` is what must live as long as this does.
    `on_violation(arrays, results)` looks closer where a bound does not hold: it gets all outputs and gives those wanted.
    """

    def __init__(
        self, signature: Signature, evaluate: Callable[..., Results], again: Callable[[Signature], Any] | None = None, *,
        parallel: bool, keep: Any = None,
    ) -> None:  # fmt: skip
        self.signature, self.__name__ = signature, signature.name
        self._evaluate, self._again, self._parallel, self._keep = evaluate, again, parallel, keep
        self._inputs, self._outputs = signature.input_shapes, signature.output_shapes
        self._empty = any(0 in s for s in (*self._inputs, *self._outputs))
        self._bounds = [a.bound for a in signature.outputs]
        self.on_violation: Callable[[list[Floats], list[Floats]], list[Floats]] = self._refuse

    @property
    def __self__(self) -> Batched:
        """So that a signature is found in the same way whether there is a quicker way in or not."""
        return self

    def __repr__(self) -> str:
        names = ", ".join(a.name for a in self.signature.inputs)
        return f"<native {self.signature.name}({names}), {self.signature.operations} operations>"

    def bounded(self, limits: Mapping[str, float]) -> Any:
        """The same function with other limits."""
        assert self._again is not None  # what has limits has a way to other ones
        return self._again(self.signature.bounded(limits))

    def __call__(self, *values: Any, out: Any = None, threads: int | None = None, **named: Any) -> Results:
        arrays, outs = self._arrays([*values, *self._named(len(values), named)]), self._given(out)
        if not self.signature.bounds:
            results = self._run(arrays, outs, threads)
            return results[0] if len(results) == 1 else tuple(results)
        # Nothing is written into an array that is an argument too before the bounds are found to hold. Large ones that are
        # not are written at once: fresh memory of that size can take longer than to compute what goes into it.
        apart = sum(o.size for o in outs if o is not None) > _LARGE and not any(
            o is not None and np.may_share_memory(o, a) for o in outs for a in arrays
        )
        results = self._run(arrays, outs if apart else [None] * len(outs), threads)
        wanted = [k for k, bound in enumerate(self._bounds) if bound is None]
        violated = any(True for _ in self._violated(results))
        found = self.on_violation(arrays, list(results)) if violated else [results[k] for k in wanted]
        if out is not None and not (apart and not violated):
            check(self.signature, arrays, outs)
            found = [_put(x, outs[k]) for x, k in zip(found, wanted, strict=True)]
        return found[0] if len(found) == 1 else tuple(found)

    def unchecked(self, *values: Any) -> Sequence[Floats]:
        """All outputs, those with a bound too, whatever they are."""
        return self._run(self._arrays(values), [None] * len(self._outputs), None)

    def _violated(self, results: Sequence[Floats]) -> Iterator[int]:
        """The outputs that do not keep their bounds."""
        for k, bound in enumerate(self._bounds):
            if bound is not None and not np.all(COMPARISONS[bound[0]](results[k], bound[1])):
                yield k

    def _refuse(self, _: list[Floats], results: list[Floats]) -> NoReturn:
        """What a violated bound comes to where nobody looks closer."""
        k = next(self._violated(results))
        comparison, limit = self._bounds[k] or ("", 0.0)
        values = np.ravel(results[k])
        worst = values[np.argmin(COMPARISONS[comparison](values, limit))]
        of = f" of {self.signature.owner}" if self.signature.owner else ""
        raise EslabonError(f"{self.signature.name}{of} is not valid here: its {self.signature.outputs[k].name} is "
            f"{worst:.3g}, and must be {comparison} {limit:g}.")  # fmt: skip

    def _named(self, count: int, named: Mapping[str, Any]) -> Iterator[Any]:
        """The values of groups in the order of the arguments."""
        for word in named:
            if word not in GROUPS:
                raise TypeError(f"{self.signature.name} got an unexpected keyword '{word}'.")
        given = {group: x for group, x in named.items() if x is not None}
        absent = named and count < len(self._inputs)
        for group, names in self.signature.groups.items() if given or absent else ():
            values = given.get(group, {})
            if not isinstance(values, Mapping) or set(values) != set(names):
                raise TypeError(f"{self.signature.name} takes {names} as {group}.")
            yield from (values[name] for name in names)

    def _arrays(self, values: Sequence[Any]) -> list[Floats]:
        arguments = self.signature.inputs
        if len(values) != len(arguments):
            names = ", ".join(a.name for a in arguments)
            raise InputError(f"{self.signature.name} takes {len(arguments)} arguments ({names}), not {len(values)}.")
        try:
            return [
                v if type(v) is np.ndarray and v.dtype is _FLOAT64 else as_floats(v, a.name)
                for v, a in zip(values, arguments, strict=True)
            ]
        except InputError:
            if has_symbols(*values):
                raise SymbolsError(f"{self.signature.name} takes numbers here, not CasADi's symbols.") from None
            raise

    def _given(self, out: Any) -> list[Floats | None]:
        """`out` as a list with one place for each output; those with a bound are not the caller's."""
        wanted = self._bounds.count(None)
        if out is None:
            return [None] * len(self._outputs)
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(outs) != wanted or not all(o is None or _is_writable(o) for o in outs):
            what = "the array" if wanted == 1 else f"a tuple of {wanted} arrays"
            found = f"{out.dtype} array" if isinstance(out, np.ndarray) else type(out).__name__
            raise InputError(f"out is {what} of floats that {self.signature.name} writes into; it is a {found}.")
        given = iter(outs)
        return [next(given) if bound is None else None for bound in self._bounds]

    def _run(self, arrays: list[Floats], outs: list[Floats | None], threads: int | None) -> Sequence[Floats]:
        try:
            # Lanes compute both branches of a choice, so that flags of the processor mean nothing here.
            with np.errstate(all="ignore"):
                return self._shared(arrays, outs, threads)
        except (ValueError, TypeError):
            check(self.signature, arrays, outs)
            raise

    def _shared(self, arrays: list[Floats], outs: list[Floats | None], threads: int | None) -> Sequence[Floats]:
        threads = None if threads is None else count(threads, "threads", 1)
        if self._empty:
            return self._around_empty(arrays, outs)
        if not self._parallel or threads == 1 or max(a.size for a in arrays) < _SMALL:
            return self._once(arrays, outs)
        batch = _batch_shape(arrays, self._inputs, outs, self._outputs)
        states = math.prod(batch)
        shares = min(states, threads or pools.suitable(states, self.signature.operations))
        if shares < 2 or any(o is not None and np.may_share_memory(o, a) for o in outs for a in arrays):
            return self._once(arrays, outs)  # NumPy sees to overlapping memory, within one call
        return self._in_threads(arrays, outs, batch, shares)

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


class Completed(Batched):
    """The same function, and the same code, with the values of its last parameters put in."""

    def __init__(self, of: Batched, values: Mapping[str, float], signature: Signature | None = None) -> None:
        super().__init__(signature or of.signature, of._evaluate, of._again, parallel=of._parallel, keep=of._keep)
        self._of, self._own, self._last = of, values, [np.array(x, dtype=float) for x in values.values()]

    def bounded(self, limits: Mapping[str, float]) -> Completed:
        return Completed(self._of, self._own, self.signature.bounded(limits))

    def __call__(self, *values: Any, out: Any = None, threads: int | None = None, **named: Any) -> Results:
        if not any(x is not None for x in named.values()):
            return super().__call__(*values, *self._last, out=out, threads=threads)
        named["parameters"] = {**(named.get("parameters") or {}), **self._own}
        return super().__call__(*values, out=out, threads=threads, **named)


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


def _put(value: Floats, out: Floats | None) -> Floats:
    if out is None:
        return value
    out[...] = value
    return out


def _is_writable(out: Any) -> bool:
    return isinstance(out, np.ndarray) and out.dtype == _FLOAT64 and out.flags.writeable
