"""All of a value as text that is the same in every process: what tells one measure from another."""

from __future__ import annotations

import dis
import hashlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
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
    return _content(value, ())


def _content(value: Any, seen: tuple[int, ...]) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PLAIN):
        return repr(value)
    if id(value) in seen:  # a thing that holds itself
        return f"<again {len(seen) - seen.index(id(value))}>"
    seen = (*seen, id(value))
    if isinstance(value, np.ndarray):
        return f"array{value.shape}{value.dtype}{_array(value, seen)}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_content(k, seen)}: {_content(x, seen)}" for k, x in _sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_content(x, seen) for x in value) + "]"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(_content(x, seen) for x in value)) + "}"
    return _of_object(value, seen)


def _array(value: np.ndarray[Any, Any], seen: tuple[int, ...]) -> str:
    if value.dtype == object:
        return _content(value.tolist(), seen)
    return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()


def _sorted(value: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    return sorted(value.items(), key=lambda item: repr(item[0]))


def _of_object(value: Any, seen: tuple[int, ...]) -> str:
    """Models by their digest, laws by their graph, functions by their text, other objects by what they hold."""
    if isinstance(value, type | ModuleType):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}"
    if isinstance(value, Model):
        return f"Model {value.digest}"
    if callable(getattr(value, "fingerprint", None)):
        return str(value.fingerprint())
    if is_law(value):
        law = value.graph(value.m)
        return f"{type(value).__name__} {law.digest} {_content(law.state, seen)}"
    if isinstance(value, FunctionType | MethodType | BuiltinFunctionType | partial):
        return _of_function(value, seen)
    names = [f.name for f in fields(value)] if is_dataclass(value) else sorted(getattr(value, "__dict__", ()))
    if names or hasattr(value, "__dict__"):
        inside = {name: getattr(value, name) for name in names}
        return f"{_of_object(type(value), seen)}({_content(inside, seen)})"
    if " at 0x" in (text := repr(value)):
        raise ModelError(
            f"{shown(value)} cannot be told from another one of its kind in another process; give numbers, arrays or functions."
        )
    return text


def is_law(value: Any) -> bool:
    """Whether it is a law of `es.control`, which knows its mechanism and its graph."""
    return isinstance(getattr(value, "m", None), Model) and hasattr(value, "graph")


def _of_function(f: Any, seen: tuple[int, ...]) -> str:
    """Its name and source, the defaults, and the values it closes over or takes from its module. Which module that is does not
    count: the one that is run is called __main__."""
    if isinstance(f, partial):
        return f"partial({_content(f.func, seen)}, {_content(f.args, seen)}, {_content(f.keywords, seen)})"
    if isinstance(f, MethodType):
        return f"{_content(f.__func__, seen)} of {_content(f.__self__, seen)}"
    if not isinstance(f, FunctionType):
        return f"{f.__module__}.{f.__qualname__}"
    return f"{f.__name__}\n{_source(f)}\n{_content([f.__defaults__, f.__kwdefaults__, dict(_referred(f))], seen)}"


def _source(f: FunctionType) -> str:
    """What is written. Of a lambda, which shares its lines with others, and of what was typed at a prompt, what it was compiled to."""
    try:
        return _instructions(f.__code__) if f.__name__ == "<lambda>" else inspect.getsource(f)
    except (OSError, TypeError):
        return _instructions(f.__code__)


def _instructions(code: CodeType) -> str:
    lines = [f"{i.opname} {_instructions(i.argval) if isinstance(i.argval, CodeType) else i.argval!r}" for i in dis.get_instructions(code)]  # fmt: skip
    return "\n".join(lines)


def _referred(f: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function closes over, and the plain values and own functions of its module that it names."""
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not filled yet
            yield name, None
    for name in sorted(_global_names(f.__code__)):
        value = f.__globals__.get(name)
        own = isinstance(value, FunctionType) and value.__module__ == f.__module__
        if own or (isinstance(value, (*PLAIN, np.ndarray, np.generic, list, tuple, dict)) and name in f.__globals__):
            yield f"global {name}", value


def _global_names(code: CodeType) -> set[str]:
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return {*code.co_names, *(name for c in inner for name in _global_names(c))}
