"""Targets as users write them: which frame, which part of its pose, how much it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import Answer
from eslabon.arguments import Floats, finite, floats, positive, text
from eslabon.errors import InputError, ModelError, RotationError, format_value
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.model import Model
from eslabon.model.parsing import an_axis
from eslabon.model.plane_of_motion import plane_directions
from eslabon.numerics.rigid_motions import check_pose
from eslabon.numerics.rotations import quaternion_from_rotation, rotation_from_quaternion
from eslabon.solve.batches import joined
from eslabon.solve.rigid_points import check_rigid_points
from eslabon.solve.rows import (
    EXACT_ROTATION,
    POSE_ROWS,
    AngleInPlane,
    AxisRows,
    InPlane,
    Orientation,
    PointRows,
    PoseRows,
    Position,
    Rows,
    Vector,
)

ONE, LAST_ROW = np.eye(3), np.array([0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True, repr=False)
class Target(Answer):
    """What is prescribed of a frame; what is left out does not count. Values broadcast over leading
    axes.

    Parameters
    ----------
    frame : the frame or body; without it the one that verbs take without a name.
    pose : (..., 4, 4); with `rows` only some of "rx", "ry", "rz" (turns about the ground's axes),
        "x", "y", "z" count.
    position : (..., 3), where the frame's origin is to be.
    orientation : (..., 3, 3) a rotation, or (..., 4) a quaternion (w, x, y, z).
    axis : (..., 3), the direction in the ground that the frame's z-axis is to have; {"x":
        direction} for another axis.
    planar : (x, y) or (x, y, angle) in the plane of motion, with y against gravity where gravity
        has a part in it: the directions of pictures. Of a mechanism that moves in no plane, the
        ground's x and y.
    points, places : points of the frame (k, 3), and where they are to be, (..., k, 3). Two points
        are the line of a tool whose spin does not matter (Rojas, 3.5).
    weight : how much this counts beside other targets, where not all can be reached.

    >>> Target("tip", position=[0.1, 0.2, 0.0])
    Target('tip', position)
    """

    frame: str | None = None
    pose: ArrayLike | None = None
    position: ArrayLike | None = None
    orientation: ArrayLike | None = None
    axis: Any = None
    planar: ArrayLike | None = None
    rows: Sequence[str] | None = None
    points: ArrayLike | None = None
    places: ArrayLike | None = None
    weight: float = 1.0

    def __repr__(self) -> str:
        named = [f.name for f in fields(self) if f.name not in ("frame", "weight")]
        given = [name for name in named if getattr(self, name) is not None]
        return f"Target({', '.join([repr(self.frame), *given])})"

    __str__ = __repr__


def read_targets(m: Model, targets: Sequence[Target]) -> tuple[tuple[Rows, ...], Floats]:
    """The rows that targets prescribe, and their values (..., size), checked."""
    rows: list[Rows] = []
    values: list[Floats] = []
    for target in targets:
        for own, value in _read(m, target):
            rows.append(own)
            values.append(value)
    if not rows:
        raise ModelError(
            "a target needs a pose, a position, an orientation, an axis, planar coordinates or points."
        )
    return tuple(rows), joined(values, "targets")


def _read(m: Model, target: Target) -> list[tuple[Rows, Floats]]:
    if not isinstance(target, Target):
        raise InputError(
            f"a list of targets has es.Target(...) in it; it has {format_value(target)}."
        )
    frame = chosen_frame(m, None if target.frame is None else text(target.frame, "frame"))
    common = frame.name, positive(target.weight, "weight")
    if target.rows is not None and target.pose is None:
        raise ModelError("rows choose what counts of a pose; give pose= too.")
    made: list[tuple[Rows, Floats]] = []
    if target.pose is not None:
        T = checked_poses(target.pose)
        R, p = T[..., :3, :3].reshape(*T.shape[:-2], 9), T[..., :3, 3]
        if target.rows is None:
            made += [(Orientation(*common), R), (Position(*common), p)]
        else:
            chosen = PoseRows(*common, _pose_rows(target.rows))
            made.append((chosen, np.concatenate([R, p], axis=-1)))
    if target.position is not None:
        made.append((Position(*common), _numbers(target.position, "position", 3)))
    if target.orientation is not None:
        R = _rotations(target.orientation)
        made.append((Orientation(*common), R.reshape(*R.shape[:-2], 9)))
    if target.axis is not None:
        made += [(AxisRows(*common, axis), x) for axis, x in _axes(target.axis)]
    if target.planar is not None:
        made += _planar(m, common, target.planar)
    if target.points is not None or target.places is not None:
        made.append(_points(common, target.points, target.places))
    return made


def _numbers(x: Any, name: str, count: int) -> Floats:
    made = finite(x, name)
    if made.ndim < 1 or made.shape[-1] != count:
        raise InputError(
            f"{name} is {count} numbers, or a batch (..., {count}); it has shape {made.shape}."
        )
    return made


def _pose_rows(rows: Any) -> tuple[int, ...]:
    names = [rows] if isinstance(rows, str) else list(rows) if isinstance(rows, Sequence) else []
    if not names or any(name not in POSE_ROWS for name in names) or len(set(names)) != len(names):
        raise InputError(
            f"rows are some of {', '.join(POSE_ROWS)}, each once; they are {format_value(rows)}."
        )
    return tuple(sorted(POSE_ROWS.index(name) for name in names))


def _rotations(x: Any) -> Floats:
    made = finite(x, "orientation")
    if made.shape[-2:] == (3, 3):
        T = np.zeros((*made.shape[:-2], 4, 4))
        T[..., :3, :3], T[..., 3, 3] = made, 1.0
        return checked_poses(T)[..., :3, :3]
    if made.ndim and made.shape[-1] == 4:
        try:
            R = rotation_from_quaternion(made)
            return np.asarray(rotation_from_quaternion(quaternion_from_rotation(R)))
        except RotationError as error:
            raise InputError(f"orientation: {error}") from None
    raise InputError(
        f"an orientation is a 3x3 rotation or a quaternion (w, x, y, z); this has shape {made.shape}."
    )


def _axes(axis: Any) -> list[tuple[Vector, Floats]]:
    """The frame's own axes, and the directions they are to have."""
    given = axis if isinstance(axis, Mapping) else {"z": axis}
    made = []
    for name, direction in given.items():
        own = np.array(an_axis(name, "axis"), dtype=float)
        d = _numbers(direction, "axis", 3)
        length = np.linalg.norm(d, axis=-1, keepdims=True)
        if not (length > 0).all():
            raise InputError("axis: the direction is zero; give it a length.")
        x, y, z = (own / np.linalg.norm(own)).tolist()
        made.append(((x, y, z), d / length))
    return made


