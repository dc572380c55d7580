"""State equations in the form of robots: M(q) f' + B(q) [f_j f_k] + C(q) [f_j^2] + D(q) f + G(q) =
Q(q) u (Morales, 4.25, 4.107).

f are the flows of the inertias in integral causality and q the displacements. With E x' = forces, M
= E_pp F_p^-1 (4.161); the rest is a polynomial of second degree in the flows, whose coefficients B,
C, D and G are.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.elimination import sample
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import T, input_names
from eslabon.bond_graph.state_equations import Evaluation
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import ModelError
from eslabon.numerics.scalars import Expression, casadi

SAME = 1e-9


def momenta(g: Graph) -> tuple[int, ...]:
    """The places of the momenta among the states, and of flows that are states themselves."""
    return tuple(k for k, s in enumerate(causality(g.nominal).integral) if s.letter != "q")


def displacements(g: Graph) -> tuple[str, ...]:
    """The states that are displacements."""
    return tuple(s.name for s in causality(g.nominal).integral if s.letter == "q")


def velocities(g: Graph) -> tuple[str, ...]:
    """The flows of the inertias in integral causality."""
    return tuple(
        s.port.bond.signal_name("f") for s in causality(g.nominal).integral if s.letter != "q"
    )


def products(g: Graph) -> tuple[tuple[str, str], ...]:
    """Which two flows each column of B belongs to."""
    return tuple(combinations(velocities(g), 2))


def motion_terms(g: Graph, q: Expression, t: Expression) -> list[Expression]:
    """M, B, C, D, G and Q."""
    n = len(momenta(g))
    if sinks := [x.name for x in g.elements.values() if x.holds]:
        raise ModelError(
            f"{g.name}: residual sinks ({', '.join(sinks)}) hold flows, so that the velocities depend on one another."
        )
    if not n:
        raise ModelError(
            f"{g.name} has no inertias in integral causality, and so no equations of motion."
        )
    f, u = casadi.SX.sym("f", n), casadi.SX.sym("u", len(input_names(g)))
    M, rest = _motion(g, q, f, u, t)
    zero = casadi.SX.zeros(n)
    without = casadi.substitute(rest, u, casadi.SX.zeros(u.shape[0]))
    slopes = casadi.jacobian(without, f)
    second = [casadi.jacobian(slopes[:, k], f) for k in range(n)]  # of column k of the slopes
    Q = -casadi.jacobian(rest, u)
    _require_constant(g, casadi.horzcat(M, *second, Q), casadi.vertcat(f, u))
    second = [casadi.substitute(x, f, zero) for x in second]
    pairs = [(j, k) for j, k in combinations(range(n), 2)]
    B = casadi.horzcat(casadi.SX(n, 0), *(second[j][:, k] for j, k in pairs))
    C = casadi.horzcat(*(second[k][:, k] / 2 for k in range(n)))
    D, G, M, Q = (
        casadi.substitute(x, casadi.vertcat(f, u), casadi.SX.zeros(n + u.shape[0]))
        for x in (slopes, without, M, Q)
    )
    return [casadi.densify(x) for x in (M, B, C, D, G, Q)]


def _motion(
    g: Graph, q: Expression, f: Expression, u: Expression, t: Expression
) -> tuple[Expression, Expression]:
    """M, and all that stands beside M f' on the left of M f' + rest = 0."""
    own = momenta(g)
    other = [k for k in range(causality(g.nominal).order) if k not in own]
    x = casadi.SX.sym("x", causality(g.nominal).order)
    e = Evaluation.of_state(g, x, u, t)
    flows = casadi.vertcat(*(e.z[k] for k in own))
    F = casadi.jacobian(flows, x)[:, list(own)]
    if casadi.depends_on(F, x) or casadi.jacobian(flows, x)[:, other].nnz():
        raise ModelError(
            f"{g.name}: the law of an inertia is not linear, so that there is no M(q)."
        )
    inertia = casadi.inv(F)
    S14 = e.filled(e.structure.block("x_rate", "xd_rate"))
    E = e.own_rates - casadi.mtimes(S14, casadi.jacobian(e.xd, x))
    e.forces  # noqa: B018 - which meets algebraic loops
    if e.loops.made:
        raise ModelError(
            f"{g.name}: its equations are not M(q) f' + terms of second degree in the flows f; the law of a resistor is not linear."
        )
    left = e.forces + casadi.mtimes(S14, casadi.jacobian(e.xd, t))
    change = e.forces[other]  # of displacements, on which no storage in derivative causality acts
    if E[other, :].nnz() != len(other):
        raise ModelError(
            f"{g.name}: compliances depend on one another, so that the displacements are no coordinates."
        )
    M = casadi.mtimes(E[list(own), list(own)], inertia)
    rest = casadi.mtimes(E[list(own), other], change) - left[list(own)]
    at = casadi.SX.zeros(x.numel())
    at[list(own)], at[other] = casadi.mtimes(inertia, f), q
    return casadi.substitute(M, x, at), casadi.substitute(rest, x, at)


def _require_constant(g: Graph, matrix: Expression, f: Expression) -> None:
    """Refuse what is no polynomial of second degree in the flows and first in the inputs: looked at
    for two samples of them."""
    if not casadi.depends_on(matrix, f):
        return
    rng = np.random.default_rng(0)
    one, other = (
        sample(casadi.substitute(matrix, f, casadi.DM(rng.uniform(0.3, 0.7, f.numel()))))
        for _ in range(2)
    )
    if np.abs(one - other).max() > SAME * (1 + np.abs(one).max()):
        raise ModelError(
            f"{g.name}: its equations are not M(q) f' + terms of second degree in the flows f; a law or a modulus is not of this kind."
        )


def _n(g: Graph, **_: Any) -> tuple[int]:
    return (len(momenta(g)),)


def _by(columns: Any) -> Any:
    return lambda g, **_: (len(momenta(g)), columns(g))


Q = Argument("q", lambda g, **_: (len(displacements(g)),), "displacements")
MOTION_TERMS = Formula(
    "motion_terms", motion_terms, (Q, T),
    (
        Argument("M", _by(lambda g: len(momenta(g)))), Argument("B", _by(lambda g: len(products(g)))),
        Argument("C", _by(lambda g: len(momenta(g)))), Argument("D", _by(lambda g: len(momenta(g)))), Argument("G", _n),
        Argument("Q", _by(lambda g: len(input_names(g)))),
    ),
    rare=True,
)  # fmt: skip
