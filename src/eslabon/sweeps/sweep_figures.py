"""What the figures of sweeps share: their titles, marks of designs that failed and of the nominal one, ranges without outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.plotting.axes import plain
from eslabon.plotting.themes import theme_at
from eslabon.sweeps.table_contents import Rows

if TYPE_CHECKING:
    from eslabon.sweeps.sweep_table import SweepTable

MOST = 50_000  # rows that a figure shows one by one
HEAVY = 2_000  # marks, above which they are pixels in a file of lines
FAR = 2.0  # spans of the middle 96 %, beyond which outliers would leave little else to be seen


def figure_title(table: SweepTable, rows: Rows | None = None) -> str:
    """What was swept, how many designs, how many failed, and how many rows are drawn."""
    found = table.contents
    told = [f"{found.designs:,} design{'s' * (found.designs != 1)}"]
    if found.rows > found.designs:
        told.append(f"{found.rows:,} rows")
    if found.failed:
        told.append(f"{found.failed:,} failed")
    if rows is not None and not rows.complete:
        told.append(f"{len(rows):,} rows drawn")
    return f"{table.title}: {', '.join(told)}"


def mark_failed(ax: Any, x: Floats, y: Floats | None = None, label: str = "") -> None:
    """Grey crosses where designs failed; along the lower edge where they have no second coordinate."""
    if not len(x):
        return
    size = float(np.clip(120 / np.sqrt(len(x)), 1.5, 4.5))
    along = {"transform": ax.get_xaxis_transform(), "clip_on": False} if y is None else {}
    ax.plot(
        x, np.full(len(x), 0.015) if y is None else y, "x", color=theme_at(ax).quiet, markersize=size, markeredgewidth=0.2 * size,
        label=label or f"failed ({len(x):,})", zorder=4, rasterized=len(x) > HEAVY, **along,
    )  # fmt: skip


def mark_nominal(ax: Any, x: float, y: float | None = None, unit: str = "") -> None:
    """Where the description is: a line, or a ring in a plane; nothing outside of what is drawn."""
    theme = theme_at(ax)
    if y is None:
        low, high = sorted(ax.get_xlim())
        if low <= x <= high:
            label = plain(f"nominal: {x:.5g} {unit}".rstrip())
            ax.axvline(
                x, color=theme.ink, linewidth=0.9, linestyle=(0, (4, 3)), label=label, zorder=1.5
            )
        return
    rim, ring = (theme.paper, 3.6, "_nolegend_"), (theme.ink, 1.5, "nominal")  # seen on any colour
    for colour, width, label in (rim, ring):
        ax.plot([x], [y], "o", color=colour, markerfacecolor="none", markersize=9, markeredgewidth=width, label=label, zorder=5)  # fmt: skip


def without_outliers(values: Floats, log: bool) -> tuple[float, float, str]:
    """The range of values to show, and which ends of it are cut off: "neither", "min", "max" or "both"."""
    known = values[np.isfinite(values)]
    if not known.size:
        return 0.0, 1.0, "neither"
    low, high = float(known.min()), float(known.max())
    if log:
        return low, high, "neither"
    few, many = np.percentile(known, [2, 98])
    span = float(many - few)
    if span <= 0:
        return low, high, "neither"
    below, above = few - low > FAR * span, high - many > FAR * span
    ends = {
        (False, False): "neither",
        (True, False): "min",
        (False, True): "max",
        (True, True): "both",
    }
    return float(few) if below else low, float(many) if above else high, ends[below, above]
