"""Ways of signals over a page: along its edges, around writings, across bonds but not along them.

A grid of cells covers the page. A step costs its length, more in the way of other things, and a turn
costs extra. The ways of one signal to all that it modulates are the tree of cheapest ways from its
origin, which SciPy finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats

PITCH = 8.0  # pixels: the width of a cell
EDGE = 5  # cells around all writings
TURN, CROSS, ALONG, INSIDE, SHARED = 4.0, 1.5, 12.0, 60.0, 14.0  # steps that one would go around it
OFF_CENTRE = 2.0  # steps that an arrow goes round for each cell nearer to the middle of its goal
CLEAR = 7.0  # pixels from a writing or a bond
LARGEST = 400_000  # cells; a larger page has wider ones


class Box(NamedTuple):
    """Where a writing is: left, top, right, bottom."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, x: Floats) -> NDArray[np.bool_]:
        """Which points lie inside.

        >>> Box(0, 0, 2, 1).holds(np.array([[1.0, 0.5], [3.0, 0.5]])).tolist()
        [True, False]
        """
        inside: NDArray[np.bool_] = (
            (x[..., 0] > self.left)
            & (x[..., 0] < self.right)
            & (x[..., 1] > self.top)
            & (x[..., 1] < self.bottom)
        )
        return inside


