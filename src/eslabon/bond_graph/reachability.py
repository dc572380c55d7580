"""Controllability and observability by causal paths and causality, beside Kalman's ranks at a
state."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import finite
from eslabon.bond_graph.causal_paths import CausalPath
from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.generic_ranks import (
    best,
    generic_motions,
    generic_rank,
    motions,
    sinks_hold,
    unconnected,
)
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_values import inputs, require_states, state
from eslabon.bond_graph.linear_model_of_graph import linearize
from eslabon.bond_graph.signal_flow import FACTORS, signal_flow
from eslabon.bond_graph.structural_ranks import (
    causal_rank,
    connections,
    controls,
    detectors,
    structure_rank,
)
from eslabon.compiler.evaluate import evaluate
from eslabon.displays import displayed
from eslabon.errors import ModelError, SingularityWarning, user_stacklevel
from eslabon.systems.linear.ranks import KalmanRank
from eslabon.systems.linear.ranks import controllability as kalman_controllability
from eslabon.systems.linear.ranks import observability as kalman_observability


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class StructuralRank:
    """The structural rank of A of a graph of order n: n - t, where t storages stay in integral
    causality.

    n minus the rank eigenvalues of A are zero, whatever the parameters (Morales, theorem 5.1;
    undamped oscillations are not seen).

    Attributes
    ----------
    order : the number of states; with residual sinks that of motions, velocities and changes of
        coordinates, which they leave.
    causal_rank : n - t; with residual sinks the rank of A at states drawn at random.
    structure_rank : the rank of [S11 S12], which is less where junctions form meshes that cancel
        what goes round them.
    staying : the energy variables of the t storages.
    """

    owner: str
    order: int
    causal_rank: int
    structure_rank: int
    staying: tuple[str, ...]

    @property
    def rank(self) -> int:
        """The lesser of the two."""
        return min(self.causal_rank, self.structure_rank)

    @property
    def full(self) -> bool:
        return self.rank == self.order

    def __repr__(self) -> str:
        return (
            f"<structural rank {self.rank} of {self.order} of {self.owner}{_staying(self.staying)}>"
        )


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Reachability:
    """Whether inputs reach all states of a graph, or outputs show them: by structure, and at a
    state by Kalman's rank.

    Attributes
    ----------
    kind : "controllable" or "observable".
    order : the number of states; with residual sinks that of motions, velocities and changes of
        coordinates, which they leave.
    causal_rank : the structural rank of [A B], or of [A; C], by causality: n - t (Morales,
        definitions 5.4 and 5.5); with residual sinks Kalman's rank at states drawn at random.
    structure_rank : the rank of [S11 S12 S13], or of [S11; S21; S31] (observations 5.2 and 5.3),
        which is less where junctions form meshes that cancel what goes round them.
    staying : the energy variables of the t storages that keep integral causality.
    dualized : the sources or detectors that are dualised.
    paths : for each state the shortest causal path from an input, or to a detector; None where
        there is none. Paths through residual sinks have no gain of their own and are left out.
    kalman : `eslabon.control.KalmanRank` of the linear model at the state that was given, else
        None.
    vanishing : states whose every path has a modulus that is zero at this state.
    apart : with residual sinks the states that depend on no input, or on which no output depends.
    """

    owner: str
    kind: str
    order: int
    causal_rank: int
    structure_rank: int
    staying: tuple[str, ...]
    dualized: tuple[str, ...]
    paths: Mapping[str, CausalPath | None]
    kalman: KalmanRank | None = None
    vanishing: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()

    @property
    def rank(self) -> int:
        """The structural rank: the lesser of the two."""
        return min(self.causal_rank, self.structure_rank)

    @property
    def unconnected(self) -> tuple[str, ...]:
        """States without a causal path."""
        return (*(name for name, path in self.paths.items() if path is None), *self.apart)

    @property
    def structural(self) -> bool:
        """Whether it holds for almost all parameters and moduli: all states connected, and full
        rank (theorems 5.4, 5.5)."""
        return not self.unconnected and self.rank == self.order

    @property
    def agrees(self) -> bool:
        """Whether structure and numbers say the same; also where no numbers were asked for."""
        return self.kalman is None or (
            self.kalman.full == self.structural and not self.kalman.doubtful
        )

    def __repr__(self) -> str:
        words = [
            f"structurally {self.kind}" if self.structural else f"not structurally {self.kind}"
        ]
        words.append(f"rank {self.rank} of {self.order}{_staying(self.staying)}")
        if self.unconnected:
            words.append(f"no causal path for {', '.join(self.unconnected)}")
        if self.kalman is not None:
            words.append(f"at this state {repr(self.kalman)[1:-1]}")
        return f"<{self.owner}: {'; '.join(words)}>"


def structural_rank(g: Graph) -> StructuralRank:
    """The structural rank of A.

    >>> import eslabon as es
    >>> es.BondGraph.load("morales_puma").structural_rank()
    <structural rank 4 of 4 of morales_puma>
    >>> g = es.BondGraph("free", {"F": "Se", "v": "1", "m": "I: 2", "R": "R: 3"}, ["F -> v -> m", "v -> R"])
    >>> g.structural_rank().full, es.BondGraph("free", {"F": "Se", "v": "1", "m": "I: 2"}, ["F -> v -> m"]).structural_rank()
    (True, <structural rank 0 of 1 of free; p2 keeps integral causality>)
    """
    require_states(g)
    if sinks_hold(g):
        rank, size = generic_rank(g)
        return StructuralRank(g.name, size, rank, rank, ())
    found = causal_rank(g.nominal)
    whole = structure_rank(g.nominal, "nonsingular")
    return StructuralRank(g.name, causality(g.nominal).order, found.rank, whole, found.staying)


def controllability(
    g: Graph, x: ArrayLike | None = None, u: ArrayLike | None = None, t: float = 0.0
) -> Reachability:  # fmt: skip
    """Whether the inputs reach all states: by structure, and if a state is given by Kalman's rank
    there.

    A `SingularityWarning` tells where the two disagree, such as at rest, where gyrators modulated
    by momenta vanish.

    Parameters
    ----------
    x, u, t : the state, inputs (zero if left out) and time of the linear model; without x structure
        alone.

    >>> import eslabon as es
    >>> puma = es.BondGraph.load("morales_puma")
    >>> puma.controllability().structural
    True
    >>> puma.controllability([0.1, 0.2, 0.3, 0.4]).kalman.rank
    4
    """
    if not controls(g):
        raise ModelError(
            f"{g.name} has no inputs, and so nothing that controls it; give it a source without a value."
        )
    return _examined(g, "controllable", x, u, t)


def observability(
    g: Graph, x: ArrayLike | None = None, u: ArrayLike | None = None, t: float = 0.0
) -> Reachability:  # fmt: skip
    """Whether the detectors show all states: by structure, and if a state is given by Kalman's rank
    there.

    Parameters
    ----------
    x, u, t : as for `controllability`.

    >>> import eslabon as es
    >>> puma = es.BondGraph.load("morales_puma").with_detectors(y="f3")
    >>> puma.observability().paths["q23"]
    <mixed indirect causal path 23 -> 24 -> 24 -> 22 -> 18 -> 16 -> 10 -> 7 -> 5 -> 4 -> 2 -> 2 -> y>
    """
    if not detectors(g):
        raise ModelError(f"{g.name} has no detectors; add some, as in g.with_detectors(y='f3').")
    return _examined(g, "observable", x, u, t)


def _examined(
    g: Graph, kind: str, x: ArrayLike | None, u: ArrayLike | None, t: float
) -> Reachability:
    require_states(g)
    if sinks_hold(g):
        return _generic(g, kind, x, u, t)
    plain = g.nominal
    n = causality(plain).order
    found = causal_rank(plain, controls(plain) if kind == "controllable" else detectors(plain))
    routes = connections(plain, signal_flow(plain), kind)
    paths = {
        name: None if r is None else CausalPath(g, "integral", r) for name, r in routes.items()
    }
    whole = structure_rank(plain, kind)
    kalman: KalmanRank | None = None
    vanishing: tuple[str, ...] = ()
    if x is not None:
        kalman, vanishing = _at(g, kind, x, np.zeros(len(controls(g))) if u is None else u, t)
        vanishing = tuple(name for name in vanishing if paths[name] is not None)
    return _warned(
        Reachability(
            g.name,
            kind,
            n,
            found.rank,
            whole,
            found.staying,
            found.dualized,
            paths,
            kalman,
            vanishing,
        )
    )


def _warned(made: Reachability) -> Reachability:
    if not made.agrees:
        warnings.warn(_disagreement(made), SingularityWarning, stacklevel=user_stacklevel())
    return made


def _generic(
    g: Graph, kind: str, x: ArrayLike | None, u: ArrayLike | None, t: float
) -> Reachability:
    """With residual sinks: Kalman's rank on the motions that they leave, at states drawn at
    random."""
    kalman = kalman_controllability if kind == "controllable" else kalman_observability
    generic = best([kalman(m.system) for m in generic_motions(g)])
    here: KalmanRank | None = None
    if x is not None:
        given = inputs(g, np.zeros(len(controls(g))) if u is None else u)
        here = kalman(motions(g, state(g, x), given, t).system)
    apart = unconnected(g, kind)
    rank = generic.size if generic.full else min(generic.rank, generic.size - 1)
    return _warned(
        Reachability(g.name, kind, generic.size, rank, rank, (), (), {}, here, apart=apart)
    )


def _at(
    g: Graph, kind: str, x: ArrayLike, u: ArrayLike, t: float
) -> tuple[KalmanRank, tuple[str, ...]]:
    """Kalman's rank at a state, and the states that no path with a gain there leads to."""
    linear = linearize(g, x, u, t)
    kalman = (kalman_controllability if kind == "controllable" else kalman_observability)(linear)
    factors = evaluate(g, FACTORS)(state(g, x), inputs(g, u), finite(t, "t"))
    flow = signal_flow(g.nominal)
    alive: Any = nx.DiGraph()
    alive.add_nodes_from(flow)
    alive.add_edges_from(
        edge for edge, factor in zip(flow.edges(data=True), factors, strict=True) if factor != 0
    )
    lost = tuple(
        name for name, route in connections(g.nominal, alive, kind).items() if route is None
    )
    return kalman, lost


def _disagreement(r: Reachability) -> str:
    assert r.kalman is not None
    say = "structurally " if r.structural else "not structurally "
    least = f"least singular value {r.kalman.singular_values[-1]:.2g} of the largest"
    numbers = f"Kalman's rank at this state is {r.kalman.rank} of {r.order} ({least})"
    sentence = f"{r.owner} is {say}{r.kind}, but {numbers}"
    if r.vanishing:
        return f"{sentence}: the causal paths of {', '.join(r.vanishing)} have moduli that vanish there."
    if r.kalman.full and not r.structural:
        return f"{sentence}: what moduli vary with connects what no bond does."
    return f"{sentence}: these parameters or this state are a special case, or too badly conditioned to tell."


def _staying(names: tuple[str, ...]) -> str:
    return (
        f"; {', '.join(names)} {'keep' if len(names) > 1 else 'keeps'} integral causality"
        if names
        else ""
    )
