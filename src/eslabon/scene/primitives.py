"""Simple solids as triangles, and the convex hull of points in a plane.

They are few and small; SciPy and a library of meshes would take half a second to import for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
STRAIGHT = 1e-12  # of the extent squared: twice the area of three points of a hull in a line, as round-off leaves it


class Solid(NamedTuple):
    """The triangles of a closed surface, counterclockwise from outside: rows of vertices, and which three make a face."""

    vertices: Floats
    faces: Integers

    def moved(self, R: Floats, p: Floats) -> Solid:
        return Solid(self.vertices @ R.T + p, self.faces)


def cylinder(radius: float, height: float, sections: int = 32) -> Solid:
    """About z, its middle at the origin."""
    half = height / 2
    return revolved(
        np.array([[0.0, -half], [radius, -half], [radius, half], [0.0, half]]), sections
    )


def capsule(radius: float, height: float, parallels: int = 32, sections: int = 64) -> Solid:
    """A cylinder about z whose ends are hemispheres; `height` is from centre to centre, `parallels` of both ends."""
    angle = np.linspace(0.0, np.pi / 2, parallels // 2 + 1)
    radii, rise = radius * np.cos(angle), radius * np.sin(angle) + height / 2
    radii[-1] = 0.0
    return revolved(np.column_stack([[*radii[::-1], *radii], [*-rise[::-1], *rise]]), sections)


def revolved(profile: Floats, sections: int) -> Solid:
    """The surface that a line of radii and heights, from the lowest to the highest, sweeps about z."""
    angle = np.linspace(0.0, 2 * np.pi, sections + 1)[:-1]
    radius, height = profile.T
    around = np.stack([np.cos(angle), np.sin(angle), np.ones(sections)], axis=-1)
    vertices = around[:, None] * np.stack([radius, radius, height], axis=-1)
    here = np.arange(vertices[..., 0].size).reshape(sections, -1)
    here[:, radius == 0.0] = here[0, radius == 0.0]  # a pole is one point
    after = np.roll(here, -1, axis=0)
    low, high, next_low, next_high = here[:, :-1], here[:, 1:], after[:, :-1], after[:, 1:]
    faces = np.stack([low, next_low, high, high, next_low, next_high], axis=-1).reshape(-1, 3)
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    used, places = np.unique(faces, return_inverse=True)
    return Solid(vertices.reshape(-1, 3)[used], places.reshape(-1, 3))


def ball(radius: float) -> Solid:
    unit = _unit_ball()
    return Solid(radius * unit.vertices, unit.faces)


@cache
def _unit_ball() -> Solid:
    """An icosahedron, whose faces are divided in four twice."""
    long, short = np.sqrt((5 + np.sqrt(5)) / 10), np.sqrt((5 - np.sqrt(5)) / 10)
    signs = np.array([[-1, 1], [1, 1], [-1, -1], [1, -1]])
    golden = [np.roll([*(row * [short, long]), 0.0], k) for k in (0, 1, 2) for row in signs]
    vertices, faces = np.array(golden), np.array(ICOSAHEDRON)
    for _ in range(2):
        edges = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1), axis=-1).reshape(
            -1, 2
        )
        unique, places = np.unique(edges, axis=0, return_inverse=True)
        middles = vertices[unique].sum(axis=1)
        (a, b, c), (ab, bc, ca) = faces.T, (places.reshape(-1, 3) + len(vertices)).T
        faces = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=-1).reshape(-1, 3)
        vertices = np.concatenate(
            [vertices, middles / np.linalg.norm(middles, axis=1, keepdims=True)]
        )
    return Solid(vertices, faces)


ICOSAHEDRON = (
    (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
    (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1),
)  # fmt: skip


def box(extents: Iterable[float]) -> Solid:
    """Its middle at the origin."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return Solid(corners * list(extents), np.array(BOX))


BOX = (
    (1, 3, 0), (4, 1, 0), (0, 3, 2), (2, 4, 0), (1, 7, 3), (5, 1, 4),
    (5, 7, 1), (3, 7, 2), (6, 4, 2), (2, 7, 6), (6, 5, 4), (7, 5, 6),
)  # fmt: skip


def prism(outline: Floats, height: Floats) -> Solid:
    """Between a convex outline, counterclockwise as seen from where `height` points, and the same so much higher."""
    n = len(outline)
    here, after, fan = np.arange(n), np.roll(np.arange(n), -1), np.arange(1, n - 1)
    lid = np.stack([np.zeros_like(fan), fan, fan + 1], axis=-1)
    sides = np.stack([here, after, after + n, here, after + n, here + n], axis=-1).reshape(-1, 3)
    return Solid(
        np.concatenate([outline, outline + height]), np.concatenate([lid[:, ::-1], lid + n, sides])
    )


def hull(points: Floats) -> list[int]:
    """The corners of the convex hull of points `(n, 2)`, counterclockwise, without points of a straight edge (Andrew, 1979).

    >>> hull(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.5, 0.5], [0.0, 2.0]]))
    [0, 2, 4]
    """
    if len(points) < 3:
        return list(range(len(points)))
    order = np.lexsort((points[:, 1], points[:, 0])).tolist()
    straight = STRAIGHT * float(np.ptp(points, axis=0).max()) ** 2
    at = points.tolist()

    def turn(a: int, b: int, c: int) -> float:
        (ax, ay), (bx, by), (cx, cy) = at[a], at[b], at[c]
        return float((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))

    def side(along: Iterable[int]) -> list[int]:
        found: list[int] = []
        for k in along:
            while len(found) > 1 and turn(found[-2], found[-1], k) <= straight:
                found.pop()
            found.append(k)
        return found[:-1]

    return side(order) + side(reversed(order))
