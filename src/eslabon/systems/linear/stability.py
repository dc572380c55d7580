"""Whether a mechanism stays near an equilibrium: by the Hessian of its potential on the constraint
manifold, and by poles.

With N a basis of the motions that loops allow, small displacements N y and velocities N w - S y
obey

    y' = w + N^T T N y,    M_r w' = N^T M S y' - (N^T K N - N^T D S) y - N^T D N w,    S = J^+ d(J v)/dq N

(see `dynamics.steady`). At rest S = T = 0. Lagrange and Dirichlet: a minimum of the potential is
stable, and dampers change nothing of that; without one the rest is unstable (Kelvin, Tait,
Chetaev). For forces that have no potential, and for steady motions, poles decide; on the imaginary
axis the potential amended by the momenta of cyclic coordinates (Routh), if it has a minimum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUND_OFF = 1e-11  # of the largest stiffness
AXIS = 1e-9  # of the largest pole: what is on the imaginary axis
SYMMETRIC = 1e-9

WORDS = ("stable", "unstable", "marginal", "gyroscopic", "undetermined")
STABLE, UNSTABLE, MARGINAL, GYROSCOPIC, UNDETERMINED = WORDS


class Small(NamedTuple):
    """The matrices (k, n, n) of small motions in independent coordinates, and whether each lane is
    in motion."""

    M: Floats
    K: Floats
    D: Floats
    T: Floats
    C: Floats  # N^T M S
    moving: Any


def small_motions(
    N: Floats, back: Floats, K: Floats, terms: tuple[Floats, ...], moving: Any
) -> Small:
    """Reduced to a basis N (k, nv, n) of what J, whose pseudoinverse is `back`, leaves free."""
    M, D, G, T = terms
    Nt = np.swapaxes(N, 1, 2)
    S = back @ (G @ N)
    return Small(Nt @ M @ N, Nt @ K @ N - Nt @ D @ S, Nt @ D @ N, Nt @ T @ N, Nt @ M @ S, moving)


def poles(s: Small) -> Any:
    """The poles (k, 2 n), infinite where no mass resists; sorted by size. Displacements that change
    nothing, such as those along a cyclic coordinate, have theirs at zero exactly."""
    n = s.M.shape[-1]
    shift = s.C @ s.T - s.K
    neutral = _neutral(np.concatenate([shift, s.T], axis=1))
    top = np.concatenate([s.T, np.eye(n) - neutral], axis=2)
    rates = np.concatenate([shift, s.C - s.D], axis=2)
    made = np.full((len(s.M), 2 * n), np.inf, dtype=complex)
    size = np.linalg.svd(s.M, compute_uv=False)
    massive = size[:, -1] > 1e-12 * size[:, 0] if n else np.zeros(len(s.M), dtype=bool)
    if massive.any():
        bottom = np.linalg.solve(s.M[massive], rates[massive])
        made[massive] = np.linalg.eigvals(np.concatenate([top[massive], bottom], axis=1))
    for k in np.flatnonzero(~massive) if n else ():
        found = _massless_poles(s.M[k], np.concatenate([top[k], rates[k]]))
        made[k, : len(found)] = found
    return np.take_along_axis(made, np.argsort(np.abs(made), axis=-1, kind="stable"), axis=-1)


def _neutral(columns: Floats) -> Floats:
    """The projection onto displacements that no row answers to, for each lane."""
    _, size, Vt = np.linalg.svd(columns, full_matrices=False)
    free = Vt * (size <= ROUND_OFF * size.max(axis=-1, keepdims=True, initial=0.0))[..., None]
    return np.swapaxes(free, 1, 2) @ free


def _massless_poles(M: Floats, A: Floats) -> Any:
    """The finite poles where M is singular: of a pencil, less the motions that nothing at all
    resists."""
    from scipy.linalg import eig

    n = len(M)
    _, size, Vt = np.linalg.svd(np.concatenate([M, A[n:, :n], A[n:, n:]]))
    V = Vt[size > 1e-12 * size.max(initial=0.0)].T
    two = np.kron(np.eye(2), V)
    E = np.kron(np.diag([1.0, 0.0]), np.eye(V.shape[1])) + np.kron(np.diag([0.0, 1.0]), V.T @ M @ V)
    values = eig(two.T @ A @ two, E, right=False)
    return values[np.isfinite(values) & (np.abs(values) < 1e12)]


def stability(s: Small, found: Any, singular: Any) -> Any:
    """A word for each lane: "stable", "unstable", "marginal" (neutral to first order), "gyroscopic"
    (held by the motion alone: poles on the imaginary axis without a minimum of the potential, which
    damping upsets in time), or "undetermined" at a singular configuration."""
    words = np.full(len(s.M), STABLE, dtype=object)  # what has no degree of freedom stays
    if s.M.shape[-1]:
        largest = np.abs(s.K).max(axis=(1, 2), initial=0.0)
        skew = np.abs(s.K - np.swapaxes(s.K, 1, 2)).max(axis=(1, 2), initial=0.0)
        still = ~s.moving & (skew <= SYMMETRIC * largest)
        curvature = np.linalg.eigvalsh((s.K + np.swapaxes(s.K, 1, 2)) / 2)[:, 0]
        by_hessian = np.where(
            curvature > ROUND_OFF * largest,
            STABLE,
            np.where(curvature < -ROUND_OFF * largest, UNSTABLE, MARGINAL),
        )
        words = np.where(still, by_hessian, _by_poles(s, found)).astype(object)
    words[singular] = UNDETERMINED
    return words


def _by_poles(s: Small, found: Any) -> Any:
    finite = np.where(np.isfinite(found), found, 0.0)
    tolerance = AXIS * np.abs(finite).max(axis=-1, keepdims=True, initial=0.0)
    grows = (finite.real > tolerance).any(axis=-1)
    nonzero = np.abs(finite) > tolerance
    decays = (~nonzero | (finite.real < -tolerance)).all(axis=-1)
    neutral = _neutral(np.concatenate([s.C @ s.T - s.K, s.T], axis=1))
    cyclic = np.rint(np.trace(neutral, axis1=1, axis2=2))
    zeros = (~nonzero & np.isfinite(found)).sum(axis=-1)
    # Each cyclic coordinate brings its own zero, and one for the steady motions beside this one;
    # more are neutral.
    known = np.where(s.moving, 2 * cyclic, 0)
    on_axis = np.full(len(found), MARGINAL, dtype=object)
    for k in np.flatnonzero(s.moving & ~grows & ~decays):
        on_axis[k] = STABLE if _has_minimum(Small(*(x[k] for x in s)), neutral[k]) else GYROSCOPIC
    return np.where(
        grows, UNSTABLE, np.where(zeros > known, MARGINAL, np.where(decays, STABLE, on_axis))
    )


def _has_minimum(s: Small, neutral: Floats) -> bool:
    """Whether the amended potential of one state has a minimum across the cyclic directions: K +
    P_y^T M_c^-1 P_y is positive definite, with P_y the slope of the cyclic momenta."""
    _, V = np.linalg.eigh((neutral + neutral.T) / 2)
    n = len(V) - round(float(np.trace(neutral)))
    across, cyclic = V[:, :n], V[:, n:]
    slope = cyclic.T @ (s.D - s.C) @ across
    K = across.T @ s.K @ across + slope.T @ np.linalg.pinv(cyclic.T @ s.M @ cyclic) @ slope
    return bool((np.linalg.eigvalsh((K + K.T) / 2) > ROUND_OFF * np.abs(K).max(initial=0.0)).all())
