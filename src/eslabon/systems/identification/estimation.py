"""Weighted least squares: base parameters from the equations of all samples, with what is known of
their errors.

    W N^T Y_b (beta - beta_0) = W N^T (B tau - f_0),    W = diag(1 / sigma),    cov(beta) = (Y_b^T N W^2 N^T Y_b)^-1

sigma is the standard deviation of each equation's error: what is known of the actuators' measured
forces, or that of the residuals, until it no longer changes (Gautier and Poignet, 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.answers import Answer
from eslabon.arguments import Floats, finite
from eslabon.compiler.evaluate import evaluate, function_of
from eslabon.compiler.formula import requested
from eslabon.errors import InputError, SingularityError, format_value
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.configuration import velocity_names
from eslabon.numerics.tolerances import SINGULAR
from eslabon.solve.constraints.constraint_structure import constraint_structure
from eslabon.solve.constraints.state_checks import checked
from eslabon.systems.identification.inertial_parameters import BaseParameters
from eslabon.systems.identification.parameters import UNITS as INERTIA_UNITS
from eslabon.systems.identification.parameters import Terms, reference_inertias
from eslabon.systems.identification.recordings import Sampled
from eslabon.systems.identification.regressor_equations import LINEAR_EQUATIONS, independent

ITERATIONS = 30
AT_ONCE = 20_000  # samples
EXACT = 1e-8  # of the forces: smaller errors are round-off, and weigh no less
RANK = 1e-12  # of the largest singular value
TELLS = 1e-2  # of what is known beforehand: a direction that the data narrow down by less is not excited
HEARD = 1e-6  # of the forces in balance: smaller ones are none


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of one recording: the columns Y (n, rows, p) of the base parameters, what the
    model leaves (n, rows), and the error (n, rows) that known errors of the actuators' forces make;
    `motion` are the samples themselves."""

    t: Floats
    Y: Floats
    left: Floats
    known: Floats | None
    motion: Sampled


def equations_of(
    m: Model, base: BaseParameters, s: Sampled, terms: Terms, noise: Floats | None
) -> Equations:
    """The equations along the independent velocities, filtered on both sides."""
    f, parts = evaluate(m, LINEAR_EQUATIONS, terms=terms), []
    for k in range(0, len(s.t), AT_ONCE):  # of a long recording all columns at once would be a lot
        Y, *others = f(*(x[k : k + AT_ONCE] for x in (s.q, s.v, s.a, s.tau)))
        parts.append((Y[..., list(base.columns)], *others))
    Y, left, B, condition = (np.concatenate(x) for x in zip(*parts, strict=True))
    if not (condition > SINGULAR).all():
        raise SingularityError(
            f"{m.name} is at a singular configuration at t = {s.t[int(np.argmin(condition))]:.4g} s of the motion, where forces "
            "of the actuators tell nothing of it; cut that part out."
        )
    known = None if noise is None else np.linalg.norm(B * noise, axis=-1)
    low = s.low_pass
    if low is None:
        return Equations(s.t, Y, left, known, s)
    motion = Sampled(low.kept(s.t), low.kept(s.q), low.kept(s.v), low.kept(s.a), low.kept(s.tau))
    known = None if known is None else low.gain(len(s.t)) * low.kept(known)
    return Equations(motion.t, low.kept(low(Y)), low.kept(low(left)), known, motion)


def model_forces(m: Model, q: Any, v: Any, a: Any) -> Floats:
    """The actuators' forces by the model, for motions that keep the loops closed."""
    request = requested(m, quantity(m, "inverse_dynamics"), prepare=constraint_structure)
    f = checked(m, request) if request.formula.checks else function_of(m, request)
    forces: Floats = f(q, v, a)
    return forces


def noise_of(m: Model, noise: Any) -> Floats | None:
    """The standard deviation of each actuator's measured force, if it is known."""
    if noise is None:
        return None
    values = finite(noise, "noise")
    if values.shape not in ((), (m.nu,)) or not (values > 0).all():
        raise InputError(
            f"noise is the standard deviation of the measured forces, a positive number or {m.nu} of them, one for each "
            f"actuator of {m.name}; it is {format_value(noise)}."
        )
    return np.broadcast_to(values, (m.nu,))


# -- how large parameters can be --------------------------------------------------------------------------------------


