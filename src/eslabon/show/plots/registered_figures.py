"""Which function draws a result, by its type."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.bond_graph.graph import Graph
from eslabon.drawing.animation import animation as animated
from eslabon.motion.paths.frame_path import Path as FramePath
from eslabon.motion.paths.joint_path import JointPath
from eslabon.motion.trajectory import Trajectory
from eslabon.show.plots import (
    bond_graph_rendering,
    contributions_plot,
    ellipsoid_plot,
    estimates_plot,
    excitation_plot,
    identification_plot,
    linear_model_plot,
    motion_plot,
    path_plot,
    response_plot,
    workspace_map_plot,
    workspace_plot,
)
from eslabon.solve.singular.manipulability import Manipulability
from eslabon.solve.workspace.sampled_workspace import Workspace
from eslabon.solve.workspace.workspace_map import WorkspaceMap
from eslabon.systems.control.estimates import Estimates
from eslabon.systems.identification.excitation import Excitation
from eslabon.systems.identification.identification import Identification
from eslabon.systems.linear.contributions import Contributions
from eslabon.systems.linear.linear_model import LinearModel
from eslabon.systems.linear.perturbed_response import Response


@singledispatch
def figure(answer: object, **options: Any) -> Any:
    """The matplotlib figure of a result."""
    raise TypeError(f"there is no figure of {type(answer).__name__}")


figure.register(Graph, bond_graph_rendering.figure)
figure.register(Contributions, contributions_plot.figure)
figure.register(Estimates, estimates_plot.figure)
figure.register(Excitation, excitation_plot.figure)
figure.register(Identification, identification_plot.figure)
figure.register(Response, response_plot.figure)
figure.register(LinearModel, linear_model_plot.figure)
figure.register(FramePath, path_plot.figure)
figure.register(JointPath, path_plot.joint_figure)
figure.register(Manipulability, ellipsoid_plot.figure)
figure.register(Trajectory, motion_plot.figure)
figure.register(Workspace, workspace_plot.figure)
figure.register(WorkspaceMap, workspace_map_plot.figure)


@singledispatch
def animation(answer: object, **options: Any) -> Any:
    """The animation of a motion."""
    raise TypeError(f"there is no animation of {type(answer).__name__}")


@animation.register
def _(motion: Trajectory, *, path: str | Path | None = None, **options: Any) -> Any:
    m = motion.m
    assert m is not None  # `Trajectory.animate` has looked
    if motion.loads.parameters:
        values = {name: float(np.ravel(x)[0]) for name, x in motion.loads.parameters.items()}
        m = m.with_parameters(**values)
    return animated(m, motion.t, motion.q, path, **options)


@singledispatch
def svg(answer: object, **options: Any) -> str:
    """The drawing of a result as the text of an SVG."""
    raise TypeError(f"there is no drawing of {type(answer).__name__}")


svg.register(Graph, bond_graph_rendering.svg)
