"""Explicit Gibbs-Appell equations and how the paper solves them (eqs. 1 to 8), followed number by number.

The legs are cut from the platform; the independent coordinates' accelerations come from one small system (4), the
dependent coordinates from the loops (3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import eslabon as es
from eslabon.mechanism import Floats
from eslabon.reproductions.verdicts import greatest
from eslabon.solve.constraints.independent_coordinates import partition

CLOSED = 1e-13  # metres: where Newton's iteration on the loops stops
STRIDE = 0.2  # radians
METHODS = ("elimination", "multipliers", "udwadia_kalaba")  # for the constraints


@dataclass
class Loops:
    """The closure of a mechanism, split into independent and dependent coordinates (eq. 3)."""

    m: es.Mechanism
    guess: Floats  # the last configuration found, where the next search begins

    def __post_init__(self) -> None:
        self.rows = list(partition(self.m).rows)
        self.i = list(self.m.actuated_velocities)
        self.e = [k for k in range(self.m.nv) if k not in self.i]

    def jacobian(self, q: Floats) -> Floats:
        return self.m.constraint_jacobian(q)[self.rows]

    def state(self, qi: Floats, vi: Floats) -> tuple[Floats, Floats]:
        """All coordinates by Newton's iteration, all rates by q_e' = -Phi_e^-1 Phi_i q_i'.

        Far states, which integrators try, are reached in strides: one Newton run might find the other way to close.
        """
        q, v = self.guess.copy(), np.zeros(self.m.nv)
        way = qi - q[self.i]
        strides = max(1, int(np.ceil(greatest(way) / STRIDE)))
        for k in reversed(range(strides)):
            q[self.i] = qi - way * (k / strides)
            self._close(q)
        J = self.jacobian(q)
        v[self.i], v[self.e] = vi, -np.linalg.solve(J[:, self.e], J[:, self.i] @ vi)
        self.guess = q
        return q, v

    def _close(self, q: Floats) -> None:
        for _ in range(20):
            left = self.m.constraint(q)[self.rows]
            if greatest(left) < CLOSED:
                return
            q[self.e] -= np.linalg.solve(self.jacobian(q)[:, self.e], left)
        raise es.AssemblyError(f"{self.m.name} does not close: {greatest(left):.1e} m are left.")

    def projected(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The nearest closed configuration and the nearest rates that keep it closed, for all coordinates alike."""
        for _ in range(20):
            left = self.m.constraint(q)[self.rows]
            if greatest(left) < CLOSED:
                break
            q = q - np.linalg.pinv(self.jacobian(q)) @ left
        J = self.jacobian(q)
        return q, v - np.linalg.pinv(J) @ (J @ v)


def explicit(m: es.Mechanism, q: Floats, v: Floats, tau: Floats) -> Floats:
    """Eq. 4 corrected, number by number: the legs' mass matrix and bias, S, and the accelerations."""
    loops, open_legs = Loops(m, q), cut(m)
    i, e = loops.i, loops.e
    D, force = open_legs.mass_matrix(q), np.zeros(m.nv)
    force[i] = tau
    force -= open_legs.inverse_dynamics(q, v, np.zeros(m.nv))  # the idea of Walker and Orin (L78)
    J = loops.jacobian(q)
    b = -(m.derivative("constraint_jacobian", "q", q) @ v @ v)[loops.rows]
    X, drift = np.linalg.solve(J[:, e], J[:, i]), np.linalg.solve(J[:, e], b)
    D_ee, D_ei, D_ie, D_ii = (D[np.ix_(r, c)] for r in (e, i) for c in (e, i))
    S = D_ii + X.T @ D_ee @ X - D_ie @ X - X.T @ D_ei
    a = np.zeros(m.nv)
    a[i] = np.linalg.solve(S, force[i] - X.T @ force[e] + (X.T @ D_ee - D_ie) @ drift)
    a[e] = drift - X @ a[i]
    return a


@cache
def cut(m: es.Mechanism) -> es.Mechanism:
    """The legs without their loops, every joint with its force."""
    every = tuple(j.name for j in m.description.joints)
    return es.Mechanism(replace(m.description, loops=(), actuated=every))


def explicit_error(m: es.Mechanism, q: Floats, v: Floats, tau: Floats) -> float:
    """Eq. 4 against the compiled ways, all of them: the greatest difference of an acceleration."""
    worst = 0.0
    for state in zip(q, v, tau, strict=True):
        mine = explicit(m, *state)
        worst = max(
            [worst, *(greatest(m.forward_dynamics(*state, constraints=x) - mine) for x in METHODS)]
        )
    return worst
