"""A. A. Rojas Salgado, "Dinámica de sistemas articulados de cuerpos rígidos", doctoral thesis, UNAM, 1987.

Chapters 2 to 5: kinematics, the move of the T3 robot, its linear model, perturbed motion and modal control. L1234 is line 1234
of the scanned text.
"""

from __future__ import annotations

from pathlib import Path

from eslabon.reproductions.report import Report
from eslabon.reproductions.rojas import (
    contents,
    derivation,
    histories,
    iterations,
    loops,
    modal_gains,
    operations,
    perturbed_path,
    positioner,
    straight_line,
)
from eslabon.reproductions.rojas.tables import MIDDLE, START

TEXT = (
    "A printed value agrees if it is within half a unit of its last digit, plus the noise of the thesis' single "
    "precision where a section states it. It is damaged if one digit, letter or mark makes it right."
)


def report() -> Report:
    """Everything of the thesis that can be recomputed, in its order."""
    third = (iterations.start(), loops.seven(), iterations.six_and_seven(), iterations.spurious(), loops.hexiflex())
    fourth = (*straight_line.sections(), *operations.sections())
    matrices = (modal_gains.matrices(at) for at in (START, MIDDLE))
    linear = (*derivation.sections(), *matrices, *perturbed_path.sections(), derivation.shares())
    sections = (contents.section(), *positioner.sections(), *third, *fourth, *linear, *modal_gains.sections())
    title = "Rojas Salgado, Dinamica de sistemas articulados de cuerpos rigidos (UNAM, 1987), recomputed"
    return Report("rojas", title, TEXT, sections)


def figures(folder: str | Path = "out/rojas", suffix: str = "png") -> list[Path]:
    """Write figures 4.4.2 to 4.4.8 and 5.4.2 anew, and the linear and true response of table 5.4.2 over the whole motion."""
    return histories.figures(Path(folder), suffix)
