"""What a field of an item can hold: how a person writes it, how it is read and written again, and
which numbers it has.

An item declares each of its fields once, in `items.py`:

    mass: Number = quantity("kg", minimum=0.0)
    viscous: Values | None = per_velocity("N m s/rad", "N s/m", minimum=0.0, unsaid=0.0)

The Builder, TOML in and out, free numbers, checks, changes of a model and tables walk these
declarations (`schema.py`).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar, cast

import numpy as np

from eslabon.answers import Column, cell_text
from eslabon.arguments import choice, known_words, mapping, text
from eslabon.errors import ModelError, format_value, located
from eslabon.model.closures import CLOSURES
from eslabon.model.constraints import ClosureKind
from eslabon.model.joints import KINDS, JointKind
from eslabon.model.parameter_expressions import Number, ParameterExpression, leaves
from eslabon.model.parameter_units import number_with_unit
from eslabon.model.parsing import (
    AXIS_NAMES,
    KIND_UNITS,
    NUMBERS,
    as_list,
    closure_kind,
    coordinates_of,
    is_single_number,
    joint_kind,
    pose,
    require_entries,
    six_moments,
    triple,
)
from eslabon.model.poses import ORIGIN, End, Pose, Triple

if TYPE_CHECKING:
    from eslabon.model.items import Joint, Shape

V = TypeVar("V")  # what a field holds
Values = tuple[Number, ...]  # one number for each degree of freedom of a joint
Pairs = tuple[tuple[Number, Number], ...]  # lower and upper limits of its coordinates
Placed = tuple[tuple[str, Values], ...]  # joints and their coordinates
XYZ, ANGLES, SIX = "xyz", ("roll", "pitch", "yaw"), ("xx", "yy", "zz", "xy", "xz", "yz")
Steps = tuple[str | int, ...]  # the way to a number: names of fields and places in tuples
FieldNumbers = Iterator[
    tuple[str, Steps, str]
]  # what a number is called in its item, the way to it, its unit
Expressions = Iterator[tuple[tuple[str, ...], ParameterExpression]]  # with their places in an item
NewNames = Mapping[str, Mapping[str, str]]  # by kind of item, new names for old ones
OF_COORDINATES = ("rad", "m", "")  # units of a coordinate of some joint; quaternions have none
Cells = Iterator[tuple[Column, Any]]  # what tables show of a field
SPEC = "spec"  # in the metadata of a dataclass field
TITLES = {"com": "centre of mass"}  # of fields in tables, where their names do not say enough


class Context(NamedTuple):
    """What is known of an item while it is read: how sentences call it, and its kind where it has
    one."""

    what: str
    kind: Any = None  # a kind of joint or constraint, or the form of a shape
    others: Mapping[str, Any] = {}  # the fields before it
    joints: Mapping[str, JointKind] = {}  # of the mechanism, those that are known

    def unit_of_joint(self, field: str) -> str | None:
        """The unit of the coordinate of the joint that a field names, if it has just one."""
        kind = self.joints.get(self.others.get(field, ""))
        return kind.coordinates[0].unit if kind is not None and kind.nq == 1 else None


class Spec(ABC, Generic[V]):
    """What a field holds: values of one type, which a person writes in one or several ways."""

    always: ClassVar[bool] = False  # whether it is read where nothing is written, too

    @property
    def keys(self) -> tuple[str, ...]:
        """Under which keys it is written, if not under its own name."""
        return ()

    def in_degrees(self, name: str) -> tuple[str, ...]:
        """Of these, those that may be written in degrees, with `_deg` at their end."""
        return (name,) if getattr(self, "angle", False) else ()

    def written_value(self, written: Mapping[str, object], name: str) -> object:
        """What is written of it; None for nothing."""
        return written.get(name)

    def place(self, name: str) -> tuple[str, ...]:
        """The key that a mistake is at, unless reading it tells."""
        return (name,)

    @abstractmethod
    def parse(self, value: object, name: str, context: Context) -> V:
        """What a person wrote, as the item keeps it."""

    def numbers(self, name: str, item: object) -> FieldNumbers:
        """Its numbers that make up a design."""
        return iter(())

    def write(self, name: str, value: V) -> dict[str, object]:
        """The keys and values of a file."""
        return {name: file_value(value)}

    def cells(self, name: str, item: object) -> Cells:
        """What tables show of it, under which columns."""
        yield Column(table_title(name)), getattr(item, name)

    def references(self, value: V) -> Iterator[tuple[str, str]]:
        """The items that it names, each with its kind."""
        return iter(())

    def place_of_reference(self, field: str, name: str) -> tuple[str, ...]:
        """Where in the item the name of another one is written."""
        return (field,)

    def expressions(self, name: str, value: Any) -> Expressions:
        """The expressions in it, each with its place in the item."""
        return expressions_at((name,), value)

    def rename(self, value: V, new: NewNames) -> V:
        """The same with other names of items."""
        return value

    def nonnegative(self, value: V) -> Iterator[Number]:
        """Its numbers that cannot be negative."""
        return iter(())


def declare(spec: Spec[Any], default: object = MISSING) -> Any:
    """A dataclass field with its declaration."""
    return (
        field(metadata={SPEC: spec})
        if default is MISSING
        else field(default=default, metadata={SPEC: spec})
    )


_SPECS: dict[type, Mapping[str, Spec[Any]]] = {}  # by class, since every item that is made asks


def specs_of(item: type) -> Mapping[str, Spec[Any]]:
    """The declarations of an item's fields, by name, all but the name."""
    if item not in _SPECS:
        _SPECS[item] = {f.name: f.metadata[SPEC] for f in fields(item) if SPEC in f.metadata}
    return _SPECS[item]


