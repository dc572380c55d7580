"""dx/dt of one trajectory of a mechanism with loops: f(P(x)), or near rank loss what regular
neighbours on the branch say."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.model.configuration import coordinate_velocities
from eslabon.motion.simulation import equations_of_motion, step_formulas
from eslabon.motion.simulation.applied_system import System
from eslabon.motion.simulation.branch_neighbours import (
    SETTINGS,
    Branch,
    Neighbours,
    project_near_rank_loss,
)
from eslabon.motion.simulation.controller_memory import within
from eslabon.motion.simulation.native_laws import Law, law_at

STICKS = 30.0  # by what the closure error of a passage that was accepted may grow
REFUSALS = 3  # evaluations after which a passage is refused for good

MISSED = 1e-3  # of the characteristic length: a singular configuration that is missed by less is worth a word


class Miss(NamedTuple):
    """A singular configuration that the motion misses: when, within which time, and a configuration
    there that does not close by a misfit."""

    t: float
    within: float
    misfit: float
    q: Floats


class BranchRates:
    """Rates of one trajectory, called as rates(t, x, tau).

    Whether the branch closes is decided once a passage: a mechanism that misses rank loss by about
    the tolerance would else be taken now for the one, now for the other, and no step would be short
    enough.
    """

    def __init__(self, system: System, law: Law | None = None, stages: bool = False) -> None:
        self.system, self._law = system, law
        self._stages = stages
        self._branch, self._limit = Branch(system.m, system.designs), SETTINGS.near
        self._accepted: bool | None = None
        self._refusals = 0
        self._miss: Miss | None = None
        self._entered = False
        self._near: Any = False
        self._during: list[float] = []  # the first and the last time of the present passage
        self._decided: list[tuple[float, float, bool]] = []  # those before, and whether they closed
        self.interpolated: list[tuple[float, float]] = []  # when rates were, and how near
        self.neighbours = 0  # that were asked
        self.misses: list[Miss] = []

    @cached_property
    def _plain(self) -> Callable[..., tuple[Floats, Any]]:
        rates = self.system.loop_rates(self._law, self._stages)
        return getattr(rates, "native", rates)

    @cached_property
    def _pushed(self) -> Callable[..., tuple[Floats, Any]]:
        return self.system.pushed_rates()

    def __call__(self, t: float, x: Floats, tau: Floats) -> Floats:
        made, distance = self._plain(t, x, tau)
        self._near = near = distance < self._limit
        return self.beside(t, x, tau, made, float(distance)) if near else made

    def comes_near(self, distance: Any) -> bool:
        """Whether rates at a `rank_distance`, or several, are near rank loss."""
        self._near = bool(np.any(distance < self._limit))
        return self._near

    @property
    def refuses(self) -> bool:
        """Whether the last rates were near rank loss and not those of a branch: there a projection
        is hardly a small step."""
        return bool(self._near) and not self._accepted

    @property
    def miss(self) -> Miss | None:
        """The singular configuration that is missed where the last rates were."""
        return self._miss if self.refuses else None

    def under_forces(self, t: float, x: Floats, tau: Floats, push: Floats) -> Floats:
        """d(q, v)/dt under given forces of actuators and along all velocities."""
        made, distance = self._pushed(t, x, tau, push)
        found = self._found(t, x) if self.comes_near(distance) else None
        if found is None:
            return made
        m = self.system.m
        q, v = found.centre[: m.nq], found.centre[m.nq :]
        a = found.weights @ self._pushed_accelerations(found, tau, push)
        return np.concatenate([coordinate_velocities(m, q, v), a])

    def step_done(self) -> None:
        """A step is over: where none of its rates was near rank loss, the passage is."""
        if not self._entered:
            if self._miss is not None and not self._accepted:
                self.misses.append(self._miss)
            if self._accepted is not None:
                self._decided.append((self._during[0], self._during[-1], self._accepted))
            self._accepted, self._refusals, self._miss, self._during = None, 0, None, []
        self._entered = False

    def finish(self) -> None:
        """The run is over, and with it a passage."""
        self._entered = False
        self.step_done()

    def project(self, x: Floats, t: Floats | float) -> Floats:
        """States (..., n) on the constraint manifold at times: along the branch where a passage was
        taken for one."""

        def centre(at: tuple[int, ...], when: float) -> Floats | None:
            accepted = self._accepted_at(when)
            if accepted is False:
                return None
            found = self._branch.neighbours(when, x[at])
            return found.centre if found is not None and _closes(found, accepted) else None

        return project_near_rank_loss(self.system.m, x, t, self.system.designs, centre)

    def _accepted_at(self, t: float) -> bool | None:
        """Whether the branch closes in the passage at a time; None if that was not decided."""
        now = [(self._during[0], self._during[-1], self._accepted)] if self._during else []
        return next((yes for begin, end, yes in [*now, *self._decided] if begin <= t <= end), None)

    def beside(self, t: float, x: Floats, tau: Floats, plain: Floats, distance: float) -> Floats:
        """The rates near rank loss, at a `rank_distance`; the plain ones where neighbours say
        nothing."""
        found = self._found(t, x)
        if found is None:
            return plain
        self.interpolated.append((t, distance))
        m, n = self.system.m, self.system.m.nq + self.system.m.nv
        q, v, own = found.centre[: m.nq], found.centre[m.nq :], x[n:]
        if self._law is not None:  # not smooth, perhaps: all neighbours have the same forces
            given, own = law_at(m, self._law, t, q, v, own)
            tau = tau + given
        a = found.weights @ self._accelerations(found, within(tau, self.system.limit), q, v)
        return np.concatenate([coordinate_velocities(m, q, v), a, own])

    def jacobian(self, function: Callable[..., Any], t: float, x: Floats, tau: Floats) -> Floats:
        """The derivative of dx/dt by x where rates were asked last, of which `function` is the
        plain one."""
        n, wanted = self.system.m.nq + self.system.m.nv, self._near and self._accepted is not False
        found = self._branch.neighbours(t, x) if wanted else None
        if found is None or not found.closed:
            return np.asarray(function(t, x, tau))
        own = np.broadcast_to(x[n:], (len(found.t), len(x) - n))
        each = function(found.t, np.concatenate([found.x, own], axis=-1), tau)
        return np.asarray(np.tensordot(found.weights, each, 1))

    def _accelerations(self, found: Neighbours, tau: Floats, q: Floats, v: Floats) -> Floats:
        """Those of all neighbours, under the same forces of actuators and stops."""
        m, system = self.system.m, self.system
        push = np.zeros(m.nv)
        if system.loads.stops:
            push = system.function(equations_of_motion.PUSH)(q, v)
        return self._pushed_accelerations(found, tau, push)

    def _pushed_accelerations(self, found: Neighbours, tau: Floats, push: Floats) -> Floats:
        m, system = self.system.m, self.system
        self.neighbours += len(found.t)
        x = found.x
        made: Floats = system.function(equations_of_motion.BRANCH_ACCELERATIONS)(
            found.t, x[:, : m.nq], x[:, m.nq :], tau, push
        )
        return made

    def _found(self, t: float, x: Floats) -> Neighbours | None:
        """The neighbours, if the branch goes through the state among them."""
        self._entered = True
        self._during = [min([t, *self._during]), max([t, *self._during])]
        if self._accepted is False or not np.isfinite(x).all():
            return None
        found = self._branch.neighbours(t, x)
        if found is None:
            return None
        if _closes(found, self._accepted):
            self._accepted = True
            return found
        self._refusals += 1
        if self._accepted is None and self._refusals >= REFUSALS:
            self._accepted = False
        if found.misfit < (MISSED if self._miss is None else self._miss.misfit):
            nq = self.system.m.nq
            pace = max(float(np.abs(x[nq : nq + self.system.m.nv]).max()), 1e-300)
            self._miss = Miss(t, SETTINGS.reach / pace, found.misfit, found.centre[:nq])
        return None

    def rk4_step(self, t: float, h: float, x: Floats, forces: Callable[[int], Floats]) -> Floats:
        """A step of `rk4` with these rates, projected along the branch."""
        stages = step_formulas.RK4.stages
        made: Floats = step_formulas.rk4(
            lambda stage, x: self(t + stages[stage] * h, x, forces(stage)), x, h
        )
        return self.project(made, t + h)


def _closes(found: Neighbours, accepted: bool | None) -> bool:
    """Whether the branch goes on through the centre; more is let pass where it did before in the
    same passage."""
    return found.misfit < (STICKS if accepted else 1.0) * SETTINGS.closes
