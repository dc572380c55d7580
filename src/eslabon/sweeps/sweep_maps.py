"""Values of a sweep over two parameters: cells and contours on a grid, triangulated contours between samples, dots where other
parameters vary too, and means in cells of tables that are too long to show row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.plotting import colour_bar, colour_map, legend, panels
from eslabon.plotting.axes import plain
from eslabon.plotting.themes import theme_at
from eslabon.sweeps.sweep_figures import (
    HEAVY,
    MOST,
    figure_title,
    mark_failed,
    mark_nominal,
    without_outliers,
)
from eslabon.sweeps.table_contents import Cells, Rows, in_cells, some_rows

if TYPE_CHECKING:
    from eslabon.sweeps.sweep_plot import Request
    from eslabon.sweeps.sweep_table import SweepTable

CELLS, A_CELL = (
    200,
    20,
)  # most cells along each axis of a long table, and rows in each of them, on the average
SHADES = 24
LINES = 7  # contours
FEW = 12  # samples, below which triangles between them say nothing


def draw_maps(table: SweepTable, request: Request) -> Any:
    """A map of each value over two parameters."""
    x, y = table.column(request.x), table.column(request.y)
    rows = cells = None
    title = figure_title(table)
    if len(table) > MOST:
        sides = int(np.clip(np.sqrt(len(table) / A_CELL), 20, CELLS))
        cells = in_cells(table, x.name, y.name, request.of, sides)
        title += f", means in {sides} x {sides} cells"
    else:
        rows = some_rows(table, [x.name, y.name, *request.of], MOST)
    size = (5.6, 4.3) if len(request.of) == 1 else (5.0, 3.6)
    figure, axes = panels(
        len(request.of),
        size=size,
        theme=request.theme,
        title=title,
        shared=False,
        bottom=plain(x.label),
    )
    for ax, name in zip(axes, request.of, strict=True):
        ax.set_ylabel(plain(y.label))
        ax.grid(False)
        if cells is not None:
            _draw_cells(ax, cells, name, request.log, table)
        elif rows is not None:
            _draw_rows(ax, table, rows, request, name)
        limits = zip((x, y), (table.contents.extremes[c.name] for c in (x, y)), strict=True)
        if all(low <= c.nominal <= high for c, (low, high) in limits):
            mark_nominal(ax, x.nominal, y.nominal)
        legend(ax, "below")
    return figure


def _draw_rows(ax: Any, table: SweepTable, rows: Rows, request: Request, name: str) -> None:
    """As suits the places of the rows: a grid of places, each of one design or of several, or places anywhere."""
    x, y, z = rows[request.x], rows[request.y], rows[name]
    known = ~rows.failed & np.isfinite(z)
    columns, lines = np.unique(x), np.unique(y)
    alone = set(table.parameters) == {request.x, request.y} and not table.states
    label = table.column(name).label
    if min(len(columns), len(lines)) > 1 and len(rows) % (len(columns) * len(lines)) == 0:
        _draw_grid(
            ax,
            x,
            y,
            np.where(known, z, np.nan),
            request.log,
            label if alone else f"mean of {label}",
        )
        return
    mark_failed(ax, x[rows.failed], y[rows.failed])
    ax.use_sticky_edges = False  # samples reach to the edge
    ax.margins(0.02)
    if not known.any():
        return
    shade = _shades(ax, z[known], request.log)
    if alone and known.sum() >= FEW and min(len(columns), len(lines)) > 2:
        _draw_triangles(ax, x, y, z, known, shade)
    else:
        size = float(np.clip(12000 / len(rows), 3, 40))
        ax.scatter(
            x[known],
            y[known],
            c=z[known],
            s=size,
            linewidths=0,
            rasterized=len(rows) > HEAVY,
            **shade,
        )
    _bar(ax, shade, label)


def _shades(ax: Any, values: Floats, log: bool) -> dict[str, Any]:
    """Colours of values, as options of what is drawn; the bar beside it ends in a point where values go on beyond them."""
    from matplotlib.colors import LogNorm, Normalize

    low, high, cut = without_outliers(values, log)
    if high <= low:
        around = 0.1 * (abs(low) or 1.0)
        low, high = low - around, low + around
    shades = colour_map(theme_at(ax))
    shades.colorbar_extend = cut
    return {"cmap": shades, "norm": LogNorm(low, high) if log else Normalize(low, high)}


def _bar(ax: Any, shade: dict[str, Any], label: str) -> None:
    from matplotlib.cm import ScalarMappable

    colour_bar(ax, ScalarMappable(**shade), plain(label))


def _draw_grid(ax: Any, x: Floats, y: Floats, z: Floats, log: bool, label: str) -> None:
    """A cell around each place, of the mean of all designs there, and contours through them."""
    columns, across = np.unique(x, return_inverse=True)
    lines, up = np.unique(y, return_inverse=True)
    shape, place = (len(lines), len(columns)), up * len(columns) + across
    known = np.isfinite(z)
    count = np.bincount(place[known], minlength=len(lines) * len(columns)).reshape(shape)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(place[known], z[known], minlength=count.size).reshape(shape) / count
    failed = np.argwhere(count == 0)
    mark_failed(
        ax, columns[failed[:, 1]], lines[failed[:, 0]], "" if len(z) == count.size else "all failed"
    )
    if not known.any():
        return
    shade = _shades(ax, mean, log)
    ax.pcolormesh(columns, lines, mean, shading="nearest", rasterized=mean.size > HEAVY, **shade)
    if min(shape) > 2:
        _contours(ax, shade, lambda levels: ax.contour(columns, lines, np.ma.masked_invalid(mean), levels, **_line(ax)))  # fmt: skip
    _bar(ax, shade, label)


def _draw_triangles(
    ax: Any, x: Floats, y: Floats, z: Floats, known: np.ndarray, shade: dict[str, Any]
) -> None:
    """Filled contours on triangles between neighbours, none of which reaches over a design that failed; a dot for each design."""
    from matplotlib.tri import Triangulation
    from scipy.spatial import Delaunay

    scaled = np.stack([(a - a.min()) / np.ptp(a) for a in (x, y)], axis=1)
    corners = Delaunay(
        scaled, qhull_options="QJ"
    ).simplices  # samples on one line have triangles, too
    broken = ~known[corners].all(axis=1)
    net = Triangulation(x, y, corners, mask=broken)
    if broken.all():
        ax.scatter(x[known], y[known], c=z[known], s=20, linewidths=0, **shade)
        return
    filled = np.where(known, z, z[known].mean())
    levels = np.asarray(shade["norm"].inverse(np.linspace(0, 1, SHADES + 1)))
    levels[[0, -1]] = shade["norm"].vmin, shade["norm"].vmax
    made = ax.tricontourf(net, filled, levels, extend=shade["cmap"].colorbar_extend, **shade)
    made.set_edgecolor("face")  # no light seams between the shades
    _contours(ax, shade, lambda some: ax.tricontour(net, filled, some, **_line(ax)))
    dot = float(np.clip(2000 / len(x), 0.5, 5))
    ax.scatter(
        x[known],
        y[known],
        s=dot,
        color=theme_at(ax).paper,
        alpha=0.7,
        linewidths=0,
        rasterized=len(x) > HEAVY,
    )


def _contours(ax: Any, shade: dict[str, Any], draw: Any) -> None:
    """A few lines of equal value, with their values on them."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator, MaxNLocator

    norm = shade["norm"]
    locator = LogLocator(subs=(1.0, 3.0)) if isinstance(norm, LogNorm) else MaxNLocator(LINES)
    inside = [
        level
        for level in locator.tick_values(norm.vmin, norm.vmax)
        if norm.vmin < level < norm.vmax
    ]
    if inside:
        ax.clabel(draw(inside), fmt=lambda level: f"{level:.4g}", fontsize=7)


def _line(ax: Any) -> dict[str, Any]:
    return {"colors": theme_at(ax).paper, "linewidths": 0.8}


def _draw_cells(ax: Any, cells: Cells, name: str, log: bool, table: SweepTable) -> None:
    """Means in cells, and in grey the cells in which all designs failed."""
    from matplotlib.colors import ListedColormap

    mean = cells.means[name]
    gone = np.where((cells.count == 0) & (cells.failed > 0), 1.0, np.nan)
    if np.isfinite(gone).any():
        colour = theme_at(ax).quiet
        ax.pcolormesh(
            cells.x, cells.y, gone, cmap=ListedColormap([colour]), alpha=0.45, rasterized=True
        )
        ax.plot([], [], "s", color=colour, alpha=0.45, label="all failed")
    if np.isfinite(mean).any():
        shade = _shades(ax, mean, log)
        ax.pcolormesh(cells.x, cells.y, mean, rasterized=True, **shade)
        _bar(ax, shade, f"mean of {table.column(name).label}")
