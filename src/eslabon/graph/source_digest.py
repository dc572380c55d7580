"""Fingerprints of code by its content, so that compiled code never outlives the formulas it came from.

`source_digest` serves our own code, wing by wing; `code_digest` serves whatever takes part in a formula: its functions,
what they close over, the values of its options, and functions in users' own files. Neither a clock nor a path counts,
so that a fresh copy of the same text finds what an earlier one compiled.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, cached_property, partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from eslabon.wings import WINGS

PACKAGE = __name__.partition(".")[0]
HERE = Path(__file__).parents[1]
# They stand low, and no number depends on them: a colour must not recompile every formula.
SHOWING = frozenset({"displays", "drawing", "language", "pages", "plotting", "progress", "sheets"})
STARTED = time.time_ns()
PLAIN = (bool, int, float, complex, str, bytes, type(None), Enum)
NAMED = (FunctionType, ModuleType, type)
READABLE = (*PLAIN, *NAMED, np.generic, np.ndarray, Mapping, list, tuple, partial)


def source_digest(modules: Iterable[str]) -> str:
    """A fingerprint of the contents of the wings that modules of this package are in, and of all wings below these.

    >>> of_dynamics = source_digest(["eslabon.dynamics.trees"])
    >>> of_dynamics == source_digest(["eslabon.dynamics.loops", "eslabon.model"])
    True
    >>> of_dynamics == source_digest(["eslabon.control"])
    False
    """
    return _digest_of_wings(frozenset(_wing(x) for x in modules))


def code_digest(*values: Any) -> str:
    """A fingerprint of functions by the contents of their files and what they close over, and of values by their bits.

    >>> code_digest(code_digest, [0.5]) == code_digest(code_digest, (0.5,))
    True
    >>> code_digest(np.zeros(2000)) == code_digest(np.arange(2000.0))
    False
    """
    read = _Reading()
    for value in values:
        read.value(value)
    h = hashlib.sha256(source_digest(read.ours).encode())
    for file in sorted(read.files):
        h.update(_content(file))
    h.update("\n".join(read.texts).encode("utf-8", "surrogatepass"))
    return h.hexdigest()


# Files ---------------------------------------------------------------------------------------------------------------


def _wing(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@cache
def _digest_of_wings(owners: frozenset[str]) -> str:
    rows = {wing: k for k, row in enumerate(WINGS) for wing in row}
    highest = min((rows.get(x, -1) for x in owners), default=len(WINGS))  # what has no row may use every wing
    below = {wing for wing, k in rows.items() if k > highest and wing not in SHOWING}
    return hashlib.sha256(b"".join(_digest_of_wing(x) for x in sorted(below | owners))).hexdigest()


@cache
def _digest_of_wing(wing: str) -> bytes:
    """Of a folder, or of a module that is one file; each file is read once in a process."""
    h, found = hashlib.sha256(wing.encode()), False
    for name in sorted(_sources(wing)):
        h.update(name.encode() + b"\n" + _content(str(HERE / name)))
        found = True
    # Without the text, as in a frozen application, nothing tells one version from another.
    return h.digest() if found or not wing else _of_this_process()


def _sources(wing: str) -> Iterator[str]:
    """The files of a wing, as seen from the package."""
    folder = HERE / wing
    if folder.with_suffix(".py").is_file():
        yield f"{wing}.py"
    elif wing and folder.is_dir():
        for file in os.scandir(folder):
            if file.name.endswith(".py"):
                yield f"{wing}/{file.name}"
            elif file.is_dir() and file.name != "__pycache__":
                yield from _sources(f"{wing}/{file.name}")


@cache
def _content(file: str) -> bytes:
    """The digest of a file; one of this process alone if it may not be the text that runs here.

    That is a file that was changed after this process began, since it may have been imported before. When a file was
    last changed (`st_ctime`, which nobody can set back) is only compared with that, and is part of no key.
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
    """Stands for what cannot be told from something else in another process: nothing is found under such a key."""
    return os.urandom(32)


# Values --------------------------------------------------------------------------------------------------------------


