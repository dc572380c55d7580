"""The compiled verbs of a mechanism: a name and its options' values in, a native function out.

A verb is a method of one line: it looks its native function up and calls it. What the lookup does
not find, and what the native function does not take by itself, goes the careful way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import cache, partial
from inspect import Parameter, Signature, signature
from typing import Any, ParamSpec, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import (
    LOOKUP_ERRORS,
    choice,
    finite,
    flag,
    floats,
    has_symbols,
    mapping,
    names,
    positive,
    text,
)
from eslabon.bond_graph.bond_graph_formulation import BOND_GRAPH
from eslabon.compiler.evaluate import function_of
from eslabon.compiler.formula import Formula, canonical_options, requested
from eslabon.compiler.function import Function
from eslabon.compiler.program import simplified
from eslabon.compiler.trace import expression, trace
from eslabon.errors import SINGULAR_CHOICES, ModelError, format_value, suggest
from eslabon.formulas import textbook_terms
from eslabon.formulas.formulations.formulation import FORMULATIONS, Formulation
from eslabon.formulas.motion_state import chosen_formulation
from eslabon.formulas.quantities import QUANTITIES, quantity
from eslabon.model import Model
from eslabon.model.validation import TIME
from eslabon.solve.constraints.constraint_structure import constraint_structure, structure
from eslabon.solve.solve_options import Options, SolveOptions

Floats = np.ndarray[Any, np.dtype[np.float64]]
Key = tuple[Any, ...]  # the name of a quantity, and the values of the options of its verb
P = ParamSpec("P")
T = TypeVar("T")


Named = Mapping[str, ArrayLike] | None
Out = Floats | tuple[Floats, ...] | None


class CallOptions(TypedDict, total=False):
    """What every numeric verb takes besides its own arguments and `out`, `threads` and
    `parameters`.

    Those three are arguments of their own, since they cost nothing then, where a dictionary costs
    as much as a small kernel.

    out : the array to write the result into; a tuple of arrays where the result is one.
    threads : how many threads share a big batch; all cores if left out.
    parameters : values that take the place of the model's own, by name; arrays broadcast like
        everything else.
    external : wrenches `(..., 6)`, moment first, by the name of a body or frame (in its axes, at
        its origin) or of a wrench that the model leaves to the caller. Only verbs of dynamics take
        them.
    tolerance : for dynamics with loops, by how much a state may violate loop closure: radians, or
        metres over the characteristic length, and a second; of velocities in parts of the largest
        one where that is more than 1, of accelerations in parts of its square; 1e-6 if left out.
    singular : for inverse and forward dynamics with loops, what is to become of singular
        configurations: "error", "warn" (the minimum-norm solution is given) or "ignore".
    t : the time, for a mechanism whose constraints depend on it; it broadcasts like everything
        else.
    """

    external: Mapping[str, ArrayLike]
    tolerance: float
    singular: str
    t: ArrayLike


# Users may choose a mechanism's bond graph too, which formulas know nothing of.
ALL_FORMULATIONS: Mapping[str, Formulation] = {**FORMULATIONS, "bond_graph": BOND_GRAPH}
CALL_WORDS = ("out", "threads", "parameters", *CallOptions.__annotations__)


def verb(method: Callable[P, T]) -> Callable[P, T]:
    """The same method; its signature has the names of `CallOptions` in place of `**more`, for the
    Tab key and for help."""
    return _with_words(method, CallOptions)


def solving_verb(method: Callable[P, T]) -> Callable[P, T]:
    """The same for a verb that solves for configurations, with the names of `SolveOptions`."""
    return _with_words(method, SolveOptions)


def _with_words(method: Callable[P, T], options: Any) -> Callable[P, T]:
    declared = signature(method)
    own = [p for p in declared.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    more = [
        Parameter(
            word,
            Parameter.KEYWORD_ONLY,
            default=getattr(Options, word, None) if options is SolveOptions else None,
            annotation=str(x.__forward_arg__),
        )
        for word, x in options.__annotations__.items()
    ]
    method.__signature__ = declared.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    return method


def forces_or_accelerations(verb: str) -> ModelError:
    """The error of a verb that takes either."""
    return ModelError(
        f"{verb} takes the accelerations a or the actuators' forces tau: one of the two."
    )


class Items(tuple[tuple[Any, Any], ...]):
    """The items of a dictionary, as a part of a key."""


@dataclass(frozen=True, eq=False)
class Strange:
    """A value that no key can hold, as a part of a key that is never found again: the careful way
    takes or refuses it."""

    value: Any


def hashable(value: Any) -> Any:
    """The value of an option as a part of a key: a list or an array as a tuple, a dictionary as its
    items."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Mapping):
        return Items((name, hashable(x)) for name, x in value.items())
    if isinstance(value, np.ndarray | np.generic):
        return hashable(value.tolist()) if value.dtype != object else Strange(value)
    if isinstance(value, list | tuple):
        return tuple(map(hashable, value))
    if isinstance(value, Set) and all(isinstance(x, str) for x in value):
        return frozenset(map(str.__str__, value))
    return str.__str__(value) if isinstance(value, str) else Strange(value)


