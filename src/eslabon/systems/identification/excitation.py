"""Motions that tell much: finite Fourier series of the actuated joints, within their limits, whose
regressor is well conditioned.

    q(t) = q_0 + sum_l (a_l sin(l w t) - b_l cos(l w t)) / (l w),    w = 2 pi / duration    (Swevers and others, 1997)

Each joint's series is scaled to just keep its limits, so that what is sought is its form; the
condition number is minimised over the forms with exact derivatives, which one native call gives for
all samples (`equations.excitation_gradient`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eslabon.answers import Answer, Block, Panel, figure
from eslabon.arguments import MAX_SEED, Floats, choice, count, finite, flag, known_words, positive
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import AssemblyError, InputError, ModelError, SingularityError, format_value
from eslabon.model import Joint, Model, as_model
from eslabon.model.configuration import (
    values_by_joint,
    velocity_names,
    velocity_units,
)
from eslabon.motion.paths import JointPath
from eslabon.solve.assembly import assemble, complete
from eslabon.solve.constraints.closed_configurations import generic
from eslabon.solve.constraints.constraint_structure import structure
from eslabon.systems.identification.base_parameters import base_parameters, refuse_driven
from eslabon.systems.identification.estimation import model_forces, scaled_condition
from eslabon.systems.identification.fourier_series import Limits, Scaled, Series
from eslabon.systems.identification.parameters import Terms, terms_of
from eslabon.systems.identification.regressor_equations import (
    EXCITATION_GRADIENT,
    INDEPENDENT_MOTION,
    independent,
    require_controlled,
)

CRITERIA = ("condition", "determinant")
WIDE = {
    "rad/s": 1.0,
    "m/s": 0.2,
}  # how far a joint without limits goes to either side of home, rad or m
NARROWER, TRIES = 0.7, 12  # where loops do not close, the range is tried narrower
NEAR = 0.1  # of the reciprocal condition number of an ordinary configuration: as near to singular as a motion comes
REFUSED = 1e3  # the cost of a motion that cannot be
SLOWEST = 16.0  # times the duration


class Form(NamedTuple):
    """Coefficients and asides within limits, with their cost and the condition number from which
    they began."""

    cost: float
    random: float
    limits: Limits
    size: Floats
    c: Floats
    o: Floats


# -- what is minimised ------------------------------------------------------------------------------------------------


class Cost:
    """How badly a motion tells the base parameters: the logarithm of the scaled regressor's
    condition number, or minus that of its determinant."""

    def __init__(self, m: Model, terms: Terms, criterion: str, guess: Any) -> None:
        self.m, self.terms, self.criterion = m, terms, criterion
        self.columns = list(base_parameters(m, terms=terms).columns)
        self.count = 10 * len(m.bodies) + len(terms.listed())
        self.native = evaluate(m, EXCITATION_GRADIENT, terms=terms)
        self.guess, self.least = guess, 0.0
        self.last: Floats | None = None
        if m.closed:
            zeros = np.zeros(len(independent(m)))
            self.least = NEAR * float(evaluate(m, INDEPENDENT_MOTION)(generic(m), zeros, zeros)[2])

    def closed(self, q: Floats) -> Floats:
        """All coordinates, on the branch of the motion before; the first one goes from the guess
        along itself."""
        if not self.m.closed:
            return q
        first = self.last is None
        begin, singular = (self.guess, "error") if first else (self.last, "ignore")
        given = values_by_joint(self.m, driven_joints(self.m), q)
        found: Floats = assemble(
            self.m, given, begin, continuation=first, singular=singular, limits=False
        )
        self.last = found
        return found

    def regressor(self, q: Floats, v: Floats, a: Floats) -> tuple[Floats, Floats]:
        """The columns of the base parameters, (times, rows, columns), and full coordinates."""
        full = self.closed(q)
        weight = np.zeros((len(q), len(independent(self.m)), self.count))
        Y, _, _, _, condition = self.native(full, v, a, weight)
        if not (condition > self.least).all():
            raise SingularityError(
                f"the motion of {self.m.name} comes too near to a singular configuration."
            )
        return Y[..., self.columns], full

    def __call__(
        self, q: Floats, v: Floats, a: Floats
    ) -> tuple[float, tuple[Floats, Floats, Floats]]:
        """The cost, and its derivatives by q, v and a."""
        Y, full = self.regressor(q, v, a)
        cost, by_Y = self._of(Y.reshape(-1, len(self.columns)))
        weight = np.zeros((len(q), Y.shape[1], self.count))
        weight[..., self.columns] = by_Y.reshape(Y.shape)
        _, by_q, by_v, by_a, _ = self.native(full, v, a, weight)
        return cost, (by_q, by_v, by_a)

    def _of(self, Y: Floats) -> tuple[float, Floats]:
        length = np.linalg.norm(Y, axis=0)
        if not (length > 0).all():
            return REFUSED, np.zeros_like(Y)
        A = Y / length
        w, V = np.linalg.eigh(
            A.T @ A
        )  # much quicker than singular values, and exact enough for a condition number to minimise
        if not w[0] > 1e-14 * w[-1]:
            return REFUSED, np.zeros_like(Y)
        if self.criterion == "determinant":
            return -float(np.mean(np.log(w) + 2 * np.log(length))), -2 * (
                A @ (V / w) @ V.T
            ) / length / len(w)
        by_A = A @ (np.outer(V[:, -1], V[:, -1]) / w[-1] - np.outer(V[:, 0], V[:, 0]) / w[0])
        return float(np.log(w[-1] / w[0]) / 2), (by_A - A * np.sum(A * by_A, axis=0)) / length


# -- the motion -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Excitation(Answer):
    """A motion for identification: the path of the independent coordinates, the condition number of
    the scaled regressor along it, and that of the random series of the same kind from which the
    search began.

    >>> import eslabon as es
    >>> plan = es.identification.excitation(es.load("elbow"), duration=2.0, starts=1)
    >>> q, v, a = plan.states([0.0, 1.0, 2.0])
    >>> q.shape
    (3, 2)
    """

    m: Model
    path: JointPath
    condition: float
    random: float
    guess: Any = field(default=None)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates of the path."""
        return tuple(velocity_names(self.m)[k] for k in independent(self.m))

    @property
    def duration(self) -> float:
        """How long it takes, in seconds."""
        return self.path.duration

    def __call__(self, t: Any) -> tuple[Floats, Floats, Floats]:
        """The independent coordinates with their rates and accelerations at times of any shape."""
        return self.path(t)

    def states(self, t: Any) -> tuple[Floats, Floats, Floats]:
        """q, v and a of all joints at increasing times (n,)."""
        times = finite(t, "t")
        if times.ndim != 1 or not len(times):
            raise InputError(f"states are those at times (n,); t has the shape {times.shape}.")
        q, v, a = self.path(times)
        return _completed(self.m, q, v, a, self.guess)

    def forces(self, t: Any) -> Floats:
        """The actuators' forces that the motion takes by the model, (n, nu), at increasing
        times."""
        return model_forces(self.m, *self.states(t))

    def contents(self) -> Iterator[Block]:
        """Coordinates and velocities in time."""
        t = np.linspace(0.0, self.duration, 201)
        for title, x in zip(("coordinates", "velocities"), self.path(t), strict=False):
            yield Panel(title, t, dict(zip(self.coordinates, x.T, strict=True)))

    def __repr__(self) -> str:
        return (
            f"<Excitation of {self.m.name}: {self.path.title}, {self.duration:.4g} s, condition {self.condition:.3g} "
            f"(random {self.random:.3g})>"
        )

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure of coordinates, velocities and accelerations in time."""
        return figure(self, theme=theme, path=path)


def excitation(
    m: Model, duration: float = 10.0, harmonics: int = 5, *, position: Any = None, velocity: Any = None,
    acceleration: Any = None, friction: Any = ("viscous", "coulomb"), motors: bool = False, criterion: str = "condition",
    rest: bool = True, starts: int = 3, iterations: int = 60, seed: int = 0, guess: Any = None,
) -> Excitation:  # fmt: skip
    """A motion of the actuated joints whose forces tell the base parameters well.

    Parameters
    ----------
    duration, harmonics : the period of the Fourier series in seconds, and its number of harmonics.
    position, velocity, acceleration : limits by joint; ranges (least, most) of the position. Left
        out they are the joints' own; a joint without a range goes 1 rad or 0.2 m to either side of
        home. Forces keep the joints' effort limits: where the motion asks for more it is slowed
        down.
    friction, motors : what is to be identified besides the bodies, as in `identify`.
    criterion : "condition", for the least condition number of the regressor with columns of unit
        length, or "determinant", for its largest determinant (D-optimal).
    rest : whether velocity and acceleration are zero where the motion begins and ends.
    starts, iterations, seed : random series to begin with, steps from each, and the random numbers'
        seed.
    guess : with loops, the configuration or mode near which the motion begins.

    >>> import eslabon as es
    >>> from eslabon.systems.identification import excitation
    >>> motion = excitation(es.load("double_pendulum"), duration=5.0, starts=2)
    >>> motion.condition < motion.random, motion.path.rests
    (True, True)
    """
    refuse_driven(as_model(m))
    choice(criterion, "criterion", CRITERIA)
    if count(harmonics, "harmonics", 1 + flag(rest, "rest")) and not independent(m):
        raise ModelError(f"{m.name} has no degree of freedom that could be excited.")
    limits = _limits(m, position, velocity, acceleration)
    series = Series(positive(duration, "duration"), harmonics, rest)
    cost = Cost(m, terms_of(m, friction, motors), criterion, guess)
    rng = np.random.default_rng(count(seed, "seed", most=MAX_SEED))
    narrow, t = limits, np.linspace(0, duration, max(60, 12 * harmonics), endpoint=False)
    found: list[Form] = []
    for _ in range(count(starts, "starts", 1)):
        narrow, c, o = _begun(cost, series, narrow, t, rng)
        found.append(
            _descended(cost, Scaled(narrow, series.at(t)), c, o, count(iterations, "iterations"))
        )
    random = float(np.median([each.random for each in found]))
    path = _within_effort(m, _feasible(cost, series, found), guess)
    return Excitation(m, path, _condition(cost, path), random, guess)


def _feasible(cost: Cost, series: Series, found: list[Form]) -> JointPath:
    """The path of the best form that keeps the loops closed between the times that were looked at,
    too."""
    for form in sorted(found, key=lambda each: each.cost):
        path = _path(series, form, fill=not cost.m.closed)
        try:
            _condition(cost, path)
        except (AssemblyError, SingularityError):
            continue
        return path
    raise _impossible(cost.m)


def _impossible(m: Model) -> AssemblyError:
    return AssemblyError(
        f"no motion of {m.name} was found in the given range that keeps its loops closed and away from singular "
        "configurations; give position a narrower range, or a guess in the middle of it."
    )


def driven_joints(m: Model) -> tuple[str, ...]:
    """The joints of the independent velocities, each of which an actuator moves."""
    require_controlled(m, structure(m))
    places = independent(m)
    owners = [
        j
        for name in m.actuated
        for j in [m.joint(name)]
        if set(range(m.nv)[m.velocities[name]]) & set(places)
    ]
    for j in owners:
        if j.kind.has_quaternion:
            raise ModelError(
                f"joint '{j.name}' of {m.name} turns by a quaternion, of whose numbers no Fourier series is a motion; excite the "
                "mechanism by a path of your own."
            )
    if sum(j.nv for j in owners) != len(places):
        raise ModelError(
            f"the actuated joints of {m.name} move more than its degrees of freedom; excitation needs whole joints."
        )
    in_order = sorted(owners, key=lambda j: m.velocities[j.name].start)
    return tuple(j.name for j in in_order)


def _limits(m: Model, position: Any, velocity: Any, acceleration: Any) -> Limits:
    joints = [m.joint(name) for name in driven_joints(m)]
    units = velocity_units(m)
    given = {name: _by_joint(m, joints, x, name) for name, x in (
        ("position", position), ("velocity", velocity), ("acceleration", acceleration))}  # fmt: skip
    rows = []
    for j in joints:
        home, place = m.home()[m.coordinates[j.name]], m.velocities[j.name]
        for k in range(j.nv):
            wide = WIDE[units[place.start + k]]
            own = j.limits[k] if j.limits is not None else (-np.inf, np.inf)
            least, most = given["position"].get(j.name, own)
            least = (
                least
                if np.isfinite(least)
                else (most - 2 * wide if np.isfinite(most) else home[k] - wide)
            )
            most = most if np.isfinite(most) else least + 2 * wide
            v = given["velocity"].get(
                j.name, j.velocity_limit[k] if j.velocity_limit is not None else np.inf
            )
            rows.append(
                [
                    (least + most) / 2,
                    (most - least) / 2,
                    v,
                    given["acceleration"].get(j.name, np.inf),
                ]
            )
    limits = Limits(*np.array(rows, dtype=float).T)
    owners = [j.name for j in joints for _ in range(j.nv)]
    for name, half, v in zip(owners, limits.half, limits.velocity, strict=True):
        if not (half > 0 and v > 0):
            raise ModelError(
                f"joint '{name}' of {m.name} has no room to move in, or no speed; give it limits or leave it fixed."
            )
    return limits


def _by_joint(m: Model, joints: list[Joint], given: Any, name: str) -> dict[str, Any]:
    """Limits by joint, as numbers."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        given = {j.name: given for j in joints}
    known_words(
        given,
        [j.name for j in joints],
        f"{name} limits those joints of {m.name} that are excited, and not",
    )
    made: dict[str, Any] = {}
    for joint, value in given.items():
        if name != "position":
            made[joint] = positive(value, f"the {name} of '{joint}'")
            continue
        pair = finite(value, f"the {name} of '{joint}'")
        if pair.shape != (2,) or not pair[0] < pair[1]:
            raise InputError(
                f"the position of '{joint}' is a range (least, most); it is {format_value(value)}."
            )
        made[joint] = (float(pair[0]), float(pair[1]))
    return made


