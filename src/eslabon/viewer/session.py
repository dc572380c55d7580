"""A mechanism as it stands in a view, and what a person may do to it: move its joints, lead a frame, change its parameters,
choose another assembly mode. No graphics here.

A request is met as far as the mechanism allows. What was in the way is returned as a sentence; it is empty where all was
done. Loops are closed after every request, and joints are within their limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats, states, text
from eslabon.errors import (
    AssemblyError,
    EslabonError,
    InputError,
    ModelError,
    format_value,
    suggest,
)
from eslabon.formulas.kinematics.frames import default_frame, moving_bodies
from eslabon.model import GROUND, Model
from eslabon.model.configuration import (
    coordinate_columns,
    difference,
    limits,
    values_by_joint,
)
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION, DISTINCT
from eslabon.scene import body_poses
from eslabon.solve.branch_assembly import NearBranch
from eslabon.solve.configurations import Configurations, distinct
from eslabon.solve.constraints.closed_configurations import residuals_at
from eslabon.solve.designs import Designs
from eslabon.solve.determinacy import determinacy
from eslabon.solve.prescribed import prescribed
from eslabon.solve.problem import CLOSURE_ALONE, Problem
from eslabon.solve.ranges import Ranges
from eslabon.solve.rows import Orientation, Position
from eslabon.solve.singular.conditions import independent_coordinates, reachable_twists
from eslabon.solve.solver import follow
from eslabon.solve.target import Target

if TYPE_CHECKING:
    from eslabon.mechanism import Mechanism

ROWS = 16  # configurations on the way to a value
LEAP = 0.5  # rad, lengths in units of the mechanism's size: more than a frame that is led should ask of a joint at once
STRIDE = 0.1  # the same, of a frame that is led
MOST = 8  # strides at once
WORKING_MODES, MODES = 8, 40  # at most; the general hexapod closes in forty ways


class Drive(NamedTuple):
    """A coordinate that a person moves: its place in q, its joint, its name, its unit ("rad" or "m"), its range, and whether an
    actuator moves it or it is passive."""

    place: int
    joint: str
    name: str
    unit: str
    lower: float
    upper: float
    actuated: bool


@dataclass
class Session:
    """The mechanism `m` at the configuration `q`; `original` is the mechanism with the parameters it came with.

    >>> import eslabon as es
    >>> s = Session.of(es.load("five_bar"))
    >>> s.move(s.drives[0], 2.0)
    ''
    >>> float(s.q[0]), bool(abs(s.m.constraint(s.q)).max() < 1e-9)
    (2.0, True)
    """

    original: Mechanism
    m: Mechanism
    q: Floats
    frame: str | None  # that is led, and judged by the conditions

    @staticmethod
    def of(m: Mechanism, q: Any = None, frame: str | None = None) -> Session:
        made = Session(
            m, m, np.zeros(m.nq), default_frame(m) if frame is None else _moving_frame(m, frame)
        )
        made.take(start(m) if q is None else q)
        return made

    def take(self, q: Any) -> None:
        """Stand at a configuration, one that closes the loops or is near to one that does."""
        q = states(q, "q", self.m.nq, self.m.name)
        if q.ndim != 1:
            raise InputError(
                f"a view shows one configuration ({self.m.nq},) at a time; q has shape {q.shape}."
            )
        apart = (
            np.abs(residuals_at(self.m, q)).max(initial=0.0)
            if self.m.closed and not self.m.rheonomic
            else 0.0
        )
        self.q = np.array(self.m.project(q) if apart > ACCEPTED_VIOLATION else q)

    def home(self) -> None:
        """Back to where the mechanism starts."""
        self.q = start(self.m)

    @property
    def poses(self) -> Floats:
        """The poses of all bodies, the ground first, (bodies + 1, 4, 4)."""
        return np.asarray(body_poses(self.original, self.q, self.parameters or None))

    # -- joints -----------------------------------------------------------------------------------------------------

    @property
    def drives(self) -> tuple[Drive, ...]:
        """The coordinates that a person moves: those of the actuated joints, and of joints that move by themselves."""
        return drives_of(self.original)

    def move(self, drive: Drive, value: float) -> str:
        """Bring a coordinate to a value, the other drives held, along the branch on which the mechanism stands."""
        m, lower, upper = self.m, *limits(self.m)
        goal = float(np.clip(value, lower[drive.place], upper[drive.place]))
        if not m.closed:
            self.q = self.q.copy()
            self.q[drive.place] = goal
        elif m.rheonomic:
            given = values_by_joint(m, self._held(drive), self._values(drive, goal))
            self.q = m.assemble(given, self.q, singular="error", t=0.0)
        else:
            return self._moved_along(drive, goal)
        return (
            ""
            if goal == value
            else f"{drive.name} stands at its limit of {quantity(goal, drive.unit)}."
        )

    def _held(self, drive: Drive) -> tuple[str, ...]:
        """The joints that are prescribed while one is moved: all drives, unless they are more than the degrees of freedom."""
        joints = tuple(dict.fromkeys(d.joint for d in self.drives))
        return (drive.joint,) if determinacy(self.m, Problem(joints)).surplus else joints

    def _values(self, drive: Drive, goal: float) -> Floats:
        q = self.q.copy()
        q[drive.place] = goal
        return q[Problem(self._held(drive)).coordinates(self.m)]

    def _moved_along(self, drive: Drive, goal: float) -> str:
        """By continuation, as far as the loops close and the limits let it."""
        given, why = Problem(self._held(drive)), ""
        far = abs(goal - self.q[drive.place]) * (
            1.0 if drive.unit == "rad" else 1 / characteristic_length(self.m)
        )
        for count in (
            1 if far < STRIDE else ROWS,
            ROWS,
            ROWS,
        ):  # what is in the way is looked at more closely
            begin, end = self._values(drive, float(self.q[drive.place])), self._values(drive, goal)
            parts = np.linspace(0.0, 1.0, count + 1)[1:]
            self.q, why = self._way(given, begin + parts[:, None] * (end - begin))
            if not why:
                return ""
        return f"{drive.name} stops at {quantity(self.q[drive.place], drive.unit)}: {why}."

    def _way(self, given: Problem, rows: Floats) -> tuple[Floats, str]:
        """How far a motion of the prescribed values leads, and what is in its way."""
        m, ranges = self.m, Ranges.of(self.m)
        motion = follow(m, given, self.q[None], rows[None])
        inside = ranges.contain(motion.q[0])
        crossed = min((c.row for c in motion.crossings), default=len(rows))
        lost = int(np.argmax(np.append(motion.lost[0], True)))
        singular, limited = min(crossed, lost), int(np.argmin(np.append(inside, False)))
        last = min(singular, limited)
        q = motion.q[0, last - 1] if last else self.q
        if last == len(rows):
            return q, ""
        if lost < min(
            crossed, limited
        ):  # the row that was not reached has where the way to it ended
            q = motion.q[0, lost]
        if limited < singular:
            return q, f"beyond it, {ranges.outside(motion.q[0, limited])}"
        if motion.lost[0, last]:  # as far as the way leads
            q = motion.q[0, last]
        return (
            q,
            "beyond it the loops do not close, or close in another way (a singular configuration)",
        )

    # -- frames -----------------------------------------------------------------------------------------------------

    def pose(self, frame: str) -> Floats:
        """Where a frame or a body stands, (4, 4)."""
        return np.asarray(self.original.pose(self.q, frame, parameters=self.parameters))

    def reach(self, frame: str, pose: Floats) -> str:
        """Lead a frame towards a pose, or, where it cannot turn by itself, its origin towards a place; to the nearest that loops
        and limits allow."""
        m, part = self.m, self.task(frame)
        for target in _between(self.pose(frame), pose, characteristic_length(m)):
            found = self._found(frame, part, target)
            away = np.abs(difference(m, found.q, self.q) * velocity_scales(m)).max(initial=0.0)
            if away > LEAP or not np.isfinite(found.q).all():
                return f"'{frame}' stops: to get nearer it would have to jump to another branch."
            if (
                m.closed
                and not np.abs(residuals_at(m, found.q)).max(initial=0.0) < ACCEPTED_VIOLATION
            ):
                return f"'{frame}' stops: nearer to the place asked for, the loops do not close."
            self.q = np.array(found.q)
            if not found.converged:
                short = _missing(
                    float(found.distance), float(found.angle), characteristic_length(m)
                )
                return f"'{frame}' stands as near as it can, {short} short."
        return ""

    def task(self, frame: str) -> str:
        """What of a frame can be asked for; see `task_of`. It is a matter of the structure, not of the parameters."""
        return task_of(self.original, frame)

    def _found(self, frame: str, part: str, target: Floats) -> Any:
        """The configuration for a pose nearby in one native call, or else by the general way."""
        m, goal = self.m, _as_target(frame, part, target)
        if part == "pose" and m.closed and not m.rheonomic:
            problem, x = prescribed(m, goal)
            near = NearBranch.of(m, problem)(self.q, x, True)
            if near is not None:
                return Configurations(near, True, 0.0, 0.0, 1)
        return m.inverse_kinematics(goal, self.q, report=True, restarts=0)

    # -- parameters -------------------------------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, float]:
        return dict(self.m.parameters)

    def change(self, name: str, value: float) -> str:
        """Another value of a parameter; the mechanism closes again from where it stands, its actuated joints held if they can
        be. Where it does not, or there is no such mechanism, all stays as it was."""
        try:
            other = self.m.with_parameters(**{name: value})
            held = tuple(d.joint for d in self.drives)
            q = closed_again(self.original, self.parameters, dict(other.parameters), self.q, held)
        except EslabonError as error:
            return f"{name} stays at {self.parameters.get(name, float('nan')):.6g}: {error}"
        if not Ranges.of(other).contain(q):
            return (
                f"{name} stays at {self.parameters[name]:.6g}: else {Ranges.of(other).outside(q)}."
            )
        self.m, self.q = other, q
        return ""

    # -- assembly modes -----------------------------------------------------------------------------------------------

    def assembly_modes(self) -> dict[str, Floats]:
        """Configurations by name: those of the description, and the ways in which it closes for the same actuated values; of
        an arm without loops the ways in which its frame reaches the same pose."""
        found = {f"named: {name}": np.array(q) for name, q in self.m.modes.items()}
        if self.m.closed:
            values = self.q[Problem(self._driven).coordinates(self.m)]
            modes = self.m.assembly_modes(values_by_joint(self.m, self._driven, values))
            word = "assembly mode"
        elif self.frame is not None and self.task(self.frame) == "pose":
            goal = Target(self.frame, pose=self.pose(self.frame))
            found_modes = self.m.inverse_kinematics(
                goal, self.q, solutions=WORKING_MODES, report=True
            )
            modes, word = found_modes.q[found_modes.converged], "working mode"
        else:
            return found
        modes = modes[
            distinct(
                self._places(modes), lambda others, x: np.abs(others - x).max(axis=-1), DISTINCT
            )
        ][:MODES]
        return found | {f"{word} {k + 1} of {len(modes)}": np.array(q) for k, q in enumerate(modes)}

    def _places(self, q: Floats) -> Floats:
        """Where the bodies' origins and the frame stand, a row for each configuration: modes with the same places look the same,
        such as those of a universal joint turned over."""
        poses = np.asarray(body_poses(self.original, q, self.parameters or None))
        places = poses[:, 1:, :3, 3].reshape(len(q), -1) / characteristic_length(self.m)
        if self.frame is None:
            return places
        frame = np.asarray(self.original.pose(q, self.frame, parameters=self.parameters))
        return np.concatenate([places, frame[:, :3].reshape(len(q), -1)], axis=-1)

    @cached_property
    def _driven(self) -> tuple[str, ...]:
        return tuple(self.m.actuated) or tuple(dict.fromkeys(d.joint for d in self.drives))


def closed_again(
    m: Model, old: Mapping[str, float], new: Mapping[str, float], q: Floats, held: tuple[str, ...]
) -> Floats:
    """The closed configuration that q becomes as the parameters go straight from old to new values; the
    joints `held` keep their coordinates if the loops close with that, else all joints move, as little
    as they can. The parameters are inputs of native code, so that a slider compiles nothing anew.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> q, p = m.assemble([2.0, 1.0]), dict(m.parameters)
    >>> longer = p | {"L2": 1.05 * p["L2"]}
    >>> there = closed_again(m, p, longer, q, m.actuated)
    >>> bool(abs(m.with_parameters(**longer).constraint(there)).max() < 1e-9), bool(abs(there - q)[[0, 2]].max() == 0)
    (True, True)
    """
    if not m.closed:
        return q
    names = tuple(new)
    begin, end = (
        Designs(names, np.array([values[name] for name in names], dtype=float)).moving(m)
        for values in (old, new)
    )
    if (begin.values == end.values).all():
        return q
    for problem in (Problem(held), CLOSURE_ALONE):
        x = problem.values(m, q[None])
        track = follow(m, problem, q[None], x[:, None], end, begin)
        if not track.lost.any() and not track.crossings:
            return np.array(track.q[0, 0])
    changed = ", ".join(name for name in new if new[name] != old[name])
    raise AssemblyError(
        f"{m.name} does not close any more on its branch with {changed} so changed."
    )


def start(m: Mechanism) -> Floats:
    """Where a view begins: home, closed."""
    if m.rheonomic:
        return np.asarray(m.project(m.home(), t=0.0))
    return np.array(m.project(m.home()) if m.closed else m.home())


def frames_of(m: Mechanism) -> tuple[str, ...]:
    """What can be led: the frames that move, then the bodies that do, the last one first."""
    moving = moving_bodies(m)
    named = [f.name for f in m.frames if f.body in moving]
    return tuple(dict.fromkeys((*named, *(b.name for b in reversed(m.bodies) if b.name in moving))))


def _moving_frame(m: Mechanism, frame: Any) -> str:
    """A frame that a user names."""
    known, leads = frames_of(m), default_frame(m)
    if text(frame, "frame") in known:
        return str(frame)
    if frame in (GROUND, *(f.name for f in m.frames), *(b.name for b in m.bodies)):
        hint = f"name one that moves, such as '{leads}'" if leads else "leave frame out"
        raise ModelError(f"'{frame}' of {m.name} is fixed to the ground and cannot be led; {hint}.")
    raise ModelError(f"{m.name} has no frame or body {format_value(frame)}{suggest(frame, known)}")


@per_model
def drives_of(m: Model) -> tuple[Drive, ...]:
    """The drives of a mechanism: angles and lengths of actuated joints, and of those all of whose velocities are independent."""
    free = set(independent_coordinates(m))
    lower, upper = limits(m)
    home, columns, made = m.home(), coordinate_columns(m), []
    for j in m.joints:
        places = range(m.nq)[m.coordinates[j.name]]
        own = {str(columns[k]) for k in places}
        if j.name in m.actuated or (own and own <= free):
            for k in places:
                if columns[k].unit:  # components of a quaternion have none
                    low, high = _range(
                        home[k],
                        lower[k],
                        upper[k],
                        np.pi if columns[k].unit == "rad" else characteristic_length(m),
                    )
                    made.append(
                        Drive(
                            k,
                            j.name,
                            str(columns[k]),
                            columns[k].unit,
                            low,
                            high,
                            j.name in m.actuated,
                        )
                    )
    return tuple(made)


def _range(home: float, lower: float, upper: float, half: float) -> tuple[float, float]:
    """Limits, or a sensible range in the place of what has none."""
    low = lower if np.isfinite(lower) else (upper - 2 * half if np.isfinite(upper) else home - half)
    high = (
        upper if np.isfinite(upper) else (lower + 2 * half if np.isfinite(lower) else home + half)
    )
    return float(low), float(high)


@per_model
def task_of(m: Model, frame: str) -> str:
    """What of a frame can be asked for: "pose", or, where turning and going are tied together, "position", or "orientation"."""
    ranks = [reachable_twists(m, frame, part).rank for part in ("all", "translation", "rotation")]
    if ranks[1] == 0:
        return "orientation"
    return "pose" if ranks[0] == ranks[1] + ranks[2] and ranks[2] else "position"


def _as_target(frame: str, part: str, pose: Floats) -> Target:
    given: Any = {part: _part(pose, part)}
    return Target(frame, **given)


def _part(pose: Floats, part: str) -> Floats:
    return {"pose": pose, "position": pose[:3, 3], "orientation": pose[:3, :3]}[part]


def _between(begin: Floats, end: Floats, length: float) -> list[Floats]:
    """Poses on the way from one to another, small strides apart."""
    ways = [(rows, rows.value(begin), rows.value(end)) for rows in (Orientation(""), Position(""))]
    turn, shift = (rows.displacement(to, start) for rows, start, to in ways)
    far = max(np.abs(turn).max(), np.abs(shift).max() / length)
    count = int(np.clip(np.ceil(far / STRIDE), 1, MOST))
    parts = (np.arange(1, count) / count)[:, None]
    made = np.tile(begin, (count - 1, 1, 1))
    (turning, R, _), (going, p, _) = ways
    made[:, :3, :3] = turning.along(R, parts * turn).reshape(-1, 3, 3)
    made[:, :3, 3] = going.along(p, parts * shift)
    return [*made, end]


def _missing(distance: float, angle: float, length: float) -> str:
    parts = [quantity(distance, "m")] if distance > DISTINCT * length else []
    parts += [quantity(angle, "rad")] if angle > DISTINCT else []
    return " and ".join(parts) or "next to nothing"


def quantity(value: float, unit: str) -> str:
    """A value for people: angles in degrees, small lengths in millimetres.

    >>> quantity(3.141592653589793, "rad"), quantity(0.0123, "m"), quantity(12.3, "m")
    ('180°', '12.3 mm', '12.3 m')
    """
    if unit == "rad":
        return f"{np.rad2deg(value):.4g}°"
    return f"{1000 * value:.4g} mm" if abs(value) < 1 else f"{value:.5g} m"
