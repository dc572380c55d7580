"""Fixed steps of mechanisms with loops that come near rank loss: taken anew, trajectory by
trajectory, with `BranchRates`.

Native code takes all steps and says how near each came. Whether a step is taken anew is decided by
itself, so that neither the other trajectories of a batch nor where a run is cut into chunks changes
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.formula import Formula
from eslabon.motion.simulation import step_formulas
from eslabon.motion.simulation.actuation import Control
from eslabon.motion.simulation.applied_system import System
from eslabon.motion.simulation.branch_neighbours import SETTINGS
from eslabon.motion.simulation.branch_rates import BranchRates
from eslabon.motion.simulation.controller_memory import Memory
from eslabon.motion.simulation.native_laws import Law
from eslabon.motion.simulation.sampled_laws import Sampler

AHEAD = 64  # steps that are tried at most before it is known how near they come


class NearSteps:
    """The rates of those trajectories that came near rank loss, by their place in the batch."""

    def __init__(self, system: System, batch: tuple[int, ...], control: Control) -> None:
        self._system, self._batch, self._control = system, batch, control
        self.branches: dict[tuple[int, ...], BranchRates] = {}
        self._last: dict[tuple[int, ...], int] = {}

    def branch(self, at: tuple[int, ...]) -> BranchRates:
        """The rates of a trajectory."""
        if at not in self.branches:
            law = self._control if isinstance(self._control, Law) else None
            law = law and law.pick(self._batch, at)
            system = self._system.pick(self._batch, at)
            self.branches[at] = BranchRates(system, law, stages=True)
        return self.branches[at]

    def repair(
        self, formula: Formula, options: Mapping[str, Any], first: int, start: Floats, rows: Floats,
        made: tuple[Floats, ...], every: int,
    ) -> None:  # fmt: skip
        """Take the steps near rank loss anew in what native code made from `start` on, a row for
        `every` steps with varying `rows`; `first` is the number of the first step."""
        for at in map(tuple, np.argwhere(made[1][..., -1] < SETTINGS.near)):
            own = np.broadcast_to(rows, (*self._batch, *rows.shape[-2:]))[at]
            k = int(np.argmax(made[1][at] < SETTINGS.near))
            x = made[0][at][k - 1] if k else start[at]
            law = options["law"] and options["law"].pick(self._batch, at)
            run = self.branch(at).system.function(formula, **{**options, "law": law})
            place, block = k * every, 1
            while place < len(own):
                found, nearest = run(x, np.ones(()), own[place : place + block], every=1)
                good = int(np.sum(nearest >= SETTINGS.near))
                for state in found[:good]:
                    place, x = place + 1, state
                    if place % every == 0:
                        made[0][at][place // every - 1] = x
                block = min(2 * block, AHEAD)
                if good < len(nearest):
                    x = self._step(at, first + place, run, x, own[place])
                    place, block = place + 1, 1
                    if place % every == 0:
                        made[0][at][place // every - 1] = x

    def repair_called(self, t: float, h: float, x: Floats, made: Floats, distance: Floats) -> None:
        """Take steps under a held force anew where the step that made the next states and memories
        came near rank loss."""
        n, nu = self._system.m.nq + self._system.m.nv, self._system.m.nu
        for at in map(tuple, np.argwhere(np.asarray(distance) < SETTINGS.near)):
            made[at][:n] = self.branch(at).rk4_step(t, h, x[at][:n], _held(made[at][n:], nu))
        self.step_done()

    def step_done(self) -> None:
        """A step of all trajectories is over."""
        for branch in self.branches.values():
            branch.step_done()

    def rates(self, t: float, x: Floats, tau: Floats, made: Floats, distance: Floats) -> Floats:
        """The rates of a stage under the forces of a Python function."""
        distance = np.asarray(distance)
        near = distance < SETTINGS.near
        for at in map(tuple, np.argwhere(near)) if near.any() else ():
            own = np.broadcast_to(tau, (*self._batch, self._system.m.nu))[at]
            made[at] = self.branch(at).beside(t, x[at], own, made[at], float(distance[at]))
        return made

    def _step(self, at: tuple[int, ...], number: int, run: Any, x: Floats, u: Floats) -> Floats:
        """One step of one trajectory: its state, and behind it what a law remembers."""
        branch, m = self.branch(at), self._system.m
        branch.step_done()
        if self._last.get(at) != number - 1:
            branch.step_done()  # for the steps between, which came near nothing
        self._last[at] = number
        n, nu = m.nq + m.nv, m.nu
        t, h = float(u[step_formulas.TIME]), float(u[step_formulas.LENGTH])
        if not isinstance(self._control, Sampler):
            forces = u[step_formulas.FORCES :].reshape(-1, nu) if nu else np.zeros((0, 0))
            given = [
                forces[min(k, len(forces) - 1)] if len(forces) else np.zeros(nu) for k in range(3)
            ]
            return branch.rk4_step(t, h, x, lambda stage: given[stage])
        after = branch.rk4_step(t, h, x[:n], _held(x[n:], nu))
        ended = u.copy()
        ended[step_formulas.TIME], ended[step_formulas.LENGTH] = t + h, 0.0
        asked = run(np.concatenate([after, x[n:]]), np.ones(()), ended[None], every=1)[0][0]
        return np.concatenate([after, asked[n:]])


def _held(memory: Floats, nu: int) -> Callable[[int], Floats]:
    """The force that acts, at every stage."""
    acting: Floats = Memory.of(memory, nu).acting
    return lambda stage: acting