def _begun(
    cost: Cost, series: Series, limits: Limits, t: Floats, rng: np.random.Generator
) -> tuple[Limits, Floats, Floats]:
    """A random series whose motion can be; with loops in a narrower range where it cannot."""
    n, functions = len(limits.half), series.free.shape[1]
    middle = limits.middle
    for k in range(TRIES if cost.m.closed else 1):
        c, o = rng.normal(size=(n, functions)), np.zeros(n)
        narrow = limits._replace(half=limits.half * NARROWER**k)
        if cost.m.closed:  # about the configuration it begins with, as far as the range allows
            start = _independent_at(cost.m, cost.guess)
            narrow = narrow._replace(
                middle=middle
                + np.clip(start - middle, narrow.half - limits.half, limits.half - narrow.half)
            )
        cost.last = None
        try:
            cost.regressor(*Scaled(narrow, series.at(t)).motion(c, o)[:3])
        except (AssemblyError, SingularityError):
            continue
        return narrow, c, o
    raise _impossible(cost.m)


def _independent_at(m: Model, guess: Any) -> Floats:
    """The independent coordinates of the configuration that a motion begins near."""
    q = (
        generic(m)
        if guess is None
        else m.configuration(guess)
        if isinstance(guess, str)
        else finite(guess, "guess")
    )
    return np.concatenate([q[m.coordinates[name]] for name in driven_joints(m)])