def table_title(name: str) -> str:
    return TITLES.get(name, name).replace("_", " ")


# -- numbers ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity(Spec[Number]):
    """One number in a unit, or in one of several that belong to different joints."""

    units: tuple[str, ...]
    minimum: float | None = None
    angle: bool = False  # whether it may be written in degrees, name_deg
    of: tuple[str, ...] = ()  # fields whose joints decide: it is a coordinate, or a ratio of two

    @property
    def unit(self) -> str:
        return self.units[0] if len(self.units) == 1 else ""

    def parse(self, value: object, name: str, context: Context) -> Number:
        return number_with_unit(value, f"{context.what}: {name}", *self._units(context))

    def _units(self, context: Context) -> tuple[str, ...]:
        """The unit that it has among the joints that are known, or all that it can have."""
        over, *under = (context.unit_of_joint(field) for field in self.of) if self.of else (None,)
        if over is None or None in under:
            return self.units
        return ("" if over == under[0] else f"{over}/{under[0]}",) if under else (over,)

    def numbers(self, name: str, item: object) -> FieldNumbers:
        yield name, (name,), self.unit

    def nonnegative(self, value: Number) -> Iterator[Number]:
        if self.minimum is not None:
            yield value

    def cells(self, name: str, item: object) -> Cells:
        yield Column(table_title(name), self.unit), getattr(item, name)


def quantity(
    *units: str,
    minimum: float | None = None,
    default: Number = 0.0,
    angle: bool = False,
    of: tuple[str, ...] = (),
) -> Any:
    return declare(Quantity(units, minimum, angle, of), default)


@dataclass(frozen=True)
class Vector(Spec[Triple | None]):
    """Three numbers along x, y and z; None where they may be left open."""

    unit: str

    def parse(self, value: object, name: str, context: Context) -> Triple | None:
        return triple(value, f"{context.what}: {name}", self.unit)

    def numbers(self, name: str, item: object) -> FieldNumbers:
        return (
            tuple_numbers(name, (name,), XYZ, self.unit)
            if getattr(item, name) is not None
            else iter(())
        )

    def cells(self, name: str, item: object) -> Cells:
        yield Column(table_title(name), self.unit), getattr(item, name)


def vector_in(unit: str, default: Triple | None = ORIGIN) -> Any:
    return declare(Vector(unit), default)


