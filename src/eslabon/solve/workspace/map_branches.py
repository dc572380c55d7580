"""A branch of the inverse kinematics over a grid: from poses where it is known on to their
neighbours, coarse steps first.

A branch has one configuration for each node of a lattice of poses. Every node that is not known yet
is tried from each known neighbour by Newton's method, all of them at once, until nothing new is
reached; then the lattice is refined, and the nodes between are tried. A configuration is taken if
it has converged, lies near its neighbour, and the determinants of the blocks have the same signs:
so the branch does not jump to another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.model import Model
from eslabon.numerics.tolerances import DISTINCT
from eslabon.solve.block_newton import NEWTON, Blocks
from eslabon.solve.block_newton import SETTINGS as NEWTON_SETTINGS
from eslabon.solve.configurations import FINGERPRINT
from eslabon.solve.workspace.map_grid import MapGrid

Mask = NDArray[np.bool_]
Places = NDArray[np.intp]
Direction = tuple[int, ...]


@dataclass(frozen=True)
class BranchSettings:
    """How a branch is followed.

    Attributes
    ----------
    coarse : nodes along a coordinate of the first lattice, at least, by the number of coordinates.
    lanes : configurations in one native call.
    last_step, residual : of Newton's method where it has converged: the last step, and what was
        missing before it, in radians or lengths over L. The error is of the order of their squares.
    ahead : how far a configuration may be from its neighbour, in first steps: twice at a fold,
        where branches meet.
    rounds : calls of Newton's method from a neighbour.
    short_steps : from a neighbour to a node that is a hole.
    """

    coarse: tuple[tuple[int, int], ...] = ((2, 24), (3, 10))
    lanes: int = 1 << 17
    last_step: float = 1e-8
    residual: float = 1e-7
    ahead: float = 2.5
    rounds: int = 5
    short_steps: int = 16


SETTINGS = BranchSettings()


class Arrival(NamedTuple):
    """Where Newton's method led: whether it converged, how far from the start, how far its first
    step went, and the signs of the blocks there."""

    q: Floats
    converged: Mask
    moved: Floats
    first: Floats
    code: Floats


class PoseSolver:
    """Newton's method of one mechanism towards poses of a grid."""

    def __init__(self, m: Model, grid: MapGrid, blocks: Blocks, threads: int | None = None) -> None:
        self.m, self.grid, self.blocks, self.threads = m, grid, blocks, threads
        self._newton = evaluate(m, NEWTON, problem=grid.problem, blocks=blocks)
        self._fingerprint = evaluate(m, FINGERPRINT)

    def solve(
        self, q: Floats, x: Floats, rounds: int = SETTINGS.rounds, code: float | None = None
    ) -> Arrival:
        """From configurations (k, nq) to prescribed values (k, n). With a `code` of signs to keep,
        a lane that loses it or moves too far is given up at once: where nothing closes Newton's
        method wanders for long."""
        q, left, last, moved, first, signs = (
            np.array(y) for y in self._newton(q, x, threads=self.threads)
        )
        converged = (left < SETTINGS.residual) & (last < SETTINGS.last_step)
        for _ in range(rounds - 1):
            onward = ~converged & np.isfinite(left)
            if code is not None:
                onward &= (signs == code) & is_near(moved, first)
            lanes = np.flatnonzero(onward)
            if not len(lanes):
                break
            q[lanes], left[lanes], last, farther, _, signs[lanes] = self._newton(
                q[lanes], x[lanes], threads=self.threads
            )
            moved[lanes] += farther
            converged[lanes] = (left[lanes] < SETTINGS.residual) & (last < SETTINGS.last_step)
        return Arrival(q, converged, moved, first, signs)

    def fingerprints(self, q: Floats) -> Floats:
        """Numbers that differ between configurations, unless these differ by passive motions."""
        return np.asarray(self._fingerprint(q, threads=self.threads))

    def differ(self, first: Floats, second: Floats) -> Mask:
        """Whether configurations are different, row by row."""
        return differ(self.fingerprints(first), self.fingerprints(second))


def differ(first: Floats, second: Floats) -> Mask:
    """Whether fingerprints are those of different configurations."""
    return np.asarray(np.abs(first - second).max(axis=-1) > DISTINCT)


def is_near(moved: Floats, first: Floats) -> Mask:
    """Whether lanes are no farther from where they started than their first steps announce."""
    bound = SETTINGS.ahead * first + SETTINGS.residual
    return np.asarray(moved <= np.minimum(NEWTON_SETTINGS.longest, bound))


