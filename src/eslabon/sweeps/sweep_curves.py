"""Values of a sweep over one parameter: curves, a curve for each level of the others on a grid, or dots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.plotting import colour_bar, colour_map, curves, legend, panel_title, panels
from eslabon.plotting.axes import plain
from eslabon.plotting.themes import theme_at
from eslabon.sweeps.sweep_figures import HEAVY, MOST, figure_title, mark_failed, mark_nominal
from eslabon.sweeps.table_contents import Rows, some_rows

if TYPE_CHECKING:
    from eslabon.sweeps.sweep_plot import Request
    from eslabon.sweeps.sweep_table import SweepTable

NAMED = 7  # levels of another parameter that a legend tells apart
LINES = 60  # curves of one panel
WIDE = {"linewidth": 5.0, "alpha": 0.45}
MARKED = 60  # points of a curve that are marked


def draw_curves(table: SweepTable, request: Request) -> Any:
    """Values over a parameter: of one unit in one panel, of several units, or for several levels of other parameters, in panels."""
    others = [name for name in (*table.parameters, *table.states) if name != request.x]
    rows = some_rows(table, [request.x, *others, *request.of], MOST)
    units = {table.column(name).unit for name in request.of}
    groups = [request.of] if len(units) == 1 and not others else [(name,) for name in request.of]
    figure, axes = panels(
        len(groups), size=(6.4, 3.4) if len(groups) == 1 else (5.4, 2.7), theme=request.theme,
        title=figure_title(table, rows), bottom=plain(table.column(request.x).label),
    )  # fmt: skip
    order = np.argsort(rows[request.x], kind="stable")
    for ax, group in zip(axes, groups, strict=True):
        if others:
            _draw_levels(ax, table, rows, order, request, others, group[0])
        else:
            _draw_one(ax, table, rows, order, request, group)
        mark_nominal(ax, table.column(request.x).nominal, unit=table.column(request.x).unit)
        mark_failed(
            ax, np.unique(rows[request.x][rows.failed]), label=f"failed ({table.contents.failed:,})"
        )
        legend(ax, "below" if others else "right")
    return figure


def _draw_one(
    ax: Any,
    table: SweepTable,
    rows: Rows,
    order: np.ndarray,
    request: Request,
    group: tuple[str, ...],
) -> None:
    """Curves that break where a design failed."""
    marks: dict[str, Any] = {"marker": ".", "markersize": 5} if len(rows) <= MARKED else {}
    styles = {name: WIDE if _covered(rows, group, k) else marks for k, name in enumerate(group)}
    lines = curves(
        ax, rows[request.x][order], {name: rows[name][order] for name in group}, unit=table.column(group[0]).unit,
        log=request.log, where="none", styles=styles,
    )  # fmt: skip
    if len(group) == 1:  # the axis has its name
        lines[0].set_label("_nolegend_")


def _covered(rows: Rows, group: tuple[str, ...], k: int) -> bool:
    """Whether curves drawn later hide most of one, as those of single actuators hide the greatest of all."""
    own = rows[group[k]]
    hidden = np.isnan(own)
    for name in group[k + 1 :]:
        hidden = hidden | (rows[name] == own)
    return bool(hidden.mean() > 0.5 and not np.isnan(own).all())


def _draw_levels(
    ax: Any,
    table: SweepTable,
    rows: Rows,
    order: np.ndarray,
    request: Request,
    others: list[str],
    name: str,
) -> None:
    """A curve for each combination of the others' levels, or, where hardly two designs share one, a dot for each design."""
    x, y = rows[request.x][order], rows[name][order]
    levels, own = np.unique(
        np.stack([rows[other][order] for other in others], axis=1), axis=0, return_inverse=True
    )
    ax.set_ylabel(plain(table.column(name).label))
    if request.log:
        ax.set_yscale("log")
    if len(levels) * 2 > len(rows) or not rows.complete:
        size = float(np.clip(4000 / len(rows), 2, 16))
        ax.scatter(
            x,
            y,
            s=size,
            color=theme_at(ax).curves[0],
            linewidths=0,
            alpha=0.6,
            rasterized=len(rows) > HEAVY,
        )
    elif len(levels) <= NAMED and len(others) == 1:
        for k, level in enumerate(levels[:, 0]):
            label = plain(f"{others[0]} = {level:.6g}{_unit(table, others[0])}")
            ax.plot(x[own == k], y[own == k], label=label, **theme_at(ax).curve(k))
    else:
        _draw_many(ax, table, x, y, levels, np.asarray(own).ravel(), others)
    ax.margins(x=0)


def _draw_many(
    ax: Any,
    table: SweepTable,
    x: Floats,
    y: Floats,
    levels: Floats,
    own: np.ndarray,
    others: list[str],
) -> None:
    """Many curves, evenly chosen, in the colours of the one other parameter, or in one colour."""
    from matplotlib.collections import LineCollection

    chosen = np.unique(np.linspace(0, len(levels) - 1, min(LINES, len(levels))).astype(int))
    lines = [np.stack([x[own == k], y[own == k]], axis=-1) for k in chosen]
    if len(others) > 1:
        made = LineCollection(lines, colors=theme_at(ax).curves[0], linewidths=0.8, alpha=0.6)
    else:
        made = LineCollection(
            lines, array=levels[chosen, 0], cmap=colour_map(theme_at(ax)), linewidths=1.0
        )
        colour_bar(ax, made, plain(others[0] + _unit(table, others[0], " [{}]")))
    ax.add_collection(made)
    ax.autoscale_view()
    if len(chosen) < len(levels):
        panel_title(ax, f"{len(chosen)} of {len(levels):,} curves")


def _unit(table: SweepTable, name: str, form: str = " {}") -> str:
    unit = "" if name in table.states else table.column(name).unit
    return form.format(unit) if unit else ""
