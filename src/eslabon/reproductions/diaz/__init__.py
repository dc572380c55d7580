"""Diaz, Provenzano, Vergara and Chacon, "Dinámica directa de robots paralelos utilizando las ecuaciones de Gibbs-Appell".

Both examples are integrated as the paper does it: only the independent coordinates and rates are states, the dependent
ones follow from the loops at every evaluation, and the accelerations come from the explicit Gibbs-Appell equations. All
curves are lost, and of table 1 one row is left. L123 is line 123 of the scanned text.
"""

from __future__ import annotations

from pathlib import Path

from eslabon.reproductions.diaz import four_bar, planar_3rrr, table_1
from eslabon.reproductions.report import Report

TEXT = (
    "The five figures are lost, and of table 1 one row is left. Printed are data and start angles; centres of mass, gravity "
    "of example 1 and base of example 2 are not, and are inferred (see `eslabon show diaz_four_bar`, `diaz_3rrr`). Values "
    "called recomputed were got from the same data by other programs. SI units."
)


def report() -> Report:
    """Both examples and table 1."""
    title = "Diaz, Provenzano, Vergara and Chacon, Dinamica directa de robots paralelos (Gibbs-Appell), recomputed"
    return Report("diaz", title, TEXT, (*four_bar.sections(), *planar_3rrr.sections(), *table_1.sections()))


def figures(folder: str | Path = "out/diaz", suffix: str = "png") -> list[Path]:
    """Write figures 2 and 4 anew, and the work and closure of both forms."""
    to = Path(folder)
    return [
        four_bar.figure(to / f"figure_2_four_bar.{suffix}"),
        planar_3rrr.figure(to / f"figure_4_planar_3rrr.{suffix}"),
        table_1.figure(to / f"table_1_work.{suffix}"),
    ]
