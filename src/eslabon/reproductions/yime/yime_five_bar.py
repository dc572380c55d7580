"""Section 7.1, figures 4 to 7: the five-bar."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import eslabon as es
from eslabon.language import phrase
from eslabon.reproductions.comparison import PAPER, RECOMPUTED, Row, Section
from eslabon.reproductions.document_figures import ORIGIN, Figure, Panel, moved
from eslabon.reproductions.verdicts import greatest, numbers, statement
from eslabon.reproductions.yime.motions import Run, motion_panels, motion_table, other_ways, run

VALUES = (  # t, theta3 and its two rates, torque on bar 2 without and with gravity
    ("0", "-1.298996272", "-0.777581488", "0.013549226", "7.368249701e-06", "-8.111649914e-03"),
    ("0.5", "-1.668938714", "-0.669321703", "0.405174968", "-9.355559369e-06", "-1.019218287e-02"),
    ("1", "-1.940857538", "-0.398142848", "0.647397241", "-2.570554661e-05", "-1.118950734e-02"),
)
NOT_CLOSED = "With the printed angles the two ends of links 3 and 4 are {gap:.3f} mm apart; the computed ones close exactly."
RELATIVE = (
    "True of the links' absolute speeds. The joint rates theta3' and theta4', which the figure is said to show, reach "
    "{passive:.3f} rad/s, the motors' {active:.3f}."
)


@cache
def motion() -> Run:
    """theta2 = 120 + 30 sin t, theta5 = 60 - 30 sin t degrees for a second (L709-715)."""
    t = np.linspace(0, 1, 1001)
    swing = np.radians(30) * np.stack([np.sin(t), np.cos(t), -np.sin(t)])[..., None] * [1, -1]
    return run(es.load("five_bar"), t, np.radians([120, 60]) + swing[0], swing[1], swing[2])


@cache
def weighed() -> Run:
    """The same with gravity along -y, which the paper leaves out."""
    r = motion()
    heavy = r.m.with_parameters(g=9.81)
    return replace(r, m=heavy, tau=r.torque(heavy))


def sections() -> tuple[Section, ...]:
    return said(), values()


def said() -> Section:
    r = motion()
    text = phrase(
        "Lengths 100, 40, 100, 100, 40 mm, masses 8.29 and 20.14 g, slender links; theta2 = 120 + 30 sin t, theta5 = 60 - 30 "
        "sin t degrees for 1 s. Without gravity the torques stay below {light:.3g} N m; with g = 9.81 m/s² along "
        "-y, which the paper leaves out, they reach {heavy:.3g} N m.",
        light=greatest(r.tau),
        heavy=greatest(weighed().tau),
    )
    rows = (*_start(r), *_sentences(r), *other_ways(r))
    return Section("7.1 Five-bar: what the paper says", text, rows, PAPER)


def _start(r: Run) -> list[Row]:
    passive = [r.column("theta3"), r.column("theta4")]
    rough = r.q[0].copy()
    rough[passive] = np.radians([-74.46, 74.46])
    reason = phrase(NOT_CLOSED, gap=np.linalg.norm(r.m.constraint(rough)) * 1e3)
    names = ("theta3 start, deg (L705)", "theta4 start, deg (L705)")
    return numbers(names, ("-74.46", "74.46"), np.degrees(r.q[0, passive]), reason=reason)


def _sentences(r: Run) -> list[Row]:
    two, three, four, five = (r.column(f"theta{k}") for k in (2, 3, 4, 5))
    passive, active = greatest(r.v[:, [three, four]]), greatest(r.v[:, [two, five]])
    tip = r.m.pose(r.q, "point")[:, 0, 3]
    return [
        statement("speeds (L729)", "greatest in 2 and 5", f"{passive:.4f} in 3 and 4", passive - active,
                  reason=phrase(RELATIVE, passive=passive, active=active)),
        statement("accelerations 2, 5 (L734)", "equal and opposite", "sum", greatest(r.a[:, two] + r.a[:, five])),
        statement("accelerations 3, 4 (L734)", "equal and opposite", "sum", greatest(r.a[:, three] + r.a[:, four])),
        statement("torques (L739)", "symmetric about 0", "sum / greatest", greatest(r.tau.sum(1)) / greatest(r.tau)),
        statement("path of the tip (L739)", "along y", f"x = {tip[0]:.3f} m", float(np.ptp(tip))),
    ]  # fmt: skip


def values() -> Section:
    r, heavy = motion(), weighed().tau
    k = r.column("theta3")
    names = ("theta3, rad", "theta3', rad/s", "theta3'', rad/s²", "tau2, N m", "tau2 with g, N m")
    rows: list[Row] = []
    for (t, *printed), i in zip(VALUES, r.at(0, 0.5, 1), strict=True):
        ours = (r.q[i, k], r.v[i, k], r.a[i, k], r.tau[i, 0], heavy[i, 0])
        rows += numbers(
            [phrase("t = {t}: {name}", t=t, name=name) for name in names], printed, ours
        )
    text = "Joint 3 and the torque on bar 2 at three instants."
    shown = motion_table(
        r, "theta3", 0, (0, 0.25, 0.5, 0.75, 1), ("tau2", "tau5"), "Joint 3 and the torques"
    )
    return Section("7.1 Five-bar: values", text, tuple(rows), RECOMPUTED, (shown,))


def figure() -> Figure:
    """Figures 4 to 7."""
    r = motion()
    torques = {"τ2": r.tau[:, 0] * 1e6, "τ5": r.tau[:, 1] * 1e6}
    panels = [
        *motion_panels(r, {f"θ{k}": r.column(f"theta{k}") for k in (2, 3, 4, 5)}, first=4),
        Panel("Torques, no gravity (figure 7)", "torque [µN m]", r.t, torques),
    ]
    tip = (0.1, 0.0, 0.0)
    line = (
        ("link2", ORIGIN),
        ("link3", ORIGIN),
        ("link3", tip),
        ("link4", ORIGIN),
        ("link5", ORIGIN),
    )
    drawing = moved("Five-bar", r.m, r.t, r.q, r.at(0, 0.5, 1), [line], pivots=("link2", "link5"))
    title = "Five-bar: θ2 = 120° + 30° sin t, θ5 = 60° - 30° sin t"
    caption = "The five-bar at three instants, the motion of its joints, and the torques of both motors, which mirror each other."
    return Figure("figures_4_to_7_five_bar", title, panels, drawing, caption)
