"""What is asked for: a formula with what goes in and comes out, its owner, and a request for one
graph of it.

    PENDULUM = Formula("pendulum", pendulum, inputs=(ANGLE, RATE), outputs=(Argument("acceleration", ()),))

A formula is a function of its owner and of symbols. Whoever writes it brings all that the compiler
must not know: the shapes of its arguments, along what derivatives are taken, which inputs are
refused and in which words.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from struct import pack
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

from eslabon.arguments import Floats
from eslabon.compiler.source_digest import code_digest
from eslabon.errors import ModelError, format_value, suggest
from eslabon.numerics.scalars import Expression

NOTHING: Mapping[str, Any] = MappingProxyType({})
T = TypeVar("T")
Prepare = Callable[[Any], Mapping[str, Any]]  # of an owner, options by name
Bound = tuple[str, float]  # a comparison, such as "<=", and a limit


class Tangent(NamedTuple):
    """Directions in which an input may change: how many an owner has, and the matrix of them for
    symbols of the input."""

    count: Callable[[Any], int]
    rates: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Argument:
    """One input or output: its name, the shape of one state's worth, and what its numbers are
    called.

    The shape is filled with the CasADi matrix row by row, so that a 12x4 matrix may be seen as (3,
    4, 4). None means the matrix as it is, a column being a vector. An output may have a bound, such
    as ("<=", 1e-9), that says whether the other outputs mean anything; it is a single number, and
    NaN keeps no bound. An input of a group, "parameters" or "external", follows those of none, and
    may also be given by name: f(q, parameters={"a1": 0.5}). A formula's input may have tangents,
    along which derivatives by it are taken; compiled code knows nothing of them.
    """

    name: str
    shape: Any = None  # a tuple, None, or for a formula a function of its owner and the options that gives one
    noun: str = "values"
    bound: Bound | None = None
    group: str = ""
    tangent: Tangent | None = None


class Owner(Protocol):
    """Whose formulas are evaluated: whatever has a fingerprint and parameters, such as a mechanism
    or a bond graph."""

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str:
        """Determines every graph of it."""

    @property
    def memory(self) -> dict[Any, Any]:
        """What was found out about it, which is forgotten with it."""

    @property
    def variant_of(self) -> Owner | None:
        """Whose code it shares, if it is a variant; None of any other."""

    @property
    def varied(self) -> tuple[str, ...]:
        """The parameters in which a variant may differ from the owner of the code."""

    @property
    def parameters(self) -> Mapping[str, float]: ...
    def check_parameters(self, names: Iterable[str], /) -> None:
        """Refuse names that are no free parameters."""

    def with_symbols(self, symbols: Mapping[str, Any], /) -> Self:
        """The same with CasADi symbols in place of some parameters' values."""


@runtime_checkable
class WithData(Protocol):
    """An option's value with numbers that go into compiled code as one more input, behind a
    formula's own: code is made for their count, not for their values, which are no part of the
    option's digest."""

    @property
    def data_size(self) -> int:
        """How many numbers there are."""

    def with_data(self, data: Expression, /) -> Any:
        """The same with symbols in their place."""


@dataclass(frozen=True, eq=False)
class Guard:
    """Looks at what goes into a call, in native code: one more output with a bound, and the
    sentence where it is violated.

    Attributes
    ----------
    output : a single number with a bound.
    applies : whether a request of an owner needs it, as `applies(owner, request)`.
    expression : the number, as `expression(owner, request, inputs)` with symbols for the formula's
        own inputs.
    refuse : raises an error if one of the numbers that a call gave violates the bound, as
        `refuse(owner, request, arrays, numbers)`; NaN does not, since no number in gives no number
        out.
    """

    output: Argument
    applies: Callable[[Any, Request], bool]
    expression: Callable[[Any, Request, Sequence[Expression]], Expression]
    refuse: Callable[[Any, Request, Sequence[Floats], Floats], None]


