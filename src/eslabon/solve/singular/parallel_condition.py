"""The parallel kind of condition: how well locked actuators hold a mechanism (Gosselin and Angeles,
Singularity analysis of closed-loop kinematic chains, 1990, their second kind).

It is a property of the mechanism and not of its model, so no coordinates, cut joints or rows of
constraints are compared. With all actuators locked every joint has a small error: its two bodies
are off by a twist at the joint's centre. The passive joints give way until all loops close again,
and the bodies move by

    H e = (T_e - T_p J_p^+ J_e) e,

where e are the errors of the joints and of the actuators, J_e e + J_p v_p = 0 closes the loops with
errors, p stands for the passive velocities, and T gives the motion of the bodies. Only errors count
with which the loops can close, and of a mechanism that moves in a plane those in the plane. H grows
without bound where locked actuators do not hold the mechanism (Voglewede and Ebert-Uphoff,
Overarching framework for measuring closeness to singularities of parallel manipulators, 2005). The
condition is

    1 / sqrt(1 + a^2),    a^2 = |H|^2 / number of joints with errors,

by Frobenius' norm: from 1 at best to 0 at a parallel singular configuration, and smooth on the way.

What is measured of the bodies: one with three joint centres that are not in line, such as a
platform, counts by its twist at their middle; every other joint centre that moves counts by its
velocity, the mean of its ends; a^2 has the mean of them all. The centre of a joint is the point
that both of its bodies have in common: of a hinge, a universal joint or a ball, cut or not. So a
rod counts by its ends, and it makes no difference whether a universal joint keeps it from spinning
or two balls let it spin. Joints that slide have no centre and no errors but those of their
actuators. Where the actuators move without any centre, as in spherical linkages, all bodies count
by their twists.

Rotations count in radians, lengths in units of a characteristic length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.formulas.kinematics.closure import comparable, equations
from eslabon.model import Model
from eslabon.model.configuration import velocity_units
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.tolerances import RANK
from eslabon.solve.singular.error_motions import ErrorTerms, error_motions
from eslabon.solve.singular.joint_centres import Measured


def symbolic_parallel_condition(
    m: Model,
    q: Expression,
    unit: Expression | float,
    measured: Measured,
    rows: Sequence[int],
    solve: Callable[[Expression, Expression], Expression] | None = None,
) -> Expression:
    """The condition in symbols, from rows of the constraints that are independent where joints have
    errors (`error_rows`); `solve(A, B)` gives A^-1 B."""
    x = _symbolic_terms(m, q, unit, measured, rows)
    if measured.closes:
        back = (solve or casadi.solve)(x.constraints, casadi.densify(x.constraints_by_errors))
        H = x.twists_by_errors - casadi.mtimes(x.twists, back)
    else:
        H = _compatible_motions(x)
    return 1 / casadi.sqrt(1 + casadi.sumsqr(H) / _errors(measured))


def _symbolic_terms(
    m: Model, q: Expression, unit: Expression | float, measured: Measured, rows: Sequence[int]
) -> ErrorTerms:
    found, passive, locked = (
        error_motions(m, q, measured),
        list(measured.passive),
        list(measured.locked),
    )
    speeds = [unit if x == "m/s" else 1.0 for x in velocity_units(m)]
    errors = [unit if x else 1.0 for x in measured.error_is_length]
    per_row = casadi.diag(casadi.vertcat(*(1 / unit if x else 1.0 for x in measured.is_length)))
    T = casadi.mtimes([per_row, found.twists, casadi.diag(casadi.vertcat(*speeds))])
    T_e = casadi.mtimes([per_row, found.twists_by_errors, casadi.diag(casadi.vertcat(*errors))])
    J = casadi.mtimes(equations(m, q, None, rows).J, casadi.diag(casadi.vertcat(*speeds)))
    J_e = comparable(m, found.constraints_by_errors[list(rows), :], rows)
    J_e = casadi.mtimes(J_e, casadi.diag(casadi.vertcat(*errors)))
    return ErrorTerms(
        T[:, passive],
        casadi.horzcat(T_e, T[:, locked]),
        casadi.densify(J[:, passive]),
        casadi.horzcat(J_e, J[:, locked]),
    )


def _compatible_motions(x: ErrorTerms) -> Expression:
    """H over the errors e with which loops can close: H (1 - Q^+ Q) with Q = (1 - J_p J_p^+) J_e.

    All inverses G of J_p give the same motions for these. That of least squares weighted by the
    inverse of S = J_e J_e^T + J_p J_p^T needs no rank and no pivots, and then

        Q^+ Q = J_e^T S^-1 (1 - J_p G) J_e,    G = (J_p^T S^-1 J_p)^-1 J_p^T S^-1.
    """
    J_p, J_e = casadi.sparsify(x.constraints), casadi.sparsify(x.constraints_by_errors)
    S = casadi.mtimes(J_e, J_e.T) + casadi.mtimes(J_p, J_p.T)
    weighted = _solved(S, casadi.horzcat(J_p, J_e))
    W_p, W_e = weighted[:, : J_p.shape[1]], weighted[:, J_p.shape[1] :]
    back = _solved(casadi.mtimes(J_p.T, W_p), casadi.mtimes(J_p.T, W_e))
    H = x.twists_by_errors - casadi.mtimes(x.twists, back)
    return H - casadi.mtimes(casadi.mtimes(H, J_e.T), W_e - casadi.mtimes(W_p, back))


def _solved(A: Expression, B: Expression) -> Expression:
    """A^-1 B of a symmetric positive definite matrix."""
    return casadi.ldl_solve(B, *casadi.ldl(A, True))


# -- in numbers ------------------------------------------------------------------------------------


class PassiveInverse(NamedTuple):
    """J_p^+ of configurations, and which of them determine all passive velocities with the
    actuators locked."""

    inverse: Floats
    held: Any

    @staticmethod
    def of(constraints: Floats) -> PassiveInverse:
        U, sizes, Vt = np.linalg.svd(constraints, full_matrices=False)
        held = np.full(len(sizes), constraints.shape[1] >= constraints.shape[2])
        if sizes.shape[-1]:
            held &= sizes[:, -1] > RANK * sizes[:, 0]
        weights = 1 / np.where(held[:, None], sizes, np.inf)
        return PassiveInverse(
            np.swapaxes(Vt, -1, -2) * weights[:, None, :] @ np.swapaxes(U, -1, -2), held
        )


def parallel_condition(x: ErrorTerms, passive: PassiveInverse, measured: Measured) -> Floats:
    """The condition of configurations, zero where locked actuators leave passive velocities
    undetermined."""
    square = _amplification(x, passive, measured).square
    return np.where(passive.held, 1 / np.sqrt(1 + square / _errors(measured)), 0.0)


def parallel_derivative(
    x: ErrorTerms, dx: ErrorTerms, passive: PassiveInverse, measured: Measured
) -> Floats:
    """The derivatives (k, parameters) of the condition, for those of the terms; NaN where it is
    zero."""
    found = _amplification(x, passive, measured)
    K, X, left = passive.inverse, found.follow, found.unclosed
    K_t = np.swapaxes(K, -1, -2)
    dJ_p = dx.constraints
    change = dx.constraints_by_errors - np.einsum("nijk,njl->nilk", dJ_p, X)
    bent = np.einsum("nljk,nlm->njmk", dJ_p, left)
    dX = np.einsum("nij,njlk->nilk", K, change) + np.einsum("nij,njmk->nimk", K @ K_t, bent)
    dH = dx.twists_by_errors - np.einsum("nijk,njl->nilk", dx.twists, X)
    dH -= np.einsum("nij,njlk->nilk", x.twists, dX)
    dQ = change - np.einsum("nij,njl,nlmk->nimk", x.constraints, K, change)
    dQ -= np.einsum("nij,njmk->nimk", K_t, bent)
    # the projector onto the compatible errors changes by -Q^+ dQ, and its transpose
    back = found.motion @ found.unclosed_inverse
    half = np.einsum("nij,nijk->nk", found.compatible, dH)
    half -= np.einsum("nij,njlk,nil->nk", back, dQ, found.compatible)
    condition = 1 / np.sqrt(1 + found.square / _errors(measured))
    slopes = -(condition[:, None] ** 3) * half / _errors(measured)
    return np.where(passive.held[:, None], slopes, np.nan)


def _errors(measured: Measured) -> int:
    return max(len(measured.joints) + len(measured.locked), 1)


class _Amplification(NamedTuple):
    """X = J_p^+ J_e, Q = (1 - J_p J_p^+) J_e of errors with which loops cannot close, Q^+, H = T_e
    - T_p X, H over the errors with which they can, and the square of its norm."""

    follow: Floats
    unclosed: Floats
    unclosed_inverse: Floats
    motion: Floats
    compatible: Floats
    square: Floats


def _amplification(x: ErrorTerms, passive: PassiveInverse, measured: Measured) -> _Amplification:
    follow = passive.inverse @ x.constraints_by_errors
    motion = x.twists_by_errors - x.twists @ follow
    k, rows, errors = x.constraints_by_errors.shape
    if measured.closes:
        none, square = np.zeros((k, rows, errors)), np.square(motion).sum(axis=(1, 2))
        back = np.zeros((k, errors, rows))
        return _Amplification(follow, none, back, motion, motion, square)
    unclosed = x.constraints_by_errors - x.constraints @ follow
    U, sizes, Vt = np.linalg.svd(unclosed, full_matrices=False)
    open_ = sizes > RANK * np.linalg.norm(x.constraints_by_errors, axis=(1, 2))[:, None]
    weights = np.where(open_, 1 / np.where(open_, sizes, 1.0), 0.0)
    V = np.swapaxes(Vt, -1, -2)
    back = V * weights[:, None, :] @ np.swapaxes(U, -1, -2)
    compatible = motion - (motion @ V * open_[:, None, :]) @ Vt
    square = np.square(compatible).sum(axis=(1, 2))
    return _Amplification(follow, unclosed, back, motion, compatible, square)
