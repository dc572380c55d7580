"""A path of a frame as a figure: the curve with axes of the frame, and how fast it is in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.motion.paths.path_arguments import Floats
from eslabon.plotting import (
    axis_label,
    curves,
    direction_name,
    drawing_plane,
    equal_axes,
    new_figure,
    panel_title,
)

if TYPE_CHECKING:
    from eslabon.motion.paths.frame_path import Path

SHOWN, FRAMES = 401, 9  # times of the curves, and frames drawn on the way
AXIS = 0.09  # of the curve's extent: how long the axes of a frame are
ROWS = (
    ("speed", "m/s"),
    ("acceleration", "m/s²"),
    ("angular speed", "rad/s"),
    ("angular acceleration", "rad/s²"),
)


def figure(path: Path, theme: str | None) -> Any:
    """See `Path.plot`."""
    t, pose, twist, acceleration = path.sample(n=SHOWN)
    made = new_figure(theme, figsize=(10.6, 7.0))
    grid = made.add_gridspec(4, 2, width_ratios=(1.15, 1.0))
    plane = drawing_plane(pose[:, :3, 3])
    _curve(made.add_subplot(grid[:, 0], projection="3d" if plane is None else None), pose, plane)
    parts = (twist[:, 3:], acceleration[:, 3:], twist[:, :3], acceleration[:, :3])
    for k, ((name, unit), values) in enumerate(zip(ROWS, parts, strict=True)):
        ax = made.add_subplot(grid[k, 1])
        curves(ax, t, {name: np.linalg.norm(values, axis=-1)}, title=name)
        ax.set_ylabel(axis_label("", unit))
        ax.tick_params(labelbottom=k == 3)
    ax.set_xlabel(axis_label("t", "s"))
    made.suptitle(repr(path)[1:-1], color=made.theme.quiet)
    return made


def _curve(ax: Any, pose: Floats, plane: Floats | None) -> None:
    """The origin's way from a dot on, and axes of the frame on it."""
    theme, position = ax.get_figure(root=True).theme, pose[:, :3, 3]
    length = AXIS * float(np.ptp(position, axis=0).max(initial=0.0))
    shown = [position]
    for k in np.linspace(0, len(pose) - 1, FRAMES).astype(int):
        for axis, name in enumerate("xyz"):
            line = position[k] + np.outer([0.0, length], pose[k, :3, axis])
            ax.plot(*_seen(line, plane).T, color=theme.role(name), linewidth=1.2)
            shown.append(line)
    ax.plot(*_seen(position, plane).T, color=theme.ink, linewidth=1.8)
    ax.plot(*_seen(position[:1], plane).T, "o", color=theme.ink, markersize=5)
    names = ("x", "y", "z") if plane is None else tuple(direction_name(row) for row in plane)
    equal_axes(ax, _seen(np.concatenate(shown), plane), names)
    panel_title(ax, "where it goes")


def _seen(points: Floats, plane: Floats | None) -> Floats:
    return points if plane is None else points @ plane.T
