"""Runs with a fixed step: the loop over steps in machine code, or in Python where a Python function
drives.

Either fills rows of states little by little, so that a run can be stopped between, and nothing is
lost. A row is x = (q, v) and, behind it, the states of a law, or what a law that is sampled or
written in Python remembers (`sampling.Memory`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import EslabonError
from eslabon.motion.simulation import equations_of_motion, step_formulas
from eslabon.motion.simulation.actuation import Control, Table
from eslabon.motion.simulation.applied_system import System
from eslabon.motion.simulation.branch_rates import BranchRates
from eslabon.motion.simulation.controller_memory import Memory, within
from eslabon.motion.simulation.native_laws import Law
from eslabon.motion.simulation.near_steps import NearSteps
from eslabon.motion.simulation.python_laws import Called, asked, fitted
from eslabon.motion.simulation.run_outcome import Outcome
from eslabon.motion.simulation.sampled_laws import Sampler
from eslabon.motion.simulation.singular_passages import Passages
from eslabon.numerics.scalars import concatenate

CHUNK = 0.1  # seconds between two looks at the clock and the keyboard
BLOCK, NUMBERS = (
    512,
    2**20,
)  # steps in Python between two looks, and numbers that their rows hold at most

Advance = Callable[[float, bool, Floats, Floats, Floats, Floats, Floats], None]


@dataclass
class Run:
    """Trajectories from rows x0, (..., width), with rows at the times `t`, `every` steps apart; the
    first `done` are there."""

    system: System
    method: step_formulas.Method
    control: Control
    hold: bool  # a table, from step to step
    x0: Floats
    t: Floats
    every: int
    passages: Passages
    update: Callable[[float], None]  # told how much of the run is done
    threads: int | None = None

    def __post_init__(self) -> None:
        m = self.system.m
        self.n, self.rows = (
            m.nq + m.nv,
            np.full((*self.x0.shape[:-1], len(self.t), self.x0.shape[-1]), np.nan),
        )
        self.rows[..., 0, : self.n] = self.x0[..., : self.n]
        self.done, self.steps = 1, (len(self.t) - 1) * self.every
        self.worst = 0.0  # the largest miss of implicit equations
        self.near = NearSteps(self.system, self.x0.shape[:-1], self.control)

    @property
    def branches(self) -> dict[tuple[int, ...], BranchRates]:
        """The rates near rank loss of the trajectories that came there."""
        return self.near.branches

    def integrate(self) -> None:
        """Until the last time, or until no trajectory has finite numbers."""
        for taken in self._taken():
            self.update(taken / self.steps)
            if not np.isfinite(self.rows[..., self.done - 1, : self.n]).all(axis=-1).any():
                break
        self.passages.finish()

    def _taken(self) -> Iterator[int]:
        """How many steps are taken, again and again."""
        law = self.control
        if isinstance(law, Called):
            return self._in_python(
                self._by_stages(law), lambda t, x: self._spoken(law(t, *self._state(x)))
            )
        if isinstance(law, Sampler) and isinstance(law.law, Called):
            return self._in_python(
                self._by_samples(law, law.law), lambda t, x: self._sampled(law, t, x)
            )
        return self._in_machine_code()

    @property
    def reached(self) -> float:
        return float(self.t[self.done - 1])

    def outcome(self) -> Outcome:
        """What there is so far."""
        steps, rows = (self.done - 1) * self.every, self.rows[..., : self.done, :]
        neighbours = max((b.neighbours for b in self.branches.values()), default=0)
        evaluations = steps * self.method.evaluations + neighbours
        made = Outcome(self.t[: self.done], rows[..., : self.n], steps, evaluations)
        if isinstance(self.control, Called | Sampler):
            return made.remembering(Memory.of(rows[..., self.n :], self.system.m.nu))
        return made._replace(state=rows[..., self.n :])

    def _times(self, first: int, count: int) -> tuple[Floats, Floats]:
        """When some steps begin, and how long they are; steps are counted from the start of the
        run."""
        row, part = np.divmod(np.arange(first, first + count), self.every)
        length = (self.t[row + 1] - self.t[row]) / self.every
        return self.t[row] + part * length, length

    # -- in machine code ----------------------------------------------------------------------------------------

    def _in_machine_code(self) -> Iterator[int]:
        """Fill the rows; between two looks at the keyboard everything runs without Python."""
        columns, control = self.method.columns(self.control, self.hold), self.control
        law = (
            control.law
            if isinstance(control, Sampler)
            else control
            if isinstance(control, Law)
            else None
        )
        sampling = control.sampling if isinstance(control, Sampler) else None
        formula = self.method.formula_of(self.system.m)
        loops = formula is not self.method.formula
        options: dict[str, Any] = {"law": law, "sampling": sampling, "columns": len(columns)}
        run = self.system.function(formula, **options)
        states, position, pace = self._states(run), 0, 16
        while position < self.steps:
            start = time.perf_counter()
            count, every = self._portion(position, pace, states[0])
            t, h = self._times(position, count)
            rows = _varying(self.control, columns, t, h)
            made: Any = run(*states, rows, every=every, threads=self.threads)
            made = made if isinstance(made, tuple) else (made,)
            if loops:
                self.near.repair(formula, options, position, states[0], rows, made, every)
            if self.passages.wanted:
                x = np.concatenate([states[0][..., None, :], made[0]], axis=-2)
                self.passages.look(np.append(t[::every], t[-1] + h[-1]), x, self.threads)
            states = [made[0][..., -1, :], *(x[..., -1] for x in made[1:])]
            if loops:
                states[1] = np.ones(self.x0.shape[:-1])
            self._store(
                np.arange(position + every, position + count + 1, every) % self.every == 0, made
            )
            position += count
            # As many steps as fill a chunk, but not all at once: the first ones may have been slow.
            pace = int(np.clip(count * CHUNK / (time.perf_counter() - start), 1, 8 * pace))
            yield position

    def _portion(self, first: int, pace: int, x: Floats) -> tuple[int, int]:
        """About as many steps as the pace says, and how many to a row of what is made: a part of a
        row to report where loops may pass singularities; else whole rows, or a part of one as one
        row."""
        inside, every = first % self.every, self.every
        if self.passages.wanted:
            stride = self.passages.stride(x, np.diff(self.t).max() / every)
            every = max(
                k for k in range(1, min(stride, every) + 1) if every % k == 0 and inside % k == 0
            )
        elif inside or pace < every:
            count = min(pace, every - inside)
            return count, count
        return min(max(every, pace - pace % every), self.steps - first), every

    def _states(self, run: Callable[..., Any]) -> list[Floats]:
        """The states of the method's formula: x, or coordinates with momenta and the largest miss
        so far. What a sampled law says at the start is what a step without length says."""
        states = [self.x0]
        if self.method is step_formulas.RK4:
            states += [np.ones(self.x0.shape[:-1])] * self.system.m.closed
        else:
            q, v = self._state(self.x0)
            momenta = self.system.function(equations_of_motion.MOMENTA)(q, v)
            states = [
                np.concatenate([q, momenta, self.x0[..., self.n :]], axis=-1),
                np.zeros(q.shape[:-1]),
            ]
        x = self.x0
        if isinstance(self.control, Sampler):
            start = self.t[:1]
            made: Any = run(
                *states, _beside(start, np.zeros(1), self.control.first(start)), every=1
            )
            memory = (made[0] if isinstance(made, tuple) else made)[..., 0, self.n :]
            x = np.concatenate([x[..., : self.n], memory], axis=-1)
            states[0] = np.concatenate([states[0][..., : self.n], memory], axis=-1)
        self.rows[..., 0, :] = x
        return states

    def _store(self, reported: Floats, made: tuple[Floats, ...]) -> None:
        """Keep the rows to report, as states x = (q, v)."""
        kept, nq = made[0][..., reported, :], self.system.m.nq
        place = self.rows[..., self.done : self.done + kept.shape[-2], :]
        place[...] = kept
        if self.method is step_formulas.SYMPLECTIC:
            loads = self.system.loads.along()
            velocities = loads.function(self.system.m, equations_of_motion.VELOCITIES)
            place[..., nq : self.n] = velocities(*self._state(kept))
            self.worst = float(np.nanmax(made[1], initial=self.worst))
        self.done += kept.shape[-2]

    # -- in Python ----------------------------------------------------------------------------------------------

    def _in_python(
        self, advance: Advance, last: Callable[[float, Floats], Floats]
    ) -> Iterator[int]:
        """Fill the rows by rk4 under a Python function, which is called with the states of all
        trajectories at once.

        What acted from a state on stands in the row after it; what acts at the last time comes from
        `last`.
        """
        shape, nq, n = self.x0.shape, self.system.m.nq, self.n
        block = int(np.clip(NUMBERS // math.prod(shape), 1, BLOCK))
        x = self.x0
        for first in range(0, self.steps, block):
            count = min(block, self.steps - first)
            t, h = self._times(first, count)
            due = (
                self.control.rows(t, h)
                if isinstance(self.control, Sampler)
                else np.ones((count, 2))
            )
            varying = np.moveaxis(_beside(t, h, due), -2, 0)
            rows = np.empty((count + 1, *shape))
            rows[0] = x
            sample: list[bool] = (np.moveaxis(due, -2, 0).reshape(count, -1)[:, 0] > 0).tolist()
            steps = t.tolist(), sample, varying
            each = zip(*steps, rows, rows[..., :nq], rows[..., nq:n], rows[1:], strict=False)
            taken = 0
            try:
                for step in each:
                    advance(*step)
                    taken += 1
            finally:
                self._keep(first, rows[: taken + 1])
            x = rows[-1]
            self._look(np.append(t, t[-1] + h[-1]), rows)
            if first + count == self.steps:
                self.rows[..., -1, :n], self.rows[..., -1, n:] = (
                    x[..., :n],
                    last(float(self.t[-1]), x),
                )
                self.done = len(self.t)
            yield first + count

    def _keep(self, first: int, rows: Floats) -> None:
        """Keep the rows to report of some steps that were taken."""
        reported = np.flatnonzero((first + np.arange(len(rows) - 1)) % self.every == 0)
        if len(reported):
            place = slice(
                (first + reported[0]) // self.every, (first + reported[-1]) // self.every + 1
            )
            self.rows[..., place, : self.n] = np.moveaxis(rows[reported][..., : self.n], 0, -2)
            self.rows[..., place, self.n :] = np.moveaxis(rows[reported + 1][..., self.n :], 0, -2)
            self.done = place.stop

    def _look(self, t: Floats, rows: Floats) -> None:
        """Look for singular configurations that some steps passed."""
        if self.passages.wanted:
            stride = self.passages.stride(rows, float(np.diff(t).max()))
            places = np.unique(np.append(np.arange(0, len(rows), stride), len(rows) - 1))
            self.passages.look(t[places], np.moveaxis(rows[places], 0, -2), self.threads)

    def _by_samples(self, sampler: Sampler, law: Called) -> Advance:
        """A native step under forces that are held; the law is asked where it is due."""
        m, width = self.system.m, self.n + 3 * self.system.m.nu
        formula = step_formulas.LOOP_CALLED if m.closed else step_formulas.CALLED
        step = self.system.function(formula, sampling=sampler.sampling)
        plain = not law.size and not sampler.sampling.increments and sampler.noise is None
        function, state, tau = law.law, self.x0[..., width:], np.zeros(m.nu)

        def advance(
            t: float, due: bool, u: Floats, x: Floats, q: Floats, v: Floats, following: Floats
        ) -> None:
            nonlocal state, tau
            if due and plain:
                tau = asked(function, "the control", t, q, v)
            elif due:
                seen = sampler.sampling.measured(m, q, v, u[..., step_formulas.NOISE :])
                tau, state = law.spoken(t, *seen, state)
            try:
                if m.closed:
                    made, distance = step(x[..., :width], u, tau)
                    self.near.repair_called(t, float(u[..., 1].flat[0]), x, made, distance)
                    following[..., :width] = made
                elif plain:
                    step(x, u, tau, out=following)
                else:
                    step(x[..., :width], u, tau, out=following[..., :width])
                if not plain:
                    following[..., width:] = state
            except (EslabonError, ValueError, TypeError):
                fitted(tau, "the control", (m.nu,), q)
                raise

        return advance

    def _sampled(self, sampler: Sampler, t: float, x: Floats) -> Floats:
        """What a sampled law remembers after the last time."""
        due = sampler.due(np.array([t]), np.diff(self.t)[-1:] / self.every)
        memory = Memory.of(x[..., self.n :], self.system.m.nu)
        flags = bool(due[0][0]), bool(due[1][0])
        return sampler.at(self.system.m, t, x, memory, flags, self.system.limit).joined()

    def _by_stages(self, law: Called) -> Advance:
        """A step whose every stage asks the law."""
        m, n, stages = self.system.m, self.n, step_formulas.RK4.stages
        loops, of, near = m.closed, equations_of_motion, self.near
        rates = self.system.function(of.LOOP_STAGE_RATES if loops else of.STAGE_RATES)
        function = law.law
        projects = m.closed or m.nq != m.nv

        def advance(
            t: float, due: bool, u: Floats, x: Floats, q: Floats, v: Floats, following: Floats
        ) -> None:
            h = u[step_formulas.LENGTH]

            def f(stage: int, x: Floats) -> Floats:
                now, q = float(t + stages[stage] * h), x[..., : m.nq]
                tau = asked(function, "the control", now, q, x[..., m.nq :])
                try:
                    found: Any = rates(now, x, tau)
                    made: Floats = near.rates(now, x, tau, *found) if loops else found
                except (EslabonError, ValueError, TypeError):
                    fitted(tau, "the control", (m.nu,), q)
                    raise
                if stage == 0:
                    following[..., n:] = self._spoken(fitted(tau, "the control", (m.nu,), q))
                return made

            made = step_formulas.rk4(f, x[..., :n], h)
            following[..., :n] = self.system.projected(made, t + h) if projects else made
            self.near.step_done()

        return advance

    def _spoken(self, tau: Floats) -> Floats:
        """What a law said as what is remembered."""
        tau = np.broadcast_to(tau, (*self.x0.shape[:-1], self.system.m.nu))
        acting = within(tau, self.system.limit)
        return Memory(acting, acting, tau, tau[..., :0]).joined()

    def _state(self, x: Floats) -> tuple[Floats, Floats]:
        nq = self.system.m.nq
        return x[..., :nq], x[..., nq : self.n]


def _varying(control: Control, stages: tuple[float, ...], t: Floats, h: Floats) -> Floats:
    """A row for each step: its time, its length, and forces known in time at the method's stages,
    or what is due at its end."""
    if isinstance(control, Sampler):
        return _beside(t, h, control.rows(t + h, h))
    return _beside(
        t, h, *(control.at(t + part * h) for part in stages if isinstance(control, Table))
    )


def _beside(t: Floats, h: Floats, *columns: Floats) -> Floats:
    """Times and lengths of steps, and beside them what else there is for each, (..., steps,
    width)."""
    return concatenate(np.stack([t, h], axis=-1), *columns)
