"""What a simulation gives: states in time and what follows from them, with names and units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from eslabon.arguments import Floats, floats
from eslabon.displays import displayed
from eslabon.errors import InputError, ModelError, format_value, suggest
from eslabon.model import Model
from eslabon.model.configuration import SignalColumn, coordinate_columns, velocity_columns
from eslabon.pages import paragraph
from eslabon.pages.notebook import in_groups
from eslabon.plotting import saved

if TYPE_CHECKING:
    from eslabon.drawing.animation import Animation
    from eslabon.motion.simulation.applied_system import System
    from eslabon.motion.simulation.controller_memory import Memory

ACCELERATION = {"rad/s": "rad/s²", "m/s": "m/s²"}  # the units that go with a velocity's
FORCE = {"rad/s": "N m", "m/s": "N"}


class Outcome(NamedTuple):
    """What a run made: times, states (..., times, n), what it took, for each event the times and states of its occurrences; of
    what a law that is sampled or written in Python drove it with, the forces that acted and those asked for; the states
    of a law; and the accelerations, where modes decide about them."""

    t: Floats
    x: Floats
    steps: int
    evaluations: int
    events: Mapping[str, tuple[Floats, Floats]] = {}
    tau: Floats | None = None
    asked: Floats | None = None
    state: Floats | None = None
    a: Floats | None = None

    def remembering(self, memory: Memory) -> Outcome:
        """With what a law remembered."""
        return self._replace(tau=memory.acting, asked=memory.asked, state=memory.state)


def columns(m: Model) -> dict[str, tuple[SignalColumn, ...]]:
    """The columns of q, v, a and tau."""
    v = velocity_columns(m)
    a = tuple(c._replace(unit=ACCELERATION[c.unit]) for c in v)
    tau = tuple(v[k]._replace(unit=FORCE[v[k].unit]) for k in m.actuated_velocities)
    return {"q": coordinate_columns(m), "v": v, "a": a, "tau": tau, "tau_commanded": tau}


@displayed(line=True)
class Energy(NamedTuple):
    """Kinetic and potential energy in J, each (..., times)."""

    kinetic: Floats
    potential: Floats

    @property
    def total(self) -> Floats:
        return self.kinetic + self.potential


@displayed(line=True)
class Occurrences(NamedTuple):
    """When an event happened, and the states then, a row each."""

    t: Floats
    q: Floats
    v: Floats


@displayed(line=True)
class JointMotion(NamedTuple):
    """The motion of one joint: (..., times), with a last axis if it has several degrees of freedom.

    tau is None if it is not actuated.
    """

    t: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats | None


def _read_only(x: Floats) -> Floats:
    x.flags.writeable = False
    return x


@displayed
@dataclass(frozen=True)
class Statistics:
    """What a run took: steps and evaluations of the rates of one trajectory, and seconds for all."""

    method: str
    steps: int
    evaluations: int
    seconds: float


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """States in time: `t` is (times,), `q`, `v` and `tau` are (..., times, nq), (..., times, nv) and (..., times, nu).

    `tau` are the actuators' forces that acted at these times, `tau_commanded` those that the control asked for, which differ where
    they are limited or delayed. `x` are the states of a law that has some, (..., times, states). `a`, `energy` and
    `coupling_forces` are computed when first asked for. `closure` is the constraint violation of the loops, in radians or
    metres over the characteristic length; zeros for a tree. `events` has what happened, by name. The arrays cannot be written to: copy them to change them.

    >>> import eslabon as es
    >>> swing = es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.5, 1.0])
    >>> swing.q.shape, swing["q1"].q.shape
    ((3, 2), (3,))
    >>> swing.end[0].round(3)
    array([-0.371, -0.222])
    """

    t: Floats
    q: Floats
    v: Floats
    tau: Floats
    tau_commanded: Floats
    x: Floats
    closure: Floats
    name: str
    columns: Mapping[str, tuple[SignalColumn, ...]]
    events: Mapping[str, Occurrences]
    statistics: Statistics
    system: System | None  # what moved; None for a motion from a file

    def __post_init__(self) -> None:
        own = (self.t, self.q, self.v, self.tau, self.tau_commanded, self.x, self.closure)
        for x in (*own, *(x for happened in self.events.values() for x in happened)):
            _read_only(x)

    @staticmethod
    def known(a: Floats, energy: Floats, **fields: Any) -> Trajectory:
        """A motion of which all is known, from a file."""
        motion = Trajectory(**fields, system=None)
        vars(motion).update(a=a, energy=Energy(energy[..., 0], energy[..., 1]))
        return motion

    # -- what follows from the states ---------------------------------------------------------------------------

    @cached_property
    def a(self) -> Floats:
        """The accelerations, (..., times, nv).

        >>> import eslabon as es
        >>> es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.25, 0.5]).a.shape
        (3, 2)
        """
        assert self.system is not None
        return _read_only(self.system.accelerations(self.t, self.q, self.v, self.tau))

    @cached_property
    def coupling_forces(self) -> Floats:
        """The force, or moment, of every coupling on its joint, (..., times, couplings): what gears transmit, and what drives a
        joint whose motion is a function of the time.

        >>> import eslabon as es
        >>> b = es.Builder("fan", gravity=(0, 0, 0)).body("blade", mass=2.0, com=(0.5, 0, 0)).actuate()
        >>> m = b.joint("q", "revolute", "ground", "blade").drive("motor", "q", "0.1*t**3").build()
        >>> m.simulate([0.0], None, 1.0, method="rk4", step=0.01).coupling_forces[-1].round(3)
        array([0.3])
        """
        if self.system is None or not self.system.m.couplings:
            why = (
                "it comes from a file" if self.system is None else "its mechanism has no couplings"
            )
            raise ModelError(f"{self!r} has no coupling forces: {why}.")
        return _read_only(self.system.coupling_forces(self.t, self.q, self.v, self.tau))

    @cached_property
    def reactions(self) -> Floats:
        """The wrench that every joint, then every cut joint, transmits, (..., times, joints, 6): moment first, as
        `Mechanism.reactions` has it.

        >>> import eslabon as es
        >>> m = es.load("double_pendulum")
        >>> m.simulate([0.0, 0.0], None, 0.1).reactions[0, 0, 3:].round(3) + 0.0      # it carries both bars
        array([ 0.  , 19.62,  0.  ])
        """
        if self.system is None:
            raise ModelError(
                f"{self!r} has no reactions: it comes from a file, which does not hold its mechanism."
            )
        return _read_only(self.system.reactions(self.t, self.q, self.v, self.a, self.tau))

    @cached_property
    def energy(self) -> Energy:
        """Kinetic, potential and `.total` energy, (..., times) each.

        >>> import eslabon as es
        >>> energy = es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.5]).energy
        >>> bool(abs(energy.kinetic + energy.potential - energy.total).max() < 1e-12)
        True
        """
        assert self.system is not None
        both = _read_only(self.system.energy(self.q, self.v))
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

    # -- parts --------------------------------------------------------------------------------------------------

    def joint(self, name: str) -> JointMotion:
        """The motion of one joint.

        >>> import eslabon as es
        >>> from eslabon.motion.simulation import simulate
        >>> motion = simulate(es.load("double_pendulum"), [0.1, 0.0], [0.0, 0.0], [0.0, 0.5, 1.0])
        >>> motion.joint("q1").q.shape
        (3,)
        """
        known = list(dict.fromkeys(c.joint for c in self.columns["q"]))
        if not isinstance(name, str) or name not in known:
            raise ModelError(
                f"{self.name} has no moving joint {format_value(name)}{suggest(name, known)}"
            )

        def own(what: str, values: Floats) -> Floats:
            places = [k for k, c in enumerate(self.columns[what]) if c.joint == name]
            return values[..., places[0]] if len(places) == 1 else values[..., places]

        driven = any(c.joint == name for c in self.columns["tau"])
        tau = own("tau", self.tau) if driven else None
        return JointMotion(self.t, own("q", self.q), own("v", self.v), own("a", self.a), tau)

    @overload
    def __getitem__(self, index: str) -> JointMotion: ...
    @overload
    def __getitem__(self, index: Any) -> Trajectory: ...
    def __getitem__(self, index: Any) -> Trajectory | JointMotion:
        """A joint by its name, `motion["elbow"].q`, or some trajectories of many: `motion[3]`, `motion[:10]`,
        `motion[0, 2]`."""
        if isinstance(index, str):
            return self.joint(index)
        axes, batch = self.q.ndim - 2, self.q.shape[:-2]
        places = index if isinstance(index, tuple) else (index,)
        if len(places) > axes or any(k is None or k is Ellipsis for k in places):
            raise InputError(
                f"{self!r} has {axes} axes of trajectories; [{index!r}] cannot be indexed."
            )
        try:
            np.empty(batch)[index]
        except (IndexError, ValueError, TypeError) as error:
            raise InputError(
                f"{self!r} has trajectories of shape {batch}; [{index!r}] picks none: {error}."
            ) from None
        return self._part(
            self.t, lambda x: x[index], self.system and self.system.pick(batch, index)
        )

    def until(self, t: float) -> Trajectory:
        """The motion up to a time.

        >>> import eslabon as es
        >>> es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.5, 1.0]).until(0.6).t
        array([0. , 0.5])
        """
        end = floats(t, "t")
        if end.ndim or np.isnan(end):
            raise InputError(f"until takes a time in seconds; it is {format_value(t)}.")
        count = int(np.searchsorted(self.t, end, side="right"))
        states = self.q.ndim - 2
        return self._part(
            self.t[:count], lambda x: x[(slice(None),) * states + (slice(count),)], self.system
        )

    def _part(
        self, t: Floats, cut: Callable[[Floats], Floats], system: System | None
    ) -> Trajectory:
        """The same motion of some trajectories or times."""
        own = ("q", "v", "tau", "tau_commanded", "x", "closure")
        parts: dict[str, Any] = {what: cut(getattr(self, what)) for what in own}
        part = replace(self, t=t, system=system, **parts)
        if "a" in vars(self):
            vars(part)["a"] = cut(self.a)
        if "energy" in vars(self):
            vars(part)["energy"] = Energy(*(cut(x) for x in self.energy))
        return part

    def _pieces(self) -> Iterator[str]:
        one = self[(0,) * (self.q.ndim - 2)] if self.q.ndim > 2 else self
        if self.q.ndim > 2:
            yield paragraph("The first of its trajectories:")
        own = {"coordinates": "q", "velocities": "v", "actuators' forces": "tau"}
        groups = {
            title: [
                (f"{word} {c}", c.unit, getattr(one, word)[:, k])
                for k, c in enumerate(self.columns[word])
            ]
            for title, word in own.items()
            if word != "tau" or self.tau.any()
        }
        yield from in_groups(self.t, groups)
        s, worst = self.statistics, float(self.closure.max(initial=0.0))
        closed = f"; loops closed to {worst:.1g}" if worst else ""
        took = f"{s.method}: {s.steps:,} steps, {s.evaluations:,} evaluations, {s.seconds:.2g} s{closed}"
        yield paragraph(took, "es-caption")

    def _ipython_key_completions_(self) -> list[str]:
        return list(dict.fromkeys(c.joint for c in self.columns["q"]))

    def __repr__(self) -> str:
        many = f"{int(np.prod(self.q.shape[:-2])):,} trajectories, " if self.q.ndim > 2 else ""
        span = f"{self.t[0]:g} to {self.t[-1]:g} s, " if len(self.t) else ""
        happened = "".join(f", {len(x.t)} {name}" for name, x in self.events.items())
        return f"<Trajectory of {self.name}: {many}{span}{len(self.t):,} times, {self.statistics.method}{happened}>"

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
        """The motion as an animation that a notebook plays; with a path it is written too: "swing.mp4", "swing.gif", or
        "swing.html", a page in which it can be orbited and scrubbed.

        `fps` are frames a second, `speed` is how much faster than in truth it plays, `size` is in pixels, `trace` names frames (or
        points ("body", (x, y, z))) whose paths are drawn, `theme` is "light" or "dark". `frames`, `coms`, `shapes`, `view` and
        `title` are those of `m.plot`.

        >>> import eslabon as es
        >>> motion = es.load("double_pendulum").simulate([0.5, 0.2], None, 1.0)
        >>> motion.animate(fps=10, trace="tip")
        <Animation of double_pendulum: 11 frames, 1.1 s at 10 frames a second>
        """
        from eslabon.drawing.animation import animation

        if self.system is None:
            raise ModelError(
                f"{self!r} comes from a file, which names no mechanism; m.animate(motion.q, motion.t) shows it on m."
            )
        m = self.system.m
        if self.q.ndim > 2:
            raise InputError(
                f"{self!r} cannot be shown at once; animate one of its trajectories, as in motion[0].animate(...)."
            )
        if self.system.parameters:
            m = m.with_parameters(
                **{name: float(np.ravel(x)[0]) for name, x in self.system.parameters.items()}
            )
        return animation(m, self.t, self.q, path, fps=fps, speed=speed, size=size, trace=trace, theme=theme, progress=progress, **picture)  # fmt: skip

    def plot(
        self,
        *what: str,
        joints: Any = None,
        theme: str | None = None,
        path: str | Path | None = None,
    ) -> Any:
        """A matplotlib figure of what is asked for, in one or more panels each:

        "coordinates", "velocities", "accelerations", "forces" (of the actuators), "energy", "power", "closure" (constraint
        violation), "reactions" (sizes of the forces and moments that joints transmit), all in time; "phase" (velocities over
        coordinates) and "torque_speed" (each actuator's force over its velocity, in the box of its limits, and how far beyond
        them it goes). Left out, it is coordinates, velocities, forces and energy. Only some `joints` may be shown; `theme` is
        "light" or "dark", and with a `path` the figure is written too, as .png, .svg or .pdf.

        >>> import eslabon as es
        >>> motion = es.load("double_pendulum").simulate([0.5, 0.2], None, 1.0)
        >>> [ax.get_xlabel() for ax in motion.plot("phase", joints="q1").axes]
        ['q1 [rad]']
        """
        from eslabon.motion.simulation.motion_plot import figure

        return saved(figure(self, what, joints, theme), path)
