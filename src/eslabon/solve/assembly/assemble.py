"""Full coordinates from prescribed ones, by continuation from where the guess stands, so that the mechanism stays on its
branch."""

from __future__ import annotations

from math import prod
from typing import Any, NoReturn

import numpy as np

from eslabon.arguments import choice, flag
from eslabon.errors import SINGULAR_CHOICES, AssemblyError, ModelError, report_singularity
from eslabon.formulas.kinematics.closure import row_names
from eslabon.model import Model
from eslabon.model.configuration import integrate, normalize
from eslabon.numerics.tolerances import CONVERGED
from eslabon.solve.assembly.closing_formulas import NearClosure, residual, solve_closure
from eslabon.solve.assembly.continuation import Crossing, continued
from eslabon.solve.assembly.prescription import (
    Prescription,
    by_joints,
    determinacy,
    prescribed,
    start,
)
from eslabon.solve.batches import flattened, leading
from eslabon.solve.constraints.closed_configurations import (
    close_each,
    residuals_at,
    unclosed,
    violation_text,
)
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.designs import DESCRIBED, Designs, designs_of
from eslabon.solve.ranges import Ranges

Floats = np.ndarray
NEARER = 0.1  # of what a guess violates the closure of the mechanism as described: where it is said to be of its own design
RESTARTS = 20  # for poses that no straight way leads to


def assemble(
    m: Model, values: Any = None, guess: Any = None, *, joints: tuple[str, ...] | None = None, pose: Any = None,
    frame: str | None = None, strict: bool = True, continuation: bool = False, singular: str = "warn",
    limits: bool = True, parameters: Any = None,
) -> Floats:  # fmt: skip
    """Full coordinates that close the loops, for prescribed joints (the actuated ones, or `joints`) or a frame's pose.

    With `continuation` the last axis of many values is a motion: each configuration follows from the one before. With
    `parameters` each configuration is one of a design of its own, which the way leads to too.
    """
    choice(singular, "singular", SINGULAR_CHOICES)
    for name, value in (("strict", strict), ("continuation", continuation), ("limits", limits)):
        flag(value, name)
    near = None
    if (
        pose is frame is parameters is None
        and type(values) is type(guess) is np.ndarray
        and not continuation
    ):
        near = NearClosure.of(m, by_joints(m, joints))(guess, values, limits)
    if near is not None:
        return near
    given, values = prescribed(m, values, joints, pose, frame)
    begin, ranges = start(m, guess), Ranges.of(m) if limits else Ranges.of(m).unlimited
    if given.frame is not None and not continuation and parameters is None:
        near = NearClosure.of(m, given)(begin, values, limits)
    if near is not None:
        return near
    designs = designs_of(m, parameters, limits).moving(m, given.frame)
    core = given.core + continuation
    if values.ndim < core or (continuation and not values.shape[-core]):
        raise ModelError(
            "continuation=True takes a motion: values with an axis of at least one row before the last."
        )
    if continuation:  # the rows of a motion may be of as many designs
        rows = leading(values=(values, given.core), parameters=(designs.values, 1))
        values, designs = (
            np.broadcast_to(values, (*rows, *values.shape[-given.core :])),
            designs.over(*rows),
        )
    lead, (begin, goal, own) = flattened(
        guess=(begin, 1), values=(values, core), parameters=(designs.values, 1 + continuation)
    )
    if not continuation:
        goal, own = goal[:, None], own[:, None]
    if not len(begin):
        return np.zeros((*lead, *goal.shape[1 : 1 + continuation], m.nq))
    task = Assembly(m, given, ranges, strict)
    q, crossings = task.solve(begin.copy(), goal, Designs(designs.names, own))
    if singular != "ignore":
        _tell(m, given, crossings, len(begin), continuation, singular)
    return q.reshape(*lead, *q.shape[1:]) if continuation else q.reshape(*lead, m.nq)


