"""Paths as figures: of a frame the curve with its axes and how fast it is in time, of joints their coordinates."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.motion.paths.frame_path import Path
from eslabon.motion.paths.joint_path import JointPath
from eslabon.plotting import (
    InTime,
    axis_label,
    curves,
    direction_name,
    drawing_plane,
    equal_axes,
    new_figure,
    panel_title,
    saved,
    time_figure,
)

SHOWN, FRAMES = 401, 9  # times of the curves, and frames drawn on the way
AXIS = 0.09  # of the curve's extent: how long the axes of a frame are
ROWS = (
    ("speed", "m/s"),
    ("acceleration", "m/s²"),
    ("angular speed", "rad/s"),
    ("angular acceleration", "rad/s²"),
)


def figure(motion: Path, *, theme: str | None = None, path: str | FilePath | None = None) -> Any:
    """See `Path.plot`."""
    t, pose, twist, acceleration = motion.sample(n=SHOWN)
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
    made.suptitle(repr(motion)[1:-1], color=made.theme.quiet)
    return saved(made, path)


def joint_figure(
    motion: JointPath, *, theme: str | None = None, path: str | FilePath | None = None
) -> Any:
    """See `JointPath.plot`."""
    t, *values = motion.sample(n=SHOWN)
    words = (("coordinates", ""), ("velocities", "1/s"), ("accelerations", "1/s²"))
    named = [{f"q{k + 1}": x[:, k] for k in range(x.shape[1])} for x in values]
    drawn = [InTime(word, unit, own) for (word, unit), own in zip(words, named, strict=True)]
    title = repr(motion)[1:-1]
    made = time_figure(t, drawn, theme=theme, title=title, across=1, size=(7.0, 2.1))
    return saved(made, path)


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
