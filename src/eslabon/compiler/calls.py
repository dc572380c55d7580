"""Functions that call one another: what repeats in a formula becomes code once and is called often.

    rates = casadi.Function("rates", [x], [...])
    def step(x):                                  # a formula like any other
        return x + h * call(rates, x + h / 2 * call(rates, x))

    f = composed("step", [x], step)               # native code calls `rates` twice, and contains it once

While a formula is recorded, `call` keeps the callee, its arguments and fresh symbols for its results; outside of a
recording it gives the callee's own expressions, so that derivatives, counts, C and equations see one plain graph.
A function that is made inside a formula from another formula is made by `composed`, whose recording is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from eslabon.compiler.program import GraphError

SX = Any  # casadi.SX
SAME = {"allow_duplicate_io_names": True}
MANY = 64  # results that are arguments or outputs as they are, from which on a loop moves them


class Call(NamedTuple):
    """A function, what it is called with, and symbols that stand for the nonzeros of its results, output by output.

    A repeated call has a row of `columns` for each repetition: which column of each argument it takes. Its results come
    repetition by repetition. In a scan, some inputs are outputs of an earlier repetition: where `back` names an output for
    an input, a negative column -1 - r means that of repetition r.
    """

    function: Any  # casadi.Function of SX, Composed, or an operator on matrices
    arguments: list[SX]
    results: SX
    columns: tuple[tuple[int, ...], ...] = ()
    back: tuple[int | None, ...] = ()


_RECORDED: ContextVar[list[Call] | None] = ContextVar("_RECORDED", default=None)


@contextmanager
def _kept_in(calls: list[Call] | None) -> Iterator[list[Call]]:
    token = _RECORDED.set(calls)
    try:
        yield [] if calls is None else calls
    finally:
        _RECORDED.reset(token)


def recording() -> AbstractContextManager[list[Call]]:
    """Keep calls as calls while a formula is traced; a recording inside another one is its own."""
    return _kept_in([])


def inlining() -> AbstractContextManager[list[Call]]:
    """Give calls their own expressions even while a formula is recorded: a derivative does not see through a recorded one."""
    return _kept_in(None)


def call(f: Any, *arguments: SX) -> Any:
    """The results of a `casadi.Function` of SX, or of a `Composed`, for symbolic arguments: one, or a tuple.

    >>> import casadi
    >>> x = casadi.SX.sym("x")
    >>> square = casadi.Function("square", [x], [x**2])
    >>> call(square, x + 1)
    SX(sq((x+1)))
    >>> with recording() as calls:
    ...     call(square, x + 1)
    SX(square)
    >>> calls[0].function, calls[0].arguments
    (Function(square:(i0)->(o0) SXFunction), [SX((x+1))])
    """
    given, calls = _fitted(f, arguments), _RECORDED.get()
    return _one_or_all(_inlined(f, given) if calls is None else _recorded(f, given, calls))


def repeat(f: Any, *arguments: tuple[SX, Sequence[int]]) -> Any:
    """A function of columns, called for many of them: results[:, r] = f(A[:, i[r]], B[:, j[r]], ...).

    Each argument is a matrix and the list of its columns to take. In native code this is a loop over a table, as long as
    there are repetitions; what a mass matrix is made of, M_ij = S_i^T F_j, has thousands.

    >>> import casadi
    >>> a, b = casadi.SX.sym("a", 2), casadi.SX.sym("b", 2)
    >>> dot = casadi.Function("dot", [a, b], [casadi.dot(a, b)])
    >>> A = casadi.SX([[1, 2], [3, 4]])
    >>> repeat(dot, (A, [0, 0, 1]), (A, [0, 1, 1]))
    SX([[10, 14, 20]])
    """
    columns = tuple(zip(*([int(c) for c in i] for _, i in arguments), strict=True))
    return _over(f, [A for A, _ in arguments], columns, (None,) * len(arguments))


def scan(
    f: Any, *arguments: tuple[SX, Sequence[int]], back: Sequence[tuple[int, Sequence[int], SX]]
) -> Any:  # fmt: skip
    """A recursion: `repeat`, whose function takes, after its other arguments, outputs of earlier repetitions.

    Each of `back` is the number of an output, for each repetition the earlier one it is taken from, and the column in its
    place where that is negative. What a tree does from the ground outward, or from its tips inward, is one loop so.

    >>> import casadi
    >>> x, total = casadi.SX.sym("x"), casadi.SX.sym("total")
    >>> add = casadi.Function("add", [x, total], [x + total])
    >>> scan(add, (casadi.SX([[1, 2, 3]]), range(3)), back=[(0, [-1, 0, 1], casadi.SX(10))])
    SX([[11, 13, 16]])
    """
    own = [[int(c) for c in i] for _, i in arguments]
    earlier = [[-1 - r if r >= 0 else 0 for r in rows] for _, rows, _ in back]
    matrices = [*(A for A, _ in arguments), *(first for _, _, first in back)]
    return _over(
        f, matrices, tuple(zip(*own, *earlier, strict=True)), (*(None for _ in arguments), *(o for o, _, _ in back))
    )


def _over(f: Any, given: list[SX], columns: tuple[tuple[int, ...], ...], back: tuple[int | None, ...]) -> Any:
    """A function called for many columns."""
    import casadi

    matrices = [casadi.densify(casadi.SX(A)) for A in given]
    shapes = [f.size_in(k) for k in range(f.n_in())]
    if [(A.shape[0], 1) for A in matrices] != shapes or any(f.size_out(k)[1] != 1 for k in range(f.n_out())):
        raise GraphError(f"{f.name()} cannot be repeated: it must take and give columns as long as those it is given.")
    calls = _RECORDED.get()
    if calls is None or not columns:
        return _one_or_all(_repeated(f, matrices, columns, back))
    structure, symbols = _fresh(f, len(columns))
    calls.append(Call(f, matrices, symbols, columns, back))
    nonzeros: SX = casadi.reshape(symbols, -1, len(columns))
    outputs = []
    for s, own in zip(structure, _shared_out(structure), strict=True):
        rows = casadi.SX(s.size1(), len(columns))
        rows[s.row(), :] = nonzeros[own, :]
        outputs.append(rows)
    return _one_or_all(outputs)


def _one_or_all(outputs: list[SX]) -> Any:
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _fresh(f: Any, count: int = 1) -> tuple[list[Any], SX]:
    """The structure of a function's results, and symbols for the nonzeros of so many of them."""
    import casadi

    structure = [f.sparsity_out(k) for k in range(f.n_out())]
    return structure, casadi.SX.sym(f.name(), sum(s.nnz() for s in structure) * count)


