"""Morales Bieze, thesis on bond graphs of robots in three dimensions (UMSNH, 2011): the PUMA and the Stanford arm.

All of its figures are lost, the graphs too: `morales_puma` and `morales_stanford` are rebuilt from its bond numbers, matrices and
causal paths, and generate these. L123 is line 123 of the scanned text.
"""

from __future__ import annotations

from pathlib import Path

from eslabon.bond_graph import BondGraph
from eslabon.errors import MissingDependencyError
from eslabon.reproductions.morales import (
    causal_paths,
    euler_ring,
    geared_link,
    lagrange,
    linear_models,
    observers,
    steady_states,
)
from eslabon.reproductions.morales import junction_structures as junctions
from eslabon.reproductions.report import Report

GRAPHS = (
    ("4_17", "morales_puma", "integral"),
    ("4_20", "morales_stanford", "integral"),
    ("4_23", "morales_puma", "derivative"),
    ("4_25", "morales_stanford", "derivative"),
)
TEXT = (
    "What the thesis prints, beside what the graphs give: junction structures entry by entry, Euler and Lagrange's equations, "
    "steady states, linear models, observers. Nearly all printed numbers follow from the printed formulas; where these are wrong, "
    "it is said why, and what is right. SI units."
)


def report() -> Report:
    """Chapters 4 and 5, and of the appendix the example."""
    sections = (
        *euler_ring.sections(),
        junctions.puma(),
        junctions.stanford(),
        *lagrange.sections(),
        junctions.puma_derivative(),
        junctions.stanford_derivative(),
        *steady_states.sections(),
        *causal_paths.sections(),
        *linear_models.sections(),
        *observers.sections(),
        *geared_link.sections(),
    )
    return Report("morales", "Morales Bieze, Bond graphs of robots in three dimensions, recomputed", TEXT, sections)


def figures(folder: str | Path = "out/morales", suffix: str = "png") -> list[Path]:
    """Write figures 4.24, 4.26, 4.27, 5.5, 5.10, 5.13 and 5.16 anew, and where igraph is there the graphs of 4.17, 4.20, 4.23
    and 4.25."""
    to = Path(folder)
    made = [part for module in (steady_states, linear_models, observers) for part in module.figures(to, suffix)]
    try:
        for label, name, preference in GRAPHS:
            made.append(BondGraph.load(name).draw(to / f"figure_{label}_{name}.{suffix}", preference))
    except MissingDependencyError:
        pass  # the curves are there without it
    return made
