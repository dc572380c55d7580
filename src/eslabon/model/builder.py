"""Write a mechanism in code. Every reader ends here too, so a mistake is caught and worded in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from eslabon.algebra.rotations import check_rotation, rpy_from_rotation
from eslabon.errors import ModelError, RotationError, suggest
from eslabon.model.expressions import Expression, Number, check_parameter_name, number, parameter
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
    Spring,
    Triple,
    Wrench,
)
from eslabon.model.joints import KINDS, Helical, JointKind, Universal
from eslabon.model.mechanism import Mechanism

NAMED_AXES: dict[str, Triple] = {
    f"{sign}{letter}": tuple((-1.0 if sign == "-" else 1.0) * (k == i) + 0.0 for k in range(3))  # type: ignore[misc]
    for sign in ("", "+", "-")
    for i, letter in enumerate("xyz")
}
PoseLike = Any  # xyz, (xyz, rpy), a 4x4 matrix or a Pose


class Builder:
    """A mechanism in the making.

    >>> from eslabon.model import Builder
    >>> b = Builder("pendulum", gravity=(0, -9.81, 0))
    >>> L = b.parameter("L", 0.5)
    >>> _ = b.body("rod", mass=1.0, com=(L / 2, 0, 0), inertia=(0, L**2 / 12, L**2 / 12))
    >>> _ = b.joint("q1", "revolute", "ground", "rod", axis="z")
    >>> b.build()
    <Mechanism pendulum: 1 body, 1 joint, 0 loops, 1 actuator>
    """

    def __init__(self, name: str, gravity: Sequence[Any] = (0.0, 0.0, -9.81), note: str = "") -> None:
        if not isinstance(name, str) or not name.strip():
            raise ModelError("a mechanism needs a name; give Builder one, as in Builder('four_bar').")
        self._name, self._note = name, note
        self._gravity = triple(gravity, "gravity")
        self._parameters: dict[str, Number] = {}
        self._items: dict[str, list[Any]] = {
            kind: [] for kind in ("bodies", "joints", "loops", "couplings", "springs", "wrenches", "frames", "modes")
        }
        self._actuated: list[str] | None = None

    def parameter(self, name: str, value: Any) -> Expression:
        """A named number, or one defined by an expression of others; use what it returns, or its name in text."""
        check_parameter_name(name)
        if name in self._parameters:
            raise ModelError(f"parameter '{name}' is given twice; names are unique.")
        self._parameters[name] = number(value, f"parameter '{name}'")
        return parameter(name)

    def body(self, name: str, mass: Any = 0.0, com: Sequence[Any] = ORIGIN, inertia: Any = None) -> Self:
        """A body: `com` in body axes, `inertia` about the centre of mass as 3 numbers (the diagonal), as the 6 entries
        (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) of the matrix, or as a 3x3 matrix. The off-diagonal entries carry their sign:
        Ixy is minus the integral of x y dm. Left out, they are zero: a massless link between two joints is legal."""
        what = f"body '{name}'"
        mass_, com_ = number(mass, f"{what}: mass"), triple(com, f"{what}: com")
        return self._add("bodies", Body(name, mass_, com_, six_moments(inertia, f"{what}: inertia")))

    def joint(
        self, name: str, kind: str | JointKind, parent: str, child: str, at: PoseLike = None, axis: Any = None,
        *, pitch: Any = None, home: Any = None, limits: Any = None, velocity_limit: Any = None, effort_limit: Any = None,
        viscous: Any = None, coulomb: Any = None, stiffness: Any = None, rest: Any = None,
        motor_inertia: Any = None, gear_ratio: Any = None,
    ) -> Self:  # fmt: skip
        """A joint that carries `child` on `parent`; `at` is the pose of its inner frame on the parent: xyz, (xyz, rpy)
        or a 4x4 matrix. The optional data take one number, or one for each freedom."""
        what = f"joint '{name}'"
        made = joint_kind(kind, axis, pitch, what)
        data = {
            "velocity_limit": velocity_limit, "effort_limit": effort_limit, "viscous": viscous, "coulomb": coulomb,
            "stiffness": stiffness, "rest": rest, "motor_inertia": motor_inertia, "gear_ratio": gear_ratio,
        }  # fmt: skip
        return self._add(
            "joints",
            Joint(
                name, made, parent, child, pose(at, what),
                home=None if home is None else numbers(home, made.nq, f"{what}: home"),
                limits=_limits(limits, made, what),
                **{key: _per_freedom(value, made, f"{what}: {key}") for key, value in data.items()},
            ),
        )  # fmt: skip

    def loop(
        self, name: str, kind: str | JointKind, body_a: str, body_b: str, first: PoseLike = None, second: PoseLike = None,
        axis: Any = None, *, pitch: Any = None,
    ) -> Self:  # fmt: skip
        """A cut joint between two bodies: `first` is the pose of its frame on `body_a`, `second` on `body_b`."""
        what = f"loop '{name}'"
        ends = (
            End(b, pose(at, f"{what}: {side}"))
            for b, at, side in ((body_a, first, "first"), (body_b, second, "second"))
        )
        made = joint_kind(kind, axis, pitch, what)
        if made.kind == "free":
            raise ModelError(f"{what}: a free joint closes nothing; take it out or choose another kind.")
        return self._add("loops", Loop(name, made, *ends))

    def couple(self, name: str, joint: str, source: str, ratio: Any = 1.0, offset: Any = 0.0) -> Self:
        """A gear or mimic: the coordinate of `joint` is `ratio` times that of `source` plus `offset`."""
        what = f"coupling '{name}'"
        coupling = Coupling(name, joint, source, number(ratio, f"{what}: ratio"), number(offset, f"{what}: offset"))
        return self._add("couplings", coupling)

    def spring(
        self, name: str, body_a: str, body_b: str, first: Sequence[Any] = ORIGIN, second: Sequence[Any] = ORIGIN,
        stiffness: Any = 0.0, damping: Any = 0.0, length: Any = 0.0,
    ) -> Self:  # fmt: skip
        """A spring-damper between the point `first` of `body_a` and the point `second` of `body_b`."""
        what = f"spring '{name}'"
        near, far = (Pose(triple(at, f"{what}: {side}")) for at, side in ((first, "first"), (second, "second")))
        law = {"stiffness": stiffness, "damping": damping, "length": length}
        made = {k: number(x, f"{what}: {k}") for k, x in law.items()}
        return self._add("springs", Spring(name, End(body_a, near), End(body_b, far), **made))

    def wrench(
        self, name: str, body: str, force: Sequence[Any] | None = None, moment: Sequence[Any] | None = None,
        at: Sequence[Any] = ORIGIN, axes: str = "ground",
    ) -> Self:  # fmt: skip
        """A constant force and moment on a body at one of its points, in the axes of the ground or of the body.
        With neither force nor moment it is a place for a wrench given later, in the call, by this name."""
        what = f"wrench '{name}'"
        if axes not in ("ground", "body"):
            raise ModelError(f"{what}: axes is {axes!r}; it is 'ground' or 'body'.")
        push, turn = (
            None if x is None else triple(x, f"{what}: {k}") for x, k in ((force, "force"), (moment, "moment"))
        )
        return self._add("wrenches", Wrench(name, body, triple(at, f"{what}: at"), push, turn, axes))

    def frame(self, name: str, body: str, at: PoseLike = None) -> Self:
        """A named frame on a body."""
        return self._add("frames", Frame(name, body, pose(at, f"frame '{name}'")))

    def mode(self, name: str, postures: Mapping[str, Any]) -> Self:
        """A named posture, joint by joint; `guess=name` starts there. Joints that are left out stand at home."""
        what = f"mode '{name}'"
        if not isinstance(postures, Mapping):
            raise ModelError(f"{what} gives coordinates by joint, as in {{'q1': 0.3}}; it is {postures!r}.")
        placed = tuple(
            (joint, tuple(number(x, what) for x in (x if isinstance(x, Sequence | np.ndarray) and not isinstance(x, str) else [x])))
            for joint, x in postures.items()
        )  # fmt: skip
        return self._add("modes", Mode(name, placed))

    def actuate(self, *joints: str) -> Self:
        """The joints that motors drive. Left out, a tree is driven at every moving joint and a closed chain at none;
        called without names, none is driven."""
        for name in joints:
            if not isinstance(name, str):
                raise ModelError(
                    f"actuate takes the names of joints, as in b.actuate('q1', 'q2'); it was given {name!r}."
                )
        self._actuated = [*(self._actuated or []), *joints]
        return self

    def describe(self) -> Description:
        """What has been said so far."""
        actuated = self._actuated
        if actuated is None:
            closed = self._items["loops"] or self._items["couplings"]
            actuated = [] if closed else [j.name for j in self._items["joints"] if j.nv]
        return Description(
            self._name, self._gravity, tuple(self._parameters.items()), actuated=tuple(actuated), note=self._note,
            **{kind: tuple(items) for kind, items in self._items.items()},
        )  # fmt: skip

    def build(self) -> Mechanism:
        """The finished mechanism, checked."""
        return Mechanism(self.describe()).warn()

    def _add(self, kind: str, item: Any) -> Self:
        if not isinstance(item.name, str) or not item.name.strip():
            raise ModelError(f"one of the {kind} has no name; give it one.")
        self._items[kind].append(item)
        return self


def joint_kind(kind: str | JointKind, axis: Any, pitch: Any, what: str) -> JointKind:
    """A kind from its name, axis and pitch."""
    if isinstance(kind, JointKind):
        return kind
    if kind not in KINDS:
        raise ModelError(f"{what}: there is no joint kind {kind!r}{suggest(str(kind), KINDS)}")
    chosen = KINDS[kind]
    fields: dict[str, Any] = {}
    if chosen is Universal:
        if axis is not None:
            if not isinstance(axis, Sequence | np.ndarray) or isinstance(axis, str) or len(axis) != 2:
                raise ModelError(
                    f"{what}: a universal joint has two axes, as in axis=('z', 'y'); it was given {axis!r}."
                )
            fields = {"first": an_axis(axis[0], what), "second": an_axis(axis[1], what)}
    elif "axis" in chosen.__dataclass_fields__:
        fields = {} if axis is None else {"axis": an_axis(axis, what)}
    elif axis is not None:
        raise ModelError(f"{what}: a {kind} joint has no axis; leave it out.")
    if chosen is Helical:
        if pitch is None:
            raise ModelError(f"{what}: a helical joint needs its pitch, in metres a radian.")
        fields["pitch"] = number(pitch, f"{what}: pitch")
    elif pitch is not None:
        raise ModelError(f"{what}: a {kind} joint has no pitch; leave it out or make the joint helical.")
    made = chosen(**fields)
    if made.kind == "planar" and any(isinstance(x, Expression) for x in made.axes[0]):
        raise ModelError(
            f"{what}: the axis of a planar joint must be plain numbers, since its plane's directions follow from it."
        )
    return made


def an_axis(axis: Any, what: str) -> Triple:
    """A direction from a letter or three numbers."""
    if isinstance(axis, str):
        if axis.lower() not in NAMED_AXES:
            raise ModelError(
                f"{what}: the axis {axis!r} is not known; write 'x', 'y', 'z', '-x', '-y', '-z' or three numbers."
            )
        return NAMED_AXES[axis.lower()]
    return triple(axis, f"{what}: axis")


def numbers(values: Any, count: int, what: str) -> tuple[Number, ...]:
    """So many numbers from a sequence, or from one number where one is wanted."""
    if isinstance(values, str | int | float | Expression | np.number) and count == 1:
        values = [values]
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise ModelError(f"{what} needs {count} number{'s' * (count != 1)}; it is {values!r}.")
    made = tuple(number(x, what) for x in values)
    if len(made) != count:
        raise ModelError(f"{what} needs {count} number{'s' * (count != 1)} and has {len(made)}.")
    return made


def triple(values: Any, what: str) -> Triple:
    """Three numbers."""
    return numbers(values, 3, what)  # type: ignore[return-value]


def pose(at: PoseLike, what: str) -> Pose:
    """A pose from xyz, (xyz, rpy), a 4x4 homogeneous matrix, a Pose, or nothing."""
    if at is None or isinstance(at, Pose):
        return at or Pose()
    forms = "xyz, (xyz, rpy) or a 4x4 matrix"
    if isinstance(at, str) or not isinstance(at, Iterable):
        raise ModelError(f"{what}: a pose is {forms}; it was given {at!r}.")
    rows = list(at)
    if len(rows) == 4 and all(isinstance(r, Iterable) and not isinstance(r, str) and len(list(r)) == 4 for r in rows):
        return _pose_of_matrix(at, what)
    if len(rows) == 2 and all(isinstance(r, Iterable) and not isinstance(r, str) for r in rows):
        return Pose(triple(rows[0], f"{what}: xyz"), triple(rows[1], f"{what}: rpy"))
    if len(rows) == 3 and not any(isinstance(r, list | tuple | np.ndarray) for r in rows):
        return Pose(triple(rows, f"{what}: xyz"))
    raise ModelError(f"{what}: a pose is {forms}; it was given {at!r}.")


def _pose_of_matrix(at: Any, what: str) -> Pose:
    try:
        T = np.array(at, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{what}: a 4x4 pose must be plain numbers; give (xyz, rpy) to use parameters.") from None
    if not np.all(np.isfinite(T)):
        raise ModelError(f"{what}: the 4x4 pose has an entry that is not finite.")
    try:
        R = check_rotation(T[:3, :3])
    except RotationError as error:
        raise ModelError(f"{what}: the 4x4 pose: {error}") from None
    if np.abs(T[3] - (0, 0, 0, 1)).max() > 1e-12:
        raise ModelError(f"{what}: the last row of the 4x4 pose must be 0 0 0 1.")
    return Pose(triple(T[:3, 3], what), triple(rpy_from_rotation(R), what))


def six_moments(inertia: Any, what: str) -> tuple[Number, ...]:
    """(Ixx, Iyy, Izz, Ixy, Ixz, Iyz) from the diagonal, from those six, or from a symmetric 3x3 matrix."""
    if inertia is None:
        return (0.0,) * 6
    if isinstance(inertia, str) or not isinstance(inertia, Iterable):
        raise ModelError(f"{what} needs 3 numbers, 6 numbers or a 3x3 matrix; it is {inertia!r}.")
    rows = list(inertia)
    if len(rows) == 3 and all(isinstance(r, list | tuple | np.ndarray) for r in rows):
        return _moments_of_matrix([triple(r, what) for r in rows], what)
    if len(rows) not in (3, 6):
        raise ModelError(f"{what} needs 3 numbers, 6 numbers or a 3x3 matrix; it has {len(rows)} entries.")
    return numbers(rows, len(rows), what) + (0.0,) * (6 - len(rows))


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


def _per_freedom(value: Any, kind: JointKind, what: str) -> tuple[Number, ...] | None:
    """One number for each freedom; a single one serves them all."""
    if value is None:
        return None
    if kind.nv == 0:
        raise ModelError(f"{what} makes no sense: the joint is fixed.")
    if what.endswith(("stiffness", "rest")) and kind.nq != kind.nv:
        raise ModelError(f"{what} needs a joint whose coordinates are angles or lengths; this one is {kind.kind}.")
    if isinstance(value, str | int | float | Expression | np.number):
        value = [value] * kind.nv
    return numbers(value, kind.nv, what)


def _limits(limits: Any, kind: JointKind, what: str) -> tuple[tuple[Number, Number], ...] | None:
    """A (lower, upper) pair for each coordinate; infinity stands for no limit on that side."""
    if limits is None:
        return None
    what = f"{what}: limits"
    if kind.nq != kind.nv or kind.nq == 0:
        raise ModelError(f"{what} need a joint whose coordinates are angles or lengths; this one is {kind.kind}.")
    if not isinstance(limits, Iterable) or isinstance(limits, str):
        raise ModelError(f"{what} need a lower and an upper value; they are {limits!r}.")
    pairs = list(limits)
    if not any(isinstance(p, list | tuple | np.ndarray) for p in pairs):
        pairs = [pairs]
    if len(pairs) != kind.nq or any(
        not isinstance(p, Iterable) or isinstance(p, str) or len(list(p)) != 2 for p in pairs
    ):
        raise ModelError(f"{what} need a (lower, upper) pair for each of the {kind.nq} coordinates.")

    def side(x: Any) -> Number:
        return float(x) if isinstance(x, float) and np.isinf(x) else number(x, what)

    return tuple((side(lower), side(upper)) for lower, upper in pairs)
