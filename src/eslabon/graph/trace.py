"""A quantity of a mechanism, traced once into one CasADi graph that every backend reads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from eslabon.errors import ModelError, suggest
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import Mechanism

Shape = tuple[int, ...]

# What a formula may take: how many numbers a state has of it, and what they are called in a sentence.
INPUTS: Mapping[str, tuple[Callable[[Mechanism], int], str]] = {
    "q": (lambda m: m.nq, "coordinates"),
    "v": (lambda m: m.nv, "velocities"),
    "a": (lambda m: m.nv, "velocities"),
    "tau": (lambda m: m.nu, "actuators"),
}


@dataclass(frozen=True)
class Quantity:
    """A formula of the mechanism: called as `formula(m, *inputs, **options)` it gives a CasADi matrix that fills `shape`
    row by row. It may be given as the module where the function `name` lives, which is then imported only when the
    quantity is traced: code kept on disk needs no formula."""

    name: str
    inputs: tuple[str, ...]
    source: str | Callable[..., Any]
    shape: Callable[[Mechanism], Shape]
    external: bool = False  # whether it takes wrenches on bodies
    checks: tuple[str, ...] = ()  # scalars that follow the value, by which a caller judges it

    def formula(self) -> Callable[..., Any]:
        if isinstance(self.source, str):
            return getattr(import_module(self.source), self.name)
        return self.source


@dataclass(frozen=True)
class Request:
    """Which graph: a quantity with its options, the wrenches and parameters that are inputs, and what it is derived by."""

    quantity: Quantity
    options: tuple[tuple[str, Any], ...] = ()
    parameters: tuple[str, ...] = ()
    by: str | None = None
    external: tuple[str, ...] = ()

    def inputs(self, m: Mechanism) -> list[tuple[str, Shape, str]]:
        """Name, shape and noun of every input."""
        states = [(name, (INPUTS[name][0](m),), INPUTS[name][1]) for name in self.quantity.inputs]
        wrenches = [(name, (6,), "components of a wrench") for name in self.external]
        return states + wrenches + [(name, (), "parameter") for name in self.parameters]

    def shape(self, m: Mechanism) -> Shape:
        """The shape of the result for one state: a derivative has the freedoms of what it is derived by last."""
        own = self.quantity.shape(m)
        if self.by is None or self.by in self.parameters:
            return own
        return (*own, m.nv if self.by == "q" else INPUTS[self.by][0](m))

    @property
    def checks(self) -> tuple[str, ...]:
        """The scalars that come after the value; a derivative has none."""
        return self.quantity.checks if self.by is None else ()

    def key(self, m: Mechanism) -> str:
        """Determines the graph: the description, the request, and the code that traces it."""
        asked = (self.quantity.name, self.options, self.external, self.parameters, self.by)
        return hashlib.sha256(f"{_code_version()}\n{asked!r}\n{m.description!r}".encode()).hexdigest()


def trace(m: Mechanism, request: Request) -> Any:
    """The `casadi.Function` of a request, common subexpressions shared."""
    import casadi

    states = {name: casadi.SX.sym(name, INPUTS[name][0](m)) for name in request.quantity.inputs}
    symbols = {name: casadi.SX.sym(name) for name in request.parameters}
    traced = m.with_symbols(symbols) if symbols else m
    wrenches = {name: casadi.SX.sym(f"wrench_{k}", 6) for k, name in enumerate(request.external)}
    options = {**dict(request.options), **({"external": wrenches} if wrenches else {})}
    found = request.quantity.formula()(traced, *states.values(), **options)
    values = [casadi.SX(x) for x in (found if isinstance(found, list) else [found])][: 1 + len(request.quantity.checks)]
    if request.by is not None:
        values = [_derivative(traced, values[0], states, symbols, request)]
    symbols_in = [*states.values(), *wrenches.values(), *symbols.values()]
    names = [*states, *(f"wrench_{k}" for k in range(len(wrenches))), *symbols]
    outputs = [request.quantity.name, *request.checks]
    return casadi.Function(request.quantity.name, symbols_in, casadi.cse(values), names, outputs)


def _derivative(
    m: Mechanism, value: Any, states: Mapping[str, Any], symbols: Mapping[str, Any], request: Request
) -> Any:
    import casadi

    name = str(request.by)
    if name in symbols:
        return casadi.jacobian(casadi.vec(value), symbols[name]).reshape(value.shape)
    if name not in states:
        known = (*states, *m.parameters)
        raise ModelError(f"{request.quantity.name} of {m.name} does not depend on '{name}'{suggest(name, known)}")
    by_rows = casadi.vec(value.T)
    slope = casadi.jacobian(by_rows, states[name])
    return casadi.mtimes(slope, coordinate_rates(m, states["q"])) if name == "q" else slope


@cache
def _code_version() -> str:
    """A fingerprint of this package's files, so that code kept on disk never outlives the formulas it came from."""
    here = Path(__file__).parents[1]
    files = sorted((str(f.relative_to(here)), f.stat().st_size, f.stat().st_mtime_ns) for f in here.rglob("*.py"))
    return hashlib.sha256(repr(files).encode()).hexdigest()


def kept(m: Mechanism, what: str, make: Callable[[str], Callable[..., Any]]) -> Callable[..., Any]:
    """Machine code of a mechanism that is no quantity: from the disk where it is there, made under its key where not."""
    from eslabon.graph import native

    key = hashlib.sha256(f"{_code_version()}\n{what}\n{m.description!r}".encode()).hexdigest()
    return native.load(key) or make(key)


def native(m: Mechanism, request: Request) -> Callable[..., Any]:
    """The request as machine code, from the disk where it is there, compiled where it is not."""
    from eslabon.graph import native

    key = request.key(m)
    kept = native.load(key)
    if kept is not None:
        return kept
    inputs = [native.Argument(*described) for described in request.inputs(m)]
    outputs = [native.Argument(request.quantity.name, request.shape(m))]
    outputs += [native.Argument(name, ()) for name in request.checks]
    return native.compile(
        trace(m, request), inputs=inputs, outputs=outputs, name=request.quantity.name, owner=m.name, key=key
    )
