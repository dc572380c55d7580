"""What a field of an item can hold: how a person writes it, how it is read and written again, and which numbers it has.

An item declares each of its fields once, in `items.py`:

    mass: Number = quantity("kg", minimum=0.0)
    viscous: Values | None = per_velocity("N m s/rad", "N s/m", minimum=0.0, unsaid=0.0)

The Builder, TOML in and out, free numbers, checks, changes of a model and tables walk these declarations (`schema.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import PurePath
from typing import Any, ClassVar, NamedTuple

import numpy as np

from eslabon.arguments import choice, known_words, text, unmasked
from eslabon.errors import ModelError, ReadError, RotationError, located, shown
from eslabon.model.closures import CLOSURES
from eslabon.model.constraints import ClosureKind
from eslabon.model.joints import KINDS, JointKind
from eslabon.model.numbers_with_units import number_with_unit
from eslabon.model.parameter_expressions import Number, ParameterExpression
from eslabon.model.poses import ORIGIN, End, Pose, Triple, compose
from eslabon.numerics.rigid_motions import check_pose
from eslabon.numerics.rotations import rpy_from_rotation

XYZ, ANGLES, SIX = "xyz", ("roll", "pitch", "yaw"), ("xx", "yy", "zz", "xy", "xz", "yz")
Steps = tuple[str | int, ...]  # the way to a number: names of fields and places in tuples
Found = Iterator[tuple[str, Steps, str]]  # what a number is called in its item, the way to it, its unit
NewNames = Mapping[str, Mapping[str, str]]  # by kind of item, new names for old ones
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
    return field(metadata={SPEC: spec}) if default is MISSING else field(default=default, metadata={SPEC: spec})


# -- numbers ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity(Spec):
    """One number in a unit; None where what it stands for tells it."""

    unit: str | None
    minimum: float | None = None
    angle: bool = False  # whether it may be written in degrees, name_deg

    def parse(self, value: Any, name: str, context: Context) -> Any:
        return number_with_unit(value, f"{context.what}: {name}", self.unit)

    def numbers(self, name: str, item: Any) -> Found:
        yield name, (name,), self.unit or ""

    def bounded(self, value: Any) -> Iterator[Any]:
        if self.minimum is not None:
            yield value


def quantity(unit: str | None, minimum: float | None = None, default: Any = 0.0, angle: bool = False) -> Any:
    return declared(Quantity(unit, minimum, angle), default)


@dataclass(frozen=True)
class Vector(Spec):
    """Three numbers along x, y and z; None where they may be left open."""

    unit: str

    def parse(self, value: Any, name: str, context: Context) -> Any:
        return triple(value, f"{context.what}: {name}", self.unit)

    def numbers(self, name: str, item: Any) -> Found:
        return several(name, (name,), XYZ, self.unit) if getattr(item, name) is not None else iter(())


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
    of_coordinates: bool = False  # it makes sense only where velocities are rates of coordinates
    angle: bool = False

    def parse(self, value: Any, name: str, context: Context) -> Any:
        kind, what = context.kind, f"{context.what}: {name}"
        if kind.nv == 0:
            raise ModelError(f"{what} makes no sense: the joint is fixed.")
        if self.of_coordinates and not kind.plain:
            raise ModelError(f"{what} needs a joint whose coordinates are angles or lengths; this one is {kind.kind}.")
        if is_one(value):
            value = [value] * kind.nv
        entries = counted(value, kind.nv, what)
        units = [self.unit(velocity.unit == "rad/s") for velocity in kind.velocities]
        return tuple(number_with_unit(x, what, unit) for x, unit in zip(entries, units, strict=True))

    def unit(self, turns: bool, item: Any = None) -> str:
        if self.turning == "kg m²" and getattr(item, "gear_ratio", None) is not None:
            return "kg m²"  # of a rotor, whatever the joint does
        return self.turning if turns else self.sliding

    def numbers(self, name: str, item: Any) -> Found:
        there = not self.beside or getattr(item, self.beside) is not None
        if self.unsaid is None or not there or (self.of_coordinates and not self.beside and not item.kind.plain):
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
        if not kind.plain or kind.nq == 0:
            raise ModelError(f"{what} need a joint whose coordinates are angles or lengths; this one is {kind.kind}.")
        entries = listed(value)
        if entries is None:
            raise ModelError(f"{what} need a lower and an upper value; they are {shown(value)}.")
        if not any(listed(pair) is not None for pair in entries):
            entries = [entries]
        pairs = [listed(pair) or [] for pair in entries]
        if len(pairs) != kind.nq or any(len(pair) != 2 for pair in pairs):
            raise ModelError(f"{what} need a (lower, upper) pair for each of the {kind.nq} coordinates.")
        units = [c.unit for c in kind.coordinates]
        made = tuple(tuple(_side(x, what, unit) for x in pair) for pair, unit in zip(pairs, units, strict=True))
        if any(lower == np.inf or upper == -np.inf for lower, upper in made):
            raise ModelError(f"{what} leave the joint no room; an open side is -inf below, inf above.")
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
        return with_angles(written)

    def place(self, name: str) -> tuple[str, ...]:
        return ()

    def parse(self, value: Any, name: str, context: Context) -> Any:
        return pose(value, context.what)

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
            return End(body, pose(with_angles(value), what))
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
        moved = compose(at, end.at)
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
            raise ModelError(f"{what} gives coordinates by joint, as in {{'q1': 0.3}}; it is {shown(value)}.")
        placed = []
        for joint, given in value.items():
            entries = [given] if (several := listed(given)) is None else several
            placed.append((text(joint, f"{what}: joint"), tuple(number_with_unit(x, what, None) for x in entries)))
        return tuple(placed)

    def references(self, value: Any) -> Iterator[tuple[str, str]]:
        yield from (("joint", name) for name, _ in value)

    def renamed(self, value: Any, new: NewNames) -> Any:
        return tuple((new["joint"].get(joint, joint), values) for joint, values in value)

    def write(self, name: str, value: Any) -> dict[str, Any]:
        return {joint: plain(alone(x)) for joint, x in value}


# -- kinds of joints and constraints ----------------------------------------------------------------------------------

KIND_UNITS = {"pitch": "m/rad", "length": "m", "angle": "rad", "offset": "m"}
NUMBERS = {
    "pitch": "its pitch, in metres a radian",
    "length": "its length, in metres",
    "angle": "its angle, in radians",
    "offset": "its offset, in metres",
}
NAMED_AXES: dict[str, Triple] = {
    f"{sign}{letter}": tuple((-1.0 if sign == "-" else 1.0) * (k == i) + 0.0 for k in range(3))  # type: ignore[misc]
    for sign in ("", "+", "-")
    for i, letter in enumerate("xyz")
}
AXIS_NAMES = {axis: letter for letter, axis in reversed(NAMED_AXES.items())}


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
            raise ModelError(f"{what}: a free joint closes nothing; take it out or choose another kind.")
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
        return made | {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.name in NUMBERS}


def joint_kind(kind: Any, axis: Any, pitch: Any, what: str) -> JointKind:
    """A kind of joint from its name, axis and pitch."""
    if isinstance(kind, str) and kind in CLOSURES:
        raise ModelError(f"{what}: {kind} is a constraint and carries no body; make it a loop.")
    return closure_kind(kind, KINDS, axis, {"pitch": pitch}, what)  # type: ignore[return-value]


def closure_kind(
    kind: Any, kinds: Mapping[str, type[ClosureKind]], axis: Any, data: Mapping[str, Any], what: str
) -> ClosureKind:
    """A kind from its name, its axes, and the numbers that kinds may have besides."""
    if isinstance(kind, ClosureKind):
        if axis is not None or any(value is not None for value in data.values()):
            raise ModelError(f"{what}: its kind has its numbers already; leave them out, or give the kind by its name.")
        return kind
    with located("kind"):
        known_words([kind], kinds, f"{what}: there is no joint kind")
    chosen = kinds[kind]
    known = {f.name: f.default for f in fields(chosen)}
    made: dict[str, Any] = {}
    for key, value in data.items():
        with located(key):
            if value is not None and key not in known:
                owners = " or ".join(name for name, other in kinds.items() if key in {f.name for f in fields(other)})
                raise ModelError(f"{what}: a {kind} joint has no {key}; leave it out or make the kind {owners}.")
            if value is None and known.pop(key, None) == 0.0 and key != "offset":
                raise ModelError(f"{what}: a {kind} joint needs {NUMBERS[key]}.")
            known.pop(key, None)
            if value is not None:
                made[key] = number_with_unit(value, f"{what}: {key}", KIND_UNITS[key])
    with located("axis"):
        if axis is not None:
            made.update(zip(known, _axes(axis, kind, len(known), what), strict=True))
        if not chosen.axes_from_parameters and any(isinstance(x, ParameterExpression) for x in made.get("axis", ())):
            raise ModelError(
                f"{what}: the axis of a {kind} joint must be plain numbers, since its plane's directions follow from it."
            )
    return chosen(**made)


def _axes(axis: Any, kind: str, count: int, what: str) -> list[Triple]:
    """As many directions as the kind has axes."""
    if not count:
        raise ModelError(f"{what}: a {kind} joint has no axis; leave it out.")
    if count == 1:
        return [an_axis(axis, what)]
    axes = listed(axis)
    if axes is None or len(axes) != count:
        raise ModelError(f"{what}: a {kind} joint has two axes, as in axis=('z', 'y'); it was given {shown(axis)}.")
    return [an_axis(x, what) for x in axes]


def an_axis(axis: Any, what: str) -> Triple:
    """A direction from a letter or three numbers."""
    if isinstance(axis, str):
        if axis.lower() not in NAMED_AXES:
            raise ModelError(
                f"{what}: the axis {shown(axis)} is not known; write 'x', 'y', 'z', '-x', '-y', '-z' or three numbers."
            )
        return NAMED_AXES[axis.lower()]
    return triple(axis, f"{what}: axis", "")


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
            raise ModelError(f"{what}: the size of a {kind} is {meaning}; it was given {shown(value)}.")
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
                f"{context.what}: the colour is {shown(value)}; write it as in '#d55e00', or one of {known}."
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


# -- reading ----------------------------------------------------------------------------------------------------------


def is_one(value: Any) -> bool:
    """Whether it is a single number, as a person writes it."""
    return isinstance(value, str | int | float | ParameterExpression | np.number)


def listed(values: Any) -> list[Any] | None:
    """The entries of a sequence in their order; None for what is not one."""
    unmasked(values, "one of the values")
    if isinstance(values, str | bytes | bytearray | Mapping | Set):
        return None
    try:
        return list(values)
    except TypeError:
        return None


def counted(values: Any, count: int, what: str) -> list[Any]:
    """So many entries of a sequence, or one where one is wanted."""
    entries = [values] if is_one(values) and count == 1 else listed(values)
    if entries is None:
        raise ModelError(f"{what} needs {count} number{'s' * (count != 1)}; it is {shown(values)}.")
    if len(entries) != count:
        raise ModelError(f"{what} needs {count} number{'s' * (count != 1)} and has {len(entries)}.")
    return entries


def triple(values: Any, what: str, unit: str | None = None) -> Triple:
    """Three numbers."""
    return tuple(number_with_unit(x, what, unit) for x in counted(values, 3, what))  # type: ignore[return-value]


def coordinates_of(kind: JointKind, values: Any, what: str) -> tuple[Number, ...]:
    """A number for each coordinate of a kind of joint."""
    units = [c.unit for c in kind.coordinates]
    return tuple(number_with_unit(x, what, unit) for x, unit in zip(counted(values, kind.nq, what), units, strict=True))


def with_angles(written: Mapping[str, Any]) -> Any:
    """A pose as it is written under `at` and `rpy`."""
    at, rpy = written.get("at"), written.get("rpy")
    if rpy is None:
        return at
    if isinstance(at, list) and len(at) == 4:
        raise ReadError("there is a 4x4 pose and rpy; keep one.")
    return (ORIGIN if at is None else at, rpy)


def pose(at: Any, what: str) -> Pose:
    """A pose from xyz, (xyz, rpy), a 4x4 homogeneous matrix, a Pose, or nothing."""
    if at is None or isinstance(at, Pose):
        return at or Pose()
    entries = listed(at) or []
    rows = [row for row in map(listed, entries) if row is not None]
    if len(rows) == 4 == len(entries) and all(len(row) == 4 for row in rows):
        return _pose_of_matrix(rows, what)
    with located("at"):
        if len(rows) == 2 == len(entries):
            position = triple(rows[0], f"{what}: xyz", "m")
        elif len(entries) == 3 and not rows:
            return Pose(triple(entries, f"{what}: xyz", "m"))
        else:
            raise ModelError(f"{what}: a pose is xyz, (xyz, rpy) or a 4x4 matrix; it was given {shown(at)}.")
    with located("rpy"):
        return Pose(position, triple(rows[1], f"{what}: rpy", "rad"))


def _pose_of_matrix(at: Any, what: str) -> Pose:
    try:
        T = np.array(at, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: a 4x4 pose must be plain numbers; give (xyz, rpy) to use parameters.") from None
    try:
        check_pose(T)
    except RotationError as error:
        raise ModelError(f"{what}: the 4x4 pose: {error}") from None
    return Pose(triple(T[:3, 3], what), triple(rpy_from_rotation(T[:3, :3]), what))


def six_moments(inertia: Any, what: str) -> tuple[Number, ...]:
    """(Ixx, Iyy, Izz, Ixy, Ixz, Iyz) from the diagonal, from those six, or from a symmetric 3x3 matrix."""
    if inertia is None:
        return (0.0,) * 6
    entries = listed(inertia)
    if entries is None:
        raise ModelError(f"{what} needs 3 numbers, 6 numbers or a 3x3 matrix; it is {shown(inertia)}.")
    if len(entries) == 3 and all(listed(row) is not None for row in entries):
        return _moments_of_matrix([triple(row, what, "kg m²") for row in entries], what)
    if len(entries) not in (3, 6):
        raise ModelError(f"{what} needs 3 numbers, 6 numbers or a 3x3 matrix; it has {len(entries)} entries.")
    return tuple(number_with_unit(x, what, "kg m²") for x in entries) + (0.0,) * (6 - len(entries))


def _moments_of_matrix(I: list[Triple], what: str) -> tuple[Number, ...]:
    size = max((abs(x) for row in I for x in row if isinstance(x, float)), default=0.0)
    products = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        upper, lower = I[i][j], I[j][i]
        plain = isinstance(upper, float) and isinstance(lower, float)
        if (plain and abs(upper - lower) > 1e-6 * size) or (not plain and upper != lower):
            raise ModelError(
                f"{what} is not symmetric: entry ({i + 1},{j + 1}) is {upper} and ({j + 1},{i + 1}) is {lower}."
            )
        products.append((upper + lower) / 2 if plain else upper)
    return (I[0][0], I[1][1], I[2][2], *products)


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
