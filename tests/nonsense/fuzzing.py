"""Calls with one argument replaced by nonsense, and what is wrong with how they end.

A call may answer, or refuse: by an `EslabonError` that is one line, a sentence or two, with long names and arrays quoted
shortened; or, where the arguments do not fit the signature at all, by the TypeError that Python raises itself. All else is a
finding: any other error, a warning of NumPy's that leaks, a message that is no sentence.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from traceback import walk_tb
from typing import Any, NamedTuple

import eslabon as es
from nonsense.kinds import VALUES, spoilt
from nonsense.valid_calls import Call

LONGEST = 600  # characters of a sentence or two
LONGEST_WORD = 170  # characters of a name that is quoted
MISFIT = re.compile(
    r"unexpected keyword|required positional|required keyword|positional arguments? but|multiple values for"
)


PATIENCE = 60.0  # CPU seconds, a fuse: the slowest call takes three


class Endless(BaseException):
    """A call that would go on for ever."""


class Attempt(NamedTuple):
    """One call: the argument that is nonsense, the kind of nonsense, and the call itself."""

    argument: str
    kind: str
    make: Callable[[Call], Callable[[], Any]]


class Finding(NamedTuple):
    """How a call ended that it should not end by: the wing to mend, the kind of error, and what it says."""

    wing: str
    error: str
    said: str


def attempts(call: Call) -> Iterator[Attempt]:
    """Every argument of a call, with every kind of nonsense in its place."""
    signature = inspect.signature(call.function)
    given = signature.bind(*call.arguments, **call.options).arguments
    for p in signature.parameters.values():
        value = given.get(p.name, p.default)
        if p.kind is p.VAR_KEYWORD:
            yield Attempt(p.name, "unknown option", lambda call: _with_option(call, "nonsense", 1))
            for name, own in given.get(p.name, {}).items():
                for kind, make in _kinds(own):
                    yield Attempt(
                        name,
                        kind,
                        lambda call, name=name, make=make: _with_option(call, name, make()),
                    )
        elif p.kind is p.VAR_POSITIONAL:
            first = value[0] if isinstance(value, tuple) and value else None
            for kind, make in _kinds(first):
                yield Attempt(
                    p.name,
                    kind,
                    lambda call, name=p.name, make=make: _with_first(call, name, make()),
                )
        else:
            for kind, make in _kinds(value):
                yield Attempt(
                    p.name, kind, lambda call, name=p.name, make=make: _with(call, name, make())
                )


def _kinds(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield from VALUES.items()
    yield from spoilt(value)


def _with(call: Call, name: str, value: Any) -> Callable[[], Any]:
    bound = inspect.signature(call.function).bind(*call.arguments, **call.options)
    bound.arguments[name] = value
    return lambda: call.function(*bound.args, **bound.kwargs)


def _with_first(call: Call, name: str, value: Any) -> Callable[[], Any]:
    bound = inspect.signature(call.function).bind(*call.arguments, **call.options)
    bound.arguments[name] = (value, *bound.arguments.get(name, ())[1:])
    return lambda: call.function(*bound.args, **bound.kwargs)


def _with_option(call: Call, name: str, value: Any) -> Callable[[], Any]:
    return lambda: call.function(*call.arguments, **{**call.options, name: value})


def finding(call: Callable[[], Any], folder: Path, wing: str = "eslabon") -> Finding | None:
    """What is wrong with how a call ends, or nothing; by the wing of the function, if it fails before a line of ours runs."""
    if any(folder.iterdir()):  # no call finds what another wrote
        folder = Path(tempfile.mkdtemp(dir=folder.parent))
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        try:
            with warnings.catch_warnings(), _fuse():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", RuntimeWarning)  # NumPy's ComplexWarning among them
                _used(call())
        except es.EslabonError as error:
            trouble = _trouble(str(error))
            return (
                Finding(_wing(error) or wing, f"message {trouble}", str(error)) if trouble else None
            )
        except (Exception, SystemExit, Endless) as error:
            return (
                None
                if _by_python(error)
                else Finding(_wing(error) or wing, type(error).__name__, str(error))
            )
    return None


@contextlib.contextmanager
def _fuse() -> Iterator[None]:
    """Ends what would never end, where the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: Any) -> None:
        raise Endless(f"no answer within {PATIENCE:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def _used(result: Any) -> None:
    """Enter what is a context, and take from what is an iterator: only then the work is done."""
    if isinstance(result, contextlib.AbstractContextManager):
        with result:
            pass
    elif inspect.isgenerator(result):
        next(result, None)


def _trouble(message: str) -> str:
    """What keeps a message from being a sentence or two."""
    if not message.strip():
        return "is empty"
    if "\n" in message:
        return "has several lines"
    if max(map(len, message.split())) > LONGEST_WORD:
        return "quotes an endless word"
    if len(message) > LONGEST:
        return "is too long"
    return "" if message.endswith((".", "?")) else "is no sentence"


def _wing(error: BaseException) -> str:
    """The wing that a call went into, if any: of the first frame of ours that is not the one-line method of a mechanism."""
    names = [
        frame.f_globals.get("__name__", "").split(".") for frame, _ in walk_tb(error.__traceback__)
    ]
    wings = [(*name[1:], "eslabon")[0] for name in names if name[0] == "eslabon"]
    return next((wing for wing in wings if wing != "mechanism"), "mechanism" if wings else "")


def _by_python(error: BaseException) -> bool:
    """Whether Python itself refused a call, since the arguments do not fit the signature, before any line of a function ran."""
    inside = any(
        frame.f_globals["__name__"] != __name__ for frame, _ in walk_tb(error.__traceback__)
    )
    return isinstance(error, TypeError) and (not inside or MISFIT.search(str(error)) is not None)
