"""What a map is over: coordinates of a frame's pose and of joints, some fixed, two or three in ranges on a regular grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats, count, finite, known_words, mapping
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import InputError, ModelError, format_value
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.configuration import coordinate_columns, coordinate_names
from eslabon.model.plane_of_motion import plane_directions
from eslabon.numerics.rotations import rpy_from_rotation
from eslabon.solve.assembly.prescription import home
from eslabon.solve.singular.conditions import reachable_twists

POSITION, TURNS = ("x", "y", "z"), ("roll", "pitch", "yaw")
POSE = (*POSITION, "angle", *TURNS)
ROUND_OFF = 1e-12
SHAPES = {2: 200, 3: 40}  # poses along each of so many coordinates, if not said


class Asked(NamedTuple):
    """What is prescribed, in this order: coordinates of a frame's pose by name, and coordinates of joints by place."""

    frame: str
    pose: tuple[str, ...]
    joints: tuple[int, ...]


@dataclass(frozen=True)
class MapGrid:
    """Prescribed values: a number for each coordinate that is fixed, and the centres of equal cells of those in ranges."""

    asked: Asked
    names: tuple[str, ...]  # of all that is prescribed, in its order
    units: tuple[str, ...]
    fixed: tuple[float, ...]  # NaN for those in ranges
    ranges: tuple[tuple[str, float, float], ...]  # in the order they were given in
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def varied(self) -> tuple[int, ...]:
        """Where the coordinates in ranges stand among all."""
        return tuple(self.names.index(name) for name, _, _ in self.ranges)

    @cached_property
    def axes(self) -> tuple[Floats, ...]:
        """The values along each coordinate in a range."""
        pairs = zip(self.ranges, self.shape, strict=True)
        return tuple(
            low + (np.arange(n, dtype=float) + 0.5) * ((high - low) / n)
            for (_, low, high), n in pairs
        )

    @property
    def steps(self) -> tuple[float, ...]:
        """The sides of a cell."""
        return tuple(
            (high - low) / n for (_, low, high), n in zip(self.ranges, self.shape, strict=True)
        )

    def finer(self, times: tuple[int, ...]) -> MapGrid:
        """A grid with so many times the cells; odd times have the centres of these cells among theirs."""
        return replace(self, shape=tuple(n * k for n, k in zip(self.shape, times, strict=True)))

    def values(self, cells: Any) -> Floats:
        """What is prescribed at cells, by their flat places: (k, coordinates)."""
        made = np.empty((len(cells), len(self.names)))
        made[:] = self.fixed
        for axis, place, index in zip(
            self.axes, self.varied, np.unravel_index(cells, self.shape), strict=True
        ):
            made[:, place] = axis[index]
        return made


def map_grid(m: Model, frame: str | None, over: Any, shape: Any, most: int) -> MapGrid:
    """The grid that is asked for, checked."""
    given = mapping(over, "over")
    own = {name: k for k, name in enumerate(coordinate_names(m))}
    chosen = _frame_of(m, frame, given)
    known_words(
        given,
        (*POSE, *own),
        f"over names coordinates of the pose of '{chosen}' or joints of {m.name}, not",
    )
    if "angle" in given and set(given) & set(TURNS):
        raise ModelError("over takes 'angle', in the plane, or roll, pitch and yaw, not both.")
    turning = set(given) & set(TURNS) or (set(given) & set(POSITION) and _only_shifts(m, chosen))
    pose = tuple(name for name in POSE if name in given or (name in TURNS and turning))
    joints = tuple(own[name] for name in given if name not in POSE)
    asked = Asked(chosen, pose, joints)
    names = (*pose, *(name for name in given if name not in POSE))
    _check_joints(m, asked, names[len(pose) :])
    here = values_at(m, asked, home(m))
    here = np.where(np.abs(here) < ROUND_OFF, 0.0, here)
    fixed, ranges = [], {}
    for k, name in enumerate(names):
        low, high = _range(name, given.get(name, here[k]))
        fixed.append(low if low == high else np.nan)
        if low != high:
            ranges[name] = (name, low, high)
    columns = coordinate_columns(m)
    units = tuple(
        "m" if name in POSITION else "rad" if name in POSE else columns[own[name]].unit
        for name in names
    )
    ordered = tuple(ranges[name] for name in given if name in ranges)
    return MapGrid(
        asked, names, units, tuple(fixed), ordered, _shape(shape, [r[0] for r in ordered], most)
    )


def values_at(m: Model, asked: Asked, q: Floats) -> Floats:
    """What configurations (..., nq) give for that which is prescribed."""
    T = np.asarray(evaluate(m, quantity(m, "pose"), frame=asked.frame)(q))
    R, p = T[..., :3, :3], T[..., :3, 3]
    first, second = np.array(plane_directions(m))
    pose = {name: p[..., k] for k, name in enumerate(POSITION)}
    pose["angle"] = np.arctan2((R @ first) @ second, (R @ first) @ first)
    turns = np.asarray(rpy_from_rotation(R)) if TURNS[0] in asked.pose else np.zeros(p.shape)
    pose |= {name: turns[..., k] for k, name in enumerate(TURNS)}
    return np.stack(
        [*(pose[name] for name in asked.pose), *(q[..., k] for k in asked.joints)], axis=-1
    )


def _frame_of(m: Model, frame: str | None, given: Mapping[str, Any]) -> str:
    if not given:
        raise ModelError(
            "over says what the map is over: two or three coordinates in ranges, others fixed, as in "
            'over={"x": (-0.1, 0.1), "y": (-0.1, 0.1), "angle": 0.0}.'
        )
    return chosen_frame(m, frame).name


def _only_shifts(m: Model, frame: str) -> bool:
    """Whether a frame keeps its orientation, as the platform of a delta robot does: then home's is prescribed, too."""
    return reachable_twists(m, frame, "rotation").rank == 0


def _check_joints(m: Model, asked: Asked, names: Sequence[str]) -> None:
    """Quaternions are no coordinates to make a grid of."""
    columns = coordinate_columns(m)
    for name, k in zip(names, asked.joints, strict=True):
        if m.joint(columns[k].joint).kind.has_quaternion:
            raise ModelError(
                f"'{name}' is a component of a quaternion, and no coordinate for a map."
            )


def _range(name: str, value: Any) -> tuple[float, float]:
    """A lower and an upper value, or twice the value that is fixed."""
    try:
        pair = finite(value, f"over['{name}']")
    except InputError:
        pair = np.zeros(0)
    if pair.ndim == 0:
        return float(pair), float(pair)
    if pair.shape != (2,) or not pair[0] < pair[1]:
        raise ModelError(
            f"over['{name}'] is a number, or a lower and a greater upper value; it is {format_value(value)}."
        )
    return float(pair[0]), float(pair[1])


def _shape(shape: Any, names: Sequence[str], most: int) -> tuple[int, ...]:
    if len(names) not in SHAPES:
        told = ", ".join(names) or "none"
        raise ModelError(
            f"a map is over two or three coordinates in ranges; over has {len(names)} ({told})."
        )
    given = SHAPES[len(names)] if shape is None else shape
    each = list(given) if isinstance(given, tuple | list) else [given] * len(names)
    if len(each) != len(names):
        raise InputError(f"shape is how many poses along each of {', '.join(names)}, or one number for all; it is {format_value(shape)}.")  # fmt: skip
    made = tuple(count(n, "shape", 2) for n in each)
    if prod(made) > most:
        raise InputError(
            f"a map of {' x '.join(map(str, made))} poses has {prod(made):,}, more than most={most:,}; take fewer, make maps of parts "
            "of the ranges, or pass a greater most."
        )
    return made
