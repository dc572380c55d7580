"""A step that is repeated until it says that it has finished: a search as one node of the graph.

    def newton(x, a):                                       # the next state, and whether it is the last one
        return (x + a / x) / 2, casadi.fabs(x * x - a) < 1e-12
    root, finished, count = until(newton, a, a, limit=50)

Native code contains the step once, in a loop that ends when the step sets its flag. In vector code
the loop goes on until every lane has finished; a lane that has finished keeps its state, bit for
bit, so that no result depends on the other states of a batch. A step may contain such a loop
itself, as a search that starts again does.

How often a step is repeated is known only when it runs. The inlined graph repeats it `limit` times
and is as long; CasADi evaluates the loop without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from eslabon.compiler.calls import NO_DERIVATIVES, Operator, call, free_symbols, inlined, operate
from eslabon.errors import GraphError
from eslabon.numerics.scalars import Expression, casadi


@dataclass(frozen=True)
class Until(Operator):
    """A function (state, constants ...) -> (next state, flag), repeated until its flag is positive.

    What comes out is the last state, the last flag, and how often the function was applied. All
    matrices are dense.
    """

    function: Any = field(repr=False)  # casadi.Function; a fingerprint has its instructions
    limit: int

    name = "until"

    def structure(self) -> tuple[list[Any], list[Any]]:
        f = self.function
        inputs = [f.sparsity_in(k) for k in range(f.n_in())]
        return inputs, [inputs[0], casadi.Sparsity.dense(1, 1), casadi.Sparsity.dense(1, 1)]

    def expressions(self, *arguments: Expression) -> list[Expression]:
        f = inlined(self.function)
        state, *constants = arguments
        flag, count = casadi.SX(0), casadi.SX(0)
        for _ in range(self.limit):
            finished = flag > 0
            following = f.call([state, *constants], True, False)
            state, flag, count = (
                casadi.if_else(finished, old, new)
                for old, new in zip((state, flag, count), (*following, count + 1), strict=True)
            )
        return [state, flag, count]

    def evaluate(self, arguments: Sequence[Any]) -> list[Any]:
        state, *constants = arguments
        flag, count = 0.0, 0
        while count < self.limit and not float(flag) > 0:
            state, flag = self._step.call([state, *constants])
            count += 1
        return [state, flag, casadi.DM(count)]

    @cached_property
    def _step(self) -> Any:
        return inlined(self.function, keep=Until)


def until(
    f: Any | Callable[..., tuple[Expression, Expression]],
    state: Expression,
    *constants: Expression,
    limit: int,
) -> tuple[Expression, Expression, Expression]:
    """The state after f was applied until its flag is positive, at most `limit` times.

    f is a formula, or a `casadi.Function`, (state, *constants) -> (next state, flag). Whatever else
    it depends on, such as parameters, goes along as one more constant. A flag that is NaN is not
    positive.

    Returns
    -------
    state : the last one, which belongs to the flag.
    flag : of the last application: positive unless the limit was reached.
    count : how often f was applied, at least once.

    >>> import casadi
    >>> x, a = casadi.SX.sym("x"), casadi.SX.sym("a")
    >>> newton = casadi.Function("newton", [x, a], [(x + a / x) / 2, casadi.fabs(x**2 - a) < 1e-9])
    >>> root = casadi.Function("root", [a], until(newton, a, a, limit=50))
    >>> root(9.0)
    (DM(3), DM(1), DM(7))
    >>> root(1e80)[1:]
    (DM(0), DM(50))
    """
    if limit < 1:
        raise GraphError(f"the limit of a repeated step is {limit}; it must be 1 or more.")
    given = [casadi.densify(casadi.SX(x)) for x in (state, *constants)]
    step, also = _step(f, given)
    made: tuple[Expression, Expression, Expression] = operate(Until(step, limit), *given, *also)
    return made


def _step(f: Any, given: list[Expression]) -> tuple[Any, list[Expression]]:
    """The function of dense matrices that is repeated, and the symbols that it takes besides."""
    named = isinstance(f, casadi.Function)
    name = f.name() if named else getattr(f, "__name__", "step").strip("_<>")
    symbols = [casadi.SX.sym(f"x{k}", *x.shape) for k, x in enumerate(given)]
    if not named:
        found = f(*symbols)
    elif f.has_free():
        found = f.call(symbols, True, False)
    else:
        found = call(f, *symbols)
    outputs = [casadi.densify(casadi.SX(x)) for x in found]
    if [x.shape for x in outputs] != [given[0].shape, (1, 1)]:
        raise GraphError(
            f"{name} cannot be repeated until it has finished: it must give the next state, "
            f"{given[0].shape}, and a flag; it gives {', '.join(str(x.shape) for x in outputs)}."
        )
    if named and not f.has_free() and _is_dense(f):
        return f, []
    also = free_symbols(symbols, outputs)
    return casadi.Function(name, [*symbols, *also], outputs, NO_DERIVATIVES), also


def _is_dense(f: Any) -> bool:
    return all(
        structure(k).is_dense()
        for structure, count in ((f.sparsity_in, f.n_in()), (f.sparsity_out, f.n_out()))
        for k in range(count)
    )
