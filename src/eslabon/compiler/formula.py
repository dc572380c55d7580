"""What is asked for: a formula with what goes in and comes out, its owner, and a request for one graph of it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, Self, cast

from eslabon.compiler.signature import Argument
from eslabon.compiler.source_digest import code_digest
from eslabon.errors import ModelError, suggest
from eslabon.model import Model
from eslabon.model.memory import family_of

Shape = tuple[int, ...]

NOTHING: Mapping[str, Any] = MappingProxyType({})

# What a state consists of: how many numbers, and what they are called in a sentence.
STATE: Mapping[str, tuple[Callable[[Model], int], str]] = {
    "q": (lambda m: m.nq, "coordinates"),
    "v": (lambda m: m.nv, "velocities"),
    "a": (lambda m: m.nv, "velocities"),
    "tau": (lambda m: m.nu, "actuators"),
}


class Owner(Protocol):
    """Whose formulas are evaluated: a mechanism's data, or whatever else has a fingerprint and parameters.

    Formulas with inputs named "q", "v", "a" and "tau", and guarded ones, are a mechanism's own.
    """

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str:
        """Determines every graph of it."""

    @property
    def parameters(self) -> Mapping[str, float]: ...
    def check_parameters(self, names: Iterable[str], /) -> None:
        """Refuse names that are no free parameters."""

    def with_symbols(self, symbols: Mapping[str, Any], /) -> Self:
        """The same with CasADi symbols in place of some parameters' values."""


@dataclass(frozen=True, eq=False)
class Formula:
    """A function of a model and symbols, and what goes in and comes out.

    Attributes
    ----------
    name : for messages and keys; no two formulas have the same.
    function : called as `function(m, *inputs, **options)` it gives a CasADi matrix for each output, each of which fills
        its output's shape row by row. It may give more than are wanted.
    inputs : "q", "v", "a", "tau", or an `Argument`.
    outputs : arguments; a shape may be a function of the model and the options, or None: as the matrix is.
    options : the names it may be given besides, with the values they have if left out.
    external : whether it takes wrenches on bodies, as `external={name: wrench}`.
    prepare : more options that the model alone determines, found only when the formula is traced, such as which
        coordinates of a closed mechanism are independent.
    checks : how many of the outputs, the last ones, say whether the others mean anything.
    guarded : whether parameters and quaternions are looked at, as those that users give are.
    seldom : whether it is mostly asked for a few states only; CasADi evaluates the graph then, and it is compiled as soon
        as it is asked for more.
    timed : whether it depends on the time where the constraints do.
    states, varying : for a step that is repeated in native code, as in `native.iterate`.
    derivative : called as `derivative(m, by, *inputs, **options)`, with the name of an input or the symbol of a parameter,
        it gives the derivatives of the values, and the checks; or None where differentiating the graph is as good.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[str | Argument, ...]
    outputs: tuple[Argument, ...]
    options: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    external: bool = False
    prepare: Callable[[Model], Mapping[str, Any]] | None = None
    checks: int = 0
    guarded: bool = False
    seldom: bool = False
    timed: bool = False
    states: int = 0
    varying: int = 0
    derivative: Callable[..., Any] | None = None

    @property
    def input_names(self) -> tuple[str, ...]:
        return tuple(x if isinstance(x, str) else x.name for x in self.inputs)


# How far the values of parameters are from what a mechanism cannot have, such as a negative mass, and the least squared
# length of a quaternion.
ADMISSIBLE = Argument("admissible", (), bound=(">=", 0.0))

SHORTEST = 1e-12

QUATERNION = Argument("quaternion", (), bound=(">", SHORTEST))


class Request(NamedTuple):
    """Which graph: a formula with its options' values, the wrenches and parameters that are inputs, and what it is
    differentiated by."""

    formula: Formula
    options: tuple[tuple[str, Any], ...] = ()
    parameters: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    by: str | None = None

    def inputs(self, m: Owner) -> list[Argument]:
        """What goes in: the formula's own inputs, then wrenches, then parameters."""
        own = [_sized(m, x, dict(self.options)) for x in self.formula.inputs]
        wrenches = [Argument(name, (6,), "components of a wrench", group="external") for name in self.external]
        return own + wrenches + [Argument(name, (), "parameter", group="parameters") for name in self.parameters]

    def outputs(self, m: Owner) -> list[Argument]:
        """What comes out: values, checks, guards. A derivative by a state has that state's numbers as its last axis."""
        made = [_sized(m, x, dict(self.options)) for x in self.formula.outputs]
        if self.by is not None and self.by in self.formula.input_names:
            by = _sized(m, self.formula.inputs[self.formula.input_names.index(self.by)], dict(self.options))
            count = _mechanism(m).nv if self.by == "q" else math.prod(by.shape)
            for k in range(self.values):
                made[k] = replace(made[k], shape=(*(made[k].shape or ()), count))
        return [*made, *self.guards(m)]

    @property
    def values(self) -> int:
        """How many outputs are no checks."""
        return len(self.formula.outputs) - self.formula.checks

    def guards(self, m: Owner) -> list[Argument]:
        """Outputs that say whether what users give can be at all: values of parameters, and quaternions."""
        if not self.formula.guarded:
            return []
        turning = "q" in self.formula.inputs and not all(j.kind.plain for j in _mechanism(m).description.joints)
        return [*([ADMISSIBLE] if self.parameters else []), *([QUATERNION] if turning else [])]

    def key(self, m: Owner) -> str:
        """Determines the graph: the description, the request, and the code that traces it."""
        code = code_digest(self.formula, self.options, requested)  # this room traces it
        asked = (self.formula.name, self.external, self.parameters, self.by)
        return hashlib.sha256(f"{code}\n{asked!r}\n{m.digest}".encode()).hexdigest()


