"""Passive spins: motions that no actuator drives and that move no other body.

A rod between two ball joints turns about its own axis and moves nothing else, so that the actuators
of a 6-SPS platform, or of a delta robot with such rods, determine all that matters. The spins are
found by numbers: of the motions that the loops leave free while all actuators stand still, those in
which bodies held at two joints or more move as one, and all others rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping

import numpy as np

from eslabon.errors import ModelWarning, user_stacklevel
from eslabon.formulas.constrained.passive_spin_dynamics import connected_spins, spin_velocities
from eslabon.formulas.kinematics.closure import row_names
from eslabon.formulas.kinematics.tree import placements
from eslabon.formulas.structure import PassiveSpin
from eslabon.model import GROUND, Model
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.subspaces import Floats, independent_rows, null_space
from eslabon.numerics.tolerances import RANK
from eslabon.solve.constraints.closed_configurations import around, comparable_jacobian_at
from eslabon.solve.designs import DESCRIBED, Designs

Twists = Mapping[str, Floats]
NAMED = 3  # spins that a message names


@per_model
def passive_spins(m: Model) -> tuple[PassiveSpin, ...]:
    """The passive spins of a mechanism: those that it has in every configuration around home which
    is not singular."""
    if not m.closed:
        return ()
    found = list(_spins_around_home(m))
    return tuple(spin for spin in (found[0] if found else ()) if all(spin in x for x in found))


def spin_motions(m: Model, q: Floats, design: Designs = DESCRIBED) -> Floats:
    """The passive spins at a closed configuration, as columns of comparable velocities (nv, k).

    Only the joints that hold spinning bodies move, so that this is as good at a singular
    configuration of the others.
    """
    columns = [np.zeros((m.nv, 0))]
    for connected in connected_spins(passive_spins(m)):
        places = list(spin_velocities(m, connected))
        J = comparable_jacobian_at(m, q, design)[:, places]
        made = np.zeros((m.nv, len(connected)))
        made[places] = null_space(J, rank=len(places) - len(connected))
        columns.append(made)
    return np.concatenate(columns, axis=1)


def spinning_velocities(
    m: Model, q: Floats, independent: tuple[int, ...], design: Designs = DESCRIBED
) -> tuple[int, ...]:
    """Those of the independent velocities at a configuration that stand for passive spins."""
    if not passive_spins(m):
        return ()
    rows = independent_rows(spin_motions(m, q, design)[list(independent)])
    return tuple(sorted(independent[k] for k in rows))


@per_model
def announce_spins(m: Model) -> None:
    """Say once of a mechanism that accelerations of its passive spins are not the caller's choice.

    Only where counting rows finds passive motions, so that other mechanisms need no numbers.
    """
    if m.nv - len(row_names(m)) <= m.nu or not (spins := passive_spins(m)):
        return
    named = [" with ".join(f"'{name}'" for name in spin.bodies) for spin in spins[:NAMED]]
    more = f" and {len(spins) - NAMED} more" if len(spins) > NAMED else ""
    warnings.warn(
        f"{m.name}: {', '.join(named)}{more} can spin without moving any other body; a passive spin "
        "follows its own dynamics, whatever acceleration is given for it.",
        ModelWarning,
        stacklevel=user_stacklevel(),
    )


def _spins_around_home(m: Model) -> Iterator[list[PassiveSpin]]:
    """The spins at configurations that have no more passive motions than the others; nothing where
    there are none."""
    fewest = m.nv
    for q in around(m):
        held = np.eye(m.nv)[list(m.actuated_velocities)]
        P = null_space(np.concatenate([comparable_jacobian_at(m, q), held]))
        if not P.shape[1]:
            return
        if P.shape[1] <= fewest:
            fewest = P.shape[1]
            yield _spins(m, _body_twists(m, q, P / velocity_scales(m)[:, None]))


def _spins(m: Model, twists: Twists) -> list[PassiveSpin]:
    """Of the motions that the columns of all bodies' twists are, those of bodies that move as one
    while all others rest."""
    moving = [unit for unit in _rigid_units(twists) if GROUND not in unit]
    found = []
    for unit in moving:
        others = [twists[x[0]] for x in moving if x is not unit]
        alone = null_space(np.concatenate([0 * twists[GROUND], *others]))
        joints = _holding_joints(m, unit)
        if alone.shape[1] == 1 and len(joints) > 1:
            found.append(PassiveSpin(unit, joints))
    return found


def _body_twists(m: Model, q: Floats, v: Floats) -> dict[str, Floats]:
    """The twists (6, k) of all bodies for columns of velocities, in the ground's axes about its
    origin, lengths over L: a joint adds its own to its parent's."""
    placed, L = placements(m, q), characteristic_length(m)
    twists = {GROUND: np.zeros((6, v.shape[1]))}
    for joint in m.joints:
        R, p = (np.asarray(x, dtype=float) for x in placed[joint.child])
        motion = np.array(joint.kind.motion(q[m.coordinates[joint.name]]), dtype=float)
        own = motion @ v[m.velocities[joint.name]]
        angular = R @ own[:3]
        linear = R @ own[3:] + np.cross(p, angular, axisb=0, axisc=0)
        twists[joint.child] = twists[joint.parent] + np.concatenate([angular, linear / L])
    return twists


def _rigid_units(twists: Twists) -> list[tuple[str, ...]]:
    """Bodies grouped by having the same twist in every motion."""
    largest = max(float(np.abs(x).max(initial=0.0)) for x in twists.values())
    units: list[list[str]] = []
    for body, twist in twists.items():
        for unit in units:
            if np.abs(twist - twists[unit[0]]).max(initial=0.0) <= RANK * largest:
                unit.append(body)
                break
        else:
            units.append([body])
    return [tuple(unit) for unit in units]


def _holding_joints(m: Model, bodies: tuple[str, ...]) -> tuple[str, ...]:
    """The joints and loops between some bodies and all others."""
    ends = [(j.name, j.parent, j.child) for j in m.joints]
    ends += [(x.name, x.first.body, x.second.body) for x in m.loops]
    return tuple(name for name, one, two in ends if (one in bodies) != (two in bodies))
