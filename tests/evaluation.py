"""Mechanisms that a test makes up are mostly evaluated by CasADi; one of four of their graphs is compiled.

To compile its graphs takes twice as long as all else that is done to a mechanism that is met once. Which graphs are
compiled depends on their size, as good as at random but the same in every run, so that numbers by both ways meet in most
tests and have to agree there; a graph that is asked for many states is compiled in any case. The mechanisms of the
library are compiled, since many tests share their code, but where a test asks for the fixture `interpreted`. A test that
compares bit by bit, or the clock, asks for the fixture `compiled`; ESLABON_TEST_NATIVE=all compiles everything.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any

from eslabon import robots
from eslabon.graph import native
from eslabon.graph.calls import Composed
from eslabon.graph.evaluator import FEW
from eslabon.graph.native.batched import Batched
from eslabon.graph.native.interpreted import callable_of
from eslabon.graph.native.signature import Signature

SHARE = 4  # of so many graphs one is compiled
REMEMBERED = 500  # graphs of a process, for mechanisms that several tests make up alike


class SparingCompiler:
    """Stands for `compile` and `load` of `eslabon.graph.native`."""

    def __init__(self) -> None:
        self.compile, self.load = native.compile, native.load
        self.memory: dict[str, Batched] = {}

    def install(self) -> None:
        native.compile, native.load = self.compile_or_interpret, self.load_or_remember

    def compile_or_interpret(self, f: Any, *, key: str | None = None, **described: Any) -> Any:
        if key is None or always(described.get("owner", "")):
            return self.compile(f, key=key, **described)
        graph = f.inlined() if isinstance(f, Composed) else f
        if chosen(graph):
            return self.compile(f, key=key, **described)
        made = interpreted(graph, lambda: self.compile(f, key=key, **described), **described)
        if len(self.memory) >= REMEMBERED:
            del self.memory[next(iter(self.memory))]
        self.memory[key] = made
        return made

    def load_or_remember(self, key: str) -> Any:
        kept = self.memory.get(key)
        if kept is None or always(kept.signature.owner):
            return self.load(key)
        return kept.bounded({})  # each has its own way to deal with violations of bounds


def always(owner: str) -> bool:
    """Whether all graphs of a mechanism are compiled."""
    asked = os.environ.get("ESLABON_TEST_NATIVE")
    return asked == "all" or (asked != "few" and owner in library())


def chosen(graph: Any) -> bool:
    """Whether a graph is among those that are compiled at once."""
    return sha256(f"{graph.n_instructions()} {graph.name_in()}".encode()).digest()[0] % SHARE == 0


@cache
def library() -> frozenset[str]:
    return frozenset(robots())


def interpreted(graph: Any, compile: Callable[[], Any], inputs: Any, outputs: Any, name: str, owner: str) -> Batched:  # noqa: A002
    """The function by CasADi, until it is asked for many states."""
    signature = Signature.of_graph(graph, inputs, outputs, name, owner)
    return _batched(signature, _Gradual(callable_of(signature, graph)._evaluate, compile))


def _batched(signature: Signature, evaluate: Callable[..., Any]) -> Batched:
    return Batched(signature, evaluate, lambda other: _batched(other, evaluate), parallel=False)


class _Gradual:
    """CasADi's evaluator first, the compiled loop once so many states were asked for that it pays."""

    def __init__(self, by_casadi: Callable[..., Any], compile: Callable[[], Any]) -> None:  # noqa: A002
        self.evaluate, self.compile, self.left = by_casadi, compile, FEW
        self.native: Batched | None = None  # which keeps the code alive

    def __call__(self, *arrays: Any, out: Any) -> Any:
        self.left -= max((math.prod(a.shape[:-1]) for a in arrays), default=1)
        if self.left < 0 and self.native is None:
            self.native = self.compile().__self__
            self.evaluate = self.native._evaluate
        return self.evaluate(*arrays, out=out)
