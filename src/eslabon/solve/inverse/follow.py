"""Continuation along a path: each configuration starts from the one before (Rojas, 3.3.1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.arguments import choice, finite, flag, positive
from eslabon.errors import SINGULAR_CHOICES, InverseKinematicsError, format_value
from eslabon.model.configuration import integrate
from eslabon.solve.given_poses import checked_poses
from eslabon.solve.inverse.arm import Arm, arm_for
from eslabon.solve.inverse.joint_motion import JointMotion, rates, tell
from eslabon.solve.inverse.newton_gauss import Factor, condition_of
from eslabon.solve.inverse.search import Search
from eslabon.solve.inverse.solve import TOLERANCE, inverse_kinematics

if TYPE_CHECKING:
    from eslabon.model import Model

Floats = NDArray[np.float64]

JUMP = 0.3  # radians or reaches between prediction and configuration, beyond which the step in time is halved
HALVINGS = 6
CONFIGURATIONS = 16  # at the start of a path, of which the best conditioned is taken


class Followed(Protocol):
    """What can be followed: the motion of a frame, told in the ground's axes, angular part first."""

    @property
    def duration(self) -> float: ...

    def pose(self, t: float) -> Any: ...

    def twist(self, t: float) -> Any: ...

    def acceleration(self, t: float) -> Any: ...


def follow(
    m: Model, path: Followed, guess: ArrayLike | None = None, frame: str | None = None, *,
    times: ArrayLike | None = None, axis: Any = None, limits: bool = True, tolerance: float = TOLERANCE, strict: bool = True, singular: str = "warn",
) -> JointMotion:  # fmt: skip
    """The joints' motion that takes a frame along a path.

    Each configuration is looked for from where the rates of the one before lead; if it turns out to be elsewhere, the step in
    time is halved, so that a motion does not change from one branch of configurations to another unnoticed.

    Parameters
    ----------
    path : an object with `duration`, `pose(t)`, `twist(t)` and `acceleration(t)`.
    guess : a configuration near the first one. Without it the configurations found for the start are tried, the best
        conditioned first, until one leads to the end without a branch jump.
    times : when; 101 instants from 0 to the path's duration if left out.
    strict : whether a pose that is not reached is an error; else the nearest configuration is kept, with its residual.
    singular : "warn" (a SingularityWarning), "error" (a SingularityError) or "ignore".
    frame, axis, limits, tolerance : as in `inverse_kinematics`.

    >>> import eslabon as es
    >>> m = es.load("puma560")
    >>> class Lift:
    ...     duration = 1.0
    ...     def pose(self, t): return m.pose(m.home()) + t**2 * np.array([[0] * 4, [0] * 4, [0, 0, 0, 0.1], [0] * 4])
    ...     def twist(self, t): return np.array([0, 0, 0, 0, 0, 0.2 * t])
    ...     def acceleration(self, t): return np.array([0, 0, 0, 0, 0, 0.2])
    >>> motion = follow(m, Lift(), guess=m.home())
    >>> motion.q.shape, bool(motion.distance.max() < 1e-10)
    ((101, 6), True)
    """
    choice(singular, "singular", SINGULAR_CHOICES)
    limits, strict, tolerance = (
        flag(limits, "limits"),
        flag(strict, "strict"),
        positive(tolerance, "tolerance"),
    )
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
    arm = arm_for(m, frame, None, axis)
    if times is None:
        times = np.linspace(0.0, positive(path.duration, "the duration of a path"), 101)
    t = finite(times, "times")
    if t.ndim != 1 or not len(t) or (np.diff(t) <= 0).any():
        raise InverseKinematicsError("the times of a path are a row of increasing numbers.")
    options = {
        "frame": frame,
        "axis": axis,
        "limits": limits,
        "tolerance": tolerance,
        "strict": strict,
    }
    walk = _Walk(Search(arm, limits, tolerance), path, strict)
    q, jumps = _best_walk(walk, t, _beginnings(arm, path.pose(t[0]), guess, options))
    pose, twist, acceleration = (
        np.array([f(x) for x in t]) for f in (walk.pose, walk.twist, walk.acceleration)
    )
    motion = rates(arm, q, pose, twist, acceleration, t)
    tell(m, arm.task.frame, motion, singular, jumps)
    return motion