class Assembly:
    """What is prescribed of a mechanism, within which ranges, and whether what cannot be is an error."""

    def __init__(self, m: Model, given: Prescription, ranges: Ranges, strict: bool = True) -> None:
        self.m, self.given, self.ranges, self.strict = m, given, ranges, strict

    def solve(self, begin: Floats, goal: Floats, designs: Designs) -> tuple[Floats, list[Crossing]]:
        """Configurations (lanes, rows, nq) for goals (lanes, rows, ...) in designs (lanes, rows, parameters), and the
        singular ones passed on the way."""
        goal = self.admitted(goal)
        q, size, crossings = self._reached(begin, goal, designs)
        q, size = self._within(q, size, goal, designs)
        open_ = unclosed(self.m, size)
        if self.strict and open_.any():
            flat = goal.reshape(size.size, *goal.shape[2:])
            refuse(
                self.m,
                self.given,
                q.reshape(size.size, self.m.nq),
                size.ravel(),
                flat,
                designs.reshaped(size.size),
            )
        return q, crossings

    def _reached(
        self, begin: Floats, goal: Floats, designs: Designs
    ) -> tuple[Floats, Floats, list[Crossing]]:
        """Where the motions lead, whatever the limits, and by how much each row violates closure or misses its pose."""
        m, given = self.m, self.given
        if (
            not m.nv
            or not (m.loops or m.couplings or given.frame)
            or not (given.joints or given.frame)
        ):
            q = np.repeat(begin[:, None], goal.shape[1], axis=1)
            if given.frame is None:
                q[..., given.coordinates(m)] = goal
                q = normalize(m, q)
                if not given.joints:
                    flat = q.reshape(prod(q.shape[:-1]), m.nq)
                    own = designs.reshaped(len(flat))
                    q = self._closed(
                        given, self.ranges, self.ranges.admitted(flat), flat, own
                    ).reshape(q.shape)
            return q, self._left(q, goal, designs), []
        start, own = self.started(begin, designs[:, 0])
        motion = continued(m, given, start, goal, designs, own)
        size = self._left(motion.q, goal, designs)
        if motion.lost.any():
            size[motion.lost] = np.inf
            motion.crossings.extend(self._rescued(motion.q, size, goal, designs, motion.lost))
        return motion.q, size, motion.crossings

    def _closed(
        self, holding: Prescription, ranges: Ranges, q: Floats, guess: Floats, designs: Designs
    ) -> Floats:
        """Closed configurations next to q that keep some joints where they are; else, with all free, next to the guess."""
        found, size = solve_closure(self.m, holding, ranges, q, designs=designs)
        lost = np.flatnonzero(unclosed(self.m, size))
        if len(lost):
            near, error = close_each(self.m, guess[lost], designs[lost])
            open_ = unclosed(self.m, np.sqrt(error))
            found[lost] = np.where(open_[:, None], guess[lost], near)
        return found

    def started(self, begin: Floats, designs: Designs = DESCRIBED) -> tuple[Floats, Designs]:
        """Closed configurations to start from, and in which designs: the guesses where they close their own design, or else
        the mechanism as it is described; or the closed ones next to them."""
        m, begin = self.m, normalize(self.m, begin)
        own = designs.own(m).over(len(begin))
        if not m.closed:
            return begin, own
        left = residual(m, begin, own)
        start = own.values.copy()
        if designs.names:
            before, left = left, residual(m, begin, designs)
            described = ~(left < CONVERGED) & ((before < CONVERGED) | ~(left < NEARER * before))
            start[~described] = designs.values[~described]
            left = np.where(described, before, left)
        lost = np.flatnonzero(unclosed(m, left))
        if len(lost):  # one guess for all is closed once
            each, back = np.unique(
                np.hstack([begin[lost], start[lost]]), axis=0, return_inverse=True
            )
            q, own = np.ascontiguousarray(each[:, : m.nq]), Designs(designs.names, each[:, m.nq :])
            closed = self._closed(Prescription(self.given.joints), self.ranges.unlimited, q, q, own)
            begin[lost] = closed[back.ravel()]
        return begin, Designs(designs.names, start)

    def _rescued(
        self, q: Floats, size: Floats, goal: Floats, designs: Designs, lost: Floats
    ) -> list[Crossing]:
        """What no straight way leads to on the branch is sought directly, from where the way ended: on another branch."""
        last, ended = np.argmax(lost, axis=1), np.flatnonzero(lost.any(axis=1))
        rows = last[ended]
        values = self.given.values(self.m, q[ended, rows], designs[ended, rows])
        crossings = [
            Crossing(int(k), int(row), x) for k, row, x in zip(ended, rows, values, strict=True)
        ]
        for row in range(int(rows.min()), lost.shape[1]):
            lanes = np.flatnonzero(lost[:, row])
            if self.strict and row and unclosed(self.m, size[lanes, row - 1]).any():
                break
            before = q[lanes, row - 1] if row else q[lanes, row]
            q[lanes, row], size[lanes, row] = self._directly(
                before, goal[lanes, row], designs[lanes, row]
            )
        return crossings

    def _directly(self, q: Floats, x: Floats, designs: Designs) -> tuple[Floats, Floats]:
        """Damped least squares straight to the goals; for poses from other starts too."""
        unlimited = self.ranges.unlimited
        if self.given.frame is None:
            q = q.copy()
            q[:, self.given.coordinates(self.m)] = x
            return solve_closure(
                self.m, self.given, unlimited, normalize(self.m, q), designs=designs
            )
        found = solve_closure(self.m, self.given, unlimited, q, x, designs)
        return self._restarted(unlimited, *found, x, designs)

    def _restarted(
        self, ranges: Ranges, q: Floats, size: Floats, x: Floats, designs: Designs
    ) -> tuple[Floats, Floats]:
        """The same from other starts for what is not there yet; each row finds the same in any batch."""
        rng = np.random.default_rng(0)
        for k in range(RESTARTS):
            lost = np.flatnonzero(unclosed(self.m, size))
            if not len(lost):
                break
            away = np.tile(rng.normal(size=self.m.nv) * (0.1 + 0.1 * k), (len(lost), 1))
            away = integrate(self.m, q[lost], away)
            away = self.ranges.admitted(away)
            again, left = solve_closure(self.m, self.given, ranges, away, x[lost], designs[lost])
            better = left < size[lost]
            q[lost[better]], size[lost[better]] = again[better], left[better]
        return q, size

    def _left(self, q: Floats, goal: Floats, designs: Designs) -> Floats:
        """By how much rows violate closure, or miss their pose."""
        left = residual(self.m, q, designs) if self.m.closed else np.zeros(q.shape[:-1])
        if self.given.frame is not None:
            miss = np.abs(self.given.values(self.m, q, designs) - goal)
            left = np.maximum(left, miss.max(axis=(-1, -2)))
        return left

    # -- limits ---------------------------------------------------------------------------------------------------------

    def admitted(self, goal: Floats) -> Floats:
        """Prescribed values within the limits of their joints, whole motions shifted by whole turns where that helps."""
        if self.given.frame is not None:
            return goal
        places = self.given.coordinates(self.m)
        q = np.zeros((*goal.shape[:-1], self.m.nq))
        q[..., places] = goal
        shifted = self._turned(q)[..., places]
        lower, upper = self.ranges.lower[places], self.ranges.upper[places]
        outside = (shifted < lower - 1e-9) | (shifted > upper + 1e-9)
        if self.strict and outside.any():
            at = tuple(np.argwhere(outside)[0][:-1])
            q[at] = np.clip(0.0, self.ranges.lower, self.ranges.upper)
            q[at][places] = goal[at]
            raise AssemblyError(
                f"{self.m.name} is to have {self.ranges.outside(q[at])}; prescribe a value within, or pass limits=False."
            )
        return np.clip(shifted, lower, upper) if outside.any() else shifted

    def _turned(self, q: Floats) -> Floats:
        """Motions (lanes, rows, nq) shifted as a whole by whole turns to where their first rows are within the limits."""
        if self.ranges.contain(q).all():
            return q
        first = q[:, :1]
        return q + (self.ranges.turned(first, first) - first)

    def _within(
        self, q: Floats, size: Floats, goal: Floats, designs: Designs
    ) -> tuple[Floats, Floats]:
        """The same within the limits; what has another way of closing takes it, else it is refused."""
        q = self._turned(q)
        out = np.argwhere(~unclosed(self.m, size) & ~self.ranges.contain(q))
        if not len(out):
            return q, size
        at = tuple(out.T)
        begin, x, own = self.ranges.admitted(q[at]), goal[at], designs[at]
        if self.given.frame is None:
            begin[:, self.given.coordinates(self.m)] = x
        found, left = begin, np.full(len(out), np.inf)
        if determinacy(self.m, self.given).open:
            found, left = solve_closure(self.m, self.given, self.ranges, begin, x, own)
        if self.given.frame is not None and q.shape[1] == 1:
            found, left = self._restarted(self.ranges, found, left, x, own)
        lost = unclosed(self.m, left)
        if self.strict and lost.any():
            where = tuple(out[int(np.argmax(lost))])
            many = f" ({int(lost.sum())} of {size.size} configurations)" if size.size > 1 else ""
            joints = f"these values of {', '.join(self.given.joints)}"
            what = f"this pose of '{self.given.frame}'" if self.given.frame else joints
            raise AssemblyError(
                f"{self.m.name}{designs[where].told} closes for {what} only with {self.ranges.outside(q[where])}{many}; stay within, or pass "
                "limits=False."
            )
        missed = self._left(found[:, None], x[:, None], own[:, None])[:, 0]
        q[at], size[at] = found, np.where(lost, missed, left)
        return q, size


