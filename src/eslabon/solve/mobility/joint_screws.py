"""The joint screws of a mechanism where its loops are closed: what its mobility is read from.

Every joint of the tree and every cut joint has its screws here, in the ground's axes, seen from the middle of the
mechanism, with lengths in units of its size and each of length one, so that ranks mean the same for a watch and for a
crane. A motion is a vector u of speeds along these screws, tree joints first, then cut joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eslabon.errors import AssemblyError
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.model import GROUND, Loop, Model
from eslabon.model.configuration import normalize
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length
from eslabon.numerics.spatial import RigidTransform
from eslabon.solve.constraints.closed_configurations import close
from eslabon.solve.mobility.subgroups import kernel, rank, span

# A walk of six steps along the mechanism's own motions, each with a little disorder to leave a singular configuration by.
STEPS, STRIDE, DISORDER = 6, 0.3, 0.05
# A step to try whether a motion is more than infinitesimal, and the part of it that must remain.
SMALL, KEPT = 0.01, 0.1


@dataclass(frozen=True)
class JointScrews:
    """The screws of every joint at one configuration q."""

    m: Model
    q: np.ndarray
    centre: np.ndarray  # the middle of the mechanism
    length: float  # its size
    screws: dict[
        str, np.ndarray
    ]  # of each joint, tree joints first, its unit screws as columns of a 6 x f matrix
    speeds: dict[
        str, np.ndarray
    ]  # of each joint of the tree the velocities v of a unit speed along each screw

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where each joint's speeds stand in u."""
        ends = np.cumsum([0, *(s.shape[1] for s in self.screws.values())])
        return {
            name: slice(a, b) for name, a, b in zip(self.screws, ends[:-1], ends[1:], strict=True)
        }

    @cached_property
    def closing(self) -> np.ndarray:
        """The matrix K with K u = 0 for every motion that keeps the loops closed: six rows a loop, one a coupling.

        The twist of a loop's second body is that of its first and the cut joint's own: its null space is that of the
        closure Jacobian J, with the cut joints' speeds added.
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
            gear /= np.linalg.norm(gear)
        return K

    @cached_property
    def singular_values(self) -> np.ndarray:
        return np.linalg.svd(self.closing, compute_uv=False) if self.closing.size else np.zeros(0)

    @property
    def dof(self) -> int:
        """The number of independent motions here: the null space of the closure Jacobian."""
        return self.closing.shape[1] - rank(self.singular_values)

    def rank_of(self, names: Sequence[str]) -> int:
        """The rank of the loops that some joints make, couplings left out."""
        loops = np.flatnonzero(sum(abs(incidence(self.m)[name]) for name in names))
        rows = (6 * loops[:, None] + np.arange(6)).ravel()
        columns = np.concatenate(
            [range(self.closing.shape[1])[self.places[name]] for name in names]
        )
        block = self.closing[np.ix_(rows, columns.astype(int))]
        return rank(np.linalg.svd(block, compute_uv=False))

    @property
    def margin(self) -> float:
        """The smallest singular value that is not zero: how far from losing rank this configuration is."""
        s = self.singular_values
        return float(s[rank(s) - 1]) if s.size else np.inf


@per_model
def incidence(m: Model) -> dict[str, np.ndarray]:
    """For each joint its sense (1, -1 or 0) in the loop of each cut joint: from the first body back to the second."""
    above: dict[str, dict[str, int]] = {GROUND: {}}
    for j in m.joints:
        above[j.child] = {**above[j.parent], j.name: 1}
    names = [j.name for j in m.joints] + [x.name for x in m.loops]
    rows = {name: np.zeros(len(m.loops), dtype=int) for name in names}
    for k, loop in enumerate(m.loops):
        for body, sense in ((loop.second.body, 1), (loop.first.body, -1)):
            for name in above[body]:
                rows[name][k] += sense
        rows[loop.name][k] = -1
    return rows


def joint_screws(m: Model, q: np.ndarray) -> JointScrews:
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
        speeds[j.name] = 1.0 / np.linalg.norm(seen, axis=0)
        screws[j.name] = seen * speeds[j.name]
    for x, one, two in zip(m.loops, first, second, strict=True):
        seen = _seen(two, _cut_motion(x, one, two, length), centre, length)
        screws[x.name] = seen / np.linalg.norm(seen, axis=0)
    return JointScrews(m, q, centre, length, screws, speeds)


def closed_configurations(m: Model) -> list[JointScrews]:
    """Closed configurations at and around the home of the description, the home's own first; always the same ones.

    Raises
    ------
    AssemblyError
        When the loops cannot be closed from the home.
    """
    found = [joint_screws(m, close(m))]
    if not m.closed:
        return found
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        try:
            found.append(joint_screws(m, close(m, _stepped(found[-1], rng))))
        except AssemblyError:  # a step across the border of what the lengths allow
            continue
    return found


def active_screws(configurations: Sequence[JointScrews], at: JointScrews) -> dict[str, np.ndarray]:
    """The screws at one configuration of those degrees of freedom alone that move at any: an inactive one is as good as welded."""
    motions = [(p, kernel(p.closing)) for p in configurations]
    working = {}
    for name, screws in at.screws.items():
        if name in at.speeds:
            moves = [
                N[p.places[name]] * (p.speeds[name] / at.speeds[name])[:, None] for p, N in motions
            ]
            working[name] = screws @ span(np.hstack(moves), scale=1.0)
        else:  # the screws of a cut joint are chosen anew at every configuration, so it is all of them or none
            inactive = all(not span(N[p.places[name]], scale=1.0).size for p, N in motions)
            working[name] = screws[:, :0] if inactive else screws
    return working


def infinitesimal_mobility(p: JointScrews, names: Sequence[str]) -> int:
    """How many of the motions that some joints have at a configuration are of first order only.

    A small step along each is brought back to a closed configuration: it stays where it is if the mechanism moves
    that way, and returns if the mobility is infinitesimal.
    """
    motions = kernel(p.closing)
    own = [k for name in names if name in p.speeds for k in range(p.m.nq)[p.m.coordinates[name]]]
    steps, arrivals = np.zeros((2, len(own), motions.shape[1]))
    for k, u in enumerate(motions.T):
        there = _moved(p, SMALL * u)
        try:
            back = close(p.m, there)
        except AssemblyError:
            back = p.q
        steps[:, k], arrivals[:, k] = (there - p.q)[own] / SMALL, (back - p.q)[own] / SMALL
    directions = span(steps)
    kept = directions.T @ arrivals
    return (
        directions.shape[1] - int(np.sum(np.linalg.svd(kept, compute_uv=False) > KEPT))
        if kept.size
        else 0
    )


def _stepped(at: JointScrews, rng: np.random.Generator) -> np.ndarray:
    """A configuration a step away along a motion of the mechanism, not quite closed."""
    motions = kernel(at.closing)
    u = motions @ rng.normal(size=motions.shape[1])
    u *= STRIDE / max(float(np.linalg.norm(u)), 1e-9)
    return _moved(at, u + DISORDER * rng.normal(size=u.size))


def _moved(at: JointScrews, u: np.ndarray) -> np.ndarray:
    """The configuration after a unit of time at the speeds u along the screws."""
    q = at.q.copy()
    for j in at.m.joints:
        place = at.m.coordinates[j.name]
        q[place] += j.kind.coordinate_rates(at.q[place], u[at.places[j.name]] * at.speeds[j.name])
    return normalize(at.m, q)


def _seen(
    place: RigidTransform, twists: np.ndarray, centre: np.ndarray, length: float
) -> np.ndarray:
    """Twists in a frame as seen from the mechanism's middle, lengths in units of its size."""
    R, p = place
    w = R @ twists[:3]
    lever = np.cross((p - centre)[None], w.T).T
    return np.vstack([w, (R @ twists[3:] + lever) / length])


def _cut_motion(
    loop: Loop, first: RigidTransform, second: RigidTransform, length: float
) -> np.ndarray:
    """The twists a cut joint allows, in its second frame: those on which its reactions do no work."""
    R, p = second.relative_to(first)
    if (
        loop.kind.dof == len(loop.kind.axes) == 2
    ):  # of a universal joint the first axis goes with the first frame
        one, two = (np.array(a, dtype=float) for a in loop.kind.axes)
        return np.vstack([np.column_stack([R.T @ one, two]), np.zeros((3, 2))])
    C = np.array(loop.kind.covectors(R, p))
    units = np.repeat([1.0, length], 3)[:, None]  # balance moments and forces, turns and shifts
    _, _, Vt = np.linalg.svd((C * units).T) if C.size else (None, None, np.eye(6))
    return Vt[C.shape[1] :].T * units
