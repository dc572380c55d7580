"""The motion of a mechanism: states in time and what follows from them, with names and units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import Block, Message, Panel, animation, figure
from eslabon.arguments import Floats, finite
from eslabon.displays import displayed
from eslabon.errors import InputError, ModelError, format_value, suggest
from eslabon.model import Model
from eslabon.model.configuration import SignalColumn, coordinate_columns, velocity_columns
from eslabon.motion.interpolation import (
    ENDLESS,
    Interpolant,
    State,
    TimeFunction,
    coordinates_in_time,
    orientations_in_time,
)
from eslabon.motion.loads import NO_LOADS, Loads
from eslabon.motion.signals import MissingSignalError, Signals
from eslabon.numerics.scalars import casadi

if TYPE_CHECKING:
    from eslabon.drawing.animation import Animation

ACCELERATION = {"rad/s": "rad/s²", "m/s": "m/s²"}  # the units that go with a velocity's
FORCE = {"rad/s": "N m", "m/s": "N"}
SHOWN = {
    "coordinates": "q",
    "velocities": "v",
    "actuators' forces": "tau",
}  # in a notebook, by title
OUTSIDE = 1e-9  # of its span: times beyond it by less are its ends


def columns(m: Model, joints: tuple[str, ...] | None = None) -> dict[str, tuple[SignalColumn, ...]]:
    """The columns of q, v, a and tau: of all joints, or of some."""
    q, v = coordinate_columns(m), velocity_columns(m)
    tau = tuple(v[k]._replace(unit=FORCE[v[k].unit]) for k in m.actuated_velocities)
    if joints is not None:
        q, v = (tuple(c for name in joints for c in x if c.joint == name) for x in (q, v))
    a = tuple(c._replace(unit=ACCELERATION[c.unit]) for c in v)
    return {"q": q, "v": v, "a": a, "tau": tau, "tau_commanded": tau}


@displayed(line=True)
class Energy(NamedTuple):
    """Kinetic and potential energy in J, each (..., times)."""

    kinetic: Floats
    potential: Floats

    @property
    def total(self) -> Floats:
        return self.kinetic + self.potential


@displayed(line=True)
class JointSignals(NamedTuple):
    """The motion of one joint: (..., times), with a last axis if it has several degrees of freedom.

    tau is None if it is not actuated.
    """

    t: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats | None


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Signals):
    """The motion of a mechanism: `t` is (times,), `q`, `v`, `a` and `tau` are (..., times, nq),
    (..., times, nv) and so on.

    `tau` are the actuators' forces that acted at these times, `tau_commanded` those that the
    control asked for, which differ where they are limited or delayed. `x` are the states of a law
    that has some, (..., times, states). `a`, `energy`, `reactions` and `coupling_forces` of a
    simulated motion are computed when first asked for. `closure` is the constraint violation of the
    loops, in radians or metres over the characteristic length; zeros for a tree. `events` has what
    happened, by name. What a motion does not hold, such as the forces of a path, ends in a
    sentence. The arrays cannot be written to: copy them to change them.

    >>> import eslabon as es
    >>> swing = es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.5, 1.0])
    >>> swing.q.shape, swing["q1"].q.shape
    ((3, 2), (3,))
    >>> swing.end[0].round(3)
    array([-0.371, -0.222])
    """

    m: Model | None = None  # what moves; None for a motion from a file
    loads: Loads = NO_LOADS
    source: TimeFunction | None = None  # the motion at any time, where it is known exactly

    @property
    def q(self) -> Floats:
        """The coordinates, (..., times, nq)."""
        return self.group("q")

    @property
    def v(self) -> Floats:
        """The velocities, (..., times, nv)."""
        return self.group("v")

    @property
    def tau(self) -> Floats:
        """The actuators' forces that acted, (..., times, nu)."""
        return self.group("tau")

    @property
    def tau_commanded(self) -> Floats:
        """The forces that the control asked for, (..., times, nu)."""
        return self.group("tau_commanded")

    @property
    def x(self) -> Floats:
        """The states of a law, (..., times, states)."""
        return self.group("x")

    @property
    def closure(self) -> Floats:
        """The constraint violation of the loops, radians or metres over the characteristic length,
        (..., times)."""
        return self.group("closure")

    @property
    def distance(self) -> Floats:
        """The distances from a followed path in m, (times,)."""
        return self.group("distance")

    @property
    def angle(self) -> Floats:
        """The angles from a followed path in rad, (times,)."""
        return self.group("angle")

    @property
    def slip(self) -> Floats:
        """The rates of a followed path that cannot be had, (times,)."""
        return self.group("slip")

    @property
    def condition(self) -> Floats:
        """The condition numbers along a followed path, (times,)."""
        return self.group("condition")

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints whose coordinates these are: all, or the actuated ones."""
        return tuple(dict.fromkeys(c.joint for c in self.columns["q"]))

    @property
    def whole(self) -> bool:
        """Whether it has the coordinates of all joints."""
        return self.m is None or len(self.columns["q"]) == self.m.nq

    # -- what follows from the states ---------------------------------------------------------------------------

    def _mechanism(self, what: str) -> Model:
        """What moves, for a quantity that follows from the states of all joints."""
        if self.m is None:
            raise ModelError(
                f"{self!r} has no {what}: it comes from a file, which does not hold its mechanism."
            )
        if not self.whole:
            raise ModelError(
                f"{self!r} has no {what}: it tells the actuated joints alone; completed() finds the others."
            )
        return self.m

    @cached_property
    def a(self) -> Floats:
        """The accelerations, (..., times, nv).

        >>> import eslabon as es
        >>> es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.25, 0.5]).a.shape
        (3, 2)
        """
        if "a" in self.groups:
            return self.groups["a"]
        if "tau" not in self.groups:
            raise MissingSignalError(f"{self!r} holds no accelerations.")
        m, of = self._mechanism("accelerations"), _quantities()
        return _read_only(of.accelerations(m, self.loads, self.t, self.q, self.v, self.tau))

    @cached_property
    def coupling_forces(self) -> Floats:
        """The force, or moment, of every coupling on its joint, (..., times, couplings): what gears
        transmit, and what drives a joint whose motion is a function of the time.

        >>> import eslabon as es
        >>> b = es.Builder("fan", gravity=(0, 0, 0)).body("blade", mass=2.0, com=(0.5, 0, 0)).actuate()
        >>> m = b.joint("q", "revolute", "ground", "blade").drive("motor", "q", "0.1*t**3").build()
        >>> m.simulate([0.0], None, 1.0, method="rk4", step=0.01).coupling_forces[-1].round(3)
        array([0.3])
        """
        m, of = self._mechanism("coupling forces"), _quantities()
        if not m.couplings:
            raise ModelError(f"{self!r} has no coupling forces: its mechanism has no couplings.")
        return _read_only(of.coupling_forces(m, self.loads, self.t, self.q, self.v, self.tau))

    @cached_property
    def reactions(self) -> Floats:
        """The wrench that every joint, then every cut joint, transmits, (..., times, joints, 6):
        moment first, as `Mechanism.reactions` has it.

        >>> import eslabon as es
        >>> m = es.load("double_pendulum")
        >>> m.simulate([0.0, 0.0], None, 0.1).reactions[0, 0, 3:].round(3) + 0.0      # it carries both bars
        array([ 0.  , 19.62,  0.  ])
        """
        m, of = self._mechanism("reactions"), _quantities()
        return _read_only(of.reactions(m, self.loads, self.t, self.q, self.v, self.a, self.tau))

    @cached_property
    def energy(self) -> Energy:
        """Kinetic, potential and `.total` energy, (..., times) each.

        >>> import eslabon as es
        >>> energy = es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.5]).energy
        >>> bool(abs(energy.kinetic + energy.potential - energy.total).max() < 1e-12)
        True
        """
        both = self.groups.get("energy")
        if both is None:
            m = self._mechanism("energy")
            both = _read_only(_quantities().energy(m, self.loads, self.q, self.v))
        return Energy(both[..., 0], both[..., 1])

    @property
    def end(self) -> tuple[Floats, Floats]:
        """q and v at the last time: where another run may go on.

        >>> import eslabon as es
        >>> q, v = es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.5]).end
        >>> q.shape, v.shape
        ((2,), (2,))
        """
        if not len(self.t):
            raise InputError(f"{self!r} has no end: it holds no time at all.")
        return self.q[..., -1, :], self.v[..., -1, :]

    @property
    def in_rows(self) -> tuple[Floats, Floats, Floats]:
        """q, v and a at its times."""
        return self.q, self.v, self.a

    @property
    def residual(self) -> Floats:
        """What a followed path misses: distance and angle side by side, (times, 2)."""
        return np.stack([self.distance, self.angle], axis=-1)

    # -- at any time ----------------------------------------------------------------------------------------------

    @cached_property
    def _in_time(self) -> TimeFunction:
        """The motion at any time: as it was given, or by quintic polynomials that meet q, v and
        a."""
        if self.source is not None:
            return self.source
        if self.batch or len(self.t) < 2:
            raise InputError(f"{self!r} is no single motion in time; choose one, as in motion[0].")
        m = self.m
        if m is not None and any(m.joint(name).kind.has_quaternion for name in self.joints):
            return orientations_in_time(m, self.t, self.q, self.v, self.a)
        return coordinates_in_time(Interpolant.hermite(self.t, self.q, self.v, self.a))

    @property
    def span(self) -> tuple[float, float]:
        """The times between which it is defined; a law that follows it stays where it is then."""
        return self._in_time.span

    @property
    def held(self) -> bool:
        """Whether it is one configuration for all times."""
        return self.statistics.method == "a configuration"

    def at(self, t: ArrayLike) -> State:
        """q, v and a at times within the span, `(..., n)`.

        >>> import eslabon as es
        >>> path = es.paths.joint_path([[0, 0], [1, 2]], es.paths.quintic(2.0))
        >>> es.as_trajectory(es.load("elbow"), path).at(1.0).v.round(6)
        array([0.9375, 1.875 ])
        """
        times, (start, end) = finite(t, "t"), self.span
        slack = 0.0 if self.span == ENDLESS else OUTSIDE * max(end - start, 1e-300)
        if times.size and not (start - slack <= times.min() and times.max() <= end + slack):
            outside = times.min() if times.min() < start else times.max()
            raise InputError(
                f"the motion is defined from {start:g} to {end:g} s; t = {outside:g} s lies outside."
            )
        return self._in_time.numbers(np.clip(times, start, end))

    def at_symbol(self, t: Any, q: Any = None, v: Any = None) -> State:
        """q, v and a at a symbolic time; with the state q, v of a mechanism those of all its
        joints: what the motion does not tell is as it is."""
        return self._at_symbol(None, t, q, v)

    def _at_symbol(self, data: Any, t: Any, q: Any = None, v: Any = None) -> State:
        given, m = self._in_time.symbols(_symbols(t, "t", 1), data), self.m
        if q is None or self.whole or m is None:
            return given
        places, own = list(m.actuated_coordinates), list(m.actuated_velocities)
        qd, vd, ad = _symbols(q, "q", m.nq), _symbols(v, "v", m.nv), casadi.SX.zeros(m.nv)
        qd[places], vd[own], ad[own] = given.q, given.v, given.a
        return State(qd, vd, ad)

    # As a part of `law_data.LawData`.

    @property
    def data(self) -> Floats:
        """Its configuration, or where its tables stand."""
        return self._in_time.numbers_of_parts.data

    @property
    def structure(self) -> Any:
        """What code that follows it is made for: what it is a formula of."""
        known = self._in_time
        return known.formula, known.numbers_of_parts.structure, self.joints

    @property
    def content(self) -> Any:
        """Its configuration, or its tables."""
        return self._in_time.numbers_of_parts.content

    def symbolic(self, data: Any) -> Callable[..., State]:
        """`at_symbol` of symbols for its data, or of constants."""
        return partial(self._at_symbol, data)

    def completed_at(self, t: ArrayLike, guess: Any = None) -> State:
        """q, v and a of all joints at times, passive ones by continuation along the motion."""
        given, m = self.at(t), self.m
        if self.whole or m is None:
            return given
        return _completed(m, given, guess)

    def completed(self, guess: Any = None) -> Self:
        """The motion of all joints, passive ones by continuation.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> path = es.paths.joint_path([[2.0, 1.0], [2.2, 0.9]], es.paths.quintic(0.5))
        >>> es.as_trajectory(m, path, samples=11).completed().q.shape
        (11, 4)
        """
        if self.whole or self.m is None:
            return self
        made = _completed(self.m, State(self.q, self.v, self.a), guess)
        groups = {**self.groups, "q": made.q, "v": made.v, "a": made.a}
        return replace(self, groups=groups, columns=columns(self.m), source=None)

    # -- parts --------------------------------------------------------------------------------------------------

    def joint(self, name: str) -> JointSignals:
        """The motion of one joint.

        >>> import eslabon as es
        >>> from eslabon.motion.simulation import simulate
        >>> motion = simulate(es.load("double_pendulum"), [0.1, 0.0], [0.0, 0.0], [0.0, 0.5, 1.0])
        >>> motion.joint("q1").q.shape
        (3,)
        """
        if not isinstance(name, str) or name not in self.joints:
            raise ModelError(
                f"{self.name} has no moving joint {format_value(name)}{suggest(name, self.joints)}"
            )

        def own(what: str, values: Floats) -> Floats:
            places = [k for k, c in enumerate(self.columns[what]) if c.joint == name]
            return values[..., places[0]] if len(places) == 1 else values[..., places]

        driven = "tau" in self.groups and any(c.joint == name for c in self.columns["tau"])
        tau = own("tau", self.tau) if driven else None
        return JointSignals(self.t, own("q", self.q), own("v", self.v), own("a", self.a), tau)

    def _column(self, name: str) -> Any:
        return self.groups[name] if self._has(name) else self.joint(name)

    def _some(self, index: Any) -> Self:
        part = super()._some(index)
        return _with_known(replace(part, loads=self.loads.pick(self.batch, index)), part)

    def _part(self, cut: Callable[[Floats], Floats], **changed: Any) -> Self:
        part = super()._part(cut, source=None, **changed)
        if "a" in vars(self):
            vars(part)["a"] = cut(self.a)
        if "energy" in vars(self):
            vars(part)["energy"] = Energy(*(cut(x) for x in self.energy))
        return part

    def contents(self) -> Iterator[Block]:
        one = self[(0,) * len(self.batch)] if self.batch else self
        if self.batch:
            yield Message("The first of its trajectories:")
        for title, group in SHOWN.items():
            if group not in self.groups or (group == "tau" and not self.tau.any()):
                continue
            for unit in dict.fromkeys(c.unit for c in self.columns[group]):
                curves = {
                    f"{group} {c}": one.groups[group][:, k]
                    for k, c in enumerate(self.columns[group])
                    if c.unit == unit
                }
                yield Panel(title, one.t, curves, unit)
        s, worst = self.statistics, float(self.groups.get("closure", np.zeros(0)).max(initial=0.0))
        if s.steps:
            closed = f"; loops closed to {worst:.1g}" if worst else ""
            yield Message(
                f"{s.method}: {s.steps:,} steps, {s.evaluations:,} evaluations, {s.seconds:.2g} s{closed}"
            )

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.joints)

    def __repr__(self) -> str:
        happened = "".join(f", {len(x.t)} {name}" for name, x in self.events.items())
        if "condition" in self.groups:
            worst = np.max(self.condition, initial=0.0)
            happened += f", condition number up to {worst:.2g}"
        if self.source is not None and self.source.span == ENDLESS:
            return f"<Trajectory of {self.name}: {self.statistics.method}>"
        part = "" if self.whole else "the actuated coordinates, "
        return (
            f"<Trajectory of {self.name}: {part}{self._extent}, {self.statistics.method}{happened}>"
        )

    __str__ = __repr__

    # -- files and pictures -------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write everything as .npz, or one trajectory as .csv with a line of names and units.

        >>> import tempfile
        >>> import eslabon as es
        >>> swing = es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.5])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = es.Trajectory.load(swing.save(f"{folder}/swing.csv"))
        >>> bool(abs(again.q - swing.q).max() < 1e-12)
        True
        """
        from eslabon.motion import signal_files

        return signal_files.save(self, signal_files.as_path(path))

    @staticmethod
    def load(path: str | Path) -> Trajectory:
        """A motion from a file that `save` wrote.

        >>> import tempfile
        >>> import eslabon as es
        >>> swing = es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.5])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = es.Trajectory.load(swing.save(f"{folder}/swing.npz"))
        >>> again.name
        'double_pendulum'
        """
        from eslabon.motion import signal_files

        return signal_files.load(signal_files.as_path(path))

    def animate(
        self, path: str | Path | None = None, *, fps: float = 30.0, speed: float = 1.0, size: Any = None, trace: Any = None,
        theme: str | None = None, progress: bool | None = None, **picture: Any,
    ) -> Animation:  # fmt: skip
        """The motion as an animation that a notebook plays; with a path it is written too:
        "swing.mp4", "swing.gif", or "swing.html", a page in which it can be orbited and scrubbed.

        `fps` are frames a second, `speed` is how much faster than in truth it plays, `size` is in
        pixels, `trace` names frames (or points ("body", (x, y, z))) whose paths are drawn, `theme`
        is "light" or "dark". `frames`, `coms`, `shapes`, `view` and `title` are those of `m.plot`.

        >>> import eslabon as es
        >>> motion = es.load("double_pendulum").simulate([0.5, 0.2], None, 1.0)
        >>> motion.animate(fps=10, trace="tip")
        <Animation of double_pendulum: 11 frames, 1.1 s at 10 frames a second>
        """
        m = self.m
        if m is None:
            raise ModelError(
                f"{self!r} comes from a file, which names no mechanism; m.animate(motion.q, motion.t) shows it on m."
            )
        if self.batch:
            raise InputError(
                f"{self!r} cannot be shown at once; animate one of its trajectories, as in motion[0].animate(...)."
            )
        made: Animation = animation(
            self, path=path, fps=fps, speed=speed, size=size, trace=trace, theme=theme,
            progress=progress, **picture,
        )  # fmt: skip
        return made

    def plot(
        self,
        *what: str,
        joints: Any = None,
        theme: str | None = None,
        path: str | Path | None = None,
    ) -> Any:
        """A matplotlib figure of what is asked for, in one or more panels each:

        "coordinates", "velocities", "accelerations", "forces" (of the actuators), "energy",
        "power", "closure" (constraint violation), "reactions" (sizes of the forces and moments that
        joints transmit), all in time; "phase" (velocities over coordinates) and "torque_speed"
        (each actuator's force over its velocity, in the box of its limits, and how far beyond them
        it goes). Left out, it is coordinates, velocities, forces and energy. Only some `joints` may
        be shown; `theme` is "light" or "dark", and with a `path` the figure is written too, as
        .png, .svg or .pdf.

        >>> import eslabon as es
        >>> motion = es.load("double_pendulum").simulate([0.5, 0.2], None, 1.0)
        >>> [ax.get_xlabel() for ax in motion.plot("phase", joints="q1").axes]
        ['q1 [rad]']
        """
        return figure(self, what=what, joints=joints, theme=theme, path=path)


def _quantities() -> Any:
    """The formulas of a motion, which are above it."""
    from eslabon.motion import motion_quantities

    return motion_quantities


def _symbols(x: Any, name: str, size: int) -> Any:
    """A column of so many symbols of CasADi."""
    try:
        made = casadi.SX(x)
    except Exception:
        made = None
    if made is None or made.shape != (size, 1):
        raise InputError(
            f"{name} is a column of {size} symbol{'s' * (size > 1)} of CasADi (SX); it is {format_value(x)}."
        )
    return made


def _read_only(x: Floats) -> Floats:
    x.flags.writeable = False
    return x


def _with_known(motion: Trajectory, part: Trajectory) -> Any:
    """The motion with the quantities of a part that were computed already."""
    vars(motion).update({name: x for name, x in vars(part).items() if name in ("a", "energy")})
    return motion


def _completed(m: Model, given: State, guess: Any) -> State:
    """The states of all joints from those of the actuated ones."""
    if not m.closed or m.rheonomic:
        raise ModelError(
            f"the motion tells the actuated joints of {m.name} alone, and the others do not follow from them; give "
            "all coordinates."
        )
    from eslabon.solve.assembly import complete

    return State(*complete(m, given.q, given.v, given.a, guess, continuation=True))
