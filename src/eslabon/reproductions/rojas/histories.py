"""Figures 4.4.1 to 4.4.8 and 5.4.2, drawn anew: of the thesis' own only the captions are left, and two instants in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.reproductions.document_figures import ORIGIN, Figure, Panel, moved
from eslabon.reproductions.rojas.perturbed_path import perturbed_motion, response
from eslabon.reproductions.rojas.rojas_tables import MIDDLE, START
from eslabon.reproductions.rojas.straight_line import law, robot, whole

JOINTS = range(6)
AS_PRINTED, AS_IT_IS = "g upward, as printed", "g downward"
BODIES = ("link1", "link2", "link3", "link4", "link5", "link6", "tool")

MOVE = (
    "The T3 at the start, halfway and at the end, its hand on a straight line of one metre; and the motion law, which the thesis does not "
    "print: a cycloid carried by a spline with 21 nodes, inferred from the two printed instants (dots)."
)
HISTORY = "The printed instants (dots) lie on the computed curves; the torques do so with gravity upward, as the listing has it."
BOTH = "The hand on the straight line, and on the one with a bump of 30 mm. Dots are printed values of the nominal motion."
RESPONSE = (
    "By how much the torques change from the nominal to the perturbed motion: exactly, and by the linear model with the exact U, V "
    "and W. Joint 6 is left out: nothing acts on it."
)


def figures() -> list[Figure]:
    return [move(), *(joint(k) for k in JOINTS), *(both(k) for k in JOINTS), linear_response()]


def _printed(texts: Sequence[str]) -> tuple[Sequence[float], Sequence[float]]:
    return (START.t, MIDDLE.t), tuple(float(text) for text in texts)


def move() -> Figure:
    """Figures 4.4.1 and 4.4.2."""
    t, motion = np.linspace(0.0, 1.0, 401), whole()
    panels = [
        Panel(
            title,
            label,
            t,
            {"law": law()(t, order)},
            printed=_printed((START.hand[order], MIDDLE.hand[order])),
        )
        for order, (title, label) in enumerate(
            (
                ("Position of the hand", "β [m]"),
                ("Velocity", "β' [m/s]"),
                ("Acceleration", "β'' [m/s²]"),
            )
        )
    ]
    line = [(body, ORIGIN) for body in BODIES]
    drawing = moved("T3", robot(), motion.t, motion.q, (0, 50, 100), [line], ("link1",), solid=True)
    title = "Figures 4.4.1 and 4.4.2: the straight-line move of the T3, and its motion law"
    return Figure("figure_4_4_2_motion_law", title, panels, drawing, MOVE)


def _panels(k: int, motions: Mapping[str, Any], torques: Mapping[str, Floats]) -> list[Panel]:
    """Angle, rate, acceleration and torque of a joint, with what the tables print of the nominal motion."""
    t, at = whole().t, (START, MIDDLE)
    return [
        Panel("Angle", "angle [°]", t, {n: np.degrees(x.q[:, k]) for n, x in motions.items()}, printed=_printed([x.angle[k] for x in at])),
        Panel("Rate", "rate [rad/s]", t, {n: x.v[:, k] for n, x in motions.items()}, printed=_printed([x.rate[k] for x in at])),
        Panel("Acceleration", "acceleration [rad/s²]", t, {n: x.a[:, k] for n, x in motions.items()},
              printed=_printed([x.acceleration[k] for x in at])),
        Panel("Torque", "torque [N m]", t, {n: x[:, k] for n, x in torques.items()}, printed=_printed([x.torque[k] for x in at])),
    ]  # fmt: skip


def _torques(gravity: float, motion: Any) -> Floats:
    return robot(gravity).inverse_dynamics(motion.q, motion.v, motion.a)


def joint(k: int) -> Figure:
    """Figures 4.4.3 to 4.4.8."""
    torques = {AS_PRINTED: _torques(9.81, whole()), AS_IT_IS: _torques(-9.81, whole())}
    title = phrase("Figure 4.4.{n}: joint {k}", n=k + 3, k=k + 1)
    return Figure(
        f"figure_4_4_{k + 3}_joint_{k + 1}",
        title,
        _panels(k, {"nominal": whole()}, torques),
        caption=HISTORY,
    )


def both(k: int) -> Figure:
    """Figure 5.4.2."""
    motions = {"nominal": whole(), "perturbed": perturbed_motion()}
    torques = {name: _torques(9.81, motion) for name, motion in motions.items()}
    title = phrase("Figure 5.4.2: joint {k}, nominal and perturbed (g upward, as printed)", k=k + 1)
    return Figure(f"figure_5_4_2_joint_{k + 1}", title, _panels(k, motions, torques), caption=BOTH)


def linear_response() -> Figure:
    """Table 5.4.2 over the whole motion."""
    r, t = response(), whole().t
    panels = [
        Panel(phrase("Joint {k}", k=k + 1), "change of torque [N m]", t, {"true": r.true[:, k], "linear": r.linear[:, k]})
        for k in range(5)
    ]  # fmt: skip
    left = {f"{k + 1}": np.abs(r.residual[:, k]) for k in range(4)}
    panels.append(Panel("What the linear model leaves, by joint", "|linear - true| [N m]", t, left))
    title = "Table 5.4.2 over the whole motion: linear and true response"
    return Figure("table_5_4_2_response", title, panels, caption=RESPONSE)
