"""How all joints of a mechanism move with its actuators, and how well these hold it.

Motions are null vectors of the closure Jacobian, so that nothing here depends on which rows are
redundant or which joints are cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats, positive
from eslabon.compiler.evaluate import evaluate
from eslabon.formulas.kinematics.closure import row_names
from eslabon.model import Model
from eslabon.model.configuration import velocity_units
from eslabon.model.memory import per_model
from eslabon.model.plane_of_motion import plane_of_motion
from eslabon.model.scale import row_units, velocity_scales
from eslabon.numerics.subspaces import count_nonzero_values, independent_rows
from eslabon.numerics.tolerances import RANK
from eslabon.solve.constraints.closed_configurations import (
    around,
    comparable_jacobian_at,
    generic,
    jacobian_at,
)
from eslabon.solve.constraints.independent_coordinates import partition, redundancy_is_constant
from eslabon.solve.designs import (
    DESCRIBED,
    Designs,
    characteristic_lengths,
    row_scales_of,
    velocity_scales_of,
)
from eslabon.solve.singular.error_motions import (
    ERROR_MOTIONS,
    ErrorMotions,
    ErrorTerms,
    error_terms,
)
from eslabon.solve.singular.joint_centres import (
    Measured,
    all_bodies,
    ends_at_centres,
    joint_centres,
)
from eslabon.solve.singular.parallel_condition import PassiveInverse, parallel_condition


class ActuatedMotions(NamedTuple):
    """What the actuators do at configurations (k, nq).

    Attributes
    ----------
    velocities : of all joints by unit rates of the inputs, (k, nv, inputs); surplus inputs share a
        motion in the sense of least squares.
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
    """How all joints move with the actuated ones, at configurations (k, nq), and how well these
    hold the rest."""
    inputs, k = list(input_velocities(m)), len(q)
    unit = np.broadcast_to(lengths_of_units(m, designs, length), (k,))
    scales = input_scales(m, unit)
    if not m.closed:
        velocities = np.broadcast_to(np.eye(m.nv)[:, inputs], (k, m.nv, len(inputs)))
        return ActuatedMotions(velocities, scales, np.ones(k), np.full(k, m.nv), np.ones(k))
    J = comparable_jacobian_at(m, q, designs)
    own = velocity_scales_of(m, designs)[..., None, :] / row_scales_of(m, designs)[..., None]
    terms = error_terms_at(m, q, J * own, designs, unit)
    passive = PassiveInverse.of(terms.constraints)
    parallel = parallel_condition(terms, passive, measured_bodies(m))
    mobility = np.full(k, len(partition(m).independent))
    velocities = np.zeros((k, m.nv, len(inputs)))
    regular = passive.held & (inputs_count(m) == len(inputs))
    velocities[regular] = _following(m, (J * own)[regular], passive.inverse[regular], unit[regular])
    if not regular.all():
        others = ~regular
        speeds = np.broadcast_to(velocity_scales_of(m, designs), (k, m.nv))[others]
        mobility[others], velocities[others] = _by_null_spaces(m, J[others], speeds, scales[others])
    sign = np.ones(k)
    if redundancy_is_constant(m) and inputs_count(m) == len(inputs):
        p = partition(m)
        det = np.linalg.det(J[:, list(p.rows)][:, :, list(p.dependent)])
        sign = np.where(parallel > RANK, np.sign(det), 0.0)
    return ActuatedMotions(velocities, scales, parallel, mobility, sign)


def _following(m: Model, J: Floats, inverse: Floats, unit: Floats) -> Floats:
    """The velocities of all joints by those of the inputs, for the constraint Jacobian in rad and m
    and J_p^+ in units of a length."""
    inputs, passive = list(input_velocities(m)), list(measured_bodies(m).passive)
    is_length = np.array([x == "m" for x in row_units(m)], dtype=bool)
    rows = np.where(is_length, unit[:, None], 1.0)[..., None]
    velocities = np.zeros((len(J), m.nv, len(inputs)))
    velocities[:, inputs, range(len(inputs))] = 1.0
    follow = -inverse @ (J[:, :, inputs] / rows)
    velocities[:, passive] = follow * speed_units(m, unit)[:, passive, None]
    return velocities


def _by_null_spaces(m: Model, J: Floats, speeds: Floats, scales: Floats) -> tuple[Floats, Floats]:
    """The mobility, and the velocities of all joints by those of the inputs as far as these
    determine them: where locked actuators do not hold the mechanism, or where there are more of
    them than degrees of freedom."""
    inputs = list(input_velocities(m))
    mobility, free, V = _null_spaces(J, passive_velocities(m))
    V, velocities = V / speeds[..., None], np.zeros((len(J), m.nv, len(inputs)))
    for count in np.unique(free[free > 0]):
        lanes = np.flatnonzero(free == count)
        N, own = V[lanes][:, :, m.nv - count :], scales[lanes][:, :, None]
        by_rates = np.linalg.pinv(N[:, inputs] * own, rcond=RANK)
        velocities[lanes] = N @ by_rates * np.swapaxes(own, -1, -2)
    return mobility, velocities


