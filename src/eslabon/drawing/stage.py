"""The paper: lines, marks, arrows and letters at points of space, on axes of the plane or of space.

What follows a moving mechanism is drawn once and then moved; both stages take points `(n, 3)` in the ground's frame.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.plotting import Theme, equal_axes, theme_at

LINES, MARKS, LETTERS = 20.0, 30.0, 40.0  # what lies above what: bodies are below


class Stage(ABC):
    """Axes of matplotlib, and how points of space come onto them."""

    def __init__(self, ax: Any, size: float, theme: Theme | None = None) -> None:
        self.ax, self.size, self.theme = ax, size, theme or theme_at(ax)

    @abstractmethod
    def line(self, points: Floats, **style: Any) -> Any:
        """A line through points."""

    @abstractmethod
    def move(self, line: Any, points: Floats) -> None:
        """The same line through other points."""

    @abstractmethod
    def display(self, points: Floats) -> Floats:
        """Where points are on the page, in pixels `(n, 2)`."""

    @abstractmethod
    def side(self, direction: Floats) -> Floats:
        """A direction across another one that can be seen."""

    @abstractmethod
    def frame(self, points: Floats) -> None:
        """Axes of equal scales around all that is drawn."""


class PlaneStage(Stage):
    """Axes that show a plane: points are projected onto its directions right and up."""

    def __init__(self, ax: Any, size: float, plane: Floats, theme: Theme | None = None) -> None:
        super().__init__(ax, size, theme)
        self.plane = plane

    def on_page(self, points: Floats) -> Floats:
        """Right and up of points."""
        return np.asarray(points) @ self.plane[:2].T

    def line(self, points: Floats, **style: Any) -> Any:
        return self.ax.plot(
            *self.on_page(points).T, **{"zorder": LINES, "solid_capstyle": "round", **style}
        )[0]

    def move(self, line: Any, points: Floats) -> None:
        line.set_data(*self.on_page(points).T)

    def display(self, points: Floats) -> Floats:
        return np.asarray(self.ax.transData.transform(self.on_page(points)))

    def side(self, direction: Floats) -> Floats:
        return np.cross(self.plane[2], direction)

    def frame(self, points: Floats) -> None:
        page = self.on_page(points)
        low, high = page.min(axis=0), page.max(axis=0)
        least = 0.4 * (high - low).max()  # a room for the ticks of the shorter side
        around = np.stack([low, high]) + np.outer(
            [-0.5, 0.5], np.maximum(least - (high - low), 0.0)
        )
        equal_axes(self.ax, around, names=self._names(), margin=0.02)
        self.ax.set_aspect("equal", adjustable="box")  # nothing is cut off

    def _names(self) -> tuple[str, str]:
        """What the ground's axes are called that lie right and up, if they do."""
        found = []
        for row, other in zip(self.plane[:2], ("right", "up"), strict=True):
            k = int(np.abs(row).argmax())
            plain = abs(abs(row[k]) - 1) < 1e-9
            found.append(("-" * int(row[k] < 0) + "xyz"[k]) if plain else other)
        return found[0], found[1]


class SpaceStage(Stage):
    """Axes of space."""

    def line(self, points: Floats, **style: Any) -> Any:
        return self.ax.plot(
            *np.asarray(points).T, **{"zorder": LINES, "solid_capstyle": "round", **style}
        )[0]

    def move(self, line: Any, points: Floats) -> None:
        line.set_data_3d(*np.asarray(points).T)

    def display(self, points: Floats) -> Floats:
        from mpl_toolkits.mplot3d import proj3d

        x, y, _ = proj3d.proj_transform(*np.asarray(points).T, self.ax.get_proj())
        return np.asarray(self.ax.transData.transform(np.column_stack([x, y])))

    def side(self, direction: Floats) -> Floats:
        across = np.cross(np.eye(3)[np.abs(direction).argmin()], direction)
        return np.asarray(across / np.linalg.norm(across))

    def frame(self, points: Floats) -> None:
        equal_axes(self.ax, points, margin=0.0)
        self.aligned = self._hide_depth()
        sides = [getattr(self.ax, f"get_{x}lim3d")() for x in "xyz"]
        self.corners = np.array([[x, y, z] for x in sides[0] for y in sides[1] for z in sides[2]])

    def _hide_depth(self) -> bool:
        """No ticks on an axis that is looked along; whether there is one."""
        across, up = (
            row[:3] / np.linalg.norm(row[:3]) for row in np.asarray(self.ax.get_proj())[:2]
        )
        for x, depth in zip("xyz", np.abs(np.cross(across, up)), strict=True):
            if depth > 0.999:
                getattr(self.ax, f"set_{x}ticks")([])
                getattr(self.ax, f"set_{x}label")("")
                return True
        return False

    def fill(self, room: Any) -> None:
        """Make the box as large as a room (left, lower, right, upper) in pixels, and put it there; names and ticks of its axes
        stand outside of it."""
        figure, aspect = self.ax.get_figure(root=True), np.ptp(self.corners, axis=0)
        room, zoom = np.reshape(room, (2, 2)), 1.0
        for artist in (*self.ax.lines, *self.ax.collections):
            artist.set_clip_on(False)  # the axes are a square, and what they show may be wider
        for _ in range(2):
            self.ax.set_box_aspect(aspect / aspect.max(), zoom=zoom)
            self.ax.apply_aspect()
            page = self.display(self.corners)
            zoom *= float((np.ptp(room, axis=0) / np.ptp(page, axis=0)).min())
        shift = (room.mean(axis=0) - (page.min(axis=0) + page.max(axis=0)) / 2) / figure.bbox.size
        self.ax.set_position(self.ax.get_position().translated(*shift))
