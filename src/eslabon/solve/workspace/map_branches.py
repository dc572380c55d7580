"""A branch of the inverse kinematics over a grid: from poses where it is known on to their neighbours, coarse steps first.

It has one configuration for each node of a lattice of poses. Every node that is not known yet is tried from each known
neighbour by Newton's method, all of them at once, until nothing new is reached; then the lattice is refined, and what lies
between is tried. A configuration is taken if it is converged, lies near its neighbour, and the determinants of the blocks have the
same signs: so it does not jump to another branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.model import Model
from eslabon.solve.workspace.map_grid import MapGrid
from eslabon.solve.workspace.pose_equations import FEATURES, LONGEST, NEWTON, Blocks

COARSE = {2: 24, 3: 10}  # nodes along a coordinate, at least, of the first lattice
LANES = 1 << 17  # configurations in one native call
CONVERGED, CLOSE = 1e-8, 1e-7  # the last step of Newton's method, and what was missing before it
AHEAD = 2.5  # how far a configuration may be from its neighbour, in first steps: twice at a fold, where branches meet
ROUNDS = 5  # of steps from a neighbour
SHORT_STEPS = 16  # from a neighbour to a node that is a hole
SAME = 1e-6  # metres, or of an angle: of two configurations that are one


class Arrived(NamedTuple):
    """Where Newton's method led lanes, and whether it converged; how far, its first steps, and the signs of blocks there."""

    q: Floats
    good: Any
    moved: Floats
    first: Floats
    code: Floats


class Steps:
    """Newton's method of one mechanism towards poses of a grid."""

    def __init__(self, m: Model, grid: MapGrid, blocks: Blocks, threads: int | None = None) -> None:
        self.m, self.grid, self.blocks, self.threads = m, grid, blocks, threads
        self._newton = evaluate(m, NEWTON, asked=grid.asked, blocks=blocks)
        self._features = evaluate(m, FEATURES)

    def towards(
        self, q: Floats, x: Floats, rounds: int = ROUNDS, on: float | None = None
    ) -> Arrived:
        """From configurations (k, nq) to what is prescribed (k, n). With the signs of blocks to stay `on`, a lane that loses them, or
        goes farther than `AHEAD` allows, is given up at once: where nothing closes Newton's method leaps about for long."""
        q, left, last, moved, first, code = (
            np.array(y) for y in self._newton(q, x, threads=self.threads)
        )
        good = (left < CLOSE) & (last < CONVERGED)
        for _ in range(rounds - 1):
            going = ~good & np.isfinite(left)
            if on is not None:
                going &= (code == on) & _near(moved, first)
            again = np.flatnonzero(going)
            if not len(again):
                break
            q[again], left[again], last, farther, _, code[again] = self._newton(
                q[again], x[again], threads=self.threads
            )
            moved[again] += farther
            good[again] = (left[again] < CLOSE) & (last < CONVERGED)
        return Arrived(q, good, moved, first, code)

    def features(self, q: Floats) -> Floats:
        """What tells configurations from one another, whatever passive motions they differ by."""
        return np.asarray(self._features(q, threads=self.threads))


