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
import tempfile
import warnings
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar
from unittest import mock

import numpy as np

import eslabon as es
from nonsense.public_functions import classes_in, makers, owner_of

# Values by the names of parameters. Where a name has several, the first of each are tried, then the second, and so on.
SENSIBLE: dict[str, tuple[Any, ...]] = {
    "batch": ((),), "before": (0.5,), "block": ("S11",), "control": (None,), "count": (2,),
    "designs": ({"m1": np.array([1.0, 1.1])},), "drive": ([0.0],), "drives": (None,), "duration": (2.0,), "end": (1.0,),
    "energy": (0.0,), "estimate": ([0.0] * 4,), "f": ([0.0] * 2, [0.0] * 4), "folder": ("folder",),
    "gravity": ("field", "sources"), "index": (0,), "k": (1,), "kind": ("parallel",), "language": ("en",),
    "name": ("q1", "value"), "names": ({},), "path": ("picture.svg", "table.csv", "page.html"), "period": (0.01,),
    "points": (3,), "preference": ("integral",), "q0": ([0.1] * 2,), "s": (0.5,), "source": ("gravity", "bar1"),
    "start": (0.0,), "state": (None,), "steps": (3,), "t": (0.1, [0.0, 0.1], [0.0, 0.01]), "theme": ("light",),
    "times": ([0.0, 0.1], 2), "title": ("title",), "u": ([0.0] * 2,), "value": ("value",),
    "x": ([0.1] * 2, [0.1] * 4, [0.1], [0.1] * 6), "x0": ([0.1] * 4,), "y": ([0.0] * 2, [[0.0] * 2] * 2),
    "z": ([0.0] * 4, [0.0] * 14),
}  # fmt: skip
STATE = ("q", "v", "a", "tau")
DEPTH = 3  # of functions that make the object that the next one is called on
MECHANISMS = (
    "double_pendulum",
    "five_bar",
)  # a tree and a closed one, on which every verb is tried


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
        return Call(
            getattr(copy.deepcopy(object_), self.function.__name__), self.arguments, self.options
        )

    def made(self) -> Any:
        """What the call gives."""
        call = self.on_a_copy()
        return call.function(*call.arguments, **call.options)


class _Found(BaseException):
    """Stops an example at the call that was sought."""


@dataclass
class _Record:
    """What the examples of a docstring did: the first call of each function, and the first object of each class."""

    calls: dict[Any, Call] = field(default_factory=dict)
    objects: dict[type, Any] = field(default_factory=dict)

    def keep(self, result: Any) -> None:
        for x in [result, *(result if isinstance(result, list | tuple) else ())]:
            self.objects.setdefault(type(x), x)

    def first(self, kind: type) -> Any:
        return next((x for x in self.objects.values() if isinstance(x, kind)), None)


class _KeptFolder(tempfile.TemporaryDirectory[str]):
    """A folder of an example that lasts as long as the process: a call that is recorded may read from it."""

    kept: ClassVar[list[Any]] = []

    def __enter__(self) -> str:
        self.kept.append(self)
        return self.name

    def __exit__(self, *_: Any) -> None:
        pass


