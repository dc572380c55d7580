"""What an optimal motion keeps within bounds: actuators' forces, positions, velocities, accelerations, jerk, the condition of
the loops, and whatever else is asked for; a row for each number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats, floats, known_words, mapping
from eslabon.errors import InputError, ModelError, format_value
from eslabon.model import Model
from eslabon.model.configuration import (
    coordinate_columns,
    limits,
    values_by_joint,
    velocity_columns,
)

QUANTITIES = FORCE, POSITION, VELOCITY, ACCELERATION, JERK, CONDITION = (
    "force", "position", "velocity", "acceleration", "jerk", "conditioning"
)  # fmt: skip
NEAR = 0.1  # of an ordinary configuration's reciprocal condition number: as near to a singular one as a motion comes


class Row(NamedTuple):
    """One number that is kept within bounds: which component of which quantity."""

    quantity: str
    place: int
    name: str
    unit: str
    lower: float
    upper: float

    @property
    def scale(self) -> float:
        """What of it counts as one: half the width of its range, or the size of its bound."""
        if np.isfinite(self.upper - self.lower):
            return (self.upper - self.lower) / 2
        return max(abs(x) for x in (self.lower, self.upper) if np.isfinite(x)) or 1.0

    @property
    def range(self) -> str:
        """Its bounds in words."""
        if np.isinf(self.lower) or np.isinf(self.upper):
            return (
                f"{self.lower:.6g} at least"
                if np.isinf(self.upper)
                else f"{self.upper:.6g} at most"
            )
        return f"between {self.lower:.6g} and {self.upper:.6g}"

    def excess(self, values: Floats) -> Floats:
        """By how much of its scale values are out of bounds; negative within."""
        return np.maximum(self.lower - values, values - self.upper) / self.scale


@dataclass(frozen=True, eq=False)
class Demand:
    """A traced function of the state, each entry of which is to be within bounds."""

    name: str
    function: Callable[..., Any]
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class Driven:
    """The coordinates that a spline moves: joints with their places among coordinates and velocities."""

    m: Model
    joints: tuple[str, ...]
    coordinates: tuple[int, ...]
    velocities: tuple[int, ...]

    @property
    def passive(self) -> tuple[int, ...]:
        """The places of all other coordinates."""
        return tuple(k for k in range(self.m.nq) if k not in self.coordinates)

    @property
    def dependent(self) -> tuple[int, ...]:
        """The places of all other velocities."""
        return tuple(k for k in range(self.m.nv) if k not in self.velocities)

    @property
    def names(self) -> tuple[str, ...]:
        columns = velocity_columns(self.m)
        return tuple(str(columns[k]) for k in self.velocities)

    def completed(
        self, x: Floats, v: Floats, a: Floats, guess: Floats, continuation: bool = True
    ) -> tuple[Floats, Floats, Floats]:
        """q, v and a of all joints from those of the driven ones: rows of a motion that begins at a configuration, or each near
        a configuration of its own."""
        if not self.m.closed:
            return x, v, a
        from eslabon.solve.assembly import complete

        given = values_by_joint(self.m, self.joints, x)
        q, v, a = complete(
            self.m, given, v, a, guess, continuation=continuation, singular="error", limits=False
        )
        return q, v, a


def driven(m: Model) -> Driven:
    """The joints of the independent velocities, passive spins apart; refused where no actuator moves one, or where they are
    no plain numbers."""
    from eslabon.formulas.motion_state import check_actuation
    from eslabon.solve.constraints.constraint_structure import structure

    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time, which leaves no motion to be chosen there; plan it without its "
            "drives, with those joints actuated."
        )
    places = structure(m).partition.driven
    if not places:
        raise ModelError(f"{m.name} has no degree of freedom that could move.")
    check_actuation(m, structure(m))
    joints = [j for j in m.joints if set(range(m.nv)[m.velocities[j.name]]) & set(places)]
    for j in joints:
        if j.kind.has_quaternion:
            raise ModelError(
                f"joint '{j.name}' of {m.name} turns by a quaternion, of whose numbers no spline is a motion; replace it by "
                "three revolute joints."
            )
    if sum(j.nv for j in joints) != len(places):
        raise ModelError(
            f"the loops of {m.name} leave a part of a joint's motion independent; a spline moves whole joints."
        )
    own = [k for j in joints for k in range(m.nq)[m.coordinates[j.name]]]
    return Driven(m, tuple(j.name for j in joints), tuple(own), tuple(places))


# -- what users give ------------------------------------------------------------------------------------------------------


def by_joint(
    m: Model, given: Any, joints: Sequence[str], what: str, default: str | None = None
) -> Floats:
    """Limits of joints, a number for each of their velocities, infinite where there is none: a number for all, numbers for each,
    or by name; a joint that is not named, or all where nothing is given, have the limits of the description."""
    own = {name: np.full(m.joint(name).nv, np.inf) for name in joints}
    if default is not None:
        own |= {
            name: np.array(x)
            for name in joints
            if (x := getattr(m.joint(name), default)) is not None
        }
    if isinstance(given, Mapping):
        known_words(given, joints, f"{what} limits joints of {m.name}, and not")
        for name, x in given.items():
            own[name] = _limits(x, len(own[name]), f"{what} of '{name}'")
    elif given is not None:
        flat = _limits(given, sum(map(len, own.values())), what)
        for name, x in zip(
            own, np.split(flat, np.cumsum([len(x) for x in own.values()])[:-1]), strict=True
        ):
            own[name] = x
    for name, x in own.items():
        if not (x > 0).all():
            raise ModelError(
                f"joint '{name}' of {m.name} has {what.removesuffix('s').replace('_', ' ')} zero, so that nothing moves it; give "
                f"{what}."
            )
    return np.concatenate([np.zeros(0), *own.values()])


def _limits(given: Any, count: int, what: str) -> Floats:
    """Positive numbers, infinite where there is no limit."""
    x = floats(given, what)
    if x.ndim > 1 or (x.ndim == 1 and len(x) != count):
        raise InputError(f"{what} is a number, or {count} of them; its shape is {x.shape}.")
    if not (x > 0).all():
        raise InputError(
            f"{what} is greater than zero (np.inf is no limit); it is {format_value(given)}."
        )
    return np.broadcast_to(x, (count,)).copy()


def demands(given: Any) -> tuple[Demand, ...]:
    """What is asked for besides, by name: (function of the state, least, most); None is no bound."""
    made = []
    for name, asked in mapping(given, "subject_to").items():
        if name in QUANTITIES:
            raise InputError(
                f"'{name}' of subject_to is the name of a limit that motion knows already; call it otherwise."
            )
        if not isinstance(asked, tuple | list) or len(asked) != 3 or not callable(asked[0]):
            raise InputError(
                f"subject_to['{name}'] is (function of the state, least, most), as in (lambda s: s.q[0], 0.1, None); it is "
                f"{format_value(asked)}."
            )
        sides = zip(asked[1:], (-np.inf, np.inf), strict=True)
        lower, upper = (
            np.atleast_1d(floats(side if x is None else x, f"a bound of '{name}'"))
            for x, side in sides
        )
        if not (lower < upper).all():
            raise InputError(
                f"'{name}' is to be between {format_value(asked[1])} and {format_value(asked[2])}, which leaves no room; between its points "
                "a spline keeps no equation, so give the range a width."
            )
        made.append(Demand(name, asked[0], lower, upper))
    return tuple(made)


# -- rows -----------------------------------------------------------------------------------------------------------------


def limit_rows(
    own: Driven,
    forces: Floats,
    velocities: Floats,
    accelerations: Floats,
    jerks: Floats,
    positions: bool,
) -> list[Row]:
    """A row for each number that has a bound."""
    m = own.m
    columns = velocity_columns(m)
    rates = {k: (str(columns[k]), columns[k].unit) for k in range(m.nv)}
    driven = [(k, rates[place]) for k, place in enumerate(own.velocities)]
    acting = [(k, rates[place]) for k, place in enumerate(m.actuated_velocities)]
    made = [
        Row(FORCE, k, name, {"rad/s": "N m", "m/s": "N"}[unit], -forces[k], forces[k])
        for k, (name, unit) in acting
    ]
    made += [Row(VELOCITY, k, *rates[k], -velocities[k], velocities[k]) for k in range(m.nv)]
    for quantity, power, values in ((ACCELERATION, 2, accelerations), (JERK, 3, jerks)):
        unit_of = {
            unit: f"{unit.removesuffix('/s')}/s{'²³'[power - 2]}" for unit in ("rad/s", "m/s")
        }
        made += [
            Row(quantity, k, name, unit_of[unit], -values[k], values[k])
            for k, (name, unit) in driven
        ]
    if positions:
        lower, upper = limits(m)
        made += [
            Row(POSITION, k, str(c), c.unit, lower[k], upper[k])
            for k, c in enumerate(coordinate_columns(m))
        ]
    if m.closed:
        made.append(Row(CONDITION, 0, "loops", "", NEAR, np.inf))
    return [row for row in made if np.isfinite([row.lower, row.upper]).any()]


def demand_rows(given: Sequence[Demand], counts: Mapping[str, int]) -> list[Row]:
    """The rows of what is asked for besides, of which each function gives so many numbers."""
    made = []
    for demand in given:
        n = counts[demand.name]
        if any(len(x) not in (1, n) for x in (demand.lower, demand.upper)):
            raise InputError(
                f"'{demand.name}' of subject_to gives {n} number{'s' * (n != 1)}; give as many bounds, or one."
            )
        lower, upper = (np.broadcast_to(x, n) for x in (demand.lower, demand.upper))
        names = [demand.name if n == 1 else f"{demand.name}[{k}]" for k in range(n)]
        made += [
            Row(demand.name, k, names[k], "", float(lower[k]), float(upper[k])) for k in range(n)
        ]
    return [row for row in made if np.isfinite([row.lower, row.upper]).any()]
