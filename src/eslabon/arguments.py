"""Checks of arguments: each function returns the value in the type that is expected, or raises an
error whose sentence says what is wrong and what to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from eslabon.errors import EslabonError, InputError, ModelError, ReadError, format_value, suggest

if TYPE_CHECKING:
    from casadi import SX  # noqa: TID251  (for type checkers alone)
    from typing_extensions import TypeIs

Floats = np.ndarray[Any, np.dtype[np.float64]]
T = TypeVar("T")
# What looking up an argument in a table may raise: TypeError for a list, another for a CasADi
# symbol, any for a broken __eq__.
LOOKUP_ERRORS = (Exception,)


def floats(value: Any, name: str) -> Floats:
    """An array of float64 from real numbers; text, complex numbers and objects raise an error.

    >>> floats([1, 2], "q")
    array([1., 2.])
    >>> floats("text", "q")
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: q holds text; real numbers are expected.
    """
    refuse_masked(value, name)
    try:
        array = np.asarray(value)
    except Exception as error:  # from a foreign __array__, or integers beyond all floats
        raise InputError(
            f"{name} is not an array of numbers: {str(error).splitlines()[0].rstrip('.')}."
        ) from None
    if array.dtype == np.float64:
        return array
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} holds {_kind(array)}; real numbers are expected.")
    return array.astype(np.float64)


def refuse_masked(value: Any, name: str) -> None:
    """Raise an error for masked arrays, whose mask NumPy's functions would ignore."""
    masked = sys.modules.get("numpy.ma")  # where it is not loaded, nobody has made one
    if masked is not None and isinstance(value, masked.MaskedArray):
        raise InputError(f"{name} is a masked array; fill in its masked values.")


def _kind(array: np.ndarray) -> str:
    words = {
        "c": "complex numbers",
        "U": "text",
        "S": "bytes",
        "O": "Python objects",
        "M": "dates",
        "m": "time spans",
    }
    return words.get(array.dtype.kind, f"values of type {array.dtype}")


LARGEST = 1e150  # the largest number accepted: its square is still finite


def finite(value: Any, name: str) -> Floats:
    """An array of float64 without NaN, infinity or numbers beyond 1e150.

    >>> finite([0.0, 1e200], "q")
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: q holds a number beyond 1e+150, too large to compute with.
    """
    array = floats(value, name)
    if not (np.abs(array) <= LARGEST).all():
        broken = not np.isfinite(array).all()
        what = "that is not finite" if broken else f"beyond {LARGEST:g}, too large to compute with"
        raise InputError(f"{name} holds a number {what}.")
    return array


def number(value: Any, name: str) -> float:
    """One finite number.

    >>> number([1.0, 2.0], "t")
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: t is one number; it is [1.0, 2.0].
    """
    array = finite(value, name)
    if array.ndim:
        raise InputError(f"{name} is one number; it is {format_value(value)}.")
    return float(array)


def states(
    value: Any,
    name: str,
    count: int,
    owner: str,
    noun: str = "coordinates",
    values: Callable[[Any, str], Floats] = finite,
) -> Floats:
    """Finite numbers `(..., count)`, such as configurations, velocities or forces.

    With `values=floats` they need not be finite.
    """
    array = values(value, name)
    if array.ndim == 0:
        raise InputError(f"{name} is a single number; {owner} has {count} {noun}.")
    if array.shape[-1] != count:
        got = array.shape[-1]
        raise InputError(
            f"{name} has {got} value{'s' * (got != 1)} in its last axis; "
            f"{owner} has {count} {noun}."
        )
    return array


MAX_COUNT = 10**9  # of steps, samples or threads: more exceed any memory
MAX_SEED = 2**128 - 1


