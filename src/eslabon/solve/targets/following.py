"""The motion of all joints from that of a frame: at one instant, along rows, or along a path, with loops as without."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import choice, finite, flag, positive
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import (
    SINGULAR_CHOICES,
    AssemblyError,
    InputError,
    InverseKinematicsError,
    ModelError,
    format_value,
    report_singularity,
)
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.model import Model
from eslabon.model.configuration import coordinate_names, coordinate_velocities, normalize
from eslabon.model.plane_of_motion import plane_directions
from eslabon.solve.assembly import assemble
from eslabon.solve.batches import flattened
from eslabon.solve.constraints.closed_configurations import residuals_at
from eslabon.solve.designs import Designs, designs_of
from eslabon.solve.given_poses import checked_poses
from eslabon.solve.inverse.follow import six
from eslabon.solve.inverse.joint_motion import JointMotion
from eslabon.solve.ranges import Ranges
from eslabon.solve.singular.conditions import conditions
from eslabon.solve.targets.rates import Rates, freedom, rate_rows, rates, rates_of_twists
from eslabon.solve.targets.reaching import CLOSED, MISSED, TOLERANCE, Search, reach, reach_along
from eslabon.solve.targets.target import Given, Target, given

Floats = NDArray[np.float64]
PARTS = ("pose", "position", "orientation", "planar", "axis")
SINGULAR = 1e-6  # a reciprocal condition number
SLIP = 1e-6  # of the rates asked for: what may be missing of them
INSTANTS = 101


def complete_target(
    m: Model, targets: list[Target], guess: Any = None, *, twist: Any = None, velocity: Any = None, acceleration: Any = None,
    continuation: bool = False, singular: str = "error", limits: bool = True, parameters: Any = None,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """q, v, a of all joints from what targets ask and how it changes.

    `twist` and `acceleration` (..., 6) are a frame's, in the ground's axes at its origin, angular part first; or `velocity`
    and `acceleration` are the rates of what is asked: of a position its three components, of planar coordinates x', y' and
    the angle's rate, of an orientation the angular velocity, of an axis the rate of its direction, in the order of the parts.
    """
    choice(singular, "singular", SINGULAR_CHOICES)
    reached = reach_along if flag(continuation, "continuation") else reach
    found = reached(m, targets, guess, limits=limits, parameters=parameters)
    made, asked = rates_at(m, targets, found.q, parameters, twist, velocity, acceleration)
    _tell(m, made, asked, singular)
    return found.q, made.v, made.a


def rates_at(
    m: Model,
    targets: list[Target],
    q: Floats,
    parameters: Any,
    twist: Any,
    velocity: Any,
    acceleration: Any,
) -> tuple[Rates, Floats]:
    """v and a at configurations that reach their targets, and the rates that are asked for, with all leading axes."""
    parts, designs = given(m, targets).parts, designs_of(m, parameters)
    if (twist is None) == (velocity is None):
        raise ModelError(
            "complete takes the twist of the frame or the velocity of what is asked: one of the two."
        )
    count = 6 if velocity is None else rate_rows(parts)
    name = "twist" if velocity is None else "velocity"
    pair = [
        _rate(x, n, count)
        for x, n in (
            (twist if velocity is None else velocity, name),
            (acceleration, "acceleration"),
        )
    ]
    lead, (q, first, second, own) = flattened(
        configurations=(q, 1),
        velocities=(pair[0], 1),
        accelerations=(pair[1], 1),
        parameters=(designs.values, 1),
    )
    designs = Designs(designs.names, own)
    if velocity is None:
        first, second = rates_of_twists(m, parts, q, first, second, designs)
    made = rates(m, parts, q, first, second, designs=designs)
    v, a = made.v.reshape(*lead, m.nv), made.a.reshape(*lead, m.nv)
    shaped = Rates(v, a, made.slip.reshape(lead), made.condition.reshape(lead))
    return shaped, np.broadcast_to(first, (len(q), first.shape[-1])).reshape(*lead, first.shape[-1])


def _rate(x: Any, name: str, count: int) -> Floats:
    made = np.zeros(count) if x is None else finite(x, name)
    if made.ndim < 1 or made.shape[-1] != count:
        raise InputError(
            f"{name} is {count} numbers here, or a batch (..., {count}); it has shape {made.shape}."
        )
    return made


def _tell(m: Model, made: Rates, asked: Floats, singular: str) -> None:
    """A singular configuration, or rates that no motion has."""
    if np.min(made.condition, initial=1.0) < SINGULAR:
        report_singularity(
            singular,
            f"{m.name} is at a singular configuration (the reciprocal condition number is {np.min(made.condition):.2g}), where "
            "the motion asked for takes the joints without bound; ask for another, or pass singular='warn' for the "
            "minimum-norm one.",
        )
    size = max(1.0, float(np.abs(asked).max(initial=0.0)))
    if np.max(made.slip, initial=0.0) > SLIP * size and singular == "error":
        raise AssemblyError(
            f"{m.name} cannot move as asked: what no joint can give is {np.max(made.slip):.3g} of the velocity; ask for less, "
            "such as the position alone."
        )


def follow_target(
    m: Model, path: Any, guess: Any = None, frame: str | None = None, *, times: Any = None, part: str = "pose",
    axis: Any = "z", limits: bool = True, tolerance: float = TOLERANCE, strict: bool = True, singular: str = "warn",
) -> JointMotion:  # fmt: skip
    """The joints' motion that takes a frame, or a part of its pose, along a path, with loops as without.

    Rates are exact, from the path's own twist and acceleration. The branch is kept by continuation. Where the path leaves
    freedom, the joints move as little as they can at every instant, and velocities and accelerations are those of that motion. A limit or a place out
    of reach is an error that says when; a singular configuration that is passed is told with its time.

    Parameters
    ----------
    path : an object of `es.paths`, or any with `duration`, `pose(t)`, `twist(t)` and `acceleration(t)`.
    part : what of the path counts: "pose", "position", "orientation", "planar" (x, y and the angle in the mechanism's
        plane), or "axis": the position and the direction of the frame's `axis`.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> circle = es.paths.along(es.paths.arc([0.05, 0.08, 0], [0.06, 0.08, 0], [0, 0, 1], 2 * np.pi), es.paths.cycloidal(1.0))
    >>> motion = follow_target(m, circle, part="position")
    >>> bool(motion.distance.max() < 1e-9), motion.q.shape
    (True, (101, 4))
    """
    choice(singular, "singular", SINGULAR_CHOICES)
    choice(part, "part", PARTS)
    t = _times(path, times)
    limits, strict, tolerance = (
        flag(limits, "limits"),
        flag(strict, "strict"),
        positive(tolerance, "tolerance"),
    )
    pose = np.array([checked_poses(path.pose(x)) for x in t])
    twist, acceleration = (
        np.array([six(f(x), name) for x in t])
        for f, name in ((path.twist, "twist"), (path.acceleration, "acceleration"))
    )
    targets = [_target(m, chosen_frame(m, frame).name, pose, part, axis)]
    asked = given(m, targets)
    first = reach(
        m,
        [_target(m, targets[0].frame or "", pose[:1], part, axis)],
        guess,
        limits=limits,
        strict=False,
    ).q[0]
    open_ = freedom(m, asked.parts, first)
    if open_:
        q = _least_motion(m, asked, path, t, first, tolerance)
    elif part == "pose" and m.closed:
        q = assemble(m, pose=pose, frame=targets[0].frame, guess=guess, continuation=True, strict=False, singular="ignore", limits=limits)  # fmt: skip
    else:
        q = reach_along(m, targets, guess, limits=limits, tolerance=tolerance, strict=False).q
    distance, angle = evaluate(m, MISSED, parts=asked.parts)(q, asked.values)
    if strict:
        _refuse(m, t, q, distance, angle, tolerance, limits)
    made = rates(
        m,
        asked.parts,
        q,
        *rates_of_twists(m, asked.parts, q, twist, acceleration),
        smooth=bool(open_),
    )
    _tell_times(m, t, q, made, targets[0].frame, singular)
    return JointMotion(
        q, made.v, made.a, distance, angle, made.slip, 1 / np.maximum(made.condition, 1e-300), t, m
    )


def _least_motion(
    m: Model, asked: Given, path: Any, t: Floats, q: Floats, tolerance: float
) -> Floats:
    """The motion whose velocities are of least norm at every instant, integrated by SciPy and corrected at the rows."""
    from scipy.integrate import solve_ivp

    def speed(time: float, x: Floats) -> Floats:
        x = np.asarray(normalize(m, x))
        twist = np.asarray(path.twist(min(max(time, t[0]), t[-1])), dtype=float)
        first, second = rates_of_twists(m, asked.parts, x, twist, np.zeros(6))
        return np.asarray(coordinate_velocities(m, x, rates(m, asked.parts, x, first, second).v))

    if len(t) == 1:
        return q[None]
    found = solve_ivp(
        speed,
        (t[0], t[-1]),
        q,
        "DOP853",
        t,
        rtol=1e-9,
        atol=1e-11,
        max_step=float(t[-1] - t[0]) / 8,
    )
    search = Search(m, asked, Ranges.of(m).unlimited, tolerance)
    return search.corrected(np.asarray(normalize(m, found.y.T)), asked.values)


def _times(path: Any, times: Any) -> Floats:
    missing = [
        name
        for name in ("pose", "twist", "acceleration")
        if not callable(getattr(path, name, None))
    ]
    missing += [] if hasattr(path, "duration") else ["duration"]
    if missing:
        raise InverseKinematicsError(
            f"a path has {', '.join(missing)}, as those of es.paths have; this is {format_value(path)}."
        )
    duration = positive(path.duration, "the duration of a path")
    t = np.linspace(0.0, duration, INSTANTS) if times is None else finite(times, "times")
    if t.ndim != 1 or not len(t) or (np.diff(t) <= 0).any():
        raise InverseKinematicsError("the times of a path are a row of increasing numbers.")
    if t[0] < -1e-9 * duration or t[-1] > (1 + 1e-9) * duration:
        raise InverseKinematicsError(
            f"the path lasts from 0 to {duration:g} s; times go from {t[0]:g} to {t[-1]:g} s."
        )
    return t


def _target(m: Model, frame: str, pose: Floats, part: str, axis: Any) -> Target:
    if part == "axis":
        from eslabon.model.parsing import an_axis

        own = np.array(an_axis(axis, "axis"), dtype=float)
        return Target(
            frame,
            position=pose[:, :3, 3],
            axis={tuple(own): pose[:, :3, :3] @ (own / np.linalg.norm(own))},
        )
    if part == "planar":
        return Target(frame, planar=_seen(m, pose))
    values: dict[str, Any] = {
        "pose": pose,
        "position": pose[:, :3, 3],
        "orientation": pose[:, :3, :3],
    }
    return Target(frame, **{part: values[part]})


def _seen(m: Model, pose: Floats) -> Floats:
    """x, y and the angle of poses in the mechanism's plane."""
    directions = np.array(plane_directions(m))
    own = pose[:, :3, :3] @ directions[0] @ directions.T
    return np.column_stack(
        [pose[:, :3, 3] @ directions.T, np.unwrap(np.arctan2(own[:, 1], own[:, 0]))]
    )


