"""The one evaluator: a formula, its inputs and its options go in, a native function of arrays comes out.

    PENDULUM = Formula("pendulum", pendulum, inputs=("q", "v"), outputs=(Argument("a", lambda m: (m.nv,)),))
    f = evaluate(m, PENDULUM)                    # from memory, from disk, or traced and compiled
    a = f(q, v)

Whatever becomes a number goes this way: the quantities users ask for, the steps that close loops and invert
kinematics, the steps of integrators, derivatives, control laws. One key, of the names and values of all that determines
the graph, serves the memory (which lives with the model) and the disk.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn, Protocol, Self, cast

import numpy as np

from eslabon.compiler.calls import Call, Composed, inlining, recording
from eslabon.compiler.llvm.machine import optimization
from eslabon.compiler.signature import Argument
from eslabon.compiler.source_digest import code_digest
from eslabon.errors import InputError, ModelError, suggest
from eslabon.model import Model
from eslabon.model.admissible import margin
from eslabon.model.configuration import coordinate_rates, lengths_of_quaternions
from eslabon.model.memory import family_of, per_model


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


Shape = tuple[int, ...]
NOTHING: Mapping[str, Any] = MappingProxyType({})
FEW, MANY = 300, 32  # states in all, and in one call, from which on compiling a graph pays: it takes a second or two

# What a state consists of: how many numbers, and what they are called in a sentence.
STATE: Mapping[str, tuple[Callable[[Model], int], str]] = {
    "q": (lambda m: m.nq, "coordinates"),
    "v": (lambda m: m.nv, "velocities"),
    "a": (lambda m: m.nv, "velocities"),
    "tau": (lambda m: m.nu, "actuators"),
}


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
        code = code_digest(self.formula, self.options, native)  # this room traces it
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


def evaluate(
    m: Owner,
    formula: Formula,
    parameters: tuple[str, ...] = (),
    external: tuple[str, ...] = (),
    by: str | None = None,
    **options: Any,
) -> Callable[..., Any]:
    """The native function of a formula: from memory, from disk, or traced and compiled."""
    return native(m, requested(m, formula, options, parameters, external, by))


def native(m: Owner, request: Request) -> Callable[..., Any]:
    """The native function of a request."""
    return _native(m, request, optimization())


@per_model
def _native(m: Owner, request: Request, level: int) -> Callable[..., Any]:
    """The native function of a request as it is compiled at a level."""
    from eslabon.compiler import native

    if (family := family_of(m)) is not None:
        return _of_family(m, request, family.base)
    formula, key = request.formula, request.key(m)
    found: Any = native.load(key)
    if formula.seldom:
        found = Seldom(m, request, level, found)
    elif found is None:
        found = _compiled(m, request)
    if request.guards(m):
        found = found.with_checks({}, partial(refuse_guards, m, request))
    return found


def in_family(m: Owner, request: Request) -> Request:
    """The request as the base of a variant is asked: the parameters in which the variant differs are inputs too."""
    family = family_of(m)
    names = () if family is None else family.names
    return request._replace(parameters=tuple(dict.fromkeys((*request.parameters, *names))))


def _of_family(m: Owner, request: Request, base: Owner) -> Callable[..., Any]:
    """The native function of a variant: that of its base, with the variant's own values put in."""
    whole = in_family(m, request)
    values = {name: m.parameters[name] for name in whole.parameters[len(request.parameters) :]}
    found: Any = native(base, whole)
    if isinstance(found, Seldom):
        return lambda *arrays, **words: found(*arrays, *values.values(), **words)
    made = found.bind(values)
    return made.with_checks({}, partial(refuse_guards, m, whole)) if whole.guards(m) else made


def _compiled(m: Owner, request: Request) -> Callable[..., Any]:
    from eslabon.compiler import native

    formula, key = request.formula, request.key(m)
    described: dict[str, Any] = {
        "inputs": request.inputs(m), "outputs": request.outputs(m), "name": formula.name, "owner": m.name, "key": key
    }  # fmt: skip
    graph = trace(m, request, record=True)
    return native.compile(graph, states=formula.states, varying=formula.varying, **described)


@per_model
def _plain_graph(m: Owner, request: Request) -> Any:
    return trace(m, request, checks=False)


def expression(m: Owner, request: Request, values: Sequence[Any]) -> Any:
    """A formula's values for CasADi symbols, as a part of a larger graph: a column or a matrix for each, a tuple of several.

    Its checks are left out: a graph has no numbers to look at.
    """
    import casadi

    given, name = [], request.formula.name
    for x, argument in zip(values, request.inputs(m), strict=True):
        matrix = casadi.SX(casadi.vertcat(*x) if isinstance(x, list | tuple | np.ndarray) and np.ndim(x) == 1 else x)
        expected = _symbol(argument).shape
        if matrix.shape != expected:
            raise InputError(
                f"{name} of symbols is that of one state: {argument.name} is {'x'.join(map(str, matrix.shape))}; "
                f"{'x'.join(map(str, expected))} is expected."
            )
        given.append(matrix)
    made = []
    for x, argument in zip(_plain_graph(m, request).call(given, True, False), request.outputs(m), strict=False):
        shape: tuple[int, ...] = argument.shape
        if len(shape) > 2:
            raise InputError(f"{name} has {len(shape)} axes, and CasADi's matrices have two.")
        made.append(casadi.reshape(x.T, *(*shape, 1, 1)[1::-1]).T)
    return made[0] if len(made) == 1 else tuple(made)


