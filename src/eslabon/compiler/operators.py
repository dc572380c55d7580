"""Operators that are loops in native code: matrices too large to be unrolled, and tables.

    L = factored(structure, M)                     # the packed factor of a symmetric positive definite M = L^T D L
    X = solved(structure, L, B)                    # M X = B, or -B
    C = multiplied(structure, A, B, C0)            # C0 - A B, the entries of A packed row by row
    P = transposed_product(structure, A, B)        # (A B)^T, or -(A B)^T, likewise
    coefficients = row_of(table, floor(t / h))     # what lies between samples, such as gains along a trajectory
    start = row_of(starts, k)                      # the same of a matrix of expressions, such as an input
    coefficients = row_at(handle, t, 5)            # of a table that is data: other numbers need no other code

Each is one call (`compiler.calls`). Only entries that a structure has are computed with. A factor
is eliminated from the last row to the first and must make no new entries: a row that has an entry i
has, before it, what row i has (as the mass matrix of a tree numbered outward, or a full matrix).

A graph of scalars has no memory to look into: inlined, a row of a table is a sum over all rows, of
which one counts. Native code loads it. The row's number has no derivative, and neither have its
numbers, so that an inlined row can be differentiated by whatever it is multiplied with.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from eslabon.compiler.calls import Operator, operate
from eslabon.errors import GraphError
from eslabon.numerics.scalars import Expression, casadi


@dataclass(frozen=True)
class Rows:
    """The places of a matrix's entries, row by row; of a symmetric one those up to the diagonal,
    which comes last."""

    columns: tuple[tuple[int, ...], ...]
    width: int

    @cached_property
    def starts(self) -> list[int]:
        """Where rows begin among the packed entries, and where the last one ends."""
        return list(accumulate(map(len, self.columns), initial=0))

    @property
    def size(self) -> int:
        return self.starts[-1]

    def packed(self, A: Expression) -> Expression:
        """The entries as one column."""
        dense = casadi.densify(A)
        return casadi.vertcat(
            casadi.SX(0, 1), *(dense[i, list(row)].T for i, row in enumerate(self.columns) if row)
        )


def lower(M: Expression) -> Rows:
    """The structure of a symmetric matrix's lower triangle, every diagonal entry there."""
    rows: list[list[int]] = [[] for _ in range(M.shape[0])]
    sparsity = M.sparsity()
    for i, j in zip(sparsity.row(), sparsity.get_col(), strict=True):
        if j < i:
            rows[i].append(j)
    return Rows(tuple((*sorted(row), i) for i, row in enumerate(rows)), M.shape[0])


def entries(A: Expression) -> Rows:
    """The structure of any matrix."""
    rows: list[list[int]] = [[] for _ in range(A.shape[0])]
    sparsity = A.sparsity()
    for i, j in zip(sparsity.row(), sparsity.get_col(), strict=True):
        rows[i].append(j)
    return Rows(tuple(tuple(sorted(row)) for row in rows), A.shape[1])


