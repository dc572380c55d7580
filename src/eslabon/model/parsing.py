"""Numbers, poses, axes and kinds of joints from what a person wrote, or a sentence on what is wrong
with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import known_words, refuse_masked
from eslabon.errors import ModelError, RotationError, format_value, located
from eslabon.model.closures import CLOSURES
from eslabon.model.constraints import ClosureKind
from eslabon.model.joints import KINDS, JointKind
from eslabon.model.parameter_expressions import Number, NumberLike, ParameterExpression
from eslabon.model.parameter_units import number_with_unit
from eslabon.model.poses import ORIGIN, Pose, Triple
from eslabon.numerics.rigid_motions import check_pose
from eslabon.numerics.rotations import rpy_from_rotation
from eslabon.numerics.tolerances import INPUT_DIGITS

# What a person may write. A text is an expression of parameters, or a number with its unit.
NumberArray: TypeAlias = NDArray[np.number[Any]]
TripleLike: TypeAlias = Sequence[NumberLike] | NumberArray
# A number, or one for each degree of freedom.
NumbersLike: TypeAlias = NumberLike | Sequence[NumberLike] | NumberArray
# xyz, (xyz, rpy), a 4x4 homogeneous matrix, or a pose.
PoseLike: TypeAlias = Pose | TripleLike | Sequence[TripleLike]
# A letter such as "z" or "-x", or a direction; two of them for a universal joint.
AxisLike: TypeAlias = str | TripleLike | Sequence[str | TripleLike]
# The diagonal, the six entries, or a 3x3 matrix.
MomentsLike: TypeAlias = TripleLike | Sequence[TripleLike]
# (lower, upper), or such a pair for each coordinate.
LimitsLike: TypeAlias = TripleLike | Sequence[TripleLike]

# -- numbers and poses -----------------------------------------------------------------------------


def is_single_number(value: object) -> bool:
    """Whether it is a single number, as a person writes it."""
    return isinstance(value, str | int | float | ParameterExpression | np.number)


def as_list(values: object, what: str) -> list[Any] | None:
    """The entries of a sequence in their order; None for what is not one. `what` is how a sentence
    calls it."""
    refuse_masked(values, what)
    if isinstance(values, str | bytes | bytearray | Mapping | Set):
        return None
    try:
        return list(cast("Iterable[Any]", values))
    except TypeError:
        return None


def require_entries(values: object, count: int, what: str) -> list[Any]:
    """So many entries of a sequence, or one where one is wanted."""
    entries = [values] if is_single_number(values) and count == 1 else as_list(values, what)
    if entries is None:
        raise ModelError(
            f"{what} needs {count} number{'s' * (count != 1)}; it is {format_value(values)}."
        )
    if len(entries) != count:
        raise ModelError(f"{what} needs {count} number{'s' * (count != 1)} and has {len(entries)}.")
    return entries


def triple(values: object, what: str, unit: str) -> Triple:
    """Three numbers."""
    return tuple(number_with_unit(x, what, unit) for x in require_entries(values, 3, what))  # type: ignore[return-value]


def coordinates_of(kind: JointKind, values: object, what: str) -> tuple[Number, ...]:
    """A number for each coordinate of a kind of joint."""
    units = [c.unit for c in kind.coordinates]
    return tuple(
        number_with_unit(x, what, unit)
        for x, unit in zip(require_entries(values, kind.nq, what), units, strict=True)
    )


def pose(at: object, what: str, rpy: object = None) -> Pose:
    """A pose from xyz, (xyz, rpy), a 4x4 homogeneous matrix, a Pose, or nothing; its angles may be
    given apart."""
    if rpy is not None:
        if isinstance(at, Pose) or len(as_list(at, what) or ()) not in (0, 3):
            raise ModelError(f"{what}: rpy stands beside a whole pose; keep one of them.").at("rpy")
        at = (ORIGIN if at is None else at, rpy)
    if at is None or isinstance(at, Pose):
        return at or Pose()
    entries = as_list(at, what) or []
    rows = [row for x in entries if (row := as_list(x, what)) is not None]
    if len(rows) == 4 == len(entries) and all(len(row) == 4 for row in rows):
        with located("at"):
            return _pose_of_matrix(rows, what)
    with located("at"):
        if len(rows) == 2 == len(entries):
            position = triple(rows[0], f"{what}: xyz", "m")
        elif len(entries) == 3 and not rows:
            return Pose(triple(entries, f"{what}: xyz", "m"))
        else:
            raise ModelError(
                f"{what}: a pose is xyz, (xyz, rpy) or a 4x4 matrix; it was given {format_value(at)}."
            )
    with located("rpy"):
        return Pose(position, triple(rows[1], f"{what}: rpy", "rad"))


def _pose_of_matrix(rows: list[list[Any]], what: str) -> Pose:
    try:
        T = np.array(rows, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(
            f"{what}: a 4x4 pose must be plain numbers; give (xyz, rpy) to use parameters."
        ) from None
    try:
        check_pose(T)
    except RotationError as error:
        raise ModelError(f"{what}: the 4x4 pose: {error}") from None
    return Pose(triple(T[:3, 3], what, "m"), triple(rpy_from_rotation(T[:3, :3]), what, "rad"))


def six_moments(inertia: object, what: str) -> tuple[Number, ...]:
    """(Ixx, Iyy, Izz, Ixy, Ixz, Iyz) from the diagonal, from those six, or from a symmetric 3x3
    matrix."""
    if inertia is None:
        return (0.0,) * 6
    entries = as_list(inertia, what)
    if entries is None:
        raise ModelError(
            f"{what} needs 3 numbers, 6 numbers or a 3x3 matrix; it is {format_value(inertia)}."
        )
    if len(entries) == 3 and all(as_list(row, what) is not None for row in entries):
        return _moments_of_matrix([triple(row, what, "kg m²") for row in entries], what)
    if len(entries) not in (3, 6):
        raise ModelError(
            f"{what} needs 3 numbers, 6 numbers or a 3x3 matrix; it has {len(entries)} entries."
        )
    return tuple(number_with_unit(x, what, "kg m²") for x in entries) + (0.0,) * (6 - len(entries))


def _moments_of_matrix(I: list[Triple], what: str) -> tuple[Number, ...]:
    size = max((abs(x) for row in I for x in row if isinstance(x, float)), default=0.0)
    products = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        upper, lower = I[i][j], I[j][i]
        plain = isinstance(upper, float) and isinstance(lower, float)
        if (plain and abs(upper - lower) > INPUT_DIGITS * size) or (not plain and upper != lower):
            raise ModelError(
                f"{what} is not symmetric: entry ({i + 1},{j + 1}) is {upper} and ({j + 1},{i + 1}) is {lower}."
            )
        products.append((upper + lower) / 2 if plain else upper)
    return (I[0][0], I[1][1], I[2][2], *products)


# -- kinds of joints and constraints ---------------------------------------------------------------

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


def joint_kind(kind: object, axis: object, pitch: object, what: str) -> JointKind:
    """A kind of joint from its name, axis and pitch."""
    if isinstance(kind, str) and kind in CLOSURES:
        raise ModelError(f"{what}: {kind} is a constraint and carries no body; make it a loop.").at(
            "kind"
        )
    return closure_kind(kind, KINDS, axis, {"pitch": pitch}, what)  # type: ignore[return-value]


def closure_kind(
    kind: object,
    kinds: Mapping[str, type[ClosureKind]],
    axis: object,
    data: Mapping[str, object],
    what: str,
) -> ClosureKind:
    """A kind from its name, its axes, and the numbers that kinds may have besides."""
    if isinstance(kind, ClosureKind):
        if axis is not None or any(value is not None for value in data.values()):
            raise ModelError(
                f"{what}: its kind has its numbers already; leave them out, or give the kind by its name."
            )
        return kind
    with located("kind"):
        known_words([kind], kinds, f"{what}: there is no joint kind")
    kind = cast("str", kind)
    chosen = kinds[kind]
    known = {f.name: f.default for f in fields(chosen)}
    made: dict[str, Any] = {}
    for key, value in data.items():
        with located(key):
            if value is not None and key not in known:
                owners = " or ".join(
                    name for name, other in kinds.items() if key in {f.name for f in fields(other)}
                )
                raise ModelError(
                    f"{what}: a {kind} joint has no {key}; leave it out or make the kind {owners}."
                )
            if value is None and known.pop(key, None) == 0.0 and key != "offset":
                raise ModelError(f"{what}: a {kind} joint needs {NUMBERS[key]}.")
            known.pop(key, None)
            if value is not None:
                made[key] = number_with_unit(value, f"{what}: {key}", KIND_UNITS[key])
    with located("axis"):
        if axis is not None:
            made.update(zip(known, _axes(axis, kind, len(known), what), strict=True))
        if not chosen.axes_from_parameters and any(
            isinstance(x, ParameterExpression) for x in made.get("axis", ())
        ):
            raise ModelError(
                f"{what}: the axis of a {kind} joint must be plain numbers, since its plane's directions follow from it."
            )
    return chosen(**made)


def _axes(axis: object, kind: str, count: int, what: str) -> list[Triple]:
    """As many directions as the kind has axes."""
    if not count:
        raise ModelError(f"{what}: a {kind} joint has no axis; leave it out.")
    if count == 1:
        return [an_axis(axis, what)]
    axes = as_list(axis, f"{what}: axis")
    if axes is None or len(axes) != count:
        raise ModelError(
            f"{what}: a {kind} joint has two axes, as in axis=('z', 'y'); it was given {format_value(axis)}."
        )
    return [an_axis(x, what) for x in axes]


def an_axis(axis: object, what: str) -> Triple:
    """A direction from a letter or three numbers."""
    if isinstance(axis, str):
        if axis.lower() not in NAMED_AXES:
            raise ModelError(
                f"{what}: the axis {format_value(axis)} is not known; write 'x', 'y', 'z', '-x', '-y', '-z' or three numbers."
            )
        return NAMED_AXES[axis.lower()]
    return triple(axis, f"{what}: axis", "")