class Router:
    """A page with writings and bonds, over which signals find their ways one after another.

    >>> page = Router([Box(0, 0, 10, 10), Box(90, 0, 100, 10)], [])
    >>> (way,) = page.ways(page.boxes[0], [page.boxes[1]])
    >>> way.tolist()
    [[10.0, 5.0], [90.0, 5.0]]
    """

    def __init__(self, boxes: Sequence[Box], bonds: Iterable[tuple[Floats, Floats]]) -> None:
        self.boxes = [Box(*box) for box in boxes]
        corners = np.array(self.boxes, dtype=float)
        low, high = corners[:, :2].min(axis=0), corners[:, 2:].max(axis=0)
        self.pitch = max(PITCH, float(np.sqrt(np.prod(high - low) / LARGEST)))
        first = self.boxes[0]
        middle = np.array([(first.left + first.right) / 2, (first.top + first.bottom) / 2])
        before = np.ceil((middle - low) / self.pitch) + EDGE
        self.low = middle - before * self.pitch
        wide, tall = (np.ceil((high - self.low) / self.pitch) + EDGE + 1).astype(int)
        self.wide, self.tall = int(wide), int(tall)
        x = self.low[0] + self.pitch * np.arange(wide)
        y = self.low[1] + self.pitch * np.arange(tall)
        self.points = np.stack(np.meshgrid(x, y), axis=-1)
        self.cost = np.ones((2, self.tall, self.wide))  # of steps across and down at each cell
        for box in self.boxes:
            inside = Box(*(np.array(box) + CLEAR * np.array([-1, -1, 1, 1]))).holds(self.points)
            self.cost[:, inside] += INSIDE
        for a, b in bonds:
            self._avoid_bond(a, b)

    def _avoid_bond(self, a: Floats, b: Floats) -> None:
        along = (b - a) / np.linalg.norm(b - a)
        away = self.points - a
        part = np.clip(away @ along, 0.0, float((b - a) @ along))
        distance = np.linalg.norm(away - part[..., None] * along, axis=-1)
        near = distance < CLEAR
        self.cost[:, near] += CROSS + ALONG * along[:, None] ** 2
        for end in (a, b):  # half arrows and strokes are there
            self.cost[:, np.linalg.norm(self.points - end, axis=-1) < 1.6 * CLEAR] += ALONG

    def ways(self, origin: Box, goals: Sequence[Box]) -> list[Floats]:
        """The corners of the way from an origin to each goal, from edge to edge."""
        from scipy.sparse.csgraph import dijkstra

        start, count = self._cell(origin), self.wide * self.tall
        within = origin.holds(self.points)
        self.cost[:, within] -= INSIDE  # the way out may start anywhere on the edge
        far, before, _ = dijkstra(
            self._graph(),
            directed=False,
            indices=[start, start + count],
            return_predecessors=True,
            min_only=True,
        )
        self.cost[:, within] += INSIDE
        found = [self._way_back(far, before, goal) for goal in goals]
        for cells in found:
            self._occupy(cells)
        return [
            self._outside(cells % count, origin, goal)
            for cells, goal in zip(found, goals, strict=True)
        ]

    def _way_back(self, far: Floats, before: NDArray[np.int32], goal: Box) -> NDArray[np.int64]:
        """The cells from the origin to the cell of a goal that is reached most easily."""
        count = self.wide * self.tall
        inside = np.flatnonzero(goal.holds(self.points).ravel())
        inside = np.append(inside, self._cell(goal))
        middle = self.points.reshape(-1, 2)[self._cell(goal)]
        off = np.abs(self.points.reshape(-1, 2)[inside] - middle).max(axis=1) / self.pitch
        ends = np.concatenate([inside, inside + count])
        at = int(ends[np.argmin(far[ends] + OFF_CENTRE * np.tile(off, 2))])
        cells = [at]
        while before[cells[-1]] >= 0:
            cells.append(int(before[cells[-1]]))
        return np.array(cells[::-1])

    def _cell(self, box: Box) -> int:
        middle = np.array([(box.left + box.right) / 2, (box.top + box.bottom) / 2])
        column, row = np.rint((middle - self.low) / self.pitch).astype(int)
        return int(row * self.wide + column)

    def _graph(self) -> Any:
        """Steps across in one layer, down in another, and turns between the two."""
        from scipy.sparse import coo_array

        number = np.arange(self.wide * self.tall).reshape(self.tall, self.wide)
        across, down = self.cost
        rows = [number[:, :-1], number[:-1] + number.size, number]
        columns = [number[:, 1:], number[1:] + number.size, number + number.size]
        costs = [
            (across[:, 1:] + across[:, :-1]) / 2,
            (down[1:] + down[:-1]) / 2,
            np.full(number.shape, TURN),
        ]
        i, j, value = (np.concatenate([x.ravel() for x in part]) for part in (rows, columns, costs))
        return coo_array((value, (i, j)), shape=(2 * number.size,) * 2).tocsr()

    def _occupy(self, cells: NDArray[np.int64]) -> None:
        """Other signals keep off this way, and off the cells beside it."""
        count = self.wide * self.tall
        for axis in (0, 1):
            own = cells[cells // count == axis] % count
            row, column = own // self.wide, own % self.wide
            for step, cost in ((0, SHARED), (-1, SHARED / 2), (1, SHARED / 2)):
                r = np.clip(row + (step if axis == 0 else 0), 0, self.tall - 1)
                c = np.clip(column + (step if axis == 1 else 0), 0, self.wide - 1)
                self.cost[axis, r, c] += cost

    def _outside(self, cells: NDArray[np.int64], origin: Box, goal: Box) -> Floats:
        """The corners of a way without what lies inside the two writings."""
        x = self.points.reshape(-1, 2)[cells]
        x = x[np.append(True, np.any(np.diff(x, axis=0) != 0, axis=1))]
        leaving = int(np.flatnonzero(origin.holds(x)).max(initial=0))
        x = x[leaving:]
        inside = np.flatnonzero(goal.holds(x))
        x = x[: int(inside.min(initial=len(x) - 1)) + 1]
        x = np.concatenate([[edge(x[0], x[1], origin)], x[1:-1], [edge(x[-1], x[-2], goal)]])
        x = x[np.append(True, np.abs(np.diff(x, axis=0)).max(axis=1) > 1e-6)]
        steps = np.sign(np.round(np.diff(x, axis=0), 6))
        corner = np.any(np.diff(steps, axis=0) != 0, axis=1)
        return np.asarray(x[np.concatenate([[True], corner, [True]])])


def edge(inside: Floats, outside: Floats, box: Box) -> Floats:
    """Where the straight way between two neighbouring points crosses the edge of a box.

    >>> edge(np.array([1.0, 1.0]), np.array([9.0, 1.0]), Box(0, 0, 4, 2)).tolist()
    [4.0, 1.0]
    """
    step = np.sign(np.round(outside - inside, 6))
    if step[0]:
        return np.array([box.right if step[0] > 0 else box.left, inside[1]])
    return np.array([inside[0], box.bottom if step[1] > 0 else box.top])
