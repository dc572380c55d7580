"""The quantities of dynamics: each is a function of a state of motion, for trees and closed chains.

Functions give their results first and then their checks: how far the given state is from keeping
the loops closed, and the reciprocal condition number of what was solved. By these a state that
violates loop closure, a singular configuration and a motion without mass are told from answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from eslabon.compiler.calls import apart
from eslabon.errors import ModelError
from eslabon.formulas.applied_loads import joint_resistance, motor_inertia, potential
from eslabon.formulas.constrained.constraint_solvers import ConstrainedMass
from eslabon.formulas.formulations import aba, passive_rnea, rnea
from eslabon.formulas.formulations.body_jacobians import virtual_work
from eslabon.formulas.formulations.formulation import LAGRANGE, NEWTON_EULER
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.ball_loops import carrier
from eslabon.formulas.kinematics.links import Link, links, reduced_links
from eslabon.formulas.kinematics.symbols import constant, zeros
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.formulas.motion_state import MotionState, constraint_method
from eslabon.formulas.structure import Partition
from eslabon.model import GROUND, Model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import Inertia, wrench_to_parent


class Motion(NamedTuple):
    """Accelerations of a state, the constraint forces lambda that go with them, and the checks."""

    a: Expression
    reaction: Expression
    checks: list[Expression]


def motion_under_forces(
    s: MotionState, tau: Expression, joint_forces: Expression | float = 0.0
) -> Motion:
    """The motion under actuator forces, and forces along all velocities besides.

    On long chains by the articulated-body algorithm (ABA), otherwise from
    M a = B tau - h + J^T lambda and J a = gamma.
    """
    force = s.actuation(tau) + joint_forces
    if prefers_articulated_bodies(s):
        return _motion_by_articulated_bodies(s, force)
    solver = s.solver()
    a, reaction = solver.solve(force - s.equations.h, s.closure.gamma)
    return Motion(a, reaction, s.checks(solver.condition))


def prescribed_motion(s: MotionState, a: Expression) -> Motion:
    """The motion with given accelerations, those of passive spins apart; of redundant actuators the
    forces of minimum norm."""
    if not s.m.closed:
        return Motion(a, zeros(0), [])
    a, needed = s.prescribed(a)
    effort = s.effort(needed)
    return Motion(a, effort.reaction, s.checks(effort.condition, a))


def prefers_articulated_bodies(s: MotionState) -> bool:
    """Whether forward dynamics is by ABA: of trees, where no formulation is asked for."""
    if s.m.closed or s.method.formulation is not None:
        return False
    return articulated_bodies_pay(reduced_links(s.m))


def articulated_bodies_pay(tree: Sequence[Link]) -> bool:
    """Whether ABA takes fewer operations than factors of the mass matrix: on long chains.

    Counted on random trees: a body costs ABA about 600 operations, and the mass matrix about 45 for
    each joint between it and the ground and one for each pair of them.
    """
    depth: list[int] = []
    for link in tree:
        depth.append((depth[link.parent] if link.parent >= 0 else 0) + link.kind.nv)
    return sum(150 + 45 * d + d * d for d in depth) > 620 * len(tree)


def _motion_by_articulated_bodies(s: MotionState, force: Expression) -> Motion:
    m, tree, floor = s.m, reduced_links(s.m), s.structure.floor
    force = force - joint_resistance(m, s.q, s.v) + virtual_work(m, s.q, s.wrenches)
    a, joints = aba.accelerations(m, tree, s.q, s.v, force, casadi.densify(motor_inertia(m)))
    shares = [
        joint.pivot_condition(floor[link.v]) for joint, link in zip(joints, tree, strict=True)
    ]
    condition = len(shares) / sum((1 / share for share in shares), casadi.SX(0))
    return Motion(a, zeros(0), [condition])


# The verbs ----------------------------------------------------------------------------------------


def forward_dynamics(
    s: MotionState, tau: Expression, joint_forces: Expression | float = 0.0
) -> list[Expression]:
    """The accelerations under actuator forces, and forces along all velocities besides."""
    motion = motion_under_forces(s, tau, joint_forces)
    return [motion.a, *motion.checks]


def inverse_dynamics(
    s: MotionState, a: Expression, weights: tuple[float, ...] | None = None
) -> list[Expression]:
    """The actuator forces of a motion that keeps the loops closed (Yime, 5).

    Of a tree they are the actuated ones of all joint forces, and there is nothing to check. Passive
    spins follow their own dynamics, whatever accelerations are given for them.
    """
    effort = s.effort(s.prescribed(a).forces, weights)
    if not s.m.closed:
        return [effort.forces]
    return [effort.forces, *s.checks(effort.condition, a)]


def hybrid_dynamics(s: MotionState, a: Expression) -> list[Expression]:
    """Actuator forces and all accelerations when only the actuated ones in `a` are prescribed.

    These are constraints like any other, B^T v' = a, whose multipliers are the actuator forces;
    the motions that no actuator drives follow their own dynamics.
    """
    m, p, (M, h) = s.m, s.partition, s.equations
    driven = list(m.actuated_velocities)
    if not set(driven) <= set(p.independent):
        raise ModelError(
            f"the actuators of {m.name} are not independent of one another; hybrid_dynamics needs "
            "them so."
        )
    passive = tuple(k for k in p.independent if k not in driven)
    whole = Partition(p.rows, passive, tuple(k for k in range(m.nv) if k not in passive))
    scales = velocity_scales(m)
    prescribed = casadi.diag(casadi.SX(scales))[driven, :]  # comparable, as the rows of loops are
    J = casadi.vertcat(s.closure.J, prescribed)
    gamma = casadi.vertcat(s.closure.gamma, prescribed @ a)
    # Elimination needs no mass where motion is prescribed; the loops' penalty does the same for
    # multipliers.
    known = s.structure
    mass = ConstrainedMass(M, J, whole, known.penalty, floor=known.floor, scales=scales)
    solver = constraint_method(s.method.constraints if m.closed else "elimination")(mass, 1)
    accelerations, reaction = solver.solve(-h, gamma)
    forces = prescribed[:, driven] @ reaction[len(p.rows) :, :]
    return [forces, accelerations, *s.checks(solver.condition)]


def reactions(s: MotionState, motion: Motion) -> list[Expression]:
    """A row for each joint and then each loop: the moment and force that it transmits.

    A joint's is on its child, in the child's axes about its origin; a loop's is on its second body,
    in the loop's second frame.
    """
    return [transmitted_wrenches(s, motion.a, motion.reaction), *motion.checks]


def coupling_forces(s: MotionState, motion: Motion) -> list[Expression]:
    """The force (or moment) that each coupling exerts on its joint.

    That is a gear's tooth force, and the force that drives a driven joint.
    """
    return [_of_couplings(s.m, s.partition, motion.reaction), *motion.checks]


def _of_couplings(m: Model, p: Partition, reaction: Expression) -> Expression:
    """lambda of the couplings' rows, which come last; redundant rows carry nothing."""
    reaction = closure.in_units(m, reaction, p.rows)
    first, forces = len(closure.row_names(m)) - len(m.couplings), zeros(len(m.couplings))
    for k, row in enumerate(p.rows):
        if row >= first:
            forces[row - first] = reaction[k]
    return forces


