"""Fingerprints of code by its content, so that no stored result outlives the code that it came
from.

`source_digest` serves our own code, wing by wing. `code_digest` serves values of every kind:
formulas and their options, measures, functions of users with all that these refer to. Neither a
clock nor a path counts, so that a fresh copy of the same text finds the results of an earlier one.
"""

from __future__ import annotations

import copyreg
import hashlib
import os
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from eslabon.errors import EslabonError, ModelError, format_value
from eslabon.wings import WINGS

PACKAGE = __name__.partition(".")[0]
HERE = Path(__file__).parents[1]
# They stand low, and no number depends on them: a colour must not recompile every formula.
SHOWING = frozenset(
    {
        "answers",
        "displays",
        "drawing",
        "language",
        "pages",
        "plotting",
        "progress",
        "sheets",
        "show",
    }
)
STARTED = time.time_ns()
PLAIN = (bool, int, float, complex, str, bytes, type(None), Enum)
NAMED = (FunctionType, ModuleType, type)
DESCRIPTORS = (property, staticmethod, classmethod, cached_property)
# Entries of modules and classes that say where their text stands.
PLACES = {
    *vars(ModuleType("")),
    "__builtins__",
    "__cached__",
    "__file__",
    "__firstlineno__",
    "__module__",
    "__path__",
}
UNREADABLE: dict[
    int, Any
] = {}  # by identity; they stay alive, so that no other object takes the identity of one


def source_digest(modules: Iterable[str]) -> str:
    """A fingerprint of the contents of the wings that modules of this package are in, and of all
    wings below these.

    >>> of_dynamics = source_digest(["eslabon.formulas.dynamics"])
    >>> of_dynamics == source_digest(["eslabon.formulas.dynamics", "eslabon.model"])
    True
    >>> of_dynamics == source_digest(["eslabon.systems.control"])
    False
    """
    return _digest_of_wings(frozenset(_wing(x) for x in modules))


def code_digest(*values: Any, lasting: bool = False) -> str:
    """A fingerprint of functions by their code, what they close over and refer to, and of values by
    their bits.

    A key for compiled code also counts the text of the files, ours and users' own, and a value that
    no other process can recognise, such as a lock, makes it a key of this process. A `lasting`
    fingerprint, for results on disk, counts only the code that runs, so that an edit elsewhere in a
    file costs no results, and such a value raises ModelError.

    >>> code_digest(code_digest, [0.5]) == code_digest(code_digest, (0.5,))
    True
    >>> code_digest(np.zeros(2000)) == code_digest(np.arange(2000.0))
    False
    """
    reader = _Reader(lasting)
    h = hashlib.sha256(reader.text(values).encode("utf-8", "surrogatepass"))
    if not lasting:
        h.update(source_digest(reader.ours).encode())
        h.update(b"".join(sorted(_content(file) for file in reader.files)))
    return h.hexdigest()


def data_digest(*values: Any) -> str | None:
    """The fingerprint of `code_digest` if all that the values are made of is data, and code of this
    package and of libraries.

    None if a function or a class of a user's own has a part in them, or a value that cannot be
    read: what such a function gives may depend on something else, such as a file that it reads.

    >>> data_digest(data_digest, (1.0, 2.0)) == data_digest(data_digest, (1.0, 2.0))
    True
    """
    reader = _Reader(lasting=False)
    text = reader.text(values)
    if reader.opaque:
        return None
    return hashlib.sha256(
        f"{text}\n{source_digest(reader.ours)}".encode("utf-8", "surrogatepass")
    ).hexdigest()


# Files
# ---------------------------------------------------------------------------------------------------------------


@cache
def _wing(module: str) -> str:
    """The name in `WINGS` that a module belongs to: of a folder in one row its own, of a folder in
    several rows the file's."""
    names, parts = {wing for row in WINGS for wing in row}, module.split(".")[1:]
    above = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((x for x in above if x in names), parts[0] if parts else "")


@cache
def _digest_of_wings(owners: frozenset[str]) -> str:
    rows = {wing: k for k, row in enumerate(WINGS) for wing in row}
    highest = min(
        (rows.get(x, -1) for x in owners), default=len(WINGS)
    )  # what has no row may use every wing
    below = {wing for wing, k in rows.items() if k > highest and wing not in SHOWING}
    return hashlib.sha256(b"".join(_digest_of_wing(x) for x in sorted(below | owners))).hexdigest()


@cache
def _digest_of_wing(wing: str) -> bytes:
    """Of a folder, or of a module that is one file; each file is read once in a process."""
    h, found = hashlib.sha256(wing.encode()), False
    for name in sorted(_sources(wing.replace(".", "/"))):
        h.update(name.encode() + b"\n" + _content(str(HERE / name)))
        found = True
    # Without the text, as in a frozen application, nothing tells one version from another.
    return h.digest() if found or not wing else _of_this_process()


