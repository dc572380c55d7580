"""What is drawn over the bodies: springs, ties, named frames, centres of mass, ghosts, paths and arrows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.drawing.stage import LINES, MARKS, PlaneStage, Stage
from eslabon.model import GROUND
from eslabon.plotting import Theme, colour_map
from eslabon.scene import Arrows, Link, Scene, moved

TRIAD = 0.09  # of the size: the length of a frame's axes
ARROW = 0.30  # of the size: the length of the longest arrow
LEAST = 0.02  # of the longest arrow: shorter ones are not drawn
COILS = 8
GHOSTS = 60  # of many configurations, evenly chosen
STROKE: dict[str, Any] = {
    "linewidth": 2.0,
    "zorder": MARKS + 1,
    "solid_joinstyle": "round",
}  # of arrows


class Overlays:
    """What follows the bodies: springs, ties, couplings, and on request frames and centres of mass."""

    def __init__(self, stage: Stage, s: Scene, frames: Sequence[str], coms: bool) -> None:
        self.stage, self.s, self.theme = stage, s, stage.theme
        self.lines: list[
            tuple[Any, Any]
        ] = []  # an artist, and the function of poses that gives its points
        self._add_springs()
        self._add_ties()
        self._add_couplings()
        for frame in _wanted_frames(s, frames):
            self._add_triad(*frame)
        if coms and s.coms:
            self._add_coms()

    def _add_springs(self) -> None:
        style = {"color": self.theme.role("spring"), "linewidth": 1.4}
        for spring in self.s.springs:
            ends = spring.first, spring.start, spring.second, spring.end
            self._follow(
                lambda poses, x=ends: _coil(self.stage, *self._ends(poses, *x)),
                gid=f"spring {spring.name}",
                **style,
            )

    def _add_ties(self) -> None:
        """Broken lines between the halves of cut joints, seen where they are apart, and to bodies that are free."""
        style = {"linewidth": 1.2, "linestyle": (0, (4, 2)), "zorder": LINES / 2}
        for mark in self.s.joints:
            if mark.role == "cut" or len(mark.rotations) + len(mark.translations) == 6:
                ends = mark.parent, mark.on_parent[:3, 3], mark.child, mark.on_child[:3, 3]
                colour = self.theme.role("cut" if mark.role == "cut" else "ghost")
                self._follow(
                    lambda poses, x=ends: np.stack(self._ends(poses, *x)),
                    gid=f"tie {mark.name}",
                    color=colour,
                    **style,
                )

    def _add_couplings(self) -> None:
        """Dotted lines between joints that gears couple."""
        at = {mark.name: (mark.child, mark.on_child[:3, 3]) for mark in self.s.joints}
        style = {
            "color": self.theme.role("coupling"),
            "linewidth": 1.2,
            "linestyle": ":",
            "zorder": LINES / 2,
        }
        for c in self.s.m.couplings:
            if c.source is not None:
                ends = (*at[c.source], *at[c.joint])
                self._follow(
                    lambda poses, x=ends: np.stack(self._ends(poses, *x)),
                    gid=f"coupling {c.name}",
                    **style,
                )

    def _add_triad(self, name: str, body: str, at: Floats) -> None:
        for k, axis in enumerate("xyz"):
            style = {
                "color": self.theme.role(axis),
                "linewidth": 1.8,
                "zorder": MARKS,
                "gid": f"frame {name}",
            }
            self._follow(lambda poses, k=k: self._axis(poses, body, at, k), **style)

    def _add_coms(self) -> None:
        """A ring with a cross for each."""
        edge = {
            "linestyle": "",
            "markeredgecolor": self.theme.role("com"),
            "zorder": MARKS,
            "gid": "centres of mass",
        }
        self._follow(self._coms, marker="o", markersize=9, markerfacecolor=self.theme.paper, **edge)
        self._follow(self._coms, marker="+", markersize=8, **edge)

    def _follow(self, points: Any, **style: Any) -> None:
        start = np.zeros((2, 3))
        self.lines.append((self.stage.line(start, **style), points))

    def place(self, poses: Floats) -> None:
        for line, points in self.lines:
            self.stage.move(line, points(poses))

    def _ends(
        self, poses: Floats, first: str, start: Floats, second: str, end: Floats
    ) -> tuple[Floats, Floats]:
        places = (self.s.bodies.index(first), start), (self.s.bodies.index(second), end)
        one, other = (moved(poses[k], point[None])[0] for k, point in places)
        return one, other

    def _axis(self, poses: Floats, body: str, at: Floats, k: int) -> Floats:
        T = poses[self.s.bodies.index(body)] @ at
        return np.stack([T[:3, 3], T[:3, 3] + TRIAD * self.s.size * T[:3, k]])

    def _coms(self, poses: Floats) -> Floats:
        places = [(self.s.bodies.index(body), com) for body, (_, com) in self.s.coms.items()]
        return np.stack([moved(poses[k], com[None])[0] for k, com in places])


def _wanted_frames(s: Scene, frames: Sequence[str]) -> Iterator[tuple[str, str, Floats]]:
    named = {name: (name, body, at) for name, body, at in s.frames}
    yield from (named.get(name) or (name, name, np.eye(4)) for name in frames)


def _coil(stage: Stage, start: Floats, end: Floats) -> Floats:
    """A zigzag from point to point, straight at both ends."""
    along = end - start
    length = float(np.linalg.norm(along))
    if length < 1e-9 * stage.size:
        return np.stack([start, end])
    side = stage.side(along / length)
    place = np.concatenate([[0.0], np.linspace(0.2, 0.8, 2 * COILS + 1), [1.0]])
    swing = np.zeros(len(place))
    swing[2:-2] = stage.size / 28 * (-1.0) ** np.arange(len(place) - 4)
    return start + np.outer(place, along) + np.outer(swing, side)


# -- ghosts -----------------------------------------------------------------------------------------------------------


def skeleton(s: Scene, poses: Floats) -> Floats:
    """Lines through the points of all bodies, with gaps of NaN between them."""
    gap = np.full((1, 3), np.nan)
    lines = [
        np.concatenate([moved(T, _along(link)), gap])
        for link, T in zip(s.links, poses, strict=True)
        if link.body != GROUND
    ]
    return np.concatenate(lines) if lines else gap


def _along(link: Link) -> Floats:
    """The way through the points of a body: around them, if there are more than two."""
    return link.points if len(link.points) < 3 else np.concatenate([link.points, link.points[:1]])


def add_ghosts(stage: Stage, s: Scene, poses: Floats, fan: bool) -> None:
    """Other configurations, at most so many: pale behind the one that is drawn, or, of a fan, from dark to bright in their
    order."""
    poses = poses[np.unique(np.linspace(0, len(poses) - 1, GHOSTS).astype(int))]
    count = len(poses)
    shades = colour_map(stage.theme)(np.linspace(0.0, 1.0, max(count, 2)))[:count]
    for k, row in enumerate(poses):
        style = (
            {"color": shades[k], "alpha": 0.9}
            if fan
            else {"color": stage.theme.role("ghost"), "alpha": 0.35 + 0.5 * (k + 1) / count}
        )
        width = max(1.0, min(4.0, 24 / count))
        stage.line(skeleton(s, row), linewidth=width, zorder=1.5, gid=f"ghost {k}", **style)


# -- paths ------------------------------------------------------------------------------------------------------------


def path_style(theme: Theme, k: int) -> dict[str, Any]:
    """How the path number k is drawn."""
    style = {"color": theme.role("path")} if not k else theme.curve(k + 1)
    return {"linewidth": 1.6, "zorder": LINES, **style}


def add_paths(stage: Stage, paths: dict[str, Floats]) -> None:
    for k, (name, points) in enumerate(paths.items()):
        style = path_style(stage.theme, k)
        stage.line(points, gid=f"path {name}", **style)
        stage.line(points[-1:], marker="o", markersize=4.5, color=style["color"], zorder=LINES + 1)


# -- arrows -----------------------------------------------------------------------------------------------------------


def add_arrows(stage: Stage, arrows: Arrows, role: str) -> tuple[str, Floats]:
    """Forces as arrows, moments as arrows with two heads, the longest of each of one length; in a plane, what is normal to the
    page is a point (towards the reader) or a cross in a ring for forces, an arc for moments. Given is what the longest stand
    for, and where the arrows end."""
    told, ends = [], [np.zeros((0, 3))]
    for what, vectors, unit in (("force", arrows.forces, "N"), ("moment", arrows.moments, "N m")):
        sizes = np.linalg.norm(vectors, axis=-1)
        largest = float(sizes.max(initial=0.0))
        if largest < 1e-12:
            continue
        told.append(f"{largest:.3g} {unit}")
        scale = ARROW * stage.size / largest * (1.0 if what == "force" else 0.6)
        for name, at, vector, length in zip(
            arrows.names, arrows.points, vectors, sizes, strict=True
        ):
            style = {**STROKE, "color": stage.theme.role(role), "gid": f"{role} {name}"}
            if length > LEAST * largest:
                ends += _drawn(stage, at, vector * scale, LEAST * largest * scale, what, style)
    return ", ".join(told), np.concatenate(ends)


def _drawn(
    stage: Stage, at: Floats, vector: Floats, least: float, what: str, style: dict[str, Any]
) -> list[Floats]:
    """An arrow; in a plane its part along the page, and a sign for its part normal to it."""
    heads = 1 if what == "force" else 2
    if not isinstance(stage, PlaneStage):
        return [_add_arrow(stage, at, vector, heads, style)]
    normal = stage.plane[2] * (vector @ stage.plane[2])
    made = []
    if np.linalg.norm(vector - normal) > least:
        made.append(_add_arrow(stage, at, vector - normal, heads, style))
    if np.linalg.norm(normal) > least:
        made.append((_add_ring if what == "force" else _add_arc)(stage, at, normal, style))
    return made


def _add_arrow(
    stage: Stage, at: Floats, vector: Floats, heads: int, style: dict[str, Any]
) -> Floats:
    """A line with heads of two strokes, which look the same on both stages."""
    tip, length = at + vector, float(np.linalg.norm(vector))
    along, head = vector / length, min(0.25 * length, 0.035 * stage.size)
    side = stage.side(along)
    stage.line(np.stack([at, tip]), **style)
    for k in range(heads):
        top = tip - 0.9 * k * head * along
        stage.line(
            np.stack([top - head * (along - 0.5 * side), top, top - head * (along + 0.5 * side)]),
            **style,
        )
    return tip[None]


def _add_ring(stage: PlaneStage, at: Floats, vector: Floats, style: dict[str, Any]) -> Floats:
    """A ring with a point in it, the tip of an arrow, or with a cross, its feathers."""
    right, up, normal = stage.plane
    radius, angles = 0.022 * stage.size, np.linspace(0, 2 * np.pi, 40)
    ring = at + radius * (np.outer(np.cos(angles), right) + np.outer(np.sin(angles), up))
    stage.line(ring, **style)
    if vector @ normal > 0:
        stage.line(at[None], **{**style, "marker": "o", "markersize": 3.5})
    else:
        for across in (right + up, right - up):
            stage.line(np.stack([at - 0.7 * radius * across, at + 0.7 * radius * across]), **style)
    return ring


def _add_arc(stage: PlaneStage, at: Floats, vector: Floats, style: dict[str, Any]) -> Floats:
    """An arc around a point, the larger the moment the larger, with a head where it turns to."""
    right, up, normal = stage.plane
    turn = float(vector @ normal)
    radius = max(0.4 * abs(turn), 0.03 * stage.size)
    angles = np.sign(turn) * np.linspace(-0.3, 4.2, 40)
    arc = at + radius * (np.outer(np.cos(angles), right) + np.outer(np.sin(angles), up))
    along, out = arc[-1] - arc[-2], (arc[-1] - at) / radius
    along = along / np.linalg.norm(along)
    head = min(0.5 * radius, 0.03 * stage.size)
    stage.line(arc, **style)
    stage.line(
        np.stack(
            [arc[-1] - head * (along - 0.6 * out), arc[-1], arc[-1] - head * (along + 0.6 * out)]
        ),
        **style,
    )
    return arc
