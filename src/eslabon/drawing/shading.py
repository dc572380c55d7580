"""Solids on axes of space: all triangles of a mechanism in one collection, drawn from the farthest to the nearest.

Triangles that look away are left out, and long ones are divided, so that the order by their middles is nearly always right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from eslabon.arguments import Floats

LIGHT = np.array(
    [-0.40, 0.49, 0.78]
)  # where it comes from: left of the one who looks, above and behind
AMBIENT, DIRECT = 0.45, 0.62


class Solids(PolyCollection):
    """Triangles of space with a colour each, shaded as they are turned to the light."""

    def __init__(self, triangles: Floats, colours: Floats, **options: Any) -> None:
        super().__init__([], closed=True, **options)
        self.triangles, self.colours = triangles, colours

    def do_3d_projection(self) -> float:
        """Put on the page what can be seen of the triangles, the nearest last; how near they come."""
        M = self._projection()
        homogeneous = np.einsum("ij,tkj->tki", M[:, :3], self.triangles) + M[:, 3]
        page = homogeneous[..., :3] / homogeneous[..., 3:]
        u, v = page[:, 1, :2] - page[:, 0, :2], page[:, 2, :2] - page[:, 0, :2]
        seen = np.flatnonzero(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] > 0)
        seen = seen[np.argsort(-page[seen, :, 2].mean(axis=1), kind="stable")]
        colours = np.clip(self.colours[seen] * self._brightness(seen)[:, None], 0.0, 1.0)
        self.set_verts(page[seen, :, :2], closed=True)
        self.set_facecolor(colours)  # type: ignore[arg-type]
        self.set_edgecolor(colours)  # type: ignore[arg-type]  # hides the seams between neighbours
        return float(page[..., 2].min(initial=1.0))

    def _projection(self) -> Floats:
        ax: Any = self.axes
        return np.asarray(ax.get_proj())

    def _brightness(self, seen: Any) -> Floats:
        across, up = (row[:3] / np.linalg.norm(row[:3]) for row in self._projection()[:2])
        light = LIGHT @ np.array([across, up, np.cross(across, up)])
        return AMBIENT + DIRECT * np.clip(normals_of(self.triangles[seen]) @ light, 0.0, 1.0)


def normals_of(triangles: Floats) -> Floats:
    """Outward directions of length one."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return np.asarray(normals / (np.linalg.norm(normals, axis=1, keepdims=True) + 1e-300))


def divided(vertices: Floats, faces: Any, longest: float) -> Floats:
    """Triangles `(n, 3, 3)` with no edge longer than asked, each halved at its longest edge as often as it takes."""
    ready, waiting = [], np.asarray(vertices)[np.asarray(faces)]
    for _ in range(12):
        edges = np.linalg.norm(np.roll(waiting, -1, axis=1) - waiting, axis=2)
        long = edges.max(axis=1) > longest
        ready.append(waiting[~long])
        if not long.any():
            break
        first = edges[long].argmax(axis=1)
        turned = np.stack(
            [waiting[long][np.arange(long.sum()), (first + k) % 3] for k in range(3)], axis=1
        )
        middle = (turned[:, 0] + turned[:, 1]) / 2
        halves = (turned[:, [0, 0, 2]].copy(), turned.copy())
        halves[0][:, 1], halves[1][:, 0] = middle, middle
        waiting = np.concatenate(halves)
    else:
        ready.append(waiting)
    return np.concatenate(ready)


def colour_rows(colours: Sequence[str], counts: Sequence[int]) -> Floats:
    """Red, green and blue of every triangle, from the colour of its solid."""
    return np.repeat(np.array([to_rgb(c) for c in colours]).reshape(-1, 3), counts, axis=0)