# -- what is said ---------------------------------------------------------------------------------------------------


def _tell(
    m: Model,
    given: Prescription,
    crossings: list[Crossing],
    lanes: int,
    continuation: bool,
    singular: str,
) -> None:
    """Where singular configurations were passed, so that the branch may be another, say so."""
    if not crossings:
        return
    first = min(crossings, key=lambda c: (c.lane, c.row))
    at = f" (near {_shown(given, first.values)})" if given.joints else ""
    if continuation:
        where = f"between rows {first.row - 1} and {first.row}" if first.row else "before row 0"
        sentence = f"{where} of the motion {m.name} passes a singular configuration{at}, where its branches meet; it goes on as it came, but another way is as good."  # fmt: skip
    else:
        count = len({c.lane for c in crossings})
        which = "the configuration" if lanes == 1 else f"{count} of {lanes} configurations"
        sentence = f"on the way to {which} {m.name} has passed a singular configuration{at}, and may stand on another branch than its guess; give a guess on the branch you want, or see m.assembly_modes."  # fmt: skip
    report_singularity(singular, sentence)


def _shown(given: Prescription, values: Floats) -> str:
    return f"{', '.join(given.joints)} = {', '.join(f'{x + 0.0:.4g}' for x in values)}"


def refuse(
    m: Model,
    given: Prescription,
    q: Floats,
    size: Floats,
    goal: Floats,
    designs: Designs | None = None,
) -> NoReturn:
    """Say which loop stays open, by how much, in which design, and what could be reached."""
    q = np.where(np.isfinite(q), q, m.home())
    open_ = np.flatnonzero(unclosed(m, size))
    k = int(open_[0])
    many = (
        f" ({len(open_)} of {len(size)} configurations; this is number {k})"
        if len(size) > 1
        else ""
    )
    own = DESCRIBED if designs is None else designs[k]
    name = f"{m.name}{own.told}"
    if given.frame is not None:
        left = (
            size[k]
            if np.isfinite(size[k])
            else float(np.abs(given.values(m, q[k], own) - goal[k]).max())
        )
        raise AssemblyError(
            f"{name} cannot bring '{given.frame}' to this pose{many}: {left:.3g} (m or rad) is left; try a guess nearer to it."
        )
    ahead = q[k].copy()
    ahead[given.coordinates(m)] = goal[k]
    if m.nv:
        ahead = solve_closure(
            m, given, Ranges.of(m).unlimited, normalize(m, ahead)[None], designs=own.over(1)
        )[0][0]
    phi = np.abs(residuals_at(m, ahead, own))
    with_these = (
        f"with {', '.join(given.joints)} at {', '.join(f'{x:.6g}' for x in goal[k])}"
        if given.joints
        else ""
    )
    raise AssemblyError(
        f"{name} cannot be assembled {with_these or 'from this guess'}{many}: loop '{row_names(m)[int(phi.argmax())]}' is "
        f"left open by {violation_text(m, phi, design=own)}{_nearest(m, given, q[k], goal[k], own)}."
    )


def _nearest(m: Model, given: Prescription, q: Floats, goal: Floats, design: Designs) -> str:
    """What could be reached from here, as the end of a sentence."""
    from scipy.optimize import minimize

    if not given.joints:
        return "; give a guess nearer to a closed configuration"
    places, rows = given.coordinates(m), list(partition(m).rows)
    (begin,), (error,) = close_each(m, q[None], design.over(1), restarts=0)
    if unclosed(m, np.sqrt(error)):
        return "; if it closes in another way, m.assembly_modes finds it"
    closed = {"type": "eq", "fun": lambda x: residuals_at(m, normalize(m, x), design)[rows]}
    found = minimize(
        lambda x: ((x[places] - goal) ** 2).sum(), begin, method="SLSQP", constraints=closed
    )
    best = found.x if np.abs(residuals_at(m, normalize(m, found.x), design)).max() < 1e-6 else begin
    return (
        f"; the nearest on this branch that closes is about {', '.join(f'{x:.4g}' for x in best[places])}, and if it closes in "
        "another way, m.assembly_modes finds it"
    )
