"""Everything public that can be called, found from the names that the library lists: nothing here names a function.

Public are the functions and classes of `eslabon.__all__` and of the `__all__` of its public modules, the public methods of
those classes, and the classes that all these say they return, with their methods, and so on.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

import eslabon as es

CALLED = ("__call__",)  # of the special methods, the one that users call by brackets


@cache
def public_functions() -> dict[str, Callable[..., Any]]:
    """All of them by name, such as "load", "control.lqr" or "Mechanism.pose"; what several classes inherit has one name."""
    found: dict[Any, str] = {}
    waiting = list(_listed())
    while waiting:
        name, thing = waiting.pop(0)
        if thing in found or _is_error(thing):
            continue
        found[thing] = name
        if inspect.isclass(thing):
            waiting += [(f"{name}.{key}", method) for key, method in _methods(thing)]
        waiting += _returned(thing)
    assert len(set(found.values())) == len(found), "two public functions have one name"
    return {name: thing for thing, name in found.items()}


@cache
def _makers() -> dict[type, list[Any]]:
    found: dict[type, list[Any]] = {}
    for thing in public_functions().values():
        for _, kind in _returned(thing):
            found.setdefault(kind, []).append(thing)
    return found


def makers(kind: type) -> list[Any]:
    """The public functions that say that they return an object of a class."""
    return _makers().get(kind, [])


@cache
def _owners() -> dict[Any, type]:
    kinds = [thing for thing in public_functions().values() if inspect.isclass(thing)]
    return {method: kind for kind in reversed(kinds) for _, method in _methods(kind)}


def owner_of(thing: Any) -> type | None:
    """The public class that a method belongs to, the first that has it; None for other functions."""
    return _owners().get(thing)


def _is_error(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, BaseException)


def _listed() -> Iterator[tuple[str, Any]]:
    for name in es.__all__:
        thing = getattr(es, name)
        if inspect.ismodule(thing):
            yield from (
                (f"{name}.{key}", getattr(thing, key))
                for key in thing.__all__
                if callable(getattr(thing, key))
            )
        elif callable(thing):
            yield name, thing


def _ours(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).split(".")[0] == "eslabon"


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    for key in dir(kind):
        method = inspect.getattr_static(kind, key)
        method = getattr(method, "__func__", method)
        if (
            (not key.startswith("_") or key in CALLED)
            and inspect.isfunction(method)
            and _ours(method)
        ):
            yield key, method


def _returned(function: Any) -> Iterator[tuple[str, type]]:
    """The classes of ours in what a function says it returns, by wing and name."""
    for kind in [] if inspect.isclass(function) else classes_in(function, "return"):
        yield f"{kind.__module__.split('.')[1]}.{kind.__name__}", kind


def classes_in(function: Any, name: str) -> list[type]:
    """The classes of ours that a function names in the annotation of a parameter, or of what it returns."""
    known = _names_in(function.__module__)
    words = re.findall(r"\w+", str(getattr(function, "__annotations__", {}).get(name, "")))
    return [kind for kind in map(known.get, words) if inspect.isclass(kind) and _ours(kind)]


@cache
def _names_in(module: str) -> dict[str, Any]:
    """What annotations in a module may name: its globals, and what it imports for the type checker alone."""
    found = dict(vars(sys.modules[module]))
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            for line in node.body:
                if isinstance(line, ast.ImportFrom) and (line.module or "").startswith("eslabon"):
                    room = import_module(str(line.module))
                    found |= {
                        x.asname or x.name: getattr(room, x.name)
                        for x in line.names
                        if hasattr(room, x.name)
                    }
    return found
