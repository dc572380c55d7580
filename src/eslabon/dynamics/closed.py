"""Dynamics of mechanisms with loops: the formulas, and the calls that refuse what is inconsistent.

Every graph here has the result first, then how far the given state is from keeping the loops closed, then the quality
of the posture: a state that tears the loops, or a singular posture, ends in a sentence and not in a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi

from eslabon.dynamics import equations
from eslabon.dynamics.applied import joint_resistance, motor_inertia, wrenches
from eslabon.dynamics.massless import stiffening
from eslabon.errors import ModelError, suggest
from eslabon.formulations import composite, constrained, lagrange, newton_euler
from eslabon.formulations.constrained import Constrained
from eslabon.formulations.factor import factors
from eslabon.formulations.links import links, short
from eslabon.formulations.symbols import SX, lean, product, zeros
from eslabon.kinematics import closure
from eslabon.kinematics.closure import Partition, partition
from eslabon.kinematics.tree import on_body, placements, relative
from eslabon.model import GROUND, Mechanism

External = Mapping[str, SX]
WAYS = ("multipliers", "gibbs_appell", "udwadia_kalaba")


def pieces(
    m: Mechanism, q: SX, v: SX, tau: SX, p: Partition, formulation: str | None, external: External
) -> tuple[Constrained, SX]:
    """The equations of the tree and of the loops, and the residual of position and velocity."""
    force = zeros(m.nv)
    force[list(m.actuated_velocities)] = tau
    everything = tuple(range(len(closure.row_names(m))))
    phi, J, gamma = closure.equations(m, q, v, everything)
    J, gamma = J[list(p.rows), :], gamma[list(p.rows)]
    if formulation in (None, *WAYS):
        tree = short(m)
        M = lean(composite.of_links(tree, q, m.nv) + casadi.diag(motor_inertia(m)))
        h = newton_euler.joint_forces(m, tree, q, v, zeros(m.nv), {})
        h = lean(h + joint_resistance(m, q, v) - lagrange.virtual_work(m, q, wrenches(m, q, v, external)))
    else:
        a = casadi.SX.sym("a", m.nv)
        needed = casadi.densify(equations.joint_forces(m, q, v, a, formulation, external))
        M, h = lean(casadi.jacobian(needed, a)), lean(casadi.substitute(needed, a, casadi.SX.zeros(m.nv)))
    left = casadi.vertcat(phi, product(J, v))
    return Constrained(M, h, force, lean(J), lean(gamma)), largest(left)


def largest(x: SX) -> SX:
    """How far a column is from zero, by its length: a NaN in any entry shows."""
    return casadi.norm_2(casadi.densify(x))


def forward_dynamics(
    m: Mechanism, q: SX, v: SX, tau: SX, formulation: str | None = None, external: External | None = None,
    ease: tuple[float, ...] = (), division: Partition | None = None,
) -> list[SX]:  # fmt: skip
    """v' under the actuators' forces, the residual, and the quality; `ease` as in `constrained.multipliers`, for all rows
    that serve everywhere.

    `division` says which velocities the explicit equations take as independent.
    """
    p = division or partition(m.plain)
    check_formulation(formulation)
    if ease:
        p = Partition(closure.serving_rows(m.plain), p.independent, p.dependent)
    c, left = pieces(m, q, v, tau, p, formulation, external or {})
    rho = stiffening(m.plain)  # which refuses what no force would move
    if formulation == "gibbs_appell":
        # Judged by their own partition, which may go bad where the posture does not.
        back = constrained.Square(c.J[:, list(p.dependent)])
        return [constrained.gibbs_appell(c, p), left, back.quality]
    c = constrained.stiffened(c, rho)
    a, _, inverse = constrained.multipliers(c, ease)
    if formulation == "udwadia_kalaba":
        a = constrained.udwadia_kalaba(c)
    return [a, left, quality(inverse)]


def quality(inverse: list[SX]) -> SX:
    """The least pivot against the largest."""
    pivots = casadi.fabs(casadi.vertcat(*inverse))
    return casadi.mmin(pivots) / casadi.mmax(pivots)


def inverse_dynamics(
    m: Mechanism, q: SX, v: SX, a: SX, formulation: str | None = None, external: External | None = None,
    weights: tuple[float, ...] | None = None, division: Partition | None = None,
) -> list[SX]:  # fmt: skip
    """The actuators' forces for a motion that keeps the loops closed (Yime, 5), the residual, and the quality."""
    check_actuation(m, partition(m.plain))
    p = division or partition(m.plain)
    _, J, gamma = closure.equations(m, q, v, p.rows)
    needed = equations.joint_forces(m, q, v, a, formulation, external or {})
    share, good = constrained.virtual_work(
        needed, lean(J), p, list(m.actuated_velocities), None if weights is None else casadi.SX(list(weights))
    )
    left = casadi.vertcat(casadi.SX(closure.constraint(m, q)), product(J, v), product(J, a) - gamma)
    return [share, largest(left), good]