_SETTLED: ContextVar[Owner | None] = ContextVar("settled", default=None)


@contextmanager
def settled_evaluation(m: Owner) -> Iterator[None]:
    """Meanwhile what is compiled does not depend on what was asked before: all of one owner and its variants, and of others only
    what always is. So results are the same to the last bit in whatever order they are asked for."""
    token = _SETTLED.set(m)
    try:
        yield
    finally:
        _SETTLED.reset(token)


def settled_apart(m: Owner) -> bool:
    """Whether results are to be settled meanwhile, and those of another owner: then `m` uses no code that may, or may not, be there."""
    return (settled := _SETTLED.get()) is not None and m is not settled


class Seldom:
    """A formula for few states: the graph as CasADi evaluates it, until so many are asked for that compiling it pays; where code is on
    disk, that."""

    def __init__(self, m: Owner, request: Request, level: int, ready: Callable[..., Any] | None = None) -> None:
        self.m, self.request, self.ready, self.left = m, request, ready, FEW
        self._level, self._code = level, ready

    def __call__(self, first: Any, *others: Any, **keywords: Any) -> Any:
        pays = self.pays(np.size(first) // max(1, self._core))
        return (self.native if pays else self._interpreted)(first, *others, **keywords)

    def pays(self, states: int) -> bool:
        """Whether with so many states more it is worth while to compile."""
        if (settled := _SETTLED.get()) is not None:
            return self.m is settled
        if self.ready is not None:
            return True
        self.left -= states if states <= MANY else self.left + 1
        return self.left < 0

    @cached_property
    def _core(self) -> int:
        return int(np.prod(self.request.inputs(self.m)[0].shape))

    @cached_property
    def _interpreted(self) -> Callable[..., Any]:
        from eslabon.compiler.function import Function
        from eslabon.compiler.interpreted import Evaluator
        from eslabon.compiler.signature import Signature

        m, request = self.m, self.request
        graph = trace(m, request, share=False)  # to find what is common takes longer than a few evaluations
        signature = Signature.of_graph(graph, request.inputs(m), request.outputs(m), request.formula.name, m.name)
        return Function.of(signature, Evaluator(graph, signature))

    @property
    def native(self) -> Callable[..., Any]:
        if self._code is None:
            if optimization() != self._level:  # which may have changed since
                return cast(Seldom, native(self.m, self.request)).native
            self._code = _compiled(self.m, self.request)
        return self._code


def refuse_guards(m: Owner, request: Request, arrays: list[Any], results: list[Any]) -> list[Any]:
    """A sentence for what users give and what cannot be; else the results without their guards."""
    guards = request.guards(m)
    kept, found = results[: len(results) - len(guards)], results[len(results) - len(guards) :]
    for guard, values in zip(guards, found, strict=True):
        if guard.name == ADMISSIBLE.name and not np.all(values >= 0):
            _refuse_parameters(_mechanism(m), request, arrays, values)
        if guard.name == QUATERNION.name and np.any(values <= SHORTEST):
            _refuse_quaternion(_mechanism(m), request, arrays, values)
    return kept  # a NaN is no violation: no number in, no number out


def _refuse_parameters(m: Model, request: Request, arrays: list[Any], margins: Any) -> NoReturn:
    names, at = request.parameters, np.unravel_index(np.argmin(margins >= 0), np.shape(margins))
    given = [float(np.broadcast_to(x, np.shape(margins))[at]) for x in arrays[-len(names) :]]
    values = dict(zip(names, given, strict=True))
    own = {name: x for name, x in values.items() if name in m.parameters}
    m.with_parameters(**own)  # which says what is wrong, unless it is wrong in this formula alone
    raise ModelError(f"{m.name} has no {request.formula.name} with {values}.")


def _refuse_quaternion(m: Model, request: Request, arrays: list[Any], lengths: Any) -> NoReturn:
    q = np.broadcast_to(arrays[request.formula.inputs.index("q")], (*np.shape(lengths), m.nq))
    own = lengths_of_quaternions(m, q[np.unravel_index(np.nanargmin(lengths), np.shape(lengths))])
    joint = min(own, key=lambda name: float(own[name]))
    which = f" in state {int(np.nanargmin(lengths))}" if np.ndim(lengths) else ""
    raise InputError(
        f"{request.formula.name}: the quaternion of '{joint}' has length zero{which}, which is no orientation; the "
        "identity is (1, 0, 0, 0)."
    )


def trace(m: Owner, request: Request, checks: bool = True, record: bool = False, share: bool = True) -> Any:
    """The graph of a request, common subexpressions shared if wanted; without its checks where they are not.

    It is a `casadi.Function`, or a function that calls others where these are to be recorded (`compiler.calls`); a derivative
    is of the whole.
    """
    import casadi

    formula, arguments = request.formula, request.inputs(m)
    symbols = [_symbol(x) for x in arguments]
    own, count = symbols[: len(formula.inputs)], len(formula.inputs) + len(request.external)
    wrenches = dict(zip(request.external, symbols[len(formula.inputs) : count], strict=True))
    values = dict(zip(request.parameters, symbols[count:], strict=True))
    if request.by is not None and request.by not in (*values, *formula.input_names):
        values[request.by] = casadi.SX.sym(request.by)  # a parameter of the model, which gets its value at the end
    traced = m.with_symbols(values) if values else m
    options = {**dict(request.options), **(formula.prepare(_mechanism(m)) if formula.prepare else {})}
    if wrenches:
        options["external"] = wrenches
    wanted = len(formula.outputs) if checks else request.values
    found, calls = _values(traced, request, own, options, values, record)
    outputs = [casadi.SX(x) for x in found[:wanted]]
    if request.by in values and request.by not in request.parameters:
        outputs, calls = _with_value(outputs, calls, values[request.by], m.parameters[request.by])
    # CasADi takes identifiers; the name of a wrench may be any text.
    names = [x.name if x.name.isidentifier() else f"input_{k}" for k, x in enumerate(arguments)]
    made = [x.name for x in formula.outputs[: len(outputs)]]
    for guard in request.guards(m) if checks else ():
        admissible = guard.name == ADMISSIBLE.name
        own_model = _mechanism(traced)
        outputs.append(margin(own_model) if admissible else _shortest(own_model, own[formula.inputs.index("q")]))
        made.append(guard.name)
    outputs = [casadi.sparsify(x) for x in outputs]  # formulas need not care for zeros that turned up on the way
    if calls:
        return Composed(formula.name, symbols, outputs, calls, names, made)
    same = {"allow_duplicate_io_names": True}  # as a parameter of the model may be called q
    return casadi.Function(formula.name, symbols, casadi.cse(outputs) if share else outputs, names, made, same)


def _mechanism(m: Owner) -> Model:
    """The owner of a formula that only a mechanism has."""
    return cast(Model, m)


def _values(
    m: Owner, request: Request, own: list[Any], options: dict[str, Any], parameters: Mapping[str, Any], record: bool
) -> tuple[list[Any], list[Call]]:
    """What a formula gives, or the derivatives by its own formula or by the graph; and the calls that were recorded."""
    formula, by = request.formula, request.by
    with recording() if record else inlining() as calls:  # a law that is being recorded has calls of its own
        if by is None:
            return _listed(formula.function(m, *own, **options)), calls
        if formula.derivative is not None:
            found = formula.derivative(m, parameters.get(by, by), *own, **options)
            if found is not None:
                return _listed(found), calls
    with inlining():
        found = _listed(formula.function(m, *own, **options))
    found[: request.values] = _derivatives(m, found[: request.values], request, own, parameters)
    return found, []


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list) else [found]