def prior_factor(m: Model, terms: Terms, several: list[Equations]) -> Floats:
    """A matrix S with cov(theta - theta_0) = S S^T: how far the parameters may be from the model's
    before they are measured.

    A body's pseudo-inertia may change by as much as it is, |P^-1/2 dP P^-1/2| = 1, which is the
    same in all axes and units (the second-order form of Lee, Wensing and Park's divergence, 2020);
    friction, offset and motor inertia may make up for the whole measured force.
    """
    blocks = []
    for P in reference_inertias(m):
        L = np.linalg.inv(np.linalg.cholesky(P))
        X = (L @ INERTIA_UNITS @ L.T).reshape(10, 16)
        blocks.append(np.linalg.inv(np.linalg.cholesky(X @ X.T)).T)
    joints = _joint_scales(m, terms, several)
    S = np.zeros((10 * len(blocks) + len(joints),) * 2)
    for k, block in enumerate(blocks):
        S[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = block
    S[range(10 * len(blocks), len(S)), range(10 * len(blocks), len(S))] = joints
    return S


def _joint_scales(m: Model, terms: Terms, several: list[Equations]) -> Floats:
    """The coefficient with which each joint's term alone would be as large as the measured
    forces."""

    def size(what: str) -> Floats:
        return np.sqrt(
            np.mean(np.concatenate([getattr(e.motion, what) for e in several]) ** 2, axis=0)
        )

    tau, v, a = size("tau"), size("v"), size("a")
    force = np.full(m.nv, float(tau.max()))
    force[list(m.actuated_velocities)] = np.maximum(tau, 1e-3 * tau.max())
    each = {"viscous": v, "coulomb": np.ones(m.nv), "offset": np.ones(m.nv), "motor_inertia": a}
    return np.array([force[k] / (each[kind][k] or 1.0) for kind, k in terms.listed()])


# -- the solution -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Estimate(Answer):
    """beta - beta_0 and its covariance; `information` is a matrix R with R (beta - beta_0) = z in
    units of its errors, a row for each direction that is excited; sigma (rows,) are the errors'
    standard deviations of the equations."""

    change: Floats
    covariance: Floats
    information: Floats
    excited: np.ndarray[Any, np.dtype[np.bool_]]
    condition: float
    sigma: Floats
    residuals: list[Floats]
    errors: list[Floats]


def estimate(
    base: BaseParameters, prior: Floats, several: list[Equations], frozen: list[int]
) -> Estimate:
    """The weighted least-squares solution; sigma is iterated where it is not known, and `frozen`
    parameters stay."""
    Y = np.concatenate([e.Y for e in several])
    left = np.concatenate([e.left for e in several])
    floor = EXACT * _force_sizes(Y, left, base)
    scale = np.linalg.norm(base.regrouping @ prior, axis=1)
    scale[frozen] = 0.0
    known = _known_errors(several, floor)
    factors = _triangular(Y, left, np.where(known > 0, known, 1.0))
    given = (known > 0).all(axis=0)
    spare = max(1.0, len(left) - len(base) / left.shape[1])
    sigma = np.where(given, 1.0, floor / EXACT)
    for _ in range(ITERATIONS):
        weighed = (factors / sigma[:, None, None]).reshape(-1, len(base) + 1)
        change, covariance, information, excited = _solve(weighed, scale)
        before, sizes = sigma, _sizes(factors, change, spare)
        sigma = np.where(given, 1.0, np.maximum(sizes, floor))
        if np.allclose(before, sigma, rtol=1e-4):
            break
    residuals, errors = left - Y @ change, np.where(known > 0, known, sigma)
    cuts = np.cumsum([len(e.left) for e in several])[:-1]
    return Estimate(
        change, covariance, information, excited, scaled_condition(weighed[:, :-1], excited),
        np.sqrt(np.mean(errors**2, axis=0)), np.split(residuals, cuts), np.split(errors, cuts),
    )  # fmt: skip


def _known_errors(several: list[Equations], floor: Floats) -> Floats:
    """Of each equation at each sample, zero where they are not known, as where no actuator drives
    it."""
    known = np.concatenate([np.zeros_like(e.left) if e.known is None else e.known for e in several])
    return np.where((known > 0).all(axis=0), np.maximum(known, floor), 0.0)


def _triangular(Y: Floats, left: Floats, errors: Floats) -> Floats:
    """The triangular factor of each equation's samples, (rows, p + 1, p + 1), with which all sums
    of squares can be formed."""
    blocks = np.concatenate([Y, left[..., None]], axis=-1) / errors[..., None]
    wanted = blocks.shape[-1]
    made = np.zeros((left.shape[1], wanted, wanted))
    for row, R in enumerate(made):
        factor = np.linalg.qr(blocks[:, row], mode="r")
        R[: len(factor)] = factor
    return made


def _sizes(factors: Floats, change: Floats, spare: float) -> Floats:
    """The standard deviation of each equation's residuals."""
    left = factors @ np.append(-change, 1.0)
    return np.linalg.norm(left, axis=-1) / np.sqrt(spare)


def _force_sizes(Y: Floats, left: Floats, base: BaseParameters) -> Floats:
    """How large the forces are that balance in each equation."""
    terms = np.sum((Y * base.values) ** 2, axis=-1) + left**2
    sizes = np.sqrt(np.mean(terms, axis=0))
    return np.maximum(sizes, 1e-12 * max(float(sizes.max(initial=0.0)), 1e-300))


def _solve(weighed: Floats, scale: Floats) -> tuple[Floats, Floats, Floats, Any]:
    """By singular values in units of what parameters can be; directions that the data do not tell
    stay at the model's."""
    U, s, Vt = np.linalg.svd(weighed[:, :-1] * scale, full_matrices=False)
    told = (s > RANK * s.max(initial=0.0)) & (s > TELLS)
    V, s, z = Vt[told].T, s[told], U.T[told] @ weighed[:, -1]
    change = scale * (V @ (z / s))
    covariance = np.outer(scale, scale) * ((V / s**2) @ V.T)
    hidden = np.linalg.norm(Vt[~told], axis=0) if (~told).any() else np.zeros(len(scale))
    excited = hidden < 1e-3
    return change, covariance, s[:, None] * V.T / np.where(scale > 0, scale, 1.0), excited


def scaled_condition(Y: Floats, excited: Any = slice(None)) -> float:
    """The condition number of the regressor with columns of unit length, of what is excited."""
    A = Y.reshape(-1, Y.shape[-1])[:, excited]
    if not A.shape[1] or not A.any(axis=0).all():
        return np.inf
    s = np.linalg.svd(np.linalg.qr(A / np.linalg.norm(A, axis=0), mode="r"), compute_uv=False)
    return float(s[0] / s[-1]) if s[-1] > 0 else np.inf


# -- motions that tell nothing ----------------------------------------------------------------------------------------


def refuse_silence(m: Model, base: BaseParameters, several: list[Equations]) -> None:
    """Refuse recordings from which nothing can follow, and say why."""
    sizes = np.sqrt(np.mean(np.concatenate([e.Y for e in several]) ** 2, axis=(0, 1)))
    if not len(base):
        raise InputError(
            f"{m.name} has no degree of freedom along which its parameters could have an effect."
        )
    if not (sizes > EXACT * base.sizes).any():
        raise InputError(
            f"the motion excites nothing of {m.name}: {', '.join(standing(m, several))} stands still, and no weight acts; move it."
        )
    silent = silent_parameters(m, base, several)
    if len(silent) == len(base):
        raise InputError(
            f"the measured forces of {m.name} are zero throughout, so that motion tells ratios of parameters only; record "
            "actuators' forces."
        )


def standing(m: Model, several: list[Equations]) -> list[str]:
    """The velocities that stay zero."""
    largest = np.max([np.abs(e.motion.v).max(axis=0, initial=0.0) for e in several], axis=0)
    return [name for name, v in zip(velocity_names(m), largest, strict=True) if v <= 1e-9]


def silent_parameters(m: Model, base: BaseParameters, several: list[Equations]) -> list[int]:
    """Base parameters that only enter equations without any measured force, so that zero would
    satisfy them."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    rows = len(independent(m))
    tied = np.max([np.abs(e.Y).max(axis=0) for e in several], axis=0) > 0  # (rows, parameters)
    graph = np.zeros((rows + len(base),) * 2, dtype=int)
    graph[:rows, rows:] = tied
    _, part = connected_components(csr_array(graph), directed=False)
    forced = np.max([np.abs(e.left + e.Y @ base.values).max(axis=0) for e in several], axis=0)
    sizes = np.max(
        [np.abs(e.Y * base.values).max(axis=(0, 2), initial=0.0) for e in several], axis=0
    )
    heard = {int(part[k]) for k in range(rows) if forced[k] > HEARD * sizes[k]}
    return [k for k in range(len(base)) if int(part[rows + k]) not in heard]
