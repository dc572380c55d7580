"""Kinds of nonsense: values that hardly any argument takes, and valid values spoilt in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import casadi
import numpy as np

LONG = "a" * 300

# Made anew for each call: a generator is used up, and a list could be changed.
VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "zero": lambda: 0,
    "negative": lambda: -1,
    "fraction": lambda: 2.5,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "huge number": lambda: 1e300,
    "huge integer": lambda: 10**400,
    "complex": lambda: 1j,
    "no text": lambda: "",
    "text": lambda: "nonsense",
    "long text": lambda: LONG,
    "broken text": lambda: "\udc80",
    "bytes": lambda: b"bytes",
    "path": lambda: Path("no", "such", "file.txt"),
    "object": object,
    "function": lambda: lambda: None,
    "generator": lambda: (x for x in (1.0, 2.0)),
    "range": lambda: range(3),
    "set": lambda: {1, 2},
    "empty dict": dict,
    "dict": lambda: {"nonsense": float("nan")},
    "dict of numbers": lambda: {1: 2},
    "dict of texts": lambda: {"nonsense": "nonsense"},
    "dict with a long name": lambda: {LONG: 1.0},
    "empty list": list,
    "empty tuple": tuple,
    "tuple of texts": lambda: ("nonsense",),
    "list of empty lists": lambda: [[]],
    "list of Nones": lambda: [None, None],
    "list of texts": lambda: ["nonsense"],
    "list of long texts": lambda: [LONG],
    "list of objects": lambda: [object(), object()],
    "ragged list": lambda: [1, [2, 3]],
    "deep list": lambda: [[[[1.0]]]],
    "long list": lambda: [0.5] * 1000,
    "fifty zeros": lambda: np.zeros(50),
    "array of one text": lambda: np.array("text"),
    "empty array": lambda: np.zeros(0),
    "no rows": lambda: np.zeros((0, 3)),
    "three axes": lambda: np.zeros((2, 3, 5)),
    "array of nans": lambda: np.full(4, np.nan),
    "array of texts": lambda: np.array(["text"]),
    "array of objects": lambda: np.array([object()]),
    "array of complex": lambda: np.array([1j, 2.0]),
    "array of dates": lambda: np.array(["2026-01-01"], dtype="datetime64[D]"),
    "symbol": lambda: casadi.SX.sym("x", 2),
}  # fmt: skip


def spoilt(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A valid value with one thing wrong."""
    if isinstance(value, str):
        yield "misspelt", lambda: value[:-1] + "x"
        yield "one in a list", lambda: [value]
    if isinstance(value, Mapping):
        yield "one name more", lambda: {**value, "nonsense": 1.0}
        for kind in ("None", "nan", "text", "object", "empty list", "three axes") if value else ():
            yield f"a value: {kind}", lambda kind=kind: {**value, next(iter(value)): VALUES[kind]()}
    array = _numbers(value)
    if array is None:
        return
    yield "as text", lambda: str(value)
    yield "complex alike", lambda: array * 1j
    yield "all nan", lambda: array * np.nan
    yield "all huge", lambda: np.full(array.shape, 1e300)
    yield "all zero", lambda: array * 0
    yield "negated", lambda: -array
    if array.ndim:
        yield "one short", lambda: array[:-1]
        yield "one long", lambda: np.concatenate([array, array[-1:]])
        yield "last axis short", lambda: array[..., :-1]
        yield "one nan", lambda: _with_first(array, np.nan)
        yield "one inf", lambda: _with_first(array, np.inf)
        yield "two more axes", lambda: array[None, None]
        yield "no lanes", lambda: np.zeros((0, *array.shape))


def _numbers(value: Any) -> Any:
    """The array of a value that holds real numbers; None for another value."""
    if not isinstance(value, int | float | list | tuple | np.ndarray) or isinstance(value, bool):
        return None
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None
    return array if array.size else None


def _with_first(array: Any, number: float) -> Any:
    spoiled = array.copy()
    spoiled.flat[0] = number
    return spoiled
