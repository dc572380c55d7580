"""A graph of about the size of an arm's dynamics, for the tests of the compiler and of what is exported."""

from __future__ import annotations

from typing import Any

import casadi as ca


def pendulum_chain(n: int) -> Any:
    """Inverse dynamics of a planar chain of n unit links by Lagrange's equations; 507 operations for six links."""
    q, v, a = (ca.SX.sym(s, n) for s in "qva")
    angle, p, potential, kinetic = ca.cumsum(q), ca.SX.zeros(2), 0, 0
    for i in range(n):
        p = p + ca.vertcat(ca.cos(angle[i]), ca.sin(angle[i]))
        speed = ca.jtimes(p, q, v)
        kinetic, potential = kinetic + 0.5 * ca.dot(speed, speed), potential + 9.81 * p[1]
    momentum = ca.gradient(kinetic, v)
    tau = (
        ca.jtimes(momentum, v, a) + ca.jtimes(momentum, q, v) - ca.gradient(kinetic - potential, q)
    )
    return ca.Function("tau", [q, v, a], [ca.cse(tau)], ["q", "v", "a"], ["tau"])
