"""What goes wrong, in sentences: every error a user can cause is a child of :class:`EslabonError`.

An error says what is wrong, where, and what to do about it. Readers put the file's name in front of the sentence.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NoReturn


class EslabonError(Exception):
    """The parent of every error this package raises on purpose."""


class ModelError(EslabonError, ValueError):
    """A mechanism that cannot be: a missing body, a negative mass, a zero axis, a parameter without a value."""


class ReadError(EslabonError, ValueError):
    """A file that cannot be read: not there, not well formed, or with a key nobody knows."""


class RotationError(EslabonError, ValueError):
    """An orientation that the asked representation cannot express, or numbers that are no rotation."""


class AssemblyError(EslabonError, ValueError):
    """The loops do not close."""


class SingularityError(EslabonError, ValueError):
    """A posture at which the answer does not exist or is not unique."""


class InverseKinematicsError(EslabonError, ValueError):
    """A pose that no posture was found for, or one that no rigid tool can take."""


class ModelWarning(UserWarning):
    """A mechanism that is allowed but suspicious, such as moments of inertia no solid body can have."""


class SingularityWarning(UserWarning):
    """An answer was given, but on the way to it, or at it, a singular posture leaves it in doubt."""


def check_word(how: str) -> None:
    """Refuse what says nothing about singular postures."""
    if how not in ("error", "warn", "ignore"):
        raise ModelError(f"singular is 'error', 'warn' or 'ignore'; it is {how!r}.")


def tell_of_singularity(how: str, sentence: str) -> None:
    """A `SingularityError`, a `SingularityWarning`, or nothing: as the caller asked."""
    check_word(how)
    if how == "error":
        raise SingularityError(sentence)
    if how == "warn":
        depth, frame = 1, inspect.currentframe()
        while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
            depth, frame = depth + 1, frame.f_back  # the line to show is the user's
        warnings.warn(sentence, SingularityWarning, stacklevel=depth)


def refuse_state(owner: str, verb: str, torn: Any, quality: Any, tolerance: float, singular: float) -> NoReturn:
    """Say that a given state tears the loops, or that its posture is singular."""
    worst = torn.max(initial=0.0)
    if not worst <= tolerance:
        at = f" (state {int(torn.argmax())})" if getattr(torn, "ndim", 0) else ""
        raise AssemblyError(
            f"{verb}: the given motion tears the loops of {owner} by {worst:.3g}{at} in position, velocity or acceleration, "
            f"more than the tolerance {tolerance:g}; complete it from the actuated joints with m.complete, or bring it onto "
            "the loops with m.project."
        )
    raise SingularityError(
        f"{verb}: {owner} is at a singular posture, or too near one for an answer (quality {quality.min(initial=1.0):.2g}, "
        f"{singular:g} is the least); its actuators or its loops lose a direction there."
    )


def suggest(word: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """How a sentence about an unknown word ends: with the known word nearest to it, or with all of them.

    >>> suggest("mas", ["mass", "com"])
    "; did you mean 'mass'?"
    >>> suggest("weight", ["mass", "com"])
    ' (known: mass, com).'
    >>> suggest("weight", ["mass", "com"], "; add it.")
    '; add it.'
    """
    words = [str(k) for k in known]
    near = get_close_matches(str(word), words, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f" (known: {', '.join(words) or 'none'})." if otherwise is None else otherwise
