"""Bodies and joints on axes of the plane: each body's outlines are drawn once, in its own plane, and then moved with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.transforms import Affine2D

from eslabon.arguments import Floats
from eslabon.drawing.joint_symbols import (
    Outline,
    Placed,
    hatching,
    hull_of_discs,
    is_cylinder,
    ring,
    support,
    symbol,
)
from eslabon.drawing.shading import AMBIENT, DIRECT, LIGHT, normals_of
from eslabon.drawing.stage import PlaneStage
from eslabon.model import GROUND
from eslabon.scene import Link, Mark, Part, Scene, SpringMark, moved

SLENDER = 48.0  # how many radii of a link the mechanism is wide
SUPPORTS, PLATES, SLIDES, LINKS, SHAPES, JOINTS = (
    2.0,
    3.0,
    4.0,
    5.0,
    8.0,
    12.0,
)  # from the lowest to the highest
DOWN = np.array([0.0, -1.0])


def _radius(s: Scene) -> float:
    """Half the width of a link: by the size of the mechanism, and less where its links are short."""
    lengths = [
        np.linalg.norm(np.ptp(link.points, axis=0))
        for link in s.links
        if len(link.points) > 1 and link.body != GROUND
    ]
    typical = float(np.median(lengths)) if lengths else s.size
    return float(np.clip(typical / 8, s.size / (3 * SLENDER), s.size / SLENDER))


class PlaneBodies:
    """The bodies of a planar mechanism."""

    def __init__(self, stage: PlaneStage, s: Scene, poses: Floats, shapes: bool = True) -> None:
        self.stage, self.s, self.theme = stage, s, stage.theme
        self.r = _radius(s)
        # The directions right and up of the page in each body's own frame, as the body stands now.
        self.bases = stage.plane[:2] @ poses[:, :3, :3]
        self.transforms = {body: Affine2D() for body in s.bodies}
        self.clad: set[str] = set()
        self.supports: list[Floats] = []  # points of the page on them
        if shapes and s.m.shapes:
            self._add_shapes([part for part in s.parts if part.role == "shape"])
        for k, link in enumerate(s.links):
            if link.body != GROUND and link.body not in self.clad:
                self._add_link(link, (LINKS if len(link.points) < 3 else PLATES) + k / len(s.links))
        joints = [self._placed(mark) for mark in s.joints]
        for joint in joints:
            self._add_joint(joint)
        self._add_supports(joints, poses)
        self.place(poses)

    def place(self, poses: Floats) -> None:
        """Bring every body to its pose `(bodies, 4, 4)`."""
        for body, T, basis in zip(self.s.bodies, poses, self.bases, strict=True):
            R, p = self.stage.plane[:2] @ T[:3, :3] @ basis.T, self.stage.plane[:2] @ T[:3, 3]
            self.transforms[body].set_matrix(
                np.array([[*R[0], p[0]], [*R[1], p[1]], [0.0, 0.0, 1.0]])
            )

    def _own(self, body: str, points: Floats) -> Floats:
        """Points of a body in its plane."""
        return np.asarray(points) @ self.bases[self.s.bodies.index(body)].T

    def _carried(self, artist: Any, body: str) -> Any:
        artist.set_transform(self.transforms[body] + self.stage.ax.transData)
        return artist

    # -- bodies ---------------------------------------------------------------------------------------------------

    def _add_link(self, link: Link, zorder: float) -> None:
        points = self._own(link.body, link.points)
        width = 0.8 if len(points) > 1 else 1.3
        outline = Polygon(
            hull_of_discs(points, width * self.r), closed=True, facecolor=self.theme.role("link"), edgecolor=self.theme.paper,
            linewidth=1.0, joinstyle="round", zorder=zorder,
        )  # fmt: skip
        outline.set_gid(f"body {link.body}")
        self.stage.ax.add_patch(self._carried(outline, link.body))

    def _add_shapes(self, parts: list[Part]) -> None:
        """What the model says that bodies look like: the triangles that look at the reader, shaded, the nearest last."""
        for k, part in enumerate(parts):
            self.clad.add(part.body)
            right, up = self.bases[self.s.bodies.index(part.body)]
            axes = np.array([right, up, np.cross(right, up)])
            triangles = part.vertices[part.faces] @ axes.T
            normals = normals_of(triangles)
            seen = np.flatnonzero(normals[:, 2] > 1e-9)
            seen = seen[np.argsort(triangles[seen, :, 2].mean(axis=1), kind="stable")]
            bright = AMBIENT + DIRECT * np.clip(normals[seen] @ LIGHT, 0.0, 1.0)
            colours = np.clip(
                np.outer(bright, to_rgb(part.colour or self.theme.role("link"))), 0.0, 1.0
            )
            solid = PolyCollection(
                triangles[seen, :, :2],
                facecolor=colours,
                edgecolor=colours,
                linewidth=0.4,
                zorder=SHAPES + k / len(parts),
            )
            self.stage.ax.add_collection(self._carried(solid, part.body), autolim=False)

    # -- joints ---------------------------------------------------------------------------------------------------

    def _placed(self, mark: Mark) -> Placed:
        inner, outer = mark.on_parent, mark.on_child
        ends = self._own(mark.parent, inner[:3, 3]), self._own(mark.child, outer[:3, 3])
        if not len(mark.translations):
            return Placed(mark, *ends, None, None)
        along = mark.translations[0]
        return Placed(
            mark,
            *ends,
            self._own(mark.parent, inner[:3, :3] @ along),
            self._own(mark.child, outer[:3, :3] @ along),
        )

    def _add_joint(self, joint: Placed) -> None:
        colour = self.theme.role(joint.mark.role)
        for outline in symbol(joint, self.r):
            zorder = SLIDES if outline.below else JOINTS
            drawn = self._carried(
                self._artist(outline, colour, zorder, joint.mark.role), outline.body
            )
            drawn.set_gid(f"joint {joint.mark.name}")
            self.stage.ax.add_artist(drawn)
        if joint.mark.role == "cut" and not len(joint.mark.translations):
            around = Outline(joint.mark.child, joint.on_child + ring(1.75 * self.r), "")
            self.stage.ax.add_artist(
                self._carried(self._artist(around, colour, JOINTS, "cut", ":"), around.body)
            )

    def _artist(
        self, outline: Outline, colour: str, zorder: float, role: str, style: Any = "-"
    ) -> Any:
        if not outline.fill:
            return Line2D(
                *outline.points.T, color=colour, linewidth=1.4, linestyle=style, zorder=zorder
            )
        fill = self.theme.paper if outline.fill == "paper" else colour
        edge = self.theme.role("joint") if role == "actuated" else colour
        return Polygon(
            outline.points,
            closed=True,
            facecolor=fill,
            edgecolor=edge,
            linewidth=1.4,
            joinstyle="round",
            zorder=zorder,
        )

    # -- the ground -----------------------------------------------------------------------------------------------

    def _add_supports(self, joints: list[Placed], poses: Floats) -> None:
        lines: list[Floats] = []
        for joint in (x for x in joints if GROUND in (x.mark.parent, x.mark.child)):
            mark = joint.mark
            at, other = (
                (joint.on_parent, mark.child)
                if mark.parent == GROUND
                else (joint.on_child, mark.parent)
            )
            here = self.stage.on_page(poses[0][:3, 3]) + at  # the ground's plane is the page's
            if (
                len(mark.translations) == 1
                and not is_cylinder(mark, self.r)
                and joint.along_parent is not None
            ):
                if mark.parent == GROUND:
                    lines += self._rail(joint, here)
            elif len(mark.translations) < 2:
                triangle, strokes = support(here, self._free_direction(here, other, poses), self.r)
                self.supports.append(
                    np.concatenate([*np.linspace(triangle[:-1], triangle[1:], 6), *strokes])
                )
                self._add_support(triangle)
                lines += strokes
        lines += [stroke for spring in self.s.springs for stroke in self._hook(spring, poses)]
        if lines:
            colour = self.theme.role("ground")
            self.stage.ax.add_collection(
                LineCollection(lines, colors=colour, linewidths=1.0, zorder=SUPPORTS), autolim=False
            )

    def _hook(self, spring: SpringMark, poses: Floats) -> list[Floats]:
        """The hatching where a spring hangs on the ground."""
        place = dict(zip(self.s.bodies, poses, strict=True))
        start, end = (
            self.stage.on_page(moved(place[body], point[None]))[0]
            for body, point in ((spring.first, spring.start), (spring.second, spring.end))
        )
        if GROUND not in (spring.first, spring.second) or np.linalg.norm(end - start) < self.r:
            return []
        at, other = (start, end) if spring.first == GROUND else (end, start)
        if any(np.linalg.norm(points - at, axis=1).min() < self.r for points in self.supports):
            return []  # it hangs on a pin
        away = (at - other) / np.linalg.norm(at - other)
        side = 1.8 * self.r * np.array([-away[1], away[0]])
        return hatching(at - side, at + side, away, self.r)

    def _add_support(self, triangle: Floats) -> None:
        colours = {"facecolor": self.theme.grid, "edgecolor": self.theme.role("ground")}
        self.stage.ax.add_patch(
            Polygon(
                triangle, closed=True, linewidth=1.0, joinstyle="round", zorder=SUPPORTS, **colours
            )
        )

    def _rail(self, joint: Placed, here: Floats) -> list[Floats]:
        """The hatching along a rail, on the side that is down, or right of an upright one."""
        along, (low, high) = joint.along_parent, joint.mark.reach
        assert along is not None
        side = np.array([along[1], -along[0]])
        side = side if side[1] < -1e-6 or (abs(side[1]) <= 1e-6 and side[0] > 0) else -side
        foot = here + 1.6 * self.r * side
        return hatching(foot + low * along, foot + high * along, side, self.r)

    def _free_direction(self, here: Floats, other: str, poses: Floats) -> Floats:
        """Where a support does not lie under its link: below it, else above, right or left."""
        k = self.s.bodies.index(other)
        link = self.s.links[k]
        ends = self.stage.on_page(moved(poses[k], link.points)) - here
        away = ends[np.linalg.norm(ends, axis=1) > self.r]
        if not len(away):
            return DOWN
        units = away / np.linalg.norm(away, axis=1, keepdims=True)
        candidates = np.array([DOWN, -DOWN, [1.0, 0.0], [-1.0, 0.0]])
        nearest = (candidates @ units.T).max(axis=1)
        return np.asarray(candidates[0] if nearest[0] < 0.8 else candidates[int(nearest.argmin())])
