"""Optimal motion: arguments in, the program solved from several starts, limits refined until they hold in between, a motion out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import MAX_SEED, Floats, count, flag
from eslabon.errors import (
    AssemblyError,
    EslabonError,
    InputError,
    OptimizationError,
    SingularityError,
    format_value,
)
from eslabon.mechanism import Mechanism
from eslabon.optimize.motion_arguments import (
    FREE,
    LONGEST,
    SHORTEST,
    durations_of,
    held_coefficients,
    points_of,
    position_bounds,
    refuse_ends,
    rows_of,
    spline_degree,
)
from eslabon.optimize.motion_equations import Instant, instant, mapped, objective_of
from eslabon.optimize.motion_limits import CONDITION, demands, driven
from eslabon.optimize.motion_program import Places, Task
from eslabon.optimize.motion_spline import MotionSpline, SplineBasis
from eslabon.optimize.motion_starts import Guess, guesses
from eslabon.optimize.motion_verification import (
    Seen,
    by_another_formulation,
    checks,
    finer,
    seen,
    unconfirmed,
)
from eslabon.optimize.nonlinear_program import Start, Starts
from eslabon.optimize.optimal_motion import OptimalMotion

DRAWN_IN = (
    1e-3  # of a limit: by how much it is tightened in the program, so that what is found is within
)
ROUNDS = 12  # searches with limits at more and more instants
PATIENT = 3  # rounds, until limits are tightened further in each
SLOWED = 3e-3  # of a limit: what is in excess by less is taken off by a slower motion, if its duration is free
AT_ONCE = 40  # instants of a stretch that a round adds
TOLERANCE = 1e-6  # of IPOPT
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
        joints' jerk), or a function of the state, traced with its symbols `s.q`, `s.v`, `s.a` and `s.tau`, whose integral over the
        time is to be least.
    duration : how long the motion takes, or its range (shortest, longest); needed unless the objective is "time" or a function.
    via : configurations to pass in between, in their order, (n,) or (k, n); when is a part of what is sought.
    at_rest : whether velocities and accelerations are zero at both ends; "velocity" leaves the accelerations free, and False both.
    torque_limits, velocity_limits : greatest forces of the actuators and velocities of joints: a number, numbers, or by joint;
        left out, the joints' effort_limit and velocity_limit. np.inf is no limit.
    acceleration_limits, jerk_limits : those of the driven joints, likewise; left out, none.
    limits : whether positions keep the limits of joints.
    subject_to : what is to be kept besides, by name: (function of the state, least, most); None is no bound.
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
    if not isinstance(m, Mechanism):
        raise InputError(f"a motion is one of a mechanism; it was given {format_value(m)}.")
    own, sought, wanted = driven(m), objective_of(objective), demands(subject_to)
    points, ends = points_of(own, start, end, via)
    held = held_coefficients(at_rest)
    rows = rows_of(
        own,
        torque_limits,
        velocity_limits,
        acceleration_limits,
        jerk_limits,
        flag(limits, "limits"),
    )
    span = durations_of(sought, duration, rows, bool(wanted))
    formed = partial(instant, own, rows, wanted, sought)
    at = formed()
    refuse_ends(own, at, ends, held)
    basis = SplineBasis(count(knots, "knots", 4), spline_degree(degree))
    word = sought if isinstance(sought, str) else "objective"
    task = Task(
        f"motion of {m.name} of least {word}",
        at,
        basis,
        points,
        held,
        position_bounds(own, rows),
        span,
        sought,
    )
    rng = np.random.default_rng(count(seed, "seed", most=MAX_SEED))
    search = Search(m, task, formed, ends, count(iterations, "iterations", 1), progress)
    found = search.found(guesses(task, ends, search.first, count(starts, "starts", 1), rng))
    return _result(m, task, word, found)


class Found(NamedTuple):
    """A motion that keeps its limits, and how it was found."""

    seen: Seen
    starts: Starts
    rounds: Starts


@dataclass(frozen=True, eq=False)
class Search:
    """The search for a motion; `formed(power, conditioned)` gives the functions of an instant."""

    m: Mechanism
    task: Task
    formed: Callable[..., Instant]
    ends: tuple[Floats, Floats]
    iterations: int
    progress: bool | None

    @property
    def first(self) -> tuple[Places, ...]:
        """The instants at which limits are kept to begin with."""
        return (Places(*self.task.basis.quadrature()),) * self.task.stretches

    def found(self, guessed: list[Guess | EslabonError]) -> Found:
        """The best start whose motion can be brought to keep its limits everywhere."""
        begun = {
            number: guess for number, guess in enumerate(guessed, 1) if isinstance(guess, Guess)
        }
        if not begun:
            raise AssemblyError(
                f"{self.task.title}: neither the straight way from start to end nor one beside it can be made: {guessed[0]} Give via "
                "points that lead around, or an end on the branch of the start."
            )
        power, scale = _sizes(self.task, next(iter(begun.values())))
        for conditioned in (False, True) if self.m.closed else (False,):
            own = replace(self, task=replace(self.task, at=self.formed(power, conditioned)))
            tried, near = own.tried(begun, scale, strict=conditioned or not self.m.closed)
            if not near:
                break
        every = Starts(
            tried[k] if k in tried else _not_begun(k, guess) for k, guess in enumerate(guessed, 1)
        )
        for best in sorted((s for s in every if s.accepted), key=lambda s: s.value):
            seen, rounds = own.refined(best, scale)
            if seen is not None and not own.unconfirmed(seen):
                return Found(self._lasting(seen), every, rounds)
        raise OptimizationError(
            f"{self.task.title}: between the instants that were looked at no motion that was found keeps its limits; give more knots."
        )

    def tried(
        self, begun: Mapping[int, Guess], scale: float, strict: bool
    ) -> tuple[dict[int, Start], bool]:
        """What becomes of each start, and whether one came too near to a singular configuration."""
        task, near = self.task, []

        def verify(values: Mapping[str, Floats], _: float) -> str | None:
            try:
                own = self.looked_at(task.spline(values))
            except (AssemblyError, SingularityError) as error:
                near.append(True)
                return str(error)
            near.append(_too_near(task, own))
            return self.unconfirmed(own)

        guess = next(iter(begun.values()))
        found = task.program(self.first, guess, DRAWN_IN, scale).solve(
            [task.begun(each) for each in begun.values()], verify=verify, iterations=self.iterations, tolerance=TOLERANCE,
            progress=self.progress, strict=strict,
        ).starts  # fmt: skip
        return {k: replace(s, number=k) for k, s in zip(begun, found, strict=True)}, any(
            near
        ) or not found.best

    @cached_property
    def _again(self) -> Any:
        return by_another_formulation(self.m)

    def unconfirmed(self, own: Seen) -> str | None:
        """Why a motion on the fine grid is none, in a sentence."""
        return unconfirmed(self.m, own, self.ends[1], self._again)

    def looked_at(self, spline: MotionSpline) -> Seen:
        """A motion on the fine grid."""
        return seen(self.m, self.task.at, spline, finer(self.first), self.ends[0])

    def refined(self, best: Start, scale: float) -> tuple[Seen | None, Starts]:
        """The motion with limits at more and more instants, until it keeps them on the fine grid; None if that does not come
        about."""
        task, places, drawn_in = self.task, self.first, DRAWN_IN
        made: list[Start] = []
        now = self.looked_at(task.spline(best.values))
        for number in range(1, ROUNDS + 1):
            if (kept := now if now.worst <= 0 else self.slowed(now)) is not None:
                return kept, Starts(made)
            places = tuple(p.with_more(_some(s)) for p, s in zip(places, now.peaks(), strict=True))
            drawn_in *= 1.0 if number <= PATIENT else 2.0
            guess = now.at(places)
            (found,) = task.program(places, guess, drawn_in, scale).solve(
                [task.begun(guess)], iterations=self.iterations, tolerance=TOLERANCE, progress=self.progress, strict=False, near=True
            ).starts  # fmt: skip
            made.append(replace(found, number=number))
            if not found.success:
                break
            try:
                now = self.looked_at(task.spline(found.values))
            except (AssemblyError, SingularityError):
                break
        return (now if now.worst <= 0 else None), Starts(made)

    def slowed(self, now: Seen) -> Seen | None:
        """The same way a little slower, where a small excess of forces or rates goes away by that."""
        least, most = self.task.durations
        if least == most or now.worst > SLOWED:
            return None
        for slower in 1 + now.worst * np.array([0.5, 0.6, 0.75, 1.0, 1.5, 2.5]):
            duration = float(slower * now.spline.duration)
            if (
                duration <= most
                and (made := self.looked_at(now.spline.lasting(duration))).worst <= 0
            ):
                return made
        return None

    def _lasting(self, own: Seen) -> Seen:
        """Refuse a motion that takes no time, or all that there is."""
        if self.task.durations != FREE or 2 * SHORTEST < own.spline.duration < LONGEST / 2:
            return own
        if own.spline.duration <= 2 * SHORTEST:
            raise OptimizationError(
                f"{self.task.title}: nothing that is limited keeps it from being done at once; give limits to the joints that move."
            )
        raise OptimizationError(
            f"{self.task.title}: it gets less the longer the motion takes, without end; give duration=..., in seconds, or its range "
            "(shortest, longest)."
        )


def _too_near(task: Task, own: Seen) -> bool:
    """Whether a motion comes nearer to a singular configuration than it may."""
    rows = [k for k, row in enumerate(task.at.rows) if row.quantity == CONDITION]
    return bool((own.excess[:, rows] > 0).any())


def _not_begun(number: int, why: Any) -> Start:
    return Start(
        number, {}, {}, np.nan, False, f"Not begun: {why}", 0, np.nan, "loop closure", np.inf
    )


def _some(s: Floats) -> Floats:
    return (
        s[np.unique(np.linspace(0, len(s) - 1, min(len(s), AT_ONCE)).astype(int))] if len(s) else s
    )


def _sizes(task: Task, guess: Guess) -> tuple[float, float]:
    """A usual power of an actuator along a start, and the size of the objective."""
    own, places = task.at.driven, tuple(np.linspace(0, 1, 50) for _ in guess.q)
    x, v, a, jerk = guess.spline.at_places(places)
    q, v, a = own.completed(x, v, a, guess.q[0][0])
    tau, _ = mapped(task.at.forces, q, v, a)
    power = float(np.abs(tau * v[:, list(own.m.actuated_velocities)]).mean())
    cost = mapped(task.at.cost, q, v, a, tau, jerk)[0]
    if not np.isfinite(cost).all():
        t = float(guess.spline.times(places)[int(np.argmin(np.isfinite(cost[:, 0])))])
        raise InputError(
            f"the objective is not finite on the straight way from start to end ({cost[~np.isfinite(cost)][0]} after {t:.3g} of "
            f"{guess.spline.duration:.3g} s); let it have a value in every configuration."
        )
    return power or 1.0, float(np.abs(cost).mean()) * guess.spline.duration or 1.0


def _result(m: Mechanism, task: Task, word: str, found: Found) -> OptimalMotion:
    own, keep, value = found.seen, found.seen.single, found.seen.spline.duration
    if task.objective != "time":
        from scipy.integrate import simpson

        power = np.abs(own.tau * own.v[:, list(m.actuated_velocities)]).sum(axis=-1)
        value = float(
            simpson((power if task.objective == "energy" else own.cost)[keep], x=own.t[keep])
        )
    t, q, v, a, tau = (x[keep] for x in (own.t, own.q, own.v, own.a, own.tau))
    return OptimalMotion(
        m, word, value, UNITS.get(word, ""), t, q, v, a, tau, found.starts, found.rounds, checks(task.at, own), own.spline, task.at.driven
    )  # fmt: skip
