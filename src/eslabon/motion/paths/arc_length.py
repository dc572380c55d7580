"""Integrals along a curve to the last bits: its length, and how far a frame spins about its
tangent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eslabon.motion.paths.path_arguments import Floats

# Sixteen nodes on a panel over which the integrand changes by a third leave errors of the order of
# rounding.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2
SMALL_CHANGE = 0.3
DEEPEST = 24

Vectors = Callable[[Floats], Floats]  # vectors (..., n) of parameters
Indices = np.ndarray[tuple[int, ...], np.dtype[np.intp]]


class Primitive:
    """The integral of f(s, panel) from the first knot, by Gauss-Legendre on the panels between the
    knots.

    >>> sine = Primitive(lambda s, panel: np.cos(s), np.array([0.0, 1.0, 2.0]))
    >>> bool(abs(sine(np.array(1.7)) - np.sin(1.7)) < 1e-15)
    True
    """

    def __init__(self, f: Callable[[Floats, Indices], Floats], knots: Floats) -> None:
        self.f, self.knots = f, knots
        whole = self.over(np.arange(len(knots) - 1), knots[1:])
        self.totals = np.concatenate([[0.0], np.cumsum(whole)])

    def __call__(self, s: Floats) -> Floats:
        panel = panel_of(self.knots, s)
        return np.asarray(self.totals[panel] + self.over(panel, s))

    def over(self, panel: Indices, s: Floats) -> Floats:
        """The integral from a panel's first knot to s."""
        start = self.knots[panel]
        inside = start[..., None] + (s - start)[..., None] * NODES
        return np.asarray((s - start) * (self.f(inside, panel[..., None]) @ WEIGHTS))


def panel_of(knots: Floats, s: Floats) -> Indices:
    """The panel in which each s lies; beyond the ends, the first or last. A knot belongs to the
    panel it starts."""
    return np.clip(np.searchsorted(knots, s, side="right") - 1, 0, len(knots) - 2)


def panels(v: Vectors, slope: Vectors, breaks: Floats) -> tuple[Floats, Floats]:
    """Knots from halving the intervals between breaks until a vector changes little in each, in
    length and direction.

    Its change is judged from its values and from its slope, for a vector that comes round is seen
    by its slope only, and one that jumps by its values only. Where it jumps halving does not help;
    such places are given beside the knots.

    >>> turning = lambda s: np.stack([np.cos(s), np.sin(s)], axis=-1)
    >>> knots, jumps = panels(turning, lambda s: turning(s + np.pi / 2), np.array([0.0, 1.0]))
    >>> len(knots), len(jumps)
    (5, 0)
    """
    knots = np.asarray(breaks, dtype=float)
    for _ in range(DEEPEST):
        width = np.diff(knots)
        # Just inside the panels, for at a break the vector may jump.
        inside = knots[:-1, None] + width[:, None] * np.linspace(1e-9, 1 - 1e-9, 5)
        values = v(inside)
        change = np.linalg.norm(values - values[:, :1], axis=-1).max(axis=1)
        change = np.maximum(change, width * np.linalg.norm(slope(inside), axis=-1).max(axis=1))
        large = change > SMALL_CHANGE * np.linalg.norm(values, axis=-1).max(axis=1)
        middles = (knots[:-1] + width / 2)[large]
        if not middles.size:
            break
        knots = np.sort(np.concatenate([knots, middles]))
    return knots, middles
