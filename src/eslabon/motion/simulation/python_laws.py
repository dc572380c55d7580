"""Functions that users write in Python, called with numbers and watched over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, floats
from eslabon.errors import InputError, format_value


def frozen(x: ArrayLike) -> Floats:
    """A copy that nobody can change: neither who gave it, nor who is shown it."""
    copy = np.array(x, dtype=float)
    copy.flags.writeable = False
    return copy


class RaisedError(Exception):
    """What a user's function raised, as the cause, and the sentence that says so."""


def told(error: Exception, noun: str) -> Exception:
    """What a user's function raised, as a sentence."""
    inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
    if isinstance(error, TypeError) and not inside:  # the call itself fails
        return InputError(f"{noun} is called with t, q and v: {error}.")
    hint = "; q and v are read-only, copy them to change them" if "read-only" in str(error) else ""
    return RaisedError(f"{noun} raised {type(error).__name__} ({error}){hint}.")


def fitted(given: Any, noun: str, shape: tuple[int, ...], q: Floats) -> Floats:
    """The real numbers that a user's function gave for configurations q, copied, whose last axes
    are `shape`."""
    values, batch = np.array(floats(given, f"what {noun} gives")), q.shape[:-1]
    rows = values.shape[: max(0, values.ndim - len(shape))]
    fits = len(rows) <= len(batch) and all(
        a in (1, b) for a, b in zip(rows[::-1], batch[::-1], strict=False)
    )
    if not fits or values.shape != (*rows, *shape):
        raise InputError(f"{noun} gives an array of shape {values.shape} for q of shape {q.shape}; {(*batch, *shape)} is "
            "expected.")  # fmt: skip
    return values


def asked(function: Callable[..., Any], noun: str, t: float, q: Floats, v: Floats) -> Any:
    """What a user's function gives, or what it raised as a sentence. It sees copies of the states,
    so that nothing it does to them changes the run."""
    q, v = q.copy(), v.copy()
    q.setflags(write=False)
    v.setflags(write=False)
    try:
        return function(t, q, v)
    except Exception as error:
        raise told(error, noun) from error


def ask(
    function: Callable[..., Any], noun: str, shape: tuple[int, ...], t: float, q: Floats, v: Floats
) -> Floats:
    """What a user's function gives, as an array of our own."""
    return fitted(asked(function, noun, float(t), q, v), noun, shape, q)


@dataclass(frozen=True)
class Called:
    """A Python function of numbers, watched over: tau = law(t, q, v), or with states (tau, next x)
    = law(t, q, v, x)."""

    law: Callable[..., Any]
    nu: int
    state: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def size(self) -> int:
        return self.state.shape[-1]

    def __call__(self, t: float, q: Floats, v: Floats) -> Floats:
        return ask(self.law, "the control", (self.nu,), t, q, v)

    def spoken(self, t: float, q: Floats, v: Floats, x: Floats) -> tuple[Floats, Floats]:
        """Forces and the next states."""
        batch = q.shape[:-1]
        if not self.size:
            return np.broadcast_to(self(t, q, v), (*batch, self.nu)), x
        given = asked(lambda t, q, v: self.law(t, q, v, frozen(x)), "the control", t, q, v)
        tau, state = pair(given, "the control")
        tau, state = (
            fitted(tau, "the control", (self.nu,), q),
            fitted(state, "the control, for its states,", (self.size,), q),
        )
        return np.broadcast_to(tau, (*batch, self.nu)), np.broadcast_to(state, (*batch, self.size))


def pair(value: Any, noun: str) -> tuple[Any, Any]:
    """Forces and states, as a law that has states gives them."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InputError(
            f"{noun} has states: it gives forces and states, as in `return tau, x`; it gives {format_value(value)}."
        )
    return value[0], value[1]
