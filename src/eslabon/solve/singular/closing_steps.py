"""Configurations a short way off closed ones, put back onto the constraint manifold."""

from __future__ import annotations

import numpy as np

from eslabon.arguments import Floats
from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.model.scale import velocity_scales
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION, CONVERGED, ROUND_OFF
from eslabon.solve.constraints.closed_configurations import close_from, closure_at
from eslabon.solve.constraints.independent_coordinates import redundancy_is_constant, retained_rows

STEPS = 8  # of Newton's method, at most: what is near closes in three or four


def closed_near(m: Model, q: Floats) -> Floats:
    """The nearest closed configurations to (k, nq), by Newton's method; NaN where a loop does not
    close."""
    if not m.closed or not len(q):
        return q
    if not redundancy_is_constant(m):
        found, error = close_from(m, q)
        return np.where((np.sqrt(error) <= ACCEPTED_VIOLATION)[:, None], found, np.nan)
    q, rows, scales = q.copy(), list(retained_rows(m)), velocity_scales(m)
    left = np.full(len(q), np.inf)
    for step in range(STEPS + 1):
        lanes = np.flatnonzero(left > CONVERGED)
        phi, J = closure_at(m, q[lanes])
        left[lanes] = np.abs(phi).max(axis=-1, initial=0.0)
        lanes, far = lanes[left[lanes] > CONVERGED], left[lanes] > CONVERGED
        if not len(lanes) or step == STEPS:
            break
        A = J[far][:, rows] / scales
        gram = A @ np.swapaxes(A, -1, -2)
        gram += ROUND_OFF * np.trace(gram, axis1=1, axis2=2)[:, None, None] * np.eye(len(rows))
        multipliers = np.linalg.solve(gram, phi[far][:, rows, None])
        v = (np.swapaxes(A, -1, -2) @ multipliers)[..., 0] / scales
        q[lanes] = np.asarray(integrate(m, q[lanes], -v))
    return np.where((left <= CONVERGED)[:, None], q, np.nan)
