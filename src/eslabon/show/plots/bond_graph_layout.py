"""Where the elements of a drawn bond graph stand: on a lattice, so that bonds run along the page's edges.

Kamada and Kawai's layout opens loops and straightens chains. Its points are snapped to the cells of
a lattice, by the assignment of least displacement, and then moved from cell to cell while that makes
the picture tidier: fewer crossings, fewer oblique bonds, shorter ones. At last columns and rows get
the widths that the writing needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats

Integers = NDArray[np.int64]
Links = tuple[tuple[int, int], ...]

SHORTEST = 34.0  # pixels: the least free length of a bond, between two writings
FLATTEST = 0.45  # the least slope of a bond from one row to the next
WIDEST, WIDENINGS = 120.0, 12  # pixels between two rows; attempts to give oblique bonds room
COLUMN = 60.0  # pixels: the least distance of two columns; oblique bonds are clearly oblique
GAP = 14.0  # pixels: the least distance of two writings
BOND_GAP = 12.0  # pixels: the least distance of a writing from a bond that passes it
STARTS, FIRST_SWEEPS, LAST_SWEEPS = 4, 5, 18  # the best of the starts is searched on
LARGE = 120  # elements, above which one start must do
SPACING = 1.6  # lattice widths that a bond of mean length has at first


@dataclass(frozen=True)
class Untidiness:
    """What makes a picture untidy, each in lattice widths of bond that one would spend to avoid it."""

    crossing: float = 9.0
    covered: float = 14.0  # a bond runs through an element, or two bonds lie on one another
    close: float = 8.0  # a bond passes close by an element
    oblique: float = 3.0
    not_diagonal: float = 1.5  # an oblique bond that does not run at 45 degrees
    narrow: float = 3.0  # two bonds of an element at less than 45 degrees
    bent: float = 0.6  # the two bonds of a two-port do not lie in one line


WEIGHTS = Untidiness()
CLOSE = 0.6  # lattice widths: nearer than this a bond is close to an element
NARROW = np.cos(np.radians(40.0))


class Extent(NamedTuple):
    """How far the writing of an element reaches from its place, in pixels."""

    left: float
    right: float
    up: float
    down: float


def places(links: Links, extents: Sequence[Extent], rooms: Sequence[float] = ()) -> Floats:
    """The places of the elements in pixels, (elements, 2), y downwards; writings do not overlap.

    `rooms` are the free lengths that bonds need where they lie level, for what is written on them.

    >>> places(((0, 1), (1, 2)), [Extent(20, 20, 8, 8)] * 3).tolist()
    [[0.0, 0.0], [74.0, 0.0], [148.0, 0.0]]
    """
    return spaced(lattice(len(extents), links), links, extents, rooms)


@lru_cache(maxsize=64)
def lattice(count: int, links: Links) -> Integers:
    """The column and the row of each element, (elements, 2).

    >>> lattice(3, ((0, 1), (1, 2))).tolist()
    [[0, 0], [1, 0], [2, 0]]
    """
    import networkx as nx

    graph = nx.Graph(links)
    graph.add_nodes_from(range(count))
    cells, right = np.zeros((count, 2), dtype=np.int64), 0
    for part in nx.connected_components(graph):
        members = sorted(part)
        number = {v: k for k, v in enumerate(members)}
        own = tuple((number[a], number[b]) for a, b in links if a in part)
        cells[members] = tidied(len(members), own) + np.array([right, 0])
        right = int(cells[members, 0].max()) + 2
    cells.setflags(write=False)
    return cells


def tidied(count: int, links: Links) -> Integers:
    """The cells of a connected graph: the tidiest result of several starts."""
    if not links:
        return np.zeros((count, 2), dtype=np.int64)
    searches = [_Search(count, links, start) for start in range(STARTS if count <= LARGE else 1)]
    for search in searches:
        search.cool(2.5, FIRST_SWEEPS)
    best = min(searches, key=lambda search: search.least)
    best.cool(1.2, LAST_SWEEPS)
    return oriented(best.best, links)


def kamada_kawai(count: int, links: Links, start: int) -> Floats:
    """Distances on the page as those in the graph; the first start is a circle, others are seeded."""
    import networkx as nx

    graph = nx.Graph(links)
    order = np.random.default_rng(start).permutation(count) if start else np.arange(count)
    angle = 2 * np.pi * np.arange(count) / count
    begin = {int(k): (np.cos(a), np.sin(a)) for k, a in zip(order, angle, strict=True)}
    found = nx.kamada_kawai_layout(graph, pos=begin) if count > 2 else begin
    return turned(np.array([found[k] for k in range(count)], dtype=float), links)


def turned(x: Floats, links: Links) -> Floats:
    """Turned so that bonds lie along the page's edges as far as they do."""
    ends = np.array(links)
    bonds = x[ends[:, 1]] - x[ends[:, 0]]
    phase = np.sum((bonds[:, 0] + 1j * bonds[:, 1]) ** 4)  # the edges of the page are alike
    c, s = np.cos(-np.angle(phase) / 4), np.sin(-np.angle(phase) / 4)
    return x @ np.array([[c, s], [-s, c]])