@dataclass(frozen=True)
class MatrixOperator(Operator):
    """One of the four on matrices."""

    kind: str  # "factor", "solve", "multiply" or "product"
    rows: Rows
    columns: int = 1  # of the right-hand sides
    negative: bool = False

    @property
    def name(self) -> str:
        return self.kind

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Of what goes in."""
        packed, right = (self.rows.size, 1), (self.rows.width, self.columns)
        made = [packed] if self.kind == "factor" else [packed, right]
        return [*made, (self.height, self.columns)] if self.kind == "multiply" else made

    @property
    def result_shape(self) -> tuple[int, int]:
        """Of what comes out: that of the last one that goes in, but for a transposed product."""
        return (self.columns, self.height) if self.kind == "product" else self.shapes[-1]

    @property
    def height(self) -> int:
        """The rows of the matrix whose entries are packed."""
        return len(self.rows.columns)

    @property
    def operations(self) -> int:
        """How many there are in one evaluation."""
        if self.kind == "factor":
            return sum(len(row) ** 2 for row in self.rows.columns)
        return (4 if self.kind == "solve" else 2) * self.rows.size * self.columns

    def structure(self) -> tuple[list[Any], list[Any]]:
        into, out_of = (
            [casadi.Sparsity.dense(*shape) for shape in shapes]
            for shapes in (self.shapes, [self.result_shape])
        )
        return into, out_of

    def expressions(self, *arguments: Expression) -> list[Expression]:
        formulas: dict[str, Callable[..., Expression]] = {
            "factor": _factor,
            "solve": _solve,
            "multiply": _multiply,
            "product": _transposed_product,
        }
        made = formulas[self.kind](self.rows, *arguments)
        return [-made if self.negative else made]


def _factor(rows: Rows, M: Expression) -> Expression:
    packed: list[Expression] = casadi.vertsplit(M)
    for k in reversed(range(len(rows.columns))):
        start, *places = rows.starts[k], *rows.columns[k][:-1]
        column = packed[start : start + len(places)]
        inverse = 1 / packed[start + len(places)]
        for b, j in enumerate(places):
            for a in range(b + 1):
                packed[rows.starts[j] + a] -= column[b] * inverse * column[a]
        packed[start : start + len(places) + 1] = [*(x * inverse for x in column), inverse]
    return casadi.vertcat(*packed)


def _solve(rows: Rows, L: Expression, B: Expression) -> Expression:
    x: list[Expression] = casadi.vertsplit(B)
    for k in reversed(range(len(rows.columns))):
        for a, i in enumerate(rows.columns[k][:-1]):
            x[i] = x[i] - L[rows.starts[k] + a] * x[k]
    for k, row in enumerate(rows.columns):
        x[k] = x[k] * L[rows.starts[k + 1] - 1]
        for a, i in enumerate(row[:-1]):
            x[k] = x[k] - L[rows.starts[k] + a] * x[i]
    return casadi.vertcat(*x)


def _multiply(rows: Rows, A: Expression, B: Expression, C: Expression) -> Expression:
    made = []
    for i, row in enumerate(rows.columns):
        x = C[i, :]
        for a, j in enumerate(row):
            x = x - A[rows.starts[i] + a] * B[j, :]
        made.append(x)
    return casadi.vertcat(*made)


def _transposed_product(rows: Rows, A: Expression, B: Expression) -> Expression:
    return -_multiply(rows, A, B, casadi.SX.zeros(len(rows.columns), B.shape[1])).T


def factored(rows: Rows, M: Expression) -> Expression:
    """The rows of L, the inverse of D's entry in the place of its diagonal, packed.

    >>> import casadi
    >>> M = casadi.SX([[2.0, 1.0], [1.0, 4.0]])
    >>> casadi.evalf(factored(lower(M), M))
    DM([0.571429, 0.25, 0.25])
    """
    return operate(MatrixOperator("factor", rows), rows.packed(M))


def solved(rows: Rows, L: Expression, B: Expression, negative: bool = False) -> Expression:
    """X with M X = B, or M X = -B: a sign for each entry of B would be code for each.

    >>> import casadi
    >>> M = casadi.SX([[2.0, 1.0], [1.0, 4.0]])
    >>> casadi.evalf(solved(lower(M), factored(lower(M), M), casadi.SX([3.0, 5.0])))
    DM([1, 1])
    """
    return operate(MatrixOperator("solve", rows, B.shape[1], negative), L, B)


def multiplied(rows: Rows, A: Expression, B: Expression, C: Expression) -> Expression:
    """C - A B.

    >>> import casadi
    >>> A = casadi.SX([[0.0, 2.0], [3.0, 4.0]])
    >>> casadi.evalf(multiplied(entries(A), A, casadi.SX([1.0, 1.0]), casadi.SX([2.0, 7.0])))
    DM([0, 0])
    """
    return operate(MatrixOperator("multiply", rows, B.shape[1]), rows.packed(A), B, C)


def transposed_product(
    rows: Rows, A: Expression, B: Expression, negative: bool = False
) -> Expression:
    """(A B)^T, or -(A B)^T: the columns of a product with few entries in each row of its left
    factor.

    >>> import casadi
    >>> A = casadi.SX([[0.0, 2.0], [3.0, 4.0]])
    >>> casadi.evalf(transposed_product(entries(A), A, casadi.SX([1.0, 1.0])))
    DM([[2, 7]])
    """
    return operate(
        MatrixOperator("product", rows, B.shape[1], negative), rows.packed(A), casadi.densify(B)
    )


def inverse_pivots(rows: Rows, L: Expression) -> list[Expression]:
    """The inverse of every pivot."""
    return [L[end - 1] for end in rows.starts[1:]]


def closed(rows: Rows) -> bool:
    """Whether eliminating makes no new entries."""
    own = rows.columns
    return all(own[i][:-1] == row[:a] for row in own for a, i in enumerate(row[:-1]))


# Tables
# ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lookup(Operator):
    """A table as a function of the number of a row. Numbers beyond the table mean its first or last
    row."""

    values: tuple[tuple[float, ...], ...]

    name = "lookup"
    operations = 0

    def structure(self) -> tuple[list[Any], list[Any]]:
        return [casadi.Sparsity.dense(1, 1)], [casadi.Sparsity.dense(len(self.values[0]), 1)]

    def expressions(self, *arguments: Expression) -> list[Expression]:
        passed: list[Any] = [arguments[0] >= i for i in range(1, len(self.values))]
        here = casadi.vertcat(
            *(a * (1 - b) for a, b in zip([1, *passed], [*passed, 0], strict=True))
        )
        table = casadi.sparsify(casadi.DM(np.array(self.values).T))
        return [casadi.densify(casadi.mtimes(table, here))]


@dataclass(frozen=True)
class Pick(Operator):
    """A matrix and the number of one of its rows, taken as in a table: the row as a column."""

    rows: int
    columns: int

    name = "pick"
    operations = 0

    def structure(self) -> tuple[list[Any], list[Any]]:
        dense = casadi.Sparsity.dense
        return [dense(self.rows, self.columns), dense(1, 1)], [dense(self.columns, 1)]

    def expressions(self, *arguments: Expression) -> list[Expression]:
        matrix, k = arguments
        found = matrix[0, :]
        for i in range(1, self.rows):  # each entry alone: a NaN in another row stays there
            found = casadi.if_else(k >= i, matrix[i, :], found)
        return [casadi.densify(found.T)]


def row_of(table: np.ndarray[Any, Any] | Expression, k: Expression) -> Expression:
    """The row of a number, as a column. Numbers beyond the table mean its first or last row.

    The table is an array, or a matrix of expressions, whose rows native code loads as well.

    >>> import casadi
    >>> t = casadi.SX.sym("t")
    >>> f = casadi.Function("f", [t], [row_of(np.array([[1.0, 2.0], [3.0, 4.0]]), t)])
    >>> f(0.5), f(1.0), f(7)
    (DM([1, 2]), DM([3, 4]), DM([3, 4]))
    >>> starts = casadi.SX.sym("starts", 3, 2)
    >>> f = casadi.Function("f", [starts, t], [row_of(starts, t)])
    >>> f(casadi.DM([[1, 2], [3, 4], [5, 6]]), 2)
    DM([5, 6])
    """
    if isinstance(table, casadi.SX):
        if not table.shape[0]:
            raise GraphError("a matrix without rows has no row to take.")
        return operate(Pick(*table.shape), casadi.densify(table), k)
    return operate(Lookup(tuple(map(tuple, table.tolist()))), k)


# Tables that are data
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowAt(Operator):
    """The last row of a table whose first number does not exceed t. The table is data: its address
    and its number of rows go in, so that other tables, longer or shorter ones, need no other
    code."""

    columns: int

    name = "row_at"
    operations = 0
    kept = True

    def structure(self) -> tuple[list[Any], list[Any]]:
        one = casadi.Sparsity.dense(1, 1)
        return [one, one, one], [casadi.Sparsity.dense(self.columns, 1)]

    def expressions(self, *arguments: Expression) -> list[Expression]:
        raise GraphError("a table that is data is not a part of the graph.")

    def evaluate(self, arguments: Sequence[Any]) -> list[Any]:
        address, rows, t = (float(x) for x in arguments)
        shape = int(rows), self.columns
        numbers = (ctypes.c_double * (shape[0] * shape[1])).from_address(int(address))
        table = np.ctypeslib.as_array(numbers).reshape(shape)
        k = np.searchsorted(table[1:, 0], t, side="right") if t == t else 0
        return [casadi.DM(table[k])]


def table_handle(table: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Where a table of floats in row order stands, and how many rows it has: whoever hands these to
    code keeps the table alive meanwhile. Addresses of no machine have more digits than a float
    holds exactly."""
    assert table.shape == (len(table), table.shape[-1]), "a table has rows and columns"
    assert table.dtype == float
    assert table.flags.c_contiguous
    return float(table.ctypes.data), float(len(table))


def row_at(handle: Expression, t: Expression, columns: int) -> Expression:
    """The row that holds at t, as a column, of a table with so many columns, given as
    `table_handle` has it.

    >>> import casadi
    >>> table = np.array([[0.0, 10.0], [1.0, 20.0], [2.5, 30.0]])
    >>> handle, t = casadi.SX.sym("handle", 2), casadi.SX.sym("t")
    >>> f = casadi.Function("f", [handle, t], [row_at(handle, t, 2)])
    >>> [f(table_handle(table), x)[1] for x in (-1.0, 1.0, 2.0, 7.0)]
    [DM(10), DM(20), DM(20), DM(30)]
    """
    return operate(RowAt(columns), handle[0], handle[1], t)
