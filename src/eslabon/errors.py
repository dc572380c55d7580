"""What goes wrong, in sentences: every error a user can cause is a child of :class:`EslabonError`.

An error says what is wrong, where, and what to do about it. Readers put the file's name in front of the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


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


class ModelWarning(UserWarning):
    """A mechanism that is allowed but suspicious, such as moments of inertia no solid body can have."""


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
