"""The mass matrix by numbers: motions that move no mass, which are legal until something needs its
inverse, and how much the rows of the constraints weigh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import ModelError
from eslabon.formulas.dynamics import mass_matrix
from eslabon.formulas.inputs import Q
from eslabon.formulas.motion_state import MotionState
from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.scalars import divide_or_zero
from eslabon.numerics.tolerances import MASSLESS
from eslabon.solve.constraints.closed_configurations import (
    comparable_jacobian_at,
    generic,
    jacobian_at,
)


@dataclass(frozen=True)
class PenaltySettings:
    """When the loops are made to hold what M hardly resists.

    Attributes
    ----------
    light : of the total mass, times L^2 where a joint turns: a motion with less inertia is better
        held by the loops.
    least_row : of the largest row of J M^-1 J^T: what a row of zeros counts as.
    """

    light: float = 1e-7
    least_row: float = 1e-6


SETTINGS = PenaltySettings()


def tree_masses(m: Model, q: Any) -> Any:
    """The mass matrix of the tree."""
    return mass_matrix(MotionState.at_rest(m, q))


MASSES = Formula(
    "tree_masses", tree_masses, (Q,), (Argument("M", lambda m: (m.nv, m.nv)),), rare=True
)


@per_model
def stiffening(m: Model) -> float:
    """A rho for which M + rho J^T J is as well conditioned as the loops can make it: zero where M
    alone is.

    Loops may hold what moves no mass in the tree, such as a slender rod between hinges.
    """
    q = generic(m)
    M, J = comparable_mass(m, evaluate(m, MASSES)(q)), comparable_jacobian_at(m, q)
    if not m.nv or np.linalg.eigvalsh(M)[0] > SETTINGS.light * largest_inertia(m):
        return 0.0
    return _rho(M, J)


def _rho(M: np.ndarray, J: np.ndarray) -> float:
    """What makes J^T J as large as M, both in comparable velocities."""
    return float(divide_or_zero(np.trace(M) or 1.0, float(np.sum(J * J))))


def comparable_mass(m: Model, M: np.ndarray) -> np.ndarray:
    """Mass matrices (..., nv, nv) for velocities in rad/s or L/s: all entries are moments of
    inertia."""
    scale = velocity_scales(m)
    return np.asarray(M / np.outer(scale, scale))


def largest_inertia(m: Model) -> float:
    """The total mass times L^2, what inertia is measured by; without mass the least there is, so
    that zero is less."""
    total = float(sum(b.mass for b in m.bodies)) * float(characteristic_length(m)) ** 2
    return max(total, float(np.finfo(float).tiny))


@per_model
def row_sizes(m: Model) -> tuple[float, ...]:
    """The diagonal of J M^-1 J^T at an ordinary configuration, for all rows of the loops: what is
    small is measured by it."""
    q = generic(m)
    M, J = comparable_mass(m, evaluate(m, MASSES)(q)), comparable_jacobian_at(m, q)
    sizes = np.einsum(
        "ij,ji->i", J, np.linalg.pinv(M + stiffening(m) * J.T @ J, hermitian=True) @ J.T
    )
    return tuple(
        np.maximum(sizes, SETTINGS.least_row * sizes.max(initial=0.0)).tolist()
    )  # a row of zeros gets a little too


@per_model
def refuse_massless(m: Model) -> None:
    """Refuse a mechanism with a motion that moves no mass in any configuration, where an inverse of
    M is needed."""
    near = [generic(m)] if m.closed else _beside_home(m)
    M = np.sum([evaluate(m, MASSES)(q) for q in near], axis=0)
    name = unresisted(m, M, jacobian_at(m, near[0]) if m.closed else np.zeros((0, m.nv)))
    if name is not None:
        raise massless(m, name)


def refuse_massless_values(m: Model, parameters: Mapping[str, np.ndarray]) -> None:
    """The same of a tree, for values of its parameters, of which arrays have many."""
    names, values = (
        tuple(parameters),
        [x.ravel() for x in np.broadcast_arrays(*parameters.values())],
    )
    M = np.sum([evaluate(m, MASSES, names)(q, *values) for q in _beside_home(m)], axis=0)
    own = np.diagonal(comparable_mass(m, M), axis1=-2, axis2=-1)
    scale = np.sqrt(np.maximum(own, 0.0))
    least = np.linalg.eigvalsh(divide_or_zero(M, scale[:, :, None] * scale[:, None, :]))[:, 0]
    # What is far from it need not be looked at as closely.
    light = own.min(axis=-1) <= SETTINGS.light * own.max(axis=-1)
    for k in np.flatnonzero(light | ~(least > MASSLESS)):
        given = {name: float(x[k]) for name, x in zip(names, values, strict=True)}
        name = unresisted(m.with_parameters(**given), M[k], np.zeros((0, m.nv)))
        if name is not None:
            raise massless(
                m, name, where=" with " + ", ".join(f"{n} = {x:g}" for n, x in given.items())
            )


def _beside_home(m: Model) -> np.ndarray:
    away = 0.3 * np.random.default_rng(0).normal(size=(4, m.nv)) / velocity_scales(m)
    return np.asarray(integrate(m, np.tile(m.home(), (4, 1)), away))


def massless(m: Model, name: str, verb: str = "forward dynamics", where: str = "") -> ModelError:
    """The error that names a motion without mass."""
    return ModelError(
        f"{verb} of {m.name}: the motion of '{name}' moves no mass{where}, so no force determines its acceleration; "
        "give the bodies it carries mass or inertia, or its motor an inertia."
    )


def unresisted(m: Model, M: np.ndarray, J: np.ndarray) -> str | None:
    """The joint that moves most in a motion which the constraints J leave free and the mass matrix
    M does not resist."""
    M, J = comparable_mass(m, M), J / velocity_scales(m)
    M = M + _rho(M, J) * J.T @ J if len(J) else M
    if np.all(np.diag(M) > MASSLESS * largest_inertia(m)):
        scale = np.sqrt(np.diag(M))
        values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
        if not m.nv or values[0] > MASSLESS:
            return None
        place = int(np.abs(vectors[:, 0]).argmax())
    else:
        place = int(np.diag(M).argmin())
    return next(j.name for j in m.joints if place in range(m.nv)[m.velocities[j.name]])