@dataclass(frozen=True, eq=False)
class Formula:
    """A function of an owner and symbols, and what goes in and comes out.

    Attributes
    ----------
    name : for messages and keys; no two formulas have the same.
    function : called as `function(owner, *inputs, **options)` it gives a CasADi matrix for each
        output and check, each of which fills its shape row by row. It may give more than are
        wanted.
    inputs, outputs : a shape may be a function of the owner and the options, or None: as the matrix
        is.
    options : the names it may be given besides, with the values they have if left out.
    external : what an input looks like whose name the caller chooses; the formula gets these as
        `external={name: symbols}`. None where it takes none.
    prepare : more options that the owner alone determines, found only when the formula is traced.
    needs : the names of such options, of a formula that stands too low to know how they are found:
        then who asks for it brings the rule, as the request's `prepare`.
    checks : further outputs with bounds that say whether the others mean anything.
    guards : what looks at the inputs.
    rare : whether it is mostly asked for a few states only, so that it is compiled quickly rather
        than well.
    timed : whether it depends on the time where its owner does.
    states, varying : for a step that is repeated in native code, as in `native.iterate`.
    derivative : called as `derivative(owner, by, *inputs, **options)`, with the name of an input or
        the symbol of a parameter, it gives the derivatives of the outputs, and the checks; or None
        where differentiating the graph is as good.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    options: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    external: Argument | None = None
    prepare: Prepare | None = None
    checks: tuple[Argument, ...] = ()
    guards: tuple[Guard, ...] = ()
    rare: bool = False
    timed: bool = False
    states: int = 0
    varying: int = 0
    derivative: Callable[..., Any] | None = None
    needs: tuple[str, ...] = ()

    @property
    def input_names(self) -> tuple[str, ...]:
        return tuple(x.name for x in self.inputs)


@dataclass(frozen=True, eq=False)
class Request:
    """Which graph: a formula with its options' values, the external inputs and parameters that go
    in, what it is differentiated by, and the rule by which the options that it needs are found when
    it is traced."""

    formula: Formula
    options: tuple[tuple[str, Any], ...] = ()
    parameters: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    by: str | None = None
    prepare: Prepare | None = None

    @property
    def data(self) -> dict[str, WithData]:
        """The options that bring numbers of their own, by name."""
        found = {name: x for name, x in self.options if isinstance(x, WithData) and x.data_size}
        return found

    def inputs(self, owner: Owner) -> list[Argument]:
        """What goes in: the formula's own inputs, then the numbers of options, then external ones,
        then parameters."""
        own = [self._sized(owner, x) for x in self.formula.inputs]
        own += [
            Argument(f"{name}_data", (x.data_size,), "numbers") for name, x in self.data.items()
        ]
        external = [
            replace(self.formula.external or Argument(name), name=name) for name in self.external
        ]
        return (
            own
            + external
            + [Argument(name, (), "parameter", group="parameters") for name in self.parameters]
        )

    def outputs(self, owner: Owner) -> list[Argument]:
        """What comes out: values, checks, guards. A derivative by an input has that input's numbers
        as its last axis."""
        formula = self.formula
        made = [self._sized(owner, x) for x in formula.outputs]
        if self.by is not None and self.by in formula.input_names:
            by = formula.inputs[formula.input_names.index(self.by)]
            count = (
                math.prod(self._sized(owner, by).shape)
                if by.tangent is None
                else by.tangent.count(owner)
            )
            made = [replace(x, shape=(*(x.shape or ()), count)) for x in made]
        return [*made, *formula.checks, *(guard.output for guard in self.guards(owner))]

    @property
    def values(self) -> int:
        """How many outputs are neither checks nor guards."""
        return len(self.formula.outputs)

    def _sized(self, owner: Owner, x: Argument) -> Argument:
        """An argument as native code knows it."""
        given = dict(self.options)
        if self.formula.needs:
            given["prepare"] = self.prepare
        shape = x.shape(owner, **given) if callable(x.shape) else x.shape
        return replace(x, shape=shape, tangent=None)

    def guards(self, owner: Owner) -> list[Guard]:
        """Those that apply here."""
        return [guard for guard in self.formula.guards if guard.applies(owner, self)]

    @cached_property
    def identity(self) -> tuple[Any, ...]:
        """Tells requests apart by content: two that are equal have one graph."""
        return (
            self.formula,
            canonical_options(self.formula, self.options),
            self.parameters,
            self.external,
            self.by,
            self.prepare,
        )

    def key(self, owner: Owner) -> str:
        """Determines the graph in every process: the owner, the request, and the code that traces
        it."""
        code = code_digest(self.identity, requested)  # this room traces it
        return hashlib.sha256(f"{code}\n{owner.digest}".encode()).hexdigest()


def requested(
    owner: Owner,
    formula: Formula,
    options: Mapping[str, Any] = NOTHING,
    parameters: tuple[str, ...] = (),
    external: tuple[str, ...] = (),
    by: str | None = None,
    prepare: Prepare | None = None,
) -> Request:
    """A request with every option in its place, refused where the formula or the owner has no such
    thing, or where a value cannot be told from another one. `prepare` is left out where the formula
    does not need it."""
    for option in options:
        if option not in formula.options:
            raise ModelError(
                f"{formula.name} has no option '{option}'{suggest(option, formula.options)}"
            )
    if parameters:
        owner.check_parameters(parameters)
    if external and formula.external is None:
        raise ModelError(f"{formula.name} takes no external inputs; leave external out.")
    if by is not None and by in parameters and by in formula.input_names:
        raise ModelError(
            f"'{by}' is an argument of {formula.name} and a parameter of {owner.name}: differentiate by ('{by}',) for the parameter, "
            "or put its value in with m.with_parameters for the argument."
        )
    known = dict.fromkeys((*formula.input_names, *owner.parameters, *parameters))
    if by is not None and by not in known:
        raise ModelError(
            f"{formula.name} of {owner.name} does not depend on '{by}'{suggest(by, known)}"
        )
    values = tuple((name, options.get(name, default)) for name, default in formula.options.items())
    rule = prepare if formula.needs else formula.prepare
    request = Request(formula, values, parameters, external, by, rule)
    request.identity  # noqa: B018 - which looks at every value
    return request


def remembered(owner: Owner, place: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What the owner's memory has in a place; it is made where there is nothing yet."""
    known: dict[Any, T] = owner.memory
    if place not in known:
        known[place] = make()
    return known[place]


