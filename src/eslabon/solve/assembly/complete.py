"""Velocities and accelerations of all joints from those that are given, and states brought onto the loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import choice, states
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import (
    SINGULAR_CHOICES,
    AssemblyError,
    ModelError,
    SingularityError,
    report_singularity,
)
from eslabon.formulas.inputs import Q, V
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.model import Model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import casadi
from eslabon.numerics.tolerances import SINGULAR
from eslabon.solve.assembly.assemble import assemble
from eslabon.solve.assembly.closing_formulas import displacement_shape
from eslabon.solve.assembly.prescription import Prescription, by_joints, determinacy
from eslabon.solve.batches import flattened
from eslabon.solve.constraints.closed_configurations import jacobian_at
from eslabon.solve.constraints.independent_coordinates import generic, partition, retained_rows
from eslabon.solve.designs import DESCRIBED, Designs, designs_of

Floats = np.ndarray[Any, np.dtype[np.float64]]
PASSIVE = ("refuse", "minimum_norm")
REGULAR = 1e-12  # of J J^T, on its diagonal


def complete(
    m: Model, values: Any, va: Any, aa: Any, guess: Any = None, *, joints: tuple[str, ...] | None = None,
    continuation: bool = False, passive: str = "refuse", singular: str | None = None, limits: bool = True,
    parameters: Any = None,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """Full q, v, a from the prescribed joints' motion (Yime, eqs. 30-36), with `parameters` each in its own design.

    `singular` says what becomes of singular configurations: "error", "warn" (the minimum-norm velocities are given) or
    "ignore"; left out, a singular configuration is an error, and one that is passed between two rows a warning.
    """
    if not m.closed:
        raise ModelError(f"{m.name} has no loops: the joints' motion is already complete.")
    choice(passive, "passive", PASSIVE)
    if singular is not None:
        choice(singular, "singular", SINGULAR_CHOICES)
    given = by_joints(m, joints)
    for x, name, what in ((va, "va", "velocities"), (aa, "aa", "accelerations")):
        if x is None:
            raise ModelError(
                f"complete needs the {what} {name} of the prescribed joints too; give zeros where there are none."
            )
    if determinacy(m, given).open and passive == "refuse":
        _refuse_passive(m, given)
    count = len(given.velocities(m))
    va, aa = (
        states(x, name, count, ", ".join(given.joints) or "no joint", "velocities")
        for x, name in ((va, "va"), (aa, "aa"))
    )
    q = assemble(m, values, guess, joints=joints, continuation=continuation, singular=singular or "warn", limits=limits,
        parameters=parameters)  # fmt: skip
    if not m.nv:
        return q, np.zeros_like(q), np.zeros_like(q)
    designs = designs_of(m, parameters).moving(m)
    lead, (*each, own) = flattened(
        configurations=(q, 1),
        velocities=(va, 1),
        accelerations=(aa, 1),
        parameters=(designs.values, 1),
    )
    designs = Designs(designs.names, own)
    v, a, left, condition = evaluate(m, COMPLETING, designs.names, given=given)(
        *each, *designs.inputs
    )
    if not np.nanmin(condition, initial=1.0) > SINGULAR:
        report_singularity(
            singular or "error", f"{m.name} is at a singular configuration for {', '.join(given.joints)} (or so near that nothing can be said): "
            "the other joints' velocities do not follow from theirs; prescribe other joints or another configuration.")  # fmt: skip
        v, a, left = _rank_by_rank(m, given, each, designs, (v, a, left), ~(condition > SINGULAR))
    _check_consistent(m, given, v, a, left, condition)
    return q, v.reshape(*lead, m.nv), a.reshape(*lead, m.nv)


def _check_consistent(
    m: Model, given: Prescription, v: Floats, a: Floats, left: Floats, condition: Floats
) -> None:
    """Refuse a motion that the loops do not allow."""
    worst = float(np.nanmax(np.where(np.isfinite(left), left, np.inf), initial=0.0))
    if not worst < 1e-6 * max(
        1.0, float(np.abs(a).max(initial=0.0)), float(np.abs(v).max(initial=0.0)) ** 2
    ):
        if not np.nanmin(condition, initial=1.0) > SINGULAR:
            raise SingularityError(
                f"branches of {m.name} meet at a singular configuration, and the minimum-norm velocities keep to none of them (they "
                f"violate loop closure by {worst:.3g}); take configurations beside it, or follow a motion through it."
            )
        raise AssemblyError(
            f"the motion prescribed for {', '.join(given.joints)} violates loop closure of {m.name} by {worst:.3g} (rad, or lengths of its size, a second or "
            "second squared): they cannot all move so at once; prescribe fewer."
        )


def _refuse_passive(m: Model, given: Prescription) -> None:
    """Name a motion that the prescribed joints leave open."""
    free, count = given.free(m), determinacy(m, given).open
    motion = np.abs(np.linalg.svd(jacobian_at(m, generic(m))[:, free])[2][-1])
    owner = next(
        j.name for j in m.joints if free[int(motion.argmax())] in range(m.nv)[m.velocities[j.name]]
    )
    raise ModelError(
        f"{', '.join(given.joints) or 'no joint'} does not determine the motion of {m.name}: {count} more "
        f"{'degree of freedom stays' if count == 1 else 'degrees of freedom stay'} open, such as that of '{owner}'; "
        "prescribe it too, or with passive='minimum_norm' let what nothing drives, such as the spin of a rod, move as "
        "little as it can."
    )


def completing(m: Model, q: Any, va: Any, aa: Any, given: Prescription) -> list[Any]:
    """v, a of all joints, what is left of the velocity and acceleration equations, and the least pivot (Yime, 30-36)."""
    from eslabon.formulas.linear_solvers import OrthogonalFactors

    fixed, free = given.velocities(m), given.free(m)
    v = casadi.SX.sym("v", m.nv)
    open_ways = determinacy(m.nominal, given).open
    rows = partition(m.nominal).rows if open_ways else tuple(range(len(row_names(m))))
    _, J, gamma, rate = equations(m, q, v, rows)
    A = J[:, free]
    # With open ways the least motion is sought: A A^T is invertible, not A^T A.
    solver = OrthogonalFactors(A.T if open_ways else A)
    scales = None if open_ways else velocity_scales(m.nominal)[free]

    def whole(own: Any, others: Any) -> Any:
        made = casadi.SX(m.nv, 1)
        made[fixed], made[free] = own, others
        return casadi.densify(made)

    solved = solver.solve_transposed if open_ways else solver.solve
    speed = whole(va, solved(-casadi.mtimes(J[:, fixed], va)))
    right = casadi.substitute(casadi.densify(gamma), v, speed)
    rate = whole(aa, solved(right - casadi.mtimes(J[:, fixed], aa)))
    left = casadi.vertcat(casadi.mtimes(J, speed), casadi.mtimes(J, rate) - right)
    return [speed, rate, casadi.mmax(casadi.fabs(casadi.densify(left))), solver.condition(scales)]


COMPLETING = Formula(
    "completing",
    completing,
    (Q, *(Argument(name, displacement_shape, "prescribed velocities") for name in ("va", "aa"))),
    (
        *(Argument(name, lambda m, given: (m.nv,)) for name in ("v", "a")),
        Argument("residual", ()),
        Argument("condition", ()),
    ),
    {"given": Prescription()},
    rare=True,
)


def _rank_by_rank(
    m: Model,
    given: Prescription,
    states: list[Floats],
    designs: Designs,
    made: tuple[Floats, ...],
    bad: Floats,
) -> tuple[Floats, Floats, Floats]:
    """At singular configurations: the minimum-norm velocities and accelerations that keep the loops closed, by singular values."""
    v, a, left = (np.array(x) for x in made)
    fixed, free = given.velocities(m), given.free(m)
    rows = evaluate(m, ALL_ROWS, designs.names)
    for k in np.flatnonzero(bad):
        q, *own = (x[k] for x in states)
        parameters = designs[k].inputs
        J = rows(q, np.zeros(m.nv), *parameters)[0]
        inverse = np.linalg.pinv(J[:, free], rcond=1e-6)
        v[k][fixed], a[k][fixed] = own
        v[k][free] = -inverse @ J[:, fixed] @ own[0]
        gamma = rows(q, v[k], *parameters)[1]
        a[k][free] = inverse @ (gamma - J[:, fixed] @ own[1])
        left[k] = max(np.abs(J @ v[k]).max(initial=0.0), np.abs(J @ a[k] - gamma).max(initial=0.0))
    return v, a, left


def all_rows(m: Model, q: Any, v: Any) -> list[Any]:
    """J and gamma of every row of the constraints."""
    _, J, gamma, _ = equations(m, q, v, tuple(range(len(row_names(m)))))
    return [J, gamma]


ALL_ROWS = Formula(
    "all_rows", all_rows, (Q, V),
    (Argument("J", lambda m: (len(row_names(m)), m.nv)), Argument("gamma", lambda m: (len(row_names(m)),))), rare=True)  # fmt: skip


def project(
    m: Model, q: Any, v: Any = None, a: Any = None, *, limits: bool = True, parameters: Any = None
) -> Floats | tuple[Floats, ...]:
    """The nearest q that closes the loops, and the v and a nearest to the given ones that keep them closed, with
    `parameters` each in its own design."""
    if v is None and a is not None:
        raise ModelError(
            "project takes q, q and v, or q, v and a: accelerations make no sense without velocities."
        )
    rates = [
        states(x, name, m.nv, m.name, "velocities")
        for x, name in ((v, "v"), (a, "a"))
        if x is not None
    ]
    q = assemble(
        m,
        np.zeros(0),
        states(q, "q", m.nq, m.name),
        joints=(),
        limits=limits,
        parameters=parameters,
    )
    if v is None:
        return q
    designs, names = (
        designs_of(m, parameters).moving(m),
        ("configurations", "velocities", "accelerations"),
    )
    given = {name: (x, 1) for name, x in zip(names, (q, *rates), strict=False)}
    lead, (flat, *rates, own) = flattened(**given, parameters=(designs.values, 1))
    near = (
        nearest_rates(m, flat, *rates, designs=Designs(designs.names, own))
        if m.nv and m.closed
        else rates
    )
    return tuple(np.array(x).reshape(*lead, x.shape[-1]) for x in (flat, *near))


def nearest_rates(
    m: Model, q: Floats, v: Floats, a: Floats | None = None, *, designs: Designs = DESCRIBED
) -> tuple[Floats, ...]:
    """v - J^+ J v, and a + J^+ (gamma - J a)."""
    rows = list(retained_rows(m))
    J = jacobian_at(m, q, designs)[..., rows, :]
    back = np.swapaxes(J, -1, -2)
    sizes = (jacobian_at(m, generic(m))[rows] ** 2).sum(axis=1)
    # Rows may depend on others, at singular configurations or everywhere: a little regularization lets them all stay.
    square = J @ back + np.diag(REGULAR * np.maximum(sizes, 1e-6 * sizes.max(initial=0.0)))

    def onto(x: Floats, right: Floats) -> Floats:
        for _ in range(2):  # the second step gives back what squaring J and the regularization lose
            x = x + (back @ np.linalg.solve(square, right[..., None] - J @ x[..., None]))[..., 0]
        return x

    speed = onto(v, np.zeros(len(rows)))
    if a is None:
        return (speed,)
    gamma = evaluate(m, ALL_ROWS, designs.names)(q, speed, *designs.inputs)[1]
    return speed, onto(a, gamma[..., rows])
