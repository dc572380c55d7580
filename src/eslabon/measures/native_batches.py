"""Many designs through native code: in blocks of bounded size, on as many threads as the caller has, and design by design where
one of them fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from eslabon.arguments import Floats, floats, mapping
from eslabon.errors import EslabonError, InputError
from eslabon.measures.measure import Measured

STATES = 2**20  # evaluated at once, at most
Designs = Mapping[str, Floats]
T = TypeVar("T")
Rows = np.ndarray[Any, np.dtype[Any]]  # numbers of designs

_threads: ContextVar[int | None] = ContextVar("threads", default=None)


@contextmanager
def native_threads(count: int | None) -> Iterator[None]:
    """How many threads native calls of measures may use here: one, where whole batches of designs have a thread each.

    >>> with native_threads(1):
    ...     threads()
    1
    """
    token = _threads.set(count)
    try:
        yield
    finally:
        _threads.reset(token)


def threads() -> int | None:
    """What `native_threads` says; None leaves it to the native code."""
    return _threads.get()


def number_of(designs: Designs) -> int:
    """How many designs there are."""
    return len(next(iter(designs.values())))


def as_designs(designs: Any) -> dict[str, Floats]:
    """Parameters `(n,)` by name, or a sentence for whatever else is given in their place.

    >>> as_designs({"m1": [0.1, 0.2], "m2": 0.3})
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: designs have as many values of each parameter, as in {'m1': [0.1, 0.2]}; the shapes are (2,), ().
    """
    made = {
        name: floats(values, f"designs['{name}']")
        for name, values in mapping(designs, "designs").items()
    }
    shapes = dict.fromkeys(values.shape for values in made.values())
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        told = f"the shapes are {', '.join(map(str, shapes))}" if shapes else "there are none"
        raise InputError(
            f"designs have as many values of each parameter, as in {{'m1': [0.1, 0.2]}}; {told}."
        )
    return made


def chosen(designs: Designs, rows: Rows) -> dict[str, Floats]:
    """Some of the designs."""
    return {name: values[rows] for name, values in designs.items()}


def in_blocks(
    f: Callable[[dict[str, Floats]], Measured],
    designs: Designs,
    columns: Mapping[str, str],
    states: int,
    rows: int = 1,
) -> Measured:
    """f of all designs, in blocks of at most `STATES` states at `states` a design; `rows` is how many rows a design has.

    Where f raises, it is asked for halves of a block, down to the design that is at fault: its reason is what was said.
    """
    designs = as_designs(designs)
    n, size = number_of(designs), max(1, STATES // max(1, states))
    parts: list[tuple[Rows, Measured]] = []
    reasons: dict[int, str] = {}
    for start in range(0, n, size):
        for own, found in in_halves(f, designs, np.arange(start, min(n, start + size))):
            made = found if isinstance(found, Measured) else Measured({}, {0: reason_of(found)})
            parts.append((own, made))
            reasons.update({int(own[k]): why for k, why in made.reasons.items()})
    values = parts[0][1].values if len(parts) == 1 else {}
    if not values:
        values = {name: np.full((n,) if rows == 1 else (n, rows), np.nan) for name in columns}
        for own, made in parts:
            for name, x in made.values.items():
                values[name][own] = x
    return Measured(values, reasons | not_finite(values, reasons))


def reason_of(error: BaseException) -> str:
    """Why a design failed, in a line: the sentence of an error of ours, or the kind of another and what it says.

    >>> reason_of(ValueError("too long:\\n3 m")), reason_of(ZeroDivisionError())
    ('ValueError: too long: 3 m', 'ZeroDivisionError')
    """
    said = " ".join(str(error).split())
    return (
        said
        if isinstance(error, EslabonError)
        else ": ".join(filter(None, (type(error).__name__, said)))
    )


def not_finite(values: Mapping[str, Floats], reasons: Mapping[int, str]) -> dict[int, str]:
    """Numbers that are none, of designs of which nothing was said."""
    found: dict[int, str] = {}
    for name, x in values.items():
        if not (good := np.isfinite(x)).all():
            bad = np.flatnonzero(~good.reshape(len(x), -1).all(axis=1)).tolist()
            found.update(
                {
                    k: f"{name} has no finite value."
                    for k in bad
                    if k not in reasons and k not in found
                }
            )
    return found


def in_halves(
    f: Callable[[dict[str, Floats]], T], designs: Designs, rows: Rows | None = None
) -> Iterator[tuple[Rows, T | Exception]]:
    """f of all designs together; where it raises, of each half, down to single designs, for which the error stands."""
    rows = np.arange(number_of(designs)) if rows is None else rows
    try:
        found: T | Exception = f(chosen(designs, rows))
    except (EslabonError, np.linalg.LinAlgError, ArithmeticError) as error:
        if len(rows) > 1:
            half = len(rows) // 2
            yield from in_halves(f, designs, rows[:half])
            yield from in_halves(f, designs, rows[half:])
            return
        found = error
    yield rows, found
