"""Mechanisms with all lengths times a factor, masses and time kept: what is computed of them scales by its dimension."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from eslabon.model import Model
from eslabon.model.configuration import coordinate_units, velocity_units
from eslabon.model.free_numbers import places, put
from eslabon.model.items import Joint
from eslabon.numerics.units import unit_of

M = TypeVar("M", bound=Model)


def scaled(m: M, factor: float) -> M:
    """The mechanism with every number times the factor to the power that metres have in its unit."""
    d = m.description
    for place in places(m).values():
        power, (section, k, *way) = unit_of(place.unit).dimensions[1], _item(place.steps)
        if section == "gravity" or getattr(getattr(d, section)[k], way[0]) is not None:
            d = put(d, place.steps, place.value * factor**power) if power else d
    joints = {j.name: j for j in d.joints}
    d = replace(
        d,
        joints=tuple(_with_scaled_ranges(j, factor) for j in d.joints),
        couplings=tuple(
            replace(
                c,
                offset=c.offset * _power(joints[c.joint], factor),
                ratio=c.ratio
                if c.source is None
                else c.ratio * (_power(joints[c.joint], factor) / _power(joints[c.source], factor)),
            )
            for c in d.couplings
        ),
        modes=tuple(
            replace(
                mode,
                coordinates=tuple(
                    (name, _coordinates(joints[name], x, factor)) for name, x in mode.coordinates
                ),
            )
            for mode in d.modes
        ),
    )
    return type(m)(d)


def _item(steps: tuple[Any, ...]) -> tuple[Any, ...]:
    return steps if steps[0] != "gravity" else ("gravity", 0, "gravity")


def _power(joint: Joint, factor: float) -> float:
    return factor if joint.kind.coordinates[0].unit == "m" else 1.0


def _coordinates(joint: Joint, x: tuple[Any, ...], factor: float) -> tuple[Any, ...]:
    return tuple(
        y * factor if c.unit == "m" else y for y, c in zip(x, joint.kind.coordinates, strict=True)
    )


def _with_scaled_ranges(joint: Joint, factor: float) -> Joint:
    home, limits = joint.home, joint.limits
    if home is not None:
        home = _coordinates(joint, home, factor)
    if limits is not None:
        lower, upper = (_coordinates(joint, side, factor) for side in zip(*limits, strict=True))
        limits = tuple(zip(lower, upper, strict=True))
    return replace(joint, home=home, limits=limits)


def scaled_coordinates(m: Model, q: np.ndarray, factor: float) -> np.ndarray:
    """A configuration of the scaled mechanism."""
    return q * np.where(np.array(coordinate_units(m)) == "m", factor, 1.0)


def velocity_factors(m: Model, factor: float) -> np.ndarray:
    """By what velocities of the scaled mechanism are larger."""
    return np.where(np.array(velocity_units(m)) == "m/s", factor, 1.0)
