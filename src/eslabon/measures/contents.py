"""All of a value as text that is the same in every process: what tells one measure from another."""

from __future__ import annotations

import dis
import hashlib
import inspect
import logging
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from eslabon.errors import ModelError, shown
from eslabon.model import Model

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def content(value: Any) -> str:
    """All of a value as text: numbers and arrays by their bits, functions by what is written in them and what they refer to.

    >>> content([1, {"b": np.float64(2.0)}]), content((1.0,)) == content([1.0])
    ("[1, {'b': 2.0}]", True)
    >>> content(np.zeros(2)) == content([0.0, 0.0])
    False
    """
    return _Reading().of(value)


class _Reading:
    """A value that is read: what it is inside of, and the functions, classes and modules that were read already."""

    def __init__(self) -> None:
        self.inside: list[int] = []
        self.read: set[int] = set()

    def of(self, value: Any) -> str:
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, PLAIN):
            return repr(value)
        if id(value) in self.inside:  # a thing that holds itself
            return f"<again {len(self.inside) - self.inside.index(id(value))}>"
        self.inside.append(id(value))
        try:
            return self._of_container(value)
        finally:
            self.inside.pop()

    def _of_container(self, value: Any) -> str:
        if isinstance(value, np.ndarray):
            numbers = (
                self.of(value.tolist()) if value.dtype == object else _digest(np.ascontiguousarray(value).tobytes())
            )
            return f"array{value.shape}{value.dtype}{numbers}"
        if isinstance(value, Mapping):
            ordered = sorted(value.items(), key=lambda item: repr(item[0]))
            return "{" + ", ".join(f"{self.of(k)}: {self.of(x)}" for k, x in ordered) + "}"
        if isinstance(value, list | tuple):
            return "[" + ", ".join(map(self.of, value)) + "]"
        if isinstance(value, set | frozenset):
            return "{" + ", ".join(sorted(map(self.of, value))) + "}"
        if isinstance(value, type | ModuleType | FunctionType):
            return self._once(value)
        return self._of_object(value)

    def _once(self, value: Any) -> str:
        """A class, a module or a function, of which many others may make use: in full where it is met first."""
        name = (
            value.__name__
            if isinstance(value, ModuleType | FunctionType)
            else f"{value.__module__}.{value.__qualname__}"
        )
        if id(value) in self.read:
            return f"<{name}>"
        self.read.add(id(value))
        if isinstance(value, FunctionType):
            return self._of_function(value)
        return name + _written(value) + (self._of_class(value) if isinstance(value, type) else "")

    def _of_class(self, value: type) -> str:
        """What a user's own class inherits, and what its methods refer to."""
        if not _own(value.__module__):
            return ""
        methods = {name: x for name, x in vars(value).items() if isinstance(x, FunctionType)}
        return f"\n{self.of(value.__bases__)}\n{self.of(methods)}"

    def _of_object(self, value: Any) -> str:
        """Models by their digest, laws by their graph, callables by their text, other objects by what they hold."""
        if isinstance(value, Model):
            return f"Model {value.digest}"
        if callable(getattr(value, "fingerprint", None)):
            return str(value.fingerprint())
        if is_law(value):
            law = value.graph(value.m)
            return f"{type(value).__name__} {law.digest} {self.of(law.state)}"
        if isinstance(value, partial):
            return f"partial({self.of(value.func)}, {self.of(value.args)}, {self.of(value.keywords)})"
        if isinstance(value, MethodType):
            return f"{self.of(value.__func__)} of {self.of(value.__self__)}"
        if isinstance(value, BuiltinFunctionType):
            return f"{value.__module__}.{value.__qualname__}"
        if isinstance(value, logging.Logger):  # of which nothing that is measured depends
            return f"logger {value.name}"
        names = [f.name for f in fields(value)] if is_dataclass(value) else _attributes(value)
        if names or hasattr(value, "__dict__"):
            return f"{self.of(type(value))}({self.of({name: getattr(value, name) for name in names})})"
        if " at 0x" in (text := repr(value)):
            raise ModelError(
                f"{shown(value)} cannot be told from another one of its kind in another process; give numbers, arrays or functions."
            )
        return text

    def _of_function(self, f: FunctionType) -> str:
        """Its name and source, the defaults, and what it closes over or takes from its module. Which module that is does not
        count: the one that is run is called __main__."""
        given = self.of([f.__defaults__, f.__kwdefaults__, dict(_closed_over(f))])
        return f"{f.__name__}\n{_source(f)}\n{given}\n{{{', '.join(self._of_globals(f))}}}"

    def _of_globals(self, f: FunctionType) -> Iterator[str]:
        """What a function names of its module. Functions of libraries count by their names, as do things that cannot be read, such as
        an open file."""
        for name in sorted(_global_names(f.__code__) & f.__globals__.keys()):
            value = f.__globals__[name]
            library = (
                isinstance(value, FunctionType) and value.__module__ != f.__module__ and not _own(value.__module__)
            )
            try:
                yield f"{name}: {value.__module__ + '.' + value.__qualname__ if library else self.of(value)}"
            except (ModelError, RecursionError):
                yield f"{name}: {type(value).__qualname__}"


