"""Loops closed for a motion of joints in many designs at once, with a reason for each design in which they do not close."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.coordinates.partition import redundancy_is_constant, retained_rows
from eslabon.graph.evaluator import evaluate
from eslabon.kinematics.closure import row_names
from eslabon.measures.assembled_designs import Completed
from eslabon.measures.native_batches import Designs, threads
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import difference
from eslabon.solvers.assembly.closing_formulas import SINGULAR_PIVOT
from eslabon.solvers.assembly.complete import COMPLETING
from eslabon.solvers.assembly.prescription import Prescription

OPEN = 1e-6  # m or rad: what violates loop closure by more is not assembled
JUMP = 0.3  # rad or m between where the velocities lead and the next configuration
LEFT = 1e-6  # of the accelerations, or of the velocities squared: what violates the equations of motion of the loops


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
    given, names = Prescription(joints), tuple(sorted(designs))
    own = {name: designs[name][:, None] for name in names}
    q = m.assemble(
        values[0], guess, joints=joints, continuation=motion, strict=False, singular="ignore", parameters=own
    )
    v, a, left, pivot = evaluate(m, COMPLETING, names, given=given)(q, *values[1:], *own.values(), threads=threads())
    reasons: dict[int, str] = {}
    for found in (
        _inconsistent(left, v, a, joints),
        _singular(pivot),
        _passing(m, q, own, given) if motion else {},
        _beyond(m, q, values[0], given),
        _open(m, q, own),
    ):
        reasons.update(found)  # the last is the first cause
    return Completed(q, v, a, reasons)


def followed_designs(
    m: Mechanism, designs: Designs, target: dict[str, Floats], t: Floats, guess: Any, frame: str | None
) -> Completed:
    """The same from the motion of a frame, (k, ...): row by row, each from the one before, in all designs at once."""
    found: list[tuple[Floats, Floats, Floats]] = []
    for k in range(len(t)):
        now = {word: x[k] for word, x in target.items()}
        start = found[-1][0] if found else guess
        found.append(m.complete(guess=start, frame=frame, singular="error", parameters=designs, **now))
    q, v, a = (np.stack(x, axis=1) for x in zip(*found, strict=True))
    ahead = np.diff(t)[:, None] * (v[:, 1:] + v[:, :-1]) / 2
    jumps = (np.abs(difference(m, q[:, 1:], q[:, :-1]) - ahead) > JUMP).any(axis=-1)
    said = "jumps to another branch, or moves too fast to tell, between states {} and {}; take more samples."
    return Completed(
        q, v, a, {k: said.format(int(jumps[k].argmax()), int(jumps[k].argmax()) + 1) for k in _rows(jumps)}
    )


def _of(m: Mechanism, verb: str, q: Floats, own: dict[str, Floats]) -> Floats:
    made: Floats = getattr(m, verb)(q, parameters=own, threads=threads())
    return made


def _rows(bad: Any) -> Any:
    return np.flatnonzero(bad.any(axis=1)).tolist()


def _counted(bad: Any, k: int) -> str:
    return f" in {int(bad[k].sum())} of {bad.shape[1]} states" if bad.shape[1] > 1 else ""


def _open(m: Mechanism, q: Floats, own: dict[str, Floats]) -> dict[int, str]:
    left = np.abs(_of(m, "constraint", q, own))
    bad, names, made = ~(left.max(axis=-1, initial=0.0) <= OPEN), row_names(m), {}
    loops = {loop.name for loop in m.loops}
    for k in _rows(bad):
        worst = np.where(np.isfinite(left[k]), left[k], np.inf).max(axis=0)
        name = names[int(worst.argmax())]
        what = "loop" if name in loops else "coupling"
        made[k] = (
            f"cannot be assembled: {what} '{name}' is left open by {worst.max():.3g} (m or rad){_counted(bad, k)}."
        )
    return made


def _beyond(m: Mechanism, q: Floats, values: Floats, given: Prescription) -> dict[int, str]:
    """Prescribed values that the limits of joints do not allow, where the solver stayed within."""
    places = given.coordinates(m)
    off = np.abs(q[..., places] - values)
    off = np.minimum(off, np.abs(off - 2 * np.pi * np.round(off / (2 * np.pi))))  # whole turns are none
    bad = off.max(axis=-1, initial=0.0) > OPEN
    columns = [name for name in given.joints for _ in range(m.joint(name).nq)]
    return {
        k: f"cannot be assembled: '{columns[int(off[k].max(axis=0).argmax())]}' would be beyond its limits{_counted(bad, k)}."
        for k in _rows(bad)
    }


def _passing(m: Mechanism, q: Floats, own: dict[str, Floats], given: Prescription) -> dict[int, str]:
    """Where the determinant of the columns that are not prescribed changes its sign along a motion."""
    rows, free = list(retained_rows(m)), given.free(m)
    if len(rows) != len(free) or not redundancy_is_constant(m):
        return {}
    J = _of(m, "constraint_jacobian", q, own)[..., rows, :][..., free]
    sign = np.sign(np.linalg.det(J))
    turned = sign[:, 1:] * sign[:, :-1] < 0
    said = "passes a singular configuration between states {} and {} of the motion, where its branches meet."
    return {k: said.format(int(turned[k].argmax()), int(turned[k].argmax()) + 1) for k in _rows(turned)}


def _singular(pivot: Floats) -> dict[int, str]:
    bad = ~(pivot > SINGULAR_PIVOT)
    said = (
        "is at a singular configuration{}: the other joints' velocities do not follow from those that are prescribed."
    )
    return {k: said.format(_counted(bad, k)) for k in _rows(bad)}


def _inconsistent(left: Floats, v: Floats, a: Floats, joints: tuple[str, ...]) -> dict[int, str]:
    allowed = LEFT * np.maximum(
        1.0, np.maximum(np.abs(a).max(axis=-1, initial=0.0), np.abs(v).max(axis=-1, initial=0.0) ** 2)
    )
    bad = ~(left <= allowed)
    said = "the motion prescribed for {} violates loop closure by {:.3g} (m or rad a second or second squared){}; prescribe fewer."
    return {k: said.format(", ".join(joints), np.nanmax(left[k]), _counted(bad, k)) for k in _rows(bad)}
