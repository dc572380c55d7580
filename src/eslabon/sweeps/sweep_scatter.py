"""A sweep as a matrix of panels: each column of its table over each other one, its distribution on the diagonal, and rank
correlations across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.plotting import new_figure
from eslabon.plotting.axes import plain
from eslabon.plotting.themes import theme_at
from eslabon.sweeps.sweep_figures import HEAVY, MOST, figure_title, mark_failed, without_outliers
from eslabon.sweeps.table_contents import Rows, some_rows

if TYPE_CHECKING:
    from eslabon.sweeps.sweep_plot import Request
    from eslabon.sweeps.sweep_table import SweepTable

PANEL = 1.55  # inches
BARS = 24
LEVELS = 60  # of a grid, each with a bar of its own


@dataclass(frozen=True)
class _Shown:
    """A column in the matrix: its name, its range, and how it looks."""

    name: str
    label: str
    low: float
    high: float
    log: bool
    parameter: bool

    def colour(self, ax: Any) -> str:
        return str(theme_at(ax).curves[0 if self.parameter else 1])

    def bounds(self) -> tuple[float, float]:
        """A little more than the range."""
        if self.log:
            wider = (self.high / self.low) ** 0.05
            return self.low / wider, self.high * wider
        wider = 0.05 * (self.high - self.low)
        return self.low - wider, self.high + wider


def draw_scatter(table: SweepTable, request: Request) -> Any:
    """Panels of every pair of columns."""
    rows = some_rows(table, request.of, MOST)
    shown = [_shown(table, rows, name, request.log) for name in request.of]
    n = len(shown)
    figure = new_figure(request.theme, figsize=(max(PANEL * n + 0.9, 5.0), PANEL * n + 1.1))
    title = figure_title(table, rows) + (" (grey crosses)" if rows.failed.any() and sum(c.parameter for c in shown) > 1 else "")  # fmt: skip
    figure.suptitle(plain(title), color=figure.theme.quiet)
    grid = figure.subplots(n, n, squeeze=False)
    for i, up in enumerate(shown):
        for k, across in enumerate(shown):
            if i == k:
                _distribution(grid[i, k], rows, up)
            elif k < i:
                _pair(grid[i, k], rows, across, up)
            else:
                _correlation(grid[i, k], rows, across, up)
            _framed(grid[i, k], shown, i, k)
    return figure


def _shown(table: SweepTable, rows: Rows, name: str, log: bool) -> _Shown:
    column = table.column(name)
    parameter = column.role == "parameter"
    low, high, _ = without_outliers(
        rows[name] if parameter else rows[name][~rows.failed], log and not parameter
    )
    if high <= low:
        low, high = low - 0.1 * (abs(low) or 1.0) * (not log), low + 0.1 * (abs(low) or 1.0)
    return _Shown(name, plain(column.label), low, high, log and not parameter, parameter)


def _distribution(ax: Any, rows: Rows, own: _Shown) -> None:
    x = rows[own.name][~rows.failed]
    ax.hist(x[np.isfinite(x)], bins=_edges(x, own), color=own.colour(ax), alpha=0.75)


def _edges(x: Floats, own: _Shown) -> Floats:
    """Of bars: between the levels of a grid, else evenly."""
    levels = np.unique(x)
    if own.parameter and 1 < len(levels) <= LEVELS:
        between = (levels[1:] + levels[:-1]) / 2
        return np.array([2 * levels[0] - between[0], *between, 2 * levels[-1] - between[-1]])
    bars = min(BARS, max(6, int(np.sqrt(len(x)))))
    return (
        np.geomspace(own.low, own.high, bars + 1)
        if own.log
        else np.linspace(own.low, own.high, bars + 1)
    )


def _pair(ax: Any, rows: Rows, across: _Shown, up: _Shown) -> None:
    """Designs as dots, those that failed as crosses where they have a place."""
    x, y, known = rows[across.name], rows[up.name], ~rows.failed
    size = float(np.clip(3000 / len(rows), 0.8, 9))
    ax.scatter(x[known], y[known], s=size, color=up.colour(ax), linewidths=0, alpha=0.6, rasterized=len(rows) > HEAVY / 4)  # fmt: skip
    if up.parameter and across.parameter:
        mark_failed(ax, x[rows.failed], y[rows.failed])


def _correlation(ax: Any, rows: Rows, across: _Shown, up: _Shown) -> None:
    """Spearman's coefficient, in larger letters where it is stronger."""
    value = spearman(rows[across.name][~rows.failed], rows[up.name][~rows.failed])
    if np.isfinite(value):
        size = 7 + 7 * abs(value)
        place: Any = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, f"{value + 0.0:+.2f}", fontsize=size, color=theme_at(ax).ink, **place)


def spearman(x: Floats, y: Floats) -> float:
    """The correlation of ranks; NaN where one of the two does not vary.

    >>> spearman(np.arange(4.0), np.exp(np.arange(4.0)))
    1.0
    """
    from scipy.stats import rankdata

    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 3 or np.ptp(x[known]) == 0 or np.ptp(y[known]) == 0:
        return float("nan")
    return round(float(np.corrcoef(rankdata(x[known]), rankdata(y[known]))[0, 1]), 12)


def _framed(ax: Any, shown: list[_Shown], i: int, k: int) -> None:
    """The same ranges along rows and columns of panels, numbers and names at the outer edges only."""
    last = len(shown) - 1
    if k <= i:
        _scaled(ax.xaxis, ax.set_xlim, shown[k], i == last)
    if k < i:
        _scaled(ax.yaxis, ax.set_ylim, shown[i], k == 0)
    else:
        ax.set_yticks([])
        ax.grid(False)
    if k > i:
        ax.set_xticks([])
        for side in ax.spines.values():
            side.set_visible(False)
    if i == last:
        ax.set_xlabel(shown[k].label, fontsize=8)
    if k == 0:
        ax.set_ylabel(shown[i].label, fontsize=8)


def _scaled(axis: Any, limit: Any, own: _Shown, outer: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    if own.log:
        axis._set_axes_scale("log")
    else:
        axis.set_major_locator(MaxNLocator(3))
    limit(*own.bounds())
    axis.set_tick_params(
        labelsize=7, **({} if outer else {"labelbottom": False, "labelleft": False})
    )
