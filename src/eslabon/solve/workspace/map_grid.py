"""What a map is over: coordinates of a frame's pose and of joints. Some have one value, two or
three have ranges, in which poses lie on a regular grid."""

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
from eslabon.model.configuration import coordinate_columns, coordinate_names, coordinate_units
from eslabon.model.scale import characteristic_length
from eslabon.numerics.tolerances import ROUND_OFF
from eslabon.solve.coordinate_rows import POSE, POSITION, TURNS
from eslabon.solve.prescribed import home
from eslabon.solve.problem import Problem
from eslabon.solve.workspace.pose_coordinates import constant_turns, coordinate_rows

Names = tuple[str, ...]


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
class MapGrid:
    """Values of a problem: one for each coordinate that is fixed, and the centres of equal cells
    along those in ranges. `frame` is the one that the map looks at, whether its pose is prescribed
    or not."""

    problem: Problem
    frame: str
    names: tuple[str, ...]  # of all that is prescribed, in the order of the problem's values
    units: tuple[str, ...]
    fixed: tuple[float, ...]  # NaN for those in ranges
    ranges: tuple[tuple[str, float, float], ...]  # in the order they were given in
    shape: tuple[int, ...]

    @property
    def pose(self) -> tuple[str, ...]:
        """The coordinates of the frame's pose that are prescribed."""
        return self.names[len(self.problem.held) :]

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
    joints, pose = _prescribed(m, chosen, given)
    rows = (coordinate_rows(m, chosen, pose),) if pose else ()
    problem, names = Problem(joints, rows), (*joints, *pose)
    units = _units(m, joints, pose)
    fixed, ranges = [], {}
    for name, at_home in zip(names, home_values(m, problem, units), strict=True):
        low, high = _range(name, given.get(name, at_home))
        fixed.append(low if low == high else np.nan)
        if low != high:
            ranges[name] = (name, low, high)
    ordered = tuple(ranges[name] for name in given if name in ranges)
    poses = _shape(shape, [name for name, _, _ in ordered], most)
    return MapGrid(problem, chosen, names, units, tuple(fixed), ordered, poses)


def _prescribed(m: Model, frame: str, given: Mapping[str, Any]) -> tuple[Names, Names]:
    """The coordinates of joints that are named, and those of the frame's pose, with the turns that
    the loops keep constant: with these, legs follow from the platform one by one."""
    places = {name: k for k, name in enumerate(coordinate_names(m))}
    what = f"over names coordinates of the pose of '{frame}' or joints of {m.name}, not"
    known_words(given, (*POSE, *places), what)
    if "angle" in given and set(given) & set(TURNS):
        raise ModelError("over takes 'angle', in the plane, or roll, pitch and yaw, not both.")
    named = {name for name in given if name in POSE}
    if named and "angle" not in named:
        named |= set(constant_turns(m, frame))
    joints = tuple(name for name in given if name not in POSE)
    for name in joints:
        if m.joint(coordinate_columns(m)[places[name]].joint).kind.has_quaternion:
            raise ModelError(
                f"'{name}' is a component of a quaternion, and no coordinate for a map."
            )
    if named & set(TURNS) == {"pitch"}:
        _check_pitch(given["pitch"])
    return joints, tuple(x for x in POSE if x in named)


def _check_pitch(value: Any) -> None:
    """Beyond a quarter turn a pitch is the same as one within, with roll and yaw half a turn
    further: it tells nothing alone."""
    if np.abs(_range("pitch", value)).max() > np.pi / 2:
        raise ModelError(
            "a pitch without roll and yaw is between -90 and 90 degrees; "
            f"over['pitch'] is {format_value(value)}. Give roll or yaw too, or stay within."
        )


def home_values(m: Model, problem: Problem, units: Names) -> Floats:
    """The values at home, without round-off."""
    values = problem.values(m, home(m))
    sizes = np.where(np.array(units, dtype=str) == "m", characteristic_length(m), 1.0)
    return np.where(np.abs(values) < ROUND_OFF * sizes, 0.0, values)


def _units(m: Model, joints: Names, pose: Names) -> Names:
    units = dict(zip(coordinate_names(m), coordinate_units(m), strict=True))
    return (*(units[name] for name in joints), *("m" if x in POSITION else "rad" for x in pose))


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
