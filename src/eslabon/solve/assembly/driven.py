"""Mechanisms whose constraints depend on the time: configurations and rates at given instants (Díaz, 2).

A configuration belongs to the mechanism with its constraints as they are at that instant; the rates of all joints obey
J v = -Phi_t and J a = gamma, with the motion of prescribed joints beside them, by least squares of least norm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from eslabon.arguments import choice, finite, states
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import SINGULAR_CHOICES, AssemblyError, ModelError, report_singularity
from eslabon.formulas.inputs import Q, V
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.model.scale import velocity_scales
from eslabon.model.validation import TIME
from eslabon.numerics.scalars import casadi
from eslabon.solve.assembly.assemble import assemble
from eslabon.solve.assembly.complete import PASSIVE
from eslabon.solve.assembly.prescription import by_joints
from eslabon.solve.batches import leading
from eslabon.solve.designs import Designs, designs_of

Floats = np.ndarray[Any, np.dtype[np.float64]]
M = TypeVar("M", bound=Model)
LOST = 1e-9  # of the largest singular value


def at_time(m: M, t: Any) -> M:
    """The mechanism with its constraints as they are at an instant."""
    return type(m)(replace(m.description, parameters=(*m.description.parameters, (TIME, float(t)))))


def _instant(m: Model, t: Any, design: Designs) -> Model:
    """The same of a design, of which all instants share their native code."""
    return _started(m).variant(
        **{TIME: float(t)}, **dict(zip(design.names, design.values.tolist(), strict=True))
    )


@per_model
def _started(m: Model) -> Model:
    return at_time(m, 0.0)


def _timed(m: Model, t: Floats, parameters: Any) -> Designs:
    """The designs with the time, on which constraints depend like on a parameter."""
    designs = designs_of(m, parameters)
    lead = leading(times=(t, 0), parameters=(designs.values, 1))
    return Designs((TIME, *designs.names), np.concatenate(
        [np.broadcast_to(t, lead)[..., None], designs.over(*lead).values], axis=-1))  # fmt: skip


def instants(m: Model, t: Any) -> Floats:
    """The times that are given, where the constraints depend on them."""
    if not m.rheonomic:
        raise ModelError(f"the constraints of {m.name} do not depend on the time; leave t out.")
    if t is None:
        raise ModelError(f"the constraints of {m.name} depend on the time; give it, as t=0.5.")
    return finite(t, "t")


def assemble_at(
    m: Model, values: Any, guess: Any, t: Any, joints: tuple[str, ...] | None, continuation: bool, parameters: Any = None,
    **options: Any,
) -> Floats:  # fmt: skip
    """Configurations at instants, each in its own design; with continuation each starts from the one before."""
    when, designs = instants(m, t), designs_of(m, parameters)
    if values is None and joints is None and not m.actuated and options.get("pose") is None:
        joints = ()
    if options.get("pose") is not None:
        raise ModelError(
            f"a pose of {m.name} belongs to an instant: ask m.at_time(t).assemble(pose=...)."
        )
    values = np.zeros(0) if values is None else finite(values, "the array of prescribed values")
    lead = leading(
        times=(when, 0), values=(values, 1), guess=(np.zeros(1) if guess is None else np.asarray(guess), 1),
        parameters=(designs.values, 1),
    )  # fmt: skip
    when, values, designs = (
        np.broadcast_to(when, lead),
        np.broadcast_to(values, (*lead, values.shape[-1])),
        designs.over(*lead),
    )
    q = np.empty((*lead, m.nq))
    for k in np.ndindex(lead):
        begin = (
            guess
            if guess is None or np.ndim(guess) == 1
            else np.broadcast_to(guess, (*lead, m.nq))[k]
        )
        before = (*k[:-1], k[-1] - 1) if continuation and k and k[-1] else None
        begin = q[before] if before is not None else begin
        q[k] = assemble(
            _instant(m, when[k], designs[k]), values[k], begin, joints=joints, **options
        )
    return q


def complete_at(
    m: Model, values: Any, va: Any, aa: Any, guess: Any, t: Any, joints: tuple[str, ...] | None, continuation: bool,
    limits: bool, passive: str, singular: str, parameters: Any = None,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """q, v, a of all joints at instants, from the motion of prescribed ones; what they leave open as in `complete`."""
    choice(passive, "passive", PASSIVE)
    choice(singular, "singular", SINGULAR_CHOICES)
    given = by_joints(m, joints)
    count = len(given.velocities(m))
    own = [
        states(np.zeros(count) if x is None else x, name, count, m.name, "velocities")
        for x, name in ((va, "va"), (aa, "aa"))
    ]
    q = assemble_at(m, values, guess, t, joints, continuation, parameters, limits=limits)
    chosen, times = np.eye(m.nv)[given.velocities(m)], _timed(m, instants(m, t), parameters)
    _tell_open(m, q, times, chosen, passive, singular)
    return q, *_rates(m, q, times, chosen, own)


def _tell_open(
    m: Model, q: Floats, times: Designs, chosen: Floats, passive: str, singular: str
) -> None:
    """Refuse what nothing determines, and tell of configurations where less is determined than elsewhere."""
    J = evaluate(m, RATES, times.names)(q, np.zeros(m.nv), *times.inputs)[0]
    A = np.concatenate(
        [np.broadcast_to(chosen, (*q.shape[:-1], *chosen.shape)), J], axis=-2
    ) / velocity_scales(m)
    size = np.linalg.svd(A, compute_uv=False)
    found = (size > 1e-7 * size.max(axis=-1, keepdims=True, initial=0.0)).sum(axis=-1)
    most = int(np.max(found, initial=0))
    if found.size and most < m.nv and passive == "refuse":
        raise ModelError(
            f"the drives and prescribed joints of {m.name} leave {m.nv - most} of its degrees of freedom open; prescribe more, "
            "or with passive='minimum_norm' let them move as little as they can."
        )
    if (found < most).any():
        report_singularity(singular, f"{m.name} is at a singular configuration at one of the times, where velocities do not "
            "follow; take other times, or pass singular='warn' for the minimum-norm ones.")  # fmt: skip


def project_at(
    m: Model, q: Any, v: Any, a: Any, t: Any, limits: bool, parameters: Any = None
) -> Floats | tuple[Floats, ...]:
    """The nearest states that obey the constraints at instants, each in its own design."""
    when, q = instants(m, t), states(q, "q", m.nq, m.name)
    found = assemble_at(m, np.zeros(0), q, t, (), False, parameters, limits=limits)
    if v is None:
        return found
    speeds = states(v, "v", m.nv, m.name, "velocities")
    change = np.zeros(m.nv) if a is None else states(a, "a", m.nv, m.name, "velocities")
    made = _rates(m, found, _timed(m, when, parameters), near=(speeds, change))
    return (found, made[0]) if a is None else (found, *made)


def _rates(
    m: Model, q: Floats, times: Designs, chosen: Floats | None = None, own: Sequence[Floats] = (), near: Sequence[Floats] = ()
) -> tuple[Floats, Floats]:  # fmt: skip
    """v and a with the constraints' own rates and those of chosen rows, the nearest to given ones; with chosen rows, exactly."""
    C = np.zeros((0, m.nv)) if chosen is None else chosen
    first, second = own or np.zeros((2, 0))
    v0, a0 = near or np.zeros((2, m.nv))
    lead, scale = q.shape[:-1], 1 / velocity_scales(m)
    closure = evaluate(m, RATES, times.names)
    J, _, ahead = closure(q, np.zeros(m.nv), *times.inputs)
    A = np.concatenate([np.broadcast_to(C, (*lead, *C.shape)), J], axis=-2)
    back = scale[:, None] * np.linalg.pinv(A * scale, rcond=LOST)

    def onto(x: Floats, *rows: Floats) -> Floats:
        wanted = np.concatenate([np.broadcast_to(r, (*lead, r.shape[-1])) for r in rows], axis=-1)
        made = x + np.einsum("...ij,...j->...i", back, wanted - np.einsum("...ij,...j->...i", A, np.broadcast_to(x, (*lead, m.nv))))  # fmt: skip
        left = np.abs(np.einsum("...ij,...j->...i", A, made) - wanted).max(initial=0.0)
        if chosen is not None and left > 1e-6 * max(1.0, float(np.abs(wanted).max(initial=0.0))):
            raise AssemblyError(
                f"the motion prescribed violates the driven constraints of {m.name} by {left:.3g}; prescribe fewer joints."
            )
        return made

    v = onto(v0, first, -ahead)
    _, gamma, _ = closure(q, v, *times.inputs)
    return v, onto(a0, second, gamma)


def closure_rates(m: Model, q: Any, v: Any) -> list[Any]:
    """J, gamma and Phi_t of all rows."""
    return [casadi.densify(x) for x in equations(m, q, v, tuple(range(len(row_names(m)))))[1:]]


RATES = Formula(
    "closure_rates", closure_rates, (Q, V),
    (
        Argument("J", lambda m: (len(row_names(m)), m.nv)), Argument("gamma", lambda m: (len(row_names(m)),)),
        Argument("ahead", lambda m: (len(row_names(m)),)),
    ),
    rare=True,
)  # fmt: skip
