"""A simulation that runs as time goes by, in short runs of fixed steps: let go, pushed, pulled, held by its actuators."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import InputError
from eslabon.model.configuration import limits
from eslabon.motion.loads import Loads
from eslabon.motion.simulation.applied_system import System
from eslabon.motion.simulation.joint_stops import stops_of
from eslabon.motion.simulation.simulation_errors import SimulationError
from eslabon.motion.simulation.step_formulas import RK4
from eslabon.solve.constraints.massless_motions import refuse_massless
from eslabon.solve.problem import Problem

if TYPE_CHECKING:
    from eslabon.mechanism import Mechanism

STEP = 1e-3  # s
SHORTEST = 4e-6  # s, where springs are stiff
COARSE = 1e-4  # of a state: what steps may differ from those of half their length
PERIOD = 4e-3  # s, from one look of the servos to the next
SERVO = 2 * np.pi * 1.5  # rad/s, of the critically damped servos: soft enough for a push to be seen


class Pull(NamedTuple):
    """A damped spring from a point of a body, in its own axes, to a place on the ground: N/m and N s/m."""

    body: str
    point: Floats
    to: Floats
    stiffness: float
    damping: float


@dataclass
class LiveSimulation:
    """A mechanism in motion: at the time `t` it has the state (q, v).

    `stops` makes joints bounce off their limits. With `servos` the actuators pull their joints to where they were when the run
    began, or to what `targets` say, by computed torque; without them they are free. `push` sets forces.

    >>> import eslabon as es
    >>> m = es.load("double_pendulum")
    >>> run = LiveSimulation(m, m.home() + 0.5)
    >>> before = run.energy.sum()
    >>> run.advance(0.5)
    >>> round(run.t, 3), bool(abs(run.energy.sum() - before) < 1e-6)
    (0.5, True)
    """

    m: Mechanism
    q: Floats
    v: Floats = None  # type: ignore[assignment]
    t: float = 0.0
    stops: bool = False
    servos: bool = False
    targets: Floats = field(init=False)
    wrenches: dict[str, Floats] = field(init=False)
    pull: Pull | None = None

    def __post_init__(self) -> None:
        self.q = np.array(self.q)
        self.v = np.zeros(self.m.nv) if self.v is None else np.array(self.v)
        self.targets = Problem(held=self.m.actuated).values(self.m, self.q)
        self.step = STEP
        self._springs = bool(self.m.springs) or any(j.stiffness or j.viscous for j in self.m.joints)
        self.stops = self.stops and bool(np.isfinite(limits(self.m)).any())
        if not self.m.nv:
            raise InputError(
                f"{self.m.name} has no joint that moves: there is nothing to simulate."
            )
        refuse_massless(self.m)
        self._system = System(self.m, Loads(stops=stops_of(self.m, self.stops, STEP)))
        self.let_be()

    def let_be(self) -> None:
        """No more force from outside. Every body has a place for one, so that a push needs no other code."""
        self.wrenches, self.pull = {body.name: np.zeros(6) for body in self.m.bodies}, None

    def push(self, body: str, force: Floats, point: Floats | None = None) -> None:
        """A force on a body, in the ground's axes, at a point of the body in its own axes (its centre of mass if left out); it
        turns with the ground, not with the body."""
        turn = np.asarray(self.m.pose(self.q, body))[:3, :3]
        at = np.array(self.m.body(body).com, dtype=float) if point is None else np.asarray(point)
        own = turn.T @ np.asarray(force, dtype=float)
        self.wrenches[body] = np.concatenate([np.cross(at, own), own])

    @property
    def energy(self) -> Floats:
        """Kinetic and potential energy."""
        return np.asarray(self.m.energy(self.q, self.v))

    @property
    def tau(self) -> Floats:
        """The actuators' forces now."""
        if not self.servos or not self.m.nu:
            return np.zeros(self.m.nu)
        wanted, moving = np.zeros(self.m.nv), list(self.m.actuated_velocities)
        given = Problem(held=self.m.actuated)
        gap = given.displacement(self.m, self.targets, given.values(self.m, self.q))
        wanted[moving] = SERVO**2 * gap - 2 * SERVO * self.v[moving]
        return np.asarray(self.m.hybrid_dynamics(self.q, self.v, wanted)[0])

    def advance(self, seconds: float) -> None:
        """Go on for some time, by whole steps."""
        steps = max(1, round(seconds / STEP))
        while steps > 0:
            count = min(
                steps,
                1 if self.pull is not None else round(PERIOD / STEP) if self.servos else steps,
            )
            self._pull()
            self._run(self.tau, count * STEP)
            steps -= count

    def _pull(self) -> None:
        """The force of the spring that pulls, as it is now."""
        if self.pull is None:
            return
        body, point, to, stiffness, damping = self.pull
        pose, twist = (
            self.m.pose(self.q, body),
            self.m.velocity(self.q, self.v, body, axes="aligned"),
        )
        arm = pose[:3, :3] @ point
        speed = twist[3:] + np.cross(twist[:3], arm)
        self.push(body, stiffness * (to - pose[:3, 3] - arm) - damping * speed, point)

    def _run(self, tau: Floats, seconds: float) -> None:
        """Native steps of RK4 under constant forces; where springs are stiff, short enough for steps of half their length to lead
        to the same state. That is looked at in every run, since how stiff they are depends on where the mechanism stands."""
        x = np.concatenate([self.q, self.v])
        made = self._steps(x, tau, seconds, self.step)
        while self.step > SHORTEST and not self._resolved(made, x, tau, seconds):
            self.step /= 4
            made = self._steps(x, tau, seconds, self.step)
        if not np.isfinite(made).all():
            raise SimulationError(
                f"{self.m.name} broke down after t = {self.t:.3g} s: its numbers are no longer finite. Reset it and try again "
                "with less force, or away from singular configurations."
            )
        self.q, self.v, self.t = made[: self.m.nq], made[self.m.nq :], self.t + seconds

    def _resolved(self, made: Floats, x: Floats, tau: Floats, seconds: float) -> bool:
        """Whether the steps that led to a state were short enough."""
        if not np.isfinite(made).all() or not self._springs:
            return bool(np.isfinite(made).all())
        finer = self._steps(x, tau, seconds, self.step / 2)
        return bool(np.abs(made - finer).max() < COARSE * (1 + np.abs(finer).max()))

    def _steps(self, x: Floats, tau: Floats, seconds: float, step: float) -> Floats:
        count = max(1, round(seconds / step))
        length = seconds / count
        times = self.t + length * np.arange(count)
        rows = np.column_stack(
            [times, np.full(count, length), np.broadcast_to(tau, (count, self.m.nu))]
        )
        loads = replace(self._system.loads, external=self.wrenches)
        native = replace(self._system, loads=loads).function(
            RK4.formula, law=None, sampling=None, columns=int(self.m.nu > 0)
        )
        return np.asarray(native(x, rows, every=count))[-1]
