"""Mechanisms drawn in place, for tests: joints at points with axes, loops closed as drawn."""

from __future__ import annotations

import numpy as np

from eslabon.mechanism import Builder, Mechanism

X, Y, Z = np.eye(3)
LETTERS = {
    "R": "revolute", "P": "prismatic", "H": "helical", "C": "cylindrical", "U": "universal", "S": "spherical",
    "E": "planar", "F": "free", "W": "fixed",
}  # fmt: skip


class Drawn:
    """A mechanism drawn in place: each joint at a point with an axis, all coordinates zero as drawn."""

    def __init__(self, name="drawn", move=None, scale=1.0):
        self.builder, self.move, self.scale = (
            Builder(name),
            np.eye(4) if move is None else move,
            scale,
        )
        self.origin = {"ground": np.zeros(3)}

    def _pose(self, body, point):
        local = np.eye(4)
        local[:3, 3] = self.scale * np.asarray(point, dtype=float) - self.origin[body]
        return self.move @ local if body == "ground" else local

    def _data(self, letter, axis, pitch):
        data = {} if letter in "SFW" else {"axis": axis}
        return data | ({"pitch": pitch * self.scale} if letter == "H" else {})

    def joint(self, name, letter, parent, child, point, axis=Z, pitch=0.3):
        if child not in self.origin:
            self.builder.body(child)
            self.origin[child] = self.scale * np.asarray(point, dtype=float)
            self.builder.joint(
                name,
                LETTERS[letter],
                parent,
                child,
                self._pose(parent, point),
                **self._data(letter, axis, pitch),
            )
        else:
            ends = self._pose(parent, point), self._pose(child, point)
            self.builder.loop(
                name, LETTERS[letter], parent, child, *ends, **self._data(letter, axis, pitch)
            )
        return self

    def ring(self, letters, points, axes):
        """A single loop of joints from the ground back to it."""
        bodies = ["ground", *(f"b{k}" for k in range(1, len(letters))), "ground"]
        for k, (letter, point, axis) in enumerate(zip(letters, points, axes, strict=True)):
            self.joint(f"j{k + 1}", letter, bodies[k], bodies[k + 1], point, axis)
        return self

    def build(self, *actuated) -> Mechanism:
        return self.builder.actuate(*actuated).build()


def ring(letters, points, axes, **where):
    return Drawn("ring", **where).ring(letters, points, axes).build()


def planar_points(n, rng):
    """Points around a circle, uneven, in the plane z = 0."""
    angles = 2 * np.pi * np.arange(n) / n + rng.uniform(-0.2, 0.2, n)
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(n)]) * rng.uniform(
        0.8, 1.2, (n, 1)
    )


def unit(n, rng):
    u = rng.normal(size=(n, 3))
    return u / np.linalg.norm(u, axis=1)[:, None]


def legs(letters, place, platform="platform", n=3, **where):
    """A platform on legs; place(leg, joint) gives a point and an axis."""
    drawn = Drawn("legs", **where)
    for leg in range(n):
        bodies = ["ground", *(f"leg{leg}_{k}" for k in range(1, len(letters))), platform]
        for k, letter in enumerate(letters):
            drawn.joint(f"{letter}{leg}_{k}", letter, bodies[k], bodies[k + 1], *place(leg, k))
    return drawn


def planar_leg(leg, k):
    angle = 2 * np.pi * leg / 3 + (0.0, 0.4, -0.1)[k]
    return (3 - k) * np.array([np.cos(angle), np.sin(angle), 0]), Z


def spatial_leg(leg, k):
    """Six legs from a large hexagon up to a small one, the joints along each."""
    foot, head = (
        np.array([np.cos(x), np.sin(x), 0])
        for x in (np.pi * leg / 3 + 0.2 * (-1) ** leg, np.pi * leg / 3 - 0.3 * (-1) ** leg)
    )
    line = 0.5 * head + [0, 0, 1] - foot
    return foot + (0, 0.4, 1)[k] * line, line
