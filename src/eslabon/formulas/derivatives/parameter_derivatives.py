"""Derivatives by parameters along the closed configuration: what is held stays, and all else
follows, so that loops stay closed.

Of a quantity f(q, v, a, p) the whole derivative is f_p + f_q q' + f_v v' + f_a a'. Joints that are
held have none of these; the others (e) follow from the closure equations and from those of frames
that are held, of which J, Phi_p and the second derivative are rows like any other:

    J_e q_e' = -Phi_p,   J_e v_e' = -d(J v + Phi_t),   J_e a_e' = -d(J a - gamma),

d being the change with q', v' and p. `coordinates` are changes along the velocities, so that
quaternions need no care. Of several parameters each is a column, and J_e has its factors once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from eslabon.compiler.calls import inlined
from eslabon.compiler.formula import Formula
from eslabon.formulas.constrained.constraint_solvers import joint_condition
from eslabon.formulas.kinematics import closure, frames
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.kinematics.tree import coordinate_rates
from eslabon.formulas.linear_solvers import OrthogonalFactors
from eslabon.formulas.structure import HeldMotion
from eslabon.model import Model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.rotations import vect
from eslabon.numerics.scalars import Expression, casadi

# m or rad a unit of the parameter: less of a change of closure is not judged in proportion
SLIGHT = 1e-3
PRESCRIBED = ("hybrid_dynamics",)  # what takes accelerations as they are given, closed or not


def along_closed(
    m: Model,
    *own: Expression,
    of: Formula,
    parameter: str | tuple[str, ...],
    held: HeldMotion,
    **options: Any,
) -> list[Expression]:
    """The values of a formula differentiated by one parameter, or by several, along the closed
    configuration; then by how much the state violates closure, which part of a parameter's change
    nothing makes up for, and how far the state is from one at which what is held determines
    nothing."""
    varied, values = with_values(m, parameter)
    given = dict(zip(of.input_names, own, strict=True))
    found = _values(of, varied, own, options)
    prescribed = of.name in PRESCRIBED
    followed = follow_parameters(varied, given, values, held, accelerated=not prescribed)
    count, condition = len(of.outputs), followed.condition
    if of.checks:  # the last of them says how far the formula itself is from having an answer
        last = found[-1]  # of a tree it is that of M, which is no root
        joined = 1 / (1 / condition + 1 / last)
        condition = joined if m.closed else joint_condition(condition, last)
    several = isinstance(parameter, tuple)
    made = derivatives(found[:count], given, values, followed.steps, several)
    checks = [followed.residual, followed.opening, condition]
    return with_numbers(m, parameter, values, [*made, *checks])


def along_frozen(
    m: Model, *own: Expression, of: Formula, parameter: tuple[str, ...], **options: Any
) -> list[Expression]:
    """The values of a formula differentiated by several parameters with its arguments held, then
    its own checks."""
    varied, values = with_values(m, parameter)
    given = dict(zip(of.input_names, own, strict=True))
    found = _values(of, varied, own, options)
    count, still = (
        len(of.outputs),
        {name: zeros(x.numel(), values.numel()) for name, x in given.items()},
    )
    made = derivatives(found[:count], given, values, still, several=True)
    return with_numbers(m, parameter, values, [*made, *found[count:]])


def _values(
    of: Formula, m: Model, own: Sequence[Expression], options: dict[str, Any]
) -> list[Expression]:
    """What a formula gives, its checks included, to be differentiated."""
    wanted = options if of.needs else {k: x for k, x in options.items() if k != "structure"}
    found = of.function(m, *own, **wanted)
    listed = found if isinstance(found, list) else [found]
    return [casadi.densify(x) for x in inlined(listed[: len(of.outputs) + len(of.checks)])]


def with_values(m: Model, parameter: str | tuple[str, ...]) -> tuple[Model, Expression]:
    """The model with symbols for these parameters, and the symbols: the model's own where it has
    some already."""
    names = parameter if isinstance(parameter, tuple) else (parameter,)
    values = {name: m.symbols[name] if name in m.symbols else casadi.SX.sym(name) for name in names}
    return m.with_symbols({**m.symbols, **values}), casadi.vertcat(*values.values())


def with_numbers(
    m: Model, parameter: str | tuple[str, ...], values: Expression, made: list[Expression]
) -> list[Expression]:
    """The model's numbers in place of symbols that are not its own."""
    names = parameter if isinstance(parameter, tuple) else (parameter,)
    new = {
        name: x
        for name, x in zip(names, casadi.vertsplit(values), strict=True)
        if name not in m.symbols
    }
    put: Any = casadi.substitute
    return (
        put(made, [*new.values()], [casadi.SX(m.parameters[name]) for name in new]) if new else made
    )


def derivatives(
    found: list[Expression],
    given: Mapping[str, Expression],
    values: Expression,
    steps: Mapping[str, Expression],
    several: bool,
) -> list[Expression]:
    """The changes of values with parameters and with all that follows these; of several each entry
    is a row.

    Forward a column for each parameter, or backward a row for each value, whichever are fewer.
    """
    arguments = casadi.vertcat(*given.values(), values)
    directions = casadi.vertcat(*(steps[name] for name in given), casadi.SX.eye(values.numel()))
    made = []
    for x in found:
        flat = casadi.vec(x.T if several else x)
        if flat.numel() < values.numel():
            changed = (
                casadi.jtimes(flat, arguments, casadi.SX.eye(flat.numel()), True).T @ directions
            )
        else:
            changed = casadi.jtimes(flat, arguments, directions)
        made.append(casadi.densify(changed if several else changed.reshape(x.shape)))
    return made


