"""Which function draws a result, by its type."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any

from eslabon.drawing.animation import animation as animated
from eslabon.show.plots import (
    ellipsoid_plot,
    joint_motion_plot,
    linear_model_plot,
    workspace_map_plot,
    workspace_plot,
)
from eslabon.solve.joint_motion import JointMotion
from eslabon.solve.singular.manipulability import Manipulability
from eslabon.solve.workspace.sampled_workspace import Workspace
from eslabon.solve.workspace.workspace_map import WorkspaceMap
from eslabon.systems.linear.linear_model import LinearModel


@singledispatch
def figure(answer: object, **options: Any) -> Any:
    """The matplotlib figure of a result."""
    raise TypeError(f"there is no figure of {type(answer).__name__}")


figure.register(JointMotion, joint_motion_plot.figure)
figure.register(LinearModel, linear_model_plot.figure)
figure.register(Manipulability, ellipsoid_plot.figure)
figure.register(Workspace, workspace_plot.figure)
figure.register(WorkspaceMap, workspace_map_plot.figure)


@singledispatch
def animation(answer: object, **options: Any) -> Any:
    """The animation of a motion."""
    raise TypeError(f"there is no animation of {type(answer).__name__}")


@animation.register
def _(motion: JointMotion, *, path: str | Path | None = None, **options: Any) -> Any:
    return animated(motion.model, motion.t, motion.q, path, **options)