def _is_strange(part: Any) -> bool:
    return isinstance(part, Strange) or (isinstance(part, tuple) and any(map(_is_strange, part)))


def _given(value: Any) -> Any:
    """An option as it was given, from its part of a key."""
    if isinstance(value, Items):
        return {name: _given(x) for name, x in value}
    if isinstance(value, tuple):
        return tuple(map(_given, value))
    return value.value if isinstance(value, Strange) else value


def unhashable(**options: Any) -> ModelError:
    """The error for the option by which a lookup failed: one without a hash, or else one that may
    not be comparable."""
    name, value = max(
        options.items(), key=lambda x: (not _has_hash(x[1]), not isinstance(x[1], str | None))
    )
    return ModelError(f"{name} is a text, a number or left out; it is {format_value(value)}.")


def _has_hash(value: Any) -> bool:
    try:
        hash(value)
    except LOOKUP_ERRORS:
        return False
    return True


def options_of_verb(m: Model, name: str) -> list[str]:
    """The options of the verb of a quantity: what it takes besides a state and what every verb
    takes."""
    kind: Any = type(m)
    return _options_of_method(kind, name.removesuffix("_under_forces"))


@cache
def _options_of_method(kind: Any, name: str) -> list[str]:
    declared: Signature = signature(getattr(kind, name))
    taken = {"self", "q", "v", "a", "tau", *CALL_WORDS}
    return [x for x in declared.parameters if x not in taken]


def options_of_derivative(_: Model, __: str) -> list[str]:
    """The options that stand in the key of a derivative."""
    return ["by", "frame", "axes", "formulation", "along", "held"]


@dataclass(frozen=True)
class _Call:
    """What a call is given besides a state and the options of its quantity."""

    parameters: Mapping[str, Any]
    external: Mapping[str, Any]
    tolerance: float | None
    singular: str | None
    out: Any
    threads: int | None

    @staticmethod
    def taken_from(m: Model, given: dict[str, Any]) -> _Call:
        """Read it, and leave the rest."""
        more = {word: given.pop(word, None) for word in CALL_WORDS}
        parameters, external = (mapping(more[word], word) for word in ("parameters", "external"))
        tolerance, singular = more["tolerance"], more["singular"]
        if more["t"] is not None:
            if not m.rheonomic:
                raise ModelError(
                    f"the constraints of {m.name} do not depend on the time; leave t out."
                )
            parameters = {
                **parameters,
                TIME: more["t"] if has_symbols(more["t"]) else finite(more["t"], "t"),
            }
        if tolerance is not None:
            tolerance = positive(tolerance, "tolerance", zero=True, infinite=True)
        if singular is not None:
            singular = choice(singular, "singular", SINGULAR_CHOICES)
        return _Call(parameters, external, tolerance, singular, more["out"], more["threads"])

    @property
    def values(self) -> tuple[Any, ...]:
        return (*self.external.values(), *self.parameters.values())

    @property
    def asked(self) -> Key:
        """What the native function depends on."""
        return tuple(self.parameters), tuple(self.external), self.tolerance, self.singular


