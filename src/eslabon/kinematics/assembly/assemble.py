"""Full coordinates from prescribed ones. A far target is approached along the straight way from where the guess stands,
closing again after every stride and looking ahead along the last one, so that the mechanism stays on its branch."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from eslabon.errors import AssemblyError, ModelError, check_word, tell_of_singularity
from eslabon.kinematics.assembly.branches import signs
from eslabon.kinematics.assembly.newton import residual, solve, stepper
from eslabon.kinematics.assembly.prescription import Prescription, prescribed, start
from eslabon.kinematics.closure import CLOSED, close, partition, residuals_at, row_names, tidy
from eslabon.model import Mechanism

Floats = np.ndarray
STRIDE = 0.25  # radians or metres that a prescribed joint moves between two closings


def assemble(
    m: Mechanism, values: Any = None, guess: Any = None, *, joints: tuple[str, ...] | None = None, pose: Any = None,
    frame: str | None = None, strict: bool = True, along: bool = False, singular: str = "warn",
) -> Floats:  # fmt: skip
    """Full coordinates that close the loops, for prescribed joints (the actuated ones, or `joints`) or a frame's pose.

    With `along` the last axis of many values is a motion: each posture follows from the one before.
    """
    check_word(singular)
    given, values = prescribed(m, values, joints, pose, frame)
    begin, core = start(m, guess), given.core + along
    if values.ndim < core:
        raise ModelError("along=True takes a motion: values with an axis for its rows before the last.")
    try:
        lead = np.broadcast_shapes(values.shape[:-core], begin.shape[:-1])
    except ValueError:
        raise ModelError(
            f"the leading axes of the prescribed values {values.shape[:-core]} and of the guess {begin.shape[:-1]} do not fit "
            "together; give one guess, or one for each."
        ) from None
    begin = np.array(np.broadcast_to(begin, (*lead, m.nq)).reshape(-1, m.nq))
    goal = np.broadcast_to(values, (*lead, *values.shape[-core:])).reshape(len(begin), *values.shape[-core:])
    if along and not goal.size:
        raise ModelError("along=True takes a motion of at least one row.")
    if along:
        pairs = [follow(m, given, q, motion) for q, motion in zip(begin, goal, strict=True)]
        q, size = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
    else:
        q, size = _reach(m, given, begin, goal)
    rows = q.reshape(-1, m.nq)
    if strict and not np.all(size < CLOSED):
        refuse(m, given, rows, size.ravel(), goal.reshape(len(rows), *values.shape[values.ndim - given.core :]))
    _tell_of_branches(m, given, begin, q, singular)
    return q.reshape(*lead, *q.shape[1:])


# -- ways -----------------------------------------------------------------------------------------------------------


def _reach(m: Mechanism, given: Prescription, begin: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """Each goal from its own start; where a start is open itself and leads nowhere, from the closed posture next to it."""
    way = _by_pose if given.core == 2 else _by_joints
    q, size = way(m, given, begin, goal)
    lost = np.flatnonzero(~(size < CLOSED))
    lost = lost[~(residual(m, begin[lost]) < CLOSED)] if len(lost) else lost
    if len(lost):
        again, left = way(m, given, np.array([_closed(m, begin[k]) for k in lost]), goal[lost])
        q[lost], size[lost] = again, left
    return q, size


def _closed(m: Mechanism, q: Floats) -> Floats:
    try:
        return close(m, q)
    except AssemblyError:
        return q


def _by_joints(m: Mechanism, given: Prescription, q: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """From where the guesses stand to the goal, in strides."""
    q, places = q.copy(), given.coordinates(m)
    begin = q[:, places].copy()
    far = np.abs(goal - begin).max(axis=-1, initial=0.0)
    strides = max(1, int(np.ceil(far.max(initial=0.0) / STRIDE)))
    shares = np.minimum(1.0, np.arange(strides + 1)[:, None] * STRIDE / np.maximum(far, 1e-300))
    size, before = np.full(len(q), np.inf), q
    for k in range(1, strides + 1):
        ahead = q.copy()
        if k > 1:
            last, coming = shares[k - 1] - shares[k - 2], shares[k] - shares[k - 1]
            ahead += np.where(last > 0, coming / np.maximum(last, 1e-300), 0.0)[:, None] * (q - before)
        ahead[:, places] = goal if k == strides else begin + shares[k][:, None] * (goal - begin)
        before = q
        q, size = solve(m, given, tidy(m, ahead))
    return q, size


def _by_pose(m: Mechanism, given: Prescription, q: Floats, T: Floats) -> tuple[Floats, Floats]:
    q, size = solve(m, given, q, T)
    rng = np.random.default_rng(0)
    for k in range(20):  # other starts for those that did not close
        lost = np.flatnonzero(~(size < CLOSED))
        if not len(lost):
            break
        away = tidy(m, q[lost] + rng.normal(size=(len(lost), m.nq)) * (0.1 + 0.1 * k))
        again, left = solve(m, given, away, T[lost])
        better = left < size[lost]
        q[lost[better]], size[lost[better]] = again[better], left[better]
    return q, size


def follow(m: Mechanism, given: Prescription, begin: Floats, motion: Floats) -> tuple[Floats, Floats]:
    """The postures along a motion, and what is left open in each.

    Knots a stride apart are closed one after another, each from where the last two point; all rows between them are
    closed at once, from the straight line between their knots.
    """
    flat = motion.reshape(len(motion), -1)
    s = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(flat, axis=0)).max(axis=-1, initial=0.0))])
    knots = np.unique(np.concatenate([[0], np.searchsorted(s, np.arange(STRIDE, s[-1], STRIDE)), [len(s) - 1]]))
    q, size = np.empty((len(s), m.nq)), np.empty(len(s))
    q[:1], size[:1] = _reach(m, given, begin[None], motion[:1])
    for a, b in pairwise(knots):
        ahead = q[a]
        earlier = knots[np.searchsorted(knots, a) - 1] if a else 0
        if s[a] > s[earlier]:
            ahead = tidy(m, q[a] + (s[b] - s[a]) / (s[a] - s[earlier]) * (q[a] - q[earlier]))
        q[b : b + 1], size[b : b + 1] = _next(m, given, ahead[None], motion[b : b + 1])
        if not size[b] < CLOSED:
            q[b : b + 1], size[b : b + 1] = _reach(m, given, q[a : a + 1], motion[b : b + 1])
    between = np.setdiff1d(np.arange(len(s)), knots)
    if len(between):
        right = np.searchsorted(knots, between)
        a, b = knots[right - 1], knots[right]
        share = ((s[between] - s[a]) / np.maximum(s[b] - s[a], 1e-300))[:, None]
        q[between], size[between] = _next(m, given, tidy(m, (1 - share) * q[a] + share * q[b]), motion[between])
    return q, size


def _next(m: Mechanism, given: Prescription, q: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """Straight to goals that are near."""
    if given.core == 2:
        return solve(m, given, q, goal)
    q = q.copy()
    q[:, given.coordinates(m)] = goal
    return solve(m, given, tidy(m, q))


# -- what is said ---------------------------------------------------------------------------------------------------


def _tell_of_branches(m: Mechanism, given: Prescription, begin: Floats, q: Floats, singular: str) -> None:
    """Where the branch of an answer is another than that of its guess, or changes along a motion, say so."""
    ends = q.reshape(-1, m.nq)
    after = signs(m, given, ends)
    if after is None or singular == "ignore":
        return
    if q.ndim == 3:
        changes = np.argwhere(np.diff(after.reshape(q.shape[:2]), axis=1) != 0)
        if len(changes):
            row = int(changes[0][-1])
            tell_of_singularity(
                singular, f"between rows {row} and {row + 1} of the motion {m.name} passes a singular posture, where its "
                "branches meet; it goes on as it came, but another way is as good.")  # fmt: skip
        return
    other = int((signs(m, given, begin) * after < 0).sum())
    if other:
        which = "the posture" if len(ends) == 1 else f"{other} of {len(ends)} postures"
        tell_of_singularity(
            singular, f"on the way to {which} {m.name} has passed a singular posture, and may stand on another branch than "
            "its guess; give a guess on the branch you want, or see m.assembly_modes.")  # fmt: skip


def refuse(m: Mechanism, given: Prescription, q: Floats, size: Floats, goal: Floats) -> NoReturn:
    """Say which loop stays open, by how much, and what could be reached."""
    k = int(np.argmax(np.where(np.isfinite(size), size, np.inf)))
    many = f" ({int((~(size < CLOSED)).sum())} of {len(size)} postures; this is number {k})" if len(size) > 1 else ""
    if given.frame is not None:
        raise AssemblyError(
            f"{m.name} cannot bring '{given.frame}' to this pose{many}: {size[k]:.3g} (m or rad) is left; try a guess nearer to it."
        )
    phi = np.abs(stepper(m, given)(q[k], np.eye(3), np.zeros(3), 1e-6)[1])
    phi = np.where(np.isfinite(phi), phi, np.inf)
    worst = row_names(m)[int(phi.argmax())]
    with_these = f"with {', '.join(given.joints)} at {', '.join(f'{x:.6g}' for x in goal[k])}" if given.joints else ""
    raise AssemblyError(
        f"{m.name} cannot be assembled {with_these or 'from this guess'}{many}: loop '{worst}' is left open by "
        f"{phi.max():.3g} (m or rad){_nearest(m, given, q[k], goal[k])}."
    )


def _nearest(m: Mechanism, given: Prescription, q: Floats, goal: Floats) -> str:
    """What could be reached from here, as the end of a sentence."""
    from scipy.optimize import minimize

    if not given.joints:
        return "; give a guess nearer to a closed posture"
    places, rows = given.coordinates(m), list(partition(m).rows)
    try:
        begin = close(m, q, restarts=0)
    except AssemblyError:
        return "; if it closes in another way, m.assembly_modes finds it"
    closed = {"type": "eq", "fun": lambda x: residuals_at(m, tidy(m, x))[rows]}
    found = minimize(lambda x: ((x[places] - goal) ** 2).sum(), begin, method="SLSQP", constraints=closed)
    best = found.x if np.abs(residuals_at(m, tidy(m, found.x))).max() < 1e-6 else begin
    return (
        f"; the nearest on this branch that closes is about {', '.join(f'{x:.4g}' for x in best[places])}, and if it closes in "
        "another way, m.assembly_modes finds it"
    )
