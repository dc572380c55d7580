"""Which reactions motion determines: where constraints are redundant, loads can be locked in that no motion shows.

A change z of the constraint forces with J^T z = 0 moves nothing. Each such z loads the joints; a component of a reaction
is determined if none of them changes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.errors import ModelError
from eslabon.graph.native.arguments import as_floats
from eslabon.kinematics.closure import RANK, jacobian_at
from eslabon.kinematics.singularities import check_closed
from eslabon.model import GROUND

Floats = np.ndarray


def determined(m: Any, q: Any) -> Floats:
    """For each joint and then each loop, which of the six components of its reaction are determined at a posture."""
    q = as_floats(q, "q")
    if q.shape != (m.nq,):
        raise ModelError(f"determined_reactions takes one posture of {m.nq} coordinates; q has shape {q.shape}.")
    check_closed(m, q[None], "determined_reactions")
    total = len(m.joints) + len(m.loops)
    if not m.loops:
        return np.ones((total, 6), dtype=bool)
    J = jacobian_at(m, q)
    U, size, _ = np.linalg.svd(J)
    hidden = U[:, int((size > RANK * size.max(initial=0.0)).sum()) :]
    changes = np.array([_reactions(m, q, z) for z in hidden.T]).reshape(-1, total, 6)
    scale = max(float(np.abs(changes).max(initial=0.0)), 1e-300)
    return ~np.any(np.abs(changes) > 1e-7 * scale, axis=0)


def _reactions(m: Any, q: Floats, z: Floats) -> Floats:
    """What every joint and loop carries for constraint forces z alone."""
    poses = {b.name: m.pose(q, b.name) for b in m.bodies} | {GROUND: np.eye(4)}
    load = {name: np.zeros(6) for name in poses}  # on each body, about the ground's origin in its axes
    loops, start = [], 0
    for loop in m.loops:
        ends = [poses[e.body] @ _matrix(e.at) for e in (loop.first, loop.second)]
        X = np.linalg.inv(ends[0]) @ ends[1]
        count = 6 - loop.kind.nv
        wrench = np.asarray(loop.kind.covectors(X[:3, :3], X[:3, 3])) @ z[start : start + count]
        start += count
        loops.append(wrench)
        on_ground = _carried(ends[1], wrench)
        load[loop.second.body] += on_ground
        load[loop.first.body] -= on_ground
    for joint in reversed(m.joints):  # a joint holds what is on its child and beyond
        load[joint.parent] += load[joint.child]
    joints = [-_carried(np.linalg.inv(poses[j.child]), load[j.child]) for j in m.joints]
    return np.array([*joints, *loops])


def _matrix(at: Any) -> Floats:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = at.rotation(), at.translation()
    return T


def _carried(T: Floats, wrench: Floats) -> Floats:
    """A wrench seen from the frame in which T stands: Ad* (Yime, eq. 9)."""
    force = T[:3, :3] @ wrench[3:]
    return np.concatenate([T[:3, :3] @ wrench[:3] + np.cross(T[:3, 3], force), force])
