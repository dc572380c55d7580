"""How near a posture is to singular, of either kind (Gosselin and Angeles).

Parallel: locked actuators no longer hold the loops, because the passive columns of the closure Jacobian lose rank. Serial:
a frame loses a direction, because the actuators' motions no longer span its twists. Both are told as inverse condition
numbers, from 1 at best to 0 at a singular posture; rotations count in radians, lengths in units of the mechanism's size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.errors import AssemblyError, ModelError
from eslabon.graph.native.arguments import as_floats
from eslabon.kinematics.closure import RANK, TORN, partition, serving_rows, steady

Floats = np.ndarray


@dataclass(frozen=True)
class Conditions:
    """Inverse condition numbers, one for each posture, the mobility there, and on which `side` of the parallel singular
    postures it stands: 1 or -1, or 0 at one."""

    parallel: Floats
    serial: Floats
    mobility: Floats
    side: Floats

    @property
    def singular(self) -> Floats:
        """Where either is zero to working precision, or the mobility is not the usual one."""
        return (np.minimum(self.parallel, self.serial) < RANK) | (self.mobility != np.min(self.mobility, initial=10**9))

    @property
    def crossings(self) -> Floats:
        """For postures along a motion, the rows k such that a parallel singular posture lies between rows k and k + 1."""
        if np.ndim(self.side) != 1:
            raise ModelError("crossings are looked for along one motion: postures of shape (rows, coordinates).")
        last = np.maximum.accumulate(np.where(self.side != 0, np.arange(len(self.side)), 0))
        # a row on the very posture counts as the side it came from
        return np.flatnonzero(np.diff(self.side[last]) != 0)


def conditions(m: Any, q: Any, frame: str | None = None) -> Conditions:
    """The conditions of postures `(..., nq)`; `m` is the mechanism users hold."""
    q = as_floats(q, "q")
    if q.shape[-1:] != (m.nq,):
        raise ModelError(
            f"q has {q.shape[-1] if q.ndim else 0} values in its last axis; {m.name} has {m.nq} coordinates."
        )
    lead, flat = q.shape[:-1], q.reshape(-1, m.nq)
    side = np.ones(len(flat))
    if m.closed:
        check_closed(m, flat, "conditions")
        p = partition(m)
        J = m.constraint_jacobian(flat)
        kept = J[:, list(serving_rows(m))]
        parallel = _inverse_condition(kept[:, :, list(p.dependent)])
        if steady(m):
            side = np.where(parallel > RANK, np.sign(np.linalg.det(kept[:, :, list(p.dependent)])), 0.0)
        mobility = m.nv - _rank(J)
        moves = _motions(kept, p.independent, p.dependent, m.nv, parallel)
    else:
        parallel, mobility = np.ones(len(flat)), np.full(len(flat), m.nv)
        moves = np.broadcast_to(np.eye(m.nv), (len(flat), m.nv, m.nv))
    serial = np.ones(len(flat))
    if frame is not None or len(m.frames) == 1:
        independent = p.independent if m.closed else tuple(range(m.nv))
        driven = [k for k, place in enumerate(independent) if place in m.actuated_velocities]
        if driven and len(driven) < len(independent):
            # what nothing drives, such as the spin of a rod, is not asked for
            moves = moves[:, :, driven]
        twists = m.jacobian(flat, frame) @ moves
        twists[:, 3:] /= size(m)
        serial = _inverse_condition(twists)
    return Conditions(*(x.reshape(lead)[()] for x in (parallel, serial, mobility, side)))


def check_closed(m: Any, q: Floats, verb: str) -> None:
    """Refuse postures (k, nq) that tear the loops."""
    if not m.closed:
        return
    torn = np.abs(m.constraint(q)).max(axis=-1, initial=0.0)
    if not np.all(torn <= TORN):
        k = int(np.argmax(np.where(np.isfinite(torn), torn, np.inf)))
        at = f" (posture {k})" if len(q) > 1 else ""
        raise AssemblyError(
            f"{verb}: the posture leaves the loops of {m.name} open by {torn[k]:.3g} (m or rad){at}; assemble it, or bring "
            "it onto the loops with m.project."
        )


def _motions(J: Floats, independent: tuple[int, ...], dependent: tuple[int, ...], nv: int, parallel: Floats) -> Floats:
    """N with v = N v_independent, where the posture allows it."""
    N = np.zeros((len(J), nv, len(independent)))
    N[:, list(independent), range(len(independent))] = 1.0
    good = parallel > RANK
    followed = -np.linalg.pinv(J[good][:, :, list(dependent)]) @ J[good][:, :, list(independent)]
    N[np.flatnonzero(good)[:, None], np.array(dependent)] = followed
    return N


def _inverse_condition(A: Floats) -> Floats:
    """Least over largest singular value."""
    values = np.linalg.svd(A, compute_uv=False)
    if values.shape[-1] == 0:
        return np.ones(len(A))
    return np.where(values[:, 0] > RANK, values[:, -1] / np.maximum(values[:, 0], 1e-300), 0.0)  # nothing moves at all


def _rank(A: Floats) -> Floats:
    values = np.linalg.svd(A, compute_uv=False)
    return (values > RANK * values.max(axis=-1, keepdims=True, initial=0.0)).sum(axis=-1)


def size(m: Any) -> float:
    """A length typical of the mechanism: the longest reach between two joints of a body, or one metre."""
    reach = [np.linalg.norm(np.asarray(j.at.position, dtype=float)) for j in m.joints]
    reach += [
        np.linalg.norm(np.asarray(end.at.position, dtype=float))
        for loop in m.loops
        for end in (loop.first, loop.second)
    ]
    longest = max(reach, default=0.0)
    return float(longest) if longest > 0 else 1.0
