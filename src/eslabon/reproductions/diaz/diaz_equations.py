"""Explicit Gibbs-Appell equations and how the paper solves them (eqs. 1 to 8), followed number by number.

The legs are cut from the platform; the independent coordinates' accelerations come from one small system (4), the
dependent coordinates from the loops (3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import eslabon as es
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.compiler.until import until
from eslabon.formulas.constrained.independent_motion import IndependentMotion
from eslabon.formulas.dynamics import forward_dynamics
from eslabon.formulas.inputs import TAU, A, Q, V
from eslabon.formulas.kinematics.closure import equations_in_units
from eslabon.formulas.motion_state import Method, MotionState
from eslabon.formulas.structure import Structure
from eslabon.mechanism import Floats
from eslabon.reproductions.verdicts import greatest
from eslabon.solve.constraints.constraint_structure import constraint_structure
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
        self.i, self.e = list(self.m.actuated_velocities), dependent(self.m)
        self._reduced: Any = evaluate(self.m, REDUCED_RATES, prepare=constraint_structure)

    def jacobian(self, q: Floats) -> Floats:
        return self.m.constraint_jacobian(q)[self.rows]

    def state(self, qi: Floats, vi: Floats) -> tuple[Floats, Floats]:
        """All coordinates by Newton's iteration, all rates by q_e' = -Phi_e^-1 Phi_i q_i'."""
        q, v, _ = self.motion(qi, vi, np.zeros(self.m.nu))
        return q, v

    def motion(self, qi: Floats, vi: Floats, tau: Floats) -> tuple[Floats, Floats, Floats]:
        """The same, and all accelerations under forces.

        Far states, which integrators try, are reached in strides: one Newton run might find the other way to close.
        """
        q, v, a, left, far = self._reduced(self.guess, qi, vi, tau)
        if far > STRIDE:
            way, q = qi - self.guess[self.i], self.guess
            for share in np.linspace(1.0, 0.0, math.ceil(far / STRIDE), endpoint=False)[1:]:
                q = self._reduced(q, qi - way * share, vi, tau)[0]
            q, v, a, left, _ = self._reduced(q, qi, vi, tau)
        if not left < CLOSED:
            raise es.AssemblyError(f"{self.m.name} does not close: {left:.1e} m are left.")
        self.guess = q
        return q, v, a


def dependent(m: es.Mechanism) -> list[int]:
    """The places of the coordinates that are not driven."""
    return [k for k in range(m.nv) if k not in m.actuated_velocities]


def reduced_rates(
    m: es.Mechanism, guess: Any, qi: Any, vi: Any, tau: Any, *, structure: Structure
) -> list[Any]:
    """q, v and a from the independent coordinates and rates (eqs. 3 and 4), what the loops are open by, and how far the
    independent coordinates went: Newton's iteration and the explicit equations as one native function."""
    from eslabon.numerics.scalars import casadi

    rows, i, e = structure.partition.rows, list(m.actuated_velocities), dependent(m)

    def newton(q: Any) -> tuple[Any, Any]:
        phi, J, _, _ = equations_in_units(m, q, None, rows)
        moved = IndependentMotion(J, i, e).dependent_motion(phi)
        left = casadi.norm_inf(phi)
        return casadi.if_else(left < CLOSED, q, q - moved), left < CLOSED

    start = casadi.SX(guess)
    start[i, :] = qi
    q, _, _ = until(newton, start, limit=20)
    phi, J, _, _ = equations_in_units(m, q, None, rows)
    v = IndependentMotion(J, i, e).whole(vi)
    method = Method(None, "elimination", structure=structure)
    a, far = forward_dynamics(MotionState(m, q, v, method), tau)[0], guess[i, :] - qi
    return [q, v, a, casadi.norm_inf(phi), casadi.norm_inf(far)]


def augmented_rates(m: es.Mechanism, x: Any, tau: Any, *, structure: Structure) -> Any:
    """The rates of all coordinates and their rates, with multipliers."""
    from eslabon.numerics.scalars import casadi

    q, v = x[: m.nq], x[m.nq :]
    method = Method(None, "multipliers", structure=structure)
    return casadi.vertcat(v, forward_dynamics(MotionState(m, q, v, method), tau)[0])


OWN = (Argument("qi", lambda m: (m.nu,)), Argument("vi", lambda m: (m.nu,)))
REDUCED_RATES = Formula(
    "explicit_rates", reduced_rates, (Q, *OWN, TAU), (Q, V, A, Argument("left", ()), Argument("far", ())),
    prepare=constraint_structure,
)  # fmt: skip
X = Argument("x", lambda m: (m.nq + m.nv,))
AUGMENTED_RATES = Formula(
    "augmented_rates", augmented_rates, (X, TAU), (X,), prepare=constraint_structure
)


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
