"""Estimates beside the truth in time, and their errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eslabon.plotting import axis_label, curves, panels, saved
from eslabon.systems.control.estimates import Estimates

TITLES = {"rad": "angles", "m": "positions", "rad/s": "angular rates", "m/s": "speeds"}


def figure(e: Estimates, *, theme: str | None = None, path: str | Path | None = None) -> Any:
    """See `Estimates.plot`."""
    units = list(dict.fromkeys(e.units))
    made, axes = panels(
        2 * len(units), theme=theme, title=repr(e)[1:-1], bottom=axis_label("t", "s")
    )
    for unit, left, right in zip(units, axes[::2], axes[1::2], strict=True):
        places = [k for k, u in enumerate(e.units) if u == unit]
        colours = {e.states[k]: made.theme.curve(n)["color"] for n, k in enumerate(places)}
        _states(left, e, places, colours, f"{TITLES[unit]}: true, and dashed as estimated", unit)
        _errors(right, e, places, colours, unit)
    return saved(made, path)


def _states(
    ax: Any, e: Estimates, places: list[int], colours: dict[str, str], title: str, unit: str
) -> None:
    """Each state as it is, and dashed as estimated: that they coincide is what is looked for."""
    true, estimated = ({e.states[k]: x[..., k] for k in places} for x in (e.x, e.x_hat))
    styles = {name: {"color": colour, "linestyle": (0, (5, 2))} for name, colour in colours.items()}
    curves(
        ax,
        e.t,
        true,
        styles={name: {"color": colour, "alpha": 0.55} for name, colour in colours.items()},
    )
    curves(ax, e.t, estimated, unit=unit, title=title, styles=styles, where="none")


def _errors(ax: Any, e: Estimates, places: list[int], colours: dict[str, str], unit: str) -> None:
    bands = ", dotted: three standard deviations" if e.deviation is not None else ""
    curves(
        ax, e.t, {e.states[k]: e.error[..., k] for k in places}, unit=unit, title=f"errors{bands}"
    )
    if e.deviation is None:
        return
    for k in places:
        band = 3 * e.deviation[..., k].reshape(-1, len(e.t)).mean(axis=0)
        ax.plot(
            e.t,
            np.stack([band, -band], axis=1),
            color=colours[e.states[k]],
            linewidth=0.8,
            linestyle=":",
        )
