"""Manipulability as a figure: the ellipsoids of velocities and of forces, or those of velocities along a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import ModelError
from eslabon.numerics.tolerances import RANK
from eslabon.plotting import (
    direction_name,
    drawing_plane,
    equal_axes,
    new_figure,
    panel_title,
    saved,
)
from eslabon.solve.singular.manipulability import Manipulability

UNITS = {"translation": ("m/s", "N"), "rotation": ("rad/s", "N m")}
SHOWN = 60  # ellipsoids along a path, evenly chosen
UNBOUNDED = 3.0  # finite semi-axes: how far one that has no end is drawn
PART_OF_PATH = 0.12  # of a path's extent: the longest semi-axis drawn along it


def figure(
    made: Manipulability, *, theme: str | None = None, path: str | Path | None = None
) -> Any:
    """See `Manipulability.plot`."""
    axes, lengths = _drawable(made)
    part = "translation" if made.part == "all" else made.part
    draw = _one if lengths.ndim == 1 else _along
    return saved(draw(made, axes, lengths, part, theme), path)


def _drawable(made: Manipulability) -> tuple[Floats, Floats]:
    """Semi-axes (..., k, 3) and their lengths; those of the translation where the ellipsoid has six dimensions."""
    if made.part != "all":
        return made.axes, made.lengths
    U, lengths, _ = np.linalg.svd(made.matrix[..., 3:, :], full_matrices=False)
    k = int(
        (lengths > RANK * max(float(lengths.max(initial=0.0)), RANK)).sum(axis=-1).max(initial=0)
    )
    if not k:
        raise ModelError(
            f"'{made.frame}' of {made.name} does not shift; plot its rotation, with part='rotation'."
        )
    return np.swapaxes(U, -1, -2)[..., :k, :], lengths[..., :k]


def _one(made: Manipulability, axes: Floats, lengths: Floats, part: str, theme: str | None) -> Any:
    """Velocities and forces of one configuration."""
    with np.errstate(divide="ignore"):
        forces = 1 / np.where(lengths > RANK * lengths[0], lengths, 0.0)
    plane = drawing_plane(np.concatenate([axes, -axes]))
    drawn = new_figure(theme, figsize=(10.0, 4.8))
    drawn.suptitle(f"manipulability of {made.frame} of {made.name}", color=drawn.theme.quiet)
    what = ("velocities", "forces") if part == "translation" else ("angular velocities", "moments")
    titles = (
        f"{what[0]} for actuator rates of norm one",
        f"{what[1]} for actuator forces of norm one",
    )
    roles = ("path", "reaction")
    for k, (values, unit) in enumerate(zip((lengths, forces), UNITS[part], strict=True)):
        ax = drawn.add_subplot(1, 2, k + 1, projection="3d" if plane is None else None)
        _ellipsoid(ax, np.zeros(3), axes, values, plane, drawn.theme.role(roles[k]))
        lost = [direction_name(x) for x in axes[np.isinf(values)]]
        panel_title(ax, titles[k] + (f"\nunbounded along {', '.join(lost)}" if lost else ""))
        names = ("x", "y", "z") if plane is None else tuple(direction_name(x) for x in plane)
        equal_axes(ax, _shown(_surface(axes, _bounded(values)), plane), names, unit)
    return drawn


def _along(
    made: Manipulability, axes: Floats, lengths: Floats, part: str, theme: str | None
) -> Any:
    """Velocities at some of many positions."""
    axes, lengths = axes.reshape(-1, *axes.shape[-2:]), lengths.reshape(-1, lengths.shape[-1])
    position = made.position.reshape(-1, 3)
    rows = np.unique(np.linspace(0, len(position) - 1, min(SHOWN, len(position))).astype(int))
    extent = float(np.ptp(position, axis=0).max(initial=0.0)) or 1.0
    scale = PART_OF_PATH * extent / max(float(lengths.max(initial=0.0)), 1e-12)
    surfaces = [position[k] + _surface(axes[k], scale * lengths[k]) for k in rows]
    plane = drawing_plane(np.concatenate(surfaces))
    drawn = new_figure(theme, figsize=(7.2, 5.8))
    ax = drawn.add_subplot(projection="3d" if plane is None else None)
    for k in rows:
        _ellipsoid(ax, position[k], axes[k], scale * lengths[k], plane, drawn.theme.role("path"))
    ax.plot(*_shown(position, plane).T, color=drawn.theme.quiet, linewidth=1.0)
    names = ("x", "y", "z") if plane is None else tuple(direction_name(x) for x in plane)
    equal_axes(
        ax, _shown(np.concatenate(surfaces), plane), tuple(f"{x} of {made.frame}" for x in names)
    )
    panel_title(
        ax,
        f"{made.name}: velocities for actuator rates of norm one; {scale:.3g} m is 1 {UNITS[part][0]}",
    )
    return drawn


def _bounded(lengths: Floats) -> Floats:
    """What is infinite, drawn as some times what is not."""
    finite = lengths[np.isfinite(lengths)]
    return np.where(
        np.isfinite(lengths), lengths, UNBOUNDED * float(finite.max(initial=0.0)) or 1.0
    )


def _surface(axes: Floats, lengths: Floats) -> Floats:
    """Points of the ellipsoid (u, w, 3), or of an ellipse (u, 3); of a single semi-axis its two ends."""
    turn = np.linspace(0, 2 * np.pi, 73)
    semi = axes * lengths[:, None]
    if len(semi) == 1:
        return np.stack([-semi[0], semi[0]])
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    if len(semi) == 2:
        return circle @ semi
    height = np.linspace(-np.pi / 2, np.pi / 2, 25)
    sphere = np.concatenate([np.cos(height)[:, None, None] * circle, np.broadcast_to(np.sin(height)[:, None, None], (25, 73, 1))], axis=-1)  # fmt: skip
    return sphere @ semi


def _shown(points: Floats, plane: Floats | None) -> Floats:
    flat = points.reshape(-1, 3)
    return flat if plane is None else flat @ plane.T


def _ellipsoid(
    ax: Any, centre: Floats, axes: Floats, lengths: Floats, plane: Floats | None, colour: str
) -> None:
    """Its surface or outline, and its semi-axes; dashed those that have no end."""
    points = centre + _surface(axes, _bounded(lengths))
    if np.isfinite(lengths).all():
        if plane is not None:
            ax.fill(*_shown(points, plane).T, facecolor=colour, edgecolor=colour, alpha=0.25)
            ax.plot(*_shown(points, plane).T, color=colour, linewidth=1.5)
        elif points.ndim == 3:
            ax.plot_surface(
                *np.moveaxis(points, -1, 0),
                color=colour,
                alpha=0.3,
                linewidth=0,
                rstride=1,
                cstride=2,
            )
        else:
            ax.plot(*points.T, color=colour, linewidth=1.5)
    for direction, length, end in zip(axes, lengths, _bounded(lengths), strict=True):
        line = centre + np.outer([-end, end], direction)
        dashes = "-" if np.isfinite(length) else (0, (4, 3))
        ax.plot(*_shown(line, plane).T, color=colour, linewidth=1.2, linestyle=dashes)
