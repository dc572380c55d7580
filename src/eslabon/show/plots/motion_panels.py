"""The panels of a motion: its quantities in time, and curves in the planes of phase and of torque and speed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.model.configuration import SignalColumn
from eslabon.motion.trajectory import Trajectory
from eslabon.plotting import axis_label, curves, panel_title, theme_at

TITLES = {"rad": "angles", "m": "positions", "": "quaternions", "rad/s": "angular rates", "m/s": "speeds",
    "rad/s²": "angular accelerations", "m/s²": "accelerations", "N m": "torques", "N": "forces"}  # fmt: skip
DOTS = 20  # trajectories whose starts are marked
TOUCHING = 1e-9  # of a limit: what is beyond it by less keeps it
ROUND_OFF = 1e-13  # of the largest component of any wrench
Joints = frozenset[str] | None


@dataclass(frozen=True)
class Panel:
    """Curves by name, each (..., n), over the time or over what `x` has for each name."""

    title: str
    unit: str
    curves: Mapping[str, Floats]
    t: Floats | None = None
    x: Mapping[str, Floats] | None = None
    across: str = ""
    name: str = ""
    log: bool = False
    finish: Callable[[Any], None] = lambda ax: None

    @property
    def timed(self) -> bool:
        return self.x is None

    def draw(self, ax: Any) -> None:
        over = self.t if self.x is None else self.x
        lines = curves(
            ax, over, self.curves, name=self.name, unit=self.unit, title=self.title, log=self.log
        )
        if not self.timed:
            ax.set_xlabel(self.across)
            ax.margins(0.05)
            _mark_starts(ax, lines)
        self.finish(ax)


def _mark_starts(ax: Any, lines: Sequence[Any]) -> None:
    """A dot where each trajectory begins, unless there are many."""
    for line in lines if len(lines) <= DOTS else ():
        ax.plot(*(x[:1] for x in line.get_data()), "o", color=line.get_color(), markersize=4)


def _chosen(columns: tuple[SignalColumn, ...], joints: Joints) -> list[int]:
    return [k for k, column in enumerate(columns) if joints is None or column.joint in joints]


def _by_unit(columns: tuple[SignalColumn, ...], joints: Joints) -> dict[str, list[int]]:
    """The places of columns of each unit."""
    made: dict[str, list[int]] = {}
    for k in _chosen(columns, joints):
        made.setdefault(columns[k].unit, []).append(k)
    return made


# -- in time ----------------------------------------------------------------------------------------------------------


def in_time(motion: Trajectory, what: str, joints: Joints) -> Iterator[Panel]:
    """A panel for each unit of q, v, a or tau."""
    values, columns = getattr(motion, what), motion.columns[what]
    for unit, places in _by_unit(columns, joints).items():
        yield Panel(TITLES[unit], unit, {str(columns[k]): values[..., k] for k in places}, motion.t)


def energy(motion: Trajectory, joints: Joints) -> Iterator[Panel]:
    """Kinetic, potential and total energy of the whole mechanism."""
    kinetic, potential = motion.energy
    parts = {"kinetic": kinetic, "potential": potential, "total": motion.energy.total}
    yield Panel("energy", "J", parts, motion.t)


def power(motion: Trajectory, joints: Joints) -> Iterator[Panel]:
    """What the actuators give."""
    columns, velocities = motion.columns["tau"], _places(motion)
    given = {
        str(columns[k]): motion.tau[..., k] * motion.v[..., velocities[k]]
        for k in _chosen(columns, joints)
    }
    if given:
        yield Panel("power of the actuators", "W", given, motion.t)


def closure(motion: Trajectory, joints: Joints) -> Iterator[Panel]:
    """The constraint violation of the loops, if there are any; zero has no place on its logarithmic axis."""
    if "closure" in motion.groups and motion.closure.any():
        violation = np.where(motion.closure > 0, motion.closure, np.nan)
        yield Panel(
            "constraint violation of the loops",
            "rad, m/L",
            {"violation": violation},
            motion.t,
            log=True,
        )


def condition(motion: Trajectory, joints: Joints) -> Iterator[Panel]:
    """The condition number along a path that was followed."""
    number = motion.condition
    most, least = np.max(number, initial=1.0), np.min(number, initial=np.inf)
    curves = {"condition number": number}
    yield Panel("conditioning", "", curves, motion.t, log=bool(most > 10 * least))


def reactions(motion: Trajectory, joints: Joints) -> Iterator[Panel]:
    """The force and the moment that each joint transmits, moments about the origin of the body it carries."""
    wrenches = motion.reactions
    m = motion.m
    assert m is not None
    named = {**{j.name: j.name for j in m.joints}, **{x.name: f"{x.name} (cut)" for x in m.loops}}
    own = [
        (k, label)
        for k, (name, label) in enumerate(named.items())
        if joints is None or name in joints
    ]
    for title, unit, part in (
        ("reaction forces", "N", slice(3, 6)),
        ("reaction moments", "N m", slice(0, 3)),
    ):
        sizes = np.linalg.norm(wrenches[..., part], axis=-1)
        sizes[sizes < ROUND_OFF * np.abs(wrenches).max(initial=0.0)] = (
            0.0  # pins of a plane carry no moments
        )
        yield Panel(title, unit, {label: sizes[..., k] for k, label in own}, motion.t)


# -- in planes --------------------------------------------------------------------------------------------------------


def _places(motion: Trajectory) -> list[int]:
    """The velocity of each actuator."""
    names = [str(column) for column in motion.columns["v"]]
    return [names.index(str(column)) for column in motion.columns["tau"]]


def phase(motion: Trajectory, joints: Joints) -> Iterator[Panel]:
    """Velocities over coordinates, of joints whose velocities are the rates of their coordinates; a dot is the start."""
    q, v = motion.columns["q"], motion.columns["v"]
    rates = {str(column): k for k, column in enumerate(v)}
    for unit, places in _by_unit(q, joints).items():
        own = [k for k in places if f"{unit}/s" == v[rates[str(q[k])]].unit] if unit else []
        own = [k for k in own if _plain(q, q[k].joint) == _plain(v, q[k].joint)]
        if own:
            x = {str(q[k]): motion.q[..., k] for k in own}
            y = {str(q[k]): motion.v[..., rates[str(q[k])]] for k in own}
            across = axis_label(_sole(x, "coordinate"), unit)
            yield Panel(
                "phase",
                f"{unit}/s",
                y,
                x=x,
                across=across,
                name=f"rate of {_sole(x, 'coordinate')}",
            )


def _plain(columns: tuple[SignalColumn, ...], joint: str) -> list[str]:
    return [c.name for c in columns if c.joint == joint]


def _sole(named: Mapping[str, Any], otherwise: str) -> str:
    return next(iter(named)) if len(named) == 1 else otherwise


def torque_speed(motion: Trajectory, joints: Joints) -> Iterator[Panel]:
    """Force over velocity of each actuator, in the box of its limits, and what of it is beyond them."""
    for k, place in enumerate(_places(motion)):
        column, rate = motion.columns["tau"][k], motion.columns["v"][place].unit
        if joints is None or column.joint in joints:
            v, tau = motion.v[..., place], motion.tau[..., k]
            box = Box(rate, column.unit, *_limits(motion, place))
            names = ("speed", "force") if rate == "m/s" else ("angular rate", "torque")
            yield Panel(str(column), column.unit, {str(column): tau}, x={str(column): v}, name=names[1],
                across=axis_label(names[0], rate), finish=partial(box.draw, v=v, tau=tau))  # fmt: skip


def _limits(motion: Trajectory, place: int) -> tuple[float, float]:
    """The limits of a velocity and of its force, infinite where there are none: those of the mechanism, which files leave out."""
    if motion.m is None:
        return np.inf, np.inf
    m, column = motion.m, motion.columns["v"][place]
    joint = m.joint(column.joint)
    k = place - m.velocities[joint.name].start
    velocity, effort = (
        np.inf if x is None else float(x[k]) for x in (joint.velocity_limit, joint.effort_limit)
    )
    return velocity, effort


@dataclass(frozen=True)
class Box:
    """The limits of an actuator: of its velocity and of its force, with their units."""

    rate: str
    unit: str
    velocity: float
    effort: float

    def draw(self, ax: Any, v: Floats, tau: Floats) -> None:
        """The box, marks on what is outside, and a sentence of how far it goes."""
        theme = theme_at(ax)
        line = {"color": theme.role("limit"), "linewidth": 1.0, "linestyle": (0, (5, 3))}
        velocity, effort = (np.array([-x, x]) for x in (self.velocity, self.effort))
        if np.isfinite(self.velocity):
            ax.vlines(velocity, *(effort if np.isfinite(self.effort) else _reach(tau)), **line)
        if np.isfinite(self.effort):
            ax.hlines(effort, *(velocity if np.isfinite(self.velocity) else _reach(v)), **line)
        outside = self.outside(v, tau)
        if outside.any():
            ax.plot(
                v[outside], tau[outside], ".", color=theme.role("singular"), markersize=5, zorder=3
            )
        panel_title(ax, "\n".join([ax.get_title(loc="left"), *self.sentences(v, tau)]))

    def outside(self, v: Floats, tau: Floats) -> Floats:
        """Where a limit is exceeded."""
        both = zip((v, tau), (self.velocity, self.effort), strict=True)
        return np.any([np.abs(x) > limit * (1 + TOUCHING) for x, limit in both], axis=0)

    def sentences(self, v: Floats, tau: Floats) -> list[str]:
        """What of the limits is exceeded, and by how much."""
        if np.isinf(self.velocity) and np.isinf(self.effort):
            return ["no limits are given"]
        kinds = (("effort", tau, self.effort, self.unit), ("velocity", v, self.velocity, self.rate))
        beyond = [
            f"exceeds its {name} limit of {limit:.4g} {unit}: {np.abs(x).max():.4g} {unit}"
            for name, x, limit, unit in kinds
            if np.abs(x).max(initial=0.0) > limit * (1 + TOUCHING)
        ]
        return beyond or ["within its limits"]


def _reach(values: Floats) -> tuple[float, float]:
    return float(values.min(initial=0.0)), float(values.max(initial=0.0))
