"""What a map is over: coordinates of a frame's pose and of joints. Some have one value, two or three
have ranges, in which poses lie on a regular grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats, count, finite, known_words, mapping
from eslabon.errors import InputError, ModelError, format_value
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.model import Model
from eslabon.model.configuration import coordinate_columns, coordinate_names
from eslabon.model.scale import characteristic_length
from eslabon.numerics.tolerances import ROUND_OFF
from eslabon.solve.prescribed import home
from eslabon.solve.workspace.pose_coordinates import (
    POSE,
    POSITION,
    TURNS,
    constant_turns,
    pose_coordinates_at,
)


@dataclass(frozen=True)
class GridSettings:
    """What is taken where the caller says nothing.

    Attributes
    ----------
    shapes : poses along each coordinate, by the number of coordinates in ranges.
    poses : of a map, at most.
    """

    shapes: tuple[tuple[int, int], ...] = ((2, 200), (3, 40))
    poses: int = 4_000_000


SETTINGS = GridSettings()


@dataclass(frozen=True)
class PrescribedCoordinates:
    """What is prescribed, in this order: coordinates of a frame's pose by name, and coordinates of
    joints by their places in q."""

    frame: str = ""
    pose: tuple[str, ...] = ()
    joints: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        return len(self.pose) + len(self.joints)

    def values(self, m: Model, q: Floats) -> Floats:
        """The values (..., size) that configurations (..., nq) have."""
        pose = pose_coordinates_at(m, self.frame, self.pose, q)
        return np.concatenate([pose, q[..., list(self.joints)]], axis=-1)


@dataclass(frozen=True)
class MapGrid:
    """Prescribed values: one for each coordinate that is fixed, and the centres of equal cells along
    those in ranges."""

    prescribed: PrescribedCoordinates
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
        return tuple(
            low + (np.arange(n, dtype=float) + 0.5) * ((high - low) / n)
            for (_, low, high), n in zip(self.ranges, self.shape, strict=True)
        )

    @property
    def steps(self) -> tuple[float, ...]:
        """The sides of a cell."""
        pairs = zip(self.ranges, self.shape, strict=True)
        return tuple((high - low) / n for (_, low, high), n in pairs)

    def finer(self, times: tuple[int, ...]) -> MapGrid:
        """A grid with so many times the cells. Odd times have the centres of these cells among
        theirs."""
        return replace(self, shape=tuple(n * k for n, k in zip(self.shape, times, strict=True)))

    def values(self, cells: NDArray[np.intp]) -> Floats:
        """What is prescribed at cells, by their flat places: (k, coordinates)."""
        values = np.empty((len(cells), len(self.names)))
        values[:] = self.fixed
        places = np.unravel_index(cells, self.shape)
        for axis, column, place in zip(self.axes, self.varied, places, strict=True):
            values[:, column] = axis[place]
        return values


def map_grid(
    m: Model, frame: str | None, over: Any, shape: Any, most: int = SETTINGS.poses
) -> MapGrid:
    """The grid of what a caller gives as `over` and `shape`, checked."""
    given = mapping(over, "over")
    if not given:
        raise ModelError(
            "over says what the map is over: two or three coordinates in ranges, others fixed, as "
            'in over={"x": (-0.1, 0.1), "y": (-0.1, 0.1), "angle": 0.0}.'
        )
    chosen = chosen_frame(m, frame).name
    prescribed = _prescribed(m, chosen, given)
    names = (*prescribed.pose, *(name for name in given if name not in POSE))
    fixed, ranges = [], {}
    for name, at_home in zip(names, home_values(m, prescribed), strict=True):
        low, high = _range(name, given.get(name, at_home))
        fixed.append(low if low == high else np.nan)
        if low != high:
            ranges[name] = (name, low, high)
    ordered = tuple(ranges[name] for name in given if name in ranges)
    poses = _shape(shape, [name for name, _, _ in ordered], most)
    return MapGrid(prescribed, names, _units(m, prescribed), tuple(fixed), ordered, poses)


def _prescribed(m: Model, frame: str, given: Mapping[str, Any]) -> PrescribedCoordinates:
    """The coordinates that are named, and the turns of the frame that the loops keep constant: with
    these, legs follow from the platform one by one."""
    places = {name: k for k, name in enumerate(coordinate_names(m))}
    what = f"over names coordinates of the pose of '{frame}' or joints of {m.name}, not"
    known_words(given, (*POSE, *places), what)
    if "angle" in given and set(given) & set(TURNS):
        raise ModelError("over takes 'angle', in the plane, or roll, pitch and yaw, not both.")
    named = {name for name in given if name in POSE}
    if named and "angle" not in named:
        named |= set(constant_turns(m, frame))
    joints = tuple(places[name] for name in given if name not in POSE)
    for k in joints:
        column = coordinate_columns(m)[k]
        if m.joint(column.joint).kind.has_quaternion:
            name = coordinate_names(m)[k]
            raise ModelError(
                f"'{name}' is a component of a quaternion, and no coordinate for a map."
            )
    if named & set(TURNS) == {"pitch"}:
        _check_pitch(given["pitch"])
    return PrescribedCoordinates(frame, tuple(x for x in POSE if x in named), joints)


def _check_pitch(value: Any) -> None:
    """Beyond a quarter turn a pitch is the same as one within, with roll and yaw half a turn
    further: it tells nothing alone."""
    if np.abs(_range("pitch", value)).max() > np.pi / 2:
        raise ModelError(
            "a pitch without roll and yaw is between -90 and 90 degrees; "
            f"over['pitch'] is {format_value(value)}. Give roll or yaw too, or stay within."
        )


def home_values(m: Model, prescribed: PrescribedCoordinates) -> Floats:
    """The values at home, without round-off."""
    values = prescribed.values(m, home(m))
    units = _units(m, prescribed)
    sizes = np.where(np.array(units, dtype=str) == "m", characteristic_length(m), 1.0)
    return np.where(np.abs(values) < ROUND_OFF * sizes, 0.0, values)


def _units(m: Model, prescribed: PrescribedCoordinates) -> tuple[str, ...]:
    columns = coordinate_columns(m)
    pose = tuple("m" if name in POSITION else "rad" for name in prescribed.pose)
    return (*pose, *(columns[k].unit for k in prescribed.joints))


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
            f"over['{name}'] is a number, or a lower and a greater upper value; "
            f"it is {format_value(value)}."
        )
    return float(pair[0]), float(pair[1])


def _shape(shape: Any, names: Sequence[str], most: int) -> tuple[int, ...]:
    """The number of poses along each coordinate, checked."""
    usual = dict(SETTINGS.shapes).get(len(names))
    if usual is None:
        listed = ", ".join(names) or "none"
        raise ModelError(
            f"a map is over two or three coordinates in ranges; over has {len(names)} ({listed})."
        )
    given = usual if shape is None else shape
    each = list(given) if isinstance(given, tuple | list) else [given] * len(names)
    if len(each) != len(names):
        raise InputError(
            f"shape is how many poses along each of {', '.join(names)}, or one number for all; "
            f"it is {format_value(shape)}."
        )
    poses = tuple(count(n, "shape", 2) for n in each)
    if prod(poses) > most:
        raise InputError(
            f"a map of {' x '.join(map(str, poses))} poses has {prod(poses):,}, more than "
            f"most={most:,}; take fewer, make maps of parts of the ranges, or pass a greater most."
        )
    return poses