def error_terms_at(m: Model, q: Floats, J: Floats, designs: Designs, unit: Floats) -> ErrorTerms:
    """The terms of the parallel condition, for the constraint Jacobian J in rad and m."""
    measured = measured_bodies(m)
    made = evaluate(m, ERROR_MOTIONS, designs.names, measured=measured)(q, *designs.inputs)
    return error_terms(m, ErrorMotions(*made), J, measured, unit)


def speed_units(m: Model, unit: Floats) -> Floats:
    """The comparable unit of each velocity, (..., nv): 1 rad/s, or a unit of length per second."""
    slides = np.array([x == "m/s" for x in velocity_units(m)], dtype=bool)
    return np.where(slides, np.asarray(unit)[..., None], 1.0)


def _null_spaces(J: Floats, held: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
    """The mobility, the number of motions that leave some velocities at rest, and a matrix whose
    last columns are an orthonormal basis of these."""
    nv = J.shape[-1]
    sizes, Vt = np.linalg.svd(J)[1:]
    mobility = nv - count_nonzero_values(sizes)
    if not held:
        return mobility, mobility, np.swapaxes(Vt, -1, -2)
    rows = np.broadcast_to(np.eye(nv)[list(held)], (len(J), len(held), nv))
    sizes, Vt = np.linalg.svd(np.concatenate([J, rows], axis=1))[1:]
    return mobility, nv - count_nonzero_values(sizes), np.swapaxes(Vt, -1, -2)


def input_velocities(m: Model) -> tuple[int, ...]:
    """The velocities of the actuators; where there are none, the independent ones."""
    return tuple(m.actuated_velocities) or partition(m).independent


def input_scales(m: Model, unit: Floats) -> Floats:
    """What makes the rates of the inputs comparable, (..., inputs): one over the unit of length for
    slides."""
    return np.asarray(1 / speed_units(m, unit)[..., list(input_velocities(m))])


def inputs_count(m: Model) -> int:
    """How many rates of actuators are independent in general."""
    return len(partition(m).independent) - len(passive_velocities(m))


def passive_velocities(m: Model) -> tuple[int, ...]:
    """The independent velocities that nothing drives, such as the spin of a rod, where something
    drives others."""
    independent = partition(m).independent
    loose = tuple(k for k in independent if k not in m.actuated_velocities)
    return loose if len(loose) < len(independent) else ()


@per_model
def measured_bodies(m: Model) -> Measured:
    """What the parallel condition measures: joint centres, or, where actuators move without these,
    all bodies."""
    if not m.closed:
        return Measured()
    inputs, held = input_velocities(m), passive_velocities(m)
    joints = tuple(place for place in ends_at_centres(m) if place.end == "second")
    pivots = {k for x in joints if x.item == "joint" for k in range(m.nv)[m.velocities[x.name]]}
    locked = tuple(k for k in inputs if k not in pivots)
    passive = tuple(k for k in range(m.nv) if k not in {*inputs, *held})
    twists, points = joint_centres(m)
    plane = plane_of_motion(m)
    rows = () if plane is None else tuple((a, b, c) for a, b, c in plane.tolist())
    count = len(partition(m).rows) if rows and redundancy_is_constant(m) else len(row_names(m))
    made = Measured(twists, points, joints, locked, passive, rows, count == len(passive))
    return made if _sees_the_actuators(m, made) else made._replace(twists=all_bodies(m), points=())


@per_model
def error_rows(m: Model) -> tuple[int, ...]:
    """Rows of the constraints that are independent where joints have errors."""
    measured = measured_bodies(m)
    if measured.closes:
        return partition(m).rows
    q = generic(m)[None]
    unit = np.full(1, float(characteristic_lengths(m, DESCRIBED)))
    J = jacobian_at(m, q) / row_scales_of(m, DESCRIBED)[:, None]
    x = error_terms_at(m, q, J, DESCRIBED, unit)
    both = np.concatenate([x.constraints[0], x.constraints_by_errors[0]], axis=1)
    return tuple(sorted(independent_rows(both)))


def _sees_the_actuators(m: Model, measured: Measured) -> bool:
    """Whether all motions of the actuators show in what is measured, near home."""
    if not measured.items:
        return False
    q = np.stack(list(around(m)))
    _, free, V = _null_spaces(comparable_jacobian_at(m, q), passive_velocities(m))
    twists = evaluate(m, ERROR_MOTIONS, measured=measured)(q)[0]
    unit = np.full(len(q), float(characteristic_lengths(m, DESCRIBED)))
    twists = twists / np.where(measured.is_length, unit[:, None], 1.0)[..., None]
    moved = twists @ (V / velocity_scales(m)[:, None])
    seen = [
        count_nonzero_values(np.linalg.svd(x[:, m.nv - n :], compute_uv=False))
        for x, n in zip(moved, free, strict=True)
    ]
    return bool(max(seen) >= inputs_count(m))


def lengths_of_units(m: Model, designs: Designs, length: Any = None) -> Floats:
    """The characteristic length, by which translations are compared with rotations: one that is
    given, or that of each design."""
    return np.asarray(
        characteristic_lengths(m, designs) if length is None else positive(length, "length")
    )
