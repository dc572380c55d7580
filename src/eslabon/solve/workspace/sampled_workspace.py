"""Where a mechanism can go, and how near to singular it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.answers import figure
from eslabon.arguments import choice, count, flag, mapping, text
from eslabon.arguments import floats as as_floats
from eslabon.compiler.evaluate import evaluate
from eslabon.displays import displayed
from eslabon.errors import AssemblyError, ModelError
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.formulas.quantities import quantity
from eslabon.model import Joint, Model
from eslabon.pages import table
from eslabon.pages.notebook import drawn
from eslabon.plotting import saved
from eslabon.progress import Progress
from eslabon.sheets import Sheet
from eslabon.solve.assembly.assemble import Assembly
from eslabon.solve.assembly.continuation import continued
from eslabon.solve.assembly.prescription import Prescription, start
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.ranges import Ranges
from eslabon.solve.singular.conditions import Conditions, conditions

Floats = np.ndarray
ROUNDS = 6  # of going on from what was reached to what was not
KINDS = ("parallel", "serial")
LANES = 2048  # samples between two looks at the clock


@displayed
@dataclass(frozen=True, eq=False)
class Workspace:
    """Configurations spread evenly over what the actuated joints may do, as far as the mechanism closes on its branch.

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
    asked: int  # samples that were tried
    m: Model
    limits: bool  # whether the joints keep theirs

    @property
    def reached(self) -> float:
        """The share of the samples at which the mechanism closes."""
        return len(self.q) / self.asked

    def _pieces(self) -> Iterator[str]:
        from eslabon.pages.notebook import beside

        position = self.poses[:, :3, 3]
        rows = [
            (f"{x} of {self.frame} [m]", float(own.min()), float(own.max()))
            for x, own in zip("xyz", position.T, strict=True)
        ]
        rows += [
            (f"reciprocal condition, {kind} kind", float(x.min()), float(x.max()))
            for kind, x in (
                ("parallel", self.conditions.parallel),
                ("serial", self.conditions.serial),
            )
        ]
        numbers = table(Sheet("", ("", "least", "greatest"), rows))
        yield beside(*drawn(self.plot), numbers)

    def __repr__(self) -> str:
        worst = f"parallel from {self.conditions.parallel.min():.2g}, serial from {self.conditions.serial.min():.2g}"
        return f"<Workspace of {self.name}: {len(self.q):,} of {self.asked:,} samples reached, {worst}>"

    def singular_configurations(self, kind: str) -> Floats:
        """Singular configurations `(k, nq)` of the "parallel" or "serial" kind next to those of the workspace, within the limits
        if it is: where the sign of the determinant changes.

        >>> import eslabon as es, numpy as np
        >>> arm = es.load("elbow")               # two bars of 1 m: it is singular stretched out, and folded
        >>> found = arm.workspace("tool", samples=100).singular_configurations("serial")
        >>> np.unique(np.linalg.norm(arm.pose(found, "tool")[:, :3, 3], axis=-1).round(6))
        array([0., 2.])
        """
        return self._singular(choice(kind, "kind", KINDS))

    @cached_property
    def _singular(self) -> Callable[[str], Floats]:
        """Each kind is looked for once."""
        from eslabon.solve.singular.singular_set import singular_configurations

        def found(kind: str) -> Floats:
            q, own = singular_configurations(self.m, self.q, kind, self.frame), Ranges.of(self.m)
            return q[own.contain(own.turned(q, q))] if self.limits and len(q) else q

        return cache(found)

    def plot(
        self, of: str | None = None, *, singular: bool = True, theme: str | None = None, path: str | Path | None = None
    ) -> Any:  # fmt: skip
        """A matplotlib figure: where the frame goes, coloured by the reciprocal condition number `of` the "parallel" or "serial"
        kind (parallel with loops, else serial, if left out), and where it is singular: curves if two actuators move it in a
        plane, else points. In space it has three equal axes. `theme` is "light" or "dark"; with a `path` the figure is written
        too, as .png, .svg or .pdf."""
        kind = ("parallel" if self.m.closed else "serial") if of is None else of
        made = figure(
            self,
            of=choice(kind, "what a workspace is coloured by", KINDS),
            singular=flag(singular, "singular"),
            theme=theme,
        )
        return saved(made, path)


