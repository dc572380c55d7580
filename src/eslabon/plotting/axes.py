"""Axes: labels with units, equal scales, colours of a third quantity, and marks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, floats, instance, number, positive
from eslabon.arguments import names as checked_names
from eslabon.arguments import text as checked_text
from eslabon.errors import InputError, format_value
from eslabon.plotting.themes import Theme, theme_at

FLAT = 1e-6  # of a cloud's extent: what it may stand out of a plane


def axis_label(name: str, unit: str = "") -> str:
    """What is measured along an axis, and its unit: the one style of all figures.

    >>> axis_label("t", "s"), axis_label("", "rad"), axis_label("ratio")
    ('t [s]', '[rad]', 'ratio')
    """
    return " ".join(
        filter(
            None, (checked_text(name, "name"), f"[{unit}]" if checked_text(unit, "unit") else "")
        )
    )


def plain(text: str) -> str:
    """A text as it is, for matplotlib, which takes what is between two dollars for mathematics.

    >>> plain("5 $ a $")
    '5 \\\\$ a \\\\$'
    """
    return checked_text(text, "text").replace("$", r"\$")


def panel_title(ax: Any, text: str) -> None:
    """What a panel shows, above its left end.

    >>> import eslabon as es
    >>> figure, (axes,) = es.plotting.panels(1)
    >>> es.plotting.panel_title(axes, "angles")
    >>> axes.get_title(loc="left")
    'angles'
    """
    theme = theme_at(ax)
    if checked_text(text, "text"):
        ax.set_title(plain(text), loc="left", fontsize=10, color=theme.ink)


def equal_axes(
    ax: Any, points: Floats, names: tuple[str, ...] = ("x", "y", "z"), unit: str = "m", margin: float = 0.05,
    zoom: float = 0.84,
) -> None:  # fmt: skip
    """Equal scales around points `(..., 2)` or `(..., 3)`, and labels of the axes: a circle looks like one.

    The box has the proportions of what is in it, though no side is shorter than a third of the longest: a flat cloud still has
    a place for its ticks. In space `zoom` leaves room for labels beside the box; figures of one drawing may have more of it.

    >>> import numpy as np
    >>> import eslabon as es
    >>> figure, (axes,) = es.plotting.panels(1)
    >>> es.plotting.equal_axes(axes, np.array([[0.0, 0.0], [1.0, 0.5]]))
    >>> axes.get_xlabel(), axes.get_aspect()
    ('x [m]', 1.0)
    """
    theme_at(ax)
    cloud = floats(points, "points")
    if cloud.shape[-1:] not in ((2,), (3,)):
        raise InputError(
            f"points are two or three coordinates each, (..., 2) or (..., 3); they have shape {cloud.shape}."
        )
    if cloud.shape[-1] == 3 and not hasattr(ax, "zaxis"):
        raise InputError(
            "points have three coordinates, and ax two axes; draw in space with projection='3d'."
        )
    names, margin, zoom = (
        checked_names(names, "names"),
        number(margin, "margin"),
        positive(zoom, "zoom"),
    )
    flat = cloud.reshape(-1, cloud.shape[-1])
    flat = flat[np.isfinite(flat).all(axis=1)]
    low, high = (
        (flat.min(axis=0), flat.max(axis=0))
        if len(flat)
        else (np.zeros(flat.shape[1]), np.ones(flat.shape[1]))
    )
    middle, extent = (low + high) / 2, high - low
    longest = extent.max() if extent.max() > 0 else 1.0
    half = np.maximum(extent, longest / 3) / 2 * (1 + 2 * margin)
    for axis, name, a, b in zip("xyz", names, middle - half, middle + half, strict=False):
        getattr(ax, f"set_{axis}lim")(a, b)
        getattr(ax, f"set_{axis}label")(plain(axis_label(name, unit)))
    if len(extent) == 2:
        ax.set_aspect("equal", adjustable="box")
    else:
        ax.set_box_aspect(half / half.max(), zoom=zoom)
        for axis, width in zip((ax.xaxis, ax.yaxis, ax.zaxis), half / half.max(), strict=True):
            axis.set_major_locator(_ticks(2 + round(3 * width)))


def drawing_plane(position: Floats) -> Floats | None:
    """Two directions of a plane that holds all positions, (2, 3), or None if none does: axes of the ground if that can be.

    >>> import numpy as np
    >>> import eslabon as es
    >>> es.plotting.drawing_plane(np.array([[0.0, 0, 1], [1.0, 0, 1], [0.0, 1, 1]]))
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    position = finite(position, "position")
    if position.ndim != 2 or position.shape[1] != 3:
        raise InputError(
            f"position has three coordinates a row, (n, 3); it has shape {position.shape}."
        )
    away = position - (position.mean(axis=0) if len(position) else 0.0)
    flat = FLAT * np.abs(away).max(initial=0.0)
    for k in (2, 1, 0):
        if np.abs(away[:, k]).max(initial=0.0) <= flat:
            return np.delete(np.eye(3), k, axis=0)
    normal = np.linalg.eigh(away.T @ away)[1][:, 0]
    if np.abs(away @ normal).max() > flat:
        return None
    level = np.eye(3)[
        int(np.argmin(np.abs(normal[:2])))
    ]  # the horizontal axis of the ground that lies in it most
    across = level - (level @ normal) * normal
    across /= np.linalg.norm(across)
    up = np.cross(normal, across)
    return np.stack([across, up * np.sign(up[np.argmax(np.abs(up))])])


