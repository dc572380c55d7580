"""Laws that are sampled: asked once a period, as a digital controller is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, floats, positive
from eslabon.errors import InputError
from eslabon.model import Model
from eslabon.simulate.called import Called, frozen
from eslabon.simulate.memory import Memory, Sampling
from eslabon.simulate.traced_laws import Law, Traced, law_at, states_at_start


@dataclass(frozen=True)
class Sampled:
    """A control law that is asked once a period; see `sampled`."""

    law: Callable[..., Any]
    period: float
    delay: float
    state: Floats | None
    quantisation: Floats
    rate_limit: Floats | None


def sampled(
    law: Callable[..., Any], period: float, *, delay: float = 0.0, state: ArrayLike | None = None,
    quantisation: ArrayLike = 0.0, rate_limit: ArrayLike | None = None,
) -> Sampled:  # fmt: skip
    """A control law as a digital controller runs it: asked once a period from the start of the run on, its forces held between.

    Parameters
    ----------
    law : tau = law(t, q, v), or (tau, next x) = law(t, q, v, x) if it has a state; a Python function, or one marked with
        `traced`, which stays native. A law in Python is called once a period and sees read-only arrays.
    period : seconds. Fixed steps must divide it.
    delay : of computation, in seconds, at most a period: after it the forces act. Until the first do, there are none.
    state : the law's states at the start, `(..., states)`.
    quantisation : the increment of the encoders, one number or one for each coordinate; 0 is none.
    rate_limit : the largest rate of the forces a second, one number or one for each actuator: how much they may change from a
        sample to the next.

    >>> import eslabon as es
    >>> m = es.load("double_pendulum")
    >>> law = sampled(lambda t, q, v: 30 * (0.5 - q) - 8 * v + m.gravity_forces(q), period=0.01, delay=0.002, quantisation=1e-4)
    >>> motion = m.simulate([0.0, 0.0], None, 5.0, law, method="rk4", step=1e-3)
    >>> motion.end[0].round(3)
    array([0.5, 0.5])
    >>> bool((motion.tau[3:12] == motion.tau[2]).all())
    True
    """
    if isinstance(law, Traced) and law.state is not None:
        raise InputError("the states of a sampled law are given to `sampled`; leave them out of `traced`.")
    if not callable(law):
        raise InputError(f"a control law is a function of t, q and v; it is {law!r}.")
    period, delay = positive(period, "period"), positive(delay, "delay", zero=True)
    if delay > period * (1 + 1e-9):
        raise InputError(f"delay is {delay:g} s, longer than the period of {period:g} s; it is at most one period.")
    increments = frozen(finite(quantisation, "quantisation"))
    rates = None if rate_limit is None else frozen(floats(rate_limit, "rate_limit"))
    if (increments < 0).any() or (rates is not None and not (rates > 0).all()):
        raise InputError("quantisation is not less than zero, and rate_limit greater; leave out what is not meant.")
    return Sampled(
        law, period, min(delay, period), None if state is None else states_at_start(state), increments, rates
    )


@dataclass(frozen=True)
class Sampler:
    """A law that is asked at times: once a period from the start on, or at every step if the period is zero."""

    law: Law | Called
    period: float
    delay: float
    start: float
    sampling: Sampling

    def agenda(self, end: float) -> dict[float, tuple[bool, bool]]:
        """When the law is sampled, and when what was delayed acts."""
        k = np.arange(math.floor((end - self.start) / self.period * (1 + 1e-12) + 1e-9) + 1)
        samples = (self.start + k * self.period).tolist()
        shift = self.start + ((k + 1) * self.period if self.delay == self.period else k * self.period + self.delay)
        releases = set(shift[shift <= end].tolist()) if self.sampling.delayed else set()
        return {t: (t in set(samples), t in releases) for t in sorted({*samples, *releases})}

    def due(self, t: Floats, h: Floats) -> tuple[np.ndarray, np.ndarray]:
        """Which of the ends of steps of lengths h are samples, and at which what was delayed acts."""
        if not self.period:
            return np.ones(len(t), bool), np.zeros(len(t), bool)

        def hit(first: float) -> np.ndarray:
            k = np.round((t - first) / self.period)
            return (k >= 0) & (np.abs(t - first - k * self.period) < 1e-3 * h)

        return hit(self.start), hit(self.start + self.delay) & self.sampling.delayed

    def check(self, t: Floats, every: int) -> None:
        """Refuse steps, `every` of them between two of the times t, that do not end where the law is sampled or acts."""
        if not self.period:
            return
        times = np.array([x for x in self.agenda(t[-1]) if x < t[-1]])
        row = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
        h = (t[row + 1] - t[row]) / every
        part = (times - t[row]) / h
        off = np.flatnonzero(np.abs(part - np.round(part)) > 5e-4)
        if len(off):
            raise InputError(
                f"the law is sampled, or its forces begin to act, at t = {times[off[0]]:g} s, in the middle of a step of "
                f"{h[off[0]]:g} s; take a step that divides the period of {self.period:g} s and the delay."
            )

    def at(
        self, m: Model, t: float, x: Floats, memory: Memory, due: tuple[bool, bool], limit: tuple[float, ...]
    ) -> Memory:
        """The memory after an instant at the state x = (q, v)."""
        q, v = x[..., : m.nq], x[..., m.nq : m.nq + m.nv]

        def spoken(state: Floats) -> tuple[Floats, Floats]:
            seen = self.sampling.measured(q)
            return (
                self.law.spoken(t, seen, v, state)
                if isinstance(self.law, Called)
                else law_at(m, self.law, t, seen, v, state)
            )

        return memory.updated(bool(due[0]), bool(due[1]), spoken, self.sampling, limit)


def sampler_of(m: Model, given: Sampled, start: float) -> Sampler:
    increments = given.quantisation
    if increments.shape not in ((), (m.nq,)):
        raise InputError(f"quantisation is one number, or one for each of the {m.nq} coordinates of {m.name}; its shape is "
            f"{increments.shape}.")  # fmt: skip
    if increments.any() and not increments.ndim and m.nq != m.nv:
        raise InputError(
            f"{m.name} has quaternions, which no encoder counts; give quantisation for each coordinate, 0 for those."
        )
    rates = given.rate_limit
    if rates is not None and rates.shape not in ((), (m.nu,)):
        raise InputError(
            f"rate_limit is one number, or one for each of the {m.nu} actuators of {m.name}; its shape is {rates.shape}."
        )
    sampling = Sampling(
        given.delay > 0,
        () if rates is None else tuple(np.broadcast_to(rates * given.period, m.nu).tolist()),
        tuple(np.broadcast_to(increments, m.nq).tolist()) if increments.any() else (),
    )
    state = np.zeros(0) if given.state is None else given.state
    law = (
        Traced(given.law.law, given.state).graph(m) if isinstance(given.law, Traced) else Called(given.law, m.nu, state)
    )
    return Sampler(law, given.period, given.delay, start, sampling)
