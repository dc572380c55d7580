"""A compiled function, and its general call: any real arrays, broadcast over leading axes, several outputs, `out=`, `threads=`.

    f(q, v)                                      # (n,) or (..., n)
    f(q, parameters={"a1": 0.5}, external={"tool": wrench}, t=0.2, out=a, threads=2)
    f.all_outputs(q, v)                          # those with a bound too, whatever they are
    f.with_checks({"residual": 1e-9}, closer)    # the same code with another limit, and a closer look where one is not kept
    f.bind({"a1": 0.5})                          # the same code with the values of some parameters put in

Nothing is written into a function after it is made. `f.native` is the quickest way in: the runtime takes what it can by itself
(`llvm.runtime`), and hands everything else to the general call here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn, Protocol

import numpy as np

from eslabon.algebra.arrays import has_symbols
from eslabon.arguments import count
from eslabon.compiler import threads as pools
from eslabon.compiler.program import Shape
from eslabon.compiler.signature import COMPARISONS, GROUPS, Floats, InputError, Signature, as_floats, check
from eslabon.errors import EslabonError

Results = Floats | tuple[Floats, ...]
Violation = Callable[[list[Floats], list[Floats]], list[Floats]]
_FLOAT64 = np.dtype(np.float64)
_LARGE = 1 << 14  # numbers, from which on fresh memory can take longer than to compute what goes into it


class SymbolsError(InputError, TypeError):
    """CasADi's symbols where numbers are expected: a verb of a mechanism gives an expression for them instead."""


