"""How the state of a mechanism changes: the one place that says what is integrated.

The state is x = (q, v); the symplectic method's is y = (q, p) with the momenta p = M v. Everything here is a formula of
CasADi symbols, traced into graphs like every quantity; `settled` serves numbers too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import casadi
import numpy as np

from eslabon.dynamics import closed
from eslabon.dynamics.equations import forward_dynamics, joint_forces, mass_matrix
from eslabon.errors import ModelError
from eslabon.formulations.factor import factors
from eslabon.formulations.symbols import SX, product, zeros
from eslabon.graph.trace import Quantity, Request, native
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import Mechanism
from eslabon.simulate import loops

External = Mapping[str, SX] | None


def check(m: Mechanism) -> None:
    """Refuse what cannot be simulated."""
    if not m.nv:
        raise ModelError(f"{m.name} has no freedom: there is nothing to simulate.")


def accelerations(m: Mechanism, q: SX, v: SX, tau: SX, external: External = None, formulation: str | None = None) -> SX:
    """Forward dynamics, of a tree or with loops."""
    if not m.closed:
        return forward_dynamics(m, q, v, tau, formulation, external)
    return closed.forward_dynamics(m, q, v, tau, formulation, external, ease=loops.ease(m))[0]


def rates(m: Mechanism, q: SX, v: SX, tau: SX, external: External = None, formulation: str | None = None) -> SX:
    """dx/dt = (N v, accelerations)."""
    return casadi.vertcat(coordinate_velocities(m, q, v), accelerations(m, q, v, tau, external, formulation))


def coordinate_velocities(m: Mechanism, q: SX, v: SX) -> SX:
    """dq/dt = N v."""
    return product(coordinate_rates(m, q), v)


def rates_jacobian(m: Mechanism, q: SX, v: SX, tau: SX, external: External = None) -> SX:
    """The derivative of dx/dt by x, for implicit methods."""
    return casadi.jacobian(rates(m, q, v, tau, external), casadi.vertcat(q, v))


def momenta(m: Mechanism, q: SX, v: SX) -> SX:
    """p = M v."""
    return product(mass_matrix(m, q), v)


def momentum_velocities(m: Mechanism, q: SX, p: SX) -> SX:
    """v with M v = p."""
    return factors(mass_matrix(m, q)).solve(p)


def momentum_rates(m: Mechanism, q: SX, v: SX, tau: SX, external: External = None) -> SX:
    """dp/dt = forces + (dM/dt) v - (joint forces that hold the accelerations at zero).

    Where velocities are rates of coordinates this is -dH/dq plus the applied forces: Hamilton's equation.
    """
    force = zeros(m.nv)
    force[list(m.actuated_velocities)] = tau
    change = casadi.jtimes(momenta(m, q, v), q, product(coordinate_rates(m, q), v))
    return force + change - joint_forces(m, q, v, zeros(m.nv), None, external or {})


def quaternions(m: Mechanism) -> list[slice]:
    """Where the quaternions of ball and free joints stand in q: last among their joint's coordinates."""
    ends = [m.coordinates[j.name].stop for j in m.joints if j.nq != j.nv]
    return [slice(end - 4, end) for end in ends]


def settled(m: Mechanism, x: Any) -> Any:
    """The state put back where it belongs: quaternions of unit length, loops closed. x is symbolic, or numbers (..., n)."""
    if isinstance(x, casadi.SX):
        x = casadi.SX(x)
        for place in quaternions(m):
            x[place] = x[place] / casadi.norm_2(x[place])
        return casadi.vertcat(*loops.onto(m, x[: m.nq], x[m.nq :])) if m.closed else x
    x = np.array(x, dtype=float)
    for place in quaternions(m):
        x[..., place] /= np.linalg.norm(x[..., place], axis=-1, keepdims=True)
    good = np.isfinite(x).all(axis=-1)  # a motion that broke down stays broken
    if m.closed and good.any():
        x[good] = _settler(m)(x[good][..., : m.nq], x[good][..., m.nq :])
    return x


@lru_cache(maxsize=64)
def _settler(m: Mechanism) -> Callable[..., Any]:
    return native(m, Request(SETTLED))


def settled_state(m: Mechanism, q: SX, v: SX) -> SX:
    """The state put back where it belongs, as a quantity of its own."""
    return settled(m, casadi.vertcat(q, v))


def _quantity(name: str, inputs: tuple[str, ...], shape: Any, external: bool = True) -> Quantity:
    return Quantity(name, inputs, __name__, shape, external)


ACCELERATIONS = _quantity("accelerations", ("q", "v", "tau"), lambda m: (m.nv,))
RATES = _quantity("rates", ("q", "v", "tau"), lambda m: (m.nq + m.nv,))
JACOBIAN = _quantity("rates_jacobian", ("q", "v", "tau"), lambda m: (m.nq + m.nv, m.nq + m.nv))
COORDINATE_VELOCITIES = _quantity("coordinate_velocities", ("q", "v"), lambda m: (m.nq,), external=False)
SETTLED = _quantity("settled_state", ("q", "v"), lambda m: (m.nq + m.nv,), external=False)
MOMENTA = _quantity("momenta", ("q", "v"), lambda m: (m.nv,), external=False)
VELOCITIES = _quantity("momentum_velocities", ("q", "v"), lambda m: (m.nv,), external=False)
MOMENTUM_RATES = _quantity("momentum_rates", ("q", "v", "tau"), lambda m: (m.nv,))
