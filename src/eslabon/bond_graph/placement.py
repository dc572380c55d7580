"""Where the elements of a drawn bond graph stand: by Kamada and Kawai's layout, igraph's, turned and scaled to the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.bond_graph.graph import Graph
from eslabon.errors import MissingDependencyError

# Lengths in pixels: of bonds between two writings, of the shortest one, and the least distance of two writings.
BOND, SHORTEST, GAP = 46.0, 34.0, 12.0
MOST, ROUNDS_APART = (
    0.9,
    200,
)  # the share of bonds that have all the room; attempts to move writings apart
ROUNDS, STARTS = 5_000, 16
NARROW, CLOSE, MESHED = np.radians(50), 0.3, 1.8


def places(g: Graph, sizes: Sequence[tuple[float, float]]) -> Floats:
    """The middles of the elements, (elements, 2), y downwards, such that writings of these sizes do not overlap."""
    number = {name: k for k, name in enumerate(g.elements)}
    links = np.array(
        [(number[b.tail], number[b.head]) for b in g.bonds.values()], dtype=int
    ).reshape(-1, 2)
    x = min(laid_out(len(number), links), key=lambda x: disorder(x, links))
    x = turned(x, links)
    x = fitted(x, links, np.array(sizes, dtype=float))
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
    rng, made = (
        np.random.default_rng(0),
        [],
    )  # the same ones each time: a graph is always drawn alike
    for k in range(STARTS):
        order = rng.permutation(count) if k else np.arange(count)
        x = graph.layout_kamada_kawai(
            seed=[circle[j] for j in order], maxiter=ROUNDS, weights=lengths(count, links)
        )
        made.append(np.array(x.coords, dtype=float).reshape(-1, 2))
    return made


def lengths(count: int, links: Any) -> list[float]:
    """How long each bond is to be: longer in meshes of four, where several elements share several junctions."""
    beside = np.zeros((count, count))
    beside[links[:, 0], links[:, 1]] = beside[links[:, 1], links[:, 0]] = 1.0
    a, b = links.T
    around = (
        np.linalg.matrix_power(beside, 3)[a, b] - beside.sum(axis=0)[a] - beside.sum(axis=0)[b] + 1
    )
    return list(np.where(around > 0.5, MESHED, 1.0))


def disorder(x: Floats, links: Any) -> float:
    """Crossings of bonds, bonds that pass too close by elements, and bonds of one element that lie too close together."""
    a, b = x[links[:, 0]], x[links[:, 1]]
    i, j = np.triu_indices(len(links), 1)
    apart = ~(links[i][:, :, None] == links[j][:, None, :]).any(axis=(1, 2))

    def side(p: Floats, q: Floats, r: Floats) -> Any:
        return np.sign((q - p)[:, 0] * (r - p)[:, 1] - (q - p)[:, 1] * (r - p)[:, 0])

    crossed = (side(a[i], b[i], a[j]) != side(a[i], b[i], b[j])) & (
        side(a[j], b[j], a[i]) != side(a[j], b[j], b[i])
    )
    narrow = 0.0
    for k in range(len(x)):
        ends = np.concatenate([b[links[:, 0] == k], a[links[:, 1] == k]]) - x[k]
        angles = np.sort(np.arctan2(ends[:, 1], ends[:, 0]))
        if len(angles) > 1:
            between = np.diff(angles, append=angles[0] + 2 * np.pi)
            narrow += np.sum(np.maximum(0.0, NARROW - between) ** 2)
    return float(
        10.0 * np.sum(crossed & apart)
        + narrow
        + 10.0 * np.sum(np.maximum(0.0, CLOSE - clearances(x, links)))
    )


def clearances(x: Floats, links: Any) -> Floats:
    """How far each element is from each bond that is not its own, in mean lengths of bonds, (elements, bonds)."""
    a, along = x[links[:, 0]], x[links[:, 1]] - x[links[:, 0]]
    squares = np.maximum(np.sum(along**2, axis=-1), 1e-12)
    part = np.clip(np.einsum("nbk,bk->nb", x[:, None] - a[None], along) / squares, 0.0, 1.0)
    distance = np.linalg.norm(x[:, None] - (a[None] + part[..., None] * along[None]), axis=-1)
    own = (links[None] == np.arange(len(x))[:, None, None]).any(axis=-1)
    return np.where(own, np.inf, distance / max(float(np.sqrt(squares).mean()), 1e-12))


def turned(x: Floats, links: Any) -> Floats:
    """Turned so that bonds lie along the page's edges as far as they do, wider than tall, with power going right and down."""
    bonds = x[links[:, 1]] - x[links[:, 0]]
    phase = np.sum(
        (bonds[:, 0] + 1j * bonds[:, 1]) ** 4
    )  # four times the angle: the edges of the page are alike
    angle = -np.angle(phase) / 4
    c, s = np.cos(angle), np.sin(angle)
    x, bonds = x @ np.array([[c, s], [-s, c]]), bonds @ np.array([[c, s], [-s, c]])
    if np.ptp(x[:, 1]) > np.ptp(x[:, 0]):
        x, bonds = x[:, ::-1], bonds[:, ::-1]
    return x * np.where(bonds.sum(axis=0) < 0, -1.0, 1.0)


def fitted(x: Floats, links: Any, sizes: Floats) -> Floats:
    """Scaled so that most bonds have room for their marks, writings that overlap moved apart, and what is left scaled away."""
    x = x * float(np.quantile(bond_factors(x, links, sizes, BOND), MOST))
    rows, columns = np.triu_indices(len(x), 1)
    needed = (sizes[rows] + sizes[columns]) / 2 + GAP
    for _ in range(ROUNDS_APART):
        between = x[rows] - x[columns]
        missing = needed - np.abs(between)
        pairs = np.flatnonzero((missing > 1e-9).all(axis=-1))
        if not len(pairs):
            break
        axis = missing[pairs].argmin(axis=-1)
        push = np.zeros((len(pairs), 2))
        push[np.arange(len(pairs)), axis] = (
            missing[pairs, axis] / 2 * np.where(between[pairs, axis] < 0, -1, 1)
        )
        np.add.at(x, rows[pairs], 0.5 * push)
        np.add.at(x, columns[pairs], -0.5 * push)
    with np.errstate(divide="ignore"):
        factors = np.min(needed / np.abs(x[rows] - x[columns]), axis=-1)
    return x * max(
        1.0, factors.max(initial=1.0), bond_factors(x, links, sizes, SHORTEST).max(initial=1.0)
    )


def bond_factors(x: Floats, links: Any, sizes: Floats, room: float) -> Floats:
    """With which factor each bond is so long between the edges of its two writings."""
    ends = x[links[:, 1]] - x[links[:, 0]]
    length = np.linalg.norm(ends, axis=1)
    with np.errstate(divide="ignore"):
        inside = np.min((sizes / 2)[links] / np.abs(ends / length[:, None])[:, None], axis=-1).sum(
            axis=-1
        )
    made: Floats = (inside + room) / length
    return made
