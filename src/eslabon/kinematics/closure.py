"""Loops: what they hold, and configurations that close them.

The constraint vector Phi(q) stacks the residuals of the cut joints (Yime, 4) and of the couplings; its Jacobian is taken
with respect to the velocities, Phi' = J v, so that quaternions need no care. Both are exact, from one symbolic graph.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from eslabon.algebra.arrays import Array
from eslabon.errors import AssemblyError
from eslabon.kinematics.tree import coordinate_rates, on_body, placements, relative
from eslabon.model import Mechanism

CLOSED = 1e-10  # metres and radians: a hundred times what round-off leaves in a mechanism of a few metres


def constraint(m: Mechanism, q: Any) -> Any:
    """Phi(q) as a CasADi column: the residuals of every loop, then of every coupling."""
    import casadi

    placed = placements(m, q)
    rows = []
    for loop in m.loops:
        first, second = (on_body(placed, end.body, end.at) for end in (loop.first, loop.second))
        rows.append(loop.kind.residual(*relative(first, second)))
    for c in m.couplings:
        driven, source = (q[m.coordinates[name]] for name in (c.joint, c.source))
        rows.append(driven - c.ratio * source - c.offset)
    return casadi.vertcat(*rows)


def row_names(m: Mechanism) -> list[str]:
    """For each row of Phi the loop or coupling it belongs to."""
    return [x.name for x in m.loops for _ in range(6 - x.kind.nv)] + [c.name for c in m.couplings]


@lru_cache(maxsize=64)
def _closure(m: Mechanism) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """q -> Phi, J = dPhi/dt / v, and the matrix N of dq/dt = N v."""
    import casadi

    q = casadi.SX.sym("q", m.nq)
    phi, N = casadi.SX(constraint(m, q)), coordinate_rates(m, q)
    f = casadi.Function("closure", [q], [phi, casadi.mtimes(casadi.jacobian(phi, q), N), N])

    def evaluate(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        phi, J, N = f(x)
        return np.array(phi).ravel(), np.array(J), np.array(N)

    return evaluate


def constraint_jacobian(m: Mechanism, q: np.ndarray) -> np.ndarray:
    """J(q) with dPhi/dt = J v, a row for each scalar constraint."""
    return _closure(m)(np.asarray(q, dtype=float))[1]


def close(m: Mechanism, guess: Array | None = None, restarts: int = 30) -> np.ndarray:
    """A configuration near the guess (by default the home of the description) that closes every loop.

    From the guess itself first, then from starts ever farther around it, always the same ones.
    """
    start = np.array(m.home() if guess is None else guess, dtype=float)
    rng = np.random.default_rng(0)
    rates = _closure(m)(start)[2]
    failure: AssemblyError | None = None
    for k in range(restarts + 1):
        away = rng.normal(size=m.nv) * 3.0 * k / max(restarts, 1)
        try:
            return _close_from(m, tidy(m, start + rates @ away))
        except AssemblyError as error:
            failure = failure or error
    raise failure or AssemblyError(f"{m.name} does not close.")


def _close_from(m: Mechanism, q: np.ndarray, iterations: int = 200) -> np.ndarray:
    """Levenberg-Marquardt on Phi(q) = 0 over all coordinates, so that redundant rows and more freedoms than rows do no
    harm; the last steps are plain Gauss-Newton and converge quadratically."""
    evaluate = _closure(m)
    phi, J, N = evaluate(q)
    damping = 1e-3
    for _ in range(iterations):
        if not np.all(np.isfinite(phi)):
            break
        if np.abs(phi).max(initial=0.0) < CLOSED * 1e-3:
            return q
        step = J.T @ np.linalg.lstsq(J @ J.T + damping * np.linalg.norm(phi) * np.eye(len(phi)), -phi, rcond=1e-13)[0]
        step *= min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-300))  # no joint turns more than a radian at once
        trial = tidy(m, q + N @ step)
        after = evaluate(trial)
        if np.linalg.norm(after[0]) < np.linalg.norm(phi):
            q, (phi, J, N), damping = trial, after, damping * 0.1
        elif damping > 1e12 or np.abs(phi).max() < CLOSED * 1e-2:
            break
        else:
            damping *= 10.0
    if np.all(np.isfinite(phi)) and np.abs(phi).max(initial=0.0) < CLOSED:
        return q
    worst = row_names(m)[int(np.nanargmax(np.abs(phi)))]
    raise AssemblyError(
        f"{m.name} does not close from this start: '{worst}' is left open by {np.nanmax(np.abs(phi)):.3g} (m or rad); "
        "start nearer to a closed configuration, or check the lengths."
    )


def tidy(m: Mechanism, q: np.ndarray) -> np.ndarray:
    """The configuration with its quaternions brought back to unit length."""
    q = q.copy()
    for joint in m.joints:
        if joint.nq != joint.nv:
            quaternion = q[m.coordinates[joint.name]][-4:]
            quaternion /= np.linalg.norm(quaternion)
    return q
