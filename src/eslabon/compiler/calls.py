"""Functions that call one another: what repeats in a formula becomes code once and is called often.

    rates = casadi.Function("rates", [x], [...])
    def step(x):                                  # a formula like any other
        return x + h * call(rates, x + h / 2 * call(rates, x))

    f = casadi.Function("step", [x], [step(x)])   # native code calls `rates` twice, and contains it once

A call is a node of CasADi's graph: CasADi evaluates it and substitutes in its arguments, and
`program.read` finds it again. What native code computes by loops is an `Operator`, called in the
same way: a function repeated for many columns (`repeat`, `scan`), large matrices and tables
(`compiler.operators`). Operators have no derivatives, and those of other nodes are long: whoever
differentiates, prints or counts takes the `inlined` graph. A derivative through the call of a
`subroutine` or of an operator is an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eslabon.compiler.callbacks import function_of, operator_of
from eslabon.errors import GraphError
from eslabon.numerics.scalars import Expression, casadi

Table = tuple[tuple[int, ...], ...]
NO_DERIVATIVES = {"enable_forward": False, "enable_reverse": False, "enable_jacobian": False}
SAME = {"allow_duplicate_io_names": True}  # as a parameter may be called like an input


class Operator(ABC):
    """A function that native code has as loops: hashable data, its structure, and the same as plain
    expressions.

    One that is `kept` has none, such as the row of a table that is data: it stays in graphs that
    are inlined, and does not change where these are differentiated (`derived`).
    """

    kept = False

    @property
    @abstractmethod
    def name(self) -> str:
        """For CasADi and for messages."""

    @abstractmethod
    def structure(self) -> tuple[list[Any], list[Any]]:
        """The sparsities of inputs and outputs."""

    @abstractmethod
    def expressions(self, *arguments: Expression) -> list[Expression]:
        """The outputs as plain expressions."""

    def evaluate(self, arguments: Sequence[Any]) -> list[Any]:
        """The outputs for numbers."""
        made: list[Any] = self.plain.call(arguments)
        return made

    @cached_property
    def plain(self) -> Any:
        """The same as a `casadi.Function` without calls."""
        symbols = [casadi.SX.sym("x", s) for s in self.structure()[0]]
        outputs = zip(self.expressions(*symbols), self.structure()[1], strict=True)
        return casadi.Function(self.name, symbols, [casadi.project(x, s) for x, s in outputs])


def call(f: Any, *arguments: Expression) -> Any:
    """The results of a `casadi.Function` for symbolic arguments, as nodes of the graph: one, or a
    tuple.

    >>> import casadi
    >>> x = casadi.SX.sym("x")
    >>> square = casadi.Function("square", [x], [x**2])
    >>> call(square, x + 1)
    SX(square((x+1)){0})
    >>> inlined(call(square, x + 1))
    SX(sq((x+1)))
    """
    made = _called(f, _fitted(f, arguments))
    return made[0] if len(made) == 1 else tuple(made)


def _called(f: Any, arguments: list[Expression]) -> list[Expression]:
    structure = [f.sparsity_out(k) for k in range(f.n_out())]
    if not any(s.nnz() for s in structure):
        return [casadi.SX(s) for s in structure]  # of nothing but zeros there is no node
    made: list[Expression] = f.call(arguments, False, True)
    return made


def _fitted(f: Any, arguments: Sequence[Expression]) -> list[Expression]:
    """The arguments with the nonzeros that the function reads."""
    if len(arguments) != f.n_in():
        raise GraphError(f"{f.name()} takes {f.n_in()} arguments, not {len(arguments)}.")
    given = [casadi.SX(a) for a in arguments]
    for k, a in enumerate(given):
        if a.shape != f.size_in(k):
            raise GraphError(
                f"argument {k + 1} of {f.name()} is {f.size_in(k)}; {a.shape} was given."
            )
    return [casadi.project(a, f.sparsity_in(k)) for k, a in enumerate(given)]


def operate(operator: Operator, *arguments: Expression) -> Any:
    """The results of an operator, as nodes of the graph."""
    return call(function_of(operator), *arguments)


def subroutine(
    name: str, formula: Callable[..., Any], *sizes: int | tuple[int, int]
) -> Callable[..., Any]:
    """A formula of columns, or matrices, of these sizes that native code contains once and calls.

    Whatever else it depends on, such as parameters and wrenches, goes along as one more argument.

    >>> import casadi
    >>> p = casadi.SX.sym("p")
    >>> double = subroutine("double", lambda x: 2 * p * x, 1)
    >>> double(casadi.SX(3))
    SX(double(3,p){0})
    """
    shapes = [(n, 1) if isinstance(n, int) else n for n in sizes]
    inputs = [casadi.SX.sym(f"{name}_{k}", *shape) for k, shape in enumerate(shapes)]
    found = formula(*inputs)
    outputs = [casadi.SX(x) for x in (found if isinstance(found, (list, tuple)) else [found])]
    taken = [k for k, shape in enumerate(shapes) if all(shape)]
    also = free_symbols(inputs, outputs)
    f = casadi.Function(name, [*(inputs[k] for k in taken), *also], outputs, NO_DERIVATIVES)
    return lambda *arguments: call(f, *(arguments[k] for k in taken), *also)


def free_symbols(inputs: Sequence[Expression], outputs: Sequence[Expression]) -> list[Expression]:
    """A column of the symbols that outputs depend on besides inputs; nothing if there are none."""
    own = {s.element_hash() for s in casadi.symvar(casadi.veccat(*inputs))}
    used = casadi.symvar(casadi.veccat(*outputs))
    free = [s for s in used if s.element_hash() not in own]
    return [casadi.vertcat(*free)] if free else []


def apart(formula: Callable[..., Expression], *arguments: Expression) -> Expression:
    """The value of a formula that differentiates by symbols of its own, for arguments that may have
    calls.

    >>> import casadi
    >>> x, k = casadi.SX.sym("x"), casadi.SX.sym("k")
    >>> square = casadi.Function("square", [x], [x**2])
    >>> apart(lambda y: casadi.jacobian(k * y, k), call(square, x))
    SX(square(x){0})
    """
    given = [casadi.densify(casadi.SX(x)) for x in arguments]
    symbols = [casadi.SX.sym("x", *x.shape) for x in given]
    made: list[Expression] = casadi.substitute([formula(*symbols)], symbols, given)
    return made[0]


# Functions repeated for many columns
# ----------------------------------------------------------------------------------


def repeat(f: Any, *arguments: tuple[Expression, Sequence[int]]) -> Any:
    """A function of columns, called for many of them: results[:, r] = f(A[:, i[r]], B[:, j[r]],
    ...).

    Each argument is a matrix and the list of its columns to take. In native code this is a loop
    over a table, as long as there are repetitions; what a mass matrix is made of, M_ij = S_i^T F_j,
    has thousands.

    >>> import casadi
    >>> a, b = casadi.SX.sym("a", 2), casadi.SX.sym("b", 2)
    >>> dot = casadi.Function("dot", [a, b], [casadi.dot(a, b)])
    >>> A = casadi.SX([[1, 2], [3, 4]])
    >>> casadi.evalf(repeat(dot, (A, [0, 0, 1]), (A, [0, 1, 1])))
    DM([[10, 14, 20]])
    """
    return _over(f, [A for A, _ in arguments], _table(arguments), (None,) * len(arguments))


def unrolled(f: Any, *arguments: tuple[Expression, Sequence[int]]) -> Any:
    """The same as plain expressions, which leave out what is zero: for few columns."""
    made = Repeated(f, (), _table(arguments), (None,) * len(arguments)).expressions(
        *(A for A, _ in arguments)
    )
    return made[0] if len(made) == 1 else tuple(made)


def scan(
    f: Any, *arguments: tuple[Expression, Sequence[int]], back: Sequence[tuple[int, Sequence[int], Expression]]
) -> Any:  # fmt: skip
    """A recursion: `repeat`, whose function takes, after its other arguments, outputs of earlier
    repetitions.

    Each of `back` is the number of an output, for each repetition the earlier one it is taken from,
    and the column in its place where that is negative. What a tree does from the ground outward, or
    from its tips inward, is one loop so.

    >>> import casadi
    >>> x, total = casadi.SX.sym("x"), casadi.SX.sym("total")
    >>> add = casadi.Function("add", [x, total], [x + total])
    >>> casadi.evalf(scan(add, (casadi.SX([[1, 2, 3]]), range(3)), back=[(0, [-1, 0, 1], casadi.SX(10))]))
    DM([[11, 13, 16]])
    """
    earlier = [(first, [-1 - r if r >= 0 else 0 for r in rows]) for _, rows, first in back]
    every = [*arguments, *earlier]
    return _over(
        f,
        [A for A, _ in every],
        _table(every),
        (*(None for _ in arguments), *(o for o, _, _ in back)),
    )


def _table(arguments: Sequence[tuple[Expression, Sequence[int]]]) -> Table:
    return tuple(zip(*([int(c) for c in i] for _, i in arguments), strict=True))


def _over(f: Any, given: list[Expression], columns: Table, back: tuple[int | None, ...]) -> Any:
    """A function called for many columns."""
    matrices = [casadi.densify(casadi.SX(A)) for A in given]
    shapes = [f.size_in(k) for k in range(f.n_in())]
    if [(A.shape[0], 1) for A in matrices] != shapes or any(
        f.size_out(k)[1] != 1 for k in range(f.n_out())
    ):
        raise GraphError(
            f"{f.name()} cannot be repeated: it must take and give columns as long as those it is given."
        )
    if not columns:
        nothing = [casadi.SX(f.size_out(k)[0], 0) for k in range(f.n_out())]
        return nothing[0] if len(nothing) == 1 else tuple(nothing)
    return operate(Repeated(f, tuple(A.shape[1] for A in matrices), columns, back), *matrices)


@dataclass(frozen=True)
class Repeated(Operator):
    """A function called for each row of `columns`, which says what column of each matrix it takes.

    The matrices have as many columns as `widths` says. In a scan, some inputs are outputs of an
    earlier repetition: where `back` names an output for an input, a negative column -1 - r means
    that of repetition r.
    """

    function: Any  # casadi.Function
    widths: tuple[int, ...]
    columns: Table
    back: tuple[int | None, ...]

    name = "repeat"

    def structure(self) -> tuple[list[Any], list[Any]]:
        f = self.function
        inputs = [
            casadi.Sparsity.dense(f.size_in(k)[0], width) for k, width in enumerate(self.widths)
        ]
        outputs = [casadi.repmat(f.sparsity_out(k), 1, len(self.columns)) for k in range(f.n_out())]
        return inputs, outputs

    def expressions(self, *matrices: Expression) -> list[Expression]:
        f = inlined(self.function)
        made: list[list[Expression]] = []
        for row in self.columns:
            chosen = [
                made[-1 - c][o] if o is not None and c < 0 else A[:, c]
                for A, c, o in zip(matrices, row, self.back, strict=True)
            ]
            made.append(_results(f, self.function, chosen))
        return [
            casadi.horzcat(casadi.SX(f.size_out(k)[0], 0), *(results[k] for results in made))
            for k in range(f.n_out())
        ]


# Without calls
# --------------------------------------------------------------------------------------------------------


Kinds = type[Operator] | tuple[type[Operator], ...]


def inlined(x: Any, keep: Kinds = ()) -> Any:
    """A `casadi.Function`, an expression or a list of these without calls, but for those of some
    kinds of operators.

    >>> import casadi
    >>> x = casadi.SX.sym("x")
    >>> square = casadi.Function("square", [x], [x**2])
    >>> casadi.jacobian(inlined(call(square, call(square, x))), x)
    SX(((2.*sq(x))*(2.*x)))
    """
    if isinstance(x, casadi.Function):
        return _Inliner(keep).function(x)
    listed = [casadi.SX(y) for y in x] if isinstance(x, list | tuple) else [casadi.SX(x)]
    f = casadi.Function("expressions", [], listed, {"allow_free": True})
    made = _Inliner(keep).outputs(f) if _has_calls(f) else listed
    return made if isinstance(x, list | tuple) else made[0]


def derived(derive: Callable[[list[Expression]], Sequence[Expression]], x: Sequence[Expression]) -> list[Expression]:  # fmt: skip
    """Derivatives of expressions, by a function of the same without calls; operators that are kept
    do not change."""
    f = casadi.Function("expressions", [], [casadi.SX(y) for y in x], {"allow_free": True})
    inliner = _Inliner((), held=True)
    made = list(derive(inliner.outputs(f) if _has_calls(f) else list(x)))
    for symbols, rows in reversed(inliner.held):
        made = casadi.substitute(made, [symbols], [rows])
    return made


def _has_calls(f: Any) -> bool:
    return f.is_a("SXFunction") and bool(f.find_functions(0))


def _results(plain: Any, f: Any, given: list[Expression]) -> list[Expression]:
    """The results as expressions, with the structure that the function has: inlining may show more
    of them to be zero."""
    made = plain.call(given, True, False)
    return [casadi.project(x, f.sparsity_out(k)) for k, x in enumerate(made)]


def nonzeros(
    matrices: Sequence[Expression],
) -> list[Any]:  # of CasADi's scalars, which are taken where matrices are
    """All nonzeros, one matrix after the other."""
    return [e for x in matrices if x.nnz() for e in x.nz[:].elements()]


class _Inliner:
    """Replaces call nodes by their functions' own expressions, each function once; with `held`
    results of operators that are kept by symbols."""

    def __init__(self, keep: Kinds, held: bool = False) -> None:
        self._keep, self._hold = keep, held
        self.held: list[tuple[Expression, Expression]] = []  # symbols, and what they stand for
        # By the hash of a function, which is kept, so that no other one gets its hash.
        self._plain: dict[int, tuple[Any, Any]] = {}

    def function(self, f: Any) -> Any:
        if not _has_calls(f):
            return f
        if hash(f) not in self._plain:
            plain = casadi.Function(
                f.name(), f.sx_in(), self.outputs(f), f.name_in(), f.name_out(), SAME
            )
            self._plain[hash(f)] = f, plain
        return self._plain[hash(f)][1]

    def outputs(self, f: Any) -> list[Expression]:
        """The outputs of an Expression function as plain expressions of its own symbols.

        Only what depends on a call is computed again; everything else is taken as it stands in the
        graph.
        """
        stands, own = f.instructions_sx().elements(), [nonzeros([x]) for x in f.sx_in()]
        identity, inputs, outputs = f.instruction_id, f.instruction_input, f.instruction_output
        value: dict[int, Expression] = {}  # of a slot of the work vector now
        anew: set[int] = set()  # slots that depend on a call
        made: list[dict[int, Expression]] = [{} for _ in range(f.n_out())]
        for k in range(f.n_instructions()):
            operation, source, target = identity(k), inputs(k), outputs(k)
            if operation == casadi.OP_OUTPUT:
                made[target[0]][target[1]] = value[source[0]]
            elif operation == casadi.OP_CALL:
                found = self._inside(stands[k].which_function(), [value[s] for s in source])
                value.update(zip(target, found, strict=True))
                anew.update(target)
            elif operation == casadi.OP_INPUT:
                value[target[0]] = own[source[0]][source[1]]
                anew.discard(target[0])
            elif not anew.isdisjoint(source):
                compute = casadi.SX.unary if len(source) == 1 else casadi.SX.binary
                value[target[0]] = compute(operation, *(value[s] for s in source))
                anew.add(target[0])
            else:
                value[target[0]] = stands[k]
                anew.discard(target[0])
        return [
            casadi.SX(
                f.sparsity_out(k), casadi.vertcat(casadi.SX(0, 1), *(x[n] for n in range(len(x))))
            )
            for k, x in enumerate(made)
        ]

    def _inside(self, f: Any, values: list[Expression]) -> list[Expression]:
        """The nonzeros of a function's results."""
        taken = iter(values)
        given = [_filled(f.sparsity_in(k), taken) for k in range(f.n_in())]
        operator = operator_of(f)
        if operator is not None and (operator.kept or isinstance(operator, self._keep)):
            made = _called(f, given)
            if operator.kept and self._hold:
                rows = casadi.vertcat(*made)
                self.held.append((casadi.SX.sym("row", rows.numel()), rows))
                made = [self.held[-1][0]]
            return nonzeros(made)
        if operator is not None:
            made = operator.expressions(*given)
            return nonzeros([casadi.project(x, f.sparsity_out(k)) for k, x in enumerate(made)])
        return nonzeros(_results(self.function(f), f, given))


def _filled(sparsity: Any, values: Iterator[Expression]) -> Expression:
    """A matrix of the next values."""
    return casadi.SX(
        sparsity, casadi.vertcat(casadi.SX(0, 1), *(next(values) for _ in range(sparsity.nnz())))
    )
