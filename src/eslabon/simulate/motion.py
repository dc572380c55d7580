"""What a simulation gives: states in time and what follows from them, with names and units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eslabon.errors import ModelError, suggest
from eslabon.graph.native import InputError
from eslabon.graph.native.arguments import Floats
from eslabon.model import Mechanism

# Names of a joint's coordinates and velocities beside its own, with the unit of a coordinate; by kind of joint.
_ANGLE, _LENGTH = ("", "rad"), ("", "m")
_QUATERNION = (("w", ""), ("x", ""), ("y", ""), ("z", ""))
_TURN = (("wx", "rad"), ("wy", "rad"), ("wz", "rad"))
NAMES: Mapping[str, tuple[tuple[tuple[str, str], ...], ...]] = {
    "revolute": ((_ANGLE,),) * 2,
    "prismatic": ((_LENGTH,),) * 2,
    "helical": ((_ANGLE,),) * 2,
    "cylindrical": ((("angle", "rad"), ("slide", "m")),) * 2,
    "universal": ((("first", "rad"), ("second", "rad")),) * 2,
    "planar": ((("x", "m"), ("y", "m"), ("angle", "rad")),) * 2,
    "spherical": (_QUATERNION, _TURN),
    "free": (
        (("px", "m"), ("py", "m"), ("pz", "m"), *_QUATERNION),
        (*_TURN, ("vx", "m"), ("vy", "m"), ("vz", "m")),
    ),
    "fixed": ((), ()),
}
RATE = {"rad": "rad/s", "m": "m/s"}
SECOND_RATE = {"rad": "rad/s²", "m": "m/s²"}
FORCE = {"rad": "N m", "m": "N"}


class Column(NamedTuple):
    """One number of a state: the joint it belongs to, its name beside the joint's, and its unit."""

    joint: str
    name: str
    unit: str

    def __str__(self) -> str:
        return f"{self.joint}.{self.name}" if self.name else self.joint


def columns(m: Mechanism) -> dict[str, tuple[Column, ...]]:
    """The columns of q, v, a and tau."""
    q = [Column(j.name, n, u) for j in m.joints for n, u in NAMES[j.kind.kind][0]]
    v = [Column(j.name, n, u) for j in m.joints for n, u in NAMES[j.kind.kind][1]]
    driven = [v[k] for k in m.actuated_velocities]
    units = {"v": (RATE, v), "a": (SECOND_RATE, v), "tau": (FORCE, driven)}
    return {"q": tuple(q)} | {k: tuple(c._replace(unit=u[c.unit]) for c in x) for k, (u, x) in units.items()}


class Energy(NamedTuple):
    """Kinetic and potential energy in J, each (..., times)."""

    kinetic: Floats
    potential: Floats

    @property
    def total(self) -> Floats:
        return self.kinetic + self.potential


class Occurrences(NamedTuple):
    """When an event happened, and the states then, a row each."""

    t: Floats
    q: Floats
    v: Floats


class JointMotion(NamedTuple):
    """The motion of one joint: (..., times), with a last axis if it has several freedoms. tau is None if not actuated."""

    t: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats | None


