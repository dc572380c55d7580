"""The bond-graph formulation: equations from the junction structure of Euler's rings, joints and
weights (Morales, 4).

All inertias are in derivative causality, x_d = F_d^-1 Z1 v, and the joint forces are what is left
at the joints' 1-junctions:

    tau = -(S11 z + S13 u + S14 x_d'),    so that    M = -S14 dx_d/dv = S14 F_d^-1 S14^T.

`rigid_bodies` draws the graph; of the other formulations nothing is used but placements and joints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eslabon.formulas.applied_loads import Wrenches
from eslabon.formulas.formulations.formulation import Formulation
from eslabon.formulas.kinematics.symbols import constant, stack, zeros
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.numerics.scalars import Expression, casadi

if TYPE_CHECKING:
    from eslabon.bond_graph.graph import Graph
    from eslabon.bond_graph.state_equations import Evaluation


@per_model
def graph(m: Model, ends: tuple[str, ...]) -> tuple[Graph, list[tuple[str, int]]]:
    """The graph of a mechanism's tree, with inputs for wrenches on some bodies: the body of each
    input, and the component."""
    from eslabon.bond_graph.graph import Graph
    from eslabon.bond_graph.rigid_bodies import TreeDrawing

    drawn = TreeDrawing(m, ends)
    inputs = [(body, k) for body in ends for k in drawn.wrench(body)]
    return Graph(drawn.description()), inputs


class AtState:
    """The graph at a state, with inputs for what acts on the bodies.

    It is differentiated by its states, so that these are symbols of its own; `at` puts in what they
    stand for.
    """

    def __init__(self, m: Model, q: Expression, v: Expression, wrenches: Wrenches) -> None:
        from eslabon.bond_graph.rigid_bodies import displacement_names, speed_names
        from eslabon.bond_graph.state_equations import Evaluation

        g, inputs = graph(m.nominal, tuple(wrenches))
        u = [wrenches[body][k] for body, k in inputs]
        names = [*speed_names(m), *displacement_names(m)]
        self.symbols = [casadi.SX.sym("x", len(names)), casadi.SX.sym("u", len(u))]
        self.values = [casadi.densify(casadi.vertcat(v, q)), casadi.densify(stack(*u))]
        symbols = {name: x for name, x in m.symbols.items() if name in g.parameters}
        energy = {name: self.symbols[0][k] for k, name in enumerate(names)}
        self.evaluation: Evaluation = Evaluation(
            g.with_symbols(symbols) if symbols else g, energy, self.symbols[1], casadi.SX.sym("t")
        )

    def at(self, *results: Expression) -> list[Expression]:
        """Expressions of the graph's symbols at the state."""
        found: list[Expression] = casadi.substitute(list(results), self.symbols, self.values)
        return found


def inverse_dynamics(
    m: Model, q: Expression, v: Expression, a: Expression, wrenches: Wrenches
) -> Expression:
    """The joint forces: what the sinks of the velocities are given, taken away."""
    if not m.nv:
        return zeros(0)
    state = AtState(m, q, v, wrenches)
    e = state.evaluation
    inertial = e.in_rates("xd_rate")[: m.nv, :] @ e.rate_along(
        e.xd, casadi.vertcat(a, e.forces[m.nv :])
    )
    return state.at(-e.forces[: m.nv] - inertial)[0]


def equations_of_motion(
    m: Model, q: Expression, v: Expression, wrenches: Wrenches
) -> tuple[Expression, Expression]:
    """M and h with joint forces M v' + h."""
    if not m.nv:
        return zeros(0, 0), zeros(0)
    state = AtState(m, q, v, wrenches)
    M, forces = state.at(*state.evaluation.implicit_equations(state.evaluation.forces))
    return constant(M), -forces


BOND_GRAPH = Formulation("bond_graph", inverse_dynamics, equations_of_motion)
