"""Newton's steps on the loops' residuals, native and batched: damped least squares over the coordinates that are free,
with redundant rows left in."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from eslabon.kinematics.assembly.prescription import Prescription
from eslabon.kinematics.closure import equations, row_names
from eslabon.kinematics.frames import chosen_frame, placement
from eslabon.kinematics.tree import coordinate_rates, relative
from eslabon.model import Mechanism
from eslabon.model.joints import Fixed

Floats = np.ndarray
ROUND_OFF = 1e-13


@lru_cache(maxsize=256)
def stepper(m: Mechanism, given: Prescription) -> Callable[..., tuple[Floats, Floats]]:
    """(q, R, p, damping) -> the next q and the residual of this one; R and p are the pose that is prescribed, if one is."""
    from eslabon.graph.trace import kept

    return kept(m, f"closing {given}", lambda key: _stepper(m, given, key))


def _stepper(m: Mechanism, given: Prescription, key: str) -> Callable[..., tuple[Floats, Floats]]:
    import casadi

    from eslabon.formulations.factor import factors
    from eslabon.graph import native

    q, mu = casadi.SX.sym("q", m.nq), casadi.SX.sym("mu")
    R, p = casadi.SX.sym("R", 3, 3), casadi.SX.sym("p", 3)
    N, free = coordinate_rates(m, q), given.free(m)
    phi, J, _ = equations(m, q, casadi.SX.zeros(m.nv), tuple(range(len(row_names(m)))))
    if given.frame is not None:
        miss = casadi.SX(Fixed().residual(*relative((R, p), placement(m, q, chosen_frame(m, given.frame)))))
        phi, J = casadi.vertcat(phi, miss), casadi.vertcat(J, casadi.mtimes(casadi.jacobian(miss, q), N))
    J = casadi.sparsify(J[:, free])
    normal = casadi.sparsify(casadi.mtimes(J.T, J) + mu * casadi.SX.eye(len(free)))
    step = factors(normal).solve(-casadi.mtimes(J.T, phi))
    longest = casadi.fmax(1.0, casadi.mmax(casadi.fabs(step))) if free else 1  # no joint turns over a radian at once
    full = casadi.SX(m.nv, 1)
    if free:
        full[free] = step / longest
    moved = _unit_quaternions(m, casadi.SX(q + casadi.mtimes(N, full)))
    f = casadi.Function("closing", [q, R, p, mu], casadi.cse([moved, phi]))
    arguments = [
        native.Argument("q", (m.nq,), "coordinates"),
        native.Argument("R"),
        native.Argument("p"),
        native.Argument("mu", ()),
    ]
    return native.compile(f, inputs=arguments, name="closing", owner=m.name, key=key)


def _unit_quaternions(m: Mechanism, q: Any) -> Any:
    import casadi

    for joint in m.joints:
        if joint.nq != joint.nv:
            place = list(range(m.nq)[m.coordinates[joint.name]][-4:])
            q[place] = q[place] / casadi.norm_2(q[place])
    return q


def solve(
    m: Mechanism, given: Prescription, q: Floats, T: Floats | None = None, iterations: int = 60
) -> tuple[Floats, Floats]:
    """Closed postures from a batch of starts, (k, nq), and what is left open in each; T are the poses, if prescribed."""
    step = stepper(m, given)
    T = np.broadcast_to(np.eye(4), (len(q), 4, 4)) if T is None else T
    R, p = np.ascontiguousarray(T[:, :3, :3]), np.ascontiguousarray(T[:, :3, 3])
    q = q.copy()
    damping = np.full(len(q), 1e-4)
    trial, phi = step(q, R, p, damping)
    size = np.abs(phi).max(axis=-1, initial=0.0)
    active = np.flatnonzero(size > ROUND_OFF)
    for _ in range(iterations):
        if not len(active):
            break
        following, after = step(trial[active], R[active], p[active], damping[active])
        left = np.abs(after).max(axis=-1, initial=0.0)
        better = left < size[active]  # NaN is not better
        good, bad = active[better], active[~better]
        q[good], size[good], damping[good] = trial[good], left[better], damping[good] * 1e-2
        trial[good] = following[better]
        damping[bad] = np.maximum(damping[bad] * 30.0, 1e-9)
        stuck = (damping[bad] > 1e6) | (size[bad] < 1e-12)
        if len(bad):
            trial[bad] = step(q[bad], R[bad], p[bad], damping[bad])[0]
        active = np.concatenate([good[size[good] > ROUND_OFF], bad[~stuck]])
    return q, size


def residual(m: Mechanism, q: Any) -> Floats:
    """The largest residual of all loops and couplings, `(...)`."""
    left = stepper(m, Prescription())(q, np.eye(3), np.zeros(3), 1.0)[1]
    return np.abs(left).max(axis=-1, initial=0.0)
