"""The motion of all joints along a path of a frame, with loops as without: rates exact, the branch
kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from eslabon.arguments import Floats, choice, finite, flag, positive
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import InverseKinematicsError, format_value, report_singularity
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.model import Model
from eslabon.model.configuration import coordinate_names
from eslabon.model.parsing import an_axis
from eslabon.model.plane_of_motion import plane_directions
from eslabon.model.scale import characteristic_length
from eslabon.numerics.ordering import stable_order
from eslabon.numerics.tolerances import COINCIDENT, SINGULAR
from eslabon.solve.assembly_messages import violations
from eslabon.solve.branch_assembly import Assembly
from eslabon.solve.constraints.closed_configurations import unclosed
from eslabon.solve.designs import DESCRIBED, one_design
from eslabon.solve.determinacy import determinacy
from eslabon.solve.inverse_kinematics import reached
from eslabon.solve.joint_motion import JointMotion
from eslabon.solve.kernels import MISSED
from eslabon.solve.minimum_norm_motion import minimum_norm_motion
from eslabon.solve.prescribed import as_configuration
from eslabon.solve.problem import Problem
from eslabon.solve.ranges import Ranges
from eslabon.solve.rates import RATES_OF_TWISTS, Rates, rates
from eslabon.solve.singular.conditions import conditions
from eslabon.solve.solve_options import Options, read_options
from eslabon.solve.target import Target, checked_poses, read_targets

PARTS = ("pose", "position", "orientation", "planar", "axis")
INSTANTS = 101
BEGINNINGS = (
    16  # configurations at the start of a path, of which the best conditioned is tried first
)


class Followed(Protocol):
    """What can be followed: the motion of a frame in the ground's axes, angular part first."""

    @property
    def duration(self) -> float: ...

    def pose(self, t: float) -> Any: ...

    def twist(self, t: float) -> Any: ...

    def acceleration(self, t: float) -> Any: ...


def follow(
    m: Model, path: Followed, guess: Any = None, *, frame: str | None = None, part: str = "pose",
    axis: Any = "z", times: Any = None, report: bool = False, **options: Any,
) -> JointMotion:  # fmt: skip
    """The joints' motion that takes a frame, or a part of its pose, along a path; see
    `Mechanism.follow`."""
    choice(part, "part", PARTS)
    flag(report, "report")
    an_axis(axis, "axis")
    o = read_options("follow", options)
    m = one_design(m, o.parameters, "follow")
    o = replace(o, parameters=None)
    t = _times(path, times)
    pose = np.array([checked_poses(path.pose(x)) for x in t])
    twist, acceleration = (
        np.array([_six(f(x), name) for x in t])
        for f, name in ((path.twist, "twist"), (path.acceleration, "acceleration"))
    )
    rows, values = read_targets(m, [_target(m, chosen_frame(m, frame).name, pose, part, axis)])
    problem = Problem(rows=rows)
    open_ = determinacy(m, problem).open - _unmoved(m, problem)
    begin = _beginnings(m, problem, values[0], guess, o, open_)
    crossings: list[int] = []
    if open_ > 0:
        q = minimum_norm_motion(m, problem, values, path, t, begin[0])
    else:
        q, crossings = _best_way(m, problem, values, begin, o)
    distance, angle = evaluate(m, MISSED, problem=problem)(q, values)
    if not report:
        _refuse(m, t, q, distance, angle, o)
    first, second = evaluate(m, RATES_OF_TWISTS, problem=problem)(q, twist, acceleration)
    made = rates(m, problem, q, first, second, smooth=open_ > 0)
    if not report:
        _report_times(m, t, q, made, problem.frames[0], crossings, o.singular or "warn")
    condition = 1 / np.maximum(made.condition, np.finfo(float).tiny)
    return JointMotion(q, made.v, made.a, distance, angle, made.slip, condition, t, m)


def _unmoved(m: Model, problem: Problem) -> int:
    """Velocities of a tree that do not move the frame, and so count as no degrees of freedom of
    it."""
    return 0 if m.closed else m.nv - len(problem.free(m))


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
    if t[0] < -COINCIDENT * duration or t[-1] > (1 + COINCIDENT) * duration:
        raise InverseKinematicsError(
            f"the path lasts from 0 to {duration:g} s; times go from {t[0]:g} to {t[-1]:g} s."
        )
    return t


def _six(value: Any, name: str) -> Floats:
    """A twist or its rate, as a path gives it."""
    made = finite(value, f"the {name} of a path")
    if made.shape != (6,):
        raise InverseKinematicsError(
            f"the {name} of a path is six numbers, angular part first; its shape is {made.shape}."
        )
    return made


