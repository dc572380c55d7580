"""Sheets of curves for reproductions: a drawing of the mechanism, if there is one, and panels beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.mechanism import Floats, Mechanism
from eslabon.plotting import axis_label, curves, equal_axes, legend, new_figure, panel_title, save_figure, theme_at

ORIGIN = (0.0, 0.0, 0.0)

Line = Sequence[tuple[str, tuple[float, float, float]]]  # bodies, each with a point in its own frame


@dataclass(frozen=True)
class Panel:
    """Curves over one axis: names and values, `(n,)` each; `label` is that of the vertical axis, as in "angle [deg]", and `printed`
    are places and values that the document prints."""

    title: str
    label: str
    x: Floats
    curves: Mapping[str, Floats]
    across: str = axis_label("t", "s")
    logarithmic: str = ""  # the axes that are: "x", "y" or "xy"
    printed: tuple[Sequence[float], Sequence[float]] = ((), ())


@dataclass(frozen=True)
class Drawing:
    """Lines of a mechanism at some instants: for each instant the lines, each `(points, 3)`, and its name."""

    title: str
    instants: Mapping[str, Sequence[Floats]]
    pivots: Floats
    solid: bool = False  # whether it needs three dimensions


# -- the mechanism ----------------------------------------------------------------------------------------------------


def moved(
    title: str,
    m: Mechanism,
    t: Floats,
    q: Floats,
    at: Sequence[int],
    lines: Sequence[Line],
    pivots: Sequence[str],
    solid: bool = False,
) -> Drawing:
    """A mechanism at some instants of a motion, given by their places in `t`; pivots are bodies whose origins rest."""
    instants = {f"t = {t[k]:g} s": [_points(m, q[k], line) for line in lines] for k in at}
    return Drawing(title, instants, _points(m, q[0], [(body, ORIGIN) for body in pivots]), solid)


def _points(m: Mechanism, q: Floats, line: Line) -> Floats:
    """Points of bodies in a configuration, `(points, 3)`."""
    return np.array([(m.pose(q, body) @ [*p, 1.0])[:3] for body, p in line])


def three_legs(m: Mechanism, bar: str) -> list[Line]:
    """The lines of a planar 3-RRR: legs of bars 1 and 2, 4 and 5, 6 and 7, as both papers count them, and the platform."""
    corners = [ORIGIN, *(tuple(float(x) for x in loop.second.at.position) for loop in m.loops)]
    platform: list[Any] = [("platform", corner) for corner in corners]
    legs = zip((1, 4, 6), (2, 5, 7), platform, strict=True)
    return [*([(f"{bar}{j}", ORIGIN), (f"{bar}{k}", ORIGIN), end] for j, k, end in legs), [*platform, platform[0]]]


# -- the page ---------------------------------------------------------------------------------------------------------


def sheet(path: Path, title: str, panels: Sequence[Panel], drawing: Drawing | None = None) -> Path:
    """Write a page with the panels in two columns, and the drawing to their left."""
    names = [str(k) for k in range(len(panels))]
    rows: Any = [names[k : k + 2] for k in range(0, len(names), 2)]
    rows = [row if len(row) == len(rows[0]) else row * 2 for row in rows]
    if drawing is not None:
        rows = [["drawing", *row] for row in rows]
    widths = ([1.15] if drawing is not None else []) + [1.0] * len(rows[0] if drawing is None else rows[0][1:])
    solid: Any = {"drawing": {"projection": "3d"}} if drawing is not None and drawing.solid else {}
    figure = new_figure(figsize=(3.9 * sum(widths), 2.9 * len(rows)))
    axes = figure.subplot_mosaic(rows, per_subplot_kw=solid, width_ratios=widths)
    figure.suptitle(title)
    if drawing is not None:
        _draw(axes["drawing"], drawing)
    for name, panel in zip(names, panels, strict=True):
        _plot(axes[name], panel)
    return save_figure(figure, path, dpi=150)


def _plot(ax: Any, panel: Panel) -> None:
    curves(ax, panel.x, panel.curves, title=panel.title, log="y" in panel.logarithmic, where="none")
    if len(panel.printed[0]):
        ax.plot(*panel.printed, "o", color=theme_at(ax).ink, markersize=4.5, zorder=5, label="printed")
    ax.set(xlabel=panel.across, ylabel=panel.label)
    ax.set_xlim(panel.x[0], panel.x[-1])
    if "x" in panel.logarithmic:
        ax.set_xscale("log")
    ax.minorticks_off()
    if len(panel.curves) > 1 or len(panel.printed[0]):
        legend(ax, "below")


def _draw(ax: Any, drawing: Drawing) -> None:
    """The lines of all instants, earlier ones fainter, and the pivots."""
    count, last = 3 if drawing.solid else 2, len(drawing.instants) - 1
    colour, points = theme_at(ax).curves[0], [drawing.pivots[:, :count]]
    for k, (name, lines) in enumerate(drawing.instants.items()):
        look: Any = {
            "color": colour,
            "alpha": 0.25 + 0.75 * k / max(last, 1),
            "linewidth": 2.2,
            "markersize": 4,
            "marker": "o",
        }
        for j, line in enumerate(lines):
            ax.plot(*line[:, :count].T, label=name if j == 0 else None, solid_capstyle="round", **look)
            points.append(line[:, :count])
    ax.plot(*drawing.pivots[:, :count].T, "^", color=theme_at(ax).role("ground"), markersize=7, zorder=5)
    panel_title(ax, drawing.title)
    equal_axes(ax, np.concatenate(points))
    legend(ax, "below", keep=True)
