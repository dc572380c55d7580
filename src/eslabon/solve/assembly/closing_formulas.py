"""What closing loops has in native code: a damped step, an advance along a branch, and a whole near closure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from eslabon.compiler.calls import subroutine
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.compiler.function import Function
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.kinematics.frames import chosen_frame, jacobian, placement
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, integrate, normalize
from eslabon.model.joints import Fixed
from eslabon.model.memory import per_model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.least_squares import descent
from eslabon.numerics.quaternions import rotation_vector_from_quaternion
from eslabon.numerics.rotations import quaternion_from_rotation
from eslabon.numerics.scalars import casadi
from eslabon.numerics.spatial import RigidTransform
from eslabon.numerics.tolerances import CONVERGED
from eslabon.solve.assembly.prescription import Prescription, determinacy
from eslabon.solve.constraints.closed_configurations import SETTINGS, residuals_at
from eslabon.solve.constraints.independent_coordinates import partition, redundancy_is_constant
from eslabon.solve.damped_step import LEAST_DAMPING, Damped, damped_step
from eslabon.solve.designs import DESCRIBED, Designs
from eslabon.solve.ranges import SLACK, Ranges

Floats = np.ndarray[Any, np.dtype[np.float64]]
Names = tuple[str, ...]
ANY_POSE = np.eye(4)

# Of the way from one closed configuration, a knot, to the next: radians, or lengths in units of the mechanism's size.
BALL, LARGEST_BALL, SMALLEST_BALL = 0.25, 1.0, 2e-5  # that prescribed values move by
LONGEST = 0.6  # motion of any joint
BENT = 0.2  # correction against motion: half the angle by which the path turns
CONTRACTS = 0.5  # a correction against the one before
CORRECTIONS = 5
SMALL_CORRECTION = 1e-9  # whose square is round-off
FALLEN = 0.35  # of 1 at the knot: how far the equations may come to being singular
SINGULAR_PIVOT = 1e-12  # a pivot at which there is no tangent


def closing_step(
    m: Model, q: Any, damping: Any, pose: Any, lower: Any, upper: Any, given: Prescription
) -> list[Any]:
    """The next q; the error |Phi|^2 of this one, the largest motion of the step, and the least pivot of the normal
    equations against their largest, which is the square of a reciprocal condition number."""
    phi, J, *_ = equations(m, q, None, tuple(range(len(row_names(m)))))
    if given.frame is not None:
        wanted = RigidTransform(pose[:3, :3], pose[:3, 3])
        miss = casadi.SX(
            Fixed().residual(*placement(m, q, chosen_frame(m, given.frame)).relative_to(wanted))
        )
        slope = casadi.mtimes(casadi.jacobian(miss, q), coordinate_rates(m, q))
        phi, J = casadi.vertcat(phi, miss), casadi.vertcat(J, slope)
    made = damped_step(m, q, phi, J, damping, lower, upper, given.free(m))
    return [
        made.q,
        made.error,
        _largest(m, made.velocities),
        casadi.mmin(made.pivots) / casadi.mmax(made.pivots),
    ]


def _largest(m: Model, v: Any) -> Any:
    return (
        casadi.mmax(casadi.fabs(v * casadi.DM(velocity_scales(m.nominal))))
        if m.nv
        else casadi.SX(0)
    )


def predicted(m: Model, q: Any, dx: Any, given: Prescription, opened: Any = 0.0) -> tuple[Any, Any]:
    """The configuration that the tangent leads to when what is prescribed moves by dx, and the largest motion on the way.
    The tangent is J_free v_free = -J_fixed dx, or [J; J_frame] v = [0; dx], of minimum norm; with another design it also
    makes up for what this has opened the loops by."""
    fixed, free = given.velocities(m), given.free(m)
    v, J = casadi.SX.zeros(m.nv), _held(m, q, given)
    if given.frame is None:
        v[fixed] = dx
        right = casadi.mtimes(J, v) + opened
    else:
        right = casadi.vertcat(casadi.SX.zeros(J.shape[0] - 6) + opened, -dx)
    if free:
        v[free] = -Damped(J[:, free], LEAST_DAMPING).solve_exactly(right)
    return integrate(m, q, v), _largest(m, v)


def _held(m: Model, q: Any, given: Prescription, rows: tuple[int, ...] | None = None) -> Any:
    """The Jacobian of the loops, of some rows or of all, and of the frame whose pose is prescribed."""
    J = equations(m, q, None, tuple(range(len(row_names(m)))) if rows is None else rows)[1]
    return (
        J if given.frame is None else casadi.vertcat(J, jacobian(m, q, given.frame, axes="aligned"))
    )


def changed(m: Model, q: Any, after: Model, to: Any, given: Prescription) -> Any:
    """How far the equations are from singular anywhere between two configurations, of a mechanism and the same after a
    change of its parameters, as seen from the first.

    With A the Jacobian by the velocities that are not prescribed, B = A(q)^+ A(to) is 1 at the start. If its symmetric
    part has positive pivots, (1 - t) 1 + t B is regular for t from 0 to 1; the least pivot is given. Where degrees of
    freedom stay open, B = A(to) A(q)^+ of the independent rows says the same.
    """
    free, found = given.free(m), determinacy(m.nominal, given)
    open_rows = found.open and given.frame is None and redundancy_is_constant(m.nominal)
    if not free or (found.open and not open_rows):
        return casadi.SX(1)
    rows = partition(m.nominal).rows if open_rows else None
    if rows == ():
        return casadi.SX(1)
    A, other = (
        casadi.sparsify(_held(own, x, given, rows)[:, free]) for own, x in ((m, q), (after, to))
    )
    A, other = (A.T, other.T) if open_rows else (A, other)
    B = Damped(A, LEAST_DAMPING).solve(other)
    pivots = casadi.ldl(casadi.densify((B + B.T) / 2), False)[0]
    return casadi.mmin(casadi.densify(pivots))


def advance(m: Model, q: Any, x: Any, dx: Any, whole: Any, given: Prescription) -> list[Any]:
    """From a closed configuration to one for the prescribed values x, which are dx away: the tangent predicts, Newton's
    method corrects. Gives where it leads, whether the corrections were small against the way and contracted, how much the
    path bends, the pivot there, and how far the equations are from singular on the way.

    Where more is prescribed than the mechanism can follow, values that are not a whole row need not fit together, and only
    the loops are closed there.
    """
    knot, (q, motion) = q, predicted(m, q, dx, given)
    return _corrected(m, m, knot, q, motion, x, whole, given)


def advance_design(
    m: Model, q: Any, x: Any, dx: Any, dp: Any, whole: Any, given: Prescription, changing: Names
) -> list[Any]:
    """The same where the parameters that are changing move by dp too, to those of m."""
    knot, values = q, {name: m.symbols[name] - dp[k] for k, name in enumerate(changing)}
    earlier = m.with_symbols({**m.symbols, **values})
    opened = equations(m, q, None, tuple(range(len(row_names(m))))).phi if m.closed else 0.0
    q, motion = predicted(
        earlier, q, dx if given.frame is None else _to_pose(m, q, x, given), given, opened
    )
    return _corrected(earlier, m, knot, q, motion, x, whole, given)


def _to_pose(m: Model, q: Any, pose: Any, given: Prescription) -> Any:
    """The displacement of the prescribed frame from a configuration to a pose."""
    R, p = placement(m, q, chosen_frame(m, given.frame))
    turn = quaternion_from_rotation(casadi.mtimes(pose[:3, :3], R.T))
    return casadi.vertcat(rotation_vector_from_quaternion(turn), pose[:3, 3] - p)


def _corrected(
    earlier: Model,
    m: Model,
    knot: Any,
    q: Any,
    motion: Any,
    x: Any,
    whole: Any,
    given: Prescription,
) -> list[Any]:
    """What `advance` gives, from the configuration that the tangent predicts."""
    if given.frame is None:
        q[given.coordinates(m)] = x
    exact = _newton(m, given)
    between = _newton(m, Prescription()) if determinacy(m.nominal, given).surplus else None
    pose = casadi.SX.eye(4) if given.frame is None else x
    good, before, bent = motion <= LONGEST, np.inf, casadi.SX(0)
    for k in range(CORRECTIONS):
        following, moved, pivot = exact(q, pose)
        if between is not None:
            other = between(q, pose)
            following, moved, pivot = (
                casadi.if_else(whole, a, b)
                for a, b in zip((following, moved, pivot), other, strict=True)
            )
        if k == 0:
            bent = moved / casadi.fmax(motion, 1e-300)
            good = casadi.logic_and(
                good, moved <= casadi.fmax(BENT * motion, 100 * SMALL_CORRECTION)
            )
        good = casadi.logic_and(good, moved <= casadi.fmax(CONTRACTS * before, SMALL_CORRECTION))
        before, q = moved, following
    good = casadi.logic_and(good, before <= SMALL_CORRECTION)
    return [q, good, bent, pivot, changed(earlier, knot, m, q, given)]


def _newton(m: Model, given: Prescription) -> Any:
    """An undamped step without limits, as a function that native code contains once: q, motion, pivot."""

    def step(q: Any, pose: Any) -> list[Any]:
        following, _, motion, pivot = closing_step(m, q, 0.0, pose, None, None, given)
        return [casadi.densify(following), motion, pivot]

    return subroutine("newton_step", step, m.nq, (4, 4))


def near_closure(
    m: Model, q: Any, x: Any, lower: Any, upper: Any, given: Prescription
) -> list[Any]:
    """The closed configuration for prescribed values near those of a closed one, and whether there is no more to say: one
    advance within a ball leads there, not by a singular configuration, and within the limits."""
    q = normalize(m, q)
    dx = x - q[given.coordinates(m)] if given.frame is None else _to_pose(m, q, x, given)
    after, good, _, pivot, change = advance(m, q, x, dx, casadi.SX(1), given)
    rows = tuple(range(len(row_names(m))))
    left = [equations(m, y, None, rows).phi for y in (q, after)]
    if given.frame is not None:
        R, p = placement(m, after, chosen_frame(m, given.frame))
        left += [casadi.vec(R - x[:3, :3]), p - x[:3, 3]]
    found = determinacy(m.nominal, given)
    sound = [
        good,
        casadi.mmax(casadi.fabs(casadi.vertcat(*left))) < CONVERGED,
        casadi.mmax(casadi.fabs(dx * casadi.DM(given.scales(m.nominal)))) <= BALL,
        change >= FALLEN,
        pivot > (-1.0 if found.open or found.surplus else SINGULAR_PIVOT),
        casadi.mmin(casadi.vertcat(after - lower, upper - after)) >= -SLACK,
    ]
    return [after, casadi.mmin(casadi.vertcat(*sound))]


def _values(m: Model, given: Prescription, **_: Any) -> tuple[int, ...]:
    return (4, 4) if given.frame is not None else (len(given.coordinates(m)),)


def displacement_shape(m: Model, given: Prescription, **_: Any) -> tuple[int]:
    return (6,) if given.frame is not None else (len(given.velocities(m)),)


LIMITS = tuple(Argument(name, lambda m, given: (m.nq,)) for name in ("lower", "upper"))
COORDINATES, X = Argument("q", lambda m, given, **_: (m.nq,)), Argument("x", _values)
CLOSING = Formula(
    "closing_step",
    closing_step,
    (Q, Argument("damping", ()), Argument("pose", (4, 4)), *LIMITS),
    (COORDINATES, *(Argument(name, ()) for name in ("error", "motion", "pivot"))),
    {"given": Prescription()},
    rare=True,
)
ADVANCE = Formula(
    "advance",
    advance,
    (Q, X, Argument("dx", displacement_shape), Argument("whole", ())),
    (COORDINATES, *(Argument(name, ()) for name in ("good", "bent", "pivot", "change"))),
    {"given": Prescription()},
    rare=True,
)
ADVANCE_DESIGN = replace(
    ADVANCE,
    name="advance_design",
    function=advance_design,
    inputs=(
        *ADVANCE.inputs[:3],
        Argument("dp", lambda m, given, changing: (len(changing),)),
        ADVANCE.inputs[3],
    ),
    options={"given": Prescription(), "changing": ()},
)
NEAR_CLOSURE = Formula(
    "near_closure",
    near_closure,
    (Q, X, *LIMITS),
    (COORDINATES,),
    {"given": Prescription()},
    checks=(Argument("sound", (), bound=(">", 0.5)),),
    rare=True,
)


def solve_closure(
    m: Model, given: Prescription, ranges: Ranges, q: Floats, x: Floats | None = None, designs: Designs = DESCRIBED,
    iterations: int = 60,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Closed configurations from a batch of starts (k, nq) that have the prescribed values, for poses x and each in its
    own design, and by how much each violates closure or misses its pose."""
    native, count = evaluate(m, CLOSING, designs.names, given=given), len(designs.names)

    def step(q: Floats, damping: Any, *others: Floats) -> Any:
        pose = others[count] if len(others) > count else ANY_POSE
        return native(q, damping, pose, ranges.lower, ranges.upper, *others[:count])

    poses = () if x is None or given.frame is None else (x,)
    found = descent(step, q, *designs.inputs, *poses, goal=SETTINGS.goal**2, iterations=iterations)
    return found.q, np.sqrt(found.error)


