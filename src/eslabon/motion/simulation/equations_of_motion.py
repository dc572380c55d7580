"""How the state of a mechanism changes: the one place that says what is integrated.

The state is x = (q, v), with the states of a control law behind it if it has some; the symplectic
method's is y = (q, p) with the momenta p = M v. Everything here is a formula of CasADi symbols for
the one evaluator. `law` is a control law that was traced (`control.Law`); its forces add to `tau`,
and the sum stays within `limit`. `stops` are those of `stops.Stop`. Where constraints depend on the
time, the mechanism is that of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from eslabon.compiler.calls import derived, inlined, subroutine
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas import dynamics
from eslabon.formulas.derivatives.state_derivatives import (
    JointForces,
    forward_dynamics_derivatives,
)
from eslabon.formulas.formulations.formulation import Formulation
from eslabon.formulas.inputs import TAU, WRENCH, Q, V
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.linear_solvers import factors
from eslabon.formulas.motion_state import Method, MotionState
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates
from eslabon.motion.simulation import constraint_projection
from eslabon.motion.simulation.acting_forces import Acting, Forces, without_coulomb
from eslabon.motion.simulation.constraint_projection import DISTANCE
from eslabon.motion.simulation.controller_memory import within
from eslabon.motion.simulation.joint_stops import Stop, stop_energy, stop_forces
from eslabon.numerics.scalars import Expression, casadi
from eslabon.solve.constraints.constraint_structure import structure

External = Mapping[str, Expression] | None
Stops = tuple[Stop, ...]


def size(m: Model, law: Any = None, sampling: Any = None, **_: Any) -> tuple[int]:
    """The shape of a state, with the states of a law and what a sampled one remembers."""
    return (m.nq + m.nv + (law.size if law else 0) + (3 * m.nu if sampling else 0),)


def _at(
    m: Model, t: Expression, q: Expression, v: Expression, method: Method, external: External
) -> MotionState:
    """The state of motion at a time, its constraints regularized where they are dependent."""
    if not m.closed:
        return MotionState(m, q, v, method, external or {})
    known, share = structure(m.nominal), constraint_projection.regularization(m)
    method = replace(method, structure=known, regularization=share)
    return MotionState(m.with_time(t), q, v, method, external or {})


def accelerations(
    m: Model,
    t: Expression,
    q: Expression,
    v: Expression,
    tau: Expression,
    external: External = None,
    formulation: Formulation | None = None,
    constraints: str | None = None,
    stops: Stops = (),
) -> Expression:
    """Forward dynamics, regularized where the constraints are dependent.

    Elimination needs other independent coordinates on the way (`System.rates`); what it gives are
    the same accelerations.
    """
    push = stop_forces(m, q, v, stops)
    return pushed_accelerations(m, t, q, v, tau, push, external, formulation, constraints)[0]


def pushed_accelerations(
    m: Model,
    t: Expression,
    q: Expression,
    v: Expression,
    tau: Expression,
    push: Expression,
    external: External = None,
    formulation: Formulation | None = None,
    constraints: str | None = None,
    friction: str = "smooth",
) -> list[Expression]:
    """Forward dynamics under forces along all velocities besides, and the `rank_distance` of the
    constraints.

    Where friction is sharp, that of the joints is among these forces, and left out here.
    """
    m = without_coulomb(m) if friction == "sharp" else m
    way = "udwadia_kalaba" if constraints == "udwadia_kalaba" else "multipliers"
    s = _at(m, t, q, v, Method(formulation, way), external)
    if not m.closed:
        return [dynamics.forward_dynamics(s, tau, push)[0], casadi.SX(1)]
    solver: Any = s.solver()
    a, _ = solver.solve(s.actuation(tau) + push - s.equations.h, s.closure.gamma)
    return [a, constraint_projection.rank_distance(m, solver.solver.inverse)]


def rates(
    m: Model, t: Expression, x: Expression, tau: Expression, law: Any = None, limit: tuple[float, ...] = (),
    external: External = None, stops: Stops = (), **options: Any,
) -> list[Expression]:  # fmt: skip
    """dx/dt = (N v, accelerations, rates of the law's states), and the `rank_distance` of the
    constraints."""
    q, v, own = x[: m.nq], x[m.nq : m.nq + m.nv], x[m.nq + m.nv :, :]
    given, own = (0, own) if law is None else law(t, q, v, own)
    forces, push = within(tau + given, limit), stop_forces(m, q, v, stops)
    a, distance = pushed_accelerations(m, t, q, v, forces, push, external, **options)
    return [casadi.vertcat(coordinate_rates(m, q) @ v, a, own), distance]


def manifold_rates(
    m: Model, t: Expression, x: Expression, tau: Expression, **options: Any
) -> list[Expression]:
    """dx/dt at the state that x is projected to, f(P(x)); and the `rank_distance` there or at x,
    the lesser one.

    On the constraint manifold this is dx/dt itself. Beside it, where f grows without end what is
    there of constraint violation, f(P(x)) neither feeds nor fights it: an integrator sees the
    smooth equations of the manifold, and its error estimate speaks of them alone. One correction is
    enough for that, since what it leaves is of second order.
    """
    f = subroutine("rates", lambda t, x, tau: rates(m, t, x, tau, **options), 1, x.numel(), m.nu)
    if not m.closed:
        return list(f(t, x, tau))
    x, beside = constraint_projection.projection(m.with_time(t), x, corrections=1)
    made, distance = f(t, x, tau)
    return [made, casadi.fmin(beside, distance)]


def switched_rates(
    m: Model, t: Expression, x: Expression, tau: Expression, modes: Expression, acting: Acting, size: int = 0,
    external: External = None, **options: Any,
) -> list[Expression]:  # fmt: skip
    """dx/dt as in `manifold_rates`, with frozen choices of the forces that act."""

    def f(t: Expression, x: Expression, tau: Expression, modes: Expression) -> list[Expression]:
        q, v = x[: m.nq], x[m.nq : m.nq + m.nv]
        acts = acting.frozen(m, t, x, tau, modes)
        a, distance = pushed_accelerations(
            m, t, q, v, acts.actuators, acts.push, external, friction=acting.friction, **options
        )
        return [casadi.vertcat(coordinate_rates(m, q) @ v, a, acts.law_rates), distance]

    rates = subroutine("rates", f, 1, x.numel(), m.nu, modes.numel())
    if not m.closed:
        return list(rates(t, x, tau, modes))
    x, beside = constraint_projection.projection(m.with_time(t), x, corrections=1)
    made, distance = rates(t, x, tau, modes)
    return [made, casadi.fmin(beside, distance)]


def pushed_rates(
    m: Model, t: Expression, x: Expression, tau: Expression, push: Expression, **options: Any
) -> list[Expression]:
    """d(q, v)/dt as in `manifold_rates`, under given forces of actuators and along all
    velocities."""

    def moving(t: Expression, x: Expression, tau: Expression, push: Expression) -> list[Expression]:
        q, v = x[: m.nq], x[m.nq :]
        a, distance = pushed_accelerations(m, t, q, v, tau, push, **options)
        return [casadi.vertcat(coordinate_rates(m, q) @ v, a), distance]

    f = subroutine("rates", moving, 1, x.numel(), m.nu, m.nv)
    if not m.closed:
        return list(f(t, x, tau, push))
    x, beside = constraint_projection.projection(m.with_time(t), x, corrections=1)
    made, distance = f(t, x, tau, push)
    return [made, casadi.fmin(beside, distance)]


def frozen_forces(
    m: Model,
    t: Expression,
    x: Expression,
    tau: Expression,
    modes: Expression,
    acting: Acting,
    size: int = 0,
) -> list[Expression]:
    """The forces that act, with frozen choices."""
    return list(acting.frozen(m, t, x, tau, modes))


def surfaces(
    m: Model,
    t: Expression,
    x: Expression,
    tau: Expression,
    modes: Expression,
    rates: Expression,
    acting: Acting,
    size: int = 0,
) -> list[Expression]:
    """The functions whose signs are the modes, and their rates along those of the state, on the
    constraint manifold."""
    if m.closed:
        x = constraint_projection.projection(m.with_time(t), x, corrections=1)[0]
    return acting.surfaces(m, t, x, tau, modes, rates)


def choices(
    m: Model, t: Expression, x: Expression, tau: Expression, acting: Acting, size: int = 0
) -> Expression:
    """The modes that hold by themselves."""
    return acting.choices(m, t, x, tau)


def rates_jacobian(
    m: Model, t: Expression, x: Expression, tau: Expression, law: Any = None, limit: tuple[float, ...] = (), external: External = None,
    stops: Stops = (),
) -> Expression:  # fmt: skip
    """The derivative of dx/dt by x, for implicit methods, whose iterations do not need that of the
    projection.

    The accelerations' own are those of `formulas.derivatives`, along the velocities; with dq/dt = N
    v a change of q is one of N^+ dq, since a quaternion's length changes nothing.
    """
    q, v, own = x[: m.nq], x[m.nq : m.nq + m.nv], x[m.nq + m.nv :, :]
    given, own_rates = (0, own) if law is None else inlined(law(t, q, v, own))
    forces = Forces(tau + given, within(tau + given, limit), stop_forces(m, q, v, stops), own_rates)
    return _jacobian(m, t, x, forces, external)


def frozen_jacobian(
    m: Model,
    t: Expression,
    x: Expression,
    tau: Expression,
    modes: Expression,
    acting: Acting,
    size: int = 0,
    external: External = None,
) -> Expression:
    """The same with frozen choices."""
    bare = without_coulomb(m) if acting.friction == "sharp" else m
    forces = Forces(*inlined(list(acting.frozen(m, t, x, tau, modes))))
    return _jacobian(bare, t, x, forces, external)


def _jacobian(
    m: Model, t: Expression, x: Expression, forces: Forces, external: External
) -> Expression:
    """The derivative of dx/dt by x under forces that are expressions of it."""
    q, v, own = x[: m.nq], x[m.nq : m.nq + m.nv], x[m.nq + m.nv :, :]
    push, N = casadi.densify(zeros(m.nv) + forces.push), coordinate_rates(m, q)
    besides = JointForces(push, casadi.jacobian(push, q) @ N, casadi.jacobian(push, v))
    state = _at(m, t, q, v, Method(), external)
    found = forward_dynamics_derivatives(state, forces.actuators, besides)
    back = casadi.diag(1 / casadi.sum1(N * N).T) @ N.T
    by_state = casadi.horzcat(found.a_by["q"] @ back, found.a_by["v"], zeros(m.nv, own.numel()))
    given = [casadi.densify(zeros(m.nu) + forces.actuators), forces.law_rates]
    actuators, law_rates = derived(lambda y: [casadi.jacobian(z, x) for z in y], given)
    by_forces = found.a_by["tau"] @ actuators
    return casadi.vertcat(casadi.jacobian(N @ v, x), by_state + by_forces, law_rates)


def momenta(m: Model, q: Expression, v: Expression) -> Expression:
    """p = M v."""
    return dynamics.mass_matrix(MotionState(m, q, v)) @ v


def momentum_velocities(m: Model, q: Expression, p: Expression) -> Expression:
    """v with M v = p."""
    return factors(dynamics.mass_matrix(MotionState.at_rest(m, q))).solve(p)


def momentum_rates(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    external: External = None,
    stops: Stops = (),
) -> Expression:
    """dp/dt = forces + (dM/dt) v - (joint forces that hold the accelerations at zero).

    Where velocities are rates of coordinates this is -dH/dq plus the applied forces: Hamilton's
    equation.
    """
    s = MotionState(m, q, v, external=external or {})
    force = s.actuation(tau) + stop_forces(m, q, v, stops)
    change = casadi.jtimes(inlined(momenta(m, q, v)), q, coordinate_rates(m, q) @ v)
    return force + change - s.joint_forces(zeros(m.nv))


def energy(m: Model, q: Expression, v: Expression, stops: Stops = ()) -> Expression:
    """Kinetic and potential energy; the latter counts what the stops' springs hold."""
    return dynamics.energy(MotionState(m, q, v)) + casadi.vertcat(0, stop_energy(m, q, stops))


def coupling_forces(
    m: Model,
    t: Expression,
    q: Expression,
    v: Expression,
    tau: Expression,
    external: External = None,
    formulation: Formulation | None = None,
    stops: Stops = (),
) -> Expression:
    """The force that each coupling exerts on its joint: of a driven one, that of its drive."""
    method = Method(formulation, structure=structure(m.nominal))
    s = MotionState(m.with_time(t), q, v, method, external or {})
    motion = dynamics.motion_under_forces(s, tau, stop_forces(m, q, v, stops))
    return dynamics.coupling_forces(s, motion)[0]


def _along_v(m: Model, **_: Any) -> tuple[int]:
    return (m.nv,)


X, T = Argument("x", size, "coordinates and velocities"), Argument("t", ())
STOPS: Mapping[str, Any] = {"stops": ()}
ACTING: Mapping[str, Any] = {"law": None, "limit": (), **STOPS}
FORMULATION: Mapping[str, Any] = {"formulation": None, "constraints": None, **STOPS}
_RATES = (T, X, TAU), (Argument("rates", size),), {**FORMULATION, **ACTING}, WRENCH
ACCELERATIONS = Formula(
    "accelerations", accelerations, (T, Q, V, TAU), (Argument("a", _along_v),), FORMULATION, WRENCH
)
_LOOP_RATES = _RATES[0], (*_RATES[1], DISTANCE), *_RATES[2:]  # which a tree has no use for
STAGE_RATES = Formula("rates", rates, *_RATES)
LOOP_STAGE_RATES = Formula("loop_rates", rates, *_LOOP_RATES)
RATES = Formula("manifold_rates", manifold_rates, *_RATES)
# Called step by step from Python, which takes longer than what better code would save.
LOOP_RATES = Formula("loop_manifold_rates", manifold_rates, *_LOOP_RATES, rare=True)
BRANCH_ACCELERATIONS = Formula(
    "branch_accelerations", pushed_accelerations, (T, Q, V, TAU, Argument("push", _along_v)),
    (Argument("a", _along_v),), {"formulation": None, "constraints": None, "friction": "smooth"}, WRENCH, rare=True,
)  # fmt: skip
PUSH = Formula(
    "stop_forces", stop_forces, (Q, V), (Argument("push", _along_v),), {"stops": ()}, rare=True
)
JACOBIAN = Formula(
    "rates_jacobian",
    rates_jacobian,
    (T, X, TAU),
    (Argument("J", lambda m, **_: size(m, **_) * 2),),
    ACTING,
    WRENCH,
)


def _forces(m: Model, **_: Any) -> tuple[int]:
    return (m.nu,)


def _state(m: Model, acting: Acting, **_: Any) -> tuple[int]:
    return size(m, acting.law)


def _law_states(m: Model, acting: Acting, **_: Any) -> tuple[int]:
    return (acting.law.size if acting.law else 0,)


MODES = Argument("modes", lambda m, size, **_: (size,))
_FROZEN: Mapping[str, Any] = {"acting": None, "size": 0}  # how many modes there are
_STATE = replace(X, shape=_state)
_PUSHED = {"formulation": None, "constraints": None, "friction": "smooth"}
_MOVED = (T, Argument("x", size), TAU, Argument("push", _along_v)), (Argument("rates", size),)
PUSHED_RATES = Formula("pushed_rates", pushed_rates, *_MOVED, _PUSHED, WRENCH)
LOOP_PUSHED_RATES = Formula(
    "loop_pushed_rates", pushed_rates, _MOVED[0], (*_MOVED[1], DISTANCE), _PUSHED, WRENCH, rare=True
)
_SWITCHED = {"formulation": None, "constraints": None, **_FROZEN}
SWITCHED_RATES = Formula(
    "switched_rates", switched_rates, (T, _STATE, TAU, MODES), (replace(_STATE, name="rates"),), _SWITCHED, WRENCH
)  # fmt: skip
LOOP_SWITCHED_RATES = Formula(
    "loop_switched_rates", switched_rates, (T, _STATE, TAU, MODES), (replace(_STATE, name="rates"), DISTANCE), _SWITCHED,
    WRENCH, rare=True,
)  # fmt: skip
CHOICES = Formula("choices", choices, (T, _STATE, TAU), (MODES,), _FROZEN, rare=True)
FROZEN_FORCES = Formula(
    "frozen_forces",
    frozen_forces,
    (T, _STATE, TAU, MODES),
    (
        Argument("commanded", _forces),
        Argument("actuators", _forces),
        Argument("push", _along_v),
        Argument("law_rates", _law_states),
    ),
    _FROZEN,
)
SURFACES = Formula(
    "surfaces",
    surfaces,
    (T, _STATE, TAU, MODES, Argument("rates", _state)),
    tuple(Argument(name) for name in ("g", "g_rate")),
    _FROZEN,
    rare=True,
)
FROZEN_JACOBIAN = Formula(
    "frozen_jacobian",
    frozen_jacobian,
    (T, _STATE, TAU, MODES),
    (Argument("J", lambda m, **options: _state(m, **options) * 2),),
    _FROZEN,
    WRENCH,
)
MOMENTA = Formula("momenta", momenta, (Q, V), (Argument("p", _along_v),))
VELOCITIES = Formula("momentum_velocities", momentum_velocities, (Q, V), (Argument("v", _along_v),))
ENERGY = Formula(
    "energy_with_stops", energy, (Q, V), (Argument("energy", lambda m, **_: (2,)),), STOPS
)
COUPLING_FORCES = Formula(
    "coupling_forces_along", coupling_forces, (T, Q, V, TAU),
    (Argument("force", lambda m, **_: (len(m.couplings),)),), {"formulation": None, **STOPS}, WRENCH,
)  # fmt: skip
