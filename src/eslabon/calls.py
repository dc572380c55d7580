"""What a verb may be given besides its own arguments, and the sentences for what it may not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from eslabon.errors import ModelError, suggest
from eslabon.model import Mechanism

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Call(TypedDict, total=False):
    """What every numeric verb takes besides its own arguments.

    parameters : values that take the place of the model's own, by name; arrays broadcast like everything else.
    external : wrenches `(..., 6)`, moment first, by the name of a body or frame (in its axes, at its origin) or of a
        wrench that the model leaves to the caller. Only verbs of dynamics take them.
    out : the array to write the result into.
    tolerance : for dynamics with loops, how far position, velocity and acceleration may tear them (m or rad, and a second).
    singular : for inverse and forward dynamics with loops, what is to become of singular postures: "error", "warn" (the
        least of many answers is given) or "ignore".
    threads : how many threads share a big batch; all cores if left out.
    """

    parameters: Mapping[str, ArrayLike]
    external: Mapping[str, ArrayLike]
    out: Floats
    threads: int
    tolerance: float
    singular: str


def check_call(m: Mechanism, name: str, options: Mapping[str, Any], more: Mapping[str, Any]) -> None:
    """Refuse words that a numeric verb does not know, and values that they cannot have."""
    for word in more:
        if word not in Call.__annotations__:
            raise ModelError(f"{name} takes no '{word}'{suggest(word, [*options, *Call.__annotations__])}")
    threads, out, external = more.get("threads"), more.get("out"), more.get("external")
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise ModelError(f"threads is how many threads share the work, at least 1; it is {threads!r}.")
    if out is not None and not (isinstance(out, np.ndarray) and out.dtype == np.float64 and out.flags.writeable):
        what = f"{type(out).__name__} of {out.dtype}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ModelError(f"out is the array of floats that {name} writes into; it is {what}.")
    if external is not None and not isinstance(external, Mapping):
        raise ModelError(
            f"external gives wrenches by the name of a body or frame, as in {{'tool': w}}; it is {external!r}."
        )
    _check_parameters(m, more.get("parameters") or {})


def _check_parameters(m: Mechanism, parameters: Mapping[str, ArrayLike]) -> None:
    """Refuse values for a call that no mechanism could have, at the ends of each range."""
    if not isinstance(parameters, Mapping):
        raise ModelError(f"parameters is a mapping of names to values; it is {parameters!r}.")
    m.check_parameters(parameters)
    for name, given in parameters.items():
        try:
            values = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(f"parameter '{name}' needs numbers; it is {given!r}.") from None
        for value in {float(values.min()), float(values.max())} if values.size else ():
            m.with_parameters(**{name: value})


def check_options(verb: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Refuse options that a verb does not have."""
    known = [p.name for p in signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise ModelError(f"{verb} has no option '{option}'{suggest(option, known)}")


def check_weights(m: Mechanism, weights: Any) -> tuple[float, ...]:
    """What each actuator's force costs, as numbers."""
    from eslabon.graph.native.arguments import as_floats

    if not m.closed:
        raise ModelError(f"{m.name} has no loops, so its actuators share nothing; leave weights out.")
    made = tuple(as_floats(weights, "weights").ravel().tolist())
    if len(made) != m.nu or not all(w > 0 for w in made):
        raise ModelError(f"weights needs a positive number for each of the {m.nu} actuators; it is {weights!r}.")
    return made
