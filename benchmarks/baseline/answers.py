"""Answers as plain data that a file can hold: numbers bit by bit, texts without paths, errors and
warnings as results."""

from __future__ import annotations

import base64
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Plain = Any  # None, bool, int, str, a list, or a dictionary with one of the keys below
NUMBERS, PAIRS, COUNTS = "numbers", "pairs", "counts"
ROOT = Path(__file__).parents[2]


class Counts(dict[str, int]):
    """Instruction counts, which are compared as ratios."""


def encode(value: Any) -> Plain:
    """A value as data for JSON. Objects of the library are no values: the table of calls says what
    to read of them."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return without_paths(value)
    if isinstance(value, Counts):
        return {COUNTS: dict(value)}
    if isinstance(value, Mapping):
        return {PAIRS: [[without_paths(str(key)), encode(x)] for key, x in value.items()]}
    if isinstance(value, float | complex | np.ndarray | np.generic):
        return encode_array(np.asarray(value))
    if isinstance(value, slice):
        return [value.start, value.stop]
    if isinstance(value, list | tuple | set | frozenset):
        return [encode(x) for x in (sorted(value) if isinstance(value, set | frozenset) else value)]
    raise TypeError(f"the table of calls does not say what to read of a {type(value).__name__}")


def encode_array(x: np.ndarray) -> Plain:
    if x.dtype.kind in "OUS":
        return encode(x.tolist())
    kind = {"f": "<f8", "c": "<c16", "b": "|b1"}.get(x.dtype.kind, "<i8")
    data = np.ascontiguousarray(x, dtype=kind)
    return {
        NUMBERS: base64.b64encode(data.tobytes()).decode(),
        "kind": kind,
        "shape": list(x.shape),
    }


def decode_array(data: Mapping[str, Any]) -> np.ndarray:
    raw = np.frombuffer(base64.b64decode(data[NUMBERS]), dtype=data["kind"])
    return raw.reshape(data["shape"])


def without_paths(text: str) -> str:
    """A text that is the same on every machine: folders have one name each."""
    for folder, name in (
        (tempfile.gettempdir(), "<folder>"),
        (str(ROOT), "<root>"),
        (str(Path.home()), "<home>"),
    ):
        text = (
            re.sub(re.escape(folder) + r"(/baseline_[\w]+)?(?=/|\b)", name, text)
            if folder != "/"
            else text
        )
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def answer(call: Callable[[], Any]) -> dict[str, Plain]:
    """What a call gives: a value or an error, and the warnings of the library on the way."""
    made: dict[str, Plain] = {}
    with warnings.catch_warnings(record=True) as told, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            made["value"] = encode(call())
        except Exception as error:
            made["error"] = [type(error).__name__, without_paths(str(error))]
            if not is_ours(type(error)):
                made["raw"] = True
    ours = [
        [w.category.__name__, without_paths(str(w.message))] for w in told if is_ours(w.category)
    ]
    if ours:
        made["warnings"] = [list(x) for x in dict.fromkeys(map(tuple, ours))]
    return made


def is_ours(kind: type) -> bool:
    """Whether an error or a warning is one of the library's own, with a sentence for its user."""
    return any(base.__module__.startswith("eslabon") for base in kind.__mro__)
