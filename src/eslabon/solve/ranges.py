"""Where coordinates may be: limits, whole turns that change nothing, and configurations to start
from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats
from eslabon.model import Model
from eslabon.model.configuration import (
    angles,
    coordinate_names,
    coordinate_units,
    difference,
    free_to_turn,
    lengths,
    limits,
    normalize,
)
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length

TURN = 2 * np.pi
SLACK = 1e-9  # radians, or metres over L, beyond a limit that are round-off


@dataclass(frozen=True)
class Ranges:
    """The coordinates of a mechanism as intervals."""

    m: Model
    lower: Floats  # the limits, infinite where there are none
    upper: Floats
    size: float  # a length that stands for the stroke of a slide without limits
    wound: tuple[
        tuple[int, float, float], ...
    ] = ()  # angles whose turns count, and where they are searched

    @staticmethod
    @per_model
    def of(m: Model, size: float = 1.0) -> Ranges:
        return Ranges(m, *limits(m), size)

    @cached_property
    def unlimited(self) -> Ranges:
        """The same coordinates without limits."""
        none = np.full(len(self.lower), np.inf)
        return replace(self, lower=-none, upper=none)

    def winding(self, wound: tuple[tuple[int, float, float], ...]) -> Ranges:
        """The same where whole turns of some angles count, as those of joints with springs:
        (coordinate, lower, upper)."""
        return replace(self, wound=wound)

    @cached_property
    def _counting(self) -> list[int]:
        return [k for k, _, _ in self.wound]

    @cached_property
    def are_limited(self) -> bool:
        """Whether any coordinate has a limit."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @cached_property
    def turning(self) -> NDArray[np.bool_]:
        """The coordinates for which a whole turn changes nothing."""
        turning = free_to_turn(self.m)
        turning[self._counting] = False
        return turning

    @cached_property
    def lengths(self) -> NDArray[np.bool_]:
        """The coordinates that are lengths."""
        return lengths(self.m)

    @cached_property
    def plain(self) -> bool:
        """Whether every coordinate is an angle or a length."""
        return not any(j.kind.has_quaternion for j in self.m.joints)

    def admitted(self, q: Floats) -> Floats:
        """The nearest configuration within the limits, quaternions of unit length."""
        if not self.contain(q).all():
            q = np.clip(self.turned(q, q), self.lower, self.upper)
        return normalize(self.m, q)

    def contain(self, q: Floats) -> NDArray[np.bool_]:
        """Whether configurations are within the limits."""
        return np.asarray(self._contain(q).all(axis=-1))

    def _contain(self, q: Floats) -> NDArray[np.bool_]:
        return np.asarray((q >= self.lower - self._slack) & (q <= self.upper + self._slack))

    @cached_property
    def _slack(self) -> Floats:
        """What is round-off beyond a limit: radians, or metres."""
        return SLACK * np.where(self.lengths, characteristic_length(self.m), 1.0)

    def turned(self, q: Floats, reference: Floats) -> Floats:
        """The same configuration with each angle as near to the reference as whole turns and the
        limits let it be."""
        fewest, most = np.ceil((self.lower - q) / TURN), np.floor((self.upper - q) / TURN)
        turns = np.clip(np.round((reference - q) / TURN), fewest, most)
        return np.where(self.turning & (fewest <= most), q + TURN * turns, q)

    def spread(self, count: int) -> Floats:
        """Configurations spread evenly over the ranges, the same ones every time (Roberts' additive
        recurrence).

        Coordinate j of configuration k is the fractional part of k / g^j, with g the root of
        g^(n+1) = g + 1.
        """
        n = len(self.lower)
        g = 2.0
        for _ in range(60):
            g = (1.0 + g) ** (1.0 / (n + 1))
        fractions = (0.5 + np.outer(np.arange(1, count + 1), g ** -np.arange(1.0, n + 1))) % 1.0
        half = np.select([self.lengths, angles(self.m)], [self.size, np.pi], 1.0)
        low = np.where(
            np.isfinite(self.lower),
            self.lower,
            np.where(np.isfinite(self.upper), self.upper - 2 * half, -half),
        )
        high = np.where(
            np.isfinite(self.upper),
            self.upper,
            np.where(np.isfinite(self.lower), low + 2 * half, half),
        )
        for k, lower, upper in self.wound:
            low[k], high[k] = max(self.lower[k], lower), min(self.upper[k], upper)
        # Limits wider than a turn repeat themselves.
        high = np.where(self.turning, np.minimum(high, low + TURN), high)
        return self.admitted(low + (high - low) * fractions)

    def apart(self, first: Floats, second: Floats) -> Floats:
        """The largest difference of two configurations in any velocity, whole turns and signs of
        quaternions aside."""
        first, second = np.broadcast_arrays(first, second)
        apart = np.abs(difference(self.m, first, second)).max(axis=-1, initial=0.0)
        if not self.wound:
            return np.asarray(apart)
        own = np.abs(first - second)[..., self._counting].max(axis=-1)
        return np.asarray(np.maximum(apart, own))

    def first_passed(self, q: Floats) -> int | None:
        """The row of a motion `(rows, nq)` at which a joint first is beyond its limits, if there is
        one."""
        out = ~self.contain(self.turned(q, q))
        return int(out.argmax()) if out.any() else None

    def within(self, joint: str, q: Floats) -> bool:
        """Whether a joint of a configuration is within its limits."""
        own, turned = self.m.coordinates[joint], self.turned(q, q)
        return bool(self._contain(turned)[own].all())

    def outside(self, q: Floats) -> str:
        """Which joint of a configuration is beyond its limits, as a part of a sentence."""
        beyond = np.maximum(q - self.upper, self.lower - q)
        k = int(beyond.argmax())
        name, unit = coordinate_names(self.m)[k], coordinate_units(self.m)[k]
        return f"'{name}' at {q[k]:.6g} {unit}, beyond its limits {self.lower[k]:.6g} to {self.upper[k]:.6g}"
