"""The figure of sensitivities: for each factor bars of its first-order share and of its Sobol indices, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.errors import InputError
from eslabon.plotting import legend, panel_title, panels
from eslabon.plotting.axes import plain

if TYPE_CHECKING:
    from eslabon.plotting import Theme
    from eslabon.sweeps.sensitivities import Attribution, Sensitivities

MOST = 20  # factors that a panel shows
PANELS = 6


def draw_bars(
    found: Sensitivities, chosen: Sequence[Attribution], theme: str | Theme | None
) -> Any:
    """A panel for each value, the factor that matters most on top."""
    if not chosen:
        raise InputError(f"of names at least one of {', '.join(found.values)}.")
    shown = chosen[:PANELS]
    height = 1.1 + 0.42 * min(len(found.factors), MOST)
    notes = [f"{found.samples:,} samples", f"intervals of {100 * found.confidence:g} %"]
    notes += [f"{found.failed:,} designs failed"] if found.failed else []
    notes += (
        [f"{PANELS} of {len(chosen)} values; of= chooses others"] if len(chosen) > PANELS else []
    )
    figure, axes = panels(len(shown), size=(5.8 if len(shown) > 1 else 6.8, height), theme=theme, shared=False,
        title=f"{found.title}: {', '.join(notes)}", bottom="share of the variance")  # fmt: skip
    said = ""
    for ax, own in zip(axes, shown, strict=True):
        _panel(ax, found.factors, own, figure.theme)
        if own.source != said:  # where the bars are the shortest
            legend(ax, loc="lower right", bbox_to_anchor=(1.0, 0.0))
        said = own.source
    return figure


def _panel(ax: Any, factors: Sequence[str], own: Attribution, theme: Any) -> None:
    order = np.argsort(-own.total, kind="stable")[:MOST]
    y = np.arange(len(order))[::-1].astype(float)
    bars = (
        (own.shares, None, f"first order, by {own.source}"),
        (own.first, own.first_interval, "Sobol, first order"),
        (own.total, own.total_interval, "Sobol, total"),
    )
    for k, (values, ends, label) in enumerate(bars):
        place, wide = y + 0.27 * (1 - k), np.clip(values[order], 0.0, 1.0)
        ax.barh(place, wide, height=0.25, color=theme.curves[k], alpha=0.9, label=label)
        if ends is not None:
            low, high = (np.clip(x[order], 0.0, 1.0) for x in ends)
            ax.hlines(place, low, high, color=theme.ink, linewidth=1.0)
    ax.set_yticks(y, [plain(factors[k]) for k in order])
    ax.set_ylim(-0.6, len(order) - 0.4)
    ax.set_xlim(0.0, 1.0)
    ax.grid(False, axis="y")
    unit = f", standard deviation {own.std:.3g} {own.unit}".rstrip()
    panel_title(ax, plain(f"{own.name}{unit}"))
