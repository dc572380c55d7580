"""Figures 4.4.2 to 4.4.8 and 5.4.2, drawn anew: of the thesis' own only the captions are left, and two instants in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.mechanism import Floats
from eslabon.plotting import save_figure
from eslabon.reproductions.figures import Panel, sheet
from eslabon.reproductions.rojas.perturbed_path import perturbed_motion, response
from eslabon.reproductions.rojas.straight_line import law, robot, whole
from eslabon.reproductions.rojas.tables import MIDDLE, START

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
JOINTS = range(6)
AS_PRINTED, AS_IT_IS = "g upward, as printed", "g downward"


def figures(folder: Path, suffix: str) -> list[Path]:
    made = [_law(folder / f"figure_4_4_2_motion_law.{suffix}")]
    made += [_joint(folder / f"figure_4_4_{k + 3}_joint_{k + 1}.{suffix}", k) for k in JOINTS]
    made += [_both(folder / f"figure_5_4_2_joint_{k + 1}.{suffix}", k) for k in JOINTS]
    return [*made, save_figure(response().plot(), folder / f"table_5_4_2_response.{suffix}", dpi=150)]


def _printed(texts: Sequence[str]) -> tuple[Sequence[float], Sequence[float]]:
    return (START.t, MIDDLE.t), tuple(float(text) for text in texts)


def _law(path: Path) -> Path:
    t = np.linspace(0.0, 1.0, 401)
    labels = ("beta [m]", "beta' [m/s]", "beta'' [m/s²]")
    panels = [
        Panel(label.split(" [")[0], label, t, {"law": law()(t, order)}, printed=_printed((START.hand[order], MIDDLE.hand[order])))
        for order, label in enumerate(labels)
    ]  # fmt: skip
    return sheet(path, "Figure 4.4.2: the motion law, a cycloid carried by a spline with 21 nodes (inferred)", panels)


def _panels(k: int, motions: Mapping[str, Any], torques: Mapping[str, Floats]) -> list[Panel]:
    """Angle, rate, acceleration and torque of a joint, with what the tables print of the nominal motion."""
    t = whole().t
    at = (START, MIDDLE)
    return [
        Panel("angle", "angle [deg]", t, {n: np.degrees(x.q[:, k]) for n, x in motions.items()}, printed=_printed([x.angle[k] for x in at])),
        Panel("rate", "rate [rad/s]", t, {n: x.v[:, k] for n, x in motions.items()}, printed=_printed([x.rate[k] for x in at])),
        Panel("acceleration", "acceleration [rad/s²]", t, {n: x.a[:, k] for n, x in motions.items()}, printed=_printed([x.acceleration[k] for x in at])),
        Panel("torque", "torque [N m]", t, {n: x[:, k] for n, x in torques.items()}, printed=_printed([x.torque[k] for x in at])),
    ]  # fmt: skip


def _torques(gravity: float, motion: Any) -> Floats:
    return robot(gravity).inverse_dynamics(motion.q, motion.v, motion.a)


def _joint(path: Path, k: int) -> Path:
    torques = {AS_PRINTED: _torques(9.81, whole()), AS_IT_IS: _torques(-9.81, whole())}
    title = f"Figure 4.4.{k + 3}: angle, rate, acceleration and torque of the {ORDINALS[k]} joint"
    return sheet(path, title, _panels(k, {"nominal": whole()}, torques))


def _both(path: Path, k: int) -> Path:
    motions = {"nominal": whole(), "perturbed": perturbed_motion()}
    torques = {name: _torques(9.81, motion) for name, motion in motions.items()}
    title = f"Figure 5.4.2: the {ORDINALS[k]} joint, nominal and perturbed (g upward, as printed)"
    return sheet(path, title, _panels(k, motions, torques))
