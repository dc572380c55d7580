"""The poles of linear models in their plane, and how much each state takes part in each mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eslabon.errors import ModelError
from eslabon.plotting import (
    colour_bar,
    colour_map,
    legend,
    new_figure,
    panel_title,
    saved,
)
from eslabon.plotting.pole_plane import pole_plane
from eslabon.systems.linear.linear_model import LinearModel
from eslabon.systems.linear.modes import Modes

SAME = 1e-6  # of the largest pole: poles that are drawn as one
WRITTEN = 0.4  # of one: a participation from which on the cell is bright


def figure(lm: LinearModel, *, theme: str | None = None, path: str | Path | None = None) -> Any:
    """See `LinearModel.plot`."""
    if not lm.dof:
        raise ModelError(
            f"{lm.name} has no degrees of freedom, and its linear model no poles to plot."
        )
    many = bool(lm.batch)
    made = new_figure(
        theme, figsize=(5.6, 4.6) if many else (5.2 + 2.6 + 0.45 * len(lm.states), 4.6)
    )
    axes = (
        [made.add_subplot()]
        if many
        else list(made.subplots(1, 2, width_ratios=(5.2, 2.6 + 0.45 * len(lm.states))))
    )
    poles = lm.poles if many else np.array([x for mode in lm.modes() for x in _pair(mode.pole)])
    pole_plane(axes[0], np.ravel(poles))
    (_many if many else _few)(axes[0], poles)
    panel_title(axes[0], "poles, and lines of equal damping ratio")
    if not many:
        _participation(axes[1], lm, lm.modes())
    made.suptitle(repr(lm)[1:-1].removeprefix("LinearModel: "), color=made.theme.quiet)
    return saved(made, path)


def _pair(pole: complex) -> tuple[complex, ...]:
    return (pole, pole.conjugate()) if pole.imag else (pole,)


def _few(ax: Any, poles: Any) -> None:
    """A cross for each pole, its multiplicity beside it; those that grow in another colour."""
    theme, near = (
        ax.get_figure(root=True).theme,
        SAME * max(float(np.abs(poles).max(initial=0.0)), 1e-9),
    )
    colours = {"stable": theme.curves[0], "unstable": theme.curves[1], "on the axis": theme.ink}
    placed: dict[str, list[complex]] = {kind: [] for kind in colours}
    for pole in poles:
        kind = "unstable" if pole.real > near else "stable" if pole.real < -near else "on the axis"
        if all(abs(pole - other) > near for other in placed[kind]):
            placed[kind].append(pole)
            count = int((np.abs(poles - pole) <= near).sum())
            if count > 1:
                ax.annotate(
                    f"×{count}",
                    (pole.real, pole.imag),
                    xytext=(6, 5),
                    textcoords="offset points",
                    color=theme.ink,
                )
    for kind, own in placed.items():
        if own:
            ax.plot(
                np.real(own),
                np.imag(own),
                "x",
                color=colours[kind],
                markersize=8,
                markeredgewidth=2,
                label=kind,
            )
    legend(ax, "below")


def _many(ax: Any, poles: Any) -> None:
    """The poles of all models, coloured in their order."""
    theme = ax.get_figure(root=True).theme
    flat = poles.reshape(-1, poles.shape[-1])
    order = np.broadcast_to(np.arange(len(flat))[:, None], flat.shape)
    drawn = ax.scatter(
        flat.real, flat.imag, c=order, s=9, cmap=colour_map(theme), linewidths=0, zorder=3
    )
    colour_bar(ax, drawn, "number of the model")


def _participation(ax: Any, lm: LinearModel, modes: Modes) -> None:
    """How much of each state is in each mode, written and as a shade."""
    theme = ax.get_figure(root=True).theme
    values = np.array([[mode.participation[state] for state in lm.states] for mode in modes])
    cells = ax.pcolormesh(values, cmap=colour_map(theme), vmin=0.0, vmax=1.0)
    for (row, column), x in np.ndenumerate(values):
        colour = "#000000" if x > WRITTEN else "#ffffff"
        ax.text(
            column + 0.5,
            row + 0.5,
            f"{x:.2f}",
            ha="center",
            va="center",
            fontsize=7.5,
            color=colour,
        )
    ax.set_yticks(np.arange(len(values)) + 0.5, [_named(mode) for mode in modes])
    ax.set_xticks(
        np.arange(len(lm.states)) + 0.5,
        lm.states,
        rotation=90 if max(map(len, lm.states)) > 5 else 0,
    )
    ax.invert_yaxis()
    ax.grid(False)
    ax.set(xlabel="state", ylabel="mode")
    ax.spines[:].set_visible(False)
    panel_title(ax, "participation of states in modes")
    colour_bar(ax, cells, "participation")


def _named(mode: Any) -> str:
    return (
        f"{mode.frequency:.3g} rad/s"
        if mode.frequency
        else f"{mode.kind}, {mode.pole.real + 0.0:.3g} 1/s"
    )