def _descended(cost: Cost, scaled: Scaled, c: Floats, o: Floats, iterations: int) -> Form:
    """The best form from a start."""
    from scipy.optimize import minimize

    n = len(o)

    def value(x: Floats) -> tuple[float, Floats]:
        c, o = x[:-n].reshape(n, -1), x[-n:]
        before = cost.last
        try:
            f, by = cost(*scaled.motion(c, o)[:3])
        except (AssemblyError, SingularityError):
            cost.last = before
            return REFUSED, np.zeros_like(x)
        by_c, by_o = scaled.gradient(c, o, by)
        return f, np.concatenate([by_c.ravel(), by_o])

    x = np.concatenate([c.ravel(), o])
    random = scaled_condition(cost.regressor(*scaled.motion(c, o)[:3])[0])
    if iterations:
        x = minimize(value, x, jac=True, method="L-BFGS-B", options={"maxiter": iterations}).x
    c, o = x[:-n].reshape(n, -1), x[-n:]
    return Form(value(x)[0], random, scaled.limits, scaled.motion(c, o)[3], c, o)


def _path(series: Series, form: Form, fill: bool) -> JointPath:
    """The path of a form, which keeps its limits at all times, and reaches them if it is to fill
    them."""
    fine = Scaled(form.limits, series.at(np.linspace(0, series.duration, 200 * series.harmonics)))
    raw = [b @ form.c.T for b in fine.basis]
    size = np.max([np.abs(w).max(axis=0) for w in fine.parts(raw, form.o)], axis=0) * (1 + 1e-4)
    size = size if fill else np.maximum(size, form.size)
    middle, coefficients = fine.middle(form.o), form.c / size[:, None]

    def motion(t: Floats) -> tuple[Floats, Floats, Floats]:
        q, v, a = (b @ coefficients.T for b in series.at(t))
        return middle + q, v, a

    title = f"Fourier series of {series.harmonics} harmonics"
    return JointPath(series.duration, motion, title, np.array([0.0, series.duration]))


