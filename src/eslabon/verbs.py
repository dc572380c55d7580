"""The compiled verbs of a mechanism: a name and its options' values in, a native function out.

A call with nothing but arrays is one lookup and one native call. Whatever else it may be given (`Call`) is looked at here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import choice, floats, mapping, positive, renamed, text
from eslabon.errors import SINGULAR_WORDS, ModelError, shown, suggest
from eslabon.graph.evaluator import Formula, native, requested
from eslabon.model import Model
from eslabon.model.validation import TIME
from eslabon.quantities import quantity

Floats = np.ndarray[Any, np.dtype[np.float64]]
Key = tuple[Any, ...]  # the name of a quantity, the values of its options in the order of the table, and perhaps `More`


class Call(TypedDict, total=False):
    """What every numeric verb takes besides its own arguments.

    parameters : values that take the place of the model's own, by name; arrays broadcast like everything else.
    external : wrenches `(..., 6)`, moment first, by the name of a body or frame (in its axes, at its origin) or of a
        wrench that the model leaves to the caller. Only verbs of dynamics take them.
    out : the array to write the result into.
    tolerance : for dynamics with loops, by how much a state may violate loop closure (m or rad, and a second).
    singular : for inverse and forward dynamics with loops, what is to become of singular configurations: "error", "warn"
        (the minimum-norm solution is given) or "ignore".
    threads : how many threads share a big batch; all cores if left out.
    t : the time, for a mechanism whose constraints depend on it; it broadcasts like everything else.
    """

    parameters: Mapping[str, ArrayLike]
    external: Mapping[str, ArrayLike]
    out: Floats
    threads: int
    tolerance: float
    singular: str
    t: ArrayLike


class More(NamedTuple):
    """What a call asks for beyond the options of its quantity: the names of parameters and wrenches that are given, what it
    is differentiated by, and what it is to do with states that violate loop closure or are singular."""

    parameters: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    by: str | None = None
    tolerance: Any = None
    singular: Any = None


NO_MORE = More()
AXES = ("jacobian", "velocity", "acceleration")  # whose second option says in which axes
NATIVE = frozenset(("out", "threads"))  # what native functions themselves take


class Verbs(dict[Key, Any]):
    """The native functions of a mechanism, made when they are first asked for."""

    def __init__(self, m: Model) -> None:
        super().__init__()
        self.m = m
        self._parametric: dict[Key, Any] = {}  # by a key and the names of parameters: the same functions

    def __missing__(self, key: Key) -> Any:
        if "ground" in key[2:3] and key[0] in AXES:  # an old word, told of at every call
            renamed('axes="ground"', 'axes="aligned"')
            return self[(*key[:2], "aligned", *key[3:])]
        made = self[key] = self._made(key)
        return made

    def _made(self, key: Key) -> Any:
        if key[0] == "derivative":
            return self._made_derivative(*key[1:])
        more = key[-1] if isinstance(key[-1], More) else NO_MORE
        formula = quantity(self.m, key[0])
        values = key[1:-1] if isinstance(key[-1], More) else key[1:]
        options = dict(zip(formula.options, values, strict=False))
        if more.external:
            from eslabon.dynamics.applied import check_external

            check_external(self.m, more.external)
        request = requested(self.m, formula, options, more.parameters, more.external, more.by)
        if self.m.rheonomic and formula.timed and TIME not in more.parameters:
            raise ModelError(
                f"the constraints of {self.m.name} depend on the time; give it to {formula.name}, as t=0.5."
            )
        if not formula.checks and more[3:] != NO_MORE[3:]:
            raise ModelError(f"{formula.name} of {self.m.name} checks nothing; leave tolerance and singular out.")
        if not formula.checks and not request.guards(self.m):
            return native(self.m, request)
        from eslabon.solvers.closure_checks import checked

        return checked(self.m, request, more.tolerance, more.singular)

    def call(self, key: Key, arrays: tuple[Any, ...], given: Any) -> Any:
        """A verb with more than its arrays. What is usual has the short ways: parameters alone, and what the native entry
        itself understands."""
        parameters = given.pop("parameters", None)
        for word in given:
            if word not in NATIVE:
                return self._call_with_more(key, arrays, parameters, given)
        if parameters is None:
            try:
                f = self[key]
            except TypeError:
                f = self._found(key)  # which says what cannot be an option
            return f(*arrays, **given)
        if type(parameters) is not dict:
            parameters = mapping(parameters, "parameters")
        try:
            f = self._parametric[key, *parameters]
        except (KeyError, TypeError):
            names = tuple(mapping(parameters, "parameters"))
            f = self._parametric[key, *names] = self._found((*key, More(names)) if names else key)
        return f(*arrays, *parameters.values(), **given)

    def _call_with_more(self, key: Key, arrays: tuple[Any, ...], parameters: Any, given: dict[str, Any]) -> Any:
        for word in given:
            if word not in Call.__annotations__:
                known = [*quantity(self.m, key[0]).options, *Call.__annotations__]
                raise ModelError(f"{key[0]} takes no '{word}'{suggest(word, known)}")
        parameters, external = mapping(parameters, "parameters"), mapping(given.pop("external", None), "external")
        if "t" in given:
            parameters = {**parameters, TIME: given.pop("t")}
            if not self.m.rheonomic:
                raise ModelError(f"the constraints of {self.m.name} do not depend on the time; leave t out.")
        tolerance, singular = given.pop("tolerance", None), given.pop("singular", None)
        if tolerance is not None:
            tolerance = positive(tolerance, "tolerance", zero=True, infinite=True)
        if singular is not None:
            singular = choice(singular, "singular", SINGULAR_WORDS)
        more = More(tuple(parameters), tuple(external), None, tolerance, singular)
        f = self._found((*key, more) if more != NO_MORE else key)
        return f(*arrays, *external.values(), *parameters.values(), **given)

    def _found(self, key: Key) -> Any:
        try:
            return self[key]
        except TypeError as error:
            refuse_options(error, **dict(zip(quantity(self.m, key[0]).options, key[1:], strict=False)))

    def derivative(
        self, name: str, by: str, arrays: tuple[Any, ...], parameters: Mapping[str, Any] | None, options: dict[str, Any]
    ) -> Any:
        """The derivative of a quantity by an argument or a parameter; a parameter not given has the model's own value."""
        if parameters is not None:
            parameters = mapping(parameters, "parameters")
        text(by, "by")
        f, constants = self["derivative", name, by, *(parameters or ()), *options.items()]
        return f(*arrays, *(parameters.values() if parameters else ()), *constants)

    def _made_derivative(self, name: str, by: str, *words: Any) -> tuple[Any, tuple[float, ...]]:
        """The native derivative, and the model's own value of the parameter it is taken by unless that is given."""
        parameters = tuple(x for x in words if isinstance(x, str))
        formula = quantity(self.m, name)
        values = options_of(self.m, formula, dict(x for x in words if not isinstance(x, str)))
        own: tuple[str, ...] = ()
        if by not in formula.input_names and by not in parameters:
            own = (by,) if by in self.m.parameters else ()
        found = self[(name, *values, More((*parameters, *own), (), by))]
        return found, tuple(self.m.parameters[x] for x in own)


