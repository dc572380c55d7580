"""Section 3.6: the path of the manipulator E2 on a sphere and a cylinder, its Frenet frame and the hand's rotation along it.

The robot's lengths and the numbers a and b of the path are not printed. a scales the path and b shifts it; what the figure shows
is the same for all: lengths in units of a, b = 0.
"""

from __future__ import annotations

import numpy as np

from eslabon.motion import paths
from eslabon.reproductions.document_figures import Drawing, Figure, Panel
from eslabon.reproductions.rojas.path_program import sphere_cylinder, splined_cycloid

DURATION = 60.0  # seconds for a turn (L1437)
CAPTION = (
    "The upper meeting of a sphere and a cylinder, with the tangent, normal and binormal that orient the hand; curvature and torsion; and "
    "the hand's angular velocity, in its own axes: the tangent's component is the torsion, the binormal's the curvature, times the "
    "speed; there is none along the normal. Lengths in units of a, which is not printed, as the robot's own are not."
)
AXES = 0.7  # length of the drawn axes


def figure() -> Figure:
    """Of figures 3.6.1 to 3.6.8 what does not depend on the robot."""
    curve = sphere_cylinder(1.0, 0.0)
    path = paths.along(curve, splined_cycloid(DURATION), "frenet")
    t, s = np.linspace(0, DURATION, 241), np.linspace(0, 1, 241)
    poses = path.pose(t)
    spin = np.einsum("kji,kj->ki", poses[:, :3, :3], path.twist(t)[:, :3])
    panels = [
        Panel("Curvature and torsion", "per length a", 2 * np.pi * s, {"κ": curve.curvature(s), "τ": curve.torsion(s)}, "β [rad]"),
        Panel("Position", "in units of a", t, {name: poses[:, k, 3] for k, name in enumerate("xyz")}),
        Panel("Angular velocity in the hand's axes", "ω [rad/s]", t, {name: spin[:, k] for k, name in enumerate(("tangent", "normal", "binormal"))}),
        Panel("Speed", "|v| / a [1/s]", t, {"": np.linalg.norm(path.twist(t)[:, 3:], axis=1)}),
    ]  # fmt: skip
    title = "Section 3.6: path synthesis on a sphere and a cylinder"
    return Figure("section_3_6_path_synthesis", title, panels, _frames(poses), CAPTION)


def _frames(poses: np.ndarray) -> Drawing:
    chosen = poses[20:-20:25]
    lines = {"path": [poses[:, :3, 3]]}
    for k, name in enumerate(("tangent", "normal", "binormal")):
        lines[name] = [np.stack([T[:3, 3], T[:3, 3] + AXES * T[:3, k]]) for T in chosen]
    return Drawing(
        "Path and Frenet frame", lines, np.zeros((0, 3)), solid=True, coloured=True, unit="a"
    )
