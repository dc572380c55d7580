"""The one evaluator: a formula, its inputs and its options go in, a native function of arrays comes out.

    PENDULUM = Formula("pendulum", pendulum, inputs=("q", "v"), outputs=(Argument("a", lambda m: (m.nv,)),))
    f = evaluate(m, PENDULUM)                    # from memory, from disk, or traced and compiled
    a = f(q, v)

Whatever becomes a number goes this way: the quantities users ask for, the steps that close loops and invert
kinematics, the steps of integrators, derivatives, control laws. One key, of the names and values of all that determines
the graph, serves the memory (which lives with the model) and the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from eslabon.compiler.formula import (
    Formula,
    Owner,
    Request,
    in_family,
    remembered,
    requested,
)
from eslabon.compiler.llvm.machine import optimization
from eslabon.compiler.trace import trace

FEW, MANY = 300, 32  # states in all, and in one call, from which on compiling a graph pays: it takes a second or two


def evaluate(
    m: Owner,
    formula: Formula,
    parameters: tuple[str, ...] = (),
    external: tuple[str, ...] = (),
    by: str | None = None,
    **options: Any,
) -> Callable[..., Any]:
    """The native function of a formula: from memory, from disk, or traced and compiled."""
    return native(m, requested(m, formula, options, parameters, external, by))


def native(m: Owner, request: Request) -> Any:
    """The native function of a request."""
    level = optimization()
    return remembered(m, ("function", request.identity, level), lambda: _native(m, request, level))


def _native(m: Owner, request: Request, level: int) -> Callable[..., Any]:
    """The native function of a request as it is compiled at a level."""
    from eslabon.compiler import native

    if m.variant_of is not None:
        return _of_variant(m, request, m.variant_of)
    formula, key = request.formula, request.key(m)
    found: Any = native.load(key)
    if formula.seldom:
        found = Seldom(m, request, level, found)
    elif found is None:
        found = _compiled(m, request)
    if request.guards(m):
        found = found.with_checks({}, partial(refuse_guards, m, request))
    return found


def _of_variant(m: Owner, request: Request, base: Owner) -> Callable[..., Any]:
    """The native function of a variant: that of its base, with the variant's own values put in."""
    whole = in_family(m, request)
    values = {name: m.parameters[name] for name in whole.parameters[len(request.parameters) :]}
    found: Any = native(base, whole)
    if isinstance(found, Seldom):
        return lambda *arrays, **words: found(*arrays, *values.values(), **words)
    made = found.bind(values)
    return made.with_checks({}, partial(refuse_guards, m, whole)) if whole.guards(m) else made


def _compiled(m: Owner, request: Request) -> Callable[..., Any]:
    from eslabon.compiler import native

    formula, key = request.formula, request.key(m)
    described: dict[str, Any] = {
        "inputs": request.inputs(m), "outputs": request.outputs(m), "name": formula.name, "owner": m.name, "key": key
    }  # fmt: skip
    graph = trace(m, request, record=True)
    return native.compile(graph, states=formula.states, varying=formula.varying, **described)


_SETTLED: ContextVar[Owner | None] = ContextVar("settled", default=None)


@contextmanager
def settled_evaluation(m: Owner) -> Iterator[None]:
    """Meanwhile what is compiled does not depend on what was asked before: all of one owner and its variants, and of others only
    what always is. So results are the same to the last bit in whatever order they are asked for."""
    token = _SETTLED.set(m)
    try:
        yield
    finally:
        _SETTLED.reset(token)


def settled_apart(m: Owner) -> bool:
    """Whether results are to be settled meanwhile, and those of another owner: then `m` uses no code that may, or may not, be there."""
    return (settled := _SETTLED.get()) is not None and m is not settled


class Seldom:
    """A formula for few states: the graph as CasADi evaluates it, until so many are asked for that compiling it pays; where code is on
    disk, that."""

    def __init__(self, m: Owner, request: Request, level: int, ready: Callable[..., Any] | None = None) -> None:
        self.m, self.request, self.ready, self.left = m, request, ready, FEW
        self._level, self._code = level, ready

    def __call__(self, first: Any, *others: Any, **keywords: Any) -> Any:
        pays = self.pays(np.size(first) // max(1, self._core))
        return (self.native if pays else self._interpreted)(first, *others, **keywords)

    def pays(self, states: int) -> bool:
        """Whether with so many states more it is worth while to compile."""
        if (settled := _SETTLED.get()) is not None:
            return self.m is settled
        if self.ready is not None:
            return True
        self.left -= states if states <= MANY else self.left + 1
        return self.left < 0

    @cached_property
    def _core(self) -> int:
        return int(np.prod(self.request.inputs(self.m)[0].shape))

    @cached_property
    def _interpreted(self) -> Callable[..., Any]:
        from eslabon.compiler.function import Function
        from eslabon.compiler.interpreted import Evaluator
        from eslabon.compiler.signature import Signature

        m, request = self.m, self.request
        graph = trace(m, request, share=False)  # to find what is common takes longer than a few evaluations
        signature = Signature.of_graph(graph, request.inputs(m), request.outputs(m), request.formula.name, m.name)
        return Function.of(signature, Evaluator(graph, signature))

    @property
    def native(self) -> Callable[..., Any]:
        if self._code is None:
            if optimization() != self._level:  # which may have changed since
                return cast(Seldom, native(self.m, self.request)).native
            self._code = _compiled(self.m, self.request)
        return self._code


def refuse_guards(m: Owner, request: Request, arrays: list[Any], results: list[Any]) -> list[Any]:
    """A sentence for inputs that a guard refuses; else the results without those of the guards."""
    guards = request.guards(m)
    count = len(results) - len(guards)
    for guard, numbers in zip(guards, results[count:], strict=True):
        guard.refuse(m, request, arrays, numbers)
    return results[:count]