class Code(Protocol):
    """What computes: native code, or CasADi where there is no LLVM."""

    def run(self, arrays: Sequence[Floats], results: Sequence[Floats]) -> None:
        """Compute all states; inputs, and the arrays for results, have the same leading axes."""

    def quick(self, call: GeneralCall, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """A way in that takes plain calls by itself and leaves the others to another one."""


class Function:
    """A compiled function of arrays."""

    def __init__(self, call: GeneralCall) -> None:
        self.general, self.__name__ = call, call.signature.name

    @staticmethod
    def of(signature: Signature, code: Code) -> Function:
        """The function that some code computes."""
        return Function(GeneralCall(signature, code))

    @cached_property
    def native(self) -> Callable[..., Any]:
        """The quickest way in."""
        return self.entry(self.general)

    def entry(self, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """The quickest way in, with another function for the calls that it does not take by itself."""
        return self.general.code.quick(self.general, otherwise)

    def __call__(self, *values: Any, **words: Any) -> Any:
        return self.native(*values, **words)

    def __repr__(self) -> str:
        names = ", ".join(a.name for a in self.signature.inputs)
        return f"<native {self.signature.name}({names}), {self.signature.operations} operations>"

    @property
    def signature(self) -> Signature:
        """What goes in and comes out."""
        return self.general.signature

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return self.signature.described()

    def all_outputs(self, *values: Any) -> Sequence[Floats]:
        """All outputs, those with a bound too, whatever they are."""
        return self.general.all_outputs(values)

    def with_checks(self, limits: Mapping[str, float], on_violation: Violation | None = None) -> Function:
        """The same code with other limits of some outputs, and a handler for states that do not keep them.

        `on_violation(inputs, outputs)` gets all of them, and gives the values of the outputs that have no bound; without it a
        violation is an error that names the bound.
        """
        call = self.general
        return Function(GeneralCall(call.signature.bounded(limits), call.code, call.bound, on_violation))

    def by_keyword(self, parameter: str) -> Function:
        """The same code with one of its parameters given as `t` instead of among the others."""
        call, signature = self.general, self.general.signature
        inputs = tuple(replace(a, group="t") if a.name == parameter and a.group else a for a in signature.inputs)
        return Function(replace(call, signature=replace(signature, inputs=inputs)))

    def bind(self, values: Mapping[str, float]) -> Function:
        """The same code with the values of some parameters put in, the last of its inputs."""
        call = self.general
        return Function(GeneralCall(call.signature, call.code, {**call.bound, **values}, call.on_violation))


@dataclass(frozen=True, eq=False)
class GeneralCall:
    """The call of a function with whatever Python has."""

    signature: Signature
    code: Code
    bound: Mapping[str, float] = field(default_factory=dict)
    on_violation: Violation | None = None

    def __post_init__(self) -> None:
        own = {a.name for a in self.signature.inputs if a.group == "parameters"}
        assert own >= set(self.bound), "only parameters are bound"

    def __call__(self, *values: Any, out: Any = None, threads: int | None = None, **named: Any) -> Results:
        arrays, outs = self._arrays([*values, *self._named(len(values), named)]), self._given(out)
        threads = None if threads is None else count(threads, "threads", 1)
        batch = check(self.signature, arrays, outs)
        bounds = self.signature.bounds
        # Nothing is written into an array that is an argument too before the bounds are found to hold.
        apart = [
            o is not None
            and not any(np.may_share_memory(o, a) for a in arrays)
            and o.flags.aligned
            and (not bounds or o.size > _LARGE)
            for o in outs
        ]
        shapes = [batch + s for s in self.signature.output_shapes]
        results = [o if o is not None and mine else np.empty(s) for o, mine, s in zip(outs, apart, shapes, strict=True)]
        self._computed(arrays, results, batch, threads)
        return self._returned(arrays, outs, results)

    def all_outputs(self, values: Sequence[Any]) -> list[Floats]:
        """All outputs for arguments by their places."""
        arrays = self._arrays(values)
        batch = check(self.signature, arrays)
        results = [np.empty(batch + s) for s in self.signature.output_shapes]
        self._computed(arrays, results, batch, None)
        return results

    # -- arguments ----------------------------------------------------------------------------------------------------

    def _named(self, count: int, named: Mapping[str, Any]) -> Iterator[Any]:
        """The values of groups in the order of the arguments."""
        for word in named:
            if word not in GROUPS:
                raise TypeError(f"{self.signature.name} got an unexpected keyword '{word}'.")
        given = {group: x for group, x in named.items() if x is not None}
        free = {g: [n for n in names if n not in self.bound] for g, names in self.signature.groups.items()}
        absent = named and count < len(self.signature.inputs) - len(self.bound)
        for group, names in free.items() if given or absent else ():
            values = given.get(group, {})
            if group == "t" and names:
                values = {names[0]: values} if group in given else {}
            if not isinstance(values, Mapping) or set(values) != set(names):
                raise TypeError(f"{self.signature.name} takes {names} as {group}.")
            yield from (values[name] for name in names)

    def _arrays(self, values: Sequence[Any]) -> list[Floats]:
        arguments = self.signature.inputs[: len(self.signature.inputs) - len(self.bound)]
        if len(values) != len(arguments):
            names = ", ".join(a.name for a in arguments)
            raise InputError(f"{self.signature.name} takes {len(arguments)} arguments ({names}), not {len(values)}.")
        try:
            arrays = [
                v if type(v) is np.ndarray and v.dtype is _FLOAT64 else as_floats(v, a.name)
                for v, a in zip(values, arguments, strict=True)
            ]
        except InputError:
            if has_symbols(*values):
                raise SymbolsError(f"{self.signature.name} takes numbers here, not CasADi's symbols.") from None
            raise
        arrays = [a if a.flags.aligned else a.copy() for a in arrays]
        return arrays + [np.array(self.bound[a.name]) for a in self.signature.inputs[len(arguments) :]]

    def _given(self, out: Any) -> list[Floats | None]:
        """`out` as a list with one place for each output; those with a bound are not the caller's."""
        outputs = self.signature.outputs
        wanted = sum(not a.bound for a in outputs)
        if out is None:
            return [None] * len(outputs)
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(outs) != wanted or not all(o is None or _is_writable(o) for o in outs):
            what = "the array" if wanted == 1 else f"a tuple of {wanted} arrays"
            found = f"{out.dtype} array" if isinstance(out, np.ndarray) else type(out).__name__
            raise InputError(f"out is {what} of floats that {self.signature.name} writes into; it is a {found}.")
        given = iter(outs)
        return [None if a.bound else next(given) for a in outputs]

    # -- results ------------------------------------------------------------------------------------------------------

    def _computed(self, arrays: list[Floats], results: list[Floats], batch: Shape, threads: int | None) -> None:
        """Fill the results, in several threads where it pays; each state is computed alone, so that cuts change nothing."""
        if 0 in batch:
            return
        shapes = self.signature.input_shapes
        inputs = [
            a if a.shape[: a.ndim - len(s)] == batch else np.broadcast_to(a, batch + s)
            for a, s in zip(arrays, shapes, strict=True)
        ]
        states = math.prod(batch)
        shares = min(states, threads or pools.suitable(states, self.signature.operations))
        if shares < 2:
            self.code.run(inputs, results)
            return
        axis = max(range(len(batch)), key=batch.__getitem__)

        def part(cut: slice) -> None:
            where = (slice(None),) * axis + (cut,)
            self.code.run([a[where] for a in inputs], [r[where] for r in results])

        list(pools.pool().map(part, cuts(batch[axis], shares)))

    def _returned(self, arrays: list[Floats], outs: list[Floats | None], results: list[Floats]) -> Results:
        """The outputs without a bound, where the others keep theirs, in the arrays that were given for them."""
        wanted = [k for k, a in enumerate(self.signature.outputs) if not a.bound]
        found = [results[k] for k in wanted]
        if any(True for _ in self._violated(results)):
            found = (self.on_violation or self._refuse)(arrays, results)
        if not any(o is not None for o in outs):  # what looks closer may give something else instead
            made = [_put(x, None) for x in found]
        else:
            made = [_put(x, outs[k]) for x, k in zip(found, wanted, strict=True)]
        return made[0] if len(made) == 1 else tuple(made)

    def _violated(self, results: Sequence[Floats]) -> Iterator[int]:
        """The outputs that do not keep their bounds."""
        for k, a in enumerate(self.signature.outputs):
            if a.bound is not None and not np.all(COMPARISONS[a.bound[0]](results[k], a.bound[1])):
                yield k

    def _refuse(self, _: list[Floats], results: list[Floats]) -> NoReturn:
        """What a violated bound comes to where nobody looks closer."""
        k = next(self._violated(results))
        comparison, limit = self.signature.outputs[k].bound or ("", 0.0)
        values = np.ravel(results[k])
        worst = values[np.argmin(COMPARISONS[comparison](values, limit))]
        of = f" of {self.signature.owner}" if self.signature.owner else ""
        raise EslabonError(
            f"{self.signature.name}{of} is not valid here: its {self.signature.outputs[k].name} is "
            f"{worst:.3g}, and must be {comparison} {limit:g}."
        )


def cuts(length: int, count: int) -> Iterator[slice]:
    """Slices of about equal length that hold whole blocks of states."""
    size = -(-length // count)
    size = -(-size // 8) * 8
    for first in range(0, length, size):
        yield slice(first, min(first + size, length))


def _put(value: Floats, out: Floats | None) -> Floats:
    """A result in the array given for it; as NumPy's own functions do, a number for an array without axes."""
    if out is None:
        number: Floats = value[()] if isinstance(value, np.ndarray) else value
        return number
    if value is not out:
        out[...] = value
    return out


def _is_writable(out: Any) -> bool:
    return isinstance(out, np.ndarray) and out.dtype == _FLOAT64 and out.flags.writeable
