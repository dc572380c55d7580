"""What users give for an optimal motion, checked: points, rest, limits, duration; and ends that cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats, finite, positive
from eslabon.errors import AssemblyError, InputError, SingularityError, format_value
from eslabon.model.configuration import limits as position_limits
from eslabon.model.configuration import values_by_joint
from eslabon.optimize.motion_equations import Instant, mapped
from eslabon.optimize.motion_limits import (
    CONDITION,
    FORCE,
    POSITION,
    Driven,
    Row,
    by_joint,
    limit_rows,
)

DEGREES = (4, 5)
SHORTEST, LONGEST = FREE = (1e-7, 1e5)  # seconds, where no duration is given
LEFT = 1e-3  # of a force that holds an end: as much is to be left for moving away
HELD = {True: 3, "velocity": 2, False: 1}


def spline_degree(degree: Any) -> int:
    if (
        isinstance(degree, bool)
        or not isinstance(degree, int | np.integer)
        or degree not in DEGREES
    ):
        raise InputError(
            f"degree is {' or '.join(map(str, DEGREES))}; it is {format_value(degree)}."
        )
    return int(degree)


def held_coefficients(at_rest: Any) -> int:
    """How many coefficients the state at an end determines."""
    if not isinstance(at_rest, bool | str) or at_rest not in HELD:
        raise InputError(f"at_rest is True, False or 'velocity'; it is {format_value(at_rest)}.")
    return HELD[at_rest]


def points_of(own: Driven, start: Any, end: Any, via: Any) -> tuple[Floats, tuple[Floats, Floats]]:
    """The driven coordinates of all points, and all coordinates at both ends."""
    m = own.m
    first = _configuration(own, start, "start", None)
    last = _configuration(own, end, "end", first)
    between = []
    if via is not None:
        rows = np.atleast_2d(finite(via, "via"))
        for k, row in enumerate(rows):
            between.append(_configuration(own, row, f"via point {k + 1}", first))
    points = np.stack([first, *between, last])[:, list(own.coordinates)]
    still = np.flatnonzero(np.abs(np.diff(points, axis=0)).max(axis=1) == 0)
    if len(still):
        raise InputError(
            f"point {still[0] + 1} and point {still[0] + 2} of the motion of {m.name} are the same; there is nothing to move."
        )
    return points, (first, last)


def _configuration(own: Driven, given: Any, what: str, guess: Floats | None) -> Floats:
    """All coordinates of a point, from all of them, from the driven ones, or by the name of a mode."""
    m = own.m
    q = m.configuration(given) if isinstance(given, str) else finite(given, what)
    if q.ndim != 1 or len(q) not in (m.nq, len(own.coordinates)):
        driven = f", or {len(own.coordinates)} of {', '.join(own.joints)}" if m.closed else ""
        raise InputError(
            f"{what} has the shape {q.shape}; {m.name} has {m.nq} coordinates{driven}."
        )
    if not m.closed:
        return q
    from eslabon.numerics.tolerances import ACCEPTED_VIOLATION
    from eslabon.solve.assembly import assemble
    from eslabon.solve.constraints.closed_configurations import residuals_at

    if len(q) == m.nq:
        if not (left := float(np.abs(residuals_at(m, q)).max())) <= ACCEPTED_VIOLATION:
            raise AssemblyError(
                f"{what} violates loop closure of {m.name} by {left:.3g} (rad, or lengths of its size); take it from m.assemble, or give the "
                f"coordinates of {', '.join(own.joints)} alone."
            )
        return q
    try:
        given = values_by_joint(m, own.joints, q)
        found: Floats = assemble(m, given, guess, singular="ignore", limits=False)
    except AssemblyError as error:
        raise AssemblyError(f"{what}: {error}") from None
    return found


def rows_of(
    own: Driven, torque: Any, velocity: Any, acceleration: Any, jerk: Any, positions: bool
) -> list[Row]:
    m = own.m
    every = tuple(j.name for j in m.joints)
    return limit_rows(
        own, by_joint(m, torque, m.actuated, "torque_limits", "effort_limit"),
        by_joint(m, velocity, every, "velocity_limits", "velocity_limit"),
        by_joint(m, acceleration, own.joints, "acceleration_limits"), by_joint(m, jerk, own.joints, "jerk_limits"), positions,
    )  # fmt: skip


def durations_of(
    objective: Any, duration: Any, rows: list[Row], asked: bool
) -> tuple[float, float]:
    """The shortest and the longest duration."""
    if objective == "time":
        if duration is not None:
            raise InputError(
                "the objective 'time' seeks the duration; leave duration out, or give another objective."
            )
        if not asked and not any(row.quantity not in (POSITION, CONDITION) for row in rows):
            raise InputError(
                "without limits of forces, velocities, accelerations or jerk the least time of any motion is zero; give "
                "torque_limits, or joints with an effort_limit."
            )
        return SHORTEST, LONGEST
    if duration is None:
        if callable(objective):
            return SHORTEST, LONGEST
        raise InputError(
            f"the objective {objective!r} gets less and less, or is nowhere least, when the motion may take any time; give "
            "duration=..., in seconds, or its range (shortest, longest)."
        )
    if isinstance(duration, tuple | list) and len(duration) == 2:
        least, most = (positive(x, "duration") for x in duration)
        if not least < most:
            raise InputError(
                f"the duration is between {least:g} and {most:g} s: that is an empty range."
            )
        return least, most
    return (positive(duration, "duration"),) * 2


def position_bounds(own: Driven, rows: list[Row]) -> tuple[Floats, Floats]:
    """The bounds of the driven positions, as far as they count."""
    count = len(own.coordinates)
    if not any(row.quantity == POSITION for row in rows):
        return np.full(count, -np.inf), np.full(count, np.inf)
    lower, upper = position_limits(own.m)
    return lower[list(own.coordinates)], upper[list(own.coordinates)]


def refuse_ends(own: Driven, at: Instant, ends: tuple[Floats, Floats], held: int) -> None:
    """Refuse ends out of limits: beyond a joint's range, too near to singular, or held by more than an actuator gives."""
    m = own.m
    q, still = np.stack(ends), np.zeros((2, m.nv))
    tau, condition = mapped(at.forces, q, still, still)
    (values,) = mapped(
        at.bounded, q, still, still, tau, still[:, : len(own.coordinates)], condition
    )
    for k, row in enumerate(at.rows):
        for which, x in zip(("start", "end"), values[:, k], strict=True):
            if row.excess(x) <= (1e-9 if row.quantity == POSITION else -LEFT):
                continue
            if row.quantity == POSITION:
                raise InputError(
                    f"{which} has '{row.name}' at {x:.6g} {row.unit}, beyond its limits {row.lower:.6g} to {row.upper:.6g}; "
                    "give a point within, or pass limits=False."
                )
            if row.quantity == CONDITION:
                raise SingularityError(
                    f"{which} is too near to a singular configuration of {m.name}; the motion keeps a reciprocal condition "
                    f"number of {row.lower:g} of an ordinary configuration's, and there it is {x:.3g}."
                )
            if row.quantity == FORCE and held == HELD[True]:
                raise InputError(
                    f"{m.name} cannot rest at its {which}: '{row.name}' needs {x:.6g} {row.unit} to hold it, and its limit is "
                    f"{row.upper:.6g} {row.unit}; give it more, or another {which}."
                )
            if held == HELD[True]:
                raise InputError(
                    f"at its {which} the motion has {x:.6g} for '{row.name}', which is to be {row.range}; give another {which}, "
                    "or other bounds."
                )
