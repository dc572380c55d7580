"""Which tables and figures of the thesis the report contains, and why it does not contain the others."""

from __future__ import annotations

from eslabon.reproductions.comparison import Exhibit, Section

TABLES = (
    ("4.4.1", "parameters and inertias of the T3", "yes", "beside the library's robot"),
    ("5.4.1", "hand, joints and perturbations at 0.05 s", "yes", ""),
    ("5.4.2", "terms of the linear response", "yes", ""),
    (
        "5.6.1, 5.6.2",
        "hand and joints at 0.45 s",
        "yes",
        "the parameters in 5.6.1 are those of 4.4.1",
    ),
    ("5.6.3", "Kp, Kd, U^-1 W, U^-1 V, U^-1", "yes", "U, V and W themselves are not printed"),
    ("5.6.4", "eigenvalues", "yes", ""),
    (
        "A.1",
        "where the program keeps its numbers",
        "no",
        "it has no values: places in an array of the listing",
    ),
)
FIGURES = (
    ("2.2.1-2.6.1, 3.3.1", "pairs, angles, frames, chains", "no", "sketches without data"),
    (
        "3.3.2, 3.5.1, 3.5.2, 4.3.1",
        "mechanisms, a link",
        "no",
        "sketches; the mechanisms are in the library",
    ),
    (
        "3.3.3-3.3.5",
        "errors of the 7R loop",
        "drawn",
        "curves lost; starts and steps are not told, ours are 0.001 rad off",
    ),
    (
        "3.5.3-3.5.5",
        "errors of the Hexiflex",
        "as numbers",
        "curves lost; starts and steps are not told",
    ),
    (
        "3.6.1-3.6.8",
        "the manipulator E2 on a sphere",
        "the path",
        "the robot's lengths and angles are not told, nor a and b of the path: it is drawn in units of a",
    ),
    (
        "4.4.1, 5.4.1",
        "the T3 and its paths",
        "drawn",
        "sketches; the data are those of table 4.4.1",
    ),
    (
        "4.4.2-4.4.8",
        "motion law; the joints' histories",
        "drawn",
        "curves lost; the two printed instants stand on ours",
    ),
    (
        "5.4.2",
        "nominal and perturbed histories",
        "drawn",
        "curves lost; the two printed instants stand on ours",
    ),
)
CHAPTERS = (
    "Chapters 1 and 6 and the sections left out derive and discuss, and print no results. The listing of the appendix was not compiled: its text is damaged in many "
    "places, and it is quoted where it explains a table."
)


def section() -> Section:
    columns = ("", "what", "here", "why, or where from")
    exhibits = (
        Exhibit(columns, TABLES, "Tables of the thesis"),
        Exhibit(columns, FIGURES, "Figures of the thesis"),
    )
    return Section("What of the thesis is here, and what is not", CHAPTERS, exhibits=exhibits)
