"""Points of one body: whether positions, velocities and accelerations given for them belong to a
rigid motion.

A tool of revolution is placed by two points h and s on its axis (Rojas, 3.5): six equations for the
five joints of an arm, which agree only if |h - s| stays as it is. So the velocities have to satisfy
the rigidity condition (h' - s').(h - s) = 0, and the accelerations its derivative,
(h'' - s'').(h - s) + |h' - s'|^2 = 0 (3.5.2). With more than two points the velocities have to be
those of one twist, and the accelerations those of one twist and its rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import InputError
from eslabon.numerics import hat
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION, ROUND_OFF


def check_rigid_points(
    points: Floats,
    places: Floats,
    velocity: Floats | None = None,
    acceleration: Floats | None = None,
    names: Sequence[str] = (),
    tolerance: float = ACCEPTED_VIOLATION,
) -> None:
    """Raise an error if points cannot be brought to these places, or moved so, by a rigid body.

    Parameters
    ----------
    points : ndarray
        The points in the body's own axes, (n, 3).
    places, velocity, acceleration : ndarray
        Where they are to be and how they are to move, in the ground's axes, (..., n, 3).
    names : sequence of str
        What the points are called in messages; by default "point 0" and so on.
    tolerance : float
        The violation that is accepted: of the distance of two points, of the largest speed, and of
        the largest acceleration.

    >>> import numpy as np
    >>> tool = np.array([[0.0, 0, 0], [0, 0, 0.1]])
    >>> check_rigid_points(tool, tool, velocity=np.array([[0.0, 0, 1], [0, 0, 1]]))
    >>> check_rigid_points(tool, tool, velocity=np.array([[0.0, 0, 0], [0, 0, 1]]))
    Traceback (most recent call last):
        ...
    eslabon.errors.InputError: the velocities of point 0 and point 1 are not those of a rigid body: \
