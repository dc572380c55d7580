"""Dynamics of mechanisms with loops.

Every formula gives its result first, then how far the given state is from keeping the loops closed, then the reciprocal
condition number of what was solved: by these a state that violates loop closure, a singular configuration and a motion
without mass are told from answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from eslabon.arguments import choice
from eslabon.errors import ModelError
from eslabon.formulas.applied_loads import wrenches
from eslabon.formulas.constrained import trees
from eslabon.formulas.constrained.constraint_solvers import (
    METHODS,
    Constrained,
    Solution,
    actuator_forces,
)
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.ball_loops import aligned_loops, carrier
from eslabon.formulas.kinematics.closure import Closure, Partition, Structure
from eslabon.formulas.kinematics.symbols import constant, zeros
from eslabon.formulas.kinematics.tree import compose, fixed, on_body, placements, relative
from eslabon.model import GROUND, Model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import wrench_to_parent

External = Mapping[str, Expression]


def solver(constraints: str | None) -> Callable[[Constrained], Solution]:
    """The method for constraints of that name; without one, multipliers. Elimination takes fewer operations on most
    mechanisms, but needs independent coordinates that determine the others well, and others where they do not."""
    return METHODS[
        choice(constraints, "constraints", METHODS) if constraints is not None else "multipliers"
    ]


def residual(
    m: Model, q: Expression, v: Expression, p: Partition, aligned: tuple[str, ...]
) -> Closure:
    """Phi of all rows, and J, gamma and Phi_t of the independent ones; of `aligned` loops as in `closure.equations`, so that
    the multipliers of a ball joint are the force on its second body in the same axes."""
    phi, *others = closure.equations(m, q, v, tuple(range(len(closure.row_names(m)))), aligned)
    return Closure(phi, *(x[list(p.rows), :] for x in others))


def violation(*residuals: Expression) -> Expression:
    """How far comparable residuals are from zero, by their length: a NaN in any entry shows."""
    return casadi.norm_2(casadi.densify(casadi.vertcat(*residuals)))


def forward_dynamics(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    formulation: str | None = None,
    constraints: str | None = None,
    external: External | None = None,
    *,
    structure: Structure,
    partition: Partition | None = None,
    regularization: tuple[float, ...] = (),
    joint_forces: Expression | float = 0.0,
) -> list[Expression]:
    """v' under the actuators' forces, and forces along all velocities besides.

    `partition` takes the place of the structure's own. With `regularization`, as in `Constrained`, for all retained rows.
    """
    p = partition or structure.partition
    if regularization:
        p = Partition(structure.rows, p.independent, p.dependent)
    phi, J, gamma, rate = residual(m, q, v, p, aligned_loops(m, p.rows))
    M, h = trees.equations_of_motion(m, q, v, formulation, external or {})
    force = trees.actuation(m, tau) + joint_forces - h
    found = solver(constraints)(
        Constrained(
            M,
            force,
            J,
            gamma,
            p,
            structure.penalty,
            regularization,
            structure.floor,
            velocity_scales(m),
        )
    )
    return [found.a, violation(phi, J @ v + rate), found.condition]


def inverse_dynamics(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    formulation: str | None = None,
    constraints: str | None = None,
    weights: tuple[float, ...] | None = None,
    external: External | None = None,
    *,
    structure: Structure,
    partition: Partition | None = None,
) -> list[Expression]:
    """The actuators' forces for a motion that keeps the loops closed (Yime, 5)."""
    check_actuation(m, structure.partition)
    p = partition or structure.partition
    phi, J, gamma, rate = residual(m, q, v, p, aligned_loops(m, p.rows))
    needed = trees.joint_forces(m, q, v, a, formulation, external or {})
    method, scales = _for_forces(constraints), velocity_scales(m)
    found = actuator_forces(needed, J, p, m.actuated_velocities, weights, method, scales)
    return [found.forces, violation(phi, J @ v + rate, J @ a - gamma), found.condition]


def _for_forces(constraints: str | None) -> str:
    """Virtual work always takes the fewest operations."""
    return "elimination" if constraints is None else choice(constraints, "constraints", METHODS)


def check_actuation(m: Model, p: Partition) -> None:
    """Refuse to move what no actuator reaches, naming it."""
    loose = [k for k in p.independent if k not in m.actuated_velocities]
    if loose:
        owner = next(j.name for j in m.joints if loose[0] in range(m.nv)[m.velocities[j.name]])
        raise ModelError(
            f"{m.name} has {len(p.independent)} degrees of freedom and its actuators ({', '.join(m.actuated) or 'none'}) "
            f"leave {len(loose)} of them uncontrolled, such as the motion of '{owner}'; actuate it too, or ask for the "
            "hybrid problem with hybrid_dynamics."
        )


