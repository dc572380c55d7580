"""Mendez Canseco and Gudino Lau, "Dinámica de un sistema planar de 2 GL con Cuaterniones".

The paper prints formulas and no number, so that formulas are compared: with the model's equations where SymPy can, else
on chains drawn by a seeded generator. L123 is line 123 of the scanned text.
"""

from __future__ import annotations

from eslabon.reproductions.mendez import chains, errata, planar_arm
from eslabon.reproductions.report import Report

TEXT = (
    "The paper prints no number; its formulas are compared. Tolerance 1e-9 for what is exact and computed in doubles. A "
    "formula is damaged if marks that scans lose (dots, bars, brackets) make it right, and wrong if it takes more."
)


def report() -> Report:
    """The planar arm, the formulas for n bodies, and what is wrong in the print."""
    title = "Mendez Canseco and Gudino Lau, Dinamica de un sistema planar de 2 GL con Cuaterniones, recomputed"
    return Report("mendez", title, TEXT, (*planar_arm.sections(), *chains.sections(), *errata.sections()))