def workspace(
    m: Model, frame: str | None = None, ranges: Mapping[str, tuple[float, float]] | None = None, samples: int = 2000,
    guess: Any = None, *, limits: bool = True, progress: bool | None = None,
) -> Workspace:  # fmt: skip
    """Sample what the actuated joints may do.

    From the guess the mechanism is moved straight to every sample, and from samples that were reached on to those that
    were not; a sample that is not reached without passing a singular configuration, or only beyond the limits of a
    joint, does not count. `progress` shows a bar: on a terminal, after a second, if left out.
    """
    from scipy.stats import qmc

    samples, limits = count(samples, "samples", 1), flag(limits, "limits")
    chosen = chosen_frame(m, frame if frame is None else text(frame, "frame")).name
    joints = spanning_joints(m)
    lower, upper = np.array(_ranges(m, joints, mapping(ranges, "ranges"), limits)).T
    values = lower + qmc.Halton(len(lower), rng=0).random(samples) * (upper - lower)
    given, begin = Prescription(joints), np.array(start(m, guess))
    if begin.ndim != 1:
        raise ModelError(f"guess is one configuration to start from; it has shape {begin.shape}.")
    if m.closed:
        with Progress(
            f"workspace of {m.name}", progress if progress is None else flag(progress, "progress")
        ) as bar:
            q = _reached(m, begin, values, given, bar)
    else:
        q = np.tile(begin, (samples, 1))
        q[:, given.coordinates(m)] = values
    if limits:
        own = Ranges.of(m)
        q = own.turned(q, q)
        q = q[own.contain(q)]
    if not len(q):
        raise AssemblyError(
            f"{m.name} closes at none of {samples} samples; narrow the ranges, give a guess nearer to them, or pass limits=False."
        )
    return Workspace(
        m.name,
        chosen,
        q,
        evaluate(m, quantity(m, "pose"), frame=chosen)(q),
        conditions(m, q, chosen),
        samples,
        m,
        limits,
    )


def spanning_joints(m: Model) -> tuple[str, ...]:
    """The actuated joints; of more than there are degrees of freedom, those that the others follow."""
    if not m.closed:
        return tuple(m.actuated)
    independent = set(partition(m).independent)
    return tuple(j for j in m.actuated if set(range(m.nv)[m.velocities[j]]) <= independent)


def _ranges(
    m: Model, joints: tuple[str, ...], given: Mapping[str, Any], limits: bool = True
) -> list[tuple[float, float]]:
    """A lower and an upper value for each coordinate that spans the workspace."""
    for name in given:
        if name not in joints:
            raise ModelError(
                f"ranges names '{name}', which is no actuated joint that spans the workspace of {m.name} "
                f"({', '.join(joints) or 'it has none'})."
            )
    made: list[tuple[float, float]] = []
    for name in joints:
        joint = m.joint(name)
        if name in given:
            pair = as_floats(given[name], f"the range of '{name}'")
            if (
                pair.shape != (2,)
                or not np.isfinite(pair).all()
                or not pair[0] < pair[1]
                or joint.nq != 1
            ):
                raise ModelError(
                    f"the range of '{name}' is a lower and a greater upper value of one coordinate; it is {given[name]!r}."
                )
            made.append((float(pair[0]), float(pair[1])))
        else:
            made += _own_range(m, joint, limits)
    if not made:
        raise ModelError(
            f"{m.name} has no actuated joints, so nothing spans its workspace; actuate some."
        )
    return made


def _own_range(m: Model, joint: Joint, limits: bool) -> list[tuple[float, float]]:
    if (
        limits
        and joint.limits is not None
        and np.isfinite(np.array(joint.limits, dtype=float)).all()
    ):
        return [(float(a), float(b)) for a, b in joint.limits]
    if not all(c.periodic for c in joint.kind.coordinates):
        raise ModelError(
            f"the actuated joint '{joint.name}' of {m.name} has no limits; say how far it goes, as in "
            f"ranges={{'{joint.name}': (0.1, 0.5)}}."
        )
    middle = start(m, None)[m.coordinates[joint.name]]
    return [(float(x) - np.pi, float(x) + np.pi) for x in middle]


def _reached(m: Model, begin: Floats, values: Floats, given: Prescription, bar: Progress) -> Floats:
    """Closed configurations on the branch of the start."""
    from scipy.spatial import cKDTree

    started, _ = Assembly(m, given, Ranges.of(m).unlimited).started(begin[None])
    q = np.broadcast_to(started, (len(values), m.nq)).copy()
    there = np.zeros(len(values), dtype=bool)
    for turn in range(ROUNDS):
        before, tried = there.sum(), np.flatnonzero(~there)
        for k in range(0, len(tried), LANES):
            lanes = tried[k : k + LANES]
            motion = continued(m, given, q[lanes], values[lanes, None])
            good = ~motion.lost[:, 0]
            good[[c.lane for c in motion.crossings]] = False
            q[lanes[good]], there[lanes[good]] = motion.q[good, 0], True
            bar.update((turn + (k + len(lanes)) / len(tried)) / ROUNDS)
        if there.sum() == before or there.all():
            break
        q[~there] = q[there][cKDTree(values[there]).query(values[~there])[1]]
    return q[there]
