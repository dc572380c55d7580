"""Where the boxes of a layered drawing stand: an order within the layers with few crossings, then positions.

Sugiyama's scheme in its plainest form. The drawing's nodes already have their layers; here they are sorted by the mean
place of their neighbours until crossings no longer fall, and then placed so that chains are straight and a
node stands in the middle of its own, as far as the boxes beside each other allow: a least-squares problem with bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

ORDER_SWEEPS = 16
CENTRING = 0.02  # how much nodes without links, and the drawing as a whole, tend to the middle


@dataclass(frozen=True)
class Layered:
    """Nodes by number: their widths, their layers in first order from left to right, and the links between layers."""

    widths: Sequence[float]
    layers: Sequence[Sequence[int]]
    links: Sequence[tuple[int, int]]
    gap: float = 18.0

    def neighbours(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.widths]
        for a, b in self.links:
            found[a].append(b)
            found[b].append(a)
        return found


def positions(drawing: Layered) -> np.ndarray:
    """The middle of every node across the page, the leftmost edge at zero.

    >>> parent_and_two = Layered(widths=[40, 60, 60], layers=[[0], [1, 2]], links=[(0, 1), (0, 2)])
    >>> positions(parent_and_two)
    array([ 69.,  30., 108.])
    """
    x = _placed(drawing, ordered(drawing))
    return x - (x - np.array(drawing.widths) / 2).min()


def ordered(drawing: Layered) -> list[list[int]]:
    """The layers in the best order met: the fewest crossings, and of equals the first."""
    best = current = [list(layer) for layer in drawing.layers]
    fewest = crossings(drawing, best)
    neighbours = drawing.neighbours()
    for sweep in range(ORDER_SWEEPS):
        if fewest == 0:
            break
        current = _sorted_by_neighbours(current, neighbours, downwards=sweep % 2 == 0)
        count = crossings(drawing, current)
        if count < fewest:
            best, fewest = current, count
    return best


def crossings(drawing: Layered, layers: Sequence[Sequence[int]]) -> int:
    """How many pairs of links between the same two layers cross."""
    place = {n: (k, i) for k, layer in enumerate(layers) for i, n in enumerate(layer)}
    between: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for link in drawing.links:
        (upper, i), (lower, j) = sorted(place[n] for n in link)
        between.setdefault((upper, lower), []).append((i, j))
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for links in between.values() for a, b in combinations(links, 2))


def _sorted_by_neighbours(
    layers: Sequence[Sequence[int]], neighbours: Sequence[Sequence[int]], downwards: bool
) -> list[list[int]]:
    result = [list(layer) for layer in layers]
    order = range(1, len(layers)) if downwards else range(len(layers) - 2, -1, -1)
    for k in order:
        before = {n: i for i, n in enumerate(result[k - 1 if downwards else k + 1])}
        own = {n: i for i, n in enumerate(result[k])}

        def middle(n: int, before: dict[int, int] = before, own: dict[int, int] = own) -> float:
            seen = [before[x] for x in neighbours[n] if x in before]
            return sum(seen) / len(seen) if seen else own[n]

        result[k].sort(key=middle)
    return result


def _placed(drawing: Layered, layers: Sequence[Sequence[int]]) -> np.ndarray:
    """Least squares over the first place of each layer and the distances within it, which have lower bounds."""
    from scipy.optimize import lsq_linear  # slow to load, and not needed to count freedoms

    n = len(drawing.widths)
    places = np.zeros((n, n))  # x = places @ z, where z has for each node its distance from the one on its left
    least = np.full(n, -np.inf)
    for layer in layers:
        for i, node in enumerate(layer):
            places[node, layer[: i + 1]] = 1.0
            if i:
                least[node] = (drawing.widths[layer[i - 1]] + drawing.widths[node]) / 2 + drawing.gap
    wishes = np.array([*_wishes(drawing, layers), *(CENTRING * np.eye(n))])
    return places @ lsq_linear(wishes @ places, np.zeros(len(wishes)), bounds=(least, np.inf)).x


def _wishes(drawing: Layered, layers: Sequence[Sequence[int]]) -> Iterator[np.ndarray]:
    """What the places should make zero: a node less the middle of those that hang on it, above or below.

    One that hangs on a node with others does not wish to be under it itself: so chains are straight, and a platform
    stands in the middle of its legs without bending them.
    """
    depth = {node: k for k, layer in enumerate(layers) for node in layer}
    above: list[list[int]] = [[] for _ in drawing.widths]
    below: list[list[int]] = [[] for _ in drawing.widths]
    for link in drawing.links:
        high, low = sorted(link, key=lambda node: depth[node])
        below[high].append(low)
        above[low].append(high)
    for here, there in ((below, above), (above, below)):
        for node, fan in enumerate(here):
            if len(fan) > 1 or (fan and here is below and len(there[fan[0]]) == 1):
                wish = np.zeros(len(drawing.widths))
                wish[fan] = -1.0 / len(fan)
                wish[node] += 1.0
                yield wish
