"""The stage that suits a mechanism: a figure, its axes, from where it is looked at, and how much of the page it takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from eslabon.arguments import Floats, positive
from eslabon.drawing.drawing_arguments import View, numbers
from eslabon.errors import InputError, format_value
from eslabon.plotting import new_figure, theme_of
from eslabon.scene import Scene, moved
from eslabon.scene.primitives import hull

WIDTH = 6.4  # inches
ELEVATION = 22.0  # degrees
MARGINS = (
    34,
    48,
    58,
    20,
)  # points left, below, right and above the box, where the names and ticks of axes stand
MARGINS_ALONG = (
    72,
    64,
    72,
    56,
)  # the same if it is looked along an axis: they may stand on any side


def open_stage(
    s: Scene, poses: Floats, ax: Any, theme: str | None, looking: View | None, size: Any
) -> Any:
    """A stage for a mechanism at poses `(n, bodies, 4, 4)`: on the axes that are given, or on those of a figure of its own."""
    from eslabon.drawing.stage import PlaneStage, SpaceStage

    given = None if theme is None else theme_of(theme)
    if ax is not None and not hasattr(ax, "transData"):
        raise InputError(
            f"ax are axes of matplotlib to draw into, as figure.add_subplot() gives; it is {format_value(ax)}."
        )
    if ax is not None and size is not None:
        raise InputError(
            "size is that of a figure of its own; axes that are given have theirs already, so leave size out."
        )
    figure = None if ax is not None else new_figure(given, figsize=_size(size, s, looking, poses))
    spatial = hasattr(ax, "zaxis") if ax is not None else (s.plane is None or looking is not None)
    if not spatial:
        if s.plane is None or looking is not None:
            raise InputError(
                f"{s.m.name} is drawn in space; give axes of space, as figure.add_subplot(projection='3d')."
            )
        return PlaneStage(ax if figure is None else figure.add_subplot(), s.size, s.plane, given)
    from mpl_toolkits.mplot3d import Axes3D  # noqa: F401  registers the projection

    space = ax if figure is None else figure.add_subplot(projection="3d", computed_zorder=False)
    stage = SpaceStage(space, s.size, given)
    if figure is not None or looking is not None:
        _look_from(stage.ax, s, looking, poses)
    return stage


def _look_from(ax: Any, s: Scene, looking: View | None, poses: Floats) -> None:
    """From where it is looked at, what gravity pulls down being down: as told, or where most of it is seen."""
    gravity = np.abs(np.array(s.m.gravity, dtype=float))
    upright = "xyz"[int(gravity.argmax())] if gravity.any() else "z"
    if isinstance(
        looking, str
    ):  # x, or y where x is up, to the right; from the side, the right-hand one
        front = 0.0 if upright == "y" else -90.0
        elevation, azimuth = {
            "front": (0.0, front),
            "side": (0.0, front + 90.0),
            "top": (90.0, front),
        }[looking]
    else:
        elevation, azimuth = looking or (ELEVATION, _widest(points_of(s, poses), upright))
    ax.view_init(elev=elevation, azim=azimuth, vertical_axis=upright)
    along_an_axis = elevation % 90.0 == azimuth % 90.0 == 0.0
    ax.set_proj_type("ortho") if along_an_axis else ax.set_proj_type("persp", focal_length=1.6)


def _widest(points: Floats, upright: str) -> float:
    """The azimuth from which points cover the most of the page."""
    k = "xyz".index(upright)
    ground = points[:, [(k + 1) % 3, (k + 2) % 3]]
    best, widest = -60.0, 0.0
    for azimuth in (-60.0, -45.0, -30.0, -75.0):
        a, e = np.radians(azimuth), np.radians(ELEVATION)
        across = ground @ [-np.sin(a), np.cos(a)]
        up = points[:, k] * np.cos(e) - np.sin(e) * (ground @ [np.cos(a), np.sin(a)])
        page = np.column_stack([across, up])
        x, y = page[hull(page)].T
        area = 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
        if area > 1.05 * widest:
            best, widest = azimuth, area
    return best


def _size(size: Any, s: Scene, looking: Any, poses: Floats) -> tuple[float, float]:
    """Inches: as given, or as what is drawn is wide and high."""
    if size is not None:
        width, height = numbers(size, "size", 2, "a figure", "inches: width and height")
        return positive(float(width), "the width"), positive(float(height), "the height")
    if s.plane is None or looking is not None:
        return WIDTH, 0.9 * WIDTH
    wide, high = np.ptp(points_of(s, poses) @ s.plane[:2].T, axis=0) + s.size / 6
    return WIDTH, float(np.clip(WIDTH * high / wide, 0.4 * WIDTH, WIDTH)) + 0.5


def fill_page(stage: Any, own: bool, sized: bool) -> None:
    """Use the whole page for what is seen in space; a page of our own is as high as that."""
    if not hasattr(stage, "fill"):
        return
    figure = stage.ax.get_figure(root=True)
    if not own:
        figure.draw_without_rendering()
        return
    figure.set_layout_engine("none")
    if not sized:
        wide, high = np.ptp(stage.display(stage.corners), axis=0)
        figure.set_size_inches(
            WIDTH,
            (WIDTH - 1.2) * float(np.clip(high / wide, 0.5, 1.1)) + (1.5 if stage.aligned else 0.9),
        )
    (wide, high), point = figure.bbox.size, figure.dpi / 72
    left, lower, right, upper = (x * point for x in (MARGINS_ALONG if stage.aligned else MARGINS))
    stage.fill((left, lower, wide - right, high - upper))


def write_title(stage: Any, title: str, told: Sequence[str], own: bool) -> None:
    beside = f"longest arrows: {'; '.join(told)}" if told else ""
    words, style = (
        "   ".join(x for x in (title, beside) if x),
        {"fontsize": 10, "color": stage.theme.quiet},
    )
    if words and own and hasattr(stage, "fill"):
        stage.ax.get_figure(root=True).suptitle(
            words, x=0.02, y=0.985, ha="left", va="top", **style
        )
    elif words:
        stage.ax.set_title(words, loc="left", **style)


# -- what must be on the page -----------------------------------------------------------------------------------------


def points_of(s: Scene, poses: Floats) -> Floats:
    """The points of all bodies in all configurations."""
    found = [
        moved(poses[..., k, :, :], link.points).reshape(-1, 3) for k, link in enumerate(s.links)
    ]
    return np.concatenate([*found, poses[..., 1:, :3, 3].reshape(-1, 3)])


def extent_of(s: Scene, poses: Floats, bodies: Any, paths: Iterable[Floats] = ()) -> Floats:
    """All points that must be on the page: those of the bodies with what is drawn around them, and the paths."""
    points = points_of(s, poses)
    around = s.size / 12 * np.concatenate([np.eye(3), -np.eye(3)])
    found = [(points[:, None] + around).reshape(-1, 3), *paths]
    if hasattr(bodies, "solids"):
        found.append(bodies.solids.triangles.reshape(-1, 3))
    elif s.m.shapes and bodies.clad:
        shapes = [part for part in s.parts if part.role == "shape"]
        found += [moved(poses[-1, s.bodies.index(part.body)], part.vertices) for part in shapes]
    return np.concatenate(found)
