"""A. A. Rojas Salgado, "Dinámica de sistemas articulados de cuerpos rígidos", doctoral thesis, UNAM, 1987.

Chapters 2 to 4, and the joint motions and torques of the two instants that chapter 5 prints. The linear model and the
control matrices of chapter 5 are not here. L1234 is line 1234 of the scanned text.
"""

from __future__ import annotations

from eslabon.reproductions.report import Report
from eslabon.reproductions.rojas import iterations, loops, operations, positioner, straight_line

TEXT = (
    "A printed value agrees if it is within half a unit of its last digit, plus the noise of the thesis' single "
    "precision where a section states it. It is damaged if one digit, letter or mark makes it right."
)


def report() -> Report:
    """Everything of the thesis that can be recomputed, in its order."""
    third = (iterations.start(), loops.seven(), iterations.six_and_seven(), iterations.spurious(), loops.hexiflex())
    sections = (*positioner.sections(), *third, *straight_line.sections(), *operations.sections())
    title = "Rojas Salgado, Dinamica de sistemas articulados de cuerpos rigidos (UNAM, 1987), recomputed"
    return Report("rojas", title, TEXT, sections)
