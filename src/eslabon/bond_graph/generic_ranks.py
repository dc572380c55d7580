"""Structural verdicts of graphs with residual sinks, as those of mechanisms are: generic ranks.

Sinks find what they impose from all the storages around them, so that no causal path through them
has a gain, and derivative causality counts nothing. What holds for almost all states is looked at
for states drawn at random: the rank of Kalman's matrix of A and B on the motions that the sinks
leave. These are velocities v with C v = 0, where C v are the flows that sinks hold, and T v of the
coordinates with q' = T v, such as angles, quaternions and lengths of springs.
"""

from __future__ import annotations

from typing import NamedTuple

import networkx as nx
import numpy as np

from eslabon.arguments import Floats
from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import T, U, X, input_names, order
from eslabon.bond_graph.linear_model_of_graph import GraphModel, linearize
from eslabon.bond_graph.state_equations import Evaluation
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.tolerances import ROUND_OFF
from eslabon.systems.linear.linear_system import LinearSystem
from eslabon.systems.linear.ranks import KalmanRank

DRAWS = 3  # states
SMALL = 1e-9  # of the largest: entries and singular values that count as zero


def sinks_hold(g: Graph) -> bool:
    """Whether a graph has residual sinks."""
    return any(x.is_sink for x in g.elements.values())


def held_flows(g: Graph, x: Expression, u: Expression, t: Expression) -> Expression:
    """The derivative by x of the flows that sinks hold at zero."""
    e = Evaluation.of_state(g, x, u, t)
    names = tuple(g.ports[y.name][0].bond.signal_name("f") for y in g.elements.values() if y.holds)
    flows = casadi.vertcat(casadi.SX(0, 1), *(e.signal(name) for name in names))
    return e.loops.settled([casadi.densify(e.jacobian(flows, x))])[0]


HELD = Formula(
    "held_flows",
    held_flows,
    (X, U, T),
    (Argument("C", lambda g, **_: (sum(y.holds for y in g.elements.values()), order(g))),),
    rare=True,
)


class Motions(NamedTuple):
    """The linear model on the motions that sinks leave, and the basis of these among the states."""

    model: GraphModel
    basis: Floats

    @property
    def system(self) -> LinearSystem:
        back, W = np.linalg.pinv(self.basis), self.basis
        m = self.model
        names = tuple(f"motion {k + 1}" for k in range(W.shape[1]))
        if W.shape[1] == len(m.states):
            names = m.states
        A, B, C = (_without_round_off(M) for M in (back @ m.A @ W, back @ m.B, m.C @ W))
        return LinearSystem(A, B, C, m.D, names, m.inputs, m.outputs, name=m.name)


def _without_round_off(M: Floats) -> Floats:
    """Entries that are round-off of the largest would be scaled up to its size where a matrix is
    balanced."""
    found: Floats = np.where(np.abs(M) > ROUND_OFF * np.abs(M).max(initial=0.0), M, 0.0)
    return found


def motions(g: Graph, x: Floats, u: Floats, t: float) -> Motions:
    """Those at a state, which is at rest where the directions that are left turn with the
    motion."""
    model = linearize(g, x, u, t)
    own = causality(g.nominal).integral
    v = [k for k, s in enumerate(own) if s.is_flow]
    rest = np.array(x)
    rest[v] = 0.0
    still = linearize(g, rest, u, t)
    others = [k for k in range(len(own)) if k not in v]
    size = np.abs(still.A).max(initial=1e-300)
    q = [
        k
        for k in others
        if own[k].letter == "q"
        and np.abs(still.A[k, others]).max(initial=0) <= SMALL * size
        and not still.B[k].any()
    ]
    free = _null_space(evaluate(g, HELD)(rest, u, np.asarray(float(t)))[:, v])
    moved = _range(still.A[np.ix_(q, v)] @ free)
    if free.shape[1] == len(v) and moved.shape[1] == len(q):
        return Motions(model, np.eye(len(own)))
    left = [k for k in others if k not in q]
    basis = np.zeros((len(own), free.shape[1] + moved.shape[1] + len(left)))
    basis[v, : free.shape[1]] = free
    basis[np.ix_(q, range(free.shape[1], free.shape[1] + moved.shape[1]))] = moved
    basis[left, -len(left) or basis.shape[1] :] = np.eye(len(left))
    return Motions(still, basis)


def _null_space(C: Floats) -> Floats:
    _, size, Vt = np.linalg.svd(C) if C.size else (None, np.zeros(0), np.eye(C.shape[1]))
    rank = int((size > SMALL * size.max(initial=0)).sum())
    found: Floats = Vt[rank:].T
    return found


def _range(A: Floats) -> Floats:
    U, size, _ = np.linalg.svd(A, full_matrices=False) if A.size else (A[:, :0], np.zeros(0), None)
    found: Floats = U[:, size > SMALL * size.max(initial=0)]
    return found


def generic_motions(g: Graph) -> list[Motions]:
    """Those at some states drawn at random."""
    if "generic motions" not in g.memory:
        rng = np.random.default_rng(0)
        nu = len(input_names(g))
        g.memory["generic motions"] = [
            motions(g, g._drawn_state(rng, order(g)), rng.normal(size=nu), 0.0)
            for _ in range(DRAWS)
        ]
    found: list[Motions] = g.memory["generic motions"]
    return found


def generic_rank(g: Graph) -> tuple[int, int]:
    """The rank of A on the motions that are left, and their number."""
    sizes = [np.linalg.svd(m.system.A, compute_uv=False) for m in generic_motions(g)]
    ranks = [int((s > SMALL * s.max(initial=0)).sum()) for s in sizes]
    return max(ranks), generic_motions(g)[0].basis.shape[1]


def best(ranks: list[KalmanRank]) -> KalmanRank:
    """That of the most general of some states."""
    return max(ranks, key=lambda r: (r.full, r.rank))


def unconnected(g: Graph, kind: str) -> tuple[str, ...]:
    """The states that no input acts on, or no detector shows, by what depends on what."""
    model = generic_motions(g)[0].model
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(-1, len(model.states)))
    rows, columns = np.nonzero(_without_round_off(model.A))
    if kind == "controllable":
        graph.add_edges_from(zip(columns.tolist(), rows.tolist(), strict=True))
        starts = np.flatnonzero(model.B.any(axis=1))
    else:
        graph.add_edges_from(zip(rows.tolist(), columns.tolist(), strict=True))
        starts = np.flatnonzero(model.C.any(axis=0))
    graph.add_edges_from((-1, int(k)) for k in starts)
    reached = nx.descendants(graph, -1)
    return tuple(name for k, name in enumerate(model.states) if k not in reached)
