"""Histograms of a sweep's values: how designs within tolerances scatter, with percentiles and the nominal value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.plotting import legend, panels
from eslabon.plotting.axes import plain
from eslabon.plotting.themes import theme_at
from eslabon.sweeps.sweep_figures import MOST, figure_title, mark_nominal, without_outliers
from eslabon.sweeps.table_contents import Rows, some_rows

if TYPE_CHECKING:
    from eslabon.sweeps.sweep_plot import Request
    from eslabon.sweeps.sweep_table import SweepTable

BARS = 60
PERCENTILES = (5, 50, 95)
ROUND_OFF = 1e-12
TICKS = 4  # along a value: what differs by little has many digits


def draw_histograms(table: SweepTable, request: Request) -> Any:
    """A histogram of each column."""
    rows = some_rows(table, request.of, MOST)
    count = len(request.of)
    figure, axes = panels(
        count, size=(6.6, 3.4) if count == 1 else (5.6, 2.7), theme=request.theme, title=figure_title(table, rows), shared=False,
    )  # fmt: skip
    for ax, name in zip(axes, request.of, strict=True):
        ax.set_xlabel(plain(table.column(name).label))
        ax.set_ylabel("rows" if table.states else "designs")
        ax.grid(False, axis="x")
        _draw_one(ax, rows, name, request.log)
        mark_nominal(ax, table.nominal(name), unit=table.column(name).unit)
        legend(ax)
    return figure


def _draw_one(ax: Any, rows: Rows, name: str, log: bool) -> None:
    theme = theme_at(ax)
    x = rows[name][~rows.failed]
    x = x[np.isfinite(x)]
    if not x.size:
        ax.text(
            0.5,
            0.5,
            "no design has a value",
            transform=ax.transAxes,
            ha="center",
            color=theme.quiet,
        )
        ax.set_yticks([])
        return
    low, high, _ = without_outliers(x, log)
    size = abs(low) + abs(high)
    if high - low <= ROUND_OFF * size:  # all designs have one value
        low, high = low - (0.1 * size or 1.0), high + (0.1 * size or 1.0)
    bars = int(np.clip(2 * len(x) ** 0.4, 8, BARS))
    edges = np.geomspace(low, high, bars + 1) if log else np.linspace(low, high, bars + 1)
    ax.hist(x, bins=edges, color=theme.curves[0], alpha=0.75)
    if log:
        ax.set_xscale("log")
    else:
        ax.locator_params(axis="x", nbins=TICKS)
    ax.set_xlim(low, high)
    values = np.percentile(x, PERCENTILES)
    for percent, value, style in zip(PERCENTILES, values, (":", "-", ":"), strict=True):
        ax.axvline(
            value,
            color=theme.curves[1],
            linestyle=style,
            linewidth=1.3,
            label=f"{percent} %: {value:.5g}",
        )
    outside = int(((x < low) | (x > high)).sum())
    if outside:
        ax.plot([], [], " ", label=f"{outside:,} outside")
