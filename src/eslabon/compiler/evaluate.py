"""The one evaluator: a formula, its inputs and its options go in, a native function of arrays comes
out.

    f = evaluate(m, FORMULA)                     # from memory, from disk, or traced and compiled
    a = f(q, v)

Whatever becomes a number goes this way: the quantities users ask for, the steps that close loops
and invert kinematics, the steps of integrators, derivatives, control laws. One key, of the names
and values of all that determines the graph, serves the memory, which lives with the owner, and the
disk. What is compiled, and how, is decided by the request alone: no number depends on what was
asked before.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from eslabon.compiler import native
from eslabon.compiler.formula import (
    Formula,
    Owner,
    Prepare,
    Request,
    in_family,
    remembered,
    requested,
)
from eslabon.compiler.garbage import held_collector
from eslabon.compiler.llvm.machine import optimization
from eslabon.compiler.trace import trace
from eslabon.progress import announce, preserve_interrupts


def evaluate(
    owner: Owner,
    formula: Formula,
    parameters: tuple[str, ...] = (),
    external: tuple[str, ...] = (),
    by: str | None = None,
    prepare: Prepare | None = None,
    **options: Any,
) -> Any:
    """The native function of a formula: from memory, from disk, or traced and compiled."""
    return function_of(owner, requested(owner, formula, options, parameters, external, by, prepare))


def function_of(owner: Owner, request: Request) -> Any:
    """The native function of a request, a `Function` or a `RepeatedStep`."""
    place = ("function", request.identity, optimization())
    return remembered(owner, place, lambda: _function(owner, request))


def _function(owner: Owner, request: Request) -> Any:
    if owner.variant_of is not None:
        return _of_variant(owner, request, owner.variant_of)
    key = request.key(owner)
    found: Any = native.load(key, again=partial(_traced, owner, request))
    if found is None:
        found = _compiled(owner, request, key)
    return _guarded(found, owner, request)


def _of_variant(owner: Owner, request: Request, base: Owner) -> Any:
    """The native function of a variant: that of its base, with the variant's own values put in."""
    whole = in_family(owner, request)
    values = {name: owner.parameters[name] for name in whole.parameters[len(request.parameters) :]}
    return _guarded(function_of(base, whole).bind(values), owner, whole)


def _guarded(found: Any, owner: Owner, request: Request) -> Any:
    """A function with the sentences of the guards that its code has."""
    guards = {guard.output.name for guard in request.formula.guards}
    if guards.isdisjoint([output.name for output in found.signature.outputs]):
        return found
    return found.with_checks({}, partial(refuse_guards, owner, request))


def _compiled(owner: Owner, request: Request, key: str) -> Any:
    formula = request.formula
    said = announce(f"compiling {formula.name} of {owner.name}, which is kept for the next time")
    with said, held_collector():
        return native.compile(
            _traced(owner, request), inputs=request.inputs(owner), outputs=request.outputs(owner),
            name=formula.name, owner=owner.name, key=key, states=formula.states, varying=formula.varying, quick=formula.rare,
            again=partial(_traced, owner, request),
        )  # fmt: skip


def _traced(owner: Owner, request: Request) -> Any:
    with preserve_interrupts(), held_collector():
        return trace(owner, request)


def refuse_guards(
    owner: Owner, request: Request, arrays: list[Any], results: list[Any]
) -> list[Any]:
    """A sentence for inputs that a guard refuses; else the results without those of the guards."""
    guards = request.guards(owner)
    count = len(results) - len(guards)
    for guard, numbers in zip(guards, results[count:], strict=True):
        guard.refuse(owner, request, arrays, numbers)
    return results[:count]
