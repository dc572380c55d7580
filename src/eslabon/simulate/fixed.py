"""Runs with a fixed step: the loop over steps in machine code, or in Python where a Python function drives.

Both are generators that fill rows of states little by little, so that a caller can stop between, and nothing is lost.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.simulate import motion_equations, steps
from eslabon.simulate.control import Called, Control, Law, Table
from eslabon.simulate.progress import Progress
from eslabon.simulate.projection import project
from eslabon.simulate.system import System

CHUNK = 0.1  # seconds between two looks at the clock and the keyboard


@dataclass
class Rows:
    """States at the times of a run, `every` steps apart: x is (..., times, n), and the first `done` rows are there.

    `tau` is there where only the run knows it, and `worst` is the largest miss of implicit equations.
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
    system: System, method: steps.Method, control: Control, hold: bool, rows: Rows, bar: Progress, threads: int | None
) -> Iterator[None]:
    """Fill the rows; between two looks at the keyboard everything runs without Python."""
    columns, law = method.columns(control, hold), control if isinstance(control, Law) else None
    run = system.function(method.formula, law=law, hold=hold and law is not None, columns=len(columns))
    states = _states(system, method, rows.x[..., 0, :])
    position, pace = 0, 16
    while position < rows.steps:
        start = time.perf_counter()
        count, every = rows.portion(position, pace)
        inputs = _varying(control, columns, *rows.times(position, count))
        made: Any = run(*states, inputs, every=every, threads=threads)
        made = made if isinstance(made, tuple) else (made,)
        states = [made[0][..., -1, :], *(x[..., -1] for x in made[1:])]
        position += count
        if position % rows.every == 0:
            _store(system, method, rows, made)
        # As many steps as fill a chunk, but not all at once: the first ones may have been slow.
        pace = int(np.clip(count * CHUNK / (time.perf_counter() - start), 1, 8 * pace))
        bar.update(position / rows.steps)
        yield


def _states(system: System, method: steps.Method, x: Floats) -> list[Floats]:
    """The states of the method's formula: x, or coordinates with momenta and the largest miss so far."""
    if method is steps.RK4:
        return [x]
    q, v = x[..., : system.m.nq], x[..., system.m.nq :]
    momenta = system.function(motion_equations.MOMENTA)(q, v)
    return [np.concatenate([q, momenta], axis=-1), np.zeros(x.shape[:-1])]


def _store(system: System, method: steps.Method, rows: Rows, made: tuple[Floats, ...]) -> None:
    """Keep rows, as states x = (q, v)."""
    end, nq = rows.done + made[0].shape[-2], system.m.nq
    place = rows.x[..., rows.done : end, :]
    place[...] = made[0]
    if method is steps.SYMPLECTIC:
        velocities = system.function(motion_equations.VELOCITIES, along=True)
        place[..., nq:] = velocities(made[0][..., :nq], made[0][..., nq:])
        rows.worst = float(np.nanmax(made[1], initial=rows.worst))
    rows.done = end


def _varying(control: Control, stages: tuple[float, ...], t: Floats, h: Floats) -> Floats:
    """A row for each step: its time, its length, and forces known in time at the method's stages."""
    columns = [np.stack([t, h], axis=-1)]
    if isinstance(control, Table):
        columns += [control.at(t + part * h) for part in stages]
    batch = np.broadcast_shapes(*(c.shape[:-1] for c in columns))
    return np.concatenate([np.broadcast_to(c, (*batch, c.shape[-1])) for c in columns], axis=-1)


def in_python(system: System, law: Called, hold: bool, rows: Rows, bar: Progress) -> Iterator[None]:
    """Fill the rows by rk4 under a Python function, which is called with the states of all trajectories at once."""
    m, nq, rates = system.m, system.m.nq, system.function(motion_equations.STAGE_RATES)
    x, rows.tau = rows.x[..., 0, :], np.full((*rows.x.shape[:-1], m.nu), np.nan)
    rows.tau[..., 0, :] = first = law(float(rows.t[0]), x[..., :nq], x[..., nq:])
    for number in range(rows.steps):
        (t,), (h,) = rows.times(number, 1)

        def f(stage: int, x: Floats, t: float = t, h: float = h, first: Floats = first) -> Floats:
            tau = first if stage == 0 or hold else law(t + steps.RK4.stages[stage] * h, x[..., :nq], x[..., nq:])
            return rates(t, x, tau)

        x = project(m, steps.rk4(f, x, h))
        first = law(float(t + h), x[..., :nq], x[..., nq:])
        if (number + 1) % rows.every == 0:
            rows.x[..., rows.done, :], rows.tau[..., rows.done, :] = x, first
            rows.done += 1
        bar.update((number + 1) / rows.steps)
        yield
