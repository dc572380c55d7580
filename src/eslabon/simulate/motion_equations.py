"""How the state of a mechanism changes: the one place that says what is integrated.

The state is x = (q, v); the symplectic method's is y = (q, p) with the momenta p = M v. Everything here is a formula of
CasADi symbols for the one evaluator. `law` is a control law that was traced (`control.Law`); its forces add to `tau`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi

from eslabon.coordinates.massless import structure
from eslabon.dynamics import loops
from eslabon.dynamics.trees import forward_dynamics, joint_forces, mass_matrix
from eslabon.formulations.factor import factors
from eslabon.formulations.symbols import SX, zeros
from eslabon.graph.calls import inlining, subroutine
from eslabon.graph.evaluator import Formula
from eslabon.graph.native.signature import Argument
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates
from eslabon.simulate import projection

External = Mapping[str, SX] | None


def size(m: Model, **_: Any) -> tuple[int]:
    """The shape of a state."""
    return (m.nq + m.nv,)


def accelerations(
    m: Model, q: SX, v: SX, tau: SX, external: External = None, formulation: str | None = None,
    constraints: str | None = None,
) -> SX:  # fmt: skip
    """Forward dynamics, of a tree or with loops, regularized where the constraints are dependent.

    Elimination needs other independent coordinates on the way (`System.rates`); what it gives are the same accelerations.
    """
    if not m.closed:
        return forward_dynamics(m, q, v, tau, formulation, external)[0]
    way = "udwadia_kalaba" if constraints == "udwadia_kalaba" else "multipliers"
    known, share = structure(m.plain), projection.regularization(m)
    return loops.forward_dynamics(m, q, v, tau, formulation, way, external, structure=known, regularization=share)[0]


def rates(m: Model, t: SX, x: SX, tau: SX, law: Any = None, **options: Any) -> SX:
    """dx/dt = (N v, accelerations)."""
    q, v = x[: m.nq], x[m.nq :]
    forces = tau if law is None else tau + law(t, q, v)
    return casadi.vertcat(coordinate_rates(m, q) @ v, accelerations(m, q, v, forces, **options))


def manifold_rates(m: Model, t: SX, x: SX, tau: SX, **options: Any) -> SX:
    """dx/dt at the state that x is projected to: f(P(x)).

    On the constraint manifold this is dx/dt itself. Beside it, where f grows without end what is there of constraint
    violation, f(P(x)) neither feeds nor fights it: an integrator sees the smooth equations of the manifold, and its error
    estimate speaks of them alone. One correction is enough for that, since what it leaves is of second order.
    """
    f = subroutine("rates", lambda t, x, tau: rates(m, t, x, tau, **options), 1, x.numel(), m.nu)
    return f(t, projection.projected(m, x, corrections=1) if m.closed else x, tau)


def rates_jacobian(m: Model, t: SX, x: SX, tau: SX, law: Any = None, external: External = None) -> SX:
    """The derivative of dx/dt by x, for implicit methods, whose iterations do not need that of the projection."""
    with inlining():
        return casadi.jacobian(rates(m, t, x, tau, law, external=external), x)


def momenta(m: Model, q: SX, v: SX) -> SX:
    """p = M v."""
    return mass_matrix(m, q) @ v


def momentum_velocities(m: Model, q: SX, p: SX) -> SX:
    """v with M v = p."""
    return factors(mass_matrix(m, q)).solve(p)


def momentum_rates(m: Model, q: SX, v: SX, tau: SX, external: External = None) -> SX:
    """dp/dt = forces + (dM/dt) v - (joint forces that hold the accelerations at zero).

    Where velocities are rates of coordinates this is -dH/dq plus the applied forces: Hamilton's equation.
    """
    force = zeros(m.nv)
    force[list(m.actuated_velocities)] = tau
    with inlining():
        change = casadi.jtimes(momenta(m, q, v), q, coordinate_rates(m, q) @ v)
    return force + change - joint_forces(m, q, v, zeros(m.nv), None, external or {})


def law_forces(m: Model, t: SX, q: SX, v: SX, law: Any) -> SX:
    """What a traced law gives."""
    return law(t, q, v)


X, T = Argument("x", size, "coordinates and velocities"), Argument("t", ())
FORMULATION: Mapping[str, Any] = {"formulation": None, "constraints": None}
LAW: Mapping[str, Any] = {"law": None}
ACCELERATIONS = Formula(
    "accelerations", accelerations, ("q", "v", "tau"), (Argument("a", lambda m, **_: (m.nv,)),), FORMULATION, True
)
STAGE_RATES = Formula("rates", rates, (T, X, "tau"), (Argument("rates", size),), {**FORMULATION, **LAW}, True)
RATES = Formula(
    "manifold_rates", manifold_rates, (T, X, "tau"), (Argument("rates", size),), {**FORMULATION, **LAW}, True
)
JACOBIAN = Formula(
    "rates_jacobian", rates_jacobian, (T, X, "tau"), (Argument("J", lambda m, **_: size(m) * 2),), LAW, True
)
MOMENTA = Formula("momenta", momenta, ("q", "v"), (Argument("p", lambda m: (m.nv,)),))
VELOCITIES = Formula("momentum_velocities", momentum_velocities, ("q", "v"), (Argument("v", lambda m: (m.nv,)),))
FORCES = Formula("law_forces", law_forces, (T, "q", "v"), (Argument("tau", lambda m, **_: (m.nu,)),), LAW)
