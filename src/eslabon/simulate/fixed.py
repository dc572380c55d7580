"""Runs with a fixed step: the loop over steps in machine code, or in Python where a Python function drives.

Either fills rows of states little by little, so that a run can be stopped between, and nothing is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.simulate import motion_equations, step_formulas
from eslabon.simulate.control import Called, Control, Law, Table
from eslabon.simulate.projection import project
from eslabon.simulate.simulated_motion import Outcome
from eslabon.simulate.singular_passages import Passages
from eslabon.simulate.system import System

CHUNK = 0.1  # seconds between two looks at the clock and the keyboard


@dataclass
class Run:
    """Trajectories from x0, (..., n), with states at the times `t`, `every` steps apart; the first `done` are there."""

    system: System
    method: step_formulas.Method
    control: Control
    hold: bool
    x0: Floats
    t: Floats
    every: int
    passages: Passages
    update: Callable[[float], None]  # told how much of the run is done
    threads: int | None = None

    def __post_init__(self) -> None:
        m, shape = self.system.m, (*self.x0.shape[:-1], len(self.t))
        self.x = np.empty((*shape, self.x0.shape[-1]))
        self.x[..., 0, :] = self.x0
        self.tau = np.full((*shape, m.nu), np.nan) if isinstance(self.control, Called) else None
        self.done, self.steps = 1, (len(self.t) - 1) * self.every
        self.worst = 0.0  # the largest miss of implicit equations

    def integrate(self) -> None:
        """Until the last time, or until no trajectory has finite numbers."""
        law = self.control
        for taken in self._in_python(law) if isinstance(law, Called) else self._in_machine_code():
            self.update(taken / self.steps)
            if not np.isfinite(self.x[..., self.done - 1, :]).all(axis=-1).any():
                break
        self.passages.finish()

    @property
    def reached(self) -> float:
        return float(self.t[self.done - 1])

    def outcome(self) -> Outcome:
        """What there is so far."""
        steps, tau = (self.done - 1) * self.every, None if self.tau is None else self.tau[..., : self.done, :]
        return Outcome(self.t[: self.done], self.x[..., : self.done, :], tau, steps, steps * self.method.evaluations)

    def _times(self, first: int, count: int) -> tuple[Floats, Floats]:
        """When some steps begin, and how long they are; steps are counted from the start of the run."""
        row, part = np.divmod(np.arange(first, first + count), self.every)
        length = (self.t[row + 1] - self.t[row]) / self.every
        return self.t[row] + part * length, length

    # -- in machine code ----------------------------------------------------------------------------------------

    def _in_machine_code(self) -> Iterator[int]:
        """Fill the rows; between two looks at the keyboard everything runs without Python."""
        columns, law = (
            self.method.columns(self.control, self.hold),
            self.control if isinstance(self.control, Law) else None,
        )
        run = self.system.function(
            self.method.formula, law=law, hold=self.hold and law is not None, columns=len(columns)
        )
        states, position, pace = self._states(), 0, 16
        while position < self.steps:
            start = time.perf_counter()
            count, every = self._portion(position, pace, states[0])
            t, h = self._times(position, count)
            made: Any = run(*states, _varying(self.control, columns, t, h), every=every, threads=self.threads)
            made = made if isinstance(made, tuple) else (made,)
            if self.passages.wanted:
                x = np.concatenate([states[0][..., None, :], made[0]], axis=-2)
                self.passages.look(np.append(t[::every], t[-1] + h[-1]), x, self.threads)
            states = [made[0][..., -1, :], *(x[..., -1] for x in made[1:])]
            self._store(np.arange(position + every, position + count + 1, every) % self.every == 0, made)
            position += count
            # As many steps as fill a chunk, but not all at once: the first ones may have been slow.
            pace = int(np.clip(count * CHUNK / (time.perf_counter() - start), 1, 8 * pace))
            yield position

    def _portion(self, first: int, pace: int, x: Floats) -> tuple[int, int]:
        """About as many steps as the pace says, and how many to a row of what is made: a part of a row to report where loops
        may pass singularities; else whole rows, or a part of one as one row."""
        inside, every = first % self.every, self.every
        if self.passages.wanted:
            stride = self.passages.stride(x, np.diff(self.t).max() / every)
            every = max(k for k in range(1, min(stride, every) + 1) if every % k == 0 and inside % k == 0)
        elif inside or pace < every:
            count = min(pace, every - inside)
            return count, count
        return min(max(every, pace - pace % every), self.steps - first), every

    def _states(self) -> list[Floats]:
        """The states of the method's formula: x, or coordinates with momenta and the largest miss so far."""
        if self.method is step_formulas.RK4:
            return [self.x0]
        q, v = self.x0[..., : self.system.m.nq], self.x0[..., self.system.m.nq :]
        momenta = self.system.function(motion_equations.MOMENTA)(q, v)
        return [np.concatenate([q, momenta], axis=-1), np.zeros(q.shape[:-1])]

    def _store(self, reported: Floats, made: tuple[Floats, ...]) -> None:
        """Keep the rows to report, as states x = (q, v)."""
        kept, nq = made[0][..., reported, :], self.system.m.nq
        place = self.x[..., self.done : self.done + kept.shape[-2], :]
        place[...] = kept
        if self.method is step_formulas.SYMPLECTIC:
            velocities = self.system.function(motion_equations.VELOCITIES, along=True)
            place[..., nq:] = velocities(kept[..., :nq], kept[..., nq:])
            self.worst = float(np.nanmax(made[1], initial=self.worst))
        self.done += kept.shape[-2]

    # -- in Python ----------------------------------------------------------------------------------------------

    def _in_python(self, law: Called) -> Iterator[int]:
        """Fill the rows by rk4 under a Python function, which is called with the states of all trajectories at once."""
        assert self.tau is not None
        m, nq, rates = self.system.m, self.system.m.nq, self.system.function(motion_equations.STAGE_RATES)
        x, stages = self.x0, step_formulas.RK4.stages
        self.passages.add(self.t[0], x)
        self.tau[..., 0, :] = first = law(float(self.t[0]), x[..., :nq], x[..., nq:])
        for number in range(self.steps):
            (t,), (h,) = self._times(number, 1)

            def f(stage: int, x: Floats, t: float = t, h: float = h, first: Floats = first) -> Floats:
                held = stage == 0 or self.hold
                tau = first if held else law(t + stages[stage] * h, x[..., :nq], x[..., nq:])
                return rates(t, x, tau)

            x = project(m, step_formulas.rk4(f, x, h))
            self.passages.add(t + h, x)
            first = law(float(t + h), x[..., :nq], x[..., nq:])
            if (number + 1) % self.every == 0:
                self.x[..., self.done, :], self.tau[..., self.done, :] = x, first
                self.done += 1
            yield number + 1


def _varying(control: Control, stages: tuple[float, ...], t: Floats, h: Floats) -> Floats:
    """A row for each step: its time, its length, and forces known in time at the method's stages."""
    columns = [np.stack([t, h], axis=-1)]
    if isinstance(control, Table):
        columns += [control.at(t + part * h) for part in stages]
    batch = np.broadcast_shapes(*(c.shape[:-1] for c in columns))
    return np.concatenate([np.broadcast_to(c, (*batch, c.shape[-1])) for c in columns], axis=-1)
