"""What goes wrong, in sentences: every error a user can cause is a child of :class:`EslabonError`.

An error says what is wrong, where, and what to do about it. Readers put the file's name in front of
the sentence."""

from __future__ import annotations

import inspect
import re
import reprlib
import warnings
from collections.abc import Iterable
from os import PathLike
from typing import Any, Self

LONGEST_WORD = 160  # characters of a name or path that a sentence quotes whole
MOST_LISTED = 16  # known words that a sentence lists


Place = tuple[str, ...]  # where something stands in a description: section, item, field


class Placed:
    """A sentence about a place of a description, or of a file."""

    place: Place = ()

    def at(self, *place: str) -> Self:
        """The same, at this place.

        >>> ModelError("the mass is -1; it cannot be negative.").at("bodies", "rod", "mass").place
        ('bodies', 'rod', 'mass')
        """
        self.place = place
        return self


class EslabonError(Placed, Exception):
    """The parent of every error this package raises on purpose. Its sentence quotes endless names
    shortened.

    >>> import eslabon as es
    >>> issubclass(es.AssemblyError, es.EslabonError)
    True
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*(_with_short_words(x) if isinstance(x, str) else x for x in arguments))


class located:
    """What goes wrong inside is at this place, or at a place in it.

    >>> try:
    ...     with located("bodies", "rod"), located("mass"):
    ...         raise ModelError("the mass is -1; it cannot be negative.")
    ... except ModelError as error:
    ...     print(error.place)
    ('bodies', 'rod', 'mass')
    """

    def __init__(self, *place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, EslabonError):
            error.place = (*self.place, *error.place)


def _with_short_words(sentence: str) -> str:
    """A sentence in which no word is endless.

    >>> len(_with_short_words("there is no " + "x" * 10_000))
    75
    """
    return re.sub(
        rf"\S{{{LONGEST_WORD + 1},}}", lambda word: f"{word[0][:30]}...{word[0][-30:]}", sentence
    )


class ModelError(EslabonError, ValueError):
    """A mechanism that cannot be: a missing body, a negative mass, a zero axis, a parameter without
    a value.

    >>> import eslabon as es
    >>> es.Builder("rod").body("bar", mass=-1.0).joint("q", "revolute", "ground", "bar").build()
    Traceback (most recent call last):
        ...
    eslabon.errors.ModelError: body 'bar': the mass is -1; it cannot be negative.
    """


class InputError(EslabonError, ValueError):
    """Numbers of the wrong shape or kind.

    >>> import eslabon as es
    >>> es.load("elbow").pose([0.0, 0.0, 0.0])
    Traceback (most recent call last):
        ...
    eslabon.errors.InputError: q has 3 values in its last axis; elbow has 2 coordinates.
    """


class GraphError(EslabonError, ValueError):
    """A graph that a backend cannot express, or a shape that does not fit it.

    >>> import eslabon as es
    >>> issubclass(es.GraphError, ValueError)
    True
    """


class ReadError(EslabonError, ValueError):
    """A file that cannot be read: not there, not well formed, or with a key nobody knows.

    >>> import eslabon as es
    >>> es.load("no_such_file.toml")
    Traceback (most recent call last):
        ...
    eslabon.errors.ReadError: no_such_file.toml: there is no such file.
    """


class RotationError(EslabonError, ValueError):
    """An orientation that the asked representation cannot express, or numbers that are no rotation.

    >>> import eslabon as es
    >>> es.algebra.check_rotation([[1.0, 0, 0], [0, 1.0, 0], [0, 0, -1.0]])
    Traceback (most recent call last):
        ...
    eslabon.errors.RotationError: this matrix is not a rotation but a reflection, for its determinant is -1; turn one of its axes round.
    """


class AssemblyError(EslabonError, ValueError):
    """The loops do not close.

    >>> import eslabon as es
    >>> es.load("delta").assemble([1.6, 1.6, 1.6])
    Traceback (most recent call last):
        ...
    eslabon.errors.AssemblyError: delta is to have 'arm1' at 1.6 rad, beyond its limits -0.872665 to 1.5708; prescribe a value within, or pass limits=False.
    """


class SingularityError(EslabonError, ValueError):
    """A configuration at which the answer does not exist or is not unique.

    >>> import eslabon as es
    >>> m = es.load("parallelogram")
    >>> m.assemble([[0.5], [-0.5]], continuation=True, singular="error")
    Traceback (most recent call last):
        ...
    eslabon.errors.SingularityError: between rows 0 and 1 of the motion parallelogram passes a singular configuration (near q1 = ...), where its branches meet; ...
    """


class EquilibriumError(EslabonError, ValueError):
    """Forces under which nothing rests, or a configuration that no forces hold.

    >>> import eslabon as es
    >>> es.load("cart_pole").equilibrium([0.0, 0.5])
    Traceback (most recent call last):
        ...
    eslabon.errors.EquilibriumError: no actuators' forces hold cart_pole in this configuration: 'theta' needs -0.2352 N m more, which no actuator gives; m.equilibrium(tau=..., guess=q) finds where it rests.
    """


class InverseKinematicsError(EslabonError, ValueError):
    """A pose that no configuration was found for, or one that no rigid tool can take.

    >>> import eslabon as es
    >>> es.load("elbow").inverse_kinematics(es.Target(position=[5.0, 0.0, 0.0]))
    Traceback (most recent call last):
        ...
    eslabon.errors.InverseKinematicsError: elbow does not reach this target with 'tool' within its limits: the nearest configuration found misses it by 3 m and 0 rad. Ask for less, give another guess or more restarts, or take the nearest with report=True.
    """


class OptimizationError(EslabonError, ValueError):
    """A search for an optimum that found nothing that can be, or whose claim was not confirmed.

    >>> import eslabon as es
    >>> issubclass(es.OptimizationError, ValueError)
    True
    """


class MissingDependencyError(EslabonError, ImportError):
    """A library that only some answers need, such as matplotlib, is not installed.

    >>> import eslabon as es
    >>> issubclass(es.MissingDependencyError, ImportError)
    True
    """


class ModelWarning(Placed, UserWarning):
    """A mechanism that is allowed but suspicious, such as moments of inertia no solid body can
    have.

    >>> import warnings
    >>> import eslabon as es
    >>> b = es.Builder("disc").body("plate", mass=1.0, inertia=(0, 0, 1.0)).joint("q", "revolute", "ground", "plate")
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     m = b.build()
    >>> print(told[0].message)
    disc: body 'plate' has the principal moments 0, 0, 1, and no solid body can: ...
    """


class SingularityWarning(UserWarning):
    """An answer was given, but on the way to it, or at it, a singular configuration leaves it in
    doubt.

    >>> import eslabon as es
    >>> issubclass(es.SingularityWarning, UserWarning)
    True
    """


SINGULAR_CHOICES = ("error", "warn", "ignore")  # what is to become of a singular configuration


def user_stacklevel() -> int:
    """How many frames up the line is that a warning shows: the user's, not ours."""
    depth, frame = 0, inspect.currentframe()
    while (
        frame is not None
        and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]
    ):
        depth, frame = depth + 1, frame.f_back
    return depth