def transmitted_wrenches(s: MotionState, a: Expression, reaction: Expression) -> Expression:
    """The rows of `reactions`, by an inward sweep of RNEA, from what the constraint rows carry."""
    loops, applied = _loop_wrenches(s.m, s.q, s.partition, reaction, s.aligned_rows)
    total = dict(s.wrenches)
    for body, wrench in applied.items():
        total[body] = total.get(body, zeros(6)) + wrench
    tree = links(s.m)
    rows = rnea.inward(tree, rnea.outward(s.m, tree, s.q, s.v, a), total)
    return casadi.vertcat(*(row.T for row in rows), *(x.T for x in loops))


def _loop_wrenches(
    m: Model, q: Expression, p: Partition, reaction: Expression, aligned: tuple[str, ...]
) -> tuple[list[Expression], dict[str, Expression]]:
    """Each loop's wrench on its second body in the loop's second frame, and by body in body
    axes."""
    reaction = closure.in_units(m, reaction, p.rows)
    loops: list[Expression] = []
    applied: dict[str, Expression] = {}
    if not m.loops:
        return loops, applied
    placed, start = placements(m, q), 0
    for loop in m.loops:
        first, second = (on_body(placed, end.body, end.at) for end in (loop.first, loop.second))
        between = second.relative_to(first)
        count = loop.kind.rows
        values = zeros(count)
        for k, row in enumerate(p.rows):
            if start <= row < start + count:
                values[row - start] = reaction[k]
        if loop.name in aligned:
            turn = second.relative_to(placed[carrier(m)]).R
            values = constant(turn).T @ values
        loops.append(constant(loop.kind.covectors(*between)) @ values)
        start += count
        second, first = (
            loop.second.at.transform(),
            loop.first.at.transform() @ between,
        )  # the second frame on either body
        for end, here, sign in ((loop.second, second, 1), (loop.first, first, -1)):
            if end.body != GROUND:
                applied[end.body] = applied.get(end.body, zeros(6)) + wrench_to_parent(
                    here, sign * loops[-1]
                )
    return loops, applied