def refuse_options(error: TypeError, **options: Any) -> NoReturn:
    """A sentence for an option that is no text or number; any other TypeError goes on."""
    for name, value in options.items():
        try:
            hash(value)
        except TypeError:
            raise ModelError(f"{name} is a text, a number or left out; it is {shown(value)}.") from None
    raise error


def current(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options in today's words."""
    if isinstance(options.get("axes"), str) and options["axes"] == "ground":
        renamed('axes="ground"', 'axes="aligned"')
        return {**options, "axes": "aligned"}
    return dict(options)


def options_of(m: Model, formula: Formula, options: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values of a formula's options in the order of the table."""
    known = [name for name in formula.options if name != "partition"]  # which is ours to choose
    for option in options:
        if option not in known:
            raise ModelError(f"{formula.name} has no option '{option}'{suggest(option, known)}")
    given = current(options)
    if given.get("weights") is not None:
        given["weights"] = check_weights(m, given["weights"])
    return tuple(given.get(name, default) for name, default in formula.options.items())


def check_constraints(m: Model, constraints: Any) -> Any:
    """The method for constraints, of a mechanism that has some."""
    if constraints is not None and not m.closed:
        raise ModelError(f"{m.name} has no loops, so there are no constraints to impose; leave constraints out.")
    return constraints


def check_weights(m: Model, weights: Any) -> tuple[float, ...]:
    """What each actuator's force costs, as numbers."""
    if not m.closed:
        raise ModelError(f"{m.name} has no loops, so its actuators share nothing; leave weights out.")
    made = tuple(floats(weights, "weights").ravel().tolist())
    if len(made) != m.nu or not all(w > 0 for w in made):
        raise ModelError(f"weights needs a positive number for each of the {m.nu} actuators; it is {shown(weights)}.")
    return made
