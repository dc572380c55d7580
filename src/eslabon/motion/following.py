"""The joints' motion that takes a frame along a path: solved at instants, as one trajectory."""

from __future__ import annotations

from typing import Any

from eslabon.model import Model
from eslabon.motion.signals import Statistics
from eslabon.motion.trajectory import Trajectory, columns
from eslabon.solve import path_following


def follow(
    m: Model, path: path_following.Followed, guess: Any = None, **options: Any
) -> Trajectory:
    """The trajectory of all joints along a path of a frame; see `Mechanism.follow`. Beside q, v and
    a it has the groups "distance" and "angle" (what is missing to the path, in metres and radians),
    "slip" (what is missing to its velocities) and "condition" (the condition number).

    >>> import numpy as np
    >>> import eslabon as es
    >>> way = es.paths.along(es.paths.line([1.2, 0.5, 0], [1.0, 1.0, 0]), es.paths.quintic(1.0))
    >>> follow(es.load("elbow"), way, part="position", times=np.linspace(0, 1, 5)).q.shape
    (5, 2)
    """
    made = path_following.follow(m, path, guess, **options)
    words = ("q", "v", "a", "distance", "angle", "slip", "condition")
    groups = {word: getattr(made, word) for word in words}
    assert made.t is not None  # those of the path
    design = made.model  # that was asked for
    return Trajectory(made.t, groups, columns(m), m.name, {}, Statistics("follow"), design)
