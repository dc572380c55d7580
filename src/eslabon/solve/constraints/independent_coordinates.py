"""Independent coordinates: which rows of the constraints are independent, and which velocities
follow from which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import names as names_of
from eslabon.errors import ModelError, suggest
from eslabon.formulas.kinematics.closure import row_names
from eslabon.formulas.structure import Partition
from eslabon.model import Model
from eslabon.model.configuration import velocity_names
from eslabon.model.memory import per_model
from eslabon.model.scale import row_units
from eslabon.numerics.pivoting import pivot_columns
from eslabon.numerics.subspaces import (
    independent_columns,
    independent_rows,
    null_space,
)
from eslabon.numerics.tolerances import POORLY_CONDITIONED, RANK, ROUND_OFF
from eslabon.solve.constraints.closed_configurations import around, comparable_jacobian_at, generic
from eslabon.solve.constraints.passive_spins import spinning_velocities
from eslabon.solve.designs import DESCRIBED, Designs


@dataclass(frozen=True)
class PartitionSettings:
    """How independent coordinates are selected.

    Attributes
    ----------
    sound : a reciprocal condition number that is good enough for a choice.
    lengths : how much comparable rows in metres count beside those in radians where independent
        ones are taken, the largest first. The number is not derived: any from 0.001 to 0.5 gives
        the same partitions of the library's mechanisms, 1 gives others of bennett, bricard and
        rojas_hexiflex, whose rows depend on one another in a way that changes with the
        configuration.
    """

    sound: float = 10 * POORLY_CONDITIONED
    lengths: float = 0.5


SETTINGS = PartitionSettings()


@per_model
def partition(m: Model, preferred: tuple[int, ...] | None = None) -> Partition:
    """A partition of rows and velocities that is sound near the home configuration, with
    `preferred` velocities (by default the actuated ones) among the independent as far as that goes.

    It is meant for the mechanism and not for one configuration: where home is singular for the
    preferred ones, configurations farther off say what they can do.
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
    """Whether the redundancy of the constraints is configuration-independent, as across the plane
    of a planar loop; then the rows of the partition serve everywhere. In overconstrained loops such
    as Bennett's the dependence changes with the configuration."""
    hidden = None
    for q in around(m):
        J = comparable_jacobian_at(m, q)
        if hidden is None:
            hidden = null_space(J.T)
        largest = float(np.linalg.norm(J, ord=2)) if J.size else 0.0
        if np.abs(hidden.T @ J).max(initial=0.0) > max(RANK * largest, ROUND_OFF):
            return False
    return True


def retained_rows(m: Model) -> tuple[int, ...]:
    """Rows that hold all that the loops hold, in every configuration: independent ones where that
    can be."""
    return partition(m).rows if redundancy_is_constant(m) else tuple(range(len(row_names(m))))


def partition_at(
    m: Model, q: np.ndarray, preferred: tuple[int, ...], design: Designs = DESCRIBED
) -> Partition:
    """The same at a given closed configuration, of a design, by pivoting."""
    J = comparable_jacobian_at(m, q, design)
    weights = np.where(np.array(row_units(m), dtype=str) == "m", SETTINGS.lengths, 1.0)
    rows = independent_rows(J * weights[:, None])
    kept = J[rows]
    others = [k for k in range(m.nv) if k not in preferred]
    dependent = [others[k] for k in independent_columns(kept[:, others])]
    if len(dependent) < len(rows):
        # More actuators than degrees of freedom, or the wrong ones: take preferred columns too.
        basis = np.linalg.qr(kept[:, dependent])[0]
        rest = [k for k in range(m.nv) if k not in dependent]
        left = kept[:, rest] - basis @ (basis.T @ kept[:, rest])
        order, _ = pivot_columns(left)
        dependent += [rest[k] for k in order[: len(rows) - len(dependent)]]
    independent = tuple(k for k in range(m.nv) if k not in dependent)
    spins = spinning_velocities(m, q, independent, design)
    return Partition(tuple(sorted(rows)), independent, tuple(sorted(dependent)), spins)


def partition_by(m: Model, independent: Any, constraints: str | None) -> Partition:
    """The partition of elimination with the velocities of these names independent: joints, or
    single velocities such as 'ball.wx'."""
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
