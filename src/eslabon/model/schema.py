"""One walk over the declared fields of items for each thing that is done with them: read, write,
find numbers and names.

A new field costs one line in `items.py`; everything here, and whoever calls it, takes it up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, TypeVar
from unicodedata import category

from eslabon.errors import ModelError, Place, format_value, located
from eslabon.model.fields import Context, FieldNumbers, NewNames, Side, specs_of
from eslabon.model.items import ITEMS, Description, Item
from eslabon.model.joints import JointKind
from eslabon.model.parameter_expressions import ParameterExpression
from eslabon.model.poses import Pose

I = TypeVar("I", bound=Item)
# By class, since they are asked for with every item that is made
_OPTIONAL: dict[type[Item], frozenset[str]] = {}
# Control characters, lone surrogates, and what breaks lines: they break tables, sentences and
# files.
UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")


def keys_of(item: type[Item]) -> tuple[str, ...]:
    """The keys that a person may write of an item, in SI units."""
    return tuple(key for name, spec in specs_of(item).items() for key in spec.keys or (name,))


def keys_in_degrees(item: type[Item]) -> tuple[str, ...]:
    """Those that may end in `_deg`."""
    return tuple(key for name, spec in specs_of(item).items() for key in spec.in_degrees(name))


def required_keys(item: type[Item]) -> tuple[str, ...]:
    """The keys without which there is no item."""
    specs, optional = specs_of(item), _optional(item)
    return tuple(
        (x.keys or (name,))[0] for name, x in specs.items() if name not in optional and not x.always
    )


def _optional(item: type[Item]) -> frozenset[str]:
    if item not in _OPTIONAL:
        names = (f.name for f in fields(item) if f.default is not MISSING)  # type: ignore[arg-type]
        _OPTIONAL[item] = frozenset(names)
    return _OPTIONAL[item]


def check_name(name: object, what: str) -> str:
    """The name, if it can stand in a file, a table and a sentence: any text without control
    characters."""
    if not isinstance(name, str) or not name.strip():
        raise ModelError(
            f"a {what} has no name, for {format_value(name)} is none; give it one, a text."
        )
    if any(category(letter) in UNPRINTABLE for letter in name):
        raise ModelError(
            f"the name {name!a} of a {what} has a control character, such as a line break; take it out."
        )
    return name


def make_item(
    item: type[I],
    name: str,
    written: Mapping[str, object],
    word: str = "",
    joints: Mapping[str, JointKind] | None = None,
) -> I:
    """An item from what a person wrote, where None is nothing. An error says its place: section,
    name, key. `joints` are the kinds of those that are known, which decide on units."""
    word = word or item.word
    what, values = f"{word} '{check_name(name, word)}'", dict[str, Any]()
    make: Any = item
    with located(item.section, name):
        for own, spec in specs_of(item).items():
            given = spec.written_value(written, own)
            if given is None and own in _optional(item) and not spec.always:
                continue
            with located(*spec.place(own)):
                context = Context(what, values.get("kind"), values, joints or {})
                values[own] = spec.parse(given, own, context)
        return make(name, **values)


def file_entries(item: Item) -> dict[str, Any]:
    """The keys and values of a file, defaults left out."""
    made: dict[str, Any] = {}
    defaults = {f.name: f.default for f in fields(item)}  # type: ignore[arg-type]
    for name, spec in specs_of(type(item)).items():
        value = getattr(item, name)
        if defaults[name] is MISSING or value != defaults[name]:
            made |= spec.write(name, value)
    return made


def numbers_of(item: Item) -> FieldNumbers:
    """The numbers of an item that make up a design: their names in it, the way to them, and their
    units."""
    for name, spec in specs_of(type(item)).items():
        yield from spec.numbers(name, item)


def nonnegative_numbers(item: Item) -> Iterator[tuple[str, Any]]:
    """The numbers of an item that cannot be negative, each with its field."""
    for name, spec in specs_of(type(item)).items():
        yield from ((name, x) for x in spec.nonnegative(getattr(item, name)))


def items_of(d: Description) -> Iterator[Any]:
    """All items of a description, section by section."""
    return (item for section in ITEMS for item in getattr(d, section))


def place_of(item: Item) -> tuple[str, str]:
    """Where an item stands in a description: its section and its name."""
    return item.section, item.name


def references(item: Item) -> Iterator[tuple[Place, str, str]]:
    """The items that one names: the place of the name, the kind of what it names, and the name."""
    for field, spec in specs_of(type(item)).items():
        for kind, name in spec.references(getattr(item, field)):
            yield (*place_of(item), *spec.place_of_reference(field, name)), kind, name


def expressions_of(item: Item) -> Iterator[tuple[Place, ParameterExpression]]:
    """The expressions of parameters in an item, each with its place."""
    for field, spec in specs_of(type(item)).items():
        for place, x in spec.expressions(field, getattr(item, field)):
            yield (*place_of(item), *place), x


def bodies_of(item: Item) -> set[str]:
    """The bodies that an item is on or between."""
    return {name for _, kind, name in references(item) if kind == "body"}


def rename_item(item: I, new: NewNames) -> I:
    """An item with other names of itself and of the items that it names."""
    made = {
        name: spec.rename(getattr(item, name), new) for name, spec in specs_of(type(item)).items()
    }
    return replace(item, name=new[item.word].get(item.name, item.name), **made)  # type: ignore[type-var]


def move_item(item: I, old: str, body: str, at: Pose) -> I:
    """An item where what stood on one body stands on a frame of another."""
    made: dict[str, Any] = {}
    for name, spec in specs_of(type(item)).items():
        if isinstance(spec, Side):
            made[name] = spec.move_to(getattr(item, name), old, body, at)
    if item.stands is not None and getattr(item, item.stands[0]) == old:
        on, where = item.stands
        place = getattr(item, where)
        is_pose = isinstance(place, Pose)
        moved = at @ (place if is_pose else Pose(place))
        made |= {on: body, where: moved if is_pose else moved.position}
    return replace(item, **made) if made else item  # type: ignore[type-var]
