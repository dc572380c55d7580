"""Where names stand: beside what they name, and neither on one another nor on what is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.drawing.stage import LETTERS, Stage
from eslabon.model import GROUND
from eslabon.scene import Scene, moved

DIRECTIONS = [
    np.array([np.cos(a), np.sin(a)]) for a in np.radians([35, 145, -35, -145, 90, -90, 0, 180])
]
DISTANCES = (13.0, 18.0, 26.0)  # points
WIDTH, HEIGHT = 5.1, 10.5  # points: of a letter, and of a line


def add_names(
    stage: Stage,
    s: Scene,
    words: Sequence[str],
    chosen: Sequence[str],
    poses: Floats,
    supports: Sequence[Floats] = (),
) -> None:
    """The names of joints, bodies and frames, away from links, joints, and from `supports`, points of the page."""

    place = dict(zip(s.bodies, poses, strict=True))
    theme, labels = stage.theme, dict[str, tuple[Floats, str]]()
    if "joints" in words:
        for mark in s.joints:
            colour = theme.ink if mark.role == "joint" else theme.role(mark.role)
            ends = place[mark.parent] @ mark.on_parent, place[mark.child] @ mark.on_child
            slides = len(mark.translations) == 1
            labels[mark.name] = (
                (ends[0] + ends[1])[:3, 3] / 2 if slides else ends[1][:3, 3],
                colour,
            )
    if "bodies" in words:
        for link in s.links:
            if link.body != GROUND:
                middle = moved(place[link.body], link.points.mean(axis=0)[None])[0]
                labels.setdefault(link.body, (middle, theme.quiet))
    if "frames" in words:
        known = {name: (body, at) for name, body, at in s.frames}
        for name in chosen:
            body, at = known.get(name, (name, np.eye(4)))
            labels.setdefault(name, ((place[body] @ at)[:3, 3], theme.quiet))
    if labels:
        add_labels(
            stage,
            labels,
            np.concatenate([_points_along(s, poses), _points_around(s, poses)]),
            supports,
        )


def _points_along(s: Scene, poses: Floats) -> Floats:
    """Points close to one another on all links: where no letters should stand."""
    parts = np.linspace(0.0, 1.0, 20)[:, None]
    found = []
    for link, T in zip(s.links, poses, strict=True):
        points = moved(T, link.points)
        middle = points.mean(axis=0)
        found += [p + parts * (middle - p) for p in points] if link.body != GROUND else [points]
    return np.concatenate(found)


def _points_around(s: Scene, poses: Floats) -> Floats:
    """Points on the symbols of joints."""
    place = dict(zip(s.bodies, poses, strict=True))
    middles = np.array([(place[mark.child] @ mark.on_child)[:3, 3] for mark in s.joints]).reshape(
        -1, 3
    )
    ways = (
        np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
        * s.size
        / 48
    )
    return (middles[:, None] + ways).reshape(-1, 3)


def add_labels(
    stage: Stage, labels: Mapping[str, tuple[Floats, str]], busy: Floats, supports: Sequence[Floats]
) -> None:
    """Names at points of space, each with its colour, away from points of space, or of the page, that are drawn upon."""
    import matplotlib.patheffects as effects

    figure = stage.ax.get_figure(root=True)
    figure.draw_without_rendering()  # only now the axes have their place
    points = 72 / figure.dpi
    taken: list[Floats] = []  # boxes of left, lower, right, upper, in points
    upon = [stage.display(busy), *(stage.ax.transData.transform(x) for x in supports)]
    crowd, page = np.concatenate(upon) * points, stage.ax.get_window_extent().extents * points
    for name, (at, colour) in labels.items():
        here = stage.display(at[None])[0] * points
        box, offset = _best(here, name, taken, crowd, page)
        taken.append(box)
        place = stage.ax.transData.inverted().transform(here / points)
        stage.ax.annotate(
            name, xy=place, xytext=offset, textcoords="offset points", ha="center", va="center", fontsize=8, color=colour,
            zorder=LETTERS, path_effects=[effects.withStroke(linewidth=2.5, foreground=stage.theme.paper)],
            annotation_clip=False,
        )  # fmt: skip


def _best(
    here: Floats, name: str, taken: list[Floats], crowd: Floats, page: Floats
) -> tuple[Floats, Any]:
    """The box with the least in it, near first, and its middle from the point on."""
    half = np.array([WIDTH * len(name), HEIGHT]) / 2
    found: list[tuple[float, Floats, Floats]] = []
    for rank, distance in enumerate(DISTANCES):
        for order, direction in enumerate(DIRECTIONS):
            offset = direction * (distance + half * np.abs(direction) * 0.9)
            middle = here + offset
            box = np.concatenate([middle - half, middle + half])
            inside = ((crowd > box[:2]) & (crowd < box[2:])).all(axis=1).sum()
            overlaps = sum(_overlap(box, other) for other in taken)
            outside = (box[:2] < page[:2]).any() or (box[2:] > page[2:]).any()
            found.append(
                (
                    20.0 * (overlaps + outside) + float(inside) + 0.6 * rank + 0.05 * order,
                    box,
                    offset,
                )
            )
    _, box, offset = min(found, key=lambda x: x[0])
    return box, offset


def _overlap(a: Floats, b: Floats) -> bool:
    return bool((a[:2] < b[2:]).all() and (b[:2] < a[2:]).all())