def _refuse(
    m: Model, t: Floats, q: Floats, distance: Floats, angle: Floats, tolerance: float, limits: bool
) -> None:
    """Say when the path is left first, and why."""
    left, ranges = np.abs(residuals_at(m, q)).max(axis=-1, initial=0.0), Ranges.of(m)
    outside = ~ranges.contain(q) if limits else np.zeros(len(t), dtype=bool)
    missed = ~((distance <= tolerance) & (angle <= tolerance) & (left < CLOSED))
    if not (missed | outside).any():
        return
    k = int((missed | outside).argmax())
    names = coordinate_names(m)
    held = [
        name for name, x, low, high in zip(names, q[k], ranges.lower, ranges.upper, strict=True)
        if limits and not low + 1e-9 < x < high - 1e-9
    ]  # fmt: skip
    before = f"between t = {t[k - 1]:.6g} and {t[k]:.6g} s" if k else f"at t = {t[k]:.6g} s"
    if held:
        why = f"{', '.join(repr(x) for x in held)} reaches its limit {before}"
    elif left[k] >= CLOSED:
        why = f"its loops do not close, by {left[k]:.3g} (rad, or lengths of its size), {before}"
    else:
        why = f"it would miss it by {distance[k]:.3g} m and {angle[k]:.3g} rad, {before}"
    raise InverseKinematicsError(
        f"{m.name} cannot follow the path: {why}. Try another guess, limits=False or another path, or take the nearest "
        "configurations with strict=False."
    )


def _tell_times(
    m: Model, t: Floats, q: Floats, made: Rates, frame: str | None, singular: str
) -> None:
    """When singular configurations are met or passed."""
    if singular == "ignore":
        return
    when = [float(t[k]) for k in np.flatnonzero(made.condition < SINGULAR)]
    if m.closed and len(t) > 1:
        passed = conditions(m, q, frame).crossings
        when += [float((t[k] + t[k + 1]) / 2) for k in passed]
    if when:
        many = f" (and {len(when) - 1} times more)" if len(when) > 1 else ""
        report_singularity(
            singular,
            f"{m.name} meets a singular configuration at about t = {min(when):.4g} s{many}, where rates are those of minimum norm "
            "and another branch is as good. Choose another branch or path, or pass singular='ignore'.",
        )
