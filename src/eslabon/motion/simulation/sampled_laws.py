"""Laws that are sampled: asked once a period, as a digital controller is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import MAX_SEED, Floats, count, finite, floats, positive
from eslabon.displays import displayed
from eslabon.errors import InputError, format_value
from eslabon.model import Model
from eslabon.motion.simulation.controller_memory import Memory, Sampling
from eslabon.motion.simulation.native_laws import Law, Traced, law_at, states_at_start
from eslabon.motion.simulation.noise import Noise, Sizes
from eslabon.motion.simulation.python_laws import Called, frozen
from eslabon.numerics.scalars import concatenate


@displayed
@dataclass(frozen=True)
class Sampled:
    """A control law that is asked once a period; see `sampled`.

    >>> import eslabon as es
    >>> es.simulate.sampled(lambda t, q, v: -q, period=0.01).period
    0.01
    """

    law: Callable[..., Any]
    period: float
    delay: float
    state: Floats | None
    quantisation: Floats
    rate_limit: Floats | None
    noise: Floats
    velocity_noise: Floats
    force_noise: Floats
    seed: int


def sampled(
    law: Callable[..., Any], period: float, *, delay: float = 0.0, state: ArrayLike | None = None,
    quantisation: ArrayLike = 0.0, rate_limit: ArrayLike | None = None, noise: ArrayLike = 0.0,
    velocity_noise: ArrayLike = 0.0, force_noise: ArrayLike = 0.0, seed: int = 0,
) -> Sampled:  # fmt: skip
    """A control law as a digital controller runs it: asked once a period from the start of the run
    on, its forces held between.

    Parameters
    ----------
    law : tau = law(t, q, v), or (tau, next x) = law(t, q, v, x) if it has a state; a Python
        function, or one marked with `traced`, which stays native. A law in Python is called once a
        period and sees read-only arrays.
    period : seconds. Fixed steps must divide it.
    delay : of computation, in seconds, at most a period: after it the forces act. Until the first
        do, there are none.
    state : the law's states at the start, `(..., states)`.
    quantisation : the increment of the encoders, one number or one for each coordinate; 0 is none.
    rate_limit : the largest rate of the forces a second, one number or one for each actuator: how
        much they may change from a sample to the next.
    noise, velocity_noise : the standard deviations of what the law sees of coordinates and
        velocities: one number, or one for each velocity (a quaternion is turned by three small
        angles). Each sample of each trajectory has noise of its own, which is normal and
        independent of all other; coordinates have it before encoders count them.
    force_noise : the standard deviation of a random force on each actuator, one number or one for
        each, which changes whenever new forces begin to act. `motion.tau` has it,
        `motion.tau_commanded` has not.
    seed : of the noise. The same seed gives the same noise to the same number of trajectories.

    >>> import eslabon as es
    >>> m = es.load("double_pendulum")
    >>> law = sampled(lambda t, q, v: 30 * (0.5 - q) - 8 * v + m.gravity_forces(q), period=0.01, delay=0.002, quantisation=1e-4)
    >>> motion = m.simulate([0.0, 0.0], None, 5.0, law, method="rk4", step=1e-3)
    >>> motion.end[0].round(3)
    array([0.5, 0.5])
    >>> bool((motion.tau[3:12] == motion.tau[2]).all())
    True
    >>> law = es.simulate.traced(lambda t, q, v: 30 * (0.5 - q) - 8 * v + m.gravity_forces(q))
    >>> noisy = sampled(law, period=0.01, noise=1e-3, velocity_noise=0.02, seed=1)
    >>> motion = m.simulate(np.full((50, 2), 0.5), None, 2.0, noisy, method="rk4", step=5e-3, every=400)
    >>> bool((motion.end[0].std(axis=0) > 1e-5).all())      # each of the 50 has noise of its own
    True
    """
    if isinstance(law, Traced) and law.state is not None:
        raise InputError(
            "the states of a sampled law are given to `sampled`; leave them out of `traced`."
        )
    if not callable(law):
        raise InputError(f"a control law is a function of t, q and v; it is {format_value(law)}.")
    period, delay = positive(period, "period"), positive(delay, "delay", zero=True)
    if delay > period * (1 + 1e-9):
        raise InputError(
            f"delay is {delay:g} s, longer than the period of {period:g} s; it is at most one period."
        )
    increments = frozen(finite(quantisation, "quantisation"))
    rates = None if rate_limit is None else frozen(floats(rate_limit, "rate_limit"))
    if (increments < 0).any() or (rates is not None and not (rates > 0).all()):
        raise InputError(
            "quantisation is not less than zero, and rate_limit greater; leave out what is not meant."
        )
    start = None if state is None else states_at_start(state)
    return Sampled(
        law, period, min(delay, period), start, increments, rates, _deviations(noise, "noise"),
        _deviations(velocity_noise, "velocity_noise"), _deviations(force_noise, "force_noise"), count(seed, "seed", most=MAX_SEED),
    )  # fmt: skip


def _deviations(given: ArrayLike, name: str) -> Floats:
    found = frozen(finite(given, name))
    if (found < 0).any():
        raise InputError(
            f"{name} is a standard deviation, which is not less than zero; leave out what is not meant."
        )
    return found


@dataclass(frozen=True)
class Sampler:
    """A law that is asked at times: once a period from the start on, or at every step if the period
    is zero."""

    law: Law | Called
    period: float
    delay: float
    start: float
    sampling: Sampling
    noise: Noise | None = None

    def over(self, batch: tuple[int, ...]) -> Sampler:
        """With noise of its own for each trajectory of a batch."""
        return self if self.noise is None else replace(self, noise=self.noise.over(batch))

    def pick(self, batch: tuple[int, ...], index: tuple[int, ...]) -> Sampler:
        """That of one trajectory of a batch."""
        law = self.law.pick(batch, index) if isinstance(self.law, Law) else self.law
        return replace(self, law=law, noise=self.noise and self.noise.pick(index))

    def agenda(self, end: float) -> dict[float, tuple[bool, bool]]:
        """When the law is sampled, and when what was delayed acts."""
        k = np.arange(math.floor((end - self.start) / self.period * (1 + 1e-12) + 1e-9) + 1)
        samples = set((self.start + k * self.period).tolist())
        shift = self.start + (
            (k + 1) * self.period if self.delay == self.period else k * self.period + self.delay
        )
        releases = set(shift[shift <= end].tolist()) if self.sampling.delayed else set()
        return {t: (t in samples, t in releases) for t in sorted({*samples, *releases})}

    def due(self, t: Floats, h: Floats) -> tuple[np.ndarray, np.ndarray]:
        """Which of the ends of steps of lengths h are samples, and at which what was delayed
        acts."""
        if not self.period:
            return np.ones(len(t), bool), np.zeros(len(t), bool)

        def hit(first: float) -> np.ndarray:
            k = np.round((t - first) / self.period)
            return (k >= 0) & (np.abs(t - first - k * self.period) < 1e-3 * h)

        return hit(self.start), hit(self.start + self.delay) & self.sampling.delayed

    def noise_at(self, t: Floats, sample: Any, release: Any) -> Floats:
        """The noise of what is measured, and of what begins to act, at times: (..., times,
        width)."""
        if self.noise is None:
            return np.zeros((len(t), 0))

        def drawn(first: float, wanted: Any) -> Floats:
            assert self.noise is not None
            number = np.round((t - first) / self.period).astype(int)
            return self.noise.at(np.where(wanted, number, -1))

        acts = release if self.sampling.delayed else sample
        seen, acting, cut = (
            drawn(self.start, sample),
            drawn(self.start + self.delay, acts),
            self.sampling.noise.measured,
        )
        acting[..., :cut] = seen[..., :cut]
        return acting

    def rows(self, t: Floats, h: Floats) -> Floats:
        """What is due at the ends of steps of lengths h, and its noise: (..., times, 2 + width)."""
        return self._rows(t, *self.due(t, h))

    def first(self, t: Floats) -> Floats:
        """The same at the start."""
        return self._rows(t, np.array([True]), np.array([False]))

    def _rows(self, t: Floats, sample: np.ndarray, release: np.ndarray) -> Floats:
        return concatenate(
            np.stack([sample, release], axis=-1).astype(float), self.noise_at(t, sample, release)
        )

    def check(self, t: Floats, every: int) -> None:
        """Refuse steps, `every` of them between two of the times t, that do not end where the law
        is sampled or acts."""
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
        self,
        m: Model,
        t: float,
        x: Floats,
        memory: Memory,
        due: tuple[bool, bool],
        limit: tuple[float, ...],
    ) -> Memory:
        """The memory after an instant at the state x = (q, v)."""
        noise = self.noise_at(np.array([t]), *due)[..., 0, :]
        q, v = self.sampling.measured(m, x[..., : m.nq], x[..., m.nq : m.nq + m.nv], noise)

        def spoken(state: Floats) -> tuple[Floats, Floats]:
            if isinstance(self.law, Called):
                return self.law.spoken(t, q, v, state)
            return law_at(m, self.law, t, q, v, state)

        disturbance = self.sampling.disturbance(noise)
        return memory.updated(bool(due[0]), bool(due[1]), spoken, self.sampling, limit, disturbance)


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
    sizes, noise = _noise(m, given)
    sampling = Sampling(
        given.delay > 0,
        () if rates is None else tuple(np.broadcast_to(rates * given.period, m.nu).tolist()),
        tuple(np.broadcast_to(increments, m.nq).tolist()) if increments.any() else (),
        sizes,
    )
    state = np.zeros(0) if given.state is None else given.state
    own = given.law
    law = (
        own.with_state(given.state).graph(m)
        if isinstance(own, Traced)
        else Called(own, m.nu, state)
    )
    return Sampler(law, given.period, given.delay, start, sampling, noise)


def _noise(m: Model, given: Sampled) -> tuple[Sizes, Noise | None]:
    """How many numbers of a sample are noisy, and their noise."""
    deviations = []
    for name, size, noun in (
        ("noise", m.nv, "velocities"), ("velocity_noise", m.nv, "velocities"), ("force_noise", m.nu, "actuators")
    ):  # fmt: skip
        own = getattr(given, name)
        if own.shape not in ((), (size,)):
            raise InputError(
                f"{name} is one number, or one for each of the {size} {noun} of {m.name}; its shape is {own.shape}."
            )
        deviations.append(np.broadcast_to(own, size) if own.any() else np.zeros(0))
    sizes = Sizes(*map(len, deviations))
    return sizes, Noise(np.concatenate(deviations), given.seed) if sizes.total else None
