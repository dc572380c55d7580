"""A workspace map as a figure: a panel for each mode, or for slices of a map over three coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats
from eslabon.numerics.tolerances import ROUND_OFF
from eslabon.plotting import axis_label, colour_map, new_figure, panel_title, saved
from eslabon.solve.coordinate_rows import TURNS
from eslabon.solve.workspace.workspace_map import KINDS, WorkspaceMap

Curves = dict[str, list[Floats]]  # by kind
LOOKS = {"parallel": "singular", "serial": "boundary"}  # the role of their colour
STYLES: dict[str, Any] = {"parallel": "-", "serial": (0, (4, 1.5))}
SLICES = 6  # of a map over three coordinates
ACROSS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 9: 3}  # panels in a row
COLOURS = {
    "parallel": "reciprocal condition number, parallel kind",
    "serial": "dexterity: reciprocal condition number",
}
LEGENDS = {"parallel": "singular, parallel kind", "serial": "singular, serial kind"}


def figure(
    space: WorkspaceMap,
    *,
    of: str = "serial",
    singular: bool = True,
    theme: str | None = None,
    path: str | Path | None = None,
) -> Any:
    """See `WorkspaceMap.plot`."""
    panels = _panels(space)
    across = ACROSS.get(len(panels), 4)
    down = -(-len(panels) // across)
    side = {1: 5.4, 2: 3.9}.get(across, 2.9)
    made = new_figure(theme, figsize=(side * across + 1.2, side * _proportion(space) * down + 1.1))
    grid = made.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
    for ax in grid[len(panels) :]:
        ax.remove()
    bounds = _bounds([own for _, own in panels], of)
    curves: list[Curves] = [
        {kind: own.singular_curves(kind) for kind in KINDS} if singular else {} for _, own in panels
    ]
    drawn = None
    for k, (title, own) in enumerate(panels):
        drawn = _drawn(grid[k], own, of, bounds, curves[k])
        panel_title(grid[k], title)
        if k % across == 0:
            grid[k].set_ylabel(axis_label(*_axis(own, 1)))
        if k + across >= len(panels):
            grid[k].set_xlabel(axis_label(*_axis(own, 0)))
            grid[k].tick_params(labelbottom=True)
    label = COLOURS.get(of) or axis_label(f"{of} of {space.frame}", space.unit(of))
    bar = made.colorbar(drawn, ax=list(grid[: len(panels)]), label=label, shrink=0.85, pad=0.02)
    bar.outline.set_visible(False)
    made.suptitle(_heading(space), color=made.theme.quiet)
    _keys(made, [own for _, own in panels], curves)
    return saved(made, path)


def _bounds(maps: list[WorkspaceMap], of: str) -> tuple[float, float]:
    """The values of the ends of the scale of colours: a condition number's begins at zero."""
    values = np.concatenate([_layer(own, of)[own.reached] for own in maps])
    if of in KINDS:
        return 0.0, float(np.max(values, initial=1e-3))
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)


def _layer(own: WorkspaceMap, of: str) -> Floats:
    return np.asarray(own.layers[of] if of in own.layers else getattr(own, of))


def _heading(space: WorkspaceMap) -> str:
    held = ", ".join(
        f"{name} = {x + 0.0:.3g} {space.unit(name)}"
        for name, x in space.fixed.items()
        if abs(x) > ROUND_OFF or name not in TURNS
    )
    mode = f"mode {space.modes[0]}" if len(space.axes) == 3 else ""  # which panels do not name
    return ", ".join([f"{space.name}: {space.frame}", *(x for x in (mode, held) if x)])


