"""Independent coordinates: which rows of the constraints are independent, and which velocities follow from which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import names as names_of
from eslabon.errors import ModelError, suggest
from eslabon.formulas.kinematics.closure import row_names
from eslabon.formulas.structure import Partition
from eslabon.model import Model
from eslabon.model.configuration import integrate, velocity_names
from eslabon.model.memory import per_model
from eslabon.model.scale import row_units, velocity_scales
from eslabon.numerics.pivoting import pivot_columns
from eslabon.numerics.tolerances import POORLY_CONDITIONED, RANK, ROUND_OFF
from eslabon.solve.constraints.closed_configurations import (
    close,
    close_from,
    comparable_jacobian_at,
    unclosed,
)
from eslabon.solve.designs import DESCRIBED, Designs


@dataclass(frozen=True)
class PartitionSettings:
    """How independent coordinates are selected.

    Attributes
    ----------
    sound : a reciprocal condition number that is good enough for a choice.
    trials : configurations beside a singular home that are tried for one of full rank.
    near : how far these are from home, in radians or metres over L.
    distances : how far configurations around home are from it, one after the other.
    lengths : how much comparable rows in metres count beside those in radians where independent ones are taken, the
        largest first: one in radians is preferred unless one in metres is twice as large. The number is not derived. Any
        from 0.001 to 0.5 gives the same partitions of the library's mechanisms; 1 gives others of those that are
        overconstrained. Which kind of row is the shorter formula depends on the mechanism: neither is so in general.
    """

    sound: float = 10 * POORLY_CONDITIONED
    trials: int = 5
    near: float = 0.1
    distances: tuple[float, ...] = (0.1, 0.3, 1.0, 0.1, 0.3, 1.0)
    lengths: float = 0.5


SETTINGS = PartitionSettings()


def rank(singular_values: np.ndarray) -> Any:
    """How many singular values, or pivots, are not zero against the largest, or all of them round-off: a loop may hold nothing."""
    largest = singular_values.max(axis=-1, keepdims=True, initial=0.0)
    return (singular_values > np.maximum(RANK * largest, ROUND_OFF)).sum(axis=-1)


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
        J = comparable_jacobian_at(m, q)
        size = np.linalg.svd(J[list(p.rows)][:, list(p.dependent)], compute_uv=False)
        sound = float(size[-1] / size[0]) if len(size) and size[0] > 0 else 1.0
        useful = len(set(wanted) & set(p.independent))
        if len(p.rows) >= len(best.rows) and (useful, min(sound, SETTINGS.sound)) > most:
            best, most = p, (useful, min(sound, SETTINGS.sound))
        if most == (min(len(wanted), len(best.independent)), SETTINGS.sound):
            break
    return best


@per_model
def redundancy_is_constant(m: Model) -> bool:
    """Whether the redundancy of the constraints is configuration-independent, as across the plane of a planar loop; then
    the rows of the partition serve everywhere. In overconstrained loops such as Bennett's the dependence changes with the configuration."""
    hidden = None
    for q in around(m):
        J = comparable_jacobian_at(m, q)
        U, size, _ = np.linalg.svd(J)
        if hidden is None:
            hidden = U[:, rank(size) :]
        elif np.abs(hidden.T @ J).max(initial=0.0) > max(RANK * size.max(initial=0.0), ROUND_OFF):
            return False
    return True


def retained_rows(m: Model) -> tuple[int, ...]:
    """Rows that hold all that the loops hold, in every configuration: independent ones where that can be."""
    return partition(m).rows if redundancy_is_constant(m) else tuple(range(len(row_names(m))))


def around(m: Model) -> Iterator[np.ndarray]:
    """Closed configurations, home first and then farther and farther off."""
    rng, q = np.random.default_rng(2), generic(m)
    yield q
    for far in SETTINGS.distances:
        yield beside(m, q, rng, far)


def partition_at(
    m: Model, q: np.ndarray, preferred: tuple[int, ...], design: Designs = DESCRIBED
) -> Partition:
    """The same at a given closed configuration, of a design, by pivoting."""
    J = comparable_jacobian_at(m, q, design)
    weights = np.where(np.array(row_units(m), dtype=str) == "m", SETTINGS.lengths, 1.0)
    rows = pivots(J.T * weights)
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
    for _ in range(SETTINGS.trials):
        trial = beside(m, best, rng)
        if rank_at(m, trial) > most:
            best, most = trial, rank_at(m, trial)
    return best


def rank_at(m: Model, q: np.ndarray) -> int:
    """The rank of the closure Jacobian at a configuration."""
    return int(rank(np.linalg.svd(comparable_jacobian_at(m, q), compute_uv=False)))


def beside(
    m: Model, q: np.ndarray, rng: np.random.Generator, far: float = SETTINGS.near
) -> np.ndarray:
    """A closed configuration a short way off, along the degrees of freedom."""
    _, size, V = np.linalg.svd(comparable_jacobian_at(m, q))
    free = V[rank(size) :]
    step = free.T @ rng.normal(size=len(free)) * far / velocity_scales(m)
    closed, error = close_from(m, integrate(m, q, step)[None])
    return q if unclosed(m, np.sqrt(error))[0] else closed[0]