def requested(
    m: Owner,
    formula: Formula,
    options: Mapping[str, Any] = NOTHING,
    parameters: tuple[str, ...] = (),
    external: tuple[str, ...] = (),
    by: str | None = None,
) -> Request:
    """A request with every option in its place, refused where the formula or the model has no such thing."""
    for option in options:
        if option not in formula.options:
            raise ModelError(f"{formula.name} has no option '{option}'{suggest(option, formula.options)}")
    m.check_parameters(parameters)
    if external and not formula.external:
        raise ModelError(f"{formula.name} does not depend on wrenches; leave external out.")
    if by is not None and by in parameters and by in formula.input_names:
        raise ModelError(
            f"'{by}' is an argument of {formula.name} and a parameter of {m.name}: differentiate by ('{by}',) for the parameter, or "
            "put its value in with m.with_parameters for the argument."
        )
    known = dict.fromkeys((*formula.input_names, *m.parameters, *parameters))
    if by is not None and by not in known:
        raise ModelError(f"{formula.name} of {m.name} does not depend on '{by}'{suggest(by, known)}")
    values = tuple((name, options.get(name, default)) for name, default in formula.options.items())
    return Request(formula, values, parameters, external, by)


def in_family(m: Owner, request: Request) -> Request:
    """The request as the base of a variant is asked: the parameters in which the variant differs are inputs too."""
    family = family_of(m)
    names = () if family is None else family.names
    return request._replace(parameters=tuple(dict.fromkeys((*request.parameters, *names))))


def _mechanism(m: Owner) -> Model:
    """The owner of a formula that only a mechanism has."""
    return cast(Model, m)


def _sized(m: Owner, x: str | Argument, options: Mapping[str, Any]) -> Argument:
    if isinstance(x, str):
        count, noun = STATE[x]
        return Argument(x, (count(_mechanism(m)),), noun)
    return replace(x, shape=x.shape(m, **options)) if callable(x.shape) else x
