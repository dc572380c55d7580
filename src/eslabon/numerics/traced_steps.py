"""Steps of recursions, traced once.

CasADi takes about fifteen microseconds for one operator in Python, for matrices of any size, and
one step of a recursion, such as the bracket of two twists, has ten of them. A step is traced once
for each shape of its arguments; after that a single call inserts its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from eslabon.numerics.scalars import casadi, is_symbolic

P = ParamSpec("P")
T = TypeVar("T")
MAX_GRAPHS = 500  # of one step, before they are traced anew
Leaf = Any  # a scalar or an array: neither a tuple nor a dataclass


def traced_once(formula: Callable[P, T]) -> Callable[P, T]:
    """Decorate a formula: for symbols, trace it once for each shape of its arguments.

    Positional arguments and results are arrays and scalars, or tuples and dataclasses of them;
    keyword arguments are choices and belong to the shape. The formula must not inspect the symbols.
    Entries of a result that are zero for the given arguments are structural zeros.

    CasADi simplifies sums and products when a graph is inserted, so that a step needs no more
    operations than its formula would. The exception is x + x, which is traced as 2 x and then hides
    a numeric factor of x: pass such an x as two arguments.

    >>> import casadi
    >>> square = traced_once(lambda x: x * x)
    >>> square(casadi.SX.sym("a")), square(3.0)
    (SX(sq(a)), 9.0)
    """
    graphs: dict[Any, _Graph] = {}

    @wraps(formula)
    def inlined(*arguments: P.args, **choices: P.kwargs) -> T:
        given = [leaf for x in arguments for leaf in _leaves(x)]
        if not is_symbolic(*given):
            return formula(*arguments, **choices)
        shape = (tuple(map(_shape, given)), *choices.items())
        if (graph := graphs.get(shape)) is None:
            if len(graphs) == MAX_GRAPHS:  # joint kinds with ever new axes
                graphs.clear()
            graph = graphs[shape] = _Graph.trace(formula, arguments, given, choices)
        result: T = graph(given)
        return result

    return inlined


class _Graph(NamedTuple):
    """A traced step: a function of the leaves, and a sample of the result's structure."""

    function: casadi.Function
    sample: object

    @staticmethod
    def trace(
        formula: Callable[..., Any],
        arguments: tuple[object, ...],
        given: list[Leaf],
        choices: Mapping[str, object],
    ) -> _Graph:
        symbols = [casadi.SX.sym(f"x{k}", *_shape(x)) for k, x in enumerate(given)]
        sample = formula(*_rebuild(arguments, iter(symbols)), **choices)
        return _Graph(
            casadi.Function("step", symbols, [casadi.SX(x) for x in _leaves(sample)]), sample
        )

    def __call__(self, given: list[Leaf]) -> Any:
        values = self.function.call(given, True, False)
        return _rebuild(
            self.sample, iter([casadi.sparsify(x) if x.has_zeros() else x for x in values])
        )


def _shape(x: Leaf) -> tuple[int, int]:
    if is_symbolic(x):
        return x.size1(), x.size2()
    rows, columns, *_ = (*np.shape(x), 1, 1)
    return rows, columns


def _leaves(x: object) -> Iterator[Leaf]:
    """The arrays and scalars of an argument, in order."""
    if isinstance(x, tuple):
        for part in x:
            yield from _leaves(part)
    elif is_dataclass(x):
        for field in fields(x):
            yield from _leaves(getattr(x, field.name))
    else:
        yield x


def _rebuild(sample: Any, leaves: Iterator[Leaf]) -> Any:
    """Arrays and scalars in the structure of a sample."""
    if isinstance(sample, tuple):
        parts = [_rebuild(x, leaves) for x in sample]
        return type(sample)(*parts) if hasattr(sample, "_fields") else tuple(parts)
    if is_dataclass(sample) and not isinstance(sample, type):
        return type(sample)(*(_rebuild(getattr(sample, x.name), leaves) for x in fields(sample)))
    return next(leaves)
