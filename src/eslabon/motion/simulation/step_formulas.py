"""One step of the fixed-step methods, as formulas that native code loops over.

What varies from step to step is a row u: the time and the length of the step, then forces known in
time, in as many columns as the method has stages, or for a sampled law whether it is asked, whether
what it asked before begins to act, and noise. `rk4` serves numbers as well, where a Python function
drives the mechanism at every stage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eslabon.compiler.calls import subroutine
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import TAU, WRENCH
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, normalize
from eslabon.motion.simulation import equations_of_motion
from eslabon.motion.simulation.actuation import Control, Table
from eslabon.motion.simulation.constraint_projection import DISTANCE, projection
from eslabon.motion.simulation.controller_memory import Memory, Sampling, within
from eslabon.motion.simulation.equations_of_motion import ACTING, FORMULATION, X
from eslabon.motion.simulation.native_laws import Law
from eslabon.numerics.scalars import casadi

State = Any  # numbers (..., n), or a column of symbols

SWEEPS = 6  # of `midpoint`; each one divides the error by about 4 / (step x fastest frequency)^2
TIME, LENGTH, FORCES = 0, 1, 2  # places in what varies from step to step; the forces come last,
SAMPLE, RELEASE, NOISE = 2, 3, 4  # or, with a sampled law, these, and noise from there on

Limit = tuple[float, ...]  # of the actuators' forces; () is none


@dataclass(frozen=True)
class Method:
    """A fixed-step method: at which parts of a step it wants the actuators' forces, how often it
    evaluates, its formula, and that of mechanisms with loops, which also says how near a step came
    to rank loss."""

    name: str
    stages: tuple[float, ...]
    evaluations: int
    formula: Formula
    loop_formula: Formula | None = None

    def formula_of(self, m: Model) -> Formula:
        """The formula that suits a mechanism."""
        return self.loop_formula if m.closed and self.loop_formula is not None else self.formula

    def columns(self, control: Control, hold: bool) -> tuple[float, ...]:
        """The parts of a step at which forces known in time are handed to it.

        A table that holds is asked once, in the middle of the step, where round-off cannot mistake
        the sample.
        """
        if not isinstance(control, Table):
            return ()
        if control.holds:
            return (0.5,)
        return (0.0,) if hold else self.stages


# Methods
# -------------------------------------------------------------------------------------------------------------


def rk4(f: Callable[[int, State], State], x: State, h: Any) -> State:
    """The classical method of Runge and Kutta, of order 4. `f(stage, x)` is the rate of the state.

    >>> import math
    >>> round(rk4(lambda stage, x: x, 1.0, 0.1) - math.exp(0.1), 9)
    -8.5e-08
    """
    k1 = f(0, x)
    k2 = f(1, x + h / 2 * k1)
    k3 = f(1, x + h / 2 * k2)
    k4 = f(2, x + h * k3)
    return x + h / 6 * (k1 + 2 * (k2 + k3) + k4)


def midpoint(
    velocity: Callable[[State, State], State],
    rates: Callable[[State, State], State],
    force: Callable[[State, State], State],
    q: State,
    p: State,
    h: Any,
) -> tuple[State, State, State]:
    """The implicit midpoint rule in coordinates and momenta, of order 2; and how much its last
    sweep changed v.

    With a mass matrix that depends on q no explicit method in these variables is symplectic. This
    one is (for joints whose velocities are rates of coordinates), it is its own mirror image in
    time, and it keeps every quadratic invariant: the length of quaternions, energy and angular
    momentum of a free body. The energy of a conservative mechanism swings by O(h^2) about its value
    and does not drift.

    Hairer, Lubich and Wanner, Geometric Numerical Integration, IV.2 and VI.4. The equations for the
    middle are solved by sweeps, q before p.
    """
    middle_q, middle_p, before = q, p, 0
    for _ in range(SWEEPS):
        v = velocity(middle_q, middle_p)
        middle_q = q + h / 2 * rates(middle_q, v)
        middle_p = p + h / 2 * force(middle_q, v)
        change, before = v - before, v
    return 2 * middle_q - q, 2 * middle_p - p, change


# Formulas
# ------------------------------------------------------------------------------------------------------------


def rk4_step(
    m: Model, x: Any, u: Any, law: Law | None = None, sampling: Sampling | None = None, columns: int = 0,
    limit: Limit = (), **options: Any,
) -> list[Any]:  # fmt: skip
    """A step of `rk4`, projected onto the constraint manifold, and the least `rank_distance` on the
    way; a sampled law is asked at its end."""
    if sampling is None:
        found, distance = _rk4(
            m, x, u, lambda stage: _given(m, u, columns, stage), law=law, limit=limit, **options
        )
        return [casadi.densify(found), distance]
    n = m.nq + m.nv
    memory = Memory.of(x[n:, :], m.nu)
    x, distance = _rk4(m, x[:n], u, lambda _: memory.acting, **options)
    memory = _asked(m, memory, law, u, sampling, x[: m.nq], x[m.nq :], limit)
    return [casadi.densify(casadi.vertcat(x, memory.joined())), distance]


def loop_rk4_step(m: Model, x: Any, nearest: Any, u: Any, **options: Any) -> list[Any]:
    """The same for a mechanism with loops: how near the steps so far came to rank loss is a part of
    the state."""
    found, distance = rk4_step(m, x, u, **options)
    return [found, casadi.fmin(nearest, distance)]


def called_step(
    m: Model, x: Any, u: Any, tau: Any, sampling: Sampling, limit: Limit = (), **options: Any
) -> list[Any]:
    """A step of `rk4` under the forces of a Python function, which was asked, if it was, where the
    step begins; and the least `rank_distance` on the way."""
    n = m.nq + m.nv
    memory = Memory.of(x[n:, :], m.nu)
    disturbance = sampling.disturbance(u[NOISE:, :])
    memory = memory.updated(
        u[SAMPLE], u[RELEASE], lambda state: (tau, state), sampling, limit, disturbance
    )
    found, distance = _rk4(m, x[:n], u, lambda _: memory.acting, **options)
    return [casadi.densify(casadi.vertcat(found, memory.joined())), distance]


def _rk4(m: Model, x: Any, u: Any, forces: Callable[[int], Any], **options: Any) -> list[Any]:
    f = subroutine(
        "rates",
        lambda t, x, tau: equations_of_motion.rates(m, t, x, tau, **options),
        1,
        x.numel(),
        m.nu,
    )
    distances = []

    def rates(stage: int, x: Any) -> Any:
        made, distance = f(u[TIME] + RK4.stages[stage] * u[LENGTH], x, forces(stage))
        distances.append(distance)
        return made

    after = m.with_time(u[TIME] + u[LENGTH])
    found, distance = projection(after, rk4(rates, x, u[LENGTH]))
    return [found, casadi.mmin(casadi.vertcat(distance, *distances))]


def _asked(
    m: Model, memory: Memory, law: Any, u: Any, sampling: Sampling, q: Any, v: Any, limit: Limit
) -> Memory:
    """The memory after a sampled law was asked, if it is due, at the state (q, v) at the end of a
    step."""
    t, noise = u[TIME] + u[LENGTH], u[NOISE:, :]
    seen = sampling.measured(m, q, v, noise)
    disturbance = sampling.disturbance(noise)
    return memory.updated(
        u[SAMPLE], u[RELEASE], lambda x: law(t, *seen, x), sampling, limit, disturbance
    )


def midpoint_step(
    m: Model, y: Any, worst: Any, u: Any, law: Law | None = None, sampling: Sampling | None = None, columns: int = 0,
    limit: Limit = (), stops: Any = (), external: Any = None,
) -> list[Any]:  # fmt: skip
    """A step of `midpoint` for y = (q, p), and the largest miss of the implicit equations so far,
    in units of q."""
    velocity = subroutine(
        "velocities", lambda q, p: equations_of_motion.momentum_velocities(m, q, p), m.nq, m.nv
    )
    momentum = subroutine(
        "momentum_rates",
        lambda q, v, tau: equations_of_motion.momentum_rates(m, q, v, tau, external, stops),
        m.nq,
        m.nv,
        m.nu,
    )
    n, t, h = m.nq + m.nv, u[TIME], u[LENGTH]
    q, p, memory = y[: m.nq], y[m.nq : n], None if sampling is None else Memory.of(y[n:, :], m.nu)

    def force(q: Any, v: Any) -> Any:
        if memory is not None:
            return momentum(q, v, memory.acting)
        tau = _given(m, u, columns, 0) if law is None else law(t + h / 2, q, v, casadi.SX(0, 1))[0]
        return momentum(q, v, within(tau, limit))

    def rates(q: Any, v: Any) -> Any:
        return casadi.mtimes(coordinate_rates(m, q), v)

    q, p, change = midpoint(velocity, rates, force, q, p, h)
    q = normalize(m, q)
    following = casadi.vertcat(q, p)
    if memory is not None and sampling is not None:
        memory = _asked(m, memory, law, u, sampling, q, velocity(q, p), limit)
        following = casadi.vertcat(following, memory.joined())
    return [casadi.densify(following), casadi.fmax(worst, h * casadi.norm_inf(change))]


def _given(m: Model, u: Any, columns: int, stage: int) -> Any:
    """The forces known in time at a stage."""
    first = FORCES + min(stage, columns - 1) * m.nu
    return u[first : first + m.nu] if columns else casadi.SX.zeros(m.nu)


def _row(m: Model, columns: int = 0, sampling: Any = None, **_: Any) -> tuple[int]:
    return (FORCES + columns * m.nu if sampling is None else NOISE + sampling.noise.total,)


_OPTIONS = {**ACTING, "sampling": None, "columns": 0}
_CALLED = {"sampling": None, "limit": (), **FORMULATION}
_U, _WORST, _NEAREST = Argument("u", _row), Argument("worst", ()), Argument("nearest", ())
RK4 = Method(
    "rk4", (0.0, 0.5, 1.0), 4,
    Formula("rk4", rk4_step, (X, _U), (X,), {**_OPTIONS, **FORMULATION}, WRENCH, states=1, varying=1),
    Formula("loop_rk4", loop_rk4_step, (X, _NEAREST, _U), (X, _NEAREST), {**_OPTIONS, **FORMULATION}, WRENCH,
            states=2, varying=1),
)  # fmt: skip
CALLED = Formula("rk4_called", called_step, (X, _U, TAU), (X,), _CALLED, WRENCH)
LOOP_CALLED = Formula("loop_rk4_called", called_step, (X, _U, TAU), (X, DISTANCE), _CALLED, WRENCH)
SYMPLECTIC = Method(
    "symplectic", (0.5,), SWEEPS,
    Formula("symplectic", midpoint_step, (X, _WORST, _U), (X, _WORST), _OPTIONS, WRENCH, states=2, varying=1),
)  # fmt: skip
METHODS = {method.name: method for method in (RK4, SYMPLECTIC)}