@dataclass(frozen=True)
class Moments(Spec[tuple[Number, ...]]):
    """The six entries of an inertia, from the diagonal, from these, or from a matrix."""

    unit: str = "kg m²"

    def parse(self, value: object, name: str, context: Context) -> tuple[Number, ...]:
        return six_moments(value, f"{context.what}: {name}")

    def numbers(self, name: str, item: object) -> FieldNumbers:
        return tuple_numbers(name, (name,), SIX, self.unit)

    def write(self, name: str, value: tuple[Number, ...]) -> dict[str, object]:
        return {name: file_value(value[:3] if value[3:] == (0.0, 0.0, 0.0) else value)}

    def cells(self, name: str, item: object) -> Cells:
        value = getattr(item, name)
        diagonal = all(isinstance(x, float) and x == 0.0 for x in value[3:])
        yield Column(table_title(name), self.unit), value[:3] if diagonal else value


@dataclass(frozen=True)
class PerVelocity(Spec[Values | None]):
    """A number for each degree of freedom of a joint, or one for all of them.

    `unsaid` is what a joint has that does not say; None where there is nothing to make a parameter
    of. `beside` is the field without which it means nothing.
    """

    turning: str
    sliding: str
    minimum: float | None = None
    unsaid: float | None = None
    beside: str = ""
    geared: str = ""  # the unit where the joint has a gear ratio, if it is another one then
    of_coordinates: bool = False  # it makes sense only where velocities are rates of coordinates
    angle: bool = False

    def parse(self, value: object, name: str, context: Context) -> Values | None:
        kind, what = context.kind, f"{context.what}: {name}"
        if kind.nv == 0:
            raise ModelError(f"{what} makes no sense: the joint is fixed.")
        if self.of_coordinates and kind.has_quaternion:
            raise ModelError(
                f"{what} needs a joint whose coordinates are angles or lengths; this one is {kind.kind}."
            )
        if is_single_number(value):
            value = [value] * kind.nv
        entries = require_entries(value, kind.nv, what)
        units = [
            (self.unit(velocity.unit == "rad/s"), *([self.geared] * bool(self.geared)))
            for velocity in kind.velocities
        ]
        return tuple(number_with_unit(x, what, *own) for x, own in zip(entries, units, strict=True))

    def unit(self, turns: bool, item: object = None) -> str:
        if self.geared and item is not None and cast("Joint", item).gear_ratio is not None:
            return self.geared
        return self.turning if turns else self.sliding

    def numbers(self, name: str, item: object) -> FieldNumbers:
        kind = cast("Joint", item).kind
        there = not self.beside or getattr(item, self.beside) is not None
        if (
            self.unsaid is None
            or not there
            or (self.of_coordinates and not self.beside and kind.has_quaternion)
        ):
            return
        for k, velocity in enumerate(kind.velocities):
            unit = self.unit(velocity.unit == "rad/s", item)
            yield f"{name}.{velocity.name}" if velocity.name else name, (name, k), unit

    def nonnegative(self, value: Values | None) -> Iterator[Number]:
        yield from (value or ()) if self.minimum is not None else ()

    def write(self, name: str, value: Values | None) -> dict[str, object]:
        return {name: file_value(unwrap_single(value))}

    def cells(self, name: str, item: object) -> Cells:
        units = (self.unit(x.unit == "rad/s", item) for x in cast("Joint", item).kind.velocities)
        yield Column(table_title(name), common_unit(units)), getattr(item, name)


def per_velocity(
    turning: str,
    sliding: str,
    minimum: float | None = None,
    unsaid: float | None = None,
    beside: str = "",
    geared: str = "",
    of_coordinates: bool = False,
    angle: bool = False,
) -> Any:
    spec = PerVelocity(turning, sliding, minimum, unsaid, beside, geared, of_coordinates, angle)
    return declare(spec, None)


