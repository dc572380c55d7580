"""Piecewise polynomials in time as native expressions: SciPy's `PPoly` with a symbol in place of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.operators import row_of
from eslabon.numerics.scalars import casadi

if TYPE_CHECKING:
    from scipy.interpolate import PPoly


def piecewise(poly: PPoly, t: Any, derivatives: int = 0) -> list[Any]:
    """The values of a piecewise polynomial at a symbolic time, and of its first derivatives, each a column of all entries.

    Before the first breakpoint it keeps its value there, after the last one likewise; derivatives are zero then. The coefficients
    of the piece are looked up in a table (`compiler.operators`).

    >>> import casadi
    >>> from scipy.interpolate import CubicHermiteSpline
    >>> t = casadi.SX.sym("t")
    >>> ramp = CubicHermiteSpline([0.0, 1.0, 3.0], [0.0, 1.0, 3.0], [1.0, 1.0, 1.0])
    >>> f = casadi.Function("f", [t], piecewise(ramp, t, 1))
    >>> [[float(x) for x in f(at)] for at in (-1.0, 0.5, 2.0, 4.0)]
    [[0.0, 0.0], [0.5, 1.0], [2.0, 1.0], [3.0, 0.0]]
    """
    knots: Floats = poly.x
    coefficients = poly.c.reshape(
        *poly.c.shape[:2], -1
    )  # (degree + 1, pieces, entries), highest power first
    within = casadi.fmin(casadi.fmax(t, knots[0]), knots[-1])
    piece = sum((within >= float(x) for x in knots[1:-1]), casadi.SX(0))
    rows = np.concatenate(
        [coefficients.transpose(1, 0, 2).reshape(len(knots) - 1, -1), knots[:-1, None]], axis=1
    )
    ends = [*range(0, rows.shape[1], coefficients.shape[2]), rows.shape[1]]
    found: list[Any] = casadi.vertsplit(row_of(rows, piece), ends)
    own, local = found[:-1], within - found[-1]
    made = [_horner(own, local)]
    inside = casadi.logic_and(t >= float(knots[0]), t <= float(knots[-1]))
    for _ in range(derivatives):
        degree = len(own) - 1
        own = [(degree - k) * c for k, c in enumerate(own[:-1])]
        made.append(inside * _horner(own, local))
    return made


def _horner(coefficients: list[Any], x: Any) -> Any:
    value = coefficients[0]
    for c in coefficients[1:]:
        value = value * x + c
    return value


def hermite(t: Floats, *derivatives: Floats) -> PPoly:
    """The piecewise polynomial through values and derivatives at times: cubic with one derivative, quintic with two."""
    from scipy.interpolate import BPoly, PPoly

    given = np.stack(derivatives, axis=1)  # (times, orders, entries)
    return PPoly.from_bernstein_basis(BPoly.from_derivatives(t, given))
