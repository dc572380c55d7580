"""The paths of points through configurations: what a caller wants traced, and where it goes."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.drawing.drawing_arguments import numbers
from eslabon.errors import InputError, format_value
from eslabon.model import Model
from eslabon.scene import body_poses, moved, scene_of
from eslabon.scene.marks import matrix_of


def traced_points(m: Model, trace: Any) -> dict[str, tuple[str, Floats]]:
    """The body and the point of it that leaves each path, by name: origins of frames and bodies, and points `(frame, (x, y, z))`
    in the axes of a frame or body."""
    one = isinstance(trace, str) or _is_point(trace)
    several = (
        []
        if trace is None
        else [trace]
        if one or not isinstance(trace, list | tuple | set)
        else trace
    )
    return dict(_traced(m, item) for item in several)


def _traced(m: Model, item: Any) -> tuple[str, tuple[str, Floats]]:
    if not isinstance(item, str) and not _is_point(item):
        raise InputError(
            f"trace is a frame's name, or (frame, point), or a list of these; it is {format_value(item)}."
        )
    frame = m.frame(item if isinstance(item, str) else item[0])
    at = (
        np.zeros(3)
        if isinstance(item, str)
        else numbers(item[1], "the point of trace", 3, "a point", "coordinates")
    )
    name = (
        frame.name if isinstance(item, str) else f"{frame.name} ({', '.join(f'{x:g}' for x in at)})"
    )
    return name, (frame.body, moved(matrix_of(frame.at), at[None])[0])


def _is_point(item: Any) -> bool:
    pair = isinstance(item, tuple | list) and len(item) == 2
    return pair and isinstance(item[0], str) and not isinstance(item[1], str | None)


def paths_of(m: Model, trace: Any, q: Floats) -> dict[str, Floats]:
    """The paths `(n, 3)` through configurations `(n, nq)`, by name."""
    poses, bodies = body_poses(m, q), scene_of(m).bodies
    points = traced_points(m, trace)
    return {
        name: moved(poses[:, bodies.index(body)], at[None])[:, 0]
        for name, (body, at) in points.items()
    }