@dataclass(frozen=True)
class PerCoordinate(Spec[Values | None]):
    """A number for each coordinate of a joint: where it stands at home."""

    angle: bool = True

    def parse(self, value: object, name: str, context: Context) -> Values | None:
        return coordinates_of(context.kind, value, f"{context.what}: {name}")

    def write(self, name: str, value: Values | None) -> dict[str, object]:
        return {name: file_value(unwrap_single(value))}

    def cells(self, name: str, item: object) -> Cells:
        unit = common_unit(x.unit for x in cast("Joint", item).kind.coordinates)
        yield Column(table_title(name), unit), getattr(item, name)


@dataclass(frozen=True)
class Intervals(Spec[Pairs | None]):
    """A (lower, upper) pair for each coordinate; infinity stands for no limit on that side."""

    angle: bool = True

    def parse(self, value: object, name: str, context: Context) -> Pairs | None:
        kind, what = context.kind, f"{context.what}: {name}"
        if kind.has_quaternion or kind.nq == 0:
            raise ModelError(
                f"{what} need a joint whose coordinates are angles or lengths; this one is {kind.kind}."
            )
        entries = as_list(value, what)
        if entries is None:
            raise ModelError(
                f"{what} need a lower and an upper value; they are {format_value(value)}."
            )
        if not any(as_list(pair, what) is not None for pair in entries):
            entries = [entries]
        pairs = [as_list(pair, what) or [] for pair in entries]
        if len(pairs) != kind.nq or any(len(pair) != 2 for pair in pairs):
            raise ModelError(
                f"{what} need a (lower, upper) pair for each of the {kind.nq} coordinates."
            )
        units = [c.unit for c in kind.coordinates]
        made = tuple(
            (_side(lower, what, unit), _side(upper, what, unit))
            for (lower, upper), unit in zip(pairs, units, strict=True)
        )
        if any(lower == np.inf or upper == -np.inf for lower, upper in made):
            raise ModelError(
                f"{what} leave the joint no room; an open side is -inf below, inf above."
            )
        return made

    def write(self, name: str, value: Pairs | None) -> dict[str, object]:
        return {name: file_value(unwrap_single(value))}

    def cells(self, name: str, item: object) -> Cells:
        pairs = (f"{cell_text(a)} to {cell_text(b)}" for a, b in getattr(item, name) or ())
        unit = common_unit(x.unit for x in cast("Joint", item).kind.coordinates)
        yield Column(table_title(name), unit), ", ".join(pairs)


def _side(x: object, what: str, unit: str) -> Number:
    open_ = isinstance(x, float | np.floating) and np.isinf(x)
    return float(cast("float", x)) if open_ else number_with_unit(x, what, unit)


# -- places and names ------------------------------------------------------------------------------


class Placement(Spec[Pose]):
    """A pose, written as a position `at` and angles `rpy`; from Python also as a 4x4 matrix."""

    @property
    def keys(self) -> tuple[str, ...]:
        return "at", "rpy"

    def in_degrees(self, name: str) -> tuple[str, ...]:
        return ("rpy",)

    def written_value(self, written: Mapping[str, object], name: str) -> object:
        found = {key: written[key] for key in self.keys if written.get(key) is not None}
        return found or None

    def place(self, name: str) -> tuple[str, ...]:
        return ()

    def parse(self, value: object, name: str, context: Context) -> Pose:
        keys = mapping(value, context.what)
        return pose(keys.get("at"), context.what, keys.get("rpy"))

    def expressions(self, name: str, value: Pose) -> Expressions:
        return pose_expressions((), value)

    def numbers(self, name: str, item: object) -> FieldNumbers:
        return pose_numbers(name, (name,))

    def write(self, name: str, value: Pose) -> dict[str, object]:
        return pose_entries(value)

    def cells(self, name: str, item: object) -> Cells:
        return getattr(item, name).cells()


