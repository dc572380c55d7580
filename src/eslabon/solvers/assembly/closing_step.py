"""Newton's steps on the loops' residuals and the tangent of the path they follow, native and batched."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.coordinates.closing import ROUND_OFF
from eslabon.coordinates.partition import partition, redundancy_is_constant
from eslabon.graph.evaluator import Formula, evaluate
from eslabon.graph.native.signature import Argument
from eslabon.kinematics.closure import equations, row_names
from eslabon.kinematics.frames import chosen_frame, jacobian, placement
from eslabon.kinematics.tree import relative
from eslabon.least_squares import solve
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, integrate, velocity_units
from eslabon.model.joints import Fixed
from eslabon.solvers.assembly.prescription import Prescription, determinacy
from eslabon.solvers.damped_step import LEAST_DAMPING, Damped, damped_step

Floats = np.ndarray[Any, np.dtype[np.float64]]
POSE = (Argument("R", (3, 3)), Argument("p", (3,)))


def scales(m: Model, velocities: list[int] | None = None) -> Floats:
    """What makes velocities comparable: 1 for angles, one over the size of the mechanism for lengths."""
    units = velocity_units(m)
    return np.array(
        [1.0 if units[k] == "rad/s" else 1 / size(m) for k in (range(m.nv) if velocities is None else velocities)]
    )


def size(m: Model) -> float:
    """A length typical of the mechanism: the longest reach between two joints of a body, or one metre."""
    places = [j.at.position for j in m.joints]
    places += [end.at.position for loop in m.loops for end in (loop.first, loop.second)]
    longest = max((float(np.linalg.norm(np.asarray(p, dtype=float))) for p in places), default=0.0)
    return longest if longest > 0 else 1.0


def closing_step(
    m: Model, q: Any, damping: Any, R: Any, p: Any, lower: Any, upper: Any, given: Prescription
) -> list[Any]:
    """The next q; the error |Phi|^2 of this one, the largest motion of the step, and the least pivot of the normal
    equations against their largest, which is the square of a reciprocal condition number. R and p are the pose that is
    prescribed, if one is."""
    import casadi

    phi, J, *_ = equations(m, q, casadi.SX.zeros(m.nv), tuple(range(len(row_names(m)))))
    if given.frame is not None:
        miss = casadi.SX(Fixed().residual(*relative((R, p), placement(m, q, chosen_frame(m, given.frame)))))
        slope = casadi.mtimes(casadi.jacobian(miss, q), coordinate_rates(m, q))
        phi, J = casadi.vertcat(phi, miss), casadi.vertcat(J, slope)
    made = damped_step(m, q, phi, J, damping, lower, upper, given.free(m))
    return [made.q, made.error, _largest(m, made.velocities), casadi.mmin(made.pivots) / casadi.mmax(made.pivots)]


def _largest(m: Model, v: Any) -> Any:
    import casadi

    return casadi.mmax(casadi.fabs(v * casadi.DM(scales(m.plain)))) if m.nv else casadi.SX(0)


CLOSING = Formula(
    "closing_step",
    closing_step,
    ("q", Argument("damping", ()), *POSE, *(Argument(name, lambda m, given: (m.nq,)) for name in ("lower", "upper"))),
    (Argument("q", lambda m, given: (m.nq,)), Argument("error", ()), Argument("motion", ()), Argument("pivot", ())),
    {"given": Prescription()},
    seldom=True,
)


def predicting(m: Model, q: Any, dx: Any, given: Prescription) -> list[Any]:
    """The configuration that the tangent leads to when what is prescribed moves by dx, and the largest motion on the way.
    The tangent is J_free v_free = -J_fixed dx, or [J; J_frame] v = [0; dx], of minimum norm."""
    import casadi

    fixed, free = given.velocities(m), given.free(m)
    v, J = casadi.SX.zeros(m.nv), _held(m, q, given)
    if given.frame is None:
        v[fixed] = dx
        right = casadi.mtimes(J, v)
    else:
        right = casadi.vertcat(casadi.SX.zeros(J.shape[0] - 6), -dx)
    if free:
        v[free] = -Damped(J[:, free], LEAST_DAMPING).solve_exactly(right)
    return [integrate(m, q, v), _largest(m, v)]


def _held(m: Model, q: Any, given: Prescription, rows: tuple[int, ...] | None = None) -> Any:
    """The Jacobian of the loops, of some rows or of all, and of the frame whose pose is prescribed."""
    import casadi

    J = equations(m, q, casadi.SX.zeros(m.nv), tuple(range(len(row_names(m)))) if rows is None else rows)[1]
    return J if given.frame is None else casadi.vertcat(J, jacobian(m, q, given.frame, axes="aligned"))


def changing(m: Model, q: Any, to: Any, given: Prescription) -> Any:
    """How far the equations are from singular anywhere between two configurations, as seen from the first.

    With A the Jacobian by the velocities that are not prescribed, B = A(q)^+ A(to) is 1 at the start. If its symmetric
    part has positive pivots, (1 - t) 1 + t B is regular for t from 0 to 1; the least pivot is given. Where degrees of
    freedom stay open, B = A(to) A(q)^+ of the independent rows says the same.
    """
    import casadi

    free, found = given.free(m), determinacy(m.plain, given)
    open_rows = found.open and given.frame is None and redundancy_is_constant(m.plain)
    if not free or (found.open and not open_rows):
        return casadi.SX(1)
    rows = partition(m.plain).rows if open_rows else None
    if rows == ():
        return casadi.SX(1)
    A, other = (casadi.sparsify(_held(m, x, given, rows)[:, free]) for x in (q, to))
    A, other = (A.T, other.T) if open_rows else (A, other)
    B = Damped(A, LEAST_DAMPING).solve(other)
    pivots = casadi.ldl(casadi.densify((B + B.T) / 2), False)[0]
    return casadi.mmin(casadi.densify(pivots))


CHANGING = Formula(
    "changing",
    changing,
    ("q", Argument("to", lambda m, given: (m.nq,))),
    (Argument("pivot", ()),),
    {"given": Prescription()},
    seldom=True,
)


def _displaced(m: Model, given: Prescription) -> tuple[int]:
    return (6,) if given.frame is not None else (len(given.velocities(m)),)


PREDICTING = Formula(
    "predicting",
    predicting,
    ("q", Argument("dx", _displaced)),
    (Argument("q", lambda m, given: (m.nq,)), Argument("motion", ())),
    {"given": Prescription()},
    seldom=True,
)


class Closing:
    """The native steps for one prescription, with or without limits."""

    def __init__(self, m: Model, given: Prescription, lower: Floats, upper: Floats) -> None:
        self.m, self.given, self.limits, self._step = m, given, (lower, upper), evaluate(m, CLOSING, given=given)

    def step(self, q: Floats, damping: Any, x: Floats | None = None) -> tuple[Floats, Floats, Floats, Floats]:
        """The next q, the error, the motion of the step, and the pivot; x are the poses, if prescribed."""
        R, p = (np.eye(3), np.zeros(3)) if x is None else (x[..., :3, :3], x[..., :3, 3])
        following, error, motion, pivot = self._step(q, damping, R, p, *self.limits)
        return following, error, motion, pivot

    def solve(self, q: Floats, x: Floats | None = None, iterations: int = 60) -> tuple[Floats, Floats]:
        """Configurations from a batch of starts (k, nq), and by how much each violates closure or misses its pose."""
        poses = () if x is None or self.given.frame is None else (x,)
        found = solve(self.step, q, *poses, goal=ROUND_OFF**2, iterations=iterations, monotone=True)
        return found.q, np.sqrt(found.error)


def residual(m: Model, q: Any) -> Floats:
    """The largest violation of closure in any loop or coupling, `(...)`."""
    from eslabon.coordinates.closing import residuals_at

    return np.abs(residuals_at(m, q)).max(axis=-1, initial=0.0)
