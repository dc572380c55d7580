"""Where the search for a motion begins: the straight way through the points, and ways beside it, slow enough to keep limits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import AssemblyError, EslabonError, SingularityError
from eslabon.formulas.kinematics.tree import placements
from eslabon.model import Model
from eslabon.model.configuration import difference
from eslabon.motion.paths.splines import chords, interpolate
from eslabon.optimize.motion_equations import Instant, mapped
from eslabon.optimize.motion_spline import MotionSpline, SplineBasis
from eslabon.solve.constraints.passive_spins import passive_spins

if TYPE_CHECKING:
    from eslabon.optimize.motion_program import Places, Task

ASIDE = 0.3  # of what a joint travels: how far a way beside the straight one goes from it, about
STILL = 0.3  # of the largest travel: what a joint that hardly moves is taken to travel
TRIES = 6  # where loops do not close on a way, it is tried nearer to the straight one
SLOWER = (1.05, 1.5, 1.05, 2.0)  # times the least duration of the way
DURATIONS = np.geomspace(1e-6, 1e4, 180)  # of the path, seconds
ENDED = 1e-6  # rad or m: how near to its end a motion comes
Pieces = tuple[Floats, ...]
Ends = tuple[Floats, Floats]


class Guess(NamedTuple):
    """A spline, and the coordinates, velocities and accelerations of all joints at the places of each stretch."""

    spline: MotionSpline
    q: Pieces
    v: Pieces
    a: Pieces


def reach(points: Floats) -> Floats:
    """How far each coordinate travels, about: a size for it, never zero."""
    travel = np.ptp(points, axis=0)
    return np.maximum(travel, STILL * travel.max())


def straight(basis: SplineBasis, points: Floats, rests: bool) -> list[Floats]:
    """The coefficients of each stretch of the spline through points, at times apart as they are."""
    u = chords(points)
    way = interpolate(u, points, 5, "clamped" if rests else "free")
    s = np.linspace(0, 1, 6 * basis.count)
    return [basis.fitted(s, way(a + (b - a) * s)) for a, b in pairwise(u)]


def beside(
    basis: SplineBasis, coefficients: list[Floats], size: Floats, rng: np.random.Generator
) -> list[Floats]:
    """The way that goes aside between the points, at random, and meets each with the same velocity and acceleration."""
    s = np.linspace(0, 1, 6 * basis.count)
    bumps = np.stack(
        [np.sin(np.pi * s) ** 3, np.sin(2 * np.pi * s) * np.sin(np.pi * s) ** 2], axis=1
    )
    return [
        c + basis.fitted(s, bumps @ (rng.normal(size=(2, len(size))) * ASIDE * size))
        for c in coefficients
    ]


def guesses(
    task: Task, ends: Ends, places: Sequence[Places], starts: int, rng: np.random.Generator
) -> list[Guess | EslabonError]:
    """So many starts: the straight way, then ways beside it. A way on which the loops do not close, or that comes to another end,
    is tried nearer to the straight one; where that does not help, why."""
    line = straight(task.basis, task.points, task.held > 1)
    made: list[Guess | EslabonError] = []
    for number in range(starts):
        aside = beside(task.basis, line, reach(task.points), rng) if number else line
        made.append(
            _nearest(
                task, line, aside, ends, tuple(p.s for p in places), SLOWER[number % len(SLOWER)]
            )
        )
    return made


def _nearest(
    task: Task, line: list[Floats], aside: list[Floats], ends: Ends, places: Pieces, slower: float
) -> Guess | EslabonError:
    """A way beside the straight one, or one nearer to it, on which the loops close."""
    fractions = np.diff(chords(task.points))
    why = EslabonError()
    for nearer in 0.5 ** np.arange(TRIES if aside is not line else 1):
        way = [c + nearer * (d - c) for c, d in zip(line, aside, strict=True)]
        spline = MotionSpline(
            task.basis, tuple(_held(way, task.points, task.held, task.bounds)), fractions
        )
        try:
            return _timed(task.at, spline, places, ends, task.durations, slower)
        except (AssemblyError, SingularityError) as error:
            why = error
    return why


def another_end(m: Model, q: Floats, end: Floats) -> str | None:
    """That a motion which ends at q does not end where it is to, in a sentence."""
    if (off := _distance(m, q, end)) <= ENDED:
        return None
    return f"it ends {off:.3g} (rad or m) from where it is to end, in another assembly mode."


def _distance(m: Model, q: Floats, end: Floats) -> float:
    """How far two configurations are apart: by their joints, or, where bodies spin as they like, by the poses of the others."""
    spinning = {body for spin in passive_spins(m) for body in spin.bodies}
    if not spinning:
        return float(np.abs(difference(m, q, end)).max())
    one, two = (placements(m, x) for x in (q, end))
    others = [body.name for body in m.bodies if body.name not in spinning]
    apart = [
        np.abs(np.subtract(x, y)).max() for k in others for x, y in zip(one[k], two[k], strict=True)
    ]
    return float(max(apart, default=0.0))


def _held(
    coefficients: list[Floats], points: Floats, held: int, bounds: tuple[Floats, Floats]
) -> list[Floats]:
    """Within the limits of positions, with the ends where they are to be."""
    made = [np.clip(c, *bounds) for c in coefficients]
    for c, a, b in zip(made, points[:-1], points[1:], strict=True):
        c[0], c[-1] = a, b
    made[0][:held], made[-1][-held:] = points[0], points[-1]
    return made


def _timed(
    at: Instant,
    spline: MotionSpline,
    places: Pieces,
    ends: Ends,
    durations: tuple[float, float],
    slower: float,
) -> Guess:
    """The way over a duration that keeps the limits, as far as any does, and its configurations."""
    own = at.driven
    counts = np.cumsum([len(s) for s in places])[:-1]
    x, v, a, jerk = spline.at_places(places)
    q, v, a = own.completed(x, v, a, ends[0])
    if why := another_end(own.m, q[-1], ends[1]):
        raise AssemblyError(why)
    least, most = durations
    if least < most:
        T = DURATIONS[:, None, None] / spline.duration
        same = np.broadcast_to(q, (len(DURATIONS), *q.shape))
        worst = excess(at, same, v / T, a / T**2, jerk / T**3).max(axis=(1, 2), initial=-np.inf)
        keeps = np.flatnonzero(worst <= 0)
        chosen = float(DURATIONS[keeps[0]] if len(keeps) else DURATIONS[np.argmin(worst)])
        least = float(np.clip(slower * chosen, least, most))
    slower = least / spline.duration
    return Guess(
        spline.lasting(least), *(tuple(np.split(y, counts)) for y in (q, v / slower, a / slower**2))
    )


def excess(at: Instant, q: Floats, v: Floats, a: Floats, jerk: Floats) -> Floats:
    """By how much of their scale the rows are out of bounds, (..., rows)."""
    if not at.rows:
        return np.full((*q.shape[:-1], 1), -np.inf)
    tau, condition = mapped(at.forces, q, v, a)
    (values,) = mapped(at.bounded, q, v, a, tau, jerk, condition)
    return np.stack([row.excess(values[..., k]) for k, row in enumerate(at.rows)], axis=-1)
