"""The numbers of a mechanism by path, "link2.mass" or "theta1.at.x", and parameters made of them.

A path is the item's name, the field's as the Builder has it, and the component's. What bounds a
motion (limits) or only starts one (home, modes), and what is only drawn, is no property of a design
and has no path. "tool.payload" is a point mass at a frame, and "link2.mass.deviation" what a number
is off by, whatever it follows from: legs of one length L have tolerances of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any, NamedTuple

from eslabon.errors import ModelError, format_value, suggest
from eslabon.model.changes import with_payload
from eslabon.model.fields import XYZ, PerVelocity, Steps, specs_of
from eslabon.model.items import GROUND, ITEMS, Description, Joint
from eslabon.model.memory import FrozenDict, per_model
from eslabon.model.model import Model
from eslabon.model.parameter_expressions import (
    Number,
    ParameterExpression,
    check_parameter_name,
    parameter,
)
from eslabon.model.parameter_units import infer_units
from eslabon.model.schema import numbers_of

PAYLOAD = ".payload"  # of a frame: a point mass there, which may come to be a parameter too
DEVIATION = ".deviation"  # of a number: what it is off by


class Place(NamedTuple):
    """Where a number stands in a description: the way to it, its unit, and itself."""

    steps: Steps
    unit: str
    value: Any


@per_model
def places(m: Model) -> Mapping[str, Place]:
    """Every number of a mechanism by its path."""
    d = m.description
    named: list[tuple[str, str, Steps, str]] = [
        (f"gravity.{x}", "", ("gravity", k), "m/s²") for k, x in enumerate(XYZ)
    ]
    for section, kind in ITEMS.items():
        for k, item in enumerate(getattr(d, section)):
            ways = ((label, (section, k, *steps), unit) for label, steps, unit in numbers_of(item))
            named += [
                (f"{item.name}.{label}", f"{kind.word}.", steps, unit)
                for label, steps, unit in ways
            ]
    count = Counter(path for path, *_ in named)
    found = {
        kind * (count[path] > 1) + path: Place(steps, unit, _at(d, steps))
        for path, kind, steps, unit in named
    }
    return FrozenDict(found)


def _at(item: Any, steps: Steps) -> Any:
    """The number at the end of a way."""
    for step in steps:
        item = item[step] if isinstance(step, int) else _field(item, step)
    return item


def _field(item: object, name: str) -> Any:
    """A field of an item; what a joint does not say of each degree of freedom is what it has
    without."""
    value = getattr(item, name)
    if value is not None or not isinstance(item, Joint):
        return value
    spec = specs_of(type(item))[name]
    return (spec.unsaid,) * item.nv if isinstance(spec, PerVelocity) else value


def put(item: Any, steps: Steps, value: Any) -> Any:
    """The item, a dataclass or a tuple, with another number at the end of a way."""
    if not steps:
        return value
    first, *rest = steps
    if is_dataclass(item) and isinstance(first, str):
        return replace(item, **{first: put(_field(item, first), tuple(rest), value)})  # type: ignore[type-var]
    return tuple(put(x, tuple(rest), value) if k == first else x for k, x in enumerate(item))


def free_numbers(m: Model) -> Mapping[str, float]:
    """The numbers that are no parameter yet and follow from none, by their paths, and payloads of
    frames, which are zero."""
    found = {path: x.value for path, x in places(m).items() if isinstance(x.value, float)}
    loads = {
        f"{frame.name}{PAYLOAD}": 0.0 for frame in m.description.frames if frame.body != GROUND
    }
    return FrozenDict(
        {**found, **{path: x for path, x in loads.items() if not _payload_is_parameter(m, path)}}
    )


def _payload_is_parameter(m: Model, path: str) -> bool:
    """Whether the body of a frame has its payload already as a parameter."""
    body = m.frame(path.removesuffix(PAYLOAD)).body
    mass = next((b.mass for b in m.description.bodies if b.name == body), 0.0)
    return isinstance(mass, ParameterExpression) and free_name(path) in mass.names()


def place_of(m: Model, path: str) -> Place:
    """Where a path leads, or a sentence."""
    known = places(m)
    if isinstance(path, str) and path in known:
        return known[path]
    item = path.rsplit(".", 2)[0] if isinstance(path, str) else ""
    owner = next(
        (x for x in (path, item, item.split(".")[0]) if any(p.startswith(f"{x}.") for p in known)),
        None,
    )
    if isinstance(path, str) and owner:
        own = [p.removeprefix(f"{owner}.") for p in known if p.startswith(f"{owner}.")]
        wanted = path.removeprefix(owner).lstrip(".")
        says = (
            f"has no number {wanted!r}"
            if wanted
            else f"is not a number by itself; name one of its own, as in '{owner}.{own[0]}'"
        )
        raise ModelError(f"'{owner}' of {m.name} {says}{suggest(wanted, own)}")
    raise ModelError(
        f"{m.name} has no number {format_value(path)}{suggest(path, known, '; m.free_numbers() lists them.')}"
    )


def free_name(path: str) -> str:
    """The name of the parameter that a number becomes: "link2_mass" of "link2.mass"."""
    name = re.sub(r"\W+", "_", path).strip("_")
    return check_parameter_name(name if name[:1].isidentifier() else f"_{name}")


def with_free(m: Model, paths: Iterable[str]) -> Description:
    """Numbers made parameters of today's values; at last what others come to depend on: payloads
    and deviations."""
    d, wanted = m.description, list(paths)
    for path in wanted:
        if not isinstance(path, str):
            raise ModelError(
                f"{m.name} has no number {format_value(path)}; m.free_numbers() lists them."
            )
    for path in sorted(dict.fromkeys(wanted), key=lambda path: path.endswith((PAYLOAD, DEVIATION))):
        if path.endswith(PAYLOAD):
            d = _with_load(m, d, path)
        elif path.endswith(DEVIATION):
            d = _with_deviation(m, d, path)
        else:
            d = _with_own(m, d, path)
    return d


def _with_own(m: Model, d: Description, path: str) -> Description:
    """A number that is a parameter, unless it is one already."""
    place, name = place_of(m, path), free_name(path)
    if isinstance(place.value, ParameterExpression):
        made_of = sorted({*place.value.names()})
        if name in made_of:
            return d
        raise ModelError(
            f"{m.name}: {path} is '{place.value}', which follows from {', '.join(map(repr, made_of))}; vary "
            f"{'that' if len(made_of) == 1 else 'those'}, or let it deviate by itself, as '{path}{DEVIATION}'."
        )
    return with_number(d, place.steps, name, place.value, parameter(name))


def _with_deviation(m: Model, d: Description, path: str) -> Description:
    """A number, whatever it follows from, and a parameter more that is zero."""
    place, name = place_of(m, path.removesuffix(DEVIATION)), free_name(path)
    today = _at(d, place.steps)
    if isinstance(today, ParameterExpression) and name in today.names():
        return d
    return with_number(d, place.steps, name, 0.0, today + parameter(name))


def _with_load(m: Model, d: Description, path: str) -> Description:
    """A point mass at a frame, whose mass is a parameter that is zero."""
    if _payload_is_parameter(m, path):
        return d
    return with_payload(
        Model(_with_parameter(d, name := free_name(path), 0.0)),
        path.removesuffix(PAYLOAD),
        parameter(name),
    )


def with_number(
    d: Description, steps: Steps, name: str, value: float, number: Number
) -> Description:
    """The description with a parameter more, and a number that depends on it."""
    return put(_with_parameter(d, name, value), steps, number)


def _with_parameter(d: Description, name: str, value: float) -> Description:
    if name in dict(d.parameters):
        raise ModelError(
            f"{d.name} has a parameter '{name}' already, which stands elsewhere; rename it first."
        )
    return replace(d, parameters=(*d.parameters, (name, value)))


@per_model
def parameter_units(m: Model) -> Mapping[str, str | None]:
    """The SI unit of each parameter, as it follows from where it stands; "" for a mere number, None
    where it cannot be told."""
    numbers = [(x.value, x.unit) for x in places(m).values()]
    return FrozenDict(infer_units(numbers, dict(m.description.parameters)))
