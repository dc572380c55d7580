"""Where the nodes of the topology drawing stand: under the ground, each tree over its own width of the page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

import networkx as nx

GAP = 18.0  # between two nodes of one layer


def across(
    widths: Sequence[float], layers: Sequence[int], links: Sequence[tuple[int, int]]
) -> list[float]:
    """The middle of every node across the page, the leftmost edge at zero.

    A node that hangs on one other takes its share of the width below it, so chains are straight and trees have no
    crossings. One that hangs on several, such as a platform on its legs, stands under their middle with all its own.

    >>> across([40, 60, 60, 40], [0, 1, 1, 2], [(0, 1), (0, 2), (1, 3), (2, 3)])
    [69.0, 30.0, 108.0, 69.0]
    """
    above: dict[int, list[int]] = {k: [] for k in range(len(widths))}
    for a, b in links:
        high, low = sorted((a, b), key=lambda k: layers[k])
        above[low].append(high)
    trees: nx.DiGraph[int] = nx.DiGraph()
    trees.add_nodes_from(above)
    trees.add_edges_from((on[0], k) for k, on in above.items() if len(on) == 1)
    x: dict[int, float] = {}
    for root in sorted((k for k, on in above.items() if len(on) != 1), key=lambda k: layers[k]):
        on = above[root]
        x |= _tree(trees, root, widths, sum(x[k] for k in on) / len(on) if on else 0.0)
    _part(x, widths, layers)
    left = min(x[k] - width / 2 for k, width in enumerate(widths))
    return [x[k] - left for k in range(len(widths))]


def _tree(
    trees: nx.DiGraph[int], root: int, widths: Sequence[float], middle: float
) -> dict[int, float]:
    """A tree with its root in a given place: every node over the middle of its children."""
    share: dict[int, float] = {}
    for k in nx.dfs_postorder_nodes(trees, root):
        share[k] = max(widths[k] + GAP, sum(share[child] for child in trees[k]))
    x = {root: middle}
    for k in nx.dfs_preorder_nodes(trees, root):
        edge = x[k] - sum(share[child] for child in trees[k]) / 2
        for child in trees[k]:
            x[child] = edge + share[child] / 2
            edge += share[child]
    return x


def _part(x: dict[int, float], widths: Sequence[float], layers: Sequence[int]) -> None:
    """Move apart what overlaps in a layer, which only nodes that hang on several can."""
    ordered = sorted(x, key=lambda k: (layers[k], x[k], k))
    for row in (list(own) for _, own in groupby(ordered, key=lambda k: layers[k])):
        before = sum(x[k] for k in row)
        for a, b in pairwise(row):
            x[b] = max(x[b], x[a] + (widths[a] + widths[b]) / 2 + GAP)
        moved = (sum(x[k] for k in row) - before) / len(row)
        x.update({k: x[k] - moved for k in row})
