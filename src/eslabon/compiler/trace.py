"""From a request to its graph: symbols for what goes in, the formula of these or its derivative,
checks and guards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eslabon.compiler.calls import SAME, inlined
from eslabon.compiler.formula import Argument, Owner, Request, remembered
from eslabon.compiler.program import simplified
from eslabon.errors import InputError
from eslabon.numerics.scalars import casadi

graphs_traced: Counter[str] = (
    Counter()
)  # how many graphs this process has made, by the formula's name


def trace(owner: Owner, request: Request, checks: bool = True) -> Any:
    """The graph of a request, a `casadi.Function`; without its checks where these are not wanted.

    Its calls are nodes (`compiler.calls`), and what is computed twice stands in it twice:
    `program.read` shares it.
    """
    graphs_traced[request.formula.name] += 1
    formula, arguments = request.formula, request.inputs(owner)
    symbols = [_symbol(x) for x in arguments]
    first = len(formula.inputs) + len(request.data)
    own, count = symbols[: len(formula.inputs)], first + len(request.external)
    external = dict(zip(request.external, symbols[first:count], strict=True))
    numbers = zip(request.data.items(), symbols[len(formula.inputs) : first], strict=True)
    with_data = {name: x.with_data(symbol) for (name, x), symbol in numbers}
    values = dict(zip(request.parameters, symbols[count:], strict=True))
    if request.by is not None and request.by not in (*values, *formula.input_names):
        values[request.by] = casadi.SX.sym(
            request.by
        )  # a parameter of the owner, which gets its value at the end
    traced = owner.with_symbols(values) if values else owner
    options = {**dict(request.options), **with_data}
    options |= request.prepare(owner) if request.prepare else {}
    if lacking := [name for name in formula.needs if name not in options]:
        raise TypeError(
            f"{formula.name} needs {', '.join(lacking)}: pass prepare with its request."
        )
    if external:
        options["external"] = external
    wanted = (*formula.outputs, *(formula.checks if checks else ()))
    found = _values(traced, request, own, options, values)
    outputs = [casadi.SX(x) for x in found[: len(wanted)]]
    if request.by in values and request.by not in request.parameters:
        outputs = casadi.substitute(
            outputs, [values[request.by]], [casadi.SX(owner.parameters[request.by])]
        )
    # CasADi takes identifiers; the name of an external input may be any text.
    names = [x.name if x.name.isidentifier() else f"input_{k}" for k, x in enumerate(arguments)]
    made = [x.name for x in wanted[: len(outputs)]]
    for guard in request.guards(owner) if checks else ():
        outputs.append(guard.expression(traced, request, own))
        made.append(guard.output.name)
    outputs = [
        casadi.sparsify(x) for x in outputs
    ]  # formulas need not care for zeros that turned up on the way
    return casadi.Function(formula.name, symbols, outputs, names, made, SAME)


def expression(m: Owner, request: Request, values: Sequence[Any]) -> Any:
    """A formula's values for CasADi symbols, as a part of a larger graph: a column or a matrix for
    each, a tuple of several.

    Its checks are left out: a graph has no numbers to look at.
    """
    given, name = [], request.formula.name
    for x, argument in zip(values, request.inputs(m), strict=True):
        matrix = casadi.SX(
            casadi.vertcat(*x)
            if isinstance(x, list | tuple | np.ndarray) and np.ndim(x) == 1
            else x
        )
        expected = _symbol(argument).shape
        if matrix.shape != expected:
            raise InputError(
                f"{name} of symbols is that of one state: {argument.name} is {'x'.join(map(str, matrix.shape))}; "
                f"{'x'.join(map(str, expected))} is expected."
            )
        given.append(matrix)
    graph = remembered(
        m, ("graph", request.identity), lambda: simplified(trace(m, request, checks=False))
    )
    made = []
    for x, argument in zip(graph.call(given, True, False), request.outputs(m), strict=False):
        shape: tuple[int, ...] = argument.shape
        if len(shape) > 2:
            raise InputError(f"{name} has {len(shape)} axes, and CasADi's matrices have two.")
        made.append(casadi.reshape(x.T, *(*shape, 1, 1)[1::-1]).T)
    return made[0] if len(made) == 1 else tuple(made)


def _values(
    m: Owner,
    request: Request,
    own: list[Any],
    options: dict[str, Any],
    parameters: Mapping[str, Any],
) -> list[Any]:
    """What a formula gives, or the derivatives by its own formula or by the graph."""
    formula, by = request.formula, request.by
    if by is not None and formula.derivative is not None:
        found = formula.derivative(m, parameters.get(by, by), *own, **options)
        if found is not None:
            return _listed(found)
    found = _listed(formula.function(m, *own, **options))
    if by is None:
        return found
    found, count = inlined(found), len(formula.outputs)
    return [*_derivatives(m, found[:count], request, own, parameters), *found[count:]]


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list) else [found]


def _symbol(x: Argument) -> Any:
    return casadi.SX.sym(x.name, *(x.shape or (1,)))


def _derivatives(
    m: Owner, values: list[Any], request: Request, own: list[Any], parameters: Mapping[str, Any]
) -> list[Any]:
    """The derivatives, row by row of the values; by an input along its tangents, if it has some."""
    values = [casadi.SX(x) for x in values]

    if (parameter := parameters.get(request.by or "")) is not None:
        return [casadi.jacobian(casadi.vec(x), parameter).reshape(x.shape) for x in values]
    place = request.formula.input_names.index(request.by)
    by, tangent = own[place], request.formula.inputs[place].tangent
    along = casadi.SX.eye(by.numel()) if tangent is None else tangent.rates(m, by)
    return [casadi.mtimes(casadi.jacobian(casadi.vec(x.T), by), along) for x in values]
