"""What a field of an item can hold: how a person writes it, how it is read and written again, and which numbers it has.

An item declares each of its fields once, in `items.py`:

    mass: Number = quantity("kg", minimum=0.0)
    viscous: Values | None = per_velocity("N m s/rad", "N s/m", minimum=0.0, unsaid=0.0)

The Builder, TOML in and out, free numbers, checks, changes of a model and tables walk these declarations (`schema.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import PurePath
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eslabon.arguments import choice, known_words, text
from eslabon.errors import ModelError, format_value
from eslabon.model.closures import CLOSURES
from eslabon.model.joints import KINDS
from eslabon.model.parameter_expressions import Number, ParameterExpression
from eslabon.model.parameter_units import number_with_unit
from eslabon.model.parsing import (
    AXIS_NAMES,
    KIND_UNITS,
    NUMBERS,
    closure_kind,
    coordinates_of,
    counted,
    is_one,
    joint_kind,
    listed,
    pose,
    six_moments,
    triple,
)
from eslabon.model.poses import ORIGIN, End, Pose

XYZ, ANGLES, SIX = "xyz", ("roll", "pitch", "yaw"), ("xx", "yy", "zz", "xy", "xz", "yz")
Steps = tuple[str | int, ...]  # the way to a number: names of fields and places in tuples
Found = Iterator[
    tuple[str, Steps, str]
]  # what a number is called in its item, the way to it, its unit
NewNames = Mapping[str, Mapping[str, str]]  # by kind of item, new names for old ones
OF_COORDINATES = ("rad", "m", "")  # units of a coordinate of some joint; quaternions have none
SPEC = "spec"  # in the metadata of a dataclass field


class Context(NamedTuple):
    """What is known of an item while it is read: how sentences call it, and its kind where it has one."""

    what: str
    kind: Any = None


@dataclass(frozen=True)
class Spec:
    """A field that holds one text."""

    always: ClassVar[bool] = False  # whether it is read where nothing is written, too

    @property
    def keys(self) -> tuple[str, ...]:
        """Under which keys it is written, if not under its own name."""
        return ()

    def in_degrees(self, name: str) -> tuple[str, ...]:
        """Of these, those that may be written in degrees, with `_deg` at their end."""
        return (name,) if getattr(self, "angle", False) else ()

    def given(self, written: Mapping[str, Any], name: str) -> Any:
        """What is written of it; None for nothing."""
        return written.get(name)

    def place(self, name: str) -> tuple[str, ...]:
        """The key that a mistake is at, unless reading it tells."""
        return (name,)

    def parse(self, value: Any, name: str, context: Context) -> Any:
        """What a person wrote, as the item keeps it."""
        return text(value, f"{context.what}: {name}")

    def numbers(self, name: str, item: Any) -> Found:
        """Its numbers that make up a design."""
        return iter(())

    def write(self, name: str, value: Any) -> dict[str, Any]:
        """The keys and values of a file."""
        return {name: plain(value)}

    def references(self, value: Any) -> Iterator[tuple[str, str]]:
        """The items that it names, each with its kind."""
        return iter(())

    def renamed(self, value: Any, new: NewNames) -> Any:
        """The same with other names of items."""
        return value

    def bounded(self, value: Any) -> Iterator[Any]:
        """Its numbers that cannot be negative."""
        return iter(())


def declared(spec: Spec, default: Any = MISSING) -> Any:
    """A dataclass field with its declaration."""
    return (
        field(metadata={SPEC: spec})
        if default is MISSING
        else field(default=default, metadata={SPEC: spec})
    )


# -- numbers ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity(Spec):
    """One number in a unit, or in one of several that belong to different joints."""

    units: tuple[str, ...]
    minimum: float | None = None
    angle: bool = False  # whether it may be written in degrees, name_deg

    @property
    def unit(self) -> str:
        return self.units[0] if len(self.units) == 1 else ""

    def parse(self, value: Any, name: str, context: Context) -> Any:
        return number_with_unit(value, f"{context.what}: {name}", *self.units)

    def numbers(self, name: str, item: Any) -> Found:
        yield name, (name,), self.unit

    def bounded(self, value: Any) -> Iterator[Any]:
        if self.minimum is not None:
            yield value


def quantity(
    *units: str, minimum: float | None = None, default: Any = 0.0, angle: bool = False
) -> Any:
    return declared(Quantity(units, minimum, angle), default)


@dataclass(frozen=True)
class Vector(Spec):
    """Three numbers along x, y and z; None where they may be left open."""

    unit: str

    def parse(self, value: Any, name: str, context: Context) -> Any:
        return triple(value, f"{context.what}: {name}", self.unit)

    def numbers(self, name: str, item: Any) -> Found:
        return (
            several(name, (name,), XYZ, self.unit) if getattr(item, name) is not None else iter(())
        )


def vector_in(unit: str, default: Any = ORIGIN) -> Any:
    return declared(Vector(unit), default)


@dataclass(frozen=True)
class Moments(Spec):
    """The six entries of an inertia, from the diagonal, from these, or from a matrix."""

    unit: str = "kg m²"

    def parse(self, value: Any, name: str, context: Context) -> Any:
        return six_moments(value, f"{context.what}: {name}")

    def numbers(self, name: str, item: Any) -> Found:
        return several(name, (name,), SIX, self.unit)

    def write(self, name: str, value: Any) -> dict[str, Any]:
        return {name: plain(value[:3] if value[3:] == (0.0, 0.0, 0.0) else value)}


@dataclass(frozen=True)
class PerVelocity(Spec):
    """A number for each degree of freedom of a joint, or one for all of them.

    `unsaid` is what a joint has that does not say; None where there is nothing to make a parameter of. `beside` is the
    field without which it means nothing.
    """

    turning: str
    sliding: str
    minimum: float | None = None
    unsaid: float | None = None
    beside: str = ""
    geared: str = ""  # the unit where the joint has a gear ratio, if it is another one then
    of_coordinates: bool = False  # it makes sense only where velocities are rates of coordinates
    angle: bool = False

    def parse(self, value: Any, name: str, context: Context) -> Any:
        kind, what = context.kind, f"{context.what}: {name}"
        if kind.nv == 0:
            raise ModelError(f"{what} makes no sense: the joint is fixed.")
        if self.of_coordinates and kind.has_quaternion:
            raise ModelError(
                f"{what} needs a joint whose coordinates are angles or lengths; this one is {kind.kind}."
            )
        if is_one(value):
            value = [value] * kind.nv
        entries = counted(value, kind.nv, what)
        units = [
            (self.unit(velocity.unit == "rad/s"), *([self.geared] * bool(self.geared)))
            for velocity in kind.velocities
        ]
        return tuple(number_with_unit(x, what, *own) for x, own in zip(entries, units, strict=True))

    def unit(self, turns: bool, item: Any = None) -> str:
        if self.geared and item is not None and item.gear_ratio is not None:
            return self.geared
        return self.turning if turns else self.sliding

    def numbers(self, name: str, item: Any) -> Found:
        there = not self.beside or getattr(item, self.beside) is not None
        if (
            self.unsaid is None
            or not there
            or (self.of_coordinates and not self.beside and item.kind.has_quaternion)
        ):
            return
        for k, velocity in enumerate(item.kind.velocities):
            unit = self.unit(velocity.unit == "rad/s", item)
            yield f"{name}.{velocity.name}" if velocity.name else name, (name, k), unit

    def bounded(self, value: Any) -> Iterator[Any]:
        yield from (value or ()) if self.minimum is not None else ()

    def write(self, name: str, value: Any) -> dict[str, Any]:
        return {name: plain(alone(value))}


def per_velocity(turning: str, sliding: str, **more: Any) -> Any:
    return declared(PerVelocity(turning, sliding, **more), None)


@dataclass(frozen=True)
class PerCoordinate(Spec):
    """A number for each coordinate of a joint: where it stands at home."""

    angle: bool = True

    def parse(self, value: Any, name: str, context: Context) -> Any:
        return coordinates_of(context.kind, value, f"{context.what}: {name}")

    def write(self, name: str, value: Any) -> dict[str, Any]:
        return {name: plain(alone(value))}


@dataclass(frozen=True)
class Intervals(Spec):
    """A (lower, upper) pair for each coordinate; infinity stands for no limit on that side."""

    angle: bool = True

    def parse(self, value: Any, name: str, context: Context) -> Any:
        kind, what = context.kind, f"{context.what}: {name}"
        if kind.has_quaternion or kind.nq == 0:
            raise ModelError(
                f"{what} need a joint whose coordinates are angles or lengths; this one is {kind.kind}."
            )
        entries = listed(value)
        if entries is None:
            raise ModelError(
                f"{what} need a lower and an upper value; they are {format_value(value)}."
            )
        if not any(listed(pair) is not None for pair in entries):
            entries = [entries]
        pairs = [listed(pair) or [] for pair in entries]
        if len(pairs) != kind.nq or any(len(pair) != 2 for pair in pairs):
            raise ModelError(
                f"{what} need a (lower, upper) pair for each of the {kind.nq} coordinates."
            )
        units = [c.unit for c in kind.coordinates]
        made = tuple(
            tuple(_side(x, what, unit) for x in pair)
            for pair, unit in zip(pairs, units, strict=True)
        )
        if any(lower == np.inf or upper == -np.inf for lower, upper in made):
            raise ModelError(
                f"{what} leave the joint no room; an open side is -inf below, inf above."
            )
        return made

    def write(self, name: str, value: Any) -> dict[str, Any]:
        return {name: plain(alone(value))}


def _side(x: Any, what: str, unit: str) -> Number:
    return float(x) if isinstance(x, float) and np.isinf(x) else number_with_unit(x, what, unit)


# -- places and names -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Placement(Spec):
    """A pose, written as a position `at` and angles `rpy`; from Python also as a 4x4 matrix."""

    @property
    def keys(self) -> tuple[str, ...]:
        return "at", "rpy"

    def in_degrees(self, name: str) -> tuple[str, ...]:
        return ("rpy",)

    def given(self, written: Mapping[str, Any], name: str) -> Any:
        found = {key: written[key] for key in self.keys if written.get(key) is not None}
        return found or None

    def place(self, name: str) -> tuple[str, ...]:
        return ()

    def parse(self, value: Any, name: str, context: Context) -> Any:
        return pose(value.get("at"), context.what, value.get("rpy"))

    def numbers(self, name: str, item: Any) -> Found:
        return pose_numbers(name, (name,))

    def write(self, name: str, value: Any) -> dict[str, Any]:
        return written_pose(value)


@dataclass(frozen=True)
class Side(Spec):
    """One end of a loop or spring: a body, and a frame or a mere point on it."""

    point: bool = False

    def parse(self, value: Any, name: str, context: Context) -> Any:
        what = f"{context.what}: {name}"
        body = text(value["body"], f"{what} body")
        if not self.point:
            return End(body, pose(value.get("at"), what, value.get("rpy")))
        at = value.get("at")
        return End(body, Pose() if at is None else Pose(triple(at, what, "m")))

    def numbers(self, name: str, item: Any) -> Found:
        if self.point:
            return several(name, (name, "at", "position"), XYZ, "m")
        return pose_numbers(name, (name, "at"))

    def write(self, name: str, value: Any) -> dict[str, Any]:
        return {name: {"body": value.body, **written_pose(value.at)}}

    def references(self, value: Any) -> Iterator[tuple[str, str]]:
        yield "body", value.body

    def renamed(self, value: Any, new: NewNames) -> Any:
        return replace(value, body=new["body"].get(value.body, value.body))

    def hung(self, end: End, old: str, body: str, at: Pose) -> End:
        """The same end where what stood on one body stands on a frame of another."""
        if end.body != old:
            return end
        moved = at @ end.at
        return End(body, Pose(moved.position) if self.point else moved)


@dataclass(frozen=True)
class Reference(Spec):
    """The name of another item."""

    of: str  # "body" or "joint"

    def references(self, value: Any) -> Iterator[tuple[str, str]]:
        if value is not None:
            yield self.of, value

    def renamed(self, value: Any, new: NewNames) -> Any:
        return new[self.of].get(value, value)


def reference(of: str, default: Any = MISSING) -> Any:
    return declared(Reference(of), default)


@dataclass(frozen=True)
class Word(Spec):
    """One of a few words."""

    known: tuple[str, ...]

    def parse(self, value: Any, name: str, context: Context) -> Any:
        return choice(value, f"{context.what}: {name}", self.known)


@dataclass(frozen=True)
class Coordinates(Spec):
    """Joints and their coordinates: a configuration."""

    def parse(self, value: Any, name: str, context: Context) -> Any:
        what = context.what
        if not isinstance(value, Mapping):
            raise ModelError(
                f"{what} gives coordinates by joint, as in {{'q1': 0.3}}; it is {format_value(value)}."
            )
        placed = []
        for joint, given in value.items():
            entries = [given] if (several := listed(given)) is None else several
            numbers = tuple(number_with_unit(x, what, *OF_COORDINATES) for x in entries)
            placed.append((text(joint, f"{what}: joint"), numbers))
        return tuple(placed)

    def references(self, value: Any) -> Iterator[tuple[str, str]]:
        yield from (("joint", name) for name, _ in value)

    def renamed(self, value: Any, new: NewNames) -> Any:
        return tuple((new["joint"].get(joint, joint), values) for joint, values in value)

    def write(self, name: str, value: Any) -> dict[str, Any]:
        return {joint: plain(alone(x)) for joint, x in value}


# -- kinds of joints and constraints ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind(Spec):
    """What a joint or a constraint lets through: the name of a kind, its axes and its numbers."""

    joints_only: bool

    @property
    def keys(self) -> tuple[str, ...]:
        return ("kind", "axis", "pitch") if self.joints_only else ("kind", "axis", *NUMBERS)

    def in_degrees(self, name: str) -> tuple[str, ...]:
        return () if self.joints_only else ("angle",)

    def given(self, written: Mapping[str, Any], name: str) -> Any:
        return {key: written[key] for key in self.keys if written.get(key) is not None}

    def place(self, name: str) -> tuple[str, ...]:
        return ()

    def parse(self, value: Any, name: str, context: Context) -> Any:
        """From the values of its keys, those that are written."""
        data, what = {key: value.get(key) for key in self.keys[2:]}, context.what
        if self.joints_only:
            return joint_kind(value.get("kind"), value.get("axis"), data["pitch"], what)
        made = closure_kind(value.get("kind"), {**KINDS, **CLOSURES}, value.get("axis"), data, what)
        if made.dof == 6:
            raise ModelError(
                f"{what}: a free joint closes nothing; take it out or choose another kind."
            )
        return made

    def numbers(self, name: str, item: Any) -> Found:
        kind = getattr(item, name)
        for key in (f.name for f in fields(kind)):
            if not isinstance(getattr(kind, key), tuple):
                yield key, (name, key), KIND_UNITS.get(key, "")
            elif kind.axes_from_parameters:
                yield from several(key if key == "axis" else f"{key}_axis", (name, key), XYZ, "")

    def write(self, name: str, value: Any) -> dict[str, Any]:
        axes = [AXIS_NAMES.get(axis) or plain(axis) for axis in value.axes]
        made: dict[str, Any] = {"kind": value.kind}
        if axes:
            made["axis"] = axes if len(axes) > 1 else axes[0]
        return made | {
            f.name: plain(getattr(value, f.name)) for f in fields(value) if f.name in NUMBERS
        }


# -- looks ------------------------------------------------------------------------------------------------------------

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


@dataclass(frozen=True)
class Form(Spec):
    """The kind of a shape."""

    def parse(self, value: Any, name: str, context: Context) -> Any:
        known_words([value], FORMS, f"{context.what}: there is no kind of shape")
        return value


@dataclass(frozen=True)
class Size(Spec):
    """The lengths of a shape; of a mesh the scale, of which one number serves all directions."""

    always: ClassVar[bool] = True

    def parse(self, value: Any, name: str, context: Context) -> Any:
        kind, what = context.kind, context.what
        meaning, count = FORMS[kind]
        if kind == "mesh" and (value is None or is_one(value)):
            value = [1.0 if value is None else value] * 3
        if value is None:
            raise ModelError(f"{what}: a {kind} needs its size: {meaning}.")
        entries = [value] if (several := listed(value)) is None else several
        if len(entries) != count:
            raise ModelError(
                f"{what}: the size of a {kind} is {meaning}; it was given {format_value(value)}."
            )
        unit = "" if kind == "mesh" else "m"
        return tuple(number_with_unit(x, f"{what}: {name}", unit) for x in entries)

    def write(self, name: str, value: Any) -> dict[str, Any]:
        return {name: plain(alone(value))}


@dataclass(frozen=True)
class Colour(Spec):
    def parse(self, value: Any, name: str, context: Context) -> Any:
        value = COLOURS.get(value.lower(), value) if isinstance(value, str) else value
        if not isinstance(value, str) or (value and not re.fullmatch("#[0-9a-fA-F]{6}", value)):
            known = ", ".join(COLOURS)
            raise ModelError(
                f"{context.what}: the colour is {format_value(value)}; write it as in '#d55e00', or one of {known}."
            )
        return value.lower()


@dataclass(frozen=True)
class MeshFile(Spec):
    """The file that a mesh has, and no other shape."""

    always: ClassVar[bool] = True

    def parse(self, value: Any, name: str, context: Context) -> Any:
        kind, what, value = context.kind, context.what, "" if value is None else value
        if not isinstance(value, str | PurePath) or (not str(value).strip() and kind == "mesh"):
            raise ModelError(f"{what}: a mesh needs the name of its file, as in file='bucket.stl'.")
        if str(value) and kind != "mesh":
            raise ModelError(f"{what}: a {kind} has no file; leave it out, or make the kind mesh.")
        return str(value)


# -- walking and writing ----------------------------------------------------------------------------------------------


def several(label: str, steps: Steps, names: Iterable[str], unit: str) -> Found:
    """Numbers that stand side by side."""
    return ((f"{label}.{name}", (*steps, k), unit) for k, name in enumerate(names))


def pose_numbers(label: str, steps: Steps) -> Found:
    yield from several(label, (*steps, "position"), XYZ, "m")
    yield from several(label, (*steps, "rpy"), ANGLES, "rad")


def written_pose(at: Pose) -> dict[str, Any]:
    parts = {"at": at.position, "rpy": at.rpy}
    return {key: plain(value) for key, value in parts.items() if value != ORIGIN}


def alone(value: Any) -> Any:
    """One number in place of a tuple of one."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def plain(value: Any) -> Any:
    """Lists, numbers and texts, as files hold them."""
    if isinstance(value, tuple):
        return [plain(x) for x in value]
    return str(value) if isinstance(value, ParameterExpression) else value