def _shared_out(structure: Sequence[Any]) -> list[slice]:
    """Which of the nonzeros of all results are whose."""
    return [slice(*ends) for ends in pairwise(accumulate((s.nnz() for s in structure), initial=0))]


def _repeated(
    f: Any, matrices: Sequence[SX], columns: Sequence[tuple[int, ...]], back: Sequence[int | None]
) -> list[SX]:
    import casadi

    made: list[list[SX]] = []
    for row in columns:
        chosen = [
            made[-1 - c][o] if o is not None and c < 0 else A[:, c] for A, c, o in zip(matrices, row, back, strict=True)
        ]
        made.append(_inlined(f, chosen))
    return [casadi.horzcat(casadi.SX(f.size_out(k)[0], 0), *(results[k] for results in made)) for k in range(f.n_out())]


def _fitted(f: Any, arguments: Sequence[SX]) -> list[SX]:
    """The arguments with the nonzeros that the function reads."""
    import casadi

    if len(arguments) != f.n_in():
        raise GraphError(f"{f.name()} takes {f.n_in()} arguments, not {len(arguments)}.")
    given = [casadi.SX(a) for a in arguments]
    for k, a in enumerate(given):
        if a.shape != f.size_in(k):
            raise GraphError(f"argument {k + 1} of {f.name()} is {f.size_in(k)}; {a.shape} was given.")
    return [casadi.project(a, f.sparsity_in(k)) for k, a in enumerate(given)]


