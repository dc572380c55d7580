"""The exact linear model about any state of motion, of trees and of closed chains, in independent coordinates.

A tree with loops obeys M v' + h = B tau + J^T lambda and Phi(q) = 0. Its independent velocities determine the others, and
small changes x, y, z of the independent coordinates, velocities and accelerations those of all joints,

    dq = N x,   dv = N y + P x,   da = N z + Q y + R x,      N = [1; -Phi_e^-1 Phi_i],

since Phi, Phi' and Phi'' stay zero. By virtual work N^T (M v' + h - B tau - J^T lambda) = 0 stays zero too, in which the
change of N itself drops out, and so (Rojas, eq. 5.4.1, there for open chains)

    F dtau = U z + V y + W x,     U = N^T M N,  V = N^T (G_v N + M Q),  W = N^T (G_q N + G_v P + M R),  F = N^T B,

with G_q and G_v the derivatives of M v' + h - J^T lambda by q and v, at the accelerations and multipliers of the state.
With Y = Phi_e^-T (M N)_e the products N^T M Q and N^T M R are -Y^T of what the derivatives of J v' - gamma give, so that
neither Q nor R is solved for.
Derivatives by q are taken along the velocities, so that quaternions are in their tangent space; there displacements are
carried along by the motion, x' = y + K x.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from eslabon.compiler.calls import inlined
from eslabon.formulas.constrained.constraint_solvers import joint_condition
from eslabon.formulas.constrained.eliminated import Change, eliminated
from eslabon.formulas.constrained.trees import actuation
from eslabon.formulas.derivatives import loop_derivatives
from eslabon.formulas.derivatives.measured_outputs import Output, output_changes
from eslabon.formulas.derivatives.state_derivatives import (
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
)
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.closure import Partition, Structure
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.linear_solvers import OrthogonalFactors
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, displacement_rates
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import Expression, casadi

External = Mapping[str, Expression]


class Linearized(NamedTuple):
    """A linear model, with the accelerations of its state, the maps N and [P, N] of all joints, the forces N^T (h + M d)
    that hold the independent velocities, and how far the state is from an answer."""

    A: Expression
    B: Expression
    a: Expression
    C: Expression
    D: Expression
    U: Expression
    V: Expression
    W: Expression
    F: Expression
    position_map: Expression
    velocity_map: Expression
    needed: Expression
    residual: Expression
    condition: Expression


def linearized(
    m: Model, q: Expression, v: Expression, tau: Expression, **options: Any
) -> list[Expression]:
    """All of the linear model about a state."""
    return list(linear_model(m, q, v, tau, **options))


def linear_model(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    partition: Partition | None = None,
    outputs: tuple[Output, ...] = (),
    external: External | None = None,
    *,
    structure: Structure,
) -> Linearized:
    """The linear model about a state, with the outputs that are asked for."""
    p = partition or structure.partition
    # The changes of reactions are those of forces in axes that turn with the bodies.
    s = eliminated(m, q, v, external or {}, structure, p, all(x.of != "reaction" for x in outputs))
    a, i, n = s.accelerations(tau), list(p.independent), len(p.independent)
    B = actuation(m, casadi.SX.eye(m.nu))
    reaction = s.multipliers(s.M @ a + s.h - actuation(m, tau))
    G_q, G_v, _ = inverse_dynamics_derivatives(m, q, v, a, external or {})
    still, nothing, P = zeros(m.nv, m.nu), zeros(m.nv, n), zeros(m.nv, n)
    carried = s.M @ s.N
    U, F = s.N.T @ carried, s.N.T @ B
    V, W = s.N.T @ G_v, s.N.T @ G_q  # of all velocities so far
    if m.closed:
        loops = loop_derivatives.derivatives(m, q, v, a, reaction, p.rows, s.aligned, turning=False)
        P = s.following(-loops.speed_q @ s.N)
        Y = s.multipliers(carried)
        V, W = V - Y.T @ loops.gap_v, W - s.N.T @ loops.forces_q - Y.T @ loops.gap_q
    V, W = V @ s.N, W @ s.N + V @ P
    z = Change(
        *casadi.horzsplit(s.reduced.solve(casadi.horzcat(-W, -V, F)), [0, n, 2 * n, 2 * n + m.nu])
    )
    A = casadi.vertcat(
        casadi.horzcat(displacement_rates(m, v)[i, :] @ s.N, casadi.SX.eye(n)), z.of_state
    )
    y = Change.none(0, n, m.nu)
    if outputs:
        dq, dv, da = Change(s.N, nothing, still), Change(P, s.N, still), z.through(s.N)
        if m.closed:
            R, Q = (
                s.following(-(loops.gap_q @ s.N + loops.gap_v @ P)),
                s.following(-loops.gap_v @ s.N),
            )
            da, G_q = da + Change(R, Q, still), G_q - loops.forces_q
        forces = da.through(s.M) + dq.through(G_q) + dv.through(G_v) + Change(nothing, nothing, -B)
        y = output_changes(
            s, a, reaction, outputs, external or {}, dq, dv, da, forces.by(s.multipliers)
        )
    B = casadi.vertcat(zeros(n, m.nu), z.tau)
    velocity_map = casadi.horzcat(P, s.N)
    return Linearized(
        A, B, a, y.of_state, y.tau, U, V, W, F, s.N, velocity_map, s.needed, s.residual, s.condition
    )


def holding(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    partition: Partition | None = None,
    external: External | None = None,
    *,
    structure: Structure,
) -> list[Expression]:
    """F and N^T (M v' + h) of F tau = N^T (M v' + h), for given accelerations."""
    s = eliminated(m, q, v, external or {}, structure, partition or structure.partition)
    if m.closed:
        s.residuals.append(s.J @ a - s.gamma)
    held = casadi.SX(1)  # mass is not asked for
    if s.dependent is not None:
        held = s.dependent.condition(velocity_scales(m)[list(s.partition.dependent)])
    return [s.N.T @ actuation(m, casadi.SX.eye(m.nu)), s.N.T @ (s.M @ a + s.h), s.residual, held]


def linearized_tree(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    partition: Partition | None = None,
    outputs: tuple[Output, ...] = (),
    external: External | None = None,
    *,
    structure: Structure,
) -> list[Expression]:
    """A, B, the accelerations, C and D of a tree, all of whose velocities are independent, and the forces h that hold it."""
    if outputs:
        made = linear_model(m, q, v, tau, partition, outputs, external, structure=structure)
        return [made.A, made.B, made.a, made.C, made.D, made.needed, made.condition]
    by = forward_dynamics_derivatives(m, q, v, tau, external, structure=structure)
    above = casadi.horzcat(displacement_rates(m, v), casadi.SX.eye(m.nv))
    A = casadi.vertcat(above, casadi.horzcat(by.a_by["q"], by.a_by["v"]))
    B = casadi.vertcat(zeros(m.nv, m.nu), by.a_by["tau"])
    return [A, B, by.a, zeros(0, 2 * m.nv), zeros(0, m.nu), by.held, by.condition]


def linearized_plain_tree(
    m: Model, q: Expression, v: Expression, tau: Expression, **options: Any
) -> list[Expression]:
    """The same where velocities are rates of coordinates, without the upper halves of A and B, which are [0, 1] and 0, and
    without C and D: nothing is measured that must be computed."""
    A, B, a, _, _, needed, condition = linearized_tree(m, q, v, tau, **options)
    return [A[m.nv :, :], B[m.nv :, :], a, needed, condition]


def tree_terms(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    partition: Partition | None = None,
    external: External | None = None,
    *,
    structure: Structure,
) -> list[Expression]:
    """U, V and W of a tree at given accelerations."""
    by = inverse_dynamics_derivatives(m, q, v, a, external or {})
    return [by.M, by.dv, by.dq]


def linear_sensitivity(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    value: Expression,
    moved: Expression,
    sped: Expression,
    forced: Expression,
    parameter: str,
    partition: Partition | None = None,
    outputs: tuple[Output, ...] = (),
    external: External | None = None,
    *,
    structure: Structure,
) -> list[Expression]:
    """The derivatives of U, V, W, F, A, B, C, D and the accelerations by a parameter, where the independent coordinates change by
    `moved`, the independent velocities by `sped` and the actuators' forces by `forced`; all else follows, so that the loops stay
    closed."""
    varied, p = m.with_symbols({**m.symbols, parameter: value}), partition or structure.partition
    made = Linearized(
        *inlined(linear_model(varied, q, v, tau, p, outputs, external, structure=structure))
    )
    step_q, step_v = _following(varied, q, v, value, moved, sped, p)
    changing = [made.U, made.V, made.W, made.F, made.A, made.B, made.C, made.D, made.a]
    direction = casadi.vertcat(step_q, step_v, forced, casadi.SX(1))
    stacked = casadi.densify(casadi.vertcat(*(casadi.vec(x) for x in changing)))
    changed = casadi.jtimes(stacked, casadi.vertcat(q, v, tau, value), direction)
    ends = list(accumulate((x.numel() for x in changing), initial=0))
    parts = [
        casadi.reshape(changed[b:c], *x.shape)
        for x, (b, c) in zip(changing, pairwise(ends), strict=True)
    ]
    return [*parts, made.residual, _of_both(m, made)]


def _following(
    m: Model,
    q: Expression,
    v: Expression,
    value: Expression,
    moved: Expression,
    sped: Expression,
    p: Partition,
) -> tuple[Expression, Expression]:
    """How all coordinates and velocities change with a parameter, and with the independent ones."""
    e, step_q, step_v = list(p.dependent), zeros(m.nv), zeros(m.nv)
    step_q[list(p.independent), :], step_v[list(p.independent), :] = moved, sped
    along = coordinate_rates(m, q)
    if m.closed:
        phi, J, _, rate = closure.equations(m, q, v, p.rows)
        dependent, speed = OrthogonalFactors(J[:, e]), J @ v + rate
        step_q[e, :] = -dependent.solve(casadi.jacobian(phi, value) + J @ step_q)
        state, direction = casadi.vertcat(q, value), casadi.vertcat(along @ step_q, casadi.SX(1))
        step_v[e, :] = -dependent.solve(casadi.jtimes(speed, state, direction) + J @ step_v)
    return along @ step_q, step_v


def state_matrix(
    m: Model, q: Expression, v: Expression, tau: Expression, **options: Any
) -> list[Expression]:
    """A of dx/dt = A x + B u."""
    made = linear_model(m, q, v, tau, **options)
    return [made.A, made.residual, _of_both(m, made)]


def input_matrix(
    m: Model, q: Expression, v: Expression, tau: Expression, **options: Any
) -> list[Expression]:
    """B of dx/dt = A x + B u."""
    made = linear_model(m, q, v, tau, **options)
    return [made.B, made.residual, _of_both(m, made)]


def _of_both(m: Model, made: Linearized) -> Expression:
    """The condition of the constraints and of the mass; of a tree there is that of the mass alone."""
    return made.condition if m.closed else joint_condition(casadi.SX(1), made.condition)
