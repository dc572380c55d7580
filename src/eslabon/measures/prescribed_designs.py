"""Loops closed for a motion of joints in many designs at once, with a reason for each design in which they do not close."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.formulas.kinematics.closure import row_names
from eslabon.measures.assembled_designs import Completed
from eslabon.measures.native_batches import Designs, chosen, number_of, threads
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import difference, values_by_joint
from eslabon.model.scale import velocity_scales
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION, SINGULAR
from eslabon.solve.configurations import Configurations
from eslabon.solve.constraints.independent_coordinates import redundancy_is_constant, retained_rows
from eslabon.solve.designs import designs_of, row_scales_of
from eslabon.solve.inverse_kinematics import reached
from eslabon.solve.prescribed import as_configuration, prescribed
from eslabon.solve.problem import Problem
from eslabon.solve.rates import COMPLETION, Rates, rates
from eslabon.solve.solve_options import Options
from eslabon.solve.target import Target

JUMP = 0.3  # rad, or m over L, between where the velocities lead and the next configuration


def completed_designs(
    m: Mechanism,
    designs: Designs,
    joints: tuple[str, ...],
    values: tuple[Floats, Floats, Floats],
    guess: Any,
    motion: bool,
) -> Completed:
    """q, v and a of all joints, (designs, k, ...), from those of some joints, (k, ...), as `m.complete` has them: by continuation
    from row to row along a motion, else of each row from the guess."""
    given, names = Problem(joints), tuple(sorted(designs))
    own = {name: designs[name][:, None] for name in names}
    q = m.assemble(
        values_by_joint(m, joints, values[0]),
        guess,
        continuation=motion,
        report=True,
        singular="ignore",
        parameters=own,
    ).q
    made = Rates(
        *evaluate(m, COMPLETION, names, problem=given)(
            q, *values[1:], *own.values(), threads=threads()
        )
    )
    reasons: dict[int, str] = {}
    for found in (
        _inconsistent(m, made, joints),
        _singular(made.condition),
        _passing(m, q, own, given) if motion else {},
        _beyond(m, q, values[0], given),
        _open(m, q, own),
    ):
        reasons.update(found)  # the last is the first cause
    return Completed(q, made.v, made.a, reasons)


def followed_designs(
    m: Mechanism,
    designs: Designs,
    target: Target,
    moving: tuple[Floats, Floats],
    t: Floats,
    guess: Any,
) -> Completed:
    """The same from the motion of a frame, (k, ...): row by row, each from the one before, in all designs at once that reach it."""
    q, reasons = np.full((number_of(designs), len(t), m.nq), np.nan), dict[int, str]()
    v, a = (np.full((*q.shape[:2], m.nv), np.nan) for _ in range(2))
    problem, x = prescribed(m, target)
    going, start = np.arange(len(q)), None if guess is None else as_configuration(m, guess)
    for k in range(len(t)):
        options = Options(parameters=chosen(designs, going))
        found = reached(m, problem, x[k], start, options, strict=False)
        arrived = found.converged.astype(bool)
        reasons.update(
            {int(going[i]): _missed(found, i, k, len(t)) for i in np.flatnonzero(~arrived).tolist()}
        )
        going, start = going[arrived], found.q[arrived]
        if not len(going):
            return Completed(q, v, a, reasons)
        q[going, k] = start
    own = {name: x[:, None] for name, x in chosen(designs, going).items()}
    made = rates(m, problem, q[going], *moving, designs_of(m, own))
    v[going], a[going] = made.v, made.a
    for bad in (
        _slipping(m, made),
        _singular_frame(made.condition),
        _jumping(m, q[going], made.v, t),
    ):
        reasons.update({int(going[i]): why for i, why in bad.items()})
    return Completed(q, v, a, reasons)


def _missed(found: Configurations, i: int, k: int, count: int) -> str:
    """Why a design does not go on."""
    off = f"{found.distance[i]:.3g} m and {found.angle[i]:.3g} rad"
    return f"does not reach state {k} of {count} of the motion within its limits: it misses it by {off}."


def _slipping(m: Mechanism, made: Rates) -> dict[int, str]:
    slip, bad = made.slip, ~(made.slip <= ACCEPTED_VIOLATION * _speed(m, made.v))
    return {i: f"cannot move as asked: what no joint can give is {slip[i].max():.3g} of the velocity{_counted(bad, i)}." for i in _rows(bad)}  # fmt: skip


def _singular_frame(condition: Floats) -> dict[int, str]:
    bad = ~(condition >= SINGULAR)
    said = "is at a singular configuration{}, where the motion of the frame takes the joints without bound."
    return {i: said.format(_counted(bad, i)) for i in _rows(bad)}


def _jumping(m: Mechanism, q: Floats, v: Floats, t: Floats) -> dict[int, str]:
    ahead = np.diff(t)[:, None] * (v[:, 1:] + v[:, :-1]) / 2
    off = (difference(m, q[:, 1:], q[:, :-1]) - ahead) * velocity_scales(m)
    jumps = np.any(np.abs(off) > JUMP, axis=-1)
    said = "jumps to another branch, or moves too fast to tell, between states {} and {}; take more samples."
    return {
        i: said.format(int(jumps[i].argmax()), int(jumps[i].argmax()) + 1) for i in _rows(jumps)
    }


def _of(m: Mechanism, verb: str, q: Floats, own: dict[str, Floats]) -> Floats:
    made: Floats = getattr(m, verb)(q, parameters=own, threads=threads())
    return made


def _rows(bad: Any) -> Any:
    return np.flatnonzero(bad.any(axis=1)).tolist()


def _counted(bad: Any, k: int) -> str:
    return f" in {int(bad[k].sum())} of {bad.shape[1]} states" if bad.shape[1] > 1 else ""


def _open(m: Mechanism, q: Floats, own: dict[str, Floats]) -> dict[int, str]:
    left = np.abs(_of(m, "constraint", q, own))
    comparable = left * row_scales_of(m, designs_of(m, own))
    bad, names = ~(comparable.max(axis=-1, initial=0.0) <= ACCEPTED_VIOLATION), row_names(m)
    made = {}
    loops = {loop.name for loop in m.loops}
    for k in _rows(bad):
        worst = np.where(np.isfinite(left[k]), left[k], np.inf).max(axis=0)
        name = names[int(worst.argmax())]
        what = "loop" if name in loops else "coupling"
        made[k] = (
            f"cannot be assembled: {what} '{name}' is left open by {worst.max():.3g} (m or rad){_counted(bad, k)}."
        )
    return made


def _beyond(m: Mechanism, q: Floats, values: Floats, given: Problem) -> dict[int, str]:
    """Prescribed values that the limits of joints do not allow, where the solver stayed within."""
    if not given.has_straight_ways(m):  # a quaternion has no limits
        return {}
    off = np.abs(q[..., given.coordinates(m)] - values)
    off = np.minimum(
        off, np.abs(off - 2 * np.pi * np.round(off / (2 * np.pi)))
    )  # whole turns are none
    comparable = off * velocity_scales(m)[given.velocities(m)]
    bad = comparable.max(axis=-1, initial=0.0) > ACCEPTED_VIOLATION
    columns = [name for name in given.held for _ in range(m.joint(name).nq)]
    return {
        k: f"cannot be assembled: '{columns[int(off[k].max(axis=0).argmax())]}' would be beyond its limits{_counted(bad, k)}."
        for k in _rows(bad)
    }


def _passing(m: Mechanism, q: Floats, own: dict[str, Floats], given: Problem) -> dict[int, str]:
    """Where the determinant of the columns that are not prescribed changes its sign along a motion."""
    rows, free = list(retained_rows(m)), given.free(m)
    if len(rows) != len(free) or not redundancy_is_constant(m):
        return {}
    J = _of(m, "constraint_jacobian", q, own)[..., rows, :][..., free]
    sign = np.sign(np.linalg.det(J))
    turned = sign[:, 1:] * sign[:, :-1] < 0
    said = "passes a singular configuration between states {} and {} of the motion, where its branches meet."
    return {
        k: said.format(int(turned[k].argmax()), int(turned[k].argmax()) + 1) for k in _rows(turned)
    }


def _singular(condition: Floats) -> dict[int, str]:
    bad = ~(condition > SINGULAR)
    said = "is at a singular configuration{}: the other joints' velocities do not follow from those that are prescribed."
    return {k: said.format(_counted(bad, k)) for k in _rows(bad)}


def _speed(m: Mechanism, v: Floats) -> Floats:
    """The largest velocity of any joint: radians, or lengths of the mechanism's size, a second."""
    return np.asarray(np.abs(v * velocity_scales(m)).max(axis=-1, initial=0.0))


def _inconsistent(m: Mechanism, made: Rates, joints: tuple[str, ...]) -> dict[int, str]:
    speed = _speed(m, made.v)
    change = np.maximum(_speed(m, made.a), speed**2)
    bad = ~(made.slip <= ACCEPTED_VIOLATION * speed)
    bad |= ~(made.acceleration_slip <= ACCEPTED_VIOLATION * change)
    left = np.maximum(made.slip, made.acceleration_slip)
    said = (
        "the motion prescribed for {} violates loop closure by {:.3g} (rad, or lengths of its size, a second or second "
        "squared){}; prescribe fewer."
    )
    return {
        k: said.format(", ".join(joints), np.nanmax(left[k]), _counted(bad, k)) for k in _rows(bad)
    }
