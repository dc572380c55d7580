"""The formulas behind the verbs of dynamics, for trees: each puts a formulation and what acts on the mechanism together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

import casadi

from eslabon.dynamics.applied import joint_resistance, motor_inertia, potential, wrenches
from eslabon.dynamics.massless import refuse_massless
from eslabon.errors import ModelError, suggest
from eslabon.formulations import (
    articulated,
    composite,
    gibbs_appell,
    lagrange,
    lie,
    newton_euler,
    quaternion,
)
from eslabon.formulations.factor import factors
from eslabon.formulations.inertia import Inertia
from eslabon.formulations.links import Link, links, short
from eslabon.formulations.symbols import SX, lean, product, zeros
from eslabon.model import Mechanism

FORMULATIONS: dict[str, ModuleType] = {
    "newton_euler": newton_euler,
    "lagrange": lagrange,
    "lie": lie,
    "gibbs_appell": gibbs_appell,
    "quaternion": quaternion,
}
External = Mapping[str, SX]


def formulated(name: str | None) -> Callable[..., SX]:
    """The inverse dynamics of a formulation; without a name, the one with the fewest operations."""
    chosen = FORMULATIONS.get(name or "newton_euler")
    if chosen is None:
        raise ModelError(f"there is no formulation {name!r}{suggest(str(name), FORMULATIONS)}")
    return chosen.inverse_dynamics


def joint_forces(m: Mechanism, q: SX, v: SX, a: SX, formulation: str | None, external: External) -> SX:
    """The force in every freedom: rigid-body motion, motors' own inertia, springs and friction, less what is applied."""
    rigid = formulated(formulation)(m, q, v, a, wrenches=wrenches(m, q, v, external))
    return lean(rigid + motor_inertia(m) * a + joint_resistance(m, q, v))


def inverse_dynamics(
    m: Mechanism, q: SX, v: SX, a: SX, formulation: str | None = None, external: External | None = None
) -> SX:
    """The actuators' forces for a motion."""
    return joint_forces(m, q, v, a, formulation, external or {})[list(m.actuated_velocities)]


def forward_dynamics(
    m: Mechanism, q: SX, v: SX, tau: SX, formulation: str | None = None, external: External | None = None
) -> SX:
    """The accelerations under the actuators' forces."""
    refuse_massless(m.plain)
    force = zeros(m.nv)
    force[list(m.actuated_velocities)] = tau
    if formulation is not None:
        return _by_formulation(m, q, v, force, formulation, external or {})
    applied = wrenches(m, q, v, external or {})
    force = lean(force - joint_resistance(m, q, v) + lagrange.virtual_work(m, q, applied))
    tree = short(m)
    if articulated_pays(tree):
        return articulated.accelerations(m, tree, q, v, force, casadi.densify(motor_inertia(m)))
    M = lean(composite.of_links(tree, q, m.nv) + casadi.diag(motor_inertia(m)))
    return factors(M).solve(force - newton_euler.joint_forces(m, tree, q, v, zeros(m.nv), {}))


def articulated_pays(tree: list[Link]) -> bool:
    """Whether articulated bodies take fewer operations than factors of the mass matrix: on long chains.

    Counted on random trees: a body costs articulated bodies about 600 operations, and the mass matrix about 45 for
    each joint between it and the ground and one for each pair of them.
    """
    depth: list[int] = []
    for link in tree:
        depth.append((depth[link.parent] if link.parent >= 0 else 0) + link.kind.nv)
    return sum(150 + 45 * d + d * d for d in depth) > 620 * len(tree)


def _by_formulation(m: Mechanism, q: SX, v: SX, force: SX, formulation: str, external: External) -> SX:
    """v' from a formulation's own inverse dynamics, which is affine in it: M v' + h = force."""
    a = casadi.SX.sym("a", m.nv)
    needed = casadi.densify(joint_forces(m, q, v, a, formulation, external))
    M, h = casadi.jacobian(needed, a), casadi.substitute(needed, a, casadi.SX.zeros(m.nv))
    return factors(M).solve(force - h)


def mass_matrix(m: Mechanism, q: SX) -> SX:
    """M(q), motors' own inertia included."""
    return lean(composite.mass_matrix(m, q) + casadi.diag(motor_inertia(m)))


def coriolis_matrix(m: Mechanism, q: SX, v: SX) -> SX:
    """C(q, v) with dM/dt - 2 C skew (Rojas, eq. 4.3.33)."""
    return lagrange.matrices(m, q, v)[1]


def gravity_forces(m: Mechanism, q: SX) -> SX:
    """The joint forces that hold the weight."""
    still = zeros(m.nv)
    return newton_euler.joint_forces(m, short(m), q, still, still, {})


def energy(m: Mechanism, q: SX, v: SX) -> SX:
    """Kinetic and potential energy."""
    momentum = product(mass_matrix(m, q), v)
    return casadi.vertcat(casadi.dot(v, momentum) / 2, potential(m, q))


def reactions_under_forces(m: Mechanism, q: SX, v: SX, tau: SX, external: External | None = None) -> SX:
    """The same when the actuators' forces are given, and the motion follows from them."""
    return reactions(m, q, v, forward_dynamics(m, q, v, tau, external=external), external)


def reactions(m: Mechanism, q: SX, v: SX, a: SX, external: External | None = None) -> SX:
    """A row for each joint: the moment and force it transmits to its child, in the child's axes about its origin."""
    tree = links(m)
    moved = newton_euler.outward(m, tree, q, v, a)
    rows = newton_euler.inward(tree, moved, wrenches(m, q, v, external or {}))
    return casadi.vertcat(*(row.T for row in rows))


def regressor(m: Mechanism, q: SX, v: SX, a: SX) -> SX:
    """Y with joint forces Y pi, linear in the inertial parameters pi of all bodies, ten each:
    mass, m c (3), and Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the body's frame."""
    pi = casadi.SX.sym("pi", 10 * len(m.bodies))
    tree = [_replaced(link, pi[10 * k : 10 * k + 10]) for k, link in enumerate(links(m))]
    return casadi.jacobian(newton_euler.joint_forces(m, tree, q, v, a, {}), pi)


def _replaced(link: Link, pi: SX) -> Link:
    """The link with the usual ten parameters: Sigma = tr(J)/2 1 - J."""
    from dataclasses import replace

    mass, first, (xx, yy, zz, xy, xz, yz) = pi[0], pi[1:4], (pi[k] for k in range(4, 10))
    half = (xx + yy + zz) / 2
    second = casadi.vertcat(
        casadi.horzcat(half - xx, -xy, -xz), casadi.horzcat(-xy, half - yy, -yz), casadi.horzcat(-xz, -yz, half - zz)
    )
    return replace(link, inertia=Inertia(mass, first, second))
