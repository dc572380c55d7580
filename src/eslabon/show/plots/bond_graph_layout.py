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
GAP = 14.0  # pixels: the least distance of two writings
BOND_GAP = 12.0  # pixels: the least distance of a writing from a bond that passes it
STARTS, FIRST_SWEEPS, LAST_SWEEPS = 4, 7, 16  # the best of the starts is searched on
LARGE = 120  # elements, above which one start must do
SPACING = 1.6  # lattice widths that a bond of mean length has at first


@dataclass(frozen=True)
class Untidiness:
    """What makes a picture untidy, each in lattice widths of bond that one would spend to avoid it."""

    crossing: float = 7.0
    covered: float = 14.0  # a bond runs through an element, or two bonds lie on one another
    close: float = 3.0  # a bond passes close by an element
    oblique: float = 2.5
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


def places(links: Links, extents: Sequence[Extent]) -> Floats:
    """The places of the elements in pixels, (elements, 2), y downwards; writings do not overlap.

    >>> places(((0, 1), (1, 2)), [Extent(20, 20, 8, 8)] * 3).tolist()
    [[0.0, 0.0], [74.0, 0.0], [148.0, 0.0]]
    """
    return spaced(lattice(len(extents), links), links, extents)


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
        cells[members] = tidied(len(members), own) + [right, 0]
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
    cost: Floats = WEIGHTS.bent * (cosines(one, other) > -0.99)
    return cost


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
    return found.total(found.x[None])[0]


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
        around = (np.concatenate([self.x[[v]], beside])[:, None] + AROUND).reshape(-1, 2)
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
        for k, w in enumerate(beside):
            rest = self.beside[w][self.beside[w] != v]
            out = (x[rest] - x[w])[None].astype(float)
            back = at - to[:, [k]]
            cost += angle_costs(back, out).sum(axis=1)
            if len(rest) == 1:
                cost += bend_costs(back[:, 0], out[:, 0])
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


def spaced(cells: Integers, links: Links, extents: Sequence[Extent]) -> Floats:
    """Columns and rows as narrow as writings and bonds allow, (elements, 2)."""
    reach = np.array(extents, dtype=float).reshape(-1, 2, 2)  # of each: axis, before and after
    x = np.zeros((len(cells), 2))
    for axis in (0, 1):
        room = _Room(cells, links, reach, axis)
        x[:, axis] = room.positions()[cells[:, axis]]
    return lengthened(x, cells, links, reach)


class _Room:
    """The least distances of columns (axis 0) or rows (axis 1)."""

    def __init__(self, cells: Integers, links: Links, reach: Floats, axis: int) -> None:
        self.cells, self.reach, self.axis = cells, reach, axis
        self.links = np.array(links, dtype=np.int64).reshape(-1, 2)
        self.count = int(cells[:, axis].max(initial=0)) + 1
        self.least: dict[tuple[int, int], float] = {}

    def need(self, low: int, high: int, room: float) -> None:
        if low < high:
            self.least[low, high] = max(self.least.get((low, high), 0.0), room)

    def positions(self) -> Floats:
        """The positions of columns or rows, such that bonds are short in sum."""
        from scipy.optimize import linprog

        self._ask()
        if self.count == 1:
            return np.zeros(1)
        rows, bounds = [], []
        for (low, high), room in self.least.items():
            row = np.zeros(self.count)
            row[low], row[high] = 1.0, -1.0
            rows.append(row)
            bounds.append(-room)
        weight = np.full(self.count, 1e-3)
        along = self.cells[self.links, self.axis]
        np.add.at(weight, along.max(axis=1), 1.0)
        np.add.at(weight, along.min(axis=1), -1.0)
        found = linprog(weight, np.array(rows), np.array(bounds), bounds=(0, None)).x
        return np.asarray(np.round(found, 3))

    def _ask(self) -> None:
        """All that must keep apart: elements side by side, ends of bonds, bonds that pass elements."""
        along, across = self.cells[:, self.axis], self.cells[:, 1 - self.axis]
        before, after = self.reach[:, self.axis].T
        linked = {(int(a), int(b)) for a, b in self.links} | {
            (int(b), int(a)) for a, b in self.links
        }
        if self.axis == 1:  # writings are wide: whole rows keep apart
            for r in range(self.count - 1):
                low = after[along == r].max(initial=0.0)
                self.need(r, r + 1, low + before[along == r + 1].max(initial=0.0) + GAP)
        for k in range(len(along)):
            for j in range(len(along)):
                if across[k] == across[j] and along[k] < along[j]:
                    room = SHORTEST if (k, j) in linked else GAP
                    self.need(int(along[k]), int(along[j]), after[k] + before[j] + room)
        for a, b in self.links:  # upright bonds keep clear of writings that they pass
            if along[a] != along[b]:
                continue
            low, high = sorted((across[a], across[b]))
            for k in np.flatnonzero((across > low) & (across < high)):
                i, j = sorted((int(along[k]), int(along[a])))
                self.need(i, j, (after[k] if along[k] < along[a] else before[k]) + BOND_GAP)
        for c in range(self.count - 1):
            self.need(c, c + 1, 2 * GAP)


def lengthened(x: Floats, cells: Integers, links: Links, reach: Floats) -> Floats:
    """Columns moved apart until oblique bonds are long enough too."""
    for _ in range(50):
        short = [
            (min(cells[[a, b], 0]), SHORTEST - free)
            for a, b in links
            if cells[a, 0] != cells[b, 0]
            and (free := free_length(x[a], x[b], reach[a], reach[b])) < SHORTEST - 1e-6
        ]
        if not short:
            break
        column, missing = max(short, key=lambda x: x[1])
        x = x + np.where(cells[:, :1] > column, [max(missing, 2.0), 0.0], 0.0)
    return x


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
    """From an element's place along a direction to the edge of its writing; reach: axis, before and after."""
    ahead = np.where(along < 0, reach[:, 0], reach[:, 1])
    with np.errstate(divide="ignore"):
        return float(np.min(ahead / np.abs(along)))
