"""The joint forces by where they come from, and what each source adds to the linear model (Rojas,
5.5).

Joint forces are linear in the inertia of each body, and motors, springs, friction and wrenches add
to them. So do U, V and W, and with loops the multipliers lambda, whose directions change with the
configuration.
"""

from __future__ import annotations

from dataclasses import replace

from eslabon.compiler.calls import inlined
from eslabon.formulas.applied_loads import (
    given_wrenches,
    joint_resistance,
    motor_inertia,
    spring_wrenches,
)
from eslabon.formulas.derivatives import loop_derivatives
from eslabon.formulas.formulations import rnea
from eslabon.formulas.formulations.body_jacobians import virtual_work
from eslabon.formulas.kinematics.links import links
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.motion_state import MotionState
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import Inertia


def body_forces(m: Model, q: Expression, v: Expression, a: Expression) -> Expression:
    """A column for each body: the joint forces that its inertia and weight need."""
    scale = casadi.SX.sym("scale", len(m.bodies))
    tree = [
        replace(link, inertia=_scale_inertia(link.inertia, scale[k]))
        for k, link in enumerate(links(m))
    ]
    return casadi.jacobian(rnea.joint_forces(m, tree, q, v, a), scale)


def _scale_inertia(x: Inertia, share: Expression) -> Inertia:
    return Inertia(share * x.mass, share * x.first, share * x.second, share * x.rotary)


def other_forces(s: MotionState, source: str, a: Expression, tau: Expression) -> Expression:
    """The joint forces that a source other than a body takes."""
    m, q, v = s.m, s.q, s.v
    if source == "motors":
        return motor_inertia(m) * a
    if source == "springs":
        return joint_resistance(m, q, zeros(m.nv)) - virtual_work(m, q, spring_wrenches(m, q, v))
    if source == "friction":
        return joint_resistance(m, q, v) - joint_resistance(m, q, zeros(m.nv))
    if source == "wrenches":
        return -virtual_work(m, q, given_wrenches(m, q, s.external))
    return -s.actuation(tau)


def linear_contributions(
    s: MotionState, tau: Expression, sources: tuple[str, ...] = ()
) -> list[Expression]:
    """U, V and W of each body and of each of the `sources`, one below the other, the part of W that
    is a body's weight, and the checks."""
    m, q, v = s.m, s.q, s.v
    solution, _ = s.elimination.solve(s.actuation(tau) - s.equations.h, s.closure.gamma)
    a, held = casadi.densify(solution), casadi.SX.sym("a", m.nv)
    still = zeros(m.nv)
    bodies, weights = body_forces(m, q, v, held), body_forces(m, q, still, still)
    forces = casadi.horzsplit(bodies) if m.bodies else []
    forces += [other_forces(s, source, held, tau) for source in sources]
    slopes = [
        _slopes(m, casadi.densify(f), q, v, held) for f in (*forces, *casadi.horzsplit(weights))
    ]
    split = LinearShare(s, a)
    made = [split(*casadi.substitute(slope, [held], [a])) for slope in slopes]
    parts, weighing = made[: len(forces)], made[len(forces) :]
    stacked = [casadi.vertcat(*column) for column in zip(*parts, strict=True)]
    checks = s.checks(s.elimination.condition)
    return [*stacked, casadi.vertcat(*(W for *_, W in weighing)), *checks]


def _slopes(
    m: Model, f: Expression, q: Expression, v: Expression, a: Expression
) -> list[Expression]:
    """Joint forces with their derivatives by q (along the velocities), v and a."""
    return [
        f,
        casadi.jacobian(f, q) @ coordinate_rates(m, q),
        casadi.jacobian(f, v),
        casadi.jacobian(f, a),
    ]


class LinearShare:
    """What joint forces f, with their derivatives, add to U, V and W at a state: as in
    `linear_model`, with the multipliers that f alone has."""

    def __init__(self, s: MotionState, a: Expression) -> None:
        self.s, self.reduction, N = s, s.elimination, s.elimination.N
        self.P = self.Q = self.R = zeros(s.m.nv, N.shape[1])
        if s.m.closed:
            carried = casadi.SX.sym("lambda", len(s.partition.rows))
            loops = loop_derivatives.derivatives(s, a, carried, turning=False)
            self.P = self.reduction.dependent_motion(-loops.speed_q @ N)
            self.Q = self.reduction.dependent_motion(-loops.gap_v @ N)
            self.R = self.reduction.dependent_motion(-(loops.gap_q @ N + loops.gap_v @ self.P))
            turned = casadi.vec(N.T @ loops.forces_q @ N)
            self.turned = casadi.jacobian(inlined(turned), carried)  # in which it is linear

    def __call__(
        self, f: Expression, by_q: Expression, by_v: Expression, M: Expression
    ) -> tuple[Expression, Expression, Expression]:
        N = self.reduction.N
        W = N.T @ (by_q @ N + by_v @ self.P + M @ self.R)
        if self.s.m.closed:
            W -= casadi.reshape(self.turned @ self.reduction.multipliers_of(f), *W.shape)
        return N.T @ M @ N, N.T @ (by_v @ N + M @ self.Q), W