def _target(m: Model, frame: str, pose: Floats, part: str, axis: Any) -> Target:
    """The part of the path's poses that counts."""
    if part == "axis":
        own = np.array(an_axis(axis, "axis"), dtype=float)
        directions = pose[:, :3, :3] @ (own / np.linalg.norm(own))
        return Target(frame, position=pose[:, :3, 3], axis={tuple(own): directions})
    if part == "planar":
        return Target(frame, planar=_planar(m, pose))
    if part == "pose":
        return Target(frame, pose=pose)
    if part == "position":
        return Target(frame, position=pose[:, :3, 3])
    return Target(frame, orientation=pose[:, :3, :3])


def _planar(m: Model, pose: Floats) -> Floats:
    """x, y and the angle of poses in the mechanism's plane."""
    directions = np.array(plane_directions(m))
    own = pose[:, :3, :3] @ directions[0] @ directions.T
    angle = np.unwrap(np.arctan2(own[:, 1], own[:, 0]))
    return np.column_stack([pose[:, :3, 3] @ directions.T, angle])


def _beginnings(
    m: Model, problem: Problem, x: Floats, guess: Any, o: Options, open_: int
) -> list[Floats]:
    """Configurations at the start: the one next to the guess, or, of an arm without one, those
    there are, the best conditioned first."""
    start = None if guess is None else as_configuration(m, guess)
    if guess is None and not m.closed and open_ <= 0:
        found = reached(m, problem, x, None, o, solutions=BEGINNINGS, strict=False)
        q = found.q[found.converged]
        if len(q):
            zero = np.zeros(problem.rate_size(m))
            made = rates(m, problem, q, zero, zero)
            return list(q[stable_order(-made.condition)])
    return [reached(m, problem, x, start, o, strict=False).q]


def _best_way(
    m: Model, problem: Problem, values: Floats, begin: list[Floats], o: Options
) -> tuple[Floats, list[int]]:
    """The configurations along the path from the first beginning that leads to its end, if possible
    without passing a singular one; and the rows before which such are passed."""
    ranges = Ranges.of(m) if o.limits else Ranges.of(m).unlimited
    best: tuple[Any, ...] | None = None
    for start in begin:
        task = Assembly(m, problem, ranges, strict=False, o=o)
        q, size, crossings = task.solve(
            start[None].copy(), values[None], DESCRIBED.over(1, len(values))
        )
        missed = int(unclosed(m, size).sum() + (~ranges.contain(q)).sum())
        score = (missed, len(crossings))
        if best is None or score < best[0]:
            best = (score, q[0], [c.row for c in crossings])
        if score == (0, 0):
            break
    assert best is not None  # there is always a beginning
    return best[1], best[2]


def _refuse(m: Model, t: Floats, q: Floats, distance: Floats, angle: Floats, o: Options) -> None:
    """Say when the path is left first, and why."""
    left, ranges = violations(m, q) if m.closed else np.zeros(len(t)), Ranges.of(m)
    outside = ~ranges.contain(q) if o.limits else np.zeros(len(t), dtype=bool)
    near = o.tolerance * float(characteristic_length(m))
    missed = ~((distance <= near) & (angle <= o.tolerance) & ~unclosed(m, left))
    if not (missed | outside).any():
        return
    k = int((missed | outside).argmax())
    names = coordinate_names(m)
    at_limit = (q[k] <= ranges.lower + COINCIDENT) | (q[k] >= ranges.upper - COINCIDENT)
    held = [name for name, there in zip(names, at_limit, strict=True) if there and o.limits]
    before = f"between t = {t[k - 1]:.6g} and {t[k]:.6g} s" if k else f"at t = {t[k]:.6g} s"
    if held:
        why = f"{', '.join(repr(x) for x in held)} reaches its limit {before}"
    elif unclosed(m, left[k : k + 1])[0]:
        why = f"its loops do not close, by {left[k]:.3g} (rad, or lengths of its size), {before}"
    else:
        why = f"it would miss it by {distance[k]:.3g} m and {angle[k]:.3g} rad, {before}"
    raise InverseKinematicsError(
        f"{m.name} cannot follow the path: {why}. Try another guess, limits=False or another path, or take "
        "the nearest configurations with report=True."
    )


def _report_times(
    m: Model, t: Floats, q: Floats, made: Rates, frame: str, crossings: list[int], singular: str
) -> None:
    """When singular configurations are met or passed, and when a branch is left."""
    if singular == "ignore":
        return
    when = [float(t[k]) for k in np.flatnonzero(made.condition < SINGULAR)]
    when += [float(t[k]) for k in crossings]
    if m.closed and len(t) > 1:
        passed = conditions(m, q, frame).crossings
        when += [float((t[k] + t[k + 1]) / 2) for k in passed]
    if when:
        many = f" (and {len(when) - 1} times more)" if len(when) > 1 else ""
        report_singularity(
            singular,
            f"{m.name} meets a singular configuration at about t = {min(when):.4g} s{many}, where rates are "
            "those of minimum norm and another branch is equally possible. Choose another branch or path, or "
            "pass singular='ignore'.",
        )
