"""How all joints of a mechanism move with its actuators, and how well these hold it.

Motions are null vectors of the closure Jacobian, so that nothing here depends on which rows are
redundant or which joints are cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats, positive
from eslabon.model import Model
from eslabon.model.configuration import velocity_units
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.tolerances import RANK
from eslabon.solve.constraints.closed_configurations import comparable_jacobian_at
from eslabon.solve.constraints.independent_coordinates import (
    around,
    partition,
    rank,
    redundancy_is_constant,
)
from eslabon.solve.designs import DESCRIBED, Designs, characteristic_lengths, velocity_scales_of
from eslabon.solve.singular.parallel_condition import (
    Measured,
    all_bodies,
    comparable_twists_at,
    joint_centres,
)


class ActuatedMotions(NamedTuple):
    """What the actuators do at configurations (k, nq).

    Attributes
    ----------
    velocities : of all joints by unit rates of the inputs, (k, nv, inputs); surplus inputs share a motion in the sense of
        least squares.
    scales : what makes the rates of the inputs comparable, (k, inputs).
    parallel, mobility, sign : of the parallel kind, see `Conditions`.
    """

    velocities: Floats
    scales: Floats
    parallel: Floats
    mobility: Floats
    sign: Floats


def actuated_motions(
    m: Model, q: Floats, designs: Designs = DESCRIBED, length: Any = None
) -> ActuatedMotions:
    """How all joints move with the actuated ones, at configurations (k, nq), and how well these hold the rest."""
    inputs, k = list(input_velocities(m)), len(q)
    unit = np.broadcast_to(lengths_of_units(m, designs, length), (k,))
    scales = input_scales(m, unit)
    if not m.closed:
        velocities = np.broadcast_to(np.eye(m.nv)[:, inputs], (k, m.nv, len(inputs)))
        return ActuatedMotions(velocities, scales, np.ones(k), np.full(k, m.nv), np.ones(k))
    J = comparable_jacobian_at(m, q, designs)
    mobility, free, V = _null_spaces(J, held_velocities(m))
    V = V / np.broadcast_to(velocity_scales_of(m, designs), (k, m.nv))[..., None]
    twists = comparable_twists_at(m, q, measured_bodies(m), unit, designs)
    parallel, velocities = np.ones(k), np.zeros((k, m.nv, len(inputs)))
    extra = free - int(np.sum([x not in held_velocities(m) for x in partition(m).independent]))
    for count in np.unique(free[free > 0]):
        lanes = np.flatnonzero(free == count)
        N, own = V[lanes][:, :, m.nv - count :], scales[lanes][:, :, None]
        made = measured_motions(N[:, inputs] * own, twists[lanes] @ N)
        number = inputs_count(m) + int(extra[lanes[0]])
        parallel[lanes] = made.values[:, number - 1] if number <= made.values.shape[1] else 0.0
        velocities[lanes] = N @ made.by_rates * np.swapaxes(own, -1, -2)
    sign = np.ones(k)
    if redundancy_is_constant(m) and inputs_count(m) == len(inputs):
        p = partition(m)
        det = np.linalg.det(J[:, list(p.rows)][:, :, list(p.dependent)])
        sign = np.where(parallel > RANK, np.sign(det), 0.0)
    return ActuatedMotions(velocities, scales, parallel, mobility, sign)


def _null_spaces(J: Floats, held: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
    """The mobility, the number of motions that leave some velocities at rest, and a matrix whose last columns are an
    orthonormal basis of these."""
    nv = J.shape[-1]
    sizes, Vt = np.linalg.svd(J)[1:]
    mobility = nv - rank(sizes)
    if not held:
        return mobility, mobility, np.swapaxes(Vt, -1, -2)
    rows = np.broadcast_to(np.eye(nv)[list(held)], (len(J), len(held), nv))
    sizes, Vt = np.linalg.svd(np.concatenate([J, rows], axis=1))[1:]
    return mobility, nv - rank(sizes), np.swapaxes(Vt, -1, -2)


class MeasuredMotions(NamedTuple):
    """The least and other values of |u| / |v|, largest first, and the motions by rates of the inputs."""

    values: Floats
    by_rates: Floats


def measured_motions(rates: Floats, twists: Floats) -> MeasuredMotions:
    """Of motions whose rates of the inputs (k, inputs, n) and measured twists (k, rows, n) are given. What neither sees,
    as the spin of a rod, is no motion."""
    U, sizes, Wt = np.linalg.svd(np.concatenate([rates, twists], axis=1), full_matrices=False)
    seen = sizes > RANK * sizes[:, :1]
    top = np.where(seen[:, None, :], U[:, : rates.shape[1]], 0.0)
    weights = np.where(seen, 1 / np.where(seen, sizes, 1.0), 0.0)
    by_rates = np.swapaxes(Wt, -1, -2) * weights[:, None, :] @ np.linalg.pinv(top, rcond=RANK)
    return MeasuredMotions(np.linalg.svd(top, compute_uv=False), by_rates)


def input_velocities(m: Model) -> tuple[int, ...]:
    """The velocities of the actuators; where there are none, the independent ones."""
    return tuple(m.actuated_velocities) or partition(m).independent


def input_scales(m: Model, unit: Floats) -> Floats:
    """What makes the rates of the inputs comparable, (..., inputs): one over the unit of length for slides."""
    slides = np.array(velocity_units(m))[list(input_velocities(m))] == "m/s"
    return np.where(slides, 1 / np.asarray(unit)[..., None], 1.0)


def inputs_count(m: Model) -> int:
    """How many rates of actuators are independent in general."""
    return len(partition(m).independent) - len(passive_velocities(m))


def passive_velocities(m: Model) -> tuple[int, ...]:
    """The independent velocities that nothing drives, such as the spin of a rod, where something drives others."""
    independent = partition(m).independent
    loose = tuple(k for k in independent if k not in m.actuated_velocities)
    return loose if len(loose) < len(independent) else ()


@per_model
def held_velocities(m: Model) -> tuple[int, ...]:
    """The passive velocities that are at rest where only the actuators move a mechanism: none where all passive motions are
    spins, which nothing sees."""
    passive = passive_velocities(m)
    if not passive or not m.closed:
        return ()
    return passive if _seen_motions(m, measured_bodies(m), ()) > inputs_count(m) else ()


@per_model
def measured_bodies(m: Model) -> Measured:
    """What the parallel condition measures: joint centres, or, where actuators move without these, all bodies."""
    if not m.closed:
        return Measured()
    centres = joint_centres(m)
    held = passive_velocities(m)
    return centres if _seen_motions(m, centres, held) >= inputs_count(m) else all_bodies(m)


def _seen_motions(m: Model, measured: Measured, held: tuple[int, ...]) -> int:
    """How many motions that leave some velocities at rest show in what is measured, near home."""
    q = np.stack(list(around(m)))
    _, free, V = _null_spaces(comparable_jacobian_at(m, q), held)
    twists = comparable_twists_at(m, q, measured, np.full(len(q), characteristic_length(m)))
    moved = twists @ (V / velocity_scales(m)[:, None])
    seen = [
        rank(np.linalg.svd(x[:, m.nv - n :], compute_uv=False))
        for x, n in zip(moved, free, strict=True)
    ]
    return int(max(seen))


def lengths_of_units(m: Model, designs: Designs, length: Any = None) -> Floats:
    """The characteristic length, by which translations are compared with rotations: one that is given, or that of each
    design."""
    return np.asarray(
        characteristic_lengths(m, designs) if length is None else positive(length, "length")
    )
