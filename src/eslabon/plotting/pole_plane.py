"""The complex plane in which poles are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.plotting.axes import axis_label

RATIOS = (0.2, 0.4, 0.6, 0.8)  # of damping, whose lines are drawn
ROOM = 1.15  # the part of the plane around the poles


def pole_plane(ax: Any, poles: Any) -> None:
    """The plane around poles: axes through zero, and lines of equal damping ratio on the stable side."""
    theme = ax.get_figure(root=True).theme
    reach = max(float(np.abs(poles).max(initial=0.0)), 1e-9)
    left, right = (
        min(float(poles.real.min(initial=0.0)), -0.3 * reach),
        max(float(poles.real.max(initial=0.0)), 0.15 * reach),
    )
    up = max(float(np.abs(poles.imag).max(initial=0.0)), 0.3 * reach) * ROOM
    ax.set(xlim=(ROOM * left, ROOM * right), ylim=(-up, up))
    ax.axhline(0, color=theme.quiet, linewidth=0.8)
    ax.axvline(0, color=theme.quiet, linewidth=0.8)
    for ratio in RATIOS:
        steep = np.sqrt(1 - ratio**2) / ratio
        end = min(-ROOM * left, up / steep)
        for sign in (1, -1):
            ax.plot([0, -end], [0, sign * steep * end], color=theme.grid, linewidth=0.9, zorder=1)
        ax.annotate(
            f"{ratio:g}",
            (-end, steep * end),
            xytext=(2, -8),
            textcoords="offset points",
            fontsize=7,
            color=theme.quiet,
            clip_on=True,
        )
    ax.set(xlabel=axis_label("real part", "1/s"), ylabel=axis_label("imaginary part", "rad/s"))
