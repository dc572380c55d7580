"""One step of the fixed-step methods: formulas, and the graphs that native code loops over.

The formulas are of CasADi symbols; `rk4` serves numbers as well, where a Python function drives the mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi

from eslabon.graph.native import Argument, Iteration, iterate, load_iteration
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import Mechanism
from eslabon.simulate import equations
from eslabon.simulate.control import Table, Traced
from eslabon.simulate.system import System

State = Any  # numbers (..., n), or a column of symbols
Forces = Callable[[int, Any, Any], Any]  # of a stage, q and v

SWEEPS = 6  # of `midpoint`; each one divides the error by about 4 / (step x fastest frequency)^2
TIME, LENGTH, FORCES = 0, 1, 2  # places in what varies from step to step; the forces come last


@dataclass(frozen=True)
class Method:
    """A fixed-step method: at which parts of a step it wants the actuators' forces, how often it evaluates, its graph,
    and how many of the graph's inputs are states."""

    name: str
    stages: tuple[float, ...]
    evaluations: int
    graph: Callable[[System, Method], Any]
    states: int = 1

    def columns(self, system: System) -> tuple[float, ...]:
        """The parts of a step at which forces known in time are handed to it.

        A table that holds is asked once, in the middle of the step, where round-off cannot mistake the sample.
        """
        if not isinstance(system.control, Table):
            return ()
        if system.control.holds:
            return (0.5,)
        return (0.0,) if system.hold else self.stages

    def native(self, system: System) -> Iteration:
        """The step, looped over in machine code."""
        return system.code(f"{self.name} {self.columns(system)}", lambda: self._made(system))

    def _made(self, system: System) -> Iteration:
        """From the disk, unless a law without a name is part of it."""
        key = None
        if not isinstance(system.control, Traced):
            key = f"{self.name} {self.columns(system)} {system.request(equations.RATES).key(system.m)}"
        kept = load_iteration(key) if key else None
        if kept is not None:
            return kept
        step = self.graph(system, self)
        own = [Argument(name) for name in step.name_in()[: self.states + 1]]
        inputs = [*own, *system.arguments]
        return iterate(step, states=self.states, varying=1, inputs=inputs, name=self.name, owner=system.m.name, key=key)


# Formulas ------------------------------------------------------------------------------------------------------------


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
    """The implicit midpoint rule in coordinates and momenta, of order 2; and how much its last sweep changed v.

    With a mass matrix that depends on q no explicit method in these variables is symplectic. This one is (for joints
    whose velocities are rates of coordinates), it is its own mirror image in time, and it keeps every quadratic
    invariant: the length of quaternions, energy and angular momentum of a free body. The energy of a conservative
    mechanism swings by O(h^2) about its value and does not drift.

    Hairer, Lubich and Wanner, Geometric Numerical Integration, IV.2 and VI.4. The equations for the middle are solved
    by sweeps, q before p.
    """
    middle_q, middle_p, before = q, p, 0
    for _ in range(SWEEPS):
        v = velocity(middle_q, middle_p)
        middle_q = q + h / 2 * rates(middle_q, v)
        middle_p = p + h / 2 * force(middle_q, v)
        change, before = v - before, v
    return 2 * middle_q - q, 2 * middle_p - p, change


# Graphs --------------------------------------------------------------------------------------------------------------


def _symbols(system: System, method: Method) -> tuple[Any, Any, list[Any]]:
    """The state, what varies from step to step, and the constants."""
    varying = FORCES + len(method.columns(system)) * system.m.nu
    return casadi.SX.sym("x", system.n), casadi.SX.sym("u", varying), system.symbols()


def _forces(system: System, method: Method, u: Any, q: Any, v: Any) -> Forces:
    """The actuators' forces in a step that begins with q and v."""
    m, columns = system.m, len(method.columns(system))

    def law(stage: int, q: Any, v: Any) -> Any:
        return system.control.graph(m)(u[TIME] + method.stages[stage] * u[LENGTH], q, v)  # type: ignore[union-attr]

    def table(stage: int, q: Any, v: Any) -> Any:
        first = FORCES + min(stage, columns - 1) * m.nu
        return u[first : first + m.nu]

    if isinstance(system.control, Traced):
        held = system.control.graph(m)(u[TIME], q, v)
        return (lambda stage, q, v: held) if system.hold else law
    return table if columns else lambda stage, q, v: casadi.SX.zeros(m.nu)


def _rk4_graph(system: System, method: Method) -> Any:
    x, u, constants = _symbols(system, method)
    f, nq = system.graph(equations.RATES), system.m.nq
    tau = _forces(system, method, u, x[:nq], x[nq:])

    def rates(stage: int, x: Any) -> Any:
        q, v = x[:nq], x[nq:]
        return f(q, v, tau(stage, q, v), *constants)

    following = equations.settled(system.m, rk4(rates, x, u[LENGTH]))
    return casadi.Function("rk4", [x, u, *constants], [casadi.densify(following)])


def _midpoint_graph(system: System, method: Method) -> Any:
    """Its state is (q, p); a second one is the largest miss of the implicit equations so far, in units of q."""
    y, u, constants = _symbols(system, method)
    m, worst, h = system.m, casadi.SX.sym("worst"), u[LENGTH]
    solve, momentum = system.graph(equations.VELOCITIES), system.graph(equations.MOMENTUM_RATES)
    rates = _coordinate_rates(m)

    def velocity(q: Any, p: Any) -> Any:
        return solve(q, p, *constants[len(system.external) :])

    tau = _forces(system, method, u, y[: m.nq], velocity(y[: m.nq], y[m.nq :]))

    def force(q: Any, v: Any) -> Any:
        return momentum(q, v, tau(0, q, v), *constants)

    q, p, change = midpoint(velocity, rates, force, y[: m.nq], y[m.nq :], h)
    following = casadi.densify(casadi.vertcat(equations.settled(m, q), p))
    miss = casadi.fmax(worst, h * casadi.norm_inf(change))
    return casadi.Function("symplectic", [y, worst, u, *constants], [casadi.cse(following), miss])


def _coordinate_rates(m: Mechanism) -> Any:
    """N(q) v as a function, to be called with expressions."""
    q, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    return casadi.Function("rates", [q, v], [casadi.mtimes(coordinate_rates(m, q), v)])


METHODS = {
    method.name: method
    for method in (
        Method("rk4", (0.0, 0.5, 1.0), 4, _rk4_graph),
        Method("symplectic", (0.5,), SWEEPS, _midpoint_graph, states=2),
    )
}