(h' - s').(h - s) = 0.1 m^2/s has to be zero (the rigidity condition), and their distance would \
change by 1 m/s; take that part along their line away.
    """
    body = np.asarray(points, dtype=float)
    labels = tuple(names) or tuple(f"point {k}" for k in range(len(body)))
    given = [np.asarray(x, dtype=float) for x in (places, velocity, acceleration) if x is not None]
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in given))
    place, *rates = (
        np.broadcast_to(x, (*lead, *body.shape)).reshape(-1, *body.shape) for x in given
    )
    motion = _RigidMotion(labels, place, tolerance)
    motion.check_distances(body)
    if velocity is not None:
        motion.check_velocities(rates[0])
    if velocity is not None and acceleration is not None:
        motion.check_accelerations(*rates)


class _RigidMotion:
    """Points in their places (k, n, 3), and the rigid motion nearest to given velocities."""

    def __init__(self, labels: Sequence[str], places: Floats, tolerance: float) -> None:
        self.labels, self.places, self.tolerance = labels, places, tolerance
        self.arms = places - places.mean(axis=1, keepdims=True)
        sizes = np.linalg.norm(self.arms, axis=-1).max(axis=-1, initial=0.0)
        self.size = np.where(sizes > 0, sizes, 1.0)
        self.pairs = list(combinations(range(len(labels)), 2))

    def check_distances(self, body: Floats) -> None:
        """Points stay as far apart as they are on the body."""
        largest = max(
            (float(np.linalg.norm(body[i] - body[j])) for i, j in self.pairs), default=0.0
        )
        for i, j in self.pairs:
            own = float(np.linalg.norm(body[i] - body[j]))
            apart = np.linalg.norm(self.places[:, i] - self.places[:, j], axis=-1)
            if (lane := self._worst(np.abs(apart - own), np.full(len(apart), largest))) is None:
                continue
            raise InputError(
                f"the places of {self.labels[i]} and {self.labels[j]}{self._of(lane)} are "
                f"{apart[lane]:.6g} m apart, and the points of the body {own:.6g} m: |h - s| of a "
                "rigid body does not change; give places at that distance."
            )

    def check_velocities(self, v: Floats) -> None:
        """The velocities are those of one twist."""
        speed = np.linalg.norm(v, axis=-1).max(axis=-1, initial=0.0)
        _, left = self._fit(v)
        lane = self._worst(left, speed)
        if lane is None:
            return
        i, j = self._pair(lambda d, i, j: d @ (v[lane, i] - v[lane, j]), lane)
        d, rate = self.places[lane, i] - self.places[lane, j], v[lane, i] - v[lane, j]
        growth = float(d @ rate) / max(float(np.linalg.norm(d)), ROUND_OFF)
        if abs(growth) > self.tolerance * speed[lane]:
            raise InputError(
                f"the velocities of {self.labels[i]} and {self.labels[j]}{self._of(lane)} are not "
                f"those of a rigid body: (h' - s').(h - s) = {float(d @ rate):.3g} m^2/s has to be "
                f"zero (the rigidity condition), and their distance would change by {growth:.3g} "
                "m/s; take that part along their line away."
            )
        self._refuse("velocities", left[lane], "m/s", lane)

    def check_accelerations(self, v: Floats, a: Floats) -> None:
        """The accelerations are those of that twist and a rate of it."""
        w, _ = self._fit(v)
        turn = np.cross(w[:, None], np.cross(w[:, None], self.arms))
        size = np.linalg.norm([a, turn], axis=-1).max(axis=(0, 2), initial=0.0)
        _, left = self._fit(a - turn)
        lane = self._worst(left, size)
        if lane is None:
            return

        def condition(d: Floats, i: int, j: int) -> float:
            rate = v[lane, i] - v[lane, j]
            return float(d @ (a[lane, i] - a[lane, j]) + rate @ rate)

        i, j = self._pair(condition, lane)
        d = self.places[lane, i] - self.places[lane, j]
        value = condition(d, i, j)
        growth = value / max(float(np.linalg.norm(d)), ROUND_OFF)
        if abs(growth) > self.tolerance * size[lane]:
            raise InputError(
                f"the accelerations of {self.labels[i]} and {self.labels[j]}{self._of(lane)} are "
                f"not those of a rigid body: (h'' - s'').(h - s) + |h' - s'|^2 = {value:.3g} "
                "m^2/s^2 has to be zero (the rate of the rigidity condition), and their distance "
                f"would change by {growth:.3g} m/s^2; take that part along their line away."
            )
        self._refuse("accelerations", left[lane], "m/s^2", lane)

    def _fit(self, v: Floats) -> tuple[Floats, Floats]:
        """The angular velocity of the rigid motion nearest to velocities, and what it misses of
        them at worst; where points are on a line, without a spin about it."""
        arms = self.arms / self.size[:, None, None]
        rows = np.concatenate([-hat(arms), np.broadcast_to(np.eye(3), (*arms.shape, 3))], axis=-1)
        A = np.nan_to_num(rows.reshape(len(v), -1, 6))
        twist = np.linalg.pinv(A, rcond=1e-9) @ v.reshape(len(v), -1, 1)
        left = np.abs(v.reshape(len(v), -1) - (A @ twist)[..., 0]).max(axis=-1, initial=0.0)
        return twist[:, :3, 0] / self.size[:, None], left

    def _pair(self, condition: Callable[[Floats, int, int], float], lane: int) -> tuple[int, int]:
        """The two points of a lane that violate a condition most."""

        def growth(pair: tuple[int, int]) -> float:
            d = self.places[lane, pair[0]] - self.places[lane, pair[1]]
            return abs(float(condition(d, *pair))) / max(float(np.linalg.norm(d)), ROUND_OFF)

        return max(self.pairs, key=growth)

    def _worst(self, violation: Floats, size: Floats) -> int | None:
        """The lane with the largest violation, of those that violate by more than the tolerance."""
        bad = violation > self.tolerance * size  # NaN is nothing to complain of
        return int(np.argmax(np.where(bad, violation, -1.0))) if bad.any() else None

    def _refuse(self, noun: str, left: float, unit: str, lane: int) -> None:
        raise InputError(
            f"the {noun} of {', '.join(self.labels)}{self._of(lane)} are not those of a rigid body: "
            f"the nearest rigid motion misses them by {left:.3g} {unit}; give those of one body."
        )

    def _of(self, lane: int) -> str:
        return f" (target {lane})" if len(self.places) > 1 else ""