class NativeVerbs(dict[Key, Callable[..., Any]]):
    """The native functions of a mechanism.

    A native function hands a call that it does not take by itself over to `careful`: other names of
    parameters than the last time, for instance. `careful` finds the function for it, and keeps it
    under the same key, so that names may come in turns.
    """

    def __init__(
        self, m: Model, names: Callable[[Model, str], list[str]] = options_of_verb
    ) -> None:
        super().__init__()
        self.m, self._names = m, names
        self._derives = names is options_of_derivative
        self._made: dict[Key, Function] = {}
        self._entries: dict[Key, Callable[..., Any]] = {}
        self._plain: dict[Key, Function] = {}  # for calls with arrays alone

    def __missing__(self, key: Key) -> Callable[..., Any]:
        return partial(self.careful, key)

    def careful(self, key: Key, *arrays: Any, **more: Any) -> Any:
        """The answer to any call of a verb, or a sentence on what does not fit."""
        more = {word: x for word, x in more.items() if x is not None or word not in CALL_WORDS}
        if not more and key in self._plain and not has_symbols(*arrays):
            return self._plain[key].general(*arrays)
        name, *values = key
        given = dict(zip(self._names(self.m, name), map(_given, values), strict=True)) | more
        call = _Call.taken_from(self.m, given)
        formula, by = (
            self._derived(name, given) if self._derives else (quantity(self.m, name), None)
        )
        options = options_of(self.m, formula, given)
        if has_symbols(*arrays, *call.values):
            return self._expression(formula, by, options, call, arrays)
        asked = (formula, by, canonical_options(formula, options.items()), *call.asked)
        function = self._made.get(asked)
        if function is None:
            function = self._made[asked] = self._function(formula, by, options, *call.asked)
        # native code knows nothing of tolerances, and strange values are not found again
        if call.tolerance is None and call.singular is None and not _is_strange(key):
            if (entry := self._entries.get((key, asked))) is None:
                entry = self._entries[key, asked] = function.entry(partial(self.careful, key))
            self[key] = entry
        if not more:
            self._plain[key] = function
        return function.general(*arrays, *call.values, out=call.out, threads=call.threads)

    def _derived(self, name: str, given: dict[str, Any]) -> tuple[Formula, str | None]:
        """The formula of a derivative, and what it is still to be differentiated by."""
        from eslabon.solve.constraints.derivative_requests import ALONG, derived

        by = given.pop("by")
        along, held = choice(given.pop("along"), "along", ALONG), given.pop("held")
        for option in ("frame", "axes", "formulation"):
            if given[option] is None:
                del given[option]
        return derived(self.m, quantity(self.m, name, following=along == "closed"), by, along, held)

    def _expression(
        self,
        formula: Formula,
        by: str | None,
        options: dict[str, Any],
        call: _Call,
        arrays: tuple[Any, ...],
    ) -> Any:
        """The quantity of symbols."""
        if call.out is not None or call.threads is not None:
            raise ModelError(
                f"{formula.name} of symbols is an expression; leave out and threads out."
            )
        request = requested(
            self.m,
            formula,
            options,
            tuple(call.parameters),
            tuple(call.external),
            by,
            constraint_structure,
        )
        return expression(self.m, request, (*arrays, *call.values))

    def _function(
        self, formula: Formula, by: str | None, options: dict[str, Any], parameters: tuple[str, ...],
        external: tuple[str, ...], tolerance: float | None, singular: str | None,
    ) -> Function:  # fmt: skip
        """The native function of a quantity, or of its derivative, with its checks."""
        m = self.m
        if external:
            from eslabon.formulas.applied_loads import check_external

            check_external(m, external)
        request = requested(m, formula, options, parameters, external, by, constraint_structure)
        if m.rheonomic and formula.timed and TIME not in parameters:
            name = formula.name.removesuffix("_along_closed").removesuffix("_along_frozen")
            asked = name if name == formula.name and by is None else f"the derivative of {name}"
            raise ModelError(
                f"the constraints of {m.name} depend on the time; give it to {asked}, as t=0.5."
            )
        if formula.checks:
            from eslabon.solve.constraints.state_checks import checked

            found = checked(m, request, tolerance, singular)
        elif tolerance is not None or singular is not None:
            raise ModelError(
                f"{formula.name} of {m.name} checks nothing; leave tolerance and singular out."
            )
        else:
            found = function_of(m, request)
        return found.by_keyword(TIME) if TIME in parameters else found


LOOPLESS = {
    "constraints": "has no loops, so there are no constraints to impose",
    "weights": "has no loops, so its actuators share nothing",
    "independent": "has no loops, so all its coordinates are independent",
    "formulation": "has reactions that follow from its accelerations alone",
}