def canonical(value: Any) -> Any:
    """A value as a part of a key, made of None, integers, texts, bytes, classes and tuples of
    these: equal for equal values, and different for values that differ in a bit.

    Accepted are None, bool, int, float, str, tuples, named tuples and frozen dataclasses of these,
    and objects with a text as `digest`. For all others, such as arrays, lists and functions, there
    is a TypeError: whoever has some in an option gives it a `digest` of all that it determines.

    >>> canonical(("tool", True, 1)) == canonical(("tool", 1, 1))
    False
    >>> canonical(0.0) == canonical(-0.0)
    False
    >>> canonical([1.0, 2.0])
    Traceback (most recent call last):
        ...
    TypeError: [1.0, 2.0] cannot be told from another list: it has no digest.
    """
    if value is None or type(value) is str or type(value) is int:
        return value
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, float):
        return pack("<d", value)
    if isinstance(value, str | int):  # of a kind of their own, such as NumPy's
        return str(value) if isinstance(value, str) else int(value)
    if type(value) is tuple:
        return tuple(map(canonical, value))
    if isinstance(digest := getattr(value, "digest", None), str) and not isinstance(value, type):
        return type(value), digest
    if isinstance(value, tuple):
        return type(value), *map(canonical, value)
    if is_dataclass(value) and not isinstance(value, type) and value.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return type(value), *(canonical(getattr(value, x.name)) for x in fields(value))
    raise TypeError(
        f"{format_value(value)} cannot be told from another {type(value).__name__}: it has no digest."
    )


def canonical_options(
    formula: Formula, options: Iterable[tuple[str, Any]]
) -> tuple[tuple[str, Any], ...]:
    """Options as a part of a key; an error where a value cannot be told from another one."""
    made = []
    for name, value in options:
        try:
            made.append((name, canonical(value)))
        except Exception:  # the value's own errors too
            raise ModelError(
                f"{formula.name}: {name} is a text, a number, a tuple of such or left out; it is {format_value(value)}."
            ) from None
    return tuple(made)


def in_family(owner: Owner, request: Request) -> Request:
    """The request as the base of a variant is asked: the parameters in which the variant differs
    are inputs too."""
    return replace(request, parameters=tuple(dict.fromkeys((*request.parameters, *owner.varied))))
