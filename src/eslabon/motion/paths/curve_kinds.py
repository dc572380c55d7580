"""The kinds of curves: straight lines, arcs, helices, splines through points, and any formula."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import flag
from eslabon.motion.paths import path_arguments
from eslabon.motion.paths.path_arguments import SAME, Floats, PathError
from eslabon.motion.paths.space_curve import HIGHEST_ORDER, Curve
from eslabon.motion.paths.splines import chords, interpolate
from eslabon.numerics.scalars import casadi


def line(start: ArrayLike, end: ArrayLike) -> Curve:
    """The straight line from one point to another.

    >>> line([0, 0, 0], [2, 0, 0])(0.25)
    array([0.5, 0. , 0. ])
    """
    first, last = (
        path_arguments.vector3(start, "the line's start"),
        path_arguments.vector3(end, "the line's end"),
    )
    if np.array_equal(first, last):
        raise PathError(
            "the line starts and ends in the same point; use paths.point for a turn in place."
        )
    return _line("line", first, last - first)


def _line(name: str, start: Floats, way: Floats) -> Curve:
    """p = start + s way."""

    def derivative(s: Floats, order: int) -> Floats:
        along = (s, np.ones_like(s))[order] if order < 2 else np.zeros_like(s)
        return along[..., None] * way + (start if order == 0 else 0.0)

    return Curve(name, derivative, even=True)


def point(position: ArrayLike) -> Curve:
    """A curve that stays where it is, for motions that only turn.

    >>> point([1, 2, 3])([0, 1])
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """
    return _line("point", path_arguments.vector3(position, "the point"), np.zeros(3))


# --- arcs and helices --------------------------------------------------------------------------------------------


def helix(
    center: ArrayLike, start: ArrayLike, axis: ArrayLike, angle: float, pitch: float
) -> Curve:
    """A helix about an axis; its curvature is r / (r² + pitch²) and its torsion pitch / (r² +
    pitch²).

    Parameters
    ----------
    center : array_like, 3
        Any point of the axis.
    start : array_like, 3
        Where the helix starts, not on the axis; its distance from it is the radius r.
    axis : array_like, 3
        The axis, right-handed: the way the helix rises when `pitch` is positive.
    angle : float
        The angle it turns through, in radians.
    pitch : float
        The rise in metres per radian, as of helical joints.

    >>> helix([0, 0, 0], [1, 0, 0], [0, 0, 1], angle=np.pi, pitch=1.0)(1.0).round(12)
    array([-1.        ,  0.        ,  3.14159265])
    """
    return _screw("helix", center, start, axis, angle, pitch)


def arc(center: ArrayLike, start: ArrayLike, normal: ArrayLike, angle: float) -> Curve:
    """An arc of a circle about the axis through `center` along `normal`, from `start` through
    `angle` radians.

    The circle lies in the plane through `start`; an angle of 2π is the whole circle.

    >>> arc([0, 0, 0], [1, 0, 0], [0, 0, 1], np.pi / 2)(1.0).round(12)
    array([0., 1., 0.])
    """
    return _screw("arc", center, start, normal, angle, 0.0)


def _screw(
    name: str, center: ArrayLike, start: ArrayLike, axis: ArrayLike, angle: float, pitch: float
) -> Curve:
    c, p = (
        path_arguments.vector3(center, f"the {name}'s center"),
        path_arguments.vector3(start, f"the {name}'s start"),
    )
    e = path_arguments.direction(axis, f"the {name}'s axis")
    turn, climb = path_arguments.numbers([angle, pitch], f"the {name}'s angle")
    if turn == 0.0:
        raise PathError(
            f"the {name} turns through an angle of zero; give one in radians, such as pi."
        )
    foot = c + (p - c) @ e * e
    radius = p - foot
    if np.linalg.norm(radius) <= SAME * np.linalg.norm(p - c):
        raise PathError(f"the {name} starts on its axis; it needs a radius.")
    across, rise = np.cross(e, radius), climb * turn * e

    def derivative(s: Floats, order: int) -> Floats:
        phase = turn * s + order * pi / 2  # each derivative is a quarter turn ahead
        circle = np.cos(phase)[..., None] * radius + np.sin(phase)[..., None] * across
        straight = foot + s[..., None] * rise if order == 0 else rise if order == 1 else 0.0
        return np.asarray(turn**order * circle + straight)

    return Curve(name, derivative, even=True)


def arc_through(first: ArrayLike, second: ArrayLike, third: ArrayLike) -> Curve:
    """The arc of a circle from the first point through the second to the third.

    >>> arc_through([1, 0, 0], [0, 1, 0], [-1, 0, 0])(0.5).round(12)
    array([0., 1., 0.])
    """
    a, b, c = (
        path_arguments.vector3(p, f"the arc's {w} point")
        for p, w in ((first, "first"), (second, "second"), (third, "third"))
    )
    u, v = b - a, c - a
    normal = np.cross(u, v)
    if np.linalg.norm(normal) <= SAME * np.linalg.norm(u) * np.linalg.norm(v):
        raise PathError(
            "the arc's three points lie on one line or two of them are equal; use paths.line."
        )
    center = a + (v @ v * np.cross(normal, u) + u @ u * np.cross(v, normal)) / (2 * normal @ normal)
    across = np.cross(normal / np.linalg.norm(normal), a - center)
    angle = np.arctan2((c - center) @ across, (c - center) @ (a - center)) % (2 * pi)
    return arc(center, a, normal, angle)


# --- splines -----------------------------------------------------------------------------------------------------


def spline(
    points: ArrayLike, degree: int = 5, periodic: bool = False, knots: ArrayLike | None = None
) -> Curve:
    """The smooth curve through points.

    Parameters
    ----------
    points : array_like, n x 3
        The points, in order.
    degree : int
        5, smooth to the fourth derivative, as a Frenet frame wants; or 3, smooth to the second.
    periodic : bool
        Whether the curve closes smoothly; the first point is added at the end unless it is there.
    knots : array_like, n The parameters of the points, increasing, scaled to 0 ... 1. Left out,
        they are apart as the points are.

    >>> closed = spline([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]], periodic=True)
    >>> closed.knots
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    p, periodic = path_arguments.points(points, "the spline", 3), flag(periodic, "periodic")
    if periodic and np.linalg.norm(p[-1] - p[0]) > SAME * np.ptp(p, axis=0).max():
        p = np.concatenate([p, p[:1]])
    u = chords(p) if knots is None else path_arguments.increasing(knots, len(p), "knots")
    u = (u - u[0]) / (u[-1] - u[0])
    name = f"{'closed ' if periodic else ''}spline through {len(p) - periodic} points"
    polynomial = interpolate(u, p, degree, "periodic" if periodic else "free")
    return Curve(name, polynomial, np.asarray(polynomial.x), knots=u)