def options_of(m: Model, formula: Formula, given: Mapping[str, Any]) -> dict[str, Any]:
    """A formula's options as they are given, in today's words; what has no meaning here may be
    None."""
    # the partition is chosen by the names of independent coordinates
    known = ["independent" if name == "partition" else name for name in formula.options]
    made = {}
    for option, value in given.items():
        if not m.closed and _is_for_loops(formula, option, value):
            if value is not None:
                raise ModelError(f"{m.name} {LOOPLESS[option]}; leave {option} out.")
        elif option not in known:
            words = [x for x in (*known, *CALL_WORDS) if x != option]
            raise ModelError(f"{formula.name} has no option '{option}'{suggest(option, words)}")
        elif option == "independent":
            made["partition"] = _partition(m, formula, value, given)
        elif option == "formulation":
            made[option] = chosen_formulation(value, ALL_FORMULATIONS)
        else:
            made[option] = check_weights(m, value) if option == "weights" else value
    return made


def _is_for_loops(formula: Formula, option: str, value: Any) -> bool:
    """Whether an option has a meaning for this quantity where there are loops, and only there."""
    if option not in LOOPLESS or (option == "formulation" and option in formula.options):
        return False
    return (
        value is None
        or (formula.name in QUANTITIES and bool(QUANTITIES[formula.name].loop_options))
        or option in formula.options
        or "partition" in formula.options
    )


def _partition(m: Model, formula: Formula, independent: Any, given: Mapping[str, Any]) -> Any:
    """The partition that the names of independent coordinates make; None where it is left to be
    chosen."""
    if independent is None:
        return None
    from eslabon.solve.constraints.independent_coordinates import partition_by

    eliminates = (
        "constraints" not in formula.options
    )  # whatever it is, it is written in independent coordinates
    chosen = partition_by(m, independent, "elimination" if eliminates else given.get("constraints"))
    if formula.name == "hybrid_dynamics" and not set(m.actuated_velocities) <= set(
        chosen.independent
    ):
        raise ModelError(
            f"hybrid_dynamics prescribes the actuated joints of {m.name} ({', '.join(m.actuated)}), so that they are "
            "independent; name them too."
        )
    return chosen


def check_weights(m: Model, weights: Any) -> tuple[float, ...] | None:
    """What each actuator's force costs, as numbers."""
    if weights is None:
        return None
    made = tuple(floats(weights, "weights").ravel().tolist())
    if len(made) != m.nu or not all(w > 0 for w in made):
        raise ModelError(
            f"weights needs a positive number for each of the {m.nu} actuators; it is {format_value(weights)}."
        )
    return made


# A quantity as a graph and as equations -----------------------------------------------------------

PRINTED_OPERATIONS = 2500  # above which equations are of no use to a reader


def plain_graph(
    m: Model, formula: Formula, options: Mapping[str, Any], parameters: tuple[str, ...] = ()
) -> Any:
    """The graph of a formula as a `casadi.Function`; the time is an input where it counts."""
    time = (TIME,) if m.rheonomic and formula.timed else ()
    given = options_of(m, formula, options)
    request = requested(m, formula, given, (*time, *parameters), prepare=constraint_structure)
    return simplified(trace(m, request, checks=False))


def textbook_equations(
    m: Model,
    name: str | None,
    parameters: tuple[str, ...] | bool,
    long: bool,
    options: Mapping[str, Any],
) -> Any:
    """See `Mechanism.equations`."""
    from eslabon.export import equations as printed

    name = text(name, "quantity") if name is not None else textbook_terms.default_quantity(m)
    partition = structure(m).partition if m.closed else None
    formulas = textbook_terms.printed_formulas(m, name, partition)
    letters = _letters(m, parameters)
    graphs = [
        plain_graph(m, formula, options if formula is formulas[-1] else {}, letters)
        for formula in formulas
    ]
    operations = sum(f.n_instructions() for f in graphs)
    if not flag(long, "long") and operations > PRINTED_OPERATIONS:
        raise ModelError(
            f"the {name} of {m.name} takes about {operations} operations, too many for anyone to "
            "read; print it with long=True, or ask for c_source, or for a part of it, such as "
            "mass_matrix or constraint."
        )
    stages = [
        printed.Stage(f, textbook_terms.earlier_results(formula))
        for f, formula in zip(graphs, formulas, strict=True)
    ]
    return printed.equations(stages, statement=textbook_terms.statement(m, name, partition))


def _letters(m: Model, parameters: tuple[str, ...] | bool) -> tuple[str, ...]:
    """Which parameters stay letters."""
    if isinstance(parameters, bool):
        return tuple(m.parameters) if parameters else ()
    return names(parameters, "parameters")
