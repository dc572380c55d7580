"""Sections 5.3 and 5.4: the causal paths that are listed, followed on the graphs bond by bond."""

from __future__ import annotations

from itertools import pairwise

import eslabon as es
from eslabon.reproductions.report import THESIS, Row, Section
from eslabon.reproductions.verdicts import statement

GRAPHS = {"(5.30)": "morales_puma", "(5.47)": "morales_stanford", "(5.71)": "morales_puma", "(5.79)": "morales_stanford"}
PATHS = {
    "(5.30)": ("2 4 5 9 11 17 20 22 24", "24 22 20 17 11 9 5 4 2", "2 4 5 7 10 16 18 22 24", "24 22 18 16 10 7 5 4 2"),
    "(5.47)": (
        "2 4 5 7 10 16 18 22 24",
        "24 22 18 16 10 7 5 4 2",
        "2 4 5 9 11 17 20 22 24",
        "24 22 20 17 11 9 5 4 2",
        "2 4 5 26 27 38 40 41 39 51 50",
        "50 51 39 41 40 38 27 26 5 4 2",
        "2 4 5 26 27 38 44 46 49 29 28 17 20 22 24",
        "24 22 20 17 28 29 49 46 44 38 27 26 5 4 2",
        "31 33 35 37 39 41 40 38 27 26 5 4 2",
        "24 22 20 17 28 29 49 47 45 39 51 50",
        "50 51 39 45 47 49 29 28 17 20 22 24",
        "31 32 34 36 38 44 46 49 29 28 17 22 24",
        "31 33 35 37 39 45 47 49 29 28 17 20 22 24",
        "31 32 34 36 38 40 41 39 51 50",
    ),
    "(5.71)": ("3 3 2", "3 3 4 5 7 10 16 18 22 24", "3", "3 4 4 5 7 10 16 18 22 24 24 23"),
    "(5.79)": (
        "3",
        "3 3 2",
        "3 4 5 7 10 16 18 22 24",
        "3 4 5 7 10 16 18 22 24 24 23",
        "3 3 4 5 26 27 38 40 41 39 51 50",
        "3 3 4 5 26 27 38 40 41 39 51 50 50 53",
    ),
}
