"""Assembly: full coordinates from prescribed ones, with every loop closed, on the branch of the guess.

The mechanism is moved from where the guess stands along a straight way of what is prescribed
(`solver.follow`), so that it stays on its branch; what no way leads to is sought directly, which is
reported. `complete` adds velocities and accelerations, `project` brings states onto the loops.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn, TypeVar

import numpy as np

from eslabon.arguments import Floats, finite, flag, states
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import AssemblyError, ModelError, SingularityError, report_singularity
from eslabon.formulas.kinematics.closure import row_names
from eslabon.model import Model
from eslabon.model.configuration import normalize
from eslabon.model.memory import per_model
from eslabon.model.scale import row_units, velocity_scales
from eslabon.model.validation import TIME
from eslabon.numerics.continuation import Crossing
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION, CONVERGED, SINGULAR
from eslabon.solve.batches import flattened, leading
from eslabon.solve.configurations import Configurations
from eslabon.solve.constraints.closed_configurations import (
    close_each,
    jacobian_at,
    residuals_at,
    unclosed,
    violation_text,
)
from eslabon.solve.constraints.independent_coordinates import generic
from eslabon.solve.constraints.passive_spins import passive_spins
from eslabon.solve.designs import DESCRIBED, Designs, designs_of, row_scales_of
from eslabon.solve.determinacy import determinacy
from eslabon.solve.joint_motion import JointMotion
from eslabon.solve.kernels import MISSED, NEAR_BRANCH
from eslabon.solve.prescribed import actuated, as_configuration, prescribed, rates_of
from eslabon.solve.problem import CLOSURE_ALONE, Problem
from eslabon.solve.ranges import TURN, Ranges
from eslabon.solve.rates import Rates, completed, rates
from eslabon.solve.rigid_points import check_rigid_points
from eslabon.solve.rows import PointRows
from eslabon.solve.solve_options import Options, read_options
from eslabon.solve.solver import Lanes, Solver, follow

M = TypeVar("M", bound=Model)
NEARER = 0.1  # of what a guess violates the described design by: where it is taken to be of its own
POSE_RESTARTS = 20  # for targets that no straight way leads to


# -- verbs ---------------------------------------------------------------------------------------------


def assemble(
    m: Model, given: Any = None, guess: Any = None, *, report: bool = False, **options: Any
) -> Any:
    """Full coordinates that close the loops; see `Mechanism.assemble`."""
    if report is False and not options and type(given) is type(guess) is np.ndarray:
        near = NearBranch.of(m, actuated(m))(guess, given, True)
        if near is not None:
            return near
    flag(report, "report")
    m, problem, x, o = at_instants(m, given, read_options("assemble", options))
    found = assembled(m, problem, x, as_configuration(m, guess), o, strict=not report)
    return found if report else found.q


def complete(
    m: Model, given: Any = None, velocity: Any = None, acceleration: Any = None, guess: Any = None, *,
    report: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """Full q, v, a from the motion of what is prescribed (Yime, 30-36); see `Mechanism.complete`."""
    flag(report, "report")
    asked = read_options("complete", options)
    own, problem, x, o = at_instants(m, given, asked)
    if not m.closed and not problem.rows:
        raise ModelError(f"{m.name} has no loops: the joints' motion is already complete.")
    pair = ((velocity, "velocity"), (acceleration, "acceleration"))
    first, second = (rates_of(m, problem, y, name) for y, name in pair)
    if not report:
        _check_rigidity(m, problem, x, first, second)
    if not report and o.passive == "refuse" and not problem.rows:
        _refuse_passive(own, problem)
    placed = _placed(own, problem, x, as_configuration(own, guess), o, strict=not report)
    designs = _moving(own, problem, designs_of(own, o.parameters))
    lead, (q, first, second, p) = flattened(
        configurations=(placed.q, 1), velocity=(first, 1), acceleration=(second, 1),
        parameters=(designs.values, 1),
    )  # fmt: skip
    made = _rates_at(m, problem, q, first, second, Designs(designs.names, p))
    if not report:
        _judge_rates(m, problem, made, asked)
    q, v, a, slip, condition = (
        y.reshape((*lead, *y.shape[1:]))[()] for y in (q, *made[:3], made.condition)
    )
    if not report:
        return q, v, a
    condition = 1 / np.maximum(condition, np.finfo(float).tiny)
    return JointMotion(q, v, a, placed.distance, placed.angle, slip, condition, None, m)


def _check_rigidity(
    m: Model, problem: Problem, x: Floats, velocity: Floats, acceleration: Floats
) -> None:
    """Refuse velocities and accelerations of points that are not those of one rigid frame (Rojas,
    3.5.2)."""
    place = len(problem.velocities(m))
    for rows, value in problem.values_of(m, x):
        if isinstance(rows, PointRows):
            own = slice(place, place + rows.rate_size)
            where, first, second = (
                y.reshape(*y.shape[:-1], -1, 3)
                for y in (value, velocity[..., own], acceleration[..., own])
            )
            check_rigid_points(np.array(rows.points), where, first, second)
        place += rows.rate_size


def _rates_at(
    m: Model, problem: Problem, q: Floats, first: Floats, second: Floats, designs: Designs
) -> Rates:
    if not m.nv:
        nothing, still = np.zeros((len(q), 0)), np.zeros(len(q))
        return Rates(nothing, nothing, still, still, np.ones(len(q)))
    if problem.rows or m.rheonomic:
        return rates(m, problem, q, first, second, designs)
    return completed(m, problem, q, first, second, designs)


def _placed(
    m: Model, problem: Problem, x: Floats, guess: Floats, o: Options, strict: bool
) -> Configurations:
    """The configurations of a motion: of joints by assembly, of targets by inverse kinematics, unless
    their rows are a motion."""
    from eslabon.solve.inverse_kinematics import reached

    o = replace(o, singular=o.singular or "warn")
    if problem.rows and not o.continuation:
        return reached(m, problem, x, guess, o, strict=strict)
    return assembled(m, problem, x, guess, o, strict)


def project(
    m: Model, q: Any, v: Any = None, a: Any = None, **options: Any
) -> Floats | tuple[Floats, ...]:
    """The nearest q that closes the loops, and the v and a nearest to the given ones that keep them
    closed; see `Mechanism.project`."""
    if v is None and a is not None:
        raise ModelError(
            "project takes q, q and v, or q, v and a: accelerations make no sense without velocities."
        )
    pairs = ((v, "v"), (a, "a"))
    near = [states(x, n, m.nv, m.name, "velocities") for x, n in pairs if x is not None]
    start = states(q, "q", m.nq, m.name)
    own, problem, x, o = at_instants(m, {}, read_options("project", options))
    found = assembled(own, problem, x, start, o, strict=True).q
    if v is None:
        return found
    designs = designs_of(own, o.parameters).moving(own)
    names = ("configurations", "velocities", "accelerations")
    given = {name: (x, 1) for name, x in zip(names, (found, *near), strict=False)}
    lead, (flat, *near, p) = flattened(**given, parameters=(designs.values, 1))
    if m.nv and m.closed:
        near = list(nearest_rates(m, flat, *near, designs=Designs(designs.names, p)))
    return tuple(np.array(x).reshape(*lead, x.shape[-1]) for x in (flat, *near))


def nearest_rates(
    m: Model, q: Floats, v: Floats, a: Floats | None = None, *, designs: Designs = DESCRIBED
) -> tuple[Floats, ...]:
    """v - J^+ (J v + Phi_t), and a + J^+ (gamma - J a): nearest in comparable velocities."""
    none, accelerations = np.zeros((len(q), 0)), np.zeros_like(v) if a is None else a
    made = rates(m, CLOSURE_ALONE, q, none, none, designs, near=(v, accelerations))
    return (made.v,) if a is None else (made.v, made.a)


# -- driven mechanisms -----------------------------------------------------------------------------------


def at_time(m: M, t: Any) -> M:
    """The mechanism with its constraints as they are at an instant."""
    return type(m)(replace(m.description, parameters=(*m.description.parameters, (TIME, float(t)))))


@per_model
def _started(m: Model) -> Model:
    return at_time(m, 0.0)


def instants(m: Model, t: Any) -> Floats:
    """The times that are given, where the constraints depend on them."""
    if not m.rheonomic:
        raise ModelError(f"the constraints of {m.name} do not depend on the time; leave t out.")
    if t is None:
        raise ModelError(f"the constraints of {m.name} depend on the time; give it, as t=0.5.")
    return finite(t, "t")


def at_instants(m: Model, given: Any, o: Options) -> tuple[Model, Problem, Floats, Options]:
    """What is prescribed, and of which mechanism: where constraints depend on the time (Díaz, 2), of one
    to which the time is a parameter like any other."""
    if m.rheonomic or o.t is not None:
        when = instants(m, o.t)
        m, o = _started(m), replace(o, t=None, parameters={TIME: when, **dict(o.parameters or {})})
    return m, *prescribed(m, given), o


# -- near configurations -----------------------------------------------------------------------------------


class NearBranch:
    """The configuration for a value near that of a closed one, in one native call; None where there is
    more to it."""

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


# -- the general way -----------------------------------------------------------------------------------------


def assembled(
    m: Model, problem: Problem, x: Floats, guess: Floats, o: Options, strict: bool
) -> Configurations:
    """Closed configurations for values (..., size), or with continuation for motions (..., rows, size)."""
    ranges = Ranges.of(m) if o.limits else Ranges.of(m).unlimited
    if o.parameters is None and not o.continuation and m.closed:
        near = NearBranch.of(m, problem)(guess, x, o.limits)
        if near is not None:
            return Configurations(near, np.True_, 0.0, 0.0, 1)
    designs = _moving(m, problem, designs_of(m, o.parameters, o.limits))
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
    task = Assembly(m, problem, ranges, strict)
    q, size, crossings = task.solve(begin.copy(), goal, Designs(designs.names, p))
    singular = o.singular or "warn"
    if singular != "ignore" and strict:
        _report_crossings(m, problem, crossings, len(begin), o.continuation, singular)
    return task.answer(q, size, goal, Designs(designs.names, p), shape)


def _moving(m: Model, problem: Problem, designs: Designs) -> Designs:
    """The parameters that the configurations of a problem depend on."""
    if not designs.names:
        return designs
    found: set[str] = set()
    for frame in problem.frames or (None,):
        found |= set(designs.moving(m, frame).names)
    return designs.chosen(tuple(name for name in designs.names if name in found))


class Assembly:
    """A problem of a mechanism, within which ranges, and whether what cannot be is an error."""

    def __init__(self, m: Model, problem: Problem, ranges: Ranges, strict: bool = True) -> None:
        self.m, self.problem, self.ranges, self.strict = m, problem, ranges, strict
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
        if self.strict and unclosed(self.m, size).any():
            flat = goal.reshape(size.size, goal.shape[-1])
            own = designs.reshaped(size.size)
            k = int(np.flatnonzero(unclosed(self.m, size.ravel()))[0])
            end = self.ends.get(k // size.shape[1])
            at = q.reshape(size.size, self.m.nq)
            refuse(self.m, self.problem, at, size.ravel(), flat, own, end)
        return q, size, crossings

    def answer(
        self, q: Floats, size: Floats, goal: Floats, designs: Designs, shape: tuple[int, ...]
    ) -> Configurations:
        """The configurations with the leading axes that were given, and what they miss."""
        m, nq = self.m, self.m.nq
        flat, x = q.reshape(size.size, nq), goal.reshape(size.size, goal.shape[-1])
        own = designs.reshaped(size.size) if designs.names else DESCRIBED
        good = ~unclosed(m, size) & self.ranges.contain(q)
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
        """Where the motions lead, whatever the limits, and by how much each row misses its value."""
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
        track = follow(m, problem, start, goal - turns, designs, own)
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
        """Closed configurations next to q that keep held joints where they are; else, with all free,
        next to the guess."""
        solver = Solver(self.m, holding, self.ranges, names=designs.names)
        x = q[:, holding.coordinates(self.m)]
        found = solver.search(Lanes(q, x, designs.values), guessed=True, restarts=0)
        lost = np.flatnonzero(unclosed(self.m, np.sqrt(found.error)))
        if len(lost):
            near, error = close_each(self.m, guess[lost], designs[lost])
            open_ = unclosed(self.m, np.sqrt(error))
            found.q[lost] = np.where(open_[:, None], guess[lost], near)
        return found.q

    def started(self, begin: Floats, designs: Designs = DESCRIBED) -> tuple[Floats, Designs]:
        """Closed configurations to start from, and in which designs: the guesses where they close their
        own design, or else the mechanism as it is described; or the closed ones next to them. The time
        is always that of the lane."""
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
            free = Assembly(m, self.problem, self.ranges.unlimited)
            closed = free._closed(Problem(self.problem.held), q, q, Designs(designs.names, p))
            begin[lost] = closed[back.ravel()]
        return begin, Designs(designs.names, start)

    def _rescued(
        self, q: Floats, size: Floats, goal: Floats, designs: Designs, lost: Any
    ) -> list[Crossing]:
        """What no straight way leads to on the branch is sought directly, from where the way ended: on
        another branch."""
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
        solver = Solver(self.m, self.problem, self.ranges.unlimited, names=designs.names)
        lanes = Lanes(q, x, designs.values)
        found = solver.search(
            lanes, guessed=True, restarts=POSE_RESTARTS if self.problem.rows else 0
        )
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
        """The same within the limits; what can close in another way takes it, else it is refused."""
        q = self._turned(q)
        out = np.argwhere(~unclosed(self.m, size) & ~self.ranges.contain(q))
        if not len(out):
            return q, size
        at = tuple(out.T)
        found, left = self._inside(q[at], goal[at], designs[at], alone=q.shape[1] == 1)
        lost = unclosed(self.m, left)
        if self.strict and lost.any():
            where = tuple(out[int(np.argmax(lost))])
            many = f" ({int(lost.sum())} of {size.size} configurations)" if size.size > 1 else ""
            raise AssemblyError(
                f"{self.m.name}{designs[where].told} closes for {_what(self.problem)} only with "
                f"{self.ranges.outside(q[where])}{many}; stay within, or pass limits=False."
            )
        q[at], size[at] = found, left
        return q, size

    def _inside(self, q: Floats, x: Floats, designs: Designs, alone: bool) -> tuple[Floats, Floats]:
        """Configurations within the limits, where degrees of freedom stay open or, of a target that is
        no part of a motion, another branch reaches it."""
        begin = self.ranges.admitted(q)
        begin[:, self.held] = x[:, : len(self.held)]
        open_ = determinacy(self.m, self.problem).open
        if not open_ and not (self.problem.rows and alone):
            return begin, np.full(len(begin), np.inf)
        solver = Solver(self.m, self.problem, self.ranges, names=designs.names)
        restarts = POSE_RESTARTS if self.problem.rows and alone else 0
        found = solver.search(Lanes(begin, x, designs.values), guessed=True, restarts=restarts)
        inside = self.ranges.turned(found.q, begin)
        left = self._left(inside[:, None], x[:, None], designs[:, None])[:, 0]
        return inside, np.where(self.ranges.contain(inside), left, np.inf)


def violations(m: Model, q: Any, designs: Designs = DESCRIBED) -> Floats:
    """The largest violation of closure in any loop or coupling, `(...)`: radians, or metres over L."""
    return np.asarray(np.abs(residuals_at(m, q, designs)).max(axis=-1, initial=0.0))


# -- messages ------------------------------------------------------------------------------------------------


def _what(problem: Problem) -> str:
    if problem.rows:
        return f"this target of {', '.join(repr(frame) for frame in problem.frames)}"
    return f"these values of {', '.join(problem.held)}"


def _report_crossings(
    m: Model,
    problem: Problem,
    crossings: list[Crossing],
    lanes: int,
    continuation: bool,
    singular: str,
) -> None:
    """Where singular configurations were passed, so that the branch may be another, say so."""
    if not crossings:
        return
    first = min(crossings, key=lambda c: (c.lane, c.row))
    at = f" (near {_shown(m, problem, first.values)})" if problem.held else ""
    if continuation:
        where = f"between rows {first.row - 1} and {first.row}" if first.row else "before row 0"
        sentence = (
            f"{where} of the motion {m.name} passes a singular configuration{at}, where its branches "
            "meet; it continues on the same branch, and the other is equally possible."
        )
    else:
        count = len({c.lane for c in crossings})
        which = "the configuration" if lanes == 1 else f"{count} of {lanes} configurations"
        sentence = (
            f"on the way to {which} {m.name} has passed a singular configuration{at}, and may stand on "
            "another branch than its guess; give a guess on the branch you want, or see m.assembly_modes."
        )
    report_singularity(singular, sentence)


def _shown(m: Model, problem: Problem, values: Floats) -> str:
    numbers = ", ".join(f"{x + 0.0:.4g}" for x in values[: len(problem.coordinates(m))])
    return f"{', '.join(problem.held)} = {numbers}"


def refuse(
    m: Model, problem: Problem, q: Floats, size: Floats, goal: Floats, designs: Designs,
    end: Floats | None = None,
) -> NoReturn:  # fmt: skip
    """Say which loop stays open, by how much, in which design, and where the branch ends."""
    q = np.where(np.isfinite(q), q, m.home())
    open_ = np.flatnonzero(unclosed(m, size))
    k, total = int(open_[0]), len(size)
    many = f" ({len(open_)} of {total} configurations; this is number {k})" if total > 1 else ""
    own = designs[k] if designs.names else DESCRIBED
    name = f"{m.name}{own.told}"
    if problem.rows:
        native = evaluate(m, MISSED, own.names, problem=problem)
        distance, angle = (float(y) for y in native(q[k], goal[k], *own.inputs))
        frames = ", ".join(repr(frame) for frame in problem.frames)
        raise AssemblyError(
            f"{name} cannot bring {frames} to this target{many}: it misses it by {distance:.3g} m and "
            f"{angle:.3g} rad; try a guess nearer to it."
        )
    phi = np.abs(residuals_at(m, q[k], own))
    phi = np.where(np.isfinite(phi), phi, np.inf)
    held = f"with {_shown(m, problem, goal[k])}" if problem.held else "from this guess"
    advice = "; give a guess nearer to a closed configuration"
    if problem.held:
        ends = "" if end is None else f"this branch ends near {_shown(m, problem, end)}; "
        advice = f"; {ends}m.assembly_modes finds other ways to close"
    raise AssemblyError(
        f"{name} cannot be assembled {held}{many}: loop '{row_names(m)[int(phi.argmax())]}' is left open "
        f"by {violation_text(m, phi, design=own)}{advice}."
    )


def _refuse_passive(m: Model, problem: Problem) -> None:
    """Name a motion that the prescribed joints leave open; passive spins are none."""
    count = determinacy(m, problem).open - len(passive_spins(m))
    if count <= 0:
        return
    free = problem.free(m)
    J = jacobian_at(m, generic(m))[:, free] / velocity_scales(m)[free]
    motion = np.abs(np.linalg.svd(J)[2][-1])
    place = free[int(motion.argmax())]
    owner = next(j.name for j in m.joints if place in range(m.nv)[m.velocities[j.name]])
    names = ", ".join(problem.held)
    does = "do" if len(problem.held) > 1 else "does"
    raise ModelError(
        f"{names or 'what drives it'} {does} not determine the motion of "
        f"{m.name}: {count} more {'degree of freedom stays' if count == 1 else 'degrees of freedom stay'} "
        f"open, such as that of '{owner}'; prescribe it too, or with passive='minimum_norm' let it move as "
        "little as it can."
    )


def _judge_rates(m: Model, problem: Problem, made: Rates, o: Options) -> None:
    """Report singular configurations, and refuse a motion that the mechanism cannot make."""
    singular = o.singular or "error"
    least = float(np.min(made.condition, initial=1.0))
    if least < SINGULAR or np.isnan(made.condition).any():
        report_singularity(
            singular,
            f"{m.name} is at a singular configuration for {_what(problem)} (the reciprocal condition number "
            f"is {least:.2g}): the other velocities do not follow; prescribe other values, or pass "
            "singular='warn' for the minimum-norm velocities.",
        )
    scales = velocity_scales(m)
    speed = np.abs(made.v * scales).max(axis=-1, initial=0.0)
    change = np.maximum(np.abs(made.a * scales).max(axis=-1, initial=0.0), speed**2)
    bad = ~(made.acceleration_slip <= ACCEPTED_VIOLATION * change)
    bad |= ~(made.slip <= ACCEPTED_VIOLATION * speed)
    bad &= np.isfinite(made.v).all(axis=-1)
    if (
        problem.rows and singular != "error"
    ):  # the minimum-norm motion of a target need not be exact
        bad &= made.condition >= SINGULAR
    if not bad.any():
        return
    k = int(bad.argmax())
    worst = float(max(made.slip[k], made.acceleration_slip[k]))
    if made.condition[k] < SINGULAR:
        raise SingularityError(
            f"branches of {m.name} meet at a singular configuration, and the minimum-norm velocities keep "
            f"to none of them (they violate the prescribed motion by {worst:.3g}); take configurations "
            "beside it, or follow a motion through it."
        )
    raise AssemblyError(
        f"{m.name} cannot move as prescribed: the motion of {_what(problem)} violates its loops or joints by "
        f"{worst:.3g} (rad, or metres over its size, a second or second squared); prescribe less."
    )