def _with_value(outputs: list[Any], calls: list[Call], symbol: Any, value: float) -> tuple[list[Any], list[Call]]:
    """A number in place of a parameter's symbol, in the arguments of calls too."""
    import casadi

    def put(x: list[Any]) -> list[Any]:
        made: list[Any] = casadi.substitute(x, [symbol], [casadi.SX(value)])
        return made

    return put(outputs), [c._replace(arguments=put(c.arguments)) for c in calls]


def _shortest(m: Model, q: Any) -> Any:
    import casadi

    return casadi.mmin(casadi.vertcat(*lengths_of_quaternions(m, q).values()))


def _symbol(x: Argument) -> Any:
    import casadi

    return casadi.SX.sym(x.name, *(x.shape or (1,)))


def _derivatives(
    m: Owner, values: list[Any], request: Request, own: list[Any], parameters: Mapping[str, Any]
) -> list[Any]:
    """The derivatives, row by row of the values; by q along the velocities, so that quaternions need no care."""
    import casadi

    values = [casadi.SX(x) for x in values]

    if (parameter := parameters.get(request.by or "")) is not None:
        return [casadi.jacobian(casadi.vec(x), parameter).reshape(x.shape) for x in values]
    by = own[request.formula.input_names.index(request.by)]
    along = coordinate_rates(_mechanism(m), by) if request.by == "q" else casadi.SX.eye(by.numel())
    return [casadi.mtimes(casadi.jacobian(casadi.vec(x.T), by), along) for x in values]


def _sized(m: Owner, x: str | Argument, options: Mapping[str, Any]) -> Argument:
    if isinstance(x, str):
        count, noun = STATE[x]
        return Argument(x, (count(_mechanism(m)),), noun)
    return replace(x, shape=x.shape(m, **options)) if callable(x.shape) else x