# --- formulas ----------------------------------------------------------------------------------------------------

Components = Callable[[Any], Any]  # three components from the parameter
Sampled = Callable[[Floats], Floats]  # points (..., 3) from parameters


def curve(
    function: Components,
    start: float = 0.0,
    end: float = 1.0,
    name: str = "curve",
) -> Curve:
    """The curve of any formula.

    Parameters
    ----------
    function : callable Gives the three components of p(u). It is called with a CasADi symbol and
        may use NumPy's functions (`np.cos(u)`) or CasADi's; exact derivatives come from its graph.
    start, end : float
        The range of u.
    name : str
        What to call it.

    >>> ellipse = curve(lambda u: (2 * np.cos(u), np.sin(u), 0), 0, 2 * np.pi)
    >>> ellipse(0.25).round(12), float(ellipse.curvature(0.0).round(12))
    (array([0., 1., 0.]), 2.0)
    """
    a, b = path_arguments.numbers([start, end], "the range of the curve")
    if a == b:
        raise PathError(f"the range of the curve is empty: it starts and ends at {a:g}.")
    known = _traced(function)

    def derivative(s: Floats, order: int) -> Floats:
        return np.asarray((b - a) ** order * known[order](a + (b - a) * s))

    made = Curve(name, derivative)
    s = np.linspace(0.0, 1.0, 33)
    broken = s[~np.isfinite(made(s)).all(axis=-1)]
    if broken.size:
        raise PathError(
            f"the {name}'s function gives no finite point at u = {a + (b - a) * broken[0]:.6g}; if it is no formula, "
            "lay a spline through its points."
        )
    return made


def _traced(function: Components) -> tuple[Sampled, ...]:
    """A formula and its four derivatives, by CasADi's automatic differentiation."""
    u = casadi.SX.sym("u")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", FutureWarning
            )  # CasADi's notice on NumPy functions; ours are elementwise
            components = function(u)
        count = components.numel() if isinstance(components, casadi.SX) else len(components)
        rows = [components[i] for i in range(count)]
        expression = casadi.vertcat(*rows)
    except Exception as error:
        raise PathError(
            f"the curve's function is no formula that can be differentiated ({type(error).__name__}: {error}); write "
            "it with NumPy functions of one number, or lay a spline through its points."
        ) from error
    _require_three(count)
    found = []
    for _ in range(HIGHEST_ORDER + 1):
        found.append(_evaluated(casadi.Function("p", [u], [casadi.densify(expression)])))
        expression = casadi.jacobian(expression, u)
    return tuple(found)


def _evaluated(compiled: Any) -> Sampled:
    def sampled(u: Floats) -> Floats:
        if not u.size:  # CasADi takes an empty batch for one zero
            return np.empty((*u.shape, 3))
        return compiled(u.reshape(1, -1)).full().T.reshape(*u.shape, 3)

    return sampled


def _require_three(count: int) -> None:
    if count != 3:
        raise PathError(f"the curve's function must give three components; it gives {count}.")
