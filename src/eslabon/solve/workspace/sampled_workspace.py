"""Where a mechanism can go, and how near to singular it is there: samples over what its actuators
may do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.answers import Answer, Column, Message, Table, figure
from eslabon.arguments import Floats, choice, count, flag, mapping, text
from eslabon.arguments import floats as as_floats
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import AssemblyError, ModelError
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.formulas.quantities import quantity
from eslabon.model import Joint, Model
from eslabon.model.scale import characteristic_length
from eslabon.progress import Progress
from eslabon.solve.branch_assembly import Assembly
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.prescribed import as_configuration, home
from eslabon.solve.problem import Problem
from eslabon.solve.ranges import Ranges
from eslabon.solve.singular.conditions import Conditions, conditions
from eslabon.solve.solver import follow

Mask = NDArray[np.bool_]
KINDS = ("parallel", "serial")


@dataclass(frozen=True)
class SamplingSettings:
    """How samples of a workspace are reached.

    Attributes
    ----------
    waypoints : values of the actuators from which samples are tried that no straight way leads to
        from the start. They are the same for any number of samples.
    rounds : of going on from waypoints that were reached to others.
    nearest : waypoints that a sample is tried from, one after the other.
    lanes : samples between two updates of the progress bar.
    """

    waypoints: int = 512
    rounds: int = 6
    nearest: int = 4
    lanes: int = 2048


SETTINGS = SamplingSettings()


@dataclass(frozen=True, eq=False, repr=False)
class Workspace(Answer):
    """Configurations spread evenly over what the actuated joints may do, as far as the mechanism
    closes on its branch.

    Attributes
    ----------
    q, poses, conditions : the configurations that were reached, the frame's poses there, and how
        near to singular each is.
    is_reached : for each sample whether it was reached; `reached` is the share of them.
    m : the mechanism.
    limits : whether the joints keep theirs.

    >>> import eslabon as es
    >>> space = es.load("five_bar").workspace(samples=50)
    >>> space.poses.shape, space.reached
    ((50, 4, 4), 1.0)
    """

    name: str
    frame: str
    q: Floats
    poses: Floats
    conditions: Conditions
    is_reached: Mask
    m: Model
    limits: bool

    @property
    def samples(self) -> int:
        """The number of samples that were tried."""
        return len(self.is_reached)

    @property
    def reached(self) -> float:
        """The share of the samples at which the mechanism closes."""
        return len(self.q) / self.samples

    def contents(self) -> Iterator[Message | Table]:
        yield Message(
            "{reached} of {samples} samples reached ({share}).",
            reached=f"{len(self.q):,}",
            samples=f"{self.samples:,}",
            share=f"{self.reached:.0%}",
        )
        places = zip("xyz", self.poses[:, :3, 3].T, strict=True)
        values = [(f"{x} of {self.frame} [m]", own) for x, own in places]
        for kind in KINDS:
            own = getattr(self.conditions, kind)
            values.append((f"reciprocal condition number, {kind} kind", own))
        rows = [(name, float(own.min()), float(own.max())) for name, own in values]
        yield Table((Column("quantity"), Column("least"), Column("greatest")), rows)

    def __repr__(self) -> str:
        worst = ", ".join(f"{k} from {getattr(self.conditions, k).min():.2g}" for k in KINDS)
        share = f"{len(self.q):,} of {self.samples:,} samples reached"
        return f"<Workspace of {self.name}: {share}, {worst}>"

    def singular_configurations(self, kind: str) -> Floats:
        """Singular configurations `(k, nq)` of the "parallel" or "serial" kind next to those of the
        workspace, within the limits if it is: where the sign of the determinant changes.

        >>> import eslabon as es, numpy as np
        >>> arm = es.load("elbow")      # two bars of 1 m: it is singular stretched out, and folded
        >>> found = arm.workspace("tool", samples=100).singular_configurations("serial")
        >>> np.unique(np.linalg.norm(arm.pose(found, "tool")[:, :3, 3], axis=-1).round(6))
        array([0., 2.])
        """
        return self._singular(choice(kind, "kind", KINDS))

    @cached_property
    def _singular(self) -> Callable[[str], Floats]:
        """Each kind is searched for once."""
        from eslabon.solve.singular.singular_set import singular_configurations

        def search(kind: str) -> Floats:
            q, own = singular_configurations(self.m, self.q, kind, self.frame), Ranges.of(self.m)
            return q[own.contain(own.turned(q, q))] if self.limits and len(q) else q

        return cache(search)

    def plot(
        self,
        of: str | None = None,
        *,
        singular: bool = True,
        theme: str | None = None,
        path: str | Path | None = None,
    ) -> Any:
        """A matplotlib figure: where the frame goes, coloured by the reciprocal condition number
        `of` the "parallel" or "serial" kind (parallel with loops, else serial, if left out), and
        where it is singular: curves if two actuators move it in a plane, else points. In space it
        has three equal axes. `theme` is "light" or "dark"; with a `path` the figure is written too,
        as .png, .svg or .pdf."""
        kind = None if of is None else choice(of, "what a workspace is coloured by", KINDS)
        return figure(self, of=kind, singular=flag(singular, "singular"), theme=theme, path=path)


def workspace(
    m: Model,
    frame: str | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    samples: int = 2000,
    guess: Any = None,
    *,
    limits: bool = True,
    progress: bool | None = None,
) -> Workspace:
    """Sample what the actuated joints may do.

    From the guess the mechanism is moved straight to every sample, and where that fails, from
    waypoints nearby. A sample that is not reached without passing a singular configuration, or only
    beyond the limits of a joint, does not count. Whether and where a sample is reached does not
    depend on the others. `progress` shows a bar: on a terminal, after a second, if left out.
    """
    samples, limits = count(samples, "samples", 1), flag(limits, "limits")
    shown = progress if progress is None else flag(progress, "progress")
    chosen = chosen_frame(m, frame if frame is None else text(frame, "frame")).name
    joints, begin = spanning_joints(m), np.array(as_configuration(m, guess))
    ranged = np.array(joint_ranges(m, joints, mapping(ranges, "ranges"), limits))
    if begin.ndim != 1:
        raise ModelError(f"guess is one configuration to start from; it has shape {begin.shape}.")
    with Progress(f"workspace of {m.name}", shown) as bar:
        q, reached = _Sampling(m, joints, ranged, begin).reach(samples, bar)
    if limits:
        own = Ranges.of(m)
        q = own.turned(q, q)
        reached &= own.contain(q)
    if not reached.any():
        raise AssemblyError(
            f"{m.name} closes at none of {samples} samples; narrow the ranges, give a guess nearer "
            "to them, or pass limits=False."
        )
    q = q[reached]
    poses = np.asarray(evaluate(m, quantity(m, "pose"), frame=chosen)(q))
    found = conditions(m, q, chosen)
    return Workspace(m.name, chosen, q, poses, found, reached, m, limits)


# -- what spans a workspace ------------------------------------------------------------------------


def spanning_joints(m: Model) -> tuple[str, ...]:
    """The actuated joints; of more than there are degrees of freedom, those that the others
    follow."""
    if not m.closed:
        return tuple(m.actuated)
    independent = set(partition(m).independent)
    return tuple(j for j in m.actuated if set(range(m.nv)[m.velocities[j]]) <= independent)


def joint_ranges(
    m: Model, joints: tuple[str, ...], given: Mapping[str, Any], limits: bool = True
) -> list[tuple[float, float]]:
    """A lower and an upper value for each coordinate that spans the workspace."""
    for name in given:
        if name not in joints:
            raise ModelError(
                f"ranges names '{name}', which is no actuated joint that spans the workspace of "
                f"{m.name} ({', '.join(joints) or 'it has none'})."
            )
    ranges: list[tuple[float, float]] = []
    for joint in map(m.joint, joints):
        if joint.name in given:
            ranges.append(_given_range(joint, given[joint.name]))
        else:
            ranges += _own_ranges(m, joint, limits)
    if not ranges:
        raise ModelError(
            f"{m.name} has no actuated joints, so nothing spans its workspace; actuate some."
        )
    return ranges


def _given_range(joint: Joint, given: Any) -> tuple[float, float]:
    pair = as_floats(given, f"the range of '{joint.name}'")
    sound = pair.shape == (2,) and bool(np.isfinite(pair).all()) and bool(pair[0] < pair[1])
    if not sound or joint.nq != 1:
        raise ModelError(
            f"the range of '{joint.name}' is a lower and a greater upper value of one coordinate; "
            f"it is {given!r}."
        )
    return float(pair[0]), float(pair[1])


def _own_ranges(m: Model, joint: Joint, limits: bool) -> list[tuple[float, float]]:
    """The limits of a joint, or a whole turn."""
    own = joint.limits if limits else None
    if own is not None and np.isfinite(np.array(own, dtype=float)).all():
        return [(float(a), float(b)) for a, b in own]
    if not all(c.periodic for c in joint.kind.coordinates):
        raise ModelError(
            f"the actuated joint '{joint.name}' of {m.name} has no limits; say how far it goes, as "
            f"in ranges={{'{joint.name}': (0.1, 0.5)}}."
        )
    middle = home(m)[m.coordinates[joint.name]]
    return [(float(x) - np.pi, float(x) + np.pi) for x in middle]


# -- how samples are reached -----------------------------------------------------------------------


class _Sampling:
    """Moves a mechanism from a start to values of its actuators, on one branch."""

    def __init__(self, m: Model, joints: tuple[str, ...], ranges: Floats, begin: Floats) -> None:
        self.m, self.given, self.ranges, self.begin = m, Problem(joints), ranges, begin

    def reach(self, samples: int, bar: Progress) -> tuple[Floats, Mask]:
        """A configuration for each sample, and whether it was reached."""
        m, values = self.m, self._values(samples)
        if not m.closed:
            q = np.tile(self.begin, (samples, 1))
            q[:, self.given.coordinates(m)] = values
            return q, np.ones(samples, dtype=bool)
        q, reached = self._move(np.broadcast_to(self._start, (samples, m.nq)), values, bar)
        if not reached.all():
            lost = np.flatnonzero(~reached)
            for k in range(SETTINGS.nearest):
                begin = self._waypoint_near(values[lost], k)
                q[lost], reached[lost] = self._move(begin, values[lost], bar)
                lost = lost[~reached[lost]]
                if not len(lost):
                    break
        return q, reached

    def _values(self, samples: int) -> Floats:
        """The first values of a sequence that is spread evenly over the ranges."""
        from scipy.stats import qmc

        lower, upper = self.ranges.T
        unit = qmc.Halton(len(lower), rng=0).random(samples)
        return np.asarray(lower + unit * (upper - lower))

    @cached_property
    def _start(self) -> Floats:
        unlimited = Ranges.of(self.m).unlimited
        return Assembly(self.m, self.given, unlimited).started(self.begin[None])[0][0]

    def _move(self, begin: Floats, values: Floats, bar: Progress) -> tuple[Floats, Mask]:
        """From closed configurations straight to values: where that leads, and whether no singular
        configuration is on the way."""
        q, reached = np.array(begin), np.zeros(len(values), dtype=bool)
        for k in range(0, len(values), SETTINGS.lanes):
            some = slice(k, k + SETTINGS.lanes)
            motion = follow(self.m, self.given, begin[some], values[some, None])
            good = ~motion.lost[:, 0]
            good[[crossing.lane for crossing in motion.crossings]] = False
            q[some][good], reached[some] = motion.q[good, 0], good
            bar.update(min(1.0, (k + SETTINGS.lanes) / len(values)))
        return q, reached

    @cached_property
    def _waypoints(self) -> tuple[Floats, Floats]:
        """Configurations all over the ranges that were reached from the start or from one another,
        and the values of the actuators there, in comparable units."""
        from scipy.spatial import cKDTree

        values, m = self._values(SETTINGS.waypoints), self.m
        q = np.broadcast_to(self._start, (len(values), m.nq)).copy()
        reached, bar = np.zeros(len(values), dtype=bool), Progress("", False)
        for _ in range(SETTINGS.rounds):
            lost = np.flatnonzero(~reached)
            q[lost], found = self._move(q[lost], values[lost], bar)
            reached[lost] = found
            if not found.any() or reached.all():
                break
            near = cKDTree(self._comparable(values[reached])).query(self._comparable(values))[1]
            q[~reached] = q[reached][near[~reached]]
        return q[reached], self._comparable(values[reached])

    def _waypoint_near(self, values: Floats, k: int) -> Floats:
        """The configurations at the k-th nearest waypoints; the start, where there are fewer."""
        from scipy.spatial import cKDTree

        q, places = self._waypoints
        if k >= len(q):
            return np.broadcast_to(self._start, (len(values), self.m.nq))
        near = cKDTree(places).query(self._comparable(values), k=[k + 1])[1][:, 0]
        return np.asarray(q[near])

    def _comparable(self, values: Floats) -> Floats:
        lengths = Ranges.of(self.m).lengths[self.given.coordinates(self.m)]
        return values / np.where(lengths, characteristic_length(self.m), 1.0)
