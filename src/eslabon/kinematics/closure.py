"""Loops: what they hold, which of it is independent, and configurations that close them.

The constraint vector Phi(q) stacks the residuals of the cut joints (Yime, 4) and of the couplings. Its Jacobian J is
taken with respect to the velocities, Phi' = J v, so that quaternions need no care, and gamma is the velocity product:
J v' = gamma. All are exact, from one symbolic graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from eslabon.errors import AssemblyError
from eslabon.kinematics.tree import coordinate_rates, on_body, placements, relative
from eslabon.model import Mechanism

CLOSED = 1e-10  # metres and radians: a hundred times what round-off leaves in a mechanism of a few metres
TORN = 1e-6  # metres or radians, and per second: what a state may tear the loops by, unless the caller says otherwise
RANK = 1e-8  # of the largest singular value: what is smaller is a dependent row, or a singular posture
SOUND = 1e-3  # an inverse condition number that is good enough for a division of the velocities


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


def constraint_jacobian(m: Mechanism, q: Any) -> Any:
    """J(q) as a CasADi matrix, a row for each scalar constraint."""
    import casadi

    return casadi.mtimes(casadi.jacobian(constraint(m, q), q), coordinate_rates(m, q))


def equations(m: Mechanism, q: Any, v: Any, rows: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """Phi, J and gamma of some of the rows."""
    import casadi

    from eslabon.kinematics.circuit import circuits, held

    parts = [(casadi.SX(0, 1), casadi.SX(0, m.nv), casadi.SX(0, 1))]
    parts += [held(loop.kind, walked) for loop, walked in zip(m.loops, circuits(m, q, v), strict=True)]
    for c in m.couplings:
        (driven, source), row = (q[m.coordinates[name]] for name in (c.joint, c.source)), casadi.SX(1, m.nv)
        row[m.velocities[c.joint]], row[m.velocities[c.source]] = 1, -c.ratio
        parts.append((driven - c.ratio * source - c.offset, row, casadi.SX(1, 1)))
    phi, J, gamma = (casadi.vertcat(*column)[list(rows), :] for column in zip(*parts, strict=True))
    return phi, casadi.sparsify(J), gamma


def row_names(m: Mechanism) -> list[str]:
    """For each row of Phi the loop or coupling it belongs to."""
    return [x.name for x in m.loops for _ in range(6 - x.kind.nv)] + [c.name for c in m.couplings]


# -- independent rows and columns -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Partition:
    """The independent rows of Phi, and a division of the velocities: `dependent` follow from `independent`."""

    rows: tuple[int, ...]
    independent: tuple[int, ...]
    dependent: tuple[int, ...]


@lru_cache(maxsize=256)
def partition(m: Mechanism, preferred: tuple[int, ...] | None = None) -> Partition:
    """A division of rows and velocities that is sound near the home posture, with `preferred` velocities (by default
    the actuated ones) among the independent as far as that goes.

    It is meant for the mechanism and not for one posture: where home is singular for the preferred ones, postures
    farther off say what they can do.
    """
    wanted = m.actuated_velocities if preferred is None else preferred
    best, most = partition_at(m, generic(m), wanted), (-1, -1.0)
    for q in _around(m):
        p = partition_at(m, q, wanted)
        size = np.linalg.svd(jacobian_at(m, q)[list(p.rows)][:, list(p.dependent)], compute_uv=False)
        sound = float(size[-1] / size[0]) if len(size) and size[0] > 0 else 1.0
        useful = len(set(wanted) & set(p.independent))
        if len(p.rows) >= len(best.rows) and (useful, min(sound, SOUND)) > most:
            best, most = p, (useful, min(sound, SOUND))
        if most == (min(len(wanted), len(best.independent)), SOUND):
            break
    return best


@lru_cache(maxsize=256)
def steady(m: Mechanism) -> bool:
    """Whether the same rows are dependent in every posture, as across the plane of a planar loop; then those of the
    partition serve everywhere. In overconstrained loops such as Bennett's the dependence changes with the posture."""
    hidden = None
    for q in _around(m):
        J = jacobian_at(m, q)
        U, size, _ = np.linalg.svd(J)
        if hidden is None:
            hidden = U[:, int((size > RANK * size.max(initial=0.0)).sum()) :]
        elif np.abs(hidden.T @ J).max(initial=0.0) > RANK * size.max(initial=0.0):
            return False
    return True


