"""Independent coordinates: which rows of the constraints are independent, and which velocities follow from which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from eslabon.arguments import names as names_of
from eslabon.coordinates.closing import close, close_from, jacobian_at, unclosed
from eslabon.coordinates.designs import DESCRIBED, Designs
from eslabon.errors import ModelError, suggest
from eslabon.formulas.kinematics.closure import row_names
from eslabon.formulas.structure import Partition
from eslabon.model import Model
from eslabon.model.configuration import integrate, velocity_names
from eslabon.model.memory import per_model
from eslabon.numerics.pivoting import pivot_columns

CLOSURE_TOLERANCE = 1e-6  # metres or radians, and per second: by how much a state may violate loop closure, unless the caller says otherwise
RANK = 1e-8  # of the largest singular value: what is smaller is a dependent row, or a singular configuration
NOTHING = 1e-13  # what round-off leaves of direction cosines
SOUND = 1e-3  # a reciprocal condition number that is good enough for a choice of independent coordinates


def rank(singular_values: np.ndarray) -> Any:
    """How many singular values, or pivots, are not zero against the largest, or all of them round-off: a loop may hold nothing."""
    largest = singular_values.max(axis=-1, keepdims=True, initial=0.0)
    return (singular_values > np.maximum(RANK * largest, NOTHING)).sum(axis=-1)


@per_model
def partition(m: Model, preferred: tuple[int, ...] | None = None) -> Partition:
    """A partition of rows and velocities that is sound near the home configuration, with `preferred` velocities (by default
    the actuated ones) among the independent as far as that goes.

    It is meant for the mechanism and not for one configuration: where home is singular for the preferred ones, configurations
    farther off say what they can do.
    """
    wanted = m.actuated_velocities if preferred is None else preferred
    best, most = partition_at(m, generic(m), wanted), (-1, -1.0)
    for q in around(m):
        p = partition_at(m, q, wanted)
        size = np.linalg.svd(
            jacobian_at(m, q)[list(p.rows)][:, list(p.dependent)], compute_uv=False
        )
        sound = float(size[-1] / size[0]) if len(size) and size[0] > 0 else 1.0
        useful = len(set(wanted) & set(p.independent))
        if len(p.rows) >= len(best.rows) and (useful, min(sound, SOUND)) > most:
            best, most = p, (useful, min(sound, SOUND))
        if most == (min(len(wanted), len(best.independent)), SOUND):
            break
    return best


@per_model
def redundancy_is_constant(m: Model) -> bool:
    """Whether the redundancy of the constraints is configuration-independent, as across the plane of a planar loop; then
    the rows of the partition serve everywhere. In overconstrained loops such as Bennett's the dependence changes with the configuration."""
    hidden = None
    for q in around(m):
        J = jacobian_at(m, q)
        U, size, _ = np.linalg.svd(J)
        if hidden is None:
            hidden = U[:, rank(size) :]
        elif np.abs(hidden.T @ J).max(initial=0.0) > max(RANK * size.max(initial=0.0), NOTHING):
            return False
    return True


def retained_rows(m: Model) -> tuple[int, ...]:
    """Rows that hold all that the loops hold, in every configuration: independent ones where that can be."""
    return partition(m).rows if redundancy_is_constant(m) else tuple(range(len(row_names(m))))


def around(m: Model) -> Iterator[np.ndarray]:
    """Closed configurations, home first and then farther and farther off."""
    rng, q = np.random.default_rng(2), generic(m)
    yield q
    for far in (0.1, 0.3, 1.0, 0.1, 0.3, 1.0):
        yield beside(m, q, rng, far)


