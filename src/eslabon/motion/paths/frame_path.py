"""Paths of a frame: pose, twist and acceleration in time, from a curve, an orientation and a
law."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import figure
from eslabon.displays import displayed
from eslabon.motion.paths.curve_kinds import line, point, spline
from eslabon.motion.paths.frame_orientation import Orientation, orientation_along, turning
from eslabon.motion.paths.path_arguments import Floats, PathError, numbers
from eslabon.motion.paths.space_curve import Curve
from eslabon.motion.paths.splines import chords
from eslabon.motion.paths.time_laws import Law
from eslabon.motion.paths.timed_path import GAP, Timed, Triple, by_law, meeting_times
from eslabon.numerics import check_pose
from eslabon.numerics.tolerances import ROUND_OFF


@displayed(line=True)
class Samples(NamedTuple):
    """A path at times t: poses (n, 4, 4), twists (n, 6) and accelerations (n, 6).

    >>> import eslabon as es
    >>> path = es.paths.along(es.paths.line([0, 0, 0], [1, 0, 0]), es.paths.quintic(2.0))
    >>> path.sample(dt=1.0).pose[:, 0, 3]
    array([0. , 0.5, 1. ])
    """

    t: Floats
    pose: Floats
    twist: Floats
    acceleration: Floats


class Path(Timed[Samples]):
    """The motion of a frame: `path(t)` gives pose (..., 4, 4), twist (..., 6) and acceleration
    (..., 6).

    Twist and acceleration are angular part first, in the ground's axes at the frame's origin:
    angular velocity and velocity of the origin, angular acceleration and acceleration of the origin
    (axes="aligned" of `m.velocity`).

    >>> from eslabon.motion.paths import cycloidal
    >>> along(line([0, 0, 0], [1, 0, 0]), cycloidal(2.0)).sample(dt=0.5).pose[:, 0, 3].round(6)
    array([0.      , 0.090845, 0.5     , 0.909155, 1.      ])
    """

    samples = Samples

    @cached_property
    def _sizes(self) -> Triple:
        """Of poses and twists the angular and the linear part are measured each by itself; a
        rotation by one."""
        pose, twist, acceleration = self(self._places)
        far = np.ones((4, 4))
        position = pose[:, :3, 3]
        far[:3, 3] = (
            np.linalg.norm(np.ptp(position, axis=0)) + ROUND_OFF / GAP * np.abs(position).max()
        )
        rates = [
            np.repeat(np.linalg.norm(x.reshape(-1, 2, 3), axis=-1).max(axis=0), 3)
            for x in (twist, acceleration)
        ]
        return far, rates[0], rates[1]

    def pose(self, t: ArrayLike) -> Floats:
        """The pose, (..., 4, 4).

        >>> from eslabon.motion.paths import along, line, quintic
        >>> along(line([0, 0, 0], [1, 0, 0]), quintic(2.0)).pose(1.0)[:3, 3]
        array([0.5, 0. , 0. ])
        """
        return self(t)[0]

    def twist(self, t: ArrayLike) -> Floats:
        """Angular velocity and velocity of the origin, (..., 6), in the ground's axes.

        >>> from eslabon.motion.paths import along, line, quintic
        >>> along(line([0, 0, 0], [1, 0, 0]), quintic(2.0)).twist(1.0).round(6)
        array([0.    , 0.    , 0.    , 0.9375, 0.    , 0.    ])
        """
        return self(t)[1]

    def acceleration(self, t: ArrayLike) -> Floats:
        """Angular acceleration and acceleration of the origin, (..., 6), in the ground's axes.

        >>> from eslabon.motion.paths import along, line, quintic
        >>> along(line([0, 0, 0], [1, 0, 0]), quintic(2.0)).acceleration(1.0).round(6) + 0.0
        array([0., 0., 0., 0., 0., 0.])
        """
        return self(t)[2]

    def plot(self, theme: str | None = None, path: str | FilePath | None = None) -> Any:
        """A matplotlib figure: where the origin goes, with the axes of the frame at some places,
        and its speed, acceleration, angular speed and angular acceleration in time.

        >>> import eslabon as es
        >>> path = es.paths.along(es.paths.line([0, 0, 0], [1, 0, 0]), es.paths.quintic(2.0))
        >>> [ax.get_ylabel() for ax in path.plot().axes]
        ['y [m]', '[m/s]', '[m/s²]', '[rad/s]', '[rad/s²]']
        """
        return figure(self, theme=theme, path=path)

    def within(
        self,
        speed: float | None = None,
        acceleration: float | None = None,
        angular_speed: float | None = None,
        angular_acceleration: float | None = None,
    ) -> Path:
        """The same motion over the shortest duration that keeps the given maxima, in m/s, m/s²,
        rad/s and rad/s².

        >>> from eslabon.motion.paths import quintic
        >>> path = along(line([0, 0, 0], [2, 0, 0]), quintic(1.0)).within(speed=0.5)
        >>> round(path.duration, 9)
        7.5
        """
        asked = (
            (1, slice(3, 6), speed, "the speed"),
            (2, slice(3, 6), acceleration, "the acceleration"),
            (1, slice(0, 3), angular_speed, "the angular speed"),
            (2, slice(0, 3), angular_acceleration, "the angular acceleration"),
        )
        return self._fastest(
            [
                (k, partial(self._size, k, part), limit, what)
                for k, part, limit, what in asked
                if limit is not None
            ]
        )

    def _size(self, k: int, part: slice, t: Floats) -> Floats:
        """The length of the angular or linear part of the twist (k = 1) or the acceleration (k =
        2)."""
        return np.linalg.norm(self(t)[k][..., part], axis=-1)


def along(curve: Curve, law: Law, orientation: Orientation | str | ArrayLike | None = None) -> Path:
    """The path of a frame along a curve.

    With s(t) from the law, the origin moves with p' ds/dt and p'' (ds/dt)² + p' d²s/dt², the axes
    with w ds/dt and w' (ds/dt)² + w d²s/dt² (Rojas, 3.6).

    Parameters
    ----------
    curve : Curve
        Where the origin goes.
    law : Law
        When it is where; one that `rests` to start and stop without a jolt.
    orientation : optional "frenet" or "minimal", to follow the curve; a 3x3 rotation, to keep it; a
        list of them, to turn through them evenly; an `Orientation`; or nothing, for the ground's
        axes.

    >>> from eslabon.motion.paths import cycloidal, helix
    >>> path = along(helix([0, 0, 0], [1, 0, 0], [0, 0, 1], np.pi, 0.1), cycloidal(3.0), "frenet")
    >>> path
    <Path: helix, Frenet frame, cycloidal law, 3 s>
    >>> path.twist(1.5).round(6) + 0.0
    array([ 0.      ,  0.      ,  2.094395, -2.094395,  0.      ,  0.20944 ])
    """
    if not isinstance(curve, Curve) or not isinstance(law, Law):
        raise PathError(
            "a path goes along a curve by a law: along(paths.line(a, b), paths.cycloidal(2.0))."
        )
    stance = orientation_along(curve, orientation)

    def course(s: Floats) -> Triple:
        turned = stance.at(s)
        first = np.concatenate([turned.rate, curve.derivative(s, 1)], axis=-1)
        second = np.concatenate([turned.rate_change, curve.derivative(s, 2)], axis=-1)
        return _poses(turned.rotation, curve.derivative(s, 0)), first, second

    title = f"{curve.name}, {stance.name}, {law.name} law"
    return Path(law.duration, by_law(law, course), title, meeting_times(law, curve.breaks[1:-1]))


def _poses(rotation: Floats, position: Floats) -> Floats:
    """Poses from rotations known to be some."""
    result = np.zeros((*position.shape[:-1], 4, 4))
    result[..., :3, :3], result[..., :3, 3], result[..., 3, 3] = rotation, position, 1.0
    return result


def pose_path(poses: ArrayLike, law: Law, degree: int = 5) -> Path:
    """The path through given poses.

    Two poses are joined by a straight line and one turn at constant rate, more by splines of
    position and of orientation that meet each pose at the same time. Poses that share one position
    make a turn in place.

    Parameters
    ----------
    poses : array_like, n x 4 x 4
        The poses, in order.
    law : Law
        When the path is where.
    degree : int
        The degree of the spline of positions, 5 or 3.

    >>> from eslabon.numerics import pose, rotation_z
    >>> from eslabon.motion.paths import quintic
    >>> path = pose_path([np.eye(4), pose(rotation_z(1.0), [2, 0, 0])], quintic(1.0))
    >>> path.twist(0.5)
    array([0.   , 0.   , 1.875, 3.75 , 0.   , 0.   ])
    """
    T = numbers(poses, "the poses")
    if T.ndim != 3 or T.shape[1:] != (4, 4) or len(T) < 2:
        raise PathError(
            f"a pose path needs at least two 4x4 poses in a list; the shape is {T.shape}."
        )
    T = check_pose(T)
    R, p = T[:, :3, :3], T[:, :3, 3]
    if np.ptp(p, axis=0).max() <= ROUND_OFF * np.abs(p).max():
        return along(point(p[0]), law, turning(R))
    curve = line(p[0], p[1]) if len(p) == 2 else spline(p, degree)
    return along(curve, law, turning(R, chords(p)))
