"""The mass matrix by numbers: motions that move no mass, which are legal until something needs its inverse, and how much
the rows of the constraints weigh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.coordinates.closing import jacobian_at
from eslabon.coordinates.partition import generic, partition, retained_rows
from eslabon.errors import ModelError
from eslabon.formulas.dynamics import mass_matrix
from eslabon.formulas.inputs import Q
from eslabon.formulas.motion_state import MotionState
from eslabon.formulas.structure import Partition, Structure
from eslabon.model import Model
from eslabon.model.memory import per_model

LEAST = 1e-13  # of a mass matrix with ones on its diagonal
NOTHING = 1e-15  # of all mass, times the mechanism's size squared where a joint turns: round-off
LIGHT = 1e-7  # of the same: a motion that M resists so little is better held by the loops


def tree_masses(m: Model, q: Any) -> Any:
    """The mass matrix of the tree."""
    return mass_matrix(MotionState.at_rest(m, q))


MASSES = Formula(
    "tree_masses", tree_masses, (Q,), (Argument("M", lambda m: (m.nv, m.nv)),), rare=True
)


@per_model
def structure(m: Model) -> Structure:
    """What the formulas of dynamics are to know of a model's numbers."""
    floor = tuple((NOTHING / LEAST * _scale(m) ** 2).tolist())
    p = partition(m) if m.closed else Partition((), tuple(range(m.nv)), ())
    passive = tuple(k for k in p.independent if k not in m.actuated_velocities)
    if not m.closed:
        return Structure(p, floor=floor, passive=passive)
    return Structure(p, retained_rows(m), stiffening(m), row_sizes(m), floor, passive)


def constraint_structure(m: Model) -> Mapping[str, Structure]:
    """The structure as an option: the rule that requests of dynamics bring, by which it is found when they are traced."""
    return {"structure": structure(m)}


@per_model
def stiffening(m: Model) -> float:
    """A rho for which M + rho J^T J is as well conditioned as the loops can make it: zero where M alone is.

    Loops may hold what moves no mass in the tree, such as a slender rod between hinges.
    """
    q = generic(m)
    M, J = evaluate(m, MASSES)(q), jacobian_at(m, q)
    scale = _scale(m)
    if not m.nv or np.linalg.eigvalsh(M / np.outer(scale, scale))[0] > LIGHT:
        return 0.0
    return _rho(M, J)


def _rho(M: np.ndarray, J: np.ndarray) -> float:
    return float((np.trace(M) or 1.0) / max(float(np.sum(J * J)), 1e-300))


@per_model
def row_sizes(m: Model) -> tuple[float, ...]:
    """The diagonal of J M^-1 J^T at an ordinary configuration, for all rows of the loops: what is small is measured by
    it."""
    q = generic(m)
    M, J = evaluate(m, MASSES)(q), jacobian_at(m, q)
    sizes = np.einsum(
        "ij,ji->i", J, np.linalg.pinv(M + stiffening(m) * J.T @ J, hermitian=True) @ J.T
    )
    return tuple(
        np.maximum(sizes, 1e-6 * sizes.max(initial=0.0)).tolist()
    )  # a row of zeros gets a little too


@per_model
def refuse_massless(m: Model) -> None:
    """Refuse a mechanism with a motion that moves no mass in any configuration, where an inverse of M is needed."""
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
    own = np.diagonal(M, axis1=-2, axis2=-1)
    scale = np.sqrt(np.maximum(own, 1e-300))
    least = np.linalg.eigvalsh(M / (scale[:, :, None] * scale[:, None, :]))[:, 0]
    # What is far from it need not be looked at as closely.
    for k in np.flatnonzero(
        (own.min(axis=-1) <= 1e3 * LEAST * own.max(axis=-1)) | ~(least > LEAST)
    ):
        given = {name: float(x[k]) for name, x in zip(names, values, strict=True)}
        name = unresisted(m.with_parameters(**given), M[k], np.zeros((0, m.nv)))
        if name is not None:
            raise massless(
                m, name, where=" with " + ", ".join(f"{n} = {x:g}" for n, x in given.items())
            )


def _beside_home(m: Model) -> np.ndarray:
    return m.home() + 0.3 * np.random.default_rng(0).normal(size=(4, m.nq))


def massless(m: Model, name: str, verb: str = "forward dynamics", where: str = "") -> ModelError:
    """The error that names a motion without mass."""
    return ModelError(
        f"{verb} of {m.name}: the motion of '{name}' moves no mass{where}, so no force determines its acceleration; "
        "give the bodies it carries mass or inertia, or its motor an inertia."
    )


def unresisted(m: Model, M: np.ndarray, J: np.ndarray) -> str | None:
    """The joint that moves most in a motion which the constraints J leave free and the mass matrix M does not resist."""
    M = M + _rho(M, J) * J.T @ J if len(J) else M
    own = np.diag(M) / _scale(m) ** 2
    if np.all(own > NOTHING):
        scale = np.sqrt(np.diag(M))
        values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
        if not m.nv or values[0] > LEAST:
            return None
        place = int(np.abs(vectors[:, 0]).argmax())
    else:
        place = int(own.argmin())
    return next(j.name for j in m.joints if place in range(m.nv)[m.velocities[j.name]])


def _scale(m: Model) -> np.ndarray:
    """For each velocity the root of the mass, or of the mass times a length squared, that it could move."""
    total = float(sum(b.mass for b in m.bodies)) + 1e-300
    ends = [end.at.position for loop in m.loops for end in (loop.first, loop.second)]
    lengths = [*(j.at.position for j in m.joints), *(b.com for b in m.bodies), *ends]
    size = max([float(np.linalg.norm(x)) for x in lengths], default=0.0) or 1.0
    turns = [c.unit == "rad/s" for j in m.joints for c in j.kind.velocities]
    return np.sqrt(total) * np.where(turns, size, 1.0)