class NearClosure:
    """The configuration for prescribed values near those of a closed one, all in native code; None where there is more to
    it."""

    @staticmethod
    @per_model
    def of(m: Model, given: Prescription) -> NearClosure:
        return NearClosure(m, given)

    def __init__(self, m: Model, given: Prescription) -> None:
        self._m, self._given = m, given
        self._suited = (
            m.closed and given.plain(m) and m.variant_of is None
        )  # of a variant one call is not worth the code
        self._shapes, ranges = ((m.nq,), _values(m, given)), Ranges.of(m)
        self._limits = {
            True: (ranges.lower, ranges.upper),
            False: (ranges.unlimited.lower, ranges.unlimited.upper),
        }

    def __call__(self, q: Floats, x: Floats, limits: bool) -> Floats | None:
        if (
            not self._suited
            or (q.shape, x.shape) != self._shapes
            or not q.dtype == x.dtype == np.float64
        ):
            return None
        found: Floats | None = self._native(q, x, *self._limits[limits])
        return found

    @cached_property
    def _native(self) -> Callable[..., Any]:
        call: Function = evaluate(self._m, NEAR_CLOSURE, given=self._given)
        return call.with_checks({}, lambda *_: [None]).native


def residual(m: Model, q: Any, designs: Designs = DESCRIBED) -> Floats:
    """The largest violation of closure in any loop or coupling, `(...)`."""
    return np.abs(residuals_at(m, q, designs)).max(axis=-1, initial=0.0)
