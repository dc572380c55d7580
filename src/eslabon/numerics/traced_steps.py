"""Steps of recursions, traced once.

CasADi takes some fifteen microseconds for an operator in Python, whatever the size of the matrices, and one step of a
recursion, such as the bracket of two twists, has ten of them. A step is traced for arguments of a shape once; from then on
its graph is put in with the arguments at hand by a single call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from eslabon.numerics.scalars import casadi, is_symbolic

P = ParamSpec("P")
T = TypeVar("T")
MOST = 500  # graphs of one step
Leaf = Any  # a scalar or an array: what is no tuple and no dataclass


def traced_once(formula: Callable[P, T]) -> Callable[P, T]:
    """The same function, for symbols by a graph that is traced once for each shape of its arguments.

    Positional arguments and what is returned are arrays and scalars, or tuples and dataclasses of them; keywords are
    choices, which belong to the shape. The formula must not look at the symbols themselves. Entries that turn out to be
    zero with the arguments at hand are left out of the result, as they would have been.

    CasADi simplifies sums and products as they are put in, so that a step costs no operation more than its formula would;
    but for x + x, which is 2 x from the start and hides a number that is a factor of x. Two arguments with the same value
    keep such a sum a sum.

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
            if len(graphs) == MOST:  # kinds of joints with ever other axes
                graphs.clear()
            graph = graphs[shape] = _Graph.of(formula, arguments, given, choices)
        made: T = graph(given)
        return made

    return inlined


class _Graph(NamedTuple):
    """A traced step: what it gives, and a sample of how that is arranged."""

    function: Any
    sample: Any

    @staticmethod
    def of(formula: Callable[..., Any], arguments: Any, given: list[Leaf], choices: Any) -> _Graph:
        symbols = [casadi.SX.sym(f"x{k}", *_shape(x)) for k, x in enumerate(given)]
        sample = formula(*_arranged(arguments, iter(symbols)), **choices)
        return _Graph(
            casadi.Function("step", symbols, [casadi.SX(x) for x in _leaves(sample)]), sample
        )

    def __call__(self, given: list[Leaf]) -> Any:
        made = self.function.call(given, True, False)
        return _arranged(
            self.sample, iter([casadi.sparsify(x) if x.has_zeros() else x for x in made])
        )


def _shape(x: Leaf) -> tuple[int, int]:
    if is_symbolic(x):
        return x.size1(), x.size2()
    rows, columns, *_ = (*np.shape(x), 1, 1)
    return rows, columns


def _leaves(x: Any) -> Iterator[Leaf]:
    """The arrays and scalars of an argument, one after the other."""
    if isinstance(x, tuple):
        for part in x:
            yield from _leaves(part)
    elif is_dataclass(x):
        for field in fields(x):
            yield from _leaves(getattr(x, field.name))
    else:
        yield x


def _arranged(sample: Any, leaves: Iterator[Leaf]) -> Any:
    """Arrays and scalars arranged as those of a sample are."""
    if isinstance(sample, tuple):
        parts = [_arranged(x, leaves) for x in sample]
        return type(sample)(*parts) if hasattr(sample, "_fields") else tuple(parts)
    if is_dataclass(sample) and not isinstance(sample, type):
        return type(sample)(*(_arranged(getattr(sample, x.name), leaves) for x in fields(sample)))
    return next(leaves)