@dataclass(frozen=True)
class Statistics:
    """What a run took: steps and evaluations of the rates of one trajectory, and seconds for all."""

    method: str
    steps: int
    evaluations: int
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """States in time: `t` is (times,), `q` and `v` are (..., times, nq) and (..., times, nv).

    `a`, `tau` and `energy` are computed when first asked for. `closure` is how far loops were from closing, in metres
    and radians; zeros for a tree. `events` has what happened, by name.
    """

    t: Floats
    q: Floats
    v: Floats
    closure: Floats
    name: str
    columns: Mapping[str, tuple[Column, ...]]
    events: Mapping[str, Occurrences]
    statistics: Statistics
    late: Mapping[str, Callable[[Motion], Floats]]  # how to compute the rest

    # -- what follows from the states ---------------------------------------------------------------------------

    @cached_property
    def tau(self) -> Floats:
        """The actuators' forces, (..., times, nu)."""
        return self.late["tau"](self)

    @cached_property
    def a(self) -> Floats:
        """The accelerations, (..., times, nv)."""
        return self.late["a"](self)

    @cached_property
    def energy(self) -> Energy:
        """Kinetic, potential and `.total` energy, (..., times) each."""
        both = self.late["energy"](self)
        return Energy(both[..., 0], both[..., 1])

    @property
    def end(self) -> tuple[Floats, Floats]:
        """q and v at the last time: where another run may go on."""
        return self.q[..., -1, :], self.v[..., -1, :]

    # -- parts --------------------------------------------------------------------------------------------------

    def joint(self, name: str) -> JointMotion:
        """The motion of one joint.

        >>> import eslabon as es
        >>> from eslabon.simulate import simulate
        >>> motion = simulate(es.load("double_pendulum"), [0.1, 0.0], [0.0, 0.0], [0.0, 0.5, 1.0])
        >>> motion.joint("q1").q.shape
        (3,)
        """
        known = list(dict.fromkeys(c.joint for c in self.columns["q"]))
        if name not in known:
            raise ModelError(f"{self.name} has no moving joint '{name}'{suggest(name, known)}")

        def own(what: str, values: Floats) -> Floats:
            places = [k for k, c in enumerate(self.columns[what]) if c.joint == name]
            return values[..., places[0]] if len(places) == 1 else values[..., places]

        driven = any(c.joint == name for c in self.columns["tau"])
        tau = own("tau", self.tau) if driven else None
        return JointMotion(self.t, own("q", self.q), own("v", self.v), own("a", self.a), tau)

    def __getitem__(self, index: Any) -> Motion:
        """Some trajectories of many: `motion[3]`, `motion[:10]`, `motion[0, 2]`."""
        axes, count = self.q.ndim - 2, len(index) if isinstance(index, tuple) else 1
        if count > axes:
            raise InputError(f"{self!r} has {axes} axes of trajectories; {count} cannot be indexed.")
        return self._part(self.t, lambda x: x[index])

    def until(self, t: float) -> Motion:
        """The motion up to a time."""
        count = int(np.searchsorted(self.t, t, side="right"))
        states = self.q.ndim - 2
        return self._part(self.t[:count], lambda x: x[(slice(None),) * states + (slice(count),)])

    def _part(self, t: Floats, cut: Callable[[Floats], Floats]) -> Motion:
        """The same motion of some trajectories or times."""
        late: dict[str, Callable[[Motion], Floats]] = {
            "tau": lambda _: cut(self.tau),
            "a": lambda _: cut(self.a),
            "energy": lambda _: cut(np.stack(self.energy, axis=-1)),
        }
        q, v, closure = cut(self.q), cut(self.v), cut(self.closure)
        return Motion(t, q, v, closure, self.name, self.columns, self.events, self.statistics, late)

    def __repr__(self) -> str:
        many = f"{int(np.prod(self.q.shape[:-2])):,} trajectories, " if self.q.ndim > 2 else ""
        span = f"{self.t[0]:g} to {self.t[-1]:g} s, " if len(self.t) else ""
        happened = "".join(f", {len(x.t)} {name}" for name, x in self.events.items())
        return f"<Motion of {self.name}: {many}{span}{len(self.t):,} times, {self.statistics.method}{happened}>"

    # -- files and pictures -------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write everything as .npz, or one trajectory as .csv with a line of names and units."""
        from eslabon.simulate import files

        return files.save(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> Motion:
        """A motion from a file that `save` wrote."""
        from eslabon.simulate import files

        return files.load(Path(path))

    def plot(self) -> Any:
        """A matplotlib figure of coordinates, velocities, forces and energy in time."""
        from eslabon.simulate import plot

        return plot.figure(self)
