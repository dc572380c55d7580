"""What a path may be made of: numbers are finite, points differ, times increase. A fault is one
sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import LARGEST, floats
from eslabon.errors import EslabonError, InputError, format_value
from eslabon.numerics import check_rotation

Floats = np.ndarray[Any, np.dtype[np.float64]]

SAME = 1e-9  # of the whole: points closer than this are one point
SHORTEST = 1e-50  # s: the third derivative of a shorter motion is too large to compute with


class PathError(EslabonError, ValueError):
    """A path that cannot be: one point, a duration of zero, a Frenet frame on a straight line.

    >>> import eslabon as es
    >>> es.paths.quintic(-1.0)
    Traceback (most recent call last):
        ...
    eslabon.motion.paths.path_arguments.PathError: the duration must be greater than zero; it is -1.0.
    """


def numbers(values: ArrayLike, what: str) -> Floats:
    """Finite numbers, as an array.

    >>> numbers([0.0, float("nan")], "t")
    Traceback (most recent call last):
    eslabon.motion.paths.path_arguments.PathError: t holds a number that is not finite (the first at index 1).
    """
    try:
        array = floats(values, what)
    except InputError:
        raise PathError(
            f"{what} needs numbers, all rows of one length; it is {format_value(values)}."
        ) from None
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = f" (the first at index {index[0] if len(index) == 1 else index})" if index else ""
        raise PathError(f"{what} holds a number that is not finite{place}.")
    if (np.abs(array) > LARGEST).any():
        raise PathError(f"{what} holds a number beyond {LARGEST:g}, too large to compute with.")
    return array


def number(value: Any, what: str) -> float:
    """One finite number."""
    array = numbers(value, what)
    if array.ndim:
        raise PathError(f"{what} must be one number; it is {format_value(value)}.")
    return float(array)


def whole(value: Any, least: int, most: int, refusal: str) -> int:
    """A whole number between two others, or a sentence that ends with what was given."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | np.integer)
        or not least <= value <= most
    ):
        raise PathError(f"{refusal} is {format_value(value)}.")
    return int(value)


def spline_degree(degree: Any) -> int:
    """3 or 5."""
    if not isinstance(degree, int | np.integer) or degree not in (3, 5):
        raise PathError(
            f"a spline here is cubic or quintic, degree 3 or 5; degree is {format_value(degree)}."
        )
    return int(degree)


def positive(value: Any, what: str) -> float:
    """One finite number greater than zero.

    >>> positive(0, "the duration")
    Traceback (most recent call last):
    eslabon.motion.paths.path_arguments.PathError: the duration must be greater than zero; it is 0.
    """
    number = numbers(value, what)
    if number.ndim or number <= 0:
        raise PathError(
            f"{what} must be {'one number' if number.ndim else 'greater than zero'}; it is {format_value(value)}."
        )
    return float(number)


def duration_of(value: Any) -> float:
    """A duration in seconds, long enough that the rates of the motion are numbers to compute with.

    >>> duration_of(1e-200)
    Traceback (most recent call last):
    eslabon.motion.paths.path_arguments.PathError: the duration must be at least 1e-50 s; 1e-200 s is too short to compute rates with.
    """
    duration = positive(value, "the duration")
    if duration < SHORTEST:
        raise PathError(
            f"the duration must be at least {SHORTEST:g} s; {duration:g} s is too short to compute rates with."
        )
    return duration


def waiting(before: Any, after: Any) -> tuple[float, float]:
    """Rests at two ends: seconds, zero or more."""
    for value, what in ((before, "the rest before"), (after, "the rest after")):
        if number(value, what) < 0:
            raise PathError(f"{what} must be zero or more seconds; it is {format_value(value)}.")
    return float(before), float(after)


def vector3(values: ArrayLike, what: str) -> Floats:
    """Three finite numbers."""
    array = numbers(values, what)
    if array.shape != (3,):
        raise PathError(f"{what} needs three numbers; its shape is {array.shape}.")
    return array


def direction(values: ArrayLike, what: str) -> Floats:
    """A vector of three numbers, scaled to length one."""
    array = vector3(values, what)
    length = np.linalg.norm(array)
    if length == 0.0:
        raise PathError(f"{what} has length zero; give a direction such as (0, 0, 1).")
    return np.asarray(array / length)


def rotations(values: ArrayLike, what: str) -> Floats:
    """A rotation matrix or a stack of them."""
    array = numbers(values, what)
    if array.shape[-2:] != (3, 3):
        raise PathError(f"{what} needs 3x3 rotation matrices; its shape is {array.shape}.")
    return np.asarray(check_rotation(array))


def place(s: Any) -> str:
    """A parameter as a sentence names it: what lies just inside an end is the end.

    >>> place(1e-9), place(0.25)
    ('s = 0', 's = 0.25')
    """
    return f"s = {round(float(s), 6):g}"


def points(values: ArrayLike, what: str, width: int | None = None) -> Floats:
    """Two or more points, one to a row, each different from the one before.

    >>> points([[0, 0, 0], [0, 0, 0]], "the spline")
    Traceback (most recent call last):
    eslabon.motion.paths.path_arguments.PathError: the spline has equal points in rows 0 and 1; leave one of them out.
    """
    array = numbers(values, what)
    if array.ndim != 2 or (width is not None and array.shape[1] != width):
        form = "one point to a row" if width is None else f"rows of {width} numbers"
        raise PathError(f"{what} needs {form}; its shape is {array.shape}.")
    if len(array) < 2:
        raise PathError(f"{what} needs at least two points; it has {len(array)}.")
    gaps = np.linalg.norm(np.diff(array, axis=0), axis=1)
    for k in np.flatnonzero(gaps <= SAME * gaps.max()):
        raise PathError(f"{what} has equal points in rows {k} and {k + 1}; leave one of them out.")
    return array


def increasing(values: ArrayLike, count: int, what: str) -> Floats:
    """One number for each of `count` points, each greater than the one before.

    >>> increasing([0, 2, 1], 3, "times")
    Traceback (most recent call last):
    eslabon.motion.paths.path_arguments.PathError: times must increase; after 2 comes 1.
    """
    array = numbers(values, what)
    if array.shape != (count,):
        raise PathError(
            f"{what} needs one number for each of the {count} points; its shape is {array.shape}."
        )
    for k in np.flatnonzero(np.diff(array) <= 0):
        raise PathError(f"{what} must increase; after {array[k]:g} comes {array[k + 1]:g}.")
    for k in np.flatnonzero(np.diff(array) < SHORTEST):
        raise PathError(f"{what} in rows {k} and {k + 1} are too near to compute rates with.")
    return array


def limits(values: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """Greatest values, above zero: one for all, or one for each.

    >>> limits([1.0, -1.0], (2,), "the velocity")
    Traceback (most recent call last):
    eslabon.motion.paths.path_arguments.PathError: the limit of the velocity must be greater than zero; it is [1.0, -1.0].
    """
    array = numbers(values, f"the limit of {what}")
    if not array.size or (array <= 0).any():
        raise PathError(
            f"the limit of {what} must be greater than zero; it is {format_value(values)}."
        )
    if array.shape not in ((), shape) and shape:
        raise PathError(
            f"the limit of {what} is one number or one for each of {shape[0]}; its shape is {array.shape}."
        )
    return array