def serving_rows(m: Mechanism) -> tuple[int, ...]:
    """Rows that hold all that the loops hold, in every posture: independent ones where that can be."""
    return partition(m).rows if steady(m) else tuple(range(len(row_names(m))))


def _around(m: Mechanism) -> Iterator[np.ndarray]:
    """Closed postures, home first and then farther and farther off."""
    rng, q = np.random.default_rng(2), generic(m)
    yield q
    for far in (0.1, 0.3, 1.0, 0.1, 0.3, 1.0):
        yield _beside(m, q, rng, far)


def partition_at(m: Mechanism, q: np.ndarray, preferred: tuple[int, ...]) -> Partition:
    """The same at a given closed posture, by pivoting."""
    from scipy.linalg import qr

    J = _closure(m)(q)[1]
    rows = _pivots(qr(J.T, mode="r", pivoting=True))
    kept = J[rows]
    passive = [k for k in range(m.nv) if k not in preferred]
    dependent = [passive[k] for k in _pivots(qr(kept[:, passive], mode="r", pivoting=True))] if passive else []
    if len(dependent) < len(rows):  # more actuators than freedoms, or the wrong ones: complete with preferred columns
        basis, _ = np.linalg.qr(kept[:, dependent]) if dependent else (np.zeros((len(rows), 0)), None)
        rest = [k for k in range(m.nv) if k not in dependent]
        left = kept[:, rest] - basis @ (basis.T @ kept[:, rest])
        order = qr(left, mode="r", pivoting=True)[1]
        dependent += [rest[k] for k in order[: len(rows) - len(dependent)]]
    independent = tuple(k for k in range(m.nv) if k not in dependent)
    return Partition(tuple(sorted(rows)), independent, tuple(sorted(dependent)))


def _pivots(factor: tuple[np.ndarray, np.ndarray]) -> list[int]:
    """The columns a pivoted factorisation finds independent."""
    R, order = factor
    size = np.abs(np.diag(R))
    rank = int((size > RANK * size.max(initial=0.0)).sum())
    return [int(k) for k in order[:rank]]


@lru_cache(maxsize=256)
def generic(m: Mechanism) -> np.ndarray:
    """A closed posture near home at which the constraints have their full rank: home itself, or one beside it."""
    rng = np.random.default_rng(1)
    best, rank = close(m), -1
    for k in range(6):
        J = _closure(m)(best if k == 0 else (trial := _beside(m, best, rng)))[1]
        size = np.linalg.svd(J, compute_uv=False)
        found = int((size > RANK * size.max(initial=0.0)).sum())
        if found > rank:
            rank, best = found, best if k == 0 else trial
    return best


def _beside(m: Mechanism, q: np.ndarray, rng: np.random.Generator, far: float = 0.1) -> np.ndarray:
    """A closed posture a short way off, along the freedoms."""
    _, J, N = _closure(m)(q)
    _, size, V = np.linalg.svd(J)
    free = V[int((size > RANK * size.max(initial=0.0)).sum()) :]
    step = free.T @ rng.normal(size=len(free)) * far
    try:
        return _close_from(m, tidy(m, q + N @ step))
    except AssemblyError:
        return q


# -- number by number: finding a first closed posture -----------------------------------------------------------------


@lru_cache(maxsize=256)
def _closure(m: Mechanism) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """q -> Phi, J and the matrix N of dq/dt = N v."""
    import casadi

    q = casadi.SX.sym("q", m.nq)
    phi, N = casadi.SX(constraint(m, q)), coordinate_rates(m, q)
    f = casadi.Function("closure", [q], [phi, casadi.mtimes(casadi.jacobian(phi, q), N), N])

    def evaluate(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        phi, J, N = f(x)
        return np.array(phi).ravel(), np.array(J), np.array(N)

    return evaluate


def residuals_at(m: Mechanism, q: np.ndarray) -> np.ndarray:
    """Phi at one posture, as numbers."""
    return _closure(m)(np.asarray(q, dtype=float))[0]


def jacobian_at(m: Mechanism, q: np.ndarray) -> np.ndarray:
    """J at one posture, as numbers."""
    return _closure(m)(np.asarray(q, dtype=float))[1]


def close(m: Mechanism, guess: np.ndarray | None = None, restarts: int = 30) -> np.ndarray:
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
    """Configurations with their quaternions brought back to unit length."""
    q = q.copy()
    for joint in m.joints:
        if joint.nq != joint.nv:
            quaternion = q[..., m.coordinates[joint.name]][..., -4:]
            quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return q