def partition_at(
    m: Model, q: np.ndarray, preferred: tuple[int, ...], design: Designs = DESCRIBED
) -> Partition:
    """The same at a given closed configuration, of a design, by pivoting."""
    J = jacobian_at(m, q, design)
    rows = pivots(J.T)
    kept = J[rows]
    passive = [k for k in range(m.nv) if k not in preferred]
    dependent = [passive[k] for k in pivots(kept[:, passive])] if passive else []
    if len(dependent) < len(
        rows
    ):  # more actuators than degrees of freedom, or the wrong ones: take preferred columns too
        basis, _ = (
            np.linalg.qr(kept[:, dependent]) if dependent else (np.zeros((len(rows), 0)), None)
        )
        rest = [k for k in range(m.nv) if k not in dependent]
        left = kept[:, rest] - basis @ (basis.T @ kept[:, rest])
        order, _ = pivot_columns(left)
        dependent += [rest[k] for k in order[: len(rows) - len(dependent)]]
    independent = tuple(k for k in range(m.nv) if k not in dependent)
    return Partition(tuple(sorted(rows)), independent, tuple(sorted(dependent)))


def partition_by(m: Model, independent: Any, constraints: str | None) -> Partition:
    """The partition of elimination with the velocities of these names independent: joints, or single velocities such as
    'ball.wx'."""
    if constraints != "elimination":
        raise ModelError(
            'independent says which coordinates elimination keeps; give constraints="elimination" too.'
        )
    names = names_of(independent, "independent")
    wanted = velocities_of(m, names)
    p = partition(m, wanted)
    listed = ", ".join(names) or "none"
    surplus = [velocity_names(m)[k] for k in wanted if k in p.dependent]
    if surplus:
        raise ModelError(
            f"{listed} cannot be the independent coordinates of {m.name}: {', '.join(surplus)} "
            f"{'follows' if len(surplus) == 1 else 'follow'} from the others; it has {len(p.independent)} degrees of freedom."
        )
    missing = [velocity_names(m)[k] for k in p.independent if k not in wanted]
    if missing:
        raise ModelError(
            f"{listed} cannot be the independent coordinates of {m.name}: they do not determine {', '.join(missing)}; it has "
            f"{len(p.independent)} degrees of freedom, and m.independent_coordinates() says which are taken by default."
        )
    return p


def velocities_of(
    m: Model, names: tuple[str, ...], argument: str = "independent"
) -> tuple[int, ...]:
    """The places of velocities that are named by their joint or by themselves."""
    single = {name: (k,) for k, name in enumerate(velocity_names(m))}
    known = {
        **single,
        **{j.name: tuple(range(m.nv)[m.velocities[j.name]]) for j in m.joints if j.nv},
    }
    for name in names:
        if name not in known:
            raise ModelError(f"{m.name} has no joint '{name}' that moves{suggest(name, known)}")
    places = [k for name in names for k in known[name]]
    if len(set(places)) < len(places):
        raise ModelError(f"{argument} names a velocity of {m.name} twice: {', '.join(names)}.")
    return tuple(sorted(places))


def pivots(A: np.ndarray) -> list[int]:
    """The columns that a pivoted factorisation finds independent."""
    order, sizes = pivot_columns(A)
    return order[: rank(sizes)]


@per_model
def generic(m: Model) -> np.ndarray:
    """A closed configuration near home at which the constraints have their full rank: home itself, or one beside it."""
    rng, best = np.random.default_rng(1), close(m)
    most = rank_at(m, best)
    for _ in range(5):
        trial = beside(m, best, rng)
        if rank_at(m, trial) > most:
            best, most = trial, rank_at(m, trial)
    return best


def rank_at(m: Model, q: np.ndarray) -> int:
    """The rank of the closure Jacobian at a configuration."""
    return int(rank(np.linalg.svd(jacobian_at(m, q), compute_uv=False)))


def beside(m: Model, q: np.ndarray, rng: np.random.Generator, far: float = 0.1) -> np.ndarray:
    """A closed configuration a short way off, along the degrees of freedom."""
    _, size, V = np.linalg.svd(jacobian_at(m, q))
    free = V[rank(size) :]
    step = free.T @ rng.normal(size=len(free)) * far
    closed, error = close_from(m, integrate(m, q, step)[None])
    return q if unclosed(m, np.sqrt(error))[0] else closed[0]