def hybrid_dynamics(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    formulation: str | None = None,
    constraints: str | None = None,
    external: External | None = None,
    *,
    structure: Structure,
    partition: Partition | None = None,
) -> list[Expression]:
    """Actuators' forces and all accelerations when only the actuated accelerations in `a` are prescribed.

    These are constraints like any other, B^T v' = a, whose multipliers are the actuators' forces; the motions that no
    actuator reaches follow their own dynamics.
    """
    p, driven = partition or structure.partition, m.actuated_velocities
    if not set(driven) <= set(p.independent):
        raise ModelError(
            f"the actuators of {m.name} are not independent of one another; hybrid_dynamics needs them so."
        )
    phi, J, gamma, rate = residual(m, q, v, p, aligned_loops(m, p.rows))
    M, h = trees.equations_of_motion(m, q, v, formulation, external or {})
    places = list(driven)
    loose = tuple(k for k in p.independent if k not in driven)
    whole = Partition(p.rows, loose, tuple(k for k in range(m.nv) if k not in loose))
    scales = velocity_scales(m)
    moved = casadi.diag(casadi.SX(scales))[places, :]  # comparable rows, as those of the loops
    J, gamma = casadi.vertcat(J, moved), casadi.vertcat(gamma, moved @ a)
    # Elimination needs no mass where motion is prescribed; the loops' penalty does the same for multipliers.
    found = solver(constraints if m.closed else "elimination")(
        Constrained(M, -h, J, gamma, whole, structure.penalty, floor=structure.floor, scales=scales)
    )
    forces = moved[:, places] @ found.reaction[len(p.rows) :, :]
    return [forces, found.a, violation(phi, J[: len(p.rows), :] @ v + rate), found.condition]


def reactions(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    formulation: str | None = None,
    constraints: str | None = None,
    external: External | None = None,
    *,
    structure: Structure,
    partition: Partition | None = None,
) -> list[Expression]:
    """A row for each joint, then one for each loop: the wrench transmitted to the child (the second body of a loop), in
    the axes of its frame (of the loop's second frame) about its origin, moment first.

    What motion determines is the reaction of the independent rows; redundant rows are given none.
    """
    check_actuation(m, structure.partition)
    p = partition or structure.partition
    phi, J, gamma, rate = residual(m, q, v, p, aligned_loops(m, p.rows))
    needed = trees.joint_forces(m, q, v, a, formulation, external or {})
    method, scales = _for_forces(constraints), velocity_scales(m)
    found = actuator_forces(needed, J, p, m.actuated_velocities, None, method, scales)
    rows = transmitted(m, q, v, a, p, found.reaction, external or {}, aligned_loops(m, p.rows))
    return [rows, violation(phi, J @ v + rate, J @ a - gamma), found.condition]


def reactions_under_forces(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    formulation: str | None = None,
    constraints: str | None = None,
    external: External | None = None,
    *,
    structure: Structure,
    partition: Partition | None = None,
) -> list[Expression]:
    """The same when the actuators' forces are given: the motion follows from them, whatever they leave free."""
    p, force = partition or structure.partition, trees.actuation(m, tau)
    found, left = _under(m, q, v, force, formulation, constraints, external, structure, p)
    rows = transmitted(
        m, q, v, found.a, p, found.reaction, external or {}, aligned_loops(m, p.rows)
    )
    return [rows, left, found.condition]


def coupling_forces(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    formulation: str | None = None,
    constraints: str | None = None,
    external: External | None = None,
    *,
    structure: Structure,
    partition: Partition | None = None,
) -> list[Expression]:
    """The force (or moment) that each coupling exerts on its joint: a gear's tooth force, and what drives a driven joint."""
    check_actuation(m, structure.partition)
    p = partition or structure.partition
    phi, J, gamma, rate = residual(m, q, v, p, aligned_loops(m, p.rows))
    needed = trees.joint_forces(m, q, v, a, formulation, external or {})
    method, scales = _for_forces(constraints), velocity_scales(m)
    found = actuator_forces(needed, J, p, m.actuated_velocities, None, method, scales)
    return [
        _of_couplings(m, p, found.reaction),
        violation(phi, J @ v + rate, J @ a - gamma),
        found.condition,
    ]


