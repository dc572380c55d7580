"""Assembly on the branch of a guess: one native call where the values are near, else
continuation."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import AssemblyError, ModelError
from eslabon.formulas.kinematics.closure import row_names
from eslabon.model import Model
from eslabon.model.configuration import integrate, normalize
from eslabon.model.memory import per_model
from eslabon.model.scale import row_units, velocity_scales
from eslabon.model.validation import TIME
from eslabon.numerics.continuation import Crossing
from eslabon.numerics.subspaces import pseudo_inverse
from eslabon.numerics.tolerances import CONVERGED
from eslabon.solve.assembly_messages import (
    describe_prescribed,
    refuse,
    report_crossings,
    violations,
)
from eslabon.solve.batches import flattened, leading
from eslabon.solve.branch_kernels import NEAR_BRANCH
from eslabon.solve.configurations import Configurations
from eslabon.solve.constraints.closed_configurations import (
    close_each,
    closure_at,
    residuals_at,
    unclosed,
)
from eslabon.solve.designs import DESCRIBED, Designs, designs_of, row_scales_of
from eslabon.solve.determinacy import determinacy
from eslabon.solve.kernels import MISSED
from eslabon.solve.problem import CLOSURE_ALONE, Problem
from eslabon.solve.ranges import TURN, Ranges
from eslabon.solve.solve_options import PLAIN, Options
from eslabon.solve.solver import Lanes, Solver, follow

NEARER = 0.1  # of what a guess violates the described design by: where it is taken to be of its own


class NearBranch:
    """The configuration for a value near that of a closed one, in one native call; None where there
    is more to it."""

    @staticmethod
    @per_model
    def of(m: Model, problem: Problem) -> NearBranch:
        return NearBranch(m, problem)

    def __init__(self, m: Model, problem: Problem) -> None:
        self._m, self._problem = m, problem
        # Of a variant one call is not worth the code.
        suited = m.closed and m.nv and problem.has_straight_ways(m) and m.variant_of is None
        self._suited, self._shapes = bool(suited), ((m.nq,), (problem.size(m),))
        ranges = Ranges.of(m)
        self._limits = {
            True: (ranges.lower, ranges.upper),
            False: (ranges.unlimited.lower, ranges.unlimited.upper),
        }

    def __call__(self, q: Floats, x: Floats, limits: bool) -> Floats | None:
        if not self._suited or (q.shape, x.shape) != self._shapes:
            return None
        if not q.dtype == x.dtype == np.float64:
            return None
        found, sound = self._native(q, x, *self._limits[limits])
        return found if sound > 0.5 else None

    @cached_property
    def _native(self) -> Any:
        return evaluate(self._m, NEAR_BRANCH, problem=self._problem).native


def assembled(
    m: Model, problem: Problem, x: Floats, guess: Floats, o: Options, strict: bool
) -> Configurations:
    """Closed configurations for values (..., size), or with continuation for motions (..., rows,
    size)."""
    ranges = Ranges.of(m) if o.limits else Ranges.of(m).unlimited
    if o.parameters is None and not o.continuation and m.closed and o.tolerance >= CONVERGED:
        near = NearBranch.of(m, problem)(guess, x, o.limits)
        if near is not None:
            return Configurations(near, np.True_, 0.0, 0.0, 1)
    designs = moving_designs(m, problem, designs_of(m, o.parameters, o.limits))
    core = 1 + o.continuation
    if o.continuation:  # the rows of a motion may be of as many designs
        rows = leading(values=(x, 1), parameters=(designs.values, 1))
        if not rows or not rows[-1]:
            raise ModelError(
                "continuation=True takes a motion: values with an axis of at least one row before the "
                "last."
            )
        x, designs = np.broadcast_to(x, (*rows, x.shape[-1])), designs.over(*rows)
    lead, (begin, goal, p) = flattened(
        guess=(guess, 1), values=(x, core), parameters=(designs.values, core)
    )
    if not o.continuation:
        goal, p = goal[:, None], p[:, None]
    shape = (*lead, *goal.shape[1 : 1 + o.continuation])
    if not len(begin):
        nothing = np.zeros(shape)
        return Configurations(np.zeros((*shape, m.nq)), nothing > 0, nothing, nothing, nothing)
    task = Assembly(m, problem, ranges, strict, o)
    q, size, crossings = task.solve(begin.copy(), goal, Designs(designs.names, p))
    singular = o.singular or "warn"
    if singular != "ignore" and strict:
        report_crossings(m, problem, crossings, len(begin), o.continuation, singular)
    return task.answer(q, size, goal, Designs(designs.names, p), shape)


def moving_designs(m: Model, problem: Problem, designs: Designs) -> Designs:
    """The parameters that the configurations of a problem depend on."""
    if not designs.names:
        return designs
    found: set[str] = set()
    for frame in problem.frames or (None,):
        found |= set(designs.moving(m, frame).names)
    return designs.chosen(tuple(name for name in designs.names if name in found))


class Assembly:
    """A problem of a mechanism, within which ranges, and whether what cannot be is an error."""

    def __init__(
        self, m: Model, problem: Problem, ranges: Ranges, strict: bool = True, o: Options = PLAIN
    ) -> None:
        self.m, self.problem, self.ranges, self.strict, self.o = m, problem, ranges, strict, o
        self.held = problem.coordinates(m)
        self.ends: dict[int, Floats] = {}  # where branches end on the way, by lane

    def solve(
        self, begin: Floats, goal: Floats, designs: Designs
    ) -> tuple[Floats, Floats, list[Crossing]]:
        """Configurations (lanes, rows, nq) for values (lanes, rows, size) in designs (lanes, rows,
        names), by how much each row misses them, and the singular ones passed on the way."""
        goal = self.admitted(goal)
        q, size, crossings = self._reached(begin, goal, designs)
        q, size = self._within(q, size, goal, designs)
        if self.strict and self._missed(size).any():
            flat = goal.reshape(size.size, goal.shape[-1])
            own = designs.reshaped(size.size)
            k = int(np.flatnonzero(self._missed(size.ravel()))[0])
            end = self.ends.get(k // size.shape[1])
            at = q.reshape(size.size, self.m.nq)
            refuse(self.m, self.problem, at, size.ravel(), flat, own, end)
        return q, size, crossings

    def _missed(self, size: Floats) -> Any:
        """Which rows are not as near as the tolerance says."""
        if self.o.tolerance == CONVERGED:
            return unclosed(self.m, size)
        return ~(size < self.o.tolerance)

    def _solver(self, problem: Problem, ranges: Ranges, designs: Designs) -> Solver:
        return Solver(self.m, problem, ranges, names=designs.names, threads=self.o.threads)

    def answer(
        self, q: Floats, size: Floats, goal: Floats, designs: Designs, shape: tuple[int, ...]
    ) -> Configurations:
        """The configurations with the leading axes that were given, and what they miss."""
        m, nq = self.m, self.m.nq
        flat, x = q.reshape(size.size, nq), goal.reshape(size.size, goal.shape[-1])
        own = designs.reshaped(size.size) if designs.names else DESCRIBED
        good = ~self._missed(size) & self.ranges.contain(q)
        distance, angle = np.zeros((2, size.size))
        if self.problem.rows:
            native = evaluate(m, MISSED, own.names, problem=self.problem)
            distance, angle = (np.array(y) for y in native(flat, x, *own.inputs))
        if m.closed and not good.all():
            phi = np.abs(residuals_at(m, flat, own) / row_scales_of(m, own))
            slides = np.array(row_units(m)) == "m"
            distance = np.maximum(distance, phi[:, slides].max(axis=-1, initial=0.0))
            angle = np.maximum(angle, phi[:, ~slides].max(axis=-1, initial=0.0))
        parts = (good.ravel(), distance, angle, np.zeros(size.size, dtype=np.int64))
        return Configurations(q.reshape(*shape, nq), *(y.reshape(shape)[()] for y in parts))

    def _reached(
        self, begin: Floats, goal: Floats, designs: Designs
    ) -> tuple[Floats, Floats, list[Crossing]]:
        """Where the motions lead, whatever the limits, and by how much each row misses its
        value."""
        m, problem = self.m, self.problem
        if not m.nv or not (m.closed or problem.rows) or problem == CLOSURE_ALONE:
            q = np.repeat(begin[:, None], goal.shape[1], axis=1)
            q[..., self.held] = goal[..., : len(self.held)]
            q = np.asarray(normalize(m, q))
            if problem == CLOSURE_ALONE and m.nv:
                flat = q.reshape(-1, m.nq)
                own = designs.reshaped(len(flat))
                q = self._closed(problem, self.ranges.admitted(flat), flat, own).reshape(q.shape)
            return q, self._left(q, goal, designs), []
        if TIME in designs.names and goal.shape[1] > 1:  # no motion travels through the time
            return self._row_by_row(begin, goal, designs)
        start, own = self.started(begin, designs[:, 0])
        turns = self._whole_turns(start, goal)
        track = follow(m, problem, start, goal - turns, designs, own, self.o.threads)
        q = track.q
        q[..., self.held] = np.where(
            track.lost[..., None], q[..., self.held], goal[..., : len(self.held)]
        )
        size = self._left(q, goal, designs)
        if track.lost.any():
            size[track.lost] = np.inf
            track.crossings.extend(self._rescued(q, size, goal, designs, track.lost))
        return q, size, track.crossings

    def _row_by_row(
        self, begin: Floats, goal: Floats, designs: Designs
    ) -> tuple[Floats, Floats, list[Crossing]]:
        """Each row from the one before, at its own instant."""
        made, crossings = [], []
        for row in range(goal.shape[1]):
            q, size, passed = self._reached(
                begin, goal[:, row : row + 1], designs[:, row : row + 1]
            )
            made.append((q, size))
            crossings += [c._replace(row=row) for c in passed]
            begin = q[:, 0]
        q, size = (np.concatenate(y, axis=1) for y in zip(*made, strict=True))
        return q, size, crossings

    def _whole_turns(self, start: Floats, goal: Floats) -> Floats:
        """Whole turns of hinges between a start that is more than one away and the first row: they
        lead nowhere."""
        turns = np.zeros((len(goal), 1, goal.shape[-1]))
        turning = self.ranges.turning[self.held]
        way = goal[:, :1, : len(self.held)] - start[:, None, self.held]
        turns[..., : len(self.held)] = np.where(
            turning & (np.abs(way) > TURN), np.round(way / TURN) * TURN, 0.0
        )
        return turns

    def _closed(self, holding: Problem, q: Floats, guess: Floats, designs: Designs) -> Floats:
        """Closed configurations next to q that keep held joints where they are; else, with all
        free, next to the guess."""
        solver = self._solver(holding, self.ranges, designs)
        q = self._with_drives(holding, q, designs)
        x = q[:, holding.coordinates(self.m)]
        found = solver.search(Lanes(q, x, designs.values), guessed=True, restarts=0)
        lost = np.flatnonzero(unclosed(self.m, np.sqrt(found.error)))
        if len(lost):
            near, error = close_each(self.m, guess[lost], designs[lost])
            open_ = unclosed(self.m, np.sqrt(error))
            found.q[lost] = np.where(open_[:, None], guess[lost], near)
        return found.q

    def _with_drives(self, holding: Problem, q: Floats, designs: Designs) -> Floats:
        """Configurations whose coupled joints are where their couplings have them: these are
        linear, so that a drive at a far instant takes one step for all its turns."""
        m = self.m
        if not m.couplings:
            return q
        rows = slice(len(row_names(m)) - len(m.couplings), None)
        phi, J = closure_at(m, q, designs)
        far = np.flatnonzero(np.abs(phi[:, rows]).max(axis=-1) > TURN / 2)
        J = J[far][:, rows] / velocity_scales(m)
        J[..., holding.velocities(m)] = 0.0
        step = np.einsum("lij,lj->li", pseudo_inverse(J), phi[far][:, rows]) / velocity_scales(m)
        q = q.copy()
        q[far] = integrate(m, q[far], -step)
        return q

    def started(self, begin: Floats, designs: Designs = DESCRIBED) -> tuple[Floats, Designs]:
        """Closed configurations to start from, and in which designs: the guesses where they close
        their own design, or else the mechanism as it is described; or the closed ones next to them.
        The time is always that of the lane."""
        m, begin = self.m, np.array(normalize(self.m, begin))
        own = designs.own(m).over(len(begin))
        start = own.values.copy()
        if TIME in designs.names:
            at = designs.names.index(TIME)
            start[:, at] = designs.values[:, at]
            own = Designs(designs.names, start.copy())
        if not m.closed:
            return begin, Designs(designs.names, start)
        left = violations(m, begin, own)
        if designs.names:
            before, left = left, violations(m, begin, designs)
            described = ~(left < CONVERGED) & ((before < CONVERGED) | ~(left < NEARER * before))
            start[~described] = designs.values[~described]
            left = np.where(described, before, left)
        lost = np.flatnonzero(unclosed(m, left))
        if len(lost):  # one guess for all is closed once
            both = np.hstack([begin[lost], start[lost]])
            each, back = np.unique(both, axis=0, return_inverse=True)
            q, p = np.ascontiguousarray(each[:, : m.nq]), each[:, m.nq :]
            free = Assembly(m, self.problem, self.ranges.unlimited, o=self.o)
            closed = free._closed(Problem(self.problem.held), q, q, Designs(designs.names, p))
            begin[lost] = closed[back.ravel()]
        return begin, Designs(designs.names, start)

    def _rescued(
        self, q: Floats, size: Floats, goal: Floats, designs: Designs, lost: Any
    ) -> list[Crossing]:
        """What no straight way leads to on the branch is sought directly, from where the way ended:
        on another branch."""
        ended = np.flatnonzero(lost.any(axis=1))
        rows = np.argmax(lost, axis=1)[ended]
        values = self.problem.values(self.m, q[ended, rows], designs[ended, rows])
        crossings = [
            Crossing(int(k), int(row), x) for k, row, x in zip(ended, rows, values, strict=True)
        ]
        self.ends.update({c.lane: c.values for c in crossings})
        for row in range(int(rows.min()), lost.shape[1]):
            lanes = np.flatnonzero(lost[:, row])
            before = q[lanes, row - 1] if row else q[lanes, row]
            found = self._directly(before, goal[lanes, row], designs[lanes, row])
            q[lanes, row], size[lanes, row] = found
        return crossings

    def _directly(self, q: Floats, x: Floats, designs: Designs) -> tuple[Floats, Floats]:
        """Damped least squares straight to the values; for targets from other starts too."""
        solver = self._solver(self.problem, self.ranges.unlimited, designs)
        lanes = Lanes(q, x, designs.values)
        restarts = self.o.restarts if self.problem.rows else 0
        found = solver.search(lanes, guessed=True, restarts=restarts)
        near = np.flatnonzero((found.error > solver.goal) & (found.error < solver.settings.near))
        if len(near):
            found.q[near], _ = solver.refine(lanes.take(near)._replace(start=found.q[near]))
        return found.q, self._left(found.q[:, None], x[:, None], designs[:, None])[:, 0]

    def _left(self, q: Floats, goal: Floats, designs: Designs) -> Floats:
        """By how much rows violate closure, or miss their targets, in radians or metres over L."""
        left = violations(self.m, q, designs) if self.m.closed else np.zeros(q.shape[:-1])
        if self.problem.rows:
            way = self.problem.displacement(self.m, goal, self.problem.values(self.m, q, designs))
            scales = self.problem.rate_scales(self.m)
            own = len(self.problem.velocities(self.m))
            left = np.maximum(left, np.abs(way * scales)[..., own:].max(axis=-1, initial=0.0))
        return left

    # -- limits -----------------------------------------------------------------------------------------

    def admitted(self, goal: Floats) -> Floats:
        """Held values within the limits of their joints, whole motions shifted by whole turns where
        that helps."""
        if not self.held:
            return goal
        count, q = len(self.held), np.zeros((*goal.shape[:-1], self.m.nq))
        q[..., self.held] = goal[..., :count]
        goal = goal.copy()
        goal[..., :count] = self._turned(q)[..., self.held]
        lower, upper = self.ranges.lower[self.held], self.ranges.upper[self.held]
        clipped = np.clip(goal[..., :count], lower, upper)
        outside = ~np.isclose(goal[..., :count], clipped, rtol=1e-9, atol=1e-9)
        if self.strict and outside.any():
            at = tuple(np.argwhere(outside)[0][:-1])
            whole = np.clip(0.0, self.ranges.lower, self.ranges.upper)
            whole[self.held] = q[at][self.held]
            raise AssemblyError(
                f"{self.m.name} is to have {self.ranges.outside(whole)}; prescribe a value within, or "
                "pass limits=False."
            )
        goal[..., :count] = np.where(outside, clipped, goal[..., :count])
        return goal

    def _turned(self, q: Floats) -> Floats:
        """Motions (lanes, rows, nq) shifted as a whole by whole turns to where their first rows are
        within the limits."""
        if self.ranges.contain(q).all():
            return q
        first = q[:, :1]
        return q + (self.ranges.turned(first, first) - first)

    def _within(
        self, q: Floats, size: Floats, goal: Floats, designs: Designs
    ) -> tuple[Floats, Floats]:
        """The same within the limits; what can close in another way takes it, else it is
        refused."""
        q = self._turned(q)
        out = np.argwhere(~self._missed(size) & ~self.ranges.contain(q))
        if not len(out):
            return q, size
        at = tuple(out.T)
        found, left = self._inside(q[at], goal[at], designs[at], alone=q.shape[1] == 1)
        lost = self._missed(left)
        if self.strict and lost.any():
            where = tuple(out[int(np.argmax(lost))])
            many = f" ({int(lost.sum())} of {size.size} configurations)" if size.size > 1 else ""
            raise AssemblyError(
                f"{self.m.name}{designs[where].told} closes for {describe_prescribed(self.problem)} only with "
                f"{self.ranges.outside(q[where])}{many}; stay within, or pass limits=False."
            )
        q[at], size[at] = found, left
        return q, size

    def _inside(self, q: Floats, x: Floats, designs: Designs, alone: bool) -> tuple[Floats, Floats]:
        """Configurations within the limits, where degrees of freedom stay open or, of a target that
        is no part of a motion, another branch reaches it."""
        begin = self.ranges.admitted(q)
        begin[:, self.held] = x[:, : len(self.held)]
        open_ = determinacy(self.m, self.problem).open
        if not open_ and not (self.problem.rows and alone):
            return begin, np.full(len(begin), np.inf)
        solver = self._solver(self.problem, self.ranges, designs)
        restarts = self.o.restarts if self.problem.rows and alone else 0
        found = solver.search(Lanes(begin, x, designs.values), guessed=True, restarts=restarts)
        inside = self.ranges.turned(found.q, begin)
        left = self._left(inside[:, None], x[:, None], designs[:, None])[:, 0]
        return inside, np.where(self.ranges.contain(inside), left, np.inf)
