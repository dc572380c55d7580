"""One damped Gauss-Newton step as a graph, and as native code that does it for a whole batch.

The state of a search is one vector z = (q, caution, best, error): where it stands, how careful it is, the best
configuration it has seen, and the error |r|² of that. A step notes the error at q and goes on to q + s with

    (J^T J + μ 1) s = -J^T r,    μ = caution · |r|² (Chan and Lawrence, 1988),

over the joints that are not held by a limit. Far from the target that is a careful step, near it Newton-Gauss. The code
has no branches, so that the lanes of a batch walk independently; a NaN never compares as smaller and is never the best.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eslabon.graph.trace import Quantity, Request
from eslabon.kinematics.inverse.ranges import TURN, Ranges
from eslabon.kinematics.inverse.tasks import Task
from eslabon.kinematics.tree import chain, coordinates
from eslabon.model import Joint, Mechanism

LEAST_DAMPING = 1e-13  # keeps the factorisation regular at singular postures; too small to slow the others


def freedoms(m: Mechanism, frame: str) -> list[int]:
    """The places in v of the joints between the ground and a frame."""
    return [k for j in chain(m, m.frame(frame).body) for k in range(m.nv)[m.velocities[j.name]]]


def native_step(m: Mechanism, task: Task, ranges: Ranges) -> Callable[..., Any]:
    """`step(z, x, lower, upper)` for arrays (..., n), compiled, or from the disk."""
    from eslabon.graph import native

    key = Request(Quantity("inverse_kinematics_step", (), native_step, lambda m: ()), (("task", task),)).key(m)
    kept = native.load(key)
    if kept is not None:
        return kept
    size = 2 * m.nq + 2
    inputs = [("z", size), ("x", task.size), ("lower", m.nq), ("upper", m.nq)]
    return native.compile(
        step_graph(m, task, ranges),
        inputs=[native.Argument(name, (n,)) for name, n in inputs],
        outputs=[native.Argument("z", (size,))],
        name="inverse_kinematics_step",
        owner=m.name,
        key=key,
    )


def step_graph(m: Mechanism, task: Task, ranges: Ranges) -> Any:
    """The `casadi.Function` of one step."""
    import casadi

    z, x = casadi.SX.sym("z", 2 * m.nq + 2), casadi.SX.sym("x", task.size)
    lower, upper = casadi.SX.sym("lower", m.nq), casadi.SX.sym("upper", m.nq)
    q, caution, seen = z[: m.nq], z[m.nq], z[m.nq + 1 :]
    r, J = task.residual(m, q, x), task.jacobian(m, q)
    error = casadi.sumsqr(r)
    seen = casadi.if_else(error < seen[m.nq], casadi.vertcat(q, error), seen)
    J = casadi.mtimes(J, casadi.diag(_released(m, q, casadi.mtimes(J.T, r), lower, upper)))
    moving = freedoms(m, task.frame)
    s = casadi.SX.zeros(m.nv)
    s[moving] = _damped(J[:, moving], r, caution * error + LEAST_DAMPING)
    after = _moved(m, q, s, ranges, lower, upper, task.frame)
    return casadi.Function("step", [z, x, lower, upper], [casadi.cse(casadi.vertcat(after, caution, seen))])


def _released(m: Mechanism, q: Any, gradient: Any, lower: Any, upper: Any) -> Any:
    """For each freedom 0 where the joint stands at a limit and would have to go beyond it, else 1."""
    import casadi

    free = casadi.SX.ones(m.nv)
    for joint in m.joints:
        if joint.limits is not None:
            places = zip(range(m.nv)[m.velocities[joint.name]], range(m.nq)[m.coordinates[joint.name]], strict=True)
            for i, k in places:
                low = casadi.logic_and(q[k] <= lower[k], gradient[i] > 0)
                high = casadi.logic_and(q[k] >= upper[k], gradient[i] < 0)
                free[i] = casadi.logic_not(casadi.logic_or(low, high))
    return free


def _damped(J: Any, r: Any, damping: Any) -> Any:
    """-(J^T J + μ 1)⁻¹ J^T r, or the same as -J^T (J J^T + μ 1)⁻¹ r, whichever matrix is smaller."""
    import casadi

    rows, columns = J.shape
    tall = columns <= rows
    A = casadi.mtimes(J.T, J) if tall else casadi.mtimes(J, J.T)
    D, LT, order = casadi.ldl(A + damping * casadi.SX.eye(min(rows, columns)), False)
    if tall:
        return -casadi.ldl_solve(casadi.mtimes(J.T, r), D, LT, order)
    return -casadi.mtimes(J.T, casadi.ldl_solve(r, D, LT, order))


def _moved(m: Mechanism, q: Any, s: Any, ranges: Ranges, lower: Any, upper: Any, frame: str) -> Any:
    """The configuration after a step s along the velocities, within the limits."""
    import casadi

    after = casadi.SX(q)
    for joint in chain(m, m.frame(frame).body):
        place = m.coordinates[joint.name]
        own = coordinates(m, q, joint)
        new = own + casadi.SX(joint.kind.coordinate_rates(own, s[m.velocities[joint.name]])) if joint.nv else own
        after[place] = new if joint.limits is None else _within(joint, new, ranges, place, lower, upper)
        if joint.nq != joint.nv:
            quaternion = slice(place.stop - 4, place.stop)
            after[quaternion] = after[quaternion] / casadi.norm_2(after[quaternion])
    return after


def _within(joint: Joint, new: Any, ranges: Ranges, place: slice, lower: Any, upper: Any) -> Any:
    """New coordinates brought back by a whole turn where that leads within the limits, else to the limit."""
    import casadi

    low, high = lower[place], upper[place]
    whole = np.where(ranges.turning[place], TURN, 0.0)
    new = casadi.if_else(casadi.logic_and(new > high, new - whole >= low), new - whole, new)
    new = casadi.if_else(casadi.logic_and(new < low, new + whole <= high), new + whole, new)
    return casadi.fmin(casadi.fmax(new, low), high)
