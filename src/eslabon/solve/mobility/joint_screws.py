"""The screws of all joints at one configuration, from which mobility is read.

Every joint of the tree and every cut joint has its screws here: in the ground's axes, seen from the
middle of the mechanism, with lengths in units of its size, and each of length one. So ranks mean
the same for a watch and for a crane. A motion is a vector u of speeds along these screws, those of
tree joints first, then those of cut joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eslabon.arguments import Floats
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.model import GROUND, Loop, Model
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length
from eslabon.numerics.spatial import RigidTransform
from eslabon.solve.mobility.subgroups import column_lengths, kernel, rank, span, unit_columns


@dataclass(frozen=True, eq=False)
class JointScrews:
    """The screws of every joint at a configuration.

    Attributes
    ----------
    m, q : the mechanism and the configuration.
    placed : the placements of the bodies.
    centre, length : the middle of the mechanism and its size.
    screws : of each joint, those of the tree first, its unit screws as columns (6, f).
    speeds : of each joint of the tree, the velocities v of a unit speed along each screw.
    """

    m: Model
    q: Floats
    placed: dict[str, RigidTransform]
    centre: Floats
    length: float
    screws: dict[str, Floats]
    speeds: dict[str, Floats]

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where each joint's speeds stand in u."""
        ends = np.cumsum([0, *(s.shape[1] for s in self.screws.values())])
        return {
            name: slice(a, b) for name, a, b in zip(self.screws, ends[:-1], ends[1:], strict=True)
        }

    @cached_property
    def closing(self) -> Floats:
        """The matrix K with K u = 0 for every motion that keeps the loops closed: six rows a loop,
        one a coupling.

        The twist of a loop's second body is the sum of that of its first and the cut joint's own.
        So the null space of K is that of the closure Jacobian J, with the cut joints' speeds added.
        """
        total = sum(s.shape[1] for s in self.screws.values())
        K = np.zeros((6 * len(self.m.loops) + len(self.m.couplings), total))
        for name, row in incidence(self.m).items():
            for k in np.flatnonzero(row):
                K[6 * k : 6 * k + 6, self.places[name]] = row[k] * self.screws[name]
        for c, gear in zip(self.m.couplings, K[6 * len(self.m.loops) :], strict=True):
            gear[self.places[c.joint]] = self.speeds[c.joint]
            if c.source is not None:
                gear[self.places[c.source]] = -c.ratio * self.speeds[c.source]
            gear[:] = unit_columns(gear[:, None])[:, 0]
        return K

    @cached_property
    def motions(self) -> Floats:
        """An orthonormal basis of the motions u that keep the loops closed, as columns."""
        return kernel(self.closing)

    @cached_property
    def singular_values(self) -> Floats:
        if not self.closing.size:
            return np.zeros(0)
        return np.asarray(np.linalg.svd(self.closing, compute_uv=False), dtype=float)

    @property
    def dof(self) -> int:
        """The number of independent motions: the dimension of the closure Jacobian's null space."""
        return self.closing.shape[1] - rank(self.singular_values)

    @property
    def margin(self) -> float:
        """The smallest singular value that is not zero: the distance from a loss of rank."""
        s = self.singular_values
        return float(s[rank(s) - 1]) if s.size else np.inf

    def rank_of(self, names: Sequence[str]) -> int:
        """The rank of the loops that some joints make, without the couplings."""
        loops = np.flatnonzero(sum(abs(incidence(self.m)[name]) for name in names))
        rows = (6 * loops[:, None] + np.arange(6)).ravel()
        columns = np.concatenate(
            [range(self.closing.shape[1])[self.places[name]] for name in names]
        )
        block = self.closing[np.ix_(rows, columns.astype(int))]
        return rank(np.linalg.svd(block, compute_uv=False))


