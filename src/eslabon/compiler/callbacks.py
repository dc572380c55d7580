"""Operators as functions of CasADi: what a call node refers to where native code has loops.

An operator (`compiler.calls.Operator`) is data. Here it becomes a `casadi.Function` with its
structure, which CasADi evaluates by the operator's plain graph, made when it is first wanted, or by
a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from eslabon.numerics.scalars import casadi

if TYPE_CHECKING:
    from eslabon.compiler.calls import Operator

RECENT = (
    64  # operators whose functions are kept for the next call, so that equal calls have equal nodes
)
_NUMBERS = (
    count()
)  # for names: CasADi takes callbacks of one name for the same where it shares subexpressions


@cache
def _callback_type() -> Any:
    """The class of callbacks, whose base is CasADi's."""

    class Callback(casadi.Callback):
        def __init__(self, operator: Operator) -> None:
            casadi.Callback.__init__(self)
            self.operator = operator
            self._inputs, self._outputs = operator.structure()
            self.construct(f"{operator.name}_{next(_NUMBERS)}", {})

        def get_n_in(self) -> int:
            return len(self._inputs)

        def get_n_out(self) -> int:
            return len(self._outputs)

        def get_sparsity_in(self, k: int) -> Any:
            return self._inputs[k]

        def get_sparsity_out(self, k: int) -> Any:
            return self._outputs[k]

        def eval(self, arguments: Sequence[Any]) -> Any:
            return self.operator.evaluate(arguments)

    return Callback


class _Kept(NamedTuple):
    """A function that graphs refer to, without keeping it, and its callback, which must live as
    long."""

    function: Any  # casadi.WeakRef
    callback: Any


class _Callbacks:
    """All callbacks that a graph may refer to, by the hash of the function around them.

    A graph keeps this function alive and knows nothing of the callback, which is a Python object.
    Callbacks whose function is gone are dropped whenever their number has doubled, so that there
    are at most about twice as many as are in use.
    """

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}
        self._limit = 2 * RECENT

    def add(self, function: Any, callback: Any) -> None:
        if len(self._kept) >= self._limit:
            self._kept = {key: kept for key, kept in self._kept.items() if kept.function.alive()}
            self._limit = 2 * max(len(self._kept), RECENT)
        self._kept[hash(function)] = _Kept(casadi.WeakRef(function), callback)

    def operator(self, function: Any) -> Operator | None:
        kept = self._kept.get(hash(function))
        return kept.callback.operator if kept is not None and kept.function.alive() else None

    def __len__(self) -> int:
        return len(self._kept)


CALLBACKS = _Callbacks()


@lru_cache(RECENT)
def function_of(operator: Operator) -> Any:
    """An operator as a `casadi.Function`; equal ones are one function, as long as they are in
    use."""
    callback = _callback_type()(operator)
    symbols = [casadi.MX.sym("x", callback.sparsity_in(k)) for k in range(callback.n_in())]
    made = casadi.Function(callback.name(), symbols, callback.call(symbols))
    CALLBACKS.add(made, callback)
    return made


def operator_of(function: Any) -> Operator | None:
    """The operator that a function is, or None."""
    return CALLBACKS.operator(function)
