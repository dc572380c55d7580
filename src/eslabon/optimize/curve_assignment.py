"""Which points of a curve prescribed points belong to: in their order, in either direction, at most once around."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eslabon.arguments import Floats


class Assignment(NamedTuple):
    """The mean squared distance, and the places on the curve, one for each point; they go up or down, modulo its length."""

    cost: float
    places: Floats
    direction: int


def assigned(squares: Floats, around: bool) -> Assignment:
    """The order-keeping assignment of least cost, of squared distances `(points, places)`; `around`: whether the curve is closed.

    Places that the curve does not have are infinite. By dynamic programming: the least cost of the points so far with the last of
    them at or before a place, for all places where the first may be.

    >>> curve, points = np.arange(6.0), np.array([3.1, 4.9, 0.2])
    >>> found = assigned((points[:, None] - curve) ** 2, around=True)
    >>> found.places, found.direction
    (array([3, 5, 0]), 1)
    """
    forward = _one_way(squares, around)
    back = _one_way(squares[:, ::-1], around)
    if back.cost < forward.cost:
        return Assignment(back.cost, squares.shape[1] - 1 - back.places, -1)
    return forward


def _one_way(squares: Floats, around: bool) -> Assignment:
    points, n = squares.shape
    first = np.arange(n) if around else np.zeros(1, dtype=int)
    turned = squares[
        :, (first[:, None] + np.arange(n)) % n
    ]  # (points, first places, places from there on)
    total = turned[0].copy()
    if around:
        total[:, 1:] = np.inf
    best, came = [], []
    for k in range(1, points):
        reached = np.minimum.accumulate(total, axis=1)
        at = np.maximum.accumulate(np.where(total <= reached, np.arange(n), 0), axis=1)
        before = np.concatenate(
            [np.full((len(first), 1), np.inf), reached[:, :-1]], axis=1
        )  # strictly later
        came.append(np.concatenate([np.zeros((len(first), 1), dtype=int), at[:, :-1]], axis=1))
        total = turned[k] + before
    best = total.min(axis=1)
    row = int(best.argmin())
    places = [int(total[row].argmin())]
    for back in reversed(came):
        places.append(int(back[row, places[-1]]))
    return Assignment(float(best[row] / points), (first[row] + np.array(places[::-1])) % n, 1)