def count(value: Any, name: str, least: int = 0, most: int = MAX_COUNT) -> int:
    """A whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(
            f"{name} is a whole number, at least {least}; it is {format_value(value)}."
        )
    if value > most:
        raise InputError(
            f"{name} is a whole number, at most {most:g}; it is {format_value(value)}."
        )
    return int(value)


def positive(value: Any, name: str, zero: bool = False, infinite: bool = False) -> float:
    """A number greater than zero; zero or infinity only if the caller allows it."""
    if type(value) is float and 0.0 < value < np.inf:
        return value
    try:
        number = (
            float(value) if isinstance(value, int | float | np.integer | np.floating) else np.nan
        )
    except OverflowError:  # an integer beyond all floats
        number = np.inf
    if (
        isinstance(value, bool)
        or not (number >= 0 if zero else number > 0)
        or not (infinite or number < np.inf)
    ):
        raise InputError(
            f"{name} is a number {'not less' if zero else 'greater'} than zero; "
            f"it is {format_value(value)}."
        )
    return number


def flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} is True or False; it is {format_value(value)}.")
    return bool(value)


def choice(value: Any, name: str, known: Iterable[str]) -> str:
    """One of the known words.

    >>> choice("wran", "singular", ("error", "warn", "ignore"))
    Traceback (most recent call last):
    ...
    eslabon.errors.ModelError: singular is 'error', 'warn' or 'ignore'; it is 'wran'; did you mean
    'warn'?
    """
    words = list(known)
    if isinstance(value, str) and value in words:
        return value
    listed = (
        " or ".join([", ".join(map(repr, words[:-1])), repr(words[-1])])
        if len(words) > 1
        else repr(words[0])
    )
    hint = suggest(value, words, ".") if isinstance(value, str) else "."
    raise ModelError(f"{name} is {listed}; it is {format_value(value)}{hint}")


def text(value: Any, name: str) -> str:
    """A text."""
    if not isinstance(value, str) or any(
        "\ud800" <= letter <= "\udfff" for letter in value
    ):  # half a character
        raise ModelError(f"{name} is a text; it is {format_value(value)}.")
    return value


def names(value: Any, name: str) -> tuple[str, ...]:
    """A tuple of names, from one name or several."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple | Set | Mapping) or not all(
        isinstance(x, str) for x in value
    ):
        raise ModelError(f"{name} are names, as in {name}=('a', 'b'); it is {format_value(value)}.")
    return tuple(value)


def mapping(value: Any, name: str) -> Mapping[str, Any]:
    """Values by name; an empty mapping for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(k, str) for k in value):
        raise ModelError(
            f"{name} gives values by name, as in {name}={{'name': value}}; "
            f"it is {format_value(value)}."
        )
    return value


def file_path(value: Any, name: str = "path") -> Path:
    """The path of a file or folder.

    >>> file_path(5)
    Traceback (most recent call last):
    ...
    eslabon.errors.ReadError: path is the path of a file, a text; it is 5.
    """
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise ReadError(f"{name} is the path of a file, a text; it is {format_value(value)}.")
    return Path(value)


def instance(value: Any, name: str, kind: type[T], noun: str) -> T:
    """An instance of a class, such as the result of another function of the library.

    >>> instance(5, "law", Path, "a path")
    Traceback (most recent call last):
    ...
    eslabon.errors.ModelError: law is a path; it is 5.
    """
    if not isinstance(value, kind):
        raise ModelError(f"{name} is {noun}; it is {format_value(value)}.")
    return value


def known_words(
    words: Iterable[Any], known: Iterable[str], refusal: str, error: type[EslabonError] = ModelError
) -> None:
    """Raise an error for the first unknown word.

    >>> known_words(["mas"], ("mass", "com"), "bodies.rod has no key")
    Traceback (most recent call last):
    ...
    eslabon.errors.ModelError: bodies.rod has no key 'mas'; did you mean 'mass'?
    """
    words_known = [*known]
    for word in words:
        if not isinstance(word, str) or word not in words_known:
            raise error(f"{refusal} {format_value(word)}{suggest(word, words_known)}")


def known_options(
    verb: str,
    function: Callable[..., Any],
    options: Iterable[str],
    error: type[EslabonError] = ModelError,
) -> None:
    """Raise an error for the first option that is not a keyword argument of the function."""
    code = function.__code__  # inspect.signature would take as long as the call itself
    known = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    known_words(options, known, f"{verb} has no option", error)


@overload
def is_symbolic(value: object, /) -> TypeIs[SX]: ...
@overload
def is_symbolic(*values: object) -> bool: ...
def is_symbolic(*values: object) -> bool:
    """Whether any of the values is a CasADi expression."""
    casadi = sys.modules.get("casadi")
    # called for every argument of every formula: this is the fastest test
    return casadi is not None and casadi.SX in map(type, values)


def has_symbols(*values: Any) -> bool:
    """Whether any of the values is a CasADi expression, or a list or array that contains one."""
    held = [
        x
        for x in values
        if isinstance(x, list | tuple)
        or (isinstance(x, np.ndarray) and x.dtype == object and x.ndim)
    ]
    return is_symbolic(*values) or any(has_symbols(*x) for x in held)