def _inlined(f: Any, given: list[SX]) -> list[SX]:
    """The results as expressions, with the structure that the function has: inlining may show more of them to be zero."""
    import casadi

    made: list[SX] = (f.inlined() if hasattr(f, "inlined") else f).call(given, True, False)
    return [casadi.project(x, f.sparsity_out(k)) for k, x in enumerate(made)]


def _recorded(f: Any, given: list[SX], calls: list[Call]) -> list[SX]:
    """Fresh symbols with the structure of the results: what is zero by structure stays so for the caller."""
    import casadi

    structure, symbols = _fresh(f)
    calls.append(Call(f, given, symbols))
    return [casadi.SX(s, symbols[own]) for s, own in zip(structure, _shared_out(structure), strict=True)]


def _results(c: Call) -> list[SX]:
    """The results of a call, its function inlined; a repeated one's column by column."""
    import casadi

    if not c.columns:
        return _inlined(c.function, c.arguments)
    return [casadi.vertcat(*_repeated(c.function, c.arguments, c.columns, c.back))]


def _stacked(matrices: Sequence[SX]) -> SX:
    """All nonzeros as one column."""
    import casadi

    columns: list[SX] = [casadi.vec(x) for x in matrices]
    return casadi.vertcat(casadi.SX(0, 1), *(x.nz[:] for x in columns if x.nnz()))  # of a zero, `nz` is that zero


class Opened(NamedTuple):
    """A flat function, and what is merely moved: for each call's arguments and for each output, by which of its nonzeros,
    which of all results."""

    flat: Any
    arguments: list[dict[int, int]]
    outputs: list[dict[int, int]]


def _moved(x: SX, source: dict[int, int], count: int = 0) -> tuple[SX, dict[int, int]]:
    """A matrix without the entries that are results as they are, if there are many, and which these are."""
    import casadi

    if not source or max(x.nnz(), count) < MANY:
        return x, {}
    nonzeros: list[SX] = x.nz[:].elements()
    found = [source.get(e.element_hash(), -1) for e in nonzeros]
    moves = {k: s for k, s in enumerate(found) if s >= 0}
    if len(moves) < MANY and not count:
        return x, {}
    rest = [k for k, s in enumerate(found) if s < 0]
    if x.shape[1] == 1 and x.is_dense() and not count:
        return x[rest, :], moves
    rows, columns = x.sparsity().row(), x.sparsity().get_col()
    return casadi.SX.triplet([rows[k] for k in rest], [columns[k] for k in rest], x.nz[rest], *x.shape), moves


