"""Splines in time: a clamped B-spline of each stretch between two points, whose coefficients and duration are sought.

    x(t) = sum_i c_i N_i(s),  s = t / T,      x^(r) = sum_i c_i N_i^(r)(s) / T^r

The basis functions and their derivatives at given s are numbers; a motion is linear in its coefficients, and its rates are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from eslabon.arguments import Floats

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

ORDERS = 3  # derivatives that are used: velocity, acceleration, jerk
LOBATTO = (
    1 + np.array([-1.0, -np.sqrt(3 / 7), 0.0, np.sqrt(3 / 7), 1.0])
) / 2  # exact to degree seven
WEIGHTS = np.array([9.0, 49.0, 64.0, 49.0, 9.0]) / 180


@dataclass(frozen=True)
class SplineBasis:
    """The B-splines of a degree on [0, 1], with so many equal intervals between knots and clamped ends.

    >>> SplineBasis(intervals=4, degree=5).count
    9
    """

    intervals: int
    degree: int

    @property
    def count(self) -> int:
        """How many basis functions there are, and so coefficients."""
        return self.intervals + self.degree

    @cached_property
    def knots(self) -> Floats:
        ends = np.zeros(self.degree)
        return np.concatenate([ends, np.linspace(0, 1, self.intervals + 1), 1 + ends])

    def spline(self, coefficients: Floats) -> BSpline:
        """SciPy's spline of coefficients (count, ...)."""
        from scipy.interpolate import BSpline

        return BSpline(self.knots, coefficients, self.degree)

    def matrices(self, s: Floats) -> Floats:
        """The basis functions and their derivatives by s, (orders, len(s), count).

        >>> B = SplineBasis(4, 5).matrices(np.linspace(0, 1, 7))
        >>> bool(np.allclose(B[0].sum(axis=1), 1)), bool(np.allclose(B[1:].sum(axis=2), 0, atol=1e-9))
        (True, True)
        """
        own = self.spline(np.eye(self.count))
        return np.stack([own(s, order) for order in range(ORDERS + 1)])

    def quadrature(self) -> tuple[Floats, Floats]:
        """Points from 0 to 1, the knots among them, and weights of integrals (Gauss and Lobatto, five points an interval)."""
        start = np.arange(self.intervals)[:, None] / self.intervals
        s, w = (
            (start + LOBATTO / self.intervals),
            np.broadcast_to(WEIGHTS / self.intervals, (self.intervals, 5)).copy(),
        )
        w[1:, 0] += w[:-1, -1]
        return np.append(s[:, :-1], 1.0), np.append(w[:, :-1], w[-1, -1])

    def fitted(self, s: Floats, x: Floats) -> Floats:
        """The coefficients (count, n) of the spline nearest to values (len(s), n), which it meets at both ends."""
        B = self.matrices(s)[0]
        c = np.linalg.lstsq(B, x, rcond=None)[0]
        c[0], c[-1] = x[0], x[-1]
        return np.asarray(c)


@dataclass(frozen=True, eq=False)
class MotionSpline:
    """The motion of n coordinates, stretch after stretch: coefficients (count, n) and the duration of each.

    >>> basis = SplineBasis(4, 5)
    >>> s = np.linspace(0, 1, 30)
    >>> c = basis.fitted(s, (10 * s**3 - 15 * s**4 + 6 * s**5)[:, None])
    >>> x, v, a, jerk = MotionSpline(basis, (c,), np.array([2.0])).at(np.array([0.0, 1.0]))
    >>> x.ravel().round(9) + 0.0, v.ravel().round(9) + 0.0
    (array([0. , 0.5]), array([0.    , 0.9375]))
    """

    basis: SplineBasis
    coefficients: tuple[Floats, ...]
    durations: Floats

    @cached_property
    def breaks(self) -> Floats:
        """The times at which the stretches begin, and the end."""
        return np.concatenate([[0.0], np.cumsum(self.durations)])

    @property
    def duration(self) -> float:
        return float(self.breaks[-1])

    @cached_property
    def _splines(self) -> list[BSpline]:
        return [self.basis.spline(c) for c in self.coefficients]

    def at(self, t: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The coordinates, velocities, accelerations and jerks at times within the motion, (..., n) each."""
        flat = np.clip(np.ravel(t), 0.0, self.duration)
        piece = np.clip(
            np.searchsorted(self.breaks, flat, side="right") - 1, 0, len(self.durations) - 1
        )
        made = np.empty((ORDERS + 1, len(flat), self.coefficients[0].shape[1]))
        for k, (spline, T) in enumerate(zip(self._splines, self.durations, strict=True)):
            own = piece == k
            s = np.clip((flat[own] - self.breaks[k]) / T, 0.0, 1.0)
            for order in range(ORDERS + 1):
                made[order, own] = spline(s, order) / T**order
        x, v, a, jerk = made.reshape(ORDERS + 1, *np.shape(t), made.shape[-1])
        return x, v, a, jerk

    def at_places(self, places: tuple[Floats, ...]) -> tuple[Floats, Floats, Floats, Floats]:
        """The same at places from 0 to 1 of each stretch, stretch after stretch."""
        parts = []
        for spline, T, s in zip(self._splines, self.durations, places, strict=True):
            parts.append(np.stack([spline(s, order) / T**order for order in range(ORDERS + 1)]))
        x, v, a, jerk = np.concatenate(parts, axis=1)
        return x, v, a, jerk

    def times(self, places: tuple[Floats, ...]) -> Floats:
        """The times of such places; those where two stretches meet are there twice."""
        return np.concatenate(
            [b + T * s for b, T, s in zip(self.breaks, self.durations, places, strict=False)]
        )

    def lasting(self, duration: float) -> MotionSpline:
        """The same way over another time."""
        return MotionSpline(
            self.basis, self.coefficients, self.durations * duration / self.duration
        )
