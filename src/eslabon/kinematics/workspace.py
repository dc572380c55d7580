"""Where a mechanism can go, and how near to singular it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.errors import AssemblyError, ModelError
from eslabon.graph.native.arguments import as_floats
from eslabon.kinematics.assembly import assemble, residual
from eslabon.kinematics.assembly.prescription import start
from eslabon.kinematics.closure import CLOSED, partition
from eslabon.kinematics.frames import chosen_frame
from eslabon.kinematics.singularities import Conditions, conditions
from eslabon.model import Joint

Floats = np.ndarray
ROUNDS = 6  # of going on from what was reached to what was not


@dataclass(frozen=True, eq=False)
class Workspace:
    """Postures spread evenly over what the actuated joints may do, as far as the mechanism closes on its branch."""

    name: str
    frame: str
    q: Floats
    poses: Floats
    conditions: Conditions
    asked: int  # samples that were tried

    @property
    def reached(self) -> float:
        """The share of the samples at which the mechanism closes."""
        return len(self.q) / self.asked

    def __repr__(self) -> str:
        worst = f"parallel from {self.conditions.parallel.min():.2g}, serial from {self.conditions.serial.min():.2g}"
        return f"<Workspace of {self.name}: {len(self.q):,} of {self.asked:,} samples reached, {worst}>"

    def plot(self, of: str = "parallel") -> Any:
        """A matplotlib figure: where the frame goes, coloured by the inverse condition number `of` that kind."""
        from matplotlib.figure import Figure

        if of not in ("parallel", "serial"):
            raise ModelError(f"a workspace is coloured by 'parallel' or 'serial' conditions; it was asked for {of!r}.")
        position = self.poses[:, :3, 3]
        a, b = np.sort(np.argsort(np.ptp(position, axis=0))[1:])  # the two directions of most extent
        figure = Figure(figsize=(7, 5.5), layout="constrained")
        axes = figure.add_subplot()
        order = np.argsort(getattr(self.conditions, of))[::-1]  # the singular ones on top
        drawn = axes.scatter(
            position[order, a], position[order, b], c=getattr(self.conditions, of)[order], s=6, cmap="viridis", vmin=0
        )
        axes.set_aspect("equal")
        axes.set_xlabel(f"{'xyz'[a]} of {self.frame} in m")
        axes.set_ylabel(f"{'xyz'[b]} of {self.frame} in m")
        axes.set_title(f"{self.name}: {self.reached:.0%} of {self.asked:,} samples reached")
        figure.colorbar(drawn, label=f"inverse condition number, {of} kind")
        return figure


def workspace(
    m: Any, frame: str | None = None, ranges: Mapping[str, tuple[float, float]] | None = None, samples: int = 2000,
    guess: Any = None,
) -> Workspace:  # fmt: skip
    """Sample what the actuated joints may do; `m` is the mechanism users hold.

    From the guess the mechanism is moved straight to every sample, and from samples that were reached on to those that
    were not; a sample that closes on another branch only does not count.
    """
    from scipy.stats import qmc

    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise ModelError(f"samples is how many postures to try, at least 1; it is {samples!r}.")
    chosen = chosen_frame(m, frame).name
    joints = _spanning(m)
    lower, upper = np.array(_ranges(m, joints, ranges or {})).T
    values = lower + qmc.Halton(len(lower), rng=0).random(samples) * (upper - lower)
    places = [k for name in joints for k in range(m.nq)[m.coordinates[name]]]
    begin = np.array(start(m, guess))
    if m.closed:
        q = _reached(m, begin, values, joints)
    else:
        q = np.tile(begin, (samples, 1))
        q[:, places] = values
    if not len(q):
        raise AssemblyError(
            f"{m.name} closes at none of {samples} samples; narrow the ranges, or give a guess nearer to them."
        )
    return Workspace(m.name, chosen, q, m.pose(q, chosen), conditions(m, q, chosen), samples)


def _spanning(m: Any) -> tuple[str, ...]:
    """The actuated joints; of more than there are freedoms, those that the others follow."""
    if not m.closed:
        return tuple(m.actuated)
    independent = set(partition(m).independent)
    return tuple(j for j in m.actuated if set(range(m.nv)[m.velocities[j]]) <= independent)


def _ranges(m: Any, joints: tuple[str, ...], given: Mapping[str, tuple[float, float]]) -> list[tuple[float, float]]:
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
            if pair.shape != (2,) or not np.isfinite(pair).all() or not pair[0] < pair[1] or joint.nq != 1:
                raise ModelError(
                    f"the range of '{name}' is a lower and a greater upper value of one coordinate; it is {given[name]!r}."
                )
            made.append((float(pair[0]), float(pair[1])))
        else:
            made += _own_range(m, joint)
    if not made:
        raise ModelError(f"{m.name} has no actuated joints, so nothing spans its workspace; actuate some.")
    return made


def _own_range(m: Any, joint: Joint) -> list[tuple[float, float]]:
    limits = joint.limits or ((-np.inf, np.inf),) * joint.nq
    if np.isfinite(np.array(limits, dtype=float)).all() and joint.nq == joint.nv:
        return [(float(a), float(b)) for a, b in limits]
    if joint.kind.kind not in ("revolute", "universal"):
        raise ModelError(
            f"the actuated joint '{joint.name}' of {m.name} has no limits; say how far it goes, as in "
            f"ranges={{'{joint.name}': (0.1, 0.5)}}."
        )
    middle = start(m, None)[m.coordinates[joint.name]]
    return [(float(x) - np.pi, float(x) + np.pi) for x in middle]


def _reached(m: Any, begin: Floats, values: Floats, joints: tuple[str, ...]) -> Floats:
    """Closed postures on the branch of the start."""
    from scipy.spatial import cKDTree

    side = conditions(m, begin).side
    q = np.broadcast_to(begin, (len(values), m.nq)).copy()
    there = np.zeros(len(values), dtype=bool)
    for _ in range(ROUNDS):
        tried = np.flatnonzero(~there)
        if not len(tried):
            break
        found = assemble(m, values[tried], q[tried], joints=joints, strict=False, singular="ignore")
        good = residual(m, found) < CLOSED
        good[good] = conditions(m, found[good]).side == side
        q[tried[good]], there[tried[good]] = found[good], True
        if not good.any():
            break
        near = cKDTree(values[there]).query(values[~there])[1] if not there.all() else []
        q[~there] = q[there][near]
    return q[there]
