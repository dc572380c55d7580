"""The motion of joints in time as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eslabon.model.configuration import coordinate_columns, velocity_columns
from eslabon.plotting import InTime, by_unit, saved, time_figure
from eslabon.solve.joint_motion import JointMotion


def figure(motion: JointMotion, *, theme: str | None = None, path: str | Path | None = None) -> Any:
    """See `JointMotion.plot`."""
    q, v = coordinate_columns(motion.model), velocity_columns(motion.model)
    drawn = by_unit("coordinates", [(str(c), c.unit) for c in q], motion.q)
    drawn += by_unit("velocities", [(str(c), c.unit) for c in v], motion.v)
    drawn += by_unit("accelerations", [(str(c), f"{c.unit}²") for c in v], motion.a)
    most, least = np.max(motion.condition, initial=1.0), np.min(motion.condition, initial=np.inf)
    curves = {"condition number": motion.condition}
    drawn.append(InTime("conditioning", "", curves, log=bool(most > 10 * least)))
    assert motion.t is not None  # `JointMotion.plot` has looked
    title = f"{motion.model.name} along a path"
    return saved(time_figure(motion.t, drawn, theme=theme, title=title), path)
