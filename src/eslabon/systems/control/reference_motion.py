"""The motion that a law is to follow: q, v and a in time, for numbers and, as native tables, for symbols."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite
from eslabon.displays import displayed
from eslabon.errors import AssemblyError, InputError, ModelError, format_value
from eslabon.model import Model, as_model
from eslabon.model.configuration import coordinate_velocities, difference, integrate, normalize
from eslabon.motion.paths.frame_path import Path
from eslabon.motion.paths.joint_path import JointPath
from eslabon.numerics.scalars import casadi
from eslabon.systems.control.piecewise import hermite, piecewise

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

FIRST, MOST = 16, 512  # pieces of a table of a path, to begin with and at most
CLOSE = 1e-8  # of the range of a path: how near its table comes
ENDLESS = (-np.inf, np.inf)
HELD = "a configuration"


@displayed(line=True)
class State(NamedTuple):
    """Coordinates, velocities and accelerations."""

    q: Any
    v: Any
    a: Any


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Reference:
    """A motion to be followed; see `reference`.

    Attributes
    ----------
    m : the mechanism that is to move so.
    whole : whether it tells all coordinates; if not, those of the actuated joints.
    span : the times between which it is defined; before and after it stays where it is then.

    >>> import eslabon as es
    >>> es.control.reference(es.load("elbow"), [0.5, 0.2]).at(1.0).q
    array([0.5, 0.2])
    """

    m: Model
    whole: bool
    span: tuple[float, float]
    title: str
    motion: Callable[[Any], State]  # of a symbol
    numbers: Callable[[Floats], State]  # of times within the span

    @property
    def held(self) -> bool:
        """Whether it is one configuration for all times."""
        return self.title == HELD

    def __repr__(self) -> str:
        what = "all coordinates" if self.whole else "the actuated coordinates"
        when = "" if self.span == ENDLESS else f", {self.span[0]:g} to {self.span[1]:g} s"
        return f"<Reference for {what} of {self.m.name}: {self.title}{when}>"

    def at(self, t: ArrayLike) -> State:
        """q, v and a at times, `(..., n)`: of all joints, or of the actuated ones.

        >>> import eslabon as es
        >>> path = es.paths.joint_path([[0, 0], [1, 2]], es.paths.quintic(2.0))
        >>> es.control.reference(es.load("elbow"), path).at(1.0).v.round(6)
        array([0.9375, 1.875 ])
        """
        times, (start, end) = finite(t, "t"), self.span
        slack = 0.0 if self.span == ENDLESS else 1e-9 * max(end - start, 1e-300)
        if times.size and not (start - slack <= times.min() and times.max() <= end + slack):
            outside = times.min() if times.min() < start else times.max()
            raise InputError(
                f"the reference is defined from {start:g} to {end:g} s; t = {outside:g} s lies outside."
            )
        return self.numbers(np.clip(times, start, end))

    def beside(self, t: Any, q: Any, v: Any) -> State:
        """What is to be followed at a symbolic time, for all joints: what the reference does not tell is as it is."""
        given, m = self.motion(t), self.m
        if self.whole:
            return given
        places, own = list(m.actuated_coordinates), list(m.actuated_velocities)
        qd, vd, ad = casadi.SX(q), casadi.SX(v), casadi.SX.zeros(m.nv)
        qd[places], vd[own], ad[own] = given.q, given.v, given.a
        return State(qd, vd, ad)

    def completed(self, t: Floats, guess: Any = None) -> State:
        """q, v and a of all joints at times, passive ones by continuation along the motion."""
        given, m = self.at(t), self.m
        if self.whole:
            return given
        if not m.closed or m.rheonomic:
            raise ModelError(
                f"the reference tells the actuated joints of {m.name} alone, and the others do not follow from them; give "
                "all coordinates."
            )
        from eslabon.solve.assembly import complete

        return State(*complete(m, given.q, given.v, given.a, guess, continuation=True))


def reference(m: Model, motion: Any) -> Reference:
    """A motion for a law to follow.

    Parameters
    ----------
    m : the mechanism.
    motion : one of

        * a configuration, to be held: all coordinates, or those of the actuated joints;
        * a joint path of `es.paths`, of as many coordinates;
        * what `m.follow(path)` gives for the path of a frame, or a `Trajectory` of one trajectory;
        * times and what holds then, as (t, q, v, a), rows of arrays;
        * a function of the time that can be called with a symbol and gives the coordinates; its rates are exact derivatives.

        In native code it is a table of polynomials of degree five that meet q, v and a at their ends, as many as bring the
        path's own table within 1e-8 of it. Outside its span it stays where it begins or ends, at rest.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> es.control.reference(m, [2.0, 1.0])
    <Reference for the actuated coordinates of five_bar: a configuration>
    >>> import casadi
    >>> es.control.reference(m, lambda t: casadi.vertcat(2 + 0.1 * casadi.sin(t), 1.0)).at(0.0).v
    array([0.1, 0. ])
    """
    as_model(m)
    if isinstance(motion, Reference):
        if motion.m.nq != m.nq or motion.m.actuated != m.actuated:
            raise InputError(
                f"the reference is one for {motion.m.name}, which has other joints than {m.name}."
            )
        return motion
    if isinstance(motion, Path):
        raise InputError(
            "a path of a frame is followed by joints as m.follow(path) says; give what that gives."
        )
    if isinstance(motion, JointPath):
        return _of_path(m, motion)
    if isinstance(motion, tuple) and len(motion) == 4:
        return _of_samples(m, *motion, title="samples")
    if all(hasattr(motion, x) for x in "tqva"):
        if motion.t is None:
            raise InputError(f"{format_value(motion)} has no times; follow a path, which has.")
        return _of_samples(m, motion.t, motion.q, motion.v, motion.a, title=type(motion).__name__)
    if callable(motion):
        return _of_function(m, motion)
    return _held(m, motion)


def _whole(m: Model, count: int) -> bool:
    """Whether so many coordinates are all of them, or those of the actuated joints."""
    own = len(m.actuated_coordinates)
    if count == m.nq:
        return True
    if count == own:
        return False
    raise InputError(
        f"the reference has {count} coordinates; {m.name} has {m.nq}, of which {own} are of actuated joints."
    )


def _plain(m: Model, whole: bool) -> bool:
    """Whether the coordinates that are given are numbers whose rates are velocities."""
    return not any(
        j.kind.has_quaternion
        for j in (m.joints if whole else [m.joint(name) for name in m.actuated])
    )


def _require_closed(m: Model, whole: bool, q: Floats) -> None:
    """Refuse configurations that do not close the loops."""
    if not whole or not m.closed or m.rheonomic:
        return
    from eslabon.solve.constraints.closed_configurations import residuals_at
    from eslabon.solve.constraints.closure_violation import accepts, violation_of

    worst = float(violation_of(residuals_at(m, q.reshape(-1, m.nq))).max(initial=0.0))
    if not accepts(worst):
        raise AssemblyError(
            f"the reference violates loop closure of {m.name} by {worst:.3g} (rad, or lengths of its size); take it from m.assemble, "
            "m.complete or m.follow, or give the actuated coordinates alone."
        )


def _held(m: Model, configuration: Any) -> Reference:
    q = finite(configuration, "the reference")
    if q.ndim != 1:
        raise InputError(
            f"the reference is one configuration, a path, samples (t, q, v, a) or a function; its shape is {q.shape}."
        )
    whole = _whole(m, len(q))
    q = normalize(m, q) if whole else q
    _require_closed(m, whole, q)
    rest = np.zeros(m.nv if whole else m.nu)

    def symbols(t: Any) -> State:
        return State(casadi.SX(q), casadi.SX(rest), casadi.SX(rest))

    def numbers(t: Floats) -> State:
        return State(*(np.broadcast_to(x, (*t.shape, len(x))).copy() for x in (q, rest, rest)))

    return Reference(m, whole, ENDLESS, HELD, symbols, numbers)


def _of_function(m: Model, function: Callable[[Any], Any]) -> Reference:
    from eslabon.compiler.program import read

    t = casadi.SX.sym("t")
    try:
        given = function(t)
        q = casadi.SX(
            casadi.vertcat(*given) if isinstance(given, list | tuple | np.ndarray) else given
        )
        if any(
            math.isnan(i.value) for i in read(casadi.Function("reference", [t], [q])).instructions
        ):
            raise ValueError("a number in it is NaN")  # what CasADi gives for the value of a symbol
    except Exception as error:
        raise InputError(
            f"the reference cannot be called with a symbol ({type(error).__name__}: {str(error).splitlines()[0]}); write it "
            "with arithmetic and casadi's functions, or give samples (t, q, v, a)."
        ) from error
    whole = _whole(m, q.numel())
    if not _plain(m, whole):
        raise InputError(
            f"joints of {m.name} turn by quaternions, whose velocities are no rates; give samples (t, q, v, a)."
        )
    v = casadi.jacobian(q, t)
    f = casadi.Function(
        "reference", [t], [casadi.densify(x) for x in (q, v, casadi.jacobian(v, t))]
    )

    def numbers(times: Floats) -> State:
        found = [
            np.array(x).T.reshape(*times.shape, -1) for x in f(casadi.DM(times.reshape(1, -1)))
        ]
        return State(*found)

    return Reference(m, whole, ENDLESS, "a function of time", lambda t: State(*f(t)), numbers)


def _of_path(m: Model, path: JointPath) -> Reference:
    """A table of a path, its pieces halved until they are near."""
    whole = _whole(m, path.position(0.0).shape[-1])
    if not _plain(m, whole):
        raise InputError(
            f"joints of {m.name} turn by quaternions, which no joint path tells; give samples (t, q, v, a)."
        )
    pieces = FIRST
    while True:
        table = _table(path, pieces)
        t = table.x
        between = (t[1:] + t[:-1]) / 2
        q = path.position(between)
        size = max(1e-9, float(np.ptp(q, axis=0).max(initial=0.0)))
        if np.abs(table(between) - q).max() <= CLOSE * size or pieces >= MOST:
            break
        pieces *= 2
    _require_closed(m, whole, path.position(t))
    return _of_table(m, whole, table, path.title)


def _table(path: JointPath, pieces: int) -> PPoly:
    """A path by about so many polynomials, which end where its acceleration jumps: with the one before the jump."""
    from scipy.interpolate import PPoly

    breaks = path.breaks
    counts = np.maximum(
        1, np.ceil(pieces * np.diff(breaks) / (breaks[-1] - breaks[0]) - 1e-9)
    ).astype(int)
    smooth = []
    for a, b, count in zip(breaks[:-1], breaks[1:], counts, strict=True):
        t = np.linspace(a, b, count + 1)
        smooth.append(hermite(t, *path(np.append(t[:-1], np.nextafter(b, a)))))
    coefficients = np.concatenate([table.c for table in smooth], axis=1)
    return PPoly(coefficients, np.concatenate([*(table.x[:-1] for table in smooth), breaks[-1:]]))


def _of_samples(m: Model, t: Any, q: Any, v: Any, a: Any, title: str) -> Reference:
    t, q, v, a = (
        finite(x, f"{name} of the reference") for x, name in zip((t, q, v, a), "tqva", strict=True)
    )
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all():
        raise InputError("the times of a reference are two or more, and increase.")
    if q.ndim != 2 or len(q) != len(t):
        raise InputError(
            f"a reference is one motion, with a row of q for each of its {len(t)} times; q has shape {q.shape}."
        )
    whole = _whole(m, q.shape[1])
    count = m.nv if whole else m.nu
    for x, name in ((v, "v"), (a, "a")):
        if x.shape != (len(t), count):
            raise InputError(
                f"{name} of the reference has shape {x.shape}; {(len(t), count)} is expected."
            )
    _require_closed(m, whole, q)
    if _plain(m, whole):
        return _of_table(m, whole, hermite(t, q, v, a), title)
    return _of_orientations(m, whole, t, q, v, a, title)


def _of_table(m: Model, whole: bool, table: PPoly, title: str) -> Reference:
    """The reference of a piecewise polynomial of the coordinates."""
    first, second = table.derivative(), table.derivative(2)
    span = float(table.x[0]), float(table.x[-1])
    return Reference(
        m, whole, span, title, lambda t: State(*piecewise(table, t, 2)),
        lambda t: State(table(t), first(t), second(t)),
    )  # fmt: skip


def _of_orientations(
    m: Model, whole: bool, t: Floats, q: Floats, v: Floats, a: Floats, title: str
) -> Reference:
    """The same where quaternions are among the coordinates: these are interpolated, brought back to unit length, and go with
    velocities from a table of their own."""
    if not whole:
        raise InputError(
            f"joints of {m.name} turn by quaternions; a reference for it gives all coordinates."
        )
    q = normalize(m, q)
    for k in range(
        1, len(q)
    ):  # of the two quaternions of an orientation, the one next to the one before
        q[k] = integrate(m, q[k - 1], difference(m, q[k], q[k - 1]))
    table, speeds = hermite(t, q, coordinate_velocities(m, q, v)), hermite(t, v, a)
    rates = speeds.derivative()

    def symbols(time: Any) -> State:
        return State(normalize(m, piecewise(table, time)[0]), *_rested(speeds, time))

    return Reference(
        m,
        whole,
        (float(t[0]), float(t[-1])),
        title,
        symbols,
        lambda t: State(normalize(m, table(t)), speeds(t), rates(t)),
    )


def _rested(speeds: PPoly, t: Any) -> list[Any]:
    """Velocities and accelerations, both zero outside the span."""
    v, a = piecewise(speeds, t, 1)
    return [casadi.logic_and(t >= float(speeds.x[0]), t <= float(speeds.x[-1])) * v, a]
