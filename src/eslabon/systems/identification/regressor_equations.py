"""The equations of motion, linear in the parameters, along the independent velocities:

    N^T Y(q, v, v') (theta - theta_0) = N^T (B tau - f(q, v, v'; theta_0))

f are the joint forces of the model with its own parameters theta_0: springs, known wrenches and all
that is not identified is in them. v = N v_i are the motions that keep the loops closed, so that
their unknown reactions do no work (virtual work); of a tree N is the identity. Rows of velocities
that no actuator drives say that the forces there are in balance.
"""

from __future__ import annotations

from typing import Any

from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import ModelError
from eslabon.formulas.applied_loads import CREEP
from eslabon.formulas.constrained.independent_motion import IndependentMotion
from eslabon.formulas.dynamics import regressor
from eslabon.formulas.inputs import TAU, A, Q, V
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.linear_solvers import factors
from eslabon.formulas.motion_state import MotionState, check_actuation
from eslabon.formulas.structure import Partition, Structure
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import Expression, casadi
from eslabon.solve.constraints.constraint_structure import constraint_structure, structure
from eslabon.systems.identification.parameters import NO_TERMS, Terms


def full_regressor(
    m: Model, q: Expression, v: Expression, a: Expression, terms: Terms
) -> Expression:
    """Y of all velocities: the bodies' columns, then v, tanh(v / CREEP), 1 and v' of the joints'
    terms."""
    signals = {
        "viscous": v,
        "coulomb": casadi.tanh(v / CREEP),
        "offset": casadi.SX.ones(m.nv),
        "motor_inertia": a,
    }
    columns = []
    for kind, k in terms.listed():
        column = casadi.SX(m.nv, 1)
        column[k] = signals[kind][k]
        columns.append(column)
    return casadi.horzcat(regressor(MotionState(m, q, v), a), *columns)


def loop_motion(
    m: Model, q: Expression, v: Expression | None, p: Partition
) -> tuple[Expression, Expression, Expression]:
    """N and the drift of v = N v_i, v' = N v_i' + drift, and the reciprocal condition number."""
    _, J, gamma, _ = closure.equations(m, q, v, p.rows)
    motion = IndependentMotion(J, p.independent, p.dependent)
    drift = zeros(m.nv) if v is None else motion.dependent_motion(gamma)
    return motion.N, drift, motion.dependent_condition(velocity_scales(m)[motion.dependent])


def linear_equations(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    tau: Expression,
    terms: Terms = NO_TERMS,
    *,
    structure: Structure,
) -> list[Expression]:
    """N^T Y, what the model leaves of the forces N^T (B tau - f), N^T B, and the reciprocal
    condition number."""
    N, _, condition = loop_motion(m, q, None, structure.partition)
    Y = full_regressor(m, q, v, a, terms)
    s = MotionState(m, q, v)
    left = s.actuation(tau) - s.joint_forces(a)
    B = N[list(m.actuated_velocities), :].T
    return [casadi.densify(x) for x in (N.T @ Y, N.T @ left, B, condition)]


def actuator_regressor(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    terms: Terms = NO_TERMS,
    *,
    structure: Structure,
) -> Expression:
    """A matrix whose product with a change of the parameters is that of the actuators' forces for
    the motion: by virtual work N^T B u = N^T Y dtheta, of least norm where that leaves a choice."""
    Y, p, driven = full_regressor(m, q, v, a, terms), structure.partition, m.actuated_velocities
    if not m.closed:
        return casadi.densify(Y[list(driven), :])
    require_controlled(m, structure)
    N, _, _ = loop_motion(m, q, None, p)
    work, A = N.T @ Y, N[list(driven), :].T
    if driven != p.independent:
        work = A.T @ factors(A @ A.T).solve(work)
    return casadi.densify(work)


def require_controlled(m: Model, structure: Structure) -> None:
    """Refuse a mechanism with motions that the actuators leave to themselves, passive spins among
    them."""
    check_actuation(m, structure)
    if structure.spins:
        raise ModelError(
            f"{m.name}: '{structure.spins[0].bodies[0]}' spins freely between "
            f"{' and '.join(structure.spins[0].joints)}, so that its motion cannot be planned or recorded by the actuators; model "
            "one of these joints as universal."
        )


def independent_motion(
    m: Model, q: Expression, vi: Expression, ai: Expression, *, structure: Structure
) -> list[Expression]:
    """All velocities and accelerations from the independent ones, and the reciprocal condition
    number."""
    p = structure.partition
    N, _, condition = loop_motion(m, q, None, p)
    v = N @ vi
    _, drift, _ = loop_motion(m, q, v, p)
    return [casadi.densify(x) for x in (v, N @ ai + drift, condition)]


def excitation_gradient(
    m: Model,
    q: Expression,
    vi: Expression,
    ai: Expression,
    weight: Expression,
    terms: Terms = NO_TERMS,
    *,
    structure: Structure,
) -> list[Expression]:
    """N^T Y of a motion given by its independent velocities, and the derivatives of sum(weight N^T
    Y) by the independent coordinates, velocities and accelerations: along the loops dq = N dq_i."""
    p = structure.partition
    v, a, condition = independent_motion(m, q, vi, ai, structure=structure)
    N, _, _ = loop_motion(m, q, None, p)
    Y = casadi.densify(N.T @ full_regressor(m, q, v, a, terms))
    by_q, by_v, by_a = (
        casadi.gradient(casadi.sum1(casadi.sum2(weight * Y)), x) for x in (q, vi, ai)
    )
    by_i = (coordinate_rates(m, q) @ N).T @ by_q
    return [casadi.densify(x) for x in (Y, by_i, by_v, by_a, condition)]


def independent(m: Model) -> tuple[int, ...]:
    """The places of the independent velocities: along them go the equations."""
    return structure(m).partition.independent


def _dof(m: Model, **_: Any) -> tuple[int]:
    return (len(independent(m)),)


def _table(m: Model, terms: Terms = NO_TERMS, **_: Any) -> tuple[int, int]:
    return (len(independent(m)), 10 * len(m.bodies) + len(terms.listed()))


CONDITION = Argument("condition", ())
VI, AI = (
    Argument("vi", _dof, "independent velocities"),
    Argument("ai", _dof, "independent velocities"),
)
LINEAR_EQUATIONS = Formula(
    "linear_equations", linear_equations, (Q, V, A, TAU),
    (Argument("Y", _table), Argument("left", _dof), Argument("B", lambda m, **_: (len(independent(m)), m.nu)), CONDITION),
    {"terms": NO_TERMS}, prepare=constraint_structure,
)  # fmt: skip
ACTUATOR_REGRESSOR = Formula(
    "actuator_regressor", actuator_regressor, (Q, V, A),
    (Argument("Y", lambda m, terms=NO_TERMS: (m.nu, 10 * len(m.bodies) + len(terms.listed()))),), {"terms": NO_TERMS},
    prepare=constraint_structure,
)  # fmt: skip
INDEPENDENT_MOTION = Formula(
    "independent_motion", independent_motion, (Q, VI, AI),
    (Argument("v", lambda m: (m.nv,)), Argument("a", lambda m: (m.nv,)), CONDITION), prepare=constraint_structure, rare=True,
)  # fmt: skip
EXCITATION_GRADIENT = Formula(
    "excitation_gradient", excitation_gradient, (Q, VI, AI, Argument("weight", _table)),
    (Argument("Y", _table), Argument("by_q", _dof), Argument("by_v", _dof), Argument("by_a", _dof), CONDITION),
    {"terms": NO_TERMS}, prepare=constraint_structure,
)  # fmt: skip
