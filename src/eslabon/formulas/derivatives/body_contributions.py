"""The joint forces by where they come from, and what each source adds to the linear model (Rojas, 5.5).

Joint forces are linear in the inertia of each body, and motors, springs, friction and wrenches add to them. So do U, V and W,
and with loops the multipliers lambda, whose directions change with the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from eslabon.compiler.calls import inlined
from eslabon.formulas.applied_loads import (
    given_wrenches,
    joint_resistance,
    motor_inertia,
    spring_wrenches,
)
from eslabon.formulas.constrained.eliminated import Eliminated, eliminated
from eslabon.formulas.constrained.trees import actuation
from eslabon.formulas.derivatives import loop_derivatives
from eslabon.formulas.formulations import rnea
from eslabon.formulas.formulations.lagrange import virtual_work
from eslabon.formulas.kinematics.closure import Partition, Structure
from eslabon.formulas.kinematics.links import links
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import Inertia

External = Mapping[str, Expression]


def body_forces(m: Model, q: Expression, v: Expression, a: Expression) -> Expression:
    """A column for each body: the joint forces that its inertia and weight need."""
    scale = casadi.SX.sym("scale", len(m.bodies))
    tree = [
        replace(link, inertia=_scaled(link.inertia, scale[k])) for k, link in enumerate(links(m))
    ]
    return casadi.jacobian(rnea.joint_forces(m, tree, q, v, a), scale)


def _scaled(x: Inertia, share: Expression) -> Inertia:
    return Inertia(share * x.mass, share * x.first, share * x.second, share * x.rotary)


def other_forces(
    m: Model,
    source: str,
    q: Expression,
    v: Expression,
    a: Expression,
    tau: Expression,
    external: External,
) -> Expression:
    """The joint forces that a source other than a body takes."""
    if source == "motors":
        return motor_inertia(m) * a
    if source == "springs":
        return joint_resistance(m, q, zeros(m.nv)) - virtual_work(m, q, spring_wrenches(m, q, v))
    if source == "friction":
        return joint_resistance(m, q, v) - joint_resistance(m, q, zeros(m.nv))
    return (
        -virtual_work(m, q, given_wrenches(m, q, external))
        if source == "wrenches"
        else -actuation(m, tau)
    )


def linear_contributions(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    partition: Partition | None = None,
    sources: tuple[str, ...] = (),
    external: External | None = None,
    *,
    structure: Structure,
) -> list[Expression]:
    """U, V and W of each body and of each of the `sources`, one below the other, and the part of W that is a body's weight."""
    s = eliminated(m, q, v, external or {}, structure, partition or structure.partition)
    a, held = casadi.densify(s.accelerations(tau)), casadi.SX.sym("a", m.nv)
    still = zeros(m.nv)
    bodies, weights = body_forces(m, q, v, held), body_forces(m, q, still, still)
    forces = casadi.horzsplit(bodies) if m.bodies else []
    forces += [other_forces(m, source, q, v, held, tau, external or {}) for source in sources]
    slopes = [
        _slopes(m, casadi.densify(f), q, v, held) for f in (*forces, *casadi.horzsplit(weights))
    ]
    split = Split(s, a)
    made = [split(*casadi.substitute(slope, [held], [a])) for slope in slopes]
    parts, weighing = made[: len(forces)], made[len(forces) :]
    stacked = [casadi.vertcat(*column) for column in zip(*parts, strict=True)]
    return [*stacked, casadi.vertcat(*(W for *_, W in weighing)), s.residual, s.condition]


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


class Split:
    """What joint forces f, with their derivatives, add to U, V and W at a state: as in `linearized`, with the multipliers that
    f alone has."""

    def __init__(self, s: Eliminated, a: Expression) -> None:
        self.s, n = s, s.N.shape[1]
        self.P = self.Q = self.R = zeros(s.m.nv, n)
        if s.dependent is not None:
            carried = casadi.SX.sym("lambda", len(s.partition.rows))
            loops = loop_derivatives.derivatives(
                s.m, s.q, s.v, a, carried, s.partition.rows, s.aligned, turning=False
            )
            self.P, self.Q = s.following(-loops.speed_q @ s.N), s.following(-loops.gap_v @ s.N)
            self.R = s.following(-(loops.gap_q @ s.N + loops.gap_v @ self.P))
            turned = casadi.vec(s.N.T @ loops.forces_q @ s.N)
            self.turned = casadi.jacobian(inlined(turned), carried)  # in which it is linear

    def __call__(
        self, f: Expression, by_q: Expression, by_v: Expression, M: Expression
    ) -> tuple[Expression, Expression, Expression]:
        s, N = self.s, self.s.N
        W = N.T @ (by_q @ N + by_v @ self.P + M @ self.R)
        if s.dependent is not None:
            W -= casadi.reshape(self.turned @ s.multipliers(f), *W.shape)
        return N.T @ M @ N, N.T @ (by_v @ N + M @ self.Q), W
