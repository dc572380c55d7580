"""From a request to its graph: symbols for what goes in, the formula of these or its derivative, checks and guards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eslabon.compiler.calls import Call, Composed, inlining, recording
from eslabon.compiler.formula import Argument, Owner, Request, remembered
from eslabon.errors import InputError

graphs_traced: Counter[str] = Counter()  # how many graphs this process has made, by the formula's name


def trace(owner: Owner, request: Request, checks: bool = True, record: bool = False, share: bool = True) -> Any:
    """The graph of a request, common subexpressions shared if wanted; without its checks where they are not.

    It is a `casadi.Function`, or a function that calls others where these are to be recorded (`compiler.calls`); a derivative
    is of the whole.
    """
    import casadi

    graphs_traced[request.formula.name] += 1
    formula, arguments = request.formula, request.inputs(owner)
    symbols = [_symbol(x) for x in arguments]
    own, count = symbols[: len(formula.inputs)], len(formula.inputs) + len(request.external)
    external = dict(zip(request.external, symbols[len(formula.inputs) : count], strict=True))
    values = dict(zip(request.parameters, symbols[count:], strict=True))
    if request.by is not None and request.by not in (*values, *formula.input_names):
        values[request.by] = casadi.SX.sym(request.by)  # a parameter of the owner, which gets its value at the end
    traced = owner.with_symbols(values) if values else owner
    options = {**dict(request.options), **(formula.prepare(owner) if formula.prepare else {})}
    if external:
        options["external"] = external
    wanted = (*formula.outputs, *(formula.checks if checks else ()))
    found, calls = _values(traced, request, own, options, values, record)
    outputs = [casadi.SX(x) for x in found[: len(wanted)]]
    if request.by in values and request.by not in request.parameters:
        outputs, calls = _with_value(outputs, calls, values[request.by], owner.parameters[request.by])
    # CasADi takes identifiers; the name of an external input may be any text.
    names = [x.name if x.name.isidentifier() else f"input_{k}" for k, x in enumerate(arguments)]
    made = [x.name for x in wanted[: len(outputs)]]
    for guard in request.guards(owner) if checks else ():
        outputs.append(guard.expression(traced, request, own))
        made.append(guard.output.name)
    outputs = [casadi.sparsify(x) for x in outputs]  # formulas need not care for zeros that turned up on the way
    if calls:
        return Composed(formula.name, symbols, outputs, calls, names, made)
    same = {"allow_duplicate_io_names": True}  # as a parameter may be called like an input
    return casadi.Function(formula.name, symbols, casadi.cse(outputs) if share else outputs, names, made, same)


def expression(m: Owner, request: Request, values: Sequence[Any]) -> Any:
    """A formula's values for CasADi symbols, as a part of a larger graph: a column or a matrix for each, a tuple of several.

    Its checks are left out: a graph has no numbers to look at.
    """
    import casadi

    given, name = [], request.formula.name
    for x, argument in zip(values, request.inputs(m), strict=True):
        matrix = casadi.SX(casadi.vertcat(*x) if isinstance(x, list | tuple | np.ndarray) and np.ndim(x) == 1 else x)
        expected = _symbol(argument).shape
        if matrix.shape != expected:
            raise InputError(
                f"{name} of symbols is that of one state: {argument.name} is {'x'.join(map(str, matrix.shape))}; "
                f"{'x'.join(map(str, expected))} is expected."
            )
        given.append(matrix)
    graph = remembered(m, ("graph", request.identity), lambda: trace(m, request, checks=False))
    made = []
    for x, argument in zip(graph.call(given, True, False), request.outputs(m), strict=False):
        shape: tuple[int, ...] = argument.shape
        if len(shape) > 2:
            raise InputError(f"{name} has {len(shape)} axes, and CasADi's matrices have two.")
        made.append(casadi.reshape(x.T, *(*shape, 1, 1)[1::-1]).T)
    return made[0] if len(made) == 1 else tuple(made)


def _values(
    m: Owner, request: Request, own: list[Any], options: dict[str, Any], parameters: Mapping[str, Any], record: bool
) -> tuple[list[Any], list[Call]]:
    """What a formula gives, or the derivatives by its own formula or by the graph; and the calls that were recorded."""
    formula, by = request.formula, request.by
    with recording() if record else inlining() as calls:  # a law that is being recorded has calls of its own
        if by is None:
            return _listed(formula.function(m, *own, **options)), calls
        if formula.derivative is not None:
            found = formula.derivative(m, parameters.get(by, by), *own, **options)
            if found is not None:
                return _listed(found), calls
    with inlining():
        found = _listed(formula.function(m, *own, **options))
    count = len(formula.outputs)
    found[:count] = _derivatives(m, found[:count], request, own, parameters)
    return found, []


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list) else [found]


def _with_value(outputs: list[Any], calls: list[Call], symbol: Any, value: float) -> tuple[list[Any], list[Call]]:
    """A number in place of a parameter's symbol, in the arguments of calls too."""
    import casadi

    def put(x: list[Any]) -> list[Any]:
        made: list[Any] = casadi.substitute(x, [symbol], [casadi.SX(value)])
        return made

    return put(outputs), [c._replace(arguments=put(c.arguments)) for c in calls]


def _symbol(x: Argument) -> Any:
    import casadi

    return casadi.SX.sym(x.name, *(x.shape or (1,)))


def _derivatives(
    m: Owner, values: list[Any], request: Request, own: list[Any], parameters: Mapping[str, Any]
) -> list[Any]:
    """The derivatives, row by row of the values; by an input along its tangents, if it has some."""
    import casadi

    values = [casadi.SX(x) for x in values]

    if (parameter := parameters.get(request.by or "")) is not None:
        return [casadi.jacobian(casadi.vec(x), parameter).reshape(x.shape) for x in values]
    place = request.formula.input_names.index(request.by)
    by, tangent = own[place], request.formula.inputs[place].tangent
    along = casadi.SX.eye(by.numel()) if tangent is None else tangent.rates(m, by)
    return [casadi.mtimes(casadi.jacobian(casadi.vec(x.T), by), along) for x in values]