@dataclass(frozen=True)
class Side(Spec[End]):
    """One end of a loop or spring: a body, and a frame or a mere point on it."""

    point: bool = False

    def parse(self, value: object, name: str, context: Context) -> End:
        what = f"{context.what}: {name}"
        end = mapping(value, what)
        with located("body"):
            body = text(end.get("body"), f"{what} body")
        if not self.point:
            return End(body, pose(end.get("at"), what, end.get("rpy")))
        with located("at"):
            at = end.get("at")
            return End(body, Pose() if at is None else Pose(triple(at, what, "m")))

    def numbers(self, name: str, item: object) -> FieldNumbers:
        if self.point:
            return tuple_numbers(name, (name, "at", "position"), XYZ, "m")
        return pose_numbers(name, (name, "at"))

    def write(self, name: str, value: End) -> dict[str, object]:
        return {name: {"body": value.body, **pose_entries(value.at)}}

    def cells(self, name: str, item: object) -> Cells:
        end, prefix = getattr(item, name), "" if name == "first" else f"{table_title(name)} "
        position, angles = end.at.cells(prefix)
        yield Column(table_title(name)), end.body
        yield from (position,) if self.point else (position, angles)

    def references(self, value: End) -> Iterator[tuple[str, str]]:
        yield "body", value.body

    def place_of_reference(self, field: str, name: str) -> tuple[str, ...]:
        return field, "body"

    def expressions(self, name: str, value: End) -> Expressions:
        return pose_expressions((name,), value.at)

    def rename(self, value: End, new: NewNames) -> End:
        return replace(value, body=new["body"].get(value.body, value.body))

    def move_to(self, end: End, old: str, body: str, at: Pose) -> End:
        """The same end where what stood on one body stands on a frame of another."""
        if end.body != old:
            return end
        moved = at @ end.at
        return End(body, Pose(moved.position) if self.point else moved)


@dataclass(frozen=True)
class Reference(Spec[str | None]):
    """The name of another item."""

    of: str  # "body" or "joint"

    def parse(self, value: object, name: str, context: Context) -> str:
        return text(value, f"{context.what}: {name}")

    def references(self, value: str | None) -> Iterator[tuple[str, str]]:
        if value is not None:
            yield self.of, value

    def rename(self, value: str | None, new: NewNames) -> str | None:
        return value if value is None else new[self.of].get(value, value)


def reference(of: str, default: object = MISSING) -> Any:
    return declare(Reference(of), default)


@dataclass(frozen=True)
class Word(Spec[str]):
    """One of a few words."""

    known: tuple[str, ...]

    def parse(self, value: object, name: str, context: Context) -> str:
        return choice(value, f"{context.what}: {name}", self.known)


class Coordinates(Spec[Placed]):
    """Joints and their coordinates: a configuration."""

    def parse(self, value: object, name: str, context: Context) -> Placed:
        what = context.what
        if not isinstance(value, Mapping):
            raise ModelError(
                f"{what} gives coordinates by joint, as in {{'q1': 0.3}}; it is {format_value(value)}."
            )
        placed = []
        for joint, given in value.items():
            with located(str(joint)):
                entries = (
                    [given] if (listing := as_list(given, f"{what}: {joint}")) is None else listing
                )
                kind = context.joints.get(joint) if isinstance(joint, str) else None
                units: list[tuple[str, ...]] = [OF_COORDINATES] * len(entries)
                if kind is not None and kind.nq == len(entries):
                    units = [(x.unit,) for x in kind.coordinates]
                numbers = tuple(
                    number_with_unit(x, f"{what}: {joint}", *own)
                    for x, own in zip(entries, units, strict=True)
                )
                placed.append((text(joint, f"{what}: joint"), numbers))
        return tuple(placed)

    def place(self, name: str) -> tuple[str, ...]:
        return ()  # the joints are the keys

    def references(self, value: Placed) -> Iterator[tuple[str, str]]:
        yield from (("joint", name) for name, _ in value)

    def place_of_reference(self, field: str, name: str) -> tuple[str, ...]:
        return (name,)  # the joints are the keys

    def expressions(self, name: str, value: Placed) -> Expressions:
        for joint, values in value:
            yield from expressions_at((joint,), values)

    def rename(self, value: Placed, new: NewNames) -> Placed:
        return tuple((new["joint"].get(joint, joint), values) for joint, values in value)

    def write(self, name: str, value: Placed) -> dict[str, object]:
        return {joint: file_value(unwrap_single(x)) for joint, x in value}

    def cells(self, name: str, item: object) -> Cells:
        return ((Column(joint), values) for joint, values in getattr(item, name))