class _Reading:
    """What values consist of: modules of ours, other files, and text. Equal values give equal text."""

    def __init__(self) -> None:
        self.ours: set[str] = set()
        self.files: set[str] = set()
        self.texts: list[str] = []
        self._inside: list[Any] = []  # of which values this one is a part
        self._read: dict[int, Any] = {}  # functions, classes and modules, which many may refer to, by identity

    def value(self, x: Any) -> None:
        """Read a value, whatever it is."""
        x = x.item() if isinstance(x, np.generic) else x
        if isinstance(x, PLAIN):
            self.texts.append(f"{type(x).__name__} {x!r}")
        elif any(x is y for y in self._inside):
            self.texts.append("itself")
        elif id(x) in self._read:
            self.texts.append(f"again {x.__name__}")
        else:
            self._inside.append(x)
            self._composed(x)
            self._inside.pop()

    def _composed(self, x: Any) -> None:
        if isinstance(x, np.ndarray) and x.dtype != object:
            numbers = hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()
            self.texts.append(f"array {x.shape} {x.dtype} {numbers}")
        elif isinstance(x, np.ndarray):
            self._values(f"array {x.shape}", x.ravel().tolist())
        elif isinstance(x, Mapping):
            self._values("mapping", (y for item in x.items() for y in item))
        elif isinstance(x, set | frozenset):
            self._values("set", sorted(x, key=repr))
        elif isinstance(x, list | tuple):
            self._values("sequence", x)
        elif isinstance(x, MethodType):
            self._values("method", (x.__func__, x.__self__))
        elif isinstance(x, partial):
            self._values("partial", (x.func, x.args, x.keywords))
        elif isinstance(x, FunctionType):
            self._read[id(x)] = x
            self._function(x)
        elif isinstance(x, ModuleType | type):
            self._read[id(x)] = x
            self._named(x)
        else:
            self._object(x)

    def _values(self, kind: str, values: Iterable[Any]) -> None:
        self.texts.append(f"{kind} of")
        for x in values:
            self.value(x)
        self.texts.append("end")

    def _object(self, x: Any) -> None:
        """By its digest, its fields, or its attributes; what has none of these is one of this process."""
        self.value(type(x))
        if isinstance(digest := getattr(x, "digest", None), str):
            self.texts.append(digest)
        elif is_dataclass(x):
            self._values("fields", (getattr(x, f.name) for f in fields(x) if f.compare))
        elif isinstance(x, BuiltinFunctionType | np.ufunc):
            self.texts.append(x.__name__)
        elif hasattr(x, "__dict__"):
            own = {k: y for k, y in vars(x).items() if not isinstance(getattr(type(x), k, None), cached_property)}
            self._values("attributes", (own,))
        else:
            self.texts.append(_of_this_process().hex())

    def _function(self, f: FunctionType) -> None:
        """By the content of its file and what it was given; one of a user's own also by the values that it takes
        from its module, which may come from anywhere."""
        self.texts.append(f"function {f.__module__}.{f.__qualname__}")
        self._module(f.__module__)
        self._values("given", (f.__defaults__, f.__kwdefaults__, [_cell(x) for x in f.__closure__ or ()]))
        if _users_own(f.__module__):
            self.texts.append(_instructions(f.__code__))
            for name in sorted(_global_names(f.__code__) & f.__globals__.keys()):
                self.texts.append(f"global {name}")
                self._global(f.__globals__[name])

    def _global(self, x: Any) -> None:
        """Things of which nothing can be read, such as an open file, count by their kind."""
        self.value(x if isinstance(x, READABLE) else type(x))

    def _named(self, x: ModuleType | type) -> None:
        """A module or a class, by the content of its file, and of a user's other files that it is made of."""
        module = x.__name__ if isinstance(x, ModuleType) else x.__module__
        self.texts.append(f"{type(x).__name__} {module} {x.__name__}")
        self._module(module)
        if isinstance(x, type):
            self._values("bases", x.__bases__)
        if _users_own(module):
            self._values("contents", (y for _, y in sorted(vars(x).items()) if isinstance(y, NAMED)))

    def _module(self, name: str) -> None:
        if name == PACKAGE or name.startswith(f"{PACKAGE}."):
            self.ours.add(name)
        elif _users_own(name) and (file := getattr(sys.modules.get(name), "__file__", None)) is not None:
            self.files.add(str(file))


@cache
def _libraries() -> tuple[Path, ...]:
    """Where Python's own modules and installed ones are, which do not change from run to run."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({Path(sysconfig.get_path(kind)).resolve() for kind in kinds})


@cache
def _users_own(module: str) -> bool:
    """Whether a module is a file of no library, or what was typed."""
    if module.partition(".")[0] in (PACKAGE, *sys.builtin_module_names):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module == "__main__" or module not in sys.modules
    return not any(Path(file).resolve().is_relative_to(place) for place in _libraries())


def _cell(x: Any) -> Any:
    try:
        return x.cell_contents
    except ValueError:  # not filled yet
        return None


def _instructions(code: CodeType) -> str:
    """What was typed at a prompt has no file, and a file may have been read before it was changed."""
    inner = [
        _instructions(x) if isinstance(x, CodeType) else repr(sorted(x, key=repr) if isinstance(x, frozenset) else x)
        for x in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {inner}"


def _global_names(code: CodeType) -> set[str]:
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return {*code.co_names, *(name for c in inner for name in _global_names(c))}
