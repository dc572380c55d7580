"""Luenberger observers as bond graphs (Morales, procedure 5.2): plant and observer in one graph
that simulates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, states
from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import DEPENDENCE, input_names, order
from eslabon.bond_graph.graph_runs import Response, simulate
from eslabon.bond_graph.graph_values import value
from eslabon.bond_graph.linear_model_of_graph import linearize
from eslabon.bond_graph.observer_description import hat, observer_description
from eslabon.bond_graph.structural_ranks import detectors
from eslabon.displays import displayed
from eslabon.errors import InputError, ModelError, format_value
from eslabon.systems.control.observers import luenberger
from eslabon.systems.linear.linear_system import format_poles

if TYPE_CHECKING:
    from eslabon.bond_graph.bond_graph import BondGraph


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class ObserverGraph:
    """A graph of a plant and its observer.

    Attributes
    ----------
    graph : a bond graph; the estimate of the state p2 is its state p2_hat.
    gains : L of x_hat' = ... + L (y - y_hat), (states, outputs).
    port_gains : the moduli, E L: what acts at the storages' bonds; the same where no storages
        depend on others. They are the parameters H_p2_y, ... of the graph.
    poles : of the error, A - L C of the linear model.
    plant : the graph that is observed.
    """

    graph: BondGraph
    gains: Floats
    port_gains: Floats
    poles: np.ndarray[Any, np.dtype[np.complex128]]
    plant: Graph

    @property
    def stable(self) -> bool:
        """Whether small errors die out."""
        return bool((self.poles.real < 0).all())

    @property
    def states(self) -> tuple[str, ...]:
        """The states of the plant."""
        return causality(self.plant.nominal).states

    @property
    def estimates(self) -> tuple[str, ...]:
        """The names of their estimates."""
        return tuple(f"{name}{hat(self.plant)}" for name in self.states)

    def start(self, x: ArrayLike | None = None, estimate: ArrayLike | None = None) -> Floats:
        """The state of the graph for one of the plant and an estimate, (..., n) each; zero where
        they are left out."""
        n = order(self.plant)
        real, guess = (
            np.zeros(n) if a is None else states(a, what, n, self.plant.name, "states")
            for a, what in ((x, "x"), (estimate, "estimate"))
        )
        try:
            real, guess = np.broadcast_arrays(real, guess)
        except ValueError:
            raise InputError(
                f"x has shape {real.shape} and estimate {guess.shape}, which do not fit together."
            ) from None
        both = dict(
            zip(
                (*self.states, *self.estimates),
                np.moveaxis(np.concatenate([real, guess], axis=-1), -1, 0),
                strict=True,
            )
        )
        return np.stack([both[name] for name in causality(self.graph).states], axis=-1)

    def simulate(
        self,
        x: ArrayLike | None,
        estimate: ArrayLike | None,
        t: ArrayLike,
        inputs: Any = None,
        **options: Any,
    ) -> Response:
        """Run plant and observer together from a state and an estimate; options are those of
        `BondGraph.simulate`."""
        return simulate(self.graph, self.start(x, estimate), t, inputs, **options)

    def errors(self, run: Response) -> Floats:
        """x - x_hat along a run, (..., times, states)."""
        if getattr(run, "graph", None) is not self.graph:
            raise ModelError(
                f"this is not a run of this observer: {format_value(run)}; take one of `simulate`."
            )
        return np.stack(
            [run[a] - run[b] for a, b in zip(self.states, self.estimates, strict=True)], axis=-1
        )

    def __repr__(self) -> str:
        poles = format_poles(self.poles, most=len(self.poles))
        doubt = "" if self.stable else "; errors do not die out"
        return f"<Observer of {self.plant.name} as a bond graph of {len(self.graph.bonds)} bonds: poles {poles}{doubt}>"


def observer_graph(
    g: BondGraph,
    poles: ArrayLike | None = None,
    *,
    gains: ArrayLike | None = None,
    x: ArrayLike | None = None,
    u: ArrayLike | None = None,
    t: float = 0.0,
) -> ObserverGraph:
    """A Luenberger observer of a graph with detectors.

    Of a graph that is not linear the copy is not linear either, and the gains are those of its
    linear model at a state; for the observer of the linear model itself take `g.linearized_graph(x,
    u).observer_graph(poles)`.

    Parameters
    ----------
    poles : of the error, one for each state.
    gains : L in place of poles, (states, outputs), or (states,) with one output.
    x, u, t : the state, inputs and time of the linear model; zero if left out.

    >>> import eslabon as es
    >>> g = es.BondGraph("rlc", {"V": "Se", "j": "1", "L": "I: 0.5", "R": "R: 2", "C": "C: 0.1", "current": "Df"},
    ...     ["V -> j -> L", "j -> R", "j -> C", "j -> current"])
    >>> observer = g.observer_graph([-10.0, -12.0])
    >>> observer.graph.elements["H_p2_current"].kind, observer.graph.elements["H_q4_current"].kind
    ('GY', 'TF')
    >>> run = observer.simulate([0.1, 0.2], None, 2.0, [1.0])
    >>> bool(abs(observer.errors(run)[-1]).max() < 1e-6)
    True
    """
    from eslabon.bond_graph.bond_graph import BondGraph

    if sinks := [x.name for x in g.elements.values() if x.holds]:
        raise ModelError(
            f"{g.name}: residual sinks ({', '.join(sinks)}) hold flows, so that its states depend on one another; observe the linear "
            "model of the mechanism instead."
        )
    if not detectors(g):
        raise ModelError(
            f"{g.name} has no detectors to observe it by; add some, as in g.with_detectors(y='f3')."
        )
    point = np.zeros(order(g)) if x is None else x
    linear = linearize(g, point, np.zeros(len(input_names(g))) if u is None else u, t)
    if gains is not None and np.ndim(gains) == 1 and len(linear.outputs) == 1:
        gains = np.asarray(gains)[:, None]
    if poles is not None and gains is not None:
        raise InputError("an observer is given its poles or its gains: one of the two.")
    designed = luenberger(linear, poles, gains=gains)
    E = value(g, DEPENDENCE, linear.x, linear.u, t)
    port_gains = E @ designed.gains
    made = BondGraph.from_description(observer_description(g, port_gains))
    return ObserverGraph(made, designed.gains, port_gains, designed.poles, g)
