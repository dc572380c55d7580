"""Targets as users write them: which frame, which part of its pose, how much it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.arguments import finite, positive, text
from eslabon.displays import displayed
from eslabon.errors import InputError, ModelError, RotationError, format_value
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.model import Model
from eslabon.model.parsing import an_axis
from eslabon.model.plane_of_motion import plane_directions
from eslabon.model.scale import characteristic_length
from eslabon.numerics.rotations import quaternion_from_rotation, rotation_from_quaternion
from eslabon.solve.given_poses import checked_poses
from eslabon.solve.targets.parts import (
    ROWS,
    AngleInPlane,
    Axis,
    InPlane,
    Orientation,
    Part,
    Position,
    Rows,
)

Floats = NDArray[np.float64]


@displayed
@dataclass(frozen=True)
class Target:
    """What is asked of a frame; what is left out does not count. All values broadcast over leading axes.

    Parameters
    ----------
    frame : the frame or body; without it the one that verbs take without a name.
    pose : (..., 4, 4); with `rows` only some of "rx", "ry", "rz" (turns about the ground's axes), "x", "y", "z" count.
    position : (..., 3), where the frame's origin is to be.
    orientation : (..., 3, 3) a rotation, or (..., 4) a quaternion (w, x, y, z).
    axis : (..., 3), the direction in the ground that the frame's z-axis is to have; {"x": direction} for another axis.
    planar : (x, y) or (x, y, angle) in the plane of motion, with y against gravity where gravity has a part in it: the
        directions of pictures. Of a mechanism that moves in no plane, the ground's x and y.
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
    weight: float = 1.0

    def __repr__(self) -> str:
        asked = [
            f.name
            for f in fields(self)
            if f.name not in ("frame", "weight") and getattr(self, f.name) is not None
        ]
        return f"Target({', '.join([repr(self.frame), *asked])})"


class Given(NamedTuple):
    """The parts that are asked for, and their values (..., numbers)."""

    parts: tuple[Part, ...]
    values: Floats


def given(m: Model, targets: Sequence[Target]) -> Given:
    """What targets ask for, checked."""
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time, and a target belongs to an instant: ask m.at_time(t), which is the "
            "mechanism with its constraints as they are then."
        )
    parts: list[Part] = []
    values: list[Floats] = []
    for target in targets:
        for part, value in _read(m, target):
            parts.append(part)
            values.append(value)
    if not parts:
        raise ModelError(
            "a target needs a pose, a position, an orientation, an axis or planar coordinates."
        )
    try:
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in values))
    except ValueError:
        told = " and ".join(str(x.shape[:-1]) for x in values)
        raise InputError(f"the leading axes of the targets, {told}, do not fit together.") from None
    return Given(
        tuple(parts),
        np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in values], axis=-1),
    )


def _read(m: Model, target: Target) -> list[tuple[Part, Floats]]:
    if not isinstance(target, Target):
        raise InputError(
            f"a list of targets has es.Target(...) in it; it has {format_value(target)}."
        )
    frame = chosen_frame(m, None if target.frame is None else text(target.frame, "frame"))
    common = frame.name, characteristic_length(m), positive(target.weight, "weight")
    if target.rows is not None and target.pose is None:
        raise ModelError("rows choose what counts of a pose; give pose= too.")
    made: list[tuple[Part, Floats]] = []
    if target.pose is not None:
        T = checked_poses(target.pose)
        R, p = T[..., :3, :3].reshape(*T.shape[:-2], 9), T[..., :3, 3]
        if target.rows is None:
            made += [(Orientation(*common), R), (Position(*common), p)]
        else:
            made.append((Rows(*common, _places(target.rows)), np.concatenate([R, p], axis=-1)))
    if target.position is not None:
        made.append((Position(*common), _numbers(target.position, "position", 3)))
    if target.orientation is not None:
        R = _rotations(target.orientation)
        made.append((Orientation(*common), R.reshape(*R.shape[:-2], 9)))
    if target.axis is not None:
        made += [(Axis(*common, axis), direction) for axis, direction in _axes(target.axis)]
    if target.planar is not None:
        made += _planar(m, common, target.planar)
    return made


def _numbers(x: Any, name: str, count: int) -> Floats:
    made = finite(x, name)
    if made.ndim < 1 or made.shape[-1] != count:
        raise InputError(
            f"{name} is {count} numbers, or a batch (..., {count}); it has shape {made.shape}."
        )
    return made


def _places(rows: Any) -> tuple[int, ...]:
    names = [rows] if isinstance(rows, str) else list(rows) if isinstance(rows, Sequence) else []
    if not names or any(name not in ROWS for name in names) or len(set(names)) != len(names):
        raise InputError(
            f"rows are some of {', '.join(ROWS)}, each once; they are {format_value(rows)}."
        )
    return tuple(sorted(ROWS.index(name) for name in names))


def _rotations(x: Any) -> Floats:
    made = finite(x, "orientation")
    if made.shape[-2:] == (3, 3):
        T = np.zeros((*made.shape[:-2], 4, 4))
        T[..., :3, :3], T[..., 3, 3] = made, 1.0
        return checked_poses(T)[..., :3, :3]
    if made.ndim and made.shape[-1] == 4:
        try:
            return rotation_from_quaternion(
                quaternion_from_rotation(rotation_from_quaternion(made))
            )
        except RotationError as error:
            raise InputError(f"orientation: {error}") from None
    raise InputError(
        f"an orientation is a 3x3 rotation or a quaternion (w, x, y, z); this has shape {made.shape}."
    )


def _axes(axis: Any) -> list[tuple[tuple[float, float, float], Floats]]:
    """The frame's own axes, and the directions they are to have."""
    asked = axis if isinstance(axis, Mapping) else {"z": axis}
    made = []
    for name, direction in asked.items():
        own = np.array(an_axis(name, "axis"), dtype=float)
        d = _numbers(direction, "axis", 3)
        length = np.linalg.norm(d, axis=-1, keepdims=True)
        if not (length > 1e-12).all():
            raise InputError("axis: the direction is zero; give it a length.")
        x, y, z = (own / np.linalg.norm(own)).tolist()
        made.append(((x, y, z), d / length))
    return made


def _planar(m: Model, common: tuple[str, float, float], planar: Any) -> list[tuple[Part, Floats]]:
    x = finite(planar, "planar")
    if not x.ndim or x.shape[-1] not in (2, 3):
        raise InputError(f"planar is (x, y) or (x, y, angle); it has shape {x.shape}.")
    directions = plane_directions(m)
    made: list[tuple[Part, Floats]] = [(InPlane(*common, *directions), x[..., :2])]
    if x.shape[-1] == 3:
        made.append((AngleInPlane(*common, *directions), x[..., 2:]))
    return made