def check_actuation(m: Mechanism, p: Partition) -> None:
    """Refuse to move freedoms that no actuator reaches, naming one of them."""
    loose = [k for k in p.independent if k not in m.actuated_velocities]
    if loose:
        owner = next(j.name for j in m.joints if loose[0] in range(m.nv)[m.velocities[j.name]])
        raise ModelError(
            f"{m.name} has {len(p.independent)} freedoms and its actuators ({', '.join(m.actuated) or 'none'}) leave "
            f"{len(loose)} of them uncontrolled, such as the motion of '{owner}'; actuate it too, or ask for the hybrid "
            "problem with hybrid_dynamics."
        )


def hybrid_dynamics(
    m: Mechanism, q: SX, v: SX, a: SX, formulation: str | None = None, external: External | None = None,
    division: Partition | None = None,
) -> list[SX]:  # fmt: skip
    """Actuators' forces and all accelerations when only the actuated accelerations in `a` are prescribed.

    The motions no actuator reaches follow their own dynamics: with N the motions that keep the loops closed,
    N_u^T (M v' + h) = 0 for the uncontrolled ones gives their accelerations, and the rest is inverse dynamics.
    """
    p = division or partition(m.plain)
    c, left = pieces(m, q, v, zeros(m.nu), p, formulation, external or {})
    i, e = list(p.independent), list(p.dependent)
    driven = [k for k in range(len(i)) if i[k] in m.actuated_velocities]
    loose = [k for k in range(len(i)) if k not in driven]
    if len(driven) != m.nu:
        raise ModelError(
            f"the actuators of {m.name} are not independent of one another; hybrid_dynamics needs them so."
        )
    back = constrained.Square(c.J[:, e])
    N = zeros(m.nv, len(i))
    for k, place in enumerate(i):
        N[place, k] = 1
    N[e, :] = -back.solve(c.J[:, i])
    drift = zeros(m.nv)
    drift[e] = back.solve(c.gamma)
    S, bias = product(N.T, c.M, N), product(N.T, lean(product(c.M, drift) + c.h))
    rate = zeros(len(i))
    rate[driven] = a[[i[k] for k in driven]]
    if loose:
        stiffening(m.plain)  # refuses what no force would move
        right = -(bias[loose] + product(S[loose, driven], rate[driven]))
        rate[loose] = factors(lean(S[loose, loose])).solve(right)
    order = [m.actuated_velocities.index(i[k]) for k in driven]
    force = zeros(m.nu)
    force[order] = (product(S, rate) + bias)[driven]
    return [casadi.vertcat(force, product(N, rate) + drift), left, back.quality]


def reactions(
    m: Mechanism, q: SX, v: SX, a: SX, external: External | None = None, division: Partition | None = None
) -> list[SX]:
    """A row for each joint, then one for each loop: the wrench transmitted to the child (the second body of a loop), in
    the axes of its frame (of the loop's second frame) about its origin, moment first.

    What motion determines is the reaction of the independent rows; redundant rows are given none.
    """
    check_actuation(m, partition(m.plain))
    p = division or partition(m.plain)
    _, J, gamma = closure.equations(m, q, v, p.rows)
    needed = equations.joint_forces(m, q, v, a, None, external or {})
    share, good = constrained.virtual_work(needed, lean(J), p, list(m.actuated_velocities))
    left_over = casadi.SX(needed)
    left_over[list(m.actuated_velocities)] -= share
    e = list(p.dependent)
    reaction = constrained.Square(lean(J[:, e])).solve_transposed(left_over[e])
    left = casadi.vertcat(casadi.SX(closure.constraint(m, q)), product(J, v), product(J, a) - gamma)
    return [_transmitted(m, q, v, a, p, reaction, external or {}), largest(left), good]