class Branch:
    """Configurations at the nodes of a lattice, every so many poses of a grid, as far as they are known."""

    def __init__(self, grid: MapGrid, strides: tuple[int, ...], nq: int, code: float) -> None:
        self.grid, self.strides, self.code = grid, strides, code
        self.shape = tuple(-(-n // s) for n, s in zip(grid.shape, strides, strict=True))
        self.q, self.known = (
            np.empty((prod(self.shape), nq)),
            np.zeros(prod(self.shape), dtype=bool),
        )

    def values(self, nodes: Any) -> Floats:
        """What is prescribed at nodes."""
        places = np.unravel_index(nodes, self.shape)
        cells = tuple(k * s for k, s in zip(places, self.strides, strict=True))
        return self.grid.values(np.ravel_multi_index(cells, self.grid.shape))

    def put(self, nodes: Any, q: Floats) -> None:
        self.q[nodes], self.known[nodes] = q, True

    def refined(self, strides: tuple[int, ...]) -> Branch:
        """The same on a finer lattice; what is between is not known yet."""
        made = Branch(self.grid, strides, self.q.shape[1], self.code)
        every = tuple(
            slice(None, None, old // new) for old, new in zip(self.strides, strides, strict=True)
        )
        made.q.reshape(*made.shape, -1)[every] = self.q.reshape(*self.shape, -1)
        made.known.reshape(made.shape)[every] = self.known.reshape(self.shape)
        return made

    def thinned(self, strides: tuple[int, ...]) -> Branch:
        """The same on a coarser lattice."""
        every = tuple(
            slice(None, None, new // old) for old, new in zip(self.strides, strides, strict=True)
        )
        made = Branch(self.grid, strides, 0, self.code)
        made.q = self.q.reshape(*self.shape, -1)[every].reshape(len(made.known), -1)
        made.known = self.known.reshape(self.shape)[every].ravel()
        return made


def lattices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The strides of a coarse lattice of a grid, then finer ones, down to the grid itself.

    >>> lattices((100, 50))
    [(4, 2), (2, 1), (1, 1)]
    """
    least = COARSE[len(shape)]
    first = [1 << max(0, int(np.log2(n / least))) if n > least else 1 for n in shape]
    levels = max(first).bit_length()
    return [tuple(max(1, s >> k) for s in first) for k in range(levels)]


def spread(
    branch: Branch,
    steps: Steps,
    others: tuple[Branch, ...] = (),
    told: Callable[[int], None] = lambda _: None,
) -> None:
    """Go on from all that is known of a branch, as far as it goes on this lattice; what belongs to other branches stays theirs."""
    fresh = branch.known.copy()
    while fresh.any():
        new, rim = np.zeros_like(fresh), _rim(branch, fresh)
        for way in _ways(len(branch.shape)):
            rim = rim[~branch.known[rim]]
            nodes, neighbours = _pairs(branch.shape, rim, fresh | new, way)
            for k in range(0, len(nodes), LANES):
                reached = _step_on(
                    branch, steps, nodes[k : k + LANES], neighbours[k : k + LANES], others
                )
                new[reached] = True
                told(len(reached))
        fresh = new


def fill_holes(branch: Branch, steps: Steps, others: tuple[Branch, ...] = ()) -> None:
    """Where a leg is nearly folded onto itself, joints turn far from pose to pose: nodes that most neighbours are known of are tried
    by short steps on the way from each."""
    ways, rim = list(_ways(len(branch.shape))), _rim(branch, branch.known)
    count = np.zeros(len(branch.known), dtype=np.int8)
    for way in ways:
        count[_pairs(branch.shape, rim, branch.known, way)[0]] += 1
    holes = np.flatnonzero(count > len(ways) // 2)
    for way in ways if len(holes) else ():
        holes = holes[~branch.known[holes]]
        nodes, neighbours = _pairs(branch.shape, holes, branch.known, way)
        q, here, there = branch.q[neighbours], branch.values(neighbours), branch.values(nodes)
        for share in np.arange(1, SHORT_STEPS + 1) / SHORT_STEPS:
            if not len(nodes):
                break
            q, good = _taken(branch, steps, q, here + share * (there - here))
            nodes, q, here, there = nodes[good], q[good], here[good], there[good]
        if len(nodes):
            good = _of_no_other(steps, nodes, q, others)
            branch.put(nodes[good], q[good])


def _ways(axes: int) -> Iterator[tuple[int, ...]]:
    """From a node to its neighbours, those along one coordinate first."""
    every = [way for way in product((-1, 0, 1), repeat=axes) if any(way)]
    yield from sorted(every, key=lambda way: sum(map(abs, way)))


def _rim(branch: Branch, nodes: Any) -> Any:
    """Flat places of all that is not known and has one of these nodes (a mask) among its neighbours."""
    near = nodes.reshape(branch.shape).copy()
    for axis in range(near.ndim):
        along, before = np.moveaxis(near, axis, 0), np.moveaxis(near.copy(), axis, 0)
        along[1:] |= before[:-1]
        along[:-1] |= before[1:]
    return np.flatnonzero(near.ravel() & ~branch.known)


def _pairs(shape: tuple[int, ...], nodes: Any, known: Any, way: tuple[int, ...]) -> tuple[Any, Any]:
    """Of flat places of nodes those whose neighbours that way are known, and the places of these neighbours."""
    inside = np.ones(len(nodes), dtype=bool)
    for k, d, n in zip(np.unravel_index(nodes, shape), way, shape, strict=True):
        inside &= (k > 0) if d < 0 else (k < n - 1) if d else True
    nodes = nodes[inside]
    neighbours = nodes + sum(d * prod(shape[k + 1 :]) for k, d in enumerate(way))
    there = known[neighbours]
    return nodes[there], neighbours[there]


def _step_on(
    branch: Branch, steps: Steps, nodes: Any, neighbours: Any, others: tuple[Branch, ...]
) -> Any:
    """Try nodes from their neighbours; those that were reached."""
    q, good = _taken(branch, steps, branch.q[neighbours], branch.values(nodes))
    reached, q = nodes[good], q[good]
    good = _of_no_other(steps, reached, q, others)
    branch.put(reached[good], q[good])
    return reached[good]


def _taken(branch: Branch, steps: Steps, q: Floats, x: Floats) -> tuple[Floats, Any]:
    """Where steps of Newton's method lead, and whether that is on the branch."""
    found = steps.towards(q, x, on=branch.code)
    return found.q, found.good & (found.code == branch.code) & _near(found.moved, found.first)


def _near(moved: Floats, first: Floats) -> Any:
    """Whether lanes are no farther from where they started than their first steps announce."""
    return moved <= np.minimum(LONGEST, AHEAD * first + CLOSE)


def _of_no_other(steps: Steps, nodes: Any, q: Floats, others: tuple[Branch, ...]) -> Any:
    """Whether configurations at nodes are none of other branches."""
    good = np.ones(len(nodes), dtype=bool)
    for other in others:
        both = np.flatnonzero(good & other.known[nodes])
        if len(both):
            good[both] = apart(steps.features(q[both]), steps.features(other.q[nodes[both]]))
    return good


def apart(first: Floats, second: Floats) -> Any:
    """Whether features are those of different configurations."""
    return np.abs(first - second).max(axis=-1) > SAME
