"""Piecewise polynomials in time as native expressions: SciPy's `PPoly` with a symbol in place of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats

if TYPE_CHECKING:
    from scipy.interpolate import PPoly


def piecewise(poly: PPoly, t: Any, derivatives: int = 0) -> list[Any]:
    """The values of a piecewise polynomial at a symbolic time, and of its first derivatives, each a column of all entries.

    Before the first breakpoint it keeps its value there, after the last one likewise; derivatives are zero then. Which piece
    counts is told by comparisons, of which one holds: what the pieces' coefficients are multiplied with is 0 or 1.

    >>> import casadi
    >>> from scipy.interpolate import CubicHermiteSpline
    >>> t = casadi.SX.sym("t")
    >>> ramp = CubicHermiteSpline([0.0, 1.0, 3.0], [0.0, 1.0, 3.0], [1.0, 1.0, 1.0])
    >>> f = casadi.Function("f", [t], piecewise(ramp, t, 1))
    >>> [[float(x) for x in f(at)] for at in (-1.0, 0.5, 2.0, 4.0)]
    [[0.0, 0.0], [0.5, 1.0], [2.0, 1.0], [3.0, 0.0]]
    """
    import casadi

    knots: Floats = poly.x
    coefficients = poly.c.reshape(*poly.c.shape[:2], -1)  # (degree + 1, pieces, entries), highest power first
    within = casadi.fmin(casadi.fmax(t, knots[0]), knots[-1])
    passed = [within >= float(x) for x in knots[1:-1]]
    here = casadi.vertcat(*(a * (1 - b) for a, b in zip([1, *passed], [*passed, 0], strict=True)))
    local = within - casadi.mtimes(casadi.DM(knots[:-1]).T, here)
    own = [casadi.mtimes(casadi.sparsify(casadi.DM(c.T)), here) for c in coefficients]
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