def equations_of_all_rows(s: MotionState, tau: Expression) -> list[Expression]:
    """M, the forces f - h, J and gamma with every row of the constraints, dependent or not.

    This is what a rank-revealing solution starts from.
    """
    every = tuple(range(len(closure.row_names(s.m))))
    _, J, gamma, _ = closure.equations(s.m, s.q, s.v, every)
    M, h = s.equations
    return [casadi.densify(x) for x in (M, s.actuation(tau) - h, J, gamma)]


# Terms of the tree --------------------------------------------------------------------------------


def mass_matrix(s: MotionState) -> Expression:
    """M(q) with the inertia of motors, by the composite-rigid-body algorithm (CRBA) if no
    formulation is asked for."""
    formulation = s.method.formulation or NEWTON_EULER
    return formulation.mass_matrix(s.m, s.q) + casadi.diag(motor_inertia(s.m))


def coriolis_matrix(s: MotionState) -> Expression:
    """C(q, v) with dM/dt - 2 C skew.

    If no formulation is asked for, and of Lagrange's equations, it is Rojas' (eq. 4.3.33), which is
    not the matrix of Christoffel; quaternions give Christoffel's by derivatives of Jacobians, and
    all other formulations by the derivatives of their own M.
    """
    formulation = s.method.formulation or LAGRANGE
    return formulation.coriolis_matrix(s.m, s.q, s.v)


def gravity_forces(s: MotionState) -> Expression:
    """The joint forces that hold the weight."""
    still = zeros(s.m.nv)
    return rnea.joint_forces(s.m, reduced_links(s.m), s.q, still, still)


def energy(s: MotionState) -> Expression:
    """Kinetic and potential energy."""
    return casadi.vertcat(casadi.dot(s.v, mass_matrix(s) @ s.v) / 2, potential(s.m, s.q))


def regressor(s: MotionState, a: Expression) -> Expression:
    """Y with joint forces Y pi, linear in the inertial parameters pi of all bodies, ten each:
    mass, m c (3), and Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the body's frame."""
    pi, tree = _with_inertia_symbols(s.m)
    return apart(
        lambda *state: casadi.jacobian(rnea.joint_forces(s.m, tree, *state), pi), s.q, s.v, a
    )


def passive_regressor(s: MotionState, w: Expression, a: Expression) -> Expression:
    """Y with M a + C(q, v) w + g = Y pi, where dM/dt - 2 C is skew (Slotine and Li, 1987).

    pi is as in `regressor`, which it is for w = v.
    """
    pi, tree = _with_inertia_symbols(s.m)
    return apart(
        lambda *state: casadi.jacobian(passive_rnea.joint_forces(s.m, tree, *state), pi),
        s.q,
        s.v,
        w,
        a,
    )


def _with_inertia_symbols(m: Model) -> tuple[Expression, list[Link]]:
    """Symbols for the inertial parameters of all bodies, and the links that have them."""
    pi = casadi.SX.sym("pi", 10 * len(m.bodies))
    return pi, [
        replace(link, inertia=_inertia(pi[10 * k : 10 * k + 10])) for k, link in enumerate(links(m))
    ]


def _inertia(pi: Expression) -> Inertia:
    """The inertia of the usual ten parameters: Sigma = tr(J)/2 1 - J."""
    xx, yy, zz, xy, xz, yz = (pi[k] for k in range(4, 10))
    J = casadi.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia(pi[0], pi[1:4], (xx + yy + zz) / 2 * casadi.SX.eye(3) - J, J)