def is_law(value: Any) -> bool:
    """Whether it is a law of `es.control`, which knows its mechanism and its graph."""
    return isinstance(getattr(value, "m", None), Model) and hasattr(value, "graph")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _attributes(value: Any) -> list[str]:
    """What an object holds, in slots too, without what it has only noted for later."""
    kinds = type(value).__mro__
    noted = {name for own in kinds for name, x in vars(own).items() if isinstance(x, cached_property)}
    slots = {name for own in kinds for name, x in vars(own).items() if isinstance(x, MemberDescriptorType)}
    return sorted({x for x in slots if hasattr(value, x)} | set(getattr(value, "__dict__", ())) - noted)


@cache
def _installed() -> tuple[Path, ...]:
    """Where Python's own modules are, installed ones, and ours: what is there has a version, and does not change from run to run."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    return (*{Path(sysconfig.get_path(kind)).resolve() for kind in kinds}, Path(__file__).resolve().parents[1])


def _own(module: str) -> bool:
    """Whether a module is a user's own: a file of no library, or what was typed."""
    found = sys.modules.get(module)
    if found is None or module in sys.builtin_module_names:
        return False
    file = getattr(found, "__file__", None)
    if file is None:
        return module == "__main__"
    return not any(Path(file).resolve().is_relative_to(place) for place in _installed())


def _written(value: Any) -> str:
    """The text of a class or module that is a user's own."""
    try:
        if isinstance(value, type):
            return f"\n{inspect.getsource(value)}" if _own(value.__module__) else ""
        return f"\n{_digest(Path(str(value.__file__)).read_bytes())}" if _own(value.__name__) else ""
    except (OSError, TypeError, AttributeError):
        return ""


def _source(f: FunctionType) -> str:
    """What is written. Of a lambda, which shares its lines with others, and of what was typed at a prompt, what it was compiled to."""
    try:
        # Of the code, since a function may say that it wraps another, whose text it would have instead.
        return _instructions(f.__code__) if f.__name__ == "<lambda>" else inspect.getsource(f.__code__)
    except (OSError, TypeError):
        return _instructions(f.__code__)


def _instructions(code: CodeType) -> str:
    made = (
        i.argval if not isinstance(i.argval, CodeType) else _instructions(i.argval) for i in dis.get_instructions(code)
    )
    return "\n".join(f"{i.opname} {content(x)}" for i, x in zip(dis.get_instructions(code), made, strict=True))


def _closed_over(f: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not filled yet
            yield name, None


def _global_names(code: CodeType) -> set[str]:
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return {*code.co_names, *(name for c in inner for name in _global_names(c))}
