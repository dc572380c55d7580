"""What a digital controller remembers between samples, for numbers and symbols alike.

A sample asks the law; its answer, within the limits of rate and effort, waits for the delay of
computation and then acts until the next one does.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.motion.simulation.noise import Sizes, split
from eslabon.numerics.scalars import casadi, concatenate, is_symbolic, where

Speech = Callable[[Any], tuple[Any, Any]]  # from a law's states to forces and the next states


class Sampling(NamedTuple):
    """What native code knows of a sampled law: whether its forces act later than they are computed,
    how much they may change from one sample to the next, and the increments of the encoders; ()
    where there is no such thing. `noise` is how many numbers are noisy."""

    delayed: bool = False
    slew: tuple[float, ...] = ()
    increments: tuple[float, ...] = ()
    noise: Sizes = Sizes()

    def measured(self, m: Model, q: Any, v: Any, noise: Any) -> tuple[Any, Any]:
        """Coordinates and velocities as the law sees them, with their noise; the coordinates as
        encoders count them."""
        along_q, along_v, _ = split(self.noise, noise)
        q = integrate(m, q, along_q) if self.noise.coordinates else q
        return self._counted(q), v + along_v if self.noise.velocities else v

    def disturbance(self, noise: Any) -> Any:
        """The random part of the forces."""
        return split(self.noise, noise)[2]

    def _counted(self, q: Any) -> Any:
        """Whole increments."""
        if not self.increments:
            return q
        step = np.array([x or 1.0 for x in self.increments])
        counted = casadi.floor(q / step + 0.5) if is_symbolic(q) else np.floor(q / step + 0.5)
        return where(np.array(self.increments) > 0, counted * step, q)


class Memory(NamedTuple):
    """The forces that act, those that wait for the delay, those that the law asked for, and its
    states."""

    acting: Any
    pending: Any
    asked: Any
    state: Any

    @staticmethod
    def of(x: Any, nu: int) -> Memory:
        """From one column after another."""
        ends = (0, nu, 2 * nu, 3 * nu, None)
        parts = [slice(*pair) for pair in pairwise(ends)]
        return Memory(*(x[part, :] if is_symbolic(x) else x[..., part] for part in parts))

    def joined(self) -> Any:
        return concatenate(*self)

    def updated(
        self,
        sample: Any,
        release: Any,
        law: Speech,
        sampling: Sampling,
        limit: tuple[float, ...],
        disturbance: Any = 0,
    ) -> Memory:
        """After an instant at which the law is sampled, what waited acts, or both. For numbers
        these are True or False, and only a sample asks the law. Whatever begins to act is
        disturbed."""
        memory = self
        if sampling.delayed:
            memory = _either(release, memory._replace(acting=memory.pending + disturbance), memory)
        if sample is False:
            return memory
        tau, state = law(memory.state)
        pending = (
            tau
            if not sampling.slew
            else memory.pending + within(tau - memory.pending, sampling.slew)
        )
        pending = within(pending, limit)
        after = Memory(
            memory.acting if sampling.delayed else pending + disturbance, pending, tau, state
        )
        return _either(sample, after, memory)


def within(x: Any, bound: tuple[float, ...]) -> Any:
    """Each number not larger than its bound, whatever its sign; what is no number stays none. () is
    no bound at all."""
    if not bound:
        return x
    most = np.array(bound)
    return where(x > most, most, where(x < -most, -most, x))


def _either(flag: Any, yes: Memory, no: Memory) -> Memory:
    if isinstance(flag, bool):
        return yes if flag else no
    return Memory(
        *(casadi.if_else(flag, a, b) if b.numel() else b for a, b in zip(yes, no, strict=True))
    )
