"""Section 5.6: what the gains of the modal control do to a deviation, with the exact W and with the listing's."""

from __future__ import annotations

import numpy as np

from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.reproductions.document_figures import Figure, Panel
from eslabon.reproductions.rojas.modal_gains import gains, listed
from eslabon.reproductions.rojas.rojas_tables import MIDDLE, START, Instant
from eslabon.reproductions.rojas.straight_line import linear

OFF = 0.01  # rad by which every joint starts off
CAPTION = (
    "All six joints start 0.01 rad off, about the linear model of an instant. With the gains of the exact W all of them follow the one "
    "oscillator that is asked for, and the curves coincide; with those of the listing's W, which at 0.45 s are the printed ones, they "
    "do not, and couple."
)


def figure() -> Figure:
    """Deviations about both instants of the tables, under both gains."""
    t = np.linspace(0, 10, 301)
    panels = []
    for at in (START, MIDDLE):
        for which, W in (("exact W", linear(at).W), ("listing's W", listed(at))):
            curves = {f"δθ{k + 1}": 1e3 * x for k, x in enumerate(deviations(at, W, t).T)}
            panels.append(
                Panel(
                    phrase("t = {t} s, {which}", t=at.t, which=which), "deviation [mrad]", t, curves
                )
            )
    title = "Section 5.6: a deviation under modal control"
    return Figure("section_5_6_modal_control", title, panels, caption=CAPTION)


def deviations(at: Instant, W: Floats, t: Floats) -> Floats:
    """delta theta over time of the exact model, with the gains that follow from W."""
    from scipy.linalg import expm

    lm = linear(at)
    closed = lm.A - lm.B @ np.hstack(gains(lm, W))
    step, x, made = expm(closed * (t[1] - t[0])), np.r_[np.full(6, OFF), np.zeros(6)], []
    for _ in t:
        made.append(x[:6])
        x = step @ x
    return np.array(made)