class Examples:
    """The examples of docstrings, run with mechanisms of the library that are loaded once.

    What is found for a function depends on its name alone, not on what was looked for before.
    """

    def __init__(self, library: Callable[[str], es.Mechanism]) -> None:
        self.library = library
        self._calls: dict[tuple[Any, int], Call | None] = {}
        self._objects: dict[tuple[type, int], Any] = {}
        self._records: dict[Any, _Record] = {}

    def call_of(self, thing: Any, depth: int = DEPTH) -> Call | None:
        """A valid call of a function, a method or a class; None where there is no example of one, and no guess is taken."""
        if (thing, depth) not in self._calls:
            found = self._in_own_example(thing) or self._in_example_of_class(thing)
            self._calls[thing, depth] = found or self._guessed(thing, depth)
        return self._calls[thing, depth]

    def calls_of(self, thing: Any) -> list[Call]:
        """The valid calls that are known: of a verb of mechanisms those with the state of a tree and of a closed mechanism too."""
        found = [call] if (call := self.call_of(thing)) is not None else []
        if owner_of(thing) is es.Mechanism:
            verbs = [getattr(m, thing.__name__) for m in map(self.library, MECHANISMS)]
            found += [call for verb in verbs if (call := with_state(verb)) is not None]
        return found

    def _in_own_example(self, thing: Any) -> Call | None:
        bare = getattr(thing, "__wrapped__", thing)
        for sought in (thing, *([bare] if bare is not thing else [])):  # as its own file calls it
            try:
                self._run(thing, _Record(), sought=sought)
            except _Found as found:
                call: Call = found.args[0]
                return call if sought is thing else replace(call, function=thing)
        return None

    def _in_example_of_class(self, thing: Any) -> Call | None:
        owner = owner_of(thing)
        return self._record_of(owner).calls.get(thing) if owner is not None else None

    def _record_of(self, documented: Any) -> _Record:
        if documented not in self._records:
            self._records[documented] = record = _Record()
            self._run(documented, record)
        return self._records[documented]

    def _guessed(self, thing: Any, depth: int) -> Call | None:
        """A method on an object of its class, with the first values by the names of its parameters that it takes.

        Where it takes none, values that it refuses in a sentence serve too: others may still end in another error.
        """
        owner = owner_of(thing)
        if (
            inspect.isclass(thing)
            or owner is None
            or (object_ := self._object(owner, depth)) is None
        ):
            return None
        method = getattr(object_, thing.__name__)
        m = next(
            (x for x in (getattr(object_, "m", None), object_) if isinstance(x, es.Mechanism)), None
        )
        m = m or self.library(MECHANISMS[0])
        needed = _needed(method)
        objects = {
            name: self._annotated(thing, name, depth) for name in needed if name not in SENSIBLE
        }
        known = {
            **objects,
            **SENSIBLE,
            "m": (m,),
            **{name: (value,) for name, value in state_of(m).items()},
        }
        if not all(known[name] for name in needed):
            return None
        guesses = range(max((len(known[name]) for name in needed), default=1))
        calls = [
            Call(method, (), {name: known[name][min(k, len(known[name]) - 1)] for name in needed})
            for k in guesses
        ]
        return next(filter(_answers, calls), None) or next(filter(_refuses, calls), None)

    def _annotated(self, thing: Any, name: str, depth: int) -> tuple[Any, ...]:
        """Objects of the classes in the annotation of a parameter."""
        objects = (
            [self._object(kind, depth - 1) for kind in classes_in(thing, name)] if depth else []
        )
        return tuple(x for x in objects if x is not None)

    def _object(self, kind: type, depth: int) -> Any:
        """An object of a class: from its examples, or from a function that returns one."""
        if (kind, depth) not in self._objects:
            found = self._record_of(kind).first(kind)
            self._objects[kind, depth] = (
                self._made(kind, depth - 1) if found is None and depth else found
            )
        return self._objects[kind, depth]

    def _made(self, kind: type, depth: int) -> Any:
        for maker in makers(kind):
            call, record = self.call_of(maker, depth), _Record()
            if call is not None:
                with _quiet():
                    record.keep(call.made())
            if (found := record.first(kind)) is not None:
                return found
        return None

    def _run(self, documented: Any, record: _Record, sought: Any = None) -> None:
        """Run the examples, but for those that show an error."""
        names = dict(
            vars(sys.modules[documented.__module__]),
            _called=partial(self._called, record, sought),
        )
        for example in doctest.DocTestParser().get_examples(inspect.getdoc(documented) or ""):
            if example.exc_msg is None:
                tree = ast.fix_missing_locations(_Calls().visit(ast.parse(example.source)))
                with _quiet():  # one that fails fails as a doctest
                    exec(compile(tree, "<example>", "exec"), names)

    def _called(
        self, record: _Record, sought: Any, function: Any, *arguments: Any, **options: Any
    ) -> Any:
        call, key = Call(function, arguments, options), _function_of(function)
        if key is sought is not None:
            raise _Found(call)
        if (
            function is es.load
            and len(arguments) == 1
            and not options
            and arguments[0] in es.robots()
        ):
            return self.library(arguments[0])
        result = function(*arguments, **options)
        if isinstance(key, Hashable):
            record.calls.setdefault(key, call)
        record.keep(result)
        return result


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Neither words nor warnings nor errors; temporary folders last."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(Exception),
        warnings.catch_warnings(),
        mock.patch.object(tempfile, "TemporaryDirectory", _KeptFolder),
    ):
        warnings.simplefilter("ignore")
        yield


def _answers(call: Call) -> bool:
    """Whether a guess is a valid call."""
    with _quiet(), _KeptFolder() as folder, contextlib.chdir(folder):
        call.made()
        return True
    return False


def _refuses(call: Call) -> bool:
    """Whether a guess is refused in a sentence."""
    with _quiet(), _KeptFolder() as folder, contextlib.chdir(folder):
        try:
            call.made()
        except es.EslabonError:
            return True
    return False


def with_state(verb: Any) -> Call | None:
    """A verb with as much of a state as it takes, if it needs nothing else and answers."""
    if not (needed := _needed(verb)) or not {*needed} <= {*STATE}:
        return None
    state = state_of(verb.__self__)
    call = Call(verb, (), {name: state[name] for name in STATE if name in _state_taken(verb)})
    return call if _answers(call) else None


def _needed(method: Any) -> list[str]:
    """The parameters without defaults of the method of an object."""
    parameters = inspect.signature(method).parameters.values()
    return [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]


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
    """Every call f(x) as _called(f, x), but for those in functions that an example defines.

    Sweeps fingerprint such a function with all that it refers to, which by `_called` would be all examples that were run.
    """

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        called = ast.Call(ast.Name("_called", ast.Load()), [node.func, *node.args], node.keywords)
        return ast.copy_location(called, node)
