"""The exact linear model about any state of motion, of trees and closed chains.

A tree with loops obeys M v' + h = B tau + J^T lambda and Phi(q) = 0. Its independent velocities
determine the others (the null-space method), and small changes x, y, z of the independent
coordinates, velocities and accelerations those of all joints,

    dq = N x,   dv = N y + P x,   da = N z + Q y + R x,      N = [1; -Phi_e^-1 Phi_i],

since Phi, Phi' and Phi'' stay zero. By virtual work N^T (M v' + h - B tau - J^T lambda) = 0 stays
zero too, in which the change of N itself drops out, and so (Rojas, eq. 5.4.1, there for open
chains)

    F dtau = U z + V y + W x,
    U = N^T M N,  V = N^T (G_v N + M Q),  W = N^T (G_q N + G_v P + M R),  F = N^T B,

with G_q and G_v the derivatives of M v' + h - J^T lambda by q and v, at the accelerations and
multipliers of the state. With Y = Phi_e^-T (M N)_e the products N^T M Q and N^T M R are -Y^T of
what the derivatives of J v' - gamma give, so that neither Q nor R is solved for. Derivatives by q
are taken along the velocities, so that quaternions are in their tangent space; there displacements
are carried along by the motion, x' = y + K x.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from eslabon.compiler.calls import inlined
from eslabon.formulas.derivatives import loop_derivatives
from eslabon.formulas.derivatives.measured_outputs import (
    Change,
    MotionChange,
    Output,
    output_changes,
)
from eslabon.formulas.derivatives.parameter_derivatives import follow_parameters
from eslabon.formulas.derivatives.state_derivatives import (
    forward_dynamics_derivatives,
    joint_force_derivatives,
)
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.motion_state import MotionState
from eslabon.formulas.structure import HeldMotion
from eslabon.model.configuration import displacement_rates
from eslabon.numerics.scalars import Expression, casadi


class LinearTerms(NamedTuple):
    """A linear model: its matrices, the accelerations of its state, the maps N and [P, N] of all
    joints, and the forces N^T (h + M d) that hold the independent velocities."""

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


def linear_model(
    s: MotionState, tau: Expression, outputs: tuple[Output, ...] = ()
) -> list[Expression]:
    """All of the linear model about a state with the outputs that are asked for, and its checks."""
    if any(x.of == "reaction" for x in outputs):
        # The changes of reactions are those of forces in axes that turn with the bodies.
        s = replace(s, method=replace(s.method, align=False))
    return [*linear_terms(s, tau, outputs), *s.checks(s.elimination.condition)]


def linear_terms(s: MotionState, tau: Expression, outputs: tuple[Output, ...] = ()) -> LinearTerms:
    """The linear model about a state; where reactions are measured, no rows of it are aligned."""
    m, (M, h), reduction = s.m, s.equations, s.elimination
    N, i, n = reduction.N, reduction.independent, reduction.N.shape[1]
    drift = reduction.dependent_motion(s.closure.gamma)  # J d = gamma
    needed = N.T @ (h + M @ drift)
    # (N^T M N) v_i' = N^T B tau - N^T (h + M d), v' = N v_i' + d (Díaz, eq. 4 corrected)
    a = N @ reduction.reduced_mass.solve(N.T @ s.actuation(tau) - needed) + drift
    reaction = reduction.multipliers_of(M @ a + h - s.actuation(tau))
    G_q, G_v, _ = joint_force_derivatives(s, a)
    B, momenta = s.actuation(casadi.SX.eye(m.nu)), M @ N
    U, F, P = N.T @ momenta, N.T @ B, zeros(m.nv, n)
    V, W = N.T @ G_v, N.T @ G_q  # of all velocities so far
    if m.closed:
        loops = loop_derivatives.derivatives(s, a, reaction, turning=False)
        P = reduction.dependent_motion(-loops.speed_q @ N)
        Y = reduction.multipliers_of(momenta)
        V, W = V - Y.T @ loops.gap_v, W - N.T @ loops.forces_q - Y.T @ loops.gap_q
    V, W = V @ N, W @ N + V @ P
    solved = reduction.reduced_mass.solve(casadi.horzcat(-W, -V, F))
    z = Change(*casadi.horzsplit(solved, [0, n, 2 * n, 2 * n + m.nu]))
    upper = casadi.horzcat(displacement_rates(m, s.v)[i, :] @ N, casadi.SX.eye(n))
    A = casadi.vertcat(upper, z.of_state)
    y = Change.none(0, n, m.nu)
    if outputs:
        still, nothing = zeros(m.nv, m.nu), zeros(m.nv, n)
        dq, dv, da = Change(N, nothing, still), Change(P, N, still), z.through(N)
        if m.closed:
            R = reduction.dependent_motion(-(loops.gap_q @ N + loops.gap_v @ P))
            Q = reduction.dependent_motion(-loops.gap_v @ N)
            da, G_q = da + Change(R, Q, still), G_q - loops.forces_q
        forces = da.through(M) + dq.through(G_q) + dv.through(G_v) + Change(nothing, nothing, -B)
        changes = MotionChange(dq, dv, da, forces.by(reduction.multipliers_of))
        y = output_changes(s, a, reaction, outputs, changes)
    B = casadi.vertcat(zeros(n, m.nu), z.tau)
    velocity_map = casadi.horzcat(P, N)
    return LinearTerms(A, B, a, y.of_state, y.tau, U, V, W, F, N, velocity_map, needed)


def holding_forces(s: MotionState, a: Expression) -> list[Expression]:
    """F and N^T (M v' + h) of F tau = N^T (M v' + h), for given accelerations, and the checks."""
    (M, h), N = s.equations, s.elimination.N
    condition = s.elimination.constraint_condition  # mass is not asked for
    checks = s.checks(condition, a)
    return [N.T @ s.actuation(casadi.SX.eye(s.m.nu)), N.T @ (M @ a + h), *checks]


def linear_model_of_tree(
    s: MotionState, tau: Expression, outputs: tuple[Output, ...] = ()
) -> list[Expression]:
    """A, B, the accelerations, C and D of a tree, all of whose velocities are independent, the
    forces h that hold it, and its condition.

    The matrices of trees are larger than what they are made of, so U, V and W are apart.
    """
    if outputs:
        made = linear_terms(s, tau, outputs)
        checks = s.checks(s.elimination.condition)
        return [made.A, made.B, made.a, made.C, made.D, made.needed, *checks]
    nv, nu, by = s.m.nv, s.m.nu, forward_dynamics_derivatives(s, tau)
    upper = casadi.horzcat(displacement_rates(s.m, s.v), casadi.SX.eye(nv))
    A = casadi.vertcat(upper, casadi.horzcat(by.a_by["q"], by.a_by["v"]))
    B = casadi.vertcat(zeros(nv, nu), by.a_by["tau"])
    return [A, B, by.a, zeros(0, 2 * nv), zeros(0, nu), by.holding_forces, *by.checks]


def linear_model_of_plain_tree(
    s: MotionState, tau: Expression, outputs: tuple[Output, ...] = ()
) -> list[Expression]:
    """The lower halves of A and B of a tree whose velocities are rates of coordinates, where the
    upper ones are [0, 1] and 0, the accelerations, the forces h, and the condition."""
    A, B, a, _, _, needed, *checks = linear_model_of_tree(s, tau, outputs)
    return [A[s.m.nv :, :], B[s.m.nv :, :], a, needed, *checks]


def linear_terms_of_tree(s: MotionState, a: Expression) -> list[Expression]:
    """U, V and W of a tree at given accelerations."""
    by = joint_force_derivatives(s, a)
    return [by.M, by.dv, by.dq]


def linear_sensitivity(
    s: MotionState,
    tau: Expression,
    value: Expression,
    *changes: Expression,
    parameter: str,
    outputs: tuple[Output, ...] = (),
) -> list[Expression]:
    """The derivatives of U, V, W, F, A, B, C, D and the accelerations by a parameter.

    `changes` are those of the independent coordinates, of the independent velocities and of the
    actuator forces; all else follows, so that the loops stay closed.
    """
    moved, sped, forced = changes
    m, p = s.m.with_symbols({**s.m.symbols, parameter: value}), s.partition
    found = inlined(linear_model(replace(s, m=m), tau, outputs))
    made, checks = (
        LinearTerms(*found[: len(LinearTerms._fields)]),
        found[len(LinearTerms._fields) :],
    )
    steps = {"q": zeros(m.nv), "v": zeros(m.nv)}
    steps["q"][list(p.independent), :], steps["v"][list(p.independent), :] = moved, sped
    held = HeldMotion(p.rows, p.independent, p.dependent)
    followed = follow_parameters(m, {"q": s.q, "v": s.v}, value, held, steps).steps
    changing = [made.U, made.V, made.W, made.F, made.A, made.B, made.C, made.D, made.a]
    direction = casadi.vertcat(followed["q"], followed["v"], forced, casadi.SX(1))
    stacked = casadi.densify(casadi.vertcat(*(casadi.vec(x) for x in changing)))
    changed = casadi.jtimes(stacked, casadi.vertcat(s.q, s.v, tau, value), direction)
    ends = list(accumulate((x.numel() for x in changing), initial=0))
    parts = [
        casadi.reshape(changed[b:c], *x.shape)
        for x, (b, c) in zip(changing, pairwise(ends), strict=True)
    ]
    return [*parts, *checks]


def state_matrix(s: MotionState, tau: Expression) -> list[Expression]:
    """A of dx/dt = A x + B u."""
    made = linear_terms(s, tau)
    return [made.A, *s.checks(s.elimination.condition)]


def input_matrix(s: MotionState, tau: Expression) -> list[Expression]:
    """B of dx/dt = A x + B u."""
    made = linear_terms(s, tau)
    return [made.B, *s.checks(s.elimination.condition)]
