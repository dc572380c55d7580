"""An instant of a motion as CasADi functions: all velocities, accelerations and actuators' forces from the driven ones, what is kept
within bounds, and the integrand of the objective. Mapped over the instants of a motion, each is in the program once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.calls import inlined
from eslabon.errors import InputError, ModelError, format_value, suggest
from eslabon.formulas import dynamics
from eslabon.formulas.kinematics import closure
from eslabon.formulas.linear_solvers import OrthogonalFactors
from eslabon.formulas.motion_state import Method, MotionState
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import difference, lengths_of_quaternions
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.scalars import casadi
from eslabon.optimize.design_quantities import DesignState, said_by
from eslabon.optimize.motion_limits import (
    ACCELERATION,
    CONDITION,
    FORCE,
    JERK,
    POSITION,
    VELOCITY,
    Demand,
    Driven,
    Row,
    demand_rows,
)
from eslabon.optimize.repeated_function import Repeated
from eslabon.solve.constraints.closed_configurations import generic
from eslabon.solve.constraints.constraint_structure import structure
from eslabon.solve.singular.actuated_motions import error_rows, measured_bodies
from eslabon.solve.singular.parallel_condition import symbolic_parallel_condition

OBJECTIVES = ("time", "energy", "effort", "jerk")
ROUNDED = (
    1e-2  # of a usual power: how far its absolute value is rounded off, for it to have derivatives
)


@dataclass(frozen=True, eq=False)
class Instant:
    """The functions of one instant, of all joints:

    * forces(q, v, a) -> tau, conditioning, by the formulas of inverse dynamics;
    * bounded(q, v, a, tau, jerk, conditioning) -> the rows' values;
    * cost(q, v, a, tau, jerk) -> the integrand;
    * loop_terms(q, v, a) -> reactions of the loops, and for each of their equations below the size of its terms;
    * whole(z) -> of bounded the rows that are `sought` in the program, what the equations of the loops leave (Phi and the lengths of quaternions, J v, J v' - gamma, and of
      the passive joints' forces f - J^T lambda), and T cost, in one column; z are the driven coordinates and their first three
      derivatives over a unit of time, then passive coordinates, velocities, accelerations and reactions, and the duration T.

    Velocities, accelerations and reactions that the loops determine are sought beside the configurations, so that the program
    solves no equations inside: its graph is small, and so is that of its second derivatives.
    """

    driven: Driven
    rows: tuple[Row, ...]
    sought: tuple[int, ...]
    forces: Any
    bounded: Any
    cost: Any
    loop_terms: Any
    whole: Repeated


def instant(
    own: Driven,
    rows: Sequence[Row],
    demanded: Sequence[Demand],
    objective: str | Callable[..., Any],
    power: float = 1.0,
    conditioned: bool = False,
) -> Instant:
    """The functions of an instant; `power` is a usual one, of which the absolute value is rounded off, and `conditioned` says whether
    the program is to keep away from singular configurations: second derivatives of that cost as much as all others."""
    m, sym, function = own.m, casadi.SX.sym, _function
    q, v, a, tau = sym("q", m.nq), sym("v", m.nv), sym("a", m.nv), sym("tau", m.nu)
    jerk, condition = sym("jerk", len(own.coordinates)), sym("conditioning")
    state = DesignState(cast(Mechanism, m), q, v, a, {}, {"tau": tau})
    asked = {
        each.name: _traced(each.function, state, f"'{each.name}' of subject_to")
        for each in demanded
    }
    every = (*rows, *demand_rows(demanded, {name: x.numel() for name, x in asked.items()}))
    known = {
        FORCE: tau,
        POSITION: q,
        VELOCITY: v,
        ACCELERATION: a[list(own.velocities), :],
        JERK: jerk,
        CONDITION: condition,
    }
    quantities = {**known, **asked}
    rows_of = casadi.vertcat(
        casadi.SX(0, 1), *(quantities[row.quantity][row.place] for row in every)
    )
    bounded = function("bounded", [q, v, a, tau, jerk, condition], [rows_of])
    integrand = _integrand(objective, state, jerk, ROUNDED * power)
    cost = function("cost", [q, v, a, tau, jerk], [integrand])
    if not m.closed:
        none, sought = casadi.SX(0, 1), sym("reactions", 0)
        forces = function(
            "forces", [q, v, a], [*dynamics.inverse_dynamics(MotionState(m, q, v), a), casadi.SX(1)]
        )
        acting, near, terms, left = forces(q, v, a)[0], casadi.SX(1), [none, none], none
    else:
        held = Loops(own, q, v, a)
        forces = function("forces", [q, v, a], [held.forces(), held.conditioning])
        sought = sym("reactions", held.unknown)
        acting, near, terms, left = (
            held.acting(sought),
            held.conditioning,
            held.terms(),
            held.left(sought),
        )
    own_rows = [k for k, row in enumerate(every) if _in_program(own, row, conditioned)]
    values = [bounded(q, v, a, acting, jerk, near)[own_rows, :], left, cost(q, v, a, acting, jerk)]
    whole = Repeated(_in_unit_time(own, function("whole", [q, v, a, sought, jerk], values)))
    return Instant(
        own,
        every,
        tuple(own_rows),
        forces,
        bounded,
        cost,
        function("loop_terms", [q, v, a], terms),
        whole,
    )


def _in_program(own: Driven, row: Row, conditioned: bool) -> bool:
    """Whether a row is bounded in the program: positions of driven coordinates are, by bounds of their coefficients."""
    if row.quantity == CONDITION:
        return conditioned
    return not (row.quantity == POSITION and row.place in own.coordinates)


def _in_unit_time(own: Driven, whole: Any) -> Any:
    """The same function of the column z."""
    m, n = own.m, len(own.coordinates)
    sizes = (n, n, n, n, m.nq - n, m.nv - n, m.nv - n, whole.size1_in(3), 1)
    parts = [casadi.SX.sym(f"z{k}", size) for k, size in enumerate(sizes)]
    T = parts[-1]
    *driven, jerk = (y / T**order for order, y in enumerate(parts[:4]))
    others = (own.coordinates, own.passive, m.nq), *((own.velocities, own.dependent, m.nv),) * 2
    moving = []
    for x, y, (i, e, count) in zip(driven, parts[4:7], others, strict=True):
        every = casadi.SX(count, 1)
        every[list(i)], every[list(e)] = x, y
        moving.append(every)
    values, left, cost = whole(*moving, parts[7], jerk)
    return _function("whole", [casadi.vertcat(*parts)], [casadi.vertcat(values, left, T * cost)])


def _function(name: str, inputs: list[Any], outputs: list[Any]) -> Any:
    return casadi.Function(name, inputs, casadi.cse([casadi.densify(x) for x in inlined(outputs)]))


class Loops:
    """The equations of the loops at an instant: Phi = 0, J v = 0, J v' = gamma, B u + J^T lambda = f.

    Passive spins stand still in the program, which would not determine them otherwise; the forces
    are those with the accelerations that spins have by themselves.
    """

    def __init__(self, own: Driven, q: Any, v: Any, a: Any) -> None:
        self.m, self.q, self.v, self.a, known = own.m, q, v, a, structure(own.m)
        self.partition = p = known.partition
        self.phi, self.J, self.gamma, _ = closure.equations(own.m, q, v, p.rows)
        self.state = MotionState(own.m, q, v, Method(structure=known))
        self.needed = self.state.prescribed(a).forces
        self.square = set(own.m.actuated_velocities) == set(p.driven)

    @property
    def unknown(self) -> int:
        """How many reactions are sought; none where actuators share a load, which needs more than the reactions."""
        return len(self.partition.rows) if self.square else 0

    @property
    def conditioning(self) -> Any:
        """The parallel condition of `m.conditions`, in parts of that of an ordinary configuration."""
        m = self.m
        condition = symbolic_parallel_condition(
            m, self.q, characteristic_length(m), measured_bodies(m), error_rows(m)
        )
        usual = float(casadi.Function("usual", [self.q], [condition])(generic(m)))
        return condition / usual

    def forces(self) -> Any:
        """The actuators' forces by virtual work."""
        return dynamics.inverse_dynamics(self.state, self.a)[0]

    def acting(self, reactions: Any) -> Any:
        """The actuators' forces beside reactions that are sought."""
        return (
            (self.needed - self.J.T @ reactions)[list(self.m.actuated_velocities), :]
            if self.square
            else self.forces()
        )

    def left(self, reactions: Any) -> Any:
        """What the equations leave."""
        lengths = [x - 1 for x in lengths_of_quaternions(self.m, self.q).values()]
        balance = (
            (self.needed - self.J.T @ reactions)[list(self.partition.dependent), :]
            if self.square
            else casadi.SX(0, 1)
        )
        return casadi.vertcat(
            self.phi,
            *lengths,
            self.J @ self.v,
            self.J @ self.a - self.gamma,
            balance,
            *self.spinning(),
        )

    def spinning(self) -> list[Any]:
        """The turns, velocities and accelerations of passive spins, which the program keeps at zero."""
        spins = list(self.partition.spins)
        if not spins:
            return []
        metric = casadi.diag(casadi.SX(velocity_scales(self.m) ** 2))
        turned = difference(self.m, self.q, generic(self.m))[spins, :]
        return [turned, *(self.state.spin_motions.T @ metric @ x for x in (self.v, self.a))]

    def terms(self) -> list[Any]:
        """The reactions, and the size of the terms of each equation."""
        e = list(self.partition.dependent)
        J, v, a, f = self.J[:, e], self.v[e, :], self.a[e, :], self.needed[e, :]
        balance = f if self.square else casadi.SX(0, 1)
        reactions = OrthogonalFactors(J).solve_transposed(f) if self.square else casadi.SX(0, 1)
        ones = casadi.SX.ones(self.phi.numel() + len(lengths_of_quaternions(self.m, self.q)))
        still = casadi.SX.ones(3 * len(self.partition.spins))
        return [reactions, casadi.fabs(casadi.vertcat(ones, J @ v, J @ a, balance, still))]


def _integrand(
    objective: str | Callable[..., Any], state: DesignState, jerk: Any, rounded: float
) -> Any:
    """What is integrated over the time."""
    if callable(objective):
        made = _traced(objective, state, "the objective")
        if made.numel() != 1:
            raise InputError(
                f"the objective gives {made.numel()} numbers; it is to be one, whose integral is least."
            )
        return made
    if objective == "time":
        return casadi.SX(1)
    if objective == "energy":
        power = state.tau * state.v[list(state.m.actuated_velocities), :]
        return casadi.sum1(casadi.sqrt(power**2 + rounded**2) - rounded)
    return casadi.sumsqr(state.tau if objective == "effort" else jerk)


def _traced(function: Callable[..., Any], state: DesignState, what: str) -> Any:
    """What a function of users' gives for symbols, as a column."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", FutureWarning
            )  # CasADi's, about its ways with NumPy's functions
            given = function(state)
            if given is None or isinstance(given, str):
                raise TypeError(f"it gives {format_value(given)}")
            made = casadi.SX(
                casadi.vertcat(*given) if isinstance(given, list | tuple | np.ndarray) else given
            )
    except Exception as error:
        raise InputError(
            f"{what} cannot be called with a state of symbols ({said_by(error)}); write it with arithmetic, casadi's functions "
            "and the mechanism's verbs, as in lambda s: s.tau[0] ** 2."
        ) from error
    return casadi.vec(casadi.densify(made))


def objective_of(objective: Any) -> str | Callable[..., Any]:
    """A word, or a traced function."""
    if callable(objective) or (isinstance(objective, str) and objective in OBJECTIVES):
        return objective
    hint = (
        suggest(objective, OBJECTIVES)
        if isinstance(objective, str)
        else f" (known: {', '.join(OBJECTIVES)})."
    )
    raise ModelError(
        f"the objective is a word or a function of the state; it is {format_value(objective)}{hint}"
    )


def mapped(function: Any, *arrays: Floats) -> list[Floats]:
    """A function of an instant at many, (..., n) each: rows in, rows out."""
    lead = arrays[0].shape[:-1]
    columns = [casadi.DM(x.reshape(-1, x.shape[-1]).T) for x in arrays]
    count = columns[0].shape[1]
    found = function.map(count).call(columns)
    return [np.array(x, dtype=float).T.reshape(*lead, -1) for x in found]
