"""Sections 5 and 7: formulas of the print that change numbers, put back one at a time into the paper's own equations."""

from __future__ import annotations

import numpy as np

from eslabon.reproductions.comparison import FORMS, Row, Section
from eslabon.reproductions.verdicts import erratum
from eslabon.reproductions.yime import spatial_four_bar, yime_five_bar, yime_planar_3rrr
from eslabon.reproductions.yime.motions import Run
from eslabon.reproductions.yime.yime_equations import Slips

ACCELERATIONS, TORQUES = 0, 1  # which of the two departures is shown
RHO = "Of the torques. The 3-RRR section has the sign right (L1055)."


def sections() -> tuple[Section, ...]:
    five, four, three = yime_five_bar.motion(), spatial_four_bar.motion(), yime_planar_3rrr.motion()
    rows = (
        put_back("five-bar: rho (L661)", "Φp⁻¹ Φa", "-Φp⁻¹ Φa", five, Slips(rho=1.0), TORQUES, RHO),
        put_back("four-bar: rho (L844)", "Φp⁻¹ Φa", "-Φp⁻¹ Φa", four, Slips(rho=1.0), TORQUES, RHO),
        put_back("five-bar: weight (43), L518", "F_ext - F_g", "F_ext + F_g", yime_five_bar.weighed(), Slips(weight=-1.0), TORQUES,
                 "Of the torques with g = 9.81 along -y: the motors would press the links down, not hold them."),
        put_back("five-bar: A_c (L629-649)", "no speeds", "times the two speeds", five, Slips(rates=False), ACCELERATIONS,
                 "Of the accelerations."),
        put_back("four-bar: A_c (L834)", "S' and ad_S3u S3", "S' only", four, Slips(twice=True), ACCELERATIONS,
                 "Of the accelerations. S' of a universal joint already is the bracket of its two axes; the published program "
                 "makes the same mistake."),
        put_back("3-RRR: A_c (L1017, L1031)", "ad_S2 Ad S1", "ad_S1 Ad S2", three, Slips(turned=True), ACCELERATIONS,
                 "Of the accelerations. The bracket changes its sign with its order; L1037 is right."),
    )  # fmt: skip
    text = (
        "Each slip put back alone into the paper's equations, at four instants of the motion. The difference is the greatest "
        "error it makes, relative to the greatest value."
    )
    return (Section("5, 7 Formulas as printed, in use", text, rows, FORMS),)


def put_back(
    what: str, printed: str, right: str, r: Run, slips: Slips, of: int, reason: str
) -> Row:
    """The equations with and without a slip, both against eslabon."""
    instants = r.at(*np.linspace(0.2, 0.9, 4) * r.t[-1])
    errors = r.departure(instants, slips)[of], r.departure(instants)[of]
    return erratum(what, printed, right, errors, reason=reason)
