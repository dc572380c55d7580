"""The compiled verbs of a mechanism: a name and its options' values in, a native function out.

A call is one lookup and one native call; only what a lookup cannot find is looked at with care.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, ParamSpec, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from eslabon.algebra.arrays import has_symbols
from eslabon.arguments import UNHASHABLE, choice, finite, floats, mapping, positive, renamed
from eslabon.compiler.evaluator import STATE, Formula, expression, native, requested
from eslabon.errors import SINGULAR_WORDS, ModelError, shown, suggest
from eslabon.model import Model
from eslabon.model.validation import TIME
from eslabon.quantities import CLOSED, quantity

Floats = np.ndarray[Any, np.dtype[np.float64]]
Key = tuple[Any, ...]
P = ParamSpec("P")
T = TypeVar("T")


class Call(TypedDict, total=False):
    """What every numeric verb takes besides its own arguments.

    parameters : values that take the place of the model's own, by name; arrays broadcast like everything else.
    external : wrenches `(..., 6)`, moment first, by the name of a body or frame (in its axes, at its origin) or of a
        wrench that the model leaves to the caller. Only verbs of dynamics take them.
    out : the array to write the result into; a tuple of arrays where the result is one.
    tolerance : for dynamics with loops, by how much a state may violate loop closure (m or rad, and a second).
    singular : for inverse and forward dynamics with loops, what is to become of singular configurations: "error", "warn"
        (the minimum-norm solution is given) or "ignore".
    threads : how many threads share a big batch; all cores if left out.
    t : the time, for a mechanism whose constraints depend on it; it broadcasts like everything else.
    """

    parameters: Mapping[str, ArrayLike]
    external: Mapping[str, ArrayLike]
    out: Floats | tuple[Floats, ...]
    threads: int
    tolerance: float
    singular: str
    t: ArrayLike


# A verb with all its arguments by name, so that one frame of Python is all that it costs. Its native function is found by
# the name of the quantity and the values of its options. Where more is given, the one that was used last with the same
# bounds is tried: it knows by itself whether the names of parameters and wrenches are its own, and if not, raises TypeError.
VERB = """
def {name}(
    self, {arguments}, parameters=None, external=None, out=None, threads=None, tolerance=None, singular=None, **unknown
):
    {check}
    try:
        if parameters is external is tolerance is singular is None and not unknown:
            key = ({key},)
            return self._verbs[key]({arrays}, out=out, threads=threads)
        key = ({key}, tolerance, singular)
        if not unknown:
            return self._verbs[key]({arrays}, parameters=parameters, external=external, out=out, threads=threads)
    except (KeyError, TypeError, NotImplementedError):  # the latter from a CasADi symbol in place of an option
        pass
    more = dict(
        unknown, parameters=parameters, external=external, out=out, threads=threads, tolerance=tolerance, singular=singular
    )
    return self._verbs.call(key, key[0], ({arrays},), {{{options}**more}})