def _panels(space: WorkspaceMap) -> list[tuple[str, WorkspaceMap]]:
    """What each panel is called, and its map: one mode over two coordinates."""
    modes = [(f"mode {name}", space.mode(name)) for name in space.modes]
    if len(space.axes) == 2:
        return modes
    name, values = list(space.axes.items())[-1]
    own = next((x for _, x in modes), space)
    reached = np.flatnonzero(own.reached.any(axis=(0, 1, 2)))
    chosen = np.unique(np.linspace(reached.min(), reached.max(), SLICES).round().astype(int))
    return [
        (f"{name} = {values[k]:.3g} {own.unit(name)}", own.slice(**{name: float(values[k])}))
        for k in chosen
    ]


def _proportion(space: WorkspaceMap) -> float:
    """Height by width of a panel."""
    (_, low, high), (_, bottom, top) = space.grid.ranges[:2]
    return float(np.clip((top - bottom) / (high - low), 0.5, 1.6)) if _is_equal(space) else 0.8


def _is_equal(space: WorkspaceMap) -> bool:
    """Whether both coordinates are lengths, or both angles."""
    first, second = list(space.axes)[:2]
    return space.unit(first) == space.unit(second)


def _axis(own: WorkspaceMap, k: int) -> tuple[str, str]:
    name = list(own.axes)[k]
    return (f"{name} of {own.frame}" if name in own.grid.pose else name), own.unit(name)


def _drawn(ax: Any, own: WorkspaceMap, of: str, bounds: tuple[float, float], curves: Curves) -> Any:
    """One mode over two coordinates."""
    from matplotlib.collections import LineCollection

    theme = ax.get_figure(root=True).theme
    (_, low, high), (_, bottom, top) = own.grid.ranges
    ax.set_facecolor(theme.grid)
    ax.grid(visible=False)
    drawn = ax.imshow(
        np.where(own.reached[0], _layer(own, of)[0], np.nan).T,
        extent=(low, high, bottom, top),
        origin="lower",
        cmap=colour_map(theme),
        vmin=bounds[0],
        vmax=bounds[1],
        interpolation="nearest",
        aspect="equal" if _is_equal(own) else "auto",
    )
    beyond = own.closes[0] & ~own.reached[0]
    if beyond.any():
        _hatch(ax, own, beyond)
        ax.set(xlim=(low, high), ylim=(bottom, top))
    for kind, lines in curves.items():
        ax.add_collection(
            LineCollection(
                lines,
                colors=theme.role(LOOKS[kind]),
                linewidths=1.4,
                linestyles=[STYLES[kind]],
                zorder=3,
            )
        )
    return drawn


def _hatch(ax: Any, own: WorkspaceMap, cells: NDArray[np.bool_]) -> None:
    theme = ax.get_figure(root=True).theme
    x, y = (
        np.array([a[0] - d, *a, a[-1] + d])
        for a, d in zip(own.grid.axes, own.grid.steps, strict=True)
    )
    inside = np.pad(
        cells.T.astype(float), 1, mode="edge"
    )  # or half a cell is left out at the frame
    levels: Any = {"levels": [0.5, 1.5], "colors": [theme.paper], "hatches": ["///"]}
    hatched = ax.contourf(x, y, inside, **levels)
    hatched.set(edgecolor=theme.quiet, linewidth=0.0)


def _keys(made: Any, maps: list[WorkspaceMap], curves: list[Curves]) -> None:
    """What lines and greys mean, below all panels."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    theme = made.theme
    shown = [kind for kind in KINDS if any(own.get(kind) for own in curves)]
    handles: list[Any] = [
        Line2D([], [], color=theme.role(LOOKS[kind]), linestyle=STYLES[kind], label=LEGENDS[kind])
        for kind in shown
    ]
    frame: Any = {"edgecolor": theme.quiet, "linewidth": 0.5}
    if not all(own.closes.all() for own in maps):
        handles.append(Patch(facecolor=theme.grid, label="does not close", **frame))
    if any((own.closes & ~own.reached).any() for own in maps):
        handles.append(Patch(facecolor=theme.paper, hatch="///", label="beyond limits", **frame))
    if handles:
        made.legend(handles=handles, loc="outside lower center", ncols=len(handles))
