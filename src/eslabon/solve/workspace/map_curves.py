"""Regions and curves of a map: cells of equal signs that touch, and contour lines through a grid of
numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats
from eslabon.errors import MissingDependencyError


def regions(reached: NDArray[np.bool_], *signs: NDArray[np.int8]) -> NDArray[np.int32]:
    """Connected cells that are reached and have equal signs, none of them 0, numbered from 1, the
    largest region first; 0 elsewhere.

    >>> reached = np.ones((1, 5), dtype=bool)
    >>> regions(reached, np.array([[1, -1, -1, 0, 1]], dtype=np.int8))
    array([[2, 1, 1, 0, 3]], dtype=int32)
    """
    from scipy.ndimage import label

    numbers, last = np.zeros(reached.shape, dtype=np.int32), 0
    for values in product((-1, 1), repeat=len(signs)):
        equal = [sign == value for sign, value in zip(signs, values, strict=True)]
        labels, count = label(np.logical_and.reduce([reached, *equal]))
        numbers[labels > 0] = labels[labels > 0] + last
        last += count
    sizes = np.bincount(numbers.ravel(), minlength=last + 1)[1:]
    place = np.zeros(last + 1, dtype=np.int32)
    place[1 + np.argsort(-sizes, kind="stable")] = 1 + np.arange(last)
    return place[numbers]


def sign_curves(axes: tuple[Floats, ...], value: Floats) -> list[Floats]:
    """Where a number that is NaN outside of its region goes through zero: curves of points (k, 2).

    >>> x = np.linspace(-1, 1, 5)
    >>> [sorted(curve.round(2).tolist()) for curve in sign_curves((x, x[:2]), np.stack([x + 0.1] * 2, axis=1))]
    [[[-0.1, -1.0], [-0.1, -0.5]]]
    """
    try:
        from contourpy import contour_generator
    except ImportError:
        raise MissingDependencyError(
            "singular curves need matplotlib; pip install 'eslabon[plot]' brings it."
        ) from None
    if min(value.shape) < 2 or not np.isfinite(value).any():
        return []
    z = np.ma.masked_invalid(value.T)
    lines: Any = contour_generator(
        axes[0], axes[1], z, corner_mask=True, line_type="Separate"
    ).lines(0.0)
    return [np.asarray(line) for line in lines if len(line) > 1]


def border_curves(axes: tuple[Floats, ...], inside: Any, condition: Floats) -> list[Floats]:
    """The border of a region, at which a reciprocal condition number vanishes as the root of the
    distance does: its square, which is nearly straight there, is carried on beyond the border."""
    square = np.where(inside, condition**2, 0.0)
    total, count = np.zeros((2, *inside.shape))
    for axis in (0, 1):
        for way in (1, -1):
            last, before = (_shifted(inside, axis, k * way) for k in (1, 2))
            onward = 2 * _shifted(square, axis, way) - _shifted(square, axis, 2 * way)
            beyond = np.where(before & (onward < 0), onward, -_shifted(square, axis, way))
            total += np.where(last & ~inside, beyond, 0.0)
            count += last & ~inside
    usual = -float(np.median(square[inside])) if inside.any() else -1.0
    outside = np.where(count > 0, total / np.maximum(count, 1), usual)
    return sign_curves(
        axes, np.where(inside, np.maximum(square, 1e-300), np.minimum(outside, -1e-300))
    )


def _shifted(x: Any, axis: int, by: int) -> Any:
    """What stands so many places before along an axis; nothing beyond the ends."""
    made = np.zeros_like(x)
    to, start = [slice(None)] * 2, [slice(None)] * 2
    to[axis], start[axis] = (
        (slice(by, None), slice(None, -by)) if by > 0 else (slice(None, by), slice(-by, None))
    )
    made[tuple(to)] = x[tuple(start)]
    return made