def reactions_under_forces(
    m: Mechanism, q: SX, v: SX, tau: SX, external: External | None = None, division: Partition | None = None
) -> list[SX]:
    """The same when the actuators' forces are given: the motion follows from them, whatever they leave free."""
    p = division or partition(m.plain)
    c, left = pieces(m, q, v, tau, p, None, external or {})
    a, reaction, inverse = constrained.multipliers(constrained.stiffened(c, stiffening(m.plain)))
    return [_transmitted(m, q, v, a, p, reaction, external or {}), left, quality(inverse)]


def _transmitted(m: Mechanism, q: SX, v: SX, a: SX, p: Partition, reaction: SX, external: External) -> SX:
    """The rows of `reactions`, from what the loops' independent rows carry."""
    loops, applied = _loop_wrenches(m, q, p, reaction)
    total = wrenches(m, q, v, external)
    for body, wrench in applied.items():
        total[body] = lean(total.get(body, zeros(6)) + wrench)
    tree = links(m)
    rows = newton_euler.inward(tree, newton_euler.outward(m, tree, q, v, a), total)
    return casadi.vertcat(*(r.T for r in (*rows, *loops)))


def pieces_of_all_rows(m: Mechanism, q: SX, v: SX, tau: SX, external: External | None = None) -> list[SX]:
    """M, h, f, J and gamma with every row of the loops, dependent or not: what a rank-revealing solution starts from."""
    everything = Partition(tuple(range(len(closure.row_names(m)))), (), ())
    c, _ = pieces(m, q, v, tau, everything, None, external or {})
    return [casadi.densify(x) for x in (c.M, c.h, c.f, c.J, c.gamma)]


def _loop_wrenches(m: Mechanism, q: SX, p: Partition, reaction: SX) -> tuple[list[SX], dict[str, SX]]:
    """Each loop's wrench on its second body in the loop's second frame, and the same by body in body axes."""
    placed, start = placements(m, q), 0
    loops: list[SX] = []
    applied: dict[str, SX] = {}
    for loop in m.loops:
        first, second = (on_body(placed, end.body, end.at) for end in (loop.first, loop.second))
        R, r = (lean(x) for x in relative(first, second))
        C = lean(loop.kind.covectors(R, r))
        count = 6 - loop.kind.nv
        values = zeros(count)
        for k, row in enumerate(p.rows):
            if start <= row < start + count:
                values[row - start] = reaction[k]
        wrench = product(C, values)
        loops.append(wrench)
        for end, sign, (turn, shift) in (
            (loop.second, 1, (lean(loop.second.at.rotation()), lean(loop.second.at.translation()))),
            (loop.first, -1, _seen_from_first(loop.first.at, R, r)),
        ):
            if end.body != GROUND:
                force = product(turn, sign * wrench[3:])
                moment = product(turn, sign * wrench[:3]) + product(casadi.skew(shift), force)
                applied[end.body] = lean(applied.get(end.body, zeros(6)) + casadi.vertcat(moment, force))
        start += count
    return loops, applied


def _seen_from_first(at: Any, R: SX, r: SX) -> tuple[SX, SX]:
    """The loop's second frame on its first body."""
    turn = lean(at.rotation())
    return product(turn, R), lean(lean(at.translation()) + product(turn, r))


def check_formulation(name: str | None) -> None:
    """Refuse a name that is neither a formulation of the tree nor a way with the loops."""
    known = tuple(dict.fromkeys((*equations.FORMULATIONS, *WAYS)))
    if name is not None and name not in known:
        raise ModelError(f"there is no formulation {name!r}{suggest(name, known)}")
