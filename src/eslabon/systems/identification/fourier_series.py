"""Finite Fourier series within limits: the forms among which an excitation is sought.

Each coordinate's series is divided by its size, a smooth norm of what parts it takes of its limits,
so that it just keeps them whatever its coefficients are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from eslabon.arguments import Floats

SHARP = 24  # the exponent of the norm that stands for a maximum
ASIDE = 0.5  # of the range: how far the middle of the motion may be from that of the range


class Limits(NamedTuple):
    """For each moving coordinate the middle and half the width of its range, and the greatest
    velocity and acceleration."""

    middle: Floats
    half: Floats
    velocity: Floats
    acceleration: Floats


@dataclass(frozen=True, eq=False)
class Series:
    """The functions whose sums are the motions, which at t = 0 and at the end rest, if asked to."""

    duration: float
    harmonics: int
    rest: bool = True

    @cached_property
    def free(self) -> Floats:
        """Sums of the 2 harmonics coefficients (a, b) that start with v = sum a = 0 and v' = w sum
        l b = 0."""
        order = np.arange(1, self.harmonics + 1)
        if not self.rest:
            return np.eye(2 * self.harmonics)
        held = np.zeros((2, 2 * self.harmonics))
        held[0, : self.harmonics], held[1, self.harmonics :] = 1.0, order
        return np.linalg.svd(held)[2][2:].T

    def at(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """The functions, their rates and accelerations, (..., functions) each."""
        order = np.arange(1, self.harmonics + 1) * 2 * np.pi / self.duration
        s, c = np.sin(t[..., None] * order), np.cos(t[..., None] * order)
        pairs = (s / order, -c / order), (c, s), (-s * order, c * order)
        q, v, a = (np.concatenate(pair, axis=-1) @ self.free for pair in pairs)
        return q, v, a


@dataclass(frozen=True, eq=False)
class Scaled:
    """Series of all coordinates, scaled to keep their limits at given times: from coefficients (n,
    functions) and asides (n,) that say where in its range each coordinate moves."""

    limits: Limits
    basis: tuple[Floats, Floats, Floats]

    def motion(self, c: Floats, o: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """q, v, a (times, n), and the size (n,) that each series was divided by."""
        raw = [b @ c.T for b in self.basis]
        size = np.sum([np.sum(np.abs(w) ** SHARP, axis=0) for w in self.parts(raw, o)], axis=0) ** (
            1 / SHARP
        )
        q, v, a = (x / size for x in raw)
        return self.middle(o) + q, v, a, size

    def middle(self, o: Floats) -> Floats:
        """About what each coordinate moves."""
        made: Floats = self.limits.middle + ASIDE * self.limits.half * np.sin(o)
        return made

    def parts(self, raw: list[Floats], o: Floats) -> list[Floats]:
        """The series as parts of their limits."""
        return [x / limit for x, limit in zip(raw, (self._room(o), *self.limits[2:]), strict=True)]

    def _room(self, o: Floats) -> Floats:
        return self.limits.half * (1 - ASIDE * np.sqrt(np.sin(o) ** 2 + 1e-6))

    def gradient(
        self, c: Floats, o: Floats, by: tuple[Floats, Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """The derivatives by coefficients and asides of a cost whose derivatives by q, v and a are
        given."""
        raw = [b @ c.T for b in self.basis]
        size, parts = self.motion(c, o)[3], self.parts(raw, o)
        rooms = (self._room(o), *self.limits[2:])
        growth = [
            np.abs(w / size) ** (SHARP - 1) * np.sign(w) for w in parts
        ]  # of the size, by each part
        by_size = -sum(np.sum(g * x, axis=0) for g, x in zip(by, raw, strict=True)) / size**2
        by_c = sum(
            (g / size + by_size * d / room).T @ b
            for g, d, room, b in zip(by, growth, rooms, self.basis, strict=True)
        )
        turn = np.cos(o) * np.sin(o) / np.sqrt(np.sin(o) ** 2 + 1e-6)
        by_room = -by_size * np.sum(growth[0] * parts[0], axis=0) / rooms[0]
        by_o = ASIDE * self.limits.half * (np.cos(o) * np.sum(by[0], axis=0) - turn * by_room)
        return by_c, by_o