# -- kinds of joints and constraints ---------------------------------------------------------------


@dataclass(frozen=True)
class Kind(Spec[ClosureKind]):
    """What a joint or a constraint lets through: the name of a kind, its axes and its numbers."""

    joints_only: bool

    @property
    def keys(self) -> tuple[str, ...]:
        return ("kind", "axis", "pitch") if self.joints_only else ("kind", "axis", *NUMBERS)

    def in_degrees(self, name: str) -> tuple[str, ...]:
        return () if self.joints_only else ("angle",)

    def written_value(self, written: Mapping[str, object], name: str) -> object:
        return {key: written[key] for key in self.keys if written.get(key) is not None}

    def place(self, name: str) -> tuple[str, ...]:
        return ()

    def parse(self, value: object, name: str, context: Context) -> ClosureKind:
        """From the values of its keys, those that are written."""
        what = context.what
        keys = mapping(value, what)
        data = {key: keys.get(key) for key in self.keys[2:]}
        if self.joints_only:
            return joint_kind(keys.get("kind"), keys.get("axis"), data["pitch"], what)
        made = closure_kind(keys.get("kind"), {**KINDS, **CLOSURES}, keys.get("axis"), data, what)
        if made.dof == 6:
            raise ModelError(
                f"{what}: a free joint closes nothing; take it out or choose another kind."
            ).at("kind")
        return made

    def numbers(self, name: str, item: object) -> FieldNumbers:
        kind = getattr(item, name)
        for key in (f.name for f in fields(kind)):
            if not isinstance(getattr(kind, key), tuple):
                yield key, (name, key), KIND_UNITS.get(key, "")
            elif kind.axes_from_parameters:
                yield from tuple_numbers(
                    key if key == "axis" else f"{key}_axis", (name, key), XYZ, ""
                )

    def expressions(self, name: str, value: ClosureKind) -> Expressions:
        for key in (f.name for f in fields(value)):
            yield from expressions_at((key if key in NUMBERS else "axis",), getattr(value, key))

    def write(self, name: str, value: ClosureKind) -> dict[str, object]:
        axes = [AXIS_NAMES.get(axis) or file_value(axis) for axis in value.axes]
        made: dict[str, Any] = {"kind": value.kind}
        if axes:
            made["axis"] = axes if len(axes) > 1 else axes[0]
        return made | {
            f.name: file_value(getattr(value, f.name)) for f in fields(value) if f.name in NUMBERS
        }

    def cells(self, name: str, item: object) -> Cells:
        kind = getattr(item, name)
        axes = ", ".join(AXIS_NAMES.get(axis) or f"({cell_text(axis)})" for axis in kind.axes)
        own = (f.name for f in fields(kind) if f.name in KIND_UNITS)
        data = (f", {cell_text(getattr(kind, key))} {KIND_UNITS[key]}" for key in own)
        yield Column(table_title(name)), f"{kind.kind} {axes}{''.join(data)}".strip()


# -- looks -----------------------------------------------------------------------------------------

FORMS = {
    "box": ("its lengths along x, y and z", 3),
    "cylinder": ("its radius and its length along z", 2),
    "capsule": ("its radius and its length along z", 2),
    "sphere": ("its radius", 1),
    "mesh": ("its scale along x, y and z", 3),
}
COLOURS = {
    "black": "#000000", "grey": "#808080", "gray": "#808080", "silver": "#c0c0c0", "white": "#ffffff", "red": "#ff0000",
    "orange": "#ffa500", "yellow": "#ffff00", "green": "#008000", "cyan": "#00ffff", "blue": "#0000ff", "navy": "#000080",
    "purple": "#800080", "magenta": "#ff00ff", "pink": "#ffc0cb", "brown": "#a52a2a",
}  # fmt: skip


class Form(Spec[str]):
    """The kind of a shape."""

    def parse(self, value: object, name: str, context: Context) -> str:
        known_words([value], FORMS, f"{context.what}: there is no kind of shape")
        return cast("str", value)


