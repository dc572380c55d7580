"""How near a configuration is to singular, of either kind (Gosselin and Angeles).

Parallel: locked actuators no longer hold the loops, because the passive columns of the closure Jacobian lose rank. Serial:
a frame loses a direction, because the actuators' motions no longer span its twists. Both are told as reciprocal condition
numbers, from 1 at best to 0 at a singular configuration; rotations count in radians, lengths in units of the mechanism's
size.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from eslabon.arguments import renamed, states, text
from eslabon.coordinates.closing import jacobian_at, residuals_at
from eslabon.coordinates.partition import (
    CLOSURE_TOLERANCE,
    RANK,
    partition,
    partition_at,
    rank,
    redundancy_is_constant,
    retained_rows,
)
from eslabon.errors import AssemblyError, ModelError
from eslabon.kinematics.frames import chosen_frame
from eslabon.model import Model
from eslabon.model.configuration import velocity_names
from eslabon.quantities import evaluate
from eslabon.solvers.assembly.prescription import size

Floats = np.ndarray


@dataclass(frozen=True, eq=False)
class Conditions:
    """Reciprocal condition numbers, one for each configuration, the mobility there, and the sign of the determinant of the
    passive columns of the closure Jacobian: 1 or -1 on either side of the parallel singular configurations, 0 at one."""

    parallel: Floats
    serial: Floats
    mobility: Floats
    sign: Floats

    def __repr__(self) -> str:
        if not np.ndim(self.parallel):
            return f"<Conditions: parallel {self.parallel:.2g}, serial {self.serial:.2g}, mobility {self.mobility}>"
        least = f"parallel from {np.min(self.parallel, initial=1.0):.2g}, serial from {np.min(self.serial, initial=1.0):.2g}"
        return f"<Conditions of {np.size(self.parallel):,} configurations: {least}>"

    @property
    def side(self) -> Floats:
        """The old name of `sign`."""
        renamed("Conditions.side", "Conditions.sign")
        return self.sign

    @property
    def singular(self) -> Floats:
        """Where either is zero to working precision, or the mobility is not the usual one."""
        return (np.minimum(self.parallel, self.serial) < RANK) | (self.mobility != np.min(self.mobility, initial=10**9))

    @property
    def crossings(self) -> Floats:
        """For configurations along a motion, the rows k such that a parallel singular one lies between rows k and k + 1."""
        if np.ndim(self.sign) != 1:
            raise ModelError("crossings are looked for along one motion: configurations of shape (rows, coordinates).")
        last = np.maximum.accumulate(np.where(self.sign != 0, np.arange(len(self.sign)), 0))
        # a row on the very configuration counts as the side it came from
        return np.flatnonzero(np.diff(self.sign[last]) != 0)


def conditions(m: Model, q: Any, frame: str | None = None) -> Conditions:
    """The conditions of configurations `(..., nq)`."""
    q = states(q, "q", m.nq, m.name)
    named = frame if frame is None else text(frame, "frame")
    chosen = chosen_frame(m, named).name if frame is not None or len(m.frames) == 1 else None
    lead, flat = q.shape[:-1], q.reshape(prod(q.shape[:-1]), m.nq)
    parallel, serial, sign = np.ones((3, len(flat)))
    mobility, moves = np.full(len(flat), m.nv), np.broadcast_to(np.eye(m.nv), (len(flat), m.nv, m.nv))
    independent = tuple(range(m.nv))
    if m.closed:
        check_closed(m, flat, "conditions")
        p, J = partition(m), jacobian_at(m, flat)
        kept = J[:, list(retained_rows(m))]
        parallel = _reciprocal_condition(kept[:, :, list(p.dependent)])
        if redundancy_is_constant(m):
            sign = np.where(parallel > RANK, np.sign(np.linalg.det(kept[:, :, list(p.dependent)])), 0.0)
        mobility, independent = m.nv - rank(np.linalg.svd(J, compute_uv=False)), p.independent
        moves = _motions(kept, p.independent, p.dependent, m.nv, parallel)
    if chosen is not None and m.nv:
        driven = [k for k, place in enumerate(independent) if place in m.actuated_velocities]
        if driven and len(driven) < len(independent):
            # what nothing drives, such as the spin of a rod, is not asked for
            moves = moves[:, :, driven]
        twists = evaluate(m, "jacobian", frame=chosen)(flat) @ moves
        twists[:, 3:] /= size(m)
        serial = _reciprocal_condition(twists)
    return Conditions(*(x.reshape(lead)[()] for x in (parallel, serial, mobility, sign)))


def independent_coordinates(m: Model, q: Any = None) -> tuple[str, ...]:
    """The velocities that elimination takes as independent: near home, or those that suit a configuration best."""
    if q is None:
        p = partition(m)
    else:
        p = partition_at(m, one_configuration(m, q, "independent_coordinates"), ())
    return tuple(velocity_names(m)[k] for k in p.independent)


def one_configuration(m: Model, q: Any, verb: str) -> Floats:
    """A single closed configuration."""
    q = states(q, "q", m.nq, m.name)
    if q.ndim != 1:
        raise ModelError(f"{verb} looks at one configuration (nq,) at a time; q has shape {q.shape}.")
    check_closed(m, q[None], verb)
    return q


def check_closed(m: Model, q: Floats, verb: str) -> None:
    """Refuse configurations (k, nq) that violate loop closure."""
    if not m.closed:
        return
    left = np.abs(residuals_at(m, q)).max(axis=-1, initial=0.0)
    if not np.all(left <= CLOSURE_TOLERANCE):
        k = int(np.argmax(np.where(np.isfinite(left), left, np.inf)))
        at = f" (configuration {k})" if len(q) > 1 else ""
        raise AssemblyError(
            f"{verb}: the configuration violates loop closure of {m.name} by {left[k]:.3g} (m or rad){at}; assemble it, or "
            "project it onto the constraint manifold with m.project."
        )


def _motions(J: Floats, independent: tuple[int, ...], dependent: tuple[int, ...], nv: int, parallel: Floats) -> Floats:
    """N with v = N v_independent, where the configuration allows it."""
    N = np.zeros((len(J), nv, len(independent)))
    N[:, list(independent), range(len(independent))] = 1.0
    good = parallel > RANK
    followed = -np.linalg.pinv(J[good][:, :, list(dependent)]) @ J[good][:, :, list(independent)]
    N[np.flatnonzero(good)[:, None], np.array(dependent, dtype=int)] = followed
    return N


def _reciprocal_condition(A: Floats) -> Floats:
    """Least over largest singular value."""
    values = np.linalg.svd(A, compute_uv=False)
    if values.shape[-1] == 0:
        return np.ones(len(A))
    return np.where(values[:, 0] > RANK, values[:, -1] / np.maximum(values[:, 0], 1e-300), 0.0)  # nothing moves at all