def _planar(m: Model, common: tuple[str, float], planar: Any) -> list[tuple[Rows, Floats]]:
    x = finite(planar, "planar")
    if not x.ndim or x.shape[-1] not in (2, 3):
        raise InputError(f"planar is (x, y) or (x, y, angle); it has shape {x.shape}.")
    directions = plane_directions(m)
    made: list[tuple[Rows, Floats]] = [(InPlane(*common, *directions), x[..., :2])]
    if x.shape[-1] == 3:
        made.append((AngleInPlane(*common, *directions), x[..., 2:]))
    return made


def _points(common: tuple[str, float], points: Any, places: Any) -> tuple[Rows, Floats]:
    if points is None or places is None:
        raise ModelError("points of a frame go with the places where they are to be; give both.")
    own = finite(points, "points")
    if own.ndim != 2 or own.shape[1] != 3 or not len(own):
        raise InputError(f"points of a frame are (k, 3) numbers; these have shape {own.shape}.")
    where, count = finite(places, "places"), len(own)
    if where.shape[-2:] != (count, 3):
        raise InputError(
            f"{count} points of the frame need places ({count}, 3), or a batch (..., {count}, 3); these "
            f"have shape {where.shape}."
        )
    check_rigid_points(own, where)
    rows = PointRows(*common, tuple((float(a), float(b), float(c)) for a, b, c in own))
    return rows, where.reshape(*where.shape[:-2], rows.size)


def checked_poses(target: ArrayLike) -> Floats:
    """Poses (..., 4, 4), their rotations made exact where they were given with a few digits."""
    poses = floats(target, "the target")
    if poses.shape[-2:] != (4, 4):
        raise InputError(
            f"a pose is a 4x4 matrix, or a batch (..., 4, 4); this has shape {poses.shape}."
        )
    if _are_exact(poses):
        return poses
    poses = check_pose(poses).copy()
    R = rotation_from_quaternion(quaternion_from_rotation(poses[..., :3, :3]))
    poses[..., :3, :3] = R
    return poses


def _are_exact(poses: Floats) -> bool:
    """Whether the poses are poses to the last digits."""
    R = poses[..., :3, :3]
    with np.errstate(all="ignore"):  # what overflows is no pose
        error = np.abs(R @ np.swapaxes(R, -1, -2) - ONE).max(initial=0.0)
    proper = (
        error < EXACT_ROTATION
        and np.linalg.det(R).min(initial=1.0) > 0
        and np.isfinite(poses[..., :3, 3]).all()
    )
    return bool(proper and (poses[..., 3, :] == LAST_ROW).all())