def _sources(place: str) -> Iterator[str]:
    """The file, or the files of the folder, in a place of the package."""
    folder = HERE / place
    if folder.with_suffix(".py").is_file():
        yield f"{place}.py"
    elif place and folder.is_dir():
        for file in os.scandir(folder):
            if file.name.endswith(".py"):
                yield f"{place}/{file.name}"
            elif file.is_dir() and file.name != "__pycache__":
                yield from _sources(f"{place}/{file.name}")


@cache
def _content(file: str) -> bytes:
    """The digest of a file; one of this process alone if it may not be the text that runs here.

    That is a file that was changed after this process began, since it may have been imported
    before. When a file was last changed (`st_ctime`, which nobody can set back) is only compared
    with that, and is part of no key.
    """
    try:
        with open(file, "rb") as opened:
            if os.name == "posix" and os.fstat(opened.fileno()).st_ctime_ns > STARTED:
                return _of_this_process()
            return hashlib.sha256(opened.read()).digest()
    except OSError:
        return _of_this_process()


@cache
def _of_this_process() -> bytes:
    """Stands for what cannot be told from something else in another process: nothing is found under
    such a key."""
    return os.urandom(32)


# Values
# --------------------------------------------------------------------------------------------------------------


class _Reader:
    """Writes all of a value as text that is the same in every process, and collects the modules
    that it comes from.

    Functions, classes and modules have numbers, and each is read once, after the values. Users' own
    are read in full, whatever their module is called: the one that is run is called __main__. All
    others count by name.
    """

    def __init__(self, lasting: bool) -> None:
        self.ours: set[str] = set()
        self.files: set[str] = set()
        self.opaque = False  # whether something was met that its text does not determine
        self._lasting = lasting
        self._optional = False  # whether a value that cannot be read may count by its kind
        self._inside: list[Any] = []  # of which values this one is a part
        self._numbers: dict[int, int] = {}  # of functions, classes and modules, by identity
        self._named: list[
            tuple[Any, bool]
        ] = []  # the same by number, and whether they are optional

    def text(self, values: Any) -> str:
        texts = [self._value(values)]
        for x, optional in self._named:  # reading one may add others
            read = self._function if isinstance(x, FunctionType) else self._namespace
            texts.append(self._read(read, x, optional))
        return "\n".join(texts)

    def _read(self, read: Callable[[Any], str], x: Any, optional: bool = True) -> str:
        """Optional are values that a function may refer to: one such as an open file counts by its
        kind."""
        before, self._optional = self._optional, optional
        try:
            return read(x)
        except (EslabonError, RecursionError):
            if not optional:
                raise
            self.opaque = True
            return f"some {type(x).__qualname__} {getattr(x, '__name__', '')}"
        finally:
            self._optional = before

    def _value(self, x: Any) -> str:
        x = x.item() if isinstance(x, np.generic) else x
        if isinstance(x, PLAIN):
            return f"{type(x).__name__} {x!r}"
        if isinstance(x, NAMED):
            if id(x) not in self._numbers:
                self._numbers[id(x)] = len(self._named)
                self._named.append((x, self._optional))
            return f"<{self._numbers[id(x)]}>"
        if depths := [k for k, y in enumerate(self._inside) if x is y]:
            return f"<at depth {depths}>"
        self._inside.append(x)
        try:
            return self._composed(x)
        finally:
            self._inside.pop()

    def _composed(self, x: Any) -> str:
        if isinstance(x, np.ndarray):
            numbers = (
                x.ravel().tolist() if x.dtype.hasobject else hashlib.sha256(x.tobytes()).digest()
            )
            return f"array {x.shape} {x.dtype} {self._value(numbers)}"
        if isinstance(x, Mapping):  # in its order, on which numbers may depend
            return f"{{{self._value([*x.items()])}}}"
        if isinstance(x, set | frozenset):
            return f"{{{', '.join(sorted(self._value(y) for y in sorted(x, key=repr)))}}}"
        if isinstance(x, list | tuple):
            return f"[{', '.join(map(self._value, x))}]"
        if isinstance(x, MethodType):
            return f"method {self._value((x.__func__, x.__self__))}"
        if isinstance(x, CodeType):
            kind = (x.co_flags, x.co_argcount, x.co_kwonlyargcount, x.co_names, x.co_varnames)
            return (
                f"{x.co_code.hex()} {x.co_exceptiontable.hex()} {kind} {self._value(x.co_consts)}"
            )
        if isinstance(x, DESCRIPTORS):
            functions = [
                getattr(x, name, None) for name in ("fget", "fset", "fdel", "__func__", "func")
            ]
            return f"{type(x).__name__} {self._value(functions)}"
        return f"{self._value(type(x))} {self._state(x)}"

    def _state(self, x: Any) -> str:
        """Of an object: its digest or fingerprint, its fields, or else what pickle writes of it."""
        if isinstance(digest := getattr(x, "digest", None), str):
            return digest
        if callable(fingerprint := getattr(x, "fingerprint", None)):
            return str(fingerprint())
        if is_dataclass(
            x
        ):  # arrays are often not compared, but a private field that is not is a cache
            names = [f.name for f in fields(x) if f.compare or not f.name.startswith("_")]
            return self._value([(name, getattr(x, name)) for name in names])
        if (
            type(x) is object or (parts := _pickled(x)) is None
        ):  # a mere object is nothing but itself
            return self._unreadable(x)
        if isinstance(
            parts, str
        ):  # the name of what a module has, such as a function in C or with a cache
            module = str(getattr(x, "__module__", None))
            return f"{'' if _users_own(module) else module} {parts} {self._value(getattr(x, '__wrapped__', None))}"
        return self._value(parts)

    def _unreadable(self, x: Any) -> str:
        self.opaque = True
        if self._lasting or self._optional:
            reason = "cannot be told from another one of its kind in another process"
            raise ModelError(f"{format_value(x)} {reason}; give numbers, arrays or functions.")
        UNREADABLE[id(x)] = x
        return f"{_of_this_process().hex()} {id(x)}"

    def _function(self, f: FunctionType) -> str:
        """By its code, which needs no file, the values it was given, and those that it takes from
        its module."""
        module, given = (
            str(f.__module__),
            (f.__defaults__, f.__kwdefaults__, [_cell(x) for x in f.__closure__ or ()]),
        )
        self._module(module)
        if not _users_own(module) and not f.__code__.co_filename.startswith(
            "<"
        ):  # which was typed, whatever its module is called
            local = (
                self._value(f.__code__) if "<" in f.__qualname__ else ""
            )  # all lambdas have one name
            return f"function {module}.{f.__qualname__} {self._value(given)} {local}"
        self.opaque = True
        used = self._entries(f.__globals__, _global_names(f.__code__) & f.__globals__.keys())
        return f"function {f.__qualname__} {self._value(given)} {self._value(f.__code__)} {used}"

    def _namespace(self, x: ModuleType | type) -> str:
        module = x.__name__ if isinstance(x, ModuleType) else str(x.__module__)
        bases = self._value(x.__bases__) if isinstance(x, type) else ""
        self._module(module)
        if not _users_own(module):
            return f"{module} {x.__name__} {bases}"
        self.opaque = True
        used = self._entries(vars(x), vars(x).keys() - PLACES)
        return f"{x.__name__ if isinstance(x, type) else 'module'} {bases} {used}"

    def _entries(self, space: Mapping[str, Any], names: Iterable[str]) -> str:
        return ", ".join(
            f"{name}: {self._read(self._value, space[name])}" for name in sorted(names)
        )

    def _module(self, name: str) -> None:
        if name == PACKAGE or name.startswith(f"{PACKAGE}."):
            self.ours.add(name)
        elif (
            _users_own(name)
            and (file := getattr(sys.modules.get(name), "__file__", None)) is not None
        ):
            self.files.add(str(file))


