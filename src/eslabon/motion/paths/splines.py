"""Interpolating splines, all from SciPy: laws, curves and joint paths choose among the same
ends."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.errors import format_value, suggest
from eslabon.motion.paths.path_arguments import SAME, Floats, PathError, spline_degree

if TYPE_CHECKING:
    from scipy.interpolate import BSpline, PPoly

ENDS = ("clamped", "periodic", "free")


def interpolate(knots: Floats, values: Floats, degree: int = 3, ends: str = "free") -> PPoly:
    """The spline of degree 3 or 5 through values at knots, as a piecewise polynomial; axis 0 counts
    the knots.

    A cubic is smooth to the second derivative and a quintic to the fourth. `ends` is

    * "clamped": the first derivative is zero at both ends; for a quintic the second also;
    * "periodic": the end joins the start smoothly, and the last value must equal the first;
    * "free": not-a-knot for a cubic; for a quintic the third and fourth derivatives are zero at
      both ends.

    >>> spline = interpolate(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0]), ends="clamped")
    >>> float(spline(1.0)), float(spline(0.0, 1))
    (1.0, 0.0)
    """
    from scipy.interpolate import CubicSpline, make_interp_spline

    degree = spline_degree(degree)
    if not isinstance(ends, str) or ends not in ENDS:
        raise PathError(f"ends is {format_value(ends)}{suggest(ends, ENDS)}")
    if ends == "periodic":
        values = _closed(values)
    if ends == "free" and len(knots) <= degree // 2:
        degree = 3  # a cubic makes do with two points, and gives the straight line through them
    if degree == 3:
        return CubicSpline(knots, values, bc_type="not-a-knot" if ends == "free" else ends)
    return _polynomials(
        make_interp_spline(knots, values, k=5, bc_type=_quintic_ends(ends, values)), knots
    )


def _closed(values: Floats) -> Floats:
    """Values whose last is the first to the last bit, as SciPy wants them."""
    if np.abs(values[-1] - values[0]).max() > SAME * np.ptp(values, axis=0).max():
        raise PathError(
            "a periodic spline must end where it starts; let the last point repeat the first."
        )
    if len(values) < 4:
        raise PathError(
            f"a periodic spline needs at least three different points; it has {len(values) - 1}."
        )
    return np.concatenate([values[:-1], values[:1]])


def _quintic_ends(ends: str, values: Floats) -> Any:
    if ends == "periodic":
        return ends
    zero = np.zeros(values.shape[1:])
    one_end = [(order, zero) for order in ((1, 2) if ends == "clamped" else (3, 4))]
    return one_end, one_end


def _polynomials(spline: BSpline, knots: Floats) -> PPoly:
    """A B-spline as the polynomials between its knots, by their Taylor coefficients
    (PPoly.from_spline is for scalars)."""
    from scipy.interpolate import PPoly

    orders = range(spline.k, -1, -1)
    return PPoly(
        np.stack([spline(knots[:-1], order) / factorial(order) for order in orders]), knots
    )


def chords(points: Floats) -> Floats:
    """Knots from 0 to 1, apart as the points are: what makes a spline's speed nearly even.

    >>> chords(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 9.0]]))
    array([0. , 0.5, 1. ])
    """
    travelled = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    return np.asarray(travelled / travelled[-1])
