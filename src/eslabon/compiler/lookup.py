"""Rows of a constant table, by number: what lies between samples, such as gains along a trajectory.

    coefficients = row_of(table, floor(t / h))    # recorded like any other call (`compiler.calls`)

A graph of scalars has no memory to look into: there a row is a sum over all rows, of which one counts. Native code loads it. The
row's number has no derivative, and neither have its numbers, so that a looked-up row can be differentiated by whatever it is
multiplied with.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eslabon.compiler.calls import Call, call

SX = Any  # casadi.SX
_FOUND: ContextVar[list[Call] | None] = ContextVar("_FOUND", default=None)


@dataclass(frozen=True)
class Lookup:
    """A table as a function of the number of a row, with as much of `casadi.Function`'s interface as a caller needs. Numbers
    beyond the table mean its first or last row."""

    values: tuple[tuple[float, ...], ...]

    operations = 0

    def name(self) -> str:
        return "lookup"

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Of what goes in."""
        return [(1, 1)]

    def n_in(self) -> int:
        return 1

    def n_out(self) -> int:
        return 1

    def size_in(self, _: int) -> tuple[int, int]:
        return 1, 1

    def size_out(self, _: int) -> tuple[int, int]:
        return len(self.values[0]), 1

    def sparsity_in(self, k: int) -> Any:
        import casadi

        return casadi.Sparsity.dense(*self.size_in(k))

    def sparsity_out(self, k: int) -> Any:
        import casadi

        return casadi.Sparsity.dense(*self.size_out(k))

    def name_in(self) -> list[str]:
        return ["row"]

    def name_out(self) -> list[str]:
        return ["values"]

    def inlined(self) -> Any:
        """The same as a plain `casadi.Function`."""
        return self._inlined

    @cached_property
    def _inlined(self) -> Any:
        import casadi

        k, count = casadi.SX.sym("row"), len(self.values)
        passed: list[Any] = [k >= i for i in range(1, count)]
        here = casadi.vertcat(*(a * (1 - b) for a, b in zip([1, *passed], [*passed, 0], strict=True)))
        table = casadi.sparsify(casadi.DM(np.array(self.values).T))
        return casadi.Function(self.name(), [k], [casadi.densify(casadi.mtimes(table, here))])


@contextmanager
def lookups() -> Iterator[list[Call]]:
    """Keep lookups as calls and nothing else, where no calls are recorded: as C has them, which knows no other functions."""
    calls: list[Call] = []
    token = _FOUND.set(calls)
    try:
        yield calls
    finally:
        _FOUND.reset(token)


def row_of(table: np.ndarray[Any, Any], k: SX) -> SX:
    """The row of a number, a column of symbols; kept as a call where calls are recorded.

    >>> import casadi
    >>> t = casadi.SX.sym("t")
    >>> f = casadi.Function("f", [t], [row_of(np.array([[1.0, 2.0], [3.0, 4.0]]), t)])
    >>> f(0.5), f(1.0), f(7)
    (DM([1, 2]), DM([3, 4]), DM([3, 4]))
    """
    import casadi

    f, calls = Lookup(tuple(map(tuple, table.tolist()))), _FOUND.get()
    if calls is None:
        return call(f, k)
    symbols = casadi.SX.sym("row", table.shape[1])
    calls.append(Call(f, [casadi.SX(k)], symbols))
    return symbols
