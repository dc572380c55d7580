"""Velocities and accelerations of all joints from those of what is prescribed, for trees and loops:
exact, from one factorisation.

With C the rates of what is prescribed and J those of the loops,

    [C; J] v = [y'; -Phi_t],    [C; J] a = [y'' - C' v; gamma]    (Rojas, 3.3.2 and 3.3.3; Yime, 30-36),

solved by least squares of minimum norm. Nothing is differenced.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q, V
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.kinematics.frames import placement
from eslabon.formulas.linear_solvers import OrthogonalFactors
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import casadi
from eslabon.numerics.tolerances import COINCIDENT, RANK, SINGULAR
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.designs import DESCRIBED, Designs, velocity_scales_of
from eslabon.solve.determinacy import determinacy, rate_matrix
from eslabon.solve.problem import CLOSURE_ALONE, Problem


class Rates(NamedTuple):
    """v and a (..., nv), what is missing of the velocities and accelerations asked for, in
    comparable rows, and the reciprocal condition number of the motions they ask for."""

    v: Floats
    a: Floats
    slip: Floats
    acceleration_slip: Floats
    condition: Floats


def rates(
    m: Model, problem: Problem, q: Floats, first: Floats, second: Floats, designs: Designs = DESCRIBED,
    smooth: bool = False, near: tuple[Floats, Floats] | None = None,
) -> Rates:  # fmt: skip
    """From the rates of a problem's values and the rates of these, at configurations (..., nq).

    What they leave free is of minimum norm, or nearest to the velocities and accelerations `near`:
    v at each instant, and a too, or with `smooth` the rate of such a v along a motion. The
    condition counts the motions that the problem determines in general.
    """
    names, inputs, scale = designs.names, designs.inputs, velocity_scales_of(m, designs)
    scale = 1 / np.asarray(scale, dtype=float)
    A, ahead = evaluate(m, RATE_EQUATIONS, names, problem=problem)(q, *inputs)
    rows = _row_scales(m, problem, A.shape[-2])
    U, s, Vt = np.linalg.svd(rows[:, None] * A * scale[..., None, :], full_matrices=False)
    least = COINCIDENT * s.max(axis=-1, keepdims=True, initial=0.0)
    gains = np.where(s > least, 1 / np.where(s > least, s, 1.0), 0.0)

    def solved(b: Floats, x: Floats) -> Floats:
        missing = rows * (b - _times(A, x))
        return x + scale * np.einsum("...ji,...j,...kj,...k->...i", Vt, gains, U, missing)

    v0, a0 = np.zeros((2, m.nv)) if near is None else near

    wanted = np.concatenate([_over(first, ahead), -ahead], axis=-1)
    v = solved(wanted, v0)
    drift, gamma = evaluate(m, RATE_DRIFT, names, problem=problem)(q, v, *inputs)
    right = np.concatenate([second - drift, gamma], axis=-1)
    a = solved(right, a0)
    if smooth:
        # v = S^2 A^T mu is of minimum norm at every instant: a has the rate of that choice.
        mu = rows * np.einsum("...ij,...j,...jk,...k->...i", U, gains, Vt, v / scale)
        turned = evaluate(m, RATE_TURNING, names, problem=problem)(q, v, mu, *inputs) * scale
        kept = Vt * (s > least)[..., None]
        a = a + scale * (turned - np.einsum("...ji,...jk,...k->...i", kept, kept, turned))
    rank = m.nv - determinacy(m.nominal, problem).open
    condition = np.ones(s.shape[:-1])
    if rank:
        condition = s[..., rank - 1] / np.maximum(s[..., 0], np.finfo(float).tiny)
    made = _with_slips(v, a, rows, A, wanted, right, condition)
    if m.closed and problem.rows and near is None and _slips(made).any():
        made = _loops_first(m, problem, q, first, second, designs, made)
    return made


def _with_slips(
    v: Floats, a: Floats, rows: Floats, A: Floats, wanted: Floats, right: Floats, condition: Floats
) -> Rates:
    left = [rows * (_times(A, x) - b) for x, b in ((v, wanted), (a, right))]
    slip, other = (np.abs(x).max(axis=-1, initial=0.0) for x in left)
    return Rates(v, a, slip, other, condition)


def _slips(made: Rates) -> Any:
    """Which motions miss what is asked for by more than round-off."""
    speed = np.abs(made.v).max(axis=-1, initial=0.0)
    change = np.maximum(np.abs(made.a).max(axis=-1, initial=0.0), speed**2)
    return (made.slip > COINCIDENT * speed) | (made.acceleration_slip > COINCIDENT * change)


def _loops_first(
    m: Model, problem: Problem, q: Floats, first: Floats, second: Floats, designs: Designs, made: Rates
) -> Rates:  # fmt: skip
    """Where a target asks for a motion that the mechanism cannot make, its loops stay closed
    exactly, and what is missing is missing of the target: with P = 1 - J^+ J, v = J^+ b + (C P)^+
    (y' - C J^+ b)."""
    names, inputs, own = designs.names, designs.inputs, problem.rate_size(m)
    scale = 1 / np.asarray(velocity_scales_of(m, designs), dtype=float)
    A, ahead = evaluate(m, RATE_EQUATIONS, names, problem=problem)(q, *inputs)
    rows = _row_scales(m, problem, A.shape[-2])
    both = rows[:, None] * A * scale[..., None, :]
    C, J = both[..., :own, :], both[..., own:, :]
    back = np.linalg.pinv(J, rcond=RANK)
    within = np.eye(m.nv) - back @ J
    towards = np.linalg.pinv(C @ within, rcond=RANK)

    def solved(target: Floats, loops: Floats) -> Floats:
        base = _times(back, loops)
        return scale * (base + _times(towards, rows[:own] * target - _times(C, base)))

    v = solved(first, -ahead)
    drift, gamma = evaluate(m, RATE_DRIFT, names, problem=problem)(q, v, *inputs)
    a = solved(second - drift, gamma)
    wanted = np.concatenate([_over(first, ahead), -ahead], axis=-1)
    right = np.concatenate([second - drift, gamma], axis=-1)
    exact = _with_slips(v, a, rows, A, wanted, right, made.condition)
    lost = _slips(made)
    return Rates(
        np.where(lost[..., None], exact.v, made.v), np.where(lost[..., None], exact.a, made.a),
        np.where(lost, exact.slip, made.slip),
        np.where(lost, exact.acceleration_slip, made.acceleration_slip), made.condition,
    )  # fmt: skip


def completed(
    m: Model,
    problem: Problem,
    q: Floats,
    first: Floats,
    second: Floats,
    designs: Designs = DESCRIBED,
) -> Rates:
    """The same of configurations (k, nq) where joints alone are prescribed: in native code, and by
    singular values where a configuration is singular."""
    made = evaluate(m, COMPLETION, designs.names, problem=problem)(
        q, first, second, *designs.inputs
    )
    made = Rates(*(np.array(x) for x in made))
    bad = np.flatnonzero(~(made.condition > SINGULAR))
    if len(bad):
        own = designs[bad] if designs.names else designs
        exact = rates(m, problem, q[bad], first[bad], second[bad], own)
        for mine, other in zip(made[:4], exact[:4], strict=True):
            mine[bad] = other
    return made


def _over(x: Floats, ahead: Floats) -> Floats:
    return np.broadcast_to(x, (*ahead.shape[:-1], x.shape[-1]))


def _times(A: Floats, x: Floats) -> Floats:
    return np.asarray(np.einsum("...ij,...j->...i", A, x))


def _row_scales(m: Model, problem: Problem, count: int) -> Floats:
    """What makes the rows comparable: those of the loops are."""
    own = problem.rate_scales(m)
    return np.concatenate([own, np.ones(count - len(own))])


# -- formulas ----------------------------------------------------------------------------------------------


def _all_rates(m: Model, q: Any, problem: Problem) -> Any:
    """C of the held joints and of the rows."""
    held = casadi.DM.eye(m.nv)[problem.velocities(m), :]
    return casadi.vertcat(casadi.SX(held), rate_matrix(m, q, problem))


def rate_equations(m: Model, q: Any, problem: Problem) -> list[Any]:
    """[C; J] and Phi_t."""
    _, J, _, ahead = equations(m, q, None, tuple(range(len(row_names(m)))))
    A = casadi.vertcat(_all_rates(m, q, problem), J)
    return [casadi.densify(A), casadi.densify(ahead)]


def rate_drift(m: Model, q: Any, v: Any, problem: Problem) -> list[Any]:
    """C' v and gamma."""
    gamma = equations(m, q, v, tuple(range(len(row_names(m))))).gamma
    own = _all_rates(m, q, problem) @ v
    change = casadi.jtimes(own, q, coordinate_rates(m, q) @ v)
    return [casadi.densify(change), casadi.densify(gamma)]


def rate_turning(m: Model, q: Any, v: Any, mu: Any, problem: Problem) -> list[Any]:
    """(dA/dt)^T mu for A = [C; J]."""
    A = rate_equations(m, q, problem)[0]
    return [casadi.densify(casadi.jtimes(A.T @ mu, q, coordinate_rates(m, q) @ v))]


def rates_of_twists(m: Model, q: Any, twist: Any, acceleration: Any, problem: Problem) -> list[Any]:
    """The rates of the rows' values, and of these, that a twist of their frame and its rate mean,
    in the ground's axes at its origin."""
    first, second = [], []
    for rows in problem.rows:
        R, turned = placement(m, q, m.frame(rows.frame)).R, casadi.SX.sym("R", 3, 3)
        here = casadi.SX(rows.rate(turned))
        change = casadi.jtimes(
            here @ twist, casadi.vec(turned), casadi.vec(casadi.skew(twist[:3]) @ turned)
        )
        pair = casadi.substitute([here, change], [turned], [casadi.densify(casadi.SX(R))])
        first.append(pair[0] @ twist)
        second.append(pair[0] @ acceleration + pair[1])
    return [casadi.densify(casadi.vertcat(*x)) for x in (first, second)]


def completion(m: Model, q: Any, first: Any, second: Any, problem: Problem) -> list[Any]:
    """v, a of all joints from those of held ones, what is left of the velocity and of the
    acceleration equations, and the reciprocal condition number (Yime, 30-36)."""
    fixed, free = problem.velocities(m), problem.free(m)
    v = casadi.SX.sym("v", m.nv)
    leaves_open = determinacy(m.nominal, problem).open
    rows = partition(m.nominal).rows if leaves_open else tuple(range(len(row_names(m))))
    _, J, gamma, ahead = equations(m, q, v, rows)
    per = 1 / velocity_scales(m.nominal)[free]
    A = J[:, free] @ casadi.diag(casadi.DM(per))
    # Where something stays open the minimum-norm motion is sought: A A^T is invertible, not A^T A.
    solver = OrthogonalFactors(A.T if leaves_open else A)
    solve = solver.solve_transposed if leaves_open else solver.solve

    def whole(own: Any, others: Any) -> Any:
        made = casadi.SX(m.nv, 1)
        made[fixed], made[free] = own, casadi.DM(per) * others
        return casadi.densify(made)

    speed = whole(first, solve(-ahead - casadi.mtimes(J[:, fixed], first)))
    right = casadi.substitute(casadi.densify(gamma), v, speed)
    change = whole(second, solve(right - casadi.mtimes(J[:, fixed], second)))
    left = casadi.mtimes(J, speed) + ahead, casadi.mtimes(J, change) - right
    worst = [
        casadi.mmax(casadi.fabs(casadi.densify(x))) if len(rows) else casadi.SX(0) for x in left
    ]
    return [speed, change, *worst, solver.condition(None)]


OPTIONS: dict[str, Any] = {"problem": CLOSURE_ALONE}


def _row_count(m: Model, problem: Problem) -> int:
    return problem.rate_size(m) + len(row_names(m))


def _loops(m: Model, problem: Problem) -> tuple[int]:
    return (len(row_names(m)),)


def _own_rates(m: Model, problem: Problem) -> tuple[int]:
    return (problem.rate_size(m),)


def _velocities(*names: str) -> tuple[Argument, ...]:
    return tuple(Argument(name, lambda m, problem: (m.nv,)) for name in names)


RATE_EQUATIONS = Formula(
    "rate_equations",
    rate_equations,
    (Q,),
    (Argument("A", lambda m, problem: (_row_count(m, problem), m.nv)), Argument("ahead", _loops)),
    OPTIONS,
    rare=True,
)
RATE_DRIFT = Formula(
    "rate_drift",
    rate_drift,
    (Q, V),
    (Argument("drift", _own_rates), Argument("gamma", _loops)),
    OPTIONS,
    rare=True,
)
RATE_TURNING = Formula(
    "rate_turning",
    rate_turning,
    (Q, V, Argument("mu", lambda m, problem: (_row_count(m, problem),))),
    _velocities("turned"),
    OPTIONS,
    rare=True,
)
RATES_OF_TWISTS = Formula(
    "rates_of_twists",
    rates_of_twists,
    (Q, *(Argument(name, (6,), "components of a twist") for name in ("twist", "acceleration"))),
    (Argument("first", _own_rates), Argument("second", _own_rates)),
    OPTIONS,
    rare=True,
)
COMPLETION = Formula(
    "completion",
    completion,
    (Q, *(Argument(name, _own_rates, "prescribed velocities") for name in ("first", "second"))),
    (
        *_velocities("v", "a"),
        *(Argument(x, ()) for x in ("slip", "acceleration_slip", "condition")),
    ),
    OPTIONS,
    rare=True,
)
