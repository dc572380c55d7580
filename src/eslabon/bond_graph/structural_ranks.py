"""Structural ranks by causality: how many storages stay in integral causality when derivative
causality is preferred.

Of a model of order n with t such storages the structural rank of A is n - t; where sources may be
dualised, that of [A B], and where detectors may be, that of [A; C] (Sueur and Dauphin-Tanguy, 1991;
Morales, definitions 5.3 to 5.5).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eslabon.bond_graph.causality import causality, natural_effort_in
from eslabon.bond_graph.elements import Element
from eslabon.bond_graph.elimination import sample
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.junction_structure import junction_structure
from eslabon.bond_graph.signal_flow import Flow, Route, inputs_of, outputs_of, shortest_route
from eslabon.numerics.scalars import casadi

SMALL = 1e-9  # of the largest singular value, at a sample of the moduli


class CausalRank(NamedTuple):
    """A structural rank: n - t with t storages that stay in integral causality, and which elements
    are dualised for it."""

    rank: int
    staying: tuple[str, ...]
    dualized: tuple[str, ...]


def controls(g: Graph) -> tuple[Element, ...]:
    """The sources that are inputs."""
    return tuple(x for x in g.elements.values() if x.is_input)


def detectors(g: Graph) -> tuple[Element, ...]:
    return tuple(x for x in g.elements.values() if x.measures)


def causal_rank(g: Graph, dual: tuple[Element, ...] = ()) -> CausalRank:
    """The structural rank of A, or with elements that may be dualised that of A beside B, or over
    C."""
    c = causality(g, "derivative", tuple(x.name for x in dual), slopes=True)
    turned = [x for x in dual if c.effort_in(g.ports[x.name][0]) != natural_effort_in(x)]
    return CausalRank(causality(g).order - c.order, c.states, tuple(x.name for x in turned))


def structure_rank(g: Graph, kind: str) -> int:
    """The rank of blocks of S, whatever the moduli are, at a sample of them: of [S11 S12 S13] for
    "controllable", [S11; S21; S31] for "observable", [S11 S12] for "nonsingular"."""
    S = junction_structure(g)
    beside = {"controllable": (S.S11, S.S12, S.S13), "nonsingular": (S.S11, S.S12)}
    whole = casadi.horzcat(*beside[kind]) if kind in beside else casadi.vertcat(S.S11, S.S21, S.S31)
    sizes = np.linalg.svd(sample(whole), compute_uv=False) if 0 not in whole.shape else np.zeros(0)
    return int((sizes > SMALL * sizes.max(initial=1e-300)).sum())


def connections(g: Graph, flow: Flow, kind: str) -> dict[str, Route | None]:
    """For each state the shortest causal path from an input, or to a detector; None where there is
    none."""
    made: dict[str, Route | None] = {}
    given = [v for x in controls(g) for v in outputs_of(g, x, "integral")]
    seen = [v for x in detectors(g) for v in inputs_of(g, x, "integral")]
    for s in causality(g).integral:
        rate, co_energy = ((s.port.bond.name, letter) for letter in s.letters)
        pair = (given, [rate]) if kind == "controllable" else ([co_energy], seen)
        made[s.name] = shortest_route(flow, *pair)
    return made
