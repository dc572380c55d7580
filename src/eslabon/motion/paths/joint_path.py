"""Paths in joint coordinates: q, v and a in time, through points, by a law or by a spline in
time."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import figure
from eslabon.displays import displayed
from eslabon.errors import format_value
from eslabon.model import as_model
from eslabon.motion.paths import path_arguments
from eslabon.motion.paths.path_arguments import Floats, PathError
from eslabon.motion.paths.splines import chords, interpolate
from eslabon.motion.paths.time_laws import Law
from eslabon.motion.paths.timed_path import GAP, Timed, Triple, by_law, meeting_times
from eslabon.numerics.tolerances import ROUND_OFF

if TYPE_CHECKING:
    from eslabon.model import Model


@displayed(line=True)
class JointSamples(NamedTuple):
    """A joint path at times t: q, v and a, each (n, number of coordinates).

    >>> import eslabon as es
    >>> samples = es.paths.joint_path([[0, 0], [1, 2]], es.paths.quintic(2.0)).sample(dt=1.0)
    >>> samples.t, samples.q
    (array([0., 1., 2.]), array([[0. , 0. ],
           [0.5, 1. ],
           [1. , 2. ]]))
    """

    t: Floats
    q: Floats
    v: Floats
    a: Floats


class JointPath(Timed[JointSamples]):
    """The motion of joint coordinates that are plain numbers: `path(t)` gives q, v and a, each
    (..., n).

    >>> import eslabon as es
    >>> path = es.paths.joint_path([[0, 0], [1, 2]], es.paths.quintic(2.0))
    >>> path.duration, path.position(2.0)
    (2.0, array([1., 2.]))
    """

    samples = JointSamples

    @cached_property
    def _sizes(self) -> Triple:
        """The widest range of a coordinate, and the largest rate and acceleration."""
        q, v, a = self(self._places)
        far = np.ptp(q, axis=0).max() + ROUND_OFF / GAP * np.abs(q).max()
        return far, np.abs(v).max(), np.abs(a).max()

    def position(self, t: ArrayLike) -> Floats:
        """The coordinates q, (..., n).

        >>> from eslabon.motion.paths import joint_path, quintic
        >>> joint_path([[0, 0], [1, 2]], quintic(2.0)).position(1.0)
        array([0.5, 1. ])
        """
        return self(t)[0]

    def velocity(self, t: ArrayLike) -> Floats:
        """Their rates v, (..., n).

        >>> from eslabon.motion.paths import joint_path, quintic
        >>> joint_path([[0, 0], [1, 2]], quintic(2.0)).velocity([0.0, 1.0]).round(6)
        array([[0.    , 0.    ],
               [0.9375, 1.875 ]])
        """
        return self(t)[1]

    def acceleration(self, t: ArrayLike) -> Floats:
        """Their accelerations a, (..., n).

        >>> from eslabon.motion.paths import joint_path, quintic
        >>> joint_path([[0, 0], [1, 2]], quintic(2.0)).acceleration(1.0).round(6) + 0.0
        array([0., 0.])
        """
        return self(t)[2]

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure of the coordinates, their rates and their accelerations in time."""
        return figure(self, theme=theme, path=path)

    def within(
        self, velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None
    ) -> JointPath:
        """The same motion over the shortest duration that keeps maxima, one number or one for each
        coordinate.

        >>> from eslabon.motion.paths import cycloidal
        >>> path = joint_path([[0, 0], [1, 3]], cycloidal(1.0)).within(velocity=[1.0, 2.0])
        >>> round(path.duration, 9)
        3.0
        """
        shape = self.position(0.0).shape
        asked = ((1, velocity, "the velocity"), (2, acceleration, "the acceleration"))
        # As parts of their limits, so that the largest part must be one.
        return self._fastest(
            [
                (k, partial(self._part, k, path_arguments.limits(limit, shape, what)), 1.0, what)
                for k, limit, what in asked
                if limit is not None
            ]
        )

    def _part(self, k: int, limits: Floats, t: Floats) -> Floats:
        """The largest part that any coordinate's rate (k = 1) or acceleration (k = 2) is of its
        limit."""
        return (np.abs(self(t)[k]) / limits).max(axis=-1)


def joint_path(
    points: ArrayLike,
    law: Law | None = None,
    times: ArrayLike | None = None,
    degree: int = 5,
    ends: str | None = None,
    mechanism: Model | None = None,
) -> JointPath:
    """The path of joint coordinates through points, either by a law or at given times.

    Parameters
    ----------
    points : array_like, n x nq
        The coordinates, one point to a row.
    law : Law Two points are joined by a straight line, more by a spline, on which the law says when
        the motion is where.
    times : array_like, n
        The times of the points, increasing; the first is where the path's time starts.
    degree : int
        The spline's degree, 5 or 3.
    ends : str How the spline ends: "clamped" (at given times, unless told otherwise: zero velocity,
        and zero acceleration too when the degree is 5), "periodic", or "free" (by a law, unless
        told otherwise).
    mechanism : Model, optional
        Whose coordinates these are; their number is then checked.

    >>> path = joint_path([[0, 0], [1, 2], [0, 0]], times=[0, 1, 2])
    >>> path
    <JointPath: 2 coordinates through 3 points, clamped quintic spline, 2 s>
    >>> path.position(1.0), path.velocity([0.0, 1.0]).round(12) + 0.0
    (array([1., 2.]), array([[0., 0.],
           [0., 0.]]))
    """
    q = path_arguments.points(points, "the joint path")
    if mechanism is not None:
        _require_plain(as_model(mechanism, "mechanism"), q.shape[1])
    if (law is None) == (times is None):
        raise PathError(
            "a joint path is timed by a law or by the times of its points, one of the two."
        )
    what = f"{q.shape[1]} coordinates through {len(q)} points"
    kind = "cubic" if path_arguments.spline_degree(degree) == 3 else "quintic"
    if times is not None:
        t = path_arguments.increasing(times, len(q), "times")
        ends = "clamped" if ends is None else ends
        spline, title = interpolate(t - t[0], q, degree, ends), f"{what}, {ends} {kind} spline"
        return JointPath(
            float(t[-1] - t[0]), lambda t: (spline(t), spline(t, 1), spline(t, 2)), title, t - t[0]
        )
    if not isinstance(law, Law):
        raise PathError(
            f"a joint path's law is one such as paths.cycloidal(2.0); it is {format_value(law)}."
        )
    knots = chords(q)
    spline = interpolate(knots, q, degree, "free" if ends is None else ends)
    motion = by_law(law, lambda s: (spline(s), spline(s, 1), spline(s, 2)))
    return JointPath(
        law.duration, motion, f"{what}, {law.name} law", meeting_times(law, knots[1:-1])
    )


def _require_plain(mechanism: Model, count: int) -> None:
    """A PathError unless `count` is the number of the mechanism's coordinates, or of its actuated
    ones, none of them part of a quaternion."""
    names = [j.name for j in mechanism.joints]
    choices = {
        sum(mechanism.joint(n).nq for n in chosen): chosen
        for chosen in (list(mechanism.actuated), names)
    }
    if count not in choices:
        wanted = " or ".join(f"{n}" for n in sorted(choices, reverse=True))
        raise PathError(f"{mechanism.name} has {wanted} coordinates; the joint path has {count}.")
    for joint in (mechanism.joint(n) for n in choices[count]):
        if joint.kind.has_quaternion:
            raise PathError(
                f"joint '{joint.name}' of {mechanism.name} turns by a quaternion, which cannot be interpolated number "
                "by number; give a path of poses instead (paths.pose_path)."
            )