@dataclass(frozen=True)
class Composed:
    """A function of symbols that calls others, with as much of `casadi.Function`'s interface as a caller needs."""

    title: str
    inputs: list[SX]
    outputs: list[SX]
    calls: list[Call]
    input_names: list[str] = field(default_factory=list)
    output_names: list[str] = field(default_factory=list)

    __hash__ = object.__hash__

    def name(self) -> str:
        return self.title

    def n_in(self) -> int:
        return len(self.inputs)

    def n_out(self) -> int:
        return len(self.outputs)

    def name_in(self) -> list[str]:
        return self.input_names or [f"i{k}" for k in range(self.n_in())]

    def name_out(self) -> list[str]:
        return self.output_names or [f"o{k}" for k in range(self.n_out())]

    def size_in(self, k: int) -> tuple[int, int]:
        shape: tuple[int, int] = self.inputs[k].shape
        return shape

    def size_out(self, k: int) -> tuple[int, int]:
        shape: tuple[int, int] = self.outputs[k].shape
        return shape

    def sparsity_in(self, k: int) -> Any:
        return self.inputs[k].sparsity()

    def sparsity_out(self, k: int) -> Any:
        return self.outputs[k].sparsity()

    def open(self) -> Opened:
        """One `casadi.Function` whose last input are the results of all calls, and whose last output their arguments."""
        import casadi

        results: SX = casadi.vertcat(casadi.SX(0, 1), *(c.results for c in self.calls))
        source = {e.element_hash(): k for k, e in enumerate(results.elements())}
        arguments = [_moved(_stacked(c.arguments), source) for c in self.calls]
        outputs = [_moved(x, source, sum(x.nnz() for x in self.outputs)) for x in self.outputs]
        names = [*self.name_in(), "results"], [*self.name_out(), "arguments"]
        left = casadi.vertcat(casadi.SX(0, 1), *(x for x, _ in arguments))
        flat = casadi.Function(self.title, [*self.inputs, results], [*(x for x, _ in outputs), left], *names, SAME)
        return Opened(flat, [moves for _, moves in arguments], [moves for _, moves in outputs])

    def inlined(self) -> Any:
        """The same as one plain `casadi.Function`."""
        return self._inlined

    @cached_property
    def _inlined(self) -> Any:
        import casadi

        made = [_stacked(_results(c)) for c in self.calls]
        outputs: list[SX] = casadi.substitute_inplace([c.results for c in self.calls], made, self.outputs)[1]
        shared: SX = casadi.cse(outputs)
        return casadi.Function(self.title, self.inputs, shared, self.name_in(), self.name_out(), SAME)


def composed(
    name: str, inputs: Sequence[SX], formula: Callable[..., Any], input_names: Sequence[str] = (),
    output_names: Sequence[str] = (),
) -> Composed:  # fmt: skip
    """The formula of these symbols as a function, its calls recorded.

    >>> import casadi
    >>> x = casadi.SX.sym("x")
    >>> square = casadi.Function("square", [x], [x**2])
    >>> fourth = composed("fourth", [x], lambda x: call(square, call(square, x)))
    >>> len(fourth.calls), fourth.inlined()(2)
    (2, DM(16))
    """
    import casadi

    with recording() as calls:
        made = formula(*inputs)
    outputs = [casadi.SX(x) for x in (made if isinstance(made, (list, tuple)) else [made])]
    return Composed(name, list(inputs), outputs, calls, list(input_names), list(output_names))


def subroutine(name: str, formula: Callable[..., Any], *sizes: int | tuple[int, int]) -> Callable[..., Any]:
    """A formula of columns, or matrices, of these sizes that native code contains once and calls.

    Whatever else it depends on, such as parameters and wrenches, goes along as one more argument.

    >>> import casadi
    >>> p = casadi.SX.sym("p")
    >>> double = subroutine("double", lambda x: 2 * p * x, 1)
    >>> double(casadi.SX(3))
    SX((6*p))
    """
    import casadi

    shapes = [(n, 1) if isinstance(n, int) else n for n in sizes]
    inputs = [casadi.SX.sym(f"{name}_{k}", *shape) for k, shape in enumerate(shapes)]
    with recording() as calls:
        found = formula(*inputs)
    outputs = [casadi.SX(x) for x in (found if isinstance(found, (list, tuple)) else [found])]
    used = casadi.symvar(casadi.veccat(*outputs, *(a for c in calls for a in c.arguments)))
    own = {s.element_hash() for s in casadi.symvar(casadi.veccat(*inputs, *(c.results for c in calls)))}
    free = casadi.vertcat(casadi.SX(0, 1), *(s for s in used if s.element_hash() not in own))
    taken, also = [k for k, shape in enumerate(shapes) if all(shape)], [free] if free.numel() else []
    f = Composed(name, [*(inputs[k] for k in taken), *also], outputs, calls)
    return lambda *arguments: call(f, *(arguments[k] for k in taken), *also)