def direction_name(direction: Floats) -> str:
    """A direction as "x", "y" or "z", or by its components.

    >>> direction_name(np.array([0.0, -1.0, 0.0])), direction_name(np.array([0.6, 0.8, 0.0]))
    ('-y', '(0.6, 0.8, 0)')
    """
    direction = floats(direction, "direction")
    if direction.shape != (3,):
        raise InputError(f"direction has three components; it has shape {direction.shape}.")
    if np.abs(direction).max() > 1 - 1e-12:
        k = int(np.argmax(np.abs(direction)))
        return "-" * int(direction[k] < 0) + "xyz"[k]
    return f"({', '.join(f'{x + 0.0:.2g}' for x in direction)})"


def _ticks(most: int) -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])


def colour_map(theme: Theme) -> Any:
    """Viridis, as far as it stands out from the theme's paper: from dark to bright it is read without colours, too.

    >>> import eslabon as es
    >>> es.plotting.colour_map(es.plotting.LIGHT).N
    256
    """
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    shades = instance(theme, "theme", Theme, "a theme, as es.plotting.theme_of gives one").shades
    return ListedColormap(colormaps["viridis"](np.linspace(*shades, 256)), f"viridis_{theme.name}")


def colour_bar(ax: Any, drawn: Any, label: str) -> Any:
    """What the colours of `drawn` mean, beside the axes.

    >>> import eslabon as es
    >>> figure, (axes,) = es.plotting.panels(1)
    >>> es.plotting.colour_bar(axes, axes.scatter([0, 1], [0, 1], c=[0.0, 1.0]), "condition").ax.get_ylabel()
    'condition'
    """
    theme_at(ax)
    if not hasattr(drawn, "cmap"):
        raise InputError(
            f"drawn has colours, as axes.scatter gives it; it is {format_value(drawn)}."
        )
    bar = ax.get_figure(root=True).colorbar(
        drawn,
        ax=ax,
        label=checked_text(label, "label"),
        shrink=0.85,
        pad=0.1 if hasattr(ax, "zaxis") else 0.02,
    )
    bar.outline.set_visible(False)
    return bar


def mark(ax: Any, places: ArrayLike, label: str = "") -> None:
    """Thin upright lines at some places, such as the times of events.

    >>> import eslabon as es
    >>> figure, (axes,) = es.plotting.panels(1)
    >>> es.plotting.mark(axes, [0.5, 1.0], "impact")
    >>> len(axes.lines)
    2
    """
    colour = theme_at(ax).quiet
    checked_text(label, "label")
    for k, x in enumerate(floats(places, "places").ravel()):
        ax.axvline(
            x, color=colour, linewidth=0.8, linestyle=":", label=label if label and not k else None
        )