class Size(Spec[Values]):
    """The lengths of a shape; of a mesh the scale, of which one number serves all directions."""

    always: ClassVar[bool] = True

    def parse(self, value: object, name: str, context: Context) -> Values:
        kind, what = context.kind, context.what
        meaning, count = FORMS[kind]
        if kind == "mesh" and (value is None or is_single_number(value)):
            value = [1.0 if value is None else value] * 3
        if value is None:
            raise ModelError(f"{what}: a {kind} needs its size: {meaning}.")
        entries = [value] if (listing := as_list(value, f"{what}: {name}")) is None else listing
        if len(entries) != count:
            raise ModelError(
                f"{what}: the size of a {kind} is {meaning}; it was given {format_value(value)}."
            )
        unit = "" if kind == "mesh" else "m"
        return tuple(number_with_unit(x, f"{what}: {name}", unit) for x in entries)

    def write(self, name: str, value: Values) -> dict[str, object]:
        return {name: file_value(unwrap_single(value))}

    def cells(self, name: str, item: object) -> Cells:
        unit = "" if cast("Shape", item).kind == "mesh" else "m"
        yield Column(table_title(name), unit), getattr(item, name)


class Colour(Spec[str]):
    def parse(self, value: object, name: str, context: Context) -> str:
        value = COLOURS.get(value.lower(), value) if isinstance(value, str) else value
        if not isinstance(value, str) or (value and not re.fullmatch("#[0-9a-fA-F]{6}", value)):
            known = ", ".join(COLOURS)
            raise ModelError(
                f"{context.what}: the colour is {format_value(value)}; write it as in '#d55e00', or one of {known}."
            )
        return value.lower()


class MeshFile(Spec[str]):
    """The file that a mesh has, and no other shape."""

    always: ClassVar[bool] = True

    def parse(self, value: object, name: str, context: Context) -> str:
        kind, what, value = context.kind, context.what, "" if value is None else value
        if not isinstance(value, str | PurePath) or (not str(value).strip() and kind == "mesh"):
            raise ModelError(f"{what}: a mesh needs the name of its file, as in file='bucket.stl'.")
        if str(value) and kind != "mesh":
            raise ModelError(f"{what}: a {kind} has no file; leave it out, or make the kind mesh.")
        return str(value)

    def cells(self, name: str, item: object) -> Cells:
        yield Column(table_title(name)), PurePath(getattr(item, name)).name


# -- walking and writing ---------------------------------------------------------------------------


def tuple_numbers(label: str, steps: Steps, names: Iterable[str], unit: str) -> FieldNumbers:
    """Numbers that stand side by side."""
    return ((f"{label}.{name}", (*steps, k), unit) for k, name in enumerate(names))


def common_unit(units: Iterable[str]) -> str:
    """The unit of several numbers; that of each where they differ."""
    named = list(units)
    return named[0] if len(set(named)) == 1 else ", ".join(named)


def expressions_at(place: tuple[str, ...], value: object) -> Expressions:
    """The expressions in a value, all of them at one place."""
    return ((place, x) for x in leaves(value) if isinstance(x, ParameterExpression))


def pose_expressions(place: tuple[str, ...], at: Pose) -> Expressions:
    yield from expressions_at((*place, "at"), at.position)
    yield from expressions_at((*place, "rpy"), at.rpy)


def pose_numbers(label: str, steps: Steps) -> FieldNumbers:
    yield from tuple_numbers(label, (*steps, "position"), XYZ, "m")
    yield from tuple_numbers(label, (*steps, "rpy"), ANGLES, "rad")


def pose_entries(at: Pose) -> dict[str, object]:
    parts = {"at": at.position, "rpy": at.rpy}
    return {key: file_value(value) for key, value in parts.items() if value != ORIGIN}


def unwrap_single(value: object) -> object:
    """One number in place of a tuple of one."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def file_value(value: object) -> object:
    """Lists, numbers and texts, as files hold them."""
    if isinstance(value, tuple):
        return [file_value(x) for x in value]
    return str(value) if isinstance(value, ParameterExpression) else value
