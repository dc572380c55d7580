"""Motion laws, curves in space, orientation along them, and the paths they make: pose, twist and
acceleration in time.

A law says how far along a motion is at a time, a curve where that is, and an orientation how the
frame stands there.

>>> import numpy as np
>>> path = along(arc([0, 0, 0], [1, 0, 0], [0, 0, 1], np.pi), cycloidal(2.0), orientation="minimal")
>>> path.then(path.reversed())
<Path: arc, minimal frame, cycloidal law; then arc, minimal frame, cycloidal law, reversed, 4 s>
"""

from eslabon.motion.paths.curve_chains import chain, evenly, rounded
from eslabon.motion.paths.curve_kinds import (
    arc,
    arc_through,
    curve,
    helix,
    line,
    point,
    spline,
)
from eslabon.motion.paths.frame_orientation import (
    Attitude,
    Orientation,
    fixed,
    frenet,
    minimal,
    turning,
)
from eslabon.motion.paths.frame_path import Path, Samples, along, pose_path
from eslabon.motion.paths.joint_path import JointPath, JointSamples, joint_path
from eslabon.motion.paths.path_arguments import PathError
from eslabon.motion.paths.space_curve import Curve
from eslabon.motion.paths.time_laws import (
    Law,
    cycloidal,
    quintic,
    septic,
    spline_law,
    trapezoidal,
)

__all__ = [
    "Attitude",
    "Curve",
    "JointPath",
    "JointSamples",
    "Law",
    "Orientation",
    "Path",
    "PathError",
    "Samples",
    "along",
    "arc",
    "arc_through",
    "chain",
    "curve",
    "cycloidal",
    "evenly",
    "fixed",
    "frenet",
    "helix",
    "joint_path",
    "line",
    "minimal",
    "point",
    "pose_path",
    "quintic",
    "rounded",
    "septic",
    "spline",
    "spline_law",
    "trapezoidal",
    "turning",
]


def __dir__() -> list[str]:
    """What the Tab key offers: names to use, not files."""
    return sorted(__all__)
