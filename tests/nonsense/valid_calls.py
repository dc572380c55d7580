"""A valid call of a public function, from the examples in docstrings, which run as doctests: so a new function brings its own.

The call is recorded as it is about to be made and is not made, since many take seconds. A method without an example is called
on an object that its class's examples make, or that a function that returns one gives, with `SENSIBLE` values.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import doctest
import inspect
import io
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import eslabon as es
from nonsense.public_functions import makers, owner_of

SENSIBLE: dict[str, Any] = {
    "batch": (), "before": 0.5, "block": "S00", "control": None, "count": 2, "designs": {}, "duration": 2.0, "end": 1.0,
    "energy": 0.0, "estimate": [0.0] * 4, "folder": "folder", "index": 0, "k": 1, "kind": "parallel", "language": "en",
    "name": "q1", "names": {}, "path": "picture.svg", "period": 0.01, "points": 3, "s": 0.5, "start": 0.0, "state": None,
    "steps": 3, "t": 0.1, "theme": "light", "times": [0.0, 0.1], "title": "title", "x": [0.1, 0.1],
}  # fmt: skip
STATE = ("q", "v", "a", "tau")
MECHANISMS = ("double_pendulum", "five_bar")  # a tree and a closed one, on which every verb is tried


@dataclass
class Call:
    """A function, bound to its object if it is a method, and arguments that it takes."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def on_a_copy(self) -> Call:
        """The same of an object of its own, where calls change the object: builders collect what they are given."""
        object_ = getattr(self.function, "__self__", None)
        if not isinstance(object_, es.Builder):
            return self
        return Call(getattr(copy.deepcopy(object_), self.function.__name__), self.arguments, self.options)


class _Found(BaseException):
    """Stops an example at the call that was sought."""


class Examples:
    """The examples of docstrings, run with mechanisms of the library that are loaded once."""

    def __init__(self, library: Callable[[str], es.Mechanism]) -> None:
        self.library = library
        self._calls: dict[Any, Call | None] = {}
        self._passed: dict[Any, Call] = {}  # made by examples of something else
        self._objects: dict[type, Any] = {}
        self._run_whole: set[Any] = set()
        self._sought: Any = None

    def call_of(self, thing: Any) -> Call | None:
        """A valid call of a function, a method or a class; None where no example has one."""
        if thing not in self._calls:
            self._calls[thing] = None  # while it is looked for: objects may come from one another
            self._calls[thing] = self._in_own_example(thing) or self._in_example_of_class(thing) or self._guessed(thing)
        return self._calls[thing]

    def _in_own_example(self, thing: Any) -> Call | None:
        before, self._sought = self._sought, thing
        try:
            self._run(thing)
        except _Found as found:
            return found.args[0]
        finally:
            self._sought = before
        return None

    def _in_example_of_class(self, thing: Any) -> Call | None:
        owner = owner_of(thing)
        if owner is not None and thing not in self._passed:
            self._run_once(owner)
        return self._passed.get(thing)

    def _run_once(self, documented: Any) -> None:
        if documented not in self._run_whole:
            self._run_whole.add(documented)
            before, self._sought = self._sought, None
            self._run(documented)
            self._sought = before

    def calls_of(self, thing: Any) -> list[Call]:
        """The valid calls that are known: of a verb of mechanisms those with the state of a tree and of a closed mechanism too."""
        found = [call] if (call := self.call_of(thing)) is not None else []
        if owner_of(thing) is es.Mechanism:
            for m in map(self.library, MECHANISMS):
                verb = getattr(m, thing.__name__)
                if (needed := _needed(verb)) and {*needed} <= {*STATE}:
                    found.append(Call(verb, (), {x: y for x, y in state_of(m).items() if x in _state_taken(verb)}))
        return found

    def _guessed(self, thing: Any) -> Call | None:
        """A method on an object of its class, with values by the names of its parameters."""
        owner = owner_of(thing)
        if inspect.isclass(thing) or owner is None:
            return None
        object_ = self._object(owner)
        if object_ is None:
            return None
        method = getattr(object_, thing.__name__)
        m = next((x for x in (getattr(object_, "m", None), object_) if isinstance(x, es.Mechanism)), None)
        m = m or self.library(MECHANISMS[0])
        known = {**SENSIBLE, **state_of(m), "m": m}
        needed = _needed(method)
        return Call(method, (), {name: known[name] for name in needed}) if {*needed} <= known.keys() else None

    def _object(self, kind: type) -> Any:
        """An object of a class: from its examples, or from a function that returns one."""
        self._run_once(kind)
        for maker in makers(kind):
            if self._kept(kind) is not None:
                break
            call = self.call_of(maker)
            if call is not None:
                call = call.on_a_copy()
                with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
                    self._keep(call.function(*call.arguments, **call.options))
        return self._kept(kind)

    def _kept(self, kind: type) -> Any:
        return next((x for x in self._objects.values() if isinstance(x, kind)), None)

    def _run(self, documented: Any) -> None:
        text = inspect.getdoc(documented) or ""
        names = dict(vars(sys.modules[documented.__module__]), _called=self._called)
        for example in doctest.DocTestParser().get_examples(text):
            tree = ast.fix_missing_locations(_Calls().visit(ast.parse(example.source)))
            # An example may show an error; one that fails otherwise fails as a doctest.
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
                exec(compile(tree, "<example>", "exec"), names)

    def _called(self, function: Any, *arguments: Any, **options: Any) -> Any:
        call, key = Call(function, arguments, options), _function_of(function)
        if key is self._sought is not None:
            raise _Found(call)
        if function is es.load and len(arguments) == 1 and not options and arguments[0] in es.robots():
            return self.library(arguments[0])
        result = function(*arguments, **options)
        if isinstance(key, Hashable):
            self._passed.setdefault(key, call)
        return self._keep(result)

    def _keep(self, result: Any) -> Any:
        for x in [result, *(result if isinstance(result, list | tuple) else ())]:
            self._objects.setdefault(type(x), x)
        return result


def _needed(method: Any) -> list[str]:
    """The parameters without defaults of the method of an object."""
    parameters = inspect.signature(method).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]


def _state_taken(verb: Any) -> set[str]:
    """The parts of a state that a verb takes together: not forces beside the accelerations that they make."""
    taken = {*inspect.signature(verb).parameters} & {*STATE}
    return taken - {"tau"} if "a" in taken else taken


def state_of(m: es.Mechanism) -> dict[str, Any]:
    """A configuration that closes the loops, at rest."""
    q = m.project(m.home()) if m.closed else m.home() + 0.1
    return {"q": q, "v": np.zeros(m.nv), "a": np.zeros(m.nv), "tau": np.zeros(m.nu)}


def _function_of(called: Any) -> Any:
    """The function of a method, and of an object that is called."""
    if inspect.isroutine(called) or inspect.isclass(called):
        return getattr(called, "__func__", called)
    return getattr(type(called), "__call__", called)  # noqa: B004, its function is wanted


class _Calls(ast.NodeTransformer):
    """Every call f(x) as _called(f, x)."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        called = ast.Call(ast.Name("_called", ast.Load()), [node.func, *node.args], node.keywords)
        return ast.copy_location(called, node)