def coupling_forces_under_forces(
    m: Model,
    q: Expression,
    v: Expression,
    tau: Expression,
    formulation: str | None = None,
    constraints: str | None = None,
    external: External | None = None,
    *,
    structure: Structure,
    partition: Partition | None = None,
    joint_forces: Expression | float = 0.0,
) -> list[Expression]:
    """The same when the actuators' forces are given, and forces along all velocities besides."""
    p, force = partition or structure.partition, trees.actuation(m, tau) + joint_forces
    found, left = _under(m, q, v, force, formulation, constraints, external, structure, p)
    return [_of_couplings(m, p, found.reaction), left, found.condition]


def _under(
    m: Model,
    q: Expression,
    v: Expression,
    force: Expression,
    formulation: str | None,
    constraints: str | None,
    external: External | None,
    structure: Structure,
    p: Partition,
) -> tuple[Solution, Expression]:
    """The motion and the constraint forces under forces along all velocities, and how far the state violates closure."""
    phi, J, gamma, rate = residual(m, q, v, p, aligned_loops(m, p.rows))
    M, h = trees.equations_of_motion(m, q, v, formulation, external or {})
    given = Constrained(
        M,
        force - h,
        J,
        gamma,
        p,
        structure.penalty,
        floor=structure.floor,
        scales=velocity_scales(m),
    )
    return solver(constraints)(given), violation(phi, J @ v + rate)


def _of_couplings(m: Model, p: Partition, reaction: Expression) -> Expression:
    """lambda of the couplings' rows, which come last; redundant rows carry nothing."""
    reaction = closure.in_units(m, reaction, p.rows)
    first, forces = len(closure.row_names(m)) - len(m.couplings), zeros(len(m.couplings))
    for k, row in enumerate(p.rows):
        if row >= first:
            forces[row - first] = reaction[k]
    return forces


def transmitted(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    p: Partition,
    reaction: Expression,
    external: External,
    aligned: tuple[str, ...],
) -> Expression:
    """The rows of `reactions`, from what the loops' independent rows carry, some of which may be aligned as in `residual`."""
    loops, applied = _loop_wrenches(m, q, p, reaction, aligned)
    total = wrenches(m, q, v, external)
    for body, wrench in applied.items():
        total[body] = total.get(body, zeros(6)) + wrench
    return casadi.vertcat(trees.transmitted(m, q, v, a, total), *(x.T for x in loops))


def _loop_wrenches(
    m: Model, q: Expression, p: Partition, reaction: Expression, aligned: tuple[str, ...]
) -> tuple[list[Expression], dict[str, Expression]]:
    """Each loop's wrench on its second body in the loop's second frame, and the same by body in body axes."""
    placed, start = placements(m, q), 0
    reaction = closure.in_units(m, reaction, p.rows)
    loops: list[Expression] = []
    applied: dict[str, Expression] = {}
    for loop in m.loops:
        between = relative(
            *(on_body(placed, end.body, end.at) for end in (loop.first, loop.second))
        )
        count = loop.kind.rows
        values = zeros(count)
        for k, row in enumerate(p.rows):
            if start <= row < start + count:
                values[row - start] = reaction[k]
        if loop.name in aligned:
            turn, _ = relative(
                placed[carrier(m)], on_body(placed, loop.second.body, loop.second.at)
            )
            values = constant(turn).T @ values
        loops.append(constant(loop.kind.covectors(*between)) @ values)
        start += count
        second, first = (
            fixed(loop.second.at),
            compose(fixed(loop.first.at), between),
        )  # the second frame on either body
        for end, here, sign in ((loop.second, second, 1), (loop.first, first, -1)):
            if end.body != GROUND:
                applied[end.body] = applied.get(end.body, zeros(6)) + wrench_to_parent(
                    here, sign * loops[-1]
                )
    return loops, applied


def equations_of_all_rows(
    m: Model, q: Expression, v: Expression, tau: Expression, external: External | None = None
) -> list[Expression]:
    """M, the forces f - h, J and gamma with every row of the constraints, dependent or not: what a rank-revealing solution
    starts from."""
    M, h = trees.equations_of_motion(m, q, v, None, external or {})
    _, J, gamma, _ = closure.equations(m, q, v, tuple(range(len(closure.row_names(m)))))
    return [casadi.densify(x) for x in (M, trees.actuation(m, tau) - h, J, gamma)]
