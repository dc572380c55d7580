"""Optimal motion: arguments in, the program solved from several starts, limits refined until they hold in between, a motion out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, count, finite, flag, positive
from eslabon.errors import AssemblyError, InputError, OptimizationError, SingularityError, shown
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import limits as position_limits
from eslabon.optimize.motion_equations import Instant, instant, mapped, objective_of
from eslabon.optimize.motion_limits import (
    CONDITION,
    FORCE,
    POSITION,
    Driven,
    Row,
    by_joint,
    demands,
    driven,
    limit_rows,
)
from eslabon.optimize.motion_program import Places, Task
from eslabon.optimize.motion_spline import MotionSpline, SplineBasis
from eslabon.optimize.motion_starts import Guess, guesses
from eslabon.optimize.motion_verification import Seen, checks, finer, seen, unconfirmed
from eslabon.optimize.nonlinear_program import Start, Starts
from eslabon.optimize.optimal_motion import OptimalMotion

DEGREES = (4, 5)
SHORTEST, LONGEST = 1e-4, 1e4  # seconds, where no duration is given
DRAWN_IN = 1e-3  # of a limit: by how much it is tightened in the program, so that what is found is within
ROUNDS = 12  # searches with limits at more and more instants
PATIENT = 3  # rounds, until limits are tightened further in each
SLOWED = 3e-3  # of a limit: what is in excess by less is taken off by a slower motion, if its duration is free
AT_ONCE = 40  # instants of a stretch that a round adds
TOLERANCE = 1e-6  # of IPOPT
HELD = {True: 3, "velocity": 2, False: 1}
UNITS = {"time": "s", "energy": "J"}


def motion(
    m: Mechanism, start: ArrayLike | str, end: ArrayLike | str, objective: Any = "time", *,
    duration: Any = None, via: Any = None, at_rest: bool | str = True, torque_limits: Any = None, velocity_limits: Any = None,
    acceleration_limits: Any = None, jerk_limits: Any = None, limits: bool = True, subject_to: Any = None,
    knots: int = 12, degree: int = 5, starts: int = 4, iterations: int = 500, seed: int = 0, progress: bool | None = None,
) -> OptimalMotion:  # fmt: skip
    """The motion from a configuration to another that is best by an objective and keeps limits, as an `OptimalMotion`.

    The driven coordinates are B-splines in time, whose coefficients and duration IPOPT seeks with exact derivatives, from several
    starts. Forces are those of inverse dynamics; with loops the passive joints follow, on the branch of the start and away
    from singular configurations. Limits that a motion breaks between the instants that were looked at are asked for at more of
    them, until it keeps all on a grid ten times as fine; then forces are confirmed by another formulation.

    Parameters
    ----------
    m : the mechanism; actuators drive each of its degrees of freedom.
    start, end : configurations of all joints, those of the driven joints alone, or names of modes.
    objective : "time", "energy" (the integral of sum |tau v|), "effort" (of sum tau²), "jerk" (of the sum of squares of the driven
        joints' jerk), or a function of q, v, a and tau, called with symbols, whose integral over the time is to be least.
    duration : how long the motion takes, or its range (shortest, longest); needed unless the objective is "time" or a function.
    via : configurations to pass in between, in their order, (n,) or (k, n); when is a part of what is sought.
    at_rest : whether velocities and accelerations are zero at both ends; "velocity" leaves the accelerations free, and False both.
    torque_limits, velocity_limits : greatest forces of the actuators and velocities of joints: a number, numbers, or by joint;
        left out, the joints' effort_limit and velocity_limit. np.inf is no limit.
    acceleration_limits, jerk_limits : those of the driven joints, likewise; left out, none.
    limits : whether positions keep the limits of joints.
    subject_to : what is to be kept besides, by name: (function of q, v, a and tau, least, most).
    knots, degree : intervals of the spline of each stretch between two points, and its degree: 5 (smooth to the fourth
        derivative) or 4.
    starts, seed : how many starts, the first of which is the straight way, and the random numbers of the others.
    iterations : of IPOPT at most, from each start.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> found = es.optimize.motion(m, [2.0, 1.0], [1.4, 1.2], torque_limits=0.005, starts=2)
    >>> found.checks.margin >= 0, bool(abs(m.constraint(found.q)).max() < 1e-9)
    (True, True)
    """
    own, sought = driven(m), objective_of(objective)
    points, ends = _points(own, start, end, via)
    held = _held(at_rest)
    rows = _rows(own, torque_limits, velocity_limits, acceleration_limits, jerk_limits, flag(limits, "limits"))
    span = _durations(sought, duration, rows, bool(subject_to))
    wanted = demands(subject_to)
    at = instant(own, rows, wanted, sought)
    _refuse_ends(own, at, ends, held)
    basis = SplineBasis(count(knots, "knots", 4), _degree(degree))
    task = Task(_title(m, sought), at, basis, points, held, _bounds(own, rows), span, sought)
    places = (Places(*basis.quadrature()),) * task.stretches
    rng = np.random.default_rng(count(seed, "seed"))
    begun = list(
        guesses(at, basis, points, ends[0], tuple(p.s for p in places), held, task.bounds, span, count(starts, "starts", 1), rng)
    )  # fmt: skip
    if not begun:
        raise _no_way(m)
    if sought == "energy":
        task = replace(task, at=instant(own, rows, wanted, sought, _sizes(task, begun[0])[0]))
    found = _searched(m, task, places, begun, ends, count(iterations, "iterations", 1), progress)
    return _result(m, task, found)


# -- arguments --------------------------------------------------------------------------------------------------------------


def _title(m: Mechanism, objective: str | Callable[..., Any]) -> str:
    return f"motion of {m.name} of least {_word(objective)}"


def _word(objective: str | Callable[..., Any]) -> str:
    return objective if isinstance(objective, str) else "objective"


def _degree(degree: Any) -> int:
    if degree not in DEGREES or isinstance(degree, bool):
        raise InputError(f"degree is {' or '.join(map(str, DEGREES))}; it is {shown(degree)}.")
    return int(degree)


def _held(at_rest: Any) -> int:
    """How many coefficients the state at an end determines."""
    if not isinstance(at_rest, bool | str) or at_rest not in HELD:
        raise InputError(f"at_rest is True, False or 'velocity'; it is {shown(at_rest)}.")
    return HELD[at_rest]


def _points(own: Driven, start: Any, end: Any, via: Any) -> tuple[Floats, tuple[Floats, Floats]]:
    """The driven coordinates of all points, and all coordinates at both ends."""
    m = own.m
    first = _configuration(own, start, "start", None)
    last = _configuration(own, end, "end", first)
    between = []
    if via is not None:
        rows = finite(via, "via")
        for k, row in enumerate(rows[None] if rows.ndim == 1 else rows):
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
        raise InputError(f"{what} has the shape {q.shape}; {m.name} has {m.nq} coordinates{driven}.")
    if not m.closed:
        return q
    from eslabon.coordinates.closing import residuals_at
    from eslabon.coordinates.partition import CLOSURE_TOLERANCE
    from eslabon.solvers.assembly import assemble

    if len(q) == m.nq:
        if not (left := float(np.abs(residuals_at(m, q)).max())) <= CLOSURE_TOLERANCE:
            raise AssemblyError(
                f"{what} violates loop closure of {m.name} by {left:.3g} (m or rad); take it from m.assemble, or give the "
                f"coordinates of {', '.join(own.joints)} alone."
            )
        return q
    try:
        found: Floats = assemble(m, q, guess, joints=own.joints, singular="ignore", limits=False)
    except AssemblyError as error:
        raise AssemblyError(f"{what}: {error}") from None
    return found


def _rows(own: Driven, torque: Any, velocity: Any, acceleration: Any, jerk: Any, positions: bool) -> list[Row]:
    m = own.m
    every = tuple(j.name for j in m.joints)
    return limit_rows(
        own, by_joint(m, torque, m.actuated, "torque_limits", "effort_limit"),
        by_joint(m, velocity, every, "velocity_limits", "velocity_limit"),
        by_joint(m, acceleration, own.joints, "acceleration_limits"), by_joint(m, jerk, own.joints, "jerk_limits"), positions,
    )  # fmt: skip


def _durations(objective: Any, duration: Any, rows: list[Row], asked: bool) -> tuple[float, float]:
    """The shortest and the longest duration."""
    if objective == "time":
        if duration is not None:
            raise InputError("the objective 'time' seeks the duration; leave duration out, or give another objective.")
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
            raise InputError(f"the duration is between {least:g} and {most:g} s: that is an empty range.")
        return least, most
    return (positive(duration, "duration"),) * 2


def _bounds(own: Driven, rows: list[Row]) -> tuple[Floats, Floats]:
    """The bounds of the driven positions, as far as they count."""
    count = len(own.coordinates)
    if not any(row.quantity == POSITION for row in rows):
        return np.full(count, -np.inf), np.full(count, np.inf)
    lower, upper = position_limits(own.m)
    return lower[list(own.coordinates)], upper[list(own.coordinates)]


# -- what cannot be -----------------------------------------------------------------------------------------------------------


def _refuse_ends(own: Driven, at: Instant, ends: tuple[Floats, Floats], held: int) -> None:
    """Refuse ends out of limits: beyond a joint's range, too near to singular, or held by more than an actuator gives."""
    m = own.m
    q, still = np.stack(ends), np.zeros((2, m.nv))
    tau, condition = mapped(at.forces, q, still, still)
    (values,) = mapped(at.bounded, q, still, still, tau, still[:, : len(own.coordinates)], condition)
    for k, row in enumerate(at.rows):
        for which, x in zip(("start", "end"), values[:, k], strict=True):
            if row.excess(x) <= (1e-9 if row.quantity == POSITION else -DRAWN_IN):
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
            if row.quantity not in (FORCE,) and held == HELD[True]:
                raise InputError(
                    f"at its {which} the motion has {x:.6g} for '{row.name}', which is to be between {row.lower:.6g} and "
                    f"{row.upper:.6g}."
                )


def _no_way(m: Mechanism) -> AssemblyError:
    return AssemblyError(
        f"neither the straight way from start to end nor one beside it keeps the loops of {m.name} closed; give via points that "
        "lead around, or an end on the branch of the start."
    )


# -- the search ---------------------------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """A motion that keeps its limits, and how it was found."""

    seen: Seen
    starts: Starts
    rounds: Starts


def _sizes(task: Task, guess: Guess) -> tuple[float, float]:
    """A usual power of an actuator along a start, and the size of the objective."""
    own, places = task.at.driven, tuple(np.linspace(0, 1, 50) for _ in guess.q)
    x, v, a, jerk = guess.spline.at_places(places)
    q, v, a = own.completed(x, v, a, guess.q[0][0])
    tau, _ = mapped(task.at.forces, q, v, a)
    power = float(np.abs(tau * v[:, list(own.m.actuated_velocities)]).mean())
    value = float(np.abs(mapped(task.at.cost, q, v, a, tau, jerk)[0]).mean()) * guess.spline.duration
    return power or 1.0, value or 1.0


def _searched(
    m: Mechanism, task: Task, places: tuple[Places, ...], begun: list[Guess], ends: tuple[Floats, Floats], iterations: int,
    progress: bool | None,
) -> Found:  # fmt: skip
    """The best start whose motion can be brought to keep its limits everywhere."""
    grid = finer(places)

    def looked_at(spline: MotionSpline) -> Seen:
        return seen(m, task.at, spline, grid, ends[0])

    def verify(values: Mapping[str, Floats], _: float) -> str | None:
        try:
            return unconfirmed(m, looked_at(task.spline(values)), ends[1])
        except (AssemblyError, SingularityError) as error:
            return str(error)

    scale = _sizes(task, begun[0])[1]
    program = task.program(places, begun[0], DRAWN_IN, scale)
    tried = program.solve(
        [task.begun(guess) for guess in begun],
        verify=verify,
        iterations=iterations,
        tolerance=TOLERANCE,
        progress=progress,
    ).starts
    for best in sorted((s for s in tried if s.accepted), key=lambda s: s.value):
        found, rounds = _refined(task, places, best, looked_at, scale, iterations, progress)
        if found is not None and not unconfirmed(m, found, ends[1]):
            _refuse_instant(task, found)
            return Found(found, tried, rounds)
    raise OptimizationError(
        f"{task.title}: between the instants that were looked at no motion that was found keeps its limits; give more knots."
    )


def _refined(
    task: Task, places: tuple[Places, ...], best: Start, looked_at: Callable[[MotionSpline], Seen], scale: float,
    iterations: int, progress: bool | None,
) -> tuple[Seen | None, Starts]:  # fmt: skip
    """The motion with limits at more and more instants, until it keeps them on the fine grid; None if that does not come
    about."""
    made: list[Start] = []
    now, drawn_in = looked_at(task.spline(best.values)), DRAWN_IN
    for number in range(ROUNDS + 1):
        if (kept := now if now.worst <= 0 else _slowed(task, now, looked_at)) is not None:
            return kept, Starts(made)
        if number == ROUNDS:
            break
        places = tuple(p.with_more(_some(s)) for p, s in zip(places, now.peaks(), strict=True))
        drawn_in *= 1.0 if number < PATIENT else 2.0
        guess = now.at(places)
        (found,) = task.program(places, guess, drawn_in, scale).solve(
            [task.begun(guess)], iterations=iterations, tolerance=TOLERANCE, progress=progress, strict=False, near=True
        ).starts  # fmt: skip
        made.append(replace(found, number=number + 1))
        if not found.success:
            break
        try:
            now = looked_at(task.spline(found.values))
        except (AssemblyError, SingularityError):
            break
    return None, Starts(made)


def _slowed(task: Task, now: Seen, looked_at: Callable[[MotionSpline], Seen]) -> Seen | None:
    """The same way a little slower, where a small excess of forces or rates goes away by that."""
    if task.durations[0] == task.durations[1] or now.worst > SLOWED:
        return None
    for slower in 1 + now.worst * np.array([0.5, 0.75, 1.0, 1.5, 2.5]):
        duration = float(slower * now.spline.duration)
        if duration <= task.durations[1] and (made := looked_at(now.spline.lasting(duration))).worst <= 0:
            return made
    return None


def _some(s: Floats) -> Floats:
    return s[np.unique(np.linspace(0, len(s) - 1, min(len(s), AT_ONCE)).astype(int))] if len(s) else s


def _refuse_instant(task: Task, found: Seen) -> None:
    if task.durations == (SHORTEST, LONGEST) and found.spline.duration < 2 * SHORTEST:
        raise OptimizationError(
            f"{task.title}: nothing that is limited keeps it from being done at once; give limits to the joints that move."
        )


def _result(m: Mechanism, task: Task, found: Found) -> OptimalMotion:
    own, keep = found.seen, found.seen.single
    objective = task.objective
    value = own.spline.duration
    if objective != "time":
        from scipy.integrate import simpson

        power = np.abs(own.tau * own.v[:, list(m.actuated_velocities)]).sum(axis=-1)
        value = float(simpson((power if objective == "energy" else own.cost)[keep], x=own.t[keep]))
    unit = UNITS.get(objective, "") if isinstance(objective, str) else ""
    samples = (x[keep] for x in (own.t, own.q, own.v, own.a, own.tau))
    return OptimalMotion(
        m, _word(objective), value, unit, *samples, found.starts, found.rounds, checks(task.at, own), own.spline,
        task.at.driven,
    )  # fmt: skip
