"""Curves made of curves: run at even speed, chained, and polygons with rounded corners."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from eslabon.motion.paths import path_arguments
from eslabon.motion.paths.arc_length import panel_of
from eslabon.motion.paths.curve_kinds import arc, line
from eslabon.motion.paths.path_arguments import SAME, Floats, PathError
from eslabon.motion.paths.space_curve import Curve, as_curve, dot, smooth_panels

# Newton's steps to the parameter of a length: they start a few per cent off and square their error
# each time, so one that began this close ends at rounding.
STEPS, CLOSE = 8, 1e-9

# Tangents that differ by more than this many radians make a corner.
CORNER = 1e-6


# --- even speed --------------------------------------------------------------------------------------------------


def evenly(curve: Curve) -> Curve:
    """The same curve p(u(s)) run at even speed: its parameter s is the part of its length that is
    behind.

    >>> from eslabon.motion.paths import curve
    >>> evenly(curve(lambda u: (u**2, 0, 0), 1, 3))(0.5).round(12)
    array([5., 0., 0.])
    """
    if as_curve(curve).even:
        return curve
    smooth_panels(curve)  # to say so where it has a cusp, at which no even speed is smooth
    breaks = curve.travelled(curve.breaks) / curve.length
    breaks[-1] = 1.0

    def derivative(s: Floats, order: int) -> Floats:
        u = _parameter(curve, s)
        if order == 0:
            return curve.derivative(u, 0)
        p = [curve.derivative(u, k) for k in range(1, order + 1)]
        u1, u2, u3, u4 = (c[..., None] for c in _parameter_rates(p, curve.length))
        p1, p2, p3, p4 = _four(p)
        return (
            p1 * u1,
            p2 * u1**2 + p1 * u2,
            p3 * u1**3 + 3 * p2 * u1 * u2 + p1 * u3,
            p4 * u1**4 + 6 * p3 * u1**2 * u2 + p2 * (3 * u2**2 + 4 * u1 * u3) + p1 * u4,
        )[order - 1]

    return Curve(curve.name, derivative, breaks, even=True)


def _parameter(curve: Curve, s: Floats) -> Floats:
    """The u at which the part s of the length is behind."""
    travelled, goal = curve.travelled, s * curve.length
    panel = panel_of(travelled.totals, goal)
    lengths, steps = np.diff(travelled.totals)[panel], np.diff(travelled.knots)[panel]
    u = travelled.knots[panel] + (goal - travelled.totals[panel]) / lengths * steps
    for _ in range(STEPS):
        missing = goal - travelled.totals[panel] - travelled.over(panel, u)
        u = u + missing / np.linalg.norm(curve.derivative(u, 1), axis=-1)
        if np.abs(missing).max(initial=0.0) < CLOSE * curve.length:
            break
    return np.asarray(u)


def _parameter_rates(p: list[Floats], length: float) -> tuple[Floats, Floats, Floats, Floats]:
    """The derivatives of u by s, from u' = g(u) = L/√v with v = |dp/du|²; those the order does not
    need are wrong."""
    p1, p2, p3, p4 = _four(p)
    v = dot(p1, p1)
    a, b, c = (
        x / v for x in (dot(p1, p2), dot(p2, p2) + dot(p1, p3), 3 * dot(p2, p3) + dot(p1, p4))
    )  # v^(k) / 2v
    g = length / np.sqrt(v)
    g1, g2, g3 = -g * a, g * (3 * a**2 - b), g * (-15 * a**3 + 9 * a * b - c)
    return g, g * g1, g * (g1**2 + g * g2), g * (g1**3 + 4 * g * g1 * g2 + g**2 * g3)


def _four(p: list[Floats]) -> list[Floats]:
    return p + [np.zeros_like(p[0])] * (4 - len(p))


# --- chains ------------------------------------------------------------------------------------------------------


def chain(*curves: Curve) -> Curve:
    """Curves one after another as one, run at even speed.

    Each must start where the one before ends, and in the same direction: at a corner a motion must
    stop, so there join paths instead (`path.then`), or round the corner (`rounded`). Where the
    curvature jumps, as from a line to an arc, so does the acceleration, and of a frame that follows
    the tangent the angular velocity.

    >>> from eslabon.motion.paths import arc, line
    >>> bend = chain(line([0, -1, 0], [1, -1, 0]), arc([1, 0, 0], [1, -1, 0], [0, 0, 1], np.pi / 2))
    >>> len(bend.pieces), round(bend.length, 6)
    (2, 2.570796)
    """
    if not curves:
        raise PathError("a chain needs at least one curve.")
    for curve in curves:
        as_curve(curve)
    for k, (first, second) in enumerate(pairwise(curves)):
        end, start = first(1.0), second(0.0)
        if (gap := float(np.linalg.norm(start - end))) > SAME * max(first.length, second.length):
            raise PathError(
                f"curve {k + 1} of the chain starts {gap:.6g} m from the end of curve {k}."
            )
        ahead, behind = second.tangent(0.0), first.tangent(1.0)
        if (
            turn := float(np.arctan2(np.linalg.norm(np.cross(behind, ahead)), behind @ ahead))
        ) > CORNER:
            raise PathError(
                f"there is a corner of {np.degrees(turn):.4g} degrees between curves {k} and {k + 1} of the chain; "
                "round it with an arc, or make two paths and join them with then."
            )
    pieces = tuple(evenly(curve) for curve in curves)
    lengths = np.array([piece.length for piece in pieces])
    joints = np.concatenate([[0.0], np.cumsum(lengths) / lengths.sum()])
    joints[-1] = 1.0
    shares = np.diff(joints)

    def derivative(s: Floats, order: int) -> Floats:
        place, result = panel_of(joints, s), np.empty((*s.shape, 3))
        for k in np.unique(place):
            here = place == k
            result[here] = (
                pieces[k].derivative((s[here] - joints[k]) / shares[k], order) / shares[k] ** order
            )
        return result

    inner = [
        start + share * p.breaks[:-1]
        for p, start, share in zip(pieces, joints[:-1], shares, strict=True)
    ]
    breaks = np.append(np.unique(np.concatenate(inner)), 1.0)
    return Curve(
        f"chain of {len(pieces)} curves", derivative, breaks, even=True, knots=joints, pieces=pieces
    )


def rounded(points: ArrayLike, radius: float) -> Curve:
    """The polygon through points with its corners rounded: lines and arcs of a given radius.

    >>> rounded([[0, 0, 0], [2, 0, 0], [2, 2, 0]], radius=1.0)(0.5).round(6)
    array([1.707107, 0.292893, 0.      ])
    """
    p, r = (
        path_arguments.points(points, "the polygon", 3),
        path_arguments.positive(radius, "the radius"),
    )
    lengths = np.linalg.norm(np.diff(p, axis=0), axis=1)
    ways = np.diff(p, axis=0) / lengths[:, None]
    turns = [np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b) for a, b in pairwise(ways)]
    if turns and max(turns) > np.pi - CORNER:
        raise PathError(
            f"the polygon turns back at point {int(np.argmax(turns)) + 1}; no arc can round that corner."
        )
    cut = np.array(
        [0.0, *(r * np.tan(turn / 2) for turn in turns), 0.0]
    )  # what the arc takes off both sides
    left = lengths - cut[:-1] - cut[1:]
    if (left < -SAME * lengths).any():
        k = int(np.argmin(left))
        raise PathError(
            f"a radius of {r:g} m is too large for the side from point {k} to point {k + 1}."
        )
    curves: list[Curve] = []
    for k, way in enumerate(ways):
        start, end = p[k] + cut[k] * way, p[k + 1] - cut[k + 1] * way
        if left[k] > SAME * lengths[k]:
            curves.append(line(start, end))
        if k < len(turns) and turns[k] > CORNER:
            normal = np.cross(way, ways[k + 1])
            normal /= np.linalg.norm(normal)
            curves.append(arc(end + r * np.cross(normal, way), end, normal, turns[k]))
    return chain(*curves)
