"""Runs with a fixed step: the loop over steps in machine code, or in Python where a Python function drives.

Both are generators that fill rows of states little by little, so that a caller can stop between, and nothing is lost.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.graph.native.arguments import Floats
from eslabon.simulate import equations, steps
from eslabon.simulate.control import Called, Table
from eslabon.simulate.progress import Progress
from eslabon.simulate.system import System

CHUNK = 0.1  # seconds between two looks at the clock and the keyboard


@dataclass
class Rows:
    """States at the times of a run, `every` steps apart: x is (..., times, n), and the first `done` rows are there.

    `tau` is kept where only the run knows it, and `worst` is the largest miss of implicit equations.
    """

    t: Floats
    x: Floats
    every: int
    done: int = 1
    tau: Floats | None = None
    worst: float = 0.0

    @property
    def steps(self) -> int:
        """The number of all steps."""
        return (len(self.t) - 1) * self.every

    def times(self, first: int, count: int) -> tuple[Floats, Floats]:
        """When some steps begin, and how long they are; steps are counted from the start of the run."""
        numbers = np.arange(first, first + count)
        row, part = np.divmod(numbers, self.every)
        length = (self.t[row + 1] - self.t[row]) / self.every
        return self.t[row] + part * length, length

    def portion(self, first: int, pace: int) -> tuple[int, int]:
        """About as many steps as the pace says, and how many to a row: whole rows, or a part of one as one row."""
        inside = first % self.every
        if inside or pace < self.every:
            count = min(pace, self.every - inside)
            return count, count
        return min(pace - pace % self.every, self.steps - first), self.every


def in_machine_code(
    system: System, method: steps.Method, rows: Rows, progress: Progress, threads: int | None
) -> Iterator[None]:
    """Fill the rows; between two looks at the keyboard everything runs without Python."""
    run, states = method.native(system), _states(system, method, rows.x[..., 0, :])
    position, pace = 0, 16
    while position < rows.steps:
        start = time.perf_counter()
        count, every = rows.portion(position, pace)
        inputs = _varying(system, method, *rows.times(position, count))
        made: Any = run(*states, inputs, *system.constants, every=every, threads=threads)
        made = made if isinstance(made, tuple) else (made,)
        states = [x[..., -1, :] for x in made]
        position += count
        if position % rows.every == 0:
            _store(system, method, rows, made)
        # As many steps as fill a chunk, but not all at once: the first ones may have been slow.
        pace = int(np.clip(count * CHUNK / (time.perf_counter() - start), 1, 8 * pace))
        progress.update(position / rows.steps)
        yield


def _states(system: System, method: steps.Method, x: Floats) -> list[Floats]:
    """What the method's graph calls its states: x, or coordinates with momenta and the largest miss so far."""
    if method.states == 1:
        return [x]
    q, v = x[..., : system.m.nq], x[..., system.m.nq :]
    return [np.concatenate([q, system.momenta(q, v)], axis=-1), np.zeros((*x.shape[:-1], 1))]


def _store(system: System, method: steps.Method, rows: Rows, made: tuple[Floats, ...]) -> None:
    """Keep rows, as states x = (q, v)."""
    end, nq = rows.done + made[0].shape[-2], system.m.nq
    place = rows.x[..., rows.done : end, :]
    place[...] = made[0]
    if method.states == 2:
        place[..., nq:] = system.velocities(made[0][..., :nq], made[0][..., nq:])
        rows.worst = float(np.nanmax(made[1], initial=rows.worst))
    rows.done = end


def _varying(system: System, method: steps.Method, t: Floats, h: Floats) -> Floats:
    """A row for each step: its time, its length, and forces known in time at the method's stages."""
    columns = [np.stack([t, h], axis=-1)]
    if isinstance(system.control, Table):
        columns += [system.control.at(t + part * h) for part in method.columns(system)]
    batch = np.broadcast_shapes(*(c.shape[:-1] for c in columns))
    return np.concatenate([np.broadcast_to(c, (*batch, c.shape[-1])) for c in columns], axis=-1)


def in_python(system: System, method: steps.Method, rows: Rows, progress: Progress) -> Iterator[None]:
    """Fill the rows by rk4 under a Python function, which is called with the states of all trajectories at once."""
    law, nq, rates = system.control, system.m.nq, system.native(equations.RATES)
    assert isinstance(law, Called)
    x, rows.tau = rows.x[..., 0, :], np.full((*rows.x.shape[:-1], system.m.nu), np.nan)
    rows.tau[..., 0, :] = first = law(float(rows.t[0]), x[..., :nq], x[..., nq:])
    for number in range(rows.steps):
        (t,), (h,) = rows.times(number, 1)

        def f(stage: int, x: Floats, t: float = t, h: float = h, first: Floats = first) -> Floats:
            q, v = x[..., :nq], x[..., nq:]
            tau = first if stage == 0 or system.hold else law(t + method.stages[stage] * h, q, v)
            return rates(q, v, tau, *system.constants)

        x = equations.settled(system.m, steps.rk4(f, x, h))
        first = law(float(t + h), x[..., :nq], x[..., nq:])
        if (number + 1) % rows.every == 0:
            rows.x[..., rows.done, :], rows.tau[..., rows.done, :] = x, first
            rows.done += 1
        progress.update((number + 1) / rows.steps)
        yield