@cache
def _users_own(module: str) -> bool:
    """Whether a module is a file of no library, or what was typed."""
    if module.partition(".")[0] in (PACKAGE, *sys.builtin_module_names):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module == "__main__" or module not in sys.modules
    libraries = {
        Path(sysconfig.get_path(kind)).resolve()
        for kind in ("stdlib", "platstdlib", "purelib", "platlib")
    }
    return not any(Path(file).resolve().is_relative_to(place) for place in libraries)


def _cell(x: Any) -> Any:
    try:
        return x.cell_contents
    except ValueError:  # not filled yet
        return None


def _pickled(x: Any) -> Any:
    """The parts that pickle takes an object into, without cached properties, or a name; None if it
    cannot."""
    reduce: Any = copyreg.dispatch_table.get(type(x))
    try:
        parts = x.__reduce_ex__(4) if reduce is None else reduce(x)
    except Exception:  # of any kind: some libraries raise their own
        return None
    if isinstance(parts, str):
        return parts
    parts = [list(part) if isinstance(part, Iterator) else part for part in parts]
    if len(parts) > 2 and isinstance(parts[2], dict):
        cached = {
            name
            for name in parts[2]
            if isinstance(getattr(type(x), str(name), None), cached_property)
        }
        parts[2] = [(name, parts[2][name]) for name in sorted(parts[2].keys() - cached, key=str)]
    return parts


def _global_names(code: CodeType) -> set[str]:
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return {*code.co_names, *(name for c in inner for name in _global_names(c))}
