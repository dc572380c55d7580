"""Which reactions motion determines: where constraints are redundant, loads can be locked in that
no motion shows.

A change z of the constraint forces with J^T z = 0 moves nothing. Each such z loads the joints; a
component of a reaction is determined if none of them changes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.arguments import floats as as_floats
from eslabon.errors import ModelError
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.model import Model
from eslabon.model.scale import characteristic_length, row_scales
from eslabon.numerics.spatial import wrench_to_parent
from eslabon.numerics.subspaces import null_space
from eslabon.numerics.tolerances import RANK
from eslabon.solve.constraints.closed_configurations import comparable_jacobian_at
from eslabon.solve.constraints.closure_violation import check_closed


def determined(m: Model, q: Any) -> Floats:
    """For each joint and then each loop, which of the six components of its reaction are determined
    at a configuration."""
    q = as_floats(q, "q")
    if q.shape != (m.nq,):
        raise ModelError(
            f"determined_reactions takes one configuration of {m.nq} coordinates; q has shape {q.shape}."
        )
    check_closed(m, q[None], "determined_reactions")
    total = len(m.joints) + len(m.loops)
    if not m.loops:
        return np.ones((total, 6), dtype=bool)
    hidden = null_space(comparable_jacobian_at(m, q).T)
    changes = np.array([_reactions(m, q, z) for z in hidden.T]).reshape(-1, total, 6)
    changes[..., 3:] *= characteristic_length(m)  # all are moments
    return ~np.any(np.abs(changes) > RANK * np.abs(changes).max(initial=0.0), axis=0)


def _reactions(m: Model, q: Floats, z: Floats) -> Floats:
    """What every joint and loop carries for the multipliers z of comparable rows alone."""
    z = z * row_scales(m)
    placed = placements(m, q)
    load = {
        name: np.zeros(6) for name in placed
    }  # on each body, about the ground's origin in its axes
    loops, start = [], 0
    for loop in m.loops:
        first, second = (on_body(placed, end.body, end.at) for end in (loop.first, loop.second))
        count = loop.kind.rows
        loops.append(
            np.asarray(loop.kind.covectors(*second.relative_to(first))) @ z[start : start + count]
        )
        start += count
        on_ground = wrench_to_parent(second, loops[-1])
        load[loop.second.body] += on_ground
        load[loop.first.body] -= on_ground
    for joint in reversed(m.joints):  # a joint holds what is on its child and beyond
        load[joint.parent] += load[joint.child]
    joints = [-wrench_to_parent(placed[j.child].inverse(), load[j.child]) for j in m.joints]
    return np.array([*joints, *loops])