def snapped(x: Floats, links: Links, spacing: float) -> Integers:
    """The nearest cells, each for one element, such that displacements are least in sum."""
    from scipy.optimize import linear_sum_assignment

    ends = np.array(links)
    lengths = np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1)
    x = x * spacing / max(float(lengths.mean()), 1e-9)
    x = x - x.min(axis=0)
    wide, tall = np.ceil(x.max(axis=0)).astype(int) + 3
    cells = np.stack(np.meshgrid(np.arange(wide) - 1, np.arange(tall) - 1), axis=-1).reshape(-1, 2)
    squares = np.sum((x[:, None] - cells[None]) ** 2, axis=-1)
    return np.asarray(cells[linear_sum_assignment(squares)[1]], dtype=np.int64)


def oriented(cells: Integers, links: Links) -> Integers:
    """Wider than tall, with power going right and down, from column 0 and row 0."""
    ends = np.array(links)
    if np.ptp(cells[:, 1]) > np.ptp(cells[:, 0]):
        cells = cells[:, ::-1]
    bonds = cells[ends[:, 1]] - cells[ends[:, 0]]
    cells = cells * np.where(np.sign(bonds).sum(axis=0) < 0, -1, 1)
    cells = np.asarray(cells - cells.min(axis=0))
    for axis in (0, 1):  # columns and rows without elements vanish
        cells[:, axis] = np.unique(cells[:, axis], return_inverse=True)[1]
    return cells


# -- how tidy a picture is -------------------------------------------------------------------------


def bond_costs(along: Any) -> Floats:
    """The cost of bonds along these vectors, (..., 2)."""
    x, y = np.abs(along[..., 0]), np.abs(along[..., 1])
    oblique = (x > 0) & (y > 0)
    cost: Floats = np.sqrt(x * x + y * y) - 1.0
    return cost + WEIGHTS.oblique * oblique + WEIGHTS.not_diagonal * (oblique & (x != y))


def cosines(one: Any, other: Any) -> Floats:
    """The cosines of the angles between vectors, (..., 2)."""
    dot = one[..., 0] * other[..., 0] + one[..., 1] * other[..., 1]
    squares = (one[..., 0] ** 2 + one[..., 1] ** 2) * (other[..., 0] ** 2 + other[..., 1] ** 2)
    cosine: Floats = dot / np.sqrt(np.maximum(squares, 1e-9))
    return cosine


def angle_costs(one: Any, other: Any) -> Floats:
    """The cost of the angle between bonds along these vectors from one element."""
    cosine = cosines(one, other)
    cost: Floats = WEIGHTS.narrow * (cosine > NARROW) + WEIGHTS.covered * (cosine > 1 - 1e-6)
    return cost


def bend_costs(one: Any, other: Any) -> Floats:
    """The cost of two-ports whose two bonds do not lie in one line."""
    return np.where(cosines(one, other) > -0.99, WEIGHTS.bent, 0.0)


