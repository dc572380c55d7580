"""Write a mechanism in code. Every reader ends here too, so a mistake is caught and worded in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import fields
from pathlib import PurePath
from typing import Any, Self

import numpy as np

from eslabon.arguments import choice, known_words, text, unmasked
from eslabon.errors import ModelError, RotationError, shown
from eslabon.model.closures import CLOSURES
from eslabon.model.constraints import ClosureKind
from eslabon.model.items import (
    ORIGIN,
    Body,
    Coupling,
    Description,
    End,
    Frame,
    Joint,
    Loop,
    Mode,
    Pose,
    Shape,
    Spring,
    Triple,
    Wrench,
)
from eslabon.model.joints import KINDS, JointKind
from eslabon.model.model import Model
from eslabon.model.parameter_expressions import Number, ParameterExpression, check_parameter_name, number, parameter
from eslabon.model.validation import check_name
from eslabon.numerics.rigid_motions import check_pose
from eslabon.numerics.rotations import rpy_from_rotation

NAMED_AXES: dict[str, Triple] = {
    f"{sign}{letter}": tuple((-1.0 if sign == "-" else 1.0) * (k == i) + 0.0 for k in range(3))  # type: ignore[misc]
    for sign in ("", "+", "-")
    for i, letter in enumerate("xyz")
}
PoseLike = Any  # xyz, (xyz, rpy), a 4x4 matrix or a Pose
COLOURS = {
    "black": "#000000", "grey": "#808080", "gray": "#808080", "silver": "#c0c0c0", "white": "#ffffff", "red": "#ff0000",
    "orange": "#ffa500", "yellow": "#ffff00", "green": "#008000", "cyan": "#00ffff", "blue": "#0000ff", "navy": "#000080",
    "purple": "#800080", "magenta": "#ff00ff", "pink": "#ffc0cb", "brown": "#a52a2a",
}  # fmt: skip


class Builder:
    """A mechanism in the making.

    >>> import eslabon as es
    >>> b = es.Builder("pendulum", gravity=(0, -9.81, 0))
    >>> L = b.parameter("L", 0.5)
    >>> _ = b.body("rod", mass=1.0, com=(L / 2, 0, 0), inertia=(0, L**2 / 12, L**2 / 12))
    >>> _ = b.joint("q1", "revolute", "ground", "rod", axis="z")
    >>> b.build()
    <Mechanism pendulum: 1 body, 1 joint, 0 loops, 1 actuator>
    """

    def __init__(self, name: str, gravity: Sequence[Any] = (0.0, 0.0, -9.81), note: str = "") -> None:
        self._name, self._note = check_name(name, "mechanism"), text(note, "the note")
        self._gravity = triple(gravity, "gravity")
        self._parameters: dict[str, Number] = {}
        self._items: dict[str, list[Any]] = {
            kind: []
            for kind in ("bodies", "joints", "loops", "couplings", "springs", "wrenches", "frames", "modes", "shapes")
        }
        self._actuated: list[str] | None = None

    def parameter(self, name: str, value: Any) -> ParameterExpression:
        """A named number, or one defined by an expression of others; use what it returns, or its name in text.

        >>> import eslabon as es
        >>> b = es.Builder("rod")
        >>> L = b.parameter("L", 0.5)
        >>> m = b.body("bar", mass=1.0, com=(L / 2, 0, 0)).joint("q", "revolute", "ground", "bar").build()
        >>> m.body("bar").com, m.with_parameters(L=1.0).body("bar").com
        ((0.25, 0.0, 0.0), (0.5, 0.0, 0.0))
        """
        check_parameter_name(name)
        if name in self._parameters:
            raise ModelError(f"parameter '{name}' is given twice; names are unique.")
        self._parameters[name] = number(value, f"parameter '{name}'")
        return parameter(name)

    def body(self, name: str, mass: Any = 0.0, com: Sequence[Any] = ORIGIN, inertia: Any = None) -> Self:
        """A body: `com` in body axes, `inertia` about the centre of mass as 3 numbers (the diagonal), as the 6 entries
        (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) of the matrix, or as a 3x3 matrix. The off-diagonal entries carry their sign:
        Ixy is minus the integral of x y dm. Left out, they are zero: a massless link between two joints is legal.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
        >>> b.joint("q", "revolute", "ground", "bar").build().body("bar").mass
        1.0
        """
        what = _label("body", name)
        mass_, com_ = number(mass, f"{what}: mass"), triple(com, f"{what}: com")
        return self._add("bodies", Body(name, mass_, com_, six_moments(inertia, f"{what}: inertia")))

    def joint(
        self, name: str, kind: str | JointKind, parent: str, child: str, at: PoseLike = None, axis: Any = None,
        *, pitch: Any = None, home: Any = None, limits: Any = None, velocity_limit: Any = None, effort_limit: Any = None,
        viscous: Any = None, coulomb: Any = None, stiffness: Any = None, rest: Any = None,
        motor_inertia: Any = None, gear_ratio: Any = None,
    ) -> Self:  # fmt: skip
        """A joint that carries `child` on `parent`; `at` is the pose of its inner frame on the parent: xyz, (xyz, rpy)
        or a 4x4 matrix. The optional data take one number, or one for each degree of freedom.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0).joint("q", "revolute", "ground", "bar", axis="y", limits=(-1, 1))
        >>> b.build().joint("q").kind
        Revolute(axis=(0.0, 1.0, 0.0))
        """
        what = _label("joint", name)
        made = joint_kind(kind, axis, pitch, what)
        data = {
            "velocity_limit": velocity_limit, "effort_limit": effort_limit, "viscous": viscous, "coulomb": coulomb,
            "stiffness": stiffness, "rest": rest, "motor_inertia": motor_inertia, "gear_ratio": gear_ratio,
        }  # fmt: skip
        return self._add(
            "joints",
            Joint(
                name, made, text(parent, f"{what}: parent"), text(child, f"{what}: child"), pose(at, what),
                home=None if home is None else numbers(home, made.nq, f"{what}: home"),
                limits=_limits(limits, made, what),
                **{key: _per_velocity(value, made, f"{what}: {key}") for key, value in data.items()},
            ),
        )  # fmt: skip

    def loop(
        self, name: str, kind: str | ClosureKind, body_a: str, body_b: str, first: PoseLike = None, second: PoseLike = None,
        axis: Any = None, *, pitch: Any = None, length: Any = None, angle: Any = None, offset: Any = None,
    ) -> Self:  # fmt: skip
        """A cut joint between two bodies, or a constraint that is no joint (`eslabon.model.closures`): `first` is the pose
        of its frame on `body_a`, `second` on `body_b`. `length` belongs to a distance, `angle` to a constant angle,
        `offset` to a point on a plane; they may depend on the time `t`.

        >>> import eslabon as es
        >>> b = es.Builder("rope").body("bar", mass=1.0, com=(1, 0, 0)).joint("q", "revolute", "ground", "bar", home=0.5)
        >>> b.loop("rope", "distance", "ground", "bar", first=(0, 2, 0), second=(2, 0, 0), length=2.2).build().dof
        0
        """
        what = _label("loop", name)
        data = {"pitch": pitch, "length": length, "angle": angle, "offset": offset}
        made = closure_kind(kind, {**KINDS, **CLOSURES}, axis, data, what)
        if made.dof == 6:
            raise ModelError(f"{what}: a free joint closes nothing; take it out or choose another kind.")
        return self._add("loops", Loop(name, made, *_ends(what, pose, (body_a, first), (body_b, second))))

    def couple(self, name: str, joint: str, source: str | None = None, ratio: Any = 1.0, offset: Any = 0.0) -> Self:
        """A gear or mimic: the coordinate of `joint` is `ratio` times that of `source` plus `offset`, which may depend on
        the time `t`; without a source it is `offset`, as `drive` says.

        >>> import eslabon as es
        >>> b = es.Builder("gears").body("big").body("small").joint("a", "revolute", "ground", "big")
        >>> b.joint("b", "revolute", "ground", "small").couple("mesh", "b", "a", ratio=-2.0).build().dof
        1
        """
        what = _label("coupling", name)
        if source is None:
            return self.drive(name, joint, offset)
        joints = (text(x, f"{what}: {key}") for key, x in (("joint", joint), ("source", source)))
        law = (number(x, f"{what}: {key}") for key, x in (("ratio", ratio), ("offset", offset)))
        return self._add("couplings", Coupling(name, *joints, *law))

    def drive(self, name: str, joint: str, motion: Any) -> Self:
        """A driving constraint: the coordinate of `joint` is `motion`, an expression of the time `t` and of parameters.

        >>> import eslabon as es
        >>> b = es.Builder("fan").body("blade", mass=1.0, com=(0.1, 0, 0))
        >>> _ = b.joint("q", "revolute", "ground", "blade").drive("motor", "q", "0.3*sin(2*t)")
        >>> b.build().rheonomic
        True
        """
        what = _label("drive", name)
        return self._add("couplings", Coupling(name, text(joint, f"{what}: joint"), offset=number(motion, what)))

    def spring(
        self, name: str, body_a: str, body_b: str, first: Sequence[Any] = ORIGIN, second: Sequence[Any] = ORIGIN,
        stiffness: Any = 0.0, damping: Any = 0.0, length: Any = 0.0,
    ) -> Self:  # fmt: skip
        """A spring-damper between the point `first` of `body_a` and the point `second` of `body_b`.

        >>> import eslabon as es
        >>> b = es.Builder("swing").body("bar", mass=1.0, com=(0.5, 0, 0)).joint("q", "revolute", "ground", "bar")
        >>> b.spring("s", "ground", "bar", first=(0, 1, 0), second=(1, 0, 0), stiffness=50.0, length=1.0).build().springs[0].stiffness
        50.0
        """
        what = _label("spring", name)
        near, far = _ends(what, lambda at, side: Pose(triple(at, side)), (body_a, first), (body_b, second))
        law = {"stiffness": stiffness, "damping": damping, "length": length}
        return self._add("springs", Spring(name, near, far, **{k: number(x, f"{what}: {k}") for k, x in law.items()}))

    def wrench(
        self, name: str, body: str, force: Sequence[Any] | None = None, moment: Sequence[Any] | None = None,
        at: Sequence[Any] = ORIGIN, axes: str = "ground",
    ) -> Self:  # fmt: skip
        """A constant force and moment on a body at one of its points, in the axes of the ground or of the body.
        With neither force nor moment it is a place for a wrench given later, in the call, by this name.

        >>> import eslabon as es
        >>> b = es.Builder("lift", gravity=(0, 0, 0)).body("load", mass=2.0).joint("d", "prismatic", "ground", "load")
        >>> b.wrench("push", "load", force=(0, 0, 5)).build().inverse_dynamics([0.0], [0.0], [0.0])
        array([-5.])
        """
        what = _label("wrench", name)
        choice(axes, f"{what}: axes", ("ground", "body"))
        push, turn = (
            None if x is None else triple(x, f"{what}: {k}") for x, k in ((force, "force"), (moment, "moment"))
        )
        return self._add(
            "wrenches", Wrench(name, text(body, f"{what}: body"), triple(at, f"{what}: at"), push, turn, axes)
        )

    def frame(self, name: str, body: str, at: PoseLike = None) -> Self:
        """A named frame on a body.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0).joint("q", "revolute", "ground", "bar")
        >>> b.frame("tip", "bar", at=(1.0, 0, 0)).build().pose([0.0], "tip")[:3, 3]
        array([1., 0., 0.])
        """
        what = _label("frame", name)
        return self._add("frames", Frame(name, text(body, f"{what}: body"), pose(at, what)))

    def shape(
        self, name: str, body: str, kind: str, size: Any = None, at: PoseLike = None, colour: str = "", file: str = "",
    ) -> Self:  # fmt: skip
        """What a body, or the ground, looks like in drawings: a "box" of the lengths (x, y, z), a "cylinder" or "capsule" of
        (radius, length) along z, a "sphere" of a radius, or a "mesh" from a `file` (STL, OBJ, DAE, PLY, ...), its size the scale.
        `at` is where its middle, or the origin of the file, stands on the body; `colour` is "#rrggbb", or
        a common name such as "orange".

        >>> import eslabon as es
        >>> b = es.Builder("pendulum").body("rod", mass=1.0).joint("q", "revolute", "ground", "rod", axis="y")
        >>> b.shape("bob", "rod", "sphere", 0.05, at=(0, 0, -0.5), colour="#d55e00").build().shapes[0].size
        (0.05,)
        """
        what = _label("shape", name)
        sizes, looks = _sizes(kind, size, what), _appearance(kind, colour, file, what)
        return self._add("shapes", Shape(name, text(body, f"{what}: body"), kind, sizes, pose(at, what), *looks))

    def mode(self, name: str, coordinates: Mapping[str, Any]) -> Self:
        """A named configuration, joint by joint; `guess=name` starts there. Joints that are left out stand at home.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0).joint("q", "revolute", "ground", "bar")
        >>> b.mode("up", {"q": 1.5}).build().modes["up"]
        array([1.5])
        """
        what = _label("mode", name)
        if not isinstance(coordinates, Mapping):
            raise ModelError(f"{what} gives coordinates by joint, as in {{'q1': 0.3}}; it is {shown(coordinates)}.")
        placed = []
        for joint, values in coordinates.items():
            several = [values] if (entries := listed(values)) is None else entries
            placed.append((text(joint, f"{what}: joint"), tuple(number(x, what) for x in several)))
        return self._add("modes", Mode(name, tuple(placed)))

    def actuate(self, *joints: str) -> Self:
        """The joints that motors drive. Left out, a tree is driven at every moving joint and a closed chain at none;
        called without names, none is driven.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0).joint("q", "revolute", "ground", "bar")
        >>> b.actuate("q").build().actuated
        ('q',)
        """
        for name in joints:
            if not isinstance(name, str):
                raise ModelError(
                    f"actuate takes the names of joints, as in b.actuate('q1', 'q2'); it was given {shown(name)}."
                )
        self._actuated = [*(self._actuated or []), *joints]
        return self

    def describe(self) -> Description:
        """What has been said so far.

        >>> import eslabon as es
        >>> es.Builder("rod").body("bar", mass=1.0).joint("q", "revolute", "ground", "bar").describe().name
        'rod'
        """
        actuated = self._actuated
        if actuated is None:
            closed = self._items["loops"] or self._items["couplings"]
            actuated = [] if closed else [j.name for j in self._items["joints"] if j.nv]
        return Description(
            self._name, self._gravity, tuple(self._parameters.items()), actuated=tuple(actuated), note=self._note,
            **{kind: tuple(items) for kind, items in self._items.items()},
        )  # fmt: skip

    def build(self) -> Model:
        """The finished mechanism, checked."""
        return Model(self.describe()).warn()

    def _add(self, kind: str, item: Any) -> Self:
        self._items[kind].append(item)
        return self


FORMS = {
    "box": ("its lengths along x, y and z", 3),
    "cylinder": ("its radius and its length along z", 2),
    "capsule": ("its radius and its length along z", 2),
    "sphere": ("its radius", 1),
    "mesh": ("its scale along x, y and z", 3),
}


def _sizes(kind: str, size: Any, what: str) -> tuple[Number, ...]:
    """The numbers of a shape; of a mesh one scale serves all directions."""
    known_words([kind], FORMS, f"{what}: there is no kind of shape")
    meaning, count = FORMS[kind]
    if kind == "mesh" and (size is None or isinstance(size, str | int | float | ParameterExpression | np.number)):
        size = [1.0 if size is None else size] * 3
    if size is None:
        raise ModelError(f"{what}: a {kind} needs its size: {meaning}.")
    entries = [size] if (several := listed(size)) is None else several
    if len(entries) != count:
        raise ModelError(f"{what}: the size of a {kind} is {meaning}; it was given {shown(size)}.")
    return numbers(entries, count, f"{what}: size")


def _appearance(kind: str, colour: Any, file: Any, what: str) -> tuple[str, str]:
    """The colour, and the file that a mesh has and no other shape."""
    colour = COLOURS.get(colour.lower(), colour) if isinstance(colour, str) else colour
    if not isinstance(colour, str) or (colour and not re.fullmatch("#[0-9a-fA-F]{6}", colour)):
        known = ", ".join(COLOURS)
        raise ModelError(f"{what}: the colour is {shown(colour)}; write it as in '#d55e00', or one of {known}.")
    if not isinstance(file, str | PurePath) or (not str(file).strip() and kind == "mesh"):
        raise ModelError(f"{what}: a mesh needs the name of its file, as in file='bucket.stl'.")
    if str(file) and kind != "mesh":
        raise ModelError(f"{what}: a {kind} has no file; leave it out, or make the kind mesh.")
    return colour.lower(), str(file)


def _label(what: str, name: Any) -> str:
    """How sentences call an item, if its name is one."""
    return f"{what} '{check_name(name, what)}'"


def _ends(what: str, place: Callable[[Any, str], Pose], *ends: tuple[str, Any]) -> Iterator[End]:
    """The two ends of a loop or spring, each a body and a place on it."""
    for side, (body, at) in zip(("first", "second"), ends, strict=True):
        yield End(text(body, f"{what}: {side} body"), place(at, f"{what}: {side}"))


def listed(values: Any) -> list[Any] | None:
    """The entries of a sequence in their order; None for what is not one."""
    unmasked(values, "one of the values")
    if isinstance(values, str | bytes | bytearray | Mapping | Set):
        return None
    try:
        return list(values)
    except TypeError:
        return None


def joint_kind(kind: str | JointKind, axis: Any, pitch: Any, what: str) -> JointKind:
    """A kind of joint from its name, axis and pitch."""
    if isinstance(kind, str) and kind in CLOSURES:
        raise ModelError(f"{what}: {kind} is a constraint and carries no body; make it a loop.")
    return closure_kind(kind, KINDS, axis, {"pitch": pitch}, what)  # type: ignore[return-value]


NUMBERS = {
    "pitch": "its pitch, in metres a radian",
    "length": "its length, in metres",
    "angle": "its angle, in radians",
    "offset": "its offset, in metres",
}


def closure_kind(
    kind: str | ClosureKind, kinds: Mapping[str, type[ClosureKind]], axis: Any, data: Mapping[str, Any], what: str
) -> ClosureKind:
    """A kind from its name, its axes, and the numbers that kinds may have besides."""
    if isinstance(kind, ClosureKind):
        if axis is not None or any(value is not None for value in data.values()):
            raise ModelError(f"{what}: its kind has its numbers already; leave them out, or give the kind by its name.")
        return kind
    known_words([kind], kinds, f"{what}: there is no joint kind")
    chosen = kinds[kind]
    known = {f.name: f.default for f in fields(chosen)}
    made: dict[str, Any] = {}
    for key, value in data.items():
        if value is not None and key not in known:
            owners = " or ".join(name for name, other in kinds.items() if key in {f.name for f in fields(other)})
            raise ModelError(f"{what}: a {kind} joint has no {key}; leave it out or make the kind {owners}.")
        if value is None and known.pop(key, None) == 0.0 and key != "offset":
            raise ModelError(f"{what}: a {kind} joint needs {NUMBERS[key]}.")
        known.pop(key, None)
        if value is not None:
            made[key] = number(value, f"{what}: {key}")
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
    return triple(axis, f"{what}: axis")


def numbers(values: Any, count: int, what: str) -> tuple[Number, ...]:
    """So many numbers from a sequence, or from one number where one is wanted."""
    if isinstance(values, str | int | float | ParameterExpression | np.number) and count == 1:
        values = [values]
    entries = listed(values)
    if entries is None:
        raise ModelError(f"{what} needs {count} number{'s' * (count != 1)}; it is {shown(values)}.")
    if len(entries) != count:
        raise ModelError(f"{what} needs {count} number{'s' * (count != 1)} and has {len(entries)}.")
    return tuple(number(x, what) for x in entries)


def triple(values: Any, what: str) -> Triple:
    """Three numbers."""
    return numbers(values, 3, what)  # type: ignore[return-value]


def pose(at: PoseLike, what: str) -> Pose:
    """A pose from xyz, (xyz, rpy), a 4x4 homogeneous matrix, a Pose, or nothing."""
    if at is None or isinstance(at, Pose):
        return at or Pose()
    entries = listed(at) or []
    rows = [row for row in map(listed, entries) if row is not None]
    if len(rows) == 4 == len(entries) and all(len(row) == 4 for row in rows):
        return _pose_of_matrix(rows, what)
    if len(rows) == 2 == len(entries):
        return Pose(triple(rows[0], f"{what}: xyz"), triple(rows[1], f"{what}: rpy"))
    if len(entries) == 3 and not rows:
        return Pose(triple(entries, f"{what}: xyz"))
    raise ModelError(f"{what}: a pose is xyz, (xyz, rpy) or a 4x4 matrix; it was given {shown(at)}.")


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
        return _moments_of_matrix([triple(row, what) for row in entries], what)
    if len(entries) not in (3, 6):
        raise ModelError(f"{what} needs 3 numbers, 6 numbers or a 3x3 matrix; it has {len(entries)} entries.")
    return numbers(entries, len(entries), what) + (0.0,) * (6 - len(entries))


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


def _per_velocity(value: Any, kind: JointKind, what: str) -> tuple[Number, ...] | None:
    """One number for each degree of freedom; a single one serves them all."""
    if value is None:
        return None
    if kind.nv == 0:
        raise ModelError(f"{what} makes no sense: the joint is fixed.")
    if what.endswith(("stiffness", "rest")) and not kind.plain:
        raise ModelError(f"{what} needs a joint whose coordinates are angles or lengths; this one is {kind.kind}.")
    if isinstance(value, str | int | float | ParameterExpression | np.number):
        value = [value] * kind.nv
    return numbers(value, kind.nv, what)


def _limits(limits: Any, kind: JointKind, what: str) -> tuple[tuple[Number, Number], ...] | None:
    """A (lower, upper) pair for each coordinate; infinity stands for no limit on that side."""
    if limits is None:
        return None
    what = f"{what}: limits"
    if not kind.plain or kind.nq == 0:
        raise ModelError(f"{what} need a joint whose coordinates are angles or lengths; this one is {kind.kind}.")
    entries = listed(limits)
    if entries is None:
        raise ModelError(f"{what} need a lower and an upper value; they are {shown(limits)}.")
    if not any(listed(pair) is not None for pair in entries):
        entries = [entries]
    pairs = [listed(pair) or [] for pair in entries]
    if len(pairs) != kind.nq or any(len(pair) != 2 for pair in pairs):
        raise ModelError(f"{what} need a (lower, upper) pair for each of the {kind.nq} coordinates.")

    def side(x: Any) -> Number:
        return float(x) if isinstance(x, float) and np.isinf(x) else number(x, what)

    made = tuple((side(lower), side(upper)) for lower, upper in pairs)
    if any(lower == np.inf or upper == -np.inf for lower, upper in made):
        raise ModelError(f"{what} leave the joint no room; an open side is -inf below, inf above.")
    return made
