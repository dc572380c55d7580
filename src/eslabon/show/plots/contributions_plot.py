"""What each body contributes to a linear model, as bars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import InputError
from eslabon.plotting import legend, panel_title, panels, saved
from eslabon.systems.linear.contributions import MATRICES, Contributions


def _sizes(values: Floats) -> Floats:
    """The largest entry of each source."""
    sizes: Floats = np.abs(values).max(axis=(-2, -1), initial=0.0)
    return sizes


def figure(c: Contributions, *, theme: str | None = None, path: str | Path | None = None) -> Any:
    """See `Contributions.plot`."""
    if c.U.ndim > 3:
        raise InputError(f"{c!r}: choose one state first, as contributions[3], then plot it.")
    size, title = (3.8, 1.3 + 0.32 * len(c.sources)), f"{c.name}: contributions to the linear model"
    made, axes = panels(
        len(MATRICES), across=len(MATRICES), size=size, theme=theme, title=title, shared=False
    )
    both = made.theme.curves[:2]
    for ax, name, values in zip(axes, MATRICES, (c.U, c.V, c.W), strict=True):
        ax.barh(range(len(c.sources)), _sizes(values), color=both[0], height=0.7, label="all of it")
        if name == "W":
            ax.barh(
                range(len(c.weight)),
                _sizes(c.weight),
                color=both[1],
                height=0.25,
                label="its weight alone",
            )
            legend(ax)
        panel_title(ax, f"largest entry of {name}")
        ax.set_yticks(range(len(c.sources)), c.sources if ax is axes[0] else [""] * len(c.sources))
        ax.grid(False, axis="y")
        ax.invert_yaxis()
    return saved(made, path)