"""


def verb(declared: Callable[P, T]) -> Callable[P, T]:
    """The method of this name, arguments and documentation that calls the native function of the quantity of this name.

    Arguments called as a part of a state are arrays, the others options. The forces `tau` as a keyword take the place of the
    accelerations, and make it the quantity under forces.
    """
    function: Any = declared
    code, name, keywords = function.__code__, function.__name__, function.__kwdefaults__ or {}
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    defaults = (*(function.__defaults__ or ()), *keywords.values())
    arguments = [*names[: len(names) - len(defaults)]]
    arguments += [f"{x}={y!r}" for x, y in zip(names[len(arguments) :], defaults, strict=True)]
    arrays, options = [x for x in names if x in STATE], [x for x in names if x not in STATE]
    quantity, check = repr(name), ""
    if "tau" in keywords:
        arrays = [*arrays[:-2], "a if tau is None else tau"]
        quantity = f"{name!r} if tau is None else '{name}_under_forces'"
        sentence = f"{name} takes the accelerations a or the actuators' forces tau: one of the two."
        check = f"if (a is None) == (tau is None): raise ModelError({sentence!r})"
    source = VERB.format(
        name=name, arguments=", ".join(arguments), check=check, key=", ".join([quantity, *options]),
        arrays=", ".join(arrays), options="".join(f"{x!r}: {x}, " for x in options),
    )  # fmt: skip
    made: dict[str, Any] = {}
    exec(compile(source, f"<verb {name}>", "exec"), function.__globals__, made)
    finished = wraps(declared)(made[name])
    finished.__signature__ = _spelled_out(signature(declared))  # type: ignore[attr-defined]
    return finished


def _spelled_out(declared: Signature) -> Signature:
    """A signature with the names in `Call` in place of `**more`, for the Tab key and for help."""
    own = [p for p in declared.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    words = Call.__annotations__.items()
    more = [Parameter(w, Parameter.KEYWORD_ONLY, default=None, annotation=str(x.__forward_arg__)) for w, x in words]
    return declared.replace(parameters=[*own, *more])


class Verbs(dict[Key, Any]):
    """The native functions of a mechanism, made when they are first asked for."""

    def __init__(self, m: Model) -> None:
        super().__init__()
        self.m = m

    def call(self, key: Key, name: str, arrays: tuple[Any, ...], given: dict[str, Any], by: Any = None) -> Any:
        """The careful way: a quantity, or its derivative, with whatever is given. It is kept under the key by which the quick
        way missed it, or refused in a sentence."""
        more = {word: given.pop(word, None) for word in Call.__annotations__}
        parameters, external = (mapping(more[word], word) for word in ("parameters", "external"))
        tolerance, singular = more["tolerance"], more["singular"]
        if more["t"] is not None:
            if not self.m.rheonomic:
                raise ModelError(f"the constraints of {self.m.name} do not depend on the time; leave t out.")
            parameters = {**parameters, TIME: more["t"] if has_symbols(more["t"]) else finite(more["t"], "t")}
        if tolerance is not None:
            tolerance = positive(tolerance, "tolerance", zero=True, infinite=True)
        if singular is not None:
            singular = choice(singular, "singular", SINGULAR_WORDS)
        if by is None:
            formula = quantity(self.m, name)
        else:
            from eslabon.solvers.derived_formulas import ALONG, derived

            along, held = choice(given.pop("along", "frozen"), "along", ALONG), given.pop("held", None)
            formula, by = derived(self.m, quantity(self.m, name, following=along == "closed"), by, along, held)
        options = options_of(self.m, formula, given)
        given_values = (*arrays, *external.values(), *parameters.values())
        if has_symbols(*given_values):
            if more["out"] is not None or more["threads"] is not None:
                raise ModelError(f"{name} of symbols is an expression; leave out and threads out.")
            return expression(
                self.m, requested(self.m, formula, options, tuple(parameters), tuple(external), by), given_values
            )
        asked = (formula, by, tuple(options.items()), tuple(parameters), tuple(external), tolerance, singular)
        f = self.get(asked)
        if f is None:
            f = self[asked] = self._function(*asked)
        if given.get("axes") != OLD_AXES:  # of which every call is told
            with suppress(*UNHASHABLE):  # weights may be an array
                self[key] = f
        return f(*arrays, *external.values(), *parameters.values(), out=more["out"], threads=more["threads"])

    def _function(
        self, formula: Formula, by: str | None, options: tuple[tuple[str, Any], ...], parameters: tuple[str, ...],
        external: tuple[str, ...], tolerance: float | None, singular: str | None,
    ) -> Any:  # fmt: skip
        """The native function of a quantity, or of its derivative, with its checks."""
        m = self.m
        if external:
            from eslabon.dynamics.applied import check_external

            check_external(m, external)
        request = requested(m, formula, dict(options), parameters, external, by)
        if m.rheonomic and formula.timed and TIME not in parameters:
            name = formula.name.removesuffix("_along_closed").removesuffix("_along_frozen")
            asked = name if name == formula.name and by is None else f"the derivative of {name}"
            raise ModelError(f"the constraints of {m.name} depend on the time; give it to {asked}, as t=0.5.")
        if formula.checks:
            from eslabon.solvers.closure_checks import checked

            return checked(m, request, tolerance, singular)
        if tolerance is not None or singular is not None:
            raise ModelError(f"{formula.name} of {m.name} checks nothing; leave tolerance and singular out.")
        return native(m, request)


OLD_AXES = "ground"
LOOPLESS = {
    "constraints": "has no loops, so there are no constraints to impose",
    "weights": "has no loops, so its actuators share nothing",
    "independent": "has no loops, so all its coordinates are independent",
    "formulation": "has reactions that follow from its accelerations alone",
}


def options_of(m: Model, formula: Formula, given: Mapping[str, Any]) -> dict[str, Any]:
    """A formula's options as they are given, in today's words; what has no meaning here may be None."""
    # the partition is chosen by the names of independent coordinates
    known = ["independent" if name == "partition" else name for name in formula.options]
    made = {}
    for option, value in given.items():
        if option == "independent" and option in known and (m.closed or value is None):
            made["partition"] = _partition(m, formula, value, given)
        elif option in known and option != "independent":
            made[option] = check_weights(m, value) if option == "weights" else _plain(value, option)
        elif option in LOOPLESS and not m.closed and (value is None or formula.name in CLOSED or option in known):
            if value is not None:
                raise ModelError(f"{m.name} {LOOPLESS[option]}; leave {option} out.")
        else:
            words = [x for x in (*known, *Call.__annotations__) if x != option]
            raise ModelError(f"{formula.name} has no option '{option}'{suggest(option, words)}")
    if made.get("axes") == OLD_AXES:
        renamed(f'axes="{OLD_AXES}"', 'axes="aligned"')
        made["axes"] = "aligned"
    return made


def _partition(m: Model, formula: Formula, independent: Any, given: Mapping[str, Any]) -> Any:
    """The partition that the names of independent coordinates make; None where it is left to be chosen."""
    if independent is None:
        return None
    from eslabon.coordinates.partition import partition_by

    eliminates = "constraints" not in formula.options  # whatever it is, it is written in independent coordinates
    chosen = partition_by(m, independent, "elimination" if eliminates else given.get("constraints"))
    if formula.name == "hybrid_dynamics" and not set(m.actuated_velocities) <= set(chosen.independent):
        raise ModelError(
            f"hybrid_dynamics prescribes the actuated joints of {m.name} ({', '.join(m.actuated)}), so that they are "
            "independent; name them too."
        )
    return chosen


def _plain(value: Any, name: str) -> Any:
    """What can tell one native function from another."""
    try:
        hash(value)
    except UNHASHABLE:
        raise ModelError(f"{name} is a text, a number or left out; it is {shown(value)}.") from None
    return value


def check_weights(m: Model, weights: Any) -> tuple[float, ...] | None:
    """What each actuator's force costs, as numbers."""
    if weights is None:
        return None
    made = tuple(floats(weights, "weights").ravel().tolist())
    if len(made) != m.nu or not all(w > 0 for w in made):
        raise ModelError(f"weights needs a positive number for each of the {m.nu} actuators; it is {shown(weights)}.")
    return made
