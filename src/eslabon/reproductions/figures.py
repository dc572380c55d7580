"""Sheets of curves for reproductions: a drawing of the mechanism, if there is one, and panels beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.mechanism import Floats, Mechanism
from eslabon.plotting import new_figure, save_figure

STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "svg.fonttype": "none",
}
COLOURS = ("#1f5fa8", "#d1622b", "#2f8f4e", "#8a4fa3", "#b8902a", "#3c9fb0", "#7a7a7a")
CONSTANT = 1e-6  # of a curve's size: what varies by less is drawn as a constant, not as its round-off
WORDY = 25  # letters: a longer legend stands below its panel
DASHES = ("-", "--", "-.", ":", "-", "--", "-.")
ORIGIN = (0.0, 0.0, 0.0)

Line = Sequence[tuple[str, tuple[float, float, float]]]  # bodies, each with a point in its own frame


@dataclass(frozen=True)
class Panel:
    """Curves over one axis: names and values, `(n,)` each; `printed` are places and values that the document prints."""

    title: str
    label: str
    x: Floats
    curves: Mapping[str, Floats]
    across: str = "t / s"
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
    from matplotlib import rc_context  # the figure has seen that it is there

    with rc_context(STYLE):
        axes = figure.subplot_mosaic(rows, per_subplot_kw=solid, width_ratios=widths)
        figure.suptitle(title, fontsize=11)
        if drawing is not None:
            (_draw_in_space if drawing.solid else _draw_in_plane)(axes["drawing"], drawing)
        for name, panel in zip(names, panels, strict=True):
            _plot(axes[name], panel)
        return save_figure(figure, path, dpi=150)


def _plot(ax: Any, panel: Panel) -> None:
    for k, (name, y) in enumerate(panel.curves.items()):
        ax.plot(panel.x, y, label=name, color=COLOURS[k % len(COLOURS)], linestyle=DASHES[k % len(DASHES)])
    if len(panel.printed[0]):
        ax.plot(*panel.printed, "o", color="black", markersize=4.5, zorder=5, label="printed")
    ax.set(title=panel.title, xlabel=panel.across, ylabel=panel.label)
    ax.set_xlim(panel.x[0], panel.x[-1])
    _span_constants(ax, panel)
    if "x" in panel.logarithmic:
        ax.set_xscale("log")
    if "y" in panel.logarithmic:
        ax.set_yscale("log")
    else:
        ax.ticklabel_format(axis="y", useOffset=False)
    ax.minorticks_off()
    names = [*panel.curves, *(["printed"] if len(panel.printed[0]) else [])]
    if len(names) > 1:
        ax.margins(y=0.12)
        if len(names) <= 4 and sum(map(len, names)) < WORDY:
            ax.legend(ncols=2 if len(names) > 3 else 1, loc="best")
        else:
            _legend_below(ax, 4 if len(names) > 4 else 2)


def _span_constants(ax: Any, panel: Panel) -> None:
    """An axis of some width around curves that do not vary."""
    values = np.concatenate([*panel.curves.values(), panel.printed[1]])
    size = max(1.0, float(np.abs(values).max()))
    if "y" not in panel.logarithmic and np.ptp(values) < 10 * CONSTANT * size:
        ax.set_ylim(values.mean() - size / 10, values.mean() + size / 10)


def _legend_below(ax: Any, ncols: int = 2) -> None:
    """A legend under the axis' label, wherever that is: the pad is in letters, not in parts of the panel."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=4.4, ncols=ncols)


def _draw_in_plane(ax: Any, drawing: Drawing) -> None:
    last = len(drawing.instants) - 1
    for k, (name, lines) in enumerate(drawing.instants.items()):
        look = _look(k, last)
        for j, line in enumerate(lines):
            ax.plot(line[:, 0], line[:, 1], label=name if j == 0 else None, **look)
    ax.plot(drawing.pivots[:, 0], drawing.pivots[:, 1], "^", color="black", markersize=8, zorder=5)
    ax.set(title=drawing.title, xlabel="x / m", ylabel="y / m")
    ax.set_aspect("equal")
    _legend_below(ax)


def _draw_in_space(ax: Any, drawing: Drawing) -> None:
    last = len(drawing.instants) - 1
    for k, (name, lines) in enumerate(drawing.instants.items()):
        look = _look(k, last)
        for j, line in enumerate(lines):
            ax.plot(*line.T, label=name if j == 0 else None, **look)
    ax.plot(*drawing.pivots.T, "^", color="black", markersize=7)
    ax.set(title=drawing.title, xlabel="x / m", ylabel="y / m", zlabel="z / m")
    ax.set_aspect("equal")
    ax.set_box_aspect([np.ptp(limits()) for limits in (ax.get_xlim, ax.get_ylim, ax.get_zlim)], zoom=0.82)
    ax.locator_params(nbins=4)
    ax.locator_params(axis="z", nbins=3)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2)


def _look(k: int, last: int) -> dict[str, Any]:
    """Earlier instants are fainter."""
    return {
        "color": COLOURS[0],
        "alpha": 0.25 + 0.75 * k / max(last, 1),
        "marker": "o",
        "markersize": 4,
        "linewidth": 2.2,
        "solid_capstyle": "round",
    }
