"""Where coordinates may be: limits, whole turns that change nothing, the size of an arm, and postures to start from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eslabon.kinematics.tree import chain
from eslabon.model import Frame, Joint, Mechanism

Floats = NDArray[np.float64]
TURN = 2 * np.pi


def reach(m: Mechanism, frame: Frame) -> float:
    """The length of the arm from the ground to a frame, stretched out, with its longest strokes; 1 for a mere point."""
    joints = chain(m, frame.body)
    strokes = [
        max(map(abs, pair))
        for j in joints
        for k, pair in enumerate(j.limits or ())
        if _is_length(j, k) and np.isfinite(pair).all()
    ]
    offsets = [np.linalg.norm(np.array(at.position, dtype=float)) for at in (*(j.at for j in joints), frame.at)]
    return float(sum(offsets) + sum(strokes)) or 1.0


def _is_length(joint: Joint, k: int) -> bool:
    """Whether the k-th coordinate is a length: one whose rate turns nothing, or a place before a quaternion."""
    if joint.nq != joint.nv:
        return k < joint.nq - 4
    S = np.asarray(joint.kind.motion(np.array(joint.kind.neutral())))
    return not S[:3, k].any()


def _turns(joint: Joint, k: int) -> bool:
    """Whether a whole turn of the k-th coordinate changes nothing."""
    if joint.nq != joint.nv:
        return False
    q = np.array(joint.kind.neutral())
    (R, p), (turned, moved) = joint.kind.transform(q), joint.kind.transform(q + TURN * np.eye(joint.nq)[k])
    return not _is_length(joint, k) and bool(np.allclose(R, turned) and np.allclose(p, moved))


@dataclass(frozen=True)
class Ranges:
    """The coordinates of a mechanism as intervals.

    Attributes
    ----------
    lower, upper : the limits, infinite where there are none.
    turning : the coordinates for which a whole turn changes nothing.
    quaternions : the places of unit quaternions.
    size : a length that stands for the stroke of a slide without limits.
    """

    lower: Floats
    upper: Floats
    turning: NDArray[np.bool_]
    quaternions: tuple[slice, ...]
    lengths: NDArray[np.bool_]
    size: float

    @staticmethod
    def of(m: Mechanism, size: float) -> Ranges:
        pairs = [p for j in m.joints for p in (j.limits or ((-np.inf, np.inf),) * j.nq)]
        lower, upper = np.array(pairs, dtype=float).reshape(-1, 2).T
        per_coordinate = [(j, k) for j in m.joints for k in range(j.nq)]
        ends = [m.coordinates[j.name].stop for j in m.joints if j.nq != j.nv]
        return Ranges(
            lower.copy(),
            upper.copy(),
            np.array([_turns(j, k) for j, k in per_coordinate], dtype=bool),
            tuple(slice(end - 4, end) for end in ends),
            np.array([_is_length(j, k) for j, k in per_coordinate], dtype=bool),
            size,
        )

    @cached_property
    def unlimited(self) -> Ranges:
        """The same coordinates without limits."""
        none = np.full(len(self.lower), np.inf)
        return Ranges(-none, none, self.turning, self.quaternions, self.lengths, self.size)

    def admitted(self, q: Floats) -> Floats:
        """The nearest configuration within the limits, quaternions of unit length."""
        if self.quaternions or not self.contain(q).all():
            q = np.clip(self.turned(q, q), self.lower, self.upper)
        for place in self.quaternions:
            q[..., place] /= np.linalg.norm(q[..., place], axis=-1, keepdims=True)
        return q

    def contain(self, q: Floats) -> NDArray[np.bool_]:
        """Whether configurations are within the limits."""
        return np.asarray(((q >= self.lower) & (q <= self.upper)).all(axis=-1))

    def turned(self, q: Floats, reference: Floats) -> Floats:
        """The same posture with each angle as near to the reference as whole turns and the limits let it be."""
        fewest, most = np.ceil((self.lower - q) / TURN), np.floor((self.upper - q) / TURN)
        turns = np.clip(np.round((reference - q) / TURN), fewest, most)
        return np.where(self.turning & (fewest <= most), q + TURN * turns, q)

    def spread(self, count: int) -> Floats:
        """Postures spread evenly over the ranges, the same ones every time (Roberts' additive recurrence).

        Coordinate j of posture k is the fractional part of k / g^j, with g the root of g^(n+1) = g + 1.
        """
        n = len(self.lower)
        g = 2.0
        for _ in range(60):
            g = (1.0 + g) ** (1.0 / (n + 1))
        fractions = (0.5 + np.outer(np.arange(1, count + 1), g ** -np.arange(1.0, n + 1))) % 1.0
        half = np.where(self.lengths, self.size, np.pi)
        for place in self.quaternions:
            half[place] = 1.0
        low = np.where(
            np.isfinite(self.lower), self.lower, np.where(np.isfinite(self.upper), self.upper - 2 * half, -half)
        )
        high = np.where(np.isfinite(self.upper), self.upper, np.where(np.isfinite(self.lower), low + 2 * half, half))
        # Limits wider than a turn repeat themselves.
        high = np.where(self.turning, np.minimum(high, low + TURN), high)
        return self.admitted(low + (high - low) * fractions)

    def apart(self, first: Floats, second: Floats) -> Floats:
        """The largest difference of two configurations in any coordinate, whole turns and signs of quaternions aside."""
        difference = np.abs(first - second)
        around = np.abs(difference - TURN * np.round(difference / TURN))
        difference = np.where(self.turning, around, difference)
        for place in self.quaternions:
            opposite = np.abs(first[..., place] + second[..., place]).max(axis=-1, keepdims=True)
            same = difference[..., place].max(axis=-1, keepdims=True)
            difference[..., place] = np.minimum(same, opposite)
        return difference.max(axis=-1)