def report_singularity(how: str, sentence: str) -> None:
    """A `SingularityError`, a `SingularityWarning`, or nothing: as the caller asked, by one of
    `SINGULAR_CHOICES`."""
    if how == "error":
        raise SingularityError(sentence)
    if how == "warn":
        warnings.warn(sentence, SingularityWarning, stacklevel=user_stacklevel())


def suggest(word: Any, known: Iterable[str], otherwise: str | None = None) -> str:
    """How a sentence about an unknown word ends: with the known word nearest to it, or with all of
    them.

    >>> suggest("mas", ["mass", "com"])
    "; did you mean 'mass'?"
    >>> suggest("weight", ["mass", "com"])
    ' (known: mass, com).'
    >>> suggest("weight", ["mass", "com"], "; add it.")
    '; add it.'
    """
    from difflib import get_close_matches

    words = [str(k) for k in known]
    near = get_close_matches(
        word if isinstance(word, str) else format_value(word), words, n=1, cutoff=0.6
    )
    if near:
        return f"; did you mean {near[0]!r}?"
    if otherwise is not None:
        return otherwise
    more = f" and {len(words) - MOST_LISTED} more" if len(words) > MOST_LISTED else ""
    return f" (known: {', '.join(words[:MOST_LISTED]) or 'none'}{more})."


def file_name(path: Any) -> str:
    """What a sentence about a file begins with: its path, or whatever was given in place of one.

    >>> file_name("a/b.toml"), file_name([1])
    ('a/b.toml', '[1]')
    """
    return str(path) if isinstance(path, str | PathLike) else format_value(path)


def format_value(value: Any) -> str:
    """A value in a sentence, cut short and in one line: what a hostile file holds can be endless,
    or have no text at all.

    >>> format_value([1, "a"]), format_value("x" * 100), format_value(10**5000)
    ("[1, 'a']", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxxx'", 'a value of type int')
    >>> import numpy as np
    >>> format_value(np.zeros((2, 3))), format_value(np.zeros(2))
    ('an array of shape (2, 3)', 'array([0., 0.])')
    """
    short = reprlib.Repr()
    short.maxlevel, short.maxstring, short.maxother = 2, 62, 120
    try:
        shape = tuple(value.shape) if hasattr(value, "dtype") else ()
        if len(shape) > 1 or any(n > MOST_LISTED for n in shape):
            return f"an array of shape {shape}"
        return " ".join(short.repr(value).split())
    except Exception:  # whatever a foreign __repr__ does, and numbers too long to print
        return f"a value of type {type(value).__name__}"