def _completed(
    m: Model, q: Floats, v: Floats, a: Floats, guess: Any
) -> tuple[Floats, Floats, Floats]:
    if not m.closed:
        return q, v, a
    start = generic(m) if guess is None else guess
    given = values_by_joint(m, driven_joints(m), q)
    q, v, a = complete(m, given, v, a, start, continuation=True, singular="error", limits=False)
    return q, v, a


def _within_effort(m: Model, path: JointPath, guess: Any) -> JointPath:
    """The path, slowed down as far as the actuators' effort limits ask."""
    limit = np.array(
        [
            x
            for name in m.actuated
            for x in m.joint(name).effort_limit or (np.inf,) * m.joint(name).nv
        ]
    )
    if not np.isfinite(limit).any():
        return path
    t = np.linspace(0, path.duration, 400)
    q, v, a = _completed(m, *path(t), guess)

    def part(slower: float) -> float:
        return float((np.abs(model_forces(m, q, v / slower, a / slower**2)) / limit).max())

    slower = 1.0
    while part(slower) > 1.0:
        slower *= 1.1
        if slower > SLOWEST:
            raise ModelError(
                f"the actuators of {m.name} cannot hold the configurations of this motion, however slow it is: they need "
                f"{part(SLOWEST):.3g} times their effort limit; give position a narrower range."
            )
    return path if slower == 1.0 else path.lasting(slower * path.duration)


def _condition(cost: Cost, path: JointPath) -> float:
    """The condition number of the scaled regressor along a path."""
    cost.last = None
    Y, _ = cost.regressor(*path(np.linspace(0, path.duration, 200, endpoint=False)))
    return scaled_condition(Y)