def _beginnings(
    arm: Arm, pose: ArrayLike, guess: ArrayLike | None, options: dict[str, Any]
) -> list[Floats]:
    """Configurations at the start: the one next to the guess, or else those there are, the best conditioned first."""
    if guess is None:
        found = inverse_kinematics(
            arm.m, pose, solutions=CONFIGURATIONS, **{**options, "strict": False}
        )
        if found.converged.any():
            configurations = found.q[found.converged]
            return list(
                configurations[np.argsort(condition_of(arm, configurations), kind="stable")]
            )
    return [inverse_kinematics(arm.m, pose, guess, **options).q]


def _best_walk(walk: _Walk, t: Floats, beginnings: list[Floats]) -> tuple[Floats, list[float]]:
    """The configurations along the path from the first beginning that leads to its end, if possible without a branch jump."""
    first: tuple[Floats, list[float]] | None = None
    trouble: InverseKinematicsError | None = None
    for begin in beginnings:
        try:
            way = walk.along(t, begin)
        except InverseKinematicsError as error:
            trouble = trouble or error
            continue
        first = first or way
        if not way[1]:
            return way
    if first is None and trouble is not None:
        raise trouble
    return cast(tuple[Floats, list[float]], first)


def six(value: Any, name: str) -> Floats:
    """A twist or its rate, as a path gives it."""
    six = finite(value, f"the {name} of a path")
    if six.shape != (6,):
        raise InverseKinematicsError(
            f"the {name} of a path is six numbers, angular part first; its shape is {six.shape}."
        )
    return six


class _Walk:
    """Steps along a path, and the times at which the branch had to be left."""

    def __init__(self, search: Search, path: Followed, strict: bool) -> None:
        self._search, self._strict, self._jumps = search, strict, list[float]()
        self.pose: Callable[[float], Floats] = cache(lambda t: checked_poses(path.pose(t)))
        self.twist: Callable[[float], Floats] = cache(lambda t: six(path.twist(t), "twist"))
        self.acceleration: Callable[[float], Floats] = cache(
            lambda t: six(path.acceleration(t), "acceleration")
        )

    def along(self, t: Floats, begin: Floats) -> tuple[Floats, list[float]]:
        """The configurations at all times, and the times of branch jumps."""
        q, self._jumps = [begin], []
        for before, now in pairwise(t):
            q.append(self.on(q[-1], before, now, HALVINGS))
        return np.array(q), self._jumps

    def on(self, q: Floats, before: float, now: float, halvings: int) -> Floats:
        """The configuration at `now` that the one at `before` leads to."""
        arm = self._search.arm
        guess = self._predicted(q, before, now - before)
        found, arrived = self._solved(self.pose(now), guess)
        units = np.where(self._search.ranges.lengths, arm.task.reach, 1.0)
        jumps = bool((np.abs(found - guess) > JUMP * units).any())
        if arrived and not jumps:
            return found
        if halvings:
            middle = (before + now) / 2
            return self.on(self.on(q, before, middle, halvings - 1), middle, now, halvings - 1)
        if not arrived:
            distance, angle = arm.missed(found, arm.task.of_pose(self.pose(now)))
            raise InverseKinematicsError(
                f"{arm.m.name} cannot follow the path with '{arm.task.frame}' beyond t = {before:.6g} s: it would miss "
                f"it by {distance:.3g} m and {angle:.3g} rad. Try another guess, limits=False or another path, or take "
                "the nearest configurations with strict=False."
            )
        self._jumps.append(now)
        return found

    def _solved(self, pose: Floats, guess: Floats) -> tuple[Floats, bool]:
        """The configuration for a pose next to a guess, and whether it is near enough."""
        near = self._search.near(pose, guess)
        if near is not None:
            return near[0], True
        found = self._search.one(self._search.arm.task.of_pose(pose)[None], guess[None], restarts=0)
        return found.q[0], bool(found.error[0] <= self._search.goal) or not self._strict

    def _predicted(self, q: Floats, t: float, step: float) -> Floats:
        arm = self._search.arm
        pose = self.pose(t)
        _, J = arm.equations(q, arm.task.of_pose(arm.pose(q)))
        _, S = arm.task.equations(pose, arm.task.of_pose(pose))
        way = Factor.of(J, arm.task.rank).solve(S @ self.twist(t) * step)
        way *= min(
            1.0, 1.0 / max(float(np.abs(way).max()), 1e-300)
        )  # next to a singularity rates mean little
        return self._search.ranges.admitted(integrate(arm.m, q, arm.velocities(way)))
