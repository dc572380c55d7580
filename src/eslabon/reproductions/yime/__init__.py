"""Yime, Saltaren and Roldan, "Análisis dinámico inverso de robots paralelos: un tutorial con álgebra de Lie", RIAI 20, 2023.

The three examples: five-bar, spatial four-bar, planar 3-RRR. The paper shows its results as curves, which are lost; so
the compiled dynamics are held against its data and sentences, against values recomputed from its data by other programs,
and against its own equations followed number by number (`equations`), in which its slips can be put back. L123 is line
123 of the scanned text.
"""

from __future__ import annotations

from pathlib import Path

from eslabon.reproductions.report import Report
from eslabon.reproductions.yime import (
    constraints,
    five_bar,
    joint_tables,
    planar_3rrr,
    published_torque,
    slips,
    spatial_four_bar,
)

TEXT = (
    "The curves of figures 4 to 17 are lost. Printed are data, start angles, one torque and sentences; each is set beside "
    "what eslabon computes. Values called recomputed were got from the printed data by other programs. Every motion is also "
    "worked out by the paper's own equations, number by number. SI units."
)


def report() -> Report:
    """The three examples, what the paper says of them, and what is wrong in its formulas."""
    title = "Yime, Saltaren and Roldan, Inverse dynamics of parallel robots: a tutorial with Lie algebra, recomputed"
    parts = (five_bar, spatial_four_bar, published_torque, planar_3rrr, joint_tables, constraints, slips)
    return Report("yime", title, TEXT, tuple(section for part in parts for section in part.sections()))


def figures(folder: str | Path = "out/yime", suffix: str = "png") -> list[Path]:
    """Write figures 4 to 7, 9 to 12 and 14 to 17 anew, and the four torques of the spatial four-bar."""
    to = Path(folder)
    return [
        five_bar.figure(to / f"figures_4_to_7_five_bar.{suffix}"),
        spatial_four_bar.figure(to / f"figures_9_to_12_spatial_four_bar.{suffix}"),
        planar_3rrr.figure(to / f"figures_14_to_17_planar_3rrr.{suffix}"),
        published_torque.figure(to / f"torques_published_and_with_gravity.{suffix}"),
    ]