def passing_costs(a: Any, b: Any, x: Any) -> Floats:
    """The cost of elements at x beside bonds from a to b."""
    along_x, along_y = b[..., 0] - a[..., 0], b[..., 1] - a[..., 1]
    x_away, y_away = x[..., 0] - a[..., 0], x[..., 1] - a[..., 1]
    square = np.maximum(along_x * along_x + along_y * along_y, 1e-9)
    part = np.clip((x_away * along_x + y_away * along_y) / square, 0.0, 1.0)
    x_rest, y_rest = x_away - part * along_x, y_away - part * along_y
    distance = x_rest * x_rest + y_rest * y_rest
    cost: Floats = WEIGHTS.covered * (distance < 1e-6) + WEIGHTS.close * (distance < CLOSE**2)
    return cost


def side(a: Any, b: Any, x: Any) -> Any:
    """On which side of the line from a to b x is, by sign."""
    return (b[..., 0] - a[..., 0]) * (x[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        x[..., 0] - a[..., 0]
    )


def crossed(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Whether the bonds from a to b and from c to d cross within both."""
    return (side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0)


def untidiness(cells: Integers, links: Links) -> float:
    """The cost of a whole picture.

    >>> untidiness(np.array([[0, 0], [1, 0], [2, 0]]), ((0, 1), (1, 2)))
    0.0
    """
    found = _Search.at(cells, links)
    return float(found.total(found.x[None])[0])


AROUND = np.array([(a, b) for a in (0, -1, 1) for b in (0, -1, 1)])  # staying is the first
TURNS = np.array([[[0, 1], [-1, 0]], [[-1, 0], [0, -1]], [[0, -1], [1, 0]]])  # by quarters


class _Search:
    """Moves elements from cell to cell while the picture gets tidier."""

    def __init__(self, count: int, links: Links, start: int = 0) -> None:
        self.count, self.start = count, start
        unique = sorted({(min(x), max(x)) for x in links})
        self.links = np.array(unique, dtype=np.int64)
        self.beside: list[Integers] = [
            np.array([a + b - v for a, b in unique if v in (a, b)], dtype=np.int64)
            for v in range(count)
        ]
        self.others = [np.flatnonzero((self.links != v).all(axis=1)) for v in range(count)]
        self.leaves = [
            np.array([w for w in own if len(self.beside[w]) == 1], dtype=np.int64)
            for own in self.beside
        ]
        self.beyond: list[tuple[Integers, Integers, Integers]] = []
        for v, own in enumerate(self.beside):  # the other bonds of neighbours
            pairs = [(k, r) for k, w in enumerate(own) for r in self.beside[w] if r != v]
            k, rest = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
            two_ports = [len(self.beside[w]) == 2 for w in own[k]]
            self.beyond.append((k, rest, np.flatnonzero(two_ports)))
        i, j = np.triu_indices(len(unique), 1)
        shared = (self.links[i][:, :, None] == self.links[j][:, None, :]).any(axis=(1, 2))
        self.apart = i[~shared], j[~shared]
        corners = [
            (v, own[p], own[q])
            for v, own in enumerate(self.beside)
            for p in range(len(own))
            for q in range(p)
        ]
        self.corners = np.array(corners, dtype=np.int64).reshape(-1, 3)
        bends = [(v, *own) for v, own in enumerate(self.beside) if len(own) == 2]
        self.bends = np.array(bends, dtype=np.int64).reshape(-1, 3)
        strangers = [
            (k, v) for k, (a, b) in enumerate(unique) for v in range(count) if v not in (a, b)
        ]
        self.strangers = np.array(strangers, dtype=np.int64).reshape(-1, 2)
        self.rng, self.begun, self.least = np.random.default_rng(start), False, np.inf
        self.x = self.best = np.zeros((count, 2), dtype=np.int64)

    @classmethod
    def at(cls, cells: Integers, links: Links) -> _Search:
        made = cls(len(cells), links)
        made.x = np.array(cells, dtype=np.int64)
        return made

    def cool(self, heat: float, sweeps: int) -> None:
        """Cooling sweeps over all elements; what was tidiest on the way is kept."""
        if not self.begun:
            links = tuple(map(tuple, self.links.tolist()))
            self.best = snapped(kamada_kawai(self.count, links, self.start), links, SPACING)
            self.least, self.begun = float(self.total(self.best[None])[0]), True
        self.x = self.best.copy()
        for sweep in range(sweeps):
            now_heat = max(0.0, heat * (1 - sweep / (0.7 * sweeps)))
            for v in self.rng.permutation(self.count):
                self.move(int(v), now_heat)
                if len(self.leaves[v]) and sweep % 3 == 2:
                    self.move_with_leaves(int(v))
            now = float(self.total(self.x[None])[0])
            if now < self.least - 1e-9:
                self.best, self.least = self.x.copy(), now
            elif not now_heat and sweep % 3 == 2:
                break

    def candidates(self, v: int) -> Integers:
        """Free cells beside an element and its neighbours, and in their columns and rows."""
        beside = self.x[self.beside[v]]
        near = beside if len(beside) <= 3 else beside[:0]  # the corners below are many enough
        around = (np.concatenate([self.x[[v]], near])[:, None] + AROUND).reshape(-1, 2)
        corners = np.stack(np.meshgrid(beside[:, 0], beside[:, 1]), axis=-1).reshape(-1, 2)
        mean = np.rint(beside.mean(axis=0)).astype(np.int64) + AROUND
        cells = set(map(tuple, np.concatenate([around, corners, mean]).tolist()))
        own = tuple(self.x[v].tolist())
        cells -= set(map(tuple, self.x.tolist())) - {own}
        return np.array([own, *sorted(cells - {own})], dtype=np.int64)

    def move(self, v: int, heat: float) -> None:
        """Move one element to the best free cell; with heat to one of the better ones."""
        cells = self.candidates(v)
        cost = self.costs(v, cells)
        if heat:
            cost = cost + heat * self.rng.gumbel(size=len(cost))
        self.x[v] = cells[int(np.argmin(cost))]

    def move_with_leaves(self, v: int) -> None:
        """Move an element together with the one-ports on it to a cell beside it, or turn these."""
        leaves = self.leaves[v]
        tried = np.repeat(self.x[None], len(AROUND) + len(TURNS), axis=0)
        tried[: len(AROUND), np.append(leaves, v)] += AROUND[:, None]
        away = self.x[leaves] - self.x[v]
        tried[len(AROUND) :, leaves] = self.x[v] + away @ TURNS
        keys = np.sort(tried[..., 0] * 10_000 + tried[..., 1], axis=1)
        tried = tried[(np.diff(keys, axis=1) != 0).all(axis=1)]
        self.x = tried[int(np.argmin(self.total(tried)))].copy()

    def costs(self, v: int, cells: Integers) -> Floats:
        """What the picture costs with one element at each of these cells, but for what stays the same."""
        x, beside, others = self.x, self.beside[v], self.others[v]
        at, to = cells[:, None].astype(float), x[beside][None].astype(float)
        cost: Floats = bond_costs(to - at).sum(axis=1)
        a, b = (x[self.links[others, k]].astype(float) for k in (0, 1))
        own = (self.links[others][None] == beside[:, None, None]).any(axis=-1)
        hits = crossed(at[:, :, None], to[:, :, None], a[None, None], b[None, None])
        cost += WEIGHTS.crossing * (hits & ~own[None]).sum(axis=(1, 2))
        cost += passing_costs(a[None], b[None], at).sum(axis=1)
        strange = np.ones((len(beside), self.count), dtype=bool)
        strange[:, v] = False
        strange[np.arange(len(beside)), beside] = False
        near = passing_costs(at[:, :, None], to[:, :, None], x[None, None].astype(float))
        cost += (near * strange[None]).sum(axis=(1, 2))
        p, q = np.tril_indices(len(beside), -1)
        cost += angle_costs((to - at)[:, p], (to - at)[:, q]).sum(axis=1)
        if len(beside) == 2:
            cost += bend_costs((to - at)[:, 0], (to - at)[:, 1])
        k, rest, straight = self.beyond[v]
        back, out = at - to[:, k], (x[rest] - x[beside[k]])[None].astype(float)
        cost += angle_costs(back, out).sum(axis=1)
        if len(straight):
            cost += bend_costs(back[:, straight], out[:, straight]).sum(axis=1)
        return cost

    def total(self, x: Integers) -> Floats:
        """The cost of whole pictures, (pictures, elements, 2)."""
        x = x.astype(float)
        a, b = x[:, self.links[:, 0]], x[:, self.links[:, 1]]
        i, j = self.apart
        cost: Floats = bond_costs(b - a).sum(axis=1)
        cost += WEIGHTS.crossing * crossed(a[:, i], b[:, i], a[:, j], b[:, j]).sum(axis=1)
        k, v = self.strangers.T
        cost += passing_costs(a[:, k], b[:, k], x[:, v]).sum(axis=1)
        o, p, q = self.corners.T
        cost += angle_costs(x[:, p] - x[:, o], x[:, q] - x[:, o]).sum(axis=1)
        o, p, q = self.bends.T
        cost += bend_costs(x[:, p] - x[:, o], x[:, q] - x[:, o]).sum(axis=1)
        return cost


# -- from cells to pixels --------------------------------------------------------------------------


def spaced(
    cells: Integers, links: Links, extents: Sequence[Extent], rooms: Sequence[float] = ()
) -> Floats:
    """Columns and rows as narrow as writings and bonds allow, (elements, 2)."""
    page = _Spacing(cells, links, extents, rooms or [SHORTEST] * len(links))
    for _ in range(WIDENINGS):
        x = page.positions()
        if not page.widen(x):
            break
    return x


class _Spacing:
    """The least distances between columns and between rows, and what they lead to."""

    def __init__(
        self, cells: Integers, links: Links, extents: Sequence[Extent], rooms: Sequence[float]
    ) -> None:
        self.cells = cells
        self.links = np.array(links, dtype=np.int64).reshape(-1, 2)
        self.reach = np.array(extents, dtype=float).reshape(-1, 2, 2)  # axis, before and after
        self.rooms = np.maximum(rooms, SHORTEST)
        self.least: tuple[dict[tuple[int, int], float], ...] = ({}, {})
        for axis in (0, 1):
            self._ask(axis)

    def _need(self, axis: int, low: int, high: int, room: float) -> None:
        if low < high:
            own = self.least[axis]
            own[low, high] = max(own.get((low, high), 0.0), room)

    def _ask(self, axis: int) -> None:
        """All that must keep apart: elements side by side, ends of bonds, bonds that pass elements."""
        along, across = self.cells[:, axis], self.cells[:, 1 - axis]
        before, after = self.reach[:, axis].T
        count = int(along.max(initial=0)) + 1
        bonds: dict[tuple[int, int], float] = {}
        for (a, b), room in zip(self.links.tolist(), self.rooms, strict=True):
            key = (min(a, b), max(a, b))
            bonds[key] = max(bonds.get(key, 0.0), room if axis == 0 else SHORTEST)
        for c in range(count - 1):
            self._need(axis, c, c + 1, COLUMN if axis == 0 else 2 * GAP)
            if axis == 1:  # writings are wide: whole rows keep apart
                up, down = before[along == c + 1].max(initial=0), after[along == c].max(initial=0)
                self._need(axis, c, c + 1, up + down + GAP)
        for k in range(len(along)):
            for j in np.flatnonzero((across == across[k]) & (along > along[k])).tolist():
                room = bonds.get((min(k, j), max(k, j)), GAP)
                self._need(axis, int(along[k]), int(along[j]), after[k] + before[j] + room)
        for a, b in self.links:  # upright bonds keep clear of writings that they pass
            if along[a] != along[b]:
                continue
            first, last = sorted((int(across[a]), int(across[b])))
            for k in np.flatnonzero((across > first) & (across < last)).tolist():
                i, j = sorted((int(along[k]), int(along[a])))
                self._need(axis, i, j, (after if along[k] < along[a] else before)[k] + BOND_GAP)

    def positions(self) -> Floats:
        """The places of all elements such that bonds are short in sum."""
        return np.stack([self._axis(axis)[self.cells[:, axis]] for axis in (0, 1)], axis=-1)

    def _axis(self, axis: int) -> Floats:
        from scipy.optimize import linprog

        count = int(self.cells[:, axis].max(initial=0)) + 1
        if count == 1:
            return np.zeros(1)
        pairs, rooms = np.array([*self.least[axis]]), np.array([*self.least[axis].values()])
        rows = np.zeros((len(pairs), count))
        rows[np.arange(len(pairs)), pairs[:, 0]] = 1.0
        rows[np.arange(len(pairs)), pairs[:, 1]] = -1.0
        weight = np.full(count, 1e-3)
        along = self.cells[self.links, axis]
        np.add.at(weight, along.max(axis=1), 1.0)
        np.add.at(weight, along.min(axis=1), -1.0)
        found = linprog(weight, rows, -rooms, bounds=(0, None)).x
        return np.asarray(np.round(found, 3))

    def widen(self, x: Floats) -> bool:
        """Ask for more room where an oblique bond is short, flat or runs over a writing."""
        wider = False
        for a, b in self.links:
            if (self.cells[a] == self.cells[b]).any():
                continue
            low, high = sorted((int(self.cells[a, 1]), int(self.cells[b, 1])))
            over = [int(self.cells[k, 1]) for k in self._covered(x, a, b)]
            short = SHORTEST - free_length(x[a], x[b], self.reach[a], self.reach[b])
            steep = abs(x[b, 1] - x[a, 1]) / max(abs(x[b, 0] - x[a, 0]), 1e-9)
            gaps = {r for row in over for r in (row - 1, row) if low <= r < high}
            if short > 1e-6 or (steep < FLATTEST and high == low + 1):
                gaps |= {*range(low, high)}
            for r in gaps:
                now = abs(float(np.ptp(self._rows(x)[[r, r + 1]])))
                if now < (2 * WIDEST if over or short > 1e-6 else WIDEST):
                    self._need(1, r, r + 1, now + (24.0 if over else max(8.0, short)))
                    wider = True
        return wider

    def _rows(self, x: Floats) -> Floats:
        """The positions of rows."""
        made = np.zeros(int(self.cells[:, 1].max()) + 1)
        made[self.cells[:, 1]] = x[:, 1]
        return made

    def _covered(self, x: Floats, a: int, b: int) -> list[int]:
        """The elements on whose writing a bond runs."""
        part = np.linspace(0.0, 1.0, 41)[:, None]
        points = x[a] + part * (x[b] - x[a])
        low, high = x - self.reach[:, :, 0] - 2.0, x + self.reach[:, :, 1] + 2.0
        inside = ((points[:, None] > low) & (points[:, None] < high)).all(axis=-1).any(axis=0)
        inside[[a, b]] = False
        return np.flatnonzero(inside).tolist()


def free_length(a: Floats, b: Floats, one: Floats, other: Floats) -> float:
    """How long the bond from a to b is between the writings about them.

    >>> reach = np.array([[20.0, 20.0], [8.0, 8.0]])
    >>> free_length(np.array([0.0, 0.0]), np.array([100.0, 0.0]), reach, reach)
    60.0
    """
    length = float(np.linalg.norm(b - a))
    along = (b - a) / length
    return length - distance_to_edge(one, along) - distance_to_edge(other, -along)


def distance_to_edge(reach: Floats, along: Floats) -> float:
    """From an element's place along a direction to the edge of its writing.

    `reach` is by axis how far it reaches before and after the place.

    >>> distance_to_edge(np.array([[20.0, 20.0], [8.0, 9.0]]), np.array([0.0, 1.0]))
    9.0
    """
    ahead = np.where(along < 0, reach[:, 0], reach[:, 1])
    with np.errstate(divide="ignore"):
        return float(np.min(ahead / np.abs(along)))