class Rows(NamedTuple):
    """Rows that stay as they are: their changes with parameters, J, the rates J v + Phi_t and J a -
    gamma."""

    opened: Expression
    J: Expression
    speed: Expression | None
    left: Expression | None


class Following(NamedTuple):
    """How a closed state changes with parameters: the change of each argument by name; and how far
    the state violates closure, the part of Phi_p that no motion makes up for, and the condition of
    J_e."""

    steps: dict[str, Expression]
    residual: Expression
    opening: Expression
    condition: Expression


def follow_parameters(
    m: Model,
    given: Mapping[str, Expression],
    values: Expression,
    held: HeldMotion,
    steps: Mapping[str, Expression] | None = None,
    accelerated: bool = True,
) -> Following:
    """How coordinates, velocities and accelerations of a closed state follow changes of parameters.

    Forces do not change, nor accelerations that are prescribed; the independent coordinates and
    velocities change by `steps` along all velocities, or not at all. `opening` is the part of Phi_p
    that no motion makes up for, as when one length of Bennett's linkage alone changes.
    """
    count = values.numel()
    made = {name: zeros(x.numel(), count) for name, x in given.items()}
    moved, sped = (casadi.SX((steps or {}).get(x, zeros(m.nv, count))) for x in ("q", "v"))
    q: Any = given["q"]
    v: Any = given.get("v")
    a: Any = given.get("a") if accelerated else None
    if not m.closed and not held.frames:
        made["q"] = coordinate_rates(m, q) @ moved
        if v is not None:
            made["v"] = sped
        return Following(made, zeros(1), zeros(1), casadi.SX(1))
    rows, residual = held_rows(m, q, v, a, values, held)
    kept, e, along = list(held.rows), list(held.dependent), casadi.SX.eye(count)
    J = rows.J[kept, :]
    dependent = OrthogonalFactors(J[:, e])
    moved[e, :] = -dependent.solve(rows.opened[kept, :] + J @ moved)
    made["q"] = coordinate_rates(m, q) @ moved
    if v is not None and rows.speed is not None:
        state, direction = casadi.vertcat(q, values), casadi.vertcat(made["q"], along)
        changed = casadi.jtimes(rows.speed[kept, :], state, direction)
        sped[e, :] = -dependent.solve(changed + J @ sped)
        made["v"] = sped
    if a is not None and rows.left is not None:
        state = casadi.vertcat(q, v, values)
        direction = casadi.vertcat(made["q"], made["v"], along)
        changed = casadi.jtimes(rows.left[kept, :], state, direction)
        made["a"][e, :] = -dependent.solve(changed)
    opening = _opening(rows.opened, rows.J @ moved)
    return Following(made, residual, opening, dependent.condition(velocity_scales(m)[e]))


def _opening(opened: Expression, moved: Expression) -> Expression:
    """The largest part of a change of rows that no motion makes up for, of all parameters."""
    columns = zip(casadi.horzsplit(opened), casadi.horzsplit(opened + moved), strict=True)
    parts = [
        casadi.norm_2(left) / casadi.fmax(casadi.norm_2(whole), SLIGHT) for whole, left in columns
    ]
    return casadi.mmax(casadi.vertcat(*parts))


def held_rows(
    m: Model,
    q: Expression,
    v: Expression | None,
    a: Expression | None,
    values: Expression,
    held: HeldMotion,
) -> tuple[Rows, Expression]:
    """The rows of all loops and couplings, then of frames that are held; and by how much the state
    violates closure."""
    still = zeros(m.nv) if v is None else v
    phi, J, gamma, rate = closure.equations(m, q, still, tuple(range(len(closure.row_names(m)))))
    speed, left = (None if v is None else J @ v + rate), (None if a is None else J @ a - gamma)
    parts = [Rows(casadi.jacobian(phi, values), J, speed, left)]
    parts += [
        _of_frame(m, q, v, a, values, frame, casadi.SX(casadi.DM(C))) for frame, C in held.frames
    ]
    opened, J = (
        casadi.densify(casadi.vertcat(*x))
        for x in zip(*((p.opened, p.J) for p in parts), strict=True)
    )
    speeds, lefts = (
        [p.speed for p in parts if p.speed is not None],
        [p.left for p in parts if p.left is not None],
    )
    moving = [casadi.densify(casadi.vertcat(*x)) if x else None for x in (speeds, lefts)]
    violated = closure.violation(m, phi, speed, v, left) if m.closed else zeros(1)
    return Rows(opened, J, *moving), violated


def _of_frame(
    m: Model,
    q: Expression,
    v: Expression | None,
    a: Expression | None,
    values: Expression,
    frame: str,
    C: Expression,
) -> Rows:
    """The rows C of a frame's displacement, twist and its rate, in the ground's axes at its
    origin."""
    R, p = frames.placement(m, q, frames.chosen_frame(m, frame))
    turned = [
        vect(casadi.reshape(x, 3, 3) @ R.T)
        for x in casadi.horzsplit(casadi.jacobian(casadi.vec(R), values))
    ]
    opened = casadi.vertcat(casadi.horzcat(*turned), casadi.jacobian(p, values))
    speed = None if v is None else C @ frames.velocity(m, q, v, frame, "aligned")
    left = None if v is None or a is None else C @ frames.acceleration(m, q, v, a, frame, "aligned")
    return Rows(C @ opened, C @ frames.jacobian(m, q, frame, "aligned"), speed, left)
