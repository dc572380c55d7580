"""What goes wrong, in sentences: every error a user can cause is a child of :class:`EslabonError`.

An error says what is wrong, where, and what to do about it. Readers put the file's name in front of the sentence.
"""

from __future__ import annotations

import inspect
import reprlib
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class EslabonError(Exception):
    """The parent of every error this package raises on purpose."""


class ModelError(EslabonError, ValueError):
    """A mechanism that cannot be: a missing body, a negative mass, a zero axis, a parameter without a value."""


class InputError(EslabonError, ValueError):
    """Numbers of the wrong shape or kind."""


class GraphError(EslabonError, ValueError):
    """A graph that a backend cannot express, or a shape that does not fit it."""


class ReadError(EslabonError, ValueError):
    """A file that cannot be read: not there, not well formed, or with a key nobody knows."""


class RotationError(EslabonError, ValueError):
    """An orientation that the asked representation cannot express, or numbers that are no rotation."""


class AssemblyError(EslabonError, ValueError):
    """The loops do not close."""


class SingularityError(EslabonError, ValueError):
    """A configuration at which the answer does not exist or is not unique."""


class EquilibriumError(EslabonError, ValueError):
    """Forces under which nothing rests, or a configuration that no forces hold."""


class InverseKinematicsError(EslabonError, ValueError):
    """A pose that no configuration was found for, or one that no rigid tool can take."""


class MissingDependencyError(EslabonError, ImportError):
    """A library that only some answers need, such as matplotlib, is not installed."""


class ModelWarning(UserWarning):
    """A mechanism that is allowed but suspicious, such as moments of inertia no solid body can have."""


class SingularityWarning(UserWarning):
    """An answer was given, but on the way to it, or at it, a singular configuration leaves it in doubt."""


SINGULAR_WORDS = ("error", "warn", "ignore")  # what is to become of a singular configuration


def depth_of_user() -> int:
    """How many frames up the line is that a warning shows: the user's, not ours."""
    depth, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        depth, frame = depth + 1, frame.f_back
    return depth


def tell_of_singularity(how: str, sentence: str) -> None:
    """A `SingularityError`, a `SingularityWarning`, or nothing: as the caller asked, by one of `SINGULAR_WORDS`."""
    if how == "error":
        raise SingularityError(sentence)
    if how == "warn":
        warnings.warn(sentence, SingularityWarning, stacklevel=depth_of_user())


def suggest(word: Any, known: Iterable[str], otherwise: str | None = None) -> str:
    """How a sentence about an unknown word ends: with the known word nearest to it, or with all of them.

    >>> suggest("mas", ["mass", "com"])
    "; did you mean 'mass'?"
    >>> suggest("weight", ["mass", "com"])
    ' (known: mass, com).'
    >>> suggest("weight", ["mass", "com"], "; add it.")
    '; add it.'
    """
    words = [str(k) for k in known]
    near = get_close_matches(word if isinstance(word, str) else shown(word), words, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f" (known: {', '.join(words) or 'none'})." if otherwise is None else otherwise


def shown(value: Any) -> str:
    """A value in a sentence, cut short: what a hostile file holds can be endless, or have no text at all.

    >>> shown([1, "a"]), shown("x" * 100), shown(10**5000)
    ("[1, 'a']", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxxx'", 'a value of type int')
    """
    short = reprlib.Repr()
    short.maxlevel, short.maxstring, short.maxother = 2, 62, 120
    try:
        return short.repr(value)
    except Exception:  # whatever a foreign __repr__ does, and numbers too long to print
        return f"a value of type {type(value).__name__}"