class Branch:
    """Configurations at the nodes of a lattice, every so many poses of a grid, as far as they are
    known."""

    def __init__(self, grid: MapGrid, strides: tuple[int, ...], nq: int, code: float = 0.0) -> None:
        self.grid, self.strides, self.code = grid, strides, code
        self.shape = tuple(-(-n // s) for n, s in zip(grid.shape, strides, strict=True))
        self.q = np.empty((prod(self.shape), nq))
        self.known = np.zeros(prod(self.shape), dtype=bool)

    def values(self, nodes: Places) -> Floats:
        """What is prescribed at nodes."""
        places = np.unravel_index(nodes, self.shape)
        cells = tuple(k * s for k, s in zip(places, self.strides, strict=True))
        return self.grid.values(np.ravel_multi_index(cells, self.grid.shape))

    def put(self, nodes: Places | int, q: Floats) -> None:
        self.q[nodes], self.known[nodes] = q, True

    def refined(self, strides: tuple[int, ...]) -> Branch:
        """The same on a finer lattice; the nodes between are not known yet."""
        finer = Branch(self.grid, strides, self.q.shape[1], self.code)
        pairs = zip(self.strides, strides, strict=True)
        every = tuple(slice(None, None, old // new) for old, new in pairs)
        finer.q.reshape(*finer.shape, -1)[every] = self.q.reshape(*self.shape, -1)
        finer.known.reshape(finer.shape)[every] = self.known.reshape(self.shape)
        return finer

    def thinned(self, strides: tuple[int, ...]) -> Branch:
        """The same on a coarser lattice."""
        pairs = zip(self.strides, strides, strict=True)
        every = tuple(slice(None, None, new // old) for old, new in pairs)
        coarser = Branch(self.grid, strides, 0, self.code)
        coarser.q = self.q.reshape(*self.shape, -1)[every].reshape(len(coarser.known), -1)
        coarser.known = self.known.reshape(self.shape)[every].ravel()
        return coarser


def lattices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The strides of a coarse lattice of a grid, then finer ones, down to the grid itself.

    >>> lattices((100, 50))
    [(4, 2), (2, 1), (1, 1)]
    """
    least = dict(SETTINGS.coarse)[len(shape)]
    first = [1 << max(0, int(np.log2(n / least))) if n > least else 1 for n in shape]
    levels = max(first).bit_length()
    return [tuple(max(1, s >> k) for s in first) for k in range(levels)]


def flood(
    branch: Branch,
    solver: PoseSolver,
    others: tuple[Branch, ...] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Go on from all that is known of a branch, as far as it goes on this lattice; what belongs to
    other branches stays theirs."""
    fresh = branch.known.copy()
    while fresh.any():
        new, rim = np.zeros_like(fresh), _rim(branch, fresh)
        for direction in _directions(len(branch.shape)):
            rim = rim[~branch.known[rim]]
            nodes, neighbours = _pairs(branch.shape, rim, fresh | new, direction)
            for k in range(0, len(nodes), SETTINGS.lanes):
                some = slice(k, k + SETTINGS.lanes)
                x = branch.values(nodes[some])
                q, good = _newton_on(branch, solver, branch.q[neighbours[some]], x)
                reached = _put_own(branch, solver, nodes[some][good], q[good], others)
                new[reached] = True
                progress(len(reached))
        fresh = new


def fill_holes(branch: Branch, solver: PoseSolver, others: tuple[Branch, ...] = ()) -> None:
    """Try nodes that most neighbours are known of by short steps from each of these: where a leg is
    nearly folded onto itself, joints turn far from pose to pose."""
    directions, rim = list(_directions(len(branch.shape))), _rim(branch, branch.known)
    count = np.zeros(len(branch.known), dtype=np.int8)
    for direction in directions:
        count[_pairs(branch.shape, rim, branch.known, direction)[0]] += 1
    holes = np.flatnonzero(count > len(directions) // 2)
    for direction in directions if len(holes) else ():
        holes = holes[~branch.known[holes]]
        nodes, neighbours = _pairs(branch.shape, holes, branch.known, direction)
        q, here, there = branch.q[neighbours], branch.values(neighbours), branch.values(nodes)
        for share in np.arange(1, SETTINGS.short_steps + 1) / SETTINGS.short_steps:
            if not len(nodes):
                break
            q, good = _newton_on(branch, solver, q, here + share * (there - here))
            nodes, q, here, there = nodes[good], q[good], here[good], there[good]
        _put_own(branch, solver, nodes, q, others)


def _directions(axes: int) -> Iterator[Direction]:
    """From a node to its neighbours, those along one coordinate first."""
    every = [direction for direction in product((-1, 0, 1), repeat=axes) if any(direction)]
    yield from sorted(every, key=lambda direction: sum(map(abs, direction)))


def _rim(branch: Branch, nodes: Mask) -> Places:
    """Flat places of all that is not known and has one of these nodes among its neighbours."""
    near = nodes.reshape(branch.shape).copy()
    for axis in range(near.ndim):
        along, before = np.moveaxis(near, axis, 0), np.moveaxis(near.copy(), axis, 0)
        along[1:] |= before[:-1]
        along[:-1] |= before[1:]
    return np.flatnonzero(near.ravel() & ~branch.known)


def _pairs(
    shape: tuple[int, ...], nodes: Places, known: Mask, direction: Direction
) -> tuple[Places, Places]:
    """Of flat places of nodes those whose neighbours in a direction are known, and the places of
    these neighbours."""
    inside: Any = np.ones(len(nodes), dtype=bool)
    for k, d, n in zip(np.unravel_index(nodes, shape), direction, shape, strict=True):
        inside &= (k > 0) if d < 0 else (k < n - 1) if d else True
    nodes = nodes[inside]
    neighbours = nodes + sum(d * prod(shape[k + 1 :]) for k, d in enumerate(direction))
    there = known[neighbours]
    return nodes[there], neighbours[there]


def _newton_on(branch: Branch, solver: PoseSolver, q: Floats, x: Floats) -> tuple[Floats, Mask]:
    """Where Newton's method leads, and whether that is on the branch."""
    found = solver.solve(q, x, code=branch.code)
    on_branch = found.converged & (found.code == branch.code)
    return found.q, on_branch & is_near(found.moved, found.first)


def _put_own(
    branch: Branch, solver: PoseSolver, nodes: Places, q: Floats, others: tuple[Branch, ...]
) -> Places:
    """Put configurations that are none of other branches; the nodes where that is so."""
    own = np.ones(len(nodes), dtype=bool)
    for other in others:
        both = np.flatnonzero(own & other.known[nodes])
        if len(both):
            own[both] = solver.differ(q[both], other.q[nodes[both]])
    branch.put(nodes[own], q[own])
    return nodes[own]
