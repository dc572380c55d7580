"""Noise of sensors and of forces: normal numbers that belong to a seed, a sample and a trajectory.

However a run is cut into pieces, and whichever method takes its steps, the same seed gives the same
numbers to the same samples of the same trajectories.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.numerics.scalars import is_symbolic

BLOCK, NUMBERS = 64, 2**20  # samples that are drawn at once, and the numbers these are at most


class Sizes(NamedTuple):
    """How many noisy numbers a sample has: of the coordinates and the velocities that are measured,
    and of the forces."""

    coordinates: int = 0
    velocities: int = 0
    forces: int = 0

    @property
    def measured(self) -> int:
        return self.coordinates + self.velocities

    @property
    def total(self) -> int:
        return self.measured + self.forces


@dataclass(frozen=True)
class Noise:
    """Standard deviations, one for each noisy number, and which numbers are drawn: by a seed, for a
    batch of trajectories of which one may be picked."""

    deviations: Floats
    seed: int
    batch: tuple[int, ...] = ()
    index: tuple[int, ...] = ()
    _drawn: dict[int, Floats] = field(default_factory=dict, compare=False, repr=False)

    def over(self, batch: tuple[int, ...]) -> Noise:
        return replace(self, batch=batch, _drawn={})

    def pick(self, index: tuple[int, ...]) -> Noise:
        """That of one trajectory."""
        return replace(self, index=index, _drawn={})

    def at(self, samples: np.ndarray) -> Floats:
        """The noise of samples by their numbers, (..., samples, width); zeros for a number less
        than zero.

        >>> noise = Noise(np.array([1.0, 0.1]), seed=0, batch=(3,))
        >>> bool((noise.at(np.array([5]))[2] == noise.pick((2,)).at(np.array([4, 5]))[1]).all())
        True
        """
        width, batch = len(self.deviations), self.batch[len(self.index) :]
        made = np.zeros((*batch, len(samples), width))
        length = max(1, min(BLOCK, NUMBERS // max(1, math.prod(self.batch) * width)))
        blocks = np.where(samples >= 0, samples // length, -1)
        for block in np.unique(blocks[blocks >= 0]).tolist():
            own = blocks == block
            made[..., own, :] = self._block(block, length)[..., samples[own] - block * length, :]
        return made * self.deviations

    def _block(self, block: int, length: int) -> Floats:
        """Standard normal numbers, (..., length, width); the last ones drawn are kept."""
        if block not in self._drawn:
            self._drawn.clear()
            shape = (*self.batch, length, len(self.deviations))
            self._drawn[block] = np.random.default_rng([self.seed, block]).standard_normal(shape)[
                self.index
            ]
        return self._drawn[block]


def split(sizes: Sizes, noise: Any) -> tuple[Any, Any, Any]:
    """What a column of noise, or a row of numbers, has for coordinates, velocities and forces; zero
    where there is none."""

    def part(first: int, size: int) -> Any:
        own = slice(first, first + size)
        return 0 if not size else noise[own, :] if is_symbolic(noise) else noise[..., own]

    return (
        part(0, sizes.coordinates),
        part(sizes.coordinates, sizes.velocities),
        part(sizes.measured, sizes.forces),
    )
