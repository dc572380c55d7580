"""A motion as a figure: a panel for each quantity and unit, and one for the energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.plotting import new_figure
from eslabon.simulate.simulated_motion import Motion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORDS = {"q": "coordinates", "v": "velocities", "tau": "forces"}
UNITS = {"rad": "angles", "m": "positions", "": "quaternions", "rad/s": "angular rates", "m/s": "speeds",
    "N m": "torques", "N": "forces"}  # fmt: skip
SHOWN = 40  # trajectories of many, evenly chosen
NAMED = 12  # lines that a legend still tells apart


def figure(motion: Motion) -> Any:
    """The figure; show it with matplotlib, or save it with `.savefig`."""
    panels = _panels(motion)
    across = 1 if len(panels) == 1 else 2
    down = -(-len(panels) // across)
    made = new_figure(figsize=(5.4 * across, 2.5 * down + 0.6), dpi=110)
    axes = np.atleast_1d(made.subplots(down, across, sharex=True)).ravel()
    for ax, (title, unit, labels, values) in zip(axes, panels, strict=False):
        _panel(ax, motion.t, title, unit, labels, values)
        _mark_events(ax, motion)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    for ax in axes[max(0, len(panels) - across) : len(panels)]:
        ax.set_xlabel("t  [s]")
        ax.tick_params(labelbottom=True)
    made.suptitle(repr(motion)[1:-1], fontsize=10, color="0.3")
    return made


def _panels(motion: Motion) -> list[tuple[str, str, list[str], Any]]:
    """Title, unit, labels and values (trajectories, times, lines) of every panel."""
    made = []
    for what in (w for w in WORDS if w != "tau" or motion.tau.any()):  # no panel for an undriven mechanism's zeros
        units = [c.unit for c in motion.columns[what]]
        for unit in dict.fromkeys(units):
            places = [k for k, u in enumerate(units) if u == unit]
            labels = [str(motion.columns[what][k]) for k in places]
            made.append((UNITS.get(unit, WORDS[what]), unit, labels, getattr(motion, what)[..., places]))
    energy = np.stack([*motion.energy, motion.energy.total], axis=-1)
    made.append(("energy", "J", ["kinetic", "potential", "total"], energy))
    return [(title, unit, labels, _some(values)) for title, unit, labels, values in made]


def _some(values: Any) -> Any:
    flat = values.reshape(-1, *values.shape[-2:])
    return flat[np.unique(np.linspace(0, len(flat) - 1, min(SHOWN, len(flat))).astype(int))]


def _panel(ax: Axes, t: Any, title: str, unit: str, labels: list[str], values: Any) -> None:
    width, alpha = (1.4, 1.0) if len(values) == 1 else (0.7, max(0.15, 3 / len(values)))
    for k, label in enumerate(labels):
        colour = f"C{k % 10}" if title != "energy" else ("C1", "C0", "0.15")[k]
        lines = ax.plot(t, values[..., k].T, color=colour, linewidth=width, alpha=alpha)
        lines[0].set_label(label)
    ax.set_title(title, loc="left", fontsize=10)
    ax.set_ylabel(f"[{unit}]" if unit else "")
    ax.grid(True, color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0)
    if len(labels) <= NAMED:
        legend = ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)
        for line in legend.get_lines():
            line.set(alpha=1.0, linewidth=1.8)


def _mark_events(ax: Axes, motion: Motion) -> None:
    for happened in motion.events.values():
        for t in happened.t[:200]:
            ax.axvline(t, color="0.6", linewidth=0.7, linestyle=":")