@per_model
def incidence(m: Model) -> dict[str, Floats]:
    """For each joint its sense (1, -1 or 0) in the loop of each cut joint, from the first body back
    to the second."""
    above = joints_above(m)
    names = [x.name for x in (*m.joints, *m.loops)]
    rows = {name: np.zeros(len(m.loops), dtype=int) for name in names}
    for k, loop in enumerate(m.loops):
        for body, sense in ((loop.second.body, 1), (loop.first.body, -1)):
            for name in above[body]:
                rows[name][k] += sense
        rows[loop.name][k] = -1
    return rows


@per_model
def joints_above(m: Model) -> dict[str, tuple[str, ...]]:
    """For each body the joints of the tree between the ground and it."""
    above: dict[str, tuple[str, ...]] = {GROUND: ()}
    for j in m.joints:
        above[j.child] = (*above[j.parent], j.name)
    return above


def joint_screws(m: Model, q: Floats) -> JointScrews:
    """The screws at a configuration."""
    placed = placements(m, q)
    inner = [on_body(placed, j.parent, j.at) for j in m.joints]
    outer = [placed[j.child] for j in m.joints]
    first = [on_body(placed, x.first.body, x.first.at) for x in m.loops]
    second = [on_body(placed, x.second.body, x.second.at) for x in m.loops]
    centre = np.mean([p for _, p in (*inner, *outer, *first, *second)], axis=0)
    length = characteristic_length(m)
    screws, speeds = {}, {}
    for j, place in zip(m.joints, outer, strict=True):
        motion = np.array(j.kind.motion(q[m.coordinates[j.name]]))
        seen = _seen(place, motion, centre, length)
        speeds[j.name] = 1.0 / column_lengths(seen)
        screws[j.name] = seen * speeds[j.name]
    for x, one, two in zip(m.loops, first, second, strict=True):
        seen = _seen(two, _cut_motion(x, one, two, length), centre, length)
        screws[x.name] = unit_columns(seen)
    return JointScrews(m, q, placed, centre, length, screws, speeds)


def active_screws(configurations: Sequence[JointScrews], at: JointScrews) -> dict[str, Floats]:
    """The screws at one configuration of those degrees of freedom alone that move at any of
    several: an inactive one is as good as welded."""
    working = {}
    for name, screws in at.screws.items():
        if name in at.speeds:
            moves = [
                p.motions[p.places[name]] * (p.speeds[name] / at.speeds[name])[:, None]
                for p in configurations
            ]
            working[name] = screws @ span(np.hstack(moves), scale=1.0)
        else:  # a cut joint's screws are chosen anew at every configuration: all of them, or none
            own = (span(p.motions[p.places[name]], scale=1.0) for p in configurations)
            working[name] = screws if any(x.size for x in own) else screws[:, :0]
    return working


def _seen(place: RigidTransform, twists: Floats, centre: Floats, length: float) -> Floats:
    """Twists in a frame as seen from the mechanism's middle, with lengths in units of its size."""
    R, p = place
    w = R @ twists[:3]
    lever = np.cross((p - centre)[None] / length, w.T).T
    return np.vstack([w, R @ (twists[3:] / length) + lever])


def _cut_motion(loop: Loop, first: RigidTransform, second: RigidTransform, length: float) -> Floats:
    """The twists that a cut joint allows, in its second frame: those on which its reactions do no
    work."""
    R, p = second.relative_to(first)
    if loop.kind.dof == len(loop.kind.axes) == 2:
        # of a universal joint the first axis goes with the first frame
        one, two = (np.array(a, dtype=float) for a in loop.kind.axes)
        return np.vstack([np.column_stack([R.T @ one, two]), np.zeros((3, 2))])
    C = np.array(loop.kind.covectors(R, p))
    units = np.repeat([1.0, length], 3)[:, None]  # balance moments and forces, turns and shifts
    _, _, Vt = np.linalg.svd(unit_columns(C * units).T) if C.size else (None, None, np.eye(6))
    return Vt[C.shape[1] :].T * units
