"""Figures with one look: themes and colours, figures and files, panels and curves.

    figure, axes = panels(2, theme="dark", bottom=axis_label("t", "s"), title="my robot")
    curves(axes[0], t, {"theta1": q[:, 0], "theta2": q[:, 1]}, name="angles", unit="rad")
    save_figure(figure, "angles.svg")

Colours are those of Okabe and Ito, which the colour-blind tell apart. A unit stands in brackets behind what it measures, as in
"t [s]". Curves that coincide are drawn once, and named together. This room knows axes and arrays, and no mechanisms.

>>> import eslabon as es
>>> figure, (axes,) = es.plotting.panels(1, bottom=es.plotting.axis_label("t", "s"))
>>> lines = es.plotting.curves(axes, [0, 1, 2], {"a": [0, 1, 2], "b": [0, 1, 2], "c": [2, 1, 0]}, unit="rad")
>>> [line.get_label() for line in lines]
['a = b', 'c']
"""

from eslabon.plotting.axes import (
    axis_label,
    colour_bar,
    colour_map,
    direction_name,
    drawing_plane,
    equal_axes,
    mark,
    panel_title,
)
from eslabon.plotting.curves import coinciding, curves, legend
from eslabon.plotting.figures import look, new_figure, panels, save_figure, saved, svg_text
from eslabon.plotting.themes import (
    DARK,
    LIGHT,
    PALETTE,
    ROLES,
    THEMES,
    Theme,
    set_theme,
    theme_at,
    theme_of,
)
from eslabon.plotting.time_figures import InTime, by_unit, time_figure

__all__ = [
    "DARK",
    "LIGHT",
    "PALETTE",
    "ROLES",
    "THEMES",
    "InTime",
    "Theme",
    "axis_label",
    "by_unit",
    "coinciding",
    "colour_bar",
    "colour_map",
    "curves",
    "direction_name",
    "drawing_plane",
    "equal_axes",
    "legend",
    "look",
    "mark",
    "new_figure",
    "panel_title",
    "panels",
    "save_figure",
    "saved",
    "set_theme",
    "svg_text",
    "theme_at",
    "theme_of",
    "time_figure",
]


def __dir__() -> list[str]:
    """What the Tab key offers: names to use, not files."""
    return sorted(__all__)
