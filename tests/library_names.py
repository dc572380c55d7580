"""Names of library mechanisms by kind, as data: to find them out, every file is read and loops are solved.

tests/robots/test_library.py compares them with the mechanisms.
"""

from __future__ import annotations

CLOSED = (
    "andrews_squeezer", "bennett", "bricard", "delta", "diaz_3rrr", "diaz_four_bar", "excavator", "five_bar",
    "four_bar_spring", "n_four_bar", "parallelogram", "planar_3rrr", "rojas_7r_loop", "rojas_hexiflex", "rssr",
    "sarrus", "slider_crank", "spatial_four_bar", "stewart_gough",
)  # fmt: skip
DETERMINED = tuple(
    name for name in CLOSED if name != "rssr"
)  # as many actuators as degrees of freedom
