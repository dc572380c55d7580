"""Section 7.3, figures 14 to 17: the planar 3-RRR."""

from __future__ import annotations

from functools import cache

import numpy as np

import eslabon as es
from eslabon.language import phrase
from eslabon.reproductions.comparison import PAPER, RECOMPUTED, Section
from eslabon.reproductions.document_figures import Figure, Panel, moved, three_legs
from eslabon.reproductions.verdicts import erratum, greatest, number, statement
from eslabon.reproductions.yime.motions import (
    Run,
    apart,
    motion_panels,
    motion_table,
    other_ways,
    run,
)

TORQUES = (
    ("0", "-2.251885e-04"),
    ("1", "3.606886e-05"),
    ("2", "1.847977e-04"),
    ("3", "6.293685e-04"),
)
A_MILLIONTH = "m L²/12 of a link is {rod:.4g} kg m², the printed number {printed:.4g}; read as kg mm² it would be a millionth of that."


@cache
def motion() -> Run:
    """All three motors at 6 degrees a second for 3 s (L1083)."""
    t = np.linspace(0, 3, 301)
    speed = np.full((len(t), 3), np.radians(6))
    return run(es.load("planar_3rrr"), t, np.radians(30) + speed * t[:, None], speed, 0 * speed)


def sections() -> tuple[Section, ...]:
    return said(), values()


def said() -> Section:
    r = motion()
    p = r.m.parameters
    legs = [r.column(f"theta{k}") for k in (2, 5, 7)]
    home = np.radians([30, 120, -150, 30, 120, 30, 120])
    like = max(greatest(x[:, legs] - x[:, legs[:1]]) for x in (r.q, r.v, r.a))
    rod, printed = p["m_link"] * p["L"] ** 2 / 12, p["I_across"]
    rows = [
        statement("start angles (L1079)", "close", "loops' residual, m", greatest(r.m.constraint(home))),
        statement("legs 5 and 7 (L1109)", "move like leg 2", "q, v, a apart", like),
        statement("three motors (L1122)", "same torque", "apart / greatest", apart(r.tau, r.tau[:, :1] * np.ones(3))),
        erratum("unit of inertia (L1095)", "kg mm²", "kg m²", (printed / (rod * 1e6) - 1, printed / rod - 1),
                tolerance=0.1, reason=phrase(A_MILLIONTH, rod=rod, printed=printed)),
        *other_ways(r),
    ]  # fmt: skip
    text = phrase(
        "Base radius 255, platform radius 55, links 200 mm; links 0.32841 kg, platform 0.70994 kg; the three motors turn at "
        "6°/s for 3 s. Gravity is normal to the plane. The distance l_ee between platform joints is not printed; it is "
        "sqrt(3) r_ee = {side:.3f} mm, with which the start angles close exactly.",
        side=3**0.5 * p["r_ee"] * 1e3,
    )
    return Section("7.3 Planar 3-RRR: what the paper says", text, tuple(rows), PAPER)


def values() -> Section:
    r = motion()
    k = r.column("theta2")
    rows = [
        *(number(f"t = {t}: tau1, N m", text, r.tau[r.at(float(t))[0], 0]) for t, text in TORQUES),
        number("t = 3: theta2, deg", "108.031031", np.degrees(r.q[-1, k])),
        number("t = 3: theta2', rad/s", "-0.152516", r.v[-1, k]),
        number("t = 3: theta2'', rad/s²", "-0.087662", r.a[-1, k]),
    ]
    shown = motion_table(
        r, "theta2", 0, (0, 0.5, 1, 1.5, 2, 2.5, 3), ("tau1",), "Joint 2 and the torque of motor 1"
    )
    text = "Torques, and joint 2 at the end."
    return Section("7.3 Planar 3-RRR: values", text, tuple(rows), RECOMPUTED, (shown,))


def figure() -> Figure:
    """Figures 14 to 17."""
    r = motion()
    panels = [
        *motion_panels(r, {"θ2": r.column("theta2"), "θ3": r.column("theta3")}, first=14),
        Panel(
            "Torque of each motor (figure 17)",
            "torque [mN m]",
            r.t,
            {"τ1 = τ4 = τ6": r.tau[:, 0] * 1e3},
        ),
    ]
    at, pivots = r.at(0, 1.5, 3), ("link1", "link4", "link6")
    drawing = moved("Planar 3-RRR", r.m, r.t, r.q, at, three_legs(r.m, "link"), pivots)
    caption = "The planar 3-RRR at three instants, the motion of one leg, which the other two repeat, and the torque of each motor."
    name = "figures_14_to_17_planar_3rrr"
    return Figure(name, "Planar 3-RRR: the motors turn at 6°/s", panels, drawing, caption)
