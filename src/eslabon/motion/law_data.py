"""The numbers of a control law, such as gains, tables and references: data of its compiled code,
and no part of it.

A law's formula takes them by name, as `formula(n, t, q, v)` with `n.K`. In compiled code each name
is a symbol, and the numbers go in with every call, so that another gain, schedule or reference
needs no other code. In the C source of a law, and in expressions, they are constants.

What has a name is an array, an `Interpolant` or a `Trajectory`: anything with `data`, a column of
numbers `(..., count)`, with a `structure` that code is made for, with a `symbolic` form, and with a
`content` that tells it from others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import InputError
from eslabon.numerics.scalars import Expression, casadi, concatenate


class Datum(Protocol):
    """Numbers with a name."""

    @property
    def data(self) -> Floats:
        """The numbers, (..., count)."""

    @property
    def structure(self) -> Any:
        """What code is made for: all but the numbers."""

    @property
    def content(self) -> Any:
        """The numbers themselves, where `data` says only where they stand."""

    def symbolic(self, data: Expression | None) -> Any:
        """What a formula works with, of symbols for the numbers; of the numbers themselves as
        constants if left out."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """An array with the shape of one design, (n,) or (n, k); leading axes are those of
    trajectories."""

    values: Floats
    shape: tuple[int, ...]

    diagonal: bool = False  # whether only its diagonal is data: zeros beside it cost nothing

    @property
    def structure(self) -> tuple[Any, ...]:
        return *self.shape, self.diagonal

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.values.shape[: self.values.ndim - len(self.shape)]

    @property
    def data(self) -> Floats:
        if self.diagonal:
            return np.diagonal(self.values, axis1=-2, axis2=-1)
        return self.values.reshape(*self.batch, -1)

    @property
    def content(self) -> Floats:
        return self.values

    def symbolic(self, data: Expression | None) -> Expression:
        column = casadi.SX(self.data) if data is None else data
        if self.diagonal:
            return casadi.diag(column)
        rows, columns = (*self.shape, 1)[:2]
        return casadi.reshape(column, columns, rows).T


def matrix(values: Any, axes: int | None = None) -> Matrix:
    """An array as data; `axes` of one design are the last ones, all if left out."""
    made = np.ascontiguousarray(values, dtype=float)
    axes = made.ndim if axes is None else axes
    shape = made.shape[made.ndim - axes :]
    square = len(shape) == 2 and shape[0] == shape[1]
    return Matrix(made, shape, square and not (made * (1 - np.eye(shape[0]))).any())


@dataclass(frozen=True, eq=False)
class LawData:
    """All numbers of a law, by name.

    >>> LawData({"K": matrix([[1.0, 2.0]]), "tau": matrix([3.0])}).data
    array([1., 2., 3.])
    """

    parts: Mapping[str, Datum] = field(default_factory=dict)

    @property
    def data(self) -> Floats:
        """All of them as a column, (..., count)."""
        found = [part.data for part in self.parts.values()]
        return np.asarray(concatenate(*found)) if found else np.zeros(0)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many numbers each has."""
        return tuple(part.data.shape[-1] for part in self.parts.values())

    @property
    def size(self) -> int:
        """How many there are."""
        return sum(self.sizes)

    @cached_property
    def structure(self) -> tuple[tuple[str, Any, int], ...]:
        """What code is made for."""
        known = (part.structure for part in self.parts.values())
        return tuple(zip(self.parts, known, self.sizes, strict=True))

    @property
    def content(self) -> dict[str, Any]:
        """The numbers by name, the same in every process."""
        return {name: part.content for name, part in self.parts.items()}

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes of numbers that differ from trajectory to trajectory."""
        own = (x.batch for x in self.parts.values() if isinstance(x, Matrix | LawData))
        return np.broadcast_shapes(*own)

    def pick(self, batch: tuple[int, ...], index: Any) -> LawData:
        """Those of one trajectory of a batch."""
        if not self.batch:
            return self
        return replace(
            self, parts={name: _picked(x, batch, index) for name, x in self.parts.items()}
        )

    def symbolic(self, data: Expression | None) -> SimpleNamespace:
        """What a formula takes as `n`."""
        if data is None and self.batch:
            raise InputError(
                f"the law has numbers for trajectories of the shape {self.batch}; an expression, or its C source, is that of one."
            )
        made, first = {}, 0
        for (name, part), size in zip(self.parts.items(), self.sizes, strict=True):
            made[name] = part.symbolic(None if data is None else data[first : first + size])
            first += size
        return SimpleNamespace(**made)


def _picked(part: Datum, batch: tuple[int, ...], index: Any) -> Datum:
    if isinstance(part, LawData):
        return part.pick(batch, index)
    if not isinstance(part, Matrix):
        return part
    return replace(part, values=np.broadcast_to(part.values, (*batch, *part.shape))[index])


NO_NUMBERS = LawData()
