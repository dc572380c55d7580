"""The mass matrix by numbers: motions that move no mass, which are legal until something needs its inverse, and how much
the rows of the loops weigh."""

from __future__ import annotations

from functools import lru_cache

import casadi
import numpy as np

from eslabon.errors import ModelError
from eslabon.kinematics.closure import generic, jacobian_at
from eslabon.model import Mechanism

LEAST = 1e-13  # of a mass matrix with ones on its diagonal
NOTHING = 1e-15  # of all mass, times the mechanism's size squared where a joint turns: round-off
LIGHT = 1e-7  # of the same: a motion that M resists so little is better held by the loops


@lru_cache(maxsize=256)
def massless_motion(m: Mechanism) -> str | None:
    """The joint of the tree whose motion moves no mass, whatever the posture, if there is one."""
    rng = np.random.default_rng(0)
    total = sum(_masses(m, m.home() + rng.normal(size=m.nq) * 0.3) for _ in range(4))
    return _unresisted(m, np.asarray(total))


@lru_cache(maxsize=256)
def stiffening(m: Mechanism) -> float:
    """What makes M + rho J^T J invertible, and well so, for a mechanism with loops: zero where M is.

    Loops may hold what moves no mass in the tree, such as a slender rod between hinges; since J v' = gamma, adding
    rho J^T J to M and rho J^T gamma to the forces changes no motion. What the loops leave free must have mass.
    """
    q = generic(m)
    M, J = _masses(m, q), jacobian_at(m, q)
    if massless_motion(m) is None and np.linalg.eigvalsh(M / np.outer(_scale(m), _scale(m)))[0] > LIGHT:
        return 0.0
    rho = np.trace(M) / max(float(np.sum(J * J)), 1e-300)
    name = _unresisted(m, M + rho * J.T @ J)
    if name is not None:
        raise _refusal(m, name)
    return float(rho)


@lru_cache(maxsize=256)
def row_sizes(m: Mechanism) -> tuple[float, ...]:
    """The diagonal of J M^-1 J^T at an ordinary posture, for all rows of the loops: what is small is measured by it."""
    q = generic(m)
    M, J = _masses(m, q), jacobian_at(m, q)
    sizes = np.einsum("ij,ji->i", J, np.linalg.solve(M + stiffening(m) * J.T @ J, J.T))
    return tuple(np.maximum(sizes, 1e-6 * sizes.max(initial=0.0)).tolist())  # a row of zeros gets a little too


def refuse_massless(m: Mechanism) -> None:
    """Forward dynamics needs the inverse of the mass matrix."""
    name = massless_motion(m)
    if name is not None:
        raise _refusal(m, name)


def _refusal(m: Mechanism, name: str) -> ModelError:
    return ModelError(
        f"forward dynamics of {m.name}: the motion of '{name}' moves no mass, so no force determines its acceleration; "
        "give the bodies it carries mass or inertia, or its motor an inertia."
    )


def _masses(m: Mechanism, posture: np.ndarray) -> np.ndarray:
    return np.array(_mass_function(m)(posture))


@lru_cache(maxsize=256)
def _mass_function(m: Mechanism) -> casadi.Function:
    from eslabon.dynamics.equations import mass_matrix

    q = casadi.SX.sym("q", m.nq)
    return casadi.Function("M", [q], [casadi.densify(mass_matrix(m, q))])


@lru_cache(maxsize=256)
def _scale(m: Mechanism) -> np.ndarray:
    """For each velocity the root of the mass, or of the mass times a length squared, that it could move."""
    total = float(sum(b.mass for b in m.bodies)) + 1e-300
    size = max([float(np.linalg.norm(x)) for x in _lengths(m)], default=0.0) or 1.0
    moves = [np.asarray(j.kind.motion(np.array(j.kind.neutral())), dtype=float) for j in m.joints if j.nv]
    turns = np.concatenate([np.abs(S[:3]).max(axis=0) > 0 for S in moves])
    return np.sqrt(total) * np.where(turns, size, 1.0)


def _lengths(m: Mechanism) -> list[tuple[float, ...]]:
    """What makes up the size of a mechanism."""
    ends = [end.at.position for loop in m.loops for end in (loop.first, loop.second)]
    return [*(j.at.position for j in m.joints), *(b.com for b in m.bodies), *ends]


def _unresisted(m: Mechanism, M: np.ndarray) -> str | None:
    """The joint that moves most in a motion which a mass matrix does not resist."""
    own = np.diag(M) / _scale(m) ** 2
    if np.all(own > NOTHING):
        scale = np.sqrt(np.diag(M))
        values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
        if values[0] > LEAST:
            return None
        place = int(np.abs(vectors[:, 0]).argmax())
    else:
        place = int(own.argmin())
    return next(j.name for j in m.joints if place in range(m.nv)[m.velocities[j.name]])
