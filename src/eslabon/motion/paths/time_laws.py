"""Motion laws: how far along its way a motion is, s(t) from 0 to 1, with exact derivatives.

A law takes `duration` seconds and stays at its ends outside [0, duration]. Laws that start and end
with zero velocity and acceleration say so: `law.rests` is true.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import pi
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from eslabon.displays import displayed
from eslabon.motion.paths.path_arguments import (
    Floats,
    PathError,
    duration_of,
    increasing,
    limits,
    numbers,
    positive,
    spline_degree,
    waiting,
    whole,
)
from eslabon.motion.paths.splines import interpolate

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

# End rates of a law of duration one that are round-off and not motion.
AT_REST = 1e-9


@displayed(also=("rests",))
@dataclass(frozen=True)
class Law:
    """A motion law s(t): call it with times, and with the order of the derivative.

    Parameters
    ----------
    name : str
        What the law is called.
    duration : float
        The time from the start to the end, rests included.
    profile : Cycloid or Piecewise The law over a duration of one: its derivatives, where they
        break, and their greatest values.
    before, after : float
        The rests at its two ends.

    >>> law = cycloidal(2.0)
    >>> law
    <Law: cycloidal, 2 s, rests at both ends>
    >>> law([-1.0, 0.0, 1.0, 2.0, 3.0])
    array([0. , 0. , 0.5, 1. , 1. ])
    >>> float(law(1.0, 1))
    1.0
    """

    name: str
    duration: float
    profile: Cycloid | Piecewise
    before: float = 0.0
    after: float = 0.0

    def __call__(self, t: ArrayLike, order: int = 0) -> Floats:
        """s, or its derivative of that order, at times of any shape."""
        order = whole(order, 0, 3, "a law has its value and three derivatives, order 0 to 3; order")
        tau = (numbers(t, "t") - self.before) / self.moving
        value = self.profile(np.clip(tau, 0.0, 1.0), order) / self.moving**order
        return value if order == 0 else np.where((tau >= 0.0) & (tau <= 1.0), value, 0.0)[()]

    def __repr__(self) -> str:
        ends = "rests at both ends" if self.rests else "velocity or acceleration jumps at the ends"
        return f"<Law: {self.name}, {self.duration:.6g} s, {ends}>"

    @property
    def moving(self) -> float:
        """The duration without the rests."""
        return self.duration - self.before - self.after

    @cached_property
    def rests(self) -> bool:
        """Whether velocity and acceleration are zero at both ends, so that the motion may start and
        stop there."""
        ends = np.array([0.0, 1.0])
        return all(np.abs(self.profile(ends, order)).max() < AT_REST for order in (1, 2))

    @property
    def breaks(self) -> Floats:
        """The times, both ends included, between which the law is smooth."""
        inner = self.before + self.moving * self.profile.breaks
        return np.unique(np.concatenate([[0.0], inner, [self.duration]]))

    def lasting(self, duration: float) -> Law:
        """The same law over another duration; its rests stretch with it."""
        ratio = duration_of(duration) / self.duration
        return replace(
            self, duration=float(duration), before=ratio * self.before, after=ratio * self.after
        )

    def wait(self, before: float = 0.0, after: float = 0.0) -> Law:
        """The law with rests at its ends: it keeps its value there and takes that much longer.

        >>> law = quintic(1.0).wait(before=0.5, after=1.0)
        >>> law.duration, float(law(0.4)), float(law(1.0)), float(law(2.0))
        (2.5, 0.0, 0.5, 1.0)
        """
        before, after = waiting(before, after)
        longer = self.duration + before + after
        return replace(self, duration=longer, before=self.before + before, after=self.after + after)

    def within(
        self,
        travel: ArrayLike = 1.0,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
    ) -> Law:
        """The law over the shortest duration in which a travel keeps given maxima; its rests stay
        as long as they are.

        Velocity and acceleration grow as T⁻¹ and T⁻², so T = max(L max|s'| / v, √(L max|s''| / a))
        with the maxima of the law of duration one. Travels and limits may be arrays, a number for
        each joint.

        >>> float(cycloidal(1.0).within(travel=3.0, velocity=2.0).duration)
        3.0
        """
        distance = np.abs(numbers(travel, "the travel"))
        if not distance.size:
            raise PathError("the travel is empty; give a number, or one for each joint.")
        needed = [
            (distance * self.profile.peak(order) / limits(limit, distance.shape, what))
            ** (1 / order)
            for order, limit, what in (
                (1, velocity, "the velocity"),
                (2, acceleration, "the acceleration"),
            )
            if limit is not None
        ]
        if not needed:
            raise PathError("give a limit to keep: velocity, acceleration or both.")
        moving = positive(np.max([np.max(T) for T in needed]), "the travel")
        return replace(self, duration=moving + self.before + self.after)


# --- profiles ----------------------------------------------------------------------------------------------------


class Cycloid:
    """s = τ - sin(2πτ) / 2π."""

    breaks = np.array([0.0, 1.0])

    def __call__(self, tau: Floats, order: int) -> Floats:
        # The n-th derivative of -sin(2πτ)/2π; τ itself adds to the value and to the first.
        wave = -((2 * pi) ** (order - 1)) * np.sin(2 * pi * tau + order * pi / 2)
        return wave + (tau if order == 0 else float(order == 1))

    def peak(self, order: int) -> float:
        return 2.0 if order == 1 else (2 * pi) ** (order - 1)


@dataclass(frozen=True)
class Piecewise:
    """A law made of polynomials."""

    polynomial: PPoly

    @property
    def breaks(self) -> Floats:
        return np.asarray(self.polynomial.x)

    def __call__(self, tau: Floats, order: int) -> Floats:
        return self.polynomial(tau, order)[()]

    def peak(self, order: int) -> float:
        """The greatest |derivative|: at the ends of the pieces, from either side, or where the next
        derivative is 0."""
        rate = self.polynomial.derivative(order)
        turns = rate.derivative().roots(discontinuity=False, extrapolate=False)
        turns = turns[np.isfinite(turns)]  # a piece that is constant has NaN for its roots
        at_ends = [rate.c[-1], np.polyval(rate.c, np.diff(rate.x))]
        return float(np.abs(np.concatenate([*at_ends, rate(turns)])).max())


def _power_series(*coefficients: float) -> Piecewise:
    """One polynomial, from its coefficients, the constant first."""
    from scipy.interpolate import PPoly

    return Piecewise(PPoly(np.array(coefficients[::-1])[:, None], [0.0, 1.0]))


def integrated_polygon(knots: Floats, values: Floats, times: int) -> Piecewise:
    """The polygon through values at knots, integrated from zero."""
    from scipy.interpolate import PPoly

    polygon = PPoly(np.stack([np.diff(values) / np.diff(knots), values[:-1]]), knots)
    return Piecewise(polygon.antiderivative(times))


# --- the laws ----------------------------------------------------------------------------------------------------


def cycloidal(duration: float) -> Law:
    """The cycloid s = τ - sin(2πτ)/2π, τ = t/T, at rest at both ends; peak velocity 2/T,
    acceleration 2π/T².

    >>> float(cycloidal(1.0)(0.25, 2)) / np.pi
    2.0
    """
    return Law("cycloidal", duration_of(duration), Cycloid())


def quintic(duration: float) -> Law:
    """The polynomial s = 10τ³ - 15τ⁴ + 6τ⁵, at rest at both ends; peak velocity 15/8T, acceleration
    10/√3 T².

    >>> float(quintic(1.0)(0.5, 1))
    1.875
    """
    return Law("quintic", duration_of(duration), _power_series(0, 0, 0, 10, -15, 6))


def septic(duration: float) -> Law:
    """The polynomial s = 35τ⁴ - 84τ⁵ + 70τ⁶ - 20τ⁷: at rest at both ends, and its jerk is zero
    there too.

    >>> float(septic(1.0)(1.0, 3))
    0.0
    """
    return Law("septic", duration_of(duration), _power_series(0, 0, 0, 0, 35, -84, 70, -20))


def trapezoidal(duration: float, fraction: float = 0.25) -> Law:
    """Constant acceleration, constant velocity, constant deceleration: the trapezium of velocities.

    Its acceleration jumps: it is not zero at the ends, so `rests` is false.

    Parameters
    ----------
    duration : float
        The time T.
    fraction : float The part of T spent accelerating, above 0 and up to 0.5 (a triangle of
        velocities); as much is spent braking. The acceleration is 1 / (fraction (1 - fraction) T²).

    >>> trapezoidal(1.0, fraction=0.5)([0.0, 0.5], 2)
    array([ 4., -4.])
    """
    fraction = positive(fraction, "the acceleration's fraction")
    if fraction > 0.5:
        raise PathError(
            f"the acceleration's fraction of the duration is at most 0.5; it is {fraction:g}."
        )
    knots = np.unique([0.0, fraction, 1.0 - fraction, 1.0])
    velocities = np.minimum(1.0, np.minimum(knots, 1.0 - knots) / fraction) / (1.0 - fraction)
    return Law("trapezoidal", duration_of(duration), integrated_polygon(knots, velocities, 1))


def spline_law(times: ArrayLike, values: ArrayLike, degree: int = 3, ends: str = "clamped") -> Law:
    """A law through given values of s at given times, by a cubic or quintic spline.

    Parameters
    ----------
    times : array_like, n
        The times, increasing; the law starts at the first.
    values : array_like, n
        s at these times. A law that comes back, such as 0, 1, 0, is welcome.
    degree : int
        3 or 5.
    ends : str "clamped" (zero velocity at the ends, and zero acceleration too when quintic),
        "periodic" or "free".

    >>> law = spline_law([0, 1, 3], [0, 0.5, 1], degree=5)
    >>> law.rests, float(law(1.0)), float(law(0.0, 2))
    (True, 0.5, 0.0)
    """
    s = numbers(values, "the values of s")
    if s.ndim != 1 or len(s) < 2:
        raise PathError(
            f"a spline law needs a list of at least two values of s; its shape is {s.shape}."
        )
    t, degree = increasing(times, len(s), "times"), spline_degree(degree)
    tau = (t - t[0]) / (t[-1] - t[0])
    name = f"{ends} {'cubic' if degree == 3 else 'quintic'} spline"
    return Law(name, float(t[-1] - t[0]), Piecewise(interpolate(tau, s, degree, ends)))
