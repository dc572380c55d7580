"""Section 7.2, figures 9 to 12: the spatial four-bar. What became of its torque in print is in `published_torque`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import eslabon as es
from eslabon.language import phrase
from eslabon.mechanism import Floats
from eslabon.reproductions.comparison import PAPER, RECOMPUTED, Row, Section
from eslabon.reproductions.document_figures import ORIGIN, Figure, Panel, moved
from eslabon.reproductions.verdicts import greatest, number, numbers, statement
from eslabon.reproductions.yime.motions import (
    Run,
    apart,
    motion_panels,
    motion_table,
    other_ways,
    run,
)

# Joint, part, and the extremes of angle, rate and acceleration over a turn in degrees. Those of theta3u'' are
# by_the_paper's: a grid of whole seconds misses them and shows 4.132.
RANGES = (
    ("theta4", "theta4", 0, ("112.774", "149.644"), ("-2.077", "2.077"), ("-0.149", "0.244")),
    ("theta3u", "theta3", 0, ("-72.429", "72.429"), ("-18.947", "18.947"), ("-4.207", "4.207")),
    ("theta3", "theta3", 1, ("97.582", "115.916"), ("-1.887", "1.887"), ("-0.277", "0.834")),
)
UNITS = ("deg", "deg/s", "deg/s²")


@cache
def motion() -> Run:
    """One turn at 1 rpm from theta2 = 90 degrees (L876, L880)."""
    t = np.linspace(0, 60, 2401)
    speed = np.full((len(t), 1), 2 * np.pi / 60)
    return run(es.load("spatial_four_bar"), t, np.pi / 2 + speed * t[:, None], speed, 0 * speed)


@cache
def with_gravity() -> dict[str, Floats]:
    """The torque if there is gravity, which the paper leaves out."""
    r = motion()
    down = es.Mechanism(replace(r.m.description, gravity=(0.0, 0.0, -9.81)))
    return {
        "g along -y": r.torque(r.m.with_parameters(g=9.81))[:, 0],
        "g along -z": r.torque(down)[:, 0],
    }


def sections() -> tuple[Section, ...]:
    return said(), values()


def said() -> Section:
    r = motion()
    passive = [r.column("theta4"), r.column("theta3"), r.column("theta3", 1)]
    most = [np.ptp(r.q[:, passive], axis=0), *(np.abs(x[:, passive]).max(0) for x in (r.v, r.a))]
    names = ("theta4 start, deg (L880)", "theta3u start, deg (L880)", "theta3 start, deg (L880)")
    rows = [
        *numbers(names, ("112.77", "0", "97.58"), np.degrees(r.q[0, passive])),
        *(
            statement(phrase("{what} (L{line})", what=what, line=line), "greatest in theta3u", f"{np.degrees(m[1]):.4g}°", float(max(m[0], m[2]) - m[1]))
            for what, line, m in zip(("range", "rate", "acceleration"), (884, 898, 900), most, strict=True)
        ),
        statement("one turn", "comes back", "end - start", greatest(r.q[-1, passive] - r.q[0, passive])),
        *other_ways(r, 13),
    ]  # fmt: skip
    text = (
        "RSUR, lengths 150, 50, 120, 120 mm, masses 0.1, 0.4, 0.4 kg, slender links; the crank turns once in 60 s. With gravity "
        "along -z only crank and coupler are lifted, by half the height of the crank's tip each: a closed form."
    )
    return Section("7.2 Spatial four-bar: what the paper says", text, tuple(rows), PAPER)


def values() -> Section:
    r = motion()
    text = "Extremes of the passive joints and of the torque. Those of theta3u'' are by the paper's equations, number by number."
    shown = motion_table(
        r, "theta3", 0, (0, 10, 20, 30, 40, 50, 60), ("tau2",), "Joint theta3u and the torque"
    )
    rows = (*_ranges(r), *_torques(r))
    return Section("7.2 Spatial four-bar: values over a turn", text, rows, RECOMPUTED, (shown,))


def _ranges(r: Run) -> list[Row]:
    rows: list[Row] = []
    for name, joint, part, *printed in RANGES:
        k = r.column(joint, part)
        for unit, x, texts in zip(
            UNITS, np.degrees([r.q[:, k], r.v[:, k], r.a[:, k]]), printed, strict=True
        ):
            rows += numbers(
                [
                    phrase("{name}, {which}, {unit}", name=name, which=which, unit=unit)
                    for which in ("least", "greatest")
                ],
                texts,
                (x.min(), x.max()),
            )
    return rows


def _torques(r: Run) -> list[Row]:
    p, (sideways, upright) = r.m.parameters, with_gravity().values()
    closed_form = (p["m2"] + p["m3"]) / 2 * p["L2"] * 9.81 * np.sin(r.q[:, r.column("theta2")])
    return [
        number("torque, greatest, N m", "3.943e-06", greatest(r.tau)),
        number("with g along -y, greatest, N m", "0.2316", greatest(sideways)),
        number("with g along -z, greatest, N m", "0.122625", greatest(upright)),
        statement("with g along -z, all angles", "(m2+m3)/2 L2 g sin theta2", "tau - tau without g",
                  apart(upright - r.tau[:, 0], closed_form)),
    ]  # fmt: skip


def figure() -> Figure:
    """Figures 9 to 12."""
    r = motion()
    columns = {"θ4": r.column("theta4"), "θ3u": r.column("theta3"), "θ3": r.column("theta3", 1)}
    panels = [
        *motion_panels(r, columns, first=9),
        Panel("Torque, no gravity (figure 12)", "torque [µN m]", r.t, {"τ2": r.tau[:, 0] * 1e6}),
    ]
    line = (("crank", ORIGIN), ("crank", (0.05, 0.0, 0.0)), ("coupler", ORIGIN), ("rocker", ORIGIN))
    at, pivots = r.at(0, 15, 30, 45), ("crank", "rocker")
    drawing = moved("Spatial four-bar", r.m, r.t, r.q, at, [line], pivots, solid=True)
    caption = "The spatial four-bar at four instants of a turn, its passive joints, and the torque of the crank without gravity."
    name = "figures_9_to_12_spatial_four_bar"
    return Figure(name, "Spatial four-bar: the crank turns at 1 rpm", panels, drawing, caption)
