"""Where the elements of a drawn bond graph stand: by Kamada and Kawai's layout, igraph's, turned and scaled to the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.bonds.graph import Graph
from eslabon.errors import MissingDependencyError

BOND, GAP = 46.0, 12.0  # the shortest bond between two writings, and the least distance of two writings, in pixels
ROUNDS, STARTS = 5_000, 16
NARROW = np.radians(50)


def places(g: Graph, sizes: Sequence[tuple[float, float]]) -> Floats:
    """The middles of the elements, (elements, 2), y downwards, such that writings of these sizes do not overlap."""
    number = {name: k for k, name in enumerate(g.elements)}
    links = np.array([(number[b.tail], number[b.head]) for b in g.bonds.values()], dtype=int).reshape(-1, 2)
    x = min(laid_out(len(number), links), key=lambda x: disorder(x, links))
    x = turned(x, links)
    x = x * scale(x, links, np.array(sizes, dtype=float))
    return x - x.min(axis=0)


def laid_out(count: int, links: Any) -> list[Floats]:
    """Kamada and Kawai's layout: distances on the page as those in the graph, so that loops open and chains are straight.

    It ends in one of many minima, so that it begins from several places: circles in seeded orders.
    """
    try:
        import igraph
    except ImportError:
        raise MissingDependencyError(
            "drawing bond graphs needs igraph; pip install 'eslabon[draw]' brings it."
        ) from None
    graph, circle = igraph.Graph(count, links.tolist()), igraph.Graph(count).layout_circle().coords
    rng, made = np.random.default_rng(0), []  # the same ones each time: a graph is always drawn alike
    for k in range(STARTS):
        order = rng.permutation(count) if k else np.arange(count)
        x = graph.layout_kamada_kawai(seed=[circle[j] for j in order], maxiter=ROUNDS)
        made.append(np.array(x.coords, dtype=float).reshape(-1, 2))
    return made


def disorder(x: Floats, links: Any) -> float:
    """Crossings of bonds, and bonds of one element that lie too close together."""
    a, b = x[links[:, 0]], x[links[:, 1]]
    i, j = np.triu_indices(len(links), 1)
    apart = ~(links[i][:, :, None] == links[j][:, None, :]).any(axis=(1, 2))

    def side(p: Floats, q: Floats, r: Floats) -> Any:
        return np.sign((q - p)[:, 0] * (r - p)[:, 1] - (q - p)[:, 1] * (r - p)[:, 0])

    crossed = (side(a[i], b[i], a[j]) != side(a[i], b[i], b[j])) & (side(a[j], b[j], a[i]) != side(a[j], b[j], b[i]))
    narrow = 0.0
    for k in range(len(x)):
        ends = np.concatenate([b[links[:, 0] == k], a[links[:, 1] == k]]) - x[k]
        angles = np.sort(np.arctan2(ends[:, 1], ends[:, 0]))
        if len(angles) > 1:
            between = np.diff(angles, append=angles[0] + 2 * np.pi)
            narrow += np.sum(np.maximum(0.0, NARROW - between) ** 2)
    return 10.0 * np.sum(crossed & apart) + float(narrow)


def turned(x: Floats, links: Any) -> Floats:
    """Turned so that bonds lie along the page's edges as far as they do, wider than tall, with power going right and down."""
    bonds = x[links[:, 1]] - x[links[:, 0]]
    phase = np.sum((bonds[:, 0] + 1j * bonds[:, 1]) ** 4)  # four times the angle: the edges of the page are alike
    angle = -np.angle(phase) / 4
    c, s = np.cos(angle), np.sin(angle)
    x, bonds = x @ np.array([[c, s], [-s, c]]), bonds @ np.array([[c, s], [-s, c]])
    if np.ptp(x[:, 1]) > np.ptp(x[:, 0]):
        x, bonds = x[:, ::-1], bonds[:, ::-1]
    return x * np.where(bonds.sum(axis=0) < 0, -1.0, 1.0)


def scale(x: Floats, links: Any, sizes: Floats) -> float:
    """The least factor with which no two writings overlap, and every bond is long enough for its marks."""
    apart = np.abs(x[:, None] - x[None, :])
    needed = (sizes[:, None] + sizes[None, :]) / 2 + GAP
    with np.errstate(divide="ignore"):
        factors = np.min(needed / apart, axis=-1)
    rows, columns = np.triu_indices(len(x), 1)
    least = factors[rows, columns].max(initial=1.0)
    ends = x[links[:, 1]] - x[links[:, 0]]
    length = np.linalg.norm(ends, axis=1)
    direction = np.abs(ends) / length[:, None]
    with np.errstate(divide="ignore"):
        inside = np.min((sizes / 2)[links] / direction[:, None], axis=-1).sum(axis=-1)  # from the middles to the edges
    return float(max(least, ((inside + BOND) / length).max(initial=1.0)))
