"""Gains and forces along a reference, tabulated from linear models of one batched call and
interpolated natively."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite
from eslabon.errors import InputError
from eslabon.motion.interpolation import ENDLESS, Interpolant
from eslabon.motion.law_data import Datum, matrix
from eslabon.motion.trajectory import Trajectory
from eslabon.numerics.scalars import casadi

FIRST, MOST = 8, 64  # intervals, to begin with and at most
CLOSE = 1e-3  # of the largest value: how near what lies between comes


def schedule_times(reference: Trajectory, times: ArrayLike | None) -> Floats | None:
    """The times that the user wants; None where they are to be found."""
    if times is None:
        if reference.span == ENDLESS and not reference.held:
            raise InputError(
                "this reference has no end; say by times=... when gains are to be tabulated."
            )
        return np.zeros(1) if reference.held else None
    made = finite(times, "times")
    if made.ndim != 1 or len(made) < 2 or not (np.diff(made) > 0).all():
        raise InputError("times are two or more, and increase.")
    reference.at(made)  # or a sentence
    return made


def tabulated(
    f: Callable[[Floats], Floats], reference: Trajectory, times: ArrayLike | None
) -> tuple[Floats, Floats]:
    """Times and the values of a function there, so many that what lies between them comes near."""
    chosen = schedule_times(reference, times)
    if chosen is not None:
        return chosen, f(chosen)
    intervals = FIRST
    t = np.linspace(*reference.span, 2 * FIRST + 1)
    values = f(t)
    while intervals < MOST:
        between = Interpolant.monotone(t[::2], values[::2])
        if np.abs(between.at(t[1::2]) - values[1::2]).max() <= CLOSE * max(
            1e-300, np.abs(values).max()
        ):
            break
        intervals *= 2
        t = np.linspace(*reference.span, 2 * intervals + 1)
        values = f(t)
    return t, values


@dataclass(frozen=True, eq=False)
class GainSchedule:
    """Matrices in time, (times, rows, columns), as data of a law (`motion.law_data`): interpolated,
    or one for all times."""

    t: Floats
    values: Floats

    @cached_property
    def _numbers(self) -> Datum:
        made = Interpolant.monotone(self.t, self.values) if len(self.t) > 1 else None
        return made or matrix(self.values[0])

    @property
    def data(self) -> Floats:
        return self._numbers.data

    @property
    def structure(self) -> Any:
        return len(self.t) > 1, self.values.shape[1:]

    @property
    def content(self) -> Any:
        return self.t, self.values

    def symbolic(self, data: Any) -> Callable[[Any], Any]:
        """The matrix at a symbolic time."""
        made, (rows, columns) = self._numbers.symbolic(data), self.values.shape[1:]
        if len(self.t) == 1:
            return lambda time: made
        return lambda time: casadi.reshape(made.at_symbol(time)[0], columns, rows).T
