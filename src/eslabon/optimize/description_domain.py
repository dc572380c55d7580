"""Where a description has values at all: what its expressions need of parameters that are sought.

An arc cosine wants an argument between -1 and 1, a root none below zero, a mass not to be negative. A search that goes beyond finds
designs that cannot be built, so that these are constraints of every program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from eslabon.mechanism import Mechanism
from eslabon.model.parameter_expressions import ParameterExpression, dependency_order, leaves
from eslabon.model.validation import requirements

INSIDE = 1e-6  # as near as arguments come to where a function has no derivative
DOMAINS = {
    "acos": (INSIDE - 1, 1 - INSIDE), "asin": (INSIDE - 1, 1 - INSIDE), "sqrt": (INSIDE**2, np.inf), "log": (INSIDE**2, np.inf)
}  # fmt: skip


class Domain(NamedTuple):
    """An expression of the parameters, and what it has to be within."""

    name: str
    expression: Any
    lower: float
    upper: float


def domains(m: Mechanism, symbols: Mapping[str, Any]) -> Iterator[Domain]:
    """What the description of a mechanism demands of the symbols in place of its parameters.

    >>> import casadi
    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> [d.name for d in domains(m, {"L3": casadi.SX.sym("L3")}) if "acos" in d.name]
    ["the argument of acos in 'acos((L1/2 + L2/2)/L3) - 120*deg'"]
    """
    values = {**m.parameters, **symbols}
    definitions = dict(m.description.parameters)
    for name in dependency_order(definitions):
        if name not in values:
            values[name] = definitions[name].evaluate(values)
    every = (*leaves(m.description), *definitions.values())
    found = {
        (str(x), node): None
        for x in every
        if isinstance(x, ParameterExpression)
        for node in _limited(x)
    }  # each once, in order
    for text, node in found:
        argument = _value(node.arguments[0], values)
        if not isinstance(argument, float | int):
            yield Domain(
                f"the argument of {node.operation} in '{text}'", argument, *DOMAINS[node.operation]
            )
    for x in requirements(m.with_symbols(symbols)):
        if not isinstance(x.margin, float | int):
            yield Domain(f"what {x.owner} must not have below zero", x.margin, 0.0, np.inf)


def _limited(x: ParameterExpression) -> Iterator[ParameterExpression]:
    """The parts of an expression that are functions of a limited domain."""
    if x.operation in DOMAINS:
        yield x
    for argument in x.arguments:
        if isinstance(argument, ParameterExpression):
            yield from _limited(argument)


def _value(x: Any, values: Mapping[str, Any]) -> Any:
    return x.evaluate(values) if isinstance(x, ParameterExpression) else x
