"""An instant of a motion as CasADi functions: all velocities, accelerations and actuators' forces from the driven ones, what is kept
within bounds, and the integrand of the objective. Mapped over the instants of a motion, each is in the program once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.coordinates.massless import structure
from eslabon.coordinates.partition import generic
from eslabon.dynamics import loops, trees
from eslabon.errors import InputError, ModelError, shown, suggest
from eslabon.identification.equations import independent_motion
from eslabon.kinematics import closure
from eslabon.model.configuration import lengths_of_quaternions
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

OBJECTIVES = ("time", "energy", "effort", "jerk")
UNITS = {"time": "s"}
ROUNDED = 1e-2  # of a usual power: how far its absolute value is rounded off, for it to have derivatives


@dataclass(frozen=True, eq=False)
class Instant:
    """The functions of one instant, q of all joints, the others of the driven coordinates:

    * motion(q, vi, ai) -> v, a, tau, conditioning;
    * closure(q) -> what loops and the lengths of quaternions leave;
    * bounded(q, v, a, tau, ai, jerk, conditioning) -> the rows' values;
    * cost(q, v, a, tau, jerk) -> the integrand;
    * whole(q, vi, ai, jerk) -> bounded, cost, closure, for the program.
    """

    driven: Driven
    rows: tuple[Row, ...]
    motion: Any
    closure: Any
    bounded: Any
    cost: Any
    whole: Any


def instant(
    own: Driven,
    rows: Sequence[Row],
    demanded: Sequence[Demand],
    objective: str | Callable[..., Any],
    power: float = 1.0,
) -> Instant:
    """The functions of an instant; `power` is a usual one, of which the absolute value is rounded off."""
    import casadi

    m, n = own.m, len(own.coordinates)
    sym = casadi.SX.sym
    q, v, a, tau = sym("q", m.nq), sym("v", m.nv), sym("a", m.nv), sym("tau", m.nu)
    vi, ai, jerk, condition = sym("vi", n), sym("ai", n), sym("jerk", n), sym("conditioning")
    asked = {each.name: _traced(each.function, (q, v, a, tau), f"'{each.name}' of subject_to") for each in demanded}
    every = (*rows, *demand_rows(demanded, {name: x.numel() for name, x in asked.items()}))
    quantities = {
        FORCE: tau, POSITION: q, VELOCITY: v, ACCELERATION: ai, JERK: jerk, CONDITION: condition, **asked
    }  # fmt: skip
    values = casadi.vertcat(casadi.SX(0, 1), *(quantities[row.quantity][row.index] for row in every))
    integrand = _integrand(own, objective, q, v, a, tau, jerk, ROUNDED * power)
    motion = casadi.Function("motion", [q, vi, ai], casadi.cse(_motion(own, q, vi, ai)))
    left = casadi.Function("closure", [q], casadi.cse([_closure(own, q)]))
    bounded = casadi.Function("bounded", [q, v, a, tau, ai, jerk, condition], casadi.cse([casadi.densify(values)]))
    cost = casadi.Function("cost", [q, v, a, tau, jerk], casadi.cse([casadi.densify(integrand)]))
    moved = motion(q, vi, ai)
    all_of_it = [bounded(q, *moved[:3], ai, jerk, moved[3]), cost(q, *moved[:3], jerk), left(q)]
    whole = casadi.Function("whole", [q, vi, ai, jerk], casadi.cse(all_of_it))
    return Instant(own, every, motion, left, bounded, cost, whole)


def _motion(own: Driven, q: Any, vi: Any, ai: Any) -> list[Any]:
    """v, a, tau, and the reciprocal condition number squared, in parts of an ordinary configuration's."""
    import casadi

    m = own.m
    if not m.closed:
        return [vi, ai, casadi.densify(trees.inverse_dynamics(m, q, vi, ai)), casadi.SX(1)]
    known = structure(m)
    v, a, condition = independent_motion(m, q, vi, ai, structure=known)
    tau = loops.inverse_dynamics(m, q, v, a, structure=known)[0]
    usual = casadi.Function("usual", [q], [independent_motion(m, q, vi * 0, ai * 0, structure=known)[2]])
    return [v, a, casadi.densify(tau), casadi.sqrt(condition / float(usual(generic(m))))]


def _closure(own: Driven, q: Any) -> Any:
    import casadi

    m = own.m
    if not m.closed:
        return casadi.SX(0, 1)
    phi = closure.equations(m, q, None, structure(m).partition.rows).phi
    return casadi.densify(casadi.vertcat(phi, *(x - 1 for x in lengths_of_quaternions(m, q).values())))


def _integrand(
    own: Driven, objective: str | Callable[..., Any], q: Any, v: Any, a: Any, tau: Any, jerk: Any, rounded: float
) -> Any:
    """What is integrated over the time."""
    import casadi

    if callable(objective):
        made = _traced(objective, (q, v, a, tau), "the objective")
        if made.numel() != 1:
            raise InputError(f"the objective gives {made.numel()} numbers; it is to be one, whose integral is least.")
        return made
    if objective == "time":
        return casadi.SX(1)
    if objective == "energy":
        power = tau * v[list(own.m.actuated_velocities), :]
        return casadi.sum1(casadi.sqrt(power**2 + rounded**2) - rounded)
    return casadi.sumsqr(tau if objective == "effort" else jerk)


def _traced(function: Callable[..., Any], symbols: tuple[Any, ...], what: str) -> Any:
    """What a function of users' gives for symbols, as a column."""
    import casadi

    try:
        given = function(*symbols)
        made = casadi.SX(casadi.vertcat(*given) if isinstance(given, list | tuple | np.ndarray) else given)
    except Exception as error:
        raise InputError(
            f"{what} cannot be called with symbols q, v, a and tau ({type(error).__name__}: {str(error).splitlines()[0]}); "
            "write it with arithmetic, casadi's functions and the mechanism's verbs."
        ) from error
    return casadi.vec(casadi.densify(made))


def objective_of(objective: Any) -> str | Callable[..., Any]:
    """A word, or a traced function."""
    if callable(objective) or (isinstance(objective, str) and objective in OBJECTIVES):
        return objective  # type: ignore[no-any-return]
    hint = suggest(objective, OBJECTIVES) if isinstance(objective, str) else f" (known: {', '.join(OBJECTIVES)})."
    raise ModelError(f"the objective is a word or a function of q, v, a and tau; it is {shown(objective)}{hint}")


def mapped(function: Any, *arrays: Floats) -> list[Floats]:
    """A function of an instant at many, (..., n) each: rows in, rows out."""
    import casadi

    lead = arrays[0].shape[:-1]
    columns = [casadi.DM(x.reshape(-1, x.shape[-1]).T) for x in arrays]
    count = columns[0].shape[1]
    found = function.map(count).call(columns)
    return [np.array(x, dtype=float).T.reshape(*lead, -1) for x in found]
