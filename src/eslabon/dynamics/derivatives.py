"""Derivatives of the joint forces."""

from __future__ import annotations

from collections.abc import Mapping

import casadi

from eslabon.dynamics import trees
from eslabon.formulations.symbols import SX
from eslabon.graph.calls import inlining
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates


def inverse_dynamics_derivatives(
    m: Model, q: SX, v: SX, a: SX, external: Mapping[str, SX] | None = None
) -> tuple[SX, SX, SX]:
    """Of all joint forces by q (along the velocities) and v, and the mass matrix."""
    given = casadi.SX.sym("a", m.nv)
    with inlining():
        tau = trees.joint_forces(m, q, v, given, None, external or {})
        found = [casadi.jacobian(tau, q) @ coordinate_rates(m, q), casadi.jacobian(tau, v), casadi.jacobian(tau, given)]
    by_q, by_v, M = casadi.substitute(found, [given], [casadi.SX(a)])
    return by_q, by_v, M
